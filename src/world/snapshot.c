// SPDX-License-Identifier: Apache-2.0
// Save and restore: a world's contents as bytes, the same on every compiler and machine.
//
//     0   8 bytes   "CAIRNSNP"
//     8   u32       version of this layout        12  u32  zero
//     16  u64       size of the whole             24  u64  checksum of everything behind
//     32            settings, clock, id tables, bodies, shapes, materials, joints, contacts, events
//
// Written is what cannot be computed: definitions, state, ids, lists, impulses. Mass, centres and
// local poses are functions of the definitions and are derived again. Restoring builds whole
// contents aside and believes nothing: counts are held against the bytes that are left, indices and
// lists are checked before use, numbers like those of a definition. Only then are they swapped in.
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "core/hash.h"
#include "world/stream.h"
#include "world/world.h"

#define VERSION 4u

static const char magic[8] = {'C', 'A', 'I', 'R', 'N', 'S', 'N', 'P'};

// ---- fields ----

static void settings_fields(CniStream *s, CniSettings *x) {
  int32_t friction = (int32_t)x->friction, local = (int32_t)x->solver_def.local;
  cni_stream_vec3(s, &x->gravity);
  cni_stream_double(s, &x->time_step);
  cni_stream_double(s, &x->stabilisation);
  cni_stream_double(s, &x->contact_stabilisation);
  cni_stream_double(s, &x->contact_slop);
  cni_stream_double(s, &x->recovery_speed);
  cni_stream_double(s, &x->restitution_threshold);
  cni_stream_double(s, &x->contact_margin);
  cni_stream_i32(s, &x->geometric_stiffness);
  cni_stream_i32(s, &friction);
  cni_stream_bytes(s, x->integrator, sizeof x->integrator);
  cni_stream_bytes(s, x->solver, sizeof x->solver);
  CnIntegratorDef *d = &x->integration;
  int32_t impact = (int32_t)d->impact, remedy = (int32_t)d->remedy;
  double *const numbers[] = {&d->tolerance,    &d->step,        &d->step_max,
                             &d->step_min,     &d->drift_limit, &d->event_tolerance,
                             &d->accumulation, &d->theta};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) cni_stream_double(s, numbers[i]);
  cni_stream_i32(s, &d->projection);
  cni_stream_i32(s, &d->project_start);
  cni_stream_i32(s, &d->max_events);
  cni_stream_i32(s, &d->max_steps);
  cni_stream_i32(s, &impact);
  cni_stream_i32(s, &remedy);
  d->impact = (CnImpact)impact;
  d->remedy = (CnRemedy)remedy;
  cni_stream_double(s, &x->solver_def.tolerance);
  cni_stream_i32(s, &x->solver_def.max_iterations);
  cni_stream_double(s, &x->solver_def.time_budget);
  cni_stream_double(s, &x->solver_def.relaxation);
  cni_stream_double(s, &x->solver_def.acceleration);
  cni_stream_i32(s, &local);
  cni_stream_i32(s, &x->solver_def.check_interval);
  cni_stream_i32(s, &x->solver_def.facets);
  x->friction = (CnFrictionModel)friction;
  x->solver_def.local = (CnLocalSolve)local;
}

static void slot_fields(CniStream *s, CniSlot *x) {
  cni_stream_u32(s, &x->generation);
  cni_stream_i32(s, &x->index);
}

// A body in one piece, as it goes through the fields.
typedef struct BodyRecord {
  CniBody body; // its detail and name lie beside it
  uint32_t generation;
  int32_t last_shape, shape_count;
  CniBodyDetail detail;
  char name[CNI_NAME_SIZE];
  CnPose pose;
  CnTwist twist, load;
} BodyRecord;

// A text that ends: its length, then its bytes.
static void name_fields(CniStream *s, char name[CNI_NAME_SIZE]) {
  uint32_t length = (uint32_t)strlen(name);
  cni_stream_u32(s, &length);
  if (length >= CNI_NAME_SIZE) {
    s->failed = 1;
    length = 0;
  }
  cni_stream_bytes(s, name, length);
  name[length] = 0;
}

