// SPDX-License-Identifier: Apache-2.0
// Drift of bodies on joints: their motion without forces over a step, in which joints carry what
// keeps them together and do no work.
//
//     x1 = x0 + h (v+ + v1)/2,   v1 = v+ + f/m,   L1 = L0 + r x f + t
//     R1 = R0 cay(h Wm),         Wm = (W0 + W1)/2 in body axes
//     c(q1) = (1 - kappa) c(q0)
//
// with the joint's impulse l: f, t = sum of its rows times l. Rows and lever arms r are the means of
// those at the two ends of the step. The Cayley map moves a point of the body by h w x r with that
// very mean r, so for a ball joint the work l.(E v+ + E v1)/2 is l.(c(q1) - c(q0))/h = 0 without
// any error of the step: an arm keeps turning for ever. Force and reaction have one line of action,
// so that angular momentum stays too. For the other kinds energy is kept to third order. A body that
// turns about the line of its joints (a wheel on its axle) takes k = 2 tan(h|W|/2)/|W| for h in its
// turn, as free ones do (drift.c), and so turns by h|W|: the joints' arms do not move with it. Between
// that and an arm, s = |W x r|/(|W||r|), k goes over to h as 1/(1 + 1e4 s^2). A position
// error that is there at the beginning is the business of the kick (kappa, its stabilisation); the
// drift adds none. What hangs at rest has nothing to carry here: l = 0.
//
// l is found island by island by Newton's method with a factor of S = E M^-1 E^T, rows and masses in
// the middle of the motion without joints, so that each step of it leaves a share of about
// (h w)^2/8 of the error: two to four of them. A force that pulls at an arm holds against turning:
// J + h/4 (r.f - r f^T), which counts where bodies are light and forces large, stands for J, and S
// is factored again where that changes. Where Newton's method does not come nearer (a turn of more
// than a radian in a step) the island goes without, and the next kick pulls it together.
//
// References: Hairer, Lubich and Wanner, Geometric Numerical Integration, VII.1 (SHAKE and RATTLE);
// Simo and Wong 1991.
#include "assembly/assembly_private.h"

#include "core/error.h"
#include "sparse/sparse.h"

#define MAX_NEWTON 8
#define MAX_FACTORS 4
#define SLOW 0.1       // of the error left by a step: a new factor is worth its price
#define LIGHT 1e-3     // stiffness of the forces over inertia that is not worth it
#define LINES 1e-13    // residual that is let be, of lever arms and radii of gyration
#define TURNS 1e-13    // rad
#define ROUNDING 2e-15 // of the positions
#define AXLE 1e4       // how soon a joint's arm is one

// A row at the beginning of the step, and the mean of it and the end.
typedef struct Row {
  CnVec3 linear, angular;
} Row;

typedef struct Link {
  int32_t joint, row, dim;
  int32_t a, b;        // among the bodies below, -1: without mass
  CnVec3 arms[2];      // at the beginning
  CnVec3 mean_arms[2]; // of both ends
  double tolerance;    // m
} Link;

typedef struct Body {
  int32_t body;
  int32_t owner; // the link that moves it
  double mass;
  CnVec3 inertia;
  double across;   // largest s^2 of its joints
  double turn;     // s: k
  CnVec3 spin;     // W0
  CnVec3 middle;   // Wm
  CnTwist impulse; // of the joints, at the centre of mass
  CnMat3 arms;     // sum of r f^T in body axes
} Body;

typedef struct DriftRoom {
  CniDirectBody *bodies;
  CniDirectBlock *blocks;
  CniDirectSide *sides;
  CnTwist *e;
} DriftRoom;

typedef struct Drift {
  const CniDriftInput *in;
  Link *links;
  Row *rows, *means;
  Body *bodies;
  double *start, *residual, *impulse, *change; // by row
  CniDirectSystem system;
  DriftRoom room;       // its arrays, to write to
  double *first, *last; // by island: error at the beginning and now
  int32_t link_count, row_count, body_count;
} Drift;

static int rigid(const CniModel *model, const CniJoint *joint) {
  const CnJointDef *def = &joint->def;
  int moves = (joint->body_a >= 0 && cni_has_mass(&model->mass[joint->body_a])) ||
              (joint->body_b >= 0 && cni_has_mass(&model->mass[joint->body_b]));
  return moves && cni_joint_kinds[def->kind]->locked_count > 0 && !(def->stiffness > 0) &&
         !(def->damping > 0);
}

// ---- what takes part ----

