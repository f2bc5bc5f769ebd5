// SPDX-License-Identifier: Apache-2.0
// MJCF: geoms, as shapes and as mass.
//
// Two geoms meet if the contype of one has a bit of the other's conaffinity, or by a pair (pairs.c). In a scene each must have
// the other's category in its mask: every pair of bits in use becomes a category, and its mask has the
// categories that it meets. The larger friction of two counts, as in the format.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/math.h"
#include "io/robots/mjcf/mjcf.h"

static const char *const types[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                    "cylinder", "box",    "mesh",   "sdf",     NULL};
enum { PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF };

#define MOST_LAWS 1000 // of materials of different priority

typedef struct Geom {
  int32_t type;
  CnPose pose;
  double size[3]; // half sizes
  int32_t size_count;
  CniXmlNode *mesh;
} Geom;

CnStatus cni_mjcf_ends(const CniXmlView *view, CnPose *pose, double *length) {
  double ends[6];
  int32_t n;
  *length = 0;
  CNI_TRY(cni_xml_numbers(view, "fromto", 6, 6, ends, &n));
  if (n == 0) return CN_OK;
  CnVec3 from = {ends[0], ends[1], ends[2]}, to = {ends[3], ends[4], ends[5]};
  CnVec3 d = cn_sub(from, to);
  *length = cn_norm(d);
  if (!(*length > 1e-12)) return cni_xml_fail(view->node, "the ends of \"fromto\" are the same");
  d = cn_scale(1 / *length, d);
  // the shortest turn that takes z there
  CnVec3 axis = {-d.y, d.x, 0};
  double s = cn_norm(axis);
  if (s < 1e-15) axis = cn_vec3(1, 0, 0);
  pose->position = cn_scale(0.5, cn_add(from, to));
  pose->rotation = cni_turn_about(s < 1e-15 ? axis : cn_scale(1 / s, axis), cni_atan2(s, d.z));
  return CN_OK;
}

static CnStatus read_ends(const CniXmlView *view, Geom *g) {
  double length;
  CNI_TRY(cni_mjcf_ends(view, &g->pose, &length));
  if (length == 0) return CN_OK;
  if (g->type != CAPSULE && g->type != CYLINDER && g->type != BOX && g->type != ELLIPSOID)
    return cni_xml_fail(view->node, "a %s has no \"fromto\"", types[g->type]);
  int round = g->type == CAPSULE || g->type == CYLINDER;
  if (!round) g->size[1] = g->size[0]; // only the first number counts
  g->size[round ? 1 : 2] = length / 2;
  g->size_count = round ? 2 : 3;
  return CN_OK;
}

static CnStatus check_size(const CniXmlView *view, const Geom *g) {
  static const int32_t needed[] = {0, 0, 1, 2, 3, 2, 3, 0, 0};
  if (g->size_count < needed[g->type])
    return cni_xml_fail(view->node, "a %s needs %d numbers in \"size\"", types[g->type],
                        (int)needed[g->type]);
  for (int32_t i = 0; i < needed[g->type]; i++)
    if (!(g->size[i] > 0))
      return cni_xml_fail(view->node, "\"size\" must be positive (got %g)", g->size[i]);
  return CN_OK;
}

// A primitive in place of a mesh: the box of the same inertia, of density one, or what is as large as it is.
static CnStatus fit(CniMjcf *m, const CniXmlView *view, Geom *g) {
  CniMassProps p = {0};
  CnVec3 j;
  CnMat3 axes;
  CNI_TRY(cni_mjcf_mesh_mass(m, g->mesh, 0, 1, &p));
  if (!(p.mass > 0)) return cni_xml_fail(view->node, "the mesh has no volume to fit a geom to");
  cni_seigen(p.inertia, &j, &axes);
  // the longest side, about which the inertia is least, along z
  const double values[] = {j.x, j.y, j.z};
  const CnVec3 vectors[] = {axes.x, axes.y, axes.z};
  int32_t z = j.x <= j.y && j.x <= j.z ? 0 : j.y <= j.z ? 1 : 2, x = (z + 1) % 3, y = (z + 2) % 3;
  if (values[x] < values[y]) {
    int32_t other = x;
    x = y, y = other;
  }
  double half[3], a = values[x], b = values[y], c = values[z];
  half[0] = 0.5 * sqrt(fmax(0, 6 * (b + c - a) / p.mass));
  half[1] = 0.5 * sqrt(fmax(0, 6 * (a + c - b) / p.mass));
  half[2] = 0.5 * sqrt(fmax(0, 6 * (a + b - c) / p.mass));
  CnMat3 turn = {vectors[x], cn_cross(vectors[z], vectors[x]), vectors[z]};
  g->pose = cn_pose_mul(g->pose, (CnPose){p.centre, cni_quat_from_mat(turn)});
  memcpy(g->size, half, sizeof half);
  if (g->type == SPHERE) g->size[0] = (half[0] + half[1] + half[2]) / 3;
  if (g->type == CAPSULE || g->type == CYLINDER) {
    g->size[0] = (half[0] + half[1]) / 2;
    g->size[1] = g->type == CYLINDER ? half[2] : fmax(0, half[2] - g->size[0] / 2);
  }
  g->size_count = 3;
  return check_size(view, g);
}

