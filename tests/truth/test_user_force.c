// SPDX-License-Identifier: Apache-2.0
// Forces of the user's own, as elements and by the hook: evaluated at the stages (orbits by closed
// form, order), implicit in `impulse` where derivatives are given, kept in order by snapshots.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const CnTwist at_rest = {{0, 0, 0}, {0, 0, 0}};

static CnWorldDef def_of(const char *integrator, double h) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.time_step = h;
  def.gravity = CN_VEC3_ZERO;
  def.integration.tolerance = 1e-13;
  def.solver = cn_solver_def_default("simplex");
  def.solver.tolerance = 1e-14;
  return def;
}

static CnBodyId mass(CnWorld *world, double m, double inertia, CnVec3 at, CnTwist twist) {
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  body.mass = m;
  body.inertia = (CnSym3){inertia, inertia, inertia, 0, 0, 0};
  body.pose.position = at;
  body.twist = twist;
  CHECK_OK(cn_body_create(world, &body, &id));
  return id;
}

// ---- Kepler ----

static CnVec3 attraction(CnVec3 d) {
  double r2 = cn_norm2(d);
  return cn_scale(-1 / (r2 * sqrt(r2)), d);
}

static CnStatus to_centre(void *context, const CnForceSight *sight, CnForceEffect *effect) {
  (void)context;
  effect->force = attraction(cn_sub(sight->frame_b.position, sight->frame_a.position));
  return CN_OK;
}

static CnStatus hook(void *context, const CnWorld *world, double time, const CnStageBody *bodies,
                     int32_t count, CnTwist *loads) {
  (void)context;
  (void)world;
  (void)time;
  for (int32_t i = 0; i < count; i++) loads[i].velocity = attraction(bodies[i].centre);
  return CN_OK;
}

// Semi-axis 1, eccentricity 1/2, from the near end: the error of the place after `time`.
static double orbit(const char *integrator, double h, double tolerance, double time, int by_hook) {
  CnWorldDef def = def_of(integrator, h);
  def.integration.tolerance = tolerance;
  def.integration.step = tolerance > 0 ? 0 : h;
  if (by_hook) def.hooks.force = hook;
  CnWorld *world = toy_world_from(&def);
  CnTwist start = {{0, sqrt(3), 0}, {0, 0, 0}};
  CnBodyId id = mass(world, 1, 1, cn_vec3(.5, 0, 0), start);
  CnForceDef force = cn_force_def_default(CN_FORCE_USER);
  CnForceId force_id;
  force.body_b = id;
  force.function = to_centre;
  if (!by_hook) CHECK_OK(cn_force_create(world, &force, &force_id));
  toy_steps(world, (int)lround(time / h));
  double e = time; // Kepler's equation E - sin(E)/2 = t
  for (int i = 0; i < 60; i++) e -= (e - sin(e) / 2 - time) / (1 - cos(e) / 2);
  CnVec3 truth = {cos(e) - .5, sqrt(.75) * sin(e), 0};
  double error = cn_norm(cn_sub(toy_pose(world, id).position, truth));
  cn_world_destroy(world);
  return error;
}

static void kepler(void **state) {
  (void)state;
  for (int by_hook = 0; by_hook < 2; by_hook++) {
    CHECK_NEAR(orbit("hem5", .1, 1e-13, 10, by_hook), 0, 1e-10);
    CHECK_NEAR(orbit("rkf45", .1, 1e-13, 10, by_hook), 0, 1e-10);
  }
  static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};
  static const double order[3] = {4.8, 4.8, 1.9};
  for (int k = 0; k < 3; k++) {
    double coarse = orbit(names[k], .02, 0, 2, 0), fine = orbit(names[k], .01, 0, 2, 0);
    CHECK(log2(coarse / fine) > order[k]);
  }
  double coarse = orbit("impulse", .002, 1, 2, 0), fine = orbit("impulse", .001, 1, 2, 0);
  CHECK(log2(coarse / fine) > .9);
}

// A force that time drives: m x'' = cos(3 t).
static CnStatus shake(void *context, const CnForceSight *sight, CnForceEffect *effect) {
  (void)context;
  effect->force.x = cni_cos(3 * sight->time);
  return CN_OK;
}

static void driven(void **state) {
  (void)state;
  CnWorldDef def = def_of("hem5", .1);
  CnWorld *world = toy_world_from(&def);
  CnBodyId id = mass(world, 2, 1, CN_VEC3_ZERO, at_rest);
  CnForceDef force = cn_force_def_default(CN_FORCE_USER);
  CnForceId force_id;
  force.body_b = id;
  force.function = shake;
  CHECK_OK(cn_force_create(world, &force, &force_id));
  toy_steps(world, 20);
  CHECK_NEAR(toy_pose(world, id).position.x, (1 - cos(6)) / 18, 1e-11);
  cn_world_destroy(world);
}

