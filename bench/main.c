// SPDX-License-Identifier: Apache-2.0
// cairn-bench: lists the benchmarks, or runs one and prints its rows.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define BENCH(name) extern const Bench bench_##name;
#include "bench_list.inc"
#undef BENCH

#define BENCH(name) &bench_##name,
static const Bench *const benches[] = {
#include "bench_list.inc"
};
#undef BENCH
#define BENCH_COUNT ((int32_t)(sizeof benches / sizeof benches[0]))

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

// ---- parameters -------------------------------------------------------------------------------

static int32_t parameter_index(const Parameter *parameters, const char *key, size_t length) {
  for (int32_t i = 0; parameters[i].key; i++)
    if (strlen(parameters[i].key) == length && strncmp(parameters[i].key, key, length) == 0)
      return i;
  return -1;
}

const char *value_text(const Values *values, const char *key) {
  int32_t i = parameter_index(values->parameters, key, strlen(key));
  return i < 0 ? "" : values->values[i];
}

double value_number(const Values *values, const char *key) {
  const char *text = value_text(values, key);
  char *end = NULL;
  double number = strtod(text, &end);
  return end != text && *end == 0 ? number : NAN;
}

int value_list(const Values *values, const char *key, double low, double high,
               int32_t numbers[VALUE_LIST], int32_t *count) {
  const char *text = value_text(values, key);
  *count = 0;
  for (const char *at = text;; at++) {
    char *end = NULL;
    double number = strtod(at, &end);
    if (end == at || !(number >= low && number <= high) || number != floor(number)) break;
    if (*count == VALUE_LIST || (*end && *end != ',')) break;
    numbers[(*count)++] = (int32_t)number;
    if (!*end) return 1;
    at = end;
  }
  fprintf(stderr, "cairn-bench: %s must be whole numbers in %g .. %g, at most %d (got %s)\n", key,
          low, high, VALUE_LIST, text);
  return 0;
}

int value_whole(const Values *values, const char *key, double low, double high, int32_t *result) {
  double number = value_number(values, key);
  if (number >= low && number <= high && number == floor(number)) {
    *result = (int32_t)number;
    return 1;
  }
  fprintf(stderr, "cairn-bench: %s must be a whole number in %g .. %g (got %s)\n", key, low, high,
          value_text(values, key));
  return 0;
}

// key=value; 0 and a line on stderr for an unknown key.
static int set_value(Values *values, const Bench *bench, const char *setting) {
  size_t length = strcspn(setting, "=");
  int32_t i = parameter_index(values->parameters, setting, length);
  if (i >= 0 && setting[length] == '=') {
    values->values[i] = setting + length + 1;
    return 1;
  }
  fprintf(stderr, "cairn-bench: %s: no parameter in `--set %s` (there are:", bench->name, setting);
  for (const Parameter *p = values->parameters; p->key; p++) fprintf(stderr, " %s", p->key);
  fprintf(stderr, ")\n");
  return 0;
}

// ---- usage ------------------------------------------------------------------------------------

static void print_list(FILE *file) {
  fprintf(file, "usage: cairn-bench NAME [--set KEY=VALUE]... [--json]\n\n");
  for (int32_t i = 0; i < BENCH_COUNT; i++) {
    fprintf(file, "%s: %s\n", benches[i]->name, benches[i]->summary);
    for (const Parameter *p = benches[i]->parameters; p->key; p++)
      fprintf(file, "    %-12s %s (default %s)\n", p->key, p->help, p->value);
  }
  fprintf(file, "\nexample: cairn-bench granular --set spheres=1000 --json\n");
}

static const Bench *find_bench(const char *name) {
  for (int32_t i = 0; i < BENCH_COUNT; i++)
    if (strcmp(benches[i]->name, name) == 0) return benches[i];
  fprintf(stderr, "cairn-bench: no benchmark `%s`; `cairn-bench` lists them\n", name);
  return NULL;
}

// The directory of this program, where peers/ is.
static void own_directory(const char *command, char *directory, size_t capacity) {
  ssize_t length = readlink("/proc/self/exe", directory, capacity - 1);
  if (length <= 0) length = snprintf(directory, capacity, "%s", command);
  if ((size_t)length >= capacity) length = (ssize_t)capacity - 1;
  directory[length] = 0;
  char *slash = strrchr(directory, '/');
  if (slash)
    *slash = 0;
  else
    snprintf(directory, capacity, ".");
}

int main(int argc, char **argv) {
  if (argc < 2 || strcmp(argv[1], "--help") == 0) {
    print_list(stdout);
    return EXIT_DONE;
  }
  const Bench *bench = find_bench(argv[1]);
  if (!bench) return EXIT_USAGE;
  char directory[4096];
  own_directory(argv[0], directory, sizeof directory);
  Values values = {bench->parameters, {NULL}, directory};
  for (int32_t i = 0; bench->parameters[i].key && i < BENCH_PARAMETERS; i++)
    values.values[i] = bench->parameters[i].value;

  int json = 0;
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "--json") == 0) {
      json = 1;
    } else if (strcmp(argv[i], "--set") == 0 && i + 1 < argc) {
      if (!set_value(&values, bench, argv[++i])) return EXIT_USAGE;
    } else {
      fprintf(stderr, "cairn-bench: `%s` is not understood; `cairn-bench --help` tells more\n",
              argv[i]);
      return EXIT_USAGE;
    }
  }

  Report report = {NULL, 0, load_average()};
  int ok = bench->run(&values, &report);
  if (ok && json) report_print_json(&report, bench, stdout);
  if (ok && !json) report_print_table(&report, bench, stdout);
  free(report.rows);
  return ok ? EXIT_DONE : EXIT_FAILED;
}
