// SPDX-License-Identifier: Apache-2.0
// What the files of L D L^T share: the symbolic factor, its layout in memory, the numbers.
//
// Columns with (nearly) the same pattern form a supernode: `width` consecutive columns and `below`
// rows under them. Their part of L lies by columns of L: line c has up8(width) places for the
// supernode's own rows, then up8(below) places for the rows below, so that both parts begin on
// cache lines. Line c holds zeros left of its diagonal's place or rubbish that nobody reads.
//
// Factoring is multifrontal: a supernode adds up its entries of A and what its children left for
// it, eliminates its columns, and leaves the rest (below x below, lines of up8(below), and one line
// more with the sums that cancellation is measured by) for its parent. Where these rests lie is
// fixed beforehand: a stack for each subtree that may run by itself, one for the top of the tree.
#ifndef CNI_SPARSE_LDL_PRIVATE_H
#define CNI_SPARSE_LDL_PRIVATE_H

#include "sparse/dense.h"
#include "sparse/sparse.h"

#define CNI_LDL_PANEL 48 // columns eliminated between two products

typedef struct CniSuper {
  int32_t first, width, below; // columns [first, first + width)
  int32_t parent;              // supernode, -1: root
  int32_t child_first, child_next;
  int64_t row_start;   // of its `below` rows in rows[] and places[]
  int64_t line_start;  // of its lines in value[]
  int64_t entry_start; // of its entries of A in entry[] and target[]
  int64_t rest;        // its rest in stack[]: where it is left for the parent
  int64_t work;        // where the rest is made up, above those of the children
  int64_t copy;        // room for a transposed panel
  int32_t task;        // subtree it belongs to, -1: the top
  int32_t reserved;
} CniSuper;

struct CniLdl {
  CnAllocator allocator;
  const CniDenseKernels *kernels;
  int32_t size, super_count, task_count;
  int32_t *order, *inverse;        // order[i]: row eliminated as number i
  int8_t *sign;                    // by number of elimination
  int32_t *super_of;               // supernode of a column
  CniSuper *super;                 // super_count + 1: the last has the ends of the arrays
  int32_t *rows;                   // rows below, ascending, of all supernodes
  int32_t *places;                 // of those rows in the parent's lines
  int32_t *entry;                  // entries of A by supernode
  int32_t *target;                 // and their places in the supernode's lines
  int32_t *task_first, *task_last; // supernodes of each subtree, last inclusive
  CnSparse pattern;                // of A, without values
  double *value;                   // L, and d on the diagonal
  double *d, *inv;                 // pivots and their inverses
  double *made;                    // of a pivot: the sum of the sizes of what it is made of
  double *stack, *work;            // rests; 4 size numbers of work
  double *line_room;               // one line of rows below, of solutions
  uint8_t *replaced;
  // switching of rows, null before cni_ldl_prepare_rows
  int32_t *near_start, *near, *near_entry; // rows of A in both directions, and their entries
  double *masked;                          // values with the rows that are off taken out
  uint8_t *off;                            // by number of elimination
  int32_t *reach, *seen;                   // supernodes of a row's subtree
  double *sparse_x, *gathered;             // a vector that is zero between calls; one line
  int32_t rows_off, switches;              // 1 while factoring with rows off
  int64_t value_count, stack_count, row_total, factor_entries;
  double operations;
  size_t bytes[32]; // of the arrays, in the order of creation
  void *memory[32];
  int32_t memory_count, reserved;
};

static inline int32_t cni_up8(int32_t x) { return (x + 7) / 8 * 8; }
static inline int32_t cni_super_line(const CniSuper *s) {
  return cni_up8(s->width) + cni_up8(s->below);
}
// Place of front row i (own rows first) in a line.
static inline int32_t cni_super_place(const CniSuper *s, int32_t i) {
  return i < s->width ? i : cni_up8(s->width) + i - s->width;
}

// Memory that lives as long as the factor, cleared.
CnStatus cni_ldl_own(CniLdl *ldl, const CniArray *arrays);
#define CNI_OWN(ldl, ...) cni_ldl_own(ldl, CNI_LIST(__VA_ARGS__))
// ldl_symbolic.c: everything but the numbers.
CnStatus cni_ldl_analyse(CniLdl *ldl, const CnSparse *upper, const int32_t *order);

#endif
