// SPDX-License-Identifier: Apache-2.0
// Coulomb's law on hyperstatic problems: from change of state to change of state.
//
// Impulses and velocities of a block that obey the law are one vector y = g - u: in contact g_n =
// y_n, sticking g_j = y_j, slipping g_j = mu_j y_n y_j/|y_j|, and what is left of y is -u
// (cone_laws.c). So the problem is u(y) = N g(y) + r in y alone, and any y solves it for some other
// right-hand side r + d. Newton and interior points that come near a solution of a settled pile
// stop at states that lead back to each other: the matrix changes its sign from one state to the
// next. Here r + s d is brought from s = 1, where y is known, to s = 0, and y(s) is followed
// exactly: along its tangent to the place where the next contact changes its state, with the states
// of all others as they are. There the contact must go on into its new state. Where s then has to
// rise, it rises (a fold), and the path goes on until it leads to s = 0.
//
// N has not full rank there. A proximal term as in cone_newton.c, u + rho (g - g at the start),
// makes the path unique; when it has come to its end, another one begins from there with a smaller
// rho. Between changes of state the path is curved only as slipping contacts turn: a predictor, and
// a few steps of Newton that keep to the place where the contact changes, or to the plane across
// the tangent.
//
// Cost: two or three factorisations a change of state. From an error of 1e-7 a pile of a thousand
// spheres takes a handful, from 1e-5 one of a hundred some hundreds.
#include "solver/cones/cones.h"

#include "core/vec.h"

#include <string.h>

#define FIRST_RHO 1e-6 // in units of N_ii
#define LEAST_RHO 1e-11
#define RHO_DOWN 0.2 // after a path of few changes of state
#define RHO_UP 10    // after one that did not end
#define FEW 20
#define FAILURES 10     // paths that do not end
#define PART 3          // of the factorisations that one path may take
#define RISE 10         // s from which there is no way back
#define TURN 0.5        // angle by which a slipping contact turns in a step, at most
#define CORRECTIONS 8   // steps of Newton after a prediction
#define ATTEMPTS 14     // at a step
#define SHORTER 0.2     // after an attempt that failed
#define LONGER 2        // after one that did not
#define CLOSE 1e-4      // part of |d| at which a point is on the path
#define ROUND_OFF 3e-13 // or this
#define BEYOND 1e-10    // y by which a contact may be beyond its state

// A border of the state of a block: the normal one, or that of disc `border - 1`.
typedef struct Event {
  int32_t block; // -1: none
  int32_t border;
} Event;

typedef struct Path {
  CniCones *c;
  uint32_t *state;                            // of each block
  double *y, *next;                           // where it is and where it goes
  double *tangent, *before;                   // dy/dt here and at the step before
  double *across;                             // the same at the point being corrected
  double *d, *g, *u, *f, *start, *work, *fix; // work: see residual and solve
  double rho, size;                           // size: largest |d_i|
  double s, direction;                        // ds = -direction dt
  double turn; // angle by which a slipping contact may turn in the next step
  int32_t factors, most;
} Path;

int cni_cone_path_takes(const CniCones *c) {
  if (c->convex) return 0;
  for (int32_t i = 0; i < c->block_count; i++)
    if (c->blocks[i].kind == CN_BLOCK_INTERVAL) return 0;
  return 1;
}

// Blocks that are always as they are.
static int changes(const CniConeBlock *block) {
  return block->fixed != 0xff && block->kind != CN_BLOCK_BILATERAL;
}

