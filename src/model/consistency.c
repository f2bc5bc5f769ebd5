// SPDX-License-Identifier: Apache-2.0
// Does a model fit together? Used on data that comes from outside, so nothing is believed: an index
// is compared with its range before it is followed, a list is walked at most as many steps as there
// are things.
//
// Why counting is enough for lists: a walk that ends has met nothing twice (the way on from a thing
// is always the same, so a second visit would go round for ever). If every thing met belongs to the
// body whose list it is in, and the visits add up to all the memberships there are, every thing is
// in its lists exactly once.
#include <stdio.h>
#include <string.h>

#include "model/model_private.h"

CnStatus cni_damaged(const char *kind, int32_t index, const char *what) {
  return cni_bad_data("%s %d: %s", kind, (int)index, what);
}

CnStatus cni_damaged_numbers(const char *kind, int32_t index) {
  char text[256];
  snprintf(text, sizeof text, "%s", cn_error_message());
  return cni_damaged(kind, index, text);
}

// ---- ids ----

static CnStatus check_id(const CniIds *ids, const char *kind, int32_t index, uint32_t slot,
                         uint32_t generation) {
  if (cni_ids_find(ids, slot, generation) != index)
    return cni_damaged(kind, index, "its id leads elsewhere");
  return CN_OK;
}

CnStatus cni_check_named(const CniIds *ids, const char *kind, int32_t index, uint32_t slot,
                         uint32_t generation, const char name[CNI_NAME_SIZE]) {
  CNI_TRY(check_id(ids, kind, index, slot, generation));
  return memchr(name, 0, CNI_NAME_SIZE) ? CN_OK : cni_damaged(kind, index, "its name does not end");
}

// Of bodies and shapes, whose generation is kept in the slot alone.
static CnStatus check_slot(const CniIds *ids, const char *kind, int32_t index, uint32_t slot) {
  int there = slot > 0 && slot <= (uint32_t)ids->slot_count;
  return check_id(ids, kind, index, slot, there ? ids->slots[slot - 1].generation : 0);
}

CnStatus cni_check_slots(const CniIds *ids, const char *kind, int32_t count) {
  int32_t used = 0, given_up = 0, free_slots = 0;
  for (int32_t i = 0; i < ids->slot_count; i++) {
    used += (int32_t)(ids->slots[i].generation & 1u);
    given_up += ids->slots[i].generation == 0;
  }
  if (used != count) return cni_damaged(kind, used, "slots in use do not match the count");
  for (int32_t i = ids->first_free; i != -1; i = ids->slots[i].index) {
    if (i < 0 || i >= ids->slot_count || (ids->slots[i].generation & 1u) ||
        ids->slots[i].generation == 0 || free_slots++ >= ids->slot_count)
      return cni_damaged(kind, i, "the list of free slots is broken");
  }
  if (used + free_slots + given_up != ids->slot_count)
    return cni_damaged(kind, free_slots, "the list of free slots is not complete");
  return CN_OK;
}

// ---- lists ----

static CnStatus check_shape_list(const CniModel *model, int32_t body, int32_t *visits) {
  const CniBody *b = &model->bodies[body];
  int32_t last = -1, count = 0;
  for (int32_t i = b->first_shape; i != -1; i = model->shapes[i].next) {
    if (i < 0 || i >= model->shape_count || count++ >= model->shape_count ||
        model->shapes[i].body != body || (count > 1 && model->shapes[i].previous != last))
      return cni_damaged("body", body, "its list of shapes is broken");
    last = i;
  }
  if (last >= 0 && model->shapes[b->first_shape].previous != last)
    return cni_damaged("body", body, "its list of shapes has another end");
  *visits += count;
  return CN_OK;
}

static CnStatus check_joint_list(const CniModel *model, int32_t body, int64_t *visits) {
  int32_t count = 0;
  for (int32_t i = model->bodies[body].first_joint; i != -1;) {
    if (i < 0 || i >= model->joint_count || count++ >= model->joint_count)
      return cni_damaged("body", body, "its list of joints is broken");
    const CniJoint *joint = &model->joints[i];
    if (joint->body_a != body && joint->body_b != body)
      return cni_damaged("body", body, "a joint in its list is not its own");
    i = joint->body_a == body ? joint->next_a : joint->next_b;
  }
  *visits += count;
  return CN_OK;
}

