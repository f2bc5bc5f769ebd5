// SPDX-License-Identifier: Apache-2.0
// Memory from the hook, arrays that grow, and the arena of one step.
//
// Long-lived arrays grow in proportion and never shrink. What lives for one step comes from an
// arena that is reset at the start of the next: after warm-up neither allocates.
#ifndef CNI_CORE_MEMORY_H
#define CNI_CORE_MEMORY_H

#include <cairn/base.h>

#define CNI_ALIGNMENT 64 // one cache line, and the widest SIMD register

// Cache-line aligned memory, not cleared; null for size 0 or when there is none.
void *cni_allocate(const CnAllocator *allocator, size_t size);
void cni_release(const CnAllocator *allocator, void *memory, size_t size);

// Make room for `needed` elements, keeping the first `count` (memcpy): half as much again when the
// array grows by one, an eighth more (large ones: 1/32) when it is asked for more. On failure
// nothing changes, except that an array of which nothing is kept (count 0) may have become empty.
CnStatus cni_array_reserve(const CnAllocator *allocator, void **data, int32_t *capacity,
                           int32_t count, int32_t needed, size_t element_size);
// Mostly there is room: a step asks some fifty times.
static inline CnStatus cni_array_fit(const CnAllocator *allocator, void **data, int32_t *capacity,
                                     int32_t count, int32_t needed, size_t element_size) {
  if (needed >= 0 && needed <= *capacity) return CN_OK;
  return cni_array_reserve(allocator, data, capacity, count, needed, element_size);
}
#define CNI_RESERVE(allocator, array, capacity, count, needed)                                     \
  cni_array_fit(allocator, (void **)&(array), &(capacity), count, needed, sizeof *(array))
#define CNI_RELEASE(allocator, array, capacity)                                                    \
  cni_release(allocator, array, (size_t)(capacity) * sizeof *(array))

// A block of zeros; `memory` is the address of the pointer, which is null for size 0.
CnStatus cni_new(const CnAllocator *allocator, size_t size, void *memory);

// An allocator that counts what goes through it. `allocator` is the hook to hand on; the meter must
// not move while it is used.
typedef struct CniMeter {
  CnAllocator inner;
  size_t bytes, peak_bytes;
  int64_t allocation_count;
} CniMeter;
CnAllocator cni_meter_allocator(CniMeter *meter);

// Memory for one step. A reset that finds that one block was not enough replaces all by one as
// large as the most that was ever in use at a time, so that the next step allocates nothing.
//
// The stages of a step share one arena: collision, assembly, the solver and what follows. A stage
// that needs memory only while it works marks the arena when it begins and goes back to the mark
// when it ends; the next one works in the same place.
typedef struct CniArenaBlock CniArenaBlock;
typedef struct CniArena {
  CnAllocator allocator;
  CniArenaBlock *blocks; // newest first
  size_t used;           // in the newest block
  size_t total;          // handed out and not given back
  size_t peak;           // the largest total so far
} CniArena;
void cni_arena_init(CniArena *arena, const CnAllocator *allocator);
// Cache-line aligned, not cleared, never null for size 0; null means no memory.
void *cni_arena_take(CniArena *arena, size_t size);
// Room for so many of what a pointer points to, not cleared: the status; the pointer is null if not.
#define CNI_TAKE(arena, count, pointer)                                                            \
  ((pointer) = cni_arena_take(arena, (size_t)(count) * sizeof *(pointer)),                         \
   (pointer) ? CN_OK : cni_error_memory((size_t)(count) * sizeof *(pointer)))
// An array of zeros, and three more behind it for who needs ends to run into. `memory` is the
// address of the pointer.
CnStatus cni_arena_array(CniArena *arena, int64_t count, size_t size, void *memory);
// Everything taken before is gone, also where no memory is found for the one block.
CnStatus cni_arena_reset(CniArena *arena);
void cni_arena_release(CniArena *arena);

// Everything taken after the mark is gone when the arena goes back to it. Marks are used in the
// reverse order of their making; a reset ends them all. Cannot fail.
typedef struct CniArenaMark {
  CniArenaBlock *block;
  size_t used, total;
} CniArenaMark;
CniArenaMark cni_arena_mark(const CniArena *arena);
void cni_arena_back(CniArena *arena, CniArenaMark mark);
// The same, but the first bytes after the mark stay taken, with what is in them. Everything taken
// since must have come from the mark's block, and the bytes must fit in it (cni_arena_fits).
void *cni_arena_keep(CniArena *arena, CniArenaMark mark, size_t bytes);
// Has everything taken after the mark come from one block, which would hold that many bytes from
// the mark on?
int cni_arena_fits(const CniArena *arena, CniArenaMark mark, size_t bytes);
// The next reset is to make room for that many bytes from the mark on.
void cni_arena_expect(CniArena *arena, CniArenaMark mark, size_t bytes);

// Arrays of one length and type from an arena: the addresses of the pointers.
CnStatus cni_arena_arrays(CniArena *arena, int64_t count, size_t size, void *addresses);
#define CNI_ARRAYS(arena, count, Type, ...)                                                        \
  cni_arena_arrays(arena, count, sizeof(Type), (Type * *[]){__VA_ARGS__, NULL})

// Arrays of any lengths and types, in their order: CNI_LAY(arena, CNI_ARRAY(n, x), CNI_ARRAY(m, y)).
typedef struct CniArray {
  int64_t count;
  size_t size;
  void *address; // of the pointer
} CniArray;
#define CNI_ARRAY(count, pointer)                                                                  \
  { count, sizeof *(pointer), &(pointer) }
#define CNI_LIST(...) ((const CniArray[]){__VA_ARGS__, {0, 0, NULL}})
#define CNI_LAY(arena, ...) cni_arena_lay(arena, CNI_LIST(__VA_ARGS__))
CnStatus cni_arena_lay(CniArena *arena, const CniArray *arrays);

// One more element of an array that grows: the status.
#define CNI_PUSH(allocator, array, capacity, count, item)                                          \
  (CNI_RESERVE(allocator, array, capacity, count, (count) + 1) == CN_OK                            \
       ? ((array)[(count)++] = (item), CN_OK)                                                      \
       : CN_NO_MEMORY)

#define CNI_SWAP(Type, a, b)                                                                       \
  do {                                                                                             \
    Type cni_swap_kept = a;                                                                        \
    a = b;                                                                                         \
    b = cni_swap_kept;                                                                             \
  } while (0)

#endif
