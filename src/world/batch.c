// SPDX-License-Identifier: Apache-2.0
// Many small worlds side by side: an array of worlds, dealt to the workers one by one. Nothing is shared
// between worlds, so the order in which they are taken is not seen.
#include <cairn/batch.h>
#include <stdio.h>
#include <string.h>

#include "core/floats.h"
#include "core/tasks.h"
#include "world/doors.h"
#include "world/world.h"

#define MESSAGE 200

// What a worker leaves behind where a world fails: messages are a thread's own.
typedef struct Outcome {
  CnStatus status;
  char message[MESSAGE];
} Outcome;

struct CnBatch {
  CnWorld **worlds;
  Outcome *outcomes;
  int32_t count, body_count;
  CnTasks *tasks;
  CnControl *controls;
  int32_t control_count, control_capacity;
  void *start; // the prototype's snapshot
  size_t start_size;
  CnAllocator allocator;
};

// ---- creation ----

static CnStatus copy_worlds(CnBatch *b, const CnWorld *prototype) {
  CnWorldDef def;
  CNI_TRY(cn_world_settings(prototype, &def));
  def.worker_count = 1;
  def.task_host = (CnTaskHost){0};
  def.ranks = NULL; // several worlds at once cannot talk in one order
  def.hooks = (CnHooks){0};
  def.log = (CnLog){0};
  def.allocator = b->allocator;
  for (int32_t i = 0; i < b->count; i++) {
    CNI_TRY(cn_world_create(&def, &b->worlds[i]));
    CNI_TRY(cn_world_restore(b->worlds[i], b->start, b->start_size));
  }
  return CN_OK;
}

static CnStatus build(CnBatch *b, const CnWorld *prototype, int32_t worker_count) {
  size_t size;
  CNI_TRY(cn_world_save(prototype, NULL, 0, &size));
  CNI_TRY(cni_new(&b->allocator, size, &b->start));
  b->start_size = size;
  CNI_TRY(cn_world_save(prototype, b->start, size, &size));
  CNI_TRY(cni_new(&b->allocator, (size_t)b->count * sizeof *b->outcomes, &b->outcomes));
  CNI_TRY(cni_new(&b->allocator, (size_t)b->count * sizeof(CnWorld *), &b->worlds));
  for (int32_t i = 0; i < b->count; i++) b->worlds[i] = NULL;
  if (worker_count > 1) CNI_TRY(cn_tasks_create(worker_count, NULL, &b->allocator, &b->tasks));
  return copy_worlds(b, prototype);
}

CnStatus cn_batch_create(const CnWorld *prototype, int32_t count, int32_t worker_count,
                         CnBatch **batch) {
  CNI_FLOATS;
  if (!batch) return cni_null_argument("cn_batch_create", "the result pointer");
  *batch = NULL;
  CNI_TRY(cni_world_idle(prototype, "cn_batch_create"));
  if (count < 1 || worker_count < 1)
    return cni_invalid("cn_batch_create: %d worlds by %d workers", (int)count, (int)worker_count);
  CnAllocator a = prototype->meter.inner;
  CnBatch *b;
  CNI_TRY(cni_new(&a, sizeof *b, &b));
  *b = (CnBatch){.count = count, .body_count = prototype->now.model.body_count, .allocator = a};
  CnStatus status = build(b, prototype, worker_count);
  if (status == CN_OK)
    *batch = b;
  else
    cn_batch_destroy(b);
  return status;
}

void cn_batch_destroy(CnBatch *b) {
  if (!b) return;
  for (int32_t i = 0; b->worlds && i < b->count; i++) cn_world_destroy(b->worlds[i]);
  cn_tasks_destroy(b->tasks);
  CNI_RELEASE(&b->allocator, b->worlds, b->count);
  CNI_RELEASE(&b->allocator, b->outcomes, b->count);
  CNI_RELEASE(&b->allocator, b->controls, b->control_capacity);
  cni_release(&b->allocator, b->start, b->start_size);
  CnAllocator a = b->allocator;
  cni_release(&a, b, sizeof *b);
}

int32_t cn_batch_count(const CnBatch *batch) { return batch ? batch->count : 0; }

CnWorld *cn_batch_world(CnBatch *batch, int32_t index) {
  return batch && index >= 0 && index < batch->count ? batch->worlds[index] : NULL;
}

// ---- all worlds ----

// One thing done to each world; what it answers is kept.
typedef struct Work {
  CnBatch *batch;
  CnStatus (*run)(const struct Work *work, int32_t world);
  const uint8_t *mask;
  int32_t steps;
  const double *controls;
  const CnPose *poses;
  const CnTwist *twists;
  const void *snapshot;
  size_t size;
} Work;

