// SPDX-License-Identifier: Apache-2.0
// Joints that are apart, limits and ropes that are passed, couplings that are off come to where they
// belong without speeds: after the drift bodies are shifted by ways and turns M^-1 E^T y, found by
// Newton's method with the masses as weights, so that a share kappa of an error goes away in a step,
// no faster than recovery_speed. Velocities stay, spins in body axes: no kinetic energy comes or
// goes. Rows that are closed or held stay so. What turns and belongs to nobody but itself keeps its
// angular momentum: it turns on as a whole, faster where it was drawn together.
#include "assembly/drift_private.h"

#include <string.h>

#include "core/math.h"

#define STEPS 6       // of Newton's method
#define SHORTEST 0.01 // part of a step of it
#define SWEEPS 16     // joint after joint
#define TORN 0.25     // of the largest way asked for: what misses it by that contradicts something
#define SOFT 1e-12    // of the diagonal, where rows of a joint depend on each other

static CnVec3 angular_momentum(const CniModel *model, int32_t body, CnPose pose, CnTwist twist) {
  CnVec3 spin = cn_smul(cni_model_inertia(model, body, pose.rotation), twist.spin);
  return cn_madd(spin, model->mass[body].mass, cn_cross(pose.position, twist.velocity));
}

// By the impulses of the joints as if they were mass times way. Spin stays in body axes, so that no
// kinetic energy comes or goes.
static void shift(const CniDrift *d, CniDriftBody *body) {
  const CniDriftInput *in = d->in;
  int32_t i = body->body;
  CnPose *pose = &in->pose_new[i], old = *pose;
  CnTwist before = in->end[i];
  CnSym3 inverse = cni_model_inv_inertia(in->model, i, old.rotation);
  CnVec3 way = cn_scale(1 / body->mass, body->impulse.velocity);
  CnQuat turn = cni_quat_exp(cn_smul(inverse, body->impulse.spin));
  pose->position = cn_add(old.position, way);
  pose->rotation = cn_qunit(cn_qmul(turn, old.rotation));
  in->end[i].spin = cn_rotate(turn, before.spin);
  if (!in->terms) return;
  CnBalanceTerm *joints = &in->terms[CN_BALANCE_JOINTS];
  CnVec3 more = cn_sub(angular_momentum(in->model, i, *pose, in->end[i]),
                       angular_momentum(in->model, i, old, before));
  double lifted = -body->mass * cn_dot(in->gravity, way);
  joints->angular_momentum = cn_add(joints->angular_momentum, more);
  joints->energy += lifted; // gravity takes it at once
  in->terms[CN_BALANCE_SCHEME].energy -= lifted;
}

// ---- angular momentum ----

static void take_turn(const CniDrift *d, CniDriftBody *body) {
  const CniDriftInput *in = d->in;
  int32_t i = body->body;
  CnVec3 turn = angular_momentum(in->model, i, in->pose_new[i], in->end[i]);
  d->whole->turn = cn_sub(d->whole->turn, turn);
}

static void weigh(const CniDrift *d, CniDriftBody *body) {
  const CniDriftInput *in = d->in;
  int32_t i = body->body;
  CnVec3 turn = angular_momentum(in->model, i, in->pose_new[i], in->end[i]);
  d->whole->turn = cn_add(d->whole->turn, turn);
  d->whole->mass += body->mass;
  d->whole->centre = cn_madd(d->whole->centre, body->mass, in->pose_new[i].position);
}

static void add_inertia(const CniDrift *d, CniDriftBody *body) {
  CnPose at = d->in->pose_new[body->body];
  CnVec3 r = cn_sub(at.position, d->whole->centre);
  double m = body->mass, rr = cn_norm2(r);
  CnSym3 far = {m * (rr - r.x * r.x), m * (rr - r.y * r.y), m * (rr - r.z * r.z),
                -m * r.x * r.y,       -m * r.x * r.z,       -m * r.y * r.z};
  CnSym3 own = cni_model_inertia(d->in->model, body->body, at.rotation);
  d->whole->inertia = cn_sadd(d->whole->inertia, cn_sadd(far, own));
}

static void turn_on(const CniDrift *d, CniDriftBody *body) {
  const CniDriftInput *in = d->in;
  int32_t i = body->body;
  CnPose at = in->pose_new[i];
  CnTwist more = {cn_cross(d->whole->rate, cn_sub(at.position, d->whole->centre)), d->whole->rate};
  CnTwist *end = &in->end[i];
  CnTwist mean = {cn_madd(end->velocity, 0.5, more.velocity), cn_madd(end->spin, 0.5, more.spin)};
  end->velocity = cn_add(end->velocity, more.velocity);
  end->spin = cn_add(end->spin, more.spin);
  if (!in->terms) return;
  CnVec3 push = cn_scale(body->mass, more.velocity);
  CnVec3 turn = cn_smul(cni_model_inertia(in->model, i, at.rotation), more.spin);
  CnBalanceTerm *joints = &in->terms[CN_BALANCE_JOINTS];
  joints->momentum = cn_add(joints->momentum, push);
  joints->angular_momentum =
      cn_add(joints->angular_momentum, cn_add(cn_cross(at.position, push), turn));
  joints->energy += cn_dot(push, mean.velocity) + cn_dot(turn, mean.spin);
}

