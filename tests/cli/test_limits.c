// SPDX-License-Identifier: Apache-2.0
// The command where memory and disks end: under a dozen limits of address space, from hardly enough
// to start to plenty, every command is done or ends with one line; where a file cannot be written
// what was there before stays as it was.
#include "cli_case.h"

#include <unistd.h>

#include "core/assert.h"

#define MEGABYTE ((int64_t)1 << 20)
#ifdef CNI_CHECKED
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static void make_files(CliCase *c) {
  cairn_status(c,
               "run granular --set spheres=300 --steps 20 --iters 5 --fps 400 --record contacts "
               "--out good.h5 --checkpoint good.ck --dump-problems problems --dump-every 20 -q",
               0);
}

// The least under which the program starts at all.
static int64_t least_memory(CliCase *c) {
  for (int64_t limit = 4 * MEGABYTE; limit < 400 * MEGABYTE; limit += MEGABYTE) {
    c->command.memory_limit = limit;
    if (cairn(c, "--version") == 0) return limit;
  }
  fail_msg("the command does not start");
  return 0;
}

static const char *const commands[] = {
    "run granular --set spheres=300 --steps 3 --iters 5 -q",
    "run bouncing-ball --steps 5 --integrator moreau-jean -q",
    "run bouncing-ball --time 0.1 --integrator hem5 -q",
    "run joints --steps 2 -q",
    "run granular --set spheres=300 --steps 3 --iters 5 --out o.h5 --force --checkpoint o.ck -q",
    "run --resume good.ck --steps 22 -q",
    "run granular --set spheres=100 --steps 1 --dump-problems o.dump --force -q",
    "solve problems/step-000020.hdf5",
    "solve problems/step-000020.hdf5 --solver ipm --json",
    "check granular",
    "check joints",
    "info good.h5",
    "info good.ck",
    "info granular --json",
    "report good.h5 -o o.html",
    "report granular -o o.html",
    "export good.h5 --to csv -o o.csv",
    "export good.h5 --to xdmf -o o.xdmf",
    "scenes",
    "solvers --json",
    "integrators",
    "help run",
    "man",
};

static void low_memory(void **state) {
  if (SANITIZED) skip(); // sanitizers take terabytes of addresses for themselves
  CliCase *c = *state;
  static const int64_t more[] = {0, 1, 2, 3, 4, 6, 8, 12, 20, 40, 100, 1000};
  int32_t done = 0, told = 0;
  make_files(c);
  int64_t least = least_memory(c);
  for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
    int enough = 0; // more than enough is tried once
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
      if (enough > 2 && more[i] < 1000) continue;
      int64_t limit = c->command.memory_limit = least + more[i] * MEGABYTE;
      int status = cairn(c, commands[k]), lines = line_count(c->command.err);
      enough += status == 0;
      if (status == 0) done++;
      if (status == 1) told++;
      if (status > 1 || (status == 1 && lines != 1) || (status != 0 && more[i] == 1000))
        fail_msg("cairn %s, %lld MB: status %d, %d lines: %s", commands[k],
                 (long long)(limit / MEGABYTE), status, lines, c->command.err);
      c->command.memory_limit = 0;
      if (file_exists(scratch_file(&c->scratch, "o.h5"))) cairn_status(c, "info o.h5", 0);
      unlink(scratch_file(&c->scratch, "o.h5"));
    }
  }
  print_message("from %lld MB on: %d done, %d with one line\n", (long long)(least / MEGABYTE), done,
                told);
  CHECK(done > 60 && told > 5);
}

// Every command that writes a file, onto one that is there.
static void full_disks(void **state) {
  CliCase *c = *state;
  static const struct {
    const char *line, *file;
  } writers[] = {
      {"run granular --set spheres=300 --steps 20 --fps 0 --out good.h5 --force -q", "good.h5"},
      {"run granular --set spheres=300 --steps 20 --checkpoint good.ck -q", "good.ck"},
      {"run granular --set spheres=200 --steps 20 --dump-problems problems --dump-every 20 --force "
       "-q",
       "problems/step-000020.hdf5"},
      {"report good.h5 -o page.html", "page.html"},
      {"export good.h5 --to csv -o tables", "tables/bodies.csv"},
      {"export good.h5 --to xdmf -o good.xdmf", "good.xdmf"},
  };
  make_files(c);
  cairn_status(c, "report good.h5 -o page.html", 0);
  cairn_status(c, "export good.h5 --to csv -o tables", 0);
  cairn_status(c, "export good.h5 --to xdmf -o good.xdmf", 0);
  for (size_t k = 0; k < sizeof writers / sizeof writers[0]; k++)
    for (int64_t limit = 1; limit <= 4096; limit *= 16) {
      const char *path = scratch_file(&c->scratch, writers[k].file);
      size_t before_size, after_size;
      char *before = file_bytes(path, &before_size);
      CHECK(before_size > 0);
      c->command.file_limit = limit;
      int status = cairn(c, writers[k].line);
      c->command.file_limit = 0;
      char *after = file_bytes(path, &after_size);
      int same = before_size == after_size && memcmp(before, after, before_size) == 0;
      // standard error is a file too, and may be full
      if (status != 1 || line_count(c->command.err) > 1 || !same)
        fail_msg("%s, files up to %lld bytes: status %d, %s: %s", writers[k].line, (long long)limit,
                 status, same ? "the old one stayed" : "the old one is lost", c->command.err);
      free(before);
      free(after);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {CLI_TEST(low_memory), CLI_TEST(full_disks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
