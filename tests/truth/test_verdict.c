// SPDX-License-Identifier: Apache-2.0
// False trust and false alarm: sixty runs broken on purpose, each of which the verdict must refuse for the
// reason named, and sixty good ones that it must trust. A row is a small world, a number of its own (x),
// a step, and how it is solved.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#define ANY CN_FINDING_COUNT // reason: none, or whichever it is
#define TURN 6.283185307179586

typedef struct Case {
  const char *name;
  void (*make)(CnWorld *world, double x, double y);
  double x, y;
  double h;
  int32_t steps;
  const char *solver;     // null: the default
  int32_t iterations;     // 0: the default
  double tolerance;       // 0: none
  const char *integrator; // null: impulse
  CnFindingKind reason;   // of those that are broken
} Case;

// ---- what a hook does to all dynamic bodies ----

typedef struct Hook {
  double faster; // factor of velocities and spins, less one
  double kick;   // m/s up, every 20th step
  double lift;   // m, every step
  int64_t step;
} Hook;
static Hook hook;

static void meddle(void *context, CnWorld *world, double time, double h) {
  (void)context, (void)time, (void)h;
  hook.step++;
  for (CnBodyId id = cn_world_next_body(world, (CnBodyId){0, 0}); id.slot;
       id = cn_world_next_body(world, id)) {
    CnBodyInfo info;
    CHECK_OK(cn_body_info(world, id, &info));
    if (info.kind != CN_BODY_DYNAMIC) continue;
    CnTwist twist = world_twist(world, id);
    CnPose pose = world_pose(world, id);
    twist.velocity = cn_scale(1 + hook.faster, twist.velocity);
    twist.spin = cn_scale(1 + hook.faster, twist.spin);
    if (hook.step % 20 == 0) twist.velocity.z += hook.kick;
    pose.position.z += hook.lift;
    CHECK_OK(cn_body_set_twist(world, id, &twist));
    CHECK_OK(cn_body_set_pose(world, id, &pose));
  }
}

// ---- worlds ----

static const CnVec3 Y = {0, 1, 0}, Z = {0, 0, 1};
static const CnBodyId GROUND = {0, 0};

static CnMaterialId floor_of(CnWorld *world, double friction, double restitution) {
  CnMaterialId material = world_material(world, friction, restitution);
  world_floor(world, material);
  return material;
}

// Links of .2 m that swing from level, x of them, the last one y times as heavy.
static void chain(CnWorld *world, double x, double y) {
  CnBodyId last = GROUND;
  for (int i = 0; i < (int)x; i++) {
    double m = i == (int)x - 1 ? y : 1;
    CnBodyId body = world_part(world, m, 0.004 * m, cn_vec3(0.2 * i + 0.1, 0, 0), 0);
    world_join(world, CN_JOINT_REVOLUTE, last, body, cn_vec3(0.2 * i, 0, 0), Y, NULL);
    last = body;
  }
}

// The same, links x m too far from each other.
static void torn(CnWorld *world, double x, double y) {
  CnBodyId last = GROUND;
  for (int i = 0; i < (int)y; i++) {
    CnBodyId body = world_part(world, 1, 0.004, cn_vec3(0.2 * i + 0.1, 0, 0), 0);
    CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
    CnJointId id;
    joint.body_a = last;
    joint.body_b = body;
    CHECK_OK(cn_joint_def_at(world, cn_vec3(0.2 * i, 0, 0), &joint));
    if (i == (int)y / 2) joint.frame_b.position.z += x;
    CHECK_OK(cn_joint_create(world, &joint, &id));
    last = body;
  }
}

// Boxes of half a metre on each other, y of them, one x times as heavy as the one below.
static void tower(CnWorld *world, double x, double y) {
  CnMaterialId material = floor_of(world, 0.5, 0);
  double m = 1;
  for (int i = 0; i < (int)y; i++, m *= x)
    world_box(world, cn_vec3(0.25, 0.25, 0.25), m, world_at(0, 0, 0.25 + 0.5 * i), CN_VEC3_ZERO,
              material);
}

