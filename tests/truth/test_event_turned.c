// SPDX-License-Identifier: Apache-2.0
// Cylinders and cones beside boxes, capsules and each other by hem5, rkf45 and moreau-jean: what rolls,
// stands, meets crosswise, lies along and leaves again, by closed forms.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <math.h>

static const double G = 9.81;
static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};

static CnWorld *world_by(int k, double h, double tolerance, CnVec3 gravity) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = names[k];
  def.time_step = h;
  def.integration.tolerance = tolerance;
  def.gravity = gravity;
  def.solver = cn_solver_def_default("auto");
  def.solver.tolerance = 1e-14;
  return toy_world_from(&def);
}

static CnShapeDef cylinder(double radius, double half_length) {
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_CYLINDER);
  shape.radius = radius;
  shape.half_length = half_length;
  return shape;
}

static CnShapeDef box(double x, double y, double z) {
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  shape.half_size = cn_vec3(x, y, z);
  return shape;
}

static CnBodyId add(CnWorld *world, CnBodyKind kind, CnShapeDef shape, double friction,
                    double bounce, CnPose pose) {
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  CnShapeId shape_id;
  body.kind = kind;
  body.pose = pose;
  CHECK_OK(cn_body_create(world, &body, &id));
  shape.material = toy_material(world, friction, bounce);
  CHECK_OK(cn_shape_create(world, id, &shape, &shape_id));
  return id;
}

static CnPose at(double x, double y, double z) { return (CnPose){cn_vec3(x, y, z), CN_QUAT_ONE}; }
static const CnQuat along_x = {0.70710678118654752, 0, 0.70710678118654752, 0};
static const CnQuat along_y = {0.70710678118654752, 0.70710678118654752, 0, 0}; // z along -y

static CnVec3 down(double lean) { return cn_vec3(G * cni_sin(lean), 0, -G * cni_cos(lean)); }

// On the face of a box a cylinder rolls with 2/3 g sin, and on its end it slides with g (sin - mu cos).
static void on_a_box(void **state) {
  (void)state;
  double lean = .4, mu = .2, rolls = 2.0 / 3 * G * cni_sin(lean);
  double slides = G * (cni_sin(lean) - mu * cni_cos(lean));
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(k, k < 2 ? .05 : .005, 1e-10, down(lean));
    int steps = k < 2 ? 10 : 100;
    add(world, CN_BODY_FIXED, box(2, 1, .5), .5, 0, at(1, 0, -.5));
    add(world, CN_BODY_FIXED, box(2, 1, .5), mu * mu / .5, 0, at(1, 5, -.5));
    CnBodyId lies =
        add(world, CN_BODY_DYNAMIC, cylinder(.1, .2), .5, 0, (CnPose){cn_vec3(0, 0, .1), along_y});
    CnBodyId stands = add(world, CN_BODY_DYNAMIC, cylinder(.1, .1), .5, 0, at(0, 5, .1));
    toy_steps(world, steps);
    CHECK_NEAR(toy_twist(world, lies).velocity.x, rolls / 2, k < 2 ? 1e-8 : 1e-6);
    CHECK_NEAR(toy_pose(world, lies).position.x, rolls / 8, k < 2 ? 1e-8 : 1e-5);
    CHECK_NEAR(toy_pose(world, lies).position.z, .1, 1e-9);
    CHECK_NEAR(toy_twist(world, stands).velocity.x, slides / 2, k < 2 ? 1e-8 : 1e-6);
    CHECK_NEAR(toy_pose(world, stands).position.z, .1, 1e-9);
    cn_world_destroy(world);
  }
}

// A tower of three cylinders stands, each end on an end, and the contacts carry what is above.
static void tower(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(k, .02, 1e-9, down(0));
    CnBodyId ids[3];
    toy_floor(world);
    for (int i = 0; i < 3; i++)
      ids[i] = add(world, CN_BODY_DYNAMIC, cylinder(.1, .1), .5, 0, at(0, 0, .1 + .2 * i));
    toy_steps(world, 5);
    for (int i = 0; i < 3; i++) {
      CHECK_NEAR(toy_pose(world, ids[i]).position.z, .1 + .2 * i, 1e-9);
      CHECK(cn_norm(toy_twist(world, ids[i]).velocity) < 1e-9);
    }
    cn_world_destroy(world);
  }
}

