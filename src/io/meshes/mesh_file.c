// SPDX-License-Identifier: Apache-2.0
// Mesh files: which format a file has, its places in metres, and the corners of its hull.
#include "io/meshes/mesh_private.h"

#include <math.h>
#include <string.h>

#include "core/floats.h"
#include "core/hash.h"
#include "geometry/geometry.h"

static const CniMeshFormat *const formats[] = {
#define CN_MESH(name) &cni_mesh_##name,
#include "io/meshes/mesh_list.inc"
#undef CN_MESH
};
#define FORMAT_COUNT ((int32_t)(sizeof formats / sizeof formats[0]))

// ---- growing ----

void cni_mesh_release(CniMeshData *mesh) {
  CNI_RELEASE(&mesh->allocator, mesh->vertices, mesh->vertex_capacity);
  CNI_RELEASE(&mesh->allocator, mesh->triangles, mesh->triangle_capacity);
  cni_inputs_release(&mesh->others, &mesh->allocator);
  *mesh = (CniMeshData){.allocator = mesh->allocator};
}

CnStatus cni_mesh_room(CniMeshData *mesh, const char *name, int64_t vertices, int64_t triangles) {
  vertices += mesh->vertex_count;
  triangles += mesh->triangle_count;
  if (vertices > CNI_MESH_FILE_VERTICES)
    return cni_bad_data("%s: more than %d corners (got %lld)", name, CNI_MESH_FILE_VERTICES,
                        (long long)vertices);
  if (triangles > CNI_MESH_FILE_TRIANGLES)
    return cni_bad_data("%s: more than %d triangles (got %lld)", name, CNI_MESH_FILE_TRIANGLES,
                        (long long)triangles);
  CNI_TRY(CNI_RESERVE(&mesh->allocator, mesh->vertices, mesh->vertex_capacity, mesh->vertex_count,
                      (int32_t)vertices));
  return CNI_RESERVE(&mesh->allocator, mesh->triangles, mesh->triangle_capacity,
                     mesh->triangle_count, (int32_t)triangles);
}

CnStatus cni_mesh_add_vertex(CniMeshData *mesh, const char *name, CnVec3 place) {
  if (mesh->vertex_count == mesh->vertex_capacity) CNI_TRY(cni_mesh_room(mesh, name, 1, 0));
  mesh->vertices[mesh->vertex_count++] = place;
  return CN_OK;
}

CnStatus cni_mesh_add_triangle(CniMeshData *mesh, const char *name, int32_t a, int32_t b,
                               int32_t c) {
  if (mesh->triangle_count == mesh->triangle_capacity) CNI_TRY(cni_mesh_room(mesh, name, 0, 1));
  int32_t *t = mesh->triangles[mesh->triangle_count++];
  t[0] = a, t[1] = b, t[2] = c;
  return CN_OK;
}

// ---- numbers of binary files ----

uint64_t cni_mesh_bytes(const char *at, int32_t count, int big) {
  uint64_t value = 0;
  for (int32_t i = 0; i < count; i++)
    value = value << 8 | (unsigned char)at[big ? i : count - 1 - i];
  return value;
}

double cni_mesh_float(const char *at, int32_t size, int big) {
  uint64_t bits = cni_mesh_bytes(at, size, big);
  if (size == 8) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  uint32_t half = (uint32_t)bits;
  float value;
  memcpy(&value, &half, sizeof value);
  return (double)value;
}

// ---- places in metres ----

