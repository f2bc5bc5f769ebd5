// SPDX-License-Identifier: Apache-2.0
// Two convex cores that touch with parts that are known: corner on side, edge across edge, or, apart,
// corner to edge and corner to corner.
//
// Parts that touched a step ago mostly still do. The two say all: the normal is that of the side, or
// square to both edges, or along the shortest way, and gap and places follow. Whether they are the
// ones is then proved, by a margin far above round-off, so that a search from nothing ends with the
// same two parts and with the same numbers: where a call began cannot be seen in its answer.
//
//   apart      along the normal each part, and nothing else of its core, reaches farthest, and the
//              nearest places are inside both: the distance of convex sets has one minimum
//   overlap    and where they touch, to round-off: besides, no other way out is shorter. The parts make a face of B - A, at the depth d
//              outside the origin, whose border is e or more from the place under the origin. With an
//              inner point c of B - A, H below the face and l aside, all of the pyramid from the face
//              to c is in B - A, and from the origin to its other sides it is at least
//
//                  (e (H - d) - d l) / sqrt((e + l)^2 + H^2)
//
//              far. Where that is more than d the face is the nearest one: shallow overlaps always.
//
// Rims and walls have their places by Newton's method, and a proof of their own (convex_rims.c).
//
// What fails is searched for (convex.c), and its parts are read from the answer.
#include "geometry/pairs/convex_private.h"

#define CLEAR 1e-9 // of the extent: what else comes nearer than that is as good
#define INSIDE 1e-6
#define SINE2 1e-8        // edges more parallel have no normal of their own
#define CROSSING2 2.01e-2 // and those less parallel meet in one point
#define APART 1e-6        // of the extent: a shorter way has no direction
#define SHARE 1e-6        // corners with less are not part of it
#define NOT_ACROSS 0.9996 // cosine of 1.6 degrees: no side is across the normal
#define SQUARE (1 - 1e-8) // cosine: a normal as near to a side's as a search comes
#define CORNERS 256u

// ---- the normal ----

static CnVec3 of_b(const CniConvex *x, CnVec3 p) { return cni_convex_of_b(x, p); }

// From an inner point of a to one of b.
static CnVec3 inner_way(const CniConvex *x) {
  CnVec3 way = x->b->hull ? of_b(x, x->b->hull->centre) : x->way;
  return x->a->hull ? cn_sub(way, x->a->hull->centre) : way;
}

static int square_to_edges(const CniConvex *x, const CniPart *a, const CniPart *b, CnVec3 *n,
                           double *sine2) {
  CnVec3 u = cn_sub(a->to, a->from), v = cn_mmul(x->turn, cn_sub(b->to, b->from));
  *n = cn_cross(u, v);
  double n2 = cn_norm2(*n);
  *sine2 = n2 / (cn_norm2(u) * cn_norm2(v));
  if (!(*sine2 > SINE2)) return 0;
  double sign = cn_dot(*n, inner_way(x)) < 0 ? -1 : 1;
  *n = cn_scale(sign / sqrt(n2), *n);
  return 1;
}

// The foot of a point on an edge, where it is inside.
static int foot_on(CnVec3 from, CnVec3 to, CnVec3 p, CnVec3 *foot) {
  CnVec3 e = cn_sub(to, from);
  double share = cn_dot(e, cn_sub(p, from)) / cn_norm2(e);
  *foot = cn_madd(from, share, e);
  return share > INSIDE && share < 1 - INSIDE;
}

// Corner to corner, and corner to edge; only what is apart.
static int shortest_way(const CniConvex *x, const CniPart *a, const CniPart *b, CniCorner *c) {
  c->a = a->from;
  c->b = of_b(x, b->from);
  if (a->rank == 1 && !foot_on(a->from, a->to, c->b, &c->a)) return 0;
  if (b->rank == 1 && !foot_on(c->b, of_b(x, b->to), c->a, &c->b)) return 0;
  c->w = cn_sub(c->b, c->a);
  return cn_norm2(c->w) > APART * APART * x->extent * x->extent;
}

