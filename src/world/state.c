// SPDX-License-Identifier: Apache-2.0
// Whole worlds at once: arrays of states in and out, things found by their names. Arrays go by the
// slots of ids, which nothing but creation changes; where the state lies in memory is another order.
#include <cairn/state.h>
#include <string.h>

#include "core/floats.h"
#include "world/doors.h"
#include "world/world.h"

// ---- ids ----

// One array of ids by ascending slot: as many as there is room for, and how many there are.
#define LIST(function, Id, ids)                                                                    \
  CnStatus function(const CnWorld *world, Id *list, int32_t capacity, int32_t *count) {            \
    CNI_FLOATS;                                                                                    \
    if (!count) return cni_null_argument(#function, "the count");                                  \
    *count = 0;                                                                                    \
    if (!world) return cni_null_argument(#function, "the world");                                  \
    CNI_TRY(check_room(#function, list, capacity));                                                \
    Id id = {0, 0};                                                                                \
    while ((id.slot = cni_ids_next(&world->now.model.ids, id.slot, &id.generation)) != 0) {        \
      if (*count < capacity) list[*count] = id;                                                    \
      ++*count;                                                                                    \
    }                                                                                              \
    return CN_OK;                                                                                  \
  }

static CnStatus check_room(const char *call, const void *list, int32_t capacity) {
  if (capacity < 0) return cni_invalid("%s: room for %d", call, (int)capacity);
  return list || capacity == 0 ? CN_OK : cni_null_argument(call, "the array");
}

LIST(cn_world_bodies, CnBodyId, body_ids)
LIST(cn_world_joints, CnJointId, joint_ids)
CNI_NEXT(cn_world_next_shape, CnShapeId, shape_ids)
CNI_NEXT(cn_world_next_material, CnMaterialId, material_ids)
CNI_DEF(cn_material_def, CnMaterialDef, CnMaterialId, cni_model_find_material, materials)

// ---- names ----

CnBodyId cn_world_find_body(const CnWorld *world, const char *name) {
  CnBodyId id = {0, 0};
  while (world && name && (id = cn_world_next_body(world, id)).slot != 0) {
    int32_t i = world->now.model.body_ids.slots[id.slot - 1].index;
    if (strcmp(cni_body_name(&world->now.model.bodies[i]), name) == 0) break;
  }
  return id;
}

CnJointId cn_world_find_joint(const CnWorld *world, const char *name) {
  CnJointId id = {0, 0};
  while (world && name && (id = cn_world_next_joint(world, id)).slot != 0) {
    int32_t i = world->now.model.joint_ids.slots[id.slot - 1].index;
    if (strcmp(world->now.model.joints[i].name, name) == 0) break;
  }
  return id;
}

CnMaterialId cn_world_find_material(const CnWorld *world, const char *name) {
  CnMaterialId id = {0, 0};
  while (world && name && (id = cn_world_next_material(world, id)).slot != 0) {
    int32_t i = world->now.model.material_ids.slots[id.slot - 1].index;
    if (strcmp(world->now.model.materials[i].name, name) == 0) break;
  }
  return id;
}

// ---- states of bodies ----

// The dense index of the body in a slot, -1 if the slot is free.
static int32_t body_in(const CniModel *model, int32_t slot) {
  const CniSlot *s = &model->body_ids.slots[slot];
  return (s->generation & 1u) != 0 ? s->index : -1;
}

CnStatus cn_world_get_state(const CnWorld *world, CnPose *poses, CnTwist *twists,
                            int32_t capacity) {
  CNI_FLOATS;
  if (!world) return cni_null_argument("cn_world_get_state", "the world");
  const CniModel *model = &world->now.model;
  if (capacity < model->body_count)
    return cni_invalid("cn_world_get_state: room for %d of %d bodies", (int)capacity,
                       (int)model->body_count);
  for (int32_t s = 0, k = 0; s < model->body_ids.slot_count; s++) {
    int32_t i = body_in(model, s);
    if (i < 0) continue;
    int plain = !model->bodies[i].detail; // the centre of mass is the origin of the body frame
    if (poses) poses[k] = plain ? model->pose[i] : cni_model_body_pose(model, i);
    if (twists) twists[k] = plain ? model->twist[i] : cni_model_body_twist(model, i);
    k++;
  }
  return CN_OK;
}

static CnStatus check_twist(const CniModel *model, int32_t i, const CnTwist *twist) {
  CNI_TRY(cni_check_twist("cn_world_set_state: twist", twist));
  if (model->bodies[i].kind != CN_BODY_FIXED ||
      (cn_norm2(twist->velocity) == 0 && cn_norm2(twist->spin) == 0))
    return CN_OK;
  char label[CNI_NAME_SIZE + 16];
  cni_model_body_label(model, i, label);
  return cni_invalid("cn_world_set_state: %s is fixed and was given a velocity", label);
}

static CnStatus check_count(CnWorld *world, const char *call, int32_t count) {
  CNI_TRY(cni_world_open_in_hook(world, call));
  if (count == world->now.model.body_count) return CN_OK;
  return cni_invalid("%s: %d states for %d bodies", call, (int)count,
                     (int)world->now.model.body_count);
}

CnStatus cn_world_set_state(CnWorld *world, const CnPose *poses, const CnTwist *twists,
                            int32_t count) {
  CNI_FLOATS;
  CNI_TRY(check_count(world, "cn_world_set_state", count));
  CniModel *model = &world->now.model;
  for (int32_t s = 0, k = 0; s < model->body_ids.slot_count; s++) {
    int32_t i = body_in(model, s);
    if (i < 0) continue;
    CnPose pose = poses ? poses[k] : CN_POSE_ONE;
    CNI_TRY(cni_check_pose("cn_world_set_state: pose", &pose));
    if (twists) CNI_TRY(check_twist(model, i, &twists[k]));
    k++;
  }
  if (poses) CNI_TRY(cni_contacts_fix(world));
  for (int32_t s = 0, k = 0; s < model->body_ids.slot_count; s++) {
    int32_t i = body_in(model, s);
    if (i < 0) continue;
    if (poses) {
      CnPose pose = poses[k];
      (void)cni_check_pose("cn_world_set_state: pose", &pose); // normed; it has passed
      cni_model_set_body_pose(model, i, &pose);
    }
    if (twists) cni_model_set_body_twist(model, i, &twists[k]); // of the origin in its new place
    k++;
  }
  return CN_OK;
}

CnStatus cn_world_add_loads(CnWorld *world, const CnTwist *loads, int32_t count) {
  CNI_FLOATS;
  CNI_TRY(check_count(world, "cn_world_add_loads", count));
  if (!loads) return cni_null_argument("cn_world_add_loads", "the loads");
  CniModel *model = &world->now.model;
  for (int32_t s = 0, k = 0; s < model->body_ids.slot_count; s++) {
    int32_t i = body_in(model, s);
    if (i < 0) continue;
    CnTwist sum = cni_model_load(model, i);
    CNI_TRY(cni_check_vec3("cn_world_add_loads: force", cn_add(sum.velocity, loads[k].velocity)));
    CNI_TRY(cni_check_vec3("cn_world_add_loads: torque", cn_add(sum.spin, loads[k].spin)));
    k++;
  }
  CNI_TRY(cni_model_loads(model));
  for (int32_t s = 0, k = 0; s < model->body_ids.slot_count; s++) {
    int32_t i = body_in(model, s);
    if (i < 0) continue;
    CnTwist *load = &model->load[i];
    if (model->bodies[i].kind == CN_BODY_DYNAMIC)
      *load =
          (CnTwist){cn_add(load->velocity, loads[k].velocity), cn_add(load->spin, loads[k].spin)};
    k++;
  }
  return CN_OK;
}

CnStatus cn_world_state_view(const CnWorld *world, CnStateView *view) {
  CNI_FLOATS;
  if (!view) return cni_null_argument("cn_world_state_view", "the result pointer");
  *view = (CnStateView){NULL, NULL, 0};
  if (!world) return cni_null_argument("cn_world_state_view", "the world");
  const CniModel *model = &world->now.model;
  *view = (CnStateView){model->pose, model->twist, model->body_count};
  return CN_OK;
}

CnStatus cn_world_view_bodies(const CnWorld *world, CnBodyId *bodies, int32_t capacity,
                              int32_t *count) {
  CNI_FLOATS;
  if (!count) return cni_null_argument("cn_world_view_bodies", "the count");
  *count = 0;
  if (!world) return cni_null_argument("cn_world_view_bodies", "the world");
  CNI_TRY(check_room("cn_world_view_bodies", bodies, capacity));
  const CniModel *model = &world->now.model;
  for (int32_t i = 0; i < model->body_count && i < capacity; i++) bodies[i] = cni_body_id(model, i);
  *count = model->body_count;
  return CN_OK;
}

// ---- joints and contacts ----

CnStatus cn_world_joint_states(const CnWorld *world, CnJointState *states, int32_t capacity,
                               int32_t *count) {
  CNI_FLOATS;
  if (!count) return cni_null_argument("cn_world_joint_states", "the count");
  *count = 0;
  if (!world) return cni_null_argument("cn_world_joint_states", "the world");
  CNI_TRY(check_room("cn_world_joint_states", states, capacity));
  CnJointId id = {0, 0};
  while ((id = cn_world_next_joint(world, id)).slot != 0) {
    if (*count < capacity) CNI_TRY(cn_joint_state(world, id, &states[*count]));
    ++*count;
  }
  return CN_OK;
}

CnStatus cn_world_contacts(const CnWorld *world, CnContact *contacts, int32_t capacity,
                           int32_t *count) {
  CNI_FLOATS;
  if (!count) return cni_null_argument("cn_world_contacts", "the count");
  *count = 0;
  if (!world) return cni_null_argument("cn_world_contacts", "the world");
  CNI_TRY(check_room("cn_world_contacts", contacts, capacity));
  CNI_TRY(cni_contacts_here(&world->now.contacts, "cn_world_contacts"));
  int32_t n = world->now.contacts.count;
  for (int32_t i = 0; i < n && i < capacity; i++) CNI_TRY(cn_world_contact(world, i, &contacts[i]));
  *count = n;
  return CN_OK;
}

// ---- many bodies ----

static CnStatus create_one(CnWorld *world, const CnBodyDef *def, const CnShapeDef *shape,
                           CnBodyId *body) {
  CnShapeId id;
  CNI_TRY(cn_body_create(world, def, body));
  CnStatus status = shape ? cn_shape_create(world, *body, shape, &id) : CN_OK;
  if (status != CN_OK) (void)cn_body_destroy(world, *body);
  return status;
}

CnStatus cn_bodies_create(CnWorld *world, const CnBodyDef *def, const CnShapeDef *shape,
                          const CnPose *poses, int32_t count, CnBodyId *bodies) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_bodies_create"));
  if (!def) return cni_null_argument("cn_bodies_create", "the definition");
  if (count < 0) return cni_invalid("cn_bodies_create: %d bodies", (int)count);
  if (!poses && count > 0) return cni_null_argument("cn_bodies_create", "the poses");
  CniModel *model = &world->now.model;
  int32_t before = model->body_count;
  for (int32_t k = 0; k < count; k++) {
    CnBodyDef one = *def;
    CnBodyId id;
    one.pose = poses[k];
    CnStatus status = create_one(world, &one, shape, &id);
    if (status != CN_OK) {
      // the last one made is the last in memory: taken away in turn, nothing else moves
      while (model->body_count > before)
        (void)cn_body_destroy(world, cni_body_id(model, model->body_count - 1));
      return status;
    }
    if (bodies) bodies[k] = id;
  }
  return CN_OK;
}