static CnStatus read_geom(CniMjcf *m, const CniXmlView *view, Geom *g) {
  const char *mesh = cni_xml_text(view, "mesh");
  g->type = mesh ? MESH : SPHERE;
  CNI_TRY(cni_xml_choice(view, "type", types, &g->type));
  CNI_TRY(cni_xml_numbers(view, "size", 1, 3, g->size, &g->size_count));
  CNI_TRY(cni_mjcf_pose(m, view, &g->pose));
  CNI_TRY(read_ends(view, g));
  int solid = g->type == SPHERE || g->type == CAPSULE || g->type == ELLIPSOID ||
              g->type == CYLINDER || g->type == BOX;
  if (g->type != MESH && !(mesh && solid)) return check_size(view, g);
  int32_t i = mesh ? cni_name_find(&m->mesh_names, mesh) : -1;
  if (i < 0) return cni_xml_fail(view->node, "no mesh is called %.60s", mesh ? mesh : "");
  g->mesh = m->meshes[i];
  CnPose frame;
  CNI_TRY(cni_mjcf_mesh_frame(m, g->mesh, &frame));
  g->pose = cn_pose_mul(g->pose, cn_pose_inverse(frame));
  return g->type == MESH ? CN_OK : fit(m, view, g);
}

// ---- mass ----

// Of a primitive; the pose is put in later.
static CnShapeDef shape_def(const Geom *g) {
  static const CnShapeKind kinds[] = {CN_SHAPE_PLANE,   CN_SHAPE_PLANE,     CN_SHAPE_SPHERE,
                                      CN_SHAPE_CAPSULE, CN_SHAPE_ELLIPSOID, CN_SHAPE_CYLINDER,
                                      CN_SHAPE_BOX};
  CnShapeDef def = cn_shape_def_default(kinds[g->type]);
  if (g->type == BOX || g->type == ELLIPSOID)
    def.half_size = cn_vec3(g->size[0], g->size[1], g->size[2]);
  if (g->type == SPHERE || g->type == CAPSULE || g->type == CYLINDER) def.radius = g->size[0];
  if (g->type == CAPSULE || g->type == CYLINDER) def.half_length = g->size[1];
  return def;
}

static CnStatus read_mass(CniMjcf *m, const CniXmlView *view, const Geom *g, CnPose pose,
                          CniMassProps *mass) {
  double density = 1000, given = 0;
  int32_t n;
  CNI_TRY(cni_xml_number(view, "density", &density));
  CNI_TRY(cni_xml_numbers(view, "mass", 1, 1, &given, &n));
  if (density < 0 || given < 0) return cni_xml_fail(view->node, "mass must not be negative");
  if (g->type == PLANE || g->type == HFIELD || g->type == SDF) return CN_OK;
  if (n > 0) density = given > 0 ? 1 : 0;
  if (density == 0) return CN_OK;
  CniMassProps own = {0};
  int32_t shell = 0;
  if (g->type == MESH) {
    CNI_TRY(cni_mjcf_flag(view, "shellinertia", &shell));
    CNI_TRY(cni_mjcf_mesh_mass(m, g->mesh, shell, density, &own));
  } else {
    CnShapeDef def = shape_def(g);
    def.pose = CN_POSE_ONE;
    CniPlaced placed = cni_shape_placed(&def);
    own = cni_shape_mass(&placed, density);
  }
  double by = n > 0 && own.mass > 0 ? given / own.mass : 1;
  CnMat3 r = cn_qmat(pose.rotation), axes;
  CnVec3 principal;
  cni_seigen(own.inertia, &principal, &axes);
  CnMat3 turned = {cn_mmul(r, axes.x), cn_mmul(r, axes.y), cn_mmul(r, axes.z)};
  mass->mass = by * own.mass;
  mass->centre = cn_pose_point(pose, own.centre);
  mass->inertia = cn_srotate(turned, cn_scale(by, principal));
  return CN_OK;
}

// ---- shapes ----

