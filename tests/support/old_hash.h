// SPDX-License-Identifier: Apache-2.0
// The state hash of Cairn 0.1, a chain over the slots: what old files are known by (tests/data/README.md).
#ifndef TESTS_OLD_HASH_H
#define TESTS_OLD_HASH_H

#include "core/hash.h"
#include "world/world.h"

static inline uint64_t old_hash(const CnWorld *world) {
  uint64_t hash = CNI_HASH_START;
  const CniModel *model = &world->now.model;
  for (int32_t s = 0; s < model->body_ids.slot_count; s++) {
    if ((model->body_ids.slots[s].generation & 1u) == 0) continue;
    int32_t i = model->body_ids.slots[s].index;
    hash = cni_hash_doubles(hash, (const double *)&model->pose[i], 7);
    hash = cni_hash_doubles(hash, (const double *)&model->twist[i], 6);
  }
  return hash;
}

#endif
