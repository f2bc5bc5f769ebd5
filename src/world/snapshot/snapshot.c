// SPDX-License-Identifier: Apache-2.0
// Save and restore: a world's contents as bytes, the same on every compiler and machine.
//
//     0   8 bytes   "CAIRNSNP"
//     8   u32       version                       12  u32  zero
//     16  u64       size of the whole             24  u64  checksum of everything behind
//     32            layout (layout.h): which fields the records have
//                   settings, clock, id tables, bodies, shapes, materials, joints, contacts, events
//
// Written is what cannot be computed: definitions, state, ids, lists, impulses. Mass, centres and
// local poses are functions of the definitions and are derived again. Restoring builds whole
// contents aside and believes nothing: counts are held against the bytes that are left, indices and
// lists are checked before use, numbers like those of a definition. Only then are they swapped in.
//
// Version 4 (Cairn 0.1) had no layout in the file: records.c knows it.
#include <stdio.h>
#include <string.h>

#include "core/floats.h"
#include "core/hash.h"
#include "world/snapshot/snapshot_private.h"

#define VERSION 5u
#define VERSION_WITHOUT_LAYOUT 4u

static const char magic[8] = {'C', 'A', 'I', 'R', 'N', 'S', 'N', 'P'};

// ---- writing ----

void cni_snapshot_put(CniSnapshotWriter *w, int32_t record, void *from) {
  cni_record_write(&w->s, &w->records[record], from);
}

void cni_snapshot_put_count(CniSnapshotWriter *w, int32_t count) {
  cni_stream_count(&w->s, &count, 1);
}

void cni_snapshot_put_ids(CniSnapshotWriter *w, const CniIds *ids) {
  int32_t first_free = ids->first_free;
  cni_snapshot_put_count(w, ids->slot_count);
  cni_stream_i32(&w->s, &first_free);
  for (int32_t i = 0; i < ids->slot_count; i++)
    cni_snapshot_put(w, CNI_RECORD_SLOT, &ids->slots[i]);
}

static CniBodyRecord body_record(const CniModel *model, int32_t i) {
  const CniBody *body = &model->bodies[i];
  int32_t first = body->first_shape;
  CniBodyRecord record = {.def = cn_body_def_default(),
                          .slot = body->slot,
                          .generation = cni_body_id(model, i).generation,
                          .first_shape = first,
                          .last_shape = first >= 0 ? model->shapes[first].previous : -1,
                          .shape_count = cni_model_shape_count(model, i),
                          .first_joint = body->first_joint,
                          .pose = model->pose[i],
                          .twist = model->twist[i],
                          .load = cni_model_load(model, i)};
  record.def.kind = body->kind;
  record.def.continuous = body->continuous;
  record.def.user_data = body->user_data;
  if (body->detail) {
    record.def.com = body->detail->def_com;
    record.def.inertia = body->detail->def_inertia;
    record.def.mass = body->detail->def_mass;
  }
  snprintf(record.name, sizeof record.name, "%s", cni_body_name(body));
  return record;
}

static CniShapeRecord shape_record(const CniModel *model, int32_t i) {
  const CniShape *shape = &model->shapes[i];
  int is_first = model->bodies[shape->body].first_shape == i;
  return (CniShapeRecord){.def = cni_model_shape_def(model, i),
                          .slot = shape->slot,
                          .generation = cni_shape_id(model, i).generation,
                          .body = shape->body,
                          .next = shape->next,
                          .previous = is_first ? -1 : shape->previous,
                          .material = shape->material};
}

