// SPDX-License-Identifier: Apache-2.0
// Expressions: a small calculator, the same bits on every machine.
//
//     sum     = product { (+ | -) product }
//     product = signed { (* | /) signed }
//     signed  = [+ | -] signed | power
//     power   = value [ ^ signed ]            2^3^2 = 2^9, -2^2 = -4, 2^-1 = 0.5
//     value   = number | name | name ( sum {, sum} ) | ( sum )
//
// Elementary functions are core's own. Every intermediate result must be finite: what is not, is
// reported where it arises, with the operands. The text is evaluated as it is read; recursion is
// bounded by CNI_EXPRESSION_DEPTH.
#include "io/scene/expression.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/math.h"
#include "io/tools/decimal.h"

typedef struct Parser {
  const char *text;
  size_t size, at;
  int32_t depth;
  const CniScope *scope;
  CniExpressionResult result;
  char *problem;
} Parser;

// ---- failures: the first one counts ----

static double wrong(Parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static double wrong(Parser *p, const char *format, ...) {
  if (p->result != CNI_EXPRESSION_OK) return 0;
  p->result = CNI_EXPRESSION_WRONG;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(p->problem, CNI_EXPRESSION_PROBLEM, format, arguments);
  va_end(arguments);
  return 0;
}

static int failed(const Parser *p) { return p->result != CNI_EXPRESSION_OK; }

// ---- characters ----

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static char peek(Parser *p) {
  while (p->at < p->size && (p->text[p->at] == ' ' || p->text[p->at] == '\t')) p->at++;
  return p->at < p->size ? p->text[p->at] : 0;
}

static int take(Parser *p, char c) {
  if (peek(p) != c || p->at >= p->size) return 0;
  p->at++;
  return 1;
}

static double unexpected(Parser *p, const char *expected) {
  char c = peek(p);
  if (p->at >= p->size) return wrong(p, "expected %s at the end of the expression", expected);
  if (c > ' ' && c < 127)
    return wrong(p, "expected %s instead of '%c' at character %zu", expected, c, p->at + 1);
  return wrong(p, "expected %s at character %zu", expected, p->at + 1);
}

// ---- results ----

static double finite_or_wrong(Parser *p, double value, double a, const char *operator, double b) {
  if (isfinite(value)) return value;
  return wrong(p, "%g %s %g is not a finite number", a, operator, b);
}

static double power_of(Parser *p, double a, double b) {
  if (a == 0 && b < 0) return wrong(p, "division by zero: 0 ^ %g", b);
  return finite_or_wrong(p, cni_pow(a, b), a, "^", b);
}

static double apply(Parser *p, double a, char operator, double b) {
  if (operator== '+') return finite_or_wrong(p, a + b, a, "+", b);
  if (operator== '-') return finite_or_wrong(p, a - b, a, "-", b);
  if (operator== '*') return finite_or_wrong(p, a * b, a, "*", b);
  if (b == 0) return wrong(p, "division by zero: %g / 0", a);
  return finite_or_wrong(p, a / b, a, "/", b);
}

// ---- functions: one table ----

typedef struct Function {
  const char *name;
  double (*one)(double x);           // of one argument,
  double (*two)(double x, double y); // or of two
  int32_t least, most;               // arguments; min and max are folded over all
} Function;
#define MANY 1000000

static double least(double x, double y) { return y < x ? y : x; }
static double largest(double x, double y) { return y > x ? y : x; }
static double modulo(double x, double y) { return x - y * floor(x / y); }

static const Function functions[] = {
    {"min", NULL, least, 2, MANY},    {"max", NULL, largest, 2, MANY},
    {"abs", fabs, NULL, 1, 1},        {"floor", floor, NULL, 1, 1},
    {"ceil", ceil, NULL, 1, 1},       {"sqrt", sqrt, NULL, 1, 1},
    {"cbrt", cni_cbrt, NULL, 1, 1},   {"sin", cni_sin, NULL, 1, 1},
    {"cos", cni_cos, NULL, 1, 1},     {"tan", cni_tan, NULL, 1, 1},
    {"asin", cni_asin, NULL, 1, 1},   {"acos", cni_acos, NULL, 1, 1},
    {"atan2", NULL, cni_atan2, 2, 2}, {"exp", cni_exp, NULL, 1, 1},
    {"log", cni_log_e, NULL, 1, 1},   {"mod", NULL, modulo, 2, 2},
    {"if", NULL, NULL, 3, 3},
};
#define RESERVED 9 // the first of them: later ones may be names of parameters too
#define FUNCTION_COUNT (sizeof functions / sizeof functions[0])

static const Function *find_function(const char *name, size_t length) {
  for (size_t i = 0; i < FUNCTION_COUNT; i++)
    if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0)
      return &functions[i];
  return NULL;
}

