// SPDX-License-Identifier: Apache-2.0
// The convex hull of points (quickhull, Barber, Dobkin and Huhdanpaa 1996): a tetrahedron of points
// far apart; of its facets each keeps the points that are above it; the highest one of all is added,
// the facets that it sees go and a fan of new ones from it closes the hole; until no point is above.
//
// What spoils such programs is round-off: a point is above one facet and, wrongly, not above its
// neighbour. Here points are put on a grid of integers of 41 bits, on which the side of a facet that
// a point is on is computed exactly in 128 bits. Facets that a point sees are then a whole patch
// with one border, and no new facet can be flat: the next point is off the plane of every facet that
// goes. The hull's vertices are the points as given; the grid only decides.
//
// Points that are above by less than TOLERANCE are left out. Then facets of one plane become one
// face, the largest first, and vertices that are left with two faces go: they lie on an edge.
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "geometry/hull.h"

__extension__ typedef __int128 Wide;

#define GRID 2199023255552.0 // 2^41: a determinant of three differences stays below 2^127
#define TOLERANCE 2.0        // grid units, 0.9e-12 of the size
#define FLAT 1e-6            // of the size
#define ONE_PLANE 1e-7       // of the size
#define WORK_VERTICES 1024   // before facets are joined to faces
#define WORK_FACETS (2 * WORK_VERTICES)

typedef struct Grid {
  int64_t x, y, z;
} Grid;

typedef struct Facet {
  int32_t at[3];   // points, counter-clockwise seen from outside
  int32_t next[3]; // the facet beyond the edge from at[k] to at[k + 1]
  Wide normal[3];  // not of unit length
  double length;   // of the normal
  int32_t first;   // of the points above it, linked; -1: none
  int32_t top;     // the highest of them
  double height;   // of that one
  int32_t face;    // -2: not in use, -1: seen by nobody yet; later the face that it belongs to
} Facet;

typedef struct Quick {
  const CnVec3 *points;
  int32_t count;
  double size;          // of the points: the largest side of their bounds
  Grid *grid;           // per point
  int32_t *below;       // per point: the next one above the same facet; -1
  int32_t *start;       // per point: the new facet whose border edge starts there
  Facet *facets;        // WORK_FACETS
  int32_t *free;        // facets that are not in use
  int32_t *stack;       // WORK_FACETS
  int32_t *seen;        // facets that go
  int32_t (*border)[3]; // edges of what is seen: from, to, facet beyond
  int32_t facet_count, free_count, vertex_count;
} Quick;

// ---- the grid ----

static Grid minus(Grid a, Grid b) { return (Grid){a.x - b.x, a.y - b.y, a.z - b.z}; }

static void cross(Grid a, Grid b, Wide n[3]) {
  n[0] = (Wide)a.y * b.z - (Wide)a.z * b.y;
  n[1] = (Wide)a.z * b.x - (Wide)a.x * b.z;
  n[2] = (Wide)a.x * b.y - (Wide)a.y * b.x;
}

static double length(const Wide n[3]) {
  return cn_norm(cn_vec3((double)n[0], (double)n[1], (double)n[2]));
}

static Wide along(const Wide n[3], Grid d) { return n[0] * d.x + n[1] * d.y + n[2] * d.z; }