static CnStatus take(Drift *d) {
  const CniModel *model = d->in->model;
  for (int32_t i = 0; i < model->joint_count; i++) {
    if (!rigid(model, &model->joints[i])) continue;
    d->link_count++;
    d->row_count += cni_joint_kinds[model->joints[i].def.kind]->locked_count;
  }
  CniArena *arena = d->in->arena;
  CNI_TRY(cni_arena_array(arena, d->link_count, sizeof *d->links, &d->links));
  CNI_TRY(cni_arena_array(arena, d->row_count, sizeof *d->rows, &d->rows));
  CNI_TRY(cni_arena_array(arena, d->row_count, sizeof *d->means, &d->means));
  CNI_TRY(cni_arena_array(arena, 2 * (int64_t)d->link_count, sizeof *d->bodies, &d->bodies));
  CNI_TRY(cni_arena_array(arena, d->row_count, sizeof(double), &d->start));
  CNI_TRY(cni_arena_array(arena, d->row_count, sizeof(double), &d->residual));
  CNI_TRY(cni_arena_array(arena, d->row_count, sizeof(double), &d->impulse));
  return cni_arena_array(arena, d->row_count, sizeof(double), &d->change);
}

static int32_t number(Drift *d, int32_t *place_of, int32_t body, int32_t link) {
  const CniModel *model = d->in->model;
  if (body < 0 || !cni_has_mass(&model->mass[body])) return -1;
  if (place_of[body] > 0) return place_of[body] - 1;
  CnVec3 spin = cn_unrotate(d->in->pose[body].rotation, d->in->twist[body].spin);
  d->bodies[d->body_count] = (Body){.body = body,
                                    .owner = link,
                                    .mass = model->mass[body].mass,
                                    .inertia = cni_model_principal(model, body),
                                    .spin = spin,
                                    .middle = spin};
  place_of[body] = ++d->body_count;
  return d->body_count - 1;
}

// How far the arms of a link are from the axes about which its bodies turn.
static void look_across(const Drift *d, const Link *link) {
  for (int32_t side = 0; side < 2; side++) {
    int32_t i = side ? link->b : link->a;
    if (i < 0) continue;
    Body *body = &d->bodies[i];
    CnVec3 w = d->in->twist[body->body].spin, r = link->arms[side];
    double both = cn_norm2(w) * cn_norm2(r);
    if (both > 0) body->across = cn_max(body->across, cn_norm2(cn_cross(w, r)) / both);
  }
}

// A length that a body has wherever its joints are: a flywheel's bearing is at its centre of mass.
static double gyration(const Drift *d, int32_t i) {
  if (i < 0) return 0;
  CnVec3 j = d->bodies[i].inertia;
  return sqrt(cn_max(j.x, cn_max(j.y, j.z)) / d->bodies[i].mass);
}

static double distance_of(const Drift *d, int32_t body) {
  return body < 0 ? 0 : cn_norm(d->in->pose[body].position);
}

static CnStatus list(Drift *d) {
  const CniModel *model = d->in->model;
  int32_t *place_of, count = 0, row = 0;
  CNI_TRY(cni_arena_array(d->in->arena, model->body_count, sizeof *place_of, &place_of));
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    if (!rigid(model, joint)) continue;
    CniJointPlace place;
    cni_joint_at(joint, d->in->pose, &place);
    Link *link = &d->links[count];
    *link = (Link){.joint = i,
                   .row = row,
                   .dim = place.locked_count,
                   .a = number(d, place_of, joint->body_a, count),
                   .b = number(d, place_of, joint->body_b, count),
                   .arms = {place.arm_a, place.arm_b}};
    link->tolerance = LINES * (cn_norm(place.arm_a) + cn_norm(place.arm_b) + gyration(d, link->a) +
                               gyration(d, link->b)) +
                      ROUNDING * (distance_of(d, joint->body_a) + distance_of(d, joint->body_b));
    for (int32_t r = 0; r < place.locked_count; r++, row++) {
      d->rows[row] = (Row){place.locked[r].linear, place.locked[r].angular};
      d->start[row] = place.locked[r].value;
    }
    look_across(d, link);
    count++;
  }
  for (int32_t i = 0; i < d->body_count; i++) {
    Body *body = &d->bodies[i];
    double h = d->in->time_step, share = 1 / (1 + AXLE * body->across);
    body->turn = h + share * (cni_drift_stretched(h, cn_norm(body->spin)) - h);
  }
  return CN_OK;
}

// ---- one way through an island ----

static CnVec3 mean(CnVec3 a, CnVec3 b) { return cn_scale(0.5, cn_add(a, b)); }

