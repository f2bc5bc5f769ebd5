// SPDX-License-Identifier: Apache-2.0
// What a scene takes from beside itself: geometries, meshes, height fields, curves, other files; a part of
// scene_private.h.
#ifndef CNI_IO_SCENE_FILES_H
#define CNI_IO_SCENE_FILES_H

// The geometry of a shape that needs one: "geometry" names it, or "points" make it.
CnStatus cni_scene_shape_geometry(CniReader *reader, json_t *item, CniSceneShape *shape);
// Meshes from files (scene_meshes.c): the keys that say which and how; one of /geometries; that of a
// shape, the first of its parts.
extern const char *const cni_scene_mesh_keys[];
CnStatus cni_scene_named_mesh(CniReader *reader, json_t *item, const char *name);
CnStatus cni_scene_shape_mesh(CniReader *reader, json_t *item, int32_t *geometry);
CnMeshDef cni_scene_mesh_def(const CnScene *scene, const CniSceneGeometry *geometry);
// Height fields (scene_heights.c): their keys, and the geometry of a shape, which is moved to the corner.
extern const char *const cni_scene_height_keys[];
CnStatus cni_scene_shape_heights(CniReader *reader, json_t *item, CniSceneShape *shape);
CnHeightsDef cni_scene_heights_def(const CniSceneGeometry *geometry);
void cni_scene_release_heights(CnScene *scene);
// The whole of a file that a value names, noted with its hash; to be released by the caller.
struct CniFileBuffer;
CnStatus cni_scene_read_bytes(CniReader *reader, json_t *value, struct CniFileBuffer *file);
CnStatus cni_scene_list_files(CnScene *scene);
// A file by its name in the scene: where it really is, in the folder of the scene or below.
#define CNI_SCENE_FILE_PATH 4096
CnStatus cni_scene_find_file(CniReader *reader, json_t *value, const char *name,
                             char real[CNI_SCENE_FILE_PATH]);
// Other scene files become part of this one.
CnStatus cni_scene_include(CniReader *reader, json_t *root);
CnStatus cni_scene_include_files(CniReader *reader, json_t *root); // if there are any
// Curves; one by its name, if it is mentioned, its number counting from 1.
CnStatus cni_scene_read_curves(CniReader *reader, json_t *root);
CnStatus cni_scene_get_curve(CniReader *reader, json_t *item, const char *key, uint32_t *number);
void cni_scene_release_curves(CnScene *scene);

#endif
