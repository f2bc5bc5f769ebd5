// SPDX-License-Identifier: Apache-2.0
// JSON as it comes: a cursor over the text, for problem files, whose arrays are too long for a tree
// of objects. See json_scan.h.
//
// The reader asks for what it expects next (a member, an element, a string, a number) and gets it,
// or a message with its place. What nobody asks for is skipped with a bounded depth and without
// recursion. Numbers are read by decimal.h: the nearest double, whatever the locale.
#include "io/tools/json_scan.h"

#include "io/tools/decimal.h"

#include <stdio.h>
#include <string.h>

static void skip_space(CniText *t) {
  while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t' || *t->at == '\r'))
    t->at++;
}

// What stands here, for a message.
static CniWord word_here(const CniText *text) {
  CniText t = *text;
  skip_space(&t);
  CniWord word = {t.at, 0};
  while (t.at < t.end && word.length < 40) {
    char c = *t.at++;
    if (c == '\n' || (word.length > 0 && (c == ',' || c == ']' || c == '}' || c == ' '))) break;
    word.length++;
  }
  return word;
}

CnStatus cni_json_fail(const CniJson *json, const char *what, const char *problem) {
  return cni_text_fail(&json->text, word_here(&json->text), what, problem);
}

int cni_json_begins(CniJson *json, char c) {
  skip_space(&json->text);
  return json->text.at < json->text.end && *json->text.at == c;
}

static int accept(CniJson *json, char c) {
  if (!cni_json_begins(json, c)) return 0;
  json->text.at++;
  return 1;
}

// ---- strings ----

// The content of a string between the quotes; escapes are checked, not resolved.
static CnStatus scan_string(CniJson *json, const char *what, CniWord *content) {
  CniText *t = &json->text;
  if (!accept(json, '"')) return cni_json_fail(json, what, "expected a string");
  const char *begin = t->at;
  while (t->at < t->end && *t->at != '"') {
    if ((unsigned char)*t->at < 32)
      return cni_json_fail(json, what, "control character in a string");
    if (*t->at == '\\') {
      t->at++;
      if (t->at == t->end || !strchr("\"\\/bfnrtu", *t->at) || *t->at == 0)
        return cni_json_fail(json, what, "unknown escape in a string");
    }
    t->at++;
  }
  if (t->at == t->end) return cni_json_fail(json, what, "string without an end");
  *content = (CniWord){begin, (size_t)(t->at - begin)};
  t->at++;
  return CN_OK;
}

CnStatus cni_json_string(CniJson *json, const char *what, char *value, size_t size) {
  CniWord content = {0};
  value[0] = 0;
  CNI_TRY(scan_string(json, what, &content));
  size_t length = content.length < size ? content.length : size - 1;
  memcpy(value, content.text, length);
  value[length] = 0;
  return CN_OK;
}

CnStatus cni_json_choice(CniJson *json, const char *what, const char *const *names, int32_t count,
                         int32_t *index) {
  CniJson before = *json;
  CniWord word = {0};
  CNI_TRY(scan_string(json, what, &word));
  for (*index = 0; *index < count; ++*index)
    if (cni_word_is(word, names[*index])) return CN_OK;
  char problem[200] = "must be one of";
  size_t used = strlen(problem);
  for (int32_t i = 0; i < count && used < sizeof problem; i++)
    used +=
        (size_t)snprintf(problem + used, sizeof problem - used, "%s%s", i ? ", " : " ", names[i]);
  return cni_json_fail(&before, what, problem);
}

// ---- objects and lists ----

// The comma or the end before the next member; `state` is 1 behind the first.
static int advance(CniJson *json, const char *what, char open, char close, int32_t *state) {
  int first = *state == 0;
  *state = 1;
  if (first && !accept(json, open))
    json->status =
        cni_json_fail(json, what, open == '{' ? "expected an object" : "expected a list");
  else if (accept(json, close))
    return 0;
  else if (!first && !accept(json, ','))
    json->status = cni_json_fail(json, what, close == '}' ? "expected , or }" : "expected , or ]");
  return json->status == CN_OK;
}

int cni_json_member(CniJson *json, const char *what, int32_t *state, char key[CNI_JSON_KEY]) {
  if (!advance(json, what, '{', '}', state)) return 0;
  json->status = cni_json_string(json, what, key, CNI_JSON_KEY);
  if (json->status == CN_OK && !accept(json, ':'))
    json->status = cni_json_fail(json, what, "expected : after a key");
  return json->status == CN_OK;
}

int cni_json_element(CniJson *json, const char *what, int32_t *state) {
  return advance(json, what, '[', ']', state);
}

// ---- numbers ----

// The word of a number by JSON's grammar; empty if there is none.
static CniWord scan_number(CniJson *json) {
  skip_space(&json->text);
  const char *at = json->text.at, *end = json->text.end;
  CniWord word = {at, 0};
  if (at < end && *at == '-') at++;
  const char *digits = at;
  while (at < end && *at >= '0' && *at <= '9') at++;
  if (at == digits || (*digits == '0' && at - digits > 1)) return word;
  if (at < end && *at == '.') {
    const char *fraction = ++at;
    while (at < end && *at >= '0' && *at <= '9') at++;
    if (at == fraction) return word;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    if (at < end && (*at == '+' || *at == '-')) at++;
    const char *exponent = at;
    while (at < end && *at >= '0' && *at <= '9') at++;
    if (at == exponent) return word;
  }
  word.length = (size_t)(at - word.text);
  json->text.at = at;
  return word;
}

