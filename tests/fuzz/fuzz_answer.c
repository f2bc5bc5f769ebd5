// SPDX-License-Identifier: Apache-2.0
// Any bytes as an answer to a small problem with a contact, an equality and velocities.
#include "fuzz.h"
#include "problem_check.h"

#include <math.h>

static const char problem_text[] =
    "{\"cairn\": \"problem\", \"version\": 1, \"form\": \"global\","
    "\"sets\": [{\"kind\": \"friction\", \"mu\": 0.5}, {\"kind\": \"bilateral\"}],"
    "\"M\": [[2, 0, 0], [0, 2, 0], [0, 0, 2]], \"E\": [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]],"
    "\"k\": [-1, 0.1, 0], \"b\": [0, 0, 0, 0], \"blocks\": [{\"set\": 0}, {\"set\": 1}]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CniMeter meter = {.inner = cn_allocator_default()};
  CnAllocator allocator = cni_meter_allocator(&meter);
  CnProblem *problem = NULL;
  require(cn_problem_read_memory(problem_text, sizeof problem_text - 1, "problem", &allocator,
                                 &problem, NULL) == CN_OK,
          "no problem");
  CnAnswer answer = cn_answer_empty(&allocator);
  if (cn_answer_read_memory(data, size, "file", problem, &answer) == CN_OK) {
    require(answer.row_count == 4 && answer.velocity_count == 3, "sizes");
    for (int32_t i = 0; i < 4; i++) require(isfinite(answer.g[i]), "not finite");
  } else {
    check_line(cn_error_message());
  }
  require(meter.peak_bytes <= 64 * size + (1 << 20), "too much memory");
  cn_answer_release(&answer);
  cn_problem_destroy(problem);
  require(meter.bytes == 0, "memory is lost");
  return 0;
}
