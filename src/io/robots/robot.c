// SPDX-License-Identifier: Apache-2.0
// From the text of a robot description to the scene, and what readers of all formats share: bodies,
// joints, names, notes.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/math.h"
#include "io/robots/model.h"

// The formats by the name of their first element, and the settings that are theirs.
static const struct {
  const char *root;
  CnStatus (*read)(CniRobot *robot, CniXmlNode *root);
  const char *name, *settings[3];
} formats[] = {{"robot", cni_robot_urdf, "URDF", {"floating"}},
               {"mujoco", cni_robot_mjcf, "MJCF", {"keyframe", "tendons"}},
               {"sdf", cni_robot_sdf, "SDF", {NULL}}};
#define FORMATS (sizeof formats / sizeof *formats)
#define MOST_NOTES 1000

int cni_robot_is(const char *text, size_t size) {
  if (size >= 4 && memcmp(text, "\xFF\xFE<", 4) == 0) return 1; // UTF-16, of either order
  if (size >= 4 && memcmp(text, "\xFE\xFF\0<", 4) == 0) return 1;
  size_t i = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  while (i < size && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r')) i++;
  return i < size && text[i] == '<';
}

CnStatus cni_robot_init(CniRobot *robot, const CniRobotDef *def, const CnAllocator *allocator) {
  *robot = (CniRobot){.def = def, .allocator = allocator, .title = ""};
  cni_arena_init(&robot->arena, allocator);
  json_t **lists[] = {&robot->notes, &robot->couplings, &robot->forces,        &robot->links,
                      &robot->pairs, &robot->sensors,   &robot->material_pairs};
  json_t **objects[] = {&robot->materials, &robot->geometries, &robot->settings};
  int there = 1;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    there &= (*lists[i] = json_array()) != NULL;
  for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
    there &= (*objects[i] = json_object()) != NULL;
  return there ? CN_OK : cni_error_memory(sizeof *robot);
}

void cni_robot_release(CniRobot *robot) {
  const CnAllocator *a = robot->allocator;
  json_t *values[] = {robot->notes,    robot->couplings,     robot->forces,    robot->links,
                      robot->pairs,    robot->sensors,       robot->materials, robot->geometries,
                      robot->settings, robot->material_pairs};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) json_decref(values[i]);
  for (int32_t i = 0; i < robot->shape_count; i++) json_decref(robot->shapes[i].item);
  CNI_RELEASE(a, robot->bodies, robot->body_capacity);
  CNI_RELEASE(a, robot->joints, robot->joint_capacity);
  CNI_RELEASE(a, robot->shapes, robot->shape_capacity);
  cni_name_release(&robot->body_names, a);
  cni_name_release(&robot->joint_names, a);
  cni_name_release(&robot->meshes, a);
  CNI_RELEASE(a, robot->mesh_names, robot->mesh_capacity);
  for (int32_t i = 0; i < 4; i++) cni_name_release(&robot->scene_names[i], a);
  cni_arena_release(&robot->arena);
}

// ---- names ----

// Braces would be expressions, and control characters break lines.
static void clean(char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < 32 || *text == '{' || *text == '}') *text = '_';
}

