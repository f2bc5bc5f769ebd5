// SPDX-License-Identifier: Apache-2.0
// Forces on a machine (machine.h) and how they change with motions.
//
// A row with the rate s . v, the value x and the effort e = -(k x + d x') gives the force e s^T, so
//
//     K = k s s^T - e ds/dq,   C = d s s^T
//
// The first part is exact however stiff the spring is. The second, the geometric stiffness, is that
// of the efforts of joints, drives and contacts too: a pendulum has no other. Its derivatives, and
// those of loads without rows, are differences of fourth order.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "world/mechanism/machine.h"

#define TURN 1e-3  // rad, of the differences
#define SHIFT 1e-3 // of a length of the element

// ---- forces ----

typedef struct Sum {
  const CniMachine *m;
  double *load, *sizes;
} Sum;

static void add_wrench(const Sum *sum, int32_t body, CnTwist wrench) {
  if (body < 0 || sum->m->place[body] < 0) return;
  double *to = sum->load + 6 * (size_t)sum->m->place[body];
  const double *from = (const double *)&wrench;
  for (size_t k = 0; k < 6; k++) to[k] += from[k];
  for (size_t k = 0; sum->sizes && k < 6; k++)
    sum->sizes[6 * (size_t)sum->m->place[body] + k] += fabs(from[k]);
}

static CnTwist on_b(CnVec3 force, CnVec3 torque, CnVec3 arm) {
  return (CnTwist){force, cn_add(cn_cross(arm, force), torque)};
}
static CnTwist negative(CnTwist t) { return (CnTwist){cn_neg(t.velocity), cn_neg(t.spin)}; }

static CniMachineRef joint_ref(int32_t joint, int32_t row) {
  return (CniMachineRef){CN_MACHINE_DRIVE, joint, row, 0, 1, 0, 0, 0};
}

static double axis_effort(const CniJointImpulse *efforts, int32_t k) {
  const double *parts = efforts->axes[k];
  return parts[CNI_PART_SPRING] + parts[CNI_PART_MOTOR] + parts[CNI_PART_LOWER] -
         parts[CNI_PART_UPPER];
}

static void add_joint(const Sum *sum, int32_t i) {
  const CniMachine *m = sum->m;
  const CniJoint *joint = &m->model->joints[i];
  CniJointPlace place;
  CniJointImpulse efforts;
  if (!cni_joint_has_efforts(joint)) return;
  cni_joint_efforts(m->model, joint, m->time, m->pose, (const double *)m->twist, &place, &efforts);
  for (int32_t k = 0; k < place.locked_count + place.axis_count; k++) {
    int axis = k >= place.locked_count;
    const CniJointRow *row = axis ? &place.axes[k - place.locked_count] : &place.locked[k];
    double e = axis ? axis_effort(&efforts, k - place.locked_count) : efforts.locked[k];
    if (e == 0) continue;
    CnVec3 force = cn_scale(e, row->linear), torque = cn_scale(e, row->angular);
    add_wrench(sum, joint->body_b, on_b(force, torque, place.arm_b));
    add_wrench(sum, joint->body_a, negative(on_b(force, torque, place.arm_a)));
  }
}

// A force element at poses and twists.
static CnStatus element_at(const CniMachine *m, int32_t i, const CnPose *pose, const CnTwist *twist,
                           CniForceAt *at, CniForcePlace *place) {
  const CniForce *force = &m->model->forces[i];
  cni_force_at(m->model, force, m->time, pose, twist, at);
  return cni_force_act(force, at, place);
}

static CnStatus add_element(const Sum *sum, int32_t i) {
  CniForceAt at;
  CniForcePlace place;
  CNI_TRY(element_at(sum->m, i, sum->m->pose, sum->m->twist, &at, &place));
  CnTwist total = cni_force_total(&place, at.ends);
  add_wrench(sum, at.bodies[1], on_b(total.velocity, total.spin, place.rows.arm_b));
  add_wrench(sum, at.bodies[0], negative(on_b(total.velocity, total.spin, place.rows.arm_a)));
  return CN_OK;
}

