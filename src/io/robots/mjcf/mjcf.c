// SPDX-License-Identifier: Apache-2.0
// MJCF: the frame of a description. Included files, compiler and options, classes of defaults,
// keyframes; then bodies (bodies.c), geoms (geoms.c) and what acts between them
// (actuators.c, equality.c, tendons.c).
//
// Soft contacts and constraints (solref, solimp) are not Cairn's physics: they are listed as not used,
// and contacts, limits and equalities are rigid.
#include "io/robots/mjcf/mjcf.h"

#include <string.h>

#include "core/math.h"

#define PI 3.14159265358979323846
#define MOST_FILES 100

// ---- included files ----

// The children of the included file take the place of the element.
static CnStatus splice(CniRobot *robot, CniXmlNode *node, CniXmlNode *previous) {
  const char *name, *path;
  CniXmlNode *inner = NULL;
  CniXmlView view = cni_xml_view(node);
  CNI_TRY(cni_xml_required(&view, "file", &name));
  CNI_TRY(cni_robot_find_file(robot, node, NULL, name, &path));
  if (!path) return cni_xml_fail(node, "there is no file %.100s", name);
  CNI_TRY(cni_robot_include(robot, node, path, &inner));
  if (node->depth + 1 > CNI_XML_DEPTH) return cni_xml_fail(node, "is nested too deep");
  CniXmlNode *above = node->parent, *first = inner->first ? inner->first : node->next;
  for (CniXmlNode *n = inner->first; n; n = n->next) n->parent = above;
  if (inner->last) inner->last->next = node->next;
  if (previous)
    previous->next = first;
  else
    above->first = first;
  if (!node->next) above->last = inner->last ? inner->last : previous;
  return CN_OK;
}

static CnStatus include_files(CniRobot *robot, CniXmlNode *root) {
  int32_t count = 0;
  CniXmlNode *node = root;
  while (node) {
    CniXmlNode *previous = NULL, *child = node->first;
    while (child) {
      if (strcmp(child->name, "include") != 0) {
        previous = child;
        child = child->next;
        continue;
      }
      if (++count > MOST_FILES) return cni_xml_fail(child, "more than %d files", MOST_FILES);
      CNI_TRY(splice(robot, child, previous));
      child = previous ? previous->next : node->first;
    }
    if (node->first) {
      node = node->first;
      continue;
    }
    while (node != root && !node->next) node = node->parent;
    node = node == root ? NULL : node->next;
  }
  return CN_OK;
}

// ---- views ----

static int one_of(const char *name, const char *const *names) {
  while (*names && strcmp(*names, name) != 0) names++;
  return *names != NULL;
}

CnStatus cni_mjcf_view_as(CniMjcf *m, CniXmlNode *node, const char *childclass,
                          const char *const *names, CniXmlView *view) {
  *view = cni_xml_view(node);
  node->used = 1;
  const char *name = cni_xml_text(view, "class");
  if (!name) name = childclass;
  int32_t c = name ? cni_name_find(&m->class_names, name) : m->class_count > 0 ? 0 : -1;
  if (name && c < 0 && strcmp(name, "main") != 0)
    return cni_xml_fail(node, "no class is called %.60s", name);
  for (; c >= 0; c = m->classes[c].parent) {
    int32_t first = view->fallback_count, last;
    for (CniXmlNode *n = NULL; (n = cni_xml_next(m->classes[c].node, n));) {
      if (!one_of(n->name, names) || view->fallback_count == CNI_XML_FALLBACKS) continue;
      n->used = 1;
      view->fallbacks[view->fallback_count++] = n;
    }
    // of one class the last one speaks first
    for (last = view->fallback_count - 1; first < last; first++, last--) {
      CniXmlNode *n = view->fallbacks[first];
      view->fallbacks[first] = view->fallbacks[last];
      view->fallbacks[last] = n;
    }
  }
  return CN_OK;
}

CnStatus cni_mjcf_view(CniMjcf *m, CniXmlNode *node, const char *childclass, CniXmlView *view) {
  const char *names[] = {node->name, NULL};
  return cni_mjcf_view_as(m, node, childclass, names, view);
}

CnStatus cni_mjcf_flag(const CniXmlView *view, const char *name, int32_t *flag) {
  static const char *const words[] = {"false", "true", "auto", NULL};
  return cni_xml_choice(view, name, words, flag);
}

