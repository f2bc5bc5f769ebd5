// SPDX-License-Identifier: Apache-2.0
// The parts of a convex core that can lie against another: its corners, its straight edges and its
// flat sides, kind by kind. Two questions are asked of a part: does it, and nothing else, reach
// farthest along a direction; and how far inside the border of a side is a point.
//
// The rim of a cylinder or cone and an ellipsoid have one corner, which moves as the direction turns,
// and a cylinder's wall is one edge that does. A kind without a row here goes without parts: its
// pairs are found anew in every call.
#include "geometry/frustum.h"
#include "geometry/pairs/box_private.h"
#include "geometry/pairs/convex_private.h"

static int32_t rank_of(uint32_t part) { return (int32_t)(part >> 16) - 1; }
static int32_t first_of(uint32_t part) { return part >> 8 & 0xff; }
static int32_t last_of(uint32_t part) { return part & 0xff; }
static int32_t number_of(uint32_t part) { return part & 0xffff; }

// What is less than `room` below a corner, all others at least h below it, is a mixture of it and of at
// most room/h of them.
static int sharp_alone(const CniPlaced *shape, uint32_t part, CnVec3 d, double room,
                       double within) {
  CniPart p;
  const CniPartsOf *kind = &cni_parts_of[shape->kind];
  double across = 2 * cni_shape_outradius(shape);
  return kind->part(shape, part, &p) && kind->top(shape, part, d, room * across / within, &p);
}

// What has one place for every direction has no other.
static int round_alone(const CniPlaced *shape, uint32_t part, CnVec3 d, double room,
                       double within) {
  (void)shape, (void)part, (void)d, (void)room, (void)within;
  return 1;
}

// As contacts name a part; directions tell of a side which one it is.
uint32_t cni_part_named(const CniPlaced *shape, uint32_t name, CnVec3 direction) {
  const CniPartsOf *kind = &cni_parts_of[shape->kind];
  if (name == CNI_FEATURE_FACE) return kind->side ? kind->side(shape, direction) : 0;
  return kind->named ? kind->named(shape, name, direction) : 0;
}

// ---- balls and capsules ----

static uint32_t ball_named(const CniPlaced *shape, uint32_t name, CnVec3 direction) {
  (void)shape, (void)direction;
  return name == 0 ? cni_part_corner(0) : 0;
}

static int ball_part(const CniPlaced *shape, uint32_t part, CniPart *p) {
  (void)shape;
  *p = (CniPart){.rank = 0};
  return part == cni_part_corner(0);
}

static int ball_top(const CniPlaced *shape, uint32_t part, CnVec3 d, double clear, CniPart *p) {
  (void)shape, (void)part, (void)d, (void)clear, (void)p;
  return 1;
}

static CnVec3 capsule_end(const CniPlaced *shape, int32_t corner) {
  return cn_vec3(0, 0, corner ? shape->size[1] : -shape->size[1]);
}

static int capsule_part(const CniPlaced *shape, uint32_t part, CniPart *p) {
  *p = (CniPart){.rank = rank_of(part)};
  if (part == cni_part_edge(0, 1)) {
    p->from = capsule_end(shape, 0);
    p->to = capsule_end(shape, 1);
    return 1;
  }
  p->from = capsule_end(shape, last_of(part));
  return part == cni_part_corner(0) || part == cni_part_corner(1);
}

static int capsule_top(const CniPlaced *shape, uint32_t part, CnVec3 d, double clear, CniPart *p) {
  (void)shape, (void)part;
  return p->rank == 1 || 2 * cn_dot(d, p->from) > clear;
}

static uint32_t capsule_edge(const CniPlaced *shape, uint32_t part, CnVec3 d, double *across) {
  (void)shape, (void)d;
  *across = 0;
  return part == cni_part_edge(0, 1) ? 2 : 0;
}

static uint32_t capsule_named(const CniPlaced *shape, uint32_t name, CnVec3 direction) {
  (void)shape, (void)direction;
  return name < 2 ? cni_part_corner(name) : name == 2 ? cni_part_edge(0, 1) : 0;
}

// ---- boxes ----

static CnVec3 box_corner(const CniPlaced *shape, int32_t corner) {
  const double *h = shape->size;
  return cn_vec3(corner & 1 ? h[0] : -h[0], corner & 2 ? h[1] : -h[1], corner & 4 ? h[2] : -h[2]);
}

