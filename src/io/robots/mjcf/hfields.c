// SPDX-License-Identifier: Apache-2.0
// MJCF: height fields. <hfield> has heights as a list or in a file (a grey PNG, or the format's own:
// numbers of rows and columns, then floats), which are brought to 0 to 1 and then to the height given. The
// first row of a list and of an image is that of the largest y, that of the format's own file the other.
// The block below the surface is left out: it is touched from above only.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/memory.h"
#include "io/images/image.h"
#include "io/problems/problems_private.h"
#include "io/robots/mjcf/mjcf.h"

#define MOST 4000000 // samples

typedef struct Field {
  int32_t rows, columns;
  double size[4]; // half sides, height, block below
  double *z;      // rows from the least y on
} Field;

static CniXmlNode *find(CniMjcf *m, const char *name) {
  for (CniXmlNode *n = NULL; (n = cni_xml_child(m->root, "asset", n));)
    for (CniXmlNode *field = NULL; (field = cni_xml_child(n, "hfield", field));) {
      CniXmlView view = cni_xml_view(field);
      const char *own = cni_xml_text(&view, "name"), *file = cni_xml_text(&view, "file");
      const char *slash = file ? strrchr(file, '/') : NULL, *start = slash ? slash + 1 : file;
      size_t length = start ? strcspn(start, ".") : 0;
      if (own && strcmp(own, name) == 0) return field;
      if (!own && start && strlen(name) == length && strncmp(start, name, length) == 0)
        return field;
    }
  return NULL;
}

static CnStatus make_room(CniMjcf *m, const CniXmlNode *node, double rows, double columns,
                          Field *f) {
  if (!(rows >= 2 && columns >= 2 && rows * columns <= MOST) || rows != floor(rows) ||
      columns != floor(columns))
    return cni_xml_fail(node, "2 or more rows and columns, at most %d samples (got %g by %g)", MOST,
                        rows, columns);
  f->rows = (int32_t)rows;
  f->columns = (int32_t)columns;
  return cni_arena_array(&m->robot->arena, (int64_t)f->rows * f->columns, sizeof *f->z, &f->z);
}

// ---- where heights come from ----

static CnStatus read_list(CniMjcf *m, const CniXmlView *view, Field *f) {
  double rows = 0, columns = 0, *list;
  int32_t count = 0;
  CNI_TRY(cni_xml_number(view, "nrow", &rows));
  CNI_TRY(cni_xml_number(view, "ncol", &columns));
  CNI_TRY(make_room(m, view->node, rows, columns, f));
  if (!cni_xml_text(view, "elevation")) return CN_OK; // flat
  int32_t all = f->rows * f->columns;
  CNI_TRY(cni_arena_array(&m->robot->arena, all, sizeof *list, &list));
  CNI_TRY(cni_xml_numbers(view, "elevation", all, all, list, &count));
  for (int32_t j = 0; j < f->rows; j++)
    memcpy(f->z + (size_t)j * (size_t)f->columns,
           list + (size_t)(f->rows - 1 - j) * (size_t)f->columns,
           (size_t)f->columns * sizeof *list);
  return CN_OK;
}

static CnStatus read_picture(CniMjcf *m, const CniXmlView *view, const CniFileBuffer *file,
                             const char *path, Field *f) {
  CniImage image;
  CNI_TRY(cni_image_read(file->data, file->size, path, m->robot->allocator, &image));
  CnStatus status = make_room(m, view->node, image.height, image.width, f);
  for (int32_t j = 0; status == CN_OK && j < f->rows; j++)
    for (int32_t i = 0; i < f->columns; i++)
      f->z[(size_t)j * (size_t)f->columns + (size_t)i] =
          image.samples[(size_t)(f->rows - 1 - j) * (size_t)f->columns + (size_t)i];
  cni_image_release(m->robot->allocator, &image);
  return status;
}

