// SPDX-License-Identifier: Apache-2.0
// Joints to blocks of the problem, and back from its answer.
//
// What a joint does is listed by joint/joint_blocks.c. Here its blocks go into the storages: locked
// directions of two points into `pair`, everything else into `rows`, two entries a row. Rows that
// turn are multiplied by a length, the radius of gyration of the two bodies together, so that the
// rows of a block are in one unit and of one size; impulses are kept in their own units.
#include "assembly/assembly_private.h"

#include "core/tasks.h"

#include <string.h>

#define JOINTS_PER_TASK 64

double cni_gyration(const CnProblem *problem, int32_t a, int32_t b) {
  double inv_mass = problem->groups[a].inv_mass + problem->groups[b].inv_mass, turn = 0;
  for (int32_t side = 0; side < 2; side++) {
    int32_t group = side ? b : a;
    if (!(problem->groups[group].inv_mass > 0)) continue;
    CnSym3 j = cni_group_inertia(problem, group);
    turn += (j.xx + j.yy + j.zz) / 3;
  }
  return turn > 0 ? sqrt(inv_mass / turn) : 1;
}

int cni_rows_turn(const CniJointPlace *place) {
  int any = 0;
  for (int32_t i = 0; i < place->locked_count; i++) any |= place->locked[i].turns;
  for (int32_t i = 0; i < place->axis_count; i++) any |= place->axes[i].turns;
  return any;
}

static CniJointTarget target_of(const CniModel *model, const CnJointAxis *axis, double t,
                                double h) {
  double start[3], middle[3], end[3];
  cni_joint_target(model, axis, t, start);
  if (axis->motor_function.slot == 0) return (CniJointTarget){start[0], start[0], start[0], 0};
  cni_joint_target(model, axis, t + 0.5 * h, middle);
  cni_joint_target(model, axis, t + h, end);
  return (CniJointTarget){start[0], middle[0], end[0], end[1]};
}

// What the laws of the coordinates ask for, beyond where they are.
static void look(const CniAssemblyInput *in, const CniJoint *joint, const CniJointPlace *place,
                 CniJointStep *step) {
  const CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
  const CnTwist *a = joint->body_a >= 0 ? &in->twist[joint->body_a] : &rest;
  const CnTwist *b = joint->body_b >= 0 ? &in->twist[joint->body_b] : &rest;
  step->threshold = in->restitution_threshold;
  for (int32_t k = 0; k < place->axis_count; k++) {
    const CnJointAxis *axis = &joint->def.axes[k];
    step->rates[k] = cni_joint_rate(place, &place->axes[k], a, b);
    if (axis->motor_effort > 0)
      step->targets[k] = target_of(in->model, axis, in->time, in->time_step);
  }
  if (!(joint->impulse_step > 0) || place->axis_count == 0) return;
  double scale = in->time_step / joint->impulse_step;
  for (int32_t k = 0; k < place->axis_count; k++)
    for (int32_t p = 0; p < CNI_PART_COUNT; p++) step->later[k][p] = scale * joint->drift[k][p];
  // all that it carried, in the drift as well, but what acted along its coordinates
  CnVec3 sum = joint->total.velocity;
  int32_t gap = cni_joint_kind(joint->def.kind)->gap; // a cam's push is what rubs
  for (int32_t i = 0; i < place->axis_count; i++) {
    if (gap && i == gap) continue;
    sum = cn_madd(sum,
                  -(cni_joint_effort(joint->impulse.axes[i]) + cni_joint_effort(joint->drift[i])),
                  place->axes[i].linear);
  }
  step->reaction = cn_norm(sum) / joint->impulse_step;
}

int32_t cni_joint_blocks_of(const CniAssemblyInput *in, const CniJoint *joint, double h,
                            double late, const CnProblem *problem, const CniJointPlace *place,
                            CniJointBlock *blocks) {
  int32_t a = cni_group_of(problem, joint->body_a), b = cni_group_of(problem, joint->body_b);
  if (cni_joint_is_plain(&joint->def)) {
    double length = cni_rows_turn(place) ? cni_gyration(problem, a, b) : 1;
    return cni_joint_locked_block(&joint->def, place, h, late, length, blocks);
  }
  CniJointStep step = {.time_step = h, .length = 1, .late = late};
  if (in) step.stabilisation = in->stabilisation;
  if (in) look(in, joint, place, &step);
  if (cni_rows_turn(place)) step.length = cni_gyration(problem, a, b);
  return cni_joint_blocks(&joint->def, place, &step, blocks);
}

int32_t cni_joint_list(const CnProblem *problem, const CniJoint *joint, const CniJointPlace *place,
                       double h, CniJointBlock *blocks) {
  return cni_joint_blocks_of(NULL, joint, h, 0, problem, place, blocks);
}

// ---- where joints are ----

static void see_joints(void *context, int32_t begin, int32_t end) {
  const CniAssemblyInput *in = context;
  for (int32_t i = begin; i < end; i++)
    cni_joint_at(&in->model->joints[i], in->pose, &in->places[i]);
}

