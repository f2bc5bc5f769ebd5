// SPDX-License-Identifier: Apache-2.0
// A step of a machine of hinges and ball joints: kick and drift (drift_joints.c tells what
// they are; every other step the drift comes first, where that is stable), all bodies in the order
// of the tree, without a step problem. What the tree cannot do, or cannot do well (joints that are apart,
// forces whose stiffness the step does not resolve, a motion that is not found), it does not take.
#include "assembly/tree/tree_private.h"

#include "core/error.h"

#include <string.h>

#define NEAR_LIMIT 1e-3 // rad
#define ANGLES 16       // steps after which the turns of a joint are counted anew
#define BENDS 1e-5      // square of a spin that is another, over that of the root
#define SLOW_TURN 1e-6  // rad in a step: it makes no difference

// ---- the step ----

// Does stiffness brake a machine that nothing holds? It gets back what that takes (whole_turn.c), which is
// none of the tree's.
static int brakes_floating(const CniTree *t) {
  int any = 0;
  if (!t->floating) return 0;
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    const CniTreeBodies *b = &t->bodies[i / CNI_TREE_LANES];
    t->floats[i] = (uint8_t)(node->parent >= 0 ? t->floats[node->parent] : node->joint < 0);
    any |= t->floats[i] && b->stiff[i % CNI_TREE_LANES] > 0;
  }
  return any;
}

// Rate of a hinge by the twists of the bodies.
static double rate_of(const CniTree *t, int32_t i, const CnTwist *twist) {
  const CniTreeNode *node = &t->nodes[i];
  CnVec3 w = twist[node->body].spin;
  if (node->parent >= 0) w = cn_sub(w, twist[t->nodes[node->parent].body].spin);
  return node->sign * cn_dot(w, cni_tree_axis(t, i));
}

// Are all hinges within their limits, and stay there with the speeds of the step?
static int limits_rest(const CniTree *t, const CniTreeInput *in) {
  CniTreeStep last = cni_tree_last(t);
  const CnTwist *twists[] = {last.twist, last.moved, last.end};
  for (int32_t i = 0; i < t->link_count; i++) {
    if (t->nodes[i].joint < 0 || !(t->nodes[i].acts & CNI_TREE_LIMITED)) continue;
    const CniJoint *joint = &in->model->joints[t->nodes[i].joint];
    const CnJointAxis *axis = &joint->def.axes[0];
    for (int32_t k = 0; k < 3; k++) {
      double way = in->time_step * rate_of(t, i, twists[k]), x = joint->near[0] + way;
      double margin = NEAR_LIMIT + fabs(way);
      if (!(x - axis->lower > margin && axis->upper - x > margin)) return 0;
    }
  }
  return 1;
}

// Does the spin of a node differ from that of its root?
static int differs(const CniModel *model, const CniTreeNode *node, const CniTreeNode *root) {
  CnVec3 own = model->twist[node->body].spin, all = model->twist[root->body].spin;
  return cn_norm2(cn_sub(own, all)) > BENDS * cn_norm2(all);
}

#define MAY 1  // a root that turns, and nothing that hangs there turns otherwise;
#define ARMS 2 // joints there are away from centres of mass

// A joint between two nodes, or of one: what differs in spin does not turn as a whole.
static void look_at(const CniTree *t, const CniModel *model, int32_t link, int32_t *may) {
  const CniTreeNode *nodes = t->nodes, *node = &nodes[link], *own = &nodes[node->own];
  const CniTreeFrame *frame = &t->frames[link];
  int32_t parent = node->parent, roots[2] = {own->root, parent >= 0 ? nodes[parent].root : -1};
  if (!(frame->reach > 0 || frame->parent_reach > 0)) return;
  for (int32_t k = 0; k < 2; k++) {
    if (roots[k] < 0 || !(t->floats[roots[k]] & MAY)) continue;
    const CniTreeNode *root = &nodes[roots[k]];
    t->floats[roots[k]] |= ARMS;
    if (!(frame->reach > 0 && differs(model, own, root)) &&
        !(parent >= 0 && frame->parent_reach > 0 && differs(model, &nodes[parent], root)))
      continue;
    t->floats[roots[k]] = 0;
    --*may;
  }
}

// What is tied by a loop to what turns otherwise is part of it.
static int spreads(const CniTree *t, int32_t *may) {
  int changed = 0;
  for (int32_t i = t->node_count; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    if (node->parent < 0) continue;
    uint8_t *a = &t->floats[t->nodes[node->own].root], *b = &t->floats[t->nodes[node->parent].root];
    if ((*a > 0) == (*b > 0)) continue;
    *a = *b = 0;
    --*may;
    changed = 1;
  }
  return changed;
}

