// SPDX-License-Identifier: Apache-2.0
// cairn bench: start cairn-bench, which lies beside this program, with the same arguments. It is a
// program of its own so that nothing of the other engines comes near the command.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

// cairn-bench in the folder of this program.
static int bench_path(char *path, size_t capacity) {
  static const char name[] = "cairn-bench";
  ssize_t length = readlink("/proc/self/exe", path, capacity - sizeof name);
  if (length <= 0) return 0;
  path[length] = 0;
  char *slash = strrchr(path, '/');
  memcpy(slash ? slash + 1 : path, name, sizeof name);
  return 1;
}

static int run(const CniArgs *args) {
  char path[4096];
  size_t count = 0;
  while (args->raw[count]) count++;
  char **arguments = calloc(count + 2, sizeof *arguments);
  if (!arguments) return cni_fail(args, "out of memory");
  if (!bench_path(path, sizeof path)) snprintf(path, sizeof path, "cairn-bench");
  arguments[0] = path;
  memcpy(arguments + 1, args->raw, count * sizeof *arguments);
  fflush(NULL);
  execvp(path, arguments);
  int reason = errno;
  free(arguments);
  return cni_fail(args, "%s: %s", path, strerror(reason));
}

// Read by cairn-bench; listed here for the help.
static const CniOption options[] = {
    {"set", 0, "KEY=VALUE", "give a parameter of the benchmark a value; may be repeated"},
    CNI_OPTION_JSON,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn bench", "list the benchmarks and their parameters"},
    {"cairn bench granular --set spheres=1000 --json", "one of them, as JSON"},
    {NULL, NULL}};
const CniCommand cni_command_bench = {
    .name = "bench",
    .summary = "measure, beside other engines",
    .operands = "[NAME]",
    .operand_max = 1,
    .description =
        "Runs a benchmark: Cairn and, where they are installed, other engines on the same "
        "bodies in the same run. Without NAME lists what there is. Use a quiet machine.",
    .options = options,
    .examples = examples,
    .raw = 1,
    .run = run};
