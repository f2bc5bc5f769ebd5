// SPDX-License-Identifier: Apache-2.0
// A pair that remembers which parts touched gives the answer of one without a past, to the last bit:
// shapes of all kinds that touch, rock, slide and now and then jump; hints of other pairs; and what
// is remembered is used.
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "geometry/geometry_private.h"
#include "geometry/pairs/convex_private.h"
#include "placed.h"

#define HULLS 6

static CniPlaced some_shape(CnShapeKind kind, CniRng *rng) {
  static const CniHull *hulls[HULLS];
  CniPlaced s = {.kind = kind, .pose = {CN_VEC3_ZERO, random_rotation(rng)}};
  for (int k = 0; k < CNI_SHAPE_SIZES; k++) s.size[k] = cni_rng_range(rng, .05, .1);
  if (kind == CN_SHAPE_BOX || kind == CN_SHAPE_CYLINDER) s.size[kind == CN_SHAPE_BOX ? 3 : 2] = 0;
  if (kind != CN_SHAPE_HULL) return s;
  int n = (int)cni_rng_range(rng, 0, HULLS - .01);
  if (!hulls[n]) {
    CnVec3 points[64];
    for (int i = 0; i < 8 + 11 * n; i++) {
      CnVec3 d = random_direction(rng);
      points[i] = cn_vec3(.1 * d.x, .08 * d.y, .07 * d.z);
    }
    hulls[n] = placed_hull(points, 8 + 11 * n);
  }
  s.hull = hulls[n];
  s.size[0] = n == 1 ? .01 : 0;
  return s;
}

// Near each other: from apart by a tenth of a size to overlapping by as much.
static void bring_near(const CniPlaced *a, CniPlaced *b, CniRng *rng) {
  b->pose.position = cn_scale(.15, random_direction(rng));
  for (int k = 0; k < 3; k++) {
    CniPlaces at = cni_places(a, b);
    double wide = k == 2 ? 6e-3 : 1e-3, gap = cni_rng_range(rng, -wide, wide);
    b->pose.position = cn_madd(b->pose.position, gap - at.gap, at.normal);
  }
}

static void check_same(const CniManifold *m, const CniManifold *t) {
  CHECK(m->count == t->count);
  if (m->count == 0) return;
  CHECK(memcmp(&m->normal, &t->normal, sizeof m->normal) == 0);
  for (int32_t i = 0; i < m->count; i++) {
    CHECK(memcmp(&m->points[i].point, &t->points[i].point, sizeof t->points[i].point) == 0);
    CHECK(m->points[i].gap == t->points[i].gap && m->points[i].feature == t->points[i].feature);
  }
}

static void move(CniPlaced *s, double by, CniRng *rng) {
  CnVec3 shift = random_in_cube(rng, by), axis = random_direction(rng);
  s->pose.position = cn_add(s->pose.position, shift);
  s->pose.rotation = cn_qunit(cn_qmul(turn(axis, 10 * by), s->pose.rotation));
}

// A cylinder and what its rims and its wall have parts for.
static int has_rim(const CniPlaced *a, const CniPlaced *b) {
  int curved = a->kind == CN_SHAPE_CONE || b->kind == CN_SHAPE_CONE ||
               a->kind == CN_SHAPE_ELLIPSOID || b->kind == CN_SHAPE_ELLIPSOID;
  return !curved && (a->kind == CN_SHAPE_CYLINDER || b->kind == CN_SHAPE_CYLINDER);
}

// The nearest places by the names of a contact are those that a search finds; is the name that of the parts?
static int named_places(const CniPlaced *a, const CniPlaced *b, const CniManifold *m,
                        const CniHint *hint) {
  uint32_t feature = m->points[0].feature, parts[2];
  CniPlaces found = cni_places(a, b), by_name = cni_places_of(a, b, feature, m->normal);
  CHECK_NEAR(by_name.gap, found.gap, 1e-9);
  if (a->kind > b->kind) feature = cni_feature_turned(feature);
  CnVec3 own = cn_unrotate(a->pose.rotation, m->normal);
  CnVec3 back = cn_neg(cn_unrotate(b->pose.rotation, m->normal));
  parts[0] = cni_part_named(a, feature >> 10 & 0x3ffu, own);
  parts[1] = cni_part_named(b, feature & 0x3ffu, back);
  return parts[0] == hint->parts[0] && parts[1] == hint->parts[1];
}

