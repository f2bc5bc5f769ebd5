// SPDX-License-Identifier: Apache-2.0
// How far a shape is from a mesh, and when one that moves touches it.
//
// Apart from it the nearest triangle counts, looked for in boxes that grow until nothing outside can be
// nearer. Where they overlap the deepest contact counts. A shape that is inside of a closed mesh and
// touches none of its triangles is as deep as its surface is away.
#include "geometry/meshes/mesh_private.h"

#define GROW 4.0
#define FIRST 1e-2 // of the outradius: what is asked about is mostly near

typedef struct Nearest {
  CniMeshTouch touch;
  CniPlaces best; // in the mesh's frame, from the shape to the mesh
} Nearest;

static void take_deepest(void *context, const CniManifold *m) {
  CniPlaces *best = context;
  for (int32_t i = 0; i < m->count; i++) {
    const CniPoint *p = &m->points[i];
    if (!(p->gap < best->gap)) continue;
    *best = (CniPlaces){p->gap, m->normal, cn_madd(p->point, -0.5 * p->gap, m->normal),
                        cn_madd(p->point, 0.5 * p->gap, m->normal)};
  }
}

// A triangle alone, never negative for balls: from either side of it.
static void look(void *context, int32_t t) {
  Nearest *near = context;
  const CniMeshTouch *touch = &near->touch;
  CniPlaced part = touch->edge;
  part.size[0] = t;
  CniConvex x = cni_mesh_convex(touch, &part, &cni_mesh_triangle_kind);
  x.margin = cn_min(near->best.gap, 1e300) + x.round_a + x.round_b;
  CniNearest found;
  if (!cni_convex_nearest(&x, &found)) return;
  double gap = found.gap - x.round_a - x.round_b;
  if (!(gap < near->best.gap)) return;
  CnVec3 on = CN_VEC3_ZERO;
  for (int32_t i = 0; i < found.simplex.count; i++)
    on = cn_madd(on, found.simplex.share[i], found.simplex.corner[i].a);
  near->best.gap = gap;
  near->best.normal = cn_mmul(touch->turn, found.normal);
  CnVec3 own = cn_madd(on, x.round_a, found.normal);
  near->best.a = cn_add(touch->shape.pose.position, cn_mmul(touch->turn, own));
  near->best.b = cn_madd(near->best.a, gap, near->best.normal);
}

static int holds(CnVec3 lo, CnVec3 hi, CnVec3 a, CnVec3 b) {
  return lo.x <= a.x && lo.y <= a.y && lo.z <= a.z && hi.x >= b.x && hi.y >= b.y && hi.z >= b.z;
}

static CniPlaces to_world(const CniMeshTouch *touch, CniPlaces p) {
  p.normal = cn_rotate(touch->pose.rotation, p.normal);
  p.a = cn_pose_point(touch->pose, p.a);
  p.b = cn_pose_point(touch->pose, p.b);
  return p;
}

static int is_inside(const CniMesh *m, CnVec3 p) {
  int32_t t;
  if (!m->closed || m->two_sided) return 0;
  CnVec3 way = {0.57, 0.43, 0.7};
  if (cni_mesh_ray(m, p, way, &t) == INFINITY) return 0;
  CniTriangle at = cni_mesh_triangle(m, t);
  return cn_dot(cni_triangle_area(&at), way) > 0;
}

CniPlaces cni_places_mesh(const CniPlaced *shape, const CniPlaced *mesh) {
  CniPlaces best = {.gap = INFINITY, .normal = {0, 0, 1}};
  Nearest near = {cni_mesh_touch_of(shape, mesh, 0), best};
  if (mesh->size[2] == 1) { // a triangle alone
    look(&near, (int32_t)mesh->size[0]);
    return to_world(&near.touch, near.best);
  }
  cni_collide_mesh(shape, mesh, 0, 0, take_deepest, &best);
  if (best.gap <= 0) return best;
  const CniMesh *m = mesh->mesh;
  CnVec3 lo = near.touch.lo, hi = near.touch.hi;
  double by =
      FIRST * cn_max(near.touch.kind->outradius(shape), 1e-3 * cn_norm(cn_sub(m->hi, m->lo)));
  for (int whole = 0; !whole && !(near.best.gap <= by / GROW);) {
    lo = cn_sub(near.touch.lo, cn_vec3(by, by, by));
    hi = cn_add(near.touch.hi, cn_vec3(by, by, by));
    whole = holds(lo, hi, m->lo, m->hi);
    near.best.gap = INFINITY;
    cni_mesh_query(m, lo, hi, look, &near);
    by *= GROW;
  }
  if (near.best.gap > 0 && is_inside(m, near.touch.shape.pose.position)) {
    near.best.gap = -near.best.gap;
    near.best.normal = cn_neg(near.best.normal);
  }
  return to_world(&near.touch, near.best);
}

// ---- casts ----

typedef struct Cast {
  const CniPlaced *shape;
  CniPlaced part;
  CnVec3 motion;
  double first;
  CniPlaces places;
} Cast;

static void cast_triangle(void *context, int32_t t) {
  Cast *cast = context;
  CniPlaces places;
  cast->part.size[0] = t;
  double at = cni_cast(cast->shape, &cast->part, cast->motion, cn_min(cast->first, 1e300), &places);
  if (!(at < cast->first)) return;
  cast->first = at;
  cast->places = places;
}

double cni_cast_mesh(const CniPlaced *shape, const CniPlaced *mesh, CnVec3 motion, double most,
                     CniPlaces *places) {
  CniPlaces now = cni_places_mesh(shape, mesh);
  if (places) *places = now;
  if (now.gap <= 0) return 0;
  CniMeshTouch touch = cni_mesh_touch_of(shape, mesh, 0);
  double way = cn_norm(motion);
  CnVec3 size = cn_sub(mesh->mesh->hi, mesh->mesh->lo);
  // farther than this there is nothing
  double far = cn_norm(cn_sub(touch.shape.pose.position, mesh->mesh->origin)) + cn_norm(size) +
               2 * touch.kind->outradius(shape);
  double last = way * most > far ? far / way : most;
  CnVec3 by = cn_scale(last, cn_unrotate(mesh->pose.rotation, motion));
  CnVec3 lo = {touch.lo.x + cn_min(by.x, 0), touch.lo.y + cn_min(by.y, 0),
               touch.lo.z + cn_min(by.z, 0)};
  CnVec3 hi = {touch.hi.x + cn_max(by.x, 0), touch.hi.y + cn_max(by.y, 0),
               touch.hi.z + cn_max(by.z, 0)};
  Cast cast = {.shape = shape, .part = *mesh, .motion = motion, .first = INFINITY};
  cast.part.size[2] = 1;
  cni_mesh_query(mesh->mesh, lo, hi, cast_triangle, &cast);
  if (!(cast.first <= most)) return INFINITY;
  if (places) *places = cast.places;
  return cast.first;
}
