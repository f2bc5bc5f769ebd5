// SPDX-License-Identifier: Apache-2.0
// The verdict: for each reason a run that has it and one that has not, names and steps in the text, the
// past that a snapshot carries along, and what it does not do: change a result.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "core/vec.h"
#include "worlds.h"

static CnVerdict verdict_after(CnWorld *world, int32_t steps) {
  CnVerdict v;
  for (int32_t i = 0; i < steps; i++) world_step(world);
  CHECK_OK(cn_world_verdict(world, &v));
  CHECK(v.trusted == (v.reason_count == 0 && v.step_count > 0));
  const char *begins = v.trusted        ? "trusted:"
                       : v.reason_count ? "do not trust this run:"
                                        : "not judged: no step was made";
  CHECK(strncmp(v.line, begins, strlen(begins)) == 0);
  CHECK(v.step_count == world_info(world).step);
  for (int32_t i = 0; i < v.reason_count; i++) {
    const CnFinding *f = &v.findings[v.reasons[i]];
    CHECK(f->is_reason && f->text[0] && strstr(v.line, f->text));
  }
  return v;
}

static CnVerdict end(CnWorld *world, int32_t steps) {
  CnVerdict v = verdict_after(world, steps);
  cn_world_destroy(world);
  return v;
}

#define DOUBTS(v, KIND) CHECK(!(v).trusted && (v).findings[CN_FINDING_##KIND].is_reason)
static void trusts(CnVerdict v) {
  if (!v.trusted) printf("%s\n", v.line);
  CHECK(v.trusted);
}

// A pendulum whose hook is open by this much at the start, and whose body is a metre from it.
static CnWorld *hook(double open) {
  CnWorldDef def = world_def_exact(1e-3);
  CnWorld *world = world_make(&def);
  CnTwist rest = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  CnBodyId body = world_mass(world, 1, cn_vec3(0.1, 0.1, 0.1), world_at(1, 0, 0), rest);
  CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
  CnJointId id;
  joint.body_a = body;
  joint.name = "hook";
  CHECK_OK(cn_joint_def_at(world, CN_VEC3_ZERO, &joint));
  joint.frame_b.position = cn_vec3(0, 0, open);
  CHECK_OK(cn_joint_create(world, &joint, &id));
  return world;
}

static void joints(void **state) {
  (void)state;
  CnVerdict v = end(hook(0.02), 50);
  DOUBTS(v, JOINTS);
  CHECK_NEAR(v.findings[CN_FINDING_JOINTS].value, 0.02, 1e-9);
  CHECK_NEAR(v.findings[CN_FINDING_JOINTS].relative, 0.02, 1e-9);
  CHECK(v.findings[CN_FINDING_JOINTS].first_step == 1);
  CHECK(strstr(v.line, "joint 'hook' starts open by 0.02 m (2 % of its size)"));
  CHECK(v.time_step == 0); // another would not help
  v = end(hook(0.005), 50);
  trusts(v);
  CHECK_NEAR(v.findings[CN_FINDING_JOINTS].relative, 0.005, 1e-9);
}

// A world that has made no step is judged by its positions, and not trusted: a first step that fails leaves
// nothing to trust.
static void before_the_first_step(void **state) {
  (void)state;
  CnVerdict v = end(hook(0.02), 0);
  DOUBTS(v, JOINTS);
  v = end(hook(0.005), 0);
  CHECK(!v.trusted && v.reason_count == 0);
  CHECK_STATUS(cn_world_verdict(NULL, &v), CN_INVALID_ARGUMENT);
  CnWorldDef def = cn_world_def_default();
  CnWorld *world = world_make(&def);
  CHECK_STATUS(cn_world_verdict(world, NULL), CN_INVALID_ARGUMENT);
  CHECK(end(world, 3).trusted);
  CHECK(cn_finding_name(CN_FINDING_COUNT) == NULL && cn_finding_name(-1) == NULL);
  for (int32_t k = 0; k < CN_FINDING_COUNT; k++) CHECK(cn_finding_name(k)[0]);
}

// A box at rest, and a ball x m away that falls; steps of h.
static CnWorld *scale(double h, double x) {
  CnWorldDef def = world_def_exact(h);
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  world_box(world, cn_vec3(0.1, 0.1, 0.1), 1, world_at(0, 0, 0.1), CN_VEC3_ZERO, material);
  world_ball(world, 0.1, 1, cn_vec3(x, 0, 0.2), CN_VEC3_ZERO, material);
  return world;
}

