// SPDX-License-Identifier: Apache-2.0
// Machines of hinges and ball joints step without a step problem: the motion, the forces and the problem
// are those that any other machine has. A world that keeps its balance goes by the
// problem, so that the two ways can be compared.
#include "check.h"
#include "draws.h"
#include "worlds.h"

#include "core/math.h"
#include "core/rng.h"
#include "core/vec.h"

#include <stdlib.h>
#include <string.h>

#define MOST 28

typedef struct Machine {
  CnWorld *world;
  CnBodyId bodies[MOST];
  CnJointId joints[MOST];
  int32_t body_count, joint_count;
} Machine;

// Loads of a hook on some bodies of a machine.
static void push(void *context, CnWorld *world, double time, double h) {
  const Machine *m = context;
  (void)h;
  for (int32_t i = 0; i < m->body_count; i += 3) {
    CnPose p = world_pose(world, m->bodies[i]);
    CnVec3 force = {cni_sin(9 * time + i), 2, -1}, at = cn_add(p.position, cn_vec3(.1, 0, .1));
    CHECK_OK(cn_body_apply_force(world, m->bodies[i], force, at));
    CHECK_OK(cn_body_apply_torque(world, m->bodies[i], cn_vec3(.3, 0, .1 * i)));
  }
}

// What acts on hinge i: limits that are far, motors that give efforts.
static CnJointAxis act_on(int32_t i, int limits) {
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  if (limits && i % 2) axis.lower = -40;
  if (limits && i % 3) axis.upper = 40;
  if (i % 4 != 1) return axis;
  axis.drive = CN_DRIVE_EFFORT;
  axis.motor_effort = .2 * i - .7;
  return axis;
}

static Machine pushed[2]; // for the hooks

// Bodies of any shape at joints of any axis; body_a and body_b in either order, on the ground or free.
// acts: 1: hinges as above, 2: without limits, but with loads.
static Machine acting_tree(uint64_t seed, int32_t count, int ground, int balance, double h,
                           int acts) {
  CniRng rng = {seed};
  CnWorldDef def = cn_world_def_default();
  if (acts) def.solver.effort = CN_EFFORT_EXACT; // rows of limits are swept
  if (acts > 1) def.hooks = (CnHooks){.context = &pushed[balance], .before_step = push};
  def.time_step = h;
  def.balance = balance;
  if (!ground) def.gravity = CN_VEC3_ZERO;
  Machine m = {.world = world_make(&def)};
  for (int32_t i = 0; i < count; i++) {
    double mass = cni_rng_range(&rng, 0.5, 3);
    CnVec3 sides = {0, 0, 0};
    sides.x = cni_rng_range(&rng, 0.05, 0.4);
    sides.y = cni_rng_range(&rng, 0.05, 0.4);
    sides.z = cni_rng_range(&rng, 0.05, 0.4);
    double x = sides.x * sides.x, y = sides.y * sides.y, z = sides.z * sides.z;
    CnVec3 j = cn_scale(mass / 12, cn_vec3(y + z, x + z, x + y));
    int32_t parent = i > 0 ? (int32_t)(cni_rng_unit(&rng) * i) : -1;
    CnVec3 from = parent >= 0 ? world_pose(m.world, m.bodies[parent]).position : CN_VEC3_ZERO;
    CnVec3 at = cn_add(from, draw(&rng, 0.3)), centre = cn_add(at, draw(&rng, 0.3));
    CnVec3 axis = cn_unit_or(draw(&rng, 1), cn_vec3(0, 0, 1)), turn = draw(&rng, 2);
    double angle = cni_rng_range(&rng, -3, 3), kind = cni_rng_unit(&rng);
    double swap = cni_rng_unit(&rng);
    CnTwist twist = {CN_VEC3_ZERO, CN_VEC3_ZERO};
    twist.spin = turn;
    m.bodies[m.body_count++] =
        world_mass(m.world, mass, j, (CnPose){centre, world_turn(axis, angle)}, twist);
    if (parent < 0 && !ground) continue;
    CnBodyId none = {0, 0}, other = parent >= 0 ? m.bodies[parent] : none, own = m.bodies[i];
    CnJointAxis act = act_on(i, acts == 1);
    m.joints[m.joint_count++] = world_join(
        m.world, kind < 0.75 ? CN_JOINT_REVOLUTE : CN_JOINT_BALL, swap < 0.5 ? other : own,
        swap < 0.5 ? own : other, at, cn_unit_or(turn, axis), acts && kind < 0.75 ? &act : NULL);
  }
  if (acts > 1) pushed[balance] = m;
  return m;
}

