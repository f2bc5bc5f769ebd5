// SPDX-License-Identifier: Apache-2.0
// A mesh from lists of vertices and triangles.
//
// Vertices that are equal count as one where neighbours are looked for, so that what comes from files
// that list corners triangle by triangle is whole. Two triangles are neighbours if they run along
// their edge in opposite directions and nobody else has it.
//
// A flat face is grown from its largest triangle over all neighbours that lie in its plane, to 1e-7 of
// the size of the mesh, which is what single precision leaves of flat, and look its way to 1e-3 rad.
// Contacts on it have one normal, whatever triangle they are on.
#include <string.h>

#include "core/error.h"
#include "core/hash.h"
#include "core/sort.h"
#include "geometry/mesh.h"

#define FLAT 1e-7         // of the size
#define ALIGNED 0.9999995 // cosine of 1e-3
#define NO_AREA 1e-12     // of the square of the longest side

CnMeshDef cn_mesh_def_default(void) {
  return (CnMeshDef){.size = sizeof(CnMeshDef), .tag = CNI_TAG_MESH};
}

// ---- what is given ----

static CnStatus check_triangle(const char *what, const CnMeshDef *def, int32_t t) {
  const int32_t *c = &def->triangles[3 * (size_t)t];
  CniTriangle at;
  double longest2 = 0;
  for (int32_t k = 0; k < 3; k++) {
    if (c[k] < 0 || c[k] >= def->vertex_count)
      return cni_invalid("%s: triangle %d has vertex %d of %d", what, (int)t, (int)c[k],
                         (int)def->vertex_count);
    at.at[k] = def->vertices[c[k]];
  }
  for (int32_t k = 0; k < 3; k++)
    longest2 = cn_max(longest2, cn_norm2(cn_sub(at.at[k], at.at[k < 2 ? k + 1 : 0])));
  if (!(cn_norm(cni_triangle_area(&at)) > NO_AREA * longest2))
    return cni_invalid("%s: triangle %d (%d, %d, %d) has no area", what, (int)t, (int)c[0],
                       (int)c[1], (int)c[2]);
  return CN_OK;
}

static CnStatus check(const char *what, const CnMeshDef *def) {
  if (!def->vertices || !def->triangles)
    return cni_invalid("%s: a mesh needs vertices and triangles", what);
  if (def->vertex_count < 3 || def->triangle_count < 1 || def->triangle_count > CNI_MESH_TRIANGLES)
    return cni_invalid("%s: a mesh has 3 or more vertices and 1 to %d triangles (got %d and %d)",
                       what, CNI_MESH_TRIANGLES, (int)def->vertex_count, (int)def->triangle_count);
  if (!(def->thickness >= 0 && def->thickness < 1e100))
    return cni_invalid("%s: thickness must be finite and not negative (got %g)", what,
                       def->thickness);
  for (int32_t i = 0; i < def->vertex_count; i++) {
    CnVec3 v = def->vertices[i];
    if (!(fabs(v.x) < 1e30 && fabs(v.y) < 1e30 && fabs(v.z) < 1e30))
      return cni_invalid("%s: vertex %d must be finite and below 1e30 (got %g, %g, %g)", what,
                         (int)i, v.x, v.y, v.z);
  }
  for (int32_t t = 0; t < def->triangle_count; t++) CNI_TRY(check_triangle(what, def, t));
  return CN_OK;
}

// ---- memory: all in one piece ----

static void *part(char **at, size_t bytes) {
  void *here = *at;
  *at += (bytes + 63) / 64 * 64;
  return here;
}

static CnStatus make_room(const CnAllocator *allocator, const CnMeshDef *def, CniMesh **mesh) {
  size_t n = (size_t)def->triangle_count, v = (size_t)def->vertex_count;
  CniMesh shape = {.vertex_count = def->vertex_count, .triangle_count = def->triangle_count};
  size_t boxes = (size_t)cni_mesh_levels(def->triangle_count, &shape);
  shape.bytes = sizeof(CniMesh) + v * sizeof(CnVec3) + 8 * n * sizeof(int32_t) + n +
                6 * boxes * sizeof(float) + 8 * 64;
  CNI_TRY(cni_new(allocator, shape.bytes, mesh));
  char *at = (char *)*mesh;
  part(&at, sizeof(CniMesh));
  shape.vertices = part(&at, v * sizeof(CnVec3));
  shape.corners = part(&at, 3 * n * sizeof(int32_t));
  shape.neighbours = part(&at, 3 * n * sizeof(int32_t));
  shape.seeds = part(&at, n * sizeof(int32_t));
  shape.order = part(&at, n * sizeof(int32_t));
  shape.boxes = part(&at, 6 * boxes * sizeof(float));
  shape.edges = part(&at, n);
  **mesh = shape;
  return CN_OK;
}

