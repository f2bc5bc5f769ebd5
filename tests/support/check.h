// SPDX-License-Identifier: Apache-2.0
// Checks on doubles. cmocka's assert_float_equal rounds to float and cannot fail at 1e-14; these do.
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cairn/base.h>
#include <math.h>

// Fail with both values and the place when |actual - expected| > tolerance (or is not a number).
#define CHECK_NEAR(actual, expected, tolerance)                                                    \
  check_near((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
// The same relative to |expected|.
#define CHECK_REL(actual, expected, tolerance)                                                     \
  check_rel((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
// A condition that must hold.
#define CHECK(condition) check_true((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
// A text that must be there and contain the words.
#define CHECK_TEXT(text, words) check_text((text), (words), #text, __FILE__, __LINE__)
// A call that must return CN_OK; shows cn_error_message otherwise.
#define CHECK_OK(call) check_ok((call), #call, __FILE__, __LINE__)
// A call that must fail with the given status and leave a message.
#define CHECK_STATUS(call, status)                                                                 \
  (check_forget(), check_status((call), (status), #call, __FILE__, __LINE__))
// The same for the status of a call made before, whose message must still be there.
#define CHECK_FAILED(value, status) check_status((value), (status), #value, __FILE__, __LINE__)

void check_near(double actual, double expected, double tolerance, const char *text,
                const char *file, int line);
void check_rel(double actual, double expected, double tolerance, const char *text, const char *file,
               int line);
void check_true(int condition, const char *text, const char *file, int line);
void check_text(const char *text, const char *words, const char *what, const char *file, int line);
void check_ok(CnStatus status, const char *text, const char *file, int line);
// The message of an earlier failure is not that of the next one.
void check_forget(void);
void check_status(CnStatus status, CnStatus expected, const char *text, const char *file, int line);

#endif