static void write_model(CniSnapshotWriter *w, const CniModel *model) {
  cni_snapshot_put_ids(w, &model->body_ids);
  cni_snapshot_put_ids(w, &model->shape_ids);
  cni_snapshot_put_ids(w, &model->material_ids);
  cni_snapshot_put_ids(w, &model->joint_ids);
  cni_snapshot_put_before(w, model);
  cni_snapshot_put_count(w, model->body_count);
  for (int32_t i = 0; i < model->body_count; i++) {
    CniBodyRecord record = body_record(model, i);
    cni_snapshot_put(w, CNI_RECORD_BODY, &record);
  }
  cni_snapshot_put_count(w, model->shape_count);
  for (int32_t i = 0; i < model->shape_count; i++) {
    CniShapeRecord record = shape_record(model, i);
    cni_snapshot_put(w, CNI_RECORD_SHAPE, &record);
    cni_snapshot_put(w, CNI_RECORD_SHAPE_KIND + (int32_t)record.def.kind, &record);
  }
  cni_snapshot_put_count(w, model->material_count - 1);
  for (int32_t i = 1; i < model->material_count; i++)
    cni_snapshot_put(w, CNI_RECORD_MATERIAL, &model->materials[i]);
  cni_snapshot_put_count(w, model->joint_count);
  for (int32_t i = 0; i < model->joint_count; i++) {
    cni_snapshot_put(w, CNI_RECORD_JOINT, &model->joints[i]);
    cni_snapshot_put(w, CNI_RECORD_JOINT_KIND + (int32_t)model->joints[i].def.kind,
                     &model->joints[i]);
  }
  cni_snapshot_put_after(w, model);
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

static void write_contacts(CniSnapshotWriter *w, const CniContents *now) {
  CniContactCache cache = now->contacts;
  cni_snapshot_put(w, CNI_RECORD_CACHE, &cache);
  cni_snapshot_put_count(w, cache.count);
  for (int32_t i = 0; i < cache.count; i++) {
    CniContactRecord record = {.contact = named_contact(now, i), .linear = cache.linear[i]};
    cni_snapshot_put(w, CNI_RECORD_CONTACT, &record);
    if (!cache.turning) continue;
    record.angular = cache.angular[i];
    cni_snapshot_put(w, CNI_RECORD_TURNING, &record);
  }
  cni_snapshot_put_count(w, cache.event_count + cache.inside_count);
  for (int32_t i = 0; i < cache.event_count; i++)
    cni_snapshot_put(w, CNI_RECORD_EVENT, &cache.events[i]);
  for (int32_t i = 0; i < cache.inside_count; i++)
    cni_snapshot_put(w, CNI_RECORD_EVENT, &cache.inside[i]);
}

// Which records the contents need: those of kinds that nothing is of are not described.
static void write_layout(CniSnapshotWriter *w, const CniModel *model) {
  CniRecord used[CNI_RECORD_COUNT];
  uint8_t has[CNI_RECORD_COUNT] = {0};
  int32_t count = 0;
  memset(has, 1, CNI_RECORD_SHAPE_KIND);
  has[CNI_RECORD_GEOMETRY] = model->geometry_ids.slot_count > 0;
  has[CNI_RECORD_CURVE] = model->curve_ids.slot_count > 0;
  has[CNI_RECORD_FUNCTION] = model->function_ids.slot_count > 0;
  has[CNI_RECORD_MOTION] = model->motion_count > 0;
  has[CNI_RECORD_DISABLED] = model->disabled_count > 0;
  has[CNI_RECORD_NOTE] = model->note_count > 0;
  has[CNI_RECORD_LAW] = model->law_count > 0;
  has[CNI_RECORD_COUPLING] = has[CNI_RECORD_TERM] = model->coupling_ids.slot_count > 0;
  for (int32_t i = 0; i < model->shape_count; i++)
    has[CNI_RECORD_SHAPE_KIND + (int)model->shapes[i].kind] = 1;
  for (int32_t i = 0; i < model->joint_count; i++)
    has[CNI_RECORD_JOINT_KIND + (int)model->joints[i].def.kind] = 1;
  for (int32_t i = 0; i < model->force_count; i++)
    has[CNI_RECORD_FORCE_KIND + (int)model->forces[i].def.kind] = 1;
  for (int32_t i = 0; i < CNI_RECORD_COUNT; i++)
    if (has[i]) used[count++] = w->records[i];
  cni_layout_write(&w->s, used, count);
}

static void write_contents(CniSnapshotWriter *w, const CniContents *now) {
  CniSettings settings = now->settings;
  CniClockRecord clock = {now->time, now->step};
  uint32_t version = VERSION, zero = 0;
  char word[sizeof magic];
  memcpy(word, magic, sizeof word);
  cni_records(w->records);
  cni_stream_bytes(&w->s, word, sizeof word);
  cni_stream_u32(&w->s, &version);
  cni_stream_u32(&w->s, &zero);
  w->s.at = CNI_SNAPSHOT_HEADER;
  write_layout(w, &now->model);
  cni_snapshot_put(w, CNI_RECORD_SETTINGS, &settings);
  cni_snapshot_put(w, CNI_RECORD_CLOCK, &clock);
  CniWatch watch = now->watch;
  cni_snapshot_put(w, CNI_RECORD_WATCH, &watch);
  write_model(w, &now->model);
  write_contacts(w, now);
}

void cni_snapshot_seal(void *data, size_t size) {
  CniStream s = {.out = data, .size = size, .at = CNI_SNAPSHOT_SEAL};
  uint64_t bytes = size;
  uint64_t sum = cni_hash_bytes(CNI_HASH_START, (const uint8_t *)data + CNI_SNAPSHOT_HEADER,
                                size - CNI_SNAPSHOT_HEADER);
  cni_stream_u64(&s, &bytes);
  cni_stream_u64(&s, &sum);
}

CnStatus cn_world_save(const CnWorld *world, void *data, size_t capacity, size_t *size) {
  CNI_FLOATS;
  if (!size) return cni_null_argument("cn_world_save", "the size pointer");
  *size = 0;
  CNI_TRY(cni_world_idle(world, "cn_world_save"));
  CNI_TRY(cni_contacts_here(&world->now.contacts, "cn_world_save"));
  CniSnapshotWriter w = {.s = {0}};
  write_contents(&w, &world->now);
  *size = w.s.at;
  if (!data) return CN_OK;
  if (capacity < *size)
    return cni_invalid("cn_world_save: %zu bytes are needed, %zu are there", *size, capacity);
  w.s = (CniStream){.out = data, .size = *size};
  write_contents(&w, &world->now);
  cni_snapshot_seal(data, *size);
  return CN_OK;
}

// ---- reading ----

CnStatus cni_snapshot_ended(void) {
  return cni_bad_data("snapshot: it ends too soon, or a count is wrong");
}

// A number that no definition would be given.
CnStatus cni_snapshot_illegal(void) {
  char text[256];
  snprintf(text, sizeof text, "%s", cn_error_message());
  return cni_bad_data("snapshot: %s", text);
}

CnStatus cni_snapshot_get(CniSnapshotReader *r, int32_t record, void *into) {
  return cni_record_read(&r->s, &r->layout, record, into);
}

// How many records of a sort follow.
CnStatus cni_snapshot_get_count(CniSnapshotReader *r, int32_t record, int32_t *count) {
  *count = 0;
  cni_stream_count(&r->s, count, cni_record_least(&r->layout, record));
  return r->s.failed ? cni_snapshot_ended() : CN_OK;
}

CnStatus cni_snapshot_get_ids(CniSnapshotReader *r, CniIds *ids, const CnAllocator *allocator) {
  int32_t count;
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_SLOT, &count));
  cni_stream_i32(&r->s, &ids->first_free);
  CNI_TRY(CNI_RESERVE(allocator, ids->slots, ids->slot_capacity, 0, count));
  for (int32_t i = 0; i < count; i++) {
    ids->slots[i] = (CniSlot){0};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_SLOT, &ids->slots[i]));
  }
  ids->slot_count = count;
  return r->s.failed ? cni_snapshot_ended() : CN_OK;
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
  return cni_bad_data("snapshot: id {%u, %u} leads nowhere", (unsigned)slot, (unsigned)generation);
}

