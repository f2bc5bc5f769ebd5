// SPDX-License-Identifier: Apache-2.0
// Help texts and the manual page, from the tables alone.
#include <ctype.h>
#include <string.h>

#include "cli/cli.h"

#define TEXT_WIDTH 80
#define HELP_COLUMN 30

static const CniOption help_option = {"help", 'h', NULL, "show this text"};

static const struct {
  int status;
  const char *meaning;
} statuses[] = {{CNI_EXIT_DONE, "success"},
                {CNI_EXIT_FAILED, "the job failed; one line on standard error says why"},
                {CNI_EXIT_USAGE, "the command line is wrong"},
                {CNI_EXIT_INEXACT, "finished, but the answer does not meet --tol"},
                {CNI_EXIT_INTERRUPTED, "interrupted (Ctrl-C); files are complete up to there"}};
#define STATUS_COUNT (sizeof statuses / sizeof statuses[0])

// ---- text in columns ----

// Words of a paragraph from `column` on, wrapped; the cursor stands in `at`. An empty line in the
// text stays one.
static void write_wrapped(FILE *file, const char *text, int column, int at) {
  while (*text) {
    if (text[0] == '\n' && text[1] == '\n') {
      fprintf(file, "\n\n%*s", column, "");
      at = column;
      text += 2;
      continue;
    }
    if (isspace((unsigned char)*text)) {
      text++;
      continue;
    }
    int length = (int)strcspn(text, " \n");
    if (at > column && at + 1 + length > TEXT_WIDTH) {
      fprintf(file, "\n%*s", column, "");
      at = column;
    }
    if (at > column) {
      fputc(' ', file);
      at++;
    }
    fprintf(file, "%.*s", length, text);
    at += length;
    text += length;
  }
  fputc('\n', file);
}

// "--time T", "-q, --quiet"
static int option_label(const CniOption *option, char *label, size_t capacity) {
  char letter[8] = "";
  if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
  return snprintf(label, capacity, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
                  option->argument ? option->argument : "");
}

// What an option does and, where a table has them, the values it takes.
static const char *option_help(const CniCommand *command, const CniOption *option, char *text,
                               size_t size) {
  char names[160];
  if (!command->choices || strcmp(option->name, command->choice) != 0) return option->help;
  cni_names_in(command->choices, names, sizeof names);
  snprintf(text, size, "%s: %s", names, option->help);
  return text;
}

static void write_option(FILE *file, const CniCommand *command, const CniOption *option) {
  char label[80], help[320];
  int length = option_label(option, label, sizeof label);
  fprintf(file, "  %s", label);
  if (length > HELP_COLUMN - 4)
    fprintf(file, "\n%*s", HELP_COLUMN, "");
  else
    fprintf(file, "%*s", HELP_COLUMN - 2 - length, "");
  write_wrapped(file, option_help(command, option, help, sizeof help), HELP_COLUMN, HELP_COLUMN);
}

// ---- help ----

void cni_help_all(FILE *file) {
  fprintf(file, "usage: cairn COMMAND ...\n\n"
                "Nonsmooth multibody dynamics: scene file in, recorded run and page out.\n\n");
  for (int32_t i = 0; cni_commands[i]; i++)
    if (!cni_commands[i]->hidden)
      fprintf(file, "  %-14s%s\n", cni_commands[i]->name, cni_commands[i]->summary);
  fprintf(file, "\n  %-14s%s\n", "--version", "print the version");
  fprintf(file, "\nexample: cairn run granular --set spheres=1000 --time 1 --out run.h5\n"
                "`cairn COMMAND --help` tells more about each.\n");
}

void cni_help_command(const CniCommand *command, FILE *file) {
  const char *space = command->operands[0] ? " " : "";
  fprintf(file, "usage: cairn %s%s%s%s\n\n", command->name, space, command->operands,
          command->options[0].name ? " [OPTION]..." : "");
  write_wrapped(file, command->description, 0, 0);
  fputc('\n', file);
  for (const CniOption *o = command->options; o->name; o++) write_option(file, command, o);
  write_option(file, command, &help_option);
  fprintf(file, "\nexamples:\n");
  for (const CniExample *e = command->examples; e->line; e++)
    fprintf(file, "  %s\n      %s\n", e->line, e->meaning);
}

// ---- the manual page ----

// Text for roff: backslashes, hyphens and quotes escaped, no line begins with a control character.
static void write_roff(FILE *file, const char *text) {
  int start = 1;
  for (const char *c = text; *c; c++) {
    if (c[0] == '\n' && c[1] == '\n') {
      fputs("\n.PP\n", file);
      c++;
      start = 1;
      continue;
    }
    if (start && (*c == '.' || *c == '\'')) fputs("\\&", file);
    if (*c == '\\')
      fputs("\\e", file);
    else if (*c == '-')
      fputs("\\-", file);
    else if (*c == '`')
      fputs("\\(ga", file);
    else
      fputc(*c == '\n' ? ' ' : *c, file);
    start = 0;
  }
  fputc('\n', file);
}

static void write_roff_option(FILE *file, const CniCommand *command, const CniOption *option) {
  char label[80], help[320];
  option_label(option, label, sizeof label);
  fputs(".TP\n.B ", file);
  write_roff(file, label);
  write_roff(file, option_help(command, option, help, sizeof help));
}

static void write_roff_command(FILE *file, const CniCommand *command) {
  char line[160];
  snprintf(line, sizeof line, "cairn %s %s%s", command->name, command->operands,
           command->options[0].name ? " [OPTION]..." : "");
  fputs(".SS ", file);
  write_roff(file, line);
  write_roff(file, command->description);
  for (const CniOption *o = command->options; o->name; o++) write_roff_option(file, command, o);
  fputs(".PP\nExamples:\n", file);
  for (const CniExample *e = command->examples; e->line; e++) {
    fputs(".TP\n.B ", file);
    write_roff(file, e->line);
    write_roff(file, e->meaning);
  }
}

void cni_help_manual(FILE *file) {
  fprintf(file, ".TH CAIRN 1 \"\" \"cairn %s\" \"User commands\"\n", cn_version());
  fputs(".SH NAME\ncairn \\- nonsmooth multibody dynamics\n.SH SYNOPSIS\n.B cairn\n"
        "COMMAND [ARGUMENT]... [OPTION]...\n.SH DESCRIPTION\n",
        file);
  write_roff(file,
             "Simulates mechanisms and piles of rigid bodies that touch: joints, impacts, dry "
             "friction. Contacts are hard: every step solves a complementarity problem, and "
             "every step tells how good its answer is. Units are SI throughout. With --json a "
             "command prints one JSON object on standard output and nothing else there; errors "
             "are one line on standard error.");
  fputs(".SH COMMANDS\n", file);
  for (int32_t i = 0; cni_commands[i]; i++)
    if (!cni_commands[i]->hidden) write_roff_command(file, cni_commands[i]);
  fputs(".SH EXIT STATUS\n", file);
  for (size_t i = 0; i < STATUS_COUNT; i++) {
    fprintf(file, ".TP\n.B %d\n", statuses[i].status);
    write_roff(file, statuses[i].meaning);
  }
}
