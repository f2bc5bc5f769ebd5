// SPDX-License-Identifier: Apache-2.0
// Stretches: groups cut where columns are cut, and the blocks that belong to each.
//
// Sums over all blocks or groups are made stretch by stretch, in stored order within each, and then
// over the stretches in their order. That is what workers share: a stretch is one task. And it is
// what lets the parts of a problem lie in several places: stretches are cut at the same groups as
// the columns of a sweep (slabs.c), so who has whole columns has whole stretches, and nothing of a
// sum tells where its parts were made.
//
// A block belongs to the stretch of its lowest group with mass. In a world's problem the contacts of
// bodies without mass come first, one such body after the other, and each of them goes through all
// stretches; then come the others. So blocks of a stretch lie in pieces. A piece ends with its
// stretch or with its group without mass; where it ends does not depend on what other stretches have.
//
// Cost: one pass over the blocks, in parallel; pieces are few.
#include "core/sort.h"
#include "problem/certificate/reduction.h"

#define BLOCKS_PER_TASK 4096
#define NOBODY (-1) // as owner: both groups have mass
#define MIXED (-2)  // or it is no contact of two points

// The stretch of a block, and the group without mass that it lies with.
typedef struct Home {
  int32_t stretch, owner;
} Home;

int32_t cni_stretch_of(const CniStretches *s, int32_t group) {
  if (s->begins) {
    int32_t low = 0, high = s->count - 1;
    CNI_BISECT(low, high, middle, s->begins[middle + 1] <= group)
    return group < s->begin || group >= s->end ? 0 : low;
  }
  int64_t number = group - s->begin, moving = s->end - s->begin;
  return number < 0 || number >= moving ? 0 : (int32_t)(number * s->count / moving);
}

// The first number of a stretch, where there are `moving` of them.
static int32_t begin_of(const CniStretches *s, int32_t stretch, int64_t moving) {
  return (int32_t)((stretch * moving + s->count - 1) / s->count);
}

int32_t cni_stretch_begin(const CniStretches *s, int32_t stretch) {
  return s->begins ? s->begins[stretch] : s->begin + begin_of(s, stretch, s->end - s->begin);
}

static int has_mass(const CnProblem *p, int32_t group) { return p->groups[group].inv_mass > 0; }

// The lowest group with mass of a block of sparse rows; the first group of all if there is none.
static int32_t lowest_of_rows(const CnProblem *p, const CniRowsBlock *rows) {
  int32_t lowest = -1;
  for (int32_t i = 0; i < rows->entry_count; i++) {
    int32_t group = p->row_entries[rows->entry_start + i].group;
    if (has_mass(p, group) && (lowest < 0 || group < lowest)) lowest = group;
  }
  return lowest < 0 ? 0 : lowest;
}

// The groups of a contact as one number, to tell at once whether the block is like the one before.
static inline int32_t lowest_of(const CnProblem *p, const CniStretches *s, const CniBlock *block,
                                int32_t *owner) {
  int32_t k = block->index, pair = block->storage == CNI_PAIR;
  if (!pair && block->storage != CNI_SPHERE) {
    *owner = MIXED;
    return lowest_of_rows(p, &p->row_blocks[k]);
  }
  int32_t a = pair ? p->pairs[k].group_a : p->spheres[k].group_a;
  int32_t b = pair ? p->pairs[k].group_b : p->spheres[k].group_b;
  int32_t low = a < b ? a : b, high = a < b ? b : a;
  *owner = NOBODY;
  if (s->all_move && low >= s->begin && high < s->end) return low;
  if (has_mass(p, low)) {
    *owner = has_mass(p, high) ? NOBODY : high;
    return low;
  }
  *owner = low;
  return high;
}

typedef struct PieceLoop {
  const CnProblem *p;
  const CniStretches *s;
} PieceLoop;

