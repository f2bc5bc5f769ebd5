// SPDX-License-Identifier: Apache-2.0
// From contacts to lanes, and back to impulses and velocities.
//
// A contact's normal, arms or radii, right-hand side and warm start are copied into its lane. What
// has to be computed from N_ii follows for all lanes at once (the constants of psor_kernels.inc):
// split: omega over the normal entry, and over the largest eigenvalue of the slip's own block;
// projection: one step for all rows (local.h). A contact without friction has nothing to project on
// but its normal, and takes the step of that. With rolling the block is larger, and the general
// functions of the storage do the work.
//
// Cohesion: lanes keep g_n + c. With u_n = E v + b_n + C g_n this makes b_n - C c out of b_n. The
// impulses c themselves are taken out of the free velocities (psor_prepare.c).
#include "solver/sweeps/psor.h"
#include "solver/sweeps/small.h"

#include <string.h>

static inline CnVec3 normal_of(const CnProblem *p, const CniBlock *block) {
  return block->storage == CNI_PAIR ? p->pairs[block->index].normal
                                    : p->spheres[block->index].normal;
}

static inline CniEnds groups_of(const CnProblem *p, const CniBlock *block) {
  int32_t k = block->index;
  if (block->storage == CNI_PAIR) return (CniEnds){p->pairs[k].group_a, p->pairs[k].group_b};
  return (CniEnds){p->spheres[k].group_a, p->spheres[k].group_b};
}

static inline CnVec3 in_plane(const CniContactFrame *f, double x1, double x2) {
  return cn_madd(cn_scale(x1, f->t1), x2, f->t2);
}

static inline CnVec3 get3(const CniPsorLine *line, int32_t lane) {
  return cn_vec3(line[0].lane[lane], line[1].lane[lane], line[2].lane[lane]);
}

// ---- contacts that turn ----

static double ratio(double omega, double eta) { return eta > 0 ? omega / eta : 0; }

// Steps from the whole of N_ii.
static void turn_steps(const CniPsor *s, int32_t kind, const CniBlock *block,
                       const CniContactFrame *f, CniPsorLine *c, CniPsorLine *full, int32_t lane) {
  const CnProblem *p = s->p;
  const CnSet *set = &p->sets[block->set];
  int32_t dim = block->dim;
  double n[CNI_MAX_DIM * CNI_MAX_DIM], omega = s->rule.omega, trace = 0, friction = set->mu;
  cni_storages[block->storage].diagonal(p, block, n);
  for (int32_t i = 0; i < dim; i++) trace += n[i * dim + i];
  const double *t1 = n + dim, *t2 = n + 2 * dim, *r1 = n + 3 * dim, *r2 = n + 4 * dim;
  double step_n = ratio(omega, n[0]);
  friction += set->mu_roll + (dim > 5 ? set->mu_spin : 0);
  if (s->law != CNI_PSOR_SPLIT && friction > 0)
    step_n = cni_local_step(omega, trace, dim, cni_small_lambda_max(dim, n));
  c[CNI_LINES_OWN + CNI_LINE_STEP_N].lane[lane] = step_n;
  c[CNI_LINES_OWN + CNI_LINE_STEP_T].lane[lane] =
      ratio(omega, cni_lambda_max_2(t1[1], t1[2], t2[2]));
  if (kind >= CNI_PSOR_PAIR) cni_line_set3(c + CNI_LINE_N_TN, lane, in_plane(f, t1[0], t2[0]));
  full[CNI_LINE_STEP_R].lane[lane] = ratio(omega, cni_lambda_max_2(r1[3], r1[4], r2[4]));
  full[CNI_LINE_STEP_S].lane[lane] = dim > 5 ? ratio(omega, n[5 * dim + 5]) : 0;
}

static void fill_turn(const CniPsor *s, int32_t kind, const CniBlock *block,
                      const CniContactFrame *f, const double *g, CniPsorLine *c, int32_t lane) {
  const CnProblem *p = s->p;
  const CnSet *set = &p->sets[block->set];
  double b[CNI_MAX_DIM];
  cni_block_b(p, block, b);
  CniPsorLine *full = c + cni_psor_full(kind);
  double length = block->storage == CNI_PAIR ? p->pairs[block->index].length
                                             : cni_sphere_length(p, block->index);
  int spin = block->dim > 5;
  cni_line_set3(full + CNI_LINE_G_R, lane, in_plane(f, g[3], g[4]));
  full[CNI_LINE_G_S].lane[lane] = spin ? g[5] : 0;
  cni_line_set3(full + CNI_LINE_B_R, lane, in_plane(f, b[3], b[4]));
  full[CNI_LINE_B_S].lane[lane] = spin ? b[5] : 0;
  full[CNI_LINE_C_R].lane[lane] = set->compliance[2];
  full[CNI_LINE_LENGTH].lane[lane] = length;
  full[CNI_LINE_MU_R].lane[lane] = set->mu_roll / length;
  full[CNI_LINE_MU_S].lane[lane] = spin ? set->mu_spin / length : 0;
  turn_steps(s, kind, block, f, c, full, lane);
}

