// SPDX-License-Identifier: Apache-2.0
// The command among strangers: descriptors that the caller has closed, libraries that lie in the
// working directory, several processes with one name, run files that were made to do harm.
#include "cli_case.h"

#include <signal.h>

// A shell line with $CAIRN in place of the command.
static int shell(CliCase *c, const char *line) {
  char script[2000];
  snprintf(script, sizeof script, "CAIRN=%s\n%s\n", CAIRN_COMMAND, line);
  scratch_write(&c->scratch, "script.sh", script);
  command_run(&c->command, "/bin/sh", &c->scratch, "script.sh");
  return c->command.status;
}

static void closed_descriptors(void **state) {
  CliCase *c = *state;
  static const char *const closed[] = {"2>&-", "<&- 2>&-", "<&- >/dev/null 2>&-", "<&-"};
  for (int i = 0; i < 4; i++) {
    char line[400];
    snprintf(line, sizeof line,
             "rm -f run.h5\n$CAIRN run granular --set spheres=30 --time 0.1 --out run.h5 -v %s",
             closed[i]);
    if (shell(c, line) != 0) fail_msg("%s: status %d", closed[i], c->command.status);
    cairn_status(c, "info run.h5", 0);
  }
  // what cannot be told is a failure, and the file is whole
  CHECK(shell(c,
              "rm -f run.h5\n$CAIRN run granular --set spheres=30 --time 0.1 --out run.h5 --json "
              ">&-") == 1);
  check_contains(c->command.err, "standard output: ");
  cairn_status(c, "info run.h5", 0);
  CHECK(shell(c, "$CAIRN info run.h5 <&- >&- 2>&-") == 1);
}

// The loader would take these before the system's, and fail on them.
static void libraries_beside(void **state) {
  CliCase *c = *state;
  static const char *const names[] = {"libjansson.so.4", "libm.so.6", "libc.so.6",
                                      "libhdf5_serial.so.103"};
  for (int i = 0; i < 4; i++) scratch_write(&c->scratch, names[i], "no library");
  cairn_status(c, "--version", 0);
}

// Of three that write one run at once each is refused or whole; what is there at the end is of one
// that was not refused, and nothing else stays.
static void one_run_for_many(void **state) {
  CliCase *c = *state;
  for (int round = 0; round < 3; round++) {
    int done = 0;
    shell(c, "for n in 1 2 3; do ($CAIRN run granular --set spheres=40 --time 0.2 --set seed=$n "
             "--out same.h5 --force -q 2>err$n; echo $? >status$n) & done; wait");
    for (int n = 1; n <= 3; n++) {
      char name[20], *status, *message;
      snprintf(name, sizeof name, "status%d", n);
      status = file_bytes(scratch_file(&c->scratch, name), NULL);
      snprintf(name, sizeof name, "err%d", n);
      message = file_bytes(scratch_file(&c->scratch, name), NULL);
      if (strcmp(status, "0\n") == 0)
        done++;
      else
        check_contains(message, "cairn: same.h5: is being written by another process\n");
      CHECK(line_count(message) == (strcmp(status, "0\n") != 0));
      free(status);
      free(message);
    }
    CHECK(done >= 1);
    cairn_status(c, "info same.h5", 0);
    check_contains(c->command.out, "40");
    CHECK(!file_exists(scratch_file(&c->scratch, "same.h5.partial")));
    CHECK(!file_exists(scratch_file(&c->scratch, "same.h5.lock")));
    CHECK(!file_exists(scratch_file(&c->scratch, "same.h5.new")));
  }
}

