// SPDX-License-Identifier: Apache-2.0
// A schedule over several ranks that hold the same problem: who sweeps what, and what has to be sent.
//
// A sweep is the colours of the columns one after the other, even slabs before odd ones, and nothing in it
// tells who sweeps a column. A rank owns slabs next to each other. Its last one touches groups of the first
// slab of the rank above, too: these are the border of that rank, and ghosts of this one. A border is crossed by the
// slab below it, and that is an even one or an odd one. Ghosts of those crossed by even slabs go up to their owner after
// even slabs; then the owner sweeps them with its odd slabs, and they come down again. Of those crossed by odd
// slabs it is the other way round. So all ghosts are what their owner has after every half of a sweep, for one
// message each way and sweep:
//
//     even slabs | those crossed go up, the others down | odd slabs | likewise | the rest
//
// Where ranks have parts of a problem (CnProblem::part) a rank does not see the blocks that touch its border: the
// rank below says which groups these are.
//
// The rest (blocks that fit in no column) and joints, which are solved together after every sweep, reach
// anywhere. The groups that they touch are common: everybody gets them from their owners before, solves
// the same blocks from the same numbers, and so knows what the others have found.
//
// There are no more ranks at work than slabs. A problem of one column, or of fewer than four slabs, is swept by
// everybody, and nothing is sent.
#include "core/floats.h"
#include "problem/problem.h"
#include "ranks/ranks.h"

#include <string.h>

enum { BELOW = 1, ABOVE = 2, COMMON = 4 }; // marks of groups
_Static_assert(CNI_CUT_LIMIT < CNI_EVERYBODY, "ranks at work have numbers");

void cni_spread_release(CniSpread *spread, const CnAllocator *a) {
  CNI_RELEASE(a, spread->owner, spread->owner_capacity);
  CNI_RELEASE(a, spread->home, spread->home_capacity);
  CNI_RELEASE(a, spread->border, spread->border_capacity);
  CNI_RELEASE(a, spread->ghosts, spread->ghost_capacity);
  CNI_RELEASE(a, spread->common, spread->common_capacity);
  CNI_RELEASE(a, spread->start, spread->start_capacity);
  *spread = (CniSpread){.active = 0};
}

// ---- the plan ----

CnStatus cn_ranks_plan(int32_t body_count, int32_t rank_count, CnRankPlan *plan) {
  CNI_FLOATS;
  if (!plan) return cni_invalid("cn_ranks_plan: plan is null");
  *plan = (CnRankPlan){.slabs = 0};
  if (body_count < 1 || rank_count < 1)
    return cni_invalid("cn_ranks_plan: counts must be at least 1 (got %d bodies, %d ranks)",
                       (int)body_count, (int)rank_count);
  CniCuts cuts = cni_cuts_aim(body_count);
  int32_t at_work = rank_count < cuts.slabs ? rank_count : cuts.slabs;
  if (cuts.slabs < 4) at_work = 0;
  *plan = (CnRankPlan){cuts.slabs, cuts.rows, at_work < 2 ? 0 : at_work, 1.0 / rank_count};
  if (plan->at_work == 0) return CN_OK;
  // even slabs, then odd ones: of an odd number of slabs one more is waited for
  int32_t most = (cuts.slabs + at_work - 1) / at_work, waits = (most + 1) / 2 * 2;
  plan->efficiency = (double)cuts.slabs / ((double)waits * rank_count);
  return CN_OK;
}

// ---- who has what ----

int32_t cni_part_first_slab(int32_t slabs, int32_t ranks, int32_t rank) {
  int32_t active = ranks < slabs ? ranks : slabs;
  return rank >= active ? slabs : (int32_t)((int64_t)slabs * rank / active);
}

// The first slab of a rank.
static int32_t first_slab(const CniSchedule *s, int32_t rank) {
  return cni_part_first_slab(s->cuts.slabs, cni_ranks_count(s->ranks), rank);
}

