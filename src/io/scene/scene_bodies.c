// SPDX-License-Identifier: Apache-2.0
// Bodies and their shapes. Each body is tried in a small model of its own as it is read: whatever a
// world would refuse is refused here, with its place in the file.
#include <string.h>

#include "io/scene/scene_private.h"

// A body's mass is summed anew with every shape.
#define MOST_SHAPES 1000

// ---- shapes ----

// The rotation that takes z to the direction n (not zero).
static CnQuat turn_from_z(CnVec3 n) {
  n = cn_scale(1 / cn_norm(n), n);
  double across = n.x * n.x + n.y * n.y;
  if (across == 0) return n.z > 0 ? CN_QUAT_ONE : (CnQuat){0, 1, 0, 0};
  // 1 + n.z, without cancellation where n points down
  double w = n.z >= 0 ? 1 + n.z : across / (1 - n.z);
  double length = sqrt(w * w + across);
  return (CnQuat){w / length, -n.y / length, n.x / length, 0};
}

static CnStatus read_normal(CniReader *reader, json_t *item, CnPose *pose) {
  CnVec3 normal = CN_VEC3_ZERO;
  CNI_TRY(cni_scene_get_vec3(reader, item, "normal", CNI_ANY, &normal));
  CNI_MEMBER (reader, item, "normal", value) {
    if (json_object_get(item, "rotation"))
      return cni_scene_fail(reader, value, "give either \"normal\" or \"rotation\"");
    double length = cn_norm(normal);
    if (!(length > 1e-100 && length < 1e100))
      return cni_scene_fail_number(reader, NULL, length, "the normal must have a length");
    pose->rotation = turn_from_z(normal);
  }
  return CN_OK;
}

// A scene speaks of whole sizes, a definition of half ones: "size" is half_size, "length" is
// half_length.
static const char *scene_key(const CniField *field) {
  return strncmp(field->name, "half_", 5) == 0 ? field->name + 5 : field->name;
}

static CnStatus read_sizes(CniReader *reader, json_t *item, CnShapeDef *def) {
  if (cni_shape_unbounded(def->kind)) CNI_TRY(read_normal(reader, item, &def->pose));
  for (const CniField *f = cni_shape_kinds[def->kind]->fields; f->name; f++) {
    const char *key = scene_key(f);
    double part = key == f->name ? 1 : 0.5;
    // what may be zero may be left out
    if (!cni_range_holds(f->range, 0)) CNI_TRY(cni_scene_require(reader, item, key));
    if (f->type == CNI_FIELD_VEC3) {
      CnVec3 *size = cni_field_at(f, def);
      CNI_TRY(cni_scene_get_size(reader, item, key, f->range, size));
      *size = cn_scale(part, *size);
    } else {
      double *size = cni_field_at(f, def);
      CNI_TRY(cni_scene_get_number(reader, item, key, f->range, size));
      *size *= part;
    }
  }
  return CN_OK;
}

// A height field is a mesh whose triangles follow from a grid; in scenes it has a word of its own.
#define HEIGHT_FIELD CN_SHAPE_KIND_COUNT

// Keys depend on the kind: what all shapes have, what has mass or a normal, and the sizes.
static CnStatus check_shape_keys(CniReader *reader, json_t *item, int32_t number) {
  const char *keys[24 + CNI_SHAPE_SIZES] = {"kind",     "position", "rotation", "material",
                                            "category", "mask",     "trigger"};
  int32_t n = 7;
  if (number == HEIGHT_FIELD) {
    for (int32_t i = 0; cni_scene_height_keys[i]; i++) keys[n++] = cni_scene_height_keys[i];
    return cni_scene_keys(reader, item, keys);
  }
  CnShapeKind kind = (CnShapeKind)number;
  keys[n++] = cni_shape_unbounded(kind) ? "normal" : "density";
  for (const CniField *f = cni_shape_kinds[kind]->fields; f->name; f++) keys[n++] = scene_key(f);
  if (cni_shape_needs_geometry(kind)) keys[n++] = "geometry";
  if (cni_shape_needs_geometry(kind) && !cni_shape_is_surface(kind)) keys[n++] = "points";
  for (int32_t i = 0; cni_shape_is_surface(kind) && cni_scene_mesh_keys[i]; i++)
    keys[n++] = cni_scene_mesh_keys[i];
  return cni_scene_keys(reader, item, keys);
}

static const char *shape_kind(int32_t i) {
  if (i == HEIGHT_FIELD) return "height_field";
  return i < CN_SHAPE_KIND_COUNT ? cni_shape_kinds[i]->name : NULL;
}

