// SPDX-License-Identifier: Apache-2.0
// JSON as a text that a person can read and edit: what fits in a line is in one, numbers have the
// fewest digits that read back the same.
#include <string.h>

#include "core/error.h"
#include "io/robots/robot.h"
#include "io/tools/decimal.h"

#define WIDTH 110

typedef struct Text {
  const CnAllocator *allocator;
  char *bytes;
  int32_t size, capacity;
  CnStatus status;
} Text;

static void add(Text *t, const char *bytes, size_t length) {
  if (t->status != CN_OK) return;
  if (length > (size_t)(INT32_MAX / 2 - t->size)) {
    t->status = cni_bad_data("a scene of more than 1 GB of text");
    return;
  }
  int32_t needed = t->size + (int32_t)length;
  if (needed > t->capacity) // by doubling
    t->status = CNI_RESERVE(t->allocator, t->bytes, t->capacity, t->size, 2 * needed + 100);
  if (t->status != CN_OK) return;
  memcpy(t->bytes + t->size, bytes, length);
  t->size = needed;
}

static void add_word(Text *t, const char *word) { add(t, word, strlen(word)); }

static void add_scalar(Text *t, const json_t *value) {
  char number[CNI_DECIMAL_SIZE];
  if (json_is_number(value)) {
    size_t n = cni_decimal_write(json_number_value(value), number);
    add(t, number, n);
    return;
  }
  char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
  if (!text && t->status == CN_OK) t->status = cni_error_memory(1);
  if (text) add_word(t, text);
  // jansson gave it, so it goes back there
  json_free_t release;
  json_get_alloc_funcs(NULL, &release);
  if (text) release(text);
}

// Length of a value in one line; above WIDTH it does not matter.
static size_t length_of(const json_t *value) {
  size_t length = 2;
  if (json_is_array(value)) {
    for (size_t i = 0; i < json_array_size(value) && length <= WIDTH; i++)
      length += length_of(json_array_get(value, i)) + 2;
  } else if (json_is_object(value)) {
    for (void *at = json_object_iter((json_t *)value); at && length <= WIDTH;
         at = json_object_iter_next((json_t *)value, at))
      length += strlen(json_object_iter_key(at)) + length_of(json_object_iter_value(at)) + 6;
  } else if (json_is_string(value)) {
    length += json_string_length(value);
  } else {
    length += 10;
  }
  return length;
}

static void add_break(Text *t, int32_t indent) {
  add_word(t, "\n");
  for (int32_t i = 0; i < indent; i++) add_word(t, "  ");
}

static void add_value(Text *t, const json_t *value, int32_t indent) {
  int list = json_is_array(value), wide = length_of(value) > WIDTH, first = 1;
  if (!list && !json_is_object(value)) {
    add_scalar(t, value);
    return;
  }
  add_word(t, list ? "[" : "{");
  void *at = list ? NULL : json_object_iter((json_t *)value);
  for (size_t i = 0; list ? i < json_array_size(value) : at != NULL; i++) {
    if (!first) add_word(t, wide ? "," : ", ");
    if (wide) add_break(t, indent + 1);
    first = 0;
    if (!list) {
      json_t *key = json_string(json_object_iter_key(at));
      if (!key && t->status == CN_OK) t->status = cni_error_memory(1);
      if (key) add_scalar(t, key);
      json_decref(key);
      add_word(t, ": ");
    }
    add_value(t, list ? json_array_get(value, i) : json_object_iter_value(at), indent + 1);
    if (!list) at = json_object_iter_next((json_t *)value, at);
  }
  if (wide) add_break(t, indent);
  add_word(t, list ? "]" : "}");
}

CnStatus cni_json_text(const json_t *value, const CnAllocator *allocator, char **text,
                       size_t *length) {
  Text t = {.allocator = allocator};
  add_value(&t, value, 0);
  add(&t, "\n", 2); // with its end
  if (t.status == CN_OK) {
    char *exact = cni_allocate(allocator, (size_t)t.size);
    if (!exact) {
      t.status = cni_error_memory((size_t)t.size);
    } else {
      memcpy(exact, t.bytes, (size_t)t.size);
      *text = exact;
      *length = (size_t)t.size - 1;
    }
  }
  cni_release(allocator, t.bytes, (size_t)t.capacity);
  return t.status;
}
