// SPDX-License-Identifier: Apache-2.0
// The pair that any two convex shapes have: against the closed forms of the special pairs, against
// brute force, and at the edges of what is sensible.
#include "check.h"
#include "core/math.h"
#include "geometry/geometry_private.h"
#include "placed.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define WIDE 1e9 // margin that lets everything through

static double least_gap(const CniManifold *m) {
  double least = INFINITY;
  for (int32_t i = 0; i < m->count; i++) least = cn_min(least, m->points[i].gap);
  return least;
}

static CniManifold convex(const CniPlaced *a, const CniPlaced *b, double margin) {
  CniManifold m = {{0, 0, 1}, 0, {{{0, 0, 0}, 0, 0}}};
  cni_collide_convex(a, b, margin, &m);
  return m;
}

// Separation of the shapes along a direction: a true lower bound of the signed distance.
static double along(const CniPlaced *s, CnVec3 n) {
  uint32_t corner;
  const CniShapeKind *kind = cni_shape_kinds[s->kind];
  CnVec3 p = kind->support(s, cn_unrotate(s->pose.rotation, n), &corner);
  return cn_dot(n, cn_pose_point(s->pose, p)) + kind->rounding(s);
}
static double separation(const CniPlaced *a, const CniPlaced *b, CnVec3 n) {
  return -along(b, cn_neg(n)) - along(a, n);
}

// The greatest separation of all directions, which is the signed distance: many starts, each
// improved by a pattern search on the sphere.
static double brute_force(const CniPlaced *a, const CniPlaced *b, CniRng *rng) {
  double best = -INFINITY;
  for (int start = 0; start < 8; start++) {
    CnVec3 n = random_direction(rng);
    double value = separation(a, b, n);
    for (double step = 0.5; step > 1e-7;) {
      CnVec3 t1, t2;
      cni_tangents(n, &t1, &t2);
      int better = 0;
      for (int k = 0; k < 8; k++) {
        CnVec3 d = cn_madd(cn_scale(cos(k * CNI_PI / 4), t1), sin(k * CNI_PI / 4), t2);
        CnVec3 trial = cn_madd(n, step, d);
        trial = cn_scale(1 / cn_norm(trial), trial);
        double s = separation(a, b, trial);
        if (s > value) value = s, n = trial, better = 1;
      }
      if (!better) step *= 0.5;
    }
    best = cn_max(best, value);
  }
  return best;
}

static CniPlaced random_placed(CniRng *rng, CnShapeKind kind, double size) {
  CnPose pose = {random_in_cube(rng, 1.2 * size), random_rotation(rng)};
  CniPlaced s = placed_unit(kind, pose);
  for (int k = 0; k < CNI_SHAPE_SIZES; k++) s.size[k] = size * cni_rng_range(rng, 0.1, 1);
  return s;
}

// Curved cores are followed by facets where they overlap.
static int curved(int a, int b) {
  return ((cni_shape_kinds[a]->flags | cni_shape_kinds[b]->flags) & CNI_SHAPE_CURVED) != 0;
}

static int bounded(int kind) {
  return !cni_shape_unbounded((CnShapeKind)kind) && !cni_shape_is_surface((CnShapeKind)kind);
}

// The normal must be unit, points must have the gap that they claim between the two surfaces.
static void check_manifold(const CniPlaced *a, const CniPlaced *b, const CniManifold *m,
                           double size) {
  CHECK_NEAR(cn_norm(m->normal), 1, 1e-12);
  CHECK(m->count >= 1 && m->count <= CNI_MAX_POINTS);
  double tolerance = curved((int)a->kind, (int)b->kind) ? 1e-7 : 1e-9;
  CHECK_NEAR(least_gap(m), separation(a, b, m->normal), tolerance * size);
  for (int32_t i = 0; i < m->count; i++)
    for (int32_t k = 0; k < i; k++) CHECK(m->points[i].feature != m->points[k].feature);
}

static void special_pairs_agree(void **state) {
  (void)state;
  static const double sizes[] = {1e-6, 1, 1e3};
  static const CnShapeKind kinds[][2] = {{CN_SHAPE_SPHERE, CN_SHAPE_SPHERE},
                                         {CN_SHAPE_SPHERE, CN_SHAPE_BOX},
                                         {CN_SHAPE_BOX, CN_SHAPE_BOX}};
  for (size_t pair = 0; pair < 3; pair++)
    for (size_t k = 0; k < 3; k++) {
      CniRng rng = {17 + pair};
      double size = sizes[k];
      int apart = 0, deep = 0;
      for (int n = 0; n < 500; n++) {
        CniPlaced a = random_placed(&rng, kinds[pair][0], size);
        CniPlaced b = random_placed(&rng, kinds[pair][1], size);
        a.size[3] = b.size[3] = 0; // sharp boxes
        CniManifold special, any = convex(&a, &b, WIDE);
        cni_collide(&a, &b, WIDE, &special);
        check_manifold(&a, &b, &any, size);
        // box_box prefers faces by up to a thousandth: the generic pair is never worse
        double gap = least_gap(&special), tolerance = 1e-9 * size;
        if (pair == 2) tolerance = 2e-3 * fabs(gap) + 2e-6 * size;
        CHECK_NEAR(least_gap(&any), gap, tolerance);
        if (pair == 2) CHECK(separation(&a, &b, any.normal) >= gap - tolerance);
        gap > 0 ? apart++ : deep++;
      }
      CHECK(apart > 50 && deep > 50);
    }
}

