// SPDX-License-Identifier: Apache-2.0
// Rows of joints and couplings in the equations of motion (equations.h).
//
//     bilateral   locked directions, motors without a bound, couplings, rotors of armatures
//     contacts    limits of coordinates, couplings that are one-sided: gap = side (x - bound)
//     bounds      dry friction x' = 0, motors that keep a speed with a limited effort; servos, which
//                 keep a place with one, last
//
// An armature J is a rotor with a velocity y of its own and the inertia J that x' = y drives: M stays
// a block a body. The bodies of six rotors are one more velocity group; they have no place.
//
// Dry friction is c + mu r R, R the force that the locked directions carry, found with the motion; of a
// cam, which locks nothing, that with which the limits of its gap push.
#include "world/equations/equations.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "integrator/integrator.h"

static void place_at(const CniJoint *joint, const CnPose *pose, CniJointPlace *place) {
  CniJointEnd a, b;
  cni_joint_stage_ends(joint, pose, NULL, &a, &b);
  cni_joint_between(joint, &a, &b, place);
}

// ---- what a row is kept at ----

// Value and two derivatives. A speed that follows a function, and a rotor, have no place.
static void target_of(const CnWorld *world, const CniWorldRow *row, double t, double target[3]) {
  const CniModel *model = &world->now.model;
  target[0] = row->start + row->speed * (t - world->work.equations->time);
  target[1] = row->speed;
  target[2] = 0;
  if (row->follows == CNI_FOLLOWS_NOTHING) return;
  const CnJointAxis *axis = &model->joints[row->joint].def.axes[row->row - CNI_JOINT_LOCKED];
  double f[3];
  cni_joint_target(model, axis, t, f);
  if (row->follows == CNI_FOLLOWS_PLACE) memcpy(target, f, sizeof f);
  if (row->follows == CNI_FOLLOWS_SPEED) target[1] = f[0], target[2] = f[1];
}

double cni_row_value(const CnWorld *world, const CniWorldRow *row, double t, const CnPose *pose) {
  const CniModel *model = &world->now.model;
  if (row->joint < 0) {
    CniCouplingPlace coupled;
    cni_coupling_at(model, &model->couplings[row->row], pose, &coupled);
    return coupled.value;
  }
  if (row->rotor >= 0 || row->follows == CNI_FOLLOWS_SPEED) return 0;
  CniJointPlace place;
  double target[3];
  place_at(&model->joints[row->joint], pose, &place);
  target_of(world, row, t, target);
  return row->side * (cni_joint_row(&place, row->row)->value - target[0]);
}

double cni_row_speed(const CnWorld *world, const CniWorldRow *row, double t) {
  double target[3];
  if (row->joint < 0) return 0;
  target_of(world, row, t, target);
  return row->side * target[1];
}

double *cni_row_write(const CnWorld *world, const CniWorldRow *row, const CnPose *pose,
                      const CnTwist *known, double *at, double *rate) {
  const CniModel *model = &world->now.model;
  if (row->joint < 0) {
    CniCouplingPlace coupled;
    cni_coupling_at(model, &model->couplings[row->row], pose, &coupled);
    for (int32_t i = 0; i < coupled.body_count; i++) {
      cni_put_point(model, known, coupled.bodies[i], 1, coupled.rows[i].velocity, CN_VEC3_ZERO,
                    coupled.rows[i].spin, at, rate);
      if (cni_is_free(model, coupled.bodies[i])) at += 6;
    }
    return at;
  }
  const CniJoint *joint = &model->joints[row->joint];
  CniJointPlace place;
  place_at(joint, pose, &place);
  const CniJointRow *r = cni_joint_row(&place, row->row);
  at = cni_put_pair(model, known, joint->body_a, place.arm_a, joint->body_b, place.arm_b,
                    cn_scale(row->side, r->linear), cn_scale(row->side, r->angular), at, rate);
  if (row->rotor < 0) return at;
  for (int32_t k = 0; k < 6; k++) at[k] = k == row->rotor % 6 ? -1 : 0;
  return at + 6;
}

double cni_row_curvature(const CnWorld *world, const CniWorldRow *row, double t, const CnPose *pose,
                         const double *v) {
  const CniModel *model = &world->now.model;
  if (row->joint < 0)
    return cni_coupling_curvature(model, &model->couplings[row->row], pose, (const CnTwist *)v);
  const CniJoint *joint = &model->joints[row->joint];
  CniJointEnd a, b;
  double target[3];
  cni_joint_stage_ends(joint, pose, v, &a, &b);
  target_of(world, row, t, target);
  return row->side * (cni_joint_curvature(&joint->def, &a, &b, row->row) - target[2]);
}

