// SPDX-License-Identifier: Apache-2.0
// Failure sentences with their numbers, log lines, names of statuses, and the version.

#include "core/assert.h"
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LOG_LINE_SIZE 1024

CnStatus cni_error(CnStatus status, const char *format, ...) {
  // The arguments may quote the previous message: write beside it first, then replace it.
  char text[CNI_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (length < 0) text[0] = 0;
  return cn_error_set(status, text);
}

CnStatus cni_error_memory(size_t bytes) {
  return cni_error(CN_NO_MEMORY, "the allocator has no %zu bytes", bytes);
}

#ifdef CNI_CHECKED
void cni_assert_failed(const char *what, const char *file, int line) {
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
  abort();
}
#endif

void cni_list_names(const char *(*name)(int32_t index), char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int32_t i = 0; name(i) && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, i ? ", %s" : "%s", name(i));
}

void cni_log(const CnLog *log, CnLogLevel level, const char *format, ...) {
  if (!log || !log->write) return;
  char line[LOG_LINE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  log->write(log->context, level, line);
}

const char *cn_status_name(CnStatus status) {
  static const char *const names[] = {
      [CN_OK] = "CN_OK",
      [CN_INVALID_ARGUMENT] = "CN_INVALID_ARGUMENT",
      [CN_INVALID_HANDLE] = "CN_INVALID_HANDLE",
      [CN_INVALID_DATA] = "CN_INVALID_DATA",
      [CN_UNSUPPORTED] = "CN_UNSUPPORTED",
      [CN_BUSY] = "CN_BUSY",
      [CN_NO_MEMORY] = "CN_NO_MEMORY",
      [CN_NOT_FINITE] = "CN_NOT_FINITE",
      [CN_FILE] = "CN_FILE",
      [CN_STOPPED] = "CN_STOPPED",
      [CN_REMOTE] = "CN_REMOTE",
  };
  size_t number = (size_t)status;
  return number < sizeof names / sizeof names[0] ? names[number] : "unknown status";
}

const char *cn_version(void) { return CN_VERSION; }
