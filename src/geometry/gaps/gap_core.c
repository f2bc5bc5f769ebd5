// SPDX-License-Identifier: Apache-2.0
// One shape alone, as gaps by features see it: its corners, edges, faces, and of what is turned about
// an axis the wall and the ends, with the directions in which each of them is the outermost.
#include "geometry/gaps/gap_core.h"

CniCore cni_core_of(const CniPlaced *shape) {
  CniCore c = {.shape = shape, .axes = cn_qmat(shape->pose.rotation), .size = INFINITY};
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
  if (shape->kind == CN_SHAPE_CYLINDER || shape->kind == CN_SHAPE_CONE) {
    const double *s = shape->size;
    int cone = shape->kind == CN_SHAPE_CONE;
    c.turned = (CniFrustum){s[0], cone ? s[1] : s[0], cone ? s[2] : s[1]};
    c.edges = c.rims = 1;
    c.faces = c.turned.high > 0 ? 2 : 1;
    c.corners = 2 - c.faces;
  }
  return c;
}

CnVec3 cni_core_point(const CniCore *c, CnVec3 local) {
  return cn_add(c->shape->pose.position, cn_mmul(c->axes, local));
}

CnVec3 cni_core_corner(const CniCore *c, int32_t i) {
  const double *h = c->shape->size;
  if (c->rims) return cni_core_point(c, cn_vec3(0, 0, c->turned.half));
  if (c->shape->kind == CN_SHAPE_HULL) return cni_core_point(c, c->shape->hull->vertices[i]);
  if (c->shape->kind == CN_SHAPE_CAPSULE) return cni_core_point(c, cn_vec3(0, 0, i ? h[1] : -h[1]));
  return cni_core_point(c,
                        cn_vec3(i & 1 ? h[0] : -h[0], i & 2 ? h[1] : -h[1], i & 4 ? h[2] : -h[2]));
}

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

static CniEdge edge_between(CnVec3 from, CnVec3 to) {
  CnVec3 way = cn_sub(to, from);
  double length = cn_norm(way);
  return (CniEdge){.start = from, .along = cn_scale(1 / length, way), .length = length};
}

// A wall falls from low to high over the height 2 half: its normals have the slope of that.
static double lean_of(const CniCore *c, double *length) {
  double fall = c->turned.low - c->turned.high;
  *length = sqrt(fall * fall + 4 * c->turned.half * c->turned.half);
  return fall / *length;
}

CniEdge cni_core_wall(const CniCore *c, CnVec3 n) {
  double length, lean = lean_of(c, &length), far = 1 / sqrt(1 - lean * lean);
  CnVec3 axis = c->axes.z, out = cn_scale(far, cn_madd(n, -lean, axis));
  CnVec3 low = cn_madd(c->shape->pose.position, -c->turned.half, axis);
  // from rim to rim: up the axis, and in by the fall
  CnVec3 along = cn_madd(cn_scale(1 / far, axis), -lean, out);
  return (CniEdge){.start = cn_madd(low, c->turned.low, out), .along = along, .length = length};
}

int cni_core_edge(const CniCore *c, int32_t i, CniEdge *e) {
  if (c->rims) {
    double length, lean = lean_of(c, &length);
    *e = (CniEdge){.start = c->shape->pose.position,
                   .along = c->axes.z,
                   .length = length,
                   .wall = 1,
                   .lean = lean};
    return 1;
  }
  if (c->shape->kind == CN_SHAPE_CAPSULE) {
    *e = edge_between(cni_core_corner(c, 0), cni_core_corner(c, 1));
    return 1;
  }
  if (c->shape->kind == CN_SHAPE_HULL) {
    const CniHull *h = c->shape->hull;
    int32_t f = face_of_corner(h, i), other = h->corners[i].neighbour;
    if (other < f) return 0;
    int32_t next = i + 1 < h->faces[f].first + h->faces[f].count ? i + 1 : h->faces[f].first;
    *e = edge_between(cni_core_corner(c, h->corners[i].vertex),
                      cni_core_corner(c, h->corners[next].vertex));
    e->normal[0] = cn_mmul(c->axes, h->faces[f].normal);
    e->normal[1] = cn_mmul(c->axes, h->faces[other].normal);
    e->sharp = 1;
    return 1;
  }
  const CnVec3 axes[3] = {c->axes.x, c->axes.y, c->axes.z};
  int32_t d = i / 4, u = (d + 1) % 3, v = (d + 2) % 3;
  int32_t from = (i & 1 ? 1 << u : 0) | (i & 2 ? 1 << v : 0);
  *e = edge_between(cni_core_corner(c, from), cni_core_corner(c, from | 1 << d));
  e->normal[0] = cn_scale(i & 1 ? 1 : -1, axes[u]);
  e->normal[1] = cn_scale(i & 2 ? 1 : -1, axes[v]);
  e->sharp = 1;
  return 1;
}

