// SPDX-License-Identifier: Apache-2.0
// Convex parts of a solid, approximately.
//
// The solid is cut by planes, again and again that cell which gains most, along that one of some planes
// which leaves the hulls of its halves smallest and least hollow (parts.h). Cells are convex and do not overlap,
// and the hull of what is in a cell stays within it: the parts do not overlap either, and what they
// enclose beyond the solid is the sum of their volumes less the solid's. Cutting ends where that is a
// small enough share, where four times as many cells are there as parts are allowed, or where no cut helps.
// Then parts that make one convex part together are joined again (parts_merge.c).
//
// Only sums, products, quotients and square roots decide, on exact hulls: the same parts on every
// machine. Reference for the idea: Wei and others, Approximate convex decomposition with
// collision-aware concavity, 2022.
#include "io/parts/mesh_parts.h"

#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "io/parts/parts.h"

#define NOTHING 1e-9 // of the mesh's volume: a part or a gain so small is none
#define HINT 0.1

typedef struct Search {
  CniCutter cutter;
  CniReflex *edges;
  int32_t edge_count;
  CniCell cells[CNI_MESH_PARTS];
  int32_t count;
  double volume; // of the mesh
} Search;

void cni_mesh_parts_release(CniMeshParts *parts) {
  CNI_RELEASE(&parts->allocator, parts->points, parts->point_capacity);
  *parts = (CniMeshParts){.allocator = parts->allocator};
}

// ---- cutting ----

// What a part costs: the volume of its hull, and as a hint of what can be gained later how hollow it is.
static double cost_of(const CniCell *cell) { return cell->volume + HINT * cell->hollow; }

static CnStatus try_cut(Search *s, const CniCell *cell, CniCut cut, double *cost) {
  CniArena *arena = &s->cutter.trial;
  CniArenaMark mark = cni_arena_mark(arena);
  CniCell low, high;
  CNI_TRY(cni_cell_cut(&s->cutter, cell, cut, arena, &low));
  CNI_TRY(cni_cell_cut(&s->cutter, cell, cni_cut_other(cut), arena, &high));
  *cost = INFINITY;
  if (low.count > 0 && high.count > 0) {
    CNI_TRY(cni_cell_measure(&s->cutter, &low, arena));
    CNI_TRY(cni_cell_measure(&s->cutter, &high, arena));
    // a flat one: nothing is cut off
    if (low.volume > 0 && high.volume > 0) *cost = cost_of(&low) + cost_of(&high);
  }
  cni_arena_back(arena, mark);
  return CN_OK;
}

// What is left after two cuts across the middle, along two axes: a ring gains nothing by one.
static CnStatus try_two(Search *s, const CniCell *cell, const CniCut pair[2], double *cost) {
  CniArena *arena = &s->cutter.trial;
  CniArenaMark mark = cni_arena_mark(arena);
  *cost = 0;
  for (int32_t k = 0; k < 4; k++) {
    CniCell half, quarter;
    CniCut first = k & 1 ? cni_cut_other(pair[0]) : pair[0];
    CniCut second = k & 2 ? cni_cut_other(pair[1]) : pair[1];
    CNI_TRY(cni_cell_cut(&s->cutter, cell, first, arena, &half));
    CNI_TRY(cni_cell_cut(&s->cutter, &half, second, arena, &quarter));
    if (quarter.count == 0) continue;
    CNI_TRY(cni_cell_measure(&s->cutter, &quarter, arena));
    *cost += cost_of(&quarter);
  }
  cni_arena_back(arena, mark);
  return CN_OK;
}

static CnStatus find_two(Search *s, CniCell *cell, const CniCut *across) {
  double least = cost_of(cell), cost;
  for (int32_t k = 0; k < 3 && cell->plane_count + 2 <= CNI_CELL_PLANES; k++) {
    CniCut pair[2] = {across[k], across[(k + 1) % 3]};
    CNI_TRY(try_two(s, cell, pair, &cost));
    if (!((least - cost) / 2 > cell->gain)) continue;
    cell->gain = (least - cost) / 2;
    cell->best = pair[0];
  }
  return CN_OK;
}

