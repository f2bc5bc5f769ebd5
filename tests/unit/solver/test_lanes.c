// SPDX-License-Identifier: Apache-2.0
// The fast sweeps: the same bits by every level of wide arithmetic and any number of threads, and
// not worse than the plain sweeps in stored order.
#include "check.h"
#include "lattice.h"
#include "reference.h"
#include "scenes.h"
#include "solving.h"
#include "core/math.h"
#include "solver/sweeps/psor.h"

#include <stdlib.h>
#include <string.h>

static const CniSimdLevel levels[] = {CNI_SIMD_LEVEL_SSE2, CNI_SIMD_LEVEL_AVX2,
                                      CNI_SIMD_LEVEL_AVX512, CNI_SIMD_LEVEL_NEON};

static int runs_here(CniSimdLevel level) {
  CniSimdLevel top = cni_simd_level();
  if (!cni_psor_kernels(level)) return 0;
  return level == CNI_SIMD_LEVEL_NEON ? top == level : top != CNI_SIMD_LEVEL_NEON && level <= top;
}

// A solve by one level; g: warm start. All but plain ones ask for groups ahead, as those of large
// piles do.
// A user's problem is only read: groups are copied. A world lends its own.
static int lent = 0;

// Sweeps with longer steps; none, unless a test says so.
static CniPsorLonger longer = {1, 0, 0};

static CnAnswer solve_level(CnSolverDef def, CnProblem *p, const double *g, CniSimdLevel level,
                            CnTasks *tasks, int one_by_one) {
  CnAnswer answer = answer_for(p);
  CnSolveReport report = {0};
  void *state = NULL;
  def.tasks = tasks;
  if (g) memcpy(answer.g, g, (size_t)p->row_count * sizeof *g);
  CHECK_OK(cni_psor_create(&def, &def.allocator, strcmp(def.name, "pssor") == 0, &state));
  CniPsor *s = state;
  s->level = level;
  if (level != CNI_SIMD_LEVEL_PLAIN) s->cache_bytes = 0;
  s->schedule.one_by_one = one_by_one;
  s->longer = longer;
  CniStepMemory memory = held_memory();
  if (lent) memory.lent_groups = p->groups;
  CHECK_OK(cni_psor_solve(s, p, &answer, &memory, &report));
  cni_step_memory_release(&memory);
  CHECK_OK(cn_certify(p, &answer, &report.certificate)); // fills u, which psor leaves
  cni_psor_destroy(state);
  return answer;
}

static void check_same(const CnAnswer *a, const CnAnswer *b) {
  CHECK(memcmp(a->g, b->g, (size_t)a->row_count * sizeof *a->g) == 0);
  CHECK(memcmp(a->u, b->u, (size_t)a->row_count * sizeof *a->u) == 0);
  CHECK(memcmp(a->v, b->v, (size_t)a->velocity_count * sizeof *a->v) == 0);
}

static void check_levels(const CnSolverDef *def, CnProblem *p, const double *g) {
  CnAnswer plain = solve_level(*def, p, g, CNI_SIMD_LEVEL_PLAIN, NULL, 0);
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
    if (!runs_here(levels[i])) continue;
    CnAnswer wide = solve_level(*def, p, g, levels[i], NULL, 0);
    check_same(&plain, &wide);
    cn_answer_release(&wide);
  }
  cn_answer_release(&plain);
}

// In place and on a copy: the same bits, and the problem is what it was.
static void groups_lent(void **state) {
  (void)state;
  CniRng rng = {43};
  RandomProblem how = random_problem_default();
  how.group_count = 40;
  how.block_count = 120;
  CnProblem *p = random_problem(&rng, &how);
  size_t bytes = (size_t)p->group_count * sizeof *p->groups;
  CniGroup *before = malloc(bytes);
  memcpy(before, p->groups, bytes);
  CnSolverDef def = cn_solver_def_default("psor");
  def.max_iterations = 15;
  CnAnswer copied = solve_level(def, p, NULL, cni_simd_level(), NULL, 0);
  CHECK(memcmp(before, p->groups, bytes) == 0);
  lent = 1;
  CnAnswer in_place = solve_level(def, p, NULL, cni_simd_level(), NULL, 0);
  lent = 0;
  CHECK(memcmp(before, p->groups, bytes) == 0);
  check_same(&copied, &in_place);
  cn_answer_release(&copied);
  cn_answer_release(&in_place);
  free(before);
  cn_problem_destroy(p);
}

