// SPDX-License-Identifier: Apache-2.0
// cairn: find the command in the table, read its arguments, run it.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include <cairn/scene.h>
#include <cairn/tools.h>

#include "cli/cli.h"

#define CN_COMMAND(name) &cni_command_##name,
const CniCommand *const cni_commands[] = {
#include "cli/commands/command_list.inc"
    NULL};
#undef CN_COMMAND

const CniCommand *cni_command_find(const char *name) {
  for (int32_t i = 0; cni_commands[i]; i++)
    if (strcmp(cni_commands[i]->name, name) == 0) return cni_commands[i];
  return NULL;
}

// ---- messages ----

void cni_tell(const char *format, ...) {
  va_list list;
  va_start(list, format);
  cni_progress_clear();
  fputs("cairn: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
}

int cni_usage_error(const CniCommand *command, const char *format, ...) {
  va_list list;
  va_start(list, format);
  fprintf(stderr, command ? "cairn: %s: " : "cairn: ", command ? command->name : "");
  vfprintf(stderr, format, list);
  fprintf(stderr, command ? "; `cairn %s --help` tells more\n" : "; `cairn help` tells more%s\n",
          command ? command->name : "");
  va_end(list);
  return CNI_EXIT_USAGE;
}

int cni_fail(const CniArgs *args, const char *format, ...) {
  char text[2048];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  // whatever a file or a name held: an error is one line
  for (char *c = text; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
  cni_tell("%s", text);
  if (cni_args_has(args, "json")) {
    CniShow show;
    cni_show_begin(&show, stdout, 1);
    cni_show_text(&show, "error", NULL, text);
    cni_show_end(&show);
  }
  return CNI_EXIT_FAILED;
}

// ---- the command ----

static int print_version(int json) {
  CniShow show;
  cni_show_begin(&show, stdout, json);
  cni_show_text(&show, "version", NULL, cn_version());
  cni_show_end(&show);
  if (!json) printf("cairn %s\n", cn_version());
  return CNI_EXIT_DONE;
}

// Hidden ones are none to be meant.
static const char *command_name(int32_t index) {
  int32_t i = 0;
  for (; cni_commands[i]; i++)
    if (!cni_commands[i]->hidden && index-- == 0) break;
  return cni_commands[i] ? cni_commands[i]->name : NULL;
}

// What a file or a built-in scene in the place of a command is for; null: it is neither.
static const char *meant_for(const char *name) {
  static const char *const commands[] = {NULL, "report", "run --resume", "solve", "run"};
  for (int32_t i = 0; cn_builtin_scene_name(i); i++)
    if (strcmp(cn_builtin_scene_name(i), name) == 0) return "run";
  return commands[cn_file_kind(name)];
}

int cni_unknown_command(const CniCommand *command, const char *name) {
  const char *near = cni_nearest_in(name, command_name);
  const char *what = name[0] == '-' ? "option" : "command";
  const char *meant = near ? NULL : meant_for(name);
  if (meant)
    return cni_usage_error(command, "%s is no command: `cairn %s %s` takes it", name, meant, name);
  if (near) return cni_usage_error(command, "unknown %s %s (did you mean %s?)", what, name, near);
  return cni_usage_error(command, "unknown %s %s", what, name);
}

static int run_command(const CniCommand *command, char **arguments) {
  CniArgs args;
  int status = cni_args_parse(command, arguments, &args);
  if (status == CNI_EXIT_DONE && args.help)
    cni_help_command(command, stdout);
  else if (status == CNI_EXIT_DONE)
    status = command->run(&args);
  cni_args_release(&args);
  return status;
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    cni_help_all(stderr);
    return CNI_EXIT_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
    cni_help_all(stdout);
    return CNI_EXIT_DONE;
  }
  if (strcmp(name, "--version") == 0)
    return print_version(argc > 2 && strcmp(argv[2], "--json") == 0);
  const CniCommand *command = cni_command_find(name);
  return command ? run_command(command, argv + 2) : cni_unknown_command(NULL, name);
}

// A descriptor that the caller has closed would be given to the first file that is opened, and
// messages would go into a run. It gets something that can neither be read nor written instead, so
// that the loss of output shows.
static int hold_descriptors(void) {
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) return 0;
  return 1;
}

CnRanks *cni_ranks;

int cni_program(int argc, char **argv, CnRanks *ranks) {
  cni_ranks = ranks;
  if (!hold_descriptors()) return CNI_EXIT_FAILED;
  cn_io_leave_quietly();
  signal(SIGXFSZ, SIG_IGN); // a limit on files is a full disk: the write fails, and a line says so
  int status = dispatch(argc, argv);
  // a full disk shows itself here at the latest
  errno = 0;
  if ((fflush(stdout) != 0 || ferror(stdout)) && status != CNI_EXIT_FAILED) {
    cni_tell("standard output: %s", errno ? strerror(errno) : "cannot be written");
    status = CNI_EXIT_FAILED;
  }
  return status;
}

#ifndef CAIRN_MPI_PROGRAM // cairn-mpi has its own (src/mpi)
int main(int argc, char **argv) { return cni_program(argc, argv, NULL); }
#endif
