// SPDX-License-Identifier: Apache-2.0
// Is a point within a solid? A ray from it meets the surface an odd number of times then. All rays are
// parallel, so triangles are found by the square of a grid across the rays that they are seen in.
#include "io/meshes/mesh_private.h"

#include "io/meshes/mesh_steps.h"
#include "io/parts/parts.h"

#define MOST 512  // squares along a side
#define LISTED 16 // times the number of triangles: longer lists take fewer squares

// Along no edge of any drawing.
static const CnVec3 along = {0.5377, 0.6823, 0.4954};

// Where a point is seen along the rays.
static void project(CnVec3 p, double at[2]) {
  at[0] = along.y * p.x - along.x * p.y;
  at[1] = along.z * (along.x * p.x + along.y * p.y) - (along.x * along.x + along.y * along.y) * p.z;
}

static int32_t square_of(const CniInside *in, double at, int32_t k) {
  double place = (at - in->lo[k]) * in->per[k];
  return place < 0 ? 0 : place >= in->side ? in->side - 1 : (int32_t)place;
}

// The squares that a triangle is seen in, a little more for rounding.
static void squares_of(const CniInside *in, const CniMeshData *m, int32_t t, int32_t from[2],
                       int32_t to[2]) {
  double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
  for (int32_t c = 0; c < 3; c++) {
    double at[2];
    project(m->vertices[m->triangles[t][c]], at);
    for (int32_t k = 0; k < 2; k++) lo[k] = cn_min(lo[k], at[k]), hi[k] = cn_max(hi[k], at[k]);
  }
  for (int32_t k = 0; k < 2; k++) {
    from[k] = square_of(in, lo[k] - in->near, k);
    to[k] = square_of(in, hi[k] + in->near, k);
  }
}

static int64_t count_entries(const CniInside *in, const CniMeshData *m) {
  int64_t sum = 0;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    int32_t from[2], to[2];
    squares_of(in, m, t, from, to);
    sum += (int64_t)(to[0] - from[0] + 1) * (to[1] - from[1] + 1);
  }
  return sum;
}

static void set_side(CniInside *in, int32_t side, const double size[2]) {
  in->side = side;
  for (int32_t k = 0; k < 2; k++) in->per[k] = size[k] > 0 ? side / size[k] : 0;
}

CnStatus cni_inside_make(const CniMeshData *m, CniArena *arena, CniInside *in) {
  double hi[2] = {-INFINITY, -INFINITY}, size[2];
  *in = (CniInside){.mesh = m, .lo = {INFINITY, INFINITY}};
  for (int32_t i = 0; i < m->vertex_count; i++) {
    double at[2];
    project(m->vertices[i], at);
    for (int32_t k = 0; k < 2; k++)
      in->lo[k] = cn_min(in->lo[k], at[k]), hi[k] = cn_max(hi[k], at[k]);
  }
  for (int32_t k = 0; k < 2; k++) size[k] = hi[k] - in->lo[k];
  in->near = 1e-9 * cn_max(size[0], size[1]);
  int32_t side = 1;
  while (side < MOST && 2 * (int64_t)side * side < m->triangle_count) side *= 2;
  for (set_side(in, side, size);
       in->side > 1 && count_entries(in, m) > LISTED * (int64_t)m->triangle_count;)
    set_side(in, in->side / 2, size);

  // counted, then filled in
  int64_t squares = (int64_t)in->side * in->side;
  CNI_TRY(CNI_TAKE(arena, squares + 1, in->first));
  CNI_TRY(CNI_TAKE(arena, count_entries(in, m), in->list));
  for (int64_t i = 0; i <= squares; i++) in->first[i] = 0;
  for (int32_t pass = 0; pass < 2; pass++) {
    for (int32_t t = 0; t < m->triangle_count; t++) {
      int32_t from[2], to[2];
      squares_of(in, m, t, from, to);
      for (int32_t y = from[1]; y <= to[1]; y++)
        for (int32_t x = from[0]; x <= to[0]; x++) {
          int64_t *at = &in->first[(int64_t)y * in->side + x];
          if (pass == 0)
            at[1]++;
          else
            in->list[(*at)++] = t;
        }
    }
    for (int64_t i = 0; pass == 0 && i < squares; i++) in->first[i + 1] += in->first[i];
  }
  // each has moved to where the next one began
  for (int64_t i = squares; i > 0; i--) in->first[i] = in->first[i - 1];
  in->first[0] = 0;
  return CN_OK;
}

int cni_inside(const CniInside *in, CnVec3 p) {
  double at[2];
  int32_t count = 0;
  project(p, at);
  int64_t square = (int64_t)square_of(in, at[1], 1) * in->side + square_of(in, at[0], 0);
  for (int64_t i = in->first[square]; i < in->first[square + 1]; i++)
    count += cni_mesh_ray_crosses(in->mesh, in->list[i], p, along);
  return count % 2;
}
