// SPDX-License-Identifier: Apache-2.0
// Kinematic bodies that follow functions of time under hem5, rkf45 and moreau-jean: joints, contacts
// and springs to shaken, lifted and turning bodies, by closed forms.
#include "check.h"
#include "core/math.h"
#include "core/vec.h"
#include "worlds.h"

#include <math.h>

static const double G = 9.81;
static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};
static const CnBodyId GROUND = {0, 0};
static const CnVec3 X = {1, 0, 0}, Y = {0, 1, 0};

static CnWorld *world_by(int k, double h, double tolerance) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = names[k];
  def.time_step = h;
  def.integration.tolerance = tolerance;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-14;
  return world_make(&def);
}

static CnFunctionId sine(CnWorld *w, double amplitude, double omega, double phase) {
  CnFunctionDef def = cn_function_def_default(CN_FUNCTION_SINE);
  CnFunctionId id;
  def.amplitude = amplitude;
  def.frequency = omega / (2 * CNI_PI);
  def.phase = phase;
  CHECK_OK(cn_function_create(w, &def, &id));
  return id;
}

static CnFunctionId ramp(CnWorld *w, double rate, double start) {
  CnFunctionDef def = cn_function_def_default(CN_FUNCTION_RAMP);
  CnFunctionId id;
  def.rate = rate;
  def.start = start;
  CHECK_OK(cn_function_create(w, &def, &id));
  return id;
}

// A body that follows `motion`, with a box if it has a size.
static CnBodyId mover(CnWorld *w, CnVec3 at, CnVec3 half_size, CnMaterialId material,
                      const CnMotionDef *motion) {
  CnBodyDef def = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  CnBodyId body;
  CnShapeId id;
  def.kind = CN_BODY_KINEMATIC;
  def.pose.position = at;
  CHECK_OK(cn_body_create(w, &def, &body));
  shape.half_size = half_size;
  shape.material = material;
  if (half_size.x > 0) CHECK_OK(cn_shape_create(w, body, &shape, &id));
  CHECK_OK(cn_body_set_motion(w, body, motion));
  return body;
}

static void steps(CnWorld *w, int count) {
  for (int i = 0; i < count; i++) world_step(w);
}

static double turned(const CnWorld *w, CnBodyId body) {
  CnQuat q = world_pose(w, body).rotation;
  return 2 * cni_atan2(q.y, q.w);
}

// ---- joints ----

// A body of 1 kg and J .02 whose centre is .5 m below (start pi: above) a pivot that is shaken along z.
typedef struct Shaken {
  double amplitude, omega, angle;
} Shaken;

static const double ARM = .5, J = .02;

static CnBodyId shaken(CnWorld *w, Shaken s) {
  CnMotionDef motion = cn_motion_def_default();
  motion.z = sine(w, s.amplitude, s.omega, 0);
  CnBodyId pivot = mover(w, cn_vec3(0, 0, 0), cn_vec3(0, 0, 0), (CnMaterialId){0, 0}, &motion);
  CnVec3 at = {-ARM * cni_sin(s.angle), 0, -ARM * cni_cos(s.angle)};
  CnBodyId body = world_part(w, 1, J, at, s.angle);
  CnTwist twist = {cn_vec3(0, 0, s.amplitude * s.omega), cn_vec3(0, 0, 0)};
  CHECK_OK(cn_body_set_twist(w, body, &twist));
  world_join(w, CN_JOINT_REVOLUTE, pivot, body, cn_vec3(0, 0, 0), Y, NULL);
  return body;
}

// (J + L^2) th'' = -L (g + z'') sin th by Runge and Kutta in short steps.
static double reference(Shaken s, double t) {
  const int count = 100000;
  double h = t / count, x = s.angle, v = 0;
  for (int i = 0; i < count; i++) {
    double k[4], u[4];
    static const double c[4] = {0, .5, .5, 1};
    for (int j = 0; j < 4; j++) {
      double lift = -s.amplitude * s.omega * s.omega * cni_sin(s.omega * (i + c[j]) * h);
      u[j] = v + (j ? c[j] * h * k[j - 1] : 0);
      k[j] = -ARM * (G + lift) * cni_sin(x + (j ? c[j] * h * u[j - 1] : 0)) / (J + ARM * ARM);
    }
    x += h * (u[0] + 2 * u[1] + 2 * u[2] + u[3]) / 6;
    v += h * (k[0] + 2 * k[1] + 2 * k[2] + k[3]) / 6;
  }
  return x;
}

