// SPDX-License-Identifier: Apache-2.0
// Triangle meshes for tests: boxes, balls, floors.
#ifndef TESTS_MESHES_H
#define TESTS_MESHES_H

#include <cairn/world.h>

#include "placed.h"

typedef struct MeshLists {
  CnVec3 *vertices;
  int32_t *triangles;
  int32_t vertex_count, triangle_count;
} MeshLists;

CnMeshDef mesh_def(const MeshLists *lists);
void mesh_free(MeshLists *lists);

// Half sizes; every side cut in 4^times squares.
MeshLists mesh_box(CnVec3 half, int times);
// An icosahedron, every triangle cut in four so many times, corners at the radius.
MeshLists mesh_ball(double radius, int times);
// A flat square of half sizes x and y at z = 0, nx by ny cells, cut along one diagonal or the other.
MeshLists mesh_floor(double x, double y, int nx, int ny);
// Move the inner vertices of a floor about within it, by less than half a cell.
void mesh_shuffle(MeshLists *floor, CniRng *rng, double x, double y, int nx, int ny);
// A body with a mesh of the lists, which are freed.
CnBodyId mesh_body(CnWorld *world, MeshLists lists, CnBodyKind kind, CnPose pose, int32_t two_sided,
                   double thickness, CnMaterialId material);
// Every triangle with vertices of its own.
void mesh_take_apart(MeshLists *lists);
// Volume inside of triangles given by three indices each: a sum of tetrahedra.
double mesh_volume(const CnVec3 *vertices, const int32_t *triangles, int32_t triangle_count);

#endif