// ---- neighbours ----

// Of equal vertices the first.
static CnStatus weld(const CniMesh *m, CnTasks *tasks, CniArena *arena, int32_t **first) {
  CniSort sort;
  int32_t n = m->vertex_count;
  CNI_TRY(CNI_TAKE(arena, n, *first));
  CniArenaMark mark = cni_arena_mark(arena);
  CNI_TRY(cni_sort_init(&sort, arena, n));
  for (int32_t i = 0; i < n; i++) {
    sort.keys[i] = cni_hash_doubles(CNI_HASH_START, &m->vertices[i].x, 3);
    sort.values[i] = i;
  }
  CNI_TRY(cni_sort_keys_shared(&sort, arena, tasks, n, 64));
  for (int32_t i = 0, leader = 0; i < n; i++) {
    if (sort.keys[i] != sort.keys[leader]) leader = i;
    CnVec3 p = m->vertices[sort.values[i]], q = m->vertices[sort.values[leader]];
    int same = p.x == q.x && p.y == q.y && p.z == q.z;
    (*first)[sort.values[i]] = sort.values[same ? leader : i];
  }
  cni_arena_back(arena, mark);
  return CN_OK;
}

// The sides [begin, end) of one edge, each a triangle and its edge.
static void join_sides(CniMesh *m, const int32_t *first, const int32_t *sides, int32_t count) {
  int32_t forward = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t t = sides[i] / 3, k = sides[i] % 3;
    const int32_t *c = &m->corners[3 * (size_t)t];
    forward += first[c[k]] < first[c[k < 2 ? k + 1 : 0]];
  }
  if (2 * forward != count) m->closed = 0;
  if (count != 2 || (forward != 1 && !m->two_sided)) return;
  m->neighbours[sides[0]] = sides[1] / 3;
  m->neighbours[sides[1]] = sides[0] / 3;
}

static CnStatus find_neighbours(CniMesh *m, CnTasks *tasks, CniArena *arena) {
  int32_t *first, count = 3 * m->triangle_count, bits = cni_bit_count((uint64_t)m->vertex_count);
  CniSort sort;
  CNI_TRY(weld(m, tasks, arena, &first));
  CNI_TRY(cni_sort_init(&sort, arena, count));
  for (int32_t i = 0; i < count; i++) {
    int32_t p = first[m->corners[i]], q = first[m->corners[i % 3 < 2 ? i + 1 : i - 2]];
    uint64_t low = (uint64_t)(p < q ? p : q), high = (uint64_t)(p < q ? q : p);
    sort.keys[i] = low << bits | high;
    sort.values[i] = i;
    m->neighbours[i] = -1;
  }
  CNI_TRY(cni_sort_keys_shared(&sort, arena, tasks, count, 2 * bits));
  m->closed = 1;
  for (int32_t i = 0, next; i < count; i = next) {
    for (next = i + 1; next < count && sort.keys[next] == sort.keys[i];) next++;
    join_sides(m, first, &sort.values[i], next - i);
    m->edge_count++;
  }
  return CN_OK;
}

// ---- flat faces ----

typedef struct Plane {
  CnVec3 normal, point;
  double flat; // how far from it is still in it, m
} Plane;

static int lies_in(const CniMesh *m, int32_t t, const Plane *plane) {
  CniTriangle at = cni_mesh_triangle(m, t);
  CnVec3 area = cni_triangle_area(&at);
  double along = cn_dot(area, plane->normal);
  if (!((m->two_sided ? fabs(along) : along) > ALIGNED * cn_norm(area))) return 0;
  for (int32_t k = 0; k < 3; k++)
    if (!(fabs(cn_dot(plane->normal, cn_sub(at.at[k], plane->point))) <= plane->flat)) return 0;
  return 1;
}

static double size_of(const CniMesh *m) {
  CnVec3 d = cn_sub(m->hi, m->lo);
  return cn_max(d.x, cn_max(d.y, d.z));
}

static CnStatus find_faces(CniMesh *m, CnTasks *tasks, CniArena *arena) {
  int32_t n = m->triangle_count, *open;
  CniSort sort;
  CNI_TRY(CNI_TAKE(arena, n, open));
  CNI_TRY(cni_sort_init(&sort, arena, n));
  for (int32_t t = 0; t < n; t++) {
    CniTriangle at = cni_mesh_triangle(m, t);
    sort.keys[t] = ~cni_double_key(cn_norm2(cni_triangle_area(&at)));
    sort.values[t] = t;
    m->seeds[t] = -1;
  }
  CNI_TRY(cni_sort_keys_shared(&sort, arena, tasks, n, 64));
  for (int32_t i = 0; i < n; i++) {
    int32_t seed = sort.values[i], count = 1;
    if (m->seeds[seed] >= 0) continue;
    Plane plane = {.flat = FLAT * size_of(m)};
    m->seeds[seed] = open[0] = seed;
    plane.normal = cni_mesh_plane(m, seed, &plane.point);
    while (count > 0) {
      int32_t t = open[--count];
      for (int32_t k = 0; k < 3; k++) {
        int32_t u = m->neighbours[3 * (size_t)t + (size_t)k];
        if (u < 0 || m->seeds[u] >= 0 || !lies_in(m, u, &plane)) continue;
        m->seeds[u] = seed;
        open[count++] = u;
      }
    }
  }
  return CN_OK;
}

