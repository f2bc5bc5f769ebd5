// SPDX-License-Identifier: Apache-2.0
/// The step problem: one object for every solver.
///
///     v = M^-1 (k + E^T g)       g impulses (N s), one block per constraint
///     u = E v + b + C g          u constraint velocities (m/s), C >= 0 diagonal compliance
///     g_i in K_i  and  -u_i in the outward normal cone of K_i at g_i
///
/// In the `step` form the velocities are groups of six (velocity and spin of a rigid body) with
/// their inverse mass; blocks name the groups they act on. In the `explicit` form u = W g + q is
/// given directly. In the `global` form M and E are sparse matrices. See docs/theory for the sets K
/// and the two friction models.
#ifndef CAIRN_PROBLEM_H
#define CAIRN_PROBLEM_H

#include <cairn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The set K of a block and its dual condition. The dimension is that of g and u.
typedef enum CnBlockKind {
  CN_BLOCK_BILATERAL = 0, ///< dim 1..6: u = 0
  CN_BLOCK_UNILATERAL,    ///< dim 1: 0 <= u _|_ g >= 0
  CN_BLOCK_INTERVAL,      ///< dim 1: lo <= g <= hi; u = 0 inside, u >= 0 at lo, u <= 0 at hi
  CN_BLOCK_FRICTION_2D,   ///< dim 2: (n, t), |g_t| <= mu g_n
  CN_BLOCK_FRICTION,      ///< dim 3: (n, t1, t2), |g_t| <= mu g_n
  CN_BLOCK_ROLLING,       ///< dim 5: (n, t1, t2, r1, r2), and |m_r| <= mu_roll g_n
  CN_BLOCK_SPINNING,      ///< dim 6: (n, t1, t2, r1, r2, s), and |m_s| <= mu_spin g_n
  CN_BLOCK_KIND_COUNT
} CnBlockKind;

/// Name of a block kind, for example "friction".
CN_API const char *cn_block_kind_name(CnBlockKind kind);

/// Which law the friction blocks obey.
typedef enum CnFrictionModel {
  CN_FRICTION_COULOMB = 0, ///< exact: u_n is replaced by u_n + mu |u_t| + ... (the default)
  CN_FRICTION_CONVEX       ///< Anitescu-Tasora: a convex cone program; sliding contacts float
} CnFrictionModel;

/// "coulomb" or "convex".
CN_API const char *cn_friction_model_name(CnFrictionModel model);

/// Parameters of a block's set; many blocks may share one. Fields that the kind does not use are
/// ignored.
typedef struct CnSet {
  uint32_t size, tag; ///< set by cn_set_default
  CnBlockKind kind;
  double mu;            ///< >= 0, sliding friction
  double mu_roll;       ///< >= 0; m in pair and sphere blocks, in the rows' own unit otherwise
  double mu_spin;       ///< >= 0; likewise
  double cohesion;      ///< N s, >= 0: K of a friction block is the cone shifted down by this
                        ///< impulse along n
  double lo, hi;        ///< N s, lo <= hi: bounds of an interval; may be infinite
  double compliance[3]; ///< m/s per N s, >= 0: normal (and every row of bilateral, unilateral and
                        ///< interval blocks), tangential, rotational; an explicit W holds its own
} CnSet;

/// A set of the given kind with every number zero.
CN_API CnSet cn_set_default(CnBlockKind kind);

/// How the velocities are given.
typedef enum CnProblemForm {
  CN_FORM_STEP = 0, ///< velocity groups, blocks in the storages rows, pair, sphere
  CN_FORM_EXPLICIT, ///< u = W g + q, blocks are consecutive rows of W
  CN_FORM_GLOBAL    ///< any sparse symmetric positive definite M; blocks are consecutive rows of E
} CnProblemForm;

typedef struct CnProblemDef {
  uint32_t size, tag;       ///< set by cn_problem_def_default
  CnProblemForm form;       ///< default CN_FORM_STEP
  CnFrictionModel friction; ///< default CN_FRICTION_COULOMB
  CnAllocator allocator;    ///< default malloc and free
} CnProblemDef;

/// A problem; owns everything added to it.
typedef struct CnProblem CnProblem;

/// The step form, Coulomb friction, the usual allocator.
CN_API CnProblemDef cn_problem_def_default(void);
/// Create an empty problem. On failure *problem is NULL.
CN_API CnStatus cn_problem_create(const CnProblemDef *def, CnProblem **problem);
/// Release a problem and everything in it. Null is allowed.
CN_API void cn_problem_destroy(CnProblem *problem);

/// Take out everything, keep the memory.
CN_API void cn_problem_clear(CnProblem *problem);

