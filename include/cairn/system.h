/// The integrator drives, the system answers. A world is one system; a user's callbacks are
/// another.
#ifndef CAIRN_SYSTEM_H
#define CAIRN_SYSTEM_H

#include <cairn/base.h>
#include <cairn/problem.h>
#include <cairn/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A mechanical system as functions. State is q (any coordinates) and v (six per velocity group of
/// the problem). No function may change the system's lasting state except `done`, which may not
/// fail: a step that fails before `done` leaves no trace.
typedef struct CnSystem {
  void *context;
  int32_t q_count, v_count; ///< lengths of q and v

  /// Find the constraints that may act between t and t + h.
  CnStatus (*detect)(void *context, double t, const double *q, const double *v, double h);

  /// Write the step problem for the constraints found, and its warm start in (*answer)->g. Both
  /// stay the system's property and live until the next call.
  CnStatus (*problem)(void *context, double t, const double *q, const double *v, double h,
                      CnProblem **problem, CnAnswer **answer);

  /// q_new = q (+) h T(q) v: along v for the time h, by the exponential map where q has rotations.
  void (*advance)(void *context, const double *q, const double *v, double h, double *q_new);

  /// The step is accepted: keep the impulses, take over q and v.
  void (*done)(void *context, double t_new, const double *q_new, const double *v_new,
               const CnAnswer *answer);
} CnSystem;

typedef struct CnIntegratorDef {
  const char *name;      ///< a name cn_integrator_name lists
  CnAllocator allocator; ///< default malloc and free
  uint32_t tag;          ///< set by cn_integrator_def_default
} CnIntegratorDef;

typedef struct CnIntegrator CnIntegrator;

CN_API CnIntegratorDef cn_integrator_def_default(const char *name);
CN_API CnStatus cn_integrator_create(const CnIntegratorDef *def, CnIntegrator **integrator);
CN_API void cn_integrator_destroy(CnIntegrator *integrator);

/// One step of length h from (t, q, v). The new state reaches the system through `done`; q and v
/// are not changed here.
CN_API CnStatus cn_integrator_step(CnIntegrator *integrator, const CnSystem *system,
                                   CnSolver *solver, double t, const double *q, const double *v,
                                   double h, CnSolveReport *report);

/// The table: name and one-line summary of integrator `index`, null past the end.
CN_API const char *cn_integrator_name(int32_t index);
CN_API const char *cn_integrator_summary(int32_t index);

#ifdef __cplusplus
}
#endif
#endif
