// SPDX-License-Identifier: Apache-2.0
// Things of a world changed between steps, and what the program puts down about them (<cairn/change.h>).
#include <cairn/change.h>
#include <stddef.h>
#include <string.h>

#include "world/doors.h"

// ---- bodies ----

CnStatus cn_body_set_mass(CnWorld *world, CnBodyId body, double mass, const CnPose *com,
                          const CnSym3 *inertia) {
  CNI_FLOATS;
  int32_t i;
  CNI_TRY(cni_world_open(world, "cn_body_set_mass"));
  CNI_TRY(cni_model_find_body(&world->now.model, body, &i));
  CnBodyDef def = cn_body_def_default();
  def.mass = mass;
  if (com) def.com = *com;
  if (inertia) def.inertia = *inertia;
  return cni_model_set_mass(&world->now.model, i, &def);
}

CnStatus cn_body_set_kind(CnWorld *world, CnBodyId body, CnBodyKind kind) {
  CNI_FLOATS;
  int32_t i;
  CNI_TRY(cni_world_open(world, "cn_body_set_kind"));
  CNI_TRY(cni_model_find_body(&world->now.model, body, &i));
  return cni_model_set_kind(&world->now.model, i, kind);
}

CnStatus cn_body_apply_impulse(CnWorld *world, CnBodyId body, CnVec3 impulse, CnVec3 point) {
  CNI_FLOATS;
  int32_t i;
  CNI_TRY(cni_world_open_in_hook(world, "cn_body_apply_impulse"));
  CniModel *model = &world->now.model;
  CNI_TRY(cni_model_find_body(model, body, &i));
  CNI_TRY(cni_check_vec3("cn_body_apply_impulse: impulse", impulse));
  CNI_TRY(cni_check_vec3("cn_body_apply_impulse: point", point));
  if (!cni_has_mass(&model->mass[i])) return CN_OK;
  CnPose pose = model->pose[i];
  CnVec3 turn = cn_cross(cn_sub(point, pose.position), impulse);
  CnTwist twist = model->twist[i];
  twist.velocity = cn_madd(twist.velocity, cni_inv_mass(&model->mass[i]), impulse);
  twist.spin = cn_add(twist.spin, cn_smul(cni_model_inv_inertia(model, i, pose.rotation), turn));
  CNI_TRY(cni_check_twist("cn_body_apply_impulse: the twist after it", &twist));
  model->twist[i] = twist;
  return CN_OK;
}

CnStatus cn_body_apply_local_force(CnWorld *world, CnBodyId body, CnVec3 force, CnVec3 point) {
  CNI_FLOATS;
  int32_t i;
  CNI_TRY(cni_world_open_in_hook(world, "cn_body_apply_local_force"));
  CNI_TRY(cni_model_find_body(&world->now.model, body, &i));
  CNI_TRY(cni_check_vec3("cn_body_apply_local_force: force", force));
  CNI_TRY(cni_check_vec3("cn_body_apply_local_force: point", point));
  CnPose frame = cni_model_body_pose(&world->now.model, i);
  return cn_body_apply_force(world, body, cn_rotate(frame.rotation, force),
                             cn_add(frame.position, cn_rotate(frame.rotation, point)));
}

// ---- materials ----

CnStatus cn_material_pair_set(CnWorld *world, CnMaterialId a, CnMaterialId b,
                              const CnMaterialDef *law) {
  CNI_FLOATS;
  CNI_TRY(cni_world_open(world, "cn_material_pair_set"));
  return cni_model_set_pair(&world->now.model, a, b, law);
}

// ---- shapes ----

CnStatus cn_shape_set_material(CnWorld *world, CnShapeId shape, CnMaterialId material) {
  CNI_FLOATS;
  int32_t i, m = 0;
  CNI_TRY(cni_world_open(world, "cn_shape_set_material"));
  CniModel *model = &world->now.model;
  CNI_TRY(cni_model_find_shape(model, shape, &i));
  if (material.slot != 0 || material.generation != 0)
    CNI_TRY(cni_model_find_material(model, material, &m));
  model->materials[model->shapes[i].material].use_count--;
  model->materials[m].use_count++;
  model->shapes[i].material = m;
  return CN_OK;
}

CnStatus cn_shape_set_filter(CnWorld *world, CnShapeId shape, uint32_t category, uint32_t mask) {
  CNI_FLOATS;
  int32_t i;
  CNI_TRY(cni_world_open(world, "cn_shape_set_filter"));
  CNI_TRY(cni_model_find_shape(&world->now.model, shape, &i));
  return cni_model_set_filter(&world->now.model, i, category, mask);
}

// ---- notes ----

