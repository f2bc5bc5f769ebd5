// SPDX-License-Identifier: Apache-2.0
// The balance of energy and momentum of a step, as the world knows it when it is done.
#include "world/world.h"

CnStatus cni_balance_step(CnWorld *world, const CnPose *pose, const CnTwist *twist,
                          const CnAnswer *answer, int solved) {
  const CniSettings *settings = &world->now.settings;
  CniModel *model = &world->now.model;
  const CniTouch *touch = world->work.touch;
  CniBalanceInput input = {.model = model,
                           .problem = world->now.engine.problem,
                           .answer = answer,
                           .from = model->pose,
                           .start = model->twist,
                           .pose = touch ? touch->pose : model->pose,
                           .pose_new = pose,
                           .twist = touch ? touch->twist : model->twist,
                           .end = twist,
                           .flies = touch ? touch->flies : NULL,
                           .drift = world->work.drift_terms,
                           .late = world->work.late,
                           .joint_blocks = world->work.joint_blocks,
                           .time = world->now.time,
                           .gravity = settings->gravity,
                           .time_step = world->work.time_step,
                           .restitution_threshold =
                               cni_bounce_threshold(world, world->work.time_step),
                           .geometric_stiffness = settings->geometric_stiffness,
                           .rounds = solved ? world->found.bounces.rounds : 0,
                           .by_quadrature = !solved,
                           .soft = &world->soft,
                           .works = solved ? NULL : cni_equations_works(world),
                           .arena = &world->memory.arena};
  if (!settings->balance) return cni_balance_springs(&input);
  return cni_balance(&input, &world->balance);
}
