// SPDX-License-Identifier: Apache-2.0
// Prints one line per pile and thread count: the state hash after its steps. scripts/determinism
// builds it with every compiler and setting and compares the output.
#include "piles.h"
#include <inttypes.h>
#include <stdio.h>

int main(void) {
  for (int i = 0; i < pile_count; ++i) {
    for (int32_t workers = 1; workers <= 4; ++workers) {
      CnWorld *world = piles[i].build(workers);
      CnStatus status = world != NULL ? CN_OK : CN_INVALID_ARGUMENT;
      for (int step = 0; status == CN_OK && step < piles[i].steps; ++step)
        status = cn_world_step(world, NULL);
      if (status != CN_OK) {
        fprintf(stderr, "state_hash: %s: %s\n", piles[i].name, cn_error_message());
        return 1;
      }
      printf("%-12s %d threads %016" PRIx64 "\n", piles[i].name, (int)workers,
             cn_world_hash(world));
      cn_world_destroy(world);
    }
  }
  return 0;
}