static void body_fields(CniStream *s, BodyRecord *record) {
  CniBody *x = &record->body;
  CniBodyDetail *detail = &record->detail;
  int32_t kind = (int32_t)x->kind;
  cni_stream_i32(s, &kind);
  cni_stream_u32(s, &x->slot);
  cni_stream_u32(s, &record->generation);
  cni_stream_pose(s, &detail->def_com);
  cni_stream_double(s, &detail->def_inertia.xx);
  cni_stream_double(s, &detail->def_inertia.yy);
  cni_stream_double(s, &detail->def_inertia.zz);
  cni_stream_double(s, &detail->def_inertia.xy);
  cni_stream_double(s, &detail->def_inertia.xz);
  cni_stream_double(s, &detail->def_inertia.yz);
  cni_stream_double(s, &detail->def_mass);
  cni_stream_i32(s, &x->first_shape);
  cni_stream_i32(s, &record->last_shape);
  cni_stream_i32(s, &record->shape_count);
  cni_stream_i32(s, &x->first_joint);
  cni_stream_u64(s, &x->user_data);
  name_fields(s, record->name);
  cni_stream_pose(s, &record->pose);
  cni_stream_twist(s, &record->twist);
  cni_stream_twist(s, &record->load);
  x->kind = (CnBodyKind)kind;
}

// A shape likewise. In a snapshot nothing comes before the first shape of a body.
typedef struct ShapeRecord {
  CniShape shape;
  uint32_t generation;
  CniShapeExtra extra;
  CnShapeDef def; // pose and sizes
} ShapeRecord;

static void shape_fields(CniStream *s, ShapeRecord *record) {
  CniShape *x = &record->shape;
  int32_t kind = (int32_t)x->kind;
  cni_stream_u32(s, &x->slot);
  cni_stream_u32(s, &record->generation);
  cni_stream_i32(s, &x->body);
  cni_stream_i32(s, &x->next);
  cni_stream_i32(s, &x->previous);
  cni_stream_i32(s, &x->material);
  cni_stream_i32(s, &kind);
  cni_stream_pose(s, &record->def.pose);
  cni_stream_double(s, &record->def.radius);
  cni_stream_vec3(s, &record->def.half_size);
  cni_stream_double(s, &x->density);
  cni_stream_u32(s, &record->extra.category);
  cni_stream_u32(s, &record->extra.mask);
  x->kind = (CnShapeKind)kind;
  // sizes that only some kinds have
  if ((uint32_t)kind >= CN_SHAPE_KIND_COUNT) return;
  for (const CniField *f = cni_shape_kinds[kind]->fields; f->name; f++)
    if (f->offset != offsetof(CnShapeDef, radius) && f->offset != offsetof(CnShapeDef, half_size))
      cni_stream_double(s, cni_field_at(f, &record->def));
}

static void material_fields(CniStream *s, CniMaterial *x) {
  CnMaterialDef *def = &x->def;
  int32_t friction_rule = (int32_t)def->friction_rule;
  int32_t restitution_rule = (int32_t)def->restitution_rule;
  cni_stream_u32(s, &x->slot);
  cni_stream_u32(s, &x->generation);
  cni_stream_double(s, &def->friction);
  cni_stream_double(s, &def->restitution);
  cni_stream_double(s, &def->rolling_friction);
  cni_stream_double(s, &def->spinning_friction);
  cni_stream_double(s, &def->cohesion);
  cni_stream_vec3(s, &def->surface_velocity);
  cni_stream_i32(s, &friction_rule);
  cni_stream_i32(s, &restitution_rule);
  cni_stream_bytes(s, x->name, sizeof x->name);
  def->friction_rule = (CnCombine)friction_rule;
  def->restitution_rule = (CnCombine)restitution_rule;
}

