// SPDX-License-Identifier: Apache-2.0
// hem5 and rkf45 with steps of fixed length, which nothing but the verdict judges: a rotor that turns by more than
// one of them resolves loses whole turns. What motors without a bound and soft limits do is told as it is:
// to the order of the rule that integrates it, not late by a step's work each.
#include <cairn/scene.h>
#include <cairn/verdict.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "toys.h"
#include "worlds.h"

#define SPEED 200.0 // rad/s, without loss: after .4 s it has turned by 80 rad

static CnVerdict rotor(const char *integrator, double h, double step, double tolerance,
                       double *off) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.integration.tolerance = tolerance;
  def.integration.step = step;
  def.time_step = h;
  def.gravity = CN_VEC3_ZERO;
  CnWorld *world = toy_world_from(&def);
  CnTwist turns = {CN_VEC3_ZERO, {0, 0, SPEED}};
  CnBodyId body = world_mass(world, 1, cn_vec3(.01, .01, .02), world_at(0, 0, 0), turns);
  world_join(world, CN_JOINT_REVOLUTE, (CnBodyId){0, 0}, body, CN_VEC3_ZERO, cn_vec3(0, 0, 1),
             NULL);
  CnJointState state;
  int32_t count;
  toy_steps(world, (int32_t)(.4 / h + .5));
  CHECK_OK(cn_world_joint_states(world, &state, 1, &count));
  *off = fabs(state.coordinate[0] - .4 * SPEED);
  CnVerdict verdict;
  CHECK_OK(cn_world_verdict(world, &verdict));
  print_message("  %s, h %g, step %g, tolerance %g: %.2g rad off: %s\n", integrator, h, step,
                tolerance, *off, verdict.line);
  cn_world_destroy(world);
  return verdict;
}

static const char *const names[] = {"hem5", "rkf45", "moreau-jean"};

static void turns_are_counted(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    double off;
    CnVerdict v = rotor(names[i], .04, 0, 0, &off); // 8 rad a step
    CHECK(off > .3 && !v.trusted && v.findings[CN_FINDING_TURNING].is_reason);
    v = rotor(names[i], .04, .001, 0, &off); // 8 rad a call, .2 a step
    CHECK(off < 1e-3 && v.trusted);
    v = rotor(names[i], .002, 0, 0, &off);
    CHECK(off < 1e-1 && v.trusted);
    v = rotor(names[i], .04, 0, 1e-9, &off); // steps of its own
    CHECK(off < 1e-3 && v.trusted);
  }
}

// ---- work ----

#define TURN 62.83185307179586 // rad/s: 10 turns a second
#define WHEEL                                                                                      \
  "'bodies':[{'name':'b','mass':1,'inertia':[0.1,0.1,0.1],'spin':[0,0,%.17g]}],"                   \
  "'joints':[{'name':'h','kind':'revolute','bodies':['ground','b'],'anchor':[0,0,0],'angle':{"     \
  "%s'motor_effort':'unlimited','motor_function':'f'}}]}"

typedef struct Works {
  double parts[CN_BALANCE_PART_COUNT];
  CnVerdict verdict;
} Works;

// A scene, in single quotes, and the work over `time`.
static Works works_of(const char *text, const char *integrator, double h, double time) {
  Works works = {{0}, {0}};
  char json[2000];
  CnWorldDef def = cn_world_def_default();
  CnScene *scene;
  CnWorld *world;
  snprintf(json, sizeof json, "%s", text);
  for (char *at = json; (at = strchr(at, '\''));) *at = '"';
  CHECK_OK(cn_scene_parse(json, strlen(json), "work", NULL, 0, NULL, &scene));
  cn_scene_world_def(scene, &def);
  def.balance = 1;
  def.integrator = integrator;
  def.integration.tolerance = 0;
  def.time_step = h;
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  for (int32_t i = 0; i < (int32_t)(time / h + .5); i++) {
    CnStepBalance balance;
    CHECK_OK(cn_scene_step(scene, world, NULL));
    CHECK_OK(cn_world_balance(world, &balance));
    for (int32_t k = 0; k < CN_BALANCE_PART_COUNT; k++) works.parts[k] += balance.parts[k].energy;
  }
  CHECK_OK(cn_world_verdict(world, &works.verdict));
  print_message("  %s, h %g: drives %.9g J, impacts %.9g J, scheme %.3g J: %s\n", integrator, h,
                works.parts[CN_BALANCE_DRIVES], works.parts[CN_BALANCE_IMPACTS],
                works.parts[CN_BALANCE_SCHEME], works.verdict.line);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
  return works;
}

