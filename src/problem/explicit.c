// SPDX-License-Identifier: Apache-2.0
// The problem with the velocities eliminated: u = W g + q, W = E M^-1 E^T + C, q = E M^-1 k + b.
//
// Two rows of E have an entry in W where they share a group with mass. The rows that touch a group
// are listed once; row i of W then gathers, for each of its groups, the products with the rows j >=
// i of that group's list. Only this half is computed and the other is its mirror image, so that W
// is symmetric to the last bit. Two transpositions put the columns in order.
#include "problem/problem.h"

#include "core/floats.h"
#include "core/vec.h"
#include "sparse/sparse.h"

#include <string.h>

// A coefficient on a group with mass, with its row in the whole problem.
typedef struct Term {
  int32_t row, group;
  CnTwist coefficient;
} Term;

typedef struct Work {
  const CnProblem *p;
  CniArena arena;
  Term *terms;          // by row
  int32_t *row_start;   // row_count + 1
  int32_t *by_group;    // indices of terms, by group, rows ascending
  int32_t *group_start; // group_count + 1
  int32_t *group_first; // first of the group's list that is not above the present row
  double *sum;          // the present row of W
  int32_t *last;        // per column: the row that last touched it
  double *free, *q;
  int32_t term_count;
  CnSparse half, lower, upper, w;
} Work;

static CnStatus reserve(Work *work, int32_t term_count, int32_t block_entries, CnRowEntry **entries,
                        Term **unsorted) {
  int64_t rows = work->p->row_count, groups = work->p->group_count;
  CNI_TRY(CNI_LAY(&work->arena, CNI_ARRAY(block_entries, *entries),
                  CNI_ARRAY(term_count, *unsorted), CNI_ARRAY(term_count, work->terms),
                  CNI_ARRAY(term_count, work->by_group), CNI_ARRAY(rows + 1, work->row_start),
                  CNI_ARRAY(groups + 1, work->group_start),
                  CNI_ARRAY(groups + 1, work->group_first), CNI_ARRAY(rows, work->sum),
                  CNI_ARRAY(rows, work->last), CNI_ARRAY(rows, work->q),
                  CNI_ARRAY(6 * groups, work->free), CNI_ARRAY(rows + 1, work->half.start)));
  return CN_OK;
}

// All coefficients on groups with mass, sorted by row, and the list of each group.
static CnStatus collect(Work *work) {
  const CnProblem *p = work->p;
  int64_t total = 0;
  int32_t largest = 0, count = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t n = cni_storages[p->blocks[i].storage].expand(p, &p->blocks[i], NULL, 0);
    total += n;
    if (n > largest) largest = n;
  }
  if (total > INT32_MAX)
    return cni_error(CN_NO_MEMORY, "the problem has more than %d coefficients", INT32_MAX);
  CnRowEntry *entries = NULL;
  Term *unsorted = NULL;
  CNI_TRY(reserve(work, (int32_t)total, largest, &entries, &unsorted));

  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    int32_t n = cni_storages[block->storage].expand(p, block, entries, largest);
    for (int32_t j = 0; j < n; j++) {
      if (!(p->groups[entries[j].group].inv_mass > 0)) continue;
      int32_t row = block->row + entries[j].row;
      unsorted[count++] = (Term){row, entries[j].group, entries[j].coefficient};
      work->row_start[row + 1]++;
      work->group_start[entries[j].group + 1]++;
    }
  }
  for (int32_t i = 0; i < p->row_count; i++) work->row_start[i + 1] += work->row_start[i];
  for (int32_t i = 0; i < p->group_count; i++) work->group_start[i + 1] += work->group_start[i];

  // stable bin sorts; `last` and `group_first` serve as the places of the bins
  for (int32_t i = 0; i < p->row_count; i++) work->last[i] = work->row_start[i];
  for (int32_t i = 0; i < count; i++) work->terms[work->last[unsorted[i].row]++] = unsorted[i];
  memcpy(work->group_first, work->group_start, (size_t)p->group_count * sizeof(int32_t));
  for (int32_t i = 0; i < count; i++) work->by_group[work->group_first[work->terms[i].group]++] = i;
  work->term_count = count;
  return CN_OK;
}