// What kinds beyond those of 0.1 have: a torque, and coordinates.
static void coordinate_fields(CniStream *s, CniJoint *x) {
  CnJointKind kind = x->def.kind;
  if ((uint32_t)kind >= CN_JOINT_KIND_COUNT || cni_joint_kinds[kind]->point) return;
  cni_stream_vec3(s, &x->total.spin);
  for (int32_t i = 0; i < cni_joint_coordinate_count(kind); i++) {
    for (const CniField *f = cni_joint_axis_fields; f->name; f++)
      cni_stream_double(s, cni_field_at(f, &x->def.axes[i]));
    for (int32_t k = 0; k < CNI_PART_COUNT; k++) cni_stream_double(s, &x->impulse.axes[i][k]);
  }
}

static void joint_fields(CniStream *s, CniJoint *x) {
  CnJointDef *def = &x->def;
  int32_t kind = (int32_t)def->kind;
  cni_stream_u32(s, &x->slot);
  cni_stream_u32(s, &x->generation);
  cni_stream_i32(s, &kind);
  cni_stream_i32(s, &x->body_a);
  cni_stream_i32(s, &x->body_b);
  cni_stream_i32(s, &x->next_a);
  cni_stream_i32(s, &x->next_b);
  cni_stream_u32(s, &def->body_a.slot);
  cni_stream_u32(s, &def->body_a.generation);
  cni_stream_u32(s, &def->body_b.slot);
  cni_stream_u32(s, &def->body_b.generation);
  cni_stream_pose(s, &def->frame_a);
  cni_stream_pose(s, &def->frame_b);
  cni_stream_double(s, &def->distance);
  cni_stream_double(s, &def->stiffness);
  cni_stream_double(s, &def->damping);
  for (int32_t k = 0; k < 6; k++) cni_stream_double(s, &x->impulse.locked[k]);
  cni_stream_vec3(s, &x->total.velocity);
  cni_stream_double(s, &x->impulse_step);
  cni_stream_bytes(s, x->name, sizeof x->name);
  def->kind = (CnJointKind)kind;
  coordinate_fields(s, x);
}

// A named contact.
static void contact_fields(CniStream *s, CniContact *x, CnVec3 *linear) {
  cni_stream_i32(s, &x->shape_a);
  cni_stream_i32(s, &x->shape_b);
  cni_stream_i32(s, &x->body_a);
  cni_stream_i32(s, &x->body_b);
  cni_stream_u32(s, &x->feature);
  cni_stream_vec3(s, &x->point);
  cni_stream_vec3(s, &x->normal);
  cni_stream_double(s, &x->gap);
  cni_stream_vec3(s, linear);
}

static void event_fields(CniStream *s, CnContactEvent *x) {
  int32_t kind = (int32_t)x->kind;
  cni_stream_i32(s, &kind);
  cni_stream_u32(s, &x->shape_a.slot);
  cni_stream_u32(s, &x->shape_a.generation);
  cni_stream_u32(s, &x->shape_b.slot);
  cni_stream_u32(s, &x->shape_b.generation);
  x->kind = (CnContactEventKind)kind;
}

// ---- writing ----

// Things are copied before they go through the fields: the fields' functions may write.
static void write_ids(CniStream *s, const CniIds *ids) {
  int32_t count = ids->slot_count, first_free = ids->first_free;
  cni_stream_count(s, &count, 1);
  cni_stream_i32(s, &first_free);
  for (int32_t i = 0; i < count; i++) {
    CniSlot slot = ids->slots[i];
    slot_fields(s, &slot);
  }
}

static BodyRecord body_record(const CniModel *model, int32_t i) {
  int32_t first = model->bodies[i].first_shape;
  BodyRecord record = {.body = model->bodies[i],
                       .generation = cni_body_id(model, i).generation,
                       .last_shape = first >= 0 ? model->shapes[first].previous : -1,
                       .shape_count = cni_model_shape_count(model, i),
                       .detail = {.com = CN_POSE_ONE, .def_com = CN_POSE_ONE},
                       .pose = model->pose[i],
                       .twist = model->twist[i],
                       .load = cni_model_load(model, i)};
  if (record.body.detail) record.detail = *record.body.detail;
  snprintf(record.name, sizeof record.name, "%s", cni_body_name(&record.body));
  return record;
}

