// SPDX-License-Identifier: Apache-2.0
// What the files of machines in tree form share: the bodies of the tree, their joints, and the factor.
//
// A node is a body with mass and the joint that leads to it from the ground; nodes stand in the
// order of the tree, parents first. A body that leads to the ground by no joint is the root of a tree of
// its own, without a joint. Joints that close loops stand behind all nodes, with a body and a parent that
// are others'; nodes and these are the links.
#ifndef CNI_TREE_PRIVATE_H
#define CNI_TREE_PRIVATE_H

#include "assembly/assembly_private.h"
#include "core/simd/simd.h"
#include "sparse/sparse.h"

#define CNI_TREE_LINES 1e-12    // residual that is let be, of lever arms and radii of gyration
#define CNI_TREE_TURNS 1e-12    // rad
#define CNI_TREE_ROUNDING 2e-15 // of the positions
#define CNI_TREE_LEFT_OUT 1e-6  // of a row's diagonal: its pivot where the row depends on others
#define CNI_TREE_APART 1e3      // error, in units of what may be left, that is none of round-off

// The joint of a node as the model has it: the tree is made anew where that changes.
typedef struct CniTreeCopy {
  int32_t body_a, body_b;
  int32_t kind;
  int32_t acts; // CNI_TREE_LIMITED, CNI_TREE_DRIVEN
  int32_t next_a, next_b;
  CnPose local_a, local_b;
} CniTreeCopy;

// A body likewise: let go, it gets a node that it had not while it was held.
typedef struct CniTreeRole {
  int32_t kind, has_mass, first_joint;
} CniTreeRole;

#define CNI_TREE_LIMITED 1 // it has limits, which are none of the tree's while they do nothing
#define CNI_TREE_DRIVEN 2  // a motor gives an effort

#define CNI_TREE_STIFFENS 2

typedef struct CniTreeKernels CniTreeKernels;

typedef struct CniTreeNode {
  int32_t body, joint; // joint: -1: none
  int32_t own;         // the node of the body
  int32_t last;        // the last node that hangs at this or at one before
  int32_t root;        // the node from which it hangs, itself if it has no
  int32_t parent;      // node, -1: none: the joint leads to the ground, or to
  int32_t base;        // a body that stays where it is; -1: none
  int32_t acts : 8;    // as its copy
  int32_t is_leaf : 2; // 1: no node hangs at it
  int32_t is_last : 2; // 1: no node behind hangs at the same parent
  int32_t hinge : 2;   // 1: it turns about an axis, 0: about a point
  int32_t sign : 2;    // 1: the body is the joint's b, -1: its a
} CniTreeNode;
_Static_assert(sizeof(CniTreeNode) == 32, "every pass along the tree goes through them");

// Of a node, what goes to its lanes.
typedef struct CniTreeFrame {
  CnVec3 arm, parent_arm; // from the centres of mass to the joint, in the axes of the bodies
  CnVec3 x, y, z;         // axes of the joint: x and y on a, z on b, in the axes of these bodies
  double reach, parent_reach; // m: lengths of the arms
} CniTreeFrame;

// ---- lanes ----
//
// Bodies and joints stand eight together, number by number: lane i%8 of eight i/8, so that what is done to
// all of them alike is done to several at once (core/simd). Links of nodes stand as their bodies do; those
// that close loops begin a new eight. Behind the bodies are the ground and the bodies that stay where they
// are, which nothing moves. Lanes that belong to nobody are bodies at rest without a joint.
#define CNI_TREE_LANES 8

typedef struct CniTreeVec {
  double x[CNI_TREE_LANES], y[CNI_TREE_LANES], z[CNI_TREE_LANES];
} CniTreeVec;
typedef struct CniTreeMat {
  CniTreeVec x, y, z; // columns
} CniTreeMat;
typedef struct CniTreeSym {
  double xx[CNI_TREE_LANES], yy[CNI_TREE_LANES], zz[CNI_TREE_LANES];
  double xy[CNI_TREE_LANES], xz[CNI_TREE_LANES], yz[CNI_TREE_LANES];
} CniTreeSym;
typedef struct CniTreeQuat {
  double w[CNI_TREE_LANES], x[CNI_TREE_LANES], y[CNI_TREE_LANES], z[CNI_TREE_LANES];
} CniTreeQuat;
typedef struct CniTreeMotion {
  CniTreeVec velocity, spin; // or momentum and angular momentum
} CniTreeMotion;