static CnStatus place_mesh(CniMeshData *mesh, const char *name, const CniMeshUse *use) {
  CnVec3 scale = use ? use->scale : CN_VEC3_ZERO;
  char up = use && use->up ? use->up : 'z';
  if (scale.x == 0 && scale.y == 0 && scale.z == 0) scale = cn_vec3(1, 1, 1);
  double volume = scale.x * scale.y * scale.z;
  if (!(volume != 0 && isfinite(volume)))
    return cni_invalid("%s: the scale must be finite and not zero (got %g, %g, %g)", name, scale.x,
                       scale.y, scale.z);
  if (up != 'x' && up != 'y' && up != 'z')
    return cni_invalid("%s: the axis that is up must be x, y or z (got %c)", name, up);
  for (int32_t i = 0; i < mesh->vertex_count; i++) {
    CnVec3 p = mesh->vertices[i];
    if (up == 'y') p = cn_vec3(p.x, -p.z, p.y);
    if (up == 'x') p = cn_vec3(p.y, p.z, p.x);
    p = cn_vec3(p.x * scale.x, p.y * scale.y, p.z * scale.z);
    double most = cn_max(cn_max(fabs(p.x), fabs(p.y)), fabs(p.z));
    if (!(most <= CNI_MESH_FAR))
      return cni_bad_data("%s: corner %d: farther than %g m from the origin (got %g)", name,
                          (int)i + 1, CNI_MESH_FAR, most);
    // no negative zeros: equal places have equal bits
    mesh->vertices[i] = cn_vec3(p.x + 0.0, p.y + 0.0, p.z + 0.0);
  }
  for (int32_t i = 0; volume < 0 && i < mesh->triangle_count; i++)
    CNI_SWAP(int32_t, mesh->triangles[i][1], mesh->triangles[i][2]);
  return CN_OK;
}

// ---- which format ----

static const char *ending_of(const char *path) {
  const char *point = strrchr(path, '.'), *slash = strrchr(path, '/');
  return point && (!slash || point > slash) ? point + 1 : NULL;
}

static int same_word(const char *a, const char *b) {
  for (; *a && *b; a++, b++) {
    char lower = *a >= 'A' && *a <= 'Z' ? (char)(*a + 32) : *a;
    if (lower != *b) return 0;
  }
  return *a == *b;
}

static const CniMeshFormat *format_by_ending(const char *ending) {
  for (int32_t i = 0; ending && i < FORMAT_COUNT; i++)
    for (int32_t k = 0; k < 3 && formats[i]->endings[k]; k++)
      if (same_word(ending, formats[i]->endings[k])) return formats[i];
  return NULL;
}

int cni_mesh_file_named(const char *path) { return format_by_ending(ending_of(path)) != NULL; }

static CnStatus read_source(const CniMeshSource *source, const char *ending, const CniMeshUse *use,
                            CniMeshData *mesh) {
  const CniMeshFormat *format = NULL;
  for (int32_t i = 0; i < FORMAT_COUNT && !format; i++)
    if (formats[i]->recognise && formats[i]->recognise(source->data, source->size))
      format = formats[i];
  if (!format) format = format_by_ending(ending);
  if (!format)
    return cni_bad_data("%s: not a mesh file: the formats are OBJ, STL, PLY, glTF and GLB",
                        source->name);
  mesh->format = format->name;
  mesh->hash = cni_hash_bytes(CNI_HASH_START, source->data, source->size);
  CNI_TRY(format->read(source, mesh));
  if (mesh->triangle_count == 0)
    return cni_bad_data("%s: there is no triangle in it (%d corners)", source->name,
                        (int)mesh->vertex_count);
  return place_mesh(mesh, source->name, use);
}

static CnStatus read_whole(const CniMeshSource *source, const char *ending, const CniMeshUse *use,
                           const CnAllocator *allocator, CniMeshData *mesh) {
  CNI_FLOATS;
  *mesh = (CniMeshData){.allocator = *allocator};
  CnStatus status = read_source(source, ending, use, mesh);
  if (status != CN_OK) cni_mesh_release(mesh);
  return status;
}

CnStatus cni_mesh_read_memory(const void *data, size_t size, const char *name, const char *ending,
                              const CnAllocator *allocator, const CniMeshUse *use,
                              CniMeshData *mesh) {
  CniMeshSource source = {data, size, name, NULL};
  return read_whole(&source, ending, use, allocator, mesh);
}

CnStatus cni_mesh_file_read(const char *path, const CnAllocator *allocator, const CniMeshUse *use,
                            CniMeshData *mesh) {
  CnAllocator usual = cn_allocator_default();
  const CnAllocator *a = allocator ? allocator : &usual;
  CniFileBuffer buffer;
  *mesh = (CniMeshData){.allocator = *a};
  CNI_TRY(cni_file_read(path, a, &buffer));
  CniMeshSource source = {buffer.data, buffer.size, path, path};
  CnStatus status = read_whole(&source, ending_of(path), use, a, mesh);
  cni_release(a, buffer.data, buffer.capacity);
  return status;
}
