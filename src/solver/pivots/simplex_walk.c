// SPDX-License-Identifier: Apache-2.0
// The walk of the 2005 paper over sets of active rows.
//
// A row is either *on* (u = 0, its impulse follows from the linear equations) or *held* (its
// impulse stays where it is, as a rule at a bound). From impulses inside their bounds:
//
//   1. solve [M E_a^T; E_a -C] for the rows that are on: the target;
//   2. walk towards it until an impulse comes to its bound: that row is switched off and held
//      there, and again from 1; if nothing blocks, the target is reached;
//   3. among the held rows look for one whose velocity has the wrong sign (the largest); none:
//      done. Switch it on, and again from 1.
//
// A row that depends on those that are on (box on a hundred points, a pyramid's fourth ray) cannot
// be switched on: the matrix would be singular. Then impulses are exchanged along the dependency,
// which changes no velocity, until one of the rows that are on comes to its bound and makes room;
// if none ever does, no impulse can satisfy the row, and it is named.
//
// Every target is the minimum of 1/2 g^T N g + r^T g on its set of rows and every walk goes
// downhill, so no set occurs twice, steps of length zero included: each of those takes a row away,
// and there are finitely many. With round-off the same is watched: where the function has not
// fallen for a while the violated row of smallest index is taken instead of the largest (Bland),
// and where that does not help the tolerance is raised tenfold, to the round-off it is made of.
//
// The switch is a change of the factors along a path (sparse/ldl_rows.c); the backward error is
// looked at now and then and the matrix factored anew where it has drifted. The end is a solution
// with refinement.
#include "solver/pivots/simplex.h"

#include "core/vec.h"

#include <string.h>

#define DEPENDENT 2e-11   // a pivot below this part of what it is made of is round-off
#define DRIFT 1e-10       // backward error at which the matrix is factored anew
#define CHECK_INTERVAL 32 // switches between two checks of it
#define TOLERANCE 1e-12   // of u, over the largest r
#define LOOSEST 1e-9
#define INFEASIBLE 1e-10 // violation above which a row is named, likewise
#define NOISE 4e-16      // of the largest velocity an impulse makes: violations below it come last,
#define FINE 40          // and so many of them at most
#define ROUNDS 8         // of the first guess
#define PATIENCE 20      // rows taken up without progress before the order changes

typedef struct Walk {
  CniSimplex *s;
  const CniSimplexRows *r;
  CniSimplexWalk *out;
  CnTasks *tasks;
  const double *value; // of the saddle matrix
  double *g, *v, *u, *rhs, *x;
  uint8_t *on, *given_up; // of the saddle matrix's rows; of the rows
  double tolerance, best;
  int32_t max_pivots, stuck, fine;
} Walk;

static CnStatus note(Walk *w, CniSimplexEvent event, int32_t row, double step) {
  CniSimplex *s = w->s;
  CNI_TRY(CNI_RESERVE(&s->allocator, s->log, s->log_capacity, s->log_count, s->log_count + 1));
  s->log[s->log_count++] = (CniSimplexEntry){(int32_t)event, row, step};
  return CN_OK;
}

// ---- factors ----

static int is_on(const Walk *w, int32_t i) { return w->on[w->r->v_count + i]; }

static CnStatus refactor(Walk *w, CniLdlReport *report) {
  w->out->factorings++;
  CNI_TRY(note(w, CNI_SIMPLEX_REFACTORED, -1, 0));
  return cni_ldl_factor_rows(w->s->ldl, w->value, w->on, w->tasks, report);
}

// Switch row i on: *done 1, or 0 where it depends on the others.
static CnStatus switch_on(Walk *w, int32_t i, int *done) {
  int32_t row = w->r->v_count + i;
  double share;
  CniSwitch result = cni_ldl_switch_on(w->s->ldl, w->value, row, DEPENDENT, &share);
  *done = result != CNI_DEPENDENT;
  if (!*done) return CN_OK;
  w->on[row] = 1;
  w->out->pivots++;
  return result == CNI_DAMAGED ? refactor(w, NULL) : CN_OK;
}

static CnStatus switch_off(Walk *w, int32_t i) {
  int32_t row = w->r->v_count + i;
  w->on[row] = 0;
  w->out->pivots++;
  if (cni_ldl_switch_off(w->s->ldl, row) == CNI_DAMAGED) return refactor(w, NULL);
  return CN_OK;
}