static Machine random_tree(uint64_t seed, int32_t count, int ground, int balance, double h) {
  return acting_tree(seed, count, ground, balance, h, 0);
}

// Velocities that fit the joints, by a step of the problem with hardly any length.
static void settle(Machine *m, double h) {
  CHECK_OK(cn_world_set_time_step(m->world, 1e-9));
  for (int i = 0; i < 2; i++) CHECK_OK(cn_world_step(m->world, NULL));
  CHECK_OK(cn_world_set_time_step(m->world, h));
}

static int is_whole(const CnStepReport *report) { return report->seconds_assembly == 0; }

typedef struct Differences {
  double far, turned, torn, angle;
  int32_t whole, steps;
} Differences;

// The same machine twice: whole steps, and by the problem. Both worlds are given up.
static void compare(Machine *a, Machine *b, double h, Differences *d) {
  settle(a, h);
  settle(b, h);
  for (int i = 0; i < 20; i++, d->steps++) {
    CnStepReport report = world_step(a->world);
    d->whole += is_whole(&report);
    CHECK(report.solve.certificate.residual < 1e-10);
    CHECK(report.solve.certificate.momentum_defect < 1e-10);
    int32_t converged = report.solve.converged;
    CHECK(!(report = world_step(b->world), is_whole(&report)));
    CHECK(converged == report.solve.converged);
  }
  for (int32_t i = 0; i < a->body_count; i++) {
    CnPose p = world_pose(a->world, a->bodies[i]), q = world_pose(b->world, b->bodies[i]);
    double turned = fabs(p.rotation.x - q.rotation.x) + fabs(p.rotation.z - q.rotation.z);
    d->far = cn_max(d->far, cn_norm(cn_sub(p.position, q.position)));
    d->turned = cn_max(d->turned, turned);
  }
  for (int32_t i = 0; i < a->joint_count; i++) {
    CnJointState p = world_joint(a->world, a->joints[i]), q = world_joint(b->world, b->joints[i]);
    double size = 1 + cn_norm(q.force) + cn_norm(q.torque);
    d->torn = cn_max(d->torn, cn_norm(cn_sub(p.force, q.force)) / size);
    d->torn = cn_max(d->torn, cn_norm(cn_sub(p.torque, q.torque)) / size);
    CHECK(p.error < 5e-12 && p.turn_error < 5e-12);
    d->angle = cn_max(d->angle, fabs(p.coordinate[0] - q.coordinate[0]));
  }
  cn_world_destroy(a->world);
  cn_world_destroy(b->world);
}

static void tell(const Differences *d) {
  print_message("%d of %d steps, apart %.2g m, turned %.2g, angles %.2g, forces %.2g\n",
                (int)d->whole, (int)d->steps, d->far, d->turned, d->angle, d->torn);
  CHECK(d->whole == d->steps);
}

static void both_ways_agree(void **state) {
  (void)state;
  Differences d = {0};
  for (uint64_t seed = 1; seed <= 40; seed++) {
    int32_t count = 2 + (int32_t)(seed % 20);
    double h = seed % 3 ? 1e-3 : 5e-3;
    Machine a = random_tree(seed, count, seed % 4 != 0, 0, h);
    Machine b = random_tree(seed, count, seed % 4 != 0, 1, h);
    compare(&a, &b, h, &d);
  }
  tell(&d);
  CHECK(d.far < 1e-10 && d.turned < 1e-10 && d.angle < 1e-9);
  CHECK(d.torn < 1e-6);
}

// Motors that give efforts, limits that are far, and loads of a hook: whole steps as well.
static void what_acts_agrees(void **state) {
  (void)state;
  for (int acts = 1; acts <= 2; acts++) {
    Differences d = {0};
    for (uint64_t seed = 1; seed <= 15; seed++) {
      double h = seed % 3 ? 1e-3 : 2e-3;
      Machine a = acting_tree(seed, 12, seed % 4 != 0, 0, h, acts);
      Machine b = acting_tree(seed, 12, seed % 4 != 0, 1, h, acts);
      compare(&a, &b, h, &d);
    }
    tell(&d);
    CHECK(d.far < 1e-9 && d.turned < 1e-9);
    // with limits the other way is swept, to a tolerance
    CHECK(acts == 1 ? d.torn < 1e-3 && d.angle < 1e-8 : d.torn < 1e-6 && d.angle < 1e-9);
  }
}

