// SPDX-License-Identifier: Apache-2.0
// What a run file says of the run before its first step: scene, parameters, settings, bodies,
// shapes, joints, forces. With the frames it is all that a report needs.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/vec.h"
#include "geometry/geometry.h"
#include "io/run/run_private.h"
#include "joint/joint.h"
#include "world/world.h"

// ---- numbers in the file for ids of the world ----

static CnBodyId next_body(const CnWorld *world, CnBodyId id) {
  return cn_world_next_body(world, id);
}

// Slots are 1-based: an array of largest + 1 holds them all.
static void largest_slots(CniRunWriter *w, const CnWorld *world) {
  for (CnBodyId b = next_body(world, (CnBodyId){0}); b.slot; b = next_body(world, b)) {
    if ((int32_t)b.slot >= w->body_slots) w->body_slots = (int32_t)b.slot + 1;
    CnShapeId s;
    for (int32_t k = 0; (s = cn_body_shape(world, b, k)).slot; k++, w->shape_count++)
      if ((int32_t)s.slot >= w->shape_slots) w->shape_slots = (int32_t)s.slot + 1;
  }
}

static void *take(CniRunWriter *w, int64_t count, size_t size, CnStatus *status) {
  size_t bytes = (size_t)count * size;
  void *memory = cni_allocate(&w->allocator, bytes);
  if (bytes > 0 && !memory) *status = cni_error_memory(bytes);
  if (memory) memset(memory, 0xff, bytes); // -1 in every index
  return memory;
}

CnStatus cni_run_number(CniRunWriter *w, const CnWorld *world) {
  CnStatus status = CN_OK;
  CnWorldInfo info;
  cn_world_info(world, &info);
  w->sizes.body_count = info.body_count;
  w->sizes.joint_count = info.joint_count;
  largest_slots(w, world);
  w->bodies = take(w, info.body_count, sizeof *w->bodies, &status);
  w->joints = take(w, info.joint_count, sizeof *w->joints, &status);
  w->body_of_slot = take(w, w->body_slots, sizeof(int32_t), &status);
  w->shape_of_slot = take(w, w->shape_slots, sizeof(int32_t), &status);
  w->sensor_values = take(w, w->sizes.sensor_count, sizeof(double), &status);
  CNI_TRY(status);
  int32_t body = 0, shape = 0, joint = 0;
  for (CnBodyId b = next_body(world, (CnBodyId){0}); b.slot; b = next_body(world, b)) {
    w->bodies[body] = b;
    w->body_of_slot[b.slot] = body++;
    CnShapeId s;
    for (int32_t k = 0; (s = cn_body_shape(world, b, k)).slot; k++)
      w->shape_of_slot[s.slot] = shape++;
  }
  for (CnJointId j = cn_world_next_joint(world, (CnJointId){0}); j.slot;
       j = cn_world_next_joint(world, j)) {
    CnJointDef def;
    CNI_TRY(cn_joint_def(world, j, &def));
    w->sizes.coordinate_count += cni_joint_coordinate_count(def.kind);
    w->joints[joint++] = j;
  }
  return CN_OK;
}

// ---- scene and settings ----

static const char *parameter_name(const void *context, int64_t i) {
  CnSceneParameter p = {.name = ""};
  cn_scene_parameter(context, (int32_t)i, &p);
  return p.name;
}

static const char *sensor_name(const void *context, int64_t i) {
  CnSensorInfo s = {"", ""};
  cn_scene_sensor(context, (int32_t)i, &s);
  return s.name;
}

static const char *sensor_unit(const void *context, int64_t i) {
  CnSensorInfo s = {"", ""};
  cn_scene_sensor(context, (int32_t)i, &s);
  return s.unit;
}