int cni_expression_name_ok(const char *name) {
  if (!is_letter(name[0])) return 0;
  size_t length = strlen(name);
  for (size_t i = 0; i < length; i++)
    if (!is_letter(name[i]) && !is_digit(name[i])) return 0;
  const Function *function = find_function(name, length);
  return strcmp(name, "pi") != 0 && (!function || function >= functions + RESERVED);
}

// ---- the grammar ----

static double comparison(Parser *p);

// "if" takes the second where the first is not zero, else the third.
static double call(Parser *p, const Function *f) {
  double value = comparison(p), chosen = 0, last = value;
  int32_t count = 1;
  while (!failed(p) && take(p, ',')) {
    last = comparison(p);
    if (++count <= f->most && f->two) value = f->two(value, last);
    if (!f->one && !f->two && count == (value != 0 ? 2 : 3)) chosen = last;
  }
  if (failed(p)) return 0;
  if (!take(p, ')')) return unexpected(p, "')'");
  static const char *const numbers[] = {"no", "one", "two", "three"};
  if (count < f->least || count > f->most)
    return wrong(p, "%s takes %s argument%s%s, not %d", f->name, numbers[f->least],
                 f->least > 1 ? "s" : "", f->most == MANY ? " or more" : "", (int)count);
  if (!f->one && !f->two) return chosen;
  double result = f->one ? f->one(value) : value;
  if (!isfinite(result) && f->two)
    return wrong(p, "%s(..., %g) is not a finite number", f->name, last);
  if (!isfinite(result)) return wrong(p, "%s(%g) is not a finite number", f->name, value);
  return result;
}

static double unknown(Parser *p, const char *name, size_t length) {
  CniNearestName nearest = cni_nearest(name, length);
  for (size_t i = 0; i < FUNCTION_COUNT; i++) cni_nearest_offer(&nearest, functions[i].name);
  if (p->scope && p->scope->offer) p->scope->offer(p->scope->context, &nearest);
  char hint[CNI_HINT_SIZE];
  cni_nearest_hint(&nearest, hint);
  int shown = length > 40 ? 40 : (int)length;
  return wrong(p, "unknown name \"%.*s\"%s", shown, name, hint);
}

static double named(Parser *p) {
  const char *name = p->text + p->at;
  size_t length = 0;
  while (p->at < p->size && (is_letter(p->text[p->at]) || is_digit(p->text[p->at])))
    p->at++, length++;
  const Function *function = find_function(name, length);
  if (function && take(p, '(')) return call(p, function);
  double value = CNI_PI;
  int found = length == 2 && memcmp(name, "pi", 2) == 0;
  if (!found && p->scope) found = p->scope->find(p->scope->context, name, length, &value);
  if (found == 0 && function) return unexpected(p, "'(' after the name");
  if (found == 0) return unknown(p, name, length);
  if (peek(p) == '(') return wrong(p, "\"%.*s\" is no function", (int)length, name);
  if (found > 0) return value;
  p->result = CNI_EXPRESSION_WAITING;
  return 0;
}

