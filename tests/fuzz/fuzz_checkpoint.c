// SPDX-License-Identifier: Apache-2.0
// Checkpoints of anybody who can compute the checksum: the input is what stands behind the header.
// What can be read is restored, and a world that comes of it makes two steps or says why not.
#include "fuzz.h"

#include <cairn/cairn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/hash.h"
#include "io/io.h"

static void put_number(uint8_t *to, uint64_t value) {
  for (int i = 0; i < 8; i++) to[i] = (uint8_t)(value >> (8 * i));
}

static void restore(const CnCheckpoint *c) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world = NULL;
  if (cn_world_create(&def, &world) != CN_OK) return;
  if (cn_world_restore(world, c->snapshot, c->snapshot_size) == CN_OK)
    for (int i = 0; i < 2; i++) cn_world_step(world, NULL);
  cn_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[100];
  uint8_t header[32] = "CAIRNCKP";
  snprintf(path, sizeof path, "%s/cairn-fuzz-%ld.ck",
           access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
  put_number(header + 8, 1);
  put_number(header + 16, size);
  put_number(header + 24, cni_hash_bytes(CNI_HASH_START, data, size));
  FILE *file = fopen(path, "wb");
  if (!file) return 0;
  fwrite(header, 1, sizeof header, file);
  if (size > 0) fwrite(data, 1, size, file);
  fclose(file);
  CnCheckpoint checkpoint;
  CnAllocator allocator = cn_allocator_default();
  CnStatus status = cn_checkpoint_read(path, &allocator, &checkpoint);
  if (status == CN_OK) restore(&checkpoint);
  if (status != CN_OK && (!cn_error_message()[0] || strchr(cn_error_message(), '\n'))) abort();
  cn_checkpoint_release(&checkpoint);
  unlink(path);
  return 0;
}
