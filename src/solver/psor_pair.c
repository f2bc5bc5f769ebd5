// Sweeps over blocks between two points of two groups of any inertia.
//
// The velocity of one point relative to the other is one vector in space; the frame (n, t1, t2)
// takes it apart, and an impulse in the frame acts on both groups through the lever arms and the
// inverse inertia. That is less memory than stored Jacobians, and memory is what a large pile waits
// for.
//
// Split: the normal by its clamp; N_tn then tells the tangential velocity after it, and the
// friction is clamped to the disc of radius mu g_n. Project: as for spheres. Wide: joints, rolling
// and spinning resistance, frictionless and plane contacts, exact solves: local.h decides.
#include "solver/psor.h"

CNI_INLINE CnVec3 point_velocity(const CniPsorGroup *a, const CniPsorGroup *b, CnVec3 arm_a,
                                 CnVec3 arm_b) {
  CnVec3 v_a = cn_add(a->v, cn_cross(a->w, arm_a));
  CnVec3 v_b = cn_add(b->v, cn_cross(b->w, arm_b));
  return cn_sub(v_b, v_a);
}

// An impulse p at the point of b, and its opposite at the point of a.
CNI_INLINE void push(CniPsor *s, int32_t i_a, int32_t i_b, CnVec3 arm_a, CnVec3 arm_b, CnVec3 p) {
  CniPsorGroup *a = &s->groups[i_a], *b = &s->groups[i_b];
  CnVec3 turn_a = cn_smul(s->inertia[i_a].inverse, cn_cross(arm_a, p));
  CnVec3 turn_b = cn_smul(s->inertia[i_b].inverse, cn_cross(arm_b, p));
  a->v = cn_madd(a->v, -a->inv_mass, p);
  a->w = cn_sub(a->w, turn_a);
  b->v = cn_madd(b->v, b->inv_mass, p);
  b->w = cn_add(b->w, turn_b);
}

CNI_INLINE void contact_velocity(const CniPsor *s, const CniPsorPair *c, double *u) {
  CnVec3 dv = point_velocity(&s->groups[c->group_a], &s->groups[c->group_b], c->arm_a, c->arm_b);
  u[0] = cn_dot(c->n, dv) + c->b[0] + c->c_n * c->g[0];
  u[1] = cn_dot(c->t1, dv) + c->b[1] + c->c_t * c->g[1];
  u[2] = cn_dot(c->t2, dv) + c->b[2] + c->c_t * c->g[2];
}

CNI_INLINE void apply(CniPsor *s, CniPsorPair *c, double g_n, double g_1, double g_2) {
  double lambda = s->rule.lambda, keep = 1 - lambda;
  g_n = keep * c->g[0] + lambda * g_n;
  g_1 = keep * c->g[1] + lambda * g_1;
  g_2 = keep * c->g[2] + lambda * g_2;
  CnVec3 p = cn_scale(g_n - c->g[0], c->n);
  p = cn_madd(p, g_1 - c->g[1], c->t1);
  p = cn_madd(p, g_2 - c->g[2], c->t2);
  push(s, c->group_a, c->group_b, c->arm_a, c->arm_b, p);
  c->g[0] = g_n;
  c->g[1] = g_1;
  c->g[2] = g_2;
}

void cni_psor_pair_split(CniPsor *s, int32_t begin, int32_t end, int32_t step) {
  for (int32_t i = step > 0 ? begin : end - 1; i >= begin && i < end; i += step) {
    CniPsorPair *c = &s->pairs[i];
    double u[3];
    contact_velocity(s, c, u);
    double g_n = cn_max(0, c->g[0] - c->step_n * u[0]), d_n = g_n - c->g[0];

    // slip after the change of the normal impulse, and the disc
    double g_1 = c->g[1] - c->step_t * (u[1] + c->n_1n * d_n);
    double g_2 = c->g[2] - c->step_t * (u[2] + c->n_2n * d_n);
    double length2 = g_1 * g_1 + g_2 * g_2, limit = c->mu * g_n;
    if (length2 > limit * limit) {
      double scale = limit / sqrt(length2);
      g_1 *= scale;
      g_2 *= scale;
    }
    apply(s, c, g_n, g_1, g_2);
  }
}

