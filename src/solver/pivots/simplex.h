// SPDX-License-Identifier: Apache-2.0
// The simplex of the 2005 paper: the rows it walks on, and the walk.
//
// A problem of any form is written as
//
//     M v - E^T g = k,    u = E v + C g + b,    lo <= g <= hi,
//     u = 0 inside, u >= 0 at lo, u <= 0 at hi
//
// where v is the change of the velocities by the impulses, so that b is r of the problem and
// round-off is that of the changes; with one scalar row for each bilateral, unilateral and interval
// row and for each facet of a friction pyramid; C is the compliance, or W where the problem has no
// M. It is the bounded quadratic program min 1/2 g^T N g + r^T g, never formed.
#ifndef CNI_SOLVER_SIMPLEX_H
#define CNI_SOLVER_SIMPLEX_H

#include "problem/problem.h"
#include "sparse/sparse.h"

// ---- simplex_rows.c: problem -> rows ----

typedef struct CniSimplexRows {
  CniArena arena; // of everything below but the matrices
  CnAllocator allocator;
  int32_t v_count, row_count; // velocities; scalar rows
  int32_t *from_start, *from; // row i is the sum of weight[e] times the problem's row from[e]
  double *weight;
  double *lo, *hi, *b, *k;
  double *own;     // about N_ii
  double scale;    // largest |b|, m/s
  double *shift;   // per row of the problem: the part of g that no row gives (cohesion)
  CnSparse e, c;   // E, and the lower triangle of C
  CnSparse saddle; // lower triangle of [M E^T; E -C], the pattern of the factors
  int8_t *sign, *late;
} CniSimplexRows;

// Write a problem out as rows, friction cones with `facets` facets.
CnStatus cni_simplex_rows(const CnProblem *p, int32_t facets, const CnAllocator *allocator,
                          CniSimplexRows *rows);
void cni_simplex_rows_release(CniSimplexRows *rows);
// Impulses of the problem's rows from those of the walk, and a start for the walk from the former.
void cni_simplex_impulses(const CniSimplexRows *rows, int32_t problem_rows, const double *g,
                          double *out);
void cni_simplex_start(const CniSimplexRows *rows, const CnProblem *p, int32_t facets,
                       const double *impulses, double *g);

// ---- simplex_walk.c ----

// One event of a walk.
typedef enum CniSimplexEvent {
  CNI_SIMPLEX_ON = 0, // a violated row was switched on
  CNI_SIMPLEX_OFF,    // a row came to its bound and was switched off
  CNI_SIMPLEX_HELD,   // a violated row depends on those that are on: impulses were exchanged
  CNI_SIMPLEX_REFACTORED,
  CNI_SIMPLEX_GIVEN_UP // a row that no impulse can satisfy
} CniSimplexEvent;

typedef struct CniSimplexEntry {
  int32_t event, row;
  double step; // part of the way to the target that could be gone
} CniSimplexEntry;

#define CNI_SIMPLEX_NAMED 8
typedef struct CniSimplexWalk {
  int32_t pivots;                   // switches
  int32_t major;                    // violated rows taken up
  int32_t degenerate;               // steps of length zero
  int32_t factorings;               // factorisations, the first included
  int32_t dependent;                // times a row was found to depend on the others
  int32_t active;                   // rows that are on in the end
  int32_t finished;                 // 1: no violated row is left; 0: limit
  int32_t reached;                  // 1: v belongs to g; 0: the limit came on the way to a target
  int32_t infeasible;               // rows that no impulse can satisfy
  int32_t named[CNI_SIMPLEX_NAMED]; // the first of them
  double worst;                     // largest violation left, m/s
  double drift;                     // largest backward error seen before a refactorisation
} CniSimplexWalk;

typedef struct CniSimplex {
  CnAllocator allocator;
  CniLdl *ldl; // kept while the pattern stays the same
  double *numbers;
  uint8_t *flags;
  CniSimplexEntry *log; // of the last walk
  int32_t number_capacity, flag_capacity, log_capacity, log_count;
} CniSimplex;

// Walk from g (inside its bounds) to the solution; g and v are the result.
CnStatus cni_simplex_walk(CniSimplex *s, const CniSimplexRows *rows, int32_t max_pivots,
                          CnTasks *tasks, double *g, double *v, CniSimplexWalk *walk);
void cni_simplex_release(CniSimplex *s);

#endif
