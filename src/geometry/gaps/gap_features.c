// SPDX-License-Identifier: Apache-2.0
// Gaps of lasting features: which corners, edges, faces, walls and rims of two shapes may meet, and the
// gap of each such pair as a smooth function (gap.c).
//
// Boxes, hulls and capsules are polyhedra over which a ball of radius r may be carried. With p a
// corner, n a face's normal, d the distance of the cores and r the sum of the radii
//
//     corner, face     d = n . (p - face)                  while p is above the face
//     edge, edge       d = n . (p_b - p_a), n = e_a x e_b  while both feet lie on the edges and n, -n
//                                                          between the normals of their faces
//     corner, edge     d = |p - foot|                      if r > 0; likewise
//     corner, corner   d = |p_b - p_a|                     if r > 0; likewise
//
// and gap = d - r. The condition is the feature's domain: a number that is not negative inside, in
// units of the smaller inradius, with a slack of 1e-12 for round-off of flush boxes, whose corners
// lie on the borders. Which features are nearest changes from place to place; each of them
// lasts, and the event driver sees to it that those count that are there. Sharp shapes overlap no
// deeper than half the inradius, beyond which a feature belongs to another side.
//
// Of a box that stands flush on another, the lower corners lie on the border of a side of the lower one,
// too, whose outside they are not beyond: a corner counts over a face with the normal n while it is the
// outermost of its body along -n, but for 0.1, so that of an end that is nearly flat all corners do.
// Likewise the normal of two edges may be beyond those of the faces by as much as a flat patch may lean.
//
// Cylinders and cones have the same features: the wall is an edge, of all whose lines the one with the
// right normal counts, and an end is a face. Their rims meet edges, walls and rims (gap_rims.c), and
// faces: of a rim of radius r about c with the axis a the lowest point, n . c - r |n - (n . a) a|. An end
// that lies flat has none: then eight points of the rim carry, the first of them where gravity pulls, so
// that what tips over that way tips over the rim itself; across it they miss up to 7.6 % of the radius. An
// ellipsoid has one lowest point on a half-space.
#include "core/math.h"
#include "geometry/gaps/gap_core.h"

#define FLUSH 1e-4  // rad: a patch that is flat but for this has all its corners and crossings
#define FLAT 1e-6   // sine of the tilt of an end below which it lies flat,
#define LYING 1e-4  // and above which the points of its rim are none: the lowest one is
#define BESIDE 0.1  // of the directions of a corner, where walls and faces are met
#define BORDER 1e-3 // of a domain: farther outside nothing more is asked
#define TURNS 16384 // names of points on a rim: parts of a turn
#define RING 8
#define STARTS 4096 // names of angles where rims meet lines

enum {
  NEAREST,
  CORNER_FACE,
  FACE_CORNER,
  EDGE_EDGE,
  CORNER_EDGE,
  EDGE_CORNER,
  CORNER_CORNER,
  RIM,
  RIM_POINT,
  LOWEST,
  RIM_EDGE,
  RIM_CORNER,
  RIM_RIM
};

// Of a rim: whose it is, which of the two, and on which face or about which part of a turn.
#define OF_A 0x2000
#define UPPER 0x1000
#define PART 0xfff

static uint32_t name_of(uint32_t kind, int32_t i, int32_t j) {
  return kind << 28 | (uint32_t)i << 14 | (uint32_t)j;
}

// ---- pairs of features ----

// Face i of f and corner k of c; `turned`: f is b.
static CniGap face_corner(const CniCore *f, int32_t i, const CniCore *c, int32_t k, int turned) {
  CniGap g = cni_gap_over_face(f, i, c, cni_core_corner(c, k), turned);
  if (f->shape->kind != CN_SHAPE_PLANE && g.domain > -BORDER)
    g.domain = cn_min(g.domain, cni_core_from(c, k, cn_neg(cni_core_normal(f, i))) + BESIDE);
  return g;
}

