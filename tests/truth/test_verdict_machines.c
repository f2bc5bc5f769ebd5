// SPDX-License-Identifier: Apache-2.0
// The verdict on machines, walls and loads as a user builds them: twenty runs that are broken, each of which
// it must refuse, and twenty that it must trust. The worlds are others than those of test_verdict.c, with the
// effort that is the default.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "core/vec.h"
#include "worlds.h"

typedef struct Run {
  const char *name;
  void (*make)(CnWorld *world, double x);
  double x;
  double h;
  int32_t steps;
  const char *solver;     // null: the default
  int32_t iterations;     // 0: the default
  double tolerance;       // 0: none
  const char *integrator; // null: impulse
} Run;

static const CnVec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};
static const CnBodyId GROUND = {0, 0};

static CnMaterialId floor_of(CnWorld *world, double friction, double restitution) {
  CnMaterialId material = world_material(world, friction, restitution);
  world_floor(world, material);
  return material;
}

static CnJointAxis motor_of(CnJointKind kind, double speed, double effort) {
  CnJointAxis axis = cn_joint_def_default(kind).axes[0];
  axis.motor_speed = speed;
  axis.motor_effort = effort;
  return axis;
}

// ---- worlds ----

// Five courses of bricks; a ball of x kg at 6 m/s hits them.
static void wall(CnWorld *world, double x) {
  CnMaterialId material = floor_of(world, 0.6, 0);
  for (int r = 0; r < 5; r++)
    for (int c = 0; c < 5; c++)
      world_box(world, cn_vec3(0.1, 0.05, 0.05), 3.6,
                world_at(0.201 * (c - 2) + 0.1 * (r % 2), 0, 0.05 + 0.1 * r), CN_VEC3_ZERO,
                material);
  if (x > 0) world_ball(world, 0.08, x, cn_vec3(0, -0.4, 0.25), cn_vec3(0, 6, 0), material);
}

// A crank of .1 m at 5 rad/s, a rod of .3 m, a slide; the slide's joint is x m off.
static void slider_crank(CnWorld *world, double x) {
  CnJointAxis motor = motor_of(CN_JOINT_REVOLUTE, 5, 1000);
  CnBodyId crank = world_part(world, 1, 0.01, cn_vec3(0.05, 0, 0), 0);
  CnBodyId rod = world_part(world, 1, 0.01, cn_vec3(0.25, 0, 0), 0);
  CnBodyId slide = world_part(world, 1, 0.01, cn_vec3(0.4, 0, 0), 0);
  world_join(world, CN_JOINT_REVOLUTE, GROUND, crank, CN_VEC3_ZERO, Y, &motor);
  world_join(world, CN_JOINT_REVOLUTE, crank, rod, cn_vec3(0.1, 0, 0), Y, NULL);
  world_join(world, CN_JOINT_REVOLUTE, rod, slide, cn_vec3(0.4, 0, 0), Y, NULL);
  CnJointDef joint = cn_joint_def_default(CN_JOINT_PRISMATIC);
  CnJointId id;
  joint.body_a = GROUND;
  joint.body_b = slide;
  joint.frame_a.rotation = joint.frame_b.rotation = world_turn(Y, 1.5707963267948966);
  joint.frame_a.position = cn_vec3(0.4, x, 0);
  CHECK_OK(cn_joint_create(world, &joint, &id));
}

// A heavy slider without gravity, cranked at x rad/s: as in examples/machines.
static void cranked(CnWorld *world, double x) {
  CnJointAxis motor = motor_of(CN_JOINT_REVOLUTE, x, INFINITY);
  CnBodyId crank = world_part(world, 1, 1. / 1200, cn_vec3(0.05, 0, 0), 0);
  CnBodyId rod = world_part(world, 2, 2 * .16 / 12, cn_vec3(0.3, 0, 0), 0);
  CnBodyId slide = world_part(world, 3, 0.005, cn_vec3(0.5, 0, 0), 0);
  CnTwist turns = {cn_vec3(0, 0, -0.05 * x), cn_vec3(0, x, 0)};
  CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
  CHECK_OK(cn_body_set_twist(world, crank, &turns));
  turns.spin = cn_vec3(0, -x / 4, 0);
  CHECK_OK(cn_body_set_twist(world, rod, &turns));
  world_join(world, CN_JOINT_REVOLUTE, GROUND, crank, CN_VEC3_ZERO, Y, &motor);
  world_join(world, CN_JOINT_REVOLUTE, crank, rod, cn_vec3(0.1, 0, 0), Y, NULL);
  world_join(world, CN_JOINT_REVOLUTE, rod, slide, cn_vec3(0.5, 0, 0), Y, NULL);
  world_join(world, CN_JOINT_PRISMATIC, GROUND, slide, cn_vec3(0.5, 0, 0), X, NULL);
}

