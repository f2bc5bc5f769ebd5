// SPDX-License-Identifier: Apache-2.0
// Meshes from files: {"kind": "mesh", "file": "bowl.stl", "scale": 0.001}. A file is found beside the
// scene or below, and nowhere else. It becomes a surface, its hull, or convex parts; shapes that ask for
// the same share it. What is wrong with a surface is refused here, in a sentence.
#define _XOPEN_SOURCE 700 // realpath
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "io/io.h"
#include "io/problems/problems_private.h"
#include "io/scene/scene_private.h"

#define MOST_PATH 4096

typedef enum As { AS_SURFACE = 0, AS_HULL, AS_PARTS } As;

typedef struct Wish {
  const char *file;
  CniMeshUse use;
  int32_t as, repair, two_sided;
  double weld, thickness;
  CniMeshPartsDef parts;
} Wish;

const char *const cni_scene_mesh_keys[] = {"file",      "as",    "scale",  "unit",
                                           "up",        "weld",  "repair", "two_sided",
                                           "thickness", "parts", "error",  NULL};

// ---- what is asked for ----

// Keys that say nothing unless the mesh becomes what they are for.
static CnStatus check_fit(CniReader *reader, json_t *item, int32_t as) {
  static const struct {
    const char *key, *as_word;
    As as;
  } only[] = {{"two_sided", "surface", AS_SURFACE},
              {"thickness", "surface", AS_SURFACE},
              {"parts", "parts", AS_PARTS},
              {"error", "parts", AS_PARTS}};
  for (size_t i = 0; i < sizeof only / sizeof only[0]; i++)
    CNI_MEMBER (reader, item, only[i].key, value)
      if ((int32_t)only[i].as != as)
        return cni_scene_fail(reader, value, "is only for \"as\": \"%s\"", only[i].as_word);
  return CN_OK;
}

static CnStatus read_wish(CniReader *reader, json_t *item, Wish *wish) {
  static const char *const ases[] = {"surface", "hull", "parts", NULL};
  static const char *const units[] = {"m", "cm", "mm", "in", "ft", NULL};
  static const char *const ups[] = {"x", "y", "z", NULL};
  static const double metres[] = {1, .01, .001, .0254, .3048};
  int32_t unit = 0, up = 2;
  int64_t most = 32;
  *wish = (Wish){.use = {{1, 1, 1}, 0}};
  CNI_TRY(cni_scene_get_text(reader, item, "file", &wish->file));
  CNI_TRY(cni_scene_get_choice(reader, item, "as", ases, &wish->as));
  CNI_TRY(cni_scene_get_choice(reader, item, "unit", units, &unit));
  CNI_TRY(cni_scene_get_choice(reader, item, "up", ups, &up));
  CNI_TRY(cni_scene_get_size(reader, item, "scale", CNI_ANY, &wish->use.scale));
  CNI_TRY(cni_scene_get_number(reader, item, "weld", CNI_NOT_NEGATIVE, &wish->weld));
  CNI_TRY(cni_scene_get_flag(reader, item, "repair", &wish->repair));
  CNI_TRY(cni_scene_get_flag(reader, item, "two_sided", &wish->two_sided));
  CNI_TRY(cni_scene_get_number(reader, item, "thickness", CNI_NOT_NEGATIVE, &wish->thickness));
  CNI_TRY(cni_scene_get_integer(reader, item, "parts", 1, CNI_MESH_PARTS, &most));
  CNI_TRY(cni_scene_get_number(reader, item, "error", CNI_POSITIVE, &wish->parts.error));
  CNI_TRY(check_fit(reader, item, wish->as));
  CnVec3 s = wish->use.scale;
  if (s.x == 0 || s.y == 0 || s.z == 0) {
    cni_scene_enter(reader, "scale");
    return cni_scene_fail(reader, json_object_get(item, "scale"), "must not be zero");
  }
  wish->use.scale = cn_scale(metres[unit], s);
  wish->use.up = *ups[up];
  wish->parts.most = (int32_t)most;
  return CN_OK;
}

// ---- where it is ----

static const CniBuiltinFile *builtin_file(const CniReader *reader, const char *name) {
  int is_builtin = 0;
  for (int32_t i = 0; i < cni_builtin_scene_count; i++)
    is_builtin |= strcmp(cni_builtin_scenes[i].name, reader->label) == 0;
  for (const CniBuiltinFile *f = cni_builtin_files; is_builtin && f->name; f++)
    if (strcmp(f->name, name) == 0) return f;
  return NULL;
}

