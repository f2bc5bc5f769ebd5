// SPDX-License-Identifier: Apache-2.0
// What a joint does in a step, as blocks of the step problem, for every kind alike.
//
// Locked directions are bilateral: u = E v = 0; errors of positions are no business of velocities and go
// away in the drift (assembly/drift_joints.c). With a stiffness k_s or a damping d they are an implicit
// spring-damper in the same rows, with the error in b:
//
//     C = 1/(h (h k_s + d)),   b = k_s c/(h k_s + d)
//
// for which u = E v + b + C g = 0 says g = -h (k_s (c + h E v) + d E v): the force at the end of
// the step. Exact in every solver family, stable for any stiffness. With theta < 1 the law with theta h
// for h is the share theta of -h (k_s (c + theta h E v) + d E v); the rest follows after the drift.
// Springs on coordinates are the same about their rest. On a coordinate x also act, each as a block of its own:
//
//     limits     u = x' + (x - lower)/h >= 0, likewise above: met at the end of the step, not passed;
//                where it is passed already it goes no further, u = x'; with a restitution e one that is met in the step has u = x' + e x'_old;
//                a soft one is a spring-damper that only pushes
//     motor      u = x' - speed, |g| <= h effort: keeps its speed or gives all it has; one that keeps
//                a position has the speed that leads there; a servo is a bounded spring-damper about
//                its target. A motor that gives an effort is a load and no row
//     friction   u = x', |g| <= h (friction + mu r R), R: reaction, of the last step at first,
//                then of the answer (assembly/joints.c)
//                (these bounds are about what motor and friction do in the drift as well)
//     armature   u = x' - x'_old + g/J = 0
#include "joint/joint.h"

#include <math.h>

static CnSet interval(double most, double later) {
  CnSet set = cn_set_default(CN_BLOCK_INTERVAL);
  later = cn_clamp(later, -most, most);
  set.lo = -most - later;
  set.hi = most - later;
  return set;
}

// Rigid, or a spring-damper: the set, and the factor from the error to b.
static double spring_law(double stiffness, double damping, double h, CnSet *set) {
  *set = cn_set_default(CN_BLOCK_BILATERAL);
  if (!(stiffness > 0 || damping > 0)) return 0;
  double both = h * stiffness + damping;
  set->compliance[0] = 1 / (h * both);
  return stiffness / both;
}

// What a part of a coordinate sees.
typedef struct Act {
  const CnJointAxis *axis;
  const CniJointStep *step;
  const CniJointTarget *target;
  double x, rate;      // at the start of the step
  double arm;          // of what rubs
  const double *later; // by part
} Act;

static int has_spring(const CnJointAxis *axis) { return axis->stiffness > 0 || axis->damping > 0; }
static int has_lower(const CnJointAxis *axis) { return axis->lower > -INFINITY; }
static int has_upper(const CnJointAxis *axis) { return axis->upper < INFINITY; }
static int has_motor(const CnJointAxis *axis) {
  return axis->drive != CN_DRIVE_EFFORT && axis->motor_effort > 0;
}
static int has_friction(const CnJointAxis *axis) {
  return axis->friction > 0 || axis->friction_coefficient > 0;
}
static int has_armature(const CnJointAxis *axis) { return axis->armature > 0; }

static void spring(const Act *act, CniJointBlock *k) {
  const CnJointAxis *axis = act->axis;
  k->share = 1 - act->step->late;
  double h = k->share * act->step->time_step;
  double factor = spring_law(axis->stiffness, axis->damping, h, &k->set);
  k->b[0] = factor * (act->x - axis->rest);
}

// A limit whose gap changes at a rate: rigid or soft, with a bounce where it is met in this step.
static void limit(const Act *act, double gap, double rate, CniJointBlock *k) {
  const CnJointAxis *axis = act->axis;
  const CniJointStep *step = act->step;
  double h = step->time_step;
  k->set = cn_set_default(CN_BLOCK_UNILATERAL);
  k->b[0] = cn_max(gap, 0) / h;
  double both = h * axis->limit_stiffness + axis->limit_damping;
  if (both > 0) {
    k->set.compliance[0] = 1 / (h * both);
    if (!(gap > 0)) k->b[0] = axis->limit_stiffness * gap / both;
  }
  if (axis->restitution > 0 && rate < -step->threshold && gap + h * rate <= 0)
    k->b[0] = cn_min(axis->restitution * rate, k->b[0]);
}

