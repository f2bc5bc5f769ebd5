// SPDX-License-Identifier: Apache-2.0
// The drift along the tree is that of any joints: a robot that floats, with plane loops that lean, motors and
// feet on the floor, steps alike where its balance is asked for, which the tree leaves to the others. Motion
// and what joints carry, of least norm where they depend on each other, are those of both.
#include "check.h"

#include "assembly/tree/tree_private.h"
#include "core/vec.h"
#include "world/world.h"

#include <math.h>

#include <cairn/scene.h>

#include "source_dir.h"

#define STEPS 60

static CnWorld *spider(int balance) {
  CnWorldDef def = cn_world_def_default();
  CnScene *scene;
  CnWorld *world;
  CHECK_OK(cn_scene_open(CAIRN_SOURCE_DIR "/examples/machines/spider.json", NULL, 0, NULL, &scene));
  cn_scene_world_def(scene, &def);
  def.balance = balance;
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  cn_scene_destroy(scene);
  return world;
}

// Both begin where the first is: what a step is worth, not what many add up to.
static void follow(const CnWorld *world, CnWorld *copy) {
  static char data[1 << 20];
  size_t size;
  CHECK_OK(cn_world_save(world, data, sizeof data, &size));
  CHECK_OK(cn_world_restore(copy, data, size));
  copy->now.settings.balance = 1;
}

static void alike(void **state) {
  (void)state;
  CnWorld *a = spider(0), *b = spider(1);
  double far = 0, apart = 0, most = 0, turned = 0;
  for (int32_t n = 0; n < STEPS; n++) {
    follow(a, b);
    CHECK_OK(cn_world_step(a, NULL));
    CHECK_OK(cn_world_step(b, NULL));
    CHECK(a->drift_tree->is_tree && a->drift_tree->loops.closure.used);
    CHECK(a->drift_tree->loops.closure.lost == 36 && a->drift_tree->hold_count == 12);
    CHECK(!b->drift_tree);
    const CniModel *m = &a->now.model, *o = &b->now.model;
    for (int32_t i = 0; i < m->body_count; i++) {
      far = fmax(far, cn_norm(cn_sub(m->pose[i].position, o->pose[i].position)));
      turned = fmax(turned, cn_norm(cn_sub(m->twist[i].spin, o->twist[i].spin)));
    }
    for (int32_t i = 0; i < m->joint_count; i++) {
      const CniJoint *p = &m->joints[i], *q = &o->joints[i];
      apart = fmax(apart, cn_norm(cn_sub(p->carried, q->carried)));
      apart = fmax(apart, cn_norm(cn_sub(p->carried_turn, q->carried_turn)));
      most = fmax(most, cn_norm(q->carried));
    }
  }
  print_message("%.2g m, %.2g rad/s, %.2g N s of %.3g\n", far, turned, apart, most);
  CHECK(far < 1e-11);
  CHECK(turned < 1e-7);       // 2/h of the 1e-11 rad that the others leave, of light bars
  CHECK(apart < 1e-3 * most); // shares by the joints of the middle of slightly different motions
  cn_world_destroy(a);
  cn_world_destroy(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(alike)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