// Row i of W from the diagonal on: columns in the order in which they are met, sums in work->sum.
// Returns how many; `columns` may be null.
static int32_t gather_row(Work *work, int32_t i, double compliance, int32_t *columns) {
  const CnProblem *p = work->p;
  int32_t count = 0;
  work->last[i] = i;
  work->sum[i] = compliance;
  if (columns) columns[count] = i;
  count++;
  for (int32_t t = work->row_start[i]; t < work->row_start[i + 1]; t++) {
    const Term *term = &work->terms[t];
    const CniGroup *group = &p->groups[term->group];
    CnVec3 move = cn_scale(group->inv_mass, term->coefficient.velocity);
    CnVec3 spin = cn_smul(cni_group_inertia(p, term->group), term->coefficient.spin);
    int32_t *first = &work->group_first[term->group], end = work->group_start[term->group + 1];
    while (work->terms[work->by_group[*first]].row < i) ++*first;
    for (int32_t f = *first; f < end; f++) {
      const Term *other = &work->terms[work->by_group[f]];
      if (work->last[other->row] != i) {
        work->last[other->row] = i;
        work->sum[other->row] = 0;
        if (columns) columns[count] = other->row;
        count++;
      }
      work->sum[other->row] +=
          cn_dot(move, other->coefficient.velocity) + cn_dot(spin, other->coefficient.spin);
    }
  }
  return count;
}

static void restart(Work *work) {
  for (int32_t i = 0; i < work->p->row_count; i++) work->last[i] = -1;
  memcpy(work->group_first, work->group_start, (size_t)work->p->group_count * sizeof(int32_t));
}

// The upper half of W: once to count, once to fill.
static CnStatus multiply(Work *work) {
  const CnProblem *p = work->p;
  CnSparse *half = &work->half;
  int64_t total = 0;
  half->row_count = half->column_count = p->row_count;
  half->start[0] = 0;
  restart(work);
  for (int32_t i = 0; i < p->row_count; i++) {
    total += gather_row(work, i, 0, NULL);
    if (2 * total > INT32_MAX)
      return cni_error(CN_NO_MEMORY, "W has more than %d entries", INT32_MAX);
    half->start[i + 1] = (int32_t)total;
  }
  CNI_TRY(CNI_LAY(&work->arena, CNI_ARRAY(total, half->column), CNI_ARRAY(total, half->value)));
  restart(work);
  for (int32_t b = 0; b < p->block_count; b++) {
    double c[CNI_MAX_DIM];
    cni_block_compliance(p, &p->blocks[b], c);
    for (int32_t d = 0; d < p->blocks[b].dim; d++) {
      int32_t i = p->blocks[b].row + d, begin = half->start[i];
      int32_t count = gather_row(work, i, c[d], half->column + begin);
      for (int32_t j = 0; j < count; j++)
        half->value[begin + j] = work->sum[half->column[begin + j]];
    }
  }
  return CN_OK;
}

// W from its two sorted halves, both with the diagonal: row i of `lower` ends with it, row i of
// `upper` begins with it.
static CnStatus mirror(Work *work) {
  const CnAllocator *a = &work->p->allocator;
  CNI_TRY(cni_sparse_transpose(a, &work->half, &work->lower));
  CNI_TRY(cni_sparse_transpose(a, &work->lower, &work->upper));
  int32_t rows = work->p->row_count, count = 0;
  int64_t entries = 2 * (int64_t)cni_sparse_entry_count(&work->half) - rows;
  CnSparse *w = &work->w, *l = &work->lower, *u = &work->upper;
  w->row_count = w->column_count = rows;
  CNI_TRY(CNI_LAY(&work->arena, CNI_ARRAY(rows + 1, w->start), CNI_ARRAY(entries, w->column),
                  CNI_ARRAY(entries, w->value)));
  w->start[0] = 0;
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t e = l->start[i]; e < l->start[i + 1] - 1; e++, count++) {
      w->column[count] = l->column[e];
      w->value[count] = l->value[e];
    }
    for (int32_t e = u->start[i]; e < u->start[i + 1]; e++, count++) {
      w->column[count] = u->column[e];
      w->value[count] = u->value[e];
    }
    w->start[i + 1] = count;
  }
  return CN_OK;
}

