// SPDX-License-Identifier: Apache-2.0
// Gaps of lasting features: which corners, edges, faces and rims of two shapes may meet, and the gap
// of each such pair as a smooth function (gap.c).
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
// On a half-space also what is turned about an axis: of a rim of radius r about c with the axis a the
// lowest point, n . c - r |n - (n . a) a|. An end that lies flat has none: then eight points of the rim
// carry, the first of them where gravity pulls, so that what tips over that way tips over the rim
// itself; across it they miss up to 7.6 % of the radius. An ellipsoid has one lowest point.
#include "core/math.h"
#include "geometry/frustum.h"

#define SLACK 1e-12 // of borders
#define FLAT 1e-6   // sine of the tilt of an end below which it lies flat
#define ALONG 1e-3  // sine of the angle between edges below which they have no normal
#define DEPTH 0.5   // of the inradius: deeper overlaps of sharp shapes belong to other features
#define TURNS 16384 // names of points on a rim: parts of a turn
#define RING 8

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
  KINDS
};

static uint32_t name_of(uint32_t kind, int32_t i, int32_t j) {
  return kind << 28 | (uint32_t)i << 14 | (uint32_t)j;
}

// ---- one shape ----

typedef struct Core {
  const CniPlaced *shape;
  CnMat3 axes;
  double round, size; // size: inradius
  int32_t corners, edges, faces;
} Core;

static Core core_of(const CniPlaced *shape) {
  Core c = {.shape = shape, .axes = cn_qmat(shape->pose.rotation), .size = INFINITY};
  if (shape->kind == CN_SHAPE_PLANE) {
    c.faces = 1;
    return c;
  }
  c.round = cni_shape_kinds[shape->kind]->rounding(shape);
  c.size = cni_shape_inradius(shape);
  if (shape->kind == CN_SHAPE_BOX) c.corners = 8, c.edges = 12, c.faces = 6;
  if (shape->kind == CN_SHAPE_CAPSULE) c.corners = 2, c.edges = 1;
  if (shape->kind == CN_SHAPE_HULL) {
    c.corners = shape->hull->vertex_count;
    c.edges = shape->hull->corner_count; // an edge is one of the two corners that name it
    c.faces = shape->hull->face_count;
  }
  return c;
}

static CnVec3 at(const Core *c, CnVec3 local) {
  return cn_add(c->shape->pose.position, cn_mmul(c->axes, local));
}

static CnVec3 corner(const Core *c, int32_t i) {
  const double *h = c->shape->size;
  if (c->shape->kind == CN_SHAPE_HULL) return at(c, c->shape->hull->vertices[i]);
  if (c->shape->kind == CN_SHAPE_CAPSULE) return at(c, cn_vec3(0, 0, i ? h[1] : -h[1]));
  return at(c, cn_vec3(i & 1 ? h[0] : -h[0], i & 2 ? h[1] : -h[1], i & 4 ? h[2] : -h[2]));
}

typedef struct Edge {
  CnVec3 start, along; // unit
  double length;
  CnVec3 normal[2]; // of its faces
  int32_t sharp;    // it has faces
} Edge;