// A carriage that a motor of any strength drives to its stop, x m/s.
static void stop(CnWorld *world, double x) {
  CnBodyId body = world_part(world, 1, 0.1, CN_VEC3_ZERO, 0);
  CnJointAxis motor = motor_of(CN_JOINT_PRISMATIC, x, INFINITY);
  motor.lower = -0.1;
  motor.upper = 0.1;
  world_join(world, CN_JOINT_PRISMATIC, GROUND, body, CN_VEC3_ZERO, X, &motor);
}

// A press: a plate at x m/s comes down on a ball on the floor. Nothing gives way.
static void press(CnWorld *world, double x) {
  CnMaterialId material = floor_of(world, 0.4, 0);
  CnBodyDef def = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  CnBodyId plate;
  CnShapeId id;
  def.kind = CN_BODY_KINEMATIC;
  def.pose = world_at(0, 0, 0.26);
  def.twist.velocity = cn_vec3(0, 0, -x);
  shape.half_size = cn_vec3(0.5, 0.5, 0.05);
  shape.material = material;
  CHECK_OK(cn_body_create(world, &def, &plate));
  CHECK_OK(cn_shape_create(world, plate, &shape, &id));
  world_ball(world, 0.1, 1, cn_vec3(0, 0, 0.1), CN_VEC3_ZERO, material);
}

// A ball of x kg on a box of 1 kg.
static void load(CnWorld *world, double x) {
  CnMaterialId material = floor_of(world, 0.5, 0);
  for (int i = 0; i < 4; i++)
    world_box(world, cn_vec3(0.1, 0.1, 0.1), 1, world_at(0, 0, 0.1 + 0.2 * i), CN_VEC3_ZERO,
              material);
  world_ball(world, 0.1, x, cn_vec3(0, 0, 0.9), CN_VEC3_ZERO, material);
}

// A disc of .2 m on an axle that spins at x rad/s and precesses about a ball joint.
static void disc(CnWorld *world, double x) {
  CnTwist twist = {CN_VEC3_ZERO, cn_vec3(x, 0, 0)};
  CnBodyId body = world_mass(world, 1, cn_vec3(0.02, 0.011, 0.011), world_at(0.2, 0, 0), twist);
  world_join(world, CN_JOINT_BALL, GROUND, body, CN_VEC3_ZERO, Z, NULL);
}

// Planks of 1 m across each other, x layers.
static void planks(CnWorld *world, double x) {
  CnMaterialId material = floor_of(world, 0.5, 0);
  for (int k = 0; k < (int)x; k++)
    for (int j = -1; j <= 1; j++) {
      CnPose pose = world_at(k % 2 ? 0.4 * j : 0, k % 2 ? 0 : 0.4 * j, 0.01 + 0.02 * k);
      pose.rotation = world_turn(Z, k % 2 ? 1.5707963267948966 : 0);
      world_box(world, cn_vec3(0.5, 0.05, 0.01), 0.6, pose, CN_VEC3_ZERO, material);
    }
}

// A beam of two halves that are welded, turned x rad from each other.
static void beam(CnWorld *world, double x) {
  CnBodyId last = GROUND;
  for (int i = 0; i < 3; i++) {
    CnBodyId body = world_part(world, 1, 0.01, cn_vec3(0.1 + 0.2 * i, 0, 0), 0);
    CnJointDef joint = cn_joint_def_default(i == 1 ? CN_JOINT_WELD : CN_JOINT_REVOLUTE);
    CnJointId id;
    joint.body_a = last;
    joint.body_b = body;
    CHECK_OK(cn_joint_def_at(world, cn_vec3(0.2 * i, 0, 0), &joint));
    if (i == 1) joint.frame_b.rotation = cn_qmul(joint.frame_b.rotation, world_turn(X, x));
    CHECK_OK(cn_joint_create(world, &joint, &id));
    last = body;
  }
}