// Does no link of an island reach to a body without mass?
static int is_free(const CniDrift *d, const int32_t *list_of, int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++) {
    const CniDriftLink *link = &d->links[list_of[i]];
    for (int32_t k = link->pair; k < link->pair + link->pair_count; k++)
      if (d->pairs[k].a < 0 || d->pairs[k].b < 0) return 0;
  }
  return 1;
}

static void keep_turn(const CniDrift *d, const int32_t *list_of, int32_t begin, int32_t end) {
  CniDriftWhole *whole = d->whole;
  cni_drift_each_body(d, list_of, begin, end, weigh);
  whole->centre = cn_scale(1 / whole->mass, whole->centre);
  cni_drift_each_body(d, list_of, begin, end, add_inertia);
  whole->rate = cn_neg(cn_smul(cn_sinverse(whole->inertia), whole->turn));
  cni_drift_each_body(d, list_of, begin, end, turn_on);
}

// ---- by the factor ----

// The rows of an island for closing: those that hold stay where they are; limits that were passed take
// part where they have not come back by themselves. Is there anything to do?
static int open_rows(CniDrift *d, const int32_t *list_of, int32_t begin, int32_t end) {
  int any = 0;
  for (int32_t i = begin; i < end; i++) {
    const CniDriftLink *link = &d->links[list_of[i]];
    for (int32_t r = 0; r < link->dim; r++) {
      int32_t row = link->row + r;
      if (link->rotor) d->loose[row] = 1; // ways are no speeds
      d->target[row] -= d->open[row];
      any |= d->open[row] != 0;
      if (d->loose[row] > 0 && d->open[row] != 0)
        d->loose[row] = !((d->left[row] + d->open[row]) * d->open[row] > 0);
    }
  }
  return any;
}

static void keep(const CniDrift *d, CniDriftBody *body) {
  d->kept[body - d->bodies] = (CniDriftKept){d->in->pose_new[body->body], d->in->end[body->body]};
}

static void go_back(const CniDrift *d, CniDriftBody *body) {
  d->in->pose_new[body->body] = d->kept[body - d->bodies].pose;
  d->in->end[body->body] = d->kept[body - d->bodies].end;
}

// A share of a step of Newton's method; returns the error there.
static double step(const CniDrift *d, const int32_t *list_of, int32_t begin, int32_t end,
                   double share) {
  for (int32_t i = begin; i < end; i++) {
    const CniDriftLink *link = &d->links[list_of[i]];
    for (int32_t r = link->row; r < link->row + link->dim; r++)
      d->impulse[r] = -share * d->change[r];
    cni_drift_push(d, link);
  }
  cni_drift_each_body(d, list_of, begin, end, shift);
  cni_drift_each_body(d, list_of, begin, end, cni_drift_forget);
  return cni_drift_look_at_all(d, list_of, begin, end, 2);
}

// A step that does not bring the rows nearer is made shorter, or not at all: far from where they belong
// the next step of Newton's method may lead anywhere.
static void close_rows(CniDrift *d, int32_t island, const int32_t *list_of, int32_t begin,
                       int32_t end) {
  CnBalanceTerm terms[CN_BALANCE_PART_COUNT];
  cni_drift_each_body(d, list_of, begin, end, cni_drift_forget);
  double now = cni_drift_look_at_all(d, list_of, begin, end, 2);
  for (int32_t k = 0; k < STEPS && now > 1; k++) {
    cni_drift_factor(d);
    cni_direct_solve(d->in->direct, d->residual, d->change, island, island + 1);
    cni_drift_each_body(d, list_of, begin, end, keep);
    if (d->in->terms) memcpy(terms, d->in->terms, sizeof terms);
    double next = INFINITY;
    for (double share = 1; share >= SHORTEST; share *= 0.25) {
      next = step(d, list_of, begin, end, share);
      if (next < now) break;
      cni_drift_each_body(d, list_of, begin, end, go_back);
      if (d->in->terms) memcpy(d->in->terms, terms, sizeof terms);
      cni_drift_look_at_all(d, list_of, begin, end, 2);
    }
    if (!(next < now)) return;
    now = next;
  }
}

