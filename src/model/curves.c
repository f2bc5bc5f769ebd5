// SPDX-License-Identifier: Apache-2.0
// Curves: the model owns them, joints share them, and one that is used stays. Where they are does not
// change, so that joints know them by their address.
#include <stdio.h>

#include "model/model_private.h"

CnStatus cni_curve_keep(CniModel *model, const CniCurve *given) {
  const CnAllocator *a = &model->allocator;
  int32_t count = model->curve_count;
  if (count == INT32_MAX)
    return cni_error(CN_NO_MEMORY, "a world holds at most %d curves", INT32_MAX);
  CNI_TRY(CNI_RESERVE(a, model->curves, model->curve_capacity, count, count + 1));
  CniCurve *curve = cni_allocate(a, sizeof *curve);
  if (!curve) return cni_error_memory(sizeof *curve);
  *curve = *given;
  model->curves[model->curve_count++] = curve;
  return CN_OK;
}

static void destroy(CniModel *model, CniCurve *curve) {
  cni_curve_forget(&model->allocator, curve);
  cni_release(&model->allocator, curve, sizeof *curve);
}

void cni_curves_release(CniModel *model) {
  for (int32_t i = 0; i < model->curve_count; i++) destroy(model, model->curves[i]);
  CNI_RELEASE(&model->allocator, model->curves, model->curve_capacity);
  cni_ids_release(&model->curve_ids, &model->allocator);
}

CnStatus cni_model_add_curve(CniModel *model, const CnCurveDef *given, CnCurveId *id) {
  *id = (CnCurveId){0, 0};
  CniCurve curve;
  CNI_TRY(cni_def_check("curve", given, sizeof *given, CNI_TAG_CURVE));
  CNI_TRY(cni_ids_reserve(&model->curve_ids, &model->allocator));
  CNI_TRY(cni_curve_make(&model->allocator, given, &curve));
  cni_name_copy(curve.name, given->name);
  CnStatus status = cni_curve_keep(model, &curve);
  if (status != CN_OK) {
    cni_curve_forget(&model->allocator, &curve);
    return status;
  }
  int32_t i = model->curve_count - 1;
  cni_ids_take(&model->curve_ids, i, &model->curves[i]->slot, &model->curves[i]->generation);
  *id = (CnCurveId){model->curves[i]->slot, model->curves[i]->generation};
  return CN_OK;
}

CnStatus cni_model_remove_curve(CniModel *model, CnCurveId id) {
  int32_t i;
  CNI_TRY(cni_model_find_curve(model, id, &i));
  CniCurve *curve = model->curves[i];
  if (curve->use_count > 0)
    return cni_invalid("curve %u '%s' is used by %d joints", (unsigned)id.slot, curve->name,
                       (int)curve->use_count);
  destroy(model, curve);
  cni_ids_free(&model->curve_ids, id.slot);
  int32_t last = --model->curve_count;
  if (i == last) return CN_OK;
  model->curves[i] = model->curves[last];
  cni_ids_move(&model->curve_ids, model->curves[i]->slot, i);
  return CN_OK;
}

CnStatus cni_joint_find_curves(const CniModel *model, CniJoint *joint) {
  const CnCurveId ids[2] = {joint->def.curve_a, joint->def.curve_b};
  const CniJointKind *kind = cni_joint_kind(joint->def.kind);
  for (int32_t k = 0; k < kind->curves; k++) {
    int32_t i;
    if (ids[k].slot == 0 && ids[k].generation == 0)
      return cni_invalid("joint: a %s needs a curve_%c", kind->name, "ab"[k]);
    CNI_TRY(cni_model_find_curve(model, ids[k], &i));
    if (i >= model->curve_count) // ids of a snapshot are not checked yet
      return cni_bad_data("joint: the id of its curve leads nowhere");
    joint->curves[k] = model->curves[i];
  }
  return CN_OK;
}

void cni_joint_use_curves(CniJoint *joint, int32_t change) {
  for (int32_t k = 0; k < 2; k++)
    if (joint->curves[k]) joint->curves[k]->use_count += change;
}

void cni_joint_look_along(const CniModel *model, CniJoint *joint) {
  if (!joint->curves[0]) return;
  CniJointPlace place;
  for (int32_t k = 0; k < CN_JOINT_AXES; k++) joint->near[k] = NAN;
  cni_joint_at(joint, model->pose, &place);
  for (int32_t k = 0; k < CN_JOINT_AXES; k++)
    joint->near[k] =
        k < place.axis_count && place.axes[k].wraps == CNI_ALONG ? place.axes[k].value : 0;
}