// The common normals n of two lines, out of a, and their number. Of two edges it is one; n makes an angle
// with the axis of a wall, which two do.
static int32_t normals_of(const CniEdge *p, const CniEdge *q, CnVec3 n[2]) {
  CnVec3 cross = cn_cross(p->along, q->along);
  double sine = cn_norm(cross), c = cn_dot(p->along, q->along);
  if (!(sine > 0.1 * CNI_ALONG)) return 0;
  if (p->lean != 0 || q->lean != 0) { // n.p = lean of p, -n.q = lean of q
    double sine2 = sine * sine;
    double x = (p->lean + c * q->lean) / sine2, y = -(q->lean + c * p->lean) / sine2;
    CnVec3 leaning = cn_madd(cn_scale(x, p->along), y, q->along);
    double up = 1 - cn_norm2(leaning);
    if (!(up > CNI_ALONG * CNI_ALONG)) return 0;
    n[0] = cn_madd(leaning, sqrt(up) / sine, cross);
    n[1] = cn_madd(leaning, -sqrt(up) / sine, cross);
    return 2;
  }
  n[0] = cn_scale(1 / sine, cross);
  double out = p->sharp   ? cn_dot(n[0], cn_add(p->normal[0], p->normal[1]))
               : q->sharp ? -cn_dot(n[0], cn_add(q->normal[0], q->normal[1]))
                          : cn_dot(n[0], cn_sub(q->start, p->start));
  if (out < 0) n[0] = cn_neg(n[0]);
  return 1;
}

static CniGap lines_along(const CniCore *a, CniEdge p, const CniCore *b, CniEdge q, CnVec3 n) {
  int walls = p.wall || q.wall;
  if (p.wall) p = cni_core_wall(a, n);
  if (q.wall) q = cni_core_wall(b, cn_neg(n));
  CnVec3 apart = cn_sub(q.start, p.start);
  double sine = cn_norm(cn_cross(p.along, q.along)), scale = cni_core_scale(a, b);
  double c = cn_dot(p.along, q.along), x = cn_dot(apart, p.along), y = cn_dot(apart, q.along);
  double s = (x - c * y) / (sine * sine), t = (c * x - y) / (sine * sine), d = cn_dot(n, apart);
  double domain = cn_min(cn_min(s, p.length - s), cn_min(t, q.length - t)) / scale;
  int sharp = walls || !(a->round + b->round > 0);
  domain = cn_min(domain, FLUSH + cn_min(cni_core_between(&p, n), cni_core_between(&q, cn_neg(n))));
  domain = cn_min(domain, cn_min(sine - CNI_ALONG, d / scale + (sharp ? CNI_DEPTH : 0)));
  // beside acute edges: is there a nearer way out?
  if (d < -1e-6 * scale && domain >= 0)
    domain =
        cn_min(domain, (d - (cni_places(a->shape, b->shape).gap + (a->round + b->round))) / scale);
  return cni_gap_between(a, b, cn_madd(p.start, s, p.along), cn_madd(q.start, t, q.along), n, d,
                         domain + CNI_SLACK);
}

static CniGap edge_edge(const CniCore *a, int32_t i, const CniCore *b, int32_t k) {
  CniEdge p, q;
  CnVec3 n[2];
  CniGap best = cni_no_gap();
  if (!cni_core_edge(a, i, &p) || !cni_core_edge(b, k, &q)) return best;
  int32_t count = normals_of(&p, &q, n);
  for (int32_t j = 0; j < count; j++) {
    CniGap g = lines_along(a, p, b, q, n[j]);
    if (j == 0 || g.domain > best.domain) best = g;
  }
  return best;
}

// The wall of e, and corner k of c.
static CniGap wall_corner(const CniCore *e, const CniCore *c, int32_t k, int turned) {
  CniEdge axis;
  CnVec3 p = cni_core_corner(c, k), own = cn_pose_local(e->shape->pose, p);
  double far = sqrt(own.x * own.x + own.y * own.y), scale = cni_core_scale(e, c);
  if (!(far > 0)) return cni_no_gap();
  cni_core_edge(e, 0, &axis);
  double across = sqrt(1 - axis.lean * axis.lean) / far;
  CnVec3 n = cn_mmul(e->axes, cn_vec3(across * own.x, across * own.y, axis.lean));
  CniEdge line = cni_core_wall(e, n);
  CnVec3 apart = cn_sub(p, line.start);
  double d = cn_dot(n, apart), t = cn_dot(apart, line.along);
  double domain = cn_min(cn_min(t, line.length - t) / scale, d / scale + CNI_DEPTH);
  if (d < 0) domain = cn_min(domain, cni_core_deepest(e, -1, own, d) / scale);
  // a corner keeps its place beside an edge along the wall
  domain = cn_min(domain, cni_core_from(c, k, cn_neg(n)) + BESIDE) + CNI_SLACK;
  return cni_gap_turned(e, c, cn_madd(line.start, t, line.along), p, n, d, domain, turned);
}