static void lower(const Act *act, CniJointBlock *k) {
  limit(act, act->x - act->axis->lower, act->rate, k);
}

static void upper(const Act *act, CniJointBlock *k) {
  limit(act, act->axis->upper - act->x, -act->rate, k);
}

static void motor(const Act *act, CniJointBlock *k) {
  const CnJointAxis *axis = act->axis;
  const CniJointTarget *target = act->target;
  int positions = axis->drive == CN_DRIVE_POSITION;
  double h = act->step->time_step, d = axis->motor_damping;
  double stiffness = positions ? axis->motor_stiffness : 0, both = h * stiffness + d;
  k->set = axis->motor_effort < INFINITY
               ? interval(h * axis->motor_effort, act->later[CNI_PART_MOTOR])
               : cn_set_default(CN_BLOCK_BILATERAL);
  if (both > 0) k->set.compliance[0] = 1 / (h * both);
  if (!positions)
    k->b[0] = -target->middle;
  else if (both > 0)
    k->b[0] = (stiffness * (act->x - target->end) - d * target->rate) / both;
  else
    k->b[0] =
        -((target->end - target->start) + act->step->stabilisation * (target->start - act->x)) / h;
}

double cni_joint_rub_arm(const CnJointDef *def, const CniJointPlace *place, int32_t axis) {
  const CniJointRow *row = &place->axes[axis];
  if (row->turns) return def->axes[axis].friction_radius;
  if (row->wraps != CNI_ALONG || cni_joint_kind(def->kind)->curves != 1) return 1;
  return 1 / cn_norm(row->linear);
}

static void friction(const Act *act, CniJointBlock *k) {
  const CnJointAxis *axis = act->axis;
  double most = axis->friction + axis->friction_coefficient * act->arm * act->step->reaction;
  k->set = interval(act->step->time_step * most, act->later[CNI_PART_FRICTION]);
  k->b[0] = 0;
}

// g = -J (x' - x'_old)
static void armature(const Act *act, CniJointBlock *k) {
  k->set = cn_set_default(CN_BLOCK_BILATERAL);
  k->set.compliance[0] = 1 / act->axis->armature;
  k->b[0] = -act->rate;
}

static void (*const laws[CNI_PART_COUNT])(const Act *act, CniJointBlock *block) = {
    [CNI_PART_SPRING] = spring, [CNI_PART_LOWER] = lower,       [CNI_PART_UPPER] = upper,
    [CNI_PART_MOTOR] = motor,   [CNI_PART_FRICTION] = friction, [CNI_PART_ARMATURE] = armature,
};

// The parts that act on a coordinate, bit by bit; of most there are none.
static uint32_t parts_of(const CnJointAxis *axis) {
  return (uint32_t)has_spring(axis) << CNI_PART_SPRING |
         (uint32_t)has_lower(axis) << CNI_PART_LOWER | (uint32_t)has_upper(axis) << CNI_PART_UPPER |
         (uint32_t)has_motor(axis) << CNI_PART_MOTOR |
         (uint32_t)has_friction(axis) << CNI_PART_FRICTION |
         (uint32_t)has_armature(axis) << CNI_PART_ARMATURE;
}

double cni_joint_push(const CnJointAxis *axis, const double target[3], double x, double rate) {
  if (axis->drive == CN_DRIVE_EFFORT) return target[0];
  if (!cni_joint_is_servo(axis)) return 0;
  double effort = axis->drive == CN_DRIVE_POSITION ? axis->motor_stiffness * (target[0] - x) +
                                                         axis->motor_damping * (target[1] - rate)
                                                   : axis->motor_damping * (target[0] - rate);
  return cn_clamp(effort, -axis->motor_effort, axis->motor_effort);
}

