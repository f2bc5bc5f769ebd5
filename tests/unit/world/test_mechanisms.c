// SPDX-License-Identifier: Apache-2.0
// Random machines: 2 to 10 bodies, joints of all kinds in trees and loops, with everything that can
// act on their coordinates, and couplings. No crash, answers that certify (trees always; a loop may
// contradict itself), the same bits again after save and restore.
#include "check.h"

#include <stdlib.h>

#include "core/math.h"
#include "core/rng.h"
#include "joint/joint.h"
#include "toys.h"

static CniRng rng;

static double uniform(double lo, double hi) { return cni_rng_range(&rng, lo, hi); }
static int32_t below(int32_t n) { return (int32_t)uniform(0, n - 1e-9); }
static int chance(double p) { return uniform(0, 1) < p; }
static CnVec3 any(double size) {
  return cn_vec3(uniform(-size, size), uniform(-size, size), uniform(-size, size));
}

static CnBodyId any_body(CnWorld *w) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  CnVec3 j = cn_vec3(uniform(0.01, 0.1), uniform(0.01, 0.1), uniform(0.01, 0.1));
  j.z = cn_min(j.z, 0.9 * (j.x + j.y));
  j.x = cn_min(j.x, 0.9 * (j.y + j.z));
  j.y = cn_min(j.y, 0.9 * (j.x + j.z));
  def.mass = uniform(0.2, 5);
  def.inertia = (CnSym3){.xx = j.x, .yy = j.y, .zz = j.z};
  def.pose = (CnPose){any(1), cni_quat_exp(any(2))};
  def.twist = (CnTwist){any(1), any(3)};
  CHECK_OK(cn_body_create(w, &def, &body));
  return body;
}

static CnFunctionId any_function(CnWorld *w) {
  static const double times[] = {0, 0.01, 0.03}, values[] = {0, 0.02, 0.01};
  CnFunctionDef def = cn_function_def_default((CnFunctionKind)below(CN_FUNCTION_KIND_COUNT));
  CnFunctionId id;
  def.value = uniform(-0.5, 0.5);
  def.final = uniform(-0.5, 0.5);
  def.rate = uniform(-1, 1);
  def.amplitude = uniform(0, 0.5);
  def.frequency = uniform(0, 5);
  def.end = uniform(0.1, 1);
  if (def.kind >= CN_FUNCTION_TABLE) {
    def.times = times;
    def.values = values;
    def.point_count = 3;
  }
  CHECK_OK(cn_function_create(w, &def, &id));
  return id;
}

static CnJointAxis any_axis(CnWorld *w) {
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  if (chance(0.3)) axis.lower = uniform(-1, 0.1);
  if (chance(0.3)) axis.upper = uniform(0.2, 1);
  if (chance(0.2)) axis.restitution = uniform(0, 1);
  if (chance(0.2)) axis.limit_stiffness = uniform(0, 1e5);
  if (chance(0.2)) axis.limit_damping = uniform(0, 100);
  if (chance(0.3)) axis.friction = uniform(0, 2);
  if (chance(0.2)) axis.friction_coefficient = uniform(0, 0.5);
  axis.friction_radius = uniform(0, 0.1);
  if (chance(0.3)) axis.stiffness = uniform(0, 1e4);
  if (chance(0.3)) axis.damping = uniform(0, 10);
  if (chance(0.2)) axis.armature = uniform(0, 1);
  if (chance(0.3)) {
    axis.drive = (CnDrive)below(3);
    // what has all the effort it wants contradicts limits
    int free = axis.lower == -INFINITY && axis.upper == INFINITY && axis.drive != CN_DRIVE_EFFORT;
    axis.motor_effort = free && chance(0.2) ? INFINITY : uniform(0, 20);
    axis.motor_speed = uniform(-3, 3);
    axis.motor_position = uniform(-0.5, 0.5);
    if (chance(0.4)) axis.motor_stiffness = uniform(0, 1e4);
    if (chance(0.4)) axis.motor_damping = uniform(0, 100);
    if (chance(0.4)) axis.motor_function = any_function(w);
  }
  return axis;
}