// Two rods that fly at each other crosswise meet when their axes are as far apart as their radii are
// together; hit at their centres with e = 1 they exchange what the masses ask for.
static void crosswise(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int capsule = 0; capsule < 2; capsule++) {
      CnWorld *world = world_by(k, .02, 1e-10, CN_VEC3_ZERO);
      CnShapeDef rod = cylinder(.05, .3);
      if (capsule) {
        rod = cn_shape_def_default(CN_SHAPE_CAPSULE);
        rod.radius = .05;
        rod.half_length = .3;
      }
      // turned a little, so that it is not all along the axes
      CnVec3 e = cn_vec3(.6, .8, 0);
      CnBodyId a =
          add(world, CN_BODY_DYNAMIC, cylinder(.08, .2), .4, 1, (CnPose){CN_VEC3_ZERO, along_x});
      CnQuat turned = cn_qmul(cni_quat_exp(cn_vec3(0, 0, cni_atan2(e.y, e.x))), along_x);
      CnBodyId b = add(world, CN_BODY_DYNAMIC, rod, .4, 1, (CnPose){cn_vec3(0, 0, .4), turned});
      toy_set_twist(world, b, cn_vec3(0, 0, -2), CN_VEC3_ZERO);
      CnBodyInfo mass_a, mass_b;
      CHECK_OK(cn_body_info(world, a, &mass_a));
      CHECK_OK(cn_body_info(world, b, &mass_b));
      int met = 0;
      for (int i = 0; i < 10; i++) {
        const CnLocatedEvent *events;
        int32_t count;
        toy_steps(world, 1);
        cn_world_located_events(world, &events, &count);
        for (int32_t n = 0; n < count; n++) {
          CHECK_NEAR(events[n].time, (.4 - .13) / 2, 1e-12);
          met++;
        }
      }
      CHECK(met == 1);
      double m = mass_a.mass, n = mass_b.mass;
      CHECK_NEAR(toy_twist(world, a).velocity.z, -4 * n / (m + n), 1e-10);
      CHECK_NEAR(toy_twist(world, b).velocity.z, -2 * (n - m) / (m + n), 1e-10);
      CHECK_NEAR(cn_norm(toy_twist(world, b).spin), 0, 1e-10);
      cn_world_destroy(world);
    }
}

// Without friction a cylinder slides along and off a fixed one, the axes parallel: it leaves it where
// cos = 2/3 + v^2/(3 g R), R the sum of the radii.
static void leaving(void **state) {
  (void)state;
  double R = .3, v = .4, leaves = 2.0 / 3 + v * v / (3 * G * R);
  for (int k = 0; k < 2; k++)
    for (int capsule = 0; capsule < 2; capsule++) {
      CnWorld *world = world_by(k, .01, 1e-11, down(0));
      CnShapeDef ground = cylinder(.2, .3);
      if (capsule) {
        ground = cn_shape_def_default(CN_SHAPE_CAPSULE);
        ground.radius = .2;
        ground.half_length = .3;
      }
      add(world, CN_BODY_FIXED, ground, 0, 0, (CnPose){CN_VEC3_ZERO, along_y});
      CnBodyId id =
          add(world, CN_BODY_DYNAMIC, cylinder(.1, .15), 0, 0, (CnPose){cn_vec3(0, 0, R), along_y});
      toy_set_twist(world, id, cn_vec3(v, 0, 0), CN_VEC3_ZERO);
      double left = 0;
      for (int i = 0; i < 40 && left == 0; i++) {
        const CnLocatedEvent *events;
        int32_t count;
        toy_steps(world, 1);
        cn_world_located_events(world, &events, &count);
        for (int32_t n = 0; n < count; n++)
          if (events[n].kind == CN_EVENT_RELEASE) left = events[n].time;
        CnVec3 p = toy_pose(world, id).position;
        if (left == 0) CHECK_NEAR(sqrt(p.x * p.x + p.z * p.z), R, 1e-10);
        if (left == 0) CHECK(p.z / R > leaves);
      }
      CHECK(left > 0);
      // back along the parabola to where it left
      CnVec3 p = toy_pose(world, id).position, u = toy_twist(world, id).velocity;
      CnWorldInfo info;
      cn_world_info(world, &info);
      double t = info.time - left;
      double z = p.z - u.z * t - G * t * t / 2;
      CHECK_NEAR(z / R, leaves, 1e-8);
      CHECK_NEAR(p.y, 0, 1e-10);
      cn_world_destroy(world);
    }
}

// A cylinder lies in the groove between two fixed ones: each carries m g/(2 cos a), sin a = half their
// distance over the sum of the radii.
static void in_a_groove(void **state) {
  (void)state;
  double half = .18, R = .3, height = sqrt(R * R - half * half);
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(k, .01, 1e-10, down(0));
    for (int side = -1; side <= 1; side += 2)
      add(world, CN_BODY_FIXED, cylinder(.2, .5), 0, 0,
          (CnPose){cn_vec3(side * half, 0, 0), along_y});
    CnBodyId id = add(world, CN_BODY_DYNAMIC, cylinder(.1, .2), 0, 0,
                      (CnPose){cn_vec3(0, 0, height), along_y});
    toy_steps(world, 10);
    CnVec3 p = toy_pose(world, id).position;
    CHECK_NEAR(p.x, 0, 1e-9);
    CHECK_NEAR(p.z, height, 1e-9);
    CHECK_NEAR(cn_norm(toy_twist(world, id).velocity), 0, 1e-9);
    CnBodyInfo mass;
    CHECK_OK(cn_body_info(world, id, &mass));
    double sum = 0;
    CnContact contact;
    for (int32_t i = 0; cn_world_contact(world, i, &contact) == CN_OK; i++)
      sum += cn_norm(contact.force);
    CHECK_REL(sum, mass.mass * G / (height / R), 1e-7);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(on_a_box), cmocka_unit_test(tower),
                                     cmocka_unit_test(crosswise), cmocka_unit_test(leaving),
                                     cmocka_unit_test(in_a_groove)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
