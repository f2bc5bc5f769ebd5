// SPDX-License-Identifier: Apache-2.0
// Static equilibrium: where a machine comes to rest.
//
// At rest the forces f(q) are held by rows: f + E^T g + W^T p = 0 with the rows E of joints, motors
// and couplings, and those W of contacts and limits that push, p >= 0, p gap = 0. Each round solves
// the linear picture of that in the space of free motions y (machine.h):
//
//     least of 1/2 y^T (H + s) y - f . y   over   W y + gap >= 0
//
// where H has the stiffness of springs and the geometric stiffness of the efforts found before. The
// shift s makes it positive definite where the position is not near a minimum. A step is taken if the
// forces did work on the way, which is what lets potential energy fall without knowing it; if not, s
// grows. Joints are closed after each step. A place without forces is a minimum where H is positive
// along all motions that the pushing rows leave; where it is not, the way down from it is taken.
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "core/math.h"
#include "world/mechanism/machine.h"

#define TAG 0x6c697571u
#define TURN_MOST 0.2   // rad in a step
#define FAR 1e4         // sizes of the machine: what goes so far does not come to rest
#define SADDLES_MOST 20 // one that comes back so often is told as it is
#define CLOSED 1e-9     // m, rad: joints after a step
#define ROUND_OFF 1e-5  // of forces: what very stiff springs may leave
#define SOFT 1e-12      // of rows that push, so that dependent ones share

CnEquilibriumDef cn_equilibrium_def_default(void) {
  return (CnEquilibriumDef){.size = sizeof(CnEquilibriumDef),
                            .tag = TAG,
                            .max_iterations = 1000,
                            .tolerance = 1e-11,
                            .max_work = 3e11};
}

const char *cn_stability_name(int32_t stability) {
  static const char *const names[] = {"stable", "neutral", "unstable"};
  return stability >= 0 && stability <= CN_UNSTABLE ? names[stability] : NULL;
}

typedef struct Search {
  CniMachine m;
  CnEquilibriumDef def;
  CnEquilibrium result;
  CniMachineRef *refs; // without contacts
  int32_t ref_count, held_count;
  double size, kinetic; // m; its square root of mass times it
  double cap, shift;    // m a step; s
  int32_t stalled;      // steps at round-off
  double made;          // of the work
  // of the round, in its part of the arena
  int32_t free_count, push_count; // d, rows that push
  double *load, *sizes, *efforts; // of all rows
  double *f, *h, *w, *gap;        // reduced; rows of W follow each other
  double *rest, *aim;             // of f, what nothing holds; and with what opens gaps
  double *motion, *work;
  CnPose *trial;
  double scale; // of reduced forces
} Search;

// ---- before the first round ----

// How large the machine is: from the middle of its bodies to the farthest, and out to their shapes
// and joints.
static void measure(Search *s) {
  const CniMachine *m = &s->m;
  CnVec3 middle = CN_VEC3_ZERO;
  double mass = 0, smallest = INFINITY;
  for (int32_t i = 0; i < m->body_count; i++) {
    middle = cn_madd(middle, 1.0 / m->body_count, m->pose[m->bodies[i]].position);
    mass += m->model->mass[m->bodies[i]].mass;
  }
  for (int32_t i = 0; i < m->body_count; i++) {
    const CniBody *body = &m->model->bodies[m->bodies[i]];
    s->size = cn_max(s->size, cn_norm(cn_sub(m->pose[m->bodies[i]].position, middle)));
    for (int32_t k = body->first_shape; k >= 0; k = m->model->shapes[k].next) {
      double radius = cni_model_outradius(&m->model->shapes[k]);
      s->size = cn_max(s->size, radius);
      smallest = cn_min(smallest, radius);
    }
  }
  for (int32_t i = 0; i < m->model->joint_count; i++) {
    CniJointPlace place;
    cni_joint_at(&m->model->joints[i], m->pose, &place);
    s->size = cn_max(s->size, cn_max(cn_norm(place.arm_a), cn_norm(place.arm_b)));
  }
  if (!(s->size > 0)) s->size = 1;
  s->kinetic = sqrt(mass) * s->size;
  // shapes are asked for contacts within three steps: in a pile not for all others
  s->cap = 0.1 * cn_min(s->size, smallest);
}

