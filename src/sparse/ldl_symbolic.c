// SPDX-License-Identifier: Apache-2.0
// The pattern of L and its layout in memory.
//
// From the order: the elimination tree (the parent of a column is the first row below its diagonal
// in L), put in postorder so that every subtree is a range; the length of every column of L from
// the leaves of the row subtrees, without forming L; columns of equal pattern joined to supernodes,
// and a supernode joined to its parent where the zeros this adds are few; the rows of the
// supernodes, from the leaves up. Everything is linear in the size of A or of the row lists.
//
// Reference: T. A. Davis, Direct Methods for Sparse Linear Systems, SIAM 2006, chapters 4 and 6;
// J. R. Gilbert, E. G. Ng, B. W. Peyton, SIAM J. Matrix Anal. 15, 1994.
#include "sparse/ldl_private.h"

#include <string.h>

#define TASK_SHARE 48  // a subtree that runs by itself has at most this part of the operations
#define TASK_LEAST 2e6 // operations below which nothing is split

typedef struct Symbolic {
  CniArena arena;
  int32_t n;
  const CnSparse *a;
  int32_t *order, *inverse;
  int32_t *up_start, *up;                  // by rows: columns i < k
  int32_t *down_start, *down, *down_entry; // by columns: rows i >= k and their entries in A
  int32_t *parent, *count;
  int32_t *scratch[5];
  int32_t *super_first, super_count; // super_count + 1
} Symbolic;

static CnStatus prepare(Symbolic *s, const CnAllocator *allocator, const CnSparse *a,
                        const int32_t *order) {
  cni_arena_init(&s->arena, allocator);
  s->a = a;
  s->n = a->row_count;
  int64_t entries = a->start[s->n], n = s->n;
  CNI_TRY(CNI_ARRAYS(&s->arena, n + 1, int32_t, &s->order, &s->inverse, &s->up_start,
                     &s->down_start, &s->parent, &s->count, &s->scratch[0], &s->scratch[1],
                     &s->scratch[2], &s->scratch[3], &s->scratch[4], &s->super_first));
  CNI_TRY(cni_arena_array(&s->arena, entries, sizeof(int32_t), &s->up));
  CNI_TRY(cni_arena_array(&s->arena, entries, sizeof(int32_t), &s->down));
  CNI_TRY(cni_arena_array(&s->arena, entries, sizeof(int32_t), &s->down_entry));
  memcpy(s->order, order, (size_t)n * sizeof *order);
  return CN_OK;
}

// ---- the tree ----

// The matrix in the present order, by rows and by columns.
static void permute(Symbolic *s) {
  const CnSparse *a = s->a;
  for (int32_t i = 0; i < s->n; i++) s->inverse[s->order[i]] = i;
  memset(s->up_start, 0, ((size_t)s->n + 1) * sizeof(int32_t));
  memset(s->down_start, 0, ((size_t)s->n + 1) * sizeof(int32_t));
  int32_t *at_up = s->scratch[0], *at_down = s->scratch[1];
  for (int32_t pass = 0; pass < 2; pass++) {
    for (int32_t j = 0; j < s->n; j++)
      for (int32_t e = a->start[j]; e < a->start[j + 1]; e++) {
        int32_t p = s->inverse[a->column[e]], q = s->inverse[j];
        int32_t low = p < q ? p : q, high = p < q ? q : p;
        if (pass == 0) {
          s->up_start[high + 1] += low < high;
          s->down_start[low + 1]++;
          continue;
        }
        if (low < high) s->up[at_up[high]++] = low;
        s->down_entry[at_down[low]] = e;
        s->down[at_down[low]++] = high;
      }
    if (pass == 1) break;
    for (int32_t i = 0; i < s->n; i++) {
      s->up_start[i + 1] += s->up_start[i];
      s->down_start[i + 1] += s->down_start[i];
      at_up[i] = s->up_start[i];
      at_down[i] = s->down_start[i];
    }
  }
}

static void find_tree(Symbolic *s) {
  int32_t *ancestor = s->scratch[0];
  for (int32_t k = 0; k < s->n; k++) {
    s->parent[k] = ancestor[k] = -1;
    for (int32_t e = s->up_start[k]; e < s->up_start[k + 1]; e++)
      for (int32_t i = s->up[e], next; i >= 0 && i < k; i = next) {
        next = ancestor[i];
        ancestor[i] = k;
        if (next < 0) s->parent[i] = k;
      }
  }
}