static CnJointId any_joint(CnWorld *w, CnBodyId a, CnBodyId b, CnJointDef *def) {
  CnJointKind kind = (CnJointKind)below(CN_JOINT_POINT_ON_CURVE); // none with curves
  CnJointId id;
  *def = cn_joint_def_default(kind);
  def->body_a = a;
  def->body_b = b;
  CHECK_OK(cn_joint_def_along(w, any(1), cn_add(any(1), cn_vec3(0, 0, 1.1)), def));
  if (cni_joint_kinds[kind]->apart && !cni_joint_kinds[kind]->curves)
    def->frame_b.position = any(0.5);
  if (kind == CN_JOINT_SCREW) def->lead = uniform(-0.2, 0.2);
  for (int32_t k = 0; k < cni_joint_coordinate_count(kind); k++) def->axes[k] = any_axis(w);
  CHECK_OK(cn_joint_create(w, def, &id));
  return id;
}

static CnWorld *any_machine(int loops) {
  CnWorldDef settings = cn_world_def_default();
  settings.time_step = 2e-3;
  settings.solver = cn_solver_def_default("auto");
  settings.solver.tolerance = 1e-8;
  CnWorld *w = toy_world_from(&settings);
  CnBodyId bodies[10];
  CnJointId joints[12], coupled = {0, 0};
  CnJointDef def;
  int32_t count = 2 + below(9), joint_count = 0;
  for (int32_t i = 0; i < count; i++) bodies[i] = any_body(w);
  for (int32_t i = 0; i < count; i++) {
    CnBodyId other = i == 0 ? (CnBodyId){0, 0} : bodies[below(i)];
    joints[joint_count++] = any_joint(w, other, bodies[i], &def);
    if (cni_joint_coordinate_count(def.kind) > 0 && def.axes[0].motor_effort < INFINITY &&
        chance(0.3)) {
      if (coupled.slot) {
        CnCouplingDef gear = cn_coupling_def_default();
        CnCouplingId id;
        gear.term_count = 2;
        gear.terms[0] = (CnCouplingTerm){coupled, 0, 1};
        gear.terms[1] = (CnCouplingTerm){joints[joint_count - 1], 0, uniform(0.5, 3)};
        CHECK_OK(cn_coupling_create(w, &gear, &id));
      }
      coupled = joints[joint_count - 1];
    }
  }
  for (int32_t i = 0; i < loops && count > 2; i++)
    any_joint(w, bodies[0], bodies[1 + below(count - 1)], &def);
  return w;
}

static void machines(void **state) {
  (void)state;
  int32_t trials = 400, poor = 0, poor_loops = 0, stopped = 0;
  for (int32_t trial = 0; trial < trials; trial++) {
    rng.state = (uint64_t)trial + 1;
    int loops = trial % 4 == 0;
    CnWorld *w = any_machine(loops), *copy = toy_world(1e-3);
    double worst = 0;
    int32_t infeasible = 0;
    CnStatus status = CN_OK;
    size_t size = 0;
    static char data[1 << 17];
    for (int32_t i = 0; i < 10 && status == CN_OK; i++) {
      CnStepReport report;
      status = cn_world_step(w, &report);
      worst = cn_max(worst, status == CN_OK ? report.solve.certificate.residual : 0);
      if (status == CN_OK) infeasible += report.solve.infeasible_count;
      if (i == 5) CHECK_OK(cn_world_save(w, data, sizeof data, &size));
    }
    if (status == CN_OK) {
      CHECK_OK(cn_world_restore(copy, data, size));
      toy_steps(copy, 4);
      CHECK(cn_world_hash(copy) == cn_world_hash(w));
    }
    stopped += status != CN_OK;
    if (status == CN_OK && !(worst < 1e-8)) {
      print_message("machine %d (%d loops): residual %.1e, %d infeasible\n", (int)trial, loops,
                    worst, (int)infeasible);
      poor += !loops;
      poor_loops += loops && infeasible == 0; // some contradict themselves, and say so
    }
    if (status != CN_OK) print_message("machine %d: %s\n", (int)trial, cn_error_message());
    cn_world_destroy(copy);
    cn_world_destroy(w);
  }
  print_message("%d machines, %d poor, %d poor with loops, %d stopped\n", (int)trials, (int)poor,
                (int)poor_loops, (int)stopped);
  CHECK(poor == 0 && poor_loops == 0 && stopped == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(machines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
