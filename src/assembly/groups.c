// SPDX-License-Identifier: Apache-2.0
// Bodies to velocity groups: the motion of a step without constraints.
//
//     velocity   v + h (gravity + f/m)
//     spin       torque-free gyroscopic motion over h, then + h I^-1 torque
//
// Gyroscopic motion. In body axes the spin W = R^T w obeys J W' = (J W) x W. It is taken by the
// implicit midpoint rule, J (W1 - W0) = h (J Wm) x Wm with Wm = (W0 + W1)/2. Multiplying by Wm and
// by J Wm shows that W.J W and |J W| do not change, for any h: no blow-up, no damping. The position
// update turns the body about the NEW spin, R_new = exp(h w_new) R, and a turn about w_new leaves
// w_new where it is: R_new^T w_new = R^T w_new. So the body-axes spin found here is exactly the one
// the next step starts from, and nothing is lost between steps. Second order in h.
//
// Geometric stiffness. A constant force f at a point p of a body does work when the body turns; to
// second order in the turn a its potential is a.K a/2 with K = (p.f) I - (p f^T + f p^T)/2. With a
// large joint force (a taut chain) and a large h, ignoring K makes the joint's direction swing past
// the truth and the chain shakes itself apart. The step is stable as long as h^2 K <= J, so only
// the part of h^2 K that exceeds J is added to J: J' = J + (h^2 K - J)+, the positive part by
// eigenvalues. Where the step resolves the swing (a pendulum at small h) nothing is added and
// nothing is lost; the whole of h^2 K would make the pendulum's error ten times larger. The
// momentum J w stays what it was: free spin = J'^-1 J w. Forces are those of the last step.
#include "assembly/assembly_private.h"

#define GROUPS_PER_TASK 256
#define MAX_NEWTON 24
#define MAX_HALVINGS 12

// ---- torque-free spin ----

// 2 J (Wm - W0) + h Wm x (J Wm): zero at the midpoint spin. d = (J3-J2, J1-J3, J2-J1) h.
static CnVec3 spin_defect(CnVec3 inertia, CnVec3 d, CnVec3 w0, CnVec3 m) {
  return (CnVec3){2 * inertia.x * (m.x - w0.x) + d.x * m.y * m.z,
                  2 * inertia.y * (m.y - w0.y) + d.y * m.z * m.x,
                  2 * inertia.z * (m.z - w0.z) + d.z * m.x * m.y};
}

// Solve the 3x3 system with columns a by Cramer's rule; returns 0 where it is singular.
static int solve3(CnMat3 a, CnVec3 r, CnVec3 *x) {
  CnVec3 yz = cn_cross(a.y, a.z);
  double det = cn_dot(a.x, yz);
  if (!(fabs(det) > 0)) return 0;
  *x = (CnVec3){cn_dot(r, yz) / det, cn_dot(a.x, cn_cross(r, a.z)) / det,
                cn_dot(a.x, cn_cross(a.y, r)) / det};
  return 1;
}

// Midpoint spin in body axes by Newton's method with step halving; returns 0 if it did not get
// there. A solution exists for every h (the defect points outwards on a large sphere).
static int midpoint_spin(CnVec3 inertia, CnVec3 w0, double h, CnVec3 *result) {
  CnVec3 d = {h * (inertia.z - inertia.y), h * (inertia.x - inertia.z),
              h * (inertia.y - inertia.x)};
  CnVec3 m = w0;
  CnVec3 f = spin_defect(inertia, d, w0, m);
  double size = cn_norm(w0);
  for (int i = 0; i < MAX_NEWTON; i++) {
    CnMat3 slope = {{2 * inertia.x, d.y * m.z, d.z * m.y},
                    {d.x * m.z, 2 * inertia.y, d.z * m.x},
                    {d.x * m.y, d.y * m.x, 2 * inertia.z}};
    CnVec3 step;
    if (!solve3(slope, f, &step)) return 0;
    // near the solution every step squares the error: after this one it is below rounding
    if (cn_norm(step) <= 1e-13 * size) {
      *result = cn_sub(m, step);
      return 1;
    }
    CnVec3 next = cn_sub(m, step);
    CnVec3 f_next = spin_defect(inertia, d, w0, next);
    double scale = 1;
    for (int k = 0; k < MAX_HALVINGS && !(cn_norm2(f_next) < cn_norm2(f)); k++) {
      scale *= 0.5;
      next = cn_madd(m, -scale, step);
      f_next = spin_defect(inertia, d, w0, next);
    }
    // rounding keeps the defect from falling further: the step tells how far away that is
    if (!(cn_norm2(f_next) < cn_norm2(f))) {
      *result = m;
      return cn_norm(step) <= 1e-10 * size;
    }
    m = next;
    f = f_next;
  }
  return 0;
}

CnVec3 cni_gyroscopic_spin(CnVec3 inertia, CnQuat rotation, CnVec3 spin, double h) {
  int isotropic = inertia.x == inertia.y && inertia.y == inertia.z;
  if (isotropic || !(cn_norm2(spin) > 0)) return spin;

  // Where the solution is not found (h|w| far beyond a turn a step) the spin stays in body axes,
  // which keeps the energy and the size of the angular momentum as the solution would have.
  CnVec3 w0 = cn_unrotate(rotation, spin), m;
  if (!midpoint_spin(inertia, w0, h, &m)) return spin;
  return cn_rotate(rotation, cn_madd(cn_scale(2, m), -1, w0));
}

