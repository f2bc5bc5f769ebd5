// SPDX-License-Identifier: Apache-2.0
// The three ways in which a block of constraint rows lies in memory, and what can be done with it.
//
// A block i is dim rows E_i over some velocity groups; a group is (velocity, spin). In the `pair`
// storage the rows are those of two points that meet, with lever arms p_a, p_b, frame (n, t1, t2):
//
//     row d = 0..2:  c_d . ((v_b + w_b x p_b) - (v_a + w_a x p_a)),   c = n, t1, t2
//     row d = 3..5:  length c_d . (w_b - w_a),                       c = t1, t2, n
//
// `sphere` is the same with p_a = radius_a n and p_b = -radius_b n and isotropic inertia: the arms
// drop out of the normal row and the block N_ii is diagonal up to the coupling of sliding with
// rolling. `rows` is any list of coefficients. `explicit` rows have no groups: only W is known.
//
// The trace of N_ii for the three rows of a point follows without a frame:
// sum_d (p x c_d).J (p x c_d) = tr(J) |p|^2 - p.J p for any orthonormal c_d, J inverse inertia.
#include "problem/problem.h"

#include "core/floats.h"
#include "core/vec.h"
#include "sparse/sparse.h"

#include <string.h>

void cn_tangents(CnVec3 n, CnVec3 *t1, CnVec3 *t2) {
  CNI_FLOATS;
  cni_tangents(n, t1, t2);
}

static CnVec3 load(const double *x) { return cn_vec3(x[0], x[1], x[2]); }

// Velocity and spin of a group without impulses.
static CnTwist free_of(const CnProblem *p, int32_t group) {
  return cni_group_free(&p->groups[group]);
}
_Static_assert(sizeof(CnTwist) == 6 * sizeof(double), "a twist is six numbers in a row");

static void add_to(double *x, CnVec3 a) {
  x[0] += a.x;
  x[1] += a.y;
  x[2] += a.z;
}

static void take_from(double *x, CnVec3 a) {
  x[0] -= a.x;
  x[1] -= a.y;
  x[2] -= a.z;
}

// An impulse and angular ones into the momenta of the two groups.
static void spread(double *ka, double *kb, CnVec3 f, CnVec3 la, CnVec3 lb) {
  take_from(ka, f);
  take_from(ka + 3, la);
  add_to(kb, f);
  add_to(kb + 3, lb);
}

// Velocity of a group that an impulse f and an angular impulse l about its centre of mass change.
static void push(const CnProblem *p, int32_t index, CnVec3 f, CnVec3 l, double *v) {
  const CniGroup *group = &p->groups[index];
  if (!(group->inv_mass > 0)) return;
  add_to(v, cn_scale(group->inv_mass, f));
  if (group->inv_inertia >= 0)
    add_to(v + 3, cn_scale(group->inv_inertia, l));
  else
    add_to(v + 3, cn_smul(p->inertias[index], l));
}

static void add_compliance(const CnProblem *p, const CniBlock *block, double *n) {
  double c[CNI_MAX_DIM];
  cni_block_compliance(p, block, c);
  for (int32_t i = 0; i < block->dim; i++) n[i * block->dim + i] += c[i];
}

static double sum_compliance(const CnProblem *p, const CniBlock *block) {
  double c[CNI_MAX_DIM], sum = 0;
  cni_block_compliance(p, block, c);
  for (int32_t i = 0; i < block->dim; i++) sum += c[i];
  return sum;
}

// ---- pair ----

// Velocities of the two groups to the rows.
static void pair_relative(const CniPairBlock *c, int32_t dim, const double *va, const double *vb,
                          double *u) {
  CnVec3 wa = load(va + 3), wb = load(vb + 3), n = c->normal, t1 = c->tangent;
  CnVec3 dv =
      cn_sub(cn_add(load(vb), cn_cross(wb, c->arm_b)), cn_add(load(va), cn_cross(wa, c->arm_a)));
  u[0] += cn_dot(n, dv);
  if (dim == 1) return;
  u[1] += cn_dot(t1, dv);
  if (dim == 2) return;
  CnVec3 t2 = cn_cross(n, t1);
  u[2] += cn_dot(t2, dv);
  if (dim == 3) return;
  CnVec3 dw = cn_scale(c->length, cn_sub(wb, wa));
  u[3] += cn_dot(t1, dw);
  if (dim > 4) u[4] += cn_dot(t2, dw);
  if (dim > 5) u[5] += cn_dot(n, dw);
}

