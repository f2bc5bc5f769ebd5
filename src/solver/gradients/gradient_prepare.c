// SPDX-License-Identifier: Apache-2.0
// From a problem to the workspace of the first-order methods, and from their vectors to impulses.
//
// Every block is given a kind, and the schedule is made. Then room for everything, so that nothing
// can fail once something has been written. Then the constants of the blocks, and the velocities
// without impulses; cohesive contacts keep g_n + c, which moves c out of the impulses into those.
#include "solver/gradients/gradient.h"
#include "core/assert.h"

#include <string.h>

#define ITEMS_PER_TASK 4096

void cni_gradient_init(CniGradient *s, const CnAllocator *allocator, CnTasks *tasks) {
  memset(s, 0, sizeof *s);
  s->allocator = *allocator;
  s->tasks = tasks;
  s->level = cni_simd_level();
  cni_schedule_init(&s->schedule, allocator);
}

void cni_gradient_release(CniGradient *s) {
  const CnAllocator *a = &s->allocator;
  cni_schedule_release(&s->schedule);
#define DROP(array, capacity) CNI_RELEASE(a, s->array, s->capacity)
  DROP(kinds, kind_capacity);
  DROP(lines, line_capacity);
  DROP(runs, run_capacity);
  DROP(run_start, run_start_capacity);
  DROP(sums, sums_capacity);
  DROP(rows, rows_capacity);
  DROP(entries, entry_capacity);
  DROP(velocity, velocity_capacity);
  DROP(base, base_capacity);
  DROP(chunk_sums, chunk_capacity);
#undef DROP
}

// ---- which kind ----

static CniGradientKind choose_kind(const CnProblem *p, const CniBlock *block) {
  int contact = block->kind == CN_BLOCK_UNILATERAL || block->kind == CN_BLOCK_FRICTION;
  int pair = block->storage == CNI_PAIR;
  if (!contact || !(pair || block->storage == CNI_SPHERE)) return CNI_GRADIENT_ROWS;
  const double *c = p->sets[block->set].compliance, *b = p->b + block->row;
  int full = c[0] > 0;
  if (block->kind == CN_BLOCK_FRICTION) full = full || c[1] > 0 || b[1] != 0 || b[2] != 0;
  if (pair) return full ? CNI_GRADIENT_PAIR_FULL : CNI_GRADIENT_PAIR;
  return full ? CNI_GRADIENT_SPHERE_FULL : CNI_GRADIENT_SPHERE;
}

static void choose_kinds(void *context, int32_t begin, int32_t end) {
  CniGradient *s = context;
  for (int32_t i = begin; i < end; i++) s->kinds[i] = (uint8_t)choose_kind(s->p, &s->p->blocks[i]);
}

// ---- room ----

typedef struct Counts {
  int64_t lines, entries, size;
  int32_t runs, rows;
} Counts;

// The next batch of a column: a new run begins on a whole line.
static void count_batch(const CnProblem *p, const CniBatch *last, const CniBatch *batch,
                        Counts *n) {
  if (!cni_batch_follows(last, batch)) {
    n->runs++;
    n->size = (n->size + 7) / 8 * 8;
  }
  if (batch->kind == CNI_GRADIENT_ROWS) {
    const CniBlock *block = &p->blocks[batch->block[0]];
    n->rows++;
    n->entries += cni_block_entries(p, block);
    n->size += block->dim;
  } else {
    n->lines += 1 + cni_gradient_lines(batch->kind) * batch->length;
    n->size += (int64_t)CNI_GRAD_IMPULSES * CNI_BATCH_LANES * batch->length;
  }
}

static Counts count_all(const CniGradient *s, const CnProblem *p) {
  Counts n = {0};
  if (p->form == CN_FORM_EXPLICIT) {
    n = (Counts){0, 0, p->row_count, 1, p->block_count};
  } else {
    const CniSchedule *schedule = &s->schedule;
    for (int32_t column = 0; column <= schedule->column_count; column++) {
      const CniBatch *last = NULL;
      for (int32_t i = schedule->start[column]; i < schedule->start[column + 1]; i++) {
        count_batch(p, last, &schedule->batches[i], &n);
        last = &schedule->batches[i];
      }
    }
  }
  n.size = (n.size + 7) / 8 * 8;
  return n;
}