CnStatus cni_json_number(CniJson *json, const char *what, double *value) {
  CniJson before = *json;
  CniWord word = scan_number(json);
  *value = 0;
  if (word.length == 0) return cni_json_fail(json, what, "expected a number");
  if (cni_decimal_parse(word.text, word.length, value) != CNI_DECIMAL_OK)
    return cni_json_fail(&before, what, "too large for a double");
  return CN_OK;
}

CnStatus cni_json_integer(CniJson *json, const char *what, int64_t least, int64_t most,
                          int32_t *value) {
  CniJson before = *json;
  CniWord word = scan_number(json);
  int64_t n;
  *value = 0;
  if (word.length == 0 || !cni_word_integer(word, &n))
    return cni_json_fail(&before, what, "expected a whole number");
  if (n < least || n > most) {
    char problem[80];
    snprintf(problem, sizeof problem, "must lie between %lld and %lld", (long long)least,
             (long long)most);
    return cni_json_fail(&before, what, problem);
  }
  *value = (int32_t)n;
  return CN_OK;
}

// ---- literals ----

static int accept_literal(CniJson *json, const char *literal) {
  size_t length = strlen(literal);
  skip_space(&json->text);
  if ((size_t)(json->text.end - json->text.at) < length) return 0;
  if (memcmp(json->text.at, literal, length) != 0) return 0;
  json->text.at += length;
  return 1;
}

CnStatus cni_json_null(CniJson *json, const char *what) {
  return accept_literal(json, "null") ? CN_OK : cni_json_fail(json, what, "expected null");
}

// ---- anything ----

// A value that is no object or list.
static CnStatus skip_simple(CniJson *json, const char *what) {
  CniWord ignored;
  if (cni_json_begins(json, '"')) return scan_string(json, what, &ignored);
  if (accept_literal(json, "true") || accept_literal(json, "false") || accept_literal(json, "null"))
    return CN_OK;
  if (scan_number(json).length > 0) return CN_OK;
  return cni_json_fail(json, what, "expected a value");
}

CnStatus cni_json_skip(CniJson *json, const char *what) {
  // open objects and lists: which, and whether a member has been seen
  char is_object[CNI_JSON_DEPTH], key[CNI_JSON_KEY];
  int32_t state[CNI_JSON_DEPTH], depth = 0;
  do {
    int opens_object = cni_json_begins(json, '{');
    if (opens_object || cni_json_begins(json, '[')) {
      if (depth == CNI_JSON_DEPTH) return cni_json_fail(json, what, "nested too deeply");
      is_object[depth] = (char)opens_object;
      state[depth++] = 0;
    } else {
      CNI_TRY(skip_simple(json, what));
    }
    // to the next value: close whatever has ended
    while (depth > 0 && !(is_object[depth - 1] ? cni_json_member(json, what, &state[depth - 1], key)
                                               : cni_json_element(json, what, &state[depth - 1])))
      depth--;
    CNI_TRY(json->status);
  } while (depth > 0);
  return CN_OK;
}

// ---- lists of numbers ----

CnStatus cni_json_vector(CniJson *json, const char *what, int32_t count, double *values) {
  int32_t state = 0, found = 0;
  CniJson before = *json;
  for (; cni_json_element(json, what, &state); found++) {
    double value;
    CNI_TRY(cni_json_number(json, what, &value));
    if (found < count) values[found] = value;
  }
  CNI_TRY(json->status);
  if (found == count) return CN_OK;
  char problem[60];
  snprintf(problem, sizeof problem, "must have %d numbers, has %d", (int)count, (int)found);
  return cni_json_fail(&before, what, problem);
}

#define MOST_NUMBERS (INT32_MAX / 16)

CnStatus cni_json_numbers(CniJson *json, const char *what, const CnAllocator *allocator,
                          CniNumbers *list) {
  int32_t state = 0;
  double value;
  while (cni_json_element(json, what, &state)) {
    if (list->count == MOST_NUMBERS) return cni_json_fail(json, what, "too many numbers");
    CNI_TRY(cni_json_number(json, what, &value));
    CNI_TRY(CNI_PUSH(allocator, list->value, list->capacity, list->count, value));
  }
  return json->status;
}

CnStatus cni_json_integers(CniJson *json, const char *what, const CnAllocator *allocator,
                           CniIntegers *list) {
  int32_t state = 0, value;
  while (cni_json_element(json, what, &state)) {
    if (list->count == MOST_NUMBERS) return cni_json_fail(json, what, "too many numbers");
    CNI_TRY(cni_json_integer(json, what, INT32_MIN, INT32_MAX, &value));
    CNI_TRY(CNI_PUSH(allocator, list->value, list->capacity, list->count, value));
  }
  return json->status;
}
