// SPDX-License-Identifier: Apache-2.0
// Gears, racks, differentials and polynomials between coordinates of joints, by closed forms, with
// impulse and hem5.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <stdlib.h>
#include <string.h>

static CnWorld *world_of(int exact, double h) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  if (exact) def.integrator = "hem5";
  def.integration.tolerance = 1e-11;
  def.integration.project_start = 1;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-12;
  CnWorld *w = toy_world_from(&def);
  CHECK_OK(cn_world_set_gravity(w, CN_VEC3_ZERO));
  return w;
}

// A body on a joint of the ground, with an effort along its first coordinate.
static CnJointId part(CnWorld *w, CnJointKind kind, double m, double j, CnVec3 at, CnVec3 axis,
                      double effort) {
  CnBodyDef body = cn_body_def_default();
  CnJointDef def = cn_joint_def_default(kind);
  CnJointId id;
  body.mass = m;
  body.inertia = (CnSym3){.xx = j, .yy = j, .zz = j};
  body.pose.position = at;
  CHECK_OK(cn_body_create(w, &body, &def.body_b));
  def.axes[0].drive = CN_DRIVE_EFFORT;
  def.axes[0].motor_effort = effort;
  CHECK_OK(cn_joint_def_along(w, at, axis, &def));
  CHECK_OK(cn_joint_create(w, &def, &id));
  return id;
}

static CnCouplingId couple(CnWorld *w, CnJointId a, double ca, CnJointId b, double cb) {
  CnCouplingDef def = cn_coupling_def_default();
  CnCouplingId id;
  def.term_count = 2;
  def.terms[0] = (CnCouplingTerm){a, 0, ca};
  def.terms[1] = (CnCouplingTerm){b, 0, cb};
  def.name = "gear";
  CHECK_OK(cn_coupling_create(w, &def, &id));
  return id;
}

static CnJointState state_of(CnWorld *w, CnJointId joint) {
  CnJointState s;
  CHECK_OK(cn_joint_state(w, joint, &s));
  return s;
}

static const CnVec3 Y = {0, 1, 0}, X = {1, 0, 0}, O = {0, 0, 0};

// J1 .02, J2 .5, ratio 5, 2 N m on the pinion of radius .05: 50 and -10 rad/s2, 20 N at the teeth.
static void gear_pair(void **state) {
  (void)state;
  for (int exact = 0; exact < 2; exact++) {
    CnWorld *w = world_of(exact, 1e-3);
    CnJointId pinion = part(w, CN_JOINT_REVOLUTE, 1, 0.02, O, Y, 2);
    CnJointId wheel = part(w, CN_JOINT_REVOLUTE, 1, 0.5, cn_vec3(0.3, 0, 0), Y, 0);
    CnCouplingId gear = couple(w, pinion, 1, wheel, 5);
    toy_steps(w, 1000);
    CHECK_NEAR(state_of(w, pinion).rate[0], 50, 1e-8);
    CHECK_NEAR(state_of(w, wheel).rate[0], -10, 1e-8);
    CnCouplingState s;
    CHECK_OK(cn_coupling_state(w, gear, &s));
    CHECK_NEAR(s.effort / 0.05, -20, 1e-7);
    CHECK_NEAR(s.error, 0, exact ? 1e-10 : 1e-7);
    cn_world_destroy(w);
  }
}

// Rack 3 kg, pinion J .01, r .05, 1 N m: a = 20/7, force 3 a.
static void rack_and_pinion(void **state) {
  (void)state;
  for (int exact = 0; exact < 2; exact++) {
    CnWorld *w = world_of(exact, 1e-3);
    CnJointId pinion = part(w, CN_JOINT_REVOLUTE, 1, 0.01, O, Y, 1);
    CnJointId rack = part(w, CN_JOINT_PRISMATIC, 3, 0.1, cn_vec3(0, 0, 0.1), X, 0);
    CnCouplingId teeth = couple(w, rack, 1, pinion, -0.05);
    toy_steps(w, 500);
    CHECK_NEAR(state_of(w, rack).rate[0], 10.0 / 7, 1e-9);
    CnCouplingState s;
    CHECK_OK(cn_coupling_state(w, teeth, &s));
    CHECK_NEAR(s.effort, 60.0 / 7, 1e-7);
    cn_world_destroy(w);
  }
}

