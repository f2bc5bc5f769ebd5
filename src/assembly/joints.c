// SPDX-License-Identifier: Apache-2.0
// Joints and forces to blocks of the problem, and joints back from its answer.
//
// What a joint does is listed by joint/joint_blocks.c. Here its blocks go into the storages: locked
// directions of two points into `pair`, everything else into `rows`, two entries a row. Rows that
// turn are multiplied by a length, the radius of gyration of the two bodies together, so that the
// rows of a block are in one unit and of one size; impulses are kept in their own units.
#include "assembly/assembly_private.h"

#include "core/error.h"
#include "core/tasks.h"

#include <string.h>

#define JOINTS_PER_TASK 64

// Radius of gyration of two groups that move against each other.
static double gyration(const CnProblem *problem, int32_t a, int32_t b) {
  double inv_mass = problem->groups[a].inv_mass + problem->groups[b].inv_mass, turn = 0;
  for (int32_t side = 0; side < 2; side++) {
    int32_t group = side ? b : a;
    if (!(problem->groups[group].inv_mass > 0)) continue;
    CnSym3 j = cni_group_inertia(problem, group);
    turn += (j.xx + j.yy + j.zz) / 3;
  }
  return turn > 0 ? sqrt(inv_mass / turn) : 1;
}

static int turns(const CniJointPlace *place) {
  int any = 0;
  for (int32_t i = 0; i < place->locked_count; i++) any |= place->locked[i].turns;
  for (int32_t i = 0; i < place->axis_count; i++) any |= place->axes[i].turns;
  return any;
}

// The groups of a joint: the ground is the last.
static int32_t group_of(const CnProblem *problem, int32_t body) {
  return body >= 0 ? body : problem->group_count - 1;
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
  int32_t gap = cni_joint_kinds[joint->def.kind]->gap; // a cam's push is what rubs
  for (int32_t i = 0; i < place->axis_count; i++) {
    if (gap && i == gap) continue;
    sum = cn_madd(sum,
                  -(cni_joint_effort(joint->impulse.axes[i]) + cni_joint_effort(joint->drift[i])),
                  place->axes[i].linear);
  }
  step->reaction = cn_norm(sum) / joint->impulse_step;
}

// in: null where only the rows are asked for, not their right-hand sides.
static int32_t list(const CniAssemblyInput *in, const CniJoint *joint, double h, double late,
                    const CnProblem *problem, const CniJointPlace *place, CniJointBlock *blocks) {
  int32_t a = group_of(problem, joint->body_a), b = group_of(problem, joint->body_b);
  if (cni_joint_is_plain(&joint->def)) {
    double length = turns(place) ? gyration(problem, a, b) : 1;
    return cni_joint_locked_block(&joint->def, place, h, late, length, blocks);
  }
  CniJointStep step = {.time_step = h, .length = 1, .late = late};
  if (in) step.stabilisation = in->stabilisation;
  if (in) look(in, joint, place, &step);
  if (turns(place)) step.length = gyration(problem, a, b);
  return cni_joint_blocks(&joint->def, place, &step, blocks);
}

