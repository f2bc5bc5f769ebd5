// SPDX-License-Identifier: Apache-2.0
// Joints solved exactly: S x = c with S = E M^-1 E^T + C over the rows of two-sided constraints of
// rigid bodies, as blocks of a joint's rows, by L D L^T in a time linear in chains, trees and hubs.
//
// A block has up to six rows and a list of sides: a body with the coefficients of its velocity and
// spin. Two blocks are neighbours where they share a body with mass. A body with many blocks (a
// hub) would make all of them neighbours; it is kept as a node of its own instead, with six
// velocities w = K^T E_h^T x, K K^T = M_h^-1:
//
//     [ S'          E_h K ] [ x ]   [ c ]      S' : S without the hub
//     [ K^T E_h^T   -1    ] [ w ] = [ 0 ]
//
// Order and pattern are a function of the structure (who shares a body with whom) and are found
// once; values may then be factored and solved with as often as one likes without allocating.
// Connected parts (islands) are independent of each other and run in parallel, with the same bits
// for any number of workers.
//
// Rows that depend on others (a door on three hinges) make S singular. A row whose pivot is lost, less
// than CNI_DIRECT_LOST of its diagonal (and of what a mass without inertia has, direct_kernels.inc), is left out: the others give a solution x, and all of them, if
// what the row asks for agrees with what the others ask for. Among all solutions it is then the one of
// least sum D_i x_i^2 that is given: a machine whose loads lie in its plane has it already, which one
// substitution tells; else x loses its part along the vectors n with S n = 0, one a row left out; where
// these take too much room S + shift D is factored, and (shift (S + shift D)^-1 D)^3 leaves of x what is
// to be taken away. Where c contradicts itself conjugate gradients from zero with that factor find the x
// that leaves least, once what no x can give is taken out of c. D_i is the sum of the inverse masses of
// the row's bodies where the row moves points (times the square of its direction, 1), and its diagonal
// in S where it only turns: so the norm is that of bearings of equal stiffness, whatever their lever
// arms.
#ifndef CNI_SPARSE_DIRECT_H
#define CNI_SPARSE_DIRECT_H

#include <cairn/base.h>

#include "core/memory.h"

#define CNI_DIRECT_LOST 1e-9  // pivot over diagonal below which a row counts as dependent
#define CNI_DIRECT_SHIFT 1e-7 // of D, in islands with such rows

typedef struct CniDirectBody {
  double inv_mass;    // 0: has no sides (prescribed velocities are the caller's)
  CnSym3 inv_inertia; // world axes, positive semidefinite
} CniDirectBody;

typedef struct CniDirectBlock {
  int32_t row, dim;         // its rows of c, x and compliance
  int32_t side, side_count; // its sides, each body once
} CniDirectBlock;

typedef struct CniDirectSide {
  int32_t body;
  int32_t at; // first of its `dim` coefficients in `e`
} CniDirectSide;

// What is factored; all arrays are the caller's, and stay until the last solve.
typedef struct CniDirectSystem {
  const CniDirectBody *bodies;
  const CniDirectBlock *blocks;
  const CniDirectSide *sides;
  const CnTwist *e;         // row . (velocity, spin); null: F is given (below)
  const double *compliance; // diagonal of C, by row; null: 0
  int32_t body_count, block_count, side_count;
  int32_t row_count;      // length of c, x and compliance: rows of no block are not touched
  const int32_t *columns; // with F: of each side,
  const double *diagonal; // and by rows, what pivots are compared with
} CniDirectSystem;

typedef struct CniDirect CniDirect;

CnStatus cni_direct_create(const CnAllocator *allocator, CniDirect **direct);
void cni_direct_destroy(CniDirect *direct); // null is allowed

// Order and pattern; nothing if the structure is the one of the call before. The only call that
// allocates. After a failure there is no structure.
CnStatus cni_direct_shape(CniDirect *direct, const CniDirectSystem *system);

// Is the factor of a size to be used? Joints that form a lattice in space have so much fill that
// other methods are better; nothing but shape and fits may be called then.
int cni_direct_fits(const CniDirect *direct);

// Rows are left out whose pivots are less than that share of their diagonals, instead of CNI_DIRECT_LOST:
// round-off of a pivot grows along a row of loops.
void cni_direct_leave_out(CniDirect *direct, double share);

