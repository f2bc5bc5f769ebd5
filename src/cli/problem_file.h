// SPDX-License-Identifier: Apache-2.0
// Problem files in the command: what `solve`, `check --answer` and `info` share.
#ifndef CNI_CLI_PROBLEM_FILE_H
#define CNI_CLI_PROBLEM_FILE_H

#include <cairn/blocks.h>
#include <cairn/files.h>
#include <cairn/solver.h>

#include "cli/cli.h"

typedef struct CniProblemFile {
  const char *path; // as given
  CnProblem *problem;
  CnProblemFileInfo info;
  CnAnswer answer; // fitted to the problem, g zero
} CniProblemFile;

// Read a problem; CNI_EXIT_FAILED after a message. Release it in any case.
int cni_problem_file_open(CniProblemFile *file, const CniArgs *args, const char *path);
void cni_problem_file_release(CniProblemFile *file);

// An LCP or MLCP: explicit, with bilateral and unilateral rows alone.
int cni_problem_is_plain(const CnProblem *problem);

// What --tol means where it is not given: 1e-8 for an LCP or MLCP, 1e-4 with friction.
double cni_problem_file_tolerance(const CniProblemFile *file);

// The fields every result about a problem begins with.
void cni_show_problem(CniShow *show, const CniProblemFile *file);
// The errors of an answer, and whether it is within the tolerance.
void cni_show_certificate(CniShow *show, const CnCertificate *certificate, double error,
                          double tolerance, int converged);

// ---- parts of other commands ----

int cni_check_answer(const CniArgs *args); // check PROBLEM --answer FILE
int cni_info_problem(const CniArgs *args, const char *path);

#endif
