// SPDX-License-Identifier: Apache-2.0
// Momenta E^T g of the groups of a problem in step form, for its certificate.
//
// That of a group is summed in the order of the stretches and of the blocks in each, whichever worker does it: each
// goes through all blocks and adds to the groups of its own range.
//
// Where several ranks have parts of the problem, the momentum of a group at a border begins with the contacts of the
// rank below, which tells it.
#include "problem/certificate/reduction.h"
#include "ranks/ranks.h"

#include <string.h>

// Groups [begin, end) of one worker.
typedef struct Range {
  int32_t begin, end;
} Range;

static int in_range(Range range, int32_t group) {
  return group >= range.begin && group < range.end;
}

// k = (linear, angular) plus `sign` f, minus `arm` n x f.
static void add_momentum(double *k, double sign, CnVec3 f, double arm, CnVec3 turn) {
  k[0] += sign * f.x;
  k[1] += sign * f.y;
  k[2] += sign * f.z;
  k[3] -= arm * turn.x;
  k[4] -= arm * turn.y;
  k[5] -= arm * turn.z;
}

static void add_sphere_momenta(const CniMomenta *m, int32_t index, Range range) {
  const CnProblem *p = m->p;
  const double *x = m->impulse + 3 * (size_t)index;
  CnVec3 f = cn_vec3(x[0], x[1], x[2]); // often zero, but nobody can predict when: no branch
  const CniSphereBlock *c = &p->spheres[p->blocks[index].index];
  CnVec3 turn = cn_cross(c->normal, f);
  if (in_range(range, c->group_a))
    add_momentum(m->momentum + 6 * (size_t)c->group_a, -1, f, c->radius_a, turn);
  if (in_range(range, c->group_b))
    add_momentum(m->momentum + 6 * (size_t)c->group_b, 1, f, c->radius_b, turn);
}

static void clear_momenta(const CniMomenta *m, Range range) {
  size_t count = 6 * (size_t)(range.end - range.begin);
  if (count > 0) memset(m->momentum + 6 * (size_t)range.begin, 0, count * sizeof(double));
}

// E^T g of some groups, by the contacts of spheres of some stretches.
static void add_stretches(const CniMomenta *m, Range range, int32_t first, int32_t last) {
  const CnProblem *p = m->p;
  const CniStretches *s = m->stretches;
  for (int32_t k = first; k < last; k++)
    for (int32_t at = s->head[k]; at >= 0; at = s->pieces[at].next)
      for (int32_t i = s->pieces[at].first, n = s->pieces[at].count; n > 0; i++, n--)
        if (cni_is_sphere_friction(&p->blocks[i])) add_sphere_momenta(m, i, range);
}

static void sum_momenta(const CniMomenta *m, Range range) {
  clear_momenta(m, range);
  add_stretches(m, range, 0, m->stretches->count);
}

static void sum_ranges(void *context, int32_t begin, int32_t end) {
  const CniMomenta *m = context;
  int64_t count = m->p->group_count, ranges = cni_tasks_worker_count(m->p->tasks);
  for (int32_t i = begin; i < end; i++)
    sum_momenta(m, (Range){(int32_t)(count * i / ranges), (int32_t)(count * (i + 1) / ranges)});
}

// By the functions of its storage.
static void add_momenta(const CniMomenta *m, const CniBlock *block) {
  const double *g = m->answer->g + block->row;
  int32_t d = 0;
  while (d < block->dim && g[d] == 0) d++;
  if (d < block->dim) cni_storages[block->storage].momentum(m->p, block, g, m->momentum);
}

// Piles of spheres alone have nothing else; a row of a joint may be stored as that of a sphere, too.
static int all_spheres(const CnProblem *p) {
  if (p->sphere_count < p->block_count) return 0;
  for (int32_t i = 0; i < p->set_count; i++)
    if (p->sets[i].kind != CN_BLOCK_FRICTION) return 0;
  return 1;
}

// Spheres first, in parallel, then the others.
static void sum_all_momenta(const CniMomenta *m) {
  const CnProblem *p = m->p;
  const CniStretches *s = m->stretches;
  cni_parallel_for(p->tasks, cni_tasks_worker_count(p->tasks), 1, sum_ranges, (void *)m);
  if (all_spheres(p)) return;
  for (int32_t k = 0; k < s->count; k++)
    for (int32_t at = s->head[k]; at >= 0; at = s->pieces[at].next)
      for (int32_t i = s->pieces[at].first, n = s->pieces[at].count; n > 0; i++, n--)
        if (!cni_is_sphere_friction(&p->blocks[i])) add_momenta(m, &p->blocks[i]);
}