// Two gears on the same wheels, 2 and x to one; the first wheel is driven.
static void gearbox(CnWorld *world, double x) {
  CnJointAxis motor = motor_of(CN_JOINT_REVOLUTE, 4, INFINITY);
  CnJointId wheels[2];
  for (int i = 0; i < 2; i++) {
    CnBodyId wheel = world_part(world, 1, 0.1, cn_vec3(i, 0, 0), 0);
    wheels[i] =
        world_join(world, CN_JOINT_REVOLUTE, GROUND, wheel, cn_vec3(i, 0, 0), Y, i ? NULL : &motor);
  }
  for (int k = 0; k < 2; k++) {
    CnCouplingDef gear = cn_coupling_def_default();
    CnCouplingId id;
    gear.term_count = 2;
    gear.terms[0].joint = wheels[0];
    gear.terms[0].coefficient = 1;
    gear.terms[1].joint = wheels[1];
    gear.terms[1].coefficient = k ? -x : -2;
    CHECK_OK(cn_coupling_create(world, &gear, &id));
  }
}

// Two masses on springs of x N/m, one on the other.
static void springs(CnWorld *world, double x) {
  CnBodyId last = GROUND;
  for (int i = 0; i < 2; i++) {
    CnForceDef def = cn_force_def_default(CN_FORCE_SPRING);
    CnForceId id;
    CnBodyId body = world_part(world, 1, 0.01, cn_vec3(0, 0, -1.1 * (i + 1)), 0);
    def.body_a = last;
    def.body_b = body;
    def.stiffness = x;
    def.rest_length = 1;
    CHECK_OK(cn_force_create(world, &def, &id));
    last = body;
  }
}

// A block on a slope of 20 degrees with mu = x.
static void slope(CnWorld *world, double x) {
  CnMaterialId material = world_material(world, x, 0);
  CnPose pose = {cn_vec3(0, 0, -0.5), world_turn(Y, 0.3490658503988659)};
  world_fixed_box(world, cn_vec3(20, 2, 0.5), pose, material);
  pose.position = cn_add(cn_vec3(0, 0, -0.5), cn_scale(0.6, cn_rotate(pose.rotation, Z)));
  world_box(world, cn_vec3(0.15, 0.1, 0.1), 3, pose, CN_VEC3_ZERO, material);
}

// Balls on a line, the first at x m/s, e = 1; no gravity.
static void billiard(CnWorld *world, double x) {
  CnMaterialId material = world_material(world, 0, 1);
  for (int i = 0; i < 4; i++)
    world_ball(world, 0.03, 0.2, cn_vec3(0.1 * i, 0, 0), cn_vec3(i ? 0 : x, 0, 0), material);
  CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
}

// A hoop that rolls, x m/s.
static void roll(CnWorld *world, double x) {
  CnMaterialId material = floor_of(world, 0.8, 0);
  CnBodyId body = world_wheel(world, 0.1, 1, 0.01, cn_vec3(0, 0, 0.1), material);
  CHECK_OK(cn_body_set_twist(world, body, &(CnTwist){{x, 0, 0}, {0, x / 0.1, 0}}));
}

// A four-bar that a motor drives at x rad/s; the coupler's joint is where the bars are.
static void four_bar(CnWorld *world, double x) {
  CnJointAxis motor = motor_of(CN_JOINT_REVOLUTE, x, 200);
  CnBodyId a = world_part(world, 1, 0.01, cn_vec3(0, 0, 0.1), 0);
  CnBodyId b = world_part(world, 1, 0.02, cn_vec3(0.25, 0, 0.25), 0);
  CnBodyId c = world_part(world, 1, 0.02, cn_vec3(0.5, 0, 0.15), 0);
  world_join(world, CN_JOINT_REVOLUTE, GROUND, a, CN_VEC3_ZERO, Y, &motor);
  world_join(world, CN_JOINT_REVOLUTE, a, b, cn_vec3(0, 0, 0.2), Y, NULL);
  world_join(world, CN_JOINT_REVOLUTE, b, c, cn_vec3(0.5, 0, 0.3), Y, NULL);
  world_join(world, CN_JOINT_REVOLUTE, GROUND, c, cn_vec3(0.5, 0, 0), Y, NULL);
}

// A door with a limit, a damper and a weight, x rad/s.
static void door(CnWorld *world, double x) {
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.lower = -1;
  axis.upper = 1;
  axis.damping = 0.2;
  CnBodyId body = world_part(world, 2, 0.1, cn_vec3(0.4, 0, 0), 0);
  CHECK_OK(cn_body_set_twist(world, body, &(CnTwist){{0, 0, -0.4 * x}, {0, x, 0}}));
  world_join(world, CN_JOINT_REVOLUTE, GROUND, body, CN_VEC3_ZERO, Y, &axis);
}