static void same_bits_on_random_problems(void **state) {
  (void)state;
  CniRng rng = {41};
  RandomProblem how = random_problem_default();
  how.group_count = 40;
  how.block_count = 120;
  for (int32_t i = 0; i < 48; i++) {
    how.friction = i & 1 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    how.compliant = i % 3 == 0;
    CnProblem *p = random_problem(&rng, &how);
    CnSolverDef def = cn_solver_def_default(i & 2 ? "psor" : "pssor");
    def.effort = CN_EFFORT_EXACT;
    def.local = (CnLocalSolve)(i / 4 % 3);
    def.relaxation = cni_rng_range(&rng, .8, 1.3);
    def.acceleration = i & 16 ? 1 : .9;
    def.max_iterations = 15;
    double *g = calloc((size_t)p->row_count, sizeof *g);
    for (int32_t k = 0; k < p->row_count; k++) g[k] = cni_rng_range(&rng, -.1, .1);
    if (i % 5 == 1) longer = (CniPsorLonger){1.5, 3, 9};
    check_levels(&def, p, g);
    longer = (CniPsorLonger){1, 0, 0};
    free(g);
    cn_problem_destroy(p);
  }
}

// Kinds of contacts in a pile.
static Lattice pile_number(int32_t i) {
  Lattice how = lattice_default();
  how.side = how.layers = 10;
  how.friction = i & 1 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
  how.kind = (CnBlockKind)(CN_BLOCK_FRICTION + i / 2 % 3);
  how.full = i % 5 == 0;
  how.hub = i % 4 == 3;
  return how;
}

static void same_bits_on_piles(void **state) {
  (void)state;
  for (int32_t i = 0; i < 12; i++) {
    Lattice how = pile_number(i);
    CnProblem *p = lattice_problem(&how);
    CnSolverDef def = cn_solver_def_default(i % 3 ? "psor" : "pssor");
    def.effort = CN_EFFORT_EXACT;
    def.max_iterations = 8;
    if (i % 3 == 1) longer = (CniPsorLonger){1.5, 2, 6};
    check_levels(&def, p, NULL);
    CnAnswer one = solve_level(def, p, NULL, cni_simd_level(), NULL, 0);
    for (int32_t workers = 2; workers <= 4; workers++) {
      CnTasks *tasks = NULL;
      CHECK_OK(cn_tasks_create(workers, NULL, NULL, &tasks));
      CnAnswer many = solve_level(def, p, NULL, cni_simd_level(), tasks, 0);
      check_same(&one, &many);
      cn_answer_release(&many);
      cn_tasks_destroy(tasks);
    }
    longer = (CniPsorLonger){1, 0, 0};
    cn_answer_release(&one);
    cn_problem_destroy(p);
  }
}

// Steps that are longer in all sweeps are those of a relaxation, and in none those without; where a law projects its
// step is not theirs to change.
static void longer_steps_are_relaxation(void **state) {
  (void)state;
  for (int32_t i = 0; i < 12; i++) {
    Lattice how = pile_number(i);
    CnProblem *p = lattice_problem(&how);
    CnSolverDef def = cn_solver_def_default("psor");
    int splits = p->friction == CN_FRICTION_COULOMB;
    def.effort = CN_EFFORT_EXACT;
    def.max_iterations = 6;
    CnAnswer plain = solve_level(def, p, NULL, cni_simd_level(), NULL, 0);
    longer = (CniPsorLonger){1.5, 6, 9};
    CnAnswer late = solve_level(def, p, NULL, cni_simd_level(), NULL, 0);
    longer = (CniPsorLonger){1.5, 0, 6};
    CnAnswer all = solve_level(def, p, NULL, cni_simd_level(), NULL, 0);
    longer = (CniPsorLonger){1, 0, 0};
    def.relaxation = splits ? 1.5 : 1;
    CnAnswer relaxed = solve_level(def, p, NULL, cni_simd_level(), NULL, 0);
    check_same(&plain, &late);
    double apart = 0;
    for (int32_t k = 0; k < p->row_count; k++) {
      CHECK_NEAR(all.g[k], relaxed.g[k], 1e-12);
      apart = fmax(apart, fabs(all.g[k] - plain.g[k]));
    }
    CHECK((apart > 1e-3) == splits);
    cn_answer_release(&plain);
    cn_answer_release(&late);
    cn_answer_release(&all);
    cn_answer_release(&relaxed);
    cn_problem_destroy(p);
  }
}

