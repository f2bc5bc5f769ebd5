// SPDX-License-Identifier: Apache-2.0
// Joints and forces. Where a joint sits is given by points in the world, which is how assemblies are drawn, or
// by frames on the two bodies, which shows a wrong assembly: "anchor" for the point that a joint
// holds together, "anchors" for the two ends of a distance, "frames" for either. "axis" is the
// direction in the world along which z of both frames lies. What a joint may have beside that, and
// its coordinates, are what the row of its kind lists. A force between two bodies is placed like a
// joint whose ends are apart, one on a body alone by a "point" of its frame.
#include <string.h>

#include "force/force.h"
#include "io/scene/scene_private.h"

// A body by name, or the ground (-1).
static CnStatus read_body(CniReader *reader, json_t *value, int32_t *body) {
  *body = -1;
  if (json_is_string(value) && strcmp(json_string_value(value), "ground") == 0) return CN_OK;
  return cni_scene_refer(reader, value, &reader->body_names, "body", body);
}

static CnStatus read_bodies(CniReader *reader, json_t *item, const char *sort,
                            CniSceneJoint *joint) {
  const CniSceneBody *bodies = reader->scene->bodies;
  int32_t *sides[2] = {&joint->body_a, &joint->body_b}, dynamic = 0;
  json_t *name;
  CNI_TRY(cni_scene_require(reader, item, "bodies"));
  CNI_MEMBER (reader, item, "bodies", value) {
    CNI_TRY(cni_scene_pair(reader, value, "names"));
    CNI_ELEMENTS (reader, value, i, name) {
      CNI_TRY(read_body(reader, name, sides[i]));
      if (i == 1 && joint->body_a == joint->body_b)
        return cni_scene_fail(reader, name, "a %s needs two bodies", sort);
      dynamic |= *sides[i] >= 0 && bodies[*sides[i]].def.kind == CN_BODY_DYNAMIC;
    }
    if (!dynamic)
      return cni_scene_fail(reader, value, "one of a %s's bodies must be dynamic", sort);
  }
  return CN_OK;
}

static CnPose pose_of(const CniReader *reader, int32_t body) {
  return body < 0 ? CN_POSE_ONE : reader->scene->bodies[body].def.pose;
}

// Frames at two points of the world, their axes those of the world or along "axis".
static CnStatus put_frames(CniReader *reader, json_t *item, CnVec3 a, CnVec3 b,
                           CniSceneJoint *joint) {
  CnPose pose_a = pose_of(reader, joint->body_a), pose_b = pose_of(reader, joint->body_b);
  CnQuat qa = cn_qconj(pose_a.rotation), qb = cn_qconj(pose_b.rotation);
  CnVec3 axis = CN_VEC3_ZERO;
  CNI_TRY(cni_scene_get_vec3(reader, item, "axis", CNI_ANY, &axis));
  CNI_MEMBER (reader, item, "axis", given) {
    if (!(cn_norm(axis) > 0) || !isfinite(cn_norm(axis)))
      return cni_scene_fail(reader, given, "must have a direction");
    CnQuat axes = cni_joint_axes(axis);
    qa = cn_qmul(qa, axes);
    qb = cn_qmul(qb, axes);
  }
  joint->def.frame_a = (CnPose){cn_pose_local(pose_a, a), qa};
  joint->def.frame_b = (CnPose){cn_pose_local(pose_b, b), qb};
  return CN_OK;
}

static CnStatus read_anchors(CniReader *reader, json_t *item, CniSceneJoint *joint) {
  CnVec3 points[2] = {CN_VEC3_ZERO, CN_VEC3_ZERO};
  json_t *point;
  CNI_MEMBER (reader, item, "anchors", value) {
    CNI_TRY(cni_scene_pair(reader, value, "points"));
    CNI_ELEMENTS (reader, value, i, point)
      CNI_TRY(
          cni_scene_numbers(reader, point, 3, "a list of three numbers", CNI_ANY, &points[i].x));
  }
  return put_frames(reader, item, points[0], points[1], joint);
}

static CnStatus read_frames(CniReader *reader, json_t *item, CniSceneJoint *joint) {
  static const char *const keys[] = {"position", "rotation", NULL};
  CnPose *frames[2] = {&joint->def.frame_a, &joint->def.frame_b};
  json_t *frame;
  CNI_MEMBER (reader, item, "frames", value) {
    CNI_TRY(cni_scene_pair(reader, value, "frames"));
    CNI_ELEMENTS (reader, value, i, frame) {
      CNI_TRY(cni_scene_keys(reader, frame, keys));
      CNI_TRY(cni_scene_get_pose(reader, frame, frames[i]));
    }
  }
  return CN_OK;
}

