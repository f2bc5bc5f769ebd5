// SPDX-License-Identifier: Apache-2.0
// Shapes of a page. It knows spheres, boxes and planes; any other kind comes as triangles made from
// its support function, so that a new kind needs nothing in web/. Shapes of one kind and size share
// their triangles.
//
// Directions on a globe, rings of constant latitude about z, go to the surface points whose normals
// they are. The equator is there twice, from just above and from just below: the side of what is
// long along z lies between. So are the poles, for flat ends.
#include "view/view_private.h"

#include <string.h>

#include "core/math.h"
#include "geometry/geometry.h"

#define MANY 64 // more meshes than this are made of fewer triangles
#define EQUATOR 1e-6

// ---- meshes ----

typedef struct Meshes {
  CnAllocator allocator;
  CniPlaced *items; // one of each; poses do not count
  int32_t count, capacity;
} Meshes;

static CnStatus find_mesh(Meshes *meshes, const CniPlaced *shape, int32_t *index) {
  for (*index = 0; *index < meshes->count; (*index)++) {
    const CniPlaced *m = &meshes->items[*index];
    if (m->kind == shape->kind && m->hull == shape->hull &&
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

// The faces of a hull as they are.
static void write_faces(CniPageFile *file, const CniHull *h) {
  cni_page_file_float32(file, (float)h->corner_count);
  cni_page_file_float32(file, (float)(h->corner_count - 2 * h->face_count));
  for (int32_t f = 0; f < h->face_count; f++)
    for (int32_t k = 0; k < h->faces[f].count; k++) {
      put_vec(file, h->vertices[h->corners[h->faces[f].first + k].vertex]);
      put_vec(file, h->faces[f].normal);
    }
  for (int32_t f = 0; f < h->face_count; f++)
    for (int32_t k = 1; k + 1 < h->faces[f].count; k++) {
      int32_t first = h->faces[f].first;
      put_vec(file, cn_vec3(first, first + k, first + k + 1));
    }
}

// Numbers of corners and triangles; of each corner its place and normal; of each triangle its
// corners.
static void write_mesh(CniPageFile *file, const CniPlaced *shape, int32_t quarter) {
  const CniShapeKind *kind = cni_shape_kinds[shape->kind];
  int32_t half = quarter + 2, rings = 2 * half, around = 4 * quarter;
  double round = kind->rounding(shape);
  if (shape->hull && round == 0) {
    write_faces(file, shape->hull);
    return;
  }
  cni_page_file_float32(file, (float)(rings * around));
  cni_page_file_float32(file, (float)(2 * (rings - 1) * around));
  for (int32_t i = 0; i < rings; i++) {
    int32_t below = i >= half, step = below ? i - half : half - 1 - i;
    double latitude = cn_max(step * CNI_PI / 2 / quarter, EQUATOR);
    if (step == quarter) latitude = CNI_PI / 2 - EQUATOR;
    if (step > quarter) latitude = CNI_PI / 2;
    if (below) latitude = -latitude;
    for (int32_t j = 0; j < around; j++) {
      double longitude = (j + 0.5) * CNI_PI / 2 / quarter, flat = cni_cos(latitude);
      CnVec3 n = {flat * cni_cos(longitude), flat * cni_sin(longitude), cni_sin(latitude)};
      uint32_t corner;
      put_vec(file, cn_madd(kind->support(shape, n, &corner), round, n));
      put_vec(file, n);
    }
  }
  for (int32_t i = 0; i + 1 < rings; i++)
    for (int32_t j = 0; j < around; j++) {
      int32_t p = i * around + j, q = i * around + (j + 1) % around;
      put_vec(file, cn_vec3(p, p + around, q));
      put_vec(file, cn_vec3(q, p + around, q + around));
    }
}

// ---- shapes ----

static CnStatus write_shape(CniPageFile *file, const CniPageSource *source, const CnRunShape *s,
                            Meshes *meshes) {
  CniPlaced shape = cni_shape_placed(&s->def);
  if (cni_shape_needs_geometry(shape.kind))
    shape.hull = source->hull(source->context, s->def.geometry);
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
