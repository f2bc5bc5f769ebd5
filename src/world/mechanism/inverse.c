// SPDX-License-Identifier: Apache-2.0
// Inverse dynamics: the efforts that prescribed motions need.
//
// Prescribed coordinates are rows c(q) = x(t) beside those of the joints. Newton's method closes all
// of them from the present position; the velocities nearest to the present ones (in kinetic energy)
// that have the rates asked for follow; and with them
//
//     M a - E^T g = f,   E a = x'' - curvature
//
// gives accelerations and the efforts g. Where the motion leaves freedoms, forces move them. One-sided
// couplings that touch hold in position and speed, one that is passed takes hold, and one that would have
// to pull is let go.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "world/mechanism/machine.h"

#define STEP 0.25          // rad, m
#define STEPS_MOST 1000000 // of such
#define APART 1e-7         // m, rad: beyond that joints and motions contradict each other
#define FAST 1e-6          // m/s, rad/s

// ---- which motions ----

static CnStatus find_motion(CniMachine *m, const CnDriveMotion *motion, CniMachineRef *ref) {
  int32_t i;
  CNI_TRY(cni_model_find_joint(m->model, motion->joint, &i));
  const CniJoint *joint = &m->model->joints[i];
  if (motion->coordinate < 0 || motion->coordinate >= cni_joint_coordinate_count(joint->def.kind))
    return cni_invalid("cn_world_inverse: joint '%s' (%s) has no coordinate %d", joint->name,
                       cni_joint_kind(joint->def.kind)->name, (int)motion->coordinate);
  if (!isfinite(motion->value) || !isfinite(motion->rate) || !isfinite(motion->acceleration))
    return cni_invalid("cn_world_inverse: a motion of joint '%s' is not finite", joint->name);
  *ref = (CniMachineRef){.kind = CN_MACHINE_DRIVE,
                         .joint = i,
                         .row = CNI_JOINT_LOCKED + motion->coordinate,
                         .side = 1,
                         .bound = motion->value,
                         .rate = motion->rate,
                         .acceleration = motion->acceleration};
  return CN_OK;
}

// The rows that hold, with given motions in place of the motors of their coordinates and behind them,
// then the one-sided couplings that carry.
static CnStatus take_motions(CniMachine *m, const CniMachine *all, const CnDriveMotion *motions,
                             int32_t count, const int32_t *carries, int32_t *rows) {
  CNI_TRY(cni_arena_array(&m->arena, (int64_t)all->ref_count + count, sizeof *m->refs, &m->refs));
  m->held_count = 0;
  for (int32_t i = 0; i < all->held_count; i++) m->refs[m->held_count++] = all->refs[i];
  for (int32_t i = 0; i < count; i++) {
    CniMachineRef ref;
    CNI_TRY(find_motion(m, &motions[i], &ref));
    int32_t at = 0;
    while (at < m->held_count && (m->refs[at].kind != CN_MACHINE_DRIVE ||
                                  m->refs[at].joint != ref.joint || m->refs[at].row != ref.row))
      at++;
    m->refs[at] = ref;
    if (at == m->held_count) m->held_count++;
    rows[i] = at;
  }
  for (int32_t i = all->held_count; i < all->ref_count; i++)
    if (carries[i]) m->refs[m->held_count++] = all->refs[i];
  m->ref_count = m->held_count;
  return CN_OK;
}

// ---- position, velocity, acceleration ----

static CnStatus place(CniMachine *m, CnInverse *result) {
  int32_t worst;
  CNI_TRY(cni_machine_assemble(m, &result->error, &worst));
  if (!(result->error > APART)) return CN_OK;
  char name[160];
  cni_machine_row_name(m, &m->refs[worst], name, sizeof name);
  return cni_error(CN_STOPPED,
                   "the prescribed motion cannot be reached at %g s: %s stays off by %.3g", m->time,
                   name, result->error);
}

