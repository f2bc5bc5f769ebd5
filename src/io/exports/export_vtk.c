// SPDX-License-Identifier: Apache-2.0
// A run for ParaView and other programs of VTK: a folder with NAME.pvd, which lists the frames with their
// times, and a file of triangles a frame (VTK XML, numbers in binary): all shapes as they are but half-spaces,
// placed, with the number of the body, its speed and its color on each triangle.
#include <cairn/run_look.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/exports/run_triangles.h"

#define MOST_BYTES 4e9

// ---- numbers, least byte first ----

static void put_long(CniOutput *out, uint64_t value) {
  uint8_t bytes[8];
  for (int k = 0; k < 8; k++) bytes[k] = (uint8_t)(value >> (8 * k));
  cni_output_bytes(out, bytes, sizeof bytes);
}

static void put_float(CniOutput *out, double value) {
  cni_triangles_words(out, &(float){(float)value}, 1);
}

static void put_integer(CniOutput *out, int64_t value) {
  cni_triangles_words(out, &(int32_t){(int32_t)value}, 1);
}

// ---- a frame ----

static void describe_array(CniOutput *out, const char *type, const char *name, int32_t components,
                           int64_t *offset, int64_t bytes) {
  cni_output_text(out,
                  "        <DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" "
                  "format=\"appended\" offset=\"%lld\"/>\n",
                  type, name, (int)components, (long long)*offset);
  *offset += 8 + bytes;
}

static void describe(CniOutput *out, const CniTriangles *t) {
  int64_t corners = t->corner_count, triangles = t->triangle_count, at = 0;
  cni_output_text(
      out,
      "<?xml version=\"1.0\"?>\n<!-- cairn -->\n<VTKFile type=\"PolyData\" version=\"1.0\" "
      "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <PolyData>\n    <Piece "
      "NumberOfPoints=\"%lld\" NumberOfVerts=\"0\" NumberOfLines=\"0\" "
      "NumberOfStrips=\"0\" NumberOfPolys=\"%lld\">\n      <Points>\n",
      (long long)corners, (long long)triangles);
  describe_array(out, "Float32", "places", 3, &at, 12 * corners);
  cni_output_text(out, "      </Points>\n      <Polys>\n");
  describe_array(out, "Int32", "connectivity", 1, &at, 12 * triangles);
  describe_array(out, "Int32", "offsets", 1, &at, 4 * triangles);
  cni_output_text(out, "      </Polys>\n      <CellData Scalars=\"speed\">\n");
  describe_array(out, "Int32", "body", 1, &at, 4 * triangles);
  describe_array(out, "Float32", "speed", 1, &at, 4 * triangles);
  describe_array(out, "UInt8", "color", 3, &at, 3 * triangles);
  cni_output_text(out, "      </CellData>\n    </Piece>\n  </PolyData>\n"
                       "  <AppendedData encoding=\"raw\">\n_");
}

static CnStatus put_colors(CnRun *run, const CniTriangles *t, CniOutput *out) {
  for (int64_t i = 0; i < t->triangle_count; i++) {
    double color[4];
    uint8_t bytes[3];
    CNI_TRY(cn_run_body_color(run, t->triangle_body[i], color));
    for (int k = 0; k < 3; k++)
      bytes[k] = color[k] >= 0 ? (uint8_t)(255 * color[k] + 0.5) : 200; // light grey
    cni_output_bytes(out, bytes, sizeof bytes);
  }
  return CN_OK;
}

static CnStatus put_frame(CnRun *run, const CniTriangles *t, CniOutput *out) {
  uint64_t corners = (uint64_t)t->corner_count, triangles = (uint64_t)t->triangle_count;
  describe(out, t);
  put_long(out, 12 * corners);
  cni_triangles_places(out, t);
  put_long(out, 12 * triangles);
  cni_triangles_words(out, t->triangles, 3 * (size_t)triangles);
  put_long(out, 4 * triangles);
  for (int64_t i = 0; i < t->triangle_count; i++) put_integer(out, 3 * (i + 1));
  put_long(out, 4 * triangles);
  cni_triangles_words(out, t->triangle_body, (size_t)triangles);
  put_long(out, 4 * triangles);
  for (int64_t i = 0; i < t->triangle_count; i++)
    put_float(out, cn_norm(t->twists[t->triangle_body[i]].velocity));
  put_long(out, 3 * triangles);
  CNI_TRY(put_colors(run, t, out));
  cni_output_text(out, "\n  </AppendedData>\n</VTKFile>\n");
  return CN_OK;
}

// ---- the folder ----

static CnStatus write_frame(CnRun *run, const CniTriangles *t, int64_t frame, const char *folder,
                            double *time) {
  char path[4200];
  CniOutput out;
  CNI_TRY(cn_run_frame(run, frame, time, t->poses, t->twists));
  snprintf(path, sizeof path, "%s/frame-%06lld.vtp", folder, (long long)frame);
  CNI_TRY(cn_run_check_output(run, path));
  CNI_TRY(cni_output_open(&out, path, &run->allocator));
  CnStatus status = put_frame(run, t, &out);
  if (status == CN_OK) return cni_output_close(&out);
  cni_output_discard(&out);
  return status;
}

static CnStatus write_frames(CnRun *run, const CniTriangles *t, const char *folder) {
  char path[4200];
  CniOutput list;
  snprintf(path, sizeof path, "%s/run.pvd", folder);
  CNI_TRY(cn_run_check_output(run, path));
  CNI_TRY(cni_output_open(&list, path, &run->allocator));
  cni_output_text(
      &list,
      "<?xml version=\"1.0\"?>\n<!-- cairn -->\n<VTKFile type=\"Collection\" version=\"0.1\" "
      "byte_order=\"LittleEndian\">\n  <Collection>\n");
  CnStatus status = CN_OK;
  for (int64_t f = 0; f < run->info.frame_count && status == CN_OK; f++) {
    double time;
    status = write_frame(run, t, f, folder, &time);
    if (status != CN_OK) break;
    cni_output_text(&list, "    <DataSet timestep=\"");
    cni_output_number(&list, time);
    cni_output_text(&list, "\" file=\"frame-%06lld.vtp\"/>\n", (long long)f);
  }
  cni_output_text(&list, "  </Collection>\n</VTKFile>\n");
  if (status == CN_OK) return cni_output_close(&list);
  cni_output_discard(&list);
  return status;
}

static CnStatus write_vtk(CnRun *run, const char *run_path, const char *output) {
  char folder[4096];
  CniTriangles t;
  if (!run || !run_path) return cni_invalid("export vtk: a null pointer");
  CNI_TRY(cni_export_path(run_path, output, "-vtk", folder, sizeof folder));
  CNI_TRY(cni_triangles_count(run, 1, &t));
  double bytes = (12.0 * (double)t.corner_count + 27.0 * (double)t.triangle_count) *
                 (double)run->info.frame_count;
  if (bytes > MOST_BYTES)
    return cni_error(
        CN_UNSUPPORTED,
        "export vtk: %.3g bytes of triangles are too many; xdmf shows spheres as points, "
        "and fewer frames take less",
        bytes);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return cni_file_error(folder, "cannot be made", errno);
  CnStatus status = cni_triangles_take(run, &t);
  if (status == CN_OK) status = write_frames(run, &t, folder);
  cni_triangles_release(run, &t);
  return status;
}

const CniExportKind cni_export_vtk = {
    "vtk", "a folder for ParaView with all shapes as triangles: NAME-vtk/run.pvd", write_vtk,
    "-vtk"};
