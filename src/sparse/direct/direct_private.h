// SPDX-License-Identifier: Apache-2.0
// What the two files of the direct solution of joints share: structure and numbers.
//
// Nodes are the blocks, then the hubs. Numbers of elimination are places. Column k of the factor is
// one panel of blocks: its own, then those of the places in its pattern, ascending. A block is
// dim[k] lines, its columns, of eight numbers: its rows, zeros where it has fewer. Vectors by places
// have a line each, too. Islands are consecutive places.
#ifndef CNI_SPARSE_DIRECT_PRIVATE_H
#define CNI_SPARSE_DIRECT_PRIVATE_H

#include "core/simd/simd.h"
#include "sparse/direct.h"

#define CNI_DIRECT_DIM 6
#define CNI_DIRECT_LINE 8
#define CNI_DIRECT_NOTHING 1e-15 // of the diagonal: no pivot even with the shift
#define CNI_DIRECT_FELT 0.01     // of the share that the mass alone has: a pivot of its own,
#define CNI_DIRECT_ROUND 1e-3    // of the least share, below which all is round-off
#define CNI_DIRECT_POOR 1e-4     // pivots of less than that ask for a refinement

// What two sides add to a panel: F of one times F of the other. -1: the hub.
typedef struct CniDirectLink {
  int32_t side_row, side_column;
  int32_t block; // of the panel
} CniDirectLink;

// K of a body, K K^T = M^-1: a number for the velocity, a lower triangle for the spin.
typedef struct CniDirectRoot {
  double move, turn[6]; // xx, yx, yy, zx, zy, zz
  double reserved;
} CniDirectRoot;

// How the solutions of an island are found, beyond one substitution.
#define CNI_DIRECT_REFINED 1 // once: some pivots are small
#define CNI_DIRECT_BASIC 2   // rows that depend on others are left out

typedef struct CniDirectKernels CniDirectKernels;

struct CniDirect {
  CnAllocator allocator;
  CniArena arena;      // everything but `pattern`
  int32_t valid;       // 1: there is a structure
  int32_t too_large;   // 1: but its factor would be
  double least_pivot;  // of its diagonal: rows with less are left out
  CniDirectSystem now; // of the last factorisation

  // the structure it was made for
  CniDirectBlock *blocks;
  CniDirectSide *sides;
  uint8_t *thin; // per body, with hubs: its inverse inertia is singular
  int32_t body_count, block_count, side_count, row_count;

  // nodes and their order
  int32_t *hubs; // their bodies
  int32_t hub_count, node_count;
  int32_t *hub_of;          // per body: hub, -1: none
  int32_t *order;           // per place: node
  int32_t *place;           // per node
  int32_t *side_block;      // per side
  int32_t island_count;     //
  int32_t *island_start;    // places
  int32_t *block_start;     // per island: in block_list
  int32_t *block_list;      // blocks of islands, each ascending
  int32_t *first_side;      // per body
  int32_t *dim;             // per place: rows
  int32_t *start;           // per place: its pattern
  int32_t *pattern;         // places below
  int32_t pattern_capacity; //
  int64_t *panel;           // per place: lines in value
  int32_t *link_start;      // per place
  CniDirectLink *links;     //
  int64_t line_count, size; // of value; numbers of vectors by places
  double work;              // multiplications of a factor

  // the numbers
  const CniDirectKernels *kernels;
  double *value;
  CniDirectRoot *roots;      // per body
  double *f;                 // per side: F = e K, six lines, the rows of the joint in each
  double *inverse;           // of pivots, by places
  double *diagonal, *weight; // of S and D, by places
  uint8_t *lost;             // rows that depend on others, by places
  uint8_t *imposed;          // the rows to be left out, where `imposes`
  int32_t imposes;           //
  uint8_t *care;             // per island: CNI_DIRECT_REFINED, CNI_DIRECT_BASIC
  double *value_shifted;     // the factor of S + shift D, where it was asked for,
  double *inverse_shifted;   // its pivots,
  double *shift;             // and per island its shift; 0: there is none
  double *asked, *given;     // per island: largest of c and of x^T D x since S was factored
  double *scale;             // by places, of rows left out: the norm of their n
  uint8_t *scaled;           // per island: they are there
  double *y;                 // solutions by places, and vectors of conjugate gradients
  double *residual, *step, *image, *sum;
  CnTwist *moved; // per body: momenta, then velocities that a solution gives

  int32_t *first_row; // per place: rows before it
  int32_t *branch;    // per place: where it is when branches of the tree come one after the other

  // vectors n with S n = 0, one a row left out: direct_least.c
  double *null;        // lines of n, then the factor of N^T D N
  int32_t *null_place; // places of those lines
  int32_t *null_row;   // rows left out, by branches
  int32_t *null_first; // of each: its first number in the factor of N^T D N
  // per chunk of an island: where its places, lines and rows begin
  int32_t *null_chunk, *null_line, *null_begin;
  int32_t *null_at;                // per place: its line in the chunk at hand, -1: zeros
  int32_t *null_count, *null_lost; // per island: chunks, -1: they take too much room; rows
  uint8_t *null_known, *null_used; // per island: they were looked for; solutions go by them
};

// Values of S (+ shift D), L D L^T with pivots above `least` of their diagonals, x <- L^-1 x and
// x <- L^-T D^-1 x, of one island; the same bits at any level. Null where a level was not built.
struct CniDirectKernels {
  void (*values)(CniDirect *d, int32_t island, double shift);
  int32_t (*factor)(CniDirect *d, int32_t island, double least); // returns the care it takes
  void (*forward)(const CniDirect *d, int32_t island, double *x);
  void (*backward)(const CniDirect *d, int32_t island, double *x);

  // Eight right-hand sides side by side, a line a row of a place: those of place k are subtracted from what
  // follows (line first_row[k] on in y), and the lines of place k from those of later places, which begin
  // at lines `at` of y, -1: zeros.
  void (*forward_lanes)(const CniDirect *d, int32_t k, double *y);
  void (*backward_lanes)(const CniDirect *d, int32_t k, const int32_t *at, double *y);
  // w (eight lines) += a^T diag(f) b over `n` lines; w += a^T (f x); x -= a w.
  void (*join)(double *w, const double *a, const double *b, const double *f, int32_t n);
  void (*along)(double *w, const double *a, const double *f, const double *x, int32_t n);
  void (*take_away)(const double *w, const double *a, double *x, int32_t n);
};
const CniDirectKernels *cni_direct_kernels(CniSimdLevel level);

// Of all y with the same S y the one of least norm, by the vectors n of the rows left out. Returns 0, and
// nothing was done, where these take more room than there is.
int cni_direct_project(CniDirect *d, int32_t island);

// Lines of those vectors for a row of an island, at most.
#define CNI_DIRECT_NULL 6

#endif