static void remembering_changes_nothing(void **state) {
  (void)state;
  static const CnShapeKind kinds[] = {CN_SHAPE_SPHERE,   CN_SHAPE_BOX,  CN_SHAPE_CAPSULE,
                                      CN_SHAPE_HULL,     CN_SHAPE_HULL, CN_SHAPE_CYLINDER,
                                      CN_SHAPE_CYLINDER, CN_SHAPE_CONE, CN_SHAPE_ELLIPSOID};
  CniRng rng = {11};
  CniHint hint = {0, 0, 0, {0, 0}}, other = hint;
  const char *text = getenv("CAIRN_AGAIN_PAIRS");
  int32_t known = 0, calls = 0, rims_known = 0, rims = 0, single = 0, named = 0,
          rounds = text ? atoi(text) : 1500;
  for (int32_t n = 0; n < rounds; n++) {
    CniPlaced a = some_shape(kinds[n % 9], &rng), b = some_shape(kinds[n / 9 % 9], &rng);
    bring_near(&a, &b, &rng);
    if (n % 3) hint = (CniHint){0, 0, 0, {0, 0}}; // or that of the pair before
    for (int32_t k = 0; k < 8; k++) {
      CniManifold warm, cold;
      double margin = k % 2 ? 4e-3 : 1e-9;
      uint32_t first = hint.parts[0], second = hint.parts[1];
      cni_collide_again(&a, &b, margin, &hint, &warm);
      cni_collide(&a, &b, margin, &cold);
      check_same(&warm, &cold);
      cni_collide_again(&a, &b, margin, &other, &warm);
      check_same(&warm, &cold);
      int32_t same = first != 0 && first == hint.parts[0] && second == hint.parts[1];
      int32_t rim = has_rim(&a, &b) && cold.count > 0;
      known += same;
      calls += cold.count > 0;
      rims_known += rim && same;
      if (cold.count == 1 && hint.parts[0] != 0) {
        single++;
        named += named_places(&a, &b, &cold, &hint);
      }
      rims += rim;
      move(&b, k == 6 ? 1e-2 : 1e-4, &rng);
    }
  }
  print_message("%d touching pairs, %d of them by the parts they touched with before\n", calls,
                known);
  print_message("%d with a cylinder, %d of them; %d single, %d by name\n", rims, rims_known, single,
                named);
  CHECK(known > calls / 2 && rims_known > rims / 2 && named > single / 2);
}

// Hints that make no sense: numbers of corners, edges and sides that are not there.
static void senseless_hints(void **state) {
  (void)state;
  CniRng rng = {12};
  for (int32_t n = 0; n < 4000; n++) {
    CnShapeKind ka = (CnShapeKind)(n % 8), kb = (CnShapeKind)(n / 8 % 8);
    if (cni_shape_unbounded(ka) || cni_shape_unbounded(kb)) continue;
    CniPlaced a = some_shape(ka, &rng), b = some_shape(kb, &rng);
    b.pose.position = cn_scale(.12, random_direction(&rng));
    CniHint hint = {0, 0, 0, {0, 0}};
    for (int k = 0; k < 2; k++)
      hint.parts[k] = (uint32_t)cni_rng_range(&rng, 0, 4.99) << 16 |
                      (uint32_t)cni_rng_range(&rng, 0, n % 2 ? 65535 : 40);
    CniManifold warm, cold;
    cni_collide_again(&a, &b, 1e-2, &hint, &warm);
    cni_collide(&a, &b, 1e-2, &cold);
    check_same(&warm, &cold);
  }
}

// A side that is uneven by 3e-8, which is one face of the hull all the same, is never taken for flat.
static void uneven_sides(void **state) {
  (void)state;
  CniRng rng = {13};
  CnVec3 block[8], tip[4] = {{0, 0, 0}, {.5, .1, 1}, {-.4, .5, 1}, {-.2, -.6, 1}};
  for (int i = 0; i < 8; i++) block[i] = cn_vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 0 : -1);
  block[4].z = 3e-8;
  CniPlaced a = {.kind = CN_SHAPE_HULL, .pose = CN_POSE_ONE, .hull = placed_hull(block, 8)};
  CniPlaced b = {.kind = CN_SHAPE_HULL, .pose = CN_POSE_ONE, .hull = placed_hull(tip, 4)};
  CHECK(a.hull->face_count == 6);
  for (int n = 0; n < 200; n++) {
    CniManifold m;
    CniHint hint = {0, 0, 0, {0, 0}};
    double x = cni_rng_range(&rng, -.9, .9), y = cni_rng_range(&rng, -.9, .9);
    b.pose.position = cn_vec3(x, y, cni_rng_range(&rng, -1e-3, 1e-3));
    for (int k = 0; k < 2; k++) {
      cni_collide_again(&a, &b, .01, &hint, &m);
      CHECK(m.count == 1);
      CHECK_NEAR(m.points[0].gap, cni_places(&a, &b).gap, 3e-8);
      CHECK(hint.parts[0] >> 16 != 3 && hint.parts[1] >> 16 != 3);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(remembering_changes_nothing),
                                     cmocka_unit_test(senseless_hints),
                                     cmocka_unit_test(uneven_sides)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
