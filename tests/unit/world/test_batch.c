// SPDX-License-Identifier: Apache-2.0
// Many worlds by one call: each with the bits it would have alone, whatever the number of workers.
#include "check.h"
#include "toys.h"

#include <cairn/batch.h>
#include <math.h>

#define WORLDS 9

// A cart with a motor on a floor, and a ball.
static CnWorld *prototype(CnJointId *wheel) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 5e-3;
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  CnBodyId box = toy_box(w, cn_vec3(0.2, 0.1, 0.1), cn_vec3(0, 0, 0.5), CN_QUAT_ONE);
  toy_ball(w, 0.1, cn_vec3(1, 0, 0.3), (CnMaterialId){0, 0});
  CnJointDef joint = cn_joint_def_default(CN_JOINT_REVOLUTE);
  joint.body_b = box;
  joint.axes[0].motor_effort = 100;
  CHECK_OK(cn_joint_def_along(w, cn_vec3(0, 0, 0.5), cn_vec3(0, 1, 0), &joint));
  CHECK_OK(cn_joint_create(w, &joint, wheel));
  return w;
}

static void test_as_alone(void **state) {
  (void)state;
  CnJointId wheel;
  CnWorld *w = prototype(&wheel);
  double speed[WORLDS];
  uint64_t hash[2][WORLDS];
  for (int i = 0; i < WORLDS; i++) speed[i] = 0.5 * i - 1;
  for (int workers = 1; workers <= 2; workers++) {
    CnBatch *batch;
    CnControl control = {wheel, 0, CN_CONTROL_SPEED};
    CHECK_OK(cn_batch_create(w, WORLDS, workers, &batch));
    CHECK_OK(cn_batch_set_controls(batch, &control, 1));
    CHECK_OK(cn_batch_step(batch, 50, speed, NULL));
    double rate[WORLDS];
    CHECK_OK(cn_batch_get_joints(batch, NULL, rate));
    for (int i = 0; i < WORLDS; i++) {
      hash[workers - 1][i] = cn_world_hash(cn_batch_world(batch, i));
      CHECK_NEAR(rate[i], speed[i], 1e-9);
    }
    cn_batch_destroy(batch);
  }
  for (int i = 0; i < WORLDS; i++) {
    CnWorld *alone;
    CnJointDef def;
    CHECK_OK(cn_world_copy(w, &alone));
    CHECK_OK(cn_joint_def(alone, wheel, &def));
    def.axes[0].motor_speed = speed[i];
    CHECK_OK(cn_joint_set(alone, wheel, &def));
    toy_steps(alone, 50);
    CHECK(cn_world_hash(alone) == hash[0][i] && hash[0][i] == hash[1][i]);
    cn_world_destroy(alone);
  }
  cn_world_destroy(w);
}

static void test_states_and_resets(void **state) {
  (void)state;
  CnJointId wheel;
  CnWorld *w = prototype(&wheel);
  CnBatch *batch;
  CnPose poses[3 * WORLDS];
  CnTwist twists[3 * WORLDS];
  uint8_t mask[WORLDS] = {0, 1, 1};
  uint64_t start = cn_world_hash(w);
  CHECK_OK(cn_batch_create(w, WORLDS, 2, &batch));
  CHECK(cn_batch_count(batch) == WORLDS && !cn_batch_world(batch, WORLDS));
  CHECK_OK(cn_batch_step(batch, 5, NULL, NULL));
  CHECK_OK(cn_batch_get_state(batch, poses, twists, 3 * WORLDS));
  CHECK_STATUS(cn_batch_get_state(batch, poses, twists, 3 * WORLDS - 1), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_batch_reset(batch, mask, NULL, 0));
  CHECK(cn_world_hash(cn_batch_world(batch, 1)) == start);
  CHECK(cn_world_hash(cn_batch_world(batch, 0)) != start);
  CHECK_OK(cn_batch_set_state(batch, poses, twists, NULL));
  CHECK(cn_world_hash(cn_batch_world(batch, 1)) == cn_world_hash(cn_batch_world(batch, 0)));
  CHECK_STATUS(cn_batch_reset(batch, NULL, "nonsense", 8), CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), "not a snapshot");
  // of another model
  char snapshot[100000];
  size_t size;
  uint64_t before = cn_world_hash(cn_batch_world(batch, 1));
  toy_ball(w, 0.1, cn_vec3(5, 0, 0.3), (CnMaterialId){0, 0});
  CHECK_OK(cn_world_save(w, snapshot, sizeof snapshot, &size));
  CHECK_STATUS(cn_batch_reset(batch, NULL, snapshot, size), CN_INVALID_DATA);
  CHECK_TEXT(cn_error_message(), "of another model: 4 bodies");
  CHECK(cn_world_hash(cn_batch_world(batch, 1)) == before);
  CHECK_OK(cn_world_save(cn_batch_world(batch, 1), snapshot, sizeof snapshot, &size));
  CHECK_OK(cn_batch_reset(batch, NULL, snapshot, size));
  CHECK(cn_world_hash(cn_batch_world(batch, 8)) == before);
  cn_batch_destroy(batch);
  cn_world_destroy(w);
}

