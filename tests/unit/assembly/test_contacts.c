// SPDX-License-Identifier: Apache-2.0
// Contact blocks: right-hand sides, laws and sets, storages, the user's hook, warm start.
#include "assembled.h"
#include "check.h"
#include "solver/solver.h"

static const CnTwist REST = {{0, 0, 0}, {0, 0, 0}};
static const CnVec3 UP = {0, 0, 1};

// A ground and a ball of radius 1 above it, falling at `speed`.
static void ball_above(Assembled *a, double gap, double speed, const CnMaterialDef *material) {
  assembled_start(a);
  int32_t ground = assembled_ground(a, CN_BODY_FIXED, REST);
  CnVec3 at = {0, 0, 1 + gap};
  int32_t ball = assembled_ball(a, 1, at, (CnTwist){{0, 0, -speed}, {0, 0, 0}});
  if (material) {
    assembled_material(a, ground, material);
    assembled_material(a, ball, material);
  }
  assembled_contact(a, ground, ball, cn_vec3(0, 0, gap / 2), UP, gap);
}

static double b_n(double gap, double speed, double restitution) {
  Assembled a;
  CnMaterialDef material = cn_material_def_default();
  material.restitution = restitution;
  ball_above(&a, gap, speed, &material);
  assembled_write(&a);
  double b = assembled_b(&a, 0, 0);
  assembled_end(&a);
  return b;
}

// h = .01, kappa = .2, recovery 1 m/s.
static void gaps(void **state) {
  (void)state;
  CHECK_NEAR(b_n(0.003, 0, 0), 0.3, 1e-15);
  CHECK_NEAR(b_n(0, 0, 0), 0, 0);
  CHECK_NEAR(b_n(-0.01, 0, 0), -0.2, 1e-15);
  CHECK_NEAR(b_n(-0.1, 0, 0), -1, 1e-15);
}

// An impact within the step bounces with e u_old, without the gap; the free motion decides, slow
// ones do not bounce, and an overlap asks for at least its own recovery.
static void restitution(void **state) {
  (void)state;
  CHECK_NEAR(b_n(0.003, 2, 0.5), -1, 1e-15);
  CHECK_NEAR(b_n(0, 2, 0.5), -1, 1e-15);
  CHECK_NEAR(b_n(0.03, 2, 0.5), 3, 1e-15);
  // closes only with the speed that gravity adds
  CHECK_NEAR(b_n(0.0205, 2, 0.5), -1, 1e-15);
  CHECK_NEAR(b_n(0, 0.009, 0.5), 0, 0);
  CHECK_NEAR(b_n(-0.1, 0.5, 0.5), -1, 1e-15);
  CHECK_NEAR(b_n(-0.01, 0.5, 0.5), -0.25, 1e-15);
  CHECK_NEAR(b_n(0.003, -2, 0.5), 0.3, 1e-15);
}

// Kinds by law, and one set for all contacts of one law.
static void laws(void **state) {
  (void)state;
  CnMaterialDef m = cn_material_def_default();
  const struct {
    double mu, roll, spin;
    CnBlockKind kind;
  } cases[] = {{0, 0, 0, CN_BLOCK_UNILATERAL},
               {0.4, 0, 0, CN_BLOCK_FRICTION},
               {0.4, 0.01, 0, CN_BLOCK_ROLLING},
               {0.4, 0, 0.02, CN_BLOCK_SPINNING},
               {0, 0.01, 0, CN_BLOCK_ROLLING}};
  for (int i = 0; i < 5; i++) {
    Assembled a;
    m.friction = cases[i].mu;
    m.rolling_friction = cases[i].roll;
    m.spinning_friction = cases[i].spin;
    ball_above(&a, 0, 0, &m);
    assembled_contact(&a, 0, 1, CN_VEC3_ZERO, UP, 0);
    assembled_write(&a);
    CHECK(a.problem->set_count == 1 && a.problem->block_count == 2);
    const CnSet *set = assembled_set(&a, 0);
    CHECK(set->kind == cases[i].kind);
    CHECK_NEAR(set->mu, cases[i].mu, 1e-15);
    CHECK_NEAR(set->mu_roll, cases[i].roll, 0);
    CHECK_NEAR(set->mu_spin, cases[i].spin, 0);
    CHECK(assembled_block_of(&a, 1)->dim == cni_block_dim(cases[i].kind));
    assembled_end(&a);
  }
}