// ---- things ----

int cni_same_rotation(CnPose a, CnPose b) {
  CnQuat p = a.rotation, q = b.rotation;
  return p.w == q.w && p.x == q.x && p.y == q.y && p.z == q.z;
}

static CnStatus check_body_state(const CniModel *model, int32_t i) {
  CnPose pose = model->pose[i];
  CnTwist twist = model->twist[i], load = cni_model_load(model, i);
  if (cni_check_pose("pose", &pose) != CN_OK || cni_check_twist("twist", &twist) != CN_OK ||
      cni_check_twist("load", &load) != CN_OK)
    return cni_damaged_numbers("body", i);
  if (!(fabs(cn_qnorm2(model->pose[i].rotation) - 1) <= 1e-12))
    return cni_damaged("body", i, "its rotation is not of length one");
  int moves = cn_norm2(twist.velocity) != 0 || cn_norm2(twist.spin) != 0;
  if (model->bodies[i].kind == CN_BODY_FIXED && moves)
    return cni_damaged("body", i, "it is fixed and moves");
  return CN_OK;
}

static CnStatus check_body(const CniModel *model, int32_t i) {
  const CniBody *b = &model->bodies[i];
  CNI_TRY(check_slot(&model->body_ids, "body", i, b->slot));
  if ((uint32_t)b->kind > CN_BODY_FIXED) return cni_damaged("body", i, "its kind is none");
  if (b->detail) {
    CnBodyDef def = cn_body_def_default();
    def.mass = b->detail->def_mass;
    def.com = b->detail->def_com;
    def.inertia = b->detail->def_inertia;
    if (cni_body_mass_check(&def) != CN_OK) return cni_damaged_numbers("body", i);
    if (!cni_same_rotation(def.com, b->detail->def_com))
      return cni_damaged("body", i, "the axes of its inertia are not of length one");
  }
  return check_body_state(model, i);
}

static CnStatus check_shape(const CniModel *model, int32_t i) {
  const CniShape *s = &model->shapes[i];
  CNI_TRY(check_slot(&model->shape_ids, "shape", i, s->slot));
  if (s->body < 0 || s->body >= model->body_count) return cni_damaged("shape", i, "it has no body");
  if (s->material < 0 || s->material >= model->material_count)
    return cni_damaged("shape", i, "it has no material");
  if ((uint32_t)s->kind >= CN_SHAPE_KIND_COUNT) return cni_damaged("shape", i, "its kind is none");
  CnShapeDef def = cni_model_shape_def(model, i);
  if (cni_shape_def_check(&def) != CN_OK) return cni_damaged_numbers("shape", i);
  if (!cni_same_rotation(def.pose, cni_shape_def_pose(s)))
    return cni_damaged("shape", i, "its rotation is not of length one");
  if (cni_shape_unbounded(def.kind) && model->bodies[s->body].kind == CN_BODY_DYNAMIC)
    return cni_damaged("shape", i, "it is unbounded, on a dynamic body");
  return CN_OK;
}

static CnStatus check_material(const CniModel *model, int32_t i) {
  const CniMaterial *m = &model->materials[i];
  if (i > 0) CNI_TRY(check_id(&model->material_ids, "material", i, m->slot, m->generation));
  if (i == 0 && (m->slot != 0 || m->generation != 0))
    return cni_damaged("material", i, "the default material has an id");
  if (!memchr(m->name, 0, sizeof m->name))
    return cni_damaged("material", i, "its name does not end");
  if (cni_material_def_check(&m->def) != CN_OK) return cni_damaged_numbers("material", i);
  CnFunctionId id = m->def.surface_function;
  if (id.slot != 0 && cni_ids_find(&model->function_ids, id.slot, id.generation) < 0)
    return cni_damaged("material", i, "its function names nothing");
  return CN_OK;
}