static CnStatus set_grid(Quick *q, const char *what) {
  CnVec3 lo = q->points[0], hi = lo;
  for (int32_t i = 0; i < q->count; i++) {
    CnVec3 p = q->points[i];
    if (!cn_vec3_finite(p))
      return cni_invalid("%s: point %d is not finite (%g, %g, %g)", what, (int)i, p.x, p.y, p.z);
    lo = cn_vec3(cn_min(lo.x, p.x), cn_min(lo.y, p.y), cn_min(lo.z, p.z));
    hi = cn_vec3(cn_max(hi.x, p.x), cn_max(hi.y, p.y), cn_max(hi.z, p.z));
  }
  CnVec3 d = cn_sub(hi, lo);
  q->size = cn_max(d.x, cn_max(d.y, d.z));
  if (!(q->size > 1e-90 && q->size < 1e90))
    return cni_invalid("%s: the points span no volume (their size is %g m)", what, q->size);
  for (int32_t i = 0; i < q->count; i++) {
    CnVec3 p = cn_scale(1 / q->size, cn_sub(q->points[i], lo));
    q->grid[i] = (Grid){(int64_t)(p.x * GRID + 0.5), (int64_t)(p.y * GRID + 0.5),
                        (int64_t)(p.z * GRID + 0.5)};
  }
  return CN_OK;
}

// ---- facets ----

// How far a point is above a facet, exact in sign; in grid units.
static double above(const Quick *q, const Facet *f, int32_t point) {
  return (double)along(f->normal, minus(q->grid[point], q->grid[f->at[0]])) / f->length;
}

static int32_t new_facet(Quick *q, int32_t a, int32_t b, int32_t c) {
  int32_t i = q->free_count > 0 ? q->free[--q->free_count] : q->facet_count++;
  Facet *f = &q->facets[i];
  *f = (Facet){.at = {a, b, c}, .first = -1, .top = -1, .face = -1};
  cross(minus(q->grid[b], q->grid[a]), minus(q->grid[c], q->grid[a]), f->normal);
  f->length = length(f->normal);
  return i;
}

static void give_point(Quick *q, int32_t facet, int32_t point, double height) {
  Facet *f = &q->facets[facet];
  q->below[point] = f->first;
  f->first = point;
  if (f->top < 0 || height > f->height) {
    f->top = point;
    f->height = height;
  }
}

// To the facet, of a list, that the point is highest above; to none where it is above none.
static int place_point(Quick *q, int32_t point, const int32_t *list, int32_t count) {
  int32_t best = -1;
  double most = TOLERANCE;
  for (int32_t k = 0; k < count; k++) {
    int32_t i = list ? list[k] : k;
    if (q->facets[i].face == -2) continue;
    double height = above(q, &q->facets[i], point);
    if (height > most) most = height, best = i;
  }
  if (best >= 0) give_point(q, best, point, most);
  return best >= 0;
}

// ---- a first tetrahedron ----

static double apart2(const Quick *q, int32_t a, int32_t b) {
  Grid d = minus(q->grid[a], q->grid[b]);
  return cn_norm2(cn_vec3((double)d.x, (double)d.y, (double)d.z));
}

// The point farthest from a point, a line or a plane of up to three points, and how far, grid units.
static int32_t farthest(const Quick *q, const int32_t *of, int32_t count, double *most) {
  int32_t best = 0;
  Wide n[3] = {0, 0, 0}, m[3];
  Grid e = {0, 0, 0};
  if (count > 1) e = minus(q->grid[of[1]], q->grid[of[0]]);
  if (count > 2) cross(e, minus(q->grid[of[2]], q->grid[of[0]]), n);
  *most = 0;
  for (int32_t i = 0; i < q->count; i++) {
    Grid d = minus(q->grid[i], q->grid[of[0]]);
    double far = 0;
    if (count == 1) far = sqrt(apart2(q, i, of[0]));
    if (count == 2) cross(e, d, m), far = length(m) / sqrt(apart2(q, of[0], of[1]));
    if (count == 3) far = fabs((double)along(n, d)) / length(n);
    if (far > *most) *most = far, best = i;
  }
  return best;
}

