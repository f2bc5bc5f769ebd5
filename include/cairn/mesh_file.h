// SPDX-License-Identifier: Apache-2.0
/// Mesh files: OBJ, STL, PLY, glTF and GLB, read, mended, measured, and cut into convex parts. What is read can become a
/// geometry (cn_geometry_create_mesh, cn_geometry_create_points). Part of libcairn-io.
#ifndef CAIRN_MESH_FILE_H
#define CAIRN_MESH_FILE_H

#include <cairn/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How to read a mesh file. Start from cn_mesh_file_def_default().
typedef struct CnMeshFileDef {
  uint32_t size, tag; ///< set by cn_mesh_file_def_default
  CnVec3 scale;       ///< m per unit of the file, not zero; default 1, 1, 1
  char up;            ///< the axis of the file that points up: 'x', 'y', 'z' (default)
  double weld;        ///< m, >= 0: corners no farther apart are joined; default 0: equal ones
  int32_t parts;      ///< 1 to 256: cut into at most so many convex parts; default 0: not cut
  /// 1: parts of meshes of 256 triangles and more are kept in a file FILE.HASH.parts beside the mesh, and found there
  /// the next time, with the same bits; default 0.
  int32_t keep_parts;
  /// Where they are kept if the mesh's own folder cannot be written; null (default): nowhere.
  const char *parts_folder;
} CnMeshFileDef;

/// Metres, z up, equal corners joined, not cut.
CN_API CnMeshFileDef cn_mesh_file_def_default(void);

/// A mesh that was read.
typedef struct CnMeshFile CnMeshFile;

/// Read a file; its format is told by its content, or else by the ending of its name. Failures name the file, the line
/// or byte, and the value found. def null: the default. On failure *mesh is NULL.
CN_API CnStatus cn_mesh_file_read(const char *path, const CnMeshFileDef *def, CnMeshFile **mesh);

/// Release it. Null is allowed.
CN_API void cn_mesh_file_destroy(CnMeshFile *mesh);

/// What is to be known of a mesh before it is used. Strings are static.
typedef struct CnMeshFileInfo {
  const char *format; ///< "obj", "stl", ...
  uint64_t hash;      ///< of the bytes of the file, and of the other files that it is made of
  int32_t file_vertices, file_triangles; ///< as read
  int32_t vertex_count, triangle_count;  ///< after mending
  CnVec3 low, high;                      ///< m
  double area;                           ///< m^2
  int32_t closed; ///< 1: every edge has two triangles, which go round it in opposite directions
  int32_t pieces; ///< connected over edges
  int32_t edges;
  int32_t lone_edges;    ///< that have one triangle only
  int32_t crowded_edges; ///< that have more than two
  int32_t twisted_edges; ///< whose two triangles cannot look the same way
  int32_t flipped;       ///< triangles that looked the wrong way
  int32_t degenerate;    ///< triangles without area
  int32_t doubled;       ///< the same triangle once more
  int32_t crossings;     ///< pairs of triangles that cross each other
  int32_t first_lone, first_flipped, first_crossing; ///< a triangle, -1: none
  double closing_weld;  ///< m: joining corners so near closes it; 0: it is closed, or it does not
  double volume;        ///< m^3; zero, as what follows, where it is not closed
  CnVec3 centre;        ///< m
  CnSym3 inertia;       ///< kg m^2 about the centre, of 1 kg/m^3
  int32_t hull_corners; ///< of its convex hull; 0: it has none
  double hull_volume, hull_error; ///< m^3; m, how far corners lie outside it
  int32_t part_count;             ///< convex parts, where they were asked for
  int32_t part_corners;           ///< of all of them
  double part_volume, part_error; ///< m^3; of all of them, over the mesh's own less 1
  double part_outside;            ///< m: how far corners of the mesh lie outside their part
  double part_depth;              ///< m: how far a part reaches beyond the surface at most
  const char *use;                ///< what it is good for, in a sentence
} CnMeshFileInfo;

/// What was found.
CN_API CnStatus cn_mesh_file_info(const CnMeshFile *mesh, CnMeshFileInfo *info);

/// The mesh as a definition for cn_geometry_create_mesh; its arrays live as long as the mesh.
CN_API CnStatus cn_mesh_file_def(const CnMeshFile *mesh, CnMeshDef *def);

/// The corners of convex part `index`, for cn_geometry_create_points; they live as long as the mesh.
CN_API CnStatus cn_mesh_file_part(const CnMeshFile *mesh, int32_t index, const CnVec3 **points,
                                  int32_t *count);

/// 1: the name ends like that of a mesh file.
CN_API int32_t cn_mesh_file_named(const char *path);

#ifdef __cplusplus
}
#endif
#endif