static void pair_velocity(const CnProblem *p, const CniBlock *block, const double *v, double *u) {
  const CniPairBlock *c = &p->pairs[block->index];
  pair_relative(c, block->dim, v + 6 * (size_t)c->group_a, v + 6 * (size_t)c->group_b, u);
}

static void pair_free(const CnProblem *p, const CniBlock *block, double *u) {
  const CniPairBlock *c = &p->pairs[block->index];
  CnTwist a = free_of(p, c->group_a), b = free_of(p, c->group_b);
  pair_relative(c, block->dim, &a.velocity.x, &b.velocity.x, u);
}

// The impulse and the moment (about the point, on b) that the numbers g stand for.
static void frame_impulse(CnVec3 n, CnVec3 t1, CnVec3 t2, double length, int32_t dim,
                          const double *g, CnVec3 *force, CnVec3 *moment) {
  CnVec3 f = cn_scale(g[0], n), m = CN_VEC3_ZERO;
  if (dim > 1) f = cn_madd(f, g[1], t1);
  if (dim > 2) f = cn_madd(f, g[2], t2);
  if (dim > 3) {
    m = cn_scale(g[3], t1);
    if (dim > 4) m = cn_madd(m, g[4], t2);
    if (dim > 5) m = cn_madd(m, g[5], n);
    m = cn_scale(length, m);
  }
  *force = f;
  *moment = m;
}

static void pair_impulse_vectors(const CniPairBlock *c, int32_t dim, const double *g, CnVec3 *f,
                                 CnVec3 *la, CnVec3 *lb) {
  CnVec3 m;
  frame_impulse(c->normal, c->tangent, cn_cross(c->normal, c->tangent), c->length, dim, g, f, &m);
  *la = cn_add(cn_cross(c->arm_a, *f), m);
  *lb = cn_add(cn_cross(c->arm_b, *f), m);
}

static void pair_momentum(const CnProblem *p, const CniBlock *block, const double *g, double *k) {
  const CniPairBlock *c = &p->pairs[block->index];
  CnVec3 f, la, lb;
  pair_impulse_vectors(c, block->dim, g, &f, &la, &lb);
  spread(k + 6 * (size_t)c->group_a, k + 6 * (size_t)c->group_b, f, la, lb);
}

static void pair_impulse(const CnProblem *p, const CniBlock *block, const double *g, double *v) {
  const CniPairBlock *c = &p->pairs[block->index];
  CnVec3 f, la, lb;
  pair_impulse_vectors(c, block->dim, g, &f, &la, &lb);
  push(p, c->group_a, cn_neg(f), cn_neg(la), v + 6 * (size_t)c->group_a);
  push(p, c->group_b, f, lb, v + 6 * (size_t)c->group_b);
}

// Spin coefficients of the rows on one side (without the sign of a).
static void pair_spins(const CniPairBlock *c, CnVec3 arm, CnVec3 *spin) {
  CnVec3 t2 = cn_cross(c->normal, c->tangent);
  spin[0] = cn_cross(arm, c->normal);
  spin[1] = cn_cross(arm, c->tangent);
  spin[2] = cn_cross(arm, t2);
  spin[3] = cn_scale(c->length, c->tangent);
  spin[4] = cn_scale(c->length, t2);
  spin[5] = cn_scale(c->length, c->normal);
}

static void pair_diagonal(const CnProblem *p, const CniBlock *block, double *n) {
  const CniPairBlock *c = &p->pairs[block->index];
  int32_t dim = block->dim;
  memset(n, 0, (size_t)(dim * dim) * sizeof *n);
  for (int32_t side = 0; side < 2; side++) {
    int32_t group = side == 0 ? c->group_a : c->group_b;
    double inv_mass = p->groups[group].inv_mass;
    if (!(inv_mass > 0)) continue;
    CnVec3 spin[CNI_MAX_DIM];
    CnSym3 inertia = cni_group_inertia(p, group);
    pair_spins(c, side == 0 ? c->arm_a : c->arm_b, spin);
    for (int32_t i = 0; i < dim; i++) {
      CnVec3 turned = cn_smul(inertia, spin[i]);
      for (int32_t j = 0; j <= i; j++) n[i * dim + j] += cn_dot(turned, spin[j]);
      // the frame is orthonormal: translation adds to the diagonal only
      if (i < 3) n[i * dim + i] += inv_mass;
    }
  }
  for (int32_t i = 0; i < dim; i++)
    for (int32_t j = 0; j < i; j++) n[j * dim + i] = n[i * dim + j];
  add_compliance(p, block, n);
}

