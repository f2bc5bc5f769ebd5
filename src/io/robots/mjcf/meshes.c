// SPDX-License-Identifier: Apache-2.0
// MJCF: meshes, from files and from the numbers in the description, as hulls and as mass.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/meshes/mesh_file.h"
#include "io/robots/mjcf/mjcf.h"

// A mesh in the axes of its geoms.
typedef struct Mesh {
  CniMeshData data;
  int32_t inside; // its numbers are in the description
  CnVec3 scale;
  const char *file;
} Mesh;

// Volume, centre and second moments of what triangles enclose, by tetrahedra from the origin.
static CniMassProps mesh_mass(const CniMeshData *mesh, double density) {
  double volume = 0, xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;
  CnVec3 first = CN_VEC3_ZERO;
  for (int32_t i = 0; i < mesh->triangle_count; i++) {
    const int32_t *t = mesh->triangles[i];
    CnVec3 a = mesh->vertices[t[0]], b = mesh->vertices[t[1]], c = mesh->vertices[t[2]];
    CnVec3 s = cn_add(a, cn_add(b, c));
    double v = cn_dot(a, cn_cross(b, c)) / 6;
    volume += v;
    first = cn_madd(first, v / 4, s);
    // integral of x y over a tetrahedron with a corner at the origin
    xx += v / 20 * (a.x * a.x + b.x * b.x + c.x * c.x + s.x * s.x);
    yy += v / 20 * (a.y * a.y + b.y * b.y + c.y * c.y + s.y * s.y);
    zz += v / 20 * (a.z * a.z + b.z * b.z + c.z * c.z + s.z * s.z);
    xy += v / 20 * (a.x * a.y + b.x * b.y + c.x * c.y + s.x * s.y);
    xz += v / 20 * (a.x * a.z + b.x * b.z + c.x * c.z + s.x * s.z);
    yz += v / 20 * (a.y * a.z + b.y * b.z + c.y * c.z + s.y * s.z);
  }
  CniMassProps p = {0};
  if (!(volume > 0)) return p;
  CnVec3 c = cn_scale(1 / volume, first);
  p.mass = density * volume;
  p.centre = c;
  xx -= volume * c.x * c.x, yy -= volume * c.y * c.y, zz -= volume * c.z * c.z;
  p.inertia = (CnSym3){density * (yy + zz),
                       density * (xx + zz),
                       density * (xx + yy),
                       -density * (xy - volume * c.x * c.y),
                       -density * (xz - volume * c.x * c.z),
                       -density * (yz - volume * c.y * c.z)};
  return p;
}

// Numbers of a list of any length, in the arena.
static CnStatus read_list(CniMjcf *m, const CniXmlView *view, const char *name, double **values,
                          int32_t *count) {
  const char *text = cni_xml_text(view, name);
  size_t most = text ? strlen(text) / 2 + 1 : 0;
  *count = 0;
  CNI_TRY(cni_arena_array(&m->robot->arena, (int64_t)most, sizeof **values, values));
  return cni_xml_numbers(view, name, 0, (int32_t)most, *values, count);
}

static CnStatus read_inside(CniMjcf *m, const CniXmlView *view, Mesh *mesh) {
  double *v, *f;
  int32_t v_count, f_count;
  CniMeshData *d = &mesh->data;
  CNI_TRY(read_list(m, view, "vertex", &v, &v_count));
  CNI_TRY(read_list(m, view, "face", &f, &f_count));
  if (v_count < 12 || v_count % 3 != 0 || f_count % 3 != 0)
    return cni_xml_fail(view->node,
                        "needs \"file\", or four points in \"vertex\" and three numbers "
                        "for each \"face\"");
  mesh->inside = 1;
  d->allocator = *m->robot->allocator;
  d->vertex_count = v_count / 3;
  d->triangle_count = f_count / 3;
  CNI_TRY(cni_arena_array(&m->robot->arena, d->vertex_count, sizeof *d->vertices, &d->vertices));
  CNI_TRY(
      cni_arena_array(&m->robot->arena, d->triangle_count, sizeof *d->triangles, &d->triangles));
  for (int32_t i = 0; i < d->vertex_count; i++)
    d->vertices[i] = cn_vec3(mesh->scale.x * v[3 * i], mesh->scale.y * v[3 * i + 1],
                             mesh->scale.z * v[3 * i + 2]);
  int mirrored = mesh->scale.x * mesh->scale.y * mesh->scale.z < 0;
  for (int32_t i = 0; i < f_count; i++) {
    if (!(f[i] >= 0 && f[i] < d->vertex_count))
      return cni_xml_fail(view->node, "\"face\" names no vertex (got %g)", f[i]);
    int32_t corner = mirrored && i % 3 > 0 ? 3 - i % 3 : i % 3;
    d->triangles[i / 3][corner] = (int32_t)f[i];
  }
  return CN_OK;
}