static void find_owners(const CniSchedule *s, const CnProblem *p, const uint8_t *rank_of) {
  const CniSpread *spread = &s->spread;
  for (int32_t i = 0; i < p->group_count; i++) {
    int32_t slab = s->layers[i].slab;
    spread->home[i] = s->massless[i] || slab >= s->cuts.slabs ? CNI_EVERYBODY : rank_of[slab];
  }
  for (int32_t i = 0; i < p->block_count; i++) {
    if (s->lengths[i] > 0)
      spread->owner[i] =
          s->columns[i] == s->column_count ? CNI_EVERYBODY : rank_of[s->columns[i] / s->cuts.rows];
    else
      spread->owner[i] = spread->owner[i - 1]; // inside a lane
  }
}

// ---- what is sent ----

static void mark_group(const CniSchedule *s, uint8_t *marks, int32_t group, uint8_t mark) {
  if (group >= 0 && !s->massless[group]) marks[group] |= mark;
}

// The groups with mass of a block.
static void mark_block(const CniSchedule *s, const CnProblem *p, int32_t index, uint8_t *marks,
                       uint8_t mark) {
  const CniBlock *block = &p->blocks[index];
  if (block->storage != CNI_ROWS) {
    mark_group(s, marks, s->ends[index].a, mark);
    mark_group(s, marks, s->ends[index].b, mark);
    return;
  }
  const CniRowsBlock *rows = &p->row_blocks[block->index];
  for (int32_t i = 0; i < rows->entry_count; i++)
    mark_group(s, marks, p->row_entries[rows->entry_start + i].group, mark);
}

static void mark_groups(const CniSchedule *s, const CnProblem *p, uint8_t *marks) {
  const CniSpread *spread = &s->spread;
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t column = s->columns[i], slab = column / s->cuts.rows;
    int common = s->with_joints && p->blocks[i].kind == CN_BLOCK_BILATERAL;
    if (s->lengths[i] > 0 && column == s->column_count) common = 1;
    if (common) mark_block(s, p, i, marks, COMMON);
    if (s->lengths[i] == 0 || column == s->column_count || spread->first == spread->last) continue;
    if (slab == spread->first - 1) mark_block(s, p, i, marks, BELOW);
    if (slab == spread->last - 1) mark_block(s, p, i, marks, ABOVE);
  }
}

// Groups of a slab with a mark, in their order: both sides of a border find the same ones.
static CnStatus list_groups(CniSchedule *s, const CnProblem *p, const uint8_t *marks, uint8_t mark,
                            int32_t slab, int32_t **list, int32_t *capacity, int32_t *count) {
  int32_t n = 0;
  for (int32_t i = 0; i < p->group_count; i++) n += (marks[i] & mark) && s->layers[i].slab == slab;
  CNI_TRY(CNI_RESERVE(&s->allocator, *list, *capacity, 0, n + 1));
  n = 0;
  for (int32_t i = 0; i < p->group_count; i++)
    if ((marks[i] & mark) && s->layers[i].slab == slab) (*list)[n++] = i;
  *count = n;
  return CN_OK;
}

// Rank by rank; a group in no slab is known to everybody as it is.
static CnStatus list_common(CniSchedule *s, const CnProblem *p, const uint8_t *marks) {
  CniSpread *spread = &s->spread;
  int32_t ranks = cni_ranks_count(s->ranks), n = 0;
  CNI_TRY(CNI_RESERVE(&s->allocator, spread->start, spread->start_capacity, 0, ranks + 2));
  memset(spread->start, 0, ((size_t)ranks + 2) * sizeof *spread->start);
  // [r + 2] counts those of rank r, then [r + 1] tells where the next one of it goes
  for (int32_t i = 0; i < p->group_count; i++)
    if ((marks[i] & COMMON) && spread->home[i] != CNI_EVERYBODY)
      spread->start[spread->home[i] + 2]++;
  for (int32_t r = 0; r <= ranks; r++) spread->start[r + 1] += spread->start[r];
  n = (int32_t)spread->start[ranks + 1];
  CNI_TRY(CNI_RESERVE(&s->allocator, spread->common, spread->common_capacity, 0, n + 1));
  for (int32_t i = 0; i < p->group_count; i++)
    if ((marks[i] & COMMON) && spread->home[i] != CNI_EVERYBODY)
      spread->common[spread->start[spread->home[i] + 1]++] = i;
  for (int32_t r = 0; r <= ranks; r++) spread->start[r] *= 6 * (int64_t)sizeof(double);
  spread->common_count = n;
  return CN_OK;
}

