// SPDX-License-Identifier: Apache-2.0
// Triangles in few bytes. Places lie on a grid of 65536 points along each side of the box about them, each
// is there once, and they are in the order in which triangles first use them: a corner is how many
// places back from the newest it is, 0 for the next new one, which mostly takes one byte. Faces that
// are flat need no normals, the page makes them from the triangles; others have theirs in two
// bytes, folded out on a square. A closed mesh takes 6 to 9 bytes a triangle so, 8 to 12 in base64.
#include "view/view_private.h"

typedef struct Packed {
  CniPackBox box;
  uint64_t *keys; // of each place: its three words on the grid, and its normal
  int32_t *table; // places by their keys, and one more; 0: free
  uint64_t mask;
  uint8_t *corners;
  int32_t place_count, triangle_count, has_normals;
  int64_t corner_bytes;
} Packed;

static int is_flat(const CnTriangles *t) {
  for (int64_t i = 0; i < 3 * (int64_t)t->triangle_count; i++) {
    CnVec3 n = t->normals[t->corners[i]], first = t->normals[t->corners[i - i % 3]];
    if (n.x != first.x || n.y != first.y || n.z != first.z) return 0;
  }
  return 1;
}

// The octahedron |x| + |y| + |z| = 1 seen from above, its lower sides folded outward.
static uint16_t pack_normal(CnVec3 n) {
  double sum = fabs(n.x) + fabs(n.y) + fabs(n.z), x = n.x / sum, y = n.y / sum;
  if (!(sum > 0)) return 0x8080;
  if (n.z < 0) {
    double fold = x;
    x = (1 - fabs(y)) * (x < 0 ? -1 : 1);
    y = (1 - fabs(fold)) * (y < 0 ? -1 : 1);
  }
  return (uint16_t)((int32_t)floor(127 * x + 128.5) | (int32_t)floor(127 * y + 128.5) << 8);
}

static uint64_t pack_corner(const Packed *p, const CnTriangles *t, int32_t corner) {
  uint16_t words[3];
  cni_pack_position(&p->box, t->places[corner], words);
  uint64_t key = (uint64_t)words[0] | (uint64_t)words[1] << 16 | (uint64_t)words[2] << 32;
  return p->has_normals ? key | (uint64_t)pack_normal(t->normals[corner]) << 48 : key;
}

// Seven bits a byte, least first; the top bit says that more follow.
static void put_corner(Packed *p, uint32_t value) {
  for (; value > 127; value >>= 7) p->corners[p->corner_bytes++] = (uint8_t)(value | 128);
  p->corners[p->corner_bytes++] = (uint8_t)value;
}

static void add_corner(Packed *p, uint64_t key) {
  uint64_t at = key * 0x9e3779b97f4a7c15u;
  at = (at ^ at >> 32) & p->mask;
  while (p->table[at] && p->keys[p->table[at] - 1] != key) at = (at + 1) & p->mask;
  if (p->table[at]) {
    put_corner(p, (uint32_t)(p->place_count - p->table[at] + 1));
    return;
  }
  p->keys[p->place_count++] = key;
  p->table[at] = p->place_count;
  put_corner(p, 0);
}

static CnStatus pack(const CnTriangles *t, CniPageMemory *memory, Packed *p) {
  *p = (Packed){.box = cni_pack_box_empty(), .has_normals = !is_flat(t), .mask = 15};
  while (p->mask < 2 * (uint64_t)t->place_count) p->mask = 2 * p->mask + 1;
  CNI_TRY(cni_page_array(memory, t->place_count, sizeof *p->keys, &p->keys));
  CNI_TRY(cni_page_array(memory, (int64_t)p->mask + 1, sizeof *p->table, &p->table));
  CNI_TRY(cni_page_array(memory, 15 * (int64_t)t->triangle_count, 1, &p->corners));
  for (int32_t i = 0; i < t->place_count; i++) cni_pack_box_add(&p->box, t->places[i]);
  cni_pack_box_close(&p->box);
  const uint64_t place = 0xffffffffffff;
  for (int32_t i = 0; i < t->triangle_count; i++) {
    uint64_t key[3];
    for (int32_t k = 0; k < 3; k++) key[k] = pack_corner(p, t, t->corners[3 * (int64_t)i + k]);
    // smaller than the grid: nothing is to be seen of it
    if (!((key[0] ^ key[1]) & place) || !((key[1] ^ key[2]) & place) ||
        !((key[2] ^ key[0]) & place))
      continue;
    for (int32_t k = 0; k < 3; k++) add_corner(p, key[k]);
    p->triangle_count++;
  }
  return CN_OK;
}

CnStatus cni_page_write_mesh(CniPageFile *file, const CnTriangles *triangles) {
  CniPageMemory memory = {NULL};
  Packed p;
  CnStatus status = pack(triangles, &memory, &p);
  if (status == CN_OK) {
    const double counts[4] = {p.place_count, p.triangle_count, p.has_normals,
                              (double)p.corner_bytes};
    for (int32_t k = 0; k < 4; k++) cni_page_file_float64(file, counts[k]);
    for (int32_t k = 0; k < 3; k++) cni_page_file_float64(file, p.box.low[k]);
    for (int32_t k = 0; k < 3; k++) cni_page_file_float64(file, p.box.step[k]);
    for (int32_t i = 0; i < p.place_count; i++)
      for (int32_t k = 0; k < 3; k++)
        cni_page_file_uint16(file, (uint16_t)(p.keys[i] >> 16 * k & 0xffff));
    for (int32_t i = 0; p.has_normals && i < p.place_count; i++)
      cni_page_file_uint16(file, (uint16_t)(p.keys[i] >> 48));
    cni_page_file_base64(file, p.corners, (size_t)p.corner_bytes);
  }
  cni_page_memory_release(&memory);
  return status;
}
