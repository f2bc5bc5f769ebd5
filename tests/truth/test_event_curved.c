// SPDX-License-Identifier: Apache-2.0
// Curved shapes on each other by hem5, rkf45 and moreau-jean: ellipsoids that meet, roll and slide.
//
// Where and when ellipsoids touch is known from elsewhere (Perram and Wertheim 1985): with
// A = R diag(a^2, b^2, c^2) R^T, B likewise, and r from centre to centre, they touch when the largest
// of l (1 - l) r.((1 - l) A + l B)^-1 r over 0 < l < 1 is one.
#include "check.h"
#include "core/math.h"
#include "toys.h"

#include <math.h>

static const double G = 9.81;
static const char *const names[3] = {"hem5", "rkf45", "moreau-jean"};

typedef struct Part {
  CnBodyKind kind;
  CnShapeKind shape;
  CnVec3 size; // half axes; radius, half length
  double friction, bounce;
  CnPose pose;
} Part;

static CnShapeDef shape_of(const Part *p) {
  CnShapeDef shape = cn_shape_def_default(p->shape);
  shape.half_size = p->size;
  shape.radius = p->size.x;
  shape.half_length = p->size.y;
  return shape;
}

static CnBodyId add(CnWorld *world, Part p) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = shape_of(&p);
  CnBodyId id;
  CnShapeId shape_id;
  body.kind = p.kind;
  body.pose = p.pose;
  CHECK_OK(cn_body_create(world, &body, &id));
  shape.material = toy_material(world, p.friction, p.bounce);
  CHECK_OK(cn_shape_create(world, id, &shape, &shape_id));
  return id;
}

static CnWorld *world_by(int k, double h, double tolerance, double gravity) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = names[k];
  def.time_step = h;
  def.integration.tolerance = tolerance;
  def.gravity = cn_vec3(0, 0, -gravity);
  def.solver = cn_solver_def_default("auto");
  def.solver.tolerance = 1e-14;
  return toy_world_from(&def);
}

static CnPose at(CnVec3 position, CnVec3 turn) { return (CnPose){position, cni_quat_exp(turn)}; }

// ---- ellipsoids by another way ----

static double mixed(CnSym3 a, CnSym3 b, CnVec3 r, double l) {
  const double *x = &a.xx, *y = &b.xx;
  CnSym3 m;
  double *z = &m.xx;
  for (int i = 0; i < 6; i++) z[i] = (1 - l) * x[i] + l * y[i];
  return l * (1 - l) * cn_dot(r, cn_smul(cn_sinverse(m), r));
}

static CnSym3 squares(CnPose pose, CnVec3 h) {
  return cn_srotate(cn_qmat(pose.rotation), cn_vec3(h.x * h.x, h.y * h.y, h.z * h.z));
}

// One where they touch, larger where they are apart: the largest by thirds of the interval.
static double touching(CnPose a, CnVec3 size_a, CnPose b, CnVec3 size_b) {
  CnSym3 of_a = squares(a, size_a), of_b = squares(b, size_b);
  CnVec3 r = cn_sub(b.position, a.position);
  double low = 0, high = 1;
  for (int i = 0; i < 60; i++) {
    double third = (high - low) / 3;
    if (mixed(of_a, of_b, r, low + third) < mixed(of_a, of_b, r, high - third))
      low += third;
    else
      high -= third;
  }
  return mixed(of_a, of_b, r, (low + high) / 2);
}

static CnPose flown(CnPose pose, CnTwist twist, double t) {
  CnQuat turn = cni_quat_exp(cn_scale(t, twist.spin));
  return (CnPose){cn_madd(pose.position, t, twist.velocity), cn_qmul(turn, pose.rotation)};
}

static const CnVec3 size_a = {.12, .08, .05}, size_b = {.07, .1, .14};

// Two ellipsoids fly at each other, one of them turning about an axis of its own: they meet at the time
// that bisection finds, and nothing is lost.
static void meeting(void **state) {
  (void)state;
  CniRng rng = {7};
  for (int n = 0; n < 6; n++) {
    CnVec3 turn = toy_any(&rng, 2), other = toy_any(&rng, 2), aside = toy_any(&rng, .04);
    CnPose one = at(CN_VEC3_ZERO, turn), two = at(cn_vec3(.5, aside.y, aside.z), other);
    CnTwist still = {CN_VEC3_ZERO, cn_scale(4, cn_qmat(one.rotation).x)};
    CnTwist fast = {cn_vec3(-2, .1, 0), CN_VEC3_ZERO};
    double low = 0, high = .22;
    for (int i = 0; i < 60; i++) {
      double t = (low + high) / 2;
      if (touching(flown(one, still, t), size_a, flown(two, fast, t), size_b) > 1)
        low = t;
      else
        high = t;
    }
    for (int k = 0; k < 2; k++) {
      CnWorld *world = world_by(k, .02, 1e-10, 0);
      CnBodyId a = add(world, (Part){CN_BODY_DYNAMIC, CN_SHAPE_ELLIPSOID, size_a, 0, 1, one});
      CnBodyId b = add(world, (Part){CN_BODY_DYNAMIC, CN_SHAPE_ELLIPSOID, size_b, 0, 1, two});
      toy_set_twist(world, a, still.velocity, still.spin);
      toy_set_twist(world, b, fast.velocity, fast.spin);
      CnWorldSums before, after;
      cn_world_sums(world, &before);
      int met = 0;
      for (int i = 0; i < 15; i++) {
        const CnLocatedEvent *events;
        int32_t count;
        toy_steps(world, 1);
        cn_world_located_events(world, &events, &count);
        for (int32_t e = 0; e < count && !met; e++) {
          CHECK(events[e].kind == CN_EVENT_IMPACT);
          CHECK_NEAR(events[e].time, low, 1e-11);
          met = 1;
        }
      }
      CHECK(met);
      cn_world_sums(world, &after);
      CHECK_REL(after.kinetic_energy, before.kinetic_energy, 1e-10);
      CHECK(cn_norm(cn_sub(after.momentum, before.momentum)) < 1e-10 * cn_norm(before.momentum));
      CHECK(cn_norm(cn_sub(after.angular_momentum, before.angular_momentum)) <
            1e-10 * cn_norm(before.momentum));
      cn_world_destroy(world);
    }
  }
}