// Move one child of node k, the one with the largest key, to the front or to the end of k's list.
static void move_child(int32_t *child, int32_t *sibling, int32_t k, const int32_t *key, int front) {
  int32_t best = child[k], before_best = -1, last = -1;
  for (int32_t c = child[k], before = -1; c >= 0; before = c, c = sibling[c]) {
    if (key[c] > key[best]) {
      best = c;
      before_best = before;
    }
    last = c;
  }
  if (best < 0 || (front ? before_best < 0 : best == last)) return;
  if (before_best < 0)
    child[k] = sibling[best];
  else
    sibling[before_best] = sibling[best];
  if (front) {
    sibling[best] = child[k];
    child[k] = best;
  } else {
    sibling[last] = best;
    sibling[best] = -1;
  }
}

// Postorder. The largest subtree of a node comes first: what it leaves is then the only thing that
// waits while the others are done. With the lengths of the columns known the child with the longest
// one comes last: it can be joined to the node with the fewest zeros.
static void postorder(Symbolic *s, int counted) {
  int32_t *size = s->scratch[0], *child = s->scratch[1], *sibling = s->scratch[2];
  int32_t *post = s->scratch[3], *stack = s->scratch[4], done = 0;
  for (int32_t k = 0; k < s->n; k++) {
    size[k] = 1;
    child[k] = -1;
  }
  for (int32_t k = 0; k < s->n; k++)
    if (s->parent[k] >= 0) size[s->parent[k]] += size[k];
  for (int32_t k = s->n - 1; k >= 0; k--) {
    sibling[k] = -1;
    if (s->parent[k] < 0) continue;
    sibling[k] = child[s->parent[k]];
    child[s->parent[k]] = k;
  }
  for (int32_t k = 0; k < s->n; k++) {
    move_child(child, sibling, k, size, 1);
    if (counted) move_child(child, sibling, k, s->count, 0);
  }
  for (int32_t root = 0; root < s->n; root++) {
    if (s->parent[root] >= 0) continue;
    int32_t depth = 0;
    stack[depth++] = root;
    while (depth > 0) {
      int32_t k = stack[depth - 1];
      if (child[k] < 0) {
        post[done++] = k;
        depth--;
        continue;
      }
      stack[depth++] = child[k];
      child[k] = sibling[child[k]];
    }
  }
  // renumber
  int32_t *place = size, *order = child, *parent = sibling;
  for (int32_t i = 0; i < s->n; i++) {
    place[post[i]] = i;
    order[i] = s->order[post[i]];
  }
  for (int32_t i = 0; i < s->n; i++)
    parent[i] = s->parent[post[i]] < 0 ? -1 : place[s->parent[post[i]]];
  memcpy(s->order, order, (size_t)s->n * sizeof *order);
  memcpy(s->parent, parent, (size_t)s->n * sizeof *parent);
  for (int32_t i = 0; i < s->n; i++) place[i] = s->count[post[i]];
  memcpy(s->count, place, (size_t)s->n * sizeof *place);
}

// ---- the length of the columns ----

// Is column j a leaf of the subtree of row i? The first one: *leaf = 1; a further one: 2, and the
// least common ancestor with the one before is returned.
static int32_t row_leaf(Symbolic *s, int32_t i, int32_t j, const int32_t *first, int32_t *leaf) {
  int32_t *most = s->scratch[1], *before = s->scratch[2], *ancestor = s->scratch[3];
  *leaf = 0;
  if (i <= j || first[j] <= most[i]) return -1;
  most[i] = first[j];
  int32_t previous = before[i];
  before[i] = j;
  *leaf = previous < 0 ? 1 : 2;
  if (*leaf == 1) return i;
  int32_t q = previous;
  while (q != ancestor[q]) q = ancestor[q];
  for (int32_t k = previous, next; k != q; k = next) {
    next = ancestor[k];
    ancestor[k] = q;
  }
  return q;
}