static int goes_up(const char *path) {
  for (const char *c = path; *c; c++)
    if (strncmp(c, "..", 2) == 0 && (c == path || c[-1] == '/') && (c[2] == '/' || c[2] == 0))
      return 1;
  return 0;
}

// Links are followed: what counts is where the file really is.
static int is_below(const char *real, const char *folder) {
  char root[PATH_MAX];
  if (!realpath(folder, root)) return 0;
  size_t n = strlen(root);
  return strncmp(real, root, n) == 0 && (root[n - 1] == '/' || real[n] == '/');
}

CnStatus cni_scene_find_file(CniReader *reader, json_t *value, const char *name,
                             char real[CNI_SCENE_FILE_PATH]) {
  const char *slash = strrchr(reader->label, '/'), *allowed = reader->scene->options.files;
  char folder[MOST_PATH], path[MOST_PATH];
  int n = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - reader->label) : 1,
                   slash ? reader->label : ".");
  if (slash == reader->label) snprintf(folder, sizeof folder, "/");
  if (!name[0]) return cni_scene_fail(reader, value, "must be the name of a file");
  if (!allowed && (name[0] == '/' || goes_up(name)))
    return cni_scene_fail(reader, value, "must lie in the folder of the scene or below");
  int length = name[0] == '/' ? snprintf(path, MOST_PATH, "%s", name)
                              : snprintf(path, MOST_PATH, "%s/%s", folder, name);
  if (n >= MOST_PATH || length >= MOST_PATH)
    return cni_scene_fail(reader, value, "the path is too long");
  _Static_assert(CNI_SCENE_FILE_PATH >= PATH_MAX, "room for realpath");
  if (!realpath(path, real)) return cni_scene_fail(reader, value, "%s", strerror(errno));
  if (!is_below(real, allowed ? allowed : folder))
    return cni_scene_fail(reader, value, "lies outside of %s", allowed ? allowed : folder);
  if (cni_no_file(real)) return cni_scene_fail(reader, value, "is no file");
  return cni_inputs_note(&reader->scene->inputs, &reader->scene->allocator, real);
}

// Each file once.
static CnStatus note_file(CnScene *scene, const char *name, uint64_t hash) {
  for (int32_t i = 0; i < scene->file_count; i++)
    if (strcmp(scene->files[i].name, name) == 0) return CN_OK;
  CniSceneFile file = {name, hash};
  return CNI_PUSH(&scene->allocator, scene->files, scene->file_capacity, scene->file_count, file);
}

// `path` takes where it is, "" of a built-in one.
static CnStatus read_file(CniReader *reader, json_t *value, const Wish *wish,
                          char path[CNI_SCENE_FILE_PATH], CniMeshData *mesh) {
  CnScene *scene = reader->scene;
  const CniBuiltinFile *own = builtin_file(reader, wish->file);
  path[0] = 0;
  if (!own) CNI_TRY(cni_scene_find_file(reader, value, wish->file, path));
  CnStatus status =
      own ? cni_mesh_read_memory(own->data, own->size, own->name, strrchr(own->name, '.') + 1,
                                 &scene->allocator, &wish->use, mesh)
          : cni_mesh_file_read(path, &scene->allocator, &wish->use, mesh);
  if (status != CN_OK) return cni_scene_fail_call(reader, value, status);
  status = note_file(scene, wish->file, mesh->hash);
  if (status == CN_OK) status = cni_inputs_add(&scene->inputs, &scene->allocator, &mesh->others);
  if (status != CN_OK) cni_mesh_release(mesh);
  return status;
}

CnStatus cni_scene_read_bytes(CniReader *reader, json_t *value, CniFileBuffer *file) {
  CnScene *scene = reader->scene;
  const char *name = NULL;
  char path[CNI_SCENE_FILE_PATH];
  CNI_TRY(cni_scene_keep(scene, json_string_value(value), &name));
  CNI_TRY(cni_scene_find_file(reader, value, name, path));
  CnStatus status = cni_file_read(path, &scene->allocator, file);
  if (status != CN_OK) return cni_scene_fail_call(reader, value, status);
  status = note_file(scene, name, cni_hash_bytes(CNI_HASH_START, file->data, file->size));
  if (status != CN_OK) cni_release(&scene->allocator, file->data, file->capacity);
  return status;
}

// ---- what it becomes ----

