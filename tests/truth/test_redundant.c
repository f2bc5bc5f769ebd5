// SPDX-License-Identifier: Apache-2.0
// Machines with more rows than they need, against known motions and forces: Bricard's loop (IFToMM
// A04), a car of plates welded all round, windows of parallel rods that pass their change points, a
// door on three ball joints, a beam welded at both ends. Where rows follow from others the reactions
// are those of least sum of squares, forces over the masses they move, torques over the inertias.
#include "check.h"
#include "core/vec.h"
#include "worlds.h"

#include <math.h>
#include <string.h>

static const CnBodyId ground = {0, 0};
static const CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
static const double G = 9.81;

// ---- Bricard ----

typedef struct Loop {
  CnWorld *world;
  CnBodyId rods[5];
} Loop;

static Loop bricard(const char *integrator, double h) {
  static const CnVec3 at[6] = {{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
  static const CnVec3 axis[6] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
  CnWorldDef def = cn_world_def_default();
  def.gravity = cn_vec3(0, -G, 0);
  def.integrator = integrator;
  def.integration.tolerance = 1e-9;
  def.time_step = h;
  Loop loop = {.world = world_make(&def)};
  for (int i = 0; i < 5; i++) {
    CnVec3 along = cn_sub(at[i + 1], at[i]), middle = cn_scale(.5, cn_add(at[i], at[i + 1]));
    double thin = .01 / 6, across = (1 + .01) / 12;
    CnVec3 j = {along.x != 0 ? thin : across, along.y != 0 ? thin : across,
                along.z != 0 ? thin : across};
    loop.rods[i] = world_mass(loop.world, 1, j, (CnPose){middle, CN_QUAT_ONE}, rest);
  }
  for (int i = 0; i < 6; i++)
    world_join(loop.world, CN_JOINT_REVOLUTE, i ? loop.rods[i - 1] : ground,
               i < 5 ? loop.rods[i] : ground, at[i], axis[i], NULL);
  return loop;
}

// How far the coordinates of P3, the end of the third rod, are from what they are at 1 and 2 s.
static void run_bricard(const char *integrator, double h, double error[2]) {
  static const CnVec3 truth[2] = {{0.510501, -1.649168, 0.140123},
                                  {-0.969340, -1.221247, 0.754278}};
  Loop loop = bricard(integrator, h);
  double energy = world_energy(loop.world);
  int steps = (int)(1 / h + .5);
  CHECK_NEAR(energy, -29.43, 1e-12);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < steps; i++) world_step(loop.world);
    CnVec3 p = cn_pose_point(world_pose(loop.world, loop.rods[2]), cn_vec3(0, 0, .5));
    CnVec3 off = cn_sub(p, truth[k]);
    error[k] = fmax(fabs(off.x), fmax(fabs(off.y), fabs(off.z)));
    print_message("Bricard, %s, h %g, %d s: %.3e m, energy %+.2e J\n", integrator, h, k + 1,
                  error[k], world_energy(loop.world) - energy);
  }
  CnMechanism m;
  CHECK_OK(cn_world_mechanism(loop.world, &m, NULL, 0));
  CHECK(m.error < 1e-9 && m.turn_error < 1e-9);
  cn_world_destroy(loop.world);
}

static void bricard_truth(void **state) {
  (void)state;
  double near[2], fine[2], coarse[2], exact[2];
  run_bricard("impulse", 1e-2, coarse);
  run_bricard("impulse", 5e-3, fine);
  run_bricard("impulse", 1e-3, near);
  for (int k = 0; k < 2; k++) {
    CHECK(near[k] < 1e-5);
    CHECK(log2(coarse[k] / fine[k]) >= 1.9);
  }
  run_bricard("hem5", .02, exact);
  for (int k = 0; k < 2; k++) CHECK(exact[k] < 2e-6); // as far as the truth is printed
}

// ---- forces of least norm ----

