// SPDX-License-Identifier: Apache-2.0
// How good is an answer? Computed from the problem and the answer, never by a solver.
//
// For each block, with u_i its constraint velocity, s_i de Saxce's shift (along n, coulomb only)
// and S_i = trace(N_ii)/dim, the natural residual at the scale S is
//
//     e_i(S) = S (g_i - P_K(g_i - (u_i + s_i)/S)),   |e_i| in m/s for every S,
//
// which is zero for all S > 0 if the block satisfies its law and for none if it does not.
//
//     residual_speed = max_i |e_i(S_i)|,  residual = residual_speed / max_i |r_i|,
//                                         r_i = E_i v_free + b_i (q_i in the explicit form),
//                                         or over the speed that the problem gives, if that is more
//     error_siconos  explicit: |e(1)| / max(|q|, |g|, |u|);
//                    explicit with bilateral and unilateral blocks only (LCP, MLCP): |e(1)| / |q|;
//                    step and global form: the measure of the global problem, momentum and law,
//                    |k + E^T g - M v| / max(|k|, |M v|, |E^T g|) + |e(1)| / max(|u|, |g|)
//     error_scaled   |e(c)| / max(|r|, |u|), c = max(|r|, |u|)/|g|: the same in a unit of impulse
//                    in which g is as large as the velocities, hence free of the unit (both forms)
//
// with Euclidean norms over all rows. A block none of whose groups has mass (and without
// compliance) has N_ii = 0: no impulse changes its velocity. It counts with S_i = 1: it adds
// nothing as long as its prescribed motion satisfies the law with g_i = 0, and otherwise the
// problem has no solution and the residual says so. Who builds a problem leaves such blocks out.
//
// The velocities are the answer's: u = E v + b + C g; that v belongs to g is measured by
// momentum_defect, |M v - k - E^T g| / max(|k|, |E^T g|) in the maximum norm over the groups with
// mass. A prescribed group that does not have its prescribed velocity is an infinite defect. The
// dissipation -sum g.(E v + E v_old)/2 is taken group by group, with the momentum E^T g.
//
// Numbers that are not finite give infinite residuals: a comparison with NaN must never certify.
//
// Cost: one pass over the blocks (two products with E, one with E^T, two projections), one over the
// groups, one over the blocks for error_scaled (one projection). The step form, where there are
// millions of them, is in certificate_step.c.
#include "problem/certificate/reduction.h"

#include "core/floats.h"
#include "sparse/sparse.h"

#include <string.h>

static double norm2(const double *x, int32_t dim) {
  double sum = 0;
  for (int32_t i = 0; i < dim; i++) sum += x[i] * x[i];
  return sum;
}

// ---- one block ----

// A block with what its law needs.
typedef struct Law {
  const CnProblem *p;
  const CniBlock *block;
  CniCone cone;
  double w[CNI_MAX_DIM]; // u + s n
} Law;

static void block_law(const CnProblem *p, const CniBlock *block, const double *u, Law *law) {
  law->p = p;
  law->block = block;
  law->cone = cni_block_cone(p, block);
  for (int32_t i = 0; i < block->dim; i++) law->w[i] = u[i];
  if (p->friction == CN_FRICTION_COULOMB) law->w[0] += cni_cone_shift(&law->cone, u);
}

// |e_i(S)|^2
static double natural2(const Law *law, const double *g, double s) {
  int32_t dim = law->block->dim;
  double x[CNI_MAX_DIM], sum = 0;
  for (int32_t i = 0; i < dim; i++) x[i] = g[i] - law->w[i] / s;
  if (law->cone.disc_count > 0)
    cni_project_cone(&law->cone, x);
  else
    cni_project(law->p, law->block, x);
  for (int32_t i = 0; i < dim; i++) {
    double e = s * (g[i] - x[i]);
    sum += e * e;
  }
  return sum;
}

