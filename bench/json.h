// SPDX-License-Identifier: Apache-2.0
// Writing JSON: objects, arrays and values in order, commas and quotes as needed.
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include <stdint.h>
#include <stdio.h>

typedef struct Json {
  FILE *file;
  int32_t depth, pending; // pending: something was written at this depth, a comma is due
} Json;

// `key` is null inside an array and at the top.
void json_open(Json *json, const char *key, char bracket);   // '{' or '['
void json_close(Json *json, char bracket);                   // '}' or ']'
void json_number(Json *json, const char *key, double value); // null if not finite
void json_text(Json *json, const char *key, const char *value);
void json_flag(Json *json, const char *key, int value);

// The number or the text after "key" in one line of JSON without nesting; 0: not there.
int json_find_number(const char *line, const char *key, double *value);
int json_find_text(const char *line, const char *key, char *value, size_t capacity);

#endif
