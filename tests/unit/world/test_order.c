// SPDX-License-Identifier: Apache-2.0
// Bodies put in order along space while the world runs: ids, bits, workers and snapshots do not
// notice, and contacts keep their impulses.
#include "check.h"
#include "toys.h"
#include "world/world.h"

#include <stdlib.h>

// 900 balls, built in an order that has nothing to do with space, some with a second shape, in
// pairs joined by rods here and there.
static CnWorld *muddle(int32_t workers) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = 5e-3;
  def.solver.max_iterations = 15;
  def.worker_count = workers;
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  CnBodyId last = {0, 0};
  for (int i = 0; i < 900; i++) {
    int k = (i * 577) % 900;
    CnVec3 at = {0.1005 * (k % 30), 0.1005 * (k / 30 % 10), 0.051 + 0.1005 * (k / 300)};
    CnBodyId ball = toy_ball(w, 0.05, at, (CnMaterialId){0, 0});
    if (i % 50 == 0) {
      CnShapeDef bump = cn_shape_def_default(CN_SHAPE_SPHERE);
      CnShapeId shape;
      bump.radius = 0.02;
      bump.pose.position = cn_vec3(0, 0, 0.04);
      CHECK_OK(cn_shape_create(w, ball, &bump, &shape));
    }
    if (i % 90 == 1) {
      CnJointDef rod = cn_joint_def_default(CN_JOINT_DISTANCE);
      CnJointId joint;
      rod.body_a = last;
      rod.body_b = ball;
      CHECK_OK(cn_joint_create(w, &rod, &joint));
    }
    last = ball;
  }
  return w;
}

// How far apart the bodies of contacts are in memory, mean.
static double spread(const CnWorld *w) {
  const CniModel *model = &w->now.model;
  double sum = 0;
  int32_t n = 0;
  for (int32_t i = 0; i < w->now.contacts.count; i++) {
    CnContact c;
    int32_t a, b;
    CHECK_OK(cn_world_contact(w, i, &c));
    CHECK_OK(cni_model_find_body(model, c.body_a, &a));
    CHECK_OK(cni_model_find_body(model, c.body_b, &b));
    if (!cni_has_mass(&model->mass[a]) || !cni_has_mass(&model->mass[b])) continue;
    sum += abs(a - b);
    n++;
  }
  CHECK(n > 500);
  return sum / n;
}

static void test_neighbours(void **state) {
  (void)state;
  CnWorld *w = muddle(1);
  CnBodyId first = cn_world_next_body(w, (CnBodyId){0, 0});
  toy_steps(w, 1);
  // a slab has 60 bodies: most partners are in it or in the next
  CHECK(spread(w) < 60);
  CHECK_OK(cni_model_consistent(&w->now.model));
  // the floor comes first, the balls have moved; outside nothing has changed
  CHECK(w->now.model.bodies[0].slot == first.slot);
  int32_t moved = 0;
  for (int32_t i = 0; i < w->now.model.body_count; i++)
    moved += w->now.model.bodies[i].slot != (uint32_t)i + 1;
  CHECK(moved > 800);
  CHECK(cn_world_next_body(w, (CnBodyId){0, 0}).slot == first.slot);
  cn_world_destroy(w);
}

// More bodies lie in columns: hardly a contact reaches further than to the next slab and the next row.
static void test_columns(void **state) {
  (void)state;
  CnWorldDef def = cn_world_def_default();
  def.solver.max_iterations = 1;
  CnWorld *w = toy_world_from(&def);
  toy_floor(w);
  enum { SIDE = 18, COUNT = SIDE * SIDE * SIDE };
  for (int i = 0; i < COUNT; i++) {
    int k = (int)(i * 2971LL % COUNT);
    CnVec3 at = {0.11 * (k % SIDE), 0.1 * (k / SIDE % SIDE), 0.05 + 0.1 * (k / SIDE / SIDE)};
    toy_ball(w, 0.0505 + 0.005 * (i % 2), at, (CnMaterialId){0, 0});
  }
  toy_steps(w, 2);
  const CniModel *model = &w->now.model;
  CniCuts cuts = cni_cuts_aim(COUNT);
  CHECK(cuts.slabs == 4 && cuts.rows == 4);
  int32_t far = 0, across = 0, n = 0;
  for (int32_t i = 0; i < w->now.contacts.count; i++) {
    CnContact c;
    int32_t a, b;
    CHECK_OK(cn_world_contact(w, i, &c));
    CHECK_OK(cni_model_find_body(model, c.body_a, &a));
    CHECK_OK(cni_model_find_body(model, c.body_b, &b));
    if (a == 0 || b == 0) continue; // the floor
    int32_t column[2] = {(a - 1) * 16 / COUNT, (b - 1) * 16 / COUNT};
    int32_t slabs = abs(column[0] / 4 - column[1] / 4), rows = abs(column[0] % 4 - column[1] % 4);
    far += slabs > 1 || rows > 1;
    across += rows > 0;
    n++;
  }
  CHECK(n > 3 * COUNT / 2);
  CHECK(far == 0);
  // about half the contacts are along y, and one in four or five of these crosses from a row to the next
  CHECK(across > n / 30 && across < n / 8);
  cn_world_destroy(w);
}

