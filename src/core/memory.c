// SPDX-License-Identifier: Apache-2.0
// Memory: the default hook, arrays that grow, the meter, and the arena of one step.
//
// Arrays that grow by one element at a time get half as much again (large ones an eighth), so that
// building costs a fixed number of copies an element. An array that is asked for more at once knows
// its size: it gets an eighth more than asked, enough for numbers that differ a little from step to
// step; a large one, whose numbers differ less, a thirty-second.
//
// An arena is a chain of blocks, the newest first; memory is cut from the newest. When it is full,
// a block an eighth as large as all others together (or as large as needed) is added; going back to
// a mark gives blocks made since then back, so that two stages never hold memory at the same time.
// The next reset replaces the chain by one block that holds the most that was in use at a time, and
// an eighth more (a large one: 1/32). A step whose demand does not grow therefore finds everything
// in one block and never asks the allocator.

#if defined(__linux__)
#define _DEFAULT_SOURCE // madvise
#include <sys/mman.h>
#endif

#include "core/memory.h"
#include "core/assert.h"
#include "core/error.h"

#include <stdlib.h>
#include <string.h>

// ---- the hook ----

// Large blocks begin with a large page and ask for such, where the system has them: a step goes through
// its memory several times, and a processor knows the places of a few thousand pages. Of 4 KiB each they are
// 12 MiB; a machine of 10,000 bodies has 60. A wish: nothing depends on it.
#define LARGE_PAGE ((size_t)1 << 21)  // bytes
#define LARGE_LEAST ((size_t)1 << 22) // of a block

static void ask_for_large_pages(void *memory, size_t size) {
#ifdef MADV_HUGEPAGE
  (void)madvise(memory, size / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE); // whole ones
#else
  (void)memory;
  (void)size;
#endif
}

static void *default_allocate(void *context, size_t size, size_t alignment) {
  (void)context;
  if (alignment < sizeof(void *)) alignment = sizeof(void *);
  if (size >= LARGE_LEAST && alignment < LARGE_PAGE) alignment = LARGE_PAGE;
  // C17 wants the size to be a multiple of the alignment
  if (size > SIZE_MAX - alignment) return NULL;
  void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory && size >= LARGE_LEAST) ask_for_large_pages(memory, size);
  return memory;
}

static void default_release(void *context, void *memory, size_t size) {
  (void)context;
  (void)size;
  free(memory);
}

CnAllocator cn_allocator_default(void) {
  return (CnAllocator){default_allocate, default_release, NULL};
}

void *cni_allocate(const CnAllocator *allocator, size_t size) {
  if (size == 0) return NULL;
  return allocator->allocate(allocator->context, size, CNI_ALIGNMENT);
}

void cni_release(const CnAllocator *allocator, void *memory, size_t size) {
  if (memory) allocator->release(allocator->context, memory, size);
}

CnStatus cni_new(const CnAllocator *allocator, size_t size, void *memory) {
  void *taken = cni_allocate(allocator, size);
  if (taken) memset(taken, 0, size);
  memcpy(memory, &taken, sizeof taken);
  return taken || size == 0 ? CN_OK : cni_error_memory(size);
}

// ---- arrays ----

#define FIRST_CAPACITY 8
#define LARGE_ARRAY 32768 // elements

CnStatus cni_array_reserve(const CnAllocator *allocator, void **data, int32_t *capacity,
                           int32_t count, int32_t needed, size_t element_size) {
  if (needed < 0) {
    return cni_error(CN_NO_MEMORY, "an array cannot have more than %d elements", INT32_MAX);
  }
  if (needed <= *capacity) return CN_OK;

  // some more than needed, unless the index type ends
  int32_t large = needed >= LARGE_ARRAY;
  int64_t more = needed - 1 <= count ? *capacity / (large ? 8 : 2) : needed / (large ? 32 : 8);
  int32_t room = more > INT32_MAX - needed ? INT32_MAX : needed + (int32_t)more;
  if (room < FIRST_CAPACITY) room = FIRST_CAPACITY;
  if (element_size > 0 && (size_t)room > SIZE_MAX / element_size) {
    return cni_error(CN_NO_MEMORY, "an array of %d elements of %zu bytes is too large", room,
                     element_size);
  }

  size_t bytes = (size_t)room * element_size;
  if (count == 0) {
    // nothing is kept: what is there goes first
    cni_release(allocator, *data, (size_t)*capacity * element_size);
    *data = NULL;
    *capacity = 0;
  }
  void *grown = cni_allocate(allocator, bytes);
  if (!grown) return cni_error_memory(bytes);
  if (count > 0) memcpy(grown, *data, (size_t)count * element_size);
  cni_release(allocator, *data, (size_t)*capacity * element_size);
  *data = grown;
  *capacity = room;
  return CN_OK;
}