CNI_INLINE void sweep_project(CniPsor *s, int32_t begin, int32_t end, int32_t step, int shifted) {
  for (int32_t i = step > 0 ? begin : end - 1; i >= begin && i < end; i += step) {
    CniPsorPair *c = &s->pairs[i];
    double u[3], mu = c->mu;
    contact_velocity(s, c, u);
    if (shifted) u[0] += mu * sqrt(u[1] * u[1] + u[2] * u[2]);
    double g_n = c->g[0] - c->step_n * u[0];
    double g_1 = c->g[1] - c->step_n * u[1], g_2 = c->g[2] - c->step_n * u[2];

    // the cone |t| <= mu n
    double length2 = g_1 * g_1 + g_2 * g_2, limit = mu * g_n;
    if (!(limit >= 0 && length2 <= limit * limit)) {
      double length = sqrt(length2), reach = g_n + mu * length;
      g_n = reach > 0 ? reach / (1 + mu * mu) : 0;
      double scale = length > 0 ? mu * g_n / length : 0;
      g_1 *= scale;
      g_2 *= scale;
    }
    apply(s, c, g_n, g_1, g_2);
  }
}

void cni_psor_pair_project(CniPsor *s, int32_t begin, int32_t end, int32_t step) {
  if (s->convex)
    sweep_project(s, begin, end, step, 0);
  else
    sweep_project(s, begin, end, step, 1);
}

// u = E v + b + C g of a wide block: points, then spins times the length.
CNI_INLINE void wide_velocity(const CniPsor *s, const CniPsorWide *c, const double *g, double *u) {
  const CniPsorGroup *a = &s->groups[c->group_a], *b = &s->groups[c->group_b];
  const double *b_row = s->p->b + c->row;
  int32_t dim = c->local.dim;
  CnVec3 dv = point_velocity(a, b, c->arm_a, c->arm_b);
  u[0] = cn_dot(c->n, dv);
  if (dim > 1) u[1] = cn_dot(c->t1, dv);
  if (dim > 2) u[2] = cn_dot(c->t2, dv);
  if (dim > 3) {
    CnVec3 dw = cn_scale(c->length, cn_sub(b->w, a->w));
    u[3] = cn_dot(c->t1, dw);
    if (dim > 4) u[4] = cn_dot(c->t2, dw);
    if (dim > 5) u[5] = cn_dot(c->n, dw);
  }
  for (int32_t i = 0; i < dim; i++) u[i] += b_row[i] + c->local.c[i] * g[i];
}

CNI_INLINE void wide_apply(CniPsor *s, const CniPsorWide *c, const double *d) {
  int32_t dim = c->local.dim;
  CnVec3 p = cn_scale(d[0], c->n);
  if (dim > 1) p = cn_madd(p, d[1], c->t1);
  if (dim > 2) p = cn_madd(p, d[2], c->t2);
  push(s, c->group_a, c->group_b, c->arm_a, c->arm_b, p);
  if (dim <= 3) return;
  CnVec3 torque = cn_scale(d[3], c->t1);
  if (dim > 4) torque = cn_madd(torque, d[4], c->t2);
  if (dim > 5) torque = cn_madd(torque, d[5], c->n);
  torque = cn_scale(c->length, torque);
  CniPsorGroup *a = &s->groups[c->group_a], *b = &s->groups[c->group_b];
  a->w = cn_sub(a->w, cn_smul(s->inertia[c->group_a].inverse, torque));
  b->w = cn_add(b->w, cn_smul(s->inertia[c->group_b].inverse, torque));
}

void cni_psor_wide(CniPsor *s, int32_t begin, int32_t end, int32_t step) {
  for (int32_t i = step > 0 ? begin : end - 1; i >= begin && i < end; i += step) {
    const CniPsorWide *c = &s->wides[i];
    double *g = s->g + c->row, u[CNI_MAX_DIM], g_new[CNI_MAX_DIM], d[CNI_MAX_DIM] = {0};
    wide_velocity(s, c, g, u);
    cni_local_update(&c->local, u, g, g_new);
    for (int32_t k = 0; k < c->local.dim; k++) {
      d[k] = g_new[k] - g[k];
      g[k] = g_new[k];
    }
    wide_apply(s, c, d);
  }
}
