// SPDX-License-Identifier: Apache-2.0
// Bodies to velocity groups: the motion of a step without constraints.
//
//     velocity   v + h (gravity + f/m)
//     spin       w + h I^-1 torque, I at the attitude where the step begins
//
// So torques and impulses change the angular momentum I w by exactly what they are; the gyroscopic
// motion belongs to the drift that follows (drift.c).
//
// Geometric stiffness. A constant force f at a point p of a body does work when the body turns; to
// second order in the turn a its potential is a.K a/2 with K = (p.f) I - (p f^T + f p^T)/2. With a
// large joint force (a taut chain) and a large h, ignoring K makes the joint's direction swing past
// the truth and the chain shakes itself apart. The step is stable as long as h^2 K <= J, so only
// the part of h^2 K that exceeds J is added to J: J' = J + (h^2 K - J)+, the positive part by
// eigenvalues. Where the step resolves the swing (a pendulum at small h) nothing is added and
// nothing is lost; the whole of h^2 K would make the pendulum's error ten times larger. The
// momentum J w stays what it was: free spin = J'^-1 J w. Forces are those of the last step.
//
// A body that one joint holds swings about that joint, not about its centre of mass: J is then that about
// the joint, J + m (p^2 - p p^T) with the mass that is felt there, as the other body gives way. So a point
// mass on an arm is a pendulum like any other. What heavy neighbours lend (joints/lend.c) is added to J.
#include "assembly/assembly_private.h"

#define GROUPS_PER_TASK 256
#define SEEN 1e-4
#define AT_CENTRE 1e-12 // m^2 a m^2: joints there are no levers

// ---- geometric stiffness of joints ----

// m (p^2 - p p^T), the inertia of a mass at a distance.
static CnSym3 inertia_at(double m, CnVec3 p) {
  double pp = m * cn_norm2(p);
  return (CnSym3){pp - m * p.x * p.x, pp - m * p.y * p.y, pp - m * p.z * p.z,
                  -m * p.x * p.y,     -m * p.x * p.z,     -m * p.y * p.z};
}

static void stiffness_begin(CniStiffness *s, CnSym3 j) {
  *s = (CniStiffness){.sum = {-j.xx, -j.yy, -j.zz, -j.xy, -j.xz, -j.yz}};
}

static void stiffness_add(CniStiffness *s, CnVec3 p, CnVec3 f, double mass) {
  double pf = cn_dot(p, f);
  CnSym3 k = {pf - p.x * f.x,
              pf - p.y * f.y,
              pf - p.z * f.z,
              -0.5 * (p.x * f.y + p.y * f.x),
              -0.5 * (p.x * f.z + p.z * f.x),
              -0.5 * (p.y * f.z + p.z * f.y)};
  s->sum = cn_sadd(s->sum, k);
  s->any = 1;
  double lever = cn_norm2(p);
  s->next = cn_max(s->next, cn_min(lever, s->longest));
  if (!(lever > s->longest)) return;
  s->longest = lever;
  s->swing = inertia_at(-mass, p);
}

static int stiffness_end(const CniStiffness *s, const CniAssemblyInput *in, int32_t body,
                         CnSym3 *added) {
  CnSym3 sum = s->sum;
  if (s->next <= AT_CENTRE * s->longest) sum = cn_sadd(sum, s->swing);
  if (!s->any || cni_sym_is_negative(sum)) return 0;
  if (!cni_joint_eased(in->model, body, in->pose[body].rotation, &sum)) return 0;
  CnVec3 values;
  CnMat3 axes;
  cni_seigen(sum, &values, &axes);
  if (!(values.z > 0)) return 0;
  CnVec3 kept = {cn_max(values.x, 0), cn_max(values.y, 0), cn_max(values.z, 0)};
  *added = cn_srotate(axes, kept);
  return 1;
}

int cni_joint_stiffness(const CniAssemblyInput *in, int32_t body, CnSym3 inertia, CnSym3 *added) {
  const CniModel *model = in->model;
  double hh = in->time_step * in->time_step;
  CniStiffness s;
  stiffness_begin(&s, inertia);
  for (int32_t j = model->bodies[body].first_joint; j >= 0;) {
    const CniJoint *joint = &model->joints[j];
    int is_a = joint->body_a == body;
    j = is_a ? joint->next_a : joint->next_b;
    if (!(joint->impulse_step > 0)) continue;
    CniJointPlace own;
    const CniJointPlace *place = cni_joint_seen(model, in->places, joint, in->pose, &own);
    CnVec3 p = is_a ? place->arm_a : place->arm_b;
    CnVec3 force =
        cn_scale(1 / joint->impulse_step, cni_joint_total(place, &joint->impulse).velocity);
    double give = cni_body_gives(model, is_a ? joint->body_b : joint->body_a,
                                 is_a ? place->arm_b : place->arm_a);
    stiffness_add(&s, p, cn_scale(is_a ? -hh : hh, force), 1 / (1 / model->mass[body].mass + give));
  }
  return stiffness_end(&s, in, body, added);
}

// ---- groups ----

