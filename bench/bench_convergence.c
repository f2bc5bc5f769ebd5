// SPDX-License-Identifier: Apache-2.0
// Is speed bought with convergence? What the sweeps of psor leave in their own order (slabs, lanes,
// windows), over what plain scalar sweeps in the stored order leave after as many.
//
// Problems are the steps of running piles: scene G, and a heap of boxes and spheres, at several
// times from the first contact to rest, in the order in which the world keeps them. Each is solved
// from g = 0 both ways. The residual is that of the worst contact and jumps from sweep to sweep, so
// it is taken as the geometric mean over the last ten sweeps; `error` is error_scaled, a Euclidean
// norm over all contacts. A row is the geometric mean over the states of `piles` piles, with the
// relative standard error of that mean and the worst state beside it. The states of one pile are
// not independent, as one jammed corner may be the worst contact in all of them: the piles, whose
// numbers of bodies differ by a few per cent and whose lattices therefore fall differently, count
// for the standard error, not the states.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "pile.h"
#include "solver/sweeps/psor.h"

#define LAST 10 // sweeps over which a mean is taken

typedef struct Left {
  double residual, error; // logarithms
} Left;

// A cold solve of `sweeps` sweeps.
static CnStatus sweep(CnProblem *p, int32_t sweeps, int one_by_one, CnAnswer *answer, Left *left) {
  CnSolverDef def = cn_solver_def_default("psor");
  CnAllocator allocator = cn_allocator_default();
  void *state = NULL;
  CnStatus status = cni_psor_create(&def, &allocator, 0, &state);
  if (status != CN_OK) return status;
  CniPsor *s = state;
  CniStepMemory memory;
  cni_step_memory_init(&memory, &allocator);
  cni_step_memory_hold(&memory);
  s->schedule.one_by_one = one_by_one;
  *left = (Left){0, 0};
  memset(answer->g, 0, (size_t)answer->row_count * sizeof *answer->g);
  for (int32_t i = LAST - 1; status == CN_OK && i >= 0; i--) {
    CnSolveReport report = {0};
    CnCertificate certificate = {0};
    s->def.max_iterations = i == LAST - 1 ? sweeps - i : 1;
    status = cni_psor_solve(s, p, answer, &memory, &report);
    if (status == CN_OK) status = cni_certify(p, answer, &memory, &certificate);
    left->residual += log(certificate.residual_speed) / LAST;
    left->error += log(certificate.error_scaled) / LAST;
  }
  cni_psor_destroy(state);
  cni_step_memory_release(&memory);
  return status;
}

typedef struct Ratios {
  double residual, error, residual_max, error_max; // logarithms; sums and the largest
  double pile_sum, pile_square;                    // of the piles' means of residual
  double contacts;
  int32_t slabs, count, piles;
} Ratios;

static CnStatus add_state(CnWorld *world, int32_t sweeps, CnFrictionModel friction, Ratios *sum) {
  CnProblem *p;
  CnAllocator allocator = cn_allocator_default();
  CnStatus status = cn_world_problem(world, &p, NULL);
  if (status != CN_OK) return status;
  CnAnswer answer = cn_answer_empty(&allocator);
  Left own, plain;
  CnFrictionModel before = p->friction;
  p->friction = friction;
  status = cn_answer_fit(&answer, p);
  if (status == CN_OK) status = sweep(p, sweeps, 0, &answer, &own);
  if (status == CN_OK) status = sweep(p, sweeps, 1, &answer, &plain);
  p->friction = before;
  cn_answer_release(&answer);
  if (status != CN_OK) return status;
  double residual = own.residual - plain.residual, error = own.error - plain.error;
  sum->residual_max = sum->count > 0 ? fmax(sum->residual_max, residual) : residual;
  sum->error_max = sum->count > 0 ? fmax(sum->error_max, error) : error;
  sum->residual += residual;
  sum->error += error;
  sum->contacts += p->block_count;
  sum->count++;
  return CN_OK;
}

// The mean of one pile, which began when the sums were `before`.
static void end_pile(Ratios *sum, const Ratios *before) {
  double mean = (sum->residual - before->residual) / (sum->count - before->count);
  sum->pile_sum += mean;
  sum->pile_square += mean * mean;
  sum->piles++;
}

// Standard error of the logarithm, which for small ones is the relative error; 0 of a single pile.
static double standard_error(const Ratios *sum) {
  double n = sum->piles, mean = sum->pile_sum / n;
  double spread = sum->pile_square / n - mean * mean;
  return n > 1 && spread > 0 ? sqrt(spread / (n - 1)) : 0;
}

