// SPDX-License-Identifier: Apache-2.0
// Problems with cones by Newton's method: what ipm, newton and auto share.
//
// The problem is scaled first: block i of g is divided by sigma_i kappa and block i of u multiplied
// by sigma_i / kappa, with sigma_i = 1/sqrt(trace(N_ii)/dim) and kappa the largest |sigma_i r_i|. A
// factor common to the rows of a block changes neither cones nor laws; afterwards every diagonal
// block has trace/dim 1 whatever the masses, and the largest right-hand side is 1. From here on g,
// u, r and N are the scaled ones.
//
// A step of any Newton method here is, block by block, A_i du_i + B_i dg_i = c_i with du = N dg.
// Explicit problems: (A W + B) dg = c. Step problems keep the velocities of the groups as unknowns
// (in units in which M = I): [I, -F^T; A F, A C + B] (dv, dg) = (0, c), F = sigma E M^-1/2, so that
// N is never formed.
#ifndef CNI_SOLVER_CONES_H
#define CNI_SOLVER_CONES_H

#include "problem/problem.h"
#include "sparse/sparse.h"

typedef struct CniConeBlock {
  CniCone cone;   // cohesion scaled; discs without friction left out
  double lo, hi;  // of intervals, scaled
  double sigma;   // 0: no inverse mass, nothing can be changed
  int32_t row;    // first row
  int32_t matrix; // first number of its dim x dim blocks in a and b
  uint8_t dim, kind;
  uint8_t fixed; // bit d: row d is held at zero
  uint8_t reserved;
} CniConeBlock;

// Where the matrix is small and full (cones_dense.c): its rows, of multiples of eight numbers.
typedef struct CniConesDense {
  double *w, *values; // scaled W, null: it is not full; A W + B and its factors
  double *g;          // work: impulses
  int32_t *pivot;
  int32_t stride;
} CniConesDense;

typedef struct CniCones {
  CnAllocator allocator;
  CniArena arena;
  CniLu *lu;
  const CnProblem *p;
  CniConeBlock *blocks;
  CniLuGraph graph;
  int32_t *node_size, *node_start, *node_column; // of the graph
  int64_t *node_value;                           // first number of a node's blocks
  int32_t *group_node;                           // per group of a step problem, -1: prescribed
  double *base, *values;   // numbers of the matrix with A = I, B = 0; with any
  double *a, *b;           // A and B, block by block
  double *r;               // right-hand side, scaled
  double *compliance;      // scaled, step problems only
  double *v, *x;           // work: velocities, solutions
  int32_t *first_velocity; // per node of velocities
  double *velocity;        // work: velocities of a global problem
  double *g_out, *u_out;   // work: unscaled
  CniConesDense dense;
  double kappa;
  double speed; // largest |r_i| unscaled
  int32_t n, block_count, matrix_count;
  int32_t group_nodes, velocities; // nodes of velocities, and their rows
  int32_t convex;
  double *result; // see cni_cones_finish
  int32_t result_capacity;
  int32_t cut;     // 1: the time was over, see cni_cones_late
  double deadline; // on cni_seconds, 0: none; loading a problem sets it to that
} CniCones;

CnStatus cni_cones_create(const CnAllocator *allocator, CniCones **cones);
void cni_cones_destroy(CniCones *cones);

// Load a problem (borrowed; a global one prepared) and order its matrix.
CnStatus cni_cones_load(CniCones *c, const CnProblem *p);

// The end of a solve: impulses of the problem from scaled ones to c->result, everything else is let
// go. Memory is brought into one piece here, so that the next solve of this size asks for none.
CnStatus cni_cones_finish(CniCones *c, const double *g);

// Impulses in and out of the scaled units.
void cni_cones_import(const CniCones *c, const double *g, double *scaled);
void cni_cones_export(const CniCones *c, const double *scaled, double *g);

// u = N g + r
void cni_cones_velocity(CniCones *c, const double *g, double *u);
// Factor A N + B from c->a, c->b; 0: singular.
int cni_cones_factor(CniCones *c);
// x <- (A N + B)^-1 x
void cni_cones_solve(CniCones *c, double *x);

// How many factors there are in so much work, in numbers of factors: 10 to `most`.
int32_t cni_cones_afford(const CniCones *c, double work, int32_t most);
// Multiplications and additions of a step of Newton's method or of the interior point.
double cni_cones_flops(const CniCones *c);
// Steps of a last attempt: `most`, fewer where factors are large.
int32_t cni_cones_steps(const CniCones *c, int32_t most);
// The same with a right-hand side for the velocities: x is velocities, then rows.
void cni_cones_solve_all(CniCones *c, double *x);
// w = F^T g, and u = F w + C g + r, of problems whose velocities are nodes.
void cni_cones_momentum(const CniCones *c, const double *g, double *w);
void cni_cones_rows(const CniCones *c, const double *w, const double *g, double *u);

