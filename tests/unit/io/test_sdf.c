// SPDX-License-Identifier: Apache-2.0
// SDF: one machine in the ways of several versions does what its URDF does; joints of all kinds; loops, static
// models, other files; what is refused.
#include "check.h"
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/mechanism.h>
#include <cairn/scene.h>

#include "core/vec.h"
#include "io/robots/robot.h"

static CnStatus translate(const char *path, const char *text, CnScene **scene) {
  CniRobotDef def = {path, "", CN_POSE_ONE, NULL, 0, NULL};
  CnAllocator allocator = cn_allocator_default();
  char *made = NULL;
  size_t length = 0;
  CnStatus status = cni_robot_text(&def, text, strlen(text), &allocator, &made, &length);
  if (status != CN_OK) return status;
  status = cn_scene_parse(made, length, path, NULL, 0, NULL, scene);
  allocator.release(allocator.context, made, length + 1);
  return status;
}

static CnWorld *fill(const char *path, const char *text, int32_t *freedoms) {
  CnScene *scene;
  CnWorld *world;
  CnWorldDef def = cn_world_def_default();
  CnMechanism mechanism;
  CHECK_OK(translate(path, text, &scene));
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  cn_scene_destroy(scene);
  CHECK_OK(cn_world_mechanism(world, &mechanism, NULL, 0));
  if (freedoms) *freedoms = mechanism.freedoms;
  return world;
}

static CnPose pose_of(CnWorld *world, const char *name) {
  CnBodyInfo info;
  CnPose pose;
  for (CnBodyId b = cn_world_next_body(world, (CnBodyId){0, 0}); b.slot;
       b = cn_world_next_body(world, b)) {
    CHECK_OK(cn_body_info(world, b, &info));
    if (!info.name || strcmp(info.name, name) != 0) continue;
    CHECK_OK(cn_body_pose(world, b, &pose));
    return pose;
  }
  fail_msg("no body %s", name);
  return CN_POSE_ONE;
}

// ---- one machine, several ways ----

#define IN(name, value) "<" name ">" value "</" name ">"
#define MASS(at)                                                                                   \
  "<inertial>" IN("pose", at) IN("mass", "2") "<inertia>" IN("ixx", ".2") IN("iyy", ".3")          \
      IN("izz", ".25") IN("ixy", ".01") IN("ixz", "0") IN("iyz", "-.02") "</inertia></inertial>"

static const char urdf[] =
    "<robot name='m'><link name='a'><inertial><origin xyz='.1 0 .2' rpy='.3 .2 .1'/><mass "
    "value='2'/>"
    "<inertia ixx='.2' iyy='.3' izz='.25' ixy='.01' ixz='0' iyz='-.02'/></inertial></link>"
    "<link name='b'><inertial><origin xyz='0 .3 0'/><mass value='2'/>"
    "<inertia ixx='.2' iyy='.3' izz='.25' ixy='.01' ixz='0' iyz='-.02'/></inertial></link>"
    "<joint name='p' type='continuous'><parent link='world'/><child link='a'/>"
    "<origin xyz='1 2 3' rpy='.1 .2 .3'/><axis xyz='0 1 1'/><dynamics damping='.4'/></joint>"
    "<joint name='q' type='prismatic'><parent link='a'/><child link='b'/>"
    "<origin xyz='.5 0 .1' rpy='0 .4 0'/><axis xyz='1 0 1'/><limit lower='-1' upper='.05'/></joint>"
    "<link name='world'/></robot>";

#define A "<link name='a'><pose>1 2 3 .1 .2 .3</pose>" MASS(".1 0 .2 .3 .2 .1") "</link>"
#define JOINT_P(parent, axis)                                                                      \
  "<joint name='p' type='revolute'>" IN("parent", parent)                                          \
      IN("child", "a") "<axis>" axis "<dynamics><damping>.4</damping></dynamics></axis></joint>"
#define JOINT_Q(axis)                                                                              \
  "<joint name='q' type='prismatic'>" IN("parent", "a")                                            \
      IN("child", "b") "<axis>" axis                                                               \
                       "<limit><lower>-1</lower><upper>.05</upper></limit></axis></joint>"
