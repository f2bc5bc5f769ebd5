// SPDX-License-Identifier: Apache-2.0
// The machine that the joints of a world make: its degrees of freedom, rows that depend on others,
// and assembling it.
//
// Locked directions of rigid joints and couplings are rows c(q) = 0 with the derivative E; the direct factor of
// S = E M^-1 E^T tells which of them depend on others at the present position. Assembling is
// Newton's method with the masses as weights: bodies move by M^-1 E^T x with S x = -c, the least
// motion in the kinetic norm that closes all joints to first order; steps that do not bring the
// joints nearer are halved. Heavy bodies move little, bodies that are not dynamic not at all.
#include "core/error.h"
#include "core/floats.h"
#include "core/memory.h"
#include "sparse/sparse.h"
#include "world/world.h"

#include <string.h>

#define STEPS_MOST 60
#define HALVINGS_MOST 20
#define STEP_MOST 0.5 // rad: a body turns by no more in a step

typedef struct Machine {
  const CniModel *model; // seen
  CniModel seen;         // the world's, with joints of its own: their whole turns follow
  CniArena arena;
  CniDirect *direct;
  CniDirectSystem system;
  CniDirectBody *bodies; // of the model
  CniDirectBlock *blocks;
  CniDirectSide *sides;
  CnTwist *e;
  double *c, *x;        // by rows
  int32_t *owner;       // per block: a joint, or joint_count and more: a coupling
  CnPose *pose, *trial; // of the model's bodies
  CnTwist *step;        // per body
} Machine;

static int moves(const CniModel *model, int32_t body) {
  return body >= 0 && cni_has_mass(&model->mass[body]);
}

static int is_rigid(const CniModel *model, const CniJoint *joint) {
  return !(joint->def.stiffness > 0 || joint->def.damping > 0) &&
         (moves(model, joint->body_a) || moves(model, joint->body_b));
}

// A coupling that holds both ways and something that moves.
static int holds(const CniModel *model, const CniCoupling *coupling, const CnPose *pose,
                 CniCouplingPlace *place) {
  int any = 0;
  if (coupling->def.one_sided) return 0;
  cni_coupling_at(model, coupling, pose, place);
  for (int32_t k = 0; k < place->body_count; k++) any |= moves(model, place->bodies[k]);
  return any;
}

static CnStatus reserve(Machine *m) {
  int64_t joints = m->model->joint_count, bodies = m->model->body_count;
  int64_t couplings = m->model->coupling_count, sides = 2 * CN_COUPLING_TERMS * couplings;
  CniArena *arena = &m->arena;
  CNI_TRY(cni_arena_array(arena, bodies, sizeof *m->bodies, &m->bodies));
  CNI_TRY(cni_arena_array(arena, joints + couplings, sizeof *m->blocks, &m->blocks));
  CNI_TRY(cni_arena_array(arena, 2 * joints + sides, sizeof *m->sides, &m->sides));
  CNI_TRY(cni_arena_array(arena, 2 * CNI_JOINT_LOCKED * joints + sides, sizeof *m->e, &m->e));
  CNI_TRY(CNI_ARRAYS(arena, CNI_JOINT_LOCKED * joints + couplings, double, &m->c, &m->x));
  CNI_TRY(cni_arena_array(arena, joints + couplings, sizeof *m->owner, &m->owner));
  CNI_TRY(CNI_ARRAYS(arena, bodies, CnPose, &m->pose, &m->trial));
  CNI_TRY(cni_arena_array(arena, bodies, sizeof *m->step, &m->step));
  if (bodies > 0) memcpy(m->pose, m->model->pose, (size_t)bodies * sizeof *m->pose);
  const CniJoint *given = m->seen.joints;
  CNI_TRY(cni_arena_array(arena, joints, sizeof *m->seen.joints, &m->seen.joints));
  if (joints > 0) memcpy(m->seen.joints, given, (size_t)joints * sizeof *given);
  return CN_OK;
}

