// SPDX-License-Identifier: Apache-2.0
// How far each solver gets in one step of a settled pile, from zero impulses: residual against
// time.
//
// Scene G(n), settled by 1000 steps of psor, then the problem of one step: every layer carries the
// ones above it, and without a warm start the weights have to travel through the whole depth. The
// clock is psor's: T is its time for 2,000 sweeps. Solvers without a tolerance of their own get
// budgets of T/16, T/4, T, 4 T, ... up to `seconds`; those that solve to a tolerance (their default
// is above zero) are asked for 1e-2, 1e-4, 1e-8 within `seconds` (the last: `patience`), on piles
// up to `direct` spheres but for auto, which does not factor large ones. `of_psor` is the residual
// over that of psor's 2,000 sweeps. A budget that ends a solve makes the figures depend on the load
// of the machine.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/scene.h>
#include <cairn/world.h>

#include "bench.h"
#include "bodies.h"
#include "solver/solver.h"

#define SWEEPS 2000
#define GOOD 1e-8

#ifdef BENCH_IO

// ---- the pile ----

typedef struct Pile {
  CnWorld *world;
  CnProblem *problem;
  CnAnswer answer;
  int32_t spheres;
} Pile;

static CnStatus open_world(int32_t spheres, int32_t threads, CnWorld **world) {
  CnSetting setting = {"n", spheres};
  CnScene *scene = NULL;
  CnAllocator allocator = cn_allocator_default();
  CnStatus status = cn_scene_open("scene-g", &setting, 1, &allocator, &scene);
  if (status != CN_OK) return status;
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  def.worker_count = threads;
  status = cn_world_create(&def, world);
  if (status == CN_OK) status = cn_scene_fill(scene, *world);
  cn_scene_destroy(scene);
  return status;
}

// The whole of a file, null if there is none.
static void *read_all(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  void *data = NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    long end = ftell(file);
    rewind(file);
    data = end > 0 ? malloc((size_t)end) : NULL;
    *size = (size_t)end;
    if (data && fread(data, 1, *size, file) != *size) {
      free(data);
      data = NULL;
    }
  }
  fclose(file);
  return data;
}

// A settled state from the folder `keep`; 0: there is none that fits.
static int restore(Pile *pile, const char *path) {
  size_t size = 0;
  void *data = read_all(path, &size);
  int done = data && cn_world_restore(pile->world, data, size) == CN_OK;
  free(data);
  return done;
}

static void keep_state(const Pile *pile, const char *path) {
  size_t size = 0;
  if (cn_world_save(pile->world, NULL, 0, &size) != CN_OK) return;
  void *data = malloc(size);
  FILE *file = data ? fopen(path, "wb") : NULL;
  if (file && cn_world_save(pile->world, data, size, &size) == CN_OK) fwrite(data, 1, size, file);
  if (file) fclose(file);
  free(data);
}

static CnStatus settle(Pile *pile, const Values *values, int32_t steps, int32_t threads) {
  const char *folder = value_text(values, "keep");
  int keep = strcmp(folder, "none") != 0;
  char path[512];
  snprintf(path, sizeof path, "%s/g-%d-%d.state", folder, (int)pile->spheres, (int)steps);
  CnStatus status = open_world(pile->spheres, threads, &pile->world);
  if (status == CN_OK && !(keep && restore(pile, path))) {
    for (int32_t i = 0; i < steps && status == CN_OK; i++)
      status = cn_world_step(pile->world, NULL);
    if (status == CN_OK && keep) keep_state(pile, path);
  }
  if (status == CN_OK) status = cn_world_step(pile->world, NULL);
  if (status == CN_OK) status = cn_world_problem(pile->world, &pile->problem, NULL);
  return status;
}

static void pile_release(Pile *pile) {
  cn_answer_release(&pile->answer);
  cn_world_destroy(pile->world);
}

// ---- solving ----

