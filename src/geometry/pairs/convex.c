// SPDX-License-Identifier: Apache-2.0
// Any two convex shapes: the pair that all kinds have which have none of their own.
//
// Two cores A and B are apart by the distance of the set B - A from the origin. The corner of B - A
// farthest back along v is the farthest one of B less that of A, so the support functions of the two
// kinds are all that is needed (Gilbert, Johnson and Keerthi 1988). A simplex of such corners walks
// towards the origin: of each simplex the part nearest to the origin is kept, v is its nearest
// point, and the next corner is the one farthest back along v. For cores with flat sides this ends
// after a few rounds with the exact nearest parts; no round may fail to come nearer, so it ends for
// all. With the unit normal n = v/|v|, the way along n of every corner w is a lower bound of the
// distance,
//
//     min_w n.w <= distance <= |v|,
//
// which ends the search early for pairs that are farther apart than the margin, and otherwise when
// both sides agree to round-off. Balls on the cores (CniShapeKind) shorten the distance by their
// radii and do not turn the normal: what is round is exact.
//
// A simplex that holds the origin, or comes to it within 1e-8 of the smaller shape, is not a
// direction any more: convex_depth.c goes on from there. Curved cores are looked at roughly, and made
// exact by Newton's method (convex_refine.c); where that fails the walk goes to its end.
//
// Cost: 3,000 to 8,000 instructions where cores are apart, 12,000 to 26,000 where they touch; 2,000 to
// 5,000 where they touch with the parts of the last call (convex_meet.c).
#include "geometry/pairs/convex_private.h"

#define ROUNDS 64
#define ROUND_OFF 1e-15 // of the extent
#define TOUCH 1e-8      // of the smaller inradius
#define NEARLY 1e-2     // instead, where Newton's method is to follow
#define ENOUGH 1e-2     // of the distance, likewise
#define SURE 1e-12      // of the extent: a gap that differs from the margin by less is searched for

// ---- corners ----

CniCorner cni_convex_corner(const CniConvex *x, CnVec3 direction) {
  CniCorner c;
  c.a = x->kind_a->support(x->a, direction, &c.name_a);
  CnVec3 b = x->kind_b->support(x->b, cn_neg(cn_mtmul(x->turn, direction)), &c.name_b);
  c.b = cn_add(x->way, cn_mmul(x->turn, b));
  c.w = cn_sub(c.b, c.a);
  return c;
}