static CnVec3 force_of(const CnWorld *world, CnJointId joint) {
  return world_joint(world, joint).force;
}

// 20 kg, .8 m wide, ball joints at .2, 1 and 1.8 m: a third of the weight each, its moment by the outer two.
static const char *const integrators[] = {"impulse", "hem5", "rkf45", "moreau-jean"};

static void door(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    CnWorldDef def = cn_world_def_default();
    def.integrator = integrators[k];
    CnWorld *world = world_make(&def);
    CnBodyId body = world_mass(world, 20, cn_vec3(5, 6, 1.1), world_at(.4, 0, 1), rest);
    CnJointId joints[3];
    for (int i = 0; i < 3; i++)
      joints[i] = world_join(world, CN_JOINT_BALL, ground, body, cn_vec3(0, 0, .2 + .8 * i),
                             cn_vec3(0, 0, 1), NULL);
    for (int n = 0; n < (k ? 100 : 1000); n++) world_step(world);
    for (int i = 0; i < 3; i++) {
      CnVec3 f = force_of(world, joints[i]);
      CHECK_NEAR(f.z, 65.4, 65.4e-6);
      CHECK_NEAR(f.x, 49.05 * (i - 1) * -1, 49.05e-6);
      CHECK_NEAR(f.y, 0, 1e-9);
    }
    cn_world_destroy(world);
  }
}

// A beam of 6 kg and 2 m on `count` welds, in the middle between them: each carries its share.
static void hold_beam(const char *integrator, int count) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  CnWorld *world = world_make(&def);
  CnBodyId body = world_mass(world, 6, cn_vec3(.01, 2, 2), world_at(0, 0, 0), rest);
  CnJointId joints[5];
  CnMechanism m;
  for (int i = 0; i < count; i++)
    joints[i] = world_join(world, CN_JOINT_WELD, ground, body,
                           cn_vec3(-1 + 2.0 * i / (count - 1), 0, 0), cn_vec3(0, 0, 1), NULL);
  CHECK_OK(cn_world_mechanism(world, &m, NULL, 0));
  CHECK(m.freedoms == 0 && m.dependent_count == 6 * (count - 1));
  for (int n = 0; n < 200; n++) world_step(world);
  for (int i = 0; i < count; i++) CHECK_NEAR(force_of(world, joints[i]).z, 6 * G / count, 1e-6);
  CHECK_NEAR(world_pose(world, body).position.z, 0, 1e-12);
  cn_world_destroy(world);
}

static void beam(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++)
    for (int count = 2; count <= 5; count++) hold_beam(integrators[k], count);
}

// A plate of 6 kg under four rods at the corners (x_i, y_i) of a square of 1 m, its centre of mass at (x, y) beside the
// middle: of all shares with the right sum and moments m g (1 + 4 x x_i + 4 y y_i)/4 is the least, and no rod
// is pressed. It swings a little: the rods are alike then, too.
static void plate(void **state) {
  (void)state;
  const double x = .1, y = .05;
  for (int k = 0; k < 4; k++) {
    CnWorldDef def = cn_world_def_default();
    def.integrator = integrators[k];
    def.time_step = 1e-3;
    CnWorld *world = world_make(&def);
    CnBodyId body = world_mass(world, 6, cn_vec3(.5, .5, 1), world_at(x, y, 0), rest);
    CnJointId rods[4];
    for (int i = 0; i < 4; i++) {
      CnJointDef rod = cn_joint_def_default(CN_JOINT_DISTANCE);
      double at[2] = {i % 2 ? .5 : -.5, i / 2 ? .5 : -.5};
      rod.body_b = body;
      rod.frame_a.position = cn_vec3(at[0], at[1], 1);
      rod.frame_b.position = cn_vec3(at[0] - x, at[1] - y, 0);
      CHECK_OK(cn_joint_create(world, &rod, &rods[i]));
    }
    for (int n = 0; n < 100; n++) world_step(world);
    for (int i = 0; i < 4; i++) {
      double share = .25 + x * (i % 2 ? .5 : -.5) + y * (i / 2 ? .5 : -.5);
      CHECK_NEAR(force_of(world, rods[i]).z, 6 * G * share, 1e-6);
    }
    cn_world_destroy(world);
  }
}

