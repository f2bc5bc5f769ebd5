// SPDX-License-Identifier: Apache-2.0
// Quantities of a run by their names: series with a value a step (energies, residual, contacts, sensors),
// bodies (BODY.x, BODY.speed, ...) and, where they were recorded, joints (JOINT.angle, JOINT.force, ...), which have
// a value a frame.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"

// ---- what there is of bodies and joints ----

typedef struct Field {
  const char *name, *unit;
} Field;

static const Field body_fields[] = {{"x", "m"},       {"y", "m"},       {"z", "m"},
                                    {"vx", "m/s"},    {"vy", "m/s"},    {"vz", "m/s"},
                                    {"speed", "m/s"}, {"wx", "rad/s"},  {"wy", "rad/s"},
                                    {"wz", "rad/s"},  {"spin", "rad/s"}};
static const Field joint_fields[] = {{"force", "N"},      {"force_x", "N"},    {"force_y", "N"},
                                     {"force_z", "N"},    {"torque", "N m"},   {"torque_x", "N m"},
                                     {"torque_y", "N m"}, {"torque_z", "N m"}, {"error", "m"}};
#define BODY_FIELDS ((int32_t)(sizeof body_fields / sizeof body_fields[0]))
#define JOINT_FIELDS ((int32_t)(sizeof joint_fields / sizeof joint_fields[0]))
#define RATE "_rate"

