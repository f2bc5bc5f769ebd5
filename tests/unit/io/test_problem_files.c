// SPDX-License-Identifier: Apache-2.0
// The collection of problem files, or those of it that are in tests/data: every file reads, is what
// it should be, and survives both writers.
#include "problems.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "sparse/sparse.h"

// What is known of each file: sizes, entries of W or M (of H), largest |W - W^T| / |W|, mu.
typedef struct Row {
  const char *path, *kind, *storage;
  int32_t contacts, equalities, unknowns, velocities, entries, h_entries;
  double asymmetry, mu_least, mu_most;
} Row;

static const Row rows[] = {
    {"friction/Box_Stacks-i0122-82-5.hdf5", "gfc3d", "triplet", 82, 0, 246, 450, 450, 1284, 0, .3,
     .3},
    {"friction/BoxesStack1-i100000-32.hdf5.dat", "fc3d", "blocks", 52, 0, 156, 0, 5328, 0, 1.6e-16,
     .7, .7},
    {"friction/Capsules-i100-1090.dat", "fc3d", "blocks", 276, 0, 828, 0, 11214, 0, 8.6e-4, .7, .7},
    {"friction/Capsules-i101-404.dat", "fc3d", "blocks", 225, 0, 675, 0, 9099, 0, 6.0e-4, .7, .7},
    {"friction/Confeti-ex03-Fc3D-SBM.dat", "fc3d", "blocks", 54, 0, 162, 0, 3600, 0, 4.9e-17, .4,
     .4},
    {"friction/Confeti-ex13-4contact-Fc3D-SBM.dat", "fc3d", "blocks", 4, 0, 12, 0, 144, 0, 0, .04,
     .04},
    {"friction/FC3D_Example1.dat", "fc3d", "dense", 3, 0, 9, 0, 9, 0, 0, .1, .1},
    {"friction/FC3D_Example1_SBM.dat", "fc3d", "blocks", 3, 0, 9, 0, 27, 0, 0, .1, .1},
    {"friction/FrictionContact3D_1c.dat", "fc3d", "dense", 1, 0, 3, 0, 9, 0, 0, .1, .1},
    {"friction/FrictionContactProblem00031.dat", "fc2d", "blocks", 11, 0, 22, 0, 60, 0, 2.3e-17, .9,
     .9},
    {"friction/FrictionContactProblem00071.dat", "fc2d", "blocks", 89, 0, 178, 0, 1148, 0, 4.8e-17,
     .9, .9},
    {"friction/GFC3D_Example0.dat", "gfc3d", "dense", 1, 0, 3, 9, 9, 6, 0, .1, .1},
    {"friction/GFC3D_Example00.dat", "gfc3d", "dense", 1, 0, 3, 3, 3, 3, 0, .1, .1},
    {"friction/GFC3D_Example00_badly_scaled.dat", "gfc3d", "dense", 1, 0, 3, 3, 3, 3, 0, .1, .1},
    {"friction/GFC3D_OneContact.dat", "gfc3d", "blocks", 1, 0, 3, 39, 1521, 117, 0, .5, .5},
    {"friction/GFC3D_TwoRods1-condensed.dat", "fc3d", "blocks", 3, 0, 9, 0, 81, 0, 0, .1, .1},
    {"friction/GFC3D_TwoRods1.dat", "gfc3d", "blocks", 3, 0, 9, 54, 1458, 486, 0, .1, .1},
    {"friction/KaplasTower-i1061-4.hdf5.dat", "fc3d", "blocks", 570, 0, 1710, 0, 116784, 0, 1.0e-13,
     .3, .3},
    {"friction/LMGC_100_PR_PerioBox-i00361-60-03000.hdf5", "fc3d", "rows", 60, 0, 180, 0, 9576, 0,
     1.5e-16, .3, .5},
    {"friction/NESpheres_10_1.dat", "fc3d", "dense", 9, 0, 27, 0, 121, 0, 7.9e-17, .8, .8},
    {"friction/OneObject-i100000-316.hdf5.dat", "fc3d", "blocks", 25, 0, 75, 0, 1863, 0, 4.5e-5, .3,
     .3},
    {"friction/Rover1039.dat", "fc3d", "dense", 4, 0, 12, 0, 144, 0, 9.2e-6, .7, .7},
    {"friction/Rover1040.dat", "fc3d", "dense", 5, 0, 15, 0, 225, 0, 9.4e-6, .7, .7},
    {"friction/Rover11035.dat", "fc3d", "dense", 1, 0, 3, 0, 9, 0, 1.1e-5, .7, .7},
    {"friction/Rover3865.dat", "fc3d", "dense", 5, 0, 15, 0, 225, 0, 8.1e-6, .7, .7},
    {"friction/Rover4144.dat", "fc3d", "dense", 4, 0, 12, 0, 144, 0, 8.0e-6, .7, .7},
    {"friction/Rover4396.dat", "fc3d", "dense", 2, 0, 6, 0, 36, 0, 2.6e-5, .7, .7},
    {"friction/Spheres-i099-356-679.hdf5", "gfc3d", "triplet", 356, 0, 1068, 12000, 12000, 9110, 0,
     .7, .7},
    {"friction/fc2d_granularflowonwall_00667_00000.dat", "fc2d", "sparse", 667, 0, 1334, 0, 3822, 0,
     0, .5, .5},
    {"friction/gfc2d_granularflowonwall_00000_00117.dat", "gfc2d", "sparse", 0, 0, 0, 900, 900, 0,
     0, 0, 0},
    {"lcp/lcp_CPS_1.dat", "lcp", "dense", 2, 0, 2, 0, 4, 0, 0, 0, 0},
    {"lcp/lcp_CPS_2.dat", "lcp", "dense", 3, 0, 3, 0, 6, 0, 1.5, 0, 0},
    {"lcp/lcp_CPS_3.dat", "lcp", "dense", 4, 0, 4, 0, 8, 0, .33, 0, 0},
    {"lcp/lcp_CPS_4.dat", "lcp", "dense", 4, 0, 4, 0, 13, 0, .095, 0, 0},
    {"lcp/lcp_CPS_5.dat", "lcp", "dense", 2, 0, 2, 0, 4, 0, 0, 0, 0},
    {"lcp/lcp_deudeu.dat", "lcp", "dense", 2, 0, 2, 0, 4, 0, 0, 0, 0},
    {"lcp/lcp_deudeu_block.dat", "lcp", "blocks", 2, 0, 2, 0, 4, 0, 0, 0, 0},
    {"lcp/lcp_enum_fails.dat", "lcp", "dense", 9, 0, 9, 0, 37, 0, .30, 0, 0},
    {"lcp/lcp_exp_murty.dat", "lcp", "dense", 6, 0, 6, 0, 21, 0, 1.0, 0, 0},
    {"lcp/lcp_ortiz_block.dat", "lcp", "blocks", 4, 0, 4, 0, 16, 0, .67, 0, 0},
    {"lcp/lcp_trivial.dat", "lcp", "dense", 9, 0, 9, 0, 9, 0, 0, 0, 0},
    {"mlcp/BuckConverter_mlcp.dat", "mlcp", "dense", 12, 20, 32, 0, -1, 0, -1, 0, 0},
    {"mlcp/PDSym_mlcp.dat", "mlcp", "dense", 4, 3, 7, 0, -1, 0, -1, 0, 0},
    {"mlcp/PD_mlcp.dat", "mlcp", "dense", 4, 3, 7, 0, -1, 0, -1, 0, 0},
    {"mlcp/RCD_mlcp.dat", "mlcp", "dense", 1, 2, 3, 0, -1, 0, -1, 0, 0},
    {"mlcp/RLCD_mlcp.dat", "mlcp", "dense", 2, 6, 8, 0, -1, 0, -1, 0, 0},
    {"mlcp/deltasigma_mlcp.dat", "mlcp", "dense", 156, 65, 221, 0, -1, 0, -1, 0, 0},
    {"mlcp/deudeu_mlcp.dat", "mlcp", "dense", 1, 1, 2, 0, -1, 0, -1, 0, 0},
    {"mlcp/diodeBridge20_mlcp.dat", "mlcp", "dense", 20, 11, 31, 0, -1, 0, -1, 0, 0},
    {"mlcp/diodeBridge_mlcp.dat", "mlcp", "dense", 4, 3, 7, 0, -1, 0, -1, 0, 0},
    {"mlcp/m2n1_mlcp.dat", "mlcp", "dense", 2, 1, 3, 0, -1, 0, -1, 0, 0},
    {"mlcp/m3n2_mlcp.dat", "mlcp", "dense", 3, 2, 5, 0, -1, 0, -1, 0, 0},
    {"mlcp/relay2_mlcp.dat", "mlcp", "dense", 2, 4, 6, 0, -1, 0, -1, 0, 0},
    {"rolling/Chute-ndof-768-nc-4-3.hdf5", "grfc3d", "triplet", 4, 0, 20, 768, 1536, 91, 1.5e-6, 1,
     1},
    {"rolling/RFC3D_cube_1.dat", "rfc3d", "dense", 2, 0, 10, 0, 100, 0, 7.1e-19, .3, .3},
    {"rolling/RFC3D_sphere_1.dat", "rfc3d", "dense", 1, 0, 5, 0, 9, 0, 0, .6, .6},
};
#define ROW_COUNT ((int32_t)(sizeof rows / sizeof rows[0]))

