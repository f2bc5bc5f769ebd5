// SPDX-License-Identifier: Apache-2.0
// From a problem to the workspace of the sweeps.
//
// Every block is given a kind, and the schedule is made. Then room for everything, so that nothing
// can fail once something has been written. Then column by column, in parallel, the constants of each
// block and the warm start, projected on the sets; last v = v_free + M^-1 E^T g by a sweep that
// applies impulses and changes none.
#include "solver/sweeps/psor.h"
#include "core/assert.h"

#include <string.h>

#define ITEMS_PER_TASK 4096
#define MODEL_SAMPLES 16
#define MODEL_LEAST 16 // in problems of fewer blocks a shared set saves less than finding it takes
#define BATCHES_AHEAD 4
#define BATCHES_PER_TURN 16 // 14 kB of plain contacts of spheres

// ---- which kind ----

// Has a contact belt speeds or compliance?
static int is_full(const CniPsor *s, const CnProblem *p, const CniBlock *block) {
  const double *c = p->sets[block->set].compliance;
  if (s->rule.lambda != 1 || c[0] > 0) return 1;
  if (block->kind == CN_BLOCK_UNILATERAL) return 0;
  return c[1] > 0 || (!p->b_per_block && (p->b[block->row + 1] != 0 || p->b[block->row + 2] != 0));
}

static CniPsorKind choose_kind(const CniPsor *s, const CnProblem *p, const CniBlock *block) {
  int contact = block->kind == CN_BLOCK_UNILATERAL || block->kind >= CN_BLOCK_FRICTION;
  if (block->storage > CNI_SPHERE || block->storage == CNI_ROWS || !contact) return CNI_PSOR_ROWS;
  int exact = s->rule.local == CN_LOCAL_EXACT;
  int full = is_full(s, p, block), turn = block->kind >= CN_BLOCK_ROLLING;
  if (block->storage == CNI_SPHERE) {
    // for spheres the split of the coulomb model is exact, but for rolling
    int rough = block->kind != CN_BLOCK_UNILATERAL && p->sets[block->set].mu > 0;
    if (exact && (turn || (rough && p->friction == CN_FRICTION_CONVEX))) return CNI_PSOR_ROWS;
    return turn ? CNI_PSOR_SPHERE_TURN : full ? CNI_PSOR_SPHERE_FULL : CNI_PSOR_SPHERE;
  }
  if (exact && block->dim > 1) return CNI_PSOR_ROWS;
  return turn ? CNI_PSOR_PAIR_TURN : full ? CNI_PSOR_PAIR_FULL : CNI_PSOR_PAIR;
}

// ---- contacts that are alike ----

// Would the two have the same set? Both are contacts of spheres.
static int same_set(const CnProblem *p, const CniBlock *x, const CniBlock *y) {
  const CniSphereBlock *c = &p->spheres[x->index], *d = &p->spheres[y->index];
  const CniGroup *ca = &p->groups[c->group_a], *cb = &p->groups[c->group_b];
  const CniGroup *da = &p->groups[d->group_a], *db = &p->groups[d->group_b];
  return x->set == y->set && c->radius_a == d->radius_a && c->radius_b == d->radius_b &&
         ca->inv_mass == da->inv_mass && cb->inv_mass == db->inv_mass &&
         ca->inv_inertia == da->inv_inertia && cb->inv_inertia == db->inv_inertia;
}

// A contact that many others are like, as far as a few of them tell.
static int32_t find_model(const CniPsor *s, const CnProblem *p) {
  int32_t some[MODEL_SAMPLES], count = 0, best = -1, most = 1;
  int32_t samples = p->block_count < MODEL_LEAST ? 0 : MODEL_SAMPLES;
  for (int32_t i = 0; i < samples; i++) {
    int32_t block = (int32_t)((int64_t)p->block_count * i / samples);
    if (choose_kind(s, p, &p->blocks[block]) == CNI_PSOR_SPHERE) some[count++] = block;
  }
  for (int32_t i = 0; i < count && 2 * most <= count; i++) { // more than half are like no others
    int32_t like = 0;
    for (int32_t k = 0; k < count; k++)
      like += same_set(p, &p->blocks[some[i]], &p->blocks[some[k]]);
    if (like > most) {
      most = like;
      best = some[i];
    }
  }
  return best;
}