// In steps that are small enough for loops to stay in their assembly and whole turns to be counted.
static CnStatus approach(CniMachine *m, CnInverse *result) {
  double *start, *end, most = 0;
  CNI_TRY(cni_arena_array(&m->arena, m->held_count, sizeof *start, &start));
  CNI_TRY(cni_arena_array(&m->arena, m->held_count, sizeof *end, &end));
  for (int32_t i = 0; i < m->held_count; i++) {
    CniMachineRowAt at;
    cni_machine_row_at(m, &m->refs[i], m->pose, &at);
    end[i] = m->refs[i].bound;
    start[i] = m->refs[i].kind == CN_MACHINE_DRIVE ? end[i] + at.value : end[i];
    most = cn_max(most, fabs(end[i] - start[i]));
  }
  int32_t steps = 1 + (int32_t)cn_min(most / STEP, STEPS_MOST);
  if (steps > STEPS_MOST)
    return cni_error(CN_STOPPED, "the prescribed motion is too far away: %g rad or m", most);
  for (int32_t step = 1; step <= steps; step++) {
    for (int32_t i = 0; i < m->held_count; i++)
      m->refs[i].bound =
          step == steps ? end[i] : start[i] + (end[i] - start[i]) * ((double)step / steps);
    CNI_TRY(place(m, result));
    cni_machine_commit(m);
  }
  return CN_OK;
}

static double rate_of(const CniMachine *m, const CniMachineRef *ref, double *row) {
  double sum = cni_machine_rate(m, ref);
  cni_machine_row(m, ref, row);
  for (int32_t i = 0; i < m->columns; i++)
    sum += row[i] * ((const double *)&m->twist[m->bodies[i / 6]])[i % 6];
  return sum;
}

// The least change of velocities that gives all rows their rates.
static CnStatus speed(CniMachine *m, CnInverse *result) {
  double *c, *x;
  CNI_TRY(cni_arena_array(&m->arena, m->held_count, sizeof *c, &c));
  CNI_TRY(cni_arena_array(&m->arena, m->columns, sizeof *x, &x));
  for (int32_t round = 0; round < 2; round++) {
    for (int32_t i = 0; i < m->held_count; i++)
      c[i] = -rate_of(m, &m->refs[i], x) / m->row_scale[i];
    cni_span_solve(&m->span, c, x);
    cni_cholesky_up(m->columns, m->mass_factor, m->mass_first, x);
    for (int32_t i = 0; i < m->columns; i++) ((double *)&m->twist[m->bodies[i / 6]])[i % 6] += x[i];
  }
  result->speed = 0;
  for (int32_t i = 0; i < m->held_count; i++) {
    double rate = fabs(rate_of(m, &m->refs[i], x));
    char name[160];
    result->speed = cn_max(result->speed, rate);
    if (!(rate > FAST)) continue;
    cni_machine_row_name(m, &m->refs[i], name, sizeof name);
    return cni_error(CN_STOPPED,
                     "the prescribed motion cannot be followed at %g s: %s is off by %.3g in speed",
                     m->time, name, rate);
  }
  return CN_OK;
}

// Armatures resist J x'': J times the acceleration is in M, J times the curvature is not.
static void add_armatures(CniMachine *m, double *load, double *row) {
  for (int32_t i = 0; i < m->model->joint_count; i++)
    for (int32_t k = 0; k < cni_joint_coordinate_count(m->model->joints[i].def.kind); k++) {
      double armature = m->model->joints[i].def.axes[k].armature;
      if (!(armature > 0)) continue;
      CniMachineRef ref = {CN_MACHINE_DRIVE, i, CNI_JOINT_LOCKED + k, 0, 1, 0, 0, 0};
      cni_machine_row(m, &ref, row);
      double bend = cni_machine_curvature(m, &ref);
      for (int32_t j = 0; j < m->columns; j++) load[j] -= armature * bend * row[j];
    }
}

