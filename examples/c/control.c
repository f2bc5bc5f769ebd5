// SPDX-License-Identifier: Apache-2.0
// A control loop: a hook reads a hinge before every step and gives its motor an effort, a spring and a damper by
// hand. The arm comes to rest as the textbook says.
#include <cairn/cairn.h>

#include <math.h>
#include <stdio.h>

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

typedef struct Control {
  CnJointId hinge;
  double stiffness, damping; // N m/rad, N m s/rad
} Control;

static void before_step(void *context, CnWorld *world, double time, double time_step) {
  const Control *control = context;
  CnJointState state;
  CnJointDef def;
  (void)time, (void)time_step;
  if (cn_joint_state(world, control->hinge, &state) != CN_OK) return;
  if (cn_joint_def(world, control->hinge, &def) != CN_OK) return;
  def.axes[0].motor_effort =
      -control->stiffness * state.coordinate[0] - control->damping * state.rate[0];
  (void)cn_joint_set(world, control->hinge, &def);
}

int main(void) {
  const double inertia = 0.5, start = 0.3;
  Control control = {.stiffness = 8, .damping = 0.4};
  CnWorld *world;
  CnWorldDef def = cn_world_def_default();
  def.gravity = (CnVec3){0, 0, 0};
  def.time_step = 1e-4;
  def.hooks.before_step = before_step;
  def.hooks.context = &control;
  if (failed(cn_world_create(&def, &world))) return 1;

  // the arm starts turned by 0.3 rad: the frame on it is turned back, so that the hinge tells the angle
  CnBodyDef arm = cn_body_def_default();
  arm.mass = 1;
  arm.inertia = (CnSym3){inertia, inertia, inertia, 0, 0, 0};
  CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE); // about z
  hinge.axes[0].drive = CN_DRIVE_EFFORT;
  hinge.frame_b.rotation = (CnQuat){cos(start / 2), 0, 0, sin(start / 2)};
  if (failed(cn_body_create(world, &arm, &hinge.body_b))) return 1;
  if (failed(cn_joint_create(world, &hinge, &control.hinge))) return 1;

  const double time = 1.5, a = control.damping / (2 * inertia);
  const double w = sqrt(control.stiffness / inertia - a * a);
  for (int step = 0; step < (int)(time / def.time_step + 0.5); step++)
    if (failed(cn_world_step(world, NULL))) return 1;
  CnJointState state;
  if (failed(cn_joint_state(world, control.hinge, &state))) return 1;
  double exact = start * exp(-a * time) * (cos(w * time) + a / w * sin(w * time));
  printf("angle after %g s: %.5f rad (exact %.5f rad)\n", time, state.coordinate[0], exact);
  cn_world_destroy(world);
  return fabs(state.coordinate[0] - exact) > 1e-3;
}