static void scales(void **state) {
  (void)state;
  CnVerdict v = end(scale(1e8, 1), 3);
  DOUBTS(v, STEP);
  CHECK(strstr(v.line, "falls by 9.8e+16 m in a step"));
  CHECK_NEAR(v.time_step, 0.08, 1e-12); // about that in which the box falls by its size
  v = end(scale(1, 1), 3);
  DOUBTS(v, STEP);
  trusts(end(scale(0.05, 1), 20));
  v = end(scale(1e-3, 1e300), 3);
  DOUBTS(v, DISTANCE);
  CHECK(strstr(v.line, "is so far away that places there are"));
  DOUBTS(end(scale(1e-3, 1e13), 3), DISTANCE);
  trusts(end(scale(1e-3, 1e10), 3));
}

// A ball that starts in the floor.
static CnWorld *sunken(double depth) {
  CnWorldDef def = world_def_exact(1e-3);
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  world_ball(world, 0.1, 1, cn_vec3(0, 0, 0.1 - depth), CN_VEC3_ZERO, material);
  return world;
}

static void overlaps(void **state) {
  (void)state;
  CnVerdict v = end(sunken(0.03), 5);
  DOUBTS(v, OVERLAPS);
  CHECK_NEAR(v.findings[CN_FINDING_OVERLAPS].value, 0.03, 1e-12);
  CHECK(v.findings[CN_FINDING_OVERLAPS].body.slot == 1 &&
        v.findings[CN_FINDING_OVERLAPS].other.slot == 2);
  v = end(sunken(0.02), 5);
  trusts(v);
  CHECK_NEAR(v.findings[CN_FINDING_OVERLAPS].relative, 0.2, 1e-9);
}

// Boxes on each other.
static CnWorld *tower(int32_t sweeps, double tolerance, double budget) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  def.solver = cn_solver_def_default("psor");
  def.solver.max_iterations = sweeps;
  def.solver.tolerance = tolerance;
  def.solver.time_budget = budget;
  def.solver.check_interval = 1;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  for (int i = 0; i < 6; i++)
    world_box(world, cn_vec3(0.5, 0.5, 0.5), 1, world_at(0, 0, 0.5 + i), CN_VEC3_ZERO, material);
  return world;
}

static void solving(void **state) {
  (void)state;
  CnVerdict v = end(tower(1, 0, 0), 50);
  DOUBTS(v, RESIDUAL);
  CHECK(v.exact && !v.findings[CN_FINDING_NOT_CONVERGED].is_reason); // no tolerance was asked for
  trusts(end(tower(500, 0, 0), 50));
  v = end(tower(3, 1e-9, 0), 50);
  DOUBTS(v, NOT_CONVERGED);
  CHECK(v.findings[CN_FINDING_NOT_CONVERGED].step_count > 40);
  trusts(end(tower(5000, 1e-6, 0), 50));
  v = end(tower(100000, 1e-15, 1e-9), 20);
  DOUBTS(v, CUT);
  trusts(end(tower(500, 0, 60), 20));
}

// Thirty boxes on each other while a ball flies by, whose speed hides what contacts miss: the work that an
// effort allows ends before they are solved, or does not.
static CnWorld *high_tower(CnEffort effort, int32_t sweeps) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  def.solver.effort = effort;
  def.solver.max_iterations = sweeps;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  for (int i = 0; i < 30; i++)
    world_box(world, cn_vec3(0.5, 0.5, 0.5), 1, world_at(0, 0, 0.5 + i), CN_VEC3_ZERO, material);
  world_ball(world, 0.1, 1, cn_vec3(9, 0, 50), cn_vec3(0, 0, 300), material);
  return world;
}

static void budgets(void **state) {
  (void)state;
  CnVerdict v = end(high_tower(CN_EFFORT_QUICK, 6), 12);
  DOUBTS(v, CUT);
  CHECK(!v.findings[CN_FINDING_RESIDUAL].is_reason && v.exact);
  CHECK(strstr(v.line, "the effort 'quick' ended "));
  CHECK(!end(high_tower(CN_EFFORT_NORMAL, 120), 12).findings[CN_FINDING_CUT].is_reason);
}

// ---- energy ----

