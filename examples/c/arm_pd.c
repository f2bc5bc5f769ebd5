// SPDX-License-Identifier: Apache-2.0
// PD control of an arm from a URDF file: every step the program reads the joints and sets the torque of
// their motors, k (target - x) - d x', and what gravity asks for at the target by inverse dynamics. The
// arm is there within two seconds.
//
// usage: arm_pd [ARM.urdf]
#include <cairn/cairn.h>
#include <cairn/scene.h>
#include <cairn/state.h>

#include <math.h>
#include <stdio.h>

#define JOINTS 4

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

static const char *const names[JOINTS] = {"yaw", "shoulder", "elbow", "wrist"};
static const double targets[JOINTS] = {0.8, 0.6, 0.9, -0.5}; // rad
static const double stiffness[JOINTS] = {120, 200, 120, 30}; // N m/rad
static const double damping[JOINTS] = {24, 40, 20, 3};       // N m s/rad

// The torques that hold the arm at its targets, found in a copy of the world.
static CnStatus hold(const CnWorld *world, CnDriveMotion *motions) {
  CnInverse inverse;
  CnWorld *copy;
  CnStatus status = cn_world_copy(world, &copy);
  if (status != CN_OK) return status;
  for (int i = 0; i < JOINTS; i++)
    motions[i] =
        (CnDriveMotion){.joint = cn_world_find_joint(world, names[i]), .value = targets[i]};
  status = cn_world_inverse(copy, 0, motions, JOINTS, &inverse);
  cn_world_destroy(copy);
  return status;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "examples/machines/robots/arm.urdf";
  CnWorldDef def = cn_world_def_default();
  CnDriveMotion motions[JOINTS];
  CnScene *scene;
  CnWorld *world;
  if (failed(cn_scene_open(path, NULL, 0, NULL, &scene))) return 1;
  cn_scene_world_def(scene, &def);
  if (failed(cn_world_create(&def, &world)) || failed(cn_scene_fill(scene, world))) return 1;
  if (failed(hold(world, motions))) return 1;

  double off = 0;
  for (int step = 1; step <= 2000; step++) {
    off = 0;
    for (int i = 0; i < JOINTS; i++) {
      CnJointState state;
      CnJointDef joint;
      if (failed(cn_joint_state(world, motions[i].joint, &state))) return 1;
      if (failed(cn_joint_def(world, motions[i].joint, &joint))) return 1;
      double error = targets[i] - state.coordinate[0];
      joint.axes[0].drive = CN_DRIVE_EFFORT;
      joint.axes[0].motor_effort =
          motions[i].effort + stiffness[i] * error - damping[i] * state.rate[0];
      if (failed(cn_joint_set(world, motions[i].joint, &joint))) return 1;
      off = fmax(off, fabs(error));
    }
    if (failed(cn_world_step(world, NULL))) return 1;
    if (step % 400 == 0) printf("%.1f s: %.5f rad from the target\n", 1e-3 * step, off);
  }
  cn_world_destroy(world);
  cn_scene_destroy(scene);
  return off < 1e-3 ? 0 : 1;
}