// One more shape of the body that is being read.
static CnStatus keep_shape(CniReader *reader, json_t *item, const CniSceneShape *shape) {
  CnScene *scene = reader->scene;
  CnShapeKind kind = shape->def.kind;
  if (cni_shape_unbounded(kind) && reader->body_def.kind == CN_BODY_DYNAMIC)
    return cni_scene_fail(reader, item, "a %s cannot be on a dynamic body",
                          cni_shape_kinds[kind]->name);
  if (reader->probe.shape_count == MOST_SHAPES)
    return cni_scene_fail(reader, item, "a body has at most %d shapes", MOST_SHAPES);
  int32_t open = shape->geometry >= 0 ? scene->geometries[shape->geometry].lone_edges : 0;
  if (open > 0 && reader->body_def.kind == CN_BODY_DYNAMIC)
    CNI_MEMBER (reader, item, "file", value)
      return cni_scene_fail(reader, value,
                            "cannot be on body '%s', which is dynamic: it encloses no volume, %d "
                            "edges have no partner; \"weld\" may close it (`cairn info` tells "
                            "which), or \"as\": \"hull\"",
                            reader->body_def.name ? reader->body_def.name : "", (int)open);
  CnShapeId id;
  CnStatus status = cni_model_add_shape(&reader->probe, reader->probe_body, &shape->def, &id);
  if (status != CN_OK) return cni_scene_fail_call(reader, item, status);
  return CNI_PUSH(&scene->allocator, scene->shapes, scene->shape_capacity, scene->shape_count,
                  *shape);
}

// A mesh is kept as what its file has become: a surface, a hull, several parts.
static CnStatus keep_mesh(CniReader *reader, json_t *item, CniSceneShape *shape) {
  int32_t first = shape->geometry;
  for (int32_t k = 0; k < reader->scene->geometries[first].part_count; k++) {
    const CniSceneGeometry *g = &reader->scene->geometries[first + k];
    shape->geometry = first + k;
    shape->def.geometry = g->id;
    if (!g->triangle_count && !g->heights && json_object_get(item, "file"))
      shape->def.kind = CN_SHAPE_HULL;
    CNI_TRY(keep_shape(reader, item, shape));
  }
  return CN_OK;
}

// All shapes of a part, at a pose.
static CnStatus use_part(CniReader *reader, json_t *item) {
  static const char *const keys[] = {"part", "position", "rotation", NULL};
  CnPose pose = CN_POSE_ONE;
  int32_t number = 0;
  CNI_TRY(cni_scene_keys(reader, item, keys));
  CNI_MEMBER (reader, item, "part", value)
    CNI_TRY(cni_scene_refer(reader, value, &reader->part_names, "part", &number));
  CNI_TRY(cni_scene_get_pose(reader, item, &pose));
  CniScenePart part = reader->parts[number];
  for (int32_t k = 0; k < part.count; k++) {
    CniSceneShape shape = reader->part_shapes[part.first + k];
    if (shape.def.category == CNI_USUAL_CATEGORY && shape.def.mask == CNI_USUAL_MASK) {
      shape.def.category = reader->body_category;
      shape.def.mask = reader->body_mask;
    }
    shape.def.pose = cn_pose_mul(pose, shape.def.pose);
    CNI_TRY(keep_shape(reader, item, &shape));
  }
  return CN_OK;
}

static CnStatus make_shape(CniReader *reader, json_t *item) {
  static const char *const own[] = {"density", "category", "mask", "trigger", NULL};
  int32_t kind = 0;
  if (json_object_get(item, "part")) return use_part(reader, item);
  CNI_TRY(cni_scene_get_kind(reader, item, shape_kind, &kind));
  CNI_TRY(check_shape_keys(reader, item, kind));
  int field = kind == HEIGHT_FIELD;
  CniSceneShape shape = {cn_shape_def_default(field ? CN_SHAPE_MESH : (CnShapeKind)kind), -1, -1};
  CnShapeDef *def = &shape.def;
  def->category = reader->body_category;
  def->mask = reader->body_mask;
  CNI_TRY(cni_scene_get_pose(reader, item, &def->pose));
  if (!field) CNI_TRY(read_sizes(reader, item, def));
  if (field)
    CNI_TRY(cni_scene_shape_heights(reader, item, &shape));
  else if (cni_shape_needs_geometry(def->kind))
    CNI_TRY(cni_scene_shape_geometry(reader, item, &shape));
  for (const char *const *key = own; *key; key++)
    CNI_TRY(cni_scene_get_field(reader, item, cni_field_find(cni_shape_fields, *key), def));
  CNI_MEMBER (reader, item, "material", value)
    CNI_TRY(cni_scene_refer(reader, value, &reader->material_names, "material", &shape.material));
  return cni_shape_is_surface(def->kind) ? keep_mesh(reader, item, &shape)
                                         : keep_shape(reader, item, &shape);
}

