// SPDX-License-Identifier: Apache-2.0
// The narrow phase against brute force. Of polyhedra all faces, and all pairs of edges, give the
// distance or the depth exactly. What is curved is held to bounds from both sides where it is apart,
// and to a search over all directions where it overlaps.
#include "check.h"
#include "core/math.h"
#include "geometry/geometry_private.h"
#include "placed.h"

#include <stdlib.h>
#include <string.h>

static int pairs(void) {
  const char *text = getenv("CAIRN_ORACLE_PAIRS");
  return text ? atoi(text) : 500;
}

// ---- polyhedra ----

#define MOST 64
typedef struct Solid {
  int vertex_count, face_count, edge_count;
  CnVec3 vertex[MOST], normal[2 * MOST];
  int edge[3 * MOST][2];
  const CniHull *hull;
} Solid;

static Solid solid_of(const CniPlaced *s) {
  Solid o = {.hull = s->hull, .vertex_count = s->hull->vertex_count};
  o.face_count = s->hull->face_count;
  for (int i = 0; i < o.vertex_count; i++)
    o.vertex[i] = cn_pose_point(s->pose, s->hull->vertices[i]);
  for (int f = 0; f < o.face_count; f++) {
    const CniHullFace *face = &s->hull->faces[f];
    o.normal[f] = cn_rotate(s->pose.rotation, face->normal);
    for (int k = 0; k < face->count; k++) {
      const CniHullCorner *c = &s->hull->corners[face->first];
      if (c[k].neighbour < f) continue;
      o.edge[o.edge_count][0] = c[k].vertex;
      o.edge[o.edge_count++][1] = c[(k + 1) % face->count].vertex;
    }
  }
  return o;
}

static double apart(const Solid *a, const Solid *b, CnVec3 n) {
  double top = -INFINITY, low = INFINITY;
  for (int i = 0; i < a->vertex_count; i++) top = cn_max(top, cn_dot(n, a->vertex[i]));
  for (int i = 0; i < b->vertex_count; i++) low = cn_min(low, cn_dot(n, b->vertex[i]));
  return low - top;
}

static double segment_distance(CnVec3 p, CnVec3 q, CnVec3 o, CnVec3 r) {
  CnVec3 u = cn_sub(q, p), v = cn_sub(r, o), w = cn_sub(p, o);
  double a = cn_dot(u, u), b = cn_dot(u, v), c = cn_dot(v, v), d = cn_dot(u, w), e = cn_dot(v, w);
  double det = a * c - b * b, s = det > 1e-14 * a * c ? cn_clamp((b * e - c * d) / det, 0, 1) : 0;
  double least = INFINITY;
  // from the best place of either, and from all ends
  double tries[3] = {s, 0, 1};
  for (int k = 0; k < 3; k++) {
    double t = cn_clamp((b * tries[k] + e) / c, 0, 1), back = cn_clamp((b * t - d) / a, 0, 1);
    CnVec3 x = cn_sub(cn_madd(p, back, u), cn_madd(o, t, v));
    least = cn_min(least, cn_norm(x));
  }
  return least;
}

// Of a vertex over a face of the other: its height, if it is over it.
static double over_faces(const Solid *a, const Solid *b) {
  double least = INFINITY;
  for (int f = 0; f < a->face_count; f++) {
    const CniHullFace *face = &a->hull->faces[f];
    const CniHullCorner *c = &a->hull->corners[face->first];
    for (int i = 0; i < b->vertex_count; i++) {
      CnVec3 p = b->vertex[i], n = a->normal[f];
      double height = cn_dot(n, cn_sub(p, a->vertex[c[0].vertex]));
      int over = height >= 0;
      for (int k = 0; k < face->count && over; k++) {
        CnVec3 from = a->vertex[c[k].vertex], to = a->vertex[c[(k + 1) % face->count].vertex];
        over = cn_dot(cn_cross(cn_sub(to, from), n), cn_sub(p, from)) <= 0;
      }
      if (over) least = cn_min(least, height);
    }
  }
  return least;
}

