// SPDX-License-Identifier: Apache-2.0
// What MJCF says of masses, motors and loads, by closed forms; what is left out and felt is told.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/mechanism.h>
#include <cairn/scene.h>

#include "io/robots/robot.h"

typedef struct Robot {
  CnScene *scene;
  CnWorld *world;
} Robot;

static Robot open_text(const char *text, const CnSetting *settings, int32_t count) {
  CniRobotDef def = {"r.xml", "", CN_POSE_ONE, settings, count, NULL};
  CnAllocator allocator = cn_world_def_default().allocator;
  CnWorldDef world = cn_world_def_default();
  Robot r;
  char *scene;
  size_t length;
  CHECK_OK(cni_robot_text(&def, text, strlen(text), &allocator, &scene, &length));
  CHECK_OK(cn_scene_parse(scene, length, "r.xml", NULL, 0, NULL, &r.scene));
  allocator.release(allocator.context, scene, length + 1);
  cn_scene_world_def(r.scene, &world);
  CHECK_OK(cn_world_create(&world, &r.world));
  CHECK_OK(cn_scene_fill(r.scene, r.world));
  return r;
}

static void close_robot(Robot *r) {
  cn_world_destroy(r->world);
  cn_scene_destroy(r->scene);
}

static CnJointAxis axis_of(const Robot *r, const char *name) {
  CnJointDef def = {0};
  for (CnJointId j = cn_world_next_joint(r->world, (CnJointId){0, 0}); j.slot;
       j = cn_world_next_joint(r->world, j)) {
    CHECK_OK(cn_joint_def(r->world, j, &def));
    if (strcmp(def.name, name) == 0) return def.axes[0];
  }
  fail_msg("no joint %s", name);
  return def.axes[0];
}

static const char *notes(const Robot *r) {
  static CnSceneInfo info;
  cn_scene_info(r->scene, &info);
  return info.description;
}

static double load_of(const Robot *r) {
  CnMachine *machine;
  double load[6];
  CHECK_OK(cn_machine_create(r->world, NULL, &machine));
  CHECK_OK(cn_machine_matrix(machine, CN_MACHINE_REDUCED_LOADS, load, 6, NULL, NULL));
  cn_machine_destroy(machine);
  return load[0];
}

#define ARM(more, actuators)                                                                       \
  "<mujoco><worldbody><body name='a'" more "><joint name='h' axis='0 1 0' actuatorfrcrange='-3 "   \
  "5'/><geom type='box' size='.5 .1 .1' pos='.5 0 0' "                                             \
  "mass='2'/></body></worldbody><actuator>" actuators                                              \
  "</actuator><keyframe><key ctrl='9 1'/></keyframe></mujoco>"

// A beam of 2 kg, its centre half a metre out: m g l, less what lifts it.
static void lifted(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double share;
  } cases[] = {{ARM("", ""), 1}, {ARM(" gravcomp='1'", ""), 0}, {ARM(" gravcomp='.25'", ""), 0.75}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Robot r = open_text(cases[i].text, NULL, 0);
    CHECK_NEAR(load_of(&r), cases[i].share * 2 * 9.81 * 0.5, 1e-12);
    close_robot(&r);
  }
}

// All actuators of the joint together give between -3 and 5.
static void bounded(void **state) {
  (void)state;
  CnSetting key = {"keyframe", 1};
  Robot r = open_text(ARM("", "<motor joint='h' gear='2'/>"), &key, 1);
  CHECK_NEAR(axis_of(&r, "h").motor_effort, 5, 0);
  close_robot(&r);
  // -3 to 5 is 4 about 1, which goes to the bodies
  r = open_text(ARM("", "<position joint='h' kp='100'/>"), &key, 1);
  CHECK_NEAR(axis_of(&r, "h").motor_effort, 4, 0);
  CHECK_NEAR(axis_of(&r, "h").motor_position, (900 - 1.0) / 100, 1e-12);
  CHECK_NEAR(load_of(&r), 2 * 9.81 * 0.5 + 1 + 4, 1e-12);
  close_robot(&r);
}

