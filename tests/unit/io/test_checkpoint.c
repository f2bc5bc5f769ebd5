// SPDX-License-Identifier: Apache-2.0
// Checkpoints: what goes in comes out, a damaged file is told from a good one, and the old one is
// never lost.
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "command.h"
#include "core/hash.h"
#include "io/io.h"
#include "runs.h"

static char snapshot[300];
static CnSetting settings[] = {{"spheres", 50}, {"mu", 0.25}};

static int begin(void **state) {
  (void)state;
  test_folder_make();
  for (size_t i = 0; i < sizeof snapshot; i++) snapshot[i] = (char)(i * 37);
  return 0;
}

static int end(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

static CnCheckpoint sample(void) {
  return (CnCheckpoint){.snapshot = snapshot,
                        .snapshot_size = sizeof snapshot,
                        .scene_text = "{\"title\": \"\\u00e9\"}",
                        .scene_label = "scenes/a.json",
                        .settings = settings,
                        .setting_count = 2,
                        .frames_per_second = 60,
                        .end_time = 2.5,
                        .step = 123456789012,
                        .run_path = "/data/run.h5",
                        .allocator = cn_allocator_default()};
}

static void check_sample(const CnCheckpoint *c) {
  CHECK(c->snapshot_size == sizeof snapshot && c->setting_count == 2);
  assert_memory_equal(c->snapshot, snapshot, sizeof snapshot);
  assert_string_equal(c->scene_text, "{\"title\": \"\\u00e9\"}");
  assert_string_equal(c->scene_label, "scenes/a.json");
  assert_string_equal(c->settings[0].key, "spheres");
  assert_string_equal(c->settings[1].key, "mu");
  CHECK_NEAR(c->settings[1].value, 0.25, 0);
  CHECK_NEAR(c->frames_per_second, 60, 0);
  CHECK_NEAR(c->end_time, 2.5, 0);
  CHECK(c->step == 123456789012);
  assert_string_equal(c->run_path, "/data/run.h5");
}

static char *bytes_of(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size);
  CHECK(fread(bytes, 1, *size, file) == *size);
  fclose(file);
  return bytes;
}

static void put_bytes(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  CHECK(fwrite(bytes, 1, size, file) == size);
  fclose(file);
}

static void round_trip(void **state) {
  (void)state;
  const char *path = test_path("a.ckp");
  CnCheckpoint c = sample(), back;
  CHECK_OK(cn_checkpoint_write(path, &c));
  CHECK_OK(cn_checkpoint_read(path, NULL, &back));
  check_sample(&back);
  cn_checkpoint_release(&back);
  CHECK(back.snapshot == NULL);
  CHECK(!test_exists(test_path("a.ckp.partial")));
  // the least there can be
  CnCheckpoint least = {.scene_text = "", .scene_label = ""};
  CHECK_OK(cn_checkpoint_write(path, &least));
  CHECK_OK(cn_checkpoint_read(path, NULL, &back));
  CHECK(back.run_path == NULL && back.setting_count == 0 && back.snapshot_size == 0);
  assert_string_equal(back.scene_text, "");
  cn_checkpoint_release(&back);
}

// The world goes on with the same bits.
static void world(void **state) {
  (void)state;
  const char *path = test_path("world.ckp");
  TestRun t;
  test_run_begin(&t, "none");
  for (int i = 0; i < 50; i++) CHECK_OK(cn_world_step(t.world, NULL));
  CnCheckpoint c = sample(), back;
  CHECK_OK(cn_world_save(t.world, NULL, 0, &c.snapshot_size));
  c.snapshot = malloc(c.snapshot_size);
  CHECK_OK(cn_world_save(t.world, c.snapshot, c.snapshot_size, &c.snapshot_size));
  CHECK_OK(cn_checkpoint_write(path, &c));
  free(c.snapshot);
  for (int i = 0; i < 50; i++) CHECK_OK(cn_world_step(t.world, NULL));
  uint64_t hash = cn_world_hash(t.world);
  test_run_end(&t);
  test_run_begin(&t, "none");
  CHECK_OK(cn_checkpoint_read(path, NULL, &back));
  CHECK_OK(cn_world_restore(t.world, back.snapshot, back.snapshot_size));
  cn_checkpoint_release(&back);
  for (int i = 0; i < 50; i++) CHECK_OK(cn_world_step(t.world, NULL));
  CHECK(cn_world_hash(t.world) == hash);
  test_run_end(&t);
}

static void check_refused(const char *path, const char *why) {
  CnCheckpoint back;
  CHECK_STATUS(cn_checkpoint_read(path, NULL, &back), CN_INVALID_DATA);
  CHECK(strstr(cn_error_message(), path) && !strchr(cn_error_message(), '\n'));
  if (why) CHECK(strstr(cn_error_message(), why) != NULL);
  CHECK(back.snapshot == NULL && back.scene_text == NULL);
  cn_checkpoint_release(&back);
}