// Pieces of these blocks, from the place of the first one on; behind the last of them one without
// blocks, if there is room.
static void find_pieces(void *context, int32_t begin, int32_t end) {
  const PieceLoop *loop = context;
  const CniStretches *s = loop->s;
  CniPiece *pieces = s->pieces + begin;
  int32_t n = -1, low = 0, high = 0; // groups of the stretch of the piece at hand
  for (int32_t i = begin; i < end; i++) {
    int32_t owner, group = lowest_of(loop->p, s, &loop->p->blocks[i], &owner);
    if (n >= 0 && group >= low && group < high && owner == pieces[n].owner) {
      pieces[n].count++;
      continue;
    }
    int32_t stretch = cni_stretch_of(s, group);
    low = cni_stretch_begin(s, stretch);
    high = cni_stretch_begin(s, stretch + 1);
    pieces[++n] = (CniPiece){i, 1, stretch, owner};
  }
  if (begin + n + 1 < end) pieces[n + 1].count = 0;
}

// Pieces in a row, stretch by stretch, those that a task has cut put together again.
static void link_pieces(CniStretches *s, int32_t block_count) {
  for (int32_t i = 0; i < s->count; i++) s->head[i] = s->tail[i] = -1;
  for (int32_t begin = 0; begin < block_count; begin += BLOCKS_PER_TASK) {
    int32_t end = block_count - begin > BLOCKS_PER_TASK ? begin + BLOCKS_PER_TASK : block_count;
    for (int32_t i = begin; i < end && s->pieces[i].count > 0; i++) {
      CniPiece *piece = &s->pieces[i];
      int32_t *tail = &s->tail[piece->next];
      CniPiece *last = *tail >= 0 ? &s->pieces[*tail] : NULL;
      if (last && last->owner == piece->owner && last->first + last->count == piece->first) {
        last->count += piece->count;
        continue;
      }
      if (last)
        last->next = i;
      else
        s->head[piece->next] = i;
      *tail = i;
      piece->next = -1;
    }
  }
}

static int32_t stretch_count(const CnProblem *p) {
  CniCuts cuts = cni_cuts_aim(cni_problem_most_moving(p));
  return cuts.slabs * cuts.rows;
}

#define WHOLE(type) ((int32_t)((sizeof(type) + sizeof(double) - 1) / sizeof(double)))

int32_t cni_stretches_scratch(const CnProblem *p) {
  int32_t begins = p->part ? stretch_count(p) / 2 + 1 : 0;
  return WHOLE(CniStretches) + stretch_count(p) + begins + WHOLE(CniPiece) * p->block_count;
}

// Of a part: the groups where the stretches of the whole begin.
static void find_begins(CniStretches *s, const CnProblem *p) {
  for (int32_t k = 0; k <= s->count; k++)
    s->begins[k] = cni_problem_group_from(p, p->of.first + begin_of(s, k, p->of.count));
  s->begin = s->begins[0];
  s->end = s->begins[s->count];
}

CniStretches *cni_stretches_make(const CnProblem *p, double *space) {
  CniStretches *s = (CniStretches *)(void *)space;
  int32_t most = stretch_count(p), moving = 0;
  s->head = (int32_t *)(void *)(space + WHOLE(CniStretches));
  s->tail = s->head + most;
  s->begins = p->part ? s->tail + most : NULL;
  s->pieces = (CniPiece *)(void *)(space + cni_stretches_scratch(p) -
                                   (ptrdiff_t)WHOLE(CniPiece) * p->block_count);
  s->begin = 0;
  s->end = p->group_count;
  for (int32_t i = 0; i < p->group_count; i++) moving += has_mass(p, i);
  CniCuts cuts = cni_cuts_aim(p->part ? p->of.moving : moving);
  s->count = cuts.slabs * cuts.rows;
  if (p->part) find_begins(s, p);
  while (!p->part && s->begin < s->end && !has_mass(p, s->begin)) s->begin++;
  while (!p->part && s->end > s->begin && !has_mass(p, s->end - 1)) s->end--;
  s->all_move = moving == s->end - s->begin;
  PieceLoop loop = {p, s};
  cni_parallel_for(p->tasks, p->block_count, BLOCKS_PER_TASK, find_pieces, &loop);
  link_pieces(s, p->block_count);
  return s;
}
