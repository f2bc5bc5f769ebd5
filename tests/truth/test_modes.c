// SPDX-License-Identifier: Apache-2.0
// Eigenfrequencies by closed forms: pendulums, chains of springs, dampers, contacts, spinning tops.
#include "check.h"

#include <cairn/mechanism.h>

#include "core/math.h"
#include "toys.h"
#include "worlds.h"

static const double G = 9.81;
static const CnVec3 X = {1, 0, 0}, Y = {0, 1, 0}, Z = {0, 0, 1};
static const CnBodyId GROUND = {0, 0};
#define MOST 32

static CnBodyId part(CnWorld *world, double mass, CnVec3 j, CnVec3 centre) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  def.mass = mass;
  def.inertia = (CnSym3){.xx = j.x, .yy = j.y, .zz = j.z};
  def.pose.position = centre;
  CHECK_OK(cn_body_create(world, &def, &body));
  return body;
}
static CnVec3 equal(double j) { return cn_vec3(j, j, j); }

static int32_t modes_of(CnWorld *w, CnMachineContacts contacts, CnMode *modes) {
  CnModesDef def = cn_modes_def_default();
  int32_t count;
  def.contacts = contacts;
  CHECK_OK(cn_world_modes(w, &def, modes, NULL, MOST, &count));
  for (int32_t i = 0; i < count; i++)
    print_message("%.12g Hz (%.12g) damping %.6g\n", modes[i].frequency, modes[i].natural,
                  modes[i].damping);
  return count;
}

#define CHECK_OMEGA(mode, omega) CHECK_REL((mode).frequency * 2 * CNI_PI, omega, 1e-9)

// A rod on a hinge: 3 g/(2 L). Two of them: 7 - 2 sqrt... by the quadratic of the pencil.
static void pendulums(void **state) {
  (void)state;
  CnMode m[MOST];
  CnModeShape shapes[2];
  int32_t count;
  CnWorld *w = toy_world(1e-3);
  CnBodyId a = part(w, 1, equal(1.0 / 12), cn_vec3(0, 0, -0.5));
  world_join(w, CN_JOINT_REVOLUTE, GROUND, a, CN_VEC3_ZERO, Y, NULL);
  CHECK(modes_of(w, CN_CONTACTS_FRICTIONLESS, m) == 1);
  CHECK_OMEGA(m[0], sqrt(1.5 * G));
  CHECK_NEAR(m[0].damping, 0, 0);
  CHECK_OK(cn_world_modes(w, NULL, m, shapes, 1, &count));
  CHECK_NEAR(fabs(shapes[0].real.spin.y), 1, 1e-12);
  CHECK_NEAR(fabs(shapes[0].real.velocity.x), 0.5, 1e-12);
  CnBodyId b = part(w, 1, equal(1.0 / 12), cn_vec3(0, 0, -1.5));
  world_join(w, CN_JOINT_REVOLUTE, a, b, cn_vec3(0, 0, -1), Y, NULL);
  CHECK(modes_of(w, CN_CONTACTS_FRICTIONLESS, m) == 2);
  // |[1.5 g - 4/3 x, -x/2; -x/2, .5 g - x/3]| = 0
  double p = 4.0 / 9 - 0.25, q = -(1.5 / 3 + 2.0 / 3) * G, r = 0.75 * G * G;
  double root = sqrt(q * q - 4 * p * r);
  CHECK_OMEGA(m[0], sqrt((-q - root) / (2 * p)));
  CHECK_OMEGA(m[1], sqrt((-q + root) / (2 * p)));
  // not at rest there: refused
  CnPose pose = toy_pose(w, b);
  CnTwist push = {cn_vec3(0.1, 0, 0), CN_VEC3_ZERO};
  CHECK_OK(cn_body_set_twist(w, b, &push));
  CHECK_STATUS(cn_world_modes(w, NULL, m, NULL, MOST, &count), CN_INVALID_ARGUMENT);
  toy_set_twist(w, b, CN_VEC3_ZERO, CN_VEC3_ZERO);
  (void)pose;
  cn_world_destroy(w);
  // upright it grows
  w = toy_world(1e-3);
  a = part(w, 1, equal(1.0 / 12), cn_vec3(0, 0, 0.5));
  world_join(w, CN_JOINT_REVOLUTE, GROUND, a, CN_VEC3_ZERO, Y, NULL);
  CHECK(modes_of(w, CN_CONTACTS_FRICTIONLESS, m) == 1);
  CHECK_REL(m[0].real, sqrt(1.5 * G), 1e-9);
  CHECK_NEAR(m[0].damping, -1, 1e-12);
  cn_world_destroy(w);
  // at 1 rad it is no equilibrium
  w = toy_world(1e-3);
  a = part(w, 1, equal(1.0 / 12), cn_vec3(0.5, 0, 0));
  world_join(w, CN_JOINT_REVOLUTE, GROUND, a, CN_VEC3_ZERO, Y, NULL);
  CHECK_STATUS(cn_world_modes(w, NULL, m, NULL, MOST, &count), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "not in equilibrium");
  cn_world_destroy(w);
}

