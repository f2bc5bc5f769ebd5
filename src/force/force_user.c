// SPDX-License-Identifier: Apache-2.0
// A force that a function of the user gives: F(t, frames, twists) on b, the opposite on a at the same
// point, so that the pair keeps its momentum.
//
// The step problem takes it at the end of the step where its derivatives are known. With the relative
// motion u of b's frame, K = -dF/dx and D = -dF/du (symmetric parts), to first order
//
//     F+ = F - h K u+ - D (u+ - u) = (F + D u) - A u+,   A = h K + D
//
// that is a load F - h K u + A u, and dampers A = sum_j d_j e_j e_j^T by L D L^T. A pivot that is not
// positive (a negative stiffness) is left out of A, and with it of the load: what is left explicit
// stays consistent to first order.
#include "force/force.h"

#include <math.h>
#include <string.h>

#define SIX 6
#define TINY 1e-12 // of a diagonal: pivots below are zero

static CnTwist frame_twist(const CniJointEnd *end, CnVec3 arm) {
  return (CnTwist){cn_add(end->twist.velocity, cn_cross(end->twist.spin, arm)), end->twist.spin};
}

// Symmetric part of h K + D.
static void step_matrix(const CnForceEffect *f, double h, double a[SIX][SIX]) {
  for (int32_t i = 0; i < SIX; i++)
    for (int32_t j = 0; j < SIX; j++)
      a[i][j] = 0.5 * (h * (f->stiffness[i][j] + f->stiffness[j][i]) +
                       (f->damping[i][j] + f->damping[j][i]));
}

// The row of the next pivot, which is taken out of A; returns the pivot, 0: there is none.
static double next_row(double a[SIX][SIX], const double scale[SIX], int32_t j, double row[SIX]) {
  double pivot = a[j][j];
  if (!(pivot > TINY * scale[j])) return 0;
  for (int32_t i = 0; i < SIX; i++) row[i] = i < j ? 0 : a[i][j] / pivot;
  for (int32_t i = j; i < SIX; i++)
    for (int32_t k = j; k < SIX; k++) a[i][k] -= pivot * row[i] * row[k];
  return pivot;
}

static void take_implicit(const CniForceSight *sight, const CnForceEffect *f, CniForcePlace *p) {
  double a[SIX][SIX], u[SIX], load[SIX] = {0}, scale[SIX], row[SIX], h = sight->time_step;
  for (int32_t i = 0; i < 3; i++) {
    CnVec3 axis = {i == 0, i == 1, i == 2};
    CniJointRow along = {.linear = axis}, about = {.angular = axis};
    u[i] = cni_joint_rate(&p->rows, &along, &sight->ends[0].twist, &sight->ends[1].twist);
    u[3 + i] = cni_joint_rate(&p->rows, &about, &sight->ends[0].twist, &sight->ends[1].twist);
  }
  for (int32_t i = 0; i < SIX; i++)
    for (int32_t j = 0; j < SIX; j++) load[i] -= h * f->stiffness[i][j] * u[j];
  step_matrix(f, h, a);
  for (int32_t i = 0; i < SIX; i++) scale[i] = a[i][i];
  for (int32_t j = 0; j < SIX; j++) {
    double pivot = next_row(a, scale, j, row), along = 0;
    if (!(pivot > 0)) continue;
    for (int32_t i = 0; i < SIX; i++) along += row[i] * u[i];
    for (int32_t i = 0; i < SIX; i++) load[i] += pivot * along * row[i];
    CniJointRow r = {.linear = {row[0], row[1], row[2]}, .angular = {row[3], row[4], row[5]}};
    r.turns = j >= 3;
    cni_force_row(p, r, 0, pivot);
  }
  p->force = cn_add(p->force, cn_vec3(load[0], load[1], load[2]));
  p->torque = cn_add(p->torque, cn_vec3(load[3], load[4], load[5]));
}

CnForceSight cni_force_shown(const CniForceSight *sight) {
  const CnForceDef *def = sight->def;
  return (CnForceSight){.time = sight->time,
                        .body_a = def->body_a,
                        .body_b = def->body_b,
                        .frame_a = sight->at.at_a,
                        .frame_b = sight->at.at_b,
                        .twist_a = frame_twist(&sight->ends[0], sight->at.arm_a),
                        .twist_b = frame_twist(&sight->ends[1], sight->at.arm_b)};
}

static int all_finite(double table[SIX][SIX]) {
  for (int32_t i = 0; i < SIX * SIX; i++)
    if (!isfinite(table[i / SIX][i % SIX])) return 0;
  return 1;
}

// What of an effect is no number; null: nothing.
static const char *unfit(const CnForceEffect *f) {
  CnForceEffect e = *f;
  if (!cn_vec3_finite(e.force)) return "force";
  if (!cn_vec3_finite(e.torque)) return "torque";
  if (e.stiff && !all_finite(e.stiffness)) return "stiffness";
  return e.stiff && !all_finite(e.damping) ? "damping" : NULL;
}

void cni_force_take_effect(const CniForceSight *sight, const CnForceEffect *effect,
                           CniForcePlace *p) {
  p->unfit = unfit(effect);
  if (p->unfit) return;
  CnVec3 between = cn_sub(sight->at.at_b.position, sight->at.at_a.position);
  if (!sight->ends[0].ground) p->rows.arm_a = cn_add(p->rows.arm_a, between);
  p->force = effect->force;
  p->torque = effect->torque;
  if (effect->stiff && sight->time_step > 0) take_implicit(sight, effect, p);
}

static void place(const CniForceSight *sight, CniForcePlace *p) {
  const CnForceDef *def = sight->def;
  CnForceSight shown = cni_force_shown(sight);
  CnForceEffect effect;
  CniOwnCall call;
  memset(&effect, 0, sizeof effect);
  cni_own_enter(&call, def);
  p->status = def->function(def->context, &shown, &effect);
  cni_own_leave(&call);
  if (p->status == CN_OK) cni_force_take_effect(sight, &effect, p);
}

static const CniField fields[] = {CNI_FIELDS_END};

const CniForceKind cni_force_user = {.name = "user",
                                     .summary = "a function of the program that runs the scene",
                                     .row_count = SIX,
                                     .fields = fields,
                                     .place = place};