// Is the time over? Remembered in c->cut. For time budgets only.
int cni_cones_late(CniCones *c);

// x <- P_K(x) of a block.
void cni_cones_project(const CniCones *c, int32_t block, double *x);

// The error that decides (CnSolveReport) of scaled impulses with u = N g + r.
double cni_cones_error(CniCones *c, const double *g, const double *u);

// ---- cones_dense.c ----

int cni_cones_is_full(const CnProblem *p);
CnStatus cni_cones_dense_load(CniCones *c);
void cni_cones_dense_velocity(CniCones *c, const double *g, double *u);
int cni_cones_dense_factor(CniCones *c);
void cni_cones_dense_solve(CniCones *c, double *x);

// ---- cone_laws.c ----

// State of a contact by Coulomb's law: open is 0; disc j slips: CNI_CONE_SLIPS << j.
#define CNI_CONE_CLOSED 1u
#define CNI_CONE_SLIPS 2u

// y = g - u of a block, the normal one with its cohesion; the state it says.
void cni_cone_y(const CniConeBlock *block, const double *g, const double *u, double *y);
uint32_t cni_cone_state(const CniConeBlock *block, const double *y);

// The rows of block i of the equations f = 0 at (g, u), in a given state or (null) that of y, and
// where asked their derivatives, to c->a and c->b.
void cni_cone_rows(CniCones *c, int32_t i, const uint32_t *state, const double *g, const double *u,
                   double *f, int derive);

// ---- cone_newton.c ----

typedef struct CniConeNewton {
  CniCones *c;
  double *g, *u, *f;             // where it is: impulses, velocities, the function
  double *g_new, *u_new, *f_new; // where it goes
  double *step;
  double *best;        // impulses of the least error
  double *anchor;      // of the proximal problem
  double error, merit; // of best; 1/2 |f|^2 at g
  double proximal;     // delta
  double least;        // of it
} CniConeNewton;

CnStatus cni_cone_newton_init(CniConeNewton *m, CniCones *c);
// Start from scaled impulses.
void cni_cone_newton_start(CniConeNewton *m, const double *g);
// About `steps` steps at most, until the error is at most `tolerance` or there is no progress;
// returns how many were made. Only a stubborn one goes on with a stiffer proximal term after steps
// that were no good.
int32_t cni_cone_newton_run(CniConeNewton *m, int32_t steps, int32_t stubborn, double tolerance);

// ---- cone_path.c ----

// Does the path take these blocks? Coulomb's law, joints and limits; no intervals.
int cni_cone_path_takes(const CniCones *c);
// From scaled impulses `g` to better ones, in g, with about so many factorisations at most; their
// error to *error, what was factored to *made.
CnStatus cni_cone_path(CniCones *c, double tolerance, int32_t most, double *g, double *error,
                       int32_t *made);

// ---- cone_ipm.c ----

typedef struct CniIpmRule {
  double tolerance;
  int32_t max_iterations;
  int32_t polish; // 1: Newton steps as soon as they might end it
} CniIpmRule;

typedef struct CniIpmEnd {
  int32_t iterations, newton_steps;
  int32_t stalled;
  double error;
} CniIpmEnd;

// From scaled impulses `g` (0: cold) to the best found, in g.
CnStatus cni_cone_ipm(CniCones *c, const CniIpmRule *rule, double *g, CniIpmEnd *end);

// ---- row_ipm.c: problems without friction, as in the paper ----

typedef enum CniRowStart { CNI_START_DAPUZZO = 0, CNI_START_NOCEDAL } CniRowStart;
typedef enum CniRowWarm { CNI_WARM_NONE = 0, CNI_WARM_PARTIAL, CNI_WARM_FULL } CniRowWarm;

typedef struct CniRowIpmRule {
  CniRowStart start;
  CniRowWarm warm;
  int32_t max_iterations;
  int32_t units; // 1: the criteria are in the problem's units, 0: the scaled problem's
} CniRowIpmRule;

// Are all blocks bilateral, unilateral or frictionless, and the velocities nodes?
int cni_row_ipm_takes(const CniCones *c);
// From scaled impulses `g` (read by the full warm start) to the answer, in g. `velocity`: scaled
// velocities beyond the free ones for the partial one. Stops by the criteria of the paper;
// `error` of the end is not filled.
CnStatus cni_row_ipm(CniCones *c, const CniRowIpmRule *rule, const double *velocity, double *g,
                     CniIpmEnd *end);

#endif