// Many slabs, sweeps against the plain ones in the same order.
static void piles_are_swept_right(void **state) {
  (void)state;
  for (int32_t i = 0; i < 12; i++) {
    Lattice how = pile_number(i);
    CnProblem *p = lattice_problem(&how);
    CnSolverDef def = cn_solver_def_default(i % 3 ? "psor" : "pssor");
    def.effort = CN_EFFORT_EXACT;
    def.max_iterations = 5;
    CnAnswer fast = solve_level(def, p, NULL, cni_simd_level(), NULL, 0), plain = answer_for(p);
    int32_t *order = sweep_order(&def, p);
    reference_sweeps(&def, p, order, &plain);
    for (int32_t k = 0; k < p->row_count; k++) CHECK_NEAR(fast.g[k], plain.g[k], 1e-12);
    free(order);
    cn_answer_release(&fast);
    cn_answer_release(&plain);
    cn_problem_destroy(p);
  }
}

// Equal spheres: most batches have the same set, and the sweeps are those of the plain ones.
static void equal_spheres_share(void **state) {
  (void)state;
  for (int32_t i = 0; i < 4; i++) {
    Lattice how = lattice_default();
    how.side = how.layers = 10;
    how.storages = 1u << CNI_SPHERE;
    how.friction = i & 1 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    CnProblem *p = lattice_problem(&how);
    for (int32_t k = 1; k < p->group_count; k++) {
      p->groups[k].inv_mass = .125;
      p->groups[k].inv_inertia = i & 2 ? .25 * (1 + k % 2) : .25;
    }
    for (int32_t k = 0; !(i & 2) && k < p->block_count; k++) p->blocks[k].set = 2;
    CnSolverDef def = cn_solver_def_default("psor");
    def.max_iterations = 5;
    check_levels(&def, p, NULL);
    CnAnswer fast = solve_level(def, p, NULL, cni_simd_level(), NULL, 0), plain = answer_for(p);
    int32_t *order = sweep_order(&def, p);
    reference_sweeps(&def, p, order, &plain);
    for (int32_t k = 0; k < p->row_count; k++) CHECK_NEAR(fast.g[k], plain.g[k], 1e-12);
    void *solver = NULL;
    CHECK_OK(cni_psor_create(&def, &def.allocator, 0, &solver));
    CniPsor *s = solver;
    CniStepMemory memory = held_memory();
    CHECK_OK(cni_psor_prepare(s, p, &fast, &memory));
    CHECK(s->set_count >= 1 && s->set_count <= s->schedule.batch_count + 1);
    if (!(i & 2)) CHECK(s->set_count < s->schedule.batch_count / 2);
    cni_psor_leave(s);
    cni_psor_destroy(solver);
    cni_step_memory_release(&memory);
    free(order);
    cn_answer_release(&fast);
    cn_answer_release(&plain);
    cn_problem_destroy(p);
  }
}

// Speed is not bought with convergence: 120 sweeps in the order of the schedule against the same
// number in stored order, by the norm over all blocks (the largest residual is that of some single
// block, and jumps from sweep to sweep).
static void order_costs_no_convergence(void **state) {
  (void)state;
  for (int32_t i = 0; i < 4; i++) {
    Lattice how = lattice_default();
    how.friction = i & 1 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    how.storages = i & 2 ? 1u << CNI_PAIR : 1u << CNI_SPHERE;
    CnProblem *p = lattice_problem(&how);
    CnSolverDef def = cn_solver_def_default("psor");
    double error[2];
    for (int32_t stored = 0; stored < 2; stored++) {
      CnAnswer answer = solve_level(def, p, NULL, cni_simd_level(), NULL, stored);
      error[stored] = certify(p, &answer).error_siconos;
      cn_answer_release(&answer);
    }
    if (error[0] > 1.2 * error[1])
      print_error("pile %d: %g in schedule, %g in stored order\n", (int)i, error[0], error[1]);
    CHECK(error[0] <= 1.2 * error[1]);
    cn_problem_destroy(p);
  }
}

