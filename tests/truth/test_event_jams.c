// SPDX-License-Identifier: Apache-2.0
// Where rigid bodies with friction have no finite forces, or too many to choose from, hem5 and rkf45 go on: jams
// (Painleve), faces that slide between jaws, rims with much friction.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

#include <math.h>

static const char *const names[2] = {"hem5", "rkf45"};

static CnWorld *world_by(int k, double h, double tolerance) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = names[k];
  def.time_step = h;
  def.integration.tolerance = tolerance;
  return world_make(&def);
}

// A slender rod slides on its lower end against its lean, with 1.5 times the friction above which there is no
// finite force: an impulse without an approach stops the end. With r from the centre of mass to the end and
// u- = (s, 0) the impulse P solves W P = (-s, 0), W_xx = 1/m + z^2/J, W_xz = -x z/J, W_zz = 1/m + x^2/J.
static void painleve(void **state) {
  (void)state;
  double angle = CNI_PI / 3, s = cni_sin(angle), c = cni_cos(angle), speed = -3;
  double mu = 1.5 * (1 + 3 * c * c) / (3 * s * c), half = .5, thin = .002;
  for (int k = 0; k < 2; k++) {
    CnWorld *world = world_by(k, 1e-6, 1e-9);
    CnMaterialId material = world_material(world, mu, 0);
    world_floor(world, material);
    CnPose pose = {{0, 0, half * s + thin * c}, world_turn(cn_vec3(0, 1, 0), -angle)};
    CnVec3 size = {half, thin, thin}, v = {speed, 0, 0};
    CnBodyId rod = world_box(world, size, 1, pose, v, material);
    double x = -half * c + thin * s, z = -pose.position.z;
    double j = (half * half + thin * thin) / 3;
    double wxx = 1 + z * z / j, wxz = -x * z / j, wzz = 1 + x * x / j;
    double det = wxx * wzz - wxz * wxz, px = -speed * wzz / det, pz = speed * wxz / det;
    CHECK(pz > 0 && px < mu * pz && wzz < mu * fabs(wxz));
    world_step(world);
    CnTwist twist = world_twist(world, rod);
    CHECK_NEAR(twist.velocity.x, speed + px, 1e-4);
    CHECK_NEAR(twist.velocity.z, pz, 1e-4);
    CHECK_NEAR(twist.spin.y, (z * px - x * pz) / j, 2e-4);
    double energy = world_energy(world);
    CHECK_OK(cn_world_set_time_step(world, 1e-3));
    for (int i = 0; i < 300; i++) {
      CHECK(world_step(world).integration.events < 100);
      CHECK(world_energy(world) <= energy + 1e-6);
      energy = world_energy(world);
    }
    cn_world_destroy(world);
  }
}

// The same rod with its end on a rail along x that rubs with mu times its reaction N, W as above. Along the lean
// it goes on, with N (W_zz + mu |W_xz|) = g; against it nothing finite holds the end on the rail: it stops.
static void rail(void **state) {
  (void)state;
  double angle = CNI_PI / 3, x = -.5 * cni_cos(angle), z = -.5 * cni_sin(angle), j = 1. / 12,
         h = 1e-4;
  double wxx = 1 + z * z / j, wxz = -x * z / j, wzz = 1 + x * x / j, det = wxx * wzz - wxz * wxz;
  double mu = 1.5 * wzz / fabs(wxz), g = 9.81;
  for (int k = 0; k < 4; k++) {
    double speed = k & 1 ? -3 : 3;
    CnWorld *world = world_by(k / 2, h, 1e-9);
    CnJointAxis act = cn_joint_def_default(CN_JOINT_POINT_ON_LINE).axes[0];
    act.friction_coefficient = mu;
    CnTwist along = {{speed, 0, 0}, {0, 0, 0}};
    CnBodyId rod = world_mass(world, 1, cn_vec3(j, j, j), world_at(0, 0, 0), along);
    world_join(world, CN_JOINT_POINT_ON_LINE, (CnBodyId){0}, rod, cn_vec3(x, 0, z),
               cn_vec3(1, 0, 0), &act);
    world_step(world);
    CnTwist twist = world_twist(world, rod);
    if (speed > 0) {
      double n = g / (wzz + mu * fabs(wxz));
      CHECK_NEAR((twist.velocity.x - speed) / h, -mu * n, 1e-3);
      CHECK_NEAR(twist.velocity.z / h, n - g, 1e-3);
    } else {
      CHECK_NEAR(twist.velocity.x, speed - speed * wzz / det, 3e-3);
      CHECK_NEAR(twist.velocity.z, speed * wxz / det, 3e-3);
    }
    double energy = world_energy(world);
    for (int i = 0; i < 3000; i++) {
      world_step(world);
      CHECK(world_energy(world) <= energy + 1e-6);
      energy = world_energy(world);
    }
    cn_world_destroy(world);
  }
}