// Rows that did not come where they were to be, though they are shares of their errors only.
static void name_torn(const CniDrift *d, const int32_t *list_of, int32_t begin, int32_t end) {
  const CniDriftInput *in = d->in;
  double most = INFINITY;
  for (int32_t i = begin; i < end; i++) {
    const CniDriftLink *link = &d->links[list_of[i]];
    for (int32_t r = link->row; r < link->row + link->dim; r++)
      if (d->open[r] != 0) most = cn_max(most < INFINITY ? most : 0, fabs(d->open[r]));
  }
  for (int32_t i = begin; i < end; i++) {
    const CniDriftLink *link = &d->links[list_of[i]];
    int32_t torn = 0;
    for (int32_t r = link->row; r < link->row + link->dim; r++)
      torn |= fabs(d->residual[r]) > TORN * most;
    if (!torn) continue;
    if (in->torn->count < CN_REPORT_ROWS)
      in->torn->links[in->torn->count] = link->joint < 0 ? -1 - link->coupling : link->joint;
    in->torn->count++;
  }
}

void cni_drift_close(CniDrift *d, int32_t island) {
  const int32_t *list_of = cni_direct_blocks(d->in->direct);
  int32_t begin, end;
  cni_direct_island(d->in->direct, island, &begin, &end);
  if (!open_rows(d, list_of, begin, end) && !(d->last[island] > 1)) return;
  CniDriftWhole whole = {0};
  int free = is_free(d, list_of, begin, end);
  d->closing = 1;
  d->whole = &whole;
  if (free) cni_drift_each_body(d, list_of, begin, end, take_turn);
  close_rows(d, island, list_of, begin, end);
  name_torn(d, list_of, begin, end);
  if (free) keep_turn(d, list_of, begin, end);
  d->whole = NULL;
}

// ---- without a factor ----

// Gauss elimination of a positive matrix a, in place; the solution in c.
static void eliminate(double a[CNI_JOINT_LOCKED][CNI_JOINT_LOCKED], double *c, int32_t n) {
  for (int32_t k = 0; k < n; k++) {
    double pivot = a[k][k] > 0 ? 1 / a[k][k] : 0;
    for (int32_t i = k + 1; i < n; i++) {
      double f = a[i][k] * pivot;
      for (int32_t j = k; j < n; j++) a[i][j] -= f * a[k][j];
      c[i] -= f * c[k];
    }
  }
  for (int32_t k = n; k-- > 0;) {
    for (int32_t j = k + 1; j < n; j++) c[k] -= a[k][j] * c[j];
    c[k] = a[k][k] > 0 ? c[k] / a[k][k] : 0;
  }
}

// What the rows of one link would have to do alone, into `change`.
static void solve_alone(const CniDrift *d, const CniDriftLink *link) {
  CniDirectBlock block;
  CniDirectSide sides[2 * CN_COUPLING_TERMS];
  CnTwist e[2 * CN_COUPLING_TERMS];
  CniDriftCount count = {0, 0};
  double a[CNI_JOINT_LOCKED][CNI_JOINT_LOCKED] = {{0}}, c[CNI_JOINT_LOCKED];
  _Static_assert(2 * CN_COUPLING_TERMS >= 2 * CNI_JOINT_LOCKED, "room for a joint");
  cni_drift_sides(d, link, &block, sides, e, &count);
  for (int32_t s = 0; s < count.sides; s++) {
    const CniDriftBody *body = &d->bodies[sides[s].body];
    CnSym3 inverse =
        cni_model_inv_inertia(d->in->model, body->body, d->in->pose_new[body->body].rotation);
    for (int32_t i = 0; i < link->dim; i++)
      for (int32_t j = 0; j < link->dim; j++) {
        const CnTwist *x = &e[sides[s].at + i], *y = &e[sides[s].at + j];
        a[i][j] += cn_dot(x->velocity, y->velocity) / body->mass +
                   cn_dot(x->spin, cn_smul(inverse, y->spin));
      }
  }
  for (int32_t i = 0; i < link->dim; i++) {
    a[i][i] += d->loose[link->row + i] + SOFT * a[i][i];
    c[i] = d->residual[link->row + i];
  }
  eliminate(a, c, link->dim);
  for (int32_t i = 0; i < link->dim; i++) d->change[link->row + i] = c[i];
}

void cni_drift_close_alone(CniDrift *d) {
  d->closing = 1;
  for (int32_t i = 0; i < d->link_count; i++) cni_drift_look(d, &d->links[i], 2);
  for (int32_t i = 0; i < d->link_count; i++) open_rows(d, &i, 0, 1);
  for (int32_t i = 0; i < d->body_count; i++) cni_drift_forget(d, &d->bodies[i]);
  for (int32_t k = 0; k < SWEEPS * d->link_count; k++) {
    const CniDriftLink *link = &d->links[k % d->link_count];
    if (!(cni_drift_look(d, link, 2) > 1)) continue;
    solve_alone(d, link);
    for (int32_t r = link->row; r < link->row + link->dim; r++) d->impulse[r] = -d->change[r];
    cni_drift_push(d, link);
    for (int32_t p = 2 * link->pair; p < 2 * (link->pair + link->pair_count); p++) {
      int32_t body = p % 2 ? d->pairs[p / 2].b : d->pairs[p / 2].a;
      if (body < 0) continue;
      shift(d, &d->bodies[body]);
      cni_drift_forget(d, &d->bodies[body]);
    }
  }
}