// A limit that is reached is none of theirs: it holds as in any other machine.
static void limits_are_met(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 2e-3;
  CnWorld *world = world_make(&def);
  CnBodyId none = {0, 0};
  CnBodyId rod = world_mass(world, 1, cn_vec3(.01, .08, .08), world_at(.5, 0, 0), (CnTwist){0});
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.upper = .5;
  CnJointId hinge =
      world_join(world, CN_JOINT_REVOLUTE, none, rod, CN_VEC3_ZERO, cn_vec3(0, 1, 0), &axis);
  int32_t whole = 0;
  for (int i = 0; i < 1000; i++) {
    CnStepReport report = world_step(world);
    whole += is_whole(&report);
    CHECK(world_joint(world, hinge).coordinate[0] < .5 + 1e-9);
  }
  CHECK(whole > 50 && whole < 900);
  CHECK_NEAR(world_joint(world, hinge).coordinate[0], .5, 1e-6);
  CHECK_NEAR(world_joint(world, hinge).limit[0], -9.81 * .5 * cni_cos(.5), 1e-6);
  cn_world_destroy(world);
}

// A ladder of windows in a plane of any direction: three rows too many in each. Loads across the plane
// (deep: bodies off it) have to be shared.
static Machine ladder(uint64_t seed, int32_t windows, int deep, int balance, double h) {
  CniRng rng = {seed};
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.balance = balance;
  Machine m = {.world = world_make(&def)};
  CnVec3 axis = cn_unit_or(draw(&rng, 1), cn_vec3(0, 0, 1)), y = {0, 1, 0}, j = {.08, .08, .01};
  CnQuat q = world_turn(axis, cni_rng_range(&rng, -3, 3));
  CnBodyId none = {0, 0};
  CnTwist swing = {{.5, 0, 0}, {0, 1, 0}}, slide = {{1, 0, 0}, {0, 0, 0}};
  for (int32_t i = 0; i <= 2 * windows; i++) {
    int bar = i > windows;
    CnVec3 centre = bar ? cn_vec3(i - windows - .5, 0, 1) : cn_vec3(i, 0, .5);
    CnTwist twist = bar ? slide : swing;
    if (deep) centre.y = cni_rng_range(&rng, -.2, .2);
    twist = (CnTwist){cn_rotate(q, twist.velocity), cn_rotate(q, twist.spin)};
    m.bodies[m.body_count++] = world_mass(m.world, 1, j, (CnPose){cn_rotate(q, centre), q}, twist);
  }
  for (int32_t i = 0; i <= windows; i++)
    m.joints[m.joint_count++] = world_join(m.world, CN_JOINT_REVOLUTE, none, m.bodies[i],
                                           cn_rotate(q, cn_vec3(i, 0, 0)), cn_rotate(q, y), NULL);
  for (int32_t i = 0; i < 2 * windows; i++)
    m.joints[m.joint_count++] =
        world_join(m.world, CN_JOINT_REVOLUTE, m.bodies[(i + 1) / 2], m.bodies[windows + 1 + i / 2],
                   cn_rotate(q, cn_vec3((i + 1) / 2, 0, 1)), cn_rotate(q, y), NULL);
  return m;
}

// Bodies of a random tree tied once more by a ball.
static Machine random_loop(uint64_t seed, int32_t count, int balance, double h) {
  Machine m = random_tree(seed, count, 1, balance, h);
  CnPose p = world_pose(m.world, m.bodies[count - 1]);
  CnBodyId none = {0, 0};
  m.joints[m.joint_count++] =
      world_join(m.world, CN_JOINT_BALL, seed % 2 ? m.bodies[0] : none, m.bodies[count - 1],
                 cn_add(p.position, cn_vec3(.1, .05, -.1)), cn_vec3(0, 0, 1), NULL);
  return m;
}

static void loops_agree(void **state) {
  (void)state;
  Differences d = {0};
  for (uint64_t seed = 1; seed <= 24; seed++) {
    double h = seed % 3 ? 1e-3 : 5e-3;
    int32_t windows = 1 + (int32_t)(seed % 7);
    Machine a = ladder(seed, windows, seed % 2 == 0, 0, h);
    Machine b = ladder(seed, windows, seed % 2 == 0, 1, h);
    compare(&a, &b, h, &d);
  }
  tell(&d);
  CHECK(d.far < 1e-10 && d.turned < 1e-10 && d.angle < 1e-9);
  CHECK(d.torn < 1e-5); // shares weigh rows of the drift, which the two ways write to second order
  d = (Differences){0};
  for (uint64_t seed = 1; seed <= 20; seed++) {
    double h = seed % 3 ? 1e-3 : 2e-3;
    Machine a = random_loop(seed, 8 + (int32_t)(seed % 6), 0, h);
    Machine b = random_loop(seed, 8 + (int32_t)(seed % 6), 1, h);
    compare(&a, &b, h, &d);
  }
  tell(&d);
  CHECK(d.far < 1e-9 && d.turned < 1e-9);
  CHECK(d.torn < 1e-6);
}

