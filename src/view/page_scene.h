// SPDX-License-Identifier: Apache-2.0
// A scene seen as a run of one frame.
#ifndef CNI_PAGE_SCENE_H
#define CNI_PAGE_SCENE_H

#include "view/view_private.h"

typedef struct CniSceneShapeId {
  CnShapeId id;
  int32_t body;
} CniSceneShapeId;

typedef struct CniSceneView {
  const CnScene *scene;
  CnWorld *world;
  CniPageMemory memory; // of the lists
  CnBodyId *bodies;
  CniSceneShapeId *shapes;
  int32_t body_count, shape_count;
  CnJointId joint; // the last one shown
  CnRunJoint *springs;
  int32_t spring_count;
} CniSceneView;

// page_scene_parts.c: a body's number; springs, inertias, materials, drives.
int32_t cni_view_number(const CniSceneView *view, CnBodyId body);
CnStatus cni_view_springs(CniSceneView *view);
CnStatus cni_view_inertias(void *context, CnPose *coms, CnVec3 *moments);
CnStatus cni_view_materials(void *context, int32_t *materials, int32_t *count);
CnStatus cni_view_material_name(void *context, int32_t index, char *name, size_t size);
CnStatus cni_view_drives(void *context, int32_t *coordinates);

#endif
