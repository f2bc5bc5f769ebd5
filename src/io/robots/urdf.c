// SPDX-License-Identifier: Apache-2.0
// URDF: links and the joints between them, which form trees.
//
// A link becomes a body whose frame is the link's; a joint's origin is the frame of its child as drawn,
// where all coordinates are zero. The first link is held to the ground, or free where "floating" is set.
// A fixed joint is a weld, or, of a link without mass, nothing: its shapes lie on the link above.
#include <math.h>
#include <string.h>

#include "core/math.h"
#include "io/robots/model.h"

typedef struct Link {
  const char *name;
  CniXmlNode *node;
  CniXmlNode *joint;            // that it is the child of; null: a root
  int32_t parent;               // link; -1: the world
  int32_t first, last, sibling; // links below
  int32_t body;                 // -1: not yet
} Link;

typedef struct Urdf {
  CniRobot *robot;
  CniNameTable names;
  Link *links;
  int32_t link_count, link_capacity;
  int32_t *queue;
} Urdf;

// ---- small parts ----

static CnStatus read_origin(CniXmlNode *above, CnPose *pose) {
  CniXmlNode *node = cni_xml_child(above, "origin", NULL);
  double rpy[3] = {0, 0, 0};
  *pose = CN_POSE_ONE;
  if (!node) return CN_OK;
  CniXmlView view = cni_xml_view(node);
  CNI_TRY(cni_xml_vec3(&view, "xyz", &pose->position));
  CNI_TRY(cni_xml_numbers(&view, "rpy", 3, 3, rpy, NULL));
  pose->rotation = cni_turn_euler("XYZ", rpy);
  return CN_OK;
}

// "value", "link", "joint" of a child element.
static CnStatus read_word(CniXmlNode *above, const char *name, const char *attribute,
                          const char **text) {
  CniXmlNode *node = cni_xml_child(above, name, NULL);
  if (!node) return cni_xml_fail(above, "needs <%s>", name);
  CniXmlView view = cni_xml_view(node);
  return cni_xml_required(&view, attribute, text);
}

// ---- links ----

static CnStatus read_inertial(Urdf *u, CniXmlNode *link, CniRobotBody *body) {
  CniXmlNode *node = cni_xml_child(link, "inertial", NULL), *part;
  CnSym3 *j = &body->inertia;
  if (!node) return CN_OK;
  CNI_TRY(read_origin(node, &body->com));
  if ((part = cni_xml_child(node, "mass", NULL))) {
    CniXmlView view = cni_xml_view(part);
    const char *text;
    CNI_TRY(cni_xml_required(&view, "value", &text));
    CNI_TRY(cni_xml_number(&view, "value", &body->mass));
    if (body->mass < 0) return cni_xml_fail(part, "must not be negative (got %g)", body->mass);
  }
  if ((part = cni_xml_child(node, "inertia", NULL))) {
    static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    double *values[] = {&j->xx, &j->yy, &j->zz, &j->xy, &j->xz, &j->yz};
    CniXmlView view = cni_xml_view(part);
    for (int32_t i = 0; i < 6; i++) CNI_TRY(cni_xml_number(&view, names[i], values[i]));
  }
  if (body->mass == 0 && (j->xx != 0 || j->yy != 0 || j->zz != 0))
    cni_robot_note(u->robot, "beware: %.60s (line %d) has inertia but no mass: it has neither",
                   body->name, (int)node->line);
  if (body->mass > 0 && j->xx == 0 && j->yy == 0 && j->zz == 0) {
    double r = cni_cbrt(body->mass / (1000 * 4.18879020478639098)), own = 0.4 * body->mass * r * r;
    *j = cn_sdiag(own, own, own);
    cni_robot_note(u->robot,
                   "%.60s (line %d) has mass but no inertia: it gets that of a ball of water",
                   body->name, (int)node->line);
  }
  return CN_OK;
}

