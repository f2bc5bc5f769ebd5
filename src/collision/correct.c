// SPDX-License-Identifier: Apache-2.0
// Overlaps that no row knew of are taken back where the step ends.
//
// A row says what becomes of one gap along one normal, to first order. Of two bodies that meet in one
// point and turn by degrees within the step other corners and edges come down, and the way of that one
// point bends: there the shapes lie in each other at the end, although every row has kept its promise
//
//     gap_i + h n_i.(v_b - v_a) >= p,      p = what the solver and the overlaps there were leave
//
// So after the drift pairs that turn far enough are looked at once more, where they are then. One that lies
// deeper than min(p, -slop) is moved apart to that, along the normal of its deepest point and with
// equal and opposite pushes, so that what moves least mass moves (the projection onto what is allowed,
// in the metric of M). Velocities meet the contact in the next step, which begins
// with it as it really is. The pairs of what was moved are looked at in further rounds.
//
// Momentum. Bodies that are moved while they go past each other would change their angular momentum, by x x m v and by
// their inertia as it turns. A pair that is free has it back: with c the pair's centre of mass, V its velocity, r = x - c,
//
//     L = sum r x m (v - V) + I w,   J = sum I + m (r^2 - r r^T)
//
// both bodies are given the turn about c that is missing, J^-1 (L - L'), L' with the old velocities in the new
// places. So momentum and angular momentum stay to round-off. If that made energy the motion of the two
// against each other, all but V and the turn J^-1 L, is slowed down until it does not.
//
// Which pairs: the gap is below what the rows say by at most the turn against each other times the size
// of the smaller one, and what both turn about in the second order. Where that is below the slop,
// as in all that rests, slides or rolls slowly, nothing is looked at; most others are seen to be apart
// along the normal of a row as it turned with its body. Overlaps that a step began with, and
// what a solver left of its rows, are in p and go as they ever went.
//
// Bodies on joints, continuous ones and those without mass stay where they are. Pairs are taken in the
// order of the contacts, by one thread: few need it. Reference: the projected schemes of Acary 2013.
#include "collision/collision.h"

#include "core/error.h"
#include "core/sort.h"

#include <string.h>

#define SLOP 4e-3   // of the smaller inradius
#define ENOUGH 0.05 // of the slop: moved apart
#define ROUNDS 16
#define CONTACTS_A_TASK 256
#define PART 8   // one in so many contacts
#define LEAST 64 // and so many may be under way

typedef struct Pair {
  int32_t first;  // of its contacts
  double allowed; // m: the least gap that it may have, below 0
  int32_t seen;   // moves of both bodies when it was looked at last
} Pair;

#define DEEPER 1u // of the first contact of a pair: it lies deeper than it may
#define LISTED 2u // likewise: it is under way

typedef struct Correct {
  const CniCorrectInput *in;
  uint8_t *marks; // by contact
  Pair *pairs;    // under way
  int32_t pair_count, room;
  int32_t *moves; // by body
} Correct;

// ---- what the rows say ----