CnStatus cni_robot_name(CniRobot *robot, int32_t kind, const char *source, const char **name) {
  static const char *const kinds[] = {"body", "joint", "sensor", "part"};
  CniNameTable *table = &robot->scene_names[kind];
  char text[2 * CNI_NAME_SIZE], base[CNI_NAME_SIZE];
  if (source && source[0])
    snprintf(text, sizeof text, "%s%s", robot->def->prefix, source);
  else
    snprintf(text, sizeof text, "%s%s%d", robot->def->prefix, kinds[kind], (int)table->count + 1);
  clean(text);
  int whole = strlen(text) < CNI_NAME_SIZE && strcmp(text, "ground") != 0;
  text[CNI_NAME_SIZE - 8] = whole ? text[CNI_NAME_SIZE - 8] : 0;
  // not in the middle of a character
  for (size_t n = strlen(text); !whole && n > 0 && (text[n - 1] & 0x80); n--) text[n - 1] = 0;
  text[CNI_NAME_SIZE - 1] = 0;
  memcpy(base, text, CNI_NAME_SIZE);
  for (int32_t i = 2; cni_name_find(table, text) >= 0 || (!whole && i == 2); i++) {
    if (i > 1000000)
      return cni_bad_data("%s: too many things are called %s", robot->def->path, base);
    snprintf(text, sizeof text, "%.40s~%d", base, (int)i);
  }
  const char *kept = cni_xml_keep(&robot->arena, text, strlen(text));
  if (!kept) return cni_error_memory(sizeof text);
  CNI_TRY(cni_name_add(table, robot->allocator, kept, table->count));
  *name = kept;
  if (source && source[0] && strcmp(text + strlen(robot->def->prefix), source) != 0)
    cni_robot_note(robot, "%.60s is called %s", source, text);
  return CN_OK;
}

void cni_robot_note(CniRobot *robot, const char *format, ...) {
  char line[400];
  va_list arguments;
  if (json_array_size(robot->notes) >= MOST_NOTES) return;
  if (json_array_size(robot->notes) == MOST_NOTES - 1) format = "and more";
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  for (char *c = line; *c; c++)
    if ((unsigned char)*c < 32) *c = '?';
  size_t n = strlen(line);
  while (n > 0 && sizeof line - n < 2 && (line[n - 1] & 0x80)) line[--n] = 0; // a cut character
  cni_robot_push(robot, robot->notes, json_string(line));
}

// ---- parts ----

CnStatus cni_robot_add_body(CniRobot *robot, const char *source, CniXmlNode *node, int32_t parent,
                            CnPose pose, int32_t *body) {
  CniRobotBody made = {.source = source ? source : "",
                       .node = node,
                       .parent = parent,
                       .pose = pose,
                       .com = CN_POSE_ONE,
                       .first_joint = robot->joint_count};
  if (made.source[0] && cni_name_find(&robot->body_names, made.source) >= 0)
    return cni_xml_fail(node, "a second body is called %.60s", made.source);
  CNI_TRY(cni_robot_name(robot, 0, source, &made.name));
  if (made.source[0])
    CNI_TRY(cni_name_add(&robot->body_names, robot->allocator, made.source, robot->body_count));
  *body = robot->body_count;
  return CNI_PUSH(robot->allocator, robot->bodies, robot->body_capacity, robot->body_count, made);
}

CnStatus cni_robot_add_joint(CniRobot *robot, const CniRobotJoint *joint, int32_t *index) {
  CniRobotJoint made = *joint;
  made.body = robot->body_count - 1;
  made.source = made.source ? made.source : "";
  double length = cn_norm(made.axis);
  if (!(length > 1e-12 && length < 1e12))
    return cni_xml_fail(made.node, "the axis must have a direction (its length is %g)", length);
  made.axis = cn_scale(1 / length, made.axis);
  if (made.limited && made.lower > made.upper)
    return cni_xml_fail(made.node, "the lower limit %g is above the upper one %g", made.lower,
                        made.upper);
  if (made.damping < 0 || made.friction < 0 || made.stiffness < 0 || made.armature < 0)
    return cni_xml_fail(made.node, "damping, friction, stiffness and armature are not negative");
  if (made.source[0] && cni_name_find(&robot->joint_names, made.source) >= 0)
    return cni_xml_fail(made.node, "a second joint is called %.60s", made.source);
  CNI_TRY(cni_robot_name(robot, 1, made.source, &made.name));
  if (made.source[0])
    CNI_TRY(cni_name_add(&robot->joint_names, robot->allocator, made.source, robot->joint_count));
  robot->bodies[made.body].joint_count++;
  *index = robot->joint_count;
  return CNI_PUSH(robot->allocator, robot->joints, robot->joint_capacity, robot->joint_count, made);
}