// A shape by its element of <geometry>; null: none that can be used, which is noted. Shapes of no size are
// placeholders of programs that write such files.
static CnStatus read_geometry(Urdf *u, CniXmlNode *holder, json_t **item) {
  CniXmlNode *node = cni_xml_child(holder, "geometry", NULL), *g;
  static const struct {
    const char *name, *sizes[2], *needs;
  } rows[] = {{"box", {"size", NULL}, "needs a positive \"size\""},
              {"sphere", {"radius", NULL}, "needs a positive \"radius\""},
              {"cylinder", {"radius", "length"}, "needs a positive \"radius\" and \"length\""},
              {"capsule", {"radius", "length"}, "needs a positive \"radius\" and \"length\""}};
  *item = NULL;
  if (!node) return cni_xml_fail(holder, "needs <geometry>");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double size[4] = {0}, least = INFINITY;
    if (!(g = cni_xml_child(node, rows[i].name, NULL))) continue;
    CniXmlView v = cni_xml_view(g);
    int32_t count = i == 0 ? 3 : rows[i].sizes[1] ? 2 : 1;
    CNI_TRY(cni_xml_numbers(&v, rows[i].sizes[0], i == 0 ? 3 : 1, i == 0 ? 3 : 1, size, NULL));
    if (count == 2) CNI_TRY(cni_xml_number(&v, rows[i].sizes[1], &size[1]));
    for (int32_t k = 0; k < count; k++) least = fmin(least, size[k]);
    if (least < 0 || cni_xml_text(&v, rows[i].sizes[0]) == NULL)
      return cni_xml_fail(g, "%s", rows[i].needs);
    if (least == 0) {
      cni_robot_note(u->robot, "%sline %d: a %s of no size is left out",
                     u->robot->drawing ? "" : "beware: ", (int)g->line, rows[i].name);
      return CN_OK;
    }
    *item = json_pack("{s:s}", "kind", rows[i].name);
    if (!*item) return cni_error_memory(1);
    for (int32_t k = 0; k < 2 && rows[i].sizes[k]; k++)
      cni_robot_put(u->robot, *item, rows[i].sizes[k],
                    i == 0 ? cni_json_vec3(cn_vec3(size[0], size[1], size[2]))
                           : json_real(size[k]));
    return CN_OK;
  }
  if ((g = cni_xml_child(node, "mesh", NULL))) {
    CniXmlView v = cni_xml_view(g);
    CnVec3 scale = {1, 1, 1};
    const char *file;
    CNI_TRY(cni_xml_required(&v, "filename", &file));
    CNI_TRY(cni_xml_vec3(&v, "scale", &scale));
    return cni_robot_mesh(u->robot, g, NULL, file, scale, item);
  }
  return cni_xml_fail(node, "needs <box>, <cylinder>, <sphere>, <capsule> or <mesh>");
}

// What a link collides with; one without such shapes shows what it looks like, which meets nothing.
static CnStatus read_shapes(Urdf *u, CniXmlNode *link, int32_t body) {
  int solid = cni_xml_child(link, "collision", NULL) != NULL;
  const char *name = solid ? "collision" : "visual";
  static const char *const known[] = {"name", NULL};
  for (CniXmlNode *n = NULL; (n = cni_xml_child(link, name, n));) {
    CnPose pose;
    json_t *item;
    CniXmlView view = cni_xml_view(n);
    cni_xml_known(&view, known);
    CNI_TRY(read_origin(n, &pose));
    u->robot->drawing = !solid;
    CNI_TRY(read_geometry(u, n, &item));
    if (!item) continue;
    if (!solid) {
      cni_robot_put(u->robot, item, "category", json_integer(0));
      cni_robot_put(u->robot, item, "mask", json_integer(0));
    }
    CNI_TRY(cni_robot_add_shape(u->robot, body, pose, item));
  }
  return CN_OK;
}

// ---- joints ----

static const struct {
  const char *type;
  CnJointKind kind;
  int32_t limits; // it may have them
} types[] = {{"revolute", CN_JOINT_REVOLUTE, 1},   {"continuous", CN_JOINT_REVOLUTE, 0},
             {"prismatic", CN_JOINT_PRISMATIC, 1}, {"planar", CN_JOINT_PLANAR, 0},
             {"ball", CN_JOINT_BALL, 0},           {"universal", CN_JOINT_UNIVERSAL, 0},
             {"screw", CN_JOINT_SCREW, 0}};
#define TYPE_COUNT (int32_t)(sizeof types / sizeof *types)

static int32_t find_type(const char *type) {
  for (int32_t i = 0; i < TYPE_COUNT; i++)
    if (strcmp(types[i].type, type) == 0) return i;
  return -1;
}

static CnStatus read_limit(Urdf *u, CniXmlNode *node, CniRobotJoint *joint) {
  CniXmlNode *limit = cni_xml_child(node, "limit", NULL);
  if (!limit) {
    cni_robot_note(u->robot, "%.60s (line %d) has no <limit>: it is unlimited", joint->source,
                   (int)node->line);
    return CN_OK;
  }
  CniXmlView view = cni_xml_view(limit);
  joint->limited = cni_xml_text(&view, "lower") || cni_xml_text(&view, "upper");
  if (!joint->limited)
    cni_robot_note(u->robot, "%.60s (line %d) has neither \"lower\" nor \"upper\": it is unlimited",
                   joint->source, (int)limit->line);
  CNI_TRY(cni_xml_number(&view, "lower", &joint->lower));
  return cni_xml_number(&view, "upper", &joint->upper);
}

