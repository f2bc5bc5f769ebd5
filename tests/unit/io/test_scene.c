// SPDX-License-Identifier: Apache-2.0
// Scenes that are right: every number arrives where it belongs, generators and draws give what
// their formulas say, sensors read known forces, and nothing is left behind when memory ends.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/scene.h>

#include "alloc.h"
#include "core/math.h"
#include "core/rng.h"
#include "core/vec.h"
#include "modes.h"
#include "source_dir.h"

static CnScene *parse(const char *text) {
  CnScene *scene = NULL;
  CHECK_OK(cn_scene_parse(text, strlen(text), "test", NULL, 0, NULL, &scene));
  return scene;
}

static CnScene *open_good(const char *name) {
  char path[512];
  CnScene *scene = NULL;
  snprintf(path, sizeof path, "%s/tests/scenes/good/%s", CAIRN_SOURCE_DIR, name);
  CHECK_OK(cn_scene_open(path, NULL, 0, NULL, &scene));
  return scene;
}

static CnWorld *world_of(CnScene *scene) {
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  CnWorld *world = NULL;
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  return world;
}

// A body by its name.
static CnBodyId body_named(const CnWorld *world, const char *name) {
  CnBodyId body = {0, 0};
  while ((body = cn_world_next_body(world, body)).slot) {
    CnBodyInfo info;
    CHECK_OK(cn_body_info(world, body, &info));
    if (strcmp(info.name, name) == 0) return body;
  }
  fail_msg("no body %s", name);
  return body;
}

static CnPose pose_named(const CnWorld *world, const char *name) {
  CnPose pose;
  CHECK_OK(cn_body_pose(world, body_named(world, name), &pose));
  return pose;
}

static double sensor_named(const CnScene *scene, const CnWorld *world, const char *name) {
  double values[64];
  CnSceneInfo info;
  cn_scene_info(scene, &info);
  CHECK(info.sensor_count <= 64);
  CHECK_OK(cn_scene_measure(scene, world, values));
  for (int32_t i = 0; i < info.sensor_count; i++) {
    CnSensorInfo sensor;
    CHECK_OK(cn_scene_sensor(scene, i, &sensor));
    if (strcmp(sensor.name, name) == 0) return values[i];
  }
  fail_msg("no sensor %s", name);
  return NAN;
}

static void check_vec3(CnVec3 a, double x, double y, double z) {
  CHECK_NEAR(a.x, x, 1e-14);
  CHECK_NEAR(a.y, y, 1e-14);
  CHECK_NEAR(a.z, z, 1e-14);
}

// ---- settings ----

static void settings(void **state) {
  (void)state;
  CnScene *scene = open_good("settings.json");
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  check_vec3(def.gravity, 0, -4, -1.5);
  CHECK(def.time_step == 0.002 && strcmp(def.integrator, "impulse") == 0);
  CHECK(strcmp(def.solver.name, "pssor") == 0 && def.solver.max_iterations == 8);
  CHECK(def.solver.tolerance == 1e-6 && def.solver.relaxation == 0.9);
  CHECK(def.solver.acceleration == 0.8 && def.solver.local == CN_LOCAL_EXACT);
  CHECK(def.solver.check_interval == 3 && def.friction == CN_FRICTION_CONVEX);
  CHECK(def.stabilisation == 0.3 && def.recovery_speed == 0.25);
  CHECK(def.contact_stabilisation == 0.04 && def.contact_slop == 0.0001);
  CHECK(def.restitution_threshold == 0.02 && def.contact_margin == 0.005);
  CHECK(def.geometric_stiffness == 0 && strcmp(def.broad_phase, "grid") == 0);
  CnSceneInfo info;
  cn_scene_info(scene, &info);
  CHECK_NEAR(info.time, 0.2, 1e-15);
  CHECK(info.seed == 4 && strcmp(info.title, "Every setting") == 0);
  CHECK(strcmp(info.description, "Nothing moves.") == 0 && info.material_count == 2);
  CHECK(strlen(info.text) == info.text_size && strstr(info.text, "\"comment\""));
  cn_scene_destroy(scene);
}

