// SPDX-License-Identifier: Apache-2.0
// The matrix sub-format of text files: dense, block compressed rows, and the dump of a sparse
// matrix. All become one list of entries, then rows.
//
// Dense numbers and the numbers of blocks are column-major. The sparse dump is meant for people:
//
//     CSparse Version ...                                 one line to ignore
//     triplet: 900-by-900, nzmax: 900 nnz: 900            then lines "row col : value"
//     1334-by-1334, nzmax: 3822 nnz: 3822, 1-norm: 7152   then "col j : locations p to q" and lines
//                                                         "row : value"
//
// Its counts are printed with six digits, so that they are wrong from a million on; the list is
// therefore read as long as the colon is where it should be, and compared with the count below.
#include "io/problems/problems_private.h"

#include "sparse/sparse.h"

#include <stdio.h>
#include <string.h>

#define PRINTED_EXACTLY 999999 // the largest count that six digits hold

enum { ORIGIN_TRIPLET = 1, ORIGIN_COLUMNS, ORIGIN_ROWS, ORIGIN_HALF_TRIPLET };

typedef struct Reader {
  CniText *text;
  const CnAllocator *allocator;
  const char *what;
  int32_t rows, columns;
  CniTriplet *entries;
  int32_t entry_count, entry_capacity;
} Reader;

static CnStatus reserve(Reader *r, int64_t needed) {
  if (needed > INT32_MAX / 2)
    return cni_bad_data("%s: %s: more than %d entries", r->text->name, r->what, INT32_MAX / 2);
  return CNI_RESERVE(r->allocator, r->entries, r->entry_capacity, r->entry_count, (int32_t)needed);
}

static CnStatus add(Reader *r, int32_t row, int32_t column, double value) {
  if (r->entry_count == r->entry_capacity) CNI_TRY(reserve(r, (int64_t)r->entry_count + 1));
  r->entries[r->entry_count++] = (CniTriplet){row, column, value};
  return CN_OK;
}

// A whole number, named in messages with the matrix.
static CnStatus read_whole(Reader *r, const char *item, int64_t least, int64_t most,
                           int32_t *value) {
  char name[96];
  snprintf(name, sizeof name, "%s: %s", r->what, item);
  return cni_text_integer(r->text, name, least, most, value);
}

// ---- dense ----

static CnStatus read_dense(Reader *r) {
  int32_t again;
  CNI_TRY(read_whole(r, "rows, repeated", r->rows, r->rows, &again));
  CNI_TRY(read_whole(r, "columns, repeated", r->columns, r->columns, &again));
  int64_t count = (int64_t)r->rows * r->columns;
  CNI_TRY(cni_text_room(r->text, r->what, count));
  CNI_TRY(reserve(r, count));
  for (int64_t i = 0; i < count; i++) {
    double value;
    CNI_TRY(cni_text_real(r->text, r->what, i, &value));
    if (value != 0) CNI_TRY(add(r, (int32_t)(i % r->rows), (int32_t)(i / r->rows), value));
  }
  return CN_OK;
}

// ---- blocks ----

typedef struct Blocks {
  int32_t count, row_count, column_count;
  int32_t pointer_count;
  int32_t *row_end, *column_end, *pointer, *column;
} Blocks;

static CnStatus read_integers(Reader *r, const char *item, int32_t count, int64_t least,
                              int64_t most, int ascending, int32_t *list) {
  for (int32_t i = 0; i < count; i++) {
    if (ascending && i > 0) least = list[i - 1];
    char name[48];
    snprintf(name, sizeof name, "%s[%d]", item, (int)i);
    CNI_TRY(read_whole(r, name, least, most, &list[i]));
  }
  return CN_OK;
}

// The last of a list of ends must be the size of the matrix.
static CnStatus check_end(Reader *r, const char *item, int32_t end, int32_t size) {
  if (end == size) return CN_OK;
  return cni_bad_data("%s: %s: the last %s must be %d (got %d)", r->text->name, r->what, item,
                      (int)size, (int)end);
}

static int32_t extent(const int32_t *ends, int32_t i, int32_t *start) {
  *start = i > 0 ? ends[i - 1] : 0;
  return ends[i] - *start;
}

// The numbers of all blocks fit in the text?
static CnStatus check_blocks(Reader *r, const Blocks *b) {
  int64_t total = 0;
  int32_t start;
  for (int32_t i = 0; i + 1 < b->pointer_count; i++)
    for (int32_t k = b->pointer[i]; k < b->pointer[i + 1]; k++) {
      int64_t rows = extent(b->row_end, i, &start);
      total += 1 + rows * extent(b->column_end, b->column[k], &start);
      CNI_TRY(cni_text_room(r->text, r->what, total)); // at once: the sum cannot overflow
    }
  return reserve(r, total - b->count);
}

