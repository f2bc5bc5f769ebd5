// SPDX-License-Identifier: Apache-2.0
// A mechanism in the Open Dynamics Engine: reads it on stdin (mechanism.h), prints its frames.
// dWorldQuickStep with the iterations of the list, friction pyramid scaled by the normal force,
// error reduction and softness at ODE's defaults.
#include <ode/ode.h>
#include <stdlib.h>
#include <string.h>

#include "../mechanism.h"

#define POINTS 16

typedef struct Peer {
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dBodyID *bodies;
  double friction;
} Peer;

static void touch(void *data, dGeomID a, dGeomID b) {
  Peer *peer = data;
  dContact contacts[POINTS];
  memset(contacts, 0, sizeof contacts);
  int count = dCollide(a, b, POINTS, &contacts[0].geom, sizeof contacts[0]);
  for (int i = 0; i < count; i++) {
    contacts[i].surface.mode = dContactApprox1;
    contacts[i].surface.mu = peer->friction;
    dJointID joint = dJointCreateContact(peer->world, peer->contacts, &contacts[i]);
    dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
  }
}

static void add_part(Peer *peer, const Part *p, dBodyID *body, int contacts) {
  *body = dBodyCreate(peer->world);
  dMass mass;
  if (p->is_box)
    dMassSetBoxTotal(&mass, p->mass, 2 * p->half_size[0], 2 * p->half_size[1], 2 * p->half_size[2]);
  else
    dMassSetSphereTotal(&mass, p->mass, p->radius);
  dBodySetMass(*body, &mass);
  dBodySetPosition(*body, p->position[0], p->position[1], p->position[2]);
  dQuaternion q = {p->rotation[0], p->rotation[1], p->rotation[2], p->rotation[3]};
  dBodySetQuaternion(*body, q);
  if (!contacts) return;
  dGeomID geom = p->is_box ? dCreateBox(peer->space, 2 * p->half_size[0], 2 * p->half_size[1],
                                        2 * p->half_size[2])
                           : dCreateSphere(peer->space, p->radius);
  dGeomSetBody(geom, *body);
}

static int build(Peer *peer, const Mechanism *m) {
  peer->bodies = calloc((size_t)m->part_count + 1, sizeof *peer->bodies);
  if (!peer->bodies) return 0;
  peer->friction = m->friction;
  peer->world = dWorldCreate();
  dWorldSetGravity(peer->world, m->gravity[0], m->gravity[1], m->gravity[2]);
  dWorldSetQuickStepNumIterations(peer->world, m->iterations);
  peer->contacts = dJointGroupCreate(0);
  peer->space = dHashSpaceCreate(NULL);
  if (m->plane) dCreatePlane(peer->space, 0, 0, 1, 0);
  for (int32_t i = 0; i < m->part_count; i++)
    add_part(peer, &m->parts[i], &peer->bodies[i], m->contacts);
  for (int32_t i = 0; i < m->joint_count; i++) {
    const BallJoint *j = &m->joints[i];
    dJointID joint = dJointCreateBall(peer->world, NULL);
    dJointAttach(joint, j->a < 0 ? NULL : peer->bodies[j->a], j->b < 0 ? NULL : peer->bodies[j->b]);
    dJointSetBallAnchor(joint, j->anchor[0], j->anchor[1], j->anchor[2]);
  }
  return 1;
}

static void run(Peer *peer, const Mechanism *m) {
  printf("engine ODE " ODE_VERSION "\n");
  for (int32_t step = 1; step <= m->step_count; step++) {
    dJointGroupEmpty(peer->contacts);
    dSpaceCollide(peer->space, peer, touch);
    dWorldQuickStep(peer->world, m->time_step);
    if (step % m->frame_every != 0) continue;
    printf("frame %.17g", step * m->time_step);
    for (int32_t i = 0; i < m->part_count; i++) {
      const dReal *x = dBodyGetPosition(peer->bodies[i]);
      printf(" %.17g %.17g %.17g", (double)x[0], (double)x[1], (double)x[2]);
    }
    printf("\n");
  }
}

int main(void) {
  Mechanism m;
  if (!mechanism_read(&m, stdin)) return 1;
  dInitODE2(0);
  Peer peer;
  memset(&peer, 0, sizeof peer);
  if (!build(&peer, &m)) return 1;
  run(&peer, &m);
  dJointGroupDestroy(peer.contacts);
  dSpaceDestroy(peer.space);
  dWorldDestroy(peer.world);
  free(peer.bodies);
  dCloseODE();
  mechanism_release(&m);
  return 0;
}
