// SPDX-License-Identifier: Apache-2.0
// Parts that bend: the wall and the rims of a cylinder or cone against corners, edges and walls.
//
//   corner on wall    the normal leads from the axis to the corner: closed form
//   rim and corner    apart, along the shortest way from the rim: closed form
//   rim and line      an edge, the core of a capsule, or the axis of a wall, along u. With the place c + r o of the rim,
//                     its tangent t and w from there to its foot on the line, the two are nearest where
//
//                         w.t = 0,    whose rate by the angle is -(w0.o + r ((o.u)^2 - (t.u)^2)),
//
//                     w0 leading from c to its own foot. Newton's method begins where the line crosses the rim, seen
//                     along the axis, on the lower side: always there, so that the place is a function of the present
//                     alone.
//
// Where they overlap by d, that is the shortest way out if B - A holds a ball of radius d or more that touches its
// surface from inside at the place: all of the ball about the origin is inside that. How large it may be:
//
//   wall of radius R, the place e inside its ends    R and e
//   rim and edge                                     r (u.z)^2 and e |u.z|/2: the disc of the rim, carried along the
//                                                    edge, is a cylinder with an ellipse of the half axes r and r |u.z|
//                                                    across it, cut off square to z
#include "geometry/frustum.h"
#include "geometry/pairs/convex_private.h"

#define LOWER 32 // the corner of the lower rim (convex_parts.c)
#define ROUNDS 16
#define MOST 0.4   // rad, of a step
#define RIGHT 1e-8 // rad: what a step of this size leaves is its square
#define INNER 1e-4 // of a line, from its ends
#define SINE2 1e-2 // square of the sine between rim and edge: they have a normal of their own
#define FAR 1e-3   // of the smaller inradius: a way has a direction
// More than what a manifold takes for flat, or for along each other (convex_manifold.c):
#define ROUND 0.998   // cosine: no end of a cylinder, nor the chords beside its lowest point
#define ACROSS 0.9996 // cosine: no side
#define SQUARE 0.011  // of the outradius: what is so far below a corner is on no edge square to it
#define LEANING 0.11  // sine: no capsule along a wall
#define CROSSING2 2.01e-2 // square of a sine: no wall along an edge

// Both parts seen from the frame of the one that is round; the places, and the normal from there.
typedef struct Seen {
  double radius, height; // of the rim; of a wall, and half its length
  CnVec3 from, to;       // of the other: its corner, or its ends
  double thick;          // it is the axis of a wall of that radius
  CnVec3 own, other, normal;
  double room; // the ball inside
} Seen;

static int corner_on_wall(Seen *s) {
  CnVec3 p = s->from;
  double far = sqrt(p.x * p.x + p.y * p.y), in = s->height - fabs(p.z);
  if (!(far > FAR * s->radius && in > INNER * s->height)) return 0;
  s->normal = cn_vec3(p.x / far, p.y / far, 0);
  s->own = cn_vec3(s->radius * s->normal.x, s->radius * s->normal.y, p.z);
  s->other = p;
  s->room = cn_min(s->radius, in);
  return 1;
}

static int rim_and_corner(Seen *s, double least) {
  CnVec3 p = s->from;
  double far = sqrt(p.x * p.x + p.y * p.y);
  if (!(far > 0)) return 0;
  s->own = cn_vec3(s->radius * (p.x / far), s->radius * (p.y / far), s->height);
  s->other = p;
  CnVec3 way = cn_sub(p, s->own);
  double length = cn_norm(way);
  s->normal = cn_scale(1 / length, way);
  s->room = 0;
  return length > least;
}

// Where the line p + s u crosses the rim, or comes nearest to it, seen along the axis.
static CnVec3 first_look(const Seen *s, CnVec3 p, CnVec3 u) {
  double a = u.x * u.x + u.y * u.y, b = p.x * u.x + p.y * u.y, at = 0;
  if (a > 0) {
    double square = b * b - a * (p.x * p.x + p.y * p.y - s->radius * s->radius);
    double root = square > 0 ? sqrt(square) : 0;
    int down = (s->height > 0) == (u.z > 0);
    at = (down ? -b - root : -b + root) / a;
  }
  CnVec3 q = cn_madd(p, at, u);
  double far = sqrt(q.x * q.x + q.y * q.y);
  return far > 0 ? cn_vec3(q.x / far, q.y / far, 0) : cn_vec3(1, 0, 0);
}

// The direction o of the place of the rim that is nearest to a line.
static int nearest_to_line(const Seen *s, CnVec3 u, CnVec3 *o) {
  CnVec3 d = cn_sub(s->from, cn_vec3(0, 0, s->height));
  CnVec3 across = cn_madd(d, -cn_dot(d, u), u);
  for (int32_t round = 0; round < ROUNDS; round++) {
    CnVec3 t = {-o->y, o->x, 0};
    double along = cn_dot(*o, u), aside = cn_dot(t, u);
    double slope = cn_dot(across, t) + s->radius * along * aside; // w.t
    double rate = cn_dot(across, *o) + s->radius * (along * along - aside * aside);
    // beyond the hill between two places: to the foot
    double by = rate > 0 ? cn_clamp(slope / rate, -MOST, MOST) : slope > 0 ? MOST : -MOST;
    CnVec3 m = cn_madd(*o, by, t);
    *o = cn_scale(1 / sqrt(m.x * m.x + m.y * m.y), m);
    if (fabs(by) <= RIGHT) return rate > 0;
  }
  return 0;
}