// The ghosts of the rank below are this one's border: how many, then which.
static CnStatus take_border(CniSchedule *s, const CnProblem *p) {
  CniSpread *spread = &s->spread;
  int32_t has_above = spread->rank + 1 < spread->active;
  int32_t has_below = spread->rank > 0 && spread->rank < spread->active;
  CnPacket out = {spread->rank + 1, sizeof spread->ghost_count, &spread->ghost_count};
  CnPacket in = {spread->rank - 1, sizeof spread->border_count, &spread->border_count};
  CNI_TRY(cni_ranks_exchange(s->ranks, &out, has_above, &in, has_below));
  CNI_TRY(
      cni_ranks_tell(s->ranks, CNI_RESERVE(&s->allocator, spread->border, spread->border_capacity,
                                           0, spread->border_count + 1)));
  // by their numbers in the whole problem
  for (int32_t i = 0; i < spread->ghost_count; i++)
    spread->ghosts[i] = p->of.numbers[spread->ghosts[i]];
  out = (CnPacket){out.rank, (size_t)spread->ghost_count * sizeof(int32_t), spread->ghosts};
  in = (CnPacket){in.rank, (size_t)spread->border_count * sizeof(int32_t), spread->border};
  CNI_TRY(cni_ranks_exchange(s->ranks, &out, has_above && spread->ghost_count > 0, &in,
                             has_below && spread->border_count > 0));
  for (int32_t i = 0; i < spread->ghost_count; i++)
    spread->ghosts[i] = cni_problem_group_from(p, spread->ghosts[i]);
  for (int32_t i = 0; i < spread->border_count; i++)
    spread->border[i] = cni_problem_group_from(p, spread->border[i]);
  return CN_OK;
}

CnStatus cni_schedule_spread(CniSchedule *s, const CnProblem *p) {
  CniSpread *spread = &s->spread;
  int32_t ranks = cni_ranks_count(s->ranks), slabs = s->cuts.slabs;
  uint8_t rank_of[CNI_NO_LAYER + 1];
  spread->active = 0;
  spread->border_count = spread->ghost_count = spread->common_count = 0;
  if (ranks == 1 || s->column_count == 1 || slabs < 4) return CN_OK;
  CNI_TRY(CNI_RESERVE(&s->allocator, spread->owner, spread->owner_capacity, 0, p->block_count));
  CNI_TRY(CNI_RESERVE(&s->allocator, spread->home, spread->home_capacity, 0, p->group_count));
  spread->active = ranks < slabs ? ranks : slabs;
  spread->rank = cni_ranks_rank(s->ranks);
  spread->first = first_slab(s, spread->rank);
  spread->last = first_slab(s, spread->rank + 1);
  memset(rank_of, CNI_EVERYBODY, sizeof rank_of);
  for (int32_t r = 0; r < spread->active; r++)
    for (int32_t slab = first_slab(s, r); slab < first_slab(s, r + 1); slab++)
      rank_of[slab] = (uint8_t)r;
  find_owners(s, p, rank_of);
  uint8_t *marks = (uint8_t *)s->busy; // not in use yet, and cleared again
  memset(marks, 0, (size_t)p->group_count);
  mark_groups(s, p, marks);
  CNI_TRY(list_groups(s, p, marks, BELOW, spread->first, &spread->border, &spread->border_capacity,
                      &spread->border_count));
  CNI_TRY(list_groups(s, p, marks, ABOVE, spread->last, &spread->ghosts, &spread->ghost_capacity,
                      &spread->ghost_count));
  if (p->part) CNI_TRY(take_border(s, p));
  CNI_TRY(list_common(s, p, marks));
  memset(s->busy, 0, (size_t)p->group_count * sizeof *s->busy);
  return CN_OK;
}
