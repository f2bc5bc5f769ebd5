// SPDX-License-Identifier: Apache-2.0
// What follows from the vertices and faces of a convex body: planes, neighbours, volume, centre of
// mass and inertia. Lists from outside are checked on the way.
//
// With c a point inside, every triangle (a, b, d) of the surface makes a tetrahedron with c. With
// a, b, d seen from c and s = a + b + d it has
//
//     volume  V = a . (b x d) / 6
//     first moment   V s / 4
//     second moment  V (s s^T + a a^T + b b^T + d d^T) / 20
//
// and their sums are exact for the whole body.
#include "geometry/hull.h"

#include <string.h>

#include "geometry/hulls/farthest.inc"

#include "core/error.h"
#include "core/memory.h"

#define ABOVE 1e-6 // of the size: so far a vertex may be above a face that is called convex

// ---- memory ----

static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }
static int32_t stride_of(int32_t count) { return (count + 7) / 8 * 8; }

// The next `bytes` of the piece that *at counts, as an offset.
static size_t take(size_t *at, size_t bytes) {
  size_t here = *at;
  *at += rounded(bytes);
  return here;
}

static CniHull *take_hull(const CnAllocator *allocator, int32_t vertices, int32_t faces,
                          int32_t corners) {
  CniHull h = {.vertex_count = vertices, .face_count = faces, .corner_count = corners};
  h.vertex_columns.stride = stride_of(vertices);
  h.normal_columns.stride = stride_of(faces);
  size_t bytes = 0, row = 3 * sizeof(double);
  take(&bytes, sizeof h);
  size_t vertex = take(&bytes, (size_t)vertices * sizeof(CnVec3));
  size_t face = take(&bytes, (size_t)faces * sizeof(CniHullFace));
  size_t corner = take(&bytes, (size_t)corners * sizeof(CniHullCorner));
  size_t first = take(&bytes, (size_t)(vertices + 1) * sizeof(int32_t));
  size_t about = take(&bytes, (size_t)corners * sizeof(int32_t));
  size_t vertex_row = take(&bytes, (size_t)h.vertex_columns.stride * row);
  size_t normal_row = take(&bytes, (size_t)h.normal_columns.stride * row);
  h.bytes = bytes + 64; // rows are aligned to 64, whatever the allocator does
  char *memory = cni_allocate(allocator, h.bytes);
  if (!memory) {
    cni_error_memory(h.bytes);
    return NULL;
  }
  char *even = memory + (64 - (uintptr_t)memory % 64) % 64;
  h.vertices = (CnVec3 *)(memory + vertex);
  h.faces = (CniHullFace *)(memory + face);
  h.corners = (CniHullCorner *)(memory + corner);
  h.first_about = (int32_t *)(memory + first);
  h.about = (int32_t *)(memory + about);
  h.vertex_columns.values = (double *)(even + vertex_row);
  h.normal_columns.values = (double *)(even + normal_row);
  return memcpy(memory, &h, sizeof h), (CniHull *)memory;
}

void cni_hull_destroy(const CnAllocator *allocator, CniHull *hull) {
  if (hull) cni_release(allocator, hull, hull->bytes);
}

// ---- checks ----

static CnStatus refuse(const char *what, const char *why) {
  return cni_bad_data("%s: %s", what, why);
}

static CnStatus check_lists(const char *what, int32_t vertex_count, const CnVec3 *vertices,
                            int32_t face_count, const int32_t *count_of, const int32_t *corner_of,
                            int32_t *corner_count) {
  int32_t corners = 0;
  uint8_t used[CNI_HULL_VERTICES] = {0};
  if (vertex_count < 4 || vertex_count > CNI_HULL_VERTICES || face_count < 4 ||
      face_count > CNI_HULL_FACES)
    return cni_bad_data("%s: %d vertices and %d faces are no hull", what, (int)vertex_count,
                        (int)face_count);
  for (int32_t f = 0; f < face_count; f++) {
    if (count_of[f] < 3 || count_of[f] > CNI_HULL_CORNERS - corners)
      return refuse(what, "a face has too few or too many corners");
    for (int32_t k = 0; k < count_of[f]; k++) {
      int32_t v = corner_of[corners + k];
      if (v < 0 || v >= vertex_count) return refuse(what, "a face has a vertex that is none");
      used[v] = 1;
    }
    corners += count_of[f];
  }
  for (int32_t v = 0; v < vertex_count; v++) {
    if (!used[v]) return refuse(what, "a vertex is in no face");
    if (!cn_vec3_finite(vertices[v])) return refuse(what, "a vertex is not finite");
  }
  if (vertex_count - corners / 2 + face_count != 2 || corners % 2)
    return refuse(what, "its faces are not closed");
  *corner_count = corners;
  return CN_OK;
}