// A run that writes checkpoints keeps others from them until it ends or is killed.
static void checkpoints(void **state) {
  CliCase *c = *state;
  Command first;
  memset(&first, 0, sizeof first);
  command_start(
      &first, CAIRN_COMMAND, &c->scratch,
      "run granular --set spheres=300 --time 1000 --checkpoint ck --checkpoint-every 0 -q");
  for (int i = 0; i < 2000 && !file_exists(scratch_file(&c->scratch, "ck")); i++)
    sleep_seconds(0.01);
  cairn_status(c, "run granular --set spheres=20 --steps 3 --checkpoint ck --out x.h5 -q", 1);
  check_contains(c->command.err, "cairn: ck: is being written by another process");
  CHECK(line_count(c->command.err) == 1);
  CHECK(!file_exists(scratch_file(&c->scratch, "x.h5")));
  kill(first.pid, SIGKILL);
  command_wait(&first);
  command_release(&first);
  cairn_status(c, "info ck", 0);
  cairn_status(c, "run granular --set spheres=20 --steps 3 --checkpoint ck --out x.h5 -q", 0);
  CHECK(!file_exists(scratch_file(&c->scratch, "ck.lock")));
  // one name for both
  cairn_status(c, "run granular --set spheres=20 --steps 3 --checkpoint y --out y -q", 1);
}

// What is no file (a pipe that nobody writes to, a device without an end) holds nobody up, fills no memory, and no
// file takes its place.
static void no_files(void **state) {
  CliCase *c = *state;
  static const char *const read[] = {"run pipe",         "info pipe",    "report pipe",
                                     "check pipe",       "convert pipe", "export pipe --to csv",
                                     "run --resume pipe"};
  static const char *const named[] = {
      "{\"include\": [\"pipe\"]}",
      "{\"geometries\": {\"g\": {\"file\": \"pipe\"}}, \"bodies\": []}"};
  static const char *const written[] = {
      "report run.h5 -o pipe", "export run.h5 --to xdmf -o pipe",
      "plot run.h5 kinetic_energy -o pipe.svg",
      "run granular --set spheres=20 --steps 2 --checkpoint pipe --force"};
  CHECK(shell(c, "mkfifo pipe; ln -s pipe pipe.svg; $CAIRN run granular --set spheres=20 "
                 "--steps 2 --out run.h5 -q") == 0);
  for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
    cairn_status(c, read[i], 1);
    check_contains(c->command.err, "cairn: pipe: is no ");
    CHECK(line_count(c->command.err) == 1);
  }
  for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
    scratch_write(&c->scratch, "s.json", named[i]);
    cairn_status(c, "run s.json --steps 1", 1);
    check_contains(c->command.err, "is no file");
    CHECK(line_count(c->command.err) == 1);
  }
  for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
    cairn_status(c, written[i], 1);
    check_contains(c->command.err, ": is there already and is no file");
    CHECK(shell(c, "test -p pipe && test ! -e pipe.partial && test ! -e pipe.lock") == 0);
  }
  check_refused(c, "solve /dev/zero", 1, "/dev/zero: more than 134217728 bytes");
}

// A number of steps that nobody lives to see the end of.
static void endless(void **state) {
  CliCase *c = *state;
  check_refused(c, "run granular --time 1e300 --out run.h5", 1,
                "granular: 1e+300 s are more than 1e+12 steps of ");
  check_refused(c, "run granular --steps 1000000000001", 2, "0 .. 1000000000000");
  check_refused(c, "run granular --h 1e-15 --time 1", 1,
                "1 s are more than 1e+12 steps of 1e-15 s");
  scratch_write(&c->scratch, "s.json", "{\"settings\": {\"time\": 1e200}, \"bodies\": []}");
  check_refused(c, "run s.json", 1, "s.json: 1e+200 s are more than 1e+12 steps of ");
  CHECK(!file_exists(scratch_file(&c->scratch, "run.h5")));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(closed_descriptors, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(libraries_beside, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(one_run_for_many, cli_set_up, cli_tear_down),
      cmocka_unit_test_setup_teardown(checkpoints, cli_set_up, cli_tear_down),
      CLI_TEST(no_files),
      CLI_TEST(endless),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
