// SPDX-License-Identifier: Apache-2.0
// What those who draw a run need beyond its poses: springs between bodies, who holds whom and where, and shapes as
// triangles; and joints of kinds that a program had added.
#include <cairn/own_joint.h>
#include <cairn/run_look.h>
#include <string.h>

#include "core/floats.h"
#include "io/run/run_private.h"
#include "world/world.h"

#define SPRING "spring"

static CnStatus read_ends(CnRun *run, int32_t count, int32_t *bodies[2], CnPose *frames[2]) {
  static const char *const body[2] = {"/forces/body_a", "/forces/body_b"};
  static const char *const frame[2] = {"/forces/frame_a", "/forces/frame_b"};
  for (int32_t k = 0; k < 2; k++) {
    CNI_TRY(cni_input_numbers(run, body[k], NULL, CNI_INT32, count, bodies[k]));
    CNI_TRY(cni_input_numbers(run, frame[k], NULL, CNI_DOUBLE, 7 * (int64_t)count, frames[k]));
    for (int32_t i = 0; i < count; i++)
      if (bodies[k][i] < -1 || bodies[k][i] >= run->info.body_count)
        return cni_input_damaged(run, body[k], i, bodies[k][i]);
  }
  return CN_OK;
}

static CnStatus read_springs(CnRun *run, CniArena *arena, CniTexts *kinds, CnRunJoint **springs,
                             int32_t *count) {
  int64_t n = 0;
  int32_t *bodies[2], found = 0;
  CnPose *frames[2];
  CNI_TRY(cni_input_count(run, "/forces/body_a", &n));
  for (int32_t k = 0; k < 2; k++) {
    CNI_TRY(cni_arena_array(arena, (int32_t)n, sizeof **bodies, &bodies[k]));
    CNI_TRY(cni_arena_array(arena, (int32_t)n, sizeof **frames, &frames[k]));
  }
  CNI_TRY(cni_input_texts(run, "/forces/kind_name", NULL, n, kinds));
  CNI_TRY(read_ends(run, (int32_t)n, bodies, frames));
  CNI_TRY(cni_arena_array(arena, (int32_t)n, sizeof **springs, springs));
  for (int32_t i = 0; i < n; i++)
    if (strcmp(kinds->bytes + (size_t)i * kinds->size, SPRING) == 0)
      (*springs)[found++] = (CnRunJoint){.name = "",
                                         .body_a = bodies[0][i],
                                         .body_b = bodies[1][i],
                                         .frame_a = frames[0][i],
                                         .frame_b = frames[1][i]};
  *count = found;
  return CN_OK;
}

CnStatus cn_run_springs(CnRun *run, CnRunJoint *springs, int32_t capacity, int32_t *count) {
  CNI_FLOATS;
  CniTexts kinds = {0};
  CniArena arena;
  CnRunJoint *list = NULL;
  if (!run || !count) return cni_invalid("cn_run_springs: the %s is null", run ? "count" : "run");
  *count = 0;
  if (capacity < 0 || (capacity > 0 && !springs))
    return cni_invalid("cn_run_springs: there is no array for %d springs", (int)capacity);
  CniQuiet quiet = cni_quiet_begin();
  CnStatus status = CN_OK;
  cni_arena_init(&arena, &run->allocator);
  // worlds without forces have no such group, and older runs no frames
  if (H5Lexists(run->file, "/forces", H5P_DEFAULT) > 0 &&
      H5Lexists(run->file, "/forces/frame_a", H5P_DEFAULT) > 0)
    status = read_springs(run, &arena, &kinds, &list, count);
  for (int32_t i = 0; i < *count && i < capacity; i++) springs[i] = list[i];
  cni_arena_release(&arena);
  cni_release(&run->allocator, kinds.bytes, kinds.byte_count);
  cni_quiet_end(quiet);
  return status;
}

CnStatus cn_run_shape_triangles(const CnRun *run, int32_t index, int32_t quarter,
                                CnTriangles *triangles) {
  CNI_FLOATS;
  CnRunShape shape;
  if (!triangles) return cni_invalid("cn_run_shape_triangles: the triangles are null");
  CNI_TRY(cn_run_shape(run, index, &shape));
  CniPlaced placed = cni_shape_placed(&shape.def);
  if (cni_shape_needs_geometry(shape.def.kind)) cni_run_form(run, shape.def.geometry, &placed);
  return cni_triangles_fill("cn_run_shape_triangles", &placed, quarter, triangles);
}

CnStatus cni_run_own_kind(CnRun *run, int32_t joint_count, size_t joint, CnJointKind *kind) {
  CniTexts names = {0};
  CnStatus status = cni_input_texts(run, "/joints/kind_name", NULL, joint_count, &names);
  if (status == CN_OK) {
    const char *name = names.bytes + joint * names.size;
    *kind = cn_joint_kind_find(name);
    if (*kind == CN_JOINT_KIND_NONE)
      status = cni_error(CN_UNSUPPORTED,
                         "joint %zu of the run is a '%s', a kind of the program that wrote it: "
                         "register it before the run is opened",
                         joint, name);
  }
  cni_release(&run->allocator, names.bytes, names.byte_count);
  return status;
}
