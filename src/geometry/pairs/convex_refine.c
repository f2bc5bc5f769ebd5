// SPDX-License-Identifier: Apache-2.0
// Curved cores: from a normal that is nearly right to the right one, by Newton's method.
//
// Every core is some pieces, each with a corner that moves smoothly as the direction n turns: the two
// rims of a cylinder, the whole of an ellipsoid, or a vertex, which stays where it is. A pair of them,
// i, keeps the cores f_i(n) = n.w_i(n) apart, w_i leading from the one corner to the other. The gap is
// the largest t with t <= f_i(n) for all i, and at most three of them are equal to it. With tangents d
// of n, and S_i the sum of the radii of curvature,
//
//     f_i(n + d) = f_i + w_i.d - d.(S_i + f_i) d/2
//
// Three pairs have one n in common; two have a line of them, on which the curvature decides; one is
// all curvature. Their shares s_i, sum one, come with it: sum s_i w_i = (sum s_i (S_i + f_i)) d. A pair
// with a negative share is given up, and the pair that is least apart along the new n comes in.
//
// Something on a flat end of a cylinder or on a face has the normal of that exactly: it is tried first.
//
// Cost: 3 to 6 rounds of 200 to 400 instructions.
#include "geometry/pairs/convex_private.h"

#define ROUNDS 24
#define RIGHT 1e-9  // rad: the next step is its square
#define MOST 0.3    // rad, of a step
#define SHARE 1e-9  // a share that is less negative is none
#define TILT 0.98   // cosine of 11 degrees: a flat side this near may be the one
#define DEEP 0.1    // of the smaller inradius
#define EQUAL 1e-15 // of the extent: gaps that differ by less are equal

typedef struct Piece {
  CniCorner corner;
  double f, g1, g2;     // m, and its slopes along the tangents
  double s11, s12, s22; // m, radii of curvature
  double share;
} Piece;

typedef struct Search {
  const CniConvex *x;
  CnVec3 n, t1, t2;
  Piece pieces[3];
  int32_t count;
} Search;

// ---- pieces ----

static int bends(const CniShapeKind *kind) { return (kind->flags & CNI_SHAPE_CURVED) != 0; }

static void add_bend(Piece *p, CnSym3 bend, CnVec3 t1, CnVec3 t2) {
  CnVec3 s1 = cn_smul(bend, t1);
  p->s11 += cn_dot(t1, s1);
  p->s12 += cn_dot(t2, s1);
  p->s22 += cn_dot(t2, cn_smul(bend, t2));
}

static void place(const Search *s, Piece *p) {
  const CniConvex *x = s->x;
  CnSym3 bend = {0, 0, 0, 0, 0, 0};
  p->s11 = p->s12 = p->s22 = 0;
  if (bends(x->kind_a)) {
    p->corner.a = x->kind_a->bend(x->a, p->corner.name_a, s->n, &bend);
    add_bend(p, bend, s->t1, s->t2);
  }
  if (bends(x->kind_b)) {
    CnVec3 d = cn_neg(cn_mtmul(x->turn, s->n));
    CnVec3 b = x->kind_b->bend(x->b, p->corner.name_b, d, &bend);
    p->corner.b = cn_add(x->way, cn_mmul(x->turn, b));
    add_bend(p, bend, cn_mtmul(x->turn, s->t1), cn_mtmul(x->turn, s->t2));
  }
  p->corner.w = cn_sub(p->corner.b, p->corner.a);
  p->f = cn_dot(s->n, p->corner.w);
  p->g1 = cn_dot(s->t1, p->corner.w);
  p->g2 = cn_dot(s->t2, p->corner.w);
}

static int32_t find_piece(const Search *s, const CniCorner *c) {
  int32_t i = 0;
  while (i < s->count &&
         (s->pieces[i].corner.name_a != c->name_a || s->pieces[i].corner.name_b != c->name_b))
    i++;
  return i;
}

static void drop(Search *s, int32_t i) {
  for (s->count--; i < s->count; i++) s->pieces[i] = s->pieces[i + 1];
}

static int32_t least_share(const Search *s) {
  int32_t least = 0;
  for (int32_t i = 1; i < s->count; i++)
    if (s->pieces[i].share < s->pieces[least].share) least = i;
  return least;
}

