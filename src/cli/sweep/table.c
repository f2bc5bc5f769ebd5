// SPDX-License-Identifier: Apache-2.0
// The table of a sweep, comma-separated values:
//
//   case,setup,PARAMETER...,status,steps,time,SENSOR.last,SENSOR.mean,SENSOR.min,SENSOR.max,...,
//   certificate,certificate_max,not_converged,verdict,hash,error
//
// A row is known by what it begins with: number, setup and values. There is nothing in it that
// differs from one time to the next (no clock), so that a sweep that was killed and repeated gives
// the same file as one that was not. A row is written by one call at the end of the file; a last
// line without its end is one that a kill cut off, and goes.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/sweep/sweep.h"

// ---- text ----

void cni_csv_text(FILE *file, const char *text) {
  int quoted = text[strcspn(text, ",\"")] != 0;
  if (quoted) fputc('"', file);
  for (const char *c = text; *c; c++) {
    if (*c == '"') fputc('"', file);
    fputc((unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c, file);
  }
  if (quoted) fputc('"', file);
}

static int32_t field_count(const char *line, size_t length) {
  int32_t count = 1, quoted = 0;
  for (size_t i = 0; i < length; i++) {
    if (line[i] == '"') quoted = !quoted;
    count += line[i] == ',' && !quoted;
  }
  return count;
}

static const char *const statistics[] = {"last", "mean", "min", "max"};

int cni_table_has(const CniSweep *sweep, const char *name) {
  static const char *const own[] = {"case",          "setup",   "status",      "steps",
                                    "time",          "verdict", "certificate", "certificate_max",
                                    "not_converged", "hash",    "error"};
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (strcmp(own[i], name) == 0) return 1;
  const char *dot = strrchr(name, '.');
  for (int32_t i = 0; dot && i < 4 * sweep->sensor_count; i++) {
    const char *sensor = sweep->sensors[i / 4];
    size_t length = (size_t)(dot - name);
    if (strlen(sensor) == length && strncmp(sensor, name, length) == 0 &&
        strcmp(dot + 1, statistics[i % 4]) == 0)
      return 1;
  }
  return 0;
}

static char *make_header(const CniSweep *sweep) {
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  if (!file) return NULL;
  fputs("case,setup,", file);
  for (int32_t i = 0; i < sweep->cases.key_count; i++) {
    cni_csv_text(file, cni_cases_key(&sweep->cases, i));
    fputc(',', file);
  }
  fputs("status,steps,time,", file);
  for (int32_t i = 0; i < 4 * sweep->sensor_count; i++) {
    char name[256];
    snprintf(name, sizeof name, "%s.%s", sweep->sensors[i / 4], statistics[i % 4]);
    cni_csv_text(file, name);
    fputc(',', file);
  }
  fputs("certificate,certificate_max,not_converged,verdict,hash,error\n", file);
  if (fclose(file) == 0) return text;
  free(text);
  return NULL;
}

// What the row of a case begins with.
static void write_prefix(const CniSweep *sweep, int64_t number, FILE *file) {
  fprintf(file, "%lld,%016llx,", (long long)number, (unsigned long long)sweep->setup);
  for (int32_t i = 0; i < sweep->cases.key_count; i++) {
    char value[CNI_NUMBER_SIZE];
    fprintf(file, "%s,", cni_number_text(cni_cases_value(&sweep->cases, number, i), value));
  }
}

static char *join(const CniSweep *sweep, int64_t number, const char *rest) {
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  if (!file) return NULL;
  write_prefix(sweep, number, file);
  fputs(rest, file);
  if (fclose(file) == 0) return text;
  free(text);
  return NULL;
}

// ---- rows ----

static const char *status_of(const CniTable *table, int64_t number) {
  const char *row = table->rows[number - 1];
  for (int32_t i = 0; row && i < 2 + table->sweep->cases.key_count; i++) row = strchr(row, ',') + 1;
  return row ? row : "";
}

int cni_table_failed(const CniTable *table, int64_t number) {
  return strncmp(status_of(table, number), "failed,", 7) == 0;
}

int cni_table_trusted(const CniTable *table, int64_t number) {
  const char *row = table->rows[number - 1];
  return row && strstr(row, ",trusted,") != NULL;
}

// Keep a row; the table owns it.
static void keep(CniTable *table, int64_t number, char *row) {
  if (table->rows[number - 1] || number < table->last) table->mixed = 1;
  free(table->rows[number - 1]);
  table->rows[number - 1] = row;
  table->last = number;
}

static int write_all(int file, const char *text) {
  size_t left = strlen(text);
  while (left > 0) {
    ssize_t count = write(file, text, left);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return 0;
    text += count;
    left -= (size_t)count;
  }
  return 1;
}

static int add(CniTable *table, int64_t number, char *row) {
  if (!row) return cni_fail(table->sweep->args, "out of memory");
  if (table->path && !write_all(table->file, row)) {
    free(row);
    return cni_fail(table->sweep->args, "%s: %s", table->path, strerror(errno));
  }
  keep(table, number, row);
  return CNI_EXIT_DONE;
}

int cni_table_add(CniTable *table, int64_t number, const char *rest) {
  return add(table, number, join(table->sweep, number, rest));
}

int cni_table_add_failed(CniTable *table, int64_t number, const char *why) {
  char *text = NULL, *row = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  if (file) {
    fputs("failed,", file);
    for (int32_t i = 0; i < 7 + 4 * table->sweep->sensor_count; i++) fputc(',', file);
    cni_csv_text(file, why);
    fputc('\n', file);
    if (fclose(file) == 0) row = join(table->sweep, number, text);
  }
  free(text);
  return add(table, number, row);
}

// ---- reading ----

static char *read_whole(int file, size_t *size) {
  struct stat info;
  if (fstat(file, &info) != 0 || info.st_size < 0) return NULL;
  char *text = malloc((size_t)info.st_size + 1);
  if (!text) return NULL;
  *size = 0;
  while (*size < (size_t)info.st_size) {
    ssize_t count = pread(file, text + *size, (size_t)info.st_size - *size, (off_t)*size);
    if (count <= 0) break;
    *size += (size_t)count;
  }
  text[*size] = 0;
  return text;
}

// One whole line of a table; 0 if it is none of this sweep's.
static int take_line(CniTable *table, const char *line, size_t length, int retry) {
  const CniSweep *sweep = table->sweep;
  char *end = NULL;
  long long number = strtoll(line, &end, 10);
  if (memchr(line, 0, length) || number < 1 || number > sweep->cases.count || *end != ',') return 0;
  char *start = join(sweep, number, "");
  int same = start && strncmp(line, start, strlen(start)) == 0;
  free(start);
  if (!same || field_count(line, length) != 11 + sweep->cases.key_count + 4 * sweep->sensor_count)
    return 0;
  char *row = strndup(line, length);
  if (!row) return 0;
  keep(table, number, row);
  if (retry && cni_table_failed(table, number)) {
    free(row);
    table->rows[number - 1] = NULL;
    table->mixed = 1;
  }
  return 1;
}

// All rows of a text; *good is how much of it is whole.
static int take_text(CniTable *table, const char *path, const char *text, size_t size, int retry,
                     size_t *good) {
  const CniArgs *args = table->sweep->args;
  size_t head = strlen(table->header);
  *good = 0;
  if (size < head && strncmp(text, table->header, size) == 0) return CNI_EXIT_DONE;
  if (strncmp(text, table->header, head) != 0)
    return cni_fail(
        args, "%s: is not a table of this sweep: its columns differ (--force replaces it)", path);
  int line = 1;
  for (*good = head; *good < size; line++) {
    const char *end = memchr(text + *good, '\n', size - *good);
    if (!end) break;
    size_t length = (size_t)(end - text) - *good + 1;
    if (!take_line(table, text + *good, length, retry))
      return cni_fail(args,
                      "%s: line %d is not of this sweep: other values, options, scene or version "
                      "(--force replaces the table)",
                      path, line + 1);
    *good += length;
  }
  return CNI_EXIT_DONE;
}

// Nobody else may write the table: its file is locked, and still the one of that name.
static int lock_file(const CniArgs *args, const char *path, int *file) {
  struct stat own, named;
  for (int tries = 0; tries < 10; tries++) {
    *file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (*file < 0) return cni_fail(args, "%s: %s", path, strerror(errno));
    if (flock(*file, LOCK_EX | LOCK_NB) != 0)
      return cni_fail(args, "%s: another sweep writes this table", path);
    if (fstat(*file, &own) == 0 && stat(path, &named) == 0 && own.st_ino == named.st_ino &&
        own.st_dev == named.st_dev)
      return S_ISREG(own.st_mode) ? CNI_EXIT_DONE : cni_fail(args, "%s: is not a file", path);
    close(*file);
  }
  return cni_fail(args, "%s: is being replaced", path);
}

int cni_table_open(CniTable *table, const CniSweep *sweep, const char *path, int force, int retry) {
  const CniArgs *args = sweep->args;
  *table = (CniTable){.sweep = sweep, .path = path, .file = -1};
  table->header = make_header(sweep);
  table->rows = calloc((size_t)sweep->cases.count, sizeof *table->rows);
  if (!table->header || !table->rows) return cni_fail(args, "out of memory");
  if (!path) return CNI_EXIT_DONE;
  int status = lock_file(args, path, &table->file);
  if (status != CNI_EXIT_DONE) return status;
  size_t size = 0, good = 0;
  char *text = read_whole(table->file, &size);
  if (!text) return cni_fail(args, "%s: cannot be read", path);
  if (!force) status = take_text(table, path, text, size, retry, &good);
  free(text);
  if (status != CNI_EXIT_DONE) return status;
  if (ftruncate(table->file, (off_t)good) != 0 ||
      (good == 0 && !write_all(table->file, table->header)))
    return cni_fail(args, "%s: %s", path, strerror(errno));
  return CNI_EXIT_DONE;
}

int cni_table_take(CniTable *table, const char *path, int retry) {
  const CniArgs *args = table->sweep->args;
  size_t size = 0, good = 0;
  CniTable other = *table;
  int file = open(path, O_RDONLY | O_CLOEXEC), status = CNI_EXIT_DONE;
  if (file < 0) return cni_fail(args, "%s: %s", path, strerror(errno));
  char *text = read_whole(file, &size);
  close(file);
  other.rows = calloc((size_t)table->sweep->cases.count, sizeof *other.rows);
  if (!text || !other.rows) status = cni_fail(args, "%s: cannot be read", path);
  if (status == CNI_EXIT_DONE) status = take_text(&other, path, text, size, retry, &good);
  for (int64_t i = 0; other.rows && i < table->sweep->cases.count; i++) {
    if (other.rows[i] && !table->rows[i] && status == CNI_EXIT_DONE)
      status = add(table, i + 1, other.rows[i]);
    else
      free(other.rows[i]);
  }
  free(other.rows);
  free(text);
  return status;
}

// ---- the end ----

static int write_table(const CniTable *table, FILE *file) {
  fputs(table->header, file);
  for (int64_t i = 0; i < table->sweep->cases.count; i++)
    if (table->rows[i]) fputs(table->rows[i], file);
  return fflush(file) == 0 && !ferror(file);
}

int cni_table_finish(CniTable *table) {
  const CniArgs *args = table->sweep->args;
  char path[4096];
  if (!table->path) {
    write_table(table, stdout);
    return CNI_EXIT_DONE;
  }
  if (!table->mixed) return CNI_EXIT_DONE;
  if (snprintf(path, sizeof path, "%s.sorted", table->path) >= (int)sizeof path)
    return cni_fail(args, "%s: the name is too long", table->path);
  FILE *file = fopen(path, "w");
  int good = file && write_table(table, file) && fsync(fileno(file)) == 0;
  if (file && fclose(file) != 0) good = 0;
  if (good && rename(path, table->path) == 0) return CNI_EXIT_DONE;
  int error = errno;
  unlink(path);
  return cni_fail(args, "%s: %s", path, strerror(error));
}

void cni_table_release(CniTable *table) {
  for (int64_t i = 0; table->rows && i < table->sweep->cases.count; i++) free(table->rows[i]);
  free(table->rows);
  free(table->header);
  if (table->file >= 0) close(table->file);
}
