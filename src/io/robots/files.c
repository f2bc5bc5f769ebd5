// SPDX-License-Identifier: Apache-2.0
// Files that a robot description names: meshes, found beside it or in the folders above (packages).
#define _XOPEN_SOURCE 700 // realpath
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "io/meshes/mesh_file.h"
#include "io/robots/model.h"

#define PATH_SIZE 1024
#define FOLDERS_UP 4 // a description in PACKAGE/urdf/arm finds PACKAGE/meshes

static int readable(const char *path) {
  FILE *file = cni_no_file(path) ? NULL : fopen(path, "rb");
  if (file) fclose(file);
  return file != NULL;
}

// Names that lead out of the folder are refused.
static int leads_out(const char *name) {
  for (const char *at = name; at; at = strchr(at, '/')) {
    at += *at == '/';
    if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == 0)) return 1;
  }
  return name[0] == '/';
}

// Length of the folder of a path, with its slash.
static size_t folder_length(const char *path, size_t length) {
  while (length > 0 && path[length - 1] != '/') length--;
  return length;
}

// file:///FOLDER/a.stl with the folder of the description is a.stl; anything else stays.
static const char *without_folder(const char *base, const char *name) {
  char folder[PATH_MAX], here[PATH_SIZE];
  size_t length = folder_length(base, strlen(base));
  if (name[0] != '/' || length >= sizeof here) return name;
  snprintf(here, sizeof here, "%.*s", (int)length, base);
  if (!realpath(length > 0 ? here : ".", folder)) return name;
  length = strlen(folder);
  return strncmp(name, folder, length) == 0 && name[length] == '/' ? name + length + 1 : name;
}

// "a/../b" is b, "./b" too; leading ".." stay. 0: too long.
static int simplify(const char *folder, const char *name, char path[PATH_SIZE]) {
  const char *parts[] = {folder && name[0] != '/' ? folder : "", name};
  size_t n = 0;
  for (int32_t i = 0; i < 2; i++)
    for (const char *at = parts[i]; *at;) {
      size_t length = strcspn(at, "/");
      size_t last = folder_length(path, n > 0 ? n - 1 : 0); // where the part before begins
      int up = length == 2 && memcmp(at, "..", 2) == 0;
      int inside = n > last && !(n - last == 3 && memcmp(path + last, "../", 3) == 0);
      if (n + length + 2 > PATH_SIZE) return 0;
      if (up && inside) {
        n = last;
      } else if (length > 0 && !(length == 1 && *at == '.')) {
        memcpy(path + n, at, length);
        n += length;
        path[n++] = '/';
      } else if (n == 0 && length == 0) {
        path[n++] = '/'; // of an absolute path
      }
      at += length + (at[length] == '/');
    }
  path[n > 1 ? n - 1 : n] = 0;
  return 1;
}

// The folder above one, with its slash; 0: there is none, or its name is too long.
static int go_up(char folder[PATH_SIZE]) {
  size_t n = strlen(folder), last = folder_length(folder, n > 0 ? n - 1 : 0);
  while (n > 0 && strcmp(folder + last, "./") == 0) {
    folder[n = last] = 0;
    last = folder_length(folder, n > 0 ? n - 1 : 0);
  }
  if (strcmp(folder, "/") == 0 || n + 4 > PATH_SIZE) return 0;
  if (n == 0 || strcmp(folder + last, "../") == 0)
    memcpy(folder + n, "../", 4);
  else
    folder[last] = 0;
  return 1;
}

CnStatus cni_robot_find_file(CniRobot *robot, const CniXmlNode *node, const char *folder,
                             const char *name, const char **path) {
  static const char *const packages[] = {"package://", "model://", NULL};
  const char *base = robot->beside ? node->file : robot->def->path, *scheme = "file://";
  char tried[PATH_SIZE], plain[PATH_SIZE] = "";
  *path = NULL;
  int packaged = 0, ups = 0;
  for (int32_t i = 0; packages[i] && !packaged; i++)
    if (strncmp(name, packages[i], strlen(packages[i])) == 0) {
      packaged = 1;
      name += strlen(packages[i]);
    }
  if (strncmp(name, scheme, strlen(scheme)) == 0)
    name = without_folder(base, name + strlen(scheme));
  int fits = simplify(packaged ? NULL : folder, name, plain);
  const char *whole = plain;
  while (!packaged && strncmp(whole, "../", 3) == 0) whole += 3, ups++;
  if (!fits || leads_out(whole) || ups > FOLDERS_UP)
    return cni_xml_fail(node, "files outside the robot's folder are not read (got \"%.60s\")",
                        name);
  char at[PATH_SIZE];
  snprintf(at, sizeof at, "%.*s", (int)folder_length(base, strlen(base)), base);
  while (ups > 0 && go_up(at))
    ups--; // "../meshes" is in the folder above, where packages may be too
  // PACKAGE/a/b/c may lie here as a/b/c, b/c or c
  for (int32_t i = 0; i < (packaged ? FOLDERS_UP : 1) && ups == 0; i++) {
    for (const char *rest = whole; rest; rest = packaged ? strchr(rest, '/') : NULL) {
      rest += *rest == '/';
      int n = snprintf(tried, sizeof tried, "%s%s", at, rest);
      if (n < 0 || (size_t)n >= sizeof tried || !readable(tried)) continue;
      *path = cni_xml_keep(&robot->arena, tried, strlen(tried));
      if (!*path) return cni_error_memory(sizeof tried);
      return robot->def->inputs ? cni_inputs_note(robot->def->inputs, robot->allocator, tried)
                                : CN_OK;
    }
    if (!go_up(at)) break;
  }
  return CN_OK;
}