// ---- fill ----

// The warm start, in the set; most of the time it is there already. frozen: no inverse mass, hence
// nothing to be changed.
static inline void start_impulse(const CnProblem *p, const CniBlock *block, const CnSet *set,
                                 int frozen, const double *start, double *g) {
  for (int32_t i = 0; i < block->dim; i++) g[i] = frozen ? 0 : start[i];
  if (frozen) return;
  if (block->kind == CN_BLOCK_FRICTION) {
    double limit = set->mu * (g[0] + set->cohesion);
    if (limit >= 0 && g[0] + set->cohesion >= 0 && g[1] * g[1] + g[2] * g[2] <= limit * limit)
      return;
  }
  cni_project(p, block, g);
}

static inline void fill_full(const CnProblem *p, const CniBlock *block, const CnSet *set,
                             const CniContactFrame *f, CniPsorLine *full, int32_t lane) {
  double b[CNI_MAX_DIM];
  cni_block_b(p, block, b);
  int rough = block->kind != CN_BLOCK_UNILATERAL;
  cni_line_set3(full + CNI_LINE_B_T, lane, rough ? in_plane(f, b[1], b[2]) : CN_VEC3_ZERO);
  full[CNI_LINE_C_N].lane[lane] = set->compliance[0];
  full[CNI_LINE_C_T].lane[lane] = rough ? set->compliance[1] : 0;
}

// Friction and radii: what others of the set follows from.
static inline void fill_set(const CnProblem *p, int32_t kind, const CniBlock *block,
                            CniPsorLine *set, int32_t lane) {
  int rough = block->kind != CN_BLOCK_UNILATERAL;
  set[CNI_LINE_MU].lane[lane] = rough ? p->sets[block->set].mu : 0;
  if (kind >= CNI_PSOR_PAIR) return;
  set[CNI_LINE_RADIUS_A].lane[lane] = p->spheres[block->index].radius_a;
  set[CNI_LINE_RADIUS_B].lane[lane] = p->spheres[block->index].radius_b;
}

// The impulses that a contact starts with, to g, and its normal lines. Has it friction?
static inline int fill_normal(const CnProblem *p, const CniBlock *block, int massless,
                              const double *start, CniPsorLine *c, int32_t lane, double *g) {
  const CnSet *set = &p->sets[block->set];
  int rough = block->kind != CN_BLOCK_UNILATERAL;
  double cohesion = rough ? set->cohesion : 0;
  int frozen = massless && !(set->compliance[0] > 0 || set->compliance[1] > 0);
  start_impulse(p, block, set, frozen, start + block->row, g);
  c[CNI_LINE_G_N].lane[lane] = g[0] + cohesion;
  c[CNI_LINE_B_N].lane[lane] = *cni_block_b_n(p, block) - set->compliance[0] * cohesion;
  return rough;
}

// own: its set.
static inline void fill_contact(const CniPsor *s, int32_t kind, const CniBlock *block, int massless,
                                const double *start, CniPsorLine *c, CniPsorLine *own,
                                int32_t lane) {
  const CnProblem *p = s->p;
  const CnSet *set = &p->sets[block->set];
  double g[CNI_MAX_DIM];
  int rough = fill_normal(p, block, massless, start, c, lane, g);

  // half of the contacts of a pile bear no load: they need no tangents
  int pulled = rough && (g[1] != 0 || g[2] != 0);
  CniContactFrame f = {normal_of(p, block), CN_VEC3_ZERO, CN_VEC3_ZERO};
  if (pulled || kind % 3 > 0) f = cni_contact_frame(p, block);
  cni_line_set3(c + CNI_LINE_N, lane, f.n);
  cni_line_set3(c + CNI_LINE_G_T, lane, pulled ? in_plane(&f, g[1], g[2]) : CN_VEC3_ZERO);
  fill_set(p, kind, block, own, lane);
  if (kind >= CNI_PSOR_PAIR) {
    cni_line_set3(c + CNI_LINE_ARM_A, lane, p->pairs[block->index].arm_a);
    cni_line_set3(c + CNI_LINE_ARM_B, lane, p->pairs[block->index].arm_b);
  }
  if (kind % 3 > 0) fill_full(p, block, set, &f, c + cni_psor_full(kind), lane);
  if (kind % 3 == 2) fill_turn(s, kind, block, &f, g, c, lane);
}

