// SPDX-License-Identifier: Apache-2.0
// Rays, casts, overlaps and nearest places: closed forms, filters, order, and bad arguments.
#include <cairn/query.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "core/rng.h"
#include "core/vec.h"
#include "placed.h"
#include "toys.h"
#include "worlds.h"

static CnShapeId only_shape(const CnWorld *world, CnBodyId body) {
  return cn_body_shape(world, body, 0);
}

static CnShapeDef ball_def(CnVec3 at, double radius) {
  CnShapeDef def = cn_shape_def_default(CN_SHAPE_SPHERE);
  def.radius = radius;
  def.pose.position = at;
  return def;
}

// Three balls of radius 0.1 at x = 1, 2, 3 over the ground.
static CnWorld *three_balls(CnBodyId balls[3]) {
  CnWorldDef def = world_def_exact(1e-3);
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, .5, 0);
  world_floor(world, material);
  for (int i = 0; i < 3; i++)
    balls[i] = world_ball(world, .1, 1, cn_vec3(3 - i, 0, 1), CN_VEC3_ZERO, material);
  return world;
}

static void rays(void **state) {
  (void)state;
  CnBodyId balls[3];
  CnWorld *world = three_balls(balls);
  CnHit hit, hits[3];
  int32_t count;
  CHECK_OK(cn_world_ray(world, cn_vec3(0, 0, 1), cn_vec3(10, 0, 0), NULL, &hit));
  CHECK(hit.body.slot == balls[2].slot && hit.shape.slot == only_shape(world, balls[2]).slot);
  CHECK_NEAR(hit.at, .09, 1e-13);
  CHECK_NEAR(hit.point.x, .9, 1e-13);
  CHECK_NEAR(hit.normal.x, -1, 1e-13);
  CHECK_OK(cn_world_ray(world, cn_vec3(0, 0, 1), cn_vec3(.8, 0, 0), NULL, &hit));
  CHECK(hit.shape.slot == 0);
  CHECK_OK(cn_world_ray(world, cn_vec3(5, 5, 1), cn_vec3(0, 0, -4), NULL, &hit));
  CHECK_NEAR(hit.at, .25, 1e-13);
  CHECK_NEAR(hit.normal.z, 1, 1e-13);
  // all: in order of the way, more than there is room for
  CHECK_OK(cn_world_ray_all(world, cn_vec3(0, 0, 1), cn_vec3(10, 0, 0), NULL, hits, 2, &count));
  CHECK(count == 3);
  CHECK(hits[0].body.slot == balls[2].slot && hits[1].body.slot == balls[1].slot);
  CHECK_OK(cn_world_ray_all(world, cn_vec3(0, 0, 1), cn_vec3(10, 0, 0), NULL, hits, 3, &count));
  CHECK(hits[2].body.slot == balls[0].slot);
  CHECK_NEAR(hits[2].at, .29, 1e-13);
  // filters
  CnQueryFilter filter = cn_query_filter_default();
  filter.except = balls[2];
  CHECK_OK(cn_world_ray(world, cn_vec3(0, 0, 1), cn_vec3(10, 0, 0), &filter, &hit));
  CHECK(hit.body.slot == balls[1].slot);
  filter.mask = 2;
  CHECK_OK(cn_world_ray(world, cn_vec3(0, 0, 1), cn_vec3(10, 0, 0), &filter, &hit));
  CHECK(hit.shape.slot == 0);
  CHECK_STATUS(cn_world_ray(world, CN_VEC3_ZERO, CN_VEC3_ZERO, NULL, &hit), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_ray(world, cn_vec3(NAN, 0, 0), cn_vec3(1, 0, 0), NULL, &hit),
               CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_ray(world, CN_VEC3_ZERO, cn_vec3(1, 0, 0), NULL, NULL),
               CN_INVALID_ARGUMENT);
  cn_world_destroy(world);
}

