// SPDX-License-Identifier: Apache-2.0
// How the processor rounds. A host may round upward, flush small numbers to zero or trap on a
// division by zero in its own threads; Cairn computes the same bits all the same. Every door that
// computes begins with CNI_FLOATS, and so does every worker: inside rounding is to nearest, small
// numbers are kept and nothing traps; on leaving, the host finds what it had set, flags included.
//
// Where the host has set nothing, this costs the reading of one register.
#ifndef CNI_CORE_FLOATS_H
#define CNI_CORE_FLOATS_H

#include <stdint.h>

#if defined(__SSE2__)

// The register of SSE, in which all is computed, and above it that of the old unit, which tells the C
// library how to read and write decimals.
typedef uint64_t CniFloats;
#define CNI_FLOATS_USUAL 0x037f00001f80u // all exceptions masked, to nearest, no flushing
#define CNI_FLOATS_FLAGS 0x00400000003fu // what has happened so far; a bit without meaning

static inline CniFloats cni_floats_get(void) {
  uint16_t old;
  __asm__ volatile("fnstcw %0" : "=m"(old));
  return (CniFloats)old << 32 | __builtin_ia32_stmxcsr();
}
// The memory that results come from and go to is not touched on the wrong side of the change.
static inline void cni_floats_set(CniFloats floats) {
  uint16_t old = (uint16_t)(floats >> 32);
  __asm__ volatile("fldcw %0" ::"m"(old) : "memory");
  __builtin_ia32_ldmxcsr((uint32_t)floats);
  __asm__ volatile("" ::: "memory");
}

#elif defined(__aarch64__)

typedef uint64_t CniFloats;
#define CNI_FLOATS_USUAL 0u
#define CNI_FLOATS_FLAGS 0u

static inline CniFloats cni_floats_get(void) {
  CniFloats floats;
  __asm__ volatile("mrs %0, fpcr" : "=r"(floats));
  return floats;
}
static inline void cni_floats_set(CniFloats floats) {
  __asm__ volatile("msr fpcr, %0" ::"r"(floats) : "memory");
}

#else // rounding alone, as the C library knows it

#include <fenv.h>

typedef int CniFloats;
#define CNI_FLOATS_USUAL FE_TONEAREST
#define CNI_FLOATS_FLAGS 0

static inline CniFloats cni_floats_get(void) { return fegetround(); }
static inline void cni_floats_set(CniFloats floats) { (void)fesetround(floats); }

#endif

static inline CniFloats cni_floats_enter(void) {
  CniFloats host = cni_floats_get();
  if ((host | CNI_FLOATS_FLAGS) != (CNI_FLOATS_USUAL | CNI_FLOATS_FLAGS))
    cni_floats_set(CNI_FLOATS_USUAL);
  return host;
}

static inline void cni_floats_leave(const CniFloats *host) {
  if ((*host | CNI_FLOATS_FLAGS) != (CNI_FLOATS_USUAL | CNI_FLOATS_FLAGS)) cni_floats_set(*host);
}

// The first line of a function: until it returns.
#define CNI_FLOATS                                                                                 \
  const CniFloats cni_floats_host __attribute__((cleanup(cni_floats_leave), unused)) =             \
      cni_floats_enter()

#endif
