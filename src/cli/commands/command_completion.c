// SPDX-License-Identifier: Apache-2.0
// cairn completion bash|zsh|fish: what the shell needs to complete commands, options and their values, made
// from the same tables as parser and help. The build writes the three files, `cmake --install` puts them
// where the shells look.
#include <cairn/record.h>
#include <cairn/solver.h>
#include <cairn/system.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define WORDS_SIZE 1024

static const char *shell_name(int32_t index);

static const char *command_name(int32_t index) {
  return cni_commands[index] ? cni_commands[index]->name : NULL;
}

// ---- what may stand where ----

typedef const char *(*Table)(int32_t index);

// Options and operands whose values a table names.
static const struct {
  const char *name;
  Table table;
} tables[] = {{"solver", cn_solver_name}, {"integrator", cn_integrator_name},
              {"to", cn_export_name},     {"SCENE", cn_builtin_scene_name},
              {"COMMAND", command_name},  {"bash|zsh|fish", shell_name}};

static const char *join(Table table, char words[WORDS_SIZE]) {
  size_t used = 0;
  words[0] = 0;
  for (int32_t i = 0; table(i) && used < WORDS_SIZE; i++)
    used += (size_t)snprintf(words + used, WORDS_SIZE - used, "%s%s", i ? " " : "", table(i));
  return words;
}

// The values that an option may have, between blanks; "": any.
static const char *values_of(const CniOption *option, char words[WORDS_SIZE]) {
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
    if (strcmp(option->name, tables[i].name) == 0) return join(tables[i].table, words);
  words[0] = 0;
  if (!option->argument || !strpbrk(option->argument, "|")) return words;
  snprintf(words, WORDS_SIZE, "%s", option->argument);
  for (char *c = words; *c; c++)
    if (*c == '|') *c = ' ';
  return words;
}

static int takes_file(const CniOption *option) {
  static const char *const kinds[] = {"FILE", "DIR", "FOLDER"};
  for (size_t i = 0; option->argument && i < sizeof kinds / sizeof kinds[0]; i++)
    if (strcmp(option->argument, kinds[i]) == 0) return 1;
  return 0;
}

// The same of a command's operands: names of scenes, commands, shells.
static const char *operands_of(const CniCommand *command, char words[WORDS_SIZE]) {
  words[0] = 0;
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
    if (strstr(command->operands, tables[i].name)) return join(tables[i].table, words);
  return words;
}

// Are there operands that are no names?
static int takes_files(const CniCommand *command) {
  return command->operands[0] && !strstr(command->operands, "COMMAND") &&
         !strstr(command->operands, "bash");
}

// ---- bash ----

static void bash_values(FILE *file, const CniCommand *command, const CniOption *option) {
  char words[WORDS_SIZE];
  if (!option->argument) return;
  fprintf(file, "    '%s --%s'", command->name, option->name);
  if (option->letter) fprintf(file, " | '%s -%c'", command->name, option->letter);
  values_of(option, words);
  if (words[0])
    fprintf(file, ") words='%s' ;;\n", words);
  else
    fprintf(file, takes_file(option) ? ") files=1 ;;\n" : ") return ;;\n");
}

static void write_bash(FILE *file) {
  char words[WORDS_SIZE];
  fputs("# bash completion of cairn, made by `cairn completion bash`\n_cairn() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words= files=\n"
        "  COMPREPLY=()\n"
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words='",
        file);
  for (int32_t i = 0; cni_commands[i]; i++)
    if (!cni_commands[i]->hidden) fprintf(file, "%s ", cni_commands[i]->name);
  fputs("--version --help'\n  else\n    case \"$command ${COMP_WORDS[COMP_CWORD - 1]}\" in\n",
        file);
  for (int32_t i = 0; cni_commands[i]; i++)
    for (const CniOption *o = cni_commands[i]->options; o->name; o++)
      bash_values(file, cni_commands[i], o);
  fputs("    *)\n      case $command in\n", file);
  for (int32_t i = 0; cni_commands[i]; i++) {
    const CniCommand *c = cni_commands[i];
    fprintf(file, "      %s)\n        words='%s' files=%s\n        case $word in -*) words='",
            c->name, operands_of(c, words), takes_files(c) ? "1" : "");
    for (const CniOption *o = c->options; o->name; o++) fprintf(file, "--%s ", o->name);
    fputs("--help' files= ;; esac\n        ;;\n", file);
  }
  fputs("      esac\n      ;;\n    esac\n  fi\n"
        "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
        "  if [ \"$files\" ]; then\n"
        "    compopt -o filenames 2>/dev/null\n"
        "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$word\")\n"
        "  fi\n}\ncomplete -F _cairn cairn\n",
        file);
}

// ---- zsh ----

// Text between single quotes where [, ], : have a meaning.
static void write_zsh_text(FILE *file, const char *text) {
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", file);
    else if (strchr("[]:\\", *text))
      fprintf(file, "\\%c", *text);
    else
      fputc(*text, file);
  }
}

static void zsh_option(FILE *file, const CniOption *option) {
  char words[WORDS_SIZE];
  values_of(option, words);
  fputs(" \\\n        ", file);
  if (option->letter)
    fprintf(file, "'*'{-%c,--%s}'[", option->letter, option->name);
  else
    fprintf(file, "'*--%s[", option->name);
  write_zsh_text(file, option->help);
  fputc(']', file);
  if (option->argument) {
    fputc(':', file);
    write_zsh_text(file, option->argument);
    fputc(':', file);
    if (words[0])
      fprintf(file, "(%s)", words);
    else if (takes_file(option))
      fputs("_files", file);
  }
  fputc('\'', file);
}

