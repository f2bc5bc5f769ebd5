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
  int32_t mode; // how it is mass
} Mesh;

// How a mesh is mass: what it encloses, by tetrahedra from a point, whose volumes count as they are (exact), or as if
// none were turned inside out (legacy, as the format does unless told otherwise: of hollows it is too much); its hull;
// its surface.
enum { CONVEX, EXACT, LEGACY, SHELL };

// Moments about a point, of the tetrahedra between it and the triangles, or of the triangles.
static CniMassProps sum_up(const CniMeshData *mesh, int32_t mode, CnVec3 from, CnSym3 *square) {
  CniMassProps p = {0};
  for (int32_t i = 0; i < mesh->triangle_count; i++) {
    const int32_t *t = mesh->triangles[i];
    CnVec3 a = cn_sub(mesh->vertices[t[0]], from), b = cn_sub(mesh->vertices[t[1]], from),
           c = cn_sub(mesh->vertices[t[2]], from), s = cn_add(a, cn_add(b, c));
    double v = cn_dot(a, cn_cross(b, c)) / 6;
    if (mode == LEGACY) v = fabs(v);
    if (mode == SHELL) v = cn_norm(cn_cross(cn_sub(b, a), cn_sub(c, a))) / 2;
    double w = mode == SHELL ? v / 12 : v / 20;
    p.mass += v;
    p.centre = cn_madd(p.centre, mode == SHELL ? v / 3 : v / 4, s);
    square->xx += w * (a.x * a.x + b.x * b.x + c.x * c.x + s.x * s.x);
    square->yy += w * (a.y * a.y + b.y * b.y + c.y * c.y + s.y * s.y);
    square->zz += w * (a.z * a.z + b.z * b.z + c.z * c.z + s.z * s.z);
    square->xy += w * (a.x * a.y + b.x * b.y + c.x * c.y + s.x * s.y);
    square->xz += w * (a.x * a.z + b.x * b.z + c.x * c.z + s.x * s.z);
    square->yz += w * (a.y * a.z + b.y * b.z + c.y * c.z + s.y * s.z);
  }
  p.centre = cn_add(from, cn_scale(p.mass > 0 ? 1 / p.mass : 0, p.centre));
  return p;
}

// Its centre is that of what is seen from the middle of its surface, its volume and moments are seen from there.
static CniMassProps mesh_mass(const CniMeshData *mesh, int32_t mode, double density) {
  CnSym3 j = {0};
  CnVec3 middle = sum_up(mesh, SHELL, CN_VEC3_ZERO, &j).centre;
  CnVec3 centre = sum_up(mesh, mode, middle, &j).centre;
  j = (CnSym3){0};
  CniMassProps p = sum_up(mesh, mode, centre, &j);
  if (!(p.mass > 0)) return (CniMassProps){0};
  p.centre = centre;
  p.mass *= density;
  p.inertia = (CnSym3){density * (j.yy + j.zz), density * (j.xx + j.zz), density * (j.xx + j.yy),
                       -density * j.xy,         -density * j.xz,         -density * j.yz};
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
  static const char *const modes[] = {"convex", "exact", "legacy", "shell", NULL};
  *mesh = (Mesh){.scale = {1, 1, 1}, .mode = m->exact_meshes ? EXACT : LEGACY};
  CNI_TRY(cni_xml_vec3(&view, "scale", &mesh->scale));
  CNI_TRY(cni_xml_choice(&view, "inertia", modes, &mesh->mode));
  mesh->file = cni_mjcf_file(m, cni_xml_text(&view, "file"));
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

const char *cni_mjcf_file(const CniMjcf *m, const char *name) {
  const char *slash = name && m->strip_path ? strrchr(name, '/') : NULL;
  return slash ? slash + 1 : name;
}

CnStatus cni_mjcf_mesh_mass(CniMjcf *m, CniXmlNode *node, int32_t shell, double density,
                            CniMassProps *mass) {
  Mesh mesh;
  const char *path = NULL;
  CniMeshUse use = {.scale = {1, 1, 1}};
  CnStatus status = CN_OK;
  CNI_TRY(read_mesh(m, node, &mesh));
  if (!mesh.inside) {
    CNI_TRY(cni_robot_find_file(m->robot, node, m->mesh_folder, mesh.file, &path));
    if (!path) return CN_OK; // told with the shape
    use.scale = mesh.scale;
    if (cni_mesh_file_read(path, m->robot->allocator, &use, &mesh.data) != CN_OK) {
      cni_mesh_release(&mesh.data);
      return CN_OK;
    }
  }
  if (mesh.mode == CONVEX || mesh.data.triangle_count == 0)
    status = hull_mass(m, &mesh.data, density, mass);
  else
    *mass = mesh_mass(&mesh.data, shell ? SHELL : mesh.mode, density);
  if (!mesh.inside) cni_mesh_release(&mesh.data);
  return status;
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