static CnProblem *read_file(const char *path, CnProblemFileInfo *info) {
  char full[1024];
  snprintf(full, sizeof full, "%s/%s", problem_folder(), path);
  CnProblem *problem = NULL;
  CHECK_OK(cn_problem_read(full, NULL, &problem, info));
  return problem;
}

// All rows with the whole collection; without it those of tests/data.
static int is_stored(const Row *row) {
  return problem_folder_is_whole() || problem_folder_has(row->path);
}

static double asymmetry(const CnSparse *a) {
  double largest = 0, defect = 0;
  for (int32_t i = 0; i < a->row_count; i++)
    for (int32_t e = a->start[i]; e < a->start[i + 1]; e++) {
      double other = cni_sparse_entry(a, a->column[e], i);
      largest = fmax(largest, fabs(a->value[e]));
      defect = fmax(defect, fabs(a->value[e] - other));
    }
  return largest > 0 ? defect / largest : 0;
}

static void inventory(void **state) {
  (void)state;
  for (int32_t i = 0; i < ROW_COUNT; i++) {
    const Row *row = &rows[i];
    if (!is_stored(row)) continue;
    CnProblemFileInfo info;
    CnProblem *p = read_file(row->path, &info);
    if (strcmp(info.kind, row->kind) != 0 || strcmp(info.storage, row->storage) != 0) {
      print_error("%s: %s, %s\n", row->path, info.kind, info.storage);
      fail();
    }
    CHECK(info.contacts == row->contacts && info.equalities == row->equalities);
    CHECK(info.unknowns == row->unknowns && info.velocities == row->velocities);
    CHECK(row->entries < 0 || info.entries == row->entries);
    CHECK_NEAR(info.mu_least, row->mu_least, 1e-15);
    CHECK_NEAR(info.mu_most, row->mu_most, 1e-15);
    if (p->global) CHECK(cni_sparse_entry_count(&p->global->e) == row->h_entries);
    // given to two digits; below round-off only that it is
    double found = asymmetry(p->global ? &p->global->m : &p->w);
    if (row->asymmetry >= 1e-12)
      CHECK_REL(found, row->asymmetry, .06);
    else if (row->asymmetry >= 0)
      CHECK(found <= 2e-13);
    cn_problem_destroy(p);
  }
}