static double length(CnVec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static double body_value(int32_t field, const CnPose *p, const CnTwist *t) {
  const double values[] = {p->position.x, p->position.y, p->position.z,       t->velocity.x,
                           t->velocity.y, t->velocity.z, length(t->velocity), t->spin.x,
                           t->spin.y,     t->spin.z,     length(t->spin)};
  return values[field];
}

// Numbers from JOINT_FIELDS on are coordinates, and then their rates.
static double joint_value(int32_t field, const CnJointState *s) {
  const double values[] = {length(s->force), s->force.x,        s->force.y,
                           s->force.z,       length(s->torque), s->torque.x,
                           s->torque.y,      s->torque.z,       s->error};
  if (field < JOINT_FIELDS) return values[field];
  int32_t i = field - JOINT_FIELDS;
  return i < CN_JOINT_AXES ? s->coordinate[i] : s->rate[i - CN_JOINT_AXES];
}

// ---- finding ----

typedef enum Sort { NOTHING, SERIES, TOTAL_ENERGY, OF_BODY, OF_JOINT } Sort;
typedef struct Found {
  Sort sort;
  int32_t index, field;
  char unit[32];
} Found;

static void take_unit(Found *found, const char *unit) {
  snprintf(found->unit, sizeof found->unit, "%s", strcmp(unit, "1") == 0 ? "" : unit);
}

static int is_series(CnRun *run, const char *name, Found *found) {
  CnRunInfo info;
  CnRunSeries series;
  cn_run_info(run, &info);
  for (int32_t i = 0; i < info.scalar_count + info.sensor_count; i++) {
    CnStatus status = i < info.scalar_count ? cn_run_scalar(run, i, &series)
                                            : cn_run_sensor(run, i - info.scalar_count, &series);
    const char *plain = strncmp(name, "sensors/", 8) == 0 ? name + 8 : name;
    if (status != CN_OK || (strcmp(series.name, name) != 0 && strcmp(series.name, plain) != 0))
      continue;
    found->sort = SERIES;
    take_unit(found, series.unit);
    return 1;
  }
  if (strcmp(name, "total_energy") != 0) return 0;
  found->sort = TOTAL_ENERGY;
  take_unit(found, "J");
  return 1;
}

// The part of a text behind "NAME."; null: it does not begin so.
static const char *behind(const char *text, const char *name) {
  size_t n = strlen(name);
  return n > 0 && strncmp(text, name, n) == 0 && text[n] == '.' ? text + n + 1 : NULL;
}

static int is_body(CnRun *run, const char *name, Found *found) {
  CnRunInfo info;
  CnRunBody body;
  cn_run_info(run, &info);
  for (int32_t i = 0; i < info.body_count; i++) {
    const char *field = cn_run_body(run, i, &body) == CN_OK ? behind(name, body.name) : NULL;
    for (int32_t k = 0; field && k < BODY_FIELDS; k++) {
      if (strcmp(body_fields[k].name, field) != 0) continue;
      *found = (Found){.sort = OF_BODY, .index = i, .field = k};
      take_unit(found, body_fields[k].unit);
      return 1;
    }
  }
  return 0;
}

static int is_joint(CnRun *run, const char *name, Found *found) {
  CnRunInfo info;
  CnRunJoint joint;
  cn_run_info(run, &info);
  for (int32_t i = 0; info.joints_recorded && i < info.joint_count; i++) {
    const char *field = cn_run_joint(run, i, &joint) == CN_OK ? behind(name, joint.name) : NULL;
    *found = (Found){.sort = OF_JOINT, .index = i, .field = -1};
    for (int32_t k = 0; field && k < JOINT_FIELDS; k++)
      if (strcmp(joint_fields[k].name, field) == 0) {
        found->field = k;
        take_unit(found, joint_fields[k].unit);
        return 1;
      }
    for (int32_t k = 0; field && k < CN_JOINT_AXES && cn_joint_coordinate_name(joint.kind, k);
         k++) {
      const char *own = cn_joint_coordinate_name(joint.kind, k);
      size_t n = strlen(own);
      int rate = strncmp(field, own, n) == 0 && strcmp(field + n, RATE) == 0;
      if (!rate && strcmp(field, own) != 0) continue;
      found->field = JOINT_FIELDS + k + (rate ? CN_JOINT_AXES : 0);
      snprintf(found->unit, sizeof found->unit, "%s%s", cn_joint_coordinate_unit(joint.kind, k),
               rate ? "/s" : "");
      return 1;
    }
  }
  found->sort = NOTHING;
  return 0;
}

// ---- names ----

typedef void (*Offer)(void *context, const char *name, const char *unit);

static void offer_of(Offer offer, void *context, const char *owner, const char *field,
                     const char *ending, const char *unit, const char *per) {
  char name[200], with[48];
  snprintf(name, sizeof name, "%s.%s%s", owner, field, ending);
  snprintf(with, sizeof with, "%s%s", unit, per);
  offer(context, name, with);
}

static void offer_all(CnRun *run, Offer offer, void *context) {
  CnRunInfo info;
  CnRunSeries series;
  CnRunBody body;
  CnRunJoint joint;
  cn_run_info(run, &info);
  for (int32_t i = 0; i < info.sensor_count; i++)
    if (cn_run_sensor(run, i, &series) == CN_OK) offer(context, series.name, series.unit);
  for (int32_t i = 0; i < info.scalar_count; i++)
    if (cn_run_scalar(run, i, &series) == CN_OK) offer(context, series.name, series.unit);
  offer(context, "total_energy", "J");
  for (int32_t i = 0; info.joints_recorded && i < info.joint_count; i++) {
    if (cn_run_joint(run, i, &joint) != CN_OK || !joint.name[0]) continue;
    for (int32_t k = 0; k < CN_JOINT_AXES && cn_joint_coordinate_name(joint.kind, k); k++) {
      const char *own = cn_joint_coordinate_name(joint.kind, k);
      const char *unit = cn_joint_coordinate_unit(joint.kind, k);
      offer_of(offer, context, joint.name, own, "", unit, "");
      offer_of(offer, context, joint.name, own, RATE, unit, "/s");
    }
    for (int32_t k = 0; k < JOINT_FIELDS; k++)
      offer_of(offer, context, joint.name, joint_fields[k].name, "", joint_fields[k].unit, "");
  }
  for (int32_t i = 0; i < info.body_count; i++)
    for (int32_t k = 0; k < BODY_FIELDS; k++)
      if (cn_run_body(run, i, &body) == CN_OK && body.name[0] && body.kind != CN_BODY_FIXED)
        offer_of(offer, context, body.name, body_fields[k].name, "", body_fields[k].unit, "");
}

static void list_one(void *context, const char *name, const char *unit) {
  CniShow *show = context;
  cni_show_row(show);
  cni_show_text(show, "name", "name", name);
  cni_show_text(show, "unit", "unit", strcmp(unit, "1") == 0 ? "" : unit);
  cni_show_row_end(show);
}

void cni_quantity_list(const CniArgs *args, CnRun *run) {
  CniShow show;
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_list(&show, "quantities", NULL);
  offer_all(run, list_one, &show);
  cni_show_list_end(&show);
  cni_show_end(&show);
}

typedef struct Names {
  char (*all)[200];
  int32_t count, room;
} Names;

static void keep_name(void *context, const char *name, const char *unit) {
  Names *names = context;
  (void)unit;
  if (names->count == names->room) {
    int32_t room = 2 * names->room + 256;
    void *fresh = room <= 100000 ? realloc(names->all, (size_t)room * sizeof *names->all) : NULL;
    if (!fresh) return;
    names->all = fresh;
    names->room = room;
  }
  snprintf(names->all[names->count++], sizeof *names->all, "%s", name);
}

static const char *nth_name(void *context, int32_t index) {
  const Names *names = context;
  return index < names->count ? names->all[index] : NULL;
}

static int fail_unknown(const CniArgs *args, CnRun *run, const char *run_path, const char *name) {
  Names names = {0};
  offer_all(run, keep_name, &names);
  const char *near = cni_nearest_of(name, strlen(name), nth_name, &names);
  cni_fail(args, "%s: has no quantity '%s'%s%s%s; `cairn plot %s --list` lists what there is",
           run_path, name, near ? ", did you mean " : "", near ? near : "", near ? "?" : "",
           run_path);
  free(names.all);
  return 0;
}

// ---- reading ----

static int64_t steps_or_frames(const CnRunInfo *info, const Found *f) {
  return f->sort == OF_BODY || f->sort == OF_JOINT ? info->frame_count : info->step_count;
}

static CnStatus read_frames(CnRun *run, const CnRunInfo *info, const Found *f, int times,
                            double *values) {
  size_t bodies = (size_t)info->body_count + 1, joints = (size_t)info->joint_count + 1;
  CnPose *poses = calloc(bodies, sizeof *poses);
  CnTwist *twists = calloc(bodies, sizeof *twists);
  CnJointState *states = calloc(joints, sizeof *states);
  CnStatus status = poses && twists && states ? CN_OK : cn_error_set(CN_NO_MEMORY, "out of memory");
  for (int64_t i = 0; i < info->frame_count && status == CN_OK; i++) {
    double time = 0;
    status = cn_run_frame(run, i, &time, poses, twists);
    if (status == CN_OK && f->sort == OF_JOINT && !times)
      status = cn_run_joint_states(run, i, states);
    values[i] = times                ? time
                : f->sort == OF_BODY ? body_value(f->field, &poses[f->index], &twists[f->index])
                                     : joint_value(f->field, &states[f->index]);
  }
  free(poses);
  free(twists);
  free(states);
  return status;
}

static CnStatus read_values(CnRun *run, const CnRunInfo *info, const Found *f, const char *name,
                            double *values) {
  int64_t count = info->step_count;
  if (f->sort == OF_BODY || f->sort == OF_JOINT) return read_frames(run, info, f, 0, values);
  if (f->sort == SERIES) return cn_run_values(run, name, 0, count, values);
  double *more = malloc(((size_t)count + 1) * sizeof *more);
  if (!more) return cn_error_set(CN_NO_MEMORY, "out of memory");
  CnStatus status = cn_run_values(run, "kinetic_energy", 0, count, values);
  if (status == CN_OK) status = cn_run_values(run, "potential_energy", 0, count, more);
  for (int64_t i = 0; i < count && status == CN_OK; i++) values[i] += more[i];
  free(more);
  return status;
}

// A quantity in a run's own series and frames; values at other times than the first one's are refused.
static int find(const CniArgs *args, CnRun *run, const char *run_path, const char *name,
                Found *found) {
  *found = (Found){.sort = NOTHING};
  if (is_series(run, name, found) || is_joint(run, name, found) || is_body(run, name, found))
    return 1;
  return fail_unknown(args, run, run_path, name);
}

int cni_quantity_read(const CniArgs *args, CnRun *run, const char *run_path, const char *name,
                      const char *over, int with_run, CniCurve *curve) {
  CnRunInfo info;
  Found found, base = {.sort = NOTHING};
  memset(curve, 0, sizeof *curve);
  cn_run_info(run, &info);
  if (!find(args, run, run_path, name, &found)) return 0;
  if (over && !find(args, run, run_path, over, &base)) return 0;
  curve->count = steps_or_frames(&info, &found);
  if (over && steps_or_frames(&info, &base) != curve->count) {
    cni_fail(args, "%s: '%s' has a value a step and '%s' a value a frame, or the other way round",
             run_path, name, over);
    return 0;
  }
  snprintf(curve->label, sizeof curve->label, with_run ? "%.90s: %s" : "%.0s%s", run_path, name);
  snprintf(curve->unit, sizeof curve->unit, "%s", found.unit);
  curve->x = malloc(((size_t)curve->count + 1) * sizeof *curve->x);
  curve->y = malloc(((size_t)curve->count + 1) * sizeof *curve->y);
  CnStatus status = curve->x && curve->y ? CN_OK : cn_error_set(CN_NO_MEMORY, "out of memory");
  if (status == CN_OK) status = read_values(run, &info, &found, name, curve->y);
  if (status == CN_OK && over)
    status = read_values(run, &info, &base, over, curve->x);
  else if (status == CN_OK && (found.sort == OF_BODY || found.sort == OF_JOINT))
    status = read_frames(run, &info, &found, 1, curve->x);
  else if (status == CN_OK)
    status = cn_run_values(run, "time", 0, curve->count, curve->x);
  if (status == CN_OK) return 1;
  cni_fail(args, "%s: %s", run_path, cn_error_message());
  return 0;
}

void cni_quantity_release(CniCurve *curve) {
  free(curve->x);
  free(curve->y);
}
