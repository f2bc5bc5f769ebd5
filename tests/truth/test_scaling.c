// SPDX-License-Identifier: Apache-2.0
// Numbers with scale: lengths times s, times times sqrt(s), the same gravity, give the same motion.
// Parts of a micrometre and bodies of a kilometre behave alike, over twelve decades.
#include <math.h>
#include <stdio.h>

#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#define BODIES 8
#define STEPS 600
#define TIME_STEP 2e-3

// A bouncing ball, an oblique one with friction, a stack of boxes one of which overlaps the floor, two
// balls that overlap deeply, and a box on its edge that falls over. Places at the end, over s.
static void scene(double s, CnEffort effort, CnVec3 places[BODIES]) {
  CnWorldDef def = cn_world_def_default();
  def.solver.effort = effort;
  def.time_step = TIME_STEP * sqrt(s);
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.4, 0.5);
  double mass = s * s * s, v = sqrt(s);
  world_floor(world, material);
  CnVec3 half = cn_vec3(0.1 * s, 0.1 * s, 0.1 * s);
  CnBodyId bodies[BODIES];
  bodies[0] = world_ball(world, 0.1 * s, mass, cn_vec3(0, 0, 0.5 * s), CN_VEC3_ZERO, material);
  bodies[1] = world_ball(world, 0.1 * s, mass, cn_vec3(s, 0, 0.3 * s), cn_vec3(v, 0, 0), material);
  for (int i = 0; i < 3; i++)
    bodies[2 + i] = world_box(world, half, mass, world_at(-s, 0, (0.09 + 0.21 * i) * s),
                              CN_VEC3_ZERO, material);
  bodies[5] = world_ball(world, 0.1 * s, mass, cn_vec3(0, s, 0.1 * s), CN_VEC3_ZERO, material);
  bodies[6] =
      world_ball(world, 0.1 * s, mass, cn_vec3(0.1 * s, s, 0.1 * s), CN_VEC3_ZERO, material);
  CnPose edge = {cn_vec3(0, -s, 0.15 * s), world_turn(cn_vec3(0, 1, 0), 0.6)};
  bodies[7] = world_box(world, half, mass, edge, CN_VEC3_ZERO, material);
  for (int i = 0; i < STEPS; i++) world_step(world);
  for (int i = 0; i < BODIES; i++)
    places[i] = cn_scale(1 / s, world_pose(world, bodies[i]).position);
  cn_world_destroy(world);
}

// Powers of ten change last digits, so that a solve now and then ends with another sweep. Exact solves end at the
// same answer whatever; with the default each step may be off by its tolerance, a share of the speed that gravity
// gives in a step.
static void twelve_decades(void **state) {
  (void)state;
  static const struct {
    CnEffort effort;
    double most;
  } rows[2] = {{CN_EFFORT_EXACT, 1e-9},
               {CN_EFFORT_NORMAL, STEPS * 1e-4 * 9.81 * TIME_STEP * TIME_STEP}};
  for (int r = 0; r < 2; r++) {
    CnVec3 one[BODIES], other[BODIES];
    double most = 0;
    scene(1, rows[r].effort, one);
    for (int k = -6; k <= 6; k++) {
      scene(pow(10, k), rows[r].effort, other);
      for (int i = 0; i < BODIES; i++) most = fmax(most, cn_norm(cn_sub(one[i], other[i])));
    }
    printf("largest difference %.2g of the size, at most %.2g\n", most, rows[r].most);
    CHECK(most < rows[r].most);
  }
}

// Powers of four change no digit.
static void same_digits(void **state) {
  (void)state;
  CnVec3 one[BODIES], other[BODIES];
  scene(1, CN_EFFORT_NORMAL, one);
  for (int k = -10; k <= 10; k += 5) {
    scene(ldexp(1, 2 * k), CN_EFFORT_NORMAL, other);
    for (int i = 0; i < BODIES; i++) CHECK_NEAR(cn_norm(cn_sub(one[i], other[i])), 0, 0);
  }
}