// The interval's product of gap and velocity; a bound at infinity leaves |g|.
static double interval_energy(const CnSet *set, double g, double u) {
  double room = u > 0 ? g - set->lo : set->hi - g;
  return fabs((isfinite(room) ? room : g) * u);
}

// Violations in their own units: velocity, impulse, energy.
static void reduce_violations(const Law *law, const double *g, const double *u, CnCertificate *c) {
  const CniBlock *block = law->block;
  const CnSet *set = &law->p->sets[block->set];
  switch ((CnBlockKind)block->kind) {
  case CN_BLOCK_UNILATERAL:
    cni_raise(&c->gap_speed, -u[0]);
    cni_raise(&c->cone, -g[0]);
    cni_raise(&c->complementarity, fabs(g[0] * u[0]));
    return;
  case CN_BLOCK_INTERVAL:
    cni_raise(&c->cone, cn_max(set->lo - g[0], g[0] - set->hi));
    cni_raise(&c->complementarity, interval_energy(set, g[0], u[0]));
    return;
  default: {
    double g_n = g[0] + law->cone.cohesion, energy = g_n * law->w[0];
    cni_raise(&c->gap_speed, -u[0]);
    cni_raise(&c->cone, -g_n);
    for (int32_t j = 0; j < law->cone.disc_count; j++) {
      const double *x = g + law->cone.start[j];
      cni_raise(&c->cone, sqrt(norm2(x, law->cone.dim[j])) - law->cone.mu[j] * g_n);
    }
    for (int32_t i = 1; i < block->dim; i++) energy += g[i] * law->w[i];
    cni_raise(&c->complementarity, fabs(energy));
  }
  }
}

// S_i
static double block_scale(const CnProblem *p, const CniBlock *block) {
  double trace = cni_storages[block->storage].trace(p, block);
  return trace > 0 ? trace / block->dim : 1;
}

// Of a bilateral block u is the error at any scale.
static void reduce_bilateral(int32_t index, int32_t dim, const double *g, const double *u,
                             const double *r, CniReduction *t) {
  double u2 = norm2(u, dim), g2 = norm2(g, dim);
  for (int32_t i = 0; i < dim; i++) cni_raise(&t->c.joint_speed, fabs(u[i]));
  cni_raise(&t->c.complementarity, sqrt(u2) * sqrt(g2));
  cni_reduce_norms(index, u2, g2, norm2(r, dim), u2, u2, t);
}

static void reduce_any(const CnProblem *p, int32_t index, const double *g, const double *u,
                       const double *r, CniReduction *t) {
  const CniBlock *block = &p->blocks[index];
  int32_t dim = block->dim;
  if (block->kind == CN_BLOCK_BILATERAL) {
    reduce_bilateral(index, dim, g, u, r, t);
    return;
  }
  Law law;
  block_law(p, block, u, &law);
  reduce_violations(&law, g, u, &t->c);
  double own = natural2(&law, g, block_scale(p, block)), unit = natural2(&law, g, 1);
  cni_reduce_norms(index, norm2(u, dim), norm2(g, dim), norm2(r, dim), own, unit, t);
}

static void reduce_contact(const CnProblem *p, int32_t index, CnVec3 g, CnVec3 u, CnVec3 r,
                           CniReduction *t) {
  const CniBlock *block = &p->blocks[index];
  const CnSet *set = &p->sets[block->set];
  CnVec3 w = cni_contact_law(p, set, u), shifted = {g.x + set->cohesion, g.y, g.z};
  cni_raise(&t->c.gap_speed, -u.x);
  cni_raise(&t->c.cone, cn_max(-shifted.x, sqrt(g.y * g.y + g.z * g.z) - set->mu * shifted.x));
  cni_raise(&t->c.complementarity, fabs(cn_dot(shifted, w)));
  double own = cni_contact_natural2(set, g, w, block_scale(p, block));
  double unit = cni_contact_natural2(set, g, w, 1);
  cni_reduce_norms(index, cn_norm2(u), cn_norm2(g), cn_norm2(r), own, unit, t);
}

