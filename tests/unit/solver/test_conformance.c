// SPDX-License-Identifier: Apache-2.0
// Every solver of the table that accepts a problem must pass the same closed-form cases.
#include "check.h"
#include "scenes.h"
#include "solving.h"
#include "core/vec.h"

#define TOLERANCE 1e-13

static const CnFrictionModel both[] = {CN_FRICTION_COULOMB, CN_FRICTION_CONVEX};

// A solver that puts the convex model in place of coulomb friction does not solve this problem.
static int relaxes(const CnSolverKind *kind, const CnProblem *p) {
  if (!(kind->accepts & CNI_ACCEPT_RELAXED) || p->friction != CN_FRICTION_COULOMB) return 0;
  for (int32_t i = 0; i < p->block_count; i++)
    if (p->blocks[i].kind >= CN_BLOCK_FRICTION_2D) return 1;
  return 0;
}

// Visit the solvers that take a problem.
typedef void (*Case)(const char *solver, CnProblem *p, const void *data);
static void for_all_solvers(CnProblem *p, Case check, const void *data) {
  int32_t count = 0;
  for (int32_t i = 0; i < cni_solver_kind_count; i++) {
    if (cni_solver_check(cni_solver_kinds[i], p) != CN_OK) continue;
    if (relaxes(cni_solver_kinds[i], p)) continue;
    check(cni_solver_kinds[i]->name, p, data);
    count++;
  }
  CHECK(count > 0);
  cn_problem_destroy(p);
}

// Expected g of the first block and, where given, the velocity of group 1.
typedef struct Expected {
  double g[CNI_MAX_DIM];
  const double *v; // six numbers or null
} Expected;

static void check_first_block(const char *solver, CnProblem *p, const void *data) {
  const Expected *expected = data;
  CnAnswer answer = solve_with(solver, p, TOLERANCE);
  for (int32_t i = 0; i < p->blocks[0].dim; i++) CHECK_NEAR(answer.g[i], expected->g[i], 1e-12);
  for (int32_t i = 0; expected->v && i < 6; i++) CHECK_NEAR(answer.v[6 + i], expected->v[i], 1e-12);
  cn_answer_release(&answer);
}

// ---- the ball on the ground ----

#define TANGENT_MASS (BALL_MASS / 3.5) // of a solid ball pushed at its rim

static void sliding(void **state) {
  (void)state;
  double v[6] = {1 - BALL_MU * BALL_IMPULSE / BALL_MASS,
                 0,
                 0,
                 0,
                 BALL_MU * BALL_IMPULSE * BALL_RADIUS / (.4 * BALL_MASS * .01),
                 0};
  Expected expected = {{BALL_IMPULSE, -BALL_MU * BALL_IMPULSE, 0}, v};
  for (int32_t storage = CNI_ROWS; storage <= CNI_SPHERE; storage++)
    for_all_solvers(ball_on_ground_as(1, (CniStorage)storage, CN_FRICTION_COULOMB),
                    check_first_block, &expected);
}

// Convex: the contact lifts off at mu |u_t|, as if the slip pushed: e = (1, -mu), g = g_n e,
// e.u = 0.
static void sliding_convex(void **state) {
  (void)state;
  double speed = 1, w_n = 1 / BALL_MASS, w_t = 1 / TANGENT_MASS;
  double g_n = (9.81 * .01 + BALL_MU * speed) / (w_n + BALL_MU * BALL_MU * w_t);
  Expected expected = {{g_n, -BALL_MU * g_n, 0}, NULL};
  for (int32_t storage = CNI_ROWS; storage <= CNI_SPHERE; storage++)
    for_all_solvers(ball_on_ground_as(speed, (CniStorage)storage, CN_FRICTION_CONVEX),
                    check_first_block, &expected);
}

static void sticking(void **state) {
  (void)state;
  double speed = .05;
  Expected expected = {{BALL_IMPULSE, -speed * TANGENT_MASS, 0}, NULL};
  for (int32_t storage = CNI_ROWS; storage <= CNI_SPHERE; storage++)
    for (int32_t m = 0; m < 2; m++)
      for_all_solvers(ball_on_ground_as(speed, (CniStorage)storage, both[m]), check_first_block,
                      &expected);
}

