// SPDX-License-Identifier: Apache-2.0
// Which machines are trees: rigid hinges and ball joints on which nothing else acts, every body with mass
// at a joint; and which of their joints close loops. Found once for a machine, and again where its joints
// or the kinds of its bodies change.
#include "assembly/tree/tree_private.h"

#include "core/error.h"

#include <string.h>

#define HINGE 1
#define POINT 2

// What acts on a hinge besides; below 0: more than the tree can do.
static int acts_of(const CnJointDef *def) {
  int32_t blocks, rows, limits;
  if (cni_joint_is_plain(def)) return 0;
  if (def->kind != CN_JOINT_REVOLUTE) return -1;
  cni_joint_count(def, &blocks, &rows);
  limits = (def->axes[0].lower > -INFINITY) + (def->axes[0].upper < INFINITY);
  if (blocks > 1 + limits) return -1;
  return (limits > 0 ? CNI_TREE_LIMITED : 0) |
         (def->axes[0].drive == CN_DRIVE_EFFORT ? CNI_TREE_DRIVEN : 0);
}

// What a joint is to the tree; 0: nothing that it can do. What acts on it to *acts.
static int kind_of(const CniJoint *joint, int *acts) {
  const CnJointDef *def = &joint->def;
  *acts = 0;
  if (def->one_sided || def->stiffness > 0 || def->damping > 0) return 0;
  if (def->kind != CN_JOINT_REVOLUTE && def->kind != CN_JOINT_BALL) return 0;
  *acts = acts_of(def);
  if (*acts < 0) return 0;
  return def->kind == CN_JOINT_REVOLUTE ? HINGE : POINT;
}

static CniTreeCopy copy_of(const CniJoint *j) {
  int acts, kind = kind_of(j, &acts);
  return (CniTreeCopy){.body_a = j->body_a,
                       .body_b = j->body_b,
                       .kind = kind == 0 ? -1 : (int32_t)j->def.kind,
                       .acts = acts < 0 ? 0 : acts,
                       .next_a = j->next_a,
                       .next_b = j->next_b,
                       .local_a = j->local_a,
                       .local_b = j->local_b};
}

static CniTreeRole role_of(const CniModel *model, int32_t i) {
  const CniBody *b = &model->bodies[i];
  return (CniTreeRole){(int32_t)b->kind, cni_has_mass(&model->mass[i]), b->first_joint};
}

static int same_pose(const CnPose *a, const CnPose *b) { return memcmp(a, b, sizeof *a) == 0; }

static int is_same(CniTree *t, const CniModel *model) {
  if (t->valid && t->edits == model->edits) return 1;
  t->edits = model->edits;
  if (!t->valid || t->joint_count != model->joint_count || t->body_count != model->body_count)
    return 0;
  for (int32_t i = 0; i < t->joint_count; i++) {
    const CniJoint *j = &model->joints[i];
    const CniTreeCopy *c = &t->copies[i];
    int acts, kind = kind_of(j, &acts) == 0 ? -1 : (int)j->def.kind;
    if (c->body_a != j->body_a || c->body_b != j->body_b || c->kind != kind ||
        c->next_a != j->next_a || c->next_b != j->next_b || (kind >= 0 && c->acts != acts) ||
        !same_pose(&c->local_a, &j->local_a) || !same_pose(&c->local_b, &j->local_b))
      return 0;
  }
  for (int32_t i = 0; i < t->body_count; i++) {
    CniTreeRole now = role_of(model, i);
    if (memcmp(&now, &t->roles[i], sizeof now) != 0) return 0;
  }
  return 1;
}

static int has_mass(const CniModel *model, int32_t body) {
  return body >= 0 && cni_has_mass(&model->mass[body]);
}

// The link of a body at a joint, joint: -1: none.
static CniTreeNode link_of(const CniModel *model, const int32_t *node_of, int32_t body,
                           int32_t joint, CniTreeFrame *frame) {
  CniTreeNode node = {
      .body = body, .joint = joint, .own = node_of[body], .parent = -1, .base = -1, .sign = 1};
  *frame = (CniTreeFrame){.reach = 0};
  if (joint < 0) return node;
  const CniJoint *j = &model->joints[joint];
  int is_b = j->body_b == body, acts;
  int32_t other = is_b ? j->body_a : j->body_b;
  CnMat3 a = cn_qmat(j->local_a.rotation), b = cn_qmat(j->local_b.rotation);
  node.sign = is_b ? 1 : -1;
  node.hinge = kind_of(j, &acts) == HINGE;
  node.acts = acts & (CNI_TREE_LIMITED | CNI_TREE_DRIVEN);
  if (has_mass(model, other))
    node.parent = node_of[other];
  else
    node.base = other;
  frame->arm = is_b ? j->local_b.position : j->local_a.position;
  frame->parent_arm = is_b ? j->local_a.position : j->local_b.position;
  frame->x = a.x;
  frame->y = a.y;
  frame->z = b.z;
  frame->reach = cn_norm(frame->arm);
  frame->parent_reach = other >= 0 ? cn_norm(frame->parent_arm) : 0;
  return node;
}

