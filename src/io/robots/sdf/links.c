// SPDX-License-Identifier: Apache-2.0
// SDF: what links are made of. A link without <inertial> has 1 kg and 1 kg m^2, as the format says.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/robots/sdf/sdf.h"

static CnStatus read_inertial(CniSdf *s, const CniSdfEntry *link, CniRobotBody *body) {
  CniXmlNode *node = cni_xml_child(link->node, "inertial", NULL), *part;
  CnSym3 *j = &body->inertia;
  int fixed = link->model != CNI_SDF_WORLD && s->entries[link->model].fixed;
  body->mass = 1;
  *j = cn_sdiag(1, 1, 1);
  if (!node) {
    if (!fixed)
      cni_robot_note(s->robot, "%.60s (line %d) has no <inertial>: 1 kg, 1 kg m^2 about all axes",
                     body->name, (int)link->node->line);
    return CN_OK;
  }
  CNI_TRY(cni_sdf_pose(node, &body->com, NULL));
  CNI_TRY(cni_sdf_number(node, "mass", &body->mass));
  if (!(body->mass > 0)) return cni_xml_fail(node, "<mass> must be positive (got %g)", body->mass);
  if (!(part = cni_xml_child(node, "inertia", NULL))) return CN_OK;
  static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  double *values[] = {&j->xx, &j->yy, &j->zz, &j->xy, &j->xz, &j->yz};
  for (int32_t i = 0; i < 6; i++) CNI_TRY(cni_sdf_number(part, names[i], values[i]));
  return CN_OK;
}

// ---- shapes ----

// The corners of an outline at two heights: its hull.
static CnStatus read_outline(CniSdf *s, CniXmlNode *node, json_t **item) {
  CniMeshData mesh = {.allocator = *s->robot->allocator};
  int32_t count = 0;
  double height = 1;
  char key[60];
  for (CniXmlNode *n = NULL; (n = cni_xml_child(node, "point", n));) count++;
  CNI_TRY(cni_sdf_number(node, "height", &height));
  if (count < 3 || !(height > 0)) return cni_xml_fail(node, "needs three points and a height");
  CNI_TRY(cni_arena_array(&s->robot->arena, 2 * count, sizeof *mesh.vertices, &mesh.vertices));
  for (CniXmlNode *n = NULL; (n = cni_xml_child(node, "point", n));) {
    CniXmlView view = cni_xml_view(n);
    double p[2] = {0, 0};
    CNI_TRY(cni_xml_numbers(&view, "text", 2, 2, p, NULL));
    mesh.vertices[mesh.vertex_count++] = cn_vec3(p[0], p[1], 0);
    mesh.vertices[mesh.vertex_count++] = cn_vec3(p[0], p[1], height);
  }
  cni_robot_note(s->robot, "line %d: of a polyline the convex hull collides", (int)node->line);
  snprintf(key, sizeof key, "outline %p", (const void *)node);
  return cni_robot_hull(s->robot, node, key, "polyline", &mesh, item);
}

static CnStatus read_mesh(CniSdf *s, CniXmlNode *node, json_t **item) {
  CnVec3 scale = {1, 1, 1};
  const char *uri = cni_sdf_text(node, "uri");
  if (!uri) return cni_xml_fail(node, "needs <uri>");
  CNI_TRY(cni_sdf_vec3(node, "scale", &scale));
  if (cni_xml_child(node, "submesh", NULL))
    cni_robot_note(s->robot, "beware: line %d: of a submesh the whole mesh is taken",
                   (int)node->line);
  return cni_robot_mesh(s->robot, node, NULL, uri, scale, item);
}

