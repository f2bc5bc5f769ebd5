// SPDX-License-Identifier: Apache-2.0
// Numbers at the edge of what makes sense: bodies 1e12 m away, speeds of 1e9 m/s, masses from 1e-12
// to 1e12 kg, steps from 1e-9 to 1e3 s, crowds in one place; with every shape, joint, force,
// integrator and solver. Each step ends within a bounded time: it is made and every number is
// finite, or it is refused with one line and the world is as it was.
//
// CAIRN_CROWD: how many bodies lie in one place; with it also what takes long.
#include "check.h"
#include "placed.h"
#include "core/vec.h"

#include <cairn/cairn.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define STEPS 2
#define SECONDS 60 // of computing for one world; sanitizers and crowds included

typedef struct Extreme {
  const char *name;
  double away, speed, spin; // m, m/s, rad/s
  double mass, other_mass;  // kg
  double h;                 // s
  double stiffness;         // N/m
} Extreme;

static const Extreme extremes[] = {
    {"usual", 0, 1, 1, 1, 1, 1e-3, 100},
    {"1e12 m away", 1e12, 1, 1, 1, 1, 1e-3, 100},
    {"1e9 m/s", 0, 1e9, 1, 1, 1, 1e-3, 100},
    {"1e9 rad/s", 0, 1, 1e9, 1, 1, 1e-3, 100},
    {"1e12 kg on 1e-12 kg", 0, 1, 1, 1e-12, 1e12, 1e-3, 100},
    {"1e-12 kg on 1e12 kg", 0, 1, 1, 1e12, 1e-12, 1e-3, 100},
    {"1e-12 kg", 0, 1, 1, 1e-12, 1e-12, 1e-3, 100},
    {"1e12 kg", 0, 1, 1, 1e12, 1e12, 1e-3, 100},
    {"steps of 1e-9 s", 0, 1, 1, 1, 1, 1e-9, 100},
    {"steps of 1e3 s", 0, 1, 1, 1, 1, 1e3, 100},
    {"1e12 N/m", 0, 1, 1, 1, 1, 1e-3, 1e12},
    {"all at once, short steps", 1e12, 1e9, 1e9, 1e12, 1e-12, 1e-9, 1e12},
    {"all at once, long steps", -1e12, -1e9, 1e9, 1e-12, 1e12, 1e3, 1e-12},
};
#define EXTREME_COUNT ((int32_t)(sizeof extremes / sizeof extremes[0]))

static char now_trying[200];
static int64_t made, refused;

static void too_long(int number) {
  (void)number;
  static const char what[] = ": takes too long\n";
  if (write(2, now_trying, strlen(now_trying)) < 0 || write(2, what, sizeof what - 1) < 0) _exit(2);
  _exit(1);
}

static void give_time(int32_t seconds) {
  struct itimerval timer = {.it_value = {.tv_sec = seconds}};
  signal(SIGPROF, too_long);
  CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
}

static void check_line(void) {
  const char *line = cn_error_message();
  if (!*line || strchr(line, '\n')) fail_msg("%s: no sentence: `%s`", now_trying, line);
  refused++;
}

static void check_finite(const CnWorld *world) {
  for (CnBodyId b = {0, 0}; (b = cn_world_next_body(world, b)).slot;) {
    CnPose p;
    CnTwist t;
    CHECK_OK(cn_body_pose(world, b, &p));
    CHECK_OK(cn_body_twist(world, b, &t));
    if (!cn_vec3_finite(p.position) || !cn_vec3_finite(t.velocity) || !cn_vec3_finite(t.spin) ||
        !(fabs(cn_qnorm2(p.rotation) - 1) < 1e-9))
      fail_msg("%s: a state that is none", now_trying);
  }
}

static void try_steps(CnWorld *world, int32_t count) {
  CnPenetration penetration;
  for (int32_t i = 0; i < count; i++) {
    uint64_t before = cn_world_hash(world);
    if (cn_world_step(world, NULL) == CN_OK) {
      check_finite(world);
      made++;
      continue;
    }
    check_line();
    if (cn_world_hash(world) != before) fail_msg("%s: a refused step left a trace", now_trying);
    break;
  }
  if (cn_world_penetration(world, &penetration) != CN_OK) check_line();
}

static CnShapeDef some_shape(CnWorld *world, CnShapeKind kind) {
  CnShapeDef def = cn_shape_def_default(kind);
  def.radius = .1;
  def.half_length = .1;
  def.half_size = cn_vec3(.1, .1, .1);
  def.top_radius = .05;
  if (kind == CN_SHAPE_HULL) {
    CnVec3 corners[8];
    for (int32_t i = 0; i < 8; i++)
      corners[i] = cn_vec3(i & 1 ? .1 : -.1, i & 2 ? .1 : -.1, i & 4 ? .1 : -.1);
    CHECK_OK(cn_geometry_create_points(world, "hull", corners, 8, &def.geometry));
  }
  return def;
}