// A plain contact of spheres; its tangential impulse in the rows of the problem. own: its set, null
// if that is made already.
static inline void fill_sphere(const CniPsor *s, const CniBlock *block, int massless,
                               const double *start, CniPsorLine *c, CniPsorLine *own,
                               int32_t lane) {
  const CnProblem *p = s->p;
  double g[CNI_MAX_DIM];
  int rough = fill_normal(p, block, massless, start, c, lane, g);
  cni_line_set3(c + CNI_LINE_N, lane, p->spheres[block->index].normal);
  c[CNI_LINE_G_T].lane[lane] = rough ? g[1] : 0;
  c[CNI_LINE_G_T + 1].lane[lane] = rough ? g[2] : 0;
  if (own) fill_set(p, CNI_PSOR_SPHERE, block, own, lane);
}

void cni_psor_fill_batch(CniPsor *s, const CniBatch *batch, CniPsorHead *head, CniPsorLine *set,
                         const double *g) {
  const CnProblem *p = s->p;
  int32_t lines = cni_psor_lines(batch->kind), apart = batch->kind == CNI_PSOR_SPHERE;
  int projects = s->law != CNI_PSOR_SPLIT;
  CniPsorLine *first = (CniPsorLine *)(void *)(head + 1);
  if (apart && s->kernels->fill(projects, s->in_order, p, batch, g, head, set, s->rule.omega))
    return;
  if (batch->lane_count < CNI_BATCH_LANES) {
    memset(first, 0, (size_t)(lines * batch->length) * sizeof *first);
    if (set) memset(set, 0, CNI_LINES_SET * sizeof *set);
  }
  for (int32_t lane = 0; lane < batch->lane_count; lane++) {
    const CniBlock *block = &p->blocks[batch->block[lane]];
    int massless = (head->a[lane] & head->b[lane]) < 0;
    for (int32_t k = 0; k < batch->length; k++) {
      CniPsorLine *c = first + (int64_t)lines * k;
      if (apart)
        fill_sphere(s, block, massless, g, c, set, lane);
      else
        fill_contact(s, batch->kind, block + k, massless, g, c, c + CNI_LINES_OWN, lane);
    }
  }
  if (apart) s->kernels->spread(first);
  CniPsorConstants constants = s->kernels->constants[batch->kind];
  if (constants && (set || !apart))
    constants(projects, s->groups, s->inertia, (CniPsorLine *)(void *)head, set, batch->length,
              s->rule.omega);
}

void cni_psor_fill_set(CniPsor *s, int32_t block, CniPsorLine *set) {
  const CnProblem *p = s->p;
  CniEnds ends = groups_of(p, &p->blocks[block]);
  _Alignas(CNI_ALIGNMENT) CniPsorHead head;
  for (int32_t lane = 0; lane < CNI_BATCH_LANES; lane++) {
    head.a[lane] = ends.a;
    head.b[lane] = ends.b;
    fill_set(p, CNI_PSOR_SPHERE, &p->blocks[block], set, lane);
  }
  s->kernels->constants[CNI_PSOR_SPHERE](s->law != CNI_PSOR_SPLIT, s->groups, s->inertia,
                                         (CniPsorLine *)(void *)&head, set, 1, s->rule.omega);
}

// ---- back ----

// Impulses of a contact in the problem's rows.
static inline void store_contact(const CnProblem *p, int32_t kind, const CniBlock *block,
                                 const CniContactFrame *f, const CniPsorLine *c, int32_t lane,
                                 double *g) {
  g[0] = c[CNI_LINE_G_N].lane[lane];
  if (block->kind == CN_BLOCK_UNILATERAL) return;
  g[0] -= p->sets[block->set].cohesion;
  CnVec3 g_t = get3(c + CNI_LINE_G_T, lane);
  g[1] = cn_dot(f->t1, g_t);
  g[2] = cn_dot(f->t2, g_t);
  if (kind % 3 != 2) return;
  const CniPsorLine *full = c + cni_psor_full(kind);
  CnVec3 g_r = get3(full + CNI_LINE_G_R, lane);
  g[3] = cn_dot(f->t1, g_r);
  g[4] = cn_dot(f->t2, g_r);
  if (block->dim > 5) g[5] = full[CNI_LINE_G_S].lane[lane];
}