static CnStatus begin(Quick *q, const char *what) {
  static const char *const flat[4] = {"", "are one point", "lie on a line", "lie in a plane"};
  static const int32_t sides[4][3] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
  int32_t at[4] = {0, 0, 0, 0};
  double most;
  at[0] = farthest(q, at, 1, &most); // from any point
  for (int32_t n = 1; n < 4; n++) {
    at[n] = farthest(q, at, n, &most);
    if (!(most > FLAT * GRID))
      return cni_invalid("%s: the points %s (to %g m, their size is %g m): a hull has a volume",
                         what, flat[n], most / GRID * q->size, q->size);
  }
  Wide n[3];
  cross(minus(q->grid[at[1]], q->grid[at[0]]), minus(q->grid[at[2]], q->grid[at[0]]), n);
  if (along(n, minus(q->grid[at[3]], q->grid[at[0]])) > 0) {
    int32_t swap = at[1];
    at[1] = at[2];
    at[2] = swap;
  }
  for (int32_t i = 0; i < 4; i++) new_facet(q, at[sides[i][0]], at[sides[i][1]], at[sides[i][2]]);
  static const int32_t next[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
  for (int32_t i = 0; i < 4; i++) memcpy(q->facets[i].next, next[i], sizeof next[i]);
  q->vertex_count = 4;
  return CN_OK;
}

// ---- growing ----

// Facets that a point sees, from one of them on, and the border of their patch.
static int32_t look(Quick *q, int32_t point, int32_t from, int32_t *seen_count) {
  int32_t top = 0, seen = 0, edges = 0;
  q->stack[top++] = from;
  q->facets[from].face = point;
  while (top > 0) {
    int32_t i = q->stack[--top];
    q->seen[seen++] = i;
    for (int32_t k = 0; k < 3; k++) {
      Facet *f = &q->facets[i], *g = &q->facets[f->next[k]];
      if (g->face == point) continue;
      if (along(g->normal, minus(q->grid[point], q->grid[g->at[0]])) > 0) {
        g->face = point;
        q->stack[top++] = f->next[k];
      } else {
        q->border[edges][0] = f->at[k];
        q->border[edges][1] = f->at[(k + 1) % 3];
        q->border[edges++][2] = f->next[k];
      }
    }
  }
  *seen_count = seen;
  return edges;
}

static void link_facet(Facet *f, int32_t from, int32_t to, int32_t next) {
  for (int32_t k = 0; k < 3; k++)
    if (f->at[k] == from && f->at[(k + 1) % 3] == to) f->next[k] = next;
}

// Add the highest point above a facet.
static void add_point(Quick *q, int32_t facet) {
  int32_t eye = q->facets[facet].top, seen_count, left = -1;
  int32_t edges = look(q, eye, facet, &seen_count);
  for (int32_t k = 0; k < seen_count; k++) {
    Facet *f = &q->facets[q->seen[k]];
    for (int32_t p = f->first, after; p >= 0; p = after) {
      after = q->below[p];
      if (p == eye) continue;
      q->below[p] = left;
      left = p;
    }
    f->face = -2;
    q->free[q->free_count++] = q->seen[k];
  }
  for (int32_t e = 0; e < edges; e++) {
    const int32_t *edge = q->border[e];
    int32_t i = new_facet(q, edge[0], edge[1], eye);
    q->facets[i].next[0] = edge[2];
    link_facet(&q->facets[edge[2]], edge[1], edge[0], i);
    q->start[edge[0]] = i;
    q->stack[e] = i;
  }
  for (int32_t e = 0; e < edges; e++) {
    int32_t i = q->stack[e], beyond = q->start[q->facets[i].at[1]];
    q->facets[i].next[1] = beyond;
    q->facets[beyond].next[2] = i;
  }
  q->vertex_count++;
  for (int32_t p = left, after; p >= 0; p = after) {
    after = q->below[p];
    place_point(q, p, q->stack, edges);
  }
}

static CnStatus grow(Quick *q, const char *what) {
  for (int again = 1; again;) {
    // what is above no facet of a fan can still be above one farther away, by little
    again = 0;
    for (int32_t i = 0; i < q->count; i++) again |= place_point(q, i, NULL, q->facet_count);
    for (;;) {
      int32_t best = -1;
      for (int32_t i = 0; i < q->facet_count; i++) {
        const Facet *f = &q->facets[i];
        if (f->face == -2 || f->top < 0) continue;
        if (best < 0 || f->height > q->facets[best].height) best = i;
      }
      if (best < 0) break;
      if (q->vertex_count == WORK_VERTICES)
        return cni_invalid("%s: the hull of %d points has more than %d vertices", what,
                           (int)q->count, CNI_HULL_VERTICES);
      add_point(q, best);
    }
  }
  return CN_OK;
}

// ---- facets of one plane to faces ----

typedef struct Polygons {
  int32_t count, count_of[WORK_FACETS];
  int32_t *corners[WORK_FACETS]; // of each, in one list
  int32_t list[3 * WORK_FACETS];
} Polygons;

static int in_plane(const Quick *q, const Facet *f, CnVec3 n, CnVec3 p) {
  CnVec3 own = {(double)f->normal[0], (double)f->normal[1], (double)f->normal[2]};
  int flat = cn_dot(own, n) > 0;
  for (int32_t k = 0; k < 3; k++)
    flat &= fabs(cn_dot(n, cn_sub(q->points[f->at[k]], p))) <= ONE_PLANE * q->size;
  return flat;
}

// All facets around the first that lie in its plane, to face `face`.
static void gather(Quick *q, int32_t first, int32_t face) {
  const Facet *seed = &q->facets[first];
  CnVec3 p = q->points[seed->at[0]];
  CnVec3 n = {(double)seed->normal[0], (double)seed->normal[1], (double)seed->normal[2]};
  n = cn_scale(1 / seed->length, n);
  int32_t top = 0;
  q->stack[top++] = first;
  q->facets[first].face = face;
  while (top > 0) {
    const Facet *f = &q->facets[q->stack[--top]];
    for (int32_t k = 0; k < 3; k++) {
      Facet *g = &q->facets[f->next[k]];
      if (g->face != -1 || !in_plane(q, g, n, p)) continue;
      g->face = face;
      q->stack[top++] = f->next[k];
    }
  }
}

// The border of a face into the list of corners; 0: it is not one ring.
static int32_t trace(Quick *q, int32_t face, int32_t *corners) {
  int32_t edges = 0, from = -1;
  for (int32_t i = 0; i < q->count; i++) q->start[i] = -1;
  for (int32_t i = 0; i < q->facet_count; i++) {
    const Facet *f = &q->facets[i];
    for (int32_t k = 0; k < 3 && f->face == face; k++) {
      if (q->facets[f->next[k]].face == face) continue;
      if (q->start[f->at[k]] >= 0) return 0;
      q->start[f->at[k]] = f->at[(k + 1) % 3];
      from = f->at[k];
      edges++;
    }
  }
  int32_t count = 0;
  for (int32_t v = from; v >= 0 && count < edges; v = q->start[v]) {
    if (count > 0 && v == from) return 0;
    corners[count++] = v;
  }
  return count;
}

// Largest facets first. A face whose border is not one ring falls back to its facets.
static void make_faces(Quick *q, Polygons *y) {
  int32_t used = 0;
  y->count = 0;
  for (;;) {
    int32_t best = -1;
    for (int32_t i = 0; i < q->facet_count; i++) {
      const Facet *f = &q->facets[i];
      if (f->face == -1 && (best < 0 || f->length > q->facets[best].length)) best = i;
    }
    if (best < 0) break;
    gather(q, best, y->count);
    int32_t n = trace(q, y->count, y->list + used);
    if (n < 3) {
      for (int32_t i = 0; i < q->facet_count; i++)
        if (q->facets[i].face == y->count && i != best) q->facets[i].face = -1;
      memcpy(y->list + used, q->facets[best].at, sizeof q->facets[best].at);
      n = 3;
    }
    y->corners[y->count] = y->list + used;
    y->count_of[y->count++] = n;
    used += n;
  }
}

// Vertices with two faces go, and faces that are left with two vertices; 0: there were none.
static int drop_idle(Quick *q, Polygons *y) {
  int32_t *faces = q->start, dropped = 0, kept = 0;
  for (int32_t i = 0; i < q->count; i++) faces[i] = 0;
  for (int32_t f = 0; f < y->count; f++)
    for (int32_t k = 0; k < y->count_of[f]; k++) faces[y->corners[f][k]]++;
  for (int32_t f = 0; f < y->count; f++) {
    int32_t n = 0, *corners = y->corners[f];
    for (int32_t k = 0; k < y->count_of[f]; k++)
      if (faces[corners[k]] > 2) corners[n++] = corners[k];
    dropped |= n < y->count_of[f] || n < 3;
    if (n < 3) continue;
    y->corners[kept] = corners;
    y->count_of[kept++] = n;
  }
  y->count = kept;
  return dropped;
}

// The vertices that are left, numbered as the points were given.
static CnStatus finish(Quick *q, Polygons *y, const CnAllocator *allocator, const char *what,
                       CniHull **hull) {
  CnVec3 vertices[CNI_HULL_VERTICES];
  int32_t *number = q->start, count = 0, used = 0;
  make_faces(q, y);
  while (drop_idle(q, y)) continue;
  for (int32_t i = 0; i < q->count; i++) number[i] = -1;
  for (int32_t f = 0; f < y->count; f++)
    for (int32_t k = 0; k < y->count_of[f]; k++) number[y->corners[f][k]] = 0;
  for (int32_t i = 0; i < q->count; i++) {
    if (number[i] < 0) continue;
    if (count == CNI_HULL_VERTICES)
      return cni_invalid("%s: the hull of %d points has more than %d vertices", what, (int)q->count,
                         CNI_HULL_VERTICES);
    vertices[count] = q->points[i];
    number[i] = count++;
  }
  for (int32_t f = 0; f < y->count; f++)
    for (int32_t k = 0; k < y->count_of[f]; k++) y->list[used++] = number[y->corners[f][k]];
  return cni_hull_build(allocator, what, count, vertices, y->count, y->count_of, y->list, hull);
}

static CnStatus make(Quick *q, CniArena *arena, const CnAllocator *allocator, const char *what,
                     CniHull **hull) {
  size_t points = (size_t)q->count * sizeof(int32_t), work = WORK_FACETS * sizeof(int32_t);
  Polygons *y = cni_arena_take(arena, sizeof *y);
  q->grid = cni_arena_take(arena, (size_t)q->count * sizeof *q->grid);
  q->below = cni_arena_take(arena, points);
  q->start = cni_arena_take(arena, points);
  q->facets = cni_arena_take(arena, WORK_FACETS * sizeof *q->facets);
  q->free = cni_arena_take(arena, work);
  q->stack = cni_arena_take(arena, work);
  q->seen = cni_arena_take(arena, work);
  q->border = cni_arena_take(arena, WORK_FACETS * sizeof *q->border);
  if (!y || !q->grid || !q->below || !q->start || !q->facets || !q->free || !q->stack || !q->seen ||
      !q->border)
    return cni_error_memory(points);
  CNI_TRY(set_grid(q, what));
  CNI_TRY(begin(q, what));
  CNI_TRY(grow(q, what));
  return finish(q, y, allocator, what, hull);
}

CnStatus cni_hull_create(const CnAllocator *allocator, const char *what, const CnVec3 *points,
                         int32_t count, CniHull **hull) {
  *hull = NULL;
  if (count < 4 || count > CNI_HULL_POINTS)
    return cni_invalid("%s: a hull needs 4 to %d points (got %d)", what, CNI_HULL_POINTS,
                       (int)count);
  Quick q = {.points = points, .count = count};
  CniArena arena;
  cni_arena_init(&arena, allocator);
  CnStatus status = make(&q, &arena, allocator, what, hull);
  cni_arena_release(&arena);
  return status;
}
