// SPDX-License-Identifier: Apache-2.0
// Which way the triangles of a mesh look.
//
// Two triangles that share an edge look the same way if they run along it in opposite directions. From
// the first triangle of a piece the rest is reached over edges that have two triangles; of the two sorts
// that come of it, those that look as the first does and the others, the smaller one is wrong. A closed
// piece of negative volume is inside out, unless it is a cavity: an odd number of closed pieces is about
// it, counted along a ray.
#include "io/meshes/mesh_private.h"

#include "io/meshes/mesh_steps.h"

#define MOST_RAYS 1000 // pieces that may be cavities; more are believed

typedef struct Piece {
  int32_t triangles, against; // how many, and how many look against the first
  int32_t open;               // 1: it has an edge without two triangles that fit
  int32_t inside_out;
  double volume;
} Piece;

typedef struct Look {
  CniMeshData *mesh;
  CniMeshSides sides;
  int32_t *edge_of; // a side
  int32_t *piece;   // of a triangle, -1: not reached yet
  int8_t *turned;   // a triangle: it is to be turned
  Piece *pieces;
} Look;

// ---- edges ----

CnStatus cni_mesh_find_sides(const CniMeshData *mesh, CniArena *arena, CniMeshSides *sides) {
  CniSort sort;
  int32_t count = 3 * mesh->triangle_count, bits = cni_bit_count((uint64_t)mesh->vertex_count);
  CNI_TRY(cni_sort_init(&sort, arena, count));
  for (int32_t i = 0; i < count; i++) {
    int32_t p = cni_mesh_side_from(mesh, i), q = mesh->triangles[i / 3][(i % 3 + 1) % 3];
    uint64_t low = (uint64_t)(p < q ? p : q), high = (uint64_t)(p < q ? q : p);
    sort.keys[i] = low << bits | high;
    sort.values[i] = i;
  }
  cni_sort_keys(&sort, count, 2 * bits);
  sides->side = sort.values;
  sides->edge_count = 0;
  CNI_TRY(CNI_TAKE(arena, (int64_t)count + 1, sides->first));
  for (int32_t i = 0; i < count; i++)
    if (i == 0 || sort.keys[i] != sort.keys[i - 1]) sides->first[sides->edge_count++] = i;
  sides->first[sides->edge_count] = count;
  return CN_OK;
}

static int32_t sides_at(const Look *l, int32_t edge) {
  return l->sides.first[edge + 1] - l->sides.first[edge];
}

// The triangle beyond a side of an edge that has two, -1 otherwise; whether the two run the same way.
static int32_t beyond(const Look *l, int32_t side, int *against) {
  int32_t edge = l->edge_of[side];
  if (sides_at(l, edge) != 2) return -1;
  const int32_t *s = &l->sides.side[l->sides.first[edge]];
  int32_t other = s[0] == side ? s[1] : s[0];
  *against = cni_mesh_side_from(l->mesh, s[0]) == cni_mesh_side_from(l->mesh, s[1]);
  return other / 3;
}

// ---- pieces ----

static void reach(Look *l, int32_t seed, int32_t piece, int32_t *open) {
  Piece *p = &l->pieces[piece];
  int32_t count = 1;
  *p = (Piece){0};
  open[0] = seed;
  l->piece[seed] = piece;
  while (count > 0) {
    int32_t t = open[--count];
    p->triangles++;
    p->against += l->turned[t];
    for (int32_t k = 0; k < 3; k++) {
      int against = 0;
      int32_t u = beyond(l, 3 * t + k, &against);
      if (u < 0 || l->piece[u] >= 0) continue;
      l->piece[u] = piece;
      l->turned[u] = (int8_t)(l->turned[t] ^ against);
      open[count++] = u;
    }
  }
}

// The smaller sort of each piece is the one to be turned.
static void side_with_most(Look *l) {
  for (int32_t t = 0; t < l->mesh->triangle_count; t++) {
    const Piece *p = &l->pieces[l->piece[t]];
    if (2 * p->against > p->triangles) l->turned[t] ^= 1;
  }
}

// An edge is whole if as many triangles run along it one way as the other.
static int is_whole(const Look *l, int32_t edge) {
  int32_t balance = 0;
  for (int32_t i = l->sides.first[edge]; i < l->sides.first[edge + 1]; i++) {
    int32_t side = l->sides.side[i], from = cni_mesh_side_from(l->mesh, side);
    int32_t to = l->mesh->triangles[side / 3][(side % 3 + 1) % 3];
    balance += (from < to) != l->turned[side / 3] ? 1 : -1;
  }
  return balance == 0;
}

