// SPDX-License-Identifier: Apache-2.0
// Points of contacts belong to the poses that are told with them: (point - x) x force is the torque of a contact,
// with what is recorded, and over a step of `impulse` time_step times it is the change of angular momentum.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "known.h"
#include "worlds.h"

#include <stdlib.h>

// Torque of all contacts of a body about the origin of its frame.
static CnVec3 torque_on(const CnWorld *world, CnBodyId body) {
  CnVec3 sum = CN_VEC3_ZERO, x = world_pose(world, body).position;
  CnContact c;
  for (int32_t i = 0; i < world_info(world).contact_count; i++) {
    CHECK_OK(cn_world_contact(world, i, &c));
    double side = c.body_b.slot == body.slot ? 1 : c.body_a.slot == body.slot ? -1 : 0;
    CnVec3 own = cn_add(cn_cross(cn_sub(c.point, x), c.force), c.torque);
    sum = cn_madd(sum, side, own);
  }
  return sum;
}

// ---- balls and cylinders that roll down a slope, and one that slides ----

// The slope is gravity's. A round body of inertia k m r^2 rolls with g sin/(1 + k), pushed back with k/(1 + k) of
// m g sin at the arm r.
static void rolling(void **state) {
  (void)state;
  const struct {
    const char *shape;
    double mass, k;
  } cases[2] = {{"'kind': 'sphere', 'radius': 0.1", 1000 * 4 * KNOWN_PI / 3 * 1e-3, 0.4},
                {"'kind': 'cylinder', 'radius': 0.1, 'length': 0.2, "
                 "'rotation': {'axis': [1, 0, 0], 'degrees': 90}",
                 1000 * KNOWN_PI * 0.01 * 0.2, 0.5}};
  const double slope = 0.3;
  for (int c = 0; c < 2; c++)
    for (int s = 0; s < 2; s++) FOR_INTEGRATORS(name, 0, INTEGRATORS) {
        Known k = known_open(
            name, s ? 0.004 : 0.001,
            "{'settings': {'gravity': [%.17g, 0, %.17g]}, 'materials': {'m': {'friction': 0.8}},"
            "'bodies': [{'name': 'floor', 'kind': 'fixed', 'shapes': [{'kind': 'plane', "
            "'material': 'm'}]},"
            "{'name': 'b', 'position': [0, 0, 0.1], 'shapes': [{%s, 'material': 'm'}]}],"
            "'sensors': [{'name': 't', 'kind': 'contact_torque', 'body': 'b'},"
            "{'name': 'f', 'kind': 'contact_force', 'body': 'b'},"
            "{'name': 'v', 'kind': 'velocity', 'body': 'b'}]}",
            KNOWN_G * cni_sin(slope), -KNOWN_G * cni_cos(slope), cases[c].shape);
        known_until(&k, 0.6);
        double back = cases[c].k / (1 + cases[c].k) * cases[c].mass * KNOWN_G * cni_sin(slope);
        CHECK_REL(known(&k, "v.x"), KNOWN_G * cni_sin(slope) * 0.6 / (1 + cases[c].k), 1e-6);
        CHECK_REL(known(&k, "f.x"), -back, 1e-6);
        CHECK_REL(known(&k, "t.y"), 0.1 * back, 1e-6);
        known_close(&k);
      }
}

