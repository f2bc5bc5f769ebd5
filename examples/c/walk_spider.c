// SPDX-License-Identifier: Apache-2.0
// The spider robot driven from C: the program opens the scene, takes the six cranks over from its function
// of time and gives them speeds of its own: it starts gently and walks.
//
// usage: walk_spider [SPIDER.json [SECONDS]]
#include <cairn/cairn.h>
#include <cairn/scene.h>
#include <cairn/state.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

// All cranks at a speed.
static CnStatus drive(CnWorld *world, double speed) {
  for (int i = 0; i < 6; i++) {
    char name[32];
    CnJointDef def;
    snprintf(name, sizeof name, "drive%d", i);
    CnJointId joint = cn_world_find_joint(world, name);
    CnStatus status = cn_joint_def(world, joint, &def);
    if (status != CN_OK) return status;
    def.axes[0].motor_function = (CnFunctionId){0, 0};
    def.axes[0].motor_speed = speed;
    status = cn_joint_set(world, joint, &def);
    if (status != CN_OK) return status;
  }
  return CN_OK;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "examples/machines/spider.json";
  double seconds = argc > 2 ? atof(argv[2]) : 0.6;
  CnWorldDef def = cn_world_def_default();
  CnScene *scene;
  CnWorld *world;
  if (failed(cn_scene_open(path, NULL, 0, NULL, &scene))) return 1;
  cn_scene_world_def(scene, &def);
  if (failed(cn_world_create(&def, &world)) || failed(cn_scene_fill(scene, world))) return 1;
  CnBodyId body = cn_world_find_body(world, "body");
  CnPose pose = {0};
  for (int step = 1; step <= seconds / def.time_step; step++) {
    double t = step * def.time_step;
    if (failed(drive(world, 4 * fmin(t / 0.3, 1)))) return 1;
    if (failed(cn_world_step(world, NULL)) || failed(cn_body_pose(world, body, &pose))) return 1;
    if (step % 20 == 0) printf("%.1f s: walked %.4f m\n", t, -pose.position.x);
  }
  cn_world_destroy(world);
  cn_scene_destroy(scene);
  return pose.position.x < -0.01 ? 0 : 1;
}