// 1: later factors leave out the rows that the last one has left out, and no others; 0: each tells for itself.
void cni_direct_impose(CniDirect *direct, int on);

// Factor the values of a system of that structure. tasks may be null.
void cni_direct_factor(CniDirect *direct, const CniDirectSystem *system, CnTasks *tasks);
// The same values once more: what follows does not depend on what was solved before.
void cni_direct_again(CniDirect *direct);

// x = S^-1 c (x may be c), islands [begin, end): one back-substitution, and in islands with dependent
// rows half of one more, or what the norm or a contradiction takes. Islands may be solved by several threads.
void cni_direct_solve(CniDirect *direct, const double *c, double *x, int32_t begin, int32_t end);
// All islands, without the refinement that small pivots ask for: for those who look at what is left.
void cni_direct_solve_once(CniDirect *direct, const double *c, double *x);
// In less time: where rows depend on others x is any of the solutions, and among those with the
// same S x the one of least norm.
void cni_direct_solve_some(CniDirect *direct, const double *c, double *x, int32_t begin,
                           int32_t end);
void cni_direct_least(CniDirect *direct, double *x, int32_t begin, int32_t end);
// Any solution, by one substitution; rows left out are not asked whether they agree with the others: for a method
// that looks at what is left itself.
void cni_direct_solve_basic(CniDirect *direct, const double *c, double *x, int32_t begin,
                            int32_t end);
// Numbers of an island's c are differences of numbers so large: rows that differ by their round-off agree.
void cni_direct_expect(CniDirect *direct, int32_t island, double size);
// The same for all islands, and at least `steps` refinements each.
void cni_direct_refine(CniDirect *direct, const double *c, double *x, int32_t steps,
                       CnTasks *tasks);
// w (n x n, by rows, upper half) loses C^T S^-1 C. Column i of C is the sum of entries [start[i], start[i + 1]),
// what motions of the bodies make of the rows, so that rows which depend on others agree with them. Half a
// substitution a column, eight at a time, in the parts of the mechanism that it reaches.
typedef struct CniDirectEntry {
  int32_t row;
  double value;
} CniDirectEntry;
CnStatus cni_direct_eliminate(CniDirect *direct, CniArena *room, int32_t n, const int32_t *start,
                              const CniDirectEntry *entries, double *w);
int32_t cni_direct_islands(const CniDirect *direct);

// Blocks of an island: places [begin, end) of the list cni_direct_blocks.
void cni_direct_island(const CniDirect *direct, int32_t island, int32_t *begin, int32_t *end);
const int32_t *cni_direct_blocks(const CniDirect *direct);

// What of c no x can give in an island, to the rows of `part` (0 where all rows are independent);
// returns the largest. *proof (null: not asked for, in less time): S x = c takes x^T S x of at least the square of so many times the largest
// |c_i|/sqrt(S_ii), which is the motion that one row alone asks for.
double cni_direct_contradiction(CniDirect *direct, const double *c, int32_t island, double *part,
                                double *proof);

// Rows that depend on rows before them in the order of elimination, ascending, at most `capacity`
// of them; returns how many there are. The degrees of freedom are six a body less the rows that do not.
int32_t cni_direct_dependent(const CniDirect *direct, int32_t *rows, int32_t capacity);

// Systems whose S is given as the sum of F F^T over the sides of blocks, F with up to six columns a side: a
// "body" is then whatever its columns stand for. Six lines of eight numbers a side, of each of its columns
// the rows of the block; written before each factorisation.
double *cni_direct_lines(CniDirect *direct);
// x = S^-1 c of such a system, all islands. Rows that depend on others have 0; returns 0, and nothing to x,
// where what they ask for does not agree with what the others do.
int cni_direct_solve_lines(CniDirect *direct, const double *c, double *x);
// How many rows depend on others in such a system.
int32_t cni_direct_lost(const CniDirect *direct);
// For every n with S n = 0 that a row left out stands for: n.z, kept as the size of n; and is n.y at most
// `bound` of that?
void cni_direct_measure_null(CniDirect *direct, const double *z);
int cni_direct_is_beside_null(CniDirect *direct, const double *y, double bound);
// Multiplications of a factorisation.
double cni_direct_work(const CniDirect *direct);

// Numbers of memory of the factor: how sparse it is.
int64_t cni_direct_numbers(const CniDirect *direct);

#endif