// Does a belt move below a contact?
static inline int has_belt(const CnProblem *p, const CniBlock *block) {
  return !p->b_per_block && block->dim > 2 &&
         (p->b[block->row + 1] != 0 || p->b[block->row + 2] != 0);
}

// A kind follows from set, storage and belt, and neighbours mostly have the same.
static void choose_kinds(void *context, int32_t begin, int32_t end) {
  CniPsor *s = context;
  const CnProblem *p = s->p;
  for (int32_t i = begin; i < end;) {
    const CniBlock *first = &p->blocks[i], *block = first + 1, *last = &p->blocks[end];
    int belt = has_belt(p, first);
    while (block < last && block->set == first->set && block->storage == first->storage &&
           has_belt(p, block) == belt)
      block++;
    memset(s->kinds + i, (int)choose_kind(s, p, first), (size_t)(block - first));
    i += (int32_t)(block - first);
  }
  // where nothing is alike nobody asks
  for (int32_t i = begin; i < end && s->model >= 0; i++)
    s->uniform[i] =
        s->kinds[i] == CNI_PSOR_SPHERE && same_set(p, &p->blocks[i], &p->blocks[s->model]);
}

static CniPsorUpdate choose_law(const CniPsor *s, const CnProblem *p) {
  if (s->rule.local == CN_LOCAL_EXACT) return CNI_PSOR_SPLIT;
  if (p->friction == CN_FRICTION_CONVEX) return CNI_PSOR_CONVEX;
  return s->rule.local == CN_LOCAL_PROJECTION ? CNI_PSOR_SHIFTED : CNI_PSOR_SPLIT;
}

// ---- room ----

static void count_rows(const CniPsor *s, const CnProblem *p, const CniBlock *block,
                       CniPsorCounts *n) {
  n->rows++;
  n->pool += cni_local_pool_size(block, &s->rule);
  n->entries += cni_block_entries(p, block);
}

// Which of the sets of its column a batch has whose set lies apart; -1: the one that many share.
static int32_t find_set(const CniPsor *s, const CniBatch *batch, CniPsorCounts *n) {
  for (int32_t lane = 0; lane < batch->lane_count; lane++)
    if (s->model < 0 || !s->uniform[batch->block[lane]]) return n->sets++;
  return -1;
}

typedef struct ColumnCounts {
  CniPsor *s;
  CniPsorCounts *before; // each column, and at the end all of it
  CniBatch *to;          // where the batches go
} ColumnCounts;

// The rest is a column too. CniPsorCounts of column i are left in before[i + 1].
static void count_columns(void *context, int32_t begin, int32_t end) {
  ColumnCounts *columns = context;
  const CniPsor *s = columns->s;
  const CniSchedule *schedule = &s->schedule;
  for (int32_t column = begin; column < end; column++) {
    const CniBatch *last = NULL;
    CniPsorCounts n = {0};
    for (int32_t i = schedule->start[column]; i < schedule->start[column + 1]; i++) {
      CniBatch *batch = &schedule->batches[i];
      n.runs += !cni_batch_follows(last, batch);
      n.pairs += batch->kind >= CNI_PSOR_PAIR && batch->kind < CNI_PSOR_LANE_KINDS;
      last = batch;
      if (batch->kind == CNI_PSOR_ROWS)
        count_rows(s, s->p, &s->p->blocks[batch->block[0]], &n);
      else
        n.lines += 1 + cni_psor_lines(batch->kind) * batch->length;
      if (batch->kind == CNI_PSOR_SPHERE) batch->note = find_set(s, batch, &n);
    }
    columns->before[column + 1] = n;
  }
}