// ---- the meter ----

static void *meter_allocate(void *context, size_t size, size_t alignment) {
  CniMeter *meter = context;
  void *memory = meter->inner.allocate(meter->inner.context, size, alignment);
  if (!memory) return NULL;
  meter->bytes += size;
  if (meter->bytes > meter->peak_bytes) meter->peak_bytes = meter->bytes;
  meter->allocation_count += 1;
  return memory;
}

static void meter_release(void *context, void *memory, size_t size) {
  CniMeter *meter = context;
  meter->bytes -= size;
  meter->inner.release(meter->inner.context, memory, size);
}

CnAllocator cni_meter_allocator(CniMeter *meter) {
  return (CnAllocator){meter_allocate, meter_release, meter};
}

// ---- the arena ----

// Sits at the start of its block; what is handed out follows one line later.
struct CniArenaBlock {
  CniArenaBlock *next;
  size_t size; // of the block without this header, a multiple of CNI_ALIGNMENT
};

#define HEADER_SIZE CNI_ALIGNMENT
#define LARGE_BLOCK ((size_t)1 << 22) // bytes
#define SMALLEST_BLOCK ((size_t)4096 - HEADER_SIZE)
_Static_assert(sizeof(CniArenaBlock) <= HEADER_SIZE, "the header must fit in its line");

static CniArenaBlock *block_create(const CnAllocator *allocator, size_t size) {
  if (size > SIZE_MAX - HEADER_SIZE) return NULL;
  CniArenaBlock *block = cni_allocate(allocator, HEADER_SIZE + size);
  if (block) *block = (CniArenaBlock){NULL, size};
  return block;
}

// Give back the blocks that are newer than `last` (null: all of them).
static void blocks_release(CniArena *arena, const CniArenaBlock *last) {
  while (arena->blocks != last) {
    CniArenaBlock *block = arena->blocks;
    arena->blocks = block->next;
    cni_release(&arena->allocator, block, HEADER_SIZE + block->size);
  }
}

static size_t blocks_size(const CniArena *arena) {
  size_t size = 0;
  for (const CniArenaBlock *block = arena->blocks; block; block = block->next) size += block->size;
  return size;
}

void cni_arena_init(CniArena *arena, const CnAllocator *allocator) {
  *arena = (CniArena){.allocator = *allocator};
}

// Add a block with room for `size` bytes; false when there is no memory.
static int arena_grow(CniArena *arena, size_t size) {
  size_t room = blocks_size(arena) / 8 / CNI_ALIGNMENT * CNI_ALIGNMENT;
  if (room < SMALLEST_BLOCK) room = SMALLEST_BLOCK;
  if (room < size) room = size;
  CniArenaBlock *block = block_create(&arena->allocator, room);
  if (!block) return 0;
  block->next = arena->blocks;
  arena->blocks = block;
  arena->used = 0;
  return 1;
}

static void *take_lines(CniArena *arena, CniArenaBlock *block, size_t size) {
  char *memory = (char *)block + HEADER_SIZE + arena->used;
  arena->used += size;
  arena->total += size;
  if (arena->total > arena->peak) arena->peak = arena->total;
  return memory;
}

// From a new block.
static void *take_more(CniArena *arena, size_t size) {
  return arena_grow(arena, size) ? take_lines(arena, arena->blocks, size) : NULL;
}

