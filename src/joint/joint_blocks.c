// SPDX-License-Identifier: Apache-2.0
// What a joint does in a step, as blocks of the step problem, for every kind alike.
//
// Locked directions are bilateral: u = 0 with b = (kappa/h) c(q), which removes the share kappa of a
// position error in each step. With a stiffness k_s or a damping d they are an implicit
// spring-damper in the same rows:
//
//     C = 1/(h (h k_s + d)),   b = k_s c/(h k_s + d)
//
// for which u = E v + b + C g = 0 says g = -h (k_s (c + h E v) + d E v): the force at the end of
// the step. Exact in every solver family, stable for any stiffness. Springs on coordinates are the
// same about their rest. On a coordinate x also act, each as a block of its own:
//
//     limits     u = x' + (x - lower)/h >= 0, likewise above: met at the end of the step, not passed;
//                where it is passed already the share kappa of it comes back in each step
//     motor      u = x' - speed, |g| <= h effort: keeps its speed or gives all it has
//     friction   u = x', |g| <= h friction
#include "joint/joint.h"

#include <math.h>

static CnSet interval(double most) {
  CnSet set = cn_set_default(CN_BLOCK_INTERVAL);
  set.lo = -most;
  set.hi = most;
  return set;
}

// Rigid, or a spring-damper: the set, and the factor from the error to b.
static double spring_law(double stiffness, double damping, double h, double factor, CnSet *set) {
  *set = cn_set_default(CN_BLOCK_BILATERAL);
  if (!(stiffness > 0 || damping > 0)) return factor;
  double both = h * stiffness + damping;
  set->compliance[0] = 1 / (h * both);
  return stiffness / both;
}

static int has_spring(const CnJointAxis *axis) { return axis->stiffness > 0 || axis->damping > 0; }
static int has_lower(const CnJointAxis *axis) { return axis->lower > -INFINITY; }
static int has_upper(const CnJointAxis *axis) { return axis->upper < INFINITY; }
static int has_motor(const CnJointAxis *axis) { return axis->motor_effort > 0; }
static int has_friction(const CnJointAxis *axis) { return axis->friction > 0; }

static void spring(const CnJointAxis *axis, const CniJointStep *step, double x, CniJointBlock *k) {
  double factor = spring_law(axis->stiffness, axis->damping, step->time_step, 0, &k->set);
  k->b[0] = factor * (x - axis->rest);
}

static double limit(const CniJointStep *step, double gap) {
  return (gap > 0 ? 1 : step->stabilisation) * gap / step->time_step;
}

static void lower(const CnJointAxis *axis, const CniJointStep *step, double x, CniJointBlock *k) {
  k->set = cn_set_default(CN_BLOCK_UNILATERAL);
  k->b[0] = limit(step, x - axis->lower);
}

static void upper(const CnJointAxis *axis, const CniJointStep *step, double x, CniJointBlock *k) {
  k->set = cn_set_default(CN_BLOCK_UNILATERAL);
  k->b[0] = limit(step, axis->upper - x);
}

static void motor(const CnJointAxis *axis, const CniJointStep *step, double x, CniJointBlock *k) {
  (void)x;
  int bounded = axis->motor_effort < INFINITY;
  k->set =
      bounded ? interval(step->time_step * axis->motor_effort) : cn_set_default(CN_BLOCK_BILATERAL);
  k->b[0] = -axis->motor_speed;
}

static void friction(const CnJointAxis *axis, const CniJointStep *step, double x,
                     CniJointBlock *k) {
  (void)x;
  k->set = interval(step->time_step * axis->friction);
  k->b[0] = 0;
}

typedef struct Part {
  const char *name;
  int (*acts)(const CnJointAxis *axis);
  void (*law)(const CnJointAxis *axis, const CniJointStep *step, double x, CniJointBlock *block);
} Part;

static const Part parts[CNI_PART_COUNT] = {
    [CNI_PART_SPRING] = {"a spring", has_spring, spring},
    [CNI_PART_LOWER] = {"a lower limit", has_lower, lower},
    [CNI_PART_UPPER] = {"an upper limit", has_upper, upper},
    [CNI_PART_MOTOR] = {"a motor with a bound", has_motor, motor},
    [CNI_PART_FRICTION] = {"dry friction", has_friction, friction},
};

void cni_joint_count(const CnJointDef *def, int32_t *blocks, int32_t *rows) {
  int32_t locked = cni_joint_kinds[def->kind]->locked_count;
  *blocks = locked > 0;
  *rows = locked;
  for (int32_t i = 0; i < cni_joint_coordinate_count(def->kind); i++)
    for (int32_t k = 0; k < CNI_PART_COUNT; k++) {
      if (!parts[k].acts(&def->axes[i])) continue;
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

int32_t cni_joint_blocks(const CnJointDef *def, const CniJointPlace *place,
                         const CniJointStep *step, CniJointBlock *blocks) {
  int32_t count = 0;
  if (place->locked_count > 0) {
    CniJointBlock *block = &blocks[count++];
    *block = (CniJointBlock){.part = CNI_PART_LOCKED, .dim = place->locked_count};
    double factor = spring_law(def->stiffness, def->damping, step->time_step,
                               step->stabilisation / step->time_step, &block->set);
    for (int32_t r = 0; r < place->locked_count; r++) {
      block->scale[r] = place->locked[r].turns ? step->length : 1;
      block->b[r] = block->scale[r] * (factor * place->locked[r].value);
    }
  }
  for (int32_t i = 0; i < place->axis_count; i++)
    for (int32_t k = 0; k < CNI_PART_COUNT; k++) {
      if (!parts[k].acts(&def->axes[i])) continue;
      CniJointBlock *block = &blocks[count++];
      *block = (CniJointBlock){.part = (CniJointPart)k, .axis = i, .dim = 1};
      block->scale[0] = k == CNI_PART_UPPER ? -1 : 1;
      parts[k].law(&def->axes[i], step, place->axes[i].value, block);
      in_metres(block, &place->axes[i], step->length);
    }
  return count;
}

double cni_joint_effort(const CniJointImpulse *impulse, int32_t axis) {
  const double *x = impulse->axes[axis];
  return x[CNI_PART_SPRING] + (x[CNI_PART_LOWER] - x[CNI_PART_UPPER]) + x[CNI_PART_MOTOR] +
         x[CNI_PART_FRICTION];
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
    double g = cni_joint_effort(impulse, i);
    sum.velocity = cn_madd(sum.velocity, g, place->axes[i].linear);
    sum.spin = cn_madd(sum.spin, g, place->axes[i].angular);
  }
  return sum;
}

const char *cni_joint_one_sided(const CnJointDef *def) {
  for (int32_t i = 0; i < cni_joint_coordinate_count(def->kind); i++)
    for (int32_t k = CNI_PART_LOWER; k < CNI_PART_COUNT; k++)
      if (parts[k].acts(&def->axes[i]) &&
          !(k == CNI_PART_MOTOR && !(def->axes[i].motor_effort < INFINITY)))
        return parts[k].name;
  return NULL;
}
