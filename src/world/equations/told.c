// SPDX-License-Identifier: Apache-2.0
// What a world tells of a step made by equations of motion: at which points contacts carry, and the impulses
// of contacts, joints and limits as an answer to the step problem: for the balance those over the step; for
// the caches, from where users have forces, with hem5 and rkf45 the forces at the end of the step, unless
// bodies hit each other within it. Points, normals and the directions of such forces are those of the end.
#include "world/equations/equations.h"

#include "core/error.h"
#include "core/sort.h"

double cni_touch_size(const CniModel *model, const CniWorldTouch *touch) {
  return cn_min(cni_model_inradius(&model->shapes[touch->shape_a]),
                cni_model_inradius(&model->shapes[touch->shape_b]));
}

int32_t cni_nearest_contact(const CniContact *c, int32_t begin, int32_t end, CnVec3 point) {
  int32_t best = begin;
  for (int32_t i = begin + 1; i < end; i++)
    if (cn_norm2(cn_sub(c[i].point, point)) < cn_norm2(cn_sub(c[best].point, point))) best = i;
  return best;
}

// ---- where forces are told ----

#define PLACE 1e-6 // of the smaller inradius: places that are one
#define SHUT 1e-4  // likewise: gaps that are closed

static int has_features(const CniModel *model, const CnPose *pose, const CniWorldTouch *touch) {
  CniPlaced a = cni_model_placed(model, touch->shape_a, &pose[touch->body_a]);
  CniPlaced b = cni_model_placed(model, touch->shape_b, &pose[touch->body_b]);
  return cni_gap_source(&a, &b) == CNI_GAP_BY_FEATURES;
}

static CnVec3 end_velocity(CnTwist twist, CnVec3 arm) {
  return cn_add(twist.velocity, cn_cross(twist.spin, arm));
}

// A touch as a contact; returns whether it is closed, or may close within the step.
static int contact_at(const CnWorld *world, const CnPose *pose, const CnTwist *twist,
                      const CniWorldTouch *touch, CniContact *c) {
  const CniModel *model = &world->now.model;
  CniTouchFrame f = cni_touch_frame(model, pose, touch);
  CnVec3 end = cn_add(pose[touch->body_b].position, f.arm_b);
  c->feature = touch->feature;
  c->normal = c->shape_a == touch->shape_a ? f.axis[0] : cn_neg(f.axis[0]);
  c->point = cn_madd(end, -0.5 * f.gap, f.axis[0]);
  c->gap = f.gap;
  CnVec3 u = cn_sub(end_velocity(twist[touch->body_b], f.arm_b),
                    end_velocity(twist[touch->body_a], f.arm_a));
  double way = cn_max(0, -2 * world->work.time_step * cn_dot(f.axis[0], u));
  if (!(f.gap <= SHUT * cni_touch_size(model, touch) + way)) return 0;
  return cni_touch_domain(model, pose, touch) >= 0;
}

// The contacts of a pair from `begin` to `end`, and its touches. These may be others, and more, than what
// collision keeps (points of the rim on which a cylinder stands, an octagon between two boxes): then
// those that are closed take the place of the contacts, so that forces are told where they act.
static void tell_pair(const CnWorld *world, const CnPose *pose, const CnTwist *twist, int32_t begin,
                      int32_t end, CniWorldTouch *touches, int32_t touch_count, CniContact *told,
                      int32_t *count) {
  const CniModel *model = &world->now.model;
  const CniContact *found = world->work.contacts;
  int32_t first = *count, elsewhere = 0;
  for (int32_t i = 0; i < touch_count && has_features(model, pose, &touches[i]); i++) {
    CniContact c = found[touches[i].contact];
    if (!contact_at(world, pose, twist, &touches[i], &c)) continue;
    double away = cn_norm(cn_sub(c.point, found[touches[i].contact].point));
    elsewhere |= away > fabs(c.gap) + PLACE * cni_touch_size(model, &touches[i]);
    told[(*count)++] = c;
  }
  if (!elsewhere) {
    *count = first;
    for (int32_t i = begin; i < end; i++) told[(*count)++] = found[i];
  }
  for (int32_t i = 0; i < touch_count; i++) {
    int32_t *contact = &touches[i].contact;
    CniContact c = found[*contact];
    if (elsewhere) contact_at(world, pose, twist, &touches[i], &c);
    *contact =
        elsewhere ? cni_nearest_contact(told, first, *count, c.point) : *contact - begin + first;
  }
}

