// SPDX-License-Identifier: Apache-2.0
// The workspace of psor and pssor: what prepare makes of a problem, what the sweeps change.
//
// The order of a sweep is the schedule of problem/batches.h. Contacts between two points lie in
// batches of eight lanes, all numbers of one kind side by side, and are relaxed by wide kernels;
// any other block is a list of sparse rows that is relaxed by itself. All kernels work on the same
// velocities, one cache line a group, and keep v = v_free + M^-1 E^T g true after every block.
// Groups without mass are read and never written, so that threads may share them.
#ifndef CNI_SOLVER_PSOR_H
#define CNI_SOLVER_PSOR_H

#include "solver/solver.h"
#include "solver/joints/joints.h"
#include "solver/sweeps/local.h"
#include "core/simd/simd.h"
#include "core/vec.h"

// One cache line a group. Groups without mass never move. One more at the end, without mass and at
// rest, stands in lanes that are not used.
typedef CniGroup CniPsorGroup;

// Inverse inertia for the kernels that take any group.
typedef struct CniPsorInertia {
  CnSym3 inverse;
  double unused[2];
} CniPsorInertia;
_Static_assert(sizeof(CniPsorInertia) == 64, "one cache line");

// ---- batches ----

// Kinds of blocks. Contacts: between two spheres, or two points of any bodies; `full` with belt
// speed, compliance or lambda; `turn` with rolling and spinning resistance as well.
typedef enum CniPsorKind {
  CNI_PSOR_SPHERE = 0,
  CNI_PSOR_SPHERE_FULL,
  CNI_PSOR_SPHERE_TURN,
  CNI_PSOR_PAIR,
  CNI_PSOR_PAIR_FULL,
  CNI_PSOR_PAIR_TURN,
  CNI_PSOR_LANE_KINDS,
  CNI_PSOR_ROWS = CNI_PSOR_LANE_KINDS,
  CNI_PSOR_KIND_COUNT
} CniPsorKind;
// kind % 3 tells what a lane has: 0 plain, 1 full, 2 turning.
_Static_assert(CNI_PSOR_SPHERE % 3 == 0 && CNI_PSOR_SPHERE_FULL % 3 == 1 &&
                   CNI_PSOR_SPHERE_TURN % 3 == 2 && CNI_PSOR_PAIR % 3 == 0 &&
                   CNI_PSOR_PAIR_FULL % 3 == 1 && CNI_PSOR_PAIR_TURN % 3 == 2,
               "kernels read kind % 3");

// What is done with a contact.
typedef enum CniPsorUpdate {
  CNI_PSOR_SPLIT = 0, // normal, then each disc: Coulomb's law
  CNI_PSOR_CONVEX,    // one step and the projection on the cone
  CNI_PSOR_SHIFTED,   // the same with de Saxce's shift
  CNI_PSOR_APPLY,     // nothing but v += M^-1 E^T g
  CNI_PSOR_UPDATE_COUNT
} CniPsorUpdate;

// A batch in memory: the groups of its lanes, then `length` contacts of so many lines of eight
// doubles, one double a lane. Lanes that are not used have the group after the last and zeros. A
// group without mass is its complement ~group.
typedef CniBatchGroups CniPsorHead;
typedef struct CniPsorLine {
  double lane[CNI_BATCH_LANES];
} CniPsorLine;
_Static_assert(sizeof(CniPsorHead) == 64 && sizeof(CniPsorLine) == 64, "one cache line each");
// A vector in the lane of three lines.
static inline void cni_line_set3(CniPsorLine *line, int32_t lane, CnVec3 a) {
  line[0].lane[lane] = a.x;
  line[1].lane[lane] = a.y;
  line[2].lane[lane] = a.z;
}