static CnStatus put_scene(CniRunWriter *w, CniHdf *hdf) {
  CnSceneInfo info;
  cn_scene_info(w->scene, &info);
  cni_hdf_group(hdf, "/scene");
  cni_hdf_attribute_text(hdf, "/scene", "name", info.name);
  cni_hdf_attribute_text(hdf, "/scene", "title", info.title);
  cni_hdf_text(hdf, "/scene/text", info.text, info.text_size);
  cni_hdf_attribute_integer(hdf, "/scene", "seed", (int64_t)info.seed);

  int32_t count = info.parameter_count;
  size_t bytes = (size_t)count * sizeof(double);
  double *values = cni_allocate(&w->allocator, bytes);
  if (count > 0 && !values) return cni_error_memory(bytes);
  for (int32_t i = 0; i < count; i++) {
    CnSceneParameter p = {.value = 0};
    cn_scene_parameter(w->scene, i, &p);
    values[i] = p.value;
  }
  cni_hdf_group(hdf, "/parameters");
  cni_hdf_texts(hdf, &w->allocator, "/parameters/name", count, parameter_name, w->scene);
  cni_hdf_table(hdf, "/parameters/value", CNI_DOUBLE, count, 0, values);
  cni_release(&w->allocator, values, bytes);

  cni_hdf_group(hdf, "/sensors");
  cni_hdf_texts(hdf, &w->allocator, "/sensors/name", info.sensor_count, sensor_name, w->scene);
  cni_hdf_texts(hdf, &w->allocator, "/sensors/unit", info.sensor_count, sensor_unit, w->scene);
  return CN_OK;
}

static void put_field(CniHdf *hdf, const char *at, const char *name, const CniField *field,
                      const void *value) {
  int32_t integer = 0;
  const char *word = NULL;
  if (field->type == CNI_FIELD_WORD)
    memcpy(&word, value, sizeof word);
  else if (cni_field_doubles(field) == 0)
    memcpy(&integer, value, sizeof integer);
  if (field->type == CNI_FIELD_CHOICE && !(field->where & CNI_NUMBER_IN_RUN))
    word = cni_field_word(field, integer);
  if (word)
    cni_hdf_attribute_text(hdf, at, name, word);
  else if (cni_field_doubles(field) == 1)
    cni_hdf_attribute_number(hdf, at, name, *(const double *)value);
  else if (cni_field_doubles(field) > 1)
    cni_hdf_attribute_numbers(hdf, at, name, value, cni_field_doubles(field));
  else
    cni_hdf_attribute_integer(hdf, at, name, integer);
}

static void put_settings(const CnWorld *world, double frames_per_second, CniHdf *hdf) {
  const char *at = "/settings";
  CnWorldDef def;
  cn_world_settings(world, &def);
  cni_hdf_group(hdf, at);
  cni_hdf_attribute_text(hdf, at, "solver", def.solver.name);
  for (const CniSettingsPart *p = cni_settings_parts; p < cni_settings_parts + CNI_SETTINGS_PARTS;
       p++) {
    for (const CniField *f = p->fields; f->name; f++) {
      char name[64];
      if (f->where & CNI_NOT_IN_RUN) continue;
      snprintf(name, sizeof name, "%s%s", p->run_prefix, cni_field_file_name(f));
      put_field(hdf, at, name, f, cni_field_of(f, (const char *)&def + p->base));
    }
  }
  cni_hdf_attribute_number(hdf, at, "frames_per_second", frames_per_second);
}

// ---- bodies ----

typedef struct BodyRow {
  int32_t *index; // 0, 1, 2, ...: the list of points that XDMF asks for
  uint8_t *kind;
  double *mass, *radius;
  CnVec3 *inertia, *com_position;
  CnQuat *com_rotation;
} BodyRow;

typedef struct Named {
  const CnWorld *world;
  const CniRunWriter *w;
} Named;

static const char *body_name(const void *context, int64_t i) {
  const Named *n = context;
  CnBodyInfo info = {.name = ""};
  cn_body_info(n->world, n->w->bodies[i], &info);
  return info.name;
}

static const char *joint_name(const void *context, int64_t i) {
  const Named *n = context;
  CnJointDef def = {.name = ""};
  cn_joint_def(n->world, n->w->joints[i], &def);
  return def.name ? def.name : "";
}

// Of the coordinates: to which joint and kind each belongs, and its number there.
typedef struct Coordinates {
  int32_t *joint, *number;
  uint8_t *kind;
} Coordinates;

static const char *coordinate_name(const void *context, int64_t i) {
  const Coordinates *c = context;
  return cn_joint_coordinate_name((CnJointKind)c->kind[i], c->number[i]);
}

