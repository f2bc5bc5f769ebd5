// SPDX-License-Identifier: Apache-2.0
// Two convex shapes near each other: the whole area of contact, as far as it is flat.
//
// The normal n and the nearest places are known. Each core turns a side towards the other: a
// polygon, an edge or a corner.
//
//   a polygon across n    the other side, cut to the polygon seen along it (Sutherland and Hodgman),
//                         is the area of contact: corners of either side and crossings of their edges
//   edges along each other   the two ends of the stretch they share
//   anything else            the one nearest place
//
// A point's gap is the way along n from one core to the other less the radii. Points farther apart
// than the margin are left out, so that a side which leans away counts where it may come down within
// the step. If the area does not contain the nearest place (its least gap is larger), that alone is
// the contact.
//
// Names. Corners and edges have lasting numbers (CniFace), and a point is named by the two that
// meet: corner on face, edge across edge, face on corner. Which polygon served to find it does not
// matter.
#include <string.h>

#include "geometry/pairs/convex_private.h"

#define ACROSS 0.9997    // cosine of 1.4 degrees: n is the normal of a polygon
#define PARALLEL 0.99999 // cosine of 0.26 degrees: edges that lie along each other
#define ALONG 0.005      // sine: an edge square to the normal
#define LEANING 0.1      // sine of 5.7 degrees: walls that lie along each other lean no more
#define BENDS 1.02       // of the arc of a wall, which may lean
#define BESIDE 0.02      // of what they share: edges that lie along each other are no farther apart
#define BAND 1e-4        // of the smaller inradius: what is outside by less still belongs to a side
#define EQUAL_ABS 1e-6   // gaps that differ by less, of the inradius,
#define EQUAL_REL 1e-6   // and of themselves, count as equal
#define EQUAL_CURVED                                                                               \
  1e-4                  // times both: sides of curved cores hold the nearest place exactly, or not
#define OFF 1e-12       // of the extent: places farther from being over each other are not
#define SOME_EDGE 1022u // an edge whose number is not known
#define ROOM (2 * CNI_FACE_POINTS + 2)

// A corner of the area.
typedef struct Point {
  CnVec3 at;           // on the side that is cut
  uint32_t cut, other; // its names there and on the polygon
  uint32_t edge;       // the edge to the next one
  int32_t side;        // which is on this side of the polygon; -1: an edge of what is cut
  int32_t border;      // it is on the border of the polygon, or just outside
} Point;

// The two sides in a's frame. `cut` is what is cut to the polygon `base`.
typedef struct Sides {
  CniFace a, b;
  const CniFace *base, *cut;
  CnVec3 out;                   // along the normal, from the base to the other
  CnVec3 away[CNI_FACE_POINTS]; // from the sides of the base outwards, square to the normal
} Sides;

// ---- handing out ----

// The point between pa on a's core and the place of b's that is `gap` away along the normal.
static void add(const CniConvex *x, CnVec3 n, CnVec3 pa, double gap, uint32_t name_a,
                uint32_t name_b, double margin, CniManifold *manifold) {
  gap -= x->round_a + x->round_b;
  uint32_t feature = cni_feature(name_a, name_b);
  if (!(gap <= margin)) return;
  // round-off can name one place twice: the deeper one stays
  int32_t at = 0;
  while (at < manifold->count && manifold->points[at].feature != feature) at++;
  if (at == CNI_MAX_POINTS || (at < manifold->count && !(gap < manifold->points[at].gap))) return;
  manifold->points[at] = (CniPoint){cn_madd(pa, x->round_a + 0.5 * gap, n), gap, feature};
  manifold->count += at == manifold->count;
}

// Does an area whose least gap this is hold the nearest place?
static int reaches(const CniConvex *x, const CniNearest *near, double least) {
  double equal = EQUAL_ABS * x->scale + EQUAL_REL * fabs(near->gap);
  return least <= near->gap + (x->curved ? EQUAL_CURVED * equal : equal);
}

// ---- cutting ----

static int32_t next(int32_t i, int32_t count) { return i + 1 < count ? i + 1 : 0; }

// Where the way from p to q crosses side k of the base.
static Point cross(const CniFace *base, int32_t k, const Point *p, const Point *q, double out_p,
                   double out_q) {
  double f = out_p / (out_p - out_q);
  Point c = {cn_madd(p->at, f, cn_sub(q->at, p->at)), p->edge, base->edge[k], p->edge, p->side, 1};
  if (p->side < 0) return c;
  // two sides of the base meet in one of its corners
  c.cut = CNI_FEATURE_FACE;
  c.other = base->corner[p->side == next(k, base->count) ? p->side : k];
  return c;
}