static void damaged(void **state) {
  (void)state;
  const char *good = test_path("good.ckp"), *path = test_path("bad.ckp");
  CnCheckpoint c = sample();
  CHECK_OK(cn_checkpoint_write(good, &c));
  size_t size;
  char *bytes = bytes_of(good, &size);
  // every byte changed, every length cut to
  for (size_t i = 0; i < size; i++) {
    bytes[i] = (char)(bytes[i] ^ (1 << (i % 8)));
    put_bytes(path, bytes, size);
    check_refused(path, i < 8 ? "no checkpoint" : i < 16 ? "version" : "damaged");
    bytes[i] = (char)(bytes[i] ^ (1 << (i % 8)));
  }
  for (size_t length = 0; length < size; length += 1 + length / 20) {
    put_bytes(path, bytes, length);
    check_refused(path, length < 8 ? "no checkpoint" : "damaged");
  }
  char *longer = calloc(1, size + 1);
  memcpy(longer, bytes, size);
  put_bytes(path, longer, size + 1);
  check_refused(path, "damaged");
  free(longer);
  free(bytes);
  put_bytes(path, "{\"title\": \"a scene\"}", 20);
  check_refused(path, "no checkpoint");
  CnCheckpoint back;
  CHECK_STATUS(cn_checkpoint_read(test_path("none"), NULL, &back), CN_FILE);
  CHECK(strstr(cn_error_message(), "No such file") != NULL);
  CHECK_STATUS(cn_checkpoint_read(test_path("."), NULL, &back), CN_FILE);
}

// No room, no permission, no folder: the old file is as it was.
static void old_one_stays(void **state) {
  (void)state;
  const char *path = test_path("a.ckp"), *partial = test_path("a.ckp.partial");
  CnCheckpoint c = sample(), back;
  CHECK_OK(cn_checkpoint_write(path, &c));
  static char large[200000];
  CnCheckpoint next = c;
  next.step = 7;
  next.snapshot = large;
  next.snapshot_size = sizeof large;
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, now;
  CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  for (rlim_t limit = 0; limit <= 190000; limit += 19000) {
    now = before;
    now.rlim_cur = limit;
    CHECK(setrlimit(RLIMIT_FSIZE, &now) == 0);
    CnStatus status = cn_checkpoint_write(path, &next);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_FAILED(status, CN_FILE);
    CHECK(strstr(cn_error_message(), "File too large") && strstr(cn_error_message(), path));
    CHECK(!test_exists(partial));
    CHECK_OK(cn_checkpoint_read(path, NULL, &back));
    check_sample(&back);
    cn_checkpoint_release(&back);
  }
  CHECK_OK(cn_checkpoint_write(path, &next));
  CHECK_OK(cn_checkpoint_read(path, NULL, &back));
  CHECK(back.step == 7);
  cn_checkpoint_release(&back);
  CHECK_STATUS(cn_checkpoint_write(test_path("no/folder/a.ckp"), &c), CN_FILE);
  // a place taken by a folder
  const char *folder = test_path("folder");
  CHECK(mkdir(folder, 0777) == 0);
  CHECK_STATUS(cn_checkpoint_write(folder, &c), CN_FILE);
  CHECK(!test_exists(test_path("folder.partial")));
}

static void memory(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  const char *path = test_path("a.ckp");
  CnCheckpoint c = sample(), back;
  c.allocator = hook;
  for (int n = 1;; n++) {
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cn_checkpoint_write(path, &c);
    if (!alloc.failed_count) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
    test_alloc_check_clean(&alloc);
  }
  for (int n = 1;; n++) {
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cn_checkpoint_read(path, &hook, &back);
    if (!alloc.failed_count) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
    test_alloc_check_clean(&alloc);
  }
  check_sample(&back);
  cn_checkpoint_release(&back);
  cn_checkpoint_release(&back);
  test_alloc_check_clean(&alloc);
}

// A checksum finds damage, not malice: whoever can compute it may write any number anywhere.
static void malicious(void **state) {
  (void)state;
  static const uint64_t odd[] = {0,          1,         0x7fffffff,         UINT32_MAX,
                                 UINT64_MAX, INT64_MAX, 0xfff0000000000000, 0x7ff8000000000000};
  const char *path = test_path("bad.ck");
  CnCheckpoint c = sample();
  CHECK_OK(cn_checkpoint_write(path, &c));
  size_t size, refused = 0;
  char *bytes = file_bytes(path, &size), *bad = malloc(size);
  for (size_t at = 32; at + 8 <= size; at++)
    for (size_t k = 0; k < sizeof odd / sizeof odd[0]; k++) {
      TestAlloc alloc;
      test_alloc_init(&alloc);
      CnAllocator allocator = test_alloc_hook(&alloc);
      memcpy(bad, bytes, size);
      for (int i = 0; i < 8; i++) bad[at + (size_t)i] = (char)(odd[k] >> (8 * i));
      uint64_t hash = cni_hash_bytes(CNI_HASH_START, bad + 32, size - 32);
      for (int i = 0; i < 8; i++) bad[24 + i] = (char)(hash >> (8 * i));
      put_bytes(path, bad, size);
      CnStatus status = cn_checkpoint_read(path, &allocator, &c);
      CHECK(status == CN_OK || status == CN_INVALID_DATA);
      refused += status != CN_OK;
      if (status == CN_OK) CHECK(c.step >= 0 && c.end_time >= 0 && isfinite(c.end_time));
      cn_checkpoint_release(&c);
      test_alloc_check_clean(&alloc);
      CHECK(alloc.peak_bytes < 10 * size + 10000);
    }
  CHECK(refused > 100);
  free(bytes);
  free(bad);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(round_trip, begin, end),
      cmocka_unit_test_setup_teardown(world, begin, end),
      cmocka_unit_test_setup_teardown(damaged, begin, end),
      cmocka_unit_test_setup_teardown(old_one_stays, begin, end),
      cmocka_unit_test_setup_teardown(memory, begin, end),
      cmocka_unit_test_setup_teardown(malicious, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