// Exactly one of the ways to say where.
static CnStatus read_place(CniReader *reader, json_t *item, const char *sort, const char *kind,
                           int apart, CniSceneJoint *joint) {
  int anchor = json_object_get(item, "anchor") != NULL;
  int anchors = json_object_get(item, "anchors") != NULL;
  int frames = json_object_get(item, "frames") != NULL;
  if (anchor + anchors + frames != 1)
    return cni_scene_fail(reader, item, "needs one of %s\"anchors\" and \"frames\"",
                          apart ? "" : "\"anchor\", ");
  if (anchors) return read_anchors(reader, item, joint);
  if (frames && json_object_get(item, "axis"))
    return cni_scene_fail(reader, item, "\"frames\" have their own axes: leave \"axis\" out");
  if (frames) return read_frames(reader, item, joint);
  if (apart)
    return cni_scene_fail(reader, item, "a %s %s needs two \"anchors\" or \"frames\"", kind, sort);
  CnVec3 point = CN_VEC3_ZERO;
  CNI_TRY(cni_scene_get_vec3(reader, item, "anchor", CNI_ANY, &point));
  return put_frames(reader, item, point, point, joint);
}

static CnStatus check_frames(CniReader *reader, json_t *item, const char *sort,
                             const CniSceneJoint *joint) {
  if (cn_vec3_finite(joint->def.frame_a.position) && cn_vec3_finite(joint->def.frame_b.position))
    return CN_OK;
  return cni_scene_fail(reader, item, "the %s is too far away from its bodies", sort);
}

// A distance that is not given is the present one, which must be one.
static CnStatus check_distance(CniReader *reader, json_t *item, const char *key, double given,
                               const CniSceneJoint *joint) {
  if (given > 0) return CN_OK;
  CnVec3 a = cn_pose_point(pose_of(reader, joint->body_a), joint->def.frame_a.position);
  CnVec3 b = cn_pose_point(pose_of(reader, joint->body_b), joint->def.frame_b.position);
  double distance = cn_norm(cn_sub(b, a));
  if (distance > 1e-100 && isfinite(distance)) return CN_OK;
  return cni_scene_fail(reader, item, "without a \"%s\" the present one is kept, which is %g", key,
                        distance);
}

// Fields by their descriptions. A bound may be absent, or "unlimited".
static CnStatus read_fields(CniReader *reader, json_t *item, const CniField *fields, void *def) {
  for (const CniField *f = fields; f && f->name; f++) {
    const char *word = json_string_value(json_object_get(item, f->name));
    void *at = cni_field_at(f, def);
    double *number = at;
    if (f->type == CNI_FIELD_VEC3)
      CNI_TRY(cni_scene_get_vec3(reader, item, f->name, f->range, at));
    else if (f->type == CNI_FIELD_FLAG)
      CNI_TRY(cni_scene_get_flag(reader, item, f->name, at));
    else if (f->type == CNI_FIELD_CHOICE)
      CNI_TRY(cni_scene_get_choice(reader, item, f->name, f->words, at));
    else if (f->type == CNI_FIELD_BITS && f->words)
      CNI_TRY(cni_scene_get_curve(reader, item, f->name, at));
    else if (f->type == CNI_FIELD_BITS)
      CNI_TRY(cni_scene_get_function(reader, item, f->name, at));
    else if (word && f->range == CNI_BOUND && strcmp(word, "unlimited") == 0)
      *number = INFINITY;
    else if (word && f->range == CNI_BOUND && word[0] != '=')
      CNI_MEMBER (reader, item, f->name, given)
        return cni_scene_fail(reader, given, "must be a number, \"=expression\" or \"unlimited\"");
    else
      CNI_TRY(cni_scene_get_number(reader, item, f->name, f->range, number));
  }
  return CN_OK;
}

#define MOST_FIELDS 24

