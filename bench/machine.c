// SPDX-License-Identifier: Apache-2.0
// What the figures were taken on, and who else was using it.
//
// The load average is slow (a minute) and counts the benchmark itself, so a row is judged by the
// kernel's processor counters instead: busy time of the whole machine minus our own and our
// children's, over the time the row took.
#include "machine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "bodies.h"

void machine_cpu(char *name, size_t capacity) {
  snprintf(name, capacity, "unknown");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (!file) return;
  char line[256];
  while (fgets(line, sizeof line, file)) {
    const char *value = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !value) continue;
    value += 1 + strspn(value + 1, " ");
    snprintf(name, capacity, "%.*s", (int)strcspn(value, "\n"), value);
    break;
  }
  fclose(file);
}

int32_t machine_cores(void) { return (int32_t)sysconf(_SC_NPROCESSORS_ONLN); }

const char *machine_compiler(void) {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

double load_average(void) {
  double load = -1;
  FILE *file = fopen("/proc/loadavg", "r");
  if (!file) return load;
  if (fscanf(file, "%lf", &load) != 1) load = -1;
  fclose(file);
  return load;
}

// Processor time spent by everybody since the start of the machine, s.
static double machine_busy(void) {
  double user, nice, system, idle, wait, irq, softirq, steal;
  FILE *file = fopen("/proc/stat", "r");
  if (!file) return -1;
  int count = fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle,
                     &wait, &irq, &softirq, &steal);
  fclose(file);
  if (count != 8 || user <= 0) return -1;
  return (user + nice + system + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
}

static double own_time(int who) {
  struct rusage usage;
  if (getrusage(who, &usage) != 0) return 0;
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

LoadWatch load_watch_start(void) {
  return (LoadWatch){seconds_now(), machine_busy(),
                     own_time(RUSAGE_SELF) + own_time(RUSAGE_CHILDREN)};
}

double load_watch_end(const LoadWatch *start) {
  LoadWatch end = load_watch_start();
  double wall = end.wall - start->wall;
  if (start->busy < 0 || end.busy < 0 || wall <= 0) return -1;
  double others = (end.busy - start->busy) - (end.own - start->own);
  return others > 0 ? others / wall : 0;
}
