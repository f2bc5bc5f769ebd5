// SPDX-License-Identifier: Apache-2.0
// Two meshes against convex shapes of the same corners: distances where they are apart, contacts where
// they overlap, the same whichever comes first; flat on flat without idle points.
#include "check.h"
#include "meshes.h"

#include <stdlib.h>

static CnAllocator allocator;

static CniMesh *make(MeshLists lists) {
  CniMesh *mesh;
  CnMeshDef def = mesh_def(&lists);
  CHECK_OK(cni_mesh_create(&allocator, NULL, "mesh", &def, &mesh));
  mesh_free(&lists);
  return mesh;
}

static CniPlaced placed(const CniMesh *mesh, CnPose pose) {
  return (CniPlaced){.kind = CN_SHAPE_MESH, .pose = pose, .mesh = mesh};
}

typedef struct Found {
  int32_t count;
  double deepest;
  CnVec3 normal, point; // of that
  uint32_t names[64];
} Found;

static void note(void *context, const CniManifold *m) {
  Found *f = context;
  for (int32_t i = 0; i < m->count; i++) {
    if (f->count < 64) f->names[f->count] = m->points[i].feature;
    f->count++;
    CHECK_NEAR(cn_norm(m->normal), 1, 1e-12);
    if (!(m->points[i].gap < f->deepest)) continue;
    f->deepest = m->points[i].gap;
    f->normal = m->normal;
    f->point = m->points[i].point;
  }
}

static Found touch(const CniPlaced *a, const CniPlaced *b, double margin) {
  Found f = {.deepest = INFINITY};
  cni_collide_all(a, b, margin, note, &f);
  return f;
}

// Boxes of triangles beside boxes: the distance to 1e-9, from far away to touching.
static void boxes(void **state) {
  (void)state;
  CniRng rng = {5};
  CnVec3 half_a = {.3, .2, .1}, half_b = {.4, .15, .25};
  for (int times = 0; times < 3; times++) {
    CniMesh *a = make(mesh_box(half_a, times)), *b = make(mesh_box(half_b, 2 - times));
    int apart = 0, shallow = 0;
    for (int n = 0; n < 400; n++) {
      CnPose pa = {random_in_cube(&rng, .6), random_rotation(&rng)};
      CnPose pb = {random_in_cube(&rng, .1), random_rotation(&rng)};
      CniPlaced ma = placed(a, pa), mb = placed(b, pb);
      CniPlaced ba = placed_box(pa.position, pa.rotation, half_a);
      CniPlaced bb = placed_box(pb.position, pb.rotation, half_b);
      CniPlaces truth = cni_places(&ba, &bb);
      if (truth.gap > 0) {
        CniPlaces got = cni_places(&ma, &mb);
        CHECK_NEAR(got.gap, truth.gap, 1e-9);
        CHECK_NEAR(cn_norm(cn_sub(cn_madd(got.a, got.gap, got.normal), got.b)), 0, 1e-9);
        Found f = touch(&ma, &mb, truth.gap * 1.001), back = touch(&mb, &ma, truth.gap * 1.001);
        CHECK(f.count > 0 && back.count == f.count);
        CHECK_NEAR(f.deepest, truth.gap, 1e-9);
        CHECK_NEAR(back.deepest, truth.gap, 1e-9);
        CHECK_NEAR(cn_norm(cn_add(f.normal, back.normal)), 0, 1e-6);
        CHECK(touch(&ma, &mb, truth.gap * .999).count == 0);
        apart++;
      } else if (truth.gap > -.01) {
        Found f = touch(&ma, &mb, .001);
        CHECK(f.count > 0 && f.deepest < 0 && f.deepest > -.05);
        shallow++;
      }
    }
    CHECK(apart > 50 && shallow > 2);
    cni_mesh_destroy(&allocator, a);
    cni_mesh_destroy(&allocator, b);
  }
}

// Balls of triangles beside the hulls of their corners.
static void balls(void **state) {
  (void)state;
  CniRng rng = {6};
  MeshLists lists = mesh_ball(.5, 1);
  const CniHull *hull = placed_hull(lists.vertices, lists.vertex_count);
  CniMesh *m = make(lists);
  for (int n = 0; n < 300; n++) {
    CnPose pa = {cn_scale(cni_rng_range(&rng, .96, 1.6), random_direction(&rng)),
                 random_rotation(&rng)};
    CnPose pb = {CN_VEC3_ZERO, random_rotation(&rng)};
    CniPlaced ma = placed(m, pa), mb = placed(m, pb);
    CniPlaced ha = {.kind = CN_SHAPE_HULL, .pose = pa, .hull = hull};
    CniPlaced hb = {.kind = CN_SHAPE_HULL, .pose = pb, .hull = hull};
    CniPlaces truth = cni_places(&ha, &hb);
    if (truth.gap > 0) CHECK_NEAR(cni_places(&ma, &mb).gap, truth.gap, 1e-9);
    if (truth.gap <= 0) CHECK(touch(&ma, &mb, 0).count > 0);
  }
  cni_mesh_destroy(&allocator, m);
}

// A box on a floor: its four corners, however both are cut, each with a name that stays as it slides.
static void flat(void **state) {
  (void)state;
  CniRng rng = {7};
  for (int times = 0; times < 4; times++) {
    MeshLists floor = mesh_floor(2, 2, 9, 9);
    mesh_shuffle(&floor, &rng, 2, 2, 9, 9);
    CniMesh *ground = make(floor), *box = make(mesh_box(cn_vec3(.3, .2, .1), times));
    CniPlaced below = placed(ground, CN_POSE_ONE);
    Found first = {0};
    for (int n = 0; n < 30; n++) {
      CnPose pose = {{.03 * n - .5, .02 * n, .1 - 1e-6}, turn(cn_vec3(0, 0, 1), .1 * n)};
      CniPlaced above = placed(box, pose);
      Found f = touch(&above, &below, 1e-3);
      CHECK(f.count == 4);
      CHECK_NEAR(f.deepest, -1e-6, 1e-12);
      CHECK_NEAR(f.normal.z, -1, 1e-12);
      if (n == 0) first = f;
      for (int i = 0; i < 4; i++) {
        int known = 0;
        for (int k = 0; k < 4; k++) known |= f.names[i] == first.names[k];
        CHECK(known);
      }
    }
    cni_mesh_destroy(&allocator, ground);
    cni_mesh_destroy(&allocator, box);
  }
}

// Over the rim of a table nothing lifts the box that hangs beside it.
static void beside(void **state) {
  (void)state;
  CniMesh *table = make(mesh_box(cn_vec3(1, 1, .5), 1)),
          *box = make(mesh_box(cn_vec3(.2, .2, .2), 0));
  CniPlaced t = placed(table, CN_POSE_ONE);
  CniPlaced b = placed(box, (CnPose){{1.2 - 1e-5, .1, .4}, CN_QUAT_ONE});
  Found f = touch(&b, &t, 1e-3);
  CHECK(f.count >= 4);
  CHECK_NEAR(f.normal.x, -1, 1e-9);
  CHECK_NEAR(f.deepest, -1e-5, 1e-12);
  cni_mesh_destroy(&allocator, table);
  cni_mesh_destroy(&allocator, box);
}

int main(void) {
  allocator = cn_allocator_default();
  const struct CMUnitTest tests[] = {cmocka_unit_test(boxes), cmocka_unit_test(balls),
                                     cmocka_unit_test(flat), cmocka_unit_test(beside)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