static void run_range(void *context, int32_t begin, int32_t end) {
  const Work *work = context;
  for (int32_t i = begin; i < end; i++) {
    Outcome *o = &work->batch->outcomes[i];
    o->status = work->mask && !work->mask[i] ? CN_OK : work->run(work, i);
    if (o->status != CN_OK) snprintf(o->message, sizeof o->message, "%s", cn_error_message());
  }
}

// The first failure, with its world's number.
static CnStatus run_all(const Work *work) {
  CnBatch *b = work->batch;
  cni_parallel_for(b->tasks, b->count, 1, run_range, (void *)work);
  for (int32_t i = 0; i < b->count; i++)
    if (b->outcomes[i].status != CN_OK)
      return cni_error(b->outcomes[i].status, "world %d of %d: %s", (int)i, (int)b->count,
                       b->outcomes[i].message);
  return CN_OK;
}

// ---- controls ----

static double *target(CnJointDef *def, const CnControl *control) {
  CnJointAxis *axis = &def->axes[control->coordinate];
  double *const targets[] = {&axis->motor_speed, &axis->motor_position, &axis->motor_effort};
  return targets[control->kind];
}

// A speed or a position is heard only by a motor that keeps it, with an effort that it has or is given.
static CnStatus check_motor(const CnJointDef *def, const CnControl *controls, int32_t count,
                            const CnControl *control) {
  const CnJointAxis *axis = &def->axes[control->coordinate];
  CnDrive drive = control->kind == CN_CONTROL_SPEED ? CN_DRIVE_SPEED : CN_DRIVE_POSITION;
  const char *name = def->name && def->name[0] ? def->name : cn_joint_kind_name(def->kind);
  int effort = axis->motor_effort > 0;
  if (control->kind == CN_CONTROL_EFFORT) return CN_OK;
  for (int32_t i = 0; i < count; i++)
    effort |= controls[i].kind == CN_CONTROL_EFFORT &&
              controls[i].joint.slot == control->joint.slot &&
              controls[i].coordinate == control->coordinate;
  if (axis->drive == drive && effort && axis->motor_function.slot == 0) return CN_OK;
  return cni_invalid(
      "cn_batch_set_controls: joint %s has no motor that keeps a %s by number at its "
      "coordinate %d",
      name, drive == CN_DRIVE_SPEED ? "speed" : "position", (int)control->coordinate);
}

static CnStatus check_control(CnBatch *b, const CnControl *controls, int32_t count,
                              const CnControl *control) {
  CnJointDef def;
  CNI_TRY(cn_joint_def(b->worlds[0], control->joint, &def));
  if (control->coordinate < 0 || !cn_joint_coordinate_name(def.kind, control->coordinate))
    return cni_invalid("cn_batch_set_controls: the joint has no coordinate %d",
                       (int)control->coordinate);
  if ((int)control->kind < 0 || control->kind > CN_CONTROL_EFFORT)
    return cni_invalid("cn_batch_set_controls: no kind %d", (int)control->kind);
  return check_motor(&def, controls, count, control);
}

CnStatus cn_batch_set_controls(CnBatch *b, const CnControl *controls, int32_t count) {
  CNI_FLOATS;
  if (!b) return cni_null_argument("cn_batch_set_controls", "the batch");
  if (count < 0 || (count > 0 && !controls))
    return cni_invalid("cn_batch_set_controls: %d controls, or none given", (int)count);
  for (int32_t i = 0; i < count; i++) CNI_TRY(check_control(b, controls, count, &controls[i]));
  CNI_TRY(CNI_RESERVE(&b->allocator, b->controls, b->control_capacity, b->control_count, count));
  if (count > 0) memcpy(b->controls, controls, (size_t)count * sizeof *controls);
  b->control_count = count;
  return CN_OK;
}

static CnStatus step(const Work *work, int32_t i) {
  CnBatch *b = work->batch;
  const double *values =
      work->controls ? work->controls + (size_t)i * (size_t)b->control_count : NULL;
  for (int32_t k = 0; values && k < b->control_count; k++) {
    CnJointDef def;
    CNI_TRY(cn_joint_def(b->worlds[i], b->controls[k].joint, &def));
    *target(&def, &b->controls[k]) = values[k];
    CNI_TRY(cn_joint_set(b->worlds[i], b->controls[k].joint, &def));
  }
  for (int32_t n = 0; n < work->steps; n++) CNI_TRY(cn_world_step(b->worlds[i], NULL));
  return CN_OK;
}