// One group's part of the trace.
static double pair_side_trace(const CnProblem *p, const CniPairBlock *c, int32_t index, CnVec3 arm,
                              int32_t dim) {
  const CniGroup *group = &p->groups[index];
  if (!(group->inv_mass > 0)) return 0;
  CnSym3 j = cni_group_inertia(p, index);
  double sum;
  if (dim < 3) {
    CnVec3 spin = cn_cross(arm, c->normal);
    sum = group->inv_mass + cn_dot(spin, cn_smul(j, spin));
    if (dim < 2) return sum;
    spin = cn_cross(arm, c->tangent);
    return sum + group->inv_mass + cn_dot(spin, cn_smul(j, spin));
  }
  double trace = j.xx + j.yy + j.zz;
  sum = 3 * group->inv_mass + (trace * cn_norm2(arm) - cn_dot(arm, cn_smul(j, arm)));
  if (dim > 3) {
    CnVec3 n = c->normal, t1 = c->tangent;
    double turn = dim == 6   ? trace
                  : dim == 5 ? trace - cn_dot(n, cn_smul(j, n))
                             : cn_dot(t1, cn_smul(j, t1));
    sum += c->length * c->length * turn;
  }
  return sum;
}

static double pair_trace(const CnProblem *p, const CniBlock *block) {
  const CniPairBlock *c = &p->pairs[block->index];
  return pair_side_trace(p, c, c->group_a, c->arm_a, block->dim) +
         pair_side_trace(p, c, c->group_b, c->arm_b, block->dim) + sum_compliance(p, block);
}

static int32_t pair_rows(const CniPairBlock *c, int32_t dim, CnRowEntry *entries,
                         int32_t capacity) {
  CnVec3 spin_a[CNI_MAX_DIM], spin_b[CNI_MAX_DIM];
  CnVec3 axis[3] = {c->normal, c->tangent, cn_cross(c->normal, c->tangent)};
  pair_spins(c, c->arm_a, spin_a);
  pair_spins(c, c->arm_b, spin_b);
  for (int32_t i = 0; i < dim; i++) {
    CnVec3 move = i < 3 ? axis[i] : CN_VEC3_ZERO;
    CnRowEntry a = {i, c->group_a, {cn_neg(move), cn_neg(spin_a[i])}};
    CnRowEntry b = {i, c->group_b, {move, spin_b[i]}};
    if (2 * i < capacity) entries[2 * i] = a;
    if (2 * i + 1 < capacity) entries[2 * i + 1] = b;
  }
  return 2 * dim;
}

static int32_t pair_expand(const CnProblem *p, const CniBlock *block, CnRowEntry *entries,
                           int32_t capacity) {
  return pair_rows(&p->pairs[block->index], block->dim, entries, capacity);
}

// ---- sphere ----

// The slip of the two surfaces: w x p_b - w x p_a = -(r_b w_b + r_a w_a) x n.
static void sphere_relative(const CnProblem *p, const CniBlock *block, const double *va,
                            const double *vb, double *u) {
  const CniSphereBlock *c = &p->spheres[block->index];
  int32_t dim = block->dim;
  CnVec3 n = c->normal, t1, t2, dv = cn_sub(load(vb), load(va));
  u[0] += cn_dot(n, dv);
  if (dim == 1) return;
  CnVec3 wa = load(va + 3), wb = load(vb + 3);
  CnVec3 roll = cn_madd(cn_scale(c->radius_a, wa), c->radius_b, wb);
  dv = cn_sub(dv, cn_cross(roll, n));
  cni_tangents(n, &t1, &t2);
  u[1] += cn_dot(t1, dv);
  if (dim == 2) return;
  u[2] += cn_dot(t2, dv);
  if (dim == 3) return;
  CnVec3 dw = cn_scale(cni_sphere_length(p, block->index), cn_sub(wb, wa));
  u[3] += cn_dot(t1, dw);
  if (dim > 4) u[4] += cn_dot(t2, dw);
  if (dim > 5) u[5] += cn_dot(n, dw);
}

