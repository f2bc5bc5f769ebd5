// SPDX-License-Identifier: Apache-2.0
// Names: short strings that stay where they are, a table from names to numbers, and the search for
// the name that was meant.
#ifndef CNI_IO_NAMES_H
#define CNI_IO_NAMES_H

#include <cairn/base.h>

// ---- strings that stay ----

typedef struct CniTextChunk CniTextChunk;
typedef struct CniTextPool {
  CniTextChunk *chunks; // newest first
} CniTextPool;
// A copy with a final zero that lives as long as the pool; null: no memory.
const char *cni_text_keep(CniTextPool *pool, const CnAllocator *allocator, const char *text,
                          size_t size);
void cni_text_release(CniTextPool *pool, const CnAllocator *allocator);

// ---- the table ----

typedef struct CniNameEntry {
  const char *name; // borrowed; null: free
  int32_t value;
} CniNameEntry;
typedef struct CniNameTable {
  CniNameEntry *entries; // open addressing, a power of two
  int32_t capacity, count;
} CniNameTable;
// The value kept with a name, -1 if there is none.
int32_t cni_name_find(const CniNameTable *table, const char *name);
// Keep a name that is not in the table; `name` must stay.
CnStatus cni_name_add(CniNameTable *table, const CnAllocator *allocator, const char *name,
                      int32_t value);
void cni_name_release(CniNameTable *table, const CnAllocator *allocator);

// ---- did you mean ----

// The nearest of the names offered, by the number of letters changed, added, left out or swapped.
typedef struct CniNearestName {
  const char *wanted;
  size_t length;
  const char *best; // null: none is near enough
  size_t distance;
} CniNearestName;
CniNearestName cni_nearest(const char *wanted, size_t length);
void cni_nearest_offer(CniNearestName *nearest, const char *name);
// Is it the word that another engine has for ours (words.c)?
int cni_word_means(const char *word, size_t length, const char *name);
// ", did you mean NAME?", or "" without one.
#define CNI_HINT_SIZE 96
void cni_nearest_hint(const CniNearestName *nearest, char hint[CNI_HINT_SIZE]);

#endif
