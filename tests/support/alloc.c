// SPDX-License-Identifier: Apache-2.0
// Every block has a header in front (its size and alignment, and a mark that is wiped at release)
// and a guard behind, which a write past the end damages.

#include "alloc.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

#define MARK 0x6361697268656164u
#define GUARD_SIZE 16
#define GUARD_BYTE 0xFD
#define FRESH_BYTE 0xFB // doubles of this pattern are about -1e288

typedef struct Header {
  uint64_t mark;
  size_t size, alignment;
} Header;

void test_alloc_init(TestAlloc *alloc) { memset(alloc, 0, sizeof *alloc); }

// Room in front of the block: the header, rounded so that the block keeps its alignment.
static size_t front_size(size_t alignment) {
  return alignment > sizeof(Header) ? alignment : (sizeof(Header) + 15) / 16 * 16;
}

static int refuse(TestAlloc *alloc) {
  if (alloc->until_failure == 0) return 0;
  if (alloc->until_failure > 1) {
    alloc->until_failure -= 1;
    return 0;
  }
  if (!alloc->fail_on) alloc->until_failure = 0;
  alloc->failed_count += 1;
  return 1;
}

static void *test_allocate(void *context, size_t size, size_t alignment) {
  TestAlloc *alloc = context;
  if (refuse(alloc)) return NULL;
  if (alignment < 16) alignment = 16;
  size_t front = front_size(alignment);
  if (size > SIZE_MAX - front - GUARD_SIZE - alignment) return NULL;
  size_t whole = (front + size + GUARD_SIZE + alignment - 1) / alignment * alignment;
  unsigned char *memory = aligned_alloc(alignment, whole);
  if (!memory) return NULL;

  unsigned char *block = memory + front;
  Header header = {MARK, size, alignment};
  memcpy(block - sizeof header, &header, sizeof header);
  memset(block, FRESH_BYTE, size);
  memset(block + size, GUARD_BYTE, GUARD_SIZE);
  alloc->live_bytes += size;
  if (alloc->live_bytes > alloc->peak_bytes) alloc->peak_bytes = alloc->live_bytes;
  alloc->live_blocks += 1;
  alloc->allocation_count += 1;
  return block;
}

static int guard_intact(const unsigned char *guard) {
  for (int i = 0; i < GUARD_SIZE; ++i) {
    if (guard[i] != GUARD_BYTE) return 0;
  }
  return 1;
}

static void test_release(void *context, void *memory, size_t size) {
  TestAlloc *alloc = context;
  unsigned char *block = memory;
  Header header;
  memcpy(&header, block - sizeof header, sizeof header);
  if (header.mark != MARK) {
    alloc->wrong_count += 1;
    return;
  }
  if (header.size != size || !guard_intact(block + header.size)) alloc->wrong_count += 1;
  alloc->live_bytes -= header.size;
  alloc->live_blocks -= 1;
  memset(block - sizeof header, 0, sizeof header);
  free(block - front_size(header.alignment));
}

CnAllocator test_alloc_hook(TestAlloc *alloc) {
  return (CnAllocator){test_allocate, test_release, alloc};
}

void test_alloc_fail_at(TestAlloc *alloc, int64_t n) {
  alloc->until_failure = n;
  alloc->fail_on = 0;
  alloc->failed_count = 0;
}

void test_alloc_fail_from(TestAlloc *alloc, int64_t n) {
  test_alloc_fail_at(alloc, n);
  alloc->fail_on = 1;
}

void test_alloc_fail_never(TestAlloc *alloc) { test_alloc_fail_at(alloc, 0); }

void test_alloc_check_clean(const TestAlloc *alloc) {
  if (alloc->live_blocks != 0 || alloc->live_bytes != 0) {
    fail_msg("%lld blocks (%zu bytes) were not released", (long long)alloc->live_blocks,
             alloc->live_bytes);
  }
  if (alloc->wrong_count != 0) {
    fail_msg("%lld releases with a wrong size or of damaged memory", (long long)alloc->wrong_count);
  }
}
