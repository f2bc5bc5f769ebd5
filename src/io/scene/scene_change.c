// SPDX-License-Identifier: Apache-2.0
// The same scene with other parameters, in a world that runs already: settle once, then vary. What may change is
// put into the world: materials and their laws, functions of time, what forces and the coordinates of
// joints are given, masses. What a state depends on must be as it was: the number, names and kinds of
// things, places and shapes of bodies, frames of joints, sensors, sources. All of it is compared
// before anything is changed.
#include <cairn/change.h>
#include <cairn/state.h>
#include <string.h>

#include "core/floats.h"
#include "io/scene/scene_private.h"

static CnStatus differs(const char *what, int32_t index, const char *name, const char *how) {
  return cni_bad_data(
      "%s %d%s%s%s %s: parameters may change materials, functions, forces, drives, masses "
      "and settings, not what there is and where",
      what, (int)index, name && name[0] ? " (" : "", name && name[0] ? name : "",
      name && name[0] ? ")" : "", how);
}

static int same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

static int same_pose(const CnPose *a, const CnPose *b) { return memcmp(a, b, sizeof *a) == 0; }

// ---- what must be the same ----

static int same_shape(const CniSceneShape *a, const CniSceneShape *b) {
  return a->def.kind == b->def.kind && a->geometry == b->geometry && a->material == b->material &&
         a->def.category == b->def.category && a->def.mask == b->def.mask &&
         a->def.trigger == b->def.trigger && same_pose(&a->def.pose, &b->def.pose) &&
         cni_fields_equal(cni_shape_kinds[a->def.kind]->fields, &a->def, &b->def);
}

static CnStatus check_bodies(const CnScene *a, const CnScene *b) {
  for (int32_t i = 0; i < a->body_count; i++) {
    const CniSceneBody *x = &a->bodies[i], *y = &b->bodies[i];
    if (!same_text(x->def.name, y->def.name) || x->def.kind != y->def.kind ||
        x->shape_count != y->shape_count || x->def.continuous != y->def.continuous ||
        x->motion.size != y->motion.size)
      return differs("body", i, y->def.name, "is another one");
    if (!same_pose(&x->def.pose, &y->def.pose))
      return differs("body", i, y->def.name, "is elsewhere");
    for (int32_t k = 0; k < x->shape_count; k++)
      if (!same_shape(&a->shapes[x->first_shape + k], &b->shapes[y->first_shape + k]))
        return differs("body", i, y->def.name, "has another shape");
  }
  if (a->point_count > 0 &&
      memcmp(a->points, b->points, (size_t)a->point_count * sizeof *a->points) != 0)
    return differs("geometry", 0, NULL, "or a later one has other points");
  return CN_OK;
}

static int same_mass(const CniSceneBody *a, const CniSceneBody *b) {
  const CnBodyInfo *x = &a->info, *y = &b->info;
  return x->mass == y->mass && memcmp(&x->inertia, &y->inertia, sizeof x->inertia) == 0 &&
         same_pose(&x->com, &y->com);
}

static CnStatus check_others(const CnScene *a, const CnScene *b) {
  for (int32_t i = a->pool_first; i < a->body_count; i++)
    if (!same_mass(&a->bodies[i], &b->bodies[i]))
      return differs("body", i, b->bodies[i].def.name, "of a source has another mass");
  for (int32_t i = 0; i < a->law_count; i++)
    if (a->laws[i].a != b->laws[i].a || a->laws[i].b != b->laws[i].b)
      return differs("law of materials", i, NULL, "is of another pair");
  return CN_OK;
}

static CnStatus check_joints(const CnScene *a, const CnScene *b) {
  for (int32_t i = 0; i < a->joint_count; i++) {
    const CniSceneJoint *x = &a->joints[i], *y = &b->joints[i];
    if (x->def.kind != y->def.kind || x->body_a != y->body_a || x->body_b != y->body_b ||
        !same_pose(&x->def.frame_a, &y->def.frame_a) ||
        !same_pose(&x->def.frame_b, &y->def.frame_b))
      return differs("joint", i, y->def.name, "is another one, or elsewhere");
    for (int32_t k = 0; k < CN_JOINT_AXES; k++)
      if (x->def.axes[k].motor_function.slot != y->def.axes[k].motor_function.slot)
        return differs("joint", i, y->def.name, "follows another function");
  }
  for (int32_t i = 0; i < a->force_count; i++) {
    const CniSceneForce *x = &a->forces[i], *y = &b->forces[i];
    if (x->def.kind != y->def.kind || x->body_a != y->body_a || x->body_b != y->body_b)
      return differs("force", i, y->def.name, "is another one");
  }
  return CN_OK;
}

