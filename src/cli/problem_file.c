// SPDX-License-Identifier: Apache-2.0
// Problem files in the command: reading them, and the fields that results about them share.
#include <cairn/tools.h>

#include "cli/problem_file.h"

int cni_problem_file_open(CniProblemFile *file, const CniArgs *args, const char *path) {
  CnAllocator allocator = cn_allocator_default();
  *file = (CniProblemFile){.path = path, .answer = cn_answer_empty(&allocator)};
  if (cn_problem_read(path, &allocator, &file->problem, &file->info) == CN_OK &&
      cn_answer_fit(&file->answer, file->problem) == CN_OK)
    return CNI_EXIT_DONE;
  char problem[512];
  snprintf(problem, sizeof problem, "%s", cn_error_message());
  CnScene *scene = NULL;
  CnFileKind kind = cn_file_kind(path);
  if (kind == CN_FILE_KIND_RUN || kind == CN_FILE_KIND_CHECKPOINT)
    return cni_fail(args, "%s: is a %s, not a problem", path,
                    kind == CN_FILE_KIND_RUN ? "recorded run" : "checkpoint");
  if (cn_scene_open(path, NULL, 0, &allocator, &scene) != CN_OK)
    return cni_fail(args, "%s", problem);
  cn_scene_destroy(scene);
  return cni_fail(
      args,
      "%s: is a scene, not a problem: `cairn run` simulates it, and with --dump-problems "
      "DIR writes the problems of its steps",
      path);
}

void cni_problem_file_release(CniProblemFile *file) {
  cn_answer_release(&file->answer);
  cn_problem_destroy(file->problem);
}

int cni_problem_is_plain(const CnProblem *problem) {
  CnProblemInfo info;
  cn_problem_info(problem, &info);
  int32_t plain = info.kind_count[CN_BLOCK_BILATERAL] + info.kind_count[CN_BLOCK_UNILATERAL];
  return info.form == CN_FORM_EXPLICIT && plain == info.block_count;
}

double cni_problem_file_tolerance(const CniProblemFile *file) {
  return cni_problem_is_plain(file->problem) ? 1e-8 : 1e-4;
}

void cni_show_problem(CniShow *show, const CniProblemFile *file) {
  const CnProblemFileInfo *info = &file->info;
  cni_show_text(show, "problem", "problem", file->path);
  cni_show_text(show, "kind", "kind", info->kind);
  cni_show_count(show, "contacts", "contacts", info->contacts);
  if (info->equalities > 0) cni_show_count(show, "equalities", "equalities", info->equalities);
  cni_show_count(show, "unknowns", "unknowns", info->unknowns);
  if (info->velocities > 0) cni_show_count(show, "velocities", "velocities", info->velocities);
}

void cni_show_certificate(CniShow *show, const CnCertificate *c, double error, double tolerance,
                          int converged) {
  char text[80];
  snprintf(text, sizeof text, "%s: error %.3g, tolerance %g", converged ? "yes" : "no", error,
           tolerance);
  cni_show_flag(show, "converged", NULL, converged);
  cni_show_text(show, NULL, "converged", text);
  cni_show_number(show, "tolerance", NULL, tolerance, "");
  cni_show_number(show, "residual", "residual", c->residual, "");
  cni_show_number(show, "residual_speed", NULL, c->residual_speed, "m/s");
  cni_show_number(show, "error_siconos", "error (siconos)", c->error_siconos, "");
  cni_show_number(show, "error_scaled", "error (scaled)", c->error_scaled, "");
  cni_show_number(show, "momentum_defect", NULL, c->momentum_defect, "");
  cni_show_count(show, "worst_block", c->worst_block >= 0 && !converged ? "worst block" : NULL,
                 c->worst_block);
}