static CnStatus broken_list(int32_t body) {
  return cni_bad_data("snapshot: body %d: its list of shapes is broken", (int)body);
}

static CnStatus read_body(CniSnapshotReader *r, CniBodyRecord *record) {
  *record = (CniBodyRecord){.def = cn_body_def_default(),
                            .first_shape = -1,
                            .last_shape = -1,
                            .first_joint = -1,
                            .pose = CN_POSE_ONE};
  return cni_snapshot_get(r, CNI_RECORD_BODY, record);
}

static CnStatus read_bodies(CniSnapshotReader *r, CniModel *model) {
  int32_t count;
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_BODY, &count));
  CNI_TRY(cni_model_reserve(model, count, 0, 0, 0));
  for (int32_t i = 0; i < count; i++) {
    CniBodyRecord record;
    CNI_TRY(read_body(r, &record));
    CNI_TRY(check_generation(&model->body_ids, record.slot, record.generation));
    CniBodyDetail detail = {.com = CN_POSE_ONE,
                            .def_com = record.def.com,
                            .def_inertia = record.def.inertia,
                            .def_mass = record.def.mass};
    CniBody body = {.kind = (uint16_t)record.def.kind,
                    .continuous = record.def.continuous != 0,
                    .slot = record.slot,
                    .first_shape = record.first_shape,
                    .first_joint = record.first_joint,
                    .user_data = record.def.user_data};
    CNI_TRY(cni_body_keep(model, &body, &detail, record.name));
    model->bodies[i] = body;
    model->mass[i] = (CniBodyMass){0};
    model->pose[i] = record.pose;
    model->twist[i] = record.twist;
    model->body_count = i + 1; // what is kept so far is released with the model
    if (!is_zero_twist(&record.load)) CNI_TRY(cni_model_loads(model));
    if (model->load) model->load[i] = record.load;
  }
  return CN_OK;
}