typedef struct CniTreeBodies {
  double mass[CNI_TREE_LANES];
  CniTreeVec inertia;
  double inv_mass[CNI_TREE_LANES], inv_turn[CNI_TREE_LANES]; // 1/m, and sum of 1/J
  double size[CNI_TREE_LANES];                               // m: radius of gyration
  CniTreeVec position;                                       // where the motion begins
  CniTreeQuat rotation;
  CniTreeMotion twist; // before the kick, where the drift comes first: of its end
  CniTreeMotion free;  // after loads and efforts, before the joints' impulses
  CniTreeMotion moved; // after them
  CniTreeVec spin;     // where the drift begins, in its own axes
  CniTreeVec middle;
  double across[CNI_TREE_LANES]; // largest s^2 of its joints (drift_joints.c)
  double alone[CNI_TREE_LANES];  // 1: one joint leads to what stays, and none to others
  double pace[CNI_TREE_LANES];   // s: that for which it moves (drift/pace.c)
  double turn[CNI_TREE_LANES];   // s: k of its rotation (drift.c); before the kick: tree_stiff.inc
  CniTreeVec position_new;
  CniTreeQuat rotation_new;
  CniTreeMotion end;
  CniTreeVec force;  // N s: of the joints, in the kick or in the drift,
  CniTreeVec couple; // N m s: in the kick; in the drift, in the axes where the motion begins,
  CniTreeMat lever;  // and sum of r f^T in these
  double stiff[CNI_TREE_LANES]; // 1: forces hold it against turning more than the step resolves:
  CniTreeSym added;             // by this in inertia, world axes
  CniTreeSym felt;    // inertia of the factor that is made; its inverse where there are loops
  CniTreeMotion gain; // velocity and spin that the last solution gives it
  CniTreeSym loose;   // with loops: inverse of `felt`
  CniTreeMotion seen; // and what the joints' D x comes to there
} CniTreeBodies;

// Joints, from their parents' side.
typedef struct CniTreeLinks {
  // as in their nodes
  CniTreeVec arm_own, parent_arm_own;
  CniTreeVec x_own, y_own, z_own;
  double sign[CNI_TREE_LANES], hinge[CNI_TREE_LANES], joined[CNI_TREE_LANES];
  double reach[CNI_TREE_LANES], parent_reach[CNI_TREE_LANES];
  int32_t own[CNI_TREE_LANES],
      other[CNI_TREE_LANES]; // where numbers of their bodies are, from the first's
  // where the motion begins, world axes
  CniTreeVec arm, parent_arm;
  CniTreeVec gap; // from the parent's point to the body's, m
  double about_x[CNI_TREE_LANES], about_y[CNI_TREE_LANES]; // rad: tilt of b's z about x and y of a
  CniTreeVec x, y;                                         // of a
  double tolerance[CNI_TREE_LANES];                        // m
  // of the factor
  CniTreeVec factor_arm, factor_parent_arm;
  CniTreeVec axis;           // the turn that the joint leaves; of a point: all
  CniTreeVec line_x, line_y; // means of x and y, along which couples act
  CniTreeMotion asked;       // relative velocity that the joint is to have
  CniTreeMotion answer;      // what it does to the body for it
  CniTreeMotion wrench;      // on the body, at the joint: of the drift,
  CniTreeMotion impulse;     // and of the kick
  // with loops: D of the point's rows and of the two that turn, numbers by chance, and D x
  double weight[CNI_TREE_LANES], weight_x[CNI_TREE_LANES], weight_y[CNI_TREE_LANES];
  double chance[5][CNI_TREE_LANES];
  CniTreeMotion weighed;
} CniTreeLinks;

// Bodies of the drift of any machine (drift_joints.c) on their way through the lanes.
typedef struct CniDriftEight {
  double inv_mass[CNI_TREE_LANES], pace[CNI_TREE_LANES], turn[CNI_TREE_LANES]; // s: CniDriftBody
  CniTreeVec inertia, spin, middle; // own axes; middle: in, a guess, and out
  CniTreeVec position, velocity;    // where they begin
  CniTreeQuat rotation;
  CniTreeVec force, couple; // what pushes them, world axes
  CniTreeMat arms;
  CniTreeVec position_new, velocity_new, spin_new; // out
  CniTreeQuat rotation_new;
} CniDriftEight;

#define CNI_TREE_BODY_NUMBERS ((int32_t)(sizeof(CniTreeBodies) / sizeof(double)))