typedef struct Run {
  double budget;      // s, 0: none
  double patience;    // s, budget of the last tolerance
  double tolerance;   // 0: none
  int32_t iterations; // at most
  CnTasks *tasks;
} Run;

static CnStatus solve_cold(Pile *pile, const char *name, const Run *run, CnSolveReport *report) {
  CnSolverDef def = cn_solver_def_default(name);
  def.effort = CN_EFFORT_EXACT;
  def.time_budget = run->budget;
  def.tolerance = run->tolerance;
  def.max_iterations = run->iterations;
  def.tasks = run->tasks;
  CnSolver *solver = NULL;
  CnStatus status = cn_solver_create(&def, &solver);
  if (status == CN_OK) status = cn_answer_fit(&pile->answer, pile->problem);
  if (status == CN_OK) status = cn_solver_solve(solver, pile->problem, &pile->answer, report);
  cn_solver_destroy(solver);
  return status;
}

static CnStatus add_row(Report *report, Pile *pile, const CnSolverKind *kind, const Run *run,
                        double psor_residual, CnSolveReport *solved) {
  Row *row = report_row_begin(report);
  if (!row) return CN_NO_MEMORY;
  CnStatus status = solve_cold(pile, kind->name, run, solved);
  if (status != CN_OK) return status;
  const CnCertificate *c = &solved->certificate;
  row_number(row, "spheres", pile->spheres);
  row_number(row, "contacts", pile->problem->block_count);
  row_text(row, "friction", cn_friction_model_name(pile->problem->friction));
  row_text(row, "solver", kind->name);
  row_text(row, "method", solved->method);
  row_number(row, "tolerance", run->tolerance);
  row_number(row, "iterations", solved->iterations);
  row_number(row, "seconds", solved->seconds);
  row_number(row, "residual", c->residual);
  row_number(row, "residual_speed", c->residual_speed);
  row_number(row, "of_psor", psor_residual > 0 ? c->residual / psor_residual : 1);
  report_row_end(report, row);
  return CN_OK;
}

// One solver: budgets around psor's time, or tolerances.
static CnStatus run_solver(Report *report, Pile *pile, const CnSolverKind *kind, Run run,
                           const CnSolveReport *psor, double seconds) {
  CnStatus status = CN_OK;
  double beside = psor->certificate.residual;
  CnSolveReport solved = {0};
  if (kind->defaults.tolerance > 0) {
    const double wanted[] = {1e-2, 1e-4, GOOD};
    run.iterations = 100 * kind->defaults.max_iterations;
    for (int32_t i = 0; i < 3 && status == CN_OK; i++) {
      run.tolerance = wanted[i];
      run.budget = i < 2 ? seconds : run.patience;
      status = add_row(report, pile, kind, &run, beside, &solved);
      if (status == CN_OK && !solved.converged) break;
    }
    return status;
  }
  run.iterations = INT32_MAX;
  run.tolerance = GOOD;
  for (run.budget = psor->seconds / 16; status == CN_OK && run.budget <= seconds; run.budget *= 4) {
    status = add_row(report, pile, kind, &run, beside, &solved);
    if (status == CN_OK && solved.converged) break;
  }
  return status;
}

// ---- all of it ----

