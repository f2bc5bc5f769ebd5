// SPDX-License-Identifier: Apache-2.0
// JSON read as it comes, without a tree: a cursor that the reader of a format pulls keys and values
// from. Memory is the reader's own, nothing is recursive, numbers do not depend on the locale.
#ifndef CNI_IO_JSON_SCAN_H
#define CNI_IO_JSON_SCAN_H

#include "io/problems/problems_private.h"

#define CNI_JSON_DEPTH 64
#define CNI_JSON_KEY 32

// Positions in the text; messages name file, line and `what`.
typedef struct CniJson {
  CniText text;
  CnStatus status; // what ended a walk
} CniJson;

CnStatus cni_json_fail(const CniJson *json, const char *what, const char *problem);

// Does the value here begin with this character? ('{' '[' '"' and 'n' for null)
int cni_json_begins(CniJson *json, char c);

// Walk an object or a list. *state is 0 before the first call; the answer is 0 after the last
// member, with the cursor behind the closing bracket, and where the text is wrong: `status` tells
// which. Keys longer than CNI_JSON_KEY are cut.
int cni_json_member(CniJson *json, const char *what, int32_t *state, char key[CNI_JSON_KEY]);
int cni_json_element(CniJson *json, const char *what, int32_t *state);

CnStatus cni_json_number(CniJson *json, const char *what, double *value);
CnStatus cni_json_integer(CniJson *json, const char *what, int64_t least, int64_t most,
                          int32_t *value);
// A string, cut to size - 1 bytes; escapes stay as they are (no word we look for has any).
CnStatus cni_json_string(CniJson *json, const char *what, char *value, size_t size);
// One of the names, as its index.
CnStatus cni_json_choice(CniJson *json, const char *what, const char *const *names, int32_t count,
                         int32_t *index);
// null, which must be there.
CnStatus cni_json_null(CniJson *json, const char *what);

// Step over any value, checking its grammar.
CnStatus cni_json_skip(CniJson *json, const char *what);

// Exactly `count` numbers in a list.
CnStatus cni_json_vector(CniJson *json, const char *what, int32_t count, double *values);

// A list of any number of numbers in memory that grows.
typedef struct CniNumbers {
  double *value;
  int32_t count, capacity;
} CniNumbers;
typedef struct CniIntegers {
  int32_t *value;
  int32_t count, capacity;
} CniIntegers;
CnStatus cni_json_numbers(CniJson *json, const char *what, const CnAllocator *allocator,
                          CniNumbers *list);
CnStatus cni_json_integers(CniJson *json, const char *what, const CnAllocator *allocator,
                           CniIntegers *list);

#endif
