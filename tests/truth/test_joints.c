// SPDX-License-Identifier: Apache-2.0
// Every kind of joint in the table: two free bodies tumble, locked directions hold, reactions do no
// work, momentum stays; whatever acts on the coordinates. A new row of the table is tested here.
#include "check.h"
#include "core/math.h"
#include "core/rng.h"
#include "joint/joint.h"
#include "toys.h"

#include <stdlib.h>

static CniRng rng;

static CnVec3 any(double size) { return toy_any(&rng, size); }

typedef struct Pair {
  CnWorld *world;
  CnBodyId a, b;
  CnJointId joint;
  CnJointDef def;
} Pair;

// Two boxes of these half sides, and half of them, with a joint between them, without gravity.
static Pair pair(const CnWorldDef *def, CnVec3 half, CnJointKind kind, const CnJointAxis *axis) {
  Pair p = {.world = toy_world_from(def)};
  CHECK_OK(cn_world_set_gravity(p.world, CN_VEC3_ZERO));
  p.a = toy_box(p.world, half, CN_VEC3_ZERO, CN_QUAT_ONE);
  p.b = toy_box(p.world, cn_scale(0.8, half), cn_vec3(0.3, 0.05, 0.02), CN_QUAT_ONE);
  p.def = cn_joint_def_default(kind);
  p.def.body_a = p.a;
  p.def.body_b = p.b;
  if (kind == CN_JOINT_SCREW) p.def.lead = 0.2;
  for (int32_t i = 0; axis && i < cni_joint_coordinate_count(kind); i++) p.def.axes[i] = *axis;
  CHECK_OK(cn_joint_def_along(p.world, cn_vec3(0.17, 0.02, 0.01), cn_vec3(1, 2, 3), &p.def));
  if (cni_joint_kinds[kind]->apart && !cni_joint_kinds[kind]->curves)
    p.def.frame_b.position = cn_vec3(-0.05, 0.02, 0.01);
  toy_curves(p.world, &p.def);
  CHECK_OK(cn_joint_create(p.world, &p.def, &p.joint));
  return p;
}

// Both bodies get velocities at random. Drawn one after the other: arguments have no order.
static void push(const Pair *p) {
  CnBodyId bodies[2] = {p->a, p->b};
  for (int32_t k = 0; k < 2; k++) {
    CnVec3 spin = any(2), velocity = any(0.3);
    toy_set_twist(p->world, bodies[k], velocity, spin);
  }
}

static CnJointState state_of(const Pair *p) {
  CnJointState state;
  CHECK_OK(cn_joint_state(p->world, p->joint, &state));
  return state;
}

static void near3(CnVec3 a, CnVec3 b, double tolerance) {
  CHECK_NEAR(a.x, b.x, tolerance);
  CHECK_NEAR(a.y, b.y, tolerance);
  CHECK_NEAR(a.z, b.z, tolerance);
}

static double energy(const Pair *p) {
  CnWorldSums sums;
  CnJointState s = state_of(p);
  cn_world_sums(p->world, &sums);
  double sum = sums.kinetic_energy;
  for (int32_t k = 0; k < s.coordinate_count; k++)
    sum += 0.5 * p->def.axes[k].stiffness * s.coordinate[k] * s.coordinate[k];
  return sum;
}

// Ten seconds by hem5 with soft springs: nothing opens, no energy comes or goes, free directions do
// move.
static void tumbling(void **state) {
  (void)state;
  for (int32_t kind = 0; kind < CN_JOINT_KIND_COUNT; kind++) {
    if (cni_joint_kinds[kind]->locked_count == 0) continue;
    CniRng before_kind = rng; // kinds that came later do not change the numbers of the next test
    CnWorldDef def = cn_world_def_default();
    def.time_step = 0.02;
    def.integrator = "hem5";
    def.integration.tolerance = 1e-10;
    def.integration.project_start = 1;
    CnJointAxis axis = {.lower = -INFINITY, .upper = INFINITY, .stiffness = 0.2};
    Pair p = pair(&def, cn_vec3(0.1, 0.07, 0.05), (CnJointKind)kind, &axis);
    push(&p);
    CnWorldSums before, after;
    toy_steps(p.world, 1);
    cn_world_sums(p.world, &before);
    double start = energy(&p), worst = 0, moved = 0;
    for (int32_t i = 0; i < 500; i++) {
      toy_steps(p.world, 1);
      CnJointState s = state_of(&p);
      worst = cn_max(worst, cn_max(s.error, s.turn_error));
      for (int32_t k = 0; k < s.coordinate_count; k++) moved = cn_max(moved, fabs(s.coordinate[k]));
    }
    cn_world_sums(p.world, &after);
    print_message("%-18s error %.1e, energy %.1e\n", cni_joint_kinds[kind]->name, worst,
                  energy(&p) / start - 1);
    CHECK(worst < 1e-9);
    CHECK_NEAR(energy(&p) / start, 1, 1e-9);
    near3(after.momentum, before.momentum, 1e-11);
    near3(after.angular_momentum, before.angular_momentum, 1e-8);
    if (cni_joint_coordinate_count((CnJointKind)kind) > 0) CHECK(moved > 0.05);
    if (cni_joint_kinds[kind]->curves) rng = before_kind;
    cn_world_destroy(p.world);
  }
}