static void count_columns(Symbolic *s) {
  int32_t *first = s->scratch[0], *count = s->count;
  for (int32_t k = 0; k < s->n; k++) {
    first[k] = s->scratch[1][k] = s->scratch[2][k] = -1;
    s->scratch[3][k] = k;
  }
  for (int32_t k = 0; k < s->n; k++) {
    count[k] = first[k] < 0;
    for (int32_t j = k; j >= 0 && first[j] < 0; j = s->parent[j]) first[j] = k;
  }
  for (int32_t j = 0; j < s->n; j++) {
    if (s->parent[j] >= 0) count[s->parent[j]]--;
    for (int32_t e = s->down_start[j]; e < s->down_start[j + 1]; e++) {
      int32_t leaf, q = row_leaf(s, s->down[e], j, first, &leaf);
      if (leaf >= 1) count[j]++;
      if (leaf == 2) count[q]--;
    }
    if (s->parent[j] >= 0) s->scratch[3][j] = s->parent[j];
  }
  for (int32_t j = 0; j < s->n; j++)
    if (s->parent[j] >= 0) count[s->parent[j]] += count[j];
}

static int64_t tree_and_counts(Symbolic *s) {
  permute(s);
  find_tree(s);
  postorder(s, 0);
  permute(s);
  count_columns(s);
  postorder(s, 1);
  permute(s);
  int64_t total = 0;
  for (int32_t j = 0; j < s->n; j++) total += s->count[j];
  return total;
}

int64_t cni_ldl_count_fill(const CnAllocator *allocator, const CnSparse *upper,
                           const int32_t *order) {
  Symbolic s = {.n = 0};
  int64_t total = prepare(&s, allocator, upper, order) == CN_OK ? tree_and_counts(&s) : -1;
  cni_arena_release(&s.arena);
  return total;
}

// ---- supernodes ----

// Whether the zeros are worth it: lines are padded to eight anyway, and few long loops beat many
// short ones.
static int worth(int32_t width, double zeros, double stored) {
  if (width <= 4) return 1;
  if (width <= 16) return zeros < .5 * stored;
  if (width <= 48) return zeros < .15 * stored;
  return zeros < .05 * stored;
}

// Columns joined while L grows by no zero, then supernodes joined to the one before them in the
// postorder if that is their child.
static void find_supers(Symbolic *s) {
  int32_t *first = s->super_first, count = 0;
  for (int32_t j = 0; j < s->n;) {
    int32_t end = j + 1;
    while (end < s->n && s->parent[end - 1] == end && s->count[end - 1] == s->count[end] + 1) end++;
    first[count++] = j;
    // join the children that end where this one begins
    while (count >= 2) {
      int32_t top = first[count - 1], child = first[count - 2], last = top - 1;
      if (s->parent[last] < top || s->parent[last] >= end) break;
      int32_t width = end - child, below = s->count[end - 1] - 1;
      double stored = (double)width * (width + 1) / 2 + (double)width * below, present = 0;
      for (int32_t k = child; k < end; k++) present += s->count[k];
      if (!worth(width, stored - present, stored)) break;
      count--;
    }
    j = end;
  }
  first[count] = s->n;
  s->super_count = count;
}

static CnStatus make_supers(CniLdl *ldl, Symbolic *s) {
  ldl->super_count = s->super_count;
  CNI_TRY(CNI_OWN(ldl, CNI_ARRAY(s->super_count + 1, ldl->super), CNI_ARRAY(s->n, ldl->super_of)));
  int64_t rows = 0, lines = 0;
  for (int32_t k = 0; k < s->super_count; k++) {
    CniSuper *u = &ldl->super[k];
    u->first = s->super_first[k];
    u->width = s->super_first[k + 1] - u->first;
    int32_t last = u->first + u->width - 1;
    u->below = s->count[last] - 1;
    u->parent = s->parent[last]; // a column so far
    u->child_first = u->child_next = -1;
    u->row_start = rows;
    u->line_start = lines;
    rows += u->below;
    lines += (int64_t)u->width * cni_super_line(u);
    for (int32_t j = u->first; j <= last; j++) ldl->super_of[j] = k;
    double height = u->width + u->below;
    ldl->operations += u->width * height * height;
  }
  for (int32_t k = s->super_count - 1; k >= 0; k--) {
    CniSuper *u = &ldl->super[k];
    if (u->parent < 0) continue;
    u->parent = ldl->super_of[u->parent];
    u->child_next = ldl->super[u->parent].child_first;
    ldl->super[u->parent].child_first = k;
  }
  CniSuper *end = &ldl->super[s->super_count];
  end->first = s->n;
  end->row_start = ldl->row_total = rows;
  end->line_start = ldl->value_count = lines;
  return CN_OK;
}

