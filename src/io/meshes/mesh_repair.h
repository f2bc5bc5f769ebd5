// SPDX-License-Identifier: Apache-2.0
// Surfaces from files, made whole: corners joined, triangles without area removed, all turned to look
// outward; and what was wrong with them.
#ifndef CNI_IO_MESH_REPAIR_H
#define CNI_IO_MESH_REPAIR_H

#include "io/meshes/mesh_file.h"

// Counted on the way; edges and pieces as they are in the end.
typedef struct CniMeshFaults {
  int32_t file_vertices, file_triangles; // as read
  int32_t degenerate;                    // triangles without area
  int32_t doubled;                       // the same triangle once more
  int32_t edges;
  int32_t lone_edges;    // that have one triangle only
  int32_t crowded_edges; // that have more than two
  int32_t twisted_edges; // whose two triangles cannot look the same way: a band with half a turn
  int32_t pieces;        // connected over edges
  int32_t flipped;       // triangles that looked the wrong way
  int32_t closed; // 1: every edge has two triangles, which go round it in opposite directions
  int32_t first_flipped, first_lone; // a triangle, -1: none
} CniMeshFaults;

// Join corners that are no farther apart than `weld`, m (0: equal ones), drop those that no triangle
// uses, remove triangles without area or that are there twice, and turn triangles that look the wrong
// way: a piece's minority, and closed pieces that are inside out and no cavities. `turn` 0 counts these
// only.
CnStatus cni_mesh_repair(CniMeshData *mesh, const char *name, double weld, int32_t turn,
                         CniMeshFaults *faults);

#endif
