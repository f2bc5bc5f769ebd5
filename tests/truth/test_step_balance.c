// SPDX-License-Identifier: Apache-2.0
// The balance of each step: momentum, angular momentum and energy add up to round-off on every
// built-in scene, and the parts say what they should.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#include <cairn/scene.h>
#include <stdio.h>
#include <string.h>

static double size_of(const CnStepBalance *b, double *momentum, double *angular) {
  double energy = fabs(b->change.energy);
  *momentum = cn_norm(b->change.momentum);
  *angular = cn_norm(b->change.angular_momentum);
  for (int32_t i = 0; i < CN_BALANCE_PART_COUNT; i++) {
    energy += fabs(b->parts[i].energy);
    *momentum += cn_norm(b->parts[i].momentum);
    *angular += cn_norm(b->parts[i].angular_momentum);
  }
  return energy;
}

// Identities to 1e-10 of what was exchanged, and of what there is.
static void adds_up(const CnWorld *world, const char *name) {
  CnStepBalance b;
  CnWorldSums sums;
  CHECK_OK(cn_world_balance(world, &b));
  cn_world_sums(world, &sums);
  double momentum, angular, energy = size_of(&b, &momentum, &angular);
  energy += sums.kinetic_energy + 1e-9;
  momentum += cn_norm(sums.momentum) + 1e-9;
  angular += cn_norm(sums.angular_momentum) + momentum * 1; // arms of a metre
  if (!(fabs(b.residual.energy) < 1e-10 * energy) ||
      !(cn_norm(b.residual.momentum) < 1e-10 * momentum) ||
      !(cn_norm(b.residual.angular_momentum) < 1e-10 * angular)) {
    printf("%s: residual %g J, %g, %g\n", name, b.residual.energy, cn_norm(b.residual.momentum),
           cn_norm(b.residual.angular_momentum));
    CHECK(0);
  }
}

// Large scenes made small for the integrators that follow events.
static CnScene *open_scene(const char *name, int small) {
  static const CnSetting sizes[][1] = {{{"dominoes", 3}}, {{"spheres", 20}}, {{"boxes", 5}},
                                       {{"rows", 2}},     {{"n", 20}},       {{"boxes", 2}},
                                       {{"links", 5}}};
  static const char *const names[] = {"domino",  "granular", "heap", "pyramid",
                                      "scene-g", "stack",    "chain"};
  CnAllocator allocator = cn_allocator_default();
  const CnSetting *size = NULL;
  CnScene *scene;
  for (int i = 0; small && i < 7; i++)
    if (strcmp(names[i], name) == 0) size = sizes[i];
  CHECK_OK(cn_scene_open(name, size, size != NULL, &allocator, &scene));
  return scene;
}

static void scene_by(CnScene *scene, const char *name, const char *integrator, int32_t steps) {
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  def.balance = 1;
  def.integrator = integrator;
  CnWorld *world = world_make(&def);
  CHECK_OK(cn_scene_fill(scene, world));
  for (int32_t i = 0; i < steps; i++) {
    if (cn_world_step(world, NULL) != CN_OK) {
      printf("%s by %s: %s\n", name, integrator, cn_error_message());
      CHECK(0);
    }
    adds_up(world, name);
  }
  cn_world_destroy(world);
}

// None is refused by any integrator.
static void every_scene(void **state) {
  (void)state;
  for (int32_t k = 0; cn_builtin_scene_name(k); k++) {
    const char *name = cn_builtin_scene_name(k);
    for (int32_t j = 0; cn_integrator_name(j); j++) {
      int impulse = strcmp(cn_integrator_name(j), "impulse") == 0;
      CnScene *scene = open_scene(name, !impulse);
      CnSceneInfo info;
      cn_scene_info(scene, &info);
      scene_by(scene, name, cn_integrator_name(j),
               !impulse                 ? 5
               : info.body_count > 2000 ? 1
               : info.body_count > 200  ? 10
                                        : 100);
      cn_scene_destroy(scene);
    }
  }
}

// A block that slides on a floor to rest: friction takes its energy, nothing else does anything.
static void sliding_block(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(0.01);
  def.balance = 1;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  CnStepBalance b;
  CHECK_STATUS(cn_world_balance(world, &b), CN_INVALID_ARGUMENT);
  world_box(world, cn_vec3(0.1, 0.08, 0.05), 2, world_at(0, 0, 0.05), cn_vec3(1, 0, 0), material);
  double friction = 0, rest = 0;
  for (int i = 0; i < 100; i++) {
    world_step(world);
    adds_up(world, "sliding block");
    CHECK_OK(cn_world_balance(world, &b));
    friction += b.parts[CN_BALANCE_FRICTION].energy;
    for (int32_t k = 0; k < CN_BALANCE_PART_COUNT; k++)
      if (k != CN_BALANCE_FRICTION) rest += b.parts[k].energy;
  }
  CHECK_NEAR(friction, -1, 1e-6);
  CHECK_NEAR(rest, 0, 1e-6);
  cn_world_destroy(world);
}

