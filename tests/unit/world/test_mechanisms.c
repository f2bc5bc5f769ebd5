// SPDX-License-Identifier: Apache-2.0
// Random machines: 2 to 10 bodies, joints of all kinds in trees and loops, curves among them, with
// everything that can act on their coordinates, and couplings; some have to be assembled first. No
// crash; every answer certifies to 1e-8, or its rows contradict each other, which is proved here
// (contradiction.h) and told by the report; the same bits again after save and restore.
//
// CAIRN_MACHINES: how many (10,000 in `make test-all`); CAIRN_MACHINE: only that one, with its steps.
#include "check.h"
#include "contradiction.h"

#include <stdlib.h>

#include "core/math.h"
#include "core/rng.h"
#include "joint/joint.h"
#include "toys.h"
#include "worlds.h"

#define STEPS 10
#define PROOF 1e6   // times faster than asked for: no motion of the machine
#define MISSED 1e-8 // residual

static CniRng rng;

static double uniform(double lo, double hi) { return cni_rng_range(&rng, lo, hi); }
static int32_t below(int32_t n) { return (int32_t)uniform(0, n - 1e-9); }
static int chance(double p) { return uniform(0, 1) < p; }
static CnVec3 any(double size) {
  CnVec3 v; // one after another: compilers order arguments as they like
  v.x = uniform(-size, size);
  v.y = uniform(-size, size);
  v.z = uniform(-size, size);
  return v;
}

static CnBodyId any_body(CnWorld *w) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  CnVec3 j = cn_add(cn_vec3(0.055, 0.055, 0.055), any(0.045));
  j.z = cn_min(j.z, 0.9 * (j.x + j.y));
  j.x = cn_min(j.x, 0.9 * (j.y + j.z));
  j.y = cn_min(j.y, 0.9 * (j.x + j.z));
  def.mass = uniform(0.2, 5);
  def.inertia = (CnSym3){.xx = j.x, .yy = j.y, .zz = j.z};
  def.pose.position = any(1);
  def.pose.rotation = cni_quat_exp(any(2));
  def.twist.velocity = any(1);
  def.twist.spin = any(3);
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
  CnJointKind kind = (CnJointKind)below(CN_JOINT_KIND_COUNT);
  CnJointId id;
  CnVec3 at = any(1), axis = cn_add(any(1), cn_vec3(0, 0, 1.1));
  *def = cn_joint_def_default(kind);
  def->body_a = a;
  def->body_b = b;
  CHECK_OK(cn_joint_def_along(w, at, axis, def));
  if (cni_joint_kinds[kind]->apart && !cni_joint_kinds[kind]->curves)
    def->frame_b.position = any(0.5);
  if (kind == CN_JOINT_SCREW) def->lead = uniform(-0.2, 0.2);
  for (int32_t k = 0; k < cni_joint_coordinate_count(kind); k++) def->axes[k] = any_axis(w);
  // friction that goes with a reaction needs one
  for (int32_t k = 0; k < CN_JOINT_AXES; k++)
    if (!cni_joint_kinds[kind]->curves && cni_joint_kinds[kind]->locked_count == 0)
      def->axes[k].friction_coefficient = 0;
  if (cni_joint_kinds[kind]->curves) def->one_sided = chance(0.5);
  toy_curves(w, def);
  if (kind == CN_JOINT_POINT_ON_CURVE && chance(0.5)) def->radius = uniform(0, 0.01);
  CHECK_OK(cn_joint_create(w, def, &id));
  return id;
}

// A gear between the first coordinates of two joints.
static void couple(CnWorld *w, CnJointId a, CnJointId b) {
  CnCouplingDef gear = cn_coupling_def_default();
  CnCouplingId id;
  gear.term_count = 2;
  gear.terms[0] = (CnCouplingTerm){a, 0, 1};
  gear.terms[1] = (CnCouplingTerm){b, 0, uniform(0.5, 3)};
  gear.one_sided = chance(0.2);
  if (chance(0.2)) gear.square = uniform(-1, 1);
  CHECK_OK(cn_coupling_create(w, &gear, &id));
}

static CnWorld *any_machine(int32_t loops, int32_t loose) {
  CnWorldDef settings = cn_world_def_default();
  settings.time_step = 2e-3;
  settings.assemble = loose;
  settings.solver = cn_solver_def_default("auto");
  settings.solver.effort = CN_EFFORT_EXACT;
  CnWorld *w = toy_world_from(&settings);
  CnBodyId bodies[10];
  CnJointId coupled = {0, 0};
  CnJointDef def;
  int32_t count = 2 + below(9);
  for (int32_t i = 0; i < count; i++) bodies[i] = any_body(w);
  for (int32_t i = 0; i < count; i++) {
    CnBodyId other = i == 0 ? (CnBodyId){0, 0} : bodies[below(i)];
    CnJointId joint = any_joint(w, other, bodies[i], &def);
    if (cni_joint_coordinate_count(def.kind) == 0 || !(def.axes[0].motor_effort < INFINITY) ||
        !chance(0.3))
      continue;
    if (coupled.slot) couple(w, coupled, joint);
    coupled = joint;
  }
  for (int32_t i = 0; i < loops && count > 2; i++) {
    int32_t a = below(count), b = below(count - 1);
    any_joint(w, bodies[a], bodies[b + (b >= a)], &def);
  }
  // put apart: `assemble` has to close them, or to say that it cannot
  for (int32_t i = 0; i < count && loose; i++) {
    CnPose pose = toy_pose(w, bodies[i]);
    pose.position = cn_add(pose.position, any(0.05));
    CHECK_OK(cn_body_set_pose(w, bodies[i], &pose));
  }
  return w;
}

