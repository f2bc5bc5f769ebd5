// SPDX-License-Identifier: Apache-2.0
// Driving the command `cairn` from tests: start it in a scratch folder, wait for it, look at what
// it wrote. Output goes to files, so that a command that is killed leaves what it had written.
#ifndef TESTS_COMMAND_H
#define TESTS_COMMAND_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A folder of its own for a test; everything in it is removed with it.
typedef struct Scratch {
  char path[256];
} Scratch;
Scratch scratch_create(void);
void scratch_remove(Scratch *scratch);
// PATH/name, in a buffer of the scratch's that the next call but seven overwrites.
const char *scratch_file(const Scratch *scratch, const char *name);
// Write a text file into it.
void scratch_write(const Scratch *scratch, const char *name, const char *text);
int file_exists(const char *path);
// The whole of a file with a zero behind it, to be freed; "" if there is none. `size` may be null.
char *file_bytes(const char *path, size_t *size);

#define COMMAND_ARGUMENTS 40

typedef struct Command {
  pid_t pid;
  char out_path[320], err_path[320];
  char *out, *err; // after command_wait
  int status;      // exit status, 1000 + number if a signal ended it
  // bytes, 0: no limit; set before starting: of files, of the address space
  int64_t file_limit, memory_limit;
} Command;

// `line` is split at spaces; the working directory is the scratch folder.
void command_start(Command *command, const char *program, const Scratch *scratch, const char *line);
void command_wait(Command *command);
void command_release(Command *command);
// All of it; the result is released by the next call with the same command.
void command_run(Command *command, const char *program, const Scratch *scratch, const char *line);

// The same on a pseudo-terminal of the given width: everything it shows, to be freed.
char *command_on_terminal(const char *program, const Scratch *scratch, const char *line,
                          int columns, int *status);

void sleep_seconds(double seconds);

#endif
