// SPDX-License-Identifier: Apache-2.0
// moreau-jean: the woodpecker toy digit by digit, order 1 across impacts, order 2 between them, the
// projected variant, and any solver of the table.
#include "check.h"
#include "mechanisms.h"
#include "toys.h"
#include "worlds.h"

#include <string.h>

#include "core/math.h"

static CnSolver *solver_of(const char *name) {
  CnSolverDef def = cn_solver_def_default(name);
  def.effort = CN_EFFORT_EXACT;
  CnSolver *solver;
  def.tolerance = 1e-14;
  def.max_iterations = 2000;
  def.local = CN_LOCAL_EXACT;
  CHECK_OK(cn_solver_create(&def, &solver));
  return solver;
}

static void woodpecker(void **state) {
  (void)state;
  Mechanism m;
  CnIntegratorDef def = cn_integrator_def_default("moreau-jean");
  CnSolver *solver = solver_of("auto");
  def.projection = 0; // as in the reference
  mechanism_woodpecker(&m);
  CHECK_OK(mechanism_run(&m, &def, solver, .29998, 2e-5, NULL));
  CHECK(m.done_count == 14999);
  CHECK_NEAR(m.q[0], -0.041348186768, 1e-9);
  CHECK_NEAR(m.v[0], -0.260137330791, 1e-9);
  CHECK_NEAR(m.q[1], -0.103468468272, 1e-9);
  CHECK_NEAR(m.q[2], -0.340933975550, 1e-9);
  CHECK_NEAR(m.v[2], -8.327555353239, 1e-9);
  cn_solver_destroy(solver);
}

// Error of the height of a bouncing ball against its closed form, mean over the time.
static double bounce_error(CnIntegrator *integrator, CnSolver *solver, double z0, int steps) {
  Mechanism m;
  double t1 = sqrt(2 * z0 / 9.81), e = .8, sum = 0, h = 1.2 / steps;
  mechanism_ball(&m, z0, e);
  for (int i = 0; i < steps; i++) {
    CHECK_OK(cn_integrator_step(integrator, &m.system, solver, i * h, m.q, m.v, h, NULL));
    double t = (i + 1) * h, from = t1, v = e * 9.81 * t1, z = z0 - 9.81 * t * t / 2;
    while (t > from) {
      z = v * (t - from) - 9.81 * (t - from) * (t - from) / 2;
      from += 2 * v / 9.81;
      v *= e;
    }
    sum += fabs(m.q[0] - z) / steps;
  }
  return sum;
}

// Where in its step an impact falls is chance: mean over a hundred heights.
static double mean_bounce_error(int steps) {
  CnIntegratorDef def = cn_integrator_def_default("moreau-jean");
  CnIntegrator *integrator;
  CnSolver *solver = solver_of("lemke");
  CHECK_OK(cn_integrator_create(&def, &integrator));
  double sum = 0;
  for (int i = 0; i < 100; i++)
    sum += bounce_error(integrator, solver, .8 + .4 * fmod(i * .6180339887, 1), steps) / 100;
  cn_integrator_destroy(integrator);
  cn_solver_destroy(solver);
  return sum;
}

static void order_across_impacts(void **state) {
  (void)state;
  // over three halvings: 2^(3 .95)
  double coarse = mean_bounce_error(200), fine = mean_bounce_error(1600);
  CHECK(coarse / fine >= 7.2);
  CHECK(fine < 1e-3 && fine > 1e-6);
}

static double smooth_error(int steps, double theta, const Mechanism *truth) {
  Mechanism m;
  CnIntegratorDef def = cn_integrator_def_default("moreau-jean");
  CnSolver *solver = solver_of("psor");
  def.theta = theta;
  mechanism_oscillator(&m);
  CHECK_OK(mechanism_run(&m, &def, solver, 2, 2.0 / steps, NULL));
  cn_solver_destroy(solver);
  double sum = 0;
  for (int i = 0; i < 2; i++) sum += fabs(m.q[i] - truth->q[i]) + fabs(m.v[i] - truth->v[i]);
  return sum;
}

static void order_on_smooth_arcs(void **state) {
  (void)state;
  Mechanism truth;
  CnIntegratorDef def = cn_integrator_def_default("hem5");
  def.tolerance = 1e-13;
  mechanism_oscillator(&truth);
  CHECK_OK(mechanism_run(&truth, &def, NULL, 2, 2, NULL));
  double before = smooth_error(50, .5, &truth);
  for (int steps = 100; steps <= 400; steps *= 2) {
    double error = smooth_error(steps, .5, &truth);
    CHECK(before / error >= 3.49); // 2^1.8
    before = error;
  }
  // theta = 1 is of order 1
  CHECK_NEAR(smooth_error(400, 1, &truth) / smooth_error(800, 1, &truth), 2, .1);
}