static CnStatus check_counts(const CnScene *a, const CnScene *b) {
  const struct {
    const char *what;
    int32_t old, now;
  } counts[] = {{"bodies", a->body_count, b->body_count},
                {"shapes", a->shape_count, b->shape_count},
                {"joints", a->joint_count, b->joint_count},
                {"forces", a->force_count, b->force_count},
                {"couplings", a->coupling_count, b->coupling_count},
                {"materials", a->material_count, b->material_count},
                {"functions", a->function_count, b->function_count},
                {"curves", a->curve_count, b->curve_count},
                {"geometries", a->geometry_count, b->geometry_count},
                {"points", a->point_count, b->point_count},
                {"pairs", a->pair_count, b->pair_count},
                {"laws of materials", a->law_count, b->law_count},
                {"sensors", a->sensor_count, b->sensor_count},
                {"sources", a->source_count, b->source_count},
                {"sinks", a->sink_count, b->sink_count}};
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    if (counts[i].old != counts[i].now)
      return cni_bad_data(
          "there are %d %s instead of %d: parameters may change materials, functions, forces, "
          "drives, masses and settings, not what there is and where",
          (int)counts[i].now, counts[i].what, (int)counts[i].old);
  return CN_OK;
}

// ---- what may change: only what differs is touched ----

static int patch(const CniField *fields, const void *from, const void *to, void *now) {
  uint64_t bits = 0;
  for (int32_t i = 0; fields && fields[i].name; i++)
    if (memcmp(cni_field_of(&fields[i], from), cni_field_of(&fields[i], to),
               cni_field_size(&fields[i])) != 0)
      bits |= (uint64_t)1 << i;
  if (bits) cni_fields_copy(fields, bits, to, now);
  return bits != 0;
}

static CnStatus change_laws(const CnScene *a, const CnScene *b, CnWorld *world) {
  for (int32_t i = 0; i < b->material_count; i++) {
    CnMaterialDef now;
    CnMaterialId id = {(uint32_t)i + 1, 1};
    CNI_TRY(cn_material_def(world, id, &now));
    if (patch(cni_material_fields, &a->materials[i], &b->materials[i], &now))
      CNI_TRY(cn_material_set(world, id, &now));
  }
  for (int32_t i = 0; i < b->law_count; i++) {
    const CniSceneLaw *l = &b->laws[i];
    CNI_TRY(cn_material_pair_set(world, (CnMaterialId){(uint32_t)l->a + 1, 1},
                                 (CnMaterialId){(uint32_t)l->b + 1, 1}, &l->def));
  }
  return CN_OK;
}

static CnStatus change_functions(const CnScene *a, const CnScene *b, CnWorld *world) {
  for (int32_t i = 0; i < b->function_count; i++) {
    const CniSceneFunction *x = &a->functions[i], *y = &b->functions[i];
    size_t points = 2 * (size_t)y->def.point_count * sizeof *y->points;
    int same = x->def.kind == y->def.kind && x->def.point_count == y->def.point_count &&
               cni_fields_equal(cni_function_fields, &x->def, &y->def) &&
               (points == 0 || memcmp(x->points, y->points, points) == 0);
    if (!same) CNI_TRY(cn_function_set(world, (CnFunctionId){(uint32_t)i + 1, 1}, &y->def));
  }
  return CN_OK;
}

static CnStatus change_links(const CnScene *a, const CnScene *b, CnWorld *world) {
  for (int32_t i = 0; i < b->joint_count; i++) {
    const CnJointDef *x = &a->joints[i].def, *y = &b->joints[i].def;
    CnJointId id = {(uint32_t)i + 1, 1};
    CnJointDef now;
    CNI_TRY(cn_joint_def(world, id, &now));
    int changed = patch(cni_joint_kind(x->kind)->fields, x, y, &now);
    for (int32_t k = 0; k < CN_JOINT_AXES; k++)
      changed |= patch(cni_joint_axis_fields, &x->axes[k], &y->axes[k], &now.axes[k]);
    if (changed) CNI_TRY(cn_joint_set(world, id, &now));
  }
  for (int32_t i = 0; i < b->force_count; i++) {
    const CnForceDef *x = &a->forces[i].def, *y = &b->forces[i].def;
    CnForceId id = {(uint32_t)i + 1, 1};
    CnForceDef now;
    CNI_TRY(cn_force_def(world, id, &now));
    if (patch(cni_force_kind(x->kind)->fields, x, y, &now)) CNI_TRY(cn_force_set(world, id, &now));
  }
  return CN_OK;
}

static CnStatus change_masses(const CnScene *a, const CnScene *b, CnWorld *world) {
  for (int32_t i = 0; i < b->body_count; i++) {
    const CnBodyInfo *y = &b->bodies[i].info;
    if (y->kind != CN_BODY_DYNAMIC || same_mass(&a->bodies[i], &b->bodies[i])) continue;
    CnSym3 inertia = {y->inertia.x, y->inertia.y, y->inertia.z, 0, 0, 0};
    CNI_TRY(cn_body_set_mass(world, (CnBodyId){(uint32_t)i + 1, 1}, y->mass, &y->com, &inertia));
  }
  return CN_OK;
}

CnStatus cn_scene_change(const CnScene *from, const CnScene *to, CnWorld *world) {
  CNI_FLOATS;
  if (!from || !to || !world) return cni_invalid("cn_scene_change: a null pointer");
  CNI_TRY(check_counts(from, to));
  CNI_TRY(check_bodies(from, to));
  CNI_TRY(check_joints(from, to));
  CNI_TRY(check_others(from, to));
  CNI_TRY(change_laws(from, to, world));
  CNI_TRY(change_functions(from, to, world));
  CNI_TRY(change_links(from, to, world));
  return change_masses(from, to, world);
}
