// SPDX-License-Identifier: Apache-2.0
// Names of kinds that a program adds (own.h).
#include "core/own/own.h"

#include <string.h>

#include "core/error.h"

CnStatus cni_own_name_check(const char *call, const char *word,
                            const char *(*name)(int32_t index)) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  if (!word || !word[0]) return cni_invalid("%s: the kind has no name", call);
  if (strlen(word) >= CNI_OWN_NAME || word[strspn(word, allowed)] || word[0] < 'a')
    return cni_invalid(
        "%s: '%.64s' is no name for a kind: small letters, digits, _ and -, a letter "
        "first, %d at most",
        call, word, CNI_OWN_NAME - 1);
  for (int32_t i = 0; name(i); i++)
    if (strcmp(name(i), word) == 0) return cni_invalid("%s: there is a %s already", call, word);
  return CN_OK;
}