// A body at a height over the floor, under way; none if it was refused.
static CnBodyId some_body(CnWorld *world, const Extreme *e, double mass, double z,
                          const CnShapeDef *shape) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body = {0, 0};
  CnShapeId id;
  def.pose.position = cn_vec3(e->away, -e->away, z);
  def.twist = (CnTwist){cn_vec3(e->speed, 0, -e->speed), cn_vec3(e->spin, -e->spin, e->spin)};
  def.mass = mass;
  def.inertia = (CnSym3){.01 * mass, .01 * mass, .01 * mass, 0, 0, 0};
  if (shape->kind == CN_SHAPE_PLANE)
    def.kind = CN_BODY_FIXED, def.twist = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  if (cn_body_create(world, &def, &body) != CN_OK) {
    check_line();
    return (CnBodyId){0, 0};
  }
  if (cn_shape_create(world, body, shape, &id) != CN_OK) check_line();
  return body;
}

static CnWorld *some_world(const Extreme *e, const char *integrator, const char *solver) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world = NULL;
  def.integrator = integrator;
  def.solver = cn_solver_def_default(solver);
  def.solver.effort = CN_EFFORT_EXACT;
  if (def.solver.max_iterations > 50) def.solver.max_iterations = 50;
  def.integration.project_start = 1;
  def.integration.max_steps = 20;
  def.integration.max_events = 5;
  def.time_step = e->h;
  CHECK_OK(cn_world_create(&def, &world));
  CnShapeDef floor = cn_shape_def_default(CN_SHAPE_PLANE);
  CnBodyDef ground = cn_body_def_default();
  CnBodyId body;
  CnShapeId shape;
  ground.kind = CN_BODY_FIXED;
  CHECK_OK(cn_body_create(world, &ground, &body));
  CHECK_OK(cn_shape_create(world, body, &floor, &shape));
  return world;
}

// Two bodies of a kind of shape, one on the other on the floor.
static void try_shape(const Extreme *e, const char *integrator, const char *solver,
                      CnShapeKind kind) {
  snprintf(now_trying, sizeof now_trying, "%s, %s, %s, %s", e->name, integrator, solver,
           cn_shape_kind_name(kind));
  give_time(SECONDS);
  CnWorld *world = some_world(e, integrator, solver);
  CnShapeDef shape = some_shape(world, kind);
  some_body(world, e, e->mass, .1, &shape);
  some_body(world, e, e->other_mass, .3, &shape);
  try_steps(world, STEPS);
  cn_world_destroy(world);
}

// Two balls on a joint, with springs in its coordinates and another one between them.
static void try_joint(const Extreme *e, const char *integrator, const char *solver,
                      CnJointKind kind) {
  snprintf(now_trying, sizeof now_trying, "%s, %s, %s, %s", e->name, integrator, solver,
           cn_joint_kind_name(kind));
  give_time(SECONDS);
  CnWorld *world = some_world(e, integrator, solver);
  CnShapeDef ball = some_shape(world, CN_SHAPE_SPHERE);
  CnJointDef def = cn_joint_def_default(kind);
  CnForceDef spring = cn_force_def_default(CN_FORCE_SPRING);
  CnJointId joint;
  CnForceId force;
  def.body_a = some_body(world, e, e->mass, .2, &ball);
  def.body_b = some_body(world, e, e->other_mass, .6, &ball);
  if (kind == CN_JOINT_SCREW) def.lead = .01;
  if (kind == CN_JOINT_DISTANCE || kind == CN_JOINT_ROPE) def.distance = .4;
  for (int32_t i = 0; i < CN_JOINT_AXES && cn_joint_coordinate_name(kind, i); i++) {
    def.axes[i].stiffness = e->stiffness;
    def.axes[i].damping = 1e-9;
  }
  CnVec3 anchor = cn_vec3(e->away, -e->away, .4);
  if (cn_joint_def_along(world, anchor, cn_vec3(0, 1, 1), &def) != CN_OK ||
      cn_joint_create(world, &def, &joint) != CN_OK)
    check_line();
  spring.body_a = def.body_a;
  spring.body_b = def.body_b;
  spring.stiffness = e->stiffness;
  spring.damping = 1e-12;
  if (cn_force_create(world, &spring, &force) != CN_OK) check_line();
  try_steps(world, STEPS);
  cn_world_destroy(world);
}

static int32_t is_long(void) { return getenv("CAIRN_CROWD") != NULL; }