// A pendulum drifts; projected, it stays.
static void projected(void **state) {
  (void)state;
  Mechanism m;
  CnIntegratorDef def = cn_integrator_def_default("moreau-jean");
  CnSolver *solver = solver_of("auto");
  CnIntegratorReport report;
  mechanism_pendulum(&m, 1, 0);
  def.projection = 0;
  CHECK_OK(mechanism_run(&m, &def, solver, 1, 1e-3, &report));
  double drift = fabs(m.q[0] * m.q[0] + m.q[1] * m.q[1] - 1);
  CHECK(drift > 1e-9 && drift < 1e-2);
  def.projection = 1;
  mechanism_pendulum(&m, 1, 0);
  CHECK_OK(mechanism_run(&m, &def, solver, 1, 1e-3, &report));
  CHECK_NEAR(m.q[0] * m.q[0] + m.q[1] * m.q[1], 1, 1e-14);
  CHECK_NEAR(m.q[0] * m.v[0] + m.q[1] * m.v[1], 0, 1e-14);
  cn_solver_destroy(solver);
}

// ---- order 2 with joints and contacts that stay closed ----

typedef CnBodyId (*Build)(CnWorld *world);

static CnBodyId rod(CnWorld *world, CnVec3 centre, CnVec3 spin) {
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  body.mass = 1;
  body.inertia = (CnSym3){.02, .03, .04, 0, 0, 0};
  body.pose.position = centre;
  body.twist.spin = spin;
  CHECK_OK(cn_body_create(world, &body, &id));
  return id;
}

static void hinge(CnWorld *world, CnBodyId a, CnBodyId b, CnVec3 at) {
  CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
  CnJointId id;
  joint.body_a = a;
  joint.body_b = b;
  CHECK_OK(cn_joint_def_at(world, at, &joint));
  CHECK_OK(cn_joint_create(world, &joint, &id));
}

// Two rods, the first on the ground, a spring across: they tumble in space.
static CnBodyId double_pendulum(CnWorld *world) {
  CnBodyId a = rod(world, cn_vec3(.5, 0, 0), CN_VEC3_ZERO);
  CnBodyId b = rod(world, cn_vec3(1.5, .2, 0), cn_vec3(0, 0, 2));
  toy_set_twist(world, b, cn_vec3(-.4, 1, 0), cn_vec3(0, 0, 2));
  hinge(world, a, (CnBodyId){0, 0}, CN_VEC3_ZERO);
  hinge(world, a, b, cn_vec3(1, 0, 0));
  CnForceDef force = cn_force_def_default(CN_FORCE_SPRING);
  CnForceId id;
  force.body_b = b;
  force.stiffness = 20;
  force.damping = .3;
  force.frame_a.position = cn_vec3(0, 0, 1);
  CHECK_OK(cn_force_create(world, &force, &id));
  return b;
}

static CnBodyId ball_on_ball(CnWorld *world, double friction, CnVec3 spin) {
  CnMaterialId material = toy_material(world, friction, 0);
  CnBodyId under = toy_ball(world, 1, CN_VEC3_ZERO, material), id;
  CnBodyDef body = cn_body_def_default();
  CHECK_OK(cn_body_destroy(world, under));
  body.kind = CN_BODY_FIXED;
  CHECK_OK(cn_body_create(world, &body, &under));
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnShapeId shape_id;
  shape.radius = 1;
  shape.material = material;
  CHECK_OK(cn_shape_create(world, under, &shape, &shape_id));
  id = toy_ball(world, .1, cn_vec3(1.1 * .28, 0, 1.1 * .96), material);
  // without slip at the point of contact
  CnVec3 arm = cn_scale(.1, cn_vec3(.28, 0, .96));
  toy_set_twist(world, id, cn_cross(spin, arm), spin);
  return id;
}

static CnBodyId slides(CnWorld *world) { return ball_on_ball(world, 0, cn_vec3(0, 1, 0)); }
static CnBodyId rolls(CnWorld *world) { return ball_on_ball(world, 5, cn_vec3(2, 1, 0)); }

static CnPose world_run(const char *integrator, double h, Build build, double *gap) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.time_step = h;
  def.integration.tolerance = 1e-12;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-14;
  CnWorld *world = toy_world_from(&def);
  CnBodyId id = build(world);
  toy_steps(world, (int)lround(.32 / h));
  CnPose pose = toy_pose(world, id);
  *gap = 0;
  for (CnJointId j = cn_world_next_joint(world, (CnJointId){0, 0}); j.slot;
       j = cn_world_next_joint(world, j)) {
    CnJointState joint;
    CHECK_OK(cn_joint_state(world, j, &joint));
    *gap = fmax(*gap, joint.error);
  }
  if (build != double_pendulum) *gap = fabs(cn_norm(pose.position) - 1.1);
  cn_world_destroy(world);
  return pose;
}

static double pose_error(CnPose a, CnPose b) {
  CnQuat d = {a.rotation.w - b.rotation.w, a.rotation.x - b.rotation.x, a.rotation.y - b.rotation.y,
              a.rotation.z - b.rotation.z};
  return cn_norm(cn_sub(a.position, b.position)) + sqrt(cn_qnorm2(d));
}