CnStatus cni_machine_load(CniMachine *m, double *load, double *sizes) {
  Sum sum = {m, load, sizes};
  const CniModel *model = m->model;
  memset(load, 0, (size_t)m->columns * sizeof *load);
  if (sizes) memset(sizes, 0, (size_t)m->columns * sizeof *sizes);
  for (int32_t i = 0; i < m->body_count; i++) {
    int32_t body = m->bodies[i];
    CnVec3 w = m->twist[body].spin;
    CnVec3 l = cn_smul(cni_model_inertia(model, body, m->pose[body].rotation), w);
    CnVec3 weight = cn_scale(model->mass[body].mass, m->world->now.settings.gravity);
    add_wrench(&sum, body, (CnTwist){weight, cn_neg(cn_cross(w, l))});
    add_wrench(&sum, body, cni_model_load(model, body));
  }
  for (int32_t i = 0; i < model->joint_count; i++) add_joint(&sum, i);
  for (int32_t i = 0; i < model->force_count; i++) CNI_TRY(add_element(&sum, i));
  const CnTwist *loads;
  CNI_TRY(cni_world_loads(m->world, m->time, m->pose, m->twist, &loads));
  for (int32_t i = 0; loads && i < model->body_count; i++) add_wrench(&sum, i, loads[i]);
  return CN_OK;
}

double cni_machine_energy(const CniMachine *m) {
  const CniModel *model = m->model;
  double sum = 0;
  for (int32_t i = 0; i < m->body_count; i++)
    sum -= model->mass[m->bodies[i]].mass *
           cn_dot(m->world->now.settings.gravity, m->pose[m->bodies[i]].position);
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    CniJointPlace place;
    cni_joint_at(joint, m->pose, &place);
    for (int32_t k = 0; k < place.locked_count; k++)
      sum += 0.5 * joint->def.stiffness * place.locked[k].value * place.locked[k].value;
    for (int32_t k = 0; k < place.axis_count; k++) {
      double x = place.axes[k].value - joint->def.axes[k].rest;
      sum += 0.5 * joint->def.axes[k].stiffness * x * x;
    }
  }
  for (int32_t i = 0; i < model->force_count; i++) {
    CniForceAt at;
    CniForcePlace place;
    if (element_at(m, i, m->pose, NULL, &at, &place) == CN_OK) sum += cni_force_energy(&place);
  }
  return sum;
}

// ---- stiffness ----

typedef struct Matrices {
  CniMachine *m;
  double *k, *c;
} Matrices;

// to[rows of the body, column] += s wrench
static void put(const CniMachine *m, double *to, int32_t body, size_t column, double s,
                const CnTwist *wrench) {
  if (body < 0 || m->place[body] < 0) return;
  const double *from = (const double *)wrench;
  size_t row = 6 * (size_t)m->place[body];
  for (size_t r = 0; r < 6; r++) to[(row + r) * (size_t)m->columns + column] += s * from[r];
}

// f s s^T
static void put_square(const CniMachine *m, double *to, double f, const CniMachineRowAt *at) {
  for (int32_t i = 0; f != 0 && i < at->side_count; i++) {
    if (m->place[at->bodies[i]] < 0) continue;
    const double *s = (const double *)&at->sides[i];
    for (size_t c = 0; c < 6; c++)
      for (int32_t j = 0; j < at->side_count; j++)
        put(m, to, at->bodies[j], 6 * (size_t)m->place[at->bodies[i]] + c, f * s[c], &at->sides[j]);
  }
}

// Weights of differences of fourth order at -2, -1, 1, 2 steps.
static const double steps[4] = {-2, -1, 1, 2};
static const double weights[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};

static CnTwist direction(int32_t k) {
  CnTwist t = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  ((double *)&t)[k] = 1;
  return t;
}

// Of a length: of differences that change the force by its own size.
static double step_of(int32_t k, double length) { return k < 3 ? SHIFT * length : TURN; }

// The length by which a row's bodies have to move to turn it.
static double length_of(const CniMachine *m, const CniMachineRowAt *at) {
  double most = 0;
  for (int32_t i = 0; i < at->side_count; i++)
    for (int32_t j = 0; j < i; j++)
      most = cn_max(
          most, cn_norm(cn_sub(m->pose[at->bodies[i]].position, m->pose[at->bodies[j]].position)));
  for (int32_t i = 0; i < at->side_count; i++) {
    double l = cn_norm(at->sides[i].velocity);
    if (l > 0) most = cn_max(most, cn_norm(at->sides[i].spin) / l);
  }
  return most > 0 ? most : 1;
}

// What a row with an effort, a stiffness and a damping adds.
static void add_row(const Matrices *to, const CniMachineRef *ref, double effort, double stiffness,
                    double damping) {
  CniMachine *m = to->m;
  CniMachineRowAt here, at;
  cni_machine_row_at(m, ref, m->pose, &here);
  put_square(m, to->k, stiffness, &here);
  put_square(m, to->c, damping, &here);
  double length = length_of(m, &here);
  for (int32_t i = 0; effort != 0 && i < here.side_count; i++) {
    int32_t body = here.bodies[i];
    if (m->place[body] < 0) continue;
    for (int32_t k = 0; k < 6; k++) {
      double h = step_of(k, length);
      for (int32_t n = 0; n < 4; n++) {
        m->trial[body] = cni_advance_pose(m->pose[body], direction(k), steps[n] * h);
        cni_machine_row_at(m, ref, m->trial, &at);
        for (int32_t j = 0; j < at.side_count; j++)
          put(m, to->k, at.bodies[j], 6 * (size_t)m->place[body] + (size_t)k,
              -effort * weights[n] / h, &at.sides[j]);
      }
      m->trial[body] = m->pose[body];
    }
  }
}