// Corner k of c and edge i of e; `turned`: c is b.
static CniGap edge_corner(const CniCore *e, int32_t i, const CniCore *c, int32_t k, int turned) {
  CniEdge q;
  if (e->rims) return wall_corner(e, c, k, turned);
  if (!cni_core_edge(e, i, &q)) return cni_no_gap();
  CnVec3 p = cni_core_corner(c, k);
  double t = cn_dot(cn_sub(p, q.start), q.along);
  CnVec3 foot = cn_madd(q.start, t, q.along), way = cn_sub(p, foot);
  double d = cn_norm(way), domain = cn_min(t, q.length - t) / cni_core_scale(e, c);
  if (!(d > 0)) return cni_no_gap();
  CnVec3 n = cn_scale(1 / d, way);
  domain =
      cn_min(domain, cn_min(cni_core_between(&q, n), cni_core_from(c, k, cn_neg(n)))) + CNI_SLACK;
  return cni_gap_turned(e, c, foot, p, n, d, domain, turned);
}

static CniGap corner_corner(const CniCore *a, int32_t i, const CniCore *b, int32_t k) {
  CnVec3 p = cni_core_corner(a, i), q = cni_core_corner(b, k), way = cn_sub(q, p);
  double d = cn_norm(way);
  if (!(d > 0)) return cni_no_gap();
  CnVec3 n = cn_scale(1 / d, way);
  double domain = cn_min(cni_core_from(a, i, n), cni_core_from(b, k, cn_neg(n))) + CNI_SLACK;
  return cni_gap_between(a, b, p, q, n, d, domain);
}

// ---- on half-spaces and faces ----

static CniGap on_plane(const CniCore *a, const CniCore *b, CnVec3 p, double domain) {
  CnVec3 n = a->axes.z;
  double d = cn_dot(n, cn_sub(p, a->shape->pose.position));
  return cni_gap_between(a, b, cn_madd(p, -d, n), p, n, d, domain);
}

// A turn's part `k`, or the lowest point (-1), of the rim of the lower or upper end of c, over a face
// of f; `turned`: f is b.
static CniGap rim(const CniCore *f, int32_t face, const CniCore *c, int32_t upper, int32_t k,
                  int turned) {
  const CniFrustum *t = &c->turned;
  double r = upper ? t->high : t->low, z = upper ? t->half : -t->half, domain = INFINITY;
  CnVec3 down = cn_mtmul(c->axes, cn_neg(cni_core_normal(f, face))), p = cn_vec3(0, 0, z);
  double tilt = sqrt(down.x * down.x + down.y * down.y);
  double x = k < 0 ? down.x : cni_cos(2 * CNI_PI * k / TURNS);
  double y = k < 0 ? down.y : cni_sin(2 * CNI_PI * k / TURNS);
  double length = k < 0 ? tilt : 1;
  if (r > 0 && length > 0) p = cn_vec3(r * (x / length), r * (y / length), z);
  if (r > 0 && k < 0) domain = tilt - FLAT;
  if (r > 0 && k >= 0) domain = LYING - ((upper ? down.z : -down.z) > 0 ? tilt : 1);
  p = cni_core_point(c, p);
  if (f->shape->kind == CN_SHAPE_PLANE) return on_plane(f, c, p, domain);
  CniGap g = cni_gap_over_face(f, face, c, p, turned);
  g.domain = cn_min(g.domain, domain);
  return g;
}

static CniGap lowest(const CniCore *a, const CniCore *b) {
  uint32_t unused;
  CnVec3 down = cn_mtmul(b->axes, cn_neg(a->axes.z));
  CnVec3 p = cni_shape_kinds[b->shape->kind]->support(b->shape, down, &unused);
  return on_plane(a, b, cni_core_point(b, p), INFINITY);
}

// ---- by name ----

static CniGap rim_named(const CniCore *a, const CniCore *b, uint32_t kind, int32_t i, int32_t k) {
  int32_t of_a = (i & OF_A) != 0, upper = (i & UPPER) != 0, part = i & PART;
  const CniCore *c = of_a ? a : b, *o = of_a ? b : a;
  if (kind == RIM || kind == RIM_POINT) return rim(o, part, c, upper, kind == RIM ? -1 : k, of_a);
  CniRimMeets meets = kind == RIM_EDGE     ? CNI_RIM_EDGE
                      : kind == RIM_CORNER ? CNI_RIM_CORNER
                                           : CNI_RIM_RIM;
  return cni_gap_rim(c, upper, 2 * CNI_PI * part / STARTS, o, meets, k, !of_a);
}

