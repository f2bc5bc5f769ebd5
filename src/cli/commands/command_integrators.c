// SPDX-License-Identifier: Apache-2.0
// cairn integrators: the table of integrators.
#include <stdio.h>

#include <cairn/system.h>

#include "cli/cli.h"

static int run(const CniArgs *args) {
  CniShow show;
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_list(&show, "integrators", NULL);
  for (int32_t i = 0; cn_integrator_name(i); i++) {
    cni_show_row(&show);
    cni_show_text(&show, "name", "name", cn_integrator_name(i));
    cni_show_text(&show, "summary", "summary", cn_integrator_summary(i));
    cni_show_row_end(&show);
  }
  cni_show_list_end(&show);
  cni_show_end(&show);
  return CNI_EXIT_DONE;
}

static const CniOption options[] = {CNI_OPTION_JSON, CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn integrators", "list them"},
    {"cairn run chain --integrator hem5 --tol 1e-8", "run with one of them"},
    {NULL, NULL}};
extern const CniCommand cni_command_integrators;
const CniCommand cni_command_integrators = {
    .name = "integrators",
    .summary = "list the integrators",
    .operands = "",
    .description = "Lists the integrators that --integrator of `cairn run` accepts.",
    .options = options,
    .examples = examples,
    .run = run};