// Contacts of spheres that share no body, two full batches of them, with warm starts in the cone,
// outside and below its tip; a contact without friction among them if `mixed`.
static CnProblem *apart(CniRng *rng, int mixed, double *g) {
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  for (int32_t i = 0; i < 3 + mixed; i++) {
    CnSet set = cn_set_default(i < 3 ? CN_BLOCK_FRICTION : CN_BLOCK_UNILATERAL);
    set.mu = .4 * i;
    set.cohesion = i == 2 ? .05 : 0;
    CHECK_OK(cn_problem_add_set(p, &set, NULL));
  }
  for (int32_t i = 0; i < 2 * CNI_BATCH_LANES + mixed; i++) {
    CnSphereDef sphere = cn_sphere_def_default();
    CnGroupDef group = cn_group_def_default();
    int32_t set = i < 2 * CNI_BATCH_LANES ? i % 3 : 3;
    for (int32_t side = 0; side < 2; side++) {
      double moves = side == 0 && i % 5 == 0 ? 0 : 1, j = moves * cni_rng_range(rng, 50, 100);
      group.inv_mass = moves * cni_rng_range(rng, 1, 2);
      group.inv_inertia = (CnSym3){j, j, j, 0, 0, 0};
      group.free.velocity = cn_vec3(cni_rng_range(rng, -1, 1), cni_rng_range(rng, -1, 1), 0);
      CHECK_OK(cn_problem_add_group(p, &group, side ? &sphere.group_b : &sphere.group_a));
    }
    double z = cni_rng_range(rng, -1, 1), angle = cni_rng_range(rng, 0, 6);
    double flat = sqrt(1 - z * z);
    sphere.normal = cn_vec3(flat * cni_cos(angle), flat * cni_sin(angle), z);
    sphere.radius_a = i % 5 == 0 ? 0 : cni_rng_range(rng, .05, .15);
    sphere.radius_b = cni_rng_range(rng, .05, .15);
    sphere.length = .1;
    double b[3] = {cni_rng_range(rng, -1, 1), 0, 0};
    int32_t dim = set < 3 ? 3 : 1, row = p->row_count;
    CHECK_OK(cn_problem_add_sphere(p, set, dim, &sphere, b, NULL));
    for (int32_t k = 0; k < dim; k++) g[row + k] = cni_rng_range(rng, -.1, .1);
    if (i % 4 == 0) g[row] = .2;
    if (i % 8 == 0 && dim == 3) g[row + 1] = g[row + 2] = 0;
  }
  return p;
}

// A full batch starts as its contacts do when each is alone in a batch.
static void full_batches_start_right(void **state) {
  (void)state;
  CniRng rng = {43};
  for (int32_t i = 0; i < 40; i++) {
    double g[3 * 2 * CNI_BATCH_LANES + 1];
    CnProblem *p = apart(&rng, i & 1, g);
    p->friction = i & 2 ? CN_FRICTION_CONVEX : CN_FRICTION_COULOMB;
    CnSolverDef def = cn_solver_def_default("psor");
    def.max_iterations = 1;
    CnAnswer plain = solve_level(def, p, g, CNI_SIMD_LEVEL_PLAIN, NULL, 1);
    for (size_t k = 0; k < sizeof levels / sizeof levels[0]; k++) {
      if (!runs_here(levels[k])) continue;
      CnAnswer wide = solve_level(def, p, g, levels[k], NULL, 0);
      check_same(&plain, &wide);
      cn_answer_release(&wide);
    }
    cn_answer_release(&plain);
    cn_problem_destroy(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_lent),
      cmocka_unit_test(same_bits_on_random_problems),
      cmocka_unit_test(same_bits_on_piles),
      cmocka_unit_test(longer_steps_are_relaxation),
      cmocka_unit_test(piles_are_swept_right),
      cmocka_unit_test(equal_spheres_share),
      cmocka_unit_test(order_costs_no_convergence),
      cmocka_unit_test(full_batches_start_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
