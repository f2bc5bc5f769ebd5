// SPDX-License-Identifier: Apache-2.0
// What neighbours lend to a body against turning (groups.c). A light bar between the ground and a mass, or between two
// masses, cannot turn without them: its own inertia says nothing about how fast it swings, and forces that a body of
// such an inertia could not resist are no reason to brake it. So for geometric stiffness alone its inertia counts with
//
//     1/(g_0 + g_i) (d^2 - d d^T)
//
// summed over points at which heavy neighbours hold it, d from that of the stiffest one (0, which is shared) and g = 1/mass
// that is felt there at least. A neighbour has an inertia of its own to spend: half of it, shared among its joints.
#include "assembly/assembly_private.h"
#include "assembly/joints/joints_private.h"

#include "core/vec.h"

#define HEAVY 10.0  // masses of the body, as felt at the joint: less is not heavy
#define GROUND 1e-6 // of 1/m: what the ground gives way, for numbers to be finite

int cni_sym_is_negative(CnSym3 m) {
  if (!(m.xx < 0)) return 0;
  double l = m.xy / m.xx, k = m.xz / m.xx, d = m.yy - l * m.xy, e = m.yz - l * m.xz;
  return d < 0 && m.zz - k * m.xz - e * e / d < 0;
}

double cni_body_gives(const CniModel *model, int32_t body, CnVec3 arm) {
  if (body < 0 || !cni_has_mass(&model->mass[body])) return 0;
  CnVec3 j = cni_model_principal(model, body);
  double least = cn_min(j.x, cn_min(j.y, j.z));
  return cni_inv_mass(&model->mass[body]) + cn_norm2(arm) / least;
}

static int holds_point(const CniJoint *joint) {
  CnJointKind kind = joint->def.kind;
  int holds = kind == CN_JOINT_BALL || kind == CN_JOINT_SPHERICAL || kind == CN_JOINT_REVOLUTE ||
              kind == CN_JOINT_UNIVERSAL || kind == CN_JOINT_WELD;
  return holds && !cni_joint_is_spring(joint);
}

// A neighbour's share: what it gives way, no less than `least`; INFINITY where that is more than `most`.
static double share_of(const CniModel *model, int32_t body, CnVec3 arm, double least, double most) {
  double gives = 2 * cni_body_gives(model, body, arm), all = 0;
  if (!(gives > 0)) return least;
  for (int32_t j = model->bodies[body].first_joint; j >= 0 && all <= most; all += gives)
    j = model->joints[j].body_a == body ? model->joints[j].next_a : model->joints[j].next_b;
  return all <= most ? cn_max(all, least) : INFINITY;
}

// The joints of a body one after the other: where one holds it (own axes), and what the neighbour gives there.
static int32_t next_lender(const CniModel *model, int32_t body, int32_t j, CnVec3 *at,
                           double *gives) {
  double own = cni_inv_mass(&model->mass[body]);
  const CniJoint *joint = &model->joints[j];
  int is_a = joint->body_a == body;
  const CnPose *here = is_a ? &joint->local_a : &joint->local_b;
  const CnPose *there = is_a ? &joint->local_b : &joint->local_a;
  *at = here->position;
  *gives = INFINITY;
  if (holds_point(joint))
    *gives = share_of(model, is_a ? joint->body_b : joint->body_a, there->position, GROUND * own,
                      own / HEAVY);
  return is_a ? joint->next_a : joint->next_b;
}

// The inertia that is lent, world axes; 0: none.
static int lent(const CniModel *model, int32_t body, CnQuat rotation, CnSym3 *sum) {
  CnVec3 at, pivot = CN_VEC3_ZERO;
  double gives, least = INFINITY;
  int32_t count = 0, first = -1;
  for (int32_t j = model->bodies[body].first_joint; j >= 0;) {
    int32_t own = j;
    j = next_lender(model, body, j, &at, &gives);
    if (!(gives < INFINITY)) continue;
    count++;
    if (!(gives < least)) continue;
    least = gives;
    pivot = at;
    first = own;
  }
  if (count < 2) return 0;
  *sum = (CnSym3){0, 0, 0, 0, 0, 0};
  for (int32_t j = model->bodies[body].first_joint; j >= 0;) {
    int32_t own = j;
    j = next_lender(model, body, j, &at, &gives);
    if (own == first || !(gives < INFINITY)) continue;
    CnVec3 d = cn_rotate(rotation, cn_sub(at, pivot));
    double m = 1 / ((count - 1) * least + gives), dd = m * cn_norm2(d);
    CnSym3 inertia = {dd - m * d.x * d.x, dd - m * d.y * d.y, dd - m * d.z * d.z,
                      -m * d.x * d.y,     -m * d.x * d.z,     -m * d.y * d.z};
    *sum = cn_sadd(*sum, inertia);
  }
  return 1;
}

int cni_joint_eased(const CniModel *model, int32_t body, CnQuat rotation, CnSym3 *stiffness) {
  CnSym3 more;
  if (!lent(model, body, rotation, &more)) return 1;
  CnSym3 s = *stiffness;
  *stiffness = (CnSym3){s.xx - more.xx, s.yy - more.yy, s.zz - more.zz,
                        s.xy - more.xy, s.xz - more.xz, s.yz - more.yz};
  return !cni_sym_is_negative(*stiffness);
}
