// SPDX-License-Identifier: Apache-2.0
// The work of springs, servos and soft limits in a step of `impulse`, and what the step itself has damped of theirs: a part of
// the balance (balance.c), and what the verdict wants of it where nobody keeps one.
#include "assembly/assembly_private.h"

#define ALL 0.9   // of its effort, above which a servo is taken to give all that it has
#define TAKEN 3.0 // times what dampers take

// ---- servos and soft limits ----

// In a step of `impulse` what they gave back less than they took and than their dampers took is what the time step itself
// has damped. Each stores k e^2/2, and its damper takes d e'^2, as the coordinate's own does:
//
//     servo        e = x - target; it works against the target, which moves as it is told
//     soft limit   e = how far x is beyond it; it only pushes
//
// A servo that gives all that it has is no spring, and nothing can be told of that step.

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

// ---- springs ----

// Velocities at its end, before the springs.
CnTwist cni_before_late(const CniBalanceInput *in, int32_t i) {
  CnTwist end = in->end[i];
  if (!in->late) return end;
  CnSym3 inverse = cni_model_inv_inertia(in->model, i, in->pose_new[i].rotation);
  end.velocity = cn_madd(end.velocity, -1 / in->model->mass[i].mass, in->late[i].velocity);
  end.spin = cn_sub(end.spin, cn_smul(inverse, in->late[i].spin));
  return end;
}

// Velocities of all bodies, six numbers a group: means of the kick, and of bodies that move as prescribed.
static void fill(const CniBalanceInput *in, double *mean) {
  const CniModel *model = in->model;
  for (int32_t i = 0; i < model->body_count; i++) {
    const double *kick = &in->answer->v[6 * (size_t)i];
    CnTwist old = in->twist[i], now = {{kick[0], kick[1], kick[2]}, {kick[3], kick[4], kick[5]}};
    if (!cni_has_mass(&model->mass[i])) {
      if (model->bodies[i].kind != CN_BODY_KINEMATIC) continue;
      now = in->end[i];
    }
    double *to = mean + 6 * (size_t)i;
    CnVec3 v = cn_scale(0.5, cn_add(old.velocity, now.velocity));
    CnVec3 w = cn_scale(0.5, cn_add(old.spin, now.spin));
    to[0] = v.x, to[1] = v.y, to[2] = v.z;
    to[3] = w.x, to[4] = w.y, to[5] = w.z;
  }
}

static double work_of(const CniBalanceInput *in, int32_t index, const double *mean) {
  const CniBlock *block = &in->problem->blocks[index];
  const double *g = &in->answer->g[block->row];
  double u[CNI_MAX_DIM] = {0}, sum = 0;
  cni_storages[block->storage].velocity(in->problem, block, mean, u);
  for (int32_t r = 0; r < block->dim; r++) sum += g[r] * u[r];
  return sum;
}

static int is_soft(const CnJointDef *def) {
  int any = def->stiffness > 0 || def->damping > 0;
  for (int32_t k = 0; k < cni_joint_coordinate_count(def->kind); k++)
    any |= cni_joint_axis_stores(&def->axes[k]);
  return any;
}

static double joint_work(const CniBalanceInput *in, int32_t i, const double *mean) {
  const CniJoint *joint = &in->model->joints[i];
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  CniJointPlace place;
  int32_t first = in->joint_blocks[i];
  double sum = 0;
  if (in->joint_blocks[i + 1] == first || !is_soft(&joint->def)) return 0;
  cni_joint_at(joint, in->pose, &place);
  int32_t count = cni_joint_list(in->problem, joint, &place, in->time_step, blocks);
  for (int32_t k = 0; k < count; k++) {
    const CniBlock *block = &in->problem->blocks[first + k];
    double work = work_of(in, first + k, mean);
    if (cni_joint_part(&blocks[k]) == CN_BALANCE_SPRINGS) sum += work;
    cni_soft_work(in, joint, &place, &blocks[k], in->answer->g[block->row] * blocks[k].scale[0],
                  work);
  }
  return sum;
}

CnStatus cni_balance_springs(const CniBalanceInput *in) {
  const CniModel *model = in->model;
  double *mean, sum = 0;
  CNI_TRY(cni_arena_array(in->arena, 6 * (int64_t)in->problem->group_count, sizeof *mean, &mean));
  fill(in, mean);
  for (int32_t i = 0; in->late && i < model->body_count; i++) {
    CnTwist push = in->late[i], at = in->twist[i];
    if (cni_has_mass(&model->mass[i])) {
      CnTwist end = in->end[i], before = cni_before_late(in, i);
      at.velocity = cn_scale(0.5, cn_add(before.velocity, end.velocity));
      at.spin = cn_scale(0.5, cn_add(before.spin, end.spin));
    } else if (model->bodies[i].kind != CN_BODY_KINEMATIC) {
      continue;
    }
    sum += cn_dot(push.velocity, at.velocity) + cn_dot(push.spin, at.spin);
  }
  int32_t forces = in->joint_blocks[0] - model->coupling_count;
  for (int32_t i = 0; i < forces; i++) sum += work_of(in, i, mean);
  for (int32_t i = 0; i < model->joint_count; i++) sum += joint_work(in, i, mean);
  in->soft->springs = sum;
  in->soft->known = 1;
  return CN_OK;
}