// Where they touch, whether a vertex is over a face is a matter of round-off: the sides tell.
static double exact(const Solid *a, const Solid *b, double size) {
  double most = -INFINITY;
  for (int f = 0; f < a->face_count; f++) most = cn_max(most, apart(a, b, a->normal[f]));
  for (int f = 0; f < b->face_count; f++) most = cn_max(most, apart(a, b, cn_neg(b->normal[f])));
  double near = cn_min(over_faces(a, b), over_faces(b, a));
  for (int i = 0; i < a->edge_count; i++)
    for (int k = 0; k < b->edge_count; k++) {
      CnVec3 p = a->vertex[a->edge[i][0]], q = a->vertex[a->edge[i][1]];
      CnVec3 o = b->vertex[b->edge[k][0]], r = b->vertex[b->edge[k][1]];
      CnVec3 u = cn_sub(q, p), v = cn_sub(r, o), n = cn_cross(u, v);
      double length = cn_norm(n);
      near = cn_min(near, segment_distance(p, q, o, r));
      if (!(length > 1e-9 * cn_norm(u) * cn_norm(v))) continue;
      n = cn_scale(1 / length, n);
      most = cn_max(most, cn_max(apart(a, b, n), apart(a, b, cn_neg(n))));
    }
  return most > 1e-10 * size ? near : most;
}

// A hull of some points in a box of given sides; as a box kind now and then.
static CniPlaced random_solid(CniRng *rng, CnVec3 size, int box) {
  CnVec3 points[12];
  int count = box ? 8 : 6 + (int)cni_rng_range(rng, 0, 6.99);
  for (int i = 0; i < count; i++) {
    CnVec3 p =
        box ? cn_vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1) : random_direction(rng);
    points[i] = cn_vec3(size.x * p.x, size.y * p.y, size.z * p.z);
  }
  CniPlaced s = {.kind = CN_SHAPE_HULL, .pose = {CN_VEC3_ZERO, random_rotation(rng)}};
  CniHull *hull;
  CnAllocator allocator = cn_allocator_default();
  CHECK_OK(cni_hull_create(&allocator, "hull", points, count, &hull));
  s.hull = hull;
  return s;
}

static void drop(CniPlaced *s) {
  CnAllocator allocator = cn_allocator_default();
  CniHull *hull;
  memcpy(&hull, &s->hull, sizeof hull);
  cni_hull_destroy(&allocator, hull);
}

// Sizes of a and b along their axes, and how exact, of the larger.
typedef struct Family {
  const char *name;
  CnVec3 a, b;
} Family;

static const Family families[] = {
    {"equal", {1, 1, 1}, {1, .7, .8}},
    {"micrometres", {1e-6, 2e-6, 1e-6}, {1e-6, 1e-6, 1e-6}},
    {"kilometre", {1e3, 1e3, 600}, {500, 1e3, 700}},
    {"1 to 10,000", {1, 1, 1}, {1e-4, 1e-4, 1e-4}},
    {"needles", {1, 1e-3, 1e-3}, {1e-3, 1, 1e-3}},
    {"plates", {1, 1, 1e-3}, {1, .8, 1e-3}},
};

static double least_gap(const CniManifold *m) {
  double least = INFINITY;
  for (int32_t i = 0; i < m->count; i++) least = cn_min(least, m->points[i].gap);
  return least;
}

static void polyhedra(void **state) {
  (void)state;
  CniRng rng = {101};
  for (size_t k = 0; k < sizeof families / sizeof families[0]; k++) {
    const Family *f = &families[k];
    double size = cn_max(cn_norm(f->a), cn_norm(f->b)), worst = 0;
    int deep = 0, far = 0, touching = 0;
    for (int n = 0; n < pairs(); n++) {
      CniPlaced a = random_solid(&rng, f->a, n % 3 == 0), b = random_solid(&rng, f->b, n % 5 == 0);
      Solid sa = solid_of(&a);
      // along some direction, from deep inside to apart
      CnVec3 d = random_direction(&rng);
      Solid sb = solid_of(&b);
      double reach = -apart(&sa, &sb, d), by = cni_rng_range(&rng, 0, 1.3);
      b.pose.position = cn_scale(by * reach, d);
      sb = solid_of(&b);
      CniManifold m, t;
      if (n % 4 == 0) { // touching, to some 1e-12
        cni_collide(&a, &b, INFINITY, &m);
        double back = exact(&sa, &sb, size) + (n % 3 - 1) * 1e-12 * size;
        b.pose.position = cn_madd(b.pose.position, -back, m.normal);
        sb = solid_of(&b);
      }
      double gap = exact(&sa, &sb, size);
      cni_collide(&a, &b, INFINITY, &m);
      cni_collide(&b, &a, INFINITY, &t);
      // near touching the brute force says no more than that they are at least so far apart
      double off = gap - apart(&sa, &sb, m.normal);
      if (gap > 1e-10 * size || off > 0) off = fabs(off);
      if (off > 1e-9 * size || fabs(least_gap(&m) - apart(&sa, &sb, m.normal)) > 2e-9 * size)
        fail_msg("%s %d: gap %.12g, along the normal %.12g, exact %.12g", f->name, n, least_gap(&m),
                 apart(&sa, &sb, m.normal), gap);
      worst = cn_max(worst, off / size);
      CHECK(m.count == t.count);
      CHECK(m.normal.x == -t.normal.x && m.normal.y == -t.normal.y && m.normal.z == -t.normal.z);
      for (int32_t i = 0; i < m.count; i++) { // named, and so sorted, the other way round
        int32_t j = 0;
        uint32_t name = cni_feature_turned(m.points[i].feature);
        while (j < t.count && t.points[j].feature != name) j++;
        CHECK(j < t.count && m.points[i].gap == t.points[j].gap);
      }
      if (fabs(gap) < 1e-9 * size)
        touching++;
      else
        gap > 0 ? far++ : deep++;
      drop(&a);
      drop(&b);
    }
    print_message("%s: off by %.1e of the size at most; %d apart, %d deep, %d touching\n", f->name,
                  worst, far, deep, touching);
  }
}