// While a machine is looked at: nodes of bodies, and joints that lead to nodes.
typedef struct Growth {
  int32_t *node_of;
  uint8_t *used;
} Growth;

static void add_node(CniTree *t, const CniModel *model, Growth *g, int32_t body, int32_t joint) {
  g->node_of[body] = t->node_count;
  if (joint >= 0) g->used[joint] = 1;
  t->nodes[t->node_count] = link_of(model, g->node_of, body, joint, &t->frames[t->node_count]);
  t->node_count++;
}

// Bodies behind those of the nodes from `first` on.
static void follow(CniTree *t, const CniModel *model, Growth *g, int32_t first) {
  for (int32_t i = first; i < t->node_count; i++) {
    int32_t body = t->nodes[i].body;
    for (int32_t k = model->bodies[body].first_joint; k >= 0;) {
      const CniJoint *j = &model->joints[k];
      int32_t joint = k, other = j->body_a == body ? j->body_b : j->body_a;
      k = j->body_a == body ? j->next_a : j->next_b;
      if (has_mass(model, other) && g->node_of[other] < 0) add_node(t, model, g, other, joint);
    }
  }
}

// Trees that stand on the ground first, side by side so that ways to it are short, then those that are
// free, then what closes loops. 0: the machine
// is none of this kind.
static int grow(CniTree *t, const CniModel *model, Growth *g) {
  for (int32_t i = 0; i < model->body_count; i++) {
    g->node_of[i] = -1;
    if (model->bodies[i].kind == CN_BODY_KINEMATIC) return 0;
  }
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *j = &model->joints[i];
    int a = has_mass(model, j->body_a), b = has_mass(model, j->body_b);
    if (t->copies[i].kind < 0 || (!a && !b) || j->body_a == j->body_b) return 0;
    int32_t body = a ? j->body_a : j->body_b, base = a ? j->body_b : j->body_a;
    if (a && b) continue;
    if (base >= 0 && model->bodies[base].kind != CN_BODY_FIXED) return 0;
    if (g->node_of[body] < 0) add_node(t, model, g, body, i);
  }
  follow(t, model, g, 0);
  for (int32_t i = 0; i < model->body_count; i++) {
    int32_t first = t->node_count;
    if (!has_mass(model, i) || g->node_of[i] >= 0) continue;
    if (model->bodies[i].first_joint < 0) return 0;
    add_node(t, model, g, i, -1);
    follow(t, model, g, first);
  }
  for (int32_t i = 0; i < t->node_count; i++) { // nodes that hang at one stand together
    CniTreeNode *node = &t->nodes[i], *parent = node->parent >= 0 ? &t->nodes[node->parent] : NULL;
    node->root = parent ? parent->root : i;
    if (!parent) t->last_root = i;
    node->last = i;
    node->is_leaf = node->is_last = 1;
    t->floating |= node->joint < 0;
    if (!parent) continue;
    if (!parent->is_leaf) t->nodes[parent->last].is_last = 0;
    parent->is_leaf = 0;
    parent->last = i;
  }
  for (int32_t i = 1; i < t->node_count; i++)
    if (t->nodes[i].last < t->nodes[i - 1].last) t->nodes[i].last = t->nodes[i - 1].last;
  t->link_count = t->node_count;
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *j = &model->joints[i];
    int32_t body = has_mass(model, j->body_b) ? j->body_b : j->body_a;
    t->acts |= t->copies[i].acts;
    if (g->used[i]) continue;
    t->nodes[t->link_count] = link_of(model, g->node_of, body, i, &t->frames[t->link_count]);
    t->link_count++;
  }
  return t->node_count > 0;
}

// ---- lanes ----

static int32_t eights(int32_t count) { return (count + CNI_TREE_LANES - 1) / CNI_TREE_LANES; }

static int32_t number_of(int32_t lane) {
  return lane / CNI_TREE_LANES * CNI_TREE_BODY_NUMBERS + lane % CNI_TREE_LANES;
}

static void set_link(CniTreeLinks *l, int32_t lane, const CniTreeNode *node,
                     const CniTreeFrame *frame, int32_t own, int32_t other) {
  cni_lane_put(&l->arm_own, lane, frame->arm);
  cni_lane_put(&l->parent_arm_own, lane, frame->parent_arm);
  cni_lane_put(&l->x_own, lane, frame->x);
  cni_lane_put(&l->y_own, lane, frame->y);
  cni_lane_put(&l->z_own, lane, frame->z);
  l->sign[lane] = node->sign;
  l->hinge[lane] = node->hinge;
  l->joined[lane] = node->joint >= 0;
  l->reach[lane] = frame->reach;
  l->parent_reach[lane] = frame->parent_reach;
  l->own[lane] = number_of(own);
  l->other[lane] = number_of(other);
}

