// SPDX-License-Identifier: Apache-2.0
// Text files of problems: small ones of every kind and storage, and the one line that damaged ones
// get.
#include "problems.h"

#include <string.h>

#include "alloc.h"
#include "check.h"
#include "sparse/sparse.h"

#define BANNER "CSparse Version 3.1.9, May 4, 2016.  Copyright\n"

static void check_kind(const char *text, const char *kind, int32_t contacts, int32_t unknowns,
                       int32_t velocities) {
  CnProblemFileInfo info;
  CnProblem *p = read_text(text, &info);
  assert_string_equal(info.kind, kind);
  assert_string_equal(info.format, "text");
  CHECK(info.contacts == contacts && info.unknowns == unknowns && info.velocities == velocities);
  cn_problem_destroy(p);
}

static void kinds(void **state) {
  (void)state;
  check_kind("2 0 2 2 2 2  2 1 1 2  -5 -6", "lcp", 2, 2, 0);
  check_kind("3 1 0 3 3 3 3  15 -1 -2 -1 14 1 -2 1 16  -1 2 3  0.1", "fc3d", 1, 3, 0);
  check_kind("2 1 0 2 2 2 2  1 0 0 1  -1 2  0.1", "fc2d", 1, 2, 0);
  check_kind("5 1 1 5 5 0  1 2 3 4 5  0.1 0.2", "rfc3d", 1, 5, 0);
  check_kind("3 1 0 1 1 1 1  2  0 1 3 1 3  1 0 0  -1.0  0.0 0.0 0.0  0.1", "gfc3d", 1, 3, 1);
  check_kind("0 1 1 1  2 3 1 -1  -1 -2", "mlcp", 1, 2, 0);
  // a local problem and a global one whose first matrices have the same size
  check_kind("2 1 0 2 2 2 2  1 0 0 1  0.0 2.0  0.1", "fc2d", 1, 2, 0);
  check_kind("2 1 0 2 2 2 2  1 0 0 1  0 2 2 2 2  1 0 0 1  1.0 2.0  0.0 0.0  0.1", "gfc2d", 1, 2, 2);
  // an LCP of two rows is no plane contact problem with sparse matrix, and the other way round
  check_kind("2 1 2 2 1 1 1 2 2 2 1 0 1 0  0  2 1 1 2  -5 -6", "lcp", 2, 2, 0);
  check_kind("2 0 2 2 2 1\n" BANNER "triplet: 2-by-2, nzmax: 2 nnz: 2\n 0 0 : 1\n 1 1 : 1\n"
             "1 2 0 0\n 1 2\n",
             "gfc2d", 0, 0, 2);
}

static void check_entries(const char *text, int32_t n, const double *expected) {
  CnProblem *p = read_text(text, NULL);
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++)
      CHECK_NEAR(cni_sparse_entry(&p->w, i, j), expected[i * n + j], 0);
  cn_problem_destroy(p);
}

// One unsymmetric matrix in every storage: [1 2; 3 4], columns first.
static void storages(void **state) {
  (void)state;
  const double a[] = {1, 2, 3, 4}, symmetric[] = {1, 3, 3, 4};
  check_entries("2 0 2 2 2 2  1 3 2 4  5 6", 2, a);
  check_entries("2 1 2 2 1  1 1 2 2  2 1  0 1  0  0 1 3 2 4  5 6", 2, a);
  check_entries("2 1 2 2 4  2 2  1 2  1 2  3 4  0 2 4  0 1 0 1  0 1  1 2  2 3  3 4  5 6", 2, a);
  check_entries("2 2 2 2 1\n" BANNER "triplet: 2-by-2, nzmax: 9 nnz: 5\n"
                "0 0 : 1\n 1 0 : 3\n 0 1 : 1\n 0 1 : 1\n 1 1 : 4\n 5 6",
                2, a);
  check_entries("2 2 2 2 2\n" BANNER "2-by-2, nzmax: 4 nnz: 4, 1-norm: 6\n"
                "  col 0 : locations 0 to 1\n 0 : 1\n 1 : 3\n"
                "  col 1 : locations 2 to 3\n 0 : 2\n 1 : 4\n 5 6",
                2, a);
  check_entries("2 2 2 2 3\n" BANNER "2-by-2, nzmax: 4 nnz: 4, 1-norm: 6\n"
                "  col 0 : locations 0 to 1\n 0 : 1\n 1 : 2\n"
                "  col 1 : locations 2 to 3\n 0 : 3\n 1 : 4\n 5 6",
                2, a);
  check_entries("2 2 2 2 4\n" BANNER "triplet: 2-by-2, nzmax: 3 nnz: 3\n"
                "0 0 : 1\n 1 0 : 3\n 1 1 : 4\n 5 6",
                2, symmetric);
}

