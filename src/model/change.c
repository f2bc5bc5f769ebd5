// SPDX-License-Identifier: Apache-2.0
// What bodies and shapes were made with, changed between steps: mass, kind, whom a shape meets. The part
// itself does not jump (mass.c): its frame stays where it is and goes on as it did.
#include "model/model_private.h"

// A body's frame by its present definition: room for it, and then it is taken over.
static CnStatus frame_anew(CniModel *model, int32_t body) {
  CniBodyFrame frame;
  CNI_TRY(cni_body_frame(model, &model->bodies[body], -1, NULL, &frame));
  CNI_TRY(cni_body_frame_reserve(model, body, &frame));
  cni_body_reframe(model, body, &frame);
  return CN_OK;
}

CnStatus cni_model_set_mass(CniModel *model, int32_t body, CnBodyDef *mass) {
  CniBody *b = &model->bodies[body];
  CNI_TRY(cni_body_mass_check(mass));
  if (!b->detail) {
    CNI_TRY(cni_new(&model->allocator, sizeof *b->detail, &b->detail));
    *b->detail = (CniBodyDetail){.com = CN_POSE_ONE, .def_com = CN_POSE_ONE};
  }
  CniBodyDetail old = *b->detail;
  b->detail->def_mass = mass->mass;
  b->detail->def_com = mass->mass > 0 ? mass->com : CN_POSE_ONE;
  b->detail->def_inertia = mass->mass > 0 ? mass->inertia : (CnSym3){0};
  CnStatus status = frame_anew(model, body);
  if (status != CN_OK) *b->detail = old;
  return status;
}

// ---- kinds ----

static int is_dynamic(const CniModel *model, int32_t body) {
  return body >= 0 && model->bodies[body].kind == CN_BODY_DYNAMIC;
}

static CnStatus check_links(const CniModel *model, int32_t body, const char *label) {
  for (int32_t i = model->bodies[body].first_joint; i >= 0;) {
    const CniJoint *joint = &model->joints[i];
    int on_a = joint->body_a == body;
    if (!is_dynamic(model, on_a ? joint->body_b : joint->body_a))
      return cni_invalid("%s must stay dynamic: joint '%s' (slot %u) would move nothing", label,
                         joint->name, (unsigned)joint->slot);
    i = on_a ? joint->next_a : joint->next_b;
  }
  CnBodyId id = cni_body_id(model, body);
  for (int32_t i = 0; i < model->force_count; i++) {
    const CnForceDef *def = &model->forces[i].def;
    int on_a = def->body_a.slot == id.slot, on_b = def->body_b.slot == id.slot;
    CnBodyId other = on_a ? def->body_b : def->body_a;
    if (!on_a && !on_b) continue;
    if (!is_dynamic(model, cni_ids_find(&model->body_ids, other.slot, other.generation)))
      return cni_invalid("%s must stay dynamic: force '%s' (slot %u) would move nothing", label,
                         model->forces[i].name, (unsigned)model->forces[i].slot);
  }
  return CN_OK;
}

// May its shapes be on a dynamic body?
static CnStatus check_shapes(const CniModel *model, int32_t body, const char *label) {
  for (int32_t i = model->bodies[body].first_shape; i >= 0; i = model->shapes[i].next) {
    const CniShape *s = &model->shapes[i];
    CniPlaced placed = cni_shape_at(s, CN_POSE_ONE);
    int open = placed.mesh && (!placed.mesh->closed || !(placed.mesh->volume > 0));
    if (cni_shape_unbounded(s->kind) || open)
      return cni_invalid("%s cannot become dynamic: its %s (shape of slot %u) encloses no volume",
                         label, cni_shape_kinds[s->kind]->name, (unsigned)s->slot);
  }
  return CN_OK;
}