// Bodies and links as lanes; `stay` is as long as there are bodies. 0: there are too many to be numbered.
static CnStatus take_lanes(CniTree *t, int32_t *stay) {
  CniArena *arena = &t->arena;
  int32_t loops = t->link_count - t->node_count;
  t->node_eights = eights(t->node_count);
  t->link_eights = t->node_eights + eights(loops);
  t->loop_gap = CNI_TREE_LANES * t->node_eights - t->node_count;
  t->stay_count = 1;
  t->stays[0] = -1;
  for (int32_t i = 0; i < t->body_count; i++) stay[i] = 0;
  for (int32_t i = 0; i < t->link_count; i++) {
    int32_t base = t->nodes[i].base;
    if (base < 0 || stay[base] > 0) continue;
    t->stays[t->stay_count] = base;
    stay[base] = t->stay_count++;
  }
  int32_t all = t->node_eights + eights(t->stay_count);
  if (all > INT32_MAX / CNI_TREE_BODY_NUMBERS) {
    t->is_tree = t->node_count = t->link_count = 0;
    return CN_OK;
  }
  CNI_TRY(CNI_TAKE(arena, all, t->bodies));
  CNI_TRY(CNI_TAKE(arena, t->link_eights, t->links));
  memset(t->bodies, 0, (size_t)all * sizeof *t->bodies);
  memset(t->links, 0, (size_t)t->link_eights * sizeof *t->links);
  CniTreeNode nobody = {.joint = -1, .sign = 1};
  CniTreeFrame nowhere = {.reach = 0};
  int32_t ground = CNI_TREE_LANES * t->node_eights;
  for (int32_t i = 0; i < CNI_TREE_LANES * all; i++) {
    CniTreeBodies *b = &t->bodies[i / CNI_TREE_LANES];
    int32_t lane = i % CNI_TREE_LANES;
    if (i < ground) b->mass[lane] = 1;
    if (i < ground) cni_lane_put(&b->inertia, lane, cn_vec3(1, 1, 1));
    cni_lane_put_quat(&b->rotation, lane, CN_QUAT_ONE);
  }
  for (int32_t i = 0; i < CNI_TREE_LANES * t->link_eights; i++)
    set_link(&t->links[i / CNI_TREE_LANES], i % CNI_TREE_LANES, &nobody, &nowhere,
             i < ground ? i : ground, ground);
  for (int32_t i = 0; i < t->link_count; i++) {
    const CniTreeNode *node = &t->nodes[i];
    int32_t lane, other = ground + (node->base >= 0 ? stay[node->base] : 0);
    CniTreeLinks *l = cni_tree_link(t, i, &lane);
    set_link(l, lane, node, &t->frames[i], node->own, node->parent >= 0 ? node->parent : other);
    if (i < t->node_count)
      t->bodies[i / CNI_TREE_LANES].alone[i % CNI_TREE_LANES] =
          node->parent < 0 && node->joint >= 0 && node->is_leaf;
    else // what closes a loop
      for (int32_t side = 0; side < 2; side++) {
        int32_t at = side ? node->parent : node->own;
        if (at >= 0) t->bodies[at / CNI_TREE_LANES].alone[at % CNI_TREE_LANES] = 0;
      }
  }
  return CN_OK;
}

CnStatus cni_tree_shape(CniTree *t, const CniModel *model) {
  if (is_same(t, model)) return CN_OK;
  int32_t n = model->body_count, links = n + model->joint_count;
  Growth g;
  CniArena *arena = &t->arena;
  t->valid = t->is_tree = t->node_count = t->link_count = t->kicked = t->acts = 0;
  t->floating = t->stiff = 0;
  CNI_TRY(cni_arena_reset(arena));
  CNI_TRY(CNI_TAKE(arena, model->joint_count, t->copies));
  CNI_TRY(CNI_TAKE(arena, n, t->roles));
  CNI_TRY(CNI_TAKE(arena, n, g.node_of));
  CNI_TRY(cni_arena_array(arena, model->joint_count, sizeof *g.used, &g.used));
  CNI_TRY(CNI_TAKE(arena, links, t->nodes));
  CNI_TRY(CNI_TAKE(arena, links, t->frames));
  t->joint_count = model->joint_count;
  t->body_count = n;
  for (int32_t i = 0; i < t->joint_count; i++) t->copies[i] = copy_of(&model->joints[i]);
  for (int32_t i = 0; i < n; i++) t->roles[i] = role_of(model, i);
  t->is_tree = grow(t, model, &g);
  if (!t->is_tree) t->node_count = t->link_count = 0;
  CNI_TRY(CNI_TAKE(arena, n + 1, t->stays));
  CNI_TRY(take_lanes(t, g.node_of));
  CNI_TRY(CNI_TAKE(arena, t->node_count, t->factors));
  CNI_TRY(CNI_TAKE(arena, t->node_count, t->balls));
  CNI_TRY(cni_arena_array(arena, n, sizeof *t->floats, &t->floats));
  CNI_TRY(CNI_TAKE(arena, n, t->pose));
  CNI_TRY(CNI_TAKE(arena, n, t->twist));
  CNI_TRY(CNI_TAKE(arena, n, t->moved));
  CNI_TRY(CNI_TAKE(arena, n, t->end));
  if (t->link_count > t->node_count) {
    CNI_TRY(cni_tree_loops_shape(t));
    if (t->is_tree) CNI_TRY(cni_tree_closure_shape(t));
  }
  t->valid = 1;
  return CN_OK;
}