// The generation of a geometry that a shape names by its slot; 0: there is none.
static uint32_t geometry_generation(const CniModel *model, uint32_t slot) {
  for (int32_t i = 0; i < model->geometry_count; i++)
    if (model->geometries[i]->slot == slot) return model->geometries[i]->generation;
  return 0;
}

static CnStatus read_shapes(CniSnapshotReader *r, CniModel *model) {
  int32_t count;
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_SHAPE, &count));
  CNI_TRY(cni_model_reserve(model, 0, count, 0, 0));
  for (int32_t i = 0; i < count; i++) {
    CniShapeRecord record = {
        .def = cn_shape_def_default(CN_SHAPE_SPHERE), .next = -1, .previous = -1};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_SHAPE, &record));
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_SHAPE_KIND + (int32_t)record.def.kind, &record));
    CNI_TRY(check_generation(&model->shape_ids, record.slot, record.generation));
    CniShape shape = {.slot = record.slot,
                      .body = record.body,
                      .next = record.next,
                      .previous = record.previous,
                      .material = record.material};
    CnGeometryId *geometry = &record.def.geometry;
    geometry->generation = geometry_generation(model, geometry->slot);
    CnStatus status = cni_shape_from_def(model, &record.def, &shape);
    if (status != CN_OK) return status == CN_NO_MEMORY ? status : cni_snapshot_illegal();
    if (shape.extra && shape.extra->geometry) shape.extra->geometry->use_count++;
    model->shapes[i] = shape;
    model->shape_count = i + 1;
    model->trigger_count += cni_shape_trigger(&shape);
  }
  return CN_OK;
}