static CnStatus begin(const CniModel *model, const CnAllocator *allocator, Machine *m) {
  *m = (Machine){.model = &m->seen, .seen = *model};
  cni_arena_init(&m->arena, allocator);
  CNI_TRY(cni_direct_create(allocator, &m->direct));
  return reserve(m);
}

static void end(Machine *m) {
  cni_direct_destroy(m->direct);
  cni_arena_release(&m->arena);
}

static void add_side(Machine *m, CniDirectBlock *block, int32_t body, const CniJointPlace *place,
                     CnVec3 arm, double sign, int32_t *at) {
  if (!moves(m->model, body)) return;
  m->sides[m->system.side_count++] = (CniDirectSide){body, *at};
  block->side_count++;
  for (int32_t r = 0; r < block->dim; r++) {
    const CniJointRow *row = &place->locked[r];
    m->e[*at + r].velocity = cn_scale(sign, row->linear);
    m->e[*at + r].spin = cn_scale(sign, cn_add(cn_cross(arm, row->linear), row->angular));
  }
  *at += block->dim;
}

static void add_block(Machine *m, CniDirectBlock block, int32_t owner) {
  m->owner[m->system.block_count] = owner;
  m->blocks[m->system.block_count++] = block;
  m->system.row_count += block.dim;
}

static void place_coupling(Machine *m, int32_t i, int32_t *at) {
  CniCouplingPlace place;
  CniDirectSystem *s = &m->system;
  if (!holds(m->model, &m->model->couplings[i], m->pose, &place)) return;
  CniDirectBlock block = {s->row_count, 1, s->side_count, 0};
  for (int32_t k = 0; k < place.body_count; k++) {
    if (!moves(m->model, place.bodies[k])) continue;
    m->sides[s->side_count++] = (CniDirectSide){place.bodies[k], *at};
    block.side_count++;
    m->e[(*at)++] = place.rows[k];
  }
  m->c[block.row] = -place.value;
  add_block(m, block, m->model->joint_count + i);
}

// Rows of all rigid joints and couplings with the bodies at m->pose.
static void place_rows(Machine *m) {
  const CniModel *model = m->model;
  CniDirectSystem *s = &m->system;
  int32_t at = 0;
  *s = (CniDirectSystem){.bodies = m->bodies,
                         .blocks = m->blocks,
                         .sides = m->sides,
                         .e = m->e,
                         .body_count = model->body_count};
  for (int32_t i = 0; i < model->body_count; i++)
    m->bodies[i] = (CniDirectBody){cni_inv_mass(&model->mass[i]),
                                   cni_model_inv_inertia(model, i, m->pose[i].rotation)};
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    CniJointPlace place;
    if (!is_rigid(model, joint)) continue;
    cni_joint_at(joint, m->pose, &place);
    if (place.locked_count == 0) continue;
    CniDirectBlock block = {s->row_count, place.locked_count, s->side_count, 0};
    add_side(m, &block, joint->body_a, &place, place.arm_a, -1, &at);
    add_side(m, &block, joint->body_b, &place, place.arm_b, 1, &at);
    for (int32_t r = 0; r < block.dim; r++) m->c[block.row + r] = -place.locked[r].value;
    add_block(m, block, i);
  }
  for (int32_t i = 0; i < model->coupling_count; i++) place_coupling(m, i, &at);
}

static CnStatus factor(Machine *m) {
  place_rows(m);
  CNI_TRY(cni_direct_shape(m->direct, &m->system));
  if (!cni_direct_fits(m->direct))
    return cni_error(CN_UNSUPPORTED, "%d joints form a lattice too dense to be factored",
                     (int)m->model->joint_count);
  cni_direct_factor(m->direct, &m->system, NULL);
  return CN_OK;
}

// How far a joint or a coupling is open.
static void errors_of(const Machine *m, const CnPose *pose, int32_t owner, double *error,
                      double *turn_error) {
  const CniModel *model = m->model;
  *error = *turn_error = 0;
  if (owner < model->joint_count) {
    CniJointPlace place;
    if (!is_rigid(model, &model->joints[owner])) return;
    cni_joint_at(&model->joints[owner], pose, &place);
    cni_joint_errors(&place, error, turn_error);
  } else {
    CniCouplingPlace place;
    if (!holds(model, &model->couplings[owner - model->joint_count], pose, &place)) return;
    *(place.turns ? turn_error : error) = fabs(place.value);
  }
}

