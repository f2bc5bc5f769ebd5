// SPDX-License-Identifier: Apache-2.0
// Whole turns within a step of hem5 and rkf45: angles and ways along closed curves are counted by the steps
// that these choose, so that a step of the world as long as many turns gives what short ones give. Against
// closed forms, from h = 2 ms to all the time in one step.
#include <cairn/scene.h>
#include <cairn/state.h>
#include <cairn/verdict.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "toys.h"

#define PI 3.14159265358979323846

static const char *const names[] = {"hem5", "rkf45"};

typedef struct Loaded {
  CnScene *scene;
  CnWorld *world;
} Loaded;

// A scene, in single quotes; tolerance 0: fixed steps of a millisecond.
static Loaded load(const char *text, const char *integrator, double tolerance, double h) {
  Loaded l;
  char json[2000];
  CnWorldDef def = cn_world_def_default();
  snprintf(json, sizeof json, "%s", text);
  for (char *at = json; (at = strchr(at, '\''));) *at = '"';
  CHECK_OK(cn_scene_parse(json, strlen(json), "turns", NULL, 0, NULL, &l.scene));
  cn_scene_world_def(l.scene, &def);
  def.balance = 1;
  def.gravity = cn_vec3(0, 0, 0);
  def.integrator = integrator;
  def.integration.tolerance = tolerance;
  if (!(tolerance > 0)) def.integration.step = .001;
  def.time_step = h;
  CHECK_OK(cn_world_create(&def, &l.world));
  CHECK_OK(cn_scene_fill(l.scene, l.world));
  return l;
}

static void steps(const Loaded *l, int32_t count) {
  for (int32_t i = 0; i < count; i++) CHECK_OK(cn_scene_step(l->scene, l->world, NULL));
}

static CnJointState joint_of(const Loaded *l) {
  CnJointState state;
  CHECK_OK(cn_joint_state(l->world, cn_world_find_joint(l->world, "j"), &state));
  return state;
}

static void drop(const Loaded *l) {
  cn_world_destroy(l->world);
  cn_scene_destroy(l->scene);
}

// The coordinate of joint j after `time`, by steps of h.
static void follow(const char *what, const char *text, int32_t axis, double time, double x,
                   double rate, double allowed) {
  static const double lengths[] = {.0025, .05, 1};
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 3; k++) {
      Loaded l = load(text, names[i], 1e-8, lengths[k] * time);
      CnVerdict verdict;
      steps(&l, (int32_t)(1 / lengths[k] + .5));
      CnJointState j = joint_of(&l);
      CHECK_OK(cn_world_verdict(l.world, &verdict));
      print_message("  %s, %s, h %g: %.9g, %.2g and %.2g off: %s\n", what, names[i],
                    lengths[k] * time, j.coordinate[axis], fabs(j.coordinate[axis] - x),
                    fabs(j.rate[axis] - rate), verdict.line);
      CHECK(verdict.trusted);
      CHECK_NEAR(j.coordinate[axis], x, allowed);
      CHECK_NEAR(j.rate[axis], rate, allowed);
      drop(&l);
    }
}

#define BODY                                                                                       \
  "'bodies':[{'name':'b','mass':1,'inertia':[0.1,0.1,0.1],'spin':[%g,0,%g],'velocity':[0,0,%.17g]" \
  "}],"
#define JOINT "'joints':[{'name':'j','kind':'%s','bodies':['ground','b'],'frames':[{},{}],%s}]"

// On every kind of coordinate that turns: x'' = -w2 x from x' = 300 rad/s, 46 turns out.
static void springs(void **state) {
  (void)state;
  static const struct {
    const char *kind, *own;
    int32_t axis;
  } cases[] = {{"revolute", "'angle':{'stiffness':0.1}", 0},
               {"cylindrical", "'angle':{'stiffness':0.1}", 1},
               {"universal", "'angle_a':{'stiffness':0.1}", 0},
               {"generic", "'rz':{'stiffness':0.1}", 5},
               {"screw", "'lead':2,'angle':{'stiffness':0.1}", 0}};
  char text[2000];
  for (int i = 0; i < 5; i++) {
    int screw = strcmp(cases[i].kind, "screw") == 0, x = strcmp(cases[i].kind, "universal") == 0;
    double lead = screw ? 1 / PI : 0, w = sqrt(.1 / (.1 + lead * lead)), t = .8;
    snprintf(text, sizeof text, "{" BODY JOINT "}", x ? 300. : 0., x ? 0. : 300., 300 * lead,
             cases[i].kind, cases[i].own);
    follow(cases[i].kind, text, cases[i].axis, t, 300 / w * sin(w * t), 300 * cos(w * t), 1e-4);
  }
}

// A torsion spring between two frames, its own rest a turn and a half away.
static void torsion(void **state) {
  (void)state;
  double d = .2, w = sqrt(8 - d * d), t = 2, e = exp(-d * t);
  follow(
      "torsion",
      "{'bodies':[{'name':'b','mass':1,'inertia':[0.05,0.05,0.05]}],'joints':[{'name':'j','kind':"
      "'revolute','bodies':['ground','b'],'anchor':[0,0,0]}],'forces':[{'name':'k','kind':'torsion'"
      ","
      "'bodies':['ground','b'],'anchors':[[0,0,0],[0,0,0]],'torsion_stiffness':0.4,"
      "'torsion_damping':0.02,'rest_angle':9}]}",
      0, t, 9 - 9 * e * (cos(w * t) + d / w * sin(w * t)), 72 / w * e * sin(w * t), 1e-6);
}

