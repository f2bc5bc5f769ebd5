// SPDX-License-Identifier: Apache-2.0
// Triggers tell what enters and leaves them, at the right step, without an impulse and without weight;
// pairs of bodies that are disabled do not meet. Both survive a snapshot.
#include <cairn/cairn.h>

#include "check.h"
#include "core/vec.h"
#include "placed.h"

#define STEP 1e-3
#define RADIUS .1

static CnWorld *empty_world(const char *integrator) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world;
  def.time_step = STEP;
  def.integrator = integrator;
  CHECK_OK(cn_world_create(&def, &world));
  return world;
}

static CnBodyId add(CnWorld *world, CnBodyKind kind, CnVec3 at, CnShapeDef shape, CnShapeId *id) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  def.kind = kind;
  def.pose.position = at;
  CHECK_OK(cn_body_create(world, &def, &body));
  CHECK_OK(cn_shape_create(world, body, &shape, id));
  return body;
}

static CnShapeDef ball(void) {
  CnShapeDef def = cn_shape_def_default(CN_SHAPE_SPHERE);
  def.radius = RADIUS;
  return def;
}

static CnShapeDef slab(double half, int trigger) {
  CnShapeDef def = cn_shape_def_default(CN_SHAPE_BOX);
  def.half_size = cn_vec3(1, 1, half);
  def.trigger = trigger;
  return def;
}

// Steps in which the one shape entered and left the other, 0: did not.
typedef struct Passage {
  int entered, left, others;
} Passage;

static void note(const CnWorld *world, int n, CnShapeId trigger, CnShapeId other, Passage *p) {
  const CnContactEvent *events;
  int32_t count;
  cn_world_events(world, &events, &count);
  for (int32_t i = 0; i < count; i++) {
    const CnContactEvent *e = &events[i];
    int ours = e->shape_a.slot == trigger.slot && e->shape_b.slot == other.slot;
    if (ours && e->kind == CN_TRIGGER_ENTERED && !p->entered)
      p->entered = n;
    else if (ours && e->kind == CN_TRIGGER_LEFT && !p->left)
      p->left = n;
    else
      p->others++;
  }
}

// From 1 m above a slab of .2 m: the ball enters after falling .8 m and leaves after 1.2 m.
static void falls_through(void **state) {
  static const char *const integrators[] = {"impulse", "moreau-jean", "hem5", "rkf45"};
  (void)state;
  for (int k = 0; k < 4; k++) {
    CnWorld *world = empty_world(integrators[k]);
    CnShapeId zone, own;
    Passage p = {0, 0, 0};
    add(world, CN_BODY_FIXED, CN_VEC3_ZERO, slab(.1, 1), &zone);
    CnBodyId body = add(world, CN_BODY_DYNAMIC, cn_vec3(0, 0, 1), ball(), &own);
    for (int n = 1; n <= 600; n++) {
      CHECK_OK(cn_world_step(world, NULL));
      note(world, n, zone, own, &p);
    }
    CHECK_NEAR(p.entered * STEP, sqrt(2 * .8 / 9.81), 1.5 * STEP);
    CHECK_NEAR(p.left * STEP, sqrt(2 * 1.2 / 9.81), 1.5 * STEP);
    CHECK(p.others == 0);
    CnTwist twist;
    CHECK_OK(cn_body_twist(world, body, &twist));
    CHECK_NEAR(twist.velocity.z, -9.81 * .6, 1e-9);
    cn_world_destroy(world);
  }
}