static CnTwist twist_of(const CniCorrectInput *in, int32_t body) {
  if (in->model->bodies[body].kind == CN_BODY_FIXED) return (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  return in->twist[in->bodies ? cni_lower_bound(in->bodies, in->body_count, body) : body];
}

static double left_of(const CniCorrectInput *in, const CniContact *c) {
  if (!in->times) return in->time_step;
  return in->time_step - cn_max(in->times[c->body_a], in->times[c->body_b]);
}

static CnVec3 velocity_at(const CniCorrectInput *in, int32_t body, CnVec3 point) {
  CnTwist t = twist_of(in, body);
  return cn_add(t.velocity, cn_cross(t.spin, cn_sub(point, in->pose[body].position)));
}

static int32_t end_of_pair(const CniCorrectInput *in, int32_t first) {
  uint64_t rank = cni_contact_rank(&in->contacts[first]);
  int32_t end = first + 1;
  while (end < in->count && cni_contact_rank(&in->contacts[end]) == rank) end++;
  return end;
}

// The least gap at the end of the step by the rows of a pair, and the contact that has it.
static double promised(const CniCorrectInput *in, int32_t first, int32_t *lowest) {
  double least = INFINITY;
  int32_t end = end_of_pair(in, first);
  *lowest = first;
  for (int32_t i = first; i < end; i++) {
    const CniContact *c = &in->contacts[i];
    CnVec3 apart =
        cn_sub(velocity_at(in, c->body_b, c->point), velocity_at(in, c->body_a, c->point));
    double gap = c->gap + left_of(in, c) * cn_dot(c->normal, apart);
    if (!(gap < least)) continue;
    least = gap;
    *lowest = i;
  }
  return least;
}

// rad/s; a ball about the centre of mass is the same however it turns.
static CnVec3 spin_of(const CniCorrectInput *in, int32_t shape, int32_t body) {
  const CniShape *s = &in->model->shapes[shape];
  if (s->kind == CN_SHAPE_SPHERE && !cni_shape_poses(s)) return CN_VEC3_ZERO;
  return twist_of(in, body).spin;
}

// m: of a shape's middle about the centre of mass, on which it goes round with all of the spin.
static double arm_of(const CniShape *shape) {
  const CniShapePoses *poses = cni_shape_poses(shape);
  return poses ? cn_norm(poses->pose.position) : 0;
}

// How far the gap may be below that. What meets a surface or a half-space has a row for each corner that is near,
// and only bends.
static double unknown(const CniCorrectInput *in, const CniContact *c) {
  const CniModel *m = in->model;
  const CniShape *a = &m->shapes[c->shape_a], *b = &m->shapes[c->shape_b];
  CnVec3 w_a = spin_of(in, c->shape_a, c->body_a), w_b = spin_of(in, c->shape_b, c->body_b);
  double h = left_of(in, c), out_a = INFINITY, out_b = INFINITY, second = 0;
  if (!cni_shape_unbounded(a->kind)) out_a = cni_model_outradius(a);
  if (!cni_shape_unbounded(b->kind)) out_b = cni_model_outradius(b);
  if (out_a < INFINITY) second += cn_norm2(w_a) * (out_a + arm_of(a));
  if (out_b < INFINITY) second += cn_norm2(w_b) * (out_b + arm_of(b));
  int flat = cni_shape_is_surface(a->kind) || cni_shape_is_surface(b->kind) ||
             !(cn_max(out_a, out_b) < INFINITY);
  double turn = flat ? 0 : cn_norm(cn_sub(w_b, w_a));
  return 2 * h * turn * cn_min(out_a, out_b) + h * h * second;
}

static double slop_of(const CniCorrectInput *in, const CniContact *c) {
  const CniShape *a = &in->model->shapes[c->shape_a], *b = &in->model->shapes[c->shape_b];
  return SLOP * cn_min(cni_model_inradius(a), cni_model_inradius(b));
}

// ---- how they lie ----

static int is_free(const CniCorrectInput *in, int32_t body) {
  const CniBody *b = &in->model->bodies[body];
  return cni_has_mass(&in->model->mass[body]) && b->first_joint < 0 && !b->continuous;
}

typedef struct Deepest {
  double gap;
  CnVec3 point, normal;
} Deepest;

static void keep_deepest(void *context, const CniManifold *manifold) {
  Deepest *d = context;
  for (int32_t i = 0; i < manifold->count; i++) {
    if (!(manifold->points[i].gap < d->gap)) continue;
    *d = (Deepest){manifold->points[i].gap, manifold->points[i].point, manifold->normal};
  }
}

static Deepest look(const CniCorrectInput *in, const CniContact *c, const CnPose *pose_a,
                    const CnPose *pose_b) {
  CniPlaced a = cni_model_placed(in->model, c->shape_a, pose_a);
  CniPlaced b = cni_model_placed(in->model, c->shape_b, pose_b);
  Deepest d = {.gap = 0};
  cni_collide_all(&a, &b, 0, keep_deepest, &d);
  return d;
}

static Deepest look_now(const CniCorrectInput *in, const CniContact *c) {
  return look(in, c, &in->pose_new[c->body_a], &in->pose_new[c->body_b]);
}

// Most pairs are seen not to be deeper than so along the normal of a row, as it turned with one of the bodies.
static int surely_not(const CniCorrectInput *in, const CniContact *c, double depth) {
  CniPlaced a = cni_model_placed(in->model, c->shape_a, &in->pose_new[c->body_a]);
  CniPlaced b = cni_model_placed(in->model, c->shape_b, &in->pose_new[c->body_b]);
  for (int32_t k = 0; k < 3; k++) {
    int32_t body = k == 1 ? c->body_b : c->body_a;
    CnVec3 n = c->normal;
    if (k < 2) n = cn_rotate(in->pose_new[body].rotation, cn_unrotate(in->pose[body].rotation, n));
    if (cni_still_apart(&a, &b, -depth, n)) return 1;
  }
  return 0;
}

// The least gap that a pair may have at the end of the step.
static double allowed_to(const CniCorrectInput *in, int32_t first) {
  int32_t lowest;
  return cn_min(promised(in, first, &lowest), -slop_of(in, &in->contacts[first]));
}

// How deep a pair may lie that its rows know nothing of; 0: too little.
static double may_deepen(const CniCorrectInput *in, const CniContact *c) {
  if (!is_free(in, c->body_a) && !is_free(in, c->body_b)) return 0;
  double more = unknown(in, c);
  return more > slop_of(in, c) ? more : 0;
}

// Pairs that came in deeper than their rows say.
static int is_deeper(const CniCorrectInput *in, int32_t first) {
  const CniContact *c = &in->contacts[first];
  int32_t lowest;
  double more = may_deepen(in, c), slop = slop_of(in, c);
  if (!(more > 0)) return 0;
  double least = promised(in, first, &lowest), allowed = cn_min(least, -slop);
  if (!(least - more < allowed)) return 0;
  if (surely_not(in, &in->contacts[lowest], -allowed)) return 0;
  return look_now(in, c).gap < allowed - ENOUGH * slop;
}

static void find_deeper(void *context, int32_t begin, int32_t end) {
  const Correct *s = context;
  const CniContact *c = s->in->contacts;
  for (int32_t i = begin; i < end; i++) {
    int first = i == 0 || cni_contact_rank(&c[i]) != cni_contact_rank(&c[i - 1]);
    s->marks[i] = first && is_deeper(s->in, i) ? DEEPER : 0;
  }
}

// ---- moving apart ----

static CnVec3 turned_by(const CniModel *m, int32_t body, const CnPose *pose, CnVec3 torque) {
  return cn_smul(cni_model_inv_inertia(m, body, pose->rotation), torque);
}

// 1/kg: how easily a place of a body moves along n.
static double ease(const CniCorrectInput *in, int32_t body, CnVec3 point, CnVec3 n) {
  if (!is_free(in, body)) return 0;
  const CnPose *pose = &in->pose_new[body];
  CnVec3 torque = cn_cross(cn_sub(point, pose->position), n);
  return cni_inv_mass(&in->model->mass[body]) +
         cn_dot(torque, turned_by(in->model, body, pose, torque));
}

static void move(Correct *s, int32_t body, CnVec3 point, CnVec3 push) {
  const CniCorrectInput *in = s->in;
  if (!is_free(in, body)) return;
  CnPose *pose = &in->pose_new[body];
  CnVec3 torque = cn_cross(cn_sub(point, pose->position), push);
  CnVec3 turn = turned_by(in->model, body, pose, torque);
  pose->position = cn_madd(pose->position, cni_inv_mass(&in->model->mass[body]), push);
  pose->rotation = cn_qunit(cn_qmul(cni_quat_exp(turn), pose->rotation));
  s->moves[body]++;
}

// ---- momentum ----

// Some bodies about their centre of mass.
typedef struct Motion {
  CnVec3 centre, velocity;
  CnVec3 momentum; // angular
  CnSym3 inertia;
  double energy; // without that of the centre
} Motion;

static Motion motion_of(const CniCorrectInput *in, const int32_t *bodies, int32_t count) {
  const CniModel *model = in->model;
  Motion m = {.energy = 0};
  double mass = 0;
  for (int32_t k = 0; k < count; k++) {
    double own = model->mass[bodies[k]].mass;
    mass += own;
    m.centre = cn_madd(m.centre, own, in->pose_new[bodies[k]].position);
    m.velocity = cn_madd(m.velocity, own, in->end[bodies[k]].velocity);
  }
  m.centre = cn_scale(1 / mass, m.centre);
  m.velocity = cn_scale(1 / mass, m.velocity);
  for (int32_t k = 0; k < count; k++) {
    const CnPose *pose = &in->pose_new[bodies[k]];
    CnTwist t = in->end[bodies[k]];
    double own = model->mass[bodies[k]].mass;
    CnVec3 r = cn_sub(pose->position, m.centre), v = cn_sub(t.velocity, m.velocity);
    CnSym3 inertia = cni_model_inertia(model, bodies[k], pose->rotation);
    CnVec3 turn = cn_smul(inertia, t.spin);
    m.momentum = cn_add(m.momentum, cn_madd(turn, own, cn_cross(r, v)));
    m.energy += 0.5 * (cn_dot(turn, t.spin) + own * cn_norm2(v));
    CnSym3 orbit = {r.y * r.y + r.z * r.z,
                    r.x * r.x + r.z * r.z,
                    r.x * r.x + r.y * r.y,
                    -r.x * r.y,
                    -r.x * r.z,
                    -r.y * r.z};
    inertia = cn_sadd(inertia, (CnSym3){own * orbit.xx, own * orbit.yy, own * orbit.zz,
                                        own * orbit.xy, own * orbit.xz, own * orbit.yz});
    m.inertia = cn_sadd(m.inertia, inertia);
  }
  return m;
}

// A pair that was moved goes on with the angular momentum that it had.
static void give_back(const CniCorrectInput *in, const int32_t pair[2], const Motion *before) {
  Motion now = motion_of(in, pair, 2);
  CnSym3 ease = cn_sinverse(now.inertia);
  CnVec3 turn = cn_smul(ease, before->momentum), had = cn_smul(ease, now.momentum);
  double least = 0.5 * cn_dot(turn, before->momentum);
  double against = now.energy - 0.5 * cn_dot(had, now.momentum), slower = 1;
  if (least + against > before->energy)
    slower = against > 0 ? sqrt(cn_clamp((before->energy - least) / against, 0, 1)) : 0;
  for (int32_t k = 0; k < 2; k++) {
    CnTwist *t = &in->end[pair[k]];
    CnVec3 r = cn_sub(in->pose_new[pair[k]].position, now.centre);
    CnVec3 v = cn_sub(cn_sub(t->velocity, now.velocity), cn_cross(had, r));
    t->velocity = cn_add(cn_madd(now.velocity, slower, v), cn_cross(turn, r));
    t->spin = cn_madd(turn, slower, cn_sub(t->spin, had));
  }
}

// What became of the bodies of a pair, which were as `before` says, in angular momentum and energy.
static void tell(const CniCorrectInput *in, const int32_t *bodies, int32_t count,
                 const Motion *before) {
  Motion now = motion_of(in, bodies, count);
  CnVec3 orbit = CN_VEC3_ZERO;
  double mass = 0;
  for (int32_t k = 0; k < count; k++) mass += in->model->mass[bodies[k]].mass;
  orbit = cn_scale(mass, cn_cross(cn_sub(now.centre, before->centre), before->velocity));
  CnVec3 more = cn_add(cn_sub(now.momentum, before->momentum), orbit);
  in->term->angular_momentum = cn_add(in->term->angular_momentum, more);
  in->term->energy += now.energy - before->energy;
}

// Push a pair apart if it is deeper than it may be; was it?
static int part(Correct *s, const Pair *pair) {
  const CniCorrectInput *in = s->in;
  const CniContact *c = &in->contacts[pair->first];
  Deepest d = look_now(in, c);
  if (!(d.gap < pair->allowed - ENOUGH * slop_of(in, c))) return 0;
  double easy = ease(in, c->body_a, d.point, d.normal) + ease(in, c->body_b, d.point, d.normal);
  CnVec3 push = cn_scale((pair->allowed - d.gap) / easy, d.normal);
  int32_t bodies[2], count = 0;
  if (is_free(in, c->body_a)) bodies[count++] = c->body_a;
  if (is_free(in, c->body_b)) bodies[count++] = c->body_b;
  Motion before = motion_of(in, bodies, count);
  move(s, c->body_b, d.point, push);
  move(s, c->body_a, d.point, cn_neg(push));
  if (count == 2) give_back(in, bodies, &before);
  if (in->term) tell(in, bodies, count, &before);
  return 1;
}

static void list(Correct *s, int32_t first, double allowed) {
  if (s->pair_count == s->room) return;
  s->marks[first] |= LISTED;
  s->pairs[s->pair_count++] = (Pair){first, allowed, 0};
}

// Pairs of bodies that were moved.
static void list_neighbours(Correct *s) {
  const CniCorrectInput *in = s->in;
  for (int32_t i = 0; i < in->count; i = end_of_pair(in, i)) {
    const CniContact *c = &in->contacts[i];
    if (!(s->marks[i] & LISTED) && (s->moves[c->body_a] || s->moves[c->body_b]))
      list(s, i, allowed_to(in, i));
  }
}

static void work_off(Correct *s) {
  const CniCorrectInput *in = s->in;
  for (int32_t round = 0; round < ROUNDS; round++) {
    int32_t moved = 0;
    for (int32_t k = 0; k < s->pair_count; k++) {
      Pair *pair = &s->pairs[k];
      const CniContact *c = &in->contacts[pair->first];
      int32_t moves = 1 + s->moves[c->body_a] + s->moves[c->body_b];
      if (pair->seen == moves) continue;
      pair->seen = moves;
      moved |= part(s, pair);
    }
    if (!moved) return;
    list_neighbours(s);
  }
}

// ---- all of it ----

// The deepest of them, measured by the smaller one, with the gap that it has now.
static void start(Correct *s, CniContact *deepest) {
  const CniCorrectInput *in = s->in;
  double worst = 0;
  for (int32_t i = 0; i < in->count; i++) {
    if (!(s->marks[i] & DEEPER)) continue;
    const CniContact *c = &in->contacts[i];
    double gap = look_now(in, c).gap, relative = gap / slop_of(in, c);
    if (relative < worst) {
      worst = relative;
      *deepest = *c;
      deepest->gap = gap;
    }
    // what its turning does not explain stays
    list(s, i, cn_min(allowed_to(in, i), gap + unknown(in, c)));
  }
}

static CnStatus find_any(Correct *s, int32_t *any) {
  const CniCorrectInput *in = s->in;
  CNI_TRY(CNI_TAKE(in->arena, in->count, s->marks));
  cni_parallel_for(in->tasks, in->count, CONTACTS_A_TASK, find_deeper, s);
  *any = in->count > 0 && memchr(s->marks, DEEPER, (size_t)in->count) != NULL;
  return CN_OK;
}

CnStatus cni_collision_deeper(const CniCorrectInput *in, int32_t *any) {
  return find_any(&(Correct){.in = in}, any);
}

int cni_collision_may_deepen(const CniCorrectInput *in) {
  for (int32_t i = 0; i < in->count; i++)
    if (may_deepen(in, &in->contacts[i]) > 0) return 1;
  return 0;
}

CnStatus cni_collision_correct(const CniCorrectInput *in, CniContact *deepest, int32_t *any) {
  Correct s = {.in = in, .room = in->count / PART + LEAST};
  size_t bodies = (size_t)in->model->body_count;
  // room in steps that need none, too: later ones are not to ask for more
  CNI_TRY(CNI_TAKE(in->arena, s.room, s.pairs));
  CNI_TRY(CNI_TAKE(in->arena, bodies, s.moves));
  CNI_TRY(find_any(&s, any));
  if (!*any) return CN_OK;
  memset(s.moves, 0, bodies * sizeof *s.moves);
  start(&s, deepest);
  work_off(&s);
  return CN_OK;
}
