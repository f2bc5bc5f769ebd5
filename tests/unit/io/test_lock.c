// SPDX-License-Identifier: Apache-2.0
// One writer a name: the second is refused in one sentence, whatever it is that is written; a
// killed writer holds up nobody; of many who come at once exactly one gets it.
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/io.h"
#include "runs.h"

static int begin(void **state) {
  (void)state;
  test_folder_make();
  return 0;
}

static int end(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

static void check_busy(CnStatus status) {
  CHECK(status == CN_FILE);
  CHECK(strstr(cn_error_message(), ": is being written by another process") != NULL);
}

static void twice(void **state) {
  (void)state;
  CnAllocator a = cn_allocator_default();
  CniLock *one, *two;
  const char *path = test_path("name");
  CHECK_OK(cni_lock_take(path, &a, &one));
  check_busy(cni_lock_take(path, &a, &two));
  CHECK(two == NULL);
  cni_lock_release(one);
  CHECK(!test_exists(test_path("name.lock")));
  CHECK_OK(cni_lock_take(path, &a, &two));
  cni_lock_release(two);
  cni_lock_release(NULL);
  CHECK_STATUS(cni_lock_take("/nowhere/name", &a, &one), CN_FILE);
}

// A link that somebody has laid is not followed.
static void link_in_the_way(void **state) {
  (void)state;
  CnAllocator a = cn_allocator_default();
  CniOutput out;
  const char *precious = test_path("precious"), *path = test_path("out");
  FILE *file = fopen(precious, "w");
  CHECK(file && fputs("precious", file) > 0 && fclose(file) == 0);
  CHECK(symlink(precious, test_path("out.partial")) == 0);
  CHECK_OK(cni_output_open(&out, path, &a));
  cni_output_text(&out, "new");
  CHECK_OK(cni_output_close(&out));
  struct stat info;
  CHECK(stat(precious, &info) == 0 && info.st_size == 8);
  CHECK(lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 3);
}

static void outputs(void **state) {
  (void)state;
  CnAllocator a = cn_allocator_default();
  CniOutput one, two;
  const char *path = test_path("page");
  CHECK_OK(cni_output_open(&one, path, &a));
  check_busy(cni_output_open(&two, path, &a));
  cni_output_text(&one, "one");
  CHECK_OK(cni_output_close(&one));
  CHECK(test_exists(path) && !test_exists(test_path("page.partial")));
  CHECK_OK(cni_output_open(&two, path, &a));
  cni_output_discard(&two);
  CHECK(test_exists(path) && !test_exists(test_path("page.partial")));
}

static void runs(void **state) {
  (void)state;
  TestRun one, two;
  const char *path = test_path("run.h5");
  test_run_begin(&one, path);
  test_run_begin(&two, path);
  two.def.replace = one.def.replace = 1;
  for (int round = 0; round < 2; round++) { // new; over an older one
    CHECK_OK(cni_run_writer_create(&one.def, one.world, &one.writer));
    check_busy(cni_run_writer_create(&two.def, two.world, &two.writer));
    check_busy(cni_run_writer_resume(&two.def, two.world, 0, &two.writer));
    CHECK(two.writer == NULL);
    CHECK(test_exists(test_path("run.h5.partial")) == round);
    test_run_steps(&one, 5);
    CHECK_OK(cni_run_writer_close(one.writer));
    one.writer = NULL;
    CHECK(!test_exists(test_path("run.h5.partial")) && !test_exists(test_path("run.h5.new")) &&
          !test_exists(test_path("run.h5.lock")));
    test_run_end(&one);
    test_run_begin(&one, path);
    one.def.replace = 1;
  }
  test_run_end(&one);
  test_run_end(&two);
}

static void exports(void **state) {
  (void)state;
  CnAllocator a = cn_allocator_default();
  CnRun *run;
  CniLock *lock;
  CniOutput out;
  test_run_record(test_path("e.h5"), 5);
  CHECK_OK(cn_run_open(test_path("e.h5"), NULL, &run));
  CHECK_OK(cni_lock_take(test_path("e-csv"), &a, &lock));
  check_busy(cni_exports[0]->write(run, test_path("e.h5"), NULL));
  CHECK(!test_exists(test_path("e-csv")));
  cni_lock_release(lock);
  CHECK_OK(cni_exports[0]->write(run, test_path("e.h5"), NULL));
  CHECK_OK(cni_output_open(&out, test_path("e.xdmf"), &a));
  check_busy(cni_exports[1]->write(run, test_path("e.h5"), NULL));
  cni_output_discard(&out);
  CHECK_OK(cni_exports[1]->write(run, test_path("e.h5"), NULL));
  CnCheckpoint checkpoint = {.scene_text = (char[]){"{}"}, .scene_label = (char[]){"x"}};
  CHECK_OK(cni_output_open(&out, test_path("ck"), &a));
  check_busy(cn_checkpoint_write(test_path("ck"), &checkpoint));
  cni_output_discard(&out);
  CHECK_OK(cn_checkpoint_write(test_path("ck"), &checkpoint));
  cn_run_close(run);
}

// A process that is killed leaves its lock file, which holds up nobody.
static void killed(void **state) {
  (void)state;
  CnAllocator a = cn_allocator_default();
  CniLock *lock;
  CniOutput out;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    int bad = cni_lock_take(test_path("k"), &a, &lock) != CN_OK ||
              cni_output_open(&out, test_path("k"), &a) != CN_OK;
    raise(bad ? SIGTERM : SIGKILL);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  CHECK(test_exists(test_path("k.lock")) && test_exists(test_path("k.partial")));
  CHECK_OK(cni_lock_take(test_path("k"), &a, &lock));
  CHECK_OK(cni_output_open(&out, test_path("k"), &a));
  CHECK_OK(cni_output_close(&out));
  cni_lock_release(lock);
  CHECK(!test_exists(test_path("k.lock")) && !test_exists(test_path("k.partial")));
}

// Many at once, over what a killed one left: never two in the same place. Each who gets the lock
// makes a file that must not be there, and takes it away.
#define MANY 8
#define ROUNDS 200

static void race(const char *path, const char *inside) {
  CnAllocator a = cn_allocator_default();
  for (int i = 0; i < ROUNDS; i++) {
    CniLock *lock;
    if (cni_lock_take(path, &a, &lock) != CN_OK) continue;
    if (mkdir(inside, 0700) != 0 || rmdir(inside) != 0) _exit(1);
    if (i % 3 == 0) _exit(i == ROUNDS - 1 ? 0 : 2); // as if killed: nothing is released in order
    cni_lock_release(lock);
  }
  _exit(0);
}

static void many_at_once(void **state) {
  (void)state;
  const char *path = test_path("many"), *inside = test_path("inside");
  for (int round = 0; round < 10; round++) {
    pid_t children[MANY];
    for (int i = 0; i < MANY; i++) {
      children[i] = fork();
      CHECK(children[i] >= 0);
      if (children[i] == 0) race(path, inside);
    }
    for (int i = 0; i < MANY; i++) {
      int status;
      CHECK(waitpid(children[i], &status, 0) == children[i]);
      CHECK(WIFEXITED(status) && WEXITSTATUS(status) != 1);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(twice),        cmocka_unit_test(link_in_the_way), cmocka_unit_test(outputs),
      cmocka_unit_test(runs),         cmocka_unit_test(exports),         cmocka_unit_test(killed),
      cmocka_unit_test(many_at_once),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