static void begin(Search *s, const CniSimplex *simplex) {
  s->count = 0;
  for (int32_t i = 0; i < simplex->count; i++) {
    int32_t k = find_piece(s, &simplex->corner[i]);
    double share = simplex->count > 1 ? simplex->share[i] : 1;
    if (k == s->count) {
      if (k == 3) continue;
      s->pieces[s->count++] = (Piece){.corner = simplex->corner[i], .share = share};
    } else {
      s->pieces[k].share += share;
    }
  }
}

// ---- one step ----

// From the tangent d the shares, where sum s_i g_i = h.
static void share_out(Search *s, double h1, double h2) {
  Piece *p = s->pieces;
  if (s->count == 1) {
    p[0].share = 1;
  } else if (s->count == 2) {
    double d1 = p[0].g1 - p[1].g1, d2 = p[0].g2 - p[1].g2;
    p[0].share = ((h1 - p[1].g1) * d1 + (h2 - p[1].g2) * d2) / (d1 * d1 + d2 * d2);
    p[1].share = 1 - p[0].share;
  } else {
    double a1 = p[0].g1 - p[2].g1, a2 = p[0].g2 - p[2].g2;
    double b1 = p[1].g1 - p[2].g1, b2 = p[1].g2 - p[2].g2, det = a1 * b2 - a2 * b1;
    double r1 = h1 - p[2].g1, r2 = h2 - p[2].g2;
    p[0].share = (r1 * b2 - r2 * b1) / det;
    p[1].share = (a1 * r2 - a2 * r1) / det;
    p[2].share = 1 - p[0].share - p[1].share;
  }
}

// The step from n along the tangents; 0: there is none.
static int step(Search *s, double d[2]) {
  Piece *p = s->pieces;
  double h11 = 0, h12 = 0, h22 = 0;
  for (int32_t i = 0; i < s->count; i++) {
    double share = s->count == 1 ? 1 : p[i].share;
    h11 += share * (p[i].s11 + p[i].f);
    h12 += share * p[i].s12;
    h22 += share * (p[i].s22 + p[i].f);
  }
  if (s->count == 1) {
    double det = h11 * h22 - h12 * h12;
    if (!(h11 > 0 && det > 1e-12 * h11 * h22)) return 0;
    d[0] = (h22 * p[0].g1 - h12 * p[0].g2) / det;
    d[1] = (h11 * p[0].g2 - h12 * p[0].g1) / det;
  } else if (s->count == 2) {
    // along the difference both become equal, across it the curvature decides
    double e1 = p[0].g1 - p[1].g1, e2 = p[0].g2 - p[1].g2, length2 = e1 * e1 + e2 * e2;
    double curve = e2 * (h11 * e2 - h12 * e1) + e1 * (h22 * e1 - h12 * e2);
    double along = (p[1].f - p[0].f) / length2;
    double slope = (e2 * p[0].g1 - e1 * p[0].g2) -
                   along * (e2 * (h11 * e1 + h12 * e2) - e1 * (h12 * e1 + h22 * e2));
    if (!(length2 > 0 && curve > 0)) return 0;
    d[0] = along * e1 + slope / curve * e2;
    d[1] = along * e2 - slope / curve * e1;
  } else {
    double a1 = p[0].g1 - p[2].g1, a2 = p[0].g2 - p[2].g2, fa = p[2].f - p[0].f;
    double b1 = p[1].g1 - p[2].g1, b2 = p[1].g2 - p[2].g2, fb = p[2].f - p[1].f;
    double det = a1 * b2 - a2 * b1;
    if (!(fabs(det) > 1e-12 * sqrt((a1 * a1 + a2 * a2) * (b1 * b1 + b2 * b2)))) return 0;
    d[0] = (fa * b2 - fb * a2) / det;
    d[1] = (a1 * fb - b1 * fa) / det;
  }
  share_out(s, h11 * d[0] + h12 * d[1], h12 * d[0] + h22 * d[1]);
  return isfinite(d[0]) && isfinite(d[1]);
}

// A piece that is nearer along n than those at hand comes in; 0: there is none.
static int take_nearer(Search *s, const CniCorner *c, double here) {
  double least = INFINITY;
  if (find_piece(s, c) < s->count) return 0;
  for (int32_t i = 0; i < s->count; i++) {
    Piece p = s->pieces[i];
    place(s, &p);
    least = cn_min(least, p.f);
  }
  if (!(here < least - EQUAL * s->x->extent)) return 0;
  if (s->count == 3) drop(s, least_share(s));
  s->pieces[s->count++] = (Piece){.corner = *c, .share = 0};
  return 1;
}