static ShapeRecord shape_record(const CniModel *model, int32_t i) {
  const CniShape *shape = &model->shapes[i];
  ShapeRecord record = {
      .shape = *shape,
      .generation = cni_shape_id(model, i).generation,
      .extra = {.category = cni_shape_category(shape), .mask = cni_shape_mask(shape)},
      .def = cni_model_shape_def(model, i)};
  if (model->bodies[shape->body].first_shape == i) record.shape.previous = -1;
  return record;
}

static void write_model(CniStream *s, const CniModel *model) {
  int32_t bodies = model->body_count, shapes = model->shape_count;
  int32_t materials = model->material_count - 1, joints = model->joint_count;
  write_ids(s, &model->body_ids);
  write_ids(s, &model->shape_ids);
  write_ids(s, &model->material_ids);
  write_ids(s, &model->joint_ids);
  cni_stream_count(s, &bodies, 1);
  for (int32_t i = 0; i < bodies; i++) {
    BodyRecord record = body_record(model, i);
    body_fields(s, &record);
  }
  cni_stream_count(s, &shapes, 1);
  for (int32_t i = 0; i < shapes; i++) {
    ShapeRecord record = shape_record(model, i);
    shape_fields(s, &record);
  }
  cni_stream_count(s, &materials, 1);
  for (int32_t i = 1; i <= materials; i++) {
    CniMaterial material = model->materials[i];
    material_fields(s, &material);
  }
  cni_stream_count(s, &joints, 1);
  for (int32_t i = 0; i < joints; i++) {
    CniJoint joint = model->joints[i];
    joint_fields(s, &joint);
  }
}

static CniContact named_contact(const CniContents *now, int32_t i) {
  CniContact contact = cni_contact_found(now, i);
  CnShapeId a, b;
  cni_contact_shapes(now, i, &a, &b);
  contact.shape_a = (int32_t)a.slot;
  contact.shape_b = (int32_t)b.slot;
  contact.body_a = (int32_t)a.generation;
  contact.body_b = (int32_t)b.generation;
  return contact;
}

static void write_contacts(CniStream *s, const CniContents *now) {
  const CniContactCache *cache = &now->contacts;
  int32_t count = cache->count, events = cache->event_count, turning = cache->turning;
  double time_step = cache->time_step;
  cni_stream_double(s, &time_step);
  cni_stream_i32(s, &turning);
  cni_stream_count(s, &count, 1);
  for (int32_t i = 0; i < count; i++) {
    CniContact contact = named_contact(now, i);
    CnVec3 linear = cache->linear[i];
    contact_fields(s, &contact, &linear);
    if (!turning) continue;
    CnVec3 angular = cache->angular[i];
    cni_stream_vec3(s, &angular);
  }
  cni_stream_count(s, &events, 1);
  for (int32_t i = 0; i < events; i++) {
    CnContactEvent event = cache->events[i];
    event_fields(s, &event);
  }
}

static void write_contents(CniStream *s, const CniContents *now) {
  CniSettings settings = now->settings;
  double time = now->time;
  int64_t step = now->step;
  s->at = CNI_SNAPSHOT_HEADER;
  settings_fields(s, &settings);
  cni_stream_double(s, &time);
  cni_stream_i64(s, &step);
  write_model(s, &now->model);
  write_contacts(s, now);
}

void cni_snapshot_seal(void *data, size_t size) {
  CniStream s = {.out = data, .size = size};
  uint32_t version = VERSION, zero = 0;
  uint64_t bytes = size;
  uint64_t sum = cni_hash_bytes(CNI_HASH_START, (const uint8_t *)data + CNI_SNAPSHOT_HEADER,
                                size - CNI_SNAPSHOT_HEADER);
  char word[sizeof magic];
  memcpy(word, magic, sizeof word);
  cni_stream_bytes(&s, word, sizeof word);
  cni_stream_u32(&s, &version);
  cni_stream_u32(&s, &zero);
  cni_stream_u64(&s, &bytes);
  cni_stream_u64(&s, &sum);
}

