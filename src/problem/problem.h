// SPDX-License-Identifier: Apache-2.0
// The step problem from the inside: what assembly writes and solvers read.
//
// A problem is velocity groups and an ordered list of blocks. A block lies in one of the storages;
// a storage is a table row of functions, so that every solver can treat all blocks alike, and fast
// kernels can know the storages they like. The order of blocks is part of the result.
//
// Velocity vectors v have six numbers per group: velocity, spin.
#ifndef CNI_PROBLEM_H
#define CNI_PROBLEM_H

#include <cairn/problem.h>

#include <math.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/step/step_memory.h"

#define CNI_MAX_DIM 6

extern const char *const cni_block_kind_words[]; // ends with null

typedef enum CniStorage {
  CNI_ROWS = 0,
  CNI_PAIR,
  CNI_SPHERE,
  CNI_EXPLICIT,
  CNI_GLOBAL,
  CNI_STORAGE_COUNT
} CniStorage;

// What a group's inverse mass looks like.
typedef enum CniMassKind { CNI_MASS_NONE = 0, CNI_MASS_ISOTROPIC, CNI_MASS_FULL } CniMassKind;

// One cache line. What few groups need lies beside them: an inertia that is not isotropic, an old
// velocity that does not follow from the free one (cni_group_inertia, cni_group_old).
//
// v and w are the free velocities. Where the groups are lent to psor (CniStepMemory) they are those of
// the sweep while it solves, and the free ones wait in the answer.
typedef struct CniGroup {
  CnVec3 v;
  double inv_mass; // 0: prescribed
  CnVec3 w;
  double inv_inertia; // isotropic; CNI_INERTIA_FULL: not so
} CniGroup;
_Static_assert(sizeof(CniGroup) == 64, "one cache line");
#define CNI_INERTIA_FULL (-1.0)

typedef struct CniBlock {
  int32_t row;   // first row in g, u, b
  int32_t index; // within its storage
  uint32_t set : 23;
  uint32_t storage : 3; // CniStorage
  uint32_t dim : 3;
  uint32_t kind : 3; // CnBlockKind, a copy of the set's
} CniBlock;
_Static_assert(sizeof(CniBlock) == 12, "there are many");
#define CNI_SET_LIMIT (1 << 23)

static inline CniBlock cni_block_make(CniStorage storage, int32_t index, int32_t row, int32_t set,
                                      CnBlockKind kind, int32_t dim) {
  return (CniBlock){row,
                    index,
                    (uint32_t)set & (CNI_SET_LIMIT - 1),
                    (uint32_t)storage & 7,
                    (uint32_t)dim & 7,
                    (uint32_t)kind & 7};
}

typedef struct CniPairBlock {
  CnVec3 normal, tangent, arm_a, arm_b;
  double length;
  int32_t group_a, group_b;
} CniPairBlock;

// The length of its rotational rows lies beside it where it is not the radius (cni_sphere_length).
typedef struct CniSphereBlock {
  CnVec3 normal;
  double radius_a, radius_b;
  int32_t group_a, group_b;
} CniSphereBlock;
_Static_assert(sizeof(CniSphereBlock) == 48, "there are many");

typedef struct CniRowsBlock {
  int32_t entry_start, entry_count; // into row_entries
} CniRowsBlock;

// The global form, and what is prepared for it (cni_global_prepare).
typedef struct CniGlobal {
  CnSparse m, e;
  double *k;
  struct CniFactor *factor;
  double *v_free;   // M^-1 k
  double *r;        // E v_free + b
  double *diagonal; // N_ii of the block at row i from 6 i on, row-major
  int32_t prepared, reserved;
} CniGlobal;

// Where the groups of a part stand in the problem that it is a part of.
typedef struct CniProblemPart {
  int32_t *numbers; // of each group there, ascending
  int32_t capacity;
  int32_t first, count; // numbers from the first with mass to the last
  int32_t moving;       // groups with mass
} CniProblemPart;

struct CnProblem {
  CnAllocator allocator;
  CnProblemForm form;
  CnFrictionModel friction;

  CniGroup *groups;
  CnSym3 *inertias; // per group if `full_inertias`: world axes; set where the group is full
  CnTwist *olds;    // per group if `own_olds`
  double *lengths;  // per sphere block if `own_lengths`
  int32_t full_inertias, own_olds, own_lengths;
  CnTwist change; // free - old of the groups with mass, without own_olds
  double speed;   // m/s: residuals are relative to no less; 0: to what the constraints see alone
  CnSet *sets;
  CniBlock *blocks;
  CniPairBlock *pairs;
  CniSphereBlock *spheres;
  CniRowsBlock *row_blocks;
  CnRowEntry *row_entries;
  double *b;           // q in the explicit form; of problems in step form read it by cni_block_b
  int32_t b_per_block; // 1: one number a block, of its first row, and the others are 0
  int32_t group_count, group_capacity, inertia_capacity, old_capacity, length_capacity;
  int32_t set_count, set_capacity;
  int32_t block_count, block_capacity;
  int32_t pair_count, pair_capacity;
  int32_t sphere_count, sphere_capacity;
  int32_t row_block_count, row_block_capacity;
  int32_t row_entry_count, row_entry_capacity;
  int32_t row_count, row_capacity;