static const char *coordinate_unit(const void *context, int64_t i) {
  const Coordinates *c = context;
  return cn_joint_coordinate_unit((CnJointKind)c->kind[i], c->number[i]);
}

static const char *joint_kind_name(const void *context, int64_t i) {
  return cn_joint_kind_name((CnJointKind)((const uint8_t *)context)[i]);
}

// The ball about the origin of the body frame that holds all shapes that are bounded.
static double radius_of(const CnWorld *world, CnBodyId body) {
  double radius = 0;
  CnShapeId s;
  for (int32_t k = 0; (s = cn_body_shape(world, body, k)).slot; k++) {
    CnShapeDef def;
    if (cn_shape_def(world, s, &def) != CN_OK || cni_shape_unbounded(def.kind)) continue;
    CniPlaced placed = cni_shape_placed(&def);
    placed.hull = cni_world_hull(world, def.geometry);
    radius = fmax(radius, cn_norm(def.pose.position) + cni_shape_outradius(&placed));
  }
  return radius;
}

static void put_bodies(CniRunWriter *w, CnWorld *world, CniHdf *hdf, BodyRow *rows) {
  int32_t n = w->sizes.body_count;
  for (int32_t i = 0; i < n; i++) {
    CnBodyInfo info = {.mass = 0};
    cn_body_info(world, w->bodies[i], &info);
    rows->index[i] = i;
    rows->kind[i] = (uint8_t)info.kind;
    rows->mass[i] = info.mass;
    rows->radius[i] = radius_of(world, w->bodies[i]);
    rows->inertia[i] = info.inertia;
    rows->com_position[i] = info.com.position;
    rows->com_rotation[i] = info.com.rotation;
  }
  Named named = {world, w};
  cni_hdf_group(hdf, "/bodies");
  cni_hdf_texts(hdf, &w->allocator, "/bodies/name", n, body_name, &named);
  cni_hdf_table(hdf, "/bodies/index", CNI_INT32, n, 0, rows->index);
  cni_hdf_table(hdf, "/bodies/kind", CNI_UINT8, n, 0, rows->kind);
  cni_hdf_table(hdf, "/bodies/mass", CNI_DOUBLE, n, 0, rows->mass);
  cni_hdf_table(hdf, "/bodies/radius", CNI_DOUBLE, n, 0, rows->radius);
  cni_hdf_table(hdf, "/bodies/inertia", CNI_DOUBLE, n, 3, rows->inertia);
  cni_hdf_table(hdf, "/bodies/com_position", CNI_DOUBLE, n, 3, rows->com_position);
  cni_hdf_table(hdf, "/bodies/com_rotation", CNI_DOUBLE, n, 4, rows->com_rotation);
}

// ---- shapes and joints ----

typedef struct ShapeRow {
  int32_t *body;
  uint8_t *kind;
  CnVec3 *position;
  CnQuat *rotation;
  CnShapeDef *def;
  double *values; // room for three a shape
} ShapeRow;

// A size that some kind has, zeros where a shape's kind has it not.
static void put_sizes(CniHdf *hdf, const CniField *field, int32_t n, ShapeRow *rows) {
  size_t bytes = cni_field_size(field);
  char *values = (char *)rows->values, path[64];
  for (int32_t i = 0; i < n; i++)
    memcpy(values + (size_t)i * bytes, cni_field_of(field, &rows->def[i]), bytes);
  snprintf(path, sizeof path, "/shapes/%s", field->name);
  cni_hdf_table(hdf, path, CNI_DOUBLE, n, field->type == CNI_FIELD_VEC3 ? 3 : 0, values);
}