// Balls in a cup of planes, x of them, thrown together at y m/s.
static void heap(CnWorld *world, double x, double y) {
  CnMaterialId material = floor_of(world, 0.4, 0.1);
  for (int i = 0; i < (int)x; i++) {
    CnVec3 at = {0.21 * (i % 2) + 0.01 * i, 0.21 * (i / 2 % 2), 0.11 + 0.22 * (i / 4)};
    CnVec3 to = {y * (0.15 - at.x), y * (0.1 - at.y), -y};
    world_ball(world, 0.1, 1, at, to, material);
  }
}

// A ball that falls from y m and bounces with e = x.
static void bounce(CnWorld *world, double x, double y) {
  CnMaterialId material = floor_of(world, 0.3, x);
  world_ball(world, 0.1, 1, cn_vec3(0, 0, 0.1 + y), cn_vec3(0.3, 0, 0), material);
}

// A block that slides with x m/s, mu = y.
static void slide(CnWorld *world, double x, double y) {
  CnMaterialId material = floor_of(world, y, 0);
  world_box(world, cn_vec3(0.1, 0.08, 0.05), 2, world_at(0, 0, 0.05), cn_vec3(x, 0, 0), material);
}

// Two balls that start x of their radius in each other, and in the floor by y of it.
static void overlap(CnWorld *world, double x, double y) {
  CnMaterialId material = floor_of(world, 0.3, 0);
  double r = 0.1;
  world_ball(world, r, 1, cn_vec3(0, 0, (1 - y) * r), CN_VEC3_ZERO, material);
  world_ball(world, r, 1, cn_vec3((2 - x) * r, 0, (1 - y) * r), CN_VEC3_ZERO, material);
}

// A ball between jaws that are x m too close; y: speed of the ball.
static void jaws(CnWorld *world, double x, double y) {
  CnMaterialId material = world_material(world, 0.5, 0);
  double r = 0.05, at = r - 0.5 * x + 0.1;
  world_fixed_box(world, cn_vec3(0.1, 0.5, 0.5), world_at(-at, 0, 0), material);
  world_fixed_box(world, cn_vec3(0.1, 0.5, 0.5), world_at(at, 0, 0), material);
  world_ball(world, r, 1, CN_VEC3_ZERO, cn_vec3(0, 0, y), material);
}

// A bar of 1 m that spins at x rad/s, and a ball in its way; y: radius of the ball.
static void bat(CnWorld *world, double x, double y) {
  CnMaterialId material = world_material(world, 0.2, 0.5);
  CnBodyId bar =
      world_box(world, cn_vec3(0.5, 0.02, 0.02), 5, world_at(0, 0, 1), CN_VEC3_ZERO, material);
  CnTwist twist = {CN_VEC3_ZERO, cn_vec3(0, 0, x)};
  CHECK_OK(cn_body_set_twist(world, bar, &twist));
  world_join(world, CN_JOINT_REVOLUTE, GROUND, bar, cn_vec3(0, 0, 1), Z, NULL);
  world_ball(world, y, 1, cn_vec3(0.35 * cos(1), 0.35 * sin(1), 1), CN_VEC3_ZERO, material);
}

// A ball at x m/s against a plate of y m.
static void wall(CnWorld *world, double x, double y) {
  CnMaterialId material = world_material(world, 0.2, 0);
  world_fixed_box(world, cn_vec3(0.5 * y, 1, 1), world_at(1, 0, 0), material);
  world_ball(world, 0.05, 1, cn_vec3(0.013, 0.02, 0), cn_vec3(x, 0, 0), material);
}

// A pendulum that starts at x rad/s with an arm of y m.
static void pendulum(CnWorld *world, double x, double y) {
  CnTwist twist = {cn_vec3(0, 0, -x * y), cn_vec3(0, x, 0)};
  CnBodyId body = world_mass(world, 1, cn_vec3(0.01, 0.01, 0.01), world_at(y, 0, 0), twist);
  world_join(world, CN_JOINT_REVOLUTE, GROUND, body, CN_VEC3_ZERO, Y, NULL);
}

