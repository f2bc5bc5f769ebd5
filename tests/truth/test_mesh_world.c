// SPDX-License-Identifier: Apache-2.0
// Meshes in worlds: sheets, thickness, rooms, drums that turn, solids of triangles that fall, fast
// bodies, queries, and the same bits after save and restore.
#include "check.h"
#include "core/math.h"
#include "meshes.h"
#include "worlds.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/query.h>

static void turn_inside_out(MeshLists *l) {
  for (int32_t t = 0; t < l->triangle_count; t++) {
    int32_t swap = l->triangles[3 * t + 1];
    l->triangles[3 * t + 1] = l->triangles[3 * t + 2];
    l->triangles[3 * t + 2] = swap;
  }
}

static CnWorld *make(double h) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  return world_make(&def);
}

// On a sheet, above and below, with a thickness and without.
static void sheets(void **state) {
  (void)state;
  for (int n = 0; n < 4; n++) {
    CnWorldDef def = cn_world_def_default();
    def.time_step = .01;
    int below = n % 2;
    double thick = n / 2 * .1;
    if (below) def.gravity = cn_vec3(0, 0, 9.81);
    CnWorld *world = world_make(&def);
    CnMaterialId m = world_material(world, .5, 0);
    MeshLists floor = mesh_floor(2, 2, 7, 5);
    mesh_body(world, floor, CN_BODY_FIXED, CN_POSE_ONE, 1, thick, m);
    double s = below ? -1 : 1;
    CnBodyId ball = world_ball(world, .2, 1, cn_vec3(.3, .2, s * .4), CN_VEC3_ZERO, m);
    CnBodyId box =
        world_box(world, cn_vec3(.2, .3, .1), 1, world_at(-.8, .1, s * .3), CN_VEC3_ZERO, m);
    for (int i = 0; i < 150; i++) world_step(world);
    CHECK_NEAR(world_pose(world, ball).position.z, s * (.2 + thick / 2), 1e-6);
    CHECK_NEAR(world_pose(world, box).position.z, s * (.1 + thick / 2), 1e-6);
    cn_world_destroy(world);
  }
}

// A box in the corner of a room stands against floor and walls: each takes its part of the weight.
static void room(void **state) {
  (void)state;
  for (int times = 0; times < 3; times++) {
    CnWorldDef def = cn_world_def_default();
    def.time_step = .01;
    def.gravity = cn_vec3(-3, -2, -9.81);
    CnWorld *world = world_make(&def);
    CnMaterialId m = world_material(world, 0, 0);
    MeshLists walls = mesh_box(cn_vec3(1, 1, 1), times);
    turn_inside_out(&walls);
    CnBodyId ground = mesh_body(world, walls, CN_BODY_FIXED, CN_POSE_ONE, 0, 0, m);
    CnBodyId box =
        world_box(world, cn_vec3(.2, .15, .1), 2, world_at(-.75, -.8, -.85), CN_VEC3_ZERO, m);
    for (int i = 0; i < 200; i++) world_step(world);
    CnPose pose = world_pose(world, box);
    CHECK_NEAR(cn_norm(cn_sub(pose.position, cn_vec3(-.8, -.85, -.9))), 0, 1e-5);
    CHECK_NEAR(fabs(pose.rotation.w), 1, 1e-6);
    CnVec3 f = world_force(world, ground, box);
    CHECK_NEAR(cn_norm(cn_sub(f, cn_vec3(6, 4, 19.62))), 0, 1e-4);
    cn_world_destroy(world);
  }
}

