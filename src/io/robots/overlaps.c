// SPDX-License-Identifier: Apache-2.0
// Parts of a robot that are in each other where it starts: hulls of hollow links, covers about a joint. They
// would push its joints apart, so such pairs do not meet; it is noted. What only touches still does.
#include <cairn/look.h>
#include <math.h>
#include <string.h>

#include "io/robots/model.h"

#define DEEP 0.05          // of the smaller inradius
#define MOST_SHAPES 300    // of more it is not asked: all may be in one place
#define MOST_OVERLAPS 1000 // looked at, the deepest first

// Are two bodies that move in each other?
static int inside(const CnWorld *world, const CnOverlap *o, CnBodyInfo *a, CnBodyInfo *b) {
  CnShapeSize size_a, size_b;
  if (cn_body_info(world, o->body_a, a) != CN_OK || cn_body_info(world, o->body_b, b) != CN_OK)
    return 0;
  if (cn_shape_size(world, o->shape_a, &size_a) != CN_OK ||
      cn_shape_size(world, o->shape_b, &size_b) != CN_OK)
    return 0;
  return a->kind == CN_BODY_DYNAMIC && b->kind == CN_BODY_DYNAMIC && a->name[0] && b->name[0] &&
         o->depth > DEEP * fmin(size_a.inradius, size_b.inradius);
}

static int known(const json_t *pairs, const char *a, const char *b) {
  for (size_t i = 0; i < json_array_size(pairs); i++) {
    const json_t *two = json_object_get(json_array_get(pairs, i), "bodies");
    const char *first = json_string_value(json_array_get(two, 0));
    const char *second = json_string_value(json_array_get(two, 1));
    if (first && second &&
        ((strcmp(first, a) == 0 && strcmp(second, b) == 0) ||
         (strcmp(first, b) == 0 && strcmp(second, a) == 0)))
      return 1;
  }
  return 0;
}

// The pairs of a world that is filled, to the robot's.
static CnStatus list_pairs(CniRobot *robot, CnWorld *world, json_t *pairs) {
  CnOverlap *overlaps;
  int32_t count = 0;
  CNI_TRY(cn_world_overlap_pairs(world, NULL, 0, &count));
  CNI_TRY(cni_arena_array(&robot->arena, count + 1, sizeof *overlaps, &overlaps));
  CNI_TRY(cn_world_overlap_pairs(world, overlaps, count, &count));
  for (int32_t i = 0; i < count && i < MOST_OVERLAPS; i++) {
    CnBodyInfo a, b;
    if (!inside(world, &overlaps[i], &a, &b) || known(pairs, a.name, b.name)) continue;
    cni_robot_push(robot, pairs, json_pack("{s:[s,s]}", "bodies", a.name, b.name));
    cni_robot_note(robot, "%.60s and %.60s are %.2g m in each other at the start: they do not meet",
                   a.name, b.name, overlaps[i].depth);
  }
  return CN_OK;
}

CnStatus cni_robot_part_overlaps(CniRobot *robot, const json_t *scene, json_t *pairs) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world = NULL;
  CnScene *made = NULL;
  char *text;
  size_t length;
  if (robot->shape_count < 2 || robot->shape_count > MOST_SHAPES) return CN_OK;
  CNI_TRY(cni_json_text(scene, robot->allocator, &text, &length));
  CnStatus status =
      cn_scene_parse(text, length, robot->def->path, NULL, 0, robot->allocator, &made);
  cni_release(robot->allocator, text, length + 1);
  if (status == CN_OK) cn_scene_world_def(made, &def);
  def.allocator = *robot->allocator;
  if (status == CN_OK) status = cn_world_create(&def, &world);
  if (status == CN_OK) status = cn_scene_fill(made, world);
  if (status == CN_OK) status = list_pairs(robot, world, pairs);
  cn_world_destroy(world);
  cn_scene_destroy(made);
  // what is wrong with the scene is told where it is opened
  return status == CN_NO_MEMORY ? status : CN_OK;
}