static CnStatus read_mesh(CniMjcf *m, CniXmlNode *node, Mesh *mesh) {
  CniXmlView view;
  static const char *const known[] = {"name", "class", "content_type", "smoothnormal", NULL};
  CNI_TRY(cni_mjcf_view(m, node, NULL, &view));
  *mesh = (Mesh){.scale = {1, 1, 1}};
  CNI_TRY(cni_xml_vec3(&view, "scale", &mesh->scale));
  mesh->file = cni_xml_text(&view, "file");
  cni_xml_known(&view, known);
  return mesh->file ? CN_OK : read_inside(m, &view, mesh);
}

// Of points without faces: of their hull.
static CnStatus hull_mass(CniMjcf *m, const CniMeshData *data, double density, CniMassProps *mass) {
  CniHull *hull;
  CnStatus status =
      cni_hull_create(m->robot->allocator, "mesh", data->vertices, data->vertex_count, &hull);
  if (status != CN_OK) return status == CN_NO_MEMORY ? status : CN_OK; // told with the shape
  CnSym3 j = hull->inertia;
  *mass = (CniMassProps){density * hull->volume,
                         hull->centre,
                         {density * j.xx, density * j.yy, density * j.zz, density * j.xy,
                          density * j.xz, density * j.yz}};
  cni_hull_destroy(m->robot->allocator, hull);
  return CN_OK;
}

CnStatus cni_mjcf_mesh_mass(CniMjcf *m, CniXmlNode *node, double density, CniMassProps *mass) {
  Mesh mesh;
  const char *path = NULL;
  CNI_TRY(read_mesh(m, node, &mesh));
  if (mesh.inside && mesh.data.triangle_count == 0) return hull_mass(m, &mesh.data, density, mass);
  if (mesh.inside) {
    *mass = mesh_mass(&mesh.data, density);
    return CN_OK;
  }
  CNI_TRY(cni_robot_find_file(m->robot, node, m->mesh_folder, mesh.file, &path));
  if (!path) return CN_OK; // told with the shape
  CniMeshUse use = {mesh.scale, 0};
  if (cni_mesh_file_read(path, m->robot->allocator, &use, &mesh.data) == CN_OK)
    *mass = mesh_mass(&mesh.data, density);
  cni_mesh_release(&mesh.data);
  return CN_OK;
}

CnStatus cni_mjcf_mesh_frame(CniMjcf *m, CniXmlNode *node, CnPose *frame) {
  CniXmlView view;
  CnVec3 by = {1, 1, 1}, at = CN_VEC3_ZERO;
  double q[4] = {1, 0, 0, 0};
  CNI_TRY(cni_mjcf_view(m, node, NULL, &view));
  CNI_TRY(cni_xml_vec3(&view, "scale", &by));
  CNI_TRY(cni_xml_vec3(&view, "refpos", &at));
  CNI_TRY(cni_xml_numbers(&view, "refquat", 4, 4, q, NULL));
  CnQuat turn = {q[0], q[1], q[2], q[3]};
  if (!(cn_qnorm2(turn) > 1e-24)) return cni_xml_fail(node, "\"refquat\" must not be zero");
  turn = cn_qunit(turn);
  if ((by.x != by.y || by.x != by.z) && fabs(turn.w) < 1)
    cni_robot_note(m->robot, "beware: line %d: a mesh with \"refquat\" has one scale",
                   (int)node->line);
  *frame = (CnPose){cn_vec3(by.x * at.x, by.y * at.y, by.z * at.z), turn};
  return CN_OK;
}

CnStatus cni_mjcf_mesh_item(CniMjcf *m, CniXmlNode *node, json_t **item) {
  Mesh mesh;
  char key[60];
  CniXmlView view = cni_xml_view(node);
  const char *name = cni_xml_text(&view, "name");
  CNI_TRY(read_mesh(m, node, &mesh));
  if (!mesh.inside)
    return cni_robot_mesh(m->robot, node, m->mesh_folder, mesh.file, mesh.scale, item);
  snprintf(key, sizeof key, "inside %p", (const void *)node);
  return cni_robot_hull(m->robot, node, key, name ? name : "mesh", &mesh.data, item);
}