static double dot(const double *a, const double *b, int32_t n) {
  double sum = 0;
  for (int32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

// ---- y and the equations ----

// Impulses and velocities of y in the states at hand.
static void split(const Path *p, const double *y) {
  for (int32_t i = 0; i < p->c->block_count; i++) {
    const CniConeBlock *block = &p->c->blocks[i];
    const CniCone *cone = &block->cone;
    const double *from = y + block->row;
    double *g = p->g + block->row, *u = p->u + block->row;
    int closed = !changes(block) || p->state[i] & CNI_CONE_CLOSED;
    for (int32_t d = 0; d < block->dim; d++) g[d] = closed ? from[d] : 0;
    for (int32_t j = 0; closed && j < cone->disc_count; j++) {
      const double *slip = from + cone->start[j];
      if (!(p->state[i] & CNI_CONE_SLIPS << j)) continue;
      double scale = cone->mu[j] * from[0] / sqrt(dot(slip, slip, cone->dim[j]));
      for (int32_t d = 0; d < cone->dim[j]; d++) g[cone->start[j] + d] = scale * slip[d];
    }
    for (int32_t d = 0; d < block->dim; d++) {
      if (block->fixed >> d & 1 || block->fixed == 0xff) g[d] = 0;
      u[d] = g[d] - from[d];
    }
    g[0] -= cone->cohesion;
  }
}

// work = u(y) - N g(y) - r - rho (g - start) - s d; the largest of it.
static double residual(Path *p, const double *y, double s) {
  double largest = 0;
  split(p, y);
  cni_cones_velocity(p->c, p->g, p->work);
  for (int32_t i = 0; i < p->c->n; i++) {
    p->work[i] = p->u[i] - p->work[i] - p->rho * (p->g[i] - p->start[i]) - s * p->d[i];
    largest = cn_max(largest, fabs(p->work[i]));
  }
  return largest;
}

static int factor(Path *p, const double *y) {
  CniCones *c = p->c;
  split(p, y);
  for (int32_t i = 0; i < c->block_count; i++)
    cni_cone_rows(c, i, &p->state[i], p->g, p->u, p->f, 1);
  for (int32_t k = 0; k < c->matrix_count; k++) c->b[k] += p->rho * c->a[k];
  p->factors++;
  return cni_cones_factor(c);
}

// The change of y that goes with a change of r by `change`: A (N dg + change) + B dg = 0.
static void solve(Path *p, const double *change, double *dy) {
  CniCones *c = p->c;
  double *dg = p->f, *du = p->fix;
  for (int32_t i = 0; i < c->block_count; i++) {
    const CniConeBlock *block = &c->blocks[i];
    const double *a = c->a + block->matrix;
    for (int32_t d = 0; d < block->dim; d++)
      dg[block->row + d] = -dot(a + d * block->dim, change + block->row, block->dim);
  }
  cni_cones_solve(c, dg);
  cni_cones_velocity(c, dg, du);
  for (int32_t i = 0; i < c->n; i++) dy[i] = dg[i] - (du[i] - c->r[i] + p->rho * dg[i] + change[i]);
}

static void solve_tangent(Path *p, double *dy) {
  double *change = p->work;
  for (int32_t i = 0; i < p->c->n; i++) change[i] = -p->direction * p->d[i];
  solve(p, change, dy);
}

// ---- borders ----

// Above zero within the state of a block, zero on the border, and its change along dy.
static double border(const Path *p, Event at, const double *y, const double *dy, double *change) {
  const CniConeBlock *block = &p->c->blocks[at.block];
  uint32_t state = p->state[at.block];
  y += block->row;
  dy += block->row;
  if (at.border == 0) {
    double sign = state & CNI_CONE_CLOSED ? 1 : -1;
    *change = sign * dy[0];
    return sign * y[0];
  }
  int32_t j = at.border - 1, start = block->cone.start[j], dim = block->cone.dim[j];
  double mu = block->cone.mu[j], length = sqrt(dot(y + start, y + start, dim));
  double sign = state & CNI_CONE_SLIPS << j ? 1 : -1;
  double along = length > 0 ? dot(y + start, dy + start, dim) / length
                            : sqrt(dot(dy + start, dy + start, dim));
  *change = sign * (along - mu * dy[0]);
  return sign * (length - mu * y[0]);
}

// How many borders the state of a block has.
static int32_t border_count(const Path *p, int32_t i) {
  const CniConeBlock *block = &p->c->blocks[i];
  if (!changes(block)) return 0;
  return p->state[i] & CNI_CONE_CLOSED ? 1 + block->cone.disc_count : 1;
}

// The t at which y + t dy leaves its state at a border; infinite: never.
static double leave(const Path *p, Event at, const double *y, const double *dy) {
  double change, value = border(p, at, y, dy, &change);
  if (value <= 0) return change < 0 ? 0 : INFINITY;
  if (at.border == 0) return change < 0 ? -value / change : INFINITY;
  const CniConeBlock *block = &p->c->blocks[at.block];
  int32_t j = at.border - 1, start = block->cone.start[j], dim = block->cone.dim[j];
  double mu = block->cone.mu[j];
  const double *x = y + block->row, *dx = dy + block->row;
  // |y_j|^2 - mu^2 y_n^2 = c + 2 b t + a t^2
  double a = dot(dx + start, dx + start, dim) - mu * mu * dx[0] * dx[0];
  double b = dot(x + start, dx + start, dim) - mu * mu * x[0] * dx[0];
  double c = dot(x + start, x + start, dim) - mu * mu * x[0] * x[0];
  double root = b * b - a * c;
  if (!(root >= 0)) return INFINITY;
  double q = -(b + (b > 0 ? sqrt(root) : -sqrt(root)));
  double first = a != 0 ? q / a : INFINITY, second = q != 0 ? c / q : INFINITY;
  if (!(first > 0)) first = INFINITY;
  if (!(second > 0)) second = INFINITY;
  return cn_min(first, second);
}

// The t in which a slipping contact turns by an angle of one, as it does now.
static double turn_time(const Path *p, int32_t i) {
  const CniConeBlock *block = &p->c->blocks[i];
  double time = INFINITY;
  for (int32_t j = 0; j < block->cone.disc_count; j++) {
    const double *y = p->y + block->row + block->cone.start[j];
    const double *dy = p->tangent + block->row + block->cone.start[j];
    if (block->cone.dim[j] < 2 || !(p->state[i] & CNI_CONE_SLIPS << j)) continue;
    double turn = fabs(y[0] * dy[1] - y[1] * dy[0]);
    if (turn > 0) time = cn_min(time, dot(y, y, 2) / turn);
  }
  return time;
}

// The new state of a block beyond one of its borders. What comes into contact slips at first.
static void cross(Path *p, Event at) {
  uint32_t *state = &p->state[at.block];
  int32_t discs = p->c->blocks[at.block].cone.disc_count;
  if (at.border > 0)
    *state ^= CNI_CONE_SLIPS << (at.border - 1);
  else if (*state & CNI_CONE_CLOSED)
    *state = 0;
  else
    *state = CNI_CONE_CLOSED | ((CNI_CONE_SLIPS << discs) - CNI_CONE_SLIPS);
}

// ---- one step ----

// The way on: into the new state of what has changed, or as before.
static int find_tangent(Path *p, Event last) {
  double change;
  if (!factor(p, p->y)) return 0;
  solve_tangent(p, p->tangent);
  if (last.block >= 0)
    border(p, last, p->y, p->tangent, &change);
  else
    change = dot(p->tangent, p->before, p->c->n);
  if (change < 0) {
    p->direction = -p->direction;
    for (int32_t i = 0; i < p->c->n; i++) p->tangent[i] = -p->tangent[i];
  }
  return 1;
}

// How far the tangent leads, and to which border (none: s = 0, or a turn). Infinite: nowhere.
static double predict(const Path *p, Event last, Event *event) {
  double time = INFINITY, turn = INFINITY;
  *event = (Event){-1, 0};
  for (int32_t i = 0; i < p->c->block_count; i++) {
    int32_t count = border_count(p, i);
    for (int32_t k = 0; k < count; k++) {
      Event at = {i, k};
      double t = leave(p, at, p->y, p->tangent);
      // it has just come from there
      if (i == last.block && k == last.border && !(t > 0)) continue;
      if (t < time) {
        time = t;
        *event = at;
      }
    }
    if (count > 1) turn = cn_min(turn, turn_time(p, i));
  }
  double other = cn_min(p->direction > 0 ? p->s : INFINITY, p->turn * turn);
  if (other < time) {
    time = other;
    *event = (Event){-1, 0};
  }
  return time;
}

// Bring `next` to the path with Newton's method, along which: to the border of the event, to s = 0,
// or across the tangent. 1: it is there.
static int correct(Path *p, Event event, int to_end, double *s) {
  double error = INFINITY;
  for (int32_t k = 0; k < CORRECTIONS; k++) {
    double now = residual(p, p->next, *s), shift = 0, change, fixed;
    if (now <= cn_max(CLOSE * p->size, ROUND_OFF)) return 1;
    if ((k > 2 && !(now < error)) || !isfinite(now) || !factor(p, p->next)) return 0;
    error = now;
    for (int32_t i = 0; i < p->c->n; i++) p->work[i] = -p->work[i];
    double *fix = p->before; // until the step is over
    solve(p, p->work, fix);
    if (!to_end) {
      solve_tangent(p, p->across);
      if (event.block >= 0) {
        double value = border(p, event, p->next, fix, &fixed);
        border(p, event, p->next, p->across, &change);
        shift = -(value + fixed) / change;
      } else {
        shift = -dot(p->tangent, fix, p->c->n) / dot(p->tangent, p->across, p->c->n);
      }
    }
    for (int32_t i = 0; i < p->c->n; i++)
      p->next[i] += fix[i] + (to_end ? 0 : shift * p->across[i]);
    *s -= p->direction * shift;
  }
  return 0;
}

// The first border that was passed between y and next, by their values; the part of the way to it.
static double passed(const Path *p, Event target, Event *event) {
  double least = 1;
  *event = (Event){-1, 0};
  for (int32_t i = 0; i < p->c->block_count; i++) {
    for (int32_t k = 0; k < border_count(p, i); k++) {
      Event at = {i, k};
      double unused, after = border(p, at, p->next, p->tangent, &unused);
      if (!(after < -BEYOND) || (i == target.block && k == target.border)) continue;
      double here = border(p, at, p->y, p->tangent, &unused);
      double part = here > 0 ? here / (here - after) : 0;
      if (part < least) {
        least = part;
        *event = at;
      }
    }
  }
  return least;
}

// One step along the path to the next event, or a part of the way; 0: there is none.
static int step(Path *p, Event *last, int *ended) {
  Event event, other;
  if (!find_tangent(p, *last)) return 0;
  double time = predict(p, *last, &event);
  int32_t shortened = 0;
  if (!isfinite(time)) return 0;
  for (int32_t k = 0; k < ATTEMPTS && p->factors < p->most; k++) {
    int to_end = event.block < 0 && p->direction > 0 && time >= p->s;
    double s = to_end ? 0 : p->s - p->direction * time;
    for (int32_t i = 0; i < p->c->n; i++) p->next[i] = p->y[i] + time * p->tangent[i];
    if (!correct(p, event, to_end, &s)) {
      time *= SHORTER;
      event.block = -1;
      p->turn *= SHORTER;
      shortened = 1;
      continue;
    }
    double part = passed(p, event, &other);
    if (other.block >= 0 && other.block == last->block && other.border == last->border) {
      // it was left into the new state and has come back on the way
      time *= SHORTER;
      event.block = -1;
      shortened = 1;
      continue;
    }
    if (other.block >= 0) {
      time *= part;
      event = other;
      continue;
    }
    memcpy(p->before, p->tangent, (size_t)p->c->n * sizeof *p->before);
    memcpy(p->y, p->next, (size_t)p->c->n * sizeof *p->y);
    p->s = s;
    if (!shortened) p->turn = cn_min(TURN, LONGER * p->turn);
    if (event.block >= 0) cross(p, event);
    *last = event;
    *ended = to_end;
    return 1;
  }
  return 0;
}

// ---- the whole ----

// From y to the end of a path; the changes of state on it, -1: it did not come to its end.
static int32_t follow(Path *p) {
  CniCones *c = p->c;
  size_t bytes = (size_t)c->n * sizeof *p->y;
  int32_t events = 0;
  int ended = 0;
  Event last = {-1, 0};
  for (int32_t i = 0; i < c->block_count; i++)
    p->state[i] = cni_cone_state(&c->blocks[i], p->y + c->blocks[i].row);
  split(p, p->y);
  memcpy(p->start, p->g, bytes);
  memset(p->d, 0, bytes);
  memset(p->before, 0, bytes);
  p->size = residual(p, p->y, 0);
  memcpy(p->d, p->work, bytes);
  p->s = p->direction = 1;
  p->turn = TURN;
  while (!ended) {
    if (p->s > RISE || p->factors >= p->most || cni_cones_late(c)) return -1;
    if (!step(p, &last, &ended)) return -1;
    events += last.block >= 0;
  }
  return events;
}

static CnStatus prepare(Path *p) {
  CniCones *c = p->c;
  CNI_TRY(CNI_ARRAYS(&c->arena, c->n, double, &p->y, &p->next, &p->tangent, &p->before, &p->across,
                     &p->d, &p->g, &p->u, &p->f, &p->start, &p->work, &p->fix));
  return cni_arena_array(&c->arena, c->block_count, sizeof *p->state, &p->state);
}

// y of impulses.
static void set_point(Path *p, const double *g) {
  cni_cones_velocity(p->c, g, p->u);
  for (int32_t i = 0; i < p->c->block_count; i++) {
    const CniConeBlock *block = &p->c->blocks[i];
    cni_cone_y(block, g + block->row, p->u + block->row, p->y + block->row);
  }
}

CnStatus cni_cone_path(CniCones *c, double tolerance, int32_t most, double *g, double *error,
                       int32_t *made) {
  Path p = {.c = c, .rho = FIRST_RHO, .most = most};
  CNI_TRY(prepare(&p));
  size_t bytes = (size_t)c->n * sizeof *g;
  int32_t failures = 0;
  cni_cones_velocity(c, g, p.u);
  *error = cni_cones_error(c, g, p.u);
  set_point(&p, g);
  while (failures < FAILURES && p.factors<most && * error> tolerance && !cni_cones_late(c)) {
    p.most = p.factors + most / PART < most ? p.factors + most / PART : most;
    int32_t events = follow(&p);
    if (events < 0) {
      failures++;
      p.rho *= RHO_UP;
      set_point(&p, g);
      continue;
    }
    split(&p, p.y);
    cni_cones_velocity(c, p.g, p.u);
    double reached = cni_cones_error(c, p.g, p.u);
    if (reached < *error) {
      *error = reached;
      memcpy(g, p.g, bytes);
    }
    if (events <= FEW) p.rho = cn_max(LEAST_RHO, RHO_DOWN * p.rho);
  }
  *made = p.factors;
  return CN_OK;
}
