// SPDX-License-Identifier: Apache-2.0
// Force elements through the interface: definitions, ids, lists, changes, what is refused, memory.
#include "check.h"
#include "alloc.h"
#include "toys.h"

#include <string.h>

#include "world/world.h"

static CnForceDef spring(CnBodyId a, CnBodyId b) {
  CnForceDef def = cn_force_def_default(CN_FORCE_SPRING);
  def.body_a = a;
  def.body_b = b;
  def.stiffness = 100;
  def.name = "strut";
  return def;
}

static int count_forces(const CnWorld *world) {
  int count = 0;
  for (CnForceId f = cn_world_next_force(world, (CnForceId){0, 0}); f.slot;
       f = cn_world_next_force(world, f))
    count++;
  CnWorldInfo info;
  cn_world_info(world, &info);
  CHECK(info.force_count == count);
  return count;
}

static void kinds_have_names(void **state) {
  (void)state;
  assert_string_equal(cn_force_kind_name(CN_FORCE_SPRING), "spring");
  CHECK(cn_force_kind_name(CN_FORCE_KIND_COUNT) == NULL);
  CHECK(cn_force_kind_name((CnForceKind)-1) == NULL);
}

static void life(void **state) {
  (void)state;
  CnWorld *world = toy_world(0.01);
  CnMaterialId none = {0, 0};
  CnBodyId a = toy_ball(world, 0.1, cn_vec3(0, 0, 1), none);
  CnBodyId b = toy_ball(world, 0.1, cn_vec3(1, 0, 1), none);
  CnForceDef def = spring(a, b), got;
  CnForceId first, second, third;
  CHECK_OK(cn_force_create(world, &def, &first));
  def.rest_length = 0.5;
  CHECK_OK(cn_force_create(world, &def, &second));
  def.body_b = (CnBodyId){0, 0};
  CHECK_OK(cn_force_create(world, &def, &third));
  CHECK(count_forces(world) == 3);

  CHECK_OK(cn_force_def(world, first, &got));
  CHECK_NEAR(got.rest_length, 1, 1e-15); // as it was at creation
  assert_string_equal(got.name, "strut");
  got.damping = 3;
  CHECK_OK(cn_force_set(world, first, &got));
  CHECK_OK(cn_force_def(world, first, &got));
  CHECK(got.damping == 3);
  got.body_a = b;
  got.body_b = a;
  CHECK_STATUS(cn_force_set(world, first, &got), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "body_a"));

  CnForceState now;
  CHECK_OK(cn_force_state(world, second, &now));
  CHECK_NEAR(now.force.x, -50, 1e-12); // b is pulled to a
  CHECK_NEAR(now.length, 1, 1e-15);
  CHECK_NEAR(now.energy, 12.5, 1e-12);

  CHECK_OK(cn_force_destroy(world, first));
  CHECK_STATUS(cn_force_destroy(world, first), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_force_state(world, first, &now), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_force_def(world, first, &got), CN_INVALID_HANDLE);
  CHECK_STATUS(cn_force_set(world, first, &def), CN_INVALID_HANDLE);
  CHECK_OK(cn_force_state(world, third, &now));
  CHECK(count_forces(world) == 2);
  CHECK_OK(cn_body_destroy(world, b)); // with what hangs on it
  CHECK(count_forces(world) == 1);
  CHECK_STATUS(cn_force_state(world, second, &now), CN_INVALID_HANDLE);
  CHECK_OK(cn_force_state(world, third, &now));
  toy_steps(world, 3);
  CHECK_OK(cn_body_destroy(world, a));
  CHECK(count_forces(world) == 0);
  toy_steps(world, 1);
  cn_world_destroy(world);
}

static void refuses(CnWorld *world, CnForceDef def, CnStatus status, const char *word) {
  CnForceId id = {7, 7};
  CHECK_STATUS(cn_force_create(world, &def, &id), status);
  if (!strstr(cn_error_message(), word)) print_message("%s\n", cn_error_message());
  CHECK(strstr(cn_error_message(), word) != NULL);
  CHECK(id.slot == 0 && id.generation == 0);
  CHECK(count_forces(world) == 0);
}