static const struct {
  const char *name;
  size_t ids; // of the model
} sorts[CN_THING_SORT_COUNT] = {
    [CN_THING_WORLD] = {"world", 0},
    [CN_THING_BODY] = {"body", offsetof(CniModel, body_ids)},
    [CN_THING_SHAPE] = {"shape", offsetof(CniModel, shape_ids)},
    [CN_THING_MATERIAL] = {"material", offsetof(CniModel, material_ids)},
    [CN_THING_GEOMETRY] = {"geometry", offsetof(CniModel, geometry_ids)},
    [CN_THING_JOINT] = {"joint", offsetof(CniModel, joint_ids)},
    [CN_THING_COUPLING] = {"coupling", offsetof(CniModel, coupling_ids)},
    [CN_THING_FORCE] = {"force", offsetof(CniModel, force_ids)},
    [CN_THING_FUNCTION] = {"function", offsetof(CniModel, function_ids)},
    [CN_THING_CURVE] = {"curve", offsetof(CniModel, curve_ids)}};

// Its dense index; of the world 0.
static CnStatus find_thing(const CniModel *model, const char *call, CnThing thing, int32_t *index) {
  *index = 0;
  if ((uint32_t)thing.sort >= CN_THING_SORT_COUNT)
    return cni_invalid("%s: there are no things of the sort %d", call, (int)thing.sort);
  if (thing.sort == CN_THING_WORLD) return CN_OK;
  const CniIds *ids = (const CniIds *)(const void *)((const char *)model + sorts[thing.sort].ids);
  *index = cni_ids_find(ids, thing.slot, thing.generation);
  if (*index >= 0) return CN_OK;
  return cni_error(CN_INVALID_HANDLE, "%s: no %s has the id (%u, %u)", call, sorts[thing.sort].name,
                   (unsigned)thing.slot, (unsigned)thing.generation);
}

// What is put down about a thing, to be changed and put back.
static CniNote note_of(const CniModel *model, CnThing thing) {
  int whole = thing.sort == CN_THING_WORLD;
  CniNote fresh = {.sort = (uint32_t)thing.sort,
                   .slot = whole ? 0 : thing.slot,
                   .generation = whole ? 0 : thing.generation};
  const CniNote *note = cni_model_note(model, fresh.sort, fresh.slot, fresh.generation);
  return note ? *note : fresh;
}

CnStatus cn_user_data_set(CnWorld *world, CnThing thing, uint64_t data) {
  CNI_FLOATS;
  int32_t i;
  CNI_TRY(cni_world_open(world, "cn_user_data_set"));
  CniModel *model = &world->now.model;
  CNI_TRY(find_thing(model, "cn_user_data_set", thing, &i));
  if (thing.sort == CN_THING_BODY) {
    model->bodies[i].user_data = data;
    return CN_OK;
  }
  CniNote note = note_of(model, thing);
  note.user_data = data;
  return cni_model_note_set(model, &note);
}

CnStatus cn_user_data(const CnWorld *world, CnThing thing, uint64_t *data) {
  CNI_FLOATS;
  int32_t i;
  if (!data) return cni_null_argument("cn_user_data", "the result pointer");
  *data = 0;
  if (!world) return cni_null_argument("cn_user_data", "the world");
  const CniModel *model = &world->now.model;
  CNI_TRY(find_thing(model, "cn_user_data", thing, &i));
  *data =
      thing.sort == CN_THING_BODY ? model->bodies[i].user_data : note_of(model, thing).user_data;
  return CN_OK;
}

CnStatus cn_shape_set_name(CnWorld *world, CnShapeId shape, const char *name) {
  CNI_FLOATS;
  int32_t i;
  CNI_TRY(cni_world_open(world, "cn_shape_set_name"));
  CniModel *model = &world->now.model;
  CNI_TRY(cni_model_find_shape(model, shape, &i));
  CniNote note = note_of(model, (CnThing){CN_THING_SHAPE, shape.slot, shape.generation});
  memset(note.name, 0, sizeof note.name);
  cni_name_copy(note.name, name);
  return cni_model_note_set(model, &note);
}

const char *cn_shape_name(const CnWorld *world, CnShapeId shape) {
  const CniNote *note =
      world ? cni_model_note(&world->now.model, CN_THING_SHAPE, shape.slot, shape.generation)
            : NULL;
  return note ? note->name : "";
}

CnShapeId cn_world_find_shape(const CnWorld *world, const char *name) {
  for (int32_t i = 0; world && name && name[0] && i < world->now.model.note_count; i++) {
    const CniNote *note = &world->now.model.notes[i];
    int there = note->sort == CN_THING_SHAPE &&
                cni_ids_find(&world->now.model.shape_ids, note->slot, note->generation) >= 0;
    if (there && strcmp(note->name, name) == 0) return (CnShapeId){note->slot, note->generation};
  }
  return (CnShapeId){0, 0};
}
