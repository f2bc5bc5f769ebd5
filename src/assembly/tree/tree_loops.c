// SPDX-License-Identifier: Apache-2.0
// Machines of hinges and ball joints with loops: what eliminations along the tree are to a tree
// (tree_factor.h), E M^-1 E^T g = c by L D L^T is to these (sparse/direct.h), with the rows of all joints:
// three of the point along the axes of the world, two couples across the axis of a hinge. Joints of which
// some do nothing but repeat what others hold (three rows of every plane loop) share their impulses as
// there.
#include "assembly/tree/tree_private.h"

#include "core/error.h"

#define LOST 1e-6 // of a row's diagonal: its pivot where the row depends on others
#define HINGE_ROWS 5
#define POINT_ROWS 3

CnStatus cni_tree_loops_shape(CniTree *t) {
  CniArena *arena = &t->arena;
  CniTreeLoops *l = &t->loops;
  int32_t joints = t->joint_count, sides = 0, rows = 0, entries = 0;
  if (!l->direct) CNI_TRY(cni_direct_create(&t->allocator, &l->direct));
  cni_direct_leave_out(l->direct, LOST);
  CNI_TRY(CNI_TAKE(arena, t->node_count, l->bodies));
  CNI_TRY(CNI_TAKE(arena, joints, l->blocks));
  CNI_TRY(CNI_TAKE(arena, 2 * joints, l->sides));
  CNI_TRY(CNI_TAKE(arena, 2 * HINGE_ROWS * joints, l->e));
  CNI_TRY(CNI_TAKE(arena, HINGE_ROWS * joints, l->x));
  for (int32_t i = 0; i < t->node_count; i++) l->bodies[i] = (CniDirectBody){1, {1, 1, 1, 0, 0, 0}};
  int32_t count = 0;
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    if (node->joint < 0) continue;
    int32_t dim = node->hinge ? HINGE_ROWS : POINT_ROWS;
    l->blocks[count] = (CniDirectBlock){rows, dim, sides, 1 + (node->parent >= 0)};
    l->sides[sides++] = (CniDirectSide){node->own, entries};
    entries += dim;
    if (node->parent >= 0) {
      l->sides[sides++] = (CniDirectSide){node->parent, entries};
      entries += dim;
    }
    rows += dim;
    count++;
  }
  l->system = (CniDirectSystem){.bodies = l->bodies,
                                .blocks = l->blocks,
                                .sides = l->sides,
                                .e = l->e,
                                .body_count = t->node_count,
                                .block_count = count,
                                .side_count = sides,
                                .row_count = rows};
  CNI_TRY(cni_direct_shape(l->direct, &l->system));
  if (!cni_direct_fits(l->direct)) t->is_tree = t->node_count = t->link_count = 0;
  return CN_OK;
}

// The rows of a joint as one of its bodies feels them.
static void write_side(CnTwist *e, double s, CnVec3 r, const CniTreeJoint *j, int hinge) {
  CnVec3 arm = cn_scale(s, r);
  e[0] = (CnTwist){{s, 0, 0}, {0, arm.z, -arm.y}};
  e[1] = (CnTwist){{0, s, 0}, {-arm.z, 0, arm.x}};
  e[2] = (CnTwist){{0, 0, s}, {arm.y, -arm.x, 0}};
  for (int32_t r2 = 0; hinge && r2 < 2; r2++)
    e[3 + r2] = (CnTwist){CN_VEC3_ZERO, cn_scale(s, j->lines[r2])};
}

void cni_tree_loops_factor(CniTree *t) {
  CnTwist *e = t->loops.e;
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    const CniTreeFactor *f = &t->factors[i];
    int32_t dim = node->hinge ? HINGE_ROWS : POINT_ROWS;
    if (node->joint < 0) continue;
    write_side(e, 1, f->arm, &t->joints[i], node->hinge);
    e += dim;
    if (node->parent < 0) continue;
    write_side(e, -1, f->parent_arm, &t->joints[i], node->hinge);
    e += dim;
  }
  cni_direct_factor(t->loops.direct, &t->loops.system, NULL);
}

// What the joints give to their bodies, and these move by.
static void move_all(CniTree *t) {
  for (int32_t i = 0; i < t->node_count; i++)
    t->factors[i].moved = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    const CniTreeFactor *f = &t->factors[i];
    if (node->joint < 0) continue;
    CnVec3 p = f->wrench.velocity, c = f->wrench.spin;
    CnTwist *to = &t->factors[node->own].moved;
    to->velocity = cn_add(to->velocity, p);
    to->spin = cn_add(to->spin, cn_add(cn_cross(f->arm, p), c));
    if (node->parent < 0) continue;
    to = &t->factors[node->parent].moved;
    to->velocity = cn_sub(to->velocity, p);
    to->spin = cn_sub(to->spin, cn_add(cn_cross(f->parent_arm, p), c));
  }
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniDirectBody *body = &t->loops.bodies[i];
    CnTwist *moved = &t->factors[i].moved;
    moved->velocity = cn_scale(body->inv_mass, moved->velocity);
    moved->spin = cn_smul(body->inv_inertia, moved->spin);
  }
}

void cni_tree_loops_solve(CniTree *t, int move) {
  CniTreeLoops *l = &t->loops;
  double *x = l->x;
  for (int32_t i = 0; i < t->link_count; i++) {
    const CnTwist *asked = &t->factors[i].asked;
    const CniTreeJoint *j = &t->joints[i];
    if (t->nodes[i].joint < 0) continue;
    x[0] = asked->velocity.x;
    x[1] = asked->velocity.y;
    x[2] = asked->velocity.z;
    if (t->nodes[i].hinge) {
      x[3] = cn_dot(j->lines[0], asked->spin);
      x[4] = cn_dot(j->lines[1], asked->spin);
    }
    x += t->nodes[i].hinge ? HINGE_ROWS : POINT_ROWS;
  }
  cni_direct_solve_once(l->direct, l->x, l->x);
  x = l->x;
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeJoint *j = &t->joints[i];
    CnTwist *wrench = &t->factors[i].wrench;
    if (t->nodes[i].joint < 0) continue;
    *wrench = (CnTwist){{x[0], x[1], x[2]}, CN_VEC3_ZERO};
    if (t->nodes[i].hinge) wrench->spin = cn_madd(cn_scale(x[3], j->lines[0]), x[4], j->lines[1]);
    x += t->nodes[i].hinge ? HINGE_ROWS : POINT_ROWS;
  }
  if (move) move_all(t);
}
