// SPDX-License-Identifier: Apache-2.0
// Hooks that do what they may not: the world answers with a status and stays whole.
#include "check.h"
#include "toys.h"

#include <string.h>

static const CnMaterialId no_material = {0, 0};

typedef struct Meddler {
  CnWorld *world;
  int32_t calls, refused, done;
  int32_t no_until; // pairs that it says no to first
} Meddler;

// Destroys one of the bodies that it is asked about.
static int32_t destroy(void *context, const CnWorld *world, CnShapeId a, CnShapeId b) {
  Meddler *m = context;
  CnBodyId body;
  (void)a;
  m->calls++;
  CHECK_OK(cn_shape_body(world, b, &body));
  CnStatus status = cn_body_destroy(m->world, body);
  m->refused += status == CN_BUSY;
  m->done += status == CN_OK;
  return 1;
}

static int32_t change_mind(void *context, const CnWorld *world, CnShapeId a, CnShapeId b) {
  Meddler *m = context;
  (void)world, (void)a, (void)b;
  return m->calls++ >= m->no_until;
}

static void fill(CnWorld *w, int count, double apart) {
  for (int i = 0; i < count; i++)
    toy_ball(w, 0.11, cn_vec3(apart * (i % 8), apart * (i / 8 % 8), apart * (i / 64)), no_material);
}

static void filter_destroys(void **state) {
  (void)state;
  Meddler m = {0};
  CnWorldDef def = cn_world_def_default();
  def.hooks.filter = destroy;
  def.hooks.context = &m;
  m.world = toy_world_from(&def);
  fill(m.world, 200, 0.2);
  CHECK_OK(cn_world_step(m.world, NULL));
  CHECK(m.calls > 0 && m.refused == m.calls && m.done == 0);
  m.calls = m.refused = 0;
  CnPenetration overlap;
  CHECK_OK(cn_world_penetration(m.world, &overlap));
  CHECK(m.calls > 0 && m.refused == m.calls && m.done == 0);
  CHECK(overlap.overlap_count > 0);
  CnWorldInfo info;
  cn_world_info(m.world, &info);
  CHECK(info.body_count == 200);
  CHECK_OK(cn_world_step(m.world, NULL));
  // outside it is free again
  CHECK_OK(cn_body_destroy(m.world, cn_world_next_body(m.world, (CnBodyId){0, 0})));
  cn_world_destroy(m.world);
}

// No at first, yes to everything later: by every integrator, whatever is made of it.
static void filter_changes_its_mind(void **state) {
  (void)state;
  enum { BALLS = 60 };
  for (int32_t i = 0; cn_integrator_name(i); i++) {
    for (int32_t no_until = 0; no_until <= BALLS * (BALLS - 1) / 2; no_until += 590) {
      Meddler m = {.no_until = no_until};
      CnWorldDef def = cn_world_def_default();
      def.integrator = cn_integrator_name(i);
      def.hooks.filter = change_mind;
      def.hooks.context = &m;
      CnWorld *w = toy_world_from(&def);
      for (int k = 0; k < BALLS; k++) toy_ball(w, 0.1, cn_vec3(0.201 * k, 0, 0), no_material);
      for (int step = 0; step < 2; step++) {
        m.calls = 0;
        CHECK_OK(cn_world_step(w, NULL));
      }
      cn_world_destroy(w);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(filter_destroys),
                                     cmocka_unit_test(filter_changes_its_mind)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
