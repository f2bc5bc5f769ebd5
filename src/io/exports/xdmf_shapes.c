// SPDX-License-Identifier: Apache-2.0
// The shapes of a run for ParaView, as triangles: beside the points of the bodies a second series of
// grids, "shapes", whose numbers lie in NAME.xdmf.bin: the corners of all triangles, the body of each
// triangle, and the places of the corners in every frame, single precision, least byte first. Spheres
// have none (their points with `radius` say it all), nor have half-spaces. More than MOST_BYTES are not
// written; the description then has the points alone, and says so.
#include <string.h>

#include "geometry/geometry.h"
#include "io/exports/xdmf_shapes.h"
#include "io/tools/output.h"

#define QUARTER 6
#define MOST_BYTES 2e9
#define ENDING ".bin"

typedef struct Mesh {
  const CnAllocator *allocator;
  CnVec3 *corners; // in the frames of their bodies
  int32_t *body;   // per corner
  int32_t *triangles, *triangle_body;
  int32_t corner_count, triangle_count; // as many as were taken
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
    if (shape.kind == CN_SHAPE_SPHERE || cni_shape_unbounded(shape.kind)) continue;
    if (cni_shape_needs_geometry(shape.kind)) cni_run_form(run, s.def.geometry, &shape);
    m->pose = s.def.pose;
    m->own = s.body;
    m->first = m->corner_count;
    cni_shape_triangles(&shape, QUARTER, 1, &take);
    if (m->corner_count > INT32_MAX / 8) break; // too many bytes by far
  }
  return CN_OK;
}

// ---- the numbers ----

static void put_words(CniOutput *out, const void *words, size_t count) {
  uint8_t bytes[4];
  for (size_t i = 0; i < count; i++) {
    uint32_t w;
    memcpy(&w, (const char *)words + 4 * i, sizeof w);
    for (int k = 0; k < 4; k++) bytes[k] = (uint8_t)(w >> (8 * k));
    cni_output_bytes(out, bytes, sizeof bytes);
  }
}

static CnStatus put_frames(CnRun *run, const Mesh *m, CnPose *poses, CniOutput *out) {
  put_words(out, m->triangles, 3 * (size_t)m->triangle_count);
  put_words(out, m->triangle_body, (size_t)m->triangle_count);
  for (int64_t f = 0; f < run->info.frame_count; f++) {
    double time;
    CNI_TRY(cn_run_frame(run, f, &time, poses, NULL));
    for (int32_t i = 0; i < m->corner_count; i++) {
      CnVec3 p = cn_pose_point(poses[m->body[i]], m->corners[i]);
      const float place[3] = {(float)p.x, (float)p.y, (float)p.z};
      put_words(out, place, 3);
    }
  }
  return CN_OK;
}

// ---- the description ----

static void put_item(CniOutput *page, const char *data, const char *type, int64_t seek,
                     int64_t rows, int columns) {
  cni_output_text(page,
                  "          <DataItem Dimensions=\"%lld %d\" NumberType=\"%s\" Precision=\"4\" "
                  "Format=\"Binary\" Endian=\"Little\" Seek=\"%lld\">",
                  (long long)rows, columns, type, (long long)seek);
  cni_xdmf_escaped(page, data);
  cni_output_text(page, "</DataItem>\n");
}

static CnStatus put_grids(CnRun *run, const Mesh *m, const char *data, CniOutput *page) {
  int64_t corners = m->corner_count, triangles = m->triangle_count, start = 16 * triangles;
  cni_output_text(page, "    <Grid Name=\"shapes\" GridType=\"Collection\" "
                        "CollectionType=\"Temporal\">\n");
  for (int64_t f = 0; f < run->info.frame_count; f++) {
    double time;
    CNI_TRY(cn_run_frame(run, f, &time, NULL, NULL));
    cni_output_text(page, "      <Grid Name=\"shapes\" GridType=\"Uniform\">\n"
                          "        <Time Value=\"");
    cni_output_number(page, time);
    cni_output_text(page,
                    "\"/>\n        <Topology TopologyType=\"Triangle\" "
                    "NumberOfElements=\"%lld\">\n",
                    (long long)triangles);
    put_item(page, data, "Int", 0, triangles, 3);
    cni_output_text(page, "        </Topology>\n        <Geometry GeometryType=\"XYZ\">\n");
    put_item(page, data, "Float", start + 12 * corners * f, corners, 3);
    cni_output_text(page, "        </Geometry>\n        <Attribute Name=\"body\" "
                          "AttributeType=\"Scalar\" Center=\"Cell\">\n");
    put_item(page, data, "Int", 12 * triangles, triangles, 1);
    cni_output_text(page, "        </Attribute>\n      </Grid>\n");
  }
  cni_output_text(page, "    </Grid>\n");
  return CN_OK;
}

static CnStatus write_numbers(CnRun *run, Mesh *m, const char *path) {
  size_t corners = (size_t)m->corner_count, triangles = (size_t)m->triangle_count;
  size_t bodies = (size_t)run->info.body_count;
  size_t bytes = corners * (sizeof *m->corners + 4) + 16 * triangles + bodies * sizeof(CnPose);
  char *memory = cni_allocate(m->allocator, bytes);
  if (!memory) return cni_error_memory(bytes);
  CnPose *poses = (CnPose *)memory;
  m->corners = (CnVec3 *)(poses + bodies);
  m->body = (int32_t *)(m->corners + corners);
  m->triangles = m->body + corners;
  m->triangle_body = m->triangles + 3 * triangles;
  m->fill = 1;
  CniOutput out;
  CnStatus status = take_shapes(run, m);
  if (status == CN_OK) status = cni_output_open(&out, path, m->allocator);
  if (status == CN_OK) {
    status = put_frames(run, m, poses, &out);
    if (status == CN_OK)
      status = cni_output_close(&out);
    else
      cni_output_discard(&out);
  }
  cni_release(m->allocator, memory, bytes);
  return status;
}

CnStatus cni_xdmf_shapes(CnRun *run, const char *xdmf, CniOutput *page) {
  Mesh m = {.allocator = &run->allocator};
  char path[2048 + sizeof ENDING];
  CNI_TRY(take_shapes(run, &m));
  if (m.triangle_count == 0) return CN_OK;
  double bytes = 16.0 * m.triangle_count + 12.0 * m.corner_count * (double)run->info.frame_count;
  if (bytes > MOST_BYTES) {
    cni_output_text(page, "    <!-- shapes as triangles would take %g bytes -->\n", bytes);
    return CN_OK;
  }
  snprintf(path, sizeof path, "%s%s", xdmf, ENDING);
  CNI_TRY(write_numbers(run, &m, path));
  const char *name = strrchr(path, '/');
  return put_grids(run, &m, name ? name + 1 : path, page);
}