// A slab of 10 kg on five ball joints at (x_i, y_i) about its centre of mass: loads a + b x + c y with the right sum and
// moments, told alike by the four schemes and by the static equilibrium.
static void slab(void **state) {
  (void)state;
  static const double at[5][2] = {{-1.2, -.6}, {.8, -.6}, {.8, .5}, {-1.2, .5}, {.1, 0}};
  static const double truth[5] = {14.2604314, 20.9871249, 24.5118806, 17.7851870, 20.5553762};
  for (int k = 0; k < 5; k++) {
    CnWorldDef def = cn_world_def_default();
    CnEquilibrium found;
    def.integrator = integrators[k % 4];
    CnWorld *world = world_make(&def);
    CnBodyId body = world_mass(world, 10, cn_vec3(1, 1, 1.5), world_at(0, 0, 0), rest);
    CnJointId joints[5];
    for (int i = 0; i < 5; i++)
      joints[i] = world_join(world, CN_JOINT_BALL, ground, body, cn_vec3(at[i][0], at[i][1], 0),
                             cn_vec3(0, 0, 1), NULL);
    if (k == 4)
      CHECK_OK(cn_world_equilibrium(world, NULL, &found));
    else
      for (int n = 0; n < 10; n++) world_step(world);
    for (int i = 0; i < 5; i++) CHECK_NEAR(force_of(world, joints[i]).z, truth[i], 2e-6);
    cn_world_destroy(world);
  }
}

// ---- bearings that rub by their share ----

static const CnVec3 upwards = {0, 0, 1};

static CnJointAxis bearing(double mu) {
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.friction_coefficient = mu;
  axis.friction_radius = .05;
  return axis;
}

// The door on three hinges, swinging at 2 rad/s: whichever comes first, they brake it alike.
static double swing_door(const char *integrator, const int order[3]) {
  CnWorldDef def = cn_world_def_default();
  CnJointAxis rubs = bearing(.3);
  def.integrator = integrator;
  def.time_step = 1e-3;
  CnWorld *world = world_make(&def);
  CnTwist swing = {{0, .8, 0}, {0, 0, 2}};
  CnBodyId body = world_mass(world, 20, cn_vec3(1, 1, 1), world_at(.4, 0, 1), swing);
  for (int i = 0; i < 3; i++)
    world_join(world, CN_JOINT_REVOLUTE, ground, body, cn_vec3(0, 0, .2 + .8 * order[i]), upwards,
               &rubs);
  for (int n = 0; n < 300; n++) world_step(world);
  double speed = world_twist(world, body).spin.z;
  cn_world_destroy(world);
  return speed;
}

static void order_of_hinges(void **state) {
  (void)state;
  static const int orders[3][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}};
  double first = swing_door("hem5", orders[0]);
  print_message("a door on three hinges after .3 s: %.9g rad/s\n", first);
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < 3; i++) CHECK_NEAR(swing_door(integrators[k], orders[i]), first, 1e-5);
}