// Fingers that equalities lead: the servo of their tendon acts on one of them, L = q/2 + q/2.
static void fingers(void **state) {
  (void)state;
  CnSetting key = {"keyframe", 1};
  Robot r = open_text(
      "<mujoco><worldbody><body name='a'><joint name='f' type='slide' axis='1 0 0'/><geom "
      "size='.1'/></body><body name='b'><joint name='g' type='slide' axis='-1 0 0'/><geom "
      "size='.1'/></body></worldbody><tendon><fixed name='t'><joint joint='f' coef='.5'/><joint "
      "joint='g' coef='.5'/></fixed></tendon><equality><joint joint1='f' joint2='g' polycoef='.02 "
      "1 0 "
      "0 0'/></equality><actuator><general tendon='t' gainprm='.5' biastype='affine' biasprm='0 "
      "-100 "
      "-10'/></actuator><keyframe><key ctrl='20'/></keyframe></mujoco>",
      &key, 1);
  CnJointAxis axis = axis_of(&r, "f");
  // g = f - .02, so that L = f - .01 and the force is 10 - 100 (f - .01) - 10 f'
  CHECK_NEAR(axis.motor_stiffness, 100, 1e-12);
  CHECK_NEAR(axis.motor_damping, 10, 1e-12);
  CHECK_NEAR(axis.motor_position, 0.1 + 0.01, 1e-12);
  CHECK(strstr(notes(&r), "beware") == NULL);
  close_robot(&r);
}

// M = armature + I + m l^2 = .5 + .1 + 2 as drawn: d = 2 r sqrt(k M) there, through gears and tendons too. Controls have
// the joint's range, and the geom of a higher priority its friction.
static void ratios(void **state) {
  (void)state;
  CnSetting key = {"keyframe", 1};
  Robot r = open_text(
      "<mujoco><compiler angle='radian'/><default><position inheritrange='1'/></default><worldbody>"
      "<geom type='plane' size='1 1 1'/><body name='a'><joint name='j' axis='0 1 0' armature='.5' "
      "range='-1 .5'/><inertial pos='1 0 0' mass='2' diaginertia='.1 .1 .1'/><geom size='.1' "
      "priority='1' friction='.3' pos='0 0 .2'/></body><body name='b' pos='0 2 1'><joint name='k' "
      "axis='0 1 0'/><inertial pos='1 0 0' mass='2' diaginertia='.1 .1 .1'/></body></worldbody>"
      "<tendon><fixed name='t'><joint joint='k' coef='2'/></fixed></tendon><contact><exclude "
      "body1='world' body2='b'/></contact><actuator><position joint='j' kp='40' dampratio='1' "
      "gear='2'/><position tendon='t' kp='10' dampratio='.5'/></actuator><keyframe><key ctrl='3 "
      "0'/></keyframe></mujoco>",
      &key, 1);
  CHECK_NEAR(axis_of(&r, "j").motor_damping, 4 * 2 * sqrt(40 * 2.6 / 4), 1e-12);
  CHECK_NEAR(axis_of(&r, "j").motor_position, 0.5 / 2, 1e-12);
  CHECK_NEAR(axis_of(&r, "k").motor_damping, 4 * 2 * 0.5 * sqrt(10 * 2.1 / 4), 1e-12);
  CHECK(strstr(notes(&r), "beware") == NULL);
  CnSceneInfo info;
  cn_scene_info(r.scene, &info);
  CHECK_TEXT(info.text, "\"friction\": 0.3");
  CHECK_TEXT(info.text, "\"disabled_pairs\": [{\"bodies\": [\"world\", \"b\"]}]");
  close_robot(&r);
}

#define BALL                                                                                       \
  "<body name='c'><joint type='ball' range='0 30' limited='true'/><geom size='.1'/></body>"

// What changes the motion and is not there is told with its line.
static void told(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"<option density='1000'/>", "beware: line 2: \"density\" of <option>"},
      {"<option><flag filterparent='disable'/></option>",
       "beware: not used: \"filterparent\" of <flag> (line 2)"},
      {"<worldbody>" BALL "</worldbody>", "beware: line 2: of a ball limit"},
      {"<worldbody><composite/></worldbody>",
       "beware: not used: <composite> in <worldbody> (line 2)"},
      {"<tendon><fixed frictionloss='1'/></tendon>",
       "beware: line 2: friction and armature of a fixed tendon of several joints"},
      {"<tendon><fixed stiffness='1'><joint joint='h'/><joint joint='k'/></fixed></tendon>",
       "beware: line 2: the spring of a fixed tendon of several joints"},
      {"<actuator><muscle joint='h'/></actuator>",
       "beware: not used: <muscle> in <actuator> (line 2)"},
      {"<sensor><framepos objtype='geom' objname='g'/></sensor>",
       "not used: <framepos> in <sensor> (line 2)"},
      {"<sensor><framepos objtype='body' objname='b' reftype='body' refname='c'/></sensor>",
       "not used: <framepos> in <sensor> (line 2)"},
      {"<worldbody><body name='d'><freejoint name='fly'/><geom size='.1'/></body></worldbody>"
       "<actuator><position joint='fly' dampratio='1'/></actuator>",
       "beware: line 2: \"dampratio\""},
      {"<actuator><position joint='h' forcerange='-1 1'/><position joint='h' forcerange='-1 "
       "1'/></actuator>",
       "beware: line 2: the actuator is left out: two with a force range"},
      {"<actuator><general joint='h' biastype='affine' biasprm='0 3 0'/></actuator>",
       "beware: line 2: the actuator is left out: it pushes away"},
      {"<worldbody><body name='d'><joint name='w' axis='1 0 0' range='10 20'/><geom "
       "size='.1'/></body></worldbody>",
       "beware: w starts at 0, outside of its limits"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2000];
    snprintf(
        text, sizeof text,
        "<mujoco><worldbody><body name='a'><joint name='h'/><geom size='.1'/><body name='b' "
        "pos='1 0 0'><joint name='k'/><geom size='.1'/></body></body></worldbody>\n%s</mujoco>",
        cases[i][0]);
    Robot r = open_text(text, NULL, 0);
    CHECK_TEXT(notes(&r), cases[i][1]);
    close_robot(&r);
  }
}