static CniGap gap_named(const CniCore *a, const CniCore *b, uint32_t name) {
  int32_t i = (int32_t)(name >> 14 & 0x3fff), k = (int32_t)(name & 0x3fff);
  switch (name >> 28) {
  case CORNER_FACE:
    return face_corner(b, k, a, i, 1);
  case FACE_CORNER:
    return face_corner(a, i, b, k, 0);
  case EDGE_EDGE:
    return edge_edge(a, i, b, k);
  case CORNER_EDGE:
    return edge_corner(b, k, a, i, 1);
  case EDGE_CORNER:
    return edge_corner(a, i, b, k, 0);
  case CORNER_CORNER:
    return corner_corner(a, i, b, k);
  case LOWEST:
    return lowest(a, b);
  default:
    return rim_named(a, b, name >> 28, i, k);
  }
}

CniGap cni_gap_of_feature(const CniPlaced *a, const CniPlaced *b, uint32_t name) {
  CniCore core_a = cni_core_of(a), core_b = cni_core_of(b);
  CniGap g = gap_named(&core_a, &core_b, name);
  // what turns about an axis rolls on the half-space: its lowest point is another all the time
  if (name >> 28 == RIM || name >> 28 == LOWEST) g.bend = CNI_GAP_OTHER;
  return g;
}

typedef struct List {
  const CniCore *a, *b;
  CniBounds near_a, near_b; // of the other shape, as far as it may come
  double reach;
  uint32_t *names;
  int32_t count, most;
} List;

static void consider(List *l, uint32_t kind, int32_t i, int32_t k) {
  uint32_t name = name_of(kind, i, k);
  CniGap g = gap_named(l->a, l->b, name);
  double more = 2 * l->reach / cni_core_scale(l->a, l->b);
  if (!(g.gap <= l->reach) || !(g.domain >= -more)) return;
  if (l->count < l->most) l->names[l->count] = name;
  l->count++;
}

static int inside(const CniBounds *b, CnVec3 lo, CnVec3 hi) {
  return lo.x <= b->hi.x && hi.x >= b->lo.x && lo.y <= b->hi.y && hi.y >= b->lo.y &&
         lo.z <= b->hi.z && hi.z >= b->lo.z;
}

static int corner_near(const List *l, const CniCore *c, int32_t i) {
  CnVec3 p = cni_core_corner(c, i);
  return inside(c == l->a ? &l->near_a : &l->near_b, p, p);
}

static int edge_near(const List *l, const CniCore *c, int32_t i) {
  CniEdge e;
  if (!cni_core_edge(c, i, &e)) return 0;
  if (e.wall) return 1;
  CnVec3 p = e.start, q = cn_madd(p, e.length, e.along);
  CnVec3 lo = {cn_min(p.x, q.x), cn_min(p.y, q.y), cn_min(p.z, q.z)};
  CnVec3 hi = {cn_max(p.x, q.x), cn_max(p.y, q.y), cn_max(p.z, q.z)};
  return inside(c == l->a ? &l->near_a : &l->near_b, lo, hi);
}

typedef int (*Near)(const List *l, const CniCore *c, int32_t i);
static int always(const List *l, const CniCore *c, int32_t i) {
  (void)l;
  (void)c;
  (void)i;
  return 1;
}

static void pairs(List *l, uint32_t kind, int32_t count_a, Near near_a, int32_t count_b,
                  Near near_b) {
  for (int32_t i = 0; i < count_a; i++) {
    if (!near_a(l, l->a, i)) continue;
    for (int32_t k = 0; k < count_b; k++)
      if (near_b(l, l->b, k)) consider(l, kind, i, k);
  }
}

// Of a shape, enlarged by how far others may come and by their rounding.
static CniBounds wide_bounds(const CniCore *c, double far) {
  CniBounds b = cni_shape_bounds(c->shape);
  CnVec3 more = {far, far, far};
  return (CniBounds){cn_sub(b.lo, more), cn_add(b.hi, more)};
}

// Rims of c over a face of the other; a half-space meets an end that is a point as a rim too.
static void rims_over_face(List *l, const CniCore *c, int32_t face, CnVec3 load) {
  int plane = l->a->shape->kind == CN_SHAPE_PLANE;
  int32_t of_a = c == l->a ? OF_A : 0;
  CnVec3 own = cn_mtmul(c->axes, load);
  double part = cni_atan2(own.y, own.x) / (2 * CNI_PI) * TURNS;
  int32_t first = own.x == 0 && own.y == 0 ? 0 : (int32_t)(part + 2 * TURNS + 0.5);
  for (int32_t i = 0; i < 2; i++) {
    int32_t name = of_a | (i ? UPPER : 0) | face;
    double r = i ? c->turned.high : c->turned.low;
    if (r > 0 || plane) consider(l, RIM, name, 0);
    for (int32_t k = 0; r > 0 && k < RING; k++)
      consider(l, RIM_POINT, name, (first + k * (TURNS / RING)) % TURNS);
  }
}

