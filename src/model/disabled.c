// SPDX-License-Identifier: Apache-2.0
// Pairs of bodies that do not meet, by their ids, ascending, so that a pair is found by halving.
#include "core/error.h"
#include "core/memory.h"
#include "core/sort.h"
#include "model/model_private.h"

static uint64_t key(CniDisabled pair) { return (uint64_t)pair.a.slot << 32 | pair.b.slot; }

static CniDisabled in_order(CnBodyId a, CnBodyId b) {
  return a.slot < b.slot ? (CniDisabled){a, b} : (CniDisabled){b, a};
}

// The first pair that is not before this one.
static int32_t find(const CniModel *model, CniDisabled pair) {
  int32_t low = 0, high = model->disabled_count;
  CNI_BISECT(low, high, middle, key(model->disabled[middle]) < key(pair))
  return low;
}

static int is_at(const CniModel *model, int32_t i, CniDisabled pair) {
  return i < model->disabled_count && key(model->disabled[i]) == key(pair);
}

static CnStatus check(const CniModel *model, CnBodyId a, CnBodyId b) {
  int32_t i;
  CNI_TRY(cni_model_find_body(model, a, &i));
  CNI_TRY(cni_model_find_body(model, b, &i));
  if (a.slot == b.slot) return cni_invalid("pair: a body and itself");
  return CN_OK;
}

CnStatus cni_model_disable_pair(CniModel *model, CnBodyId a, CnBodyId b) {
  CNI_TRY(check(model, a, b));
  CniDisabled pair = in_order(a, b);
  int32_t i = find(model, pair), count = model->disabled_count;
  if (is_at(model, i, pair)) return CN_OK;
  CNI_TRY(
      CNI_RESERVE(&model->allocator, model->disabled, model->disabled_capacity, count, count + 1));
  memmove(&model->disabled[i + 1], &model->disabled[i], (size_t)(count - i) * sizeof pair);
  model->disabled[i] = pair;
  model->disabled_count++;
  return CN_OK;
}

static void take_out(CniModel *model, int32_t i) {
  size_t after = (size_t)(--model->disabled_count - i) * sizeof *model->disabled;
  memmove(&model->disabled[i], &model->disabled[i + 1], after);
}

CnStatus cni_model_enable_pair(CniModel *model, CnBodyId a, CnBodyId b) {
  CNI_TRY(check(model, a, b));
  CniDisabled pair = in_order(a, b);
  int32_t i = find(model, pair);
  if (is_at(model, i, pair)) take_out(model, i);
  return CN_OK;
}

void cni_disabled_drop(CniModel *model, CnBodyId body) {
  for (int32_t i = model->disabled_count - 1; i >= 0; i--)
    if (model->disabled[i].a.slot == body.slot || model->disabled[i].b.slot == body.slot)
      take_out(model, i);
}

int cni_pair_disabled(const CniModel *model, int32_t body_a, int32_t body_b) {
  if (model->disabled_count == 0) return 0;
  CniDisabled pair = in_order(cni_body_id(model, body_a), cni_body_id(model, body_b));
  return is_at(model, find(model, pair), pair);
}
