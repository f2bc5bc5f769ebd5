// SPDX-License-Identifier: Apache-2.0
// Aim: rows of contacts that are still open, turned to where the two shapes come closest.
//
// A row says n.(x + h v) >= R with n fixed: exact for a plane, and too strict for all that is round
// or ends somewhere. With the n of the beginning of the step a ball that passes another is stopped
// by nothing. Any n gives a sufficient condition, a plane that keeps two convex shapes apart at the
// end of the step; so n is taken from the place of closest approach, if the bodies go on as they do
// (with gravity and loads), or, if two balls meet on the way, from where they meet:
//
//     gap' = n'.x - R  at the beginning,   u' = n'.v
//     a miss at the time t:   gap' + h u' = d(t) + (h - t) u' > 0: the row does not act
//     a hit:                  the balls are stopped along the normal that they really meet with
//
// A third body may still drive the two together: the row is there and stops them.
//
// Balls: closed form. Others: along a straight way the distance of two convex shapes is convex, so
// closest approach is where its rate changes sign; halving finds it. One that hits keeps its row.
//
// Only where it matters: the row would act on the free motion, and its distance is wrong by more than
// the slop, a thousandth of the smaller radius, to which gaps are not told apart anyway. A pile at
// rest is never aimed at.
#include "collision/collision_private.h"

#define HALVINGS 14

