// SPDX-License-Identifier: Apache-2.0
// What a scene has beside bodies, shapes and joints, for its page.
#include <cairn/state.h>

#include "view/page_scene.h"

int32_t cni_view_number(const CniSceneView *view, CnBodyId body) {
  for (int32_t i = 0; i < view->body_count; i++)
    if (view->bodies[i].slot == body.slot) return i;
  return -1;
}

CnStatus cni_view_springs(CniSceneView *view) {
  CnWorldInfo info;
  cn_world_info(view->world, &info);
  CNI_TRY(cni_page_array(&view->memory, info.force_count, sizeof *view->springs, &view->springs));
  for (CnForceId f = {0}; (f = cn_world_next_force(view->world, f)).slot;) {
    CnForceDef def;
    CNI_TRY(cn_force_def(view->world, f, &def));
    if (def.kind != CN_FORCE_SPRING) continue;
    view->springs[view->spring_count++] = (CnRunJoint){.name = "",
                                                       .body_a = cni_view_number(view, def.body_a),
                                                       .body_b = cni_view_number(view, def.body_b),
                                                       .frame_a = def.frame_a,
                                                       .frame_b = def.frame_b};
  }
  return CN_OK;
}

CnStatus cni_view_inertias(void *context, CnPose *coms, CnVec3 *moments) {
  const CniSceneView *view = context;
  for (int32_t i = 0; i < view->body_count; i++) {
    CnBodyInfo info;
    CNI_TRY(cn_body_info(view->world, view->bodies[i], &info));
    coms[i] = info.com;
    moments[i] = info.inertia;
  }
  return CN_OK;
}

// Numbers of materials go by ascending slot.
CnStatus cni_view_materials(void *context, int32_t *materials, int32_t *count) {
  const CniSceneView *view = context;
  for (int32_t i = 0; i < view->shape_count; i++) {
    CnShapeDef def;
    CNI_TRY(cn_shape_def(view->world, view->shapes[i].id, &def));
    materials[i] = -1;
    int32_t number = 0;
    for (CnMaterialId m = {0};
         def.material.slot && (m = cn_world_next_material(view->world, m)).slot; number++)
      if (m.slot == def.material.slot) materials[i] = number;
  }
  CnWorldInfo info;
  cn_world_info(view->world, &info);
  *count = info.material_count;
  return CN_OK;
}

CnStatus cni_view_material_name(void *context, int32_t index, char *name, size_t size) {
  const CniSceneView *view = context;
  CnMaterialId m = cn_world_next_material(view->world, (CnMaterialId){0});
  for (int32_t i = 0; i < index && m.slot; i++) m = cn_world_next_material(view->world, m);
  CnMaterialDef def;
  CNI_TRY(cn_material_def(view->world, m, &def));
  snprintf(name, size, "%s", def.name ? def.name : "");
  return CN_OK;
}

CnStatus cni_view_drives(void *context, int32_t *coordinates) {
  const CniSceneView *view = context;
  int32_t n = 0;
  for (CnJointId j = {0}; (j = cn_world_next_joint(view->world, j)).slot; n++) {
    CnJointDef def;
    CNI_TRY(cn_joint_def(view->world, j, &def));
    coordinates[n] = -1;
    for (int32_t k = 0; coordinates[n] < 0 && cn_joint_coordinate_name(def.kind, k); k++)
      if (def.axes[k].motor_effort != 0 || def.axes[k].motor_stiffness > 0 ||
          def.axes[k].motor_damping > 0)
        coordinates[n] = k;
  }
  return CN_OK;
}