// How far a point is outside side k of the base, seen along the normal.
static double outside(const Sides *s, int32_t k, CnVec3 p) {
  return cn_dot(s->away[k], cn_sub(p, s->base->points[k]));
}

// Cut a polygon, or the open line of two points, by side k; the number of points that are left, -1 if
// all are and `to` was not filled.
static int32_t cut_side(const Sides *s, int32_t k, double band, Point *from, int32_t count,
                        Point *to) {
  double out[ROOM], farthest = -INFINITY;
  int32_t n = 0, ways = count == 2 ? 1 : count;
  for (int32_t i = 0; i < count; i++) {
    out[i] = outside(s, k, from[i].at);
    farthest = cn_max(farthest, out[i]);
    from[i].border |= out[i] > 0;
  }
  if (farthest <= band) return -1;
  for (int32_t i = 0; i < count && n < ROOM - 2; i++) {
    int32_t j = next(i, count);
    int in = out[i] <= band, next_in = out[j] <= band;
    if (in) to[n++] = from[i];
    if (i >= ways || in == next_in) continue;
    // an edge that leaves from inside the band is outside all along
    if (out[in ? i : j] <= 0) to[n++] = cross(s->base, k, &from[i], &from[j], out[i], out[j]);
    if (in && count > 2) to[n - 1].side = k;
  }
  return n;
}

// Move what the band let through back to the border, staying on the plane of what is cut.
static void move_back(const Sides *s, Point *p) {
  double upright = cn_dot(s->out, s->cut->normal);
  for (int32_t k = 0; k < s->base->count; k++) {
    double by = outside(s, k, p->at);
    if (!(by > 0)) continue;
    p->at = cn_madd(p->at, -by, s->away[k]);
    p->at = cn_madd(p->at, by * cn_dot(s->away[k], s->cut->normal) / upright, s->out);
  }
}

// The cut side within the base, as points of the area.
static int32_t cut_area(const CniConvex *x, Sides *s, Point area[2][ROOM], Point **found) {
  int32_t count = s->cut->count, flat = count > 2;
  double band = (x->curved ? 1e-2 * BAND : BAND) * x->scale;
  for (int32_t i = 0; i < count; i++)
    area[0][i] =
        (Point){s->cut->points[i], s->cut->corner[i], CNI_FEATURE_FACE, s->cut->edge[i], -1, 0};
  Point *last = area[0], *spare = area[1];
  for (int32_t k = 0; k < s->base->count && count > 0; k++) {
    CnVec3 e = cn_sub(s->base->points[next(k, s->base->count)], s->base->points[k]);
    CnVec3 away = cn_cross(e, s->out);
    s->away[k] = cn_scale(1 / cn_norm(away), away);
    int32_t left = cut_side(s, k, flat ? band : 0, last, count, spare);
    if (left < 0) continue;
    count = left;
    Point *swap = last;
    last = spare;
    spare = swap;
  }
  for (int32_t i = 0; i < count && flat; i++)
    if (last[i].border) move_back(s, &last[i]);
  *found = last;
  return count;
}

int32_t cni_thin_out(const CnVec3 *at, const double *gap, int32_t *keep, int32_t count) {
  for (; count > CNI_MAX_POINTS; count--) {
    int32_t least = -1, deepest = 0;
    double least2 = INFINITY;
    for (int32_t i = 1; i < count; i++)
      if (gap[keep[i]] < gap[keep[deepest]]) deepest = i;
    for (int32_t i = 0; i < count; i++) {
      CnVec3 p = at[keep[i]], q = at[keep[next(i, count)]];
      CnVec3 o = at[keep[i > 0 ? i - 1 : count - 1]];
      double area2 = cn_norm2(cn_cross(cn_sub(p, o), cn_sub(q, p)));
      // of equal ones the first, whatever round-off says
      if (i != deepest && area2 < least2 * (1 - 1e-9)) least2 = area2, least = i;
    }
    for (int32_t i = least < 0 ? 0 : least; i + 1 < count; i++) keep[i] = keep[i + 1];
  }
  return count;
}

// ---- edges ----

typedef struct Edge {
  CnVec3 from, to;
  uint32_t corner[2], name;
} Edge;

