// SPDX-License-Identifier: Apache-2.0
// The work of springs, of soft limits, of motors and of loads over a step of the equations of motion, for the
// balance: their powers at the points that the integrator visits and half way, by Simpson's rule. The forces of
// motors that are rows are known at those points alone, and where the integrator begins anew: the trapezoid.
//
// Half way places and rates are those of the cubic between the two points, q' = 3 (q1 - q0)/(2 dt) -
// (q0' + q1')/4. Mean forces times mean velocities would miss several per cent of the energy over a long
// step. After an impact velocities are others than at the last point: the next piece begins with those from
// which the integrator goes on, or, where it does not say, has the power of its end.
#include "world/equations/equations.h"

#include <string.h>

static CniWorks joint_powers(const CniJoint *joint, const CniJointPlace *place,
                             const CniJointImpulse *efforts, const CniJointEnd *a,
                             const CniJointEnd *b) {
  CniWorks p = {0};
  for (int32_t k = 0; k < place->locked_count && cni_joint_is_spring(joint); k++)
    p.springs +=
        efforts->locked[k] * cni_joint_rate(place, &place->locked[k], &a->twist, &b->twist);
  for (int32_t k = 0; k < place->axis_count; k++) {
    const double *parts = efforts->axes[k];
    double rate = cni_joint_rate(place, &place->axes[k], &a->twist, &b->twist);
    p.springs += parts[CNI_PART_SPRING] * rate;
    p.drives += parts[CNI_PART_MOTOR] * rate;
    p.limits += (parts[CNI_PART_LOWER] - parts[CNI_PART_UPPER]) * rate;
  }
  return p;
}

// Bodies that move as prescribed have no work done on them.
static void forget_led(const CniModel *model, const CniJoint *joint, CniJointEnd *a,
                       CniJointEnd *b) {
  if (!cni_is_free(model, joint->body_a)) a->twist = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  if (!cni_is_free(model, joint->body_b)) b->twist = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
}

// W, at a state in m, s, kg: what the bodies get.
static CniWorks powers_at(const CnWorld *world, double t, const CnPose *pose, const double *v) {
  const CniModel *model = &world->now.model;
  CniWorks p = {0};
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    CniJointPlace place;
    CniJointImpulse efforts;
    CniJointEnd a, b;
    if (!cni_joint_has_efforts(joint)) continue;
    cni_joint_efforts(model, joint, t, pose, v, &place, &efforts);
    cni_joint_stage_ends(joint, pose, v, &a, &b);
    CniWorks stretch = joint_powers(joint, &place, &efforts, &a, &b);
    forget_led(model, joint, &a, &b);
    CniWorks given = joint_powers(joint, &place, &efforts, &a, &b);
    p.springs += stretch.springs;
    p.limits += stretch.limits;
    p.drives += given.drives + given.springs - stretch.springs + given.limits -
                stretch.limits; // by what moves as prescribed too
  }
  cni_forces_power(model, t, pose, (const CnTwist *)v, &p.springs, &p.loads, &p.drives);
  for (int32_t i = 0; model->load && i < model->body_count; i++) {
    const double *at = v + 6 * (size_t)i;
    CnTwist load = cni_model_load(model, i);
    if (cni_is_free(model, i))
      p.loads += cn_dot(load.velocity, cn_vec3(at[0], at[1], at[2])) +
                 cn_dot(load.spin, cn_vec3(at[3], at[4], at[5]));
  }
  return p;
}

// ---- motors that are rows ----

static int is_motor(const CniWorldRow *row) {
  return row->part == CNI_PART_MOTOR && row->joint >= 0 && row->rotor < 0;
}

static double motor_power(const CniModel *model, const CniWorldRow *row, const CnPose *pose,
                          const double *v) {
  const CniJoint *joint = &model->joints[row->joint];
  CniJointPlace place;
  CniJointEnd a, b;
  cni_joint_stage_ends(joint, pose, v, &a, &b);
  cni_joint_between(joint, &a, &b, &place);
  forget_led(model, joint, &a, &b);
  return cni_joint_rate(&place, cni_joint_row(&place, row->row), &a.twist, &b.twist);
}

