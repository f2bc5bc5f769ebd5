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

#include "geometry/geometry.h"
#include "io/io.h"
#include "io/run/run_private.h"
#include "io/tools/output.h"

#define QUARTER 6
#define MOST_BYTES 4e9

typedef struct Mesh {
  CnVec3 *corners; // in the frames of their bodies
  int32_t *body;   // per corner
  int32_t *triangles, *triangle_body;
  int64_t corner_count, triangle_count; // as many as were taken
  int32_t first, own;                   // corners before this shape; its body
  CnPose pose;                          // of this shape
  int32_t fill;                         // 0: only counted
} Mesh;

static void take_corner(void *context, CnVec3 place, CnVec3 normal) {
  Mesh *m = context;
  (void)normal;
  if (m->fill) {
    m->corners[m->corner_count] = cn_pose_point(m->pose, place);
    m->body[m->corner_count] = m->own;
  }
  m->corner_count++;
}

static void take_triangle(void *context, const int32_t corner[3]) {
  Mesh *m = context;
  if (m->fill) {
    for (int32_t k = 0; k < 3; k++) m->triangles[3 * m->triangle_count + k] = m->first + corner[k];
    m->triangle_body[m->triangle_count] = m->own;
  }
  m->triangle_count++;
}

static CnStatus take_shapes(CnRun *run, Mesh *m) {
  const CniMeshTaker take = {m, take_corner, take_triangle, 1};
  m->corner_count = m->triangle_count = 0;
  for (int32_t i = 0; i < run->info.shape_count; i++) {
    CnRunShape s;
    CNI_TRY(cn_run_shape(run, i, &s));
    CniPlaced shape = cni_shape_placed(&s.def);
    if (cni_shape_unbounded(shape.kind)) continue;
    if (cni_shape_needs_geometry(shape.kind)) cni_run_form(run, s.def.geometry, &shape);
    m->pose = s.def.pose;
    m->own = s.body;
    m->first = (int32_t)m->corner_count;
    cni_shape_triangles(&shape, QUARTER, 1, &take);
    if (m->corner_count > INT32_MAX / 8)
      return cni_error(CN_UNSUPPORTED, "export vtk: more than %d corners", INT32_MAX / 8);
  }
  return CN_OK;
}

// ---- numbers, least byte first ----

static void put_long(CniOutput *out, uint64_t value) {
  uint8_t bytes[8];
  for (int k = 0; k < 8; k++) bytes[k] = (uint8_t)(value >> (8 * k));
  cni_output_bytes(out, bytes, sizeof bytes);
}

static void put_word(CniOutput *out, const void *word) {
  uint32_t w;
  uint8_t bytes[4];
  memcpy(&w, word, sizeof w);
  for (int k = 0; k < 4; k++) bytes[k] = (uint8_t)(w >> (8 * k));
  cni_output_bytes(out, bytes, sizeof bytes);
}

