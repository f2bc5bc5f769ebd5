// SPDX-License-Identifier: Apache-2.0
// cairn info PART.stl: what a mesh file holds, and what is wrong with it.
#include <stdio.h>
#include <string.h>

#include <cairn/mesh_file.h>

#include "cli/info/info_mesh.h"

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

static void show_faults(CniShow *show, const CnMeshFileInfo *r) {
  cni_show_flag(show, "closed", "closed", r->closed);
  cni_show_count(show, "pieces", "pieces", r->pieces);
  cni_show_count(show, "edges", "edges", r->edges);
  show_fault(show, "lone_edges", "edges alone", r->lone_edges, r->first_lone);
  show_fault(show, "crowded_edges", "edges crowded", r->crowded_edges, -1);
  show_fault(show, "twisted_edges", "edges twisted", r->twisted_edges, -1);
  show_fault(show, "flipped", "flipped", r->flipped, r->first_flipped);
  show_fault(show, "degenerate", "without area", r->degenerate, -1);
  show_fault(show, "doubled", "there twice", r->doubled, -1);
  show_fault(show, "crossings", "crossing pairs", r->crossings, r->first_crossing);
  if (r->closing_weld > 0)
    cni_show_number(show, "closing_weld", "closed by weld", r->closing_weld, "m");
}

static void show_solid(CniShow *show, const CnMeshFileInfo *r) {
  const CnSym3 *i = &r->inertia;
  double inertia[6] = {i->xx, i->yy, i->zz, i->xy, i->xz, i->yz};
  cni_show_number(show, "area", "area", r->area, "m^2");
  if (r->closed) {
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
static void show_parts(CniShow *show, const CnMeshFileInfo *r) {
  if (r->part_count == 0) return;
  cni_show_count(show, "parts", "convex parts", r->part_count);
  cni_show_count(show, "parts_corners", "parts' corners", r->part_corners);
  cni_show_number(show, "parts_volume", "parts' volume", r->part_volume, "m^3");
  cni_show_number(show, "parts_error", "volume error", r->part_error, "");
  cni_show_number(show, "parts_depth", "parts stand out", r->part_depth, "m");
  cni_show_number(show, "parts_outside", "outside of parts", r->part_outside, "m");
}

static void show_mesh(const CniArgs *args, const char *path, const CnMeshFileInfo *r) {
  CniShow show;
  char hash[24];
  CnVec3 size = {r->high.x - r->low.x, r->high.y - r->low.y, r->high.z - r->low.z};
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)r->hash);
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_text(&show, "file", "file", path);
  cni_show_text(&show, "kind", "kind", "mesh");
  cni_show_text(&show, "format", "format", r->format);
  cni_show_text(&show, "hash", "hash", hash);
  cni_show_count(&show, "file_triangles", "file triangles", r->file_triangles);
  cni_show_count(&show, "file_vertices", "file corners", r->file_vertices);
  cni_show_count(&show, "triangles", "triangles", r->triangle_count);
  cni_show_count(&show, "vertices", "corners", r->vertex_count);
  show_vector(&show, "min", "from", r->low, "m");
  show_vector(&show, "max", "to", r->high, "m");
  show_vector(&show, "size", "size", size, "m");
  show_faults(&show, r);
  show_solid(&show, r);
  show_parts(&show, r);
  cni_show_text(&show, "use", "use", r->use);
  cni_show_end(&show);
}

int cni_info_mesh(const CniArgs *args, const char *path) {
  CnMeshFileDef def = cn_mesh_file_def_default();
  const char *up = cni_args_text(args, "up");
  double scale = 1;
  int64_t most = 0;
  char folder[CNI_CACHE_FOLDER];
  if (!cni_args_number(args, "scale", CNI_NUMBER_POSITIVE, &scale) ||
      !cni_args_number(args, "weld", CNI_NUMBER_NOT_NEGATIVE, &def.weld) ||
      !cni_args_whole(args, "parts", 1, 256, &most))
    return CNI_EXIT_USAGE;
  if (up && (strlen(up) != 1 || !strchr("xyz", *up)))
    return cni_usage_error(args->command, "--up must be x, y or z (got %s)", up);
  def.scale = (CnVec3){scale, scale, scale};
  def.up = up ? *up : 'z';
  def.parts = (int32_t)most;
  def.keep_parts = !cni_args_has(args, "no-cache");
  def.parts_folder = cni_cache_folder(folder);
  CnMeshFile *mesh;
  CnMeshFileInfo info;
  CnStatus status = cn_mesh_file_read(path, &def, &mesh);
  if (status == CN_OK) status = cn_mesh_file_info(mesh, &info);
  if (status == CN_OK) show_mesh(args, path, &info);
  cn_mesh_file_destroy(mesh);
  return status == CN_OK ? CNI_EXIT_DONE : cni_fail(args, "%s", cn_error_message());
}