  CnSparse w; // explicit form
  int32_t w_row_capacity, w_column_capacity, w_entry_capacity;

  CniGlobal *global; // global form, null before cn_problem_set_global

  CnTasks *tasks;        // for the certificate; null: the calling thread
  struct CnRanks *ranks; // who hold the same problem and share its sweeps; null: nobody
  // 1: a part of a problem of several ranks: the blocks of this rank's slabs and those that fit in no column, and
  // the groups of these slabs and blocks; all have agreed on the columns
  int32_t part, part_slabs, part_rows;
  CniProblemPart of; // then
};

// Groups with mass of the whole problem, or more.
static inline int32_t cni_problem_most_moving(const CnProblem *p) {
  return p->part ? p->of.moving : p->group_count;
}
// The first group whose number in the whole problem is not below that one.
int32_t cni_problem_group_from(const CnProblem *p, int32_t number);

// ---- right-hand side ----

// b of a block, dim numbers. A pile without belts and joints has nothing but normal entries: then
// only these are kept.
static inline void cni_block_b(const CnProblem *p, const CniBlock *block, double *b) {
  const double *from = p->b + (p->b_per_block ? block - p->blocks : block->row);
  b[0] = from[0];
  for (int32_t i = 1; i < block->dim; i++) b[i] = p->b_per_block ? 0 : from[i];
}
// Its first row.
static inline double *cni_block_b_n(const CnProblem *p, const CniBlock *block) {
  return p->b + (p->b_per_block ? block - p->blocks : block->row);
}
// Keep all rows from now on, for who reads or writes p->b by rows.
CnStatus cni_problem_widen_b(CnProblem *p);

// ---- groups ----

// Mass of a group that has one. Where the inverse inertia is singular the spin cannot change in
// some directions: `inertia` is the inverse in the others and 1 kg m^2 in those, and `range`
// projects on the others (identity for a regular inverse inertia).
typedef struct CniGroupMass {
  double mass;
  CnSym3 inertia, range;
  int32_t singular;
} CniGroupMass;
CniGroupMass cni_group_mass(const CnProblem *p, int32_t group);

// Entries of a block written as sparse rows.
static inline int32_t cni_block_entries(const CnProblem *p, const CniBlock *block) {
  if (block->storage == CNI_EXPLICIT) return 0;
  return block->storage == CNI_ROWS ? p->row_blocks[block->index].entry_count : 2 * block->dim;
}

static inline CnTwist cni_group_free(const CniGroup *group) {
  return (CnTwist){group->v, group->w};
}

static inline CniMassKind cni_group_kind(const CniGroup *group) {
  return !(group->inv_mass > 0)    ? CNI_MASS_NONE
         : group->inv_inertia >= 0 ? CNI_MASS_ISOTROPIC
                                   : CNI_MASS_FULL;
}

// Inverse inertia in world axes.
static inline CnSym3 cni_group_inertia(const CnProblem *p, int32_t group) {
  double j = p->groups[group].inv_inertia;
  return j >= 0 ? (CnSym3){j, j, j, 0, 0, 0} : p->inertias[group];
}

// The velocity before the step. Where only gravity acts on every group, all have changed by the
// same: nothing is kept but that.
CnTwist cni_group_old(const CnProblem *p, int32_t group);

// Give a group another inverse inertia or old velocity; these can fail for lack of memory.
CnStatus cni_group_set_inertia(CnProblem *p, int32_t group, const CnSym3 *inv_inertia);
CnStatus cni_group_set_old(CnProblem *p, int32_t group, const CnTwist *old);

// Unit length of the rotational rows of a sphere block: the radius on the side of the smaller one
// that turns, unless it was given otherwise.
double cni_sphere_length(const CnProblem *p, int32_t index);
CnStatus cni_sphere_set_length(CnProblem *p, int32_t index, double length);

// ---- storages: the functions every block has ----

typedef struct CniStorageKind {
  const char *name;
  // u += E_i v (dim numbers)
  void (*velocity)(const CnProblem *p, const CniBlock *block, const double *v, double *u);
  // u += E_i v_free
  void (*free)(const CnProblem *p, const CniBlock *block, double *u);
  // k += E_i^T g: momentum, six numbers per group
  void (*momentum)(const CnProblem *p, const CniBlock *block, const double *g, double *k);
  // v += M^-1 E_i^T g; groups without mass stay
  void (*impulse)(const CnProblem *p, const CniBlock *block, const double *g, double *v);
  // N_ii = E_i M^-1 E_i^T + C, row-major dim x dim
  void (*diagonal)(const CnProblem *p, const CniBlock *block, double *n);
  // trace of N_ii, without forming it
  double (*trace)(const CnProblem *p, const CniBlock *block);
  // write the block as sparse rows, at most `capacity` entries; returns how many there are
  int32_t (*expand)(const CnProblem *p, const CniBlock *block, CnRowEntry *entries,
                    int32_t capacity);
} CniStorageKind;

