// SPDX-License-Identifier: Apache-2.0
// Few rows beside joints: what auto makes of them with its joints eliminated. Any blocks in any storage, the
// velocities checked by the certificate; a door on three hinges that leans on a stop, whose rows depend on
// each other; impulses that hold already; the number of workers does not show.
#include "check.h"
#include "core/vec.h"
#include "scenes.h"
#include "solving.h"
#include "worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static CnSolveReport solve_within(double tolerance, CnTasks *tasks, const CnProblem *p,
                                  CnAnswer *answer) {
  CnSolverDef def = cn_solver_def_default("auto");
  def.tolerance = tolerance;
  def.tasks = tasks;
  return solve_def(&def, p, answer);
}

// All that converges with the exact effort does so with the normal one, and obeys the same laws.
static void any_blocks(void **state) {
  (void)state;
  CniRng rng = {7};
  RandomProblem how = random_problem_default();
  CnTasks *tasks;
  int32_t good = 0, count = 150;
  CHECK_OK(cn_tasks_create(3, NULL, NULL, &tasks));
  for (int32_t i = 0; i < count; i++) {
    how.group_count = 3 + i % 9;
    how.block_count = 2 + i % 14;
    how.compliant = i % 3 == 0;
    CnProblem *p = random_problem(&rng, &how);
    CnAnswer answer = answer_for(p), other = answer_for(p);
    CnSolveReport report = solve_within(1e-9, NULL, p, &answer);
    CHECK(report.certificate.joint_speed <= 1e-9 && report.certificate.momentum_defect <= 1e-12);
    good += report.converged;
    if (!report.converged) {
      CnAnswer exact = answer_for(p);
      CnSolverDef def = cn_solver_def_default("auto");
      def.tolerance = 1e-9;
      def.effort = CN_EFFORT_EXACT;
      CHECK(!solve_def(&def, p, &exact).converged);
      cn_answer_release(&exact);
    }
    solve_within(1e-9, tasks, p, &other);
    CHECK(memcmp(answer.g, other.g, (size_t)p->row_count * sizeof *answer.g) == 0);
    // again from what was found: nothing to do
    CnSolveReport again = solve_within(1e-9, NULL, p, &other);
    CHECK(!report.converged || (again.converged && again.iterations <= report.iterations + 1));
    cn_answer_release(&answer);
    cn_answer_release(&other);
    cn_problem_destroy(p);
  }
  printf("%d of %d converged\n", (int)good, (int)count);
  CHECK(good >= count - 3);
  cn_tasks_destroy(tasks);
}

// A door of 10 kg, 1 m wide and 2 m high, on three hinges along z, pushed against a ball beside it that
// is held by a motor of 50 N m: the push of a torque T arrives as T over the arm of the stop.
static void door_on_three_hinges(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0, 0);
  CnBodyId door =
      world_box(world, cn_vec3(0.5, 0.02, 1), 10, world_at(0.5, 0, 1), CN_VEC3_ZERO, material);
  CnBodyId ground = {0, 0};
  for (int i = 0; i < 3; i++)
    world_join(world, CN_JOINT_REVOLUTE, ground, door, cn_vec3(0, 0, 0.5 * (i + 1)),
               cn_vec3(0, 0, 1), NULL);
  CnBodyDef stop = cn_body_def_default();
  CnBodyId post;
  stop.kind = CN_BODY_FIXED;
  stop.pose = world_at(0.8, 0.12, 1);
  CHECK_OK(cn_body_create(world, &stop, &post));
  CnShapeDef ball = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnShapeId id;
  ball.radius = 0.1;
  ball.material = material;
  CHECK_OK(cn_shape_create(world, post, &ball, &id));
  CnStepReport report = {.step = 0};
  for (int i = 0; i < 20; i++) {
    CHECK_OK(cn_body_apply_torque(world, door, cn_vec3(0, 0, 12)));
    report = world_step(world);
  }
  CHECK(report.solve.converged && report.contact_count == 1);
  CnContact contact;
  CHECK_OK(cn_world_contact(world, 0, &contact));
  CHECK_REL(cn_norm(contact.impulse) / def.time_step, 12 / 0.8, 1e-6);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_blocks),
                                     cmocka_unit_test(door_on_three_hinges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
