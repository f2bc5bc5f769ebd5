// SPDX-License-Identifier: Apache-2.0
// SDF: worlds and models of links and joints. Links that no joint holds are free, those of static models stand
// still; a joint whose child has one already, or that would close a circle, closes a loop.
#include <stdio.h>
#include <string.h>

#include "io/robots/sdf/sdf.h"

#define MOST_FILES 100
#define OLDEST 103 // 1.3: before it values were attributes

static CnStatus read_model(CniSdf *s, CniXmlNode *node, CniXmlNode *include, int32_t above,
                           int32_t fixed);

// ---- entries ----

// Its name with those around it; without one the kind and a number.
static CnStatus add_entry(CniSdf *s, CniSdfKind kind, CniXmlNode *node, const char *name,
                          int32_t model, int32_t *made) {
  static const char *const kinds[] = {"model", "link", "joint", "frame"};
  char whole[1024], number[40];
  CniArena *arena = &s->robot->arena;
  CniSdfEntry e = {.kind = kind,
                   .node = node,
                   .model = model,
                   .first_link = -1,
                   .joint = -1,
                   .parent = CNI_SDF_WORLD,
                   .first = -1,
                   .last = -1,
                   .sibling = -1,
                   .body = -1,
                   .part_of = -2};
  snprintf(number, sizeof number, "%s%d", kinds[kind], (int)s->entry_count + 1);
  if (!name || !name[0]) name = number;
  const char *scope = model == CNI_SDF_WORLD ? "" : s->entries[model].name;
  int n = snprintf(whole, sizeof whole, "%s%s%s", scope, scope[0] ? "::" : "", name);
  if (n < 0 || (size_t)n >= sizeof whole) return cni_xml_fail(node, "its name is too long");
  if (cni_name_find(&s->names, whole) >= 0)
    return cni_xml_fail(node, "a second thing is called %.60s", whole);
  e.name = cni_xml_keep(arena, whole, (size_t)n);
  if (!e.name) return cni_error_memory(sizeof whole);
  node->used = 1;
  *made = s->entry_count;
  CNI_TRY(cni_name_add(&s->names, s->robot->allocator, e.name, s->entry_count));
  return CNI_PUSH(s->robot->allocator, s->entries, s->entry_capacity, s->entry_count, e);
}

static CnStatus add_named(CniSdf *s, CniSdfKind kind, CniXmlNode *node, int32_t model) {
  CniXmlView view = cni_xml_view(node);
  int32_t made;
  const char *name = cni_xml_text(&view, "name");
  if (kind == CNI_SDF_JOINT) cni_xml_text(&view, "type");
  CNI_TRY(add_entry(s, kind, node, name, model, &made));
  for (int32_t m = model; kind == CNI_SDF_LINK && m != CNI_SDF_WORLD; m = s->entries[m].model)
    if (s->entries[m].first_link < 0) s->entries[m].first_link = made;
  return CN_OK;
}

// ---- other files ----

// The ground of Gazebo's own collection, which is not beside every file.
static CnStatus add_ground(CniSdf *s, const CniXmlNode *node) {
  json_t *item = json_pack("{s:s}", "kind", "plane");
  cni_robot_note(s->robot, "line %d: model://ground_plane is not there: a plane at z = 0",
                 (int)node->line);
  return cni_robot_add_shape(s->robot, CNI_ROBOT_WORLD, CN_POSE_ONE, item);
}

