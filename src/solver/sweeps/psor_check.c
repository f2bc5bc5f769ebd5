// SPDX-License-Identifier: Apache-2.0
// The convergence check: is every block's residual below the limit?
//
// The measure is the certificate's, S_i |g_i - P_K(g_i - (u_i + s_i)/S_i)| against the tolerance
// times the largest |r_i|, the velocity without any impulse. The answer is no at the first block
// that fails, and the next check begins there. When that one passes, columns are checked side by
// side, each up to its first failure. Plain contacts of spheres are taken from their lanes: a
// length is the same in any frame, so that their tangents are not needed.
#include "solver/sweeps/psor.h"
#include "solver/islands/islands.h"

#include <string.h>

#define BLOCKS_PER_TASK 2048

static double norm2(const double *x, int32_t dim) {
  double sum = 0;
  for (int32_t i = 0; i < dim; i++) sum += x[i] * x[i];
  return sum;
}

static CnVec3 load(const double *x) { return cn_vec3(x[0], x[1], x[2]); }

// Velocity of b's point relative to a's; from each group's velocity and spin.
static inline CnVec3 sphere_slip(CnVec3 n, double ra, double rb, const double *va, const double *wa,
                                 const double *vb, const double *wb) {
  CnVec3 roll = cn_madd(cn_scale(ra, load(wa)), rb, load(wb));
  return cn_sub(cn_sub(load(vb), load(va)), cn_cross(roll, n));
}

// |r_i|^2
static double free_speed2(const CniPsor *s, const CniBlock *block) {
  const CnProblem *p = s->p;
  const double *b_n = cni_block_b_n(p, block);
  if (block->kind == CN_BLOCK_FRICTION && block->storage == CNI_SPHERE &&
      (p->b_per_block || (b_n[1] == 0 && b_n[2] == 0))) {
    const CniSphereBlock *c = &p->spheres[block->index];
    const double *a = s->free + 6 * (size_t)c->group_a, *b = s->free + 6 * (size_t)c->group_b;
    CnVec3 d = sphere_slip(c->normal, c->radius_a, c->radius_b, a, a + 3, b, b + 3);
    return cn_norm2(cn_madd(d, *b_n, c->normal));
  }
  double u[CNI_MAX_DIM];
  cni_block_b(p, block, u);
  cni_storages[block->storage].velocity(p, block, s->free, u);
  return norm2(u, block->dim);
}

// The largest of a task goes to its place in s->u.
static void free_blocks(void *context, int32_t begin, int32_t end) {
  CniPsor *s = context;
  const CniSpread *spread = &s->schedule.spread;
  double largest = 0;
  for (int32_t i = begin; i < end; i++) {
    if (spread->active > 0 && spread->owner[i] < CNI_EVERYBODY && spread->owner[i] != spread->rank)
      continue;
    largest = cn_max(largest, free_speed2(s, &s->p->blocks[i]));
  }
  s->u[begin / BLOCKS_PER_TASK] = largest;
}

double cni_psor_free_speed(CniPsor *s) {
  int32_t count = s->p->block_count;
  double largest = 0;
  cni_parallel_for(s->def.tasks, count, BLOCKS_PER_TASK, free_blocks, s);
  for (int32_t i = 0; i * BLOCKS_PER_TASK < count; i++) largest = cn_max(largest, s->u[i]);
  largest = cni_psor_largest(s, largest);
  return cn_max(sqrt(largest), s->p->speed);
}

// ---- one block ----

// With the block's impulses in s->g and the velocities of its groups in s->v.
static double block_residual(CniPsor *s, const CniBlock *block) {
  return cni_block_residual(s->p, block, s->g + block->row, s->v);
}

// Velocities to check: those of the sweeps, or others, six a group.
typedef struct View {
  const double *v;
  size_t stride, spin; // from group to group, and from velocity to spin
} View;

// The natural map of a contact at the scale S, with impulse (g_n, g_t) and velocity (w_n, u_t).
static double natural(double mu, double scale, double g_n, CnVec3 g_t, double w_n, CnVec3 u_t) {
  double x_n = g_n - w_n / scale;
  CnVec3 x_t = cn_madd(g_t, -1 / scale, u_t);
  double length = cn_norm(x_t);
  if (!(x_n >= 0 && length <= mu * x_n)) {
    double n = (x_n + mu * length) / (1 + mu * mu);
    x_n = n <= 0 ? 0 : n;
    x_t = n <= 0 ? CN_VEC3_ZERO : length > 0 ? cn_scale(mu * n / length, x_t) : x_t;
  }
  CnVec3 e_t = cn_sub(g_t, x_t);
  return scale * sqrt((g_n - x_n) * (g_n - x_n) + cn_norm2(e_t));
}