static void pulled_up(void **state) {
  (void)state;
  Expected expected = {{0, 0, 0}, NULL};
  for (int32_t storage = CNI_ROWS; storage <= CNI_SPHERE; storage++)
    for (int32_t m = 0; m < 2; m++) {
      CnProblem *p = ball_on_ground_as(1, (CniStorage)storage, both[m]);
      p->groups[1].v.z = .4; // more than mu |u_t|
      for_all_solvers(p, check_first_block, &expected);
    }
}

// Without friction and without slip the projection has nothing to divide by; the ball leaves all
// the same.
static void lifted(void **state) {
  (void)state;
  Expected expected = {{0, 0, 0}, NULL};
  for (int32_t storage = CNI_ROWS; storage <= CNI_SPHERE; storage++)
    for (int32_t m = 0; m < 2; m++) {
      CnProblem *p = ball_on_ground_as(0, (CniStorage)storage, both[m]);
      p->sets[0].mu = 0;
      p->groups[1].v.z = .4;
      for_all_solvers(p, check_first_block, &expected);
    }
}

// Cohesion c holds the ball up to the impulse c, and friction acts on g_n + c.
static void cohesion(void **state) {
  (void)state;
  double c = .1;
  for (int32_t storage = CNI_ROWS; storage <= CNI_SPHERE; storage++)
    for (int32_t torn = 0; torn < 2; torn++) {
      double up = torn ? 2 * c / BALL_MASS : .5 * c / BALL_MASS;
      double g_n = torn ? -c : -BALL_MASS * up;
      CnProblem *p = ball_on_ground_as(1, (CniStorage)storage, CN_FRICTION_COULOMB);
      p->sets[0].cohesion = c;
      p->groups[1].v.z = up;
      Expected expected = {{g_n, -BALL_MU * (g_n + c), 0}, NULL};
      for_all_solvers(p, check_first_block, &expected);
    }
}

// Conveyor: the tangential b moves the ground; sticking means following it.
static void belt(void **state) {
  (void)state;
  for (int32_t storage = CNI_ROWS; storage <= CNI_SPHERE; storage++) {
    CnProblem *p = ball_on_ground_as(0, (CniStorage)storage, CN_FRICTION_COULOMB);
    p->b[2] = -.04;
    Expected expected = {{BALL_IMPULSE, 0, .04 * TANGENT_MASS}, NULL};
    for_all_solvers(p, check_first_block, &expected);
  }
}

// ---- one ball with rolling or spinning resistance ----

// Spin about x (rolling) or z (spinning) at `spin`, no sliding friction.
static CnProblem *turning_ball(double spin, int32_t dim, CniStorage storage,
                               CnFrictionModel friction) {
  CnProblem *p = ball_on_ground_as(0, CNI_SPHERE, friction);
  CnProblemDef def = cn_problem_def_default();
  def.friction = friction;
  CnProblem *made = NULL;
  CHECK_OK(cn_problem_create(&def, &made));
  CnGroupDef ground = cn_group_def_default(), ball = cn_group_def_default();
  ball.inv_mass = p->groups[1].inv_mass;
  ball.inv_inertia = cni_group_inertia(p, 1);
  ball.free = cni_group_free(&p->groups[1]);
  ball.free.spin = dim == 5 ? cn_vec3(spin, 0, 0) : cn_vec3(0, 0, spin);
  cn_problem_destroy(p);
  CHECK_OK(cn_problem_add_group(made, &ground, NULL));
  CHECK_OK(cn_problem_add_group(made, &ball, NULL));
  CnSet set = cn_set_default(dim == 5 ? CN_BLOCK_ROLLING : CN_BLOCK_SPINNING);
  set.mu_roll = dim == 5 ? .01 : 0;
  set.mu_spin = .01;
  double b[6] = {0};
  CHECK_OK(cn_problem_add_set(made, &set, NULL));
  if (storage == CNI_SPHERE) {
    CnSphereDef c = cn_sphere_def_default();
    c.group_a = 0;
    c.group_b = 1;
    c.normal = cn_vec3(0, 0, 1);
    c.radius_b = c.length = BALL_RADIUS;
    CHECK_OK(cn_problem_add_sphere(made, 0, dim, &c, b, NULL));
  } else {
    CnPairDef c = cn_pair_def_default();
    c.group_a = 0;
    c.group_b = 1;
    c.normal = cn_vec3(0, 0, 1);
    c.tangent = cn_vec3(1, 0, 0);
    c.arm_b = cn_vec3(0, 0, -BALL_RADIUS);
    c.length = BALL_RADIUS;
    CHECK_OK(cn_problem_add_pair(made, 0, dim, &c, b, NULL));
  }
  return made;
}