static CnStatus read_block(Reader *r, const Blocks *b, int32_t i, int32_t k) {
  char item[64];
  int32_t row, column, number;
  int32_t rows = extent(b->row_end, i, &row),
          columns = extent(b->column_end, b->column[k], &column);
  snprintf(item, sizeof item, "number of block %d", (int)k);
  CNI_TRY(read_whole(r, item, k, k, &number));
  snprintf(item, sizeof item, "%s: block %d", r->what, (int)k);
  for (int32_t n = 0; n < rows * columns; n++) {
    double value;
    CNI_TRY(cni_text_real(r->text, item, n, &value));
    CNI_TRY(add(r, row + n % rows, column + n / rows, value));
  }
  return CN_OK;
}

static CnStatus read_block_lists(Reader *r, Blocks *b, int32_t *memory) {
  b->row_end = memory;
  b->column_end = b->row_end + b->row_count;
  CNI_TRY(read_integers(r, "row end", b->row_count, 0, r->rows, 1, b->row_end));
  CNI_TRY(read_integers(r, "column end", b->column_count, 0, r->columns, 1, b->column_end));
  CNI_TRY(check_end(r, "row end", b->row_end[b->row_count - 1], r->rows));
  CNI_TRY(check_end(r, "column end", b->column_end[b->column_count - 1], r->columns));
  int32_t filled;
  CNI_TRY(read_whole(r, "number of row pointers", 1, (int64_t)b->row_count + 1, &b->pointer_count));
  CNI_TRY(read_whole(r, "number of block columns stored", b->count, b->count, &filled));
  b->pointer = b->column_end + b->column_count;
  b->column = b->pointer + b->pointer_count;
  CNI_TRY(read_integers(r, "row pointer", b->pointer_count, 0, b->count, 1, b->pointer));
  CNI_TRY(check_end(r, "row pointer", b->pointer[b->pointer_count - 1], b->count));
  if (b->pointer[0] != 0)
    return cni_bad_data("%s: %s: the first row pointer must be 0 (got %d)", r->text->name, r->what,
                        (int)b->pointer[0]);
  return read_integers(r, "block column", b->count, 0, (int64_t)b->column_count - 1, 0, b->column);
}

static CnStatus read_blocks(Reader *r) {
  Blocks b = {0};
  CNI_TRY(read_whole(r, "number of blocks", 0, INT32_MAX, &b.count));
  if (b.count == 0) return CN_OK;
  CNI_TRY(read_whole(r, "number of block rows", 1, INT32_MAX, &b.row_count));
  CNI_TRY(read_whole(r, "number of block columns", 1, INT32_MAX, &b.column_count));
  int64_t most = 2 * (int64_t)b.row_count + 1 + b.column_count + b.count;
  CNI_TRY(cni_text_room(r->text, r->what, (int64_t)b.row_count + b.column_count + b.count));
  size_t bytes = (size_t)most * sizeof(int32_t);
  int32_t *memory = cni_allocate(r->allocator, bytes);
  if (!memory) return cni_error_memory(bytes);
  CnStatus status = read_block_lists(r, &b, memory);
  if (status == CN_OK) status = check_blocks(r, &b);
  for (int32_t i = 0; status == CN_OK && i + 1 < b.pointer_count; i++)
    for (int32_t k = b.pointer[i]; status == CN_OK && k < b.pointer[i + 1]; k++)
      status = read_block(r, &b, i, k);
  cni_release(r->allocator, memory, bytes);
  return status;
}

// ---- sparse ----

// One line "... 900-by-900, nzmax: 900 nnz: 900 ...": is it a list of triplets, how many entries?
static CnStatus read_header(Reader *r, int32_t *is_triplet, double *count) {
  CniText line = *r->text;
  CniWord first = cni_text_peek(&line), word = first;
  cni_text_skip_line(r->text);
  line.end = r->text->at;
  *is_triplet = cni_word_is(first, "triplet:");
  while (word.length > 0 && !cni_word_is(word, "nnz:")) word = cni_text_word(&line);
  if (word.length == 0 || first.length == 0)
    return cni_text_fail(r->text, first, r->what, "expected a line with \"nnz: COUNT\"");
  word = cni_text_peek(&line);
  if (word.length > 0 && word.text[word.length - 1] == ',') line.end = word.text + word.length - 1;
  return cni_text_real(&line, "nnz", -1, count);
}