// The edge of a side that reaches farthest along n and is square to it; 0: there is none.
static int edge_along(const CniFace *face, CnVec3 n, double lean, Edge *edge) {
  int32_t best = -1;
  double most = -INFINITY;
  for (int32_t i = 0; i < (face->count == 2 ? 1 : face->count) && face->count > 1; i++) {
    int32_t j = next(i, face->count);
    double reach = cn_min(cn_dot(n, face->points[i]), cn_dot(n, face->points[j]));
    if (reach > most) most = reach, best = i;
  }
  if (best < 0) return 0;
  int32_t j = next(best, face->count);
  *edge = (Edge){
      face->points[best], face->points[j], {face->corner[best], face->corner[j]}, face->edge[best]};
  CnVec3 e = cn_sub(edge->to, edge->from);
  return fabs(cn_dot(n, e)) <= lean * cn_norm(e);
}

// ---- one point ----

// Name of the part of a core that some of its corners span.
static uint32_t name_of(const CniFace *face, const CniSimplex *s, int of_b) {
  uint32_t found[3];
  int32_t count = 0;
  for (int32_t i = 0; i < s->count; i++) {
    uint32_t name = of_b ? s->corner[i].name_b : s->corner[i].name_a;
    int32_t k = 0;
    while (k < count && found[k] != name) k++;
    if (k == count && s->share[i] > 1e-9 && count < 3) found[count++] = name;
  }
  if (count == 1) return found[0];
  if (count != 2) return CNI_FEATURE_FACE;
  for (int32_t i = 0; i < face->count; i++) {
    uint32_t p = face->corner[i], q = face->corner[next(i, face->count)];
    if ((p == found[0] && q == found[1]) || (p == found[1] && q == found[0])) return face->edge[i];
  }
  return SOME_EDGE;
}

// Two edges that cross seen along n: the places that are over each other; 0: they do not cross.
static int cross_edges(const Sides *s, CnVec3 n, CnVec3 *pa, uint32_t *name_a, uint32_t *name_b) {
  Edge a, b;
  if (!edge_along(&s->a, n, ALONG, &a) || !edge_along(&s->b, cn_neg(n), ALONG, &b)) return 0;
  CnVec3 u = cn_sub(a.to, a.from), v = cn_sub(b.to, b.from), w = cn_sub(b.from, a.from);
  double area = cn_dot(n, cn_cross(u, v)), along = cn_dot(n, cn_cross(w, v)) / area;
  double across = cn_dot(n, cn_cross(w, u)) / area;
  if (!(along >= 0 && along <= 1 && across >= 0 && across <= 1)) return 0;
  *pa = cn_madd(a.from, along, u);
  *name_a = a.name;
  *name_b = b.name;
  return 1;
}

// The places of the simplex. Of a face of B - A that is no triangle it may hold a part that the nearest
// place is not in: then the two edges that cross tell.
static void by_point(const CniConvex *x, const CniNearest *near, const Sides *s, double margin,
                     CniManifold *manifold) {
  CnVec3 pa = CN_VEC3_ZERO, pb = CN_VEC3_ZERO;
  for (int32_t i = 0; i < near->simplex.count; i++) {
    pa = cn_madd(pa, near->simplex.share[i], near->simplex.corner[i].a);
    pb = cn_madd(pb, near->simplex.share[i], near->simplex.corner[i].b);
  }
  uint32_t name_a = name_of(&s->a, &near->simplex, 0), name_b = name_of(&s->b, &near->simplex, 1);
  double off = cn_norm(cn_sub(cn_sub(pb, pa), cn_scale(near->gap, near->normal)));
  if (off > OFF * x->extent) cross_edges(s, near->normal, &pa, &name_a, &name_b);
  add(x, near->normal, pa, near->gap, name_a, name_b, margin, manifold);
}

// ---- polygons ----

