// SPDX-License-Identifier: Apache-2.0
// Private to geometry: the rows of the tables of kinds and pairs, one file a kind or a family, and
// how they hand out points.
#ifndef CNI_GEOMETRY_PRIVATE_H
#define CNI_GEOMETRY_PRIVATE_H

#include "geometry/geometry.h"

#define CN_SHAPE(number, name) extern const CniShapeKind cni_shape_##name;
#include <cairn/shape_list.h>
#undef CN_SHAPE

// A ray that starts inside, as CniShapeKind::ray.
double cni_ray_inside(CnVec3 direction, CnVec3 *normal);
// What any bounded kind may have in its row: from the support function (cast.c, shapes.c).
double cni_ray_convex(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal);
CniBounds cni_bounds_by_support(const CniPlaced *shape);
double cni_not_rounded(const CniPlaced *shape);

// Of a hull over which a ball of radius r is carried (hull_round.c).
CniMassProps cni_hull_mass(const CniHull *hull, double r, double density);

// Gaps by features (gap_features.c).
int cni_has_features(CnShapeKind a, CnShapeKind b);
CniGap cni_gap_of_feature(const CniPlaced *a, const CniPlaced *b, uint32_t name);

// A row of the pair table: kind a <= kind b. The manifold comes in empty; points go out in any order.
typedef void (*CniCollide)(const CniPlaced *a, const CniPlaced *b, double margin,
                           CniManifold *manifold);

void cni_collide_sphere_sphere(const CniPlaced *a, const CniPlaced *b, double margin,
                               CniManifold *manifold);
void cni_collide_sphere_box(const CniPlaced *a, const CniPlaced *b, double margin,
                            CniManifold *manifold);
void cni_collide_sphere_plane(const CniPlaced *a, const CniPlaced *b, double margin,
                              CniManifold *manifold);
void cni_collide_box_plane(const CniPlaced *a, const CniPlaced *b, double margin,
                           CniManifold *manifold);
void cni_collide_hull_plane(const CniPlaced *a, const CniPlaced *b, double margin,
                            CniManifold *manifold);
void cni_collide_box_box(const CniPlaced *a, const CniPlaced *b, double margin,
                         CniManifold *manifold);

void cni_collide_convex(const CniPlaced *a, const CniPlaced *b, double margin,
                        CniManifold *manifold);
// The same, with the parts that touched in the last call, or zeros; they become those of this one.
void cni_collide_convex_again(const CniPlaced *a, const CniPlaced *b, double margin,
                              uint32_t parts[2], CniManifold *manifold);
void cni_collide_convex_plane(const CniPlaced *a, const CniPlaced *b, double margin,
                              CniManifold *manifold);

// A bounded convex shape and a mesh (meshes/mesh_touch.c); swap: the mesh is the first of the two. A
// mesh and a half-space (mesh_plane.c).
void cni_collide_mesh(const CniPlaced *shape, const CniPlaced *mesh, double margin, int32_t swap,
                      CniTake take, void *context);
void cni_collide_mesh_plane(const CniPlaced *mesh, const CniPlaced *plane, double margin,
                            CniManifold *manifold);

// Two meshes (mesh_pair.c), and their nearest places.
void cni_collide_meshes(const CniPlaced *a, const CniPlaced *b, double margin, CniTake take,
                        void *context);
CniPlaces cni_places_meshes(const CniPlaced *a, const CniPlaced *b);

// Nearest places of a convex shape and a mesh (mesh_near.c), or, where the mesh's size[2] is 1, its
// triangle of the number size[0]; of a mesh and a half-space.
CniPlaces cni_places_mesh(const CniPlaced *shape, const CniPlaced *mesh);
CniPlaces cni_places_mesh_plane(const CniPlaced *mesh, const CniPlaced *plane);
double cni_cast_mesh(const CniPlaced *shape, const CniPlaced *mesh, CnVec3 motion, double most,
                     CniPlaces *places);

static inline CnVec3 cni_box_half(const CniPlaced *box) {
  return cn_vec3(box->size[0], box->size[1], box->size[2]);
}

static inline double cni_box_round(const CniPlaced *box) { return box->size[3]; }

static inline void cni_manifold_add(CniManifold *manifold, CnVec3 point, double gap,
                                    uint32_t feature) {
  manifold->points[manifold->count++] = (CniPoint){point, gap, feature};
}

// Points by feature.
void cni_sort_points(CniManifold *manifold);

#endif
