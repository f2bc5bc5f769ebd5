// SPDX-License-Identifier: Apache-2.0
/// A solver of your own, by the side of the library's: in worlds, in `cn_solve`, in scenes by its name.
/// Part of <cairn/own.h>.
#ifndef CAIRN_OWN_SOLVER_H
#define CAIRN_OWN_SOLVER_H

#include <cairn/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a solver takes: bits to be combined. A problem that has anything else is refused before the
/// solver is called, with a sentence that names those who can.
#define CN_ACCEPT_KIND(kind) (1u << (kind))                   ///< blocks of a kind
#define CN_ACCEPT_ALL_KINDS ((1u << CN_BLOCK_KIND_COUNT) - 1) ///< of every kind
#define CN_ACCEPT_STEP (1u << 16)                             ///< problems of the step form
#define CN_ACCEPT_EXPLICIT (1u << 17)                         ///< u = W g + q
#define CN_ACCEPT_UNSYMMETRIC (1u << 18)                      ///< W that is not symmetric
#define CN_ACCEPT_COULOMB (1u << 19)                          ///< Coulomb friction
#define CN_ACCEPT_CONVEX (1u << 20)                           ///< the convex friction model
#define CN_ACCEPT_GLOBAL (1u << 21) ///< the global form; without it, it comes in its explicit form

/// A solver as functions. What its answer is worth is not its business: the library certifies it.
typedef struct CnOwnSolver {
  uint32_t size;          ///< sizeof(CnOwnSolver)
  uint32_t accepts;       ///< CN_ACCEPT_ bits
  const char *name;       ///< small letters, digits, _ and -; at most 31 bytes; copied
  const char *summary;    ///< one line; copied
  double tolerance;       ///< of cn_solver_def_default, >= 0
  int32_t max_iterations; ///< likewise, >= 1
  /// Working memory for the solves of one CnSolver, into *state; null: none is needed.
  CnStatus (*create)(void *context, const CnSolverDef *def, void **state);
  /// Find impulses: answer->g is the warm start and takes them. Velocities v and u follow from g and are
  /// filled in by the library. `iterations` and `outcome` of the report are for the solver to set. A
  /// status other than CN_OK ends the call with it (cn_error_set has the sentence). The same bits for
  /// the same problem, whatever was solved before.
  CnStatus (*solve)(void *context, void *state, const CnSolverDef *def, const CnProblem *problem,
                    CnAnswer *answer, CnSolveReport *report);
  /// Release what `create` made; null: nothing is to be released.
  void (*destroy)(void *context, void *state);
  void *context; ///< given to the functions; has to live as long as the program
} CnOwnSolver;

/// Put a solver into the table: cn_solver_name lists it from now on, and its name is known wherever a
/// solver is named. The struct is copied. A name that is taken is CN_INVALID_ARGUMENT; there is room for
/// 16. Solvers stay until the program ends: register before worlds are made. May be called from any thread.
CN_API CnStatus cn_solver_register(const CnOwnSolver *solver);

/// What solver `index` of the table takes: CN_ACCEPT_ bits; 0 past the end.
CN_API uint32_t cn_solver_accepts(int32_t index);

#ifdef __cplusplus
}
#endif
#endif
