// SPDX-License-Identifier: Apache-2.0
// The transport `threads`: ranks as threads of one process, so that a test of ranks is an ordinary test,
// with sanitizers and a debugger.
//
// Every call is a meeting. Each rank tells where its data lies and waits for the others; then each copies
// what it wants, and waits until all have copied. The first wait ends with CN_REMOTE where some rank has
// failed or left; the second never does, as whoever comes to it reads the memory of the others.
#include "ranks/ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREAD_LIMIT 1024

typedef struct Call {
  const char *name; // of the function that this rank has called
  const CnPacket *out;
  int32_t out_count;
  void *data;
  int32_t count;
} Call;

typedef struct Meeting {
  CnAllocator allocator;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int32_t count, here, copied, members;
  uint64_t round; // of meetings that have begun, and
  uint64_t over;  // ended
  int32_t failed;
  char sentence[CNI_MESSAGE_SIZE];
  Call *calls;
} Meeting;

typedef struct Member {
  Meeting *meeting;
  int32_t rank;
} Member;

// ---- waiting ----

static void fail_locked(Meeting *m, const char *sentence) {
  if (!m->failed) snprintf(m->sentence, sizeof m->sentence, "%s", sentence);
  m->failed = 1;
  pthread_cond_broadcast(&m->changed);
}

// Has somebody called another function?
static void check_calls(Meeting *m) {
  char text[CNI_MESSAGE_SIZE];
  for (int32_t i = 1; i < m->count; i++) {
    if (m->calls[i].name == m->calls[0].name && m->calls[i].count == m->calls[0].count) continue;
    snprintf(text, sizeof text, "rank 0 calls %s of %d, rank %d %s of %d", m->calls[0].name,
             (int)m->calls[0].count, (int)i, m->calls[i].name, (int)m->calls[i].count);
    fail_locked(m, text);
    return;
  }
}

static CnStatus meet(Member *member, Call call) {
  Meeting *m = member->meeting;
  pthread_mutex_lock(&m->lock);
  uint64_t round = m->round;
  if (!m->failed) {
    m->calls[member->rank] = call;
    if (++m->here == m->count) check_calls(m);
    if (m->here == m->count && !m->failed) {
      m->here = 0;
      m->round++;
      pthread_cond_broadcast(&m->changed);
    }
  }
  while (m->round == round && !m->failed) pthread_cond_wait(&m->changed, &m->lock);
  CnStatus status = m->round != round ? CN_OK : cni_error(CN_REMOTE, "%s", m->sentence);
  pthread_mutex_unlock(&m->lock);
  return status;
}

static void part(Member *member) {
  Meeting *m = member->meeting;
  pthread_mutex_lock(&m->lock);
  uint64_t over = m->over;
  if (++m->copied == m->count) {
    m->copied = 0;
    m->over++;
    pthread_cond_broadcast(&m->changed);
  }
  while (m->over == over) pthread_cond_wait(&m->changed, &m->lock);
  pthread_mutex_unlock(&m->lock);
}

// ---- the functions ----

// The packet from one rank to another that is number `nth` among those of the two; null: there is none.
static const CnPacket *packet_to(const Call *call, int32_t rank, int32_t nth) {
  for (int32_t i = 0; i < call->out_count; i++)
    if (call->out[i].rank == rank && nth-- == 0) return &call->out[i];
  return NULL;
}

static CnStatus exchange(void *context, const CnPacket *out, int32_t out_count, const CnPacket *in,
                         int32_t in_count) {
  Member *member = context;
  Meeting *m = member->meeting;
  CnStatus status = CN_OK;
  CNI_TRY(meet(member, (Call){"exchange", out, out_count, NULL, 0}));
  for (int32_t i = 0; status == CN_OK && i < in_count; i++) {
    int32_t nth = 0;
    for (int32_t k = 0; k < i; k++) nth += in[k].rank == in[i].rank;
    const CnPacket *from = in[i].rank >= 0 && in[i].rank < m->count
                               ? packet_to(&m->calls[in[i].rank], member->rank, nth)
                               : NULL;
    if (from && from->size == in[i].size) {
      if (from->size > 0) memcpy(in[i].data, from->data, from->size);
      continue;
    }
    status = cni_error(CN_REMOTE, "rank %d waits for %zu bytes of rank %d, which sends %zu",
                       (int)member->rank, in[i].size, (int)in[i].rank, from ? from->size : 0);
  }
  part(member);
  if (status != CN_OK) {
    pthread_mutex_lock(&m->lock);
    fail_locked(m, cn_error_message());
    pthread_mutex_unlock(&m->lock);
  }
  return status;
}

// Own results must not be written while others read: all copy, then all write. Few numbers at a time.
#define PIECE 64

static CnStatus sum(void *context, int64_t *values, int32_t count) {
  Member *member = context;
  const Meeting *m = member->meeting;
  for (int32_t at = 0; at < count; at += PIECE) {
    int32_t n = count - at < PIECE ? count - at : PIECE;
    int64_t all[PIECE] = {0};
    CNI_TRY(meet(member, (Call){.name = "sum", .data = values + at, .count = n}));
    for (int32_t r = 0; r < m->count; r++)
      for (int32_t i = 0; i < n; i++) all[i] += ((const int64_t *)m->calls[r].data)[i];
    part(member);
    memcpy(values + at, all, (size_t)n * sizeof *all);
  }
  return CN_OK;
}