// Cage 2 x_c = x_1 + x_2: 3 N m on the cage with wheels of .1 and .2 kg m2 and a cage of .4.
// With angular accelerations a, b: .1 a = l, .2 b = l, .4 (a + b)/2 = 3 - 2 l.
static void differential(void **state) {
  (void)state;
  for (int exact = 0; exact < 2; exact++) {
    CnWorld *w = world_of(exact, 1e-3);
    CnCouplingDef def = cn_coupling_def_default();
    CnCouplingId id;
    CnJointId joints[3] = {part(w, CN_JOINT_REVOLUTE, 1, 0.1, O, Y, 0),
                           part(w, CN_JOINT_REVOLUTE, 1, 0.2, cn_vec3(1, 0, 0), Y, 0),
                           part(w, CN_JOINT_REVOLUTE, 1, 0.4, cn_vec3(2, 0, 0), Y, 3)};
    def.term_count = 3;
    for (int i = 0; i < 3; i++) def.terms[i] = (CnCouplingTerm){joints[i], 0, i < 2 ? 1 : -2};
    CHECK_OK(cn_coupling_create(w, &def, &id));
    toy_steps(w, 200);
    double l = 3 / (2 + 0.2 * (10 + 5)), t = 0.2;
    CHECK_NEAR(state_of(w, joints[0]).rate[0], 10 * l * t, 1e-8);
    CHECK_NEAR(state_of(w, joints[1]).rate[0], 5 * l * t, 1e-8);
    CHECK_NEAR(state_of(w, joints[2]).rate[0], 7.5 * l * t, 1e-8);
    // with one of its joints it goes
    CHECK_OK(cn_joint_destroy(w, joints[1]));
    CnCouplingState s;
    CHECK_STATUS(cn_coupling_state(w, id, &s), CN_INVALID_HANDLE);
    toy_steps(w, 2);
    cn_world_destroy(w);
  }
}

// A slider driven by a crank through s = phi^2/2 - phi^4/24, by hem5: energy stays, saved and restored it goes
// on with the same bits.
static void polynomial(void **state) {
  (void)state;
  CnWorld *w = world_of(1, 5e-3), *copy = world_of(1, 1e-3);
  CHECK_OK(cn_world_set_gravity(w, cn_vec3(-3, 0, 0)));
  CnJointId crank = part(w, CN_JOINT_REVOLUTE, 1, 0.05, O, Y, 0);
  CnJointId slider = part(w, CN_JOINT_PRISMATIC, 2, 0.1, cn_vec3(0, 0, 1), X, 0);
  CnCouplingDef def = cn_coupling_def_default();
  CnCouplingId cam;
  def.term_count = 2;
  def.take_offset = 0;
  def.terms[0] = (CnCouplingTerm){crank, 0, 1e-3};
  def.terms[1] = (CnCouplingTerm){slider, 0, -1};
  def.square = 0.5;
  def.fourth = -1.0 / 24;
  def.name = "cam";
  CHECK_OK(cn_coupling_create(w, &def, &cam));
  CnBodyId body = cn_world_next_body(w, (CnBodyId){0, 0});
  toy_set_twist(w, body, CN_VEC3_ZERO, cn_vec3(0, 4, 0));
  toy_steps(w, 1);
  CnWorldSums before, after;
  cn_world_sums(w, &before);
  toy_steps(w, 20);
  size_t size;
  char *data = malloc(40000);
  CHECK_OK(cn_world_save(w, data, 40000, &size));
  CHECK_OK(cn_world_restore(copy, data, size));
  toy_steps(w, 100);
  toy_steps(copy, 100);
  CHECK(cn_world_hash(w) == cn_world_hash(copy));
  cn_world_sums(w, &after);
  CHECK_NEAR(after.kinetic_energy + after.potential_energy,
             before.kinetic_energy + before.potential_energy, 1e-9);
  double x = state_of(copy, crank).coordinate[0];
  CHECK(fabs(x) > 0.02);
  CHECK_NEAR(state_of(copy, slider).coordinate[0], 1e-3 * x + 0.5 * x * x - x * x * x * x / 24,
             1e-9);
  CHECK_OK(cn_coupling_def(copy, cam, &def));
  CHECK(strcmp(def.name, "cam") == 0 && def.term_count == 2);
  free(data);
  cn_world_destroy(copy);
  cn_world_destroy(w);
}