static void casts_and_overlaps(void **state) {
  (void)state;
  CnBodyId balls[3];
  CnWorld *world = three_balls(balls);
  CnHit hit;
  CnShapeDef ball = ball_def(cn_vec3(0, 0, 1), .3);
  CHECK_OK(cn_world_cast(world, &ball, cn_vec3(6, 0, 0), NULL, &hit));
  CHECK(hit.body.slot == balls[2].slot);
  CHECK_NEAR(hit.at, .1, 1e-14);
  CHECK_NEAR(hit.point.x, .9, 1e-12);
  CHECK_NEAR(hit.normal.x, -1, 1e-12);
  CnShapeDef can = cn_shape_def_default(CN_SHAPE_CYLINDER);
  can.radius = .2;
  can.half_length = .5;
  can.pose.position = cn_vec3(0, 0, 5);
  CHECK_OK(cn_world_cast(world, &can, cn_vec3(0, 0, -9), NULL, &hit));
  CHECK_NEAR(hit.at, .5, 1e-14); // onto the ground
  // past the balls by a hair, and into one by a hair
  ball.pose.position = cn_vec3(2, -3, 1.4 + 1e-9);
  CHECK_OK(cn_world_cast(world, &ball, cn_vec3(0, 6, 0), NULL, &hit));
  CHECK(hit.shape.slot == 0);
  ball.pose.position.z = 1.4 - 1e-6;
  CHECK_OK(cn_world_cast(world, &ball, cn_vec3(0, 6, 0), NULL, &hit));
  CHECK(hit.body.slot == balls[1].slot);

  CnShapeId found[4];
  int32_t count;
  ball = ball_def(cn_vec3(1.5, 0, 1), .41);
  CHECK_OK(cn_world_overlap(world, &ball, NULL, found, 4, &count));
  CHECK(count == 2);
  CHECK(found[0].slot == only_shape(world, balls[1]).slot);
  CHECK(found[1].slot == only_shape(world, balls[2]).slot);
  ball.radius = 1;
  CHECK_OK(cn_world_overlap(world, &ball, NULL, found, 1, &count));
  CHECK(count == 3); // the ground is touched
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CHECK_STATUS(cn_world_cast(world, &plane, cn_vec3(1, 0, 0), NULL, &hit), CN_INVALID_ARGUMENT);
  plane.pose.position.z = 1;
  CHECK_OK(cn_world_overlap(world, &plane, NULL, found, 4, &count));
  CHECK(count == 3); // the balls; two half-spaces never meet
  CnShapeDef hull = cn_shape_def_default(CN_SHAPE_HULL);
  CHECK_STATUS(cn_world_cast(world, &hull, cn_vec3(1, 0, 0), NULL, &hit), CN_INVALID_HANDLE);
  cn_world_destroy(world);
}

static void nearest_places(void **state) {
  (void)state;
  CnBodyId balls[3];
  CnWorld *world = three_balls(balls);
  CnClosest c;
  CHECK_OK(cn_world_closest(world, cn_vec3(2, .5, 1), NULL, &c));
  CHECK(c.body.slot == balls[1].slot);
  CHECK_NEAR(c.gap, .4, 1e-13);
  CHECK_NEAR(c.shape_point.y, .1, 1e-13);
  CHECK_NEAR(c.normal.y, -1, 1e-13);
  CHECK_OK(cn_world_closest(world, cn_vec3(2, .5, .2), NULL, &c));
  CHECK_NEAR(c.gap, .2, 1e-13); // to the ground
  CHECK_OK(cn_world_closest(world, cn_vec3(2, 0, 1.05), NULL, &c));
  CHECK_NEAR(c.gap, -.05, 1e-14); // inside
  CHECK_OK(cn_shape_closest(world, only_shape(world, balls[0]), only_shape(world, balls[1]), &c));
  CHECK_NEAR(c.gap, .8, 1e-13);
  CHECK_NEAR(c.point.x, 2.9, 1e-13);
  CHECK_NEAR(c.shape_point.x, 2.1, 1e-13);
  CHECK_STATUS(cn_shape_closest(world, (CnShapeId){99, 1}, (CnShapeId){1, 1}, &c),
               CN_INVALID_HANDLE);
  cn_world_destroy(world);
}