// The bodies once more, which begin at `at`: before the first shape of each comes the last one, and
// as many as it says are in its list.
static CnStatus close_lists(const CniSnapshotReader *r, size_t at, CniModel *model) {
  CniSnapshotReader again = *r;
  again.s.at = at;
  int32_t count;
  CNI_TRY(cni_snapshot_get_count(&again, CNI_RECORD_BODY, &count));
  for (int32_t i = 0; i < count; i++) {
    CniBodyRecord record;
    CNI_TRY(read_body(&again, &record));
    int32_t first = record.first_shape, n = 0;
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

static CnStatus read_materials(CniSnapshotReader *r, CniModel *model) {
  int32_t count;
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_MATERIAL, &count));
  if (count == INT32_MAX) return cni_snapshot_ended();
  CNI_TRY(cni_model_reserve(model, 0, 0, count + 1, 0));
  for (int32_t i = 1; i <= count; i++) {
    model->materials[i] = (CniMaterial){.def = cn_material_def_default()};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_MATERIAL, &model->materials[i]));
    cni_snapshot_name_function(model, &model->materials[i].def.surface_function);
  }
  model->material_count = count + 1;
  for (int32_t i = 0; i < model->shape_count; i++) {
    int32_t m = model->shapes[i].material;
    if (m >= 0 && m <= count) model->materials[m].use_count++;
  }
  return CN_OK;
}

static CnStatus read_joints(CniSnapshotReader *r, CniModel *model) {
  int32_t count;
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_JOINT, &count));
  CNI_TRY(cni_model_reserve(model, 0, 0, 0, count));
  for (int32_t i = 0; i < count; i++) {
    CniJoint *joint = &model->joints[i];
    *joint = (CniJoint){.def = cn_joint_def_default(CN_JOINT_BALL), .next_a = -1, .next_b = -1};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_JOINT, joint));
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_JOINT_KIND + (int32_t)joint->def.kind, joint));
    for (int32_t k = 0; k < CN_JOINT_AXES; k++)
      cni_snapshot_name_function(model, &joint->def.axes[k].motor_function);
    CNI_TRY(cni_snapshot_name_curves(model, joint));
  }
  model->joint_count = count;
  return CN_OK;
}

static CnStatus read_model(CniSnapshotReader *r, CniModel *model) {
  const CnAllocator *a = &model->allocator;
  CNI_TRY(cni_snapshot_get_ids(r, &model->body_ids, a));
  CNI_TRY(cni_snapshot_get_ids(r, &model->shape_ids, a));
  CNI_TRY(cni_snapshot_get_ids(r, &model->material_ids, a));
  CNI_TRY(cni_snapshot_get_ids(r, &model->joint_ids, a));
  CNI_TRY(cni_snapshot_get_before(r, model));
  size_t bodies = r->s.at;
  CNI_TRY(read_bodies(r, model));
  CNI_TRY(read_shapes(r, model));
  CNI_TRY(close_lists(r, bodies, model));
  CNI_TRY(read_materials(r, model));
  CNI_TRY(read_joints(r, model));
  CNI_TRY(cni_snapshot_get_after(r, model));
  if (cni_model_consistent(model) != CN_OK) return cni_snapshot_illegal();
  CnStatus status = cni_model_derive(model);
  return status == CN_OK || status == CN_NO_MEMORY ? status : cni_snapshot_illegal();
}

static CnStatus check_contact(const CniContactCache *cache, int32_t i) {
  const CniContact *x = &cache->full[i], *last = i > 0 ? x - 1 : NULL;
  int same_pair = last && last->shape_a == x->shape_a && last->shape_b == x->shape_b;
  if ((uint32_t)x->shape_a >= (uint32_t)x->shape_b || (same_pair && last->feature >= x->feature))
    return cni_bad_data("snapshot: contact %d is out of order", (int)i);
  int finite = cn_vec3_finite(cache->linear[i]) && cn_vec3_finite(x->point) &&
               cn_vec3_finite(x->normal) && isfinite(x->gap);
  if (cache->turning) finite &= cn_vec3_finite(cache->angular[i]);
  if (!finite) return cni_bad_data("snapshot: contact %d is not finite", (int)i);
  return CN_OK;
}

