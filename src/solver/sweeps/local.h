// SPDX-License-Identifier: Apache-2.0
// The problem of one block, with all other impulses held: from its own velocity u and impulse g to
// a better impulse. Shared by the sweeps of every storage that has no kernel of its own.
#ifndef CNI_SOLVER_LOCAL_H
#define CNI_SOLVER_LOCAL_H

#include "problem/problem.h"

typedef enum CniLocalMethod {
  CNI_LOCAL_FROZEN = 0, // no inverse mass: nothing can be changed
  CNI_LOCAL_CLAMP,      // dim 1: step and clamp
  CNI_LOCAL_BILATERAL,  // dim > 1: inverse of the block
  CNI_LOCAL_SPLIT,      // normal, then each disc (coulomb)
  CNI_LOCAL_PROJECT,    // one step and the projection on the cone
  CNI_LOCAL_EXACT       // the cone problem of the block to round-off
} CniLocalMethod;

// What is known about a block before the first sweep.
typedef struct CniLocal {
  const double *n;       // N_ii, dim x dim
  const double *inverse; // generalised inverse of n; null where the method does not use it
  const double *c;       // diagonal of C, dim
  CniCone cone;          // its cohesion is zero: kept in `cohesion`
  double cohesion;
  double step[4]; // omega/eta: clamp and projection [0]; split: normal, then each disc
  double lo, hi;  // clamp
  double omega, lambda;
  uint8_t method; // CniLocalMethod
  uint8_t convex; // the friction model
  uint8_t dim;
  uint8_t symmetric; // n is
  uint8_t rank;      // of n, where there is an inverse
} CniLocal;

// omega and lambda of a solver, and how it treats cones.
typedef struct CniLocalRule {
  double omega, lambda;
  int32_t local; // CnLocalSolve
} CniLocalRule;

// Doubles that a block's constants take in a pool.
int32_t cni_local_pool_size(const CniBlock *block, const CniLocalRule *rule);

// Fill the constants of a block; `pool` has cni_local_pool_size numbers.
void cni_local_prepare(CniLocal *local, const CnProblem *p, const CniBlock *block,
                       const CniLocalRule *rule, double *pool);

// g_new from u = E v + b + C g and g, both of dimension dim. Returns how many times that took the
// long way of cni_local_newton.
int32_t cni_local_update(const CniLocal *local, const double *u, const double *g, double *g_new);

// The length of a projected step that cannot increase the objective of the convex model: omega over
// eta = max(trace/dim, omega lambda_max/1.9). 0 for a block without inverse mass.
double cni_local_step(double omega, double trace, int32_t dim, double lambda_max);

// Largest eigenvalue of [xx xy; xy yy].
double cni_lambda_max_2(double xx, double xy, double yy);

// Solve the cone problem u = N g + q of a block; x: guess in, solution out, without cohesion.
// Returns how many times that took the long way of cni_local_newton.
int32_t cni_local_exact(const CniLocal *local, const double *q, double *x);
// The same by Newton's method from a guess: any number of discs, N of full rank. Returns 1 if that
// failed and the long way was taken, which may cost a millisecond: who repeats it keeps count.
int32_t cni_local_newton(const CniLocal *local, const double *q, double *x);

// The root of a function with f(lo) >= 0 >= f(hi), to the last digits of s.
typedef double (*CniRootFunction)(const void *data, double s);
double cni_find_root(CniRootFunction f, const void *data, double lo, double hi);

#endif