static CnStatus read_joint(Urdf *u, CniXmlNode *node, int32_t type) {
  CniXmlView view = cni_xml_view(node);
  CniRobotJoint joint = {.node = node,
                         .kind = types[type].kind,
                         .axis = {1, 0, 0},
                         .turn = CN_QUAT_ONE,
                         .source = cni_xml_text(&view, "name")};
  CniXmlNode *part;
  int32_t index, count;
  if (joint.kind == CN_JOINT_BALL || joint.kind == CN_JOINT_UNIVERSAL)
    joint.axis = cn_vec3(0, 0, 1);
  if ((part = cni_xml_child(node, "axis", NULL))) {
    CniXmlView v = cni_xml_view(part);
    CNI_TRY(cni_xml_vec3(&v, "xyz", &joint.axis));
  }
  if (types[type].limits) CNI_TRY(read_limit(u, node, &joint));
  if ((part = cni_xml_child(node, "dynamics", NULL))) {
    CniXmlView v = cni_xml_view(part);
    double damping[3] = {0, 0, 0};
    CNI_TRY(cni_xml_numbers(&v, "damping", 1, 3, damping, &count));
    CNI_TRY(cni_xml_number(&v, "friction", &joint.friction));
    joint.damping = damping[0];
    if (count > 1 && (damping[0] != damping[1] || (count > 2 && damping[0] != damping[2])))
      return cni_xml_fail(part, "\"damping\" must be the same for all coordinates");
  }
  if (joint.kind == CN_JOINT_SCREW) {
    CniXmlNode *pitch = cni_xml_child(node, "drake:screw_thread_pitch", NULL);
    if (!pitch) return cni_xml_fail(node, "a screw needs <drake:screw_thread_pitch>");
    CniXmlView v = cni_xml_view(pitch);
    CNI_TRY(cni_xml_number(&v, "value", &joint.lead));
    if (joint.lead == 0) return cni_xml_fail(pitch, "must not be 0");
  }
  return cni_robot_add_joint(u->robot, &joint, &index);
}

// ---- what follows another joint ----

// Is there a joint of that name that does not move?
static int is_fixed(const Urdf *u, const char *name) {
  for (int32_t i = 0; i < u->link_count; i++) {
    if (!u->links[i].joint) continue;
    CniXmlView view = cni_xml_view(u->links[i].joint);
    const char *own = cni_xml_text(&view, "name");
    if (own && strcmp(own, name) == 0) return 1;
  }
  return 0;
}

// What a joint follows; one that stands still is at 0: then *held, without a leader.
static CnStatus read_mimic(Urdf *u, CniRobotJoint *joint, double *multiplier, double *offset,
                           CniRobotJoint **leader, int *held) {
  CniXmlNode *node = cni_xml_child(joint->node, "mimic", NULL);
  const char *name;
  *leader = NULL;
  *held = 0;
  if (!node) return CN_OK;
  CniXmlView view = cni_xml_view(node);
  CNI_TRY(cni_xml_required(&view, "joint", &name));
  CNI_TRY(cni_xml_number(&view, "multiplier", multiplier));
  CNI_TRY(cni_xml_number(&view, "offset", offset));
  int32_t other = cni_name_find(&u->robot->joint_names, name);
  *held = other < 0 && is_fixed(u, name);
  if (*held) return CN_OK;
  if (other < 0) return cni_xml_fail(node, "no joint that moves is called %.60s", name);
  *leader = &u->robot->joints[other];
  if (*leader == joint) return cni_xml_fail(node, "%.60s cannot follow itself", name);
  if ((*leader)->kind != CN_JOINT_REVOLUTE && (*leader)->kind != CN_JOINT_PRISMATIC)
    return cni_xml_fail(node, "%.60s has no single coordinate", name);
  return CN_OK;
}

// Followers start where their leaders, set or not, put them: a few rounds for those of followers.
static CnStatus start_followers(Urdf *u) {
  CniRobot *robot = u->robot;
  for (int32_t i = 0; i < robot->joint_count; i++) {
    double value;
    if (robot->joints[i].source[0] && cni_robot_asked(robot, robot->joints[i].source, &value))
      robot->joints[i].start = value;
  }
  for (int32_t round = 0; round < 4; round++)
    for (int32_t i = 0; i < robot->joint_count; i++) {
      CniRobotJoint *joint = &robot->joints[i], *leader;
      double multiplier = 1, offset = 0, value;
      int held;
      if (joint->kind != CN_JOINT_REVOLUTE && joint->kind != CN_JOINT_PRISMATIC) continue;
      CNI_TRY(read_mimic(u, joint, &multiplier, &offset, &leader, &held));
      if ((leader || held) && !cni_robot_asked(robot, joint->source, &value))
        joint->start = multiplier * (leader ? leader->start : 0) + offset;
    }
  return CN_OK;
}