// Springs, servos and soft limits of a joint's coordinate.
static void add_axis(const Matrices *to, int32_t i, int32_t k, const CniJointRow *row,
                     const CniJointImpulse *efforts) {
  const CnJointAxis *axis = &to->m->model->joints[i].def.axes[k];
  CniMachineRef ref = joint_ref(i, CNI_JOINT_LOCKED + k);
  double stiffness = axis->stiffness, damping = axis->damping;
  double push = efforts->axes[k][CNI_PART_MOTOR];
  if (cni_joint_is_servo(axis) && fabs(push) < axis->motor_effort) {
    damping += axis->motor_damping;
    if (axis->drive == CN_DRIVE_POSITION) stiffness += axis->motor_stiffness;
  }
  if (cni_axis_is_soft(axis) && (row->value < axis->lower || row->value > axis->upper)) {
    stiffness += axis->limit_stiffness;
    damping += axis->limit_damping;
  }
  double effort = axis_effort(efforts, k);
  if (effort != 0 || stiffness > 0 || damping > 0) add_row(to, &ref, effort, stiffness, damping);
}

static void add_joint_stiffness(const Matrices *to, int32_t i) {
  CniMachine *m = to->m;
  const CniJoint *joint = &m->model->joints[i];
  CniJointPlace place;
  CniJointImpulse efforts;
  if (!cni_joint_has_efforts(joint)) return;
  cni_joint_efforts(m->model, joint, m->time, m->pose, (const double *)m->twist, &place, &efforts);
  for (int32_t k = 0; cni_joint_is_spring(joint) && k < place.locked_count; k++) {
    CniMachineRef ref = joint_ref(i, k);
    add_row(to, &ref, efforts.locked[k], joint->def.stiffness, joint->def.damping);
  }
  for (int32_t k = 0; k < place.axis_count; k++) add_axis(to, i, k, &place.axes[k], &efforts);
}

// The wrenches of a force element with the efforts of its springs kept.
static CnStatus element_wrench(const CniMachine *m, int32_t i, const CnPose *pose,
                               const CnTwist *twist, const double *efforts, CnTwist wrench[2]) {
  CniForceAt at;
  CniForcePlace place;
  CNI_TRY(element_at(m, i, pose, twist, &at, &place));
  CnVec3 force = place.force, torque = place.torque;
  for (int32_t k = 0; k < place.rows.axis_count; k++) {
    force = cn_madd(force, efforts[k], place.rows.axes[k].linear);
    torque = cn_madd(torque, efforts[k], place.rows.axes[k].angular);
  }
  wrench[0] = negative(on_b(force, torque, place.rows.arm_a));
  wrench[1] = on_b(force, torque, place.rows.arm_b);
  return CN_OK;
}

// Differences of a force element over the poses (or the twists) of one of its bodies.
static CnStatus add_element_differences(const Matrices *to, int32_t i, const int32_t bodies[2],
                                        int32_t body, double length, const double *efforts) {
  CniMachine *m = to->m;
  for (int32_t k = 0; k < 12; k++) {
    double h = step_of(k % 6, length);
    size_t column = 6 * (size_t)m->place[body] + (size_t)(k % 6);
    CnTwist old = m->twist[body];
    for (int32_t n = 0; n < 4; n++) {
      CnTwist wrench[2];
      if (k < 6)
        m->trial[body] = cni_advance_pose(m->pose[body], direction(k), steps[n] * h);
      else
        ((double *)&m->twist[body])[k - 6] = ((double *)&old)[k - 6] + steps[n] * h;
      CnStatus status = element_wrench(m, i, m->trial, m->twist, efforts, wrench);
      m->trial[body] = m->pose[body];
      m->twist[body] = old;
      CNI_TRY(status);
      for (int32_t e = 0; e < 2; e++)
        put(m, k < 6 ? to->k : to->c, bodies[e], column, -weights[n] / h, &wrench[e]);
    }
  }
  return CN_OK;
}