// W, of forces in the integrator's units at a state in m, s, kg.
static double motor_powers(CnWorld *world, const CnPose *pose, const double *v,
                           const double *multipliers) {
  const struct CniWorldEquations *eq = world->work.equations;
  const CnEquations *e = &eq->equations;
  int32_t bounds = e->bilateral_count + e->contact_count * e->contact_dim;
  double sum = 0;
  for (int32_t i = 0; i < e->bilateral_count + e->bound_count; i++) {
    int bound = i >= e->bilateral_count;
    const CniWorldRow *row = &eq->rows[bound ? i + eq->limit_count : i];
    int32_t at = bound ? bounds + i - e->bilateral_count : i;
    if (!is_motor(row) || multipliers[at] == 0) continue;
    sum += multipliers[at] * (eq->q ? cni_units_force(world, at, 0) : 1) *
           motor_power(&world->now.model, row, pose, v);
  }
  return sum;
}

int cni_powers_ask(const CnWorld *world) {
  const struct CniWorldEquations *eq = world->work.equations;
  const CnEquations *e = &eq->equations;
  for (int32_t i = 0; eq->works_known && i < e->bilateral_count + e->bound_count; i++)
    if (is_motor(&eq->rows[i < e->bilateral_count ? i : i + eq->limit_count])) return 1;
  return 0;
}

void cni_powers_start(void *context, double t, const double *q, const double *v,
                      const double *multipliers) {
  CnWorld *world = context;
  struct CniWorldEquations *eq = world->work.equations;
  cni_equations_plain(world, &q, &v, &t);
  eq->power.motors = motor_powers(world, (const CnPose *)q, v, multipliers);
  eq->started = 1;
}

// ---- over the step ----

// The state half way, into eq->middle_q and eq->middle_v.
static void half_way(CnWorld *world, double step, const double *q, const double *v) {
  const CniModel *model = &world->now.model;
  struct CniWorldEquations *eq = world->work.equations;
  for (int32_t i = 0; i < model->body_count; i++) {
    const CnPose *from = (const CnPose *)eq->last_q + i, *to = (const CnPose *)q + i;
    const CnTwist *old = (const CnTwist *)eq->last_v + i, *now = (const CnTwist *)v + i;
    CnPose *middle = (CnPose *)eq->middle_q + i;
    CnTwist *rate = (CnTwist *)eq->middle_v + i;
    CnVec3 way = cn_sub(to->position, from->position);
    middle->position = cn_madd(cn_scale(0.5, cn_add(from->position, to->position)), step / 8,
                               cn_sub(old->velocity, now->velocity));
    rate->velocity =
        cn_madd(cn_scale(1.5 / step, way), -0.25, cn_add(old->velocity, now->velocity));
    CnQuat a = from->rotation, b = to->rotation;
    CnQuat da = cn_qmul((CnQuat){0, old->spin.x, old->spin.y, old->spin.z}, a);
    CnQuat db = cn_qmul((CnQuat){0, now->spin.x, now->spin.y, now->spin.z}, b);
    double x[4], r[4];
    const double from4[4] = {a.w, a.x, a.y, a.z}, to4[4] = {b.w, b.x, b.y, b.z};
    const double da4[4] = {da.w, da.x, da.y, da.z}, db4[4] = {db.w, db.x, db.y, db.z};
    for (int32_t k = 0; k < 4; k++) { // q' = w q/2
      x[k] = 0.5 * (from4[k] + to4[k]) + step / 16 * (da4[k] - db4[k]);
      r[k] = 1.5 / step * (to4[k] - from4[k]) - 0.125 * (da4[k] + db4[k]);
    }
    middle->rotation = cn_qunit((CnQuat){x[0], x[1], x[2], x[3]});
    CnQuat m = middle->rotation;
    CnQuat w = cn_qmul((CnQuat){r[0], r[1], r[2], r[3]}, (CnQuat){m.w, -m.x, -m.y, -m.z});
    rate->spin = cn_vec3(2 * w.x, 2 * w.y, 2 * w.z);
  }
}

static void remember(CnWorld *world, const double *q, const double *v) {
  struct CniWorldEquations *eq = world->work.equations;
  size_t bodies = (size_t)world->now.model.body_count;
  if (bodies == 0) return;
  memcpy(eq->last_q, q, 7 * bodies * sizeof *q);
  memcpy(eq->last_v, v, 6 * bodies * sizeof *v);
}

