// Shapes on bodies. A shape keeps its definition (in the body frame, as the user gave it) and its
// pose in the frame of the centre of mass, which is what every step reads. A body's shapes are a
// doubly linked list through the dense array, in order of creation.
#include "core/error.h"
#include "core/memory.h"
#include "model/model_parts.h"

CnShapeDef cn_shape_def_default(CnShapeKind kind) {
  return (CnShapeDef){.kind = kind,
                      .pose = CN_POSE_ONE,
                      .density = 1000,
                      .category = 1,
                      .mask = 0xffffffffu,
                      .tag = CNI_TAG_SHAPE};
}

CnPose cni_shape_local_pose(CnPose com, CnPose def_pose) {
  CnPose pose = cn_pose_mul(cn_pose_inverse(com), def_pose);
  cni_check_pose("pose", &pose);
  return pose;
}

CnShapeDef cni_model_shape_def(const CniModel *model, int32_t shape) {
  const CniShape *s = &model->shapes[shape];
  const CniMaterial *m = &model->materials[s->material];
  return (CnShapeDef){.kind = s->kind,
                      .pose = cni_shape_def_pose(s),
                      .radius = s->radius,
                      .half_size = cni_shape_half_size(s),
                      .density = s->density,
                      .material = {m->slot, m->generation}, // none for the default material
                      .category = s->category,
                      .mask = s->mask,
                      .tag = CNI_TAG_SHAPE};
}

CniPlaced cni_model_placed(const CniModel *model, int32_t shape, const CnPose *body_pose) {
  const CniShape *s = &model->shapes[shape];
  CnPose pose = s->poses ? cn_pose_mul(*body_pose, s->poses->pose) : *body_pose;
  return (CniPlaced){s->kind, pose, s->radius, cni_shape_half_size(s)};
}

CnStatus cni_shape_def_check(CnShapeDef *def) {
  if (def->tag != CNI_TAG_SHAPE)
    return cni_error(CN_INVALID_ARGUMENT,
                     "shape: the definition was not made by cn_shape_def_default (tag %u)",
                     (unsigned)def->tag);
  if ((uint32_t)def->kind >= CN_SHAPE_KIND_COUNT)
    return cni_error(CN_INVALID_ARGUMENT, "shape: kind %d is none", (int)def->kind);
  CNI_TRY(cni_check_pose("shape: pose", &def->pose));
  CNI_TRY(cni_check_not_negative("shape: density", def->density));
  return cni_shape_check(def);
}

static CnStatus check_on_body(const CniModel *model, int32_t body, const CnShapeDef *def) {
  char label[CNI_NAME_SIZE + 16];
  if (def->kind != CN_SHAPE_PLANE || model->bodies[body].kind != CN_BODY_DYNAMIC) return CN_OK;
  cni_model_body_label(model, body, label);
  return cni_error(CN_INVALID_ARGUMENT, "shape: a plane cannot be on %s, which is dynamic", label);
}

// The shape of a definition, not yet in any array.
static CniShape shape_from(const CnShapeDef *def, int32_t body, int32_t material) {
  return (CniShape){.body = body,
                    .next = -1,
                    .kind = def->kind,
                    .radius = def->radius,
                    .material = material,
                    .category = def->category,
                    .mask = def->mask,
                    .density = def->density};
}

// ---- what a shape keeps beside its common fields ----

CnStatus cni_shape_keep(const CniModel *model, CniShape *shape, CnVec3 half_size, CnPose pose,
                        CnPose def_pose) {
  shape->poses = NULL;
  shape->half_size = NULL;
  if (shape->kind == CN_SHAPE_BOX) {
    shape->half_size = cni_allocate(&model->allocator, sizeof half_size);
    if (!shape->half_size) return cni_error_memory(sizeof half_size);
    *shape->half_size = half_size;
  }
  if (cni_pose_is_one(pose) && cni_pose_is_one(def_pose)) return CN_OK;
  shape->poses = cni_allocate(&model->allocator, sizeof *shape->poses);
  if (!shape->poses) {
    cni_shape_forget(model, shape);
    return cni_error_memory(sizeof *shape->poses);
  }
  *shape->poses = (CniShapePoses){pose, def_pose};
  return CN_OK;
}

void cni_shape_forget(const CniModel *model, CniShape *shape) {
  cni_release(&model->allocator, shape->poses, sizeof *shape->poses);
  cni_release(&model->allocator, shape->half_size, sizeof *shape->half_size);
  shape->poses = NULL;
  shape->half_size = NULL;
}

// ---- adding and removing ----