// The same by the integrators that work with equations of motion: a ball that bounces, one that is
// thrown with a spin and friction and comes to roll, a rod on a bearing with dry friction and a rotor, a
// box that tips over on another one.
#define PARTS 4
static void event_scene(const char *integrator, double s, CnVec3 places[PARTS]) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.time_step = 0.02 * sqrt(s);
  def.integration.tolerance = 1e-12;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-14;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.4, 0.5), rough = world_material(world, 2, 0);
  double mass = s * s * s, v = sqrt(s);
  world_floor(world, material);
  CnBodyId bodies[PARTS];
  bodies[0] = world_ball(world, 0.1 * s, mass, cn_vec3(0, 0, 0.5 * s), CN_VEC3_ZERO, material);
  bodies[1] = world_ball(world, 0.1 * s, mass, cn_vec3(s, 0, 0.1 * s), cn_vec3(v, 0, 0), material);
  CnVec3 inertia = cn_vec3(0.01 * mass * s * s, 0.01 * mass * s * s, 0.01 * mass * s * s);
  bodies[2] = world_mass(world, mass, inertia, world_at(0, 2 * s, 2 * s),
                         (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO});
  CnJointDef joint = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnJointId id;
  joint.body_b = bodies[2];
  CHECK_OK(cn_joint_def_along(world, cn_vec3(-0.5 * s, 2 * s, 2 * s), cn_vec3(0, 1, 0), &joint));
  joint.axes[0].friction = 0.5 * mass * s;
  joint.axes[0].armature = 0.05 * mass * s * s;
  CHECK_OK(cn_joint_create(world, &joint, &id));
  world_fixed_box(world, cn_vec3(s, s, 0.2 * s), world_at(0, -3 * s, 0.2 * s), rough);
  // just above its edge, .1 rad past the balance
  CnPose tilted = {cn_vec3(0, -3 * s, (0.401 + 0.1 * sqrt(2) * cos(0.1)) * s),
                   world_turn(cn_vec3(0, 1, 0), atan(1) + 0.1)};
  bodies[3] =
      world_box(world, cn_vec3(0.1 * s, 0.1 * s, 0.1 * s), mass, tilted, CN_VEC3_ZERO, rough);
  for (int i = 0; i < 20; i++) world_step(world);
  for (int i = 0; i < PARTS; i++)
    places[i] = cn_scale(1 / s, world_pose(world, bodies[i]).position);
  cn_world_destroy(world);
}

static void events_alike(void **state) {
  (void)state;
  static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};
  for (int n = 0; n < 3; n++) {
    CnVec3 one[PARTS], other[PARTS];
    double most = 0;
    event_scene(names[n], 1, one);
    for (int k = -6; k <= 6; k += 4) {
      event_scene(names[n], pow(10, k), other);
      for (int i = 0; i < PARTS; i++) most = fmax(most, cn_norm(cn_sub(one[i], other[i])));
    }
    printf("%s: largest difference %.2g of the size\n", names[n], most);
    CHECK(most < 1e-9);
  }
}

// At rest the residual is that of rounding, not of nothing over nothing.
static void rest_reads_zero(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(0.01);
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  world_fixed_box(world, cn_vec3(0.1, 1, 1), world_at(-0.2, 0, 0), material);
  world_ball(world, 0.1, 1, cn_vec3(0, 0, 0.1), CN_VEC3_ZERO, material);
  for (int i = 0; i < 100; i++) CHECK(world_step(world).solve.certificate.residual < 1e-10);
  cn_world_destroy(world);
}

// Nor where a machine turns and asks nothing of its joints: `auto` has nothing to look for.
static void rotor_reads_zero(void **state) {
  (void)state;
  const CnVec3 x = {1, 0, 0}, z = {0, 0, 1};
  CnWorldDef def = world_def_exact(0.01);
  def.gravity = CN_VEC3_ZERO;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-10;
  CnWorld *world = world_make(&def);
  CnTwist turning = {CN_VEC3_ZERO, {10, 0, 0}}, still = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  CnVec3 heavy = {0.1, 0.1, 0.1}, light = {1e-4, 1e-4, 1e-4}, out = {0.8, 0.6, 0};
  CnBodyId rotor = world_mass(world, 1, heavy, world_at(-1, 0, 0), turning);
  CnBodyId fork = world_mass(world, 1, light, world_at(0.8, 0.6, 0), still);
  const struct {
    CnJointKind kind;
    CnBodyId a, b;
    CnVec3 at, axis;
  } joints[] = {{CN_JOINT_REVOLUTE, rotor, {0, 0}, {-1, 0, 0}, x},
                {CN_JOINT_REVOLUTE, fork, {0, 0}, out, out},
                {CN_JOINT_UNIVERSAL, rotor, fork, CN_VEC3_ZERO, z}};
  for (int i = 0; i < 3; i++) {
    CnJointId id;
    CnJointDef joint = cn_joint_def_default(joints[i].kind);
    joint.body_a = joints[i].a;
    joint.body_b = joints[i].b;
    CHECK_OK(cn_joint_def_along(world, joints[i].at, joints[i].axis, &joint));
    CHECK_OK(cn_joint_create(world, &joint, &id));
  }
  for (int i = 0; i < 30; i++) {
    CnSolveReport solve = world_step(world).solve;
    CHECK(solve.converged == 1 && solve.certificate.residual < 1e-10);
    CHECK(solve.iterations < 100);
  }
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(twelve_decades),
                                     cmocka_unit_test(same_digits), cmocka_unit_test(events_alike),
                                     cmocka_unit_test(rest_reads_zero),
                                     cmocka_unit_test(rotor_reads_zero)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