// Two boxes in each other by x m.
static void inside(CnWorld *world, double x) {
  CnMaterialId material = floor_of(world, 0.5, 0);
  world_box(world, cn_vec3(0.1, 0.1, 0.1), 1, world_at(0, 0, 0.1), CN_VEC3_ZERO, material);
  world_box(world, cn_vec3(0.1, 0.1, 0.1), 1, world_at(0.03, 0.01, 0.3 - x), CN_VEC3_ZERO,
            material);
}

// A wheel without gravity whose bearing has 2 N m of friction; the motor gives up to x N m to and fro.
static void bearing(CnWorld *world, double x) {
  CnFunctionDef sine = cn_function_def_default(CN_FUNCTION_SINE);
  CnJointAxis motor = motor_of(CN_JOINT_REVOLUTE, 0, 1);
  sine.amplitude = x;
  sine.frequency = 3;
  motor.drive = CN_DRIVE_EFFORT;
  motor.friction = 2;
  CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
  CHECK_OK(cn_function_create(world, &sine, &motor.motor_function));
  CnBodyId wheel = world_part(world, 1, 0.1, CN_VEC3_ZERO, 0);
  world_join(world, CN_JOINT_REVOLUTE, GROUND, wheel, CN_VEC3_ZERO, Y, &motor);
}

// A kilogram on a spring of 400 N/m along x, without gravity; far away a body turns as prescribed.
static void beside(CnWorld *world, double x) {
  CnBodyDef far = cn_body_def_default();
  CnJointAxis spring = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
  CnBodyId id;
  far.kind = CN_BODY_KINEMATIC;
  far.pose.position.z = -9;
  far.twist.spin.z = 1;
  spring.stiffness = 400;
  CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
  CHECK_OK(cn_body_create(world, &far, &id));
  CnBodyId body = world_part(world, 1, 0.1, CN_VEC3_ZERO, 0);
  CnTwist moves = {cn_vec3(x, 0, 0), CN_VEC3_ZERO};
  CHECK_OK(cn_body_set_twist(world, body, &moves));
  world_join(world, CN_JOINT_PRISMATIC, GROUND, body, CN_VEC3_ZERO, X, &spring);
}

// A wheel without gravity that a motor of any strength turns by a radian, smoothly from rest on.
static void started(CnWorld *world, double x) {
  CnFunctionDef step = cn_function_def_default(CN_FUNCTION_SMOOTH_STEP);
  CnJointAxis motor = motor_of(CN_JOINT_REVOLUTE, 0, INFINITY);
  step.final = x;
  step.start = .2;
  step.end = .8;
  motor.drive = CN_DRIVE_POSITION;
  CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
  CHECK_OK(cn_function_create(world, &step, &motor.motor_function));
  CnBodyId wheel = world_part(world, 1, 0.1, CN_VEC3_ZERO, 0);
  world_join(world, CN_JOINT_REVOLUTE, GROUND, wheel, CN_VEC3_ZERO, Y, &motor);
}

// A slide with friction whose motor gives up to x N to and fro: against a stop that it meets at full speed.
static void pushed(CnWorld *world, double x) {
  CnFunctionDef sine = cn_function_def_default(CN_FUNCTION_SINE);
  CnJointAxis motor = motor_of(CN_JOINT_PRISMATIC, 0, 1);
  sine.amplitude = x;
  sine.frequency = 1;
  motor.drive = CN_DRIVE_EFFORT;
  motor.friction = 3;
  motor.upper = 0.05;
  CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
  CHECK_OK(cn_function_create(world, &sine, &motor.motor_function));
  CnBodyId slide = world_part(world, 2, 0.1, CN_VEC3_ZERO, 0);
  world_join(world, CN_JOINT_PRISMATIC, GROUND, slide, CN_VEC3_ZERO, X, &motor);
}

// ---- running them ----

// An arm whose motor without a bound keeps it at x, .5 rad from where it is: it jumps there, or goes there in no known time.
static void far_target(CnWorld *world, double x) {
  CnJointAxis axis = motor_of(CN_JOINT_REVOLUTE, 0, INFINITY);
  CnBodyId arm = world_part(world, 1, .01, cn_vec3(.1, 0, 0), 0);
  axis.drive = CN_DRIVE_POSITION;
  axis.motor_position = x;
  world_join(world, CN_JOINT_REVOLUTE, GROUND, arm, CN_VEC3_ZERO, Z, &axis);
}

