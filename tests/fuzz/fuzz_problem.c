// SPDX-License-Identifier: Apache-2.0
// Any bytes as a problem file of any format.
#include "fuzz.h"
#include "problem_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  check_reading(cn_problem_read_memory, data, size);
  return 0;
}
