// SPDX-License-Identifier: Apache-2.0
// A world for those who draw it or judge it (<cairn/look.h>).
#include <cairn/look.h>
#include <stdlib.h>
#include <string.h>

#include "world/doors.h"

// ---- drawing ----

CnDrawing cn_shape_drawing(const CnShapeDef *def, CnVec3 *size) {
  static const CnDrawing drawings[] = {[CNI_PAGE_SPHERE] = CN_DRAW_SPHERE,
                                       [CNI_PAGE_BOX] = CN_DRAW_BOX,
                                       [CNI_PAGE_PLANE] = CN_DRAW_PLANE,
                                       [CNI_PAGE_TRIANGLES] = CN_DRAW_TRIANGLES};
  CnVec3 own = {1, 1, 1};
  CnDrawing drawing = CN_DRAW_TRIANGLES;
  if (def && (uint32_t)def->kind < CN_SHAPE_KIND_COUNT) {
    CniPlaced placed = cni_shape_placed(def);
    const CniShapeKind *kind = cni_shape_kinds[def->kind];
    drawing = drawings[kind->page];
    if (drawing == CN_DRAW_BOX && kind->rounding(&placed) > 0) drawing = CN_DRAW_TRIANGLES;
    if (drawing == CN_DRAW_SPHERE) own = cn_vec3(placed.size[0], placed.size[0], placed.size[0]);
    if (drawing == CN_DRAW_BOX) own = cn_vec3(placed.size[0], placed.size[1], placed.size[2]);
  }
  if (size) *size = own;
  return drawing;
}

// As many as there is room for; the others are counted.
static void take_corner(void *context, CnVec3 place, CnVec3 normal) {
  CnTriangles *t = context;
  if (t->place_count < t->place_capacity) {
    t->places[t->place_count] = place;
    t->normals[t->place_count] = normal;
  }
  t->place_count++;
}

static void take_triangle(void *context, const int32_t corner[3]) {
  CnTriangles *t = context;
  if (t->triangle_count < t->triangle_capacity)
    memcpy(&t->corners[3 * (size_t)t->triangle_count], corner, 3 * sizeof corner[0]);
  t->triangle_count++;
}

CnStatus cni_triangles_fill(const char *call, const CniPlaced *placed, int32_t quarter,
                            CnTriangles *t) {
  if (quarter < 1 || quarter > 64)
    return cni_invalid("%s: quarter must be from 1 to 64 (got %d)", call, (int)quarter);
  if (t->place_capacity < 0 || t->triangle_capacity < 0 ||
      (t->place_capacity > 0 && (!t->places || !t->normals)) ||
      (t->triangle_capacity > 0 && !t->corners))
    return cni_null_argument(call, "an array of the triangles");
  t->place_count = t->triangle_count = 0;
  cni_shape_triangles(placed, quarter, 1, &(CniMeshTaker){t, take_corner, take_triangle, 0});
  int counted = t->place_capacity == 0 && t->triangle_capacity == 0;
  if (counted || (t->place_count <= t->place_capacity && t->triangle_count <= t->triangle_capacity))
    return CN_OK;
  return cni_invalid("%s: there are %d corners and %d triangles, and room for %d and %d", call,
                     (int)t->place_count, (int)t->triangle_count, (int)t->place_capacity,
                     (int)t->triangle_capacity);
}

static CnStatus place_shape(const CnWorld *world, const char *call, CnShapeId shape,
                            const void *result, CniPlaced *placed) {
  int32_t i;
  if (!result) return cni_null_argument(call, "the result pointer");
  if (!world) return cni_null_argument(call, "the world");
  CNI_TRY(cni_model_find_shape(&world->now.model, shape, &i));
  *placed = cni_shape_at(&world->now.model.shapes[i], CN_POSE_ONE);
  return CN_OK;
}

CnStatus cn_shape_triangles(const CnWorld *world, CnShapeId shape, int32_t quarter,
                            CnTriangles *triangles) {
  CNI_FLOATS;
  CniPlaced placed;
  CNI_TRY(place_shape(world, "cn_shape_triangles", shape, triangles, &placed));
  return cni_triangles_fill("cn_shape_triangles", &placed, quarter, triangles);
}

CnJointDrawing cn_joint_drawing(CnJointKind number) {
  if ((int64_t)number >= cni_joint_kind_count()) return CN_DRAW_JOINT_POINT;
  const CniJointKind *kind = cni_joint_kind(number);
  if (kind->apart && !kind->curves) return CN_DRAW_JOINT_LINK;
  if (!kind->coordinates || kind->curves) return CN_DRAW_JOINT_POINT;
  return strcmp(kind->coordinates[0].name, "x") == 0 ? CN_DRAW_JOINT_SQUARE : CN_DRAW_JOINT_AXIS;
}

// ---- sizes and overlaps ----

CnStatus cn_shape_size(const CnWorld *world, CnShapeId shape, CnShapeSize *size) {
  CNI_FLOATS;
  CniPlaced placed;
  CNI_TRY(place_shape(world, "cn_shape_size", shape, size, &placed));
  CniBounds bounds = cni_shape_bounds(&placed);
  *size = (CnShapeSize){bounds.lo, bounds.hi, cni_shape_inradius(&placed),
                        cni_shape_outradius(&placed)};
  return CN_OK;
}