// Lines of a contact. g_n stands for g_n + cohesion, and b_n goes with it. Tangential impulses are
// vectors in space, so that no tangents are needed.
//
// The lines after the first eight are the set of the contact: a few numbers that many contacts
// share. Plain contacts of spheres (CNI_PSOR_SPHERE) have theirs apart (CniPsorSets), and all
// batches whose lanes are alike have the same one: in a pile of equal spheres most batches take
// eight lines instead of thirteen, of memory and of what every sweep reads.
enum {
  CNI_LINE_N = 0,    // 3, normal
  CNI_LINE_G_N = 3,  //
  CNI_LINE_G_T = 4,  // 3
  CNI_LINE_B_N = 7,  //
  CNI_LINES_OWN = 8, //
  // the set: from here on counted from its first line
  CNI_LINE_STEP_N = 0, // omega/eta; the projection uses this one for all rows
  CNI_LINE_STEP_T = 1, //
  CNI_LINE_MU = 2,     //
  // of spheres
  CNI_LINE_RADIUS_A = 3, //
  CNI_LINE_RADIUS_B = 4, //
  CNI_LINES_SET = 5,     //
  CNI_LINES_SPHERE = 13, //
  // pairs
  CNI_LINE_ARM_A = 11, // 3
  CNI_LINE_ARM_B = 14, // 3
  CNI_LINE_N_TN = 17,  // 3, slip that a unit normal impulse makes
  CNI_LINES_PAIR = 20, //
  // after those of the storage: full
  CNI_LINE_B_T = 0,   // 3
  CNI_LINE_C_N = 3,   //
  CNI_LINE_C_T = 4,   //
  CNI_LINES_FULL = 5, //
  // and turn
  CNI_LINE_G_R = 5,     // 3, rolling: across the normal
  CNI_LINE_G_S = 8,     // spinning: along it
  CNI_LINE_B_R = 9,     // 3
  CNI_LINE_B_S = 12,    //
  CNI_LINE_C_R = 13,    //
  CNI_LINE_LENGTH = 14, //
  CNI_LINE_STEP_R = 15, //
  CNI_LINE_STEP_S = 16, //
  CNI_LINE_MU_R = 17,   //
  CNI_LINE_MU_S = 18,   //
  CNI_LINES_TURN = 19
};

// Lines of one contact of a kind, but for a set that lies apart, and where its full part begins.
int32_t cni_psor_lines(int32_t kind);
int32_t cni_psor_full(int32_t kind);

// Sets that lie apart: those of some batches, by number.
typedef struct CniPsorSets {
  const CniPsorLine *lines;
  const int32_t *number;
} CniPsorSets;

// Sweep over `count` batches of one kind and length from `data` on; step +1 or -1 (from the last to
// the first). `empty` is the group of unused lanes. Groups are prefetched so many batches ahead, but
// not those of other runs.
typedef void (*CniPsorKernel)(CniPsorGroup *groups, const CniPsorInertia *inertia, int32_t empty,
                              CniPsorLine *data, CniPsorSets sets, int32_t count, int32_t length,
                              int32_t step, double lambda, int32_t ahead);
// The steps and N_tn of a batch from its other lines; projects: whether the law projects; set: its
// set, if that lies apart. Null for kinds that turn.
typedef void (*CniPsorConstants)(int projects, const CniPsorGroup *groups,
                                 const CniPsorInertia *inertia, CniPsorLine *data, CniPsorLine *set,
                                 int32_t length, double omega);
// Lines and set (null: it is made already) of a batch of plain contacts of spheres from its head,
// the problem and its impulses g. in_order: all blocks are contacts of spheres with friction. 0,
// and nothing of use written, if one of the lanes is not used, has no friction or nothing to move.
typedef int (*CniPsorFill)(int projects, int in_order, const CnProblem *p, const CniBatch *batch,
                           const double *g, CniPsorHead *head, CniPsorLine *set, double omega);
// Tangential impulses of plain contacts of spheres, all lanes of a batch at once: from the rows of
// the problem, in the first two lines of G_T, to vectors in space, and back, to two lines.
typedef void (*CniPsorSpread)(CniPsorLine *c);
typedef void (*CniPsorGather)(const CniPsorLine *c, CniPsorLine *rows);
typedef struct CniPsorKernels {
  CniPsorKernel sweep[CNI_PSOR_LANE_KINDS][CNI_PSOR_UPDATE_COUNT];
  CniPsorConstants constants[CNI_PSOR_LANE_KINDS];
  CniPsorFill fill;
  CniPsorSpread spread;
  CniPsorGather gather;
} CniPsorKernels;

// The kernels of a level; null where they were not built.
const CniPsorKernels *cni_psor_kernels(CniSimdLevel level);

// ---- sparse rows ----

// One coefficient of a sparse row, and the velocity that its impulse gives.
typedef struct CniPsorEntry {
  CnTwist e, m_e;     // E and M^-1 E^T
  int32_t group, row; // ~group without mass
} CniPsorEntry;

// A block of sparse rows of the step form, or of rows of W.
typedef struct CniPsorRows {
  CniLocal local;
  int32_t entry_begin, entry_end; // unused in the explicit form
  int32_t row;                    // of g and b
  int32_t block;
  int32_t same_columns; // explicit form: of all rows
  int32_t joint;        // 1: solved with all joints of its island, not by itself
} CniPsorRows;

