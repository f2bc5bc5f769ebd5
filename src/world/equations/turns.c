// SPDX-License-Identifier: Apache-2.0
// Whole turns, and places on curves, within a step of the equations of motion (equations.h).
//
// The two frames of a joint tell an angle but for whole turns: it is the one that is nearest to where it is
// about. The integrator says from which state it goes on (CniBegun), at every step of its own; on the way
// from there, at whatever time it asks, an angle is about
//
//     x(t0) + x'(t0) (t - t0)
//
// and at the next such state about x(t0) + (x'(t0) + x'(t1))/2 (t1 - t0). So an angle is continuous in
// time however long the step of the world is, and a step that is taken back counts for nothing. A rate says
// nothing where its angle is about to lose its sense (an azimuth near its pole, a foot near the centre of
// curvature): there an angle is about where it was.
//
// moreau-jean makes one step and asks at its ends: it counts from where the step of the world begins.
#include "world/equations/equations.h"

#include "core/error.h"

#define STEEP 2.0 // times what turns, or moves: a rate that large for it says nothing

static CniTurns *turns_of(CniWorldTurns *turns, int32_t i) { return &turns->list[i]; }

static void add_joint(CniWorldTurns *turns, CniJoint *joint) {
  CniTurns *t = turns_of(turns, turns->count++);
  *t = (CniTurns){.near = joint->near, .joint = joint, .count = CN_JOINT_AXES};
  for (int32_t k = 0; k < t->count; k++) t->start[k] = t->from[k] = joint->near[k];
}

static void add_force(CniWorldTurns *turns, CniForce *force) {
  CniTurns *t = turns_of(turns, turns->count++);
  *t = (CniTurns){.near = &force->near, .force = force, .count = 1};
  t->start[0] = t->from[0] = force->near;
}

CnStatus cni_turns_take(CnWorld *world, struct CniWorldEquations *eq) {
  CniModel *model = &world->now.model;
  CniWorldTurns *turns = &eq->turns;
  int32_t count = 0;
  if (eq->steps_impulse) return CN_OK;
  for (int32_t i = 0; i < model->joint_count; i++)
    count += cni_joint_kind(model->joints[i].def.kind)->wraps;
  for (int32_t i = 0; i < model->force_count; i++)
    count += cni_force_kind(model->forces[i].def.kind)->wraps;
  CNI_TRY(cni_equations_take(world, count, sizeof *turns->list, &turns->list));
  turns->time = world->now.time;
  for (int32_t i = 0; i < model->joint_count; i++)
    if (cni_joint_kind(model->joints[i].def.kind)->wraps) add_joint(turns, &model->joints[i]);
  for (int32_t i = 0; i < model->force_count; i++)
    if (cni_force_kind(model->forces[i].def.kind)->wraps) add_force(turns, &model->forces[i]);
  return CN_OK;
}

void cni_turns_at(const CnWorld *world, double t) {
  const CniWorldTurns *turns = &world->work.equations->turns;
  for (int32_t i = 0; i < turns->count; i++) {
    const CniTurns *at = &turns->list[i];
    for (int32_t k = 0; k < at->count; k++)
      at->near[k] = at->from[k] + at->rate[k] * (t - turns->time);
  }
}

void cni_turns_back(const CnWorld *world) {
  const CniWorldTurns *turns = &world->work.equations->turns;
  for (int32_t i = 0; i < turns->count; i++) {
    const CniTurns *at = &turns->list[i];
    for (int32_t k = 0; k < at->count; k++) at->near[k] = at->start[k];
  }
}

// ---- from a state on ----

static double sound_rate(const CniJointRow *row, double rate) {
  double steep = row->wraps == CNI_ALONG ? cn_norm2(row->linear) : cn_norm2(row->angular);
  return steep <= STEEP * STEEP ? rate : 0;
}

// Values and rates; `near` says about where they are.
static void look_at_joint(const CniJoint *joint, const CnPose *pose, const double *v, double *value,
                          double *rate) {
  CniJointEnd a, b;
  CniJointPlace place;
  cni_joint_stage_ends(joint, pose, v, &a, &b);
  cni_joint_between(joint, &a, &b, &place);
  for (int32_t k = 0; k < CN_JOINT_AXES; k++) {
    value[k] = rate[k] = 0;
    if (k >= place.axis_count || !place.axes[k].wraps) continue;
    const CniJointRow *row = &place.axes[k];
    value[k] = row->value;
    rate[k] = sound_rate(row, cni_joint_rate(&place, row, &a.twist, &b.twist));
  }
}

static void look_at_force(const CniModel *model, const CniForce *force, double t,
                          const CnPose *pose, const double *v, double *value, double *rate) {
  CniForceAt at;
  cni_force_at(model, force, t, pose, (const CnTwist *)v, &at);
  CniJointRow twist = cni_joint_twist(&at.sight.at);
  *value = cni_joint_nearest(twist.value, force->near);
  *rate = sound_rate(&twist, cn_dot(twist.angular, at.sight.spin));
}

static void look(const CniModel *model, const CniTurns *at, double t, const CnPose *pose,
                 const double *v, double *value, double *rate) {
  if (at->joint)
    look_at_joint(at->joint, pose, v, value, rate);
  else
    look_at_force(model, at->force, t, pose, v, value, rate);
}

void cni_turns_from(CnWorld *world, double t, const double *q, const double *v) {
  CniWorldTurns *turns = &world->work.equations->turns;
  const CniModel *model = &world->now.model;
  const CnPose *pose = (const CnPose *)q;
  double step = t - turns->time;
  for (int32_t i = 0; i < turns->count; i++) {
    CniTurns *at = turns_of(turns, i);
    double value[CN_JOINT_AXES], rate[CN_JOINT_AXES];
    for (int32_t k = 0; k < at->count; k++) at->near[k] = at->from[k] + step * at->rate[k];
    if (step > 0) look(model, at, t, pose, v, value, rate);
    for (int32_t k = 0; k < at->count && step > 0; k++)
      at->near[k] = at->from[k] + 0.5 * step * (at->rate[k] + rate[k]);
    look(model, at, t, pose, v, value, rate);
    for (int32_t k = 0; k < at->count; k++) {
      at->near[k] = at->from[k] = value[k];
      at->rate[k] = rate[k];
    }
  }
  turns->time = t;
}