#define SDF(version, inside) "<sdf version='" version "'><model name='m'>" inside "</model></sdf>"
#define XYZ_P IN("xyz", "0 .70710678118654752 .70710678118654752")
#define XYZ_Q IN("xyz", ".70710678118654752 0 .70710678118654752")

static const char *const ways[] = {
    // poses of links by hand: those of frames below stand for them
    SDF("1.7", A "<link name='b'><pose relative_to='a'>.5 0 .1 0 .4 0</pose>" MASS(
                   "0 .3 0 0 0 0") "</link>" JOINT_P("world", XYZ_P) JOINT_Q(XYZ_Q)),
    // a link where its joint is, and frames
    SDF("1.9",
        "<frame name='f'><pose degrees='true'>0 0 0 0 0 90</pose></frame><frame name='g' "
        "attached_to='a'><pose rotation_format='quat_xyzw'>.5 0 .1 0 .19866933079506122 0 "
        ".98006657784124163</pose></frame>" A "<link name='b'><pose relative_to='q'/>" MASS(
            "0 .3 0 0 0 0") "</link>" JOINT_P("world", XYZ_P) "<joint name='q' "
                                                              "type='prismatic'><pose "
                                                              "relative_to='g'/><parent>a</"
                                                              "parent><child>b</child><axis>"
                                                              "<xyz "
                                                              "expressed_in='g'>1 0 1</xyz><limit>"
                                                              "<lower>-1</lower><upper>.05</"
                                                              "upper></limit></axis></joint>"),
    // a model in a model, whose pose is that of one of its frames
    "<sdf version='1.8'><model name='m'><model name='n' placement_frame='a'><pose>1 2 3 .1 .2 "
    ".3</pose><link name='a'><pose>4 5 6 0 0 0</pose>" MASS(
        ".1 0 .2 .3 .2 .1") "</link></model><link name='b'><pose relative_to='n::a'>.5 0 .1 0 .4 "
                            "0</pose>" MASS(
                                "0 .3 0 0 0 0") "</link><joint name='p' "
                                                "type='continuous'><parent>world</"
                                                "parent><child>n::a"
                                                "</child><axis>" XYZ_P
                                                "<dynamics><damping>.4</damping></dynamics></"
                                                "axis></joint><joint name='q' "
                                                "type='prismatic'><parent>n</parent><child>b</"
                                                "child><axis>" XYZ_Q
                                                "<limit><lower>-1</lower><upper>.05</upper></"
                                                "limit></axis></joint></model></sdf>",
};

static void the_same(void **state) {
  (void)state;
  int32_t freedoms;
  CnWorld *other = fill("r.urdf", urdf, &freedoms);
  CHECK(freedoms == 2);
  for (int32_t k = 0; k < 200; k++) CHECK_OK(cn_world_step(other, NULL));
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    CnWorld *world = fill("r.sdf", ways[i], &freedoms);
    CHECK(freedoms == 2);
    for (int32_t k = 0; k < 200; k++) CHECK_OK(cn_world_step(world, NULL));
    const char *const names[][2] = {{"a", i == 2 ? "n::a" : "a"}, {"b", "b"}};
    for (int32_t k = 0; k < 2; k++) {
      CnPose there = pose_of(other, names[k][0]), here = pose_of(world, names[k][1]);
      double off = cn_norm(cn_sub(there.position, here.position));
      if (!(off < 1e-9)) fail_msg("way %d: %s is %g m off", (int)i, names[k][0], off);
    }
    cn_world_destroy(world);
  }
  cn_world_destroy(other);
}

