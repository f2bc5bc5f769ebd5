// SPDX-License-Identifier: Apache-2.0
// The structure of a machine whose drift goes along its tree (along.h): which joints lead to bodies, which close
// loops, which loops see the same coordinates.
#include "assembly/drift/along.h"

#include "core/error.h"

#define GROUP_WORK 1000 // multiplications of loops a link

// While a machine is looked at; ends of links and sides are those of bodies numbered as they come, the ground last.
typedef struct Growth {
  const CniDrift *d;
  const int32_t *links; // of the island
  int32_t link_count, body_count, coordinate_count;
  int32_t *number; // per body of the drift, from 1 on; 0: not met
  int32_t *body;   // and back
  int32_t *ends;   // two a link
  int32_t *up;     // who is tied to whom
  uint8_t *leads;  // per link: it leads to a body
  int32_t *first;  // sides at a body, 2 link + side,
  int32_t *next;   // and the one after it, -1: none
  int32_t *node;   // per body
} Growth;

static const CniDriftLink *link_at(const Growth *g, int32_t i) { return &g->d->links[g->links[i]]; }

static int is_held(const CniDrift *d, const CniDriftLink *link) {
  return link->locked == 6 ||
         (link->dim > link->locked && !(d->loose[link->row + link->locked] > 0));
}
static double given_of(const CniDrift *d, const CniDriftLink *link) {
  return link->dim > link->locked && !is_held(d, link) ? d->impulse[link->row + link->locked] : 0;
}

static int takes(const CniDrift *d, const CniDriftLink *link) {
  const CniModel *model = d->in->model;
  if (link->joint < 0 || link->rotor || !link->point) return 0;
  const CniJoint *joint = &model->joints[link->joint];
  int hinge = joint->def.kind == CN_JOINT_REVOLUTE && link->turns && link->locked == 5;
  int weld = link->turns && link->locked == 6 && link->dim == 6;
  int ball = joint->def.kind == CN_JOINT_BALL && link->locked == 3 && link->dim == 3;
  const int32_t bodies[] = {joint->body_a, joint->body_b};
  for (int32_t k = 0; k < 2; k++)
    if (bodies[k] >= 0 && model->bodies[bodies[k]].kind == CN_BODY_KINEMATIC) return 0;
  return hinge || weld || ball;
}

static int32_t number_of(Growth *g, int32_t body) {
  if (g->number[body] == 0) {
    g->body[g->body_count] = body;
    g->number[body] = ++g->body_count;
  }
  return g->number[body] - 1;
}

static int32_t top_of(int32_t *up, int32_t i) {
  while (up[i] != i) i = up[i] = up[up[i]];
  return i;
}

// What is held first, which closes nothing, then what the ground holds, so that ways to it are short.
static int32_t turn_of(const Growth *g, int32_t i) {
  const CniDriftLink *link = link_at(g, i);
  if (is_held(g->d, link) || given_of(g->d, link) != 0) return 0;
  return g->ends[2 * i] == g->body_count || g->ends[2 * i + 1] == g->body_count ? 1 : 2;
}

// Which links lead to bodies; 0: what is held closes a loop.
static int choose(Growth *g) {
  for (int32_t i = 0; i <= g->body_count; i++) g->up[i] = i;
  for (int32_t i = 0; i < g->link_count; i++) g->next[i] = turn_of(g, i);
  for (int32_t turn = 0; turn < 3; turn++)
    for (int32_t i = 0; i < g->link_count; i++) {
      if (g->next[i] != turn) continue;
      int32_t a = top_of(g->up, g->ends[2 * i]), b = top_of(g->up, g->ends[2 * i + 1]);
      g->leads[i] = a != b;
      if (a == b && turn == 0) return 0;
      g->up[a > b ? a : b] = a > b ? b : a;
    }
  return 1;
}

static void list_sides(Growth *g) {
  for (int32_t i = 0; i <= g->body_count; i++) g->first[i] = -1;
  for (int32_t s = 2 * g->link_count; s-- > 0;) {
    if (!g->leads[s / 2]) continue;
    g->next[s] = g->first[g->ends[s]];
    g->first[g->ends[s]] = s;
  }
}