// ---- stiff ----

// Spring to where a's frame is, in translation and turn, off the centre of b.
typedef struct Bushing {
  double k, d, k_turn, d_turn;
  int derivatives;
} Bushing;

static CnStatus bushing(void *context, const CnForceSight *s, CnForceEffect *effect) {
  const Bushing *b = context;
  CnVec3 x = cn_sub(s->frame_b.position, s->frame_a.position);
  CnVec3 u = cn_sub(s->twist_b.velocity, s->twist_a.velocity);
  CnQuat q = s->frame_b.rotation;
  CnVec3 turn = cn_scale(q.w < 0 ? -2 : 2, cn_vec3(q.x, q.y, q.z)); // small
  effect->force = cn_madd(cn_scale(-b->k, x), -b->d, u);
  effect->torque = cn_madd(cn_scale(-b->k_turn, turn), -b->d_turn, s->twist_b.spin);
  effect->stiff = b->derivatives;
  for (int i = 0; i < 3; i++) {
    effect->stiffness[i][i] = b->k;
    effect->damping[i][i] = b->d;
    effect->stiffness[3 + i][3 + i] = b->k_turn;
    effect->damping[3 + i][3 + i] = b->d_turn;
  }
  return CN_OK;
}

// 2 kg held at a point .3 m beside its centre.
static CnWorld *held(Bushing *data, double h, CnBodyId *id, CnForceId *force_id) {
  CnWorldDef def = def_of("impulse", h);
  def.gravity = cn_vec3(0, 0, -9.81);
  CnWorld *world = toy_world_from(&def);
  *id = mass(world, 2, .1, cn_vec3(.3, 0, 0), at_rest);
  CnForceDef force = cn_force_def_default(CN_FORCE_USER);
  force.body_b = *id;
  force.frame_b.position = cn_vec3(-.3, 0, 0);
  force.function = bushing;
  force.context = data;
  force.name = "bushing";
  CHECK_OK(cn_force_create(world, &force, force_id));
  return world;
}

static void stiff_is_implicit(void **state) {
  (void)state;
  Bushing data = {.k = 1e7, .d = 1e4, .k_turn = 1e6, .d_turn = 1e3, .derivatives = 1};
  CnBodyId id;
  CnForceId force;
  CnWorld *world = held(&data, .01, &id, &force);
  toy_steps(world, 400);
  CnPose pose = toy_pose(world, id);
  double turn = 2 * 9.81 * .3 / 1e6; // about y, downwards
  CHECK_NEAR(2 * pose.rotation.y, turn, 1e-12);
  CHECK_NEAR(pose.position.z, -2 * 9.81 / 1e7 - .3 * turn, 1e-11);
  CnForceState now;
  CHECK_OK(cn_force_state(world, force, &now));
  CHECK_NEAR(now.force.z, 2 * 9.81, 1e-5);
  CHECK_NEAR(now.torque.y, -2 * 9.81 * .3, 1e-5);
  cn_world_destroy(world);
  // without derivatives such a spring throws the body away
  data.derivatives = 0;
  world = held(&data, .01, &id, &force);
  CnStatus status = CN_OK;
  for (int i = 0; i < 400 && status == CN_OK; i++) status = cn_world_step(world, NULL);
  CHECK(status != CN_OK || cn_norm(toy_pose(world, id).position) > 1);
  cn_world_destroy(world);
}

// Soft ones: both ways are first order and agree with hem5.
static void soft_converges(void **state) {
  (void)state;
  double z[2][3];
  for (int derivatives = 0; derivatives < 2; derivatives++)
    for (int i = 0; i < 3; i++) {
      Bushing data = {.k = 400, .d = 4, .k_turn = 10, .d_turn = .2, .derivatives = derivatives};
      CnBodyId id;
      CnForceId force;
      CnWorld *world = held(&data, .002 / (1 << i), &id, &force);
      toy_steps(world, 100 << i);
      z[derivatives][i] = toy_pose(world, id).position.z;
      cn_world_destroy(world);
    }
  for (int k = 0; k < 2; k++) {
    double ratio = (z[k][0] - z[k][1]) / (z[k][1] - z[k][2]);
    CHECK(ratio > 1.8 && ratio < 2.2);
  }
  // extrapolated, they meet
  CHECK_NEAR(2 * z[0][2] - z[0][1], 2 * z[1][2] - z[1][1], 2e-5);
}

