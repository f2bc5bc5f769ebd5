// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void write_quoted(FILE *file, const char *text) {
  fputc('"', file);
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '"' || *c == '\\')
      fprintf(file, "\\%c", *c);
    else if (*c < 0x20)
      fprintf(file, "\\u%04x", *c);
    else
      fputc(*c, file);
  }
  fputc('"', file);
}

// Comma, line break for what stands in arrays and at the top level of the object, and the key.
static void write_key(Json *json, const char *key) {
  if (json->pending) fputc(',', json->file);
  if (json->depth == 1 || (json->depth == 2 && !key))
    fprintf(json->file, "\n%*s", 2 * json->depth, "");
  else if (json->pending)
    fputc(' ', json->file);
  if (key) {
    write_quoted(json->file, key);
    fputs(": ", json->file);
  }
  json->pending = 1;
}

void json_open(Json *json, const char *key, char bracket) {
  write_key(json, key);
  fputc(bracket, json->file);
  json->depth++;
  json->pending = 0;
}

void json_close(Json *json, char bracket) {
  json->depth--;
  if (json->depth == 0 || bracket == ']') fprintf(json->file, "\n%*s", 2 * json->depth, "");
  fputc(bracket, json->file);
  if (json->depth == 0) fputc('\n', json->file);
  json->pending = 1;
}

void json_number(Json *json, const char *key, double value) {
  write_key(json, key);
  if (isfinite(value))
    fprintf(json->file, "%.9g", value);
  else
    fputs("null", json->file);
}

void json_text(Json *json, const char *key, const char *value) {
  write_key(json, key);
  write_quoted(json->file, value);
}

void json_flag(Json *json, const char *key, int value) {
  write_key(json, key);
  fputs(value ? "true" : "false", json->file);
}

// What follows "key": in the line.
static const char *find(const char *line, const char *key) {
  size_t length = strlen(key);
  for (const char *at = strchr(line, '"'); at; at = strchr(at + 1, '"')) {
    if (strncmp(at + 1, key, length) != 0 || at[1 + length] != '"') continue;
    const char *value = at + 2 + length;
    value += strspn(value, " ");
    if (*value == ':') return value + 1 + strspn(value + 1, " ");
  }
  return NULL;
}

int json_find_number(const char *line, const char *key, double *value) {
  const char *text = find(line, key);
  char *end = NULL;
  if (!text) return 0;
  *value = strtod(text, &end);
  return end != text;
}

int json_find_text(const char *line, const char *key, char *value, size_t capacity) {
  const char *text = find(line, key);
  if (!text || *text != '"') return 0;
  size_t length = strcspn(text + 1, "\"");
  if (length >= capacity) length = capacity - 1;
  memcpy(value, text + 1, length);
  value[length] = 0;
  return 1;
}