CnStatus cn_world_save(const CnWorld *world, void *data, size_t capacity, size_t *size) {
  CNI_FLOATS;
  if (!size) return cni_null_argument("cn_world_save", "the size pointer");
  *size = 0;
  CNI_TRY(cni_world_open(world, "cn_world_save"));
  if (world->now.model.force_count > 0)
    return cni_error(CN_UNSUPPORTED, "cn_world_save: forces are not in snapshots yet");
  CniStream count = {0};
  write_contents(&count, &world->now);
  *size = count.at;
  if (!data) return CN_OK;
  if (capacity < count.at)
    return cni_error(CN_INVALID_ARGUMENT, "cn_world_save: %zu bytes are needed, %zu are there",
                     count.at, capacity);
  CniStream out = {.out = data, .size = count.at};
  write_contents(&out, &world->now);
  cni_snapshot_seal(data, count.at);
  return CN_OK;
}

// ---- reading ----

static CnStatus ended(void) {
  return cni_error(CN_INVALID_DATA, "snapshot: it ends too soon, or a count is wrong");
}

// A number that no definition would be given.
static CnStatus illegal(void) {
  char text[256];
  snprintf(text, sizeof text, "%s", cn_error_message());
  return cni_error(CN_INVALID_DATA, "snapshot: %s", text);
}

// Sizes on the way: how many bytes the fields of one thing take.
static size_t slot_size(void) {
  CniStream s = {0};
  CniSlot x = {0};
  slot_fields(&s, &x);
  return s.at;
}
static size_t body_size(void) {
  CniStream s = {0};
  BodyRecord x = {0};
  body_fields(&s, &x);
  return s.at;
}
static size_t shape_size(void) {
  CniStream s = {0};
  ShapeRecord x = {0};
  shape_fields(&s, &x);
  return s.at;
}
static size_t material_size(void) {
  CniStream s = {0};
  CniMaterial x = {0};
  material_fields(&s, &x);
  return s.at;
}
static size_t joint_size(void) {
  CniStream s = {0};
  CniJoint x = {0};
  joint_fields(&s, &x);
  return s.at;
}
static size_t contact_size(void) {
  CniStream s = {0};
  CniContact x = {0};
  CnVec3 linear = CN_VEC3_ZERO;
  contact_fields(&s, &x, &linear);
  return s.at;
}
static size_t event_size(void) {
  CniStream s = {0};
  CnContactEvent x = {0};
  event_fields(&s, &x);
  return s.at;
}

static CnStatus read_ids(CniStream *s, CniIds *ids, const CnAllocator *allocator) {
  int32_t count;
  cni_stream_count(s, &count, slot_size());
  cni_stream_i32(s, &ids->first_free);
  CNI_TRY(cni_array_reserve(allocator, (void **)&ids->slots, &ids->slot_capacity, 0, count,
                            sizeof(CniSlot)));
  for (int32_t i = 0; i < count; i++) slot_fields(s, &ids->slots[i]);
  ids->slot_count = count;
  return s->failed ? ended() : CN_OK;
}

// Zero to the last bit: a load of -0 is kept.
static int is_zero_twist(const CnTwist *twist) {
  const CnTwist zero = {{0, 0, 0}, {0, 0, 0}};
  return memcmp(twist, &zero, sizeof zero) == 0;
}

// The generation of a body or a shape is that of its slot.
static CnStatus check_generation(const CniIds *ids, uint32_t slot, uint32_t generation) {
  if (slot > 0 && slot <= (uint32_t)ids->slot_count &&
      ids->slots[slot - 1].generation == generation)
    return CN_OK;
  return cni_error(CN_INVALID_DATA, "snapshot: id {%u, %u} leads nowhere", (unsigned)slot,
                   (unsigned)generation);
}

