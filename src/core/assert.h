// SPDX-License-Identifier: Apache-2.0
// What must hold if the library is right: checked in Debug, sanitizer and fuzz builds (CNI_CHECKED,
// set by cmake), nothing in releases. A user's mistake is never an assertion but a status.
//
// Here alone the library prints and aborts: what follows from a broken invariant cannot be trusted.
#ifndef CNI_CORE_ASSERT_H
#define CNI_CORE_ASSERT_H

#ifdef CNI_CHECKED
_Noreturn void cni_assert_failed(const char *what, const char *file, int line);
#define CNI_ASSERT(condition)                                                                      \
  ((condition) ? (void)0 : cni_assert_failed(#condition, __FILE__, __LINE__))
// A validator gives null, or the sentence that says what is wrong. It is called in checked builds
// only, after each stage of a step.
#define CNI_VALIDATE(validator)                                                                    \
  do {                                                                                             \
    const char *cni_fault = (validator);                                                           \
    if (cni_fault) cni_assert_failed(cni_fault, __FILE__, __LINE__);                               \
  } while (0)
#else
#define CNI_ASSERT(condition) ((void)0)
#define CNI_VALIDATE(validator) ((void)0)
#endif

#endif
