// SPDX-License-Identifier: Apache-2.0
// MJCF: bodies in each other, their joints, inertias and sites. What stands in a <frame> is seen from
// there. Bodies are numbered as they begin in the file, which is the order of keyframes.
#include <string.h>

#include "io/robots/mjcf/mjcf.h"

// A body is walked over three times: joints first, then what it is made of, then bodies on it.
typedef enum Phase { JOINTS, CONTENTS, BODIES } Phase;

typedef struct Place {
  int32_t body;
  const char *childclass;
  CnPose frame; // of the elements in the body
} Place;

typedef struct Sum {
  CniMassProps geoms;
  int32_t given; // <inertial>
} Sum;

static CnStatus walk(CniMjcf *m, CniXmlNode *node, Place place, Phase phase, Sum *sum);

// ---- joints ----

static CnStatus add_place(CniMjcf *m, int32_t joint, int32_t body) {
  CniMjcfPlace place = {joint, body};
  return CNI_PUSH(m->robot->allocator, m->places, m->place_capacity, m->place_count, place);
}

static CnStatus read_free(CniMjcf *m, const CniXmlView *view, int32_t body) {
  CniXmlNode *node = view->node;
  const char *name = cni_xml_text(view, "name");
  CniRobotBody *b = &m->robot->bodies[body];
  if (b->parent != CNI_ROBOT_WORLD)
    return cni_xml_fail(node, "only a body in <worldbody> can be free");
  if (b->free || b->joint_count > 0) return cni_xml_fail(node, "a free body has no other joints");
  b->free = 1;
  if (name && cni_name_find(&m->free_names, name) < 0)
    CNI_TRY(cni_name_add(&m->free_names, m->robot->allocator, name, body));
  return add_place(m, -1, body);
}

static CnStatus read_limits(CniMjcf *m, const CniXmlView *view, double unit, CniRobotJoint *joint) {
  double range[2] = {0, 0};
  int32_t limited = 2, n;
  CNI_TRY(cni_xml_numbers(view, "range", 2, 2, range, &n));
  CNI_TRY(cni_mjcf_flag(view, "limited", &limited));
  joint->limited = limited == 2 ? n > 0 && m->auto_limits : limited;
  if (joint->limited && n == 0) return cni_xml_fail(view->node, "is limited and has no \"range\"");
  joint->lower = unit * range[0];
  joint->upper = unit * range[1];
  return CN_OK;
}

// What all actuators together may give.
static CnStatus read_bounds(CniMjcf *m, const CniXmlView *view, CniRobotJoint *joint) {
  int32_t limited = 2, n;
  CNI_TRY(cni_xml_numbers(view, "actuatorfrcrange", 2, 2, joint->most, &n));
  if (n == 0) // as it was called for a while
    CNI_TRY(cni_xml_numbers(view, "actuatorforcerange", 2, 2, joint->most, &n));
  CNI_TRY(cni_mjcf_flag(view, "actuatorfrclimited", &limited));
  joint->bounded = n > 0 && (limited == 2 ? m->auto_limits : limited);
  return CN_OK;
}

// Armature of a ball on the world is inertia of the body about all axes.
static CnStatus finish_ball(CniMjcf *m, const Place *place, CniRobotJoint *joint) {
  int on_world = m->robot->bodies[place->body].parent == CNI_ROBOT_WORLD;
  joint->axis = cn_vec3(0, 0, 1);
  if (joint->limited || joint->friction > 0 || (joint->armature > 0 && !on_world))
    cni_robot_note(m->robot,
                   "beware: line %d: of a ball limit, friction and, but on the world, armature are "
                   "left out",
                   (int)joint->node->line);
  if (!on_world || !(joint->armature > 0)) return CN_OK;
  CniMjcfLoad load = {
      .body = place->body, .line = joint->node->line, .ball_armature = joint->armature};
  return CNI_PUSH(m->robot->allocator, m->loads, m->load_capacity, m->load_count, load);
}

