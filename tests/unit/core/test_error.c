// SPDX-License-Identifier: Apache-2.0
// Messages, names, log, version.

#include "check.h"
#include "core/error.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void message_names_the_value(void **state) {
  (void)state;
  assert_int_equal(cni_error(CN_INVALID_ARGUMENT, "mass must be positive (got %g)", -1.0),
                   CN_INVALID_ARGUMENT);
  assert_string_equal(cn_error_message(), "mass must be positive (got -1)");
  // a message may quote the one before
  assert_int_equal(cni_error(CN_BUSY, "body 3: %s", cn_error_message()), CN_BUSY);
  assert_string_equal(cn_error_message(), "body 3: mass must be positive (got -1)");
  assert_int_equal(cni_error_memory(1234), CN_NO_MEMORY);
  assert_non_null(strstr(cn_error_message(), "1234"));
}

// A name of several lines, or one that a terminal obeys, is quoted without both.
static void message_is_one_line(void **state) {
  (void)state;
  cni_error(CN_INVALID_ARGUMENT, "body \"%s\" is no body", "two\r\nlines \033[31mred\x7f\xc3\xa9");
  assert_string_equal(cn_error_message(), "body \"two  lines  [31mred \xc3\xa9\" is no body");
}

static void long_message_is_cut(void **state) {
  (void)state;
  char text[5000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  cni_error(CN_INVALID_DATA, "%s", text);
  size_t length = strlen(cn_error_message());
  CHECK(length >= 200 && length < sizeof text - 1);
}

// What a callback says arrives, cut, in one line, and also where it is a part of the last message.
static void message_of_a_callback(void **state) {
  (void)state;
  assert_int_equal(cn_error_set(CN_STOPPED, "the valve is shut\n"), CN_STOPPED);
  assert_string_equal(cn_error_message(), "the valve is shut ");
  cn_error_set(CN_STOPPED, cn_error_message() + 4);
  assert_string_equal(cn_error_message(), "valve is shut ");
  char text[CNI_MESSAGE_SIZE + 100];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  cn_error_set(CN_STOPPED, text);
  CHECK(strlen(cn_error_message()) == CNI_MESSAGE_SIZE - 1);
  cn_error_set(CN_STOPPED, NULL);
  assert_string_equal(cn_error_message(), "");
}

static const char *letter(int32_t index) {
  static const char *const letters[] = {"a", "bc", "d"};
  return index < 3 ? letters[index] : NULL;
}

static void lists_of_names(void **state) {
  (void)state;
  char text[16], small[6];
  cni_list_names(letter, text, sizeof text);
  assert_string_equal(text, "a, bc, d");
  cni_list_names(letter, small, sizeof small);
  assert_string_equal(small, "a, bc");
}

static void *other_thread(void *context) {
  int *fresh = context;
  *fresh = cn_error_message()[0] == 0;
  cni_error(CN_BUSY, "from the other thread");
  return NULL;
}

static void message_belongs_to_the_thread(void **state) {
  (void)state;
  cni_error(CN_BUSY, "mine");
  pthread_t thread;
  int fresh = 0;
  assert_int_equal(pthread_create(&thread, NULL, other_thread, &fresh), 0);
  pthread_join(thread, NULL);
  CHECK(fresh);
  assert_string_equal(cn_error_message(), "mine");
}

static CnStatus first_failure(int *calls, CnStatus status) {
  *calls += 1;
  return status;
}
static CnStatus chain(int *calls) {
  CNI_TRY(first_failure(calls, CN_OK));
  CNI_TRY(first_failure(calls, CN_UNSUPPORTED));
  CNI_TRY(first_failure(calls, CN_BUSY));
  return CN_OK;
}

static void try_passes_the_first_failure_on(void **state) {
  (void)state;
  int calls = 0;
  assert_int_equal(chain(&calls), CN_UNSUPPORTED);
  assert_int_equal(calls, 2);
}

static void names(void **state) {
  (void)state;
  assert_string_equal(cn_status_name(CN_OK), "CN_OK");
  assert_string_equal(cn_status_name(CN_INVALID_HANDLE), "CN_INVALID_HANDLE");
  assert_string_equal(cn_status_name(CN_NOT_FINITE), "CN_NOT_FINITE");
  for (int i = 0; i <= CN_FILE; ++i) {
    CHECK(strncmp(cn_status_name((CnStatus)i), "CN_", 3) == 0);
  }
  assert_string_equal(cn_status_name((CnStatus)99), "unknown status");
}

static void version(void **state) {
  (void)state;
  int dots = 0;
  for (const char *c = cn_version(); *c; ++c) {
    CHECK(*c == '.' || (*c >= '0' && *c <= '9'));
    dots += *c == '.';
  }
  assert_int_equal(dots, 2);
  char numbers[32];
  snprintf(numbers, sizeof numbers, "%d.%d.%d", CN_VERSION_MAJOR, CN_VERSION_MINOR,
           CN_VERSION_PATCH);
  assert_string_equal(cn_version(), numbers);
  assert_string_equal(CN_VERSION, numbers);
}

typedef struct Lines {
  int count;
  CnLogLevel level;
  char text[64];
} Lines;

static void write_line(void *context, CnLogLevel level, const char *message) {
  Lines *lines = context;
  lines->count += 1;
  lines->level = level;
  strncpy(lines->text, message, sizeof lines->text - 1);
}

static void log_lines(void **state) {
  (void)state;
  Lines lines = {0};
  CnLog log = {write_line, &lines};
  cni_log(&log, CN_LOG_WARNING, "body %d is fast", 7);
  assert_int_equal(lines.count, 1);
  assert_int_equal(lines.level, CN_LOG_WARNING);
  assert_string_equal(lines.text, "body 7 is fast");
  cni_log(&(CnLog){0}, CN_LOG_INFO, "dropped");
  cni_log(NULL, CN_LOG_INFO, "dropped");
  assert_int_equal(lines.count, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(message_names_the_value),
      cmocka_unit_test(message_is_one_line),
      cmocka_unit_test(message_of_a_callback),
      cmocka_unit_test(lists_of_names),
      cmocka_unit_test(long_message_is_cut),
      cmocka_unit_test(message_belongs_to_the_thread),
      cmocka_unit_test(try_passes_the_first_failure_on),
      cmocka_unit_test(names),
      cmocka_unit_test(version),
      cmocka_unit_test(log_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