static CnStatus shape_item(CniMjcf *m, const CniXmlView *view, const Geom *g, int32_t body,
                           json_t **item) {
  const double *s = g->size;
  *item = NULL;
  switch (g->type) {
  case PLANE:
    *item = json_pack("{s:s}", "kind", "plane");
    break;
  case SPHERE:
    *item = json_pack("{s:s, s:f}", "kind", "sphere", "radius", s[0]);
    break;
  case BOX:
  case ELLIPSOID:
    *item =
        json_pack("{s:s, s:[f,f,f]}", "kind", types[g->type], "size", 2 * s[0], 2 * s[1], 2 * s[2]);
    break;
  case CAPSULE:
  case CYLINDER:
    *item =
        json_pack("{s:s, s:f, s:f}", "kind", types[g->type], "radius", s[0], "length", 2 * s[1]);
    break;
  case HFIELD:
    return cni_mjcf_hfield(m, view, body, item);
  case MESH:
    return cni_mjcf_mesh_item(m, g->mesh, item);
  default:
    cni_robot_note(m->robot, "beware: line %d: a geom of the type %s is left out",
                   (int)view->node->line, types[g->type]);
    return CN_OK;
  }
  return *item ? CN_OK : cni_error_memory(1);
}

static void put_friction(CniRobot *robot, json_t *object, const double friction[3]) {
  if (!object) return;
  cni_robot_put(robot, object, "friction", json_real(friction[0]));
  if (friction[1] > 0) cni_robot_put(robot, object, "spinning_friction", json_real(friction[1]));
  if (friction[2] > 0) cni_robot_put(robot, object, "rolling_friction", json_real(friction[2]));
}

static void material_name(const CniRobot *robot, int32_t number, char name[CNI_NAME_SIZE]) {
  snprintf(name, CNI_NAME_SIZE, "%.20smaterial %d", robot->def->prefix, (int)number + 1);
}

// A material by the numbers of its friction.
static CnStatus put_material(CniMjcf *m, const CniXmlView *view, int32_t own, json_t *item) {
  CniRobot *robot = m->robot;
  CniMjcfMaterial s = {.friction = {1, 0.005, 0.0001}, .own = own};
  double dimensions = 3;
  char name[CNI_NAME_SIZE], key[160];
  CNI_TRY(cni_xml_numbers(view, "friction", 1, 3, s.friction, NULL));
  CNI_TRY(cni_xml_number(view, "condim", &dimensions));
  CNI_TRY(cni_xml_number(view, "priority", &s.priority));
  if (s.friction[0] < 0 || s.friction[1] < 0 || s.friction[2] < 0)
    return cni_xml_fail(view->node, "\"friction\" must not be negative");
  if (dimensions < 3) s.friction[0] = 0;
  if (dimensions < 4) s.friction[1] = 0;
  if (dimensions < 6) s.friction[2] = 0;
  snprintf(key, sizeof key, "%.17g %.17g %.17g %d %.17g", s.friction[0], s.friction[1],
           s.friction[2], (int)own, s.priority);
  int32_t known = cni_name_find(&m->materials, key);
  material_name(robot, known < 0 ? m->materials.count : known, name);
  if (known < 0) {
    const char *kept = cni_xml_keep(&robot->arena, key, strlen(key));
    if (!kept) return cni_error_memory(sizeof key);
    CNI_TRY(cni_name_add(&m->materials, robot->allocator, kept, m->materials.count));
    CNI_TRY(CNI_PUSH(robot->allocator, m->surfaces, m->surface_capacity, m->surface_count, s));
    json_t *material = json_pack("{s:s}", "friction_rule", "max");
    cni_robot_put(robot, robot->materials, name, material);
    put_friction(robot, material, s.friction);
  }
  cni_robot_put(robot, item, "material", json_string(name));
  if (!own) return CN_OK;
  m->owners[own - 1].material = cni_xml_keep(&robot->arena, name, strlen(name));
  return m->owners[own - 1].material ? CN_OK : cni_error_memory(sizeof name);
}

// Of two geoms that a pair names the pair decides.
CnStatus cni_mjcf_priorities(CniMjcf *m) {
  int32_t made = 0;
  for (int32_t i = 0; i < m->surface_count && made <= MOST_LAWS; i++)
    for (int32_t k = 0; k < i && made <= MOST_LAWS; k++) {
      const CniMjcfMaterial *a = &m->surfaces[i], *b = &m->surfaces[k];
      char first[CNI_NAME_SIZE], second[CNI_NAME_SIZE];
      if (a->priority == b->priority || (a->own && b->own)) continue;
      material_name(m->robot, k, first);
      material_name(m->robot, i, second);
      json_t *law = json_pack("{s:[s,s]}", "materials", first, second);
      cni_robot_push(m->robot, m->robot->material_pairs, law);
      put_friction(m->robot, law, a->priority > b->priority ? a->friction : b->friction);
      made++;
    }
  if (made > MOST_LAWS)
    cni_robot_note(m->robot, "beware: more than %d pairs of materials of different priority",
                   MOST_LAWS);
  return CN_OK;
}