CnStatus cni_tell_contacts(CnWorld *world, const CnPose *pose, const CnTwist *twist) {
  CniStepWork *work = &world->work;
  struct CniWorldEquations *eq = work->equations;
  const CniContact *found = work->contacts;
  CniContact *told = NULL;
  int32_t touch = 0, touch_count = eq->equations.contact_count, count = 0;
  CNI_TRY(cni_equations_take(world, work->contact_count + touch_count, sizeof *told, &told));
  for (int32_t i = 0, end; i < work->contact_count; i = end) {
    for (end = i + 1; end < work->contact_count; end++)
      if (cni_contact_rank(&found[end]) != cni_contact_rank(&found[i])) break;
    int32_t first = touch;
    while (touch < touch_count && eq->touches[touch].contact < end) touch++;
    tell_pair(world, pose, twist, i, end, eq->touches + first, touch - first, told, &count);
  }
  work->contacts = told;
  work->contact_count = count;
  return CN_OK;
}

// ---- back to the caches ----

// What is told: impulses of the rows, and efforts that are not rows times a time.
typedef struct Told {
  const double *rows;
  const CniJointImpulse *efforts;
  double time;
} Told;

// What rows of a touch do to b about its point, world axes, in a frame of it.
static void touch_impulse(const CniTouchFrame *f, const double *g, int32_t dim, CnVec3 *linear,
                          CnVec3 *angular) {
  *linear = *angular = CN_VEC3_ZERO;
  for (int32_t k = 0; k < dim && k < 3; k++) *linear = cn_madd(*linear, g[k], f->axis[k]);
  for (int32_t k = 3; k < dim; k++) *angular = cn_madd(*angular, g[k], f->axis[(k - 2) % 3]);
}

// In the frame at the start; several features may be one contact's.
static void keep_touch(CnWorld *world, const Told *told, int32_t contact) {
  const struct CniWorldEquations *eq = world->work.equations;
  const CniWorldTouch *touch = &eq->touches[contact];
  const CnEquations *e = &eq->equations;
  const CnProblem *p = world->now.engine.problem;
  const CniContact *c = &world->work.contacts[touch->contact];
  if (world->work.block_of[touch->contact] < 0) return;
  const CniBlock *block = &p->blocks[world->work.block_of[touch->contact]];
  const double *g = &told->rows[e->bilateral_count + contact * e->contact_dim];
  double side = c->shape_a == touch->shape_a ? 1 : -1;
  CniTouchFrame f = cni_touch_frame(&world->now.model, world->now.model.pose, touch);
  CnVec3 linear, angular;
  touch_impulse(&f, g, e->contact_dim, &linear, &angular);
  cni_contact_put(p, block, cn_scale(side, linear), cn_scale(side, angular),
                  &world->now.engine.answer.g[block->row]);
}

static void put_row(CnWorld *world, int32_t joint, int32_t row, CniJointPart part, double impulse) {
  const int32_t *blocks = &world->work.joint_blocks[joint];
  cni_joint_put(&world->now.model.joints[joint], world->now.model.pose, world->now.engine.problem,
                blocks[0], blocks[1], row, part, impulse, world->now.engine.answer.g);
}