// The axis of an edge, -1 where there is none.
static int32_t box_axis(uint32_t part) {
  int32_t bit = first_of(part) ^ last_of(part);
  if ((first_of(part) | last_of(part)) > 7) return -1;
  return bit == 1 ? 0 : bit == 2 ? 1 : bit == 4 ? 2 : -1;
}

// Side 2 k is the lower one along axis k, side 2 k + 1 the upper one.
static int box_part(const CniPlaced *shape, uint32_t part, CniPart *p) {
  *p = (CniPart){.rank = rank_of(part)};
  if (p->rank == 2) {
    double n[3] = {0, 0, 0};
    if (number_of(part) > 5) return 0;
    n[number_of(part) / 2] = number_of(part) & 1 ? 1 : -1;
    p->to = cn_vec3(n[0], n[1], n[2]);
    p->from = box_corner(shape, number_of(part) & 1 ? 7 : 0);
    return 1;
  }
  if (p->rank == 1) {
    p->from = box_corner(shape, first_of(part));
    p->to = box_corner(shape, last_of(part));
    return box_axis(part) >= 0;
  }
  p->from = box_corner(shape, last_of(part));
  return p->rank == 0 && number_of(part) < 8;
}

static int box_top(const CniPlaced *shape, uint32_t part, CnVec3 d, double clear, CniPart *p) {
  if (p->rank == 2) return cn_dot(d, p->to) > 0.5;
  int32_t along = p->rank == 1 ? box_axis(part) : -1;
  const double c[3] = {p->from.x * d.x, p->from.y * d.y, p->from.z * d.z};
  (void)shape;
  for (int32_t k = 0; k < 3; k++)
    if (k != along && !(2 * c[k] > clear)) return 0;
  return 1;
}

static double box_inset(const CniPlaced *shape, uint32_t part, CnVec3 p) {
  const double c[3] = {p.x, p.y, p.z};
  int32_t k = number_of(part) / 2, u = k == 2 ? 0 : k + 1, v = k == 0 ? 2 : k - 1;
  return cn_min(shape->size[u] - fabs(c[u]), shape->size[v] - fabs(c[v]));
}

static uint32_t box_side(const CniPlaced *shape, CnVec3 direction) {
  const double d[3] = {direction.x, direction.y, direction.z};
  uint32_t k = 0;
  (void)shape;
  for (uint32_t i = 1; i < 3; i++)
    if (fabs(d[i]) > fabs(d[k])) k = i;
  return cni_part_side(2 * k + (d[k] > 0));
}

static uint32_t box_edge(const CniPlaced *shape, uint32_t part, CnVec3 d, double *across) {
  int32_t axis = box_axis(part);
  (void)shape;
  if (axis < 0) return 0;
  *across = cn_max(fabs(d.x), cn_max(fabs(d.y), fabs(d.z)));
  return 8 + cni_box_edge(axis, (uint32_t)first_of(part));
}

static uint32_t box_named(const CniPlaced *shape, uint32_t name, CnVec3 direction) {
  (void)shape, (void)direction;
  if (name < 8) return cni_part_corner(name);
  if (name >= 8 + 12) return 0;
  uint32_t axis = (name - 8) / 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
  uint32_t from = (name & 1) << u | (name >> 1 & 1) << v;
  return cni_part_edge(from, from | 1u << axis);
}

// ---- hulls ----

#define FLAT 1e-14 // of the size

// Faces may be uneven by 1e-7 of the size (hull.h): those are no sides here.
static int hull_side_part(const CniHull *h, const CniHullFace *side, CniPart *p) {
  p->from = h->vertices[h->corners[side->first].vertex];
  p->to = side->normal;
  double low = INFINITY;
  for (int32_t k = 0; k < side->count; k++)
    low = cn_min(low, cn_dot(p->to, h->vertices[h->corners[side->first + k].vertex]));
  return side->height - low < FLAT * h->outradius;
}

static int hull_part(const CniPlaced *shape, uint32_t part, CniPart *p) {
  const CniHull *h = shape->hull;
  *p = (CniPart){.rank = rank_of(part)};
  if (p->rank == 2)
    return number_of(part) < h->face_count && hull_side_part(h, &h->faces[number_of(part)], p);
  if (p->rank < 0 || first_of(part) >= h->vertex_count || last_of(part) >= h->vertex_count)
    return 0;
  p->from = h->vertices[p->rank == 1 ? first_of(part) : last_of(part)];
  p->to = h->vertices[last_of(part)];
  return 1;
}