// a = across the rows what they ask for, along the free motions what the forces give.
static CnStatus accelerate(CniMachine *m, double *acceleration, double *efforts) {
  double *load, *c, *x, *work;
  int32_t n = m->columns;
  CNI_TRY(cni_arena_array(&m->arena, n, sizeof *load, &load));
  CNI_TRY(cni_arena_array(&m->arena, n, sizeof *x, &x));
  CNI_TRY(cni_arena_array(&m->arena, n, sizeof *work, &work));
  CNI_TRY(cni_arena_array(&m->arena, m->held_count, sizeof *c, &c));
  CNI_TRY(cni_machine_load(m, load, NULL));
  add_armatures(m, load, work);
  for (int32_t i = 0; i < m->held_count; i++)
    c[i] = -cni_machine_curvature(m, &m->refs[i]) / m->row_scale[i];
  cni_span_solve(&m->span, c, x); // L^T a across the rows
  memcpy(acceleration, x, (size_t)n * sizeof *x);
  cni_machine_reduce(m, load, work, acceleration); // its free part, then both together
  cni_machine_expand(m, acceleration, work);
  cni_cholesky_up(n, m->mass_factor, m->mass_first, x);
  for (int32_t i = 0; i < n; i++) acceleration[i] = x[i] + work[i];
  // what the rows have to give: M a - f; M a = L (L^T a)
  memset(x, 0, (size_t)n * sizeof *x);
  for (int32_t k = 0; k < n; k++) {
    double sum = 0;
    for (int32_t i = k; i < n; i++)
      sum += m->mass_factor[(size_t)i * (size_t)n + (size_t)k] * acceleration[i];
    work[k] = sum;
  }
  for (int32_t i = 0; i < n; i++) {
    double sum = -load[i];
    for (int32_t k = 0; k <= i; k++)
      sum += m->mass_factor[(size_t)i * (size_t)n + (size_t)k] * work[k];
    x[i] = -sum;
  }
  return cni_machine_efforts(m, x, efforts);
}

// ---- results ----

static void tell(CniMachine *m, const double *efforts, CnDriveMotion *motions, int32_t count,
                 const int32_t *rows, CnInverse *result) {
  result->freedoms = cni_machine_freedoms(m);
  for (int32_t i = 0; i < m->held_count; i++)
    if (m->refs[i].kind == CN_MACHINE_DRIVE) result->power += efforts[i] * m->refs[i].rate;
  for (int32_t i = 0; i < count; i++) motions[i].effort = efforts[rows[i]];
}

// ---- one-sided couplings ----

static int is_coupling(const CniMachineRef *ref) {
  return ref->kind == CN_MACHINE_COUPLING && ref->pushes;
}

// Those nearer than `gap` take hold, unless they do; returns how many did.
static int32_t take_hold(const CniMachine *m, const CniMachine *all, double gap, int32_t *carries) {
  int32_t count = 0;
  for (int32_t i = all->held_count; i < all->ref_count; i++) {
    CniMachineRowAt now;
    if (carries[i] || !is_coupling(&all->refs[i])) continue;
    cni_machine_row_at(m, &all->refs[i], m->pose, &now);
    carries[i] = now.value <= gap;
    count += carries[i];
  }
  return count;
}

// The row of a coupling that would have to pull, and most so; -1: none does.
static int32_t pulls(const CniMachine *m, const double *efforts) {
  double most = 0;
  int32_t worst = -1;
  for (int32_t i = 0; i < m->held_count; i++) most = cn_max(most, fabs(efforts[i]));
  most *= 1e-9;
  for (int32_t i = 0; i < m->held_count; i++) {
    if (!is_coupling(&m->refs[i]) || !(-efforts[i] > most)) continue;
    most = -efforts[i];
    worst = i;
  }
  return worst;
}

static void restart(CniMachine *m) {
  size_t bodies = (size_t)m->model->body_count;
  cni_machine_back(m);
  if (bodies == 0) return;
  memcpy(m->pose, m->old_pose, bodies * sizeof *m->pose);
  memcpy(m->twist, m->old_twist, bodies * sizeof *m->twist);
}

