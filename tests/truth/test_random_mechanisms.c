// SPDX-License-Identifier: Apache-2.0
// Random machines: 2 to 10 bodies in a tree of joints of any kind, some loops. The default solver keeps
// locked directions; nothing leaves the real numbers. With all that can act on them, by auto:
// unit.world.mechanisms.
#include "check.h"
#include "core/rng.h"
#include "core/vec.h"
#include "worlds.h"

#define MACHINES 150
#define STEPS 12

static CnVec3 somewhere(CniRng *rng, double size) {
  double x = cni_rng_range(rng, -size, size), y = cni_rng_range(rng, -size, size);
  return cn_vec3(x, y, cni_rng_range(rng, -size, size));
}

static int chance(CniRng *rng, double share) { return cni_rng_unit(rng) < share; }

static void join(CnWorld *world, CniRng *rng, CnBodyId a, CnBodyId b) {
  // none with curves
  CnJointDef def =
      cn_joint_def_default((CnJointKind)cni_rng_range(rng, 0, CN_JOINT_POINT_ON_CURVE));
  CnJointId id;
  def.body_a = a;
  def.body_b = b;
  CnVec3 axis = somewhere(rng, 1), at = somewhere(rng, 1);
  if (cn_joint_def_along(world, at, axis, &def) != CN_OK) return;
  if (cn_joint_create(world, &def, &id) != CN_OK) CHECK(cn_error_message()[0] != 0);
}

static CnWorld *random_machine(CniRng *rng) {
  CnWorldDef def = cn_world_def_default();
  CnBodyId bodies[10], ground = {0, 0};
  int32_t count = 2 + (int32_t)cni_rng_range(rng, 0, 8.99),
          loops = (int32_t)cni_rng_range(rng, 0, 2.99);
  def.time_step = 2e-3;
  CnWorld *world = world_make(&def);
  for (int32_t i = 0; i < count; i++) {
    CnVec3 j = {cni_rng_range(rng, .5, 1), cni_rng_range(rng, .5, 1), cni_rng_range(rng, .5, 1)};
    CnTwist twist = {somewhere(rng, 1), somewhere(rng, 1)};
    double mass = chance(rng, .3) ? cni_rng_range(rng, 100, 1000) : cni_rng_range(rng, .5, 5);
    CnPose pose = {somewhere(rng, 1), cni_quat_exp(somewhere(rng, 2))};
    bodies[i] = world_mass(world, mass, cn_scale(mass, j), pose, twist);
    int32_t parent = (int32_t)cni_rng_range(rng, -1, i);
    join(world, rng, i > 0 && parent >= 0 ? bodies[parent] : ground, bodies[i]);
  }
  for (int32_t i = 0; i < loops; i++) {
    int32_t a = (int32_t)cni_rng_range(rng, 0, count), b = (int32_t)cni_rng_range(rng, 0, count);
    if (a != b) join(world, rng, bodies[a], bodies[b]);
  }
  return world;
}

// Do rows follow from others? Once the machine has moved they contradict each other by its drift.
static int is_overconstrained(CnWorld *world) {
  CnMechanism m;
  CHECK_OK(cn_world_mechanism(world, &m, NULL, 0));
  return m.dependent_count > 0 || m.freedoms < 1;
}

static void check_finite(const CnWorld *world) {
  CnWorldSums sums;
  cn_world_sums(world, &sums);
  CHECK(isfinite(sums.kinetic_energy) && isfinite(sums.potential_energy));
}

// Joints without anything on their coordinates: locked directions hold at velocity level.
static void default_holds(void **state) {
  (void)state;
  CniRng rng = {42};
  int32_t open = 0;
  for (int32_t n = 0; n < MACHINES; n++) {
    CnWorld *world = random_machine(&rng);
    for (int32_t i = 0; i < STEPS; i++) {
      int loose = !is_overconstrained(world);
      open += !(world_step(world).solve.certificate.joint_speed <= 1e-7) && loose;
    }
    check_finite(world);
    cn_world_destroy(world);
  }
  print_message("%d steps with joints not held\n", (int)open);
  CHECK(open == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(default_holds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
