// SPDX-License-Identifier: Apache-2.0
// Decimal numbers to and from text, the same on every machine and in every locale.
#ifndef CNI_IO_DECIMAL_H
#define CNI_IO_DECIMAL_H

#include <stddef.h>

typedef enum CniDecimal {
  CNI_DECIMAL_OK = 0,
  CNI_DECIMAL_SYNTAX,   // not a decimal number
  CNI_DECIMAL_TOO_LARGE // beyond the largest double
} CniDecimal;

// The double nearest to the decimal number that is all of `text`: [+-] digits [. digits] [e [+-]
// digits], with at least one digit before or after the point; ties go to the even one. Words such
// as nan and inf are not numbers. A number too small for a double becomes zero.
CniDecimal cni_decimal_parse(const char *text, size_t length, double *value);

// Shortest of 15, 16 or 17 digits that reads back as the same double, with a point whatever the
// locale. `value` must be finite. Returns the length.
#define CNI_DECIMAL_SIZE 40
size_t cni_decimal_write(double value, char text[CNI_DECIMAL_SIZE]);

#endif
