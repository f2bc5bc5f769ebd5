// SPDX-License-Identifier: Apache-2.0
// Where joints and couplings are open, and bodies in each other, for the watch over a step (watch.c).
#include <float.h>
#include <math.h>

#include "world/world.h"

static double gyration(const CniModel *model, int32_t body) {
  if (body < 0 || !cni_has_mass(&model->mass[body])) return 0;
  double j = model->mass[body].inertia;
  if (j == CNI_TURNS_BY_AXIS) {
    CnVec3 own = model->inertias[body];
    j = cn_max(own.x, cn_max(own.y, own.z));
  }
  return sqrt(j / model->mass[body].mass);
}

static double size_of(const CniModel *model, const CniJoint *joint) {
  double arm_a = joint->body_a < 0 ? 0 : cn_norm(joint->local_a.position);
  double arm_b = joint->body_b < 0 ? 0 : cn_norm(joint->local_b.position);
  double size = cn_max(cn_max(arm_a, arm_b), joint->def.distance);
  return cn_max(size, cn_max(gyration(model, joint->body_a), gyration(model, joint->body_b)));
}

static int is_open(const CnJointAxis *axis, double x, double *beyond) {
  if (axis->limit_stiffness > 0) return 0;
  *beyond = cn_max(axis->lower - x, x - axis->upper);
  return *beyond > 0;
}

// How far a joint is open at a place: m and rad, limits that it is beyond included. Is it by a limit?
static uint32_t opening(const CniJoint *joint, const CniJointPlace *place, double *way,
                        double *turn) {
  const CnJointDef *def = &joint->def;
  uint32_t limit = 0;
  *way = *turn = 0;
  if (def->stiffness == 0 && def->damping == 0) cni_joint_errors(place, way, turn);
  for (int32_t k = 0; k < place->axis_count; k++) {
    double beyond;
    if (!is_open(&def->axes[k], place->axes[k].value, &beyond)) continue;
    double *to = place->axes[k].turns ? turn : way;
    if (beyond > *to) limit = CNI_BEYOND_LIMIT;
    *to = cn_max(*to, beyond);
  }
  return limit;
}

void cni_watch_joint(const CniModel *model, int32_t i, const CniJointPlace *place,
                     CniFinding *worst) {
  double way, turn;
  const CniJoint *joint = &model->joints[i];
  uint32_t limit = opening(joint, place, &way, &turn);
  // most are closed far better than the worst so far
  double size = way > 0 ? size_of(model, joint) : 1;
  double relative = size > 0 ? way / size : 0;
  if (!(cn_max(relative, turn) > worst->relative)) return;
  *worst = (CniFinding){.value = relative >= turn ? way : turn,
                        .relative = cn_max(relative, turn),
                        .turns = relative < turn,
                        .whose = {.joint = cni_joint_id(model, i), .limit = limit}};
}

static int keeps_place(const CnJointAxis *axis) {
  return axis->drive == CN_DRIVE_POSITION && axis->motor_effort == INFINITY &&
         !cni_joint_is_servo(axis);
}

void cni_watch_motors(const CnWorld *world, CniFinding *worst) {
  const CniModel *model = &world->now.model;
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    CniJointPlace place;
    int any = 0;
    for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++)
      any |= keeps_place(&joint->def.axes[k]);
    if (!any) continue;
    cni_joint_at(joint, model->pose, &place);
    for (int32_t k = 0; k < place.axis_count; k++) {
      double target[3], size = place.axes[k].turns ? 1 : size_of(model, joint);
      if (!keeps_place(&joint->def.axes[k])) continue;
      cni_joint_target(model, &joint->def.axes[k], world->now.time, target);
      double off = fabs(place.axes[k].value - target[0]), relative = size > 0 ? off / size : 0;
      if (!(relative > worst->relative)) continue;
      *worst = (CniFinding){.value = off,
                            .relative = relative,
                            .turns = place.axes[k].turns,
                            .whose = {.joint = cni_joint_id(model, i), .limit = CNI_OFF_TARGET}};
    }
  }
}

