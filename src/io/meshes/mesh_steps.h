// SPDX-License-Identifier: Apache-2.0
// The steps of a repair, one file each.
#ifndef CNI_IO_MESH_STEPS_H
#define CNI_IO_MESH_STEPS_H

#include "core/memory.h"
#include "core/sort.h"
#include "core/vec.h"
#include "io/meshes/mesh_repair.h"

// mesh_weld.c
CnStatus cni_mesh_weld(CniMeshData *mesh, CniArena *arena, double width);

// Sides 3 t + k of the triangles, from corner k to the next, in the order of their edges.
typedef struct CniMeshSides {
  int32_t *side;  // all of them; those of one edge follow each other
  int32_t *first; // of each edge, and one more
  int32_t edge_count;
} CniMeshSides;
CnStatus cni_mesh_find_sides(const CniMeshData *mesh, CniArena *arena, CniMeshSides *sides);
static inline int32_t cni_mesh_side_from(const CniMeshData *mesh, int32_t side) {
  return mesh->triangles[side / 3][side % 3];
}

// Does a ray from `o` along `d` cross a triangle?
static inline int cni_mesh_ray_crosses(const CniMeshData *m, int32_t t, CnVec3 o, CnVec3 d) {
  CnVec3 a = cn_sub(m->vertices[m->triangles[t][0]], o);
  CnVec3 b = cn_sub(m->vertices[m->triangles[t][1]], o);
  CnVec3 c = cn_sub(m->vertices[m->triangles[t][2]], o);
  double u = cn_dot(d, cn_cross(b, c)), v = cn_dot(d, cn_cross(c, a)),
         w = cn_dot(d, cn_cross(a, b));
  if (!((u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0))) return 0;
  double height = cn_dot(a, cn_cross(b, c)); // of the tetrahedron, with the sign of the side
  return (height > 0) == (u > 0) && height != 0;
}

// mesh_slivers.c: triangles without area, of which none is left.
CnStatus cni_mesh_remove_slivers(CniMeshData *mesh, CniArena *arena, CniMeshFaults *faults);

// mesh_turn.c: edges, pieces, and who looks the wrong way.
CnStatus cni_mesh_look(CniMeshData *mesh, CniArena *arena, int32_t turn, CniMeshFaults *faults);

#endif