#define BOX(name, x, bits)                                                                         \
  "<body name='" name "' pos='" x " 0 .3'><freejoint/><geom name='g" name                          \
  "' type='box' size='.1 .1 .1' " bits "/></body>"
#define NOTHING "contype='0' conaffinity='0'"

static CnBodyId body_named(const Robot *r, const char *name) {
  CnBodyInfo info;
  for (CnBodyId b = cn_world_next_body(r->world, (CnBodyId){0, 0}); b.slot;
       b = cn_world_next_body(r->world, b))
    if (cn_body_info(r->world, b, &info) == CN_OK && strcmp(info.name, name) == 0) return b;
  fail_msg("no body %s", name);
  return (CnBodyId){0, 0};
}

static CnPose pose_of(const Robot *r, const char *name) {
  CnPose pose;
  CHECK_OK(cn_body_pose(r->world, body_named(r, name), &pose));
  return pose;
}

// Of three boxes a floor holds the one that a pair names, whatever bits say, and by these the second; with
// predefined pairs alone only the first. The pair's own friction: pushed by .4 of its weight the first one stays
// with mu = .5, and slides by (.4 - .3) g t^2/2 with .3.
static void pairs(void **state) {
  (void)state;
  for (int32_t i = 0; i < 4; i++) {
    char text[2000];
    snprintf(text, sizeof text,
             "<mujoco><option collision='%s' gravity='%g 0 -9.81' "
             "timestep='.001'/><worldbody><geom name='f' "
             "type='plane' size='9 9 1'/>" BOX("a", "0", NOTHING) BOX("b", "1", "")
                 BOX("c", "2", NOTHING) "</worldbody><contact><pair geom1='f' geom2='ga' "
                                        "friction='%g %g'/></contact></mujoco>",
             i == 0 ? "all" : "predefined", i > 1 ? 0.4 * 9.81 : 0, i == 3 ? 0.3 : 0.5,
             i == 3 ? 0.3 : 0.5);
    Robot r = open_text(text, NULL, 0);
    if (i > 1) { // on the floor
      CnPose pose = pose_of(&r, "a");
      pose.position.z = 0.1;
      CHECK_OK(cn_body_set_pose(r.world, body_named(&r, "a"), &pose));
    }
    for (int32_t k = 0; k < 1000; k++) CHECK_OK(cn_world_step(r.world, NULL));
    CHECK_NEAR(pose_of(&r, "a").position.z, 0.1, 1e-6);
    CHECK(fabs(pose_of(&r, "b").position.z - 0.1) < 1e-6 ? i == 0 : i > 0);
    CHECK_NEAR(pose_of(&r, "c").position.z, 0.3 - 0.5 * 9.81, 0.01);
    CHECK_NEAR(pose_of(&r, "a").position.x, i == 3 ? 0.1 * 9.81 / 2 : 0, 2e-3);
    close_robot(&r);
  }
}

// Each copy a step after the one before, which it turns with.
static void copies(void **state) {
  (void)state;
  Robot r = open_text(
      "<mujoco><worldbody><replicate count='3' offset='0 .5 0' euler='0 0 90'><body name='r' "
      "pos='1 0 0'><joint name='h'/><replicate count='11' sep='-'><geom name='g' size='.05' "
      "mass='1'/></replicate></body></replicate></worldbody><contact><pair geom1='g-020' "
      "geom2='g-021'/></contact></mujoco>",
      NULL, 0);
  CnPose p = pose_of(&r, "r2");
  CnBodyInfo info;
  CHECK_NEAR(p.position.x, -1.5, 1e-12);
  CHECK_NEAR(p.position.y, 0.5, 1e-12);
  CHECK_NEAR(fabs(p.rotation.z), 1, 1e-12);
  CHECK_OK(cn_body_info(r.world, body_named(&r, "r1"), &info));
  CHECK_NEAR(info.mass, 11, 1e-12);
  close_robot(&r);
}

