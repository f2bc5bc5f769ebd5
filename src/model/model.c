// SPDX-License-Identifier: Apache-2.0
// The model as a whole: start and end, room, handles, and the checks of numbers that all kinds of
// definitions share. Every check answers with a sentence that names the field and the value.
#include "model/model.h"

#include <string.h>

#include "model/model_private.h"

CnStatus cni_model_init(CniModel *model, const CnAllocator *allocator) {
  *model = (CniModel){0};
  model->allocator = *allocator;
  CniIds *ids[] = {&model->body_ids,     &model->shape_ids,    &model->material_ids,
                   &model->geometry_ids, &model->curve_ids,    &model->joint_ids,
                   &model->force_ids,    &model->function_ids, &model->coupling_ids};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) *ids[i] = CNI_IDS_EMPTY;
  CNI_TRY(CNI_RESERVE(allocator, model->materials, model->material_capacity, 0, 1));
  model->materials[0] = (CniMaterial){0};
  model->materials[0].def = cn_material_def_default();
  model->material_count = 1;
  return CN_OK;
}

void cni_model_release(CniModel *model) {
  const CnAllocator *a = &model->allocator;
  size_t bodies = (size_t)model->body_capacity;
  for (int32_t i = 0; i < model->body_count; i++) cni_body_forget(model, &model->bodies[i]);
  for (int32_t i = 0; i < model->shape_count; i++) cni_shape_forget(model, &model->shapes[i]);
  cni_release(a, model->pose, bodies * sizeof(CnPose));
  cni_release(a, model->twist, bodies * sizeof(CnTwist));
  cni_release(a, model->load, bodies * sizeof(CnTwist));
  cni_release(a, model->mass, bodies * sizeof(CniBodyMass));
  cni_release(a, model->inertias, bodies * sizeof(CnVec3));
  cni_release(a, model->bodies, bodies * sizeof(CniBody));
  cni_release(a, model->shapes, (size_t)model->shape_capacity * sizeof(CniShape));
  cni_geometries_release(model);
  cni_curves_release(model);
  cni_release(a, model->materials, (size_t)model->material_capacity * sizeof(CniMaterial));
  cni_release(a, model->joints, (size_t)model->joint_capacity * sizeof(CniJoint));
  cni_ids_release(&model->body_ids, a);
  cni_ids_release(&model->shape_ids, a);
  cni_ids_release(&model->material_ids, a);
  cni_ids_release(&model->joint_ids, a);
  cni_release(a, model->forces, (size_t)model->force_capacity * sizeof(CniForce));
  cni_ids_release(&model->force_ids, a);
  cni_functions_release(model);
  CNI_RELEASE(a, model->motions, model->motion_capacity);
  CNI_RELEASE(a, model->disabled, model->disabled_capacity);
  CNI_RELEASE(a, model->laws, model->law_capacity);
  CNI_RELEASE(a, model->notes, model->note_capacity);
  CNI_RELEASE(a, model->couplings, model->coupling_capacity);
  cni_ids_release(&model->coupling_ids, a);
  *model = (CniModel){0};
}

CnStatus cni_model_reserve(CniModel *model, int32_t bodies, int32_t shapes, int32_t materials,
                           int32_t joints) {
  const CnAllocator *a = &model->allocator;
  CNI_TRY(cni_bodies_reserve(model, bodies));
  CNI_TRY(CNI_RESERVE(a, model->shapes, model->shape_capacity, model->shape_count, shapes));
  CNI_TRY(
      CNI_RESERVE(a, model->materials, model->material_capacity, model->material_count, materials));
  return CNI_RESERVE(a, model->joints, model->joint_capacity, model->joint_count, joints);
}

// ---- handles ----

static CnStatus find(const CniIds *ids, const char *kind, uint32_t slot, uint32_t generation,
                     int32_t *index) {
  *index = cni_ids_find(ids, slot, generation);
  if (*index >= 0) return CN_OK;
  if (slot == 0 && generation == 0)
    return cni_error(CN_INVALID_HANDLE, "the %s id is none (zero)", kind);
  return cni_error(CN_INVALID_HANDLE, "%s id {%u, %u} names nothing: destroyed, or never created",
                   kind, (unsigned)slot, (unsigned)generation);
}

#define FIND(function, Id, ids, kind)                                                              \
  CnStatus function(const CniModel *model, Id id, int32_t *index) {                                \
    return find(&model->ids, kind, id.slot, id.generation, index);                                 \
  }
FIND(cni_model_find_body, CnBodyId, body_ids, "body")
FIND(cni_model_find_shape, CnShapeId, shape_ids, "shape")
FIND(cni_model_find_material, CnMaterialId, material_ids, "material")
FIND(cni_model_find_geometry, CnGeometryId, geometry_ids, "geometry")
FIND(cni_model_find_curve, CnCurveId, curve_ids, "curve")
FIND(cni_model_find_joint, CnJointId, joint_ids, "joint")
FIND(cni_model_find_function, CnFunctionId, function_ids, "function")
FIND(cni_model_find_coupling, CnCouplingId, coupling_ids, "coupling")
FIND(cni_model_find_force, CnForceId, force_ids, "force")

// ---- poses and names ----

int cni_pose_is_one(CnPose pose) {
  CnVec3 p = pose.position;
  CnQuat q = pose.rotation;
  return p.x == 0 && p.y == 0 && p.z == 0 && q.w == 1 && q.x == 0 && q.y == 0 && q.z == 0;
}

void cni_name_copy(char name[CNI_NAME_SIZE], const char *text) {
  memset(name, 0, CNI_NAME_SIZE);
  if (!text) return;
  size_t n = strlen(text);
  if (n >= CNI_NAME_SIZE) {
    // a character of several bytes is kept whole or not at all
    n = CNI_NAME_SIZE - 1;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) n--;
  }
  memcpy(name, text, n);
}