static void all_kinds_by_brute_force(void **state) {
  (void)state;
  CniRng rng = {5};
  for (int ka = 0; ka < CN_SHAPE_KIND_COUNT; ka = next_convex(ka))
    for (int kb = ka; kb < CN_SHAPE_KIND_COUNT; kb = next_convex(kb)) {
      if (!bounded(ka) || !bounded(kb)) continue;
      for (int n = 0; n < (curved(ka, kb) ? 4 : 10); n++) {
        CniPlaced a = random_placed(&rng, (CnShapeKind)ka, 1);
        CniPlaced b = random_placed(&rng, (CnShapeKind)kb, 1);
        CniManifold m = convex(&a, &b, WIDE);
        check_manifold(&a, &b, &m, 1);
        double best = brute_force(&a, &b, &rng);
        // the gap is a separation that is there (check_manifold); none found is greater
        CHECK(best <= least_gap(&m) + 2e-8);
      }
    }
}

// One shape pushed against the other along the normal found, to just touch: gap zero.
static void touching_is_exact(void **state) {
  (void)state;
  CniRng rng = {11};
  for (int ka = 0; ka < CN_SHAPE_KIND_COUNT; ka = next_convex(ka))
    for (int kb = ka; kb < CN_SHAPE_KIND_COUNT; kb = next_convex(kb)) {
      if (!bounded(ka) || !bounded(kb)) continue;
      for (int n = 0; n < 200; n++) {
        CniPlaced a = random_placed(&rng, (CnShapeKind)ka, 1);
        CniPlaced b = random_placed(&rng, (CnShapeKind)kb, 1);
        CniManifold m = convex(&a, &b, WIDE);
        double gap = least_gap(&m);
        b.pose.position = cn_madd(b.pose.position, -gap, m.normal);
        CniManifold touch = convex(&a, &b, 0.1);
        check_manifold(&a, &b, &touch, 1);
        CHECK_NEAR(least_gap(&touch), 0, curved(ka, kb) ? 1e-8 : 1e-12);
      }
    }
}

// Needles 1 : 1000, and partners 1 : 10,000.
static void extreme_sizes(void **state) {
  (void)state;
  CniRng rng = {23};
  for (int ka = 0; ka < CN_SHAPE_KIND_COUNT; ka = next_convex(ka))
    for (int kb = 0; kb < CN_SHAPE_KIND_COUNT; kb = next_convex(kb)) {
      if (!bounded(ka) || !bounded(kb)) continue;
      for (int n = 0; n < 300; n++) {
        int needle = n % 2;
        CniPlaced a = random_placed(&rng, (CnShapeKind)ka, 1);
        CniPlaced b = random_placed(&rng, (CnShapeKind)kb, needle ? 1 : 1e4);
        if (needle) {
          a.size[n / 2 % 3] = 1e-3;
          b.size[(n / 2 + 1) % 3] = 1e-3;
        } else {
          // at the large one's surface
          CnVec3 d = random_direction(&rng);
          CnVec3 reach = cn_scale(-along(&b, cn_neg(d)) + along(&b, d), d);
          a.pose.position = cn_madd(b.pose.position, 0.5, reach);
        }
        CniManifold m = convex(&a, &b, WIDE);
        check_manifold(&a, &b, &m, needle ? 1 : 1e4);
      }
    }
}

static void exchange_turns_the_normal(void **state) {
  (void)state;
  CniRng rng = {29};
  for (int ka = 0; ka < CN_SHAPE_KIND_COUNT; ka = next_convex(ka))
    for (int kb = 0; kb < CN_SHAPE_KIND_COUNT; kb = next_convex(kb)) {
      if (!bounded(ka) || !bounded(kb)) continue;
      for (int n = 0; n < 200; n++) {
        CniPlaced a = random_placed(&rng, (CnShapeKind)ka, 1);
        CniPlaced b = random_placed(&rng, (CnShapeKind)kb, 1);
        CniManifold m = convex(&a, &b, WIDE), t = convex(&b, &a, WIDE);
        CHECK_NEAR(separation(&a, &b, m.normal), separation(&b, &a, t.normal),
                   curved(ka, kb) ? 1e-8 : 1e-12);
        if (separation(&a, &b, m.normal) > 1e-3)
          CHECK_NEAR(cn_norm(cn_add(m.normal, t.normal)), 0, curved(ka, kb) ? 1e-5 : 1e-9);
      }
    }
}

