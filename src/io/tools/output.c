// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all.
#include "io/tools/output.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "io/io.h"
#include "io/run/run_private.h"
#include "io/tools/lock.h"

#define ENDING ".partial"

CnStatus cni_output_open(CniOutput *output, const char *path, const CnAllocator *allocator) {
  *output = (CniOutput){.path = path, .allocator = *allocator};
  if (cni_no_file(path)) return cni_error(CN_FILE, "%s: is there already and is no file", path);
  output->partial_size = strlen(path) + sizeof ENDING;
  output->partial = cni_allocate(allocator, output->partial_size);
  if (!output->partial) return cni_error_memory(output->partial_size);
  snprintf(output->partial, output->partial_size, "%s%s", path, ENDING);
  int fd = cni_lock_create(output->partial);
  output->file = fd < 0 ? NULL : fdopen(fd, "wb");
  if (output->file) return CN_OK;
  int error = errno;
  if (fd >= 0) unlink(output->partial);
  if (fd >= 0) close(fd);
  cni_release(allocator, output->partial, output->partial_size);
  return cni_lock_error(path, error);
}

void cni_output_bytes(CniOutput *output, const void *bytes, size_t size) {
  if (output->error || size == 0) return;
  if (fwrite(bytes, 1, size, output->file) != size) output->error = errno ? errno : EIO;
}

void cni_output_text(CniOutput *output, const char *format, ...) {
  if (output->error) return;
  va_list arguments;
  va_start(arguments, format);
  if (vfprintf(output->file, format, arguments) < 0) output->error = errno ? errno : EIO;
  va_end(arguments);
}

void cni_output_number(CniOutput *output, double value) {
  char text[64];
  if (isnan(value)) return;
  snprintf(text, sizeof text, "%.17g", value);
  const char *point = localeconv()->decimal_point;
  char *found = point[0] && strcmp(point, ".") != 0 ? strstr(text, point) : NULL;
  if (found) {
    size_t length = strlen(point);
    *found = '.';
    memmove(found + 1, found + length, strlen(found + length) + 1);
  }
  cni_output_bytes(output, text, strlen(text));
}

static void release(CniOutput *output) {
  cni_release(&output->allocator, output->partial, output->partial_size);
  *output = (CniOutput){0};
}

// The entry in the folder reaches the disk too; where that cannot be done, it is done in time.
static void sync_folder(const char *path) {
  char folder[4096];
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) + 1 : 1;
  if (length >= sizeof folder) return;
  memcpy(folder, slash ? path : ".", length);
  folder[length] = 0;
  int fd = open(folder, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

CnStatus cni_output_close(CniOutput *output) {
  if (!output->error && fflush(output->file) != 0) output->error = errno;
  if (!output->error && fsync(fileno(output->file)) != 0 && errno != EINVAL) output->error = errno;
  // the lock is held until the names are settled
  if (!output->error && rename(output->partial, output->path) != 0) output->error = errno;
  if (output->error) unlink(output->partial);
  if (fclose(output->file) != 0 && !output->error) output->error = errno;
  CnStatus status = CN_OK;
  if (output->error)
    status = cni_file_error(output->path, "cannot be written", output->error);
  else
    sync_folder(output->path);
  release(output);
  return status;
}

void cni_output_discard(CniOutput *output) {
  unlink(output->partial);
  fclose(output->file);
  release(output);
}