// A shaft of 10 kg, its centre of mass .5 m beside the first of three bearings .5 m apart: 4/3, 1/3 and -2/3 of the weight.
static void overhung(void **state) {
  (void)state;
  const double load = 10 * G * (4 + 1 + 2) / 3, mu = .1;
  for (int k = 0; k < 4; k++) {
    CnWorldDef def = cn_world_def_default();
    def.integrator = integrators[k];
    def.time_step = 1e-3;
    def.gravity = cn_vec3(-G, 0, 0);
    CnWorld *world = world_make(&def);
    CnBodyId body = world_mass(world, 10, cn_vec3(.5, .5, .05), world_at(0, 0, -.5),
                               (CnTwist){{0, 0, 0}, {0, 0, 20}});
    for (int i = 0; i < 3; i++) {
      CnJointDef ball = cn_joint_def_default(CN_JOINT_SPHERICAL);
      CnJointId joint;
      ball.body_b = body;
      ball.frame_a.position = cn_vec3(0, 0, .5 * i);
      ball.frame_b.position = cn_vec3(0, 0, .5 * i + .5);
      ball.axes[1].friction_coefficient = mu;
      ball.axes[1].friction_radius = .05;
      CHECK_OK(cn_joint_create(world, &ball, &joint));
    }
    for (int n = 0; n < 200; n++) world_step(world);
    CHECK_NEAR(world_twist(world, body).spin.z, 20 - .2 * mu * .05 * load / .05, 1e-6);
    cn_world_destroy(world);
  }
}

// ---- a car of welds ----

// A floor plate and four walls round it, welded to each other at eight seams where four would do; four
// wheels on hinges, the rear ones driven by 60 N m each. It rolls at a = 2 T/r / (M + 4 J/r^2).
typedef struct Car {
  CnWorld *world;
  CnBodyId plates[5], wheels[4];
  CnJointId welds[8], hinges[4];
} Car;

static const double RADIUS = .3, TORQUE = 60;

static Car make_car(const char *solver) {
  static const CnVec3 at[5] = {{0, 0, .5}, {1, 0, .7}, {-1, 0, .7}, {0, .6, .7}, {0, -.6, .7}};
  static const int seams[8][2] = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 3}, {3, 2}, {2, 4}, {4, 1}};
  CnWorldDef def = cn_world_def_default();
  if (solver) def.solver = cn_solver_def_default(solver);
  def.solver.effort = CN_EFFORT_EXACT;
  Car car = {.world = world_make(&def)};
  CnMaterialId rubber = world_material(car.world, 1, 0);
  world_floor(car.world, rubber);
  for (int i = 0; i < 5; i++)
    car.plates[i] = world_mass(car.world, i ? 40 : 200, i ? cn_vec3(8, 8, 8) : cn_vec3(30, 70, 95),
                               (CnPose){at[i], CN_QUAT_ONE}, rest);
  for (int i = 0; i < 8; i++)
    car.welds[i] =
        world_join(car.world, CN_JOINT_WELD, car.plates[seams[i][0]], car.plates[seams[i][1]],
                   cn_scale(.5, cn_add(at[seams[i][0]], at[seams[i][1]])), cn_vec3(0, 0, 1), NULL);
  CnJointAxis axle = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axle.drive = CN_DRIVE_EFFORT;
  for (int i = 0; i < 4; i++) {
    CnVec3 hub = {i < 2 ? -.9 : .9, i % 2 ? .7 : -.7, RADIUS};
    axle.motor_effort = i < 2 ? TORQUE : 0;
    car.wheels[i] = world_wheel(car.world, RADIUS, 15, .5 * 15 * RADIUS * RADIUS, hub, rubber);
    car.hinges[i] = world_join(car.world, CN_JOINT_REVOLUTE, car.plates[0], car.wheels[i], hub,
                               cn_vec3(0, 1, 0), &axle);
  }
  return car;
}

