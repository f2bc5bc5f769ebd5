// SPDX-License-Identifier: Apache-2.0
// Arguments by table: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, flags, operands in any order,
// and -- before operands that begin with a dash. What is not in the table is refused with the
// nearest name that is.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

// ---- parsing ----

static const CniOption *find_option(const CniCommand *command, const char *name, size_t length) {
  for (const CniOption *o = command->options; o->name; o++)
    if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
  return NULL;
}

static const CniOption *find_letter(const CniCommand *command, char letter) {
  for (const CniOption *o = command->options; o->name; o++)
    if (o->letter == letter) return o;
  return NULL;
}

static const char *option_name(void *context, int32_t index) {
  return ((const CniCommand *)context)->options[index].name;
}

static int unknown_option(const CniCommand *command, const char *argument, size_t length) {
  int shown = length < 48 ? (int)length : 48;
  const char *near = cni_nearest_of(argument + 2, argument[1] == '-' ? length - 2 : 0, option_name,
                                    (void *)(uintptr_t)command);
  if (near)
    return cni_usage_error(command, "unknown option %.*s (did you mean --%s?)", shown, argument,
                           near);
  return cni_usage_error(command, "unknown option %.*s", shown, argument);
}

// One argument that begins with a dash; *next is the one behind it and moves on if it is a value.
static int take_option(CniArgs *args, const char *argument, char ***next) {
  const CniCommand *command = args->command;
  const char *value = NULL;
  const CniOption *option;
  size_t length = strcspn(argument, "=");
  if (argument[1] == '-') {
    option = find_option(command, argument + 2, length - 2);
    if (argument[length] == '=') value = argument + length + 1;
  } else {
    option = find_letter(command, argument[1]);
    if (argument[2]) value = argument + 2;
  }
  if (!option) return unknown_option(command, argument, length);
  if (!option->argument && value && argument[1] != '-')
    return unknown_option(command, argument, strlen(argument));
  if (!option->argument && value)
    return cni_usage_error(command, "--%s takes no value (got %s)", option->name, value);
  if (option->argument && !value) {
    value = **next;
    if (!value)
      return cni_usage_error(command, "--%s needs a value: --%s %s", option->name, option->name,
                             option->argument);
    (*next)++;
  }
  args->given[args->given_count++] = (CniGiven){option, value};
  return CNI_EXIT_DONE;
}

static int check_operands(const CniArgs *args) {
  const CniCommand *command = args->command;
  if (args->operand_count > command->operand_max)
    return cni_usage_error(command, "`%s` is one argument too many",
                           args->operands[command->operand_max]);
  if (args->operand_count < command->operand_min)
    return cni_usage_error(command, "%s is missing", command->operands);
  return CNI_EXIT_DONE;
}

int cni_args_parse(const CniCommand *command, char **arguments, CniArgs *args) {
  size_t count = 0;
  while (arguments[count]) count++;
  *args = (CniArgs){.command = command, .raw = arguments};
  args->given = calloc(count + 1, sizeof *args->given);
  args->operands = calloc(count + 1, sizeof *args->operands);
  if (!args->given || !args->operands) return cni_fail(args, "out of memory");
  int only_operands = 0;
  for (char **next = arguments; *next;) {
    const char *argument = *next++;
    if (!only_operands && (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)) {
      args->help = 1;
      return CNI_EXIT_DONE;
    }
    if (command->raw) continue;
    if (!only_operands && strcmp(argument, "--") == 0) {
      only_operands = 1;
    } else if (!only_operands && argument[0] == '-' && argument[1]) {
      int status = take_option(args, argument, &next);
      if (status != CNI_EXIT_DONE) return status;
    } else {
      args->operands[args->operand_count++] = argument;
    }
  }
  return command->raw ? CNI_EXIT_DONE : check_operands(args);
}

void cni_args_release(CniArgs *args) {
  free(args->given);
  free(args->operands);
}

// ---- asking ----

const char *cni_args_nth(const CniArgs *args, const char *name, int32_t n) {
  for (int32_t i = 0; i < args->given_count; i++)
    if (strcmp(args->given[i].option->name, name) == 0 && n-- == 0) return args->given[i].value;
  return NULL;
}

int cni_args_has(const CniArgs *args, const char *name) {
  for (int32_t i = 0; i < args->given_count; i++)
    if (strcmp(args->given[i].option->name, name) == 0) return 1;
  return 0;
}

const char *cni_args_text(const CniArgs *args, const char *name) {
  for (int32_t i = args->given_count - 1; i >= 0; i--)
    if (strcmp(args->given[i].option->name, name) == 0) return args->given[i].value;
  return NULL;
}

int cni_number_parse(const char *text, double *value) {
  char *end = NULL;
  double number = strtod(text, &end);
  if (end == text || *end || !isfinite(number) || strchr(" \t\n", text[0])) return 0;
  *value = number;
  return 1;
}

int cni_args_number(const CniArgs *args, const char *name, CniNumberRange range, double *value) {
  const char *text = cni_args_text(args, name);
  if (!text) return 1;
  double number = 0;
  if (cni_number_parse(text, &number) &&
      (number > 0 || (number == 0 && range == CNI_NUMBER_NOT_NEGATIVE))) {
    *value = number;
    return 1;
  }
  cni_usage_error(args->command, "--%s must be a number, %s (got %s)", name,
                  range == CNI_NUMBER_POSITIVE ? "positive" : "not negative", text);
  return 0;
}

int cni_args_whole(const CniArgs *args, const char *name, int64_t lo, int64_t hi, int64_t *value) {
  const char *text = cni_args_text(args, name);
  if (!text) return 1;
  double number = 0;
  if (cni_number_parse(text, &number) && number == floor(number) && number >= (double)lo &&
      number <= (double)hi) {
    *value = (int64_t)number;
    return 1;
  }
  cni_usage_error(args->command, "--%s must be a whole number in %lld .. %lld (got %s)", name,
                  (long long)lo, (long long)hi, text);
  return 0;
}

int cni_args_choice(const CniArgs *args, const char *name, const char *(*list)(int32_t index),
                    const char **value) {
  const char *text = cni_args_text(args, name);
  if (!text) return 1;
  for (int32_t i = 0; list(i); i++) {
    if (strcmp(list(i), text) != 0) continue;
    *value = text;
    return 1;
  }
  char all[256];
  const char *near = cni_nearest_in(text, list);
  cni_names_in(list, all, sizeof all);
  if (near)
    cni_usage_error(args->command, "--%s: there is no `%s` (did you mean %s?)", name, text, near);
  else
    cni_usage_error(args->command, "--%s: there is no `%s` (there are: %s)", name, text, all);
  return 0;
}