// Solids of triangles fall on a half-space, a box, a mesh below them carries bodies.
static void solids(void **state) {
  (void)state;
  for (int times = 0; times < 3; times++) {
    CnWorld *world = make(.01);
    CnMaterialId m = world_material(world, .5, 0);
    world_floor(world, m);
    world_fixed_box(world, cn_vec3(1, 1, .5), world_at(5, 0, .5), m);
    CnBodyId a = mesh_body(world, mesh_box(cn_vec3(.3, .2, .1), times), CN_BODY_DYNAMIC,
                           world_at(0, 0, .15), 0, 0, m);
    CnBodyId b = mesh_body(world, mesh_box(cn_vec3(.3, .2, .1), times), CN_BODY_DYNAMIC,
                           world_at(5.9, 0, 1.15), 0, 0, m);
    CnBodyId on = world_box(world, cn_vec3(.1, .1, .1), 3, world_at(.05, 0, .37), CN_VEC3_ZERO, m);
    CnBodyInfo info;
    CHECK_OK(cn_body_info(world, a, &info));
    CHECK_NEAR(info.mass, 48, 1e-10);
    for (int i = 0; i < 200; i++) world_step(world);
    CHECK_NEAR(world_pose(world, a).position.z, .1, 1e-5);
    CHECK_NEAR(world_pose(world, on).position.z, .3, 1e-5);
    CHECK_NEAR(world_pose(world, b).position.z, 1.1, 1e-5);
    CHECK_NEAR(world_pose(world, b).position.x, 5.9, 1e-4);
    cn_world_destroy(world);
  }
}

// A drum of 24 sides that turns with bodies in it; saved half way and run twice to the same bits.
static void drum(void **state) {
  (void)state;
  CnWorld *world = make(.005);
  CnMaterialId m = world_material(world, .6, 0);
  MeshLists shell = mesh_ball(1, 2);
  turn_inside_out(&shell);
  CnBodyId id = mesh_body(world, shell, CN_BODY_KINEMATIC, CN_POSE_ONE, 0, 0, m);
  CnTwist spin = {CN_VEC3_ZERO, {0, 2, 0}};
  CHECK_OK(cn_body_set_twist(world, id, &spin));
  CniRng rng = {9};
  for (int i = 0; i < 24; i++) {
    CnPose pose = {{.3 * (i % 3 - 1), .3 * (i / 3 % 3 - 1), .3 * (i / 9 - 1)},
                   random_rotation(&rng)};
    CnShapeDef shape = cn_shape_def_default(i % 4 == 0   ? CN_SHAPE_BOX
                                            : i % 4 == 1 ? CN_SHAPE_CAPSULE
                                            : i % 4 == 2 ? CN_SHAPE_CYLINDER
                                                         : CN_SHAPE_SPHERE);
    shape.half_size = cn_vec3(.07, .05, .06);
    shape.radius = .05;
    shape.half_length = .05;
    shape.material = m;
    CnBodyDef body = cn_body_def_default();
    CnBodyId of;
    CnShapeId sid;
    body.pose = pose;
    CHECK_OK(cn_body_create(world, &body, &of));
    CHECK_OK(cn_shape_create(world, of, &shape, &sid));
  }
  for (int i = 0; i < 150; i++) world_step(world);
  size_t size;
  CHECK_OK(cn_world_save(world, NULL, 0, &size));
  void *saved = malloc(size);
  CHECK_OK(cn_world_save(world, saved, size, &size));
  CnWorld *other = make(.005);
  CHECK_OK(cn_world_restore(other, saved, size));
  free(saved);
  for (int i = 0; i < 150; i++) {
    world_step(world);
    world_step(other);
  }
  CHECK(cn_world_hash(world) == cn_world_hash(other));
  for (CnBodyId b = cn_world_next_body(world, (CnBodyId){0, 0}); b.slot;
       b = cn_world_next_body(world, b))
    CHECK(b.slot == id.slot || cn_norm(world_pose(world, b).position) < .98);
  CnPenetration p;
  CHECK_OK(cn_world_penetration(world, &p));
  CHECK(p.max < 2e-3);
  cn_world_destroy(other);
  cn_world_destroy(world);
}

