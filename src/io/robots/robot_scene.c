// SPDX-License-Identifier: Apache-2.0
// A settled robot as the JSON of a scene.
//
// Joints of one body that are not one joint of the scene have bodies between them (between.c).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/robots/model.h"

#define MOST_PAIRS 100000
#define NO_GROUP (-2)

// ---- JSON ----

void cni_robot_put(CniRobot *robot, json_t *object, const char *key, json_t *value) {
  robot->broken |= !value || json_object_set_new(object, key, value) != 0;
}

void cni_robot_push(CniRobot *robot, json_t *list, json_t *value) {
  robot->broken |= !value || json_array_append_new(list, value) != 0;
}

json_t *cni_json_vec3(CnVec3 v) { return json_pack("[f,f,f]", v.x, v.y, v.z); }

void cni_robot_put_pose(CniRobot *robot, json_t *object, CnPose pose) {
  CnVec3 p = pose.position;
  CnQuat q = pose.rotation;
  if (p.x != 0 || p.y != 0 || p.z != 0) cni_robot_put(robot, object, "position", cni_json_vec3(p));
  if (q.w != 1 || q.x != 0 || q.y != 0 || q.z != 0)
    cni_robot_put(robot, object, "rotation", json_pack("[f,f,f,f]", q.w, q.x, q.y, q.z));
}

static json_t *pose_of(CniRobot *robot, CnPose pose) {
  json_t *object = json_object();
  if (object) cni_robot_put_pose(robot, object, pose);
  return object;
}

// ---- joints ----

json_t *cni_robot_term(const CniRobotJoint *joint, double coefficient) {
  const CniRobotJoint *first = joint - joint->rank;
  return json_pack("{s:s, s:s, s:f}", "joint", first->name, "coordinate", joint->coordinate,
                   "coefficient", coefficient);
}

// A joint of the scene between two bodies by their names there.
static json_t *link_named(CniRobot *robot, const char *kind, const char *name, const char *a,
                          CnPose frame_a, const char *b, CnPose frame_b) {
  frame_a.rotation = cn_qunit(frame_a.rotation);
  frame_b.rotation = cn_qunit(frame_b.rotation);
  return json_pack("{s:s, s:s, s:[s,s], s:[o,o]}", "name", name, "kind", kind, "bodies", a, b,
                   "frames", pose_of(robot, frame_a), pose_of(robot, frame_b));
}

// Name and place of what carries a body.
static const char *carrier(const CniRobot *robot, int32_t body, CnPose *frame) {
  const CniRobotBody *b = body == CNI_ROBOT_WORLD ? NULL : &robot->bodies[body];
  if (b) *frame = cn_pose_mul(b->offset, *frame);
  int32_t c = b ? b->carrier : CNI_ROBOT_WORLD;
  if (c != CNI_ROBOT_WORLD && !robot->bodies[c].fixed) return robot->bodies[c].name;
  *frame = cn_pose_mul(c == CNI_ROBOT_WORLD ? robot->def->place : robot->bodies[c].at, *frame);
  return "ground";
}

CnStatus cni_robot_link(CniRobot *robot, json_t *list, const char *kind, const char *name,
                        int32_t body_a, CnPose frame_a, int32_t body_b, CnPose frame_b,
                        json_t **item) {
  const char *a = carrier(robot, body_a, &frame_a), *b = carrier(robot, body_b, &frame_b);
  *item = NULL;
  if (strcmp(a, b) == 0) {
    cni_robot_note(robot, "%.60s connects %.60s with itself: left out", name, a);
    return CN_OK;
  }
  *item = link_named(robot, kind, name, a, frame_a, b, frame_b);
  cni_robot_push(robot, list, *item);
  return CN_OK;
}

static void put_number(CniRobot *robot, json_t *object, const char *key, double value) {
  if (value != 0) cni_robot_put(robot, object, key, json_real(value));
}

