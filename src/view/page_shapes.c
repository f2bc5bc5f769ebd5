// SPDX-License-Identifier: Apache-2.0
// Shapes of a page. It knows spheres, boxes and planes; any other kind comes as triangles made by the
// library, so that a new kind needs nothing in web/. Shapes of one kind and size share
// their triangles.
#include "view/view_private.h"

#define MANY 64 // more meshes than this are made of fewer triangles

// ---- meshes ----

typedef struct Mesh {
  CnShapeDef def; // one of each; poses do not count
  int32_t shape;
} Mesh;

typedef struct Meshes {
  Mesh *items; // room for all shapes
  int32_t count;
} Meshes;

static int same_form(const CnShapeDef *a, const CnShapeDef *b) {
  return a->kind == b->kind && a->radius == b->radius && a->half_size.x == b->half_size.x &&
         a->half_size.y == b->half_size.y && a->half_size.z == b->half_size.z &&
         a->half_length == b->half_length && a->top_radius == b->top_radius &&
         a->rounding == b->rounding && a->geometry.slot == b->geometry.slot &&
         a->geometry.generation == b->geometry.generation;
}

static int32_t find_mesh(Meshes *meshes, const CnShapeDef *def, int32_t shape) {
  for (int32_t i = 0; i < meshes->count; i++)
    if (same_form(&meshes->items[i].def, def)) return i;
  meshes->items[meshes->count] = (Mesh){*def, shape};
  return meshes->count++;
}

static void put_vec(CniPageFile *file, CnVec3 v) {
  cni_page_file_float32(file, (float)v.x);
  cni_page_file_float32(file, (float)v.y);
  cni_page_file_float32(file, (float)v.z);
}

static CnStatus write_mesh(CniPageFile *file, const CniPageSource *source, int32_t shape,
                           int32_t quarter, CniPageMemory *memory) {
  CnTriangles t = {0};
  CNI_TRY(source->triangles(source->context, shape, quarter, &t));
  t.place_capacity = t.place_count;
  t.triangle_capacity = t.triangle_count;
  CNI_TRY(cni_page_array(memory, t.place_count, sizeof *t.places, &t.places));
  CNI_TRY(cni_page_array(memory, t.place_count, sizeof *t.normals, &t.normals));
  CNI_TRY(cni_page_array(memory, t.triangle_count, 3 * sizeof *t.corners, &t.corners));
  CNI_TRY(source->triangles(source->context, shape, quarter, &t));
  return cni_page_write_mesh(file, &t);
}

// ---- shapes ----

static void write_shape(CniPageFile *file, const CnRunShape *s, int32_t index, int32_t material,
                        Meshes *meshes) {
  CnVec3 size;
  CnDrawing drawing = cn_shape_drawing(&s->def, &size);
  int32_t mesh = drawing == CN_DRAW_TRIANGLES ? find_mesh(meshes, &s->def, index) : 0;
  CnQuat q = s->def.pose.rotation;
  cni_page_file_float32(file, (float)s->body);
  cni_page_file_float32(file, (float)((int32_t)drawing + mesh));
  put_vec(file, s->def.pose.position);
  cni_page_file_float32(file, (float)q.w);
  put_vec(file, (CnVec3){q.x, q.y, q.z});
  put_vec(file, size);
  cni_page_file_float32(file, (float)material);
}

static CnStatus write_all(CniPageFile *file, const CniPageSource *source, const int32_t *materials,
                          Meshes *meshes) {
  CnStatus status = CN_OK;
  cni_page_file_begin(file, "shapes");
  for (int32_t i = 0; i < source->info.shape_count && status == CN_OK; i++) {
    CnRunShape s;
    status = source->shape(source->context, i, &s);
    if (status == CN_OK) write_shape(file, &s, i, materials[i], meshes);
  }
  cni_page_file_end(file);
  cni_page_file_begin(file, "meshes");
  for (int32_t i = 0; i < meshes->count && status == CN_OK; i++) {
    CniPageMemory own = {NULL};
    status = write_mesh(file, source, meshes->items[i].shape, meshes->count > MANY ? 3 : 6, &own);
    cni_page_memory_release(&own);
  }
  cni_page_file_end(file);
  return status;
}

CnStatus cni_page_write_shapes(CniPageFile *file, const CniPageSource *source) {
  CniPageMemory memory = {NULL};
  Meshes meshes = {NULL, 0};
  CNI_TRY(cni_page_array(&memory, source->info.shape_count, sizeof *meshes.items, &meshes.items));
  int32_t *materials, named = 0;
  CnStatus status =
      cni_page_array(&memory, source->info.shape_count, sizeof *materials, &materials);
  for (int32_t i = 0; i < source->info.shape_count && status == CN_OK; i++) materials[i] = -1;
  if (status == CN_OK && source->materials && source->info.shape_count > 0)
    status = source->materials(source->context, materials, &named);
  if (status == CN_OK) status = write_all(file, source, materials, &meshes);
  cni_page_memory_release(&memory);
  return status;
}