static CnStatus make_room(CniGradient *s, const CnProblem *p, const Counts *n) {
  int is_explicit = p->form == CN_FORM_EXPLICIT;
  int64_t lines = is_explicit ? n->size / 8 : p->group_count;
  int32_t columns = is_explicit ? 1 : s->schedule.column_count + 1;
  if (n->lines > INT32_MAX || n->entries > INT32_MAX || n->size > INT32_MAX ||
      8 * (lines + 1) > INT32_MAX)
    return cni_invalid("problem of %d blocks is too large for a first-order method",
                       (int)p->block_count);
#define ROOM(array, capacity, needed)                                                              \
  CNI_TRY(CNI_RESERVE(&s->allocator, s->array, s->capacity, 0, needed))
  ROOM(lines, line_capacity, (int32_t)n->lines);
  ROOM(runs, run_capacity, n->runs);
  ROOM(run_start, run_start_capacity, columns + 1);
  ROOM(sums, sums_capacity, columns);
  ROOM(rows, rows_capacity, n->rows);
  ROOM(entries, entry_capacity, (int32_t)n->entries);
  ROOM(velocity, velocity_capacity, (int32_t)lines + 1);
  ROOM(base, base_capacity, p->group_count);
  ROOM(chunk_sums, chunk_capacity, p->group_count / 64 + 1);
#undef ROOM
  s->size = (int32_t)n->size;
  s->image_size = 8 * ((int32_t)lines + 1);
  return CN_OK;
}

// ---- constants ----

static double positive(double x, double otherwise) { return x > 0 ? x : otherwise; }

// The metric of a block: the diagonal of N_ii, one number a disc.
static void metric(const CnProblem *p, const CniBlock *block, double *d, double *scale) {
  int32_t dim = block->dim;
  double n[CNI_MAX_DIM * CNI_MAX_DIM], trace = 0;
  cni_storages[block->storage].diagonal(p, block, n);
  for (int32_t i = 0; i < dim; i++) trace += n[i * dim + i];
  *scale = positive(trace / dim, 1);
  for (int32_t i = 0; i < dim; i++) d[i] = positive(n[i * dim + i], *scale);
  CniCone cone = cni_block_cone(p, block);
  for (int32_t j = 0; j < cone.disc_count; j++) {
    double *of = d + cone.start[j];
    if (cone.dim[j] == 2) of[0] = of[1] = .5 * (of[0] + of[1]);
  }
}

static void fill_rows(const CniGradient *s, const CnProblem *p, int32_t index, int32_t entry,
                      int32_t place, CniGradientRows *c) {
  const CniBlock *block = &p->blocks[index];
  const CnSet *set = &p->sets[block->set];
  memset(c, 0, sizeof *c);
  c->cone = cni_block_cone(p, block);
  memcpy(c->mu, c->cone.mu, sizeof c->mu);
  c->dim = block->dim;
  c->kind = block->kind;
  c->block = index;
  c->place = place;
  c->lo = set->lo;
  c->hi = set->hi;
  memcpy(c->b, p->b + block->row, (size_t)block->dim * sizeof *c->b);
  cni_block_compliance(p, block, c->c);
  metric(p, block, c->d, &c->scale);
  for (int32_t i = 0; i < c->dim; i++) c->stretch[i] = sqrt(c->d[i] / c->d[0]);
  for (int32_t j = 0; j < c->cone.disc_count; j++) c->cone.mu[j] *= c->stretch[c->cone.start[j]];
  c->entry_begin = entry;
  c->entry_end = entry + cni_block_entries(p, block);
  if (block->storage == CNI_EXPLICIT) return;
  CnRowEntry own[2 * CNI_MAX_DIM];
  const CnRowEntry *from = own;
  if (block->storage == CNI_ROWS)
    from = p->row_entries + p->row_blocks[block->index].entry_start;
  else
    cni_storages[block->storage].expand(p, block, own, 2 * CNI_MAX_DIM);
  for (int32_t i = 0; i < c->entry_end - entry; i++) {
    int massless = !(p->groups[from[i].group].inv_mass > 0);
    s->entries[entry + i] = (CniGradientEntry){
        from[i].coefficient, massless ? ~from[i].group : from[i].group, from[i].row};
  }
}