static int find_normal(const CniConvex *x, const CniPart *a, const CniPart *b, CniCorner *c,
                       CnVec3 *n, double *sine2) {
  if (a->rank == 2) {
    *n = a->to;
  } else if (b->rank == 2) {
    *n = cn_neg(cn_mmul(x->turn, b->to));
  } else if (a->rank + b->rank == 2) {
    return square_to_edges(x, a, b, n, sine2);
  } else {
    if (!shortest_way(x, a, b, c)) return 0;
    *n = cn_scale(1 / cn_norm(c->w), c->w);
  }
  return 1;
}

// ---- places ----

// Two edges seen along n cross in c; how far from the ends of both.
static double crossing(const CniConvex *x, const CniPart *a, const CniPart *b, CnVec3 n,
                       CniCorner *c) {
  CnVec3 from = of_b(x, b->from), u = cn_sub(a->to, a->from), v = cn_sub(of_b(x, b->to), from);
  CnVec3 w = cn_sub(from, a->from);
  double area = cn_dot(n, cn_cross(u, v)), along = cn_dot(n, cn_cross(w, v)) / area;
  double across = cn_dot(n, cn_cross(w, u)) / area;
  c->a = cn_madd(a->from, along, u);
  c->b = cn_madd(from, across, v);
  double in_a = cn_min(along, 1 - along), in_b = cn_min(across, 1 - across);
  if (!(in_a > 0 && in_b > 0)) return -1;
  // the parallelogram of both has the sides u and v
  return fabs(area) * cn_min(in_a / cn_norm(v), in_b / cn_norm(u));
}

// The nearest places; how far inside the border of the face that the parts make.
static double find_places(const CniConvex *x, const uint32_t parts[2], const CniPart *a,
                          const CniPart *b, CnVec3 n, CniCorner *c) {
  if (a->rank + b->rank < 2) return INFINITY;
  if (a->rank == 1) return crossing(x, a, b, n, c);
  if (a->rank == 2) {
    c->b = of_b(x, b->from);
    c->a = cn_madd(c->b, -cn_dot(n, cn_sub(c->b, a->from)), n);
    return cni_parts_of[x->a->kind].inset(x->a, parts[0], c->b);
  }
  c->a = a->from;
  c->b = cn_madd(c->a, cn_dot(n, cn_sub(of_b(x, b->from), c->a)), n);
  return cni_parts_of[x->b->kind].inset(x->b, parts[1], cni_convex_to_b(x, c->a));
}

// Is every other way out longer than the depth?
static int is_shortest(const CniConvex *x, CnVec3 n, double depth, double inset) {
  CnVec3 c = inner_way(x);
  double along = cn_dot(n, c), aside = cn_norm(cn_madd(c, -along, n)), height = along + depth;
  if (!(height > 2 * depth)) return 0;
  double pyramid = sqrt((inset + aside) * (inset + aside) + height * height);
  return inset * (height - depth) - depth * aside > (depth + CLEAR * x->extent) * pyramid;
}

static int edge_or_corner_name(const CniPartsOf *kind, const CniPlaced *shape, uint32_t part,
                               CnVec3 d, uint32_t *name, double *across) {
  *across = -1;
  *name = cni_part_rank(part) == 2 ? CNI_FEATURE_FACE : part & 0xff;
  if (cni_part_rank(part) != 1) return 1;
  *name = kind->edge(shape, part, d, across);
  return *name > 0;
}