// A rod of 1 m and 1 kg on a hinge at its end, x rad above its lowest place, and y more that hang on it.
static void rods(CnWorld *world, double x, double y) {
  CnBodyId last = GROUND;
  for (int i = 0; i <= (int)y; i++) {
    double r = i + 0.5, a = 0.25 * TURN - x;
    CnPose pose = {cn_vec3(r * cos(a), 0, -r * sin(a)), world_turn(Y, a)};
    CnBodyId body = world_mass(world, 1, cn_vec3(1e-4, 1. / 12, 1. / 12), pose, (CnTwist){0});
    CnVec3 at = cn_vec3(i * cos(a), 0, -i * sin(a));
    world_join(world, CN_JOINT_REVOLUTE, last, body, at, Y, NULL);
    last = body;
  }
}

// A top: a ball joint, x rad/s about its axis, tilted by y rad.
static void top(CnWorld *world, double x, double y) {
  CnVec3 axis = {sin(y), 0, cos(y)};
  CnPose pose = {cn_scale(0.1, axis), world_turn(Y, y)};
  CnTwist twist = {CN_VEC3_ZERO, cn_scale(x, axis)};
  CnBodyId body = world_mass(world, 0.5, cn_vec3(0.002, 0.002, 0.0015), pose, twist);
  world_join(world, CN_JOINT_BALL, GROUND, body, CN_VEC3_ZERO, Z, NULL);
}

// Two motors of a wheel that want x and y rad/s.
static void motors(CnWorld *world, double x, double y) {
  CnBodyId wheel = world_part(world, 1, 0.1, CN_VEC3_ZERO, 0);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.motor_effort = INFINITY;
  axis.motor_speed = x;
  world_join(world, CN_JOINT_REVOLUTE, GROUND, wheel, CN_VEC3_ZERO, Y, &axis);
  axis.motor_speed = y;
  world_join(world, CN_JOINT_REVOLUTE, GROUND, wheel, CN_VEC3_ZERO, Y, &axis);
}

// A wheel with a motor of x rad/s and y N m.
static void motor(CnWorld *world, double x, double y) {
  CnBodyId wheel = world_part(world, 1, 0.1, cn_vec3(0.1, 0, 0), 0);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.motor_effort = y;
  axis.motor_speed = x;
  world_join(world, CN_JOINT_REVOLUTE, GROUND, wheel, CN_VEC3_ZERO, Y, &axis);
}

// A door beyond its limit by x rad, and a rope that is y m too short.
static void beyond(CnWorld *world, double x, double y) {
  CnBodyId door = world_part(world, 1, 0.1, cn_vec3(0.5, 0, 0), 0);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.lower = x;
  axis.upper = x + 1;
  world_join(world, CN_JOINT_REVOLUTE, GROUND, door, CN_VEC3_ZERO, Y, &axis);
  CnBodyId bob = world_part(world, 1, 0.001, cn_vec3(3, 0, -1), 0);
  CnJointDef rope = cn_joint_def_default(CN_JOINT_ROPE);
  CnJointId id;
  rope.body_b = bob;
  rope.frame_a.position = cn_vec3(3, 0, 0);
  rope.distance = 1 - y;
  CHECK_OK(cn_joint_create(world, &rope, &id));
}

// Two wheels in gear, y: their ratio, x rad off.
static void gears(CnWorld *world, double x, double y) {
  CnCouplingDef gear = cn_coupling_def_default();
  CnCouplingId id;
  gear.term_count = 2;
  for (int i = 0; i < 2; i++) {
    CnBodyId wheel = world_part(world, 1, 0.1, cn_vec3(i, 0, 0), 0);
    CnTwist twist = {CN_VEC3_ZERO, cn_vec3(0, i ? 1 : y, 0)};
    CHECK_OK(cn_body_set_twist(world, wheel, &twist));
    gear.terms[i].joint =
        world_join(world, CN_JOINT_REVOLUTE, GROUND, wheel, cn_vec3(i, 0, 0), Y, NULL);
    gear.terms[i].coefficient = i ? -y : 1;
  }
  gear.take_offset = 0;
  gear.offset = x;
  CHECK_OK(cn_coupling_create(world, &gear, &id));
}

// Mass on a spring of x N/m, y the damping.
static void spring(CnWorld *world, double x, double y) {
  CnBodyId body = world_part(world, 1, 0.01, cn_vec3(0, 0, -1.2), 0);
  CnForceDef def = cn_force_def_default(CN_FORCE_SPRING);
  CnForceId id;
  def.body_a = body;
  def.stiffness = x;
  def.damping = y;
  def.rest_length = 1;
  CHECK_OK(cn_force_create(world, &def, &id));
}