// Of the vertices less than `clear` below the part there are as many as it has.
static int hull_top(const CniPlaced *shape, uint32_t part, CnVec3 d, double clear, CniPart *p) {
  const CniHull *h = shape->hull;
  double level = cn_dot(d, p->from);
  if (p->rank == 1) level = cn_min(level, cn_dot(d, p->to));
  int32_t own = p->rank == 2 ? h->faces[number_of(part)].count : p->rank + 1;
  return h->above(&h->vertex_columns, h->vertex_count, d, level - clear) == own;
}

static double hull_inset(const CniPlaced *shape, uint32_t part, CnVec3 p) {
  const CniHull *h = shape->hull;
  const CniHullFace *side = &h->faces[number_of(part)];
  const CniHullCorner *c = &h->corners[side->first];
  CnVec3 from = h->vertices[c[side->count - 1].vertex];
  double least2 = INFINITY;
  for (int32_t k = 0; k < side->count; k++) {
    CnVec3 to = h->vertices[c[k].vertex], e = cn_sub(to, from);
    double in = cn_dot(cn_cross(side->normal, e), cn_sub(p, from));
    if (!(in > 0)) return -1;
    least2 = cn_min(least2, in * in / cn_norm2(e));
    from = to;
  }
  return sqrt(least2);
}

static uint32_t hull_side(const CniPlaced *shape, CnVec3 d) {
  const CniHull *h = shape->hull;
  int32_t best = h->farthest(h->normal_columns.values, h->normal_columns.stride, d);
  return cni_part_side((uint32_t)best);
}

// Found at the faces about its first vertex, before or after it.
static uint32_t hull_edge(const CniPlaced *shape, uint32_t part, CnVec3 d, double *across) {
  const CniHull *h = shape->hull;
  int32_t from = first_of(part), to = last_of(part);
  for (int32_t i = h->first_about[from]; i < h->first_about[from + 1]; i++) {
    const CniHullFace *side = &h->faces[h->about[i]];
    const CniHullCorner *c = &h->corners[side->first];
    int32_t k = 0;
    while (c[k].vertex != from) k++;
    int32_t before = k > 0 ? k - 1 : side->count - 1, after = k + 1 < side->count ? k + 1 : 0;
    if (c[before].vertex == to)
      k = before;
    else if (c[after].vertex != to)
      continue;
    *across = cn_max(cn_dot(d, side->normal), cn_dot(d, h->faces[c[k].neighbour].normal));
    return (uint32_t)c[k].edge;
  }
  return 0;
}

// An edge at the corner that is farthest.
static uint32_t hull_named(const CniPlaced *shape, uint32_t name, CnVec3 direction) {
  const CniHull *h = shape->hull;
  if (name < (uint32_t)h->vertex_count) return cni_part_corner(name);
  int32_t at = h->farthest(h->vertex_columns.values, h->vertex_columns.stride, direction);
  for (int32_t i = h->first_about[at]; i < h->first_about[at + 1]; i++) {
    const CniHullFace *side = &h->faces[h->about[i]];
    const CniHullCorner *c = &h->corners[side->first];
    for (int32_t k = 0; k < side->count; k++) {
      if ((uint32_t)c[k].edge != name) continue;
      int32_t from = c[k].vertex, to = c[k + 1 < side->count ? k + 1 : 0].vertex;
      return cni_part_edge((uint32_t)(from < to ? from : to), (uint32_t)(from < to ? to : from));
    }
  }
  return 0;
}

// ---- cylinders and cones ----

#define LOWER 32 // corner of the lower rim; that of the upper one is 0
#define WALL 128u

static CniFrustum frustum(const CniPlaced *shape) {
  int cone = shape->kind == CN_SHAPE_CONE;
  return (CniFrustum){shape->size[0], shape->size[cone], shape->size[1 + cone]};
}

static int frustum_part(const CniPlaced *shape, uint32_t part, CniPart *p) {
  CniFrustum f = frustum(shape);
  *p = (CniPart){.rank = rank_of(part), .bends = 1};
  if (p->rank == 2) {
    int up = number_of(part) == 1;
    p->to = cn_vec3(0, 0, up ? 1 : -1);
    p->from = cn_vec3(0, 0, up ? f.half : -f.half);
    return number_of(part) < 2 && (up ? f.high : f.low) > 0;
  }
  // the wall of a cylinder has one direction, that of a cone as many as it has sides
  p->from = cn_vec3(0, 0, f.half);
  p->to = cn_vec3(0, 0, -f.half);
  if (p->rank == 1) return part == cni_part_edge(0, LOWER) && f.high == f.low;
  return part == cni_part_corner(0) || part == cni_part_corner(LOWER);
}