// ---- curved ----

static double along(const CniPlaced *s, CnVec3 n) {
  uint32_t corner;
  const CniShapeKind *kind = cni_shape_kinds[s->kind];
  CnVec3 p = kind->support(s, cn_unrotate(s->pose.rotation, n), &corner);
  return cn_dot(n, cn_pose_point(s->pose, p)) + kind->rounding(s);
}
static double separation(const CniPlaced *a, const CniPlaced *b, CnVec3 n) {
  return -along(b, cn_neg(n)) - along(a, n);
}

// The greatest separation: from the best of 60 directions a pattern search.
static double search(const CniPlaced *a, const CniPlaced *b, CniRng *rng) {
  double value = -INFINITY;
  CnVec3 n = {0, 0, 1};
  for (int i = 0; i < 60; i++) {
    CnVec3 d = random_direction(rng);
    double s = separation(a, b, d);
    if (s > value) value = s, n = d;
  }
  for (double step = 0.3; step > 1e-5;) {
    CnVec3 t1, t2, from = n;
    cni_tangents(n, &t1, &t2);
    for (int k = 0; k < 6; k++) {
      CnVec3 d = cn_madd(cn_scale(cos(k * CNI_PI / 3), t1), sin(k * CNI_PI / 3), t2);
      CnVec3 trial = cn_madd(from, step, d);
      trial = cn_scale(1 / cn_norm(trial), trial);
      double s = separation(a, b, trial);
      if (s > value) value = s, n = trial;
    }
    if (cn_norm2(cn_sub(n, from)) == 0) step *= 0.5;
  }
  return value;
}

static CniPlaced random_placed(CniRng *rng, CnShapeKind kind, double size) {
  CnPose pose = {random_in_cube(rng, 1.2 * size), random_rotation(rng)};
  CniPlaced s = placed_unit(kind, pose);
  for (int k = 0; k < CNI_SHAPE_SIZES; k++) s.size[k] = size * cni_rng_range(rng, 0.1, 1);
  if (s.hull) s.size[0] = 0; // of the one size that is made
  return s;
}

static void curved(void **state) {
  (void)state;
  static const double sizes[] = {1, 1e-6, 1e3};
  CniRng rng = {103};
  for (int ka = 0; ka < CN_SHAPE_KIND_COUNT; ka = next_convex(ka))
    for (int kb = ka; kb < CN_SHAPE_KIND_COUNT; kb = next_convex(kb)) {
      uint32_t flags = cni_shape_kinds[ka]->flags | cni_shape_kinds[kb]->flags;
      if ((flags & CNI_SHAPE_UNBOUNDED) || !(flags & CNI_SHAPE_CURVED)) continue;
      for (int n = 0; n < pairs(); n++) {
        double size = flags & CNI_SHAPE_GEOMETRY ? 1 : sizes[n % 3];
        CniPlaced a = random_placed(&rng, (CnShapeKind)ka, size);
        CniPlaced b = random_placed(&rng, (CnShapeKind)kb, size);
        CniPlaces p = cni_places(&a, &b);
        // a direction that keeps them so far apart, and two places no farther from each other
        CHECK_NEAR(separation(&a, &b, p.normal), p.gap, 1e-9 * size);
        double inside = along(&b, cn_neg(p.normal)) + cn_dot(p.normal, p.b);
        CHECK_NEAR(inside, 0, 1e-7 * size);
        if (p.gap < 0 && n % 10 == 0) CHECK(search(&a, &b, &rng) <= p.gap + 1e-7 * size);
      }
    }
}

// ---- every two kinds ----

