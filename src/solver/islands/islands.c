// SPDX-License-Identifier: Apache-2.0
// Islands: found by joining the bodies of every block, taken out by copying what belongs to one.
#include "solver/islands/islands.h"

#include "core/vec.h"

#include <string.h>

void cni_islands_init(CniIslands *s, const CnAllocator *allocator) {
  memset(s, 0, sizeof *s);
  s->allocator = *allocator;
}

void cni_islands_release(CniIslands *s) {
  CNI_RELEASE(&s->allocator, s->list, s->list_capacity);
  CNI_RELEASE(&s->allocator, s->start, s->start_capacity);
  CNI_RELEASE(&s->allocator, s->rows, s->rows_capacity);
  CNI_RELEASE(&s->allocator, s->root, s->root_capacity);
  CNI_RELEASE(&s->allocator, s->of, s->of_capacity);
  CNI_RELEASE(&s->allocator, s->of_block, s->of_block_capacity);
  CNI_RELEASE(&s->allocator, s->bodies, s->bodies_capacity);
}

// ---- who acts on whom ----

// The groups of a block, one after the other; -1 past the last.
static int32_t group_at(const CnProblem *p, const CniBlock *block, int32_t i) {
  if (block->storage == CNI_ROWS) {
    const CniRowsBlock *rows = &p->row_blocks[block->index];
    return i < rows->entry_count ? p->row_entries[rows->entry_start + i].group : -1;
  }
  if (i > 1) return -1;
  if (block->storage == CNI_PAIR)
    return i ? p->pairs[block->index].group_b : p->pairs[block->index].group_a;
  return i ? p->spheres[block->index].group_b : p->spheres[block->index].group_a;
}

void cni_block_pair(const CnProblem *p, const CniBlock *block, int32_t pair[2]) {
  int32_t group;
  pair[0] = pair[1] = group_at(p, block, 0);
  for (int32_t i = 1; (group = group_at(p, block, i)) >= 0; i++) pair[1] = group;
}

static int32_t root_of(int32_t *root, int32_t i) {
  while (root[i] != i) i = root[i] = root[root[i]];
  return i;
}

// A body of a block of rows that has mass; -1: none has. The others are joined to it.
static int32_t join(CniIslands *s, const CnProblem *p, const CniBlock *block) {
  const CniRowsBlock *rows = &p->row_blocks[block->index];
  const CnRowEntry *entries = p->row_entries + rows->entry_start;
  int32_t first = -1, seen[2] = {-1, -1}; // rows of a joint name its two bodies in turn
  for (int32_t i = 0; i < rows->entry_count; i++) {
    int32_t group = entries[i].group;
    if (group == seen[0] || group == seen[1]) continue;
    seen[i & 1] = group;
    if (s->root[group] < 0) continue;
    int32_t own = root_of(s->root, group);
    if (first < 0) first = own;
    // the earlier one is the root: it does not depend on the order of blocks
    int32_t least = own < first ? own : first;
    s->root[own] = s->root[first] = least;
    first = least;
  }
  return first;
}

// The same for two bodies, which nearly all blocks have, and most of these are joined already.
static inline int32_t join_two(int32_t *root, int32_t a, int32_t b) {
  if (root[a] < 0) return root[b] < 0 ? -1 : b;
  if (root[b] < 0 || root[a] == root[b]) return a;
  int32_t i = root_of(root, a), k = root_of(root, b);
  return root[i] = root[k] = i < k ? i : k;
}

static inline int32_t join_any(CniIslands *s, const CnProblem *p, const CniBlock *block) {
  if (block->storage == CNI_SPHERE) {
    const CniSphereBlock *sphere = &p->spheres[block->index];
    return join_two(s->root, sphere->group_a, sphere->group_b);
  }
  if (block->storage == CNI_PAIR) {
    const CniPairBlock *pair = &p->pairs[block->index];
    return join_two(s->root, pair->group_a, pair->group_b);
  }
  return join(s, p, block);
}

static CnStatus reserve(CniIslands *s, const CnProblem *p) {
  const CnAllocator *a = &s->allocator;
  CNI_TRY(CNI_RESERVE(a, s->root, s->root_capacity, 0, p->group_count + 1));
  CNI_TRY(CNI_RESERVE(a, s->of, s->of_capacity, 0, p->group_count + 1));
  CNI_TRY(CNI_RESERVE(a, s->of_block, s->of_block_capacity, 0, p->block_count + 1));
  CNI_TRY(CNI_RESERVE(a, s->list, s->list_capacity, 0, p->block_count + 1));
  CNI_TRY(CNI_RESERVE(a, s->start, s->start_capacity, 0, p->group_count + 2));
  CNI_TRY(CNI_RESERVE(a, s->bodies, s->bodies_capacity, 0, p->group_count + 1));
  return CNI_RESERVE(a, s->rows, s->rows_capacity, 0, p->group_count + 1);
}