int32_t cni_row_groups(const CnWorld *world, const CniWorldRow *row, int32_t *list) {
  const CniModel *model = &world->now.model;
  int32_t count = 0;
  if (row->joint < 0) {
    CniCouplingPlace place;
    cni_coupling_at(model, &model->couplings[row->row], model->pose, &place);
    for (int32_t i = 0; i < place.body_count; i++)
      if (cni_is_free(model, place.bodies[i])) list[count++] = place.bodies[i];
    return count;
  }
  const CniJoint *joint = &model->joints[row->joint];
  count = cni_pair_groups(model, joint->body_a, joint->body_b, list);
  if (row->rotor >= 0) list[count++] = model->body_count + row->rotor / 6;
  return count;
}

int cni_row_turns(const CnWorld *world, const CniWorldRow *row) {
  const CniModel *model = &world->now.model;
  CniJointPlace place;
  if (row->joint < 0) {
    CniCouplingPlace coupled;
    cni_coupling_at(model, &model->couplings[row->row], model->pose, &coupled);
    return coupled.turns;
  }
  place_at(&model->joints[row->joint], model->pose, &place);
  return cni_joint_row(&place, row->row)->turns;
}

void cni_row_name(const CnWorld *world, const CniWorldRow *row, char *text, size_t capacity) {
  static const char *const parts[CNI_PART_COUNT + 1] = {
      [CNI_PART_LOWER] = "limit of ",    [CNI_PART_UPPER] = "limit of ",
      [CNI_PART_MOTOR] = "motor of ",    [CNI_PART_FRICTION] = "friction of ",
      [CNI_PART_ARMATURE] = "rotor of ", [CNI_PART_LOCKED] = ""};
  const CniModel *model = &world->now.model;
  int32_t of = row->joint < 0 ? row->row : row->joint;
  const char *what = row->joint < 0 ? "coupling" : "joint";
  const char *name = row->joint < 0 ? model->couplings[of].name : model->joints[of].name;
  if (name[0])
    snprintf(text, capacity, "%s%s '%.40s'", parts[row->part], what, name);
  else
    snprintf(text, capacity, "%s%s %d", parts[row->part], what, (int)of);
}

// ---- motors without a bound ----

#define FOLLOWED 1e-3 // of the speeds in a row; m or rad
#define RESTS                                                                                      \
  1e-6 // m/s or rad/s: where all speeds in a row are round-off a share of them says nothing

// One that does not keep its target is held by other joints, or drives against another one: the schemes leave such rows
// out, as they depend on the others.
CnStatus cni_motors_follow(CnWorld *world, double t, const double *q, const double *v) {
  const struct CniWorldEquations *eq = world->work.equations;
  int32_t often = world->now.settings.integration.projection;
  for (int32_t i = 0; i < eq->plain.bilateral_count; i++) {
    const CniWorldRow *row = &eq->rows[i];
    double at[3 * 6] = {0}, rate = 0, gap = 0, off, size;
    int32_t groups[3];
    if (row->part != CNI_PART_MOTOR || row->rotor >= 0) continue;
    int32_t count = cni_row_groups(world, row, groups);
    CNI_TRY(eq->plain.jacobian(world, t, q, &i, 1, at, &rate));
    off = rate;
    size = fabs(rate);
    for (int32_t k = 0; k < 6 * count; k++) {
      double part = at[k] * v[6 * (size_t)groups[k / 6] + (size_t)(k % 6)];
      off += part;
      size += fabs(part);
    }
    if (often == 1 || often < 0) gap = cni_row_value(world, row, t, (const CnPose *)q);
    if (fabs(off) <= FOLLOWED * size + RESTS && fabs(gap) <= FOLLOWED) continue;
    char name[64];
    cni_row_name(world, row, name, sizeof name);
    return cni_error(
        CN_STOPPED,
        "%s: step %lld: the %s, whose effort has no bound, cannot follow its target: other "
        "joints hold what it is to move",
        world->now.settings.integrator, (long long)world->now.step + 1, name);
  }
  return CN_OK;
}

// ---- bounds ----