// Point `feature` of a manifold.
static const CniPoint *named(const CniManifold *m, uint32_t feature) {
  for (int32_t i = 0; i < m->count; i++)
    if (m->points[i].feature == feature) return &m->points[i];
  return NULL;
}

// Pairs of the generic function do not care which shape is named first, to the last bit.
static void exchange_is_exact(void **state) {
  (void)state;
  CniRng rng = {31};
  for (int n = 0; n < 2000; n++) {
    CniPlaced a = random_placed(&rng, n % 7 < 3 ? CN_SHAPE_HULL : CN_SHAPE_CAPSULE, 1), b = a;
    CnShapeKind kind = n % 3 ? a.kind : CN_SHAPE_BOX;
    if (n % 2) b = random_placed(&rng, kind, 1);
    b.pose.rotation = n % 5 ? random_rotation(&rng) : a.pose.rotation;
    b.pose.position = cn_madd(a.pose.position, 1e-3 + 2.0 * n / 2000, random_direction(&rng));
    CniManifold m, t;
    cni_collide(&a, &b, 0.5, &m);
    cni_collide(&b, &a, 0.5, &t);
    CHECK(m.count == t.count);
    CHECK(m.normal.x == -t.normal.x && m.normal.y == -t.normal.y && m.normal.z == -t.normal.z);
    for (int32_t i = 0; i < m.count; i++) {
      uint32_t feature = m.points[i].feature;
      const CniPoint *p = &m.points[i];
      const CniPoint *q = named(&t, a.kind == b.kind ? cni_feature_turned(feature) : feature);
      CHECK(q != NULL);
      CHECK(p->gap == q->gap && memcmp(&p->point, &q->point, sizeof p->point) == 0);
    }
  }
}

// Same place, same pose, axes in line, corners in corners: an answer, and a finite one.
static void degenerate_poses(void **state) {
  (void)state;
  static const double shifts[] = {0, 1e-300, 1e-160, 1e-16, 1e-9, 0.5, 1, 2};
  for (int ka = 0; ka < CN_SHAPE_KIND_COUNT; ka = next_convex(ka))
    for (int kb = 0; kb < CN_SHAPE_KIND_COUNT; kb = next_convex(kb)) {
      if (!bounded(ka) || !bounded(kb)) continue;
      for (int n = 0; n < 8 * 27 * 4; n++) {
        int s = n / 27 / 4;
        CnVec3 d = {n % 3 - 1, n / 3 % 3 - 1, n / 9 % 3 - 1};
        CnQuat q = n / 27 % 4 ? turn(d.x == 0 ? cn_vec3(1, 0, 0) : cn_vec3(0, 1, 0),
                                     n / 27 % 4 * CNI_PI / 4)
                              : CN_QUAT_ONE;
        CnPose shifted = {cn_scale(shifts[s], d), q};
        CniPlaced a = placed_unit((CnShapeKind)ka, CN_POSE_ONE);
        CniPlaced b = placed_unit((CnShapeKind)kb, shifted);
        CniManifold m = convex(&a, &b, WIDE);
        check_manifold(&a, &b, &m, 1);
        for (int32_t i = 0; i < m.count; i++)
          CHECK(cn_vec3_finite(m.points[i].point) && isfinite(m.points[i].gap));
      }
    }
}

// Two boxes face to face: the whole area, with the names that both have when they slide a little.
static void area_and_lasting_names(void **state) {
  (void)state;
  CniPlaced a = placed_box(cn_vec3(0, 0, 0), CN_QUAT_ONE, cn_vec3(1, 1, 0.5));
  CniPlaced b =
      placed_box(cn_vec3(0.3, 0.2, 1.0), turn(cn_vec3(0, 0, 1), 0.4), cn_vec3(0.7, 0.9, 0.5));
  uint32_t names[CNI_MAX_POINTS] = {0};
  for (int n = 0; n < 20; n++) {
    b.pose.position.x += 1e-4;
    b.pose.position.z = 1 + (n % 2 ? 1e-6 : -1e-6);
    CniManifold m = convex(&a, &b, 0.01);
    CHECK(m.count == 6);
    CHECK_NEAR(cn_norm(cn_sub(m.normal, cn_vec3(0, 0, 1))), 0, 1e-9);
    for (int32_t i = 0; i < m.count; i++) {
      CHECK_NEAR(m.points[i].gap, b.pose.position.z - 1, 1e-12);
      int32_t k = 0;
      for (; n > 0 && k < m.count && names[k] != m.points[i].feature; k++) continue;
      CHECK(n == 0 || k < m.count);
    }
    for (int32_t i = 0; i < m.count; i++) names[i] = m.points[i].feature;
  }
}

