// SPDX-License-Identifier: Apache-2.0
// Memory: every allocation fails once and leaves no trace; after warm-up a step allocates nothing;
// a body costs less than 2 KB, a contact less than half a KB.
#include "check.h"
#include "alloc.h"
#include "toys.h"

#include <string.h>

#define ROOM (1 << 18)

static TestAlloc alloc;
static unsigned char before[ROOM], after[ROOM], snapshot[ROOM];

static size_t save(const CnWorld *w, unsigned char *data) {
  size_t size;
  CHECK_OK(cn_world_save(w, data, ROOM, &size));
  return size;
}

// A call that may run out of memory once: then nothing has changed, and the same call succeeds.
#define TWICE(world, call)                                                                         \
  do {                                                                                             \
    size_t size_before = save((world), before);                                                    \
    CnStatus status = (call);                                                                      \
    if (status == CN_OK) break;                                                                    \
    CHECK_FAILED(status, CN_NO_MEMORY);                                                            \
    CHECK(save((world), after) == size_before);                                                    \
    assert_memory_equal(before, after, size_before);                                               \
    CHECK_OK(call);                                                                                \
  } while (0)

static void push(void *context, CnWorld *w, double time, double time_step) {
  (void)context;
  (void)time;
  (void)time_step;
  CnBodyId first = cn_world_next_body(w, (CnBodyId){0, 0});
  CnBodyId b = cn_world_next_body(w, first);
  CHECK_OK(cn_body_apply_force(w, b, cn_vec3(1, 0, 0), CN_VEC3_ZERO));
}

static void build(CnWorld *w) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnMaterialDef material_def = cn_material_def_default();
  CnMaterialId material;
  CnBodyId floor, last = {0, 0};
  CnShapeId shape;
  body.kind = CN_BODY_FIXED;
  TWICE(w, cn_material_create(w, &material_def, &material));
  TWICE(w, cn_body_create(w, &body, &floor));
  TWICE(w, cn_shape_create(w, floor, &plane, &shape));
  for (int i = 0; i < 20; i++) {
    CnBodyId b;
    CnShapeDef s = cn_shape_def_default(i % 2 ? CN_SHAPE_BOX : CN_SHAPE_SPHERE);
    body = cn_body_def_default();
    body.pose.position = cn_vec3(0.11 * (i % 4), 0.11 * (i / 4 % 2), 0.06 + 0.11 * (i / 8));
    s.radius = 0.05;
    s.half_size = cn_vec3(0.05, 0.05, 0.05);
    s.material = material;
    TWICE(w, cn_body_create(w, &body, &b));
    TWICE(w, cn_shape_create(w, b, &s, &shape));
    if (i % 4 == 3) {
      CnJointDef joint = cn_joint_def_default(CN_JOINT_DISTANCE);
      CnJointId id;
      joint.body_a = b;
      joint.body_b = last;
      TWICE(w, cn_joint_create(w, &joint, &id));
    }
    last = b;
  }
}

// The whole life of a small world with one allocation failing on the way; answers its hash.
static uint64_t live(int64_t fail_at) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *w, *other;
  CnPenetration penetration;
  test_alloc_init(&alloc);
  def.allocator = test_alloc_hook(&alloc);
  def.time_step = 5e-3;
  def.solver.max_iterations = 20;
  def.hooks.before_step = push;
  if (fail_at > 0) test_alloc_fail_at(&alloc, fail_at);
  if (cn_world_create(&def, &w) != CN_OK) {
    CHECK(w == NULL);
    test_alloc_check_clean(&alloc);
    CHECK_OK(cn_world_create(&def, &w));
  }
  build(w);
  for (int i = 0; i < 12; i++) TWICE(w, cn_world_step(w, NULL));
  TWICE(w, cn_world_penetration(w, &penetration));
  size_t size = save(w, snapshot);
  if (cn_world_create(&def, &other) != CN_OK) CHECK_OK(cn_world_create(&def, &other));
  TWICE(other, cn_world_restore(other, snapshot, size));
  TWICE(w, cn_world_restore(w, snapshot, size));
  for (int i = 0; i < 3; i++) {
    TWICE(w, cn_world_step(w, NULL));
    TWICE(other, cn_world_step(other, NULL));
  }
  uint64_t hash = cn_world_hash(w);
  CHECK(cn_world_hash(other) == hash);
  CnWorldInfo info;
  cn_world_info(w, &info);
  CHECK(info.contact_count >= 20 && info.joint_count == 5);
  cn_world_destroy(other);
  cn_world_destroy(w);
  test_alloc_check_clean(&alloc);
  return hash;
}