// Fast and continuous: nothing goes through a sheet.
static void fast(void **state) {
  (void)state;
  CniRng rng = {4};
  for (int n = 0; n < 12; n++) {
    CnWorld *world = make(.01);
    CnMaterialId m = world_material(world, .3, 0);
    mesh_body(world, mesh_floor(40, 40, 9, 9), CN_BODY_FIXED, CN_POSE_ONE, 1, 0, m);
    CnBodyDef body = cn_body_def_default();
    CnShapeDef shape = cn_shape_def_default(n % 2 ? CN_SHAPE_BOX : CN_SHAPE_SPHERE);
    CnBodyId id;
    CnShapeId of;
    body.continuous = 1;
    body.pose = (CnPose){random_in_cube(&rng, .5), random_rotation(&rng)};
    body.pose.position.z = 1 + n * .13;
    body.twist.velocity = cn_vec3(n % 3 * 20, 10, -100);
    body.twist.spin = cn_scale(30, random_direction(&rng));
    shape.radius = .02;
    shape.half_size = cn_vec3(.02, .02, .02);
    shape.material = m;
    CHECK_OK(cn_body_create(world, &body, &id));
    CHECK_OK(cn_shape_create(world, id, &shape, &of));
    for (int i = 0; i < 30; i++) {
      world_step(world);
      CHECK(world_pose(world, id).position.z > .015);
    }
    cn_world_destroy(world);
  }
}

static void queries(void **state) {
  (void)state;
  CnWorld *world = make(.01);
  CnMaterialId m = world_material(world, .3, 0);
  CnBodyId id =
      mesh_body(world, mesh_box(cn_vec3(1, 1, 1), 2), CN_BODY_FIXED, world_at(0, 0, 3), 0, 0, m);
  CnHit hit;
  CHECK_OK(cn_world_ray(world, cn_vec3(.3, .2, 10), cn_vec3(0, 0, -20), NULL, &hit));
  CHECK(hit.body.slot == id.slot);
  CHECK_NEAR(hit.at, .3, 1e-12);
  CHECK_NEAR(hit.normal.z, 1, 1e-12);
  CnShapeDef ball = cn_shape_def_default(CN_SHAPE_SPHERE);
  ball.radius = .5;
  ball.pose.position = cn_vec3(.3, .2, 10);
  CHECK_OK(cn_world_cast(world, &ball, cn_vec3(0, 0, -10), NULL, &hit));
  CHECK_NEAR(hit.at, .55, 1e-9);
  CnClosest near;
  CHECK_OK(cn_world_closest(world, cn_vec3(4, .1, 3.2), NULL, &near));
  CHECK_NEAR(near.gap, 3, 1e-12);
  int32_t count;
  CHECK_OK(cn_world_overlap(world, &ball, NULL, NULL, 0, &count));
  CHECK(count == 0);
  ball.pose.position = cn_vec3(0, 0, 3);
  CHECK_OK(cn_world_overlap(world, &ball, NULL, NULL, 0, &count));
  CHECK(count == 1);
  CnShapeDef mesh;
  CHECK_OK(cn_shape_def(world, cn_body_shape(world, id, 0), &mesh));
  CHECK_STATUS(cn_world_cast(world, &mesh, cn_vec3(0, 0, -10), NULL, &hit), CN_INVALID_ARGUMENT);
  // what is open cannot be dynamic, a mesh is no hull
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  CnShapeId of;
  MeshLists floor = mesh_floor(1, 1, 2, 2);
  CnMeshDef open = mesh_def(&floor);
  open.name = "floor";
  CHECK_OK(cn_body_create(world, &def, &body));
  CHECK_OK(cn_geometry_create_mesh(world, &open, &mesh.geometry));
  CHECK_STATUS(cn_shape_create(world, body, &mesh, &of), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "'floor'"));
  mesh.kind = CN_SHAPE_HULL;
  CHECK_STATUS(cn_shape_create(world, body, &mesh, &of), CN_INVALID_ARGUMENT);
  mesh_free(&floor);
  cn_world_destroy(world);
}