void cni_see_joints(const CniAssemblyInput *in) {
  if (in->places)
    cni_parallel_for(in->tasks, in->model->joint_count, JOINTS_PER_TASK, see_joints, (void *)in);
}

const CniJointPlace *cni_joint_seen(const CniModel *model, const CniJointPlace *places,
                                    const CniJoint *joint, const CnPose *pose, CniJointPlace *own) {
  if (places) return &places[joint - model->joints];
  cni_joint_at(joint, pose, own);
  return own;
}

void cni_joints_room(const CniAssemblyInput *input, CniProblemRoom *room) {
  for (int32_t i = 0; i < input->model->joint_count; i++) {
    const CnJointDef *def = &input->model->joints[i].def;
    const CniJointKind *kind = cni_joint_kind(def->kind);
    int32_t blocks, rows;
    cni_joint_count(def, &blocks, &rows);
    room->blocks += blocks;
    room->rows += rows;
    room->pairs += kind->point;
    room->row_blocks += blocks - kind->point;
    room->row_entries += 2 * (rows - (kind->point ? kind->locked_count : 0));
    for (int32_t k = 0; k < CN_JOINT_AXES; k++) room->sets += def->axes[k].friction_coefficient > 0;
    for (int32_t k = 0; k < CN_JOINT_AXES; k++)
      room->olds |= def->axes[k].drive == CN_DRIVE_EFFORT; // a load, as forces have
  }
}

static void put_pair(CnProblem *problem, const CniJointPlace *place, int32_t a, int32_t b) {
  CnVec3 normal = place->locked[0].linear, tangent, other;
  if (place->locked_count > 1)
    tangent = place->locked[1].linear;
  else
    cn_tangents(normal, &tangent, &other);
  problem->pairs[problem->pair_count++] = (CniPairBlock){.normal = normal,
                                                         .tangent = tangent,
                                                         .arm_a = place->arm_a,
                                                         .arm_b = place->arm_b,
                                                         .length = 1,
                                                         .group_a = a,
                                                         .group_b = b};
}

static CnTwist coefficient(double s, const CniJointRow *row, CnVec3 arm) {
  return (CnTwist){cn_scale(s, row->linear),
                   cn_scale(s, cn_add(cn_cross(arm, row->linear), row->angular))};
}

static void put_rows(CnProblem *problem, const CniJointPlace *place, const CniJointBlock *block,
                     int32_t a, int32_t b) {
  CnRowEntry *entries = problem->row_entries + problem->row_entry_count;
  problem->row_blocks[problem->row_block_count++] =
      (CniRowsBlock){problem->row_entry_count, 2 * block->dim};
  for (int32_t r = 0; r < block->dim; r++) {
    const CniJointRow *row = cni_joint_block_row(block, r, place);
    entries[2 * r] = (CnRowEntry){r, a, coefficient(-block->scale[r], row, place->arm_a)};
    entries[2 * r + 1] = (CnRowEntry){r, b, coefficient(block->scale[r], row, place->arm_b)};
  }
  problem->row_entry_count += 2 * block->dim;
}

CnStatus cni_write_blocks(const CniJointPlace *place, const CniJointBlock *blocks, int32_t count,
                          int32_t a, int32_t b, int pair_rows, CniJointImpulse *kept, double scale,
                          CnProblem *problem, CniSetTable *sets, double *g) {
  for (int32_t i = 0; i < count; i++) {
    const CniJointBlock *block = &blocks[i];
    int32_t set, row = problem->row_count;
    CNI_TRY(cni_set_table_find(sets, &block->set, &set));
    for (int32_t r = 0; r < block->dim; r++) {
      problem->b[row + r] = block->b[r];
      double part = scale * block->share;
      g[row + r] = scale > 0 ? part * *cni_joint_kept(block, r, kept) / fabs(block->scale[r]) : 0;
    }
    int pair = block->part == CNI_PART_LOCKED && pair_rows;
    if (pair)
      put_pair(problem, place, a, b);
    else
      put_rows(problem, place, block, a, b);
    int32_t index = (pair ? problem->pair_count : problem->row_block_count) - 1;
    cni_append_block(problem, pair ? CNI_PAIR : CNI_ROWS, index, row, set, block->dim);
    problem->row_count += block->dim;
  }
  return CN_OK;
}

void cni_group_push(CnProblem *problem, int32_t group, double h, CnVec3 force, CnVec3 arm,
                    CnVec3 torque) {
  CniGroup *g = &problem->groups[group];
  if (!cni_group_has_mass(g)) return;
  CnVec3 turn = cn_add(cn_cross(arm, force), torque);
  g->v = cn_madd(g->v, h * g->inv_mass, force);
  g->w = cn_madd(g->w, h, cn_smul(cni_group_inertia(problem, group), turn));
}

double cni_drive_effort(const CniModel *model, const CnJointAxis *axis, double t, double h) {
  return axis->drive == CN_DRIVE_EFFORT ? target_of(model, axis, t, h).middle : 0;
}