/// One velocity group: a rigid body, or anything with a velocity and a spin.
typedef struct CnGroupDef {
  uint32_t size, tag; ///< set by cn_group_def_default
  double inv_mass;    ///< 1/kg, >= 0; 0: velocity and spin are prescribed
  CnSym3 inv_inertia; ///< 1/(kg m^2), world axes, positive semidefinite; 0 if inv_mass is 0
  CnTwist free;       ///< M^-1 k: the velocity it would have without impulses
  CnTwist old;        ///< the velocity before the step (only the dissipation uses it)
} CnGroupDef;

/// A group without mass, at rest.
CN_API CnGroupDef cn_group_def_default(void);
/// Add a velocity group; *group is its number, counted from 0.
CN_API CnStatus cn_problem_add_group(CnProblem *problem, const CnGroupDef *def, int32_t *group);
/// Add a set, copied; *index is its number, counted from 0.
CN_API CnStatus cn_problem_add_set(CnProblem *problem, const CnSet *set, int32_t *index);

/// One entry of a sparse row block.
typedef struct CnRowEntry {
  int32_t row;         ///< within the block, 0 .. dim-1
  int32_t group;       ///< velocity group
  CnTwist coefficient; ///< row . (velocity, spin)
} CnRowEntry;

/// Add a block of `dim` sparse rows over any groups. `b` has dim entries. The block's index is the
/// number of blocks before it; its impulses follow those of the blocks before it.
CN_API CnStatus cn_problem_add_rows(CnProblem *problem, int32_t set, int32_t dim,
                                    const CnRowEntry *entries, int32_t entry_count, const double *b,
                                    int32_t *block);

/// Two points of two groups that meet. Rows: n, t1, t2 of (velocity of b's point - a's point), then
/// length * (spin_b - spin_a) along t1, t2 and n; a block of dimension d has the first d of them.
/// The second tangent is n x t1. A rolling impulse is (torque impulse)/length, so that all rows
/// have one unit.
typedef struct CnPairDef {
  uint32_t size, tag; ///< set by cn_pair_def_default
  int32_t group_a, group_b;
  CnVec3 normal;       ///< unit, from a to b
  CnVec3 tangent;      ///< unit, orthogonal to normal
  CnVec3 arm_a, arm_b; ///< m, from each group's centre of mass to the point, world axes
  double length;       ///< m, > 0, unit length of the rotational rows (the contact's radius)
} CnPairDef;

/// Normal z, tangent x, arms zero, length 1 m; the groups are yet to be named.
CN_API CnPairDef cn_pair_def_default(void);
/// Add a block of two points. `b` has dim entries; *block is its number.
CN_API CnStatus cn_problem_add_pair(CnProblem *problem, int32_t set, int32_t dim,
                                    const CnPairDef *def, const double *b, int32_t *block);

/// Two spheres that meet, both groups of isotropic inertia (or prescribed): the lever arms are
/// radius_a n and -radius_b n. The tangents are cn_tangents(normal). Rows as in CnPairDef.
typedef struct CnSphereDef {
  uint32_t size, tag; ///< set by cn_sphere_def_default
  int32_t group_a, group_b;
  CnVec3 normal; ///< unit, from a to b
  double radius_a,
      radius_b;  ///< m, distance of the point from each centre (0 for a prescribed group)
  double length; ///< m, > 0
} CnSphereDef;

/// Normal z, radii zero, length 1 m; the groups are yet to be named.
CN_API CnSphereDef cn_sphere_def_default(void);
/// Add a block of two spheres. `b` has dim entries; *block is its number.
CN_API CnStatus cn_problem_add_sphere(CnProblem *problem, int32_t set, int32_t dim,
                                      const CnSphereDef *def, const double *b, int32_t *block);

/// Two unit tangents that make (normal, t1, t2) right-handed; a function of the normal alone.
CN_API void cn_tangents(CnVec3 normal, CnVec3 *t1, CnVec3 *t2);

/// Explicit form: copy W (square) and q in. Then add the blocks in row order with
/// cn_problem_add_explicit.
CN_API CnStatus cn_problem_set_explicit(CnProblem *problem, const CnSparse *w, const double *q);

/// Global form: copy M (n x n), E (rows x n), k and b in. Then add the blocks in row order with
/// cn_problem_add_explicit. That M is positive definite is found out when it is first needed, by
/// cn_certify, cn_problem_to_explicit or a solver (CN_INVALID_DATA). Where M is symmetric only to
/// some digits it is taken as it stands.
CN_API CnStatus cn_problem_set_global(CnProblem *problem, const CnSparse *m, const CnSparse *e,
                                      const double *k, const double *b);

