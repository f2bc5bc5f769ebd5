// SPDX-License-Identifier: Apache-2.0
// cairn integrators: the table of integrators.

#include <cairn/system.h>

#include "cli/cli.h"

static int run(const CniArgs *args) {
  cni_show_table(args, "integrators", cn_integrator_name, cn_integrator_summary);
  return CNI_EXIT_DONE;
}

static const CniOption options[] = {CNI_OPTION_JSON, CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn integrators", "list them"},
    {"cairn run chain --integrator hem5 --tol 1e-8", "run with one of them"},
    {NULL, NULL}};
const CniCommand cni_command_integrators = {
    .name = "integrators",
    .summary = "list the integrators",
    .operands = "",
    .description = "Lists the integrators that --integrator of `cairn run` accepts.",
    .options = options,
    .examples = examples,
    .run = run};