CnStatus cni_model_set_kind(CniModel *model, int32_t body, CnBodyKind kind) {
  CniBody *b = &model->bodies[body];
  CnBodyKind old = b->kind;
  char label[CNI_NAME_SIZE + 16];
  cni_model_body_label(model, body, label);
  if ((uint32_t)kind > CN_BODY_FIXED)
    return cni_invalid("%s cannot become of the kind %d: there is none", label, (int)kind);
  if (kind == old) return CN_OK;
  if (old == CN_BODY_DYNAMIC) CNI_TRY(check_links(model, body, label));
  if (kind == CN_BODY_DYNAMIC) CNI_TRY(check_shapes(model, body, label));
  if (b->continuous) return cni_invalid("%s must stay dynamic: it is continuous", label);
  b->kind = (uint16_t)kind;
  model->edits++;
  CnStatus status = frame_anew(model, body);
  if (status != CN_OK) {
    b->kind = (uint16_t)old;
    return status;
  }
  const CnTwist rest = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  if (kind == CN_BODY_FIXED) model->twist[body] = rest;
  if (kind != CN_BODY_DYNAMIC && model->load) model->load[body] = rest;
  if (kind != CN_BODY_KINEMATIC) cni_motions_drop(model, cni_body_id(model, body));
  return CN_OK;
}

CnStatus cni_model_set_filter(CniModel *model, int32_t shape, uint32_t category, uint32_t mask) {
  CniShape *s = &model->shapes[shape];
  int usual = category == CNI_USUAL_CATEGORY && mask == CNI_USUAL_MASK;
  if (usual && !s->extra) return CN_OK;
  CNI_TRY(cni_shape_extra_reserve(model, s));
  s->extra->category = category;
  s->extra->mask = mask;
  return CN_OK;
}

// ---- joints ----

static int same_body(CnBodyId a, CnBodyId b) {
  return a.slot == b.slot && a.generation == b.generation;
}

static int same_pose(CnPose a, CnPose b) { return memcmp(&a, &b, sizeof a) == 0; }

CnStatus cni_check_same_pair(const char *sort, const CniBodyPair *old, const CniBodyPair *given) {
  const char *other = NULL;
  if (!same_pose(given->frame_b, old->frame_b)) other = "frame_b";
  if (!same_pose(given->frame_a, old->frame_a)) other = "frame_a";
  if (!same_body(given->body_b, old->body_b)) other = "body_b";
  if (!same_body(given->body_a, old->body_a)) other = "body_a";
  if (given->kind != old->kind) other = "kind";
  if (!other) return CN_OK;
  return cni_invalid("%s: %s is not that of the %s: destroy it and make another", sort, other,
                     sort);
}

CnStatus cni_model_set_joint(CniModel *model, CnJointId id, const CnJointDef *given) {
  int32_t i;
  CNI_TRY(cni_model_find_joint(model, id, &i));
  CniJoint joint = model->joints[i];
  const CnJointDef *old = &model->joints[i].def;
  CNI_TRY(cni_def_check("joint", given, sizeof *given, CNI_TAG_JOINT));
  joint.def = *given;
  CNI_TRY(cni_joint_def_check(&joint.def));
  const CniBodyPair pairs[2] = {CNI_BODY_PAIR_OF(*old), CNI_BODY_PAIR_OF(joint.def)};
  CNI_TRY(cni_check_same_pair("joint", &pairs[0], &pairs[1]));
  CNI_TRY(cni_joint_check_functions(model, &joint.def));
  CNI_TRY(cni_joint_find_curves(model, &joint));
  CNI_TRY(cni_joint_fit(model, &joint));
  joint.def.name = NULL;
  cni_joint_use_curves(&model->joints[i], -1);
  cni_joint_use_curves(&joint, 1);
  if (memcmp(joint.curves, model->joints[i].curves, sizeof joint.curves) != 0)
    cni_joint_look_along(model, &joint);
  model->joints[i] = joint;
  model->edits++;
  return CN_OK;
}