// The first set is the one that many share.
static CniPsorCounts count_all(ColumnCounts *columns, int32_t column_count) {
  CniPsorCounts *n = columns->before;
  n[0] = (CniPsorCounts){.sets = 1};
  for (int32_t i = 0; i < column_count; i++) {
    n[i + 1].lines += n[i].lines;
    n[i + 1].pool += n[i].pool;
    n[i + 1].entries += n[i].entries;
    n[i + 1].runs += n[i].runs;
    n[i + 1].rows += n[i].rows;
    n[i + 1].pairs += n[i].pairs;
    n[i + 1].sets += n[i].sets;
  }
  return n[column_count];
}

static size_t whole_lines(size_t bytes) {
  return (bytes + sizeof(CniPsorLine) - 1) / sizeof(CniPsorLine);
}

// Groups, inertia and lanes, in memory that others need before or after: see psor.h. to: where the
// batches go.
static CnStatus make_space(CniPsor *s, const CnProblem *p, const CnAnswer *answer,
                           CniStepMemory *memory, const CniPsorCounts *n, CniBatch **to) {
  int lent = memory->lent_groups && memory->lent_groups == p->groups;
  CNI_ASSERT(!lent || p->group_capacity > p->group_count);
  CniSchedule *schedule = &s->schedule;
  size_t inertia = s->turned ? (size_t)p->group_count + 1 : 0,
         count = (size_t)schedule->batch_count;
  size_t lines = (size_t)n->lines + inertia + CNI_LINES_SET * (size_t)n->sets;
  size_t numbers = whole_lines(count * sizeof *s->set_numbers);
  int moves = schedule->batches != schedule->own; // they are where the free velocities will be
  size_t batches = moves ? whole_lines(count * sizeof *schedule->batches) : 0;
  size_t copies = lent ? 0 : (size_t)p->group_count + 1;
  CNI_TRY(cni_step_memory_space(memory, (lines + numbers + batches + copies) * sizeof *s->lines));
  s->lines = (CniPsorLine *)(void *)memory->space;
  s->inertia = (CniPsorInertia *)(void *)(s->lines + n->lines);
  s->sets = s->lines + n->lines + inertia;
  s->set_count = n->sets;
  s->set_numbers = (int32_t *)(void *)(s->lines + lines);
  *to = moves ? (CniBatch *)(void *)(s->lines + lines + numbers) : schedule->batches;
  s->groups =
      lent ? memory->lent_groups : (CniPsorGroup *)(void *)(s->lines + lines + numbers + batches);
  s->free = answer->v;
  size_t swept = lines * sizeof *s->lines + (size_t)p->group_count * sizeof *s->groups;
  s->ahead = swept > s->cache_bytes ? BATCHES_AHEAD : INT32_MAX;
  return CN_OK;
}

static CnStatus reserve_columns(CniPsor *s, int32_t count) {
  const CnAllocator *a = &s->allocator;
  CNI_TRY(CNI_RESERVE(a, s->run_start, s->run_start_capacity, 0, count + 1));
  CNI_TRY(CNI_RESERVE(a, s->column_counts, s->column_count_capacity, 0, count + 1));
  return CNI_RESERVE(a, s->failed, s->failed_capacity, 0, count);
}

static CnStatus make_room(CniPsor *s, const CnProblem *p, const CniPsorCounts *n) {
  if (n->pool > INT32_MAX || n->lines > INT32_MAX || n->entries > INT32_MAX)
    return cni_invalid("problem of %d blocks is too large for %s", (int)p->block_count,
                       s->def.name);
  const CnAllocator *a = &s->allocator;
  // what convergence checks need, what rows need, what pairs need: in a pile of a million
  // spheres none of it
  int checks = s->def.tolerance > 0 || p->form == CN_FORM_EXPLICIT;
  int32_t check_rows = checks ? p->row_count : 0;
#define ROOM(array, capacity, needed) CNI_TRY(CNI_RESERVE(a, s->array, s->capacity, 0, needed))
  ROOM(runs, run_capacity, n->runs);
  ROOM(rows, rows_capacity, n->rows);
  ROOM(entries, entry_capacity, (int32_t)n->entries);
  ROOM(pool, pool_capacity, (int32_t)n->pool);
  ROOM(g, g_capacity, n->rows > 0 || s->joint_count > 0 ? p->row_count : check_rows);
  ROOM(u, u_capacity, check_rows);
  ROOM(v, v_capacity, checks ? 6 * p->group_count : 0);
#undef ROOM
  return CN_OK;
}

