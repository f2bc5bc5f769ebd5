// SPDX-License-Identifier: Apache-2.0
// The command `cairn`: a table of commands, each with a table of its options. Parser, help texts
// and manual page are all made from these tables; a new command is one file and one row.
#ifndef CNI_CLI_H
#define CNI_CLI_H

#include <cairn/ranks.h>
#include <cairn/scene.h>
#include <stdint.h>
#include <stdio.h>

// Pass a failure of the library on; as core/error.h has it.
#ifndef CNI_TRY
#define CNI_TRY(call)                                                                              \
  do {                                                                                             \
    CnStatus cni_try_status = (call);                                                              \
    if (cni_try_status != CN_OK) return cni_try_status;                                            \
  } while (0)
#endif

// ---- the program ----

// The command with its arguments, as main has them; the exit status. ranks: who run it together, null: one process.
int cni_program(int argc, char **argv, CnRanks *ranks);
extern CnRanks *cni_ranks; // of this program
// Does this process write files and speak?
static inline int cni_speaks(void) { return cn_ranks_rank(cni_ranks) == 0; }

double cni_clock(void); // s since some moment; it never goes back

// ---- exit status ----

enum {
  CNI_EXIT_DONE = 0,
  CNI_EXIT_FAILED = 1,  // the job failed
  CNI_EXIT_USAGE = 2,   // the command line is wrong
  CNI_EXIT_INEXACT = 3, // finished, but the answer does not meet --tol
  CNI_EXIT_INTERRUPTED = 130
};

// ---- the tables ----

typedef struct CniOption {
  const char *name;     // without dashes; null ends a table
  char letter;          // 0: none
  const char *argument; // null: a flag
  const char *help;
} CniOption;

#define CNI_OPTION_JSON                                                                            \
  { "json", 0, NULL, "print one JSON object on standard output, nothing else" }
#define CNI_OPTION_QUIET                                                                           \
  { "quiet", 'q', NULL, "print nothing but errors" }
#define CNI_OPTION_VERBOSE                                                                         \
  { "verbose", 'v', NULL, "tell more" }
#define CNI_OPTION_SET                                                                             \
  { "set", 0, "KEY=VALUE", "give a parameter of the scene a value; may be repeated" }
#define CNI_OPTION_FILES                                                                           \
  { "files", 0, "FOLDER", "mesh files may lie below FOLDER (default: below the scene's folder)" }
#define CNI_OPTION_NO_CACHE                                                                        \
  { "no-cache", 0, NULL, "keep no convex parts in files beside meshes, and use none" }
#define CNI_OPTION_FORCE                                                                           \
  { "force", 'f', NULL, "replace a file that is there and was not made by cairn" }
#define CNI_OPTION_END                                                                             \
  { NULL, 0, NULL, NULL }

typedef struct CniExample {
  const char *line, *meaning; // null line ends a list
} CniExample;

typedef struct CniArgs CniArgs;

typedef struct CniCommand {
  const char *name, *summary;
  const char *operands; // as shown, for example "SCENE"; "" without any
  int32_t operand_min, operand_max;
  const char *description; // paragraphs, separated by empty lines
  const CniOption *options;
  const CniExample *examples;
  const char *choice; // an option whose values a table names: its help lists them
  const char *(*choices)(int32_t index); // null past the end
  int32_t hidden;                        // left out of lists and of the manual page
  int32_t raw;                           // arguments are handed on unread
  int (*run)(const CniArgs *args);       // returns the exit status
} CniCommand;

#define CN_COMMAND(name) extern const CniCommand cni_command_##name;
#include "cli/commands/command_list.inc"
#undef CN_COMMAND
extern const CniCommand *const cni_commands[]; // a null ends it
const CniCommand *cni_command_find(const char *name);

// ---- arguments as given ----

typedef struct CniGiven {
  const CniOption *option;
  const char *value; // null for a flag
} CniGiven;

struct CniArgs {
  const CniCommand *command;
  CniGiven *given;
  const char **operands;
  int32_t given_count, operand_count;
  int32_t help; // --help was among them
  char **raw;   // everything behind the command's name, null at the end
};

// Read the arguments behind a command's name by its table. Not 0: a usage error, already told.
int cni_args_parse(const CniCommand *command, char **arguments, CniArgs *args);
void cni_args_release(CniArgs *args);

int cni_args_has(const CniArgs *args, const char *name);
const char *cni_args_text(const CniArgs *args, const char *name); // the last one; null: not given
// The nth value of an option that may be repeated, null past the end.
const char *cni_args_nth(const CniArgs *args, const char *name, int32_t n);

typedef enum CniNumberRange { CNI_NUMBER_POSITIVE, CNI_NUMBER_NOT_NEGATIVE } CniNumberRange;
// A number, or a whole number in lo .. hi. *value stays as it is when the option is not given. 0: a
// usage error, already told.
int cni_args_number(const CniArgs *args, const char *name, CniNumberRange range, double *value);
int cni_args_whole(const CniArgs *args, const char *name, int64_t lo, int64_t hi, int64_t *value);
// One of the names that `list` gives, null past its end.
int cni_args_choice(const CniArgs *args, const char *name, const char *(*list)(int32_t index),
                    const char **value);