static void answer(const Search *s, double gap, CniNearest *near) {
  double sum = 0;
  near->normal = s->n;
  near->gap = gap;
  near->simplex.count = s->count;
  for (int32_t i = 0; i < s->count; i++) sum += cn_max(s->pieces[i].share, 0);
  for (int32_t i = 0; i < s->count; i++) {
    Piece p = s->pieces[i];
    place(s, &p);
    near->simplex.corner[i] = p.corner;
    near->simplex.share[i] = cn_max(p.share, 0) / sum;
  }
}

// ---- a flat side ----

// Is a point over a polygon?
static int is_over(const CniFace *face, CnVec3 p) {
  for (int32_t i = 0; i < face->count; i++) {
    CnVec3 from = face->points[i], to = face->points[i + 1 < face->count ? i + 1 : 0];
    if (cn_dot(cn_cross(cn_sub(to, from), face->normal), cn_sub(p, from)) > 0) return 0;
  }
  return 1;
}

// Is the normal of a flat side of a, or of b, that of the pair? Where the other's nearest corner is
// over the side it is, unless deep cores have a better way out at the start.
static int flat_side(const CniConvex *x, double start, CniNearest *near) {
  CniFace face;
  for (int32_t of_b = 0; of_b < 2; of_b++) {
    CnVec3 n = of_b ? cn_neg(cn_mtmul(x->turn, near->normal)) : near->normal;
    (of_b ? x->kind_b : x->kind_a)->face(of_b ? x->b : x->a, n, &face);
    if (face.count < 3 || !(cn_dot(face.normal, n) > TILT)) continue;
    CnVec3 flat = of_b ? cn_neg(cn_mmul(x->turn, face.normal)) : face.normal;
    CniCorner c = cni_convex_corner(x, flat);
    CnVec3 other = of_b ? cn_mtmul(x->turn, cn_sub(c.a, x->way)) : c.b;
    double gap = cn_dot(flat, c.w);
    if (!(gap >= start) || !is_over(&face, other)) continue;
    // the place under that corner
    if (of_b)
      c.b = cn_madd(c.a, gap, flat), c.name_b = CNI_FEATURE_FACE;
    else
      c.a = cn_madd(c.b, -gap, flat), c.name_a = CNI_FEATURE_FACE;
    *near = (CniNearest){.normal = flat, .gap = gap, .simplex = {1, {c}, {1}}};
    return 1;
  }
  return 0;
}

static int by_newton(const CniConvex *x, double start, CniNearest *near) {
  Search s = {.x = x, .n = near->normal};
  begin(&s, &near->simplex);
  for (int32_t round = 0; round < ROUNDS; round++) {
    double d[2];
    cni_tangents(s.n, &s.t1, &s.t2);
    for (int32_t i = 0; i < s.count; i++) place(&s, &s.pieces[i]);
    if (!step(&s, d)) return 0;
    int32_t least = least_share(&s);
    if (s.count > 1 && s.pieces[least].share < -SHARE) {
      drop(&s, least);
      continue;
    }
    double length = sqrt(d[0] * d[0] + d[1] * d[1]), by = length > MOST ? MOST / length : 1;
    CnVec3 m = cn_madd(cn_madd(s.n, by * d[0], s.t1), by * d[1], s.t2);
    s.n = cn_scale(1 / cn_norm(m), m);
    CniCorner c = cni_convex_corner(x, s.n);
    double here = cn_dot(s.n, c.w);
    if (take_nearer(&s, &c, here) || !(length <= RIGHT)) continue;
    if (!(here >= start)) return 0;
    answer(&s, here, near);
    return 1;
  }
  return 0;
}

// Shallow cores have one way out near a flat side; of deep ones Newton's method may know a better one.
int cni_convex_refine(const CniConvex *x, CniNearest *near) {
  double start = cni_convex_apart(x, near->normal) - EQUAL * x->extent;
  CniNearest flat = *near;
  if (!flat_side(x, start, &flat)) return by_newton(x, start, near);
  int deep = flat.gap < -DEEP * x->scale;
  if (deep && !by_newton(x, -INFINITY, near)) return 0;
  if (!deep || flat.gap > near->gap) *near = flat;
  return 1;
}
