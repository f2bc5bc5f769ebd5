// SPDX-License-Identifier: Apache-2.0
// Robot descriptions as scenes: closed forms for a small robot of our own, the same bits by way of
// `cairn convert`, hostile files each with its one line.
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/mechanism.h>
#include <cairn/scene.h>

#include "alloc.h"
#include "core/math.h"
#include "io/robots/robot.h"
#include "source_dir.h"

#define ARM CAIRN_SOURCE_DIR "/tests/data/robots/arm.urdf"

static CnWorld *fill(CnScene *scene) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world;
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  return world;
}

static CnScene *open_robot(const char *path, const CnSetting *settings, int32_t count) {
  CnScene *scene;
  CHECK_OK(cn_scene_open(path, settings, count, NULL, &scene));
  return scene;
}

static CnBodyId body_named(const CnWorld *world, const char *name) {
  for (CnBodyId b = cn_world_next_body(world, (CnBodyId){0, 0}); b.slot;
       b = cn_world_next_body(world, b)) {
    CnBodyInfo info;
    CHECK_OK(cn_body_info(world, b, &info));
    if (info.name && strcmp(info.name, name) == 0) return b;
  }
  fail_msg("no body %s", name);
  return (CnBodyId){0, 0};
}

// Hanging at t1 and t1 + t2 from the vertical: places, mass matrix, gravity's torques.
static void double_pendulum(void **state) {
  (void)state;
  double t1 = 0.5, t2 = 0.8, c = cni_cos(t2), g = 9.81;
  CnSetting settings[] = {{"shoulder", t1}, {"elbow", t2}, {"rail", 0.3}};
  CnScene *scene = open_robot(ARM, settings, 3);
  CnWorld *world = fill(scene);
  CnPose lower;
  CHECK_OK(cn_body_pose(world, body_named(world, "lower"), &lower));
  CHECK_NEAR(lower.position.x, cni_sin(t1), 1e-15);
  CHECK_NEAR(lower.position.z, -cni_cos(t1), 1e-15);
  CHECK_NEAR(lower.rotation.y, -cni_sin((t1 + t2) / 2), 1e-15);
  CnMachine *machine;
  CnMachineInfo info;
  CHECK_OK(cn_machine_create(world, NULL, &machine));
  CHECK_OK(cn_machine_info(machine, &info));
  CHECK(info.freedom_count == 3 && info.dependent_count == 0); // the wheel follows the rail
  double m[9], load[3];
  CHECK_OK(cn_machine_matrix(machine, CN_MACHINE_REDUCED_MASS, m, 9, NULL, NULL));
  CHECK_OK(cn_machine_matrix(machine, CN_MACHINE_REDUCED_LOADS, load, 3, NULL, NULL));
  // links come level by level: shoulder, rail, elbow; the cart of 2 kg carries a wheel of 3 kg and
  // .3 kg m2 at ten times its travel
  CHECK_NEAR(m[0], 5.0 / 3 + c, 1e-12);
  CHECK_NEAR(m[2], 1.0 / 3 + c / 2, 1e-12);
  CHECK_NEAR(m[8], 1.0 / 3, 1e-12);
  CHECK_NEAR(m[4], 5 + 0.3 * 100, 1e-9);
  CHECK_NEAR(m[1], 0, 1e-12);
  CHECK_NEAR(load[0], -1.5 * g * cni_sin(t1) - 0.5 * g * cni_sin(t1 + t2), 1e-12);
  CHECK_NEAR(load[2], -0.5 * g * cni_sin(t1 + t2), 1e-12);
  CHECK_NEAR(load[1], -5 * g * cni_sin(0.5), 1e-9);
  cn_machine_destroy(machine);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// A joint's damping, friction and limits; what follows another; what has no mass lies on its link.
static void parts(void **state) {
  (void)state;
  CnScene *scene = open_robot(ARM, NULL, 0);
  CnWorld *world = fill(scene);
  int32_t seen = 0;
  CnJointDef def;
  CnBodyInfo info;
  CnSceneInfo about;
  for (CnJointId j = cn_world_next_joint(world, (CnJointId){0, 0}); j.slot;
       j = cn_world_next_joint(world, j)) {
    CHECK_OK(cn_joint_def(world, j, &def));
    if (strcmp(def.name, "shoulder") == 0)
      seen += def.axes[0].damping == 0.1 && def.axes[0].friction == 0.2;
    if (strcmp(def.name, "elbow") == 0) seen += def.axes[0].lower == -2 && def.axes[0].upper == 2.5;
  }
  CHECK(seen == 2);
  CHECK_OK(cn_body_info(world, body_named(world, "lower"), &info));
  CHECK(info.shape_count == 2); // with the ball of the tip
  CnPose wheel;
  CHECK_OK(cn_body_pose(world, body_named(world, "wheel"), &wheel));
  CHECK_NEAR(wheel.position.x, -0.2 * -cni_sin(0.5), 1e-15);
  cn_scene_info(scene, &about);
  CHECK_TEXT(about.description, "not used: <safety_controller> in <joint> (line 41)");
  CHECK_TEXT(about.description, "not used: \"effort\" of <limit> (line 40)");
  CHECK_TEXT(about.description, "elbow has a motor");
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// The text of the scene runs to the same bits as the description, also with a free base.
static void same_bits(void **state) {
  (void)state;
  for (int32_t floating = 0; floating < 2; floating++) {
    CnSetting settings[] = {{"elbow", 0.7}, {"floating", floating}};
    CnScene *first = open_robot(ARM, settings, 2), *second;
    CnSceneInfo info;
    cn_scene_info(first, &info);
    CHECK_OK(cn_scene_parse(info.text, info.text_size, "s", NULL, 0, NULL, &second));
    CnWorld *a = fill(first), *b = fill(second);
    for (int32_t i = 0; i < 100; i++) {
      CHECK_OK(cn_world_step(a, NULL));
      CHECK_OK(cn_world_step(b, NULL));
    }
    CHECK(cn_world_hash(a) == cn_world_hash(b));
    cn_world_destroy(a);
    cn_world_destroy(b);
    cn_scene_destroy(first);
    cn_scene_destroy(second);
  }
}

#define WALKER CAIRN_SOURCE_DIR "/tests/data/robots/walker.xml"

static CnJointDef joint_named(const CnWorld *world, const char *name) {
  CnJointDef def;
  for (CnJointId j = cn_world_next_joint(world, (CnJointId){0, 0}); j.slot;
       j = cn_world_next_joint(world, j)) {
    CHECK_OK(cn_joint_def(world, j, &def));
    if (strcmp(def.name, name) == 0) return def;
  }
  fail_msg("no joint %s", name);
  return def;
}

// Masses by density, joints and motors as the file means them, what nothing moves in is fixed.
static void walker(void **state) {
  (void)state;
  CnScene *scene = open_robot(WALKER, (CnSetting[]){{"keyframe", 1}}, 1);
  CnWorld *world = fill(scene);
  const double pi = 3.14159265358979323846;
  CnBodyInfo info;
  CnWorldDef settings;
  CnPose pose;
  cn_world_settings(world, &settings);
  CHECK_NEAR(settings.gravity.z, -10, 0);
  CHECK_NEAR(settings.time_step, 0.005, 0);
  CHECK_OK(cn_body_info(world, body_named(world, "torso"), &info));
  CHECK_NEAR(info.mass, 500 * (0.4 * 0.3 * 0.2 + 4 * pi / 3 * 0.1 * 0.1 * 0.05), 1e-12);
  CHECK(info.shape_count == 1); // what meets nothing is left away
  CHECK_OK(cn_body_info(world, body_named(world, "foot"), &info));
  CHECK_NEAR(info.mass, 0.4, 1e-15);
  CHECK_OK(cn_body_info(world, body_named(world, "table"), &info));
  CHECK(info.kind == CN_BODY_FIXED);
  CHECK_OK(cn_body_pose(world, body_named(world, "slider"), &pose));
  CHECK_NEAR(pose.position.z, 1.5, 1e-15);
  CHECK_OK(cn_body_pose(world, body_named(world, "torso"), &pose));
  CHECK_NEAR(pose.position.z, 2, 0);
  // f = 20 (u - q) - 2 q', u = .5; f = 4 (u - q'), u = -.3; f = 3 u + 1 - 6 q - .5 q', u = 1
  CnJointAxis knee = joint_named(world, "knee").axes[0];
  CHECK_NEAR(knee.motor_position, 0.5, 1e-15);
  CHECK_NEAR(knee.motor_stiffness, 20, 1e-12);
  CHECK_NEAR(knee.motor_damping, 2, 1e-12);
  CHECK_NEAR(knee.rest, 10 * pi / 180, 1e-15);
  CHECK_NEAR(knee.upper, pi / 3, 1e-15);
  CnJointAxis rail = joint_named(world, "rail").axes[0];
  CHECK_NEAR(rail.motor_speed, -0.3, 1e-15);
  CHECK_NEAR(rail.friction, 0.3, 0);
  CnJointDef hip = joint_named(world, "hip_x"); // with hip_z a universal joint
  CHECK(hip.kind == CN_JOINT_UNIVERSAL);
  CHECK_NEAR(hip.axes[0].motor_effort, 20, 1e-12);
  CHECK_NEAR(hip.axes[1].motor_position, 4.0 / 6, 1e-15);
  CHECK_NEAR(hip.axes[1].armature, 0.01, 0);
  // the mechanism: 6 + 3 + 1 + 3 + 2 - 1, and nothing is open but what the keyframe leaves open
  CnMechanism mechanism;
  CHECK_OK(cn_world_mechanism(world, &mechanism, NULL, 0));
  CHECK(mechanism.freedoms == 14);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// Robots in a scene are where their poses put them, and the text that is kept needs no other file.
static void models(void **state) {
  (void)state;
  CnScene *scene = open_robot(CAIRN_SOURCE_DIR "/tests/data/robots/two_arms.json", NULL, 0), *again;
  CnWorld *world = fill(scene), *other;
  CnPose pose;
  CnSceneInfo info;
  CHECK_OK(cn_body_pose(world, body_named(world, "left/lower"), &pose));
  CHECK_NEAR(pose.position.x, cni_sin(0.5), 1e-15);
  CHECK_NEAR(pose.position.z, 2 - cni_cos(0.5), 1e-15);
  CHECK_OK(cn_body_pose(world, body_named(world, "right/cart"), &pose));
  CHECK_NEAR(pose.position.x, 5, 1e-15);
  CHECK_NEAR(pose.position.y, -1, 1e-15);
  cn_scene_info(scene, &info);
  CHECK_OK(cn_scene_parse(info.text, info.text_size, "s", NULL, 0, NULL, &again));
  other = fill(again);
  for (int32_t i = 0; i < 20; i++) {
    CHECK_OK(cn_world_step(world, NULL));
    CHECK_OK(cn_world_step(other, NULL));
  }
  CHECK(cn_world_hash(world) == cn_world_hash(other));
  CnMechanism mechanism;
  CHECK_OK(cn_world_mechanism(world, &mechanism, NULL, 0));
  CHECK(mechanism.freedoms == 12 && mechanism.error < 1e-9);
  cn_world_destroy(world);
  cn_world_destroy(other);
  cn_scene_destroy(scene);
  cn_scene_destroy(again);
  static const char *const wrong[][2] = {
      {"{\"models\": 1}", "s: /models: must be a list (got something else)"},
      {"{\"models\": [{}]}",
       "s: /models/0/model: must be the path of a robot description (got nothing)"},
      {"{\"models\": [{\"model\": \"../a.urdf\"}]}",
       "s: /models/0/model: must be in the folder of the scene or below (got \"../a.urdf\")"},
      {"{\"models\": [{\"model\": \"none.urdf\"}]}",
       "s: /models/0/model: there is no such file beside the scene (got \"none.urdf\")"},
      {"{\"models\": [{\"model\": \"a\", \"at\": 1}]}",
       "s: /models/0/at: unknown key, there are model, name, pose, start (got 1.0)"},
      {"{\"models\": [{\"model\": \"a\", \"pose\": {\"rotation\": [0, 0, 0, 0]}}]}",
       "s: /models/0/pose: \"rotation\" must be a unit quaternion (got "
       "{\"rotation\":[0.0,0.0,0.0,0.0]})"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK_STATUS(cn_scene_parse(wrong[i][0], strlen(wrong[i][0]), "s", NULL, 0, NULL, &again),
                 CN_INVALID_DATA);
    assert_string_equal(cn_error_message(), wrong[i][1]);
  }
}

// ---- hostile files ----

static void refuse(const char *text, size_t size, const char *expected) {
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  CniRobotDef def = {"r.urdf", "", CN_POSE_ONE, NULL, 0, NULL};
  char *scene = NULL;
  size_t length = 0;
  CnStatus status = cni_robot_text(&def, text, size, &hook, &scene, &length);
  if (status == CN_OK) fail_msg("accepted: %.200s", text);
  const char *line = cn_error_message();
  if (status != CN_INVALID_DATA || strchr(line, '\n') || strncmp(line, "r.urdf: ", 8) != 0 ||
      strcmp(line + 8, expected) != 0)
    fail_msg("%s\n   expected: %s", line + 8, expected);
  test_alloc_check_clean(&alloc);
}

#define LINK "<link name='a'/><link name='b'/>"
#define JOINT(type, inside)                                                                        \
  "<joint name='j' type='" type "'><parent link='a'/><child link='b'/>" inside "</joint>"
#define BODY(inside) "<link name='a'/><link name='b'>" inside "</link>" JOINT("continuous", "")

static void hostile_urdf(void **state) {
  (void)state;
  static const struct {
    const char *text, *line;
  } cases[] = {
      {"<robot", "line 1: unclosed token"},
      {"<robot>\n<link name='a'>\n</robot>", "line 3: mismatched tag"},
      {"<cairn/>",
       "line 1: <cairn>: is not the beginning of a robot description: <robot> (URDF), <mujoco> "
       "(MJCF) and <sdf> are"},
      {"<!DOCTYPE r [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><robot>&b;</robot>",
       "line 1: entities are not allowed (got \"a\")"},
      {"<!DOCTYPE r [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><robot>&x;</robot>",
       "line 1: entities are not allowed (got \"x\")"},
      {"<robot/>", "line 1: <robot>: has no <link>"},
      {"<robot><link/></robot>", "line 1: <link>: needs \"name\""},
      {"<robot>" LINK "<link name='a'/></robot>", "line 1: <link>: a second link is called a"},
      {"<robot>" LINK "\n<joint type='fixed'><parent link='a'/><child link='c'/></joint></robot>",
       "line 2: <joint>: no link is called c"},
      {"<robot>" LINK "\n<joint type='bendy'/></robot>",
       "line 2: <joint>: \"type\" must be revolute, continuous, prismatic, fixed, floating or "
       "planar "
       "(got \"bendy\")"},
      {"<robot>" LINK "\n<joint type='fixed'><child link='a'/></joint></robot>",
       "line 2: <joint>: needs <parent>"},
      {"<robot>" LINK JOINT("fixed", "") "\n" JOINT("fixed", "") "</robot>",
       "line 2: <joint>: b is the child of two joints (the other in line 1)"},
      {"<robot>" LINK JOINT("fixed", "") "\n<joint type='fixed'><parent link='b'/><child link='a'/>"
                                         "</joint></robot>",
       "line 2: <joint>: the joints above a go round in a circle"},
      {"<robot>" LINK JOINT("revolute", "<limit lower='1' upper='-1'/>") "</robot>",
       "line 1: <joint>: the lower limit 1 is above the upper one -1"},
      {"<robot>" LINK JOINT("continuous", "<axis xyz='0 0 0'/>") "</robot>",
       "line 1: <joint>: the axis must have a direction (its length is 0)"},
      {"<robot>" LINK JOINT("continuous", "<axis xyz='0 nan 0'/>") "</robot>",
       "line 1: <axis>: \"xyz\" must be finite numbers (got \"0 nan 0\")"},
      {"<robot>" LINK JOINT("continuous", "<origin xyz='0 0'/>") "</robot>",
       "line 1: <origin>: \"xyz\" must have 3 numbers (got \"0 0\")"},
      {"<robot>" LINK JOINT("continuous", "<origin rpy='1e999 0 0'/>") "</robot>",
       "line 1: <origin>: \"rpy\" must be finite numbers (got \"1e999 0 0\")"},
      {"<robot>" LINK JOINT("continuous", "<mimic joint='z'/>") "</robot>",
       "line 1: <mimic>: no joint that moves is called z"},
      {"<robot>" LINK JOINT("continuous", "<mimic joint='j'/>") "</robot>",
       "line 1: <mimic>: j cannot follow itself"},
      {"<robot>" LINK JOINT("continuous", "<dynamics damping='-1'/>") "</robot>",
       "line 1: <joint>: damping, friction, stiffness and armature are not negative"},
      {"<robot>" BODY("<inertial><mass value='-1'/></inertial>") "</robot>",
       "line 1: <mass>: must not be negative (got -1)"},
      {"<robot>" BODY("<collision/>") "</robot>", "line 1: <collision>: needs <geometry>"},
      {"<robot>" BODY("<collision><geometry/></collision>") "</robot>",
       "line 1: <geometry>: needs <box>, <cylinder>, <sphere>, <capsule> or <mesh>"},
      {"<robot>" BODY(
           "<collision><geometry><sphere radius='-1'/></geometry></collision>") "</robot>",
       "line 1: <sphere>: needs a positive \"radius\""},
      {"<robot>" BODY("<collision><geometry><mesh "
                      "filename='../../../../../etc/x.stl'/></geometry></collision>") "</robot>",
       "line 1: <mesh>: files outside the robot's folder are not read (got "
       "\"../../../../../etc/x.stl\")"},
      {"<robot><xacro:include filename='a'/>" LINK "</robot>",
       "line 1: <xacro:include>: xacro is not run here: expand the file first (xacro FILE.xacro -o "
       "FILE.urdf)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse(cases[i].text, strlen(cases[i].text), cases[i].line);
}

#define WORLD(inside) "<mujoco><worldbody>" inside "</worldbody></mujoco>"
#define ON(inside) WORLD("<body name='b'>" inside "</body>")

static void hostile_mjcf(void **state) {
  (void)state;
  static const struct {
    const char *text, *line;
  } cases[] = {
      {WORLD("<joint/>"), "line 1: <joint>: the world has no joints"},
      {ON("<geom type='blob'/>"), "line 1: <geom>: \"type\" must be one of plane, hfield, sphere, "
                                  "capsule, ellipsoid, cylinder, box, mesh, sdf (got \"blob\")"},
      {ON("<geom/>"), "line 1: <geom>: a sphere needs 1 numbers in \"size\""},
      {ON("<geom size='-1'/>"), "line 1: <geom>: \"size\" must be positive (got -1)"},
      {ON("<geom size='nan'/>"), "line 1: <geom>: \"size\" must be finite numbers (got \"nan\")"},
      {ON("<geom type='capsule' size='1' fromto='1 1 1 1 1 1'/>"),
       "line 1: <geom>: the ends of \"fromto\" are the same"},
      {ON("<geom type='mesh' mesh='m'/>"), "line 1: <geom>: no mesh is called m"},
      {ON("<geom class='c' size='1'/>"), "line 1: <geom>: no class is called c"},
      {ON("<geom size='1' quat='0 0 0 0'/>"), "line 1: <geom>: \"quat\" must not be zero"},
      {ON("<joint type='twirl'/>"),
       "line 1: <joint>: \"type\" must be one of free, ball, slide, hinge (got \"twirl\")"},
      {ON("<geom size='1'/><joint limited='true'/>"),
       "line 1: <joint>: is limited and has no \"range\""},
      {ON("<geom size='1'/><joint range='2 1'/>"),
       "line 1: <joint>: the lower limit 0.0349066 is above the upper one 0.0174533"},
      {ON("<geom size='1'/><freejoint/><freejoint/>"),
       "line 1: <freejoint>: a free body has no other joints"},
      {ON("<body><freejoint/></body>"),
       "line 1: <freejoint>: only a body in <worldbody> can be free"},
      {ON("<inertial mass='1'/>"), "line 1: <inertial>: needs \"diaginertia\" or \"fullinertia\""},
      {ON("<geom type='plane'/><joint/><geom size='1'/>"),
       "line 1: <body>: b moves: a plane cannot be on it"},
      {WORLD("<body name='b'/><body name='b'/>"), "line 1: <body>: a second body is called b"},
      {"<mujoco><compiler eulerseq='xya'/></mujoco>",
       "line 1: <compiler>: \"eulerseq\" must be three of xyzXYZ (got \"xya\")"},
      {"<mujoco><compiler coordinate='global'/></mujoco>",
       "line 1: <compiler>: \"coordinate\" must be local: the format has given up global ones; "
       "save "
       "the file with a program that reads them (got \"global\")"},
      {"<mujoco><option timestep='0'/></mujoco>",
       "line 1: <option>: \"timestep\" must be positive (got 0)"},
      {"<mujoco><include file='no.xml'/></mujoco>", "line 1: <include>: there is no file no.xml"},
      {"<mujoco><include file='/etc/passwd'/></mujoco>",
       "line 1: <include>: files outside the robot's folder are not read (got \"/etc/passwd\")"},
      {"<mujoco><equality><connect body1='x'/></equality></mujoco>",
       "line 1: <connect>: no body is called x"},
      {"<mujoco><actuator><motor joint='x'/></actuator></mujoco>",
       "line 1: <motor>: no hinge, slide or ball is called x"},
      {"<mujoco><default><default/></default></mujoco>", "line 1: <default>: needs \"class\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refuse(cases[i].text, strlen(cases[i].text), cases[i].line);
}

// A million elements inside each other, or beside.
static void deep_and_wide(void **state) {
  (void)state;
  const size_t count = 1000000;
  char *text = malloc(8 * count + 100);
  CHECK(text != NULL);
  size_t n = 0;
  for (size_t i = 0; i < count; i++, n += 3) memcpy(text + n, "<b>", 3);
  refuse(text, n, "line 1: elements are nested more than 500 deep");
  memcpy(text, "<b>", n = 3);
  for (size_t i = 0; i < count; i++, n += 4) memcpy(text + n, "<b/>", 4);
  refuse(text, n, "line 1: more than 500000 elements");
  free(text);
}

static size_t add(char *text, size_t n, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsprintf(text + n, format, arguments);
  va_end(arguments);
  return n + (size_t)length;
}

// Small files that ask for a great deal: copies of an element with thousands of attributes (hundreds of
// gigabytes), and tendons beside equalities of joints, each of which is looked at for each.
static void greedy(void **state) {
  (void)state;
  char *text = malloc(1 << 21);
  if (!text) fail();
  size_t n = add(text, 0, "<mujoco><worldbody><replicate count='400000'><geom size='1'");
  for (int i = 0; i < 30000; i++) n = add(text, n, " a%d='1'", i);
  n = add(text, n, "/></replicate></worldbody></mujoco>");
  refuse(text, n, "line 1: <replicate>: more than 500000 elements");
  n = add(text, 0, "<mujoco><worldbody>");
  for (int i = 0; i < 1100; i++)
    n = add(text, n, "<body><joint name='j%d'/><geom size='1'/></body>", i);
  n = add(text, n, "</worldbody><tendon>");
  for (int i = 0; i < 1000; i++)
    n = add(text, n, "<fixed stiffness='1'><joint joint='j%d'/><joint joint='j%d'/></fixed>", i,
            i + 50);
  n = add(text, n, "</tendon><equality>");
  for (int i = 0; i < 1000; i++) n = add(text, n, "<joint joint1='j%d' joint2='j%d'/>", i, i + 1);
  n = add(text, n, "</equality></mujoco>");
  refuse(text, n, "line 1: <joint>: more than 1000000 pairs of tendons and equalities");
  free(text);
}

// A missing mesh is left out and told; an unknown joint of the settings is refused.
static void missing(void **state) {
  (void)state;
  static const char text[] =
      "<robot name='r'><link name='a'><inertial><mass value='1'/></inertial><collision>\n"
      "<geometry><mesh filename='package://p/none.stl'/></geometry></collision></link></robot>";
  CniRobotDef def = {"r.urdf", "", CN_POSE_ONE, NULL, 0, NULL};
  CnAllocator allocator = cn_allocator_default();
  char *scene;
  size_t length;
  CHECK_OK(cni_robot_text(&def, text, strlen(text), &allocator, &scene, &length));
  CHECK_TEXT(scene, "line 2: the mesh package://p/none.stl is not there: left out");
  cni_release(&allocator, scene, length + 1);
  CnScene *none;
  CHECK_STATUS(cn_scene_open(ARM, (CnSetting[]){{"elbo", 1}}, 1, NULL, &none), CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), "no joint is called elbo, did you mean \"elbow\"?");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(double_pendulum), cmocka_unit_test(parts),
      cmocka_unit_test(same_bits),       cmocka_unit_test(hostile_urdf),
      cmocka_unit_test(models),          cmocka_unit_test(walker),
      cmocka_unit_test(hostile_mjcf),    cmocka_unit_test(deep_and_wide),
      cmocka_unit_test(missing),         cmocka_unit_test(greedy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
