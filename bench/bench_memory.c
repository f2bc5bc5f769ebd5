// SPDX-License-Identifier: Apache-2.0
// What the memory of this machine gives: the limit that the sweeps of large piles are set beside.
//
// `read` adds up the numbers of an array much larger than the caches, `update` reads and writes
// every one of them, by one thread and by several at once, each in its own part. The fastest of
// several passes is reported, as other load only ever adds time. Bytes that are read and written
// count twice.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bodies.h"
#include "core/tasks.h"

#define PASSES 25
#define CHUNK 65536 // doubles, one task

typedef struct Pass {
  double *x;
  double *sums; // one a chunk, so that nothing is left out
  int update;
} Pass;

static void work(void *context, int32_t begin, int32_t end) {
  const Pass *pass = context;
  for (int32_t k = begin; k < end; k++) {
    double *x = pass->x + (size_t)k * CHUNK;
    if (pass->update) {
      for (int32_t i = 0; i < CHUNK; i++) x[i] = 0.5 * x[i] + 1;
      continue;
    }
    // eight sums, so that none waits for another
    double a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (int32_t i = 0; i < CHUNK; i += 8) {
      a += x[i];
      b += x[i + 1];
      c += x[i + 2];
      d += x[i + 3];
      e += x[i + 4];
      f += x[i + 5];
      g += x[i + 6];
      h += x[i + 7];
    }
    pass->sums[k] = ((a + b) + (c + d)) + ((e + f) + (g + h));
  }
}

static int add_row(Report *report, const Pass *pass, int32_t chunks, int32_t threads) {
  CnAllocator allocator = cn_allocator_default();
  CnTasks *tasks = NULL;
  Row *row = report_row_begin(report);
  if (!row || cn_tasks_create(threads, NULL, &allocator, &tasks) != CN_OK) return 0;
  double best = INFINITY;
  for (int32_t i = 0; i < PASSES; i++) {
    double start = seconds_now();
    cni_parallel_for(tasks, chunks, 16, work, (void *)pass);
    best = fmin(best, seconds_now() - start);
  }
  cn_tasks_destroy(tasks);
  double bytes = (double)chunks * CHUNK * sizeof(double) * (pass->update ? 2 : 1);
  row_text(row, "access", pass->update ? "update" : "read");
  row_number(row, "threads", threads);
  row_number(row, "gigabytes_per_second", 1e-9 * bytes / best);
  report_row_end(report, row);
  return 1;
}

static int run(const Values *values, Report *report) {
  int32_t megabytes, threads[VALUE_LIST], thread_count;
  if (!value_whole(values, "megabytes", 1, 1e5, &megabytes) ||
      !value_list(values, "threads", 1, 256, threads, &thread_count))
    return 0;
  int32_t chunks = (int32_t)(1e6 * megabytes / (CHUNK * sizeof(double))) + 1;
  Pass pass = {malloc((size_t)chunks * CHUNK * sizeof(double)),
               malloc((size_t)chunks * sizeof(double)), 0};
  int ok = pass.x && pass.sums;
  if (!ok) fprintf(stderr, "cairn-bench: out of memory\n");
  for (size_t i = 0; ok && i < (size_t)chunks * CHUNK; i++) pass.x[i] = (double)(i % 7);
  for (pass.update = 0; ok && pass.update < 2; pass.update++)
    for (int32_t i = 0; ok && i < thread_count; i++)
      ok = add_row(report, &pass, chunks, threads[i]);
  free(pass.x);
  free(pass.sums);
  return ok;
}

static const Parameter parameters[] = {
    {"megabytes", "200", "size of the array"}, {"threads", "1,2", "threads"}, {NULL, NULL, NULL}};
static const Column columns[] = {
    {"access", "access"}, {"threads", "threads"}, {"gigabytes_per_second", "GB/s"}, {NULL, NULL}};
extern const Bench bench_memory;
const Bench bench_memory = {"memory", "bandwidth of the machine's memory (5 seconds)", parameters,
                            columns, run};