static void shaken_pivot(void **state) {
  (void)state;
  Shaken s = {.05, 20, .8};
  double th = reference(s, 2);
  for (int k = 0; k < 2; k++) {
    CnWorld *w = world_by(k, .05, 1e-11);
    CnBodyId body = shaken(w, s);
    steps(w, 40);
    CHECK_NEAR(turned(w, body), th, 1e-8);
    CHECK_NEAR(world_pose(w, body).position.z, .05 * cni_sin(40) - ARM * cni_cos(th), 1e-8);
    cn_world_destroy(w);
  }
}

// Steps of fixed length: by 2^5 more exact with half of them, moreau-jean by 2^2.
static void orders(void **state) {
  (void)state;
  Shaken s = {.05, 12, .8};
  double th = reference(s, 1);
  for (int k = 0; k < 3; k++) {
    double error[2];
    for (int i = 0; i < 2; i++) {
      int count = (k < 2 ? 40 : 400) << i;
      CnWorld *w = world_by(k, 1.0 / count, 0);
      CnBodyId body = shaken(w, s);
      steps(w, count);
      error[i] = fabs(turned(w, body) - th);
      cn_world_destroy(w);
    }
    double order = log(error[0] / error[1]) / log(2);
    print_message("%s: %g %g, order %.2f\n", names[k], error[0], error[1], order);
    CHECK(k < 2 ? order >= 4.8 : order >= 1.95 && order <= 2.05);
  }
}

// (A w)^2 > 2 g (J + L^2)/L: it stands on its head; without shaking it falls.
static void kapitza(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (int still = 0; still < 2; still++) {
      CnWorld *w = world_by(k, k < 2 ? .05 : .001, 1e-8);
      CnBodyId body = shaken(w, (Shaken){still ? 0 : .05, 120, CNI_PI - .1});
      double least = 10;
      for (int i = 0; i < (k < 2 ? 30 : 1500); i++) {
        steps(w, 1);
        CnVec3 x = world_pose(w, body).position;
        least = fmin(least, x.z);
      }
      CHECK(still ? least < 0 : least > .4);
      cn_world_destroy(w);
    }
}

// A crank of .3 m that turns at 5 rad/s, a rod of 1 m, a slider.
static void slider_crank(void **state) {
  (void)state;
  double r = .3, l = 1, omega = 5;
  for (int k = 0; k < 3; k++) {
    CnWorld *w = world_by(k, k < 2 ? .05 : .001, 1e-11);
    CnMotionDef motion = cn_motion_def_default();
    motion.axis = Y;
    motion.turn = ramp(w, -omega, 0); // x to z
    CnBodyId crank = mover(w, cn_vec3(0, 0, 0), cn_vec3(0, 0, 0), (CnMaterialId){0, 0}, &motion);
    CnBodyId rod = world_part(w, 1, .1, cn_vec3(r + l / 2, 0, 0), 0);
    CnBodyId slider = world_part(w, 2, .1, cn_vec3(r + l, 0, 0), 0);
    CnTwist twist = {cn_vec3(0, 0, omega * r / 2), cn_vec3(0, omega * r / l, 0)};
    CHECK_OK(cn_body_set_twist(w, rod, &twist));
    world_join(w, CN_JOINT_REVOLUTE, crank, rod, cn_vec3(r, 0, 0), Y, NULL);
    world_join(w, CN_JOINT_REVOLUTE, rod, slider, cn_vec3(r + l, 0, 0), Y, NULL);
    world_join(w, CN_JOINT_PRISMATIC, GROUND, slider, cn_vec3(r + l, 0, 0), X, NULL);
    steps(w, k < 2 ? 20 : 1000);
    double a = omega, s = r * cni_sin(a), root = sqrt(l * l - s * s);
    double v = -omega * s * (1 + r * cni_cos(a) / root);
    CHECK_NEAR(world_pose(w, slider).position.x, r * cni_cos(a) + root, k < 2 ? 1e-9 : 3e-6);
    CHECK_NEAR(world_twist(w, slider).velocity.x, v, k < 2 ? 1e-8 : 1e-4);
    cn_world_destroy(w);
  }
}

// ---- contacts ----

static CnBodyId plate(CnWorld *w, double friction, double restitution, const CnMotionDef *motion,
                      CnMaterialId *material) {
  *material = world_material(w, friction, restitution);
  return mover(w, cn_vec3(0, 0, -.1), cn_vec3(3, 3, .1), *material, motion);
}

