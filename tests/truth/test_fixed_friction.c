// SPDX-License-Identifier: Apache-2.0
// Friction by hem5 and rkf45 with steps of fixed length: where a slip begins it is so slow that friction turns its direction
// within next to no time, which such a step does not follow; and where there are no forces a short step leads on, as it
// does with a tolerance.
#include <cairn/scene.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

static const char *const names[] = {"hem5", "rkf45"};
static const double g = 9.81;

static CnWorld *world_by(int k, double h) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = names[k];
  def.integration.tolerance = 0;
  def.time_step = h;
  return world_make(&def);
}

// A box of 1 kg with mu = .3 is pulled by a spring of 10 N/m whose other end goes on at 1 m/s. It gives way at t0 = mu m g/(k v);
// then x = v T - v/w sin wT, with T = t - t0, w^2 = k/m. Told is mu m g from then on, in every step.
static void gives_way(void **state) {
  (void)state;
  static const double steps[] = {.005, .01, .02};
  for (int k = 0; k < 6; k++) {
    double h = steps[k % 3], mu = .3, start = mu * g / 10, w = sqrt(10), worst = 0;
    CnWorld *world = world_by(k / 3, h);
    CnMaterialId material = world_material(world, mu, 0);
    CnBodyId floor = world_floor(world, material), car;
    CnBodyId box = world_box(world, cn_vec3(.05, .05, .05), 1, world_at(0, 0, .05),
                             cn_vec3(0, 0, 0), material);
    CnBodyDef def = cn_body_def_default();
    def.kind = CN_BODY_KINEMATIC;
    def.pose.position = cn_vec3(1, 0, 0);
    def.twist.velocity = cn_vec3(1, 0, 0);
    CHECK_OK(cn_body_create(world, &def, &car));
    CnForceDef spring = cn_force_def_default(CN_FORCE_SPRING);
    CnForceId id;
    spring.body_a = box;
    spring.body_b = car;
    spring.frame_a.position = cn_vec3(0, 0, -.05);
    spring.rest_length = 1;
    spring.stiffness = 10;
    CHECK_OK(cn_force_create(world, &spring, &id));
    for (int i = 1; i <= (int)(.5 / h + .5); i++) {
      world_step(world);
      double late = fmax(0, i * h - start);
      worst = fmax(worst, fabs(world_pose(world, box).position.x - late + sin(w * late) / w));
      if (late > 0) CHECK_NEAR(world_force(world, floor, box).x, -mu * g, 1e-9);
    }
    print_message("  %s, h %g: off by %.2g m\n", names[k / 3], h, worst);
    CHECK(worst < 1e-8);
    cn_world_destroy(world);
  }
}

// A box slides out between two jaws that are pushed together: where its end comes by, forces of its corners grow beyond
// all bounds, and "the constraint matrix is singular" ended the run. It falls, and gets no energy.
#define JAW                                                                                        \
  "{'name':'%s','position':[%g,0,0.1],'mass':1,'inertia':[0.002,0.002,0.002],"                     \
  "'shapes':[{'kind':'box','size':[0.1,0.1,0.1],'material':'m'}]}"
#define SLIDE                                                                                      \
  "{'kind':'prismatic','bodies':['ground','%s'],'anchor':[%g,0,0],'axis':[%g,0,0],"                \
  "'travel':{'drive':'%s','motor_effort':4%s}}"

static void slides_out(void **state) {
  (void)state;
  char json[3000];
  size_t at = (size_t)snprintf(json, sizeof json,
                               "{'materials':{'m':{'friction':0.5}},'bodies':[{'name':'box',"
                               "'mass':1,'inertia':[0.02,0.02,0.004],'shapes':[{'kind':'box',"
                               "'size':[0.2,0.1,0.5],'material':'m'}]}," JAW "," JAW
                               "],'joints':[" SLIDE "," SLIDE "]}",
                               "l", -.15, "r", .15, "l", -.15, 1., "effort", "", "r", .15, -1.,
                               "speed", ",'motor_speed':0.1");
  CHECK(at < sizeof json);
  for (char *c = json; (c = strchr(c, '\'')); *c = '"') continue;
  for (int k = 0; k < 2; k++) {
    CnScene *scene;
    CnWorld *world = world_by(k, .005);
    CHECK_OK(cn_scene_parse(json, at, "jaws", NULL, 0, NULL, &scene));
    CHECK_OK(cn_scene_fill(scene, world));
    CnBodyId box = cn_world_find_body(world, "box");
    double most = 8 * .4; // of both jaws
    for (int i = 0; i < 120; i++) {
      CHECK_OK(cn_scene_step(scene, world, NULL));
      CHECK(world_energy(world) < most);
    }
    print_message("  %s: fallen to %g m\n", names[k], world_pose(world, box).position.z);
    CHECK(world_pose(world, box).position.z < -.7);
    cn_world_destroy(world);
    cn_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gives_way), cmocka_unit_test(slides_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