static CnStatus largest(void *context, double *values, int32_t count) {
  Member *member = context;
  const Meeting *m = member->meeting;
  for (int32_t at = 0; at < count; at += PIECE) {
    int32_t n = count - at < PIECE ? count - at : PIECE;
    double all[PIECE];
    CNI_TRY(meet(member, (Call){.name = "largest", .data = values + at, .count = n}));
    for (int32_t r = 0; r < m->count; r++) {
      const double *x = m->calls[r].data;
      for (int32_t i = 0; i < n; i++) all[i] = r == 0 || x[i] > all[i] ? x[i] : all[i];
    }
    part(member);
    memcpy(values + at, all, (size_t)n * sizeof *all);
  }
  return CN_OK;
}

// Everybody writes to the parts of the others alone.
static CnStatus gather(void *context, void *data, const int64_t *start) {
  Member *member = context;
  const Meeting *m = member->meeting;
  CNI_TRY(meet(member, (Call){.name = "gather", .data = data}));
  for (int32_t r = 0; r < m->count; r++) {
    size_t size = (size_t)(start[r + 1] - start[r]);
    if (r == member->rank || size == 0) continue;
    memcpy((char *)data + start[r], (const char *)m->calls[r].data + start[r], size);
  }
  part(member);
  return CN_OK;
}

static void fail(void *context, const char *sentence) {
  Member *member = context;
  pthread_mutex_lock(&member->meeting->lock);
  fail_locked(member->meeting, sentence);
  pthread_mutex_unlock(&member->meeting->lock);
}

// ---- life ----

static void release(Meeting *m) {
  CnAllocator a = m->allocator;
  pthread_cond_destroy(&m->changed);
  pthread_mutex_destroy(&m->lock);
  cni_release(&a, m->calls, (size_t)m->count * sizeof *m->calls);
  cni_release(&a, m, sizeof *m);
}

// Who leaves does not come to any further meeting.
static void destroy(void *context) {
  Member *member = context;
  Meeting *m = member->meeting;
  char text[CNI_MESSAGE_SIZE];
  snprintf(text, sizeof text, "rank %d has left", (int)member->rank);
  pthread_mutex_lock(&m->lock);
  CnAllocator a = m->allocator;
  fail_locked(m, text);
  int32_t last = --m->members == 0;
  pthread_mutex_unlock(&m->lock);
  cni_release(&a, member, sizeof *member);
  if (last) release(m);
}

static CnStatus create_meeting(int32_t count, const CnAllocator *a, Meeting **meeting) {
  Meeting *m;
  CNI_TRY(cni_new(a, sizeof *m, &m));
  size_t bytes = (size_t)count * sizeof *m->calls;
  m->calls = cni_allocate(a, bytes);
  if (!m->calls) {
    cni_release(a, m, sizeof *m);
    return cni_error_memory(bytes);
  }
  memset(m->calls, 0, bytes);
  m->allocator = *a;
  m->count = count;
  pthread_mutex_init(&m->lock, NULL);
  pthread_cond_init(&m->changed, NULL);
  *meeting = m;
  return CN_OK;
}

static const CnTransport transport = {sizeof transport, "threads", exchange, sum,
                                      largest,          gather,    fail,     destroy};

static CnStatus create_member(Meeting *m, int32_t rank, CnRanks **ranks) {
  Member *member;
  CNI_TRY(cni_new(&m->allocator, sizeof *member, &member));
  *member = (Member){m, rank};
  m->members++;
  return cn_ranks_create(&transport, member, rank, m->count, &m->allocator, ranks);
}

CnStatus cn_ranks_create_threads(int32_t count, const CnAllocator *allocator, CnRanks **ranks) {
  if (!ranks) return cni_invalid("cn_ranks_create_threads: the result pointer is null");
  if (count < 1 || count > THREAD_LIMIT)
    return cni_invalid("cn_ranks_create_threads: count must be 1 to %d (got %d)", THREAD_LIMIT,
                       (int)count);
  for (int32_t i = 0; i < count; i++) ranks[i] = NULL;
  CnAllocator a = allocator ? *allocator : cn_allocator_default();
  Meeting *m = NULL;
  CNI_TRY(create_meeting(count, &a, &m));
  m->members = 1; // this call, so that the meeting stays until all are made
  CnStatus status = CN_OK;
  for (int32_t i = 0; status == CN_OK && i < count; i++) status = create_member(m, i, &ranks[i]);
  for (int32_t i = 0; status != CN_OK && i < count; i++) {
    cn_ranks_destroy(ranks[i]);
    ranks[i] = NULL;
  }
  pthread_mutex_lock(&m->lock);
  int32_t none = --m->members == 0;
  pthread_mutex_unlock(&m->lock);
  if (none) release(m);
  return status;
}