// A world that is saved while the ball is inside says the same as one that is not.
static void survives_a_snapshot(void **state) {
  (void)state;
  CnWorld *world = empty_world("impulse"), *copy = empty_world("impulse");
  CnShapeId zone, own;
  Passage p = {0, 0, 0}, q = {0, 0, 0};
  static char data[1 << 16];
  size_t size;
  add(world, CN_BODY_FIXED, CN_VEC3_ZERO, slab(.1, 1), &zone);
  add(world, CN_BODY_DYNAMIC, cn_vec3(0, 0, 1), ball(), &own);
  for (int n = 1; n <= 450; n++) CHECK_OK(cn_world_step(world, NULL));
  CHECK_OK(cn_world_save(world, data, sizeof data, &size));
  CHECK_OK(cn_world_restore(copy, data, size));
  for (int n = 451; n <= 550; n++) {
    CHECK_OK(cn_world_step(world, NULL));
    CHECK_OK(cn_world_step(copy, NULL));
    note(world, n, zone, own, &p);
    note(copy, n, zone, own, &q);
  }
  CHECK(p.entered == 0 && p.left > 0 && p.left == q.left && q.entered == 0);
  CHECK(cn_world_hash(world) == cn_world_hash(copy));
  cn_world_destroy(world);
  cn_world_destroy(copy);
}

// On a body of its own it moves along and weighs nothing; what is destroyed inside has left.
static void weighs_nothing(void **state) {
  (void)state;
  CnWorld *world = empty_world("impulse");
  CnShapeId own, halo, other;
  CnShapeDef zone = ball();
  Passage p = {0, 0, 0};
  zone.radius = .5;
  zone.trigger = 1;
  CnBodyId body = add(world, CN_BODY_DYNAMIC, CN_VEC3_ZERO, ball(), &own);
  CHECK_OK(cn_shape_create(world, body, &zone, &halo));
  CnBodyId near = add(world, CN_BODY_DYNAMIC, cn_vec3(.4, 0, 0), ball(), &other);
  CnBodyInfo info;
  CHECK_OK(cn_body_info(world, body, &info));
  CHECK_NEAR(info.mass, 4.0 / 3 * 3.14159265358979323846 * 1e-3 * 1000, 1e-12);
  CHECK_OK(cn_world_step(world, NULL));
  note(world, 1, halo, other, &p);
  CHECK_OK(cn_body_destroy(world, near));
  CHECK_OK(cn_world_step(world, NULL));
  note(world, 2, halo, other, &p);
  CHECK(p.entered == 1 && p.left == 2 && p.others == 0);
  cn_world_destroy(world);
}

// A box through a floor that it does not meet, and onto it once it does.
static void disabled_pairs(void **state) {
  (void)state;
  CnWorld *world = empty_world("impulse"), *copy = empty_world("impulse");
  CnShapeId shape;
  static char data[1 << 16];
  size_t size;
  CnPose pose;
  CnBodyId floor = add(world, CN_BODY_FIXED, cn_vec3(0, 0, -.1), slab(.1, 0), &shape);
  CnBodyId one = add(world, CN_BODY_DYNAMIC, cn_vec3(0, 0, .2), ball(), &shape);
  CnBodyId two = add(world, CN_BODY_DYNAMIC, cn_vec3(.5, 0, .2), ball(), &shape);
  CHECK(cn_pair_disable(world, one, one) == CN_INVALID_ARGUMENT);
  CHECK_OK(cn_pair_disable(world, two, one)); // apart, to have more than one
  CHECK_OK(cn_pair_disable(world, one, floor));
  CHECK_OK(cn_pair_disable(world, floor, one)); // twice is once
  CHECK_OK(cn_world_save(world, data, sizeof data, &size));
  CHECK_OK(cn_world_restore(copy, data, size));
  for (int n = 0; n < 500; n++) {
    CHECK_OK(cn_world_step(world, NULL));
    CHECK_OK(cn_world_step(copy, NULL));
  }
  CHECK(cn_world_hash(world) == cn_world_hash(copy));
  CHECK_OK(cn_body_pose(world, one, &pose));
  CHECK_NEAR(pose.position.z, .2 - 9.81 / 2 * .25, 5e-3);
  CHECK_OK(cn_body_pose(world, two, &pose));
  CHECK_NEAR(pose.position.z, RADIUS, 1e-4);
  // met again
  CHECK_OK(cn_pair_enable(copy, one, floor));
  pose = (CnPose){{0, 0, .2}, CN_QUAT_ONE};
  CHECK_OK(cn_body_set_pose(copy, one, &pose));
  CHECK_OK(cn_body_set_twist(copy, one, &(CnTwist){{0, 0, 0}, {0, 0, 0}}));
  for (int n = 0; n < 500; n++) CHECK_OK(cn_world_step(copy, NULL));
  CHECK_OK(cn_body_pose(copy, one, &pose));
  CHECK_NEAR(pose.position.z, RADIUS, 1e-4);
  CHECK_OK(cn_body_destroy(world, one));
  CHECK(cn_pair_disable(world, one, two) == CN_INVALID_HANDLE);
  CHECK_OK(cn_world_step(world, NULL));
  cn_world_destroy(world);
  cn_world_destroy(copy);
}