// An eccentric of 1 cm under a flat follower of 1 kg: s = e (1 - cos th), pushed with m (g + e w^2 cos th).
// It stays on below sqrt(g/e) = 31.32 rad/s and leaves above; in a groove it cannot.
static void eccentric_cam(void **state) {
  (void)state;
  const double e = 0.01, speeds[3] = {31, 31.6, 31.6};
  for (int k = 0; k < 3; k++) {
    double h = 1e-4, apart = 0, least = 1e9, w0 = speeds[k];
    int groove = k == 2, exact = groove;
    CnWorld *w = world_of(exact, exact ? 1e-3 : h);
    CHECK_OK(cn_world_set_gravity(w, cn_vec3(0, 0, -9.81)));
    CnFunctionDef profile = cn_function_def_default(CN_FUNCTION_SINE);
    CnCouplingDef def = cn_coupling_def_default();
    CnCouplingId cam;
    profile.amplitude = e;
    profile.frequency = 1 / (2 * CNI_PI);
    profile.phase = CNI_PI / 2; // e cos th
    CHECK_OK(cn_function_create(w, &profile, &def.function));
    CnJointId shaft = part(w, CN_JOINT_REVOLUTE, 1, 0.05, O, Y, 0);
    CnJointId lift = part(w, CN_JOINT_PRISMATIC, 1, 0.1, O, cn_vec3(0, 0, 1), 0);
    CnJointDef drive;
    CHECK_OK(cn_joint_def(w, shaft, &drive));
    drive.axes[0].drive = CN_DRIVE_SPEED;
    drive.axes[0].motor_speed = w0;
    drive.axes[0].motor_effort = INFINITY;
    CHECK_OK(cn_joint_set(w, shaft, &drive));
    toy_set_twist(w, drive.body_b, CN_VEC3_ZERO, cn_vec3(0, w0, 0));
    def.term_count = 2;
    def.terms[0] = (CnCouplingTerm){shaft, 0, 0};
    def.terms[1] = (CnCouplingTerm){lift, 0, 1};
    def.one_sided = !groove;
    CHECK_OK(cn_coupling_create(w, &def, &cam));
    CHECK_STATUS(cn_function_destroy(w, def.function), CN_INVALID_ARGUMENT);
    for (int i = 0; i < (exact ? 203 : 2030); i++) {
      toy_steps(w, 1);
      CnCouplingState s;
      CHECK_OK(cn_coupling_state(w, cam, &s));
      double th = state_of(w, shaft).coordinate[0];
      apart = cn_max(apart, s.error);
      if (i > 50) least = cn_min(least, s.effort);
      if (k != 1 && i > (exact ? 0 : 100))
        CHECK_NEAR(s.effort, 9.81 + e * w0 * w0 * cni_cos(th), exact ? 1e-1 : 5e-2);
    }
    if (k == 0) CHECK(apart < 1e-6 && least > 0.1);
    if (k == 1) CHECK(apart > 1e-7 && least == 0);
    if (k == 2) CHECK(apart < 1e-9 && least < -0.1);
    cn_world_destroy(w);
  }
}

static void refused(void **state) {
  (void)state;
  CnWorld *w = world_of(0, 1e-3);
  CnJointId joint = part(w, CN_JOINT_REVOLUTE, 1, 0.05, O, Y, 0);
  CnCouplingDef def = cn_coupling_def_default();
  CnCouplingId id;
  CHECK_STATUS(cn_coupling_create(w, &def, &id), CN_INVALID_ARGUMENT);
  def.term_count = 1;
  CHECK_STATUS(cn_coupling_create(w, &def, &id), CN_INVALID_HANDLE);
  def.terms[0] = (CnCouplingTerm){joint, 1, 1};
  CHECK_STATUS(cn_coupling_create(w, &def, &id), CN_INVALID_ARGUMENT);
  def.terms[0] = (CnCouplingTerm){joint, 0, 0};
  CHECK_STATUS(cn_coupling_create(w, &def, &id), CN_INVALID_ARGUMENT);
  def.terms[0] = (CnCouplingTerm){joint, 0, 1};
  def.cube = NAN;
  CHECK_STATUS(cn_coupling_create(w, &def, &id), CN_INVALID_ARGUMENT);
  def.cube = 0;
  CHECK_OK(cn_coupling_create(w, &def, &id));
  CHECK(cn_world_next_coupling(w, (CnCouplingId){0, 0}).slot == id.slot);
  CHECK_OK(cn_coupling_destroy(w, id));
  CHECK_STATUS(cn_coupling_destroy(w, id), CN_INVALID_HANDLE);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gear_pair),     cmocka_unit_test(rack_and_pinion),
      cmocka_unit_test(differential),  cmocka_unit_test(polynomial),
      cmocka_unit_test(eccentric_cam), cmocka_unit_test(refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
