// SPDX-License-Identifier: Apache-2.0
// 64-bit hash of bytes and of numbers; the same value on every machine.
#ifndef CNI_CORE_HASH_H
#define CNI_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define CNI_HASH_START 0x9e3779b97f4a7c15u

// Mix bytes into a hash. Chaining calls equals one call only if the pieces are multiples of 8
// bytes.
uint64_t cni_hash_bytes(uint64_t hash, const void *data, size_t size);
uint64_t cni_hash_u64(uint64_t hash, uint64_t value);
// Numbers by their bits; -0 counts as 0 so that equal states have equal hashes.
uint64_t cni_hash_doubles(uint64_t hash, const double *values, size_t count);

#endif