static int deeper_first(const void *a, const void *b) {
  const CnOverlap *x = a, *y = b;
  if (x->depth != y->depth) return x->depth > y->depth ? -1 : 1;
  if (x->shape_a.slot != y->shape_a.slot) return x->shape_a.slot < y->shape_a.slot ? -1 : 1;
  return x->shape_b.slot < y->shape_b.slot ? -1 : x->shape_b.slot > y->shape_b.slot;
}

// Contacts come sorted: those of one pair of shapes are neighbours, the deepest one counts.
static int32_t list_overlaps(const CniModel *model, const CniContact *contacts, int32_t count,
                             CnOverlap *list) {
  int32_t found = 0, a = -1, b = -1;
  for (int32_t i = 0; i < count; i++) {
    const CniContact *c = &contacts[i];
    if (!(c->gap < 0)) continue;
    if (found > 0 && c->shape_a == a && c->shape_b == b) {
      list[found - 1].depth = cn_max(list[found - 1].depth, -c->gap);
      continue;
    }
    a = c->shape_a;
    b = c->shape_b;
    list[found++] =
        (CnOverlap){cni_shape_id(model, a), cni_shape_id(model, b), cni_body_id(model, c->body_a),
                    cni_body_id(model, c->body_b), -c->gap};
  }
  return found;
}

CnStatus cn_world_overlap_pairs(CnWorld *world, CnOverlap *overlaps, int32_t capacity,
                                int32_t *count) {
  CNI_FLOATS;
  const char *call = "cn_world_overlap_pairs";
  const CniContact *contacts;
  int32_t found = 0;
  if (!count) return cni_null_argument(call, "the count");
  *count = 0;
  CNI_TRY(cni_world_idle(world, call));
  if (capacity < 0 || (capacity > 0 && !overlaps)) return cni_null_argument(call, "the array");
  CNI_TRY(cni_world_touching(world, &contacts, &found));
  size_t size = (size_t)found * sizeof(CnOverlap);
  CnOverlap *list = cni_allocate(&world->allocator, size);
  if (!list && found > 0) return cni_error_memory(size);
  int32_t pairs = found > 0 ? list_overlaps(&world->now.model, contacts, found, list) : 0;
  if (pairs > 0) qsort(list, (size_t)pairs, sizeof *list, deeper_first);
  for (int32_t i = 0; i < pairs && i < capacity; i++) overlaps[i] = list[i];
  cni_release(&world->allocator, list, size);
  *count = pairs;
  return CN_OK;
}

// ---- motors and doubts ----

CnStatus cn_joint_target(const CnWorld *world, CnJointId joint, int32_t coordinate, double time,
                         double target[3]) {
  CNI_FLOATS;
  int32_t i;
  if (!target) return cni_null_argument("cn_joint_target", "the result pointer");
  target[0] = target[1] = target[2] = 0;
  if (!world) return cni_null_argument("cn_joint_target", "the world");
  const CniModel *model = &world->now.model;
  CNI_TRY(cni_model_find_joint(model, joint, &i));
  const CnJointDef *def = &model->joints[i].def;
  if (coordinate < 0 || coordinate >= cni_joint_coordinate_count(def->kind))
    return cni_invalid("cn_joint_target: a %s has no coordinate %d",
                       cni_joint_kind(def->kind)->name, (int)coordinate);
  if (!isfinite(time)) return cni_invalid("cn_joint_target: the time is %g", time);
  cni_joint_target(model, &def->axes[coordinate], time, target);
  return CN_OK;
}

CnStatus cn_world_check_meetings(const CnWorld *world) {
  CNI_FLOATS;
  CNI_TRY(cni_world_idle(world, "cn_world_check_meetings"));
  if (!(cn_integrator_traits(world->now.settings.integrator) & CN_INTEGRATOR_EQUATIONS))
    return CN_OK;
  return cni_equations_meet(world);
}

int64_t cn_world_doubts(const CnWorld *world) {
  int64_t doubts = 0;
  for (int32_t k = 0; world && k < CN_FINDING_COUNT; k++)
    if (cni_finding_kinds[k].allowed_share == 0) doubts += world->now.watch.found[k].count;
  return doubts;
}

// ---- the balance of a step ----

const char *cn_balance_part_name(int32_t part) {
  static const char *const names[] = {"gravity",  "loads",   "springs",       "drives", "joints",
                                      "friction", "impacts", "stabilisation", "scheme"};
  return part >= 0 && part < CN_BALANCE_PART_COUNT ? names[part] : NULL;
}

CnStatus cn_world_balance(const CnWorld *world, CnStepBalance *balance) {
  CNI_FLOATS;
  if (balance) *balance = (CnStepBalance){0};
  CNI_TRY(cni_world_idle(world, "cn_world_balance"));
  if (!balance) return cni_null_argument("cn_world_balance", "balance");
  if (!world->balance_known)
    return cni_invalid(
        "cn_world_balance: no balance is kept (balance = %d, integrator %s, step %lld)",
        (int)world->now.settings.balance, world->now.settings.integrator,
        (long long)world->now.step);
  *balance = world->balance;
  return CN_OK;
}