// Means of rows and arms with the poses reached, and what is left of the errors; returns the largest
// in units of what may be left.
static double look(const Drift *d, const Link *link) {
  const CniDriftInput *in = d->in;
  CniJointPlace place;
  cni_joint_at(&in->model->joints[link->joint], in->pose_new, &place);
  Link *known = &d->links[link - d->links];
  known->mean_arms[0] = mean(link->arms[0], place.arm_a);
  known->mean_arms[1] = mean(link->arms[1], place.arm_b);
  double worst = 0;
  for (int32_t r = 0; r < link->dim; r++) {
    const CniJointRow *now = &place.locked[r];
    const Row *old = &d->rows[link->row + r];
    d->means[link->row + r] =
        (Row){mean(old->linear, now->linear), mean(old->angular, now->angular)};
    double left = now->value - (1 - in->stabilisation) * d->start[link->row + r];
    d->residual[link->row + r] = left;
    worst = cn_max(worst, fabs(left) / (now->turns ? TURNS : link->tolerance));
  }
  return worst;
}

static CnTwist at_joint(const Drift *d, const Link *link) {
  CnTwist sum = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  for (int32_t r = link->row; r < link->row + link->dim; r++) {
    sum.velocity = cn_madd(sum.velocity, d->impulse[r], d->means[r].linear);
    sum.spin = cn_madd(sum.spin, d->impulse[r], d->means[r].angular);
  }
  return sum;
}

static void push(const Drift *d, const Link *link) {
  CnTwist p = at_joint(d, link);
  for (int32_t side = 0; side < 2; side++) {
    int32_t i = side ? link->b : link->a;
    if (i < 0) continue;
    CnTwist *sum = &d->bodies[i].impulse;
    double sign = side ? 1 : -1;
    CnVec3 turn = cn_add(cn_cross(link->mean_arms[side], p.velocity), p.spin);
    sum->velocity = cn_madd(sum->velocity, sign, p.velocity);
    sum->spin = cn_madd(sum->spin, sign, turn);
    Body *body = &d->bodies[i];
    CnQuat q = d->in->pose[body->body].rotation;
    CnVec3 r = cn_unrotate(q, link->arms[side]), f = cn_unrotate(q, cn_scale(sign, p.velocity));
    body->arms = (CnMat3){cn_madd(body->arms.x, f.x, r), cn_madd(body->arms.y, f.y, r),
                          cn_madd(body->arms.z, f.z, r)};
  }
}

static void move(const Drift *d, Body *body) {
  const CniDriftInput *in = d->in;
  int32_t i = body->body;
  CnPose old = in->pose[i], *now = &in->pose_new[i];
  CnTwist start = in->twist[i], *end = &in->end[i];
  double h = in->time_step;
  end->velocity = cn_madd(start.velocity, 1 / body->mass, body->impulse.velocity);
  now->position = cn_madd(old.position, h / 2, cn_add(start.velocity, end->velocity));
  // the impulse known is that at the arms where the body was last; they go along with it
  CnVec3 m = body->middle;
  CniDriftTorque torque = {CN_VEC3_ZERO, body->arms};
  double k = body->turn;
  torque.fixed =
      cn_sub(cn_unrotate(old.rotation, body->impulse.spin), cni_drift_torque(&torque, m, k));
  if (!cni_drift_middle(body->inertia, body->spin, &torque, k, &m)) m = body->spin;
  body->middle = m;
  CnQuat half = {1, k * m.x / 2, k * m.y / 2, k * m.z / 2};
  now->rotation = cn_qunit(cn_qmul(old.rotation, half));
  end->spin = cn_rotate(now->rotation, cn_madd(cn_scale(2, m), -1, body->spin));
}

// All bodies of an island by the impulses found so far.
static void go(const Drift *d, const int32_t *list_of, int32_t begin, int32_t end) {
  for (int32_t i = begin; i < end; i++)
    for (int32_t side = 0; side < 2; side++) {
      const Link *link = &d->links[list_of[i]];
      int32_t body = side ? link->b : link->a;
      if (body < 0) continue;
      d->bodies[body].impulse = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
      d->bodies[body].arms = (CnMat3){CN_VEC3_ZERO, CN_VEC3_ZERO, CN_VEC3_ZERO};
    }
  for (int32_t i = begin; i < end; i++) push(d, &d->links[list_of[i]]);
  for (int32_t i = begin; i < end; i++)
    for (int32_t side = 0; side < 2; side++) {
      const Link *link = &d->links[list_of[i]];
      int32_t body = side ? link->b : link->a;
      if (body >= 0 && d->bodies[body].owner == list_of[i]) move(d, &d->bodies[body]);
    }
}

