// SPDX-License-Identifier: Apache-2.0
// Machines of hinges and ball joints with loops: what eliminations along the tree are to a tree
// (tree_factor.h), E M^-1 E^T g = c by L D L^T is to these (sparse/direct.h), with the rows of all joints:
// three of the point along the axes of the world, two couples across the axis of a hinge. Joints of which
// some do nothing but repeat what others hold (three rows of every plane loop) share their impulses as
// there.
#include "assembly/tree/tree_private.h"

#include "core/error.h"

#define HINGE_ROWS 5
#define POINT_ROWS 3

CnStatus cni_tree_loops_shape(CniTree *t) {
  CniArena *arena = &t->arena;
  CniTreeLoops *l = &t->loops;
  int32_t joints = t->joint_count, sides = 0, rows = 0, entries = 0;
  if (!l->direct) CNI_TRY(cni_direct_create(&t->allocator, &l->direct));
  cni_direct_leave_out(l->direct, CNI_TREE_LEFT_OUT);
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
static void write_side(CnTwist *e, double s, CnVec3 r, const CniTreeLinks *l, int32_t lane,
                       int hinge) {
  CnVec3 arm = cn_scale(s, r);
  e[0] = (CnTwist){{s, 0, 0}, {0, arm.z, -arm.y}};
  e[1] = (CnTwist){{0, s, 0}, {-arm.z, 0, arm.x}};
  e[2] = (CnTwist){{0, 0, s}, {arm.y, -arm.x, 0}};
  if (!hinge) return;
  e[3] = (CnTwist){CN_VEC3_ZERO, cn_scale(s, cni_lane_vec(&l->line_x, lane))};
  e[4] = (CnTwist){CN_VEC3_ZERO, cn_scale(s, cni_lane_vec(&l->line_y, lane))};
}

void cni_tree_loops_factor(CniTree *t) {
  CnTwist *e = t->loops.e;
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniTreeBodies *b = &t->bodies[i / CNI_TREE_LANES];
    int32_t lane = i % CNI_TREE_LANES;
    const CniTreeSym *inverse = t->loops.closure.used ? &b->loose : &b->felt;
    t->loops.bodies[i] = (CniDirectBody){b->inv_mass[lane], cni_lane_sym(inverse, lane)};
  }
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    int32_t dim = node->hinge ? HINGE_ROWS : POINT_ROWS, lane;
    const CniTreeLinks *l = cni_tree_link(t, i, &lane);
    if (node->joint < 0) continue;
    write_side(e, 1, cni_lane_vec(&l->factor_arm, lane), l, lane, node->hinge);
    e += dim;
    if (node->parent < 0) continue;
    write_side(e, -1, cni_lane_vec(&l->factor_parent_arm, lane), l, lane, node->hinge);
    e += dim;
  }
  cni_direct_factor(t->loops.direct, &t->loops.system, NULL);
}

static void add_impulse(CniTree *t, int32_t node, CnVec3 p, CnVec3 turn) {
  CniTreeMotion *to = &t->bodies[node / CNI_TREE_LANES].gain;
  int32_t lane = node % CNI_TREE_LANES;
  cni_lane_put(&to->velocity, lane, cn_add(cni_lane_vec(&to->velocity, lane), p));
  cni_lane_put(&to->spin, lane, cn_add(cni_lane_vec(&to->spin, lane), turn));
}

// What the joints give to their bodies, and these move by.
static void move_all(CniTree *t) {
  for (int32_t e = 0; e < t->node_eights; e++) t->bodies[e].gain = (CniTreeMotion){0};
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    int32_t lane;
    const CniTreeLinks *l = cni_tree_link(t, i, &lane);
    if (node->joint < 0) continue;
    CnTwist answer = cni_lane_twist(&l->answer, lane);
    CnVec3 p = answer.velocity, c = answer.spin;
    CnVec3 arm = cni_lane_vec(&l->factor_arm, lane), r = cni_lane_vec(&l->factor_parent_arm, lane);
    add_impulse(t, node->own, p, cn_add(cn_cross(arm, p), c));
    if (node->parent < 0) continue;
    add_impulse(t, node->parent, cn_neg(p), cn_neg(cn_add(cn_cross(r, p), c)));
  }
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniDirectBody *body = &t->loops.bodies[i];
    CniTreeMotion *gain = &t->bodies[i / CNI_TREE_LANES].gain;
    int32_t lane = i % CNI_TREE_LANES;
    CnTwist now = cni_lane_twist(gain, lane);
    now.velocity = cn_scale(body->inv_mass, now.velocity);
    now.spin = cn_smul(body->inv_inertia, now.spin);
    cni_lane_put_twist(gain, lane, now);
  }
}

void cni_tree_loops_solve(CniTree *t, int move) {
  CniTreeLoops *loops = &t->loops;
  double *x = loops->x;
  int32_t lane;
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeLinks *l = cni_tree_link(t, i, &lane);
    if (t->nodes[i].joint < 0) continue;
    CnTwist asked = cni_lane_twist(&l->asked, lane);
    x[0] = asked.velocity.x;
    x[1] = asked.velocity.y;
    x[2] = asked.velocity.z;
    if (t->nodes[i].hinge) {
      x[3] = cn_dot(cni_lane_vec(&l->line_x, lane), asked.spin);
      x[4] = cn_dot(cni_lane_vec(&l->line_y, lane), asked.spin);
    }
    x += t->nodes[i].hinge ? HINGE_ROWS : POINT_ROWS;
  }
  cni_direct_solve_once(loops->direct, loops->x, loops->x);
  x = loops->x;
  for (int32_t i = 0; i < t->link_count; i++) {
    CniTreeLinks *l = cni_tree_link(t, i, &lane);
    if (t->nodes[i].joint < 0) continue;
    CnTwist answer = {{x[0], x[1], x[2]}, CN_VEC3_ZERO};
    if (t->nodes[i].hinge)
      answer.spin = cn_madd(cn_scale(x[3], cni_lane_vec(&l->line_x, lane)), x[4],
                            cni_lane_vec(&l->line_y, lane));
    cni_lane_put_twist(&l->answer, lane, answer);
    x += t->nodes[i].hinge ? HINGE_ROWS : POINT_ROWS;
  }
  if (move) move_all(t);
}