static void prepare_runs(CniGradient *s, const CnProblem *p) {
  const CniSchedule *schedule = &s->schedule;
  Counts n = {0};
  for (int32_t column = 0; column <= schedule->column_count; column++) {
    const CniBatch *last = NULL;
    s->run_start[column] = n.runs;
    for (int32_t i = schedule->start[column]; i < schedule->start[column + 1]; i++) {
      const CniBatch *batch = &schedule->batches[i];
      Counts at = n;
      count_batch(p, last, batch, &n);
      int rows = batch->kind == CNI_GRADIENT_ROWS;
      int64_t place = n.runs > at.runs ? (at.size + 7) / 8 * 8 : at.size;
      if (n.runs > at.runs)
        s->runs[at.runs] = (CniGradientRun){batch->kind,        batch->length,    0,
                                            rows ? at.rows : i, (size_t)at.lines, (size_t)place};
      s->runs[n.runs - 1].count++;
      if (rows)
        fill_rows(s, p, batch->block[0], (int32_t)at.entries, (int32_t)place, &s->rows[at.rows]);
      last = batch;
    }
  }
  s->column_count = schedule->column_count + 1;
  s->run_start[s->column_count] = s->run_count = n.runs;
  s->rows_count = n.rows;
}

// ---- lanes ----

static void fill_lane(const CnProblem *p, int32_t kind, const CniBlock *block, CniPsorLine *c,
                      int32_t lane) {
  const CnSet *set = &p->sets[block->set];
  const double *b = p->b + block->row;
  int rough = block->kind == CN_BLOCK_FRICTION;
  double d[CNI_MAX_DIM], scale, held = rough ? set->cohesion : 0;
  CniContactFrame f = cni_contact_frame(p, block);
  metric(p, block, d, &scale);
  double mu = rough ? set->mu : 0, d_t = rough ? d[1] : d[0];
  cni_line_set3(c + CNI_GRAD_N, lane, f.n);
  c[CNI_GRAD_B_N].lane[lane] = b[0] - set->compliance[0] * held;
  c[CNI_GRAD_S].lane[lane] = 0;
  c[CNI_GRAD_MU].lane[lane] = mu;
  c[CNI_GRAD_D_N].lane[lane] = d[0];
  c[CNI_GRAD_D_T].lane[lane] = d_t;
  c[CNI_GRAD_I_N].lane[lane] = 1 / d[0];
  c[CNI_GRAD_I_T].lane[lane] = 1 / d_t;
  c[CNI_GRAD_TIP].lane[lane] = 1 / (d[0] + mu * mu * d_t);
  c[CNI_GRAD_SCALE].lane[lane] = scale;
  CniPsorLine *more = c + CNI_GRAD_LINES_SPHERE;
  if (kind >= CNI_GRADIENT_PAIR) {
    const CniPairBlock *from = &p->pairs[block->index];
    cni_line_set3(c + CNI_GRAD_ARM, lane, from->arm_a);
    cni_line_set3(c + CNI_GRAD_ARM + 3, lane, from->arm_b);
    more = c + CNI_GRAD_LINES_PAIR;
  } else {
    c[CNI_GRAD_ARM].lane[lane] = p->spheres[block->index].radius_a;
    c[CNI_GRAD_ARM + 1].lane[lane] = p->spheres[block->index].radius_b;
  }
  if (kind % 2 == 0) return;
  cni_line_set3(more + CNI_GRAD_B_T, lane,
                rough ? cn_madd(cn_scale(b[1], f.t1), b[2], f.t2) : CN_VEC3_ZERO);
  more[CNI_GRAD_C_N].lane[lane] = set->compliance[0];
  more[CNI_GRAD_C_T].lane[lane] = rough ? set->compliance[1] : 0;
}

static void ends_of(const CnProblem *p, const CniBlock *block, int32_t *a, int32_t *b) {
  if (block->storage == CNI_PAIR) {
    *a = p->pairs[block->index].group_a;
    *b = p->pairs[block->index].group_b;
  } else {
    *a = p->spheres[block->index].group_a;
    *b = p->spheres[block->index].group_b;
  }
}