// The body with the most joints.
static int32_t find_root(const Growth *g) {
  int32_t best = 0, most = -1;
  for (int32_t i = 0; i < g->body_count; i++) {
    int32_t count = 0;
    for (int32_t s = g->first[i]; s >= 0; s = g->next[s]) count++;
    if (count > most) best = i;
    most = count > most ? count : most;
  }
  return best;
}

// ---- nodes ----

static CnVec3 shift_of(const CniDrift *d, const CniDriftLink *link, int32_t first, int32_t end) {
  CnVec3 sum = CN_VEC3_ZERO;
  for (int32_t r = first; r < end; r++) {
    const CniDriftLine *line = &d->lines[link->line + r];
    sum = cn_madd(sum, d->change[link->row + r], first < 3 ? line->linear : line->angular);
  }
  return sum;
}

// z of b where a hinge begins: a's own lines are x and y.
static CnVec3 axis_of(const CniDrift *d, const CniDriftLink *link) {
  const CniJoint *joint = &d->in->model->joints[link->joint];
  CnVec3 z = cn_rotate(joint->local_b.rotation, cn_vec3(0, 0, 1));
  return joint->body_b < 0 ? z : cn_rotate(d->in->pose[joint->body_b].rotation, z);
}

static void set_body(const CniDrift *d, CniAlongNode *node, int32_t body) {
  const CniDriftBody *own = &d->bodies[body];
  CnTwist twist = d->in->twist[own->body];
  node->body = body;
  node->mass = own->mass;
  node->turn = own->turn;
  node->velocity = twist.velocity;
  node->spin = twist.spin;
  CnMat3 axes = cn_qmat(d->in->pose[own->body].rotation);
  CnVec3 j = own->inertia;
  node->inertia = cn_srotate(axes, j);
  node->inverse = cn_srotate(axes, cn_vec3(1 / j.x, 1 / j.y, 1 / j.z));
}

static void set_joint(const CniDrift *d, CniAlong *t, CniAlongNode *node, int32_t link_index,
                      int32_t side) {
  const CniDriftLink *link = &d->links[link_index];
  const CniDriftPair *pair = &d->pairs[link->pair];
  double sign = side ? 1 : -1;
  node->link = link_index;
  node->side = side;
  node->arm = pair->arms[side];
  node->parent_arm = (side ? pair->a : pair->b) >= 0 ? pair->arms[1 - side] : CN_VEC3_ZERO;
  node->rest = pair->rest[side];
  node->other_rest = pair->rest[1 - side];
  double size = cn_norm(node->arm) + cn_norm(node->parent_arm);
  if (size > t->size) t->size = size;
  node->shift = cn_scale(sign, shift_of(d, link, 0, 3));
  node->hinge = link->locked == 5;
  node->count = link->locked == 3 ? 3 : !is_held(d, link);
  if (link->locked > 3) node->lean = cn_scale(0.5 * sign, shift_of(d, link, 3, link->locked));
  node->leans = cn_norm2(node->lean) > 0;
  if (!node->hinge) return;
  node->axis = axis_of(d, link);
  node->given = sign * given_of(d, link);
}

static void add_node(Growth *g, CniAlong *t, int32_t number, int32_t parent, int32_t link,
                     int32_t side) {
  CniAlongNode *node = &t->nodes[t->node_count];
  *node = (CniAlongNode){.parent = parent, .link = -1, .at = t->coordinate_count, .group = -1};
  set_body(g->d, node, g->body[number]);
  node->count = 6;
  if (link >= 0) set_joint(g->d, t, node, g->links[link], side);
  t->coordinate_count += node->count;
  g->node[number] = t->node_count++;
}

