// SPDX-License-Identifier: Apache-2.0
// Kinds that a program adds to the library's tables: solvers, joints, forces. A table of a sort is the
// library's rows and, after them, these. Rows are only ever added, and live as long as the program.
//
// The functions are exported by the shared libcairn although they are no part of the interface:
// libcairn-io has its own copies of private functions and has to see the same rows.
#ifndef CNI_CORE_OWN_H
#define CNI_CORE_OWN_H

#include <cairn/base.h>

typedef enum CniOwnSort {
  CNI_OWN_SOLVER = 0,
  CNI_OWN_JOINT,
  CNI_OWN_FORCE,
  CNI_OWN_SORT_COUNT
} CniOwnSort;

#define CNI_OWN_KINDS 16 // of each sort
#define CNI_OWN_NAME 32  // bytes of a name, its end included

// Row `index` of a sort, null past the last one. A row begins with its name, a const char *.
CN_API const void *cn_own_row(CniOwnSort sort, int32_t index);
CN_API int32_t cn_own_count(CniOwnSort sort);
// Refused where a row of that name is there or there is no room. From any thread.
CN_API CnStatus cn_own_add(CniOwnSort sort, const void *row);

// A function of the program that runs on this thread, and those around it. No world may be changed under it
// that could have called it: the one whose array of forces holds `def`, or, where def is null, any.
typedef struct CniOwnCall {
  const void *def;
  const struct CniOwnCall *outer;
} CniOwnCall;

CN_API const CniOwnCall **cn_own_calls(void); // the innermost of this thread; null: none
static inline void cni_own_enter(CniOwnCall *call, const void *def) {
  const CniOwnCall **top = cn_own_calls();
  cn_error_set(CN_OK, NULL); // what it fails with is its own sentence
  *call = (CniOwnCall){def, *top};
  *top = call;
}
static inline void cni_own_leave(const CniOwnCall *call) { *cn_own_calls() = call->outer; }

// Is this a name for a kind: small letters, digits, '_' and '-', a letter first, below CNI_OWN_NAME
// bytes, and none that the library's own table has (`name` gives null past its end)?
CnStatus cni_own_name_check(const char *call, const char *word, const char *(*name)(int32_t index));

#endif