// ---- parts ----

// The shapes of a part are read as those of a body that does not move, and set aside.
static CnStatus read_part(CniReader *reader, json_t *value, const char *name) {
  static const char *const keys[] = {"shapes", NULL};
  CnScene *scene = reader->scene;
  const CnAllocator *a = &scene->allocator;
  (void)name;
  CNI_TRY(cni_scene_keys(reader, value, keys));
  CNI_TRY(cni_scene_require(reader, value, "shapes"));
  reader->body_def = cn_body_def_default();
  reader->body_def.kind = CN_BODY_FIXED;
  CNI_TRY(cni_model_add_body(&reader->probe, &reader->body_def, &reader->probe_body));
  CNI_TRY(cni_scene_get_list(reader, value, "shapes", make_shape, &reader->shape_item_count));
  CNI_TRY(cni_model_remove_body(&reader->probe, reader->probe_body));
  CniScenePart part = {reader->part_shape_count, scene->shape_count};
  for (int32_t i = 0; i < part.count; i++)
    CNI_TRY(CNI_PUSH(a, reader->part_shapes, reader->part_shape_capacity, reader->part_shape_count,
                     scene->shapes[i]));
  scene->shape_count = 0;
  return CNI_PUSH(a, reader->parts, reader->part_capacity, reader->part_count, part);
}

CnStatus cni_scene_read_parts(CniReader *reader, json_t *root) {
  return cni_scene_read_named(reader, root, "parts", &reader->part_names, read_part);
}

// ---- bodies ----

// Mass, centre of mass and inertia given by numbers: all three, or the centre left at the origin; or
// the mass alone, for which the shapes say the rest.
static CnStatus read_body(CniReader *reader, json_t *item, CnBodyDef *def, double *mass) {
  uint64_t mentioned = 0;
  int inertia = json_object_get(item, "inertia") || json_object_get(item, "com");
  *mass = 0;
  if (inertia || json_object_get(item, "mass")) {
    CNI_TRY(cni_scene_require(reader, item, "mass"));
    CNI_TRY(cni_scene_get_number(reader, item, "mass", CNI_POSITIVE, mass));
  }
  if (inertia) CNI_TRY(cni_scene_require(reader, item, "inertia"));
  CNI_TRY(cni_scene_get_fields(reader, item, cni_body_fields, def, &mentioned));
  if (inertia)
    *mass = 0;
  else
    def->mass = 0;
  if (*mass > 0 && def->kind != CN_BODY_DYNAMIC)
    return cni_scene_fail(reader, item,
                          "\"mass\" alone is for dynamic bodies: give \"inertia\" too");
  return CN_OK;
}

// The mass asked for, spread as the shapes spread theirs.
static CnStatus scale_mass(CniReader *reader, json_t *item, double mass, CniSceneBody *body) {
  const CnBodyInfo *info = &body->info;
  if (!(mass > 0)) return CN_OK;
  double share = mass / info->mass;
  CnVec3 j = cn_scale(share, info->inertia);
  if (!(info->mass > 0) || !isfinite(share) || !isfinite(j.x + j.y + j.z))
    return cni_scene_fail(reader, item, "\"inertia\" is missing, and no shape says it");
  body->def.mass = mass;
  body->def.com = info->com;
  body->def.inertia = (CnSym3){j.x, j.y, j.z, 0, 0, 0};
  body->info.mass = mass;
  body->info.inertia = j;
  return CN_OK;
}

// Shapes, and whether the body has mass with them.
static CnStatus read_shapes(CniReader *reader, json_t *item, double mass, CnBodyInfo *info) {
  int32_t i;
  CNI_TRY(cni_scene_get_list(reader, item, "shapes", make_shape, &reader->shape_item_count));
  CNI_TRY(cni_model_find_body(&reader->probe, reader->probe_body, &i));
  *info = (CnBodyInfo){.kind = reader->probe.bodies[i].kind,
                       .mass = reader->probe.mass[i].mass,
                       .com = cni_body_com(&reader->probe.bodies[i]),
                       .inertia = cni_model_principal(&reader->probe, i)};
  if (!cni_model_massless(&reader->probe, i)) return CN_OK;
  if (mass > 0) return cni_scene_fail(reader, item, "\"inertia\" is missing, and no shape says it");
  return cni_scene_fail(reader, item,
                        "a dynamic body needs mass: shapes with a density, or \"mass\" and "
                        "\"inertia\"");
}