static CnStatus read_include(CniSdf *s, CniXmlNode *node, int32_t above) {
  const char *uri = cni_sdf_text(node, "uri"), *path;
  char file[1024];
  CniXmlNode *root = NULL, *model;
  int32_t fixed = 0;
  if (!uri) return cni_xml_fail(node, "needs <uri>");
  size_t length = strlen(uri);
  int whole = length > 4 && strcmp(uri + length - 4, ".sdf") == 0;
  int n = snprintf(file, sizeof file, "%s%s", uri, whole ? "" : "/model.sdf");
  if (n < 0 || (size_t)n >= sizeof file) return cni_xml_fail(node, "its <uri> is too long");
  CNI_TRY(cni_robot_find_file(s->robot, node, NULL, file, &path));
  if (!path && strcmp(uri, "model://sun") == 0) return CN_OK; // a light
  if (!path && strcmp(uri, "model://ground_plane") == 0 && above == CNI_SDF_WORLD)
    return add_ground(s, node);
  if (!path) {
    cni_robot_note(s->robot, "beware: line %d: the model %.150s is not there: left out",
                   (int)node->line, uri);
    return CN_OK;
  }
  if (++s->files > MOST_FILES) return cni_xml_fail(node, "more than %d files", MOST_FILES);
  CNI_TRY(cni_robot_include(s->robot, node, path, &root));
  root->used = 1;
  // so that what it does not understand is told too
  root->parent = node;
  root->depth = node->depth + 1;
  if (node->last)
    node->last->next = root;
  else
    node->first = root;
  node->last = root;
  CniXmlView view = cni_xml_view(root);
  cni_xml_text(&view, "version");
  if (!(model = cni_xml_child(root, "model", NULL)))
    return cni_xml_fail(root, "has no <model>, and another one includes it");
  CNI_TRY(cni_sdf_flag(node, "static", &fixed));
  return read_model(s, model, node, above, fixed);
}

// ---- models ----

static const struct {
  const char *name;
  CniSdfKind kind;
} parts[] = {{"link", CNI_SDF_LINK}, {"joint", CNI_SDF_JOINT}, {"frame", CNI_SDF_FRAME}};

// What is in a model or in the world.
static CnStatus read_inside(CniSdf *s, CniXmlNode *node, int32_t model, int32_t fixed) {
  for (CniXmlNode *n = NULL; (n = cni_xml_next(node, n));) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
      if (strcmp(n->name, parts[i].name) == 0) CNI_TRY(add_named(s, parts[i].kind, n, model));
    if (strcmp(n->name, "model") == 0) CNI_TRY(read_model(s, n, NULL, model, fixed));
    if (strcmp(n->name, "include") != 0) continue;
    n->used = 1;
    CNI_TRY(read_include(s, n, model));
  }
  return CN_OK;
}

static CnStatus read_model(CniSdf *s, CniXmlNode *node, CniXmlNode *include, int32_t above,
                           int32_t fixed) {
  CniXmlView view = cni_xml_view(node);
  int32_t made, own_fixed = 0, collides = 0;
  const char *name = cni_xml_text(&view, "name");
  const char *other = include ? cni_sdf_text(include, "name") : NULL;
  if (node->depth > CNI_XML_DEPTH) return cni_xml_fail(node, "is nested too deep");
  CNI_TRY(add_entry(s, CNI_SDF_MODEL, node, other && other[0] ? other : name, above, &made));
  CNI_TRY(cni_sdf_flag(node, "static", &own_fixed));
  CNI_TRY(cni_sdf_flag(node, "self_collide", &collides));
  s->entries[made].include = include;
  s->entries[made].fixed = fixed || own_fixed;
  s->entries[made].collides = collides;
  return read_inside(s, node, made, fixed || own_fixed);
}

static CnStatus read_world(CniSdf *s, CniXmlNode *node) {
  CniRobot *robot = s->robot;
  CniXmlView view = cni_xml_view(node);
  CniXmlNode *physics = cni_xml_child(node, "physics", NULL);
  const char *name = cni_xml_text(&view, "name");
  double step = 0.001;
  robot->title = name ? name : "";
  s->gravity = cn_vec3(0, 0, -9.8);
  if (physics) {
    CNI_TRY(cni_sdf_vec3(physics, "gravity", &s->gravity)); // where 1.3 and before had it
    CNI_TRY(cni_sdf_number(physics, "max_step_size", &step));
    if (!(step > 0))
      return cni_xml_fail(physics, "<max_step_size> must be positive (got %g)", step);
  }
  CNI_TRY(cni_sdf_vec3(node, "gravity", &s->gravity));
  cni_robot_put(robot, robot->settings, "time_step", json_real(step));
  cni_robot_put(robot, robot->settings, "gravity", cni_json_vec3(s->gravity));
  return read_inside(s, node, CNI_SDF_WORLD, 0);
}