static CnStatus add_element_stiffness(const Matrices *to, int32_t i) {
  CniMachine *m = to->m;
  CniForceAt at;
  CniForcePlace place;
  double efforts[CN_JOINT_AXES] = {0};
  CNI_TRY(element_at(m, i, m->pose, m->twist, &at, &place));
  for (int32_t k = 0; k < place.rows.axis_count; k++) {
    const CniJointRow *row = &place.rows.axes[k];
    const CnJointAxis *law = &place.law.axes[k];
    CniMachineRowAt sides = {.side_count = 0};
    for (int32_t e = 0; e < 2; e++) {
      if (at.bodies[e] < 0) continue;
      double sign = e ? 1 : -1;
      sides.bodies[sides.side_count] = at.bodies[e];
      sides.sides[sides.side_count++] =
          on_b(cn_scale(sign, row->linear), cn_scale(sign, row->angular),
               e ? place.rows.arm_b : place.rows.arm_a);
    }
    put_square(m, to->k, law->stiffness, &sides);
    put_square(m, to->c, law->damping, &sides);
    efforts[k] = cni_joint_spring(law, &place.rows, row, &at.ends[0].twist, &at.ends[1].twist);
  }
  double length = cn_norm(cn_sub(at.sight.at.at_b.position, at.sight.at.at_a.position));
  if (cni_force_kind(m->model->forces[i].def.kind)->single || !(length > 0)) length = 1;
  for (int32_t e = 0; e < 2; e++)
    if (at.bodies[e] >= 0 && m->place[at.bodies[e]] >= 0)
      CNI_TRY(add_element_differences(to, i, at.bodies, at.bodies[e], length, efforts));
  return CN_OK;
}

// Forces of the hook may hang on everything.
static CnStatus add_hook_stiffness(const Matrices *to) {
  CniMachine *m = to->m;
  const CnTwist *loads;
  for (int32_t i = 0; m->world->hooks.force && i < m->columns; i++)
    for (int32_t n = 0; n < 8; n++) {
      int32_t body = m->bodies[i / 6], k = i % 6;
      double h = step_of(k, 1);
      CnTwist old = m->twist[body];
      if (n < 4)
        m->trial[body] = cni_advance_pose(m->pose[body], direction(k), steps[n] * h);
      else
        ((double *)&m->twist[body])[k] += steps[n - 4] * h;
      CnStatus status = cni_world_loads(m->world, m->time, m->trial, m->twist, &loads);
      m->trial[body] = m->pose[body];
      m->twist[body] = old;
      CNI_TRY(status);
      for (int32_t b = 0; b < m->body_count; b++)
        put(m, n < 4 ? to->k : to->c, m->bodies[b], (size_t)i, -weights[n % 4] / h,
            &loads[m->bodies[b]]);
    }
  return CN_OK;
}

// Gyroscopic torque -w x J w of bodies that spin: over w, and over a turn of J.
static void add_gyroscopic(const Matrices *to, int32_t i) {
  CniMachine *m = to->m;
  int32_t body = m->bodies[i];
  CnVec3 w = m->twist[body].spin;
  if (!(cn_norm2(w) > 0)) return;
  CnSym3 j = cni_model_inertia(m->model, body, m->pose[body].rotation);
  CnVec3 l = cn_smul(j, w);
  for (int32_t k = 3; k < 6; k++) {
    CnVec3 e = direction(k).spin;
    CnVec3 turned = cn_sub(cn_cross(e, l), cn_smul(j, cn_cross(e, w)));
    CnTwist over_turn = {CN_VEC3_ZERO, cn_cross(w, turned)};
    CnTwist over_spin = {CN_VEC3_ZERO, cn_add(cn_cross(e, l), cn_cross(w, cn_smul(j, e)))};
    put(m, to->k, body, 6 * (size_t)i + (size_t)k, 1, &over_turn);
    put(m, to->c, body, 6 * (size_t)i + (size_t)k, 1, &over_spin);
  }
}

CnStatus cni_machine_stiffness(CniMachine *m, const double *efforts, double *stiffness,
                               double *damping) {
  Matrices to = {m, stiffness, damping};
  size_t bytes = (size_t)m->columns * (size_t)m->columns * sizeof *stiffness;
  memset(stiffness, 0, bytes);
  memset(damping, 0, bytes);
  if (m->model->body_count > 0)
    memcpy(m->trial, m->pose, (size_t)m->model->body_count * sizeof *m->trial);
  for (int32_t i = 0; i < m->ref_count; i++)
    if (efforts[i] != 0) add_row(&to, &m->refs[i], efforts[i], 0, 0);
  for (int32_t i = 0; i < m->model->joint_count; i++) add_joint_stiffness(&to, i);
  for (int32_t i = 0; i < m->model->force_count; i++) CNI_TRY(add_element_stiffness(&to, i));
  for (int32_t i = 0; i < m->body_count; i++) add_gyroscopic(&to, i);
  return add_hook_stiffness(&to);
}