static void both_writers(void **state) {
  (void)state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/cairn-problem-%ld", (long)getpid());
  for (int32_t i = 0; i < ROW_COUNT; i++) {
    if (!is_stored(&rows[i])) continue;
    CnProblemFileInfo info, again;
    CnProblem *p = read_file(rows[i].path, &info), *q = NULL;
    CHECK_OK(cn_problem_write(p, CN_PROBLEM_JSON, path));
    CHECK_OK(cn_problem_read(path, NULL, &q, &again));
    check_same_problem(p, q);
    cn_problem_destroy(q);
    int has_fclib = strstr(info.kind, "fc") && strcmp(info.kind, "rfc3d") != 0;
    if (!has_fclib) {
      CHECK_STATUS(cn_problem_write(p, CN_PROBLEM_FCLIB, path), CN_UNSUPPORTED);
    } else {
      CHECK_OK(cn_problem_write(p, CN_PROBLEM_FCLIB, path));
      CHECK_OK(cn_problem_read(path, NULL, &q, &again));
      check_same_problem(p, q);
      if (info.contacts > 0) assert_string_equal(again.kind, info.kind); // else no dimension
      assert_string_equal(again.format, "fclib");
      cn_problem_destroy(q);
    }
    cn_problem_destroy(p);
  }
  remove(path);
}

// Two files of one problem, stored in different ways.
static void check_same_values(const char *first, const char *second) {
  CnProblem *a = read_file(first, NULL), *b = read_file(second, NULL);
  CHECK(a->row_count == b->row_count);
  for (int32_t i = 0; i < a->row_count; i++) {
    CHECK_NEAR(a->b[i], b->b[i], 0);
    for (int32_t j = 0; j < a->row_count; j++)
      CHECK_NEAR(cni_sparse_entry(&a->w, i, j), cni_sparse_entry(&b->w, i, j), 0);
  }
  cn_problem_destroy(a);
  cn_problem_destroy(b);
}

static void storages_agree(void **state) {
  (void)state;
  check_same_values("lcp/lcp_deudeu.dat", "lcp/lcp_deudeu_block.dat");
  check_same_values("friction/FC3D_Example1.dat", "friction/FC3D_Example1_SBM.dat");
}

// The rods as a global problem and as the local one that Siconos made of it, written with 7 digits.
static void elimination_agrees(void **state) {
  (void)state;
  CnProblem *global = read_file("friction/GFC3D_TwoRods1.dat", NULL), *made;
  CnProblem *local = read_file("friction/GFC3D_TwoRods1-condensed.dat", NULL);
  CHECK_OK(cn_problem_to_explicit(global, &made));
  double largest = 0;
  for (int32_t i = 0; i < cni_sparse_entry_count(&local->w); i++)
    largest = fmax(largest, fabs(local->w.value[i]));
  for (int32_t i = 0; i < 9; i++) {
    CHECK_NEAR(made->b[i], local->b[i], 1e-6);
    for (int32_t j = 0; j < 9; j++)
      CHECK_NEAR(cni_sparse_entry(&made->w, i, j), cni_sparse_entry(&local->w, i, j),
                 1e-6 * largest);
  }
  cn_problem_destroy(global);
  cn_problem_destroy(local);
  cn_problem_destroy(made);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inventory),
      cmocka_unit_test(both_writers),
      cmocka_unit_test(storages_agree),
      cmocka_unit_test(elimination_agrees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
