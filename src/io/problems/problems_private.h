// SPDX-License-Identifier: Apache-2.0
// Problem files from the inside: the text cursor, matrices, and the parts of a problem before they
// become one. Readers work on a buffer in memory. Every count that a file announces is compared
// with the bytes that are left before anything of that size is allocated.
#ifndef CNI_IO_PROBLEM_PRIVATE_H
#define CNI_IO_PROBLEM_PRIVATE_H

#include <cairn/files.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/tools/output.h"

#include <stdint.h>

// ---- text ----

// A text and a place in it. `name` stands for the file in messages.
typedef struct CniText {
  const char *begin, *end, *at;
  const char *name;
} CniText;

typedef struct CniWord {
  const char *text;
  size_t length; // 0: the text has ended
} CniWord;

// The next run of characters that are not white space; at the end an empty word.
CniWord cni_text_word(CniText *text);
CniWord cni_text_peek(const CniText *text);
int cni_word_is(CniWord word, const char *expected);
// Forget the rest of the present line.
void cni_text_skip_line(CniText *text);

// A whole number without point or exponent; 0 if the word is none.
int cni_word_integer(CniWord word, int64_t *value);

// "file: line 7: W: not a number (got "x")". The word's line is looked up; a word at the end of the
// text reads "the file ends here".
CnStatus cni_text_fail(const CniText *text, CniWord word, const char *what, const char *problem);

// Numbers, checked. `what` names the item, `index` >= 0 its element.
CnStatus cni_text_integer(CniText *text, const char *what, int64_t least, int64_t most,
                          int32_t *value);
CnStatus cni_text_real(CniText *text, const char *what, int64_t index, double *value);

// Refuse a count of numbers that cannot be in what is left: each takes two bytes, the last one.
CnStatus cni_text_room(const CniText *text, const char *what, int64_t count);

// `count` reals in new memory, after cni_text_room; null for none.
CnStatus cni_text_reals(CniText *text, const CnAllocator *allocator, const char *what,
                        int32_t count, double **values);

// ---- the matrix sub-format of text files ----

typedef enum CniMatrixStorage {
  CNI_STORED_DENSE = 0,
  CNI_STORED_BLOCKS,
  CNI_STORED_SPARSE,
} CniMatrixStorage;

// Read a matrix of rows x columns; -1 leaves a size to the file. Zeros of dense matrices are not
// stored. Released with cni_sparse_release.
CnStatus cni_matrix_read(CniText *text, const CnAllocator *allocator, const char *what,
                         int32_t rows, int32_t columns, CnSparse *matrix,
                         CniMatrixStorage *storage);

// ---- the parts of a friction or complementarity problem ----

// What files hold. Local: u = W r + q. Global: M v = k + E^T r, u = E v + q. The first
// contact_count * dimension rows are contacts, the others (equality_count) bilateral. Everything is
// owned by the parts.
typedef struct CniProblemData {
  CnAllocator allocator;
  int32_t is_global;
  int32_t dimension; // of a contact: 1 (complementarity), 2, 3, 5
  int32_t contact_count, equality_count;
  CnSparse w;           // local
  CnSparse m, e;        // global
  double *k;            // global, m.row_count
  double *q;            // one per row
  double *mu, *mu_r;    // contact_count each; null where there is none
  uint8_t *is_equality; // MLCP: one per row; null: contacts first
} CniProblemData;

void cni_problem_data_release(CniProblemData *parts);

// Build the problem. Sizes must agree already; values of mu are checked here.
CnStatus cni_problem_data_build(const CniProblemData *parts, const char *name, CnProblem **problem);

// ---- formats: one row each ----

typedef struct CniProblemFormat {
  const char *name;
  int (*recognise)(const char *data, size_t size);
  CnStatus (*read)(const char *data, size_t size, const char *name, const CnAllocator *allocator,
                   CnProblem **problem, CnProblemFileInfo *info);
} CniProblemFormat;

// FCLib.
CnStatus cni_fclib_read(const char *data, size_t size, const char *name,
                        const CnAllocator *allocator, CnProblem **problem, CnProblemFileInfo *info);

// Plain text (.dat): kind recognised from the first numbers.
CnStatus cni_dat_read(const char *data, size_t size, const char *name, const CnAllocator *allocator,
                      CnProblem **problem, CnProblemFileInfo *info);

// Cairn's JSON.
CnStatus cni_json_problem_read(const char *data, size_t size, const char *name,
                               const CnAllocator *allocator, CnProblem **problem,
                               CnProblemFileInfo *info);

// ---- files ----

// The whole of a file in memory; release `capacity` bytes.
typedef struct CniFileBuffer {
  char *data;
  size_t size, capacity;
} CniFileBuffer;
CnStatus cni_file_read(const char *path, const CnAllocator *allocator, CniFileBuffer *buffer);

// Writers; the file appears when it is complete.
CnStatus cni_fclib_write(CnProblem *problem, const char *path);
CnStatus cni_json_problem_write(CnProblem *problem, const char *path);

// Numbers as JSON: null where they are not finite; a list [a, b, ...].
void cni_output_real(CniOutput *out, double value);
void cni_output_reals(CniOutput *out, const double *values, int32_t count);

#endif
