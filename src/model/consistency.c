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

static CnStatus damaged(const char *kind, int32_t index, const char *what) {
  return cni_bad_data("%s %d: %s", kind, (int)index, what);
}

// A failed check of numbers becomes damage, its sentence kept.
static CnStatus damaged_numbers(const char *kind, int32_t index) {
  char text[256];
  snprintf(text, sizeof text, "%s", cn_error_message());
  return damaged(kind, index, text);
}

// ---- ids ----

static CnStatus check_id(const CniIds *ids, const char *kind, int32_t index, uint32_t slot,
                         uint32_t generation) {
  if (cni_ids_find(ids, slot, generation) != index)
    return damaged(kind, index, "its id leads elsewhere");
  return CN_OK;
}

// Of things with names: these end too.
static CnStatus check_named(const CniIds *ids, const char *kind, int32_t index, uint32_t slot,
                            uint32_t generation, const char name[CNI_NAME_SIZE]) {
  CNI_TRY(check_id(ids, kind, index, slot, generation));
  return memchr(name, 0, CNI_NAME_SIZE) ? CN_OK : damaged(kind, index, "its name does not end");
}

// Of bodies and shapes, whose generation is kept in the slot alone.
static CnStatus check_slot(const CniIds *ids, const char *kind, int32_t index, uint32_t slot) {
  int there = slot > 0 && slot <= (uint32_t)ids->slot_count;
  return check_id(ids, kind, index, slot, there ? ids->slots[slot - 1].generation : 0);
}

// Every slot is in use, in the free list, or given up (generation 0: it has gone round); those in
// use are as many as the things.
static CnStatus check_slots(const CniIds *ids, const char *kind, int32_t count) {
  int32_t used = 0, given_up = 0, free_slots = 0;
  for (int32_t i = 0; i < ids->slot_count; i++) {
    used += (int32_t)(ids->slots[i].generation & 1u);
    given_up += ids->slots[i].generation == 0;
  }
  if (used != count) return damaged(kind, used, "slots in use do not match the count");
  for (int32_t i = ids->first_free; i != -1; i = ids->slots[i].index) {
    if (i < 0 || i >= ids->slot_count || (ids->slots[i].generation & 1u) ||
        ids->slots[i].generation == 0 || free_slots++ >= ids->slot_count)
      return damaged(kind, i, "the list of free slots is broken");
  }
  if (used + free_slots + given_up != ids->slot_count)
    return damaged(kind, free_slots, "the list of free slots is not complete");
  return CN_OK;
}

// ---- lists ----

static CnStatus check_shape_list(const CniModel *model, int32_t body, int32_t *visits) {
  const CniBody *b = &model->bodies[body];
  int32_t last = -1, count = 0;
  for (int32_t i = b->first_shape; i != -1; i = model->shapes[i].next) {
    if (i < 0 || i >= model->shape_count || count++ >= model->shape_count ||
        model->shapes[i].body != body || (count > 1 && model->shapes[i].previous != last))
      return damaged("body", body, "its list of shapes is broken");
    last = i;
  }
  if (last >= 0 && model->shapes[b->first_shape].previous != last)
    return damaged("body", body, "its list of shapes has another end");
  *visits += count;
  return CN_OK;
}

static CnStatus check_joint_list(const CniModel *model, int32_t body, int64_t *visits) {
  int32_t count = 0;
  for (int32_t i = model->bodies[body].first_joint; i != -1;) {
    if (i < 0 || i >= model->joint_count || count++ >= model->joint_count)
      return damaged("body", body, "its list of joints is broken");
    const CniJoint *joint = &model->joints[i];
    if (joint->body_a != body && joint->body_b != body)
      return damaged("body", body, "a joint in its list is not its own");
    i = joint->body_a == body ? joint->next_a : joint->next_b;
  }
  *visits += count;
  return CN_OK;
}

// ---- things ----

static int same_rotation(CnPose a, CnPose b) {
  CnQuat p = a.rotation, q = b.rotation;
  return p.w == q.w && p.x == q.x && p.y == q.y && p.z == q.z;
}

static CnStatus check_body_state(const CniModel *model, int32_t i) {
  CnPose pose = model->pose[i];
  CnTwist twist = model->twist[i], load = cni_model_load(model, i);
  if (cni_check_pose("pose", &pose) != CN_OK || cni_check_twist("twist", &twist) != CN_OK ||
      cni_check_twist("load", &load) != CN_OK)
    return damaged_numbers("body", i);
  if (!(fabs(cn_qnorm2(model->pose[i].rotation) - 1) <= 1e-12))
    return damaged("body", i, "its rotation is not of length one");
  int moves = cn_norm2(twist.velocity) != 0 || cn_norm2(twist.spin) != 0;
  if (model->bodies[i].kind == CN_BODY_FIXED && moves)
    return damaged("body", i, "it is fixed and moves");
  return CN_OK;
}

