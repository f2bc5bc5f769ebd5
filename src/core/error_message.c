// SPDX-License-Identifier: Apache-2.0
// The message of the last failure: the only hidden state of the library. It is kept per thread, so
// two threads that use two worlds never read each other's sentence.
//
// It has a file of its own because it must be there once in a program: a shared libcairn-io has its
// own copies of other private functions of libcairn, and reaches the message through cn_error_set.
#include "core/error.h"

#include <string.h>

static _Thread_local char last_message[CNI_MESSAGE_SIZE];

const char *cn_error_message(void) { return last_message; }

CnStatus cn_error_set(CnStatus status, const char *message) {
  size_t length = message ? strlen(message) : 0;
  if (length > CNI_MESSAGE_SIZE - 1) length = CNI_MESSAGE_SIZE - 1;
  // the text may lie in the message it replaces
  if (length) memmove(last_message, message, length);
  last_message[length] = 0;
  // whatever a name or a file held: a sentence is one line, and no terminal obeys it
  for (char *c = last_message; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
  return status;
}
