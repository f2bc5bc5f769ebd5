// SPDX-License-Identifier: Apache-2.0
// The joints of a step problem, solved exactly: its bilateral blocks (springs and other compliant
// rows among them) as a system of sparse/direct.h.
//
// Rows and bodies are numbered among themselves. Velocities that are prescribed have gone into b.
#ifndef CNI_SOLVER_JOINTS_H
#define CNI_SOLVER_JOINTS_H

#include "problem/problem.h"
#include "sparse/sparse.h"

// Of a row with bounds: is it at one?
typedef enum CniHeld { CNI_INSIDE = 0, CNI_HELD_LOW, CNI_HELD_HIGH } CniHeld;

typedef struct CniJoints {
  CnAllocator allocator;
  CniDirect *direct;
  CniDirectSystem system;
  CniDirectBody *bodies;
  int32_t *group;   // per body
  int32_t *body_of; // per group: -1 without joints
  CniDirectBlock *blocks;
  int32_t *block; // per block: in the problem
  uint8_t *also;  // per block of the problem: 1: taken as two-sided, where it is not
  uint8_t *held;  // per row of the problem (CniHeld), and
  const double
      *bounds; // the impulses of those at a bound; null: rows with bounds are none of the system
  CniDirectSide *sides;
  CnTwist *e;
  double *compliance, *b, *x; // by rows; x: work
  int32_t body_capacity, group_capacity, body_of_capacity, block_capacity, list_capacity;
  int32_t also_capacity, also_count; // 0: none is
  int32_t held_capacity;
  int32_t side_capacity, twist_capacity, compliance_capacity, b_capacity, x_capacity;
  int32_t twist_count;
} CniJoints;

void cni_joints_init(CniJoints *j, const CnAllocator *allocator);
void cni_joints_release(CniJoints *j);

// Bilateral blocks of a problem in step form; 0 at once where no set is bilateral.
int32_t cni_joints_count(const CnProblem *p);

// Collect, order if the structure is new, factor. *fits: 0 where the factor would be too large; then
// nothing else is to be called.
CnStatus cni_joints_load(CniJoints *j, const CnProblem *p, CnTasks *tasks, int32_t *fits);

// The same with all rows that have bounds, bounded.c: those inside are two-sided; those that `held` has at a bound
// stay at their impulse in g. What else acts on a system of these is cni_joints_go_on.
CnStatus cni_joints_take_bounded(CniJoints *j, const CnProblem *p); // room for `held`, all inside
CnStatus cni_joints_load_bounded(CniJoints *j, const CnProblem *p, CnTasks *tasks, const double *g,
                                 int32_t *fits);

// Impulses g and velocities v of a problem that has no other blocks. least: 0: of impulses that move the
// bodies alike any will do, for who calls cni_joints_least in the end.
void cni_joints_answer(CniJoints *j, const CnProblem *p, CnTasks *tasks, int least, double *g,
                       double *v);

// What all of them ask for at velocities v without impulses, -(E v + b), to x.
void cni_joints_speeds(CniJoints *j, const double *v);

// The joints once more, from impulses g and velocities v of whatever else acts.
void cni_joints_go_on(CniJoints *j, const CnProblem *p, CnTasks *tasks, int least, double *g,
                      double *v);

// One block of the sweeps: islands [begin, end) are solved with everything else held, and a share
// lambda of the change made. Velocities of groups and g, in the problem's rows, follow.
void cni_joints_relax(CniJoints *j, const CnProblem *p, CniGroup *groups, double *g, double lambda,
                      int32_t begin, int32_t end);
// After the sweeps: of all impulses g that move the bodies alike those of least norm (sparse/direct.h).
void cni_joints_least(CniJoints *j, const CnProblem *p, double *g);

// Rows of the problem that contradict each other, joints alone, or with one-sided rows where `answer` is not
// null: those that act in it or are not met. It is proved: every motion that gave all they ask for would be a
// hundred thousand times faster than that. At most `capacity` of them to `rows`, those that ask for most of
// what cannot be given. Returns how many there are. Loads; *fits as there.
CnStatus cni_joints_disprove(CniJoints *j, const CnProblem *p, const CnAnswer *answer,
                             CnTasks *tasks, int32_t *rows, int32_t capacity, int32_t *count);
// Of joints that are loaded, beyond a thousandth of the speeds there are: is it so?
int32_t cni_joints_contradict(CniJoints *j, const CnProblem *p);

#endif