static CnStatus read_events(CniSnapshotReader *r, CniContactCache *cache,
                            const CnAllocator *allocator) {
  int32_t count;
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_EVENT, &count));
  CNI_TRY(cni_contacts_reserve(cache, allocator, 0, 0, count));
  for (int32_t i = 0; i < count; i++) {
    CnContactEvent e = {.kind = CN_CONTACT_BEGAN};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_EVENT, &e));
    if ((int32_t)e.kind != CNI_TRIGGER_INSIDE) {
      cache->events[cache->event_count++] = e;
      continue;
    }
    CNI_TRY(CNI_RESERVE(allocator, cache->inside, cache->inside_capacity, cache->inside_count,
                        cache->inside_count + 1));
    cache->inside[cache->inside_count++] = e;
  }
  return CN_OK;
}

static CnStatus read_contacts(CniSnapshotReader *r, CniContactCache *cache,
                              const CnAllocator *allocator) {
  int32_t count;
  CNI_TRY(cni_snapshot_get(r, CNI_RECORD_CACHE, cache));
  if (cache->turning != 0 && cache->turning != 1)
    return cni_bad_data("snapshot: contacts turn %d", (int)cache->turning);
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_CONTACT, &count));
  CNI_TRY(cni_contacts_reserve(cache, allocator, count, cache->turning, 0));
  CNI_TRY(CNI_RESERVE(allocator, cache->full, cache->full_capacity, 0, count));
  cache->named = 1;
  for (int32_t i = 0; i < count; i++) {
    CniContactRecord record = {.linear = CN_VEC3_ZERO};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_CONTACT, &record));
    if (cache->turning) CNI_TRY(cni_snapshot_get(r, CNI_RECORD_TURNING, &record));
    cache->full[i] = record.contact;
    cache->linear[i] = record.linear;
    if (cache->turning) cache->angular[i] = record.angular;
    CNI_TRY(check_contact(cache, i));
  }
  cache->count = cache->full_count = count;
  CNI_TRY(read_events(r, cache, allocator));
  if (isfinite(cache->time_step) && cache->time_step >= 0 && (count == 0 || cache->time_step > 0))
    return CN_OK;
  return cni_bad_data("snapshot: the contacts' time step is %g s", cache->time_step);
}

static CnStatus check_header(const void *data, size_t size, uint32_t *version_read) {
  CniStream s = {.in = data, .size = size};
  char word[sizeof magic];
  uint32_t version = 0, zero = 0;
  uint64_t bytes = 0, sum = 0;
  cni_stream_bytes(&s, word, sizeof word);
  cni_stream_u32(&s, &version);
  cni_stream_u32(&s, &zero);
  cni_stream_u64(&s, &bytes);
  cni_stream_u64(&s, &sum);
  if (s.failed || memcmp(word, magic, sizeof word) != 0)
    return cni_bad_data("these %zu bytes are not a snapshot", size);
  if (version < VERSION_WITHOUT_LAYOUT || version > VERSION || zero != 0)
    return cni_bad_data("snapshot: version %u, this library reads %u and %u", (unsigned)version,
                        VERSION_WITHOUT_LAYOUT, VERSION);
  *version_read = version;
  if (bytes != size)
    return cni_bad_data("snapshot: it says %llu bytes and has %zu", (unsigned long long)bytes,
                        size);
  uint64_t found = cni_hash_bytes(CNI_HASH_START, (const uint8_t *)data + CNI_SNAPSHOT_HEADER,
                                  size - CNI_SNAPSHOT_HEADER);
  if (found != sum)
    return cni_bad_data("snapshot: damaged (checksum %016llx, should be %016llx)",
                        (unsigned long long)found, (unsigned long long)sum);
  return CN_OK;
}