// The position, with the couplings that touch; what cannot be reached with them is tried without.
static CnStatus reach(CniMachine *m, const CniMachine *all, const CnDriveMotion *motions,
                      int32_t count, int32_t *rows, CnInverse *result) {
  int32_t *carries, any;
  CNI_TRY(cni_arena_array(&m->arena, all->ref_count, sizeof *carries, &carries));
  for (int32_t i = 0; i < all->ref_count; i++) carries[i] = 0;
  any = take_hold(m, all, CNI_MACHINE_TOUCHING, carries);
  for (;;) {
    CNI_TRY(take_motions(m, all, motions, count, carries, rows));
    CnStatus status = approach(m, result);
    if (status != CN_OK && !(status == CN_STOPPED && any > 0)) return status;
    for (int32_t i = 0; status != CN_OK && i < all->ref_count; i++) carries[i] = 0;
    if (status != CN_OK) any = 0;
    if (status == CN_OK && take_hold(m, all, -CNI_MACHINE_TOUCHING, carries) == 0) return CN_OK;
    restart(m);
  }
}

static CnStatus inverse(CniMachine *m, CnDriveMotion *motions, int32_t count, CnInverse *result) {
  double *efforts, *acceleration;
  int32_t *rows, wrong;
  const CniMachine all = *m;
  CNI_TRY(cni_arena_array(&m->arena, count, sizeof *rows, &rows));
  CNI_TRY(reach(m, &all, motions, count, rows, result));
  CNI_TRY(cni_arena_array(&m->arena, m->held_count, sizeof *efforts, &efforts));
  CNI_TRY(cni_arena_array(&m->arena, m->columns, sizeof *acceleration, &acceleration));
  CNI_TRY(cni_machine_factor(m));
  CNI_TRY(speed(m, result));
  CNI_TRY(accelerate(m, acceleration, efforts));
  while (wrong = pulls(m, efforts), wrong >= 0) {
    m->ref_count = --m->held_count; // couplings come last
    for (int32_t i = wrong; i < m->held_count; i++) m->refs[i] = m->refs[i + 1];
    CNI_TRY(cni_machine_factor(m));
    CNI_TRY(accelerate(m, acceleration, efforts));
  }
  tell(m, efforts, motions, count, rows, result);
  for (int32_t i = all.held_count; i < all.ref_count; i++)
    if (is_coupling(&all.refs[i])) m->model->couplings[all.refs[i].joint].impulse = 0;
  cni_machine_keep(m, efforts, acceleration);
  return CN_OK;
}

CnStatus cn_world_inverse(CnWorld *world, double time, CnDriveMotion *motions, int32_t motion_count,
                          CnInverse *result) {
  CNI_FLOATS;
  if (!result) return cni_null_argument("cn_world_inverse", "the result pointer");
  *result = (CnInverse){0};
  CNI_TRY(cni_world_open(world, "cn_world_inverse"));
  if (!isfinite(time)) return cni_invalid("cn_world_inverse: time must be finite (got %g)", time);
  if (motion_count < 0 || (motion_count > 0 && !motions))
    return cni_invalid("cn_world_inverse: there are no motions (count %d)", (int)motion_count);
  if (world->now.model.motion_count > 0)
    return cni_error(CN_UNSUPPORTED,
                     "inverse dynamics do not follow bodies that move by functions of time: drive "
                     "them by joints");
  CniMachine m;
  CnInverse found = {0};
  double now = world->now.time;
  world->now.time = time; // the targets of motors are those of that time
  CnStatus status = cni_machine_begin(world, CNI_DRIVES_HOLD, &m);
  world->now.time = now;
  if (status == CN_OK) {
    status = inverse(&m, motions, motion_count, &found);
    if (status != CN_OK) cni_machine_back(&m);
  }
  cni_machine_end(&m);
  if (status == CN_OK) *result = found;
  return status;
}