CnStatus cn_batch_step(CnBatch *b, int32_t steps, const double *controls, CnStatus *status) {
  CNI_FLOATS;
  if (!b) return cni_null_argument("cn_batch_step", "the batch");
  if (steps < 0) return cni_invalid("cn_batch_step: %d steps", (int)steps);
  CnStatus first = run_all(&(Work){.batch = b, .run = step, .steps = steps, .controls = controls});
  for (int32_t i = 0; status && i < b->count; i++) status[i] = b->outcomes[i].status;
  return first;
}

// ---- states ----

CnStatus cn_batch_get_state(const CnBatch *b, CnPose *poses, CnTwist *twists, int64_t capacity) {
  CNI_FLOATS;
  if (!b) return cni_null_argument("cn_batch_get_state", "the batch");
  if (capacity < (int64_t)b->count * b->body_count)
    return cni_invalid("cn_batch_get_state: room for %lld of %lld bodies", (long long)capacity,
                       (long long)b->count * b->body_count);
  for (int32_t i = 0; i < b->count; i++) {
    size_t at = (size_t)i * (size_t)b->body_count;
    CNI_TRY(cn_world_get_state(b->worlds[i], poses ? poses + at : NULL, twists ? twists + at : NULL,
                               b->body_count));
  }
  return CN_OK;
}

static CnStatus set_state(const Work *work, int32_t i) {
  size_t at = (size_t)i * (size_t)work->batch->body_count;
  return cn_world_set_state(work->batch->worlds[i], work->poses ? work->poses + at : NULL,
                            work->twists ? work->twists + at : NULL, work->batch->body_count);
}

CnStatus cn_batch_set_state(CnBatch *b, const CnPose *poses, const CnTwist *twists,
                            const uint8_t *mask) {
  CNI_FLOATS;
  if (!b) return cni_null_argument("cn_batch_set_state", "the batch");
  return run_all(
      &(Work){.batch = b, .run = set_state, .mask = mask, .poses = poses, .twists = twists});
}

CnStatus cn_batch_get_joints(const CnBatch *b, double *coordinates, double *rates) {
  CNI_FLOATS;
  if (!b) return cni_null_argument("cn_batch_get_joints", "the batch");
  for (int32_t i = 0, at = 0; i < b->count; i++)
    for (int32_t k = 0; k < b->control_count; k++, at++) {
      CnJointState state;
      CNI_TRY(cn_joint_state(b->worlds[i], b->controls[k].joint, &state));
      if (coordinates) coordinates[at] = state.coordinate[b->controls[k].coordinate];
      if (rates) rates[at] = state.rate[b->controls[k].coordinate];
    }
  return CN_OK;
}

static CnStatus reset(const Work *work, int32_t i) {
  return cn_world_restore(work->batch->worlds[i], work->snapshot, work->size);
}

// Of the batch's own model: as many things as arrays count, and the joints of the controls.
static CnStatus compare_model(const CnBatch *b, const CnWorld *other) {
  CnWorldInfo own, its;
  CnJointDef joint;
  cn_world_info(b->worlds[0], &own);
  cn_world_info(other, &its);
  int same = own.body_count == its.body_count && own.shape_count == its.shape_count &&
             own.joint_count == its.joint_count;
  for (int32_t i = 0; same && i < b->control_count; i++)
    same = cn_joint_def(other, b->controls[i].joint, &joint) == CN_OK;
  if (same) return CN_OK;
  return cni_bad_data(
      "cn_batch_reset: the snapshot is of another model: %d bodies, %d shapes, %d joints "
      "(the batch has %d, %d, %d)",
      its.body_count, its.shape_count, its.joint_count, own.body_count, own.shape_count,
      own.joint_count);
}

static CnStatus check_snapshot(const CnBatch *b, const void *snapshot, size_t size) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *other;
  def.allocator = b->allocator;
  CNI_TRY(cn_world_create(&def, &other));
  CnStatus status = cn_world_restore(other, snapshot, size);
  if (status == CN_OK) status = compare_model(b, other);
  cn_world_destroy(other);
  return status;
}

CnStatus cn_batch_reset(CnBatch *b, const uint8_t *mask, const void *snapshot, size_t size) {
  CNI_FLOATS;
  if (!b) return cni_null_argument("cn_batch_reset", "the batch");
  if (snapshot) CNI_TRY(check_snapshot(b, snapshot, size));
  return run_all(&(Work){.batch = b,
                         .run = reset,
                         .mask = mask,
                         .snapshot = snapshot ? snapshot : b->start,
                         .size = snapshot ? size : b->start_size});
}
