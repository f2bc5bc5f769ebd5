// SPDX-License-Identifier: Apache-2.0
// What the first-order methods share: the gradient of the step problem, matrix-free, and steps
// along it that end in the sets.
//
// The convex problem is min f(g) = 1/2 g^T N g + r^T g over g in K, N = E M^-1 E^T + C. Its
// gradient is u = E v + b + C g at v = v_free + M^-1 E^T g: one pass over the blocks that scatters
// impulses to momenta E^T g, one over the groups, one over the blocks that gathers velocities and
// makes the step. Contacts between two points lie in batches of eight lanes (problem/batches.h), as
// with psor; any other block is a list of sparse rows.
//
// Impulses x are kept in the order of the batches: four lines of eight doubles a contact (normal,
// then the tangential impulse as a vector in space), so that whole vectors can be added without
// regard to blocks. The normal impulse of a cohesive contact stands for g_n + c.
//
// Steps are taken in the metric D, the diagonal of N with one number for each disc of a block: a
// cone stays a cone of one axis under it, and the projection stays a formula. In place of masses of
// any size the method sees a matrix of unit diagonal.
//
// Coulomb's law is the convex problem with u_n + s for u_n, s = mu |u_t|: s is kept per block, and
// the callers bring it up to date between convex problems.
//
// E^T g of a vector x is called its image. It is linear in x, so that a combination of vectors
// costs one pass over the groups instead of one over the blocks. In the explicit form the image is
// W g.
#ifndef CNI_SOLVER_GRADIENT_H
#define CNI_SOLVER_GRADIENT_H

#include "solver/sweeps/psor.h"

typedef enum CniGradientKind {
  CNI_GRADIENT_SPHERE = 0,
  CNI_GRADIENT_SPHERE_FULL, // with belt speed or compliance
  CNI_GRADIENT_PAIR,
  CNI_GRADIENT_PAIR_FULL,
  CNI_GRADIENT_LANE_KINDS,
  CNI_GRADIENT_ROWS = CNI_GRADIENT_LANE_KINDS,
  CNI_GRADIENT_KIND_COUNT
} CniGradientKind;

// What a pass over the blocks does.
typedef enum CniGradientPassKind {
  CNI_PASS_STEP = 0,  // out = P(y - t D^-1 u(y)), y = x + beta (x - x_old); image += E^T out
  CNI_PASS_DIRECTION, // out = P(x - t D^-1 u(x)) - x; image += E^T out
  CNI_PASS_LOOK,      // residuals of x
  CNI_PASS_SHIFT,     // s <- mu |u_t(x)| where it slips by more than t
  CNI_PASS_SCATTER,   // image += E^T x
  CNI_PASS_COUNT
} CniGradientPassKind;

// Lines of constants of a contact.
enum {
  CNI_GRAD_N = 0,      // 3
  CNI_GRAD_B_N = 3,    //
  CNI_GRAD_S = 4,      // shift
  CNI_GRAD_MU = 5,     //
  CNI_GRAD_D_N = 6,    // metric
  CNI_GRAD_D_T = 7,    //
  CNI_GRAD_I_N = 8,    // their inverses
  CNI_GRAD_I_T = 9,    //
  CNI_GRAD_TIP = 10,   // 1/(d_n + mu^2 d_t)
  CNI_GRAD_SCALE = 11, // trace(N_ii)/dim, of the residual
  CNI_GRAD_ARM = 12,   // two radii, or two arms
  CNI_GRAD_LINES_SPHERE = 14,
  CNI_GRAD_LINES_PAIR = 18,
  CNI_GRAD_B_T = 0, // 3, after those of the storage: full
  CNI_GRAD_C_N = 3,
  CNI_GRAD_C_T = 4,
  CNI_GRAD_LINES_FULL = 5
};
#define CNI_GRAD_IMPULSES 4 // lines of x a contact has
#define CNI_GRAD_SUMS 3
#define CNI_GRAD_STICKS .999999 // of the friction bound, below which a contact sticks

// What a step over some blocks found: sums, or maxima of a check. One double a lane, so that the
// width of the machine does not show.
//   step:      |out - y|^2 in D, (y - out).D (out - x), |out - y|^2 in C
//   direction: |out|^2 in D, (u + s).out, |out|^2 in C
//   check:     largest residual; the same with s as it is kept
typedef struct CniGradientSums {
  CniPsorLine line[CNI_GRAD_SUMS];
} CniGradientSums;