static int32_t face_of_corner(const CniHull *h, int32_t i) {
  int32_t low = 0, high = h->face_count - 1;
  while (low < high) {
    int32_t middle = (low + high + 1) / 2;
    if (h->faces[middle].first <= i)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

static Edge edge_between(CnVec3 from, CnVec3 to) {
  CnVec3 way = cn_sub(to, from);
  double length = cn_norm(way);
  return (Edge){.start = from, .along = cn_scale(1 / length, way), .length = length};
}

// Returns 0 where i is the other name of an edge.
static int edge(const Core *c, int32_t i, Edge *e) {
  if (c->shape->kind == CN_SHAPE_CAPSULE) {
    *e = edge_between(corner(c, 0), corner(c, 1));
    return 1;
  }
  if (c->shape->kind == CN_SHAPE_HULL) {
    const CniHull *h = c->shape->hull;
    int32_t f = face_of_corner(h, i), other = h->corners[i].neighbour;
    if (other < f) return 0;
    int32_t next = i + 1 < h->faces[f].first + h->faces[f].count ? i + 1 : h->faces[f].first;
    *e = edge_between(corner(c, h->corners[i].vertex), corner(c, h->corners[next].vertex));
    e->normal[0] = cn_mmul(c->axes, h->faces[f].normal);
    e->normal[1] = cn_mmul(c->axes, h->faces[other].normal);
    e->sharp = 1;
    return 1;
  }
  const CnVec3 axes[3] = {c->axes.x, c->axes.y, c->axes.z};
  int32_t d = i / 4, u = (d + 1) % 3, v = (d + 2) % 3;
  int32_t from = (i & 1 ? 1 << u : 0) | (i & 2 ? 1 << v : 0);
  *e = edge_between(corner(c, from), corner(c, from | 1 << d));
  e->normal[0] = cn_scale(i & 1 ? 1 : -1, axes[u]);
  e->normal[1] = cn_scale(i & 2 ? 1 : -1, axes[v]);
  e->sharp = 1;
  return 1;
}

// Is a unit direction, square to the edge, between the normals of its faces? Negative: how far not.
static double between(const Edge *e, CnVec3 d) {
  double least = INFINITY, c = cn_dot(e->normal[0], e->normal[1]);
  for (int32_t k = 0; e->sharp && k < 2; k++) {
    CnVec3 m = cn_madd(e->normal[k], -c, e->normal[1 - k]);
    least = cn_min(least, cn_dot(d, m) / cn_norm(m));
  }
  return least;
}

// Is a direction in the cone of a corner: does no edge from there go along it?
static double from_corner(const Core *c, int32_t i, CnVec3 d) {
  if (c->shape->kind == CN_SHAPE_CAPSULE) return (i ? 1 : -1) * cn_dot(d, c->axes.z);
  CnVec3 own = cn_mtmul(c->axes, d);
  if (c->shape->kind == CN_SHAPE_BOX)
    return cn_min(i & 1 ? own.x : -own.x, cn_min(i & 2 ? own.y : -own.y, i & 4 ? own.z : -own.z));
  const CniHull *h = c->shape->hull;
  double least = INFINITY;
  for (int32_t f = 0; f < h->face_count; f++)
    for (int32_t k = 0; k < h->faces[f].count; k++) {
      if (h->corners[h->faces[f].first + k].vertex != i) continue;
      int32_t next = h->faces[f].first + (k + 1) % h->faces[f].count;
      CnVec3 way = cn_sub(h->vertices[h->corners[next].vertex], h->vertices[i]);
      least = cn_min(least, -cn_dot(own, way) / cn_norm(way));
    }
  return least;
}

// Height of a place of the shape's frame above face i.
static double above(const Core *c, int32_t i, CnVec3 p) {
  const double x[3] = {p.x, p.y, p.z};
  if (c->shape->kind == CN_SHAPE_PLANE) return p.z;
  if (c->shape->kind == CN_SHAPE_HULL)
    return cn_dot(c->shape->hull->faces[i].normal, p) - c->shape->hull->faces[i].height;
  return (i % 2 ? x[i / 2] : -x[i / 2]) - c->shape->size[i / 2];
}

static CnVec3 face_normal(const Core *c, int32_t i) {
  const CnVec3 axes[3] = {c->axes.x, c->axes.y, c->axes.z};
  if (c->shape->kind == CN_SHAPE_PLANE) return c->axes.z;
  if (c->shape->kind == CN_SHAPE_HULL) return cn_mmul(c->axes, c->shape->hull->faces[i].normal);
  return cn_scale(i % 2 ? 1 : -1, axes[i / 2]);
}

// How far a place is within the borders of face i.
static double within(const Core *c, int32_t i, CnVec3 p) {
  const double x[3] = {p.x, p.y, p.z}, *size = c->shape->size;
  if (c->shape->kind == CN_SHAPE_PLANE) return INFINITY;
  if (c->shape->kind == CN_SHAPE_BOX) {
    int32_t u = (i / 2 + 1) % 3, v = (i / 2 + 2) % 3;
    return cn_min(size[u] - fabs(x[u]), size[v] - fabs(x[v]));
  }
  const CniHull *h = c->shape->hull;
  const CniHullFace *f = &h->faces[i];
  double least = INFINITY;
  for (int32_t k = 0; k < f->count; k++) {
    CnVec3 from = h->vertices[h->corners[f->first + k].vertex];
    CnVec3 to = h->vertices[h->corners[f->first + (k + 1) % f->count].vertex];
    CnVec3 in = cn_cross(f->normal, cn_sub(to, from));
    least = cn_min(least, cn_dot(in, cn_sub(p, from)) / cn_norm(in));
  }
  return least;
}

// ---- pairs of features ----

static double scale_of(const Core *a, const Core *b) { return cn_min(a->size, b->size); }

// The gap of two points at distance d along n; `turned`: n points from b to a.
static CniGap gap_of(const Core *a, const Core *b, CnVec3 on_a, CnVec3 on_b, CnVec3 n, double d,
                     double domain) {
  return (CniGap){.bend = a->shape->kind == CN_SHAPE_PLANE ? CNI_GAP_FACE : CNI_GAP_OTHER,
                  .normal = n,
                  .centre_a = on_a,
                  .centre_b = on_b,
                  .gap = d - (a->round + b->round),
                  .radius_a = a->round,
                  .radius_b = b->round,
                  .domain = domain};
}

// Face i of f and corner k of c; `turned`: f is b.
static CniGap face_corner(const Core *f, int32_t i, const Core *c, int32_t k, int turned) {
  CnVec3 p = corner(c, k), n = face_normal(f, i), own = cn_pose_local(f->shape->pose, p);
  double d = above(f, i, own), domain = within(f, i, own);
  for (int32_t j = 0; d < 0 && j < f->faces; j++)
    if (j != i) domain = cn_min(domain, d - above(f, j, own)); // nearer to the way out there
  CnVec3 foot = cn_madd(p, -d, n);
  domain = domain / scale_of(f, c) + SLACK;
  return turned ? gap_of(c, f, p, foot, cn_neg(n), d, domain) : gap_of(f, c, foot, p, n, d, domain);
}

static CniGap no_gap(void) { return (CniGap){.gap = INFINITY, .normal = {0, 0, 1}, .domain = -1}; }

static CniGap edge_edge(const Core *a, int32_t i, const Core *b, int32_t k) {
  Edge p, q;
  if (!edge(a, i, &p) || !edge(b, k, &q)) return no_gap();
  CnVec3 cross = cn_cross(p.along, q.along), apart = cn_sub(q.start, p.start);
  double sine = cn_norm(cross), scale = scale_of(a, b);
  if (!(sine > 0.1 * ALONG)) return no_gap();
  CnVec3 n = cn_scale(1 / sine, cross);
  double out = p.sharp   ? cn_dot(n, cn_add(p.normal[0], p.normal[1]))
               : q.sharp ? -cn_dot(n, cn_add(q.normal[0], q.normal[1]))
                         : cn_dot(n, apart);
  if (out < 0) n = cn_neg(n);
  double c = cn_dot(p.along, q.along), x = cn_dot(apart, p.along), y = cn_dot(apart, q.along);
  double s = (x - c * y) / (sine * sine), t = (c * x - y) / (sine * sine), d = cn_dot(n, apart);
  double domain = cn_min(cn_min(s, p.length - s), cn_min(t, q.length - t)) / scale;
  domain = cn_min(domain, cn_min(between(&p, n), between(&q, cn_neg(n))));
  domain = cn_min(domain, cn_min(sine - ALONG, d / scale + (a->round + b->round > 0 ? 0 : DEPTH)));
  // beside acute edges: is there a nearer way out?
  if (d < -1e-6 * scale && domain >= 0)
    domain = cn_min(domain, (d - cni_places(a->shape, b->shape).gap) / scale);
  return gap_of(a, b, cn_madd(p.start, s, p.along), cn_madd(q.start, t, q.along), n, d,
                domain + SLACK);
}

// Corner k of c and edge i of e; `turned`: c is b.
static CniGap edge_corner(const Core *e, int32_t i, const Core *c, int32_t k, int turned) {
  Edge q;
  if (!edge(e, i, &q)) return no_gap();
  CnVec3 p = corner(c, k);
  double t = cn_dot(cn_sub(p, q.start), q.along);
  CnVec3 foot = cn_madd(q.start, t, q.along), way = cn_sub(p, foot);
  double d = cn_norm(way), domain = cn_min(t, q.length - t) / scale_of(e, c);
  if (!(d > 0)) return no_gap();
  CnVec3 n = cn_scale(1 / d, way);
  domain = cn_min(domain, cn_min(between(&q, n), from_corner(c, k, cn_neg(n)))) + SLACK;
  return turned ? gap_of(c, e, p, foot, cn_neg(n), d, domain) : gap_of(e, c, foot, p, n, d, domain);
}

static CniGap corner_corner(const Core *a, int32_t i, const Core *b, int32_t k) {
  CnVec3 p = corner(a, i), q = corner(b, k), way = cn_sub(q, p);
  double d = cn_norm(way);
  if (!(d > 0)) return no_gap();
  CnVec3 n = cn_scale(1 / d, way);
  double domain = cn_min(from_corner(a, i, n), from_corner(b, k, cn_neg(n))) + SLACK;
  return gap_of(a, b, p, q, n, d, domain);
}

// ---- on a half-space a ----

static CniFrustum frustum_of(const CniPlaced *s) {
  if (s->kind == CN_SHAPE_CONE) return (CniFrustum){s->size[0], s->size[1], s->size[2]};
  return (CniFrustum){s->size[0], s->size[0], s->size[1]};
}

static CniGap on_plane(const Core *a, const Core *b, CnVec3 p, double domain) {
  CnVec3 n = a->axes.z;
  double d = cn_dot(n, cn_sub(p, a->shape->pose.position));
  return gap_of(a, b, cn_madd(p, -d, n), p, n, d, domain);
}

// A turn's part `k`, or the lowest point (-1), of the rim of the lower or upper end.
static CniGap rim(const Core *a, const Core *b, int32_t upper, int32_t k) {
  CniFrustum f = frustum_of(b->shape);
  double r = upper ? f.high : f.low, z = upper ? f.half : -f.half, domain = INFINITY;
  CnVec3 down = cn_mtmul(b->axes, cn_neg(a->axes.z)), p = cn_vec3(0, 0, z);
  double tilt = sqrt(down.x * down.x + down.y * down.y);
  double x = k < 0 ? down.x : cni_cos(2 * CNI_PI * k / TURNS);
  double y = k < 0 ? down.y : cni_sin(2 * CNI_PI * k / TURNS);
  double length = k < 0 ? tilt : 1;
  if (r > 0 && length > 0) p = cn_vec3(r * (x / length), r * (y / length), z);
  if (r > 0 && k < 0) domain = tilt - FLAT;
  return on_plane(a, b, at(b, p), domain);
}

static CniGap lowest(const Core *a, const Core *b) {
  uint32_t unused;
  CnVec3 down = cn_mtmul(b->axes, cn_neg(a->axes.z));
  CnVec3 p = cni_shape_kinds[b->shape->kind]->support(b->shape, down, &unused);
  CniGap g = on_plane(a, b, at(b, p), INFINITY);
  return g;
}

// ---- by name ----

static CniGap gap_named(const Core *a, const Core *b, uint32_t name) {
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
  case RIM:
    return rim(a, b, i, -1);
  case RIM_POINT:
    return rim(a, b, i, k);
  default:
    return lowest(a, b);
  }
}

CniGap cni_gap_of_feature(const CniPlaced *a, const CniPlaced *b, uint32_t name) {
  Core core_a = core_of(a), core_b = core_of(b);
  CniGap g = gap_named(&core_a, &core_b, name);
  // what turns about an axis rolls on the half-space: its lowest point is another all the time
  if (name >> 28 == RIM || name >> 28 == LOWEST) g.bend = CNI_GAP_OTHER;
  return g;
}

typedef struct List {
  const Core *a, *b;
  CniBounds near_a, near_b; // of the other shape, as far as it may come
  double reach;
  uint32_t *names;
  int32_t count, most;
} List;

static void consider(List *l, uint32_t kind, int32_t i, int32_t k) {
  uint32_t name = name_of(kind, i, k);
  CniGap g = gap_named(l->a, l->b, name);
  double more = 2 * l->reach / scale_of(l->a, l->b);
  if (!(g.gap <= l->reach) || !(g.domain >= -more)) return;
  if (l->count < l->most) l->names[l->count] = name;
  l->count++;
}

static int inside(const CniBounds *b, CnVec3 lo, CnVec3 hi) {
  return lo.x <= b->hi.x && hi.x >= b->lo.x && lo.y <= b->hi.y && hi.y >= b->lo.y &&
         lo.z <= b->hi.z && hi.z >= b->lo.z;
}

static int corner_near(const List *l, const Core *c, int32_t i) {
  CnVec3 p = corner(c, i);
  return inside(c == l->a ? &l->near_a : &l->near_b, p, p);
}

static int edge_near(const List *l, const Core *c, int32_t i) {
  Edge e;
  if (!edge(c, i, &e)) return 0;
  CnVec3 p = e.start, q = cn_madd(p, e.length, e.along);
  CnVec3 lo = {cn_min(p.x, q.x), cn_min(p.y, q.y), cn_min(p.z, q.z)};
  CnVec3 hi = {cn_max(p.x, q.x), cn_max(p.y, q.y), cn_max(p.z, q.z)};
  return inside(c == l->a ? &l->near_a : &l->near_b, lo, hi);
}

typedef int (*Near)(const List *l, const Core *c, int32_t i);
static int always(const List *l, const Core *c, int32_t i) {
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
static CniBounds wide_bounds(const Core *c, double far) {
  CniBounds b = cni_shape_bounds(c->shape);
  CnVec3 more = {far, far, far};
  return (CniBounds){cn_sub(b.lo, more), cn_add(b.hi, more)};
}

static void turned_features(List *l, CnVec3 load) {
  CniFrustum f = frustum_of(l->b->shape);
  CnVec3 own = cn_mtmul(l->b->axes, load);
  double part = cni_atan2(own.y, own.x) / (2 * CNI_PI) * TURNS;
  int32_t first = own.x == 0 && own.y == 0 ? 0 : (int32_t)(part + 2 * TURNS + 0.5);
  for (int32_t i = 0; i < 2; i++) consider(l, RIM, i, 0);
  for (int32_t i = 0; i < 2; i++) {
    uint32_t names[RING];
    for (int32_t k = 0; k < RING; k++) names[k] = (uint32_t)((first + k * (TURNS / RING)) % TURNS);
    for (int32_t k = 0; k < RING; k++) { // ascending
      int32_t least = k;
      for (int32_t j = k + 1; j < RING; j++)
        if (names[j] < names[least]) least = j;
      uint32_t name = names[least];
      names[least] = names[k];
      names[k] = name;
      if ((i ? f.high : f.low) > 0) consider(l, RIM_POINT, i, (int32_t)name);
    }
  }
}

int cni_has_features(CnShapeKind a, CnShapeKind b) {
  static const uint8_t flat[CN_SHAPE_KIND_COUNT] = {
      [CN_SHAPE_BOX] = 1, [CN_SHAPE_CAPSULE] = 1, [CN_SHAPE_HULL] = 1};
  if (a == CN_SHAPE_PLANE && b == CN_SHAPE_PLANE) return 0;
  if (a == CN_SHAPE_PLANE || b == CN_SHAPE_PLANE) return 1;
  return flat[a] && flat[b];
}

int32_t cni_gap_features(const CniPlaced *a, const CniPlaced *b, double reach, CnVec3 load,
                         uint32_t *names, int32_t most) {
  Core core_a = core_of(a), core_b = core_of(b);
  List l = {&core_a,
            &core_b,
            wide_bounds(&core_b, reach + core_a.round),
            wide_bounds(&core_a, reach + core_b.round),
            reach,
            names,
            0,
            most};
  if (b->kind == CN_SHAPE_CYLINDER || b->kind == CN_SHAPE_CONE) {
    turned_features(&l, load);
  } else if (b->kind == CN_SHAPE_ELLIPSOID || b->kind == CN_SHAPE_SPHERE) {
    consider(&l, LOWEST, 0, 0);
  } else {
    pairs(&l, CORNER_FACE, core_a.corners, corner_near, core_b.faces, always);
    pairs(&l, FACE_CORNER, core_a.faces, always, core_b.corners, corner_near);
    pairs(&l, EDGE_EDGE, core_a.edges, edge_near, core_b.edges, edge_near);
    if (core_a.round + core_b.round > 0) {
      pairs(&l, CORNER_EDGE, core_a.corners, corner_near, core_b.edges, edge_near);
      pairs(&l, EDGE_CORNER, core_a.edges, edge_near, core_b.corners, corner_near);
      pairs(&l, CORNER_CORNER, core_a.corners, corner_near, core_b.corners, corner_near);
    }
  }
  return l.count;
}