// What acts on the coordinate of a joint.
static void put_axis(CniRobot *robot, json_t *item, CniRobotJoint *j) {
  json_t *axis = json_object();
  if (!axis || !j->coordinate) {
    robot->broken |= !axis;
    json_decref(axis);
    return;
  }
  if (j->limited && isfinite(j->lower)) cni_robot_put(robot, axis, "lower", json_real(j->lower));
  if (j->limited && isfinite(j->upper)) cni_robot_put(robot, axis, "upper", json_real(j->upper));
  put_number(robot, axis, "stiffness", j->stiffness);
  put_number(robot, axis, "damping", j->damping);
  if (j->stiffness > 0) put_number(robot, axis, "rest", j->rest);
  put_number(robot, axis, "friction", j->friction);
  put_number(robot, axis, "armature", j->armature);
  // beyond half a turn the two frames do not tell where it starts
  if (j->kind == CN_JOINT_REVOLUTE && fabs(j->start) > 3) put_number(robot, axis, "near", j->start);
  cni_robot_put_motor(robot, j, axis);
  if (json_object_size(axis) > 0)
    cni_robot_put(robot, item, j->coordinate, axis);
  else
    json_decref(axis);
}

// A ball has no coordinates: its spring and damper are a bushing, or, against the ground, a drag, which follows the
// spin and not the rate of the rotation vector.
static void put_bushing(CniRobot *robot, const CniRobotJoint *j, const json_t *joint) {
  json_t *frames = json_object_get(joint, "frames"), *bodies = json_object_get(joint, "bodies");
  int grounded = strcmp(json_string_value(json_array_get(bodies, 0)), "ground") == 0;
  const char *name = NULL;
  double d = grounded ? 0 : j->damping, k = j->stiffness;
  if (cni_robot_name(robot, 3, j->source, &name) != CN_OK) robot->broken = 1;
  if (grounded && j->damping > 0)
    cni_robot_push(robot, robot->forces,
                   json_pack("{s:s, s:O, s:f}", "kind", "drag", "body", json_array_get(bodies, 1),
                             "angular_drag", j->damping));
  if (d > 0)
    cni_robot_note(robot, "line %d: the damper of a ball follows the rate of its rotation vector",
                   (int)j->node->line);
  if (d == 0 && k == 0) return;
  cni_robot_push(robot, robot->forces,
                 json_pack("{s:s?, s:s, s:O, s:O, s:[f,f,f], s:[f,f,f]}", "name", name, "kind",
                           "bushing", "bodies", bodies, "frames", frames, "angular_damping", d, d,
                           d, "angular_stiffness", k, k, k));
}

// The joint of the scene that begins with this one.
static void put_joint(CniRobot *robot, json_t *list, CniRobotJoint *j, const char *above,
                      CnPose base, const char *below) {
  CnPose a, b;
  cni_robot_frames(j, &a, &b);
  a = cn_pose_mul(base, a);
  json_t *item = link_named(robot, cn_joint_kind_name(j->made), j->name, above, a, below, b);
  if (item) {
    if (j->kind == CN_JOINT_SCREW) put_number(robot, item, "lead", j->lead);
    for (int32_t i = 0; i < j->made_count; i++) {
      put_axis(robot, item, &j[i]);
      cni_robot_put_effort(robot, &j[i], above, a, below, b);
    }
    if (j->kind == CN_JOINT_BALL && (j->damping > 0 || j->stiffness > 0))
      put_bushing(robot, j, item);
  }
  cni_robot_push(robot, list, item);
}

// ---- bodies ----

static void put_vector(CniRobot *robot, json_t *item, const char *key, CnVec3 v) {
  if (v.x != 0 || v.y != 0 || v.z != 0) cni_robot_put(robot, item, key, cni_json_vec3(v));
}

static json_t *body_item(CniRobot *robot, const char *name, CnPose at, CnTwist rate, double mass,
                         CnPose com, CnSym3 j) {
  json_t *item = json_pack("{s:s}", "name", name);
  if (!item) return NULL;
  cni_robot_put_pose(robot, item, at);
  put_vector(robot, item, "velocity", cn_add(rate.velocity, cn_cross(rate.spin, at.position)));
  put_vector(robot, item, "spin", rate.spin);
  if (!(mass > 0)) return item;
  cni_robot_put(robot, item, "mass", json_real(mass));
  cni_robot_put(robot, item, "inertia",
                j.xy == 0 && j.xz == 0 && j.yz == 0
                    ? json_pack("[f,f,f]", j.xx, j.yy, j.zz)
                    : json_pack("[f,f,f,f,f,f]", j.xx, j.yy, j.zz, j.xy, j.xz, j.yz));
  json_t *centre = pose_of(robot, com);
  if (centre && json_object_size(centre) > 0)
    cni_robot_put(robot, item, "com", centre);
  else
    json_decref(centre);
  return item;
}

