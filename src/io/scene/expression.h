// SPDX-License-Identifier: Apache-2.0
// Expressions of numbers: + - * / ^ ( ), pi, a few functions, and names that the caller knows.
#ifndef CNI_IO_EXPRESSION_H
#define CNI_IO_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#include "io/tools/names.h"

#define CNI_EXPRESSION_DEPTH 64    // parentheses, signs and powers inside each other
#define CNI_EXPRESSION_SIZE 4096   // bytes
#define CNI_EXPRESSION_PROBLEM 192 // bytes of a problem's sentence

// The names an expression may use.
typedef struct CniScope {
  // 1 with the value; 0: not known; -1: known but without a value now (the context says why)
  int (*find)(void *context, const char *name, size_t length, double *value);
  // offer all known names to a search for a near one
  void (*offer)(void *context, CniNearestName *nearest);
  void *context;
} CniScope;

typedef enum CniExpressionResult {
  CNI_EXPRESSION_OK = 0,
  CNI_EXPRESSION_WRONG,  // `problem` has a sentence
  CNI_EXPRESSION_WAITING // a name had no value
} CniExpressionResult;

// Evaluate text (without a leading =). The value is finite. A null scope knows no names.
CniExpressionResult cni_expression_evaluate(const char *text, size_t size, const CniScope *scope,
                                            double *value, char problem[CNI_EXPRESSION_PROBLEM]);

// 1 if a name has the form of one (letter or _, then letters, digits, _) and is neither a function
// nor pi.
int cni_expression_name_ok(const char *name);

#endif