// The axis of a hinge by what each version sees it from: link and model are turned by a right angle each, the axis
// is z of the world, and the body's centre swings through x.
static void axes(void **state) {
  (void)state;
  static const char *const cases[][3] = {
      {"1.4", "0 1 0", ""},
      {"1.6", "0 1 0", "<use_parent_model_frame>1</use_parent_model_frame>"},
      {"1.6", "0 0 1", ""},
      {"1.7", "0 0 1", ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2000];
    snprintf(text, sizeof text,
             "<sdf version='%s'><world name='w'><gravity>0 -2 0</gravity><model "
             "name='m'><pose>0 0 0 1.5707963267948966 0 0</pose><link name='a'><pose>0 0 0 "
             "-1.5707963267948966 0 0</pose>" MASS(
                 "1 0 0 0 0 0") "</link><joint name='j' type='revolute'><parent>world</parent>"
                                "<child>a</child><axis><xyz>%s</xyz>%s</axis></joint></model></"
                                "world></sdf>",
             cases[i][0], cases[i][1], cases[i][2]);
    CnWorld *world = fill("r.sdf", text, NULL);
    for (int32_t k = 0; k < 10; k++) CHECK_OK(cn_world_step(world, NULL));
    // m l^2 + izz = 2.25 and m g l = 4
    CnPose pose = pose_of(world, "a");
    double angle = -4 / 2.25 * 0.001 * 0.001 * 55; // of steps that end with their speed
    CHECK_REL(2 * pose.rotation.z * pose.rotation.w, angle, 0.1);
    CHECK_NEAR(fabs(pose.rotation.x) + fabs(pose.rotation.y), 0, 1e-10);
    cn_world_destroy(world);
  }
}

// ---- kinds ----

#define TWO(joint)                                                                                 \
  SDF("1.6", "<link name='a'>" MASS("0 0 0 0 0 0") "</link><link name='b'><pose>0 0 1 0 0 "        \
                                                   "0</pose>" MASS(                                \
                                                       "0 0 0 0 0 0") "</link><joint "             \
                                                                      "name='r' "                  \
                                                                      "type='fixed'><parent>"      \
                                                                      "world</"                    \
                                                                      "parent><child>a</child></"  \
                                                                      "joint>" joint)
#define KIND(type, inside)                                                                         \
  TWO("<joint name='j' type='" type "'><parent>a</parent><child>b</child>" inside "</joint>")
#define X "<axis><xyz>1 0 0</xyz></axis>"
#define Y "<axis2><xyz>0 1 0</xyz></axis2>"

static void kinds(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int32_t freedoms;
  } cases[] = {
      {KIND("fixed", ""), 0},
      {KIND("ball", ""), 3},
      {KIND("universal", X Y), 2},
      {KIND("revolute2", X "<axis2><xyz>1 1 0</xyz></axis2>"), 2},
      {KIND("screw", X "<thread_pitch>-20</thread_pitch>"), 1},
      {TWO(""), 6}, // no joint: free
      {SDF("1.6", "<static>1</static><link name='a'/><link name='b'/>"), 0},
      // four bars, the last joint of which closes a loop
      {"<sdf version='1.7'><model name='m'><link name='a'/><link name='b'><pose>0 0 1 0 0 "
       "0</pose></link><link name='c'><pose>1 0 1 0 0 0</pose></link>"
       "<joint name='p' type='revolute'><parent>world</parent><child>a</child><axis><xyz>0 1 "
       "0</xyz></axis></joint><joint name='q' type='revolute'><parent>a</parent><child>b</"
       "child><axis><xyz>0 1 0</xyz></axis></joint><joint name='r' "
       "type='revolute'><parent>b</parent><child>c</child><axis><xyz>0 1 0</xyz></axis></joint>"
       "<joint name='s' type='revolute'><pose>0 0 -1 0 0 0</pose><parent>world</parent><child>c</"
       "child><axis><xyz>0 1 0</xyz></axis></joint></model></sdf>",
       1},
      // a follower
      {"<sdf version='1.11'><model name='m'><link name='a'/><link name='b'/><joint name='p' "
       "type='revolute'><parent>world</parent><child>a</child><axis><xyz>0 1 0</xyz></axis></"
       "joint><joint name='q' type='prismatic'><parent>world</parent><child>b</child><axis><xyz>0 "
       "1 0</xyz><mimic joint='p' axis='axis'><multiplier>2</multiplier></mimic></axis></joint></"
       "model></sdf>",
       1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int32_t freedoms = -1;
    CnWorld *world = fill("r.sdf", cases[i].text, &freedoms);
    if (freedoms != cases[i].freedoms)
      fail_msg("case %d: %d freedoms, not %d", (int)i, (int)freedoms, (int)cases[i].freedoms);
    for (int32_t k = 0; k < 20; k++) CHECK_OK(cn_world_step(world, NULL));
    cn_world_destroy(world);
  }
}

// ---- worlds, other files, shapes ----

