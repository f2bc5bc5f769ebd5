// SPDX-License-Identifier: Apache-2.0
// Hosts that compute in another way: floating-point modes to be in while Cairn is called.
#ifndef TESTS_MODES_H
#define TESTS_MODES_H

#include <fenv.h>
#include <stdint.h>

#include "check.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
// Without the flags of what has happened so far.
static inline uint64_t mode_now(void) { return _mm_getcsr() & ~0x3fu; }
static inline void mode_flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040u); } // FTZ and DAZ
static inline void mode_trap(void) { _mm_setcsr(_mm_getcsr() & ~0x0f80u); } // all but inexact
static inline void mode_back(uint64_t mode) { _mm_setcsr((uint32_t)mode); }
#elif defined(__aarch64__)
static inline uint64_t mode_now(void) {
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
static inline void mode_back(uint64_t mode) { __asm__ volatile("msr fpcr, %0" ::"r"(mode)); }
static inline void mode_flush(void) { mode_back(mode_now() | 1u << 24); }
static inline void mode_trap(void) {} // most processors have none
#else
static inline uint64_t mode_now(void) { return (uint64_t)fegetround(); }
static inline void mode_back(uint64_t mode) { (void)mode; }
static inline void mode_flush(void) {}
static inline void mode_trap(void) {}
#endif

#define MODE_COUNT 6

static inline void mode_set(int mode) {
  static const int rounding[MODE_COUNT] = {FE_TONEAREST,  FE_UPWARD,    FE_DOWNWARD,
                                           FE_TOWARDZERO, FE_TONEAREST, FE_TONEAREST};
  CHECK(fesetround(rounding[mode]) == 0);
  if (mode == 4) mode_flush();
  if (mode == 5) mode_trap();
}

// Back to the usual one; the mode must still be the one that was set.
static inline void mode_end(uint64_t usual, uint64_t set) {
  uint64_t now = mode_now();
  mode_back(usual);
  CHECK(fesetround(FE_TONEAREST) == 0);
  CHECK(now == set);
}

#endif