static void car_of_welds(void **state) {
  (void)state;
  static const char *const solvers[] = {NULL, "auto"};
  double mass = 200 + 4 * 40 + 4 * 15, a = 2 * TORQUE / RADIUS / (mass + 4 * .5 * 15);
  for (int k = 0; k < 2; k++) {
    Car car = make_car(solvers[k]);
    CnMechanism m;
    CHECK_OK(cn_world_mechanism(car.world, &m, NULL, 0));
    CHECK(m.freedoms == 10 && m.locked_count == 68 && m.dependent_count == 24);
    for (int n = 0; n < 500; n++) world_step(car.world);
    CnTwist twist = world_twist(car.world, car.plates[0]);
    CHECK_NEAR(twist.velocity.x, .5 * a, 1e-4 * a);
    CHECK_NEAR(world_twist(car.world, car.wheels[0]).spin.y, .5 * a / RADIUS, 1e-3 * a);
    CHECK_NEAR(twist.velocity.y, 0, 1e-6);
    CHECK_NEAR(world_pose(car.world, car.plates[0]).position.y, 0, 1e-6);
    // left and right alike; the seams of the left wall carry what those of the right one do
    static const int pairs[3][2] = {{2, 3}, {4, 7}, {5, 6}};
    for (int i = 0; i < 3; i++) {
      CnVec3 left = force_of(car.world, car.welds[pairs[i][0]]);
      CnVec3 right = force_of(car.world, car.welds[pairs[i][1]]);
      CHECK_NEAR(left.z * (i == 0 ? 1 : -1), right.z, 1e-5 * mass * G);
    }
    CHECK_OK(cn_world_mechanism(car.world, &m, NULL, 0));
    CHECK(m.error < 1e-6 && m.turn_error < 1e-6);
    cn_world_destroy(car.world);
  }
}

// ---- change points ----

// Three parallel rods under one bar: one rod more than it needs. Turning at about 5 rad/s it passes the
// places where all lie in one line, where it could fold, twice a turn, and stays a parallelogram.
static void change_points(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.gravity = CN_VEC3_ZERO;
  CnWorld *world = world_make(&def);
  CnVec3 y = {0, 1, 0};
  CnTwist turn = {{2.5, 0, 0}, {0, 5, 0}}, slide = {{5, 0, 0}, {0, 0, 0}};
  CnBodyId bar = world_mass(world, 2, cn_vec3(.01, .7, .7), world_at(1, 0, 1), slide);
  for (int i = 0; i < 3; i++) {
    CnBodyId rod = world_mass(world, 1, cn_vec3(.1, .1, .01), world_at(i, 0, .5), turn);
    world_join(world, CN_JOINT_REVOLUTE, ground, rod, cn_vec3(i, 0, 0), y, NULL);
    world_join(world, CN_JOINT_REVOLUTE, rod, bar, cn_vec3(i, 0, 1), y, NULL);
  }
  double energy = world_energy(world);
  for (int n = 0; n < 5000; n++) {
    world_step(world);
    CHECK(fabs(world_pose(world, bar).rotation.y) < 1e-6);
  }
  // uniform: 25 rad
  CHECK_NEAR(world_pose(world, bar).position.x - 1, sin(25), 1e-2);
  CHECK_REL(world_energy(world), energy, 1e-6);
  cn_world_destroy(world);
}

// Windows of rods, 1 m and 1 kg, that fall past their change points, with three rows a window more than
// they need. What acts on all hinges, little of it or more, may not leave them open or take them out of
// their plane, and auto has its answer in every step, by the factor of the joints in nearly all: where they slip
// and where friction holds them by impulses that are not determined.
typedef struct Windows {
  CnWorld *world;
  CnBodyId bodies[19];
  CnJointId joints[28];
  int body_count, joint_count;
} Windows;

static Windows make_windows(int windows, CnEffort effort, const CnJointAxis *act) {
  CnWorldDef def = cn_world_def_default();
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = effort;
  Windows w = {.world = world_make(&def)};
  CnVec3 y = {0, 1, 0};
  CnTwist turn = {{.5, 0, 0}, {0, 1, 0}}, slide = {{1, 0, 0}, {0, 0, 0}};
  CnBodyId rods[10];
  double thin = 2e-4 / 12, across = 1.0001 / 12;
  for (int i = 0; i <= windows; i++) {
    w.bodies[w.body_count++] = rods[i] =
        world_mass(w.world, 1, cn_vec3(across, across, thin), world_at(i, 0, .5), turn);
    w.joints[w.joint_count++] =
        world_join(w.world, CN_JOINT_REVOLUTE, ground, rods[i], cn_vec3(i, 0, 0), y, act);
  }
  for (int i = 0; i < windows; i++) {
    CnBodyId bar = w.bodies[w.body_count++] =
        world_mass(w.world, 1, cn_vec3(thin, across, across), world_at(i + .5, 0, 1), slide);
    for (int side = 0; side < 2; side++)
      w.joints[w.joint_count++] = world_join(w.world, CN_JOINT_REVOLUTE, rods[i + side], bar,
                                             cn_vec3(i + side, 0, 1), y, act);
  }
  return w;
}

