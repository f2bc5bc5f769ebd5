// SPDX-License-Identifier: Apache-2.0
// The table of shape kinds, row by row: every row is whole, and what its functions say fits together.
// A new kind is tested here without a line more.
#include "check.h"
#include "core/math.h"
#include "placed.h"

#include <string.h>

static CniPlaced random_of(CniRng *rng, int kind) {
  CnPose pose = {random_in_cube(rng, 2), random_rotation(rng)};
  CniPlaced s = placed_unit((CnShapeKind)kind, pose);
  for (int k = 0; k < CNI_SHAPE_SIZES; k++) s.size[k] = cni_rng_range(rng, 0.2, 1);
  return s;
}

// The surface point farthest along a direction of the shape's own frame.
static double reach(const CniPlaced *s, CnVec3 n) {
  uint32_t corner;
  const CniShapeKind *kind = cni_shape_kinds[s->kind];
  return cn_dot(n, kind->support(s, n, &corner)) + kind->rounding(s);
}

static void rows_are_whole(void **state) {
  (void)state;
  for (int k = 0; k < CN_SHAPE_KIND_COUNT; k++) {
    const CniShapeKind *row = cni_shape_kinds[k];
    CHECK(row && row->name && row->summary && row->fields);
    CHECK(strcmp(row->name, cn_shape_kind_name((CnShapeKind)k)) == 0);
    CHECK(row->bounds && row->inradius && row->outradius && row->mass && row->ray);
    int unbounded = cni_shape_unbounded((CnShapeKind)k);
    int surface = cni_shape_is_surface((CnShapeKind)k);
    CHECK(unbounded || surface || (row->rounding && row->support && row->face));
    for (int other = 0; other < k; other++) CHECK(strcmp(row->name, cni_shape_kinds[other]->name));
    size_t numbers = 0;
    for (const CniField *f = row->fields; f->name; f++) {
      CHECK(f->type == CNI_FIELD_REAL || f->type == CNI_FIELD_VEC3);
      CHECK(f->unit && f->sentence && f->offset + cni_field_size(f) <= sizeof(CnShapeDef));
      numbers += cni_field_size(f) / sizeof(double);
    }
    CHECK(numbers <= CNI_SHAPE_SIZES);
  }
  CHECK(!cn_shape_kind_name((CnShapeKind)-1) && !cn_shape_kind_name(CN_SHAPE_KIND_COUNT));
  CHECK(strcmp(cn_shape_kind_name(CN_SHAPE_SPHERE), "sphere") == 0);
  CHECK(strcmp(cn_shape_kind_name(CN_SHAPE_BOX), "box") == 0);
  CHECK(strcmp(cn_shape_kind_name(CN_SHAPE_PLANE), "plane") == 0);
}

static void sizes_go_there_and_back(void **state) {
  (void)state;
  CniRng rng = {3};
  for (int k = 0; k < CN_SHAPE_KIND_COUNT; k = next_convex(k)) {
    CniPlaced s = random_of(&rng, k);
    CnShapeDef def = cn_shape_def_default((CnShapeKind)k);
    cni_shape_unpack(s.size, &def);
    CHECK_OK(cni_shape_check(&def));
    double size[CNI_SHAPE_SIZES];
    cni_shape_pack(&def, size);
    size_t numbers = 0;
    for (const CniField *f = cni_shape_kinds[k]->fields; f->name; f++) {
      CHECK(cni_field_find(cni_shape_kinds[k]->fields, f->name) == f);
      numbers += cni_field_size(f) / sizeof(double);
      // each number alone makes the definition bad
      CnShapeDef bad = def;
      ((double *)cni_field_at(f, &bad))[0] = -1;
      CHECK_STATUS(cni_shape_check(&bad), CN_INVALID_ARGUMENT);
      CHECK(strstr(cn_error_message(), f->name));
    }
    for (size_t i = 0; i < CNI_SHAPE_SIZES; i++) CHECK(size[i] == (i < numbers ? s.size[i] : 0));
  }
  // every field once
  for (int32_t i = 0; cni_shape_field(i); i++)
    for (int32_t j = 0; j < i; j++)
      CHECK(strcmp(cni_shape_field(i)->name, cni_shape_field(j)->name));
}

