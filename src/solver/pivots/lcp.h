// SPDX-License-Identifier: Apache-2.0
// Linear complementarity problems by pivoting: what lemke, newton and auto share.
//
//     u = W g + q;  equality rows: u = 0, g free;  complementarity rows: 0 <= u _|_ g >= 0
//
// (MLCP; LCP where there are no equality rows.) In this header w and z are u and g of a
// complementarity row, as the literature has them.
#ifndef CNI_SOLVER_LCP_H
#define CNI_SOLVER_LCP_H

#include "problem/problem.h"
#include "sparse/sparse.h"

// ---- tableau.c: the dictionary  basic = constant + sum coefficient * nonbasic ----

// Variables come in complementary pairs: w_k is 2k, z_k is 2k + 1, the partner of v is v ^ 1.
typedef struct CniTableau {
  double *a;       // rows x stride: the constant, then one coefficient a column
  int32_t *basic;  // variable of each row
  int32_t *column; // variable of each column, from column 1 on
  int32_t *place;  // per variable: its row, or -(its column)
  int32_t rows, columns, stride, pairs;
  const CniDenseKernels *kernels;
} CniTableau;

// The variable of `column` becomes basic in `row`, the one of `row` nonbasic.
void cni_tableau_pivot(CniTableau *t, int32_t row, int32_t column);
// The bookkeeping of that alone.
void cni_tableau_exchange(CniTableau *t, int32_t row, int32_t column);

static inline double *cni_tableau_row(const CniTableau *t, int32_t row) {
  return t->a + (int64_t)row * t->stride;
}
// Value of a variable in the basic solution.
static inline double cni_tableau_value(const CniTableau *t, int32_t variable) {
  int32_t place = t->place[variable];
  return place >= 0 ? t->a[(int64_t)place * t->stride] : 0;
}

// ---- delayed.c: pivots of large tableaux, a block at a time ----

#define CNI_DELAYED 32 // pivots that are kept back at most

typedef struct CniDelayed {
  double *f, *p;      // columns and rows of the pivots kept back
  double *transposed; // f by rows
  double *constant;   // of each row, up to date
  double *column;     // the last one asked for
  int32_t f_stride, count;
} CniDelayed;

// Numbers of memory for a tableau, and the start on it.
size_t cni_delayed_size(int32_t rows, int32_t stride);
void cni_delayed_start(CniDelayed *d, const CniTableau *t, double *memory);
// One entry, one column (to d->column), a pivot in the column last asked for.
double cni_delayed_entry(const CniDelayed *d, const CniTableau *t, int32_t row, int32_t column);
void cni_delayed_column(CniDelayed *d, const CniTableau *t, int32_t column);
void cni_delayed_pivot(CniDelayed *d, CniTableau *t, int32_t row, int32_t column);
// Constants back to the tableau, whose other numbers are not valid any more.
void cni_delayed_finish(const CniDelayed *d, CniTableau *t);

// ---- reduce.c: problem -> tableau -> impulses ----

// Memory that keeps its size from solve to solve; its content does not outlive one.
typedef struct CniBlockMemory {
  void *data;
  size_t bytes;
} CniBlockMemory;
CnStatus cni_block_memory_reserve(const CnAllocator *allocator, CniBlockMemory *memory,
                                  size_t bytes);

// A problem made ready for pivoting: rows and columns scaled by powers of two, equality rows
// eliminated. Equality rows beyond the rank of their block become two complementary pairs each:
// u = 0 with g free is 0 <= u _|_ g+ >= 0 and 0 <= -u _|_ g- >= 0 with g = g+ - g-.
typedef struct CniReduced {
  CnAllocator allocator;
  CniBlockMemory numbers, indices;
  CniTableau t;
  const CnProblem *p;
  double *row_scale, *column_scale; // per problem row; null where all are 1
  double scale;                     // of the right-hand side: z = column_scale z' / scale
  double *frozen;                   // eliminated rows, `t.columns` at that time, stride t.stride
  int32_t *row_of;                  // per pair: the problem's row
  int32_t *frozen_row;              // per frozen row: the problem's row whose g it gives
  int32_t *equality;                // the problem's equality rows
  double *cover;                    // room for a covering vector, one number a pair
  double *delayed;                  // memory for pivots kept back, null for small problems
  int32_t complementary, equalities, frozen_count, doubled;
} CniReduced;

// Powers of two that make the entries of `row_scale W column_scale` about 1; the return value does
// the same for the right-hand side. `scratch` has 2 row_count numbers.
double cni_lcp_scales(const CnProblem *p, double *row_scale, double *column_scale, double *scratch);

// Room for problems of p's size. Only this can fail.
CnStatus cni_reduced_reserve(CniReduced *r, const CnProblem *p);
// Fill the tableau: all w basic, all z nonbasic (column k + 1 is z_k).
void cni_reduced_load(CniReduced *r, const CnProblem *p);
// Impulses of the tableau's basic solution to g (the problem's rows).
void cni_reduced_answer(const CniReduced *r, double *g);

// ---- lemke.c ----

typedef enum CniPathEnd {
  CNI_PATH_SOLVED = 0,
  CNI_PATH_RAY,  // nothing blocks the entering variable
  CNI_PATH_LIMIT // more pivots than allowed
} CniPathEnd;

// Follow Lemke's path from w = q + M z + cover z0 (null: all ones); the tableau has room for one
// more column. `pivots` is increased. `delayed` is null, or memory for pivots kept back: then only
// the constants of the tableau are valid afterwards. On a ray the direction of z goes to `ray`, one
// number a pair; `ray` may be `cover`.
CniPathEnd cni_lemke_path(CniTableau *t, const double *cover, double *delayed, int32_t max_pivots,
                          int32_t *pivots, double *ray);

