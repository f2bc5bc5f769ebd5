// SPDX-License-Identifier: Apache-2.0
// The shapes of a run as one list of triangles: counted first, then taken into one block of memory. Curved shapes
// have QUARTER edges in a quarter of a circle; half-spaces have no triangles.
#include "io/exports/run_triangles.h"

#include <string.h>

#include "geometry/geometry.h"

#define QUARTER 6
#define MOST_CORNERS (INT32_MAX / 8)

typedef struct Taking {
  CniTriangles *t;
  CnPose pose;        // of the shape at work
  int32_t body, fill; // its body; 0: only counted
  int64_t first;      // corners before it
} Taking;

static void take_corner(void *context, CnVec3 place, CnVec3 normal) {
  const Taking *taking = context;
  CniTriangles *t = taking->t;
  (void)normal;
  if (taking->fill) {
    t->corners[t->corner_count] = cn_pose_point(taking->pose, place);
    t->body[t->corner_count] = taking->body;
  }
  t->corner_count++;
}

static void take_triangle(void *context, const int32_t corner[3]) {
  const Taking *taking = context;
  CniTriangles *t = taking->t;
  if (taking->fill) {
    for (int32_t k = 0; k < 3; k++)
      t->triangles[3 * t->triangle_count + k] = (int32_t)taking->first + corner[k];
    t->triangle_body[t->triangle_count] = taking->body;
  }
  t->triangle_count++;
}

static CnStatus take_shapes(CnRun *run, CniTriangles *t, int32_t fill) {
  Taking taking = {.t = t, .fill = fill};
  const CniMeshTaker take = {&taking, take_corner, take_triangle, 1};
  t->corner_count = t->triangle_count = 0;
  for (int32_t i = 0; i < run->info.shape_count; i++) {
    CnRunShape s;
    CNI_TRY(cn_run_shape(run, i, &s));
    CniPlaced shape = cni_shape_placed(&s.def);
    if (cni_shape_unbounded(shape.kind) || (shape.kind == CN_SHAPE_SPHERE && !t->spheres)) continue;
    if (cni_shape_needs_geometry(shape.kind)) cni_run_form(run, s.def.geometry, &shape);
    taking.pose = s.def.pose;
    taking.body = s.body;
    taking.first = t->corner_count;
    cni_shape_triangles(&shape, QUARTER, 1, &take);
  }
  return CN_OK;
}

CnStatus cni_triangles_count(CnRun *run, int32_t spheres, CniTriangles *t) {
  *t = (CniTriangles){.spheres = spheres};
  return take_shapes(run, t, 0);
}

CnStatus cni_triangles_take(CnRun *run, CniTriangles *t) {
  size_t corners = (size_t)t->corner_count, triangles = (size_t)t->triangle_count;
  size_t bodies = (size_t)run->info.body_count + 1;
  if (t->corner_count > MOST_CORNERS)
    return cni_error(CN_UNSUPPORTED, "%s: its shapes have more than %d corners", run->path,
                     MOST_CORNERS);
  t->bytes = bodies * (sizeof *t->poses + sizeof *t->twists) +
             corners * (sizeof *t->corners + sizeof *t->body) +
             4 * triangles * sizeof *t->triangles;
  t->memory = cni_allocate(&run->allocator, t->bytes);
  if (!t->memory) return cni_error_memory(t->bytes);
  t->poses = t->memory;
  t->twists = (CnTwist *)(t->poses + bodies);
  t->corners = (CnVec3 *)(t->twists + bodies);
  t->body = (int32_t *)(t->corners + corners);
  t->triangles = t->body + corners;
  t->triangle_body = t->triangles + 3 * triangles;
  return take_shapes(run, t, 1);
}

void cni_triangles_release(const CnRun *run, CniTriangles *t) {
  cni_release(&run->allocator, t->memory, t->memory ? t->bytes : 0);
  *t = (CniTriangles){0};
}

void cni_triangles_words(CniOutput *out, const void *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint8_t bytes[4];
    uint32_t w;
    memcpy(&w, (const char *)words + 4 * i, sizeof w);
    for (int k = 0; k < 4; k++) bytes[k] = (uint8_t)(w >> (8 * k));
    cni_output_bytes(out, bytes, sizeof bytes);
  }
}

void cni_triangles_places(CniOutput *out, const CniTriangles *t) {
  for (int64_t i = 0; i < t->corner_count; i++) {
    CnVec3 p = cn_pose_point(t->poses[t->body[i]], t->corners[i]);
    const float place[3] = {(float)p.x, (float)p.y, (float)p.z};
    cni_triangles_words(out, place, 3);
  }
}
