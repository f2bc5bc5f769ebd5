// SPDX-License-Identifier: Apache-2.0
// A clock for reports and time budgets, never for results.
#ifndef CNI_CORE_CLOCK_H
#define CNI_CORE_CLOCK_H

#include <time.h>

// Seconds since some moment; it never goes back.
static inline double cni_seconds(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