// Where a cell is cut best.
static CnStatus find_cut(Search *s, CniCell *cell) {
  CniCut cuts[CNI_CUTS];
  int32_t count;
  double least = cost_of(cell), cost;
  cell->gain = 0;
  if (cell->plane_count == CNI_CELL_PLANES || !(cell->hollow > NOTHING * s->volume)) return CN_OK;
  CNI_TRY(cni_cell_cuts(&s->cutter, cell, s->edges, s->edge_count, cuts, &count));
  for (int32_t i = 0; i < count; i++) {
    CNI_TRY(try_cut(s, cell, cuts[i], &cost));
    if (!(least - cost > cell->gain)) continue;
    cell->gain = least - cost;
    cell->best = cuts[i];
  }
  CniCut across[3];
  for (int32_t k = 0; k < 3; k++)
    across[k] = cuts[count - 3 * CNI_CUTS_ALONG + k * CNI_CUTS_ALONG + CNI_CUTS_ALONG / 2];
  return find_two(s, cell, across);
}

// The part of a cell on one side of its best cut.
static CnStatus make_cell(Search *s, const CniCell *from, CniCut cut, CniCell *cell) {
  CniArenaMark mark = cni_arena_mark(&s->cutter.trial);
  CNI_TRY(cni_cell_cut(&s->cutter, from, cut, &s->cutter.kept, cell));
  CNI_TRY(cni_cell_measure(&s->cutter, cell, &s->cutter.trial));
  CNI_TRY(cni_cell_volume(&s->cutter, cell, &s->cutter.trial, &cell->full));
  cni_arena_back(&s->cutter.trial, mark);
  return find_cut(s, cell);
}

static CnStatus cut_all(Search *s, int32_t most, double error) {
  for (;;) {
    int32_t next = 0;
    double volume = 0;
    for (int32_t i = 0; i < s->count; i++) {
      volume += s->cells[i].full;
      if (s->cells[i].gain > s->cells[next].gain) next = i;
    }
    if (!(s->cells[next].gain > NOTHING * s->volume) || s->count >= most ||
        volume - s->volume <= error * s->volume)
      return CN_OK;
    CniCell cell = s->cells[next];
    CNI_TRY(make_cell(s, &cell, cell.best, &s->cells[next]));
    CNI_TRY(make_cell(s, &cell, cni_cut_other(cell.best), &s->cells[s->count++]));
  }
}

// ---- the parts ----

static CnStatus add_part(Search *s, const CniCell *cell, const char *name, CniMeshParts *parts) {
  CniArena *arena = &s->cutter.trial;
  CniArenaMark mark = cni_arena_mark(arena);
  CniMeshData cloud = {.allocator = parts->allocator};
  CnVec3 chosen[CNI_HULL_VERTICES];
  int32_t count;
  double outside = 0;
  CNI_TRY(cni_cell_points(&s->cutter, cell, arena, &cloud.vertices, &cloud.vertex_count));
  CnStatus status = cni_mesh_hull_points(&cloud, name, chosen, &count, &outside);
  cni_arena_back(arena, mark);
  if (status == CN_INVALID_ARGUMENT) return CN_OK; // flat: cut off by rounding
  CNI_TRY(status);
  CNI_TRY(CNI_RESERVE(&parts->allocator, parts->points, parts->point_capacity, parts->point_count,
                      parts->point_count + count));
  memcpy(parts->points + parts->point_count, chosen, (size_t)count * sizeof *chosen);
  parts->point_count += count;
  parts->first[++parts->count] = parts->point_count;
  parts->outside = cn_max(parts->outside, outside);
  return CN_OK;
}

CnStatus cni_parts_volume(CniMeshParts *parts) {
  parts->volume = 0;
  for (int32_t i = 0; i < parts->count; i++) {
    CniHull *hull;
    CNI_TRY(cni_hull_create(&parts->allocator, "part", parts->points + parts->first[i],
                            parts->first[i + 1] - parts->first[i], &hull));
    parts->volume += hull->volume;
    cni_hull_destroy(&parts->allocator, hull);
  }
  return CN_OK;
}

double cni_parts_mesh_volume(const CniMeshData *m) {
  CnVec3 o = m->vertices[m->triangles[0][0]];
  double volume = 0;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    CnVec3 p[3];
    for (int32_t k = 0; k < 3; k++) p[k] = cn_sub(m->vertices[m->triangles[t][k]], o);
    volume += cn_dot(p[0], cn_cross(p[1], p[2])) / 6;
  }
  return volume;
}

