// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include "core/error.h"

#include <string.h>

void check_near(double actual, double expected, double tolerance, const char *text,
                const char *file, int line) {
  if (fabs(actual - expected) <= tolerance) return;
  print_error("%s = %.17g, expected %.17g +- %.3g (off by %.3g)\n", text, actual, expected,
              tolerance, actual - expected);
  _fail(file, line);
}

void check_rel(double actual, double expected, double tolerance, const char *text, const char *file,
               int line) {
  check_near(actual, expected, tolerance * fabs(expected), text, file, line);
}

void check_true(int condition, const char *text, const char *file, int line) {
  if (condition) return;
  print_error("does not hold: %s\n", text);
  _fail(file, line);
}

void check_text(const char *text, const char *words, const char *what, const char *file, int line) {
  if (text && strstr(text, words)) return;
  print_error("%s: \"%s\" does not say \"%s\"\n", what, text ? text : "(none)", words);
  _fail(file, line);
}

void check_ok(CnStatus status, const char *text, const char *file, int line) {
  if (status == CN_OK) return;
  print_error("%s: %s: %s\n", text, cn_status_name(status), cn_error_message());
  _fail(file, line);
}

void check_forget(void) { (void)cni_error(CN_OK, "%s", ""); }

void check_status(CnStatus status, CnStatus expected, const char *text, const char *file,
                  int line) {
  if (status == expected && cn_error_message()[0] != 0) return;
  print_error("%s: %s (\"%s\"), expected %s with a message\n", text, cn_status_name(status),
              cn_error_message(), cn_status_name(expected));
  _fail(file, line);
}