void *cni_arena_take(CniArena *arena, size_t size) {
  // whole lines, at least one: a pointer to no bytes is still not null
  if (size > SIZE_MAX - CNI_ALIGNMENT) return NULL;
  size = (size + (size == 0) + CNI_ALIGNMENT - 1) / CNI_ALIGNMENT * CNI_ALIGNMENT;
  CniArenaBlock *block = arena->blocks;
  if (block && size <= block->size - arena->used) return take_lines(arena, block, size);
  return take_more(arena, size);
}

CnStatus cni_arena_array(CniArena *arena, int64_t count, size_t size, void *memory) {
  if (count < 0 || (uint64_t)count > SIZE_MAX / size - 3) return cni_error_memory(SIZE_MAX);
  size_t bytes = ((size_t)count + 3) * size;
  void *taken = cni_arena_take(arena, bytes);
  if (!taken) return cni_error_memory(bytes);
  memset(taken, 0, bytes);
  memcpy(memory, &taken, sizeof taken);
  return CN_OK;
}

CnStatus cni_arena_arrays(CniArena *arena, int64_t count, size_t size, void *addresses) {
  void *address;
  for (const char *at = addresses;; at += sizeof address) {
    memcpy(&address, at, sizeof address); // whatever type it points to
    if (!address) return CN_OK;
    CNI_TRY(cni_arena_array(arena, count, size, address));
  }
}

CnStatus cni_arena_lay(CniArena *arena, const CniArray *arrays) {
  for (; arrays->address; arrays++)
    CNI_TRY(cni_arena_array(arena, arrays->count, arrays->size, arrays->address));
  return CN_OK;
}

CniArenaMark cni_arena_mark(const CniArena *arena) {
  return (CniArenaMark){arena->blocks, arena->used, arena->total};
}

#ifdef CNI_CHECKED
// A mark is that of a block which is still there, and nothing taken before it was given back.
static int mark_holds(const CniArena *arena, CniArenaMark mark) {
  const CniArenaBlock *block = arena->blocks;
  while (block && block != mark.block) block = block->next;
  return block == mark.block && mark.total <= arena->total &&
         (block != arena->blocks || mark.used <= arena->used);
}
#endif

void cni_arena_back(CniArena *arena, CniArenaMark mark) {
  CNI_ASSERT(mark_holds(arena, mark));
#ifdef CNI_CHECKED // what is given back no longer reads as what it was
  size_t end = mark.block == arena->blocks ? arena->used : mark.block ? mark.block->size : 0;
  if (mark.block) memset((char *)mark.block + HEADER_SIZE + mark.used, 0xff, end - mark.used);
#endif
  blocks_release(arena, mark.block);
  arena->used = mark.used;
  arena->total = mark.total;
}

void *cni_arena_keep(CniArena *arena, CniArenaMark mark, size_t bytes) {
  CNI_ASSERT(mark_holds(arena, mark) && cni_arena_fits(arena, mark, bytes));
  arena->used = mark.used;
  arena->total = mark.total;
  return cni_arena_take(arena, bytes);
}

int cni_arena_fits(const CniArena *arena, CniArenaMark mark, size_t bytes) {
  return mark.block && mark.block == arena->blocks && bytes <= mark.block->size - mark.used;
}

void cni_arena_expect(CniArena *arena, CniArenaMark mark, size_t bytes) {
  if (bytes < SIZE_MAX - mark.total && mark.total + bytes > arena->peak)
    arena->peak = mark.total + bytes;
}

CnStatus cni_arena_reset(CniArena *arena) {
  arena->used = 0;
  arena->total = 0;
  size_t size = arena->peak;
  if (size == 0 || (arena->blocks && !arena->blocks->next && arena->blocks->size >= size))
    return CN_OK;

  // What is there holds nothing any more and goes first: both together would double the memory.
  blocks_release(arena, NULL);
  size += size / (size < LARGE_BLOCK ? 8 : 32) / CNI_ALIGNMENT * CNI_ALIGNMENT;
  if (size < SMALLEST_BLOCK) size = SMALLEST_BLOCK;
  arena->blocks = block_create(&arena->allocator, size);
  return arena->blocks ? CN_OK : cni_error_memory(HEADER_SIZE + size);
}

void cni_arena_release(CniArena *arena) {
  blocks_release(arena, NULL);
  arena->used = arena->total = arena->peak = 0;
}