// Bilateral rows and those that start inside their bounds; one by one where some are redundant.
static CnStatus first_rows(Walk *w) {
  const CniSimplexRows *r = w->r;
  CniLdlReport report;
  int32_t n = r->v_count + r->row_count;
  for (int32_t i = 0; i < n; i++)
    w->on[i] = i < r->v_count || (w->g[i - r->v_count] > r->lo[i - r->v_count] &&
                                  w->g[i - r->v_count] < r->hi[i - r->v_count]);
  CNI_TRY(refactor(w, &report));
  if (report.least > DEPENDENT) return CN_OK;
  uint8_t *wanted = w->given_up; // free until the walk begins
  memcpy(wanted, w->on + r->v_count, (size_t)r->row_count);
  memset(w->on + r->v_count, 0, (size_t)r->row_count);
  CNI_TRY(refactor(w, NULL));
  for (int32_t pass = 0; pass < 2; pass++)
    for (int32_t i = 0; i < r->row_count; i++) {
      int bilateral = isinf(r->lo[i]) && isinf(r->hi[i]), done;
      if (!wanted[i] || bilateral != (pass == 0)) continue;
      CNI_TRY(switch_on(w, i, &done));
      w->out->dependent += !done; // held where it is
    }
  memset(wanted, 0, (size_t)r->row_count);
  return CN_OK;
}

// ---- targets ----

// Right-hand sides with the impulses that are held.
static void make_sides(Walk *w) {
  const CniSimplexRows *r = w->r;
  double *top = w->rhs, *side = w->rhs + r->v_count;
  if (r->v_count > 0) memcpy(top, r->k, (size_t)r->v_count * sizeof *top);
  for (int32_t i = 0; i < r->row_count; i++) {
    side[i] = is_on(w, i) ? -r->b[i] : 0;
    if (is_on(w, i) || w->g[i] == 0 || r->v_count == 0) continue;
    for (int32_t e = r->e.start[i]; e < r->e.start[i + 1]; e++)
      top[r->e.column[e]] += r->e.value[e] * w->g[i];
  }
  for (int32_t i = 0; i < r->row_count; i++)
    for (int32_t e = r->c.start[i]; e < r->c.start[i + 1]; e++) {
      int32_t j = r->c.column[e];
      if (is_on(w, i) && !is_on(w, j)) side[i] -= r->c.value[e] * w->g[j];
      if (is_on(w, j) && !is_on(w, i)) side[j] -= r->c.value[e] * w->g[i];
    }
}

// x = (v, -g) of the target; refined at the end of a walk, looked at now and then.
static CnStatus find_target(Walk *w, int refined) {
  CniLdl *ldl = w->s->ldl;
  make_sides(w);
  if (!refined && (cni_ldl_switches(ldl) + 1) % CHECK_INTERVAL != 0) {
    memcpy(w->x, w->rhs, (size_t)cni_ldl_size(ldl) * sizeof *w->x);
    cni_ldl_solve(ldl, w->x, 1);
    return CN_OK;
  }
  double error = cni_ldl_refine(ldl, w->value, w->rhs, w->x, refined ? 4 : 0);
  w->out->drift = cn_max(w->out->drift, error);
  if (error <= (refined ? 1e-14 : DRIFT) || cni_ldl_switches(ldl) == 0) return CN_OK;
  CNI_TRY(refactor(w, NULL));
  cni_ldl_refine(ldl, w->value, w->rhs, w->x, 4);
  return CN_OK;
}

// The part of the way to the target that keeps all impulses inside their bounds, and who blocks
// (-1: nobody). Ties: the smallest index.
static double find_step(const Walk *w, int32_t *blocking) {
  const CniSimplexRows *r = w->r;
  double step = 1;
  *blocking = -1;
  for (int32_t i = 0; i < r->row_count; i++) {
    if (!is_on(w, i)) continue;
    double target = -w->x[r->v_count + i];
    double bound = target < r->lo[i] ? r->lo[i] : r->hi[i];
    if (!(target < r->lo[i]) && !(target > r->hi[i])) continue;
    double part = (bound - w->g[i]) / (target - w->g[i]);
    if (*blocking >= 0 && !(part < step)) continue;
    step = part;
    *blocking = i;
  }
  return step;
}