// A pendulum on a light rod swings from level to level: the weight's work is that along the way, the
// joint's is none, and what the scheme adds falls with h.
static void pendulum(void **state) {
  (void)state;
  double scheme[2] = {0, 0};
  for (int k = 0; k < 2; k++) {
    CnWorldDef def = world_def_exact(0.01 / (1 + k));
    def.balance = 1;
    CnWorld *world = world_make(&def);
    CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
    CnBodyId body = world_mass(world, 1, cn_vec3(0.25, 0.2, 0.25), world_at(0.5, 0, 0), rest);
    CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
    CnJointId id;
    joint.body_a = body;
    CHECK_OK(cn_joint_def_at(world, CN_VEC3_ZERO, &joint));
    CHECK_OK(cn_joint_create(world, &joint, &id));
    double work = 0, joints = 0, gravity = 0;
    while (world_info(world).time < 0.5) {
      world_step(world);
      adds_up(world, "pendulum");
      CnStepBalance b;
      CHECK_OK(cn_world_balance(world, &b));
      work += b.change.energy;
      joints += b.parts[CN_BALANCE_JOINTS].energy;
      gravity += b.parts[CN_BALANCE_GRAVITY].energy;
      scheme[k] += b.parts[CN_BALANCE_SCHEME].energy;
    }
    CHECK_REL(gravity, -9.81 * world_pose(world, body).position.z, 1e-12);
    CHECK_REL(work, gravity, 0.02);
    CHECK_NEAR(joints, 0, 0.02 * gravity);
    cn_world_destroy(world);
  }
  CHECK(fabs(scheme[1]) < 0.6 * fabs(scheme[0]) + 1e-3);
}

// ---- by the integrators that work with equations of motion ----

static const char *const OTHERS[] = {"moreau-jean", "hem5", "rkf45"};

static CnWorld *by(const char *integrator, double h) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.time_step = h;
  def.balance = 1;
  return world_make(&def);
}

// Sums over a run.
static CnStepBalance run(CnWorld *world, int32_t steps) {
  CnStepBalance sum = {0}, b;
  for (int32_t i = 0; i < steps; i++) {
    world_step(world);
    adds_up(world, "equations");
    CHECK_OK(cn_world_balance(world, &b));
    sum.change.energy += b.change.energy;
    for (int32_t k = 0; k < CN_BALANCE_PART_COUNT; k++) {
      sum.parts[k].energy += b.parts[k].energy;
      sum.parts[k].momentum = cn_add(sum.parts[k].momentum, b.parts[k].momentum);
    }
  }
  return sum;
}

// A pendulum from level: the weight works, the joint does not; the joint's momentum is right.
static void pendulum_by_equations(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = by(OTHERS[k], 0.005);
    CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
    CnBodyId body = world_mass(world, 1, cn_vec3(0.25, 0.2, 0.25), world_at(0.5, 0, 0), rest);
    CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
    CnJointId id;
    joint.body_a = body;
    CHECK_OK(cn_joint_def_at(world, CN_VEC3_ZERO, &joint));
    CHECK_OK(cn_joint_create(world, &joint, &id));
    CnStepBalance b = run(world, 100);
    double work = b.parts[CN_BALANCE_GRAVITY].energy;
    CHECK_REL(work, -9.81 * world_pose(world, body).position.z, 1e-9);
    CHECK_REL(b.change.energy, work, 1e-3);
    CHECK_NEAR(b.parts[CN_BALANCE_JOINTS].energy, 0, 0.03 * work);
    CHECK_NEAR(b.parts[CN_BALANCE_SCHEME].energy, 0, 0.03 * work);
    CHECK(cn_norm(b.parts[CN_BALANCE_SCHEME].momentum) <
          0.03 * cn_norm(b.parts[CN_BALANCE_JOINTS].momentum));
    cn_world_destroy(world);
  }
}