// A ball falls through a ball at rest that it does not meet, by every integrator.
static void disabled_balls(void **state) {
  (void)state;
  const char *name;
  for (int32_t i = 0; (name = cn_integrator_name(i)); i++) {
    CnWorld *world = empty_world(name);
    CnShapeId shape;
    CnPose pose;
    CnBodyId still = add(world, CN_BODY_FIXED, CN_VEC3_ZERO, ball(), &shape);
    CnBodyId one = add(world, CN_BODY_DYNAMIC, cn_vec3(0, 0, .5), ball(), &shape);
    CHECK_OK(cn_pair_disable(world, one, still));
    for (int n = 0; n < 500; n++) CHECK_OK(cn_world_step(world, NULL));
    CHECK_OK(cn_body_pose(world, one, &pose));
    CHECK_NEAR(pose.position.z, .5 - 9.81 / 2 * .25, 5e-3);
    cn_world_destroy(world);
  }
}

// Triggers of several kinds among shapes of several kinds, some of them off the origin of their body: what
// has entered after a step is what overlaps, pair by pair.
#define ZONES 12
#define OTHERS 60
static CnShapeDef some_shape(int32_t n, CniRng *rng) {
  static const CnShapeKind kinds[] = {CN_SHAPE_BOX, CN_SHAPE_SPHERE, CN_SHAPE_CAPSULE,
                                      CN_SHAPE_CONE, CN_SHAPE_ELLIPSOID};
  CnShapeDef def = cn_shape_def_default(kinds[n % 5]);
  def.radius = .1;
  def.half_length = .2;
  def.half_size = cn_vec3(.1, .2, .3);
  def.pose = (CnPose){random_in_cube(rng, .3), random_rotation(rng)};
  return def;
}

static void finds_what_overlaps(void **state) {
  (void)state;
  CnWorld *world = empty_world("impulse");
  CnShapeId zones[ZONES], others[OTHERS];
  CniRng rng = {4};
  for (int32_t n = 0; n < ZONES + OTHERS; n++) {
    int zone = n < ZONES;
    CnShapeDef def = some_shape(n, &rng);
    if (n == 0) def = cn_shape_def_default(CN_SHAPE_PLANE);
    def.trigger = zone;
    def.category = zone ? 1 : 2;
    def.mask = zone ? 2 : 1;
    CnVec3 at = n == 0 ? cn_vec3(0, 0, -.8) : random_in_cube(&rng, 1);
    add(world, zone ? CN_BODY_FIXED : CN_BODY_DYNAMIC, at, def,
        zone ? &zones[n] : &others[n - ZONES]);
  }
  CHECK_OK(cn_world_step(world, NULL));
  int32_t inside = 0;
  for (int32_t i = 0; i < ZONES; i++)
    for (int32_t k = 0; k < OTHERS; k++) {
      CnClosest closest;
      Passage p = {0, 0, 0};
      CHECK_OK(cn_shape_closest(world, zones[i], others[k], &closest));
      note(world, 1, zones[i], others[k], &p);
      CHECK(p.entered == (closest.gap <= 0));
      inside += p.entered;
    }
  CHECK(inside > 20);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(falls_through),  cmocka_unit_test(survives_a_snapshot),
      cmocka_unit_test(weighs_nothing), cmocka_unit_test(disabled_pairs),
      cmocka_unit_test(disabled_balls), cmocka_unit_test(finds_what_overlaps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