static CnStatus check_body(const CniModel *model, int32_t i) {
  const CniBody *b = &model->bodies[i];
  CNI_TRY(check_slot(&model->body_ids, "body", i, b->slot));
  if ((uint32_t)b->kind > CN_BODY_FIXED) return damaged("body", i, "its kind is none");
  if (b->detail) {
    CnBodyDef def = cn_body_def_default();
    def.mass = b->detail->def_mass;
    def.com = b->detail->def_com;
    def.inertia = b->detail->def_inertia;
    if (cni_body_mass_check(&def) != CN_OK) return damaged_numbers("body", i);
    if (!same_rotation(def.com, b->detail->def_com))
      return damaged("body", i, "the axes of its inertia are not of length one");
  }
  return check_body_state(model, i);
}

static CnStatus check_shape(const CniModel *model, int32_t i) {
  const CniShape *s = &model->shapes[i];
  CNI_TRY(check_slot(&model->shape_ids, "shape", i, s->slot));
  if (s->body < 0 || s->body >= model->body_count) return damaged("shape", i, "it has no body");
  if (s->material < 0 || s->material >= model->material_count)
    return damaged("shape", i, "it has no material");
  if ((uint32_t)s->kind >= CN_SHAPE_KIND_COUNT) return damaged("shape", i, "its kind is none");
  CnShapeDef def = cni_model_shape_def(model, i);
  if (cni_shape_def_check(&def) != CN_OK) return damaged_numbers("shape", i);
  if (!same_rotation(def.pose, cni_shape_def_pose(s)))
    return damaged("shape", i, "its rotation is not of length one");
  if (cni_shape_unbounded(def.kind) && model->bodies[s->body].kind == CN_BODY_DYNAMIC)
    return damaged("shape", i, "it is unbounded, on a dynamic body");
  return CN_OK;
}

static CnStatus check_material(const CniModel *model, int32_t i) {
  const CniMaterial *m = &model->materials[i];
  if (i > 0) CNI_TRY(check_id(&model->material_ids, "material", i, m->slot, m->generation));
  if (i == 0 && (m->slot != 0 || m->generation != 0))
    return damaged("material", i, "the default material has an id");
  if (!memchr(m->name, 0, sizeof m->name)) return damaged("material", i, "its name does not end");
  if (cni_material_def_check(&m->def) != CN_OK) return damaged_numbers("material", i);
  CnFunctionId id = m->def.surface_function;
  if (id.slot != 0 && cni_ids_find(&model->function_ids, id.slot, id.generation) < 0)
    return damaged("material", i, "its function names nothing");
  return CN_OK;
}

static CnStatus check_geometries(const CniModel *model) {
  int64_t uses = 0;
  CNI_TRY(check_slots(&model->geometry_ids, "geometry", model->geometry_count));
  for (int32_t i = 0; i < model->geometry_count; i++) {
    const CniGeometry *g = model->geometries[i];
    CNI_TRY(check_named(&model->geometry_ids, "geometry", i, g->slot, g->generation, g->name));
    uses += g->use_count;
  }
  for (int32_t i = 0; i < model->shape_count; i++)
    uses -= model->shapes[i].extra && model->shapes[i].extra->geometry;
  return uses == 0 ? CN_OK : damaged("geometry", 0, "uses and shapes differ");
}

static CnStatus check_curves(const CniModel *model) {
  int64_t uses = 0;
  CNI_TRY(check_slots(&model->curve_ids, "curve", model->curve_count));
  for (int32_t i = 0; i < model->curve_count; i++) {
    const CniCurve *c = model->curves[i];
    CNI_TRY(check_named(&model->curve_ids, "curve", i, c->slot, c->generation, c->name));
    uses += c->use_count;
  }
  for (int32_t i = 0; i < model->joint_count; i++)
    uses -= (model->joints[i].curves[0] != NULL) + (model->joints[i].curves[1] != NULL);
  return uses == 0 ? CN_OK : damaged("curve", 0, "uses and joints differ");
}

