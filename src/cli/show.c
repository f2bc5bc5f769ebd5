// SPDX-License-Identifier: Apache-2.0
// Results in two forms from one sequence of calls: a JSON object for tools, aligned lines for
// people.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define LABEL_WIDTH 18
#define FIRST_COLUMN 16 // of rows

// ---- JSON ----

static void write_quoted(FILE *file, const char *text) {
  fputc('"', file);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '"' || *c == '\\')
      fprintf(file, "\\%c", *c);
    else if (*c == '\n')
      fputs("\\n", file);
    else if (*c < 0x20)
      fprintf(file, "\\u%04x", *c);
    else
      fputc(*c, file);
  }
  fputc('"', file);
}

// Comma, line break at the top of the object and for rows, and the key.
static void write_key(CniShow *show, const char *key) {
  if (show->pending) fputc(',', show->file);
  if (show->depth == 1 || (show->depth == 2 && !key))
    fprintf(show->file, "\n%*s", 2 * show->depth, "");
  else if (show->pending)
    fputc(' ', show->file);
  if (key) {
    write_quoted(show->file, key);
    fputs(": ", show->file);
  }
  show->pending = 1;
}

static void open_json(CniShow *show, const char *key, char bracket) {
  if (show->depth > 0) write_key(show, key);
  fputc(bracket, show->file);
  show->depth++;
  show->pending = 0;
}

static void close_json(CniShow *show, char bracket) {
  int empty = !show->pending;
  show->depth--;
  if (!empty && (show->depth == 0 || bracket == ']'))
    fprintf(show->file, "\n%*s", 2 * show->depth, "");
  fputc(bracket, show->file);
  show->pending = 1;
}

// UTF-8 that is damaged would make the whole object unreadable; such bytes become '?'.
static void write_text(FILE *file, const char *text) {
  size_t length = strlen(text);
  char *copy = malloc(length + 1);
  if (!copy) {
    fputs("\"\"", file);
    return;
  }
  memcpy(copy, text, length + 1);
  for (size_t i = 0; i < length;) {
    unsigned char c = (unsigned char)copy[i];
    size_t more = c < 0x80                ? 0
                  : c >= 0xc2 && c < 0xe0 ? 1
                  : c >= 0xe0 && c < 0xf0 ? 2
                  : c >= 0xf0 && c < 0xf5 ? 3
                                          : 9;
    size_t good = 0;
    while (more < 9 && good < more && ((unsigned char)copy[i + 1 + good] & 0xc0) == 0x80) good++;
    if (good == more)
      i += 1 + more;
    else
      copy[i++] = '?';
  }
  write_quoted(file, copy);
  free(copy);
}

const char *cni_number_text(double value, char buffer[CNI_NUMBER_SIZE]) {
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(buffer, CNI_NUMBER_SIZE, "%.*g", digits, value);
    if (strtod(buffer, NULL) == value) break;
  }
  return buffer;
}

static void write_number(FILE *file, double value) {
  char buffer[CNI_NUMBER_SIZE];
  fputs(isfinite(value) ? cni_number_text(value, buffer) : "null", file);
}

// ---- text ----

// What stands before a value in a line of its own or in a row.
static void begin_text(CniShow *show, const char *label) {
  if (show->row < 0)
    fprintf(show->file, "%-*s", LABEL_WIDTH, label);
  else if (show->row > 0)
    fputs("  ", show->file);
}

// Texts of files may hold what a terminal obeys.
static void put_plain(FILE *file, const char *text) {
  for (; *text; text++) fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, file);
}

static void end_text(CniShow *show, const char *value, const char *unit) {
  size_t length = strlen(value);
  put_plain(show->file, value);
  if (show->row == 0 && !unit[0] && length < FIRST_COLUMN)
    fprintf(show->file, "%*s", (int)(FIRST_COLUMN - length), "");
  if (unit[0]) fputc(' ', show->file);
  put_plain(show->file, unit);
  if (show->row < 0) fputc('\n', show->file);
  if (show->row >= 0) show->row++;
}