// The plane's normal is its z; the pose is turned so.
static CnStatus read_plane(CniXmlNode *node, CnPose *pose, json_t **item) {
  CnVec3 n = {0, 0, 1};
  CNI_TRY(cni_sdf_vec3(node, "normal", &n));
  double length = cn_norm(n);
  if (!(length > 1e-12)) return cni_xml_fail(node, "<normal> must have a direction");
  pose->rotation = cn_qmul(pose->rotation, cni_joint_axes(cn_scale(1 / length, n)));
  *item = json_pack("{s:s}", "kind", "plane");
  return *item ? CN_OK : cni_error_memory(1);
}

static const struct {
  const char *name, *sizes[2];
  double by; // from the format's number to the scene's
} shapes[] = {{"box", {"size", NULL}, 1},
              {"sphere", {"radius", NULL}, 1},
              {"cylinder", {"radius", "length"}, 1},
              {"capsule", {"radius", "length"}, 1},
              {"ellipsoid", {"radii", NULL}, 2}};

static CnStatus read_shape(CniSdf *s, CniXmlNode *node, CnPose *pose, json_t **item) {
  CniXmlNode *g;
  *item = NULL;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    if (!(g = cni_xml_child(node, shapes[i].name, NULL))) continue;
    if (!(*item = json_pack("{s:s}", "kind", shapes[i].name))) return cni_error_memory(1);
    int vector = i == 0 || i == 4;
    for (int32_t k = 0; k < 2 && shapes[i].sizes[k]; k++) {
      CnVec3 size = {1, 1, 1};
      CnStatus status = vector ? cni_sdf_vec3(g, shapes[i].sizes[k], &size)
                               : cni_sdf_number(g, shapes[i].sizes[k], &size.x);
      if (status == CN_OK && !(size.x > 0 && size.y > 0 && size.z > 0))
        status = cni_xml_fail(g, "<%s> must be positive", shapes[i].sizes[k]);
      if (status != CN_OK) {
        json_decref(*item);
        *item = NULL;
        return status;
      }
      cni_robot_put(s->robot, *item, i == 4 ? "size" : shapes[i].sizes[k],
                    vector ? cni_json_vec3(cn_scale(shapes[i].by, size)) : json_real(size.x));
    }
    return CN_OK;
  }
  if ((g = cni_xml_child(node, "plane", NULL))) return read_plane(g, pose, item);
  if ((g = cni_xml_child(node, "mesh", NULL))) return read_mesh(s, g, item);
  if ((g = cni_xml_child(node, "polyline", NULL))) return read_outline(s, g, item);
  if (!cni_xml_child(node, "empty", NULL))
    cni_robot_note(s->robot, "%sline %d: a shape of the kind %.40s is left out",
                   s->robot->drawing ? "" : "beware: ", (int)node->line,
                   node->first ? node->first->name : "nothing");
  return CN_OK;
}

// <surface>: friction of both directions as one, the smaller of two surfaces counts; bouncing.
static CnStatus put_material(CniSdf *s, CniXmlNode *collision, json_t *item) {
  CniRobot *robot = s->robot;
  CniXmlNode *surface = cni_xml_child(collision, "surface", NULL), *n;
  double mu = 1, other = -1, bounce = 0;
  char key[80], name[CNI_NAME_SIZE];
  static const char *const ways[][2] = {{"ode", "mu"}, {"bullet", "friction"}};
  CniXmlNode *friction = surface ? cni_xml_child(surface, "friction", NULL) : NULL;
  if (surface) cni_xml_child(surface, "contact", NULL); // what it has is told one by one
  for (int32_t i = 1; friction && i >= 0; i--) {
    if (!(n = cni_xml_child(friction, ways[i][0], NULL))) continue;
    CNI_TRY(cni_sdf_number(n, ways[i][1], &mu));
    if (i == 0) CNI_TRY(cni_sdf_number(n, "mu2", &other));
    if (other >= 0 && other != mu)
      cni_robot_note(robot, "line %d: friction is the same in all directions: <mu>, %g",
                     (int)n->line, mu);
  }
  if (surface && (n = cni_xml_child(surface, "bounce", NULL)))
    CNI_TRY(cni_sdf_number(n, "restitution_coefficient", &bounce));
  if (!(mu >= 0 && bounce >= 0 && bounce <= 1))
    return cni_xml_fail(surface, "friction and restitution must not be negative, nor that above 1");
  snprintf(key, sizeof key, "%.17g %.17g", mu, bounce);
  int32_t known = cni_name_find(&s->materials, key);
  snprintf(name, sizeof name, "%.20smaterial %d", robot->def->prefix,
           (int)(known < 0 ? s->materials.count : known) + 1);
  cni_robot_put(robot, item, "material", json_string(name));
  if (known >= 0) return CN_OK;
  const char *kept = cni_xml_keep(&robot->arena, key, strlen(key));
  if (!kept) return cni_error_memory(sizeof key);
  CNI_TRY(cni_name_add(&s->materials, robot->allocator, kept, s->materials.count));
  cni_robot_put(
      robot, robot->materials, name,
      json_pack("{s:f, s:s, s:f}", "friction", mu, "friction_rule", "min", "restitution", bounce));
  return CN_OK;
}