static void put_efforts(CnWorld *world, const Told *told, int32_t index) {
  const CniJointImpulse *efforts = &told->efforts[index];
  const CniJoint *joint = &world->now.model.joints[index];
  for (int32_t k = 0; cni_joint_is_spring(joint) && k < CNI_JOINT_LOCKED; k++)
    if (efforts->locked[k] != 0)
      put_row(world, index, k, CNI_PART_LOCKED, told->time * efforts->locked[k]);
  for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++)
    for (int32_t part = 0; part < CNI_PART_COUNT; part++)
      if (efforts->axes[k][part] != 0)
        put_row(world, index, CNI_JOINT_LOCKED + k, (CniJointPart)part,
                told->time * efforts->axes[k][part]);
}

static void keep_row(CnWorld *world, const CniWorldRow *row, double impulse, double *g) {
  if (row->joint < 0)
    cni_coupling_put(&world->now.model, row->row, world->now.engine.problem,
                     world->work.joint_blocks[0], impulse, g);
  else
    put_row(world, row->joint, row->row, row->part, impulse);
}

static void keep(CnWorld *world, const Told *told) {
  const struct CniWorldEquations *eq = world->work.equations;
  CnAnswer *answer = &world->now.engine.answer;
  const CnEquations *e = &eq->equations;
  int32_t limits = e->bilateral_count + eq->touch_count * e->contact_dim;
  int32_t bounds = limits + eq->limit_count * e->contact_dim;
  for (int32_t i = 0; i < answer->row_count; i++) answer->g[i] = 0;
  for (int32_t i = 0; i < eq->touch_count; i++)
    if (told->rows[e->bilateral_count + i * e->contact_dim] != 0) keep_touch(world, told, i);
  for (int32_t i = 0; i < world->now.model.joint_count; i++)
    if (cni_joint_has_efforts(&world->now.model.joints[i])) put_efforts(world, told, i);
  for (int32_t i = 0; i < e->bilateral_count; i++)
    keep_row(world, &eq->rows[i], told->rows[i], answer->g);
  for (int32_t i = 0; i < eq->limit_count; i++)
    keep_row(world, &eq->rows[e->bilateral_count + i], told->rows[limits + i * e->contact_dim],
             answer->g);
  for (int32_t i = 0; i < e->bound_count; i++)
    keep_row(world, &eq->rows[e->bilateral_count + eq->limit_count + i], told->rows[bounds + i],
             answer->g);
}

CnStatus cni_equations_answer(CnWorld *world, const CnAnswer **result) {
  const struct CniWorldEquations *eq = world->work.equations;
  if (eq->events_lost) return cni_error_memory(sizeof *world->located);
  keep(world, &(Told){eq->impulses, eq->efforts, 1});
  *result = &world->now.engine.answer;
  return CN_OK;
}

void cni_equations_tell(CnWorld *world) {
  const struct CniWorldEquations *eq = world->work.equations;
  const CnEquations *e = &eq->equations;
  double h = world->work.time_step;
  if (eq->steps_impulse || eq->struck) return;
  int32_t rows = e->bilateral_count + e->contact_count * e->contact_dim + e->bound_count;
  for (int32_t i = 0; i < rows; i++) eq->ends[i] *= h;
  keep(world, &(Told){eq->ends, eq->end_efforts, h});
}

// Where a contact is kept, in the order of blocks; -1: it has none.
static int32_t kept_at(const CnWorld *world, const CniWorldTouch *touch) {
  int32_t block = world->work.block_of[touch->contact];
  return block < 0 ? -1 : block - world->found.first_block;
}

static CniContact *kept_in_full(CniContactCache *cache, int32_t at) {
  int32_t full = cni_lower_bound(cache->full_at, cache->full_count, at);
  return full < cache->full_count && cache->full_at[full] == at ? &cache->full[full] : NULL;
}