// Balls and boxes on a hilly field stay there, one over a hole falls; save and restore.
static void field(void **state) {
  (void)state;
  enum { N = 61 };
  static double z[N * N];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++) {
      double x = .1 * (i - 30), y = .1 * (j - 30);
      z[j * N + i] = .12 * (x * x + y * y) + .05 * cni_sin(3 * x) * cni_cos(3 * y);
    }
  z[30 * N + 12] = NAN;
  CnWorld *world = make(.01);
  CnMaterialId m = world_material(world, .5, 0);
  CnHeightsDef def = cn_heights_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_MESH);
  CnBodyDef ground = cn_body_def_default();
  CnBodyId id, first;
  CnShapeId of;
  def.x_count = def.y_count = N;
  def.x_spacing = def.y_spacing = .1;
  def.heights = z;
  CHECK_OK(cn_geometry_create_heights(world, &def, &shape.geometry));
  ground.kind = CN_BODY_FIXED;
  ground.pose.position = cn_vec3(-3, -3, 0);
  shape.material = m;
  CHECK_OK(cn_body_create(world, &ground, &id));
  CHECK_OK(cn_shape_create(world, id, &shape, &of));
  first = world_ball(world, .04, 1, cn_vec3(-1.8, 0, .5), CN_VEC3_ZERO, m);
  for (int i = 0; i < 16; i++) {
    CnVec3 at = {.5 * (i % 4) - .7, .5 * (i / 4) - .8, .9};
    if (i % 2)
      world_ball(world, .1, 1, at, CN_VEC3_ZERO, m);
    else
      world_box(world, cn_vec3(.1, .12, .08), 1, (CnPose){at, CN_QUAT_ONE}, CN_VEC3_ZERO, m);
  }
  size_t size;
  for (int i = 0; i < 100; i++) world_step(world);
  CHECK_OK(cn_world_save(world, NULL, 0, &size));
  void *saved = malloc(size);
  CHECK_OK(cn_world_save(world, saved, size, &size));
  CnWorld *other = make(.01);
  CHECK_OK(cn_world_restore(other, saved, size));
  free(saved);
  for (int i = 0; i < 100; i++) {
    world_step(world);
    world_step(other);
  }
  CHECK(cn_world_hash(world) == cn_world_hash(other));
  CHECK(world_pose(world, first).position.z < -1);
  for (CnBodyId b = cn_world_next_body(world, first); b.slot; b = cn_world_next_body(world, b)) {
    CnVec3 at = world_pose(world, b).position;
    double ground_at =
        .12 * (at.x * at.x + at.y * at.y) + .05 * cni_sin(3 * at.x) * cni_cos(3 * at.y);
    CHECK(at.z > ground_at + .06 && hypot(at.x, at.y) < 2);
  }
  cn_world_destroy(other);
  cn_world_destroy(world);
}

// A plate of triangles, kinematic, that moves by a sine or turns by a ramp.
static CnBodyId add_plate(CnWorld *world, const CnFunctionDef *function, int turns,
                          CnMaterialId m) {
  CniRng rng = {8};
  MeshLists plate = mesh_floor(1, 1, 7, 9);
  mesh_shuffle(&plate, &rng, 1, 1, 7, 9);
  CnBodyId id = mesh_body(world, plate, CN_BODY_KINEMATIC, CN_POSE_ONE, 0, 0, m);
  CnMotionDef motion = cn_motion_def_default();
  CnFunctionId of;
  CHECK_OK(cn_function_create(world, function, &of));
  *(turns ? &motion.turn : &motion.z) = of;
  CHECK_OK(cn_body_set_motion(world, id, &motion));
  return id;
}