static CnQuat turn_to(CnVec3 z) {
  CnVec3 from = {0, 0, 1}, axis = cn_cross(from, z);
  double s = cn_norm(axis);
  if (s < 1e-15) axis = cn_vec3(1, 0, 0), s = 1;
  double angle = cni_atan2(cn_norm(cn_cross(from, z)), z.z);
  return cni_turn_about(cn_scale(1 / s, axis), angle);
}

static CnStatus unit(const CniXmlView *view, CnVec3 *v) {
  double length = cn_norm(*v);
  if (!(length > 1e-12)) return cni_xml_fail(view->node, "an axis must have a direction");
  *v = cn_scale(1 / length, *v);
  return CN_OK;
}

static CnStatus read_turn(const CniMjcf *m, const CniXmlView *view, CnQuat *turn) {
  double v[6];
  int32_t n;
  CNI_TRY(cni_xml_numbers(view, "quat", 4, 4, v, &n));
  if (n > 0) {
    CnQuat q = {v[0], v[1], v[2], v[3]};
    if (!(cn_qnorm2(q) > 1e-24)) return cni_xml_fail(view->node, "\"quat\" must not be zero");
    *turn = cn_qunit(q);
  }
  CNI_TRY(cni_xml_numbers(view, "axisangle", 4, 4, v, &n));
  if (n > 0) {
    CnVec3 axis = {v[0], v[1], v[2]};
    CNI_TRY(unit(view, &axis));
    *turn = cni_turn_about(axis, m->angle * v[3]);
  }
  CNI_TRY(cni_xml_numbers(view, "euler", 3, 3, v, &n));
  for (int32_t i = 0; i < n; i++) v[i] *= m->angle;
  if (n > 0) *turn = cni_turn_euler(m->euler, v);
  CNI_TRY(cni_xml_numbers(view, "xyaxes", 6, 6, v, &n));
  if (n > 0) {
    CnVec3 x = {v[0], v[1], v[2]}, y = {v[3], v[4], v[5]};
    CNI_TRY(unit(view, &x));
    y = cn_madd(y, -cn_dot(x, y), x);
    CNI_TRY(unit(view, &y));
    *turn = cni_quat_from_mat((CnMat3){.x = x, .y = y, .z = cn_cross(x, y)});
  }
  CNI_TRY(cni_xml_numbers(view, "zaxis", 3, 3, v, &n));
  if (n > 0) {
    CnVec3 z = {v[0], v[1], v[2]};
    CNI_TRY(unit(view, &z));
    *turn = turn_to(z);
  }
  return CN_OK;
}

CnStatus cni_mjcf_pose(const CniMjcf *m, const CniXmlView *view, CnPose *pose) {
  *pose = CN_POSE_ONE;
  CNI_TRY(cni_xml_vec3(view, "pos", &pose->position));
  return read_turn(m, view, &pose->rotation);
}

CnStatus cni_mjcf_body(const CniMjcf *m, const CniXmlView *view, const char *name, int32_t *body) {
  const char *text = cni_xml_text(view, name);
  *body = CNI_ROBOT_WORLD;
  if (!text || strcmp(text, "world") == 0) return CN_OK;
  *body = cni_name_find(&m->robot->body_names, text);
  return *body >= 0 ? CN_OK : cni_xml_fail(view->node, "no body is called %.60s", text);
}

CnStatus cni_mjcf_joint(const CniMjcf *m, const CniXmlView *view, const char *name,
                        CniRobotJoint **joint) {
  const char *text = cni_xml_text(view, name);
  *joint = NULL;
  if (!text) return CN_OK;
  int32_t i = cni_name_find(&m->robot->joint_names, text);
  if (i < 0) return cni_xml_fail(view->node, "no hinge, slide or ball is called %.60s", text);
  *joint = &m->robot->joints[i];
  return CN_OK;
}

CnStatus cni_mjcf_joint_or_free(const CniMjcf *m, const CniXmlView *view, const char *name,
                                CniRobotJoint **joint, int32_t *free_body) {
  const char *text = cni_xml_text(view, name);
  *joint = NULL;
  *free_body = text ? cni_name_find(&m->free_names, text) : -1;
  return *free_body >= 0 ? CN_OK : cni_mjcf_joint(m, view, name, joint);
}