static CnStatus keep_points(CnScene *scene, const CnVec3 *points, int32_t count,
                            CniSceneGeometry *g) {
  g->first_point = scene->point_count;
  g->point_count = count;
  CNI_TRY(CNI_RESERVE(&scene->allocator, scene->points, scene->point_capacity, scene->point_count,
                      scene->point_count + count));
  memcpy(scene->points + scene->point_count, points, (size_t)count * sizeof *points);
  scene->point_count += count;
  return CN_OK;
}

static CnStatus keep_geometry(CniReader *reader, json_t *value, CniSceneGeometry *g) {
  CnScene *scene = reader->scene;
  CnMeshDef def = cni_scene_mesh_def(scene, g);
  CnStatus status = g->triangle_count ? cni_model_add_mesh(&reader->probe, &def, &g->id)
                                      : cni_model_add_points(&reader->probe, g->name,
                                                             scene->points + g->first_point,
                                                             g->point_count, &g->id);
  if (status != CN_OK) return cni_scene_fail_call(reader, value, status);
  return CNI_PUSH(&scene->allocator, scene->geometries, scene->geometry_capacity,
                  scene->geometry_count, *g);
}

CnMeshDef cni_scene_mesh_def(const CnScene *scene, const CniSceneGeometry *g) {
  CnMeshDef def = cn_mesh_def_default();
  if (!g->triangle_count) return def;
  def.name = g->name;
  def.vertices = scene->points + g->first_point;
  def.vertex_count = g->point_count;
  def.triangles = scene->corners + g->first_corner;
  def.triangle_count = g->triangle_count;
  def.two_sided = g->two_sided;
  def.thickness = g->thickness;
  return def;
}

// Whole, and looking outward where that matters.
static CnStatus make_whole(CniReader *reader, json_t *value, const Wish *wish, CniMeshData *mesh,
                           int32_t *lone_edges) {
  CniMeshFaults f;
  CnStatus status = cni_mesh_repair(mesh, wish->file, wish->weld, wish->repair, &f);
  if (status != CN_OK) return cni_scene_fail_call(reader, value, status);
  *lone_edges = f.lone_edges;
  if (wish->two_sided) return CN_OK;
  if (f.twisted_edges > 0)
    return cni_scene_fail(
        reader, value, "its triangles cannot all look outward (%d edges); \"two_sided\" may help",
        (int)f.twisted_edges);
  if (f.flipped > 0 && !wish->repair)
    return cni_scene_fail(reader, value,
                          "%d of %d triangles look the wrong way, the first is triangle %d; "
                          "\"repair\": true turns them",
                          (int)f.flipped, (int)mesh->triangle_count, (int)f.first_flipped + 1);
  if (wish->as == AS_PARTS && !f.closed)
    return cni_scene_fail(reader, value,
                          "not closed, so it has no convex parts: %d edges without a partner; "
                          "\"weld\" may help, or \"as\": \"hull\"",
                          (int)f.lone_edges);
  return CN_OK;
}

static CnStatus add_surface(CniReader *reader, json_t *value, const Wish *wish, const char *name,
                            CniMeshData *mesh) {
  CnScene *scene = reader->scene;
  int32_t lone_edges;
  CNI_TRY(make_whole(reader, value, wish, mesh, &lone_edges));
  CniSceneGeometry g = {.name = name,
                        .lone_edges = lone_edges,
                        .first_corner = scene->corner_count,
                        .triangle_count = mesh->triangle_count,
                        .two_sided = wish->two_sided,
                        .thickness = wish->thickness,
                        .part_count = 1};
  int32_t corners = 3 * mesh->triangle_count;
  CNI_TRY(keep_points(scene, mesh->vertices, mesh->vertex_count, &g));
  CNI_TRY(CNI_RESERVE(&scene->allocator, scene->corners, scene->corner_capacity,
                      scene->corner_count, scene->corner_count + corners));
  memcpy(scene->corners + scene->corner_count, mesh->triangles,
         (size_t)corners * sizeof *scene->corners);
  scene->corner_count += corners;
  return keep_geometry(reader, value, &g);
}

static CnStatus add_hull(CniReader *reader, json_t *value, const Wish *wish, const char *name,
                         CniMeshData *mesh) {
  CnVec3 points[CNI_HULL_VERTICES];
  CniSceneGeometry g = {.name = name, .part_count = 1};
  int32_t count;
  double error;
  CnStatus status = cni_mesh_hull_points(mesh, wish->file, points, &count, &error);
  if (status != CN_OK) return cni_scene_fail_call(reader, value, status);
  CNI_TRY(keep_points(reader->scene, points, count, &g));
  return keep_geometry(reader, value, &g);
}

