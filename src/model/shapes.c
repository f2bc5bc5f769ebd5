// SPDX-License-Identifier: Apache-2.0
// Shapes on bodies. A shape keeps its definition (in the body frame, as the user gave it) and its
// pose in the frame of the centre of mass, which is what every step reads. A body's shapes are a
// doubly linked list through the dense array, in order of creation; before the first one comes the
// last, so that a new one finds its place at once.
#include "model/model_private.h"

static const char *kind_name(int32_t index) { return cn_shape_kind_name((CnShapeKind)index); }

const CniField cni_shape_fields[] = {
    CNI_FIELD(CHOICE, CnShapeDef, kind, ANY, "", "what it is", .table = kind_name),
    CNI_FIELD(POSE, CnShapeDef, pose, ANY, "m", "of its frame in the body frame"),
    CNI_FIELD(REAL, CnShapeDef, density, NOT_NEGATIVE, "kg/m^3", "mass a volume",
              .fallback = {1000}),
    CNI_FIELD(BITS, CnShapeDef, category, ANY, "",
              "bits; two shapes meet if each one's category is in the other's mask",
              .fallback = {CNI_USUAL_CATEGORY}),
    CNI_FIELD(BITS, CnShapeDef, mask, ANY, "", "bits of the categories that it meets",
              .fallback = {CNI_USUAL_MASK}),
    CNI_FIELD(FLAG, CnShapeDef, trigger, ANY, "",
              "it tells what overlaps it, exchanges no impulse and weighs nothing"),
    CNI_FIELDS_END,
};

CnShapeDef cn_shape_def_default(CnShapeKind kind) {
  CnShapeDef def = {.size = sizeof def, .tag = CNI_TAG_SHAPE};
  cni_fields_default(cni_shape_fields, &def);
  def.kind = kind;
  return def;
}

CnPose cni_shape_local_pose(CnPose com, CnPose def_pose) {
  CnPose pose = cn_pose_mul(cn_pose_inverse(com), def_pose);
  cni_check_pose("pose", &pose);
  return pose;
}

CnShapeDef cni_model_shape_def(const CniModel *model, int32_t shape) {
  const CniShape *s = &model->shapes[shape];
  const CniMaterial *m = &model->materials[s->material];
  CnShapeDef def = cn_shape_def_default(s->kind);
  CniPlaced placed = cni_shape_at(s, cni_shape_def_pose(s));
  def.pose = placed.pose;
  def.density = s->density;
  def.material = (CnMaterialId){m->slot, m->generation}; // none for the default material
  def.category = cni_shape_category(s);
  def.mask = cni_shape_mask(s);
  def.trigger = cni_shape_trigger(s);
  cni_shape_unpack(placed.size, &def);
  const CniGeometry *g = s->extra ? s->extra->geometry : NULL;
  if (g) def.geometry = (CnGeometryId){g->slot, g->generation};
  return def;
}

CniPlaced cni_model_placed(const CniModel *model, int32_t shape, const CnPose *body_pose) {
  const CniShape *s = &model->shapes[shape];
  const CniShapePoses *poses = cni_shape_poses(s);
  CnPose pose = poses ? cn_pose_mul(*body_pose, poses->pose) : *body_pose;
  return cni_shape_at(s, pose);
}

CnStatus cni_shape_def_check(CnShapeDef *def) {
  CNI_TRY(cni_fields_check(cni_shape_fields, "shape", def));
  return cni_shape_check(def);
}

static CnStatus check_on_body(const CniModel *model, int32_t body, const CnShapeDef *def) {
  char label[CNI_NAME_SIZE + 16];
  if (model->bodies[body].kind != CN_BODY_DYNAMIC) return CN_OK;
  cni_model_body_label(model, body, label);
  CniGeometry *g = NULL;
  if (cni_shape_is_surface(def->kind)) CNI_TRY(cni_model_geometry_of(model, def, &g));
  if (g && (!g->mesh->closed || !(g->mesh->volume > 0)))
    return cni_invalid(
        "shape: its mesh%s%s%s cannot be on %s, which is dynamic: it encloses no volume",
        g->name[0] ? " '" : "", g->name, g->name[0] ? "'" : "", label);
  if (!cni_shape_unbounded(def->kind)) return CN_OK;
  return cni_invalid("shape: a %s cannot be on %s, which is dynamic",
                     cni_shape_kinds[def->kind]->name, label);
}