#define BOX(name, at, more)                                                                        \
  "<model name='" name "'><pose>" at "</pose><link name='l'>" more "<collision name='c'>"          \
  "<geometry><box><size>.2 .2 .2</size></box></geometry></collision></link></model>"

static void worlds(void **state) {
  (void)state;
  Scratch s = scratch_create();
  char path[1200];
  CnSceneInfo info;
  CnScene *scene;
  scratch_write(&s, "crate.sdf", "<sdf version='1.6'>" BOX("crate", "0 0 .1 0 0 0", "") "</sdf>");
  snprintf(path, sizeof path, "%s", scratch_file(&s, "w.sdf"));
  const char *text =
      "<sdf version='1.6'><world name='w'><include><uri>model://sun</uri></include><include><uri>"
      "model://ground_plane</uri></include><include><uri>crate.sdf</uri><name>c1</name><pose>1 0 "
      ".1 0 0 0</pose></include><include><uri>crate.sdf</uri><name>c2</name></include>"
      "<include><uri>model://gone</uri></include>" BOX("up", "0 3 .5 0 0 0", "<gravity>0</gravity>")
          BOX("down", "0 5 .5 0 0 0",
              "") "<model name='all'><static>true</static><link name='l'>"
                  "<collision name='a'><pose>0 0 -5 0 0 "
                  "0</pose><geometry><cylinder><radius>1</radius><length>2</length></cylinder>"
                  "</geometry><surface><friction><ode><mu>.3</mu></ode></friction></surface></"
                  "collision><collision name='b'><geometry><polyline><point>5 5</point><point>6 "
                  "5</point><point>5 "
                  "6</point><height>.3</height></polyline></geometry></collision></link></model>"
                  "</world></sdf>";
  CHECK_OK(translate(path, text, &scene));
  cn_scene_info(scene, &info);
  CHECK_TEXT(info.description, "beware: line 1: the model model://gone is not there: left out");
  CHECK_TEXT(info.description, "of a polyline the convex hull collides");
  cn_scene_destroy(scene);
  int32_t freedoms;
  CnWorld *world = fill(path, text, &freedoms);
  CHECK(freedoms == 24);
  for (int32_t k = 0; k < 100; k++) CHECK_OK(cn_world_step(world, NULL));
  CHECK_NEAR(pose_of(world, "c1::l").position.z, 0.1, 1e-6);
  CHECK_NEAR(pose_of(world, "c1::l").position.x, 1, 1e-9);
  CHECK_NEAR(pose_of(world, "up::l").position.z, 0.5, 1e-9);
  CHECK_NEAR(pose_of(world, "down::l").position.z, 0.5 - 0.5 * 9.8 * 0.01, 1e-3);
  cn_world_destroy(world);
  scratch_remove(&s);
}

static void refused(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"<sdf version='1.0'><model name='m'/></sdf>",
       "<sdf>: versions before 1.3 are not read (got \"1.0\")"},
      {"<sdf version='1.6'/>", "<sdf>: has no <link>"},
      {SDF("1.6", "<link name='a'/><link name='a'/>"), "<link>: a second thing is called m::a"},
      {SDF("1.6", "<link name='a'><pose>1 2</pose></link>"),
       "<pose>: \"text\" must have 6 numbers (got \"1 2\")"},
      {SDF("1.6", "<link name='a'><pose relative_to='b'/></link>"),
       "<link>: no link, joint, frame or model is called b"},
      {SDF("1.7", "<link name='a'><pose relative_to='f'/></link><frame name='f'><pose "
                  "relative_to='a'/></frame>"),
       "<link>: frames go round in a circle"},
      {SDF("1.7", "<frame name='f' attached_to='f'/><link name='a'/><joint name='j' "
                  "type='ball'><parent>a</parent><child>f</child></joint>"),
       "<frame>: frames go round in a circle"},
      {TWO("<joint name='j' type='bendy'><parent>a</parent><child>b</child></joint>"),
       "<joint>: \"type\" must be revolute, continuous, prismatic, screw, universal, revolute2, "
       "ball or fixed (got \"bendy\")"},
      {KIND("revolute", ""), "<joint>: needs <axis>"},
      {KIND("revolute", "<axis><xyz>0 0 0</xyz></axis>"), "<axis>: its direction has the length 0"},
      {SDF("1.6", "<link name='a'><inertial><mass>0</mass></inertial></link>"),
       "<inertial>: <mass> must be positive (got 0)"},
      {SDF("1.6", "<link name='a'><inertial><mass>nan</mass></inertial></link>"),
       "<mass>: \"text\" must be finite numbers (got \"nan\")"},
      {SDF("1.6", "<link name='a'/><joint name='j' "
                  "type='ball'><parent>a</parent><child>a</child></joint>"),
       "<joint>: connects a link with itself"},
      {SDF("1.6", "<link name='a'><collision name='c'><geometry><box><size>0 1 "
                  "1</size></box></geometry></collision></link>"),
       "<box>: <size> must be positive"},
      {SDF("1.6", "<link name='a'/><include><uri>../../../../../x.sdf</uri></include>"),
       "<include>: files outside the robot's folder are not read (got \"../../../../../x.sdf\")"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CnScene *scene;
    char expected[400];
    CHECK_STATUS(translate("r.sdf", cases[i][0], &scene), CN_INVALID_DATA);
    snprintf(expected, sizeof expected, "r.sdf: line 1: %s", cases[i][1]);
    assert_string_equal(cn_error_message(), expected);
  }
}