static void refused(void **state) {
  (void)state;
  CnWorld *world = toy_world(0.01);
  CnMaterialId none = {0, 0};
  CnBodyId floor = toy_floor(world);
  CnBodyId a = toy_ball(world, 0.1, cn_vec3(0, 0, 1), none);
  CnBodyId b = toy_ball(world, 0.1, cn_vec3(0, 0, 1), none);
  CnBodyId ground = {0, 0}, gone = toy_ball(world, 0.1, cn_vec3(3, 0, 1), none);
  CHECK_OK(cn_body_destroy(world, gone));
  CnForceDef def = spring(a, b);
  refuses(world, def, CN_INVALID_ARGUMENT, "rest_length");
  def.rest_length = 1;
  def.tag = 0;
  refuses(world, def, CN_INVALID_ARGUMENT, "default function");
  def = spring(a, ground);
  def.stiffness = -1;
  refuses(world, def, CN_INVALID_ARGUMENT, "stiffness");
  def = spring(a, ground);
  def.linear_drag = 1;
  def.frame_a.rotation = (CnQuat){0, 0, 0, 0};
  refuses(world, def, CN_INVALID_ARGUMENT, "frame_a");
  def = spring(a, ground);
  def.kind = (CnForceKind)99;
  refuses(world, def, CN_INVALID_ARGUMENT, "kind");
  refuses(world, spring(a, a), CN_INVALID_ARGUMENT, "both");
  refuses(world, spring(floor, ground), CN_INVALID_ARGUMENT, "dynamic");
  refuses(world, spring(ground, ground), CN_INVALID_HANDLE, "body");
  refuses(world, spring(gone, a), CN_INVALID_HANDLE, "body");
  cn_world_destroy(world);
}

// ---- memory ----

static TestAlloc alloc;

static void set_in_hook(void *context, CnWorld *world, double time, double step) {
  (void)context;
  (void)step;
  CnForceId id = cn_world_next_force(world, (CnForceId){0, 0});
  CnForceDef def;
  if (!id.slot) return;
  CHECK_OK(cn_force_def(world, id, &def));
  def.stiffness = 100 + 1000 * time;
  CHECK_OK(cn_force_set(world, id, &def));
}

#define TWICE(call)                                                                                \
  do {                                                                                             \
    if ((call) != CN_OK) CHECK_OK(call);                                                           \
  } while (0)

// Two balls on springs, on a plane; each allocation may fail once.
static uint64_t live(int64_t fail_at) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world;
  test_alloc_init(&alloc);
  def.allocator = test_alloc_hook(&alloc);
  def.hooks.before_step = set_in_hook;
  CHECK_OK(cn_world_create(&def, &world));
  CnMaterialId none = {0, 0};
  toy_floor(world);
  CnBodyId a = toy_ball(world, 0.1, cn_vec3(0, 0, 0.1), none);
  CnBodyId b = toy_ball(world, 0.1, cn_vec3(0.4, 0, 0.1), none);
  if (fail_at > 0) test_alloc_fail_at(&alloc, fail_at);
  CnForceDef force = spring(a, b);
  CnForceId id;
  force.rest_length = 0.3;
  TWICE(cn_force_create(world, &force, &id));
  CHECK(count_forces(world) == 1);
  force.body_b = (CnBodyId){0, 0};
  TWICE(cn_force_create(world, &force, &id));
  for (int i = 0; i < 5; i++) TWICE(cn_world_step(world, NULL));
  uint64_t hash = cn_world_hash(world);
  int64_t count = alloc.allocation_count;
  if (fail_at == 0) { // nothing is allocated once it runs
    for (int i = 0; i < 40; i++) CHECK_OK(cn_world_step(world, NULL));
    CHECK(alloc.allocation_count == count);
  }
  cn_world_destroy(world);
  test_alloc_check_clean(&alloc);
  return hash;
}