// Bodies behind a node, or the ground.
static void follow(Growth *g, CniAlong *t, int32_t number, int32_t node) {
  for (int32_t s = g->first[number]; s >= 0; s = g->next[s]) {
    int32_t other = g->ends[s ^ 1];
    if (other < g->body_count && g->node[other] < 0) add_node(g, t, other, node, s / 2, !(s % 2));
  }
}

// 0: parts hang together by nothing but bodies that are none of the tree's.
static int grow(Growth *g, CniAlong *t) {
  for (int32_t i = 0; i < g->body_count; i++) g->node[i] = -1;
  follow(g, t, g->body_count, -1);
  if (t->node_count == 0) add_node(g, t, find_root(g), -1, -1, 0);
  for (int32_t i = 0; i < t->node_count; i++) follow(g, t, g->number[t->nodes[i].body] - 1, i);
  if (!(t->size > 0)) t->size = 1;
  return t->node_count == g->body_count;
}

// ---- loops ----

static void add_loop(const Growth *g, CniAlong *t, int32_t i) {
  const CniDrift *d = g->d;
  const CniDriftLink *link = link_at(g, i);
  const CniDriftPair *pair = &d->pairs[link->pair];
  CniAlongLoop *loop = &t->loops[t->loop_count++];
  *loop = (CniAlongLoop){.link = g->links[i],
                         .dim = link->locked,
                         .size = link->tolerance / CNI_DRIFT_LINES,
                         .arms = {pair->arms[0], pair->arms[1]},
                         .rest = {pair->rest[0], pair->rest[1]},
                         .shift = shift_of(d, link, 0, 3)};
  for (int32_t side = 0; side < 2; side++) {
    int32_t end = g->ends[2 * i + side];
    loop->nodes[side] = end < g->body_count ? g->node[end] : -1;
    if (end == g->body_count) loop->arms[side] = CN_VEC3_ZERO;
  }
  int32_t a = loop->nodes[0], b = loop->nodes[1];
  while (a != b) { // parents have smaller numbers
    if (a > b)
      a = t->nodes[a].parent;
    else
      b = t->nodes[b].parent;
  }
  loop->meet = a;
  if (link->locked == 3) return;
  loop->axis = axis_of(d, link);
  loop->lean = shift_of(d, link, 3, 5);
  loop->lines[0] = d->lines[link->line + 3].angular;
  loop->lines[1] = d->lines[link->line + 4].angular;
}

// Nodes between the ends of a loop.
static int32_t list_way(const CniAlong *t, const CniAlongLoop *loop, int32_t *list) {
  int32_t count = 0;
  for (int32_t side = 0; side < 2; side++)
    for (int32_t k = loop->nodes[side]; k != loop->meet; k = t->nodes[k].parent) list[count++] = k;
  return count;
}

// Loops that go through the same joint belong together.
static CnStatus group_loops(CniAlong *t, CniArena *arena) {
  int32_t *way, *loop_of, *up, *group_of;
  CNI_TRY(CNI_TAKE(arena, t->node_count, way));
  CNI_TRY(CNI_TAKE(arena, t->node_count, loop_of));
  CNI_TRY(CNI_TAKE(arena, t->loop_count, up));
  CNI_TRY(CNI_TAKE(arena, t->loop_count, group_of));
  for (int32_t i = 0; i < t->node_count; i++) loop_of[i] = -1;
  for (int32_t i = 0; i < t->loop_count; i++) {
    int32_t count = list_way(t, &t->loops[i], way);
    up[i] = i;
    for (int32_t k = 0; k < count; k++) {
      if (loop_of[way[k]] < 0) loop_of[way[k]] = i;
      int32_t a = top_of(up, i), b = top_of(up, loop_of[way[k]]);
      up[a > b ? a : b] = a > b ? b : a;
    }
  }
  for (int32_t i = 0; i < t->loop_count; i++)
    if (top_of(up, i) == i) group_of[i] = t->group_count++;
  for (int32_t i = 0; i < t->loop_count; i++) t->loops[i].group = group_of[top_of(up, i)];
  for (int32_t i = 0; i < t->node_count; i++)
    if (loop_of[i] >= 0) t->nodes[i].group = t->loops[loop_of[i]].group;
  return CN_OK;
}