// Is a polygon across the normal? Then the area over it; 0: there is none, or the nearest place is
// not in it.
static int by_polygon(const CniConvex *x, const CniNearest *near, Sides *s, double margin,
                      CniManifold *manifold) {
  CnVec3 n = near->normal;
  double across_a = s->a.count > 2 ? cn_dot(n, s->a.normal) : -1;
  double across_b = s->b.count > 2 ? -cn_dot(n, s->b.normal) : -1;
  if (!(cn_max(across_a, across_b) > ACROSS)) return 0;
  int of_a = across_a >= across_b;
  s->base = of_a ? &s->a : &s->b;
  s->cut = of_a ? &s->b : &s->a;
  s->out = of_a ? n : cn_neg(n);
  Point room[2][ROOM], *area;
  int32_t count = cut_area(x, s, room, &area), keep[ROOM], kept = 0;

  // way along n down to the base
  double upright = cn_dot(s->out, s->base->normal), gaps[ROOM], least = INFINITY;
  double limit = margin + x->round_a + x->round_b;
  CnVec3 at[ROOM];
  for (int32_t i = 0; i < count; i++) {
    at[i] = area[i].at;
    gaps[i] = cn_dot(cn_sub(at[i], s->base->points[0]), s->base->normal) / upright;
    least = cn_min(least, gaps[i]);
    if (gaps[i] <= limit) keep[kept++] = i;
  }
  int holds = reaches(x, near, least);
  if (!holds && !(x->curved && kept > 0)) return 0;
  // something round just beyond the border: its place, and the area beside it, so that it does not rock
  if (!holds) by_point(x, near, s, margin, manifold);
  kept = cni_thin_out(at, gaps, keep, kept);
  for (int32_t k = 0; k < kept; k++) {
    const Point *p = &area[keep[k]];
    double gap = gaps[keep[k]];
    CnVec3 pa = of_a ? cn_madd(p->at, -gap, n) : p->at;
    add(x, n, pa, gap, of_a ? p->other : p->cut, of_a ? p->cut : p->other, margin, manifold);
  }
  return 1;
}

// The stretch that two edges share: both ends, each where one of the edges ends.
typedef struct Stretch {
  Edge a, b;
  CnVec3 pa[2], pb[2];
  uint32_t name_a[2], name_b[2];
} Stretch;

// 0: they lean, or cross, by more than these, or share none.
static int shared(const CniConvex *x, CnVec3 n, const Sides *s, double lean, double parallel,
                  Stretch *t) {
  Edge *a = &t->a, *b = &t->b;
  if (!edge_along(&s->a, n, lean, a) || !edge_along(&s->b, cn_neg(n), lean, b)) return 0;
  CnVec3 u = cn_sub(a->to, a->from), v = cn_sub(b->to, b->from);
  double length_a = cn_norm(u), length_b = cn_norm(v), band = BAND * x->scale;
  u = cn_scale(1 / length_a, u);
  double slope = cn_dot(u, v); // of the way along a by the share of b
  if (!(fabs(slope) > parallel * length_b)) return 0;
  double start = cn_dot(u, cn_sub(b->from, a->from));
  double low = cn_min(start, start + slope), high = cn_max(start, start + slope);
  if (!(cn_min(high, length_a) - cn_max(low, 0) > band)) return 0;
  for (int32_t k = 0; k < 2; k++) {
    double at = k ? cn_min(high, length_a) : cn_max(low, 0);
    t->pa[k] = cn_madd(a->from, at, u);
    t->pb[k] = cn_madd(b->from, cn_clamp((at - start) / slope, 0, 1), v);
    // the end of either edge that comes first; b's where they are level
    int by_a = k ? length_a < high - band : 0 > low + band;
    t->name_a[k] = by_a ? a->corner[k] : a->name;
    t->name_b[k] = by_a ? b->name : b->corner[(k == 1) == (slope > 0)];
  }
  return 1;
}

static int by_edges(const CniConvex *x, const CniNearest *near, const Sides *s, double margin,
                    CniManifold *manifold) {
  Stretch t;
  CnVec3 n = near->normal;
  double gap[2];
  if (!shared(x, n, s, ALONG, PARALLEL, &t)) return 0;
  double beside = BESIDE * cn_norm(cn_sub(t.pa[1], t.pa[0])) + BAND * x->scale;
  for (int32_t k = 0; k < 2; k++) {
    CnVec3 apart = cn_sub(t.pb[k], t.pa[k]);
    gap[k] = cn_dot(n, apart);
    // the far edge of a face that n leans over by round-off is as high as the near one
    if (cn_norm(cn_madd(apart, -gap[k], n)) > beside) return 0;
  }
  if (!reaches(x, near, cn_min(gap[0], gap[1]))) return 0;
  for (int32_t k = 0; k < 2; k++)
    add(x, n, t.pa[k], gap[k], t.name_a[k], t.name_b[k], margin, manifold);
  return 1;
}

