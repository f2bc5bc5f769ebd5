// SPDX-License-Identifier: Apache-2.0
// The drift of machines of hinges and balls after a kick of the step problem: what drift_joints.c does for any
// joints, with the factor of the tree (tree_drift.inc). Turns that motors, friction or limits hold are
// welds of that factor, whose couples about the axes are what holding takes. Where that is more than
// there is, where a limit would be passed, where joints are apart or what closes a loop is held, it is
// left to the others.
#include "assembly/tree/tree_private.h"

#include "core/math.h"

#include <string.h>

#define APART 1e-9   // rad: an error that goes away after the drift
#define PASSED 1e-12 // rad: a limit
#define SMALL 0.01   // of an angle: its tangent as a series is exact

// ---- turns that are held ----

static CnQuat rotation_at(const CniTree *t, int32_t number, int at_end) {
  const CniTreeQuat *q = at_end ? &t->bodies->rotation_new : &t->bodies->rotation;
  return (CnQuat){q->w[number], q->x[number], q->y[number], q->z[number]};
}

// From frame a to frame b, in the axes of a.
static CnQuat turn_of(const CniTree *t, const CniJoint *joint, int32_t link, int at_end) {
  int32_t lane;
  const CniTreeLinks *l = cni_tree_link(t, link, &lane);
  CnQuat own = rotation_at(t, l->own[lane], at_end), other = rotation_at(t, l->other[lane], at_end);
  CnQuat a = l->sign[lane] > 0 ? other : own, b = l->sign[lane] > 0 ? own : other;
  a = cn_qmul(a, joint->local_a.rotation);
  b = cn_qmul(b, joint->local_b.rotation);
  return cn_qmul(cn_qconj(a), b);
}

// Angles whose speed is kept go as far as their bodies turn with it: 2 atan(k w/2) (drift_links.c).
static double target_of(const CniTree *t, const CniTreeInput *in, const CniTreeHold *h) {
  const CniHold *hold = &h->hold;
  double target = hold->side ? hold->target : hold->target - in->stabilisation * hold->passed;
  if (hold->rate == 0) return target;
  int32_t lane;
  const CniTreeLinks *l = cni_tree_link(t, h->link, &lane);
  int own_is_b = l->sign[lane] > 0, parent = t->nodes[h->link].parent;
  int32_t a = own_is_b ? l->other[lane] : l->own[lane],
          b = own_is_b ? l->own[lane] : l->other[lane];
  int a_moves = !own_is_b || parent >= 0, b_moves = own_is_b || parent >= 0;
  const double *turn = t->bodies->turn;
  double k = turn[b_moves ? b : a], w = 0;
  if (a_moves) {
    const CniTreeVec *spin = &t->bodies->twist.spin;
    w = cn_dot(cni_tree_axis(t, h->link), cn_vec3(spin->x[a], spin->y[a], spin->z[a]));
  }
  return target + 2 * (cni_atan2(0.5 * k * (w + hold->rate), 1) - cni_atan2(0.5 * k * w, 1));
}

double cni_tree_hold_look(CniTree *t, const CniTreeInput *in, CniTreeHold *h, int first) {
  const CniJoint *joint = &in->model->joints[t->nodes[h->link].joint];
  if (first) {
    h->target = target_of(t, in, h);
    h->sine = cni_sin(0.5 * h->target);
    h->cosine = cni_cos(0.5 * h->target);
  }
  CnQuat q = turn_of(t, joint, h->link, 1);
  double s = q.z * h->cosine - q.w * h->sine, c = q.w * h->cosine + q.z * h->sine;
  if (c < 0) {
    s = -s;
    c = -c;
  }
  double x = s / c, xx = x * x;
  if (!(fabs(x) < SMALL)) return 2 * cni_atan2(s, c);
  return 2 * x * (1 - xx * (1.0 / 3 - xx * (1.0 / 5 - xx * (1.0 / 7))));
}

// What holds the turns; 0: more than the tree can do.
static int list_holds(CniTree *t, const CniDriftInput *in) {
  t->hold_count = 0;
  for (int32_t i = 0; i < t->link_count; i++) {
    CniTreeNode *node = &t->nodes[i];
    int32_t lane;
    CniTreeLinks *l = cni_tree_link(t, i, &lane);
    if (!(node->acts & CNI_TREE_HOLDS)) continue;
    node->acts &= ~CNI_TREE_HELD;
    l->held[lane] = 0;
    CniJointPlace own;
    CniHold holds[CN_JOINT_AXES];
    const CniJoint *joint = &in->model->joints[node->joint];
    const CniJointPlace *place = cni_joint_seen(in->model, in->places, joint, in->pose, &own);
    if (cni_joint_holds(in, node->joint, place, holds) != 1) return 0;
    if (!(fabs(holds[0].passed) <= APART) || (!holds[0].active && holds[0].impulse != 0)) return 0;
    if (!holds[0].active && holds[0].side == 0) continue;
    t->holds[t->hold_count++] = (CniTreeHold){.link = i, .hold = holds[0]};
    if (!holds[0].active) continue;
    if (i >= t->node_count) return 0;
    node->acts |= CNI_TREE_HELD;
    l->held[lane] = 1;
  }
  return 1;
}

