// Sweeps over contacts of spheres.
//
// For two spheres the lever arms are parallel to the normal: N_ii is diagonal, (w_n, w_t, w_t),
// normal and tangent decouple, and the tangential impulse is a vector in space that needs no basis.
// A contact reads two cache lines of its own and one of each group, and writes them back.
//
// Split: the clamp of the normal and the disc of radius mu g_n are, with omega = 1, the exact
// solution of Coulomb's law for this contact. Project: one step and the projection on the cone, for
// the convex model and, with the shift mu |u_t|, for the coulomb model.
//
// Reference: Tasora and Anitescu 2007.
#include "solver/psor.h"

// Velocity of b's point relative to a's: normal part with b and compliance, tangential part.
CNI_INLINE double contact_velocity(const CniPsorSphere *c, const CniPsorGroup *a,
                                   const CniPsorGroup *b, CnVec3 *u_t) {
  CnVec3 dv = cn_sub(b->v, a->v);
  double dv_n = cn_dot(c->n, dv);
  CnVec3 roll = cn_madd(cn_scale(c->radius_a, a->w), c->radius_b, b->w);
  CnVec3 slip = cn_sub(cn_madd(dv, -dv_n, c->n), cn_cross(roll, c->n));
  *u_t = cn_madd(slip, c->c_t, c->g_t);
  return dv_n + c->b_n + c->c_n * c->g_n;
}

// Take over the new impulse, relaxed by lambda, and change both groups by the difference.
CNI_INLINE void apply(CniPsorSphere *c, CniPsorGroup *a, CniPsorGroup *b, double g_n, CnVec3 g_t,
                      double lambda) {
  double keep = 1 - lambda;
  g_n = keep * c->g_n + lambda * g_n;
  g_t = cn_madd(cn_scale(keep, c->g_t), lambda, g_t);
  CnVec3 d_t = cn_sub(g_t, c->g_t);
  CnVec3 p = cn_madd(d_t, g_n - c->g_n, c->n);
  CnVec3 turn = cn_cross(c->n, d_t);
  a->v = cn_madd(a->v, -a->inv_mass, p);
  b->v = cn_madd(b->v, b->inv_mass, p);
  a->w = cn_madd(a->w, -c->radius_a * a->inv_inertia, turn);
  b->w = cn_madd(b->w, -c->radius_b * b->inv_inertia, turn);
  c->g_n = g_n;
  c->g_t = g_t;
}

void cni_psor_sphere_split(CniPsor *s, int32_t begin, int32_t end, int32_t step) {
  CniPsorGroup *groups = s->groups;
  double lambda = s->rule.lambda;
  for (int32_t i = step > 0 ? begin : end - 1; i >= begin && i < end; i += step) {
    CniPsorSphere *c = &s->spheres[i];
    CniPsorGroup *a = &groups[c->group_a], *b = &groups[c->group_b];
    CnVec3 u_t;
    double u_n = contact_velocity(c, a, b, &u_t);
    double g_n = cn_max(0, c->g_n - c->step_n * u_n);

    // the disc of radius mu g_n; the root only where friction is saturated
    CnVec3 g_t = cn_madd(c->g_t, -c->step_t, u_t);
    double length2 = cn_norm2(g_t), limit = c->mu * g_n;
    if (length2 > limit * limit) g_t = cn_scale(limit / sqrt(length2), g_t);
    apply(c, a, b, g_n, g_t, lambda);
  }
}

// (n, t) on the cone |t| <= mu n.
CNI_INLINE void project(double mu, double *n, CnVec3 *t) {
  double length2 = cn_norm2(*t), limit = mu * *n;
  if (limit >= 0 && length2 <= limit * limit) return;
  double length = sqrt(length2), reach = *n + mu * length;
  double scale = 0;
  if (reach > 0) {
    *n = reach / (1 + mu * mu);
    scale = length > 0 ? mu * *n / length : 0;
  } else {
    *n = 0;
  }
  *t = cn_scale(scale, *t);
}

CNI_INLINE void sweep_project(CniPsor *s, int32_t begin, int32_t end, int32_t step, int shifted) {
  CniPsorGroup *groups = s->groups;
  double lambda = s->rule.lambda;
  for (int32_t i = step > 0 ? begin : end - 1; i >= begin && i < end; i += step) {
    CniPsorSphere *c = &s->spheres[i];
    CniPsorGroup *a = &groups[c->group_a], *b = &groups[c->group_b];
    CnVec3 u_t;
    double u_n = contact_velocity(c, a, b, &u_t);
    if (shifted) u_n += c->mu * cn_norm(u_t);
    double g_n = c->g_n - c->step_n * u_n;
    CnVec3 g_t = cn_madd(c->g_t, -c->step_n, u_t);
    project(c->mu, &g_n, &g_t);
    apply(c, a, b, g_n, g_t, lambda);
  }
}

void cni_psor_sphere_project(CniPsor *s, int32_t begin, int32_t end, int32_t step) {
  if (s->convex)
    sweep_project(s, begin, end, step, 0);
  else
    sweep_project(s, begin, end, step, 1);
}