static void sphere_velocity(const CnProblem *p, const CniBlock *block, const double *v, double *u) {
  const CniSphereBlock *c = &p->spheres[block->index];
  sphere_relative(p, block, v + 6 * (size_t)c->group_a, v + 6 * (size_t)c->group_b, u);
}

static void sphere_free(const CnProblem *p, const CniBlock *block, double *u) {
  const CniSphereBlock *c = &p->spheres[block->index];
  CnTwist a = free_of(p, c->group_a), b = free_of(p, c->group_b);
  sphere_relative(p, block, &a.velocity.x, &b.velocity.x, u);
}

// With turn = n x f: p_a x f = r_a turn, p_b x f = -r_b turn.
static void sphere_impulse_vectors(const CnProblem *p, const CniBlock *block, const double *g,
                                   CnVec3 *f, CnVec3 *la, CnVec3 *lb) {
  const CniSphereBlock *c = &p->spheres[block->index];
  double length = block->dim > 3 ? cni_sphere_length(p, block->index) : 0;
  CnVec3 t1, t2, m;
  cni_tangents(c->normal, &t1, &t2);
  frame_impulse(c->normal, t1, t2, length, block->dim, g, f, &m);
  CnVec3 turn = cn_cross(c->normal, *f);
  *la = cn_madd(m, c->radius_a, turn);
  *lb = cn_madd(m, -c->radius_b, turn);
}

static void sphere_momentum(const CnProblem *p, const CniBlock *block, const double *g, double *k) {
  const CniSphereBlock *c = &p->spheres[block->index];
  CnVec3 f, la, lb;
  sphere_impulse_vectors(p, block, g, &f, &la, &lb);
  spread(k + 6 * (size_t)c->group_a, k + 6 * (size_t)c->group_b, f, la, lb);
}

static void sphere_impulse(const CnProblem *p, const CniBlock *block, const double *g, double *v) {
  const CniSphereBlock *c = &p->spheres[block->index];
  CnVec3 f, la, lb;
  sphere_impulse_vectors(p, block, g, &f, &la, &lb);
  push(p, c->group_a, cn_neg(f), cn_neg(la), v + 6 * (size_t)c->group_a);
  push(p, c->group_b, f, lb, v + 6 * (size_t)c->group_b);
}

// The numbers of which N_ii is made.
typedef struct SphereMass {
  double normal, tangent, roll; // the diagonal
  double coupling;              // of t1 with rolling about t2; minus that of t2 with t1
} SphereMass;

static SphereMass sphere_mass(const CnProblem *p, const CniBlock *block) {
  const CniSphereBlock *c = &p->spheres[block->index];
  double length = block->dim > 3 ? cni_sphere_length(p, block->index) : 0;
  const CniGroup *a = &p->groups[c->group_a], *b = &p->groups[c->group_b];
  double ja = a->inv_inertia, jb = b->inv_inertia, ra = c->radius_a, rb = c->radius_b;
  SphereMass m;
  m.normal = a->inv_mass + b->inv_mass;
  m.tangent = m.normal + ra * ra * ja + rb * rb * jb;
  m.roll = length * length * (ja + jb);
  m.coupling = length * (ra * ja - rb * jb);
  return m;
}

static void sphere_diagonal(const CnProblem *p, const CniBlock *block, double *n) {
  SphereMass m = sphere_mass(p, block);
  int32_t dim = block->dim;
  memset(n, 0, (size_t)(dim * dim) * sizeof *n);
  for (int32_t i = 0; i < dim; i++) n[i * dim + i] = i == 0 ? m.normal : i < 3 ? m.tangent : m.roll;
  if (dim > 3) n[2 * dim + 3] = n[3 * dim + 2] = -m.coupling;
  if (dim > 4) n[1 * dim + 4] = n[4 * dim + 1] = m.coupling;
  add_compliance(p, block, n);
}

static double sphere_trace(const CnProblem *p, const CniBlock *block) {
  SphereMass m = sphere_mass(p, block);
  int32_t dim = block->dim;
  double sum = m.normal + (dim > 3 ? 2 : dim - 1) * m.tangent;
  if (dim > 3) sum += (dim - 3) * m.roll;
  return sum + sum_compliance(p, block);
}

