// SPDX-License-Identifier: Apache-2.0
// Two convex cores that overlap or touch: the shortest way that takes them apart.
//
// The origin is inside B - A, or on its surface. The face of B - A nearest to the origin says how
// deep: its outward normal m and distance h mean that B moved by -h m touches A no more than in a
// point, and that no shorter way does. The set is grown from inside (expanding polytope, van den
// Bergen 2001): a tetrahedron of corners about the origin; of its faces the nearest is asked for the
// farthest corner along its normal; if that is beyond the face, the faces that it sees are replaced
// by a fan from it. Every face is a lower bound of the depth, every direction asked an upper one:
//
//     h(face) <= depth <= max_w m.w
//
// The best direction asked is the answer, so that it is a true way out even where round-off or the
// bounds of the arrays end the search early. Its normal is then computed anew from the places that
// meet (a face of one core, or two edges), free of the round-off of differences.
//
// Cores without volume give a flat B - A: two crossing segments a parallelogram, two points a point.
// There the depth is zero along the direction that is missing, and where two or more are, along the
// way from a to b, or any.
#include "geometry/pairs/convex_private.h"

#define CORNERS 96
#define FACETS 192
#define EDGES 192
#define FLAT 1e-12      // of the extent: thinner is flat
#define ROUND_OFF 1e-14 // of the extent
#define CURVED 1e-7     // of the extent: how near a curved surface is followed by facets
#define ROUGH 1e-2      // of the smaller inradius: likewise, where Newton's method is to follow

typedef struct Facet {
  int32_t at[3]; // corners, counter-clockwise seen from outside
  CnVec3 normal; // outward, unit
  double height; // of its plane; INFINITY: too thin to have a normal
} Facet;

typedef struct Hull {
  const CniConvex *x;
  CniCorner corners[CORNERS];
  Facet facets[FACETS];
  int32_t corner_count, facet_count;
} Hull;

// The farthest corner along m.
static CniCorner farthest(const CniConvex *x, CnVec3 m) { return cni_convex_corner(x, cn_neg(m)); }

// ---- a first tetrahedron ----

// Six directions square to e, or the axes and their opposites without one.
static void directions(CnVec3 e, CnVec3 d[6]) {
  double length = cn_norm(e);
  CnVec3 t1 = {1, 0, 0}, t2 = {0, 1, 0}, t3 = {0, 0, 1};
  if (length > 0) {
    cni_tangents(cn_scale(1 / length, e), &t1, &t2);
    t3 = cn_add(t1, t2);
  }
  const CnVec3 found[6] = {t1, t2, t3, cn_neg(t1), cn_neg(t2), cn_neg(t3)};
  for (int32_t i = 0; i < 6; i++) d[i] = found[i];
}

// How far w is from the point, line or plane of the simplex; *n is the plane's unit normal.
static double off(const CniSimplex *s, CnVec3 w, CnVec3 *n) {
  CnVec3 p = s->corner[0].w, d = cn_sub(w, p);
  if (s->count == 1) return cn_norm(d);
  CnVec3 e = cn_sub(s->corner[1].w, p);
  if (s->count == 2) return cn_norm(cn_cross(e, d)) / cn_norm(e);
  CnVec3 c = cn_cross(e, cn_sub(s->corner[2].w, p));
  *n = cn_unit_or(c, cn_vec3(0, 0, 1));
  return fabs(cn_dot(*n, d));
}

// One corner more, off the simplex; 0: there is none.
static int grow(const CniConvex *x, CniSimplex *s, CnVec3 *n) {
  CnVec3 d[6], e = CN_VEC3_ZERO;
  int32_t count = 6;
  if (s->count == 2) e = cn_sub(s->corner[1].w, s->corner[0].w);
  directions(e, d);
  if (s->count == 3) {
    off(s, s->corner[0].w, n);
    d[0] = *n;
    d[1] = cn_neg(*n);
    count = 2;
  }
  double most = FLAT * x->extent;
  int found = 0;
  for (int32_t i = 0; i < count; i++) {
    CniCorner c = farthest(x, d[i]);
    double distance = off(s, c.w, n);
    if (!(distance > most)) continue;
    most = distance;
    s->corner[s->count] = c;
    found = 1;
  }
  s->count += found;
  return found;
}

// ---- facets ----

static void set_facet(Hull *h, Facet *f, int32_t i, int32_t j, int32_t k) {
  CnVec3 p = h->corners[i].w, e1 = cn_sub(h->corners[j].w, p), e2 = cn_sub(h->corners[k].w, p);
  CnVec3 c = cn_cross(e1, e2);
  double length = cn_norm(c);
  *f = (Facet){{i, j, k}, {0, 0, 0}, INFINITY};
  if (!(length > 1e-14 * cn_norm(e1) * cn_norm(e2))) return;
  f->normal = cn_scale(1 / length, c);
  f->height = cn_dot(f->normal, p);
}