static CnStatus couple_followers(Urdf *u) {
  CniRobot *robot = u->robot;
  for (int32_t i = 0; i < robot->joint_count; i++) {
    CniRobotJoint *joint = &robot->joints[i], *leader;
    double multiplier = 1, offset = 0;
    const char *name;
    int held;
    if (joint->kind != CN_JOINT_REVOLUTE && joint->kind != CN_JOINT_PRISMATIC) continue;
    CNI_TRY(read_mimic(u, joint, &multiplier, &offset, &leader, &held));
    if (!leader && !held) continue;
    CNI_TRY(cni_robot_name(robot, 3, joint->source, &name));
    json_t *terms = json_pack("[o]", cni_robot_term(joint, 1));
    if (leader && terms) cni_robot_push(robot, terms, cni_robot_term(leader, -multiplier));
    cni_robot_push(robot, robot->couplings,
                   json_pack("{s:s, s:o, s:f}", "name", name, "terms", terms, "offset", offset));
  }
  return CN_OK;
}

// A transmission says that a joint has a motor; what it gives is not told.
static CnStatus read_transmissions(Urdf *u, CniXmlNode *root) {
  CniRobot *robot = u->robot;
  static const char *const known[] = {"name", "type", NULL};
  for (CniXmlNode *n = NULL; (n = cni_xml_child(root, "transmission", n));) {
    CniXmlView view = cni_xml_view(n);
    cni_xml_known(&view, known);
    for (CniXmlNode *j = NULL; (j = cni_xml_child(n, "joint", j));) {
      CniXmlView v = cni_xml_view(j);
      const char *name = cni_xml_text(&v, "name");
      int32_t i = name ? cni_name_find(&robot->joint_names, name) : -1;
      if (i < 0)
        cni_robot_note(robot, "line %d: a transmission to %.60s, which is no joint that moves",
                       (int)j->line, name ? name : "nothing");
      if (i < 0) continue;
      CniRobotJoint *joint = &robot->joints[i];
      if (joint->motor.there || !joint->coordinate) continue;
      joint->motor.there = 1;
      cni_robot_note(robot, "%.60s has a motor, which gives nothing until it is told", name);
    }
  }
  return CN_OK;
}

// ---- the tree ----

static CnStatus find_links(Urdf *u, CniXmlNode *root) {
  for (CniXmlNode *n = NULL; (n = cni_xml_child(root, "link", n));) {
    CniXmlView view = cni_xml_view(n);
    Link link = {.node = n, .parent = -1, .first = -1, .last = -1, .sibling = -1, .body = -1};
    CNI_TRY(cni_xml_required(&view, "name", &link.name));
    if (cni_name_find(&u->names, link.name) >= 0)
      return cni_xml_fail(n, "a second link is called %.60s", link.name);
    CNI_TRY(cni_name_add(&u->names, u->robot->allocator, link.name, u->link_count));
    CNI_TRY(CNI_PUSH(u->robot->allocator, u->links, u->link_capacity, u->link_count, link));
  }
  return u->link_count > 0 ? CN_OK : cni_xml_fail(root, "has no <link>");
}

// The joint's type, which must be known; those of a dialect may be passed over.
static CnStatus joint_type(CniXmlNode *node, int dialect, int *understood) {
  CniXmlView view = cni_xml_view(node);
  const char *type = NULL;
  CNI_TRY(cni_xml_required(&view, "type", &type));
  *understood = find_type(type) >= 0 || strcmp(type, "fixed") == 0 || strcmp(type, "floating") == 0;
  if (*understood || dialect) return CN_OK;
  return cni_xml_fail(node,
                      "\"type\" must be revolute, continuous, prismatic, fixed, floating or planar "
                      "(got \"%.60s\")",
                      type);
}

