// SPDX-License-Identifier: Apache-2.0
// Validators of the step problem and of its schedule: what every solver relies on without looking.
// Called in checked builds after each stage (core/assert.h) and by tests, which break things to see
// that it is noticed. They answer with null, or with what is wrong.
#include "problem/problem.h"

#include <stdlib.h>

static int in_range(int32_t index, int32_t count) { return index >= 0 && index < count; }

// ---- the problem ----

static const char *rows_fault(const CnProblem *p, int32_t index) {
  if (!in_range(index, p->row_block_count)) return "a block's rows are not there";
  const CniRowsBlock *rows = &p->row_blocks[index];
  if (rows->entry_start < 0 || rows->entry_count < 0 ||
      rows->entry_count > p->row_entry_count - rows->entry_start)
    return "entries of a block of rows are not there";
  for (int32_t i = 0; i < rows->entry_count; i++)
    if (!in_range(p->row_entries[rows->entry_start + i].group, p->group_count))
      return "an entry's group is not there";
  return NULL;
}

static const char *ends_fault(const CnProblem *p, int32_t a, int32_t b) {
  int there = in_range(a, p->group_count) && in_range(b, p->group_count);
  return there ? NULL : "a block's group is not there";
}

static const char *storage_fault(const CnProblem *p, const CniBlock *block) {
  int32_t i = block->index;
  if (block->storage == CNI_ROWS) return rows_fault(p, i);
  if (block->storage == CNI_PAIR)
    return !in_range(i, p->pair_count) ? "a pair block is not there"
                                       : ends_fault(p, p->pairs[i].group_a, p->pairs[i].group_b);
  if (block->storage == CNI_SPHERE)
    return !in_range(i, p->sphere_count)
               ? "a sphere block is not there"
               : ends_fault(p, p->spheres[i].group_a, p->spheres[i].group_b);
  return block->storage < CNI_STORAGE_COUNT ? NULL : "a block's storage is unknown";
}

static const char *block_fault(const CnProblem *p, const CniBlock *block, int32_t row) {
  if (block->row != row) return "blocks do not follow one another row by row";
  if (block->dim < 1 || block->dim > CNI_MAX_DIM) return "a block's dimension is none";
  if (!in_range((int32_t)block->set, p->set_count)) return "a block's set is not there";
  if (block->kind != (uint32_t)p->sets[block->set].kind) return "a block's kind is not its set's";
  int32_t dim = cni_block_dim((CnBlockKind)block->kind);
  if (dim > 0 && (int32_t)block->dim != dim) return "a block's dimension is not that of its kind";
  return storage_fault(p, block);
}

const char *cni_problem_fault(const CnProblem *p) {
  int32_t row = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const char *fault = block_fault(p, &p->blocks[i], row);
    if (fault) return fault;
    row += (int32_t)p->blocks[i].dim;
  }
  if (row != p->row_count) return "the rows of the blocks are not as many as the problem's";
  if (p->row_capacity < (p->b_per_block ? p->block_count : row))
    return "b has no room for all rows";
  for (int32_t i = 0; i < p->group_count; i++)
    if (cni_group_kind(&p->groups[i]) == CNI_MASS_FULL && !p->full_inertias)
      return "a group's inertia is not there";
  return NULL;
}

// ---- the schedule ----

// Mark the groups with mass that a block touches: none may bear the mark already. `column`: of the
// blocks of a column, which may share groups with each other.
static const char *mark_block(const CnProblem *p, int32_t index, int32_t *marks, int32_t mark,
                              int column) {
  const CniBlock *block = &p->blocks[index];
  int32_t pair = block->storage == CNI_PAIR, i = block->index, ends[2];
  if (block->storage == CNI_ROWS) return NULL; // alone in its batch
  ends[0] = pair ? p->pairs[i].group_a : p->spheres[i].group_a;
  ends[1] = pair ? p->pairs[i].group_b : p->spheres[i].group_b;
  for (int32_t e = 0; e < 2; e++) {
    if (!(p->groups[ends[e]].inv_mass > 0)) continue;
    if (column ? marks[ends[e]] < 0 || marks[ends[e]] == mark : marks[ends[e]] != mark)
      marks[ends[e]] = mark;
    else
      return column ? "a group is in two columns of one phase" : "a group is twice in a colour";
  }
  return NULL;
}

static const char *batch_fault(const CnProblem *p, const CniBatch *batch, int32_t *marks,
                               int32_t mark, uint8_t *seen) {
  for (int32_t lane = 0; lane < CNI_BATCH_LANES; lane++) {
    int32_t first = batch->block[lane];
    if ((first >= 0) != (lane < batch->lane_count)) return "a batch's lanes are not its first ones";
    if (first < 0) continue;
    if (first > p->block_count - batch->length) return "a batch's block is not there";
    const char *fault = mark_block(p, first, marks, mark, 0);
    if (fault) return fault;
    for (int32_t k = 0; k < batch->length; k++)
      if (seen[first + k]++) return "a block is in two batches";
  }
  return NULL;
}

static const char *phase_fault(const CniSchedule *s, const CnProblem *p, int32_t phase,
                               int32_t *marks) {
  const char *fault = NULL;
  for (int32_t i = 0; i < p->group_count; i++) marks[i] = -1;
  for (int32_t k = 0; k < cni_schedule_phase_size(s, phase); k++) {
    int32_t column = cni_schedule_column(s, phase, k);
    for (int32_t i = s->start[column]; i < s->start[column + 1]; i++)
      for (int32_t lane = 0; !fault && lane < s->batches[i].lane_count; lane++)
        fault = mark_block(p, s->batches[i].block[lane], marks, column, 1);
  }
  return fault;
}

// Of several ranks each has the blocks that it sweeps.
static int swept_here(const CniSchedule *s, int32_t block) {
  const CniSpread *spread = &s->spread;
  return spread->active == 0 || spread->owner[block] == CNI_EVERYBODY ||
         spread->owner[block] == spread->rank;
}

const char *cni_schedule_fault(const CniSchedule *s, const CnProblem *p) {
  // not from the allocator of the schedule: what a checked build asks for is not counted
  int32_t *marks = calloc((size_t)p->group_count + 1, sizeof *marks);
  uint8_t *seen = calloc((size_t)p->block_count + 1, sizeof *seen);
  const char *fault = NULL;
  for (int32_t i = 0; marks && seen && !fault && i < s->batch_count; i++)
    fault = batch_fault(p, &s->batches[i], marks, i + 1, seen);
  for (int32_t i = 0; seen && !fault && i < p->block_count; i++)
    if (!seen[i] && swept_here(s, i)) fault = "a block is in no batch";
  for (int32_t phase = 0; marks && !fault && phase < s->phase_count; phase++)
    fault = phase_fault(s, p, phase, marks);
  free(marks);
  free(seen);
  return fault;
}