// Walk until the target is reached, switching off what blocks.
static CnStatus reach_target(Walk *w, int refined) {
  const CniSimplexRows *r = w->r;
  w->out->reached = 0;
  for (;;) {
    int32_t blocking;
    CNI_TRY(find_target(w, refined));
    double step = find_step(w, &blocking);
    for (int32_t i = 0; i < r->row_count; i++) {
      if (!is_on(w, i)) continue;
      double target = -w->x[r->v_count + i];
      w->g[i] =
          blocking < 0 ? target : cn_clamp(w->g[i] + step * (target - w->g[i]), r->lo[i], r->hi[i]);
    }
    if (blocking < 0) break;
    double target = -w->x[r->v_count + blocking];
    w->g[blocking] = target < r->lo[blocking] ? r->lo[blocking] : r->hi[blocking];
    w->out->degenerate += step <= 0;
    CNI_TRY(note(w, CNI_SIMPLEX_OFF, blocking, step));
    CNI_TRY(switch_off(w, blocking));
    if (w->out->pivots >= w->max_pivots) return CN_OK;
  }
  if (r->v_count > 0) memcpy(w->v, w->x, (size_t)r->v_count * sizeof *w->v);
  w->out->reached = 1;
  return CN_OK;
}

// ---- violated rows ----

// u of the held rows; 0 of the others.
static void find_velocities(Walk *w) {
  const CniSimplexRows *r = w->r;
  for (int32_t i = 0; i < r->row_count; i++) {
    double sum = r->b[i];
    for (int32_t e = r->v_count > 0 ? r->e.start[i] : 0; r->v_count > 0 && e < r->e.start[i + 1];
         e++)
      sum += r->e.value[e] * w->v[r->e.column[e]];
    w->u[i] = sum;
  }
  for (int32_t i = 0; i < r->row_count; i++)
    for (int32_t e = r->c.start[i]; e < r->c.start[i + 1]; e++) {
      int32_t j = r->c.column[e];
      w->u[i] += r->c.value[e] * w->g[j];
      if (i != j) w->u[j] += r->c.value[e] * w->g[i];
    }
  for (int32_t i = 0; i < r->row_count; i++)
    if (is_on(w, i)) w->u[i] = 0;
}

// How far a held row is from its law.
static double violation(const Walk *w, int32_t i) {
  const CniSimplexRows *r = w->r;
  if (w->u[i] < 0 && w->g[i] < r->hi[i]) return -w->u[i];
  return w->u[i] > 0 && w->g[i] > r->lo[i] ? w->u[i] : 0;
}

// The largest velocity that a single impulse makes: its round-off is in every velocity of a light
// part between heavy ones.
static double largest_push(const Walk *w) {
  double most = 0;
  for (int32_t i = 0; i < w->r->row_count; i++) most = cn_max(most, fabs(w->g[i]) * w->r->own[i]);
  return most;
}

// The row to take up next, -1: none. The function's value tells whether there is progress.
static int32_t find_violated(Walk *w) {
  const CniSimplexRows *r = w->r;
  double f = 0;
  for (int32_t i = 0; i < r->row_count; i++) f += .5 * w->g[i] * (w->u[i] + r->b[i]);
  if (f < w->best - 1e-14 * fabs(w->best)) {
    w->best = f;
    w->stuck = 0;
  } else if (++w->stuck > PATIENCE + r->row_count) {
    w->stuck = 0;
    w->tolerance *= 10;
  }
  int32_t found = -1;
  double noise = NOISE * largest_push(w), loudest = 0;
  double most = w->tolerance;
  w->out->worst = 0;
  for (int32_t i = 0; i < r->row_count; i++) {
    if (is_on(w, i) || w->given_up[i]) continue;
    double size = violation(w, i);
    w->out->worst = cn_max(w->out->worst, size);
    if (!(size > most)) continue;
    loudest = cn_max(loudest, size);
    if (w->stuck <= PATIENCE) most = size;
    if (found < 0 || w->stuck <= PATIENCE) found = i;
  }
  // what is left is round-off of large impulses: some of it can still be walked away
  if (found >= 0 && !(loudest > noise) && ++w->fine > FINE) return -1;
  return found;
}

// ---- rows that depend on those that are on ----

