// SPDX-License-Identifier: Apache-2.0
// Benchmarks: a table of them, what each gets, and the rows it reports.
//
// A benchmark is one file bench_NAME.c that defines `const Bench bench_NAME`, and one row of
// bench_list.inc. It gets its parameters as text (defaults unless --set changed them) and fills
// rows of figures; main.c prints them as a table or as JSON.
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdint.h>
#include <stdio.h>

// ---- rows -------------------------------------------------------------------------------------

typedef enum FieldKind { FIELD_NUMBER, FIELD_TEXT, FIELD_FLAG } FieldKind;

typedef struct Field {
  const char *key; // a constant
  FieldKind kind;
  double number;  // or flag
  char text[128]; // shortened to fit
} Field;

// How much of the machine others used, found from the kernel's counters.
typedef struct LoadWatch {
  double wall, busy, own; // s; busy is negative where the kernel does not tell
} LoadWatch;
LoadWatch load_watch_start(void);
double load_watch_end(const LoadWatch *start); // processors kept busy by others, mean; < 0: unknown
double load_average(void);                     // of the last minute; < 0: unknown

#define ROW_FIELDS 48
typedef struct Row {
  Field fields[ROW_FIELDS];
  int32_t field_count;
  LoadWatch watch;
} Row;

typedef struct Report {
  Row *rows;
  int32_t row_count;
  double load_at_start; // load average
} Report;

// A new row, timed for load from here to report_row_end; null when there is no memory. Rows move
// when the next one is made.
Row *report_row_begin(Report *report);
// Adds `load` (processors others used meanwhile) and `busy` (more than 0.3 of one).
void report_row_end(Report *report, Row *row);
void row_number(Row *row, const char *key, double value);
void row_text(Row *row, const char *key, const char *value);
void row_flag(Row *row, const char *key, int value);
const Field *row_find(const Row *row, const char *key); // null: none

// ---- benchmarks -------------------------------------------------------------------------------

typedef struct Parameter {
  const char *key, *value, *help; // value: the default
} Parameter;

typedef struct Column {
  const char *key, *heading; // of the table for people
} Column;

#define BENCH_PARAMETERS 12
typedef struct Values {
  const Parameter *parameters;          // ends with a null key
  const char *values[BENCH_PARAMETERS]; // in the order of the parameters
  const char *directory;                // where peers/ is
} Values;

typedef struct Bench {
  const char *name, *summary;
  const Parameter *parameters;                      // ends with a null key
  const Column *columns;                            // ends with a null key
  int (*run)(const Values *values, Report *report); // 1: done; 0: failed, a line is on stderr
} Bench;

const char *value_text(const Values *values, const char *key);
double value_number(const Values *values, const char *key); // not a number if it is none

// A whole number in [low, high], or a list of them separated by commas. 0 and a line on stderr
// otherwise.
#define VALUE_LIST 16 // numbers in a list at most
int value_whole(const Values *values, const char *key, double low, double high, int32_t *result);
int value_list(const Values *values, const char *key, double low, double high,
               int32_t numbers[VALUE_LIST], int32_t *count);

// ---- output -----------------------------------------------------------------------------------

void report_print_json(const Report *report, const Bench *bench, FILE *file);
void report_print_table(const Report *report, const Bench *bench, FILE *file);

#endif