static const CniPsorLine *batch_lines(const CniPsor *s, const CniPsorRun *run, int32_t i) {
  size_t stride = (size_t)(1 + cni_psor_lines(run->kind) * run->length);
  return s->lines + run->offset + (size_t)i * stride;
}

const CniPsorHead *cni_psor_store_batch(const CniPsor *s, const CniPsorRun *run, int32_t i) {
  const CnProblem *p = s->p;
  const CniBatch *batch = &s->schedule.batches[run->begin + i];
  const CniPsorLine *head = batch_lines(s, run, i);
  int32_t lines = cni_psor_lines(run->kind);
  for (int32_t lane = 0; lane < batch->lane_count; lane++)
    for (int32_t k = 0; k < batch->length; k++) {
      const CniBlock *block = &p->blocks[batch->block[lane] + k];
      CniContactFrame f = cni_contact_frame(p, block);
      store_contact(p, run->kind, block, &f, head + 1 + (int64_t)lines * k, lane,
                    s->g + block->row);
    }
  return (const CniPsorHead *)(const void *)head;
}

typedef struct AnswerLoop {
  const CniPsor *s;
  CnAnswer *answer;
} AnswerLoop;

// The same for plain contacts of spheres.
static void answer_spheres(const CniPsor *s, const CniPsorRun *run, int32_t i, double *g) {
  const CnProblem *p = s->p;
  const CniBatch *batch = &s->schedule.batches[run->begin + i];
  const CniPsorLine *c = batch_lines(s, run, i) + 1;
  _Alignas(CNI_ALIGNMENT) CniPsorLine rows[2];
  s->kernels->gather(c, rows);
  for (int32_t lane = 0; lane < batch->lane_count; lane++) {
    const CniBlock *block = &p->blocks[batch->block[lane]];
    double *to = g + block->row;
    to[0] = c[CNI_LINE_G_N].lane[lane];
    if (block->kind == CN_BLOCK_UNILATERAL) continue;
    to[0] -= p->sets[block->set].cohesion;
    to[1] = rows[0].lane[lane];
    to[2] = rows[1].lane[lane];
  }
}

static void answer_batch(const CniPsor *s, const CniPsorRun *run, int32_t i, CnAnswer *answer) {
  const CnProblem *p = s->p;
  const CniBatch *batch = &s->schedule.batches[run->begin + i];
  const CniPsorLine *first = batch_lines(s, run, i) + 1;
  int32_t lines = cni_psor_lines(run->kind);
  for (int32_t lane = 0; lane < batch->lane_count; lane++)
    for (int32_t k = 0; k < batch->length; k++) {
      const CniBlock *block = &p->blocks[batch->block[lane] + k];
      const CniPsorLine *c = first + (int64_t)lines * k;
      CniContactFrame f = {CN_VEC3_ZERO, CN_VEC3_ZERO, CN_VEC3_ZERO};
      // without an impulse the frame does not matter
      if (c[CNI_LINE_G_N].lane[lane] != 0) f = cni_contact_frame(p, block);
      store_contact(p, run->kind, block, &f, c, lane, answer->g + block->row);
    }
}

static void answer_columns(void *context, int32_t begin, int32_t end) {
  const AnswerLoop *loop = context;
  const CniPsor *s = loop->s;
  CnAnswer *answer = loop->answer;
  for (int32_t i = s->run_start[begin]; i < s->run_start[end]; i++) {
    const CniPsorRun *run = &s->runs[i];
    for (int32_t k = 0; k < run->count; k++) {
      if (run->kind != CNI_PSOR_ROWS) {
        if (run->kind == CNI_PSOR_SPHERE)
          answer_spheres(s, run, k, answer->g);
        else
          answer_batch(s, run, k, answer);
        continue;
      }
      const CniPsorRows *rows = &s->rows[run->begin + k];
      memcpy(answer->g + rows->row, s->g + rows->row, rows->local.dim * sizeof *s->g);
    }
  }
}

void cni_psor_answer(CniPsor *s, CnAnswer *answer) {
  AnswerLoop loop = {s, answer};
  cni_parallel_for(s->def.tasks, s->schedule.column_count + 1, 1, answer_columns, &loop);
}