static CnStatus read_whole(CniRobot *robot, const CniXmlNode *node, const char *path, char **text,
                           size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return cni_xml_fail(node, "%.200s cannot be read", path);
  long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  rewind(file);
  if (length < 0 || (size_t)length > CNI_XML_SIZE) {
    fclose(file);
    return cni_xml_fail(node, "%.200s is no file of at most %zu bytes", path, CNI_XML_SIZE);
  }
  *text = cni_arena_take(&robot->arena, (size_t)length + 1);
  *size = *text ? fread(*text, 1, (size_t)length, file) : 0;
  fclose(file);
  return *text ? CN_OK : cni_error_memory((size_t)length);
}

CnStatus cni_robot_include(CniRobot *robot, const CniXmlNode *node, const char *path,
                           CniXmlNode **root) {
  char *text = NULL;
  size_t size = 0;
  CNI_TRY(read_whole(robot, node, path, &text, &size));
  return cni_xml_parse(&robot->arena, text, size, path, root);
}

// The corners of a mesh's hull as a geometry of the scene under a name.
static CnStatus add_hull(CniRobot *robot, const char *name, const CniMeshData *mesh) {
  CnVec3 points[CNI_HULL_VERTICES];
  int32_t count = 0;
  double error = 0;
  CNI_TRY(cni_mesh_hull_points(mesh, name, points, &count, &error));
  json_t *list = json_array();
  if (!list) return cni_error_memory(1);
  for (int32_t i = 0; i < count; i++) cni_robot_push(robot, list, cni_json_vec3(points[i]));
  cni_robot_put(robot, robot->geometries, name, json_pack("{s:o}", "points", list));
  return CN_OK;
}

// What the last message says.
static CnStatus leave_out(CniRobot *robot, const CniXmlNode *node) {
  cni_robot_note(robot, "%sline %d: left out: %.300s",
                 robot->drawing ? "" : "beware: ", (int)node->line, cn_error_message());
  return CN_OK;
}

CnStatus cni_robot_hull(CniRobot *robot, const CniXmlNode *node, const char *key,
                        const char *source, const CniMeshData *mesh, json_t **item) {
  int32_t known = cni_name_find(&robot->meshes, key);
  *item = NULL;
  if (known < 0) {
    const char *geometry, *kept = cni_xml_keep(&robot->arena, key, strlen(key));
    if (!kept) return cni_error_memory(strlen(key));
    CNI_TRY(cni_robot_name(robot, 3, source, &geometry));
    CnStatus status = add_hull(robot, geometry, mesh);
    if (status != CN_OK) return status == CN_NO_MEMORY ? status : leave_out(robot, node);
    known = robot->mesh_count;
    CNI_TRY(CNI_PUSH(robot->allocator, robot->mesh_names, robot->mesh_capacity, robot->mesh_count,
                     geometry));
    CNI_TRY(cni_name_add(&robot->meshes, robot->allocator, kept, known));
  }
  *item = json_pack("{s:s, s:s}", "kind", "hull", "geometry", robot->mesh_names[known]);
  return *item ? CN_OK : cni_error_memory(1);
}

CnStatus cni_robot_mesh(CniRobot *robot, const CniXmlNode *node, const char *folder,
                        const char *name, CnVec3 scale, json_t **item) {
  const char *path;
  char key[PATH_SIZE + 100];
  *item = NULL;
  if (scale.x == 0 || scale.y == 0 || scale.z == 0)
    return cni_xml_fail(node, "\"scale\" must not be 0");
  CNI_TRY(cni_robot_find_file(robot, node, folder, name, &path));
  if (!path) {
    cni_robot_note(robot, "%sline %d: the mesh %.150s is not there: left out",
                   robot->drawing ? "" : "beware: ", (int)node->line, name);
    return CN_OK;
  }
  // one geometry for all that use a file alike
  snprintf(key, sizeof key, "%s %.17g %.17g %.17g", path, scale.x, scale.y, scale.z);
  if (cni_name_find(&robot->meshes, key) >= 0)
    return cni_robot_hull(robot, node, key, NULL, NULL, item);
  CniMeshData mesh;
  CniMeshUse use = {scale, 0};
  const char *slash = strrchr(path, '/');
  CnStatus status = cni_mesh_file_read(path, robot->allocator, &use, &mesh);
  if (status == CN_OK)
    status = cni_robot_hull(robot, node, key, slash ? slash + 1 : path, &mesh, item);
  else if (status != CN_NO_MEMORY)
    status = leave_out(robot, node);
  cni_mesh_release(&mesh);
  return status;
}