// The joints of a body, and the bodies between them.
static CnStatus put_chain(CniRobot *robot, CniRobotBody *b, json_t *bodies, json_t *joints) {
  CnPose base = b->pose;
  const char *above = carrier(robot, b->parent, &base);
  CnPose at = cn_pose_mul(
      b->parent == CNI_ROBOT_WORLD ? robot->def->place : robot->bodies[b->parent].at, b->pose);
  CnTwist rate = b->parent == CNI_ROBOT_WORLD ? (CnTwist){0} : robot->bodies[b->parent].rate;
  for (int32_t k = 0, next; k < b->joint_count; k = next) {
    CniRobotJoint *j = &robot->joints[b->first_joint + k];
    const char *below = b->name;
    next = k + j->made_count;
    for (int32_t i = 0; i < j->made_count; i++) {
      CnTwist more = cni_robot_rate(&j[i], at);
      rate = (CnTwist){cn_add(rate.velocity, more.velocity), cn_add(rate.spin, more.spin)};
      at = cn_pose_mul(at, cni_robot_motion(&j[i]));
    }
    at.rotation = cn_qunit(at.rotation);
    if (next < b->joint_count) {
      char name[80];
      snprintf(name, sizeof name, "%.60s_between", j->name + strlen(robot->def->prefix));
      CNI_TRY(cni_robot_name(robot, 0, name, &below));
      CniRobotPart part = cni_robot_between(robot, b, next);
      cni_robot_push(robot, bodies,
                     body_item(robot, below, at, rate, part.mass, part.com, part.inertia));
    }
    put_joint(robot, joints, j, above, base, below);
    above = below;
    base = CN_POSE_ONE;
  }
  return CN_OK;
}

static CnStatus put_body(CniRobot *robot, int32_t i, json_t *bodies, json_t *joints) {
  CniRobotBody *b = &robot->bodies[i];
  if (b->carrier != i) return CN_OK;
  cni_robot_place_joints(robot, b);
  CNI_TRY(put_chain(robot, b, bodies, joints));
  json_t *item =
      body_item(robot, b->name, b->at, b->rate, b->fixed ? 0 : b->mass, b->com, b->inertia);
  if (item && b->fixed) cni_robot_put(robot, item, "kind", json_string("fixed"));
  cni_robot_push(robot, bodies, item);
  if (b->joint_count > 0 || b->free || b->fixed) return CN_OK;
  const char *name = NULL;
  char text[80];
  json_t *weld;
  snprintf(text, sizeof text, "%.60s_weld", b->source[0] ? b->source : b->name);
  CNI_TRY(cni_robot_name(robot, 1, text, &name));
  return cni_robot_link(robot, joints, "weld", name, b->parent, b->pose, i, CN_POSE_ONE, &weld);
}

// ---- shapes ----

static void name_world(CniRobot *robot, const json_t *world);

// Shapes of still bodies without mass lie on a fixed body of the robot's world.
static CnStatus put_shapes(CniRobot *robot, json_t *bodies) {
  json_t **items, *world = NULL;
  CNI_TRY(cni_arena_array(&robot->arena, robot->body_count, sizeof *items, &items));
  for (size_t k = 0, i = 0; k < json_array_size(bodies); k++) {
    json_t *item = json_array_get(bodies, k);
    const char *name = json_string_value(json_object_get(item, "name"));
    size_t at = i;
    while (at < (size_t)robot->body_count &&
           (robot->bodies[at].carrier != (int32_t)at || strcmp(robot->bodies[at].name, name) != 0))
      at++;
    if (at == (size_t)robot->body_count) continue; // between joints
    items[at] = item;
    i = at + 1;
  }
  for (int32_t k = 0; k < robot->shape_count; k++) {
    const CniRobotShape *s = &robot->shapes[k];
    const CniRobotBody *b = s->body == CNI_ROBOT_WORLD ? NULL : &robot->bodies[s->body];
    CnPose pose = b ? cn_pose_mul(b->offset, s->pose) : s->pose;
    int32_t on = b ? b->carrier : CNI_ROBOT_WORLD;
    if (on == CNI_ROBOT_WORLD && !world) {
      const char *name;
      CNI_TRY(cni_robot_name(robot, 0, "world", &name));
      world = body_item(robot, name, robot->def->place, (CnTwist){0}, 0, CN_POSE_ONE,
                        cn_sdiag(0, 0, 0));
      cni_robot_push(robot, bodies, world);
      if (!world) return cni_error_memory(1);
      cni_robot_put(robot, world, "kind", json_string("fixed"));
    }
    json_t *body = on == CNI_ROBOT_WORLD ? world : items[on];
    if (!body) return cni_error_memory(1);
    json_t *list = json_object_get(body, "shapes");
    if (!list) cni_robot_put(robot, body, "shapes", list = json_array());
    pose.rotation = cn_qunit(pose.rotation);
    cni_robot_put_pose(robot, s->item, pose);
    cni_robot_push(robot, list, json_incref(s->item));
  }
  name_world(robot, world);
  return CN_OK;
}

