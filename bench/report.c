// SPDX-License-Identifier: Apache-2.0
// Rows of figures and their two printed forms: a JSON object for tools, a table for people.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "json.h"
#include "machine.h"

#define BUSY_LOAD 0.3 // processors used by others above which a figure is not to be trusted

// ---- rows -------------------------------------------------------------------------------------

Row *report_row_begin(Report *report) {
  Row *rows = realloc(report->rows, ((size_t)report->row_count + 1) * sizeof *rows);
  if (!rows) {
    fprintf(stderr, "cairn-bench: out of memory\n");
    return NULL;
  }
  report->rows = rows;
  Row *row = &rows[report->row_count++];
  memset(row, 0, sizeof *row);
  row->watch = load_watch_start();
  return row;
}

void report_row_end(Report *report, Row *row) {
  double load = load_watch_end(&row->watch);
  if (load < 0) load = report->load_at_start;
  row_number(row, "load", load);
  row_flag(row, "busy", !(load <= BUSY_LOAD));
}

// The field of that name, or the next free one; the last is overwritten by a benchmark with too
// many.
static Field *add(Row *row, const char *key, FieldKind kind) {
  int32_t i = 0;
  while (i < row->field_count && strcmp(row->fields[i].key, key) != 0) i++;
  if (i == ROW_FIELDS) i--;
  if (i == row->field_count) row->field_count++;
  Field *field = &row->fields[i];
  memset(field, 0, sizeof *field);
  field->key = key;
  field->kind = kind;
  return field;
}

void row_number(Row *row, const char *key, double value) {
  add(row, key, FIELD_NUMBER)->number = value;
}

void row_text(Row *row, const char *key, const char *value) {
  Field *field = add(row, key, FIELD_TEXT);
  snprintf(field->text, sizeof field->text, "%s", value);
}

void row_flag(Row *row, const char *key, int value) {
  add(row, key, FIELD_FLAG)->number = value ? 1 : 0;
}

const Field *row_find(const Row *row, const char *key) {
  for (int32_t i = 0; i < row->field_count; i++)
    if (strcmp(row->fields[i].key, key) == 0) return &row->fields[i];
  return NULL;
}

// ---- JSON -------------------------------------------------------------------------------------

static void print_machine(const Report *report, Json *json) {
  char cpu[128];
  machine_cpu(cpu, sizeof cpu);
  json_open(json, "machine", '{');
  json_text(json, "cpu", cpu);
  json_number(json, "cores", machine_cores());
  json_text(json, "compiler", machine_compiler());
  json_number(json, "load_average", report->load_at_start);
  json_close(json, '}');
}

void report_print_json(const Report *report, const Bench *bench, FILE *file) {
  Json json = {file, 0, 0};
  json_open(&json, NULL, '{');
  json_text(&json, "name", bench->name);
  print_machine(report, &json);
  json_open(&json, "rows", '[');
  for (int32_t i = 0; i < report->row_count; i++) {
    const Row *row = &report->rows[i];
    json_open(&json, NULL, '{');
    for (int32_t k = 0; k < row->field_count; k++) {
      const Field *field = &row->fields[k];
      if (field->kind == FIELD_NUMBER) json_number(&json, field->key, field->number);
      if (field->kind == FIELD_TEXT) json_text(&json, field->key, field->text);
      if (field->kind == FIELD_FLAG) json_flag(&json, field->key, field->number != 0);
    }
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_close(&json, '}');
}

// ---- table ------------------------------------------------------------------------------------

static void format_field(const Field *field, char *text, size_t capacity) {
  if (!field)
    snprintf(text, capacity, "-");
  else if (field->kind == FIELD_TEXT)
    snprintf(text, capacity, "%s", field->text);
  else if (field->kind == FIELD_FLAG)
    snprintf(text, capacity, "%s", field->number != 0 ? "yes" : "no");
  else if (fabs(field->number) >= 1000 || field->number == floor(field->number))
    snprintf(text, capacity, "%.0f", field->number);
  else
    snprintf(text, capacity, "%.3g", field->number);
}

static int column_width(const Report *report, const Column *column) {
  int width = (int)strlen(column->heading);
  for (int32_t i = 0; i < report->row_count; i++) {
    char text[128];
    format_field(row_find(&report->rows[i], column->key), text, sizeof text);
    if ((int)strlen(text) > width) width = (int)strlen(text);
  }
  return width;
}

// First column to the left, figures to the right.
static void print_cell(FILE *file, int first, int width, const char *text) {
  fprintf(file, "%s%*s", first ? "" : "  ", first ? -width : width, text);
}

void report_print_table(const Report *report, const Bench *bench, FILE *file) {
  char cpu[128];
  machine_cpu(cpu, sizeof cpu);
  fprintf(file, "%s: %s\n%s, %d processors, %s, load average %.2f\n\n", bench->name, bench->summary,
          cpu, machine_cores(), machine_compiler(), report->load_at_start);
  for (int32_t i = -1; i < report->row_count; i++) {
    for (const Column *c = bench->columns; c->key; c++) {
      char text[128];
      if (i < 0)
        snprintf(text, sizeof text, "%s", c->heading);
      else
        format_field(row_find(&report->rows[i], c->key), text, sizeof text);
      print_cell(file, c == bench->columns, column_width(report, c), text);
    }
    const Field *busy = i < 0 ? NULL : row_find(&report->rows[i], "busy");
    fprintf(file, "%s\n", busy && busy->number != 0 ? "  (busy machine)" : "");
  }
}
