// SPDX-License-Identifier: Apache-2.0
// Any bytes as two shapes: kinds, sizes from 1e-9 to 1e9 m, poses on a coarse grid, which makes what
// is degenerate common, and points for hulls. They collide, once more after a little motion with and
// without what the pair remembers, to the same bits, or one is moved against the other.
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/geometry.h"

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "shapes: %s\n", what);
  abort();
}

typedef struct Bytes {
  const uint8_t *data;
  size_t left;
} Bytes;

static int take(Bytes *b) {
  if (b->left == 0) return 0;
  b->left--;
  return *b->data++;
}
// From -2 to 2 in steps of 1/64.
static double coarse(Bytes *b) { return (take(b) - 128) / 64.0; }

static double size_of(Bytes *b) { return ldexp(1, take(b) % 61 - 30); }

static CniHull *hull_of(Bytes *b, const CnAllocator *allocator, double size) {
  CnVec3 points[24];
  CniHull *hull = NULL;
  int32_t count = take(b) % 25;
  for (int32_t i = 0; i < count; i++) {
    double x = coarse(b), y = coarse(b);
    points[i] = cn_vec3(size * x, size * y, size * coarse(b));
  }
  if (cni_hull_create(allocator, "hull", points, count, &hull) == CN_OK) {
    require(hull->volume > 0 && hull->inradius > 0, "a hull without volume");
    require(hull->vertex_count + hull->face_count == hull->corner_count / 2 + 2, "Euler");
  }
  return hull;
}

// 0: it would be refused.
static int shape_of(Bytes *b, const CnAllocator *allocator, double size, CniPlaced *s) {
  CnShapeDef def = {.kind = (CnShapeKind)(take(b) % CN_SHAPE_KIND_COUNT), .density = 1};
  def.radius = size * (take(b) + 1) / 64;
  def.top_radius = size * take(b) / 64;
  def.half_length = size * (take(b) + 1) / 64;
  def.half_size = cn_vec3(def.radius, def.half_length, size * (take(b) + 1) / 64);
  int rounding = take(b);
  def.rounding = rounding % 2 ? size * rounding / 64 : 0;
  CnQuat q = {coarse(b), coarse(b), coarse(b), coarse(b)};
  def.pose.position = cn_vec3(size * coarse(b), size * coarse(b), size * coarse(b));
  def.pose.rotation = cn_qnorm2(q) > 0 ? cn_qunit(q) : CN_QUAT_ONE;
  if (cni_shape_is_surface(def.kind) || cni_shape_check(&def) != CN_OK) return 0;
  *s = cni_shape_placed(&def);
  if (cni_shape_needs_geometry(def.kind)) s->hull = hull_of(b, allocator, size);
  return !cni_shape_needs_geometry(def.kind) || s->hull;
}

static void collide(const CniPlaced *a, const CniPlaced *b, double margin, CniHint *hint,
                    CniManifold *m) {
  cni_collide_again(a, b, margin, hint, m);
  require(m->count >= 0 && m->count <= CNI_MAX_POINTS, "points");
  require(fabs(cn_norm(m->normal) - 1) < 1e-9, "normal");
  for (int32_t i = 0; i < m->count; i++) {
    require(m->points[i].gap <= margin, "gap");
    require(cn_vec3_finite(m->points[i].point), "point");
  }
}

// What a pair remembers does not change its answer.
static void same(const CniManifold *m, const CniManifold *t) {
  require(m->count == t->count, "remembered: count");
  if (m->count == 0) return;
  require(memcmp(&m->normal, &t->normal, sizeof m->normal) == 0, "remembered: normal");
  for (int32_t i = 0; i < m->count; i++)
    require(m->points[i].gap == t->points[i].gap && m->points[i].feature == t->points[i].feature,
            "remembered: point");
}

static void cast(const CniPlaced *a, const CniPlaced *b, CnVec3 way) {
  CniPlaces places;
  double t = cni_shape_unbounded(a->kind) ? 0 : cni_cast(a, b, way, 1, &places);
  require(t >= 0 && (t <= 1 || t == INFINITY), "time");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CnAllocator allocator = cn_allocator_default();
  Bytes bytes = {data, size};
  double size_a = size_of(&bytes), size_b = take(&bytes) % 2 ? size_a : size_of(&bytes);
  CniPlaced a = {.kind = CN_SHAPE_SPHERE}, b = a;
  int whole = shape_of(&bytes, &allocator, size_a, &a);
  whole = whole && shape_of(&bytes, &allocator, size_b, &b);
  if (whole) {
    CniHint kept = {0, 0, 0, {0, 0}}, none = kept;
    CniManifold m, t;
    collide(&a, &b, cn_max(size_a, size_b), &kept, &m);
    CnVec3 way = {size_a * coarse(&bytes), size_a * coarse(&bytes), size_a * coarse(&bytes)};
    if (take(&bytes) % 4 == 0) {
      cast(&a, &b, cn_scale(4, way));
    } else { // moved a little
      b.pose.position = cn_madd(b.pose.position, 1e-3, way);
      collide(&a, &b, 0, &kept, &m);
      collide(&a, &b, 0, &none, &t);
      same(&m, &t);
    }
  }
  cni_hull_destroy(&allocator, (CniHull *)(uintptr_t)a.hull);
  cni_hull_destroy(&allocator, (CniHull *)(uintptr_t)b.hull);
  return 0;
}
