// SPDX-License-Identifier: Apache-2.0
// The cases of a sweep: --set KEY=0.1:0.9:0.1 and --set KEY=1,2,5 span a grid; --cases FILE gives
// values that go together, one line a case.
//
// A value of a range is first + i step rounded to 12 digits: 0.1:0.9:0.1 has 0.3 in it and not
// 0.30000000000000004, the same number as --set KEY=0.3 gives.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sweep/sweep.h"

static int no_memory(const CniArgs *args) { return cni_fail(args, "out of memory"); }

// ---- values ----

static int add_value(const CniArgs *args, CniAxis *axis, double value) {
  if (axis->count == axis->capacity) {
    int64_t capacity = axis->capacity ? 2 * axis->capacity : 16;
    double *rows = realloc(axis->rows, (size_t)capacity * sizeof *rows);
    if (!rows) return no_memory(args);
    axis->rows = rows;
    axis->capacity = capacity;
  }
  axis->rows[axis->count++] = value;
  if (axis->count > CNI_CASES_MAX)
    return cni_usage_error(args->command, "more than %d values", CNI_CASES_MAX);
  return CNI_EXIT_DONE;
}

// "0.1:0.9:0.1", with the last where whole steps lead there, else up to it; `text` is one item of a list.
static int add_range(const CniArgs *args, CniAxis *axis, char *text) {
  char *second = strchr(text, ':'), *third = second ? strchr(second + 1, ':') : NULL;
  double first, last, step;
  if (!third || strchr(third + 1, ':'))
    return cni_usage_error(args->command, "--set %s: a range is FIRST:LAST:STEP (got %s)",
                           axis->keys[0], text);
  *second = *third = 0;
  int numbers = cni_number_parse(text, &first) && cni_number_parse(second + 1, &last) &&
                cni_number_parse(third + 1, &step);
  *second = *third = ':';
  if (!numbers)
    return cni_usage_error(args->command, "--set %s: a range is of three numbers (got %s)",
                           axis->keys[0], text);
  double count = floor((last - first) / step + 1e-9) + 1;
  if (!(count >= 1) || step == 0)
    return cni_usage_error(args->command, "--set %s: %s never gets to its end", axis->keys[0],
                           text);
  if (count > CNI_CASES_MAX)
    return cni_usage_error(args->command, "--set %s: more than %d values", axis->keys[0],
                           CNI_CASES_MAX);
  int status = CNI_EXIT_DONE;
  for (int64_t i = 0; status == CNI_EXIT_DONE && i < (int64_t)count; i++) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.12g", first + (double)i * step);
    status = add_value(args, axis, strtod(digits, NULL));
  }
  return status;
}

// One item of a list: a number or a range. A text without quotes, changed in passing.
static int add_item(const CniArgs *args, CniAxis *axis, char *text) {
  double value;
  if (strchr(text, ':')) return add_range(args, axis, text);
  if (cni_number_parse(text, &value)) return add_value(args, axis, value);
  return cni_usage_error(args->command, "--set %s: must be numbers or ranges (got %s)",
                         axis->keys[0], text);
}

static int read_set(const CniArgs *args, const char *text, CniAxis *axis) {
  size_t length = strcspn(text, "="), size = strlen(text) + 1;
  if (length == 0 || text[length] != '=')
    return cni_usage_error(args->command, "--set needs KEY=VALUES (got %s)", text);
  axis->text = malloc(size);
  axis->keys = calloc(1, sizeof *axis->keys);
  if (!axis->text || !axis->keys) return no_memory(args);
  memcpy(axis->text, text, size);
  axis->text[length] = 0;
  axis->keys[0] = axis->text;
  axis->width = 1;
  int status = CNI_EXIT_DONE;
  for (char *item = axis->text + length + 1, *end; item && status == CNI_EXIT_DONE; item = end) {
    end = strchr(item, ',');
    if (end) *end++ = 0;
    status = add_item(args, axis, item);
  }
  return status;
}

// ---- a file of cases ----

#define BLANKS " \t\r"

// A field in quotes, where a comma is a letter and "" a quote, is put in place without them; returns
// what stands behind, null where the quotes do not end.
static char *unquote(char *field) {
  char *to = field, *from = field + 1;
  for (; *from && (*from != '"' || from[1] == '"'); from++) {
    if (*from == '"') from++;
    *to++ = *from;
  }
  if (*from != '"') return NULL;
  char *rest = from + 1 + strspn(from + 1, BLANKS);
  *to = 0;
  return rest;
}

// Cut a line at its commas and keep up to `most` fields, without the blanks around them. Returns how
// many there are, 0 where quotes are wrong.
static int32_t cut_line(char *line, char **fields, int32_t most) {
  for (int32_t count = 1;; count++) {
    char *field = line + strspn(line, BLANKS), *end;
    if (*field == '"') {
      end = unquote(field);
      if (!end || (*end && *end != ',')) return 0;
    } else {
      end = field + strcspn(field, ",");
    }
    int last = *end == 0;
    *end = 0;
    if (count <= most) fields[count - 1] = field;
    line = end + 1;
    while (end > field && strchr(BLANKS, end[-1])) *--end = 0;
    if (last) return count;
  }
}

static int read_head(const CniArgs *args, const char *path, char *line, CniAxis *axis) {
  axis->width = 1;
  for (const char *c = line; *c; c++) axis->width += *c == ',';
  axis->keys = calloc((size_t)axis->width, sizeof *axis->keys);
  if (!axis->keys) return no_memory(args);
  axis->width = cut_line(line, axis->keys, axis->width);
  if (axis->width == 0) return cni_fail(args, "%s: line 1: quotes do not match", path);
  for (int32_t i = 0; i < axis->width; i++)
    if (axis->keys[i][0] == 0)
      return cni_fail(args, "%s: line 1: name %d of a parameter is empty", path, i + 1);
  return CNI_EXIT_DONE;
}