// Force of the locked directions, whose rows begin at `first`; of a cam, whose limits do, that of its
// gap.
static double reaction(const struct CniWorldEquations *eq, const CniWorldRow *row,
                       const CniJoint *joint, const CniJointPlace *place,
                       const double *multipliers) {
  const CnEquations *e = &eq->equations;
  const CniWorldRow *limits = eq->rows + e->bilateral_count;
  CnVec3 sum = CN_VEC3_ZERO;
  for (int32_t k = 0; k < place->locked_count; k++)
    sum = cn_madd(sum, multipliers[row->first + k], place->locked[k].linear);
  if (!joint->def.one_sided) return cn_norm(sum);
  int32_t gap = CNI_JOINT_LOCKED + cni_joint_kind(joint->def.kind)->gap;
  for (int32_t i = row->first; i < eq->limit_count && limits[i].joint == row->joint; i++)
    if (limits[i].row == gap)
      sum = cn_madd(sum, limits[i].side * multipliers[cni_limit_row(eq, i)],
                    cni_joint_row(place, gap)->linear);
  return cn_norm(sum);
}

void cni_rows_bounds(void *context, double t, const double *q, const double *multipliers,
                     int32_t impact, double *bounds) {
  const CnWorld *world = context;
  const struct CniWorldEquations *eq = world->work.equations;
  const CniWorldRow *rows = eq->rows + eq->equations.bilateral_count + eq->limit_count;
  cni_equations_here(world, t, &q, NULL);
  for (int32_t i = 0; i < eq->equations.bound_count; i++) {
    const CniJoint *joint = &world->now.model.joints[rows[i].joint];
    int32_t k = rows[i].row - CNI_JOINT_LOCKED;
    const CnJointAxis *axis = &joint->def.axes[k];
    bounds[i] = rows[i].part == CNI_PART_MOTOR ? axis->motor_effort : axis->friction;
    if (impact) bounds[i] = 0;
    if (rows[i].part == CNI_PART_MOTOR || !(axis->friction_coefficient > 0)) continue;
    CniJointPlace place;
    place_at(joint, (const CnPose *)q, &place);
    bounds[i] += axis->friction_coefficient * cni_joint_rub_arm(&joint->def, &place, k) *
                 reaction(eq, &rows[i], joint, &place, multipliers);
  }
}

// ---- which there are ----

// A list that is counted first.
typedef struct List {
  CniWorldRow *rows; // null: counted only
  int32_t count;
} List;

static void add(List *list, CniWorldRow row) {
  if (row.side == 0) row.side = 1;
  if (list->rows) list->rows[list->count] = row;
  list->count++;
}

static int has_motor(const CnJointAxis *axis) {
  return axis->drive != CN_DRIVE_EFFORT && axis->motor_effort > 0 && !cni_joint_is_servo(axis);
}

// Motor and rotor of a coordinate.
static void add_axis(const CniJoint *joint, int32_t i, int32_t k, double value, int32_t *rotors,
                     List *list) {
  const CnJointAxis *axis = &joint->def.axes[k];
  CniWorldRow row = {.joint = i, .row = CNI_JOINT_LOCKED + k, .rotor = -1, .part = CNI_PART_MOTOR};
  if (has_motor(axis) && !(axis->motor_effort < INFINITY)) {
    CniWorldRow motor = row;
    int by_function = axis->motor_function.slot != 0;
    motor.follows = axis->drive == CN_DRIVE_POSITION ? CNI_FOLLOWS_PLACE
                    : by_function                    ? CNI_FOLLOWS_SPEED
                                                     : CNI_FOLLOWS_NOTHING;
    motor.start = value;
    motor.speed = by_function ? 0 : axis->motor_speed;
    add(list, motor);
  }
  if (axis->armature > 0) {
    row.part = CNI_PART_ARMATURE;
    row.rotor = (*rotors)++;
    add(list, row);
  }
}

static int moves(const CniModel *model, const CniJoint *joint) {
  return cni_is_free(model, joint->body_a) || cni_is_free(model, joint->body_b);
}