static void add_row(Report *report, const char *name, int32_t bodies, CnFrictionModel friction,
                    int32_t sweeps, const Ratios *sum) {
  Row *row = report_row_begin(report);
  if (!row) return;
  row_text(row, "pile", name);
  row_text(row, "friction", cn_friction_model_name(friction));
  row_number(row, "bodies", bodies);
  row_number(row, "contacts", sum->contacts / sum->count);
  row_number(row, "piles", sum->piles);
  row_number(row, "states", sum->count);
  row_number(row, "sweeps", sweeps);
  row_number(row, "residual_ratio", exp(sum->residual / sum->count));
  row_number(row, "residual_ratio_error", standard_error(sum));
  row_number(row, "residual_ratio_max", exp(sum->residual_max));
  row_number(row, "error_ratio", exp(sum->error / sum->count));
  row_number(row, "error_ratio_max", exp(sum->error_max));
  report_row_end(report, row);
}

static const CnFrictionModel models[2] = {CN_FRICTION_COULOMB, CN_FRICTION_CONVEX};

// One pile of `count` bodies from the first contact on: sums of both models.
static int run_pile(const Values *values, int boxes, int32_t count, Ratios *sums) {
  int32_t states, steps, sweeps;
  Bodies bodies;
  Pile pile;
  Ratios before[2] = {sums[0], sums[1]};
  if (!value_whole(values, "states", 1, 1000, &states) ||
      !value_whole(values, "steps", 1, 1e6, &steps) ||
      !value_whole(values, "sweeps", LAST, 1e6, &sweeps))
    return 0;
  PileOptions options = pile_options("psor", 2);
  if (!pile_scene_g(&bodies, count)) return 0;
  bodies.iterations = 120;
  options.boxes = boxes;
  int ok = pile_build(&pile, &bodies, &options);
  bodies_destroy(&bodies);
  if (!ok) return 0;
  CnStatus status = CN_OK;
  for (int32_t i = 0; ok && status == CN_OK && i < states; i++) {
    ok = pile_steps(&pile, steps, NULL);
    for (int32_t m = 0; ok && status == CN_OK && m < 2; m++)
      status = add_state(pile.world, sweeps, models[m], &sums[m]);
  }
  pile_destroy(&pile);
  if (status != CN_OK) fprintf(stderr, "cairn-bench: convergence: %s\n", cn_error_message());
  if (!ok || status != CN_OK) return 0;
  for (int32_t m = 0; m < 2; m++) end_pile(&sums[m], &before[m]);
  return 1;
}

static int run_piles(const Values *values, int boxes, int32_t count, Report *report) {
  int32_t piles, sweeps;
  Ratios sums[2];
  memset(sums, 0, sizeof sums);
  if (!value_whole(values, "piles", 1, 100, &piles) ||
      !value_whole(values, "sweeps", LAST, 1e6, &sweeps))
    return 0;
  for (int32_t i = 0; i < piles; i++)
    if (!run_pile(values, boxes, count + i * (count / 32), sums)) return 0;
  for (int32_t m = 0; m < 2; m++)
    add_row(report, boxes ? "boxes and spheres" : "spheres", count, models[m], sweeps, &sums[m]);
  return 1;
}

static int run(const Values *values, Report *report) {
  int32_t spheres[VALUE_LIST], mixed[VALUE_LIST], sphere_count, mixed_count;
  if (!value_list(values, "spheres", 1, 1e7, spheres, &sphere_count) ||
      !value_list(values, "mixed", 1, 1e7, mixed, &mixed_count))
    return 0;
  for (int32_t i = 0; i < sphere_count; i++)
    if (!run_piles(values, 0, spheres[i], report)) return 0;
  for (int32_t i = 0; i < mixed_count; i++)
    if (!run_piles(values, 1, mixed[i], report)) return 0;
  return 1;
}

static const Parameter parameters[] = {{"spheres", "1000,8000", "spheres in a pile"},
                                       {"mixed", "1000,8000", "boxes and spheres in a pile"},
                                       {"piles", "6", "piles in a row, each a little larger"},
                                       {"states", "3", "problems of each pile"},
                                       {"steps", "40", "steps from one to the next"},
                                       {"sweeps", "120", "sweeps of each solve"},
                                       {NULL, NULL, NULL}};
static const Column columns[] = {{"pile", "pile"},
                                 {"friction", "friction"},
                                 {"bodies", "bodies"},
                                 {"contacts", "contacts"},
                                 {"piles", "piles"},
                                 {"states", "states"},
                                 {"residual_ratio", "residual"},
                                 {"residual_ratio_error", "+-"},
                                 {"residual_ratio_max", "worst"},
                                 {"error_ratio", "error"},
                                 {"error_ratio_max", "worst"},
                                 {NULL, NULL}};
extern const Bench bench_convergence;
const Bench bench_convergence = {
    "convergence", "psor in its own order over plain sweeps in stored order (5 minutes)",
    parameters, columns, run};