// Five masses on a rail between walls: 2 sqrt(k/m) sin(i pi/12). Then a slider on a very stiff
// spring that carries a pendulum: both are right beside each other.
static void springs(void **state) {
  (void)state;
  CnMode m[MOST];
  CnWorld *w = toy_world(1e-3);
  CnBodyId bodies[5];
  double k = 500, mass = 2;
  for (int i = 0; i < 5; i++) {
    bodies[i] = part(w, mass, equal(1), cn_vec3(i + 1, 0, 0));
    world_join(w, CN_JOINT_PRISMATIC, GROUND, bodies[i], cn_vec3(i + 1, 0, 0), X, NULL);
  }
  for (int i = 0; i < 6; i++) {
    CnForceDef f = cn_force_def_default(CN_FORCE_SPRING);
    CnForceId force;
    f.body_a = i > 0 ? bodies[i - 1] : GROUND;
    f.body_b = i < 5 ? bodies[i] : GROUND;
    if (i == 5) f.frame_b.position = cn_vec3(6, 0, 0);
    f.stiffness = k;
    f.rest_length = 0.7; // all are stretched: on a rail that does not matter
    CHECK_OK(cn_force_create(w, &f, &force));
  }
  CHECK(modes_of(w, CN_CONTACTS_FRICTIONLESS, m) == 5);
  for (int i = 0; i < 5; i++)
    CHECK_OMEGA(m[i], 2 * sqrt(k / mass) * cni_sin((i + 1) * CNI_PI / 12));
  cn_world_destroy(w);

  w = toy_world(1e-3);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_PRISMATIC).axes[0];
  axis.stiffness = 1e10;
  CnBodyId slide = part(w, 1, equal(1), CN_VEC3_ZERO);
  CnBodyId rod = part(w, 1, equal(1.0 / 12), cn_vec3(0, 0, -0.5));
  world_join(w, CN_JOINT_PRISMATIC, GROUND, slide, CN_VEC3_ZERO, X, &axis);
  world_join(w, CN_JOINT_REVOLUTE, slide, rod, CN_VEC3_ZERO, Y, NULL);
  CHECK(modes_of(w, CN_CONTACTS_FRICTIONLESS, m) == 2);
  CHECK_REL(m[0].frequency * 2 * CNI_PI, sqrt(1.5 * G), 1e-7);
  CHECK_REL(m[1].frequency * 2 * CNI_PI, sqrt(1e10 * 4 / 5),
            1e-7); // the rod's centre of percussion
  cn_world_destroy(w);
}

// A rod of 1 m on two strings of .8 m, .6 m apart: it sways with g/l, turns with g a^2/(l k^2), and
// rolls about itself freely.
static void bifilar(void **state) {
  (void)state;
  CnMode m[MOST];
  CnWorld *w = toy_world(1e-3);
  CnBodyId rod = part(w, 1, cn_vec3(0.001, 1.0 / 12, 1.0 / 12), cn_vec3(0, 0, -0.8));
  for (int i = 0; i < 2; i++) {
    CnJointDef def = cn_joint_def_default(CN_JOINT_DISTANCE);
    CnJointId id;
    def.body_b = rod;
    def.frame_a.position = def.frame_b.position = cn_vec3(i ? 0.3 : -0.3, 0, 0);
    CHECK_OK(cn_joint_create(w, &def, &id));
  }
  CHECK(modes_of(w, CN_CONTACTS_FRICTIONLESS, m) == 4);
  CHECK_NEAR(m[0].frequency, 0, 0);
  CHECK_OMEGA(m[1], sqrt(G / 0.8));
  CHECK_OMEGA(m[2], sqrt(G / 0.8));
  CHECK_OMEGA(m[3], sqrt(G * 0.09 * 12 / 0.8));
  cn_world_destroy(w);
}