static CnStatus check_motors(const Search *s) {
  for (int32_t i = 0; i < s->m.held_count; i++) {
    const CniMachineRef *ref = &s->m.refs[i];
    char name[160];
    if (ref->kind != CN_MACHINE_DRIVE || ref->row < CNI_JOINT_LOCKED) continue;
    const CnJointAxis *axis = &s->m.model->joints[ref->joint].def.axes[ref->row - CNI_JOINT_LOCKED];
    if (axis->drive != CN_DRIVE_SPEED || ref->rate == 0) continue;
    cni_machine_row_name(&s->m, ref, name, sizeof name);
    return cni_error(CN_UNSUPPORTED, "no equilibrium: the %s runs at %g", name, ref->rate);
  }
  return CN_OK;
}

// ---- forces and rows of a round ----

static CnStatus take(Search *s) {
  CniMachine *m = &s->m;
  CniArena *arena = &m->arena;
  int64_t n = m->columns, d = s->free_count, p = s->push_count;
  CNI_TRY(cni_arena_array(arena, n, sizeof(double), &s->load));
  CNI_TRY(cni_arena_array(arena, n, sizeof(double), &s->sizes));
  CNI_TRY(cni_arena_array(arena, n, sizeof(double), &s->motion));
  CNI_TRY(cni_arena_array(arena, n + m->held_count, sizeof(double), &s->work));
  CNI_TRY(cni_arena_array(arena, m->ref_count, sizeof(double), &s->efforts));
  CNI_TRY(cni_arena_array(arena, m->model->body_count, sizeof *s->trial, &s->trial));
  CNI_TRY(cni_arena_array(arena, d, sizeof(double), &s->f));
  CNI_TRY(cni_arena_array(arena, d, sizeof(double), &s->rest));
  CNI_TRY(cni_arena_array(arena, d, sizeof(double), &s->aim));
  CNI_TRY(cni_arena_array(arena, d * d, sizeof(double), &s->h));
  CNI_TRY(cni_arena_array(arena, p * d, sizeof(double), &s->w));
  return cni_arena_array(arena, p, sizeof(double), &s->gap);
}

static CnStatus look(Search *s) {
  CniMachine *m = &s->m;
  m->refs = s->refs;
  m->ref_count = s->ref_count;
  m->held_count = s->held_count;
  CNI_TRY(cni_machine_contacts(m, s->def.contacts, 3 * s->cap, CNI_MACHINE_TOUCHING));
  CNI_TRY(cni_machine_factor(m));
  s->free_count = cni_machine_freedoms(m);
  s->push_count = m->ref_count - m->held_count;
  CNI_TRY(take(s));
  CNI_TRY(cni_machine_load(m, s->load, s->sizes));
  cni_machine_reduce(m, s->load, s->work, s->f);
  cni_cholesky_down(m->columns, m->mass_factor, m->mass_first, s->sizes);
  s->scale = sqrt(cni_span_dot(m->columns, s->sizes, s->sizes));
  for (int32_t j = 0; j < s->push_count; j++) {
    double *row = s->motion;
    s->gap[j] = cni_machine_row(m, &m->refs[m->held_count + j], row);
    cni_machine_reduce(m, row, s->work, s->w + (size_t)j * (size_t)s->free_count);
  }
  return CN_OK;
}

// Which rows push, and how much, with the others out of reach: those whose gap is closed.
static CnStatus find_pushes(Search *s, double touching) {
  CniArenaMark mark = cni_arena_mark(&s->m.arena);
  int32_t p = s->push_count, d = s->free_count, n = 0;
  double *a, *b, *x, *work, *scale, *rest = s->rest, *pushes = s->efforts + s->m.held_count;
  int32_t *list;
  CNI_TRY(cni_arena_array(&s->m.arena, (int64_t)p * p, sizeof *a, &a));
  CNI_TRY(cni_arena_array(&s->m.arena, p, sizeof *b, &b));
  CNI_TRY(cni_arena_array(&s->m.arena, p, sizeof *x, &x));
  CNI_TRY(cni_arena_array(&s->m.arena, p, sizeof *scale, &scale));
  CNI_TRY(cni_arena_array(&s->m.arena, p, sizeof *list, &list));
  CNI_TRY(cni_arena_array(&s->m.arena, (int64_t)p * (p + 3), sizeof *work, &work));
  for (int32_t j = 0; j < p; j++) {
    const double *w = s->w + (size_t)j * (size_t)d;
    double size = sqrt(cni_span_dot(d, w, w));
    if (!(s->gap[j] <= touching) || !(size > 0)) continue;
    scale[n] = 1 / size;
    list[n++] = j;
  }
  for (int32_t i = 0; i < n; i++) {
    const double *wi = s->w + (size_t)list[i] * (size_t)d;
    b[i] = -scale[i] * cni_span_dot(d, wi, s->f);
    for (int32_t k = 0; k < n; k++)
      a[i * n + k] = scale[i] * scale[k] * cni_span_dot(d, wi, s->w + (size_t)list[k] * (size_t)d);
  }
  cni_push(n, a, b, SOFT, x, work);
  memcpy(rest, s->f, (size_t)d * sizeof *rest);
  for (int32_t j = 0; j < p; j++) pushes[j] = 0;
  for (int32_t i = 0; i < n; i++) {
    pushes[list[i]] = scale[i] * x[i];
    for (int32_t k = 0; k < d; k++)
      rest[k] += pushes[list[i]] * s->w[(size_t)list[i] * (size_t)d + (size_t)k];
  }
  cni_arena_back(&s->m.arena, mark);
  return CN_OK;
}

