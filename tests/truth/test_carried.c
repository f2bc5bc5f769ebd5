// SPDX-License-Identifier: Apache-2.0
// moreau-jean: contacts and bearings that carry in every step, and where: bodies that pivot and rock on points
// that bend away from the floor, a weight that swings on a rope, friction in proportion to the reaction
// of a joint. The force is that of the middle of the step, no step is without it, and energy stays.
#include "check.h"
#include "worlds.h"

#include <math.h>

#include "core/math.h"
#include "core/vec.h"

static const double G = 9.81;

static CnWorld *world_by(const char *integrator, double h, CnVec3 gravity) {
  CnWorldDef def = world_def_exact(h);
  def.integrator = integrator;
  def.gravity = gravity;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  return world_make(&def);
}

static CnWorld *stepping(double h) { return world_by("moreau-jean", h, cn_vec3(0, 0, -G)); }

// ---- a box that falls over an edge it does not leave ----

// Largest error of the force upwards, of the weight, until the box has turned by .6 rad; a box of
// half width a and half height c about its edge: J w' = m g r sin(p), J w^2 / 2 = m g r (cos p0 - cos p).
static double topple_error(double h) {
  CnWorld *world = stepping(h);
  CnMaterialId material = world_material(world, 3, 0);
  CnBodyId floor = world_floor(world, material);
  double a = .35, c = 1, r = sqrt(a * a + c * c), p0 = .2, worst = 0;
  double lean = p0 + cni_atan2(a, c), j = (a * a + c * c) * 4 / 3;
  CnPose pose = {cn_vec3(r * cni_sin(p0), 0, r * cni_cos(p0)), world_turn(cn_vec3(0, 1, 0), lean)};
  CnBodyId box = world_box(world, cn_vec3(a, .5, c), 1, pose, CN_VEC3_ZERO, material);
  for (double p = p0, next; p < p0 + .6; p = next) {
    world_step(world);
    CnVec3 at = world_pose(world, box).position;
    next = cni_atan2(at.x, at.z);
    double mid = .5 * (p + next);
    double w2 = 2 * G * r * (cni_cos(p0) - cni_cos(mid)) / j, bend = G * r * cni_sin(mid) / j;
    double force = G - r * (bend * cni_sin(mid) + w2 * cni_cos(mid));
    worst = fmax(worst, fabs(world_force(world, floor, box).z - force) / G);
  }
  cn_world_destroy(world);
  return worst;
}

static void box_on_its_edge(void **state) {
  (void)state;
  double coarse = topple_error(.01), fine = topple_error(.005);
  CHECK(fine < 1e-4);
  CHECK(coarse / fine > 3.5);
}

// ---- an ellipsoid that rocks without slip ----

typedef struct Rocker {
  CnWorld *world;
  CnBodyId floor, body;
  double weight;
} Rocker;

static Rocker rocker(const char *integrator, double h) {
  Rocker r = {.world = world_by(integrator, h, cn_vec3(0, 0, -G))};
  double lean = .4, s = cni_sin(lean), c = cni_cos(lean);
  CnMaterialId material = world_material(r.world, 2, 0);
  r.floor = world_floor(r.world, material);
  CnBodyDef body = cn_body_def_default();
  body.pose =
      (CnPose){cn_vec3(0, 0, sqrt(s * s + .16 * c * c)), world_turn(cn_vec3(0, 1, 0), lean)};
  CHECK_OK(cn_body_create(r.world, &body, &r.body));
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_ELLIPSOID);
  CnShapeId id;
  shape.half_size = cn_vec3(1, .7, .4);
  shape.material = material;
  CHECK_OK(cn_shape_create(r.world, r.body, &shape, &id));
  CnBodyInfo info;
  CHECK_OK(cn_body_info(r.world, r.body, &info));
  r.weight = info.mass * G;
  return r;
}

// Largest difference from the mean force that the momentum of hem5's motion asks for, of the weight.
static double rocking_error(double h) {
  Rocker a = rocker("moreau-jean", h), b = rocker("hem5", h);
  double before = world_energy(a.world), worst = 0;
  CnVec3 v = CN_VEC3_ZERO;
  for (int i = 0; i < lround(1 / h); i++) {
    world_step(a.world);
    world_step(b.world);
    CnVec3 next = world_twist(b.world, b.body).velocity;
    CnVec3 mean = cn_madd(cn_vec3(0, 0, 1), 1 / (G * h), cn_sub(next, v));
    CnVec3 force = cn_scale(1 / a.weight, world_force(a.world, a.floor, a.body));
    worst = fmax(worst, cn_norm(cn_sub(force, mean)));
    CHECK(fabs(world_energy(a.world) - before) < 40 * h * h * a.weight);
    v = next;
  }
  cn_world_destroy(a.world);
  cn_world_destroy(b.world);
  return worst;
}

static void rocking_ellipsoid(void **state) {
  (void)state;
  double coarse = rocking_error(.005), fine = rocking_error(.0025);
  CHECK(fine < 2e-4);
  CHECK(coarse / fine > 3.5);
}

// ---- a weight on a rope, let go beside its anchor: tension 3 m g sin(angle) ----

