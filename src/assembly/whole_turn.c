// SPDX-License-Identifier: Apache-2.0
// Angular momentum of machines that float: what the scheme takes, the whole machine gets back.
//
// Where forces at joints hold a body against turning faster than the step resolves, the step problem has
// J' > J for its inertia (groups.c), and the body comes out of the kick with (J' - J) w less angular
// momentum than the impulses gave it: a brake that keeps a taut chain together. And where the drift does
// not find forces that close all joints, force and reaction miss each other by what is open. About a
// machine that nothing outside holds, no joint, no contact, nobody may brake the whole: there the
// difference is given back after the drift as a turn d of all bodies about their centre of mass,
//
//     (sum of J + m (r^2 - r r^T)) d = L after the impulses, J' and all, less L after the drift
//     v += d x r,  w += d
//
// A rigid motion asks nothing of joints, limits and motors, and leaves the momentum as it is. So the
// scheme damps what bodies do against each other, and the angular momentum stays for any step.
#include "assembly/assembly_private.h"

#include "core/error.h"

typedef struct Machine {
  CnSym3 inertia;       // about its centre
  CnVec3 before, after; // its centre times its mass, where the impulses act and after the drift
  CnVec3 lost;
  double mass;
  int32_t held;
} Machine;

static int32_t root_of(int32_t *parent, int32_t body) {
  while (parent[body] != body) body = parent[body] = parent[parent[body]];
  return body;
}

static int has_mass(const CniModel *model, int32_t body) {
  return body >= 0 && cni_has_mass(&model->mass[body]);
}

// The inertia with which a body came out of the kick; returns whether stiffness has added to it.
static int kick_inertia(const CniWholeTurn *in, int32_t i, CnSym3 *inertia) {
  CnQuat rotation = in->pose[i].rotation;
  *inertia = cni_model_inertia(in->model, i, rotation);
  if (!in->problem) return 0;
  CnSym3 inverse = cni_group_inertia(in->problem, i);
  CnSym3 own = cni_model_inv_inertia(in->model, i, rotation);
  int same = own.xx == inverse.xx && own.yy == inverse.yy && own.zz == inverse.zz;
  if (!same) *inertia = cn_sinverse(inverse);
  return !same;
}

static void join(const CniWholeTurn *in, int32_t *parent, Machine *machines) {
  const CniModel *model = in->model;
  for (int32_t i = 0; i < model->joint_count; i++) {
    int32_t a = model->joints[i].body_a, b = model->joints[i].body_b;
    if (has_mass(model, a) && has_mass(model, b)) parent[root_of(parent, a)] = root_of(parent, b);
  }
  for (int32_t i = 0; i < model->joint_count; i++) {
    int32_t a = model->joints[i].body_a, b = model->joints[i].body_b;
    if (has_mass(model, a) && has_mass(model, b)) continue;
    if (has_mass(model, a) || has_mass(model, b))
      machines[root_of(parent, has_mass(model, a) ? a : b)].held = 1;
  }
}

// Contacts that push hold a machine, unless both sides are of it.
static void hold(const CniWholeTurn *in, int32_t *parent, Machine *machines) {
  const CnProblem *p = in->problem;
  if (!p) return;
  for (int32_t i = in->joint_blocks[in->model->joint_count]; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    int pair = block->storage == CNI_PAIR;
    int32_t a = pair ? p->pairs[block->index].group_a : p->spheres[block->index].group_a;
    int32_t b = pair ? p->pairs[block->index].group_b : p->spheres[block->index].group_b;
    if (in->g[block->row] == 0) continue;
    if (a < in->model->body_count) a = root_of(parent, a);
    if (b < in->model->body_count) b = root_of(parent, b);
    if (a == b) continue;
    if (a < in->model->body_count) machines[a].held = 1;
    if (b < in->model->body_count) machines[b].held = 1;
  }
}

static CnVec3 from_centre(const CnPose *pose, CnVec3 sum, double mass) {
  return cn_sub(pose->position, cn_scale(1 / mass, sum));
}

