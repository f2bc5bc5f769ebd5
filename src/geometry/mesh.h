// SPDX-License-Identifier: Apache-2.0
// Surfaces of triangles. A mesh is made once and never changes; shapes share it.
//
// Beside the lists that it was made of it knows which triangle lies beyond each edge, how the
// surface bends there, which triangles are parts of one flat face, and a tree of boxes.
#ifndef CNI_GEOMETRY_MESH_H
#define CNI_GEOMETRY_MESH_H

#include <cairn/mesh.h>
#include "core/tasks.h"
#include "core/vec.h"

#define CNI_TAG_MESH 0x6873656du
#define CNI_TAG_HEIGHTS 0x67686965u
#define CNI_MESH_TRIANGLES (1 << 28) // at most
#define CNI_MESH_LEVELS 16           // of the tree: 4^16 leaves

// How the surface goes on beyond an edge, seen from outside.
typedef enum CniMeshEdge {
  CNI_EDGE_FLAT = 0, // in the same plane: no edge at all
  CNI_EDGE_CONVEX,
  CNI_EDGE_CONCAVE,
  CNI_EDGE_BORDER // not at all, or in more ways than one
} CniMeshEdge;

typedef struct CniMesh {
  int32_t vertex_count, triangle_count, edge_count;
  int32_t two_sided, closed; // closed: every edge has a triangle on both sides
  double radius;             // of the ball that is carried over it: half the thickness
  CnVec3 *vertices;
  int32_t *corners;    // three a triangle
  int32_t *neighbours; // beyond edge k, from corner k to the next; -1: none
  int32_t *seeds;      // the triangle whose plane is that of the flat face it belongs to
  uint8_t *edges;      // CniMeshEdge, two bits each
  // The tree (mesh_tree.c): triangles in the order of its leaves, one a leaf; the boxes of all levels, leaves
  // first, each box over four of the level below, as lo and hi seen from `origin`, four boxes side by side.
  int32_t *order;
  float *boxes;
  int32_t level_count, level_first[CNI_MESH_LEVELS], level_size[CNI_MESH_LEVELS];
  CnVec3 lo, hi, origin;
  // of a height field (mesh_heights.c), which has none of the lists above; null otherwise
  double *heights;
  int32_t x_count, y_count;
  double dx, dy;
  size_t bytes; // of the whole, in one piece
  // of density one; of what is not closed zeros
  double volume;
  CnVec3 centre;
  CnSym3 inertia;   // about the centre
  double outradius; // of the ball about the origin that holds it
} CniMesh;

// The definition is checked, nothing believed; sentences begin with `what`. The same lists give the
// same mesh, bit by bit, whatever the number of workers (tasks may be null).
CnStatus cni_mesh_create(const CnAllocator *allocator, CnTasks *tasks, const char *what,
                         const CnMeshDef *def, CniMesh **mesh);
void cni_mesh_destroy(const CnAllocator *allocator, CniMesh *mesh);

CnStatus cni_heights_create(const CnAllocator *allocator, const char *what, const CnHeightsDef *def,
                            CniMesh **mesh);
int32_t cni_heights_vertex(const CniMesh *mesh, int32_t triangle, int32_t corner);
int32_t cni_heights_neighbour(const CniMesh *mesh, int32_t triangle, int32_t edge);
CniMeshEdge cni_mesh_bend_at(const CniMesh *mesh, int32_t triangle, int32_t edge);
// Is it no hole of a height field?
int cni_mesh_is_there(const CniMesh *mesh, int32_t triangle);
// A number below 2^12 that triangles near each other have different ones of.
uint32_t cni_mesh_part(const CniMesh *mesh, int32_t triangle);

typedef struct CniTriangle {
  CnVec3 at[3];
} CniTriangle;