static int32_t list_bilateral(const CniModel *model, int32_t *rotors, CniWorldRow *rows) {
  List list = {rows, 0};
  *rotors = 0;
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    if (!moves(model, joint)) continue;
    int32_t locked = cni_joint_is_spring(joint) ? 0 : cni_joint_locked_count(&joint->def);
    for (int32_t k = 0; k < locked; k++)
      add(&list, (CniWorldRow){.joint = i, .row = k, .rotor = -1, .part = CNI_PART_LOCKED});
    CniJointPlace place;
    place_at(joint, model->pose, &place);
    for (int32_t k = 0; k < place.axis_count; k++)
      add_axis(joint, i, k, place.axes[k].value, rotors, &list);
  }
  for (int32_t i = 0; i < model->coupling_count; i++)
    if (!model->couplings[i].def.one_sided)
      add(&list, (CniWorldRow){.joint = -1, .row = i, .rotor = -1, .part = CNI_PART_LOCKED});
  return list.count;
}

static int32_t list_limits(const CniModel *model, CniWorldRow *rows) {
  List list = {rows, 0};
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    if (!moves(model, joint)) continue;
    for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++)
      for (int32_t upper = 0; upper < 2; upper++) {
        double bound = upper ? joint->def.axes[k].upper : joint->def.axes[k].lower;
        if (!isfinite(bound) || cni_axis_is_soft(&joint->def.axes[k])) continue;
        add(&list, (CniWorldRow){.joint = i,
                                 .row = CNI_JOINT_LOCKED + k,
                                 .rotor = -1,
                                 .part = upper ? CNI_PART_UPPER : CNI_PART_LOWER,
                                 .side = upper ? -1 : 1,
                                 .start = bound});
      }
  }
  for (int32_t i = 0; i < model->coupling_count; i++)
    if (model->couplings[i].def.one_sided)
      add(&list, (CniWorldRow){.joint = -1, .row = i, .rotor = -1, .part = CNI_PART_LOCKED});
  return list.count;
}

// The bounds of a coordinate: friction and the motor that keeps a speed, or the servo.
static void add_bounds(const CnJointAxis *axis, CniWorldRow row, int servos, List *list) {
  int servo = axis->drive == CN_DRIVE_POSITION, by_function = axis->motor_function.slot != 0;
  row.part = CNI_PART_FRICTION;
  if (!servos && (axis->friction > 0 || axis->friction_coefficient > 0)) add(list, row);
  if (servo != servos || !has_motor(axis) || !(axis->motor_effort < INFINITY)) return;
  row.part = CNI_PART_MOTOR;
  row.follows = servo ? CNI_FOLLOWS_PLACE : by_function ? CNI_FOLLOWS_SPEED : CNI_FOLLOWS_NOTHING;
  row.speed = servo || by_function ? 0 : axis->motor_speed;
  add(list, row);
}

// The first of the rows of joint i among those from `begin` on, counted from there. There may be no rows at all.
static int32_t first_of(const CniWorldRow *rows, int32_t begin, int32_t count, int32_t i) {
  int32_t first = 0;
  while (first < count && rows[begin + first].joint != i) first++;
  return first;
}

// Servos come last: *servos of them.
static int32_t list_bounds(const CniModel *model, const struct CniWorldEquations *eq,
                           CniWorldRow *rows, int32_t *servos) {
  int32_t bilateral = rows ? eq->equations.bilateral_count : 0, limits = rows ? eq->limit_count : 0;
  List list = {rows, 0};
  for (int pass = 0; pass < 2; pass++) {
    *servos = list.count;
    for (int32_t i = 0; i < model->joint_count; i++) {
      const CniJoint *joint = &model->joints[i];
      if (!moves(model, joint)) continue;
      int32_t first = joint->def.one_sided ? first_of(eq->rows, bilateral, limits, i)
                                           : first_of(eq->rows, 0, bilateral, i);
      for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++) {
        CniWorldRow row = {.joint = i, .row = CNI_JOINT_LOCKED + k, .rotor = -1, .first = first};
        add_bounds(&joint->def.axes[k], row, pass, &list);
      }
    }
  }
  *servos = list.count - *servos;
  return list.count;
}