// x = (dv, -dg) for a unit impulse in row k with the others following.
static void find_ray(Walk *w, int32_t k) {
  const CniSimplexRows *r = w->r;
  int32_t n = r->v_count + r->row_count;
  memset(w->rhs, 0, (size_t)n * sizeof *w->rhs);
  for (int32_t e = r->v_count > 0 ? r->e.start[k] : 0; r->v_count > 0 && e < r->e.start[k + 1]; e++)
    w->rhs[r->e.column[e]] = r->e.value[e];
  for (int32_t i = 0; i < r->row_count; i++)
    for (int32_t e = r->c.start[i]; e < r->c.start[i + 1]; e++) {
      int32_t j = r->c.column[e];
      if (i == k && is_on(w, j)) w->rhs[r->v_count + j] -= r->c.value[e];
      if (j == k && is_on(w, i)) w->rhs[r->v_count + i] -= r->c.value[e];
    }
  cni_ldl_refine(w->s->ldl, w->value, w->rhs, w->x, 2);
}

// Exchange impulses along the dependency until a row comes to its bound; that row, or -1.
static int32_t follow_ray(Walk *w, int32_t k) {
  const CniSimplexRows *r = w->r;
  double way = w->u[k] < 0 ? 1 : -1, largest = 1;
  double length = way > 0 ? r->hi[k] - w->g[k] : w->g[k] - r->lo[k];
  int32_t blocking = isinf(length) ? -1 : k;
  find_ray(w, k);
  for (int32_t i = 0; i < r->row_count; i++)
    if (is_on(w, i)) largest = cn_max(largest, fabs(w->x[r->v_count + i]));
  for (int32_t i = 0; i < r->row_count; i++) {
    double rate = -way * w->x[r->v_count + i];
    if (!is_on(w, i) || fabs(rate) <= 1e-9 * largest) continue;
    double room = rate > 0 ? r->hi[i] - w->g[i] : w->g[i] - r->lo[i];
    if (isinf(room) || !(room < length * fabs(rate) || blocking < 0)) continue;
    length = room / fabs(rate);
    blocking = i;
  }
  if (blocking < 0) return -1;
  for (int32_t i = 0; i < r->row_count; i++)
    if (is_on(w, i))
      w->g[i] = cn_clamp(w->g[i] - length * way * w->x[r->v_count + i], r->lo[i], r->hi[i]);
  w->g[k] = cn_clamp(w->g[k] + length * way, r->lo[k], r->hi[k]);
  double rate = blocking == k ? way : -way * w->x[r->v_count + blocking];
  w->g[blocking] = rate > 0 ? r->hi[blocking] : r->lo[blocking];
  return blocking;
}

static CnStatus give_up(Walk *w, int32_t k) {
  w->given_up[k] = 1;
  return note(w, CNI_SIMPLEX_GIVEN_UP, k, 0);
}

// Switch a violated row on, making room where it depends on others.
static CnStatus take_up(Walk *w, int32_t k) {
  w->out->major++;
  for (;;) {
    int done;
    CNI_TRY(switch_on(w, k, &done));
    if (done) return note(w, CNI_SIMPLEX_ON, k, 0);
    w->out->dependent++;
    int32_t blocking = follow_ray(w, k);
    if (blocking < 0) return give_up(w, k);
    CNI_TRY(note(w, CNI_SIMPLEX_HELD, blocking, 0));
    if (blocking == k) return CN_OK;
    CNI_TRY(switch_off(w, blocking));
    if (w->out->pivots >= w->max_pivots) return CN_OK;
  }
}

// Name the rows that were given up and are still violated by more than round-off.
static void name_infeasible(Walk *w) {
  for (int32_t i = 0; i < w->r->row_count; i++) {
    double size = w->given_up[i] ? violation(w, i) : 0;
    w->out->worst = cn_max(w->out->worst, size);
    if (!(size > INFEASIBLE * w->r->scale)) continue;
    if (w->out->infeasible < CNI_SIMPLEX_NAMED) w->out->named[w->out->infeasible] = i;
    w->out->infeasible++;
  }
}

// ---- a first guess ----

// A row of the guess on or off; the factors follow later.
static CnStatus set_row(Walk *w, int32_t i, int on) {
  w->on[w->r->v_count + i] = (uint8_t)on;
  w->out->pivots++;
  return note(w, on ? CNI_SIMPLEX_ON : CNI_SIMPLEX_OFF, i, 0);
}

