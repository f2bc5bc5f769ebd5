// SPDX-License-Identifier: Apache-2.0
// Names of scenes: kept, found, and guessed.
//
// "Did you mean" counts single letters changed, added, left out, or swapped with a neighbour
// (restricted Damerau-Levenshtein distance) and accepts a third of the word's length, at least one.
#include "io/tools/names.h"

#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/hash.h"
#include "core/memory.h"

// ---- strings that stay ----

#define CHUNK_SIZE 65536

struct CniTextChunk {
  CniTextChunk *next;
  size_t size, used; // bytes after this head
};

const char *cni_text_keep(CniTextPool *pool, const CnAllocator *allocator, const char *text,
                          size_t size) {
  CniTextChunk *chunk = pool->chunks;
  if (!chunk || chunk->size - chunk->used < size + 1) {
    size_t room = size + 1 > CHUNK_SIZE ? size + 1 : CHUNK_SIZE;
    chunk = cni_allocate(allocator, sizeof *chunk + room);
    if (!chunk) {
      cni_error_memory(sizeof *chunk + room);
      return NULL;
    }
    *chunk = (CniTextChunk){pool->chunks, room, 0};
    pool->chunks = chunk;
  }
  char *copy = (char *)(chunk + 1) + chunk->used;
  if (size > 0) memcpy(copy, text, size);
  copy[size] = 0;
  chunk->used += size + 1;
  return copy;
}

void cni_text_release(CniTextPool *pool, const CnAllocator *allocator) {
  while (pool->chunks) {
    CniTextChunk *chunk = pool->chunks;
    pool->chunks = chunk->next;
    cni_release(allocator, chunk, sizeof *chunk + chunk->size);
  }
}

// ---- the table ----

// The entry of a name, or the free one where it belongs.
static int32_t place_of(const CniNameTable *table, const char *name) {
  uint64_t hash = cni_hash_bytes(CNI_HASH_START, name, strlen(name));
  uint32_t mask = (uint32_t)table->capacity - 1;
  uint32_t i = (uint32_t)hash & mask;
  while (table->entries[i].name && strcmp(table->entries[i].name, name) != 0) i = (i + 1) & mask;
  return (int32_t)i;
}

int32_t cni_name_find(const CniNameTable *table, const char *name) {
  if (table->count == 0) return -1;
  const CniNameEntry *entry = &table->entries[place_of(table, name)];
  return entry->name ? entry->value : -1;
}

// Twice the room; at most half of the entries are ever in use.
static CnStatus grow(CniNameTable *table, const CnAllocator *allocator) {
  CniNameTable larger = {NULL, table->capacity ? 2 * table->capacity : 64, table->count};
  size_t bytes = (size_t)larger.capacity * sizeof *larger.entries;
  larger.entries = cni_allocate(allocator, bytes);
  if (!larger.entries) return cni_error_memory(bytes);
  for (int32_t i = 0; i < larger.capacity; i++) larger.entries[i] = (CniNameEntry){NULL, -1};
  for (int32_t i = 0; i < table->capacity; i++) {
    const CniNameEntry *entry = &table->entries[i];
    if (entry->name) larger.entries[place_of(&larger, entry->name)] = *entry;
  }
  cni_name_release(table, allocator);
  *table = larger;
  return CN_OK;
}

CnStatus cni_name_add(CniNameTable *table, const CnAllocator *allocator, const char *name,
                      int32_t value) {
  if (table->count >= table->capacity / 2) CNI_TRY(grow(table, allocator));
  table->entries[place_of(table, name)] = (CniNameEntry){name, value};
  table->count++;
  return CN_OK;
}

void cni_name_release(CniNameTable *table, const CnAllocator *allocator) {
  CNI_RELEASE(allocator, table->entries, table->capacity);
  *table = (CniNameTable){NULL, 0, 0};
}

// ---- did you mean ----

#define LONGEST 48 // longer words are not guessed

CniNearestName cni_nearest(const char *wanted, size_t length) {
  // a word of one or two letters is near everything: nothing is offered for it
  size_t reach = length < 3 ? 0 : length < 6 ? 1 : length / 3;
  return (CniNearestName){wanted, length, NULL, reach + 1};
}

static size_t smallest(size_t a, size_t b, size_t c) {
  size_t m = a < b ? a : b;
  return m < c ? m : c;
}

static size_t distance(const char *a, size_t n, const char *b, size_t m) {
  // three rows of the table: the swap of neighbours looks two rows back
  size_t rows[3][LONGEST + 1];
  for (size_t j = 0; j <= m; j++) rows[0][j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = smallest(above[j] + 1, row[j - 1] + 1, change);
      int swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && two_above[j - 2] + 1 < row[j]) row[j] = two_above[j - 2] + 1;
    }
  }
  return rows[n % 3][m];
}

void cni_nearest_offer(CniNearestName *nearest, const char *name) {
  if (cni_word_means(nearest->wanted, nearest->length, name)) {
    nearest->best = name;
    nearest->distance = 0;
    return;
  }
  size_t n = nearest->length, m = strlen(name);
  if (n > LONGEST || m > LONGEST) return;
  size_t d = distance(nearest->wanted, n, name, m);
  if (n >= 2 && strncmp(nearest->wanted, name, n) == 0) d = 0; // the beginning of a word is nearest
  // the first of equally near ones stays
  if (d >= nearest->distance || d >= m) return;
  nearest->best = name;
  nearest->distance = d;
}

void cni_nearest_hint(const CniNearestName *nearest, char hint[CNI_HINT_SIZE]) {
  hint[0] = 0;
  if (nearest->best) snprintf(hint, CNI_HINT_SIZE, ", did you mean \"%s\"?", nearest->best);
}