static CnStatus read_joint(CniMjcf *m, CniXmlNode *node, const Place *place) {
  static const char *const types[] = {"free", "ball", "slide", "hinge", NULL};
  static const CnJointKind kinds[] = {CN_JOINT_BALL, CN_JOINT_BALL, CN_JOINT_PRISMATIC,
                                      CN_JOINT_REVOLUTE};
  static const char *const known[] = {"name", NULL};
  CniXmlView view;
  int32_t type = 3, index;
  if (place->body == CNI_ROBOT_WORLD) return cni_xml_fail(node, "the world has no joints");
  CNI_TRY(cni_mjcf_view(m, node, place->childclass, &view));
  CNI_TRY(cni_xml_choice(&view, "type", types, &type));
  if (type == 0) {
    // of these a free body has none
    static const char *const none[] = {"pos",       "axis",      "limited", "range",
                                       "stiffness", "springref", "ref",     NULL};
    CniMjcfLoad load = {.body = place->body, .line = node->line};
    cni_xml_known(&view, none);
    CNI_TRY(cni_xml_number(&view, "damping", &load.damping));
    CNI_TRY(cni_xml_number(&view, "armature", &load.armature));
    CNI_TRY(cni_xml_number(&view, "frictionloss", &load.friction));
    CNI_TRY(read_free(m, &view, place->body));
    return CNI_PUSH(m->robot->allocator, m->loads, m->load_capacity, m->load_count, load);
  }
  if (m->robot->bodies[place->body].free)
    return cni_xml_fail(node, "a free body has no other joints");
  CniRobotJoint joint = {.node = node,
                         .kind = kinds[type],
                         .axis = {0, 0, 1},
                         .turn = CN_QUAT_ONE,
                         .source = cni_xml_text(&view, "name")};
  double unit = type == 2 ? 1 : m->angle;
  cni_xml_known(&view, known);
  CNI_TRY(cni_xml_vec3(&view, "pos", &joint.anchor));
  CNI_TRY(cni_xml_vec3(&view, "axis", &joint.axis));
  CNI_TRY(cni_xml_number(&view, "ref", &joint.ref));
  CNI_TRY(cni_xml_number(&view, "springref", &joint.rest));
  CNI_TRY(cni_xml_number(&view, "stiffness", &joint.stiffness));
  CNI_TRY(cni_xml_number(&view, "damping", &joint.damping));
  CNI_TRY(cni_xml_number(&view, "armature", &joint.armature));
  CNI_TRY(cni_xml_number(&view, "frictionloss", &joint.friction));
  CNI_TRY(read_limits(m, &view, unit, &joint));
  CNI_TRY(read_bounds(m, &view, &joint));
  if (m->off & CNI_MJCF_LIMIT) joint.limited = 0;
  if (m->off & CNI_MJCF_FRICTION) joint.friction = 0;
  if (m->off & CNI_MJCF_PASSIVE) joint.stiffness = joint.damping = 0;
  joint.anchor = cn_pose_point(place->frame, joint.anchor);
  joint.axis = cn_rotate(place->frame.rotation, joint.axis);
  joint.ref *= unit;
  joint.rest *= unit;
  joint.start = joint.ref;
  if (type == 1) CNI_TRY(finish_ball(m, place, &joint));
  CNI_TRY(cni_robot_add_joint(m->robot, &joint, &index));
  return add_place(m, index, place->body);
}

// ---- inertia and sites ----

static CnStatus read_inertial(CniMjcf *m, CniXmlNode *node, const Place *place, Sum *sum) {
  CniXmlView view = cni_xml_view(node);
  CniRobotBody *b = &m->robot->bodies[place->body];
  double j[6] = {0};
  int32_t full, diagonal;
  CnPose pose;
  if (m->inertia == 1) return CN_OK; // geoms decide
  CNI_TRY(cni_mjcf_pose(m, &view, &pose));
  CNI_TRY(cni_xml_number(&view, "mass", &b->mass));
  CNI_TRY(cni_xml_numbers(&view, "diaginertia", 3, 3, j, &diagonal));
  CNI_TRY(cni_xml_numbers(&view, "fullinertia", 6, 6, j, &full));
  if (!(b->mass >= 0)) return cni_xml_fail(node, "\"mass\" must not be negative (got %g)", b->mass);
  if (!full && !diagonal && b->mass > 0)
    return cni_xml_fail(node, "needs \"diaginertia\" or \"fullinertia\"");
  b->com = cn_pose_mul(place->frame, pose);
  b->inertia = (CnSym3){j[0], j[1], j[2], j[3], j[4], j[5]};
  sum->given = 1;
  return CN_OK;
}

static CnStatus read_site(CniMjcf *m, CniXmlNode *node, const Place *place) {
  const CnAllocator *a = m->robot->allocator;
  CniXmlView view;
  CnPose pose;
  static const char *const looks[] = {"type", "size", "rgba", "group", "material", NULL};
  CNI_TRY(cni_mjcf_view(m, node, place->childclass, &view));
  double length;
  CNI_TRY(cni_mjcf_pose(m, &view, &pose));
  CNI_TRY(cni_mjcf_ends(&view, &pose, &length));
  cni_xml_known(&view, looks); // a site is a place: what it looks like does not matter
  CniMjcfSite site = {cni_xml_text(&view, "name"), place->body, cn_pose_mul(place->frame, pose)};
  if (!site.name) return CN_OK;
  if (cni_name_find(&m->site_names, site.name) >= 0)
    return cni_xml_fail(node, "a second site is called %.60s", site.name);
  CNI_TRY(cni_name_add(&m->site_names, a, site.name, m->site_count));
  return CNI_PUSH(a, m->sites, m->site_capacity, m->site_count, site);
}

// ---- bodies ----

static CnStatus finish_mass(CniMjcf *m, CniXmlNode *node, int32_t body, const Sum *sum) {
  CniRobotBody *b = &m->robot->bodies[body];
  if (sum->given) {
    cni_mjcf_bound(m, b);
    return CN_OK;
  }
  if (m->inertia == 0 && (b->joint_count > 0 || b->free))
    return cni_xml_fail(node, "needs <inertial>: inertiafromgeom is false");
  b->mass = sum->geoms.mass;
  b->com = (CnPose){sum->geoms.centre, CN_QUAT_ONE};
  b->inertia = sum->geoms.inertia;
  cni_mjcf_bound(m, b);
  return CN_OK;
}

