// SPDX-License-Identifier: Apache-2.0
// What is to be known of a mesh before it is used: its size, what it encloses, what is wrong with it.
#ifndef CNI_IO_MESH_REPORT_H
#define CNI_IO_MESH_REPORT_H

#include "geometry/geometry.h"
#include "io/meshes/mesh_repair.h"

#define CNI_MESH_CROSSINGS 1000000 // that are counted

typedef struct CniMeshReport {
  CniMeshFaults faults;
  CnVec3 lo, hi;
  double area;
  // what it encloses, of density one, the inertia about the centre; zeros where it is not closed
  double volume;
  CnVec3 centre;
  CnSym3 inertia;
  int32_t crossings;         // pairs of triangles that cross each other
  int32_t first_crossing[2]; // -1: none
  double closing_weld; // m: joining corners so near closes it; 0: it is closed, or it does not
  // its hull; corners 0: it has none
  double hull_volume, hull_error;
  int32_t hull_corners;
  const char *use; // what it is good for, in a sentence
} CniMeshReport;

// Repairs the mesh (mesh_repair.h, triangles turned) and measures it.
CnStatus cni_mesh_report(CniMeshData *mesh, const char *name, double weld, CniMeshReport *report);

// Pairs of triangles of which an edge of one goes through the other, by more than 1e-7 of the size of
// the mesh on both sides: at most CNI_MESH_CROSSINGS of them, and the first.
int32_t cni_mesh_crossings(const CniMesh *mesh, int32_t first[2]);

#endif