static void half_space(CnWorld *w, const CnMotionDef *motion, CnMaterialId *material) {
  *material = world_material(w, .3, 0);
  CnBodyId body = mover(w, cn_vec3(0, 0, 0), cn_vec3(0, 0, 0), *material, motion);
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnShapeId id;
  plane.material = *material;
  CHECK_OK(cn_shape_create(w, body, &plane, &id));
}

// z = A sin(w t) with A w^2 < g: the force is m (g + z''); by moreau-jean its mean over the step.
static void rides(void **state) {
  (void)state;
  double a = .01, omega = 25, m = 2, h = .001;
  for (int k = 0; k < 3; k++)
    for (int ball = 0; ball < 2; ball++) {
      CnWorld *w = world_by(k, h, 1e-8);
      CnMotionDef motion = cn_motion_def_default();
      CnMaterialId material;
      motion.z = sine(w, a, omega, 0);
      CnBodyId table = plate(w, .3, 0, &motion, &material);
      CnVec3 v = {0, 0, a * omega};
      CnBodyId body = ball ? world_ball(w, .1, m, cn_vec3(.2, 0, .1), v, material)
                           : world_box(w, cn_vec3(.1, .1, .1), m, world_at(.2, 0, .1), v, material);
      for (int i = 1; i <= 200; i++) {
        steps(w, 1);
        double t = h * i, s = a * cni_sin(omega * t), lift = -omega * omega * s;
        if (k == 2) lift = a * omega * (cni_cos(omega * t) - cni_cos(omega * (t - h))) / h;
        CHECK_NEAR(world_pose(w, body).position.z, .1 + s, 1e-9);
        CHECK_NEAR(world_force(w, table, body).z, m * (G + lift), 1e-8 * m * G);
      }
      cn_world_destroy(w);
    }
}

static double event_time(CnWorld *w, CnEventKind kind, int count) {
  for (int i = 0; i < count; i++) {
    const CnLocatedEvent *events;
    int32_t n;
    steps(w, 1);
    cn_world_located_events(w, &events, &n);
    for (int32_t j = 0; j < n; j++)
      if (events[j].kind == kind) return events[j].time;
  }
  return -1;
}

// With A w^2 > g it leaves at sin(w t) = g/(A w^2), flies, and meets the plate again.
static void takes_off(void **state) {
  (void)state;
  double a = .05, omega = 20, off = asin(G / (a * omega * omega)) / omega;
  double z = a * sin(omega * off), v = a * omega * cos(omega * off), low = off + .05,
         high = off + .3;
  for (int i = 0; i < 100; i++) {
    double t = .5 * (low + high), f = t - off;
    *(z + v * f - .5 * G * f * f > a * sin(omega * t) ? &low : &high) = t;
  }
  for (int k = 0; k < 2; k++)
    for (int ball = 0; ball < 3; ball++) { // 2: on a half-space
      CnWorld *w = world_by(k, .01, 1e-11);
      CnMotionDef motion = cn_motion_def_default();
      CnMaterialId material;
      motion.z = sine(w, a, omega, 0);
      if (ball < 2)
        plate(w, .3, 0, &motion, &material);
      else
        half_space(w, &motion, &material);
      CnVec3 up = {0, 0, a * omega};
      if (ball)
        world_ball(w, .1, 2, cn_vec3(.2, 0, .1), up, material);
      else
        world_box(w, cn_vec3(.1, .1, .1), 2, world_at(.2, 0, .1), up, material);
      CHECK_NEAR(event_time(w, CN_EVENT_RELEASE, 10), off, 1e-9);
      CHECK_NEAR(event_time(w, CN_EVENT_IMPACT, 40), high, 1e-9);
      cn_world_destroy(w);
    }
}

// A block at 1 m on a table that turns at 2 rad/s stays there.
static void turntable(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnWorld *w = world_by(k, k < 2 ? .02 : .005, 1e-10);
    CnMotionDef motion = cn_motion_def_default();
    CnMaterialId material;
    motion.turn = ramp(w, 2, 0);
    CnBodyId table = plate(w, .5, 0, &motion, &material);
    CnBodyId block =
        world_box(w, cn_vec3(.1, .08, .05), 2, world_at(1, 0, .05), cn_vec3(0, 2, 0), material);
    CnTwist twist = {cn_vec3(0, 2, 0), cn_vec3(0, 0, 2)};
    CHECK_OK(cn_body_set_twist(w, block, &twist));
    steps(w, k < 2 ? 10 : 40);
    CnVec3 x = world_pose(w, block).position, f = world_force(w, table, block);
    CHECK_NEAR(sqrt(x.x * x.x + x.y * x.y), 1, k < 2 ? 1e-9 : 1e-5);
    CHECK_NEAR(cni_atan2(x.y, x.x), .4, k < 2 ? 1e-9 : 3e-5);
    CHECK_NEAR(sqrt(f.x * f.x + f.y * f.y), 8, 1e-3);
    cn_world_destroy(w);
  }
}