static CnStatus check_functions(const CniModel *model) {
  CNI_TRY(check_slots(&model->function_ids, "function", model->function_count));
  for (int32_t i = 0; i < model->function_count; i++) {
    const CniFunction *f = &model->functions[i];
    CNI_TRY(check_named(&model->function_ids, "function", i, f->slot, f->generation, f->name));
  }
  for (int32_t i = 0; i < model->joint_count; i++)
    for (int32_t k = 0; k < CN_JOINT_AXES; k++) {
      CnFunctionId id = model->joints[i].def.axes[k].motor_function;
      if (id.slot != 0 && cni_ids_find(&model->function_ids, id.slot, id.generation) < 0)
        return damaged("joint", i, "a function of it names nothing");
    }
  return CN_OK;
}

static CnStatus check_couplings(const CniModel *model) {
  CNI_TRY(check_slots(&model->coupling_ids, "coupling", model->coupling_count));
  for (int32_t i = 0; i < model->coupling_count; i++) {
    const CniCoupling *c = &model->couplings[i];
    CNI_TRY(check_named(&model->coupling_ids, "coupling", i, c->slot, c->generation, c->name));
    if (cni_coupling_check(model, &c->def) != CN_OK) return damaged_numbers("coupling", i);
    if (!isfinite(c->impulse + c->drift) || !isfinite(c->impulse_step) || c->impulse_step < 0)
      return damaged("coupling", i, "its impulse is not finite");
  }
  return CN_OK;
}

static CnStatus check_disabled(const CniModel *model, int32_t i) {
  const CniDisabled *d = &model->disabled[i];
  if (cni_ids_find(&model->body_ids, d->a.slot, d->a.generation) < 0 ||
      cni_ids_find(&model->body_ids, d->b.slot, d->b.generation) < 0)
    return damaged("disabled pair", i, "a body of it is none");
  if (d->a.slot >= d->b.slot ||
      (i > 0 &&
       (d[-1].a.slot > d->a.slot || (d[-1].a.slot == d->a.slot && d[-1].b.slot >= d->b.slot))))
    return damaged("disabled pair", i, "it is out of order");
  return CN_OK;
}

static CnStatus check_motion(const CniModel *model, int32_t i) {
  const CniMotion *m = &model->motions[i];
  const CnFunctionId ids[] = {m->def.x, m->def.y, m->def.z, m->def.turn};
  int32_t body = cni_ids_find(&model->body_ids, m->body.slot, m->body.generation);
  if (body < 0 || body >= model->body_count || model->bodies[body].kind != CN_BODY_KINEMATIC)
    return damaged("motion", i, "its body is not kinematic");
  for (int32_t k = 0; k < i; k++)
    if (model->motions[k].body.slot == m->body.slot)
      return damaged("motion", i, "its body has another");
  for (int32_t k = 0; k < 4; k++)
    if (ids[k].slot != 0 && cni_ids_find(&model->function_ids, ids[k].slot, ids[k].generation) < 0)
      return damaged("motion", i, "a function of it names nothing");
  CnQuat q = m->start.rotation;
  if (!(fabs(cn_norm(m->def.axis) - 1) < 1e-9) || !cn_vec3_finite(m->start.position) ||
      !(fabs(cn_qnorm2(q) - 1) < 1e-9))
    return damaged("motion", i, "its axis or its start is no such thing");
  return CN_OK;
}

static CnStatus check_joint(const CniModel *model, int32_t i) {
  const CniJoint *j = &model->joints[i];
  CNI_TRY(check_named(&model->joint_ids, "joint", i, j->slot, j->generation, j->name));
  int32_t a = -1, b = -1;
  const CnJointDef *def = &j->def;
  a = cni_ids_find(&model->body_ids, def->body_a.slot, def->body_a.generation);
  b = cni_ids_find(&model->body_ids, def->body_b.slot, def->body_b.generation);
  if ((def->body_a.slot != 0 && a < 0) || (def->body_b.slot != 0 && b < 0))
    return damaged("joint", i, "a body of it names nothing");
  if (a >= model->body_count || b >= model->body_count || a == b || a != j->body_a ||
      b != j->body_b)
    return damaged("joint", i, "its bodies are wrong");
  if ((a < 0 || model->bodies[a].kind != CN_BODY_DYNAMIC) &&
      (b < 0 || model->bodies[b].kind != CN_BODY_DYNAMIC))
    return damaged("joint", i, "no body of it is dynamic");
  CnJointDef copy = *def;
  if (cni_joint_def_check(&copy) != CN_OK) return damaged_numbers("joint", i);
  if (!same_rotation(copy.frame_a, def->frame_a) || !same_rotation(copy.frame_b, def->frame_b))
    return damaged("joint", i, "a frame's rotation is not of length one");
  CniJoint again = {.def = *def};
  if (cni_joint_find_curves(model, &again) != CN_OK) return damaged_numbers("joint", i);
  if (cni_joint_kinds[def->kind]->curves && def->side == CN_SIDE_PRESENT)
    return damaged("joint", i, "the side of its follower is not known");
  if (cni_joint_kinds[def->kind]->apart && !cni_joint_kinds[def->kind]->curves &&
      !(def->distance > 0))
    return damaged("joint", i, "its distance is zero");
  int finite = cn_vec3_finite(j->total.velocity) && cn_vec3_finite(j->total.spin) &&
               cn_vec3_finite(j->carried);
  for (int32_t k = 0; k < CNI_JOINT_LOCKED; k++) finite &= isfinite(j->impulse.locked[k]) != 0;
  for (int32_t k = 0; k < CN_JOINT_AXES; k++)
    finite &= isfinite(cni_joint_effort(j->impulse.axes[k])) != 0 &&
              isfinite(cni_joint_effort(j->drift[k])) != 0 && isfinite(j->near[k]) != 0;
  if (!finite) return damaged("joint", i, "its impulse is not finite");
  if (!isfinite(j->impulse_step) || j->impulse_step < 0)
    return damaged("joint", i, "the step of its impulse is no time");
  return CN_OK;
}

