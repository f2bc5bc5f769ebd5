// SPDX-License-Identifier: Apache-2.0
// Which wide level this machine runs.

#include "core/simd/simd.h"

#include <stddef.h>

CniSimdLevel cni_simd_level(void) {
#if defined(CNI_SIMD_OFF)
  return CNI_SIMD_LEVEL_PLAIN;
#elif defined(__x86_64__) || defined(__i386__)
  // the compiler's run-time asks the processor and whether the system saves its wide registers
  __builtin_cpu_init();
#if defined(CNI_SIMD_EMULATED)
  if (__builtin_cpu_supports("avx2")) return CNI_SIMD_LEVEL_AVX512;
#elif !defined(CNI_SIMD_NO_AVX512)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    return CNI_SIMD_LEVEL_AVX512;
#endif
  if (__builtin_cpu_supports("avx2")) return CNI_SIMD_LEVEL_AVX2;
  if (__builtin_cpu_supports("sse2")) return CNI_SIMD_LEVEL_SSE2;
  return CNI_SIMD_LEVEL_PLAIN;
#else
  return CNI_WIDE_LEVEL;
#endif
}

const char *cni_simd_level_name(CniSimdLevel level) {
  static const char *const names[] = {
      [CNI_SIMD_LEVEL_PLAIN] = "plain", [CNI_SIMD_LEVEL_SSE2] = "sse2",
      [CNI_SIMD_LEVEL_AVX2] = "avx2",   [CNI_SIMD_LEVEL_AVX512] = "avx512",
      [CNI_SIMD_LEVEL_NEON] = "neon",
  };
  return (size_t)level < sizeof names / sizeof *names ? names[level] : "unknown";
}