static CnStatus add_parts(CniReader *reader, json_t *value, const Wish *wish, const char *path,
                          CniMeshData *mesh) {
  CniMeshParts parts;
  const CnSceneOptions *options = &reader->scene->options;
  CniPartsPlace place = {options->keep_parts && path[0] ? path : NULL, options->parts_folder};
  int32_t lone_edges;
  CNI_TRY(make_whole(reader, value, wish, mesh, &lone_edges));
  CnStatus status = cni_mesh_parts_kept(mesh, wish->file, &wish->parts, &place, &parts);
  if (status != CN_OK) return cni_scene_fail_call(reader, value, status);
  for (int32_t i = 0; status == CN_OK && i < parts.count; i++) {
    CniSceneGeometry g = {.part_count = parts.count - i};
    status = keep_points(reader->scene, parts.points + parts.first[i],
                         parts.first[i + 1] - parts.first[i], &g);
    if (status == CN_OK) status = keep_geometry(reader, value, &g);
  }
  cni_mesh_parts_release(&parts);
  return status;
}

static CnStatus add_wish(CniReader *reader, json_t *value, const Wish *wish, const char *name) {
  CniMeshData mesh;
  char path[CNI_SCENE_FILE_PATH];
  CNI_TRY(read_file(reader, value, wish, path, &mesh));
  CnStatus status = wish->as == AS_SURFACE ? add_surface(reader, value, wish, name, &mesh)
                    : wish->as == AS_HULL  ? add_hull(reader, value, wish, name, &mesh)
                                           : add_parts(reader, value, wish, path, &mesh);
  cni_mesh_release(&mesh);
  return status;
}

CnStatus cni_scene_named_mesh(CniReader *reader, json_t *item, const char *name) {
  Wish wish;
  CNI_TRY(read_wish(reader, item, &wish));
  CNI_MEMBER (reader, item, "as", value)
    if (wish.as == AS_PARTS)
      return cni_scene_fail(reader, value,
                            "a geometry is one thing: ask for parts where the shape is");
  CNI_MEMBER (reader, item, "file", value) CNI_TRY(add_wish(reader, value, &wish, name));
  return CN_OK;
}

// Shapes that ask for the same file in the same way share what comes of it.
CnStatus cni_scene_shape_mesh(CniReader *reader, json_t *item, int32_t *geometry) {
  CnScene *scene = reader->scene;
  Wish wish;
  char key[MOST_PATH];
  const char *kept;
  CNI_TRY(read_wish(reader, item, &wish));
  CnVec3 s = wish.use.scale;
  int n = snprintf(key, sizeof key, "%a %a %a %c %d %d %d %a %a %d %a %s", s.x, s.y, s.z,
                   wish.use.up, (int)wish.as, (int)wish.repair, (int)wish.two_sided, wish.weld,
                   wish.thickness, (int)wish.parts.most, wish.parts.error, wish.file);
  *geometry = n < MOST_PATH ? cni_name_find(&reader->mesh_names, key) : -1;
  if (*geometry >= 0) return CN_OK;
  int32_t first = scene->geometry_count;
  CNI_MEMBER (reader, item, "file", value) CNI_TRY(add_wish(reader, value, &wish, NULL));
  *geometry = first;
  if (n >= MOST_PATH) return CN_OK;
  CNI_TRY(cni_scene_keep(scene, key, &kept));
  return cni_name_add(&reader->mesh_names, &scene->allocator, kept, first);
}

// ---- the files of a scene ----

// Lines of hash and name.
CnStatus cni_scene_list_files(CnScene *scene) {
  char line[MOST_PATH + 20];
  size_t size = 0;
  char *text = NULL;
  for (int32_t i = 0; i < scene->file_count; i++) size += strlen(scene->files[i].name) + 18;
  scene->files_text = "";
  if (size == 0) return CN_OK;
  CNI_TRY(cni_new(&scene->allocator, size + 1, &text));
  size_t at = 0;
  for (int32_t i = 0; i < scene->file_count; i++) {
    int n = snprintf(line, sizeof line, "%016llx %s\n", (unsigned long long)scene->files[i].hash,
                     scene->files[i].name);
    if (n > 0 && at + (size_t)n <= size) memcpy(text + at, line, (size_t)n), at += (size_t)n;
  }
  scene->files_text = cni_text_keep(&scene->texts, &scene->allocator, text, at);
  cni_release(&scene->allocator, text, size + 1);
  return scene->files_text ? CN_OK : CN_NO_MEMORY;
}

const char *cni_scene_files(const CnScene *scene) { return scene->files_text; }
