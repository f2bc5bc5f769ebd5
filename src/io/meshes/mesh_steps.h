// SPDX-License-Identifier: Apache-2.0
// The steps of a repair, one file each.
#ifndef CNI_IO_MESH_STEPS_H
#define CNI_IO_MESH_STEPS_H

#include "core/memory.h"
#include "core/sort.h"
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

// mesh_slivers.c: triangles without area, of which none is left.
CnStatus cni_mesh_remove_slivers(CniMeshData *mesh, CniArena *arena, CniMeshFaults *faults);

// mesh_turn.c: edges, pieces, and who looks the wrong way.
CnStatus cni_mesh_look(CniMeshData *mesh, CniArena *arena, int32_t turn, CniMeshFaults *faults);

#endif