CnStatus cni_robot_add_shape(CniRobot *robot, int32_t body, CnPose pose, json_t *item) {
  CniRobotShape made = {body, pose, item};
  if (!item) return cni_error_memory(1);
  CnStatus status =
      CNI_PUSH(robot->allocator, robot->shapes, robot->shape_capacity, robot->shape_count, made);
  if (status != CN_OK) {
    json_decref(item);
    return status;
  }
  if (body != CNI_ROBOT_WORLD) {
    const char *kind = json_string_value(json_object_get(item, "kind"));
    robot->bodies[body].shape_count++;
    robot->bodies[body].unbounded |= kind && strcmp(kind, "plane") == 0;
  }
  return CN_OK;
}

int cni_robot_asked(const CniRobot *robot, const char *key, double *value) {
  int asked = 0;
  for (int32_t i = 0; i < robot->def->setting_count; i++)
    if (strcmp(robot->def->settings[i].key, key) == 0) {
      *value = robot->def->settings[i].value;
      asked = 1;
    }
  return asked;
}

// ---- orientations ----

CnQuat cni_turn_about(CnVec3 axis, double angle) { return cni_quat_exp(cn_scale(angle, axis)); }

CnQuat cni_turn_euler(const char *sequence, const double angles[3]) {
  CnQuat turn = CN_QUAT_ONE;
  for (int32_t i = 0; i < 3; i++) {
    char letter = sequence[i];
    int moving = letter >= 'x';
    int axis = letter - (moving ? 'x' : 'X');
    CnQuat q = cni_turn_about(cn_vec3(axis == 0, axis == 1, axis == 2), angles[i]);
    turn = moving ? cn_qmul(turn, q) : cn_qmul(q, turn);
  }
  return turn;
}

// ---- the whole ----

// Settings of other formats, which do nothing to this one.
static void note_settings(CniRobot *robot, size_t own) {
  for (size_t i = 0; i < FORMATS; i++)
    for (int32_t k = 0; k < 3 && i != own && formats[i].settings[k]; k++) {
      const char *key = formats[i].settings[k];
      double value = 0;
      if (cni_robot_asked(robot, key, &value) && cni_name_find(&robot->joint_names, key) < 0)
        cni_robot_note(robot, "beware: %s is for %s and does nothing to %s", key, formats[i].name,
                       formats[own].name);
    }
}

static CnStatus read_robot(CniRobot *robot, const char *text, size_t size, json_t **scene) {
  CniXmlNode *root = NULL;
  CNI_TRY(cni_xml_parse(&robot->arena, text, size, robot->def->path, &root));
  root->used = 1;
  for (size_t i = 0; i < FORMATS; i++) {
    if (strcmp(formats[i].root, root->name) != 0) continue;
    CNI_TRY(formats[i].read(robot, root));
    note_settings(robot, i);
    CNI_TRY(cni_robot_look_at_circles(robot));
    return cni_robot_write(robot, root, scene);
  }
  return cni_xml_fail(root, "is not the beginning of a robot description: <robot> (URDF), "
                            "<mujoco> (MJCF) and <sdf> are");
}

CnStatus cni_robot_read(const CniRobotDef *def, const char *text, size_t size,
                        const CnAllocator *allocator, json_t **scene) {
  CniRobot *robot;
  CNI_TRY(cni_new(allocator, sizeof *robot, &robot));
  CnStatus status = cni_robot_init(robot, def, allocator);
  if (status == CN_OK) status = read_robot(robot, text, size, scene);
  cni_robot_release(robot);
  cni_release(allocator, robot, sizeof *robot);
  return status;
}

CnStatus cni_robot_text(const CniRobotDef *def, const char *text, size_t size,
                        const CnAllocator *allocator, char **scene, size_t *length) {
  json_t *root = NULL;
  CNI_TRY(cni_robot_read(def, text, size, allocator, &root));
  CnStatus status = cni_json_text(root, allocator, scene, length);
  json_decref(root);
  return status;
}
