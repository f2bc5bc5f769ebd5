// SPDX-License-Identifier: Apache-2.0
/// Solvers: problem in, answer and certificate out. Every family is a row of one table.
#ifndef CAIRN_SOLVER_H
#define CAIRN_SOLVER_H

#include <cairn/base.h>
#include <cairn/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How the impulse of one block is found inside a sweep.
typedef enum CnLocalSolve {
  CN_LOCAL_SPLIT = 0, ///< normal, then tangent, then rotation, each by its own clamp (coulomb); the
                      ///< convex model always projects on the whole cone
  CN_LOCAL_PROJECTION, ///< one step of length w/eta and a projection, as in the 2007 paper
  CN_LOCAL_EXACT       ///< the block's own problem solved to round-off
} CnLocalSolve;

/// How much `auto` may spend on a solve, counted in sweeps and in numbers of factors, never in time:
/// the same work on every machine. What it reaches is in the certificate.
typedef enum CnEffort {
  CN_EFFORT_QUICK = 0, ///< for a look: 1e-3 of the speeds, or what 40 sweeps give
  CN_EFFORT_NORMAL, ///< for daily work: 1e-4, and exact methods where they cost no more than some
                    ///< times 120 sweeps
  CN_EFFORT_EXACT   ///< 1e-8 by all methods there are, whatever they cost
} CnEffort;

/// How to build a solver. Start from cn_solver_def_default(name).
typedef struct CnSolverDef {
  uint32_t size, tag;     ///< set by cn_solver_def_default
  const char *name;       ///< a name cn_solver_name lists; copied
  double tolerance;       ///< > 0 stops early when the deciding error (CnSolveReport::converged)
                          ///< is below; 0 uses all iterations, so that the cost of a step is known
                          ///< beforehand (auto: 0 is the tolerance of its effort)
  int32_t max_iterations; ///< >= 1
  double time_budget;     ///< s; 0 = none. A solve it cut is marked cut_by_time
  double relaxation;      ///< omega, in (0, 2)
  double acceleration;    ///< lambda, in (0, 1]
  CnLocalSolve local;
  int32_t check_interval; ///< >= 1: iterations between looks at the tolerance and the clock
  int32_t facets;         ///< of the pyramids in place of friction cones (simplex): even, 4 to 64,
                          ///< default 8
  CnEffort effort;        ///< of auto; default CN_EFFORT_NORMAL
  CnTasks *tasks;         ///< workers to use, borrowed; null: the calling thread
  CnAllocator allocator;  ///< default malloc and free
} CnSolverDef;

/// How a solve ended, as its solver saw it. What the answer is worth is in the certificate.
typedef enum CnOutcome {
  CN_OUTCOME_FINISHED = 0, ///< came to its end: solution found, or all iterations used
  CN_OUTCOME_RAY,          ///< the pivoting ended on a ray: for semidefinite and copositive-plus
                           ///< matrices a proof that there is no solution
  CN_OUTCOME_LIMIT,        ///< a limit of pivots, steps or nodes was reached
  CN_OUTCOME_STALLED,      ///< no further progress was possible
  CN_OUTCOME_INFEASIBLE,   ///< no solution exists: even without complementarity, or in no
                           ///< combination of complementary sides, to round-off
  CN_OUTCOME_COUNT
} CnOutcome;

/// Name of an outcome, for example "ray".
CN_API const char *cn_outcome_name(CnOutcome outcome);

/// What a solve did. The certificate is the library's, not the solver's.
///
/// `converged` compares one error of the certificate with the tolerance. Step form: `residual`.
/// Explicit form: `error_siconos` for LCP and MLCP (bilateral and unilateral blocks only), the
/// larger of `error_siconos` and `error_scaled` where there are other blocks. Global form:
/// `error_siconos`. Where friction cones were replaced by pyramids (`facets` > 0) it is
/// `pyramid_residual`, and the certificate, which knows the true cone only, tells what the pyramid
/// costs: it falls as 1/facets^2.
#define CN_REPORT_ROWS 8
typedef struct CnSolveReport {
  const char *solver;
  CnFrictionModel friction; ///< the model that was solved
  int32_t iterations;
  int32_t converged;          ///< 1 if the deciding error is at most the tolerance, 0 if not; -1:
                              ///< no step problem was solved (hem5, rkf45), the certificate is not
                              ///< a number, and CnStepReport::integration has what is known
  int32_t cut_by_time;        ///< 1 if the time budget ended the solve
  double seconds;             ///< solving only
  double seconds_setup;       ///< the part of seconds before the first sweep
  double seconds_finish;      ///< the part of seconds after the last sweep
  double seconds_certificate; ///< not in seconds: checks of the input, and the certificate
  CnCertificate certificate;
  CnOutcome outcome;       ///< how the solver ended
  const char *method;      ///< who found the answer: the solver, or the one that auto took it from
  int32_t attempts;        ///< how many methods were tried: 1, or more with auto
  int32_t facets;          ///< of the pyramids that were solved in place of friction cones; 0: none
  double pyramid_residual; ///< as CnCertificate::residual, against the pyramids; 0 without
  int32_t infeasible_count; ///< rows that no impulse can satisfy: contradicting joints (simplex),
                            ///< overlaps of a world that contradict each other (all solvers)
  int32_t infeasible_rows[CN_REPORT_ROWS]; ///< the first of them, rows of g
} CnSolveReport;

typedef struct CnSolver CnSolver;

/// Defaults of the named solver; an unknown name gives a def that cn_solver_create refuses.
CN_API CnSolverDef cn_solver_def_default(const char *name);
/// Create a solver. On failure *solver is NULL.
CN_API CnStatus cn_solver_create(const CnSolverDef *def, CnSolver **solver);
/// Release a solver. Null is allowed.
CN_API void cn_solver_destroy(CnSolver *solver);

/// Solve. `answer` must fit the problem; its g is the warm start. Misuse and memory give a status;
/// a solver that stops early says so in the report. A problem of the global form is given to a
/// solver that does not take it in its explicit form, and certified as it is.
CN_API CnStatus cn_solver_solve(CnSolver *solver, const CnProblem *problem, CnAnswer *answer,
                                CnSolveReport *report);

/// The error of a certificate that `converged` compares with the tolerance (CnSolveReport).
CN_API double cn_solve_error(const CnProblem *problem, const CnCertificate *certificate);

/// The tolerance that a definition means: auto has one of its effort where none is named.
CN_API double cn_solver_tolerance(const CnSolverDef *def);

/// The table: name and one-line summary of solver `index`, null past the end.
CN_API const char *cn_solver_name(int32_t index);
/// One-line summary of solver `index`, null past the end.
CN_API const char *cn_solver_summary(int32_t index);

/// One-liner: solve with the named solver to a tolerance, from answer->g (zero is a cold start), in
/// at most a hundred times the solver's default number of iterations.
CN_API CnStatus cn_solve(const CnProblem *problem, const char *solver, double tolerance,
                         CnAnswer *answer, CnSolveReport *report);

#ifdef __cplusplus
}
#endif
#endif
