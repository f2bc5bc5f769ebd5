// SPDX-License-Identifier: Apache-2.0
// Contacts in the events of a run: begun with the first impulse, ended when the shapes are apart. A ball whose bounces
// get lower tells those above the margin of contacts; a pile at rest does not flood the list, and tells
// what a plain account of its contacts tells; a run resumed in the middle of that tells the same.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "io/run/run_private.h"
#include "runs.h"

typedef struct Recorded {
  CnScene *scene;
  CnWorld *world;
  CniRunWriterDef def;
  CniRunWriter *writer;
} Recorded;

static int begin_folder(void **state) {
  (void)state;
  test_folder_make();
  return 0;
}

static int end_folder(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

static void begin(Recorded *r, const char *text, const char *path) {
  memset(r, 0, sizeof *r);
  CHECK_OK(cn_scene_parse(text, strlen(text), "scene", NULL, 0, NULL, &r->scene));
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(r->scene, &def);
  CHECK_OK(cn_world_create(&def, &r->world));
  CHECK_OK(cn_scene_fill(r->scene, r->world));
  r->def = (CniRunWriterDef){.path = path, .scene = r->scene, .frames_per_second = 10};
}

static void steps(Recorded *r, int count) {
  for (int i = 0; i < count; i++) {
    CnStepReport report;
    CHECK_OK(cn_world_step(r->world, &report));
    CHECK_OK(cni_run_writer_step(r->writer, r->world, &report));
  }
}

static void end(Recorded *r) {
  CHECK_OK(cni_run_writer_close(r->writer));
  cn_world_destroy(r->world);
  cn_scene_destroy(r->scene);
}

static int64_t read_events(const char *path, CnRunEvent *events, int64_t most) {
  CnRun *run;
  CnRunInfo info;
  CHECK_OK(cn_run_open(path, NULL, &run));
  cn_run_info(run, &info);
  CHECK(info.event_count <= most);
  CHECK_OK(cn_run_events(run, 0, info.event_count, events));
  cn_run_close(run);
  return info.event_count;
}

// From .3 m with e = .5: up to .075, .0187, .0047, .0012 and .0003 m; the margin of contacts is 2 h sqrt(g r), .001 m.
static void bounces(void **state) {
  (void)state;
  static const char text[] =
      "{\"settings\": {\"time_step\": 0.0005},"
      " \"materials\": {\"rubber\": {\"restitution\": 0.5}},"
      " \"bodies\": [{\"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\"}]},"
      "  {\"position\": [0, 0, 0.4], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1,"
      "   \"material\": \"rubber\"}]}]}";
  const double g = 9.81, fall = sqrt(2 * 0.3 / g); // flights of e fall, e^2 fall there and back
  Recorded r;
  CnRunEvent e[20];
  begin(&r, text, test_path("ball.h5"));
  CHECK_OK(cni_run_writer_create(&r.def, r.world, &r.writer));
  steps(&r, 2000);
  end(&r);
  CHECK(read_events(test_path("ball.h5"), e, 20) == 9);
  for (int i = 0; i < 9; i++)
    CHECK(e[i].kind == (i % 2 ? CN_CONTACT_ENDED : CN_CONTACT_BEGAN) && !e[i].located);
  CHECK_NEAR(e[0].time, fall, 2e-3);
  CHECK_NEAR(e[2].time, fall + fall, 3e-3);
  CHECK_NEAR(e[4].time, fall + fall + 0.5 * fall, 4e-3);
  // apart: when the margin is passed, with the speed of the bounce
  CHECK(e[1].time > e[0].time && e[1].time - e[0].time < 0.001 / (0.5 * g * fall) + 3e-3);
}

static const char pile[] =
    "{\"settings\": {\"time_step\": 0.004, \"solver\": {\"name\": \"psor\", \"iterations\": 20}},"
    " \"seed\": 3, \"bodies\": ["
    "  {\"kind\": \"fixed\", \"shapes\": ["
    "   {\"kind\": \"plane\"},"
    "   {\"kind\": \"plane\", \"position\": [-0.2, 0, 0], \"normal\": [1, 0, 0]},"
    "   {\"kind\": \"plane\", \"position\": [0.2, 0, 0], \"normal\": [-1, 0, 0]},"
    "   {\"kind\": \"plane\", \"position\": [0, -0.2, 0], \"normal\": [0, 1, 0]},"
    "   {\"kind\": \"plane\", \"position\": [0, 0.2, 0], \"normal\": [0, -1, 0]}]},"
    "  {\"repeat\": 40, \"items\": [{\"position\": [\"=0.11*(i-3*floor(i/3)-1)+0.003*sin(7*i)\","
    "    \"=0.11*(floor(i/3)-3*floor(i/9)-1)+0.003*cos(5*i)\", \"=0.06+0.11*floor(i/9)\"],"
    "    \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.05}]}]}]}";

#define SHAPES 64

typedef struct Account {
  int touching[SHAPES][SHAPES];
  int64_t told, exact; // with and without the hysteresis
} Account;

static void account(Account *a, const CnWorld *world) {
  static int near[SHAPES][SHAPES], presses[SHAPES][SHAPES];
  const CnContactEvent *events;
  CnWorldInfo info;
  int32_t count;
  memset(near, 0, sizeof near);
  memset(presses, 0, sizeof presses);
  cn_world_info(world, &info);
  for (int32_t i = 0; i < info.contact_count; i++) {
    CnContact c;
    CHECK_OK(cn_world_contact(world, i, &c));
    CHECK(c.shape_a.slot < SHAPES && c.shape_b.slot < SHAPES);
    near[c.shape_a.slot][c.shape_b.slot] = 1;
    presses[c.shape_a.slot][c.shape_b.slot] |= cn_norm(c.force) > 0;
  }
  for (int i = 0; i < SHAPES; i++)
    for (int j = 0; j < SHAPES; j++) {
      int now = presses[i][j] || (a->touching[i][j] && near[i][j]);
      a->told += now != a->touching[i][j];
      a->touching[i][j] = now;
    }
  cn_world_events(world, &events, &count);
  a->exact += count;
}

static void no_flood(void **state) {
  (void)state;
  static Account a;
  static CnRunEvent events[20000];
  Recorded r;
  begin(&r, pile, test_path("pile.h5"));
  CHECK_OK(cni_run_writer_create(&r.def, r.world, &r.writer));
  for (int i = 0; i < 400; i++) {
    steps(&r, 1);
    account(&a, r.world);
  }
  end(&r);
  CHECK(read_events(test_path("pile.h5"), events, 20000) == a.told);
  CHECK(a.told > 100 && a.exact > 3 * a.told);
  print_message("%lld events told of %lld\n", (long long)a.told, (long long)a.exact);
}

static void resumed(void **state) {
  (void)state;
  char whole[400], path[400];
  snprintf(whole, sizeof whole, "%s", test_path("whole.h5"));
  snprintf(path, sizeof path, "%s", test_path("run.h5"));
  Recorded r;
  begin(&r, pile, whole);
  CHECK_OK(cni_run_writer_create(&r.def, r.world, &r.writer));
  steps(&r, 300);
  end(&r);
  static const int at[] = {60, 101, 177, 250};
  int32_t loose = 0;
  for (int k = 0; k < 4; k++) {
    remove(path);
    begin(&r, pile, path);
    CHECK_OK(cni_run_writer_create(&r.def, r.world, &r.writer));
    steps(&r, at[k]);
    size_t size;
    CHECK_OK(cn_world_save(r.world, NULL, 0, &size));
    void *snapshot = malloc(size);
    CHECK_OK(cn_world_save(r.world, snapshot, size, &size));
    int32_t before = r.writer->loose_count;
    steps(&r, 20);
    CHECK_OK(cni_run_writer_abandon(r.writer));
    CHECK_OK(cn_world_restore(r.world, snapshot, size));
    CHECK_OK(cni_run_writer_resume(&r.def, r.world, at[k], &r.writer));
    CHECK(r.writer->loose_count == before);
    loose += before;
    steps(&r, 300 - at[k]);
    end(&r);
    free(snapshot);
    CHECK(test_runs_equal(whole, path) > 40);
  }
  CHECK(loose > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bounces), cmocka_unit_test(no_flood),
                                     cmocka_unit_test(resumed)};
  return cmocka_run_group_tests(tests, begin_folder, end_folder);
}
