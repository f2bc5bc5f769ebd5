// SPDX-License-Identifier: Apache-2.0
// Servos and soft limits in a step of `impulse`: what they gave back less than they took and than their dampers
// took is what the time step itself has damped. Each stores k e^2/2, and its damper takes d e'^2, as the coordinate's
// own does:
//
//     servo        e = x - target; it works against the target, which moves as it is told
//     soft limit   e = how far x is beyond it; it only pushes
//
// A servo that gives all that it has is no spring, and nothing can be told of that step.
#include "assembly/assembly_private.h"

#include "core/math.h"

#define ALL 0.9   // of its effort, above which a servo is taken to give all that it has
#define TAKEN 3.0 // times what dampers take

// A loss of the size of what dampers take is not told: rates change within a step, and what swings on in spite of
// its dampers for more than that is not damped by the step any more. Nor can anything be told of a gain.
double cni_lost_to_step(double lost, double power, double h) {
  double most = TAKEN * h * power;
  return most == 0 ? lost : cn_min(lost + most, 0);
}

typedef struct Soft {
  double stored, taken; // J, W
} Soft;

static Soft servo_at(const CniModel *model, const CnJointAxis *axis, double time, double x,
                     double rate) {
  double target[3];
  cni_joint_target(model, axis, time, target);
  double e = x - target[0], slip = rate - target[1];
  return (Soft){0.5 * axis->motor_stiffness * e * e,
                axis->motor_damping * slip * slip + axis->damping * rate * rate};
}

static Soft limit_at(const CnJointAxis *axis, CniJointPart part, double x, double rate) {
  double deep = cn_max(0, part == CNI_PART_LOWER ? axis->lower - x : x - axis->upper);
  return (Soft){0.5 * axis->limit_stiffness * deep * deep,
                (axis->limit_damping + axis->damping) * rate * rate};
}

void cni_soft_work(const CniBalanceInput *in, const CniJoint *joint, const CniJointPlace *place,
                   const CniJointBlock *block, double g, double work) {
  const CnJointAxis *axis = &joint->def.axes[block->axis];
  double h = in->time_step;
  int servo =
      block->part == CNI_PART_MOTOR && axis->drive == CN_DRIVE_POSITION && cni_joint_is_servo(axis);
  int limit =
      (block->part == CNI_PART_LOWER || block->part == CNI_PART_UPPER) && axis->limit_stiffness > 0;
  if (!in->soft || in->by_quadrature || !(servo || limit)) return;
  CniJointEnd a, b, a_new, b_new;
  CniJointPlace now;
  cni_joint_ends(joint, in->pose, in->twist, &a, &b);
  cni_joint_ends(joint, in->pose_new, in->end, &a_new, &b_new);
  cni_joint_between(joint, &a_new, &b_new, &now);
  const CniJointRow *row = &place->axes[block->axis], *row_new = &now.axes[block->axis];
  double rate = cni_joint_rate(place, row, &a.twist, &b.twist);
  double rate_new = cni_joint_rate(&now, row_new, &a_new.twist, &b_new.twist);
  Soft from, to;
  if (limit) {
    from = limit_at(axis, block->part, row->value, rate);
    to = limit_at(axis, block->part, row_new->value, rate_new);
    in->soft->limits += work;
  } else {
    double start[3], end[3];
    if (fabs(g) + fabs(joint->drift[block->axis][CNI_PART_MOTOR]) >= ALL * h * axis->motor_effort)
      return;
    cni_joint_target(in->model, axis, in->time, start);
    cni_joint_target(in->model, axis, in->time + h, end);
    from = servo_at(in->model, axis, in->time, row->value, rate);
    to = servo_at(in->model, axis, in->time + h, row_new->value, rate_new);
    work -= g * (end[0] - start[0]) / h;
  }
  in->soft->stored += cn_max(from.stored, to.stored);
  in->soft->lost +=
      cni_lost_to_step(work + to.stored - from.stored, cn_max(from.taken, to.taken), h);
}
