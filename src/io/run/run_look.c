// SPDX-License-Identifier: Apache-2.0
// What those who draw a run ask for beyond poses and shapes: materials of shapes, motors of joints, and where the
// mass of bodies is. Written with the description of the run; runs of 0.1 tell of the mass only.
#include <cairn/run_look.h>
#include <cairn/state.h>
#include <stdio.h>
#include <string.h>

#include "core/floats.h"
#include "io/run/run_private.h"

#define MATERIAL "/shapes/material"
#define MATERIAL_NAME "/materials/name"
#define DRIVE "/joints/drive"

// ---- writing ----

static const char *name_of(const void *context, int64_t i) {
  const CnMaterialDef *defs = context;
  return defs[i].name ? defs[i].name : "";
}

CnStatus cni_run_put_materials(CniRunWriter *w, const CnWorld *world, const CnShapeDef *shapes,
                               CniArena *arena, CniHdf *hdf) {
  CnWorldInfo info;
  cn_world_info(world, &info);
  CnMaterialDef *defs;
  CnMaterialId *ids;
  int32_t *numbers, n = 0;
  CNI_TRY(CNI_LAY(arena, CNI_ARRAY(info.material_count, defs), CNI_ARRAY(info.material_count, ids),
                  CNI_ARRAY(w->shape_count, numbers)));
  for (CnMaterialId m = {0}; (m = cn_world_next_material(world, m)).slot; n++) {
    CNI_TRY(cn_material_def(world, m, &defs[n]));
    ids[n] = m;
  }
  for (int32_t s = 0; s < w->shape_count; s++) {
    numbers[s] = -1;
    // slots ascend, so the place is found by halving
    int32_t low = 0, high = n;
    while (low < high) {
      int32_t middle = (low + high) / 2;
      if (ids[middle].slot < shapes[s].material.slot)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < n && ids[low].slot == shapes[s].material.slot) numbers[s] = low;
  }
  cni_hdf_table(hdf, MATERIAL, CNI_INT32, w->shape_count, 0, numbers);
  cni_hdf_group(hdf, "/materials");
  cni_hdf_texts(hdf, &w->allocator, MATERIAL_NAME, n, name_of, defs);
  return CN_OK;
}

int32_t cni_run_drive_of(const CnJointDef *def, int32_t coordinate_count) {
  for (int32_t k = 0; k < coordinate_count; k++)
    if (def->axes[k].motor_effort != 0 || def->axes[k].motor_stiffness > 0 ||
        def->axes[k].motor_damping > 0)
      return k;
  return -1;
}

// ---- reading ----

static int has(const CnRun *run, const char *path) {
  // every part of the path must be there before the next is asked for
  char part[64];
  const char *slash = strchr(path + 1, '/');
  snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
  return H5Lexists(run->file, part, H5P_DEFAULT) > 0 && H5Lexists(run->file, path, H5P_DEFAULT) > 0;
}

CnStatus cn_run_inertias(CnRun *run, CnPose *coms, CnVec3 *moments) {
  CNI_FLOATS;
  if (!run || !coms || !moments)
    return cni_invalid("cn_run_inertias: the %s null", !run ? "run is" : "arrays are");
  int64_t n = run->info.body_count;
  CniArena arena;
  CnVec3 *places = NULL;
  CnQuat *turns = NULL;
  CniQuiet quiet = cni_quiet_begin();
  cni_arena_init(&arena, &run->allocator);
  CnStatus status = cni_arena_array(&arena, n, sizeof *places, &places);
  if (status == CN_OK) status = cni_arena_array(&arena, n, sizeof *turns, &turns);
  if (status == CN_OK)
    status = cni_input_numbers(run, "/bodies/com_position", NULL, CNI_DOUBLE, 3 * n, places);
  if (status == CN_OK)
    status = cni_input_numbers(run, "/bodies/com_rotation", NULL, CNI_DOUBLE, 4 * n, turns);
  if (status == CN_OK)
    status = cni_input_numbers(run, "/bodies/inertia", NULL, CNI_DOUBLE, 3 * n, moments);
  for (int64_t i = 0; i < n && status == CN_OK; i++) coms[i] = (CnPose){places[i], turns[i]};
  cni_arena_release(&arena);
  cni_quiet_end(quiet);
  return status;
}

