// SPDX-License-Identifier: Apache-2.0
// Order of convergence with everything at once: an arm driven by a sine, a rod on a ball joint with a
// spring and drag, springs on a coordinate, a rod that rests against a limit, a ball that rolls and one
// that slides with friction. hem5 and rkf45 at least 4.8, moreau-jean 1.9 (friction of a slip that turns
// left out), impulse .95.
#include "check.h"
#include "toys.h"

#include <math.h>

#define PARTS 5

typedef struct Machine {
  CnWorld *world;
  CnBodyId parts[PARTS];
} Machine;

static CnBodyId rod(CnWorld *world, CnVec3 at, CnQuat turn, CnTwist twist) {
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  body.mass = 1;
  body.inertia = (CnSym3){.09, .08, .03, 0, 0, 0};
  body.pose.position = at;
  body.pose.rotation = turn;
  body.twist = twist;
  CHECK_OK(cn_body_create(world, &body, &id));
  return id;
}

static void join(CnWorld *world, CnJointKind kind, CnBodyId a, CnBodyId b, CnVec3 at,
                 const CnJointAxis *axis) {
  CnJointDef joint = cn_joint_def_default(kind);
  CnJointId id;
  joint.body_a = a;
  joint.body_b = b;
  if (axis) joint.axes[0] = *axis;
  CHECK_OK(kind == CN_JOINT_REVOLUTE ? cn_joint_def_along(world, at, cn_vec3(0, 1, 0), &joint)
                                     : cn_joint_def_at(world, at, &joint));
  CHECK_OK(cn_joint_create(world, &joint, &id));
}

static CnBodyId ball_on_ball(CnWorld *world, CnVec3 centre, CnMaterialId material, CnTwist twist) {
  CnBodyDef body = cn_body_def_default();
  CnBodyId under;
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnShapeId shape_id;
  body.kind = CN_BODY_FIXED;
  body.pose.position = centre;
  CHECK_OK(cn_body_create(world, &body, &under));
  shape.radius = 1;
  shape.material = material;
  CHECK_OK(cn_shape_create(world, under, &shape, &shape_id));
  CnBodyId id = toy_ball(world, .1, cn_add(centre, cn_vec3(1.1 * .28, 0, 1.1 * .96)), material);
  toy_set_twist(world, id, twist.velocity, twist.spin);
  return id;
}

static const CnTwist at_rest = {{0, 0, 0}, {0, 0, 0}};

// An arm that a drive swings about y as .4 sin(6 t), and a rod that hangs on it by a ball joint, with a
// spring to the ground and drag.
static void driven_arm(Machine *m) {
  CnFunctionDef sine = cn_function_def_default(CN_FUNCTION_SINE);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  CnBodyId ground = {0, 0};
  sine.amplitude = .4;
  sine.frequency = 6 / (8 * atan(1));
  CHECK_OK(cn_function_create(m->world, &sine, &axis.motor_function));
  axis.drive = CN_DRIVE_POSITION;
  axis.motor_effort = INFINITY;
  CnTwist turns = {{0, 0, -1.2}, {0, 2.4, 0}}; // as the drive begins
  m->parts[0] = rod(m->world, cn_vec3(.5, 0, 0), CN_QUAT_ONE, turns);
  join(m->world, CN_JOINT_REVOLUTE, ground, m->parts[0], CN_VEC3_ZERO, &axis);
  CnTwist hangs = {{0, 0, -2.4}, {0, 0, 0}};
  m->parts[1] = rod(m->world, cn_vec3(1, 0, -.4), CN_QUAT_ONE, hangs);
  join(m->world, CN_JOINT_BALL, m->parts[0], m->parts[1], cn_vec3(1, 0, 0), NULL);
  CnForceDef force = cn_force_def_default(CN_FORCE_SPRING);
  CnForceId id;
  force.body_b = m->parts[1];
  force.frame_a.position = cn_vec3(1, .6, 0);
  force.frame_b.position = cn_vec3(.1, 0, -.3);
  force.stiffness = 30;
  force.damping = .2;
  CHECK_OK(cn_force_create(m->world, &force, &id));
  force = cn_force_def_default(CN_FORCE_DRAG);
  force.body_b = m->parts[1];
  force.linear_drag = .1;
  CHECK_OK(cn_force_create(m->world, &force, &id));
}

static void make(Machine *m, const char *integrator, double h, double tolerance, int slides) {
  CnWorldDef def = cn_world_def_default();
  CnBodyId ground = {0, 0};
  def.integrator = integrator;
  def.time_step = h;
  def.integration.tolerance = tolerance;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-14;
  m->world = toy_world_from(&def);
  driven_arm(m);
  // a rod on a hinge with a spring
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.stiffness = 8;
  axis.damping = .1;
  CnTwist swings = {{0, 0, -.25}, {0, .5, 0}};
  m->parts[2] = rod(m->world, cn_vec3(.5, 5, 0), CN_QUAT_ONE, swings);
  join(m->world, CN_JOINT_REVOLUTE, ground, m->parts[2], cn_vec3(0, 5, 0), &axis);
  // one that gravity presses on a limit
  axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.upper = 0;
  m->parts[3] = rod(m->world, cn_vec3(.5, 7, 0), CN_QUAT_ONE, at_rest);
  join(m->world, CN_JOINT_REVOLUTE, ground, m->parts[3], cn_vec3(0, 7, 0), &axis);
  // a ball that rolls, or slides
  CnVec3 spin = cn_vec3(2, 1, 0), arm = cn_scale(.1, cn_vec3(.28, 0, .96));
  CnTwist rolls = {cn_cross(spin, arm), spin}, skids = {{0, 1, 0}, {10, 30, 5}};
  m->parts[4] = ball_on_ball(m->world, cn_vec3(0, -5, 0),
                             toy_material(m->world, slides ? .3 : 5, 0), slides ? skids : rolls);
}