static int read_lines(const CniArgs *args, const char *path, CniAxis *axis) {
  char **fields = NULL, *text = axis->text;
  int status = CNI_EXIT_DONE, number = 0;
  if (strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3; // the mark that spreadsheets put first
  for (char *line = text, *end; line && status == CNI_EXIT_DONE; line = end) {
    end = strchr(line, '\n');
    if (end) *end++ = 0;
    number++;
    if (line[strspn(line, " \t\r")] == 0) continue;
    if (!axis->keys) {
      status = read_head(args, path, line, axis);
      fields = calloc((size_t)axis->width + 1, sizeof *fields);
      if (!fields) status = no_memory(args);
    } else if (cut_line(line, fields, axis->width) != axis->width) {
      status = cni_fail(args, "%s: line %d: must have %d values", path, number, axis->width);
    } else {
      double value;
      for (int32_t i = 0; i < axis->width && status == CNI_EXIT_DONE; i++)
        status = cni_number_parse(fields[i], &value)
                     ? add_value(args, axis, value)
                     : cni_fail(args, "%s: line %d: %s must be a number (got %s)", path, number,
                                axis->keys[i], fields[i]);
    }
  }
  free(fields);
  return status;
}

#define FILE_MAX (64 << 20)

static int read_file(const CniArgs *args, const char *path, CniAxis *axis) {
  FILE *file = fopen(path, "rb");
  if (!file) return cni_fail(args, "%s: cannot be opened", path);
  axis->text = malloc(FILE_MAX + 1);
  size_t size = axis->text ? fread(axis->text, 1, FILE_MAX + 1, file) : 0;
  fclose(file);
  if (!axis->text) return no_memory(args);
  if (size > FILE_MAX) return cni_fail(args, "%s: more than %d bytes", path, FILE_MAX);
  if (memchr(axis->text, 0, size)) return cni_fail(args, "%s: is not a text", path);
  axis->text[size] = 0;
  int status = read_lines(args, path, axis);
  if (status != CNI_EXIT_DONE) return status;
  if (axis->count == 0) return cni_fail(args, "%s: no cases in it", path);
  axis->count /= axis->width;
  return CNI_EXIT_DONE;
}

// ---- all of them ----

static int check_keys(const CniArgs *args, const CniCases *cases) {
  for (int32_t i = 0; i < cases->key_count; i++)
    for (int32_t k = 0; k < i; k++)
      if (strcmp(cni_cases_key(cases, i), cni_cases_key(cases, k)) == 0)
        return cni_usage_error(args->command, "%s is given twice", cni_cases_key(cases, i));
  return CNI_EXIT_DONE;
}

int cni_cases_read(const CniArgs *args, CniCases *cases) {
  const char *path = cni_args_text(args, "cases"), *text;
  int status = CNI_EXIT_DONE;
  int32_t sets = 0;
  while (cni_args_nth(args, "set", sets)) sets++;
  *cases = (CniCases){.count = 1};
  cases->axes = calloc((size_t)sets + 1, sizeof *cases->axes);
  if (!cases->axes) return no_memory(args);
  if (path) status = read_file(args, path, &cases->axes[cases->axis_count++]);
  for (int32_t i = 0; status == CNI_EXIT_DONE && (text = cni_args_nth(args, "set", i)); i++)
    status = read_set(args, text, &cases->axes[cases->axis_count++]);
  for (int32_t i = 0; status == CNI_EXIT_DONE && i < cases->axis_count; i++) {
    cases->key_count += cases->axes[i].width;
    cases->count *= cases->axes[i].count;
    if (cases->count > CNI_CASES_MAX)
      status = cni_usage_error(args->command, "more than %d runs", CNI_CASES_MAX);
  }
  return status == CNI_EXIT_DONE ? check_keys(args, cases) : status;
}

void cni_cases_release(CniCases *cases) {
  for (int32_t i = 0; i < cases->axis_count; i++) {
    free(cases->axes[i].text);
    free(cases->axes[i].keys);
    free(cases->axes[i].rows);
  }
  free(cases->axes);
}

// The axis that a key belongs to; *key becomes its column there.
static const CniAxis *axis_of(const CniCases *cases, int32_t *key) {
  const CniAxis *axis = cases->axes;
  while (*key >= axis->width) *key -= (axis++)->width;
  return axis;
}

const char *cni_cases_key(const CniCases *cases, int32_t key) {
  const CniAxis *axis = axis_of(cases, &key);
  return axis->keys[key];
}

double cni_cases_value(const CniCases *cases, int64_t number, int32_t key) {
  const CniAxis *axis = axis_of(cases, &key);
  int64_t index = number - 1;
  for (const CniAxis *a = cases->axes + cases->axis_count - 1; a > axis; a--) index /= a->count;
  return axis->rows[index % axis->count * axis->width + key];
}

const char *cni_cases_text(const CniCases *cases, int64_t number, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int32_t i = 0; i < cases->key_count && used < size; i++) {
    char value[CNI_NUMBER_SIZE];
    used += (size_t)snprintf(text + used, size - used, "%s%s=%s", i > 0 ? ", " : "",
                             cni_cases_key(cases, i),
                             cni_number_text(cni_cases_value(cases, number, i), value));
  }
  return text;
}
