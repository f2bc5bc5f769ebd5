// SPDX-License-Identifier: Apache-2.0
// Two boxes at random against measures found in other ways.
//
// Distance: min |p_b - p_a| over both boxes is a convex problem; accelerated projected gradients
// solve it, and the answer proves itself: any two points give an upper bound, the gap between the
// boxes' shadows along the line through them a lower one. Depth: the least of the 15 axes in world
// vectors. Area of contact: corners of the intersection of two rectangles by trying all pairs of
// lines.
#include "check.h"
#include "core/math.h"
#include "placed.h"

#include <stdlib.h>

static CniManifold collide(const CniPlaced *a, const CniPlaced *b, double margin) {
  CniManifold m;
  cni_collide(a, b, margin, &m);
  CHECK(m.count >= 0 && m.count <= CNI_MAX_POINTS);
  for (int i = 0; i < m.count; i++) {
    CHECK(m.points[i].gap <= margin);
    if (i > 0) CHECK(m.points[i].feature > m.points[i - 1].feature); // sorted, none twice
    CHECK(m.points[i].feature < 16 + 144);
  }
  if (m.count) CHECK_NEAR(cn_norm(m.normal), 1, 1e-13);
  return m;
}

static double least_gap(const CniManifold *m) {
  double gap = INFINITY;
  for (int i = 0; i < m->count; i++) gap = fmin(gap, m->points[i].gap);
  return gap;
}

static double scale_of(const CniPlaced *a, const CniPlaced *b) {
  return fmin(cni_shape_inradius(a), cni_shape_inradius(b));
}

// ---- measures ---------------------------------------------------------------------------------

static CnVec3 axis_of(const CniPlaced *box, int k) {
  return cn_rotate(box->pose.rotation, cn_vec3(k == 0, k == 1, k == 2));
}

// How far a box reaches from its centre along a unit vector.
static double reach(const CniPlaced *box, CnVec3 n) {
  double sum = 0;
  for (int k = 0; k < 3; k++) sum += box->size[k] * fabs(cn_dot(n, axis_of(box, k)));
  return sum;
}

// Gap between the shadows along n, from a to b.
static double shadow_gap(const CniPlaced *a, const CniPlaced *b, CnVec3 n) {
  return cn_dot(n, cn_sub(b->pose.position, a->pose.position)) - reach(a, n) - reach(b, n);
}

static double best_of_15(const CniPlaced *a, const CniPlaced *b) {
  double best = -INFINITY;
  for (int i = 0; i < 15; i++) {
    CnVec3 n = i < 3   ? axis_of(a, i)
               : i < 6 ? axis_of(b, i - 3)
                       : cn_cross(axis_of(a, (i - 6) / 3), axis_of(b, (i - 6) % 3));
    double length = cn_norm(n);
    if (length < 1e-6) continue;
    n = cn_scale(1 / length, n);
    best = fmax(best, fmax(shadow_gap(a, b, n), shadow_gap(a, b, cn_neg(n))));
  }
  return best;
}

static CnVec3 clamp_local(CnVec3 p, CnVec3 h) {
  return cn_vec3(cn_clamp(p.x, -h.x, h.x), cn_clamp(p.y, -h.y, h.y), cn_clamp(p.z, -h.z, h.z));
}

typedef struct Distance {
  double lower, upper; // of the distance; lower < 0: nothing proved
  CnVec3 way;          // shortest way found
} Distance;

static Distance measure(const CniPlaced *a, const CniPlaced *b, double tolerance) {
  CnVec3 p = {0, 0, 0}, q = {0, 0, 0}, yp = p, yq = q;
  Distance best = {-INFINITY, INFINITY, {0, 0, 0}};
  double theta = 1;
  for (int n = 0; n < 20000; n++) {
    // half a gradient step: the Hessian's largest eigenvalue is 2
    CnVec3 d = cn_sub(cn_pose_point(b->pose, yq), cn_pose_point(a->pose, yp));
    CnVec3 p2 = clamp_local(cn_madd(yp, 0.5, cn_unrotate(a->pose.rotation, d)), placed_half(a));
    CnVec3 q2 = clamp_local(cn_madd(yq, -0.5, cn_unrotate(b->pose.rotation, d)), placed_half(b));
    // momentum, dropped where it leads uphill
    CnVec3 sp = cn_sub(p2, p), sq = cn_sub(q2, q);
    double uphill = cn_dot(cn_sub(yp, p2), sp) + cn_dot(cn_sub(yq, q2), sq);
    double next = uphill > 0 ? 1 : 0.5 * (1 + sqrt(1 + 4 * theta * theta));
    double beta = uphill > 0 ? 0 : (theta - 1) / next;
    theta = next;
    yp = cn_madd(p2, beta, sp);
    yq = cn_madd(q2, beta, sq);
    p = p2;
    q = q2;
    d = cn_sub(cn_pose_point(b->pose, q), cn_pose_point(a->pose, p));
    double upper = cn_norm(d);
    if (upper < best.upper) {
      best.upper = upper;
      best.way = d;
    }
    if (upper > 0) best.lower = fmax(best.lower, shadow_gap(a, b, cn_scale(1 / upper, d)));
    if (best.upper - best.lower < tolerance || best.upper < tolerance) break;
  }
  return best;
}

