// SPDX-License-Identifier: Apache-2.0
// A machine of hinges in the Open Dynamics Engine (bench mechanisms, bench spider). Methods: 0 dWorldStep
// (direct), 1 dWorldQuickStep (20 iterations where the list has none). Hinges are driven by their motors
// and kept by their stops; friction of feet is a pyramid scaled by the normal force; error reduction and
// softness at ODE's defaults.
#include <ode/ode.h>
#include <stdlib.h>
#include <string.h>

#include "../hinges.h"

typedef struct Peer {
  Hinges machine;
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dBodyID *bodies;
  dJointID *joints;
  double time;
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

// ODE counts the angle of a against b.
static void add_hinge(const Peer *p, int i) {
  const Hinge *h = &p->machine.hinges[i];
  dJointID joint = p->joints[i] = dJointCreateHinge(p->world, NULL);
  dJointAttach(joint, h->a < 0 ? NULL : p->bodies[h->a], p->bodies[h->b]);
  dJointSetHingeAnchor(joint, h->at[0], h->at[1], h->at[2]);
  dJointSetHingeAxis(joint, h->axis[0], h->axis[1], h->axis[2]);
  if (h->effort > 0) dJointSetHingeParam(joint, dParamFMax, h->effort);
  if (!h->kept) return;
  dJointSetHingeParam(joint, dParamLoStop, 0);
  dJointSetHingeParam(joint, dParamHiStop, 0);
}

static void add_foot(const Peer *p, const Foot *f) {
  dGeomID geom = dCreateSphere(p->space, f->radius);
  dGeomSetBody(geom, p->bodies[f->body]);
  dGeomSetOffsetPosition(geom, f->at[0], f->at[1], f->at[2]);
}

static void touch(void *context, dGeomID a, dGeomID b) {
  const Peer *p = context;
  dContact contact;
  memset(&contact, 0, sizeof contact);
  if (dGeomGetBody(a) && dGeomGetBody(b)) return; // feet meet the floor alone
  if (dCollide(a, b, 1, &contact.geom, sizeof contact) == 0) return;
  contact.surface.mode = dContactApprox1;
  contact.surface.mu = p->machine.friction;
  dJointID joint = dJointCreateContact(p->world, p->contacts, &contact);
  dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
}

static void step(void *context) {
  Peer *p = context;
  p->time += p->machine.h;
  for (int i = 0; i < p->machine.hinge_count; i++)
    if (p->machine.hinges[i].effort > 0)
      dJointSetHingeParam(p->joints[i], dParamVel, -hinges_speed(&p->machine.hinges[i], p->time));
  dJointGroupEmpty(p->contacts);
  if (p->machine.foot_count > 0) dSpaceCollide(p->space, p, touch);
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
  p.space = dSimpleSpaceCreate(NULL);
  p.contacts = dJointGroupCreate(0);
  p.bodies = calloc((size_t)p.machine.box_count, sizeof *p.bodies);
  p.joints = calloc((size_t)p.machine.hinge_count + 1, sizeof *p.joints);
  if (!p.bodies || !p.joints) return 1;
  dWorldSetGravity(p.world, 0, 0, -9.81);
  if (p.machine.iterations > 0) dWorldSetQuickStepNumIterations(p.world, p.machine.iterations);
  for (int i = 0; i < p.machine.box_count; i++) add_box(&p, i);
  for (int i = 0; i < p.machine.hinge_count; i++) add_hinge(&p, i);
  for (int i = 0; i < p.machine.foot_count; i++) add_foot(&p, &p.machine.feet[i]);
  if (p.machine.foot_count > 0) dCreatePlane(p.space, 0, 0, 1, 0);
  hinges_run(&p.machine, step, place, &p);
  dJointGroupDestroy(p.contacts);
  dSpaceDestroy(p.space);
  dWorldDestroy(p.world);
  dCloseODE();
  free(p.bodies);
  free(p.joints);
  hinges_release(&p.machine);
  return 0;
}
