// SPDX-License-Identifier: Apache-2.0
// The transport `mpi`: bytes by MPI-3, with nothing that waits for ever.
//
// Every call starts requests that do not block and looks whether they are done, and beside them whether
// some rank has sent the sentence with which it gave up. Then the call fails with it and leaves its
// requests behind: nothing is sent on this communicator any more. Whole numbers are added up and maxima taken by
// MPI, in whatever order: it cannot be seen.
#include <cairn-mpi.h>

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENTENCE 512
#define TAG_DATA 1
#define TAG_NEWS 2
#define LOOKS_BEFORE_YIELD 1000

typedef struct Mpi {
  CnAllocator allocator;
  MPI_Comm comm;
  int rank, count;
  int failed;
  char sentence[SENTENCE]; // of who gave up
  MPI_Request news;        // for it
  MPI_Request *requests;   // of an exchange
  int *places;             // of a gather: counts, then where they begin
  int32_t request_capacity;
} Mpi;

// Null where there is none; MPI types are for any.
static void *take(const CnAllocator *a, size_t size) { return a->allocate(a->context, size, 64); }

static CnStatus no_memory(size_t size) {
  char text[64];
  snprintf(text, sizeof text, "the allocator has no %zu bytes", size);
  return cn_error_set(CN_NO_MEMORY, text);
}

static CnStatus gone(const Mpi *m) { return cn_error_set(CN_REMOTE, m->sentence); }

static CnStatus broken(Mpi *m, const char *what) {
  snprintf(m->sentence, sizeof m->sentence, "rank %d: MPI: %s", m->rank, what);
  m->failed = 1;
  return gone(m);
}

// Until all requests are done.
static CnStatus wait_for(Mpi *m, int count, MPI_Request *requests) {
  int done = 0, news = 0;
  for (int looks = 1;; looks++) {
    if (MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
      return broken(m, "a message did not arrive");
    if (done) return CN_OK;
    if (looks % LOOKS_BEFORE_YIELD) continue;
    if (MPI_Test(&m->news, &news, MPI_STATUS_IGNORE) == MPI_SUCCESS && news) m->failed = 1;
    if (m->failed) return gone(m);
    sched_yield(); // where there are more ranks than cores
  }
}

static CnStatus make_room(Mpi *m, int32_t count) {
  if (count <= m->request_capacity) return CN_OK;
  size_t size = (size_t)count * sizeof *m->requests;
  MPI_Request *requests = take(&m->allocator, size);
  if (!requests) return no_memory(size);
  if (m->requests)
    m->allocator.release(m->allocator.context, m->requests,
                         (size_t)m->request_capacity * sizeof *m->requests);
  m->requests = requests;
  m->request_capacity = count;
  return CN_OK;
}

static CnStatus exchange(void *context, const CnPacket *out, int32_t out_count, const CnPacket *in,
                         int32_t in_count) {
  Mpi *m = context;
  int n = 0;
  if (m->failed) return gone(m);
  CnStatus status = make_room(m, out_count + in_count + 1);
  if (status != CN_OK) return status;
  for (int32_t i = 0; i < in_count; i++) {
    if (in[i].size > INT_MAX) return broken(m, "a packet of more than 2 GB");
    MPI_Irecv(in[i].data, (int)in[i].size, MPI_BYTE, in[i].rank, TAG_DATA, m->comm,
              &m->requests[n++]);
  }
  for (int32_t i = 0; i < out_count; i++) {
    if (out[i].size > INT_MAX) return broken(m, "a packet of more than 2 GB");
    MPI_Isend(out[i].data, (int)out[i].size, MPI_BYTE, out[i].rank, TAG_DATA, m->comm,
              &m->requests[n++]);
  }
  return wait_for(m, n, m->requests);
}

static CnStatus reduce(Mpi *m, void *values, int32_t count, MPI_Datatype type, MPI_Op op) {
  MPI_Request request;
  if (m->failed) return gone(m);
  if (MPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, m->comm, &request) != MPI_SUCCESS)
    return broken(m, "a reduction did not begin");
  return wait_for(m, 1, &request);
}