// J .1, k 10, c .2: -1 +- 9.94987437107 i; with c 4 it creeps; drag alone slows and never returns.
static void dampers(void **state) {
  (void)state;
  CnMode m[MOST];
  CnWorldDef settings = cn_world_def_default();
  settings.gravity = CN_VEC3_ZERO;
  CnWorld *w = toy_world_from(&settings);
  CnBodyId wheel = part(w, 1, equal(0.1), CN_VEC3_ZERO);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  axis.stiffness = 10;
  axis.damping = 0.2;
  CnJointId hinge = world_join(w, CN_JOINT_REVOLUTE, GROUND, wheel, CN_VEC3_ZERO, Z, &axis);
  CHECK(modes_of(w, CN_CONTACTS_FRICTIONLESS, m) == 1);
  CHECK_REL(m[0].imaginary, 9.94987437107, 1e-11);
  CHECK_REL(m[0].real, -1, 1e-10);
  CHECK_REL(m[0].natural * 2 * CNI_PI, 10, 1e-10);
  CHECK_REL(m[0].damping, 0.1, 1e-10);
  CnJointDef def;
  CHECK_OK(cn_joint_def(w, hinge, &def));
  def.axes[0].damping = 4;
  CHECK_OK(cn_joint_set(w, hinge, &def));
  CHECK(modes_of(w, CN_CONTACTS_FRICTIONLESS, m) == 2);
  CHECK_REL(m[0].real, -20 + sqrt(300), 1e-10);
  CHECK_REL(m[1].real, -20 - sqrt(300), 1e-10);
  CHECK_NEAR(m[0].damping, 1, 1e-12);
  def.axes[0].stiffness = def.axes[0].damping = 0;
  def.axes[0].drive = CN_DRIVE_POSITION; // a servo is a spring and a damper
  def.axes[0].motor_effort = 100;
  def.axes[0].motor_stiffness = 40;
  def.axes[0].motor_damping = 0.4;
  CHECK_OK(cn_joint_set(w, hinge, &def));
  CHECK(modes_of(w, CN_CONTACTS_FRICTIONLESS, m) == 1);
  CHECK_REL(m[0].imaginary, sqrt(400 - 4), 1e-10);
  cn_world_destroy(w);
}

// Two wheels on a gear of 5, each with a torsion spring and the first with an armature:
// (k1 + k2/25)/(J1 + A + J2/25).
static void gears(void **state) {
  (void)state;
  CnMode m[MOST];
  CnWorld *w = toy_world(1e-3);
  CnJointAxis axis = cn_joint_def_default(CN_JOINT_REVOLUTE).axes[0];
  CnCouplingDef gear = cn_coupling_def_default();
  CnCouplingId coupling;
  gear.term_count = 2;
  for (int i = 0; i < 2; i++) {
    CnVec3 at = cn_vec3(i, 0, 0);
    axis.stiffness = i ? 300 : 7;
    axis.armature = i ? 0 : 0.003;
    CnBodyId wheel = part(w, 1, equal(i ? 0.5 : 0.02), at);
    gear.terms[i] = (CnCouplingTerm){world_join(w, CN_JOINT_REVOLUTE, GROUND, wheel, at, Y, &axis),
                                     0, i ? 5 : 1};
  }
  CHECK_OK(cn_coupling_create(w, &gear, &coupling));
  CHECK(modes_of(w, CN_CONTACTS_FRICTIONLESS, m) == 1);
  CHECK_OMEGA(m[0], sqrt((7 + 300.0 / 25) / (0.02 + 0.003 + 0.5 / 25)));
  cn_world_destroy(w);
}

