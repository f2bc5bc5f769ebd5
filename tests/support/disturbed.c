// SPDX-License-Identifier: Apache-2.0
#include "disturbed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/rng.h"
#include "problem/problem.h"

const char *disturbance_name(Disturbance kind) {
  static const char *const names[DISTURB_COUNT] = {"little", "much",  "wild", "friction",
                                                   "part",   "units", "all"};
  return (uint32_t)kind < DISTURB_COUNT ? names[kind] : "unknown";
}

// Factors of impulses, velocities and friction, the size of y, the part of the contacts kept.
typedef struct Change {
  double impulse, velocity, friction, size, keep;
} Change;

static double decade_factor(CniRng *rng) {
  double factor = 1;
  int32_t decades = (int32_t)cni_rng_range(rng, -3, 4);
  for (int32_t i = 0; i < abs(decades); i++) factor *= decades > 0 ? 10 : .1;
  return factor;
}

static Change choose(Disturbance kind, CniRng *rng) {
  Change c = {1, 1, 0, 0, 1};
  if (kind == DISTURB_LITTLE || kind == DISTURB_UNITS) c.size = .01;
  if (kind == DISTURB_MUCH || kind == DISTURB_ALL) c.size = .1;
  if (kind == DISTURB_WILD) c.size = 1;
  if (kind == DISTURB_FRICTION || kind == DISTURB_ALL) c.friction = .2;
  if (kind == DISTURB_PART) c.keep = cni_rng_range(rng, .3, .9);
  if (kind == DISTURB_UNITS) {
    c.impulse = decade_factor(rng);
    c.velocity = decade_factor(rng);
  }
  return c;
}

// y = a * x, or its transpose.
static void multiply(const CnSparse *a, int transposed, const double *x, double *y) {
  memset(y, 0, (size_t)(transposed ? a->column_count : a->row_count) * sizeof *y);
  for (int32_t i = 0; i < a->row_count; i++)
    for (int32_t e = a->start[i]; e < a->start[i + 1]; e++) {
      int32_t j = a->column[e];
      y[transposed ? j : i] += a->value[e] * x[transposed ? i : j];
    }
}

// Arrays of one disturbance.
typedef struct Room {
  double *y, *product, *q, *k;
  int32_t *place; // of a row in the part that is kept, -1: not kept
  CnSparse w;
} Room;

static int room_create(Room *r, const CnProblem *p) {
  size_t rows = (size_t)p->row_count + 1, entries = 1, velocities = 1;
  if (p->form == CN_FORM_EXPLICIT) entries += (size_t)p->w.start[p->row_count];
  if (p->form == CN_FORM_GLOBAL) {
    velocities += (size_t)p->global->m.row_count;
    entries += (size_t)p->global->m.start[p->global->m.row_count];
  }
  r->y = calloc(rows, sizeof *r->y);
  r->q = calloc(rows, sizeof *r->q);
  r->product = calloc(rows + velocities, sizeof *r->product);
  r->k = calloc(velocities, sizeof *r->k);
  r->place = calloc(rows, sizeof *r->place);
  r->w.start = calloc(rows + velocities, sizeof *r->w.start);
  r->w.column = calloc(entries, sizeof *r->w.column);
  r->w.value = calloc(entries, sizeof *r->w.value);
  return r->y && r->q && r->product && r->k && r->place && r->w.start && r->w.column && r->w.value;
}

static void room_release(Room *r) {
  void *arrays[] = {r->y, r->q, r->product, r->k, r->place, r->w.start, r->w.column, r->w.value};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) free(arrays[i]);
}

static void draw(Room *r, const CnProblem *p, const double *g, const Change *c, CniRng *rng) {
  double sum = 0;
  for (int32_t i = 0; i < p->row_count; i++) sum += g[i] * g[i];
  double size = c->size * sqrt(sum / (p->row_count > 0 ? p->row_count : 1));
  for (int32_t i = 0; i < p->row_count; i++) r->y[i] = cni_rng_range(rng, -size, size);
}