// ---- pairs ----

void cni_robot_apart(CniRobot *robot, int32_t body_a, int32_t body_b) {
  int32_t a = body_a == CNI_ROBOT_WORLD ? CNI_ROBOT_WORLD : robot->bodies[body_a].carrier;
  int32_t b = body_b == CNI_ROBOT_WORLD ? CNI_ROBOT_WORLD : robot->bodies[body_b].carrier;
  if (a == b) return;
  // the world's body, if there will be one, has its name later
  const char *first = a == CNI_ROBOT_WORLD ? NULL : robot->bodies[a].name;
  const char *second = b == CNI_ROBOT_WORLD ? NULL : robot->bodies[b].name;
  cni_robot_push(robot, robot->pairs, json_pack("{s:[s?,s?]}", "bodies", first, second));
}

// The pairs of the world's body; null: it has none.
static void name_world(CniRobot *robot, const json_t *world) {
  for (size_t i = json_array_size(robot->pairs); i-- > 0;) {
    json_t *two = json_object_get(json_array_get(robot->pairs, i), "bodies");
    for (size_t k = 0; k < 2; k++) {
      if (!json_is_null(json_array_get(two, k))) continue;
      if (world)
        json_array_set(two, k, json_object_get(world, "name"));
      else
        json_array_remove(robot->pairs, i);
      if (!world) break;
    }
  }
}

typedef struct Member {
  int32_t group, body;
} Member;

static int by_group(const void *a, const void *b) {
  const Member *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  return x->body < y->body ? -1 : x->body > y->body;
}