// What a motor is told and would not hear.
static CnStatus check_motor(CniReader *reader, json_t *value, CnDrive drive) {
  static const char *const keys[] = {"motor_speed",     "motor_position", "motor_function",
                                     "motor_stiffness", "motor_damping",  NULL};
  static const char *const drives[] = {"speed", "position", "effort"};
  int effort = json_object_get(value, "motor_effort") != NULL;
  int function = json_object_get(value, "motor_function") != NULL;
  for (int32_t i = 0; keys[i]; i++) {
    if (!json_object_get(value, keys[i])) continue;
    if (!effort && !(drive == CN_DRIVE_EFFORT && function))
      return cni_scene_fail(reader, value, "\"%s\" without \"motor_effort\": there is no motor",
                            keys[i]);
    int heard = i == 0   ? drive == CN_DRIVE_SPEED
                : i == 1 ? drive == CN_DRIVE_POSITION
                : i == 3 ? drive == CN_DRIVE_POSITION
                : i == 4 ? drive != CN_DRIVE_EFFORT
                         : 1;
    if (!heard)
      return cni_scene_fail(reader, value, "\"%s\" is not for the drive \"%s\"%s", keys[i],
                            drives[drive],
                            drive == CN_DRIVE_SPEED ? ": say \"drive\": \"position\"" : "");
    if (function && i < 2)
      return cni_scene_fail(reader, value,
                            "\"%s\" and \"motor_function\": one of them is the target", keys[i]);
  }
  return CN_OK;
}

// What belongs to a spring or to limits that are not there; the gap of a cam is limited without (`limited`).
static CnStatus check_idle(CniReader *reader, json_t *value, const CnJointAxis *axis, int limited) {
  static const char *const of_limits[] = {"limit_stiffness", "limit_damping", "restitution", NULL};
  if (json_object_get(value, "rest") && !json_object_get(value, "stiffness"))
    return cni_scene_fail(reader, value, "\"rest\" without \"stiffness\": there is no spring");
  for (int32_t i = 0; of_limits[i]; i++)
    if (json_object_get(value, of_limits[i]) && !limited && axis->lower == -INFINITY &&
        axis->upper == INFINITY)
      return cni_scene_fail(
          reader, value, "\"%s\" without \"lower\" or \"upper\": there is no limit", of_limits[i]);
  return CN_OK;
}

// What acts on the coordinates: an object named like the coordinate.
static CnStatus read_axes(CniReader *reader, json_t *item, CnJointDef *def) {
  const char *keys[MOST_FIELDS + 1] = {0};
  for (int32_t i = 0; cni_joint_axis_fields[i].name && i < MOST_FIELDS; i++)
    keys[i] = cni_joint_axis_fields[i].name;
  for (int32_t i = 0; i < cni_joint_coordinate_count(def->kind); i++) {
    CNI_MEMBER (reader, item, cn_joint_coordinate_name(def->kind, i), value) {
      CNI_TRY(cni_scene_keys(reader, value, keys));
      CNI_TRY(read_fields(reader, value, cni_joint_axis_fields, &def->axes[i]));
      CNI_TRY(check_motor(reader, value, def->axes[i].drive));
      CNI_TRY(check_idle(reader, value, &def->axes[i], cni_joint_kind(def->kind)->curves > 0));
      CnJointDef copy = *def;
      CnStatus status = cni_joint_def_check(&copy);
      if (status != CN_OK) return cni_scene_fail_call(reader, value, status);
    }
  }
  return CN_OK;
}

// The keys of a kind.
static CnStatus check_keys(CniReader *reader, json_t *item, CnJointKind kind) {
  const char *keys[8 + MOST_FIELDS + CN_JOINT_AXES] = {"name",   "kind",    "bodies",
                                                       "anchor", "anchors", "frames"};
  int32_t count = 6, coordinates = cni_joint_coordinate_count(kind);
  // an axis leaves open where x of a curve's plane is
  if (coordinates > 0 && !cni_joint_kind(kind)->curves) keys[count++] = "axis";
  const CniField *fields = cni_joint_kind(kind)->fields;
  for (int32_t i = 0; fields && fields[i].name && i < MOST_FIELDS; i++)
    keys[count++] = fields[i].name;
  for (int32_t i = 0; i < coordinates; i++) keys[count++] = cn_joint_coordinate_name(kind, i);
  return cni_scene_keys(reader, item, keys);
}

static const char *joint_kind(int32_t i) {
  return i < cni_joint_kind_count() ? cni_joint_kind(i)->name : NULL;
}

