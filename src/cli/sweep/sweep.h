// SPDX-License-Identifier: Apache-2.0
// A sweep: one scene with many values of its parameters. Every run is a process of its own, every
// run one row of a table. Shared by the files of `cairn sweep`.
#ifndef CNI_CLI_SWEEP_H
#define CNI_CLI_SWEEP_H

#include <cairn/scene.h>
#include <sys/types.h>

#include "cli/cli.h"

// ---- cases: which values go together ----

// Values that change together: one parameter of --set, or all columns of a file of cases.
typedef struct CniAxis {
  char *text;   // holds the keys
  char **keys;  // `width` of them
  double *rows; // count x width
  int32_t width;
  int64_t count, capacity;
} CniAxis;

#define CNI_CASES_MAX 1000000

// All combinations, the last axis changing fastest. Cases are numbered from 1.
typedef struct CniCases {
  CniAxis *axes;
  int32_t axis_count, key_count;
  int64_t count;
} CniCases;

// From --set and --cases. Release also after a failure, which has been told.
int cni_cases_read(const CniArgs *args, CniCases *cases);
void cni_cases_release(CniCases *cases);
const char *cni_cases_key(const CniCases *cases, int32_t key);
double cni_cases_value(const CniCases *cases, int64_t number, int32_t key);
// "mu=0.3, n=100"
const char *cni_cases_text(const CniCases *cases, int64_t number, char *text, size_t size);

// ---- the sweep ----

typedef struct CniSweep {
  const CniArgs *args;
  const char *label; // of the scene, as given
  CniCases cases;
  char **sensors; // names of those whose statistics are in the table
  int32_t sensor_count;
  uint64_t setup; // a number for scene, options and version: rows of another one are not mixed in
} CniSweep;

// ---- one run ----

// In a process of its own: run a case, write the rest of its row to `file` as the last line (standard
// error goes there too: warnings before the row, the reason last where the exit status is not 0). It
// ends when `parent` does. Returns the exit status.
int cni_sweep_case(const CniSweep *sweep, int64_t number, int file, pid_t parent);

// ---- the table ----

// A file of comma-separated values. Rows are appended as runs end, one write each, so that a sweep
// may be killed at any time; at the end they are put in the order of cases.
typedef struct CniTable {
  const CniSweep *sweep;
  const char *path; // null: standard output, at the end
  int file;
  char *header;
  char **rows; // row k - 1 for case k, null where there is none yet
  int mixed;   // rows of the file are not in order, or there twice
  int64_t last;
} CniTable;

// Open or make it and take the rows that it has; `retry`: but those that failed. 0: told why not.
int cni_table_open(CniTable *table, const CniSweep *sweep, const char *path, int force, int retry);
// Take the rows of another table of the same sweep.
int cni_table_take(CniTable *table, const char *path, int retry);
// A row: `rest` behind number and values, up to a line's end; or of a failed run: why.
int cni_table_add(CniTable *table, int64_t number, const char *rest);
int cni_table_add_failed(CniTable *table, int64_t number, const char *why);
int cni_table_failed(const CniTable *table, int64_t number);
int cni_table_trusted(const CniTable *table, int64_t number);
// In the order of cases.
int cni_table_finish(CniTable *table);
void cni_table_release(CniTable *table);

// Has the table a column of this name beside those of the parameters?
int cni_table_has(const CniSweep *sweep, const char *name);

// A field of the table, in quotes where it needs them.
void cni_csv_text(FILE *file, const char *text);

// ---- the processes ----

typedef struct CniCounts {
  int64_t runs, made, failed, distrusted;
  int interrupted;
} CniCounts;

// Run all chosen cases that the table does not have. `jobs` processes at a time.
int cni_sweep_all(const CniSweep *sweep, CniTable *table, const char *chosen, int jobs,
                  CniCounts *counts);

#endif