static CnWorldSums sums_of(const Machine *m) {
  CnWorldSums sums;
  cn_world_sums(m->world, &sums);
  return sums;
}

static void free_trees_keep_their_momenta(void **state) {
  (void)state;
  double worst = 0;
  for (uint64_t seed = 101; seed <= 112; seed++) {
    Machine m = random_tree(seed, 8, 0, 0, 1e-3);
    settle(&m, 1e-3);
    CnWorldSums start = sums_of(&m), end;
    for (int i = 0; i < 300; i++) CHECK_OK(cn_world_step(m.world, NULL));
    end = sums_of(&m);
    CnVec3 l = start.angular_momentum, change = cn_sub(end.angular_momentum, l);
    worst = cn_max(worst, cn_norm(change) / cn_norm(l));
    CHECK_NEAR(cn_norm(cn_sub(end.momentum, start.momentum)), 0, 1e-12);
    cn_world_destroy(m.world);
  }
  print_message("angular momentum %.2g\n", worst);
  CHECK(worst < 1e-12);
}

// The problem that was not needed is the one that was solved, also after the machine has changed.
static void problem_is_made_when_asked(void **state) {
  (void)state;
  Machine m = random_tree(7, 10, 1, 0, 1e-3);
  for (int i = 0; i < 5; i++) {
    CnStepReport report = world_step(m.world);
    CHECK(is_whole(&report));
    CnProblem *problem;
    const CnAnswer *answer;
    CnCertificate c;
    CnBlockOwner owner;
    CnBodyId body;
    CHECK_OK(cn_world_problem_block(m.world, 3, &owner));
    CHECK(owner.joint.slot == m.joints[3].slot);
    CHECK_OK(cn_world_problem_body(m.world, 2, &body));
    CHECK(body.slot == m.bodies[2].slot);
    if (i == 4)
      CHECK_OK(cn_body_destroy(
          m.world, world_mass(m.world, 1, cn_vec3(1, 1, 1), world_at(9, 9, 9), (CnTwist){0})));
    CHECK_OK(cn_world_problem(m.world, &problem, &answer));
    CHECK_OK(cn_certify(problem, answer, &c));
    CHECK(c.residual < 1e-11 && c.momentum_defect < 1e-11);
    CHECK_NEAR(c.dissipation, report.solve.certificate.dissipation, 1e-12);
    CHECK_OK(cn_world_problem_block(m.world, 3, &owner));
    CHECK(owner.joint.slot == m.joints[3].slot);
  }
  cn_world_destroy(m.world);
}

static void restored_in_motion(void **state) {
  (void)state;
  Machine m = random_tree(11, 12, 1, 0, 1e-3), other = random_tree(12, 4, 0, 0, 1e-3);
  for (int i = 0; i < 7; i++) CHECK_OK(cn_world_step(m.world, NULL));
  for (int i = 0; i < 3; i++) CHECK_OK(cn_world_step(other.world, NULL));
  size_t size;
  CHECK_OK(cn_world_save(m.world, NULL, 0, &size));
  void *data = malloc(size);
  CHECK(data);
  CHECK_OK(cn_world_save(m.world, data, size, &size));
  CHECK_OK(cn_world_restore(other.world, data, size));
  free(data);
  for (int i = 0; i < 30; i++) {
    CHECK_OK(cn_world_step(m.world, NULL));
    CHECK_OK(cn_world_step(other.world, NULL));
    CHECK(cn_world_hash(m.world) == cn_world_hash(other.world));
  }
  cn_world_destroy(m.world);
  cn_world_destroy(other.world);
}

