// SPDX-License-Identifier: Apache-2.0
// cairn check PROBLEM --answer FILE: the certificate of a stored answer, whoever found it.
#include <math.h>

#include "cli/problem_file.h"

static void show(const CniArgs *args, const CniProblemFile *file, const CnCertificate *c,
                 double error, double tolerance) {
  CniShow sheet;
  int is_lcp = cni_problem_is_plain(file->problem);
  cni_show_begin(&sheet, stdout, cni_args_has(args, "json"));
  cni_show_problem(&sheet, file);
  cni_show_text(&sheet, "answer", "answer", cni_args_text(args, "answer"));
  cni_show_certificate(&sheet, c, error, tolerance, error <= tolerance);
  cni_show_number(&sheet, "gap_speed", is_lcp ? NULL : "worst u_n < 0", c->gap_speed, "m/s");
  cni_show_number(&sheet, "joint_speed", file->info.equalities ? "worst equality" : NULL,
                  c->joint_speed, is_lcp ? "" : "m/s");
  cni_show_number(&sheet, "cone", "outside the set", c->cone, is_lcp ? "" : "N s");
  cni_show_number(&sheet, "complementarity", "complementarity", c->complementarity,
                  is_lcp ? "" : "J");
  cni_show_end(&sheet);
}

static int certify(const CniArgs *args, CniProblemFile *file) {
  double tolerance = cni_problem_file_tolerance(file);
  CnCertificate certificate;
  if (!cni_args_number(args, "tol", CNI_NUMBER_NOT_NEGATIVE, &tolerance)) return CNI_EXIT_USAGE;
  if (cn_answer_read(cni_args_text(args, "answer"), file->problem, &file->answer) != CN_OK)
    return cni_fail(args, "%s", cn_error_message());
  if (cn_certify(file->problem, &file->answer, &certificate) != CN_OK)
    return cni_fail(args, "%s: %s", file->path, cn_error_message());
  double error = cn_solve_error(file->problem, &certificate);
  // the residual of the step form takes v as it is; one that came from a file must fit the impulses
  CnProblemInfo info;
  cn_problem_info(file->problem, &info);
  if (info.form == CN_FORM_STEP) error = fmax(error, certificate.momentum_defect);
  show(args, file, &certificate, error, tolerance);
  return error <= tolerance ? CNI_EXIT_DONE : CNI_EXIT_INEXACT;
}

int cni_check_answer(const CniArgs *args) {
  CniProblemFile file;
  double tolerance = 0;
  if (cni_args_has(args, "set"))
    return cni_usage_error(args->command, "--set is for scenes, --answer for problems");
  if (!cni_args_number(args, "tol", CNI_NUMBER_NOT_NEGATIVE, &tolerance)) return CNI_EXIT_USAGE;
  int status = cni_problem_file_open(&file, args, args->operands[0]);
  if (status == CNI_EXIT_DONE) status = certify(args, &file);
  cni_problem_file_release(&file);
  return status;
}