int cni_convex_meet(const CniConvex *x, const uint32_t parts[2], CniNearest *near) {
  const CniPartsOf *kind_a = &cni_parts_of[x->a->kind], *kind_b = &cni_parts_of[x->b->kind];
  CniPart a, b;
  CniCorner c;
  CnVec3 n;
  double across_a, across_b, sine2 = 0, clear = CLEAR * x->extent;
  if (!kind_a->part || !kind_b->part || parts[0] == 0 || parts[1] == 0) return 0;
  if (!kind_a->part(x->a, parts[0], &a) || !kind_b->part(x->b, parts[1], &b)) return 0;
  CniBent bent = {.room = 0};
  if (a.rank + b.rank > 2) return 0;
  int bends = (a.bends || b.bends) && a.rank + b.rank < 2;
  if (!(bends ? cni_convex_bent(x, parts, &a, &b, &bent) : find_normal(x, &a, &b, &c, &n, &sine2)))
    return 0;
  if (bends) n = bent.normal, c.a = bent.a, c.b = bent.b;
  CnVec3 back = cn_neg(cn_mtmul(x->turn, n));
  if (!kind_a->top(x->a, parts[0], n, clear, &a)) return 0;
  if (!kind_b->top(x->b, parts[1], back, clear, &b)) return 0;
  double inset = bends ? INFINITY : find_places(x, parts, &a, &b, n, &c);
  c.w = cn_sub(c.b, c.a);
  double gap = cn_dot(n, c.w), depth = cn_max(-gap, 0);
  if (!(inset > INSIDE * x->scale)) return 0;
  if (gap < clear && !(bends ? depth + clear < bent.room : is_shortest(x, n, depth, inset)))
    return 0;
  if (!edge_or_corner_name(kind_a, x->a, parts[0], n, &c.name_a, &across_a) ||
      !edge_or_corner_name(kind_b, x->b, parts[1], back, &c.name_b, &across_b))
    return 0;
  *near = (CniNearest){n, gap, {1, {c}, {1}}, {parts[0], parts[1]}, inset, 0};
  near->crossing =
      (bends ? bent.single : sine2 > CROSSING2) && cn_max(across_a, across_b) < NOT_ACROSS;
  return 1;
}

// ---- parts of an answer ----

// The part that the corners of a simplex span on one of the cores.
static uint32_t part_of(const CniConvex *x, const CniNearest *near, int of_second) {
  const CniPlaced *shape = of_second ? x->b : x->a;
  const CniPartsOf *kind = &cni_parts_of[shape->kind];
  CnVec3 d = of_second ? cn_neg(cn_mtmul(x->turn, near->normal)) : near->normal;
  uint32_t found[3];
  int32_t count = 0;
  for (int32_t i = 0; i < near->simplex.count; i++) {
    const CniCorner *c = &near->simplex.corner[i];
    uint32_t name = of_second ? c->name_b : c->name_a;
    int32_t k = 0;
    while (k < count && found[k] != name) k++;
    if (k == count && near->simplex.share[i] > SHARE && count < 3) found[count++] = name;
  }
  if (count == 0) return 0;
  if (count == 1 && found[0] < CORNERS) return cni_part_corner(found[0]);
  if (count == 2 && kind->edge && found[0] < CORNERS && found[1] < CORNERS) {
    double across;
    uint32_t low = found[0] < found[1] ? found[0] : found[1], high = found[0] ^ found[1] ^ low;
    if (kind->edge(shape, cni_part_edge(low, high), d, &across)) return cni_part_edge(low, high);
  }
  return kind->side ? kind->side(shape, d) : 0;
}

// The side of a core that is square to the normal, 0 without one: the corners of a search on a round
// end have one name, that of its rim.
static uint32_t side_of(const CniConvex *x, const CniNearest *near, int of_second) {
  const CniPlaced *shape = of_second ? x->b : x->a;
  const CniPartsOf *kind = &cni_parts_of[shape->kind];
  CnVec3 d = of_second ? cn_neg(cn_mtmul(x->turn, near->normal)) : near->normal;
  CniPart p;
  uint32_t side = kind->side ? kind->side(shape, d) : 0;
  return side && kind->part(shape, side, &p) && cn_dot(d, p.to) > SQUARE ? side : 0;
}

int cni_convex_parts(const CniConvex *x, CniNearest *near) {
  if (!cni_parts_of[x->a->kind].part || !cni_parts_of[x->b->kind].part) return 0;
  uint32_t parts[2] = {part_of(x, near, 0), part_of(x, near, 1)};
  if (cni_convex_meet(x, parts, near)) return 1;
  // a side that is square to the normal, and the corner of the other that is nearest along it
  for (int32_t k = 0; k < 2; k++) {
    uint32_t side = side_of(x, near, k), tried[2];
    if (side == 0) continue;
    CniCorner c = cni_convex_corner(x, near->normal);
    tried[k] = side;
    tried[!k] = cni_part_corner((k ? c.name_a : c.name_b) & 0xff);
    if (cni_convex_meet(x, tried, near)) return 1;
  }
  return 0;
}