// Into the most there was on the way.
static void look_at_motion(CnWorld *world, const CnPose *pose, const double *v) {
  const CniModel *model = &world->now.model;
  struct CniWorldEquations *eq = world->work.equations;
  const double *rotors = v + 6 * (size_t)model->body_count;
  double twice = 0;
  for (int32_t i = 0; i < model->body_count; i++) {
    CnTwist twist = ((const CnTwist *)v)[i];
    if (!cni_is_free(model, i)) continue;
    CnVec3 l = cn_smul(cni_model_inertia(model, i, cn_qunit(pose[i].rotation)), twist.spin);
    twice += model->mass[i].mass * cn_norm2(twist.velocity) + cn_dot(l, twist.spin);
  }
  for (int32_t i = 0; i < eq->rotor_count; i++) twice += eq->rotors[i] * rotors[i] * rotors[i];
  eq->works.kinetic = cn_max(eq->works.kinetic, 0.5 * twice);
}

void cni_powers_again(CnWorld *world, double t, const double *q, const double *v) {
  struct CniWorldEquations *eq = world->work.equations;
  if (!eq->works_known || !eq->jumped) return;
  double motors = eq->power.motors;
  eq->power = powers_at(world, t, (const CnPose *)q, v);
  eq->power.motors = motors;
  eq->jumped = 0;
  look_at_motion(world, (const CnPose *)q, v);
  remember(world, q, v);
}

CnStatus cni_powers_begin(CnWorld *world, const double *q, const double *v) {
  struct CniWorldEquations *eq = world->work.equations;
  int32_t bodies = world->now.model.body_count;
  // a hook that gives forces is not asked more often than it has to be
  eq->works_known = world->now.settings.balance && !world->hooks.force;
  if (!eq->works_known) return CN_OK;
  CNI_TRY(cni_equations_take(world, 7 * bodies, sizeof *eq->last_q, &eq->last_q));
  CNI_TRY(cni_equations_take(world, 6 * bodies, sizeof *eq->last_v, &eq->last_v));
  CNI_TRY(cni_equations_take(world, 7 * bodies, sizeof *eq->middle_q, &eq->middle_q));
  CNI_TRY(cni_equations_take(world, 6 * bodies, sizeof *eq->middle_v, &eq->middle_v));
  eq->power = powers_at(world, eq->time, (const CnPose *)q, v);
  remember(world, q, v);
  return CN_OK;
}

void cni_powers_note(CnWorld *world, double t, double step, const double *q, const double *v,
                     const double *multipliers) {
  struct CniWorldEquations *eq = world->work.equations;
  if (!eq->works_known || !(step > 0)) return;
  CniWorks now = powers_at(world, t, (const CnPose *)q, v), old = now, middle = now;
  if (!eq->steps_impulse) now.motors = motor_powers(world, (const CnPose *)q, v, multipliers);
  double motors = eq->started ? eq->power.motors : now.motors;
  eq->works.motors += step / 2 * (now.motors + motors);
  eq->works.coarse += step / 2 * fabs(now.motors - motors);
  eq->works.motors_known = !eq->steps_impulse && !eq->struck;
  eq->started = 1;
  look_at_motion(world, (const CnPose *)q, v);
  if (!eq->jumped) {
    half_way(world, step, q, v);
    old = eq->power;
    middle = powers_at(world, t - 0.5 * step, (const CnPose *)eq->middle_q, eq->middle_v);
  }
  eq->works.springs += step / 6 * (old.springs + 4 * middle.springs + now.springs);
  eq->works.drives += step / 6 * (old.drives + 4 * middle.drives + now.drives);
  eq->works.limits += step / 6 * (old.limits + 4 * middle.limits + now.limits);
  eq->works.loads += step / 6 * (old.loads + 4 * middle.loads + now.loads);
  eq->power = now;
  eq->jumped = 0;
  remember(world, q, v);
}

const CniWorks *cni_equations_works(const CnWorld *world) {
  const struct CniWorldEquations *eq = world->work.equations;
  return eq && eq->works_known ? &eq->works : NULL;
}
