// SPDX-License-Identifier: Apache-2.0
// P A P^T = L D L^T of a symmetric sparse matrix whose pivots have known signs, for example the
// saddle matrix [M E^T; E -C] (quasi-definite) or a positive definite one.
//
// The order and the pattern of L are found once; values may then be factored as often as one likes
// without allocating. Pivots stay where they are: one that has the wrong sign or is lost in
// round-off is replaced and counted, and refinement makes good for it.
//
// Patterns: one triangle, row j holds the columns i <= j in ascending order (the upper triangle by
// columns is the same arrays). A row without an entry (j, j) has the diagonal 0.
#ifndef CNI_SPARSE_LDL_H
#define CNI_SPARSE_LDL_H

#include <cairn/base.h>

typedef struct CniLdl CniLdl;

typedef struct CniLdlReport {
  int32_t replaced;       // pivots that were replaced
  int32_t worst;          // the row with the least pivot, -1 for an empty matrix
  double least;           // that pivot with its sign, over the sum of what it is made of: 1 is no
                          // cancellation at all, 1e-16 nothing but round-off
  int64_t factor_entries; // of L with its diagonal, as the pattern asks for
  int64_t stored;         // numbers of memory of L
  double operations;      // multiplications and additions of one factorisation, about
} CniLdlReport;

// Order and analyse. `upper`: the pattern (values are not read), copied. sign[i]: +1 or -1, the
// sign of pivot i. late[i]: CNI_LDL_LATE: ordered after all rows that are not; CNI_LDL_AFTER, for
// rows of sign -1: after their neighbours of sign +1, which rows of sign -1 without a diagonal
// entry (constraints without compliance) are anyway; null: none.
#define CNI_LDL_LATE 1
#define CNI_LDL_AFTER 2
CnStatus cni_ldl_create(const CnAllocator *allocator, const CnSparse *upper, const int8_t *sign,
                        const int8_t *late, CniLdl **ldl);
// The order cni_ldl_create uses.
CnStatus cni_ldl_find_order(const CnAllocator *allocator, const CnSparse *upper, const int8_t *sign,
                            const int8_t *late, int32_t *order);
void cni_ldl_destroy(CniLdl *ldl); // null is allowed

// Factor the values, in the order of the pattern's entries. Subtrees run in parallel, with the same
// bits for any number of workers; tasks may be null. Never allocates. `report` may be null. Fails
// only where a pivot is not finite (CN_NOT_FINITE).
CnStatus cni_ldl_factor(CniLdl *ldl, const double *values, CnTasks *tasks, CniLdlReport *report);

// X <- A^-1 X with the factors as they are; `columns` right-hand sides one after the other.
void cni_ldl_solve(CniLdl *ldl, double *x, int32_t columns);

// Trees of the elimination forest, one a connected part of the pattern, are consecutive in the
// order: where the tree that begins with number `first` ends; solutions of one, x elsewhere being
// neither read nor written.
int32_t cni_ldl_tree_end(const CniLdl *ldl, int32_t first);
void cni_ldl_solve_tree(CniLdl *ldl, int32_t first, int32_t end, double *x);

// x = A^-1 b, refined against the values as long as it gains, at most `steps` times. Returns the
// backward error max_i |b - A x|_i / (|A| |x| + |b|)_i, which is also how drift of switched rows
// shows; x = 0 on rows that are off.
double cni_ldl_refine(CniLdl *ldl, const double *values, const double *b, double *x, int32_t steps);

// ---- rows switched on and off ----

typedef enum CniSwitch {
  CNI_SWITCHED = 0,
  CNI_DEPENDENT, // the row depends on those that are on: nothing was changed
  CNI_DAMAGED    // round-off has made a pivot lose its sign: factor again
} CniSwitch;

// Make room for what follows. Once, after creation.
CnStatus cni_ldl_prepare_rows(CniLdl *ldl);
// Factor with the rows (and columns) of on[i] = 0 taken out: their solution is b_i times the sign.
CnStatus cni_ldl_factor_rows(CniLdl *ldl, const double *values, const uint8_t *on, CnTasks *tasks,
                             CniLdlReport *report);
// Put row `row` in, or take it out, by changing the factors along its path. *share is the pivot the
// row would have as the last one, over the largest number it is made of; not above `least` the row
// counts as dependent on those that are on.
CniSwitch cni_ldl_switch_on(CniLdl *ldl, const double *values, int32_t row, double least,
                            double *share);
CniSwitch cni_ldl_switch_off(CniLdl *ldl, int32_t row);
int32_t cni_ldl_switches(const CniLdl *ldl); // since the last factorisation

// Whether the factors are of this pattern with these signs.
int cni_ldl_fits(const CniLdl *ldl, const CnSparse *upper, const int8_t *sign);

int32_t cni_ldl_size(const CniLdl *ldl);
const int32_t *cni_ldl_order(const CniLdl *ldl); // order[i]: row eliminated as number i

// Entries of L, diagonal included, for an order of a pattern: the fill that orderings are compared
// by. Returns -1 without memory.
int64_t cni_ldl_count_fill(const CnAllocator *allocator, const CnSparse *upper,
                           const int32_t *order);

#endif
