// SPDX-License-Identifier: Apache-2.0
// Whose momentum and energy is whose in a step (balance.c). A part of assembly.h.
#ifndef CNI_ASSEMBLY_BALANCE_H
#define CNI_ASSEMBLY_BALANCE_H

#include "core/memory.h"
#include "model/model.h"
#include "problem/problem.h"
#include <cairn/solver.h>

// J: of springs, of motors that are forces, of what is given, of soft limits, and of motors that are rows.
typedef struct CniWorks {
  double springs, drives, loads, limits, motors;
  double coarse;  // J: by how much `motors` may be off, known at the ends of pieces alone
  double kinetic; // J: the most there was on the way
  int32_t motors_known;
} CniWorks;

// J: work of soft limits; of them and of servos: what is stored, and what they gave back less than they and their
// dampers took.
typedef struct CniSoftWork {
  double limits, stored, lost;
  double springs; // J: work of springs, where no balance tells it;
  int32_t known;  // then 1
} CniSoftWork;
// Of a loss what is not the work of dampers of so much power.
double cni_lost_to_step(double lost, double power, double h);

typedef struct CniBalanceInput {
  const CniModel *model;
  const CnProblem *problem;
  const CnAnswer *answer;
  const CnPose *from, *pose, *pose_new; // before the step, where impulses act, after it
  const CnTwist *start, *twist, *end;   // likewise
  const uint8_t *flies;        // by body: gravity acts before and after the impulses; null: on none
  const CnBalanceTerm *drift;  // of joints in the drift, by part; null: none
  const CnTwist *late;         // momenta of springs after it, by body; null: none
  const int32_t *joint_blocks; // of cni_assemble
  CnVec3 gravity;
  double time, time_step, restitution_threshold;
  int32_t geometric_stiffness;
  int32_t rounds; // of impacts, if more than one: the groups are those of the last one
  // 1: the impulses are sums over a step of the equations of motion. Joints work by the means of
  // their rates at both ends; of contacts and forces directions are those of the problem, velocities
  // means of both ends; what that leaves is the scheme's.
  int32_t by_quadrature;
  const CniWorks *works; // then: theirs over the step, better known; null: they are not
  CniSoftWork *soft;     // to be filled in for a step problem; null: not asked for
  CniArena *arena;
} CniBalanceInput;
CnStatus cni_balance(const CniBalanceInput *input, CnStepBalance *balance);
// What springs, servos and soft limits do in a step problem, and nothing else: in->soft.
CnStatus cni_balance_springs(const CniBalanceInput *input);
// May a coordinate store energy, or take what another does?
static inline int cni_joint_axis_stores(const CnJointAxis *axis) {
  return axis->stiffness > 0 || axis->damping > 0 || axis->limit_stiffness > 0 ||
         axis->motor_stiffness > 0;
}

#endif