static CnStatus read_body(CniMjcf *m, CniXmlNode *node, const Place *above) {
  CniXmlView view = cni_xml_view(node);
  CnPose pose;
  Sum sum = {0};
  int32_t mocap = 0;
  CniMjcfLoad load = {.line = node->line};
  node->used = 1;
  CNI_TRY(cni_mjcf_pose(m, &view, &pose));
  CNI_TRY(cni_mjcf_flag(&view, "mocap", &mocap));
  if (mocap) cni_robot_note(m->robot, "line %d: a mocap body stands still", (int)node->line);
  const char *childclass = cni_xml_text(&view, "childclass");
  Place place = {.childclass = childclass ? childclass : above->childclass, .frame = CN_POSE_ONE};
  CNI_TRY(cni_robot_add_body(m->robot, cni_xml_text(&view, "name"), node, above->body,
                             cn_pose_mul(above->frame, pose), &place.body));
  CNI_TRY(cni_xml_number(&view, "gravcomp", &load.gravcomp));
  load.body = place.body;
  if (load.gravcomp != 0)
    CNI_TRY(CNI_PUSH(m->robot->allocator, m->loads, m->load_capacity, m->load_count, load));
  CNI_TRY(walk(m, node, place, JOINTS, &sum));
  CNI_TRY(walk(m, node, place, CONTENTS, &sum));
  CNI_TRY(finish_mass(m, node, place.body, &sum));
  return walk(m, node, place, BODIES, &sum);
}

static CnStatus read_frame(CniMjcf *m, CniXmlNode *node, Place place, Phase phase, Sum *sum) {
  CniXmlView view = cni_xml_view(node);
  CnPose pose;
  static const char *const known[] = {"name", NULL};
  node->used = 1;
  cni_xml_known(&view, known);
  CNI_TRY(cni_mjcf_pose(m, &view, &pose));
  const char *childclass = cni_xml_text(&view, "childclass");
  if (childclass) place.childclass = childclass;
  place.frame = cn_pose_mul(place.frame, pose);
  return walk(m, node, place, phase, sum);
}

static CnStatus read_content(CniMjcf *m, CniXmlNode *n, const Place *place, Phase phase, Sum *sum) {
  const char *name = n->name;
  if (phase == JOINTS && strcmp(name, "joint") == 0) return read_joint(m, n, place);
  if (phase == JOINTS && strcmp(name, "freejoint") == 0) {
    CniXmlView view = cni_xml_view(n);
    static const char *const known[] = {"group", NULL};
    int32_t align = 0;
    CNI_TRY(cni_mjcf_flag(&view, "align", &align));
    if (align == 1)
      cni_robot_note(m->robot,
                     "line %d: \"align\": the body keeps the frame of the file, in keyframes too",
                     (int)n->line);
    n->used = 1;
    cni_xml_known(&view, known);
    if (place->body == CNI_ROBOT_WORLD) return cni_xml_fail(n, "the world has no joints");
    return read_free(m, &view, place->body);
  }
  if (phase == CONTENTS && strcmp(name, "inertial") == 0 && place->body != CNI_ROBOT_WORLD) {
    n->used = 1;
    return read_inertial(m, n, place, sum);
  }
  if (phase == CONTENTS && strcmp(name, "site") == 0) return read_site(m, n, place);
  if (phase == CONTENTS && strcmp(name, "geom") == 0) {
    CniMassProps mass = {0};
    CNI_TRY(cni_mjcf_geom(m, n, place->childclass, place->body, place->frame, &mass));
    if (mass.mass > 0) sum->geoms = sum->geoms.mass > 0 ? cni_mass_add(sum->geoms, mass) : mass;
    return CN_OK;
  }
  if (phase == BODIES && strcmp(name, "body") == 0) return read_body(m, n, place);
  return CN_OK;
}

static CnStatus walk(CniMjcf *m, CniXmlNode *node, Place place, Phase phase, Sum *sum) {
  for (CniXmlNode *n = NULL; (n = cni_xml_next(node, n));)
    CNI_TRY(strcmp(n->name, "frame") == 0 ? read_frame(m, n, place, phase, sum)
                                          : read_content(m, n, &place, phase, sum));
  return CN_OK;
}

CnStatus cni_mjcf_bodies(CniMjcf *m, CniXmlNode *root) {
  Place world = {.body = CNI_ROBOT_WORLD, .frame = CN_POSE_ONE};
  Sum sum = {0};
  for (CniXmlNode *n = NULL; (n = cni_xml_child(root, "worldbody", n));) {
    CNI_TRY(walk(m, n, world, JOINTS, &sum));
    CNI_TRY(walk(m, n, world, CONTENTS, &sum));
    CNI_TRY(walk(m, n, world, BODIES, &sum));
  }
  return CN_OK;
}
