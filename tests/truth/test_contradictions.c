// SPDX-License-Identifier: Apache-2.0
// Joints that ask for motions which exclude each other: the step gives the mean of what they ask for,
// says that it is none and names their rows. Joints too many that agree are no contradiction. Friction that jams, and motors
// that are held, are told.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

// A wheel on `count` hinges about one axis, each with a motor of unlimited effort at its speed.
static CnWorld *wheel(const char *solver, int32_t count, const double *speeds, CnBodyId *body) {
  CnWorldDef def = cn_world_def_default();
  def.solver = cn_solver_def_default(solver);
  def.solver.effort = CN_EFFORT_EXACT;
  def.gravity = CN_VEC3_ZERO;
  CnWorld *world = world_make(&def);
  *body = world_mass(world, 2, cn_vec3(0.1, 0.1, 0.2), world_at(0, 0, 0),
                     (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO});
  for (int32_t i = 0; i < count; i++) {
    CnJointDef joint = cn_joint_def_default(CN_JOINT_REVOLUTE);
    CnJointId id;
    joint.body_b = *body;
    joint.axes[0].motor_effort = INFINITY;
    joint.axes[0].motor_speed = speeds[i];
    CHECK_OK(cn_joint_def_along(world, CN_VEC3_ZERO, cn_vec3(0, 0, 1), &joint));
    CHECK_OK(cn_joint_create(world, &joint, &id));
  }
  return world;
}

static void motors(void **state) {
  (void)state;
  const char *solvers[] = {"psor", "auto"};
  for (int32_t k = 0; k < 2; k++) {
    CnBodyId body;
    CnStepReport report;
    CnWorld *world = wheel(solvers[k], 2, (const double[]){3, -1}, &body);
    CHECK_OK(cn_world_step(world, &report));
    CHECK(report.solve.infeasible_count == 2 && report.solve.outcome == CN_OUTCOME_INFEASIBLE);
    CHECK(!report.solve.converged);
    CHECK_NEAR(world_twist(world, body).spin.z, 1, 1e-6);
    // of each joint the row of the motor is named
    for (int32_t i = 0; i < 2; i++) CHECK(report.solve.infeasible_rows[i] == 6 * i + 5);
    cn_world_destroy(world);
    world = wheel(solvers[k], 3, (const double[]){3, 3, 3}, &body);
    CHECK_OK(cn_world_step(world, &report));
    CHECK(report.solve.infeasible_count == 0 && report.solve.certificate.residual < 1e-9);
    CHECK_NEAR(world_twist(world, body).spin.z, 3, 1e-9);
    cn_world_destroy(world);
  }
}

// Two bodies a metre apart on a weld, and on a distance of 1.2 m: they come to rest where both miss by
// the same, without forces and speeds, and both joints are named.
static void weld_and_distance(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.gravity = CN_VEC3_ZERO;
  CnWorld *world = world_make(&def);
  CnBodyId a = world_part(world, 1, 0.1, CN_VEC3_ZERO, 0);
  CnBodyId b = world_part(world, 2, 0.1, cn_vec3(1, 0, 0), 0);
  CnJointId weld =
      world_join(world, CN_JOINT_WELD, a, b, cn_vec3(0.5, 0, 0), cn_vec3(0, 0, 1), NULL);
  CnJointDef joint = cn_joint_def_default(CN_JOINT_DISTANCE);
  CnJointId distance;
  joint.body_a = a;
  joint.body_b = b;
  joint.distance = 1.2;
  CHECK_OK(cn_joint_create(world, &joint, &distance));
  for (int i = 0; i < 300; i++) {
    CnStepReport report = world_step(world);
    CHECK(report.solve.infeasible_count == 2 && report.solve.outcome == CN_OUTCOME_INFEASIBLE);
    CHECK(report.solve.infeasible_rows[0] == 0 && report.solve.infeasible_rows[1] == 6);
    CHECK(world_energy(world) < 1e-12);
  }
  CHECK_NEAR(world_joint(world, weld).error, 0.1, 1e-6);
  CHECK_NEAR(world_joint(world, distance).error, 0.1, 1e-6);
  CHECK(cn_norm(world_joint(world, weld).force) < 1e-6);
  cn_world_destroy(world);
}

// Two fingers that motors without a bound drive to places 20 mm inside a rigid box: every solver
// presses with the same force, which stays; the box stays between them, and its contacts are named.
static void fingers(void **state) {
  (void)state;
  const char *solvers[] = {"psor", "auto", "newton", "apgd"};
  for (int k = 0; k < 4; k++) {
    CnWorldDef def = cn_world_def_default();
    def.time_step = 0.01;
    def.solver = cn_solver_def_default(solvers[k]);
    def.solver.effort = CN_EFFORT_EXACT;
    CnWorld *world = world_make(&def);
    CnMaterialId material = world_material(world, 0.5, 0);
    CnVec3 sizes = {0.1, 0.1, 0.1}, thin = {0.02, 0.05, 0.05};
    CnBodyId box = world_box(world, sizes, 1, world_at(0, 0, 0), CN_VEC3_ZERO, material);
    CnJointId drives[2];
    for (int i = 0; i < 2; i++) {
      double x = i ? 0.13 : -0.13;
      CnBodyId finger = world_box(world, thin, 0.5, world_at(x, 0, 0), CN_VEC3_ZERO, material);
      CnJointAxis axis = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
      axis.drive = CN_DRIVE_POSITION;
      axis.motor_effort = INFINITY;
      axis.motor_position = 0.03;
      drives[i] = world_join(world, CN_JOINT_PRISMATIC, (CnBodyId){0, 0}, finger, cn_vec3(x, 0, 0),
                             cn_vec3(-x, 0, 0), &axis);
    }
    double most = 0, energy = 0;
    for (int i = 0; i < 100; i++) {
      CnStepReport report = world_step(world);
      CnWorldSums sums;
      cn_world_sums(world, &sums);
      most = cn_max(most, fabs(world_joint(world, drives[0]).motor[0]));
      if (i > 30) energy = cn_max(energy, sums.kinetic_energy);
      CHECK(i < 10 || report.solve.infeasible_count == 8);
      CHECK(i < 10 || report.contradicting[0] >= 0);
    }
    CHECK(most < 2e4);
    CHECK_REL(world_joint(world, drives[0]).motor[0], 1024, 0.01);
    CHECK(energy < 1e-3);
    CHECK(cn_norm(world_pose(world, box).position) < 3e-3);
    cn_world_destroy(world);
  }
}