// ---- groups ----

static void prepare_groups(void *context, int32_t begin, int32_t end) {
  CniPsor *s = context;
  const CnProblem *p = s->p;
  for (int32_t i = begin; i < end; i++) {
    if (i == p->group_count) {
      s->groups[i] = (CniPsorGroup){.inv_mass = 0};
      if (s->turned) s->inertia[i] = (CniPsorInertia){.unused = {0}};
      continue;
    }
    if (s->groups != p->groups) s->groups[i] = p->groups[i];
    CnTwist free = cni_group_free(&s->groups[i]);
    memcpy(s->free + 6 * (size_t)i, &free, sizeof free);
    if (s->turned) s->inertia[i] = (CniPsorInertia){cni_group_inertia(p, i), {0, 0}};
  }
}

static void free_groups(void *context, int32_t begin, int32_t end) {
  CniPsor *s = context;
  for (int32_t i = begin; i < end; i++) {
    memcpy(&s->groups[i].v, s->free + 6 * (size_t)i, 3 * sizeof(double));
    memcpy(&s->groups[i].w, s->free + 6 * (size_t)i + 3, 3 * sizeof(double));
  }
}

static void exchange_groups(void *context, int32_t begin, int32_t end) {
  CniPsor *s = context;
  for (int32_t i = begin; i < end; i++) {
    CnTwist now = cni_group_free(&s->groups[i]);
    free_groups(s, i, i + 1);
    memcpy(s->free + 6 * (size_t)i, &now, sizeof now);
  }
}

void cni_psor_leave(CniPsor *s) {
  cni_parallel_for(s->def.tasks, s->p->group_count, ITEMS_PER_TASK, exchange_groups, s);
}

// Lanes keep g_n + c: take c out again, once.
static void apply_cohesion(CniPsor *s) {
  const CnProblem *p = s->p;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    if (block->kind < CN_BLOCK_FRICTION_2D || choose_kind(s, p, block) == CNI_PSOR_ROWS) continue;
    double c = p->sets[block->set].cohesion;
    if (!(c > 0)) continue;
    CnRowEntry e[2]; // the normal row
    cni_storages[block->storage].expand(p, block, e, 2);
    for (int32_t side = 0; side < 2; side++) {
      CniPsorGroup *group = &s->groups[e[side].group];
      if (!(group->inv_mass > 0)) continue;
      const CnSym3 *j = &s->inertia[e[side].group].inverse;
      group->v = cn_madd(group->v, -c * group->inv_mass, e[side].coefficient.velocity);
      group->w = cn_madd(group->w, -c, cn_smul(*j, e[side].coefficient.spin));
    }
  }
}

// ---- blocks ----

static void prepare_rows(const CniPsor *s, const CnProblem *p, int32_t index, CniPsorRows *c,
                         int32_t entry, double *pool) {
  const CniBlock *block = &p->blocks[index];
  memset(c, 0, sizeof *c);
  c->joint = s->joint_count > 0 && block->kind == CN_BLOCK_BILATERAL;
  c->local.dim = block->dim;
  if (!c->joint) cni_local_prepare(&c->local, p, block, &s->rule, pool);
  c->row = block->row;
  c->block = index;
  c->entry_begin = entry;
  c->entry_end = entry + cni_block_entries(p, block);
  if (block->storage == CNI_EXPLICIT) {
    c->same_columns = cni_psor_same_columns(&p->w, c->row, block->dim);
    return;
  }
  CnRowEntry own[2 * CNI_MAX_DIM];
  const CnRowEntry *entries = own;
  if (block->storage == CNI_ROWS)
    entries = p->row_entries + p->row_blocks[block->index].entry_start;
  else
    cni_storages[block->storage].expand(p, block, own, 2 * CNI_MAX_DIM);
  for (int32_t i = 0; i < c->entry_end - entry; i++) {
    const CnRowEntry *e = &entries[i];
    const CniGroup *group = &p->groups[e->group];
    CniPsorEntry *to = &s->entries[entry + i];
    to->row = e->row;
    to->group = group->inv_mass > 0 ? e->group : ~e->group;
    to->e = e->coefficient;
    to->m_e.velocity = cn_scale(group->inv_mass, e->coefficient.velocity);
    to->m_e.spin = cn_smul(cni_group_inertia(p, e->group), e->coefficient.spin);
  }
}