static const Run broken[] = {
    {"motor far from its place", far_target, .5, .001, 50, NULL, 0, 0, NULL},
    {"motor far from its place, hem5", far_target, .5, .001, 50, NULL, 0, 0, "hem5"},
    {"wall, one sweep", wall, 5, 0.005, 80, "psor", 1, 0, NULL},
    {"wall, spg in 2 steps", wall, 0, 0.005, 80, "spg", 2, 0, NULL},
    {"wall to 1e-9 in 30 sweeps", wall, 0, 0.005, 60, "psor", 30, 1e-9, NULL},
    {"planks, two sweeps", planks, 6, 0.01, 60, "psor", 2, 0, NULL},
    {"slide 2 cm off its line", slider_crank, 0.02, 0.002, 100, NULL, 0, 0, NULL},
    {"weld .3 rad off, moreau-jean", beam, 0.3, 0.002, 60, NULL, 0, 0, "moreau-jean"},
    {"crank, 5 steps a turn", slider_crank, 0, 0.25, 60, NULL, 0, 0, NULL},
    {"a motor of any strength at its stop", stop, 1, 0.005, 100, NULL, 0, 0, NULL},
    {"a press on a ball", press, 0.2, 0.005, 200, NULL, 0, 0, NULL},
    {"a press on a ball, psor", press, 0.2, 0.005, 200, "psor", 100, 0, NULL},
    {"10 t on 1 kg, 20 sweeps", load, 1e4, 0.005, 100, "psor", 20, 0, NULL},
    {"1 t on 1 kg, apgd in 5", load, 1e3, 0.005, 100, "apgd", 5, 0, NULL},
    {"disc, 3 steps a turn", disc, 200, 0.01, 60, NULL, 0, 0, NULL},
    {"weld .3 rad off", beam, 0.3, 0.002, 60, NULL, 0, 0, NULL},
    {"gears of 2 and 3 to 1, driven", gearbox, 3, 0.005, 60, NULL, 0, 0, NULL},
    {"springs, 4 steps a swing", springs, 1e4, 0.01, 120, NULL, 0, 0, NULL},
    {"four-bar at 300 rad/s", four_bar, 300, 0.01, 60, NULL, 0, 0, NULL},
    {"boxes in each other by 8 cm", inside, 0.08, 0.002, 60, NULL, 0, 0, NULL},
    {"boxes in each other by 12 cm, psor", inside, 0.12, 0.005, 60, "psor", 60, 0, NULL},
    {"spring beside a turntable, 31 steps a swing", beside, 1, 0.01, 200, NULL, 0, 0, NULL},
    {"spring beside a turntable, 300 steps a swing", beside, 1, 0.001, 2000, NULL, 0, 0, NULL},
    {"10 t on 1 kg to 1e-8 in 40 sweeps", load, 1e4, 0.005, 40, "psor", 40, 1e-8, NULL},
    {.name = NULL}};