// By impulse, with limits, a motor, friction and a spring on every coordinate: what one body gets
// the other one loses, and a saved world goes on with the same bits.
static void momentum(void **state) {
  (void)state;
  CnJointAxis axis = {.lower = -0.2,
                      .upper = 0.3,
                      .motor_speed = 0.5,
                      .motor_effort = 0.2,
                      .friction = 0.05,
                      .stiffness = 3,
                      .damping = 0.1,
                      .rest = 0.05};
  for (int32_t kind = 0; kind < CN_JOINT_KIND_COUNT; kind++) {
    CnWorldDef def = cn_world_def_default();
    def.time_step = 2e-3;
    Pair p = pair(&def, cn_vec3(0.1, 0.1, 0.1), (CnJointKind)kind, &axis);
    push(&p);
    CnWorldSums before, after;
    cn_world_sums(p.world, &before);
    toy_steps(p.world, 150);
    size_t size;
    CHECK_OK(cn_world_save(p.world, NULL, 0, &size));
    void *data = malloc(size);
    CHECK_OK(cn_world_save(p.world, data, size, &size));
    CnWorld *copy = toy_world(1e-2);
    CHECK_OK(cn_world_restore(copy, data, size));
    toy_steps(p.world, 150);
    toy_steps(copy, 150);
    CHECK(cn_world_hash(p.world) == cn_world_hash(copy));
    cn_world_sums(p.world, &after);
    near3(after.momentum, before.momentum, 1e-12);
    double turn = cni_joint_kinds[kind]->curves ? 1e-11 : 5e-12;
    near3(after.angular_momentum, before.angular_momentum, turn);
    free(data);
    cn_world_destroy(copy);
    cn_world_destroy(p.world);
  }
}

// Six coordinates that slip, stick and stop in the same step: what gives way in the drift gives all it has, and
// that has to act on both bodies at one point.
static void momentum_of_what_gives_way(void **state) {
  (void)state;
  CniRng before_seeds = rng;
  CnJointAxis axis = {.lower = -0.2,
                      .upper = 0.3,
                      .motor_speed = 0.5,
                      .motor_effort = 0.2,
                      .friction = 0.05,
                      .stiffness = 3};
  double worst = 0;
  for (int32_t seed = 0; seed < 12; seed++) {
    CnWorldDef def = cn_world_def_default();
    def.time_step = 2e-3;
    axis.friction = 0.02 * (seed + 1);
    Pair p = pair(&def, cn_vec3(0.1, 0.1, 0.1), CN_JOINT_GENERIC, &axis);
    push(&p);
    for (int32_t i = 0; i < 300; i++) {
      CnWorldSums before, after;
      cn_world_sums(p.world, &before);
      toy_steps(p.world, 1);
      cn_world_sums(p.world, &after);
      double change = cn_norm(cn_sub(after.angular_momentum, before.angular_momentum));
      worst = cn_max(worst, change);
    }
    cn_world_destroy(p.world);
  }
  print_message("angular momentum of a step: %.1e\n", worst);
  CHECK(worst < 1e-13);
  rng = before_seeds;
}