static int wanted_solver(const Values *values, const char *name) {
  const char *list = value_text(values, "solvers"), *at = list;
  size_t length = strlen(name);
  if (strcmp(list, "all") == 0) return 1;
  while ((at = strstr(at, name)) != NULL) {
    if ((at == list || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return 1;
    at += length;
  }
  return 0;
}

static CnStatus run_pile(const Values *values, Report *report, Pile *pile, CnTasks *tasks,
                         double seconds, int32_t direct) {
  Run run = {.iterations = SWEEPS, .tasks = tasks};
  CnSolveReport psor = {0};
  CnStatus status = add_row(report, pile, cni_solver_find("psor"), &run, 0, &psor);
  for (int32_t i = 0; i < cni_solver_kind_count && status == CN_OK; i++) {
    const CnSolverKind *kind = cni_solver_kinds[i];
    if (!wanted_solver(values, kind->name) || cni_solver_check(kind, pile->problem) != CN_OK)
      continue;
    if (kind->accepts & CNI_ACCEPT_RELAXED) continue; // pyramids: another problem
    int factors = kind->defaults.tolerance > 0 && kind != &cni_solver_auto;
    if (factors && pile->spheres > direct) continue;
    run.patience =
        pile->spheres > direct ? seconds : fmax(seconds, value_number(values, "patience"));
    status = run_solver(report, pile, kind, run, &psor, seconds);
  }
  return status;
}

static int run(const Values *values, Report *report) {
  int32_t spheres[VALUE_LIST], count, steps, threads, direct;
  double seconds = value_number(values, "seconds");
  if (!value_list(values, "spheres", 2, 1e6, spheres, &count) ||
      !value_whole(values, "steps", 1, 1e6, &steps) ||
      !value_whole(values, "threads", 1, 64, &threads) ||
      !value_whole(values, "direct", 0, 1e6, &direct))
    return 0;
  if (!(seconds > 0 && seconds < 1e5)) {
    fprintf(stderr, "cairn-bench: seconds must be positive\n");
    return 0;
  }
  CnAllocator allocator = cn_allocator_default();
  CnTasks *tasks = NULL;
  CnStatus status = cn_tasks_create(threads, NULL, &allocator, &tasks);
  for (int32_t i = 0; i < count && status == CN_OK; i++) {
    Pile pile = {.spheres = spheres[i], .answer = cn_answer_empty(&allocator)};
    status = settle(&pile, values, steps, threads);
    for (int32_t m = 0; m < 2 && status == CN_OK; m++) {
      CnFrictionModel model = m == 0 ? CN_FRICTION_COULOMB : CN_FRICTION_CONVEX;
      const char *asked = value_text(values, "friction");
      if (strcmp(asked, "both") != 0 && strcmp(asked, cn_friction_model_name(model)) != 0) continue;
      pile.problem->friction = model;
      status = run_pile(values, report, &pile, tasks, seconds, direct);
    }
    pile_release(&pile);
  }
  cn_tasks_destroy(tasks);
  if (status != CN_OK) fprintf(stderr, "cairn-bench: deep-pile: %s\n", cn_error_message());
  return status == CN_OK;
}

#else

static int run(const Values *values, Report *report) {
  (void)values;
  (void)report;
  fprintf(stderr, "cairn-bench: deep-pile needs scenes, which this build is without\n");
  return 0;
}

#endif

static const Parameter parameters[] = {
    {"spheres", "1000,8000", "numbers of spheres"},
    {"steps", "1000", "steps to settle"},
    {"seconds", "10", "longest time of a solve"},
    {"patience", "60", "longest time of a solve to 1e-8 by solvers that factor"},
    {"threads", "1", "worker threads"},
    {"direct", "1000",
     "largest pile for solvers that factor, which look at the clock between factors"},
    {"friction", "both", "coulomb, convex or both"},
    {"solvers", "all", "names from `cairn solvers`, separated by commas"},
    {"keep", "none", "folder that keeps settled piles from run to run"},
    {NULL, NULL, NULL}};
static const Column columns[] = {{"spheres", "spheres"},        {"contacts", "contacts"},
                                 {"friction", "friction"},      {"solver", "solver"},
                                 {"iterations", "iterations"},  {"seconds", "s"},
                                 {"residual", "residual"},      {"residual_speed", "m/s"},
                                 {"of_psor", "of psor's 2000"}, {NULL, NULL}};
extern const Bench bench_deep_pile;
const Bench bench_deep_pile = {"deep-pile",
                               "one cold step of a settled pile: residual against time", parameters,
                               columns, run};