static void turning(void **state) {
  (void)state;
  double j = .4 * BALL_MASS * BALL_RADIUS * BALL_RADIUS, length = BALL_RADIUS;
  double mu = .01 / length, w_n = 1 / BALL_MASS, w_r = length * length / j;
  for (int32_t dim = 5; dim <= 6; dim++)
    for (int32_t storage = CNI_PAIR; storage <= CNI_SPHERE; storage++)
      for (int32_t m = 0; m < 2; m++)
        for (int32_t fast = 0; fast < 2; fast++) {
          double spin = fast ? 3 : .1, u_r = length * spin, fall = 9.81 * .01;
          double g_n = BALL_IMPULSE, g_r = -u_r / w_r;
          if (fast) {
            if (both[m] == CN_FRICTION_CONVEX) g_n = (fall + mu * u_r) / (w_n + mu * mu * w_r);
            g_r = -mu * g_n;
          }
          Expected expected = {{g_n, 0, 0, dim == 5 ? g_r : 0, 0, dim == 6 ? g_r : 0}, NULL};
          for_all_solvers(turning_ball(spin, dim, (CniStorage)storage, both[m]), check_first_block,
                          &expected);
        }
}

// ---- the box ----

static void check_box(const char *solver, CnProblem *p, const void *data) {
  double speed = *(const double *)data, fall = 9.81 * .01, mu = .5, m = 4;
  CnAnswer answer = solve_with(solver, p, TOLERANCE);
  double after = speed > mu * fall ? speed - mu * fall : 0, normal = 0, tangent = 0;
  double expected[6] = {after, 0, 0, 0, 0, 0};
  for (int32_t i = 0; i < 6; i++) CHECK_NEAR(answer.v[6 + i], expected[i], 1e-12);
  for (int32_t i = 0; i < 4; i++) {
    normal += answer.g[3 * i];
    tangent += answer.u[3 * i + 1];
  }
  CHECK_NEAR(normal, m * fall, 1e-12);
  CHECK_NEAR(tangent, 4 * after, 1e-12);
  cn_answer_release(&answer);
}

static void box(void **state) {
  (void)state;
  double speeds[] = {0, .03, 1};
  for (int32_t i = 0; i < 3; i++) for_all_solvers(box_on_ground(speeds[i]), check_box, &speeds[i]);
}

// ---- single rows ----

// A 2 kg mass moving along x at `speed` and one row on it.
static CnProblem *one_row(double speed, const CnSet *set, double b) {
  CnProblemDef def = cn_problem_def_default();
  CnProblem *p = NULL;
  CHECK_OK(cn_problem_create(&def, &p));
  CnGroupDef ground = cn_group_def_default(), mass = cn_group_def_default();
  mass.inv_mass = .5;
  mass.inv_inertia = cn_sdiag(1, 1, 1);
  mass.free.velocity.x = speed;
  CnRowEntry entry = {0, 1, {{1, 0, 0}, {0, 0, 0}}};
  CHECK_OK(cn_problem_add_group(p, &ground, NULL));
  CHECK_OK(cn_problem_add_group(p, &mass, NULL));
  CHECK_OK(cn_problem_add_set(p, set, NULL));
  CHECK_OK(cn_problem_add_rows(p, 0, 1, &entry, 1, &b, NULL));
  return p;
}

static void interval(void **state) {
  (void)state;
  CnSet set = cn_set_default(CN_BLOCK_INTERVAL);
  set.lo = -.3;
  set.hi = .2;
  struct {
    double speed, g;
  } cases[] = {{1, -.3}, {.1, -.2}, {-.05, .1}, {-1, .2}, {0, 0}};
  for (int32_t i = 0; i < 5; i++) {
    double v[6] = {cases[i].speed + .5 * cases[i].g, 0, 0, 0, 0, 0};
    Expected expected = {{cases[i].g}, v};
    for_all_solvers(one_row(cases[i].speed, &set, 0), check_first_block, &expected);
  }
}