// A box of 1 kg slides down between two jaws of its own width, pushed together by f N each, with mu = .5: eight
// corners and as many crossings of edges, all at borders, may share their forces in any way. None carries more
// than its neighbours: the box goes down by (g - 2 mu f) t^2/2 and does not turn.
static void jaws(void **state) {
  (void)state;
  const double f = 9, mu = .5, g = 9.81;
  for (int k = 0; k < 2; k++) {
    CnWorld *world = world_by(k, 1e-3, 1e-6);
    CnMaterialId material = world_material(world, mu, 0);
    CnBodyId box =
        world_box(world, cn_vec3(.1, .05, .25), 1, world_at(0, 0, 0), cn_vec3(0, 0, 0), material);
    for (int side = -1; side <= 1; side += 2) {
      CnPose at = world_at(.15 * side, 0, 0);
      CnBodyId jaw = world_box(world, cn_vec3(.05, .05, .05), 1, at, cn_vec3(0, 0, 0), material);
      CnJointAxis act = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
      act.motor_effort = f;
      if (side < 0) act.drive = CN_DRIVE_EFFORT;
      if (side > 0) act.motor_speed = .1;
      world_join(world, CN_JOINT_PRISMATIC, (CnBodyId){0}, jaw, at.position, cn_vec3(-side, 0, 0),
                 &act);
    }
    int64_t events = 0;
    for (int i = 0; i < 50; i++) events += world_step(world).integration.events;
    CnPose pose = world_pose(world, box);
    CHECK(events < 200);
    CHECK_NEAR(pose.position.z, -.5 * (g - 2 * mu * f) * .05 * .05, 1e-8);
    CHECK(fabs(pose.position.x) + fabs(pose.position.y) < 1e-8);
    CHECK(fabs(pose.rotation.x) + fabs(pose.rotation.y) + fabs(pose.rotation.z) < 1e-8);
    cn_world_destroy(world);
  }
}

// A tall cylinder wobbles on its rim, rolls, slips by next to nothing, rolls again: slip ends in every direction and begins so
// slowly that its direction could turn at once. hem5 and rkf45 agree with each other, and with small steps of
// impulse to their order.
static CnWorld *wobble(const char *integrator, double h, double tolerance, CnBodyId *body) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.time_step = h;
  def.integration.tolerance = tolerance;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, .6, 0);
  world_floor(world, material);
  const double r = .08, half = .06, tilt = .1;
  double s = cni_sin(tilt), c = cni_cos(tilt), turn = .8 * sqrt(4 * 9.81 / (r * s)) * s;
  CnVec3 arm = {0, -r * c + half * s, -r * s - half * c}; // to the lowest point
  CnVec3 spin = {0, turn * c, turn * s}, v = cn_neg(cn_cross(spin, arm));
  CnPose pose = {{0, 0, -arm.z}, world_turn(cn_vec3(1, 0, 0), tilt)};
  CnTwist twist = {v, spin};
  *body = world_mass(world, 1, cn_vec3(.0028, .0028, .0032), pose, twist);
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_CYLINDER);
  CnShapeId id;
  shape.radius = r;
  shape.half_length = half;
  shape.material = material;
  CHECK_OK(cn_shape_create(world, *body, &shape, &id));
  return world;
}

static void rims(void **state) {
  (void)state;
  CnPose end[3];
  for (int k = 0; k < 3; k++) {
    CnBodyId body;
    CnWorld *world = wobble(k < 2 ? names[k] : "impulse", k < 2 ? 1e-3 : 1e-4, 1e-8, &body);
    int64_t events = 0, steps = 0;
    for (int i = 0; i < (k < 2 ? 300 : 3000); i++) {
      CnStepReport report = world_step(world);
      events += report.integration.events;
      steps += report.integration.steps;
    }
    CHECK(events < 20 && steps < 10000);
    end[k] = world_pose(world, body);
    cn_world_destroy(world);
  }
  CHECK(cn_norm(cn_sub(end[1].position, end[0].position)) < 1e-6);
  CHECK(cn_norm(cn_sub(end[2].position, end[0].position)) < 1e-3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(painleve), cmocka_unit_test(rail),
                                     cmocka_unit_test(jaws), cmocka_unit_test(rims)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
