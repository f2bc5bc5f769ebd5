// SPDX-License-Identifier: Apache-2.0
#include "peer.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"

// Start the program with the two files as stdin and stdout and wait for it; 1: it ended well within
// the time (s, 0: no limit).
static int run_program(const char *path, unsigned limit, FILE *input, FILE *output) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    // the alarm outlives exec, and its signal ends the program
    alarm(limit);
    if (dup2(fileno(input), STDIN_FILENO) >= 0 && dup2(fileno(output), STDOUT_FILENO) >= 0)
      execl(path, path, (char *)NULL);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 0;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

PeerOutcome peer_exchange(const char *directory, const char *name, unsigned limit,
                          int (*write)(const void *list, FILE *file), const void *list,
                          FILE **answer) {
  *answer = NULL;
  char path[4352];
  int length = snprintf(path, sizeof path, "%s/peers/%s", directory, name);
  if (length < 0 || (size_t)length >= sizeof path || access(path, X_OK) != 0)
    return PEER_NOT_INSTALLED;
  // files instead of pipes: nobody has to read while the other writes
  FILE *input = tmpfile(), *output = tmpfile();
  int ok = input && output && write(list, input);
  if (ok) {
    rewind(input);
    ok = run_program(path, limit, input, output);
    rewind(output);
  }
  if (input) fclose(input);
  if (output && !ok) fclose(output);
  if (ok) *answer = output;
  return ok ? PEER_DONE : PEER_FAILED;
}

static int write_bodies(const void *list, FILE *file) { return bodies_write(list, file); }

PeerOutcome peer_run(const char *directory, const char *name, const Bodies *bodies, char *line,
                     size_t capacity) {
  FILE *answer;
  PeerOutcome outcome = peer_exchange(directory, name, 0, write_bodies, bodies, &answer);
  if (outcome != PEER_DONE) return outcome;
  int ok = fgets(line, (int)capacity, answer) != NULL;
  fclose(answer);
  return ok ? PEER_DONE : PEER_FAILED;
}

int peer_row(Report *report, const char *directory, const char *name, const Bodies *bodies,
             double *ms_per_step) {
  static const char *const keys[] = {"ms_per_step",
                                     "ms_collision",
                                     "ms_solver",
                                     "contacts_mean",
                                     "penetration_max",
                                     "penetration_mean",
                                     "ns_per_contact_iteration"};
  *ms_per_step = NAN;
  Row *row = report_row_begin(report);
  if (!row) return 0;
  char line[2048], engine[64];
  PeerOutcome outcome = peer_run(directory, name, bodies, line, sizeof line);
  if (outcome != PEER_DONE || !json_find_text(line, "engine", engine, sizeof engine))
    snprintf(engine, sizeof engine, "%s", name);
  row_text(row, "engine", engine);
  row_number(row, "spheres", bodies->sphere_count);
  if (outcome != PEER_DONE)
    row_text(row, "status", outcome == PEER_FAILED ? "failed" : "not installed");
  for (size_t i = 0; outcome == PEER_DONE && i < sizeof keys / sizeof keys[0]; i++) {
    double value;
    if (!json_find_number(line, keys[i], &value)) continue;
    row_number(row, keys[i], value);
    if (i == 0) *ms_per_step = value;
  }
  report_row_end(report, row);
  return 1;
}