static double rope_error(double h) {
  CnWorld *world = stepping(h);
  CnBodyId body = world_part(world, 1, 1e-6, cn_vec3(1, 0, 0), 0);
  CnJointDef def = cn_joint_def_default(CN_JOINT_ROPE);
  CnJointId rope;
  def.body_b = body;
  CHECK_OK(cn_joint_create(world, &def, &rope));
  double worst = 0, z = 0;
  for (int i = 0; i < lround(.9 / h); i++) {
    world_step(world);
    double next = world_pose(world, body).position.z;
    double tension = cn_norm(world_joint(world, rope).force);
    worst = fmax(worst, fabs(tension + 1.5 * G * (z + next)) / (3 * G));
    z = next;
  }
  cn_world_destroy(world);
  return worst;
}

static void swing_on_a_rope(void **state) {
  (void)state;
  double coarse = rope_error(.01), fine = rope_error(.005);
  CHECK(fine < 1e-4);
  CHECK(coarse / fine > 3.5);
}

// The lower of two weights, on a rope below one on a rod; the mean tension is what the momentum of hem5's
// motion asks for.
static double double_rope_error(double h) {
  CnWorld *worlds[2];
  CnBodyId lower[2];
  CnJointId rope[2];
  for (int k = 0; k < 2; k++) {
    CnWorld *world = worlds[k] = world_by(k ? "hem5" : "moreau-jean", h, cn_vec3(0, 0, -G));
    CnBodyId upper = world_part(world, 1, 1e-6, cn_vec3(1, 0, 0), 0);
    lower[k] = world_part(world, 1, 1e-6, cn_vec3(2, 0, 0), 0);
    CnJointDef def = cn_joint_def_default(CN_JOINT_DISTANCE);
    def.body_b = upper;
    CHECK_OK(cn_joint_create(world, &def, &rope[k]));
    def = cn_joint_def_default(CN_JOINT_ROPE);
    def.body_a = upper;
    def.body_b = lower[k];
    CHECK_OK(cn_joint_create(world, &def, &rope[k]));
  }
  CnVec3 v = CN_VEC3_ZERO;
  double worst = 0;
  for (int i = 0; i < lround(.4 / h); i++) {
    for (int k = 0; k < 2; k++) world_step(worlds[k]);
    CnVec3 next = world_twist(worlds[1], lower[1]).velocity;
    double mean = cn_norm(cn_madd(cn_vec3(0, 0, G), 1 / h, cn_sub(next, v)));
    worst = fmax(worst, fabs(cn_norm(world_joint(worlds[0], rope[0]).force) - mean) / G);
    v = next;
  }
  for (int k = 0; k < 2; k++) cn_world_destroy(worlds[k]);
  return worst;
}

static void rope_below_a_rod(void **state) {
  (void)state;
  double coarse = double_rope_error(.01), fine = double_rope_error(.005);
  CHECK(fine < 6e-5);
  CHECK(coarse / fine > 3.5);
}

// ---- bearings: friction is mu R, also where the reaction R turns nothing ----

// Ten steps of .01 s with a force along x.
static void push(CnWorld *world, CnBodyId body, double force) {
  for (int i = 0; i < 10; i++) {
    CHECK_OK(
        cn_body_apply_force(world, body, cn_vec3(force, 0, 0), world_pose(world, body).position));
    world_step(world);
  }
}

static void bearing(void **state) {
  (void)state;
  CnWorld *world = stepping(.01);
  CnJointAxis act = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  act.friction_coefficient = .3;
  act.friction_radius = .2;
  CnBodyId wheel = world_mass(world, 2, cn_vec3(2, 2, 2), world_at(0, 0, 0),
                              (CnTwist){CN_VEC3_ZERO, cn_vec3(0, 10, 0)});
  CnJointId shaft = world_join(world, CN_JOINT_REVOLUTE, (CnBodyId){0, 0}, wheel, CN_VEC3_ZERO,
                               cn_vec3(0, 1, 0), &act);
  CnBodyId slider = world_mass(world, 2, cn_vec3(2, 2, 2), world_at(0, 5, 0),
                               (CnTwist){cn_vec3(4, 0, 0), CN_VEC3_ZERO});
  CnJointId rail = world_join(world, CN_JOINT_PRISMATIC, (CnBodyId){0, 0}, slider, cn_vec3(0, 5, 0),
                              cn_vec3(1, 0, 0), &act);
  for (int i = 0; i < 50; i++) world_step(world);
  CHECK_NEAR(world_joint(world, shaft).rate[0], 10 - .06 * G * .5, 1e-9);
  CHECK_NEAR(world_joint(world, rail).rate[0], 4 - .3 * G * .5, 1e-9);
  CHECK_NEAR(world_joint(world, rail).friction[0], -.6 * G, 1e-9);
  for (int i = 0; i < 100; i++) world_step(world);
  CHECK_NEAR(world_joint(world, rail).rate[0], 0, 1e-12);
  CHECK_NEAR(world_joint(world, rail).coordinate[0], 16 / (.6 * G), 1e-3);
  // pushed below and above .3 of its weight
  push(world, slider, .59 * G);
  CHECK_NEAR(world_joint(world, rail).rate[0], 0, 1e-12);
  CHECK_NEAR(world_joint(world, rail).friction[0], -.59 * G, 1e-9);
  push(world, slider, .8 * G);
  CHECK_NEAR(world_joint(world, rail).rate[0], .1 * G * .1, 1e-9);
  cn_world_destroy(world);
}