static void next_rows(CniPsor *s, const CnProblem *p, int32_t block, CniPsorCounts *next) {
  prepare_rows(s, p, block, &s->rows[next->rows], (int32_t)next->entries, s->pool + next->pool);
  count_rows(s, p, &p->blocks[block], next);
}

// Runs and blocks of rows of a column; batches and heads go to their places.
static void prepare_column(const ColumnCounts *columns, int32_t column) {
  CniPsor *s = columns->s;
  const CniSchedule *schedule = &s->schedule;
  CniPsorCounts next = columns->before[column];
  const CniBatch *last = NULL;
  s->run_start[column] = next.runs;
  for (int32_t i = schedule->start[column]; i < schedule->start[column + 1]; i++) {
    CniBatch *batch = &columns->to[i];
    if (batch != &schedule->batches[i]) *batch = schedule->batches[i];
    int rows = batch->kind == CNI_PSOR_ROWS;
    if (!cni_batch_follows(last, batch))
      s->runs[next.runs++] =
          (CniPsorRun){batch->kind, batch->length, 0, rows ? next.rows : i, (size_t)next.lines};
    last = batch;
    s->runs[next.runs - 1].count++;
    s->set_numbers[i] = 0;
    if (rows) {
      next_rows(s, s->p, batch->block[0], &next);
      continue;
    }
    memcpy(s->lines + next.lines, &schedule->groups[i], sizeof schedule->groups[i]);
    next.lines += 1 + cni_psor_lines(batch->kind) * batch->length;
    if (batch->kind == CNI_PSOR_SPHERE && batch->note >= 0)
      s->set_numbers[i] = columns->before[column].sets + batch->note;
  }
}

static void prepare_columns(void *context, int32_t begin, int32_t end) {
  for (int32_t column = begin; column < end; column++) prepare_column(context, column);
}

typedef struct FillLoop {
  CniPsor *s;
  const double *g;
} FillLoop;

// Batches of a run are filled, and while they are in the cache their impulses are applied.
static void fill_run(const FillLoop *loop, const CniPsorRun *run) {
  CniPsor *s = loop->s;
  size_t stride = (size_t)(1 + cni_psor_lines(run->kind) * run->length);
  for (int32_t k = 0, done = 0; k < run->count; k++) {
    CniPsorLine *at = s->lines + run->offset + (size_t)k * stride;
    int32_t number = s->set_numbers[run->begin + k];
    cni_psor_fill_batch(s, &s->schedule.batches[run->begin + k], (CniPsorHead *)(void *)at,
                        number > 0 ? s->sets + CNI_LINES_SET * (size_t)number : NULL, loop->g);
    if (k + 1 - done < BATCHES_PER_TURN && k + 1 < run->count) continue;
    cni_psor_sweep_lanes(s, CNI_PSOR_APPLY, run, done, k + 1 - done, 1);
    done = k + 1;
  }
}

static void fill_columns(void *context, int32_t phase, int32_t begin, int32_t end) {
  const FillLoop *loop = context;
  CniPsor *s = loop->s;
  for (int32_t i = begin; i < end; i++) {
    int32_t column = cni_schedule_column(&s->schedule, phase, i);
    for (int32_t k = s->run_start[column]; k < s->run_start[column + 1]; k++) {
      const CniPsorRun *run = &s->runs[k];
      if (run->kind == CNI_PSOR_ROWS)
        cni_psor_apply_rows(s, run->begin, run->begin + run->count);
      else
        fill_run(loop, run);
    }
  }
}