// Links and joints of the only model go by their own names.
static CnStatus label(CniSdf *s) {
  int32_t models = 0;
  size_t length = 0;
  for (int32_t i = 0; i < s->entry_count; i++) {
    if (s->entries[i].kind != CNI_SDF_MODEL || s->entries[i].model != CNI_SDF_WORLD) continue;
    models++;
    length = strlen(s->entries[i].name) + 2;
  }
  for (int32_t i = 0; i < s->entry_count; i++) {
    CniSdfEntry *e = &s->entries[i];
    e->label = models == 1 && strlen(e->name) > length ? e->name + length : e->name;
  }
  return CN_OK;
}

// ---- the tree ----

static void hang(CniSdf *s, int32_t joint) {
  CniSdfEntry *e = &s->entries[joint], *link = &s->entries[e->below];
  link->joint = joint;
  link->parent = e->above;
  if (e->above == CNI_SDF_WORLD) return;
  CniSdfEntry *above = &s->entries[e->above];
  if (above->last >= 0)
    s->entries[above->last].sibling = e->below;
  else
    above->first = e->below;
  above->last = e->below;
}

// The root of what a link hangs on, with the ways made half as long on the way.
static int32_t root_of(int32_t *above, int32_t link) {
  while (above[link] != link) link = above[link] = above[above[link]];
  return link;
}

static CnStatus find_joints(CniSdf *s) {
  int32_t *roots;
  CNI_TRY(cni_arena_array(&s->robot->arena, s->entry_count, sizeof *roots, &roots));
  for (int32_t i = 0; i < s->entry_count; i++) roots[i] = i;
  for (int32_t i = 0; i < s->entry_count; i++) {
    CniSdfEntry *e = &s->entries[i];
    if (e->kind != CNI_SDF_JOINT) continue;
    const char *parent = cni_sdf_text(e->node, "parent"), *child = cni_sdf_text(e->node, "child");
    if (!parent || !child) return cni_xml_fail(e->node, "needs <parent> and <child>");
    CNI_TRY(cni_sdf_find(s, e->node, e->model, parent, &e->above));
    CNI_TRY(cni_sdf_find(s, e->node, e->model, child, &e->below));
    CNI_TRY(cni_sdf_link_of(s, e->node, e->above, &e->above));
    CNI_TRY(cni_sdf_link_of(s, e->node, e->below, &e->below));
    if (e->above == e->below) return cni_xml_fail(e->node, "connects a link with itself");
    if (e->below == CNI_SDF_WORLD) return cni_xml_fail(e->node, "the world is no joint's child");
    CniXmlView view = cni_xml_view(e->node);
    const char *type = cni_xml_text(&view, "type");
    if (type && strcmp(type, "gearbox") == 0) {
      cni_robot_note(s->robot, "beware: line %d: a gearbox is left out", (int)e->node->line);
      e->kind = CNI_SDF_FRAME; // it has a place still
      continue;
    }
    const CniSdfEntry *below = &s->entries[e->below];
    int still = below->model != CNI_SDF_WORLD && s->entries[below->model].fixed;
    int circle = e->above != CNI_SDF_WORLD && root_of(roots, e->above) == root_of(roots, e->below);
    e->in_loop = still || circle || below->joint >= 0;
    if (e->in_loop) continue;
    if (e->above != CNI_SDF_WORLD) roots[root_of(roots, e->below)] = root_of(roots, e->above);
    hang(s, i);
  }
  return CN_OK;
}

static CnStatus add_link(CniSdf *s, int32_t i) {
  CniSdfEntry *e = &s->entries[i];
  int32_t parent = e->parent == CNI_SDF_WORLD ? CNI_ROBOT_WORLD : s->entries[e->parent].body;
  CnPose pose = cn_pose_mul(cn_pose_inverse(cni_sdf_at(s, e->parent)), e->at);
  CNI_TRY(cni_robot_add_body(s->robot, e->label, e->node, parent, pose, &e->body));
  int fixed = e->model != CNI_SDF_WORLD && s->entries[e->model].fixed;
  s->robot->bodies[e->body].free = e->joint < 0 && !fixed;
  CNI_TRY(cni_sdf_contents(s, e));
  return e->joint < 0 ? CN_OK : cni_sdf_joints(s, e);
}

