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
#include "sparse/sparse.h"

#define CNI_TREE_LINES 1e-12    // residual that is let be, of lever arms and radii of gyration
#define CNI_TREE_TURNS 1e-12    // rad
#define CNI_TREE_ROUNDING 2e-15 // of the positions
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

typedef struct CniTreeNode {
  int32_t body, joint;    // joint: -1: none
  int32_t own;            // the node of the body
  int32_t last;           // the last node that hangs at this or at one before
  int32_t parent;         // node, -1: none: the joint leads to the ground, or to
  int32_t base;           // a body that stays where it is; -1: none
  int32_t acts;           // as its copy
  int32_t hinge;          // 1: it turns about an axis, 0: about a point
  double sign;            // 1: the body is the joint's b, -1: its a
  CnVec3 arm, parent_arm; // from the centres of mass to the joint, in the axes of the bodies
  CnVec3 x, y, z;         // axes of the joint: x and y on a, z on b, in the axes of these bodies
  double reach, parent_reach; // m: lengths of the arms
} CniTreeNode;

typedef struct CniTreeBody {
  double mass;
  CnVec3 inertia;
  CnPose pose; // where the motion begins
  CnMat3 axes;
  CnTwist twist;
  CnVec3 spin;    // in its own axes
  int32_t floats; // no joint leads from it to the ground
  int32_t stiff;  // forces hold it against turning more than the step resolves:
  CnSym3 added;   // by this in inertia, world axes
  double across;  // largest s^2 of its joints (drift_joints.c)
  double turn;    // s: k of its rotation (drift.c)
  CnTwist free;   // after loads and efforts, before the joints' impulses
  CnVec3 middle;
  CnPose pose_new;
  CnMat3 axes_new;
  CnTwist end;
  CnTwist push;  // N s, N m s: of the joints in the kick,
  CnVec3 force;  // N s: in the drift,
  CnVec3 couple; // N m s, in the axes where the motion begins,
  CnMat3 lever;  // and sum of r f^T in these
  double size;   // m: radius of gyration
} CniTreeBody;

// A joint, from its parent's side.
typedef struct CniTreeJoint {
  CnVec3 arm, parent_arm; // world axes, where the motion begins
  CnVec3 gap;             // from the parent's point to the body's, m
  double tilt[2];         // rad, of b's z about x and y of a
  CnVec3 x, y;            // world axes, of a
  CnVec3 gap_target;
  double tilt_target[2];
  CnVec3 lines[2];  // means of x and y, along which couples act
  double tolerance; // m
  CnTwist wrench;   // on the body, at the joint: of the drift
  CnTwist impulse;  // likewise: of the kick
} CniTreeJoint;

// Of a node: the inertia of all that hangs at its joint, as it is felt there, and the solution.
typedef struct CniTreeFactor {
  CnSym3 a; // momentum = a u + b w, angular momentum = b^T u + c w
  CnMat3 b;
  CnSym3 c;
  CnVec3 arm, parent_arm; // world axes
  CnVec3 axis;            // the turn that the joint leaves; of a point: all
  CnVec3 push, twist;     // momentum and angular momentum of that turn over its own inertia
  double inverse;         // of this
  CnSym3 ball;            // of a point, and of a root: inverse of c
  CnMat3 ball_b;          // b before it became nothing
  CnSym3 whole;           // of a root: inverse of a - b c^-1 b^T
  CnTwist asked;          // relative velocity that the joint is to have
  CnTwist bias;           // momentum of all that hangs there before its parent moves
  double left;            // of the bias along the axis
  CnTwist moved;          // velocity and spin that the body gets
  CnTwist wrench;         // what the joint does to it
} CniTreeFactor;

// Machines with loops: their joints as a system of sparse/direct.h.
typedef struct CniTreeLoops {
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
  int32_t valid; // 1: the nodes are those of copies and roles
  int32_t is_tree;
  CniTreeCopy *copies;
  CniTreeRole *roles;
  int32_t joint_count, body_count, node_count;
  int32_t link_count; // more than there are nodes: there are loops
  CniTreeLoops loops;
  int32_t acts;   // of all joints
  int32_t stiff;  // 1: there is a body that forces hold against turning
  int32_t kicked; // 1: the factor is that of a kick at `pose`, without such: two kicks share it
  CniTreeNode *nodes;
  CniTreeBody *bodies;
  CniTreeJoint *joints;
  CniTreeFactor *factors;
  CniStiffness *stiffness;
  // by body of the model
  CnPose *pose, *pose_new;
  CnTwist *twist, *moved, *end;
  CniTreeFree free;
};

// Nodes for the joints of the model, if they are not there already.
CnStatus cni_tree_shape(CniTree *tree, const CniModel *model);

// Joints and axes of bodies where these are, at the beginning, which step tells of, or at the end of a
// drift; returns the largest error over what counts as closed.
double cni_tree_place(CniTree *tree, const CniTreeInput *in, int at_end, CniTreeStep *step);
// What the forces of the last step add to inertias where the step is longer than they allow
// (groups.c); returns 2 if none does in a step twice as long, 1 otherwise. wanted: the longest asked for.
int cni_tree_stiffen(CniTree *tree, const CniTreeInput *in, int wanted);
// Velocities after gravity and the impulses that the joints take to hold.
int cni_tree_kick(CniTree *tree, const CniTreeInput *in, CnCertificate *certificate);
// What the motor of a joint gives in the step, N m s.
double cni_tree_effort(const CniTreeNode *node, const CniTreeInput *in);
// The motion without forces from there. Returns 0 where it was not found.
int cni_tree_drift(CniTree *tree, const CniTreeInput *in);

// The factor of a machine with loops, for the bodies, arms and lines that are there; and impulses for what
// the joints ask for, to their wrenches, and if so wanted the velocities that bodies get, to moved.
CnStatus cni_tree_loops_shape(CniTree *tree);
void cni_tree_loops_factor(CniTree *tree);
void cni_tree_loops_solve(CniTree *tree, int move);

// Small functions of hot loops, whose arguments are better kept in registers.
#define CNI_TREE_INLINE static inline __attribute__((always_inline))

CNI_TREE_INLINE CnTwist cni_twist_add(CnTwist a, CnTwist b) {
  return (CnTwist){cn_add(a.velocity, b.velocity), cn_add(a.spin, b.spin)};
}

#endif