// Motors that give an effort.
static void push_along(const CniAssemblyInput *in, const CniJoint *joint,
                       const CniJointPlace *place, CnProblem *problem, int32_t a, int32_t b) {
  double h = in->time_step;
  for (int32_t k = 0; k < place->axis_count; k++) {
    double effort = cni_drive_effort(in->model, &joint->def.axes[k], in->time, h);
    if (effort == 0) continue;
    CnVec3 force = cn_scale(effort, place->axes[k].linear);
    CnVec3 torque = cn_scale(effort, place->axes[k].angular);
    cni_group_push(problem, b, h, force, place->arm_b, torque);
    cni_group_push(problem, a, h, cn_neg(force), place->arm_a, cn_neg(torque));
  }
}

static CnStatus write_joint(const CniAssemblyInput *in, const CniJoint *joint, CnProblem *problem,
                            CniSetTable *sets, double *g) {
  CniJointPlace own;
  const CniJointPlace *place = cni_joint_seen(in->model, in->places, joint, in->pose, &own);
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  int32_t a = cni_group_of(problem, joint->body_a), b = cni_group_of(problem, joint->body_b);
  if (!cni_group_has_mass(&problem->groups[a]) && !cni_group_has_mass(&problem->groups[b]))
    return CN_OK;
  int32_t count = cni_joint_blocks_of(in, joint, in->time_step, in->late, problem, place, blocks);
  push_along(in, joint, place, problem, a, b);
  CniJointImpulse kept = joint->impulse;
  double scale = joint->impulse_step > 0 ? in->time_step / joint->impulse_step : 0;
  return cni_write_blocks(place, blocks, count, a, b, cni_joint_kind(joint->def.kind)->point, &kept,
                          scale, problem, sets, g);
}

CnStatus cni_assemble_joints(const CniAssemblyInput *input, CnProblem *problem, CniSetTable *sets,
                             int32_t *first_of, double *g) {
  int32_t count = input->model->joint_count;
  for (int32_t i = 0; i < count; i++) {
    first_of[i] = problem->block_count;
    CNI_TRY(write_joint(input, &input->model->joints[i], problem, sets, g));
  }
  first_of[count] = problem->block_count;
  return CN_OK;
}

// ---- back from the answer ----

void cni_joint_answer(const CniJointBlock *blocks, int32_t count, const CnProblem *problem,
                      int32_t first, const double *g, CniJointImpulse *kept) {
  for (int32_t k = 0; k < count; k++)
    for (int32_t r = 0; r < blocks[k].dim; r++)
      *cni_joint_kept(&blocks[k], r, kept) =
          fabs(blocks[k].scale[r]) / blocks[k].share * g[problem->blocks[first + k].row + r];
}

void cni_joint_keep(const CniModel *model, CniJoint *joint, double time, double time_step,
                    double late, const CnProblem *problem, const double *g, int32_t first_block,
                    const CniJointPlace *places) {
  CniJointPlace own;
  const CniJointPlace *place = cni_joint_seen(model, places, joint, model->pose, &own);
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  joint->impulse = (CniJointImpulse){0};
  memset(joint->drift, 0, sizeof joint->drift);
  joint->total = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  joint->impulse_step = time_step;
  int32_t a = cni_group_of(problem, joint->body_a), b = cni_group_of(problem, joint->body_b);
  if (!cni_group_has_mass(&problem->groups[a]) && !cni_group_has_mass(&problem->groups[b])) return;
  if (cni_joint_is_plain(&joint->def)) {
    if (place->locked_count > 0)
      cni_keep_locked(&joint->def, place, late, problem, a, b, g + problem->blocks[first_block].row,
                      &joint->impulse);
    joint->total = cni_joint_total(place, &joint->impulse);
    return;
  }
  int32_t count = cni_joint_blocks_of(NULL, joint, time_step, late, problem, place, blocks);
  cni_joint_answer(blocks, count, problem, first_block, g, &joint->impulse);
  for (int32_t k = 0; k < place->axis_count; k++)
    joint->impulse.axes[k][CNI_PART_MOTOR] +=
        time_step * cni_drive_effort(model, &joint->def.axes[k], time, time_step);
  joint->total = cni_joint_total(place, &joint->impulse);
}

void cni_joint_put(const CniJoint *joint, const CnPose *pose, const CnProblem *problem,
                   int32_t first_block, int32_t end_block, int32_t row, CniJointPart part,
                   double impulse, double *g) {
  CniJointPlace place;
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  if (first_block == end_block) return;
  cni_joint_at(joint, pose, &place);
  int32_t count = cni_joint_blocks_of(NULL, joint, 1, 0, problem, &place, blocks);
  const CniJointRow *wanted = cni_joint_row(&place, row);
  for (int32_t k = 0; k < count; k++)
    for (int32_t r = 0; r < blocks[k].dim; r++)
      if (cni_joint_block_row(&blocks[k], r, &place) == wanted && blocks[k].part == part)
        g[problem->blocks[first_block + k].row + r] = impulse / fabs(blocks[k].scale[r]);
}