// Bounds touch the shape on all six sides; the two balls touch it too, one from each side.
static void extent(void **state) {
  (void)state;
  CniRng rng = {5};
  for (int k = 0; k < CN_SHAPE_KIND_COUNT; k = next_convex(k)) {
    if (cni_shape_unbounded((CnShapeKind)k)) continue;
    for (int n = 0; n < 15; n++) {
      CniPlaced s = random_of(&rng, k);
      CniBounds b = cni_shape_bounds(&s);
      CnVec3 p = s.pose.position;
      for (int i = 0; i < 3; i++) {
        CnVec3 e = {i == 0, i == 1, i == 2};
        CHECK_NEAR(cn_dot(e, b.hi), cn_dot(e, p) + reach(&s, cn_unrotate(s.pose.rotation, e)),
                   1e-12);
        CHECK_NEAR(cn_dot(e, b.lo),
                   cn_dot(e, p) - reach(&s, cn_unrotate(s.pose.rotation, cn_neg(e))), 1e-12);
      }
      double in = cni_shape_inradius(&s), out = cni_shape_outradius(&s), least = INFINITY, most = 0;
      for (int i = 0; i < 4000; i++) {
        CnVec3 d = random_direction(&rng);
        uint32_t corner;
        CnVec3 c = cni_shape_kinds[k]->support(&s, d, &corner);
        CHECK(corner < CNI_FEATURE_FACE);
        CnVec3 surface = cn_madd(c, cni_shape_kinds[k]->rounding(&s), d);
        least = cn_min(least, reach(&s, d));
        most = cn_max(most, cn_norm(surface));
      }
      CHECK(least >= in - 1e-12 && most <= out + 1e-12);
      CHECK(least <= 1.3 * in && most >= 0.95 * out);
    }
  }
}

// Sides: corners go round, lie in one plane, belong to the core, and have its names.
static void faces(void **state) {
  (void)state;
  CniRng rng = {7};
  for (int k = 0; k < CN_SHAPE_KIND_COUNT; k = next_convex(k)) {
    if (cni_shape_unbounded((CnShapeKind)k)) continue;
    const CniShapeKind *kind = cni_shape_kinds[k];
    for (int n = 0; n < 500; n++) {
      CniPlaced s = random_of(&rng, k);
      CnVec3 d = random_direction(&rng);
      CniFace f;
      kind->face(&s, d, &f);
      CHECK(f.count >= 1 && f.count <= CNI_FACE_POINTS);
      uint32_t corner;
      double top = cn_dot(d, kind->support(&s, d, &corner)), highest = -INFINITY;
      for (int32_t i = 0; i < f.count; i++) {
        int32_t j = (i + 1) % f.count;
        highest = cn_max(highest, cn_dot(d, f.points[i]));
        CHECK(f.corner[i] < CNI_FEATURE_FACE);
        if (f.count == 1) continue;
        CHECK(f.edge[i] < CNI_FEATURE_FACE - 1 && f.edge[i] != f.corner[i]);
        CHECK(f.corner[i] != f.corner[j]);
        if (f.count == 2) continue;
        CnVec3 e = cn_sub(f.points[j], f.points[i]);
        CnVec3 next = cn_sub(f.points[(j + 1) % f.count], f.points[j]);
        CHECK_NEAR(cn_dot(e, f.normal), 0, 1e-12);
        CHECK(cn_dot(cn_cross(e, next), f.normal) > 0);
      }
      CHECK_NEAR(highest, top, 1e-12);
      if (f.count > 2) {
        CHECK_NEAR(cn_norm(f.normal), 1, 1e-12);
        CHECK_NEAR(cn_dot(f.normal, f.points[0]), reach(&s, f.normal) - kind->rounding(&s), 1e-12);
      }
    }
  }
}