static void weigh(const CniWholeTurn *in, int32_t i, Machine *m) {
  double mass = in->model->mass[i].mass;
  m->mass += mass;
  m->before = cn_madd(m->before, mass, in->pose[i].position);
  m->after = cn_madd(m->after, mass, in->pose_new[i].position);
}

// Angular momentum before and after, and the inertia.
static void add_body(const CniWholeTurn *in, int32_t i, Machine *m) {
  double mass = in->model->mass[i].mass;
  CnVec3 r = from_centre(&in->pose[i], m->before, m->mass);
  CnSym3 inertia, now = cni_model_inertia(in->model, i, in->pose_new[i].rotation);
  kick_inertia(in, i, &inertia);
  m->lost = cn_add(m->lost, cn_smul(inertia, in->twist[i].spin));
  m->lost = cn_madd(m->lost, mass, cn_cross(r, in->twist[i].velocity));
  r = from_centre(&in->pose_new[i], m->after, m->mass);
  m->lost = cn_sub(m->lost, cn_smul(now, in->end[i].spin));
  m->lost = cn_madd(m->lost, -mass, cn_cross(r, in->end[i].velocity));
  double rr = mass * cn_norm2(r);
  CnSym3 far = {rr - mass * r.x * r.x, rr - mass * r.y * r.y, rr - mass * r.z * r.z,
                -mass * r.x * r.y,     -mass * r.x * r.z,     -mass * r.y * r.z};
  m->inertia = cn_sadd(m->inertia, cn_sadd(now, far));
}

// The turn of a body with its machine.
static void turn(const CniWholeTurn *in, int32_t i, const Machine *m) {
  CnVec3 d = cn_smul(cn_sinverse(m->inertia), m->lost), x = in->pose_new[i].position;
  CnVec3 v = cn_cross(d, from_centre(&in->pose_new[i], m->after, m->mass));
  CnTwist before = in->end[i], *end = &in->end[i];
  if (!isfinite(cn_norm2(d))) return;
  end->velocity = cn_add(end->velocity, v);
  end->spin = cn_add(end->spin, d);
  if (!in->terms) return;
  CnBalanceTerm *term = &in->terms[CN_BALANCE_SCHEME];
  CnVec3 push = cn_scale(in->model->mass[i].mass, v);
  CnVec3 spin = cn_smul(cni_model_inertia(in->model, i, in->pose_new[i].rotation), d);
  term->momentum = cn_add(term->momentum, push);
  term->angular_momentum = cn_add(term->angular_momentum, cn_add(cn_cross(x, push), spin));
  term->energy += 0.5 * (cn_dot(push, cn_add(before.velocity, end->velocity)) +
                         cn_dot(spin, cn_add(before.spin, end->spin)));
}

static int is_linked(const CniModel *model, int32_t i) {
  return has_mass(model, i) && model->bodies[i].first_joint >= 0;
}

CnStatus cni_whole_turn(const CniWholeTurn *in) {
  const CniModel *model = in->model;
  int32_t n = model->body_count, any = in->missed, *parent;
  CnSym3 inertia;
  Machine *machines;
  for (int32_t i = 0; i < n && !any; i++)
    any = is_linked(model, i) && kick_inertia(in, i, &inertia);
  if (!any) return CN_OK;
  CNI_TRY(CNI_TAKE(in->arena, n, parent));
  CNI_TRY(cni_arena_array(in->arena, n, sizeof *machines, &machines));
  for (int32_t i = 0; i < n; i++) parent[i] = i;
  join(in, parent, machines);
  hold(in, parent, machines);
  for (int32_t i = 0; i < n; i++)
    if (is_linked(model, i)) weigh(in, i, &machines[root_of(parent, i)]);
  for (int32_t i = 0; i < n; i++)
    if (is_linked(model, i)) add_body(in, i, &machines[root_of(parent, i)]);
  for (int32_t i = 0; i < n; i++) {
    const Machine *m = &machines[root_of(parent, i)];
    if (is_linked(model, i) && !m->held) turn(in, i, m);
  }
  return CN_OK;
}