// Numbers in the order of their first blocks; the last one is that of blocks that move nobody.
static void number(CniIslands *s, const CnProblem *p) {
  int32_t idle_blocks = 0, idle_rows = 0;
  s->count = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t body = s->of_block[i], dim = p->blocks[i].dim;
    if (body < 0) {
      idle_blocks++;
      idle_rows += dim;
      continue;
    }
    int32_t root = s->root[body], island = s->of[root];
    if (island < 0) {
      island = s->of[root] = s->count++;
      s->start[island] = s->rows[island] = s->bodies[island] = 0;
    }
    s->of_block[i] = island;
    s->start[island]++;
    s->rows[island] += dim;
  }
  for (int32_t i = 0; i < p->group_count; i++) {
    int32_t island = s->root[i] < 0 ? -1 : s->of[s->root[i]];
    if (island >= 0) s->bodies[island]++;
  }
  if (idle_blocks == 0) return;
  s->start[s->count] = idle_blocks;
  s->rows[s->count] = idle_rows;
  s->bodies[s->count++] = 0;
}

CnStatus cni_islands_find(CniIslands *s, const CnProblem *p) {
  CNI_TRY(reserve(s, p));
  for (int32_t i = 0; i < p->group_count; i++) {
    s->root[i] = p->groups[i].inv_mass > 0 ? i : -1;
    s->of[i] = -1;
  }
  for (int32_t i = 0; i < p->block_count; i++) s->of_block[i] = join_any(s, p, &p->blocks[i]);
  // a root stands before all others
  for (int32_t i = 0; i < p->group_count; i++)
    if (s->root[i] >= 0) s->root[i] = s->root[s->root[i]];
  number(s, p);
  for (int32_t i = 0, begin = 0; i <= s->count; i++) {
    int32_t count = i < s->count ? s->start[i] : 0;
    s->start[i] = begin;
    begin += count;
  }
  s->listed = 0;
  return CN_OK;
}

void cni_islands_list(CniIslands *s, const CnProblem *p) {
  int32_t *next = s->of; // no longer needed
  if (s->listed) return;
  memcpy(next, s->start, (size_t)s->count * sizeof *next);
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t island = s->of_block[i] < 0 ? s->count - 1 : s->of_block[i];
    s->list[next[island]++] = i;
  }
  s->listed = 1;
}

// ---- parts ----

void cni_part_init(CniPart *s, const CnAllocator *allocator) {
  memset(s, 0, sizeof *s);
  s->allocator = *allocator;
}

void cni_part_release(CniPart *s) {
  CNI_RELEASE(&s->allocator, s->taken, s->taken_capacity);
  CNI_RELEASE(&s->allocator, s->group_of, s->group_capacity);
  CNI_RELEASE(&s->allocator, s->set_of, s->set_capacity);
  cn_problem_destroy(s->problem);
}

CnStatus cni_part_begin(CniPart *s, const CnProblem *p) {
  const CnAllocator *a = &s->allocator;
  if (!s->problem) {
    CnProblemDef def = cn_problem_def_default();
    def.allocator = *a;
    CNI_TRY(cn_problem_create(&def, &s->problem));
  }
  CNI_TRY(CNI_RESERVE(a, s->taken, s->taken_capacity, 0, p->group_count + 1));
  CNI_TRY(CNI_RESERVE(a, s->group_of, s->group_capacity, 0, p->group_count + 1));
  CNI_TRY(CNI_RESERVE(a, s->set_of, s->set_capacity, 0, p->set_count + 1));
  for (int32_t i = 0; i < p->group_count; i++) s->group_of[i] = -1;
  for (int32_t i = 0; i < p->set_count; i++) s->set_of[i] = -1;
  return CN_OK;
}

// Room for all that a part can need.
static CnStatus make_room(CniPart *s, const CnProblem *p, const int32_t *list, int32_t count) {
  CniProblemRoom room = {.inertias = p->full_inertias};
  for (int32_t k = 0; k < count; k++) {
    const CniBlock *block = &p->blocks[list[k]];
    int32_t entries = block->storage == CNI_ROWS ? p->row_blocks[block->index].entry_count : 0;
    room.blocks++;
    room.sets++;
    room.rows += block->dim;
    room.groups += block->storage == CNI_ROWS ? entries : 2;
    room.pairs += block->storage == CNI_PAIR;
    room.spheres += block->storage == CNI_SPHERE;
    room.row_blocks += block->storage == CNI_ROWS;
    room.row_entries += entries;
  }
  if (room.groups > p->group_count) room.groups = p->group_count;
  if (room.sets > p->set_count) room.sets = p->set_count;
  return cni_problem_reserve(s->problem, &room);
}