static CnStatus broken_list(int32_t body) {
  return cni_error(CN_INVALID_DATA, "snapshot: body %d: its list of shapes is broken", (int)body);
}

static CnStatus read_bodies(CniStream *s, CniModel *model) {
  int32_t count;
  cni_stream_count(s, &count, body_size());
  CNI_TRY(cni_model_reserve(model, count, 0, 0, 0));
  for (int32_t i = 0; i < count && !s->failed; i++) {
    BodyRecord record = {.detail = {.com = CN_POSE_ONE}};
    body_fields(s, &record);
    if (s->failed) break;
    CNI_TRY(check_generation(&model->body_ids, record.body.slot, record.generation));
    CNI_TRY(cni_body_keep(model, &record.body, &record.detail, record.name));
    model->bodies[i] = record.body;
    model->mass[i] = (CniBodyMass){0};
    model->pose[i] = record.pose;
    model->twist[i] = record.twist;
    model->body_count = i + 1; // what is kept so far is released with the model
    if (!is_zero_twist(&record.load)) CNI_TRY(cni_model_loads(model));
    if (model->load) model->load[i] = record.load;
  }
  return s->failed ? ended() : CN_OK;
}

static CnStatus read_shapes(CniStream *s, CniModel *model) {
  int32_t count;
  cni_stream_count(s, &count, shape_size());
  CNI_TRY(cni_model_reserve(model, 0, count, 0, 0));
  for (int32_t i = 0; i < count && !s->failed; i++) {
    ShapeRecord record = {.generation = 0};
    shape_fields(s, &record);
    if (s->failed) break;
    if ((uint32_t)record.shape.kind >= CN_SHAPE_KIND_COUNT)
      return cni_error(CN_INVALID_DATA, "snapshot: shape %d is of kind %d, which is none", i,
                       (int)record.shape.kind);
    record.def.kind = record.shape.kind;
    if (record.def.kind == CN_SHAPE_SPHERE) record.shape.radius = record.def.radius;
    cni_shape_pack(&record.def, record.extra.size);
    CNI_TRY(check_generation(&model->shape_ids, record.shape.slot, record.generation));
    CNI_TRY(cni_shape_keep(model, &record.shape, &record.extra, CN_POSE_ONE, record.def.pose));
    model->shapes[i] = record.shape;
    model->shape_count = i + 1;
  }
  return s->failed ? ended() : CN_OK;
}

// The bodies once more, which begin at `at`: before the first shape of each comes the last one, and
// as many as it says are in its list.
static CnStatus close_lists(const CniStream *s, size_t at, CniModel *model) {
  CniStream again = *s;
  again.at = at;
  int32_t count;
  cni_stream_count(&again, &count, body_size());
  for (int32_t i = 0; i < count; i++) {
    BodyRecord record = {0};
    body_fields(&again, &record);
    int32_t first = record.body.first_shape, n = 0;
    if (first >= 0 && first < model->shape_count) {
      CniShape *shape = &model->shapes[first];
      if (shape->body != i || shape->previous != -1) return broken_list(i);
      shape->previous = record.last_shape;
      // a list that is broken is found out later
      for (int32_t k = first; k >= 0 && k < model->shape_count && n <= record.shape_count; n++)
        k = model->shapes[k].body == i ? model->shapes[k].next : -1;
    }
    if (n != record.shape_count || (first == -1 && record.last_shape != -1)) return broken_list(i);
  }
  return CN_OK;
}

static CnStatus read_materials(CniStream *s, CniModel *model) {
  int32_t count;
  cni_stream_count(s, &count, material_size());
  if (count == INT32_MAX) return ended();
  CNI_TRY(cni_model_reserve(model, 0, 0, count + 1, 0));
  for (int32_t i = 1; i <= count; i++) {
    model->materials[i] = (CniMaterial){.def = {.tag = CNI_TAG_MATERIAL}};
    material_fields(s, &model->materials[i]);
  }
  model->material_count = count + 1;
  for (int32_t i = 0; i < model->shape_count; i++) {
    int32_t m = model->shapes[i].material;
    if (m >= 0 && m <= count) model->materials[m].use_count++;
  }
  return s->failed ? ended() : CN_OK;
}