// Largest difference of places and turns at .24 s.
static double error_of(const char *integrator, double h, const Machine *truth, int slides) {
  Machine m;
  make(&m, integrator, h, 0, slides);
  toy_steps(m.world, (int)lround(.24 / h));
  double most = 0;
  for (int i = 0; i < PARTS; i++) {
    CnPose a = toy_pose(m.world, m.parts[i]), b = toy_pose(truth->world, truth->parts[i]);
    most = fmax(most, cn_norm(cn_sub(a.position, b.position)));
    most = fmax(most, fabs(a.rotation.y - b.rotation.y) + fabs(a.rotation.x - b.rotation.x));
  }
  cn_world_destroy(m.world);
  return most;
}

static void orders(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double h, order;
    int slides;
  } rows[] = {{"hem5", .02, 4.8, 1},
              {"rkf45", .02, 4.8, 1},
              {"moreau-jean", .002, 1.9, 0},
              {"impulse", .0005, .95, 0}};
  for (int slides = 0; slides < 2; slides++) {
    Machine truth;
    make(&truth, "hem5", .04, 1e-13, slides);
    toy_steps(truth.world, 6);
    for (int k = 0; k < 4; k++) {
      if (rows[k].slides != slides) continue;
      double coarse = error_of(rows[k].name, rows[k].h, &truth, slides);
      double fine = error_of(rows[k].name, rows[k].h / 2, &truth, slides);
      print_message("  %s: %.3g, %.3g: order %.2f\n", rows[k].name, coarse, fine,
                    log2(coarse / fine));
      CHECK(log2(coarse / fine) >= rows[k].order);
    }
    cn_world_destroy(truth.world);
  }
}

// Two rods on hinges fall from level: the tip by a reference at .5 s. Where nothing but gravity and rigid
// joints acts, `impulse` is of second order.
static double tip_error(double h) {
  CnWorldDef def = cn_world_def_default();
  CnBodyId rods[2], ground = {0, 0};
  def.time_step = h;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  CnWorld *world = toy_world_from(&def);
  for (int i = 0; i < 2; i++) {
    CnBodyDef body = cn_body_def_default();
    body.mass = 1;
    body.inertia = (CnSym3){1e-3, 1. / 12, 1. / 12, 0, 0, 0};
    body.pose.position = cn_vec3(i + .5, 0, 0);
    CHECK_OK(cn_body_create(world, &body, &rods[i]));
    join(world, CN_JOINT_REVOLUTE, i ? rods[0] : ground, rods[i], cn_vec3(i, 0, 0), NULL);
  }
  toy_steps(world, (int)lround(.5 / h));
  CnPose pose = toy_pose(world, rods[1]);
  CnVec3 tip = cn_add(pose.position, cn_rotate(pose.rotation, cn_vec3(.5, 0, 0)));
  cn_world_destroy(world);
  return cn_norm(cn_sub(tip, cn_vec3(1.29668853623, 0, -1.40577992319)));
}

static void machines(void **state) {
  (void)state;
  for (double h = .005; h > .001; h /= 2) {
    double coarse = tip_error(h), fine = tip_error(h / 2);
    print_message("  two rods, h = %g: %.3g m, order %.2f\n", h, coarse, log2(coarse / fine));
    CHECK(coarse < 2 * h * h && log2(coarse / fine) > 1.9);
  }
}

// Ten links .1 m long, 30 degrees below level, at rest: the tip after 1 s by a reference.
static void ten_links(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.time_step = .001;
  CnWorld *world = toy_world_from(&def);
  CnBodyId link = {0, 0};
  const double c = sqrt(.75), s = .5, across = .1 * (.01 + .0004) / 12;
  for (int i = 0; i < 10; i++) {
    CnBodyDef body = cn_body_def_default();
    CnBodyId above = link;
    body.mass = .1;
    body.inertia = (CnSym3){.1 * .0008 / 12, across, across, 0, 0, 0};
    body.pose.position = cn_vec3(.1 * (i + .5) * c, 0, -.1 * (i + .5) * s);
    body.pose.rotation = (CnQuat){sqrt((1 + c) / 2), 0, sqrt((1 - c) / 2), 0};
    CHECK_OK(cn_body_create(world, &body, &link));
    join(world, CN_JOINT_REVOLUTE, above, link, cn_vec3(.1 * i * c, 0, -.1 * i * s), NULL);
  }
  toy_steps(world, 1000);
  CnPose pose = toy_pose(world, link);
  CnVec3 tip = cn_add(pose.position, cn_rotate(pose.rotation, cn_vec3(.05, 0, 0)));
  double error = cn_norm(cn_sub(tip, cn_vec3(-.8297311573, 0, -.5492730813)));
  print_message("  ten links: %.3g m\n", error);
  CHECK(error < 1e-5);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(orders), cmocka_unit_test(machines),
                                     cmocka_unit_test(ten_links)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