// The same in a bushing that is alike in all directions.
static void bushing(CnWorld *world, double x, double y) {
  CnForceDef def = cn_force_def_default(CN_FORCE_BUSHING);
  CnForceId id;
  def.body_b = world_part(world, 1, 0.01, cn_vec3(0, 0, -0.2), 0);
  def.linear_stiffness = cn_vec3(x, x, x);
  def.linear_damping = cn_vec3(y, y, y);
  CHECK_OK(cn_force_create(world, &def, &id));
}

// A slider on a spring of x N/m and y N s/m along its axis, thrown at 3 m/s.
static void slider(CnWorld *world, double x, double y) {
  CnTwist twist = {cn_vec3(0, 0, 3), CN_VEC3_ZERO};
  CnBodyId body = world_mass(world, 1, cn_vec3(.02, .02, .02), CN_POSE_ONE, twist);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
  axis.stiffness = x;
  axis.damping = y;
  CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
  world_join(world, CN_JOINT_PRISMATIC, GROUND, body, CN_VEC3_ZERO, Z, &axis);
}

// A wheel under a torque of x N m, y N m s/rad at its axle.
static void wheel(CnWorld *world, double x, double y) {
  CnBodyId body = world_part(world, 1, 0.05, CN_VEC3_ZERO, 0);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  CnForceDef def = cn_force_def_default(CN_FORCE_CONSTANT);
  CnForceId id;
  axis.damping = y;
  world_join(world, CN_JOINT_REVOLUTE, GROUND, body, CN_VEC3_ZERO, Z, &axis);
  def.body_b = body;
  def.torque = cn_vec3(0, 0, x);
  CHECK_OK(cn_force_create(world, &def, &id));
}

// A mass that falls .2 m onto a soft stop of x N/m, y its damping.
static void soft_stop(CnWorld *world, double x, double y) {
  CnBodyId body = world_part(world, 1, 1, CN_VEC3_ZERO, 0);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
  axis.lower = -0.2;
  axis.limit_stiffness = x;
  axis.limit_damping = y;
  world_join(world, CN_JOINT_PRISMATIC, GROUND, body, CN_VEC3_ZERO, Z, &axis);
}

// A wedge that is driven at x m/s under a mass that falls y m onto it and stays there: a coupling that only
// pushes.
static void one_way(CnWorld *world, double x, double y) {
  CnCouplingDef def = cn_coupling_def_default();
  CnCouplingId id;
  CnBodyId wedge = world_part(world, 1, 1, CN_VEC3_ZERO, 0);
  CnBodyId load = world_part(world, 0.7, 1, cn_vec3(1, 0, y), 0);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
  axis.motor_speed = x;
  axis.motor_effort = INFINITY;
  CHECK_OK(cn_body_set_twist(world, wedge, &(CnTwist){{x, 0, 0}, {0, 0, 0}}));
  def.term_count = 2;
  def.terms[0].joint =
      world_join(world, CN_JOINT_PRISMATIC, GROUND, load, cn_vec3(1, 0, y), Z, NULL);
  def.terms[1].joint =
      world_join(world, CN_JOINT_PRISMATIC, GROUND, wedge, CN_VEC3_ZERO, cn_vec3(1, 0, 0), &axis);
  def.terms[0].coefficient = 1;
  def.terms[1].coefficient = -0.5;
  def.take_offset = 0;
  def.offset = -y;
  def.one_sided = 1;
  CHECK_OK(cn_coupling_create(world, &def, &id));
}

static CnFunctionId sine(CnWorld *world, double value, double amplitude, double frequency) {
  CnFunctionDef def = cn_function_def_default(CN_FUNCTION_SINE);
  CnFunctionId id;
  def.value = value;
  def.amplitude = amplitude;
  def.frequency = frequency;
  CHECK_OK(cn_function_create(world, &def, &id));
  return id;
}