static CnVec3 load(const double *x) { return cn_vec3(x[0], x[1], x[2]); }

void cni_reduce_block(const CnProblem *p, int32_t index, const double *g, const double *u,
                      const double *r, CniReduction *t) {
  if (p->blocks[index].kind == CN_BLOCK_FRICTION)
    reduce_contact(p, index, load(g), load(u), load(r), t);
  else
    reduce_any(p, index, g, u, r, t);
}

void cni_momentum_errors(CniReduction *t) {
  t->c.momentum_defect = cni_ratio(t->d_max, cn_max(t->k_max, t->p_max));
  double norm_p = cn_max(sqrt(t->k2), cn_max(sqrt(t->mv2), sqrt(t->p2)));
  t->c.error_siconos = cni_relative(sqrt(t->d2), norm_p) +
                       cni_relative(sqrt(t->e2), cn_max(sqrt(t->u2), sqrt(t->g2)));
}

// ---- a general M ----

static void reduce_global(const CnProblem *p, const CnAnswer *answer, double *u, double *space,
                          CniReduction *t) {
  const CniGlobal *global = p->global;
  int32_t n = global->m.row_count;
  double *momentum = space, *mv = space + n;
  cni_global_velocity(p, answer->v, answer->g, u);
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t row = p->blocks[i].row;
    cni_reduce_block(p, i, answer->g + row, u + row, global->r + row, t);
  }
  for (int32_t i = 0; i < n; i++) momentum[i] = 0;
  cni_sparse_add_transposed(&global->e, answer->g, momentum);
  cni_sparse_multiply(&global->m, answer->v, mv);
  for (int32_t i = 0; i < n; i++) {
    double defect = mv[i] - global->k[i] - momentum[i];
    t->k2 += global->k[i] * global->k[i];
    t->mv2 += mv[i] * mv[i];
    t->p2 += momentum[i] * momentum[i];
    t->d2 += defect * defect;
    cni_raise(&t->k_max, fabs(global->k[i]));
    cni_raise(&t->p_max, fabs(momentum[i]));
    cni_raise(&t->d_max, fabs(defect));
  }
  cni_momentum_errors(t);
}

// ---- linear complementarity problems: S = 1, the same without the generality of cones ----

int cni_problem_is_lcp(const CnProblem *p) {
  if (p->form != CN_FORM_EXPLICIT) return 0;
  for (int32_t i = 0; i < p->block_count; i++)
    if (p->blocks[i].kind > CN_BLOCK_UNILATERAL) return 0;
  return 1;
}

// e(c) of a row: min(c g, u) is exact also where g is large; u for equalities.
static double lcp_part(const CniBlock *block, double g, double u, double c) {
  return block->kind == CN_BLOCK_BILATERAL || !(c * g < u) ? u : c * g;
}

static double lcp_error(double e2, double r2) {
  if (e2 == 0) return 0;
  return r2 > 0 ? sqrt(e2) / sqrt(r2) : sqrt(e2);
}

// Squared norms over all rows, and the largest over the blocks.
typedef struct LcpNorms {
  double e2, u2, g2, r2, e2_max, r2_max;
} LcpNorms;

static void lcp_errors(const CnProblem *p, const double *g, const double *u, const LcpNorms *t,
                       CnCertificate *c) {
  c->residual_speed = sqrt(t->e2_max);
  c->residual = cni_ratio(c->residual_speed, sqrt(t->r2_max));
  c->error_siconos = lcp_error(t->e2, t->r2);
  double speed = sqrt(cn_max(t->r2, t->u2)), impulse = sqrt(t->g2), sum = 0;
  double scale = speed > 0 && impulse > 0 ? speed / impulse : 1;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    for (int32_t j = block->row; j < block->row + block->dim; j++) {
      double e = lcp_part(block, g[j], u[j], scale);
      sum += e * e;
    }
  }
  c->error_scaled = cni_ratio(sqrt(sum), speed);
}