// All kinds on two balls; after save and restore the same steps, the same ids, the same names.
static void survive_a_restore(void **state) {
  (void)state;
  static unsigned char data[1 << 16], again[1 << 16];
  CnWorldDef quick = cn_world_def_default();
  quick.solver.tolerance = 1e-6; // wrong bytes may ask for any number of iterations
  quick.time_step = 0.01;
  CnWorld *world = toy_world_from(&quick), *other = toy_world(0.02);
  CnMaterialId none = {0, 0};
  CnBodyId a = toy_ball(world, 0.1, cn_vec3(0, 0, 1), none);
  CnBodyId b = toy_ball(world, 0.1, cn_vec3(1, 0, 1), none);
  CnForceDef def = spring(a, b), got;
  CnForceId strut, lost, id;
  CnForceState now;
  def.damping = 2;
  CHECK_OK(cn_force_create(world, &def, &lost));
  CHECK_OK(cn_force_create(world, &def, &strut));
  CHECK_OK(cn_force_destroy(world, lost));
  def = cn_force_def_default(CN_FORCE_DRAG);
  def.body_b = a;
  def.linear_drag = 3;
  def.quadratic_drag = 0.5;
  CHECK_OK(cn_force_create(world, &def, &id));
  def = cn_force_def_default(CN_FORCE_CONSTANT);
  def.body_b = b;
  def.force = cn_vec3(1, 2, 90);
  def.torque = cn_vec3(0, 0.1, 0);
  def.body_fixed = 1;
  CHECK_OK(cn_force_create(world, &def, &id));
  toy_steps(world, 20);
  size_t size, second;
  CHECK_OK(cn_world_save(world, data, sizeof data, &size));
  CHECK_OK(cn_world_restore(other, data, size));
  CHECK(count_forces(other) == 3);
  CHECK_OK(cn_world_save(other, again, sizeof again, &second));
  CHECK(second == size);
  assert_memory_equal(data, again, size);
  CHECK_OK(cn_force_def(other, strut, &got));
  CHECK(got.stiffness == 100 && got.damping == 2);
  assert_string_equal(got.name, "strut");
  CHECK_OK(cn_force_def(other, id, &got));
  CHECK(got.kind == CN_FORCE_CONSTANT && got.force.z == 90 && got.body_fixed == 1);
  CHECK_STATUS(cn_force_state(other, (CnForceId){lost.slot, lost.generation}, &now),
               CN_INVALID_HANDLE);
  toy_steps(world, 20);
  toy_steps(other, 20);
  CHECK(cn_world_hash(world) == cn_world_hash(other));
  // each byte wrong in turn: refused, or a world that can still be stepped
  for (size_t i = 32; i < size; i += 3) {
    memcpy(again, data, size);
    again[i] ^= 0x40;
    cni_snapshot_seal(again, size);
    if (cn_world_restore(other, again, size) == CN_OK) cn_world_step(other, NULL);
  }
  cn_world_destroy(other);
  cn_world_destroy(world);
}

// A torsion spring that is wound up by 5 rad goes on from there after a restore.
static void turns_survive(void **state) {
  (void)state;
  CnWorld *world = toy_world(0.01), *other = toy_world(0.01);
  CnMaterialId none = {0, 0};
  CnForceDef def = cn_force_def_default(CN_FORCE_TORSION);
  def.body_b = toy_ball(world, 0.1, CN_VEC3_ZERO, none);
  def.torsion_stiffness = 1e-6;
  toy_set_twist(world, def.body_b, CN_VEC3_ZERO, cn_vec3(0, 0, 5));
  CnForceId id;
  CHECK_OK(cn_force_create(world, &def, &id));
  toy_steps(world, 100);
  static unsigned char data[20000];
  size_t size;
  CHECK_OK(cn_world_save(world, data, sizeof data, &size));
  CHECK_OK(cn_world_restore(other, data, size));
  CnForceState now, then;
  CHECK_OK(cn_force_state(world, id, &now));
  CHECK_OK(cn_force_state(other, id, &then));
  CHECK_NEAR(now.torque.z, -5e-6, 1e-8);
  CHECK(now.torque.z == then.torque.z && now.energy == then.energy);
  toy_steps(world, 100);
  toy_steps(other, 100);
  CHECK(cn_world_hash(world) == cn_world_hash(other));
  cn_world_destroy(world);
  cn_world_destroy(other);
}

// Three angles cannot all go round.
static void generic_turns(void **state) {
  (void)state;
  CnWorld *world = toy_world(0.01);
  CnMaterialId none = {0, 0};
  CnJointDef def = cn_joint_def_default(CN_JOINT_GENERIC);
  def.body_b = toy_ball(world, 0.1, CN_VEC3_ZERO, none);
  def.axes[3].upper = 5;
  CnJointId id;
  CHECK_OK(cn_joint_create(world, &def, &id)); // rx turns
  def.axes[4].lower = -4;
  CHECK_STATUS(cn_joint_create(world, &def, &id), CN_INVALID_ARGUMENT);
  assert_non_null(
      strstr(cn_error_message(), "rx of generic goes up to half a turn where ry turns"));
  cn_world_destroy(world);
}

static void memory(void **state) {
  (void)state;
  uint64_t hash = live(0);
  for (int64_t n = 1;; n++) {
    CHECK(live(n) == hash);
    if (!alloc.failed_count) break;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kinds_have_names),
                                     cmocka_unit_test(life),
                                     cmocka_unit_test(refused),
                                     cmocka_unit_test(survive_a_restore),
                                     cmocka_unit_test(turns_survive),
                                     cmocka_unit_test(generic_turns),
                                     cmocka_unit_test(memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