static CnStatus read_joints(CniStream *s, CniModel *model) {
  int32_t count;
  cni_stream_count(s, &count, joint_size());
  CNI_TRY(cni_model_reserve(model, 0, 0, 0, count));
  for (int32_t i = 0; i < count; i++) {
    model->joints[i] = (CniJoint){.def = cn_joint_def_default(CN_JOINT_BALL)};
    joint_fields(s, &model->joints[i]);
  }
  model->joint_count = count;
  return s->failed ? ended() : CN_OK;
}

static CnStatus read_model(CniStream *s, CniModel *model) {
  const CnAllocator *a = &model->allocator;
  CNI_TRY(read_ids(s, &model->body_ids, a));
  CNI_TRY(read_ids(s, &model->shape_ids, a));
  CNI_TRY(read_ids(s, &model->material_ids, a));
  CNI_TRY(read_ids(s, &model->joint_ids, a));
  size_t bodies = s->at;
  CNI_TRY(read_bodies(s, model));
  CNI_TRY(read_shapes(s, model));
  CNI_TRY(close_lists(s, bodies, model));
  CNI_TRY(read_materials(s, model));
  CNI_TRY(read_joints(s, model));
  if (cni_model_consistent(model) != CN_OK) return illegal();
  CnStatus status = cni_model_derive(model);
  return status == CN_OK || status == CN_NO_MEMORY ? status : illegal();
}

static CnStatus check_contact(const CniContactCache *cache, int32_t i) {
  const CniContact *x = &cache->full[i], *last = i > 0 ? x - 1 : NULL;
  int same_pair = last && last->shape_a == x->shape_a && last->shape_b == x->shape_b;
  if ((uint32_t)x->shape_a >= (uint32_t)x->shape_b || (same_pair && last->feature >= x->feature))
    return cni_error(CN_INVALID_DATA, "snapshot: contact %d is out of order", (int)i);
  int finite = cn_vec3_finite(cache->linear[i]) && cn_vec3_finite(x->point) &&
               cn_vec3_finite(x->normal) && isfinite(x->gap);
  if (cache->turning) finite &= cn_vec3_finite(cache->angular[i]);
  if (!finite) return cni_error(CN_INVALID_DATA, "snapshot: contact %d is not finite", (int)i);
  return CN_OK;
}

static CnStatus read_contacts(CniStream *s, CniContactCache *cache, const CnAllocator *allocator) {
  int32_t count, events;
  cni_stream_double(s, &cache->time_step);
  cni_stream_i32(s, &cache->turning);
  if (cache->turning != 0 && cache->turning != 1)
    return cni_error(CN_INVALID_DATA, "snapshot: contacts turn %d", (int)cache->turning);
  cni_stream_count(s, &count, contact_size());
  CNI_TRY(cni_contacts_reserve(cache, allocator, count, cache->turning, 0));
  CNI_TRY(cni_array_reserve(allocator, (void **)&cache->full, &cache->full_capacity, 0, count,
                            sizeof *cache->full));
  cache->named = 1;
  for (int32_t i = 0; i < count; i++) {
    cache->full[i] = (CniContact){0};
    contact_fields(s, &cache->full[i], &cache->linear[i]);
    if (cache->turning) cni_stream_vec3(s, &cache->angular[i]);
    if (s->failed) return ended();
    CNI_TRY(check_contact(cache, i));
  }
  cache->count = cache->full_count = count;
  cni_stream_count(s, &events, event_size());
  CNI_TRY(cni_contacts_reserve(cache, allocator, 0, 0, events));
  for (int32_t i = 0; i < events; i++) {
    event_fields(s, &cache->events[i]);
    if ((uint32_t)cache->events[i].kind > CN_CONTACT_ENDED)
      return cni_error(CN_INVALID_DATA, "snapshot: event %d is of no kind", (int)i);
  }
  cache->event_count = events;
  if (!isfinite(cache->time_step) || cache->time_step < 0 || (count > 0 && !(cache->time_step > 0)))
    return cni_error(CN_INVALID_DATA, "snapshot: the contacts' time step is %g s",
                     cache->time_step);
  return s->failed ? ended() : CN_OK;
}