// ---- rolling and sliding ----

static const CnVec3 ground_size = {.5, .4, .3}, rolling_size = {.1, .08, .06};
static const CnPose top = {{0, 0, .36}, {1, 0, 0, 0}};

static CnBodyId on_top(CnWorld *world, double friction) {
  add(world, (Part){CN_BODY_FIXED, CN_SHAPE_ELLIPSOID, ground_size, friction, 0, CN_POSE_ONE});
  CnBodyId id =
      add(world, (Part){CN_BODY_DYNAMIC, CN_SHAPE_ELLIPSOID, rolling_size, friction, 0, top});
  CnVec3 spin = {.8, 1.5, .5};
  toy_set_twist(world, id, cn_cross(spin, cn_vec3(0, 0, rolling_size.z)), spin);
  return id;
}

// An ellipsoid rolls without slip down a fixed ellipsoid, in space: it keeps its energy and the touch.
static void rolling(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    CnWorld *world = world_by(k, k < 2 ? .02 : 2e-4, 1e-12, G);
    CnBodyId id = on_top(world, 3);
    CnWorldSums sums;
    cn_world_sums(world, &sums);
    double before = sums.kinetic_energy + sums.potential_energy, far = 0;
    for (int i = 0; i < 10; i++) {
      toy_steps(world, k < 2 ? 1 : 100);
      cn_world_sums(world, &sums);
      CHECK_NEAR(sums.kinetic_energy + sums.potential_energy, before, k < 2 ? 1e-10 : 1e-5);
      CnPose pose = toy_pose(world, id);
      CHECK_NEAR(touching(CN_POSE_ONE, ground_size, pose, rolling_size), 1, k < 2 ? 1e-9 : 1e-6);
      far = cn_norm(cn_sub(pose.position, top.position));
    }
    CHECK(far > .01);
    cn_world_destroy(world);
  }
}

// Order of convergence of one that slides.
static CnPose slide(int k, double h, double tolerance) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = names[k];
  def.time_step = .1;
  def.integration.tolerance = tolerance;
  def.integration.step = h;
  CnWorld *world = toy_world_from(&def);
  CnBodyId id = on_top(world, .1);
  toy_set_twist(world, id, cn_vec3(.3, .2, 0), cn_vec3(-1, 2, 4));
  toy_steps(world, 1);
  CnPose pose = toy_pose(world, id);
  cn_world_destroy(world);
  return pose;
}

static void order(void **state) {
  (void)state;
  CnPose truth = slide(0, 0, 1e-13);
  for (int k = 0; k < 2; k++) {
    double error[2];
    for (int i = 0; i < 2; i++) {
      CnPose pose = slide(k, .0125 / (1 << i), 0);
      error[i] =
          cn_norm(cn_sub(pose.position, truth.position)) + fabs(pose.rotation.y - truth.rotation.y);
    }
    CHECK(log2(error[0] / error[1]) > 4.8);
  }
}

// On the face of a box an ellipsoid rocks as on a half-space; on the box it rolls over the edge of it
// without a blow: friction holds, and the energy stays.
static void over_an_edge(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    CnWorld *world = world_by(k, .01, 1e-11, G);
    add(world, (Part){CN_BODY_FIXED,
                      CN_SHAPE_BOX,
                      {.5, .5, .5},
                      3,
                      0,
                      at(cn_vec3(-.5, 0, -.5), CN_VEC3_ZERO)});
    CnVec3 spin = {0, 5, 0};
    CnBodyId id = add(world, (Part){CN_BODY_DYNAMIC,
                                    CN_SHAPE_ELLIPSOID,
                                    {.06, .1, .06},
                                    3,
                                    0,
                                    at(cn_vec3(-.0283, 0, .06), CN_VEC3_ZERO)});
    toy_set_twist(world, id, cn_cross(spin, cn_vec3(0, 0, .06)), spin);
    CnWorldSums sums;
    cn_world_sums(world, &sums);
    double before = sums.kinetic_energy + sums.potential_energy;
    for (int i = 0; i < 14; i++) {
      toy_steps(world, 1);
      cn_world_sums(world, &sums);
      CHECK_NEAR(sums.kinetic_energy + sums.potential_energy, before, k == 0 ? 1e-10 : 2e-8);
      // it touches: a disc of .06 about its centre, from the side
      CnVec3 p = toy_pose(world, id).position;
      double x = p.x > 0 ? p.x : 0;
      CHECK_NEAR(sqrt(x * x + p.z * p.z), .06, 1e-9);
    }
    CHECK(toy_pose(world, id).position.x > .01);
    cn_world_destroy(world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(meeting), cmocka_unit_test(rolling),
                                     cmocka_unit_test(order), cmocka_unit_test(over_an_edge)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
