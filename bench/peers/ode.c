// SPDX-License-Identifier: Apache-2.0
// A pile of spheres in the Open Dynamics Engine: reads a list of bodies (bodies.h) on stdin, prints
// one JSON line.
//
// dWorldQuickStep (projected Gauss-Seidel) with the iterations of the list; the friction pyramid
// scaled by the normal force (dContactApprox1); error reduction, softness and relaxation at ODE's
// defaults; the hash space. The last steps are timed, collision (pairs to contact joints) and step
// apart; ODE's step cannot be split further, so its time per contact and iteration has its set-up
// in it.
#include <ode/ode.h>
#include <string.h>

#include "../bodies.h"

typedef struct Peer {
  dWorldID world;
  dSpaceID space;
  dJointGroupID contacts;
  dBodyID *spheres;
  double friction;
  int64_t contact_count;
} Peer;

// One contact joint for every touching pair.
static void touch(void *data, dGeomID a, dGeomID b) {
  Peer *peer = data;
  dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
  if (!body_a && !body_b) return;
  dContact contact;
  memset(&contact, 0, sizeof contact);
  if (dCollide(a, b, 1, &contact.geom, sizeof contact) == 0) return;
  contact.surface.mode = dContactApprox1;
  contact.surface.mu = peer->friction;
  dJointAttach(dJointCreateContact(peer->world, peer->contacts, &contact), body_a, body_b);
  peer->contact_count++;
}

static int build(Peer *peer, const Bodies *list) {
  peer->friction = list->friction;
  peer->spheres = calloc((size_t)list->sphere_count + 1, sizeof *peer->spheres);
  if (!peer->spheres) return 0;
  peer->world = dWorldCreate();
  dWorldSetGravity(peer->world, list->gravity[0], list->gravity[1], list->gravity[2]);
  dWorldSetQuickStepNumIterations(peer->world, list->iterations);
  peer->contacts = dJointGroupCreate(0);
  peer->space = dHashSpaceCreate(NULL);
  for (int32_t i = 0; i < list->plane_count; i++) {
    const Plane *p = &list->planes[i];
    dCreatePlane(peer->space, p->normal[0], p->normal[1], p->normal[2], p->offset);
  }
  for (int32_t i = 0; i < list->sphere_count; i++) {
    const Sphere *s = &list->spheres[i];
    dBodyID body = dBodyCreate(peer->world);
    dMass mass;
    dMassSetSphere(&mass, s->density, s->radius);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, s->position[0], s->position[1], s->position[2]);
    dGeomSetBody(dCreateSphere(peer->space, s->radius), body);
    peer->spheres[i] = body;
  }
  return 1;
}

static void destroy(Peer *peer) {
  dJointGroupDestroy(peer->contacts);
  dSpaceDestroy(peer->space);
  dWorldDestroy(peer->world);
  free(peer->spheres);
}

static void copy_positions(const Peer *peer, Bodies *list) {
  for (int32_t i = 0; i < list->sphere_count; i++) {
    const dReal *p = dBodyGetPosition(peer->spheres[i]);
    for (int32_t k = 0; k < 3; k++) list->spheres[i].position[k] = p[k];
  }
}

// Run all steps; figures of the last ones on stdout.
static int run(Peer *peer, Bodies *list) {
  double collision = 0, solver = 0;
  Overlap overlap = {0, 0, 0};
  int32_t last = list->step_count < BODIES_LAST_STEPS ? list->step_count : BODIES_LAST_STEPS;
  for (int32_t step = 0; step < list->step_count; step++) {
    int32_t counted = step >= list->step_count - last;
    if (step == list->step_count - last) peer->contact_count = 0;
    double t0 = seconds_now();
    dJointGroupEmpty(peer->contacts);
    dSpaceCollide(peer->space, peer, touch);
    double t1 = seconds_now();
    dWorldQuickStep(peer->world, list->time_step);
    double t2 = seconds_now();
    if (!counted) continue;
    collision += t1 - t0;
    solver += t2 - t1;
    copy_positions(peer, list);
    if (!overlap_add(list, &overlap)) return 0;
  }
  double contacts = (double)peer->contact_count / last;
  printf("{\"engine\": \"ODE " ODE_VERSION "\", \"solver\": \"QuickStep\", "
         "\"ms_per_step\": %.9g, \"ms_collision\": %.9g, \"ms_solver\": %.9g, \"contacts_mean\": "
         "%.9g, "
         "\"ns_per_contact_iteration\": %.9g, \"penetration_max\": %.9g, "
         "\"penetration_mean\": %.9g}\n",
         1e3 * (collision + solver) / last, 1e3 * collision / last, 1e3 * solver / last, contacts,
         contacts > 0 ? 1e9 * solver / last / (contacts * list->iterations) : 0, overlap.max,
         overlap.count > 0 ? overlap.sum / (double)overlap.count : 0);
  return 1;
}

int main(void) {
  Bodies list;
  if (!bodies_read(&list, stdin)) return 1;
  dInitODE2(0);
  Peer peer;
  memset(&peer, 0, sizeof peer);
  int ok = build(&peer, &list) && run(&peer, &list);
  if (!ok) fprintf(stderr, "ode: out of memory\n");
  if (peer.world) destroy(&peer);
  dCloseODE();
  bodies_destroy(&list);
  return ok ? 0 : 1;
}