// Body i and its group, number k.
static void dynamic_group(const CniAssemblyInput *in, int32_t i, CnProblem *problem, int32_t k) {
  CniGroup *group = &problem->groups[k];
  const CniBodyMass *mass = &in->model->mass[i];
  CnTwist load = cni_model_load(in->model, i);
  CnTwist old = in->twist[i];
  CnQuat rotation = in->pose[i].rotation;
  double h = in->time_step;

  int isotropic = mass->inertia != CNI_TURNS_BY_AXIS;
  group->inv_mass = cni_inv_mass(mass);
  CnSym3 inv_inertia = cni_model_inv_inertia(in->model, i, rotation);
  group->inv_inertia = isotropic ? inv_inertia.xx : CNI_INERTIA_FULL;
  if (!isotropic) problem->inertias[k] = inv_inertia;

  CnVec3 gravity = in->flies && in->flies[i] ? CN_VEC3_ZERO : in->gravity;
  CnVec3 acceleration = cn_madd(gravity, group->inv_mass, load.velocity);
  group->v = cn_madd(old.velocity, h, acceleration);
  group->w = cn_madd(old.spin, h, cn_smul(inv_inertia, load.spin));

  if (!in->geometric_stiffness || in->model->bodies[i].first_joint < 0) return;
  CnSym3 inertia = cni_model_inertia(in->model, i, rotation), added;
  if (cni_joint_stiffness(in, i, inertia, &added)) {
    CnVec3 momentum = cn_smul(inertia, group->w);
    problem->inertias[k] = cn_sinverse(cn_sadd(inertia, added));
    group->w = cn_smul(problem->inertias[k], momentum);
    group->inv_inertia = CNI_INERTIA_FULL;
  }
}

// The same for a body like a ball on which nothing acts but gravity.
static inline CniGroup falling_ball(const CniAssemblyInput *in, int32_t i) {
  const CniBodyMass *mass = &in->model->mass[i];
  const CnTwist *old = &in->twist[i];
  // zeros of a load, which make zeros positive
  CnVec3 acceleration = cn_add(in->gravity, CN_VEC3_ZERO);
  return (CniGroup){.v = cn_madd(old->velocity, in->time_step, acceleration),
                    .inv_mass = 1 / mass->mass,
                    .w = cn_add(old->spin, CN_VEC3_ZERO),
                    .inv_inertia = 1 / mass->inertia};
}

typedef struct GroupLoop {
  const CniAssemblyInput *input;
  CnProblem *problem;
} GroupLoop;

static void fill_groups(void *context, int32_t begin, int32_t end) {
  const GroupLoop *loop = context;
  const CniAssemblyInput *in = loop->input;
  int plain = !in->model->load && !loop->problem->own_olds;
  for (int32_t k = begin; k < end; k++) {
    int32_t i = in->bodies ? loop->problem->of.numbers[k] : k;
    CniGroup *group = &loop->problem->groups[k];
    const CniBody *body = &in->model->bodies[i];
    CnBodyKind kind = body->kind;
    if (plain && kind == CN_BODY_DYNAMIC && in->model->mass[i].inertia > 0 &&
        body->first_joint < 0) {
      *group = falling_ball(in, i);
      continue;
    }
    *group = (CniGroup){.inv_mass = 0};
    if (kind != CN_BODY_FIXED) {
      group->v = in->twist[i].velocity;
      group->w = in->twist[i].spin;
    }
    if (loop->problem->own_olds) loop->problem->olds[k] = cni_group_free(group);
    if (kind == CN_BODY_DYNAMIC && cni_has_mass(&in->model->mass[i]))
      dynamic_group(in, i, loop->problem, k);
  }
}

// Whether any body of all needs them: ranks that have different ones agree.
void cni_groups_room(const CniAssemblyInput *input, CniProblemRoom *room) {
  const CniModel *model = input->model;
  room->groups = (input->bodies ? input->bodies->count : model->body_count) + 1;
  room->inertias = input->geometric_stiffness && model->joint_count > 0;
  // without such arrays no body has either
  int32_t count = model->inertias || model->load ? model->body_count : 0;
  for (int32_t i = 0; i < count; i++) {
    CnTwist load = cni_model_load(model, i);
    if (!cni_has_mass(&model->mass[i])) continue;
    room->inertias |= model->mass[i].inertia == CNI_TURNS_BY_AXIS;
    room->olds |= cn_norm2(load.velocity) > 0 || cn_norm2(load.spin) > 0;
  }
  room->olds |= room->inertias || input->flies;
}

// Next to nothing over next to nothing is no residual: it is relative to no less than what gravity adds
// in the step and SEEN of the fastest body, turning included, of which velocities are differences.
static double least_speed(const CniAssemblyInput *input) {
  const CniModel *model = input->model;
  double most = 0;
  for (int32_t i = 0; i < model->body_count; i++) {
    const CnTwist *twist = &input->twist[i];
    double square = cn_norm2(twist->velocity);
    if (cni_has_mass(&model->mass[i])) {
      CnVec3 j = cni_model_principal(model, i);
      square += cn_norm2(twist->spin) * cn_max(cn_max(j.x, j.y), j.z) / model->mass[i].mass;
    }
    most = cn_max(most, square);
  }
  return cn_max(cn_norm(input->gravity) * input->time_step, SEEN * sqrt(most));
}

void cni_assemble_groups(const CniAssemblyInput *input, CnProblem *problem) {
  int32_t count = input->bodies ? input->bodies->count : input->model->body_count;
  GroupLoop loop = {input, problem};
  problem->speed = least_speed(input);
  problem->change.velocity = cn_scale(input->time_step, input->gravity);
  cni_parallel_for(input->tasks, count, GROUPS_PER_TASK, fill_groups, &loop);
  problem->groups[count] = (CniGroup){.inv_mass = 0};
  if (input->bodies) problem->of.numbers[count] = input->model->body_count;
  if (problem->own_olds) problem->olds[count] = cni_group_free(&problem->groups[count]);
  problem->group_count = count + 1;
}
