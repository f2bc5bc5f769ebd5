// SPDX-License-Identifier: Apache-2.0
// The shapes of a run for ParaView, as triangles: beside the points of the bodies a second series of
// grids, "shapes", whose numbers lie in NAME.xdmf.bin: the corners of all triangles, the body of each
// triangle, and the places of the corners in every frame, single precision, least byte first. Spheres
// have none (their points with `radius` say it all), nor have half-spaces. More than MOST_BYTES are not
// written; the description then has the points alone, and says so.
#include <string.h>

#include "io/exports/run_triangles.h"
#include "io/exports/xdmf_shapes.h"

#define MOST_BYTES 2e9
#define ENDING ".bin"

// ---- the numbers ----

static CnStatus put_frames(CnRun *run, const CniTriangles *t, CniOutput *out) {
  cni_triangles_words(out, t->triangles, 3 * (size_t)t->triangle_count);
  cni_triangles_words(out, t->triangle_body, (size_t)t->triangle_count);
  for (int64_t f = 0; f < run->info.frame_count; f++) {
    CNI_TRY(cn_run_frame(run, f, NULL, t->poses, NULL));
    cni_triangles_places(out, t);
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

static CnStatus put_grids(CnRun *run, const CniTriangles *t, const char *data, CniOutput *page) {
  int64_t corners = t->corner_count, triangles = t->triangle_count, start = 16 * triangles;
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

static CnStatus write_numbers(CnRun *run, CniTriangles *t, const char *path) {
  CniOutput out;
  CNI_TRY(cni_triangles_take(run, t));
  CNI_TRY(cn_run_check_output(run, path));
  CNI_TRY(cni_output_open(&out, path, &run->allocator));
  CnStatus status = put_frames(run, t, &out);
  if (status == CN_OK) return cni_output_close(&out);
  cni_output_discard(&out);
  return status;
}

CnStatus cni_xdmf_shapes(CnRun *run, const char *xdmf, CniOutput *page) {
  CniTriangles t;
  char path[2048 + sizeof ENDING];
  CNI_TRY(cni_triangles_count(run, 0, &t));
  if (t.triangle_count == 0) return CN_OK;
  double bytes = 16.0 * (double)t.triangle_count +
                 12.0 * (double)t.corner_count * (double)run->info.frame_count;
  if (bytes > MOST_BYTES) {
    cni_output_text(page, "    <!-- shapes as triangles would take %g bytes -->\n", bytes);
    return CN_OK;
  }
  snprintf(path, sizeof path, "%s%s", xdmf, ENDING);
  CnStatus status = write_numbers(run, &t, path);
  const char *name = strrchr(path, '/');
  if (status == CN_OK) status = put_grids(run, &t, name ? name + 1 : path, page);
  cni_triangles_release(run, &t);
  return status;
}