static double look_at_all(const Drift *d, const int32_t *list_of, int32_t begin, int32_t end) {
  double worst = 0;
  for (int32_t i = begin; i < end; i++) worst = cn_max(worst, look(d, &d->links[list_of[i]]));
  return worst;
}

// Newton's method with the factor as it is: to the end, or until it becomes slow.
static void drift_island(const Drift *d, int32_t island) {
  const int32_t *list_of = cni_direct_blocks(d->in->direct);
  int32_t begin, end;
  cni_direct_island(d->in->direct, island, &begin, &end);
  double before = INFINITY, now = d->last[island];
  int slides = 0;
  for (int32_t i = begin; i < end; i++) {
    int32_t joint = d->links[list_of[i]].joint;
    slides |= !cni_joint_kinds[d->in->model->joints[joint].def.kind]->point;
  }
  for (int32_t k = 0; k < MAX_NEWTON && now > 1 && now < SLOW * before; k++) {
    cni_direct_solve(d->in->direct, d->residual, d->change, island, island + 1);
    for (int32_t i = begin; i < end; i++) {
      const Link *link = &d->links[list_of[i]];
      for (int32_t r = link->row; r < link->row + link->dim; r++)
        d->impulse[r] -= 2 / d->in->time_step * d->change[r];
    }
    go(d, list_of, begin, end);
    before = now;
    now = look_at_all(d, list_of, begin, end);
  }
  // arms that reach to another body are known once more, for the angular momentum
  if (slides) go(d, list_of, begin, end);
  d->last[island] = now;
}

static void drift_islands(void *context, int32_t begin, int32_t end) {
  const Drift *d = context;
  for (int32_t i = begin; i < end; i++)
    if (d->last[i] > 1) drift_island(d, i);
}

// An island that did not come nearer goes without.
static void give_up(const Drift *d, int32_t island) {
  const int32_t *list_of = cni_direct_blocks(d->in->direct);
  int32_t begin, end;
  cni_direct_island(d->in->direct, island, &begin, &end);
  for (int32_t i = begin; i < end; i++) {
    const Link *link = &d->links[list_of[i]];
    for (int32_t r = link->row; r < link->row + link->dim; r++) d->impulse[r] = 0;
  }
  go(d, list_of, begin, end);
}

// ---- the factor ----

// Inverse of the inertia in the middle and what the forces add to it where they pull.
static CnSym3 inverse_inertia(const Drift *d, const Body *body) {
  const CniDriftInput *in = d->in;
  int32_t i = body->body;
  CnQuat a = in->pose[i].rotation, c = in->pose_new[i].rotation;
  CnQuat q = cn_qunit((CnQuat){a.w + c.w, a.x + c.x, a.y + c.y, a.z + c.z});
  CnMat3 b = body->arms;
  double f = in->time_step / 4, trace = b.x.x + b.y.y + b.z.z;
  double share = body->turn / in->time_step; // of the turn
  CnVec3 j = body->inertia;
  double least = cn_min(j.x, cn_min(j.y, j.z));
  CnSym3 k = {f * (trace - b.x.x),      f * (trace - b.y.y),      f * (trace - b.z.z),
              -f / 2 * (b.y.x + b.x.y), -f / 2 * (b.z.x + b.x.z), -f / 2 * (b.z.y + b.y.z)};
  double size = fabs(k.xx) + fabs(k.yy) + fabs(k.zz) + fabs(k.xy) + fabs(k.xz) + fabs(k.yz);
  if (!(size > LIGHT * least))
    return cn_srotate(cn_qmat(q), cn_vec3(share / j.x, share / j.y, share / j.z));
  CnVec3 values;
  CnMat3 axes, turn = cn_qmat(q);
  cni_seigen(k, &values, &axes);
  CnVec3 kept = {cn_max(values.x, 0), cn_max(values.y, 0), cn_max(values.z, 0)};
  CnSym3 sum = cn_sadd(cn_sdiag(j.x, j.y, j.z), cn_srotate(axes, kept));
  // principal axes of the sum, turned into the world
  cni_seigen(sum, &values, &axes);
  CnMat3 world = {cn_mmul(turn, axes.x), cn_mmul(turn, axes.y), cn_mmul(turn, axes.z)};
  return cn_srotate(world, cn_vec3(share / values.x, share / values.y, share / values.z));
}

// Sides and coefficients written so far, one after the other.
typedef struct Count {
  int32_t sides, entries;
} Count;