// An empty column, an empty matrix, fewer row pointers than block rows.
static void sparse_edges(void **state) {
  (void)state;
  const double a[] = {0, 2, 0, 0}, b[] = {1, 0, 0, 0};
  check_entries("2 2 2 2 2\n" BANNER "2-by-2, nzmax: 1 nnz: 1, 1-norm: 2\n"
                "  col 0 : locations 0 to -1\n  col 1 : locations 0 to 0\n 0 : 2\n 5 6",
                2, a);
  check_entries("2 1 2 2 1  2 2  1 2  1 2  2 1  0 1  0  0  1  5 6", 2, b);
  CnProblem *p = read_text("3 1 3 3 0  1 2 3", NULL);
  CHECK(cni_sparse_entry_count(&p->w) == 0 && p->row_count == 3);
  cn_problem_destroy(p);
}

// Complementarity rows first, then the equality: rows stay where they are.
static void mixed(void **state) {
  (void)state;
  CnProblem *p = read_text("1 1 1 2  0 2 3  1 0  0 3 3 3 3  1 4 7 2 5 8 3 6 9  10 11 12 "
                           "9  1 2 4 5  7 8  3 6  12  10 11 trailing text",
                           NULL);
  CHECK(p->blocks[0].kind == CN_BLOCK_UNILATERAL && p->blocks[2].kind == CN_BLOCK_BILATERAL);
  for (int32_t i = 0; i < 3; i++) {
    CHECK_NEAR(p->b[i], 10 + i, 0);
    for (int32_t j = 0; j < 3; j++) CHECK_NEAR(cni_sparse_entry(&p->w, i, j), 3 * i + j + 1, 0);
  }
  cn_problem_destroy(p);
  // only the second form: the equality comes first
  p = read_text("0 1 1 2  9  1 2 4 5  7 8  3 6  12  10 11", NULL);
  CHECK(p->blocks[0].kind == CN_BLOCK_BILATERAL && p->blocks[2].kind == CN_BLOCK_UNILATERAL);
  CHECK_NEAR(p->b[0], 12, 0);
  CHECK_NEAR(cni_sparse_entry(&p->w, 0, 2), 8, 0);
  CHECK_NEAR(cni_sparse_entry(&p->w, 2, 0), 6, 0);
  cn_problem_destroy(p);
}

static void rolling(void **state) {
  (void)state;
  CnProblem *p = read_text("5 2 1 10 10 0  1 2 3 4 5 6 7 8 9 10  0.1 0.2  0.3 0.4", NULL);
  for (int32_t i = 0; i < 2; i++) {
    CHECK_NEAR(p->sets[p->blocks[i].set].mu, .1 * (i + 1), 1e-16);
    CHECK_NEAR(p->sets[p->blocks[i].set].mu_roll, .1 * (i + 3), 1e-16);
  }
  cn_problem_destroy(p);
}