// Cohesion is an impulse h F, for what touches.
static void cohesion(void **state) {
  (void)state;
  CnMaterialDef m = cn_material_def_default();
  m.cohesion = 7;
  m.friction = 0;
  Assembled a;
  ball_above(&a, 0, 0, &m);
  assembled_contact(&a, 0, 1, CN_VEC3_ZERO, UP, 2e-4);
  assembled_contact(&a, 0, 1, CN_VEC3_ZERO, UP, -1e-4);
  assembled_write(&a);
  CHECK_NEAR(assembled_set(&a, 0)->cohesion, 0.07, 1e-16);
  CHECK(assembled_set(&a, 0)->kind == CN_BLOCK_FRICTION);
  CHECK_NEAR(assembled_set(&a, 1)->cohesion, 0, 0);
  CHECK(assembled_set(&a, 1)->kind == CN_BLOCK_UNILATERAL);
  CHECK(assembled_set(&a, 2) == assembled_set(&a, 0));
  assembled_end(&a);
}

// A belt under the ball, turned with its body: u_t is the speed of the ball over the belt.
static void surface_velocity(void **state) {
  (void)state;
  CnMaterialDef m = cn_material_def_default();
  m.surface_velocity = cn_vec3(2, 0, 5);
  Assembled a;
  ball_above(&a, 0, 0, NULL);
  assembled_material(&a, 0, &m);
  double half = sqrt(0.5);
  a.model.pose[0].rotation = (CnQuat){half, 0, 0, half};
  assembled_write(&a);
  CHECK(a.problem->b_per_block == 0);
  CnVec3 t1, t2;
  cn_tangents(UP, &t1, &t2);
  CnVec3 b = cn_madd(cn_scale(assembled_b(&a, 0, 1), t1), assembled_b(&a, 0, 2), t2);
  CHECK_NEAR(b.x, 0, 1e-15);
  CHECK_NEAR(b.y, -2, 1e-15);
  CHECK_NEAR(assembled_b(&a, 0, 0), 0, 0);
  assembled_end(&a);
}

// Balls use the short storage, unless something in the contact turns otherwise.
static void storages(void **state) {
  (void)state;
  Assembled a;
  ball_above(&a, 0.02, 0, NULL);
  int32_t other = assembled_ball(&a, 0.5, cn_vec3(0, 0, 2.5), REST);
  int32_t block = assembled_block(&a, cn_vec3(1, 2, 2.5), CN_POSE_ONE, REST);
  int32_t spinner = assembled_ground(&a, CN_BODY_KINEMATIC, (CnTwist){{0, 0, 0}, {0, 0, 1}});
  int32_t slider = assembled_ground(&a, CN_BODY_KINEMATIC, (CnTwist){{1, 0, 0}, {0, 0, 0}});
  assembled_contact(&a, 1, other, cn_vec3(0, 0, 2.01), UP, 0);
  assembled_contact(&a, block, other, cn_vec3(0, 0, 2), UP, 0);
  assembled_contact(&a, spinner, other, cn_vec3(0, 0, 2), UP, 0);
  assembled_contact(&a, slider, other, cn_vec3(0, 0, 2), UP, 0);
  assembled_contact(&a, 0, slider, CN_VEC3_ZERO, UP, 0);
  assembled_write(&a);

  CHECK(assembled_block_of(&a, 0)->storage == CNI_SPHERE);
  const CniSphereBlock *s = &a.problem->spheres[assembled_block_of(&a, 0)->index];
  CHECK_NEAR(s->radius_a, 0, 0);
  CHECK_NEAR(s->radius_b, 1.01, 1e-15);
  CHECK_NEAR(cni_sphere_length(a.problem, assembled_block_of(&a, 0)->index), 1.01, 1e-15);
  s = &a.problem->spheres[assembled_block_of(&a, 1)->index];
  CHECK_NEAR(s->radius_a, 0.99, 1e-15);
  CHECK_NEAR(s->radius_b, 0.49, 1e-15);
  CHECK_NEAR(cni_sphere_length(a.problem, assembled_block_of(&a, 1)->index), 0.49, 1e-15);
  CHECK(assembled_block_of(&a, 2)->storage == CNI_PAIR);
  const CniPairBlock *p = &a.problem->pairs[assembled_block_of(&a, 2)->index];
  CHECK_NEAR(p->arm_a.z, 2, 1e-15);
  CHECK_NEAR(p->arm_b.z, -0.5, 1e-15);
  CHECK(p->group_a == block && p->group_b == other);
  CHECK(assembled_block_of(&a, 3)->storage == CNI_PAIR);
  CHECK(assembled_block_of(&a, 4)->storage == CNI_SPHERE);
  CHECK(a.block[5] == -1);
  assembled_end(&a);
}

