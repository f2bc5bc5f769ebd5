// SPDX-License-Identifier: Apache-2.0
// What springs store and what dampers take, for the watch over the energy: springs that a step does not resolve
// give back less than they took, and more than their dampers can take of it is the step's own doing.
#include "world/verdict/watch.h"

#include "force/force.h"
#include "world/world.h"

// A force: 0 where what it does is not told by springs and dampers.
static int add_force(const CnWorld *world, const CniForce *force, CniSprings *s) {
  const CniModel *model = &world->now.model;
  CnForceKind kind = force->def.kind;
  CniForceAt at;
  CniForcePlace place;
  if (kind == CN_FORCE_CONSTANT) return 1;
  if (kind != CN_FORCE_SPRING && kind != CN_FORCE_TORSION && kind != CN_FORCE_BUSHING) return 0;
  if (force->def.rest_function.slot) return 0;
  cni_force_at(model, force, world->now.time, model->pose, model->twist, &at);
  if (cni_force_act(force, &at, &place) != CN_OK) return 0;
  s->energy += cni_force_energy(&place);
  for (int32_t i = 0; i < place.rows.axis_count; i++) {
    double rate =
        cni_joint_rate(&place.rows, &place.rows.axes[i], &at.ends[0].twist, &at.ends[1].twist);
    s->power += place.law.axes[i].damping * rate * rate;
  }
  return 1;
}

static int add_joint(const CnWorld *world, const CniJoint *joint, CniSprings *s) {
  const CniModel *model = &world->now.model;
  const CnJointDef *def = &joint->def;
  int soft = def->stiffness > 0 || def->damping > 0, any = soft;
  for (int32_t k = 0; k < cni_joint_coordinate_count(def->kind); k++)
    any |= def->axes[k].stiffness > 0 || def->axes[k].damping > 0;
  if (!any) return 1;
  CniJointEnd a, b;
  CniJointPlace place;
  cni_joint_ends(joint, model->pose, model->twist, &a, &b);
  cni_joint_between(joint, &a, &b, &place);
  for (int32_t k = 0; soft && k < place.locked_count; k++) {
    const CniJointRow *row = &place.locked[k];
    double rate = cni_joint_rate(&place, row, &a.twist, &b.twist);
    s->energy += 0.5 * def->stiffness * row->value * row->value;
    s->power += def->damping * rate * rate;
  }
  for (int32_t k = 0; k < place.axis_count; k++) {
    const CnJointAxis *axis = &def->axes[k];
    double x = place.axes[k].value - axis->rest;
    double rate = cni_joint_rate(&place, &place.axes[k], &a.twist, &b.twist);
    s->energy += 0.5 * axis->stiffness * x * x;
    s->power += axis->damping * rate * rate;
  }
  return 1;
}

CniSprings cni_watch_springs(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  CniSprings s = {.known = 1};
  for (int32_t i = 0; s.known && i < model->force_count; i++)
    s.known = add_force(world, &model->forces[i], &s);
  for (int32_t i = 0; s.known && i < model->joint_count; i++)
    s.known = add_joint(world, &model->joints[i], &s);
  return s;
}

double cni_springs_lost(const CniSprings *before, const CniSprings *now, double work, double h) {
  return cni_lost_to_step(work + now->energy - before->energy, cn_max(before->power, now->power),
                          h);
}