static const Run good[] = {
    {"motor at its place", far_target, .001, .001, 50, NULL, 0, 0, NULL},
    {"motor at its place, hem5", far_target, .001, .001, 50, NULL, 0, 0, "hem5"},
    {"a bearing that holds", bearing, 1, 0.01, 100, NULL, 0, 0, NULL},
    {"a bearing that holds, moreau-jean", bearing, 1, 0.001, 400, NULL, 0, 0, "moreau-jean"},
    {"a bearing that just lets go", bearing, 2.01, 0.01, 100, NULL, 0, 0, "hem5"},
    {"a bearing that just lets go, moreau-jean", bearing, 2.01, 0.005, 200, NULL, 0, 0,
     "moreau-jean"},
    {"a motor that starts smoothly, hem5", started, 1, 0.001, 400, NULL, 0, 0, "hem5"},
    {"a motor that starts smoothly, rkf45", started, 1, 0.001, 400, NULL, 0, 0, "rkf45"},
    {"a slide against its stop, hem5, long steps", pushed, 10, 0.2, 4, NULL, 0, 0, "hem5"},
    {"a slide against its stop, rkf45, long steps", pushed, 10, 0.2, 4, NULL, 0, 0, "rkf45"},
    {"spring beside a turntable", beside, 1, 2e-5, 4000, NULL, 0, 0, NULL},
    {"spring beside a turntable, moreau-jean", beside, 1, 0.01, 200, NULL, 0, 0, "moreau-jean"},
    {"wall", wall, 0, 0.005, 100, NULL, 0, 0, NULL},
    {"wall, hit", wall, 5, 0.002, 80, NULL, 0, 0, NULL},
    {"wall, 150 sweeps", wall, 0, 0.005, 80, "psor", 150, 0, NULL},
    {"10 kg on 1 kg, moreau-jean", load, 10, 0.005, 40, NULL, 0, 0, "moreau-jean"},
    {"planks", planks, 6, 0.01, 60, NULL, 0, 0, NULL},
    {"planks, 12 layers", planks, 12, 0.005, 40, NULL, 0, 0, NULL},
    {"slider-crank", slider_crank, 0, 0.002, 600, NULL, 0, 0, NULL},
    {"slider-crank, moreau-jean", slider_crank, 0, 0.002, 200, NULL, 0, 0, "moreau-jean"},
    {"slider-crank, hem5", slider_crank, 0, 0.01, 60, NULL, 0, 0, "hem5"},
    {"cranked, hem5, long steps", cranked, 10, 0.02, 60, NULL, 0, 0, "hem5"},
    {"cranked, rkf45, long steps", cranked, 10, 0.02, 60, NULL, 0, 0, "rkf45"},
    {"a motor that stays off its stop", stop, 0.1, 0.005, 100, NULL, 0, 0, NULL},
    {"a press that does not reach", press, 0.01, 0.005, 200, NULL, 0, 0, NULL},
    {"1 t on 1 kg", load, 1e3, 0.005, 60, NULL, 0, 0, NULL},
    {"10 t on 1 kg", load, 1e4, 0.005, 60, NULL, 0, 0, NULL},
    {"disc", disc, 60, 0.001, 500, NULL, 0, 0, NULL},
    {"weld", beam, 0, 0.002, 200, NULL, 0, 0, NULL},
    {"gears that agree", gearbox, 2, 0.005, 100, NULL, 0, 0, NULL},
    {"springs", springs, 400, 0.001, 600, NULL, 0, 0, NULL},
    {"block that stays", slope, 0.5, 0.005, 200, NULL, 0, 0, NULL},
    {"block that slides", slope, 0.2, 0.005, 200, NULL, 0, 0, NULL},
    {"billiard", billiard, 3, 0.002, 300, NULL, 0, 0, NULL},
    {"hoop", roll, 2, 0.005, 300, NULL, 0, 0, NULL},
    {"four-bar", four_bar, 6, 0.002, 500, NULL, 0, 0, NULL},
    {"door", door, 3, 0.002, 600, NULL, 0, 0, NULL},
    {"boxes that touch", inside, 0, 0.005, 60, NULL, 0, 0, NULL},
    {.name = NULL}};

static CnVerdict judge(const Run *run) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = run->h;
  def.balance = 1;
  if (run->integrator) def.integrator = run->integrator;
  if (run->solver) def.solver = cn_solver_def_default(run->solver);
  if (run->iterations) def.solver.max_iterations = run->iterations;
  def.solver.tolerance = run->tolerance;
  CnWorld *world = world_make(&def);
  run->make(world, run->x);
  CnStatus status = CN_OK;
  for (int32_t i = 0; i < run->steps && status == CN_OK; i++) status = cn_world_step(world, NULL);
  if (status != CN_OK) printf("%s: %s\n", run->name, cn_error_message());
  CnVerdict v;
  CHECK_OK(cn_world_verdict(world, &v));
  cn_world_destroy(world);
  return v;
}

static int32_t judge_all(const Run *runs, int trusted, const char *what) {
  int32_t wrong = 0, count = 0;
  for (const Run *run = runs; run->name; run++, count++) {
    CnVerdict v = judge(run);
    if (v.trusted != trusted)
      printf("%s: %s (%g, h %g): %s\n", what, run->name, run->x, run->h, v.line);
    wrong += v.trusted != trusted;
  }
  CHECK(count >= 20);
  return wrong;
}

static void broken_machines(void **state) {
  (void)state;
  CHECK(judge_all(broken, 0, "false trust") == 0);
}

static void good_machines(void **state) {
  (void)state;
  CHECK(judge_all(good, 1, "false alarm") == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(broken_machines),
      cmocka_unit_test(good_machines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
