// SPDX-License-Identifier: Apache-2.0
// The drift along trees: of impulses that do the same those of least norm.
//
// A row of a loop that depends on others is one impulse n that moves nothing: 1 in that row, in the rows that tell
// coordinates what balances it there, and in the joints of the tree between what goes through them. Without its part
// along all n an impulse has the least sum of D x^2, D as in sparse/direct.h: the inverse masses of the bodies
// for forces, S of the row for couples, of the inertias with which the motion begins.
#include "assembly/drift/along.h"

#include <stddef.h>
#include <string.h>

#define SINGULAR 1e-10 // of the diagonal: impulses that depend on each other
#define NUMBERS 6      // of a joint: three of the force, up to three couples
#define LANES CNI_ALONG_LANES

// ---- the norm ----

static void weigh(const CniAlong *t, int32_t link_index, int32_t a, int32_t b,
                  CniAlongJoint *joint) {
  const CniDrift *d = t->d;
  const CniDriftLink *link = &d->links[link_index];
  const int32_t nodes[2] = {a, b};
  *joint = (CniAlongJoint){.lines = link->dim - 3};
  if (link->locked < 6 && joint->lines > 2 && d->loose[link->row + 5] > 0) joint->lines = 2;
  for (int32_t r = 0; r < joint->lines; r++) joint->line[r] = d->lines[link->line + 3 + r].angular;
  for (int32_t k = 0; k < 2; k++) {
    if (nodes[k] < 0) continue;
    const CniAlongNode *node = &t->nodes[nodes[k]];
    joint->mass += 1 / node->mass;
    for (int32_t r = 0; r < joint->lines; r++)
      joint->weight[r] += cn_dot(joint->line[r], cn_smul(node->inverse, joint->line[r]));
  }
}

// ---- impulses that move nothing ----

typedef struct Nulls {
  CniAlong *t;
  const CniAlongGroup *group;
  int32_t count, joints, nodes; // joints: nodes' first
} Nulls;

// Impulses of a row of loops to the k-th; `at`: its number in the group's order.
static void set_row(const Nulls *n, int32_t k, int32_t at, double x) {
  const CniAlong *t = n->t;
  int32_t i = n->group->loop_begin, own = n->group->row[at];
  while (own >= t->loops[t->loop_list[i]].row + t->loops[t->loop_list[i]].dim) i++;
  const CniAlongLoop *loop = &t->loops[t->loop_list[i]];
  int32_t joint = n->nodes + i - n->group->loop_begin, lane = k % LANES;
  CniAlongNull *to = t->nulls + n->joints * (k / LANES) + joint;
  own -= loop->row;
  if (own < 3) {
    double *axes[3] = {to->force.x, to->force.y, to->force.z};
    axes[own][lane] += x / loop->size;
  } else {
    CnVec3 more = cn_madd(cni_lane_vec(&to->couple, lane), x, loop->mean_lines[own - 3]);
    cni_lane_put(&to->couple, lane, more);
  }
}

// The k-th row that was left out, and what balances it.
static void set_rows(const Nulls *n, int32_t k) {
  const CniAlongGroup *group = n->group;
  int32_t rank = group->rank;
  const double *own = group->pulls + (size_t)(rank + k) * (size_t)group->columns;
  double *x = n->t->row;
  for (int32_t i = 0; i < rank; i++) x[i] = -own[i];
  cni_along_begin_pulls(group, x);
  cni_along_end_pulls(group, x);
  for (int32_t i = 0; i < rank; i++)
    if (x[i] != 0) set_row(n, k, i, x[i]);
  set_row(n, k, rank + k, 1);
}

static void find_nulls(const Nulls *n) {
  CniAlong *t = n->t;
  int32_t eights = (n->count + LANES - 1) / LANES;
  for (int32_t i = 0; i < eights * n->joints; i++)
    memset(&t->nulls[i], 0, offsetof(CniAlongNull, number));
  for (int32_t k = 0; k < n->count; k++) set_rows(n, k);
  for (int32_t e = 0; e < eights; e++)
    t->kernels->go_through(t, n->group, t->nulls + n->joints * e);
}

// ---- least norm ----

static CniAlongJoint *joint_at(const Nulls *n, int32_t i) {
  const CniAlong *t = n->t;
  return i < n->nodes
             ? &t->joints[t->node_list[n->group->node_begin + i]]
             : &t->joints[t->node_count + t->loop_list[n->group->loop_begin + i - n->nodes]];
}