// Can all that holds give what it takes, and is no limit passed?
static int holds_are_right(CniTree *t, const CniTreeInput *in) {
  for (int32_t i = 0; i < t->hold_count; i++) {
    CniTreeHold *h = &t->holds[i];
    const CniTreeNode *node = &t->nodes[h->link];
    int32_t lane;
    const CniTreeLinks *l = cni_tree_link(t, h->link, &lane);
    if (h->hold.active) {
      CnVec3 couple = cni_lane_vec(&l->wrench.spin, lane), x = cni_lane_vec(&l->line_x, lane);
      CnVec3 n = cn_cross(x, cni_lane_vec(&l->line_y, lane));
      h->impulse = node->sign * cn_dot(couple, n) / cn_norm(n);
      if (!(h->impulse >= h->hold.lo && h->impulse <= h->hold.hi)) return 0;
      continue;
    }
    CnQuat q = turn_of(t, &in->model->joints[node->joint], h->link, 1);
    double sign = q.w < 0 ? -1 : 1, turn = 2 * cni_atan2(sign * q.z, sign * q.w);
    double left = cni_joint_nearest(turn, h->hold.near) - h->hold.target;
    if (h->hold.side * left < -PASSED) return 0;
  }
  return 1;
}

// ---- the result ----

static void give_states(const CniTree *t, const CniDriftInput *in) {
  for (int32_t i = 0; i < t->node_count; i++) {
    int32_t body = t->nodes[i].body, lane = i % CNI_TREE_LANES;
    const CniTreeBodies *b = &t->bodies[i / CNI_TREE_LANES];
    in->pose_new[body] =
        (CnPose){cni_lane_vec(&b->position_new, lane), cni_lane_quat(&b->rotation_new, lane)};
    in->end[body] = cni_lane_twist(&b->end, lane);
  }
}

static void give_wrenches(const CniTree *t, const CniDriftInput *in, CniDriftEffort *efforts) {
  int32_t count = 0;
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    int32_t lane;
    const CniTreeLinks *l = cni_tree_link(t, i, &lane);
    if (node->joint < 0) continue;
    CnTwist p = cni_lane_twist(&l->wrench, lane);
    in->reactions[node->joint] =
        (CnTwist){cn_scale(node->sign, p.velocity), cn_scale(node->sign, p.spin)};
  }
  for (int32_t i = 0; i < t->hold_count; i++) {
    const CniTreeHold *h = &t->holds[i];
    if (!h->hold.active || h->impulse == 0) continue;
    efforts[count++] =
        (CniDriftEffort){t->nodes[h->link].joint, -1, h->hold.axis, h->hold.part, h->impulse};
  }
  *in->efforts = efforts;
  *in->effort_count = count;
}

CnStatus cni_tree_drift(CniTree **tree, const CnAllocator *allocator, const CniDriftInput *in,
                        int32_t *taken) {
  CniDriftEffort *efforts;
  *taken = 0;
  if (in->terms || in->model->coupling_count > 0) return CN_OK;
  if (!*tree) CNI_TRY(cni_tree_create(allocator, 1, tree));
  CniTree *t = *tree;
  CNI_TRY(cni_tree_shape(t, in->model));
  if (!t->is_tree || (t->link_count > t->node_count && !t->loops.closure.used)) return CN_OK;
  CniTreeInput own = {.model = in->model,
                      .pose = in->pose,
                      .twist = in->twist,
                      .gravity = in->gravity,
                      .time_step = in->time_step,
                      .stabilisation = in->stabilisation};
  if (!(t->kernels->place(t, &own, 0, 0, NULL) <= 1) || !list_holds(t, in)) return CN_OK;
  CNI_TRY(CNI_TAKE(in->arena, t->hold_count, efforts));
  if (!t->kernels->drift(t, &own, 0) || !holds_are_right(t, &own)) return CN_OK;
  give_states(t, in);
  give_wrenches(t, in, efforts);
  *taken = 1;
  return CN_OK;
}