// Roots, and what hangs on them, level by level.
static CnStatus add_links(CniSdf *s) {
  int32_t *queue, count = 0;
  CNI_TRY(cni_arena_array(&s->robot->arena, s->entry_count, sizeof *queue, &queue));
  for (int32_t i = 0; i < s->entry_count; i++)
    if (s->entries[i].kind == CNI_SDF_LINK && s->entries[i].parent == CNI_SDF_WORLD)
      queue[count++] = i;
  for (int32_t k = 0; k < count; k++) {
    CNI_TRY(add_link(s, queue[k]));
    for (int32_t c = s->entries[queue[k]].first; c >= 0; c = s->entries[c].sibling)
      queue[count++] = c;
  }
  return CN_OK;
}

// Links of one model do not meet, unless it says so.
static int32_t silent_model(const CniSdf *s, int32_t link) {
  int32_t top = s->entries[link].model;
  if (top == CNI_SDF_WORLD || s->entries[top].collides) return CNI_SDF_WORLD;
  while (s->entries[top].model != CNI_SDF_WORLD) top = s->entries[top].model;
  return top;
}

static CnStatus part_links(CniSdf *s) {
  int32_t *models;
  CNI_TRY(cni_arena_array(&s->robot->arena, s->robot->body_count, sizeof *models, &models));
  for (int32_t i = 0; i < s->entry_count; i++)
    if (s->entries[i].kind == CNI_SDF_LINK) models[s->entries[i].body] = silent_model(s, i);
  s->robot->silent = models;
  return CN_OK;
}

// ---- the whole ----

// "1.10" is 110.
static CnStatus read_version(CniSdf *s, CniXmlNode *root) {
  CniXmlView view = cni_xml_view(root);
  const char *text = cni_xml_text(&view, "version");
  int major = 1, minor = 6;
  if (text && sscanf(text, "%2d.%2d", &major, &minor) < 1)
    return cni_xml_fail(root, "\"version\" must be a version (got \"%.20s\")", text);
  s->version = 100 * major + minor;
  if (s->version < OLDEST)
    return cni_xml_fail(root, "versions before 1.3 are not read (got \"%.20s\")", text);
  return CN_OK;
}

// What is left out and is felt.
static const CniRobotWeight weights[] = {{"world", "state", NULL},
                                         {"world", "population", NULL},
                                         {"world", "actor", NULL},
                                         {NULL, "inertial", "auto"},
                                         {"model", "gripper", NULL},
                                         {"inertial", "fluid_added_mass", NULL},
                                         {"sdf", "world", NULL},
                                         {"link", "velocity_decay", NULL},
                                         {"contact", "collide_bitmask", NULL},
                                         {"contact", "category_bitmask", NULL},
                                         {NULL, NULL, NULL}};

static CnStatus read_all(CniSdf *s, CniXmlNode *root) {
  CniRobot *robot = s->robot;
  CniXmlNode *world = cni_xml_child(root, "world", NULL);
  robot->beside = 1;
  robot->weights = weights;
  robot->lenient = 1;
  CNI_TRY(read_version(s, root));
  CNI_TRY(world ? read_world(s, world) : read_inside(s, root, CNI_SDF_WORLD, 0));
  CNI_TRY(label(s));
  CNI_TRY(cni_sdf_place(s));
  CNI_TRY(find_joints(s));
  CNI_TRY(add_links(s));
  if (robot->body_count == 0 && robot->shape_count == 0) return cni_xml_fail(root, "has no <link>");
  if (!world && s->entry_count > 0) robot->title = s->entries[0].name;
  CNI_TRY(part_links(s));
  CNI_TRY(cni_robot_settle(robot));
  CNI_TRY(cni_sdf_loads(s));
  return cni_sdf_close(s);
}

CnStatus cni_robot_sdf(CniRobot *robot, CniXmlNode *root) {
  CniSdf s = {.robot = robot, .gravity = {0, 0, -9.81}};
  const CnAllocator *a = robot->allocator;
  CnStatus status = read_all(&s, root);
  cni_name_release(&s.names, a);
  cni_name_release(&s.materials, a);
  CNI_RELEASE(a, s.entries, s.entry_capacity);
  return status;
}