// Is the word `ahead` words from here a colon?
static int colon_ahead(const CniText *text, int32_t ahead) {
  CniText copy = *text;
  for (int32_t i = 0; i < ahead; i++) cni_text_word(&copy);
  return cni_word_is(cni_text_word(&copy), ":");
}

static CnStatus read_triplets(Reader *r, int32_t half) {
  while (colon_ahead(r->text, 2)) {
    int32_t row, column;
    double value;
    CNI_TRY(read_whole(r, "row", 0, (int64_t)r->rows - 1, &row));
    CNI_TRY(read_whole(r, "column", 0, (int64_t)r->columns - 1, &column));
    cni_text_word(r->text);
    CNI_TRY(cni_text_real(r->text, r->what, r->entry_count, &value));
    CNI_TRY(add(r, row, column, value));
    if (half && row != column) CNI_TRY(add(r, column, row, value));
  }
  return CN_OK;
}

// Lists of one column each, or of one row each if by_rows.
static CnStatus read_lists(Reader *r, int32_t by_rows) {
  int32_t lists = by_rows ? r->rows : r->columns, length = by_rows ? r->columns : r->rows;
  for (int32_t expected = 0; expected < lists; expected++) {
    if (!cni_word_is(cni_text_peek(r->text), "col")) break;
    cni_text_word(r->text);
    int32_t list, place;
    CNI_TRY(read_whole(r, "column", expected, expected, &list));
    cni_text_skip_line(r->text);
    while (colon_ahead(r->text, 1)) {
      double value;
      CNI_TRY(read_whole(r, by_rows ? "column" : "row", 0, (int64_t)length - 1, &place));
      cni_text_word(r->text);
      CNI_TRY(cni_text_real(r->text, r->what, r->entry_count, &value));
      CNI_TRY(by_rows ? add(r, list, place, value) : add(r, place, list, value));
    }
  }
  return CN_OK;
}

static CnStatus read_sparse(Reader *r) {
  int32_t origin, is_triplet;
  double announced;
  CNI_TRY(read_whole(r, "sparse origin", ORIGIN_TRIPLET, ORIGIN_HALF_TRIPLET, &origin));
  cni_text_skip_line(r->text); // of the origin
  cni_text_skip_line(r->text); // the banner
  CNI_TRY(read_header(r, &is_triplet, &announced));
  if (origin == ORIGIN_HALF_TRIPLET && r->rows != r->columns)
    return cni_bad_data("%s: %s: half of a symmetric matrix must be square (got %d x %d)",
                        r->text->name, r->what, (int)r->rows, (int)r->columns);
  if (is_triplet)
    CNI_TRY(read_triplets(r, origin == ORIGIN_HALF_TRIPLET));
  else
    CNI_TRY(read_lists(r, origin == ORIGIN_ROWS));
  int32_t found = r->entry_count;
  if (origin == ORIGIN_HALF_TRIPLET) {
    // mirrored entries were not in the file
    for (int32_t i = 0; i < r->entry_count; i++) found -= r->entries[i].row < r->entries[i].column;
  }
  if (announced <= PRINTED_EXACTLY && announced != found)
    return cni_bad_data("%s: %s: %.0f entries announced, %d found", r->text->name, r->what,
                        announced, (int)found);
  return CN_OK;
}

// ---- any ----

CnStatus cni_matrix_read(CniText *text, const CnAllocator *allocator, const char *what,
                         int32_t rows, int32_t columns, CnSparse *matrix,
                         CniMatrixStorage *storage) {
  static CnStatus (*const readers[])(Reader *) = {read_dense, read_blocks, read_sparse};
  Reader r = {.text = text, .allocator = allocator, .what = what};
  *matrix = (CnSparse){0, 0, NULL, NULL, NULL};
  int32_t kind;
  int32_t most = INT32_MAX / 8;
  CNI_TRY(read_whole(&r, "storage", CNI_STORED_DENSE, CNI_STORED_SPARSE, &kind));
  CNI_TRY(read_whole(&r, "number of rows", rows < 0 ? 0 : rows, rows < 0 ? most : rows, &r.rows));
  CNI_TRY(read_whole(&r, "number of columns", columns < 0 ? 0 : columns,
                     columns < 0 ? most : columns, &r.columns));
  // every row and column has its number in a vector further on
  CNI_TRY(cni_text_room(text, what, r.rows > r.columns ? r.rows : r.columns));
  CnStatus status = readers[kind](&r);
  if (status == CN_OK)
    status = cni_sparse_build(allocator, r.rows, r.columns, r.entries, r.entry_count, matrix);
  CNI_RELEASE(allocator, r.entries, r.entry_capacity);
  if (storage) *storage = (CniMatrixStorage)kind;
  return status;
}