static void test_every_allocation_fails(void **state) {
  (void)state;
  uint64_t hash = live(0);
  int64_t count = alloc.allocation_count;
  CHECK(count > 50);
  for (int64_t n = 1; n <= count; n++) {
    CHECK(live(n) == hash);
    CHECK(alloc.failed_count == 1);
  }
}

// Nothing is left when the world cannot be created for lack of everything.
static void test_no_memory_at_all(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  CnWorld *w;
  test_alloc_init(&alloc);
  def.allocator = test_alloc_hook(&alloc);
  test_alloc_fail_from(&alloc, 1);
  CHECK_STATUS(cn_world_create(&def, &w), CN_NO_MEMORY);
  test_alloc_check_clean(&alloc);
}

// 1000 spheres: fall for a while, then 100 steps without an allocation, and memory in bounds.
static void test_pile(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  test_alloc_init(&alloc);
  def.allocator = test_alloc_hook(&alloc);
  def.time_step = 5e-3;
  def.solver.max_iterations = 20;
  CnWorld *w = toy_pile(&def, 1000);
  toy_steps(w, 150);
  int64_t warm = alloc.allocation_count;
  toy_steps(w, 100);
  CHECK(alloc.allocation_count == warm);

  CnWorldInfo info;
  cn_world_info(w, &info);
  CHECK(info.contact_count > 2000);
  CHECK(info.memory_bytes == alloc.live_bytes);
  CHECK(info.memory_peak_bytes == alloc.peak_bytes);
  double limit = 2048.0 * info.body_count + 512.0 * info.contact_count;
  print_message("%d bodies, %d contacts: %zu bytes of %.0f\n", (int)info.body_count,
                (int)info.contact_count, info.memory_bytes, limit);
  CHECK((double)info.memory_bytes <= limit);
  cn_world_destroy(w);
  test_alloc_check_clean(&alloc);
}

// Bouncing and sliding balls, and one on a hinge: after a while no step allocates, whoever makes it.
static void quiet(const char *integrator, const char *solver) {
  CnWorldDef def = cn_world_def_default();
  test_alloc_init(&alloc);
  def.allocator = test_alloc_hook(&alloc);
  def.integrator = integrator;
  def.solver = cn_solver_def_default(solver);
  def.solver.effort = CN_EFFORT_EXACT;
  if (def.solver.max_iterations > 30) def.solver.max_iterations = 30;
  def.time_step = 5e-3;
  CnWorld *w = toy_world_from(&def);
  CnMaterialId material = toy_material(w, .3, .5);
  CnJointDef hinge = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnJointId joint;
  toy_floor(w);
  for (int i = 0; i < 4; i++) {
    CnBodyId ball = toy_ball(w, .05, cn_vec3(.2 * i, 0, .051 + .01 * i), material);
    toy_set_twist(w, ball, cn_vec3(0, .1, 0), CN_VEC3_ZERO);
  }
  hinge.body_b = toy_ball(w, .05, cn_vec3(0, 1, 1), material);
  CHECK_OK(cn_joint_def_along(w, cn_vec3(.3, 1, 1), cn_vec3(0, 1, 0), &hinge));
  CHECK_OK(cn_joint_create(w, &hinge, &joint));
  toy_steps(w, 120);
  int64_t warm = alloc.allocation_count;
  toy_steps(w, 80);
  if (alloc.allocation_count != warm)
    fail_msg("%s, %s: %lld allocations", integrator, solver,
             (long long)(alloc.allocation_count - warm));
  cn_world_destroy(w);
  test_alloc_check_clean(&alloc);
}

static void test_quiet(void **state) {
  (void)state;
  for (int32_t i = 0; cn_integrator_name(i); i++) quiet(cn_integrator_name(i), "psor");
  for (int32_t i = 0; cn_solver_name(i); i++)
    if (strcmp(cn_solver_name(i), "lemke") != 0 && strcmp(cn_solver_name(i), "simplex") != 0)
      quiet("impulse", cn_solver_name(i));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_allocation_fails),
      cmocka_unit_test(test_no_memory_at_all),
      cmocka_unit_test(test_pile),
      cmocka_unit_test(test_quiet),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
