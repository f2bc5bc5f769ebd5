// SPDX-License-Identifier: Apache-2.0
// What of a joint's limits, motors and friction holds its coordinates in the drift, by what the kick has
// made of them.
//
// Armatures: a rotor that a coordinate x drives resists what changes its rate while bodies turn about each
// other, as it does in the kick.
//
//     l = -A (x'1 - x'0)   or   h/2 (x'1 - x'0) + h/(2 A) l = 0
//
// a row with the compliance 1/A next to those of the joints, whose rates come from the twists at both
// ends. Its work l (x'0 + x'1)/2 is what the rotor loses of A x'^2/2. A link of its own for every joint that
// has armatures: what else holds the coordinate does so besides.
#include "assembly/drift_private.h"

int32_t cni_joint_hold_count(const CnJointDef *def) {
  int32_t count = 0;
  for (int32_t k = 0; k < cni_joint_coordinate_count(def->kind); k++)
    count += cni_joint_may_hold(&def->axes[k]);
  return count;
}

// What is bounded holds where the kick has not reached its bounds, and gives what is left of its
// effort where it has. Which of the two: by g - u/N, N what g does to its own u. It is g where the kick
// has found u = 0, and beyond the bound where that slides, even if a solver's tolerance has left g a
// little short of it: a coordinate that slides, and were held, would ask for any impulse.
static void bounded_hold(double g, double slides, double scale, const CnSet *set, CniHold *hold) {
  double lo = scale * set->lo, hi = scale * set->hi, most = 0.5 * (hi - lo), rim = 1e-9 * most;
  hold->lo = -most - g;
  hold->hi = most - g;
  if (g - slides <= lo + rim)
    hold->impulse = hold->lo;
  else if (g - slides >= hi - rim)
    hold->impulse = hold->hi;
  else
    return;
  if (fabs(hold->impulse) <= 2 * rim) hold->impulse = 0;
  hold->active = 0;
}

// A limit that is not about to bounce: it holds if it carries, and is watched if not.
static int limit_hold(const CniDriftInput *in, const CnJointAxis *axis, double x, double rate,
                      double g, CniHold *hold) {
  int is_lower = hold->part == CNI_PART_LOWER;
  double sign = is_lower ? 1 : -1, bound = is_lower ? axis->lower : axis->upper;
  if (axis->restitution > 0 && (sign * rate > 0 || sign * rate < -in->threshold)) return 0;
  double gap = sign * (x - bound);
  hold->side = is_lower ? 1 : -1;
  hold->target = gap >= 0 ? bound : x;
  hold->near = x + in->time_step * rate; // the bound may be turns away
  hold->passed = gap >= 0 ? 0 : x - bound;
  hold->active = g > 0;
  hold->lo = is_lower ? -g : -INFINITY;
  hold->hi = is_lower ? INFINITY : g;
  return hold->active ? 5 : 1;
}

// What a block of a coordinate holds; returns how much it comes before others, 0: it does not.
static int hold_of(const CniDriftInput *in, const CniJoint *joint, const CniJointPlace *place,
                   const CniJointBlock *block, int32_t index, CniHold *hold) {
  const CnProblem *p = in->problem;
  const CnSet *set = &p->sets[p->blocks[index].set];
  const CnJointAxis *axis = &joint->def.axes[block->axis];
  const CniJointRow *row = &place->axes[block->axis];
  double scale = fabs(block->scale[0]), g = scale * in->g[p->blocks[index].row];
  *hold = (CniHold){.axis = block->axis, .part = block->part, .active = 1, .target = row->value};
  if (set->compliance[0] > 0) return 0;
  hold->lo = -INFINITY;
  hold->hi = INFINITY;
  const CnTwist rest = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  const CnTwist *a = joint->body_a >= 0 ? &in->twist[joint->body_a] : &rest;
  const CnTwist *b = joint->body_b >= 0 ? &in->twist[joint->body_b] : &rest;
  double rate = cni_joint_rate(place, row, a, b), own[CNI_MAX_DIM * CNI_MAX_DIM];
  if (set->kind == CN_BLOCK_INTERVAL) {
    cni_storages[p->blocks[index].storage].diagonal(p, &p->blocks[index], own);
    double u = scale * rate + *cni_block_b_n(p, &p->blocks[index]);
    double spent = in->g[p->blocks[index].row] - in->last[p->blocks[index].row];
    CnSet whole = {.lo = set->lo + spent, .hi = set->hi + spent};
    bounded_hold(g, own[0] > 0 ? scale * u / own[0] : 0, scale, &whole, hold);
  }
  if (block->part == CNI_PART_FRICTION) return hold->active ? 4 : 2 * (hold->impulse != 0);
  if (block->part == CNI_PART_MOTOR) {
    double wanted = -*cni_block_b_n(p, &p->blocks[index]) / scale;
    if (row->turns && axis->drive != CN_DRIVE_POSITION)
      hold->rate = wanted;
    else
      hold->target += in->time_step * wanted;
    return hold->active ? 6 : 3 * (hold->impulse != 0);
  }
  if (block->part != CNI_PART_LOWER && block->part != CNI_PART_UPPER) return 0;
  return limit_hold(in, axis, row->value, rate, g, hold);
}