static void list_group(CniAlong *t, int32_t index, int32_t *loops, int32_t *nodes) {
  CniAlongGroup *group = &t->groups[index];
  *group = (CniAlongGroup){.loop_begin = *loops, .node_begin = *nodes};
  for (int32_t i = 0; i < t->loop_count; i++) {
    if (t->loops[i].group != index) continue;
    t->loop_list[(*loops)++] = i;
    t->loops[i].row = group->rows;
    group->rows += t->loops[i].dim;
  }
  for (int32_t i = 0; i < t->node_count; i++) {
    const CniAlongNode *node = &t->nodes[i];
    if (node->group != index) continue;
    t->nodes[i].in_group = *nodes - group->node_begin;
    t->node_list[(*nodes)++] = i;
    for (int32_t k = node->at; k < node->at + node->count; k++) t->column_of[k] = group->columns++;
  }
  group->loop_end = *loops;
  group->node_end = *nodes;
  if (group->rows > t->most_rows) t->most_rows = group->rows;
  int32_t joints = group->node_end - group->node_begin + group->loop_end - group->loop_begin;
  int32_t nulls = group->rows < CNI_ALONG_NULLS ? group->rows : CNI_ALONG_NULLS;
  int32_t eights = (nulls + CNI_ALONG_LANES - 1) / CNI_ALONG_LANES;
  if (joints * eights > t->most_nulls) t->most_nulls = joints * eights;
}

// *fits: 0: there are too many coordinates, or loops are too large.
static CnStatus take_groups(CniAlong *t, CniArena *arena, int32_t links, int *fits) {
  int32_t loops = 0, nodes = 0, told = 0, nulls = 0;
  double work = 0;
  CNI_TRY(CNI_TAKE(arena, t->group_count, t->groups));
  CNI_TRY(CNI_TAKE(arena, t->loop_count, t->loop_list));
  CNI_TRY(CNI_TAKE(arena, t->node_count, t->node_list));
  CNI_TRY(CNI_TAKE(arena, t->coordinate_count, t->column_of));
  for (int32_t i = 0; i < t->group_count; i++) {
    CniAlongGroup *group = &t->groups[i];
    list_group(t, i, &loops, &nodes);
    int32_t least = group->rows < group->columns ? group->rows : group->columns;
    work += (double)group->rows * group->columns * least;
    told += least;
    if (group->rows - least > nulls) nulls = group->rows - least;
  }
  *fits = t->coordinate_count - told <= CNI_ALONG_FREE && nulls <= CNI_ALONG_NULLS &&
          work <= GROUP_WORK * (double)links;
  for (int32_t i = 0; *fits && i < t->group_count; i++) {
    CniAlongGroup *group = &t->groups[i];
    CNI_TRY(CNI_TAKE(arena, group->rows, group->row));
    CNI_TRY(CNI_TAKE(arena, group->columns, group->column));
    CNI_TRY(CNI_TAKE(arena, (size_t)group->rows * (size_t)group->columns, group->ways));
    CNI_TRY(CNI_TAKE(arena, (size_t)group->rows * (size_t)group->columns, group->pulls));
  }
  return CN_OK;
}

static CnStatus take_numbers(CniAlong *t, CniArena *arena) {
  int32_t n = t->coordinate_count;
  int32_t free = n < CNI_ALONG_FREE ? n : CNI_ALONG_FREE;
  CNI_TRY(CNI_TAKE(arena, n, t->free_of));
  CNI_TRY(CNI_TAKE(arena, n, t->pulled));
  CNI_TRY(CNI_TAKE(arena, n, t->change));
  CNI_TRY(CNI_TAKE(arena, CNI_ALONG_LANES * n, t->lanes));
  CNI_TRY(CNI_TAKE(arena, CNI_ALONG_LANES * t->most_rows, t->row_lanes));
  CNI_TRY(CNI_TAKE(arena, t->most_rows, t->row));
  CNI_TRY(CNI_TAKE(arena, free * free, t->matrix));
  CNI_TRY(CNI_TAKE(arena, free, t->right));
  CNI_TRY(CNI_TAKE(arena, free, t->pivot));
  CNI_TRY(CNI_TAKE(arena, t->node_count + t->loop_count, t->joints));
  CNI_TRY(CNI_TAKE(arena, t->most_nulls, t->nulls));
  CNI_TRY(CNI_TAKE(arena, 6 * (t->node_count + t->loop_count), t->numbers));
  CNI_TRY(CNI_TAKE(arena, 6 * (t->node_count + t->loop_count), t->weights));
  return CNI_TAKE(arena, t->node_count, t->lane);
}