// A box on a plate that vibrates, with A w^2 = .8 g: it is pressed by m (g + z''), mean over each step.
static void vibrating(void **state) {
  (void)state;
  const double h = 5e-4, mass = 2, amplitude = 1e-3, rate = sqrt(.8 * 9.81 / amplitude);
  CnWorld *world = make(h);
  CnMaterialId m = world_material(world, .5, 0);
  CnFunctionDef sine = cn_function_def_default(CN_FUNCTION_SINE);
  sine.amplitude = amplitude;
  sine.frequency = rate / (2 * CNI_PI);
  CnBodyId plate = add_plate(world, &sine, 0, m);
  CnVec3 v = {0, 0, amplitude * rate};
  CnBodyId box = world_box(world, cn_vec3(.2, .15, .1), mass, world_at(.07, .03, .1), v, m);
  double worst = 0;
  for (int i = 0; i < 600; i++) {
    double before = amplitude * rate * cni_cos(rate * h * i);
    world_step(world);
    double after = amplitude * rate * cni_cos(rate * h * (i + 1));
    double truth = mass * (9.81 + (after - before) / h), force = world_force(world, plate, box).z;
    worst = cn_max(worst, fabs(force - truth) / (mass * 9.81));
    CHECK_NEAR(world_pose(world, box).position.z - world_pose(world, plate).position.z, .1, 1e-6);
  }
  print_message("vibrating plate: force to %.2g of the weight\n", worst);
  CHECK(worst < .55 * .8 * rate * h); // half a step late, and a tenth

  CHECK_NEAR(world_pose(world, box).position.x, .07, 1e-6);
  cn_world_destroy(world);
}

// A box on a turntable of triangles rides as long as w^2 r < mu g, and not 2 % above.
static void turntable(void **state) {
  (void)state;
  const double mu = .5, r = .5, limit = sqrt(mu * 9.81 / r);
  for (int fast = 0; fast < 2; fast++) {
    double rate = limit * (fast ? 1.02 : .98);
    CnWorld *world = make(1e-3);
    CnMaterialId m = world_material(world, mu, 0);
    CnFunctionDef ramp = cn_function_def_default(CN_FUNCTION_RAMP);
    ramp.rate = rate;
    add_plate(world, &ramp, 1, m);
    CnBodyId box = world_box(world, cn_vec3(.02, .02, .005), 1, world_at(r, 0, .005),
                             cn_vec3(0, rate * r, 0), m);
    CnTwist twist = {{0, rate * r, 0}, {0, 0, rate}};
    CHECK_OK(cn_body_set_twist(world, box, &twist));
    for (int i = 0; i < 2000; i++) world_step(world);
    CnVec3 at = world_pose(world, box).position;
    CHECK((hypot(at.x, at.y) > r + .05) == fast);
    double off = hypot(at.x - r * cni_cos(2 * rate), at.y - r * cni_sin(2 * rate));
    if (!fast) CHECK_NEAR(off, 0, 2e-3);
    cn_world_destroy(world);
  }
}

// Integrators that follow gaps in time do not know those of meshes, and say so.
static void refused(void **state) {
  (void)state;
  static const char *const names[] = {"hem5", "rkf45", "moreau-jean"};
  for (int k = 0; k < 3; k++) {
    CnWorldDef def = cn_world_def_default();
    def.integrator = names[k];
    CnWorld *world = world_make(&def);
    CnMaterialId m = world_material(world, .5, 0);
    mesh_body(world, mesh_floor(2, 2, 3, 3), CN_BODY_FIXED, CN_POSE_ONE, 0, 0, m);
    CnBodyDef body = cn_body_def_default();
    CnShapeDef box = cn_shape_def_default(CN_SHAPE_BOX);
    CnBodyId id;
    CnShapeId of;
    body.pose.position.z = .1001;
    box.half_size = cn_vec3(.1, .1, .1);
    CHECK_OK(cn_body_create(world, &body, &id));
    CHECK_OK(cn_shape_create(world, id, &box, &of));
    CHECK_STATUS(cn_world_step(world, NULL), CN_UNSUPPORTED);
    CHECK(strstr(cn_error_message(), "meshes are followed by impulse only"));
    CHECK(!strchr(cn_error_message(), '\n'));
    CHECK(world_pose(world, id).position.z == .1001);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sheets),    cmocka_unit_test(room),
                                     cmocka_unit_test(solids),    cmocka_unit_test(drum),
                                     cmocka_unit_test(fast),      cmocka_unit_test(queries),
                                     cmocka_unit_test(field),     cmocka_unit_test(vibrating),
                                     cmocka_unit_test(turntable), cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