static CnStatus begin(Search *s) {
  const CniMeshData *m = s->cutter.mesh;
  CniCell *cell = &s->cells[0];
  CnVec3 o = m->vertices[m->triangles[0][0]], far = CN_VEC3_ZERO;
  s->count = 1;
  *cell = (CniCell){.count = m->triangle_count};
  CNI_TRY(CNI_TAKE(&s->cutter.kept, m->triangle_count, cell->triangles));
  for (int32_t t = 0; t < m->triangle_count; t++)
    for (int32_t k = 0; k < 3; k++) {
      CnVec3 p = cn_sub(m->vertices[m->triangles[t][k]], o);
      cell->triangles[t].at[k] = m->vertices[m->triangles[t][k]];
      far = cn_vec3(cn_max(far.x, fabs(p.x)), cn_max(far.y, fabs(p.y)), cn_max(far.z, fabs(p.z)));
    }
  s->volume = cni_parts_mesh_volume(m);
  s->cutter.size = cn_max(far.x, cn_max(far.y, far.z));
  CNI_TRY(cni_inside_make(m, &s->cutter.kept, &s->cutter.inside));
  CNI_TRY(cni_find_reflex(m, &s->cutter.kept, &s->edges, &s->edge_count));
  CNI_TRY(cni_cell_measure(&s->cutter, cell, &s->cutter.trial));
  CNI_TRY(cni_cell_volume(&s->cutter, cell, &s->cutter.trial, &cell->full));
  return find_cut(s, cell);
}

// The parts of the cells so far, few enough.
static CnStatus collect(Search *s, const char *name, int32_t most, CniMeshParts *parts) {
  parts->mesh_volume = s->volume;
  for (int32_t i = 0; i < s->count; i++)
    if (s->cells[i].volume > NOTHING * s->volume) CNI_TRY(add_part(s, &s->cells[i], name, parts));
  CNI_TRY(cni_parts_merge(&s->cutter, parts, most));
  CNI_TRY(cni_parts_depth(&s->cutter, parts));
  return cni_parts_volume(parts);
}

static CnStatus search(Search *s, const char *name, int32_t most, double error,
                       CniMeshParts *parts) {
  CNI_TRY(begin(s));
  if (!(s->volume > 0))
    return cni_bad_data("%s: encloses nothing, so it has no convex parts (its volume is %g)", name,
                        s->volume);
  // volumes of cells with very many corners are estimates, and low: where that shows, more is cut
  for (double aim = error; aim > error / 10; aim /= 2) {
    int32_t before = s->count;
    CNI_TRY(cut_all(s, most, aim));
    if (aim < error && s->count == before) continue;
    cni_mesh_parts_release(parts);
    CNI_TRY(collect(s, name, most, parts));
    if (s->count >= most || parts->volume <= (1 + error) * s->volume) break;
  }
  // one that is limited may gain by many cells of which the best are joined
  int32_t cells = 4 * most < CNI_MESH_PARTS ? 4 * most : CNI_MESH_PARTS, before = s->count;
  if (most == 1 || before < most || parts->volume <= (1 + error) * s->volume) return CN_OK;
  CniMeshParts other = {.allocator = parts->allocator};
  CnStatus status = cut_all(s, cells, error);
  if (status == CN_OK && s->count > before) {
    status = collect(s, name, most, &other);
    if (status == CN_OK && other.volume < parts->volume) CNI_SWAP(CniMeshParts, *parts, other);
  }
  cni_mesh_parts_release(&other);
  return status;
}

CniMeshPartsDef cni_mesh_parts_def(const CniMeshPartsDef *def) {
  CniMeshPartsDef full = {32, 0.01};
  if (def && def->most) full.most = def->most;
  if (def && def->error > 0) full.error = def->error;
  return full;
}

CnStatus cni_mesh_parts(const CniMeshData *mesh, const char *name, const CniMeshPartsDef *def,
                        CniMeshParts *parts) {
  CNI_FLOATS;
  CniMeshPartsDef full = cni_mesh_parts_def(def);
  int32_t most = full.most;
  *parts = (CniMeshParts){.allocator = mesh->allocator};
  if (most < 1 || most > CNI_MESH_PARTS)
    return cni_invalid("%s: parts must be 1 to %d (got %d)", name, CNI_MESH_PARTS, (int)most);
  Search *s;
  CNI_TRY(cni_new(&mesh->allocator, sizeof *s, &s));
  s->cutter.mesh = mesh;
  s->cutter.allocator = mesh->allocator;
  cni_arena_init(&s->cutter.kept, &mesh->allocator);
  cni_arena_init(&s->cutter.trial, &mesh->allocator);
  CnStatus status = search(s, name, most, full.error, parts);
  cni_arena_release(&s->cutter.kept);
  cni_arena_release(&s->cutter.trial);
  cni_release(&mesh->allocator, s, sizeof *s);
  if (status != CN_OK) cni_mesh_parts_release(parts);
  return status;
}