// ---- forces are told where they act: at rest on a slope they have no moment about the centre ----

static CnShapeDef standing(int kind) {
  CnShapeDef shape = cn_shape_def_default(kind == 0   ? CN_SHAPE_CYLINDER
                                          : kind == 1 ? CN_SHAPE_CONE
                                                      : CN_SHAPE_BOX);
  shape.radius = .8;
  shape.top_radius = .2;
  shape.half_length = .3;
  shape.half_size = cn_vec3(.7, .7, .3);
  return shape;
}

// A body on the floor, or a box on another one, turned so that they meet in an octagon.
static CnBodyId stand(CnWorld *world, int kind, double above, CnVec3 velocity) {
  CnMaterialId material = world_material(world, .8, 0);
  CnBodyId body;
  if (kind < 2)
    world_floor(world, material);
  else
    world_fixed_box(world, cn_vec3(.7, .7, .5), world_at(0, 0, -.5), material);
  CnBodyDef def = cn_body_def_default();
  CnShapeDef shape = standing(kind);
  CnShapeId id;
  def.pose = (CnPose){cn_vec3(0, 0, .3 + above), world_turn(cn_vec3(0, 0, 1), .7)};
  def.twist.velocity = velocity;
  shape.material = material;
  CHECK_OK(cn_body_create(world, &def, &body));
  CHECK_OK(cn_shape_create(world, body, &shape, &id));
  return body;
}

// Force and moment about a point of all contacts of a body; each of them pushes, within its cone.
static CnVec3 told(const CnWorld *world, CnBodyId body, CnVec3 about, CnVec3 *moment) {
  CnVec3 force = *moment = CN_VEC3_ZERO;
  for (int32_t i = 0; i < world_info(world).contact_count; i++) {
    CnContact c;
    CHECK_OK(cn_world_contact(world, i, &c));
    CnVec3 f = cn_scale(c.body_b.slot == body.slot ? 1 : -1, c.force);
    double push = cn_dot(c.force, c.normal);
    CHECK(cn_norm(cn_madd(c.force, -push, c.normal)) <= (.8 + 1e-6) * push + 1e-9);
    force = cn_add(force, f);
    *moment = cn_add(*moment, cn_cross(cn_sub(c.point, about), f));
  }
  return force;
}

// Of the weight, at a lever of 1 m.
static double moment_at_rest(const char *integrator, int kind) {
  CnWorld *world = world_by(integrator, .01, cn_vec3(1.2, 1.6, -G));
  CnBodyId body = stand(world, kind, 0, CN_VEC3_ZERO);
  CnBodyInfo info;
  CnVec3 moment;
  CHECK_OK(cn_body_info(world, body, &info));
  for (int i = 0; i < 5; i++) world_step(world);
  told(world, body, cn_vec3(0, 0, .3 + info.com.position.z), &moment);
  cn_world_destroy(world);
  return cn_norm(moment) / (info.mass * G);
}

// It falls flat while it slides: the forces told are the change of momentum in the step of the impact too,
// friction included, and as it does not turn they have no moment but for the way made within the step.
static void landing(void **state) {
  (void)state;
  static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};
  for (int k = 0; k < 9; k++) {
    double h = 1e-4;
    CnWorld *world = world_by(names[k % 3], h, cn_vec3(0, 0, -G));
    CnBodyId body = stand(world, k / 3, .001, cn_vec3(.4, .2, 0));
    CnBodyInfo info;
    CHECK_OK(cn_body_info(world, body, &info));
    for (int i = 0; i < 200; i++) {
      CnVec3 v = world_twist(world, body).velocity, x = world_pose(world, body).position, moment;
      x.z += info.com.position.z;
      world_step(world);
      CnVec3 change = cn_sub(world_twist(world, body).velocity, v);
      CnVec3 force = cn_scale(1 / info.mass, told(world, body, x, &moment));
      change = cn_madd(cn_vec3(0, 0, G), 1 / h, change);
      CHECK(cn_norm(cn_sub(force, change)) < 1e-6 * (G + cn_norm(force)));
      CHECK(cn_norm(moment) < 1e-3 * info.mass * (1e-3 * G + cn_norm(force)));
    }
    cn_world_destroy(world);
  }
}

static void moments_of_rest(void **state) {
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    CHECK(moment_at_rest("hem5", kind) < 1e-9);
    CHECK(moment_at_rest("rkf45", kind) < 1e-9);
    CHECK(moment_at_rest("moreau-jean", kind) < 1e-6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_on_its_edge), cmocka_unit_test(rocking_ellipsoid),
      cmocka_unit_test(swing_on_a_rope), cmocka_unit_test(rope_below_a_rod),
      cmocka_unit_test(bearing),         cmocka_unit_test(moments_of_rest),
      cmocka_unit_test(landing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