// ---- the hook ----

static void tuner(void *context, CnContactTuning *c) {
  int *calls = context;
  ++*calls;
  if (c->gap > 0.5) c->enabled = 0;
  if (c->gap < 0) c->friction = -1;
  if (c->gap == 0) {
    c->friction = 0.25;
    c->restitution = 1;
    c->surface_velocity = cn_vec3(0, 3, 0);
  }
}

static void modify(void **state) {
  (void)state;
  Assembled a;
  int calls = 0;
  ball_above(&a, 0, 2, NULL);
  assembled_contact(&a, 0, 1, CN_VEC3_ZERO, UP, 0.6);
  assembled_contact(&a, 0, 1, CN_VEC3_ZERO, UP, 0.1);
  a.input.modify = tuner;
  a.input.modify_context = &calls;
  assembled_write(&a);
  CHECK(calls == 3 && a.problem->block_count == 2);
  CHECK(a.block[1] == -1 && a.block[2] == 1);
  CHECK_NEAR(assembled_set(&a, 0)->mu, 0.25, 0);
  CHECK_NEAR(assembled_set(&a, 2)->mu, 0.5, 1e-15);
  CHECK_NEAR(assembled_b(&a, 0, 0), -2, 1e-15);
  CHECK_NEAR(fabs(assembled_b(&a, 0, 1)) + fabs(assembled_b(&a, 0, 2)), 3, 1e-15);

  // nonsense is refused and leaves an empty problem
  a.contacts[2].gap = -1;
  CHECK_STATUS(assembled_try(&a), CN_INVALID_ARGUMENT);
  CHECK(a.problem->block_count == 0 && a.problem->group_count == 0);
  assembled_end(&a);
}

// Many different laws: the table of sets grows, and equal laws still share a set.
static void vary(void *context, CnContactTuning *c) {
  (void)context;
  c->friction = c->gap;
}

static void many_laws(void **state) {
  (void)state;
  Assembled a;
  ball_above(&a, 1, 0, NULL);
  for (int i = 1; i < ASSEMBLED_MAX; i++) assembled_contact(&a, 0, 1, CN_VEC3_ZERO, UP, 1 + i % 50);
  a.input.modify = vary;
  assembled_write(&a);
  CHECK(a.problem->set_count == 50);
  for (int i = 0; i < 200; i++) CHECK_NEAR(assembled_set(&a, i)->mu, 1 + i % 50, 0);
  assembled_end(&a);
}

// ---- warm start ----

static CniContactImpulse impulse_of(const Assembled *a, int32_t block) {
  CniContactImpulse impulse;
  cni_contact_impulses(a->problem, &a->answer, block, 1, &impulse.linear, &impulse.angular);
  return impulse;
}

// Old impulses are found by key, scaled by the steps, and come back as they went in.
static void warm_start(void **state) {
  (void)state;
  CnMaterialDef m = cn_material_def_default();
  m.friction = 0.5;
  m.rolling_friction = 0.1;
  m.spinning_friction = 0.1;
  Assembled a;
  ball_above(&a, 0, 0, &m);
  int32_t block = assembled_block(&a, cn_vec3(1, 2, 2.5), CN_POSE_ONE, REST);
  assembled_material(&a, block, &m);
  for (int i = 0; i < 3; i++) assembled_contact(&a, block, 1, cn_vec3(0, 0, 0.4), UP, 0);
  assembled_old(&a, 2, 2, cn_vec3(1, 2, 10), cn_vec3(0.2, 0.3, -0.4));
  assembled_old(&a, 3, 3, cn_vec3(30, 0, 10), CN_VEC3_ZERO);
  assembled_old(&a, 1, 77, cn_vec3(1, 2, 10), CN_VEC3_ZERO); // its point has gone
  a.input.old.time_step = 0.02;
  assembled_write(&a);

  // contact 2 (pair storage): half of it, because the step is half as long
  CniContactImpulse back = impulse_of(&a, a.block[2]);
  CHECK_NEAR(back.linear.x, 0.5, 1e-14);
  CHECK_NEAR(back.linear.y, 1, 1e-14);
  CHECK_NEAR(back.linear.z, 5, 1e-14);
  CHECK_NEAR(back.angular.x, 0.1, 1e-14);
  CHECK_NEAR(back.angular.y, 0.15, 1e-14);
  CHECK_NEAR(back.angular.z, -0.2, 1e-14);

  // contact 3: projected on the cone; n = (5 + .5 * 15)/1.25
  back = impulse_of(&a, a.block[3]);
  CHECK_NEAR(back.linear.z, 10, 1e-13);
  CHECK_NEAR(back.linear.x, 5, 1e-13);

  // the others had none
  for (int i = 0; i < 2; i++) {
    back = impulse_of(&a, a.block[i]);
    CHECK_NEAR(cn_norm(back.linear) + cn_norm(back.angular), 0, 0);
  }
  assembled_end(&a);
}