// What a scene does not mention stays as the caller has it; a solver's name brings its defaults.
static void settings_absent(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.125;
  def.gravity = cn_vec3(1, 2, 3);
  def.solver.max_iterations = 17;
  def.solver.tolerance = 0.5;
  def.friction = CN_FRICTION_CONVEX;
  CnWorldDef before = def;
  CnScene *scene = parse("{}");
  cn_scene_world_def(scene, &def);
  CHECK(memcmp(&before, &def, sizeof def) == 0);
  CnSceneInfo info;
  cn_scene_info(scene, &info);
  CHECK(info.time == 1 && info.seed == 1 && info.title[0] == 0 && strcmp(info.name, "test") == 0);
  cn_scene_destroy(scene);

  scene = parse("{\"settings\": {\"solver\": {\"relaxation\": 0.75}}}");
  cn_scene_world_def(scene, &def);
  CHECK(def.solver.relaxation == 0.75 && def.solver.max_iterations == 17);
  cn_scene_destroy(scene);
  scene = parse("{\"settings\": {\"solver\": \"pssor\"}}");
  cn_scene_world_def(scene, &def);
  CHECK(def.solver.max_iterations == cn_solver_def_default("pssor").max_iterations);
  CHECK(def.time_step == 0.125);
  cn_scene_destroy(scene);
}

// ---- parameters ----

static void parameters(void **state) {
  (void)state;
  static const char text[] =
      "{\"parameters\": {\"area\": \"=width*height\", \"width\": {\"default\": "
      "2, \"summary\": \"m\"}, \"height\": \"=width+1\", \"idle\": 7}, "
      "\"settings\": {\"time\": \"=area\"}}";
  const CnSetting sets[] = {{"width", 3}, {"width", 4}};
  static const double values[2][4] = {{6, 2, 3, 7}, {20, 4, 5, 7}};
  static const double defaults[4] = {6, 2, 3, 7};
  static const char *const names[4] = {"area", "width", "height", "idle"};
  for (int32_t k = 0; k < 2; k++) {
    CnScene *scene;
    CHECK_OK(cn_scene_parse(text, sizeof text - 1, "test", sets, 2 * k, NULL, &scene));
    CnSceneInfo info;
    cn_scene_info(scene, &info);
    CHECK(info.parameter_count == 4 && info.time == values[k][0]);
    for (int32_t i = 0; i < 4; i++) {
      CnSceneParameter p;
      CHECK_OK(cn_scene_parameter(scene, i, &p));
      CHECK(strcmp(p.name, names[i]) == 0 && strcmp(p.summary, i == 1 ? "m" : "") == 0);
      CHECK(p.value == values[k][i] && p.default_value == defaults[i]);
      CHECK(p.used == (i != 3));
    }
    CnSceneParameter none;
    CHECK_STATUS(cn_scene_parameter(scene, 4, &none), CN_INVALID_ARGUMENT);
    CHECK_STATUS(cn_scene_parameter(scene, -1, &none), CN_INVALID_ARGUMENT);
    cn_scene_destroy(scene);
  }
  // an expression set from outside is replaced, not added to
  CnScene *scene;
  CHECK_OK(
      cn_scene_parse(text, sizeof text - 1, "test", &(CnSetting){"height", 10}, 1, NULL, &scene));
  CnSceneInfo info;
  cn_scene_info(scene, &info);
  CHECK(info.time == 20);
  cn_scene_destroy(scene);
}

// ---- bodies, shapes, joints ----

