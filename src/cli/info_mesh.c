// SPDX-License-Identifier: Apache-2.0
// cairn info PART.stl: what a mesh file holds, and what is wrong with it.
#include <stdio.h>
#include <string.h>

#include <cairn/base.h>

#include "cli/info_mesh.h"
#include "core/error.h"
#include "io/io.h"

static void show_vector(CniShow *show, const char *key, const char *label, CnVec3 v,
                        const char *unit) {
  cni_show_vector(show, key, label, (double[3]){v.x, v.y, v.z}, unit);
}

// A count, for people with the triangle where it is first met.
static void show_fault(CniShow *show, const char *key, const char *label, int32_t count,
                       int32_t triangle) {
  char text[64];
  cni_show_count(show, key, NULL, count);
  if (count > 0 && triangle >= 0)
    snprintf(text, sizeof text, "%d, the first at triangle %d", (int)count, (int)triangle + 1);
  else
    snprintf(text, sizeof text, "%d", (int)count);
  cni_show_text(show, NULL, label, text);
}

static void show_faults(CniShow *show, const CniMeshReport *r) {
  const CniMeshFaults *f = &r->faults;
  cni_show_flag(show, "closed", "closed", f->closed);
  cni_show_count(show, "pieces", "pieces", f->pieces);
  cni_show_count(show, "edges", "edges", f->edges);
  show_fault(show, "lone_edges", "edges alone", f->lone_edges, f->first_lone);
  show_fault(show, "crowded_edges", "edges crowded", f->crowded_edges, -1);
  show_fault(show, "twisted_edges", "edges twisted", f->twisted_edges, -1);
  show_fault(show, "flipped", "flipped", f->flipped, f->first_flipped);
  show_fault(show, "degenerate", "without area", f->degenerate, -1);
  show_fault(show, "doubled", "there twice", f->doubled, -1);
  show_fault(show, "crossings", "crossing pairs", r->crossings, r->first_crossing[0]);
  if (r->closing_weld > 0)
    cni_show_number(show, "closing_weld", "closed by weld", r->closing_weld, "m");
}

static void show_solid(CniShow *show, const CniMeshReport *r) {
  const CnSym3 *i = &r->inertia;
  double inertia[6] = {i->xx, i->yy, i->zz, i->xy, i->xz, i->yz};
  cni_show_number(show, "area", "area", r->area, "m^2");
  if (r->faults.closed) {
    cni_show_number(show, "volume", "volume", r->volume, "m^3");
    show_vector(show, "centre", "centre", r->centre, "m");
    cni_show_vector(show, NULL, "inertia, 1 kg/m^3", inertia, "kg m^2");
    cni_show_vector(show, NULL, "its products", inertia + 3, "kg m^2");
    cni_show_numbers(show, "inertia", inertia, 6);
  }
  if (r->hull_corners == 0) return;
  cni_show_number(show, "hull_volume", "hull volume", r->hull_volume, "m^3");
  cni_show_count(show, "hull_corners", "hull corners", r->hull_corners);
  cni_show_number(show, "hull_error", r->hull_error > 0 ? "outside the hull" : NULL, r->hull_error,
                  "m");
}

// Convex parts, if they were asked for.
static void show_parts(CniShow *show, const CniMeshParts *p) {
  if (p->count == 0) return;
  double beyond = p->volume / p->mesh_volume - 1;
  cni_show_count(show, "parts", "convex parts", p->count);
  cni_show_count(show, "parts_corners", "parts' corners", p->point_count);
  cni_show_number(show, "parts_volume", "parts' volume", p->volume, "m^3");
  cni_show_number(show, "parts_error", "volume error", beyond, "");
  cni_show_number(show, "parts_outside", "outside of parts", p->outside, "m");
}

static void show_mesh(const CniArgs *args, const char *path, const CniMeshData *mesh,
                      const CniMeshReport *r, const CniMeshParts *parts) {
  CniShow show;
  char hash[24];
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)mesh->hash);
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_text(&show, "file", "file", path);
  cni_show_text(&show, "kind", "kind", "mesh");
  cni_show_text(&show, "format", "format", mesh->format);
  cni_show_text(&show, "hash", "hash", hash);
  cni_show_count(&show, "file_triangles", "file triangles", r->faults.file_triangles);
  cni_show_count(&show, "file_vertices", "file corners", r->faults.file_vertices);
  cni_show_count(&show, "triangles", "triangles", mesh->triangle_count);
  cni_show_count(&show, "vertices", "corners", mesh->vertex_count);
  show_vector(&show, "min", "from", r->lo, "m");
  show_vector(&show, "max", "to", r->hi, "m");
  show_vector(&show, "size", "size", cn_sub(r->hi, r->lo), "m");
  show_faults(&show, r);
  show_solid(&show, r);
  show_parts(&show, parts);
  cni_show_text(&show, "use", "use", r->use);
  cni_show_end(&show);
}

// Everything is found before anything is printed.
static CnStatus look_at(const CniArgs *args, const char *path, const CniMeshUse *use, double weld,
                        int64_t most, CniMeshData *mesh) {
  CniMeshReport report;
  CniMeshParts parts = {.allocator = cn_allocator_default()};
  CniMeshPartsDef def = {.most = (int32_t)most};
  CnStatus status = cni_mesh_file_read(path, NULL, use, mesh);
  if (status == CN_OK) status = cni_mesh_report(mesh, path, weld, &report);
  if (status == CN_OK && most > 0) {
    status = report.faults.closed
                 ? cni_mesh_parts(mesh, path, &def, &parts)
                 : cni_bad_data("%s: not closed, so it has no convex parts (%d edges without a "
                                "partner)",
                                path, (int)report.faults.lone_edges);
  }
  if (status == CN_OK) show_mesh(args, path, mesh, &report, &parts);
  cni_mesh_parts_release(&parts);
  return status;
}

int cni_info_mesh(const CniArgs *args, const char *path) {
  CniMeshUse use = {{1, 1, 1}, 0};
  const char *up = cni_args_text(args, "up");
  double scale = 1, weld = 0;
  int64_t most = 0;
  if (!cni_args_number(args, "scale", CNI_NUMBER_POSITIVE, &scale) ||
      !cni_args_number(args, "weld", CNI_NUMBER_NOT_NEGATIVE, &weld) ||
      !cni_args_whole(args, "parts", 1, CNI_MESH_PARTS, &most))
    return CNI_EXIT_USAGE;
  if (up && (strlen(up) != 1 || !strchr("xyz", *up)))
    return cni_usage_error(args->command, "--up must be x, y or z (got %s)", up);
  use.scale = cn_vec3(scale, scale, scale);
  use.up = up ? *up : 0;
  CniMeshData mesh;
  CnStatus status = look_at(args, path, &use, weld, most, &mesh);
  cni_mesh_release(&mesh);
  return status == CN_OK ? CNI_EXIT_DONE : cni_fail(args, "%s", cn_error_message());
}