static int32_t sphere_expand(const CnProblem *p, const CniBlock *block, CnRowEntry *entries,
                             int32_t capacity) {
  const CniSphereBlock *c = &p->spheres[block->index];
  CnVec3 t1, t2;
  cni_tangents(c->normal, &t1, &t2);
  CniPairBlock pair = {c->normal,
                       t1,
                       cn_scale(c->radius_a, c->normal),
                       cn_scale(-c->radius_b, c->normal),
                       cni_sphere_length(p, block->index),
                       c->group_a,
                       c->group_b};
  return pair_rows(&pair, block->dim, entries, capacity);
}

// ---- rows ----

static double entry_dot(const CnRowEntry *e, const double *v) {
  return cn_dot(e->coefficient.velocity, load(v)) + cn_dot(e->coefficient.spin, load(v + 3));
}

static void rows_velocity(const CnProblem *p, const CniBlock *block, const double *v, double *u) {
  CniRowsBlock rows = p->row_blocks[block->index];
  const CnRowEntry *e = p->row_entries + rows.entry_start;
  for (int32_t i = 0; i < rows.entry_count; i++)
    u[e[i].row] += entry_dot(&e[i], v + 6 * (size_t)e[i].group);
}

static void rows_free(const CnProblem *p, const CniBlock *block, double *u) {
  CniRowsBlock rows = p->row_blocks[block->index];
  const CnRowEntry *e = p->row_entries + rows.entry_start;
  for (int32_t i = 0; i < rows.entry_count; i++) {
    CnTwist free = free_of(p, e[i].group);
    u[e[i].row] += entry_dot(&e[i], &free.velocity.x);
  }
}

static void rows_momentum(const CnProblem *p, const CniBlock *block, const double *g, double *k) {
  CniRowsBlock rows = p->row_blocks[block->index];
  const CnRowEntry *e = p->row_entries + rows.entry_start;
  for (int32_t i = 0; i < rows.entry_count; i++) {
    double *kg = k + 6 * (size_t)e[i].group;
    add_to(kg, cn_scale(g[e[i].row], e[i].coefficient.velocity));
    add_to(kg + 3, cn_scale(g[e[i].row], e[i].coefficient.spin));
  }
}

static void rows_impulse(const CnProblem *p, const CniBlock *block, const double *g, double *v) {
  CniRowsBlock rows = p->row_blocks[block->index];
  const CnRowEntry *e = p->row_entries + rows.entry_start;
  for (int32_t i = 0; i < rows.entry_count; i++)
    push(p, e[i].group, cn_scale(g[e[i].row], e[i].coefficient.velocity),
         cn_scale(g[e[i].row], e[i].coefficient.spin), v + 6 * (size_t)e[i].group);
}

// M^-1 e^T of one entry, on its own group.
static void entry_response(const CnProblem *p, const CnRowEntry *e, double *v) {
  memset(v, 0, 6 * sizeof *v);
  push(p, e->group, e->coefficient.velocity, e->coefficient.spin, v);
}

static void rows_diagonal(const CnProblem *p, const CniBlock *block, double *n) {
  CniRowsBlock rows = p->row_blocks[block->index];
  const CnRowEntry *e = p->row_entries + rows.entry_start;
  int32_t dim = block->dim;
  memset(n, 0, (size_t)(dim * dim) * sizeof *n);
  for (int32_t i = 0; i < rows.entry_count; i++) {
    double v[6];
    entry_response(p, &e[i], v);
    for (int32_t j = 0; j < rows.entry_count; j++)
      if (e[j].group == e[i].group && e[j].row <= e[i].row)
        n[e[i].row * dim + e[j].row] += entry_dot(&e[j], v);
  }
  for (int32_t i = 0; i < dim; i++)
    for (int32_t j = 0; j < i; j++) n[j * dim + i] = n[i * dim + j];
  add_compliance(p, block, n);
}

static double rows_trace(const CnProblem *p, const CniBlock *block) {
  CniRowsBlock rows = p->row_blocks[block->index];
  const CnRowEntry *e = p->row_entries + rows.entry_start;
  double sum = 0;
  for (int32_t i = 0; i < rows.entry_count; i++) {
    double v[6];
    entry_response(p, &e[i], v);
    // entries of one row on one group belong together
    for (int32_t j = 0; j < rows.entry_count; j++)
      if (e[j].group == e[i].group && e[j].row == e[i].row) sum += entry_dot(&e[j], v);
  }
  return sum + sum_compliance(p, block);
}