// Do several bodies that hang together turn as a whole? That goes by the drift of any machine, which has a pace for
// it (drift/pace.c). Bodies that joints hold at their centres turn for themselves.
static int turns_as_one(const CniTree *t, const CniTreeInput *in) {
  const CniModel *model = in->model;
  double slow = SLOW_TURN / in->time_step;
  int32_t may = 0, any = 0;
  for (int32_t i = 0; i < t->link_count && (may > 0 || i <= t->last_root); i++) {
    const CniTreeNode *node = &t->nodes[i];
    if (i < t->node_count && node->root == i) {
      int alone = t->bodies[i / CNI_TREE_LANES].alone[i % CNI_TREE_LANES] > 0;
      t->floats[i] = !alone && cn_norm2(model->twist[node->body].spin) > slow * slow ? MAY : 0;
      may += t->floats[i];
    }
    look_at(t, model, i, &may);
  }
  while (may > 0 && spreads(t, &may)) continue;
  for (int32_t i = 0; may > 0 && !any && i < t->node_count; i++)
    any = t->nodes[i].root == i && t->floats[i] == (MAY | ARMS);
  return any;
}

static int make(CniTree *t, const CniTreeInput *in, CniTreeStep *step) {
  const CniTreeKernels *kernels = t->kernels;
  int limited = t->acts & CNI_TREE_LIMITED, wanted = in->drift_first && !limited ? 2 : 1;
  int alone = !in->model->load && !(t->acts & CNI_TREE_DRIVEN); // gravity and joints
  // where the last step was stiff this one will be
  int and_load = t->stiff && in->geometric_stiffness ? CNI_TREE_STIFFENS : wanted == 1;
  if (!(kernels->place(t, in, 0, alone ? and_load : 0, step) <= 1)) return 0;
  int longest = cni_tree_stiffen(t, in, wanted);
  if (t->stiff && brakes_floating(t)) return 0;
  if (longest == 2) {
    if (!kernels->drift(t, in, 0)) return 0;
    kernels->place(t, in, 1, alone, NULL);
    if (!kernels->kick(t, in, 0, &step->certificate)) return 0;
  } else {
    if (!kernels->kick(t, in, 1, &step->certificate)) return 0;
    if (!kernels->drift(t, in, 1)) return 0;
  }
  t->kicked_last = longest == 2;
  return !limited || limits_rest(t, in);
}

CnStatus cni_tree_step(CniTree **tree, const CnAllocator *allocator, const CniTreeInput *in,
                       CniTreeStep *step) {
  const CniModel *model = in->model;
  *step = (CniTreeStep){.taken = 0};
  CniTree *t = *tree;
  if (!t) {
    CNI_TRY(cni_new(allocator, sizeof *t, &t));
    t->allocator = *allocator;
    cni_arena_init(&t->arena, allocator);
    t->kernels = cni_tree_kernels(cni_simd_level());
    *tree = t;
  }
  CNI_TRY(cni_tree_shape(t, model));
  if (!t->is_tree || turns_as_one(t, in)) return CN_OK;
  for (int32_t i = 0; t->node_count < t->body_count && i < t->body_count; i++) {
    if (t->roles[i].has_mass) continue;
    t->pose[i] = model->pose[i];
    t->twist[i] = t->moved[i] = t->end[i] = model->twist[i];
  }
  if (!make(t, in, step)) return CN_OK;
  step->taken = 1;
  return CN_OK;
}

CniTreeStep cni_tree_last(const CniTree *t) {
  for (int32_t i = 0; i < t->node_count; i++) {
    int32_t body = t->nodes[i].body, lane = i % CNI_TREE_LANES;
    const CniTreeBodies *b = &t->bodies[i / CNI_TREE_LANES];
    t->pose[body] = (CnPose){cni_lane_vec(&b->position, lane), cni_lane_quat(&b->rotation, lane)};
    t->twist[body] = cni_lane_twist(&b->twist, lane);
    t->moved[body] = cni_lane_twist(&b->moved, lane);
    t->end[body] = cni_lane_twist(t->kicked_last ? &b->moved : &b->end, lane);
  }
  return (CniTreeStep){.taken = 1,
                       .pose = t->pose,
                       .twist = t->twist,
                       .moved = t->moved,
                       .end = t->end,
                       .worst = -1};
}

void cni_tree_destroy(CniTree *t) {
  if (!t) return;
  CnAllocator allocator = t->allocator;
  cni_direct_destroy(t->loops.direct);
  cni_direct_destroy(t->loops.closure.direct);
  cni_arena_release(&t->arena);
  cni_release(&allocator, t, sizeof *t);
}