// Two rods on hinges, the second held fast for a while: let go it swings as one that was never held, and
// what was saved before comes back, whatever kinds the bodies of the world have had since.
static void let_go_again(void **state) {
  (void)state;
  CnPose tip[2];
  uint64_t hash[2];
  unsigned char data[1 << 15];
  size_t size;
  for (int k = 0; k < 2; k++) {
    Machine m = random_tree(3, 2, 1, 0, 1e-3);
    CHECK_OK(cn_world_save(m.world, data, sizeof data, &size));
    if (k) {
      CHECK_OK(cn_body_set_kind(m.world, m.bodies[1], CN_BODY_FIXED));
      for (int i = 0; i < 5; i++) CHECK_OK(cn_world_step(m.world, NULL));
      CHECK_OK(cn_world_restore(m.world, data, size));
    }
    for (int i = 0; i < 100; i++) {
      CnStepReport report = world_step(m.world);
      CHECK(is_whole(&report));
    }
    hash[k] = cn_world_hash(m.world);
    cn_world_destroy(m.world);
  }
  CHECK(hash[0] == hash[1]);
  for (int k = 0; k < 2; k++) { // by the problem, and whole
    CnWorldDef def = cn_world_def_default();
    def.balance = k == 0;
    def.time_step = 1e-3;
    CnWorld *world = world_make(&def);
    CnVec3 j = {.01, .02, .02}, y = {0, 1, 0};
    CnBodyId none = {0, 0}, a = world_mass(world, 1, j, world_at(.25, 0, 0), (CnTwist){0});
    CnBodyId b = world_mass(world, 1, j, world_at(.75, 0, 0), (CnTwist){0});
    world_join(world, CN_JOINT_REVOLUTE, none, a, CN_VEC3_ZERO, y, NULL);
    world_join(world, CN_JOINT_REVOLUTE, a, b, cn_vec3(.5, 0, 0), y, NULL);
    const CnBodyKind kinds[] = {CN_BODY_DYNAMIC, CN_BODY_FIXED, CN_BODY_KINEMATIC, CN_BODY_DYNAMIC};
    for (int n = 0; n < 4; n++) {
      CHECK_OK(cn_body_set_kind(world, b, kinds[n]));
      for (int i = 0; i < 40; i++) CHECK_OK(cn_world_step(world, NULL));
    }
    CnStepReport report = world_step(world);
    CHECK(is_whole(&report) == k);
    tip[k] = world_pose(world, b);
    cn_world_destroy(world);
  }
  CHECK(tip[1].position.z < -.01);
  CHECK_NEAR(cn_norm(cn_sub(tip[0].position, tip[1].position)), 0, 1e-9);
}

// A wheel on its axle: its turns are counted whole, whatever its speed.
static void turns_are_counted(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 1e-2;
  CnWorld *world = world_make(&def);
  CnTwist twist = {CN_VEC3_ZERO, {0, 0, 60}};
  CnBodyId none = {0, 0}, wheel = world_mass(world, 1, cn_vec3(1, 1, 2), world_at(0, 0, 0), twist);
  CnJointId hinge =
      world_join(world, CN_JOINT_REVOLUTE, none, wheel, CN_VEC3_ZERO, cn_vec3(0, 0, 1), NULL);
  for (int i = 0; i < 1000; i++) {
    CnStepReport report = world_step(world);
    CHECK(is_whole(&report));
  }
  CHECK_NEAR(world_joint(world, hinge).coordinate[0], 600, 1e-9);
  cn_world_destroy(world);
}

// A body that is held at its centre of mass turns as if it were free.
static void held_at_its_centre(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 1e-2;
  CnWorld *world = world_make(&def);
  CnTwist twist = {CN_VEC3_ZERO, {5, 9, -7}};
  CnBodyId none = {0, 0};
  CnBodyId body = world_mass(world, 1, cn_vec3(1, 1.5, 2), world_at(0, 0, 0), twist);
  world_join(world, CN_JOINT_BALL, none, body, CN_VEC3_ZERO, cn_vec3(0, 0, 1), NULL);
  CnWorldSums start, end;
  cn_world_sums(world, &start);
  double energy = world_energy(world);
  for (int i = 0; i < 300; i++) {
    CnStepReport report = world_step(world);
    CHECK(is_whole(&report));
  }
  cn_world_sums(world, &end);
  CnVec3 change = cn_sub(end.angular_momentum, start.angular_momentum);
  CHECK_NEAR(cn_norm(change) / cn_norm(start.angular_momentum), 0, 1e-13);
  CHECK_REL(world_energy(world), energy, 1e-13);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(both_ways_agree),
                                     cmocka_unit_test(loops_agree),
                                     cmocka_unit_test(what_acts_agrees),
                                     cmocka_unit_test(limits_are_met),
                                     cmocka_unit_test(free_trees_keep_their_momenta),
                                     cmocka_unit_test(problem_is_made_when_asked),
                                     cmocka_unit_test(restored_in_motion),
                                     cmocka_unit_test(let_go_again),
                                     cmocka_unit_test(turns_are_counted),
                                     cmocka_unit_test(held_at_its_centre)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