// CNI_EXPLICIT has diagonal and trace (of W, which holds the compliance); its others are null.
// CNI_GLOBAL has no impulse and no expand.
extern const CniStorageKind cni_storages[CNI_STORAGE_COUNT];

// ---- room, for writers that fill the arrays themselves ----

// Make room for that many more; what is there stays.
typedef struct CniProblemRoom {
  int32_t groups, sets, blocks, pairs, spheres, row_blocks, row_entries, rows;
  int32_t inertias, olds; // 1: of each group, from the first on
} CniProblemRoom;
CnStatus cni_problem_reserve(CnProblem *p, const CniProblemRoom *room);

// What is wrong with the arrays of a problem (blocks, rows, sets, groups out of range), null: nothing
// is. For checked builds and tests.
const char *cni_problem_fault(const CnProblem *p);

// Refuse an explicit or global problem whose blocks do not cover all rows yet.
CnStatus cni_problem_check(const CnProblem *p);

// cn_answer_fit for who solves a problem of the step form at once: g and v are not cleared and u
// may be null. Solvers that fill u get room for it from cn_solver_solve; the certificate does without.
CnStatus cni_answer_fit(CnAnswer *answer, const CnProblem *p);
CnStatus cni_answer_reserve_u(CnAnswer *answer);

// cn_certify in memory that is held, and room for it ahead of time: then it cannot fail.
CnStatus cni_certify(const CnProblem *p, const CnAnswer *answer, CniStepMemory *memory,
                     CnCertificate *certificate);
CnStatus cni_certify_reserve(const CnProblem *p, const CnAnswer *answer, CniStepMemory *memory);

// Length of v.
int32_t cni_problem_velocity_count(const CnProblem *p);

// ---- global form ----

// Factor M and fill what is derived from it; nothing if that is done. A function of the problem alone,
// kept with it at the first use: the one thing that a const problem still changes, not to be done
// by two threads at once.
CnStatus cni_global_prepare(const CnProblem *p);
void cni_global_release(CnProblem *p);
// W of a prepared problem; release with cni_sparse_release.
CnStatus cni_global_eliminate(const CnProblem *p, CnSparse *w);
// As cni_problem_velocity and cni_problem_apply.
void cni_global_velocity(const CnProblem *p, const double *v, const double *g, double *u);
void cni_global_apply(const CnProblem *p, const double *g, double *v);

// ---- sets and projections ----

// Dimension of a kind; 0 where the dimension is free (bilateral).
int32_t cni_block_dim(CnBlockKind kind);

// The cone coefficients of a block in the unit of its rows: mu, mu_roll/length, mu_spin/length, and
// how many discs it has (0 for blocks without a cone).
typedef struct CniCone {
  int32_t disc_count;
  double mu[3];
  int32_t start[3], dim[3]; // rows of each disc within the block
  double cohesion;
} CniCone;
CniCone cni_block_cone(const CnProblem *p, const CniBlock *block);

// Length of the part of a vector in a disc: of 1 or 2 numbers.
static inline double cni_disc_norm(const double *x, int32_t dim) {
  return dim == 1 ? fabs(x[0]) : sqrt(x[0] * x[0] + x[1] * x[1]);
}

// Diagonal of C of a block, dim numbers.
void cni_block_compliance(const CnProblem *p, const CniBlock *block, double *c);

// x <- P_K(x), the Euclidean projection on the block's set.
void cni_project(const CnProblem *p, const CniBlock *block, double *x);
// The same for a cone alone: x of dimension 1 + sum of disc dims.
void cni_project_cone(const CniCone *cone, double *x);
// The same for a block without a cone; 0: it has one.
int cni_project_plain(int32_t kind, double lo, double hi, double *x);

// De Saxce's shift s = mu|u_t| + ... for the coulomb model; 0 for convex and for blocks without a
// cone.
double cni_shift(const CnProblem *p, const CniBlock *block, const double *u);
// The sum of mu_j |u_j| over the discs of a cone, whatever the friction model.
double cni_cone_shift(const CniCone *cone, const double *u);

// An explicit problem with bilateral and unilateral blocks only: an LCP or MLCP.
int cni_problem_is_lcp(const CnProblem *p);

// The error of an explicit problem's impulses that decides whether they are a solution:
// error_siconos of the certificate for an LCP or MLCP, the larger of error_siconos and error_scaled
// otherwise. u = W g + q is computed on the way.
double cni_problem_error(const CnProblem *p, const double *g, double *u);

// The residual of the certificate with friction cones replaced by pyramids of `facets` facets, in
// the convex model.
#define CNI_FACETS_MAX 64
double cni_pyramid_residual(const CnProblem *p, int32_t facets, const double *g, const double *u);

// u = E v + b + C g of a step problem, W g + q of an explicit one.
void cni_problem_velocity(const CnProblem *p, const double *v, const double *g, double *u);
// v = v_free + M^-1 E^T g
void cni_problem_apply(const CnProblem *p, const double *g, double *v);

// Slabs that ranks own are next to each other, as many each as fit: the first one of a rank.
int32_t cni_part_first_slab(int32_t slabs, int32_t ranks, int32_t rank);

// ---- the order of a sweep ----

#include "problem/batches.h"

#endif