// ---- placements -------------------------------------------------------------------------------

static double log_range(CniRng *rng, double lo, double hi) {
  return lo * pow(hi / lo, cni_rng_unit(rng));
}

// Two boxes near each other: sizes over two decades, poses of every sort, apart by `gap` or so
// along a random direction (mostly less than that, for corners do not meet head on).
static void random_pair(CniRng *rng, double gap, CniPlaced *a, CniPlaced *b) {
  CniPlaced *box[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    double x = log_range(rng, 0.05, 2), y = log_range(rng, 0.05, 2), z = log_range(rng, 0.05, 2);
    *box[i] = placed_box(random_in_cube(rng, 0.5), random_rotation(rng), cn_vec3(x, y, z));
  }
  double sort = cni_rng_unit(rng);
  if (sort < 0.1) b->pose.rotation = a->pose.rotation;
  if (sort >= 0.1 && sort < 0.25) { // all but parallel, by angles down to round-off
    CnQuat little = turn(random_direction(rng), log_range(rng, 1e-12, 1));
    b->pose.rotation = cn_qunit(cn_qmul(a->pose.rotation, little));
  }
  if (sort >= 0.25 && sort < 0.35) { // turned about a common axis
    CnQuat yaw = turn(cn_vec3(0, 0, 1), cni_rng_range(rng, -3, 3));
    b->pose.rotation = cn_qunit(cn_qmul(a->pose.rotation, yaw));
  }
  CnVec3 d = random_direction(rng);
  double away = cni_rng_range(rng, 0.5, 1) * (reach(a, d) + reach(b, d)) + gap;
  b->pose.position = cn_madd(a->pose.position, away, d);
}

// ---- tests ------------------------------------------------------------------------------------

static void apart_or_not(void **state) {
  (void)state;
  CniRng rng = {17};
  int apart = 0, overlapping = 0, corners = 0;
  for (int n = 0; n < 10000; n++) {
    CniPlaced a, b;
    random_pair(&rng, cni_rng_range(&rng, -0.1, 0.2), &a, &b);
    double margin = 0.3, scale = scale_of(&a, &b);
    CniManifold m = collide(&a, &b, margin);
    Distance d = measure(&a, &b, 1e-9);
    double least = least_gap(&m);
    if (d.lower > 1e-7) {
      CHECK_NEAR(d.upper, d.lower, 1e-4);
      // the stated tolerances: a thousandth, and the band within which a corner belongs to a face
      double tolerance = 1.1e-3 * d.upper + 1.5e-4 * scale + (d.upper - d.lower);
      if (d.lower > margin + tolerance) CHECK(m.count == 0);
      if (d.upper > margin - tolerance) continue;
      apart++;
      CHECK(m.count >= 1);
      CHECK_NEAR(least, d.upper, tolerance);
      // the normal is the shortest way, to 4 degrees where a nearly parallel face stands for it
      if (d.upper > 0.01 * scale) CHECK(cn_dot(m.normal, d.way) > 0.9976 * d.upper);
      if (best_of_15(&a, &b) < 0.99 * d.lower) {
        corners++;
        CHECK(cn_dot(m.normal, d.way) > (1 - 1e-6) * d.upper);
      }
    } else {
      // the two measures must agree on touching; then the least depth of all axes is the depth
      double s = best_of_15(&a, &b);
      CHECK(s < 2e-5);
      overlapping++;
      CHECK(m.count >= 1);
      CHECK_NEAR(least, s, 1.1e-3 * fabs(s) + 1.5e-4 * scale + 2e-5);
    }
  }
  // the test is about something
  CHECK(apart > 1000 && overlapping > 1000 && corners > 200);
}

