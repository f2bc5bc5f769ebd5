// SPDX-License-Identifier: Apache-2.0
// Private to the certificate: what its files share.
#ifndef CNI_PROBLEM_REDUCTION_H
#define CNI_PROBLEM_REDUCTION_H

#include "problem/problem.h"

#include "core/simd/simd.h"
#include "core/vec.h"

#include <float.h>
#include <math.h>

// What is found out on the way.
typedef struct CniReduction {
  CnCertificate c;
  double r2_max, e2_max;  // largest |r_i|^2 and |e_i(S_i)|^2
  double e2, u2, g2, r2;  // squared norms over all rows; e at S = 1
  double k2, mv2, p2, d2; // over the groups with mass: k, M v, E^T g, the defect
  double k_max, p_max, d_max;
} CniReduction;

// The larger of the two; what is not a number counts as infinite.
static inline void cni_raise(double *worst, double x) {
  if (!(x <= *worst)) *worst = x == x ? x : INFINITY;
}

// x/y with 0/0 = 0; infinite where x is.
static inline double cni_ratio(double x, double y) {
  return x == 0 ? 0 : isfinite(x) ? x / y : INFINITY;
}

// x/y, x itself where y is nothing: the convention of the measure we compare with.
static inline double cni_relative(double x, double y) { return y > DBL_EPSILON ? x / y : x; }

// What all blocks have in common. e2_own and e2_unit are |e_i|^2 at S_i and at 1.
static inline void cni_reduce_norms(int32_t index, double u2, double g2, double r2, double e2_own,
                                    double e2_unit, CniReduction *t) {
  t->u2 += u2;
  t->g2 += g2;
  t->r2 += r2;
  t->e2 += e2_unit;
  cni_raise(&t->r2_max, r2);
  // a projection can make a number of what is none
  if (!isfinite(u2) || !isfinite(g2)) e2_own = INFINITY;
  if (!(e2_own <= t->e2_max)) t->c.worst_block = index;
  cni_raise(&t->e2_max, e2_own);
}

// ---- one contact with friction in space, straight ----

// |e(S)|^2 of the cone |x_t| <= mu (x_n + c); w = (u_n + s, u_t1, u_t2).
static inline double cni_contact_natural2(const CnSet *set, CnVec3 g, CnVec3 w, double s) {
  double mu = set->mu, f = 1 / s;
  CnVec3 x = cn_madd(g, -f, w), e = cn_scale(s, cn_sub(g, x));
  x.x += set->cohesion;
  double length2 = x.y * x.y + x.z * x.z, limit = mu * x.x;
  // inside the cone the projection leaves x alone
  if (x.x > 0 && length2 <= limit * limit) return cn_norm2(e);
  double length = sqrt(length2), n = x.x + mu * length;
  CnVec3 y = {-set->cohesion, 0, 0};
  if (n > 0) {
    n /= 1 + mu * mu;
    double scale = mu * n / length;
    y = cn_vec3(n - set->cohesion, scale * x.y, scale * x.z);
  }
  return s * s * cn_norm2(cn_sub(g, y));
}

static inline CnVec3 cni_contact_law(const CnProblem *p, const CnSet *set, CnVec3 u) {
  double shift = p->friction == CN_FRICTION_COULOMB ? set->mu * sqrt(u.y * u.y + u.z * u.z) : 0;
  return cn_vec3(u.x + shift, u.y, u.z);
}

// A contact without impulse that is about to open, or slides along without touching: its law holds
// exactly, e(S) = 0 for every S. Half of the contacts of a pile are such.
static inline int cni_contact_idle(const CnProblem *p, const CnSet *set, CnVec3 g, CnVec3 u) {
  if (g.x != 0 || g.y != 0 || g.z != 0 || set->cohesion != 0 || !(u.x >= 0)) return 0;
  double slip2 = u.y * u.y + u.z * u.z;
  if (!(slip2 < INFINITY && u.x < INFINITY)) return 0;
  return p->friction == CN_FRICTION_COULOMB || u.x * u.x >= set->mu * set->mu * slip2;
}

// ---- many contacts of spheres, wide: reduction_kernels.inc ----

#define CNI_REDUCTION_LANES 8