static void order_with_constraints(void **state) {
  (void)state;
  static const Build builds[3] = {double_pendulum, slides, rolls};
  for (int k = 0; k < 3; k++) {
    double gap, before = 0;
    CnPose truth = world_run("hem5", .04, builds[k], &gap);
    for (int i = 0; i < 3; i++) {
      double error = pose_error(world_run("moreau-jean", .01 / (1 << i), builds[k], &gap), truth);
      if (i > 0) CHECK(log2(before / error) > 1.9);
      CHECK(gap < 1e-13);
      before = error;
    }
  }
}

// ---- a weight on a support that swings as .05 sin(5 t) ----

static double lift(double t) { return .05 * cni_sin(5 * t); }

static CnStatus lift_gap(void *context, double t, const double *q, double *g) {
  (void)context;
  g[0] = q[0] - lift(t);
  return CN_OK;
}

static CnStatus lift_row(void *context, double t, const double *q, const int32_t *rows,
                         int32_t count, double *jacobian, double *rate) {
  (void)context, (void)q, (void)rows, (void)count;
  jacobian[0] = 1;
  rate[0] = -.25 * cni_cos(5 * t);
  return CN_OK;
}

typedef struct Loads {
  double impulse[64];
  int count;
} Loads;

static void note(void *context, CnIntegrator *integrator, const CnPoint *point) {
  Loads *loads = context;
  (void)integrator;
  loads->impulse[loads->count++] = point->multipliers[0];
}

static double support_error(int steps) {
  Mechanism m;
  Loads loads = {.count = 0};
  CnIntegratorDef def = cn_integrator_def_default("moreau-jean");
  CnSolver *solver = solver_of("lemke");
  def.observer = (CnObserver){&loads, note, NULL};
  mechanism_ball(&m, 0, 0);
  m.equations.gaps = lift_gap;
  m.equations.jacobian = lift_row;
  m.v[0] = .25;
  double h = 1.0 / steps, worst = 0;
  CHECK_OK(mechanism_run(&m, &def, solver, 1, h, NULL));
  CHECK(loads.count == steps);
  for (int i = 0; i < steps; i++) {
    double t = (i + .5) * h, force = 9.81 - 25 * lift(t);
    worst = fmax(worst, fabs(loads.impulse[i] / h - force));
  }
  CHECK_NEAR(m.q[0], lift(1), 1e-14);
  cn_solver_destroy(solver);
  return worst;
}

// The force is that of the middle of the step to order 2; nothing comes every other step.
static void moving_support(void **state) {
  (void)state;
  double coarse = support_error(32), fine = support_error(64);
  CHECK(fine < 2e-3);
  CHECK(log2(coarse / fine) > 1.9);
}

// The cradle's simultaneous law with every solver that takes such problems.
// A hundred tons on a ball of four grams: what the solve leaves of their speeds is no flight, and
// the force on the floor is their weight in every step.
static void heavy_on_light(void **state) {
  (void)state;
  CnWorldDef def = world_def_exact(0.01);
  def.integrator = "moreau-jean";
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  def.solver.tolerance = 1e-10;
  CnWorld *world = world_make(&def);
  CnMaterialId material = world_material(world, 0.5, 0);
  world_floor(world, material);
  world_ball(world, 0.1, 0.004, cn_vec3(0, 0, 0.1), CN_VEC3_ZERO, material);
  world_box(world, cn_vec3(0.5, 0.5, 0.5), 1e5, world_at(0, 0, 0.7), CN_VEC3_ZERO, material);
  for (int i = 0; i < 10; i++) {
    double force = 0;
    CnStepReport report = world_step(world);
    for (int32_t k = 0; k < report.contact_count; k++) {
      CnContact contact;
      CHECK_OK(cn_world_contact(world, k, &contact));
      if (contact.point.z < 0.05) force += contact.force.z;
    }
    CHECK_NEAR(force, 100000.004 * 9.81, 1e-6 * 9.81e5);
  }
  cn_world_destroy(world);
}

static void any_solver(void **state) {
  (void)state;
  for (int32_t i = 0; cn_solver_name(i); i++) {
    Mechanism m;
    CnIntegratorDef def = cn_integrator_def_default("moreau-jean");
    CnSolver *solver = solver_of(cn_solver_name(i));
    mechanism_cradle(&m, 1);
    CHECK_OK(mechanism_run(&m, &def, solver, 1e-3, 1e-3, NULL));
    CHECK_NEAR(m.v[0], -1.0 / 3, 1e-9);
    CHECK_NEAR(m.v[2], 2.0 / 3, 1e-9);
    cn_solver_destroy(solver);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(woodpecker),
                                     cmocka_unit_test(order_across_impacts),
                                     cmocka_unit_test(order_on_smooth_arcs),
                                     cmocka_unit_test(projected),
                                     cmocka_unit_test(order_with_constraints),
                                     cmocka_unit_test(moving_support),
                                     cmocka_unit_test(heavy_on_light),
                                     cmocka_unit_test(any_solver)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