static inline CnVec3 cni_lane_vec(const CniTreeVec *v, int32_t lane) {
  return (CnVec3){v->x[lane], v->y[lane], v->z[lane]};
}
static inline void cni_lane_put(CniTreeVec *v, int32_t lane, CnVec3 a) {
  v->x[lane] = a.x;
  v->y[lane] = a.y;
  v->z[lane] = a.z;
}
static inline CnTwist cni_lane_twist(const CniTreeMotion *m, int32_t lane) {
  return (CnTwist){cni_lane_vec(&m->velocity, lane), cni_lane_vec(&m->spin, lane)};
}
static inline void cni_lane_put_twist(CniTreeMotion *m, int32_t lane, CnTwist a) {
  cni_lane_put(&m->velocity, lane, a.velocity);
  cni_lane_put(&m->spin, lane, a.spin);
}
static inline CnSym3 cni_lane_sym(const CniTreeSym *s, int32_t lane) {
  return (CnSym3){s->xx[lane], s->yy[lane], s->zz[lane], s->xy[lane], s->xz[lane], s->yz[lane]};
}
static inline void cni_lane_put_sym(CniTreeSym *s, int32_t lane, CnSym3 a) {
  s->xx[lane] = a.xx;
  s->yy[lane] = a.yy;
  s->zz[lane] = a.zz;
  s->xy[lane] = a.xy;
  s->xz[lane] = a.xz;
  s->yz[lane] = a.yz;
}
static inline CnQuat cni_lane_quat(const CniTreeQuat *q, int32_t lane) {
  return (CnQuat){q->w[lane], q->x[lane], q->y[lane], q->z[lane]};
}
static inline void cni_lane_put_quat(CniTreeQuat *q, int32_t lane, CnQuat a) {
  q->w[lane] = a.w;
  q->x[lane] = a.x;
  q->y[lane] = a.y;
  q->z[lane] = a.z;
}

// Of a node: the inertia of all that hangs at its joint, as it is felt there, and the solution.
typedef struct CniTreeFactor {
  CnSym3 a; // momentum = a u + b w, angular momentum = b^T u + c w
  CnMat3 b;
  CnSym3 c;
  CnTwist bias;       // momentum of all that hangs there before its parent moves
  CnVec3 push, twist; // momentum and angular momentum of the free turn over its own inertia
  double inverse;     // of this
  double left;        // of the bias along the axis
} CniTreeFactor;

// Beside it, of those without a hinge.
typedef struct CniTreeBall {
  CnSym3 c;     // inverse of c
  CnMat3 b;     // b before it became nothing
  CnSym3 whole; // of a root: inverse of a - b c^-1 b^T
} CniTreeBall;

// Loops closed on top of the inertias along the tree (tree_closure.inc): the rows of the joints that close
// them as a system of sparse/direct.h whose columns are the turns of the nodes.
typedef struct CniTreeClosure {
  int32_t used;      // 1: that is less work than the rows of all joints
  int32_t full;      // 1: but those are factored, too
  int32_t lost;      // rows that depend on others
  double given;      // largest x^T D x since there is a factor
  CniDirect *direct; // null: none yet
  CniDirectSystem system;
  CniDirectBlock *blocks;
  CniDirectSide *sides;
  int32_t *columns,
      *common; // by side; by block: the node where the ways to the ground meet, -1: none
  double *diagonal, *c, *x; // by row
} CniTreeClosure;

// Machines with loops: their joints as a system of sparse/direct.h.
typedef struct CniTreeLoops {
  CniTreeClosure closure;
  CniDirect *direct; // null: none yet
  CniDirectSystem system;
  CniDirectBody *bodies; // by node
  CniDirectBlock *blocks;
  CniDirectSide *sides;
  CnTwist *e;
  double *x; // what the rows ask for, then their impulses
} CniTreeLoops;

// Speeds of the joints without their impulses, squared.
typedef struct CniTreeFree {
  double sum, most;
} CniTreeFree;

struct CniTree {
  CnAllocator allocator;
  CniArena arena;
  int32_t valid;  // 1: the nodes are those of copies and roles,
  uint64_t edits; // which are those of the model while it has had no more than these
  int32_t is_tree;
  CniTreeCopy *copies;
  CniTreeRole *roles;
  int32_t joint_count, body_count, node_count;
  int32_t link_count; // more than there are nodes: there are loops
  CniTreeLoops loops;
  int32_t acts;        // of all joints
  int32_t stiff;       // 1: there is a body that forces hold against turning
  int32_t kicked_last; // 1: in the last step the drift came first
  int32_t last_root;   // among the nodes
  int32_t floating;    // 1: a node is the root of a tree that nothing holds
  int32_t loaded;    // 1: joints ask for what the kick has to give, where nothing but gravity acts
  int32_t gone;      // 1: bodies have set out on the drift from where the kick left them,
  double gone_worst; // and joints are that far apart then
  int32_t kicked;    // 1: the factor is that of a kick at `pose`, without such: two kicks share it
  CniTreeNode *nodes;
  CniTreeFrame *frames;                       // by link
  CniTreeBodies *bodies;                      // eights of nodes, then those that stay
  CniTreeLinks *links;                        // eights of nodes, then of what closes loops
  int32_t node_eights, link_eights, loop_gap; // lanes of nobody before what closes loops
  int32_t stay_count;                         // of those that stay: the ground first,
  int32_t *stays;                             // then these bodies
  CniTreeFactor *factors;
  CniTreeBall *balls; // likewise by node
  const CniTreeKernels *kernels;
  uint8_t
      *floats; // by node: no joint leads from it to the ground; of a root: it may turn as a whole
  // by body of the model
  CnPose *pose;
  CnTwist *twist, *moved, *end;
  CniTreeFree free;
};

