// SPDX-License-Identifier: Apache-2.0
// Passes of the first-order methods over blocks, groups and vectors, cut for the workers.
//
// Blocks: passes that only read take the columns of the schedule in any order, others in its phases.
// Groups and vectors: chunks of fixed size. Sums are kept column by column and chunk by chunk and added
// in their order, so that the number of workers does not show.
#include "solver/gradients/gradient.h"

#include <string.h>

#define GROUPS_PER_CHUNK 512
#define NUMBERS_PER_CHUNK 4096

static int is_explicit(const CniGradient *s) { return s->p->form == CN_FORM_EXPLICIT; }

static int32_t chunks(int32_t count, int32_t size) { return (count + size - 1) / size; }

static double add_chunks(const CniGradient *s, int32_t count) {
  double sum = 0;
  for (int32_t i = 0; i < count; i++) sum += s->chunk_sums[i];
  return sum;
}

// ---- over blocks ----

typedef struct BlockLoop {
  CniGradient *s;
  CniGradientPassKind kind;
  CniGradientPass pass;
} BlockLoop;

static void pass_column(BlockLoop *loop, int32_t column) {
  CniGradient *s = loop->s;
  CniGradientSums *sums = &s->sums[column];
  memset(sums, 0, sizeof *sums);
  for (int32_t i = s->run_start[column]; i < s->run_start[column + 1]; i++) {
    const CniGradientRun *run = &s->runs[i];
    CniGradientPass pass = loop->pass;
    pass.sums = sums;
    if (run->kind == CNI_GRADIENT_ROWS) {
      cni_gradient_rows(s, loop->kind, &pass, run->begin, run->begin + run->count);
      continue;
    }
    pass.data = s->lines + run->offset;
    pass.empty = s->p->group_count;
    pass.count = run->count;
    pass.length = run->length;
    pass.x += run->place;
    if (pass.x_old) pass.x_old += run->place;
    if (pass.out) pass.out += run->place;
    s->kernels->pass[run->kind][loop->kind](&pass);
  }
}

static void gather_columns(void *context, int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++) pass_column(context, i);
}

static void scatter_phase(void *context, int32_t phase, int32_t begin, int32_t end) {
  BlockLoop *loop = context;
  for (int32_t i = begin; i < end; i++)
    pass_column(loop, cni_schedule_column(&loop->s->schedule, phase, i));
}

static void gather(CniGradient *s, CniGradientPassKind kind, const CniGradientPass *pass) {
  BlockLoop loop = {s, kind, *pass};
  loop.pass.groups = s->velocity;
  loop.pass.coulomb = s->coulomb;
  cni_parallel_for(s->tasks, s->column_count, 1, gather_columns, &loop);
}

static void clear_groups(void *context, int32_t begin, int32_t end) {
  BlockLoop *loop = context;
  const CniGradient *s = loop->s;
  for (int32_t i = begin; i < end; i++)
    loop->pass.image[i] = (CniPsorGroup){.inv_mass = s->velocity[i].inv_mass};
}

// A pass that writes an image; the columns in their phases.
static void scatter(CniGradient *s, CniGradientPassKind kind, const CniGradientPass *pass,
                    double *image) {
  BlockLoop loop = {s, kind, *pass};
  loop.pass.groups = s->velocity;
  loop.pass.image = (CniPsorGroup *)(void *)image;
  int32_t counts[CNI_SWEEP_PHASES], phases = s->schedule.phase_count;
  cni_parallel_for(s->tasks, s->p->group_count + 1, 8 * GROUPS_PER_CHUNK, clear_groups, &loop);
  for (int32_t i = 0; i < phases; i++) counts[i] = cni_schedule_phase_size(&s->schedule, i);
  cni_parallel_phases(s->tasks, phases, counts, 1, scatter_phase, &loop);
}

static double add_lanes(const CniGradient *s, int32_t k) {
  double sum = 0;
  for (int32_t column = 0; column < s->column_count; column++)
    for (int32_t i = 0; i < CNI_BATCH_LANES; i++) sum += s->sums[column].line[k].lane[i];
  return sum;
}

// A step, and the image of where it leads.
static void make_step(CniGradient *s, CniGradientPassKind kind, const CniGradientPass *pass,
                      double *image, double sums[CNI_GRAD_SUMS]) {
  if (is_explicit(s)) {
    gather(s, kind, pass);
    cni_gradient_image(s, pass->out, image);
  } else {
    scatter(s, kind, pass, image);
  }
  for (int32_t k = 0; k < CNI_GRAD_SUMS; k++) sums[k] = add_lanes(s, k);
}

// A maximum that lets no NaN get lost.
static double max_lanes(const CniGradient *s, int32_t k) {
  double largest = 0;
  for (int32_t column = 0; column < s->column_count; column++)
    for (int32_t i = 0; i < CNI_BATCH_LANES; i++) {
      double x = s->sums[column].line[k].lane[i];
      if (!(x <= largest)) largest = x;
    }
  return largest;
}

void cni_gradient_step(CniGradient *s, const double *x, const double *x_old, double beta, double t,
                       double *out, double *image, double sums[CNI_GRAD_SUMS]) {
  CniGradientPass pass = {.x = x, .x_old = x_old, .out = out, .t = t, .beta = beta};
  make_step(s, CNI_PASS_STEP, &pass, image, sums);
}

void cni_gradient_direction(CniGradient *s, const double *x, double t, double *out, double *image,
                            double sums[CNI_GRAD_SUMS]) {
  CniGradientPass pass = {.x = x, .out = out, .t = t};
  make_step(s, CNI_PASS_DIRECTION, &pass, image, sums);
}