// Efforts of the rows that hold, with what pushes; `left` gets what nobody holds.
static CnStatus find_efforts(Search *s, double *left) {
  CniMachine *m = &s->m;
  double *row = s->motion;
  memcpy(left, s->load, (size_t)m->columns * sizeof *left);
  for (int32_t i = m->held_count; i < m->ref_count; i++) {
    if (s->efforts[i] == 0) continue;
    cni_machine_row(m, &m->refs[i], row);
    for (int32_t k = 0; k < m->columns; k++) left[k] += s->efforts[i] * row[k];
  }
  CNI_TRY(cni_machine_efforts(m, left, s->efforts));
  for (int32_t i = 0; i < m->held_count; i++) {
    cni_machine_row(m, &m->refs[i], row);
    for (int32_t k = 0; k < m->columns; k++) left[k] += s->efforts[i] * row[k];
  }
  return CN_OK;
}

// Along a row that pushes nothing moves, but the efforts may bend H down there: r (w.y + gap)^2/2 is
// added, which is zero in the answer.
static void stiffen(Search *s) {
  int32_t d = s->free_count;
  double most = 0;
  memcpy(s->aim, s->rest, (size_t)d * sizeof *s->aim);
  for (int32_t i = 0; i < d * d; i++) most = cn_max(most, fabs(s->h[i]));
  for (int32_t j = 0; j < s->push_count; j++) {
    const double *w = s->w + (size_t)j * (size_t)d;
    double size = cni_span_dot(d, w, w);
    if (!(s->efforts[s->m.held_count + j] > 0) || !(size > 0)) continue;
    double r = 10 * most / size;
    for (int32_t i = 0; i < d; i++) {
      s->aim[i] -= r * s->gap[j] * w[i];
      for (int32_t k = 0; k < d; k++) s->h[i * d + k] += r * w[i] * w[k];
    }
  }
}

// H = Z^T L^-1 K L^-T Z, its symmetric part.
static CnStatus find_stiffness(Search *s) {
  CniMachine *m = &s->m;
  CniArenaMark mark = cni_arena_mark(&m->arena);
  int64_t n = m->columns;
  double *k, *c;
  CNI_TRY(cni_arena_array(&m->arena, n * n, sizeof *k, &k));
  CNI_TRY(cni_arena_array(&m->arena, n * n, sizeof *c, &c));
  CNI_TRY(cni_machine_stiffness(m, s->efforts, k, c));
  cni_machine_reduce_matrix(m, k, c, s->h);
  for (int32_t i = 0; i < s->free_count; i++)
    for (int32_t j = 0; j < i; j++) {
      double *a = &s->h[i * s->free_count + j], *b = &s->h[j * s->free_count + i];
      *a = *b = 0.5 * (*a + *b);
    }
  cni_arena_back(&m->arena, mark);
  stiffen(s);
  return CN_OK;
}

// ---- the step ----