// What is compiled for each level of wide arithmetic (tree_kernels.inc).
struct CniTreeKernels {
  // Joints and axes of bodies where these are, at the beginning, which step tells of, or at the end of a
  // drift; returns the largest error over what counts as closed. and_load: a kick follows, by gravity alone;
  // CNI_TREE_STIFFENS: and first what forces add to the bodies.
  double (*place)(CniTree *tree, const CniTreeInput *in, int at_end, int and_load,
                  CniTreeStep *step);
  // By Gershgorin's circles: is K h^2 of the last step's forces below the inertias of all bodies?
  int (*is_soft)(CniTree *tree, const CniTreeInput *in, double hh);
  // Does a body need more inertia than it has? keep: to all bodies; otherwise the first ends it.
  int (*stiffen)(CniTree *tree, const CniTreeInput *in, double hh, int keep);
  // Velocities after gravity and the impulses that the joints take to hold. and_go: a drift follows.
  int (*kick)(CniTree *tree, const CniTreeInput *in, int and_go, CnCertificate *certificate);
  // The motion without forces from there; after_kick: from the velocities that it left. Returns 0 where
  // it was not found.
  int (*drift)(CniTree *tree, const CniTreeInput *in, int after_kick);
  // Bodies of any machine by what pushes them; returns the bits of those that were not found.
  int32_t (*turn_eight)(CniDriftEight *eight);
};
const CniTreeKernels *cni_tree_kernels(CniSimdLevel level);

// Nodes for the joints of the model, if they are not there already.
CnStatus cni_tree_shape(CniTree *tree, const CniModel *model);

// What the forces of the last step add to inertias where the step is longer than they allow
// (groups.c); returns 2 if none does in a step twice as long, 1 otherwise. wanted: the longest asked for.
int cni_tree_stiffen(CniTree *tree, const CniTreeInput *in, int wanted);
// What the motor of a joint gives in the step, N m s.
double cni_tree_effort(const CniTreeNode *node, const CniTreeInput *in);
// Of the kick, what is not alike for all bodies, to `free`: of eight of them loads and inertias that forces add
// to, and the efforts of all joints.
void cni_tree_load(CniTree *tree, const CniTreeInput *in, int32_t eight);
void cni_tree_efforts(CniTree *tree, const CniTreeInput *in);

// The factor of a machine with loops, for the bodies, arms and lines that are there; and impulses for what
// the joints ask for, to their wrenches, and if so wanted the velocities that bodies get, to moved.
CnStatus cni_tree_loops_shape(CniTree *tree);
CnStatus cni_tree_closure_shape(CniTree *tree);
void cni_tree_loops_factor(CniTree *tree);
void cni_tree_loops_solve(CniTree *tree, int move);

// Where a link is among the lanes.
static inline CniTreeLinks *cni_tree_link(const CniTree *t, int32_t link, int32_t *lane) {
  int32_t at = link < t->node_count ? link : link + t->loop_gap;
  *lane = at % CNI_TREE_LANES;
  return &t->links[at / CNI_TREE_LANES];
}
// The axis of a hinge where the motion begins, world axes.
static inline CnVec3 cni_tree_axis(const CniTree *t, int32_t link) {
  int32_t lane;
  const CniTreeLinks *l = cni_tree_link(t, link, &lane);
  return cn_cross(cni_lane_vec(&l->x, lane), cni_lane_vec(&l->y, lane));
}

// Small functions of hot loops, whose arguments are better kept in registers.
#define CNI_TREE_INLINE static inline __attribute__((always_inline))

// All lines that hold some of these bytes, which will be written: records begin anywhere in a line.
CNI_TREE_INLINE void cni_tree_fetch(const void *at, size_t bytes) {
  const char *first = (const char *)((uintptr_t)at & ~(uintptr_t)63),
             *end = (const char *)at + bytes;
  for (; first < end; first += 64) __builtin_prefetch(first, 1);
}

CNI_TREE_INLINE CnTwist cni_twist_add(CnTwist a, CnTwist b) {
  return (CnTwist){cn_add(a.velocity, b.velocity), cn_add(a.spin, b.spin)};
}

#endif