static void shapes_and_joints(void **state) {
  (void)state;
  made = refused = 0;
  for (int32_t k = 0; k < EXTREME_COUNT; k++)
    for (int32_t i = 0; cn_integrator_name(i); i++) {
      const char *integrator = cn_integrator_name(i);
      if (i > 0 && k % 4 && !is_long()) continue;
      for (int32_t s = 0; s < CN_SHAPE_KIND_COUNT; s = next_convex(s))
        try_shape(&extremes[k], integrator, is_long() && s % 2 ? "auto" : "psor", (CnShapeKind)s);
      for (int32_t j = 0; j < CN_JOINT_KIND_COUNT; j++)
        try_joint(&extremes[k], integrator, is_long() && j % 2 ? "auto" : "psor", (CnJointKind)j);
    }
  print_message("%lld steps made, %lld refusals\n", (long long)made, (long long)refused);
  CHECK(made > 500 && refused < made);
}

static void solvers(void **state) {
  (void)state;
  made = refused = 0;
  for (int32_t k = 0; k < EXTREME_COUNT; k++)
    for (int32_t i = 0; cn_solver_name(i); i++) {
      try_shape(&extremes[k], "impulse", cn_solver_name(i), CN_SHAPE_BOX);
      try_joint(&extremes[k], "impulse", cn_solver_name(i), CN_JOINT_REVOLUTE);
      try_shape(&extremes[k], "moreau-jean", cn_solver_name(i), CN_SHAPE_SPHERE);
    }
  print_message("%lld steps made, %lld refusals\n", (long long)made, (long long)refused);
}

// An iteration that runs away ends while its numbers are numbers: what a costly solver would spend on them is
// spent for nothing. The step is made with the rows half-way, or refused.
static void runaway(void **state) {
  (void)state;
  CnWorld *world = some_world(&extremes[3], "moreau-jean", "psor");
  CnShapeDef box = some_shape(world, CN_SHAPE_BOX);
  some_body(world, &extremes[3], 1, .1, &box);
  some_body(world, &extremes[3], 1, .3, &box);
  give_time(SECONDS);
  CnStatus status = cn_world_step(world, NULL);
  CHECK(status == CN_OK || status == CN_STOPPED);
  CHECK(status == CN_OK || !strstr(cn_error_message(), "in 60 iterations"));
  CnWorldSums sums;
  cn_world_sums(world, &sums);
  CHECK(isfinite(sums.kinetic_energy));
  cn_world_destroy(world);
}

// A spin whose square is no number, free and on a joint.
static void spins(void **state) {
  (void)state;
  for (int32_t power = 140; power < 300; power += 16)
    for (int32_t on_joint = 0; on_joint < 2; on_joint++) {
      snprintf(now_trying, sizeof now_trying, "1e%d rad/s, joint %d", (int)power, (int)on_joint);
      CnWorldDef world_def = cn_world_def_default();
      CnBodyDef def = cn_body_def_default();
      CnJointDef ball = cn_joint_def_default(CN_JOINT_BALL);
      CnWorld *world;
      CnJointId joint;
      double spin = pow(10, power);
      def.twist.spin = cn_vec3(spin, -spin, spin);
      def.mass = 1;
      def.inertia = (CnSym3){1, 1, 1, 0, 0, 0};
      CHECK_OK(cn_world_create(&world_def, &world));
      CHECK_OK(cn_body_create(world, &def, &ball.body_b));
      if (on_joint) CHECK_OK(cn_joint_create(world, &ball, &joint));
      try_steps(world, STEPS);
      cn_world_destroy(world);
    }
}

// All in one place, with no direction in which to go apart.
static void try_crowd(const char *integrator, const char *solver, CnShapeKind kind, int32_t count) {
  snprintf(now_trying, sizeof now_trying, "%d in one place, %s, %s, %s", (int)count, integrator,
           solver, cn_shape_kind_name(kind));
  give_time(SECONDS);
  CnWorld *world = some_world(&extremes[0], integrator, solver);
  CnShapeDef shape = some_shape(world, kind);
  for (int32_t i = 0; i < count; i++) some_body(world, &extremes[0], 1, .5, &shape);
  try_steps(world, 1);
  cn_world_destroy(world);
}

static void crowds(void **state) {
  (void)state;
  const char *text = getenv("CAIRN_CROWD");
  int32_t count = text ? (int32_t)strtol(text, NULL, 10) : 250;
  for (int32_t s = 0; s < CN_SHAPE_KIND_COUNT; s = next_convex(s)) {
    if (s == CN_SHAPE_PLANE) continue;
    try_crowd("impulse", "psor", (CnShapeKind)s, s == CN_SHAPE_SPHERE ? count : count / 5);
  }
  // small ones where every contact is an equation or a row of a dense matrix
  for (int32_t i = 0; cn_integrator_name(i); i++)
    try_crowd(cn_integrator_name(i), "auto", CN_SHAPE_SPHERE, 6);
  for (int32_t i = 0; cn_solver_name(i); i++)
    try_crowd("impulse", cn_solver_name(i), CN_SHAPE_SPHERE, 15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_and_joints),
      cmocka_unit_test(solvers),
      cmocka_unit_test(runaway),
      cmocka_unit_test(spins),
      cmocka_unit_test(crowds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