static CnStatus hang(Urdf *u, CniXmlNode *node) {
  const char *parent, *child;
  CNI_TRY(read_word(node, "parent", "link", &parent));
  CNI_TRY(read_word(node, "child", "link", &child));
  int32_t p = cni_name_find(&u->names, parent), c = cni_name_find(&u->names, child);
  if (c < 0) return cni_xml_fail(node, "no link is called %.60s", child);
  if (p < 0 && strcmp(parent, "world") != 0)
    return cni_xml_fail(node, "no link is called %.60s", parent);
  Link *link = &u->links[c];
  if (link->joint)
    return cni_xml_fail(node, "%.60s is the child of two joints (the other in line %d)", child,
                        (int)link->joint->line);
  link->joint = node;
  link->parent = p;
  if (p < 0) return CN_OK;
  Link *above = &u->links[p];
  if (above->last >= 0)
    u->links[above->last].sibling = c;
  else
    above->first = c;
  above->last = c;
  return CN_OK;
}

static CnStatus find_joints(Urdf *u, CniXmlNode *root) {
  for (CniXmlNode *n = NULL; (n = cni_xml_next(root, n));) {
    int dialect = strcmp(n->name, "drake:joint") == 0, understood = 0;
    if (strncmp(n->name, "xacro:", 6) == 0)
      return cni_xml_fail(n, "xacro is not run here: expand the file first (xacro FILE.xacro -o "
                             "FILE.urdf)");
    if (!dialect && strcmp(n->name, "joint") != 0) continue;
    CNI_TRY(joint_type(n, dialect, &understood));
    if (!understood) continue;
    n->used = 1;
    CNI_TRY(hang(u, n));
  }
  return CN_OK;
}

static CnStatus add_link(Urdf *u, int32_t i) {
  CniRobot *robot = u->robot;
  Link *link = &u->links[i];
  CnPose pose = CN_POSE_ONE;
  const char *type = "fixed";
  double floating = 0;
  CniRobotBody mass = {.com = CN_POSE_ONE, .name = link->name};
  if (link->joint) {
    CniXmlView view = cni_xml_view(link->joint);
    CNI_TRY(read_origin(link->joint, &pose));
    type = cni_xml_text(&view, "type");
    cni_xml_text(&view, "name");
  }
  int32_t parent = link->parent < 0 ? CNI_ROBOT_WORLD : u->links[link->parent].body;
  CNI_TRY(cni_robot_add_body(robot, link->name, link->node, parent, pose, &link->body));
  CNI_TRY(read_inertial(u, link->node, &mass));
  CniRobotBody *body = &robot->bodies[link->body];
  body->mass = mass.mass;
  body->com = mass.com;
  body->inertia = mass.inertia;
  cni_robot_asked(robot, "floating", &floating);
  body->free = strcmp(type, "floating") == 0 || (!link->joint && floating != 0);
  CNI_TRY(read_shapes(u, link->node, link->body));
  int32_t row = find_type(type);
  return row >= 0 ? read_joint(u, link->joint, row) : CN_OK;
}

// Roots first, then what hangs on them, level by level.
static CnStatus add_links(Urdf *u) {
  int32_t count = 0, roots = 0;
  CNI_TRY(cni_arena_array(&u->robot->arena, u->link_count, sizeof *u->queue, &u->queue));
  for (int32_t i = 0; i < u->link_count; i++) {
    if (u->links[i].joint && u->links[i].parent >= 0) continue;
    if (roots++ > 0 && !u->links[i].joint)
      cni_robot_note(u->robot, "beware: %.60s hangs on no other link: a second root",
                     u->links[i].name);
    u->queue[count++] = i;
  }
  for (int32_t k = 0; k < count; k++) {
    CNI_TRY(add_link(u, u->queue[k]));
    for (int32_t c = u->links[u->queue[k]].first; c >= 0; c = u->links[c].sibling)
      u->queue[count++] = c;
  }
  for (int32_t i = 0; i < u->link_count; i++)
    if (u->links[i].body < 0)
      return cni_xml_fail(u->links[i].joint, "the joints above %.60s go round in a circle",
                          u->links[i].name);
  return CN_OK;
}

static CnStatus read_all(Urdf *u, CniXmlNode *root) {
  CniXmlView view = cni_xml_view(root);
  const char *name = cni_xml_text(&view, "name");
  u->robot->title = name ? name : "";
  u->robot->lenient = 1;
  cni_xml_text(&view, "version");
  CNI_TRY(find_links(u, root));
  CNI_TRY(find_joints(u, root));
  CNI_TRY(add_links(u));
  CNI_TRY(start_followers(u));
  CNI_TRY(cni_robot_settle(u->robot));
  CNI_TRY(couple_followers(u));
  return read_transmissions(u, root);
}

CnStatus cni_robot_urdf(CniRobot *robot, CniXmlNode *root) {
  Urdf u = {.robot = robot};
  CnStatus status = read_all(&u, root);
  cni_name_release(&u.names, robot->allocator);
  CNI_RELEASE(robot->allocator, u.links, u.link_capacity);
  return status;
}
