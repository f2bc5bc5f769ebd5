// SPDX-License-Identifier: Apache-2.0
#include "simd_backend.h"
#include "core/simd/simd.h"

static void put(SimdResult *result, SimdOp op, int32_t i, CniWide value) {
  cni_wide_store(&result->out[op][i], value);
}

static CniWide as_numbers(CniMask mask) {
  return cni_wide_select(mask, cni_wide_set(1), cni_wide_set(0));
}

// One where cni_mask_any and the lanes disagree.
static int32_t any_is_wrong(CniMask mask) {
  _Alignas(64) double lane[CNI_LANES];
  cni_wide_store(lane, as_numbers(mask));
  int any = 0;
  for (int i = 0; i < CNI_LANES; ++i) any |= lane[i] == 1;
  return (any != 0) != (cni_mask_any(mask) != 0);
}

static void apply_arithmetic(const SimdData *data, SimdResult *result, int32_t i) {
  CniWide a = cni_wide_load(data->a + i), b = cni_wide_load(data->b + i);
  CniWide c = cni_wide_load(data->c + i);
  put(result, OP_ADD, i, cni_wide_add(a, b));
  put(result, OP_SUB, i, cni_wide_sub(a, b));
  put(result, OP_MUL, i, cni_wide_mul(a, b));
  put(result, OP_DIV, i, cni_wide_div(a, b));
  put(result, OP_SQRT, i, cni_wide_sqrt(a));
  put(result, OP_MUL_ADD, i, cni_wide_add(cni_wide_mul(a, b), c));
  put(result, OP_NEG, i, cni_wide_neg(a));
  put(result, OP_ABS, i, cni_wide_abs(a));
  put(result, OP_MIN, i, cni_wide_min(a, b));
  put(result, OP_MAX, i, cni_wide_max(a, b));
}

static void apply_masks(const SimdData *data, SimdResult *result, int32_t i) {
  CniWide a = cni_wide_load(data->a + i), b = cni_wide_load(data->b + i);
  CniWide c = cni_wide_load(data->c + i);
  CniMask less = cni_wide_less(a, b), other = cni_wide_less(b, c);
  put(result, OP_LESS, i, as_numbers(less));
  put(result, OP_LESS_EQUAL, i, as_numbers(cni_wide_less_equal(a, b)));
  put(result, OP_EQUAL, i, as_numbers(cni_wide_equal(a, b)));
  put(result, OP_AND, i, as_numbers(cni_mask_and(less, other)));
  put(result, OP_OR, i, as_numbers(cni_mask_or(less, other)));
  put(result, OP_NOT, i, as_numbers(cni_mask_not(less)));
  put(result, OP_SELECT, i, cni_wide_select(less, c, a));
  result->wrong_any += any_is_wrong(less);
  result->wrong_any += any_is_wrong(cni_mask_and(less, other));
  result->wrong_any += any_is_wrong(cni_mask_and(less, cni_mask_not(less)));
  result->wrong_any += any_is_wrong(cni_mask_or(less, cni_mask_not(less)));
}

static void apply_moves(const SimdData *data, SimdResult *result, int32_t i) {
  put(result, OP_GATHER, i, cni_wide_gather(data->a, data->index + i));
  cni_wide_scatter(result->out[OP_SCATTER], data->mix + i, cni_wide_load(data->b + i));
  put(result, OP_SET, i, cni_wide_set(data->a[i / 8 * 8]));
}

void CNI_WIDE_NAME(simd_backend)(const SimdData *data, SimdResult *result) {
  result->lanes = CNI_LANES;
  result->wrong_any = 0;
  for (int32_t i = 0; i < SIMD_SIZE; i += CNI_LANES) {
    apply_arithmetic(data, result, i);
    apply_masks(data, result, i);
    apply_moves(data, result, i);
  }
}