// Lanes that are not used belong to the group after the last; the scale divides.
static void fill_batch(const CniGradient *s, const CniBatch *batch, CniPsorLine *at) {
  const CnProblem *p = s->p;
  CniPsorHead *head = (CniPsorHead *)(void *)at;
  int32_t lines = cni_gradient_lines(batch->kind);
  memset(at + 1, 0, (size_t)(lines * batch->length) * sizeof *at);
  for (int32_t lane = 0; lane < CNI_BATCH_LANES; lane++) {
    head->a[lane] = head->b[lane] = p->group_count;
    if (lane < batch->lane_count)
      ends_of(p, &p->blocks[batch->block[lane]], &head->a[lane], &head->b[lane]);
    for (int32_t k = 0; k < batch->length; k++) {
      CniPsorLine *c = at + 1 + (size_t)k * (size_t)lines;
      if (lane < batch->lane_count)
        fill_lane(p, batch->kind, &p->blocks[batch->block[lane] + k], c, lane);
      else
        c[CNI_GRAD_SCALE].lane[lane] = 1;
    }
  }
}

static void fill_columns(void *context, int32_t begin, int32_t end) {
  const CniGradient *s = context;
  for (int32_t i = s->run_start[begin]; i < s->run_start[end]; i++) {
    const CniGradientRun *run = &s->runs[i];
    if (run->kind == CNI_GRADIENT_ROWS) continue;
    size_t stride = (size_t)(1 + cni_gradient_lines(run->kind) * run->length);
    for (int32_t k = 0; k < run->count; k++)
      fill_batch(s, &s->schedule.batches[run->begin + k],
                 s->lines + run->offset + (size_t)k * stride);
  }
}

// ---- velocities without impulses ----

static double norm(const double *x, int32_t dim) {
  double sum = 0;
  for (int32_t i = 0; i < dim; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

static void find_free_speed(CniGradient *s) {
  const CnProblem *p = s->p;
  s->free_speed = s->p->speed;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    double u[CNI_MAX_DIM];
    memcpy(u, p->b + block->row, (size_t)block->dim * sizeof *u);
    if (p->form == CN_FORM_STEP) cni_storages[block->storage].free(p, block, u);
    s->free_speed = cn_max(s->free_speed, norm(u, block->dim));
  }
}

static void prepare_groups(CniGradient *s) {
  const CnProblem *p = s->p;
  for (int32_t i = 0; i < p->group_count; i++) {
    const CniGroup *group = &p->groups[i];
    s->base[i] = cni_group_free(group);
    s->velocity[i] = (CniPsorGroup){group->v, group->inv_mass, group->w, 0};
  }
  s->velocity[p->group_count] = (CniPsorGroup){.inv_mass = 0};
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    if (s->kinds[i] == CNI_GRADIENT_ROWS || block->kind != CN_BLOCK_FRICTION) continue;
    double g[3] = {-p->sets[block->set].cohesion, 0, 0};
    if (g[0] < 0) cni_storages[block->storage].impulse(p, block, g, &s->base[0].velocity.x);
  }
}

// ---- all together ----

static CnStatus prepare_explicit(CniGradient *s, const CnProblem *p) {
  Counts n = count_all(s, p);
  CNI_TRY(make_room(s, p, &n));
  for (int32_t i = 0; i < p->block_count; i++) fill_rows(s, p, i, 0, p->blocks[i].row, &s->rows[i]);
  s->runs[0] = (CniGradientRun){CNI_GRADIENT_ROWS, 1, p->block_count, 0, 0, 0};
  s->run_start[0] = 0;
  s->run_start[1] = s->run_count = s->column_count = 1;
  s->rows_count = p->block_count;
  return CN_OK;
}

static CnStatus prepare_step(CniGradient *s, const CnProblem *p) {
  static const CniBatchRule rules[CNI_GRADIENT_KIND_COUNT] = {{CNI_BATCH_LANES, 1},
                                                              {CNI_BATCH_LANES, 1},
                                                              {CNI_BATCH_LANES, CNI_BATCH_LENGTH},
                                                              {CNI_BATCH_LANES, CNI_BATCH_LENGTH},
                                                              {1, 1}};
  CNI_TRY(CNI_RESERVE(&s->allocator, s->kinds, s->kind_capacity, 0, p->block_count));
  cni_parallel_for(s->tasks, p->block_count, ITEMS_PER_TASK, choose_kinds, s);
  CNI_TRY(cni_schedule_make(&s->schedule, p, s->kinds, rules, s->tasks));
  CNI_VALIDATE(cni_schedule_fault(&s->schedule, p));
  Counts n = count_all(s, p);
  CNI_TRY(make_room(s, p, &n));
  prepare_runs(s, p);
  cni_parallel_for(s->tasks, s->column_count, 1, fill_columns, s);
  prepare_groups(s);
  return CN_OK;
}