static void bodies(void **state) {
  (void)state;
  CnScene *scene = open_good("bodies.json");
  CnWorld *world = world_of(scene);
  CnWorldInfo info;
  cn_world_info(world, &info);
  CHECK(info.body_count == 5 && info.shape_count == 9 && info.joint_count == 4);
  CnBodyId given = body_named(world, "given");
  CnBodyInfo body;
  CnTwist twist;
  CHECK_OK(cn_body_info(world, given, &body));
  CHECK(body.kind == CN_BODY_DYNAMIC && body.mass == 2 && body.shape_count == 1);
  check_vec3(body.com.position, 0, 0, 0.25);
  CHECK_OK(cn_body_twist(world, given, &twist));
  check_vec3(twist.velocity, 1, 0, 0);
  check_vec3(twist.spin, 0, 2, 0);
  CnPose pose = pose_named(world, "given");
  check_vec3(pose.position, 1, 2, 3);
  // a third of a turn about (1, 1, 1): x goes to y
  check_vec3(cn_rotate(pose.rotation, cn_vec3(1, 0, 0)), 0, 1, 0);
  CHECK_OK(cn_body_info(world, body_named(world, "driven"), &body));
  CHECK(body.kind == CN_BODY_KINEMATIC);

  // the plane with a normal: free side along (0, 3, 4)/5
  CnShapeDef shape;
  CnBodyId floor = body_named(world, "floor");
  CHECK_OK(cn_shape_def(world, cn_body_shape(world, floor, 1), &shape));
  check_vec3(cn_rotate(shape.pose.rotation, cn_vec3(0, 0, 1)), 0, 0.6, 0.8);
  CHECK_OK(cn_shape_def(world, cn_body_shape(world, floor, 2), &shape));
  check_vec3(cn_rotate(shape.pose.rotation, cn_vec3(0, 0, 1)), 0, -1, 0);
  CHECK(shape.category == 2 && shape.mask == 1);

  // one box of 0.5 m and density 100, three spheres
  CnBodyId compound = body_named(world, "compound");
  double mass = 12.5;
  for (int32_t k = 0; k < 3; k++) {
    double r = 0.1 * (k + 1);
    mass += 4.0 / 3.0 * CNI_PI * r * r * r * 1000;
    CHECK_OK(cn_shape_def(world, cn_body_shape(world, compound, k + 1), &shape));
    CHECK_NEAR(shape.radius, r, 1e-15);
    CHECK(shape.pose.position.x == k);
  }
  CHECK_OK(cn_body_info(world, compound, &body));
  CHECK_REL(body.mass, mass, 1e-14);
  CHECK_OK(cn_shape_def(world, cn_body_shape(world, compound, 0), &shape));
  CHECK(shape.half_size.x == 0.25 && shape.half_size.z == 0.25 && shape.density == 100);

  // joints as given by a point, by frames, by two points
  CnJointState joint;
  CnJointId id = {1, 1};
  CHECK_OK(cn_joint_state(world, id, &joint));
  CHECK_NEAR(joint.error, 0, 1e-14);
  id.slot = 3;
  CHECK_OK(cn_joint_state(world, id, &joint));
  CHECK_NEAR(joint.error, 0, 1e-14);
  id.slot = 4;
  CHECK_OK(cn_joint_state(world, id, &joint));
  CHECK_NEAR(joint.error, 0, 1e-14);
  CHECK_OK(cn_world_step(world, NULL));
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// Degrees, radians, a quaternion, and the length of the axis make no difference.
static void rotations(void **state) {
  (void)state;
  static const char *const forms[] = {
      "{\"axis\": [0, 0, 1], \"degrees\": 90}", "{\"axis\": [0, 0, 5], \"radians\": \"=pi/2\"}",
      "[0.70710678118654752, 0, 0, 0.70710678118654752]", "[0.7071, 0, 0, 0.7071]"};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    char text[256];
    snprintf(text, sizeof text,
             "{\"bodies\": [{\"name\": \"b\", \"rotation\": %s, \"shapes\": [{\"kind\": \"box\", "
             "\"size\": 1}]}]}",
             forms[i]);
    CnScene *scene = parse(text);
    CnWorld *world = world_of(scene);
    check_vec3(cn_rotate(pose_named(world, "b").rotation, cn_vec3(1, 0, 0)), 0, 1, 0);
    cn_world_destroy(world);
    cn_scene_destroy(scene);
  }
}

// ---- generators ----