// ---- what a shape keeps beside its common fields ----

CnStatus cni_shape_extra_reserve(const CniModel *model, CniShape *shape) {
  if (shape->extra) return CN_OK;
  shape->extra = cni_allocate(&model->allocator, sizeof *shape->extra);
  if (!shape->extra) return cni_error_memory(sizeof *shape->extra);
  *shape->extra = (CniShapeExtra){.category = CNI_USUAL_CATEGORY, .mask = CNI_USUAL_MASK};
  return CN_OK;
}

CnStatus cni_shape_poses_reserve(const CniModel *model, CniShape *shape) {
  CNI_TRY(cni_shape_extra_reserve(model, shape));
  if (shape->extra->poses) return CN_OK;
  CniShapePoses *poses = cni_allocate(&model->allocator, sizeof *poses);
  if (!poses) return cni_error_memory(sizeof *poses);
  *poses = (CniShapePoses){CN_POSE_ONE, CN_POSE_ONE};
  shape->extra->poses = poses;
  return CN_OK;
}

// The same for a shape: size, category and mask as in `extra`, whose own poses are not read.
static CnStatus keep_shape(const CniModel *model, CniShape *shape, const CniShapeExtra *extra,
                           CnPose pose, CnPose def_pose) {
  int sized = shape->kind != CN_SHAPE_SPHERE && cni_shape_kinds[shape->kind]->fields->name;
  int placed = !cni_pose_is_one(pose) || !cni_pose_is_one(def_pose);
  int usual =
      extra->category == CNI_USUAL_CATEGORY && extra->mask == CNI_USUAL_MASK && !extra->trigger;
  shape->extra = NULL;
  if (!sized && !placed && usual && !extra->geometry) return CN_OK;
  CNI_TRY(cni_shape_extra_reserve(model, shape));
  shape->extra->category = extra->category;
  shape->extra->mask = extra->mask;
  shape->extra->trigger = extra->trigger;
  shape->extra->geometry = extra->geometry;
  memcpy(shape->extra->size, extra->size, sizeof extra->size);
  if (sized) {
    CniPlaced there = cni_shape_at(shape, CN_POSE_ONE);
    shape->extra->inradius = cni_shape_inradius(&there);
    shape->extra->outradius = cni_shape_outradius(&there);
  }
  if (!placed) return CN_OK;
  CnStatus status = cni_shape_poses_reserve(model, shape);
  if (status == CN_OK)
    *shape->extra->poses = (CniShapePoses){pose, def_pose};
  else
    cni_shape_forget(model, shape);
  return status;
}

// What a definition says, with the pose in the frame of the centre of mass.
static CnStatus take_def(const CniModel *model, const CnShapeDef *def, CnPose pose,
                         CniShape *shape) {
  CniShapeExtra extra = {.category = def->category, .mask = def->mask, .trigger = def->trigger};
  CNI_TRY(cni_model_geometry_of(model, def, &extra.geometry));
  cni_shape_pack(def, extra.size);
  shape->kind = def->kind;
  shape->radius = def->kind == CN_SHAPE_SPHERE ? def->radius : 0;
  shape->density = def->density;
  return keep_shape(model, shape, &extra, pose, def->pose);
}

CnStatus cni_shape_from_def(const CniModel *model, const CnShapeDef *def, CniShape *shape) {
  return take_def(model, def, CN_POSE_ONE, shape);
}

void cni_shape_forget(const CniModel *model, CniShape *shape) {
  if (!shape->extra) return;
  cni_release(&model->allocator, shape->extra->poses, sizeof *shape->extra->poses);
  cni_release(&model->allocator, shape->extra, sizeof *shape->extra);
  shape->extra = NULL;
}

// ---- adding and removing ----