// ---- geometric stiffness of joints ----

// What has to be added to the inertia: the positive part of h^2 K - J, K summed over the joints of
// a body; returns 0 if there is none.
static int joint_stiffness(const CniAssemblyInput *in, int32_t body, CnSym3 inertia,
                           CnSym3 *added) {
  const CniModel *model = in->model;
  double hh = in->time_step * in->time_step;
  CnSym3 sum = {-inertia.xx, -inertia.yy, -inertia.zz, -inertia.xy, -inertia.xz, -inertia.yz};
  int any = 0;
  for (int32_t j = model->bodies[body].first_joint; j >= 0;) {
    const CniJoint *joint = &model->joints[j];
    int is_a = joint->body_a == body;
    j = is_a ? joint->next_a : joint->next_b;
    if (!(joint->impulse_step > 0)) continue;
    CniJointPlace place;
    cni_joint_at(joint, in->pose, &place);
    CnVec3 p = is_a ? place.arm_a : place.arm_b;
    CnVec3 force =
        cn_scale(1 / joint->impulse_step, cni_joint_total(&place, &joint->impulse).velocity);
    CnVec3 f = cn_scale(is_a ? -hh : hh, force);
    double pf = cn_dot(p, f);
    CnSym3 k = {pf - p.x * f.x,
                pf - p.y * f.y,
                pf - p.z * f.z,
                -0.5 * (p.x * f.y + p.y * f.x),
                -0.5 * (p.x * f.z + p.z * f.x),
                -0.5 * (p.y * f.z + p.z * f.y)};
    sum = cn_sadd(sum, k);
    any = 1;
  }
  if (!any) return 0;

  CnVec3 values;
  CnMat3 axes;
  cni_seigen(sum, &values, &axes);
  if (!(values.z > 0)) return 0;
  CnVec3 kept = {cn_max(values.x, 0), cn_max(values.y, 0), cn_max(values.z, 0)};
  *added = cn_srotate(axes, kept);
  return 1;
}

// ---- groups ----

static void dynamic_group(const CniAssemblyInput *in, int32_t i, CnProblem *problem) {
  CniGroup *group = &problem->groups[i];
  const CniBodyMass *mass = &in->model->mass[i];
  CnTwist load = cni_model_load(in->model, i);
  CnTwist old = in->twist[i];
  CnQuat rotation = in->pose[i].rotation;
  double h = in->time_step;

  int isotropic = mass->inertia != CNI_TURNS_BY_AXIS;
  group->inv_mass = cni_inv_mass(mass);
  CnSym3 inv_inertia = cni_model_inv_inertia(in->model, i, rotation);
  group->inv_inertia = isotropic ? inv_inertia.xx : CNI_INERTIA_FULL;
  if (!isotropic) problem->inertias[i] = inv_inertia;

  CnVec3 acceleration = cn_madd(in->gravity, group->inv_mass, load.velocity);
  group->v = cn_madd(old.velocity, h, acceleration);
  CnVec3 spin =
      isotropic ? old.spin : cni_gyroscopic_spin(in->model->inertias[i], rotation, old.spin, h);
  group->w = cn_madd(spin, h, cn_smul(inv_inertia, load.spin));

  if (!in->geometric_stiffness || in->model->bodies[i].first_joint < 0) return;
  CnSym3 inertia = cni_model_inertia(in->model, i, rotation), added;
  if (joint_stiffness(in, i, inertia, &added)) {
    CnVec3 momentum = cn_smul(inertia, group->w);
    problem->inertias[i] = cn_sinverse(cn_sadd(inertia, added));
    group->w = cn_smul(problem->inertias[i], momentum);
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
  for (int32_t i = begin; i < end; i++) {
    CniGroup *group = &loop->problem->groups[i];
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
    if (loop->problem->own_olds) loop->problem->olds[i] = cni_group_free(group);
    if (kind == CN_BODY_DYNAMIC && cni_has_mass(&in->model->mass[i]))
      dynamic_group(in, i, loop->problem);
  }
}

void cni_groups_room(const CniAssemblyInput *input, CniProblemRoom *room) {
  const CniModel *model = input->model;
  room->groups = model->body_count + 1;
  room->inertias = input->geometric_stiffness && model->joint_count > 0;
  // without such arrays no body has either
  int32_t count = model->inertias || model->load ? model->body_count : 0;
  for (int32_t i = 0; i < count; i++) {
    CnTwist load = cni_model_load(model, i);
    if (!cni_has_mass(&model->mass[i])) continue;
    room->inertias |= model->mass[i].inertia == CNI_TURNS_BY_AXIS;
    room->olds |= cn_norm2(load.velocity) > 0 || cn_norm2(load.spin) > 0;
  }
  room->olds |= room->inertias;
}

void cni_assemble_groups(const CniAssemblyInput *input, CnProblem *problem) {
  int32_t count = input->model->body_count;
  GroupLoop loop = {input, problem};
  problem->change.velocity = cn_scale(input->time_step, input->gravity);
  cni_parallel_for(input->tasks, count, GROUPS_PER_TASK, fill_groups, &loop);
  problem->groups[count] = (CniGroup){.inv_mass = 0};
  if (problem->own_olds) problem->olds[count] = cni_group_free(&problem->groups[count]);
  problem->group_count = count + 1;
}