static int rim_and_line(Seen *s, double scale) {
  CnVec3 e = cn_sub(s->to, s->from);
  double length = cn_norm(e);
  CnVec3 u = cn_scale(1 / length, e), o = first_look(s, s->from, u);
  if (!(s->radius > 0) || !nearest_to_line(s, u, &o)) return 0;
  s->own = cn_vec3(s->radius * o.x, s->radius * o.y, s->height);
  double at = cn_dot(u, cn_sub(s->own, s->from)), in = cn_min(at, length - at);
  if (!(in > INNER * length)) return 0;
  s->other = cn_madd(s->from, at, u);
  CnVec3 way = cn_sub(s->other, s->own), n = cn_cross(cn_vec3(-o.y, o.x, 0), u);
  double sine2 = cn_norm2(n), far = cn_norm(way);
  if (s->thick == 0 && sine2 > SINE2) {
    double out = cn_dot(n, o) + (s->height > 0 ? n.z : -n.z);
    s->normal = cn_scale((out < 0 ? -1 : 1) / sqrt(sine2), n);
  } else {
    if (!(far > FAR * scale && far > 0.1 * s->thick)) return 0;
    s->normal = cn_scale(1 / far, way);
  }
  s->other = cn_madd(s->other, -s->thick, s->normal);
  s->room = cn_min(s->radius * u.z * u.z, 0.5 * in * fabs(u.z));
  if (s->thick > 0) s->room = cn_min(s->thick, in);
  return 1;
}

// ---- whose they are ----

static CniFrustum frustum(const CniPlaced *shape) {
  int cone = shape->kind == CN_SHAPE_CONE;
  return (CniFrustum){shape->size[0], shape->size[cone], shape->size[1 + cone]};
}

// A corner that is touched along d is all that is near where no side is across and no edge square to that.
static int is_sharp(const CniPlaced *shape, uint32_t part, CnVec3 d) {
  const CniPartsOf *kind = &cni_parts_of[shape->kind];
  CniPart p;
  if (shape->kind == CN_SHAPE_CAPSULE) return fabs(d.z) > LEANING;
  if (!kind->side || !kind->part(shape, kind->side(shape, d), &p)) return 0;
  if (!(cn_dot(d, p.to) < ACROSS) || !kind->part(shape, part, &p)) return 0;
  return kind->top(shape, part, d, SQUARE * cni_shape_outradius(shape), &p);
}

// Along the normal of a rim: its end is not across, and its wall does not lie along the line.
static int crosses(const Seen *s) {
  CnVec3 e = cn_sub(s->to, s->from);
  return fabs(s->normal.z) < ROUND && e.x * e.x + e.y * e.y > CROSSING2 * cn_norm2(e);
}

static Seen see(const CniConvex *x, int of_b, int upper, const CniPart *other) {
  CniFrustum f = frustum(of_b ? x->b : x->a), second;
  Seen s = {.radius = upper ? f.high : f.low, .height = upper ? f.half : -f.half};
  CnVec3 from = other->from, to = other->to;
  if (other->bends) {
    second = frustum(of_b ? x->a : x->b);
    s.thick = second.high;
    from = cn_vec3(0, 0, -second.half);
    to = cn_vec3(0, 0, second.half);
  }
  s.from = of_b ? cni_convex_to_b(x, from) : cni_convex_of_b(x, from);
  s.to = of_b ? cni_convex_to_b(x, to) : cni_convex_of_b(x, to);
  return s;
}

static int find(Seen *s, const CniPart *round, const CniPart *other, double scale) {
  if (round->rank == 1) return other->rank == 0 && !other->bends && corner_on_wall(s);
  if (other->rank == 0) return !other->bends && rim_and_corner(s, FAR * scale);
  return rim_and_line(s, scale);
}

// The place of a rim that is farthest along the normal is not the one across.
static int looks_out(const Seen *s) { return s->normal.x * s->own.x + s->normal.y * s->own.y > 0; }

int cni_convex_bent(const CniConvex *x, const uint32_t parts[2], const CniPart *a, const CniPart *b,
                    CniBent *bent) {
  int k = !(a->bends && (!b->bends || a->rank == 0)); // whose part is the round one
  const CniPart *round = k ? b : a, *other = k ? a : b;
  CnShapeKind kind = (k ? x->b : x->a)->kind;
  if (kind != CN_SHAPE_CYLINDER && kind != CN_SHAPE_CONE) return 0;
  Seen s = see(x, k, parts[k] != cni_part_corner(LOWER), other);
  if (!find(&s, round, other, x->scale) || !looks_out(&s)) return 0;
  bent->normal = k ? cn_neg(cn_mmul(x->turn, s.normal)) : s.normal;
  bent->a = k ? cni_convex_of_b(x, s.other) : s.own;
  bent->b = k ? cni_convex_of_b(x, s.own) : s.other;
  bent->room = s.room;
  if (other->rank == 1) {
    bent->single = crosses(&s);
  } else {
    const CniPlaced *shape = k ? x->a : x->b;
    CnVec3 d = k ? bent->normal : cn_neg(cn_mtmul(x->turn, bent->normal));
    bent->single =
        (round->rank == 1 || (shape->kind == CN_SHAPE_CAPSULE && fabs(s.normal.z) < ROUND)) &&
        is_sharp(shape, parts[!k], d);
  }
  return 1;
}