int32_t cni_joint_list(const CnProblem *problem, const CniJoint *joint, const CniJointPlace *place,
                       double h, CniJointBlock *blocks) {
  return list(NULL, joint, h, 0, problem, place, blocks);
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
    const CniJointKind *kind = cni_joint_kinds[def->kind];
    int32_t blocks, rows;
    cni_joint_count(def, &blocks, &rows);
    room->blocks += blocks;
    room->rows += rows;
    room->pairs += kind->point;
    room->row_blocks += blocks - kind->point;
    room->row_entries += 2 * (rows - (kind->point ? kind->locked_count : 0));
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

// Blocks to the problem, impulses kept times `scale` to g; pair: locked rows are those of a pair.
static CnStatus write_blocks(const CniJointPlace *place, const CniJointBlock *blocks, int32_t count,
                             int32_t a, int32_t b, int pair_rows, CniJointImpulse *kept,
                             double scale, CnProblem *problem, CniSetTable *sets, double *g) {
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

// A force on the free velocity of a group.
static void push(CnProblem *problem, int32_t group, double h, CnVec3 force, CnVec3 arm,
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
    push(problem, b, h, force, place->arm_b, torque);
    push(problem, a, h, cn_neg(force), place->arm_a, cn_neg(torque));
  }
}

static CnStatus write_joint(const CniAssemblyInput *in, const CniJoint *joint, CnProblem *problem,
                            CniSetTable *sets, double *g) {
  CniJointPlace own;
  const CniJointPlace *place = cni_joint_seen(in->model, in->places, joint, in->pose, &own);
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  int32_t a = group_of(problem, joint->body_a), b = group_of(problem, joint->body_b);
  if (!cni_group_has_mass(&problem->groups[a]) && !cni_group_has_mass(&problem->groups[b]))
    return CN_OK;
  int32_t count = list(in, joint, in->time_step, in->late, problem, place, blocks);
  push_along(in, joint, place, problem, a, b);
  CniJointImpulse kept = joint->impulse;
  double scale = joint->impulse_step > 0 ? in->time_step / joint->impulse_step : 0;
  return write_blocks(place, blocks, count, a, b, cni_joint_kinds[joint->def.kind]->point, &kept,
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

// ---- forces ----

void cni_forces_room(const CniAssemblyInput *input, CniProblemRoom *room) {
  const CniModel *model = input->model;
  room->olds |= model->force_count > 0 ||
                input->loads; // loads make free velocities that gravity alone does not
  for (int32_t i = 0; i < model->force_count; i++) {
    int32_t rows = cni_force_kinds[model->forces[i].def.kind]->row_count;
    room->blocks += rows;
    room->rows += rows;
    room->row_blocks += rows;
    room->row_entries += 2 * rows;
  }
}

static CnStatus write_force(const CniAssemblyInput *in, const CniForce *force, CnProblem *problem,
                            CniSetTable *sets, double *g) {
  CniForcePlace place;
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  CniForceAt at;
  CniJointImpulse warm;
  double h = in->time_step;
  cni_force_at(in->model, force, in->time, in->pose, in->twist, &at);
  at.sight.time_step = h;
  CNI_TRY(cni_force_act(force, &at, &place));
  int32_t a = group_of(problem, at.bodies[0]), b = group_of(problem, at.bodies[1]);
  if (!cni_group_has_mass(&problem->groups[a]) && !cni_group_has_mass(&problem->groups[b]))
    return CN_OK;
  push(problem, b, h, place.force, place.rows.arm_b, place.torque);
  push(problem, a, h, cn_neg(place.force), place.rows.arm_a, cn_neg(place.torque));
  // the springs as they are now: the answer where nothing moves. Dampers may be stiff: from zero.
  for (int32_t i = 0; i < place.rows.axis_count; i++)
    warm.axes[i][CNI_PART_SPRING] = -place.law.axes[i].stiffness * place.rows.axes[i].value;
  CniJointStep step = {
      .time_step = h, .length = turns(&place.rows) ? gyration(problem, a, b) : 1, .late = in->late};
  int32_t count = cni_joint_blocks(&place.law, &place.rows, &step, blocks);
  return write_blocks(&place.rows, blocks, count, a, b, 0, &warm, h, problem, sets, g);
}

CnStatus cni_assemble_forces(const CniAssemblyInput *input, CnProblem *problem, CniSetTable *sets,
                             double *g) {
  for (int32_t i = 0; i < input->model->force_count; i++)
    CNI_TRY(write_force(input, &input->model->forces[i], problem, sets, g));
  for (int32_t i = 0; input->loads && i < input->model->body_count; i++)
    push(problem, i, input->time_step, input->loads[i].velocity, CN_VEC3_ZERO,
         input->loads[i].spin);
  return CN_OK;
}

// Efforts along the rows of a force, those of springs and dampers alone.
static CnStatus spring_efforts(const CniModel *model, const CniForce *force, double t,
                               const CnPose *pose, const CnTwist *twist, CniForcePlace *place,
                               CniForceAt *at, double *efforts) {
  cni_force_at(model, force, t, pose, twist, at);
  CNI_TRY(cni_force_act(force, at, place));
  for (int32_t k = 0; k < place->rows.axis_count; k++)
    efforts[k] = cni_joint_spring(&place->law.axes[k], &place->rows, &place->rows.axes[k],
                                  &at->ends[0].twist, &at->ends[1].twist);
  return CN_OK;
}

CnStatus cni_forces_put(const CniModel *model, const CnPose *pose_new, const CnTwist *twist_new,
                        double time, double h, const CnProblem *problem, double *g) {
  for (int32_t i = 0, block = 0; i < model->force_count; i++) {
    const CniForce *force = &model->forces[i];
    double old[CN_JOINT_AXES], now[CN_JOINT_AXES];
    CniForcePlace place, end;
    CniForceAt at;
    CNI_TRY(spring_efforts(model, force, time + h, pose_new, twist_new, &end, &at, now));
    CNI_TRY(spring_efforts(model, force, time, model->pose, model->twist, &place, &at, old));
    int32_t a = group_of(problem, at.bodies[0]), b = group_of(problem, at.bodies[1]);
    if (!cni_group_has_mass(&problem->groups[a]) && !cni_group_has_mass(&problem->groups[b]))
      continue;
    CniJointBlock blocks[CNI_JOINT_BLOCKS];
    CniJointStep step = {.time_step = h,
                         .length = turns(&place.rows) ? gyration(problem, a, b) : 1};
    int32_t count = cni_joint_blocks(&place.law, &place.rows, &step, blocks);
    for (int32_t k = 0; k < count; k++, block++)
      g[problem->blocks[block].row] =
          0.5 * h * (old[blocks[k].axis] + now[blocks[k].axis]) / blocks[k].scale[0];
  }
  return CN_OK;
}

// ---- couplings ----

void cni_couplings_room(const CniAssemblyInput *input, CniProblemRoom *room) {
  const CniModel *model = input->model;
  room->blocks += model->coupling_count;
  room->rows += model->coupling_count;
  room->row_blocks += model->coupling_count;
  for (int32_t i = 0; i < model->coupling_count; i++)
    room->row_entries += 2 * model->couplings[i].def.term_count;
}

// From the relation's unit to m: by the radius of gyration of the first two bodies.
static double coupling_scale(const CnProblem *problem, const CniCouplingPlace *place) {
  int32_t ground = problem->group_count - 1;
  int32_t other = place->body_count > 1 ? place->bodies[1] : ground;
  return place->turns ? gyration(problem, place->bodies[0], other) : 1;
}

CnStatus cni_assemble_couplings(const CniAssemblyInput *in, CnProblem *problem, CniSetTable *sets,
                                double *g) {
  const CnSet sets_of[2] = {cn_set_default(CN_BLOCK_BILATERAL),
                            cn_set_default(CN_BLOCK_UNILATERAL)};
  for (int32_t i = 0; i < in->model->coupling_count; i++) {
    const CniCoupling *c = &in->model->couplings[i];
    CniCouplingPlace place;
    int32_t set, row = problem->row_count, first = problem->row_entry_count;
    cni_coupling_at(in->model, c, in->pose, &place);
    CNI_TRY(cni_set_table_find(sets, &sets_of[c->def.one_sided], &set));
    double scale = coupling_scale(problem, &place);
    problem->b[row] = c->def.one_sided ? scale * cn_max(place.value, 0) / in->time_step : 0;
    g[row] = c->impulse_step > 0 ? in->time_step / c->impulse_step * c->impulse / scale : 0;
    for (int32_t k = 0; k < place.body_count; k++) {
      CnTwist r = place.rows[k];
      problem->row_entries[first + k] =
          (CnRowEntry){0, place.bodies[k], {cn_scale(scale, r.velocity), cn_scale(scale, r.spin)}};
    }
    problem->row_blocks[problem->row_block_count++] = (CniRowsBlock){first, place.body_count};
    problem->row_entry_count += place.body_count;
    cni_append_block(problem, CNI_ROWS, problem->row_block_count - 1, row, set, 1);
    problem->row_count++;
  }
  return CN_OK;
}

void cni_couplings_keep(CniModel *model, double time_step, const CnProblem *problem,
                        const double *g, int32_t end_block) {
  for (int32_t i = 0; i < model->coupling_count; i++) {
    CniCoupling *c = &model->couplings[i];
    CniCouplingPlace place;
    cni_coupling_at(model, c, model->pose, &place);
    int32_t block = end_block - model->coupling_count + i;
    c->impulse = coupling_scale(problem, &place) * g[problem->blocks[block].row];
    c->drift = 0;
    c->impulse_step = time_step;
  }
}

void cni_coupling_put(const CniModel *model, int32_t coupling, const CnProblem *problem,
                      int32_t end_block, double impulse, double *g) {
  CniCouplingPlace place;
  cni_coupling_at(model, &model->couplings[coupling], model->pose, &place);
  int32_t block = end_block - model->coupling_count + coupling;
  g[problem->blocks[block].row] = impulse / coupling_scale(problem, &place);
}

// ---- what holds in the drift ----

int32_t cni_joint_hold_count(const CnJointDef *def) {
  int32_t count = 0;
  for (int32_t k = 0; k < cni_joint_coordinate_count(def->kind); k++)
    count += cni_joint_may_hold(&def->axes[k]);
  return count;
}

// What is bounded holds where the kick has not reached its bounds, and gives what is left of its
// effort where it has.
static void bounded_hold(double g, double scale, const CnSet *set, CniHold *hold) {
  double lo = scale * set->lo, hi = scale * set->hi, most = 0.5 * (hi - lo), rim = 1e-9 * most;
  hold->lo = -most - g;
  hold->hi = most - g;
  if (g <= lo + rim)
    hold->impulse = hold->lo;
  else if (g >= hi - rim)
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
  if (set->kind == CN_BLOCK_INTERVAL) bounded_hold(g, scale, set, hold);
  if (block->part == CNI_PART_FRICTION) return hold->active ? 4 : 2 * (hold->impulse != 0);
  if (block->part == CNI_PART_MOTOR) {
    double rate = -*cni_block_b_n(p, &p->blocks[index]) / scale;
    if (row->turns && axis->drive != CN_DRIVE_POSITION)
      hold->rate = rate;
    else
      hold->target += in->time_step * rate;
    return hold->active ? 6 : 3 * (hold->impulse != 0);
  }
  if (block->part != CNI_PART_LOWER && block->part != CNI_PART_UPPER) return 0;
  const CnTwist rest = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  const CnTwist *a = joint->body_a >= 0 ? &in->twist[joint->body_a] : &rest;
  const CnTwist *b = joint->body_b >= 0 ? &in->twist[joint->body_b] : &rest;
  return limit_hold(in, axis, row->value, cni_joint_rate(place, row, a, b), g, hold);
}

int32_t cni_joint_holds(const CniDriftInput *in, int32_t i, const CniJointPlace *place,
                        CniHold *holds) {
  const CniJoint *joint = &in->model->joints[i];
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  int32_t count = 0;
  if (cni_joint_hold_count(&joint->def) == 0) return 0;
  int32_t block_count = list(NULL, joint, in->time_step, 0, in->problem, place, blocks);
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

CniHold cni_coupling_hold(const CniDriftInput *in, int32_t i, double value) {
  const CniModel *model = in->model;
  const CnProblem *p = in->problem;
  int32_t block = in->joint_blocks[0] - model->coupling_count + i;
  CniHold hold = {.active = 1, .target = value, .passed = value, .lo = -INFINITY, .hi = INFINITY};
  if (!model->couplings[i].def.one_sided) return hold;
  CniCouplingPlace place;
  cni_coupling_at(model, &model->couplings[i], in->pose, &place);
  double g = coupling_scale(p, &place) * in->g[p->blocks[block].row];
  hold.side = 1;
  hold.active = g > 0;
  hold.lo = -g;
  if (value >= 0) hold.target = hold.passed = 0;
  return hold;
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
    int32_t count = list(NULL, &model->joints[i], 1, late, problem, &place, blocks);
    for (int32_t k = 0; k < count; k++)
      if (blocks[k].share < 1) add_late(problem, joint_blocks[i] + k, g, late, momentum);
  }
}

// ---- back from the answer ----

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
  if (!cni_group_has_mass(&problem->groups[group_of(problem, joint->body_a)]) &&
      !cni_group_has_mass(&problem->groups[group_of(problem, joint->body_b)]))
    return;
  int32_t count = list(NULL, joint, time_step, late, problem, place, blocks);
  for (int32_t k = 0; k < count; k++)
    for (int32_t r = 0; r < blocks[k].dim; r++)
      *cni_joint_kept(&blocks[k], r, &joint->impulse) =
          fabs(blocks[k].scale[r]) / blocks[k].share * g[problem->blocks[first_block + k].row + r];
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
  int32_t count = list(NULL, joint, 1, 0, problem, &place, blocks);
  const CniJointRow *wanted = cni_joint_row(&place, row);
  for (int32_t k = 0; k < count; k++)
    for (int32_t r = 0; r < blocks[k].dim; r++)
      if (cni_joint_block_row(&blocks[k], r, &place) == wanted && blocks[k].part == part)
        g[problem->blocks[first_block + k].row + r] = impulse / fabs(blocks[k].scale[r]);
}
