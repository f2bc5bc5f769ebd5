// SPDX-License-Identifier: Apache-2.0
// Convex parts that are kept in files: found again with the same bits, believed only if they are right, in the
// way of nobody.
#include "check.h"

#include <cairn/mesh_file.h>
#include <cairn/scene.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "io/meshes/mesh_private.h"
#include "io/parts/parts.h"
#include "io/tools/lock.h"
#include "runs.h"
#include "solids.h"

typedef struct Kept {
  CniMeshData mesh;
  CniMeshPartsDef def;
  CniMeshParts want;
  uint64_t key;
  char file[400], path[500], folder[400];
} Kept;

static void kept_begin(Kept *k) {
  test_folder_make();
  *k = (Kept){.mesh = solid_on_grid(solid_turned(solid_funnel, 8, 16)), .def = {2, .01}};
  snprintf(k->file, sizeof k->file, "%s", test_path("funnel.obj"));
  snprintf(k->folder, sizeof k->folder, "%s", test_path("kept"));
  solid_write(&k->mesh, k->file);
  CHECK(k->mesh.triangle_count >= 256);
  CHECK_OK(cni_mesh_parts(&k->mesh, "funnel", &k->def, &k->want));
  k->key = cni_parts_key(&k->mesh, &k->def);
  snprintf(k->path, sizeof k->path, "%s.%016llx.parts", k->file, (unsigned long long)k->key);
}

static void kept_end(Kept *k) {
  cni_mesh_parts_release(&k->want);
  cni_mesh_release(&k->mesh);
  test_folder_remove();
}

static size_t kept_read(const char *path, uint8_t *bytes, size_t room) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  size_t size = fread(bytes, 1, room, file);
  fclose(file);
  return size;
}