static CnStatus put_shapes(CniRunWriter *w, CnWorld *world, CniHdf *hdf, ShapeRow *rows) {
  int32_t n = 0;
  for (int32_t b = 0; b < w->sizes.body_count; b++) {
    CnShapeId s;
    for (int32_t k = 0; (s = cn_body_shape(world, w->bodies[b], k)).slot; k++, n++) {
      CnShapeDef def = cn_shape_def_default(CN_SHAPE_SPHERE);
      cn_shape_def(world, s, &def);
      rows->body[n] = b;
      rows->kind[n] = (uint8_t)def.kind;
      rows->position[n] = def.pose.position;
      rows->rotation[n] = def.pose.rotation;
      rows->def[n] = def;
    }
  }
  cni_hdf_group(hdf, "/shapes");
  cni_hdf_table(hdf, "/shapes/body", CNI_INT32, n, 0, rows->body);
  cni_hdf_table(hdf, "/shapes/kind", CNI_UINT8, n, 0, rows->kind);
  cni_hdf_table(hdf, "/shapes/position", CNI_DOUBLE, n, 3, rows->position);
  cni_hdf_table(hdf, "/shapes/rotation", CNI_DOUBLE, n, 4, rows->rotation);
  const CniField *field;
  for (int32_t i = 0; (field = cni_shape_field(i)); i++) put_sizes(hdf, field, n, rows);
  return cni_run_put_geometries(w, world, rows->def, hdf);
}

typedef struct JointRow {
  uint8_t *kind;
  int32_t *body_a, *body_b;
  CnPose *frame_a, *frame_b;
  Coordinates coordinates;
} JointRow;

int32_t cni_run_body_index(const CniRunWriter *w, CnBodyId id) {
  return id.slot && (int32_t)id.slot < w->body_slots ? w->body_of_slot[id.slot] : -1;
}

static void put_joints(CniRunWriter *w, CnWorld *world, CniHdf *hdf, JointRow *rows) {
  int32_t n = w->sizes.joint_count, k = 0;
  Coordinates *c = &rows->coordinates;
  for (int32_t i = 0; i < n; i++) {
    CnJointDef def = {.name = ""};
    cn_joint_def(world, w->joints[i], &def);
    rows->kind[i] = (uint8_t)def.kind;
    rows->body_a[i] = cni_run_body_index(w, def.body_a);
    rows->body_b[i] = cni_run_body_index(w, def.body_b);
    rows->frame_a[i] = def.frame_a;
    rows->frame_b[i] = def.frame_b;
    for (int32_t x = 0; x < cni_joint_coordinate_count(def.kind); x++, k++) {
      c->joint[k] = i;
      c->number[k] = x;
      c->kind[k] = rows->kind[i];
    }
  }
  Named named = {world, w};
  cni_hdf_group(hdf, "/joints");
  cni_hdf_texts(hdf, &w->allocator, "/joints/name", n, joint_name, &named);
  cni_hdf_table(hdf, "/joints/kind", CNI_UINT8, n, 0, rows->kind);
  cni_hdf_texts(hdf, &w->allocator, "/joints/kind_name", n, joint_kind_name, rows->kind);
  cni_hdf_table(hdf, "/joints/coordinate_joint", CNI_INT32, k, 0, c->joint);
  cni_hdf_texts(hdf, &w->allocator, "/joints/coordinate_name", k, coordinate_name, c);
  cni_hdf_texts(hdf, &w->allocator, "/joints/coordinate_unit", k, coordinate_unit, c);
  cni_hdf_table(hdf, "/joints/body_a", CNI_INT32, n, 0, rows->body_a);
  cni_hdf_table(hdf, "/joints/body_b", CNI_INT32, n, 0, rows->body_b);
  cni_hdf_table(hdf, "/joints/frame_a", CNI_DOUBLE, n, 7, rows->frame_a);
  cni_hdf_table(hdf, "/joints/frame_b", CNI_DOUBLE, n, 7, rows->frame_b);
}

// ---- forces ----

static const char *force_name(const void *context, int64_t i) {
  const char *name = ((const CnForceDef *)context)[i].name;
  return name ? name : "";
}

static const char *force_kind_name(const void *context, int64_t i) {
  return cn_force_kind_name(((const CnForceDef *)context)[i].kind);
}