static void generators(void **state) {
  (void)state;
  CnScene *scene = open_good("generators.json");
  CnWorld *world = world_of(scene);
  CnSceneInfo info;
  cn_scene_info(scene, &info);
  CHECK(info.body_count == 4 + 11 + 4 + 2 + 1 + 4);
  check_vec3(pose_named(world, "r1.0").position, 10, 0, 0);
  check_vec3(pose_named(world, "r0.1").position, 0, 10, 0);
  for (int32_t i = 0; i < 11; i++) {
    char name[16];
    CnTwist twist;
    int32_t ix = i % 3, iy = i / 3 % 2, iz = i / 6;
    snprintf(name, sizeof name, "l%d", (int)i);
    check_vec3(pose_named(world, name).position, 100 + ix, 2 * iy, 3 * iz);
    CHECK_OK(cn_body_twist(world, body_named(world, name), &twist));
    check_vec3(twist.velocity, ix, iy, iz);
  }
  // the scene's sequence: x y z u v for each of four, then "after"; that of "own" is its own
  CniRng rng = {5}, own = {5};
  for (int32_t k = 0; k < 4; k++) {
    char name[16];
    CnTwist twist;
    snprintf(name, sizeof name, "q%d", (int)k);
    CnVec3 p = pose_named(world, name).position;
    CHECK(p.x == cni_rng_range(&rng, 200, 210) && p.y == cni_rng_range(&rng, 0, 1));
    CHECK(p.z == cni_rng_range(&rng, -1, 1));
    CHECK_OK(cn_body_twist(world, body_named(world, name), &twist));
    CHECK(twist.velocity.x == cni_rng_unit(&rng) && twist.velocity.y == cni_rng_unit(&rng));
  }
  CHECK(pose_named(world, "own0").position.z == cni_rng_unit(&own));
  CHECK(pose_named(world, "own1").position.z == cni_rng_unit(&own));
  CHECK(pose_named(world, "after").position.z == cni_rng_unit(&rng));

  // the innermost of two indices of one name counts
  int32_t hidden = 0;
  for (CnBodyId body = {0, 0}; (body = cn_world_next_body(world, body)).slot;) {
    CnPose pose;
    CHECK_OK(cn_body_pose(world, body, &pose));
    if (pose.position.x != 500) continue;
    CHECK(pose.position.z == 0);
    hidden++;
  }
  CHECK(hidden == 4);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// ---- sensors ----

static const char ball_on_floor[] =
    "{\"settings\": {\"time_step\": 0.01, \"gravity\": [0, 0, -10], \"solver\": {\"iterations\": "
    "200}}, \"bodies\": [{\"name\": \"floor\", \"kind\": \"fixed\", \"shapes\": [{\"kind\": "
    "\"plane\"}]}, {\"name\": \"ball\", \"position\": [0, 0, 1], \"mass\": 3, \"inertia\": [1, 1, "
    "1], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 1}]}, {\"name\": \"bob\", \"position\": "
    "[5, 0, 3], \"mass\": 2, \"inertia\": [1, 1, 1]}], \"joints\": [{\"name\": \"string\", "
    "\"kind\": \"distance\", \"bodies\": [\"bob\", \"ground\"], \"anchors\": [[5, 0, 3], [5, 0, "
    "5]]}], \"sensors\": [{\"name\": \"on ball\", \"kind\": \"contact_force\", \"bodies\": "
    "[\"ball\", \"floor\"]}, {\"name\": \"on floor\", \"kind\": \"contact_force\", \"body\": "
    "\"floor\", \"axis\": \"z\"}, {\"name\": \"normal\", \"kind\": \"contact_force\", \"bodies\": "
    "[\"floor\", \"ball\"], \"axis\": \"normal\"}, {\"name\": \"length\", \"kind\": "
    "\"contact_force\", \"body\": \"ball\", \"axis\": \"length\"}, {\"name\": \"pull\", \"kind\": "
    "\"joint_force\", \"joint\": \"string\"}, {\"name\": \"stretch\", \"kind\": \"joint_error\", "
    "\"joint\": \"string\"}, {\"name\": \"top\", \"kind\": \"position\", \"body\": \"ball\", "
    "\"point\": [0, 0, 1], \"axis\": \"z\"}, {\"name\": \"turn\", \"kind\": \"rotation\", "
    "\"body\": \"ball\"}, {\"name\": \"e\", \"kind\": \"energy\"}, {\"name\": \"ek\", \"kind\": "
    "\"kinetic_energy\"}, {\"name\": \"ep\", \"kind\": \"potential_energy\"}]}";

// At rest: the floor carries 30 N, the string 20 N.
static void check_ball(const CnScene *scene, const CnWorld *world) {
  CHECK_NEAR(sensor_named(scene, world, "on ball.z"), 30, 1e-9);
  CHECK_NEAR(sensor_named(scene, world, "on ball.x"), 0, 1e-9);
  CHECK_NEAR(sensor_named(scene, world, "on floor"), -30, 1e-9);
  CHECK_NEAR(sensor_named(scene, world, "normal"), 30, 1e-9);
  CHECK_NEAR(sensor_named(scene, world, "length"), 30, 1e-9);
  // on the joint's second side, the ground: down
  CHECK_NEAR(sensor_named(scene, world, "pull.z"), -20, 1e-6);
  CHECK_NEAR(sensor_named(scene, world, "stretch"), 0, 1e-9);
  CHECK_NEAR(sensor_named(scene, world, "top"), 2, 1e-9);
  CHECK_NEAR(sensor_named(scene, world, "turn.w"), 1, 1e-12);
  CHECK_NEAR(sensor_named(scene, world, "ep"), 3 * 10 * 1 + 2 * 10 * 3, 1e-8);
  CHECK_NEAR(sensor_named(scene, world, "e"), 90, 1e-8);
}

static void sensors(void **state) {
  (void)state;
  CnScene *scene = parse(ball_on_floor);
  CnWorld *world = world_of(scene);
  for (int32_t i = 0; i < 5; i++) CHECK_OK(cn_world_step(world, NULL));
  check_ball(scene, world);
  CnSensorInfo sensor;
  CHECK_OK(cn_scene_sensor(scene, 0, &sensor));
  CHECK(strcmp(sensor.name, "on ball.x") == 0 && strcmp(sensor.unit, "N") == 0);
  CHECK_STATUS(cn_scene_sensor(scene, 1000, &sensor), CN_INVALID_ARGUMENT);

  // a world restored from a snapshot is read by the same scene opened anew
  size_t size;
  CHECK_OK(cn_world_save(world, NULL, 0, &size));
  void *data = malloc(size);
  CHECK_OK(cn_world_save(world, data, size, &size));
  CnScene *again = parse(ball_on_floor);
  CnWorldDef def = cn_world_def_default();
  CnWorld *other;
  CHECK_OK(cn_world_create(&def, &other));
  CHECK_OK(cn_world_restore(other, data, size));
  check_ball(again, other);
  free(data);
  cn_world_destroy(other);
  cn_scene_destroy(again);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

static void sensor_of_motion(void **state) {
  (void)state;
  CnScene *scene = open_good("bodies.json");
  CnWorld *world = world_of(scene);
  // R (1, 0, 0) = (0, 1, 0): v + w x arm = (1, 0, 0) + (0, 2, 0) x (0, 1, 0)
  CHECK_NEAR(sensor_named(scene, world, "v"), 1, 1e-14);
  // R (0, 0, 1) = (1, 0, 0)
  CHECK_NEAR(sensor_named(scene, world, "tip"), 3, 1e-14);
  CHECK_NEAR(sensor_named(scene, world, "p.y"), 2, 1e-14);
  CHECK_NEAR(sensor_named(scene, world, "q.w"), 0.5, 1e-15);
  CHECK_NEAR(sensor_named(scene, world, "q.z"), 0.5, 1e-15);
  CHECK(sensor_named(scene, world, "w") == 1);
  CHECK(sensor_named(scene, world, "e") ==
        sensor_named(scene, world, "ek") + sensor_named(scene, world, "ep"));
  CHECK(sensor_named(scene, world, "copy1") == sensor_named(scene, world, "e"));
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// ---- as a whole ----

// A world is filled once, and only an empty one.
static void filling(void **state) {
  (void)state;
  CnScene *scene = open_good("bodies.json");
  CnWorld *world = world_of(scene);
  uint64_t hash = cn_world_hash(world);
  CHECK_STATUS(cn_scene_fill(scene, world), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_scene_fill(NULL, world), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_scene_fill(scene, NULL), CN_INVALID_ARGUMENT);
  CHECK(cn_world_hash(world) == hash);
  cn_world_destroy(world);
  // the same scene, another world: the same bits
  world = world_of(scene);
  CHECK(cn_world_hash(world) == hash);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

// Every allocation of reading fails once; nothing is left.
static void memory_of_reading(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  for (int32_t n = 1;; n++) {
    CnScene *scene;
    test_alloc_fail_at(&alloc, n);
    CnStatus status =
        cn_scene_parse(ball_on_floor, sizeof ball_on_floor - 1, "test", NULL, 0, &hook, &scene);
    int over = alloc.failed_count == 0;
    CHECK(over ? status == CN_OK : status == CN_NO_MEMORY && !scene);
    cn_scene_destroy(scene);
    test_alloc_check_clean(&alloc);
    if (over) break;
    CHECK(n < 1000);
  }
}

// Every allocation of filling fails once: the world is empty again and can be filled.
static void memory_of_filling(void **state) {
  (void)state;
  CnScene *scene = open_good("bodies.json");
  CnWorld *whole = world_of(scene);
  for (int32_t n = 1;; n++) {
    TestAlloc alloc;
    test_alloc_init(&alloc);
    CnWorldDef def = cn_world_def_default();
    cn_scene_world_def(scene, &def);
    def.allocator = test_alloc_hook(&alloc);
    CnWorld *world;
    CHECK_OK(cn_world_create(&def, &world));
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cn_scene_fill(scene, world);
    int over = alloc.failed_count == 0;
    CHECK(status == (over ? CN_OK : CN_NO_MEMORY));
    CnWorldInfo info;
    cn_world_info(world, &info);
    if (!over) {
      CHECK(info.body_count == 0 && info.shape_count == 0 && info.joint_count == 0);
      CHECK(info.material_count == 0);
      test_alloc_fail_never(&alloc);
      CHECK_OK(cn_scene_fill(scene, world));
    }
    CHECK(cn_world_hash(world) == cn_world_hash(whole));
    cn_world_destroy(world);
    test_alloc_check_clean(&alloc);
    if (over) break;
    CHECK(n < 1000);
  }
  cn_world_destroy(whole);
  cn_scene_destroy(scene);
}

// The examples of the documentation are scenes.
static void documentation(void **state) {
  (void)state;
  FILE *file = fopen(CAIRN_SOURCE_DIR "/docs/scene.md", "rb");
  CHECK(file != NULL);
  static char all[100000];
  size_t size = fread(all, 1, sizeof all - 1, file);
  fclose(file);
  all[size] = 0;
  int32_t count = 0;
  for (char *at = all; (at = strstr(at, "\n```json\n"));) {
    char *start = at + 9, *end = strstr(start, "\n```");
    CHECK(end != NULL);
    *end = 0;
    CnScene *scene = parse(start);
    CnWorld *world = world_of(scene);
    CHECK_OK(cn_world_step(world, NULL));
    cn_world_destroy(world);
    cn_scene_destroy(scene);
    at = end + 4;
    count++;
  }
  CHECK(count >= 4);
}

// The floating-point mode of the host changes neither what is read nor what is built of it.
static void modes(void **state) {
  (void)state;
  static const char text[] =
      "{\"bodies\": [{\"repeat\": 20, \"as\": \"i\", "
      "\"items\": "
      "[{\"position\": [\"=sqrt(i)/3\", \"=sin(i)*0.1\", \"=0.7*i+cbrt(2)\"], \"shapes\": "
      "[{\"kind\": \"sphere\", \"radius\": \"=0.1+i/70\"}]}]}]}";
  uint64_t hash = 0;
  for (int mode = 0; mode < MODE_COUNT; mode++) {
    CnScene *scene = NULL;
    CnWorld *world = NULL;
    CnWorldDef def = cn_world_def_default();
    uint64_t usual = mode_now();
    mode_set(mode);
    uint64_t set = mode_now();
    CnStatus status = cn_scene_parse(text, sizeof text - 1, "test", NULL, 0, NULL, &scene);
    if (status == CN_OK) cn_scene_world_def(scene, &def);
    if (status == CN_OK) status = cn_world_create(&def, &world);
    if (status == CN_OK) status = cn_scene_fill(scene, world);
    mode_end(usual, set);
    CHECK_OK(status);
    if (mode == 0) hash = cn_world_hash(world);
    CHECK(cn_world_hash(world) == hash);
    cn_world_destroy(world);
    cn_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(settings),
                                     cmocka_unit_test(settings_absent),
                                     cmocka_unit_test(parameters),
                                     cmocka_unit_test(bodies),
                                     cmocka_unit_test(rotations),
                                     cmocka_unit_test(generators),
                                     cmocka_unit_test(sensors),
                                     cmocka_unit_test(sensor_of_motion),
                                     cmocka_unit_test(filling),
                                     cmocka_unit_test(memory_of_reading),
                                     cmocka_unit_test(memory_of_filling),
                                     cmocka_unit_test(documentation),
                                     cmocka_unit_test(modes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
