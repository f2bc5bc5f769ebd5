// SPDX-License-Identifier: Apache-2.0
// The text files of Siconos: streams of numbers without a name for what they are.
//
//     LCP     n, matrix M, q
//     MLCP    s1, s2, n, m; if s1: block starts, block kinds, matrix M, q; if s2: A B C D a b
//     FC      d, nc, matrix W, q, mu [, mu_r]           d = 2, 3, or 5 with rolling
//     GFC     d, nc, matrix M, matrix H, q, b, mu [, mu_r]
//
// Recognition, from the first numbers, in this order:
//   1. MLCP: two flags 0 or 1 (not both 0), two sizes, and with s1 a block start 0 that is followed
//      by a whole number from 1 to n + m.
//   2. FC or GFC with a sparse first matrix: d is 2, 3 or 5, the third number is 2, and after six
//      whole numbers comes the library's banner, which does not begin like a number.
//   3. LCP: the second number is a storage 0, 1, 2 and the third and fourth repeat the first.
//   4. FC or GFC: d is 2, 3 or 5 and the third number is a storage.
// FC or GFC is decided after the first matrix: GFC if it is not of d nc rows, or if whole numbers
// follow that begin a matrix H: a storage, the size of the first matrix, d nc, and then what this
// storage begins with. (A vector q has its point and exponent in every number.) What comes after
// the last number needed is not looked at.
#include "io/problems/problems_private.h"

#include "sparse/sparse.h"

#include <stdio.h>
#include <string.h>

typedef struct Dat {
  CniText text;
  CniProblemData parts;
  CniMatrixStorage storage;
} Dat;

// ---- recognition ----

#define LOOK_AHEAD 7

typedef struct Beginning {
  int64_t number[LOOK_AHEAD];  // -1 where the word is no whole number
  int32_t is_word[LOOK_AHEAD]; // there is a word and it does not begin like a number
  int32_t is_end[LOOK_AHEAD];  // the text has ended
} Beginning;