// Everything that a new shape needs, and may fail: memory and the body's mass with it.
static CnStatus prepare_shape(CniModel *model, int32_t body, const CnShapeDef *def, CniShape *shape,
                              CniBodyFrame *frame) {
  CNI_TRY(CNI_RESERVE(&model->allocator, model->shapes, model->shape_capacity, model->shape_count,
                      model->shape_count + 1));
  CNI_TRY(cni_ids_reserve(&model->shape_ids, &model->allocator));
  CnPose com = cni_body_com(&model->bodies[body]);
  CNI_TRY(take_def(model, def, cni_shape_local_pose(com, def->pose), shape));
  CNI_TRY(cni_body_frame(model, &model->bodies[body], -1, shape, frame));
  CNI_TRY(cni_body_frame_reserve(model, body, frame));
  return cni_pose_is_one(frame->com) ? CN_OK : cni_shape_poses_reserve(model, shape);
}

// To the end of the body's list.
static void list_shape(CniModel *model, CniBody *body, int32_t i) {
  CniShape *shapes = model->shapes;
  int32_t last = i;
  if (body->first_shape >= 0) {
    last = shapes[body->first_shape].previous;
    shapes[last].next = i;
  } else {
    body->first_shape = i;
  }
  shapes[i].previous = last;
  shapes[body->first_shape].previous = i;
}

CnStatus cni_model_add_shape(CniModel *model, CnBodyId body_id, const CnShapeDef *given,
                             CnShapeId *id) {
  *id = (CnShapeId){0, 0};
  int32_t body, material = 0;
  CNI_TRY(cni_model_find_body(model, body_id, &body));
  CNI_TRY(cni_def_check("shape", given, sizeof *given, CNI_TAG_SHAPE));
  CnShapeDef def = *given;
  CNI_TRY(cni_shape_def_check(&def));
  CNI_TRY(check_on_body(model, body, &def));
  if (def.material.slot != 0 || def.material.generation != 0)
    CNI_TRY(cni_model_find_material(model, def.material, &material));
  if (model->shape_count == INT32_MAX)
    return cni_error(CN_NO_MEMORY, "a world holds at most %d shapes", INT32_MAX);
  CniShape shape = {.body = body, .next = -1, .material = material};
  CniBody *b = &model->bodies[body];
  CniBodyFrame frame;
  CnStatus status = prepare_shape(model, body, &def, &shape, &frame);
  if (status != CN_OK) {
    cni_shape_forget(model, &shape);
    return status;
  }

  int32_t i = model->shape_count++;
  model->edits++;
  uint32_t generation;
  cni_ids_take(&model->shape_ids, i, &shape.slot, &generation);
  model->shapes[i] = shape;
  model->materials[material].use_count++;
  model->trigger_count += cni_shape_trigger(&shape);
  if (shape.extra && shape.extra->geometry) shape.extra->geometry->use_count++;
  list_shape(model, b, i);
  cni_body_reframe(model, body, &frame);
  *id = (CnShapeId){shape.slot, generation};
  return CN_OK;
}

void cni_shape_drop(CniModel *model, int32_t i) {
  model->edits++;
  CniShape *shape = &model->shapes[i];
  CniBody *b = &model->bodies[shape->body];
  model->materials[shape->material].use_count--;
  model->trigger_count -= cni_shape_trigger(shape);
  if (shape->extra && shape->extra->geometry) shape->extra->geometry->use_count--;
  cni_ids_free(&model->shape_ids, shape->slot);
  if (b->first_shape == i)
    b->first_shape = shape->next;
  else
    model->shapes[shape->previous].next = shape->next;
  int32_t after = shape->next >= 0 ? shape->next : b->first_shape;
  if (after >= 0) model->shapes[after].previous = shape->previous;
  cni_shape_forget(model, shape);

  // the last shape moves into the hole
  int32_t last = --model->shape_count;
  if (i == last) return;
  *shape = model->shapes[last];
  b = &model->bodies[shape->body];
  if (b->first_shape == last)
    b->first_shape = i;
  else
    model->shapes[shape->previous].next = i;
  model->shapes[shape->next >= 0 ? shape->next : b->first_shape].previous = i;
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

int32_t cni_model_shape_count(const CniModel *model, int32_t body) {
  int32_t count = 0;
  for (int32_t i = model->bodies[body].first_shape; i >= 0; i = model->shapes[i].next) count++;
  return count;
}

void cni_shapes_body_moved(CniModel *model, int32_t from, int32_t to) {
  (void)from;
  for (int32_t i = model->bodies[to].first_shape; i >= 0; i = model->shapes[i].next)
    model->shapes[i].body = to;
}