static void put_float(CniOutput *out, double value) { put_word(out, &(float){(float)value}); }
static void put_integer(CniOutput *out, int64_t value) {
  put_word(out, &(int32_t){(int32_t)value});
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

static void describe(CniOutput *out, const Mesh *m) {
  int64_t corners = m->corner_count, triangles = m->triangle_count, at = 0;
  cni_output_text(out,
                  "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
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

static CnStatus put_colors(CnRun *run, const Mesh *m, CniOutput *out) {
  for (int64_t i = 0; i < m->triangle_count; i++) {
    double color[4];
    uint8_t bytes[3];
    CNI_TRY(cn_run_body_color(run, m->triangle_body[i], color));
    for (int k = 0; k < 3; k++)
      bytes[k] = color[k] >= 0 ? (uint8_t)(255 * color[k] + 0.5) : 200; // light grey
    cni_output_bytes(out, bytes, sizeof bytes);
  }
  return CN_OK;
}

static CnStatus put_frame(CnRun *run, const Mesh *m, const CnPose *poses, const CnTwist *twists,
                          CniOutput *out) {
  uint64_t corners = (uint64_t)m->corner_count, triangles = (uint64_t)m->triangle_count;
  describe(out, m);
  put_long(out, 12 * corners);
  for (int64_t i = 0; i < m->corner_count; i++) {
    CnVec3 p = cn_pose_point(poses[m->body[i]], m->corners[i]);
    put_float(out, p.x);
    put_float(out, p.y);
    put_float(out, p.z);
  }
  put_long(out, 12 * triangles);
  for (int64_t i = 0; i < 3 * m->triangle_count; i++) put_integer(out, m->triangles[i]);
  put_long(out, 4 * triangles);
  for (int64_t i = 0; i < m->triangle_count; i++) put_integer(out, 3 * (i + 1));
  put_long(out, 4 * triangles);
  for (int64_t i = 0; i < m->triangle_count; i++) put_integer(out, m->triangle_body[i]);
  put_long(out, 4 * triangles);
  for (int64_t i = 0; i < m->triangle_count; i++)
    put_float(out, cn_norm(twists[m->triangle_body[i]].velocity));
  put_long(out, 3 * triangles);
  CNI_TRY(put_colors(run, m, out));
  cni_output_text(out, "\n  </AppendedData>\n</VTKFile>\n");
  return CN_OK;
}

// ---- the folder ----

static CnStatus write_frame(CnRun *run, const Mesh *m, int64_t frame, const char *folder,
                            CnPose *poses, CnTwist *twists, double *time) {
  char path[4200];
  CniOutput out;
  CNI_TRY(cn_run_frame(run, frame, time, poses, twists));
  snprintf(path, sizeof path, "%s/frame-%06lld.vtp", folder, (long long)frame);
  CNI_TRY(cni_output_open(&out, path, &run->allocator));
  CnStatus status = put_frame(run, m, poses, twists, &out);
  if (status == CN_OK) return cni_output_close(&out);
  cni_output_discard(&out);
  return status;
}

static CnStatus write_frames(CnRun *run, const Mesh *m, const char *folder, CnPose *poses,
                             CnTwist *twists) {
  char path[4200];
  CniOutput list;
  snprintf(path, sizeof path, "%s/run.pvd", folder);
  CNI_TRY(cni_output_open(&list, path, &run->allocator));
  cni_output_text(&list, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                         "byte_order=\"LittleEndian\">\n  <Collection>\n");
  CnStatus status = CN_OK;
  for (int64_t f = 0; f < run->info.frame_count && status == CN_OK; f++) {
    double time;
    status = write_frame(run, m, f, folder, poses, twists, &time);
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

static CnStatus fill_and_write(CnRun *run, Mesh *m, const char *folder) {
  size_t corners = (size_t)m->corner_count, triangles = (size_t)m->triangle_count;
  size_t bodies = (size_t)run->info.body_count + 1;
  size_t bytes = bodies * (sizeof(CnPose) + sizeof(CnTwist)) + corners * (sizeof *m->corners + 4) +
                 16 * triangles;
  char *memory = cni_allocate(&run->allocator, bytes);
  if (!memory) return cni_error_memory(bytes);
  CnPose *poses = (CnPose *)memory;
  CnTwist *twists = (CnTwist *)(poses + bodies);
  m->corners = (CnVec3 *)(twists + bodies);
  m->body = (int32_t *)(m->corners + corners);
  m->triangles = m->body + corners;
  m->triangle_body = m->triangles + 3 * triangles;
  m->fill = 1;
  CnStatus status = take_shapes(run, m);
  if (status == CN_OK) status = write_frames(run, m, folder, poses, twists);
  cni_release(&run->allocator, memory, bytes);
  return status;
}

static CnStatus write_vtk(CnRun *run, const char *run_path, const char *output) {
  char folder[4096];
  Mesh m = {0};
  if (!run || !run_path) return cni_invalid("export vtk: a null pointer");
  CNI_TRY(cni_export_path(run_path, output, "-vtk", folder, sizeof folder));
  CNI_TRY(take_shapes(run, &m));
  double bytes = (12.0 * (double)m.corner_count + 27.0 * (double)m.triangle_count) *
                 (double)run->info.frame_count;
  if (bytes > MOST_BYTES)
    return cni_error(
        CN_UNSUPPORTED,
        "export vtk: %.3g bytes of triangles are too many; xdmf shows spheres as points, "
        "and fewer frames take less",
        bytes);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return cni_file_error(folder, "cannot be made", errno);
  return fill_and_write(run, &m, folder);
}

const CniExportKind cni_export_vtk = {
    "vtk", "a folder for ParaView with all shapes as triangles: NAME-vtk/run.pvd", write_vtk,
    "-vtk"};
