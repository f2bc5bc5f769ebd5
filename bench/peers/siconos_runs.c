// SPDX-License-Identifier: Apache-2.0
#include "siconos_runs.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void runs_one_thread(char **argv) {
  if (getenv("OPENBLAS_NUM_THREADS")) return;
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  execv("/proc/self/exe", argv);
}

double runs_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int runs_time(const RunPlan *plan, RunSolve *solve, void *context, RunTimes *times) {
  double *list = malloc((size_t)plan->repeats * sizeof *list), total = 0;
  int count = 0, info = 0;
  if (!list) return 0;
  while (info >= 0 && count < plan->repeats && (count == 0 || total < plan->seconds)) {
    info = solve(context, &list[count]);
    total += list[count++];
  }
  if (info >= 0) {
    qsort(list, (size_t)count, sizeof *list, by_size);
    *times = (RunTimes){list[0], list[count / 2], count, info};
  }
  free(list);
  return info >= 0;
}

void runs_apart(unsigned limit, void (*run)(void *context, FILE *output), void *context) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    FILE *copy = fdopen(dup(fileno(stdout)), "w");
    if (!copy || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
    alarm(limit);
    run(context, copy);
    _exit(0);
  }
  int status;
  if (child > 0) waitpid(child, &status, 0);
}