// The whole certificate; u is there. Bilateral blocks of several rows count as one.
static void certify_lcp(const CnProblem *p, const double *g, const double *u, CnCertificate *c) {
  LcpNorms t = {0, 0, 0, 0, 0, 0};
  double gap = 0, joint = 0, cone = 0, energy = 0;
  int32_t worst = -1;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    int32_t row = block->row, dim = block->dim;
    double own_e = 0, own_u = 0, own_g = 0, own_r = 0;
    for (int32_t j = row; j < row + dim; j++) {
      double e = lcp_part(block, g[j], u[j], 1);
      own_e += e * e;
      own_u += u[j] * u[j];
      own_g += g[j] * g[j];
      own_r += p->b[j] * p->b[j];
      if (block->kind == CN_BLOCK_BILATERAL) {
        cni_raise(&joint, fabs(u[j]));
      } else {
        cni_raise(&gap, -u[j]);
        cni_raise(&cone, -g[j]);
      }
    }
    cni_raise(&energy, dim == 1 ? fabs(g[row] * u[row]) : sqrt(own_u) * sqrt(own_g));
    if (!(own_e <= t.e2_max)) worst = i;
    cni_raise(&t.e2_max, own_e);
    cni_raise(&t.r2_max, own_r);
    t.e2 += own_e;
    t.u2 += own_u;
    t.g2 += own_g;
    t.r2 += own_r;
  }
  double none = isfinite(t.u2) && isfinite(t.g2) && isfinite(t.e2) ? 0 : INFINITY;
  *c = (CnCertificate){none, none, none, none, gap, joint, cone, energy, 0, 0, worst};
  if (none == 0 && t.e2 > 0) lcp_errors(p, g, u, &t, c); // if e(1) is zero e(c) is for every c
}

// ---- the other explicit problems ----

static void reduce_explicit(const CnProblem *p, const double *g, const double *u, CniReduction *t) {
  for (int32_t i = 0; i < p->block_count; i++) {
    int32_t row = p->blocks[i].row;
    cni_reduce_block(p, i, g + row, u + row, p->b + row, t);
  }
  double size = cn_max(sqrt(t->r2), cn_max(sqrt(t->g2), sqrt(t->u2)));
  t->c.error_siconos = cni_relative(sqrt(t->e2), size);
}

double cni_block_natural2(const CnProblem *p, const CniBlock *block, const double *g,
                          const double *u, double scale) {
  if (block->kind == CN_BLOCK_FRICTION) {
    const CnSet *set = &p->sets[block->set];
    if (cni_contact_idle(p, set, load(g), load(u))) return 0;
    return cni_contact_natural2(set, load(g), cni_contact_law(p, set, load(u)), scale);
  }
  if (block->kind == CN_BLOCK_BILATERAL) return norm2(u, block->dim);
  Law law;
  block_law(p, block, u, &law);
  return natural2(&law, g, scale);
}

// space: of the step form.
static double error_scaled(const CnProblem *p, const double *g, double *u, const CniReduction *t,
                           double *space) {
  double speed = cn_max(sqrt(t->r2), sqrt(t->u2)), impulse = sqrt(t->g2);
  double scale = speed > 0 && impulse > 0 ? speed / impulse : 1;
  return cni_ratio(sqrt(cni_natural2_sum(p, g, u, scale, space)), speed);
}

