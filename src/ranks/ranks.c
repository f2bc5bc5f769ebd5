// SPDX-License-Identifier: Apache-2.0
// Ranks by any transport: checks, what one rank answers by itself, and what is made of the functions that
// every transport has.
#include "ranks/ranks.h"

#include <stdio.h>
#include <string.h>

#define RANK_LIMIT (1 << 20)

static CnStatus check(const CnTransport *t, int32_t rank, int32_t count) {
  if (!t || t->size != sizeof *t)
    return cni_invalid("cn_ranks_create: the transport is null or of another version");
  if (!t->name || !t->exchange || !t->sum || !t->largest || !t->gather || !t->fail || !t->destroy)
    return cni_invalid("cn_ranks_create: the transport lacks a function or its name");
  if (count < 1 || count > RANK_LIMIT || rank < 0 || rank >= count)
    return cni_invalid("cn_ranks_create: rank %d of %d does not exist", (int)rank, (int)count);
  return CN_OK;
}

CnStatus cn_ranks_create(const CnTransport *transport, void *context, int32_t rank, int32_t count,
                         const CnAllocator *allocator, CnRanks **ranks) {
  if (!ranks) return cni_invalid("cn_ranks_create: the result pointer is null");
  *ranks = NULL;
  CnAllocator a = allocator ? *allocator : cn_allocator_default();
  CnRanks *made = NULL;
  CnStatus status = check(transport, rank, count);
  if (status == CN_OK) status = cni_new(&a, sizeof *made, &made);
  if (status != CN_OK) {
    if (transport && transport->size == sizeof *transport && transport->destroy)
      transport->destroy(context);
    return status;
  }
  *made = (CnRanks){*transport, context, rank, count, a};
  *ranks = made;
  return CN_OK;
}

void cn_ranks_destroy(CnRanks *ranks) {
  if (!ranks) return;
  CnAllocator a = ranks->allocator;
  ranks->transport.destroy(ranks->context);
  cni_release(&a, ranks, sizeof *ranks);
}

int32_t cn_ranks_rank(const CnRanks *ranks) { return cni_ranks_rank(ranks); }
int32_t cn_ranks_count(const CnRanks *ranks) { return cni_ranks_count(ranks); }
const char *cn_ranks_transport(const CnRanks *ranks) {
  return ranks ? ranks->transport.name : "one";
}

void cn_ranks_fail(CnRanks *ranks, const char *sentence) {
  if (!ranks || ranks->count == 1) return;
  char text[CNI_MESSAGE_SIZE];
  snprintf(text, sizeof text, "rank %d: %s", (int)ranks->rank, sentence ? sentence : "failed");
  ranks->transport.fail(ranks->context, text);
}

CnStatus cni_ranks_tell(CnRanks *ranks, CnStatus status) {
  if (status == CN_NO_MEMORY) cn_ranks_fail(ranks, cn_error_message());
  return status;
}

// ---- what a transport does ----

CnStatus cni_ranks_exchange(CnRanks *r, const CnPacket *out, int32_t out_count, const CnPacket *in,
                            int32_t in_count) {
  if (cni_ranks_count(r) == 1) return CN_OK;
  return r->transport.exchange(r->context, out, out_count, in, in_count);
}

CnStatus cni_ranks_sum(CnRanks *r, int64_t *values, int32_t count) {
  if (cni_ranks_count(r) == 1 || count == 0) return CN_OK;
  return r->transport.sum(r->context, values, count);
}

CnStatus cni_ranks_largest(CnRanks *r, double *values, int32_t count) {
  if (cni_ranks_count(r) == 1 || count == 0) return CN_OK;
  return r->transport.largest(r->context, values, count);
}

CnStatus cn_ranks_most(CnRanks *ranks, int64_t *value) {
  if (!value) return cni_invalid("cn_ranks_most: value is null");
  double x = (double)*value;
  if (x > 0x1p53 || x < -0x1p53)
    return cni_invalid("cn_ranks_most: value must be within 2^53 (got %lld)", (long long)*value);
  CNI_TRY(cni_ranks_largest(ranks, &x, 1));
  *value = (int64_t)x;
  return CN_OK;
}

CnStatus cni_ranks_gather(CnRanks *r, void *data, const int64_t *start) {
  if (cni_ranks_count(r) == 1) return CN_OK;
  return r->transport.gather(r->context, data, start);
}

// ---- what is made of it ----

// What goes to this rank itself is copied.
CnStatus cni_ranks_swap(CnRanks *r, const void *out, const int64_t *out_start, void *in,
                        const int64_t *in_start) {
  int32_t count = cni_ranks_count(r), own = cni_ranks_rank(r), n_out = 0, n_in = 0;
  int64_t stays = out_start[own + 1] - out_start[own];
  if (stays != in_start[own + 1] - in_start[own])
    return cni_invalid("rank %d keeps %lld bytes and waits for %lld", (int)own, (long long)stays,
                       (long long)(in_start[own + 1] - in_start[own]));
  if (stays > 0)
    memcpy((char *)in + in_start[own], (const char *)out + out_start[own], (size_t)stays);
  if (count == 1) return CN_OK;
  size_t bytes = 2 * (size_t)count * sizeof(CnPacket);
  CnPacket *packets = cni_allocate(&r->allocator, bytes);
  if (!packets) return cni_ranks_tell(r, cni_error_memory(bytes));
  CnPacket *from = packets + count;
  for (int32_t i = 0; i < count; i++) {
    size_t sent = (size_t)(out_start[i + 1] - out_start[i]);
    size_t wanted = (size_t)(in_start[i + 1] - in_start[i]);
    // the receiver does not write to what is sent
    if (i != own && sent > 0)
      packets[n_out++] = (CnPacket){i, sent, (char *)(uintptr_t)out + out_start[i]};
    if (i != own && wanted > 0) from[n_in++] = (CnPacket){i, wanted, (char *)in + in_start[i]};
  }
  CnStatus status = cni_ranks_exchange(r, packets, n_out, from, n_in);
  cni_release(&r->allocator, packets, bytes);
  return status;
}

CnStatus cni_ranks_before(CnRanks *r, int64_t value, int64_t *sum) {
  *sum = 0;
  int32_t count = cni_ranks_count(r);
  if (count == 1) return CN_OK;
  size_t bytes = (2 * (size_t)count + 1) * sizeof(int64_t);
  int64_t *values = cni_allocate(&r->allocator, bytes);
  if (!values) return cni_ranks_tell(r, cni_error_memory(bytes));
  int64_t *start = values + count;
  for (int32_t i = 0; i <= count; i++) start[i] = i * (int64_t)sizeof *values;
  values[r->rank] = value;
  CnStatus status = cni_ranks_gather(r, values, start);
  for (int32_t i = 0; status == CN_OK && i < r->rank; i++) *sum += values[i];
  cni_release(&r->allocator, values, bytes);
  return status;
}