// Held rows that the start violates go on all at once, and those among them that would pull at
// their bound off again all at once, a few rounds: a set of rows to begin the walk with, near the
// last one as a rule. Where the rows depend on each other the walk begins without.
static CnStatus guess_rows(Walk *w) {
  const CniSimplexRows *r = w->r;
  CniLdlReport report;
  int32_t count = 0;
  uint8_t *guessed = w->given_up; // free until the walk begins
  CNI_TRY(reach_target(w, 0));
  if (!w->out->reached) return CN_OK;
  find_velocities(w);
  for (int32_t i = 0; i < r->row_count; i++) {
    guessed[i] = !is_on(w, i) && violation(w, i) > w->tolerance;
    count += guessed[i];
  }
  if (count < 2 || count > w->max_pivots / 2) {
    memset(guessed, 0, (size_t)r->row_count);
    return CN_OK;
  }
  for (int32_t i = 0; i < r->row_count; i++)
    if (guessed[i]) CNI_TRY(set_row(w, i, 1));
  CNI_TRY(refactor(w, &report));
  for (int32_t round = 0; round < ROUNDS && count > 0; round++) {
    int independent = report.least > DEPENDENT;
    if (independent) CNI_TRY(find_target(w, 0));
    count = 0;
    for (int32_t i = 0; i < r->row_count; i++) {
      double target = -w->x[r->v_count + i];
      if (!guessed[i] || (independent && target >= r->lo[i] && target <= r->hi[i])) continue;
      guessed[i] = 0;
      CNI_TRY(set_row(w, i, 0));
      count++;
    }
    if (count > 0) CNI_TRY(refactor(w, &report));
  }
  memset(guessed, 0, (size_t)r->row_count);
  return CN_OK;
}

// ---- the walk ----

static CnStatus walk_on(Walk *w) {
  int refined = 0;
  while (w->out->pivots < w->max_pivots) {
    CNI_TRY(reach_target(w, refined));
    if (!w->out->reached) return CN_OK;
    find_velocities(w);
    int32_t k = find_violated(w);
    if (k < 0 && refined) {
      w->out->finished = w->out->worst <= LOOSEST * w->r->scale;
      return CN_OK;
    }
    refined = k < 0;
    if (k >= 0) CNI_TRY(take_up(w, k));
  }
  return CN_OK;
}

// Factors of another pattern are thrown away.
static CnStatus prepare(CniSimplex *s, const CniSimplexRows *r) {
  if (s->ldl && cni_ldl_fits(s->ldl, &r->saddle, r->sign)) return CN_OK;
  cni_ldl_destroy(s->ldl);
  s->ldl = NULL;
  CNI_TRY(cni_ldl_create(&s->allocator, &r->saddle, r->sign, r->late, &s->ldl));
  CnStatus status = cni_ldl_prepare_rows(s->ldl);
  if (status == CN_OK) return CN_OK;
  cni_ldl_destroy(s->ldl);
  s->ldl = NULL;
  return status;
}

CnStatus cni_simplex_walk(CniSimplex *s, const CniSimplexRows *r, int32_t max_pivots,
                          CnTasks *tasks, double *g, double *v, CniSimplexWalk *walk) {
  int32_t n = r->v_count + r->row_count, m = r->row_count;
  *walk = (CniSimplexWalk){0};
  s->log_count = 0;
  CNI_TRY(prepare(s, r));
  CNI_TRY(CNI_RESERVE(&s->allocator, s->numbers, s->number_capacity, 0, 2 * n + m + 1));
  CNI_TRY(CNI_RESERVE(&s->allocator, s->flags, s->flag_capacity, 0, n + m + 1));
  memset(s->flags, 0, (size_t)(n + m));
  Walk w = {.s = s,
            .r = r,
            .out = walk,
            .tasks = tasks,
            .value = r->saddle.value,
            .g = g,
            .v = v,
            .rhs = s->numbers,
            .x = s->numbers + n,
            .u = s->numbers + 2 * (int64_t)n,
            .on = s->flags,
            .given_up = s->flags + n,
            .tolerance = TOLERANCE * r->scale,
            .best = INFINITY,
            .max_pivots = max_pivots};
  CNI_TRY(first_rows(&w));
  CNI_TRY(guess_rows(&w));
  CNI_TRY(walk_on(&w));
  name_infeasible(&w);
  for (int32_t i = 0; i < m; i++) walk->active += is_on(&w, i);
  return CN_OK;
}

void cni_simplex_release(CniSimplex *s) {
  cni_ldl_destroy(s->ldl);
  CNI_RELEASE(&s->allocator, s->numbers, s->number_capacity);
  cni_release(&s->allocator, s->flags, (size_t)s->flag_capacity);
  CNI_RELEASE(&s->allocator, s->log, s->log_capacity);
}