// x = sin wt, J 0.1 kg m2: over whole turns nothing, over a quarter more minus what it had, J w2/2. Steps of h
// leave h2/12 of the change of the power's rate, 3.1e6 W/s here; by the force at the end it was -h/2 J int a2 dt,
// -156 J a millisecond.
static void motors_along_a_sine(void **state) {
  (void)state;
  char text[2000];
  snprintf(text, sizeof text,
           "{'settings':{'gravity':[0,0,0]},'functions':{'f':{'kind':'sine','amplitude':1,"
           "'frequency':10}}," WHEEL,
           TURN, "'drive':'position',");
  for (int i = 0; i < 3; i++) {
    Works w = works_of(text, names[i], .002, .4);
    CHECK(fabs(w.parts[CN_BALANCE_DRIVES]) < 1e-6 && w.verdict.trusted);
    w = works_of(text, names[i], .001, .425);
    CHECK_NEAR(w.parts[CN_BALANCE_DRIVES], -.05 * TURN * TURN, .3);
    CHECK(fabs(w.parts[CN_BALANCE_SCHEME]) < .3 && w.verdict.trusted);
  }
}

// A speed from 0 to 10 rad/s within .03 s and within .1 ms, begun within steps: J w2/2.
static void motors_along_a_table(void **state) {
  (void)state;
  static const double ends[] = {.137, .1071};
  char text[2000];
  for (int k = 0; k < 2; k++) {
    char table[200];
    snprintf(table, sizeof table,
             "{'settings':{'gravity':[0,0,0]},'functions':{'f':{'kind':'table','points':[[0,0],"
             "[0.107,0],[%g,10],[0.5,10]]}},",
             ends[k]);
    size_t begun = (size_t)snprintf(text, sizeof text, "%s", table);
    snprintf(text + begun, sizeof text - begun, WHEEL, 0.0, "");
    for (int i = 0; i < 2; i++) {
      Works w = works_of(text, names[i], .01, .2);
      CHECK_NEAR(w.parts[CN_BALANCE_DRIVES], 5, 1e-6);
      CHECK(fabs(w.parts[CN_BALANCE_SCHEME]) < 1e-6 && w.verdict.trusted);
    }
  }
}

// 1 kg meets a soft limit of 100 N/m and 2 d N s/m at 1 m/s: x = sin(wt) exp(-dt)/w until the limit no longer
// pushes, x'' = 0. Its damper pushes at once: that step is off by h.
static double speed_after(double d) {
  double w = sqrt(100 - d * d), t = (acos(-1) - atan2(2 * d * w, w * w - d * d)) / w;
  return exp(-d * t) * (cos(w * t) - d / w * sin(w * t));
}

static void soft_limits(void **state) {
  (void)state;
  static const double dampings[] = {0, 1};
  char text[2000];
  for (int k = 0; k < 2; k++) {
    snprintf(text, sizeof text,
             "{'settings':{'gravity':[0,0,0]},'bodies':[{'name':'b','mass':1,'inertia':[0.1,0.1,"
             "0.1],'velocity':[1,0,0]}],'joints':[{'name':'p','kind':'prismatic','bodies':["
             "'ground','b'],'anchor':[0,0,0],'axis':[1,0,0],'travel':{'upper':0.1,"
             "'limit_stiffness':100,'limit_damping':%g}}]}",
             2 * dampings[k]);
    double v = speed_after(dampings[k]), taken = .5 - .5 * v * v;
    for (int i = 0; i < 3; i++) {
      Works w = works_of(text, names[i], k ? .002 : .01, .6);
      CHECK_NEAR(w.parts[CN_BALANCE_IMPACTS], -taken, 2e-3);
      CHECK(fabs(w.parts[CN_BALANCE_SCHEME]) < 2e-3 && w.verdict.trusted);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turns_are_counted), cmocka_unit_test(motors_along_a_sine),
      cmocka_unit_test(motors_along_a_table), cmocka_unit_test(soft_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