static CnStatus read_layout(CniSnapshotReader *r, uint32_t version, const CnAllocator *allocator) {
  const char *text = cni_layout_version_4;
  size_t size = strlen(cni_layout_version_4);
  cni_records(r->records);
  if (version != VERSION_WITHOUT_LAYOUT) {
    int32_t length = 0;
    cni_stream_count(&r->s, &length, 1);
    if (r->s.failed) return cni_snapshot_ended();
    text = (const char *)r->s.in + r->s.at;
    size = (size_t)length;
    r->s.at += size;
  }
  return cni_layout_parse(&r->layout, r->records, CNI_RECORD_COUNT, text, size, allocator);
}

// What the settings of a snapshot say nothing of: what the world has where results do not depend on
// it, defaults where they do.
static CniSettings settings_before(const CnWorld *world, const char *solver) {
  CniSettings settings = cn_world_def_default(), now = world->now.settings;
  settings.solver = cn_solver_def_default(solver);
  settings.broad_phase = now.broad_phase;
  settings.worker_count = now.worker_count;
  settings.balance = now.balance;
  settings.task_host = now.task_host;
  settings.ranks = now.ranks;
  settings.hooks = now.hooks;
  settings.log = now.log;
  settings.allocator = now.allocator;
  return settings;
}

// Settings into fresh contents. A solver or integrator that refuses them is damage, not misuse.
static CnStatus read_settings(CniSnapshotReader *r, CnWorld *world, CniContents *next) {
  // the defaults of a solver's numbers depend on its name
  CniStream start = r->s;
  CniSettings settings = settings_before(world, "psor");
  CNI_TRY(cni_snapshot_get(r, CNI_RECORD_SETTINGS, &settings));
  settings = settings_before(world, settings.solver.name);
  r->s = start;
  CNI_TRY(cni_snapshot_get(r, CNI_RECORD_SETTINGS, &settings));
  CnStatus status = cni_contents_create(next, &settings, &world->allocator, world->tasks);
  return status == CN_OK || status == CN_NO_MEMORY ? status : cni_snapshot_illegal();
}

static CnStatus read_rest(CniSnapshotReader *r, CnWorld *world, CniContents *next) {
  CniClockRecord clock = {0, 0};
  CNI_TRY(cni_snapshot_get(r, CNI_RECORD_CLOCK, &clock));
  if (!isfinite(clock.time) || clock.step < 0)
    return cni_bad_data("snapshot: time %g s after %lld steps", clock.time, (long long)clock.step);
  next->time = clock.time;
  next->step = clock.step;
  CNI_TRY(cni_snapshot_get(r, CNI_RECORD_WATCH, &next->watch));
  CNI_TRY(read_model(r, &next->model));
  CNI_TRY(read_contacts(r, &next->contacts, &world->allocator));
  if (r->s.at != r->s.size)
    return cni_bad_data("snapshot: %zu bytes too many", r->s.size - r->s.at);
  return CN_OK;
}

static CnStatus read_contents(CniSnapshotReader *r, uint32_t version, CnWorld *world,
                              CniContents *next) {
  CNI_TRY(read_layout(r, version, &world->allocator));
  CNI_TRY(read_settings(r, world, next));
  CnStatus status = read_rest(r, world, next);
  if (status != CN_OK) cni_contents_release(next, &world->allocator);
  return status;
}

CnStatus cn_world_restore(CnWorld *world, const void *data, size_t size) {
  CNI_FLOATS;
  CNI_TRY(cni_world_idle(world, "cn_world_restore"));
  if (!data) return cni_null_argument("cn_world_restore", "the data");
  uint32_t version = 0;
  CNI_TRY(check_header(data, size, &version));
  CniSnapshotReader r = {.s = {.in = data, .size = size, .at = CNI_SNAPSHOT_HEADER}};
  CniContents next;
  CnStatus status = read_contents(&r, version, world, &next);
  cni_layout_release(&r.layout, &world->allocator);
  CNI_TRY(status);
  next.model.edits += world->now.model.edits + 1;
  cni_contents_release(&world->now, &world->allocator);
  world->now = next;
  world->balance_known = 0;
  world->located_count = 0; // those of another step
  return CN_OK;
}
