// SPDX-License-Identifier: Apache-2.0
// A wheel of .1 kg m2 on a hinge whose motor gives 2 N m until it turns at 10 rad/s, after half a
// second.
#include <cairn/cairn.h>

#include <math.h>
#include <stdio.h>

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

int main(void) {
  CnWorld *world;
  CnWorldDef world_def = cn_world_def_default();
  if (failed(cn_world_create(&world_def, &world))) return 1;

  CnBodyDef wheel = cn_body_def_default();
  wheel.mass = 2;
  wheel.inertia = (CnSym3){.xx = 0.1, .yy = 0.1, .zz = 0.1};

  // between the ground (body_a is none) and the wheel, about y
  CnJointId joint;
  CnJointDef axle = cn_joint_def_default(CN_JOINT_REVOLUTE);
  if (failed(cn_body_create(world, &wheel, &axle.body_b))) return 1;
  if (failed(cn_joint_def_along(world, (CnVec3){0, 0, 0}, (CnVec3){0, 1, 0}, &axle))) return 1;
  axle.axes[0].motor_speed = 10;
  axle.axes[0].motor_effort = 2;
  if (failed(cn_joint_create(world, &axle, &joint))) return 1;

  // 1000 steps of a millisecond
  for (int i = 1; i <= 1000; i++) {
    CnJointState state;
    if (failed(cn_world_step(world, NULL))) return 1;
    if (failed(cn_joint_state(world, joint, &state))) return 1;
    double expected = fmin(2 / 0.1 * 1e-3 * i, 10);
    if (i % 100 == 0)
      printf("%.1f s: %6.3f rad/s, motor %6.3f N m\n", 1e-3 * i, state.rate[0], state.motor[0]);
    if (fabs(state.rate[0] - expected) > 1e-9) return 1;
  }
  cn_world_destroy(world);
  return 0;
}