static CnStatus sum(void *context, int64_t *values, int32_t count) {
  return reduce(context, values, count, MPI_INT64_T, MPI_SUM);
}

static CnStatus largest(void *context, double *values, int32_t count) {
  return reduce(context, values, count, MPI_DOUBLE, MPI_MAX);
}

// In words of eight bytes where all parts are whole ones: 16 GB.
static CnStatus gather(void *context, void *data, const int64_t *start) {
  Mpi *m = context;
  MPI_Request request;
  int64_t unit = 8;
  if (m->failed) return gone(m);
  for (int r = 0; r <= m->count; r++)
    if (start[r] % 8) unit = 1;
  if (start[m->count] / unit > INT_MAX) return broken(m, "more than 2 billion words to gather");
  for (int r = 0; r < m->count; r++) {
    m->places[r] = (int)((start[r + 1] - start[r]) / unit);
    m->places[m->count + r] = (int)(start[r] / unit);
  }
  MPI_Datatype type = unit == 8 ? MPI_INT64_T : MPI_BYTE;
  if (MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, m->places, m->places + m->count,
                      type, m->comm, &request) != MPI_SUCCESS)
    return broken(m, "a gather did not begin");
  return wait_for(m, 1, &request);
}

// Short enough to be sent at once; whoever does not read it is gone.
static void fail(void *context, const char *text) {
  Mpi *m = context;
  if (m->failed) return;
  m->failed = 1;
  snprintf(m->sentence, sizeof m->sentence, "%s", text);
  for (int r = 0; r < m->count; r++) {
    MPI_Request request;
    if (r == m->rank) continue;
    MPI_Isend(m->sentence, SENTENCE, MPI_CHAR, r, TAG_NEWS, m->comm, &request);
    MPI_Request_free(&request);
  }
}

static void destroy(void *context) {
  Mpi *m = context;
  CnAllocator a = m->allocator;
  if (m->news != MPI_REQUEST_NULL) {
    MPI_Cancel(&m->news);
    MPI_Request_free(&m->news);
  }
  // after a failure others do not come to give theirs back
  if (!m->failed) MPI_Comm_free(&m->comm);
  if (m->requests)
    a.release(a.context, m->requests, (size_t)m->request_capacity * sizeof *m->requests);
  a.release(a.context, m->places, 2 * (size_t)m->count * sizeof *m->places);
  a.release(a.context, m, sizeof *m);
}

static const CnTransport transport = {sizeof transport, "mpi",  exchange, sum,
                                      largest,          gather, fail,     destroy};

CnStatus cn_ranks_create_mpi(MPI_Comm communicator, const CnAllocator *allocator, CnRanks **ranks) {
  if (!ranks)
    return cn_error_set(CN_INVALID_ARGUMENT, "cn_ranks_create_mpi: the result pointer is null");
  *ranks = NULL;
  CnAllocator a = allocator ? *allocator : cn_allocator_default();
  Mpi *m = take(&a, sizeof *m);
  if (!m) return no_memory(sizeof *m);
  memset(m, 0, sizeof *m);
  m->allocator = a;
  m->news = MPI_REQUEST_NULL;
  MPI_Comm_rank(communicator, &m->rank);
  MPI_Comm_size(communicator, &m->count);
  size_t size = 2 * (size_t)m->count * sizeof *m->places;
  m->places = take(&a, size);
  if (!m->places || MPI_Comm_dup(communicator, &m->comm) != MPI_SUCCESS) {
    if (m->places) a.release(a.context, m->places, size);
    a.release(a.context, m, sizeof *m);
    return cn_error_set(CN_NO_MEMORY, "a communicator of MPI could not be copied");
  }
  MPI_Irecv(m->sentence, SENTENCE, MPI_CHAR, MPI_ANY_SOURCE, TAG_NEWS, m->comm, &m->news);
  return cn_ranks_create(&transport, m, m->rank, m->count, &a, ranks);
}
