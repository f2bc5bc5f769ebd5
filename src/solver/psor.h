// The workspace of psor and pssor: what prepare makes of a problem, what the sweeps change.
//
// Blocks keep the order of the problem, which is part of the result. Neighbours that have the same
// kernel form a run; a sweep calls one function per run. All kernels work on the same velocities,
// one cache line a group, and keep v = v_free + M^-1 E^T g true after every block.
#ifndef CNI_SOLVER_PSOR_H
#define CNI_SOLVER_PSOR_H

#include "solver/solver.h"
#include "solver/local.h"
#include "core/vec.h"

// A call costs as much as the work inside; the compilers do not see that by themselves.
#define CNI_INLINE static inline __attribute__((always_inline))

// One cache line a group. Groups without mass have zeros here and never move.
typedef struct CniPsorGroup {
  CnVec3 v;
  double inv_mass;
  CnVec3 w;
  double inv_inertia; // of isotropic groups
} CniPsorGroup;
_Static_assert(sizeof(CniPsorGroup) == 64, "one cache line");

// Inverse inertia for the kernels that take any group.
typedef struct CniPsorInertia {
  CnSym3 inverse;
  double unused[2];
} CniPsorInertia;
_Static_assert(sizeof(CniPsorInertia) == 64, "one cache line");

// Contact of two isotropic groups with the arms along the normal; tangential impulse as a vector in
// space. g_n is g_n + cohesion, and b_n goes with it.
typedef struct CniPsorSphere {
  CnVec3 n;
  double g_n;
  CnVec3 g_t;
  double b_n;
  double radius_a, radius_b;
  double step_n, step_t; // omega/eta; the projection uses step_n
  double mu;
  double c_n, c_t; // compliance
  int32_t group_a, group_b;
} CniPsorSphere;
_Static_assert(sizeof(CniPsorSphere) == 128, "two cache lines");

// Friction contact of two groups of any inertia. g[0] is g_n + cohesion, and b[0] goes with it.
typedef struct CniPsorPair {
  CnVec3 n, t1, t2;
  CnVec3 arm_a, arm_b;
  double g[3], b[3];
  double step_n, step_t; // omega/eta; the projection uses step_n
  double n_1n, n_2n;     // N_tn: what a normal impulse does to the tangential velocity
  double mu;
  double c_n, c_t; // compliance
  int32_t group_a, group_b;
  double unused[3];
} CniPsorPair;
_Static_assert(sizeof(CniPsorPair) == 256, "four cache lines");

// Any other block between two points of two groups: joints, rolling and spinning, exact solves.
typedef struct CniPsorWide {
  CniLocal local;
  CnVec3 n, t1, t2;
  CnVec3 arm_a, arm_b;
  double length;
  int32_t group_a, group_b;
  int32_t row; // of g and b
} CniPsorWide;

// One coefficient of a sparse row, and the velocity that its impulse gives.
typedef struct CniPsorEntry {
  CnTwist e, m_e; // E and M^-1 E^T
  int32_t group, row;
} CniPsorEntry;

// A block of sparse rows of the step form, or of rows of W.
typedef struct CniPsorRows {
  CniLocal local;
  int32_t entry_begin, entry_end; // unused in the explicit form
  int32_t row;                    // of g and b
} CniPsorRows;

typedef enum CniPsorKernel {
  CNI_PSOR_SPHERE_SPLIT = 0,
  CNI_PSOR_SPHERE_PROJECT,
  CNI_PSOR_PAIR_SPLIT,
  CNI_PSOR_PAIR_PROJECT,
  CNI_PSOR_WIDE,
  CNI_PSOR_ROWS,
  CNI_PSOR_EXPLICIT,
  CNI_PSOR_KERNEL_COUNT
} CniPsorKernel;

// Neighbouring blocks of one kernel: [begin, end) of the kernel's own array.
typedef struct CniPsorRun {
  int32_t kernel, begin, end;
} CniPsorRun;

typedef struct CniPsor {
  CnAllocator allocator;
  CnSolverDef def;
  CniLocalRule rule;
  int32_t back; // 1: an iteration is a sweep forth and a sweep back

  // the problem being solved
  const CnProblem *p;
  int convex;
  CniPsorGroup *groups;
  CniPsorInertia *inertia;
  CniPsorSphere *spheres;
  CniPsorPair *pairs;
  CniPsorWide *wides;
  CniPsorRows *rows; // both of sparse rows and of W
  CniPsorEntry *entries;
  CniPsorRun *runs;
  double *pool; // matrices of wides and rows
  double *g;    // of wides and rows always, of all blocks after cni_psor_store
  double *u;    // like g
  double *v;    // six per group
  int32_t group_capacity, inertia_capacity, sphere_capacity, pair_capacity, wide_capacity;
  int32_t rows_capacity, entry_capacity, run_capacity, pool_capacity;
  int32_t g_capacity, u_capacity, v_capacity;
  int32_t run_count;
} CniPsor;

// ---- psor.c: what the two rows of the table share ----
CnStatus cni_psor_create(const CnSolverDef *def, const CnAllocator *allocator, int32_t back,
                         void **state);
CnStatus cni_psor_solve(void *state, CnProblem *p, CnAnswer *answer, CnSolveReport *report);
void cni_psor_destroy(void *state);

// ---- psor_prepare.c: problem -> workspace -> impulses ----

// Room for everything, then the constants of all blocks, g projected and v made true. Only the room
// can fail.
CnStatus cni_psor_prepare(CniPsor *s, const CnProblem *p, const double *g);
// Impulses of all blocks, in the problem's rows, to s->g.
void cni_psor_store(CniPsor *s);

// ---- the kernels: one sweep over [begin, end) of their array; step +1 or -1 ----
void cni_psor_sphere_split(CniPsor *s, int32_t begin, int32_t end, int32_t step);
void cni_psor_sphere_project(CniPsor *s, int32_t begin, int32_t end, int32_t step);
void cni_psor_pair_split(CniPsor *s, int32_t begin, int32_t end, int32_t step);
void cni_psor_pair_project(CniPsor *s, int32_t begin, int32_t end, int32_t step);
void cni_psor_wide(CniPsor *s, int32_t begin, int32_t end, int32_t step);
void cni_psor_rows(CniPsor *s, int32_t begin, int32_t end, int32_t step);
void cni_psor_explicit(CniPsor *s, int32_t begin, int32_t end, int32_t step);

#endif