// The joint or coupling that is farthest open, m and rad alike; -1: none.
static double worst_error(const Machine *m, const CnPose *pose, int32_t *worst, double *error,
                          double *turn_error) {
  double most = 0;
  *worst = -1;
  *error = *turn_error = 0;
  for (int32_t i = 0; i < m->model->joint_count + m->model->coupling_count; i++) {
    double move, turn;
    errors_of(m, pose, i, &move, &turn);
    if (!(cn_max(move, turn) > most)) continue;
    most = cn_max(move, turn);
    *worst = i;
    *error = move;
    *turn_error = turn;
  }
  return most;
}

// A row of a joint; of a coupling there is no joint, and the row is the coupling's slot.
static CnDependentRow row_of(const CniModel *model, int32_t owner, int32_t row) {
  if (owner < model->joint_count) return (CnDependentRow){cni_joint_id(model, owner), row};
  const CniCoupling *c = &model->couplings[owner - model->joint_count];
  return (CnDependentRow){{0, 0}, (int32_t)c->slot};
}

static void report(Machine *m, CnMechanism *to, CnDependentRow *rows, int32_t capacity) {
  const CniModel *model = m->model;
  int32_t worst, dynamic = 0, dependent = cni_direct_dependent(m->direct, NULL, 0), listed = 0;
  *to = (CnMechanism){.locked_count = m->system.row_count, .dependent_count = dependent};
  for (int32_t i = 0; i < model->body_count; i++) dynamic += moves(model, i);
  to->freedoms = 6 * dynamic - (to->locked_count - dependent);
  worst_error(m, m->pose, &worst, &to->error, &to->turn_error);
  if (worst >= 0) to->worst = row_of(model, worst, 0).joint;
  int32_t *list = (int32_t *)(void *)m->x; // rows are fewer than the bytes of x
  cni_direct_dependent(m->direct, list, dependent);
  for (int32_t b = 0, k = 0; b < m->system.block_count; b++)
    for (; k < dependent && list[k] < m->blocks[b].row + m->blocks[b].dim; k++)
      if (rows && listed < capacity)
        rows[listed++] = row_of(model, m->owner[b], list[k] - m->blocks[b].row);
}

CnStatus cn_world_mechanism(CnWorld *world, CnMechanism *mechanism, CnDependentRow *rows,
                            int32_t capacity) {
  CNI_FLOATS;
  if (!mechanism) return cni_null_argument("cn_world_mechanism", "the result pointer");
  *mechanism = (CnMechanism){0};
  CNI_TRY(cni_world_open(world, "cn_world_mechanism"));
  Machine m;
  CnStatus status = begin(&world->now.model, &world->allocator, &m);
  if (status == CN_OK) status = factor(&m);
  if (status == CN_OK) report(&m, mechanism, rows, capacity);
  end(&m);
  return status;
}

// ---- assembling ----

static void find_step(Machine *m) {
  for (int32_t i = 0; i < m->model->body_count; i++)
    m->step[i] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  cni_direct_refine(m->direct, m->c, m->x, 1, NULL);
  for (int32_t b = 0; b < m->system.block_count; b++) {
    const CniDirectBlock *block = &m->blocks[b];
    for (int32_t k = block->side; k < block->side + block->side_count; k++) {
      CnTwist *step = &m->step[m->sides[k].body];
      const CniDirectBody *body = &m->bodies[m->sides[k].body];
      for (int32_t r = 0; r < block->dim; r++) {
        const CnTwist *e = &m->system.e[m->sides[k].at + r];
        double x = m->x[block->row + r];
        step->velocity = cn_madd(step->velocity, x * body->inv_mass, e->velocity);
        step->spin = cn_madd(step->spin, x, cn_smul(body->inv_inertia, e->spin));
      }
    }
  }
}