static CnStatus check_joint(const CniModel *model, int32_t i) {
  const CniJoint *j = &model->joints[i];
  CNI_TRY(cni_check_named(&model->joint_ids, "joint", i, j->slot, j->generation, j->name));
  int32_t a = -1, b = -1;
  const CnJointDef *def = &j->def;
  a = cni_ids_find(&model->body_ids, def->body_a.slot, def->body_a.generation);
  b = cni_ids_find(&model->body_ids, def->body_b.slot, def->body_b.generation);
  if ((def->body_a.slot != 0 && a < 0) || (def->body_b.slot != 0 && b < 0))
    return cni_damaged("joint", i, "a body of it names nothing");
  if (a >= model->body_count || b >= model->body_count || a == b || a != j->body_a ||
      b != j->body_b)
    return cni_damaged("joint", i, "its bodies are wrong");
  if ((a < 0 || model->bodies[a].kind != CN_BODY_DYNAMIC) &&
      (b < 0 || model->bodies[b].kind != CN_BODY_DYNAMIC))
    return cni_damaged("joint", i, "no body of it is dynamic");
  CnJointDef copy = *def;
  if (cni_joint_def_check(&copy) != CN_OK) return cni_damaged_numbers("joint", i);
  if (!cni_same_rotation(copy.frame_a, def->frame_a) ||
      !cni_same_rotation(copy.frame_b, def->frame_b))
    return cni_damaged("joint", i, "a frame's rotation is not of length one");
  CniJoint again = {.def = *def};
  if (cni_joint_find_curves(model, &again) != CN_OK) return cni_damaged_numbers("joint", i);
  if (cni_joint_kind(def->kind)->curves && def->side == CN_SIDE_PRESENT)
    return cni_damaged("joint", i, "the side of its follower is not known");
  if (cni_joint_kind(def->kind)->apart && !cni_joint_kind(def->kind)->curves &&
      !(def->distance > 0))
    return cni_damaged("joint", i, "its distance is zero");
  int finite = cn_vec3_finite(j->total.velocity) && cn_vec3_finite(j->total.spin) &&
               cn_vec3_finite(j->carried);
  for (int32_t k = 0; k < CNI_JOINT_LOCKED; k++) finite &= isfinite(j->impulse.locked[k]) != 0;
  for (int32_t k = 0; k < CN_JOINT_AXES; k++)
    finite &= isfinite(cni_joint_effort(j->impulse.axes[k])) != 0 &&
              isfinite(cni_joint_effort(j->drift[k])) != 0 && isfinite(j->near[k]) != 0;
  if (!finite) return cni_damaged("joint", i, "its impulse is not finite");
  if (!isfinite(j->impulse_step) || j->impulse_step < 0)
    return cni_damaged("joint", i, "the step of its impulse is no time");
  return CN_OK;
}

CnStatus cni_model_consistent(const CniModel *model) {
  CNI_TRY(cni_check_slots(&model->body_ids, "body", model->body_count));
  CNI_TRY(cni_check_slots(&model->shape_ids, "shape", model->shape_count));
  CNI_TRY(cni_check_slots(&model->material_ids, "material", model->material_count - 1));
  CNI_TRY(cni_check_slots(&model->joint_ids, "joint", model->joint_count));
  CNI_TRY(cni_shared_consistent(model));
  int64_t uses = 0, ends = 0, joint_visits = 0;
  int32_t shape_visits = 0;
  for (int32_t i = 0; i < model->body_count; i++) CNI_TRY(check_body(model, i));
  for (int32_t i = 0; i < model->material_count; i++) {
    CNI_TRY(check_material(model, i));
    uses += model->materials[i].use_count;
    if (model->materials[i].use_count < 0)
      return cni_damaged("material", i, "used less than never");
  }
  for (int32_t i = 0; i < model->shape_count; i++) CNI_TRY(check_shape(model, i));
  for (int32_t i = 0; i < model->joint_count; i++) {
    CNI_TRY(check_joint(model, i));
    ends += (model->joints[i].body_a >= 0) + (model->joints[i].body_b >= 0);
  }
  for (int32_t i = 0; i < model->body_count; i++) {
    CNI_TRY(check_shape_list(model, i, &shape_visits));
    CNI_TRY(check_joint_list(model, i, &joint_visits));
  }
  CNI_TRY(cni_links_consistent(model));
  if (shape_visits != model->shape_count)
    return cni_damaged("shape", shape_visits, "not in a list");
  if (joint_visits != ends) return cni_damaged("joint", (int32_t)joint_visits, "not in its lists");
  if (uses != model->shape_count) return cni_damaged("material", 0, "uses and shapes differ");
  return CN_OK;
}