// A box that slides and does not turn: normal forces lie where friction has no moment.
static void sliding(void **state) {
  (void)state;
  FOR_INTEGRATORS(name, 0, MOREAU_JEAN + 1) {
    Known k = known_open(name, 0.002,
                         "{'materials': {'m': {'friction': 0.4}},"
                         "'bodies': [{'name': 'floor', 'kind': 'fixed', 'shapes': [{'kind': "
                         "'plane', 'material': 'm'}]},"
                         "{'name': 'b', 'position': [0, 0, 0.05], 'velocity': [3, 1, 0],"
                         "'shapes': [{'kind': 'box', 'size': [0.3, 0.2, 0.1], 'material': 'm'}]}],"
                         "'sensors': [{'name': 't', 'kind': 'contact_torque', 'body': 'b'},"
                         "{'name': 'f', 'kind': 'contact_force', 'body': 'b', 'axis': 'length'}]}");
    known_until(&k, 0.3);
    double m = 6, size = m * KNOWN_G * 0.05;
    CHECK_NEAR(known(&k, "t.x"), 0, 1e-6 * size);
    CHECK_NEAR(known(&k, "t.y"), 0, 1e-6 * size);
    CHECK_NEAR(known(&k, "t.z"), 0, 1e-6 * size);
    CHECK_REL(known(&k, "f"), m * KNOWN_G * sqrt(1.16), 1e-6);
    known_close(&k);
  }
}

// ---- the balance of angular momentum over a step of `impulse` ----

static CnVec3 own_momentum(const CnWorld *world, CnBodyId body) {
  CnBodyInfo info;
  CHECK_OK(cn_body_info(world, body, &info));
  CnQuat axes = cn_qmul(world_pose(world, body).rotation, info.com.rotation);
  CnVec3 w = cn_unrotate(axes, world_twist(world, body).spin), j = info.inertia;
  return cn_rotate(axes, cn_vec3(j.x * w.x, j.y * w.y, j.z * w.z));
}

// Below the origin.
static void fixed_ball(CnWorld *world, double radius, CnMaterialId material) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnBodyId id;
  CnShapeId shape_id;
  body.kind = CN_BODY_FIXED;
  body.pose.position.z = -radius;
  shape.radius = radius;
  shape.material = material;
  CHECK_OK(cn_body_create(world, &body, &id));
  CHECK_OK(cn_shape_create(world, id, &shape, &shape_id));
}

// Largest miss in steps of a body, of what it gets.
static double miss(CnWorld *world, CnBodyId body, double h, int steps) {
  double worst = 0, most = 0;
  for (int i = 0; i < steps; i++) {
    CnVec3 old = own_momentum(world, body);
    world_step(world);
    CnVec3 got = cn_sub(own_momentum(world, body), old);
    CnVec3 told = cn_scale(h, torque_on(world, body));
    worst = cn_max(worst, cn_norm(cn_sub(got, told)));
    most = cn_max(most, cn_norm(told));
  }
  CHECK(most > 0);
  return worst / most;
}

// A box thrown onto a floor turns, hits, rocks, slides and comes to rest; so does a cylinder, and a ball on a fixed
// one. Saved and restored, contacts are told with the same bits.
static void angular_momentum(void **state) {
  (void)state;
  for (int c = 0; c < 4; c++) {
    CnWorldDef def = world_def_exact(0.002);
    CnWorld *world = world_make(&def), *copy = world_make(&def);
    CnMaterialId m = world_material(world, 0.6, c == 3 ? 0.5 : 0);
    CnBodyId body;
    if (c == 2)
      fixed_ball(world, 0.3, m);
    else
      world_floor(world, m);
    if (c == 1 || c == 2) {
      body = world_ball(world, 0.1, 2, cn_vec3(0.01, 0, 0.1), cn_vec3(0, 1, 0), m);
    } else {
      CnPose at = {{0, 0, 0.25}, world_turn(cn_vec3(0.6, 0, 0.8), 0.7)};
      body = world_box(world, cn_vec3(0.1, 0.15, 0.08), 2, at, cn_vec3(1, 0.5, -1), m);
    }
    CHECK(miss(world, body, def.time_step, 250) < 1e-9);
    size_t size;
    CHECK_OK(cn_world_save(world, NULL, 0, &size));
    void *data = malloc(size);
    CHECK_OK(cn_world_save(world, data, size, &size));
    CHECK_OK(cn_world_restore(copy, data, size));
    for (int32_t i = 0; i < world_info(world).contact_count; i++) {
      CnContact a, b;
      CHECK_OK(cn_world_contact(world, i, &a));
      CHECK_OK(cn_world_contact(copy, i, &b));
      CHECK(a.point.x == b.point.x && a.point.y == b.point.y && a.point.z == b.point.z);
    }
    free(data);
    cn_world_destroy(copy);
    cn_world_destroy(world);
  }
}

