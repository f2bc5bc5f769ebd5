// cairn solvers: the table of solvers.
#include <stdio.h>

#include <cairn/solver.h>

#include "cli/cli.h"

static int run(const CniArgs *args) {
  CniShow show;
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_list(&show, "solvers", NULL);
  for (int32_t i = 0; cn_solver_name(i); i++) {
    cni_show_row(&show);
    cni_show_text(&show, "name", "name", cn_solver_name(i));
    cni_show_text(&show, "summary", "summary", cn_solver_summary(i));
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
extern const CniCommand cni_command_solvers;
const CniCommand cni_command_solvers = {
    .name = "solvers",
    .summary = "list the solvers",
    .operands = "",
    .description = "Lists the solvers that --solver of `cairn run` and `cairn solve` accepts.",
    .options = options,
    .examples = examples,
    .run = run};