// A servo, and a motor without a bound, behind a ramp of 30 rad/s.
static void drives(void **state) {
  (void)state;
  static const char *const motor = "'angle':{'drive':'position','motor_function':'r',%s}";
  double d = .5, w = sqrt(20 - d * d), t = 1.2, e = 3 / w * exp(-d * t);
  char text[2000], own[300];
  snprintf(own, sizeof own, motor, "'motor_effort':5,'motor_stiffness':2,'motor_damping':0.1");
  snprintf(text, sizeof text,
           "{'functions':{'r':{'kind':'ramp','rate':30,'start':0,'end':100}}," BODY JOINT "}", 0.,
           33., 0., "revolute", own);
  follow("servo", text, 0, t, 30 * t + e * sin(w * t), 30 + e * (w * cos(w * t) - d * sin(w * t)),
         1e-5);
  snprintf(own, sizeof own, motor, "'motor_effort':'unlimited'");
  snprintf(text, sizeof text,
           "{'functions':{'r':{'kind':'ramp','rate':30,'start':0,'end':100}}," BODY JOINT "}", 0.,
           30., 0., "revolute", own);
  follow("motor", text, 0, t, 30 * t, 30, 1e-5);
}

// Wheels that turn 1 : -3; a stop that is met at 60 rad, ten turns on.
static void gears_and_stops(void **state) {
  (void)state;
  char text[2000];
  follow("gear",
         "{'bodies':[{'name':'b','mass':1,'inertia':[0.1,0.1,0.1],'spin':[0,0,90]},{'name':'c','"
         "position':"
         "[1,0,0],'mass':1,'inertia':[0.1,0.1,0.1],'spin':[0,0,-30]}],'joints':[{'name':'j','kind':"
         "'revolute','bodies':['ground','b'],'anchor':[0,0,0]},{'name':'k','kind':'revolute','"
         "bodies':["
         "'ground','c'],'anchor':[1,0,0]}],'couplings':[{'name':'g','terms':[{'joint':'j'},{'joint'"
         ":'k',"
         "'coefficient':3}]}]}",
         0, 1, 90, 90, 1e-5);
  snprintf(text, sizeof text, "{" BODY JOINT "}", 0., 100., 0., "revolute",
           "'angle':{'upper':60,'restitution':0.5}");
  follow("stop", text, 0, 1, 60 - .4 * 50, -50, 1e-5);
}

// A pin in a circular groove, with a spring on its travel: v/w sin(w t) from where it is.
static void grooves(void **state) {
  (void)state;
  static const char text[] =
      "{'curves':{'c':{'kind':'path','closed':true,'points':[[0.5,0,1],[-0.5,0,1]]}},'bodies':[{'"
      "name':'b',"
      "'position':[0,-0.5,0],'velocity':[7,0,0],'mass':0.4,'inertia':[0.001,0.001,0.001]}],'joints'"
      ":[{"
      "'name':'j','kind':'point_on_curve','bodies':['ground','b'],'frames':[{},{}],'curve_a':'c',"
      "'travel':{'stiffness':%s}}]}";
  char own[1000];
  double w = sqrt(1 / .4), t = 1.5;
  snprintf(own, sizeof own, text, "1");
  Loaded l = load(own, "hem5", 1e-9, t);
  CnJointState j = joint_of(&l);
  drop(&l);
  double s = j.coordinate[0], v = j.rate[0];
  follow("groove", own, 0, t, s * cos(w * t) + v / w * sin(w * t),
         v * cos(w * t) - s * w * sin(w * t), 1e-5);
  snprintf(own, sizeof own, text, "0");
  follow("free groove", own, 0, t, s + v * t, v, 1e-5);
}

// Steps of a fixed length within one of the world; a run that is saved and goes on has the same bits.
static void as_without(void **state) {
  (void)state;
  char text[2000];
  snprintf(text, sizeof text, "{" BODY JOINT "}", 0., 300., 0., "revolute",
           "'angle':{'stiffness':0.1}");
  Loaded fixed = load(text, "hem5", 0, .8), whole = load(text, "rkf45", 1e-6, .2);
  steps(&fixed, 1);
  CHECK_NEAR(joint_of(&fixed).coordinate[0], 300 * sin(.8), 1e-3);
  drop(&fixed);
  Loaded other = load(text, "rkf45", 1e-6, .2);
  size_t size;
  steps(&whole, 2);
  CHECK_OK(cn_world_save(whole.world, NULL, 0, &size));
  void *data = malloc(size);
  CHECK(data != NULL);
  CHECK_OK(cn_world_save(whole.world, data, size, &size));
  CHECK_OK(cn_world_restore(other.world, data, size));
  free(data);
  steps(&whole, 2);
  for (int i = 0; i < 2; i++) CHECK_OK(cn_world_step(other.world, NULL));
  CHECK(joint_of(&whole).coordinate[0] == joint_of(&other).coordinate[0]);
  CHECK(cn_world_hash(whole.world) == cn_world_hash(other.world));
  drop(&whole);
  drop(&other);
}

// An effort that is a function of time is told as it is at the end.
static void efforts(void **state) {
  (void)state;
  char text[2000];
  snprintf(text, sizeof text,
           "{'functions':{'f':{'kind':'sine','amplitude':0.5,'frequency':1.25}}," BODY JOINT "}",
           0., 0., 0., "revolute", "'angle':{'drive':'effort','motor_function':'f'}");
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++) {
      Loaded l = load(text, names[i], 1e-9, k ? .2 : .05);
      steps(&l, k ? 5 : 20);
      CnJointState j = joint_of(&l);
      CHECK_NEAR(j.motor[0], .5, 1e-9);
      CHECK_NEAR(j.torque.z, .5, 1e-9);
      drop(&l);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(springs), cmocka_unit_test(torsion),    cmocka_unit_test(drives),
      cmocka_unit_test(grooves), cmocka_unit_test(as_without), cmocka_unit_test(gears_and_stops),
      cmocka_unit_test(efforts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
