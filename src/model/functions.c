// SPDX-License-Identifier: Apache-2.0
// Functions of time that a model owns. One that a joint or a body follows stays.
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "model/model_private.h"

static size_t bytes_of(const CniFunction *f) {
  return 3 * (size_t)f->def.point_count * sizeof(double);
}

static void forget(CniModel *model, CniFunction *f) {
  if (f->points) cni_release(&model->allocator, f->points, bytes_of(f));
}

// Times, values and bends in one piece of memory; f has the definition as given.
static CnStatus keep_points(const CniModel *model, CniFunction *f) {
  size_t n = (size_t)f->def.point_count;
  f->points = NULL;
  if (n == 0) {
    f->def.times = f->def.values = NULL;
    return CN_OK;
  }
  f->points = cni_allocate(&model->allocator, bytes_of(f));
  if (!f->points) return cni_error_memory(bytes_of(f));
  memcpy(f->points, f->def.times, n * sizeof(double));
  memcpy(f->points + n, f->def.values, n * sizeof(double));
  f->def.times = f->points;
  f->def.values = f->points + n;
  return CN_OK;
}

// The second derivatives, in place: the values of a work array come first.
static CnStatus fit(const CniModel *model, CniFunction *f) {
  if (f->def.kind != CN_FUNCTION_SPLINE) return CN_OK;
  size_t n = (size_t)f->def.point_count;
  double *work = cni_allocate(&model->allocator, n * sizeof *work);
  if (!work) return cni_error_memory(n * sizeof *work);
  cni_function_bends(&f->def, work, f->points + 2 * n);
  cni_release(&model->allocator, work, n * sizeof *work);
  for (size_t i = 0; i < n; i++)
    if (!isfinite(f->points[2 * n + i]))
      return cni_invalid("function: the spline bends too much at point %d", (int)i);
  return CN_OK;
}

CnStatus cni_function_make(CniModel *model, const CnFunctionDef *given, CniFunction *f) {
  *f = (CniFunction){.def = *given};
  CNI_TRY(cni_function_check(given));
  cni_name_copy(f->name, given->name);
  f->def.name = NULL;
  CNI_TRY(keep_points(model, f));
  CnStatus status = fit(model, f);
  if (status != CN_OK) forget(model, f);
  return status;
}

void cni_functions_release(CniModel *model) {
  for (int32_t i = 0; i < model->function_count; i++) forget(model, &model->functions[i]);
  CNI_RELEASE(&model->allocator, model->functions, model->function_capacity);
  cni_ids_release(&model->function_ids, &model->allocator);
}

CnStatus cni_model_add_function(CniModel *model, const CnFunctionDef *given, CnFunctionId *id) {
  *id = (CnFunctionId){0, 0};
  CNI_TRY(cni_def_check("function", given, sizeof *given, CNI_TAG_FUNCTION));
  int32_t i = model->function_count;
  if (i == INT32_MAX)
    return cni_error(CN_NO_MEMORY, "a world holds at most %d functions", INT32_MAX);
  CNI_TRY(CNI_RESERVE(&model->allocator, model->functions, model->function_capacity, i, i + 1));
  CNI_TRY(cni_ids_reserve(&model->function_ids, &model->allocator));
  CniFunction f;
  CNI_TRY(cni_function_make(model, given, &f));
  cni_ids_take(&model->function_ids, i, &f.slot, &f.generation);
  model->functions[model->function_count++] = f;
  *id = (CnFunctionId){f.slot, f.generation};
  return CN_OK;
}

CnStatus cni_model_set_function(CniModel *model, CnFunctionId id, const CnFunctionDef *given) {
  int32_t i;
  CniFunction f;
  CNI_TRY(cni_model_find_function(model, id, &i));
  CNI_TRY(cni_def_check("function", given, sizeof *given, CNI_TAG_FUNCTION));
  CNI_TRY(cni_function_make(model, given, &f));
  f.slot = id.slot;
  f.generation = id.generation;
  forget(model, &model->functions[i]);
  model->functions[i] = f;
  return CN_OK;
}

// Rare, so functions do not count who follows them.
static int is_used(const CniModel *model, CnFunctionId id) {
  for (int32_t i = 0; i < model->joint_count; i++)
    for (int32_t k = 0; k < CN_JOINT_AXES; k++)
      if (model->joints[i].def.axes[k].motor_function.slot == id.slot) return 1;
  for (int32_t i = 0; i < model->coupling_count; i++)
    if (model->couplings[i].def.function.slot == id.slot) return 1;
  for (int32_t i = 0; i < model->material_count; i++)
    if (model->materials[i].def.surface_function.slot == id.slot) return 1;
  for (int32_t i = 0; i < model->force_count; i++)
    if (model->forces[i].def.rest_function.slot == id.slot) return 1;
  for (int32_t i = 0; i < model->motion_count; i++) {
    const CnMotionDef *m = &model->motions[i].def;
    if (m->x.slot == id.slot || m->y.slot == id.slot || m->z.slot == id.slot ||
        m->turn.slot == id.slot)
      return 1;
  }
  return 0;
}

CnStatus cni_model_remove_function(CniModel *model, CnFunctionId id) {
  int32_t i;
  CNI_TRY(cni_model_find_function(model, id, &i));
  if (is_used(model, id))
    return cni_invalid("function %u '%s' is followed by a joint, a force, a material or a body",
                       (unsigned)id.slot, model->functions[i].name);
  forget(model, &model->functions[i]);
  cni_ids_free(&model->function_ids, id.slot);
  int32_t last = --model->function_count;
  if (i == last) return CN_OK;
  model->functions[i] = model->functions[last];
  cni_ids_move(&model->function_ids, model->functions[i].slot, i);
  return CN_OK;
}

const CnFunctionDef *cni_function_of(const CniModel *model, int32_t i, const double **bends) {
  const CniFunction *f = &model->functions[i];
  *bends = f->points ? f->points + 2 * (size_t)f->def.point_count : NULL;
  return &f->def;
}

void cni_function_at(const CniModel *model, int32_t i, double t, double result[3]) {
  const double *bends;
  const CnFunctionDef *def = cni_function_of(model, i, &bends);
  cni_function_kinds[def->kind].at(def, bends, t, result);
}

double cni_function_kink(const CniModel *model, CnFunctionId id, double t) {
  int32_t i = id.slot ? cni_ids_find(&model->function_ids, id.slot, id.generation) : -1;
  const CnFunctionDef *def = i < 0 ? NULL : &model->functions[i].def;
  return def && cni_function_kinds[def->kind].kink ? cni_function_kinds[def->kind].kink(def, t)
                                                   : INFINITY;
}

void cni_joint_target(const CniModel *model, const CnJointAxis *axis, double t, double result[3]) {
  CnFunctionId id = axis->motor_function;
  int32_t i = id.slot ? cni_ids_find(&model->function_ids, id.slot, id.generation) : -1;
  if (i >= 0) {
    cni_function_at(model, i, t, result);
    return;
  }
  const double numbers[] = {[CN_DRIVE_SPEED] = axis->motor_speed,
                            [CN_DRIVE_POSITION] = axis->motor_position,
                            [CN_DRIVE_EFFORT] = axis->motor_effort};
  result[0] = numbers[axis->drive];
  result[1] = result[2] = 0;
}