// "--size WxH" of a picture; 0: a usage error, already told.
int cni_size_parse(const CniArgs *args, int *width, int *height);

// A number written out in full; 0 for anything else.
int cni_number_parse(const char *text, double *value);

// ---- messages ----

// One line on standard error: "cairn: run: ...", and where to read more. Returns CNI_EXIT_USAGE.
int cni_usage_error(const CniCommand *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// One line on standard error: "cairn: ..."; with --json an object {"error": ...} too. Returns
// CNI_EXIT_FAILED.
int cni_fail(const CniArgs *args, const char *format, ...) __attribute__((format(printf, 2, 3)));
// One line on standard error.
void cni_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Lines of a scene's description that begin with "beware: ", likewise.
void cni_tell_beware(const CnScene *scene, const char *label);
// A scene with the options --files and --no-cache of a command (settings.c).
CnStatus cni_open_scene(const CniArgs *args, const char *label, const CnSetting *settings,
                        int32_t setting_count, CnScene **scene);
// The user's folder for what is kept beside nothing; null: there is none.
#define CNI_CACHE_FOLDER 1024
const char *cni_cache_folder(char folder[CNI_CACHE_FOLDER]);

// May a page, picture or export be written there? What is none of cairn's own needs --force. 0, or the exit status, told.
// From then on a signal that ends the command takes the unfinished file away.
int cni_check_vacant(const CniArgs *args, const char *path);

// A file that is no scene, told in one line with what takes it: not 0, the exit status. 0: it may be one.
int cni_not_a_scene(const CniArgs *args, const char *path);

// The usage error for a command that is none, with the nearest one that is.
int cni_unknown_command(const CniCommand *command, const char *name);

// The name of a list that is nearest to the first `length` bytes of a wrong one; null: none is near.
const char *cni_nearest_of(const char *wanted, size_t length,
                           const char *(*list)(void *context, int32_t index), void *context);
// The same of a table, and all its names in one line, "a, b, c", as far as there is room.
const char *cni_nearest_in(const char *wanted, const char *(*table)(int32_t index));
void cni_names_in(const char *(*table)(int32_t index), char *text, size_t size);

// ---- help ----

void cni_help_all(FILE *file);
void cni_help_command(const CniCommand *command, FILE *file);
void cni_help_manual(FILE *file); // the manual page cairn.1

// ---- results: the same fields as JSON for tools or as lines for people ----

typedef struct CniShow {
  FILE *file;
  int32_t json;
  int32_t depth, pending; // JSON: a comma is due
  int32_t row;            // text: fields so far in this line; -1 outside a row
} CniShow;

void cni_show_begin(CniShow *show, FILE *file, int json);
void cni_show_end(CniShow *show);
// A field: `key` null is for people only, `label` null for tools only. Within rows labels are not
// shown, but null still hides a field.
void cni_show_text(CniShow *show, const char *key, const char *label, const char *text);
void cni_show_number(CniShow *show, const char *key, const char *label, double value,
                     const char *unit);
void cni_show_count(CniShow *show, const char *key, const char *label, int64_t value);
void cni_show_flag(CniShow *show, const char *key, const char *label, int value);
void cni_show_vector(CniShow *show, const char *key, const char *label, const double value[3],
                     const char *unit);
// Numbers in a list, for tools only.
void cni_show_numbers(CniShow *show, const char *key, const double *values, int32_t count);
// All names of a table with their summaries, as the only result.
void cni_show_table(const CniArgs *args, const char *key, const char *(*name)(int32_t index),
                    const char *(*summary)(int32_t index));
// A list of rows; people see the heading (if there is one) and one line a row.
void cni_show_list(CniShow *show, const char *key, const char *heading);
void cni_show_list_end(CniShow *show);
void cni_show_row(CniShow *show);
void cni_show_row_end(CniShow *show);
// The shortest decimal form that reads back as the same number. Returns its buffer.
#define CNI_NUMBER_SIZE 32
const char *cni_number_text(double value, char buffer[CNI_NUMBER_SIZE]);

// ---- progress of long work ----

typedef enum CniProgressStyle {
  CNI_PROGRESS_NONE,
  CNI_PROGRESS_LINES,
  CNI_PROGRESS_BAR
} CniProgressStyle;

typedef struct CniProgress {
  CniProgressStyle style;
  const char *title;
  const char *unit;      // null: steps of simulated time
  int64_t first, last;   // steps
  double started, shown; // s, of the clock
  int64_t shown_step;
  double rate; // steps/s, smoothed
  int32_t lines;
} CniProgress;

// Take the bar away before another line is written; the next drawing brings it back.
void cni_progress_clear(void);
// A bar if standard error is a terminal, else lines.
CniProgressStyle cni_progress_style(int quiet);
void cni_progress_begin(CniProgress *progress, CniProgressStyle style, const char *title,
                        int64_t first, int64_t last);
// After each step; `note` is appended to what is shown. Cheap when nothing is due.
int cni_progress_due(const CniProgress *progress);
void cni_progress_show(CniProgress *progress, int64_t step, double time, const char *note);
void cni_progress_end(CniProgress *progress, int64_t step, double time, const char *note);

#endif