// Two balls in flight that rub in an oblique blow: what one gets about its centre of mass the other gets by its own
// radius, and together they keep their angular momentum with the points told.
static void two_balls(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(0.001);
  def.gravity = CN_VEC3_ZERO;
  CnWorld *world = world_make(&def);
  CnMaterialId m = world_material(world, 0.3, 0.8);
  CnBodyId a = world_ball(world, 0.1, 1, cn_vec3(0, 0, 0), cn_vec3(2, 0, 0), m);
  CnBodyId b = world_ball(world, 0.2, 3, cn_vec3(0.4, 0.1, 0), CN_VEC3_ZERO, m);
  CnVec3 was[2] = {own_momentum(world, a), own_momentum(world, b)};
  double h = def.time_step, met = 0;
  for (int i = 0; i < 100 && met == 0; i++) {
    world_step(world);
    met = cn_norm(world_force(world, a, b));
  }
  CHECK(met > 0);
  CnVec3 got = cn_sub(own_momentum(world, a), was[0]),
         more = cn_sub(own_momentum(world, b), was[1]);
  CHECK(cn_norm(got) > 1e-3);
  CHECK_REL(cn_norm(more), 2 * cn_norm(got), 1e-9);
  CnVec3 sum = cn_add(torque_on(world, a), torque_on(world, b));
  CnVec3 orbit = cn_cross(cn_sub(world_pose(world, b).position, world_pose(world, a).position),
                          world_force(world, a, b));
  CHECK(cn_norm(cn_add(sum, orbit)) < 1e-12 * cn_norm(orbit));
  CHECK_NEAR(h * cn_norm(torque_on(world, a)), cn_norm(got),
             0.05 * cn_norm(got)); // half of both ways
  cn_world_destroy(world);
}

// ---- hem5 and rkf45: the end of the step, however long it is ----

// A ball that slides on a fixed one without friction: the point is a radius below it, the force along the line of
// centres of the end of the step.
static void direction(void **state) {
  (void)state;
  const double R = 1.1;
  FOR_INTEGRATORS(name, HEM5, INTEGRATORS)
  for (int s = 0; s < 2; s++) {
    Known k = known_open(
        name, s ? 0.05 : 0.01,
        "{'materials': {'m': {'friction': 0}}, 'bodies': [{'name': 'base', 'kind': 'fixed', "
        "'shapes': [{'kind': 'sphere', 'radius': 1, 'material': 'm'}]},"
        "{'name': 'b', 'position': [0, 0, 1.1], 'velocity': [1, 0, 0], 'shapes': [{'kind': "
        "'sphere', "
        "'radius': 0.1, 'material': 'm'}]}], 'sensors': [{'name': 'x', 'kind': 'position', 'body': "
        "'b'},"
        "{'name': 'f', 'kind': 'contact_force', 'body': 'b'},"
        "{'name': 't', 'kind': 'contact_torque', 'body': 'b', 'axis': 'length'}]}");
    known_until(&k, 0.2);
    double x = known(&k, "x.x"), z = known(&k, "x.z");
    CHECK_NEAR(hypot(x, z), R, 1e-9);
    CHECK_NEAR(known(&k, "f.x") * z - known(&k, "f.z") * x, 0, 1e-8);
    CHECK_NEAR(known(&k, "t"), 0, 1e-8);
    known_close(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rolling), cmocka_unit_test(sliding),
                                     cmocka_unit_test(angular_momentum),
                                     cmocka_unit_test(two_balls), cmocka_unit_test(direction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