// q = E v_free + b: the impulses are zero, so that C g is too.
static CnStatus right_hand_side(Work *work) {
  const CnProblem *p = work->p;
  double *zero = NULL;
  CNI_TRY(cni_arena_array(&work->arena, p->row_count, sizeof *zero, &zero));
  for (int32_t i = 0; i < p->group_count; i++) {
    CnTwist free = cni_group_free(&p->groups[i]);
    memcpy(work->free + 6 * (size_t)i, &free, sizeof free);
  }
  cni_problem_velocity(p, work->free, zero, work->q);
  return CN_OK;
}

// The sets without compliance (it is in W) and in the unit of the rows.
static CnStatus add_blocks(const CnProblem *p, CnProblem *result) {
  for (int32_t i = 0; i < p->set_count; i++) {
    CnSet set = p->sets[i];
    memset(set.compliance, 0, sizeof set.compliance);
    CNI_TRY(cn_problem_add_set(result, &set, NULL));
  }
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    int32_t index = block->set;
    CniCone cone = cni_block_cone(p, block);
    CnSet set = result->sets[block->set];
    if (cone.disc_count > 1 &&
        (set.mu_roll != cone.mu[1] || (cone.disc_count > 2 && set.mu_spin != cone.mu[2]))) {
      set.mu_roll = cone.mu[1];
      set.mu_spin = cone.mu[2];
      CNI_TRY(cn_problem_add_set(result, &set, &index));
    }
    CNI_TRY(cn_problem_add_explicit(result, index, block->dim, NULL));
  }
  return CN_OK;
}

static CnStatus eliminate(Work *work, CnProblem *result) {
  CNI_TRY(collect(work));
  CNI_TRY(multiply(work));
  CNI_TRY(mirror(work));
  CNI_TRY(right_hand_side(work));
  CNI_TRY(cn_problem_set_explicit(result, &work->w, work->q));
  return add_blocks(work->p, result);
}

// The same from the matrices of the global form.
static CnStatus eliminate_global(const CnProblem *p, CnProblem *result) {
  CnSparse w;
  CNI_TRY(cni_problem_check(p));
  CNI_TRY(cni_global_prepare(p));
  CNI_TRY(cni_global_eliminate(p, &w));
  CnStatus status = cn_problem_set_explicit(result, &w, p->global->r);
  cni_sparse_release(&p->allocator, &w);
  return status == CN_OK ? add_blocks(p, result) : status;
}

CnStatus cn_problem_to_explicit(const CnProblem *p, CnProblem **result) {
  CNI_FLOATS;
  if (!result) return cni_invalid("cn_problem_to_explicit: result is null");
  *result = NULL;
  if (!p) return cni_invalid("cn_problem_to_explicit: problem is null");
  if (p->form == CN_FORM_EXPLICIT)
    return cni_invalid("the problem is of the explicit form already");
  CnProblemDef def = cn_problem_def_default();
  def.form = CN_FORM_EXPLICIT;
  def.friction = p->friction;
  def.allocator = p->allocator;
  CnProblem *made;
  CNI_TRY(cn_problem_create(&def, &made));
  Work work = {.p = p};
  cni_arena_init(&work.arena, &p->allocator);
  CnStatus status = p->form == CN_FORM_GLOBAL ? eliminate_global(p, made) : eliminate(&work, made);
  cni_sparse_release(&p->allocator, &work.lower);
  cni_sparse_release(&p->allocator, &work.upper);
  cni_arena_release(&work.arena);
  if (status == CN_OK)
    *result = made;
  else
    cn_problem_destroy(made);
  return status;
}
