// SPDX-License-Identifier: Apache-2.0
#include "crew.h"
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int failed;
static char first[1024];

void crew_check(int condition, const char *text, const char *file, int line) {
  if (condition || atomic_fetch_add(&failed, 1) > 0) return;
  snprintf(first, sizeof first, "%s:%d: %s (%s)", file, line, text, cn_error_message());
}

typedef struct Member {
  pthread_t thread;
  CnRanks *ranks;
  void (*task)(CnRanks *ranks, void *context);
  void *context;
} Member;

static void *run(void *context) {
  Member *member = context;
  member->task(member->ranks, member->context);
  cn_ranks_destroy(member->ranks);
  return NULL;
}

void crew_run(int32_t count, void (*task)(CnRanks *ranks, void *context), void *context) {
  Member *members = calloc((size_t)count, sizeof *members);
  CnRanks **ranks = calloc((size_t)count, sizeof *ranks);
  CHECK(members != NULL && ranks != NULL);
  CHECK_OK(cn_ranks_create_threads(count, NULL, ranks));
  atomic_store(&failed, 0);
  for (int32_t i = 0; i < count; i++) {
    members[i] = (Member){.ranks = ranks[i], .task = task, .context = context};
    CHECK(pthread_create(&members[i].thread, NULL, run, &members[i]) == 0);
  }
  for (int32_t i = 0; i < count; i++) pthread_join(members[i].thread, NULL);
  free(members);
  free(ranks);
  if (atomic_load(&failed) > 0) fail_msg("%s", first);
}
