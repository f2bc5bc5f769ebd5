// SPDX-License-Identifier: Apache-2.0
// A machine of hinges in the Open Dynamics Engine (bench mechanisms). Methods: 0 dWorldStep (direct),
// 1 dWorldQuickStep (20 iterations).
#include <ode/ode.h>
#include <stdlib.h>
#include <string.h>

#include "../hinges.h"

typedef struct Peer {
  Hinges machine;
  dWorldID world;
  dBodyID *bodies;
} Peer;

static void add_box(Peer *p, int i) {
  const Box *b = &p->machine.boxes[i];
  dBodyID body = p->bodies[i] = dBodyCreate(p->world);
  dQuaternion rotation = {b->q[0], b->q[1], b->q[2], b->q[3]};
  dMass mass;
  dMassSetBoxTotal(&mass, b->mass, b->size[0], b->size[1], b->size[2]);
  dBodySetMass(body, &mass);
  dBodySetPosition(body, b->x[0], b->x[1], b->x[2]);
  dBodySetQuaternion(body, rotation);
  dBodySetLinearVel(body, b->v[0], b->v[1], b->v[2]);
  dBodySetAngularVel(body, b->w[0], b->w[1], b->w[2]);
}

static void add_hinge(const Peer *p, const Hinge *h) {
  dJointID joint = dJointCreateHinge(p->world, NULL);
  dJointAttach(joint, h->a < 0 ? NULL : p->bodies[h->a], p->bodies[h->b]);
  dJointSetHingeAnchor(joint, h->at[0], h->at[1], h->at[2]);
  dJointSetHingeAxis(joint, h->axis[0], h->axis[1], h->axis[2]);
}

static void step(void *context) {
  const Peer *p = context;
  if (p->machine.method == 0)
    dWorldStep(p->world, p->machine.h);
  else
    dWorldQuickStep(p->world, p->machine.h);
}

static void place(const void *context, int body, const double at[3], double world[3]) {
  const Peer *p = context;
  memcpy(world, at, 3 * sizeof *world);
  if (body < 0) return;
  dVector3 x;
  dBodyGetRelPointPos(p->bodies[body], at[0], at[1], at[2], x);
  for (int i = 0; i < 3; i++) world[i] = x[i];
}

int main(void) {
  Peer p = {.world = NULL};
  if (!hinges_read(&p.machine)) return 1;
  dInitODE2(0);
  p.world = dWorldCreate();
  p.bodies = calloc((size_t)p.machine.box_count, sizeof *p.bodies);
  if (!p.bodies) return 1;
  dWorldSetGravity(p.world, 0, 0, -9.81);
  for (int i = 0; i < p.machine.box_count; i++) add_box(&p, i);
  for (int i = 0; i < p.machine.hinge_count; i++) add_hinge(&p, &p.machine.hinges[i]);
  hinges_run(&p.machine, step, place, &p);
  dWorldDestroy(p.world);
  dCloseODE();
  free(p.bodies);
  hinges_release(&p.machine);
  return 0;
}