static void refusals(void **state) {
  (void)state;
  check_text_refused("", "file: the file is empty");
  check_text_refused("hello",
                     "file: not a problem file: its first numbers fit neither an LCP, an MLCP "
                     "nor a friction problem");
  check_text_refused("2 0 2 2 2 2  2 1 1 2  -5",
                     "file: line 1: q[1]: not a number (the file ends here)");
  check_text_refused("2 0 2 2 2 2  2 1 1 2  -5 x", "file: line 1: q[1]: not a number (got \"x\")");
  check_text_refused("2 0 2 2\n3 2  2 1 1 2  -5 -6",
                     "file: line 2: M: rows, repeated: must be 2 (got \"3\")");
  check_text_refused("2 0 2 2 2 2\n2 1\n1e400 2  -5 -6",
                     "file: line 3: M[2]: too large for a double (got \"1e400\")");
  check_text_refused("2 0 2 2 2 2 2 1 nan 2  -5 -6",
                     "file: line 1: M[2]: must be finite (got \"nan\")");
  check_text_refused("2 0 2 2 2 2 2 1 -inf 2  -5 -6",
                     "file: line 1: M[2]: must be finite (got \"-inf\")");
  check_text_refused("3 1 0 3 3 3 3  1 0 0 0 1 0 0 0 1  -1 2 3  -0.1",
                     "file: mu[0]: must not be negative (got -0.1)");
  check_text_refused("100000 0 100000 100000 100000 100000 1 2",
                     "file: M: 100000 numbers announced, but only 18 bytes follow");
  check_text_refused("3 100000000 0 3 3",
                     "file: line 1: number of contacts: must lie between 0 and "
                     "53687091 (got \"100000000\")");
  check_text_refused(
      "3 50000000 0 3 3",
      "file: number of contacts: 200000000 numbers announced, but only 6 bytes follow");
  check_text_refused("3 1 0 3 2 3 2  1 0 0 0 1 0  -1 2 3  0.1",
                     "file: first matrix: must be square (got 3 x 2)");
}

static void block_refusals(void **state) {
  (void)state;
  check_text_refused("2 1 2 2 1  1 1 3 2  2 1  0 1  0  0 1 3 2 4  5 6",
                     "file: line 1: M: row end[0]: must lie between 0 and 2 (got \"3\")");
  check_text_refused("2 1 2 2 1  1 1 1 2  2 1  0 1  0  0 1 3 2 4  5 6",
                     "file: M: the last row end must be 2 (got 1)");
  check_text_refused("2 1 2 2 1  1 1 2 2  2 1  0 1  1  0 1 3 2 4  5 6",
                     "file: line 1: M: block column[0]: must be 0 (got \"1\")");
  check_text_refused("2 1 2 2 1  1 1 2 2  2 1  0 1  0  7 1 3 2 4  5 6",
                     "file: line 1: M: number of block 0: must be 0 (got \"7\")");
  check_text_refused("2 1 2 2 1  1 1 2 2  2 1  1 1  0  0 1 3 2 4  5 6",
                     "file: M: the first row pointer must be 0 (got 1)");
  check_text_refused(
      "2 1 2 2 1  1 1 2 2  3 1  0 1  0  0 1 3 2 4  5 6",
      "file: line 1: M: number of row pointers: must lie between 1 and 2 (got \"3\")");
  check_text_refused("2 2 2 2 1\n" BANNER "triplet: 2-by-2, nzmax: 9 nnz: 3\n 0 0 : 1\n 5 6",
                     "file: M: 3 entries announced, 1 found");
  check_text_refused("2 2 2 2 1\n" BANNER "triplet: 2-by-2, nzmax: 9 nnz: 1\n 0 2 : 1\n 5 6",
                     "file: line 4: M: column: must lie between 0 and 1 (got \"2\")");
  check_text_refused("2 2 2 2 1\n" BANNER "nonsense\n 0 1 : 1\n 5 6",
                     "file: line 3: M: expected a line with \"nnz: COUNT\" (got \"nonsense\")");
  check_text_refused("2 2 2 2 5\n" BANNER,
                     "file: line 1: M: sparse origin: must lie between 1 and 4 (got \"5\")");
}