static CnStatus make_joint(CniReader *reader, json_t *item) {
  CnScene *scene = reader->scene;
  int32_t kind = 0, number = scene->joint_count;
  CNI_TRY(cni_scene_get_kind(reader, item, joint_kind, &kind));
  CNI_TRY(check_keys(reader, item, (CnJointKind)kind));
  CniSceneJoint joint = {.def = cn_joint_def_default((CnJointKind)kind)};
  CnJointDef *def = &joint.def;
  CNI_TRY(cni_scene_new_name(reader, item, &reader->joint_names, number, "joint", &def->name));
  const CniJointKind *row = cni_joint_kind(kind);
  CNI_TRY(read_bodies(reader, item, "joint", &joint));
  CNI_TRY(read_place(reader, item, "joint", row->name, row->apart, &joint));
  CNI_TRY(check_frames(reader, item, "joint", &joint));
  CNI_TRY(read_fields(reader, item, row->fields, def));
  if (row->fields && cni_field_find(row->fields, "lead"))
    CNI_TRY(cni_scene_require(reader, item, "lead"));
  for (int32_t i = 0; i < row->curves; i++)
    CNI_TRY(cni_scene_require(reader, item, i ? "curve_b" : "curve_a"));
  if (row->fit && row->apart && !row->curves)
    CNI_TRY(check_distance(reader, item, "distance", def->distance, &joint));
  CNI_TRY(read_axes(reader, item, def));
  return CNI_PUSH(&scene->allocator, scene->joints, scene->joint_capacity, scene->joint_count,
                  joint);
}

// ---- forces ----

static CnStatus check_force_keys(CniReader *reader, json_t *item, const CniForceKind *kind) {
  const char *keys[8 + MOST_FIELDS] = {"name", "kind", "bodies", "anchors", "frames", "axis"};
  int32_t count = kind->single ? 4 : 6;
  if (kind->single) keys[2] = "body";
  if (kind->single) keys[3] = "point";
  for (int32_t i = 0; kind->fields[i].name && i < MOST_FIELDS; i++)
    keys[count++] = kind->fields[i].name;
  for (; count < 8 + MOST_FIELDS; count++) keys[count] = NULL;
  return cni_scene_keys(reader, item, keys);
}

// A body that moves, and a point of its frame.
static CnStatus read_single(CniReader *reader, json_t *item, CniSceneForce *force) {
  int32_t *body = &force->body_b;
  CNI_TRY(cni_scene_get_reference(reader, item, "body", &reader->body_names, "body", body));
  CNI_MEMBER (reader, item, "body", value)
    if (reader->scene->bodies[*body].def.kind != CN_BODY_DYNAMIC)
      return cni_scene_fail(reader, value, "the body of a force must be dynamic");
  return cni_scene_get_vec3(reader, item, "point", CNI_ANY, &force->def.frame_b.position);
}

static CnStatus read_pair(CniReader *reader, json_t *item, const CniForceKind *kind,
                          CniSceneForce *force) {
  CniSceneJoint two = {.def = cn_joint_def_default(CN_JOINT_DISTANCE)};
  CNI_TRY(read_bodies(reader, item, "force", &two));
  CNI_TRY(read_place(reader, item, "force", kind->name, 1, &two));
  CNI_TRY(check_frames(reader, item, "force", &two));
  force->body_a = two.body_a;
  force->body_b = two.body_b;
  force->def.frame_a = two.def.frame_a;
  force->def.frame_b = two.def.frame_b;
  if (!cni_field_find(kind->fields, "rest_length") || force->def.rest_function.slot > 0)
    return CN_OK;
  double length = json_object_get(item, "rest_length") ? force->def.rest_length : 0;
  return check_distance(reader, item, "rest_length", length, &two);
}

static const char *force_kind(int32_t i) {
  return i < cni_force_kind_count() ? cni_force_kind(i)->name : NULL;
}

static CnStatus make_force(CniReader *reader, json_t *item) {
  CnScene *scene = reader->scene;
  int32_t number = 0, count = scene->force_count;
  CNI_TRY(cni_scene_get_kind(reader, item, force_kind, &number));
  const CniForceKind *kind = cni_force_kind(number);
  CNI_TRY(check_force_keys(reader, item, kind));
  CniSceneForce force = {cn_force_def_default((CnForceKind)number), -1, -1};
  CnForceDef *def = &force.def;
  CNI_TRY(cni_scene_new_name(reader, item, &reader->force_names, count, "force", &def->name));
  CNI_TRY(read_fields(reader, item, kind->fields, def));
  CNI_TRY(kind->single ? read_single(reader, item, &force) : read_pair(reader, item, kind, &force));
  return CNI_PUSH(&scene->allocator, scene->forces, scene->force_capacity, scene->force_count,
                  force);
}

CnStatus cni_scene_read_joints(CniReader *reader, json_t *root) {
  CNI_TRY(cni_scene_get_list(reader, root, "joints", make_joint, &reader->item_count));
  return cni_scene_get_list(reader, root, "forces", make_force, &reader->item_count);
}