double cni_problem_error(const CnProblem *p, const double *g, double *u) {
  cni_problem_velocity(p, NULL, g, u);
  if (!cni_problem_is_lcp(p)) {
    CniReduction t = {0};
    reduce_explicit(p, g, u, &t);
    double error = cn_max(t.c.error_siconos, error_scaled(p, g, u, &t, NULL));
    return isfinite(t.e2_max) ? error : INFINITY;
  }
  double e2 = 0, r2 = 0, size = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    for (int32_t row = block->row; row < block->row + block->dim; row++) {
      double e = lcp_part(block, g[row], u[row], 1);
      e2 += e * e;
      r2 += p->b[row] * p->b[row];
      size += u[row] * u[row] + g[row] * g[row];
    }
  }
  return isfinite(size) ? lcp_error(e2, r2) : INFINITY;
}

static void certify_blocks(const CnProblem *p, const CnAnswer *answer, double *u, double *space,
                           CnCertificate *certificate) {
  CniReduction t = {0};
  t.c.worst_block = -1;
  if (p->form == CN_FORM_STEP)
    cni_reduce_step(p, answer, u, space, &t);
  else if (p->form == CN_FORM_GLOBAL)
    reduce_global(p, answer, u, space, &t);
  else
    reduce_explicit(p, answer->g, u, &t);
  t.c.residual_speed = sqrt(t.e2_max);
  t.c.residual = cni_ratio(t.c.residual_speed, cn_max(sqrt(t.r2_max), p->speed));
  t.c.error_scaled = error_scaled(p, answer->g, u, &t, space);
  if (!isfinite(t.c.residual_speed)) t.c.residual = t.c.error_siconos = t.c.error_scaled = INFINITY;
  *certificate = t.c;
}

// Momentum (global form: and M v; step form: and reductions); without u in the answer it lies after what
// the step form needs. Never without memory at all.
CnStatus cni_certify_reserve(const CnProblem *p, const CnAnswer *answer, CniStepMemory *memory) {
  if (p->form == CN_FORM_GLOBAL) CNI_TRY(cni_global_prepare(p));
  size_t count = p->form == CN_FORM_GLOBAL ? 2 * (size_t)cni_problem_velocity_count(p)
                 : p->form == CN_FORM_STEP ? (size_t)cni_reduce_step_scratch(p)
                                           : 0;
  if (!answer->u && p->form == CN_FORM_STEP) count += (size_t)p->row_count;
  return cni_step_memory_space(memory, (count + 1) * sizeof *memory->space);
}

static CnStatus check_certify(const CnProblem *p, const CnAnswer *answer) {
  if (!p || !answer) return cni_invalid("cn_certify: %s is null", p ? "answer" : "problem");
  CNI_TRY(cni_problem_check(p));
  int32_t velocities = cni_problem_velocity_count(p);
  if (answer->row_count == p->row_count && answer->velocity_count == velocities) return CN_OK;
  return cni_invalid("the answer has %d impulses and %d velocities, the problem %d and %d",
                     answer->row_count, answer->velocity_count, p->row_count, velocities);
}

CnStatus cni_certify(const CnProblem *p, const CnAnswer *answer, CniStepMemory *memory,
                     CnCertificate *certificate) {
  CNI_TRY(cni_certify_reserve(p, answer, memory));
  double *u = answer->u ? answer->u : memory->space + cni_reduce_step_scratch(p);
  if (p->form == CN_FORM_EXPLICIT) cni_problem_velocity(p, NULL, answer->g, u);
  if (cni_problem_is_lcp(p))
    certify_lcp(p, answer->g, u, certificate);
  else
    certify_blocks(p, answer, u, memory->space, certificate);
  return CN_OK;
}

CnStatus cn_certify(const CnProblem *p, const CnAnswer *answer, CnCertificate *certificate) {
  CNI_FLOATS;
  if (!certificate) return cni_invalid("cn_certify: certificate is null");
  memset(certificate, 0, sizeof *certificate);
  certificate->worst_block = -1;
  CNI_TRY(check_certify(p, answer));
  CniStepMemory own;
  cni_step_memory_init(&own, &p->allocator);
  cni_step_memory_hold(&own);
  CnStatus status = cni_certify(p, answer, &own, certificate);
  cni_step_memory_release(&own);
  return status;
}