// ---- the workspace ----

// Neighbouring batches of one kind and length: lanes, or blocks of rows [begin, begin + count).
typedef struct CniPsorRun {
  int32_t kind, length, count;
  int32_t begin; // first batch, or first block of rows
  size_t offset; // first line of the lanes
} CniPsorRun;

// What blocks need; also where those of a column begin.
typedef struct CniPsorCounts {
  int64_t lines, pool, entries; // lines: of lanes
  int32_t runs, rows;
  int32_t pairs; // batches of them
  int32_t sets;  // that lie apart
} CniPsorCounts;

// A check of a column: the first run and item of it that failed.
typedef struct CniPsorFailure {
  int32_t run, item; // run -1: none
} CniPsorFailure;

// What is sent to other ranks, and whether groups that are common have changed since they were shared.
typedef struct CniPsorLinks {
  double *numbers;
  int32_t capacity, stale;
} CniPsorLinks;

// Sweeps [begin, end) in which contacts in lanes go further than the relaxation says, where each row has its own
// step (CNI_PSOR_SPLIT): where the others begin and end, what is far off has come nearer by then.
typedef struct CniPsorLonger {
  double times;
  int32_t begin, end;
} CniPsorLonger;

typedef struct CniPsor {
  CnAllocator allocator;
  CnSolverDef def;
  CniLocalRule rule;
  CniPsorLonger longer;
  int32_t back;       // 1: an iteration is a sweep forth and a sweep back
  double check_first; // > 0: impulses given within so much of the tolerance are the answer
  CniSimdLevel level;
  size_t cache_bytes; // more than these do not stay in the cache from sweep to sweep

  // the problem being solved
  const CnProblem *p;
  const CniPsorKernels *kernels;
  CniPsorUpdate law;
  int32_t cohesive; // 1: some block has cohesion
  int32_t turned;   // 1: the inertia of groups is needed
  int32_t ahead;    // batches: how far ahead sweeps prefetch groups; INT32_MAX: not at all
  int32_t in_order; // 1: all blocks are contacts of spheres with friction
  CniSchedule schedule;
  CniJoints joints;    // solved exactly after every sweep
  int32_t joint_count; // blocks of them
  // In memory that is not ours (psor_prepare.c): sweeps work on the groups of the problem in place
  // if they are lent, otherwise on a copy; the free velocities wait in the velocities of the
  // answer, which nobody needs before the end; inertia and lanes are in the memory of the step.
  CniPsorGroup *groups; // one more than the problem has
  double *free;         // six a group
  CniPsorInertia *inertia;
  CniPsorLine *lines;
  CniPsorLine *sets;    // that lie apart; the first one is that of all lanes that are alike
  int32_t *set_numbers; // per batch
  int32_t set_count;
  int32_t model; // a contact like those that are alike; -1: none
  CniPsorRun *runs;
  CniPsorRows *rows; // both of sparse rows and of W
  CniPsorEntry *entries;
  uint8_t *kinds;   // CniPsorKind per block, only until the schedule is made
  uint8_t *uniform; // per block, the same: whether its set is the first one
  double *pool;     // matrices of rows
  double *g;        // of rows; of others what checks have put there
  double *u;        // of convergence checks
  double *v;        // six per group, of checks
  int32_t run_capacity, rows_capacity;
  int32_t entry_capacity, pool_capacity, g_capacity, u_capacity, v_capacity;
  int32_t run_count, rows_count;
  int32_t *run_start;           // runs of each column of the schedule
  CniPsorCounts *column_counts; // what comes before each column, and at the end all of it
  CniPsorFailure *failed;       // per column: where the last check of it ended
  int32_t run_start_capacity, column_count_capacity, failed_capacity;
  int32_t suspect_run, suspect; // the run and item that failed the last check
  double change;                // explicit form: |dg|/|g| of the last sweep
  int32_t hard_count;           // and blocks that took long since this was set to zero
  double limit;                 // m/s: residual that checks look for
  int32_t met;                  // 1: a check found it, or joints alone were solved
  double check_below;           // and what it must fall to before the next early check
  CniPsorLinks links;
  CnStatus remote; // of messages to other ranks: nothing is sent after the first failure
} CniPsor;

// ---- psor.c: what the two rows of the table share ----
CnStatus cni_psor_create(const CnSolverDef *def, const CnAllocator *allocator, int32_t back,
                         void **state);
CnStatus cni_psor_solve(void *state, const CnProblem *p, CnAnswer *answer, CniStepMemory *memory,
                        CnSolveReport *report);