CnStatus cni_mjcf_site(const CniMjcf *m, const CniXmlView *view, const char *name,
                       CniMjcfSite **site) {
  const char *text = cni_xml_text(view, name);
  *site = NULL;
  if (!text) return CN_OK;
  int32_t i = cni_name_find(&m->site_names, text);
  if (i < 0) return cni_xml_fail(view->node, "no site is called %.60s", text);
  *site = &m->sites[i];
  return CN_OK;
}

// ---- compiler and options ----

static CnStatus read_compiler(CniMjcf *m, CniXmlNode *root) {
  static const char *const angles[] = {"degree", "radian", NULL};
  // how the format computes or shows; what would change the tree (fusestatic, discardvisual) leaves the motion
  static const char *const known[] = {"discardvisual", "fusestatic",   "usethread", "convexhull",
                                      "texturedir",    "saveinertial", NULL};
  for (CniXmlNode *n = NULL; (n = cni_xml_child(root, "compiler", n));) {
    CniXmlView view = cni_xml_view(n);
    int32_t angle = m->angle == 1;
    CNI_TRY(cni_xml_choice(&view, "angle", angles, &angle));
    m->angle = angle ? 1 : PI / 180;
    CNI_TRY(cni_mjcf_flag(&view, "autolimits", &m->auto_limits));
    CNI_TRY(cni_mjcf_flag(&view, "inertiafromgeom", &m->inertia));
    CNI_TRY(cni_mjcf_flag(&view, "balanceinertia", &m->balance));
    CNI_TRY(cni_mjcf_flag(&view, "exactmeshinertia", &m->exact_meshes));
    CNI_TRY(cni_mjcf_flag(&view, "strippath", &m->strip_path));
    cni_xml_known(&view, known);
    CNI_TRY(cni_xml_number(&view, "settotalmass", &m->total_mass));
    CNI_TRY(cni_xml_number(&view, "boundmass", &m->least_mass));
    CNI_TRY(cni_xml_number(&view, "boundinertia", &m->least_inertia));
    CNI_TRY(cni_xml_numbers(&view, "inertiagrouprange", 2, 2, m->inertia_groups, NULL));
    const char *text = cni_xml_text(&view, "eulerseq");
    if (text && (strlen(text) != 3 || strspn(text, "xyzXYZ") != 3))
      return cni_xml_fail(n, "\"eulerseq\" must be three of xyzXYZ (got \"%.20s\")", text);
    if (text) memcpy(m->euler, text, 4);
    if ((text = cni_xml_text(&view, "coordinate")) && strcmp(text, "local") != 0)
      return cni_xml_fail(n,
                          "\"coordinate\" must be local: the format has given up global ones; "
                          "save the file with a program that reads them (got \"%.20s\")",
                          text);
    if ((text = cni_xml_text(&view, "assetdir"))) m->mesh_folder = text;
    if ((text = cni_xml_text(&view, "meshdir"))) m->mesh_folder = text;
  }
  return CN_OK;
}

static CnStatus read_flags(CniMjcf *m, CniXmlNode *option, CnVec3 *gravity) {
  static const struct {
    const char *name;
    int32_t off;
  } rows[] = {
      {"contact", CNI_MJCF_CONTACT},
      {"equality", CNI_MJCF_EQUALITY},
      {"frictionloss", CNI_MJCF_FRICTION},
      {"limit", CNI_MJCF_LIMIT},
      {"passive", CNI_MJCF_PASSIVE},
      {"actuation", CNI_MJCF_ACTUATION},
      {"constraint", CNI_MJCF_CONTACT | CNI_MJCF_EQUALITY | CNI_MJCF_FRICTION | CNI_MJCF_LIMIT}};
  // how the format computes, which is not how a scene is computed
  static const char *const known[] = {
      "warmstart", "refsafe", "sensor",   "midphase",    "eulerdamp", "override",    "energy",
      "fwdinv",    "island",  "multiccd", "sensornoise", "nativeccd", "invdiscrete", NULL};
  static const char *const words[] = {"disable", "enable", NULL};
  for (CniXmlNode *flag = NULL; (flag = cni_xml_child(option, "flag", flag));) {
    CniXmlView v = cni_xml_view(flag);
    int32_t on = 1;
    cni_xml_known(&v, known);
    CNI_TRY(cni_xml_choice(&v, "gravity", words, &on));
    if (!on) *gravity = CN_VEC3_ZERO;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
      on = 1;
      CNI_TRY(cni_xml_choice(&v, rows[i].name, words, &on));
      if (!on) m->off |= rows[i].off;
    }
  }
  return CN_OK;
}