// ---- two bodies ----

// A force across the line of the two: what a feels is the opposite at the same point.
static CnStatus across(void *context, const CnForceSight *s, CnForceEffect *effect) {
  (void)context;
  CnVec3 x = cn_sub(s->frame_b.position, s->frame_a.position);
  effect->force = cn_add(cn_cross(cn_vec3(0, .3, 1), x), cn_scale(-2, x));
  effect->torque = cn_vec3(.1, .2, -.1);
  return CN_OK;
}

static void keeps_momentum(void **state) {
  (void)state;
  CnWorldDef def = def_of("hem5", .05);
  CnWorld *world = toy_world_from(&def);
  CnBodyId a = mass(world, 1, .1, CN_VEC3_ZERO, at_rest);
  CnBodyId b = mass(world, 3, .4, cn_vec3(1, .2, 0), at_rest);
  CnForceDef force = cn_force_def_default(CN_FORCE_USER);
  CnForceId id;
  force.body_a = a;
  force.body_b = b;
  force.frame_a.position = cn_vec3(.1, 0, .2);
  force.frame_b.position = cn_vec3(0, -.3, .1);
  force.function = across;
  CHECK_OK(cn_force_create(world, &force, &id));
  toy_steps(world, 20);
  CnWorldSums sums;
  cn_world_sums(world, &sums);
  CHECK(cn_norm(toy_twist(world, a).velocity) > .1);
  CHECK(cn_norm(sums.momentum) < 1e-12);
  CHECK(cn_norm(sums.angular_momentum) < 1e-10);
  cn_world_destroy(world);
}

// ---- misuse ----

static void snapshots(void **state) {
  (void)state;
  Bushing data = {.k = 1e7, .d = 1e4, .k_turn = 1e6, .d_turn = 1e3, .derivatives = 1};
  CnBodyId id;
  CnForceId force;
  CnWorld *world = held(&data, .01, &id, &force);
  toy_steps(world, 5);
  size_t size;
  CHECK_OK(cn_world_save(world, NULL, 0, &size));
  void *bytes = malloc(size);
  CHECK_OK(cn_world_save(world, bytes, size, &size));
  CnForceDef def;
  CHECK_OK(cn_force_def(world, force, &def));
  toy_steps(world, 5);
  uint64_t hash = cn_world_hash(world);
  CHECK_OK(cn_world_restore(world, bytes, size));
  CHECK_STATUS(cn_world_step(world, NULL), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "force 'bushing'") != NULL);
  CHECK(strstr(cn_error_message(), "cn_force_set") != NULL);
  CHECK_OK(cn_force_set(world, force, &def));
  toy_steps(world, 5);
  CHECK(cn_world_hash(world) == hash);
  free(bytes);
  cn_world_destroy(world);
}

static CnStatus fails(void *context, const CnForceSight *sight, CnForceEffect *effect) {
  (void)context;
  (void)sight;
  (void)effect;
  return cn_error_set(CN_INVALID_DATA, "the table ends here");
}

static CnStatus hook_fails(void *context, const CnWorld *world, double time,
                           const CnStageBody *bodies, int32_t count, CnTwist *loads) {
  (void)world, (void)time, (void)bodies, (void)count, (void)loads;
  return fails(context, NULL, NULL);
}

static void failure_ends_the_step(void **state) {
  (void)state;
  static const char *const names[3] = {"impulse", "hem5", "moreau-jean"};
  for (int k = 0; k < 6; k++) {
    CnWorldDef def = def_of(names[k % 3], .01);
    if (k >= 3) def.hooks.force = hook_fails;
    CnWorld *world = toy_world_from(&def);
    CnForceDef force = cn_force_def_default(CN_FORCE_USER);
    CnForceId id;
    force.body_b = mass(world, 1, 1, CN_VEC3_ZERO, at_rest);
    force.function = fails;
    if (k < 3) CHECK_OK(cn_force_create(world, &force, &id));
    uint64_t hash = cn_world_hash(world);
    CHECK_STATUS(cn_world_step(world, NULL), CN_INVALID_DATA);
    assert_string_equal(cn_error_message(), "the table ends here");
    CHECK(cn_world_hash(world) == hash);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kepler),
                                     cmocka_unit_test(driven),
                                     cmocka_unit_test(stiff_is_implicit),
                                     cmocka_unit_test(soft_converges),
                                     cmocka_unit_test(keeps_momentum),
                                     cmocka_unit_test(snapshots),
                                     cmocka_unit_test(failure_ends_the_step)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
