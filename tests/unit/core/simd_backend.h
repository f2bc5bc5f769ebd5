// SPDX-License-Identifier: Apache-2.0
// Every wide operation applied to arrays; built once a level by cmake/Tests.cmake.
#ifndef TESTS_SIMD_BACKEND_H
#define TESTS_SIMD_BACKEND_H

#include <stdint.h>

typedef enum SimdOp {
  OP_ADD,
  OP_SUB,
  OP_MUL,
  OP_DIV,
  OP_SQRT,
  OP_MUL_ADD, // a * b + c in two roundings
  OP_NEG,
  OP_ABS,
  OP_MIN,
  OP_MAX,
  OP_LESS, // masks as 1 and 0
  OP_LESS_EQUAL,
  OP_EQUAL,
  OP_AND,
  OP_OR,
  OP_NOT,
  OP_SELECT,  // a < b ? c : a
  OP_GATHER,  // a[index]
  OP_SCATTER, // out[index] = b, index a permutation within each group of 8
  OP_SET,     // the first of each group of 8 lanes
  OP_COUNT
} SimdOp;

#define SIMD_SIZE 4096 // multiple of every width

typedef struct SimdData {
  _Alignas(64) double a[SIMD_SIZE], b[SIMD_SIZE], c[SIMD_SIZE];
  _Alignas(64) int32_t index[SIMD_SIZE]; // any order
  _Alignas(64) int32_t mix[SIMD_SIZE];   // permutes each group of 8
} SimdData;

typedef struct SimdResult {
  _Alignas(64) double out[OP_COUNT][SIMD_SIZE];
  int32_t lanes;
  int32_t wrong_any; // cni_mask_any that disagreed with its lanes
} SimdResult;

typedef void (*SimdBackend)(const SimdData *data, SimdResult *result);

void simd_backend_plain(const SimdData *data, SimdResult *result);
void simd_backend_sse2(const SimdData *data, SimdResult *result);
void simd_backend_avx2(const SimdData *data, SimdResult *result);
void simd_backend_avx512(const SimdData *data, SimdResult *result);
void simd_backend_neon(const SimdData *data, SimdResult *result);

#endif
