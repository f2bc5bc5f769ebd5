// SPDX-License-Identifier: Apache-2.0
// Parts of `cairn check`.
#ifndef CNI_CLI_CHECK_H
#define CNI_CLI_CHECK_H

#include "cli/cli.h"
#include "cli/machine.h"

// "body 'crate'", or "body 17" with its slot.
const char *cni_check_label(const CnWorld *world, CnBodyId body, char label[CNI_MACHINE_NAME]);
// Is an overlap deeper than a share of the smaller body? The first such, in words.
int cni_check_deep(const CnWorld *world, const CnOverlap *overlaps, int32_t count, char *text,
                   size_t size);
// What ranks would share, and that each has the whole world.
void cni_check_ranks(CniShow *show, int32_t dynamic_count, int64_t ranks);

#endif