int32_t cni_joint_holds(const CniDriftInput *in, int32_t i, const CniJointPlace *place,
                        CniHold *holds) {
  const CniJoint *joint = &in->model->joints[i];
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  int32_t count = 0;
  if (cni_joint_hold_count(&joint->def) == 0) return 0;
  int32_t block_count = cni_joint_list(in->problem, joint, place, in->time_step, blocks);
  for (int32_t axis = 0; axis < place->axis_count; axis++) {
    if (!cni_joint_may_hold(&joint->def.axes[axis])) continue;
    int best = 0;
    holds[count] =
        (CniHold){.axis = axis, .part = CNI_PART_MOTOR, .target = place->axes[axis].value};
    for (int32_t k = 0; k < block_count; k++) {
      CniHold hold;
      if (blocks[k].part == CNI_PART_LOCKED || blocks[k].axis != axis) continue;
      int rank = hold_of(in, joint, place, &blocks[k], in->joint_blocks[i] + k, &hold);
      // of two limits that are watched the nearer one
      int nearer = rank == 1 && best == 1 &&
                   fabs(hold.target - place->axes[axis].value) <
                       fabs(holds[count].target - place->axes[axis].value);
      if (rank <= best && !nearer) continue;
      best = rank;
      holds[count] = hold;
    }
    count++;
  }
  return count;
}

// ---- armatures ----

static int has_mass(const CniModel *model, int32_t body) {
  return body >= 0 && cni_has_mass(&model->mass[body]);
}

int32_t cni_drift_rotor_count(const CniModel *model, const CniJoint *joint) {
  int32_t count = 0;
  if (!has_mass(model, joint->body_a) && !has_mass(model, joint->body_b)) return 0;
  for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++)
    count += joint->def.axes[k].armature > 0;
  return count;
}

// Bodies without mass go on as they are.
static double rate_of(const CniDrift *d, const CniJoint *joint, const CniJointPlace *place,
                      int32_t axis, const CnTwist *twist) {
  const CniDriftInput *in = d->in;
  const CnTwist rest = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  int32_t a = joint->body_a, b = joint->body_b;
  const CnTwist *of_a = has_mass(in->model, a) ? &twist[a] : a >= 0 ? &in->twist[a] : &rest;
  const CnTwist *of_b = has_mass(in->model, b) ? &twist[b] : b >= 0 ? &in->twist[b] : &rest;
  return cni_joint_rate(place, &place->axes[axis], of_a, of_b);
}

int32_t cni_drift_rotors(const CniDrift *d, const CniJoint *joint, const CniJointPlace *place,
                         CniHold *holds) {
  int32_t count = 0;
  for (int32_t k = 0; k < place->axis_count; k++) {
    double armature = joint->def.axes[k].armature;
    if (!(armature > 0)) continue;
    holds[count++] =
        (CniHold){.axis = k,
                  .part = CNI_PART_ARMATURE,
                  .active = 1,
                  .target = d->in->time_step / 2 * rate_of(d, joint, place, k, d->in->twist),
                  .lo = -INFINITY,
                  .hi = INFINITY,
                  .compliance = 1 / armature};
  }
  return count;
}

double cni_drift_rotor_way(const CniDrift *d, const CniDriftLink *link, const CniJointPlace *place,
                           int32_t r) {
  const CniHold *hold = &d->holds[link->row + r];
  const CniJoint *joint = &d->in->model->joints[link->joint];
  double half = d->in->time_step / 2;
  if (d->closing) return d->target[link->row + r];
  return half * (rate_of(d, joint, place, hold->axis, d->in->end) +
                 hold->compliance * d->impulse[link->row + r]);
}