// The vertex at corner k, where a vertex is, the triangle beyond edge k.
static inline int32_t cni_mesh_vertex(const CniMesh *m, int32_t t, int32_t k) {
  return m->heights ? cni_heights_vertex(m, t, k) : m->corners[3 * (size_t)t + (size_t)k];
}
static inline CnVec3 cni_mesh_at(const CniMesh *m, int32_t v) {
  if (!m->heights) return m->vertices[v];
  return cn_vec3((v % m->x_count) * m->dx, (v / m->x_count) * m->dy, m->heights[v]);
}
static inline int32_t cni_mesh_neighbour(const CniMesh *m, int32_t t, int32_t k) {
  return m->heights ? cni_heights_neighbour(m, t, k) : m->neighbours[3 * (size_t)t + (size_t)k];
}
static inline int32_t cni_mesh_seed(const CniMesh *m, int32_t t) {
  return m->heights ? t : m->seeds[t];
}
static inline CniTriangle cni_mesh_triangle(const CniMesh *m, int32_t t) {
  CniTriangle at;
  if (!m->heights) {
    const int32_t *c = &m->corners[3 * (size_t)t];
    return (CniTriangle){{m->vertices[c[0]], m->vertices[c[1]], m->vertices[c[2]]}};
  }
  for (int32_t k = 0; k < 3; k++) at.at[k] = cni_mesh_at(m, cni_mesh_vertex(m, t, k));
  return at;
}
// Twice its area, along the normal.
static inline CnVec3 cni_triangle_area(const CniTriangle *t) {
  return cn_cross(cn_sub(t->at[1], t->at[0]), cn_sub(t->at[2], t->at[0]));
}
static inline CniMeshEdge cni_mesh_edge(const CniMesh *m, int32_t t, int32_t k) {
  return m->heights ? cni_mesh_bend_at(m, t, k) : (CniMeshEdge)(m->edges[t] >> (2 * k) & 3);
}
// The plane of the flat face that a triangle belongs to: its unit normal and a point of it.
static inline CnVec3 cni_mesh_plane(const CniMesh *m, int32_t t, CnVec3 *point) {
  CniTriangle seed = cni_mesh_triangle(m, cni_mesh_seed(m, t));
  *point = seed.at[0];
  return cn_unit_or(cni_triangle_area(&seed), cn_vec3(0, 0, 1));
}

// All triangles whose boxes meet a box, in the order of the tree.
typedef void (*CniMeshTake)(void *context, int32_t triangle);
void cni_mesh_query(const CniMesh *mesh, CnVec3 lo, CnVec3 hi, CniMeshTake take, void *context);
// Does a box meet one of the boxes of triangles? Of a height field: the box over all.
int cni_mesh_any(const CniMesh *mesh, CnVec3 lo, CnVec3 hi);
// All triangles, in the order of the tree, of boxes that are entered; not of height fields.
typedef int (*CniMeshEnter)(void *context, CnVec3 lo, CnVec3 hi);
void cni_mesh_walk(const CniMesh *mesh, CniMeshEnter enter, CniMeshTake take, void *context);
// The first triangle that a ray meets, and when, in units of the direction; INFINITY: none.
double cni_mesh_ray(const CniMesh *mesh, CnVec3 origin, CnVec3 direction, int32_t *triangle);

// ---- private to meshes ----
void cni_heights_query(const CniMesh *mesh, CnVec3 lo, CnVec3 hi, CniMeshTake take, void *context);
double cni_heights_ray(const CniMesh *mesh, CnVec3 origin, CnVec3 direction, int32_t *triangle);
int cni_triangle_meets(const CniTriangle *t, CnVec3 lo, CnVec3 hi);
double cni_triangle_ray(const CniTriangle *t, CnVec3 origin, CnVec3 direction);
#define CNI_MESH_A_TASK 4096 // triangles or boxes
CnStatus cni_mesh_grow_tree(const CnAllocator *allocator, CnTasks *tasks, CniMesh *mesh);
void cni_mesh_weigh(CniMesh *mesh);
// Levels of the tree of so many triangles, and the boxes of all.
int32_t cni_mesh_levels(int32_t triangles, CniMesh *mesh);

#endif