typedef struct Tally {
  int32_t machines, impossible, contradicting, missed, silent, nearly, flown;
} Tally;

// A step that does not certify: is there a reason, and is it told?
static void look_closer(CnWorld *w, int32_t trial, int32_t step, const CnSolveReport *report,
                        Tally *t) {
  CnProblem *p;
  const CnAnswer *answer;
  CHECK_OK(cn_world_problem(w, &p, &answer));
  Contradiction c = contradiction_of(p);
  int32_t proved = c.speed > PROOF && c.share > MISSED;
  // rows that are one but for the last digits leave no more than these
  int32_t nearly = c.conditioning < 1e-6 && report->certificate.residual < 1e-7;
  t->contradicting += proved;
  t->nearly += !proved && nearly;
  t->missed += !proved && !nearly;
  t->silent += proved && report->infeasible_count == 0;
  if (proved && report->infeasible_count > 0 && !getenv("CAIRN_MACHINE")) return;
  print_message(
      "machine %d, step %d: residual %.1e (%.1e m/s) by %s, %d rows infeasible; left over "
      "%.1e, speed %.1e, conditioning %.1e\n",
      (int)trial, (int)step, report->certificate.residual, report->certificate.residual_speed,
      report->method, (int)report->infeasible_count, c.share, c.speed, c.conditioning);
}

static void run_machine(int32_t trial, Tally *t) {
  static char data[1 << 18];
  rng.state = (uint64_t)trial + 1;
  int32_t loops = trial % 2 ? 0 : 1 + below(3), loose = trial % 8 == 6;
  CnWorld *w = any_machine(loops, loose), *copy = toy_world(1e-3);
  size_t size = 0;
  t->machines++;
  for (int32_t i = 0; i < STEPS; i++) {
    CnStepReport report;
    CnStatus status = cn_world_step(w, &report);
    if (status != CN_OK) {
      t->impossible++;
      if (i > 0 || status != CN_INVALID_DATA || !loose)
        print_message("machine %d: %s\n", (int)trial, cn_error_message());
      CHECK(i == 0 && status == CN_INVALID_DATA && loose);
      CHECK_TEXT(cn_error_message(), "stays open by");
      break;
    }
    const CnCertificate *c = &report.solve.certificate;
    if (getenv("CAIRN_MACHINE")) print_message("%d: %.1e\n", (int)i, c->residual);
    if (!(c->residual <= MISSED) && !(c->residual_speed <= WORLD_SPEED_ROUNDING))
      look_closer(w, trial, i, &report.solve, t);
    if (i == 5) CHECK_OK(cn_world_save(w, data, sizeof data, &size));
    if (i < STEPS - 1) continue;
    CHECK_OK(cn_world_restore(copy, data, size));
    toy_steps(copy, STEPS - 6);
    CHECK(cn_world_hash(copy) == cn_world_hash(w));
  }
  double farthest = 0; // m, from within 2 m in 20 ms
  for (CnBodyId b = cn_world_next_body(w, (CnBodyId){0, 0}); b.slot; b = cn_world_next_body(w, b))
    farthest = cn_max(farthest, cn_norm(toy_pose(w, b).position));
  if (!(farthest < 10)) print_message("machine %d: a body is %.1e m away\n", (int)trial, farthest);
  t->flown += !(farthest < 10);
  cn_world_destroy(copy);
  cn_world_destroy(w);
}

static void machines(void **state) {
  static const int32_t hard[] = {4256, 4378, 4836, 5082, 5302};
  (void)state;
  const char *count = getenv("CAIRN_MACHINES"), *one = getenv("CAIRN_MACHINE");
  int32_t trials = count ? atoi(count) : 200;
  Tally t = {0};
  for (int32_t i = 0; i < trials; i++)
    if (!one || i == atoi(one)) run_machine(i, &t);
  // met by a hair; after a step whose rows contradict each other; three with friction that jams
  for (int32_t i = 0; i < 5 && trials <= hard[0] && !one; i++) run_machine(hard[i], &t);
  print_message("%d machines, %d cannot be assembled; steps: %d contradictions (%d not told), %d "
                "missed, %d nearly dependent\n",
                (int)t.machines, (int)t.impossible, (int)t.contradicting, (int)t.silent,
                (int)t.missed, (int)t.nearly);
  CHECK(t.missed == 0 && t.silent <= t.machines / 5000 && t.nearly <= t.machines / 1000);
  CHECK(t.flown <= t.machines / 1000); // by screws of a fraction of a millimetre that motors jerk
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(machines)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