// Files that include themselves and models in many models end with a line.
static void circles(void **state) {
  (void)state;
  Scratch s = scratch_create();
  CnScene *scene;
  const char *text = "<sdf version='1.6'><model name='m'><include><name>n</name><uri>me.sdf</uri>"
                     "</include></model></sdf>";
  scratch_write(&s, "me.sdf", text);
  CHECK_STATUS(translate(scratch_file(&s, "me.sdf"), text, &scene), CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), "more than 100 files");
  scratch_remove(&s);
}

// Frames that hang on each other, and a joint to each: the way to a link is gone once.
static void long_ways(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  size_t size = 200 * COUNT, n = 0;
  char *text = malloc(size);
  CnScene *scene;
  n += (size_t)snprintf(text, size,
                        "<sdf version='1.7'><model name='m'><link name='k'/><link name='l'/>");
  for (int32_t i = 0; i < COUNT; i++)
    n += (size_t)snprintf(text + n, size - n, "<frame name='f%d' attached_to='f%d'/>", (int)i,
                          (int)i + 1);
  for (int32_t i = 0; i < COUNT; i++)
    n +=
        (size_t)snprintf(text + n, size - n,
                         "<joint name='j%d' type='%s'><parent>k</parent><child>f%d</child></joint>",
                         (int)i, i == 0 ? "ball" : "gearbox", (int)i);
  snprintf(text + n, size - n, "<frame name='f%d' attached_to='l'/></model></sdf>", COUNT);
  CHECK_OK(translate("r.sdf", text, &scene));
  cn_scene_destroy(scene);
  free(text);
}

// What is left out and felt is told as such.
static void left_out(void **state) {
  (void)state;
  CnScene *scene;
  CnSceneInfo info;
  const char *text =
      "<sdf version='1.7'><world name='a'><model name='m'><link name='l'><velocity_decay><linear>.1"
      "</linear></velocity_decay><inertial><mass>1</mass></inertial><collision name='c'><geometry>"
      "<sphere><radius>.1</radius></sphere></geometry><surface><contact><collide_bitmask>2"
      "</collide_bitmask></contact></surface></collision></link></model></world>"
      "<world name='b'><model name='n'><link name='l'/></model></world></sdf>";
  CHECK_OK(translate("left.sdf", text, &scene));
  cn_scene_info(scene, &info);
  CHECK_TEXT(info.description, "beware: not used: <velocity_decay> in <link>");
  CHECK_TEXT(info.description, "beware: not used: <collide_bitmask> in <contact>");
  CHECK_TEXT(info.description, "beware: not used: <world> in <sdf>");
  cn_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_same),  cmocka_unit_test(axes),
                                     cmocka_unit_test(kinds),     cmocka_unit_test(worlds),
                                     cmocka_unit_test(refused),   cmocka_unit_test(circles),
                                     cmocka_unit_test(long_ways), cmocka_unit_test(left_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