// The same through the sphere storage.
static void warm_start_sphere(void **state) {
  (void)state;
  CnMaterialDef m = cn_material_def_default();
  m.rolling_friction = 0.1;
  m.spinning_friction = 0.1;
  Assembled a;
  ball_above(&a, 0, 0, &m);
  a.contacts[0].normal = cn_unit_or(cn_vec3(1, 2, 3), UP);
  CnVec3 n = a.contacts[0].normal;
  CnVec3 side = cn_unit_or(cn_cross(n, UP), UP);
  CnVec3 linear = cn_madd(cn_scale(8, n), 2, side);
  CnVec3 angular = cn_madd(cn_scale(0.3, n), 0.2, side);
  assembled_old(&a, 0, 0, linear, angular);
  a.input.old.time_step = a.input.time_step;
  assembled_write(&a);
  CHECK(assembled_block_of(&a, 0)->storage == CNI_SPHERE);
  CniContactImpulse back = impulse_of(&a, a.block[0]);
  CHECK_NEAR(cn_norm(cn_sub(back.linear, linear)), 0, 1e-14);
  CHECK_NEAR(cn_norm(cn_sub(back.angular, angular)), 0, 1e-14);
  CHECK_NEAR(a.answer.g[0], 8, 1e-14);
  assembled_end(&a);
}

// Where no surface moves only the normal entries of b are kept; the answer and what it is worth are
// those of all rows, and who wants the rows gets them.
static void normal_entries_alone(void **state) {
  (void)state;
  CnMaterialDef m = cn_material_def_default();
  Assembled a;
  ball_above(&a, -0.01, 0.5, &m);
  int32_t more = assembled_ball(&a, 1, cn_vec3(0, 0, 2.98), (CnTwist){{1, 0, -1}, {0, 2, 0}});
  assembled_contact(&a, 1, more, cn_vec3(0, 0, 1.985), UP, -0.02);
  assembled_write(&a);
  CHECK(a.problem->b_per_block == 1 && a.problem->block_count == 2);
  CnSolveReport brief, wide;
  CnAnswer own = cn_answer_empty(NULL);
  CHECK_OK(cn_answer_fit(&own, a.problem));
  CHECK_OK(cn_solve(a.problem, "psor", 1e-12, &a.answer, &brief));
  CHECK(a.problem->b_per_block == 1);
  CHECK_OK(cni_problem_widen_b(a.problem));
  CHECK(a.problem->b_per_block == 0);
  CHECK_NEAR(a.problem->b[0], -0.2, 1e-15);
  CHECK_NEAR(a.problem->b[3], -0.4, 1e-15);
  for (int32_t i = 1; i < 6; i++)
    if (i != 3) CHECK_NEAR(a.problem->b[i], 0, 0);
  CHECK_OK(cn_solve(a.problem, "psor", 1e-12, &own, &wide));
  for (int32_t i = 0; i < 6; i++) CHECK_NEAR(a.answer.g[i], own.g[i], 0);
  CHECK_NEAR(brief.certificate.error_scaled, wide.certificate.error_scaled, 0);

  // others need all rows, and do not change the problem themselves
  assembled_write(&a);
  CHECK(a.problem->b_per_block == 1);
  CHECK_STATUS(cn_solve(a.problem, "ipm", 1e-12, &own, &wide), CN_INVALID_ARGUMENT);
  CHECK(a.problem->b_per_block == 1);
  CHECK_OK(cni_problem_widen_b(a.problem));
  CHECK_OK(cn_solve(a.problem, "ipm", 1e-12, &own, &wide));
  CHECK_NEAR(a.answer.velocity_count, own.velocity_count, 0);
  cn_answer_release(&own);
  assembled_end(&a);
}

// ---- contacts that are all alike ----

#define BALLS 40