// H + shift = L L^T, the shift raised until it is positive definite.
static void factor_shifted(Search *s, double *l) {
  int32_t d = s->free_count;
  double most = 0;
  for (int32_t i = 0; i < d * d; i++) most = cn_max(most, fabs(s->h[i]));
  double least = 1e-10 * most + 1e-6 * sqrt(cni_span_dot(d, s->rest, s->rest)) / s->kinetic;
  if (!(least > 0)) least = 1e-300;
  s->shift = cn_max(s->shift, least);
  for (int32_t tries = 0; tries < 200; tries++) {
    memcpy(l, s->h, (size_t)d * (size_t)d * sizeof *l);
    for (int32_t i = 0; i < d; i++) l[i * d + i] += s->shift;
    if (cni_cholesky(d, l, NULL)) return;
    s->shift = cn_max(4 * s->shift, 1e-4 * most);
  }
}

// y of least energy in the linear picture, with rows that push kept open. Unknown are their efforts p;
// softness acts on how far they are from those found before.
static CnStatus find_step(Search *s, double *y) {
  CniArenaMark mark = cni_arena_mark(&s->m.arena);
  CniArena *arena = &s->m.arena;
  int32_t d = s->free_count, p = s->push_count;
  double *l, *g, *a, *b, *x, *old, *work;
  CNI_TRY(cni_arena_array(arena, (int64_t)d * d, sizeof *l, &l));
  CNI_TRY(cni_arena_array(arena, (int64_t)p * d, sizeof *g, &g));
  CNI_TRY(cni_arena_array(arena, (int64_t)p * p, sizeof *a, &a));
  CNI_TRY(cni_arena_array(arena, p, sizeof *b, &b));
  CNI_TRY(cni_arena_array(arena, p, sizeof *x, &x));
  CNI_TRY(cni_arena_array(arena, p, sizeof *old, &old));
  CNI_TRY(cni_arena_array(arena, (int64_t)p * (p + 3), sizeof *work, &work));
  factor_shifted(s, l);
  memcpy(y, s->aim, (size_t)d * sizeof *y);
  cni_cholesky_down(d, l, NULL, y);
  for (int32_t j = 0; j < p; j++) { // rows over L, of length one
    double *row = g + (size_t)j * (size_t)d;
    memcpy(row, s->w + (size_t)j * (size_t)d, (size_t)d * sizeof *row);
    cni_cholesky_down(d, l, NULL, row);
    double size = sqrt(cni_span_dot(d, row, row));
    for (int32_t k = 0; size > 0 && k < d; k++) row[k] /= size;
    b[j] = size > 0 ? -s->gap[j] / size - cni_span_dot(d, row, y) : 0;
    old[j] = s->efforts[s->m.held_count + j] * size;
    for (int32_t k = 0; k <= j; k++)
      a[j * p + k] = a[k * p + j] = cni_span_dot(d, row, g + (size_t)k * (size_t)d);
  }
  for (int32_t j = 0; j < p; j++)
    b[j] += cni_span_dot(p, a + (size_t)j * (size_t)p, old) + SOFT * old[j];
  cni_push(p, a, b, SOFT, x, work);
  for (int32_t j = 0; j < p; j++)
    for (int32_t k = 0; x[j] != old[j] && k < d; k++)
      y[k] += (x[j] - old[j]) * g[(size_t)j * (size_t)d + (size_t)k];
  cni_cholesky_up(d, l, NULL, y);
  cni_arena_back(arena, mark);
  return CN_OK;
}

// The motion of y, no longer than a step may be; returns its share. *turns: the turn is what cuts it.
static double cut(Search *s, const double *y, int *turns) {
  double way = 0, turn = 0;
  cni_machine_expand(&s->m, y, s->motion);
  for (int32_t i = 0; i < s->m.body_count; i++) {
    const double *at = s->motion + 6 * (size_t)i;
    way = cn_max(way, sqrt(cni_span_dot(3, at, at)));
    turn = cn_max(turn, sqrt(cni_span_dot(3, at + 3, at + 3)));
  }
  double share = 1;
  if (way > s->cap) share = s->cap / way;
  *turns = turn * share > TURN_MOST;
  return *turns ? TURN_MOST / turn : share;
}