// Rays from both sides along z measure the length of solid over each cell of a grid; summed up they
// are mass, centre and inertia.
static void mass_by_rays(void **state) {
  (void)state;
  CniRng rng = {11};
  for (int k = 0; k < CN_SHAPE_KIND_COUNT; k = next_convex(k)) {
    if (cni_shape_unbounded((CnShapeKind)k)) continue;
    CniPlaced s = random_of(&rng, k);
    CniMassProps p = cni_shape_mass(&s, 3);
    CniBounds b = cni_shape_bounds(&s);
    int n = 200;
    double dx = (b.hi.x - b.lo.x) / n, dy = (b.hi.y - b.lo.y) / n, m = 0;
    CnVec3 first = CN_VEC3_ZERO, normal;
    double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
    for (int i = 0; i < n * n; i++) {
      double x = b.lo.x + (i % n + 0.5) * dx, y = b.lo.y + (i / n + 0.5) * dy;
      CnVec3 below = {x, y, b.lo.z - 1}, above = {x, y, b.hi.z + 1};
      double up = cni_shape_ray(&s, below, cn_vec3(0, 0, 2), &normal);
      double down = cni_shape_ray(&s, above, cn_vec3(0, 0, -1), &normal);
      CHECK((up == INFINITY) == (down == INFINITY));
      if (up == INFINITY) continue;
      double lo = below.z + 2 * up, hi = above.z - down, c = 3 * dx * dy;
      CHECK(hi >= lo);
      double l = hi - lo, z1 = 0.5 * (hi * hi - lo * lo), z2 = (hi * hi * hi - lo * lo * lo) / 3;
      m += c * l;
      first = cn_add(first, cn_vec3(c * l * x, c * l * y, c * z1));
      xx += c * l * x * x, yy += c * l * y * y, zz += c * z2;
      xy += c * l * x * y, xz += c * z1 * x, yz += c * z1 * y;
    }
    CnVec3 g = cn_scale(1 / m, first);
    CHECK_REL(p.mass, m, 1e-3);
    CHECK_NEAR(cn_norm(cn_sub(p.centre, g)), 0, 1e-3);
    double size = p.inertia.xx + p.inertia.yy + p.inertia.zz;
    CHECK_NEAR(p.inertia.xx, yy + zz - m * (g.y * g.y + g.z * g.z), 2e-3 * size);
    CHECK_NEAR(p.inertia.yy, xx + zz - m * (g.x * g.x + g.z * g.z), 2e-3 * size);
    CHECK_NEAR(p.inertia.zz, xx + yy - m * (g.x * g.x + g.y * g.y), 2e-3 * size);
    CHECK_NEAR(p.inertia.xy, -(xy - m * g.x * g.y), 2e-3 * size);
    CHECK_NEAR(p.inertia.xz, -(xz - m * g.x * g.z), 2e-3 * size);
    CHECK_NEAR(p.inertia.yz, -(yz - m * g.y * g.z), 2e-3 * size);
  }
}

// Where a ray meets the surface the support plane of the normal goes through the point.
static void rays(void **state) {
  (void)state;
  CniRng rng = {13};
  for (int k = 0; k < CN_SHAPE_KIND_COUNT; k = next_convex(k)) {
    int hits = 0;
    for (int n = 0; n < 2000; n++) {
      CniPlaced s = random_of(&rng, k);
      s.pose = CN_POSE_ONE;
      CnVec3 o = random_in_cube(&rng, 4), d = random_direction(&rng), normal;
      double t = cni_shape_ray(&s, o, d, &normal);
      CHECK(t >= 0);
      if (t == INFINITY) continue;
      hits++;
      CHECK_NEAR(cn_norm(normal), 1, 1e-12);
      CHECK(cn_dot(normal, d) <= 1e-12);
      if (t > 0 && !cni_shape_unbounded((CnShapeKind)k))
        CHECK_NEAR(cn_dot(normal, cn_madd(o, t, d)), reach(&s, normal), 1e-8);
      CHECK(cni_shape_ray(&s, cn_madd(o, 0.5 * t, d), d, &normal) <= 0.5 * t * (1 + 1e-9) + 1e-9);
    }
    CHECK(hits > 10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_whole), cmocka_unit_test(sizes_go_there_and_back),
      cmocka_unit_test(extent),         cmocka_unit_test(faces),
      cmocka_unit_test(mass_by_rays),   cmocka_unit_test(rays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