static void write_zsh(FILE *file) {
  char words[WORDS_SIZE];
  fputs("#compdef cairn\n# zsh completion of cairn, made by `cairn completion zsh`\n_cairn() {\n"
        "  local -a commands\n  commands=(\n",
        file);
  for (int32_t i = 0; cni_commands[i]; i++) {
    if (cni_commands[i]->hidden) continue;
    fprintf(file, "    '%s:", cni_commands[i]->name);
    write_zsh_text(file, cni_commands[i]->summary);
    fputs("'\n", file);
  }
  fputs(
      "  )\n  if (( CURRENT == 2 )); then\n    _describe -t commands command commands\n    return\n"
      "  fi\n  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n",
      file);
  for (int32_t i = 0; cni_commands[i]; i++) {
    const CniCommand *c = cni_commands[i];
    fprintf(file, "    %s)\n      _arguments", c->name);
    for (const CniOption *o = c->options; o->name; o++) zsh_option(file, o);
    fputs(" \\\n        '(-h --help)'{-h,--help}'[show help]'", file);
    operands_of(c, words);
    if (words[0]) {
      fputs(" \\\n        '*:", file);
      write_zsh_text(file, c->operands);
      fprintf(file, ":{ compadd -- %s", words);
      fputs(takes_files(c) ? "; _files }'" : " }'", file);
    } else if (c->operands[0]) {
      fputs(" \\\n        '*:", file);
      write_zsh_text(file, c->operands);
      fputs(":_files'", file);
    }
    fputs("\n      ;;\n", file);
  }
  fputs("  esac\n}\n_cairn \"$@\"\n", file);
}

// ---- fish ----

static void write_fish_text(FILE *file, const char *text) {
  fputc('\'', file);
  for (; *text; text++) {
    if (*text == '\'' || *text == '\\') fputc('\\', file);
    fputc(*text, file);
  }
  fputc('\'', file);
}

static void fish_option(FILE *file, const CniCommand *command, const CniOption *option) {
  char words[WORDS_SIZE];
  values_of(option, words);
  fprintf(file, "complete -c cairn -n '__fish_seen_subcommand_from %s' -l %s", command->name,
          option->name);
  if (option->letter) fprintf(file, " -s %c", option->letter);
  if (option->argument) fputs(takes_file(option) ? " -r -F" : " -x", file);
  if (words[0]) fprintf(file, " -a '%s'", words);
  fputs(" -d ", file);
  write_fish_text(file, option->help);
  fputc('\n', file);
}

static void write_fish(FILE *file) {
  char words[WORDS_SIZE];
  fputs("# fish completion of cairn, made by `cairn completion fish`\n"
        "complete -c cairn -n __fish_use_subcommand -f\n"
        "complete -c cairn -n __fish_use_subcommand -l version -d 'print the version'\n",
        file);
  for (int32_t i = 0; cni_commands[i]; i++) {
    const CniCommand *c = cni_commands[i];
    if (!c->hidden) {
      fprintf(file, "complete -c cairn -n __fish_use_subcommand -a %s -d ", c->name);
      write_fish_text(file, c->summary);
      fputc('\n', file);
    }
    for (const CniOption *o = c->options; o->name; o++) fish_option(file, c, o);
    fprintf(file, "complete -c cairn -n '__fish_seen_subcommand_from %s' -l help -d 'show help'\n",
            c->name);
    operands_of(c, words);
    if (words[0])
      fprintf(file, "complete -c cairn -n '__fish_seen_subcommand_from %s' %s -a '%s'\n", c->name,
              takes_files(c) ? "-F" : "-f", words);
  }
}

// ---- the command ----

static const struct {
  const char *name;
  void (*write)(FILE *file);
} shells[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
#define SHELL_COUNT ((int32_t)(sizeof shells / sizeof shells[0]))

static const char *shell_name(int32_t index) {
  return index >= 0 && index < SHELL_COUNT ? shells[index].name : NULL;
}

static int run(const CniArgs *args) {
  const char *shell = args->operands[0], *path = args->operands[1];
  int32_t i = 0;
  while (i < SHELL_COUNT && strcmp(shells[i].name, shell) != 0) i++;
  if (i == SHELL_COUNT)
    return cni_usage_error(args->command, "no completion for '%s' (there is: bash, zsh, fish)",
                           shell);
  FILE *file = path ? fopen(path, "w") : stdout;
  if (!file) return cni_fail(args, "%s: %s", path, strerror(errno));
  shells[i].write(file);
  int failed = ferror(file);
  if (path && (fclose(file) != 0 || failed)) return cni_fail(args, "%s: %s", path, strerror(errno));
  return CNI_EXIT_DONE;
}

static const CniOption options[] = {CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn completion bash cairn.bash", "into a file, for `source cairn.bash`"},
    {"cairn completion fish ~/.config/fish/completions/cairn.fish", "where fish finds it"},
    {NULL, NULL}};
const CniCommand cni_command_completion = {
    .name = "completion",
    .summary = "write what a shell needs to complete cairn's words",
    .operands = "bash|zsh|fish [FILE]",
    .operand_min = 1,
    .operand_max = 2,
    .description =
        "Writes a script by which bash, zsh or fish completes commands, options and their values, "
        "scenes and files; made from the same tables as the help. `make install` puts all three "
        "where the shells find them.",
    .options = options,
    .examples = examples,
    .run = run};