CnStatus cn_run_materials(CnRun *run, int32_t *materials, int32_t *count) {
  CNI_FLOATS;
  if (!run || !materials || !count)
    return cni_invalid("cn_run_materials: the %s is null", !run         ? "run"
                                                           : !materials ? "array"
                                                                        : "count");
  int64_t n = run->info.shape_count, named = 0;
  *count = 0;
  for (int64_t i = 0; i < n; i++) materials[i] = -1;
  CniQuiet quiet = cni_quiet_begin();
  CnStatus status = CN_OK;
  if (has(run, MATERIAL) && has(run, MATERIAL_NAME)) {
    status = cni_input_count(run, MATERIAL_NAME, &named);
    if (status == CN_OK) status = cni_input_numbers(run, MATERIAL, NULL, CNI_INT32, n, materials);
  }
  for (int64_t i = 0; i < n && status == CN_OK; i++)
    if (materials[i] < -1 || materials[i] >= named)
      status = cni_input_damaged(run, "the material of shape", i, materials[i]);
  cni_quiet_end(quiet);
  if (status == CN_OK) *count = (int32_t)named;
  return status;
}

CnStatus cn_run_material_name(CnRun *run, int32_t index, char *name, size_t size) {
  CNI_FLOATS;
  if (!run || !name || size == 0)
    return cni_invalid("cn_run_material_name: the %s is null", run ? "name" : "run");
  name[0] = 0;
  int64_t count = 0;
  CniTexts names = {0};
  CniQuiet quiet = cni_quiet_begin();
  CnStatus status = has(run, MATERIAL_NAME) ? cni_input_count(run, MATERIAL_NAME, &count) : CN_OK;
  if (status == CN_OK && (index < 0 || index >= count))
    status = cni_invalid("cn_run_material_name: there is no material %d (the run has %d)",
                         (int)index, (int)count);
  if (status == CN_OK) status = cni_input_texts(run, MATERIAL_NAME, NULL, count, &names);
  if (status == CN_OK) snprintf(name, size, "%s", names.bytes + (size_t)index * names.size);
  cni_release(&run->allocator, names.bytes, names.byte_count);
  cni_quiet_end(quiet);
  return status;
}

CnStatus cn_run_drives(CnRun *run, int32_t *coordinates) {
  CNI_FLOATS;
  if (!run) return cni_invalid("cn_run_drives: the run is null");
  int64_t n = run->info.joint_count;
  if (n > 0 && !coordinates) return cni_invalid("cn_run_drives: the array is null");
  for (int64_t i = 0; i < n; i++) coordinates[i] = -1;
  if (n == 0) return CN_OK;
  CniQuiet quiet = cni_quiet_begin();
  CnStatus status = CN_OK;
  if (has(run, DRIVE)) status = cni_input_numbers(run, DRIVE, NULL, CNI_INT32, n, coordinates);
  for (int64_t i = 0; i < n && status == CN_OK; i++)
    if (coordinates[i] < -1 || coordinates[i] >= CN_JOINT_AXES)
      status = cni_input_damaged(run, "the drive of joint", i, coordinates[i]);
  cni_quiet_end(quiet);
  return status;
}

CnStatus cn_run_body_color(const CnRun *run, int32_t index, double color[4]) {
  if (!run || !color) return cni_run_null("cn_run_body_color");
  for (int32_t i = 0; i < 4; i++) color[i] = -1;
  CNI_TRY(cni_run_check_index(run, "body", index, run->info.body_count));
  if (run->colors) memcpy(color, run->colors + 4 * (int64_t)index, 4 * sizeof *color);
  return CN_OK;
}
