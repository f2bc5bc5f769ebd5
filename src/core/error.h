// SPDX-License-Identifier: Apache-2.0
// Failure with a sentence. Every failing path goes through cni_error, so that cn_error_message
// always tells of the failure that the caller sees.
#ifndef CNI_CORE_ERROR_H
#define CNI_CORE_ERROR_H

#include <cairn/base.h>

// Room for a message with its end.
#define CNI_MESSAGE_SIZE 512

// Keep the message (thread-local, truncated to fit) and return the status given.
CnStatus cni_error(CnStatus status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

// Shorthand for the one failure that has no value to name.
CnStatus cni_error_memory(size_t bytes);

// The names of a table in one line, "a, b, c", as far as there is room. `name` gives null past the
// end.
void cni_list_names(const char *(*name)(int32_t index), char *text, size_t size);

// Pass a failure on.
#define CNI_TRY(call)                                                                              \
  do {                                                                                             \
    CnStatus cni_try_status = (call);                                                              \
    if (cni_try_status != CN_OK) return cni_try_status;                                            \
  } while (0)

// Send a line to a log; dropped without a writer.
void cni_log(const CnLog *log, CnLogLevel level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The two most common failures: a caller's mistake, and a file or text that is wrong.
#define cni_invalid(...) cni_error(CN_INVALID_ARGUMENT, __VA_ARGS__)
#define cni_bad_data(...) cni_error(CN_INVALID_DATA, __VA_ARGS__)

#endif