static void unilateral(void **state) {
  (void)state;
  CnSet set = cn_set_default(CN_BLOCK_UNILATERAL);
  Expected open = {{0}, NULL}, closed = {{2}, NULL}, gap = {{1}, NULL};
  for_all_solvers(one_row(1, &set, 0), check_first_block, &open);
  for_all_solvers(one_row(-1, &set, 0), check_first_block, &closed);
  for_all_solvers(one_row(-1, &set, .5), check_first_block, &gap);
}

// A compliant row is a spring and damper by the implicit Euler rule:
// m (v - v0) = -h k (phi + h v) - h d v.
static void spring(void **state) {
  (void)state;
  double h = .01, k = 500, d = 3, m = 2, v0 = .7, phi = .02;
  CnSet set = cn_set_default(CN_BLOCK_BILATERAL);
  set.compliance[0] = 1 / (h * (h * k + d));
  double speed = (m * v0 - h * k * phi) / (m + h * (h * k + d));
  double v[6] = {speed, 0, 0, 0, 0, 0};
  Expected expected = {{m * (speed - v0)}, v};
  for_all_solvers(one_row(v0, &set, k * phi / (h * k + d)), check_first_block, &expected);
}

// ---- friction in the plane ----

// The same mass sliding along x and falling along y onto a compliant or rigid plane.
static void planar(void **state) {
  (void)state;
  double mu = .4, fall = .1;
  for (int32_t m = 0; m < 2; m++)
    for (int32_t fast = 0; fast < 2; fast++) {
      double speed = fast ? 1 : .02;
      CnProblemDef def = cn_problem_def_default();
      def.friction = both[m];
      CnProblem *p = NULL;
      CHECK_OK(cn_problem_create(&def, &p));
      CnGroupDef ground = cn_group_def_default(), mass = cn_group_def_default();
      mass.inv_mass = .5;
      mass.free.velocity = cn_vec3(speed, -fall, 0);
      CnSet set = cn_set_default(CN_BLOCK_FRICTION_2D);
      set.mu = mu;
      CnPairDef c = cn_pair_def_default();
      double b[2] = {0, 0};
      c.group_a = 0;
      c.group_b = 1;
      c.normal = cn_vec3(0, 1, 0);
      c.tangent = cn_vec3(1, 0, 0);
      CHECK_OK(cn_problem_add_group(p, &ground, NULL));
      CHECK_OK(cn_problem_add_group(p, &mass, NULL));
      CHECK_OK(cn_problem_add_set(p, &set, NULL));
      CHECK_OK(cn_problem_add_pair(p, 0, 2, &c, b, NULL));
      double g_n = 2 * fall, g_t = -2 * speed;
      if (fast) {
        if (both[m] == CN_FRICTION_CONVEX) g_n = 2 * (fall + mu * speed) / (1 + mu * mu);
        g_t = -mu * g_n;
      }
      Expected expected = {{g_n, g_t}, NULL};
      for_all_solvers(p, check_first_block, &expected);
    }
}

// ---- a chain: bilateral blocks of three rows ----

// All balls hang on their left ends after one step: the first turns about the anchor. Momentum and
// rows are checked by the certificate; here the joints must hold.
static void check_chain(const char *solver, CnProblem *p, const void *data) {
  (void)data;
  CnAnswer answer = solve_with(solver, p, 1e-12);
  for (int32_t i = 0; i < answer.row_count; i++) CHECK_NEAR(answer.u[i], 0, 1e-12);
  cn_answer_release(&answer);
}

static void chain(void **state) {
  (void)state;
  for_all_solvers(chain_of_rows(1), check_chain, NULL);
  for_all_solvers(chain_of_rows(5), check_chain, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sliding),   cmocka_unit_test(sliding_convex), cmocka_unit_test(sticking),
      cmocka_unit_test(pulled_up), cmocka_unit_test(lifted),         cmocka_unit_test(cohesion),
      cmocka_unit_test(belt),      cmocka_unit_test(turning),        cmocka_unit_test(box),
      cmocka_unit_test(interval),  cmocka_unit_test(unilateral),     cmocka_unit_test(spring),
      cmocka_unit_test(planar),    cmocka_unit_test(chain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