// ---- all together ----

static int has_cohesion(const CnProblem *p) {
  for (int32_t i = 0; i < p->set_count; i++)
    if (p->sets[i].kind >= CN_BLOCK_FRICTION_2D && p->sets[i].cohesion > 0) return 1;
  return 0;
}

// Then the place of a contact tells where its numbers are.
static int is_in_order(const CnProblem *p) {
  for (int32_t i = 0; i < p->set_count; i++)
    if (p->sets[i].kind != CN_BLOCK_FRICTION) return 0;
  return p->form == CN_FORM_STEP && p->sphere_count == p->block_count;
}

// The explicit form has one run of rows, in stored order.
static CnStatus prepare_explicit(CniPsor *s, const CnProblem *p) {
  CniPsorCounts n = {.runs = 1, .sets = 1}, next = {0};
  for (int32_t i = 0; i < p->block_count; i++) count_rows(s, p, &p->blocks[i], &n);
  CNI_TRY(make_room(s, p, &n));
  for (int32_t i = 0; i < p->block_count; i++) next_rows(s, p, i, &next);
  s->rows_count = next.rows;
  return CN_OK;
}

static CnStatus prepare_step(CniPsor *s, const CnProblem *p, const CnAnswer *answer,
                             CniStepMemory *memory) {
  static const CniBatchRule rules[CNI_PSOR_KIND_COUNT] = {{CNI_BATCH_LANES, 1},
                                                          {CNI_BATCH_LANES, 1},
                                                          {CNI_BATCH_LANES, 1},
                                                          {CNI_BATCH_LANES, CNI_BATCH_LENGTH},
                                                          {CNI_BATCH_LANES, CNI_BATCH_LENGTH},
                                                          {CNI_BATCH_LANES, CNI_BATCH_LENGTH},
                                                          {1, 1}};
  CnTasks *tasks = s->def.tasks;
  size_t room = cni_schedule_room(p), blocks = (size_t)p->block_count;
  CNI_TRY(cni_step_memory_space(memory, room + 2 * blocks));
  s->kinds = (uint8_t *)memory->space + room;
  s->uniform = s->kinds + blocks;
  s->model = find_model(s, p);
  cni_parallel_for(tasks, p->block_count, ITEMS_PER_TASK, choose_kinds, s);
  s->schedule.lent = memory->space;
  s->schedule.place = answer->v;
  s->schedule.place_size = 6 * (size_t)p->group_count * sizeof *answer->v;
  s->schedule.ranks = p->ranks;
  s->schedule.with_joints = s->joint_count > 0;
  CNI_TRY(cni_schedule_make(&s->schedule, p, s->kinds, rules, tasks));
  CNI_VALIDATE(cni_schedule_fault(&s->schedule, p));
  int32_t column_count = s->schedule.column_count + 1;
  CNI_TRY(cni_psor_ranks_reserve(s, p));
  CNI_TRY(reserve_columns(s, column_count));
  ColumnCounts columns = {.s = s, .before = s->column_counts};
  cni_parallel_for(tasks, column_count, 1, count_columns, &columns);
  CniPsorCounts n = count_all(&columns, column_count);
  s->turned = n.pairs > 0 || s->cohesive;
  CNI_TRY(make_room(s, p, &n));
  CNI_TRY(make_space(s, p, answer, memory, &n, &columns.to));
  cni_parallel_for(tasks, column_count, 1, prepare_columns, &columns);
  s->schedule.batches = columns.to;
  s->schedule.groups = NULL;
  s->run_start[column_count] = s->run_count = n.runs;
  s->rows_count = n.rows;
  cni_parallel_for(tasks, p->group_count + 1, ITEMS_PER_TASK, prepare_groups, s);
  if (s->model >= 0) cni_psor_fill_set(s, s->model, s->sets);
  return CN_OK;
}

