// SPDX-License-Identifier: Apache-2.0
// Joints that ask for motions which exclude each other: the step gives the mean of what they ask for,
// says that it is none and names their rows. Joints too many that agree are no contradiction.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

// A wheel on `count` hinges about one axis, each with a motor of unlimited effort at its speed.
static CnWorld *wheel(const char *solver, int32_t count, const double *speeds, CnBodyId *body) {
  CnWorldDef def = cn_world_def_default();
  def.solver = cn_solver_def_default(solver);
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(motors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