static CnWorld *rod(CnRestitutionLaw law, const char *integrator) {
  CnWorldDef def = world_def_exact(1e-3);
  def.gravity = CN_VEC3_ZERO;
  def.restitution_law = law;
  def.integrator = integrator;
  if (strcmp(integrator, "impulse") != 0) def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.4, 0.9);
  world_floor(world, material);
  double a = 50 * 3.141592653589793 / 180, r = 1e-9;
  CnVec3 tip = {-0.5 * cos(a), 0, -0.5 * sin(a)};
  CnTwist twist = {cn_vec3(0.5, 0, -1), CN_VEC3_ZERO};
  CnBodyId body = world_mass(world, 1, cn_vec3(1.0 / 12, 1.0 / 12, 1.0 / 12),
                             world_at(0, 0, r + 1e-2 - tip.z), twist);
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnShapeId id;
  shape.radius = r;
  shape.pose.position = tip;
  shape.material = material;
  CHECK_OK(cn_shape_create(world, body, &shape, &id));
  return world;
}

// Newton's law with friction makes 7.9 % in one impact; the energetic law makes none.
static void newtons_law(void **state) {
  (void)state;
  static const char *const integrators[] = {"impulse", "moreau-jean"};
  for (int k = 0; k < 2; k++) {
    CnVerdict v = end(rod(CN_RESTITUTION_NEWTON, integrators[k]), 30);
    DOUBTS(v, ENERGY);
    CHECK(v.reason_count == 1 && v.energy_watched);
    CHECK_NEAR(v.findings[CN_FINDING_ENERGY].value, 0.0786 * 0.625, 2e-3);
    trusts(end(rod(CN_RESTITUTION_POISSON, integrators[k]), 30));
    trusts(end(rod(CN_RESTITUTION_ENERGETIC, integrators[k]), 30));
  }
}

// A hook makes the ball faster, step by step, or pushes it, which is work.
typedef struct Push {
  CnBodyId ball;
  double faster; // of the speed, a step
  double force;  // N
} Push;

static void push(void *context, CnWorld *world, double time, double h) {
  const Push *p = context;
  CnTwist twist;
  (void)time, (void)h;
  CHECK_OK(cn_body_twist(world, p->ball, &twist));
  twist.velocity = cn_scale(1 + p->faster, twist.velocity);
  if (p->faster != 0) CHECK_OK(cn_body_set_twist(world, p->ball, &twist));
  CHECK_OK(cn_body_apply_force(world, p->ball, cn_vec3(p->force, 0, 0), CN_VEC3_ZERO));
}

static CnWorld *thrown(Push *p, int32_t balance) {
  CnWorldDef def = world_def_exact(1e-3);
  def.hooks.before_step = push;
  def.hooks.context = p;
  def.balance = balance;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  p->ball = world_ball(world, 0.1, 1, cn_vec3(0, 0, 5), cn_vec3(3, 0, 0), material);
  return world;
}

static void hooks(void **state) {
  (void)state;
  Push none = {.force = 0}, faster = {.faster = 1e-3}, slower = {.faster = -1e-3},
       force = {.force = 5};
  trusts(end(thrown(&none, 0), 200));
  for (int32_t balance = 0; balance < 2; balance++) {
    CnVerdict v = end(thrown(&faster, balance), 200);
    DOUBTS(v, ENERGY);
    CHECK(v.findings[CN_FINDING_ENERGY].first_step > 10);
    trusts(end(thrown(&slower, balance), 200));
    // the work of a load is none of the verdict's business
    v = end(thrown(&force, balance), 200);
    trusts(v);
    CHECK(v.energy_watched == balance);
  }
}

// What a program sets between the steps is a new beginning.
static void between_steps(void **state) {
  (void)state;
  Push none = {.force = 0};
  CnWorld *world = thrown(&none, 0);
  trusts(verdict_after(world, 50));
  CnTwist twist = {{30, 0, 0}, {0, 0, 0}};
  CHECK_OK(cn_body_set_twist(world, none.ball, &twist));
  trusts(end(world, 50));
}

// A wheel on a spring: with a balance its energy is watched too.
static CnWorld *swing(double h, double stiffness) {
  CnWorldDef def = world_def_exact(h);
  def.gravity = CN_VEC3_ZERO;
  def.balance = 1;
  CnWorld *world = world_make(&def);
  CnTwist fly = {cn_vec3(0, 0, 0), cn_vec3(0, 0, 1)};
  CnBodyId body = world_mass(world, 1, cn_vec3(1, 1, 1), world_at(0, 0, 0), fly);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.stiffness = stiffness;
  world_join(world, CN_JOINT_REVOLUTE, body, (CnBodyId){0, 0}, CN_VEC3_ZERO, cn_vec3(0, 0, 1),
             &axis);
  return world;
}