void cni_gradient_check(CniGradient *s, const double *x, double *residual, double *kept) {
  CniGradientPass pass = {.x = x};
  gather(s, CNI_PASS_LOOK, &pass);
  *residual = max_lanes(s, 0);
  *kept = max_lanes(s, 1);
}

void cni_gradient_shift(CniGradient *s, const double *x, double noise) {
  CniGradientPass pass = {.x = x, .t = noise};
  if (s->coulomb > 0) gather(s, CNI_PASS_SHIFT, &pass);
}

// ---- images ----

void cni_gradient_image(CniGradient *s, const double *x, double *image) {
  if (!is_explicit(s)) {
    CniGradientPass pass = {.x = x};
    scatter(s, CNI_PASS_SCATTER, &pass, image);
    return;
  }
  const CnSparse *w = &s->p->w;
  for (int32_t i = 0; i < w->row_count; i++) {
    double sum = 0;
    for (int32_t e = w->start[i]; e < w->start[i + 1]; e++) sum += w->value[e] * x[w->column[e]];
    image[i] = sum;
  }
}

// ---- over groups ----

typedef struct GroupLoop {
  CniGradient *s;
  CniGradientVector a, b, c;
  double beta;
} GroupLoop;

static CnVec3 beyond(CnVec3 x, CnVec3 old, double beta) { return cn_madd(x, beta, cn_sub(x, old)); }

static void take_point(void *context, int32_t begin, int32_t end) {
  const GroupLoop *loop = context;
  CniGradient *s = loop->s;
  const CniPsorGroup *image = (const CniPsorGroup *)(const void *)loop->a.image;
  const CniPsorGroup *old = (const CniPsorGroup *)(const void *)loop->b.image;
  for (int32_t i = begin; i < end; i++) {
    const CniGroup *group = &s->p->groups[i];
    CniPsorGroup *to = &s->velocity[i];
    CnVec3 p = image[i].v, l = image[i].w;
    if (old) {
      p = beyond(p, old[i].v, loop->beta);
      l = beyond(l, old[i].w, loop->beta);
    }
    to->v = cn_madd(s->base[i].velocity, group->inv_mass, p);
    to->w = cn_add(s->base[i].spin, cn_smul(cni_group_inertia(s->p, i), l));
  }
}

void cni_gradient_point(CniGradient *s, const double *image, const double *image_old, double beta) {
  if (is_explicit(s)) {
    double *to = (double *)(void *)s->velocity;
    for (int32_t i = 0; i < s->p->row_count; i++)
      to[i] = image_old ? image[i] + beta * (image[i] - image_old[i]) : image[i];
    return;
  }
  GroupLoop loop = {s, {NULL, image}, {NULL, image_old}, {NULL, NULL}, beta};
  cni_parallel_for(s->tasks, s->p->group_count, GROUPS_PER_CHUNK, take_point, &loop);
}

static void curvature_groups(void *context, int32_t begin, int32_t end) {
  const GroupLoop *loop = context;
  CniGradient *s = loop->s;
  const CniPsorGroup *a = (const CniPsorGroup *)(const void *)loop->a.image;
  const CniPsorGroup *b = (const CniPsorGroup *)(const void *)loop->b.image;
  const CniPsorGroup *c = (const CniPsorGroup *)(const void *)loop->c.image;
  for (int32_t chunk = begin; chunk < end; chunk++) {
    int32_t last = (chunk + 1) * GROUPS_PER_CHUNK;
    double sum = 0;
    if (last > s->p->group_count) last = s->p->group_count;
    for (int32_t i = chunk * GROUPS_PER_CHUNK; i < last; i++) {
      const CniGroup *group = &s->p->groups[i];
      CnVec3 p = a[i].v, l = a[i].w;
      if (b) {
        p = cn_sub(p, beyond(b[i].v, c[i].v, loop->beta));
        l = cn_sub(l, beyond(b[i].w, c[i].w, loop->beta));
      }
      sum += group->inv_mass * cn_norm2(p) + cn_dot(l, cn_smul(cni_group_inertia(s->p, i), l));
    }
    s->chunk_sums[chunk] = sum;
  }
}

double cni_gradient_curvature(CniGradient *s, CniGradientVector a, CniGradientVector b,
                              CniGradientVector c, double beta) {
  if (is_explicit(s)) {
    double sum = 0;
    for (int32_t i = 0; i < s->p->row_count; i++) {
      double d = a.x[i], w = a.image[i];
      if (b.x) {
        d -= b.x[i] + beta * (b.x[i] - c.x[i]);
        w -= b.image[i] + beta * (b.image[i] - c.image[i]);
      }
      sum += d * w;
    }
    return sum;
  }
  GroupLoop loop = {s, a, b, c, beta};
  int32_t count = chunks(s->p->group_count, GROUPS_PER_CHUNK);
  cni_parallel_for(s->tasks, count, 1, curvature_groups, &loop);
  return add_chunks(s, count);
}

// ---- over numbers ----

typedef struct AddLoop {
  double factor;
  const double *x;
  double *y;
} AddLoop;

static void add_numbers(void *context, int32_t begin, int32_t end) {
  const AddLoop *loop = context;
  for (int32_t i = begin; i < end; i++) loop->y[i] += loop->factor * loop->x[i];
}

void cni_gradient_add(CniGradient *s, int32_t size, double factor, const double *x, double *y) {
  AddLoop loop = {factor, x, y};
  cni_parallel_for(s->tasks, size, NUMBERS_PER_CHUNK, add_numbers, &loop);
}