// What the locked directions of a joint do to the motion they leave: their power at the end of a step,
// sum of impulse times speed of the row. Nothing acts along the coordinates.
static double power_of(CnWorld *world, double *energy) {
  CnProblem *p;
  const CnAnswer *answer;
  CnExpanded x;
  CnWorldSums sums;
  double sum = 0;
  CHECK_OK(cn_world_problem(world, &p, &answer));
  CHECK_OK(cn_problem_expand(p, &x));
  for (int32_t i = 0; i < x.e.row_count; i++) {
    double speed = 0;
    for (int32_t e = x.e.start[i]; e < x.e.start[i + 1]; e++) {
      int32_t group = 0;
      while (x.group_column[group] < 0 || x.e.column[e] >= x.group_column[group] + 6) group++;
      speed += x.e.value[e] * answer->v[6 * group + x.e.column[e] - x.group_column[group]];
    }
    sum += answer->g[i] * speed;
  }
  cn_expanded_destroy(&x);
  cn_world_sums(world, &sums);
  *energy = sums.kinetic_energy;
  return fabs(sum);
}

// Reactions do no work on free motions (1e-12 of the kinetic energy), momentum and angular momentum
// stay to 1e-12, and work and change of energy agree to 1e-10, with every kind of joint.
static void identities(void **state) {
  (void)state;
  for (int32_t kind = 0; kind < CN_JOINT_KIND_COUNT; kind++) {
    CnWorldDef def = cn_world_def_default();
    def.time_step = 2e-3;
    def.balance = 1;
    Pair p = pair(&def, cn_vec3(0.1, 0.07, 0.05), (CnJointKind)kind, NULL);
    push(&p);
    toy_steps(p.world, 1); // velocities fit the joint from here on
    CnWorldSums before, after;
    cn_world_sums(p.world, &before);
    double power = 0, left = 0, energy, scale = 0;
    for (int32_t i = 0; i < 500; i++) {
      CnStepBalance balance;
      toy_steps(p.world, 1);
      power = cn_max(power, power_of(p.world, &energy) / energy);
      CHECK_OK(cn_world_balance(p.world, &balance));
      left = cn_max(left, fabs(balance.residual.energy) / energy);
      scale = cn_max(scale, energy);
    }
    cn_world_sums(p.world, &after);
    double moved = cn_norm(cn_sub(after.momentum, before.momentum));
    double turned = cn_norm(cn_sub(after.angular_momentum, before.angular_momentum));
    print_message("%-18s power %.1e, identity %.1e, momentum %.1e, angular %.1e (%.1e)\n",
                  cni_joint_kinds[kind]->name, power, left, moved, turned,
                  cn_norm(before.angular_momentum));
    CHECK(power < 1e-12);
    CHECK(left < 1e-10);
    CHECK(moved < 1e-12 && turned < 1e-12);
    cn_world_destroy(p.world);
  }
}

// A wheel on a hinge, fast and slow: its angle counts every turn, also across save and restore.
static void turns_are_counted(void **state) {
  (void)state;
  const double speeds[] = {7, 290, -7};
  for (int32_t i = 0; i < 3; i++) {
    CnWorld *w = toy_world(1e-2);
    CHECK_OK(cn_world_set_gravity(w, CN_VEC3_ZERO));
    CnBodyId wheel = toy_ball(w, 0.1, CN_VEC3_ZERO, (CnMaterialId){0, 0});
    CnJointDef def = cn_joint_def_default(CN_JOINT_REVOLUTE);
    CnJointId hinge;
    CnJointState at;
    def.body_b = wheel;
    CHECK_OK(cn_joint_def_along(w, CN_VEC3_ZERO, cn_vec3(0, 1, 0), &def));
    CHECK_OK(cn_joint_create(w, &def, &hinge));
    toy_set_twist(w, wheel, CN_VEC3_ZERO, cn_vec3(0, speeds[i], 0));
    toy_steps(w, 300);
    CHECK_OK(cn_joint_state(w, hinge, &at));
    CHECK_NEAR(at.coordinate[0], 3 * speeds[i], 1e-9 * fabs(speeds[i]));
    CHECK_NEAR(at.rate[0], speeds[i], 1e-10 * fabs(speeds[i]));
    size_t size;
    char data[20000];
    CHECK_OK(cn_world_save(w, data, sizeof data, &size));
    CnWorld *copy = toy_world(1e-2);
    CHECK_OK(cn_world_restore(copy, data, size));
    toy_steps(copy, 100);
    CHECK_OK(cn_joint_state(copy, cn_world_next_joint(copy, (CnJointId){0, 0}), &at));
    CHECK_NEAR(at.coordinate[0], 4 * speeds[i], 1e-9 * fabs(speeds[i]));
    cn_world_destroy(copy);
    cn_world_destroy(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tumbling),
      cmocka_unit_test(momentum),
      cmocka_unit_test(momentum_of_what_gives_way),
      cmocka_unit_test(identities),
      cmocka_unit_test(turns_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