// W and q of the rows that are kept.
static CnStatus fill_explicit(Room *r, const CnProblem *p, const Change *c, CniRng *rng,
                              CnProblem *made) {
  int32_t rows = 0, entries = 0;
  multiply(&p->w, 0, r->y, r->product);
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    int keep = c->keep == 1 || i == 0 || cni_rng_unit(rng) < c->keep;
    for (int32_t d = 0; d < block->dim; d++) r->place[block->row + d] = keep ? rows++ : -1;
  }
  for (int32_t i = 0; i < p->row_count; i++) {
    if (r->place[i] < 0) continue;
    r->q[r->place[i]] = c->velocity * (p->b[i] + r->product[i]);
    for (int32_t e = p->w.start[i]; e < p->w.start[i + 1]; e++) {
      if (r->place[p->w.column[e]] < 0) continue;
      r->w.column[entries] = r->place[p->w.column[e]];
      r->w.value[entries++] = c->velocity / c->impulse * p->w.value[e];
    }
    r->w.start[r->place[i] + 1] = entries;
  }
  r->w.row_count = r->w.column_count = rows;
  return cn_problem_set_explicit(made, &r->w, r->q);
}

// M, k and b; E stays. W = E M^-1 E^T.
static CnStatus fill_global(Room *r, const CnProblem *p, const Change *c, CnProblem *made) {
  const CniGlobal *from = p->global;
  int32_t n = from->m.row_count, entries = from->m.start[n];
  double mass = c->impulse / c->velocity;
  multiply(&from->e, 1, r->y, r->product);
  for (int32_t i = 0; i < n; i++) r->k[i] = c->impulse * (from->k[i] + r->product[i]);
  for (int32_t i = 0; i < p->row_count; i++) {
    r->q[i] = c->velocity * p->b[i];
    r->place[i] = i;
  }
  memcpy(r->w.start, from->m.start, ((size_t)n + 1) * sizeof *r->w.start);
  memcpy(r->w.column, from->m.column, (size_t)entries * sizeof *r->w.column);
  for (int32_t e = 0; e < entries; e++) r->w.value[e] = mass * from->m.value[e];
  r->w.row_count = r->w.column_count = n;
  return cn_problem_set_global(made, &r->w, &from->e, r->k, r->q);
}

static CnStatus add_blocks(const Room *r, const CnProblem *p, const Change *c, CniRng *rng,
                           CnProblem *made) {
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    CnSet set = p->sets[block->set];
    int32_t index;
    if (r->place[block->row] < 0) continue;
    set.mu *= cni_rng_range(rng, 1 - c->friction, 1 + c->friction);
    set.mu_roll *= cni_rng_range(rng, 1 - c->friction, 1 + c->friction);
    set.cohesion *= c->impulse;
    set.lo *= c->impulse;
    set.hi *= c->impulse;
    CNI_TRY(cn_problem_add_set(made, &set, &index));
    CNI_TRY(cn_problem_add_explicit(made, index, block->dim, NULL));
  }
  return CN_OK;
}

static CnStatus disturb(CnProblem *p, const double *g, Disturbance kind, uint64_t seed,
                        CnProblem *made) {
  CniRng rng = {seed};
  for (int32_t i = 0; i < 10; i++) cni_rng_next(&rng);
  Change change = choose(kind, &rng);
  Room room = {0};
  if (!room_create(&room, p)) {
    room_release(&room);
    return cni_error(CN_NO_MEMORY, "no memory for a disturbed problem");
  }
  draw(&room, p, g, &change, &rng);
  CnStatus status = p->form == CN_FORM_GLOBAL ? fill_global(&room, p, &change, made)
                                              : fill_explicit(&room, p, &change, &rng, made);
  if (status == CN_OK) status = add_blocks(&room, p, &change, &rng, made);
  room_release(&room);
  return status;
}

CnStatus disturbed_problem(CnProblem *base, const double *g, Disturbance kind, uint64_t seed,
                           CnProblem **made) {
  CnProblem *reduced = NULL;
  *made = NULL;
  if (base->form == CN_FORM_STEP)
    return cni_error(CN_UNSUPPORTED, "only explicit and global problems are disturbed");
  if (kind == DISTURB_PART && base->form == CN_FORM_GLOBAL)
    CNI_TRY(cn_problem_to_explicit(base, &reduced));
  CnProblem *p = reduced ? reduced : base;
  CnProblemDef def = cn_problem_def_default();
  def.form = p->form;
  def.friction = p->friction;
  CnStatus status = cn_problem_create(&def, made);
  if (status == CN_OK) status = disturb(p, g, kind, seed, *made);
  if (status != CN_OK) {
    cn_problem_destroy(*made);
    *made = NULL;
  }
  cn_problem_destroy(reduced);
  return status;
}
