// SPDX-License-Identifier: Apache-2.0
// Few rows beside joints: what auto makes of them with its joints eliminated. Any blocks in any storage, the
// velocities checked by the certificate; a door on three hinges that leans on a stop, whose rows depend on
// each other; impulses that hold already; the number of workers does not show. Small full matrices by rows of
// numbers and by the graph of their blocks: the same impulses.
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

// W = B^T B + 1 of `contacts` contacts by chance; apart: one more without any part in it. As rows of W are then
// not full, it goes by the graph of blocks and the others by rows of numbers.
static CnProblem *contacts_of(uint64_t seed, int32_t contacts, int apart) {
  enum { MOST = 24 };
  CniRng rng = {seed};
  double b[MOST][MOST], value[MOST * MOST], q[MOST];
  int32_t n = 3 * contacts, all = n + (apart ? 3 : 0), start[MOST + 1], column[MOST * MOST], at = 0;
  CHECK(all <= MOST);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) b[i][j] = 2 * cni_rng_unit(&rng) - 1;
  for (int32_t i = 0; i < MOST; i++) q[i] = 2 * cni_rng_unit(&rng) - 1.2;
  for (int32_t i = 0; i < all; i++) {
    start[i] = at;
    for (int32_t j = i < n ? 0 : i; j < (i < n ? n : i + 1); j++) {
      double sum = i == j;
      for (int32_t k = 0; i < n && k < n; k++) sum += b[k][i] * b[k][j];
      column[at] = j;
      value[at++] = sum;
    }
  }
  start[all] = at;
  CnSparse w = {
      .row_count = all, .column_count = all, .start = start, .column = column, .value = value};
  CnProblemDef def = cn_problem_def_default();
  def.form = CN_FORM_EXPLICIT;
  CnProblem *p;
  CHECK_OK(cn_problem_create(&def, &p));
  CHECK_OK(cn_problem_set_explicit(p, &w, q));
  CnSet set = cn_set_default(CN_BLOCK_FRICTION);
  set.mu = 0.4;
  int32_t index;
  CHECK_OK(cn_problem_add_set(p, &set, &index));
  for (int32_t i = 0; i < all / 3; i++) CHECK_OK(cn_problem_add_explicit(p, index, 3, NULL));
  return p;
}

static void full_matrices(void **state) {
  (void)state;
  const char *const solvers[] = {"newton", "ipm"};
  int32_t good = 0;
  for (int32_t i = 0; i < 60; i++) {
    CnProblem *full = contacts_of(100 + (uint64_t)i, 2 + i % 6, 0);
    CnProblem *other = contacts_of(100 + (uint64_t)i, 2 + i % 6, 1);
    CnAnswer a = answer_for(full), b = answer_for(other);
    CnSolverDef def = cn_solver_def_default(solvers[i % 2]);
    def.tolerance = 1e-11;
    int both = solve_def(&def, full, &a).converged + solve_def(&def, other, &b).converged;
    good += both == 2;
    for (int32_t r = 0; both == 2 && r < full->row_count; r++) CHECK_NEAR(a.g[r], b.g[r], 1e-8);
    cn_answer_release(&a);
    cn_answer_release(&b);
    cn_problem_destroy(full);
    cn_problem_destroy(other);
  }
  CHECK(good >= 55);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(any_blocks), cmocka_unit_test(full_matrices),
                                     cmocka_unit_test(door_on_three_hinges)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
