// SPDX-License-Identifier: Apache-2.0
// cairn solvers: the table of solvers.
#include <cairn/own_solver.h>
#include <stdio.h>

#include "cli/cli.h"

// Kinds of problem files and what a solver must accept for them; global ones come in explicit form.
static const struct {
  const char *name;
  uint32_t needs;
} kinds[] = {
    {"lcp", CN_ACCEPT_KIND(CN_BLOCK_UNILATERAL)},
    {"mlcp", CN_ACCEPT_KIND(CN_BLOCK_UNILATERAL) | CN_ACCEPT_KIND(CN_BLOCK_BILATERAL)},
    {"fc2d", CN_ACCEPT_KIND(CN_BLOCK_FRICTION_2D) | CN_ACCEPT_COULOMB},
    {"fc3d", CN_ACCEPT_KIND(CN_BLOCK_FRICTION) | CN_ACCEPT_COULOMB},
    {"rfc3d", CN_ACCEPT_KIND(CN_BLOCK_ROLLING) | CN_ACCEPT_COULOMB},
};

static void accepted(uint32_t accepts, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && used < size; i++)
    if (!((kinds[i].needs | CN_ACCEPT_EXPLICIT) & ~accepts))
      used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", kinds[i].name);
  if (accepts & CN_ACCEPT_STEP && used < size)
    snprintf(text + used, size - used, "%sstep", used ? " " : "");
}

static int run(const CniArgs *args) {
  CniShow show;
  char text[96], lines[320];
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_list(&show, "solvers", NULL);
  for (int32_t i = 0; cn_solver_name(i); i++) {
    cni_show_row(&show);
    cni_show_text(&show, "name", "name", cn_solver_name(i));
    accepted(cn_solver_accepts(i), text, sizeof text);
    snprintf(lines, sizeof lines, "%s\n%20stakes %s", cn_solver_summary(i), "", text);
    cni_show_text(&show, "summary", NULL, cn_solver_summary(i));
    cni_show_text(&show, "accepts", NULL, text);
    cni_show_text(&show, NULL, "summary", lines);
    cni_show_row_end(&show);
  }
  cni_show_list_end(&show);
  cni_show_end(&show);
  return CNI_EXIT_DONE;
}

static const CniOption options[] = {CNI_OPTION_JSON, CNI_OPTION_END};
static const CniExample examples[] = {{"cairn solvers", "list them"},
                                      {"cairn run stack --solver pssor", "run with one of them"},
                                      {NULL, NULL}};
const CniCommand cni_command_solvers = {
    .name = "solvers",
    .summary = "list the solvers",
    .operands = "",
    .description =
        "Lists the solvers that --solver of `cairn run` and `cairn solve` accepts, and what each "
        "can take: "
        "kinds of problem files (global ones as their local form) and the steps of a run.",
    .options = options,
    .examples = examples,
    .run = run};