// ---- both ----

void cni_show_begin(CniShow *show, FILE *file, int json) {
  *show = (CniShow){.file = file, .json = json, .row = -1};
  if (json) open_json(show, NULL, '{');
}

void cni_show_end(CniShow *show) {
  if (!show->json) return;
  close_json(show, '}');
  fputc('\n', show->file);
}

void cni_show_text(CniShow *show, const char *key, const char *label, const char *text) {
  if (show->json && key) {
    write_key(show, key);
    write_text(show->file, text);
  } else if (!show->json && label) {
    begin_text(show, label);
    end_text(show, text, "");
  }
}

void cni_show_number(CniShow *show, const char *key, const char *label, double value,
                     const char *unit) {
  if (show->json && key) {
    write_key(show, key);
    write_number(show->file, value);
  } else if (!show->json && label) {
    char buffer[CNI_NUMBER_SIZE];
    snprintf(buffer, sizeof buffer, "%.6g", value);
    begin_text(show, label);
    end_text(show, buffer, unit);
  }
}

void cni_show_count(CniShow *show, const char *key, const char *label, int64_t value) {
  char buffer[CNI_NUMBER_SIZE];
  snprintf(buffer, sizeof buffer, "%lld", (long long)value);
  if (show->json && key) {
    write_key(show, key);
    fputs(buffer, show->file);
  } else if (!show->json && label) {
    begin_text(show, label);
    end_text(show, buffer, "");
  }
}

void cni_show_flag(CniShow *show, const char *key, const char *label, int value) {
  if (show->json && key) {
    write_key(show, key);
    fputs(value ? "true" : "false", show->file);
  } else if (!show->json && label) {
    begin_text(show, label);
    end_text(show, value ? "yes" : "no", "");
  }
}

void cni_show_vector(CniShow *show, const char *key, const char *label, const double value[3],
                     const char *unit) {
  if (show->json && key) {
    write_key(show, key);
    for (int i = 0; i < 3; i++) {
      fputs(i ? ", " : "[", show->file);
      write_number(show->file, value[i]);
    }
    fputc(']', show->file);
  } else if (!show->json && label) {
    char buffer[128];
    snprintf(buffer, sizeof buffer, "(%g, %g, %g)", value[0], value[1], value[2]);
    begin_text(show, label);
    end_text(show, buffer, unit);
  }
}

void cni_show_numbers(CniShow *show, const char *key, const double *values, int32_t count) {
  if (!show->json) return;
  write_key(show, key);
  fputc('[', show->file);
  for (int32_t i = 0; i < count; i++) {
    if (i > 0) fputs(", ", show->file);
    write_number(show->file, values[i]);
  }
  fputc(']', show->file);
}

void cni_show_list(CniShow *show, const char *key, const char *heading) {
  if (show->json)
    open_json(show, key, '[');
  else if (heading)
    fprintf(show->file, "%s\n", heading);
}

void cni_show_list_end(CniShow *show) {
  if (show->json) close_json(show, ']');
}

void cni_show_row(CniShow *show) {
  if (show->json) {
    open_json(show, NULL, '{');
  } else {
    fputs("  ", show->file);
    show->row = 0;
  }
}

void cni_show_row_end(CniShow *show) {
  if (show->json) {
    close_json(show, '}');
  } else {
    fputc('\n', show->file);
    show->row = -1;
  }
}

void cni_show_table(const CniArgs *args, const char *key, const char *(*name)(int32_t index),
                    const char *(*summary)(int32_t index)) {
  CniShow show;
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_list(&show, key, NULL);
  for (int32_t i = 0; name(i); i++) {
    cni_show_row(&show);
    cni_show_text(&show, "name", "name", name(i));
    cni_show_text(&show, "summary", "summary", summary(i));
    cni_show_row_end(&show);
  }
  cni_show_list_end(&show);
  cni_show_end(&show);
}