// Rims of c and an edge, a corner or a rim of the other.
static void rims_at(List *l, const CniCore *c, uint32_t kind, CniRimMeets meets, int32_t k) {
  const CniCore *o = c == l->a ? l->b : l->a;
  for (int32_t i = 0; i < c->faces; i++) {
    double start[4];
    int32_t count = cni_rim_starts(c, i, o, meets, k, start);
    for (int32_t j = 0; j < count; j++) {
      int32_t part = (int32_t)(start[j] / (2 * CNI_PI) * STARTS + 0.5) % STARTS;
      consider(l, kind, (c == l->a ? OF_A : 0) | (i ? UPPER : 0) | part, k);
    }
  }
}

static void rims_of(List *l, const CniCore *c, CnVec3 load) {
  const CniCore *o = c == l->a ? l->b : l->a;
  for (int32_t k = 0; k < o->faces; k++) rims_over_face(l, c, k, load);
  if (o->shape->kind == CN_SHAPE_PLANE) return;
  for (int32_t k = 0; k < o->edges; k++)
    if (edge_near(l, o, k)) rims_at(l, c, RIM_EDGE, CNI_RIM_EDGE, k);
  for (int32_t k = 0; c->round + o->round > 0 && k < o->corners; k++)
    if (corner_near(l, o, k)) rims_at(l, c, RIM_CORNER, CNI_RIM_CORNER, k);
  for (int32_t k = 0; c == l->a && o->rims && k < o->faces; k++)
    rims_at(l, c, RIM_RIM, CNI_RIM_RIM, k);
}

static void sort_names(List *l) {
  int32_t count = l->count < l->most ? l->count : l->most;
  for (int32_t i = 1; i < count; i++) {
    uint32_t name = l->names[i];
    int32_t k = i;
    for (; k > 0 && l->names[k - 1] > name; k--) l->names[k] = l->names[k - 1];
    l->names[k] = name;
  }
}

int cni_has_features(CnShapeKind a, CnShapeKind b) {
  static const uint8_t flat[CN_SHAPE_KIND_COUNT] = {[CN_SHAPE_BOX] = 1,
                                                    [CN_SHAPE_CAPSULE] = 1,
                                                    [CN_SHAPE_CYLINDER] = 1,
                                                    [CN_SHAPE_CONE] = 1,
                                                    [CN_SHAPE_HULL] = 1};
  if (a == CN_SHAPE_PLANE && b == CN_SHAPE_PLANE) return 0;
  if (a == CN_SHAPE_PLANE || b == CN_SHAPE_PLANE) return 1;
  return flat[a] && flat[b];
}

int32_t cni_gap_features(const CniPlaced *a, const CniPlaced *b, double reach, CnVec3 load,
                         uint32_t *names, int32_t most) {
  CniCore core_a = cni_core_of(a), core_b = cni_core_of(b);
  List l = {&core_a,
            &core_b,
            wide_bounds(&core_b, reach + core_a.round),
            wide_bounds(&core_a, reach + core_b.round),
            reach,
            names,
            0,
            most};
  if (b->kind == CN_SHAPE_ELLIPSOID || b->kind == CN_SHAPE_SPHERE) {
    consider(&l, LOWEST, 0, 0);
  } else if (a->kind != CN_SHAPE_PLANE || !core_b.rims) {
    int rounded = core_a.round + core_b.round > 0;
    pairs(&l, CORNER_FACE, core_a.corners, corner_near, core_b.faces, always);
    pairs(&l, FACE_CORNER, core_a.faces, always, core_b.corners, corner_near);
    pairs(&l, EDGE_EDGE, core_a.edges, edge_near, core_b.edges, edge_near);
    if (rounded || core_b.rims)
      pairs(&l, CORNER_EDGE, core_a.corners, corner_near, core_b.edges, edge_near);
    if (rounded || core_a.rims)
      pairs(&l, EDGE_CORNER, core_a.edges, edge_near, core_b.corners, corner_near);
    if (rounded) pairs(&l, CORNER_CORNER, core_a.corners, corner_near, core_b.corners, corner_near);
  }
  if (core_a.rims) rims_of(&l, &core_a, load);
  if (core_b.rims) rims_of(&l, &core_b, load);
  if (core_a.rims || core_b.rims) sort_names(&l);
  return l.count;
}
