// SPDX-License-Identifier: Apache-2.0
#define _XOPEN_SOURCE 700
#include "command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

// ---- scratch ----

Scratch scratch_create(void) {
  Scratch scratch;
  const char *folder = getenv("TMPDIR");
  snprintf(scratch.path, sizeof scratch.path, "%s/cairn-cli-XXXXXX", folder ? folder : "/tmp");
  CHECK(mkdtemp(scratch.path) != NULL);
  return scratch;
}

// A folder with what is in it; nothing is followed out of it.
static void remove_folder(const char *path) {
  DIR *folder = opendir(path);
  for (struct dirent *e; folder && (e = readdir(folder));) {
    char inner[1024];
    struct stat info;
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
    if (lstat(inner, &info) == 0 && S_ISDIR(info.st_mode))
      remove_folder(inner);
    else
      unlink(inner);
  }
  if (folder) closedir(folder);
  rmdir(path);
}

void scratch_remove(Scratch *scratch) { remove_folder(scratch->path); }

const char *scratch_file(const Scratch *scratch, const char *name) {
  static char paths[8][600];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", scratch->path, name);
  return path;
}

void scratch_write(const Scratch *scratch, const char *name, const char *text) {
  FILE *file = fopen(scratch_file(scratch, name), "w");
  CHECK(file != NULL);
  fputs(text, file);
  fclose(file);
}

int file_exists(const char *path) {
  struct stat info;
  return stat(path, &info) == 0;
}

static char *read_all(int fd, size_t *result) {
  size_t size = 0, capacity = 4096;
  char *text = malloc(capacity);
  for (;;) {
    if (size + 2048 > capacity) text = realloc(text, capacity *= 2);
    CHECK(text != NULL);
    ssize_t got = read(fd, text + size, 2047);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break; // a terminal whose other side is closed answers EIO
    size += (size_t)got;
  }
  text[size] = 0;
  if (result) *result = size;
  return text;
}

char *file_bytes(const char *path, size_t *size) {
  int fd = open(path, O_RDONLY);
  char *text = read_all(fd, size);
  if (fd >= 0) close(fd);
  return text;
}

// ---- the command ----

// In the child: become the program. Never returns.
static void become(const char *program, const Scratch *scratch, const char *line) {
  static char copy[2048];
  char *arguments[COMMAND_ARGUMENTS + 2], *rest = NULL;
  int count = 0;
  snprintf(copy, sizeof copy, "%s", line);
  arguments[count++] = (char *)(uintptr_t)program;
  for (char *word = strtok_r(copy, " ", &rest); word && count <= COMMAND_ARGUMENTS;
       word = strtok_r(NULL, " ", &rest))
    arguments[count++] = word;
  arguments[count] = NULL;
  if (chdir(scratch->path) == 0) execv(program, arguments);
  _exit(127);
}

void command_start(Command *command, const char *program, const Scratch *scratch,
                   const char *line) {
  int64_t limit = command->file_limit, memory = command->memory_limit;
  static int number;
  memset(command, 0, sizeof *command);
  number++;
  snprintf(command->out_path, sizeof command->out_path, "%s/out-%d", scratch->path, number);
  snprintf(command->err_path, sizeof command->err_path, "%s/err-%d", scratch->path, number);
  int out = open(command->out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  int err = open(command->err_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(out >= 0 && err >= 0);
  command->pid = fork();
  if (command->pid == 0) {
    struct rlimit most = {(rlim_t)limit, (rlim_t)limit};
    // a write beyond the limit fails like one on a full disk, instead of ending the process
    if (limit > 0) setrlimit(RLIMIT_FSIZE, &most);
    struct rlimit space = {(rlim_t)memory, (rlim_t)memory};
    if (memory > 0) setrlimit(RLIMIT_AS, &space);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    become(program, scratch, line);
  }
  close(out);
  close(err);
  CHECK(command->pid > 0);
}

static int wait_status(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

void command_wait(Command *command) {
  command->status = wait_status(command->pid);
  command->out = file_bytes(command->out_path, NULL);
  command->err = file_bytes(command->err_path, NULL);
}

void command_release(Command *command) {
  free(command->out);
  free(command->err);
  memset(command, 0, sizeof *command);
}

void command_run(Command *command, const char *program, const Scratch *scratch, const char *line) {
  int64_t limit = command->file_limit, memory = command->memory_limit;
  command_release(command);
  command->file_limit = limit;
  command->memory_limit = memory;
  command_start(command, program, scratch, line);
  command_wait(command);
}

char *command_on_terminal(const char *program, const Scratch *scratch, const char *line,
                          int columns, int *status) {
  int master = posix_openpt(O_RDWR | O_NOCTTY);
  CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
  struct winsize size = {.ws_row = 25, .ws_col = (unsigned short)columns};
  int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  CHECK(slave >= 0);
  ioctl(slave, TIOCSWINSZ, &size);
  pid_t pid = fork();
  if (pid == 0) {
    for (int fd = 0; fd < 3; fd++) dup2(slave, fd);
    close(master);
    become(program, scratch, line);
  }
  CHECK(pid > 0);
  close(slave);
  char *text = read_all(master, NULL);
  close(master);
  *status = wait_status(pid);
  return text;
}

void sleep_seconds(double seconds) {
  struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&time, NULL);
}
