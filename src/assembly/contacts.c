// SPDX-License-Identifier: Apache-2.0
// Contacts to friction blocks, and the way back from the answer to impulses.
//
// Two passes. Plan (plan.c, one thread, because sets are shared and the user's hook may be called):
// the law of each contact, hence its set, dimension and storage. Fill (here, in parallel): frame,
// lever arms, the warm start, and
//
//     b_n = phi/h                              phi > 0: the gap may close, no more
//         = max(kappa phi, phi - slop)/h       the same where the two shapes bore a load here (contacts/faces.c)
//         = max(kappa phi/h, -v_recover)       phi < 0: an overlap goes away, without popping
//     b_n = min(e u_n_old, the above)          an impact: e > 0, u_n_old < -v_threshold and
//                                              phi + h u_n_free <= 0 (it closes within the step)
//     b_t = surface velocity of b minus a's    conveyor belts, and of what rides on a turntable
//
// kappa and slop. A solver that stops early removes of a slow mode (the sway of a tall stack) only
// the share s of its error per step, and the warm start carries the impulse on. With position
// feedback kappa the mode obeys p += -s (v + p + kappa x/h), v += p, x += h v, which grows unless
// s (2 + kappa)(1 + 2 kappa) > kappa. So kappa is small, on both sides of zero: under a load a
// gap below the slop closes by kappa of itself per step. A contact that was free closes at once, or
// a ball would be braked before it could bounce; and in the convex model, where a sliding contact
// floats at h mu |u_t| by itself, the slop would only add to that.
//
// In an impact e u_n_old < 0 is always below phi/h > 0: the gap is not used, or the ball would lose
// the part of its speed that closes the gap. Warm start: the impulses of the last step, found by
// rank and feature, as world vectors resolved in this step's frame and projected on the cone.
#include "assembly/contacts/faces.h"

#include "core/sort.h"

#define CONTACTS_PER_TASK 1024
#define AHEAD 8         // contacts whose shapes are fetched ahead
#define LEAST_LEFT 1e-9 // of a step
#define FAR 100         // times the speed that closes a gap in a step: it stays open

typedef struct FillLoop {
  const CniAssemblyInput *input;
  const CnProblem *problem; // its arrays are written, each place by one index
  const CniContactPlan *plan;
  int32_t *block_of;
  double *g;
} FillLoop;

static const CniMaterialSets *law_of(const CniContactPlan *plan, int32_t contact) {
  return &plan->laws.laws[plan->uniform ? 0 : plan->law_of[contact]];
}

double cni_contact_restitution(const CniContactPlan *plan, int32_t contact) {
  return plan->tuned ? plan->tuned[contact].restitution : law_of(plan, contact)->law.restitution;
}

typedef struct Frame {
  CnVec3 n, t1, t2;
  double length;
  int complete; // the tangents are there
} Frame;

// Contacts of spheres that bear no load do without tangents.
static inline void complete_frame(Frame *f) {
  if (!f->complete) cni_tangents(f->n, &f->t1, &f->t2);
  f->complete = 1;
}

// ---- geometry ----

static Frame fill_geometry(const CniAssemblyInput *in, const CnProblem *p, const CniBlock *block,
                           const CniContact *c, CniArms arms, uint32_t info_a, uint32_t info_b) {
  int32_t group_a = cni_body_group(in, c->body_a), group_b = cni_body_group(in, c->body_b);
  Frame f = {.n = c->normal};
  if (block->storage == CNI_SPHERE) {
    // along the normal an arm's length is its component
    double ra = info_a & CNI_INFO_MASS ? cn_dot(arms.a, f.n) : 0;
    double rb = info_b & CNI_INFO_MASS ? -cn_dot(arms.b, f.n) : 0;
    double nearer = ra > 0 && rb > 0 ? cn_min(ra, rb) : cn_max(ra, rb);
    f.length = nearer > 0 ? nearer : 1;
    p->spheres[block->index] = (CniSphereBlock){
        .normal = f.n, .radius_a = ra, .radius_b = rb, .group_a = group_a, .group_b = group_b};
    return f;
  }
  complete_frame(&f);
  f.length = cni_contact_length(arms, info_a, info_b);
  p->pairs[block->index] = (CniPairBlock){.normal = f.n,
                                          .tangent = f.t1,
                                          .arm_a = arms.a,
                                          .arm_b = arms.b,
                                          .length = f.length,
                                          .group_a = group_a,
                                          .group_b = group_b};
  return f;
}

