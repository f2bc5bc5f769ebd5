// SPDX-License-Identifier: Apache-2.0
// The report on a mesh: size, area, what it encloses, faults, its hull, and what it is good for.
#include "io/meshes/mesh_report.h"

#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "core/memory.h"

#define CONVEX 1e-3   // a hull so little larger than the volume is as good as the mesh
#define TWICE 1e-6    // no solid has so much more volume than its hull
#define NOTHING 1e-12 // of the area to the power 3/2

static CnStatus measure(const CniMeshData *data, const char *name, CniMeshReport *r) {
  CnMeshDef def = cn_mesh_def_default();
  CniMesh *mesh;
  def.vertices = data->vertices;
  def.vertex_count = data->vertex_count;
  def.triangles = &data->triangles[0][0];
  def.triangle_count = data->triangle_count;
  CNI_TRY(cni_mesh_create(&data->allocator, NULL, name, &def, &mesh));
  r->lo = mesh->lo;
  r->hi = mesh->hi;
  for (int32_t t = 0; t < mesh->triangle_count; t++) {
    CniTriangle at = cni_mesh_triangle(mesh, t);
    r->area += 0.5 * cn_norm(cni_triangle_area(&at));
  }
  if (r->faults.closed) {
    r->volume = mesh->volume;
    r->centre = mesh->centre;
    r->inertia = mesh->inertia;
  }
  r->crossings = cni_mesh_crossings(mesh, r->first_crossing);
  cni_mesh_destroy(&data->allocator, mesh);
  return CN_OK;
}

// What is flat has no hull, which is no failure.
static CnStatus measure_hull(const CniMeshData *data, const char *name, CniMeshReport *r) {
  CnVec3 points[CNI_HULL_VERTICES];
  int32_t count;
  CniHull *hull;
  CnStatus status = cni_mesh_hull_points(data, name, points, &count, &r->hull_error);
  if (status == CN_INVALID_ARGUMENT) return CN_OK;
  CNI_TRY(status);
  CNI_TRY(cni_hull_create(&data->allocator, name, points, count, &hull));
  r->hull_volume = hull->volume;
  r->hull_corners = hull->vertex_count;
  cni_hull_destroy(&data->allocator, hull);
  return CN_OK;
}

// Copies are tried with corners joined that are farther and farther apart.
static CnStatus find_weld(const CniMeshData *data, const char *name, CniMeshReport *r) {
  CnVec3 d = cn_sub(r->hi, r->lo);
  double size = cn_max(d.x, cn_max(d.y, d.z));
  for (double part = 1e-7; part < 2e-3 && r->closing_weld == 0; part *= 10) {
    CniMeshFaults faults;
    CniMeshData copy = *data;
    size_t places = (size_t)data->vertex_count * sizeof *data->vertices;
    size_t corners = (size_t)data->triangle_count * sizeof *data->triangles;
    copy.vertex_capacity = data->vertex_count;
    copy.triangle_capacity = data->triangle_count;
    copy.vertices = cni_allocate(&data->allocator, places);
    copy.triangles = cni_allocate(&data->allocator, corners);
    CnStatus status = copy.vertices && copy.triangles ? CN_OK : cni_error_memory(places + corners);
    if (status == CN_OK) {
      memcpy(copy.vertices, data->vertices, places);
      memcpy(copy.triangles, data->triangles, corners);
      status = cni_mesh_repair(&copy, name, part * size, 1, &faults);
      if (status == CN_OK && faults.closed) r->closing_weld = part * size;
    }
    cni_release(&data->allocator, copy.vertices, places);
    cni_release(&data->allocator, copy.triangles, corners);
    if (status == CN_INVALID_DATA) break; // nothing is left
    CNI_TRY(status);
  }
  return CN_OK;
}

static const char *recommend(const CniMeshReport *r) {
  const CniMeshFaults *f = &r->faults;
  int has_hull = f->closed && !f->flipped && r->hull_corners;
  if (has_hull && r->volume > (1 + TWICE) * r->hull_volume + r->area * r->hull_error)
    return "as it is on what stands or is driven; \"as\": \"parts\" on free bodies: solids "
           "in it lie in each other and count twice, as it encloses more than its hull";
  if (has_hull && r->volume > 0 && r->hull_volume <= (1 + CONVEX) * r->volume)
    return "\"as\": \"hull\" anywhere: it is convex";
  if (f->twisted_edges > 0)
    return "\"two_sided\" on what stands or is driven: its triangles cannot all look outward";
  if (f->flipped > 0) return "give \"repair\": true, which turns its flipped triangles";
  if (r->closing_weld > 0) return "give \"weld\", and it is closed";
  if (f->closed && !(r->volume > NOTHING * r->area * sqrt(r->area)))
    return r->hull_corners
               ? "as it is on what stands or is driven; \"as\": \"hull\" on free bodies: "
                 "it encloses nothing, or as much the wrong way round"
               : "as it is on what stands or is driven: it is flat and encloses nothing";
  if (!f->closed)
    return "\"two_sided\" on what stands or is driven; \"as\": \"hull\" on free bodies: it is open";
  if (r->crossings > 0)
    return "as it is on what stands or is driven; for free bodies give the mass, as pieces that "
           "cross count twice, and \"as\": \"parts\"";
  return "as it is on what stands or is driven; \"as\": \"parts\" on free bodies";
}

CnStatus cni_mesh_report(CniMeshData *mesh, const char *name, double weld, CniMeshReport *report) {
  CNI_FLOATS;
  *report = (CniMeshReport){.use = ""};
  CNI_TRY(cni_mesh_repair(mesh, name, weld, 1, &report->faults));
  CNI_TRY(measure(mesh, name, report));
  CNI_TRY(measure_hull(mesh, name, report));
  if (!report->faults.closed) CNI_TRY(find_weld(mesh, name, report));
  report->use = recommend(report);
  return CN_OK;
}
