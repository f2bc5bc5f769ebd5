// SPDX-License-Identifier: Apache-2.0
// Height fields in scenes: {"kind": "height_field", "size": [x, y], ...} with the heights as rows of
// numbers, as an expression of x and y, or as the greys of an image. It is a shape of the kind mesh whose
// middle is at the shape's place: sample (0, 0) stands at -size/2. Those that are alike are shared.
#include <stdio.h>
#include <string.h>

#include "core/hash.h"
#include "io/images/image.h"
#include "io/io.h"
#include "io/problems/problems_private.h"
#include "io/scene/scene_private.h"

const char *const cni_scene_height_keys[] = {"size",  "heights",   "samples",   "file", "range",
                                             "holes", "two_sided", "thickness", NULL};

typedef struct Grid {
  int32_t nx, ny;
  double size[2]; // m, between the first and the last samples
  double *heights;
} Grid;

static CnStatus make_room(CniReader *reader, json_t *value, double nx, double ny, Grid *grid) {
  if (nx < 2 || ny < 2 || nx * ny > CNI_IMAGE_SAMPLES)
    return cni_scene_fail(reader, value, "2 or more samples a side, at most %d in all",
                          CNI_IMAGE_SAMPLES);
  grid->nx = (int32_t)nx;
  grid->ny = (int32_t)ny;
  return cni_new(&reader->scene->allocator, (size_t)nx * (size_t)ny * sizeof *grid->heights,
                 &grid->heights);
}

static double *at(const Grid *grid, int32_t i, int32_t j) {
  return &grid->heights[(size_t)j * (size_t)grid->nx + (size_t)i];
}

// ---- rows of numbers ----

// The first row is that of the least y; null is a hole.
static CnStatus read_rows(CniReader *reader, json_t *rows, Grid *grid) {
  size_t ny = json_array_size(rows), nx = json_array_size(json_array_get(rows, 0));
  json_t *row, *value;
  CNI_TRY(make_room(reader, rows, (double)nx, (double)ny, grid));
  CNI_ELEMENTS (reader, rows, j, row) {
    if (json_array_size(row) != nx)
      return cni_scene_fail(reader, row, "must be a list of %zu heights, as the first", nx);
    CNI_ELEMENTS (reader, row, i, value) {
      double *z = at(grid, (int32_t)i, (int32_t)j);
      *z = NAN;
      if (!json_is_null(value)) CNI_TRY(cni_scene_number(reader, value, CNI_ANY, z));
    }
  }
  return CN_OK;
}

// ---- an expression ----

static CnStatus read_samples(CniReader *reader, json_t *item, double n[2]) {
  CNI_TRY(cni_scene_require(reader, item, "samples"));
  CNI_MEMBER (reader, item, "samples", value) {
    CNI_TRY(cni_scene_numbers(reader, value, 2, "a list of two numbers", CNI_POSITIVE, n));
    if (n[0] != floor(n[0]) || n[1] != floor(n[1]))
      return cni_scene_fail(reader, value, "must be whole numbers");
  }
  return CN_OK;
}

static CnStatus name_place(CniReader *reader, json_t *value) {
  for (int32_t k = 0; k < 2; k++) {
    const char name[2] = {"xy"[k], 0};
    if (cni_name_find(&reader->parameter_names, name) >= 0)
      return cni_scene_fail(reader, value, "%s is the place here, and the name of a parameter",
                            name);
    if (reader->variable_count == CNI_SCENE_VARIABLES)
      return cni_scene_fail(reader, value, "more than %d names from generators",
                            CNI_SCENE_VARIABLES);
    CniVariable *v = &reader->variables[reader->variable_count++];
    *v = (CniVariable){.value = 0};
    v->name[0] = name[0];
  }
  return CN_OK;
}

