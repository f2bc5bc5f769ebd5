// SPDX-License-Identifier: Apache-2.0
// Ranks as threads: what is sent arrives, sums and maxima are the same everywhere, and where one rank fails or
// leaves the others get a sentence instead of waiting for ever.
#include "alloc.h"
#include "check.h"
#include "crew.h"
#include "ranks/ranks.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 50

static const int32_t counts[] = {1, 2, 3, 5, 8};
#define COUNTS ((int)(sizeof counts / sizeof counts[0]))

// A number that both sides of a packet can tell.
static int64_t secret(int64_t from, int64_t to, int64_t nth) { return 1000 * from + 10 * to + nth; }

static void everybody(void (*task)(CnRanks *ranks, void *context), void *context) {
  for (int i = 0; i < COUNTS; i++) crew_run(counts[i], task, context);
}

// Two packets to everyone, of other sizes than those to the others.
static void exchange(CnRanks *ranks, void *context) {
  (void)context;
  int32_t rank = cn_ranks_rank(ranks), count = cn_ranks_count(ranks);
  int64_t sent[16][3], got[16][3];
  CnPacket out[16], in[16];
  for (int round = 0; round < ROUNDS; round++) {
    int32_t n = 0;
    for (int32_t other = 0; other < count; other++)
      for (int32_t nth = 0; nth < 2 && other != rank; nth++, n++) {
        for (int k = 0; k < 3; k++) sent[n][k] = secret(rank, other, nth) + round;
        memset(got[n], 0, sizeof got[n]);
        out[n] = (CnPacket){other, (size_t)(8 + 8 * ((rank + other) % 3)), sent[n]};
        in[n] = (CnPacket){other, out[n].size, got[n]};
      }
    CREW_CHECK(cni_ranks_exchange(ranks, out, n, in, n) == CN_OK);
    for (int32_t i = 0; i < n; i++)
      for (size_t k = 0; k < in[i].size / 8; k++)
        CREW_CHECK(got[i][k] == secret(in[i].rank, rank, i % 2) + round);
  }
}

// Largest and sum in closed form; more numbers than fit in one piece.
static void reductions(CnRanks *ranks, void *context) {
  (void)context;
  int32_t rank = cn_ranks_rank(ranks), count = cn_ranks_count(ranks);
  int64_t sums[200];
  double most[200];
  for (int i = 0; i < 200; i++) {
    sums[i] = (int64_t)rank * i + (INT64_C(1) << 40);
    most[i] = (rank + i) % count - 100.5;
  }
  CREW_CHECK(cni_ranks_sum(ranks, sums, 200) == CN_OK);
  CREW_CHECK(cni_ranks_largest(ranks, most, 200) == CN_OK);
  int64_t one = 10 - rank;
  CREW_CHECK(cn_ranks_most(ranks, &one) == CN_OK && one == 10);
  for (int i = 0; i < 200; i++) {
    CREW_CHECK(sums[i] == (int64_t)count * (count - 1) / 2 * i + count * (INT64_C(1) << 40));
    CREW_CHECK(most[i] == count - 1 - 100.5);
  }
}

// Rank r has r + 1 numbers; rank 1 none.
static void gathered(CnRanks *ranks, void *context) {
  (void)context;
  int32_t rank = cn_ranks_rank(ranks), count = cn_ranks_count(ranks);
  int64_t start[9] = {0}, data[64], sum, all = 0;
  for (int32_t r = 0; r < count; r++) start[r + 1] = start[r] + (r == 1 ? 0 : 8 * (r + 1));
  memset(data, 0, sizeof data);
  for (int64_t i = start[rank] / 8; i < start[rank + 1] / 8; i++) data[i] = secret(rank, i, 3);
  CREW_CHECK(cni_ranks_gather(ranks, data, start) == CN_OK);
  for (int32_t r = 0; r < count; r++)
    for (int64_t i = start[r] / 8; i < start[r + 1] / 8; i++)
      CREW_CHECK(data[i] == secret(r, i, 3));
  for (int32_t r = 0; r < rank; r++) all += 7 * r + 1;
  CREW_CHECK(cni_ranks_before(ranks, 7 * rank + 1, &sum) == CN_OK && sum == all);
}

// Rank r sends (r + 2 s) % 4 numbers to rank s, itself among them.
static void swapped(CnRanks *ranks, void *context) {
  (void)context;
  int32_t rank = cn_ranks_rank(ranks), count = cn_ranks_count(ranks);
  int64_t out_start[9] = {0}, in_start[9] = {0}, out[64], in[64];
  for (int32_t s = 0; s < count; s++) {
    out_start[s + 1] = out_start[s] + 8 * ((rank + 2 * s) % 4);
    in_start[s + 1] = in_start[s] + 8 * ((s + 2 * rank) % 4);
    for (int64_t i = out_start[s] / 8; i < out_start[s + 1] / 8; i++) out[i] = secret(rank, s, 5);
  }
  CREW_CHECK(cni_ranks_swap(ranks, out, out_start, in, in_start) == CN_OK);
  for (int32_t s = 0; s < count; s++)
    for (int64_t i = in_start[s] / 8; i < in_start[s + 1] / 8; i++)
      CREW_CHECK(in[i] == secret(s, rank, 5));
}