CniMeshEdge cni_mesh_bend_at(const CniMesh *m, int32_t t, int32_t k) {
  int32_t u = cni_mesh_neighbour(m, t, k);
  if (u < 0) return CNI_EDGE_BORDER;
  if (cni_mesh_seed(m, t) == cni_mesh_seed(m, u)) return CNI_EDGE_FLAT;
  // the corner beyond is below or above
  CniTriangle own = cni_mesh_triangle(m, t), other = cni_mesh_triangle(m, u);
  CnVec3 n = cni_triangle_area(&own);
  double far = 0, flat = FLAT * size_of(m);
  for (int32_t i = 0; i < 3; i++) {
    double up = cn_dot(n, cn_sub(other.at[i], own.at[k]));
    if (fabs(up) > fabs(far)) far = up;
  }
  // by more than twice of what is flat it is in no plane that is near
  if (!(far * far > 4 * flat * flat * cn_norm2(n))) {
    Plane plane = {.flat = flat};
    plane.normal = cni_mesh_plane(m, t, &plane.point);
    if (lies_in(m, u, &plane)) return CNI_EDGE_FLAT;
  }
  return far > 0 ? CNI_EDGE_CONCAVE : CNI_EDGE_CONVEX;
}

static void find_bends(void *context, int32_t begin, int32_t end) {
  CniMesh *m = context;
  for (int32_t t = begin; t < end; t++) {
    unsigned bits = 0;
    for (int32_t k = 0; k < 3; k++) bits |= (unsigned)cni_mesh_bend_at(m, t, k) << (2 * k);
    m->edges[t] = (uint8_t)bits;
  }
}

// ---- all of it ----

static void take_lists(CniMesh *m, const CnMeshDef *def) {
  memcpy(m->vertices, def->vertices, (size_t)def->vertex_count * sizeof(CnVec3));
  memcpy(m->corners, def->triangles, 3 * (size_t)def->triangle_count * sizeof(int32_t));
  m->two_sided = def->two_sided != 0;
  m->radius = 0.5 * def->thickness;
  CnVec3 first = m->vertices[m->corners[0]], lo = first, hi = first;
  for (int32_t i = 0; i < 3 * m->triangle_count; i++) {
    CnVec3 v = m->vertices[m->corners[i]];
    lo = cn_vec3(cn_min(lo.x, v.x), cn_min(lo.y, v.y), cn_min(lo.z, v.z));
    hi = cn_vec3(cn_max(hi.x, v.x), cn_max(hi.y, v.y), cn_max(hi.z, v.z));
    m->outradius = cn_max(m->outradius, cn_norm2(v));
  }
  m->outradius = sqrt(m->outradius) + m->radius;
  m->lo = lo;
  m->hi = hi;
  m->origin = cn_scale(0.5, cn_add(lo, hi));
}

CnStatus cni_mesh_create(const CnAllocator *allocator, CnTasks *tasks, const char *what,
                         const CnMeshDef *def, CniMesh **mesh) {
  *mesh = NULL;
  CNI_TRY(check(what, def));
  CniMesh *m;
  CNI_TRY(make_room(allocator, def, &m));
  take_lists(m, def);
  CniArena arena;
  cni_arena_init(&arena, allocator);
  CnStatus status = find_neighbours(m, tasks, &arena);
  cni_arena_release(&arena);
  cni_arena_init(&arena, allocator);
  if (status == CN_OK) status = find_faces(m, tasks, &arena);
  cni_arena_release(&arena);
  if (status == CN_OK) status = cni_mesh_grow_tree(allocator, tasks, m);
  if (status != CN_OK) {
    cni_mesh_destroy(allocator, m);
    return status;
  }
  cni_parallel_for(tasks, m->triangle_count, CNI_MESH_A_TASK, find_bends, m);
  cni_mesh_weigh(m);
  *mesh = m;
  return CN_OK;
}

void cni_mesh_destroy(const CnAllocator *allocator, CniMesh *mesh) {
  if (mesh) cni_release(allocator, mesh, mesh->bytes);
}