static void mlcp_refusals(void **state) {
  (void)state;
  // three rows, two columns: a known inconsistent file of the collection
  check_text_refused("1 0 2 1  0 2 3  0 1  0 3 2 3 2  1 2 3 4 5 6  1 2",
                     "file: line 1: M: number of columns: must be 3 (got \"2\")");
  check_text_refused("1 0 1 1  0 1 2  1 1  0 2 2 2 2  1 2 3 4  1 2",
                     "file: n: 1 equations announced, the blocks have 0");
  check_text_refused("1 1 1 1  0 1 2  0 1  0 2 2 2 2  1 2 3 4  1 2  1 4 3 7  1 2",
                     "file: D[0,0]: is 7 here and 2 in M");
  check_text_refused("1 1 1 1  0 1 2  0 1  0 2 2 2 2  1 2 3 4  1 2  1 4 3 2  1 5",
                     "file: b[0]: is 5 here and 2 in q");
}

// A global problem cut anywhere is never taken for a local one, or for a whole one.
static void truncation(void **state) {
  (void)state;
  const char *text = "2 1 0 2 2 2 2 1 0 0 1 0 2 2 2 2 1 0 0 1 1.0 2.0 0.0 0.0 0.1";
  size_t length = strlen(text);
  for (size_t cut = 1; cut + 3 <= length; cut++) { // "0." and "0" are numbers too
    CnProblem *p = NULL;
    CHECK_STATUS(cn_problem_read_memory(text, length - cut - 2, "file", NULL, &p, NULL),
                 CN_INVALID_DATA);
    CHECK(!p && strncmp(cn_error_message(), "file: ", 6) == 0);
  }
}

static void memory(void **state) {
  (void)state;
  static const char *const texts[] = {
      "2 1 0 2 2 2 2  1 0 0 1  0 2 2 2 2  1 0 0 1  1.0 2.0  0.0 0.0  0.1",
      "1 1 1 1  0 1 2  0 1  0 2 2 2 2  1 2 3 4  1 2  1 4 3 2  1 2",
      "5 1 1 5 5 0  1 2 3 4 5  0.1 0.2",
      "2 1 2 2 1  1 1 2 2  2 1  0 1  0  0 1 3 2 4  5 6",
      "{\"cairn\": \"problem\", \"version\": 1, \"form\": \"global\", \"sets\": [{\"kind\": "
      "\"unilateral\"}], \"M\": [[2]], \"E\": [[1]], \"k\": [1], \"b\": [0], \"blocks\": "
      "[{\"set\": "
      "0}]}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    TestAlloc alloc;
    test_alloc_init(&alloc);
    CnAllocator hook = test_alloc_hook(&alloc);
    for (int32_t n = 1;; n++) {
      CnProblem *p = NULL;
      test_alloc_fail_at(&alloc, n);
      CnStatus status = cn_problem_read_memory(texts[i], strlen(texts[i]), "file", &hook, &p, NULL);
      if (!alloc.failed_count) {
        CHECK(status == CN_OK && n > 3);
        cn_problem_destroy(p);
        break;
      }
      CHECK(status == CN_NO_MEMORY && !p);
      test_alloc_check_clean(&alloc);
    }
    test_alloc_check_clean(&alloc);
  }
}

static void paths(void **state) {
  (void)state;
  CnProblem *p;
  CHECK_STATUS(cn_problem_read("/nowhere/at/all", NULL, &p, NULL), CN_FILE);
  CHECK(!p && strstr(cn_error_message(), "/nowhere/at/all: cannot be opened"));
  CHECK_STATUS(cn_problem_read("/tmp", NULL, &p, NULL), CN_FILE);
  CHECK_STATUS(cn_problem_read(NULL, NULL, &p, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_problem_read("x", NULL, NULL, NULL), CN_INVALID_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinds),          cmocka_unit_test(storages),
      cmocka_unit_test(sparse_edges),   cmocka_unit_test(mixed),
      cmocka_unit_test(rolling),        cmocka_unit_test(refusals),
      cmocka_unit_test(block_refusals), cmocka_unit_test(mlcp_refusals),
      cmocka_unit_test(truncation),     cmocka_unit_test(memory),
      cmocka_unit_test(paths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