// Distance of a point from a shape, 0 inside.
static double outside(const CniPlaced *s, CnVec3 p) {
  if (s->kind == CN_SHAPE_PLANE)
    return cn_max(
        0, cn_dot(cn_rotate(s->pose.rotation, cn_vec3(0, 0, 1)), cn_sub(p, s->pose.position)));
  CniPlaced point = {.kind = CN_SHAPE_SPHERE, .pose = {p, CN_QUAT_ONE}};
  return cn_max(0, cni_places(s, &point).gap);
}

// The same points the other way round, bit by bit; of two spheres the last one may differ.
static void check_swapped(const CniManifold *m, const CniManifold *t, int spheres) {
  CHECK(m->count == t->count);
  CHECK(m->count == 0 || (m->normal.x == -t->normal.x && m->normal.y == -t->normal.y &&
                          m->normal.z == -t->normal.z));
  for (int32_t i = 0; i < m->count; i++) {
    const CniPoint *p = &m->points[i];
    int32_t k = 0;
    while (k < t->count && (t->points[k].gap != p->gap ||
                            (!spheres && cn_norm(cn_sub(t->points[k].point, p->point)) > 0)))
      k++;
    CHECK(k < t->count);
  }
}

// Long and flat shapes, very different ones, and touching to 1e-12: both orders agree bit by bit, a
// rigid motion changes nothing, and the points lie on both.
static void symmetric(void **state) {
  (void)state;
  static const double sizes[] = {1, 1e-6, 1e3}, ratios[] = {1, 1e-4, 1, 1};
  CniRng rng = {107};
  for (int ka = 0; ka < CN_SHAPE_KIND_COUNT; ka = next_convex(ka))
    for (int kb = 0; kb < CN_SHAPE_KIND_COUNT; kb = next_convex(kb)) {
      uint32_t flags = cni_shape_kinds[ka]->flags | cni_shape_kinds[kb]->flags;
      double worst = 0, worst_turn = 0, fine = flags & CNI_SHAPE_CURVED ? 1e-6 : 1e-9;
      int loose = 0;
      if (cni_shape_unbounded((CnShapeKind)ka)) continue;
      for (int n = 0; n < pairs() / 2; n++) {
        double size = flags & CNI_SHAPE_GEOMETRY ? 1 : sizes[n % 3];
        CniPlaced a = random_placed(&rng, (CnShapeKind)ka, size);
        CniPlaced b = random_placed(&rng, (CnShapeKind)kb, size * ratios[n % 4]);
        if (b.hull && n % 4 == 1) continue;
        if (n % 8 == 2 && !a.hull) a.size[0] *= 1e-3; // a plate, or a needle
        if (n % 2) {
          CniPlaces p = cni_places(&a, &b);
          b.pose.position = cn_madd(b.pose.position, (n % 5 - 2) * 1e-12 * size - p.gap, p.normal);
        }
        CniManifold m, t, w;
        double margin = 0.1 * size, least;
        cni_collide(&a, &b, margin, &m);
        cni_collide(&b, &a, margin, &t);
        check_swapped(&m, &t, ka == CN_SHAPE_SPHERE && kb == CN_SHAPE_SPHERE);
        least = least_gap(&m);
        for (int32_t i = 0; i < m.count; i++) {
          const CniPoint *p = &m.points[i];
          double off = outside(&a, cn_madd(p->point, -0.5 * p->gap, m.normal));
          off = cn_max(off, outside(&b, cn_madd(p->point, 0.5 * p->gap, m.normal)));
          worst = cn_max(worst, off / size);
          loose += off > fine * size;
          CHECK(p->gap <= margin);
        }
        CnQuat turned = random_rotation(&rng);
        CnPose motion = {random_in_cube(&rng, size), turned};
        CniPlaced c = placed_moved(a, motion), d = placed_moved(b, motion);
        cni_collide(&c, &d, margin, &w);
        double change = w.count && m.count ? fabs(least_gap(&w) - least) / size : 0;
        if (!w.count != !m.count) change = fabs(cni_places(&a, &b).gap - margin) / size;
        worst_turn = cn_max(worst_turn, change);
      }
      // places of what is curved are those of a search for the normal; now and then a point of the
      // band about a polygon, 1e-4 of the inradius, is beside the other shape
      if (loose > pairs() / 1000 || worst > 1e-3 || worst_turn > cn_max(1e-9, 0.1 * fine))
        fail_msg("%s and %s: points %.1e of the size outside, moved %.1e",
                 cni_shape_kinds[ka]->name, cni_shape_kinds[kb]->name, worst, worst_turn);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(polyhedra), cmocka_unit_test(curved),
                                     cmocka_unit_test(symmetric)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