// The number of its bits among all; kept in the item until all are known.
static CnStatus put_bits(CniMjcf *m, const CniXmlView *view, CniMjcfBits bits, json_t *item) {
  int32_t i = 0;
  while (i < m->bits_count && (m->bits[i].type != bits.type ||
                               m->bits[i].affinity != bits.affinity || m->bits[i].own != bits.own))
    i++;
  if (i == CNI_MJCF_BITS)
    return cni_xml_fail(view->node, "more than %d kinds of contype and conaffinity", CNI_MJCF_BITS);
  if (i == m->bits_count) m->bits[m->bits_count++] = bits;
  cni_robot_put(m->robot, item, "category", json_integer(i));
  return CN_OK;
}

CnStatus cni_mjcf_geom(CniMjcf *m, CniXmlNode *node, const char *childclass, int32_t body,
                       CnPose frame, CniMassProps *mass) {
  CniXmlView view;
  Geom g = {0};
  json_t *item;
  double type = 1, affinity = 1;
  double group = 0;
  CNI_TRY(cni_mjcf_view(m, node, childclass, &view));
  int32_t own = cni_mjcf_paired(m, cni_xml_text(&view, "name"));
  if (own) m->owners[own - 1].body = body;
  CNI_TRY(read_geom(m, &view, &g));
  CNI_TRY(cni_xml_number(&view, "contype", &type));
  CNI_TRY(cni_xml_number(&view, "conaffinity", &affinity));
  if (!(type >= 0 && type < 4294967296.0 && affinity >= 0 && affinity < 4294967296.0))
    return cni_xml_fail(node, "\"contype\" and \"conaffinity\" have 32 bits");
  CnPose pose = cn_pose_mul(frame, g.pose);
  CNI_TRY(cni_xml_number(&view, "group", &group));
  CNI_TRY(read_mass(m, &view, &g, pose, mass));
  if (group < m->inertia_groups[0] || group > m->inertia_groups[1]) *mass = (CniMassProps){0};
  CNI_TRY(shape_item(m, &view, &g, body, &item));
  if (!item) return CN_OK;
  CnStatus status = put_material(m, &view, own, item);
  if (status == CN_OK)
    status = put_bits(m, &view, (CniMjcfBits){(uint32_t)type, (uint32_t)affinity, own}, item);
  if (status != CN_OK) {
    json_decref(item);
    return status;
  }
  return cni_robot_add_shape(m->robot, body, pose, item);
}

// ---- groups ----

// Geoms that meet nothing are left away from bodies that have others.
static void drop_looks(CniRobot *robot, const uint32_t *masks) {
  int32_t kept = 0;
  for (int32_t pass = 0; pass < 2; pass++) {
    kept = 0;
    for (int32_t i = 0; i < robot->shape_count; i++) {
      CniRobotShape s = robot->shapes[i];
      int32_t group = (int32_t)json_integer_value(json_object_get(s.item, "category"));
      CniRobotBody *b = s.body == CNI_ROBOT_WORLD ? NULL : &robot->bodies[s.body];
      if (pass == 0 && b && masks[group] != 0) b->group = 1; // not settled yet: it has solid ones
      if (pass == 1 && b && b->group == 1 && masks[group] == 0) {
        json_decref(s.item);
        b->shape_count--;
        continue;
      }
      if (pass == 1) robot->shapes[kept] = s;
      kept++;
    }
  }
  robot->shape_count = kept;
}

void cni_mjcf_groups(CniMjcf *m) {
  CniRobot *robot = m->robot;
  uint32_t masks[CNI_MJCF_BITS] = {0};
  for (int32_t i = 0; i < m->bits_count; i++)
    for (int32_t k = 0; k < m->bits_count; k++)
      if (cni_mjcf_meet(m, m->bits[i], m->bits[k])) masks[i] |= UINT32_C(1) << k;
  drop_looks(robot, masks);
  int usual = m->bits_count == 1 && masks[0] == 1;
  for (int32_t i = 0; i < robot->shape_count; i++) {
    json_t *item = robot->shapes[i].item;
    int32_t group = (int32_t)json_integer_value(json_object_get(item, "category"));
    if (usual) {
      json_object_del(item, "category");
      continue;
    }
    uint32_t category = masks[group] ? UINT32_C(1) << group : 0;
    cni_robot_put(robot, item, "category", json_integer((json_int_t)category));
    cni_robot_put(robot, item, "mask", json_integer((json_int_t)masks[group]));
  }
}