// What the model refuses in a body whose numbers are right one by one.
static CnStatus try_body(CniReader *reader, json_t *item, const CnBodyDef *def) {
  CnVec3 v = def->twist.velocity, w = def->twist.spin;
  if (def->kind == CN_BODY_FIXED && (cn_norm2(v) != 0 || cn_norm2(w) != 0)) {
    const char *key = cn_norm2(v) != 0 ? "velocity" : "spin";
    cni_scene_enter(reader, key);
    return cni_scene_fail(reader, json_object_get(item, key), "a fixed body does not move");
  }
  CnStatus status = cni_model_add_body(&reader->probe, def, &reader->probe_body);
  if (status == CN_OK) return CN_OK;
  json_t *inertia = json_object_get(item, "inertia");
  if (inertia) cni_scene_enter(reader, "inertia");
  return cni_scene_fail_call(reader, inertia ? inertia : item, status);
}

static CnStatus read_motion(CniReader *reader, json_t *item, CniSceneBody *body) {
  static const char *const keys[] = {"x", "y", "z", "turn", "axis", NULL};
  CnMotionDef def = cn_motion_def_default();
  CnFunctionId *ids[] = {&def.x, &def.y, &def.z, &def.turn};
  CNI_MEMBER (reader, item, "motion", value) {
    CNI_TRY(cni_scene_keys(reader, value, keys));
    if (body->def.kind != CN_BODY_KINEMATIC)
      return cni_scene_fail(reader, value, "only a kinematic body has a motion");
    for (int32_t k = 0; k < 4; k++)
      CNI_TRY(cni_scene_get_function(reader, value, keys[k], &ids[k]->slot));
    CNI_TRY(cni_scene_get_vec3(reader, value, "axis", CNI_ANY, &def.axis));
    if (!(cn_norm(def.axis) > 0) || !isfinite(cn_norm(def.axis)))
      return cni_scene_fail(reader, value, "\"axis\" must have a direction");
    body->motion = def;
  }
  return CN_OK;
}

// The color of a body that has none is that of the first of its shapes whose material has one.
static void inherit_color(const CnScene *scene, CniSceneBody *body) {
  for (int32_t k = 0; k < body->shape_count; k++) {
    int32_t material = scene->shapes[body->first_shape + k].material;
    const double *color = material >= 0 ? scene->material_colors[material] : NULL;
    for (int32_t c = 0; color && c < 4; c++)
      if (body->color[c] < 0) body->color[c] = color[c];
  }
}

CnStatus cni_scene_make_body(CniReader *reader, json_t *item) {
  static const char *const also[] = {"name", "shapes", "motion", "group", "color", "opacity", NULL};
  CnScene *scene = reader->scene;
  CNI_TRY(cni_scene_field_keys(reader, item, cni_body_fields, also));
  int32_t number = scene->body_count;
  double mass;
  CniSceneBody body = {.def = cn_body_def_default(), .first_shape = scene->shape_count};
  CNI_TRY(cni_scene_new_name(reader, item, &reader->body_names, number, "body", &body.def.name));
  if (body.def.name && strcmp(body.def.name, "ground") == 0) {
    cni_scene_enter(reader, "name");
    return cni_scene_fail(reader, json_object_get(item, "name"),
                          "\"ground\" is the name of what stands still in joints");
  }
  CNI_TRY(read_body(reader, item, &body.def, &mass));
  CNI_TRY(cni_scene_get_color(reader, item, body.color));
  CNI_TRY(read_motion(reader, item, &body));
  CNI_TRY(cni_scene_get_group(reader, item));
  reader->body_def = body.def;
  CNI_TRY(try_body(reader, item, &body.def));
  CNI_TRY(read_shapes(reader, item, mass, &body.info));
  CNI_TRY(cni_model_remove_body(&reader->probe, reader->probe_body));
  CNI_TRY(scale_mass(reader, item, mass, &body));
  body.shape_count = scene->shape_count - body.first_shape;
  inherit_color(scene, &body);
  return CNI_PUSH(&scene->allocator, scene->bodies, scene->body_capacity, scene->body_count, body);
}

CnStatus cni_scene_read_bodies(CniReader *reader, json_t *root) {
  return cni_scene_get_list(reader, root, "bodies", cni_scene_make_body, &reader->item_count);
}
