// SPDX-License-Identifier: Apache-2.0
// Geometries: named ones that shapes share, and points given with a shape. Their hulls are made in
// the reader's small model, which refuses what a world would refuse.
#include <string.h>

#include "io/scene/scene_private.h"

// The points at the reader's place become one more geometry of the scene.
// The points of a geometry that stand for all of them.
static CnStatus simplify(CniReader *reader, json_t *list, double enough, CniSceneGeometry *g) {
  CnScene *scene = reader->scene;
  CnVec3 *points = scene->points + g->first_point, kept[CNI_HULL_VERTICES];
  int32_t chosen[CNI_HULL_VERTICES], count;
  CnStatus status = cni_points_simplify(&scene->allocator, "geometry", points, g->point_count,
                                        enough, chosen, &count);
  if (status != CN_OK) return cni_scene_fail_call(reader, list, status);
  for (int32_t i = 0; i < count; i++) kept[i] = points[chosen[i]];
  memcpy(points, kept, (size_t)count * sizeof *kept);
  g->point_count = count;
  scene->point_count = g->first_point + count;
  return CN_OK;
}

// All of them, or some that leave none outside by more than `enough`, m.
static CnStatus add_points(CniReader *reader, json_t *list, const char *name, double enough) {
  CnScene *scene = reader->scene;
  const CnAllocator *a = &scene->allocator;
  CniSceneGeometry g = {.name = name, .first_point = scene->point_count, .part_count = 1};
  json_t *item;
  if (!json_is_array(list)) return cni_scene_fail(reader, list, "must be a list of points");
  if (json_array_size(list) > CNI_HULL_POINTS)
    return cni_scene_fail_number(reader, NULL, (double)json_array_size(list),
                                 "a hull is made of at most %d points", CNI_HULL_POINTS);
  CNI_ELEMENTS (reader, list, i, item) {
    CnVec3 p;
    CNI_TRY(cni_scene_numbers(reader, item, 3, "a list of three numbers", CNI_ANY, &p.x));
    CNI_TRY(CNI_PUSH(a, scene->points, scene->point_capacity, scene->point_count, p));
  }
  g.point_count = scene->point_count - g.first_point;
  if (enough > 0) CNI_TRY(simplify(reader, list, enough, &g));
  CnStatus status = cni_model_add_points(&reader->probe, name, scene->points + g.first_point,
                                         g.point_count, &g.id);
  if (status != CN_OK) return cni_scene_fail_call(reader, list, status);
  return CNI_PUSH(a, scene->geometries, scene->geometry_capacity, scene->geometry_count, g);
}

static CnStatus read_geometry(CniReader *reader, json_t *value, const char *name) {
  static const char *const keys[] = {"points", "simplify", NULL};
  double enough = 0;
  if (json_object_get(value, "file")) {
    CNI_TRY(cni_scene_keys(reader, value, cni_scene_mesh_keys));
    return cni_scene_named_mesh(reader, value, name);
  }
  CNI_TRY(cni_scene_keys(reader, value, keys));
  CNI_TRY(cni_scene_require(reader, value, "points"));
  CNI_TRY(cni_scene_get_number(reader, value, "simplify", CNI_POSITIVE, &enough));
  CNI_MEMBER (reader, value, "points", points) CNI_TRY(add_points(reader, points, name, enough));
  return CN_OK;
}

CnStatus cni_scene_read_geometries(CniReader *reader, json_t *root) {
  return cni_scene_read_named(reader, root, "geometries", &reader->geometry_names, read_geometry);
}

CnStatus cni_scene_shape_geometry(CniReader *reader, json_t *item, CniSceneShape *shape) {
  CnScene *scene = reader->scene;
  if (cni_shape_is_surface(shape->def.kind)) {
    if (!json_object_get(item, "geometry") == !json_object_get(item, "file"))
      return cni_scene_fail(reader, item, "a mesh has either a \"file\" or a \"geometry\"");
    if (json_object_get(item, "file"))
      CNI_TRY(cni_scene_shape_mesh(reader, item, &shape->geometry));
  } else if (!json_object_get(item, "geometry") == !json_object_get(item, "points"))
    return cni_scene_fail(reader, item, "a %s has either \"points\" or a \"geometry\"",
                          cni_shape_kinds[shape->def.kind]->name);
  CNI_MEMBER (reader, item, "geometry", value)
    CNI_TRY(cni_scene_refer(reader, value, &reader->geometry_names, "geometry", &shape->geometry));
  CNI_MEMBER (reader, item, "points", value) {
    CNI_TRY(add_points(reader, value, NULL, 0));
    shape->geometry = scene->geometry_count - 1;
  }
  shape->def.geometry = scene->geometries[shape->geometry].id;
  return CN_OK;
}
