// SPDX-License-Identifier: Apache-2.0
// Assembly and its means: memory that fails, memory that is not asked for twice, workers that
// cannot be seen in the result.
#include "alloc.h"
#include "assembled.h"
#include "check.h"
#include "core/rng.h"

#include <string.h>

#define BALLS 900

// A row of spinning blocks and balls over a floor, with joints between neighbours, contacts with
// the floor and each other, and old impulses for every second contact.
static void fill(Assembled *a, int32_t count) {
  CniRng rng = {7};
  CnTwist rest = {{0, 0, 0}, {0, 0, 0}};
  int32_t floor = assembled_ground(a, CN_BODY_FIXED, rest), last = floor;
  for (int32_t i = 0; i < count; i++) {
    CnTwist twist = {{cni_rng_unit(&rng), 0, -cni_rng_unit(&rng)}, {cni_rng_unit(&rng), 2, 3}};
    CnPose pose = {{i, 0, 0.5}, {1, 0, 0, 0}};
    int32_t body = i % 2 ? assembled_ball(a, 0.5, pose.position, twist)
                         : assembled_block(a, cn_vec3(1, 2, 2.5), pose, twist);
    assembled_contact(a, floor, body, cn_vec3(i, 0, 0), cn_vec3(0, 0, 1), -1e-3);
    if (last != floor && i % 3 == 0) {
      CnJointDef def = cn_joint_def_default(i % 2 ? CN_JOINT_BALL : CN_JOINT_DISTANCE);
      CnJointId id;
      def.body_a = assembled_id(a, last);
      def.body_b = assembled_id(a, body);
      def.frame_a.position = cn_vec3(0.3, 0.1, 0);
      CHECK_OK(cni_model_add_joint(&a->model, &def, &id));
      CniJoint *joint = &a->model.joints[a->model.joint_count - 1];
      joint->impulse.locked[0] = 0.1;
      joint->impulse_step = 0.01;
    }
    last = body;
  }
  for (int32_t body = floor + 1; body < last; body++) {
    CnVec3 normal = cn_unit_or(cn_vec3(cni_rng_unit(&rng), 0.1, 1), cn_vec3(0, 0, 1));
    assembled_contact(a, body, body + 1, cn_vec3(body - 0.5, 0, 0.5), normal, 1e-3);
  }
  for (int32_t i = 0; i < a->input.contact_count; i += 2)
    assembled_old(a, i, (uint32_t)i, cn_vec3(0.1, 0.2, 0.3 + i), CN_VEC3_ZERO);
  a->input.old.time_step = 0.01;
}

static void workers_cannot_be_seen(void **state) {
  (void)state;
  static Assembled one, many;
  assembled_start(&one);
  assembled_start(&many);
  fill(&one, BALLS);
  fill(&many, BALLS);
  CnAllocator allocator = cn_allocator_default();
  CHECK_OK(cn_tasks_create(3, NULL, &allocator, &many.input.tasks));
  assembled_write(&one);
  assembled_write(&many);

  CHECK_OK(cni_problem_widen_b(one.problem));
  CHECK_OK(cni_problem_widen_b(many.problem));
  const CnProblem *p = one.problem, *q = many.problem;
  CHECK(p->block_count == q->block_count && p->row_count == q->row_count);
  CHECK(p->pair_count == q->pair_count && p->sphere_count == q->sphere_count);
  CHECK(p->block_count > 1500 && p->pair_count > 500 && p->sphere_count > 100);
  size_t rows = (size_t)p->row_count * sizeof(double);
  CHECK(memcmp(p->b, q->b, rows) == 0);
  CHECK(memcmp(one.answer.g, many.answer.g, rows) == 0);
  for (int32_t i = 0; i < p->group_count; i++) {
    const CniGroup *g = &p->groups[i], *k = &q->groups[i];
    CHECK(memcmp(g, k, sizeof *g) == 0);
    CnSym3 own = cni_group_inertia(p, i), other = cni_group_inertia(q, i);
    CHECK(memcmp(&own, &other, sizeof own) == 0);
  }
  CHECK(memcmp(p->pairs, q->pairs, (size_t)p->pair_count * sizeof *p->pairs) == 0);
  CHECK(memcmp(p->spheres, q->spheres, (size_t)p->sphere_count * sizeof *p->spheres) == 0);
  cn_tasks_destroy(many.input.tasks);
  assembled_end(&one);
  assembled_end(&many);
}

// Every allocation of the first assembly fails once: a status and an empty problem each time; once
// it has worked no more memory is asked for.
static void memory(void **state) {
  (void)state;
  static Assembled a;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  assembled_start_with(&a, &hook);
  fill(&a, 60);
  int n = 1;
  for (;; n++) {
    test_alloc_fail_at(&alloc, n);
    CnStatus status = assembled_try(&a);
    if (!alloc.failed_count) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
    CHECK(a.problem->block_count == 0 && a.problem->group_count == 0);
  }
  CHECK(n > 3);
  test_alloc_fail_never(&alloc);
  assembled_write(&a); // the arena becomes one piece
  assembled_write(&a);
  int64_t count = alloc.allocation_count;
  for (int i = 0; i < 5; i++) assembled_write(&a);
  CHECK(alloc.allocation_count == count);
  assembled_end(&a);
  test_alloc_check_clean(&alloc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(workers_cannot_be_seen),
      cmocka_unit_test(memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