static CnStatus put_forces(CniRunWriter *w, CnWorld *world, CniHdf *hdf) {
  CniArena arena;
  CnWorldInfo info;
  cn_world_info(world, &info);
  if (info.force_count == 0) return CN_OK;
  cni_arena_init(&arena, &w->allocator);
  size_t n = (size_t)info.force_count, bytes = n * sizeof(CnForceDef);
  CnForceDef *defs = cni_arena_take(&arena, bytes);
  int32_t *bodies = cni_arena_take(&arena, 2 * n * sizeof *bodies), i = 0;
  for (CnForceId f = {0}; defs && bodies && (f = cn_world_next_force(world, f)).slot; i++) {
    cn_force_def(world, f, &defs[i]);
    bodies[i] = cni_run_body_index(w, defs[i].body_a);
    bodies[n + (size_t)i] = cni_run_body_index(w, defs[i].body_b);
  }
  if (i > 0) {
    cni_hdf_group(hdf, "/forces");
    cni_hdf_texts(hdf, &w->allocator, "/forces/name", i, force_name, defs);
    cni_hdf_texts(hdf, &w->allocator, "/forces/kind_name", i, force_kind_name, defs);
    cni_hdf_table(hdf, "/forces/body_a", CNI_INT32, i, 0, bodies);
    cni_hdf_table(hdf, "/forces/body_b", CNI_INT32, i, 0, bodies + n);
  }
  cni_arena_release(&arena);
  return i > 0 ? CN_OK : cni_error_memory(bytes);
}

static CnStatus put_contents(CniRunWriter *w, CnWorld *world, CniHdf *hdf) {
  CniArena arena;
  cni_arena_init(&arena, &w->allocator);
  size_t b = (size_t)w->sizes.body_count, s = (size_t)w->shape_count;
  size_t j = (size_t)w->sizes.joint_count, k = (size_t)w->sizes.coordinate_count;
#define TAKE(count, type) cni_arena_take(&arena, (count) * sizeof(type))
  BodyRow body = {TAKE(b, int32_t), TAKE(b, uint8_t), TAKE(b, double), TAKE(b, double),
                  TAKE(b, CnVec3),  TAKE(b, CnVec3),  TAKE(b, CnQuat)};
  ShapeRow shape = {TAKE(s, int32_t), TAKE(s, uint8_t),    TAKE(s, CnVec3),
                    TAKE(s, CnQuat),  TAKE(s, CnShapeDef), TAKE(s, CnVec3)};
  JointRow joint = {TAKE(j, uint8_t), TAKE(j, int32_t),
                    TAKE(j, int32_t), TAKE(j, CnPose),
                    TAKE(j, CnPose),  {TAKE(k, int32_t), TAKE(k, int32_t), TAKE(k, uint8_t)}};
#undef TAKE
  int whole = body.index && body.kind && body.mass && body.radius && body.inertia &&
              body.com_position && body.com_rotation && shape.body && shape.kind &&
              shape.position && shape.rotation && shape.def && shape.values && joint.kind &&
              joint.body_a && joint.body_b && joint.frame_a && joint.frame_b &&
              joint.coordinates.joint && joint.coordinates.number && joint.coordinates.kind;
  CnStatus status = whole ? CN_OK : cni_error_memory(b * sizeof(CnPose));
  if (whole) {
    put_bodies(w, world, hdf, &body);
    status = put_shapes(w, world, hdf, &shape);
    put_joints(w, world, hdf, &joint);
  }
  cni_arena_release(&arena);
  return status;
}

CnStatus cni_run_describe(CniRunWriter *w, const CniRunWriterDef *def, CnWorld *world,
                          CniHdf *hdf) {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  double hdf5[3] = {major, minor, release};
  cni_hdf_attribute_text(hdf, "/", "format", CNI_RUN_FORMAT);
  cni_hdf_attribute_integer(hdf, "/", "format_version", CNI_RUN_FORMAT_VERSION);
  cni_hdf_attribute_text(hdf, "/", "cairn_version", cn_version());
  cni_hdf_attribute_numbers(hdf, "/", "hdf5_version", hdf5, 3);
  cni_hdf_attribute_integer(hdf, "/", "first_step", w->first_step);
  cni_hdf_attribute_integer(hdf, "/", "contacts_recorded", w->sizes.record_contacts);
  cni_hdf_attribute_integer(hdf, "/", "joints_recorded", w->sizes.record_joints);
  CNI_TRY(put_scene(w, hdf));
  put_settings(world, def->frames_per_second, hdf);
  CNI_TRY(put_contents(w, world, hdf));
  return put_forces(w, world, hdf);
}
