// SPDX-License-Identifier: Apache-2.0
// What motors, springs and forces would make of the bodies in a step if nothing held them: a measure of energies beneath
// notice where gravity gives none. What is held by friction or stops does no work, and any round-off is many times none.
#include "force/force.h"
#include "world/verdict/watch.h"
#include "world/world.h"

// J of a body that gets an impulse and an angular impulse about its centre of mass.
static double energy_of(const CniModel *model, int32_t body, CnVec3 push, CnVec3 turn) {
  if (body < 0 || !cni_has_mass(&model->mass[body])) return 0;
  CnSym3 ease = cni_model_inv_inertia(model, body, model->pose[body].rotation);
  return 0.5 * (cn_norm2(push) / model->mass[body].mass + cn_dot(turn, cn_smul(ease, turn)));
}

// Of two bodies, by what b gets at its frame.
static double pair_energy(const CniModel *model, const int32_t bodies[2],
                          const CniJointPlace *place, CnTwist given) {
  CnVec3 at_a = cn_cross(place->arm_a, given.velocity),
         at_b = cn_cross(place->arm_b, given.velocity);
  return energy_of(model, bodies[0], given.velocity, cn_add(at_a, given.spin)) +
         energy_of(model, bodies[1], given.velocity, cn_add(at_b, given.spin));
}

static double of_joint(const CniModel *model, const CniJoint *joint, double h) {
  static const CniJointPart pushing[] = {CNI_PART_MOTOR, CNI_PART_SPRING};
  const int32_t bodies[2] = {joint->body_a, joint->body_b};
  CniJointImpulse own = {0};
  CniJointPlace place;
  int any = 0;
  if (!(joint->impulse_step > 0)) return 0;
  for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++)
    for (size_t n = 0; n < sizeof pushing / sizeof *pushing; n++) {
      double p = joint->impulse.axes[k][pushing[n]] * h / joint->impulse_step;
      own.axes[k][pushing[n]] = p;
      any |= p != 0;
    }
  if (!any) return 0;
  cni_joint_at(joint, model->pose, &place);
  return pair_energy(model, bodies, &place, cni_joint_total(&place, &own));
}

static double of_force(const CniModel *model, const CniForce *force, double time, double h) {
  CniForceAt at;
  CniForcePlace place;
  if (force->def.kind == CN_FORCE_USER) return 0; // it is not asked more often than it has to be
  cni_force_at(model, force, time, model->pose, model->twist, &at);
  if (cni_force_act(force, &at, &place) != CN_OK) return 0;
  CnTwist total = cni_force_total(&place, at.ends);
  total.velocity = cn_scale(h, total.velocity);
  total.spin = cn_scale(h, total.spin);
  return pair_energy(model, at.bodies, &place.rows, total);
}

double cni_watch_pushes(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  double h = world->work.time_step, sum = 0;
  for (int32_t i = 0; i < model->joint_count; i++) sum += of_joint(model, &model->joints[i], h);
  for (int32_t i = 0; i < model->force_count; i++)
    sum += of_force(model, &model->forces[i], world->now.time, h);
  return sum;
}