// ---- what joints keep ----

// Turns of a hinge are counted along its rate, and from time to time by where it is.
static void follow(const CniTree *t, const CniTreeInput *in, int32_t i, CniModel *model) {
  const CniTreeNode *node = &t->nodes[i];
  CniJoint *joint = &model->joints[node->joint];
  if (!node->hinge) return;
  joint->near[0] += in->time_step * rate_of(t, i, model->twist);
  if ((in->step + node->joint) % ANGLES != 0) return;
  CniJointSight sight;
  cni_joint_sight_at(joint, model->pose, &sight);
  joint->near[0] = cni_joint_nearest(cni_joint_twist(&sight).value, joint->near[0]);
}

static void keep(const CniTree *t, const CniTreeInput *in, int32_t i, CniModel *model) {
  const CniTreeNode *node = &t->nodes[i];
  int32_t lane;
  const CniTreeLinks *l = cni_tree_link(t, i, &lane);
  CniJoint *joint = &model->joints[node->joint];
  CnTwist impulse = cni_lane_twist(&l->impulse, lane), wrench = cni_lane_twist(&l->wrench, lane);
  CnVec3 f = cn_scale(node->sign, impulse.velocity), c = cn_scale(node->sign, impulse.spin);
  // a hinge's rows are along the axes of a, a ball's along those of the world
  CnVec3 x = cni_lane_vec(&l->x, lane), y = cni_lane_vec(&l->y, lane);
  CnVec3 own = f, z = cn_cross(x, y);
  if (node->hinge) own = cn_vec3(cn_dot(f, x), cn_dot(f, y), cn_dot(f, z));
  double effort = cni_tree_effort(node, in); // nothing else acts along its coordinate
  if (node->hinge) {
    double *kick = joint->impulse.axes[0], *after = joint->drift[0];
    for (int32_t k = 0; k < CNI_PART_COUNT; k++) { // most of them are 0 already
      if (kick[k] != 0) kick[k] = 0;
      if (after[k] != 0) after[k] = 0;
    }
    if (effort != 0) kick[CNI_PART_MOTOR] = effort;
  }
  joint->impulse.locked[5] = 0;
  memcpy(joint->impulse.locked, &own, sizeof own);
  joint->impulse.locked[3] = node->hinge ? cn_dot(c, x) : 0;
  joint->impulse.locked[4] = node->hinge ? cn_dot(c, y) : 0;
  joint->impulse_step = in->time_step;
  joint->carried = cn_scale(node->sign, wrench.velocity);
  joint->total = (CnTwist){cn_add(f, joint->carried), cn_madd(c, node->sign, wrench.spin)};
  if (effort != 0) joint->total.spin = cn_madd(joint->total.spin, effort, z);
}

#define SOON 8    // nodes
#define MANY 4096 // fewer are in the cache

// What is written soon: a joint's record is some lines here and there.
static inline void fetch(const CniTree *t, int32_t i, const CniModel *model) {
  int32_t body = t->nodes[i].body, joint = t->nodes[i].joint;
  cni_tree_fetch(&model->pose[body], sizeof *model->pose);
  cni_tree_fetch(&model->twist[body], sizeof *model->twist);
  if (joint < 0) return;
  const CniJoint *j = &model->joints[joint];
  cni_tree_fetch(&j->impulse_step,
                 (size_t)((const char *)&j->impulse.axes[1] - (const char *)&j->impulse_step));
  cni_tree_fetch(j->drift, sizeof j->drift[0]);
}

void cni_tree_commit(const CniTree *t, const CniTreeInput *in, CniModel *model) {
  for (int32_t i = 0; i < t->link_count; i++) {
    if (t->node_count > MANY && i + SOON < t->node_count) fetch(t, i + SOON, model);
    if (i < t->node_count) {
      int32_t body = t->nodes[i].body, lane = i % CNI_TREE_LANES;
      const CniTreeBodies *b = &t->bodies[i / CNI_TREE_LANES];
      model->pose[body] =
          (CnPose){cni_lane_vec(&b->position_new, lane), cni_lane_quat(&b->rotation_new, lane)};
      model->twist[body] = cni_lane_twist(t->kicked_last ? &b->moved : &b->end, lane);
    }
    if (t->nodes[i].joint < 0) continue;
    keep(t, in, i, model); // parents were before
    follow(t, in, i, model);
  }
  // loads are of one step
  if (model->load) memset(model->load, 0, (size_t)model->body_count * sizeof *model->load);
}