static void move(Machine *m, double share) {
  for (int32_t i = 0; i < m->model->body_count; i++) {
    m->trial[i] = m->pose[i];
    if (!moves(m->model, i)) continue;
    m->trial[i].position = cn_madd(m->pose[i].position, share, m->step[i].velocity);
    CnQuat turn = cni_quat_exp(cn_scale(share, m->step[i].spin));
    m->trial[i].rotation = cn_qunit(cn_qmul(turn, m->pose[i].rotation));
  }
}

// Steps until no joint is open by more than the tolerance, or none helps. *open: what is left.
static CnStatus close_joints(Machine *m, double tolerance, int32_t *worst, double *open) {
  double error, turn_error;
  *open = worst_error(m, m->pose, worst, &error, &turn_error);
  for (int32_t n = 0; n<STEPS_MOST && * open> tolerance; n++) {
    CNI_TRY(factor(m));
    find_step(m);
    double share = 1, next = INFINITY, most = 0;
    for (int32_t i = 0; i < m->model->body_count; i++)
      most = cn_max(most, cn_norm(m->step[i].spin));
    if (most > STEP_MOST) share = STEP_MOST / most;
    for (int32_t k = 0; k < HALVINGS_MOST; k++, share /= 2) {
      int32_t at;
      move(m, share);
      next = worst_error(m, m->trial, &at, &error, &turn_error);
      if (next < *open) break;
    }
    if (!(next < *open)) return CN_OK;
    CnPose *pose = m->pose;
    m->pose = m->trial;
    m->trial = pose;
    m->seen.pose = m->pose;
    if (m->seen.coupling_count > 0) cni_turns_follow(&m->seen, 0, NULL); // gears count whole turns
    *open = worst_error(m, m->pose, worst, &error, &turn_error);
  }
  return CN_OK;
}

static CnStatus refuse(const Machine *m, int32_t worst) {
  double error, turn_error;
  int32_t joints = m->model->joint_count, i = worst < joints ? worst : worst - joints;
  const char *name = worst < joints ? m->model->joints[i].name : m->model->couplings[i].name;
  errors_of(m, m->pose, worst, &error, &turn_error);
  return cni_bad_data("cannot be assembled: %s %d%s%s%s stays open by %.3g m and %.3g rad",
                      worst < joints ? "joint" : "coupling", (int)i, name[0] ? " \"" : "", name,
                      name[0] ? "\"" : "", error, turn_error);
}

static CnStatus assemble(CniModel *model, Machine *m, double tolerance) {
  int32_t worst;
  double open;
  CNI_TRY(close_joints(m, tolerance, &worst, &open));
  if (open > tolerance) return refuse(m, worst);
  CNI_TRY(factor(m));
  if (model->body_count > 0)
    memcpy(model->pose, m->pose, (size_t)model->body_count * sizeof *model->pose);
  for (int32_t i = 0; i < model->joint_count; i++)
    memcpy(model->joints[i].near, m->seen.joints[i].near, sizeof model->joints[i].near);
  cni_turns_follow(model, 0, NULL);
  return CN_OK;
}

CnStatus cni_world_assemble(CnWorld *world, double tolerance, CnMechanism *mechanism) {
  Machine m;
  CnStatus status = begin(&world->now.model, &world->allocator, &m);
  if (status == CN_OK) status = assemble(&world->now.model, &m, tolerance);
  if (status == CN_OK && mechanism) report(&m, mechanism, NULL, 0);
  end(&m);
  return status;
}

CnStatus cn_world_assemble(CnWorld *world, double tolerance, CnMechanism *mechanism) {
  CNI_FLOATS;
  if (mechanism) *mechanism = (CnMechanism){0};
  CNI_TRY(cni_world_open(world, "cn_world_assemble"));
  if (!(tolerance > 0))
    return cni_invalid("cn_world_assemble: tolerance must be positive (got %g)", tolerance);
  return cni_world_assemble(world, tolerance, mechanism);
}
