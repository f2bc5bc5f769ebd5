// SPDX-License-Identifier: Apache-2.0
// Parts that were found once are kept in a file, beside the mesh or in a folder for such files: found again
// they are the same bits, in a thousandth of the time.
//
// A file is named by a hash of the mesh as it is cut (its corners in metres and its triangles), of the
// limits, and of the version of the method, and has it within. Nothing in it is believed: sizes are
// compared with the length of the file, a hash over all tells damage, corners lie within the box of
// the mesh, every part is a hull, and the volumes are those of hulls and mesh to the bit. What
// fails is found anew and written again.
//
// Layout, words of 8 bytes, least byte first: magic, key, parts, corners of all, volume, mesh volume, outside,
// depth; corners of each part; x y z of each corner; hash of all before.
#include "io/meshes/mesh_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/floats.h"
#include "core/hash.h"
#include "io/parts/parts.h"
#include "io/tools/output.h"

#define MAGIC 0x73747261706e7263u // "crnparts"
#define HEAD 8
#define LEAST 256 // triangles: smaller ones are cut faster than a file is looked for
#define MOST_WORDS (HEAD + CNI_MESH_PARTS + 3 * CNI_MESH_PARTS * CNI_HULL_VERTICES + 1)
#define MOST_PATH 4096

// ---- words ----

static uint64_t word_at(const uint8_t *data, size_t i) {
  uint64_t value = 0;
  for (size_t k = 8; k-- > 0;) value = value << 8 | data[8 * i + k];
  return value;
}

static double real_at(const uint8_t *data, size_t i) {
  uint64_t bits = word_at(data, i);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void put_word(uint8_t *data, size_t *i, uint64_t value) {
  for (size_t k = 0; k < 8; k++) data[8 * *i + k] = (uint8_t)(value >> 8 * k);
  ++*i;
}

static void put_real(uint8_t *data, size_t *i, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_word(data, i, bits);
}

uint64_t cni_parts_key(const CniMeshData *mesh, const CniMeshPartsDef *def) {
  uint64_t h = cni_hash_u64(CNI_HASH_START, CNI_PARTS_VERSION);
  h = cni_hash_u64(h, (uint64_t)def->most);
  h = cni_hash_doubles(h, &def->error, 1);
  h = cni_hash_u64(h, (uint64_t)mesh->vertex_count);
  h = cni_hash_doubles(h, &mesh->vertices[0].x, 3 * (size_t)mesh->vertex_count);
  for (int32_t t = 0; t < mesh->triangle_count; t++)
    for (int32_t k = 0; k < 3; k++) h = cni_hash_u64(h, (uint64_t)mesh->triangles[t][k]);
  return h;
}

// ---- reading ----

static int is_within(const CniMeshData *mesh, const CniMeshParts *p) {
  CnVec3 lo = mesh->vertices[0], hi = lo;
  for (int32_t i = 1; i < mesh->vertex_count; i++) {
    CnVec3 v = mesh->vertices[i];
    lo = cn_vec3(cn_min(lo.x, v.x), cn_min(lo.y, v.y), cn_min(lo.z, v.z));
    hi = cn_vec3(cn_max(hi.x, v.x), cn_max(hi.y, v.y), cn_max(hi.z, v.z));
  }
  double near = 1e-6 * cn_norm(cn_sub(hi, lo));
  for (int32_t i = 0; i < p->point_count; i++) {
    CnVec3 v = p->points[i];
    if (!(v.x >= lo.x - near && v.y >= lo.y - near && v.z >= lo.z - near && v.x <= hi.x + near &&
          v.y <= hi.y + near && v.z <= hi.z + near))
      return 0;
  }
  return 1;
}

// Numbers of the head and corners of parts that fit the length.
static int read_counts(const uint8_t *data, size_t size, CniMeshParts *p) {
  uint64_t count = word_at(data, 2), points = word_at(data, 3), sum = 0;
  if (count < 1 || count > CNI_MESH_PARTS || points > CNI_MESH_PARTS * CNI_HULL_VERTICES) return 0;
  if (size != 8 * (HEAD + count + 3 * points + 1)) return 0;
  p->count = (int32_t)count;
  p->point_count = (int32_t)points;
  for (size_t i = 0; i < count; i++) {
    uint64_t own = word_at(data, HEAD + i);
    if (own < 4 || own > CNI_HULL_VERTICES) return 0;
    sum += own;
    p->first[i + 1] = (int32_t)sum;
  }
  return sum == points;
}

CnStatus cni_parts_decode(const void *bytes, size_t size, uint64_t key, const CniMeshData *mesh,
                          CniMeshParts *parts, int32_t *good) {
  const uint8_t *data = bytes;
  CniMeshParts p = {.allocator = mesh->allocator};
  *good = 0;
  *parts = p;
  if (size < 8 * (HEAD + 1) || size % 8 != 0 || size > 8 * (size_t)MOST_WORDS) return CN_OK;
  if (word_at(data, 0) != MAGIC || word_at(data, 1) != key) return CN_OK;
  if (word_at(data, size / 8 - 1) != cni_hash_bytes(CNI_HASH_START, data, size - 8)) return CN_OK;
  if (!read_counts(data, size, &p)) return CN_OK;
  int32_t count = p.point_count;
  p.point_count = 0;
  CNI_TRY(CNI_RESERVE(&p.allocator, p.points, p.point_capacity, 0, count));
  for (; p.point_count < count; p.point_count++) {
    size_t at = HEAD + (size_t)p.count + 3 * (size_t)p.point_count;
    p.points[p.point_count] =
        cn_vec3(real_at(data, at), real_at(data, at + 1), real_at(data, at + 2));
  }
  p.mesh_volume = cni_parts_mesh_volume(mesh);
  CnStatus status = is_within(mesh, &p) ? cni_parts_volume(&p) : CN_INVALID_ARGUMENT;
  p.outside = real_at(data, 6);
  p.depth = real_at(data, 7);
  *good = status == CN_OK && p.volume == real_at(data, 4) && p.mesh_volume == real_at(data, 5) &&
          p.outside >= 0 && p.outside < INFINITY && p.depth >= 0 && p.depth < INFINITY;
  if (*good)
    *parts = p;
  else
    cni_mesh_parts_release(&p);
  return status == CN_NO_MEMORY ? status : CN_OK;
}

// A plain file of a length that can be; anything else is none.
static CnStatus read_file(const char *path, uint64_t key, const CniMeshData *mesh,
                          CniMeshParts *parts, int32_t *good) {
  struct stat about;
  uint8_t *data = NULL;
  *good = 0;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return CN_OK;
  size_t size = 0, got = 0;
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 &&
      about.st_size <= 8 * (off_t)MOST_WORDS)
    size = (size_t)about.st_size;
  CnStatus status = size > 0 ? cni_new(&mesh->allocator, size, &data) : CN_OK;
  while (data && got < size) {
    ssize_t n = read(fd, data + got, size - got);
    if (n <= 0) break;
    got += (size_t)n;
  }
  close(fd);
  if (data && got == size) status = cni_parts_decode(data, size, key, mesh, parts, good);
  cni_release(&mesh->allocator, data, size);
  return status;
}