static void all_arrives(void **state) {
  (void)state;
  everybody(exchange, NULL);
  everybody(reductions, NULL);
  everybody(gathered, NULL);
  everybody(swapped, NULL);
}

// ---- failures ----

static void one_fails(CnRanks *ranks, void *context) {
  int64_t value = 1;
  int leaves = *(const int *)context;
  CREW_CHECK(cni_ranks_sum(ranks, &value, 1) == CN_OK && value == 3);
  if (cn_ranks_rank(ranks) == 1) {
    if (!leaves) cn_ranks_fail(ranks, "the roof has come down");
    return; // and leaves
  }
  CREW_CHECK(cni_ranks_sum(ranks, &value, 1) == CN_REMOTE);
  CREW_CHECK(strstr(cn_error_message(), leaves ? "has left" : "the roof has come down") != NULL);
  CREW_CHECK(leaves || strstr(cn_error_message(), "rank 1") != NULL);
  CREW_CHECK(cni_ranks_sum(ranks, &value, 1) == CN_REMOTE);
}

static void wrong_call(CnRanks *ranks, void *context) {
  (void)context;
  int64_t value = 1;
  double x = 1;
  CnStatus status =
      cn_ranks_rank(ranks) == 2 ? cni_ranks_largest(ranks, &x, 1) : cni_ranks_sum(ranks, &value, 1);
  CREW_CHECK(status == CN_REMOTE && strstr(cn_error_message(), "rank 2 largest") != NULL);
}

static void wrong_size(CnRanks *ranks, void *context) {
  (void)context;
  int32_t other = 1 - cn_ranks_rank(ranks);
  double x[2] = {1, 2}, y[2];
  CnPacket out = {other, 8, x}, in = {other, other == 1 ? 16 : 8, y};
  CnStatus status = cni_ranks_exchange(ranks, &out, 1, &in, 1);
  int64_t value = 1;
  CREW_CHECK((status == CN_REMOTE) == (other == 1));
  CREW_CHECK(cni_ranks_sum(ranks, &value, 1) == CN_REMOTE);
}

static void nobody_waits_for_ever(void **state) {
  (void)state;
  for (int leaves = 0; leaves < 2; leaves++) crew_run(3, one_fails, &leaves);
  crew_run(3, wrong_call, NULL);
  crew_run(2, wrong_size, NULL);
}

// ---- misuse, and no ranks ----

static void misuse_is_refused(void **state) {
  (void)state;
  CnRanks *ranks[2] = {NULL, NULL};
  CnTransport none = {.size = sizeof none, .name = "none"};
  CHECK_STATUS(cn_ranks_create_threads(0, NULL, ranks), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_ranks_create_threads(2, NULL, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_ranks_create(&none, NULL, 0, 1, NULL, ranks), CN_INVALID_ARGUMENT);
  CHECK(ranks[0] == NULL);
  assert_int_equal(cn_ranks_count(NULL), 1);
  assert_int_equal(cn_ranks_rank(NULL), 0);
  assert_string_equal(cn_ranks_transport(NULL), "one");
  int64_t value = 3, sum;
  CHECK_OK(cni_ranks_sum(NULL, &value, 1));
  CHECK_OK(cn_ranks_most(NULL, &value));
  CHECK_STATUS(cn_ranks_most(NULL, NULL), CN_INVALID_ARGUMENT);
  CHECK_OK(cni_ranks_before(NULL, 4, &sum));
  CHECK(value == 3 && sum == 0);
  CHECK_OK(cn_ranks_create_threads(2, NULL, ranks));
  assert_string_equal(cn_ranks_transport(ranks[1]), "threads");
  cn_ranks_fail(NULL, "nothing");
  cn_ranks_destroy(ranks[0]);
  cn_ranks_destroy(ranks[1]);
  cn_ranks_destroy(NULL);
}

// Every allocation may fail; nothing is lost.
static void memory_may_run_out(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  for (int64_t nth = 1;; nth++) {
    CnRanks *ranks[3];
    test_alloc_fail_at(&alloc, nth);
    CnStatus status = cn_ranks_create_threads(3, &hook, ranks);
    for (int i = 0; i < 3; i++) cn_ranks_destroy(ranks[i]);
    if (!alloc.failed_count) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
    test_alloc_check_clean(&alloc);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_arrives),
      cmocka_unit_test(nobody_waits_for_ever),
      cmocka_unit_test(misuse_is_refused),
      cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