static CnStatus check_force(const CniModel *model, int32_t i) {
  const CniForce *f = &model->forces[i];
  int32_t a, b;
  CnForceDef copy = f->def;
  CNI_TRY(check_named(&model->force_ids, "force", i, f->slot, f->generation, f->name));
  if (cni_force_def_check(&copy) != CN_OK) return damaged_numbers("force", i);
  if (!same_rotation(copy.frame_a, f->def.frame_a) || !same_rotation(copy.frame_b, f->def.frame_b))
    return damaged("force", i, "a frame's rotation is not of length one");
  if (cni_find_pair(model, "force", copy.body_a, copy.body_b, &a, &b) != CN_OK)
    return damaged_numbers("force", i);
  CnFunctionId id = copy.rest_function;
  if (id.slot != 0 && cni_ids_find(&model->function_ids, id.slot, id.generation) < 0)
    return damaged("force", i, "a function of it names nothing");
  if (cni_force_kinds[copy.kind]->single && (a >= 0 || b < 0))
    return damaged("force", i, "it acts on one body and has others");
  return CN_OK;
}

CnStatus cni_model_consistent(const CniModel *model) {
  CNI_TRY(check_slots(&model->body_ids, "body", model->body_count));
  CNI_TRY(check_slots(&model->shape_ids, "shape", model->shape_count));
  CNI_TRY(check_slots(&model->material_ids, "material", model->material_count - 1));
  CNI_TRY(check_slots(&model->joint_ids, "joint", model->joint_count));
  CNI_TRY(check_slots(&model->force_ids, "force", model->force_count));
  CNI_TRY(check_geometries(model));
  CNI_TRY(check_curves(model));
  int64_t uses = 0, ends = 0, joint_visits = 0;
  int32_t shape_visits = 0;
  for (int32_t i = 0; i < model->body_count; i++) CNI_TRY(check_body(model, i));
  for (int32_t i = 0; i < model->material_count; i++) {
    CNI_TRY(check_material(model, i));
    uses += model->materials[i].use_count;
    if (model->materials[i].use_count < 0) return damaged("material", i, "used less than never");
  }
  for (int32_t i = 0; i < model->shape_count; i++) CNI_TRY(check_shape(model, i));
  for (int32_t i = 0; i < model->force_count; i++) CNI_TRY(check_force(model, i));
  for (int32_t i = 0; i < model->joint_count; i++) {
    CNI_TRY(check_joint(model, i));
    ends += (model->joints[i].body_a >= 0) + (model->joints[i].body_b >= 0);
  }
  for (int32_t i = 0; i < model->body_count; i++) {
    CNI_TRY(check_shape_list(model, i, &shape_visits));
    CNI_TRY(check_joint_list(model, i, &joint_visits));
  }
  CNI_TRY(check_functions(model));
  for (int32_t i = 0; i < model->motion_count; i++) CNI_TRY(check_motion(model, i));
  for (int32_t i = 0; i < model->disabled_count; i++) CNI_TRY(check_disabled(model, i));
  CNI_TRY(check_couplings(model));
  if (shape_visits != model->shape_count) return damaged("shape", shape_visits, "not in a list");
  if (joint_visits != ends) return damaged("joint", (int32_t)joint_visits, "not in its lists");
  if (uses != model->shape_count) return damaged("material", 0, "uses and shapes differ");
  return CN_OK;
}