// Heights, or where holes are: an expression of x and y is positive.
static CnStatus evaluate(CniReader *reader, json_t *value, int holes, Grid *grid) {
  int32_t first = reader->variable_count;
  CNI_TRY(name_place(reader, value));
  CniVariable *x = &reader->variables[first], *y = x + 1;
  for (int32_t j = 0; j < grid->ny; j++)
    for (int32_t i = 0; i < grid->nx; i++) {
      double z, *to = at(grid, i, j);
      x->value = grid->size[0] * ((double)i / (grid->nx - 1) - 0.5);
      y->value = grid->size[1] * ((double)j / (grid->ny - 1) - 0.5);
      CNI_TRY(cni_scene_number(reader, value, CNI_ANY, &z));
      if (!holes) *to = z;
      if (holes && z > 0) *to = NAN;
    }
  reader->variable_count = first;
  return CN_OK;
}

static CnStatus read_expression(CniReader *reader, json_t *item, json_t *value, Grid *grid) {
  double n[2] = {0, 0};
  cni_scene_leave(reader);
  CNI_TRY(read_samples(reader, item, n));
  cni_scene_enter(reader, "heights");
  if (n[0] * n[1] > (double)(reader->item_limit - reader->item_count))
    return cni_scene_fail_number(reader, NULL, n[0] * n[1],
                                 "a scene has at most %lld items and samples of expressions",
                                 (long long)reader->item_limit);
  CNI_TRY(make_room(reader, value, n[0], n[1], grid));
  reader->item_count += (int64_t)(n[0] * n[1]);
  return evaluate(reader, value, 0, grid);
}

// ---- an image ----

// Its upper row is that of the largest y. Black has the first height of the range and white the second.
static CnStatus take_image(CniReader *reader, json_t *item, json_t *value, const CniImage *image,
                           Grid *grid) {
  double range[2] = {0, 0};
  int64_t hole = -1;
  CNI_TRY(make_room(reader, value, image->width, image->height, grid));
  cni_scene_leave(reader);
  CNI_TRY(cni_scene_require(reader, item, "range"));
  CNI_MEMBER (reader, item, "range", list)
    CNI_TRY(cni_scene_numbers(reader, list, 2, "a list of two heights", CNI_ANY, range));
  CNI_TRY(cni_scene_get_integer(reader, item, "holes", 0, 65535, &hole));
  cni_scene_enter(reader, "file");
  for (int32_t j = 0; j < grid->ny; j++)
    for (int32_t i = 0; i < grid->nx; i++) {
      size_t from = (size_t)(grid->ny - 1 - j) * (size_t)grid->nx + (size_t)i;
      double share = (double)image->samples[from] / image->most;
      *at(grid, i, j) =
          image->samples[from] == hole ? NAN : range[0] * (1 - share) + range[1] * share;
    }
  return CN_OK;
}

static CnStatus read_image(CniReader *reader, json_t *item, json_t *value, Grid *grid) {
  const CnAllocator *a = &reader->scene->allocator;
  CniFileBuffer file;
  CniImage image;
  if (!json_is_string(value)) return cni_scene_fail(reader, value, "must be a string");
  CNI_TRY(cni_scene_read_bytes(reader, value, &file));
  CnStatus status = cni_image_read(file.data, file.size, json_string_value(value), a, &image);
  cni_release(a, file.data, file.capacity);
  if (status != CN_OK) return cni_scene_fail_call(reader, value, status);
  status = take_image(reader, item, value, &image, grid);
  cni_image_release(a, &image);
  return status;
}

// ---- all of it ----

static CnStatus read_grid(CniReader *reader, json_t *item, Grid *grid) {
  json_t *heights = json_object_get(item, "heights");
  int expression = json_is_string(heights);
  if (!heights == !json_object_get(item, "file"))
    return cni_scene_fail(reader, item, "a height field has either \"heights\" or a \"file\"");
  CNI_TRY(cni_scene_require(reader, item, "size"));
  CNI_MEMBER (reader, item, "size", value)
    CNI_TRY(cni_scene_numbers(reader, value, 2, "a list of two numbers", CNI_POSITIVE, grid->size));
  CNI_MEMBER (reader, item, "samples", value)
    if (!expression)
      return cni_scene_fail(reader, value, "is only for \"heights\" that are an expression");
  CNI_MEMBER (reader, item, "range", value)
    if (heights) return cni_scene_fail(reader, value, "is only for a \"file\"");
  CNI_MEMBER (reader, item, "holes", value)
    if (json_is_array(heights))
      return cni_scene_fail(reader, value, "holes among numbers are written as null");
  CNI_MEMBER (reader, item, "heights", value)
    CNI_TRY(expression ? read_expression(reader, item, value, grid)
                       : read_rows(reader, value, grid));
  CNI_MEMBER (reader, item, "file", value) CNI_TRY(read_image(reader, item, value, grid));
  CNI_MEMBER (reader, item, "holes", value)
    if (expression) CNI_TRY(evaluate(reader, value, 1, grid));
  return CN_OK;
}