// Work of the forces from m->pose to m->trial: means of both ends along the way between them.
static CnStatus find_work(Search *s, double *sum) {
  CniMachine *m = &s->m;
  double *load = s->sizes; // no longer needed
  CnPose *pose = m->pose;
  m->pose = m->trial;
  CnStatus status = cni_machine_load(m, load, NULL);
  m->pose = pose;
  CNI_TRY(status);
  *sum = 0;
  for (int32_t i = 0; i < m->body_count; i++) {
    CnPose a = m->pose[m->bodies[i]], b = m->trial[m->bodies[i]];
    CnVec3 way = cn_sub(b.position, a.position);
    CnQuat turn = cn_qmul(b.rotation, cn_qconj(a.rotation));
    CnVec3 axis = cn_scale(turn.w < 0 ? -2 : 2, cn_vec3(turn.x, turn.y, turn.z));
    const double *f0 = s->load + 6 * (size_t)i, *f1 = load + 6 * (size_t)i;
    const double along[6] = {way.x, way.y, way.z, axis.x, axis.y, axis.z};
    for (int32_t k = 0; k < 6; k++) *sum += 0.5 * (f0[k] + f1[k]) * along[k];
  }
  return CN_OK;
}

static void take_over(Search *s) {
  CnPose *pose = s->m.pose;
  s->m.pose = s->m.trial;
  s->m.trial = pose;
  cni_machine_commit(&s->m);
}

// Joints closed after a step: with the factor there is, or where that does not do by Newton's method.
static CnStatus close_joints(Search *s, double *open) {
  CniMachine *m = &s->m, kept = *m;
  double enough = CLOSED * cn_max(1, s->size);
  CniArenaMark mark = cni_arena_mark(&m->arena);
  int32_t worst;
  memcpy(s->trial, m->trial, (size_t)m->model->body_count * sizeof *s->trial);
  *open = cni_machine_close(m, m->trial, s->work, 12);
  if (*open <= enough) return CN_OK;
  memcpy(m->trial, s->trial, (size_t)m->model->body_count * sizeof *s->trial);
  m->pose = kept.trial;
  CnStatus status = cni_machine_assemble(m, open, &worst);
  m->pose = kept.pose;
  m->mass_factor = kept.mass_factor;
  m->mass_first = kept.mass_first;
  m->span = kept.span;
  m->row_scale = kept.row_scale;
  cni_arena_back(&m->arena, mark);
  return status;
}

// Try steps until one goes down.
static CnStatus go(Search *s, double worst_gap) {
  CniMachine *m = &s->m;
  double *y;
  int turns;
  CNI_TRY(cni_arena_array(&m->arena, s->free_count, sizeof *y, &y));
  for (int32_t tries = 0; tries < 60; tries++) {
    double share, work, bend = 0;
    for (int32_t longer = 0;; longer++) { // one that is cut goes where the shift is hardly enough
      CNI_TRY(find_step(s, y));
      share = cut(s, y, &turns);
      if (share >= 0.2 || longer == 12) break;
      s->shift *= cn_clamp(0.5 / share, 2, 100);
    }
    cni_machine_move(m, m->pose, s->motion, share, m->trial);
    double open;
    CNI_TRY(close_joints(s, &open));
    for (int32_t i = 0; i < s->free_count; i++)
      bend += y[i] * cni_span_dot(s->free_count, s->h + (size_t)i * (size_t)s->free_count, y);
    double wanted = share * cni_span_dot(s->free_count, s->f, y) - 0.5 * share * share * bend;
    double length = share * sqrt(cni_span_dot(s->free_count, y, y));
    CNI_TRY(find_work(s, &work));
    int closed = open <= CLOSED * cn_max(1, s->size);
    int down = work >= 0.05 * wanted || length < 1e-7 * s->kinetic || worst_gap < -1e-9 * s->size;
    if (closed && down && isfinite(work)) {
      if (share < 1 && !turns) s->cap = cn_min(2 * s->cap, 1e3 * s->size);
      s->shift *= work > 0.5 * wanted ? 0.1 : 0.5;
      s->stalled += length < 1e-13 * s->kinetic;
      take_over(s);
      return CN_OK;
    }
    double most = 0;
    for (int32_t i = 0; i < s->free_count; i++)
      most = cn_max(most, fabs(s->h[i * s->free_count + i]));
    s->shift = cn_max(5 * s->shift, 1e-4 * most);
    if (share < 1 && !turns) s->cap = cn_max(0.5 * s->cap, 1e-6 * s->size);
  }
  s->stalled += 3;
  return CN_OK;
}

// ---- is it one? ----

