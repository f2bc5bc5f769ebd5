// SPDX-License-Identifier: Apache-2.0
// Snapshots of anybody who can compute the checksum: the input changes bytes of a good snapshot,
// cuts it or repeats parts of it, and the seal is repaired. What is restored is a world that can be
// looked at, stepped and emptied; what is refused leaves the world as it was, with one line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/cairn.h>
#include <cairn/scene.h>

#include "fuzz.h"
#include "world/world.h"

#define WORLDS 4
#define ITERATIONS 200
#define STEPS 200 // of hem5 in a time step

static const char *const scenes[WORLDS] = {
    "{\"bodies\": [{\"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\"}]},"
    " {\"repeat\": 4, \"items\": [{\"position\": [0, \"=0.05*i\", \"=0.09+0.17*i\"],"
    " \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1}]}]}]}",
    "{\"bodies\": [{\"name\": \"floor\", \"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\"}]},"
    " {\"name\": \"a\", \"position\": [0, 0, 0.1], \"shapes\": [{\"kind\": \"box\", \"size\": "
    "[0.2, 0.2, 0.2]}]},"
    " {\"name\": \"b\", \"position\": [0, 0, 0.35], \"shapes\": [{\"kind\": \"capsule\", "
    "\"radius\": 0.1, \"length\": 0.1}]}],"
    " \"joints\": [{\"kind\": \"ball\", \"bodies\": [\"a\", \"b\"], \"anchor\": [0, 0, 0.22]}]}",
    "{\"settings\": {\"integrator\": \"hem5\"}, \"bodies\": [{\"name\": \"a\", \"position\": [0.5, "
    "0, "
    "0], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1}]}],"
    " \"joints\": [{\"kind\": \"ball\", \"bodies\": [\"a\", \"ground\"], \"anchor\": [0, 0, 0]}]}",
    "{\"settings\": {\"integrator\": \"moreau-jean\"}, \"bodies\": [{\"kind\": \"fixed\", "
    "\"shapes\": "
    "[{\"kind\": \"plane\"}]},"
    " {\"position\": [0, 0, 0.1], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1}]}]}",
};

static struct {
  uint8_t *data;
  size_t size;
} good[WORLDS];

static void require(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_snapshot: %s: %s\n", what, cn_error_message());
  abort();
}

static void make_good(void) {
  for (int i = 0; i < WORLDS; i++) {
    CnScene *scene = NULL;
    CnWorld *world = NULL;
    CnWorldDef def = cn_world_def_default();
    require(cn_scene_parse(scenes[i], strlen(scenes[i]), "s", NULL, 0, NULL, &scene) == CN_OK,
            "scene");
    cn_scene_world_def(scene, &def);
    def.integration.max_steps = STEPS;
    require(cn_world_create(&def, &world) == CN_OK, "world");
    require(cn_scene_fill(scene, world) == CN_OK, "fill");
    for (int k = 0; k < 3; k++) require(cn_world_step(world, NULL) == CN_OK, "step");
    require(cn_world_save(world, NULL, 0, &good[i].size) == CN_OK, "size");
    good[i].data = malloc(good[i].size);
    require(good[i].data &&
                cn_world_save(world, good[i].data, good[i].size, &good[i].size) == CN_OK,
            "save");
    cn_world_destroy(world);
    cn_scene_destroy(scene);
  }
}

// Five bytes a change: place (three), way, value.
static size_t change(uint8_t *bytes, size_t size, const uint8_t *data, size_t count) {
  for (size_t i = 0; i + 5 <= count; i += 5) {
    size_t at = ((size_t)data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16) % size;
    uint8_t way = data[i + 3] % 8, value = data[i + 4];
    if (way < 3) bytes[at] = value;
    if (way == 3) bytes[at] ^= (uint8_t)(1u << value % 8);
    if (way == 4) memset(bytes + at, value < 128 ? 0xff : 0, size - at < 8 ? size - at : 8);
    if (way == 5) memset(bytes + at, value, size - at < 4 ? size - at : 4);
    if (way == 6 && at + 16 <= size) memmove(bytes + at, bytes + at + 8, 8);
    if (way == 7 && value > 200 && at > 40) size = at;
  }
  return size;
}

static void use(CnWorld *world) {
  CnWorldSums sums;
  CnWorldInfo info;
  CnContact contact;
  CnWorldDef settings;
  CnPenetration penetration;
  cn_world_sums(world, &sums);
  cn_world_info(world, &info);
  for (int32_t i = 0; i < info.contact_count; i++)
    require(cn_world_contact(world, i, &contact) == CN_OK, "contact");
  require(cn_world_settings(world, &settings) == CN_OK, "settings");
  // more iterations are what was asked for, and take as long as that takes
  int modest =
      settings.solver.max_iterations <= ITERATIONS && settings.integration.max_steps <= STEPS;
  for (int i = 0; i < 2 && modest; i++) (void)cn_world_step(world, NULL);
  (void)cn_world_penetration(world, &penetration);
  for (CnBodyId b = cn_world_next_body(world, (CnBodyId){0, 0}); b.slot;
       b = cn_world_next_body(world, b))
    require(cn_body_destroy(world, b) == CN_OK, "body");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!good[0].data) make_good();
  int which = size > 0 ? data[0] % WORLDS : 0;
  size_t length = good[which].size;
  uint8_t *bytes = malloc(length);
  CnWorldDef def = cn_world_def_default();
  CnWorld *world = NULL;
  require(bytes && cn_world_create(&def, &world) == CN_OK, "world");
  memcpy(bytes, good[which].data, length);
  if (size > 1) length = change(bytes, length, data + 1, size - 1);
  cni_snapshot_seal(bytes, length);
  uint64_t before = cn_world_hash(world);
  CnStatus status = cn_world_restore(world, bytes, length);
  require(status == CN_OK || size > 5, "the good snapshot is refused");
  if (status == CN_OK) {
    use(world);
  } else {
    require(cn_world_hash(world) == before, "a refused snapshot left a trace");
    require(cn_error_message()[0] && !strchr(cn_error_message(), '\n'), "no sentence");
  }
  free(bytes);
  cn_world_destroy(world);
  return 0;
}