// ---- neighbours ----

static int32_t next_corner(const CniHullFace *face, int32_t i) {
  return i + 1 < face->first + face->count ? i + 1 : face->first;
}

// Every edge is there once in each direction, in two faces.
static CnStatus join_faces(CniHull *h, const char *what) {
  int32_t edges = 0, from[CNI_HULL_CORNERS], to[CNI_HULL_CORNERS], face_of[CNI_HULL_CORNERS];
  for (int32_t f = 0; f < h->face_count; f++)
    for (int32_t k = 0; k < h->faces[f].count; k++) {
      int32_t i = h->faces[f].first + k;
      from[i] = h->corners[i].vertex;
      to[i] = h->corners[next_corner(&h->faces[f], i)].vertex;
      face_of[i] = f;
      h->corners[i].edge = -1;
    }
  for (int32_t i = 0; i < h->corner_count; i++) {
    int32_t twin = -1;
    for (int32_t j = 0; j < h->corner_count; j++) {
      if (j != i && from[j] == from[i] && to[j] == to[i])
        return refuse(what, "an edge is there twice");
      if (from[j] == to[i] && to[j] == from[i]) twin = j;
    }
    if (twin < 0 || face_of[twin] == face_of[i]) return refuse(what, "its faces are not closed");
    h->corners[i].neighbour = face_of[twin];
    h->corners[i].edge = twin < i ? h->corners[twin].edge : h->vertex_count + edges++;
  }
  return CN_OK;
}

// ---- what searches need ----

#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
int32_t cni_farthest_avx2(const double *rows, int32_t stride, CnVec3 direction);
int32_t cni_above_avx2(const CniColumns *columns, int32_t count, CnVec3 direction, double level);
#endif

static void choose_width(CniHull *h) {
  h->farthest = CNI_WIDE_NAME(cni_farthest);
  h->above = CNI_WIDE_NAME(cni_above);
#if defined(__x86_64__) && !defined(CNI_SIMD_OFF)
  CniSimdLevel level = cni_simd_level();
  if (level != CNI_SIMD_LEVEL_AVX2 && level != CNI_SIMD_LEVEL_AVX512) return;
  h->farthest = cni_farthest_avx2;
  h->above = cni_above_avx2;
#endif
}

static void set_column(CniColumns columns, int32_t i, CnVec3 a) {
  columns.values[i] = a.x;
  columns.values[columns.stride + i] = a.y;
  columns.values[2 * columns.stride + i] = a.z;
}

static void set_searches(CniHull *h) {
  int32_t at = 0;
  choose_width(h);
  for (int32_t v = 0; v < h->vertex_columns.stride; v++)
    set_column(h->vertex_columns, v, h->vertices[v < h->vertex_count ? v : 0]);
  for (int32_t f = 0; f < h->normal_columns.stride; f++)
    set_column(h->normal_columns, f, h->faces[f < h->face_count ? f : 0].normal);
  for (int32_t v = 0; v < h->vertex_count; v++) {
    h->first_about[v] = at;
    for (int32_t f = 0; f < h->face_count; f++)
      for (int32_t k = 0; k < h->faces[f].count; k++)
        if (h->corners[h->faces[f].first + k].vertex == v) h->about[at++] = f;
  }
  h->first_about[h->vertex_count] = at;
}

// ---- planes and mass ----

static CnVec3 vertex_of(const CniHull *h, int32_t corner) {
  return h->vertices[h->corners[corner].vertex];
}

// The normal of a polygon is the sum over its triangles (Newell); its plane is above all vertices.
static CnStatus set_planes(CniHull *h, const char *what) {
  double size = 0;
  for (int32_t v = 1; v < h->vertex_count; v++)
    size = cn_max(size, cn_norm(cn_sub(h->vertices[v], h->vertices[0])));
  for (int32_t f = 0; f < h->face_count; f++) {
    CniHullFace *face = &h->faces[f];
    CnVec3 p = vertex_of(h, face->first), n = CN_VEC3_ZERO;
    for (int32_t k = 1; k + 1 < face->count; k++) {
      CnVec3 e1 = cn_sub(vertex_of(h, face->first + k), p);
      n = cn_add(n, cn_cross(cn_scale(1 / size, e1),
                             cn_scale(1 / size, cn_sub(vertex_of(h, face->first + k + 1), p))));
    }
    double length = cn_norm(n), own = -INFINITY, low = INFINITY;
    if (!(length > 0 && isfinite(length))) return refuse(what, "a face has no normal");
    face->normal = cn_scale(1 / length, n);
    for (int32_t k = 0; k < face->count; k++) {
      double at = cn_dot(face->normal, vertex_of(h, face->first + k));
      own = cn_max(own, at);
      low = cn_min(low, at);
    }
    if (!(own - low <= ABOVE * size)) return refuse(what, "a face is not flat");
    face->height = own;
    for (int32_t v = 0; v < h->vertex_count; v++)
      face->height = cn_max(face->height, cn_dot(face->normal, h->vertices[v]));
    if (!(face->height - own <= ABOVE * size)) return refuse(what, "it is not convex");
  }
  return CN_OK;
}