static CnStatus check_header(const void *data, size_t size) {
  CniStream s = {.in = data, .size = size};
  char word[sizeof magic];
  uint32_t version, zero;
  uint64_t bytes, sum;
  cni_stream_bytes(&s, word, sizeof word);
  cni_stream_u32(&s, &version);
  cni_stream_u32(&s, &zero);
  cni_stream_u64(&s, &bytes);
  cni_stream_u64(&s, &sum);
  if (s.failed || memcmp(word, magic, sizeof word) != 0)
    return cni_error(CN_INVALID_DATA, "these %zu bytes are not a snapshot", size);
  if (version != VERSION || zero != 0)
    return cni_error(CN_INVALID_DATA, "snapshot: version %u, this library reads %u",
                     (unsigned)version, VERSION);
  if (bytes != size)
    return cni_error(CN_INVALID_DATA, "snapshot: it says %llu bytes and has %zu",
                     (unsigned long long)bytes, size);
  uint64_t found = cni_hash_bytes(CNI_HASH_START, (const uint8_t *)data + CNI_SNAPSHOT_HEADER,
                                  size - CNI_SNAPSHOT_HEADER);
  if (found != sum)
    return cni_error(CN_INVALID_DATA, "snapshot: damaged (checksum %016llx, should be %016llx)",
                     (unsigned long long)found, (unsigned long long)sum);
  return CN_OK;
}

// Settings into fresh contents. A solver or integrator that refuses them is damage, not misuse.
static CnStatus read_settings(CniStream *s, CnWorld *world, CniContents *next) {
  CniSettings settings = world->now.settings;
  settings_fields(s, &settings);
  if (s->failed) return ended();
  if (!memchr(settings.integrator, 0, sizeof settings.integrator) ||
      !memchr(settings.solver, 0, sizeof settings.solver))
    return cni_error(CN_INVALID_DATA, "snapshot: a name does not end");
  CnStatus status = cni_contents_create(next, &settings, &world->allocator, world->tasks);
  if (status == CN_OK || status == CN_NO_MEMORY) return status;
  return illegal();
}

static CnStatus read_rest(CniStream *s, CnWorld *world, CniContents *next) {
  cni_stream_double(s, &next->time);
  cni_stream_i64(s, &next->step);
  if (!isfinite(next->time) || next->step < 0)
    return cni_error(CN_INVALID_DATA, "snapshot: time %g s after %lld steps", next->time,
                     (long long)next->step);
  CNI_TRY(read_model(s, &next->model));
  CNI_TRY(read_contacts(s, &next->contacts, &world->allocator));
  if (s->at != s->size)
    return cni_error(CN_INVALID_DATA, "snapshot: %zu bytes too many", s->size - s->at);
  return CN_OK;
}

CnStatus cn_world_restore(CnWorld *world, const void *data, size_t size) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_world_restore"));
  if (!data) return cni_null_argument("cn_world_restore", "the data");
  CNI_TRY(check_header(data, size));
  CniStream s = {.in = data, .size = size, .at = CNI_SNAPSHOT_HEADER};
  CniContents next;
  CNI_TRY(read_settings(&s, world, &next));
  CnStatus status = read_rest(&s, world, &next);
  if (status != CN_OK) {
    cni_contents_release(&next, &world->allocator);
    return status;
  }
  cni_contents_release(&world->now, &world->allocator);
  world->now = next;
  return CN_OK;
}
