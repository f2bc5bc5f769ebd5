// SPDX-License-Identifier: Apache-2.0
// Memory and failures of a page, as any program has them.
#include "view/view_private.h"

#include <stdarg.h>
#include <stdlib.h>

CnStatus cni_page_error(CnStatus status, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return cn_error_set(status, text);
}

struct CniPageBlock {
  struct CniPageBlock *next;
  double data[];
};

CnStatus cni_page_array(CniPageMemory *memory, int64_t count, size_t size, void *array) {
  void **result = array;
  *result = NULL;
  if (count <= 0) return CN_OK;
  size_t most = (SIZE_MAX / 2 - sizeof(struct CniPageBlock)) / size;
  struct CniPageBlock *block =
      (uint64_t)count <= most ? calloc(1, sizeof *block + (size_t)count * size) : NULL;
  if (!block)
    return cni_page_error(CN_NO_MEMORY, "out of memory: %lld things of %zu bytes for a page",
                          (long long)count, size);
  block->next = memory->blocks;
  memory->blocks = block;
  *result = block->data;
  return CN_OK;
}

void cni_page_memory_release(CniPageMemory *memory) {
  while (memory->blocks) {
    struct CniPageBlock *next = memory->blocks->next;
    free(memory->blocks);
    memory->blocks = next;
  }
}