void cni_psor_destroy(void *state);

// `count` iterations, at most 32 (asserted), of a problem that is prepared.
void cni_psor_iterate(CniPsor *s, int32_t count);
// One sweep over batches [begin, begin + count) of a run of lanes, counted from its first.
void cni_psor_sweep_lanes(CniPsor *s, CniPsorUpdate law, const CniPsorRun *run, int32_t begin,
                          int32_t count, int32_t step);
// One sweep over a column of the schedule.
void cni_psor_sweep_column(CniPsor *s, CniPsorUpdate law, int32_t column, int32_t step);

// ---- psor_prepare.c: problem -> workspace ----

// Room for everything, then the constants of all blocks, the answer's g projected and v made true.
// Only the room can fail. Until cni_psor_leave the answer's v, groups that are lent and the memory,
// which is held, are in use.
CnStatus cni_psor_prepare(CniPsor *s, const CnProblem *p, const CnAnswer *answer,
                          CniStepMemory *memory);
// Free velocities go back to the groups, and theirs to the answer.
void cni_psor_leave(CniPsor *s);

// v = v_free + M^-1 E^T g afresh in the groups.
void cni_psor_restart(CniPsor *s);

// ---- psor_ranks.c: several ranks; with one nothing is sent ----

// Phases one after the other, each of so many columns (or islands of joints, with the phase after the schedule's
// last): as cni_parallel_phases, with what has to be sent between them.
void cni_psor_run(CniPsor *s, int32_t count, const int32_t *sizes, const uint8_t *phases,
                  CniPhaseLoop fn, void *context);
CnStatus cni_psor_ranks_reserve(CniPsor *s, const CnProblem *p);
// Is it so on any rank? Also where one has failed.
int cni_psor_anybody(CniPsor *s, int what);
double cni_psor_largest(CniPsor *s, double x);
// Impulses and velocities that others have found.
CnStatus cni_psor_share_answer(CniPsor *s, CnAnswer *answer);

// ---- psor_lanes.c: blocks -> lanes -> impulses ----

// The constants of a batch whose head is there; set: its set, if that lies apart and is not made
// yet; g: impulses of the problem.
void cni_psor_fill_batch(CniPsor *s, const CniBatch *batch, CniPsorHead *head, CniPsorLine *set,
                         const double *g);
// The set of all contacts that are like this one.
void cni_psor_fill_set(CniPsor *s, int32_t block, CniPsorLine *set);
// Impulses of batch i of a run, in the problem's rows, to s->g.
const CniPsorHead *cni_psor_store_batch(const CniPsor *s, const CniPsorRun *run, int32_t i);
// g of the step form.
void cni_psor_answer(CniPsor *s, CnAnswer *answer);

// longer.c: steps that begin or end to be longer after so many sweeps, and how many sweeps it is until then.
void cni_psor_change_steps(CniPsor *s, int32_t done);
int32_t cni_psor_to_change(const CniPsor *s, int32_t done);

// ---- psor_check.c ----

// max_i |r_i|, the velocities without any impulse.
double cni_psor_free_speed(CniPsor *s);
// Whether the error that decides (cairn/solver.h) is at most the tolerance. `limit`: tolerance
// times free speed, for the step form.
int cni_psor_good_enough(CniPsor *s, double limit);

// ---- psor_rows.c: one sweep over blocks of rows [begin, end); step +1 or -1 ----
void cni_psor_rows(CniPsor *s, int32_t begin, int32_t end, int32_t step);
void cni_psor_apply_rows(CniPsor *s, int32_t begin, int32_t end); // v += M^-1 E^T g
// Whether rows [row, row + dim) of W hold the same columns, as those of a block nearly always do.
int cni_psor_same_columns(const CnSparse *w, int32_t row, int32_t dim);
void cni_psor_explicit(CniPsor *s, int32_t begin, int32_t end, int32_t step);

// The frame of a contact of two points.
typedef struct CniContactFrame {
  CnVec3 n, t1, t2;
} CniContactFrame;
static inline CniContactFrame cni_contact_frame(const CnProblem *p, const CniBlock *block) {
  CniContactFrame f;
  if (block->storage == CNI_PAIR) {
    const CniPairBlock *from = &p->pairs[block->index];
    f = (CniContactFrame){from->normal, from->tangent, cn_cross(from->normal, from->tangent)};
  } else {
    f.n = p->spheres[block->index].normal;
    cni_tangents(f.n, &f.t1, &f.t2);
  }
  return f;
}

#endif