// D of a joint, and D x of its impulse.
static void numbers_of(const Nulls *n, int32_t i, double *x) {
  const CniAlong *t = n->t;
  const CniAlongJoint *joint = joint_at(n, i);
  CnVec3 f, c;
  if (i < n->nodes) {
    const CniAlongNode *node = &t->nodes[t->node_list[n->group->node_begin + i]];
    f = node->total.velocity;
    c = node->couple;
  } else {
    const CniAlongLoop *loop = &t->loops[t->loop_list[n->group->loop_begin + i - n->nodes]];
    f = loop->force;
    c = loop->couple;
  }
  double *d = t->weights + NUMBERS * i;
  d[0] = d[1] = d[2] = joint->mass;
  x[0] = joint->mass * f.x;
  x[1] = joint->mass * f.y;
  x[2] = joint->mass * f.z;
  for (int32_t r = 0; r < 3; r++) {
    d[3 + r] = joint->weight[r]; // 0 beyond the lines
    x[3 + r] = r < joint->lines ? joint->weight[r] * cn_dot(joint->line[r], c) : 0;
  }
}

// N^T D N, lower half, and N^T D x.
static void multiply(const Nulls *n) {
  CniAlong *t = n->t;
  _Alignas(64) double w[LANES * LANES];
  int32_t m = n->count;
  double *x = t->numbers;
  for (int32_t i = 0; i < n->joints; i++) numbers_of(n, i, x + NUMBERS * i);
  for (int32_t a = 0; a < m; a += LANES) {
    const CniAlongNull *own = t->nulls + n->joints * (a / LANES);
    for (int32_t b = 0; b <= a; b += LANES) {
      t->kernels->join(own, t->nulls + n->joints * (b / LANES), t->weights, n->joints, w);
      for (int32_t k = a; k < m && k < a + LANES; k++)
        for (int32_t l = b; l <= k && l < b + LANES; l++)
          t->gram[k * m + l] = w[LANES * (k - a) + l - b];
    }
    t->kernels->part(own, x, n->joints, w);
    for (int32_t k = a; k < m && k < a + LANES; k++) t->part[k] = w[k - a];
  }
}

// L L^T with inverses on the diagonal, and the solution in place; 0: singular.
static int solve(double *g, double *x, int32_t m) {
  for (int32_t i = 0; i < m; i++) {
    double *own = g + i * m, size = own[i];
    for (int32_t j = 0; j < i; j++) {
      double sum = own[j];
      for (int32_t k = 0; k < j; k++) sum -= own[k] * g[j * m + k];
      own[j] = sum * g[j * m + j];
      own[i] -= own[j] * own[j];
      x[i] -= own[j] * x[j];
    }
    if (!(own[i] > SINGULAR * size)) return 0;
    own[i] = 1 / sqrt(own[i]);
    x[i] *= own[i];
  }
  for (int32_t i = m; i-- > 0;) {
    x[i] *= g[i * m + i];
    for (int32_t j = 0; j < i; j++) x[j] -= g[i * m + j] * x[i];
  }
  return 1;
}

static int project(const Nulls *n) {
  CniAlong *t = n->t;
  multiply(n);
  if (!solve(t->gram, t->part, n->count)) return 0;
  for (int32_t i = n->nodes; i < n->joints; i++) { // those of the tree follow
    CniAlongLoop *loop = &t->loops[t->loop_list[n->group->loop_begin + i - n->nodes]];
    CnVec3 f = CN_VEC3_ZERO, c = CN_VEC3_ZERO;
    for (int32_t k = 0; k < n->count; k++) {
      const CniAlongNull *own = t->nulls + n->joints * (k / LANES) + i;
      f = cn_madd(f, t->part[k], cni_lane_vec(&own->force, k % LANES));
      c = cn_madd(c, t->part[k], cni_lane_vec(&own->couple, k % LANES));
    }
    loop->impulse[0] -= f.x;
    loop->impulse[1] -= f.y;
    loop->impulse[2] -= f.z;
    if (loop->dim == 3) continue;
    CnVec3 x = loop->mean_lines[0], y = loop->mean_lines[1], z = cn_cross(x, y);
    double by = 1 / cn_norm2(z);
    loop->impulse[3] -= by * cn_dot(cn_cross(y, z), c);
    loop->impulse[4] -= by * cn_dot(cn_cross(z, x), c);
  }
  return 1;
}

int cni_along_least(CniAlong *t) {
  for (int32_t i = 0; i < t->group_count; i++) {
    const CniAlongGroup *group = &t->groups[i];
    Nulls n = {t, group, group->rows - group->rank, 0, group->node_end - group->node_begin};
    if (n.count == 0) continue;
    if (n.count > CNI_ALONG_NULLS) return 0;
    n.joints = n.nodes + group->loop_end - group->loop_begin;
    for (int32_t k = group->node_begin; k < group->node_end; k++) {
      int32_t node = t->node_list[k];
      weigh(t, t->nodes[node].link, node, t->nodes[node].parent, &t->joints[node]);
    }
    for (int32_t k = group->loop_begin; k < group->loop_end; k++) {
      const CniAlongLoop *loop = &t->loops[t->loop_list[k]];
      weigh(t, loop->link, loop->nodes[0], loop->nodes[1],
            &t->joints[t->node_count + t->loop_list[k]]);
    }
    find_nulls(&n);
    if (!project(&n)) return 0;
  }
  return 1;
}