// The twist with which a body goes through the step if nothing touches it.
static CnTwist free_twist(const CniDetection *w, int32_t body) {
  const CniCollisionInput *in = w->in;
  const CniModel *m = in->model;
  if (m->bodies[body].kind == CN_BODY_FIXED) return (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  CnTwist twist = in->twist[body];
  const CniBodyMass *mass = &m->mass[body];
  if (!cni_has_mass(mass)) return twist;
  CnVec3 load = cni_model_load(m, body).velocity;
  CnVec3 pull = cn_madd(in->gravity, cni_inv_mass(mass), load);
  twist.velocity = cn_madd(twist.velocity, in->time_step, pull);
  return twist;
}

// Its velocity alone, of a ball about the origin of its body.
static inline CnVec3 free_velocity(const CniDetection *w, const CniProxy *p) {
  const CniCollisionInput *in = w->in;
  if (p->flags & CNI_PRESCRIBED) return p->reach > 0 ? in->twist[p->body].velocity : CN_VEC3_ZERO;
  CnVec3 pull = in->gravity;
  if (in->model->load) {
    double inv_mass = cni_inv_mass(&in->model->mass[p->body]);
    pull = cn_madd(pull, inv_mass, in->model->load[p->body].velocity);
  }
  return cn_madd(in->twist[p->body].velocity, in->time_step, pull);
}

int cni_aim_spheres(const CniDetection *w, const CniProxy *a, const CniProxy *b,
                    CniPointContact *t) {
  double radius = a->outradius + b->outradius;
  double slop = CNI_AIM_SLOP * cn_min(a->outradius, b->outradius);
  if ((a->flags | b->flags) & CNI_OFFSET) return 0;
  CnVec3 x = cn_sub(b->centre, a->centre);
  CnVec3 way = cn_scale(w->in->time_step, cn_sub(free_velocity(w, b), free_velocity(w, a)));
  double along = cn_dot(t->normal, way), way2 = cn_norm2(way), side2 = way2 - along * along;
  if (t->gap + along >= 0 || side2 <= 2 * radius * slop) return 0;
  // the least distance, or the first place where it is the sum of the radii
  double ahead = -cn_dot(x, way), share = cn_min(ahead / way2, 1);
  double square = ahead * ahead - way2 * (cn_norm2(x) - radius * radius);
  if (cn_norm2(cn_madd(x, share, way)) < radius * radius) share = (ahead - sqrt(square)) / way2;
  CnVec3 apart = cn_madd(x, share, way);
  double distance = cn_norm(apart);
  if (!(distance > 0.5 * radius)) return 0;
  t->normal = cn_scale(1 / distance, apart);
  t->gap = cn_dot(t->normal, x) - radius;
  t->point = cn_madd(a->centre, a->outradius + 0.5 * t->gap, t->normal);
  return 1;
}

// ---- other shapes ----

typedef struct Aim {
  const CniDetection *w;
  CniPair pair;
  int32_t body_a, body_b;
  CnTwist twist_a, twist_b;
  double margin;
} Aim;

// How the two touch after the time t, and how fast the nearest points come apart.
typedef struct View {
  CniManifold manifold;
  double gap, rate;
} View;

static CnPose pose_at(const Aim *aim, int32_t body, const CnTwist *twist, double t) {
  CnPose pose = aim->w->in->pose[body];
  pose.position = cn_madd(pose.position, t, twist->velocity);
  pose.rotation = cn_qunit(cn_qmul(cni_quat_exp(cn_scale(t, twist->spin)), pose.rotation));
  return pose;
}

static void keep_nearest(void *context, const CniManifold *manifold) {
  View *view = context;
  for (int32_t i = 0; i < manifold->count; i++) {
    if (!(manifold->points[i].gap < view->gap)) continue;
    view->gap = manifold->points[i].gap;
    view->manifold = *manifold;
  }
}

static CnVec3 velocity_at(CnPose pose, const CnTwist *twist, CnVec3 point) {
  return cn_add(twist->velocity, cn_cross(twist->spin, cn_sub(point, pose.position)));
}

static View look(const Aim *aim, double t) {
  const CniModel *m = aim->w->in->model;
  CnPose pose_a = pose_at(aim, aim->body_a, &aim->twist_a, t);
  CnPose pose_b = pose_at(aim, aim->body_b, &aim->twist_b, t);
  CniPlaced a = cni_model_placed(m, aim->pair.a, &pose_a);
  CniPlaced b = cni_model_placed(m, aim->pair.b, &pose_b);
  View view = {.gap = INFINITY};
  cni_collide_all(&a, &b, aim->margin, keep_nearest, &view);
  for (int32_t i = 0; i < view.manifold.count; i++) {
    const CniPoint *p = &view.manifold.points[i];
    if (p->gap != view.gap) continue;
    CnVec3 apart = cn_sub(velocity_at(pose_b, &aim->twist_b, p->point),
                          velocity_at(pose_a, &aim->twist_a, p->point));
    view.rate = cn_dot(view.manifold.normal, apart);
  }
  return view;
}

// The view at closest approach and its time; a view without points: they meet, or nobody knows.
static View closest(const Aim *aim, double *time) {
  double low = 0, high = aim->w->in->time_step;
  View found = look(aim, high), none = {.gap = INFINITY};
  *time = high;
  if (found.gap > 0 && found.rate < 0) return found;
  for (int i = 0; i < HALVINGS && found.gap > 0; i++) {
    double middle = 0.5 * (low + high);
    View view = look(aim, middle);
    if (view.gap > 0 && view.rate < 0) {
      low = middle;
      continue;
    }
    high = *time = middle;
    found = view;
  }
  return found.gap > 0 ? found : none;
}

// Would a row act on the free motion, and does its point go sideways? The answer is for all points
// of the pair, all of them open.
static int matters(const Aim *aim, const CniContactChunk *part, int32_t first, double slop) {
  const CnPose *pose = aim->w->in->pose;
  double h = aim->w->in->time_step;
  int acts = 0;
  for (int32_t i = first; i < part->count; i++) {
    const CniContact *c = &part->contacts[i];
    if (!(c->gap > slop)) return 0;
    CnVec3 way = cn_scale(h, cn_sub(velocity_at(pose[aim->body_b], &aim->twist_b, c->point),
                                    velocity_at(pose[aim->body_a], &aim->twist_a, c->point)));
    double along = cn_dot(c->normal, way);
    acts |= c->gap + along < 0 && cn_norm2(way) - along * along > slop * slop;
  }
  return acts;
}

// A pair has never more points than without aim, as room was counted for those.
static void drop_farthest(CniManifold *m) {
  int32_t farthest = 0;
  for (int32_t i = 1; i < m->count; i++)
    if (m->points[i].gap > m->points[farthest].gap) farthest = i;
  m->count--;
  for (int32_t i = farthest; i < m->count; i++) m->points[i] = m->points[i + 1];
}

void cni_aim_any(const CniDetection *w, const CniProxy *a, const CniProxy *b, CniPair pair,
                 CniContactChunk *part, int32_t first) {
  const CniShape *shapes = w->in->model->shapes;
  double reach = a->reach + b->reach;
  if (part->count == first || part->count > part->room || (a->flags | b->flags) & CNI_ENDLESS)
    return;
  // bases are at most their share of the inradii, which are farther away in memory
  double least = w->in->margin > 0 ? 0 : CNI_AIM_SLOP / 0.05 * cn_min(a->base, b->base);
  for (int32_t i = first; i < part->count; i++)
    if (!(part->contacts[i].gap > least)) return;
  double size = cn_min(cni_model_inradius(&shapes[pair.a]), cni_model_inradius(&shapes[pair.b]));
  double slop = CNI_AIM_SLOP * size;
  if (reach <= slop) return;
  Aim aim = {w,
             pair,
             a->body,
             b->body,
             free_twist(w, a->body),
             free_twist(w, b->body),
             4 * cni_pair_margin(w, a, b)};
  if (!matters(&aim, part, first, slop)) return;
  double t;
  View view = closest(&aim, &t);
  if (view.manifold.count == 0) return;
  while (view.manifold.count > part->count - first) drop_farthest(&view.manifold);
  // the manifold of that time, with gaps and points of now
  CnPose pose_a = pose_at(&aim, a->body, &aim.twist_a, t);
  CnPose pose_b = pose_at(&aim, b->body, &aim.twist_b, t);
  // a row has its arms now, and its rate is to be that of then: points stay where they are to the centre of
  // the body that turns (of two that do, in between)
  double turn_a = cn_norm(aim.twist_a.spin), turn_b = cn_norm(aim.twist_b.spin);
  double share = turn_a + turn_b > 0 ? turn_b / (turn_a + turn_b) : 0.5;
  CnVec3 way = cn_madd(cn_scale(1 - share, aim.twist_a.velocity), share, aim.twist_b.velocity);
  CniContact like = part->contacts[first];
  part->count = first;
  for (int32_t i = 0; i < view.manifold.count; i++) {
    const CniPoint *p = &view.manifold.points[i];
    CnVec3 va = velocity_at(pose_a, &aim.twist_a, p->point);
    CnVec3 vb = velocity_at(pose_b, &aim.twist_b, p->point);
    like.normal = view.manifold.normal;
    like.gap = cn_max(p->gap - t * cn_dot(like.normal, cn_sub(vb, va)), 0);
    like.point = cn_madd(p->point, -t, way);
    like.feature = p->feature;
    part->contacts[part->count++] = like;
  }
}
