// SPDX-License-Identifier: Apache-2.0
// 64-bit hash: every 8 bytes are joined to the hash and scrambled.
//
// The scrambler is a bijection of 64 bits (shifts and odd multipliers), so two inputs of which one
// word differs never collide, and every input bit reaches every output bit. Bytes are read as
// little-endian words by arithmetic, not by address: the value is the same on every machine.
// Not for adversaries.

#include "core/hash.h"

#include <string.h>

static uint64_t scramble(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 29;
  x *= 0xa0761d6478bd642fu;
  x ^= x >> 32;
  return x;
}

// Little-endian word of at most 8 bytes.
static uint64_t word_of(const unsigned char *bytes, size_t size) {
  uint64_t word = 0;
  for (size_t i = 0; i < size; ++i) word |= (uint64_t)bytes[i] << (8 * i);
  return word;
}

uint64_t cni_hash_u64(uint64_t hash, uint64_t value) {
  return scramble((hash ^ value) + CNI_HASH_START);
}

uint64_t cni_hash_bytes(uint64_t hash, const void *data, size_t size) {
  const unsigned char *bytes = data;
  size_t whole = size / 8 * 8;
  for (size_t i = 0; i < whole; i += 8) hash = cni_hash_u64(hash, word_of(bytes + i, 8));
  // The rest is padded with zeros; its length is mixed in so that zeros at the end count.
  size_t rest = size - whole;
  if (rest > 0) {
    hash = cni_hash_u64(hash, word_of(bytes + whole, rest));
    hash = cni_hash_u64(hash, rest);
  }
  return hash;
}

uint64_t cni_hash_doubles(uint64_t hash, const double *values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    double value = values[i] == 0 ? 0.0 : values[i];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash = cni_hash_u64(hash, bits);
  }
  return hash;
}
