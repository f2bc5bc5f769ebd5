// SPDX-License-Identifier: Apache-2.0
// Expressions against numbers known in closed form, and the sentences of the wrong ones.
#include "check.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "core/math.h"
#include "io/scene/expression.h"

// Two names: a = 3, wait has no value yet.
static int find(void *context, const char *name, size_t length, double *value) {
  (void)context;
  if (length == 1 && name[0] == 'a') return *value = 3, 1;
  if (length == 8 && memcmp(name, "infinite", 8) == 0) return *value = INFINITY, 1;
  return length == 4 && memcmp(name, "wait", 4) == 0 ? -1 : 0;
}

static void offer(void *context, CniNearestName *nearest) {
  (void)context;
  cni_nearest_offer(nearest, "radius");
  cni_nearest_offer(nearest, "a");
}

static const CniScope scope = {find, offer, NULL};

static double value_of(const char *text) {
  char problem[CNI_EXPRESSION_PROBLEM];
  double value;
  CniExpressionResult result = cni_expression_evaluate(text, strlen(text), &scope, &value, problem);
  if (result != CNI_EXPRESSION_OK) fail_msg("%s: %s", text, problem);
  return value;
}

// The same bits as C's own operations in the order of the rules.
static void arithmetic(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double value;
  } cases[] = {
      {"1", 1},
      {"  2 +\t3 ", 5},
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"8-3-2", 3},
      {"16/4/2", 2},
      {"2*3/4*2", 3},
      {"-2^2", -4},
      {"(-2)^2", 4},
      {"2^3^2", 512},
      {"2^-1", 0.5},
      {"--3", 3},
      {"+-+3", -3},
      {"2*-3", -6},
      {"1.5e3", 1500},
      {"1E-2", 0.01},
      {".5", 0.5},
      {"5.", 5},
      {"0.1+0.2", 0.1 + 0.2},
      {"4/3*pi*0.1*0.1*0.1", 4.0 / 3.0 * CNI_PI * 0.1 * 0.1 * 0.1},
      {"a", 3},
      {"a*a-a", 6},
      {"min(3, 1, 2)", 1},
      {"max(3,1,2)", 3},
      {"max(-1, -2)", -1},
      {"abs(-2.5)", 2.5},
      {"floor(-1.5)", -2},
      {"ceil(-1.5)", -1},
      {"sqrt(2)", 1.4142135623730951},
      {"cbrt(27)", 3},
      {"sin(0)", 0},
      {"cos(0)", 1},
      {"tan(0)", 0},
      {"asin(0)+acos(1)", 0},
      {"atan2(0,2)", 0},
      {"exp(0)", 1},
      {"log(1)", 0},
      {"mod(7,3)", 1},
      {"mod(-1,3)", 2},
      {"if(1<2,5,6)", 5},
      {"if(1>2,5,6)", 6},
      {"2*(3>=3)+(1!=1)", 2},
      {"(1==1)+(2<=1)", 1},
      {"1 - floor(5/2)*2 + 5", 2},
      {"123456789012345678", 123456789012345678.0},
      {"0", 0},
      {"0^0", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    double value = value_of(cases[i].text);
    if (value != cases[i].value)
      fail_msg("%s = %.17g, not %.17g", cases[i].text, value, cases[i].value);
  }
  // core's functions bit by bit, near the true value
  CHECK(value_of("sin(1)") == cni_sin(1) && value_of("cos(2)") == cni_cos(2));
  CHECK(value_of("cbrt(2)") == cni_cbrt(2) && value_of("2^0.5") == cni_pow(2, 0.5));
  CHECK_NEAR(value_of("sin(pi/6)"), 0.5, 1e-15);
  CHECK_NEAR(value_of("sin(1)^2+cos(1)^2"), 1, 1e-15);
  CHECK(value_of("pi") == 3.14159265358979323846);
}

static void wrong(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"", "expected a number, a name or '(' at the end of the expression"},
      {"1+", "expected a number, a name or '(' at the end of the expression"},
      {"*2", "expected a number, a name or '(' instead of '*' at character 1"},
      {"1+*2", "expected a number, a name or '(' instead of '*' at character 3"},
      {"(1", "expected ')' at the end of the expression"},
      {"1)", "expected an operator instead of ')' at character 2"},
      {"2 a", "expected an operator instead of 'a' at character 3"},
      {"2a", "expected an operator instead of 'a' at character 2"},
      {".", "expected a number, a name or '(' instead of '.' at character 1"},
      {"1..2", "expected an operator instead of '.' at character 3"},
      {"1e+", "expected digits of an exponent at the end of the expression"},
      {"1/0", "division by zero: 1 / 0"},
      {"1/(a-3)", "division by zero: 1 / 0"},
      {"0^-2", "division by zero: 0 ^ -2"},
      {"0/0", "division by zero: 0 / 0"},
      {"1e308*10", "1e+308 * 10 is not a finite number"},
      {"1e308+1e308", "1e+308 + 1e+308 is not a finite number"},
      {"-1e308-1e308", "-1e+308 - 1e+308 is not a finite number"},
      {"1e308/0.1", "1e+308 / 0.1 is not a finite number"},
      {"10^400", "10 ^ 400 is not a finite number"},
      {"1e999", "the number 1e999 is too large"},
      {"sqrt(-1)", "sqrt(-1) is not a finite number"},
      {"infinite", "the result is not a finite number"},
      {"raduis", "unknown name \"raduis\", did you mean \"radius\"?"},
      {"foo", "unknown name \"foo\""},
      {"sqr(4)", "unknown name \"sqr\", did you mean \"sqrt\"?"},
      {"a(4)", "\"a\" is no function"},
      {"pi(4)", "\"pi\" is no function"},
      {"wait (4)", "\"wait\" is no function"},
      {"what(4)", "unknown name \"what\""},
      {"sqrt", "expected '(' after the name at the end of the expression"},
      {"sqrt()", "expected a number, a name or '(' instead of ')' at character 6"},
      {"sqrt(1,2)", "sqrt takes one argument, not 2"},
      {"if(1,2)", "if takes three arguments, not 2"},
      {"atan2(1)", "atan2 takes two arguments, not 1"},
      {"mod(1,0)", "mod(..., 0) is not a finite number"},
      {"log(-1)", "log(-1) is not a finite number"},
      {"1=1", "expected == or != instead of '1' at character 3"},
      {"max(1)", "max takes two arguments or more, not 1"},
      {"max(1,)", "expected a number, a name or '(' instead of ')' at character 7"},
      {"1,2", "expected an operator instead of ',' at character 2"},
      {"a=3", "expected == or != instead of '3' at character 3"},
      {"\x01", "expected a number, a name or '(' at character 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char problem[CNI_EXPRESSION_PROBLEM];
    double value = 7;
    CHECK(cni_expression_evaluate(cases[i][0], strlen(cases[i][0]), &scope, &value, problem) ==
          CNI_EXPRESSION_WRONG);
    if (strcmp(problem, cases[i][1]) != 0) fail_msg("%s: %s", cases[i][0], problem);
    CHECK(value == 0);
  }
  // a byte of zero is no end
  char problem[CNI_EXPRESSION_PROBLEM];
  double value;
  CHECK(cni_expression_evaluate("1\0+2", 4, &scope, &value, problem) == CNI_EXPRESSION_WRONG);
}

