// SPDX-License-Identifier: Apache-2.0
// What starts where it may not be (a hinge beyond its limit, a rope too long, torn anchors, a coupling
// that is off) comes to where it belongs and has no speed from it.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

static const CnTwist REST = {{0, 0, 0}, {0, 0, 0}};
static const CnVec3 Y = {0, 1, 0}, O = {0, 0, 0};

// Gravity counts for the speed of recovery; a load on each body of 2 kg takes the weight away.
static void lift(void *context, CnWorld *world, double time, double h) {
  (void)context, (void)time, (void)h;
  for (CnBodyId id = cn_world_next_body(world, (CnBodyId){0, 0}); id.slot;
       id = cn_world_next_body(world, id)) {
    CHECK_OK(
        cn_body_apply_force(world, id, cn_vec3(0, 0, 2 * 9.81), world_pose(world, id).position));
  }
}

static CnWorld *empty(double h) {
  CnWorldDef def = world_def_exact(h);
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-12;
  def.balance = 1;
  def.hooks.before_step = lift;
  return world_make(&def);
}

static CnBodyId rod(CnWorld *world, CnVec3 at) {
  return world_mass(world, 2, cn_vec3(0.2, 0.2, 0.01), world_at(at.x, at.y, at.z), REST);
}

// Never any energy, and adding up.
static void run(CnWorld *world, double seconds) {
  while (world_info(world).time < seconds) {
    world_step(world);
    CnWorldSums sums;
    CnStepBalance b;
    cn_world_sums(world, &sums);
    CHECK_OK(cn_world_balance(world, &b));
    CHECK(sums.kinetic_energy < 1e-9 * 2 * 9.81 * 0.5);
    CHECK_NEAR(b.residual.energy, 0, 1e-9);
    CHECK_NEAR(cn_norm(b.residual.angular_momentum), 0, 1e-9);
  }
}

static CnJointState state_of(const CnWorld *world, CnJointId joint) {
  CnJointState s;
  CHECK_OK(cn_joint_state(world, joint, &s));
  return s;
}

static CnJointId hinge(CnWorld *world, CnBodyId body, CnVec3 at, double lower) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_REVOLUTE);
  CnJointId id;
  def.body_b = body;
  def.axes[0].lower = lower;
  CHECK_OK(cn_joint_def_along(world, at, Y, &def));
  CHECK_OK(cn_joint_create(world, &def, &id));
  return id;
}

static const double STEPS[] = {0.01, 0.001};

static void limit(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorld *world = empty(STEPS[k]);
    CnJointId id = hinge(world, rod(world, cn_vec3(0, 0, -0.5)), O, 0.5);
    run(world, 1);
    CHECK_NEAR(state_of(world, id).coordinate[0], 0.5, 1e-8);
    CHECK_NEAR(state_of(world, id).error, 0, 1e-9);
    cn_world_destroy(world);
  }
}

static void rope(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorld *world = empty(STEPS[k]);
    CnJointDef def = cn_joint_def_default(CN_JOINT_ROPE);
    CnJointId id;
    def.body_a = rod(world, cn_vec3(0, 0, 0));
    def.body_b = rod(world, cn_vec3(0.3, 0, -2));
    def.frame_a.position = cn_vec3(0.1, 0, -0.5);
    def.frame_b.position = cn_vec3(0, 0, 0.5);
    def.distance = 0.5;
    CHECK_OK(cn_joint_create(world, &def, &id));
    run(world, 2);
    CHECK_NEAR(state_of(world, id).coordinate[0], 0.5, 1e-8);
    cn_world_destroy(world);
  }
}

