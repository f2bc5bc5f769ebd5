// SPDX-License-Identifier: Apache-2.0
// Gaps of rims: the circle about an end of a cylinder or cone, against edges, walls, corners and rims.
//
// The rim is p(a) = c + r (x cos a + y sin a), with the tangent t(a). Of what it meets, o, the place q(p)
// nearest to p is known; the gap is stationary where w = p - q is square to the tangent,
//
//     w.t = 0,    and least where its derivative by the angle, r (1 - (t.e)^2) - w.(p - c)/r, is positive,
//
// e being the unit tangent of an edge or rim at q, with a share of (t.e)^2 for a rim; of a wall the unit
// normal g takes the place of w. Newton's method finds the angle from one that is near it, so that
// the same place is followed as long as bodies have moved little: a rim and an edge have up to two.
//
// Sharp lines meet with the normal t x e, which stays where w vanishes; with a rounding the normal is
// along w. Either has to be between the normals of end and wall; a tenth of a radian beyond it the rim is
// still a part of its body, so that what lies along a wall keeps both its ends.
#include "core/math.h"
#include "geometry/gaps/gap_core.h"

#define ROUNDS 16
#define MOST 0.2    // rad, of a step
#define RIGHT 1e-14 // rad
#define LOOKS 128   // angles at which it is looked for places
#define BEYOND 0.1  // of the cones of directions

// A point of a rim.
typedef struct Spot {
  CnVec3 p, along, out; // unit: tangent, away from the axis
  double r;
} Spot;

static double rim_radius(const CniCore *c, int32_t upper) {
  return upper ? c->turned.high : c->turned.low;
}

static CnVec3 rim_centre(const CniCore *c, int32_t upper) {
  return cn_madd(c->shape->pose.position, upper ? c->turned.half : -c->turned.half, c->axes.z);
}

static Spot spot_towards(const CniCore *c, int32_t upper, CnVec3 out) {
  double r = rim_radius(c, upper);
  return (Spot){cn_madd(rim_centre(c, upper), r, out), cn_cross(c->axes.z, out), out, r};
}

static Spot spot_at(const CniCore *c, int32_t upper, double angle) {
  CnVec3 out = cn_madd(cn_scale(cni_cos(angle), c->axes.x), cni_sin(angle), c->axes.y);
  return spot_towards(c, upper, out);
}

// A rim there is like an edge between its end and its wall.
static CniEdge edge_at(const CniCore *c, int32_t upper, const Spot *s) {
  CniEdge wall;
  cni_core_edge(c, 0, &wall);
  double lean = wall.lean, across = sqrt(1 - lean * lean);
  return (CniEdge){
      .along = s->along,
      .normal = {cni_core_normal(c, upper), cn_madd(cn_scale(across, s->out), lean, c->axes.z)},
      .sharp = 1};
}

// What the rim meets near a spot. The slope w.t has the derivative r (base + share (t.along)^2) - w.out.
typedef struct Meet {
  CnVec3 foot, w; // from foot to spot; of a wall: its unit normal
  CnVec3 along;   // unit: of an edge or rim; of a wall sideways
  double base, share;
  int32_t line, wall;
  double t, length, height; // of the foot along a line; above a wall
} Meet;

static int meet_wall(const CniCore *o, const Spot *s, Meet *m) {
  CnVec3 own = cn_pose_local(o->shape->pose, s->p);
  CniEdge axis;
  double far = sqrt(own.x * own.x + own.y * own.y);
  if (!(far > 0)) return 0;
  cni_core_edge(o, 0, &axis);
  double across = sqrt(1 - axis.lean * axis.lean);
  CnVec3 out = cn_madd(cn_scale(own.x / far, o->axes.x), own.y / far, o->axes.y);
  m->along = cn_cross(o->axes.z, out);
  m->w = cn_madd(cn_scale(across, out), axis.lean, o->axes.z);
  CniEdge line = cni_core_wall(o, m->w);
  CnVec3 apart = cn_sub(s->p, line.start);
  m->t = cn_dot(apart, line.along);
  m->length = line.length;
  m->height = cn_dot(apart, m->w);
  m->foot = cn_madd(s->p, -m->height, m->w);
  m->share = across / far;
  m->line = m->wall = 1;
  return 1;
}

static int meet_rim(const CniCore *o, int32_t upper, const Spot *s, Meet *m) {
  CnVec3 apart = cn_sub(s->p, rim_centre(o, upper));
  CnVec3 flat = cn_madd(apart, -cn_dot(apart, o->axes.z), o->axes.z);
  double far = cn_norm(flat);
  if (!(far > 0)) return 0;
  Spot there = spot_towards(o, upper, cn_scale(1 / far, flat));
  m->foot = there.p;
  m->along = there.along;
  m->share = -there.r / far;
  return 1;
}

