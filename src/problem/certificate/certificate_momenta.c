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

// The groups of this rank, of its first slab (the border) and of the first one of the rank above (ghosts). Ranks
// know different ones of the same slab: the one below tells which it has, and these are passed on.
typedef struct Borders {
  Range own, border, ghosts;
  int32_t rank, above, below;        // 1: there is a rank
  int32_t ghost_count, border_count; // that are passed on
  int32_t *ghost_list, *border_list;
  double *ghost_values, *border_values; // six a group
} Borders;

static void find_borders(const CniMomenta *m, Borders *b) {
  const CnProblem *p = m->p;
  const CniStretches *s = m->stretches;
  int32_t rows = s->count / p->part_slabs, begin = cni_stretch_begin(s, m->first);
  int32_t end = cni_stretch_begin(s, m->last), any = m->last > m->first;
  *b = (Borders){.own = {begin, end}, .rank = cni_ranks_rank(p->ranks)};
  b->above = any && m->last < s->count;
  b->below = any && m->first > 0;
  b->border = (Range){begin, b->below ? cni_stretch_begin(s, m->first + rows) : begin};
  b->ghosts = (Range){end, b->above ? cni_stretch_begin(s, m->last + rows) : end};
}

static size_t bytes_of(int32_t groups) {
  return (size_t)groups * (6 * sizeof(double) + sizeof(int32_t));
}

static void release_borders(const CnProblem *p, Borders *b) {
  cni_release(&p->allocator, b->ghost_values, bytes_of(b->ghost_count));
  cni_release(&p->allocator, b->border_values, bytes_of(b->border_count));
}

// Room for so many: values, then the list.
static CnStatus take_border(const CnProblem *p, int32_t count, double **values, int32_t **list) {
  *values = cni_allocate(&p->allocator, bytes_of(count));
  if (count > 0 && !*values) return cni_error_memory(bytes_of(count));
  *list = count > 0 ? (int32_t *)(void *)(*values + 6 * (size_t)count) : NULL;
  return CN_OK;
}

// Groups with mass among the ghosts, by their numbers in the whole problem to the rank above.
static CnStatus list_borders(const CniMomenta *m, Borders *b) {
  const CnProblem *p = m->p;
  int32_t n = 0, count = 0;
  for (int32_t i = b->ghosts.begin; i < b->ghosts.end; i++) n += p->groups[i].inv_mass > 0;
  CnPacket out = {b->rank + 1, sizeof n, &n}, in = {b->rank - 1, sizeof count, &count};
  CNI_TRY(cni_ranks_exchange(p->ranks, &out, b->above, &in, b->below));
  CnStatus status = take_border(p, n, &b->ghost_values, &b->ghost_list);
  if (status == CN_OK) {
    b->ghost_count = n;
    status = take_border(p, count, &b->border_values, &b->border_list);
  }
  if (status == CN_OK) b->border_count = count;
  CNI_TRY(cni_ranks_tell(p->ranks, status));
  n = 0;
  for (int32_t i = b->ghosts.begin; i < b->ghosts.end; i++)
    if (p->groups[i].inv_mass > 0) b->ghost_list[n++] = p->of.numbers[i];
  out = (CnPacket){out.rank, (size_t)n * sizeof(int32_t), b->ghost_list};
  in = (CnPacket){in.rank, (size_t)count * sizeof(int32_t), b->border_list};
  CNI_TRY(cni_ranks_exchange(p->ranks, &out, n > 0, &in, count > 0));
  for (int32_t i = 0; i < n; i++) b->ghost_list[i] = cni_problem_group_from(p, b->ghost_list[i]);
  for (int32_t i = 0; i < count; i++)
    b->border_list[i] = cni_problem_group_from(p, b->border_list[i]);
  return CN_OK;
}

static void move_values(double *momentum, const int32_t *list, int32_t count, double *values,
                        int out) {
  for (int32_t i = 0; i < count; i++) {
    double *k = momentum + 6 * (size_t)list[i], *x = values + 6 * (size_t)i;
    memcpy(out ? x : k, out ? k : x, 6 * sizeof *k);
  }
}

// Momenta of ghosts to the rank above, whose border they are, or of borders to the rank below.
static CnStatus send_momenta(const CniMomenta *m, const Borders *b, int up) {
  size_t one = 6 * sizeof(double);
  int32_t ghosts = b->ghost_count, borders = b->border_count;
  CnPacket above = {b->rank + 1, one * (size_t)ghosts, b->ghost_values};
  CnPacket below = {b->rank - 1, one * (size_t)borders, b->border_values};
  CnPacket *out = up ? &above : &below, *in = up ? &below : &above;
  if (up)
    move_values(m->momentum, b->ghost_list, ghosts, b->ghost_values, 1);
  else
    move_values(m->momentum, b->border_list, borders, b->border_values, 1);
  CNI_TRY(cni_ranks_exchange(m->p->ranks, out, out->size > 0, in, in->size > 0));
  if (up)
    move_values(m->momentum, b->border_list, borders, b->border_values, 0);
  else
    move_values(m->momentum, b->ghost_list, ghosts, b->ghost_values, 0);
  return CN_OK;
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
static CnStatus sum_between(const CniMomenta *m, Borders *b) {
  const CnProblem *p = m->p;
  int64_t others = !all_spheres(p);
  Range inner = {b->border.end, b->own.end};
  CNI_TRY(list_borders(m, b));
  CNI_TRY(cni_ranks_sum(p->ranks, &others, 1));
  clear_momenta(m, (Range){0, p->group_count});
  add_stretches(m, b->ghosts, 0, m->last);
  CNI_TRY(send_momenta(m, b, 1));
  add_stretches(m, b->border, m->first, m->last);
  add_stretches(m, inner, 0, m->last);
  if (!others) return CN_OK;
  CNI_TRY(send_momenta(m, b, 0));
  add_others(m, b->ghosts, 0, m->last);
  CNI_TRY(send_momenta(m, b, 1));
  add_others(m, b->border, m->first, m->last);
  add_others(m, inner, 0, m->last);
  return CN_OK;
}

static CnStatus sum_part_momenta(const CniMomenta *m) {
  Borders b;
  find_borders(m, &b);
  CnStatus status = sum_between(m, &b);
  release_borders(m->p, &b);
  return status;
}

CnStatus cni_momenta_sum(const CniMomenta *m) {
  if (m->p->part) return sum_part_momenta(m);
  sum_all_momenta(m);
  return CN_OK;
}
