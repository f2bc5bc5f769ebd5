// SPDX-License-Identifier: Apache-2.0
// Joints in a step that is solved more than once: friction that goes with what the joint carries in it, and
// what of springs follows the drift.
#include "assembly/assembly_private.h"

#include <string.h>

// ---- friction that goes with what the joint carries in this very step ----
//
// The first solve has |g| <= h (c + mu r R) with the R of the last step. What the answer carries gives
// another R and the problem is solved again, from there, until the two agree. Without that R flickers
// from step to step where friction changes the reaction that it goes with, and friction of some other
// size is what remains of it, the worse the shorter the steps are; and a machine's first step has none.
// Where what pushes is itself made by the friction, and more of it than there was, no force slows what slips: the
// machine jams. Such a joint is named, and has in this step only friction that does not go with its reaction.
// How that is told: a bound that is a + b times the one before, b <= 1, is at least a after the first solve, so that
// solve n makes it at most n/(n - 1) times as large, and with halves of changes, after RUBS_PLAIN, 1 + 2/(n + 5) times.
// One that grows by more goes on, if from the first solve on none has fallen; where one has, only leaps count.

#define RUBS 40         // solves at most
#define RUBS_PLAIN 6    // after these half of a change is taken
#define RUBS_EQUAL 1e-5 // relative change of a bound that is none
#define RUBS_GROW 2.    // over n: this part of itself a bound has to grow by in each solve n,
#define RUBS_LEAP 1     // or this, from the second solve on, and
#define RUBS_JAM 1e3    // so many times in a row of such solves: it does so without end

static int rubs(const CnJointDef *def) {
  for (int32_t k = 0; k < cni_joint_coordinate_count(def->kind); k++)
    if (def->axes[k].friction_coefficient > 0) return 1;
  return 0;
}

// N, over the step: locked directions, or the gap of a cam, by an answer; the drift as in the last step.
static double carries(const CniJoint *joint, const CniJointPlace *place, double h,
                      const CniJointImpulse *kick) {
  CniJointImpulse own = {0};
  int32_t gap = cni_joint_kind(joint->def.kind)->gap;
  memcpy(own.locked, kick->locked, sizeof own.locked);
  if (gap) memcpy(own.axes[gap], kick->axes[gap], sizeof own.axes[gap]);
  CnVec3 sum = cni_joint_total(place, &own).velocity;
  if (!(joint->impulse_step > 0)) return cn_norm(sum) / h;
  double scale = h / joint->impulse_step;
  sum = cn_madd(sum, scale, joint->carried);
  for (int32_t i = 0; i < place->axis_count; i++)
    if (!gap || i != gap)
      sum = cn_madd(sum, -scale * cni_joint_effort(joint->drift[i]), place->axes[i].linear);
  return cn_norm(sum) / h;
}

// The set of a block of friction for a reaction; returns its largest impulse.
static double rub_set(const CniJointRub *in, const CniJoint *joint, const CniJointPlace *place,
                      int32_t at, double reaction, const CnProblem *problem, CnSet *set) {
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  int32_t a = cni_group_of(problem, joint->body_a), b = cni_group_of(problem, joint->body_b);
  CniJointStep step = {
      .time_step = in->time_step, .length = 1, .late = in->late, .reaction = reaction};
  if (cni_rows_turn(place)) step.length = cni_gyration(problem, a, b);
  double scale = joint->impulse_step > 0 ? in->time_step / joint->impulse_step : 0;
  for (int32_t k = 0; k < place->axis_count; k++)
    for (int32_t p = 0; p < CNI_PART_COUNT; p++) step.later[k][p] = scale * joint->drift[k][p];
  cni_joint_blocks(&joint->def, place, &step, blocks);
  *set = blocks[at].set;
  return 0.5 * (set->hi - set->lo);
}

static int jams(const CniJointRub *in, int32_t joint) {
  for (int32_t i = 0; i < in->jammed.count && i < CN_REPORT_ROWS; i++)
    if (in->jammed.links[i] == joint) return 1;
  return 0;
}

static void jam(CniJointRub *in, const CniJoint *joint) {
  CniTorn *list = &in->jammed;
  int32_t index = (int32_t)(joint - in->model->joints);
  if (jams(in, index)) return;
  if (list->count < CN_REPORT_ROWS) list->links[list->count] = index;
  list->count++;
}