// A cast of any kind against any other ends where they touch, and before they are apart.
static void casts_end_touching(void **state) {
  (void)state;
  CniRng rng = {7};
  for (int ka = 0; ka < CN_SHAPE_KIND_COUNT; ka = next_convex(ka))
    for (int kb = 0; kb < CN_SHAPE_KIND_COUNT; kb = next_convex(kb)) {
      if (cni_shape_unbounded((CnShapeKind)ka) || cni_shape_unbounded((CnShapeKind)kb)) continue;
      int hits = 0;
      for (int n = 0; n < 40; n++) {
        CniPlaced a = placed_unit((CnShapeKind)ka, CN_POSE_ONE), b = a;
        b = placed_unit((CnShapeKind)kb, CN_POSE_ONE);
        a.pose = (CnPose){cn_scale(8, random_direction(&rng)), random_rotation(&rng)};
        b.pose.rotation = random_rotation(&rng);
        for (int k = 0; k < CNI_SHAPE_SIZES; k++)
          a.size[k] = cni_rng_range(&rng, .1, 1), b.size[k] = cni_rng_range(&rng, .1, 1);
        CnVec3 way = cn_add(cn_scale(-1, a.pose.position), random_in_cube(&rng, 2));
        CniPlaces p;
        double t = cni_cast(&a, &b, way, 1, &p);
        CnPose start = a.pose;
        for (int k = 0; k <= 20; k++) {
          double at = cn_min(t, 1) * (1 - 1e-6) * k / 20;
          a.pose.position = cn_madd(start.position, at, way);
          CHECK(cni_places(&a, &b).gap > -1e-9);
        }
        if (t == INFINITY) continue;
        hits++;
        a.pose.position = cn_madd(start.position, t, way);
        CHECK_NEAR(cni_places(&a, &b).gap, 0, 1e-8);
        CHECK_NEAR(p.gap, 0, 1e-8);
      }
      CHECK(hits > 5);
    }
}

// Contacts of a body, and of a body and another, against a walk over all; also when one of their
// bodies has gone.
static void contacts_of(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.005;
  CnWorld *w = toy_pile(&def, 60);
  toy_steps(w, 150);
  for (int round = 0; round < 2; round++) {
    CnWorldInfo info;
    int32_t total = 0;
    cn_world_info(w, &info);
    for (CnBodyId a = cn_world_next_body(w, (CnBodyId){0, 0}); a.slot;
         a = cn_world_next_body(w, a)) {
      int32_t list[64], count, n = 0;
      CHECK_OK(cn_world_contacts_of(w, a, (CnBodyId){0, 0}, list, 64, &count));
      CHECK(count <= 64);
      for (int32_t i = 0; i < info.contact_count; i++) {
        CnContact c;
        CHECK_OK(cn_world_contact(w, i, &c));
        if (c.body_a.slot != a.slot && c.body_b.slot != a.slot) continue;
        CHECK(n < count && list[n] == i);
        n++;
        CnBodyId b = c.body_a.slot == a.slot ? c.body_b : c.body_a;
        int32_t pair[8], pairs;
        if (b.slot == 0) continue; // gone
        CHECK_OK(cn_world_contacts_of(w, a, b, pair, 8, &pairs));
        int found = 0;
        for (int32_t k = 0; k < pairs && k < 8; k++) found |= pair[k] == i;
        CHECK(found);
      }
      CHECK(n == count);
      total += count;
    }
    CHECK(total > 100);
    CnBodyId last = {0, 0};
    for (CnBodyId a = cn_world_next_body(w, last); a.slot; a = cn_world_next_body(w, a)) last = a;
    CHECK_OK(cn_body_destroy(w, last));
  }
  int32_t count;
  CHECK_STATUS(cn_world_contacts_of(w, (CnBodyId){77777, 1}, (CnBodyId){0, 0}, NULL, 0, &count),
               CN_INVALID_HANDLE);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rays),           cmocka_unit_test(casts_and_overlaps),
      cmocka_unit_test(nearest_places), cmocka_unit_test(casts_end_touching),
      cmocka_unit_test(contacts_of),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