// e may be null: the structure alone.
static void write_sides(const Drift *d, const Link *link, CniDirectBlock *block,
                        CniDirectSide *sides, CnTwist *e, Count *count) {
  *block = (CniDirectBlock){.row = link->row, .dim = link->dim, .side = count->sides};
  for (int32_t side = 0; side < 2; side++) {
    int32_t body = side ? link->b : link->a;
    double sign = side ? 1 : -1;
    if (body < 0) continue;
    int32_t at = count->entries;
    count->entries += link->dim;
    sides[count->sides++] = (CniDirectSide){body, at};
    block->side_count++;
    for (int32_t r = 0; e && r < link->dim; r++) {
      const Row *row = &d->means[link->row + r];
      CnVec3 turn = cn_add(cn_cross(link->mean_arms[side], row->linear), row->angular);
      e[at + r] = (CnTwist){cn_scale(sign, row->linear), cn_scale(sign, turn)};
    }
  }
}

// Room for the system, and its structure.
static CnStatus shape(Drift *d) {
  CniArena *arena = d->in->arena;
  CniDirectBody *bodies;
  CniDirectBlock *blocks;
  CniDirectSide *sides;
  CnTwist *e;
  Count count = {0, 0};
  CNI_TRY(cni_arena_array(arena, d->body_count, sizeof *bodies, &bodies));
  CNI_TRY(cni_arena_array(arena, d->link_count, sizeof *blocks, &blocks));
  CNI_TRY(cni_arena_array(arena, 2 * (int64_t)d->link_count, sizeof *sides, &sides));
  CNI_TRY(cni_arena_array(arena, 2 * (int64_t)d->row_count, sizeof *e, &e));
  for (int32_t i = 0; i < d->link_count; i++)
    write_sides(d, &d->links[i], &blocks[i], sides, NULL, &count);
  for (int32_t i = 0; i < d->body_count; i++) bodies[i].inv_mass = 1 / d->bodies[i].mass;
  d->system = (CniDirectSystem){.bodies = bodies,
                                .blocks = blocks,
                                .sides = sides,
                                .e = e,
                                .body_count = d->body_count,
                                .block_count = d->link_count,
                                .side_count = count.sides,
                                .row_count = d->row_count};
  d->room = (DriftRoom){bodies, blocks, sides, e};
  CNI_TRY(cni_direct_shape(d->in->direct, &d->system));
  int32_t islands = cni_direct_islands(d->in->direct);
  CNI_TRY(cni_arena_array(arena, islands, sizeof(double), &d->first));
  CNI_TRY(cni_arena_array(arena, islands, sizeof(double), &d->last));
  // how far apart the joints are without their forces
  const int32_t *list_of = cni_direct_blocks(d->in->direct);
  for (int32_t i = 0; i < islands; i++) {
    int32_t begin, end;
    cni_direct_island(d->in->direct, i, &begin, &end);
    d->first[i] = d->last[i] = look_at_all(d, list_of, begin, end);
  }
  return CN_OK;
}

// The values where the bodies are now.
static void factor(const Drift *d) {
  Count count = {0, 0};
  const DriftRoom *room = &d->room;
  for (int32_t i = 0; i < d->body_count; i++)
    room->bodies[i].inv_inertia = inverse_inertia(d, &d->bodies[i]);
  for (int32_t i = 0; i < d->link_count; i++)
    write_sides(d, &d->links[i], &room->blocks[i], room->sides, room->e, &count);
  cni_direct_factor(d->in->direct, &d->system, d->in->tasks);
}

static double worst_of(const Drift *d) {
  double worst = 0;
  for (int32_t i = 0; i < cni_direct_islands(d->in->direct); i++) worst = cn_max(worst, d->last[i]);
  return worst;
}

CnStatus cni_drift_joints(const CniDriftInput *in) {
  Drift d = {.in = in};
  CNI_TRY(take(&d));
  CNI_TRY(list(&d));
  if (d.link_count == 0) return CN_OK;
  // without the joints first: there the factor is taken from
  for (int32_t i = 0; i < d.body_count; i++) move(&d, &d.bodies[i]);
  CNI_TRY(shape(&d));
  double worst = worst_of(&d);
  int32_t islands = cni_direct_islands(in->direct);
  for (int32_t k = 0; k < MAX_FACTORS && worst > 1; k++) {
    factor(&d);
    cni_parallel_for(in->tasks, islands, 1, drift_islands, &d);
    worst = worst_of(&d);
  }
  for (int32_t i = 0; i < islands && worst > 1; i++)
    if (!(d.last[i] <= d.first[i])) give_up(&d, i);
  for (int32_t i = 0; i < d.link_count; i++)
    in->reactions[d.links[i].joint] = at_joint(&d, &d.links[i]);
  return CN_OK;
}