static Beginning look(const CniText *text) {
  Beginning b;
  CniText copy = *text;
  for (int32_t i = 0; i < LOOK_AHEAD; i++) {
    CniWord word = cni_text_word(&copy);
    char c = word.length > 0 ? word.text[0] : '0';
    b.is_end[i] = word.length == 0;
    if (!cni_word_integer(word, &b.number[i])) b.number[i] = -1;
    b.is_word[i] = !((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.');
  }
  return b;
}

static int is_flag(int64_t x) { return x == 0 || x == 1; }
static int is_storage(int64_t x) { return x >= 0 && x <= 2; }
static int is_dimension(int64_t x) { return x == 2 || x == 3 || x == 5; }

static int looks_mlcp(const Beginning *b) {
  const int64_t *n = b->number;
  if (!is_flag(n[0]) || !is_flag(n[1]) || n[0] + n[1] == 0 || n[2] < 0 || n[3] < 0) return 0;
  if (n[0] == 0) return n[2] + n[3] > 0;
  return n[4] == 0 && n[5] >= 1 && n[5] <= n[2] + n[3];
}

static int looks_sparse_contact(const Beginning *b) {
  return is_dimension(b->number[0]) && b->number[1] >= 0 && b->number[2] == 2 &&
         b->number[5] >= 0 && b->is_word[6];
}

static int looks_lcp(const Beginning *b) {
  const int64_t *n = b->number;
  return n[0] >= 0 && is_storage(n[1]) && n[2] == n[0] && n[3] == n[0];
}

static int looks_contact(const Beginning *b) {
  return is_dimension(b->number[0]) && b->number[1] >= 0 && is_storage(b->number[2]);
}

// ---- LCP ----

static CnStatus read_lcp(Dat *d) {
  CniProblemData *p = &d->parts;
  CNI_TRY(cni_text_integer(&d->text, "n", 0, INT32_MAX / 8, &p->contact_count));
  int32_t n = p->contact_count;
  p->contact_count = 0;
  CNI_TRY(cni_matrix_read(&d->text, &p->allocator, "M", n, n, &p->w, &d->storage));
  p->dimension = 1;
  p->contact_count = n;
  return cni_text_reals(&d->text, &p->allocator, "q", n, &p->q);
}

// ---- MLCP ----

// Block starts 0 .. n + m and one kind per block, spread over the rows.
static CnStatus read_rows(Dat *d, int32_t rows, int32_t equalities) {
  CniProblemData *p = &d->parts;
  CniText starts = d->text;
  int32_t start = 0, end = 0, blocks = 0, found = 0;
  CNI_TRY(cni_text_integer(&d->text, "first block start", 0, 0, &start));
  while (end < rows) {
    char item[40];
    snprintf(item, sizeof item, "block start %d", (int)blocks + 1);
    CNI_TRY(cni_text_integer(&d->text, item, (int64_t)end + 1, rows, &end));
    blocks++;
  }
  cni_text_word(&starts);
  for (int32_t i = 0; i < blocks; i++) {
    int32_t kind = 0;
    char item[40];
    CNI_TRY(cni_text_integer(&starts, "block start", 0, rows, &end));
    snprintf(item, sizeof item, "kind of block %d", (int)i);
    CNI_TRY(cni_text_integer(&d->text, item, 0, 1, &kind));
    if (kind == 0) found += end - start;
    memset(p->is_equality + start, kind == 0, (size_t)(end - start));
    start = end;
  }
  if (found != equalities)
    return cni_bad_data("%s: n: %d equations announced, the blocks have %d", d->text.name,
                        (int)equalities, (int)found);
  return CN_OK;
}

// One of the dense row-major matrices A, B, C, D: compared with M, or added to the list.
typedef struct Quarter {
  const char *name;
  int32_t row_kind, column_kind; // 1: equality
} Quarter;

static const Quarter quarters[] = {{"A", 1, 1}, {"B", 0, 0}, {"C", 1, 0}, {"D", 0, 1}};

static CnStatus differs(const Dat *d, const char *what, int32_t i, int32_t j, double a, double b) {
  return cni_bad_data("%s: %s[%d,%d]: is %.17g here and %.17g in M", d->text.name, what, (int)i,
                      (int)j, b, a);
}

// Next row of the given kind from `row` on.
static int32_t next_row(const CniProblemData *p, int32_t row, int32_t kind) {
  while (p->is_equality[row] != kind) row++;
  return row;
}

static CnStatus read_quarter(Dat *d, const Quarter *quarter, int32_t rows, int32_t columns,
                             CniTriplet *entries, int32_t *count) {
  CniProblemData *p = &d->parts;
  int32_t row = -1;
  for (int32_t i = 0; i < rows; i++) {
    row = next_row(p, row + 1, quarter->row_kind);
    int32_t column = -1;
    for (int32_t j = 0; j < columns; j++) {
      double value;
      column = next_row(p, column + 1, quarter->column_kind);
      CNI_TRY(cni_text_real(&d->text, quarter->name, (int64_t)i * columns + j, &value));
      if (!entries) {
        double known = cni_sparse_entry(&p->w, row, column);
        if (known != value) return differs(d, quarter->name, i, j, known, value);
      } else if (value != 0) {
        entries[(*count)++] = (CniTriplet){row, column, value};
      }
    }
  }
  return CN_OK;
}

// a and b: compared with q, or stored in it.
static CnStatus read_halves(Dat *d, int32_t compare) {
  CniProblemData *p = &d->parts;
  for (int32_t kind = 1; kind >= 0; kind--) {
    int32_t count = kind ? p->equality_count : p->contact_count, row = -1;
    for (int32_t i = 0; i < count; i++) {
      double value;
      const char *name = kind ? "a" : "b";
      row = next_row(p, row + 1, kind);
      CNI_TRY(cni_text_real(&d->text, name, i, &value));
      if (compare && p->q[row] != value)
        return cni_bad_data("%s: %s[%d]: is %.17g here and %.17g in q", d->text.name, name, (int)i,
                            value, p->q[row]);
      p->q[row] = value;
    }
  }
  return CN_OK;
}

static CnStatus read_quarters(Dat *d, int32_t has_first) {
  CniProblemData *p = &d->parts;
  int32_t counts[2] = {p->contact_count, p->equality_count}, rows = counts[0] + counts[1];
  int64_t total = (int64_t)rows * rows;
  CNI_TRY(cni_text_room(&d->text, "A, B, C, D, a, b", total + rows));
  CniTriplet *entries = NULL;
  int32_t count = 0;
  size_t bytes = (size_t)total * sizeof *entries;
  if (!has_first) {
    entries = cni_allocate(&p->allocator, bytes);
    if (!entries) return cni_error_memory(bytes);
  }
  CnStatus status = CN_OK;
  for (int32_t i = 0; i < 4 && status == CN_OK; i++)
    status = read_quarter(d, &quarters[i], counts[quarters[i].row_kind],
                          counts[quarters[i].column_kind], entries, &count);
  if (status == CN_OK && entries)
    status = cni_sparse_build(&p->allocator, rows, rows, entries, count, &p->w);
  cni_release(&p->allocator, entries, entries ? bytes : 0);
  if (status != CN_OK) return status;
  return read_halves(d, has_first);
}

static CnStatus read_mlcp(Dat *d) {
  CniProblemData *p = &d->parts;
  int32_t first, second, n, m;
  CNI_TRY(cni_text_integer(&d->text, "flag of (M, q)", 0, 1, &first));
  CNI_TRY(cni_text_integer(&d->text, "flag of (A, B, C, D)", 0, 1, &second));
  CNI_TRY(cni_text_integer(&d->text, "n", 0, INT32_MAX / 16, &n));
  CNI_TRY(cni_text_integer(&d->text, "m", 0, INT32_MAX / 16, &m));
  CNI_TRY(cni_text_room(&d->text, "n + m", (int64_t)n + m));
  p->dimension = 1;
  p->equality_count = n;
  p->contact_count = m;
  p->is_equality = cni_allocate(&p->allocator, (size_t)(n + m));
  p->q = cni_allocate(&p->allocator, (size_t)(n + m) * sizeof *p->q);
  if (!p->is_equality || !p->q) return cni_error_memory((size_t)(n + m) * sizeof *p->q);
  memset(p->is_equality, 1, (size_t)n);
  memset(p->is_equality + n, 0, (size_t)m);
  if (first) {
    CNI_TRY(read_rows(d, n + m, n));
    CNI_TRY(cni_matrix_read(&d->text, &p->allocator, "M", n + m, n + m, &p->w, &d->storage));
    for (int32_t i = 0; i < n + m; i++) CNI_TRY(cni_text_real(&d->text, "q", i, &p->q[i]));
  }
  return second ? read_quarters(d, first) : CN_OK;
}

// ---- friction ----

static CnStatus read_coefficients(Dat *d) {
  CniProblemData *p = &d->parts;
  CNI_TRY(cni_text_reals(&d->text, &p->allocator, "mu", p->contact_count, &p->mu));
  if (p->dimension < 5) return CN_OK;
  return cni_text_reals(&d->text, &p->allocator, "mu_r", p->contact_count, &p->mu_r);
}

// M is read; H and the vectors follow.
static CnStatus read_global(Dat *d) {
  CniProblemData *p = &d->parts;
  CnSparse h;
  int32_t rows = p->contact_count * p->dimension;
  p->is_global = 1;
  CNI_TRY(cni_matrix_read(&d->text, &p->allocator, "H", p->m.row_count, rows, &h, NULL));
  CnStatus status = cni_sparse_transpose(&p->allocator, &h, &p->e);
  cni_sparse_release(&p->allocator, &h);
  if (status != CN_OK) return status;
  CNI_TRY(cni_text_reals(&d->text, &p->allocator, "q", p->m.row_count, &p->k));
  CNI_TRY(cni_text_reals(&d->text, &p->allocator, "b", rows, &p->q));
  return read_coefficients(d);
}

static CnStatus read_local(Dat *d) {
  CniProblemData *p = &d->parts;
  int32_t rows = p->contact_count * p->dimension;
  CNI_TRY(cni_text_reals(&d->text, &p->allocator, "q", rows, &p->q));
  return read_coefficients(d);
}

// Do the next numbers begin a matrix H? Where the text ends, whatever is missing would fit.
static int matrix_follows(const Dat *d, int32_t rows, int32_t columns) {
  Beginning b = look(&d->text);
  const int64_t *n = b.number;
  if (!is_storage(n[0]) || n[1] != rows || n[2] != columns) return 0;
  if (b.is_end[3]) return 1;
  if (n[0] == CNI_STORED_DENSE) return n[3] == rows && (n[4] == columns || b.is_end[4]);
  if (n[0] == CNI_STORED_SPARSE) return n[3] >= 1 && n[3] <= 4 && (b.is_word[4] || b.is_end[4]);
  return n[3] == 0 || (n[3] > 0 && (n[4] >= 1 || b.is_end[4]) && (n[5] >= 1 || b.is_end[5]));
}

static CnStatus read_contact(Dat *d) {
  CniProblemData *p = &d->parts;
  int32_t contacts, dimension;
  CNI_TRY(cni_text_integer(&d->text, "dimension", 2, 5, &dimension));
  CNI_TRY(cni_text_integer(&d->text, "number of contacts", 0, INT32_MAX / 40, &contacts));
  CNI_TRY(cni_text_room(&d->text, "number of contacts", (int64_t)(dimension + 1) * contacts));
  CnSparse first;
  CNI_TRY(cni_matrix_read(&d->text, &p->allocator, "first matrix", -1, -1, &first, &d->storage));
  p->m = first;
  if (first.row_count != first.column_count)
    return cni_bad_data("%s: first matrix: must be square (got %d x %d)", d->text.name,
                        (int)first.row_count, (int)first.column_count);
  p->dimension = dimension;
  p->contact_count = contacts;
  if (first.row_count != dimension * contacts) return read_global(d);

  // the sizes fit both kinds
  if (matrix_follows(d, first.row_count, first.row_count)) return read_global(d);
  p->w = first;
  p->m = (CnSparse){0, 0, NULL, NULL, NULL};
  return read_local(d);
}

// ---- all ----

static CnStatus read_any(Dat *d, const char **kind) {
  static const char *const local[] = {"", "", "fc2d", "fc3d", "", "rfc3d"};
  static const char *const global[] = {"", "", "gfc2d", "gfc3d", "", "grfc3d"};
  Beginning b = look(&d->text);
  if (looks_mlcp(&b)) {
    *kind = "mlcp";
    return read_mlcp(d);
  }
  if (!looks_sparse_contact(&b) && looks_lcp(&b)) {
    *kind = "lcp";
    return read_lcp(d);
  }
  if (!looks_contact(&b))
    return cni_bad_data(
        "%s: not a problem file: its first numbers fit neither an LCP, an MLCP nor a "
        "friction problem",
        d->text.name);
  CNI_TRY(read_contact(d));
  *kind = d->parts.is_global ? global[d->parts.dimension] : local[d->parts.dimension];
  return CN_OK;
}

static void describe(const Dat *d, const char *kind, CnProblemFileInfo *info) {
  static const char *const storages[] = {"dense", "blocks", "sparse"};
  info->kind = kind;
  info->format = "text";
  info->storage = storages[d->storage];
}

CnStatus cni_dat_read(const char *data, size_t size, const char *name, const CnAllocator *allocator,
                      CnProblem **problem, CnProblemFileInfo *info) {
  Dat d = {.text = {data, data + size, data, name}, .parts = {.allocator = *allocator}};
  const char *kind = "";
  CnStatus status = read_any(&d, &kind);
  if (status == CN_OK) status = cni_problem_data_build(&d.parts, name, problem);
  if (status == CN_OK) describe(&d, kind, info);
  cni_problem_data_release(&d.parts);
  return status;
}