// A servo of x N/m and y N s/m lifts 2 kg along a sine.
static void servo(CnWorld *world, double x, double y) {
  CnBodyId body = world_part(world, 2, 1, CN_VEC3_ZERO, 0);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
  axis.drive = CN_DRIVE_POSITION;
  axis.motor_function = sine(world, 0, 0.1, 1.5);
  axis.motor_stiffness = x;
  axis.motor_damping = y;
  axis.motor_effort = INFINITY;
  world_join(world, CN_JOINT_PRISMATIC, GROUND, body, CN_VEC3_ZERO, Z, &axis);
}

// A mass let go at .3 m from where a soft ball joint of x N/m and y N s/m has it.
static void hung(CnWorld *world, double x, double y) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_BALL);
  CnJointId id;
  def.body_b = world_part(world, 1, 1, cn_vec3(0, 0, 0.3), 0);
  def.stiffness = x;
  def.damping = y;
  CHECK_OK(cn_joint_create(world, &def, &id));
}

// The same on a soft distance joint.
static void tied(CnWorld *world, double x, double y) {
  CnJointDef def = cn_joint_def_default(CN_JOINT_DISTANCE);
  CnJointId id;
  def.body_b = world_part(world, 1, 1, cn_vec3(0, 0, -0.7), 0);
  def.distance = 1;
  def.stiffness = x;
  def.damping = y;
  CHECK_OK(cn_joint_create(world, &def, &id));
}

// The same by a servo; x below 0: one that gives no more than 15 N.
static void held(CnWorld *world, double x, double y) {
  CnBodyId body = world_part(world, 1, 1, CN_VEC3_ZERO, 0);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
  axis.drive = CN_DRIVE_POSITION;
  axis.motor_position = -0.3;
  axis.motor_stiffness = fabs(x);
  axis.motor_damping = y;
  axis.motor_effort = x > 0 ? INFINITY : 15;
  world_join(world, CN_JOINT_PRISMATIC, GROUND, body, CN_VEC3_ZERO, Z, &axis);
}

// Two wheels in gear that come with x and y rad/s, as they cannot turn: a blow at the start.
static void clutch(CnWorld *world, double x, double y) {
  CnCouplingDef gear = cn_coupling_def_default();
  CnCouplingId id;
  gear.term_count = 2;
  for (int i = 0; i < 2; i++) {
    CnBodyId wheel = world_part(world, 1, 0.1, cn_vec3(i, 0, 0), 0);
    CnTwist twist = {CN_VEC3_ZERO, cn_vec3(0, i ? x : y, 0)};
    CHECK_OK(cn_body_set_twist(world, wheel, &twist));
    gear.terms[i].joint =
        world_join(world, CN_JOINT_REVOLUTE, GROUND, wheel, cn_vec3(i, 0, 0), Y, NULL);
    gear.terms[i].coefficient = i ? -1 : 1;
  }
  CHECK_OK(cn_coupling_create(world, &gear, &id));
}

// A mass at .4 m from a centre that attracts with x N m2, y m/s across; no gravity.
static void orbit(CnWorld *world, double x, double y) {
  CnTwist twist = {cn_vec3(0, y, 0), CN_VEC3_ZERO};
  CnForceDef def = cn_force_def_default(CN_FORCE_ATTRACTION);
  CnForceId id;
  def.body_b = world_mass(world, 1, cn_vec3(1, 1, 1), world_at(0.4, 0, 0), twist);
  def.strength = x;
  CHECK_OK(cn_force_create(world, &def, &id));
  CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
}

// A mass on a spring of x N/m and y N s/m whose rest length is a sine.
static void actuator(CnWorld *world, double x, double y) {
  CnForceDef def = cn_force_def_default(CN_FORCE_SPRING);
  CnForceId id;
  def.body_b = world_part(world, 1, 1, cn_vec3(0, 0, -0.5), 0);
  def.stiffness = x;
  def.damping = y;
  def.rest_function = sine(world, 0.5, 0.05, 2);
  CHECK_OK(cn_force_create(world, &def, &id));
}