CnHeightsDef cni_scene_heights_def(const CniSceneGeometry *g) {
  CnHeightsDef def = cn_heights_def_default();
  def.name = g->name;
  def.x_count = g->x_count;
  def.y_count = g->y_count;
  def.x_spacing = g->x_spacing;
  def.y_spacing = g->y_spacing;
  def.heights = g->heights;
  def.two_sided = g->two_sided;
  def.thickness = g->thickness;
  return def;
}

// One more geometry, or one that is there already; the heights are given away.
static CnStatus keep(CniReader *reader, json_t *item, CniSceneGeometry *g, int32_t *number) {
  CnScene *scene = reader->scene;
  char key[200];
  const char *kept;
  size_t count = (size_t)g->x_count * (size_t)g->y_count;
  uint64_t hash = cni_hash_doubles(CNI_HASH_START, g->heights, count);
  snprintf(key, sizeof key, "heights %d %d %a %a %d %a %016llx", (int)g->x_count, (int)g->y_count,
           g->x_spacing, g->y_spacing, (int)g->two_sided, g->thickness, (unsigned long long)hash);
  *number = cni_name_find(&reader->mesh_names, key);
  if (*number >= 0) {
    cni_release(&scene->allocator, g->heights, count * sizeof *g->heights);
    return CN_OK;
  }
  CnHeightsDef def = cni_scene_heights_def(g);
  CnStatus status = cni_model_add_heights(&reader->probe, &def, &g->id);
  if (status != CN_OK) {
    cni_release(&scene->allocator, g->heights, count * sizeof *g->heights);
    return cni_scene_fail_call(reader, item, status);
  }
  *number = scene->geometry_count;
  status = CNI_PUSH(&scene->allocator, scene->geometries, scene->geometry_capacity,
                    scene->geometry_count, *g);
  if (status != CN_OK) {
    cni_release(&scene->allocator, g->heights, count * sizeof *g->heights);
    return status;
  }
  CNI_TRY(cni_scene_keep(scene, key, &kept));
  return cni_name_add(&reader->mesh_names, &scene->allocator, kept, *number);
}

CnStatus cni_scene_shape_heights(CniReader *reader, json_t *item, CniSceneShape *shape) {
  Grid grid = {.nx = 0};
  CniSceneGeometry g = {.part_count = 1};
  CnStatus status = read_grid(reader, item, &grid);
  if (status == CN_OK) status = cni_scene_get_flag(reader, item, "two_sided", &g.two_sided);
  if (status == CN_OK)
    status = cni_scene_get_number(reader, item, "thickness", CNI_NOT_NEGATIVE, &g.thickness);
  if (status != CN_OK) {
    cni_release(&reader->scene->allocator, grid.heights,
                (size_t)grid.nx * (size_t)grid.ny * sizeof *grid.heights);
    return status;
  }
  g.x_count = grid.nx;
  g.y_count = grid.ny;
  g.x_spacing = grid.size[0] / (grid.nx - 1);
  g.y_spacing = grid.size[1] / (grid.ny - 1);
  g.heights = grid.heights;
  CNI_TRY(keep(reader, item, &g, &shape->geometry));
  CnVec3 corner = {-0.5 * grid.size[0], -0.5 * grid.size[1], 0};
  shape->def.pose.position = cn_pose_point(shape->def.pose, corner);
  shape->def.geometry = reader->scene->geometries[shape->geometry].id;
  return CN_OK;
}

void cni_scene_release_heights(CnScene *scene) {
  for (int32_t i = 0; i < scene->geometry_count; i++) {
    const CniSceneGeometry *g = &scene->geometries[i];
    size_t count = (size_t)g->x_count * (size_t)g->y_count;
    cni_release(&scene->allocator, g->heights, count * sizeof *g->heights);
  }
}
