// SPDX-License-Identifier: Apache-2.0
// Bushings with full matrices: what a load does is the inverse of the stiffness, modes are those of the
// matrix. Springs whose rest length is a function of time.
#include "check.h"
#include "core/math.h"
#include "toys.h"

static const CnVec3 O = {0, 0, 0};

static CnWorld *world_of(const char *integrator, double h) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = h;
  def.integrator = integrator;
  def.integration.tolerance = 1e-11;
  def.gravity = O;
  def.solver = cn_solver_def_default("auto");
  def.solver.effort = CN_EFFORT_EXACT;
  return toy_world_from(&def);
}

static CnBodyId unit_mass(CnWorld *w, CnVec3 at) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  def.mass = 1;
  def.inertia = cn_sdiag(1, 1, 1);
  def.pose.position = at;
  CHECK_OK(cn_body_create(w, &def, &body));
  return body;
}

// A stiffness without a zero anywhere, and a damping that is not proportional to it.
static CnForceDef mount(CnBodyId body, double size) {
  CnForceDef def = cn_force_def_default(CN_FORCE_BUSHING);
  def.body_b = body;
  def.linear_stiffness = cn_scale(size, cn_vec3(5, 6, 7));
  def.linear_coupling = cn_scale(size, cn_vec3(1, -0.5, 0.7));
  def.angular_stiffness = cn_scale(size, cn_vec3(4, 5, 6));
  def.angular_coupling = cn_scale(size, cn_vec3(0.3, 0.8, -0.6));
  def.mixed_x = cn_scale(size, cn_vec3(0.2, -0.9, 0.4));
  def.mixed_y = cn_scale(size, cn_vec3(1, 0.1, 0.3));
  def.mixed_z = cn_scale(size, cn_vec3(-0.3, 0.5, 0.6));
  def.linear_damping = cn_scale(0.02 * size, cn_vec3(3, 2, 3));
  def.linear_damping_coupling = cn_scale(0.02 * size, cn_vec3(0.5, 0.4, -0.3));
  def.angular_damping = cn_scale(0.02 * size, cn_vec3(2, 3, 2));
  def.mixed_damping_x = cn_scale(0.02 * size, cn_vec3(0.1, 0.2, -0.3));
  return def;
}

static void loaded(void **state) {
  (void)state;
  static const char *const integrators[] = {"impulse", "hem5"};
  const double size = 1e4,
               k[6][6] = {{5, 1, -0.5, 0.2, -0.9, 0.4},   {1, 6, 0.7, 1, 0.1, 0.3},
                          {-0.5, 0.7, 7, -0.3, 0.5, 0.6}, {0.2, 1, -0.3, 4, 0.3, 0.8},
                          {-0.9, 0.1, 0.5, 0.3, 5, -0.6}, {0.4, 0.3, 0.6, 0.8, -0.6, 6}};
  for (int i = 0; i < 2; i++) {
    CnWorld *w = world_of(integrators[i], 5e-3);
    CnBodyId body = unit_mass(w, O);
    CnForceDef def = mount(body, size), load = cn_force_def_default(CN_FORCE_CONSTANT);
    CnForceId id;
    CHECK_OK(cn_force_create(w, &def, &id));
    load.body_b = body;
    load.force = cn_vec3(0.1, -0.2, 0.3);
    load.torque = cn_vec3(-0.2, 0.1, 0.15);
    CHECK_OK(cn_force_create(w, &load, &id));
    toy_steps(w, 400);
    // K x is the load
    CnPose pose = toy_pose(w, body);
    double x[6] = {pose.position.x,     pose.position.y,     pose.position.z,
                   2 * pose.rotation.x, 2 * pose.rotation.y, 2 * pose.rotation.z};
    const double wanted[6] = {0.1, -0.2, 0.3, -0.2, 0.1, 0.15};
    for (int r = 0; r < 6; r++) {
      double sum = 0;
      for (int c = 0; c < 6; c++) sum += size * k[r][c] * x[c];
      CHECK_NEAR(sum, wanted[r], 1e-5);
    }
    cn_world_destroy(w);
  }
}

// Two directions with a stiffness between them: along (1, 1) it is k + c.
static void modes(void **state) {
  (void)state;
  const double k = 100, c = 44, a = 0.1, h = 2e-3;
  for (int sign = -1; sign < 2; sign += 2) {
    CnWorld *w = world_of("hem5", h);
    CnBodyId body = unit_mass(w, cn_vec3(a, sign * a, 0));
    CnForceDef def = cn_force_def_default(CN_FORCE_BUSHING);
    CnForceId id;
    def.body_b = body;
    def.linear_stiffness = cn_vec3(k, k, 0);
    def.linear_coupling = cn_vec3(c, 0, 0);
    CHECK_OK(cn_force_create(w, &def, &id));
    toy_steps(w, 500);
    double x = a * cni_cos(sqrt(k + sign * c) * 500 * h);
    CHECK_NEAR(toy_pose(w, body).position.x, x, 1e-9);
    CHECK_NEAR(toy_pose(w, body).position.y, sign * x, 1e-9);
    CnForceState s;
    CHECK_OK(cn_force_state(w, id, &s));
    CHECK_NEAR(s.energy, (k + sign * c) * x * x, 1e-8);
    cn_world_destroy(w);
  }
}

static void refused(void **state) {
  (void)state;
  CnWorld *w = world_of("impulse", 1e-3);
  CnForceDef def = cn_force_def_default(CN_FORCE_BUSHING);
  CnForceId id;
  def.body_b = unit_mass(w, O);
  def.linear_stiffness = cn_vec3(1, 1, 1);
  def.linear_coupling = cn_vec3(1.1, 0, 0);
  CHECK_STATUS(cn_force_create(w, &def, &id), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "negative eigenvalue");
  def.linear_coupling = cn_vec3(1, 0, 0); // just none
  CHECK_OK(cn_force_create(w, &def, &id));
  cn_world_destroy(w);
}

// m x'' + k (x - L(t)) = 0 with L = 1 + a sin(w t), and a stiff one that x follows.
static void actuator(void **state) {
  (void)state;
  for (int stiff = 0; stiff < 2; stiff++) {
    const double a = 0.1, frequency = 0.8, rate = 2 * CNI_PI * frequency, h = 1e-3;
    const double k = stiff ? 1e9 : 90, gain = k / (k - rate * rate);
    CnWorld *w = world_of(stiff ? "impulse" : "hem5", h);
    CnBodyId body = unit_mass(w, cn_vec3(1, 0, 0));
    CnFunctionDef function = cn_function_def_default(CN_FUNCTION_SINE);
    CnForceDef def = cn_force_def_default(CN_FORCE_SPRING);
    CnForceId id;
    function.value = 1;
    function.amplitude = a;
    function.frequency = frequency;
    CHECK_OK(cn_function_create(w, &function, &def.rest_function));
    def.body_b = body;
    def.stiffness = k;
    def.damping = stiff ? 1e6 : 0;
    CHECK_OK(cn_force_create(w, &def, &id));
    toy_set_twist(w, body, cn_vec3(a * gain * rate, 0, 0), O);
    toy_steps(w, 700);
    double x = 1 + a * gain * cni_sin(rate * 700 * h);
    CHECK_NEAR(toy_pose(w, body).position.x, x, stiff ? 1e-6 : 1e-9);
    CHECK_STATUS(cn_function_destroy(w, def.rest_function), CN_INVALID_ARGUMENT);
    cn_world_destroy(w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loaded), cmocka_unit_test(modes),
                                     cmocka_unit_test(refused), cmocka_unit_test(actuator)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