static double number(Parser *p) {
  size_t start = p->at, digits = 0;
  while (p->at < p->size && is_digit(p->text[p->at])) p->at++, digits++;
  if (p->at < p->size && p->text[p->at] == '.') {
    p->at++;
    while (p->at < p->size && is_digit(p->text[p->at])) p->at++, digits++;
  }
  if (digits == 0) {
    p->at = start;
    return unexpected(p, "a number, a name or '('");
  }
  if (p->at < p->size && (p->text[p->at] == 'e' || p->text[p->at] == 'E')) {
    p->at++;
    if (p->at < p->size && (p->text[p->at] == '+' || p->text[p->at] == '-')) p->at++;
    if (p->at >= p->size || !is_digit(p->text[p->at]))
      return unexpected(p, "digits of an exponent");
    while (p->at < p->size && is_digit(p->text[p->at])) p->at++;
  }
  if (p->at - start > 400) return wrong(p, "a number of %zu digits is too long", p->at - start);
  double value;
  if (cni_decimal_parse(p->text + start, p->at - start, &value) != CNI_DECIMAL_OK)
    return wrong(p, "the number %.*s is too large", (int)(p->at - start > 40 ? 40 : p->at - start),
                 p->text + start);
  return value;
}

static double value_of(Parser *p) {
  char c = peek(p);
  if (is_letter(c)) return named(p);
  if (is_digit(c) || c == '.') return number(p);
  if (!take(p, '(')) return unexpected(p, "a number, a name or '('");
  double value = comparison(p);
  if (!failed(p) && !take(p, ')')) return unexpected(p, "')'");
  return value;
}

static double signed_value(Parser *p) {
  if (failed(p)) return 0;
  if (++p->depth > CNI_EXPRESSION_DEPTH)
    return wrong(p, "nested deeper than %d", CNI_EXPRESSION_DEPTH);
  double value;
  if (take(p, '-')) {
    value = -signed_value(p);
  } else if (take(p, '+')) {
    value = signed_value(p);
  } else {
    value = value_of(p);
    if (!failed(p) && take(p, '^')) {
      double exponent = signed_value(p);
      if (!failed(p)) value = power_of(p, value, exponent);
    }
  }
  p->depth--;
  return value;
}

// Operands with one of two operators between them, from the left.
static double chain(Parser *p, const char *operators, double (*operand)(Parser *p)) {
  double value = operand(p);
  while (!failed(p)) {
    char c = peek(p);
    if (!c || !strchr(operators, c)) break;
    p->at++;
    double b = operand(p);
    if (!failed(p)) value = apply(p, value, c, b);
  }
  return value;
}

static double product(Parser *p) { return chain(p, "*/", signed_value); }

static double sum(Parser *p) { return chain(p, "+-", product); }

// < <= > >= == != give 1 or 0.
static double comparison(Parser *p) {
  double a = sum(p);
  char c = failed(p) ? 0 : peek(p);
  if (!c || !strchr("<>=!", c)) return a;
  p->at++;
  int equal = p->at < p->size && p->text[p->at] == '=';
  p->at += (size_t)equal;
  if ((c == '=' || c == '!') && !equal) return unexpected(p, "== or !=");
  double b = sum(p);
  if (failed(p)) return 0;
  if (c == '<') return equal ? a <= b : a < b;
  if (c == '>') return equal ? a >= b : a > b;
  return c == '=' ? a == b : a != b;
}

CniExpressionResult cni_expression_evaluate(const char *text, size_t size, const CniScope *scope,
                                            double *value, char problem[CNI_EXPRESSION_PROBLEM]) {
  Parser p = {text, size, 0, 0, scope, CNI_EXPRESSION_OK, problem};
  *value = 0;
  problem[0] = 0;
  if (size > CNI_EXPRESSION_SIZE) {
    wrong(&p, "an expression of %zu characters is too long", size);
    return p.result;
  }
  double result = comparison(&p);
  if (!failed(&p) && (peek(&p), p.at < p.size)) unexpected(&p, "an operator");
  // a name may have brought what no operation has looked at
  if (!failed(&p) && !isfinite(result)) wrong(&p, "the result is not a finite number");
  if (!failed(&p)) *value = result;
  return p.result;
}
