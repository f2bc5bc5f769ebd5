// SPDX-License-Identifier: Apache-2.0
// Impulse time stepping: semi-implicit Euler with one step problem a step.
//
//     find the constraints that may act in [t, t+h]         detect
//     v_new = M^-1 (k + E^T g), g from the step problem     problem, solve; again, while impacts
//                                                           follow from impacts
//     q_new = q (+) h T v_new                               drift: motion without forces, in which
//                                                           velocities may change, too (or advance)
//     keep g for the next warm start                        done
//
// Contacts are known before they close (their gap is in b), so an impact falls inside the step that
// it belongs to, and any number of impacts costs one problem. First order in h, for smooth motion
// and across impacts alike.
//
// A step that fails anywhere leaves no trace: the new positions are written to
// the memory of the step, where the solver worked before, or the integrator's own, the new velocities lie
// in the answer.
//
// References: Anitescu and Potra 1997; Tasora and Anitescu 2007.
#include "integrator/integrator.h"

#include "problem/problem.h"
#include "solver/solver.h"

typedef struct Impulse {
  CnAllocator allocator;
  double *q_new;
  int32_t q_capacity;
} Impulse;

static CnStatus impulse_create(const CnIntegratorDef *def, const CnAllocator *allocator,
                               void **state) {
  (void)def;
  Impulse *made = cni_allocate(allocator, sizeof *made);
  if (!made) return cni_error_memory(sizeof *made);
  *made = (Impulse){.allocator = *allocator};
  *state = made;
  return CN_OK;
}

static void impulse_destroy(void *state) {
  Impulse *self = state;
  CnAllocator allocator = self->allocator;
  cni_release(&allocator, self->q_new, (size_t)self->q_capacity * sizeof(double));
  cni_release(&allocator, self, sizeof *self);
}

// Room for the new positions.
static CnStatus take_positions(Impulse *self, CniStepMemory *memory, int32_t count,
                               double **q_new) {
  size_t bytes = (size_t)count * sizeof(double);
  if (!memory) {
    CNI_TRY(CNI_RESERVE(&self->allocator, self->q_new, self->q_capacity, 0, count));
    *q_new = self->q_new;
    return CN_OK;
  }
  *q_new = cni_arena_take(&memory->arena, bytes);
  return *q_new ? CN_OK : cni_error_memory(bytes);
}

static CnStatus finish(const CnSystem *system, double t, const double *q, const CnAnswer *answer,
                       double h, double *q_new) {
  // groups past the state's own (a ground) have no place in it
  const double *v_new = answer->v;
  if (!q_new) { // the system has its own places for positions
    CNI_TRY(system->drift(system->context, q, answer->v, h, NULL, &v_new));
    return system->done(system->context, t + h, NULL, v_new, answer);
  }
  if (system->drift) {
    CNI_TRY(system->drift(system->context, q, answer->v, h, q_new, &v_new));
    if (v_new != answer->v) CNI_TRY(cni_check_state("v", v_new, system->v_count, t));
  } else {
    system->advance(system->context, q, answer->v, h, q_new);
  }
  CNI_TRY(cni_check_state("q", q_new, system->q_count, t));
  return system->done(system->context, t + h, q_new, v_new, answer);
}

// What the rounds of a step did together: the certificate is that of the worst.
static void add_round(CnSolveReport *sum, const CnSolveReport *round) {
  CnSolveReport all = round->certificate.residual > sum->certificate.residual ? *round : *sum;
  all.iterations = sum->iterations + round->iterations;
  all.converged = sum->converged && round->converged;
  all.cut_by_time = sum->cut_by_time || round->cut_by_time;
  all.seconds = sum->seconds + round->seconds;
  all.seconds_setup = sum->seconds_setup + round->seconds_setup;
  all.seconds_finish = sum->seconds_finish + round->seconds_finish;
  all.seconds_certificate = sum->seconds_certificate + round->seconds_certificate;
  *sum = all;
}

// Who cannot solve a blow does not get through the thousand solves of its stages either: after some, one that is
// left poor counts for many.
#define PATIENCE 64
#define POOR 1e-3
#define POOR_COUNTS 16

static int32_t counts(int32_t solves, const CnSolveReport *round) {
  return solves >= PATIENCE && !(round->certificate.residual <= POOR) ? POOR_COUNTS : 1;
}

static CnStatus solve_rounds(const CnSystem *system, CnSolver *solver, CnProblem *problem,
                             CnAnswer *answer, double t, CnSolveReport *report) {
  CnSolveReport round;
  int32_t again = 0, solves = 0;
  int whole = !(system->memory && system->memory->part); // otherwise all are told in the drift
  double dissipation = 0;                                // of the rounds that stand
  do {
    CnSolveReport *into = solves == 0 ? report : &round;
    CNI_TRY(cni_solver_solve(solver, problem, answer, system->memory, into));
    if (whole && answer->velocity_count < system->v_count)
      return cni_invalid("system: the problem has %d velocities, the state has v_count = %d",
                         (int)answer->velocity_count, (int)system->v_count);
    if (whole) CNI_TRY(cni_check_state("v", answer->v, system->v_count, t));
    solves += counts(solves, into);
    if (system->again) CNI_TRY(system->again(system->context, solves, problem, answer, &again));
    if (again != 2) dissipation += into->certificate.dissipation;
    if (into != report) add_round(report, &round);
  } while (again);
  report->certificate.dissipation = dissipation;
  return CN_OK;
}

static CnStatus impulse_step(void *state, const CnSystem *system, CnSolver *solver, double t,
                             const double *q, const double *v, double h, CnSolveReport *report) {
  Impulse *self = state;
  void *context = system->context;
  CnProblem *problem = NULL;
  CnAnswer *answer = NULL;
  CNI_TRY(system->detect(context, t, q, v, h));
  CNI_TRY(system->problem(context, t, q, v, h, &problem, &answer));
  if (!problem || !answer) return cni_invalid("system: problem() gave no problem or no answer");

  CniStepMemory *memory = system->memory;
  CNI_TRY(solve_rounds(system, solver, problem, answer, t, report));

  CniArenaMark mark = {0};
  if (memory) mark = cni_arena_mark(&memory->arena);
  double *q_new = NULL;
  if (!(memory && memory->part)) CNI_TRY(take_positions(self, memory, system->q_count, &q_new));
  CnStatus status = finish(system, t, q, answer, h, q_new);
  if (memory) cni_arena_back(&memory->arena, mark);
  return status;
}

const CnIntegratorKind cni_integrator_impulse = {
    .name = "impulse",
    .summary = "semi-implicit Euler with one step problem a step, order 1",
    .needs_solver = 1,
    .create = impulse_create,
    .step = impulse_step,
    .destroy = impulse_destroy,
};
