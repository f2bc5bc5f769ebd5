// SPDX-License-Identifier: Apache-2.0
// One test of the command: a scratch folder and what the last run of `cairn` left. The binary's
// path comes from the build (CAIRN_COMMAND).
#ifndef TESTS_CLI_CASE_H
#define TESTS_CLI_CASE_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "command.h"

typedef struct CliCase {
  Scratch scratch;
  Command command;
} CliCase;

static inline int cli_set_up(void **state) {
  CliCase *c = calloc(1, sizeof *c);
  if (!c) return -1;
  c->scratch = scratch_create();
  *state = c;
  return 0;
}

static inline int cli_tear_down(void **state) {
  CliCase *c = *state;
  command_release(&c->command);
  scratch_remove(&c->scratch);
  free(c);
  return 0;
}

static inline int cairn(CliCase *c, const char *line) {
  command_run(&c->command, CAIRN_COMMAND, &c->scratch, line);
  return c->command.status;
}

// Run it and insist on its exit status.
static inline void cairn_status(CliCase *c, const char *line, int status) {
  int got = cairn(c, line);
  if (got != status)
    fail_msg("cairn %s: exit status %d, not %d: %s", line, got, status, c->command.err);
}

static inline int line_count(const char *text) {
  int count = 0;
  for (; *text; text++) count += *text == '\n';
  return count;
}

static inline void check_contains(const char *text, const char *part) {
  if (!text || !strstr(text, part)) fail_msg("`%s` is not in: %s", part, text ? text : "(null)");
}

// The message is one line on standard error, and nothing is on standard output.
static inline void check_refused(CliCase *c, const char *line, int status, const char *message) {
  cairn_status(c, line, status);
  check_contains(c->command.err, message);
  CHECK(strncmp(c->command.err, "cairn: ", 7) == 0);
  CHECK(line_count(c->command.err) == 1);
  CHECK(c->command.out[0] == 0);
}

// One JSON object and nothing else on standard output.
static inline json_t *parse_output(CliCase *c) {
  json_error_t error;
  json_t *object = json_loads(c->command.out, 0, &error);
  if (!object) fail_msg("%s in: %s", error.text, c->command.out);
  CHECK(json_is_object(object));
  return object;
}

static inline json_t *parse(CliCase *c, const char *line, int status) {
  cairn_status(c, line, status);
  return parse_output(c);
}

static inline double number(const json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  if (!json_is_number(value)) fail_msg("no number %s", key);
  return json_number_value(value);
}

static inline const char *text(const json_t *object, const char *key) {
  const char *value = json_string_value(json_object_get(object, key));
  if (!value) fail_msg("no text %s", key);
  return value ? value : "";
}

#define CLI_TEST(name) cmocka_unit_test_setup_teardown(name, cli_set_up, cli_tear_down)

#endif