static void torn(void **state) {
  (void)state;
  const CnJointKind kinds[] = {CN_JOINT_BALL, CN_JOINT_REVOLUTE, CN_JOINT_WELD};
  for (int k = 0; k < 6; k++) {
    CnWorld *world = empty(STEPS[k % 2]);
    CnJointDef def = cn_joint_def_default(kinds[k / 2]);
    CnJointId first, second;
    def.body_b = rod(world, cn_vec3(0, 0, -0.5));
    CHECK_OK(cn_joint_def_along(world, O, Y, &def));
    CHECK_OK(cn_joint_create(world, &def, &first)); // closed: stays so
    def.body_a = def.body_b;
    def.body_b = rod(world, cn_vec3(0, 0, -1.5));
    def.frame_a.position = cn_vec3(0, 0, -0.5);
    def.frame_b.position = cn_vec3(0.1, 0.15, 0.5 + 0.1);
    CHECK_OK(cn_joint_create(world, &def, &second));
    run(world, 2);
    CHECK_NEAR(state_of(world, first).error, 0, 1e-9);
    CHECK_NEAR(state_of(world, second).error, 0, 1e-8);
    CHECK_NEAR(state_of(world, second).turn_error, 0, 1e-8);
    cn_world_destroy(world);
  }
}

static void coupling(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    CnWorld *world = empty(STEPS[k % 2]);
    CnCouplingDef def = cn_coupling_def_default();
    CnCouplingId id;
    def.term_count = 2;
    def.terms[0] = (CnCouplingTerm){hinge(world, rod(world, O), O, -INFINITY), 0, 1};
    def.terms[1] = (CnCouplingTerm){
        hinge(world, rod(world, cn_vec3(1, 0, -0.4)), cn_vec3(1, 0, 0), -INFINITY), 0, 3};
    def.take_offset = 0;
    def.offset = 1;
    def.one_sided = k / 2;
    CHECK_OK(cn_coupling_create(world, &def, &id));
    run(world, 2);
    CnCouplingState s;
    CHECK_OK(cn_coupling_state(world, id, &s));
    CHECK_NEAR(s.error, 0, 1e-8);
    cn_world_destroy(world);
  }
}

// The closing of torn bodies that fly keeps their momentum, and angular momentum where force and
// reaction of the joint act at one point (of a ball joint they act at its two points, torn as they are).
// What is drawn together turns faster, as a skater does: a little energy may come with that.
static void flying(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorldDef wd = world_def_exact(0.001);
    wd.gravity = CN_VEC3_ZERO;
    wd.solver = cn_solver_def_default("auto");
    wd.solver.effort = CN_EFFORT_EXACT;
    CnWorld *world = world_make(&wd);
    CnTwist going = {{1, 2, 0}, {0, 0, 3}};
    CnJointDef def = cn_joint_def_default(k ? CN_JOINT_REVOLUTE : CN_JOINT_BALL);
    CnJointId id;
    def.body_a = world_mass(world, 2, cn_vec3(0.2, 0.2, 0.01), world_at(0, 0, 0), going);
    def.body_b = world_mass(world, 1, cn_vec3(0.1, 0.1, 0.1), world_at(1, 0, 0), REST);
    def.frame_a.position = cn_vec3(0.5, 0, 0);
    def.frame_b.position = cn_vec3(-0.3, 0.1, 0);
    CHECK_OK(cn_joint_create(world, &def, &id));
    CnWorldSums old, now;
    cn_world_sums(world, &old);
    for (int i = 0; i < 1000; i++) world_step(world);
    cn_world_sums(world, &now);
    CHECK_NEAR(cn_norm(cn_sub(now.momentum, old.momentum)), 0, 1e-10);
    if (k) CHECK_NEAR(cn_norm(cn_sub(now.angular_momentum, old.angular_momentum)), 0, 1e-5);
    CHECK(now.kinetic_energy <= 1.01 * old.kinetic_energy);
    CHECK_NEAR(state_of(world, id).error, 0, 1e-9);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limit),    cmocka_unit_test(rope),   cmocka_unit_test(torn),
      cmocka_unit_test(coupling), cmocka_unit_test(flying),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