static void test_bits(void **state) {
  (void)state;
  uint64_t hash = 0;
  for (int32_t workers = 1; workers <= 3; workers++) {
    CnWorld *w = muddle(workers);
    toy_steps(w, 70);
    if (workers == 1) hash = cn_world_hash(w);
    CHECK(cn_world_hash(w) == hash);
    cn_world_destroy(w);
  }
}

// Saved and restored before, between and after changes of order; bodies destroyed on the way make
// the order worse, so that the change at step 64 takes place.
static uint64_t saved_run(const int *at, int count) {
  static unsigned char data[1 << 20];
  CnWorld *w = muddle(1);
  int next = 0;
  for (int step = 0; step < 70; step++) {
    if (step == 40) {
      CnBodyId body = cn_world_next_body(w, (CnBodyId){0, 0});
      for (int i = 0; body.slot != 0; i++) {
        CnBodyId after = cn_world_next_body(w, body);
        if (i % 3 == 1) CHECK_OK(cn_body_destroy(w, body));
        body = after;
      }
    }
    if (next < count && at[next] == step) {
      size_t size;
      CHECK_OK(cn_world_save(w, data, sizeof data, &size));
      CnWorld *other = toy_world(1);
      CHECK_OK(cn_world_restore(other, data, size));
      cn_world_destroy(w);
      w = other;
      next++;
    }
    toy_steps(w, 1);
  }
  CHECK(next == count);
  uint64_t hash = cn_world_hash(w);
  cn_world_destroy(w);
  return hash;
}

static void test_restored(void **state) {
  (void)state;
  static const int steps[] = {0, 1, 2, 39, 40, 41, 63, 64, 65};
  uint64_t hash = saved_run(steps, 0);
  CHECK(saved_run(steps, 9) == hash);
  for (int i = 0; i < 9; i += 2) CHECK(saved_run(steps + i, 1) == hash);
}

// A change of order between two steps of a pile at rest begins and ends nothing that touches.
static void test_contacts_last(void **state) {
  (void)state;
  CnWorld *w = muddle(1);
  toy_steps(w, 62);
  for (int i = 0; i < 2; i++) {
    CniModel *model = &w->now.model;
    CnWorldInfo info;
    cn_world_info(w, &info);
    CHECK(info.contact_count > 500);
    // the other way round
    int32_t *order = malloc((size_t)model->body_count * sizeof *order);
    void *scratch = aligned_alloc(64, (cni_model_reorder_bytes(model) + 63) / 64 * 64);
    CHECK(order && scratch);
    for (int32_t k = 0; k < model->body_count; k++) order[k] = model->body_count - 1 - k;
    w->work.order_scratch = scratch;
    CnContact before, after;
    CHECK_OK(cn_world_contact(w, 77, &before));
    cni_order_apply(w, order);
    CHECK_OK(cn_world_contact(w, 77, &after));
    CHECK(before.body_a.slot == after.body_a.slot && before.shape_b.slot == after.shape_b.slot);
    free(order);
    free(scratch);
    toy_steps(w, 1);
    const CnContactEvent *events;
    int32_t count;
    cn_world_events(w, &events, &count);
    CHECK(count < info.contact_count / 20);
    CnStepReport report;
    CHECK_OK(cn_world_step(w, &report));
  }
  cn_world_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_neighbours),    cmocka_unit_test(test_columns),
      cmocka_unit_test(test_bits),          cmocka_unit_test(test_restored),
      cmocka_unit_test(test_contacts_last),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