static void springs_are_watched(void **state) {
  (void)state;
  CnVerdict v = end(swing(1e-3, 100), 200);
  trusts(v);
  CHECK(v.energy_watched);
}

// ---- contradictions ----

static CnWorld *jaws(double overlap) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 0.01;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  double r = 0.05, x = r - 0.5 * overlap + 0.1;
  world_fixed_box(world, cn_vec3(0.1, 0.5, 0.5), world_at(-x, 0, 0), material);
  world_fixed_box(world, cn_vec3(0.1, 0.5, 0.5), world_at(x, 0, 0), material);
  world_ball(world, r, 1, CN_VEC3_ZERO, CN_VEC3_ZERO, material);
  return world;
}

static void infeasible(void **state) {
  (void)state;
  CnVerdict v = end(jaws(1e-3), 50);
  DOUBTS(v, INFEASIBLE);
  CHECK(v.reasons[0] == CN_FINDING_INFEASIBLE);
  CHECK(strstr(v.line, "contacts of body"));
  trusts(end(jaws(-1e-3), 20)); // falls between them
}

// ---- couplings ----

// A world with three wheels on hinges; the motor of the first one may turn it whatever it takes.
static CnWorld *wheels(int assemble, int motor, CnJointId hinges[3]) {
  CnWorldDef def = world_def_exact(1e-3);
  CnJointAxis act = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  act.motor_speed = 1;
  act.motor_effort = INFINITY;
  def.assemble = assemble;
  CnWorld *world = world_make(&def);
  for (int i = 0; i < 3; i++) {
    CnBodyId body = world_part(world, 1, 0.1, cn_vec3(i, 0, 0), 0);
    hinges[i] = world_join(world, CN_JOINT_REVOLUTE, (CnBodyId){0, 0}, body, cn_vec3(i, 0, 0),
                           cn_vec3(0, 1, 0), motor && i == 0 ? &act : NULL);
  }
  return world;
}

static void couple(CnWorld *world, const char *name, CnJointId a, CnJointId b, double offset,
                   int one_sided) {
  CnCouplingDef def = cn_coupling_def_default();
  CnCouplingId id;
  def.name = name;
  def.term_count = b.slot ? 2 : 1;
  def.terms[0] = (CnCouplingTerm){a, 0, 1};
  def.terms[1] = (CnCouplingTerm){b, 0, 1};
  def.take_offset = 0;
  def.offset = offset;
  def.one_sided = one_sided;
  CHECK_OK(cn_coupling_create(world, &def, &id));
}

static const CnJointId nobody = {0, 0};

static void couplings(void **state) {
  (void)state;
  CnJointId h[3];
  CnWorld *world = wheels(0, 0, h);
  couple(world, "c", h[0], nobody, 1, 0);
  CnVerdict v = end(world, 50);
  DOUBTS(v, JOINTS);
  CHECK_NEAR(v.findings[CN_FINDING_JOINTS].value, 1, 1e-12);
  CHECK(strstr(v.line, "coupling 'c' starts off by 1 rad"));
  CHECK(v.time_step == 0);
  // one that only pushes may be beyond
  for (int side = -1; side <= 1; side += 2) {
    world = wheels(0, 0, h);
    couple(world, "c", h[0], nobody, side, 1);
    CHECK(end(world, 5).trusted == (side < 0));
  }
  // assembled, and the gear behind it
  world = wheels(1, 0, h);
  couple(world, "c", h[0], nobody, 10, 0); // more than a turn
  couple(world, "gear", h[0], h[1], 0.25, 0);
  trusts(verdict_after(world, 50));
  CnJointState at;
  CHECK_OK(cn_joint_state(world, h[1], &at));
  CHECK_NEAR(at.coordinate[0], -9.75, 1e-9);
  cn_world_destroy(world);
}

