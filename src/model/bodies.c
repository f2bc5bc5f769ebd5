// SPDX-License-Identifier: Apache-2.0
// Bodies: definitions, the dense arrays, and the two ways to speak of a body's motion: at the
// centre of mass (inside) and at the body frame (outside).
#include <stdio.h>
#include <string.h>

#include "model/model_private.h"

static const char *const kinds[] = {"dynamic", "kinematic", "fixed", NULL};

const CniField cni_body_fields[] = {
    CNI_FIELD(CHOICE, CnBodyDef, kind, ANY, "",
              "moves by forces, with its prescribed velocity and spin, or not at all",
              .words = kinds),
    CNI_FIELD(POSE, CnBodyDef, pose, ANY, "m", "of the body frame", .where = CNI_NOT_IN_SNAPSHOT),
    CNI_FIELD(TWIST, CnBodyDef, twist, ANY, "m/s, rad/s",
              "of the origin of the body frame, world axes", .where = CNI_NOT_IN_SNAPSHOT),
    CNI_FIELD(REAL, CnBodyDef, mass, NOT_NEGATIVE, "kg", "0: mass, centre and inertia from shapes"),
    CNI_FIELD(POSE, CnBodyDef, com, ANY, "m",
              "centre of mass and axes of the inertia, in the body frame"),
    CNI_FIELD(SYM3, CnBodyDef, inertia, ANY, "kg m^2",
              "about the centre of mass, in the axes of com"),
    CNI_FIELD(FLAG, CnBodyDef, continuous, ANY, "",
              "1: it stops where it first touches within a step, so that it passes through nothing "
              "thin; of dynamic bodies without joints"),
    CNI_FIELDS_END,
};

CnBodyDef cn_body_def_default(void) {
  CnBodyDef def = {.size = sizeof def, .tag = CNI_TAG_BODY};
  cni_fields_default(cni_body_fields, &def);
  return def;
}

// ---- arrays ----

#define BODY_ARRAYS 6
#define ALWAYS 4    // the rest need not be there
#define LARGE 32768 // bodies: more of them grow by less, as other arrays do

typedef struct Column {
  void **data;
  size_t size;
} Column;

static void columns(CniModel *model, Column column[BODY_ARRAYS]) {
  column[0] = (Column){(void **)&model->pose, sizeof(CnPose)};
  column[1] = (Column){(void **)&model->twist, sizeof(CnTwist)};
  column[2] = (Column){(void **)&model->mass, sizeof(CniBodyMass)};
  column[3] = (Column){(void **)&model->bodies, sizeof(CniBody)};
  column[ALWAYS] = (Column){(void **)&model->load, sizeof(CnTwist)};
  column[ALWAYS + 1] = (Column){(void **)&model->inertias, sizeof(CnVec3)};
}

// All arrays grow together or not at all: they share one capacity.
CnStatus cni_bodies_reserve(CniModel *model, int32_t count) {
  if (count <= model->body_capacity) return CN_OK;
  int32_t more = model->body_capacity < LARGE ? model->body_capacity : model->body_capacity / 8;
  int32_t capacity =
      model->body_capacity > INT32_MAX - more ? INT32_MAX : more + model->body_capacity;
  if (capacity < count) capacity = count;
  if (capacity < 16) capacity = 16;
  Column column[BODY_ARRAYS];
  void *fresh[BODY_ARRAYS];
  columns(model, column);
  for (int i = 0; i < BODY_ARRAYS; i++) {
    if (i >= ALWAYS && !*column[i].data) column[i].size = 0;
    size_t bytes = (size_t)capacity * column[i].size;
    fresh[i] = cni_allocate(&model->allocator, bytes);
    if (fresh[i] || bytes == 0) continue;
    while (i-- > 0) cni_release(&model->allocator, fresh[i], (size_t)capacity * column[i].size);
    return cni_error_memory(bytes);
  }
  for (int i = 0; i < BODY_ARRAYS; i++) {
    size_t used = (size_t)model->body_count * column[i].size;
    if (used) memcpy(fresh[i], *column[i].data, used);
    cni_release(&model->allocator, *column[i].data, (size_t)model->body_capacity * column[i].size);
    *column[i].data = fresh[i];
  }
  model->body_capacity = capacity;
  return CN_OK;
}

