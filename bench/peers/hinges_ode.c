// SPDX-License-Identifier: Apache-2.0
// A machine of hinges in the Open Dynamics Engine (bench mechanisms). Reads on stdin, one item a line:
//   step H STEPS METHOD              METHOD: 0 dWorldStep (direct), 1 dWorldQuickStep (20 iterations)
//   box X Y Z W QX QY QZ SX SY SZ MASS VX VY VZ WX WY WZ
//   hinge A B X Y Z AX AY AZ         bodies by number, -1: the world
// Prints one line: seconds a step without the first tenth, the largest distance of the two anchor
// points of a hinge, and the last body's centre and x axis.
#include <math.h>
#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Peer {
  dWorldID world;
  dBodyID *bodies;
  dJointID *joints;
  int body_count, joint_count, capacity, steps, method;
  double h;
} Peer;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int grow(Peer *p) {
  if (p->body_count < p->capacity && p->joint_count < p->capacity) return 1;
  p->capacity = 2 * p->capacity + 64;
  p->bodies = realloc(p->bodies, (size_t)p->capacity * sizeof *p->bodies);
  p->joints = realloc(p->joints, (size_t)p->capacity * sizeof *p->joints);
  return p->bodies && p->joints;
}

static int read_box(Peer *p) {
  double x[3], q[4], s[3], m, v[3], w[3];
  if (scanf("%lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", &x[0], &x[1],
            &x[2], &q[0], &q[1], &q[2], &q[3], &s[0], &s[1], &s[2], &m, &v[0], &v[1], &v[2], &w[0],
            &w[1], &w[2]) != 17)
    return 0;
  dBodyID body = p->bodies[p->body_count++] = dBodyCreate(p->world);
  dQuaternion rotation = {q[0], q[1], q[2], q[3]};
  dMass mass;
  dMassSetBoxTotal(&mass, m, s[0], s[1], s[2]);
  dBodySetMass(body, &mass);
  dBodySetPosition(body, x[0], x[1], x[2]);
  dBodySetQuaternion(body, rotation);
  dBodySetLinearVel(body, v[0], v[1], v[2]);
  dBodySetAngularVel(body, w[0], w[1], w[2]);
  return 1;
}

static int read_hinge(Peer *p) {
  int a, b;
  double x[3], e[3];
  if (scanf("%d %d %lf %lf %lf %lf %lf %lf", &a, &b, &x[0], &x[1], &x[2], &e[0], &e[1], &e[2]) !=
          8 ||
      a >= p->body_count || b >= p->body_count)
    return 0;
  dJointID joint = p->joints[p->joint_count++] = dJointCreateHinge(p->world, NULL);
  dJointAttach(joint, a < 0 ? NULL : p->bodies[a], b < 0 ? NULL : p->bodies[b]);
  dJointSetHingeAnchor(joint, x[0], x[1], x[2]);
  dJointSetHingeAxis(joint, e[0], e[1], e[2]);
  return 1;
}

static int read_all(Peer *p) {
  char word[16];
  while (scanf("%15s", word) == 1) {
    int ok = grow(p);
    if (word[0] == 's') ok = ok && scanf("%lf %d %d", &p->h, &p->steps, &p->method) == 3;
    if (word[0] == 'b') ok = ok && read_box(p);
    if (word[0] == 'h') ok = ok && read_hinge(p);
    if (!ok) return 0;
  }
  return p->body_count > 0 && p->steps > 0;
}

static double gap(const Peer *p) {
  double most = 0;
  for (int i = 0; i < p->joint_count; i++) {
    dVector3 a, b;
    dJointGetHingeAnchor(p->joints[i], a);
    dJointGetHingeAnchor2(p->joints[i], b);
    most = fmax(most, sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2)));
  }
  return most;
}

int main(void) {
  Peer p = {0};
  dInitODE2(0);
  p.world = dWorldCreate();
  dWorldSetGravity(p.world, 0, 0, -9.81);
  if (!read_all(&p)) return 1;
  double seconds = 0, open = 0;
  for (int i = 0; i < p.steps; i++) {
    double start = now();
    if (p.method == 0)
      dWorldStep(p.world, p.h);
    else
      dWorldQuickStep(p.world, p.h);
    if (i >= p.steps / 10) seconds += now() - start;
    open = fmax(open, gap(&p));
  }
  const dReal *x = dBodyGetPosition(p.bodies[p.body_count - 1]);
  const dReal *r = dBodyGetRotation(p.bodies[p.body_count - 1]);
  printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", seconds / (p.steps - p.steps / 10),
         open, (double)x[0], (double)x[1], (double)x[2], (double)r[0], (double)r[4], (double)r[8]);
  dWorldDestroy(p.world);
  dCloseODE();
  return 0;
}
