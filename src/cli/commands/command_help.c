// SPDX-License-Identifier: Apache-2.0
// cairn help: all commands, or one of them.
#include "cli/cli.h"

static int run(const CniArgs *args) {
  if (args->operand_count == 0) {
    cni_help_all(stdout);
    return CNI_EXIT_DONE;
  }
  const char *name = args->operands[0];
  const CniCommand *command = cni_command_find(name);
  if (command) {
    cni_help_command(command, stdout);
    return CNI_EXIT_DONE;
  }
  return cni_unknown_command(args->command, name);
}

static const CniOption options[] = {CNI_OPTION_END};
static const CniExample examples[] = {{"cairn help run", "what `cairn run` can do"}, {NULL, NULL}};
const CniCommand cni_command_help = {.name = "help",
                                     .summary = "tell about all commands, or one",
                                     .operands = "[COMMAND]",
                                     .operand_max = 1,
                                     .description =
                                         "Lists the commands, or tells about one of them.",
                                     .options = options,
                                     .examples = examples,
                                     .run = run};