static int same(CnVec3 a, CnVec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static int known(const CniSimplex *s, CnVec3 w) {
  for (int32_t i = 0; i < s->count; i++)
    if (same(s->corner[i].w, w)) return 1;
  return 0;
}

// ---- the part of a simplex that is nearest to the origin ----

typedef struct Part {
  double distance2;
  CnVec3 v;
  int32_t count, at[3];
  double share[3];
} Part;

static inline void try_edge(Part *best, const CniSimplex *s, int32_t i, int32_t j) {
  CnVec3 p = s->corner[i].w, e = cn_sub(s->corner[j].w, p);
  double t = -cn_dot(p, e) / cn_norm2(e);
  if (!(t > 0 && t < 1)) return;
  CnVec3 v = cn_madd(p, t, e);
  double distance2 = cn_norm2(v);
  if (!(distance2 < best->distance2)) return;
  *best = (Part){distance2, v, 2, {i, j, 0}, {1 - t, t, 0}};
}

static inline int triangle_shares(CnVec3 p, CnVec3 q, CnVec3 r, double share[3], CnVec3 *point) {
  CnVec3 e1 = cn_sub(q, p), e2 = cn_sub(r, p), n = cn_cross(e1, e2);
  double n2 = cn_norm2(n);
  if (!(n2 > 1e-28 * cn_norm2(e1) * cn_norm2(e2))) return 0;
  share[1] = cn_dot(cn_cross(e2, p), n) / n2;
  share[2] = cn_dot(cn_cross(p, e1), n) / n2;
  share[0] = 1 - share[1] - share[2];
  *point = cn_scale(cn_dot(p, n) / n2, n);
  return 1;
}

int cni_triangle_shares(const CnVec3 w[3], double share[3], CnVec3 *point) {
  return triangle_shares(w[0], w[1], w[2], share, point);
}

static inline void try_face(Part *best, const CniSimplex *s, int32_t i, int32_t j, int32_t k) {
  CnVec3 v;
  double share[3];
  if (!triangle_shares(s->corner[i].w, s->corner[j].w, s->corner[k].w, share, &v)) return;
  if (!(share[0] > 0 && share[1] > 0 && share[2] > 0)) return;
  double distance2 = cn_norm2(v);
  if (!(distance2 < best->distance2)) return;
  *best = (Part){distance2, v, 3, {i, j, k}, {share[0], share[1], share[2]}};
}

// Of which faces of a tetrahedron is the origin on the inner side, strictly? Face k is the one without
// corner k; the last corner is in the first three.
static void find_behind(const CniSimplex *s, int32_t behind[3]) {
  CnVec3 d = s->corner[3].w, e[3];
  for (int32_t k = 0; k < 3; k++) e[k] = cn_sub(s->corner[k].w, d);
  for (int32_t k = 0; k < 3; k++) {
    CnVec3 n = cn_cross(e[k < 2 ? k + 1 : 0], e[k > 0 ? k - 1 : 2]);
    double corner = cn_dot(n, e[k]), origin = -cn_dot(n, d);
    behind[k] = corner > 0 ? origin > 0 : corner < 0 && origin < 0;
  }
}

// And of the face of the first three?
static int within_first(const CniSimplex *s) {
  CnVec3 p = s->corner[0].w, q = s->corner[1].w, r = s->corner[2].w;
  CnVec3 n = cn_cross(cn_sub(q, p), cn_sub(r, p));
  double corner = cn_dot(n, cn_sub(s->corner[3].w, p)), origin = -cn_dot(n, p);
  return corner > 0 ? origin > 0 : corner < 0 && origin < 0;
}

// The part of the simplex that is nearest to the origin, into an empty one; 0: the origin is inside.
// Parts without the newest corner, the last, were tried before. A face that has the origin before it,
// over its inside, is the nearest part; without one it is an edge or the corner.
static inline int nearest_part(const CniSimplex *s, Part *best) {
  int32_t last = s->count - 1;
  if (last == 3) {
    int32_t behind[3];
    find_behind(s, behind);
    if (behind[0] && behind[1] && behind[2] && within_first(s)) return 0;
    if (!behind[2]) try_face(best, s, 0, 1, 3);
    if (!behind[1]) try_face(best, s, 0, 2, 3);
    if (!behind[0]) try_face(best, s, 1, 2, 3);
  } else if (last == 2) {
    try_face(best, s, 0, 1, 2);
  }
  if (best->distance2 < INFINITY) return 1;
  CnVec3 w = s->corner[last].w;
  *best = (Part){cn_norm2(w), w, 1, {last, 0, 0}, {1, 0, 0}};
  for (int32_t i = 0; i < last; i++) try_edge(best, s, i, last);
  return 1;
}

static void keep_part(CniSimplex *s, const Part *part) {
  for (int32_t i = 0; i < part->count; i++) {
    // places ascend: none is overwritten before it is read
    if (part->at[i] != i) s->corner[i] = s->corner[part->at[i]];
    s->share[i] = part->share[i];
  }
  s->count = part->count;
}

// ---- the walk ----

// Where the walk ended.
typedef enum End { END_FAR, END_APART, END_TOUCHING } End;

// The walk came to |v| = length and no farther, and the lower bound says along/length. Within some
// 1e-12 of touching v is a difference of large numbers, and its direction may be anything: where the
// bounds disagree the cores are taken to touch.
static End settled(const CniConvex *x, double length, double along) {
  int blind = length < 1e-9 * x->extent && length - along / length > 1e-12 * x->extent;
  return blind ? END_TOUCHING : END_APART;
}

static End walk(const CniConvex *x, CnVec3 d, CniSimplex *s, CnVec3 *v) {
  double touch = cn_max((x->rough ? NEARLY : TOUCH) * x->scale, 10 * ROUND_OFF * x->extent);
  double nearest2 = INFINITY, enough = x->rough ? ENOUGH : 0;
  s->count = 0;
  for (int32_t round = 0; round < ROUNDS; round++) {
    CniCorner *c = &s->corner[s->count];
    *c = cni_convex_corner(x, d);
    double length = cn_norm(d), along = cn_dot(d, c->w);
    if (along > x->margin * length) {
      *v = cn_scale(1 / length, d);
      return END_FAR;
    }
    if (round > 0 &&
        (nearest2 - along <= ROUND_OFF * length * x->extent + enough * nearest2 || known(s, c->w)))
      return settled(x, length, along);
    Part part = {.distance2 = INFINITY};
    s->count++;
    if (!nearest_part(s, &part)) {
      *v = CN_VEC3_ZERO;
      return END_TOUCHING;
    }
    if (!(part.distance2 < nearest2)) {
      s->count--;
      return round > 0 ? settled(x, length, along) : END_APART;
    }
    keep_part(s, &part);
    nearest2 = part.distance2;
    *v = d = part.v;
    if (nearest2 <= touch * touch) return END_TOUCHING;
  }
  return END_APART;
}

// Curved cores that overlap by d are known by a normal n that is nearly right, and so are those whose
// walk ended early. B is carried along n until it is just free, where the walk finds the normal anew:
// that of the surface of B - A where the ray from the origin against n leaves it. With R the radius of curvature there, the error of n
// becomes d/R of what it was, and R is never less than d. What does not gain ends it.
#define POLISH_ROUNDS 12
#define FREE 1e-4   // of the smaller inradius
#define CLOSE 1e-14 // of the extent
#define GAIN 1e-12  // likewise

static void polish(const CniConvex *x, CniNearest *near) {
  for (int32_t round = 0; round < POLISH_ROUNDS; round++) {
    CniConvex y = *x;
    CniSimplex simplex;
    CnVec3 v = CN_VEC3_ZERO;
    y.way = cn_madd(x->way, FREE * x->scale - near->gap, near->normal);
    y.margin = INFINITY;
    if (walk(&y, near->normal, &simplex, &v) != END_APART) return;
    CnVec3 n = cn_scale(1 / cn_norm(v), v);
    double gap = cni_convex_apart(x, n), gain = gap - near->gap;
    if (!(gain >= -ROUND_OFF * x->extent)) return;
    near->simplex = simplex;
    near->normal = n;
    near->gap = gap;
    if (!(gain > GAIN * x->extent)) return;
  }
}

double cni_convex_apart(const CniConvex *x, CnVec3 n) {
  return cn_dot(n, cni_convex_corner(x, n).w);
}

// As far as a walk and the facets of a depth come: polyhedra exactly.
static int find(const CniConvex *x, CniNearest *near, End *end) {
  CnVec3 v = CN_VEC3_ZERO, towards = cn_norm2(x->way) > 0 ? x->way : cn_vec3(1, 0, 0);
  *end = walk(x, towards, &near->simplex, &v);
  near->normal = v;
  if (*end == END_TOUCHING) return cni_convex_depth(x, v, near);
  if (*end == END_FAR) return 1;
  near->gap = cn_norm(v);
  near->normal = cn_scale(1 / near->gap, v);
  return !x->rough || cni_convex_refine(x, near);
}

int cni_convex_nearest(const CniConvex *x, CniNearest *near) {
  CniConvex y = *x;
  End end;
  y.rough = x->curved;
  near->parts[0] = near->parts[1] = 0;
  near->crossing = 0;
  int right = find(&y, near, &end);
  if (end == END_FAR) return 0;
  if (!right) {
    y.rough = 0;
    find(&y, near, &end);
    // thin simplices on a curved surface can end the walk early: both bounds tell
    double most = near->gap;
    near->gap = cni_convex_apart(x, near->normal);
    if (end == END_TOUCHING || most - near->gap > CLOSE * x->extent) polish(&y, near);
  }
  return near->gap <= x->margin;
}

// ---- the pairs ----

CniConvex cni_convex_of(const CniPlaced *a, const CniPlaced *b, double margin) {
  CniConvex x = {.a = a, .b = b};
  x.kind_a = cni_shape_kinds[a->kind];
  x.kind_b = cni_shape_kinds[b->kind];
  CnMat3 ra = cn_qmat(a->pose.rotation), rb = cn_qmat(b->pose.rotation);
  x.axes = ra;
  x.turn = (CnMat3){cn_mtmul(ra, rb.x), cn_mtmul(ra, rb.y), cn_mtmul(ra, rb.z)};
  x.way = cn_mtmul(ra, cn_sub(b->pose.position, a->pose.position));
  x.round_a = x.kind_a->rounding(a);
  x.round_b = x.kind_b->rounding(b);
  x.margin = margin + x.round_a + x.round_b;
  x.scale = cn_min(x.kind_a->inradius(a), x.kind_b->inradius(b));
  x.extent = x.kind_a->outradius(a) + x.kind_b->outradius(b) + cn_norm(x.way);
  x.curved = ((x.kind_a->flags | x.kind_b->flags) & CNI_SHAPE_CURVED) != 0;
  return x;
}

// As the parts that touched last time say, where that is clear; otherwise by a search, whose answer
// is in the words of its parts likewise. 0: farther apart than the margin.
static int touch_again(const CniConvex *x, uint32_t parts[2], CniNearest *near) {
  double sure = SURE * x->extent;
  if (cni_convex_meet(x, parts, near) && !(fabs(near->gap - x->margin) <= sure))
    return near->gap < x->margin;
  parts[0] = parts[1] = 0;
  if (!cni_convex_nearest(x, near)) return 0;
  if (cni_convex_parts(x, near)) parts[0] = near->parts[0], parts[1] = near->parts[1];
  return 1;
}

void cni_collide_convex_again(const CniPlaced *a, const CniPlaced *b, double margin,
                              uint32_t parts[2], CniManifold *manifold) {
  CniConvex x = cni_convex_of(a, b, margin);
  CniNearest near;
  if (!touch_again(&x, parts, &near)) {
    manifold->normal = cn_mmul(x.axes, near.normal);
    return;
  }
  cni_convex_manifold(&x, &near, margin, manifold);
  manifold->normal = cn_mmul(x.axes, manifold->normal);
  for (int32_t i = 0; i < manifold->count; i++)
    manifold->points[i].point =
        cn_add(a->pose.position, cn_mmul(x.axes, manifold->points[i].point));
}

void cni_collide_convex(const CniPlaced *a, const CniPlaced *b, double margin,
                        CniManifold *manifold) {
  uint32_t parts[2] = {0, 0};
  cni_collide_convex_again(a, b, margin, parts, manifold);
}

// A half-space b: the side of a that faces it, corner by corner.
void cni_collide_convex_plane(const CniPlaced *a, const CniPlaced *b, double margin,
                              CniManifold *manifold) {
  const CniShapeKind *kind = cni_shape_kinds[a->kind];
  CnVec3 up = cn_qmat(b->pose.rotation).z;
  CnMat3 r = cn_qmat(a->pose.rotation);
  double height = cn_dot(up, cn_sub(a->pose.position, b->pose.position)), round = kind->rounding(a);
  CniFace face;
  kind->face(a, cn_neg(cn_mtmul(r, up)), &face);
  manifold->normal = cn_neg(up);
  CnVec3 at[CNI_FACE_POINTS];
  double gaps[CNI_FACE_POINTS];
  int32_t keep[CNI_FACE_POINTS], kept = 0;
  for (int32_t i = 0; i < face.count; i++) {
    at[i] = cn_mmul(r, face.points[i]);
    gaps[i] = height + cn_dot(up, at[i]) - round;
    if (gaps[i] <= margin) keep[kept++] = i;
  }
  kept = cni_thin_out(at, gaps, keep, kept);
  for (int32_t k = 0; k < kept; k++) {
    int32_t i = keep[k];
    CnVec3 point = cn_madd(cn_add(a->pose.position, at[i]), -(round + 0.5 * gaps[i]), up);
    cni_manifold_add(manifold, point, gaps[i], cni_feature(face.corner[i], CNI_FEATURE_FACE));
  }
}