// Numbers that are nothing where they are zero.
static CnStatus note_options(CniMjcf *m, const CniXmlView *view) {
  static const char *const names[] = {"density", "viscosity", NULL};
  double value;
  for (int32_t i = 0; names[i]; i++) {
    value = 0;
    CNI_TRY(cni_xml_number(view, names[i], &value));
    if (value != 0)
      cni_robot_note(m->robot,
                     "beware: line %d: \"%s\" of <option>: there is no medium around "
                     "bodies here",
                     (int)view->node->line, names[i]);
  }
  return CN_OK;
}

static CnStatus read_option(CniMjcf *m, CniXmlNode *root) {
  CniRobot *robot = m->robot;
  static const char *const meeting[] = {"all", "predefined", "dynamic", NULL};
  for (CniXmlNode *n = NULL; (n = cni_xml_child(root, "option", n));) {
    CniXmlView view = cni_xml_view(n);
    double step = 0.002;
    CnVec3 gravity = {0, 0, -9.81};
    CNI_TRY(cni_xml_number(&view, "timestep", &step));
    CNI_TRY(cni_xml_vec3(&view, "gravity", &gravity));
    if (!(step > 0)) return cni_xml_fail(n, "\"timestep\" must be positive (got %g)", step);
    CNI_TRY(read_flags(m, n, &gravity));
    CNI_TRY(cni_xml_choice(&view, "collision", meeting, &m->collision));
    CNI_TRY(note_options(m, &view));
    cni_robot_put(robot, robot->settings, "time_step", json_real(step));
    cni_robot_put(robot, robot->settings, "gravity", cni_json_vec3(gravity));
    m->gravity = gravity;
  }
  return CN_OK;
}

// ---- defaults and assets ----

static CnStatus add_class(CniMjcf *m, CniXmlNode *node, int32_t parent, int32_t *made) {
  const CnAllocator *a = m->robot->allocator;
  CniXmlView view = cni_xml_view(node);
  CniMjcfClass c = {cni_xml_text(&view, "class"), node, parent};
  if (!c.name && parent >= 0) return cni_xml_fail(node, "needs \"class\"");
  if (!c.name) c.name = "main";
  if (cni_name_find(&m->class_names, c.name) >= 0)
    return cni_xml_fail(node, "a second class is called %.60s", c.name);
  CNI_TRY(cni_name_add(&m->class_names, a, c.name, m->class_count));
  *made = m->class_count;
  return CNI_PUSH(a, m->classes, m->class_capacity, m->class_count, c);
}

static CnStatus read_classes(CniMjcf *m, CniXmlNode *root) {
  int32_t made;
  CniXmlNode *first = cni_xml_child(root, "default", NULL);
  for (CniXmlNode *n = first; n; n = cni_xml_child(root, "default", n)) {
    if (n == first) {
      CNI_TRY(add_class(m, n, -1, &made));
      continue;
    }
    CniXmlView view = cni_xml_view(n);
    const char *name = cni_xml_text(&view, "class");
    if (name && strcmp(name, m->classes[0].name) != 0) {
      CNI_TRY(add_class(m, n, 0, &made));
      continue;
    }
    // a further section of the same class speaks after the first
    CniMjcfClass more = {m->classes[0].name, n, m->classes[0].parent};
    CNI_TRY(CNI_PUSH(m->robot->allocator, m->classes, m->class_capacity, m->class_count, more));
    m->classes[0].parent = m->class_count - 1;
  }
  // classes grow while they are walked over: level by level
  for (int32_t i = 0; i < m->class_count; i++)
    for (CniXmlNode *n = NULL; (n = cni_xml_child(m->classes[i].node, "default", n));)
      CNI_TRY(add_class(m, n, m->classes[i].name == m->classes[0].name ? 0 : i, &made));
  return CN_OK;
}