CnStatus cni_rows_list(CnWorld *world) {
  const CniModel *model = &world->now.model;
  struct CniWorldEquations *eq = world->work.equations;
  CnEquations *e = &eq->equations;
  e->bilateral_count = list_bilateral(model, &eq->rotor_count, NULL);
  eq->limit_count = list_limits(model, NULL);
  e->bound_count = list_bounds(model, eq, NULL, &e->servo_count);
  CNI_TRY(cni_equations_take(world, e->bilateral_count + eq->limit_count + e->bound_count,
                             sizeof *eq->rows, &eq->rows));
  list_bilateral(model, &eq->rotor_count, eq->rows);
  list_limits(model, eq->rows + e->bilateral_count);
  list_bounds(model, eq, eq->rows + e->bilateral_count + eq->limit_count, &e->servo_count);
  if (eq->rotor_count == 0) return CN_OK;
  // the rotors turn as their coordinates do
  size_t bytes = (size_t)model->body_count * sizeof(CnTwist);
  CNI_TRY(cni_equations_take(world, cni_equations_velocities(eq, model), sizeof *eq->velocity,
                             &eq->velocity));
  CNI_TRY(cni_equations_take(world, eq->rotor_count, sizeof *eq->rotors, &eq->rotors));
  CNI_TRY(cni_equations_take(world, eq->rotor_count, sizeof *eq->rotor_turns, &eq->rotor_turns));
  if (bytes) memcpy(eq->velocity, model->twist, bytes);
  for (int32_t i = 0; i < e->bilateral_count; i++) {
    const CniWorldRow *row = &eq->rows[i];
    if (row->rotor < 0) continue;
    const CniJoint *joint = &model->joints[row->joint];
    CniJointEnd a, b;
    CniJointPlace place;
    cni_joint_stage_ends(joint, model->pose, (const double *)model->twist, &a, &b);
    cni_joint_between(joint, &a, &b, &place);
    const CniJointRow *own = cni_joint_row(&place, row->row);
    eq->rotor_turns[row->rotor] = own->turns;
    eq->rotors[row->rotor] = joint->def.axes[row->row - CNI_JOINT_LOCKED].armature;
    eq->velocity[6 * (size_t)model->body_count + (size_t)row->rotor] =
        cni_joint_rate(&place, own, &a.twist, &b.twist);
  }
  return CN_OK;
}

// ---- what cannot be followed ----

// rad: nearer to 0 the swing of a spherical joint, an angle without a sign, has no direction
#define SWING_LEAST 1e-6

// A row there is another one a moment later: friction, motors and rotors on it are refused. Friction and
// motors of moreau-jean are taken where the step goes to.
static CnStatus check_swing(const CnWorld *world, const CniJoint *joint) {
  const CnJointAxis *axis = &joint->def.axes[0];
  const char *name = world->now.settings.integrator;
  CniJointPlace place;
  if (joint->def.kind != CN_JOINT_SPHERICAL) return CN_OK;
  int rows = axis->friction > 0 || axis->friction_coefficient > 0 || has_motor(axis);
  if (cni_integrator_find(name)->impulse_multipliers) rows = 0;
  if (!rows && !(axis->armature > 0)) return CN_OK;
  place_at(joint, world->now.model.pose, &place);
  if (place.axes[0].value > SWING_LEAST) return CN_OK;
  return cni_error(CN_UNSUPPORTED,
                   "%s: joint '%s' (spherical): friction, motor or armature of a swing of 0, which "
                   "has no direction: use impulse, or frames whose z axes are apart",
                   name, joint->name);
}

CnStatus cni_rows_check(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  const char *name = world->now.settings.integrator;
  for (int32_t i = 0; i < model->body_count; i++) {
    char label[CNI_NAME_SIZE + 16];
    if (!model->bodies[i].continuous) continue;
    cni_model_body_label(model, i, label);
    return cni_error(CN_UNSUPPORTED, "%s: %s is continuous, use impulse", name, label);
  }
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    CNI_TRY(check_swing(world, joint));
    for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++) {
      const CnJointAxis *axis = &joint->def.axes[k];
      int soft_gap = joint->def.one_sided &&
                     cni_axis_is_soft(&joint->def.axes[cni_joint_kind(joint->def.kind)->gap]);
      if (axis->friction_coefficient > 0 && soft_gap)
        return cni_error(CN_UNSUPPORTED,
                         "%s: joint '%s' (%s): friction_coefficient with a gap that is a spring "
                         "is not followed, use impulse",
                         name, joint->name, cni_joint_kind(joint->def.kind)->name);
      if (axis->friction_coefficient > 0 && cni_joint_is_spring(joint))
        return cni_error(CN_UNSUPPORTED,
                         "%s: joint '%s' (%s): friction_coefficient with a joint that is a spring "
                         "is not followed, use impulse",
                         name, joint->name, cni_joint_kind(joint->def.kind)->name);
    }
  }
  return CN_OK;
}
