// SPDX-License-Identifier: Apache-2.0
// Shapes of a page. It knows spheres, boxes and planes; any other kind comes as triangles made by
// geometry, so that a new kind needs nothing in web/. Shapes of one kind and size share
// their triangles.
#include "view/view_private.h"

#include <string.h>

#include "geometry/geometry.h"

#define MANY 64 // more meshes than this are made of fewer triangles

// ---- meshes ----

typedef struct Meshes {
  CnAllocator allocator;
  CniPlaced *items; // one of each; poses do not count
  int32_t count, capacity;
} Meshes;

static CnStatus find_mesh(Meshes *meshes, const CniPlaced *shape, int32_t *index) {
  for (*index = 0; *index < meshes->count; (*index)++) {
    const CniPlaced *m = &meshes->items[*index];
    if (m->kind == shape->kind && m->hull == shape->hull && m->mesh == shape->mesh &&
        memcmp(m->size, shape->size, sizeof m->size) == 0)
      return CN_OK;
  }
  CNI_TRY(CNI_RESERVE(&meshes->allocator, meshes->items, meshes->capacity, meshes->count,
                      meshes->count + 1));
  meshes->items[meshes->count++] = *shape;
  return CN_OK;
}

static void put_vec(CniPageFile *file, CnVec3 v) {
  cni_page_file_float32(file, (float)v.x);
  cni_page_file_float32(file, (float)v.y);
  cni_page_file_float32(file, (float)v.z);
}

typedef struct MeshCount {
  int32_t corners, triangles;
} MeshCount;

static void count_corner(void *context, CnVec3 place, CnVec3 normal) {
  (void)place;
  (void)normal;
  ((MeshCount *)context)->corners++;
}
static void count_triangle(void *context, const int32_t corner[3]) {
  (void)corner;
  ((MeshCount *)context)->triangles++;
}
static void put_corner(void *context, CnVec3 place, CnVec3 normal) {
  put_vec(context, place);
  put_vec(context, normal);
}
static void put_triangle(void *context, const int32_t corner[3]) {
  put_vec(context, cn_vec3(corner[0], corner[1], corner[2]));
}

// Numbers of corners and triangles; of each corner its place and normal; of each triangle its
// corners.
static void write_mesh(CniPageFile *file, const CniPlaced *shape, int32_t quarter) {
  MeshCount count = {0, 0};
  cni_shape_triangles(shape, quarter, 0, &(CniMeshTaker){&count, count_corner, count_triangle});
  cni_page_file_float32(file, (float)count.corners);
  cni_page_file_float32(file, (float)count.triangles);
  cni_shape_triangles(shape, quarter, 0, &(CniMeshTaker){file, put_corner, put_triangle});
}

// ---- shapes ----

static CnStatus write_shape(CniPageFile *file, const CniPageSource *source, const CnRunShape *s,
                            Meshes *meshes) {
  CniPlaced shape = cni_shape_placed(&s->def);
  if (cni_shape_needs_geometry(shape.kind)) source->form(source->context, s->def.geometry, &shape);
  const CniShapeKind *kind = cni_shape_kinds[shape.kind];
  CniPagePrimitive primitive = kind->page;
  if (primitive == CNI_PAGE_BOX && kind->rounding(&shape) > 0) primitive = CNI_PAGE_TRIANGLES;
  CnVec3 size = {shape.size[0], shape.size[1], shape.size[2]};
  int32_t mesh = 0;
  if (primitive == CNI_PAGE_SPHERE) size = cn_vec3(size.x, size.x, size.x);
  if (primitive == CNI_PAGE_TRIANGLES) {
    CNI_TRY(find_mesh(meshes, &shape, &mesh));
    size = cn_vec3(1, 1, 1);
  }
  CnQuat q = shape.pose.rotation;
  cni_page_file_float32(file, (float)s->body);
  cni_page_file_float32(file, (float)((int32_t)primitive + mesh));
  put_vec(file, shape.pose.position);
  cni_page_file_float32(file, (float)q.w);
  put_vec(file, cn_vec3(q.x, q.y, q.z));
  put_vec(file, size);
  return CN_OK;
}

CnStatus cni_page_write_shapes(CniPageFile *file, const CniPageSource *source,
                               const CnAllocator *allocator) {
  Meshes meshes = {.allocator = *allocator};
  CnStatus status = CN_OK;
  cni_page_file_begin(file, "shapes");
  for (int32_t i = 0; i < source->info.shape_count && status == CN_OK; i++) {
    CnRunShape s;
    status = source->shape(source->context, i, &s);
    if (status == CN_OK) status = write_shape(file, source, &s, &meshes);
  }
  cni_page_file_end(file);
  cni_page_file_begin(file, "meshes");
  for (int32_t i = 0; i < meshes.count && status == CN_OK; i++)
    write_mesh(file, &meshes.items[i], meshes.count > MANY ? 3 : 6);
  cni_page_file_end(file);
  CNI_RELEASE(allocator, meshes.items, meshes.capacity);
  return status;
}