// Of lengths the size is that of the largest joint coupled.
void cni_watch_couplings(const CniModel *model, CniFinding *worst) {
  for (int32_t i = 0; i < model->coupling_count; i++) {
    const CniCoupling *c = &model->couplings[i];
    CniCouplingTerm terms[CN_COUPLING_TERMS];
    double value = cni_coupling_terms(model, c, model->pose, terms), size = 0;
    int32_t turns = terms[0].row.turns;
    double off = c->def.one_sided ? cn_max(0, -value) : fabs(value);
    for (int32_t k = 0; off > 0 && !turns && k < c->def.term_count; k++)
      size = cn_max(size, size_of(model, &model->joints[terms[k].joint]));
    double relative = turns ? off : size > 0 ? off / size : 0;
    if (relative > worst->relative)
      *worst = (CniFinding){.value = off,
                            .relative = relative,
                            .turns = turns,
                            .whose = {.coupling = {c->slot, c->generation}}};
  }
}

void cni_watch_joints(const CnWorld *world, CniFinding *worst) {
  const CniModel *model = &world->now.model;
  cni_watch_couplings(model, worst);
  for (int32_t i = 0; i < model->joint_count; i++) {
    CniJointPlace place;
    cni_joint_at(&model->joints[i], model->pose, &place);
    cni_watch_joint(model, i, &place, worst);
  }
}

#define SURELY_LESS .999 // whatever the rounding

// A point, made a tiny ball, is as thick as a hundredth of its body.
static double thickness(const CniModel *model, const CniShape *shape) {
  return cn_max(cni_model_inradius(shape), 0.01 * gyration(model, shape->body));
}

int32_t cni_watch_deepest(const CniModel *model, const CniContact *contacts, int32_t count,
                          const CniShortContact *shorts, double inradius, CniFinding *worst) {
  int32_t deepest = -1;
  double least = SURELY_LESS * worst->relative * inradius; // of any shape
  for (int32_t i = 0; i < count; i++) {
    const CniContact *c = &contacts[i];
    if (!(-c->gap > least) || (shorts && shorts[i].a == CNI_SHORT_NONE)) continue;
    const CniShape *a = &model->shapes[c->shape_a], *b = &model->shapes[c->shape_b];
    double size = cn_min(cni_model_inradius(a), cni_model_inradius(b));
    if (!(-c->gap > SURELY_LESS * worst->relative * size)) continue; // it is thicker than that
    double relative = -c->gap / cn_min(thickness(model, a), thickness(model, b));
    if (!(relative > worst->relative)) continue;
    deepest = i;
    least = SURELY_LESS * relative * inradius;
    *worst = (CniFinding){
        .value = -c->gap,
        .relative = relative,
        .whose = {.body = cni_body_id(model, a->body), .other = cni_body_id(model, b->body)}};
  }
  return deepest;
}

// A body without joints is held by nothing but what it meets: what it falls in a step beyond that is out of sight.
// Schemes that choose their own steps see what is on the way.
void cni_watch_scale(const CnWorld *world, CniFinding *fall, CniFinding *far) {
  const CniModel *model = &world->now.model;
  const CniSettings *settings = &world->now.settings;
  int own_steps = (cn_integrator_traits(settings->integrator) & CN_INTEGRATOR_OWN_STEPS) != 0;
  double drop = cn_norm(settings->gravity) * settings->time_step * settings->time_step;
  for (int32_t i = 0; i < model->body_count; i++) {
    double size = gyration(model, i);
    if (!(size > 0)) continue;
    CnVec3 at = model->pose[i].position;
    double coarse = DBL_EPSILON * cn_max(fabs(at.x), cn_max(fabs(at.y), fabs(at.z)));
    CniWhose whose = {.body = cni_body_id(model, i)};
    if (coarse > far->relative * size)
      *far = (CniFinding){.value = coarse, .relative = coarse / size, .whose = whose};
    if (!own_steps && model->bodies[i].first_joint < 0 && drop > fall->relative * size)
      *fall = (CniFinding){.value = drop, .relative = drop / size, .whose = whose};
  }
}