// A plain contact of spheres.
static double lane_residual(const CniPsor *s, const CniBlock *block, const CniPsorHead *head,
                            const CniPsorLine *set, int32_t lane, View view) {
  const CniPsorLine *c = (const CniPsorLine *)(const void *)(head + 1);
  int32_t a = head->a[lane] < 0 ? ~head->a[lane] : head->a[lane];
  int32_t b = head->b[lane] < 0 ? ~head->b[lane] : head->b[lane];
  const double *va = view.v + view.stride * (size_t)a, *vb = view.v + view.stride * (size_t)b;
  const CniPsorGroup *ga = &s->groups[a], *gb = &s->groups[b];
  double ra = set[CNI_LINE_RADIUS_A].lane[lane], rb = set[CNI_LINE_RADIUS_B].lane[lane];
  double mu = set[CNI_LINE_MU].lane[lane], mass = ga->inv_mass + gb->inv_mass;
  double turn = ra * ra * ga->inv_inertia + rb * rb * gb->inv_inertia;
  double scale = block->dim == 1 ? mass : (mass + 2 * (mass + turn)) / 3;
  CnVec3 n =
      cn_vec3(c[CNI_LINE_N].lane[lane], c[CNI_LINE_N + 1].lane[lane], c[CNI_LINE_N + 2].lane[lane]);
  CnVec3 g_t = cn_vec3(c[CNI_LINE_G_T].lane[lane], c[CNI_LINE_G_T + 1].lane[lane],
                       c[CNI_LINE_G_T + 2].lane[lane]);
  CnVec3 d = sphere_slip(n, ra, rb, va, va + view.spin, vb, vb + view.spin);
  double d_n = cn_dot(n, d), w_n = d_n + c[CNI_LINE_B_N].lane[lane];
  CnVec3 u_t = cn_madd(d, -d_n, n);
  if (s->p->friction == CN_FRICTION_COULOMB) w_n += mu * cn_norm(u_t);
  return natural(mu, scale > 0 ? scale : 1, c[CNI_LINE_G_N].lane[lane], g_t, w_n, u_t);
}

static int spheres_pass(const CniPsor *s, const CniPsorRun *run, int32_t i, View view,
                        double limit) {
  const CniBatch *batch = &s->schedule.batches[run->begin + i];
  const CniPsorLine *at = s->lines + run->offset + (size_t)i * (1 + CNI_LINES_OWN);
  const CniPsorLine *set = s->sets + CNI_LINES_SET * (size_t)s->set_numbers[run->begin + i];
  for (int32_t lane = 0; lane < batch->lane_count; lane++) {
    const CniBlock *block = &s->p->blocks[batch->block[lane]];
    const CniPsorHead *head = (const CniPsorHead *)(const void *)at;
    if (!(lane_residual(s, block, head, set, lane, view) <= limit)) return 0;
  }
  return 1;
}

// ---- with the velocities of the sweeps ----

static View of_sweeps(const CniPsor *s) {
  return (View){(const double *)(const void *)s->groups, sizeof *s->groups / sizeof(double), 4};
}

static void fetch_group(CniPsor *s, int32_t i) {
  CnTwist now = cni_group_free(&s->groups[i]);
  memcpy(s->v + 6 * (size_t)i, &now, sizeof now);
}

static int rows_pass(CniPsor *s, int32_t index, double limit) {
  const CniPsorRows *c = &s->rows[index];
  for (int32_t e = c->entry_begin; e < c->entry_end; e++) {
    int32_t group = s->entries[e].group;
    fetch_group(s, group < 0 ? ~group : group);
  }
  return block_residual(s, &s->p->blocks[c->block]) <= limit;
}

// Impulses to s->g, velocities to s->v.
static int batch_passes(CniPsor *s, const CniPsorRun *run, int32_t i, double limit) {
  const CniPsorHead *head = cni_psor_store_batch(s, run, i);
  const CniBatch *batch = &s->schedule.batches[run->begin + i];
  for (int32_t lane = 0; lane < batch->lane_count; lane++) {
    int32_t a = head->a[lane], b = head->b[lane];
    fetch_group(s, a < 0 ? ~a : a);
    fetch_group(s, b < 0 ? ~b : b);
    for (int32_t k = 0; k < batch->length; k++)
      if (!(block_residual(s, &s->p->blocks[batch->block[lane] + k]) <= limit)) return 0;
  }
  return 1;
}

static int item_passes(CniPsor *s, int32_t index, int32_t i, double limit) {
  const CniPsorRun *run = &s->runs[index];
  if (run->kind == CNI_PSOR_SPHERE) return spheres_pass(s, run, i, of_sweeps(s), limit);
  if (run->kind == CNI_PSOR_ROWS) return rows_pass(s, run->begin + i, limit);
  return batch_passes(s, run, i, limit);
}

// Checks of columns: where each of them failed.
typedef struct LookLoop {
  CniPsor *s;
  double limit;
  View view;
} LookLoop;