static double windows_open(int windows, CnEffort effort, const CnJointAxis *act) {
  Windows w = make_windows(windows, effort, act);
  double worst = 0;
  int direct = 0;
  for (int n = 0; n < 1000; n++) {
    CnSolveReport report = world_step(w.world).solve;
    CHECK(report.converged == 1);
    direct += strcmp(report.method, "active rows") == 0;
    for (int i = 0; i < w.joint_count; i++)
      worst = fmax(worst, world_joint(w.world, w.joints[i]).error);
    for (int i = 0; i < w.body_count; i++)
      worst = fmax(worst, fabs(world_pose(w.world, w.bodies[i]).position.y));
  }
  CHECK(direct > 900);
  cn_world_destroy(w.world);
  return worst;
}

// Put apart by micrometres: rows that depend on each other do not quite, and softer springs make nothing of that.
static void windows_apart(void **state) {
  (void)state;
  CnJointAxis act = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  for (int k = 0; k < 3; k++) {
    double most = 0;
    act.stiffness = k == 0 ? 2 : k == 1 ? 2e-4 : 2e-8;
    act.damping = 5e-3 * act.stiffness;
    Windows w = make_windows(3, CN_EFFORT_EXACT, &act);
    for (int i = 0; i < w.body_count; i++) {
      CnPose pose = world_pose(w.world, w.bodies[i]);
      pose.position.y += 1e-6 * (i * i % 5);
      pose.rotation = world_turn(cn_vec3(i % 2, 0, 1 - i % 2), 1e-6 * (i % 3));
      CHECK_OK(cn_body_set_pose(w.world, w.bodies[i], &pose));
    }
    for (int n = 0; n < 200; n++) {
      world_step(w.world);
      for (int i = 0; i < w.joint_count; i++)
        most = fmax(most, cn_norm(force_of(w.world, w.joints[i])));
    }
    print_message("3 windows, apart, springs of %g N m/rad: %.3g N\n", act.stiffness, most);
    CHECK(most < 100);
    cn_world_destroy(w.world);
  }
}

static void windows_held(void **state) {
  (void)state;
  static const double efforts[] = {5e-14, 5e-5, .05, 500};
  static const int sizes[] = {2, 5, 9};
  for (int n = 0; n < 3; n++)
    for (int k = n < 2 ? 0 : 4; k < 8; k++) {
      int windows = sizes[n];
      if (k == 6) continue; // motors so strong work against each other
      CnJointAxis act = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
      if (k % 2)
        act.friction = .2 * efforts[k / 2];
      else
        act.motor_speed = .5, act.motor_effort = efforts[k / 2];
      double worst = windows_open(windows, windows == 2 ? CN_EFFORT_NORMAL : CN_EFFORT_EXACT, &act);
      print_message("%d windows, %s %g N m: open by %.1e m\n", windows,
                    k % 2 ? "friction" : "motors", efforts[k / 2], worst);
      CHECK(worst < 1e-10);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bricard_truth), cmocka_unit_test(door),
      cmocka_unit_test(beam),          cmocka_unit_test(plate),
      cmocka_unit_test(slab),          cmocka_unit_test(order_of_hinges),
      cmocka_unit_test(overhung),      cmocka_unit_test(car_of_welds),
      cmocka_unit_test(change_points), cmocka_unit_test(windows_held),
      cmocka_unit_test(windows_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