// Arguments of a pass over `count` batches of `length` contacts from `data` on.
typedef struct CniGradientPass {
  const CniPsorGroup *groups; // velocities
  CniPsorGroup *image;        // written
  CniPsorLine *data;
  int32_t empty, count, length;
  const double *x, *x_old;
  double *out;
  double t, beta, coulomb;
  CniGradientSums *sums;
} CniGradientPass;
typedef void (*CniGradientKernel)(const CniGradientPass *pass);
typedef struct CniGradientKernels {
  CniGradientKernel pass[CNI_GRADIENT_LANE_KINDS][CNI_PASS_COUNT];
} CniGradientKernels;
const CniGradientKernels *cni_gradient_kernels(CniSimdLevel level); // null: not built

int32_t cni_gradient_lines(int32_t kind);

// ---- sparse rows ----

typedef struct CniGradientEntry {
  CnTwist e;
  int32_t group, row; // ~group without mass
} CniGradientEntry;

typedef struct CniGradientRows {
  CniCone cone;                                // of the block, coefficients in the metric D
  double b[CNI_MAX_DIM], c[CNI_MAX_DIM];       //
  double d[CNI_MAX_DIM], stretch[CNI_MAX_DIM]; // metric; its roots relative to the first
  double shift, scale, lo, hi;                 //
  double mu[3];                                // of the discs
  int32_t entry_begin, entry_end, place, block, dim, kind;
} CniGradientRows;

// Neighbouring batches of one kind and length.
typedef struct CniGradientRun {
  int32_t kind, length, count;
  int32_t begin;        // first batch, or first block of rows
  size_t offset, place; // first line of constants, first double of x
} CniGradientRun;

typedef struct CniGradient {
  CnAllocator allocator;
  CnTasks *tasks;
  CniSimdLevel level;
  const CnProblem *p;
  const CniGradientKernels *kernels;
  double coulomb; // 1 or 0
  CniSchedule schedule;

  uint8_t *kinds;
  CniPsorLine *lines;
  CniGradientRun *runs;
  CniGradientRows *rows;
  CniGradientEntry *entries;
  CniPsorGroup *velocity; // of the point of the last cni_gradient_point, one more than groups
  CnTwist *base;          // v_free, and what cohesion makes of it
  double *chunk_sums;     // of passes over groups and vectors
  int32_t kind_capacity, line_capacity, run_capacity, rows_capacity, entry_capacity;
  int32_t velocity_capacity, base_capacity, chunk_capacity;
  int32_t run_count, rows_count, column_count; // columns with the rest
  int32_t *run_start;
  CniGradientSums *sums; // one a column
  int32_t run_start_capacity, sums_capacity;

  int32_t size;       // doubles of a vector, a multiple of eight
  int32_t image_size; // doubles of an image
  double free_speed;  // largest |r_i|, no less than the problem's speed
} CniGradient;

void cni_gradient_init(CniGradient *s, const CnAllocator *allocator, CnTasks *tasks);
void cni_gradient_release(CniGradient *s);

// ---- gradient_prepare.c ----

// The constants of all blocks, shifts zero.
CnStatus cni_gradient_prepare(CniGradient *s, const CnProblem *p);
// x from impulses of the problem, projected on the sets; and back.
void cni_gradient_load(CniGradient *s, const double *g, double *x);
void cni_gradient_store(const CniGradient *s, double *x, double *g);

// ---- gradient.c ----

// image = E^T x (W x)
void cni_gradient_image(CniGradient *s, const double *x, double *image);
// Take v at y = x + beta (x - x_old), for the passes that follow; image_old may be null if beta is
// 0.
void cni_gradient_point(CniGradient *s, const double *image, const double *image_old, double beta);

// Passes over the blocks at the point that was taken. Sums as told above.
// out with its image.
void cni_gradient_step(CniGradient *s, const double *x, const double *x_old, double beta, double t,
                       double *out, double *image, double sums[CNI_GRAD_SUMS]);
void cni_gradient_direction(CniGradient *s, const double *x, double t, double *out, double *image,
                            double sums[CNI_GRAD_SUMS]);
void cni_gradient_check(CniGradient *s, const double *x, double *residual, double *kept);
// s <- max(0, mu |u_t| - noise) where x is at the bound of friction, 0 where it sticks.
void cni_gradient_shift(CniGradient *s, const double *x, double noise);

// d^T (N - C) d of d = a - y, y = b + beta (b - c), each with its image; b and c may be null.
typedef struct CniGradientVector {
  const double *x, *image;
} CniGradientVector;
double cni_gradient_curvature(CniGradient *s, CniGradientVector a, CniGradientVector b,
                              CniGradientVector c, double beta);

// y += factor x, elementwise, for vectors and images.
void cni_gradient_add(CniGradient *s, int32_t size, double factor, const double *x, double *y);

// ---- gradient_rows.c: passes over blocks of rows [begin, end) ----
void cni_gradient_rows(const CniGradient *s, CniGradientPassKind kind, const CniGradientPass *pass,
                       int32_t begin, int32_t end);

#endif