static int32_t first_of(const Member *members, int32_t count, int32_t group) {
  int32_t lo = 0, hi = count;
  while (lo < hi) {
    int32_t mid = lo + (hi - lo) / 2;
    if (members[mid].group < group)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

// The group that carries another one.
static int32_t above_of(const CniRobot *robot, int32_t group) {
  if (group == CNI_ROBOT_WORLD || robot->bodies[group].free) return NO_GROUP;
  int32_t parent = robot->bodies[group].parent;
  return parent == CNI_ROBOT_WORLD ? CNI_ROBOT_WORLD : robot->bodies[parent].group;
}

// Is a body held by one joint of the scene, or a weld?
static int one_joint(const CniRobot *robot, const CniRobotBody *b) {
  return b->joint_count == 0 || robot->joints[b->first_joint].made_count == b->joint_count;
}

// Does a joint of the scene keep two bodies apart?
static int joined(const CniRobot *robot, int32_t body_a, int32_t body_b) {
  const CniRobotBody *a = &robot->bodies[body_a], *b = &robot->bodies[body_b];
  return (a->parent == body_b && one_joint(robot, a)) ||
         (b->parent == body_a && one_joint(robot, b));
}

static int32_t silent_of(const CniRobot *robot, int32_t body) {
  return robot->silent ? robot->silent[body] : -1;
}

// What the format says: bodies of the same number do not meet.
static void part_silent(CniRobot *robot, Member *members, int32_t count, int32_t *made) {
  Member *m = members;
  if (!robot->silent) return;
  for (int32_t i = 0; i < count; i++) m[i].group = silent_of(robot, m[i].body);
  qsort(m, (size_t)count, sizeof *m, by_group);
  for (int32_t i = 0; i < count; i++)
    for (int32_t k = i + 1;
         m[i].group >= 0 && k < count && m[k].group == m[i].group && *made <= MOST_PAIRS; k++) {
      if (joined(robot, m[i].body, m[k].body)) continue;
      cni_robot_apart(robot, m[i].body, m[k].body);
      ++*made;
    }
  for (int32_t i = 0; i < count; i++) m[i].group = robot->bodies[m[i].body].group;
}

// Bodies that cannot move against each other, or are neighbours by a joint that moves, overlap by
// construction; joints themselves keep their two bodies apart.
static CnStatus put_pairs(CniRobot *robot) {
  Member *members;
  int32_t count = 0, made = 0;
  CNI_TRY(cni_arena_array(&robot->arena, robot->body_count, sizeof *members, &members));
  for (int32_t i = 0; i < robot->body_count; i++) {
    const CniRobotBody *b = &robot->bodies[i];
    if (b->carrier == i && b->shape_count > 0 && !b->fixed)
      members[count++] = (Member){b->group, i};
  }
  part_silent(robot, members, count, &made);
  qsort(members, (size_t)count, sizeof *members, by_group);
  for (int32_t i = 0; i < count; i++) {
    int32_t groups[2] = {members[i].group, above_of(robot, members[i].group)};
    for (int32_t g = 0; g < 2; g++) {
      if (groups[g] == NO_GROUP) continue;
      for (int32_t k = g == 0 ? i + 1 : first_of(members, count, groups[1]);
           k < count && members[k].group == groups[g] && made <= MOST_PAIRS; k++) {
        if (silent_of(robot, members[i].body) >= 0 &&
            silent_of(robot, members[i].body) == silent_of(robot, members[k].body))
          continue;
        if (joined(robot, members[i].body, members[k].body)) continue;
        cni_robot_apart(robot, members[i].body, members[k].body);
        made++;
      }
    }
  }
  if (made > MOST_PAIRS)
    cni_robot_note(robot, "more than %d pairs of neighbours: the rest may meet", MOST_PAIRS);
  return CN_OK;
}

// ---- what was not understood ----

typedef struct Unread {
  char text[120];
  const char *file;
  int32_t line, count;
  int32_t weighs; // without it the robot moves otherwise
} Unread;

#define MOST_UNREAD 200

// Is it in the list of what a format's reader leaves out and what changes the motion?
static int weighs(const CniRobot *robot, const CniXmlNode *node, const char *attribute) {
  for (const CniRobotWeight *w = robot->weights; w && w->element; w++) {
    int here = strcmp(w->element, node->name) == 0 || strcmp(w->element, "*") == 0;
    const char *above = node->parent ? node->parent->name : "";
    if (!here || (w->above && strcmp(w->above, above) != 0)) continue;
    if (!attribute ? !w->attribute : w->attribute && strcmp(w->attribute, attribute) == 0) return 1;
  }
  return 0;
}

typedef struct UnreadList {
  Unread items[MOST_UNREAD];
  int32_t count, more;
} UnreadList;

static void add_unread(const CniRobot *robot, UnreadList *list, const CniXmlNode *node,
                       const char *attribute) {
  char text[120];
  if (attribute)
    snprintf(text, sizeof text, "\"%.40s\" of <%.40s>", attribute, node->name);
  else
    snprintf(text, sizeof text, "<%.40s> in <%.40s>", node->name,
             node->parent ? node->parent->name : "");
  for (int32_t i = 0; i < list->count; i++)
    if (strcmp(list->items[i].text, text) == 0) {
      list->items[i].count++;
      return;
    }
  if (list->count == MOST_UNREAD) {
    list->more++;
    return;
  }
  Unread *u = &list->items[list->count++];
  *u = (Unread){.file = node->file, .line = node->line, .count = 1};
  u->weighs = weighs(robot, node, attribute);
  memcpy(u->text, text, sizeof text);
}

// Elements in the order of the file; below one that was not understood nothing is listed.
static void find_unread(const CniRobot *robot, UnreadList *list, const CniXmlNode *root) {
  const CniXmlNode *node = root;
  while (node) {
    if (!node->used) add_unread(robot, list, node, NULL);
    for (int32_t i = 0; node->used && i < node->attribute_count; i++) {
      const CniXmlAttribute *a = &node->attributes[i];
      int namespace = strncmp(a->name, "xmlns", 5) == 0 || strncmp(a->name, "xsi:", 4) == 0;
      if (!a->used && !namespace) add_unread(robot, list, node, a->name);
    }
    if (node->used && node->first) {
      node = node->first;
      continue;
    }
    while (node != root && !node->next) node = node->parent;
    node = node == root ? NULL : node->next;
  }
}

static CnStatus note_unread(CniRobot *robot, const CniXmlNode *root) {
  UnreadList *list;
  CNI_TRY(cni_arena_array(&robot->arena, 1, sizeof *list, &list));
  find_unread(robot, list, root);
  for (int32_t i = 0; i < list->count; i++) {
    const Unread *u = &list->items[i];
    char times[40] = "";
    if (u->count > 1) snprintf(times, sizeof times, ", %d times", (int)u->count);
    int other = strcmp(u->file, robot->def->path) != 0;
    cni_robot_note(robot, "%snot used: %s (%s%sline %d%s)", u->weighs ? "beware: " : "", u->text,
                   other ? u->file : "", other ? ", " : "", (int)u->line, times);
  }
  if (list->more) cni_robot_note(robot, "not used: %d more", (int)list->more);
  return CN_OK;
}

// ---- the whole ----

static json_t *description(const CniRobot *robot) {
  json_t *text = json_string("");
  for (size_t i = 0; text && i < json_array_size(robot->notes); i++) {
    const char *line = json_string_value(json_array_get(robot->notes, i));
    json_t *longer = json_sprintf("%s%s%s", json_string_value(text), i ? "\n" : "", line);
    json_decref(text);
    text = longer;
  }
  return text;
}

static void put_sensors(CniRobot *robot) {
  for (int32_t i = 0; i < robot->joint_count; i++) {
    const CniRobotJoint *j = &robot->joints[i];
    const char *name;
    if (!j->coordinate || j->kind == CN_JOINT_PLANAR || j->kind == CN_JOINT_UNIVERSAL) continue;
    if (cni_robot_name(robot, 2, j->name + strlen(robot->def->prefix), &name) != CN_OK) {
      robot->broken = 1;
      return;
    }
    cni_robot_push(robot, robot->sensors,
                   json_pack("{s:s, s:s, s:s, s:s}", "name", name, "kind", "joint_coordinate",
                             "joint", (j - j->rank)->name, "coordinate", j->coordinate));
  }
}

static void put_list(CniRobot *robot, json_t *scene, const char *key, json_t *value) {
  if (json_is_array(value) ? json_array_size(value) > 0 : json_object_size(value) > 0)
    cni_robot_put(robot, scene, key, json_incref(value));
}

static CnStatus fill_scene(CniRobot *robot, CniXmlNode *root, json_t *scene) {
  json_t *bodies = json_array(), *joints = json_array();
  cni_robot_put(robot, scene, "title", json_string(robot->title));
  cni_robot_put(robot, scene, "description", json_string(""));
  put_list(robot, scene, "settings", robot->settings);
  put_list(robot, scene, "materials", robot->materials);
  put_list(robot, scene, "material_pairs", robot->material_pairs);
  put_list(robot, scene, "geometries", robot->geometries);
  cni_robot_put(robot, scene, "bodies", bodies);
  cni_robot_put(robot, scene, "joints", joints);
  if (robot->broken) return cni_error_memory(1);
  for (int32_t i = 0; i < robot->body_count; i++) CNI_TRY(put_body(robot, i, bodies, joints));
  CNI_TRY(put_shapes(robot, bodies));
  CNI_TRY(put_pairs(robot));
  if (json_array_extend(joints, robot->links) != 0) robot->broken = 1;
  put_sensors(robot);
  put_list(robot, scene, "disabled_pairs", robot->pairs);
  put_list(robot, scene, "couplings", robot->couplings);
  put_list(robot, scene, "forces", robot->forces);
  put_list(robot, scene, "sensors", robot->sensors);
  if (!robot->broken) CNI_TRY(cni_robot_part_overlaps(robot, scene, robot->pairs));
  put_list(robot, scene, "disabled_pairs", robot->pairs);
  CNI_TRY(note_unread(robot, root));
  cni_robot_put(robot, scene, "description", description(robot));
  return CN_OK;
}

CnStatus cni_robot_write(CniRobot *robot, CniXmlNode *root, json_t **scene) {
  json_t *made = json_object();
  if (!made) return cni_error_memory(1);
  CnStatus status = fill_scene(robot, root, made);
  if (status == CN_OK && robot->broken)
    status = cni_bad_data("%s: no memory for its scene, or a number of it is not finite",
                          robot->def->path);
  if (status != CN_OK) {
    json_decref(made);
    return status;
  }
  *scene = made;
  return CN_OK;
}