// An ellipsoid (.1, .1, .06) on its flat pole, rolling without slip: period .488303168126 both ways;
// it may spin about the vertical.
static void ellipsoid(void **state) {
  (void)state;
  CnMode m[MOST];
  CnWorld *w = toy_world(1e-3);
  toy_floor(w);
  CnBodyDef def = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_ELLIPSOID);
  CnBodyId body;
  CnShapeId id;
  def.pose.position.z = 0.06;
  shape.half_size = cn_vec3(0.1, 0.1, 0.06);
  CHECK_OK(cn_body_create(w, &def, &body));
  CHECK_OK(cn_shape_create(w, body, &shape, &id));
  CHECK(modes_of(w, CN_CONTACTS_STICKING, m) == 3);
  CHECK_NEAR(m[0].frequency, 0, 0);
  CHECK_REL(1 / m[1].frequency, 0.488303168126, 1e-6);
  CHECK_REL(1 / m[2].frequency, 0.488303168126, 1e-6);
  // without friction its centre stays above the place: k = m g (a^2/c - c)
  CHECK(modes_of(w, CN_CONTACTS_FRICTIONLESS, m) == 5);
  double j = 0.2 * (0.01 + 0.0036);
  CHECK_REL(m[4].frequency * 2 * CNI_PI, sqrt(G * (0.01 / 0.06 - 0.06) / j), 1e-6);
  cn_world_destroy(w);
}

// A symmetric body that spins freely nutates with Ja/Jt w. A top on its point, spinning upright:
// Jt x^2 - Ja w x + m g l = 0; too slow it falls. A rotor that is not symmetric is refused.
static void tops(void **state) {
  (void)state;
  CnMode m[MOST];
  int32_t count;
  CnWorld *w = toy_world(1e-3);
  CnBodyId body = part(w, 1, cn_vec3(0.03, 0.03, 0.05), CN_VEC3_ZERO);
  CnWorldDef settings = cn_world_def_default();
  settings.gravity = CN_VEC3_ZERO;
  CnWorld *space = toy_world_from(&settings);
  CnBodyId rotor = part(space, 1, cn_vec3(0.03, 0.03, 0.05), CN_VEC3_ZERO);
  toy_set_twist(space, rotor, CN_VEC3_ZERO, cn_vec3(0, 0, 12));
  count = modes_of(space, CN_CONTACTS_FRICTIONLESS, m);
  CHECK_OMEGA(m[count - 1], 0.05 / 0.03 * 12);
  toy_set_twist(space, rotor, CN_VEC3_ZERO, cn_vec3(12, 0, 0));
  CHECK_STATUS(cn_world_modes(space, NULL, m, NULL, MOST, &count), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "axis of symmetry");
  cn_world_destroy(space);

  double l = 0.2, jt = 0.03 + l * l;
  world_join(w, CN_JOINT_SPHERICAL, GROUND, body, cn_vec3(0, 0, -l), Z, NULL);
  for (int fast = 0; fast < 2; fast++) {
    double spin = fast ? 60 : 5, p = 0.05 * spin;
    toy_set_twist(w, body, CN_VEC3_ZERO, cn_vec3(0, 0, spin));
    count = modes_of(w, CN_CONTACTS_FRICTIONLESS, m);
    double root = p * p - 4 * jt * G * l;
    if (fast) {
      CHECK_OMEGA(m[count - 1], (p + sqrt(root)) / (2 * jt));
      CHECK_OMEGA(m[count - 2], (p - sqrt(root)) / (2 * jt));
      CHECK_NEAR(m[count - 1].damping, 0, 1e-9);
    } else {
      CHECK_REL(fabs(m[count - 1].real), sqrt(-root) / (2 * jt), 1e-8);
      CHECK_REL(m[count - 1].imaginary, p / (2 * jt), 1e-8);
    }
  }
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pendulums), cmocka_unit_test(springs),
                                     cmocka_unit_test(bifilar),   cmocka_unit_test(dampers),
                                     cmocka_unit_test(gears),     cmocka_unit_test(ellipsoid),
                                     cmocka_unit_test(tops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
