// SPDX-License-Identifier: Apache-2.0
// A cursor over plain text: words, numbers, and messages that name file, line and value.
#include "io/problems/problems_private.h"

#include "io/tools/decimal.h"

#include <stdio.h>
#include <string.h>

static int is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

CniWord cni_text_word(CniText *text) {
  const char *at = text->at;
  while (at < text->end && is_space(*at)) at++;
  CniWord word = {at, 0};
  while (at < text->end && !is_space(*at)) at++;
  word.length = (size_t)(at - word.text);
  text->at = at;
  return word;
}

CniWord cni_text_peek(const CniText *text) {
  CniText copy = *text;
  return cni_text_word(&copy);
}

int cni_word_is(CniWord word, const char *expected) {
  return word.length == strlen(expected) && memcmp(word.text, expected, word.length) == 0;
}

void cni_text_skip_line(CniText *text) {
  const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
  text->at = end ? end + 1 : text->end;
}

int cni_word_integer(CniWord word, int64_t *value) {
  size_t i = word.length > 0 && (word.text[0] == '-' || word.text[0] == '+') ? 1 : 0;
  int64_t n = 0;
  if (i == word.length) return 0;
  for (; i < word.length; i++) {
    char c = word.text[i];
    if (c < '0' || c > '9' || n > INT64_MAX / 16) return 0;
    n = 10 * n + (c - '0');
  }
  *value = word.text[0] == '-' ? -n : n;
  return 1;
}

// ---- messages ----

static int64_t line_of(const CniText *text, const char *place) {
  int64_t line = 1;
  for (const char *c = text->begin; c < place; c++) line += *c == '\n';
  return line;
}

// A word as it can stand in a message: at most 24 characters, nothing that moves a cursor.
static void quote(CniWord word, char out[32]) {
  size_t n = word.length < 24 ? word.length : 24;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)word.text[i];
    out[i] = c < 32 || c > 126 ? '?' : (char)c;
  }
  memcpy(out + n, word.length > n ? "..." : "", word.length > n ? 4 : 1);
}

CnStatus cni_text_fail(const CniText *text, CniWord word, const char *what, const char *problem) {
  char got[32];
  long long line = (long long)line_of(text, word.text);
  quote(word, got);
  if (word.length == 0)
    return cni_bad_data("%s: line %lld: %s: %s (the file ends here)", text->name, line, what,
                        problem);
  return cni_bad_data("%s: line %lld: %s: %s (got \"%s\")", text->name, line, what, problem, got);
}

// ---- numbers ----

CnStatus cni_text_integer(CniText *text, const char *what, int64_t least, int64_t most,
                          int32_t *value) {
  CniWord word = cni_text_word(text);
  int64_t n = 0;
  if (!cni_word_integer(word, &n)) return cni_text_fail(text, word, what, "not a whole number");
  if (n < least || n > most) {
    char problem[80];
    if (least == most)
      snprintf(problem, sizeof problem, "must be %lld", (long long)least);
    else
      snprintf(problem, sizeof problem, "must lie between %lld and %lld", (long long)least,
               (long long)most);
    return cni_text_fail(text, word, what, problem);
  }
  *value = (int32_t)n;
  return CN_OK;
}

static int says_not_finite(CniWord word) {
  for (size_t i = 0; i + 2 < word.length && i < 2; i++) {
    char a = (char)(word.text[i] | 32), b = (char)(word.text[i + 1] | 32);
    char c = (char)(word.text[i + 2] | 32);
    if ((a == 'n' && b == 'a' && c == 'n') || (a == 'i' && b == 'n' && c == 'f')) return 1;
  }
  return 0;
}

CnStatus cni_text_real(CniText *text, const char *what, int64_t index, double *value) {
  CniWord word = cni_text_word(text);
  CniDecimal outcome = cni_decimal_parse(word.text, word.length, value);
  if (outcome == CNI_DECIMAL_OK) return CN_OK;
  char item[96];
  if (index >= 0)
    snprintf(item, sizeof item, "%s[%lld]", what, (long long)index);
  else
    snprintf(item, sizeof item, "%s", what);
  const char *problem = outcome == CNI_DECIMAL_TOO_LARGE ? "too large for a double"
                        : says_not_finite(word)          ? "must be finite"
                                                         : "not a number";
  return cni_text_fail(text, word, item, problem);
}

CnStatus cni_text_room(const CniText *text, const char *what, int64_t count) {
  int64_t left = (int64_t)(text->end - text->at);
  if (count <= left / 2 + 1) return CN_OK;
  return cni_bad_data("%s: %s: %lld numbers announced, but only %lld bytes follow", text->name,
                      what, (long long)count, (long long)left);
}

CnStatus cni_text_reals(CniText *text, const CnAllocator *allocator, const char *what,
                        int32_t count, double **values) {
  *values = NULL;
  CNI_TRY(cni_text_room(text, what, count));
  if (count == 0) return CN_OK;
  size_t bytes = (size_t)count * sizeof(double);
  double *made = cni_allocate(allocator, bytes);
  if (!made) return cni_error_memory(bytes);
  for (int32_t i = 0; i < count; i++) {
    CnStatus status = cni_text_real(text, what, i, &made[i]);
    if (status == CN_OK) continue;
    cni_release(allocator, made, bytes);
    return status;
  }
  *values = made;
  return CN_OK;
}
