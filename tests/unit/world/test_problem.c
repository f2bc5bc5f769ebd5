// SPDX-License-Identifier: Apache-2.0
// The step problem that a world hands out: it is the one that was solved, and there is none where
// none was.
#include "check.h"
#include "toys.h"

#include <stdlib.h>
#include <string.h>

static const CnMaterialId no_material = {0, 0};

static void none_before_a_step(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  CnWorld *w = toy_world_from(&def);
  CnProblem *problem = NULL;
  const CnAnswer *answer = NULL;
  CHECK_STATUS(cn_world_problem(w, &problem, &answer), CN_INVALID_ARGUMENT);
  CHECK(!problem && !answer);
  CHECK_STATUS(cn_world_problem(NULL, &problem, &answer), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_world_step(w, NULL));
  CHECK_STATUS(cn_world_problem(w, NULL, &answer), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_world_problem(w, &problem, NULL));
  CHECK(problem);
  cn_world_destroy(w);
}

static void certificate_is_that_of_the_step(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  CnBodyId ball = toy_ball(w, 0.1, cn_vec3(0, 0, 0.1), no_material);
  toy_set_twist(w, ball, cn_vec3(1, 0, 0), CN_VEC3_ZERO);
  CnStepReport report;
  CHECK_OK(cn_world_step(w, &report));
  CnProblem *problem;
  const CnAnswer *answer;
  CnCertificate certificate;
  CHECK_OK(cn_world_problem(w, &problem, &answer));
  CHECK_OK(cn_certify(problem, answer, &certificate));
  CHECK(memcmp(&certificate.residual, &report.solve.certificate.residual, sizeof(double)) == 0);
  // the ball slides: v_x = 1 - mu g h, and it is what the body has
  CnProblemInfo info;
  cn_problem_info(problem, &info);
  CHECK(info.kind_count[CN_BLOCK_FRICTION] == 1);
  CHECK_NEAR(answer->v[6], toy_twist(w, ball).velocity.x, 0);
  cn_world_destroy(w);
}

static void none_after_a_failure(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  CnWorld *w = toy_world_from(&def);
  CnProblem *problem = NULL;
  CHECK_OK(cn_world_step(w, NULL));
  CHECK_OK(cn_world_problem(w, &problem, NULL));
  CnBodyDef massless = cn_body_def_default();
  CnBodyId body;
  CHECK_OK(cn_body_create(w, &massless, &body));
  CHECK_STATUS(cn_world_step(w, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_problem(w, &problem, NULL), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_body_destroy(w, body));
  CHECK_OK(cn_world_step(w, NULL));
  CHECK_OK(cn_world_problem(w, &problem, NULL));
  cn_world_destroy(w);
}

static void none_after_a_restore(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  CnWorld *w = toy_world_from(&def);
  toy_ball(w, 0.1, cn_vec3(0, 0, 1), no_material);
  CHECK_OK(cn_world_step(w, NULL));
  size_t size = 0;
  CHECK_OK(cn_world_save(w, NULL, 0, &size));
  void *data = malloc(size);
  CHECK_OK(cn_world_save(w, data, size, &size));
  CnProblem *problem = NULL;
  CHECK_OK(cn_world_problem(w, &problem, NULL));
  CHECK_OK(cn_world_restore(w, data, size));
  CHECK_STATUS(cn_world_problem(w, &problem, NULL), CN_INVALID_ARGUMENT);
  CHECK(!problem);
  free(data);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(none_before_a_step), cmocka_unit_test(certificate_is_that_of_the_step),
      cmocka_unit_test(none_after_a_failure), cmocka_unit_test(none_after_a_restore)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
