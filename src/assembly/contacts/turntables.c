// SPDX-License-Identifier: Apache-2.0
// Turntables. A body that rides on one whose spin W is prescribed moves in a step along a chord, not
// along the tangent, or it would leave the circle by (h W)^2/2 of its radius in each step. So the
// surface has, for all contacts of the two bodies, the velocity that carries the rider's centre of
// mass along its chord, less that along the tangent, which the rows have already.
#include "assembly/assembly_private.h"

#include "core/math.h"

// Chord less tangent, over h, of a point at `arm` from the origin of a body that turns by W:
// ((exp(h W) - 1)/h - W x) arm.
static CnVec3 chord(CnVec3 spin, CnVec3 arm, double h) {
  double x = h * cn_norm(spin), half = cni_sin(x / 2);
  if (!(x > 0)) return CN_VEC3_ZERO;
  CnVec3 tangent = cn_cross(spin, arm);
  double along = x < 1e-4 ? -x * x / 6 : cni_sin(x) / x - 1;
  return cn_madd(cn_scale(along, tangent), 2 * h * (half / x) * (half / x),
                 cn_cross(spin, tangent));
}

// Of b's surface against a's, for a rider on a body whose spin is prescribed.
CnVec3 cni_contact_ride(const CniAssemblyInput *in, const CniContactPlan *plan,
                        const CnProblem *problem, const CniContact *c) {
  const uint32_t *info = plan->shape_info;
  const CniGroup *groups = problem->groups;
  CnVec3 arm = cn_sub(in->pose[c->body_b].position, in->pose[c->body_a].position);
  CnVec3 sum = CN_VEC3_ZERO;
  if (info[cni_shape_place(in, c->shape_a)] & CNI_INFO_TURNS)
    sum = cn_sub(sum, chord(groups[cni_body_group(in, c->body_a)].w, arm, in->time_step));
  if (info[cni_shape_place(in, c->shape_b)] & CNI_INFO_TURNS)
    sum = cn_add(sum, chord(groups[cni_body_group(in, c->body_b)].w, cn_neg(arm), in->time_step));
  return sum;
}
