// SPDX-License-Identifier: Apache-2.0
// The files that something was read from, so that nothing is written over them. Names are kept as they really are;
// whether two lead to one file is asked when something is to be written (device and number there), so that a file that
// was replaced meanwhile counts as it is now.
#ifndef CNI_IO_INPUTS_H
#define CNI_IO_INPUTS_H

#include "core/memory.h"

typedef struct CniInput {
  char *path; // absolute, without links
  size_t size;
} CniInput;

typedef struct CniInputs {
  CniInput *list;
  int32_t count, capacity;
} CniInputs;

// Note the file at a path; one that is not there is none.
CnStatus cni_inputs_note(CniInputs *inputs, const CnAllocator *allocator, const char *path);
// Note all of another list.
CnStatus cni_inputs_add(CniInputs *inputs, const CnAllocator *allocator, const CniInputs *others);
void cni_inputs_release(CniInputs *inputs, const CnAllocator *allocator);
// The same for one open file.
CnStatus cni_inputs_check_open(int fd, const char *output);
// CN_INVALID_ARGUMENT with a sentence if writing to `output` would take one of them away.
CnStatus cni_inputs_check(const CniInputs *inputs, const char *output);

#endif