static void add_square(CnSym3 *s, double w, CnVec3 a) {
  s->xx += w * a.x * a.x;
  s->yy += w * a.y * a.y;
  s->zz += w * a.z * a.z;
  s->xy += w * a.x * a.y;
  s->xz += w * a.x * a.z;
  s->yz += w * a.y * a.z;
}

static void add_tetrahedron(CnVec3 a, CnVec3 b, CnVec3 d, double *volume, CnVec3 *first,
                            CnSym3 *second) {
  double v = cn_dot(a, cn_cross(b, d)) / 6;
  CnVec3 s = cn_add(a, cn_add(b, d));
  *volume += v;
  *first = cn_madd(*first, v / 4, s);
  add_square(second, v / 20, s);
  add_square(second, v / 20, a);
  add_square(second, v / 20, b);
  add_square(second, v / 20, d);
}

static CnStatus set_mass(CniHull *h, const char *what) {
  CnVec3 c = CN_VEC3_ZERO, first = CN_VEC3_ZERO;
  CnSym3 s = {0, 0, 0, 0, 0, 0};
  for (int32_t v = 0; v < h->vertex_count; v++)
    c = cn_madd(c, 1.0 / h->vertex_count, h->vertices[v]);
  for (int32_t f = 0; f < h->face_count; f++) {
    int32_t i = h->faces[f].first;
    CnVec3 p = cn_sub(vertex_of(h, i), c);
    for (int32_t k = 1; k + 1 < h->faces[f].count; k++)
      add_tetrahedron(p, cn_sub(vertex_of(h, i + k), c), cn_sub(vertex_of(h, i + k + 1), c),
                      &h->volume, &first, &s);
  }
  if (!(h->volume > 0 && isfinite(h->volume))) return refuse(what, "it has no volume");
  CnVec3 shift = cn_scale(1 / h->volume, first);
  add_square(&s, -h->volume, shift);
  h->centre = cn_add(c, shift);
  h->inertia = (CnSym3){s.yy + s.zz, s.xx + s.zz, s.xx + s.yy, -s.xy, -s.xz, -s.yz};
  if (!(s.xx > 0 && s.yy > 0 && s.zz > 0 && isfinite(s.xx + s.yy + s.zz)))
    return refuse(what, "it has no inertia");
  h->inradius = INFINITY;
  for (int32_t f = 0; f < h->face_count; f++)
    h->inradius = cn_min(h->inradius, h->faces[f].height - cn_dot(h->faces[f].normal, h->centre));
  for (int32_t v = 0; v < h->vertex_count; v++)
    h->outradius = cn_max(h->outradius, cn_norm(h->vertices[v]));
  if (!(h->inradius > 0)) return refuse(what, "it is not convex");
  return CN_OK;
}

static CnStatus fill(CniHull *h, const char *what, const int32_t *count_of,
                     const int32_t *corner_of) {
  int32_t first = 0;
  for (int32_t f = 0; f < h->face_count; f++) {
    h->faces[f] = (CniHullFace){.first = first, .count = count_of[f]};
    first += count_of[f];
  }
  for (int32_t i = 0; i < h->corner_count; i++) h->corners[i].vertex = corner_of[i];
  CNI_TRY(join_faces(h, what));
  CNI_TRY(set_planes(h, what));
  set_searches(h);
  return set_mass(h, what);
}

CnStatus cni_hull_build(const CnAllocator *allocator, const char *what, int32_t vertex_count,
                        const CnVec3 *vertices, int32_t face_count, const int32_t *count_of,
                        const int32_t *corner_of, CniHull **hull) {
  int32_t corner_count = 0;
  *hull = NULL;
  CNI_TRY(
      check_lists(what, vertex_count, vertices, face_count, count_of, corner_of, &corner_count));
  CniHull *h = take_hull(allocator, vertex_count, face_count, corner_count);
  if (!h) return CN_NO_MEMORY;
  memcpy(h->vertices, vertices, (size_t)vertex_count * sizeof *vertices);
  CnStatus status = fill(h, what, count_of, corner_of);
  if (status == CN_OK)
    *hull = h;
  else
    cni_hull_destroy(allocator, h);
  return status;
}