// Contacts with friction between spheres, one after the other in the arrays of the problem.
typedef struct CniSphereRun {
  const CniSphereBlock *spheres;
  const CniGroup *groups;
  const double *v; // six a group
  const double *g; // three a contact, as u and impulse
  const double *b; // three a contact, or one
  double *u;
  double *impulse; // out, as a vector in space
  double mu, cohesion, c_n, c_t;
  int32_t coulomb, all_b;
  int32_t first, count; // blocks
} CniSphereRun;

// Parts of a reduction, one a lane.
typedef struct CniReductionLanes {
  _Alignas(64) double e2[CNI_REDUCTION_LANES];
  double u2[CNI_REDUCTION_LANES], g2[CNI_REDUCTION_LANES], r2[CNI_REDUCTION_LANES];
  double r2_max[CNI_REDUCTION_LANES], e2_max[CNI_REDUCTION_LANES],
      worst[CNI_REDUCTION_LANES]; // worst: block
  double gap_speed[CNI_REDUCTION_LANES], cone[CNI_REDUCTION_LANES],
      complementarity[CNI_REDUCTION_LANES];
} CniReductionLanes;

typedef struct CniReductionKernels {
  // u and impulse of all contacts of a run, the rest to the reduction
  void (*reduction)(const CniSphereRun *run, CniReductionLanes *t);
  // sum |e_i(scale)|^2 from g and u, in CNI_REDUCTION_LANES parts
  void (*natural)(const CniSphereRun *run, double scale, double *sum);
} CniReductionKernels;

// The kernels of a level; null where they were not built.
const CniReductionKernels *cni_reduction_kernels(CniSimdLevel level);

// ---- one block ----

// One block of any kind: u and r are given.
void cni_reduce_block(const CnProblem *p, int32_t index, const double *g, const double *u,
                      const double *r, CniReduction *t);
// |e(S)|^2 of a block of any kind.
double cni_block_natural2(const CnProblem *p, const CniBlock *block, const double *g,
                          const double *u, double scale);
// The measures of momenta, from their sums.
void cni_momentum_errors(CniReduction *t);

// ---- stretches.c ----

// Neighbouring blocks of one stretch.
typedef struct CniPiece {
  int32_t first, count;
  int32_t next;  // piece of the stretch, -1: none
  int32_t owner; // the group without mass of its contacts; negative: none
} CniPiece;

typedef struct CniStretches {
  int32_t count;
  int32_t begin, end; // groups: the first with mass, and one more than the last
  int32_t all_move;   // 1: all between them have mass
  int32_t *head;      // per stretch: its first piece, -1 without any
  int32_t *tail;      // and its last
  int32_t
      *begins; // of a part of a problem: the first group of each, and the end; null: as numbers are
  CniPiece *pieces;
} CniStretches;

// Doubles that they take.
int32_t cni_stretches_scratch(const CnProblem *p);
// Made in `space`, at its very beginning.
CniStretches *cni_stretches_make(const CnProblem *p, double *space);
// The stretch of a group, and the first group of a stretch.
int32_t cni_stretch_of(const CniStretches *s, int32_t group);
int32_t cni_stretch_begin(const CniStretches *s, int32_t stretch);

// ---- certificate_momenta.c ----

static inline int cni_is_sphere_friction(const CniBlock *block) {
  return block->kind == CN_BLOCK_FRICTION && block->storage == CNI_SPHERE;
}

typedef struct CniMomenta {
  const CnProblem *p;
  const CnAnswer *answer;
  const CniStretches *stretches;
  const double *impulse; // three a block, of contacts between spheres: their impulse in space
  double *momentum;      // out, six a group
  int32_t first, last;   // stretches of this rank
} CniMomenta;
// E^T g; of a part of a problem, of the groups of this rank.
CnStatus cni_momenta_sum(const CniMomenta *m);

// ---- the step form, certificate_step.c ----

// Doubles of scratch that it needs.
int32_t cni_reduce_step_scratch(const CnProblem *p);
// u = E v + b + C g to `u`, everything but error_scaled to the reduction.
void cni_reduce_step(const CnProblem *p, const CnAnswer *answer, double *u, double *space,
                     CniReduction *t);
// sum |e_i(scale)|^2 over all blocks, of problems in any form; in step form with the space that
// cni_reduce_step has left.
double cni_natural2_sum(const CnProblem *p, const double *g, double *u, double scale,
                        double *space);

#endif