// A ball on a spring to the ground, in a wind: what the springs, the load and gravity do is the change.
static void spring_by_equations(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = by(OTHERS[k], 0.002);
    CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
    CnBodyId body = world_mass(world, 1, cn_vec3(0.1, 0.1, 0.1), world_at(0, 0, -1.2), rest);
    CnForceDef spring = cn_force_def_default(CN_FORCE_SPRING);
    CnForceDef wind = cn_force_def_default(CN_FORCE_CONSTANT);
    CnForceId id;
    spring.body_a = body;
    spring.stiffness = 50;
    spring.rest_length = 1;
    wind.body_b = body;
    wind.force = cn_vec3(3, 0, 0);
    CHECK_OK(cn_force_create(world, &spring, &id));
    CHECK_OK(cn_force_create(world, &wind, &id));
    CnStepBalance b = run(world, 250);
    CnVec3 x = world_pose(world, body).position;
    double stretch = cn_norm(x) - 1;
    CHECK_NEAR(b.parts[CN_BALANCE_SPRINGS].energy, 25 * (0.04 - stretch * stretch), 1e-2);
    CHECK_NEAR(b.parts[CN_BALANCE_LOADS].energy, 3 * x.x, 1e-2);
    CHECK_NEAR(b.parts[CN_BALANCE_SCHEME].energy, 0, 1e-2);
    cn_world_destroy(world);
  }
}

// A block slides to rest: friction takes its energy. A ball bounces: impacts take (1 - e^2).
static void contacts_by_equations(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = by(OTHERS[k], 0.002);
    CnMaterialId material = world_material(world, 0.5, 0.5);
    world_floor(world, material);
    world_ball(world, 0.1, 2, cn_vec3(0, 0, 0.1 + 0.05), CN_VEC3_ZERO, material);
    CnStepBalance b = run(world, 80); // falls for .101 s, is back on the floor at .202 s
    double fallen = 2 * 9.81 * 0.05;
    CHECK_NEAR(b.parts[CN_BALANCE_IMPACTS].energy, -0.75 * fallen, 0.06 * fallen);
    cn_world_destroy(world);
    world = by(OTHERS[k], 0.002);
    material = world_material(world, 0.5, 0);
    world_floor(world, material);
    world_box(world, cn_vec3(0.1, 0.08, 0.05), 2, world_at(0, 0, 0.05), cn_vec3(1, 0, 0), material);
    b = run(world, 150);
    CHECK_NEAR(b.parts[CN_BALANCE_FRICTION].energy, -1, 0.02);
    cn_world_destroy(world);
  }
}

// ---- closed forms, every integrator ----
//
// With hem5, rkf45 and moreau-jean `scheme` takes what the quadrature does not know, so that the sum always
// closes. What can be wrong is how much it takes: nothing where forces are constant, order h^2 of smooth
// motion, and the impulse of an impact times g h at most, as the step does not tell when it was.

static const char *const ALL[] = {"impulse", "moreau-jean", "hem5", "rkf45"};

static double part(const CnStepBalance *b, CnBalancePart k) { return b->parts[k].energy; }

// A block slides until it rests: friction takes mu m g d, d the way that it went.
static void friction_loss(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    CnWorld *world = by(ALL[k], 0.004);
    CnMaterialId material = world_material(world, 0.3, 0);
    world_floor(world, material);
    CnBodyId block = world_box(world, cn_vec3(0.1, 0.08, 0.05), 2, world_at(0, 0, 0.05),
                               cn_vec3(1, 0, 0), material);
    CnStepBalance b = run(world, 50);
    double way = world_pose(world, block).position.x, loss = -0.3 * 2 * 9.81 * way;
    double shift = 0.3 * 2 * 9.81 * 0.004; // impulse goes the way of the new velocity: half a step
    CHECK_NEAR(part(&b, CN_BALANCE_FRICTION), loss, k == 0 ? shift : 1e-8);
    CHECK_NEAR(part(&b, CN_BALANCE_FRICTION), b.change.energy, 1e-8);
    CHECK_NEAR(part(&b, CN_BALANCE_SCHEME), 0, 1e-8);
    cn_world_destroy(world);
  }
}

// A ball falls and bounces: the impact takes 1 - e^2 of what it had, whatever e.
static void impact_loss(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < 5; i++) {
      double h = 0.002, e = 0.25 * i, fall = 0.2, v = sqrt(2 * 9.81 * fall), m = 2;
      CnWorld *world = by(ALL[k], h);
      CnMaterialId material = world_material(world, 0, e);
      world_floor(world, material);
      world_ball(world, 0.1, m, cn_vec3(0, 0, 0.1 + fall), CN_VEC3_ZERO, material);
      CnStepBalance b = run(world, 110); // at .202 s it hits
      double loss = (1 - e * e) * m * 9.81 * fall, late = (1 + e) * m * v * 9.81 * h;
      CHECK_NEAR(part(&b, CN_BALANCE_IMPACTS), -loss, late);
      cn_world_destroy(world);
    }
}

