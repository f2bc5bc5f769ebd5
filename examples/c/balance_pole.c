// SPDX-License-Identifier: Apache-2.0
// A closed loop in the hook before_step: a cart balances a pole that starts 10 degrees from upright. The
// hook is called at the beginning of every step, reads the two joints and sets the force on the cart.
#include <cairn/cairn.h>

#include <math.h>
#include <stdio.h>

typedef struct Loop {
  CnJointId rail, hinge;
  CnStatus status; // of the calls inside
} Loop;

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

// State feedback: the poles of the closed loop are at -2, -2, -4, -6 per second.
static void control(void *context, CnWorld *world, double time, double time_step) {
  Loop *loop = context;
  CnJointState cart = {0}, pole = {0};
  CnJointDef rail;
  (void)time;
  (void)time_step;
  loop->status = cn_joint_state(world, loop->rail, &cart);
  if (loop->status == CN_OK) loop->status = cn_joint_state(world, loop->hinge, &pole);
  if (loop->status == CN_OK) loop->status = cn_joint_def(world, loop->rail, &rail);
  if (loop->status != CN_OK) return;
  rail.axes[0].motor_effort = 6.86 * cart.coordinate[0] + 9.7 * cart.rate[0] +
                              63.9 * pole.coordinate[0] + 16.25 * pole.rate[0];
  loop->status = cn_joint_set(world, loop->rail, &rail);
}

// A cart of 1 kg on a rail along x, on it a pole of .2 kg and 1 m, hinged about y at its foot.
static CnStatus build(CnWorld *world, Loop *loop) {
  CnBodyDef body = cn_body_def_default();
  CnJointDef rail = cn_joint_def_default(CN_JOINT_PRISMATIC);
  CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE);
  const double length = 1, angle = 10 * 3.14159265358979 / 180;
  body.mass = 1;
  body.inertia = (CnSym3){.xx = 0.01, .yy = 0.01, .zz = 0.01};
  CnStatus status = cn_body_create(world, &body, &rail.body_b);
  body.mass = 0.2;
  body.inertia = (CnSym3){.xx = 0.2 / 12, .yy = 0.2 / 12, .zz = 1e-4};
  body.pose.position = (CnVec3){0, 0, 0.5 * length};
  if (status == CN_OK) status = cn_body_create(world, &body, &hinge.body_b);
  hinge.body_a = rail.body_b;
  rail.axes[0].drive = CN_DRIVE_EFFORT;
  if (status == CN_OK)
    status = cn_joint_def_along(world, (CnVec3){0, 0, 0}, (CnVec3){1, 0, 0}, &rail);
  if (status == CN_OK) status = cn_joint_create(world, &rail, &loop->rail);
  if (status == CN_OK)
    status = cn_joint_def_along(world, (CnVec3){0, 0, 0}, (CnVec3){0, 1, 0}, &hinge);
  if (status == CN_OK) status = cn_joint_create(world, &hinge, &loop->hinge);
  // upright is the zero of the hinge; then the pole is tilted about its foot
  CnPose tilted = {{0.5 * length * sin(angle), 0, 0.5 * length * cos(angle)},
                   {.w = cos(angle / 2), .y = sin(angle / 2)}};
  if (status == CN_OK) status = cn_body_set_pose(world, hinge.body_b, &tilted);
  return status;
}

int main(void) {
  Loop loop = {.status = CN_OK};
  CnWorldDef def = cn_world_def_default();
  CnWorld *world;
  def.hooks = (CnHooks){.before_step = control, .context = &loop};
  if (failed(cn_world_create(&def, &world)) || failed(build(world, &loop))) return 1;
  CnJointState cart, pole;
  for (int step = 1; step <= 6000; step++) {
    if (failed(cn_world_step(world, NULL)) || failed(loop.status)) return 1;
    if (failed(cn_joint_state(world, loop.rail, &cart))) return 1;
    if (failed(cn_joint_state(world, loop.hinge, &pole))) return 1;
    if (step % 1000 == 0)
      printf("%d s: cart %7.4f m, pole %8.5f rad\n", step / 1000, cart.coordinate[0],
             pole.coordinate[0]);
  }
  cn_world_destroy(world);
  return fabs(pole.coordinate[0]) < 1e-3 && fabs(cart.coordinate[0]) < 1e-2 ? 0 : 1;
}