double cni_core_between(const CniEdge *e, CnVec3 d) {
  double least = INFINITY, c = cn_dot(e->normal[0], e->normal[1]);
  for (int32_t k = 0; e->sharp && k < 2; k++) {
    CnVec3 m = cn_madd(e->normal[k], -c, e->normal[1 - k]);
    least = cn_min(least, cn_dot(d, m) / cn_norm(m));
  }
  return least;
}

double cni_core_from(const CniCore *c, int32_t i, CnVec3 d) {
  if (c->shape->kind == CN_SHAPE_CAPSULE) return (i ? 1 : -1) * cn_dot(d, c->axes.z);
  CnVec3 own = cn_mtmul(c->axes, d);
  if (c->rims) {
    double length, lean = lean_of(c, &length);
    return sqrt(1 - lean * lean) * own.z - lean * sqrt(own.x * own.x + own.y * own.y);
  }
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

double cni_core_above(const CniCore *c, int32_t i, CnVec3 p) {
  const double x[3] = {p.x, p.y, p.z};
  if (c->shape->kind == CN_SHAPE_PLANE) return p.z;
  if (c->rims) return (i ? p.z : -p.z) - c->turned.half;
  if (c->shape->kind == CN_SHAPE_HULL)
    return cn_dot(c->shape->hull->faces[i].normal, p) - c->shape->hull->faces[i].height;
  return (i % 2 ? x[i / 2] : -x[i / 2]) - c->shape->size[i / 2];
}

CnVec3 cni_core_normal(const CniCore *c, int32_t i) {
  const CnVec3 axes[3] = {c->axes.x, c->axes.y, c->axes.z};
  if (c->shape->kind == CN_SHAPE_PLANE) return c->axes.z;
  if (c->rims) return i ? c->axes.z : cn_neg(c->axes.z);
  if (c->shape->kind == CN_SHAPE_HULL) return cn_mmul(c->axes, c->shape->hull->faces[i].normal);
  return cn_scale(i % 2 ? 1 : -1, axes[i / 2]);
}

double cni_core_within(const CniCore *c, int32_t i, CnVec3 p) {
  const double x[3] = {p.x, p.y, p.z}, *size = c->shape->size;
  if (c->shape->kind == CN_SHAPE_PLANE) return INFINITY;
  if (c->rims) return (i ? c->turned.high : c->turned.low) - sqrt(p.x * p.x + p.y * p.y);
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

// ---- gaps between two of them ----

CniGap cni_gap_between(const CniCore *a, const CniCore *b, CnVec3 on_a, CnVec3 on_b, CnVec3 n,
                       double d, double domain) {
  return (CniGap){.bend = a->shape->kind == CN_SHAPE_PLANE ? CNI_GAP_FACE : CNI_GAP_OTHER,
                  .normal = n,
                  .centre_a = on_a,
                  .centre_b = on_b,
                  .gap = d - (a->round + b->round),
                  .radius_a = a->round,
                  .radius_b = b->round,
                  .domain = domain};
}

CniGap cni_gap_turned(const CniCore *first, const CniCore *second, CnVec3 on_first,
                      CnVec3 on_second, CnVec3 n, double d, double domain, int turned) {
  return turned ? cni_gap_between(second, first, on_second, on_first, cn_neg(n), d, domain)
                : cni_gap_between(first, second, on_first, on_second, n, d, domain);
}

CniGap cni_no_gap(void) { return (CniGap){.gap = INFINITY, .normal = {0, 0, 1}, .domain = -1}; }

// Height of a place of the shape's frame above the wall.
static double above_wall(const CniCore *f, CnVec3 p) {
  double length, lean = lean_of(f, &length), far = sqrt(p.x * p.x + p.y * p.y);
  return sqrt(1 - lean * lean) * (far - f->turned.low) + lean * (p.z + f->turned.half);
}

double cni_core_deepest(const CniCore *f, int32_t i, CnVec3 own, double d) {
  double domain = INFINITY;
  for (int32_t j = 0; j < f->faces; j++)
    if (j != i) domain = cn_min(domain, d - cni_core_above(f, j, own));
  if (i >= 0 && f->rims) domain = cn_min(domain, d - above_wall(f, own));
  return domain;
}

CniGap cni_gap_over_face(const CniCore *f, int32_t i, const CniCore *c, CnVec3 p, int turned) {
  CnVec3 n = cni_core_normal(f, i), own = cn_pose_local(f->shape->pose, p);
  double d = cni_core_above(f, i, own), domain = cni_core_within(f, i, own);
  if (d < 0) domain = cn_min(domain, cni_core_deepest(f, i, own, d));
  domain = domain / cni_core_scale(f, c) + CNI_SLACK;
  return cni_gap_turned(f, c, cn_madd(p, -d, n), p, n, d, domain, turned);
}
