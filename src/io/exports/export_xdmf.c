// SPDX-License-Identifier: Apache-2.0
// A run for ParaView: an XDMF file that says where in the run file the points of each frame and
// their properties are. Bodies are points at the origins of their frames, with velocity, spin,
// rotation (w, x, y, z), radius (of the ball about the body), mass and kind; "Glyph" with radius as
// scale shows them. What is no sphere is there as triangles too (xdmf_shapes.c).
//
// ParaView opens HDF5 files in the plain way, which refuses one whose writer was killed or is at
// work. Of such a run what it needs is copied to NAME.xdmf.h5, a closed file.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/exports/xdmf_shapes.h"
#include "io/run/run_private.h"

#define COPY_ENDING ".h5"

// ---- where the numbers are ----

// The path of one file as seen from the folder of another, if they lie in the same; else absolute.
static CnStatus refer(const char *to, const char *from, char *path, size_t size) {
  const char *a = strrchr(to, '/'), *b = strrchr(from, '/');
  size_t length = a ? (size_t)(a - to) + 1 : 0;
  int same = length == (b ? (size_t)(b - from) + 1 : 0) && strncmp(to, from, length) == 0;
  char here[2048] = "";
  if (!same && to[0] != '/' && !getcwd(here, sizeof here - 1))
    return cni_file_error(to, "cannot be found", errno);
  if (here[0]) strcat(here, "/");
  if (snprintf(path, size, "%s%s", here, same ? to + length : to) < (int)size) return CN_OK;
  return cni_invalid("%.80s...: the path is too long", to);
}

// Byte 11 of the file is not zero while a writer is at work, and after one that was killed.
static int is_closed(const CnRun *run) {
  unsigned char mark = 1;
  return pread(run->disk.fd, &mark, 1, 11) == 1 && mark == 0;
}

// ---- a closed copy ----

static const int32_t copied_columns[] = {CNI_COLUMN_FRAME_TIME, CNI_COLUMN_POSITION,
                                         CNI_COLUMN_ROTATION, CNI_COLUMN_VELOCITY, CNI_COLUMN_SPIN};
static const char *const copied_tables[] = {"/bodies/index", "/bodies/radius", "/bodies/mass",
                                            "/bodies/kind"};

static CnStatus copy_numbers(CnRun *run, CniHdf *hdf) {
  CniRunSizes sizes = run->sizes;
  cni_hdf_group(hdf, "/frames");
  cni_hdf_group(hdf, "/bodies");
  for (size_t i = 0; i < sizeof copied_tables / sizeof copied_tables[0] && !hdf->failed; i++)
    if (H5Ocopy(run->file, copied_tables[i], hdf->file, copied_tables[i], H5P_DEFAULT,
                H5P_DEFAULT) < 0)
      return cni_hdf_error(run->path, copied_tables[i]);
  for (size_t i = 0; i < sizeof copied_columns / sizeof copied_columns[0]; i++) {
    int32_t c = copied_columns[i];
    cni_column_create(hdf, c, &sizes);
    if (hdf->failed || cni_column_width(c, &sizes) == 0) continue;
    CNI_TRY(cni_column_copy(run, c, hdf, run->info.frame_count));
  }
  return CN_OK;
}

static CnStatus write_copy(CnRun *run, const char *path) {
  CniDisk disk;
  CniHdf hdf = {.file = -1};
  CNI_TRY(cni_hdf_room(path));
  CNI_TRY(cni_disk_create(&disk, path, path));
  hid_t access = cni_disk_access(&disk);
  if (access >= 0) hdf.file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (access >= 0) H5Pclose(access);
  CnStatus status = CN_OK;
  if (hdf.file >= 0) status = copy_numbers(run, &hdf);
  if (status == CN_OK && (hdf.file < 0 || hdf.failed))
    status = cni_hdf_error(path, "cannot be written");
  if (hdf.file >= 0) H5Fclose(hdf.file);
  int closed = close(disk.fd);
  if (disk.error || closed != 0)
    status = cni_file_error(path, "cannot be written", disk.error ? disk.error : errno);
  if (status != CN_OK) unlink(path);
  return status;
}

// ---- the description ----

// Names of files may have what XML does not like.
void cni_xdmf_escaped(CniOutput *out, const char *text) {
  for (; *text; text++) {
    if (*text == '&')
      cni_output_text(out, "&amp;");
    else if (*text == '<')
      cni_output_text(out, "&lt;");
    else if (*text == '>')
      cni_output_text(out, "&gt;");
    else if (*text == '"')
      cni_output_text(out, "&quot;");
    else
      cni_output_bytes(out, text, 1);
  }
}

typedef struct Page {
  CniOutput *out;
  const char *data;
  const char *path; // of the description
  long long frames, bodies;
} Page;

// The numbers of one frame of a column, said in both tongues of XDMF: readers of version 2 (who do
// not look at capital letters) take the item for a hyperslab of the two items in it, readers of
// version 3 take the text before those, "FILE:SET|start:stride:count:size".
static void put_slab(const Page *page, const char *path, long long frame, int components) {
  CniOutput *out = page->out;
  const char *number = "NumberType=\"Float\" Precision=\"8\" Format=\"HDF\"";
  const char *indent = "          ";
  long long n = page->bodies, all = page->frames;
  int c = components;
  cni_output_text(out, "%s<DataItem ItemType=\"Hyperslab\" Dimensions=\"%lld %d\" %s>", indent, n,
                  c, number);
  cni_xdmf_escaped(out, page->data);
  cni_output_text(out, ":%s|%lld 0 0:1 1 1:1 %lld %d:%lld %lld %d\n", path, frame, n, c, all, n, c);
  cni_output_text(out, "%s  <DataItem Dimensions=\"3 3\" NumberType=\"Int\" Format=\"XML\">",
                  indent);
  cni_output_text(out, "%lld 0 0 1 1 1 1 %lld %d</DataItem>\n", frame, n, c);
  cni_output_text(out, "%s  <DataItem Dimensions=\"%lld %lld %d\" %s>", indent, all, n, c, number);
  cni_xdmf_escaped(out, page->data);
  cni_output_text(out, ":%s</DataItem>\n%s</DataItem>\n", path, indent);
}