static void begin(Hull *h, const CniSimplex *s) {
  static const int32_t faces[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
  for (int32_t i = 0; i < 4; i++) h->corners[i] = s->corner[i];
  h->corner_count = h->facet_count = 4;
  for (int32_t i = 0; i < 4; i++) {
    const int32_t *f = faces[i];
    set_facet(h, &h->facets[i], f[0], f[1], f[2]);
    CnVec3 inside = cn_sub(h->corners[f[3]].w, h->corners[f[0]].w);
    if (cn_dot(h->facets[i].normal, inside) > 0) set_facet(h, &h->facets[i], f[0], f[2], f[1]);
  }
}

// Replace the facets that the newest corner sees; 0: no room, or it sees none.
static int expand(Hull *h, double least) {
  int32_t newest = h->corner_count - 1, edges[EDGES][2], edge_count = 0, kept = 0;
  for (int32_t i = 0; i < h->facet_count; i++) {
    Facet *f = &h->facets[i];
    CnVec3 w = h->corners[newest].w;
    if (!(cn_dot(f->normal, cn_sub(w, h->corners[f->at[0]].w)) > least)) {
      h->facets[kept++] = *f;
      continue;
    }
    // an edge between two facets that go is met twice, once in each direction
    for (int32_t k = 0; k < 3; k++) {
      int32_t from = f->at[k], to = f->at[(k + 1) % 3], e = 0;
      while (e < edge_count && !(edges[e][0] == to && edges[e][1] == from)) e++;
      if (e < edge_count) {
        edge_count--;
        edges[e][0] = edges[edge_count][0];
        edges[e][1] = edges[edge_count][1];
      } else if (edge_count < EDGES) {
        edges[edge_count][0] = from;
        edges[edge_count++][1] = to;
      }
    }
  }
  if (kept == h->facet_count || kept + edge_count > FACETS) return 0;
  h->facet_count = kept;
  for (int32_t e = 0; e < edge_count; e++)
    set_facet(h, &h->facets[h->facet_count++], edges[e][0], edges[e][1], newest);
  return 1;
}

static const Facet *nearest(const Hull *h) {
  const Facet *best = &h->facets[0];
  for (int32_t i = 1; i < h->facet_count; i++)
    if (h->facets[i].height < best->height) best = &h->facets[i];
  return best;
}

// ---- the answer ----

// Along m, outward: what is asked, and what three corners make of it.
static void answer(const CniConvex *x, CnVec3 m, CniNearest *near) {
  near->normal = cn_neg(m);
  near->gap = -cn_dot(m, farthest(x, m).w);
}

// The places that meet: a face of one core and a corner of the other, or two edges, have a normal of
// their own. It is taken if it is the same direction, to what round-off may have done to the first.
static CnVec3 clean_normal(const CniSimplex *s, CnVec3 m) {
  const CniCorner *c = s->corner;
  CnVec3 a1 = cn_sub(c[1].a, c[0].a), a2 = cn_sub(c[2].a, c[0].a);
  CnVec3 b1 = cn_sub(c[1].b, c[0].b), b2 = cn_sub(c[2].b, c[0].b), n;
  int a_still = cn_norm2(a1) == 0 && cn_norm2(a2) == 0;
  int b_still = cn_norm2(b1) == 0 && cn_norm2(b2) == 0;
  if (b_still)
    n = cn_cross(a1, a2);
  else if (a_still)
    n = cn_cross(b1, b2);
  else
    n = cn_cross(cn_norm2(a1) > cn_norm2(a2) ? a1 : a2, cn_norm2(b1) > cn_norm2(b2) ? b1 : b2);
  double length = cn_norm(n), along = cn_dot(n, m);
  if (!(fabs(along) > (1 - 1e-10) * length && length > 0)) return m;
  return cn_scale((along < 0 ? -1 : 1) / length, n);
}

static void keep_facet(const Hull *h, const Facet *f, CniSimplex *s) {
  CnVec3 w[3], point;
  s->count = 3;
  for (int32_t i = 0; i < 3; i++) {
    s->corner[i] = h->corners[f->at[i]];
    w[i] = s->corner[i].w;
  }
  double sum = 0;
  if (!cni_triangle_shares(w, s->share, &point)) s->share[0] = 1, s->share[1] = s->share[2] = 0;
  for (int32_t i = 0; i < 3; i++) sum += s->share[i] = cn_max(s->share[i], 0);
  for (int32_t i = 0; i < 3; i++) s->share[i] /= sum;
}

// B - A is a point, a line or flat: the depth is zero across it.
static void flat(const CniConvex *x, CnVec3 way, CnVec3 n, CniNearest *near) {
  CniSimplex *s = &near->simplex;
  if (s->count < 3) {
    n = cn_norm(way) > CNI_NO_DIRECTION ? way : cn_vec3(0, 0, 1);
    if (s->count == 2) {
      CnVec3 e = cn_sub(s->corner[1].w, s->corner[0].w), t;
      e = cn_scale(1 / cn_norm(e), e);
      n = cn_madd(n, -cn_dot(n, e), e);
      if (!(cn_norm2(n) > 1e-6 * cn_norm2(way) && cn_norm(n) > CNI_NO_DIRECTION))
        cni_tangents(e, &n, &t);
    }
    n = cn_scale(1 / cn_norm(n), n);
  } else if (cn_dot(n, way) < 0 || (cn_dot(n, way) == 0 && cn_dot(n, x->way) < 0)) {
    n = cn_neg(n);
  }
  answer(x, cn_neg(n), near);
}

// ---- polyhedra, and what is curved to some depth ----

static void follow(Hull *h, CniNearest *near) {
  const CniConvex *x = h->x;
  double best = INFINITY, round_off = ROUND_OFF * x->extent;
  double enough = x->curved ? CURVED * x->extent : round_off;
  CnVec3 m = {0, 0, 1};
  while (h->corner_count < CORNERS) {
    Facet f = *nearest(h);
    if (!(f.height < best)) break;
    CniCorner c = farthest(x, f.normal);
    double top = cn_dot(f.normal, c.w);
    if (top < best) {
      best = top;
      m = f.normal;
      keep_facet(h, &f, &near->simplex);
    }
    if (!(top - f.height > enough)) break;
    h->corners[h->corner_count++] = c;
    if (!expand(h, round_off)) break;
  }
  answer(x, clean_normal(&near->simplex, m), near);
}

// ---- curved cores, roughly ----

// Facets that are near enough to the surface lead to a way out, which is made exact. What is left then
// are facets nearer to the origin than the best of them: those about a way out that is known, made of
// the same pieces of the cores, say no more; others are followed in their turn.
#define WAYS 8
#define ABOUT 0.98 // cosine of their directions

typedef struct Way {
  CnVec3 m;
  uint32_t pieces[6]; // where it was begun, and where it ended
} Way;

static void note_pieces(const CniSimplex *s, uint32_t pieces[3]) {
  for (int32_t i = 0; i < 3; i++) {
    const CniCorner *c = &s->corner[i < s->count ? i : 0];
    pieces[i] = cni_feature(c->name_a, c->name_b);
  }
}

static int is_about(const Hull *h, const Facet *f, const Way *way) {
  if (!(cn_dot(f->normal, way->m) > ABOUT)) return 0;
  for (int32_t i = 0; i < 3; i++) {
    const CniCorner *c = &h->corners[f->at[i]];
    uint32_t piece = cni_feature(c->name_a, c->name_b);
    int32_t k = 0;
    while (k < 6 && way->pieces[k] != piece) k++;
    if (k == 6) return 0;
  }
  return 1;
}

// The nearest facet that may lead to a way out shorter than `best`; null: there is none.
static Facet *next_facet(Hull *h, const Way *ways, int32_t count, double best) {
  Facet *found = NULL;
  for (int32_t i = 0; i < h->facet_count; i++) {
    Facet *f = &h->facets[i];
    int known = !(f->height < best);
    for (int32_t k = 0; k < count && !known; k++) known = is_about(h, f, &ways[k]);
    if (known) continue;
    found = f;
    best = f->height;
  }
  return found;
}

// 0: there are more ways than are tried, or one cannot be made exact.
static int follow_roughly(Hull *h, CniNearest *near) {
  const CniConvex *x = h->x;
  Way ways[WAYS];
  int32_t count = 0;
  near->gap = -INFINITY;
  for (Facet *f; (f = next_facet(h, ways, count, -near->gap));) {
    CniCorner c = farthest(x, f->normal);
    if (cn_dot(f->normal, c.w) - f->height > ROUGH * x->scale) {
      if (h->corner_count == CORNERS) return 0;
      h->corners[h->corner_count++] = c;
      if (!expand(h, ROUND_OFF * x->extent)) return 0;
      continue;
    }
    CniNearest rival = {.normal = cn_neg(f->normal)};
    keep_facet(h, f, &rival.simplex);
    f->height = INFINITY; // it has served
    if (count == WAYS) return 0;
    note_pieces(&rival.simplex, ways[count].pieces);
    if (!cni_convex_refine(x, &rival)) return 0;
    note_pieces(&rival.simplex, ways[count].pieces + 3);
    ways[count++].m = cn_neg(rival.normal);
    if (rival.gap > near->gap) *near = rival;
  }
  return count > 0;
}

int cni_convex_depth(const CniConvex *x, CnVec3 way, CniNearest *near) {
  CniSimplex *s = &near->simplex, first = *s;
  CnVec3 n = CN_VEC3_ZERO;
  while (s->count < 4 && grow(x, s, &n)) continue;
  if (s->count < 4) {
    flat(x, way, n, near);
    s->count = first.count; // with the shares that are true for them
    return !x->rough;
  }
  Hull h;
  h.x = x;
  begin(&h, s);
  if (x->rough) return follow_roughly(&h, near);
  follow(&h, near);
  return 1;
}