static int32_t rows_expand(const CnProblem *p, const CniBlock *block, CnRowEntry *entries,
                           int32_t capacity) {
  CniRowsBlock rows = p->row_blocks[block->index];
  for (int32_t i = 0; i < rows.entry_count && i < capacity; i++)
    entries[i] = p->row_entries[rows.entry_start + i];
  return rows.entry_count;
}

// ---- explicit ----

static void explicit_diagonal(const CnProblem *p, const CniBlock *block, double *n) {
  for (int32_t i = 0; i < block->dim; i++)
    for (int32_t j = 0; j < block->dim; j++)
      n[i * block->dim + j] = cni_sparse_entry(&p->w, block->row + i, block->row + j);
}

static double explicit_trace(const CnProblem *p, const CniBlock *block) {
  double sum = 0;
  for (int32_t i = 0; i < block->dim; i++)
    sum += cni_sparse_entry(&p->w, block->row + i, block->row + i);
  return sum;
}

// ---- global ----

static void global_velocity(const CnProblem *p, const CniBlock *block, const double *v, double *u) {
  const CnSparse *e = &p->global->e;
  for (int32_t i = 0; i < block->dim; i++)
    for (int32_t n = e->start[block->row + i]; n < e->start[block->row + i + 1]; n++)
      u[i] += e->value[n] * v[e->column[n]];
}

static void global_momentum(const CnProblem *p, const CniBlock *block, const double *g, double *k) {
  const CnSparse *e = &p->global->e;
  for (int32_t i = 0; i < block->dim; i++)
    for (int32_t n = e->start[block->row + i]; n < e->start[block->row + i + 1]; n++)
      k[e->column[n]] += e->value[n] * g[i];
}

static void global_diagonal(const CnProblem *p, const CniBlock *block, double *n) {
  const double *from = p->global->diagonal + CNI_MAX_DIM * (size_t)block->row;
  memcpy(n, from, (size_t)(block->dim * block->dim) * sizeof *n);
}

static double global_trace(const CnProblem *p, const CniBlock *block) {
  const double *n = p->global->diagonal + CNI_MAX_DIM * (size_t)block->row;
  double sum = 0;
  for (int32_t i = 0; i < block->dim; i++) sum += n[i * (block->dim + 1)];
  return sum;
}

const CniStorageKind cni_storages[CNI_STORAGE_COUNT] = {
    [CNI_ROWS] = {"rows", rows_velocity, rows_free, rows_momentum, rows_impulse, rows_diagonal,
                  rows_trace, rows_expand},
    [CNI_PAIR] = {"pair", pair_velocity, pair_free, pair_momentum, pair_impulse, pair_diagonal,
                  pair_trace, pair_expand},
    [CNI_SPHERE] = {"sphere", sphere_velocity, sphere_free, sphere_momentum, sphere_impulse,
                    sphere_diagonal, sphere_trace, sphere_expand},
    [CNI_EXPLICIT] = {"explicit", NULL, NULL, NULL, NULL, explicit_diagonal, explicit_trace, NULL},
    [CNI_GLOBAL] = {"global", global_velocity, NULL, global_momentum, NULL, global_diagonal,
                    global_trace, NULL},
};

// ---- all blocks ----

void cni_problem_velocity(const CnProblem *p, const double *v, const double *g, double *u) {
  if (p->form == CN_FORM_EXPLICIT) {
    cni_sparse_multiply(&p->w, g, u);
    for (int32_t i = 0; i < p->row_count; i++) u[i] += p->b[i];
    return;
  }
  if (p->form == CN_FORM_GLOBAL) {
    cni_global_velocity(p, v, g, u);
    return;
  }
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    double b[CNI_MAX_DIM], c[CNI_MAX_DIM];
    cni_block_b(p, block, b);
    cni_block_compliance(p, block, c);
    for (int32_t d = 0; d < block->dim; d++) u[block->row + d] = b[d] + c[d] * g[block->row + d];
    cni_storages[block->storage].velocity(p, block, v, u + block->row);
  }
}

void cni_problem_apply(const CnProblem *p, const double *g, double *v) {
  if (p->form == CN_FORM_GLOBAL) {
    cni_global_apply(p, g, v);
    return;
  }
  for (int32_t i = 0; i < p->group_count; i++) {
    CnTwist free = free_of(p, i);
    memcpy(v + 6 * (size_t)i, &free, sizeof free);
  }
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    if (block->storage == CNI_EXPLICIT) continue;
    cni_storages[block->storage].impulse(p, block, g + block->row, v);
  }
}