// ---- right-hand side ----

// Normal part of the relative velocity at the contact.
static double normal_speed(const CniContact *c, CniArms arms, const CnTwist *a, const CnTwist *b) {
  CnVec3 va = cn_add(a->velocity, cn_cross(a->spin, arms.a));
  CnVec3 vb = cn_add(b->velocity, cn_cross(b->spin, arms.b));
  return cn_dot(c->normal, cn_sub(vb, va));
}

static CnTwist old_twist(const CniAssemblyInput *in, int32_t body) {
  if (in->model->bodies[body].kind == CN_BODY_FIXED) return (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  return in->twist[body];
}

// The normal speed at the start of the step.
static double old_speed(const CniAssemblyInput *in, const CniContact *c, CniArms arms) {
  CnTwist a = old_twist(in, c->body_a), b = old_twist(in, c->body_b);
  return normal_speed(c, arms, &a, &b);
}

// An overlap goes away at a bounded speed: as given, or as a body falls along the radius of the smaller
// shape. Few overlaps reach the bound of the smallest shape of all, where the root is taken.
static double recovering(const CniAssemblyInput *in, const CniContactPlan *plan,
                         const CniContact *c, double b_n) {
  if (b_n >= -plan->least_recovery) return b_n;
  if (in->recovery_speed >= 0) return -in->recovery_speed;
  double r = cn_min(plan->centres[cni_shape_place(in, c->shape_a)].inradius,
                    plan->centres[cni_shape_place(in, c->shape_b)].inradius);
  return cn_max(b_n, -sqrt(cn_norm(in->gravity) * r));
}

// What is left of the step for a contact.
static double time_left(const CniAssemblyInput *in, const CniContact *c) {
  double h = in->time_step;
  if (!in->times) return h;
  return cn_max(h - cn_max(in->times[c->body_a], in->times[c->body_b]), LEAST_LEFT * h);
}

// m/s: how fast any point of two bodies at the distance of a contact moves, at the most.
static double fastest(const CniAssemblyInput *in, const CniContact *c) {
  CniArms arms = cni_contact_arms(in, c);
  CnTwist a = old_twist(in, c->body_a), b = old_twist(in, c->body_b);
  return cn_norm(a.velocity) + cn_norm(a.spin) * cn_norm(arms.a) + cn_norm(b.velocity) +
         cn_norm(b.spin) * cn_norm(arms.b);
}

// b_n of a gap. Where next to nothing is left of the step it is out of the way, and no more: residuals are
// relative to the largest speed, and beside 1e9 m/s any impulse would pass for an answer.
static double open_b(const CniAssemblyInput *in, const CniContact *c) {
  double left = time_left(in, c), h = in->time_step;
  if (FAR * left >= h) return c->gap / left;
  return cn_min(c->gap / left, cn_max(FAR * c->gap / h, 4 * fastest(in, c)));
}

// b_n without an impact.
double cni_contact_plain_b(const CniAssemblyInput *in, const CniContactPlan *plan,
                           const CniContact *c) {
  return c->gap > 0 ? open_b(in, c)
                    : recovering(in, plan, c, in->contact_stabilisation * c->gap / in->time_step);
}

static double normal_b(const CniAssemblyInput *in, const CnProblem *p, const CniContactPlan *plan,
                       const CniContact *c, CniArms arms, double restitution) {
  double b_n = cni_contact_plain_b(in, plan, c);
  if (!(restitution > 0)) return b_n;

  const CniGroup *a = &p->groups[cni_body_group(in, c->body_a)];
  const CniGroup *b = &p->groups[cni_body_group(in, c->body_b)];
  double u_old = old_speed(in, c, arms);
  if (!(u_old < -in->restitution_threshold)) return b_n;
  CnTwist free_a = cni_group_free(a), free_b = cni_group_free(b);
  double u_free = normal_speed(c, arms, &free_a, &free_b);
  return c->gap + time_left(in, c) * u_free <= 0 ? cn_min(restitution * u_old, b_n) : b_n;
}

static void fill_b(const FillLoop *loop, const CniBlock *block, int32_t i, CniArms arms, Frame *f) {
  const CniAssemblyInput *in = loop->input;
  const CniContact *c = &in->contacts[i];
  const CnProblem *p = loop->problem;
  double *b = cni_block_b_n(p, block), restitution;
  CnVec3 surface = CN_VEC3_ZERO;
  if (loop->plan->tuned) {
    surface = loop->plan->tuned[i].surface;
    restitution = loop->plan->tuned[i].restitution;
  } else {
    const CniMaterialSets *law = law_of(loop->plan, i);
    restitution = law->law.restitution;
    if (law->moving)
      surface = cn_sub(cni_surface_velocity(in, c->shape_b, c->body_b),
                       cni_surface_velocity(in, c->shape_a, c->body_a));
  }
  b[0] = normal_b(in, p, loop->plan, c, arms, restitution);
  if (p->b_per_block) return;
  if (loop->plan->turning) surface = cn_add(surface, cni_contact_ride(in, loop->plan, p, c));
  for (int32_t r = 1; r < block->dim; r++) b[r] = 0;
  if (block->dim >= 3 && (surface.x != 0 || surface.y != 0 || surface.z != 0)) {
    complete_frame(f);
    b[1] = cn_dot(f->t1, surface);
    b[2] = cn_dot(f->t2, surface);
  }
}

// ---- the last step ----

int32_t cni_old_find(const CniOldContacts *old, uint64_t rank) {
  int32_t lo = 0, hi = old->count;
  CNI_BISECT(lo, hi, middle, cni_old_rank(old, middle) < rank)
  return lo;
}

static void resolve(const CnProblem *p, const CniBlock *block, const CniOldContacts *old,
                    int32_t at, double scale, Frame *f, double *g) {
  CnVec3 linear = old->linear[at];
  int turns = old->angular && block->dim > 3;
  if (!turns && linear.x == 0 && linear.y == 0 && linear.z == 0) return; // g is zero as it is
  complete_frame(f);
  double all[CNI_MAX_DIM] = {
      cn_dot(f->n, linear), cn_dot(f->t1, linear), cn_dot(f->t2, linear), 0, 0, 0};
  if (turns) {
    CnVec3 angular = old->angular[at];
    all[3] = cn_dot(f->t1, angular) / f->length;
    all[4] = cn_dot(f->t2, angular) / f->length;
    all[5] = cn_dot(f->n, angular) / f->length;
  }
  for (int32_t r = 0; r < block->dim; r++) g[r] = scale * all[r];
  // most are in the cone still
  const CnSet *set = &p->sets[block->set];
  double n = g[0] + set->cohesion, limit = set->mu * n;
  if (block->kind == CN_BLOCK_FRICTION && n >= 0 && g[1] * g[1] + g[2] * g[2] <= limit * limit)
    return;
  cni_project(p, block, g);
}

// Where the merge with the old contacts stands.
typedef struct OldCursor {
  int32_t at;   // the first old contact whose rank is not below
  int32_t full; // the first one in full that is not before it (if some are in short)
  CniBend bend; // of the contacts before
} OldCursor;

static void move_to(const CniOldContacts *old, uint64_t rank, OldCursor *cursor) {
  while (cursor->at < old->count && cni_old_rank(old, cursor->at) < rank) cursor->at++;
  while (cursor->full < old->full_count && old->full_at[cursor->full] < cursor->at) cursor->full++;
}

// What the pair of shapes did in the last step. The cursor is where the pair's old contacts begin.
static CniBefore look_back(const CniAssemblyInput *in, const OldCursor *cursor, uint64_t rank,
                           int32_t i) {
  const CniOldContacts *old = &in->old;
  uint32_t feature = in->contacts[i].feature;
  CniBefore before = {.own = -1};
  int32_t k = cursor->full;
  for (int32_t j = cursor->at; j < old->count && cni_old_rank(old, j) == rank; j++) {
    int32_t at = old->place ? old->place[j] : j, full = at;
    if (old->shorts) {
      if (old->place) k = cni_lower_bound(old->full_at, old->full_count, at);
      full = k < old->full_count && old->full_at[k] == at ? k++ : -1;
    }
    if ((full >= 0 ? old->full[full].feature : 0) == feature) before.own = at;
    CnVec3 l = old->linear[at];
    if (l.x == 0 && l.y == 0 && l.z == 0) continue;
    if (full < 0 || old->full[full].feature >> CNI_PART_SHIFT == feature >> CNI_PART_SHIFT)
      before.loaded = before.gentle = 1;
    else
      cni_contact_other_face(in, i, &old->full[full], &before);
  }
  return before;
}

// Any contact.
static void fill_any(const FillLoop *loop, int32_t i, const CniBlock *block, OldCursor *cursor,
                     double scale) {
  const CniAssemblyInput *in = loop->input;
  const CnProblem *p = loop->problem;
  const CniContact *c = &in->contacts[i];
  CniArms arms = cni_contact_arms(in, c);
  uint32_t info_a = loop->plan->shape_info[cni_shape_place(in, c->shape_a)];
  uint32_t info_b = loop->plan->shape_info[cni_shape_place(in, c->shape_b)];
  // what bounces in this step does so where it touches: the point is in the middle of the gap as yet.
  // Two bodies with mass keep that one point, and with it their angular momentum
  if (c->gap > 0 && !(info_a & info_b & CNI_INFO_MASS) &&
      cni_contact_restitution(loop->plan, i) > 0) {
    arms.a = cn_madd(arms.a, -0.5 * c->gap, c->normal);
    arms.b = cn_madd(arms.b, 0.5 * c->gap, c->normal);
  }
  Frame f = fill_geometry(in, p, block, c, arms, info_a, info_b);
  for (int32_t r = 0; r < block->dim; r++) loop->g[block->row + r] = 0;
  fill_b(loop, block, i, arms, &f);

  uint64_t rank = cni_contact_rank(c);
  move_to(&in->old, rank, cursor);
  CniBefore before = look_back(in, cursor, rank, i);
  if (before.own >= 0) resolve(p, block, &in->old, before.own, scale, &f, &loop->g[block->row]);
  // one that comes to bounce again does not rest; gravity alone brings it back in two steps
  double fast = in->restitution_threshold + 2 * in->time_step * cn_norm(in->gravity);
  int bounces = cni_contact_restitution(loop->plan, i) > 0 && old_speed(in, c, arms) < -fast;
  if (bounces) return;
  double *b_n = cni_block_b_n(p, block);
  if (p->friction == CN_FRICTION_COULOMB) cni_contact_soften(in, loop->plan, c, before, b_n);
  double bend = before.loaded ? cni_contact_bend(in, loop->plan, i, &cursor->bend) : 0;
  if (bend != 0) *b_n += bend / in->time_step;
}

// What contacts of two spheres share, by value: nothing that is written in between can change it.
typedef struct RoundLoop {
  const CnProblem *problem;
  const CniShapeCentre *centres;
  const uint32_t *info;
  const CniShortContact *shorts; // of the last step
  const CnVec3 *linear;
  int32_t old_count, gentle; // whether gaps close gently under a load
  double scale, time_step, slop;
  double shares[2];              // of an overlap and of a gap
  const CniAssemblyInput *input; // for the few
  const CniContactPlan *plan;
} RoundLoop;

static RoundLoop round_loop(const FillLoop *loop, double scale) {
  const CniAssemblyInput *in = loop->input;
  return (RoundLoop){.problem = loop->problem,
                     .centres = loop->plan->centres,
                     .info = loop->plan->shape_info,
                     .shorts = in->old.shorts,
                     .linear = in->old.linear,
                     .old_count = in->old.count,
                     .gentle = loop->problem->friction == CN_FRICTION_COULOMB,
                     .scale = scale,
                     .time_step = in->time_step,
                     .slop = in->contact_slop,
                     .shares = {in->contact_stabilisation, 1},
                     .input = in,
                     .plan = loop->plan};
}

// The impulse of the last step in the present frame, inside the friction cone.
static inline void warm_round(const CnProblem *p, const CniBlock *block, CnVec3 n, CnVec3 linear,
                              double scale, double *g) {
  CnVec3 t1, t2;
  cni_tangents(n, &t1, &t2);
  double g_n = scale * cn_dot(n, linear);
  double g_1 = scale * cn_dot(t1, linear), g_2 = scale * cn_dot(t2, linear);
  g[0] = g_n;
  g[1] = g_1;
  g[2] = g_2;
  const CnSet *set = &p->sets[block->set];
  double sum = g_n + set->cohesion, limit = set->mu * sum;
  if (!(sum >= 0 && g_1 * g_1 + g_2 * g_2 <= limit * limit)) cni_project(p, block, g);
}

// Where the merge stands: the first old contact whose rank is not below, and its rank.
typedef struct RoundCursor {
  int32_t at;
  uint64_t next;
} RoundCursor;

static inline RoundCursor round_cursor(const RoundLoop *k, int32_t at) {
  return (RoundCursor){at, at < k->old_count ? cni_short_rank(k->shorts[at]) : UINT64_MAX};
}

// The old place of a contact if it bore a load, -1 otherwise. Two spheres have one contact, of
// feature 0.
static inline int32_t find_loaded(const RoundLoop *k, const CniContact *c, RoundCursor *cursor) {
  uint64_t rank = cni_contact_rank(c);
  while (cursor->next < rank) *cursor = round_cursor(k, cursor->at + 1);
  return cursor->next == rank && k->shorts[cursor->at].a & CNI_SHORT_BIT ? cursor->at : -1;
}

// Two spheres that do not bounce, with friction alone: most contacts of a pile. The same numbers as
// above, with as few branches that nobody can predict as possible. `old` is where the impulse of
// the last step is, -1: there was none.
static inline void fill_round(const RoundLoop *k, const CniContact *c, const CniBlock *block,
                              int32_t old, double *g, double *b_n) {
  CnVec3 n = c->normal;
  int32_t shape_a = cni_shape_place(k->input, c->shape_a);
  int32_t shape_b = cni_shape_place(k->input, c->shape_b);
  const CniShapeCentre *a = &k->centres[shape_a], *b = &k->centres[shape_b];
  double radius_a = cn_dot(cn_sub(c->point, a->centre), n);
  double radius_b = -cn_dot(cn_sub(c->point, b->centre), n);
  k->problem->spheres[block->index] =
      (CniSphereBlock){.normal = n,
                       .radius_a = k->info[shape_a] & CNI_INFO_MASS ? radius_a : 0,
                       .radius_b = k->info[shape_b] & CNI_INFO_MASS ? radius_b : 0,
                       .group_a = cni_body_group(k->input, c->body_a),
                       .group_b = cni_body_group(k->input, c->body_b)};

  // a gap closes, an overlap goes away by a share of itself
  double gap = c->gap, way = k->shares[gap > 0] * gap;
  g[0] = g[1] = g[2] = 0;
  if (old >= 0) {
    double slop = k->slop > 0 ? k->slop : CNI_SLOP * cn_min(a->inradius, b->inradius);
    if (gap > 0 && k->gentle) way = cn_max(k->shares[0] * gap, gap - slop);
    warm_round(k->problem, block, n, k->linear[old], k->scale, g);
  }
  double speed = way / k->time_step;
  *b_n = speed < -k->plan->least_recovery ? recovering(k->input, k->plan, c, speed) : speed;
}

// ---- all of them ----

static inline void note_short(const CniAssemblyInput *in, int32_t i, const CniContact *c,
                              int has_block) {
  if (!in->shorts) return;
  in->shorts[i] =
      has_block ? (CniShortContact){(uint32_t)c->shape_a | (c->two_spheres ? 0 : CNI_SHORT_BIT),
                                    (uint32_t)c->shape_b}
                : (CniShortContact){CNI_SHORT_NONE, CNI_SHORT_NONE};
}

// The other shape of a contact may lie anywhere: it is fetched ahead of use.
static inline void prefetch_centres(const CniAssemblyInput *in, const CniShapeCentre *centres,
                                    const CniContact *c) {
  __builtin_prefetch(&centres[cni_shape_place(in, c->shape_a)]);
  __builtin_prefetch(&centres[cni_shape_place(in, c->shape_b)]);
}

// Contacts with blocks that the plan has made.
static void fill_each(const FillLoop *loop, int32_t begin, int32_t end, OldCursor *cursor,
                      double scale) {
  const CniAssemblyInput *in = loop->input;
  const CnProblem *p = loop->problem;
  const CniContactPlan *plan = loop->plan;
  int simple = !plan->tuned && p->b_per_block && (in->old.count == 0 || !in->old.rank);
  const RoundLoop rounds = round_loop(loop, scale);
  for (int32_t i = begin; i < end; i++) {
    const CniContact *c = &in->contacts[i];
    if (i + AHEAD < end) prefetch_centres(in, plan->centres, c + AHEAD);
    const CniBlock *block = loop->block_of[i] < 0 ? NULL : &p->blocks[loop->block_of[i]];
    note_short(in, i, c, block != NULL);
    if (!block) continue;
    if (simple && c->two_spheres && block->storage == CNI_SPHERE &&
        block->kind == CN_BLOCK_FRICTION && !(law_of(plan, i)->law.restitution > 0)) {
      RoundCursor at = round_cursor(&rounds, cursor->at);
      int32_t old = find_loaded(&rounds, c, &at);
      cursor->at = at.at;
      fill_round(&rounds, c, block, old, &loop->g[block->row], cni_block_b_n(p, block));
    } else {
      fill_any(loop, i, block, cursor, scale);
    }
  }
}

// Contacts that are all alike: their blocks are made on the way.
static void fill_alike(const FillLoop *loop, int32_t begin, int32_t end, OldCursor *cursor,
                       double scale) {
  const CniAssemblyInput *in = loop->input;
  const CnProblem *p = loop->problem;
  const CniContactPlan *plan = loop->plan;
  CniBlock block = plan->first;
  block.index += begin;
  block.row += block.dim * begin;
  int simple = p->b_per_block && (in->old.count == 0 || !in->old.rank) &&
               block.kind == CN_BLOCK_FRICTION && !(plan->laws.laws[0].law.restitution > 0);
  const RoundLoop rounds = round_loop(loop, scale);
  RoundCursor at = round_cursor(&rounds, simple ? cursor->at : in->old.count);
  for (int32_t i = begin; i < end; i++, block.index++, block.row += block.dim) {
    const CniContact *c = &in->contacts[i];
    if (i + AHEAD < end) prefetch_centres(in, plan->centres, c + AHEAD);
    int32_t place = plan->first_block + i;
    loop->block_of[i] = place;
    p->blocks[place] = block;
    note_short(in, i, c, 1);
    if (simple && c->two_spheres) {
      int32_t old = find_loaded(&rounds, c, &at);
      fill_round(&rounds, c, &block, old, &loop->g[block.row], &p->b[place]);
    } else {
      if (simple) cursor->at = at.at;
      fill_any(loop, i, &p->blocks[place], cursor, scale);
      if (simple) at = round_cursor(&rounds, cursor->at);
    }
  }
}

// Contacts and old contacts both ascend by rank: a merge, started by one search.
static void fill_contacts(void *context, int32_t begin, int32_t end) {
  const FillLoop *loop = context;
  const CniAssemblyInput *in = loop->input;
  const CniOldContacts *old = &in->old;
  double scale = old->time_step > 0 ? in->time_step / old->time_step : 0;
  OldCursor cursor = {old->count, 0, {-1, 0}};
  if (scale > 0) cursor.at = cni_old_find(old, cni_contact_rank(&in->contacts[begin]));
  if (old->shorts && !old->place)
    cursor.full = cni_lower_bound(old->full_at, old->full_count, cursor.at);
  if (loop->plan->uniform)
    fill_alike(loop, begin, end, &cursor, scale);
  else
    fill_each(loop, begin, end, &cursor, scale);
}

void cni_fill_contacts(const CniAssemblyInput *input, CnProblem *problem,
                       const CniContactPlan *plan, int32_t *block_of, double *g) {
  FillLoop loop = {input, problem, plan, block_of, g};
  cni_parallel_for(input->tasks, input->contact_count, CONTACTS_PER_TASK, fill_contacts, &loop);
}

// ---- the way back ----

static Frame block_frame(const CnProblem *p, const CniBlock *block) {
  Frame f;
  if (block->storage == CNI_SPHERE) {
    const CniSphereBlock *s = &p->spheres[block->index];
    f.n = s->normal;
    f.length = block->dim > 3 ? cni_sphere_length(p, block->index) : 1; // for turning only
    cni_tangents(f.n, &f.t1, &f.t2);
  } else {
    const CniPairBlock *s = &p->pairs[block->index];
    f.n = s->normal;
    f.length = s->length;
    f.t1 = s->tangent;
    f.t2 = cn_cross(f.n, f.t1);
  }
  return f;
}

static CniContactImpulse block_impulse(const CnProblem *problem, const CnAnswer *answer,
                                       const CniBlock *at) {
  CniContactImpulse impulse = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  const double *g = &answer->g[at->row];
  if (at->dim <= 3 && g[0] == 0 && (at->dim < 3 || (g[1] == 0 && g[2] == 0))) return impulse;
  Frame f = block_frame(problem, at);
  impulse.linear = cn_scale(g[0], f.n);
  if (at->dim >= 3) impulse.linear = cn_madd(cn_madd(impulse.linear, g[1], f.t1), g[2], f.t2);
  if (at->dim >= 5) impulse.angular = cn_scale(f.length, cn_madd(cn_scale(g[3], f.t1), g[4], f.t2));
  if (at->dim >= 6) impulse.angular = cn_madd(impulse.angular, f.length * g[5], f.n);
  return impulse;
}

void cni_contact_put(const CnProblem *problem, const CniBlock *block, CnVec3 linear, CnVec3 angular,
                     double *g) {
  Frame f = block_frame(problem, block);
  angular = cn_scale(1 / f.length, angular);
  g[0] += cn_dot(f.n, linear);
  if (block->dim > 1) g[1] += cn_dot(f.t1, linear);
  if (block->dim > 2) g[2] += cn_dot(f.t2, linear);
  if (block->dim > 3) g[3] += cn_dot(f.t1, angular);
  if (block->dim > 4) g[4] += cn_dot(f.t2, angular);
  if (block->dim > 5) g[5] += cn_dot(f.n, angular);
}

void cni_contact_impulses(const CnProblem *problem, const CnAnswer *answer, int32_t first,
                          int32_t count, CnVec3 *linear, CnVec3 *angular) {
  for (int32_t i = 0; i < count; i++) {
    CniContactImpulse impulse = block_impulse(problem, answer, &problem->blocks[first + i]);
    linear[i] = impulse.linear;
    if (angular) angular[i] = impulse.angular;
  }
}