// Eigenvalues along what the pushing rows leave; the lowest one's motion into y.
static CnStatus judge(Search *s, double *y) {
  CniMachine *m = &s->m;
  CniArena *arena = &m->arena;
  CniArenaMark mark = cni_arena_mark(arena);
  CniSpan span;
  int32_t d = s->free_count, n = 0;
  double *a, *values, *vectors, *column, most = 0;
  CNI_TRY(cni_span_begin(arena, s->push_count, d, &span));
  CNI_TRY(cni_arena_array(arena, (int64_t)d * d, sizeof *a, &a));
  CNI_TRY(cni_arena_array(arena, (int64_t)d * d, sizeof *vectors, &vectors));
  CNI_TRY(cni_arena_array(arena, d, sizeof *values, &values));
  CNI_TRY(cni_arena_array(arena, d, sizeof *column, &column));
  for (int32_t j = 0; j < s->push_count; j++)
    if (s->efforts[m->held_count + j] > 0)
      memcpy(span.rows + (size_t)d * (size_t)n++, s->w + (size_t)j * (size_t)d,
             (size_t)d * sizeof *a);
  s->result.carrying_count = span.count = n;
  cni_span_factor(&span, CNI_MACHINE_LOST);
  int32_t e = d - span.rank;
  for (int32_t i = 0; i < e; i++) {
    memset(column, 0, (size_t)d * sizeof *column);
    column[span.rank + i] = 1;
    cni_span_up(&span, column);
    for (int32_t k = 0; k < d; k++) y[k] = cni_span_dot(d, s->h + (size_t)k * (size_t)d, column);
    cni_span_down(&span, y);
    memcpy(a + (size_t)i * (size_t)e, y + span.rank, (size_t)e * sizeof *a);
  }
  for (int32_t i = 0; i < d * d; i++) most = cn_max(most, fabs(s->h[i]));
  cni_eigen_symmetric(e, a, values, vectors);
  double none = 1e-13 * most + 1e-8 * s->scale / s->kinetic;
  s->result.unstable_count = s->result.neutral_count = 0;
  for (int32_t i = 0; i < e; i++) {
    s->result.unstable_count += values[i] < -none;
    s->result.neutral_count += fabs(values[i]) <= none;
  }
  s->result.freedoms = e;
  s->result.stability = s->result.unstable_count  ? CN_UNSTABLE
                        : s->result.neutral_count ? CN_NEUTRAL
                                                  : CN_STABLE;
  memset(y, 0, (size_t)d * sizeof *y);
  if (e > 0) memcpy(y + span.rank, vectors, (size_t)e * sizeof *y);
  cni_span_up(&span, y);
  cni_arena_back(arena, mark);
  return CN_OK;
}

// Off a place that is not stable, along the motion y.
static CnStatus leave(Search *s, const double *y) {
  CniMachine *m = &s->m;
  int turns;
  double share = cut(s, y, &turns), first = 0, way = share;
  s->result.saddles_left++;
  for (int32_t i = 0; i < m->columns && fabs(first) < 1e-6; i++) first = s->motion[i];
  double least = 0;
  for (int32_t i = 0; i < m->columns; i++) least = cn_max(least, fabs(s->motion[i]));
  if (share == 1 && least > 0) way = cn_min(s->cap, 0.05) / least;
  cni_machine_move(m, m->pose, s->motion, (first < 0 ? -0.2 : 0.2) * way, m->trial);
  double open;
  CNI_TRY(close_joints(s, &open));
  if (open <= CLOSED * cn_max(1, s->size)) take_over(s);
  return CN_OK;
}

// Has an angle made more than two turns?
static int turns_on(const CniJoint *before, const CniJoint *now) {
  for (int32_t k = 0; cni_joint_kind(now->def.kind)->wraps && k < CN_JOINT_AXES; k++)
    if (fabs(now->near[k] - before->near[k]) > 4 * CNI_PI) return 1;
  return 0;
}

static CnStatus no_end(const Search *s) {
  const CniMachine *m = &s->m;
  int32_t worst = 0;
  double moved = 0;
  for (int32_t i = 0; i < m->body_count; i++) {
    CnVec3 way = cn_sub(m->pose[m->bodies[i]].position, m->old_pose[m->bodies[i]].position);
    if (!(cn_norm(way) > moved)) continue;
    moved = cn_norm(way);
    worst = m->bodies[i];
  }
  char label[CNI_NAME_SIZE + 16];
  if (s->made > s->def.max_work)
    return cni_error(
        CN_STOPPED,
        "no equilibrium found within the work allowed (%.3g products, %d iterations for "
        "%d bodies and %d rows): forces of %.3g of those that act are left",
        s->def.max_work, (int)s->result.iterations, (int)m->body_count, (int)m->ref_count,
        s->result.residual);
  cni_model_body_label(m->model, worst, label);
  if (moved > FAR * s->size || !isfinite(moved))
    return cni_error(CN_STOPPED, "no equilibrium: nothing holds %s, it goes on without end", label);
  for (int32_t i = 0; i < m->model->joint_count; i++)
    if (turns_on(&m->old_joints[i], &m->model->joints[i]))
      return cni_error(CN_STOPPED, "no equilibrium: nothing holds joint '%s', it turns without end",
                       m->model->joints[i].name);
  return cni_error(CN_STOPPED,
                   "no equilibrium found in %d iterations: forces of %.3g of those that act are "
                   "left; %s went farthest, %.3g m",
                   (int)s->result.iterations, s->result.residual, label, moved);
}

