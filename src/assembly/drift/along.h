// SPDX-License-Identifier: Apache-2.0
// The drift of machines of hinges, balls and welds along their trees (along.c): what its files share.
//
// A node is a body and the joint that leads to it, parents first. Coordinates are turns of nodes against their
// parents: of a hinge one, of a ball three, none of what is welded or held; of a machine that floats the six of its
// root. Joints that are none of a node close loops; loops that share coordinates are a group.
#ifndef CNI_DRIFT_ALONG_H
#define CNI_DRIFT_ALONG_H

#include "assembly/drift_private.h"
#include "assembly/tree/tree_private.h"

#define CNI_ALONG_LANES CNI_TREE_LANES
#define CNI_ALONG_NULLS 24 // rows of a group that depend on others, at most

typedef struct CniAlongNode {
  int32_t body;      // of the drift
  int32_t parent;    // node, -1: the ground, or none
  int32_t link;      // -1: none: the root of a machine that floats
  int32_t side;      // 1: the body is the b of the link
  int32_t at, count; // its coordinates
  int32_t group;     // of loops that go through its joint, -1: none;
  int32_t in_group;  // its number there
  int32_t hinge;     // 1: a hinge, free or held
  int32_t leans;     // 1: `lean` is not zero
  double mass, turn; // k
  CnVec3 velocity, spin;
  CnSym3 inertia, inverse; // world axes, where the motion begins, as all that follows
  CnVec3 arm, parent_arm;  // from the centres of mass to the points of the joint,
  CnVec3 rest, other_rest; // and what arms of its force have besides
  CnVec3 axis;             // of a hinge
  CnVec3 shift;            // by what the point is to move away from the parent's,
  CnVec3 lean;             // and half of what the body is to turn against the parent
  double given;            // N m s: couple about the axis, on the body
  // now, as Gibbs vectors: directions times tangents of half the angles
  CnVec3 turned;           // against the parent; of a hinge along the axis
  CnVec3 g;                // since the beginning
  double f;                // 1/(1 + g.g)
  CnVec3 way;              // of the centre of mass
  CnVec3 bend, other_bend; // half of the ways that the ends of the arms turn
  CnVec3 mean, other_mean; // arms of the force
  CnVec3 free;             // direction across the lines of the couples
  CnVec3 axis_end;         // as the two that follow, for the matrix alone
  CnVec3 end, other_end;   // arms at the end
  CnMat3 slope;            // of the angular momentum that its joints give, by turns at the end
  CnTwist need;            // momentum to be given to the body by its joints,
  CnTwist total;           // and to all that hangs at its joint
  CnVec3 couple;           // of the joint, on the body
} CniAlongNode;

typedef struct CniAlongLoop {
  int32_t link, dim;
  int32_t nodes[2]; // of a and b, -1: the ground
  int32_t meet;     // where their ways to the root meet, -1: there
  int32_t group, row;
  double size; // m
  CnVec3 arms[2], rest[2], means[2];
  CnVec3 axis, shift, lean;
  CnVec3 lines[2]; // of couples, on a: where the motion begins,
  CnVec3 mean_lines[2];
  double impulse[5];    // of its rows: along the axes of the world and the lines
  CnVec3 force, couple; // on b
} CniAlongLoop;

// A joint where the motion begins, as the norm of its impulses sees it (along_least.c).
typedef struct CniAlongJoint {
  int32_t lines;
  CnVec3 line[3];         // of couples
  double mass, weight[3]; // D of the force, and of each couple
} CniAlongJoint;

// Rows of loops and the coordinates that they see. Rows and columns in the order of elimination: the first `rank`
// rows tell the first `rank` columns from the others.
typedef struct CniAlongGroup {
  int32_t loop_begin, loop_end; // places in a list
  int32_t node_begin, node_end;
  int32_t rows, columns, rank;
  int32_t *row, *column; // as they stand; coordinates
  double *ways;          // rows x columns: motion of rows at the end, factored
  double *pulls;         // and what impulses of rows pull coordinates by
} CniAlongGroup;

// Eight motions side by side, and what they take.
typedef struct CniAlongLane {
  CniTreeVec velocity, spin, force, turn;
} CniAlongLane;

// Of a joint, eight impulses that move nothing: as vectors, and as numbers of rows.
typedef struct CniAlongNull {
  CniTreeVec force, couple;
  double number[6][CNI_ALONG_LANES];
} CniAlongNull;

typedef struct CniAlongKernels CniAlongKernels;

typedef struct CniAlong {
  const CniDrift *d;
  double pace;  // s, and
  CnVec3 along; // m, of all bodies (drift/pace.c)
  int32_t node_count, loop_count, group_count, coordinate_count;
  int32_t free_count; // coordinates that no loop tells
  int32_t most_rows;  // of a group
  CniAlongNode *nodes;
  CniAlongLoop *loops;
  CniAlongGroup *groups;
  int32_t *loop_list, *node_list; // by groups
  int32_t *free_of;               // per coordinate: which of the free, -1: a loop tells it
  int32_t *column_of;             // per coordinate: in its group, as they come
  double *pulled, *change;        // per coordinate
  double size;                    // m: of the largest joint
  double *lanes;                  // per coordinate: eight
  double *row_lanes;              // per row of a group: eight
  double *row;
  double *matrix; // of the free, factored
  double *right;  // of the free
  int32_t *pivot;
  CniAlongLane *lane;        // per node
  CniAlongJoint *joints;     // of nodes, then of loops
  CniAlongNull *nulls;       // of the largest group: eight after eight, by joints
  int32_t most_nulls;        // so many
  double *numbers, *weights; // six a joint
  double gram[CNI_ALONG_NULLS * CNI_ALONG_NULLS], part[CNI_ALONG_NULLS];
  const CniAlongKernels *kernels;
} CniAlong;