CnStatus cni_gradient_prepare(CniGradient *s, const CnProblem *p) {
  s->p = p;
  s->kernels = cni_gradient_kernels(s->level);
  s->coulomb = p->friction == CN_FRICTION_COULOMB ? 1 : 0;
  if (p->form == CN_FORM_EXPLICIT)
    CNI_TRY(prepare_explicit(s, p));
  else
    CNI_TRY(prepare_step(s, p));
  find_free_speed(s);
  return CN_OK;
}

// ---- impulses in and out ----

// Calls for the contacts of lanes and the blocks of rows: where their numbers are in x.
typedef struct Copy {
  const CniGradient *s;
  const double *g;
  double *x, *to;
} Copy;

static void load_lane(const CnProblem *p, const CniBlock *block, const double *g, double *x) {
  CniContactFrame f = cni_contact_frame(p, block);
  double own[CNI_MAX_DIM];
  memcpy(own, g + block->row, (size_t)block->dim * sizeof *own);
  cni_project(p, block, own);
  int rough = block->kind == CN_BLOCK_FRICTION;
  CnVec3 t = rough ? cn_madd(cn_scale(own[1], f.t1), own[2], f.t2) : CN_VEC3_ZERO;
  x[0] = own[0] + (rough ? p->sets[block->set].cohesion : 0);
  x[8] = t.x;
  x[16] = t.y;
  x[24] = t.z;
}

static void store_lane(const CnProblem *p, const CniBlock *block, const double *x, double *g) {
  CniContactFrame f = cni_contact_frame(p, block);
  g[block->row] = x[0];
  if (block->kind != CN_BLOCK_FRICTION) return;
  g[block->row] -= p->sets[block->set].cohesion;
  CnVec3 t = cn_vec3(x[8], x[16], x[24]);
  g[block->row + 1] = cn_dot(f.t1, t);
  g[block->row + 2] = cn_dot(f.t2, t);
}

static void copy_run(const Copy *copy, const CniGradientRun *run) {
  const CniGradient *s = copy->s;
  const CnProblem *p = s->p;
  size_t at = run->place;
  for (int32_t i = 0; i < run->count; i++) {
    const CniBatch *batch = &s->schedule.batches[run->begin + i];
    for (int32_t k = 0; k < batch->length; k++, at += CNI_GRAD_IMPULSES * CNI_BATCH_LANES)
      for (int32_t lane = 0; lane < batch->lane_count; lane++) {
        const CniBlock *block = &p->blocks[batch->block[lane] + k];
        if (copy->g)
          load_lane(p, block, copy->g, copy->x + at + (size_t)lane);
        else
          store_lane(p, block, copy->x + at + (size_t)lane, copy->to);
      }
  }
}

static void copy_all(const Copy *copy) {
  const CniGradient *s = copy->s;
  for (int32_t i = 0; i < s->run_count; i++)
    if (s->runs[i].kind != CNI_GRADIENT_ROWS) copy_run(copy, &s->runs[i]);
  for (int32_t i = 0; i < s->rows_count; i++) {
    const CniGradientRows *c = &s->rows[i];
    const CniBlock *block = &s->p->blocks[c->block];
    size_t bytes = (size_t)c->dim * sizeof(double);
    if (copy->g) {
      memcpy(copy->x + c->place, copy->g + block->row, bytes);
      cni_project(s->p, block, copy->x + c->place);
    } else {
      memcpy(copy->to + block->row, copy->x + c->place, bytes);
    }
  }
}

void cni_gradient_load(CniGradient *s, const double *g, double *x) {
  Copy copy = {s, g, x, NULL};
  if (s->size > 0) memset(x, 0, (size_t)s->size * sizeof *x);
  copy_all(&copy);
}

void cni_gradient_store(const CniGradient *s, double *x, double *g) {
  Copy copy = {s, NULL, x, g};
  copy_all(&copy);
}