// Meshes by name; without one it is the file's without its ending.
static CnStatus read_assets(CniMjcf *m, CniXmlNode *root) {
  const CnAllocator *a = m->robot->allocator;
  for (CniXmlNode *n = NULL; (n = cni_xml_child(root, "asset", n));)
    for (CniXmlNode *mesh = NULL; (mesh = cni_xml_child(n, "mesh", mesh));) {
      CniXmlView view;
      CNI_TRY(cni_mjcf_view(m, mesh, NULL, &view));
      const char *name = cni_xml_text(&view, "name"), *file = cni_xml_text(&view, "file");
      if (!name && !file) return cni_xml_fail(mesh, "needs \"name\" or \"file\"");
      if (!name) {
        const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file;
        const char *dot = strrchr(start, '.');
        name = cni_xml_keep(&m->robot->arena, start, dot ? (size_t)(dot - start) : strlen(start));
        if (!name) return cni_error_memory(1);
      }
      if (cni_name_find(&m->mesh_names, name) >= 0)
        return cni_xml_fail(mesh, "a second mesh is called %.60s", name);
      CNI_TRY(cni_name_add(&m->mesh_names, a, name, m->mesh_count));
      CNI_TRY(CNI_PUSH(a, m->meshes, m->mesh_capacity, m->mesh_count, mesh));
    }
  return CN_OK;
}

// ---- the whole ----

// What is left out and is felt.
static const CniRobotWeight weights[] = {
    {"actuator", "*", NULL},        {"equality", "*", NULL},
    {"tendon", "*", NULL},          {"contact", "*", NULL},
    {NULL, "attach", NULL},         {NULL, "composite", NULL},
    {NULL, "flexcomp", NULL},       {NULL, "plugin", NULL},
    {"mujoco", "deformable", NULL}, {"option", "flag", "filterparent"},
    {NULL, "option", "wind"},       {NULL, "joint", "springdamper"},
    {NULL, "geom", "shellinertia"}, {"tendon", "*", "actuatorfrcrange"},
    {"keyframe", "key", "act"},     {"keyframe", "key", "mpos"},
    {"keyframe", "key", "mquat"},   {NULL, NULL, NULL}};

static CnStatus read_all(CniMjcf *m, CniXmlNode *root) {
  m->robot->weights = weights;
  CniXmlView view = cni_xml_view(root);
  const char *name = cni_xml_text(&view, "model");
  m->robot->title = name ? name : "";
  // what the format assumes
  cni_robot_put(m->robot, m->robot->settings, "time_step", json_real(0.002));
  CNI_TRY(include_files(m->robot, root));
  CNI_TRY(read_compiler(m, root));
  CNI_TRY(cni_mjcf_replicate(m, root));
  CNI_TRY(read_option(m, root));
  CNI_TRY(read_classes(m, root));
  CNI_TRY(read_assets(m, root));
  CNI_TRY(cni_mjcf_find_pairs(m, root));
  CNI_TRY(cni_mjcf_bodies(m, root));
  cni_mjcf_groups(m);
  cni_mjcf_total(m);
  CNI_TRY(cni_mjcf_priorities(m));
  CNI_TRY(cni_mjcf_keys(m, root));
  CNI_TRY(cni_mjcf_spools(m, root));
  CNI_TRY(cni_robot_settle(m->robot));
  CNI_TRY(cni_mjcf_loads(m));
  CNI_TRY(cni_mjcf_contacts(m, root));
  CNI_TRY(cni_mjcf_equality(m, root));
  CNI_TRY(cni_mjcf_tendons(m, root));
  CNI_TRY(cni_mjcf_actuators(m, root));
  return cni_mjcf_sensors(m, root);
}

CnStatus cni_robot_mjcf(CniRobot *robot, CniXmlNode *root) {
  CniMjcf m = {.robot = robot,
               .root = root,
               .angle = PI / 180,
               .euler = "xyz",
               .auto_limits = 1,
               .inertia = 2,
               .inertia_groups = {-1e9, 1e9},
               .gravity = {0, 0, -9.81}};
  const CnAllocator *a = robot->allocator;
  CnStatus status = read_all(&m, root);
  cni_name_release(&m.class_names, a);
  cni_name_release(&m.site_names, a);
  cni_name_release(&m.mesh_names, a);
  cni_name_release(&m.free_names, a);
  cni_name_release(&m.paired, a);
  cni_name_release(&m.materials, a);
  CNI_RELEASE(a, m.classes, m.class_capacity);
  CNI_RELEASE(a, m.sites, m.site_capacity);
  CNI_RELEASE(a, m.places, m.place_capacity);
  CNI_RELEASE(a, m.loads, m.load_capacity);
  CNI_RELEASE(a, m.spools, m.spool_capacity);
  CNI_RELEASE(a, m.surfaces, m.surface_capacity);
  CNI_RELEASE(a, m.pairs, m.pair_capacity);
  CNI_RELEASE(a, m.meshes, m.mesh_capacity);
  return status;
}