/// The next block of an explicit or global problem: `dim` rows of W or E.
CN_API CnStatus cn_problem_add_explicit(CnProblem *problem, int32_t set, int32_t dim,
                                        int32_t *block);

/// Sizes of a problem.
typedef struct CnProblemInfo {
  CnProblemForm form;
  CnFrictionModel friction;
  int32_t group_count, block_count, row_count; ///< rows: length of g, u and b
  int32_t velocity_count;                  ///< length of v: 6 per group, rows of M in the global
                                           ///< form, 0 in the explicit one
  int32_t kind_count[CN_BLOCK_KIND_COUNT]; ///< blocks of each kind
} CnProblemInfo;

/// Form, friction model and sizes of a problem.
CN_API void cn_problem_info(const CnProblem *problem, CnProblemInfo *info);

/// The problem written out: M v = k + E^T g over the groups with mass, six columns each, in group
/// order; prescribed velocities are moved into b.
typedef struct CnExpanded {
  CnSparse m; ///< symmetric positive definite
  CnSparse e;
  double *k, *b;         ///< lengths m.row_count and e.row_count
  double *compliance;    ///< diagonal of C, length e.row_count
  int32_t *group_column; ///< per group: its first column in e, -1 for prescribed groups
  CnAllocator allocator; ///< owner of the arrays
  int32_t group_count;
} CnExpanded;

/// Expand a problem of the step form; one of the global form is copied (and has no groups). Release
/// with cn_expanded_destroy.
CN_API CnStatus cn_problem_expand(const CnProblem *problem, CnExpanded *expanded);
/// Release what cn_problem_expand made.
CN_API void cn_expanded_destroy(CnExpanded *expanded);

/// W = E M^-1 E^T + C and q = E M^-1 k + b of a step or global problem, as a new problem in
/// explicit form with the same blocks.
CN_API CnStatus cn_problem_to_explicit(const CnProblem *problem, CnProblem **result);

/// Impulses and velocities. On entry to a solver g is the warm start.
typedef struct CnAnswer {
  double *g; ///< N s, row_count
  double *u; ///< m/s, row_count
  double *v; ///< velocity and spin per group (global form: the velocities of M), velocity_count
  int32_t row_count, velocity_count;
  int32_t row_capacity, velocity_capacity;
  CnAllocator allocator;
} CnAnswer;

/// An empty answer; cn_answer_fit gives it the sizes of a problem and sets g to zero.
CN_API CnAnswer cn_answer_empty(const CnAllocator *allocator);
/// Give an answer the sizes of a problem and set g to zero.
CN_API CnStatus cn_answer_fit(CnAnswer *answer, const CnProblem *problem);
/// Release the arrays of an answer.
CN_API void cn_answer_release(CnAnswer *answer);

/// v = M^-1 (k + E^T g) and u = E v + b + C g (explicit form: W g + q) of an answer's impulses.
CN_API CnStatus cn_answer_complete(CnAnswer *answer, const CnProblem *problem);

/// How good an answer is, computed from the problem and g alone. See docs/theory/certificate.md.
typedef struct CnCertificate {
  double residual_speed; ///< m/s: max_i S_i |g_i - P(g_i - (u_i + s_i)/S_i)|, S_i = trace(N_ii)/dim
  double residual;       ///< residual_speed over the largest |r_i|, no unit
  double error_siconos;  ///< the measure of fc3d_compute_error and its relatives
  double error_scaled;   ///< the same, invariant to the unit of g
  double gap_speed;      ///< m/s: worst violation of u_n >= 0
  double joint_speed;    ///< m/s: worst |u| of bilateral rows
  double cone;           ///< N s: worst violation of g in K: |g_t| - mu g_n, -g_n, outside lo..hi
  double complementarity; ///< J: worst |g.(u + s)| of a block
  double momentum_defect; ///< |M v - k - E^T g| / max(|k|, |E^T g|); infinite if a prescribed
                          ///< group lost its velocity
  double dissipation;     ///< J: -sum g.(E v + E v_old)/2; 0 where v_old is not known (explicit,
                          ///< global)
  int32_t
      worst_block; ///< the block of residual_speed, -1 if that is zero, or several ranks have parts
} CnCertificate;

/// Certify an answer: u is recomputed from g and kept in the answer (step and global form: from the
/// answer's v and g; the error of v is momentum_defect). An answer that is not finite has an
/// infinite residual. Cost: about three sweeps; allocates only when the problem has grown since the
/// last call.
CN_API CnStatus cn_certify(const CnProblem *problem, const CnAnswer *answer,
                           CnCertificate *certificate);

#ifdef __cplusplus
}
#endif
#endif