// Two wheels in gear come with 3 and 2 rad/s: what the blow takes is told under impacts, whoever integrates.
static void blows(void **state) {
  (void)state;
  static const char *const integrators[] = {"impulse", "moreau-jean", "hem5", "rkf45"};
  for (size_t i = 0; i < sizeof integrators / sizeof integrators[0]; i++) {
    CnWorldDef def = world_def_exact(0.01);
    CnJointId h[2];
    CnStepBalance balance;
    def.integrator = integrators[i];
    def.balance = 1;
    CnWorld *world = world_make(&def);
    for (int k = 0; k < 2; k++) {
      CnTwist twist = {CN_VEC3_ZERO, cn_vec3(0, k ? 2 : 3, 0)};
      CnBodyId wheel = world_part(world, 1, 0.1, cn_vec3(k, 0, 0), 0);
      CHECK_OK(cn_body_set_twist(world, wheel, &twist));
      h[k] = world_join(world, CN_JOINT_REVOLUTE, (CnBodyId){0, 0}, wheel, cn_vec3(k, 0, 0),
                        cn_vec3(0, 1, 0), NULL);
    }
    couple(world, "gear", h[0], h[1], 0, 0); // they turn against each other
    world_step(world);
    CHECK_OK(cn_world_balance(world, &balance));
    CHECK_NEAR(balance.parts[CN_BALANCE_IMPACTS].energy, -0.5 * 0.1 * (9 + 4 - 0.5), 1e-9);
    CHECK_NEAR(balance.parts[CN_BALANCE_JOINTS].energy, 0, 1e-9);
    CHECK_NEAR(balance.parts[CN_BALANCE_SCHEME].energy, 0, 1e-9);
    trusts(end(world, 20));
  }
}

static void couplings_that_contradict(void **state) {
  (void)state;
  CnJointId h[3];
  CnWorld *world = wheels(0, 0, h);
  couple(world, "c", h[0], nobody, 1, 0);
  couple(world, "c2", h[0], nobody, -1, 0);
  CnVerdict v = end(world, 5);
  DOUBTS(v, JOINTS);
  DOUBTS(v, INFEASIBLE);
  CHECK(strstr(v.line, "coupling 'c' contradicts coupling 'c2'"));
  world = wheels(1, 0, h);
  couple(world, "c", h[0], nobody, 1, 0);
  couple(world, "c2", h[0], nobody, -1, 0);
  CHECK_STATUS(cn_world_step(world, NULL), CN_INVALID_DATA);
  CHECK(strstr(cn_error_message(), "\"c"));
  cn_world_destroy(world);
  // three gears in a ring are locked, which a motor that gives any effort cannot be
  world = wheels(0, 1, h);
  CnMechanism m;
  for (int i = 0; i < 3; i++) {
    couple(world, "ring", h[i], h[(i + 1) % 3], 0, 0);
    CHECK_OK(cn_world_mechanism(world, &m, NULL, 0));
    CHECK(m.freedoms == 2 - i && m.dependent_count == 0);
  }
  v = verdict_after(world, 5);
  DOUBTS(v, INFEASIBLE);
  CHECK(v.findings[CN_FINDING_INFEASIBLE].joint.slot == h[0].slot);
  CHECK(v.findings[CN_FINDING_INFEASIBLE].coupling.slot != 0);
  CnDependentRow row;
  couple(world, "again", h[0], h[1], 0, 0);
  CHECK_OK(cn_world_mechanism(world, &m, &row, 1));
  CHECK(m.freedoms == 0 && m.dependent_count == 1 && row.joint.slot == 0);
  cn_world_destroy(world);
}

// ---- the past ----

static void snapshots(void **state) {
  (void)state;
  CnWorld *world = hook(0.02);
  CnVerdict before = verdict_after(world, 400), after; // closed again by now
  DOUBTS(before, JOINTS);
  size_t size;
  CHECK_OK(cn_world_save(world, NULL, 0, &size));
  void *data = malloc(size);
  CHECK(data);
  CHECK_OK(cn_world_save(world, data, size, &size));
  uint64_t hash = cn_world_hash(world);
  CnWorldDef def = cn_world_def_default();
  CnWorld *other = world_make(&def);
  CHECK_OK(cn_world_restore(other, data, size));
  CHECK_OK(cn_world_verdict(other, &after));
  CHECK(cn_world_hash(other) == hash);
  CHECK(memcmp(&before, &after, sizeof before) == 0);
  // both go on alike
  world_step(other);
  CnVerdict next = verdict_after(world, 1);
  CHECK_OK(cn_world_verdict(other, &after));
  CHECK(memcmp(&next, &after, sizeof next) == 0);
  free(data);
  cn_world_destroy(other);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(joints),        cmocka_unit_test(before_the_first_step),
      cmocka_unit_test(scales),        cmocka_unit_test(overlaps),
      cmocka_unit_test(solving),       cmocka_unit_test(budgets),
      cmocka_unit_test(newtons_law),   cmocka_unit_test(hooks),
      cmocka_unit_test(between_steps), cmocka_unit_test(springs_are_watched),
      cmocka_unit_test(infeasible),    cmocka_unit_test(couplings),
      cmocka_unit_test(blows),         cmocka_unit_test(couplings_that_contradict),
      cmocka_unit_test(snapshots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