// What it collides with; without such shapes what it looks like, which meets nothing.
static CnStatus read_shapes(CniSdf *s, const CniSdfEntry *link, int32_t body) {
  int solid = cni_xml_child(link->node, "collision", NULL) != NULL;
  static const char *const known[] = {"name", NULL};
  for (CniXmlNode *n = NULL; (n = cni_xml_child(link->node, solid ? "collision" : "visual", n));) {
    CniXmlView view = cni_xml_view(n);
    CniXmlNode *geometry = cni_xml_child(n, "geometry", NULL);
    CnPose pose;
    json_t *item;
    cni_xml_known(&view, known);
    if (!geometry) return cni_xml_fail(n, "needs <geometry>");
    CNI_TRY(cni_sdf_pose(n, &pose, NULL));
    s->robot->drawing = !solid;
    CNI_TRY(read_shape(s, geometry, &pose, &item));
    if (!item) continue;
    if (!solid) {
      cni_robot_put(s->robot, item, "category", json_integer(0));
      cni_robot_put(s->robot, item, "mask", json_integer(0));
    } else {
      CnStatus status = put_material(s, n, item);
      if (status != CN_OK) json_decref(item);
      if (status != CN_OK) return status;
    }
    CNI_TRY(cni_robot_add_shape(s->robot, body, pose, item));
  }
  return CN_OK;
}

CnStatus cni_sdf_contents(CniSdf *s, const CniSdfEntry *link) {
  CniRobotBody mass = {.com = CN_POSE_ONE, .name = link->label};
  int32_t kinematic = 0;
  CNI_TRY(read_inertial(s, link, &mass));
  CniRobotBody *body = &s->robot->bodies[link->body];
  body->mass = mass.mass;
  body->com = mass.com;
  body->inertia = mass.inertia;
  CNI_TRY(cni_sdf_flag(link->node, "kinematic", &kinematic));
  if (kinematic)
    cni_robot_note(s->robot, "beware: %.60s (line %d) is kinematic: here it moves by forces",
                   link->label, (int)link->node->line);
  return read_shapes(s, link, link->body);
}

// A link that gravity does not pull at.
CnStatus cni_sdf_loads(CniSdf *s) {
  for (int32_t i = 0; i < s->entry_count; i++) {
    const CniSdfEntry *e = &s->entries[i];
    int32_t falls = 1;
    if (e->kind != CNI_SDF_LINK) continue;
    CNI_TRY(cni_sdf_flag(e->node, "gravity", &falls));
    const CniRobotBody *b = &s->robot->bodies[e->body];
    if (!falls)
      CNI_TRY(cni_robot_load(s->robot, "no gravity", e->body, b->com.position,
                             cn_scale(-b->mass, s->gravity), CN_VEC3_ZERO, 0));
  }
  return CN_OK;
}
