// SPDX-License-Identifier: Apache-2.0
// Mesh files for programs (<cairn/mesh_file.h>): read, mended, measured, cut.
#include <cairn/mesh_file.h>
#include <string.h>

#include "core/floats.h"
#include "io/io.h"

#define TAG 0x6573686du

struct CnMeshFile {
  CniMeshData data;
  CniMeshReport report;
  CniMeshParts parts;
  CnAllocator allocator;
};

CnMeshFileDef cn_mesh_file_def_default(void) {
  return (CnMeshFileDef){.size = sizeof(CnMeshFileDef), .tag = TAG, .scale = {1, 1, 1}, .up = 'z'};
}

static CnStatus check(const CnMeshFileDef *def) {
  CNI_TRY(cni_def_check("mesh file", def, sizeof *def, TAG));
  CNI_TRY(cni_check_vec3("mesh file: scale", def->scale));
  if (def->scale.x == 0 || def->scale.y == 0 || def->scale.z == 0)
    return cni_invalid("mesh file: scale must not be zero (got %g, %g, %g)", def->scale.x,
                       def->scale.y, def->scale.z);
  if (!def->up || !strchr("xyz", def->up))
    return cni_invalid("mesh file: up must be x, y or z (got %d)", def->up);
  if (!(def->weld >= 0))
    return cni_invalid("mesh file: weld must not be negative (got %g)", def->weld);
  if (def->parts < 0 || def->parts > CNI_MESH_PARTS)
    return cni_invalid("mesh file: parts must be from 0 to %d (got %d)", CNI_MESH_PARTS,
                       (int)def->parts);
  return CN_OK;
}

static CnStatus look_at(CnMeshFile *m, const char *path, const CnMeshFileDef *def) {
  CniMeshUse use = {def->scale, def->up};
  CNI_TRY(cni_mesh_file_read(path, &m->allocator, &use, &m->data));
  CNI_TRY(cni_mesh_report(&m->data, path, def->weld, &m->report));
  if (def->parts == 0) return CN_OK;
  if (!m->report.faults.closed)
    return cni_bad_data("%s: not closed, so it has no convex parts (%d edges without a partner)",
                        path, (int)m->report.faults.lone_edges);
  CniPartsPlace place = {def->keep_parts ? path : NULL, def->parts_folder};
  return cni_mesh_parts_kept(&m->data, path, &(CniMeshPartsDef){.most = def->parts}, &place,
                             &m->parts);
}

CnStatus cn_mesh_file_read(const char *path, const CnMeshFileDef *def, CnMeshFile **mesh) {
  CNI_FLOATS;
  CnMeshFileDef usual = cn_mesh_file_def_default();
  if (!path || !mesh)
    return cni_invalid("cn_mesh_file_read: the %s is null", path ? "result pointer" : "path");
  *mesh = NULL;
  if (!def) def = &usual;
  CNI_TRY(check(def));
  CnMeshFile *made;
  CnAllocator allocator = cn_allocator_default();
  CNI_TRY(cni_new(&allocator, sizeof *made, &made));
  made->allocator = made->parts.allocator = allocator;
  CnStatus status = look_at(made, path, def);
  if (status == CN_OK)
    *mesh = made;
  else
    cn_mesh_file_destroy(made);
  return status;
}

void cn_mesh_file_destroy(CnMeshFile *mesh) {
  if (!mesh) return;
  CnAllocator allocator = mesh->allocator;
  cni_mesh_release(&mesh->data);
  cni_mesh_parts_release(&mesh->parts);
  cni_release(&allocator, mesh, sizeof *mesh);
}

CnStatus cn_mesh_file_info(const CnMeshFile *mesh, CnMeshFileInfo *info) {
  CNI_FLOATS;
  if (!mesh || !info)
    return cni_invalid("cn_mesh_file_info: the %s is null", mesh ? "result pointer" : "mesh");
  const CniMeshReport *r = &mesh->report;
  const CniMeshFaults *f = &r->faults;
  const CniMeshParts *p = &mesh->parts;
  *info = (CnMeshFileInfo){.format = mesh->data.format,
                           .hash = mesh->data.hash,
                           .file_vertices = f->file_vertices,
                           .file_triangles = f->file_triangles,
                           .vertex_count = mesh->data.vertex_count,
                           .triangle_count = mesh->data.triangle_count,
                           .low = r->lo,
                           .high = r->hi,
                           .area = r->area,
                           .closed = f->closed,
                           .pieces = f->pieces,
                           .edges = f->edges,
                           .lone_edges = f->lone_edges,
                           .crowded_edges = f->crowded_edges,
                           .twisted_edges = f->twisted_edges,
                           .flipped = f->flipped,
                           .degenerate = f->degenerate,
                           .doubled = f->doubled,
                           .crossings = r->crossings,
                           .first_lone = f->first_lone,
                           .first_flipped = f->first_flipped,
                           .first_crossing = r->first_crossing[0],
                           .closing_weld = r->closing_weld,
                           .volume = r->volume,
                           .centre = r->centre,
                           .inertia = r->inertia,
                           .hull_corners = r->hull_corners,
                           .hull_volume = r->hull_volume,
                           .hull_error = r->hull_error,
                           .part_count = p->count,
                           .part_corners = p->point_count,
                           .part_volume = p->volume,
                           .part_error = p->count > 0 ? p->volume / p->mesh_volume - 1 : 0,
                           .part_outside = p->outside,
                           .part_depth = p->depth,
                           .use = r->use};
  return CN_OK;
}

CnStatus cn_mesh_file_def(const CnMeshFile *mesh, CnMeshDef *def) {
  CNI_FLOATS;
  if (!mesh || !def)
    return cni_invalid("cn_mesh_file_def: the %s is null", mesh ? "result pointer" : "mesh");
  *def = cn_mesh_def_default();
  def->vertices = mesh->data.vertices;
  def->vertex_count = mesh->data.vertex_count;
  def->triangles = &mesh->data.triangles[0][0];
  def->triangle_count = mesh->data.triangle_count;
  return CN_OK;
}

CnStatus cn_mesh_file_part(const CnMeshFile *mesh, int32_t index, const CnVec3 **points,
                           int32_t *count) {
  CNI_FLOATS;
  if (!mesh || !points || !count)
    return cni_invalid("cn_mesh_file_part: the %s is null", mesh ? "result pointer" : "mesh");
  if (index < 0 || index >= mesh->parts.count)
    return cni_invalid("cn_mesh_file_part: there is no part %d, of %d", (int)index,
                       (int)mesh->parts.count);
  *points = mesh->parts.points + mesh->parts.first[index];
  *count = mesh->parts.first[index + 1] - mesh->parts.first[index];
  return CN_OK;
}

int32_t cn_mesh_file_named(const char *path) { return path && cni_mesh_file_named(path); }
