// SPDX-License-Identifier: Apache-2.0
// What every reader of problems must keep whatever it is given: a problem, or a status with one
// line; all memory given back; at most 64 times the size of the input plus 1 MB at any time.
#ifndef TESTS_FUZZ_PROBLEM_CHECK_H
#define TESTS_FUZZ_PROBLEM_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/files.h>

#include "core/memory.h"

static inline void require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_problem: %s: %s\n", what, cn_error_message());
  abort();
}

static inline void check_line(const char *line) {
  require(strncmp(line, "file: ", 6) == 0 || strncmp(line, "the allocator", 13) == 0, "no name");
  for (const char *c = line; *c; c++) require((unsigned char)*c >= 32, "more than a line");
}

// What can be done with any problem at little cost.
static inline void check_problem(CnProblem *problem, const CnProblemFileInfo *info) {
  CnProblemInfo sizes;
  cn_problem_info(problem, &sizes);
  require(sizes.row_count == info->unknowns && sizes.velocity_count == info->velocities, "sizes");
  require(info->kind[0] && info->format[0], "no kind");
  if (sizes.row_count > 200 || sizes.velocity_count > 200) return;
  CnAnswer answer = cn_answer_empty(NULL);
  CnCertificate certificate;
  require(cn_answer_fit(&answer, problem) == CN_OK, "no answer");
  CnStatus status = cn_certify(problem, &answer, &certificate);
  require(status == CN_OK || status == CN_INVALID_DATA, "not certified");
  cn_answer_release(&answer);
}

typedef CnStatus (*ReadProblem)(const void *data, size_t size, const char *name,
                                const CnAllocator *allocator, CnProblem **problem,
                                CnProblemFileInfo *info);

static inline void check_reading(ReadProblem read, const uint8_t *data, size_t size) {
  CniMeter meter = {.inner = cn_allocator_default()};
  CnAllocator allocator = cni_meter_allocator(&meter);
  CnProblem *problem = NULL;
  CnProblemFileInfo info = {"", "", "", 0, 0, 0, 0, 0, 0, 0};
  CnStatus status = read(data, size, "file", &allocator, &problem, &info);
  require(meter.peak_bytes <= 64 * size + (1 << 20), "too much memory");
  require((status == CN_OK) == (problem != NULL), "problem and status disagree");
  if (status == CN_OK)
    check_problem(problem, &info);
  else
    check_line(cn_error_message());
  cn_problem_destroy(problem);
  require(meter.bytes == 0, "memory is lost");
}

#endif