static int32_t take_group(CniPart *s, const CnProblem *p, int32_t group) {
  CnProblem *part = s->problem;
  if (s->group_of[group] >= 0) return s->group_of[group];
  int32_t i = part->group_count++;
  s->taken[i] = group;
  part->groups[i] = p->groups[group];
  if (cni_group_kind(&p->groups[group]) == CNI_MASS_FULL) part->inertias[i] = p->inertias[group];
  return s->group_of[group] = i;
}

static int32_t take_set(CniPart *s, const CnProblem *p, int32_t set) {
  if (s->set_of[set] >= 0) return s->set_of[set];
  s->problem->sets[s->problem->set_count] = p->sets[set];
  return s->set_of[set] = s->problem->set_count++;
}

// What a block is made of; its index in its storage.
static CnStatus take_storage(CniPart *s, const CnProblem *p, const CniBlock *block,
                             int32_t *index) {
  CnProblem *part = s->problem;
  if (block->storage == CNI_PAIR) {
    CniPairBlock *to = &part->pairs[ *index = part->pair_count++];
    *to = p->pairs[block->index];
    to->group_a = take_group(s, p, to->group_a);
    to->group_b = take_group(s, p, to->group_b);
  } else if (block->storage == CNI_SPHERE) {
    CniSphereBlock *to = &part->spheres[ *index = part->sphere_count++];
    *to = p->spheres[block->index];
    to->group_a = take_group(s, p, to->group_a);
    to->group_b = take_group(s, p, to->group_b);
    if (p->own_lengths)
      return cni_sphere_set_length(part, *index, cni_sphere_length(p, block->index));
  } else {
    const CniRowsBlock *from = &p->row_blocks[block->index];
    part->row_blocks[ *index = part->row_block_count++] =
        (CniRowsBlock){part->row_entry_count, from->entry_count};
    for (int32_t i = 0; i < from->entry_count; i++) {
      CnRowEntry *to = &part->row_entries[part->row_entry_count++];
      *to = p->row_entries[from->entry_start + i];
      to->group = take_group(s, p, to->group);
    }
  }
  return CN_OK;
}

static CnStatus take_block(CniPart *s, const CnProblem *p, const CniBlock *block) {
  CnProblem *part = s->problem;
  int32_t index, set = take_set(s, p, (int32_t)block->set);
  CNI_TRY(take_storage(s, p, block, &index));
  cni_block_b(p, block, part->b + part->row_count);
  part->blocks[part->block_count++] =
      cni_block_make((CniStorage)block->storage, index, part->row_count, set,
                     (CnBlockKind)block->kind, (int32_t)block->dim);
  part->row_count += block->dim;
  return CN_OK;
}

CnStatus cni_part_take(CniPart *s, const CnProblem *p, const int32_t *list, int32_t count,
                       double speed) {
  CnProblem *part = s->problem;
  cn_problem_clear(part);
  CNI_TRY(make_room(s, p, list, count));
  part->friction = p->friction;
  part->full_inertias = p->full_inertias;
  part->change = p->change;
  part->speed = speed;
  CnStatus status = CN_OK;
  for (int32_t k = 0; k < count && status == CN_OK; k++)
    status = take_block(s, p, &p->blocks[list[k]]);
  // nothing is left for the next one
  for (int32_t k = 0; k < count; k++) s->set_of[p->blocks[list[k]].set] = -1;
  for (int32_t i = 0; i < part->group_count; i++) s->group_of[s->taken[i]] = -1;
  return status;
}

// ---- how far a block is from its law ----

double cni_block_residual(const CnProblem *p, const CniBlock *block, const double *g,
                          const double *v) {
  double b[CNI_MAX_DIM], u[CNI_MAX_DIM], c[CNI_MAX_DIM], x[CNI_MAX_DIM], sum = 0;
  double trace = cni_storages[block->storage].trace(p, block);
  double scale = trace > 0 ? trace / block->dim : 1;
  cni_block_compliance(p, block, c);
  cni_block_b(p, block, b);
  for (int32_t k = 0; k < block->dim; k++) u[k] = b[k] + c[k] * g[k];
  cni_storages[block->storage].velocity(p, block, v, u);
  for (int32_t k = 0; k < block->dim; k++) x[k] = g[k] - u[k] / scale;
  x[0] -= cni_shift(p, block, u) / scale;
  cni_project(p, block, x);
  for (int32_t k = 0; k < block->dim; k++) sum += (g[k] - x[k]) * (g[k] - x[k]);
  return scale * sqrt(sum);
}

double cni_free_speed(const CnProblem *p) {
  double largest = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    double r[CNI_MAX_DIM], sum = 0;
    cni_block_b(p, &p->blocks[i], r);
    cni_storages[p->blocks[i].storage].free(p, &p->blocks[i], r);
    for (int32_t d = 0; d < p->blocks[i].dim; d++) sum += r[d] * r[d];
    largest = cn_max(largest, sum);
  }
  return cn_max(sqrt(largest), p->speed);
}