// Over a face or at crossing edges nothing is approximate: gap and normal to round-off.
static void exact_where_axes_are(void **state) {
  (void)state;
  CniRng rng = {23};
  int checked = 0, touching = 0;
  for (int n = 0; n < 20000; n++) {
    CniPlaced a, b;
    random_pair(&rng, 0, &a, &b);
    CniManifold m = collide(&a, &b, 0);
    double s = best_of_15(&a, &b);
    if (m.count == 0) {
      CHECK(s > -1e-12);
      continue;
    }
    // the axis that was chosen, measured by shadows, is the gap unless a corner was moved
    touching++;
    double by_shadow = shadow_gap(&a, &b, m.normal), least = least_gap(&m);
    CHECK(by_shadow <= s + 1e-12);
    checked += fabs(by_shadow - s) < 1e-12 && fabs(least - s) < 1e-12;
  }
  CHECK(checked > 0.85 * touching); // the rest: nearly parallel faces for edges
  CHECK(touching > 5000);
}

// Points lie on both surfaces, half the gap to either side.
static double off_surface(const CniPlaced *box, CnVec3 p) {
  CnVec3 l = cn_pose_local(box->pose, p), h = placed_half(box);
  return fmax(fabs(l.x) - h.x, fmax(fabs(l.y) - h.y, fabs(l.z) - h.z));
}
static void points_are_midway(void **state) {
  (void)state;
  CniRng rng = {29};
  for (int n = 0; n < 20000; n++) {
    CniPlaced a, b;
    random_pair(&rng, 0.05, &a, &b);
    CniManifold m = collide(&a, &b, 0.1);
    double scale = scale_of(&a, &b);
    for (int i = 0; i < m.count; i++) {
      CniPoint p = m.points[i];
      double out_a = off_surface(&a, cn_madd(p.point, -0.5 * p.gap, m.normal));
      double out_b = off_surface(&b, cn_madd(p.point, 0.5 * p.gap, m.normal));
      // in the surface of both, but for corners moved by less than the band, and edges that lie
      // along each other but for 0.26 degrees
      int along = m.count == 2 && p.feature < 16 && p.gap > 0;
      double length = fmax(cni_shape_outradius(&a), cni_shape_outradius(&b));
      double tolerance = 2e-4 * scale + (along ? 0.005 * length : 0);
      CHECK_NEAR(out_a, 0, tolerance);
      CHECK_NEAR(out_b, 0, tolerance);
    }
  }
}

static void exchange(void **state) {
  (void)state;
  CniRng rng = {31};
  int same = 0, total = 0;
  for (int n = 0; n < 20000; n++) {
    CniPlaced a, b;
    random_pair(&rng, 0.02, &a, &b);
    CniManifold m = collide(&a, &b, 0.1), back = collide(&b, &a, 0.1);
    double scale = scale_of(&a, &b);
    CHECK((m.count == 0) == (back.count == 0) ||
          fabs(least_gap(m.count ? &m : &back) - 0.1) < 1e-3);
    if (!m.count || !back.count) continue;
    double s = best_of_15(&a, &b);
    CHECK_NEAR(least_gap(&m), least_gap(&back), 2.2e-3 * fabs(s) + 3e-4 * scale);
    // the same points with the names exchanged; to the last digit wherever no tie between nearly
    // parallel faces had to be broken
    double parallel = 0;
    for (int i = 0; i < 9; i++)
      parallel = fmax(parallel, fabs(cn_dot(axis_of(&a, i / 3), axis_of(&b, i % 3))));
    double tolerance = parallel > 0.99 ? 1e-6 : 1e-12;
    total++;
    int matched = m.count == back.count && cn_norm(cn_add(m.normal, back.normal)) < tolerance;
    for (int i = 0; matched && i < m.count; i++) {
      uint32_t f = m.points[i].feature;
      uint32_t swapped = f < 16 ? f ^ 8 : 16 + 12 * ((f - 16) % 12) + (f - 16) / 12;
      int k = 0;
      while (k < back.count && back.points[k].feature != swapped) k++;
      matched = k < back.count && fabs(m.points[i].gap - back.points[k].gap) < tolerance &&
                cn_norm(cn_sub(m.points[i].point, back.points[k].point)) < 10 * tolerance;
    }
    same += matched;
  }
  CHECK(total > 5000);
  CHECK(same > 0.97 * total);
}