static int meet(const CniCore *o, CniRimMeets meets, int32_t k, const Spot *s, Meet *m) {
  CniEdge e;
  *m = (Meet){.along = CN_VEC3_ZERO};
  if (meets == CNI_RIM_EDGE && o->rims) return meet_wall(o, s, m);
  m->base = 1;
  if (meets == CNI_RIM_RIM) {
    if (!meet_rim(o, k, s, m)) return 0;
  } else if (meets == CNI_RIM_CORNER) {
    m->foot = cni_core_corner(o, k);
  } else {
    if (!cni_core_edge(o, k, &e)) return 0;
    m->t = cn_dot(cn_sub(s->p, e.start), e.along);
    m->foot = cn_madd(e.start, m->t, e.along);
    m->along = e.along;
    m->length = e.length;
    m->share = -1;
    m->line = 1;
  }
  m->w = cn_sub(s->p, m->foot);
  return 1;
}

static double rate_of(const Spot *s, const Meet *m) {
  double along = cn_dot(s->along, m->along);
  return s->r * (m->base + m->share * along * along) - cn_dot(m->w, s->out);
}

// How far a direction, away from o, is within the cone of what is met there.
static double open_to(const CniCore *o, CniRimMeets meets, int32_t k, const Meet *m, CnVec3 d) {
  CniEdge e;
  if (m->wall) return INFINITY;
  if (meets == CNI_RIM_CORNER) return cni_core_from(o, k, d);
  if (meets == CNI_RIM_RIM) {
    CnVec3 apart = cn_sub(m->foot, rim_centre(o, k));
    Spot there = spot_towards(o, k, cn_unit_or(apart, o->axes.x));
    e = edge_at(o, k, &there);
  } else {
    cni_core_edge(o, k, &e);
  }
  return cni_core_between(&e, d);
}

// The normal out of the rim's body and the way along it; 0: there is none.
static int normal_at(const CniEdge *rim, const Meet *m, int sharp, CnVec3 *n, double *d) {
  if (m->wall) {
    *n = cn_neg(m->w);
    *d = m->height;
    return 1;
  }
  CnVec3 n_cross = cn_cross(rim->along, m->along), to = cn_neg(m->w);
  double sine = cn_norm(sharp ? n_cross : to);
  if (!(sine > (sharp ? 0.1 * CNI_ALONG : 0))) return 0;
  *n = cn_scale(1 / sine, sharp ? n_cross : to);
  if (sharp && cn_dot(*n, cn_add(rim->normal[0], rim->normal[1])) < 0) *n = cn_neg(*n);
  *d = cn_dot(*n, to);
  return 1;
}

CniGap cni_gap_rim(const CniCore *c, int32_t upper, double start, const CniCore *o,
                   CniRimMeets meets, int32_t k, int turned) {
  double angle = start, by = 1, d;
  Meet m;
  Spot s = spot_at(c, upper, angle);
  if (!meet(o, meets, k, &s, &m)) return cni_no_gap();
  for (int32_t round = 0; round < ROUNDS && fabs(by) > RIGHT; round++) {
    double rate = rate_of(&s, &m);
    if (!(rate > 0)) return cni_no_gap();
    by = cn_clamp(-cn_dot(m.w, s.along) / rate, -MOST, MOST);
    angle += by;
    s = spot_at(c, upper, angle);
    if (!meet(o, meets, k, &s, &m)) return cni_no_gap();
  }
  CniEdge rim = edge_at(c, upper, &s);
  CnVec3 n;
  int sharp = !(c->round + o->round > 0);
  if (!normal_at(&rim, &m, sharp, &n, &d) || (sharp && meets == CNI_RIM_CORNER))
    return cni_no_gap();
  double scale = cni_core_scale(c, o), domain = BEYOND + cni_core_between(&rim, n);
  domain = cn_min(domain, BEYOND + open_to(o, meets, k, &m, cn_neg(n)));
  if (m.line) domain = cn_min(domain, cn_min(m.t, m.length - m.t) / scale);
  if (sharp && !m.wall) domain = cn_min(domain, cn_norm(cn_cross(s.along, m.along)) - CNI_ALONG);
  domain = cn_min(domain, d / scale + (sharp || m.wall ? CNI_DEPTH : 0));
  // beside acute edges: is there a nearer way out?
  if (d < -1e-6 * scale && domain >= 0)
    domain = cn_min(domain, (d - c->round - o->round - cni_places(c->shape, o->shape).gap) / scale);
  return cni_gap_turned(c, o, s.p, m.foot, n, d, domain + CNI_SLACK, turned);
}

int32_t cni_rim_starts(const CniCore *c, int32_t upper, const CniCore *o, CniRimMeets meets,
                       int32_t k, double start[4]) {
  const double part = 2 * CNI_PI / LOOKS, cosine = cni_cos(part), sine = cni_sin(part);
  double last = 0;
  int32_t count = 0;
  CnVec3 out = c->axes.x;
  for (int32_t i = 0; i <= LOOKS && count < 4; i++) {
    Meet m;
    Spot s = spot_towards(c, upper, out);
    double here = meet(o, meets, k, &s, &m) ? cn_dot(m.w, s.along) : 0;
    // it goes up through zero between two looks
    if (i > 0 && last < 0 && here >= 0) start[count++] = part * (i - here / (here - last));
    last = here;
    out = cn_madd(cn_scale(cosine, out), sine, s.along);
  }
  return count;
}