void cni_joint_count(const CnJointDef *def, int32_t *blocks, int32_t *rows) {
  int32_t locked = cni_joint_locked_count(def);
  *blocks = locked > 0;
  *rows = locked;
  for (int32_t i = 0; i < cni_joint_coordinate_count(def->kind); i++)
    for (uint32_t left = parts_of(&def->axes[i]); left; left &= left - 1) {
      ++*blocks;
      ++*rows;
    }
}

// A row in another unit: u times s, g over s.
static void in_metres(CniJointBlock *block, const CniJointRow *row, double length) {
  if (!row->turns) return;
  block->scale[0] *= length;
  block->b[0] *= length;
  block->set.lo /= length;
  block->set.hi /= length;
  block->set.compliance[0] *= length * length;
}

int cni_joint_is_plain(const CnJointDef *def) {
  for (int32_t i = 0; i < cni_joint_coordinate_count(def->kind); i++) {
    const CnJointAxis *a = &def->axes[i];
    if (parts_of(a) || a->drive == CN_DRIVE_EFFORT) return 0;
  }
  return 1;
}

int32_t cni_joint_locked_block(const CnJointDef *def, const CniJointPlace *place, double h,
                               double late, double length, CniJointBlock *block) {
  if (place->locked_count == 0) return 0;
  int soft = def->stiffness > 0 || def->damping > 0;
  block->part = CNI_PART_LOCKED;
  block->axis = 0;
  block->dim = place->locked_count;
  block->share = soft ? 1 - late : 1;
  double factor = spring_law(def->stiffness, def->damping, block->share * h, &block->set);
  for (int32_t r = 0; r < place->locked_count; r++) {
    block->scale[r] = place->locked[r].turns ? length : 1;
    block->b[r] = block->scale[r] * (factor * place->locked[r].value);
  }
  return 1;
}

int32_t cni_joint_blocks(const CnJointDef *def, const CniJointPlace *place,
                         const CniJointStep *step, CniJointBlock *blocks) {
  int32_t count =
      cni_joint_locked_block(def, place, step->time_step, step->late, step->length, blocks);
  for (int32_t i = 0; i < place->axis_count; i++) {
    uint32_t acts = parts_of(&def->axes[i]);
    for (int32_t k = 0; k < CNI_PART_COUNT; k++) {
      if (!(acts >> k & 1)) continue;
      CniJointBlock *block = &blocks[count++];
      *block = (CniJointBlock){.part = (CniJointPart)k, .axis = i, .dim = 1, .share = 1};
      block->scale[0] = k == CNI_PART_UPPER ? -1 : 1;
      Act act = {&def->axes[i],        step,           &step->targets[i],
                 place->axes[i].value, step->rates[i], cni_joint_rub_arm(def, place, i),
                 step->later[i]};
      laws[k](&act, block);
      in_metres(block, &place->axes[i], step->length);
    }
  }
  return count;
}

int cni_joint_may_hold(const CnJointAxis *axis) {
  int rigid = !(axis->limit_stiffness > 0 || axis->limit_damping > 0);
  return (has_motor(axis) && !cni_joint_is_servo(axis)) || has_friction(axis) ||
         (rigid && (has_lower(axis) || has_upper(axis)));
}

double cni_joint_effort(const double x[CNI_PART_COUNT]) {
  return x[CNI_PART_SPRING] + (x[CNI_PART_LOWER] - x[CNI_PART_UPPER]) + x[CNI_PART_MOTOR] +
         x[CNI_PART_FRICTION] + x[CNI_PART_ARMATURE];
}

CnTwist cni_joint_total(const CniJointPlace *place, const CniJointImpulse *impulse) {
  CnTwist sum = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  for (int32_t i = 0; i < place->locked_count; i++) {
    const CniJointRow *row = &place->locked[i];
    double g = impulse->locked[i];
    sum.velocity = i ? cn_madd(sum.velocity, g, row->linear) : cn_scale(g, row->linear);
    sum.spin = cn_madd(sum.spin, g, row->angular);
  }
  for (int32_t i = 0; i < place->axis_count; i++) {
    double g = cni_joint_effort(impulse->axes[i]);
    sum.velocity = cn_madd(sum.velocity, g, place->axes[i].linear);
    sum.spin = cn_madd(sum.spin, g, place->axes[i].angular);
  }
  return sum;
}
