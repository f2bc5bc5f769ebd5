// SPDX-License-Identifier: Apache-2.0
/// Triangle meshes: surfaces that are not convex. A mesh is a geometry that shapes of kind
/// CN_SHAPE_MESH share.
#ifndef CAIRN_MESH_H
#define CAIRN_MESH_H

#include <cairn/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Corners go round counter-clockwise seen from outside. Triangles that share an edge share its two
/// vertices, or have equal ones.
typedef struct CnMeshDef {
  uint32_t size, tag;       ///< set by cn_mesh_def_default
  const char *name;         ///< copied; null: none
  const CnVec3 *vertices;   ///< m, copied
  int32_t vertex_count;     ///< 3 or more
  int32_t triangle_count;   ///< 1 or more
  const int32_t *triangles; ///< copied: three vertices of each
  int32_t two_sided;        ///< 1: a sheet, touched from both sides. Default 0: from outside only
  double thickness; ///< m, >= 0: a ball of half of it is carried over the surface. Default 0
} CnMeshDef;
/// A mesh without triangles, touched from outside.
CN_API CnMeshDef cn_mesh_def_default(void);

/// A grid of heights over x and y: sample (i, j) is at (i x_spacing, j y_spacing, height). It is a mesh
/// of two triangles a cell, seen from above, for shapes of kind CN_SHAPE_MESH, at 8 bytes a cell.
typedef struct CnHeightsDef {
  uint32_t size, tag;          ///< set by cn_heights_def_default
  const char *name;            ///< copied; null: none
  int32_t x_count, y_count;    ///< samples, 2 or more
  double x_spacing, y_spacing; ///< m, > 0
  const double *heights;       ///< m, copied; x_count numbers a row, y_count rows; NaN: a hole
  int32_t two_sided;           ///< as of CnMeshDef
  double thickness;            ///< as of CnMeshDef
} CnHeightsDef;
/// A grid without samples, touched from above.
CN_API CnHeightsDef cn_heights_def_default(void);

#ifdef __cplusplus
}
#endif
#endif