static void rigid_motion(void **state) {
  (void)state;
  CniRng rng = {37};
  for (int n = 0; n < 20000; n++) {
    CniPlaced a, b;
    random_pair(&rng, 0.02, &a, &b);
    CnPose motion = {random_in_cube(&rng, 2), random_rotation(&rng)};
    CniPlaced a2 = placed_moved(a, motion), b2 = placed_moved(b, motion);
    CniManifold m = collide(&a, &b, 0.1), moved = collide(&a2, &b2, 0.1);
    CHECK(m.count == moved.count);
    for (int i = 0; i < m.count; i++) {
      CHECK(m.points[i].feature == moved.points[i].feature);
      CHECK_NEAR(m.points[i].gap, moved.points[i].gap, 1e-12);
    }
    if (m.count)
      CHECK_NEAR(cn_norm(cn_sub(cn_rotate(motion.rotation, m.normal), moved.normal)), 0, 1e-11);
  }
}

// A motion no greater than `step` of any point of the box.
static CniPlaced nudged(CniRng *rng, CniPlaced box, double step) {
  double radius = cni_shape_outradius(&box);
  box.pose.position = cn_madd(box.pose.position, 0.5 * step, random_direction(rng));
  CnQuat little = turn(random_direction(rng), 0.5 * step / radius);
  box.pose.rotation = cn_qunit(cn_qmul(little, box.pose.rotation));
  return box;
}

// A random walk of b past a: the gap changes by no more than the way, names stay for long, and the
// corner contacts that stay move with the material.
static void walks(void **state) {
  (void)state;
  CniRng rng = {41};
  int steps = 0, renamed = 0, jumped = 0, far = 0;
  for (int walk = 0; walk < 300; walk++) {
    CniPlaced a, b;
    random_pair(&rng, 0, &a, &b);
    double step = 1e-3, scale = scale_of(&a, &b);
    CniManifold before = collide(&a, &b, 0.2);
    for (int n = 0; n < 100; n++) {
      b = nudged(&rng, b, step);
      CniManifold after = collide(&a, &b, 0.2);
      if (before.count && after.count) {
        steps++;
        int names = before.count == after.count;
        for (int i = 0; names && i < after.count; i++)
          names = before.points[i].feature == after.points[i].feature;
        renamed += !names;
        double change = fabs(least_gap(&after) - least_gap(&before));
        CHECK(change < step + 2e-3 * fabs(least_gap(&after)) + 3e-4 * scale);
        jumped += change > 1.01 * step;
        for (int i = 0; names && i < after.count; i++) {
          CnVec3 moved = cn_sub(after.points[i].point, before.points[i].point);
          far += after.points[i].feature < 16 && cn_norm(moved) > 10 * step;
        }
      }
      before = after;
    }
  }
  CHECK(steps > 15000 && renamed > 0);
  CHECK(renamed < 0.01 * steps);
  CHECK(jumped < 0.001 * steps);
  CHECK(far < 0.01 * steps);
}

// Whatever way b is pushed, if it ends in a there was a point that said so, and if the boxes are
// pushed straight apart none objects.
static void nothing_gets_through(void **state) {
  (void)state;
  CniRng rng = {43};
  int hits = 0;
  for (int n = 0; n < 100000 && hits < 3000; n++) {
    CniPlaced a, b;
    random_pair(&rng, 0.05, &a, &b);
    if (best_of_15(&a, &b) <= 1e-6) continue;
    double margin = 0.2;
    CnVec3 push = cn_scale(margin * cni_rng_unit(&rng), random_direction(&rng));
    CniPlaced c = b;
    c.pose.position = cn_add(b.pose.position, push);
    if (best_of_15(&a, &c) > -1e-3) continue; // not clearly inside
    CniManifold m = collide(&a, &b, margin);
    hits++;
    CHECK(m.count >= 1);
    CHECK(least_gap(&m) + cn_dot(m.normal, push) < 0.07 * cn_norm(push));
    Distance d = measure(&a, &b, 1e-9);
    CHECK(cn_dot(m.normal, d.way) > 0);
  }
  CHECK(hits >= 1000);
}

// ---- area of contact --------------------------------------------------------------------------