// Margins: nothing beyond, and the search ends early there.
static void margin_is_kept(void **state) {
  (void)state;
  CniRng rng = {31};
  for (int n = 0; n < 2000; n++) {
    int ka = n % CN_SHAPE_KIND_COUNT, kb = n / CN_SHAPE_KIND_COUNT % CN_SHAPE_KIND_COUNT;
    if (!bounded(ka) || !bounded(kb)) continue;
    CniPlaced a = random_placed(&rng, (CnShapeKind)ka, 1);
    CniPlaced b = random_placed(&rng, (CnShapeKind)kb, 1);
    CniManifold all = convex(&a, &b, WIDE), some = convex(&a, &b, 0.1);
    CHECK((some.count > 0) == (least_gap(&all) <= 0.1));
    for (int32_t i = 0; i < some.count; i++) CHECK(some.points[i].gap <= 0.1);
  }
}

static void time_of_a_pair(void **state) {
  (void)state;
  CniRng rng = {37};
  for (int ka = 0; ka < CN_SHAPE_KIND_COUNT; ka = next_convex(ka))
    for (int kb = ka; kb < CN_SHAPE_KIND_COUNT; kb = next_convex(kb)) {
      if (!bounded(ka) || !bounded(kb)) continue;
      const CniShapeKind *row_a = cni_shape_kinds[ka], *row_b = cni_shape_kinds[kb];
      CniPlaced a[100], b[100];
      double gap[2] = {1e-3, -1e-3}, ns[2];
      for (int deep = 0; deep < 2; deep++) {
        for (int i = 0; i < 100; i++) {
          a[i] = random_placed(&rng, (CnShapeKind)ka, 1);
          b[i] = random_placed(&rng, (CnShapeKind)kb, 1);
          CniManifold m = convex(&a[i], &b[i], WIDE);
          double way = gap[deep] - least_gap(&m);
          b[i].pose.position = cn_madd(b[i].pose.position, way, m.normal);
        }
        int32_t points = 0;
        clock_t start = clock();
        for (int n = 0; n < 4000; n++) {
          CniManifold m = convex(&a[n % 100], &b[n % 100], 0.01);
          points += m.count;
        }
        ns[deep] = (double)(clock() - start) / CLOCKS_PER_SEC / 4000 * 1e9;
        CHECK(points > 0);
      }
      printf("%s-%s: %.0f ns apart, %.0f ns overlapping\n", row_a->name, row_b->name, ns[0], ns[1]);
    }
}

// Walls that overlap and lean or cross by a degree hold at both ends of what they share, and do not rock
// about the deepest place; those that do not overlap touch in one place.
static void leaning_walls(void **state) {
  (void)state;
  static const CnShapeKind kinds[] = {CN_SHAPE_CAPSULE, CN_SHAPE_CYLINDER};
  for (int n = 0; n < 16; n++) {
    CnQuat lean = turn(n & 8 ? cn_vec3(1, 0, 0) : cn_vec3(0, 1, 0), .017);
    CniPlaced a = {.kind = kinds[n & 1], .pose = {CN_VEC3_ZERO, turn(cn_vec3(0, 1, 0), .3)}};
    CniPlaced b = {.kind = kinds[n >> 1 & 1], .pose = a.pose};
    a.size[0] = b.size[0] = .05;
    a.size[1] = b.size[1] = .06;
    double apart = n & 4 ? .105 : .091;
    b.pose.position = cn_rotate(a.pose.rotation, cn_vec3(apart, 0, 0));
    b.pose.rotation = cn_qmul(a.pose.rotation, lean);
    CniManifold m;
    cni_collide(&a, &b, 1e-4, &m);
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < m.count; i++) {
      double z = cn_unrotate(a.pose.rotation, m.points[i].point).z;
      low = cn_min(low, z);
      high = cn_max(high, z);
    }
    if (n & 4)
      CHECK(m.count <= 1);
    else
      CHECK(low < -.055 && high > .055);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(special_pairs_agree),
      cmocka_unit_test(all_kinds_by_brute_force),
      cmocka_unit_test(touching_is_exact),
      cmocka_unit_test(extreme_sizes),
      cmocka_unit_test(exchange_turns_the_normal),
      cmocka_unit_test(exchange_is_exact),
      cmocka_unit_test(degenerate_poses),
      cmocka_unit_test(area_and_lasting_names),
      cmocka_unit_test(margin_is_kept),
      cmocka_unit_test(leaning_walls),
      cmocka_unit_test(time_of_a_pair),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