// Is no touch of the same contact where this one's point would be told: one that carries more, or as much and is
// farther within its piece of surface, or comes first?
static int is_first(const CnWorld *world, const double *rows, int32_t i) {
  const struct CniWorldEquations *eq = world->work.equations;
  const CniModel *model = &world->now.model;
  const double *g = rows + eq->equations.bilateral_count;
  int32_t dim = eq->equations.contact_dim, contact = eq->touches[i].contact;
  for (int32_t j = 0; j < eq->touch_count; j++) {
    if (j == i || eq->touches[j].contact != contact || g[j * dim] < g[i * dim]) continue;
    if (g[j * dim] > g[i * dim]) return 0;
    double own = cni_touch_frame(model, model->pose, &eq->touches[i]).domain;
    double other = cni_touch_frame(model, model->pose, &eq->touches[j]).domain;
    if (other > own || (!(other < own) && j < i)) return 0;
  }
  return 1;
}

// Contacts to where their touches are now. `told`: impulses get the directions that they have there.
static void turn_contacts(CnWorld *world, int told) {
  const struct CniWorldEquations *eq = world->work.equations;
  const CnEquations *e = &eq->equations;
  const double *rows = told ? eq->ends : eq->impulses;
  CniContactCache *cache = &world->now.contacts;
  const CniModel *model = &world->now.model;
  for (int32_t i = 0; told && i < eq->touch_count; i++) {
    int32_t at = kept_at(world, &eq->touches[i]);
    if (at < 0) continue;
    cache->linear[at] = CN_VEC3_ZERO;
    if (cache->turning) cache->angular[at] = CN_VEC3_ZERO;
  }
  for (int32_t i = 0; i < eq->touch_count; i++) {
    const CniWorldTouch *touch = &eq->touches[i];
    const double *g = &rows[e->bilateral_count + i * e->contact_dim];
    int32_t at = kept_at(world, touch);
    if (at < 0) continue;
    CniTouchFrame f = cni_touch_frame(model, model->pose, touch);
    if (!(f.gap < INFINITY)) continue; // a place that is none any more has no direction
    CniContact *c = kept_in_full(cache, at);
    double side = cni_short_shape(cache->shorts[at].a) == touch->shape_a ? 1 : -1;
    CnVec3 linear, angular;
    touch_impulse(&f, g, told ? e->contact_dim : 0, &linear, &angular);
    cache->linear[at] = cn_madd(cache->linear[at], side, linear);
    if (cache->turning) cache->angular[at] = cn_madd(cache->angular[at], side, angular);
    if (!c || !is_first(world, rows, i)) continue;
    c->normal = cn_scale(side, f.axis[0]);
    c->point =
        cn_madd(cn_add(model->pose[touch->body_b].position, f.arm_b), -0.5 * f.gap, f.axis[0]);
  }
}

// Motors that are told an effort have no row: theirs at the end of the step.
static void tell_drives(const CnWorld *world, int32_t index, CniJoint *joint) {
  const struct CniWorldEquations *eq = world->work.equations;
  if (!cni_is_free(&world->now.model, joint->body_a) &&
      !cni_is_free(&world->now.model, joint->body_b))
    return;
  for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++)
    if (joint->def.axes[k].drive == CN_DRIVE_EFFORT)
      joint->impulse.axes[k][CNI_PART_MOTOR] =
          world->work.time_step * eq->end_efforts[index].axes[k][CNI_PART_MOTOR];
}

void cni_equations_turn(CnWorld *world) {
  CniModel *model = &world->now.model;
  const struct CniWorldEquations *eq = world->work.equations;
  if (!eq) return;
  turn_contacts(world, !eq->steps_impulse && !eq->struck);
  if (eq->steps_impulse) return;
  for (int32_t i = 0; i < model->joint_count; i++) {
    CniJoint *joint = &model->joints[i];
    CniJointPlace place;
    if (!eq->struck) tell_drives(world, i, joint);
    cni_joint_at(joint, model->pose, &place);
    joint->total = cni_joint_total(&place, &joint->impulse);
  }
}