// Rows below each supernode: those of A and of the children; sorted by putting them in order of
// rows first and then back to the supernodes.
static CnStatus find_rows(CniLdl *ldl, Symbolic *s) {
  int32_t *mark = s->scratch[0], *owner = NULL;
  int64_t *at = NULL;
  CNI_TRY(
      CNI_OWN(ldl, CNI_ARRAY(ldl->row_total, ldl->rows), CNI_ARRAY(ldl->row_total, ldl->places)));
  CNI_TRY(CNI_LAY(&s->arena, CNI_ARRAY(ldl->row_total, owner), CNI_ARRAY(s->n + 1, at)));
  for (int32_t i = 0; i < s->n; i++) mark[i] = -1;
  for (int32_t k = 0; k < ldl->super_count; k++) {
    CniSuper *u = &ldl->super[k];
    int32_t *rows = ldl->rows + u->row_start, count = 0, end = u->first + u->width;
    for (int32_t e = s->down_start[u->first]; e < s->down_start[end]; e++)
      if (s->down[e] >= end && mark[s->down[e]] != k) mark[rows[count++] = s->down[e]] = k;
    for (int32_t c = u->child_first; c >= 0; c = ldl->super[c].child_next) {
      const CniSuper *child = &ldl->super[c];
      const int32_t *theirs = ldl->rows + child->row_start;
      for (int32_t r = 0; r < child->below; r++)
        if (theirs[r] >= end && mark[theirs[r]] != k) mark[rows[count++] = theirs[r]] = k;
    }
    for (int32_t r = 0; r < count; r++) at[rows[r] + 1]++;
  }
  for (int32_t i = 0; i < s->n; i++) at[i + 1] += at[i];
  for (int32_t k = 0; k < ldl->super_count; k++)
    for (int64_t r = ldl->super[k].row_start; r < ldl->super[k + 1].row_start; r++)
      owner[at[ldl->rows[r]]++] = k;
  // at[i] is now the end of row i
  int32_t *filled = s->scratch[2];
  memset(filled, 0, (size_t)s->n * sizeof *filled);
  int64_t entry = 0;
  for (int32_t i = 0; i < s->n; i++)
    for (; entry < at[i]; entry++) {
      int32_t k = owner[entry];
      ldl->rows[ldl->super[k].row_start + filled[k]++] = i;
    }
  return CN_OK;
}

// Where the rows below a supernode are in the lines of its parent, and where the entries of A go.
static CnStatus find_places(CniLdl *ldl, Symbolic *s) {
  int64_t entries = s->a->start[s->n];
  int32_t *place = s->scratch[0];
  CNI_TRY(CNI_OWN(ldl, CNI_ARRAY(entries, ldl->entry), CNI_ARRAY(entries, ldl->target)));
  int64_t out = 0;
  for (int32_t k = 0; k < ldl->super_count; k++) {
    CniSuper *u = &ldl->super[k];
    int32_t line = cni_super_line(u);
    if ((int64_t)u->width * line > INT32_MAX)
      return cni_error(CN_NO_MEMORY, "a factor has %d columns with the same %d rows", u->width,
                       line);
    for (int32_t i = 0; i < u->width; i++) place[u->first + i] = i;
    for (int32_t r = 0; r < u->below; r++)
      place[ldl->rows[u->row_start + r]] = cni_super_place(u, u->width + r);
    u->entry_start = out;
    for (int32_t c = 0; c < u->width; c++)
      for (int32_t e = s->down_start[u->first + c]; e < s->down_start[u->first + c + 1]; e++) {
        ldl->entry[out] = s->down_entry[e];
        ldl->target[out++] = c * line + place[s->down[e]];
      }
    for (int32_t c = u->child_first; c >= 0; c = ldl->super[c].child_next) {
      const CniSuper *child = &ldl->super[c];
      for (int32_t r = 0; r < child->below; r++)
        ldl->places[child->row_start + r] = place[ldl->rows[child->row_start + r]];
    }
  }
  ldl->super[ldl->super_count].entry_start = out;
  return CN_OK;
}

// ---- subtrees and stacks ----

