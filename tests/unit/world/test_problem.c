// SPDX-License-Identifier: Apache-2.0
// The step problem that a world hands out: it is the one that was solved, and there is none where
// none was.
#include "check.h"
#include "problem/problem.h"
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

// Every group of the problem is the body whose velocity it has, and every block is between the two
// bodies of its contact. Velocities of bodies and contacts of the world after the step: the same
// numbers.
static void check_map(CnWorld *w) {
  CnProblem *p;
  const CnAnswer *answer;
  CHECK_OK(cn_world_problem(w, &p, &answer));
  for (int32_t i = 0; i < p->group_count; i++) {
    CnBodyId body;
    CHECK_OK(cn_world_problem_body(w, i, &body));
    CHECK((body.slot == 0) == (i == p->group_count - 1)); // the ground is nobody
    CnTwist twist;
    if (body.slot == 0 || cn_body_twist(w, body, &twist) != CN_OK) continue; // destroyed since
    CHECK(memcmp(&twist, answer->v + 6 * (size_t)i, sizeof twist) == 0);
  }
  for (int32_t i = 0; i < p->block_count; i++) {
    CnBlockOwner owner;
    CnContact contact;
    CHECK_OK(cn_world_problem_block(w, i, &owner));
    CHECK(owner.joint.slot == 0 && owner.contact == i);
    CHECK_OK(cn_world_contact(w, owner.contact, &contact));
    const CniBlock *block = &p->blocks[i];
    int pair = block->storage == CNI_PAIR;
    int32_t ends[2] = {pair ? p->pairs[block->index].group_a : p->spheres[block->index].group_a,
                       pair ? p->pairs[block->index].group_b : p->spheres[block->index].group_b};
    CnBodyId sides[2] = {contact.body_a, contact.body_b};
    for (int32_t e = 0; e < 2; e++) {
      CnBodyId body;
      CHECK_OK(cn_world_problem_body(w, ends[e], &body));
      if (sides[e].slot == 0) continue; // its shape has gone
      CHECK(body.slot == sides[e].slot && body.generation == sides[e].generation);
    }
  }
}

// 400 bodies are put in another order in the first step; removals move the last one into the hole.
static void groups_and_blocks_have_names(void **state) {
  (void)state;
  enum { BODIES = 400 };
  CnWorldDef def = cn_world_def_default();
  CnWorld *w = toy_pile(&def, BODIES);
  CnBodyId bodies[BODIES + 8], body = {0, 0};
  int32_t count = 0;
  while ((body = cn_world_next_body(w, body)).slot != 0) bodies[count++] = body;
  toy_steps(w, 1);
  check_map(w);
  for (int32_t i = 5; i < count; i += 7) CHECK_OK(cn_body_destroy(w, bodies[i]));
  check_map(w); // of the step before the removals
  CnBodyId new_ball = toy_ball(w, 0.1, cn_vec3(0, 0, 50), no_material);
  check_map(w);
  toy_steps(w, 1);
  check_map(w);
  CHECK_OK(cn_body_destroy(w, new_ball));
  toy_steps(w, 60);
  check_map(w);
  CHECK_STATUS(cn_world_problem_body(w, -1, &body), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_world_problem_body(w, 1000, &body), CN_INVALID_ARGUMENT);
  CnBlockOwner owner;
  CHECK_STATUS(cn_world_problem_block(w, 1 << 20, &owner), CN_INVALID_ARGUMENT);
  CHECK(owner.contact == -1 && owner.joint.slot == 0);
  cn_world_destroy(w);
}

// Joints first: a weight on two rods, beside a ball on the floor.
static void blocks_of_joints(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  CnWorld *w = toy_world_from(&def);
  CnBodyId floor = toy_floor(w);
  CnBodyId weight = toy_ball(w, 0.1, cn_vec3(0, 0, 3), no_material);
  toy_ball(w, 0.1, cn_vec3(5, 0, 0.1), no_material);
  CnJointId joints[2];
  for (int i = 0; i < 2; i++) {
    CnJointDef joint = cn_joint_def_default(CN_JOINT_BALL);
    joint.body_a = floor;
    joint.body_b = weight;
    CHECK_OK(cn_joint_def_at(w, cn_vec3(i, 0, 3), &joint));
    CHECK_OK(cn_joint_create(w, &joint, &joints[i]));
  }
  CHECK_OK(cn_joint_destroy(w, joints[0])); // the other one moves into its place
  toy_steps(w, 1);
  CnBlockOwner owner;
  CHECK_OK(cn_world_problem_block(w, 0, &owner));
  CHECK(owner.joint.slot == joints[1].slot && owner.joint.generation == joints[1].generation);
  CHECK(owner.contact == -1);
  CHECK_OK(cn_world_problem_block(w, 1, &owner));
  CHECK(owner.joint.slot == 0 && owner.contact == 0);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(none_before_a_step),
                                     cmocka_unit_test(certificate_is_that_of_the_step),
                                     cmocka_unit_test(none_after_a_failure),
                                     cmocka_unit_test(none_after_a_restore),
                                     cmocka_unit_test(groups_and_blocks_have_names),
                                     cmocka_unit_test(blocks_of_joints)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