// ---- momenta of a part of a problem ----

// The groups of this rank, of its first slab (the border) and of the first one of the rank above (ghosts).
typedef struct Borders {
  Range own, border, ghosts;
  int32_t rank, above, below; // 1: there is a rank
} Borders;

static Borders find_borders(const CniMomenta *m) {
  const CnProblem *p = m->p;
  const CniStretches *s = m->stretches;
  int32_t rows = s->count / p->part_slabs, begin = cni_stretch_begin(s, m->first);
  int32_t end = cni_stretch_begin(s, m->last), any = m->last > m->first;
  Borders b = {.own = {begin, end}, .rank = cni_ranks_rank(p->ranks)};
  b.above = any && m->last < s->count;
  b.below = any && m->first > 0;
  b.border = (Range){begin, b.below ? cni_stretch_begin(s, m->first + rows) : begin};
  b.ghosts = (Range){end, b.above ? cni_stretch_begin(s, m->last + rows) : end};
  return b;
}

// Momenta of ghosts to the rank above, whose border they are, or of borders to the rank below.
static CnStatus send_momenta(const CniMomenta *m, const Borders *b, int up) {
  size_t one = 6 * sizeof(double);
  CnPacket above = {b->rank + 1, one * (size_t)(b->ghosts.end - b->ghosts.begin),
                    m->momentum + 6 * (size_t)b->ghosts.begin};
  CnPacket below = {b->rank - 1, one * (size_t)(b->border.end - b->border.begin),
                    m->momentum + 6 * (size_t)b->border.begin};
  return up ? cni_ranks_exchange(m->p->ranks, &above, b->above, &below, b->below)
            : cni_ranks_exchange(m->p->ranks, &below, b->below, &above, b->above);
}

// The other contacts of some stretches; what is not of these groups stays.
static void add_others(const CniMomenta *m, Range range, int32_t first, int32_t last) {
  const CnProblem *p = m->p;
  const CniStretches *s = m->stretches;
  for (int32_t k = first; k < last; k++)
    for (int32_t at = s->head[k]; at >= 0; at = s->pieces[at].next)
      for (int32_t i = s->pieces[at].first, n = s->pieces[at].count; n > 0; i++, n--) {
        const CniBlock *block = &p->blocks[i];
        if (cni_is_sphere_friction(block)) continue;
        int32_t x = block->index, pair = block->storage == CNI_PAIR;
        int32_t groups[2] = {pair ? p->pairs[x].group_a : p->spheres[x].group_a,
                             pair ? p->pairs[x].group_b : p->spheres[x].group_b};
        double kept[2][6];
        for (int side = 0; side < 2; side++)
          memcpy(kept[side], m->momentum + 6 * (size_t)groups[side], sizeof kept[side]);
        add_momenta(m, block);
        for (int side = 0; side < 2; side++)
          if (!in_range(range, groups[side]))
            memcpy(m->momentum + 6 * (size_t)groups[side], kept[side], sizeof kept[side]);
      }
}

// Stretches of ranks below have no other blocks here than those that fit in no column.
static CnStatus sum_part_momenta(const CniMomenta *m) {
  const CnProblem *p = m->p;
  Borders b = find_borders(m);
  int64_t others = !all_spheres(p);
  Range inner = {b.border.end, b.own.end};
  CNI_TRY(cni_ranks_sum(p->ranks, &others, 1));
  clear_momenta(m, (Range){0, p->group_count});
  add_stretches(m, b.ghosts, 0, m->last);
  CNI_TRY(send_momenta(m, &b, 1));
  add_stretches(m, b.border, m->first, m->last);
  add_stretches(m, inner, 0, m->last);
  if (!others) return CN_OK;
  CNI_TRY(send_momenta(m, &b, 0));
  add_others(m, b.ghosts, 0, m->last);
  CNI_TRY(send_momenta(m, &b, 1));
  add_others(m, b.border, m->first, m->last);
  add_others(m, inner, 0, m->last);
  return CN_OK;
}

CnStatus cni_momenta_sum(const CniMomenta *m) {
  if (m->p->part) return sum_part_momenta(m);
  sum_all_momenta(m);
  return CN_OK;
}