// What a motor would not hear is refused.
static void test_deaf_motors(void **state) {
  (void)state;
  CnJointId wheel;
  CnWorld *w = prototype(&wheel);
  CnBatch *batch;
  CnJointDef def;
  CnControl speed = {wheel, 0, CN_CONTROL_SPEED}, position = {wheel, 0, CN_CONTROL_POSITION};
  CnControl both[] = {speed, {wheel, 0, CN_CONTROL_EFFORT}};
  CHECK_OK(cn_batch_create(w, 2, 1, &batch));
  CHECK_STATUS(cn_batch_set_controls(batch, &position, 1), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "no motor that keeps a position");
  cn_batch_destroy(batch);
  CHECK_OK(cn_joint_def(w, wheel, &def));
  def.axes[0].motor_effort = 0;
  CHECK_OK(cn_joint_set(w, wheel, &def));
  CHECK_OK(cn_batch_create(w, 2, 1, &batch));
  CHECK_STATUS(cn_batch_set_controls(batch, &speed, 1), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "no motor that keeps a speed");
  CHECK_OK(cn_batch_set_controls(batch, both, 2));
  cn_batch_destroy(batch);
  cn_world_destroy(w);
}

// One world fails: it stays, the others go on.
static void test_failures(void **state) {
  (void)state;
  CnJointId wheel;
  CnWorld *w = prototype(&wheel);
  CnBatch *batch;
  double speed[WORLDS] = {0};
  CnStatus status[WORLDS];
  CnControl control = {wheel, 0, CN_CONTROL_SPEED}, wrong = {wheel, 1, CN_CONTROL_SPEED};
  CHECK_OK(cn_batch_create(w, WORLDS, 2, &batch));
  CHECK_OK(cn_batch_set_controls(batch, &control, 1));
  CHECK_STATUS(cn_batch_set_controls(batch, &wrong, 1), CN_INVALID_ARGUMENT);
  speed[4] = NAN;
  CHECK_STATUS(cn_batch_step(batch, 3, speed, status), CN_INVALID_ARGUMENT);
  CHECK_TEXT(cn_error_message(), "world 4 of 9");
  for (int i = 0; i < WORLDS; i++) {
    CnWorldInfo info;
    cn_world_info(cn_batch_world(batch, i), &info);
    CHECK(info.step == (i == 4 ? 0 : 3) && (status[i] == CN_OK) == (i != 4));
  }
  CnBatch *none;
  CHECK_STATUS(cn_batch_create(w, 0, 1, &none), CN_INVALID_ARGUMENT);
  CHECK(none == NULL);
  cn_batch_destroy(batch);
  cn_batch_destroy(NULL);
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_as_alone),
      cmocka_unit_test(test_states_and_resets),
      cmocka_unit_test(test_deaf_motors),
      cmocka_unit_test(test_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
