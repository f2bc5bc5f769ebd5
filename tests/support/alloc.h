// SPDX-License-Identifier: Apache-2.0
// A double of the allocator for tests: counts, fails on demand, and finds leaks and wrong releases.
//
//   TestAlloc alloc;
//   test_alloc_init(&alloc);
//   CnAllocator hook = test_alloc_hook(&alloc);
//   for (int n = 1; ; ++n) {
//     test_alloc_fail_at(&alloc, n);             // the n-th allocation from now on
//     CnStatus status = thing_create(&hook, &thing);
//     if (!alloc.failed_count) break;            // so few allocations: every one has failed once
//     CHECK_FAILED(status, CN_NO_MEMORY);
//     test_alloc_check_clean(&alloc);
//   }
//
// Fresh memory is filled with a pattern that gives neither zeros nor usable numbers. Not for
// several threads at once.
#ifndef TESTS_ALLOC_H
#define TESTS_ALLOC_H

#include <cairn/base.h>

typedef struct TestAlloc {
  size_t live_bytes, peak_bytes;
  int64_t live_blocks;
  int64_t allocation_count; // successful ones
  int64_t failed_count;     // refused ones since the last test_alloc_fail_...
  int64_t wrong_count;      // releases with a wrong size, of foreign or of damaged memory
  int64_t until_failure;    // allocations up to and including the one that fails, 0: none
  int fail_on;              // all later ones fail too
} TestAlloc;

void test_alloc_init(TestAlloc *alloc);
CnAllocator test_alloc_hook(TestAlloc *alloc);

// Let the n-th allocation from now on fail, n >= 1 ...
void test_alloc_fail_at(TestAlloc *alloc, int64_t n);
// ... and every one after it too.
void test_alloc_fail_from(TestAlloc *alloc, int64_t n);
void test_alloc_fail_never(TestAlloc *alloc);

// Fails the test if anything is still allocated or was released wrongly.
void test_alloc_check_clean(const TestAlloc *alloc);

#endif