// A slider-crank whose rod stands at 45 degrees, the crank at a constant speed whatever that takes, the slider
// rubbing on its rail by mu times what it presses on it: beyond mu = 1 what the rod pushes makes more friction than it
// overcomes, and no force keeps the speed. Such a step says so, names the slider and stays as it would be
// without; below it friction is mu times the reaction.
static void slider_jams(void **state) {
  (void)state;
  const double coefficients[] = {.5, 1.4, 4};
  for (int32_t k = 0; k < 3; k++) {
    int32_t jams = k > 0;
    CnWorldDef def = cn_world_def_default();
    def.gravity = CN_VEC3_ZERO;
    CnWorld *world = world_make(&def);
    CnVec3 y = {0, 1, 0}, tip = {0, 0, .1}, pin = {.1, 0, 0};
    CnBodyId crank = world_part(world, 1, .1, cn_vec3(0, 0, .05), 0);
    CnBodyId rod = world_part(world, 1, .1, cn_vec3(.05, 0, .05), 0);
    CnBodyId slider = world_part(world, 1, .1, pin, 0), ground = {0, 0};
    CnJointAxis drive = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
    CnJointAxis rail = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
    drive.motor_effort = INFINITY;
    drive.motor_speed = 1;
    rail.friction_coefficient = coefficients[k];
    world_join(world, CN_JOINT_REVOLUTE, ground, crank, CN_VEC3_ZERO, y, &drive);
    world_join(world, CN_JOINT_REVOLUTE, crank, rod, tip, y, NULL);
    world_join(world, CN_JOINT_REVOLUTE, rod, slider, pin, y, NULL);
    CnJointId joint =
        world_join(world, CN_JOINT_PRISMATIC, ground, slider, pin, cn_vec3(1, 0, 0), &rail);
    CnStepReport report = {0};
    for (int i = 0; i < 5; i++) CHECK_OK(cn_world_step(world, &report));
    CnJointState is = world_joint(world, joint);
    CHECK(report.solve.certificate.residual < 1e-8);
    CHECK_NEAR(world_twist(world, crank).spin.y, 1, 1e-6);
    CHECK((report.solve.infeasible_count > 0) == jams);
    CHECK((report.solve.outcome == CN_OUTCOME_INFEASIBLE) == jams);
    if (jams) {
      CnProblem *problem;
      CnBlockOwner owner;
      int32_t block;
      CHECK_OK(cn_world_problem(world, &problem, NULL));
      CHECK_OK(cn_problem_row_block(problem, report.solve.infeasible_rows[0], &block));
      CHECK_OK(cn_world_problem_block(world, block, &owner));
      CHECK(owner.joint.slot == joint.slot && cn_norm(is.force) < 1e4);
    } else {
      double across = hypot(is.force.y, is.force.z), along = fabs(is.friction[0]);
      CHECK(across > 0);
      CHECK_REL(along, .5 * across, 1e-4);
    }
    cn_world_destroy(world);
  }
}

// A wheel that is welded, with a motor on it of unlimited effort: the schemes by equations of motion, which leave
// dependent rows out, stop in the first step with the motor's name; at a speed that is the weld's they run.
static void locked(void **state) {
  (void)state;
  const char *schemes[] = {"hem5", "rkf45", "moreau-jean"};
  for (int32_t i = 0; i < 9; i++) {
    CnWorldDef def = cn_world_def_default();
    def.integrator = schemes[i / 3];
    def.gravity = CN_VEC3_ZERO;
    CnWorld *world = world_make(&def);
    CnBodyId wheel = world_part(world, 2, .1, CN_VEC3_ZERO, 0), ground = {0, 0};
    CnJointAxis drive = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
    drive.motor_effort = INFINITY;
    drive.drive = i % 3 == 1 ? CN_DRIVE_POSITION : CN_DRIVE_SPEED;
    drive.motor_position = .3;
    drive.motor_speed = i % 3 == 0 ? .5 : 0;
    world_join(world, CN_JOINT_WELD, ground, wheel, CN_VEC3_ZERO, cn_vec3(0, 0, 1), NULL);
    world_join(world, CN_JOINT_REVOLUTE, ground, wheel, CN_VEC3_ZERO, cn_vec3(0, 0, 1), &drive);
    CnStatus status = cn_world_step(world, NULL);
    CHECK((status == CN_OK) == (i % 3 == 2));
    if (status != CN_OK) {
      CHECK(status == CN_STOPPED);
      CHECK_TEXT(cn_error_message(), "step 1: the motor of joint 1");
      CHECK_TEXT(cn_error_message(), "cannot follow its target");
    }
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(locked), cmocka_unit_test(slider_jams),
                                     cmocka_unit_test(motors), cmocka_unit_test(weld_and_distance),
                                     cmocka_unit_test(fingers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