// An array that was not needed so far, of zeros.
static CnStatus begin_column(const CniModel *model, void **data, size_t size) {
  size_t bytes = (size_t)model->body_capacity * size;
  if (*data || bytes == 0) return CN_OK;
  *data = cni_allocate(&model->allocator, bytes);
  if (!*data) return cni_error_memory(bytes);
  memset(*data, 0, bytes);
  return CN_OK;
}

CnStatus cni_model_loads(CniModel *model) {
  return begin_column(model, (void **)&model->load, sizeof *model->load);
}

CnStatus cni_model_inertias(CniModel *model) {
  return begin_column(model, (void **)&model->inertias, sizeof *model->inertias);
}

// ---- what a body keeps beside its common fields ----

CnStatus cni_body_keep(const CniModel *model, CniBody *body, const CniBodyDetail *detail,
                       const char *name) {
  char kept[CNI_NAME_SIZE];
  cni_name_copy(kept, name);
  size_t size = strlen(kept) + 1;
  body->detail = NULL;
  if (size == 1 && cni_pose_is_one(detail->com) && detail->def_mass == 0) return CN_OK;
  body->detail = cni_allocate(&model->allocator, sizeof *detail);
  if (!body->detail) return cni_error_memory(sizeof *detail);
  *body->detail = *detail;
  body->detail->name = NULL;
  if (size == 1) return CN_OK;
  body->detail->name = cni_allocate(&model->allocator, size);
  if (!body->detail->name) {
    cni_body_forget(model, body);
    return cni_error_memory(size);
  }
  memcpy(body->detail->name, kept, size);
  return CN_OK;
}

void cni_body_forget(const CniModel *model, CniBody *body) {
  CniBodyDetail *detail = body->detail;
  if (!detail) return;
  if (detail->name) cni_release(&model->allocator, detail->name, strlen(detail->name) + 1);
  cni_release(&model->allocator, detail, sizeof *detail);
  body->detail = NULL;
}

// ---- adding and removing ----

static CnStatus check_def(CnBodyDef *def) {
  CNI_TRY(cni_fields_check(cni_body_fields, "body", def));
  CnVec3 v = def->twist.velocity, w = def->twist.spin;
  int moves = v.x != 0 || v.y != 0 || v.z != 0 || w.x != 0 || w.y != 0 || w.z != 0;
  if (def->kind == CN_BODY_FIXED && moves)
    return cni_invalid("body: a fixed body has no twist (got velocity %g, %g, %g, spin %g, %g, %g)",
                       v.x, v.y, v.z, w.x, w.y, w.z);
  if (def->continuous && def->kind != CN_BODY_DYNAMIC)
    return cni_invalid("body: only a dynamic body can be continuous");
  return cni_body_mass_check(def);
}

CnStatus cni_model_add_body(CniModel *model, const CnBodyDef *given, CnBodyId *id) {
  *id = (CnBodyId){0, 0};
  CNI_TRY(cni_def_check("body", given, sizeof *given, CNI_TAG_BODY));
  CnBodyDef def = *given;
  CNI_TRY(check_def(&def));
  if (model->body_count == INT32_MAX)
    return cni_error(CN_NO_MEMORY, "a world holds at most %d bodies", INT32_MAX);
  CniBody body = {
      .kind = (uint16_t)def.kind, .continuous = def.continuous != 0, .user_data = def.user_data};
  body.first_shape = body.first_joint = -1;
  CniBodyDetail detail = {.com = CN_POSE_ONE, .def_com = CN_POSE_ONE};
  if (def.mass > 0) {
    detail.def_com = def.com;
    detail.def_inertia = def.inertia;
    detail.def_mass = def.mass;
  }
  CNI_TRY(cni_bodies_reserve(model, model->body_count + 1));
  CNI_TRY(cni_ids_reserve(&model->body_ids, &model->allocator));
  CNI_TRY(cni_body_keep(model, &body, &detail, def.name));
  CniBodyFrame frame;
  CnStatus status = cni_body_frame(model, &body, -1, NULL, &frame);
  if (status == CN_OK && frame.mass.inertia == CNI_TURNS_BY_AXIS)
    status = cni_model_inertias(model);
  if (status != CN_OK) {
    cni_body_forget(model, &body);
    return status;
  }

  int32_t i = model->body_count++;
  model->edits++;
  uint32_t generation;
  cni_ids_take(&model->body_ids, i, &body.slot, &generation);
  model->bodies[i] = body;
  model->pose[i] = def.pose;
  model->twist[i] = def.twist;
  if (model->load) model->load[i] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  cni_body_reframe(model, i, &frame);
  *id = (CnBodyId){body.slot, generation};
  return CN_OK;
}