// ---- writing ----

size_t cni_parts_size(const CniMeshParts *p) {
  return 8 * (HEAD + (size_t)p->count + 3 * (size_t)p->point_count + 1);
}

void cni_parts_encode(const CniMeshParts *p, uint64_t key, void *bytes) {
  size_t at = 0;
  put_word(bytes, &at, MAGIC);
  put_word(bytes, &at, key);
  put_word(bytes, &at, (uint64_t)p->count);
  put_word(bytes, &at, (uint64_t)p->point_count);
  put_real(bytes, &at, p->volume);
  put_real(bytes, &at, p->mesh_volume);
  put_real(bytes, &at, p->outside);
  put_real(bytes, &at, p->depth);
  for (int32_t i = 0; i < p->count; i++)
    put_word(bytes, &at, (uint64_t)(p->first[i + 1] - p->first[i]));
  for (int32_t i = 0; i < p->point_count; i++) {
    put_real(bytes, &at, p->points[i].x);
    put_real(bytes, &at, p->points[i].y);
    put_real(bytes, &at, p->points[i].z);
  }
  put_word(bytes, &at, cni_hash_bytes(CNI_HASH_START, bytes, 8 * at));
}

static CnStatus write_file(const char *path, const void *data, size_t size,
                           const CnAllocator *allocator) {
  CniOutput out;
  CNI_TRY(cni_output_open(&out, path, allocator));
  cni_output_bytes(&out, data, size);
  return cni_output_close(&out);
}

// Beside the mesh, or else in the folder; where neither can be written, nowhere.
static CnStatus write_parts(const CniMeshParts *p, uint64_t key, char paths[2][MOST_PATH],
                            const char *folder) {
  size_t size = cni_parts_size(p);
  uint8_t *data;
  CNI_TRY(cni_new(&p->allocator, size, &data));
  cni_parts_encode(p, key, data);
  if (write_file(paths[0], data, size, &p->allocator) != CN_OK && folder && paths[1][0]) {
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
      (void)write_file(paths[1], data, size, &p->allocator);
  }
  cni_release(&p->allocator, data, size);
  return CN_OK;
}

CnStatus cni_mesh_parts_kept(const CniMeshData *mesh, const char *name, const CniMeshPartsDef *def,
                             const CniPartsPlace *place, CniMeshParts *parts) {
  CNI_FLOATS;
  char paths[2][MOST_PATH] = {"", ""};
  int32_t good = 0;
  if (!place || !place->file || mesh->triangle_count < LEAST)
    return cni_mesh_parts(mesh, name, def, parts);
  CniMeshPartsDef full = cni_mesh_parts_def(def);
  uint64_t key = cni_parts_key(mesh, &full);
  int n = snprintf(paths[0], MOST_PATH, "%s.%016llx.parts", place->file, (unsigned long long)key);
  if (n >= MOST_PATH) return cni_mesh_parts(mesh, name, def, parts);
  n = !place->folder ? 0
                     : snprintf(paths[1], MOST_PATH, "%s/%016llx.parts", place->folder,
                                (unsigned long long)key);
  if (n >= MOST_PATH) paths[1][0] = 0;
  for (int32_t i = 0; i < 2 && !good; i++)
    if (paths[i][0]) CNI_TRY(read_file(paths[i], key, mesh, parts, &good));
  if (good) return CN_OK;
  CNI_TRY(cni_mesh_parts(mesh, name, def, parts));
  CnStatus status = write_parts(parts, key, paths, place->folder);
  if (status != CN_OK) cni_mesh_parts_release(parts);
  return status;
}