static double coordinate_of(const Robot *r, const char *name) {
  CnJointState at = {0};
  CnJointDef def;
  for (CnJointId j = cn_world_next_joint(r->world, (CnJointId){0, 0}); j.slot;
       j = cn_world_next_joint(r->world, j)) {
    CHECK_OK(cn_joint_def(r->world, j, &def));
    if (strcmp(def.name, name) == 0) CHECK_OK(cn_joint_state(r->world, j, &at));
  }
  return at.coordinate[0];
}

#define HINGES(acts, key)                                                                          \
  "<mujoco><option gravity='0 0 0'/><worldbody><body name='a'><joint name='f' axis='0 0 "          \
  "1'/><geom "                                                                                     \
  "type='box' size='.1 .2 .3' mass='1'/></body><body name='b' pos='2 0 0'><joint name='g' "        \
  "axis='0 "                                                                                       \
  "0 1'/><geom type='box' size='.1 .2 .3' mass='1'/></body></worldbody>" acts                      \
  "<keyframe><key " key "/></keyframe></mujoco>"

// A start beyond half a turn keeps its turns: what holds it there has nothing to do.
static void turns_at_start(void **state) {
  (void)state;
  CnSetting key = {"keyframe", 1};
  static const struct {
    const char *text;
    double f, g;
  } cases[] = {
      {HINGES("<actuator><position joint='f' kp='1' kv='2'/></actuator>", "qpos='10 0' ctrl='10'"),
       10, 0},
      {HINGES("<equality><joint joint1='g' joint2='f' polycoef='0 2 0 0 0'/></equality>",
              "qpos='2 4'"),
       2, 4},
      {HINGES("<equality><joint joint1='g' joint2='f' polycoef='1 -3 0 0 0'/></equality>",
              "qpos='-7 22'"),
       -7, 22}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Robot r = open_text(cases[i].text, &key, 1);
    CHECK(strstr(notes(&r), "turn") == NULL);
    CHECK_NEAR(coordinate_of(&r, "f"), cases[i].f, 1e-12);
    for (int32_t k = 0; k < 100; k++) CHECK_OK(cn_world_step(r.world, NULL));
    CHECK_NEAR(coordinate_of(&r, "f"), cases[i].f, 1e-9);
    CHECK_NEAR(coordinate_of(&r, "g"), cases[i].g, 1e-9);
    close_robot(&r);
  }
}

static double middle_after(const char *text, int32_t steps) {
  CnSetting key = {"keyframe", 1};
  Robot r = open_text(text, &key, 1);
  for (int32_t k = 0; k < steps; k++) CHECK_OK(cn_world_step(r.world, NULL));
  double z = pose_of(&r, "a").position.z;
  close_robot(&r);
  return z;
}

#define FREE_BODY(between)                                                                         \
  "<mujoco><option gravity='0 0 0' timestep='.001'/><worldbody><site name='w' pos='0 0 2'/><body " \
  "name='a' pos='0 0 1'><freejoint/><geom size='.1' mass='2'/><site name='s' pos='0 0 .1'/>"       \
  "</body></worldbody>" between "<keyframe><key qpos='0 0 1.2 1 0 0 0'/></keyframe></mujoco>"

// Equalities and springs of a free body keep what is drawn, wherever a keyframe has it start.
static void free_at_start(void **state) {
  (void)state;
  const char *spring =
      FREE_BODY("<tendon><spatial name='t' stiffness='100'><site site='w'/><site site='s'/>"
                "</spatial></tendon>");
  CHECK_NEAR(middle_after(spring, 0), 1.2, 1e-12);
  CHECK_NEAR(middle_after(spring, 300), 1 + 0.2 * cos(sqrt(50) * 0.3), 2e-3);
  CHECK_NEAR(middle_after(FREE_BODY("<equality><weld body1='a'/></equality>"), 500), 1, 1e-6);
  CHECK_NEAR(
      middle_after(FREE_BODY("<equality><connect body1='a' anchor='0 0 0'/></equality>"), 500), 1,
      1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lifted), cmocka_unit_test(bounded),        cmocka_unit_test(fingers),
      cmocka_unit_test(ratios), cmocka_unit_test(told),           cmocka_unit_test(pairs),
      cmocka_unit_test(copies), cmocka_unit_test(turns_at_start), cmocka_unit_test(free_at_start)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