// ---- springs ----

// x'' = k/m (A sin(w t) - x) from rest: A n^2/(n^2 - w^2) (sin(w t) - w/n sin(n t)).
static void spring(void **state) {
  (void)state;
  double a = .1, omega = 3, stiffness = 50, n = sqrt(stiffness);
  for (int k = 0; k < 3; k++) {
    CnWorld *w = world_by(k, k < 2 ? .05 : .0005, 1e-11);
    CHECK_OK(cn_world_set_gravity(w, cn_vec3(0, 0, 0)));
    CnMotionDef motion = cn_motion_def_default();
    motion.x = sine(w, a, omega, 0);
    CnBodyId hand = mover(w, cn_vec3(0, 0, 0), cn_vec3(0, 0, 0), (CnMaterialId){0, 0}, &motion);
    CnBodyId body = world_part(w, 1, .1, cn_vec3(1, 0, 0), 0);
    CnForceDef force = cn_force_def_default(CN_FORCE_SPRING);
    CnForceId id;
    force.body_a = hand;
    force.body_b = body;
    force.stiffness = stiffness;
    force.rest_length = 1;
    CHECK_OK(cn_force_create(w, &force, &id));
    steps(w, k < 2 ? 40 : 4000);
    double x =
        a * n * n / (n * n - omega * omega) * (cni_sin(2 * omega) - omega / n * cni_sin(2 * n));
    CHECK_NEAR(world_pose(w, body).position.x, 1 + x, k < 2 ? 1e-9 : 1e-6);
    cn_world_destroy(w);
  }
}

// ---- velocities that jump ----

// A plate that lies still and goes up at 1 m/s from .345 s on: what lies on it goes along, or is thrown
// at 2 m/s where it bounces.
static void lift_starts(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int bounces = 0; bounces < 2; bounces++) {
      CnWorld *w = world_by(k, .05, 1e-10);
      CnMotionDef motion = cn_motion_def_default();
      CnMaterialId material;
      motion.z = ramp(w, 1, .345);
      plate(w, .3, bounces, &motion, &material);
      CnBodyId ball = world_ball(w, .1, 2, cn_vec3(.2, 0, .1), cn_vec3(0, 0, 0), material);
      steps(w, 6);
      CHECK_NEAR(world_pose(w, ball).position.z, .1, 1e-12);
      steps(w, 4);
      double t = .5 - .345;
      CHECK_NEAR(world_pose(w, ball).position.z, .1 + (bounces ? 2 * t - .5 * G * t * t : t),
                 1e-10);
      cn_world_destroy(w);
    }
}

// A pivot that goes along x at 1 m/s from .2 s on, inside a step or at its end: th' jumps by
// m L/(J + m L^2), and the energy seen from it stays.
static void pivot_starts(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 2; i++) {
      CnWorld *w = world_by(k, i ? .03 : .05, 1e-10);
      CnMotionDef motion = cn_motion_def_default();
      motion.x = ramp(w, 1, .2);
      CnBodyId pivot = mover(w, cn_vec3(0, 0, 0), cn_vec3(0, 0, 0), (CnMaterialId){0, 0}, &motion);
      CnBodyId body = world_part(w, 1, J, cn_vec3(0, 0, -ARM), 0);
      CnJointId joint = world_join(w, CN_JOINT_REVOLUTE, pivot, body, cn_vec3(0, 0, 0), Y, NULL);
      steps(w, 20);
      double inertia = J + ARM * ARM, jump = ARM / inertia;
      double th = world_joint(w, joint).coordinate[0], rate = world_joint(w, joint).rate[0];
      CHECK(fabs(th) > .01);
      CHECK_NEAR(.5 * inertia * (rate * rate - jump * jump) + G * ARM * (1 - cni_cos(th)), 0, 1e-8);
      cn_world_destroy(w);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shaken_pivot), cmocka_unit_test(orders), cmocka_unit_test(kapitza),
      cmocka_unit_test(slider_crank), cmocka_unit_test(rides),  cmocka_unit_test(takes_off),
      cmocka_unit_test(turntable),    cmocka_unit_test(spring), cmocka_unit_test(lift_starts),
      cmocka_unit_test(pivot_starts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
