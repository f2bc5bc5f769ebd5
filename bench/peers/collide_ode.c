// SPDX-License-Identifier: Apache-2.0
// Broad and narrow phase of convex bodies in the Open Dynamics Engine (bench collision): a hash space,
// dCollide with up to eight points a pair.
#include <ode/ode.h>
#include <time.h>

#include "collide.h"

#define POINTS 8

typedef struct Found {
  int print;
  long count;
} Found;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void touch(void *data, dGeomID a, dGeomID b) {
  Found *found = data;
  dContactGeom points[POINTS];
  int count = dCollide(a, b, POINTS, points, sizeof points[0]);
  if (count == 0) return;
  found->count++;
  int i = (int)(long)dGeomGetData(a), k = (int)(long)dGeomGetData(b);
  if (found->print) printf("%d %d\n", i < k ? i : k, i < k ? k : i);
}

static dGeomID make(dSpaceID space, Scene *s, const Solid *solid) {
  const double *h = solid->size;
  Geometry *g = &s->geometries[solid->geometry];
  switch (solid->kind) {
  case 'c':
    return dCreateCapsule(space, h[0], 2 * h[1]);
  case 'y':
    return dCreateCylinder(space, h[0], 2 * h[1]);
  case 'b':
    return dCreateBox(space, 2 * h[0], 2 * h[1], 2 * h[2]);
  default:
    return dCreateConvex(space, g->planes, (unsigned)g->face_count, g->vertices,
                         (unsigned)g->vertex_count, g->faces);
  }
}

int main(void) {
  Scene s;
  dInitODE2(0);
  if (!read_scene(&s)) return 1;
  dSpaceID space = dHashSpaceCreate(NULL);
  dHashSpaceSetLevels(space, -4, 0);
  dGeomID *geoms = calloc((size_t)s.count, sizeof *geoms);
  if (!geoms) return 1;
  for (int i = 0; i < s.count; i++) {
    geoms[i] = make(space, &s, &s.solids[i]);
    dGeomSetData(geoms[i], (void *)(long)i);
  }
  double seconds = 1e300;
  for (int f = 0; f < s.frame_count; f++) {
    const double *x = s.frames + (size_t)f * (size_t)s.count * 7;
    Found found = {0, 0};
    double start = now();
    for (int i = 0; i < s.count; i++, x += 7) {
      dQuaternion q = {x[3], x[4], x[5], x[6]};
      dGeomSetPosition(geoms[i], x[0], x[1], x[2]);
      dGeomSetQuaternion(geoms[i], q);
    }
    dSpaceCollide(space, &found, touch);
    double end = now();
    if (f > 0 && end - start < seconds) seconds = end - start;
  }
  printf("%.17g\n", seconds);
  Found found = {1, 0};
  dSpaceCollide(space, &found, touch);
  return 0;
}