static CnStatus read_floats(CniMjcf *m, const CniXmlView *view, const CniFileBuffer *file,
                            Field *f) {
  int32_t head[2] = {0, 0};
  if (file->size >= sizeof head) memcpy(head, file->data, sizeof head);
  double samples = (double)head[0] * head[1];
  if (head[0] < 2 || head[1] < 2 ||
      (double)(file->size - sizeof head) != samples * (double)sizeof(float))
    return cni_xml_fail(view->node, "its file is neither a PNG nor rows of floats");
  CNI_TRY(make_room(m, view->node, head[0], head[1], f));
  for (size_t i = 0; i < (size_t)f->rows * (size_t)f->columns; i++) {
    float value;
    memcpy(&value, file->data + sizeof head + i * sizeof value, sizeof value);
    if (!isfinite(value)) return cni_xml_fail(view->node, "height %zu is no number", i);
    f->z[i] = (double)value;
  }
  return CN_OK;
}

static CnStatus read_file(CniMjcf *m, const CniXmlView *view, const char *name, Field *f) {
  const char *path;
  CniFileBuffer file;
  CNI_TRY(cni_robot_find_file(m->robot, view->node, m->mesh_folder, name, &path));
  if (!path) {
    cni_robot_note(m->robot, "beware: line %d: the height field %.150s is not there: left out",
                   (int)view->node->line, name);
    return CN_OK;
  }
  CNI_TRY(cni_file_read(path, m->robot->allocator, &file));
  int png = file.size > 4 && memcmp(file.data, "\x89PNG", 4) == 0;
  CnStatus status = png ? read_picture(m, view, &file, path, f) : read_floats(m, view, &file, f);
  cni_release(m->robot->allocator, file.data, file.capacity);
  return status;
}

// ---- the shape ----

// To 0 to 1, then to the height.
static void bring_to_height(Field *f) {
  double lo = INFINITY, hi = -INFINITY;
  int32_t all = f->rows * f->columns;
  for (int32_t i = 0; i < all; i++) lo = fmin(lo, f->z[i]), hi = fmax(hi, f->z[i]);
  for (int32_t i = 0; i < all; i++)
    f->z[i] = hi > lo ? f->size[2] * ((f->z[i] - lo) / (hi - lo)) : 0;
}

static json_t *rows_of(CniMjcf *m, const Field *f) {
  json_t *rows = json_array();
  for (int32_t j = 0; rows && j < f->rows; j++) {
    json_t *row = json_array();
    for (int32_t i = 0; row && i < f->columns; i++)
      cni_robot_push(m->robot, row, json_real(f->z[(size_t)j * (size_t)f->columns + (size_t)i]));
    cni_robot_push(m->robot, rows, row);
  }
  return rows;
}

CnStatus cni_mjcf_hfield(CniMjcf *m, const CniXmlView *geom, int32_t body, json_t **item) {
  const char *name;
  Field f = {0};
  *item = NULL;
  CNI_TRY(cni_xml_required(geom, "hfield", &name));
  CniXmlNode *node = find(m, name);
  if (!node) return cni_xml_fail(geom->node, "no height field is called %.60s", name);
  if (body != CNI_ROBOT_WORLD) {
    cni_robot_note(m->robot, "beware: line %d: a height field on a body that moves is left out",
                   (int)geom->node->line);
    return CN_OK;
  }
  CniXmlView view = cni_xml_view(node);
  int32_t count = 0;
  CNI_TRY(cni_xml_numbers(&view, "size", 4, 4, f.size, &count));
  if (count == 0) return cni_xml_fail(node, "needs four numbers in \"size\"");
  for (int32_t i = 0; i < 4; i++)
    if (!(f.size[i] > 0))
      return cni_xml_fail(node, "\"size\" must be positive (got %g)", f.size[i]);
  const char *file = cni_mjcf_file(m, cni_xml_text(&view, "file"));
  CNI_TRY(file ? read_file(m, &view, file, &f) : read_list(m, &view, &f));
  if (!f.z) return CN_OK;
  bring_to_height(&f);
  *item = json_pack("{s:s, s:[f,f], s:o}", "kind", "height_field", "size", 2 * f.size[0],
                    2 * f.size[1], "heights", rows_of(m, &f));
  return *item ? CN_OK : cni_error_memory(1);
}