static void kept_write(const char *path, const uint8_t *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

// Asked for again: the same bits; 1 if they are those of the solid.
static int32_t kept_again(const Kept *k, const char *file, const char *folder) {
  CniMeshParts p;
  CniPartsPlace place = {file, folder};
  CHECK_OK(cni_mesh_parts_kept(&k->mesh, "funnel", &k->def, &place, &p));
  int32_t same = p.point_count == k->want.point_count &&
                 memcmp(p.first, k->want.first, sizeof p.first) == 0 &&
                 memcmp(p.points, k->want.points, (size_t)p.point_count * sizeof *p.points) == 0 &&
                 p.depth == k->want.depth && p.volume == k->want.volume &&
                 p.mesh_volume == k->want.mesh_volume && p.outside == k->want.outside;
  cni_mesh_parts_release(&p);
  return same;
}

static void kept(void **state) {
  (void)state;
  static uint8_t bytes[1 << 20], again[1 << 20];
  Kept k;
  kept_begin(&k);
  CHECK(kept_again(&k, NULL, k.folder) && !test_exists(k.path) && !test_exists(k.folder));
  CHECK(kept_again(&k, k.file, k.folder) && test_exists(k.path) && !test_exists(k.folder));
  size_t size = kept_read(k.path, bytes, sizeof bytes);
  CHECK(size == cni_parts_size(&k.want));
  CHECK(kept_again(&k, k.file, NULL));

  // it is really read: other parts that are right, of the same mesh, are taken
  CniMeshParts one = {.allocator = k.mesh.allocator};
  CHECK_OK(cni_mesh_parts(&k.mesh, "funnel", &(CniMeshPartsDef){.most = 3}, &one));
  cni_parts_encode(&one, k.key, again);
  kept_write(k.path, again, cni_parts_size(&one));
  CHECK(!kept_again(&k, k.file, NULL));

  // under another key, damaged in any word, cut short or made longer they are not, and are written anew
  cni_parts_encode(&one, k.key + 1, again);
  kept_write(k.path, again, cni_parts_size(&one));
  CHECK(kept_again(&k, k.file, NULL));
  for (size_t at = 0; at < size; at += size < 4000 ? 8 : size / 400 & ~(size_t)7) {
    CHECK(kept_read(k.path, again, sizeof again) == size && memcmp(again, bytes, size) == 0);
    CniMeshParts p;
    int32_t good;
    again[at + at / 8 % 8] ^= (uint8_t)(1 << at / 64 % 8);
    CHECK_OK(cni_parts_decode(again, size, k.key, &k.mesh, &p, &good));
    CHECK(!good);
  }
  for (int i = 0; i < 4; i++) {
    memcpy(again, bytes, size);
    memset(again + size, 0, 8);
    kept_write(k.path, again, i == 0 ? 0 : i == 1 ? size - 8 : i == 2 ? size - 1 : size + 8);
    CHECK(kept_again(&k, k.file, NULL));
    CHECK(kept_read(k.path, again, sizeof again) == size && memcmp(again, bytes, size) == 0);
  }
  cni_mesh_parts_release(&one);
  kept_end(&k);
}

// Where the file cannot be written it is in the folder; pipes, folders and writers in the way harm nobody.
static void in_the_way(void **state) {
  (void)state;
  Kept k;
  char name[400], other[600];
  kept_begin(&k);
  CHECK(mkfifo(k.path, 0600) == 0);
  CHECK(kept_again(&k, k.file, NULL));
  unlink(k.path);
  CHECK(mkdir(k.path, 0700) == 0);
  CHECK(kept_again(&k, k.file, NULL));
  CHECK(rmdir(k.path) == 0);
  snprintf(other, sizeof other, "%s.partial", k.path);
  int fd = cni_lock_create(other);
  CHECK(fd >= 0 && kept_again(&k, k.file, NULL) && !test_exists(k.path));
  close(fd);
  unlink(other);

  // a name as long as a name can be has no room for an ending
  snprintf(name, sizeof name, "%0240d.obj", 1);
  snprintf(name, sizeof name, "%s", test_path(name));
  solid_write(&k.mesh, name);
  CHECK(kept_again(&k, name, NULL));
  CHECK(kept_again(&k, name, k.folder));
  snprintf(other, sizeof other, "%s/%016llx.parts", k.folder, (unsigned long long)k.key);
  CHECK(test_exists(other));
  CHECK(kept_again(&k, name, k.folder));
  kept_end(&k);
}

// The doors: a mesh file and a scene, with and without; small meshes are not worth a file.
static void doors(void **state) {
  (void)state;
  static const char text[] =
      "{\"bodies\": [{\"shapes\": [{\"kind\": \"mesh\", \"file\": \"funnel.obj\", \"as\": "
      "\"parts\", \"parts\": 2}]}]}";
  Kept k;
  CnMeshFileDef def = cn_mesh_file_def_default();
  CnMeshFile *file;
  CnMeshFileInfo info;
  CnScene *scene;
  kept_begin(&k);
  FILE *json = fopen(test_path("s.json"), "w");
  CHECK(json && fputs(text, json) >= 0 && fclose(json) == 0);
  CHECK_OK(cn_scene_open(test_path("s.json"), NULL, 0, NULL, &scene));
  cn_scene_destroy(scene);
  CHECK(!test_exists(k.path));
  CnSceneOptions options = cn_scene_options_default();
  options.keep_parts = 1;
  CHECK_OK(cn_scene_open_with(test_path("s.json"), &options, NULL, 0, NULL, &scene));
  cn_scene_destroy(scene);
  CHECK(test_exists(k.path));
  def.parts = 2;
  def.keep_parts = 1;
  CHECK_OK(cn_mesh_file_read(k.file, &def, &file));
  CHECK_OK(cn_mesh_file_info(file, &info));
  CHECK(info.part_count == k.want.count && info.part_depth == k.want.depth);
  cn_mesh_file_destroy(file);
  options.tag = 0;
  CHECK_STATUS(cn_scene_open_with(test_path("s.json"), &options, NULL, 0, NULL, &scene),
               CN_INVALID_ARGUMENT);
  CniMeshData small = solid_prism(solid_l, 6, 1);
  CniMeshParts p;
  solid_write(&small, test_path("l.obj"));
  CHECK_OK(
      cni_mesh_parts_kept(&small, "l", NULL, &(CniPartsPlace){test_path("l.obj"), k.folder}, &p));
  CHECK(p.count == 2 && !test_exists(k.folder));
  cni_mesh_parts_release(&p);
  cni_mesh_release(&small);
  kept_end(&k);
}

// Memory that ends while parts are read or found.
static void memory(void **state) {
  (void)state;
  static uint8_t bytes[1 << 20];
  Kept k;
  TestAlloc alloc;
  kept_begin(&k);
  CHECK(kept_again(&k, k.file, NULL));
  size_t size = kept_read(k.path, bytes, sizeof bytes);
  test_alloc_init(&alloc);
  k.mesh.allocator = test_alloc_hook(&alloc);
  for (int n = 1;; n++) {
    CniMeshParts p;
    int32_t good;
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cni_parts_decode(bytes, size, k.key, &k.mesh, &p, &good);
    cni_mesh_parts_release(&p);
    test_alloc_check_clean(&alloc);
    if (!alloc.failed_count) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
  }
  k.mesh.allocator = cn_allocator_default();
  kept_end(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kept), cmocka_unit_test(in_the_way),
                                     cmocka_unit_test(doors), cmocka_unit_test(memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