static int frustum_top(const CniPlaced *shape, uint32_t part, CnVec3 d, double clear, CniPart *p) {
  CniFrustum f = frustum(shape);
  if (p->rank == 2) return cn_dot(d, p->to) > 0.5;
  double across = sqrt(d.x * d.x + d.y * d.y);
  double rise = (f.high - f.low) * across + 2 * f.half * d.z;
  int up = part == cni_part_corner(0);
  double r = up || p->rank == 1 ? f.high : f.low;
  if (!(across > 0 && (r == 0 || 2 * r * across > clear))) return 0;
  double x = r * (d.x / across), y = r * (d.y / across);
  if (p->rank == 1) {
    p->from = cn_vec3(x, y, f.half);
    p->to = cn_vec3(x, y, -f.half);
    return fabs(rise) < clear;
  }
  p->from = cn_vec3(x, y, up ? f.half : -f.half);
  return (up ? rise : -rise) > clear;
}

static double frustum_inset(const CniPlaced *shape, uint32_t part, CnVec3 p) {
  CniFrustum f = frustum(shape);
  return (number_of(part) == 1 ? f.high : f.low) - sqrt(p.x * p.x + p.y * p.y);
}

static uint32_t frustum_side(const CniPlaced *shape, CnVec3 d) {
  (void)shape;
  return cni_part_side(d.z > 0);
}

static uint32_t frustum_edge(const CniPlaced *shape, uint32_t part, CnVec3 d, double *across) {
  (void)shape;
  *across = fabs(d.z);
  return part == cni_part_edge(0, LOWER) ? WALL : 0;
}

// Of the own end the piece that is cut off by a chord, of the other one as of a corner.
static int frustum_alone(const CniPlaced *shape, uint32_t part, CnVec3 d, double room,
                         double within) {
  CniFrustum f = frustum(shape);
  double across = sqrt(d.x * d.x + d.y * d.y), size = 2 * cni_frustum_outradius(f);
  double rise = (f.high - f.low) * across + 2 * f.half * d.z;
  double r = part == cni_part_corner(0) ? f.high : f.low;
  double share = room / fabs(rise), depth = 2 * room / across;
  return share < 0.5 && size * share + depth + sqrt(2 * r * depth) < within;
}

static uint32_t frustum_named(const CniPlaced *shape, uint32_t name, CnVec3 direction) {
  (void)shape, (void)direction;
  if (name == WALL) return cni_part_edge(0, LOWER);
  return name < 2 * LOWER ? cni_part_corner(name & LOWER) : 0;
}

// ---- ellipsoids ----

static int ellipsoid_part(const CniPlaced *shape, uint32_t part, CniPart *p) {
  (void)shape;
  *p = (CniPart){.bends = 1};
  return part == cni_part_corner(0);
}

static int ellipsoid_top(const CniPlaced *shape, uint32_t part, CnVec3 d, double clear,
                         CniPart *p) {
  uint32_t corner;
  (void)part, (void)clear;
  p->from = cni_shape_ellipsoid.support(shape, d, &corner);
  return 1;
}

const CniPartsOf cni_parts_of[CN_SHAPE_KIND_COUNT] = {
    [CN_SHAPE_SPHERE] = {ball_part, ball_top, round_alone, NULL, NULL, NULL, ball_named},
    [CN_SHAPE_CAPSULE] = {capsule_part, capsule_top, sharp_alone, NULL, NULL, capsule_edge,
                          capsule_named},
    [CN_SHAPE_BOX] = {box_part, box_top, sharp_alone, box_inset, box_side, box_edge, box_named},
    [CN_SHAPE_HULL] = {hull_part, hull_top, sharp_alone, hull_inset, hull_side, hull_edge,
                       hull_named},
    [CN_SHAPE_CYLINDER] = {frustum_part, frustum_top, frustum_alone, frustum_inset, frustum_side,
                           frustum_edge, frustum_named},
    [CN_SHAPE_CONE] = {frustum_part, frustum_top, frustum_alone, frustum_inset, frustum_side,
                       frustum_edge, frustum_named},
    [CN_SHAPE_ELLIPSOID] = {ellipsoid_part, ellipsoid_top, round_alone, NULL, NULL, NULL,
                            ball_named},
};