static void count_edges(Look *l, CniMeshFaults *f) {
  f->edges = l->sides.edge_count;
  f->closed = 1;
  for (int32_t e = 0; e < l->sides.edge_count; e++) {
    int32_t count = sides_at(l, e), first = l->sides.side[l->sides.first[e]] / 3;
    f->lone_edges += count == 1;
    f->crowded_edges += count > 2;
    if (count == 1 && (f->first_lone < 0 || first < f->first_lone)) f->first_lone = first;
    if (is_whole(l, e)) continue;
    f->twisted_edges += count == 2;
    f->closed = 0;
    for (int32_t i = l->sides.first[e]; i < l->sides.first[e + 1]; i++)
      l->pieces[l->piece[l->sides.side[i] / 3]].open = 1;
  }
}

// ---- inside out ----

static void weigh(Look *l) {
  const CniMeshData *m = l->mesh;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    CnVec3 o = m->vertices[0], a = cn_sub(m->vertices[m->triangles[t][0]], o);
    CnVec3 b = cn_sub(m->vertices[m->triangles[t][1]], o);
    CnVec3 c = cn_sub(m->vertices[m->triangles[t][2]], o);
    double v = cn_dot(a, cn_cross(b, c));
    l->pieces[l->piece[t]].volume += l->turned[t] ? -v : v;
  }
}

// Is an odd number of other closed pieces about the first corner of the piece?
static int is_cavity(const Look *l, int32_t piece, int32_t triangle) {
  const CniMeshData *m = l->mesh;
  CnVec3 from = m->vertices[m->triangles[triangle][0]], along = {0.5377, 0.6823, 0.4954};
  int32_t count = 0;
  for (int32_t t = 0; t < m->triangle_count; t++)
    if (l->piece[t] != piece && !l->pieces[l->piece[t]].open)
      count += cni_mesh_ray_crosses(m, t, from, along);
  return count % 2;
}

static void find_inside_out(Look *l) {
  int32_t rays = 0;
  int32_t n = l->mesh->triangle_count;
  for (int32_t t = 0, last = -1; t < n; t++) {
    int32_t i = l->piece[t]; // pieces are numbered by their first triangles
    if (i <= last) continue;
    last = i;
    Piece *p = &l->pieces[i];
    if (p->open || !(p->volume < 0) || rays++ >= MOST_RAYS) continue;
    p->inside_out = !is_cavity(l, i, t);
  }
  for (int32_t t = 0; t < n; t++)
    if (l->pieces[l->piece[t]].inside_out) l->turned[t] ^= 1;
}

// ---- all of it ----

static CnStatus prepare(Look *l, CniArena *arena) {
  int32_t n = l->mesh->triangle_count;
  CNI_TRY(cni_mesh_find_sides(l->mesh, arena, &l->sides));
  CNI_TRY(CNI_TAKE(arena, 3 * (int64_t)n, l->edge_of));
  CNI_TRY(CNI_TAKE(arena, n, l->piece));
  CNI_TRY(CNI_TAKE(arena, n, l->pieces));
  CNI_TRY(cni_arena_array(arena, n, 1, &l->turned));
  for (int32_t e = 0; e < l->sides.edge_count; e++)
    for (int32_t i = l->sides.first[e]; i < l->sides.first[e + 1]; i++)
      l->edge_of[l->sides.side[i]] = e;
  return CN_OK;
}

CnStatus cni_mesh_look(CniMeshData *mesh, CniArena *arena, int32_t turn, CniMeshFaults *faults) {
  Look l = {.mesh = mesh};
  int32_t *open, n = mesh->triangle_count;
  CNI_TRY(prepare(&l, arena));
  CNI_TRY(CNI_TAKE(arena, n, open));
  for (int32_t t = 0; t < n; t++) l.piece[t] = -1;
  for (int32_t t = 0; t < n; t++)
    if (l.piece[t] < 0) reach(&l, t, faults->pieces++, open);
  side_with_most(&l);
  count_edges(&l, faults);
  weigh(&l);
  find_inside_out(&l);
  for (int32_t t = 0; t < n; t++) {
    if (!l.turned[t]) continue;
    if (faults->flipped++ == 0) faults->first_flipped = t;
    if (turn) CNI_SWAP(int32_t, mesh->triangles[t][1], mesh->triangles[t][2]);
  }
  if (faults->flipped > 0 && !turn) faults->closed = 0;
  return CN_OK;
}
