// SPDX-License-Identifier: Apache-2.0
// "curves": cams and grooves by name. Points are [x, y], in a path [x, y, bulge] too, and may be made by
// generators. What a world would refuse is refused here, with its place in the file.
#include "io/io.h"
#include "io/scene/scene_private.h"

static CnStatus make_point(CniReader *reader, json_t *item) {
  CnScene *scene = reader->scene;
  double p[3] = {0, 0, 0};
  size_t count = json_array_size(item) == 3 ? 3 : 2;
  CNI_TRY(cni_scene_numbers(reader, item, count, "[x, y] or [x, y, bulge]", CNI_ANY, p));
  CNI_TRY(CNI_RESERVE(&scene->allocator, scene->points, scene->point_capacity, scene->point_count,
                      scene->point_count + 1));
  scene->points[scene->point_count++] = cn_vec3(p[0], p[1], p[2]);
  return CN_OK;
}

// The points read last, as x, y and bulges; they leave the scene's own list.
static CnStatus take_points(CniReader *reader, int32_t first, CniSceneCurve *c) {
  CnScene *scene = reader->scene;
  int32_t n = scene->point_count - first;
  int bent = 0;
  scene->point_count = first;
  c->points = cni_allocate(&scene->allocator, 3 * (size_t)(n + 1) * sizeof(double));
  if (!c->points) return cni_error_memory(3 * (size_t)(n + 1) * sizeof(double));
  c->def.point_count = n;
  for (int32_t i = 0; i < n; i++) {
    CnVec3 p = scene->points[first + i];
    c->points[i] = p.x;
    c->points[n + 1 + i] = p.y;
    c->points[2 * (n + 1) + i] = p.z;
    bent |= p.z != 0;
  }
  c->def.x = c->points;
  c->def.y = c->points + n + 1;
  c->def.bulges = bent ? c->points + 2 * (n + 1) : NULL;
  return CN_OK;
}

static CnStatus read_curve(CniReader *reader, json_t *value, const char *name) {
  static const char *const also[] = {"points", NULL};
  CnScene *scene = reader->scene;
  uint64_t mentioned = 0;
  int32_t first = scene->point_count;
  CniSceneCurve new = {.def = cn_curve_def_default(CN_CURVE_PATH)};
  new.def.name = name;
  // it is the scene's from here on, whole or not
  CNI_TRY(
      CNI_PUSH(&scene->allocator, scene->curves, scene->curve_capacity, scene->curve_count, new));
  CniSceneCurve *c = &scene->curves[scene->curve_count - 1];
  if (!json_is_object(value)) return cni_scene_fail(reader, value, "must be an object");
  CNI_TRY(cni_scene_field_keys(reader, value, cni_curve_fields, also));
  CNI_TRY(cni_scene_require(reader, value, "kind"));
  CNI_TRY(cni_scene_require(reader, value, "points"));
  CNI_TRY(cni_scene_get_fields(reader, value, cni_curve_fields, &c->def, &mentioned));
  reader->lists = 1;
  CNI_TRY(cni_scene_get_list(reader, value, "points", make_point, &reader->item_count));
  reader->lists = 0;
  CNI_TRY(take_points(reader, first, c));
  CniCurve made;
  CnStatus status = cni_curve_make(&scene->allocator, &c->def, &made);
  if (status != CN_OK) return cni_scene_fail_call(reader, value, status);
  cni_curve_forget(&scene->allocator, &made);
  return CN_OK;
}

CnStatus cni_scene_get_curve(CniReader *reader, json_t *item, const char *key, uint32_t *number) {
  int32_t index = -1;
  CNI_MEMBER (reader, item, key, value) {
    CNI_TRY(cni_scene_refer(reader, value, &reader->curve_names, "curve", &index));
    *number = (uint32_t)index + 1;
  }
  return CN_OK;
}

CnStatus cni_scene_read_curves(CniReader *reader, json_t *root) {
  return cni_scene_read_named(reader, root, "curves", &reader->curve_names, read_curve);
}

void cni_scene_release_curves(CnScene *scene) {
  for (int32_t i = 0; i < scene->curve_count; i++) {
    CniSceneCurve *c = &scene->curves[i];
    cni_release(&scene->allocator, c->points,
                3 * (size_t)(c->def.point_count + 1) * sizeof(double));
  }
  CNI_RELEASE(&scene->allocator, scene->curves, scene->curve_capacity);
}