// Walls of capsules and cylinders that overlap and nearly lie along each other: with the deepest place alone they would
// rock about it, and one end go in while the other comes out. The ends that overlap hold too. A gap
// is that from a's line to b's wall, which bends away from its own line.
static void add_ends(const CniConvex *x, const CniNearest *near, const Sides *s, double margin,
                     CniManifold *manifold) {
  Stretch t;
  CnVec3 n = near->normal;
  if (s->a.count != 2 || s->b.count != 2) return;
  if (x->a->kind == CN_SHAPE_CONE || x->b->kind == CN_SHAPE_CONE) return; // no one radius
  if (!shared(x, n, s, LEANING, 1 - LEANING * LEANING, &t)) return;
  CnVec3 u = cn_sub(t.pa[1], t.pa[0]), v = cn_sub(t.pb[1], t.pb[0]);
  for (int32_t k = 0; k < 2; k++) {
    // so far in that the place on b, aside of its line, is not beyond its end
    CnVec3 w = cn_sub(t.pb[k], t.pa[k]);
    double gap = cn_dot(n, w), aside2 = cn_max(cn_norm2(w) - gap * gap, 0);
    double in = cn_min(2 * LEANING * sqrt(aside2) / cn_norm(u), 0.5) * (k ? -1 : 1);
    CnVec3 pa = cn_madd(t.pa[k], in, u), pb = cn_madd(t.pb[k], in, v);
    w = cn_sub(pb, pa);
    gap = cn_dot(n, w);
    aside2 = cn_max(cn_norm2(w) - gap * gap, 0);
    pb = cn_mtmul(x->turn, cn_sub(pb, x->way));
    double radius = sqrt(pb.x * pb.x + pb.y * pb.y) + x->round_b;
    if (aside2 > 0.25 * radius * radius) continue;
    gap += BENDS * (radius - sqrt(radius * radius - aside2));
    add(x, n, pa, gap, t.name_a[k], t.name_b[k], margin, manifold);
  }
}

// The two sides that face each other, in a's frame.
static void find_sides(const CniConvex *x, CnVec3 n, Sides *s) {
  x->kind_a->face(x->a, n, &s->a);
  x->kind_b->face(x->b, cn_neg(cn_mtmul(x->turn, n)), &s->b);
  for (int32_t i = 0; i < s->b.count; i++)
    s->b.points[i] = cn_add(x->way, cn_mmul(x->turn, s->b.points[i]));
  if (s->b.count > 2) s->b.normal = cn_mmul(x->turn, s->b.normal);
}

// Where something curved lies on something flat, the walk comes near the normal of the flat side but
// not to its last digits. If the shapes are as far apart along that, it is the better one.
static void take_normal(const CniConvex *x, Sides *s, CniNearest *near) {
  const CnVec3 flat[2] = {s->a.normal, cn_neg(s->b.normal)};
  const int32_t count[2] = {s->a.count, s->b.count};
  for (int32_t k = 0; k < 2; k++) {
    if (count[k] < 3 || !(cn_dot(near->normal, flat[k]) > PARALLEL)) continue;
    double gap = cni_convex_apart(x, flat[k]);
    if (!(gap >= near->gap - 1e-14 * x->extent)) continue;
    int other = memcmp(&near->normal, &flat[k], sizeof flat[k]) != 0;
    near->normal = flat[k];
    near->gap = gap;
    if (other) find_sides(x, flat[k], s);
    return;
  }
}

// Parts that are known to touch in one place, with nothing else within the margin.
static int is_single(const CniConvex *x, const CniNearest *near) {
  int corner_of_a = cni_part_rank(near->parts[0]) == 0;
  if (near->crossing) return 1;
  if (near->parts[0] == 0 || cni_part_rank(near->parts[corner_of_a]) != 2) return 0;
  const CniPlaced *shape = corner_of_a ? x->a : x->b;
  CnVec3 d = corner_of_a ? near->normal : cn_neg(cn_mtmul(x->turn, near->normal));
  double room = x->margin - near->gap;
  return cni_parts_of[shape->kind].alone(shape, near->parts[!corner_of_a], d, room, near->inset);
}

void cni_convex_manifold(const CniConvex *x, const CniNearest *found, double margin,
                         CniManifold *manifold) {
  if (is_single(x, found)) {
    const CniCorner *c = &found->simplex.corner[0];
    manifold->normal = found->normal;
    add(x, found->normal, c->a, found->gap, c->name_a, c->name_b, margin, manifold);
    return;
  }
  Sides s;
  CniNearest near = *found;
  find_sides(x, near.normal, &s);
  if (x->curved && near.parts[0] == 0) take_normal(x, &s, &near);
  manifold->normal = near.normal;
  if (by_polygon(x, &near, &s, margin, manifold)) return;
  if (by_edges(x, &near, &s, margin, manifold)) return;
  by_point(x, &near, &s, margin, manifold);
  add_ends(x, &near, &s, margin, manifold);
}