static void project_rows(CniPsor *s, const CnProblem *p, const double *g) {
  // joints that other ranks prepare are solved by everybody, too
  for (int32_t i = 0; s->schedule.spread.active > 0 && s->joint_count > 0 && i < p->block_count;
       i++)
    if (p->blocks[i].kind == CN_BLOCK_BILATERAL)
      memset(s->g + p->blocks[i].row, 0, p->blocks[i].dim * sizeof *g);
  for (int32_t i = 0; i < s->rows_count; i++) {
    const CniBlock *block = &p->blocks[s->rows[i].block];
    memcpy(s->g + block->row, g + block->row, (size_t)block->dim * sizeof *g);
    cni_project(p, block, s->g + block->row);
    // joints from zero: where rows depend on each other that keeps the reactions of least norm
    if (s->rows[i].joint) memset(s->g + block->row, 0, (size_t)block->dim * sizeof *g);
  }
}

static void restart_columns(void *context, int32_t phase, int32_t begin, int32_t end) {
  CniPsor *s = context;
  for (int32_t i = begin; i < end; i++)
    cni_psor_sweep_column(s, CNI_PSOR_APPLY, cni_schedule_column(&s->schedule, phase, i), 1);
}

// Colour by colour, then the rest.
static void run_phases(CniPsor *s, CniPhaseLoop fn, void *context) {
  static const uint8_t all[CNI_SWEEP_PHASES] = {0, 1, 2, 3, 4};
  int32_t counts[CNI_SWEEP_PHASES], phases = s->schedule.phase_count;
  for (int32_t i = 0; i < phases; i++) counts[i] = cni_schedule_phase_size(&s->schedule, i);
  cni_psor_run(s, phases, counts, all, fn, context);
}

void cni_psor_restart(CniPsor *s) {
  cni_parallel_for(s->def.tasks, s->p->group_count, ITEMS_PER_TASK, free_groups, s);
  if (s->cohesive) apply_cohesion(s);
  run_phases(s, restart_columns, s);
}

static void relax_islands(void *context, int32_t phase, int32_t begin, int32_t end) {
  CniPsor *s = context;
  (void)phase;
  cni_joints_relax(&s->joints, s->p, s->groups, s->g, 1, begin, end);
}

// Sweeps begin with joints that hold, whatever the warm start was.
static void relax_joints(CniPsor *s) {
  uint8_t phase = (uint8_t)s->schedule.phase_count;
  int32_t islands = cni_direct_islands(s->joints.direct);
  cni_psor_run(s, 1, &islands, &phase, relax_islands, s);
}

CnStatus cni_psor_prepare(CniPsor *s, const CnProblem *p, const CnAnswer *answer,
                          CniStepMemory *memory) {
  const double *g = answer->g;
  s->p = p;
  s->kernels = cni_psor_kernels(s->level);
  s->law = choose_law(s, p);
  s->cohesive = has_cohesion(p);
  s->in_order = is_in_order(p);
  s->suspect_run = s->suspect = 0;
  s->check_below = s->def.tolerance;
  s->joint_count = 0;
  s->remote = CN_OK;
  if (p->form == CN_FORM_EXPLICIT) {
    s->schedule.spread.active = 0;
    CNI_TRY(prepare_explicit(s, p));
    project_rows(s, p, g);
    return CN_OK;
  }
  s->joint_count = cni_joints_count(p);
  if (s->joint_count > 0) {
    int32_t fits;
    CNI_TRY(cni_joints_load(&s->joints, p, s->def.tasks, &fits));
    if (!fits) s->joint_count = 0; // they are swept like other rows
  }
  CNI_TRY(prepare_step(s, p, answer, memory));
  project_rows(s, p, g);
  if (s->cohesive) apply_cohesion(s);
  FillLoop loop = {s, g};
  run_phases(s, fill_columns, &loop);
  if (s->joint_count > 0) relax_joints(s);
  return CN_OK;
}