static void check_spheres(void *context, int32_t begin, int32_t end) {
  LookLoop *loop = context;
  const CniPsor *s = loop->s;
  for (int32_t column = begin; column < end; column++) {
    s->failed[column].run = -1;
    for (int32_t i = s->run_start[column]; i < s->run_start[column + 1]; i++) {
      const CniPsorRun *run = &s->runs[i];
      if (run->kind != CNI_PSOR_SPHERE) continue;
      int32_t k = 0;
      while (k < run->count && spheres_pass(s, run, k, loop->view, loop->limit)) k++;
      if (k == run->count) continue;
      s->failed[column] = (CniPsorFailure){i, k};
      break;
    }
  }
}

// What fails is remembered.
static int fails_at(CniPsor *s, int32_t run, int32_t item) {
  s->suspect_run = run;
  s->suspect = item;
  return 0;
}

static int all_pass(CniPsor *s, double limit) {
  int32_t first = s->suspect_run, columns = s->schedule.column_count + 1;
  if (s->run_count == 0) return 1;
  if (!item_passes(s, first, s->suspect, limit)) return 0;
  LookLoop loop = {.s = s, .limit = limit, .view = of_sweeps(s)};
  cni_parallel_for(s->def.tasks, columns, 1, check_spheres, &loop);
  for (int32_t i = 0; i < columns; i++)
    if (s->failed[i].run >= 0) return fails_at(s, s->failed[i].run, s->failed[i].item);
  for (int32_t i = 0; i < s->run_count; i++) {
    int32_t index = (first + i) % s->run_count;
    for (int32_t k = 0; s->runs[index].kind != CNI_PSOR_SPHERE && k < s->runs[index].count; k++)
      if (!item_passes(s, index, k, limit)) return fails_at(s, index, k);
  }
  return 1;
}

// ---- with the velocities that the answer will have ----

static void fetch_groups(void *context, int32_t begin, int32_t end) {
  CniPsor *s = context;
  for (int32_t i = begin; i < end; i++) fetch_group(s, i);
}

// What the sweeps had goes back to the groups, what is to be looked at to s->v.
static void exchange_groups(void *context, int32_t begin, int32_t end) {
  CniPsor *s = context;
  for (int32_t i = begin; i < end; i++) {
    CnTwist fresh = cni_group_free(&s->groups[i]);
    memcpy(&s->groups[i].v, s->v + 6 * (size_t)i, 3 * sizeof *s->v);
    memcpy(&s->groups[i].w, s->v + 6 * (size_t)i + 3, 3 * sizeof *s->v);
    memcpy(s->v + 6 * (size_t)i, &fresh, sizeof fresh);
  }
}

static int blocks_pass(CniPsor *s, const CniPsorRun *run, int32_t i, double limit) {
  const CniBlock *blocks = s->p->blocks;
  if (run->kind == CNI_PSOR_ROWS)
    return block_residual(s, &blocks[s->rows[run->begin + i].block]) <= limit;
  const CniBatch *batch = &s->schedule.batches[run->begin + i];
  for (int32_t lane = 0; lane < batch->lane_count; lane++)
    for (int32_t k = 0; k < batch->length; k++)
      if (!(block_residual(s, &blocks[batch->block[lane] + k]) <= limit)) return 0;
  return 1;
}

// All that are not plain contacts of spheres: their impulses are in s->g.
static void check_others(void *context, int32_t begin, int32_t end) {
  LookLoop *loop = context;
  CniPsor *s = loop->s;
  for (int32_t column = begin; column < end; column++) {
    for (int32_t i = s->run_start[column]; i < s->run_start[column + 1]; i++) {
      const CniPsorRun *run = &s->runs[i];
      for (int32_t k = 0; run->kind != CNI_PSOR_SPHERE && k < run->count; k++)
        if (!blocks_pass(s, run, k, loop->limit)) s->failed[column].run = i;
    }
  }
}

static int fresh_pass(CniPsor *s, double limit) {
  CnTasks *tasks = s->def.tasks;
  int32_t groups = s->p->group_count, columns = s->schedule.column_count + 1;
  cni_parallel_for(tasks, groups, BLOCKS_PER_TASK, fetch_groups, s);
  cni_psor_restart(s);
  cni_parallel_for(tasks, groups, BLOCKS_PER_TASK, exchange_groups, s);
  LookLoop loop = {.s = s, .limit = limit, .view = {s->v, 6, 3}};
  cni_parallel_for(tasks, columns, 1, check_spheres, &loop);
  cni_parallel_for(tasks, columns, 1, check_others, &loop);
  for (int32_t i = 0; i < columns; i++)
    if (s->failed[i].run >= 0) return 0;
  return 1;
}

int cni_psor_good_enough(CniPsor *s, double limit) {
  const CnProblem *p = s->p;
  if (p->form == CN_FORM_EXPLICIT) {
    // the error falls about as the change does
    double error = cni_problem_error(p, s->g, s->u), ratio = s->def.tolerance / error;
    s->check_below = s->change * cn_clamp(2 * ratio, .05, .5);
    return error <= s->def.tolerance;
  }
  return !cni_psor_anybody(s, !all_pass(s, limit)) && !cni_psor_anybody(s, !fresh_pass(s, limit));
}