CnStatus cni_model_remove_body(CniModel *model, CnBodyId id) {
  int32_t i;
  CNI_TRY(cni_model_find_body(model, id, &i));
  model->edits++;
  cni_forces_drop(model, id);
  cni_motions_drop(model, id);
  cni_disabled_drop(model, id);
  while (model->bodies[i].first_joint >= 0) cni_joint_drop(model, model->bodies[i].first_joint);
  while (model->bodies[i].first_shape >= 0) cni_shape_drop(model, model->bodies[i].first_shape);
  cni_body_forget(model, &model->bodies[i]);
  cni_ids_free(&model->body_ids, id.slot);

  // the last body moves into the hole
  int32_t last = --model->body_count;
  if (i == last) return CN_OK;
  model->pose[i] = model->pose[last];
  model->twist[i] = model->twist[last];
  if (model->load) model->load[i] = model->load[last];
  model->mass[i] = model->mass[last];
  if (model->inertias) model->inertias[i] = model->inertias[last];
  model->bodies[i] = model->bodies[last];
  cni_ids_move(&model->body_ids, model->bodies[i].slot, i);
  cni_shapes_body_moved(model, last, i);
  cni_joints_body_moved(model, last, i);
  return CN_OK;
}

// ---- the body frame ----

CnPose cni_model_body_pose(const CniModel *model, int32_t body) {
  CnPose pose = cn_pose_mul(model->pose[body], cn_pose_inverse(cni_body_com(&model->bodies[body])));
  cni_check_pose("pose", &pose);
  return pose;
}

CnTwist cni_model_body_twist(const CniModel *model, int32_t body) {
  CnTwist twist = model->twist[body];
  CnPose frame = cni_model_body_pose(model, body);
  CnVec3 arm = cn_sub(frame.position, model->pose[body].position);
  twist.velocity = cn_add(twist.velocity, cn_cross(twist.spin, arm));
  return twist;
}

void cni_model_set_body_pose(CniModel *model, int32_t body, const CnPose *pose) {
  CnTwist twist = cni_model_body_twist(model, body);
  model->pose[body] = cn_pose_mul(*pose, cni_body_com(&model->bodies[body]));
  cni_check_pose("pose", &model->pose[body]);
  // the velocity asked for is that of the body frame: it stays
  cni_model_set_body_twist(model, body, &twist);
  for (int32_t i = model->bodies[body].first_joint; i >= 0;) {
    CniJoint *joint = &model->joints[i];
    cni_joint_look_along(model, joint);
    i = joint->body_a == body ? joint->next_a : joint->next_b;
  }
}

void cni_model_set_body_twist(CniModel *model, int32_t body, const CnTwist *twist) {
  CnPose frame = cni_model_body_pose(model, body);
  CnVec3 arm = cn_sub(model->pose[body].position, frame.position);
  model->twist[body].velocity = cn_add(twist->velocity, cn_cross(twist->spin, arm));
  model->twist[body].spin = twist->spin;
}

void cni_model_body_label(const CniModel *model, int32_t body, char label[CNI_NAME_SIZE + 16]) {
  const CniBody *b = &model->bodies[body];
  const char *name = cni_body_name(b);
  if (name[0])
    snprintf(label, CNI_NAME_SIZE + 16, "body '%s'", name);
  else
    snprintf(label, CNI_NAME_SIZE + 16, "body %u", (unsigned)b->slot);
}