static CnStatus take_growth(Growth *g, CniArena *arena) {
  int32_t links = g->link_count;
  CNI_TRY(cni_arena_array(arena, g->d->body_count, sizeof *g->number, &g->number));
  CNI_TRY(CNI_TAKE(arena, 2 * links, g->body));
  CNI_TRY(CNI_TAKE(arena, 2 * links, g->ends));
  CNI_TRY(CNI_TAKE(arena, 2 * links + 1, g->up));
  CNI_TRY(CNI_TAKE(arena, links, g->leads));
  CNI_TRY(CNI_TAKE(arena, 2 * links + 1, g->first));
  CNI_TRY(CNI_TAKE(arena, 2 * links, g->next));
  return CNI_TAKE(arena, 2 * links, g->node);
}

static CnStatus shape(Growth *g, CniAlong *t, CniArena *arena, int *fits) {
  *fits = 0;
  for (int32_t i = 0; i < g->link_count; i++) {
    const CniDriftPair *pair = &g->d->pairs[link_at(g, i)->pair];
    g->ends[2 * i] = pair->a >= 0 ? number_of(g, pair->a) : -1;
    g->ends[2 * i + 1] = pair->b >= 0 ? number_of(g, pair->b) : -1;
  }
  for (int32_t s = 0; s < 2 * g->link_count; s++)
    if (g->ends[s] < 0) g->ends[s] = g->body_count;
  if (!choose(g)) return CN_OK;
  list_sides(g);
  CNI_TRY(CNI_TAKE(arena, g->body_count, t->nodes));
  CNI_TRY(CNI_TAKE(arena, g->link_count, t->loops));
  if (!grow(g, t)) return CN_OK;
  for (int32_t i = 0; i < g->link_count; i++)
    if (!g->leads[i]) add_loop(g, t, i);
  CNI_TRY(group_loops(t, arena));
  CNI_TRY(take_groups(t, arena, g->link_count, fits));
  return *fits ? take_numbers(t, arena) : CN_OK;
}

CnStatus cni_along_prepare(const CniDrift *d, int32_t island, CniAlong **along) {
  CniArena *arena = d->in->arena;
  Growth g = {.d = d, .links = cni_direct_blocks(d->in->direct)};
  int32_t begin, end;
  int held = 0, fits;
  *along = NULL;
  cni_direct_island(d->in->direct, island, &begin, &end);
  g.links += begin;
  g.link_count = end - begin;
  for (int32_t i = 0; i < g.link_count; i++) {
    if (!takes(d, link_at(&g, i))) return CN_OK;
    held |= link_at(&g, i)->dim > link_at(&g, i)->locked;
  }
  if (!held) return CN_OK;
  CniAlong *t;
  CNI_TRY(take_growth(&g, arena));
  CNI_TRY(CNI_TAKE(arena, 1, t));
  const CniDriftPair *pair = &d->pairs[link_at(&g, 0)->pair];
  const CniDriftBody *body = &d->bodies[pair->b >= 0 ? pair->b : pair->a];
  *t = (CniAlong){.d = d,
                  .pace = body->pace,
                  .along = body->along,
                  .kernels = cni_along_kernels(cni_simd_level())};
  CNI_TRY(shape(&g, t, arena, &fits));
  if (fits) *along = t;
  return CN_OK;
}