// Everything that a new shape needs, and may fail: memory and the body's mass with it.
static CnStatus prepare_shape(CniModel *model, int32_t body, const CnShapeDef *def, CniShape *shape,
                              CniBodyFrame *frame) {
  CNI_TRY(cni_array_reserve(&model->allocator, (void **)&model->shapes, &model->shape_capacity,
                            model->shape_count, model->shape_count + 1, sizeof(CniShape)));
  CNI_TRY(cni_ids_reserve(&model->shape_ids, &model->allocator));
  CnPose com = cni_body_com(&model->bodies[body]);
  CNI_TRY(cni_shape_keep(model, shape, def->half_size, cni_shape_local_pose(com, def->pose),
                         def->pose));
  CNI_TRY(cni_body_frame(model, &model->bodies[body], -1, shape, frame));
  CNI_TRY(cni_body_frame_reserve(model, body, frame));
  if (shape->poses || cni_pose_is_one(frame->com)) return CN_OK;
  shape->poses = cni_allocate(&model->allocator, sizeof *shape->poses);
  if (!shape->poses) return cni_error_memory(sizeof *shape->poses);
  *shape->poses = (CniShapePoses){CN_POSE_ONE, CN_POSE_ONE};
  return CN_OK;
}

CnStatus cni_model_add_shape(CniModel *model, CnBodyId body_id, const CnShapeDef *given,
                             CnShapeId *id) {
  *id = (CnShapeId){0, 0};
  int32_t body, material = 0;
  CNI_TRY(cni_model_find_body(model, body_id, &body));
  CnShapeDef def = *given;
  CNI_TRY(cni_shape_def_check(&def));
  CNI_TRY(check_on_body(model, body, &def));
  if (def.material.slot != 0 || def.material.generation != 0)
    CNI_TRY(cni_model_find_material(model, def.material, &material));
  if (model->shape_count == INT32_MAX)
    return cni_error(CN_NO_MEMORY, "a world holds at most %d shapes", INT32_MAX);
  CniShape shape = shape_from(&def, body, material);
  CniBody *b = &model->bodies[body];
  CniBodyFrame frame;
  CnStatus status = prepare_shape(model, body, &def, &shape, &frame);
  if (status != CN_OK) {
    cni_shape_forget(model, &shape);
    return status;
  }

  int32_t i = model->shape_count++;
  shape.previous = b->last_shape;
  cni_ids_take(&model->shape_ids, i, &shape.slot, &shape.generation);
  model->shapes[i] = shape;
  model->materials[material].use_count++;

  // to the end of the body's list
  if (b->last_shape >= 0)
    model->shapes[b->last_shape].next = i;
  else
    b->first_shape = i;
  b->last_shape = i;
  b->shape_count++;
  cni_body_reframe(model, body, &frame);
  *id = (CnShapeId){shape.slot, shape.generation};
  return CN_OK;
}

void cni_shape_drop(CniModel *model, int32_t i) {
  CniShape *shape = &model->shapes[i];
  CniBody *b = &model->bodies[shape->body];
  model->materials[shape->material].use_count--;
  cni_ids_free(&model->shape_ids, shape->slot);
  *(shape->previous >= 0 ? &model->shapes[shape->previous].next : &b->first_shape) = shape->next;
  *(shape->next >= 0 ? &model->shapes[shape->next].previous : &b->last_shape) = shape->previous;
  b->shape_count--;
  cni_shape_forget(model, shape);

  // the last shape moves into the hole
  int32_t last = --model->shape_count;
  if (i == last) return;
  *shape = model->shapes[last];
  b = &model->bodies[shape->body];
  *(shape->previous >= 0 ? &model->shapes[shape->previous].next : &b->first_shape) = i;
  *(shape->next >= 0 ? &model->shapes[shape->next].previous : &b->last_shape) = i;
  cni_ids_move(&model->shape_ids, shape->slot, i);
}

CnStatus cni_model_remove_shape(CniModel *model, CnShapeId id) {
  int32_t i;
  CNI_TRY(cni_model_find_shape(model, id, &i));
  int32_t body = model->shapes[i].body;
  CniBodyFrame frame;
  CNI_TRY(cni_body_frame(model, &model->bodies[body], i, NULL, &frame));
  CNI_TRY(cni_body_frame_reserve(model, body, &frame));
  cni_shape_drop(model, i);
  cni_body_reframe(model, body, &frame);
  return CN_OK;
}

void cni_shapes_body_moved(CniModel *model, int32_t from, int32_t to) {
  (void)from;
  for (int32_t i = model->bodies[to].first_shape; i >= 0; i = model->shapes[i].next)
    model->shapes[i].body = to;
}