// A body in oil: the damper takes what the body loses, v0 exp(-d t/m). A wheel with a motor of constant
// effort: its work is the torque times the angle, and all of it is in the motion.
static void damper_and_motor(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    double error[2];
    for (int i = 0; i < 2; i++) {
      double h = 0.01 / (1 + i);
      CnWorldDef def = cn_world_def_default();
      def.integrator = ALL[k];
      def.time_step = h;
      def.balance = 1;
      def.gravity = CN_VEC3_ZERO;
      CnWorld *world = world_make(&def);
      CnTwist twist = {{0, 0, -2}, {0, 0, 0}};
      CnBodyId body = world_mass(world, 1.5, cn_vec3(0.1, 0.1, 0.1), world_at(0, 0, -1), twist);
      CnForceDef damper = cn_force_def_default(CN_FORCE_SPRING);
      CnForceId id;
      damper.body_a = body;
      damper.damping = 3;
      damper.rest_length = 1;
      CHECK_OK(cn_force_create(world, &damper, &id));
      CnStepBalance b = run(world, 50 * (1 + i));
      double v = 2 * exp(-3 * 0.5 / 1.5), loss = 0.5 * 1.5 * (4 - v * v);
      error[i] = fabs(part(&b, CN_BALANCE_SPRINGS) + loss);
      CHECK_NEAR(part(&b, CN_BALANCE_SPRINGS), -loss, k == 0 ? 0.02 : 2e-4);
      CHECK_NEAR(part(&b, CN_BALANCE_SPRINGS) + part(&b, CN_BALANCE_SCHEME), b.change.energy,
                 1e-10);
      cn_world_destroy(world);
    }
    CHECK(error[1] < (k == 0 ? 0.55 : 0.3) * error[0] + 1e-10);
    CnWorld *world = by(ALL[k], 0.01);
    CnBodyId wheel = world_part(world, 1, 0.2, CN_VEC3_ZERO, 0);
    CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
    axis.drive = CN_DRIVE_EFFORT;
    axis.motor_effort = 0.5;
    CnJointId joint = world_join(world, CN_JOINT_REVOLUTE, (CnBodyId){0, 0}, wheel, CN_VEC3_ZERO,
                                 cn_vec3(0, 1, 0), &axis);
    CnStepBalance b = run(world, 100);
    double angle = world_joint(world, joint).coordinate[0];
    double shift = 0.5 * 0.5 * 2.5 * 0.01; // impulse: half a step of the last speed
    CHECK_NEAR(part(&b, CN_BALANCE_DRIVES), 0.5 * angle, k == 0 ? 1.01 * shift : 1e-8);
    CHECK_NEAR(part(&b, CN_BALANCE_DRIVES), b.change.energy, 1e-8);
    CHECK_NEAR(b.change.energy, 0.5 * 0.2 * 2.5 * 2.5, 1e-8);
    cn_world_destroy(world);
  }
}

// A pendulum: joints do no work, and what is left to the scheme falls as the integrator's order says.
static void orders_of_the_scheme(void **state) {
  (void)state;
  for (int k = 1; k < 4; k++) {
    double joints[2], scheme[2];
    for (int i = 0; i < 2; i++) {
      CnWorld *world = by(ALL[k], 0.01 / (1 + i));
      CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
      CnBodyId body = world_mass(world, 1, cn_vec3(0.25, 0.2, 0.25), world_at(0.5, 0, 0), rest);
      world_join(world, CN_JOINT_BALL, (CnBodyId){0, 0}, body, CN_VEC3_ZERO, cn_vec3(0, 0, 1),
                 NULL);
      CnStepBalance b = run(world, 40 * (1 + i));
      joints[i] = fabs(part(&b, CN_BALANCE_JOINTS));
      scheme[i] = fabs(part(&b, CN_BALANCE_SCHEME));
      cn_world_destroy(world);
    }
    printf("%s: joints %.3g, %.3g J, scheme %.3g, %.3g J\n", ALL[k], joints[0], joints[1],
           scheme[0], scheme[1]);
    // hem5 and rkf45 to their tolerance, moreau-jean to h^2
    double least = k == 1 ? 2e-3 : 1e-8;
    CHECK(joints[0] < 1e-8 && scheme[0] < least && scheme[1] < 0.3 * scheme[0] + 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_scene),
      cmocka_unit_test(sliding_block),
      cmocka_unit_test(pendulum),
      cmocka_unit_test(pendulum_by_equations),
      cmocka_unit_test(spring_by_equations),
      cmocka_unit_test(contacts_by_equations),
      cmocka_unit_test(friction_loss),
      cmocka_unit_test(impact_loss),
      cmocka_unit_test(damper_and_motor),
      cmocka_unit_test(orders_of_the_scheme),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