// ---- active.c ----

typedef struct CniActive {
  CnAllocator allocator;
  CniBlockMemory numbers, indices;
  const CniDenseKernels *kernels;
  double *a, *x, *u;
  int32_t *pivot, *index, *place;
  uint8_t *wrong;
  double proximal; // relative to the largest entry
  int32_t count;   // active rows
} CniActive;

CnStatus cni_active_reserve(CniActive *s, const CnProblem *p);

// g with u = 0 on the active rows (equality rows are to be among them), 0 on the others. Returns 0
// where their matrix is singular.
int cni_active_solve(CniActive *s, const CnProblem *p, const uint8_t *active, double *g);

// Search for the active rows, from those with an impulse in `start` or, where it is zero, a
// negative q. 1: `active` and g hold a solution, not refined. `steps` is increased.
int cni_active_search(CniActive *s, const CnProblem *p, const double *start, int32_t max_steps,
                      uint8_t *active, double *g, int32_t *steps);

// ---- branch.c ----

typedef enum CniBranchEnd {
  CNI_BRANCH_FOUND = 0, // the tableau's basic solution is complementary
  CNI_BRANCH_NONE,      // there is no (other) solution
  CNI_BRANCH_LIMIT      // more pivots than allowed
} CniBranchEnd;

// A search through the cases w_k = 0 or z_k = 0 of a tableau.
typedef struct CniBranch {
  CnAllocator allocator;
  CniBlockMemory memory;
  CniTableau *t;
  double *numbers;           // per open pair: the tableau before its first case
  int32_t *indices, *other;  // and its variables; the variable of its second case
  uint8_t *fixed, *fixed_at; // variables fixed at zero, now and per open pair
  size_t level_numbers, level_indices;
  int32_t depth, pivots, max_pivots;
} CniBranch;

CnStatus cni_branch_reserve(CniBranch *b, const CniTableau *t);
// Start with a tableau as loaded; go on after a solution that was not good enough.
CniBranchEnd cni_branch_start(CniBranch *b, CniTableau *t, int32_t max_pivots);
CniBranchEnd cni_branch_next(CniBranch *b);

// ---- newton.c ----

#define CNI_NEWTON_MEMORY 5 // merits a step is compared with

typedef struct CniNewton {
  CnAllocator allocator;
  CniBlockMemory numbers, indices;
  const CniDenseKernels *kernels;
  double *m, *j, *c;              // the scaled matrix, the Jacobian, its square; by rows
  double *q, *z, *w, *phi, *step; // all scaled
  double *gradient, *z_new, *w_new, *phi_new;
  double *row_scale, *column_scale, scale;
  double *da, *db;                  // derivatives of phi by z and by w
  double merits[CNI_NEWTON_MEMORY]; // of the last steps
  int32_t *pivot;
  uint8_t *equality;
  int32_t n, stride, merit_count;
} CniNewton;

CnStatus cni_newton_reserve(CniNewton *s, const CnProblem *p);
// Load a problem; then step from any start.
void cni_newton_load(CniNewton *s, const CnProblem *p);
void cni_newton_start(CniNewton *s, const double *g);
// One step; 0 if there is no further progress.
int cni_newton_step(CniNewton *s);
void cni_newton_answer(const CniNewton *s, double *g);

// ---- lcp.c: one attempt at a problem ----

// Working memory of the solvers of complementarity problems.
typedef struct CniLcpWork {
  CnAllocator allocator;
  CniReduced reduced;
  CniActive active;
  CniBranch branch;
  CniNewton newton;
  CniBlockMemory vectors;
  double *g, *u, *trial, *spare; // one number a row
  double *best_g, *best_u;       // the best answer so far, for those who try more than once
  uint8_t *flags;                // one a row
  double deadline;               // on cni_seconds, 0: none
  int32_t cut;                   // 1: the time was over
} CniLcpWork;

// What came of an attempt; impulses and velocities are in the work's g and u.
typedef struct CniAttempt {
  CniPathEnd end;
  double error; // cni_problem_error
  int32_t pivots;
  int32_t hopeless; // 1: it is proved that there is no solution
} CniAttempt;

void cni_lcp_work_init(CniLcpWork *k, const CnAllocator *allocator);
CnStatus cni_lcp_work_reserve(CniLcpWork *k, const CnProblem *p);
void cni_lcp_work_release(CniLcpWork *k);
// A solve begins: its time budget in seconds, 0: none. Is it over? Remembered in k->cut.
void cni_lcp_work_begin(CniLcpWork *k, double time_budget);
int cni_lcp_work_late(CniLcpWork *k);

// Covering vectors of Lemke's path: 0 is all ones, others are fixed sequences of numbers in [1, 2).
CnStatus cni_lcp_lemke(CniLcpWork *k, const CnProblem *p, int32_t cover, int32_t max_pivots,
                       double tolerance, CniAttempt *attempt);

// The search of active.c from the given impulses.
CnStatus cni_lcp_active(CniLcpWork *k, const CnProblem *p, const double *start, int32_t max_steps,
                        double tolerance, CniAttempt *attempt);

// Newton's method of newton.c from the given impulses.
CnStatus cni_lcp_newton(CniLcpWork *k, const CnProblem *p, const double *start, int32_t max_steps,
                        double tolerance, CniAttempt *attempt);

// The cases of branch.c, until a solution is within the tolerance. CNI_PATH_RAY here: there is
// none.
CnStatus cni_lcp_branch(CniLcpWork *k, const CnProblem *p, int32_t max_pivots, double tolerance,
                        CniAttempt *attempt);

#endif