// Parentheses, signs and powers up to the bound are fine, one more is not; so are long chains,
// which do not nest.
static void bounds(void **state) {
  (void)state;
  static char text[CNI_EXPRESSION_SIZE + 16];
  char problem[CNI_EXPRESSION_PROBLEM];
  double value;
  const char *const openers[] = {"(", "-", "2^", "sqrt(", "max(1,"};
  for (size_t k = 0; k < sizeof openers / sizeof openers[0]; k++) {
    for (int32_t depth = CNI_EXPRESSION_DEPTH - 1; depth <= CNI_EXPRESSION_DEPTH; depth++) {
      size_t used = 0;
      int closing = strchr(openers[k], '(') != NULL;
      for (int32_t i = 0; i < depth; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s", openers[k]);
      used += (size_t)snprintf(text + used, sizeof text - used, "%s", k == 2 ? "0" : "1");
      for (int32_t i = 0; i < depth && closing; i++) text[used++] = ')';
      CniExpressionResult result = cni_expression_evaluate(text, used, &scope, &value, problem);
      // towers of 2 overflow first, which is a failure of another kind
      if (k == 2) {
        CHECK(result == CNI_EXPRESSION_WRONG);
        continue;
      }
      CHECK(result == (depth < CNI_EXPRESSION_DEPTH ? CNI_EXPRESSION_OK : CNI_EXPRESSION_WRONG));
      if (result != CNI_EXPRESSION_OK) CHECK(strcmp(problem, "nested deeper than 64") == 0);
    }
  }
  memset(text, '1', sizeof text);
  for (size_t i = 1; i < CNI_EXPRESSION_SIZE; i += 2) text[i] = '+';
  CHECK(cni_expression_evaluate(text, CNI_EXPRESSION_SIZE - 1, &scope, &value, problem) ==
        CNI_EXPRESSION_OK);
  CHECK(value == CNI_EXPRESSION_SIZE / 2);
  CHECK(cni_expression_evaluate(text, CNI_EXPRESSION_SIZE + 1, &scope, &value, problem) ==
        CNI_EXPRESSION_WRONG);
}

static void waiting(void **state) {
  (void)state;
  char problem[CNI_EXPRESSION_PROBLEM];
  double value;
  CHECK(cni_expression_evaluate("1+wait/0", 8, &scope, &value, problem) == CNI_EXPRESSION_WAITING);
  // what is wrong before is wrong
  CHECK(cni_expression_evaluate("1/0+wait", 8, &scope, &value, problem) == CNI_EXPRESSION_WRONG);
  CHECK(cni_expression_evaluate("a", 1, NULL, &value, problem) == CNI_EXPRESSION_WRONG);
}

static void names(void **state) {
  (void)state;
  CHECK(cni_expression_name_ok("a") && cni_expression_name_ok("_x1") &&
        cni_expression_name_ok("Pi"));
  CHECK(!cni_expression_name_ok("") && !cni_expression_name_ok("1a") &&
        !cni_expression_name_ok("a-b") && !cni_expression_name_ok("pi") &&
        !cni_expression_name_ok("sin") && !cni_expression_name_ok("a b"));
}

// The C library's number conversion follows the locale; expressions do not.
static void locale(void **state) {
  (void)state;
  static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR", "it_IT"};
  int found = 0;
  for (size_t i = 0; i < sizeof commas / sizeof commas[0] && !found; i++)
    found = setlocale(LC_NUMERIC, commas[i]) != NULL;
  CHECK(value_of("0.5*3") == 1.5);
  CHECK(value_of("1.25e1") == 12.5);
  setlocale(LC_NUMERIC, "C");
  if (!found) skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic), cmocka_unit_test(wrong),
                                     cmocka_unit_test(bounds),     cmocka_unit_test(waiting),
                                     cmocka_unit_test(names),      cmocka_unit_test(locale)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