static int went_far(const Search *s) {
  for (int32_t i = 0; i < s->m.body_count; i++) {
    CnVec3 way = cn_sub(s->m.pose[s->m.bodies[i]].position, s->m.old_pose[s->m.bodies[i]].position);
    if (!(cn_norm(way) <= FAR * s->size)) return 1;
  }
  return 0;
}

// ---- rounds ----

static CnStatus assemble(Search *s) {
  CniMachine *m = &s->m;
  double error;
  int32_t worst;
  CNI_TRY(cni_machine_assemble(m, &error, &worst));
  cni_machine_commit(m);
  if (!(error > CLOSED * cn_max(1, s->size))) return CN_OK;
  char name[160];
  cni_machine_row_name(m, &m->refs[worst], name, sizeof name);
  return cni_error(CN_STOPPED, "no equilibrium: the joints cannot be closed, %s is off by %.3g",
                   name, error);
}

// An iteration is paid before it is made. Is there enough left?
static int pay(Search *s) {
  double n = s->m.columns, d = s->free_count, p = s->push_count;
  s->made += n * n * d + d * d * (d + p) + p * p * (d + p);
  if (s->def.progress)
    s->def.progress(s->def.context, s->result.iterations, s->result.residual,
                    s->made / s->def.max_work);
  return s->made <= s->def.max_work;
}

static CnStatus search(Search *s) {
  CniMachine *m = &s->m;
  CniArenaMark mark;
  CNI_TRY(assemble(s));
  mark = cni_arena_mark(&m->arena);
  s->result.residual = 1;
  for (; s->result.iterations <= s->def.max_iterations; s->result.iterations++) {
    double *left, deepest = 0;
    cni_arena_back(&m->arena, mark);
    CNI_TRY(look(s));
    if (!pay(s)) break;
    CNI_TRY(cni_arena_array(&m->arena, m->columns, sizeof *left, &left));
    CNI_TRY(find_pushes(s, 1e-8 * s->size));
    CNI_TRY(find_efforts(s, left));
    CNI_TRY(find_stiffness(s));
    for (int32_t j = 0; j < s->push_count; j++) deepest = cn_min(deepest, s->gap[j]);
    double size = sqrt(cni_span_dot(s->free_count, s->rest, s->rest));
    s->result.residual = s->scale > 0 ? size / s->scale : 0;
    double enough = s->stalled > 2 ? cn_max(ROUND_OFF, s->def.tolerance) : s->def.tolerance;
    if (s->result.residual <= enough && deepest >= -1e-9 * s->size) {
      s->result.force = s->result.torque = 0;
      for (int32_t i = 0; i < m->body_count; i++) {
        const double *at = left + 6 * (size_t)i;
        s->result.force = cn_max(s->result.force, sqrt(cni_span_dot(3, at, at)));
        s->result.torque = cn_max(s->result.torque, sqrt(cni_span_dot(3, at + 3, at + 3)));
      }
      CNI_TRY(judge(s, s->rest));
      if (s->result.stability != CN_UNSTABLE || s->def.accept_saddle ||
          s->result.saddles_left == SADDLES_MOST)
        return CN_OK;
      CNI_TRY(leave(s, s->rest));
      continue;
    }
    if (s->stalled > 2) break;
    CNI_TRY(go(s, deepest));
    if (went_far(s)) break;
  }
  return no_end(s);
}

