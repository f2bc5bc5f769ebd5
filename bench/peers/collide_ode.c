// SPDX-License-Identifier: Apache-2.0
// Broad and narrow phase of convex bodies in the Open Dynamics Engine (bench collision): a hash space,
// dCollide with up to eight points a pair; and steps of a pile of them by QuickStep.
#include <math.h>
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
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
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
  case 'o':
    return dCreateSphere(space, h[0]);
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

// ---- steps ----

typedef struct Pile {
  dWorldID world;
  dJointGroupID joints;
  double mu, deepest;
} Pile;

static void join(void *data, dGeomID a, dGeomID b) {
  Pile *pile = data;
  dContact contacts[POINTS];
  dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
  if (!body_a && !body_b) return;
  memset(contacts, 0, sizeof contacts);
  int count = dCollide(a, b, POINTS, &contacts[0].geom, sizeof contacts[0]);
  for (int i = 0; i < count; i++) {
    contacts[i].surface.mode = dContactApprox1;
    contacts[i].surface.mu = pile->mu;
    if (contacts[i].geom.depth > pile->deepest) pile->deepest = contacts[i].geom.depth;
    dJointAttach(dJointCreateContact(pile->world, pile->joints, &contacts[i]), body_a, body_b);
  }
}

static int run_steps(Scene *s) {
  dSpaceID space = dHashSpaceCreate(NULL);
  Pile pile = {dWorldCreate(), dJointGroupCreate(0), s->step[3], 0};
  int steps = (int)s->step[1], last = steps < LAST ? steps : LAST;
  double collision = 0, all = 0;
  dBodyID first = NULL;
  dHashSpaceSetLevels(space, -4, 0);
  dWorldSetGravity(pile.world, 0, 0, -9.81);
  dWorldSetQuickStepNumIterations(pile.world, (int)s->step[2]);
  dTriMeshDataID ground = dGeomTriMeshDataCreate();
  dTriIndex *triangles = calloc((size_t)s->triangle_count * 3 + 1, sizeof *triangles);
  if (!triangles) return 1;
  for (int i = 0; i < 3 * s->triangle_count; i++) triangles[i] = (dTriIndex)s->triangles[i];
  dGeomTriMeshDataBuildDouble(ground, s->corners, 3 * sizeof(double), s->corner_count, triangles,
                              3 * s->triangle_count, 3 * sizeof *triangles);
  // convex bodies on triangles ask for the angles of faces
  dGeomTriMeshDataPreprocess2(ground, 1u << dTRIDATAPREPROCESS_BUILD_FACE_ANGLES, NULL);
  dCreateTriMesh(space, ground, NULL, NULL, NULL);
  for (int i = 0; i < s->count; i++) {
    const double *x = s->frames + (size_t)i * 7, *m = s->solids[i].mass;
    dQuaternion q = {x[3], x[4], x[5], x[6]};
    dBodyID body = dBodyCreate(pile.world);
    dMass mass;
    dMassSetParameters(&mass, m[0], 0, 0, 0, m[1], m[2], m[3], m[4], m[5], m[6]);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x[0], x[1], x[2]);
    dBodySetQuaternion(body, q);
    dGeomSetBody(make(space, s, &s->solids[i]), body);
    if (i == 0) dBodySetLinearVel(body, s->velocity[0], s->velocity[1], s->velocity[2]);
    if (i == 0) first = body;
  }
  for (int n = 0; n < steps; n++) {
    double start = now();
    pile.deepest = 0;
    dJointGroupEmpty(pile.joints);
    dSpaceCollide(space, &pile, join);
    double found = now();
    dWorldQuickStep(pile.world, s->step[0]);
    if (n >= steps - last) collision += found - start, all += now() - start;
  }
  const dReal *v = dBodyGetLinearVel(first);
  printf("%.17g %.17g %.17g %.17g %.17g\n", all / last, collision / last, pile.deepest,
         sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), dBodyGetPosition(first)[2]);
  return 0;
}

int main(void) {
  Scene s;
  dInitODE2(0);
  if (!read_scene(&s)) return 1;
  if (s.step[1] > 0) return run_steps(&s);
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