static int by_angle(const void *p, const void *q) {
  double a = *(const double *)p, b = *(const double *)q;
  return a < b ? -1 : a > b;
}

// Area of the convex polygon with these corners, about an inner point.
static double area_of(const CnVec3 *points, int count) {
  if (count < 3) return 0;
  CnVec3 c = {0, 0, 0};
  for (int i = 0; i < count; i++) c = cn_madd(c, 1.0 / count, points[i]);
  double order[64][3];
  for (int i = 0; i < count; i++) {
    order[i][0] = atan2(points[i].y - c.y, points[i].x - c.x);
    order[i][1] = points[i].x;
    order[i][2] = points[i].y;
  }
  qsort(order, (size_t)count, sizeof order[0], by_angle);
  double area = 0;
  for (int i = 0; i < count; i++) {
    const double *p = order[i], *q = order[(i + 1) % count];
    area += 0.5 * ((p[1] - c.x) * (q[2] - c.y) - (p[2] - c.y) * (q[1] - c.x));
  }
  return area;
}

// Intersection of two rectangles seen from above: all crossings of their eight border lines that
// lie in both.
static double common_area(const CniPlaced *a, const CniPlaced *b) {
  const CniPlaced *box[2] = {a, b};
  double line[8][3]; // n_x x + n_y y = c
  for (int i = 0; i < 8; i++) {
    CnVec3 n = cn_scale(i & 1 ? 1 : -1, axis_of(box[i / 4], i / 2 % 2));
    double h = i / 2 % 2 ? box[i / 4]->size[1] : box[i / 4]->size[0];
    line[i][0] = n.x;
    line[i][1] = n.y;
    line[i][2] = cn_dot(n, box[i / 4]->pose.position) + h;
  }
  CnVec3 corners[64];
  int count = 0;
  for (int i = 0; i < 8; i++)
    for (int k = i + 1; k < 8; k++) {
      double det = line[i][0] * line[k][1] - line[i][1] * line[k][0];
      if (fabs(det) < 1e-9) continue;
      double x = (line[i][2] * line[k][1] - line[i][1] * line[k][2]) / det;
      double y = (line[i][0] * line[k][2] - line[i][2] * line[k][0]) / det;
      int in = 1;
      for (int l = 0; l < 8; l++) in &= line[l][0] * x + line[l][1] * y < line[l][2] + 1e-12;
      if (in) corners[count++] = cn_vec3(x, y, 0);
    }
  return area_of(corners, count);
}

static void whole_area(void **state) {
  (void)state;
  CniRng rng = {47};
  int seen[CNI_MAX_POINTS + 1] = {0};
  for (int n = 0; n < 5000; n++) {
    CniPlaced a = placed_box(cn_vec3(0, 0, 0), turn(cn_vec3(0, 0, 1), cni_rng_range(&rng, -3, 3)),
                             cn_vec3(1, log_range(&rng, 0.1, 1), 0.5));
    double x = log_range(&rng, 0.1, 2), y = log_range(&rng, 0.1, 2);
    CniPlaced b =
        placed_box(random_in_cube(&rng, 1), turn(cn_vec3(0, 0, 1), cni_rng_range(&rng, -3, 3)),
                   cn_vec3(x, y, 0.5));
    b.pose.position.z = 1 + cni_rng_range(&rng, -0.001, 0.001);
    double area = common_area(&a, &b), scale = scale_of(&a, &b);
    CniManifold m = collide(&a, &b, 0.01);
    if (m.normal.z < 0.999) continue; // beside each other
    CnVec3 points[CNI_MAX_POINTS];
    for (int i = 0; i < m.count; i++) {
      points[i] = m.points[i].point;
      CHECK_NEAR(m.points[i].gap, b.pose.position.z - 1, 1e-13);
    }
    seen[m.count]++;
    CHECK_NEAR(area_of(points, m.count), area, 1e-12 + 8e-4 * scale * (1 + scale));
  }
  for (int i = 3; i <= 8; i++) CHECK(seen[i] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(apart_or_not),         cmocka_unit_test(exact_where_axes_are),
      cmocka_unit_test(points_are_midway),    cmocka_unit_test(exchange),
      cmocka_unit_test(rigid_motion),         cmocka_unit_test(walks),
      cmocka_unit_test(nothing_gets_through), cmocka_unit_test(whole_area),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