// Forces of the points of two shapes are not known one by one, but together.
static void tell_friction(Search *s) {
  const CniMachine *m = &s->m;
  for (int32_t i = 0; i < m->touch_count; i++) {
    const CniMachineContact *touch = &m->touches[i];
    CnVec3 tangent = CN_VEC3_ZERO;
    double normal = 0;
    if (i > 0 && touch[-1].shape_a == touch->shape_a && touch[-1].shape_b == touch->shape_b)
      continue; // told with the first one
    for (int32_t k = 0; k < m->ref_count; k++) {
      if (m->refs[k].kind != CN_MACHINE_CONTACT) continue;
      const CniMachineContact *other = &m->touches[m->refs[k].joint];
      if (other->shape_a != touch->shape_a || other->shape_b != touch->shape_b) continue;
      if (m->refs[k].row == 0)
        normal += s->efforts[k];
      else
        tangent = cn_madd(tangent, s->efforts[k], other->tangents[m->refs[k].row - 1]);
    }
    double size = cn_norm(tangent);
    if (!(size > 1e-9 * normal)) continue;
    s->result.friction = cn_max(s->result.friction, size / normal);
    s->result.friction_reserve =
        cn_max(s->result.friction_reserve, size / (normal * touch->friction));
  }
}

// A motor that would have to give more than it can does not hold.
static CnStatus check_efforts(const Search *s) {
  for (int32_t i = 0; i < s->m.held_count; i++) {
    const CniMachineRef *ref = &s->m.refs[i];
    char name[160];
    if (ref->kind != CN_MACHINE_DRIVE) continue;
    double most = s->m.model->joints[ref->joint].def.axes[ref->row - CNI_JOINT_LOCKED].motor_effort;
    if (!(fabs(s->efforts[i]) > most * (1 + 1e-9))) continue;
    cni_machine_row_name(&s->m, ref, name, sizeof name);
    return cni_error(CN_STOPPED, "no equilibrium: the %s would have to give %.6g and has %.6g",
                     name, fabs(s->efforts[i]), most);
  }
  return CN_OK;
}

static CnStatus run(Search *s) {
  CniMachine *m = &s->m;
  measure(s);
  CNI_TRY(check_motors(s));
  for (int32_t i = 0; i < m->model->body_count; i++)
    m->twist[i] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  s->refs = m->refs;
  s->ref_count = m->ref_count;
  s->held_count = m->held_count;
  CNI_TRY(search(s));
  CNI_TRY(check_efforts(s));
  if (s->def.contacts == CN_CONTACTS_STICKING) tell_friction(s);
  s->result.energy = cni_machine_energy(m);
  for (int32_t i = 0; i < m->body_count; i++) {
    CnPose a = m->old_pose[m->bodies[i]], b = m->pose[m->bodies[i]];
    CnQuat turn = cn_qmul(b.rotation, cn_qconj(a.rotation));
    double sine = cn_norm(cn_vec3(turn.x, turn.y, turn.z));
    s->result.moved = cn_max(s->result.moved, cn_norm(cn_sub(b.position, a.position)));
    s->result.turned = cn_max(s->result.turned, 2 * cni_atan2(sine, fabs(turn.w)));
  }
  for (int32_t i = 0; i < m->model->body_count; i++) // the others go on as they did
    if (m->place[i] < 0) m->twist[i] = m->old_twist[i];
  cni_machine_keep(m, s->efforts, NULL);
  return CN_OK;
}

CnStatus cn_world_equilibrium(CnWorld *world, const CnEquilibriumDef *given,
                              CnEquilibrium *equilibrium) {
  CNI_FLOATS;
  if (equilibrium) *equilibrium = (CnEquilibrium){0};
  CNI_TRY(cni_world_open(world, "cn_world_equilibrium"));
  Search s = {.def = given ? *given : cn_equilibrium_def_default()};
  CNI_TRY(cni_def_check("equilibrium", &s.def, sizeof s.def, TAG));
  if (!(s.def.tolerance > 0) || s.def.max_iterations < 0 || !(s.def.max_work > 0))
    return cni_invalid("cn_world_equilibrium: tolerance and max_work must be positive and "
                       "max_iterations not negative (got %g, %g and %d)",
                       s.def.tolerance, s.def.max_work, (int)s.def.max_iterations);
  CnStatus status = cni_machine_begin(world, CNI_DRIVES_HOLD, &s.m);
  if (status == CN_OK) {
    status = run(&s);
    if (status != CN_OK) cni_machine_back(&s.m);
  }
  cni_machine_end(&s.m);
  if (status == CN_OK && equilibrium) *equilibrium = s.result;
  return status;
}