// A rod at x degrees on the floor with e = .9 and friction y; no gravity.
static void rod(CnWorld *world, double x, double y) {
  CnMaterialId material = floor_of(world, y, 0.9);
  double a = x * TURN / 360, r = 1e-9;
  CnVec3 end = {-0.5 * cos(a), 0, -0.5 * sin(a)};
  CnTwist twist = {cn_vec3(0.5, 0, -1), CN_VEC3_ZERO};
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnShapeId id;
  CnBodyId body = world_mass(world, 1, cn_vec3(1.0 / 12, 1.0 / 12, 1.0 / 12),
                             world_at(0, 0, r + 1e-2 - end.z), twist);
  shape.radius = r;
  shape.pose.position = end;
  shape.material = material;
  CHECK_OK(cn_shape_create(world, body, &shape, &id));
  CHECK_OK(cn_world_set_gravity(world, CN_VEC3_ZERO));
}
static void stronge(CnWorld *world, double x, double y) { rod(world, x, y); }

// What a hook does to a ball in flight, to a sliding block: x and y go to the hook.
static void faster(CnWorld *world, double x, double y) {
  hook.faster = x;
  bounce(world, 0.5, y);
}
static void faster_slide(CnWorld *world, double x, double y) {
  hook.faster = x;
  slide(world, 2, y);
}
static void kicked(CnWorld *world, double x, double y) {
  hook.kick = x;
  bounce(world, 0, y);
}
static void lifted(CnWorld *world, double x, double y) {
  hook.lift = x;
  bounce(world, 0, y);
}
static void faster_chain(CnWorld *world, double x, double y) {
  hook.faster = x;
  chain(world, y, 1);
}
static void faster_stop(CnWorld *world, double x, double y) {
  hook.faster = x;
  soft_stop(world, 2000, y);
}
static void faster_orbit(CnWorld *world, double x, double y) {
  hook.faster = x;
  orbit(world, 4, y);
}

// ---- running them ----

static CnVerdict judge(const Case *c) {
  CnWorldDef def = cn_world_def_default();
  hook = (Hook){0};
  def.time_step = c->h;
  def.balance = 1;
  if (c->integrator) def.integrator = c->integrator;
  if (c->solver) def.solver = cn_solver_def_default(c->solver);
  def.solver.effort = CN_EFFORT_EXACT;
  if (c->iterations) def.solver.max_iterations = c->iterations;
  def.solver.tolerance = c->tolerance;
  if (c->make == stronge) def.restitution_law = CN_RESTITUTION_ENERGETIC;
  if (c->make == faster || c->make == kicked || c->make == lifted || c->make == faster_slide ||
      c->make == faster_chain || c->make == faster_stop || c->make == faster_orbit)
    def.hooks.before_step = meddle;
  CnWorld *world = world_make(&def);
  c->make(world, c->x, c->y);
  CnVerdict v;
  CnStatus status = CN_OK;
  for (int32_t i = 0; i < c->steps && status == CN_OK; i++) status = cn_world_step(world, NULL);
  if (status != CN_OK) printf("%s: %s\n", c->name, cn_error_message());
  CHECK_OK(cn_world_verdict(world, &v));
  cn_world_destroy(world);
  return v;
}

#include "verdict_cases.inc"

static int32_t count_of(const Case *cases) {
  int32_t count = 0;
  while (cases[count].name) count++;
  return count;
}

static void broken_runs(void **state) {
  (void)state;
  int32_t wrong = 0;
  for (const Case *c = broken; c->name; c++) {
    CnVerdict v = judge(c);
    int right = !v.trusted && (c->reason == ANY || v.findings[c->reason].is_reason);
    if (!right) printf("false trust: %s (%g, %g, h %g): %s\n", c->name, c->x, c->y, c->h, v.line);
    wrong += !right;
  }
  printf("%d broken runs, %d wrong\n", (int)count_of(broken), (int)wrong);
  CHECK(count_of(broken) >= 60 && wrong == 0);
}

static void good_runs(void **state) {
  (void)state;
  int32_t wrong = 0;
  for (const Case *c = good; c->name; c++) {
    CnVerdict v = judge(c);
    if (!v.trusted)
      printf("false alarm: %s (%g, %g, h %g): %s\n", c->name, c->x, c->y, c->h, v.line);
    wrong += !v.trusted;
  }
  printf("%d good runs, %d wrong\n", (int)count_of(good), (int)wrong);
  CHECK(count_of(good) >= 60 && wrong == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(broken_runs),
      cmocka_unit_test(good_runs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
