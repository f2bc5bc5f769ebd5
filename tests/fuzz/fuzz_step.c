// SPDX-License-Identifier: Apache-2.0
// Any text as a small scene that is then run: every step is made, or refused with one line and a
// world that is as it was; a copy restored half way, with other workers and another broad phase,
// goes on with the same bits.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/cairn.h>
#include <cairn/scene.h>

#include "fuzz.h"
#include "io/scene/scene_private.h"

#define ITEMS 40 // large scenes are slow and show nothing new
#define STEPS 4
#define ITERATIONS 40

static void require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_step: %s: %s\n", what, cn_error_message());
  abort();
}

static CnWorld *copy_of(const CnWorld *world, CnWorldDef def) {
  CnWorld *copy = NULL;
  size_t size = 0, written = 0;
  require(cn_world_save(world, NULL, 0, &size) == CN_OK, "size of a snapshot");
  void *data = malloc(size + 1);
  require(data && cn_world_save(world, data, size, &written) == CN_OK, "snapshot");
  def.broad_phase = cn_broad_phase_name(1);
  def.worker_count = 2;
  require(cn_world_create(&def, &copy) == CN_OK, "no copy");
  require(cn_world_restore(copy, data, size) == CN_OK, "not restored");
  free(data);
  return copy;
}

// 1: the step was made.
static int step(CnWorld *world) {
  uint64_t before = cn_world_hash(world);
  CnStatus status = cn_world_step(world, NULL);
  if (status == CN_OK) return 1;
  require(cn_error_message()[0] && !strchr(cn_error_message(), '\n'), "no sentence");
  require(cn_world_hash(world) == before, "a refused step left a trace");
  return 0;
}

static void check_scene(CnScene *scene) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world = NULL, *copy = NULL;
  cn_scene_world_def(scene, &def);
  def.worker_count = 1;
  def.solver.effort = CN_EFFORT_QUICK; // fuzz_solve tries the others
  if (def.solver.max_iterations > ITERATIONS) def.solver.max_iterations = ITERATIONS;
  if (def.integration.max_steps > 10 * ITERATIONS) def.integration.max_steps = 10 * ITERATIONS;
  require(cn_world_create(&def, &world) == CN_OK, "no world");
  require(cn_scene_fill(scene, world) == CN_OK, "not filled");
  for (int i = 0; i < STEPS; i++) {
    int made = step(world);
    if (copy) {
      require(step(copy) == made, "the copy does otherwise");
      require(cn_world_hash(copy) == cn_world_hash(world), "the copy goes another way");
    }
    if (!made) break;
    if (i == 1) copy = copy_of(world, def);
  }
  cn_world_destroy(copy);
  cn_world_destroy(world);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  CnScene *scene = NULL;
  if (cni_scene_parse_limited((const char *)data, size, "s", NULL, 0, NULL,
                              &(CnSceneOptions){.files = "/nowhere"}, ITEMS, &scene) == CN_OK)
    check_scene(scene);
  cn_scene_destroy(scene);
  return 0;
}