static CnStatus rub_joint(CniJointRub *in, const CniJoint *joint, const CniJointPlace *place,
                          int32_t first, CnProblem *problem, const double *g, int32_t *again) {
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  CniJointImpulse kick = {0};
  int32_t count = cni_joint_blocks_of(NULL, joint, in->time_step, in->late, problem, place, blocks);
  cni_joint_answer(blocks, count, problem, first, g, &kick);
  double now = carries(joint, place, in->time_step, &kick);
  for (int32_t k = 0; k < count; k++) {
    CniBlock *block = &problem->blocks[first + k];
    if (blocks[k].part != CNI_PART_FRICTION ||
        !(joint->def.axes[blocks[k].axis].friction_coefficient > 0))
      continue;
    CnSet set, old = problem->sets[block->set];
    double was = 0.5 * (old.hi - old.lo);
    double most = rub_set(in, joint, place, k, now, problem, &set);
    if (!(fabs(most - was) > RUBS_EQUAL * cn_max(most, was))) continue;
    double least = in->uneven ? RUBS_LEAP : RUBS_GROW / in->solves;
    double growth = in->solves > 1 && was > 0 && most > (1 + least) * was ? most / was : 0;
    int stuck = in->grown * growth > RUBS_JAM;
    in->uneven |= in->solves > 1 && most < was;
    in->growing = cn_max(in->growing, growth);
    if (stuck) {
      jam(in, joint);
      rub_set(in, joint, place, k, 0, problem, &set);
    }
    if (in->solves > RUBS_PLAIN && !stuck) { // the sets are linear in the reaction
      set.lo = 0.5 * (set.lo + old.lo);
      set.hi = 0.5 * (set.hi + old.hi);
    }
    if ((int32_t)block->set < in->own) {
      CNI_TRY(cni_problem_reserve(problem, &(CniProblemRoom){.sets = 1}));
      block->set = (uint32_t)problem->set_count++ & (CNI_SET_LIMIT - 1);
    }
    problem->sets[block->set] = set;
    *again = 1;
  }
  return CN_OK;
}

CnStatus cni_joints_rub(CniJointRub *in, CnProblem *problem, const double *g, int32_t *again) {
  *again = 0;
  if (in->solves == 0) in->own = problem->set_count;
  if (++in->solves > RUBS) return CN_OK;
  in->growing = 0;
  in->grown = cn_max(in->grown, 1);
  for (int32_t i = 0; i < in->model->joint_count; i++)
    if (rubs(&in->model->joints[i].def) && in->joint_blocks[i] < in->joint_blocks[i + 1] &&
        !jams(in, i))
      CNI_TRY(rub_joint(in, &in->model->joints[i], &in->places[i], in->joint_blocks[i], problem, g,
                        again));
  in->grown *= in->growing;
  in->uneven |= in->jammed.count > 0;
  return CN_OK;
}

// ---- what of springs follows the drift ----

static void add_late(const CnProblem *problem, int32_t index, const double *g, double late,
                     double *momentum) {
  const CniBlock *block = &problem->blocks[index];
  double more[CNI_MAX_DIM];
  for (int32_t r = 0; r < block->dim; r++) more[r] = late / (1 - late) * g[block->row + r];
  cni_storages[block->storage].momentum(problem, block, more, momentum);
}

void cni_late_springs(const CniModel *model, const CnProblem *problem, const int32_t *joint_blocks,
                      const double *g, double late, double *momentum) {
  for (int32_t i = 0; i < joint_blocks[0] - model->coupling_count; i++)
    add_late(problem, i, g, late, momentum);
  for (int32_t i = 0; i < model->joint_count; i++) {
    CniJointPlace place;
    CniJointBlock blocks[CNI_JOINT_BLOCKS];
    if (joint_blocks[i] == joint_blocks[i + 1]) continue;
    cni_joint_at(&model->joints[i], model->pose, &place);
    int32_t count = cni_joint_blocks_of(NULL, &model->joints[i], 1, late, problem, &place, blocks);
    for (int32_t k = 0; k < count; k++)
      if (blocks[k].share < 1) add_late(problem, joint_blocks[i] + k, g, late, momentum);
  }
}
