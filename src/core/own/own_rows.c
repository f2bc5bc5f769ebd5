// SPDX-License-Identifier: Apache-2.0
// The rows that a program has added (own.h). In a file of its own, as the error message is: they must be
// there once in a program.
#include "core/own/own.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const void *rows[CNI_OWN_SORT_COUNT][CNI_OWN_KINDS];
static atomic_int counts[CNI_OWN_SORT_COUNT]; // grows after its row is there
static atomic_flag adding = ATOMIC_FLAG_INIT;
static _Thread_local const CniOwnCall *calls;

const CniOwnCall **cn_own_calls(void) { return &calls; }

int32_t cn_own_count(CniOwnSort sort) {
  return (int32_t)atomic_load_explicit(&counts[sort], memory_order_acquire);
}

const void *cn_own_row(CniOwnSort sort, int32_t index) {
  return index >= 0 && index < cn_own_count(sort) ? rows[sort][index] : NULL;
}

static const char *name_of(const void *row) {
  const char *name;
  memcpy(&name, row, sizeof name);
  return name;
}

static CnStatus refuse(const char *why, const char *name) {
  char text[128];
  snprintf(text, sizeof text, "%s is not registered: %s", name, why);
  return cn_error_set(CN_INVALID_ARGUMENT, text);
}

static CnStatus add(CniOwnSort sort, const void *row) {
  int32_t count = cn_own_count(sort);
  for (int32_t i = 0; i < count; i++)
    if (strcmp(name_of(rows[sort][i]), name_of(row)) == 0)
      return refuse("there is one of that name already", name_of(row));
  if (count == CNI_OWN_KINDS) return refuse("a program has at most 16 of a sort", name_of(row));
  rows[sort][count] = row;
  atomic_store_explicit(&counts[sort], count + 1, memory_order_release);
  return CN_OK;
}

CnStatus cn_own_add(CniOwnSort sort, const void *row) {
  while (atomic_flag_test_and_set_explicit(&adding, memory_order_acquire)) {
  }
  CnStatus status = add(sort, row);
  atomic_flag_clear_explicit(&adding, memory_order_release);
  return status;
}