// A row of balls on a floor that touch or overlap a little; every third contact between two of them
// bore a load.
static void row_of_balls(Assembled *a, const CnMaterialDef *material, CniShortContact *shorts,
                         CnVec3 *linear) {
  assembled_start(a);
  for (int32_t i = 0; i < BALLS; i++) {
    assembled_ball(a, 0.5, cn_vec3(i, 0, 0.5), (CnTwist){{0.1 * i, 0, -1}, {1, 0, 0.2 * i}});
  }
  int32_t floor = assembled_ground(a, CN_BODY_FIXED, REST), n = 0;
  assembled_material(a, floor, material);
  for (int32_t i = 0; i < BALLS; i++) a->model.shapes[i].material = a->model.shapes[floor].material;
  for (int32_t i = 0; i < BALLS; i++) {
    double gap = 1e-3 * (i % 5 - 2);
    if (i + 1 < BALLS) {
      int32_t c = assembled_contact(a, i, i + 1, cn_vec3(i + 0.5, 0, 0.5), cn_vec3(1, 0, 0), gap);
      a->contacts[c].two_spheres = 1;
      a->contacts[c].feature = 0;
      shorts[n] = (CniShortContact){(uint32_t)i, (uint32_t)(i + 1) | CNI_SHORT_BIT};
      if (i % 3 == 0) shorts[n].a |= CNI_SHORT_BIT;
      linear[n++] = i % 3 == 0 ? cn_vec3(1, 0.2 * (i % 4), 0.1) : CN_VEC3_ZERO;
    }
    assembled_contact(a, i, floor, cn_vec3(i, 0, 0), cn_vec3(0, 0, -1), -gap);
  }
  a->input.old = (CniOldContacts){
      .count = n, .shorts = shorts, .linear = linear, .time_step = a->input.time_step};
}

static void check_alike(const CnMaterialDef *material) {
  Assembled each, alike;
  CniShortContact shorts[BALLS];
  CnVec3 linear[BALLS];
  CniShortContact noted[2 * BALLS];
  row_of_balls(&each, material, shorts, linear);
  assembled_write(&each);
  row_of_balls(&alike, material, shorts, linear);
  alike.input.movable = 1;
  alike.input.shorts = noted;
  assembled_write(&alike);
  const CnProblem *p = each.problem, *q = alike.problem;
  assert_int_equal(q->block_count, 2 * BALLS - 1);
  assert_int_equal(p->block_count, q->block_count);
  assert_int_equal(p->row_count, q->row_count);
  assert_int_equal(p->sphere_count, q->sphere_count);
  assert_int_equal(p->set_count, q->set_count);
  size_t blocks = (size_t)p->block_count, rows = (size_t)p->row_count;
  assert_memory_equal(p->blocks, q->blocks, blocks * sizeof *p->blocks);
  assert_memory_equal(p->spheres, q->spheres, blocks * sizeof *p->spheres);
  assert_memory_equal(p->b, q->b, blocks * sizeof *p->b);
  assert_memory_equal(each.answer.g, alike.answer.g, rows * sizeof(double));
  assert_memory_equal(each.block, alike.block, blocks * sizeof *each.block);
  int32_t loaded = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniContact *c = &alike.contacts[i];
    assert_int_equal(noted[i].a, (uint32_t)c->shape_a | (c->two_spheres ? 0 : CNI_SHORT_BIT));
    assert_int_equal(noted[i].b, c->shape_b);
    loaded += alike.answer.g[q->blocks[i].row] > 0;
  }
  assert_int_equal(loaded, BALLS / 3);
  assembled_end(&each);
  assembled_end(&alike);
}

// Where all contacts have one law and sphere blocks nobody plans them one by one; what is written
// is the same, bit by bit.
static void all_alike(void **state) {
  (void)state;
  CnMaterialDef m = cn_material_def_default();
  m.friction = 0.3;
  m.restitution = 0;
  check_alike(&m);
  m.restitution = 0.5;
  check_alike(&m);
  m.rolling_friction = 0.1;
  check_alike(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps),
      cmocka_unit_test(restitution),
      cmocka_unit_test(laws),
      cmocka_unit_test(cohesion),
      cmocka_unit_test(storages),
      cmocka_unit_test(surface_velocity),
      cmocka_unit_test(normal_entries_alone),
      cmocka_unit_test(modify),
      cmocka_unit_test(many_laws),
      cmocka_unit_test(warm_start),
      cmocka_unit_test(warm_start_sphere),
      cmocka_unit_test(all_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
