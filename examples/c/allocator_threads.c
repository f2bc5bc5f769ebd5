// SPDX-License-Identifier: Apache-2.0
// Memory and threads of the host: a world takes its memory from an allocator of the program and its work is done by
// the program's own loop. Results are those of any other way, and after some steps no memory is asked for.
#include <cairn/cairn.h>

#include <stdio.h>
#include <stdlib.h>

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

typedef struct Host {
  long long calls, bytes; // of the allocator
  long long tasks;
} Host;

static void *allocate(void *context, size_t size, size_t alignment) {
  Host *host = context;
  void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  host->calls++;
  host->bytes += memory ? (long long)size : 0;
  return memory;
}

static void release(void *context, void *memory, size_t size) {
  Host *host = context;
  host->bytes -= (long long)size;
  free(memory);
}

// A game engine would spread these over its workers; any order will do.
static void run(void *context, int32_t count, void (*task)(void *, int32_t), void *task_context) {
  Host *host = context;
  for (int32_t i = count - 1; i >= 0; i--) task(task_context, i);
  host->tasks += count;
}

static int fill(CnWorld *world) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnShapeDef sphere = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnBodyId id;
  CnShapeId shape;
  CnPose poses[300];
  sphere.radius = 0.05;
  body.kind = CN_BODY_FIXED;
  if (failed(cn_body_create(world, &body, &id))) return 0;
  if (failed(cn_shape_create(world, id, &plane, &shape))) return 0;
  body.kind = CN_BODY_DYNAMIC;
  for (int i = 0; i < 300; i++)
    poses[i] =
        (CnPose){{0.101 * (i % 6), 0.103 * (i / 6 % 6), 0.05 + 0.1 * (i / 36)}, {1, 0, 0, 0}};
  return !failed(cn_bodies_create(world, &body, &sphere, poses, 300, NULL));
}

int main(void) {
  Host host = {0, 0, 0};
  CnWorld *worlds[2];
  CnWorldDef def = cn_world_def_default();
  def.solver = cn_solver_def_default("psor");
  if (failed(cn_world_create(&def, &worlds[0]))) return 1;
  def.allocator = (CnAllocator){allocate, release, &host};
  def.task_host = (CnTaskHost){run, &host};
  def.worker_count = 4;
  if (failed(cn_world_create(&def, &worlds[1]))) return 1;
  long long before = 0;
  for (int w = 0; w < 2; w++) {
    if (!fill(worlds[w])) return 1;
    for (int step = 0; step < 200; step++) {
      if (step == 150) before = host.calls;
      if (failed(cn_world_step(worlds[w], NULL))) return 1;
    }
  }
  int same = cn_world_hash(worlds[0]) == cn_world_hash(worlds[1]);
  printf("%lld calls for memory, %lld in the last 50 steps; %lld tasks; %s bits\n", host.calls,
         host.calls - before, host.tasks, same ? "the same" : "other");
  int wrong = !same || host.calls != before || host.tasks == 0;
  cn_world_destroy(worlds[0]);
  cn_world_destroy(worlds[1]);
  return wrong || host.bytes != 0; // everything has been given back
}