#define CNI_ALONG_FREE 48 // coordinates that no loop tells, at most

// *along is null where an island is none of this kind.
CnStatus cni_along_prepare(const CniDrift *d, int32_t island, CniAlong **along);
// The motion of its bodies and the impulses of its joints; 0: not found, and nothing was done.
int cni_along_run(CniAlong *along);
// ---- along_loops.c ----

CnVec3 cni_along_axis_now(const CniAlong *along, const CniAlongNode *node);
// The direction that couples of a hinge, along the lines of a, leave.
CnVec3 cni_along_free_direction(const CniAlong *along, const CniAlongNode *node);
void cni_along_find_lines(const CniAlong *along, CniAlongLoop *loop);
// Rows and coordinates of a group in the order of their pivots; 0: it is not clear how many tell how many.
int cni_along_factor_group(const CniAlong *along, CniAlongGroup *group);
// The impulse of a row of a group, in that order, among those of its loop, in units of 1/size.
double *cni_along_impulse(const CniAlong *along, const CniAlongGroup *group, int32_t row,
                          double *size);
// Impulses of the first rows that pull the first columns by x, in two halves, in place.
void cni_along_begin_pulls(const CniAlongGroup *group, double *x);
void cni_along_end_pulls(const CniAlongGroup *group, double *x);
// Impulses of loops leave nothing along the coordinates that these tell: what there is along the others then.
void cni_along_pull_loops(CniAlong *along);
// Changes of coordinates that loops tell, by how far these are open and by those of the others, which are there;
// returns how far they are open, over their sizes.
double cni_along_close_loops(CniAlong *along);
// Have rows that depend on others come along with them?
int cni_along_is_closed(const CniAlong *along);

// ---- along_matrix.c: of the coordinates that no loop tells ----

int cni_along_choose_free(CniAlong *along);
int cni_along_make_matrix(CniAlong *along); // 0: it is singular
void cni_along_solve_matrix(const CniAlong *along, double *x);

// ---- along_least.c ----

// Of impulses that do the same those of least norm, to loops; 0: not found.
int cni_along_least(CniAlong *along);

// ---- along_give.c ----

void cni_along_give_poses(const CniAlong *along);
// Impulses of rows, and what they come to on the bodies; 0: more than something can hold, or a limit is passed.
int cni_along_give_impulses(const CniAlong *along);
void cni_along_give_twists(const CniAlong *along);
void cni_along_take_back(const CniAlong *along); // impulses, as they were

// ---- along_kernels.inc: for each level of wide arithmetic ----

struct CniAlongKernels {
  // Motions of the coordinates in `lanes`, and what is along coordinates of the momenta that they take.
  void (*move)(CniAlong *along);
  // Impulses that the nulls of a group's loops have, to its other joints, and numbers of all.
  void (*go_through)(CniAlong *along, const CniAlongGroup *group, CniAlongNull *nulls);
  // w (eight lines) = a^T D b, w (a line) = a^T x, of the numbers of all joints; those of D and x six a joint.
  void (*join)(const CniAlongNull *a, const CniAlongNull *b, const double *weights, int32_t joints,
               double *w);
  void (*part)(const CniAlongNull *a, const double *x, int32_t joints, double *w);
};
const CniAlongKernels *cni_along_kernels(CniSimdLevel level);

// ----

// a after b
static inline CnVec3 cni_along_composed(CnVec3 a, CnVec3 b) {
  double f = 1 / (1 - cn_dot(a, b));
  return cn_scale(f, cn_add(cn_add(a, b), cn_cross(a, b)));
}
static inline const CniAlongNode *cni_along_parent(const CniAlong *t, const CniAlongNode *node) {
  return node->parent >= 0 ? &t->nodes[node->parent] : NULL;
}

// T v of a turn, and the mean of v and T v.
static inline CnVec3 cni_along_change(CnVec3 g, double f, CnVec3 v) {
  CnVec3 a = cn_cross(g, v);
  return cn_scale(f, cn_add(a, cn_cross(g, a)));
}
static inline CnVec3 cni_along_mean(CnVec3 g, double f, CnVec3 v) {
  return cn_add(v, cni_along_change(g, f, v));
}
static inline CnVec3 cni_along_turned(CnVec3 g, double f, CnVec3 v) {
  return cn_madd(v, 2, cni_along_change(g, f, v));
}
// The same with the turn of a node, -1: the ground.
static inline CnVec3 cni_along_mean_at(const CniAlong *t, int32_t node, CnVec3 v) {
  return node < 0 ? v : cni_along_mean(t->nodes[node].g, t->nodes[node].f, v);
}
static inline CnVec3 cni_along_turned_at(const CniAlong *t, int32_t node, CnVec3 v) {
  return node < 0 ? v : cni_along_turned(t->nodes[node].g, t->nodes[node].f, v);
}

#endif