// One number a body.
static void put_item(const Page *page, const char *path, const char *type, int precision) {
  cni_output_text(
      page->out, "<DataItem Dimensions=\"%lld\" NumberType=\"%s\" Precision=\"%d\" Format=\"HDF\">",
      page->bodies, type, precision);
  cni_xdmf_escaped(page->out, page->data);
  cni_output_text(page->out, ":%s</DataItem>\n", path);
}

// A property of bodies that does not change.
static void put_constant(const Page *page, const char *name, const char *path, const char *type,
                         int precision) {
  cni_output_text(page->out,
                  "        <Attribute Name=\"%s\" AttributeType=\"Scalar\" Center=\"Node\">\n"
                  "          ",
                  name);
  put_item(page, path, type, precision);
  cni_output_text(page->out, "        </Attribute>\n");
}

static void put_series(const Page *page, const char *name, const char *type, const char *path,
                       long long frame, int components) {
  cni_output_text(page->out,
                  "        <Attribute Name=\"%s\" AttributeType=\"%s\" Center=\"Node\">\n", name,
                  type);
  put_slab(page, path, frame, components);
  cni_output_text(page->out, "        </Attribute>\n");
}

static void put_frame(const Page *page, long long frame, double time) {
  CniOutput *out = page->out;
  cni_output_text(out, "      <Grid Name=\"bodies\" GridType=\"Uniform\">\n        <Time Value=\"");
  cni_output_number(out, time);
  cni_output_text(out,
                  "\"/>\n"
                  "        <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"%lld\" "
                  "NodesPerElement=\"1\">\n          ",
                  page->bodies);
  put_item(page, "/bodies/index", "Int", 4);
  cni_output_text(out, "        </Topology>\n        <Geometry GeometryType=\"XYZ\">\n");
  put_slab(page, "/frames/position", frame, 3);
  cni_output_text(out, "        </Geometry>\n");
  put_series(page, "velocity", "Vector", "/frames/velocity", frame, 3);
  put_series(page, "spin", "Vector", "/frames/spin", frame, 3);
  put_series(page, "rotation", "Matrix", "/frames/rotation", frame, 4);
  put_constant(page, "radius", "/bodies/radius", "Float", 8);
  put_constant(page, "mass", "/bodies/mass", "Float", 8);
  put_constant(page, "kind", "/bodies/kind", "UChar", 1);
  cni_output_text(out, "      </Grid>\n");
}

static CnStatus put_page(CnRun *run, Page *page) {
  CniOutput *out = page->out;
  cni_output_text(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<Xdmf Version=\"3.0\">\n  <Domain>\n"
                  "    <Grid Name=\"run\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
  for (int64_t f = 0; f < run->info.frame_count; f++) {
    double time;
    CNI_TRY(cn_run_frame(run, f, &time, NULL, NULL));
    put_frame(page, (long long)f, time);
  }
  cni_output_text(out, "    </Grid>\n");
  CNI_TRY(cni_xdmf_shapes(run, page->path, out));
  cni_output_text(out, "  </Domain>\n</Xdmf>\n");
  return CN_OK;
}

static CnStatus write_xdmf(CnRun *run, const char *run_path, const char *output) {
  char path[2048], copy[2048 + sizeof COPY_ENDING], data[4200];
  if (!run || !run_path) return cni_invalid("export xdmf: a null pointer");
  CNI_TRY(cni_export_path(run_path, output, ".xdmf", path, sizeof path));
  CNI_TRY(cn_run_check_output(run, path));
  if (run->info.body_count == 0)
    return cni_error(CN_UNSUPPORTED, "%s: has no bodies to export", run_path);
  snprintf(copy, sizeof copy, "%s%s", path, COPY_ENDING);
  CNI_TRY(cn_run_check_output(run, copy));
  int closed = is_closed(run);
  CNI_TRY(refer(closed ? run->path : copy, path, data, sizeof data));
  CniOutput out;
  // a running run may have grown, a killed one may hold more rows than are whole
  int64_t rows =
      closed ? cni_column_rows(run->columns[CNI_COLUMN_POSITION]) : run->info.frame_count;
  Page page = {&out, data, path, rows, run->info.body_count};
  CNI_TRY(cni_output_open(&out, path, &run->allocator)); // from here on nobody else writes either
  CnStatus status = CN_OK;
  if (!closed) {
    CniQuiet quiet = cni_quiet_begin();
    status = write_copy(run, copy);
    cni_quiet_end(quiet);
  }
  if (status == CN_OK) status = put_page(run, &page);
  if (status == CN_OK) return cni_output_close(&out);
  cni_output_discard(&out);
  return status;
}

const CniExportKind cni_export_xdmf = {
    "xdmf", "a description of the run file that ParaView opens: NAME.xdmf", write_xdmf, ".xdmf"};