// Subtrees small enough to share the work, neighbours taken together.
static CnStatus find_tasks(CniLdl *ldl, Symbolic *s) {
  double *below = NULL, most = ldl->operations / TASK_SHARE;
  int32_t *first = s->scratch[0], count = 0;
  CNI_TRY(cni_arena_array(&s->arena, ldl->super_count, sizeof(double), &below));
  CNI_TRY(CNI_OWN(ldl, CNI_ARRAY(ldl->super_count, ldl->task_first),
                  CNI_ARRAY(ldl->super_count, ldl->task_last)));
  for (int32_t k = 0; k < ldl->super_count; k++) {
    ldl->super[k].task = -1;
    first[k] = k;
  }
  if (ldl->operations < TASK_LEAST) return CN_OK;
  for (int32_t k = 0; k < ldl->super_count; k++) {
    const CniSuper *u = &ldl->super[k];
    double height = u->width + u->below;
    below[k] += u->width * height * height + 200;
    if (u->child_first >= 0) first[k] = first[u->child_first];
    if (u->parent >= 0) below[u->parent] += below[k];
  }
  double filled = 0;
  for (int32_t k = 0; k < ldl->super_count; k++) {
    int32_t parent = ldl->super[k].parent;
    if (below[k] > most || (parent >= 0 && below[parent] <= most)) continue;
    if (count > 0 && ldl->task_last[count - 1] == first[k] - 1 && filled + below[k] <= most) {
      ldl->task_last[count - 1] = k;
      filled += below[k];
    } else {
      ldl->task_first[count] = first[k];
      ldl->task_last[count++] = k;
      filled = below[k];
    }
  }
  ldl->task_count = count;
  for (int32_t t = 0; t < count; t++)
    for (int32_t k = ldl->task_first[t]; k <= ldl->task_last[t]; k++) ldl->super[k].task = t;
  return CN_OK;
}

static int64_t rest_size(const CniSuper *u) {
  return u->below == 0 ? 0 : (int64_t)(u->below + 1) * cni_up8(u->below);
}

// The stack of one region: supernodes [begin, end) that belong to `task`, from `base` on. Returns
// its end.
static int64_t lay_stack(CniLdl *ldl, int32_t task, int32_t begin, int32_t end, int64_t base) {
  int64_t top = base, peak = base, copy = 0;
  for (int32_t k = begin; k < end; k++) {
    CniSuper *u = &ldl->super[k];
    if (u->task != task) continue;
    int64_t children = 0;
    for (int32_t c = u->child_first; c >= 0; c = ldl->super[c].child_next)
      if (ldl->super[c].task == task) children += rest_size(&ldl->super[c]);
    u->work = top;
    u->rest = top - children;
    if (top + rest_size(u) > peak) peak = top + rest_size(u);
    top = u->rest + rest_size(u);
    int64_t panel = (int64_t)(u->width + u->below) * CNI_LDL_PANEL;
    if (panel > copy) copy = panel;
  }
  for (int32_t k = begin; k < end; k++)
    if (ldl->super[k].task == task) ldl->super[k].copy = peak;
  return peak + (copy + 7) / 8 * 8;
}

CnStatus cni_ldl_analyse(CniLdl *ldl, const CnSparse *upper, const int32_t *order) {
  Symbolic s = {.n = 0};
  CnStatus status = prepare(&s, &ldl->allocator, upper, order);
  if (status == CN_OK) {
    ldl->factor_entries = tree_and_counts(&s);
    find_supers(&s);
    memcpy(ldl->order, s.order, (size_t)s.n * sizeof *ldl->order);
    memcpy(ldl->inverse, s.inverse, (size_t)s.n * sizeof *ldl->inverse);
    status = make_supers(ldl, &s);
  }
  if (status == CN_OK) status = find_rows(ldl, &s);
  if (status == CN_OK) status = find_places(ldl, &s);
  if (status == CN_OK) status = find_tasks(ldl, &s);
  cni_arena_release(&s.arena);
  if (status != CN_OK) return status;
  int64_t end = 0;
  for (int32_t t = 0; t < ldl->task_count; t++)
    end = lay_stack(ldl, t, ldl->task_first[t], ldl->task_last[t] + 1, end);
  ldl->stack_count = lay_stack(ldl, -1, 0, ldl->super_count, end);
  return CN_OK;
}
