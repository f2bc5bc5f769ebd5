// SPDX-License-Identifier: Apache-2.0
// A machine of hinges as multibodies of Bullet (bench mechanisms): Featherstone's method in the
// coordinates of the hinges, in double precision; loops are closed by holding two points on the axis
// together.
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <BulletDynamics/Featherstone/btMultiBodyPoint2Point.h>
#include <btBulletDynamicsCommon.h>

#include <vector>

#include "../hinges.h"

namespace {

struct Place {
  int machine, link; // of a box
};

struct Peer {
  Hinges machine = {};
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broad;
  btMultiBodyConstraintSolver solver;
  btMultiBodyDynamicsWorld world{&dispatcher, &broad, &solver, &configuration};
  std::vector<btMultiBody *> machines;
  std::vector<Place> places;
};

btVector3 vec(const double *n) { return btVector3(n[0], n[1], n[2]); }
btQuaternion turn(const Box &b) { return btQuaternion(b.q[1], b.q[2], b.q[3], b.q[0]); }

// Which machine and link every body is, in the order of the hinges; returns the number of links of each.
std::vector<int> count_links(Peer &p) {
  std::vector<int> links;
  p.places.resize((size_t)p.machine.box_count);
  for (int i = 0; i < p.machine.hinge_count; i++) {
    const Hinge &h = p.machine.hinges[i];
    if (h.loop) continue;
    Place &b = p.places[(size_t)h.b];
    b.machine = h.a < 0 ? (int)links.size() : p.places[(size_t)h.a].machine;
    if (h.a < 0) links.push_back(0);
    b.link = links[(size_t)b.machine]++;
  }
  return links;
}

void add_link(Peer &p, const Hinge &h) {
  const Box &b = p.machine.boxes[h.b];
  Place at = p.places[(size_t)h.b];
  btQuaternion above(0, 0, 0, 1);
  int parent = -1;
  double inertia[3];
  if (h.a >= 0) {
    above = turn(p.machine.boxes[h.a]);
    parent = p.places[(size_t)h.a].link;
  }
  hinges_inertia(&b, inertia);
  p.machines[(size_t)at.machine]->setupRevolute(at.link, b.mass, vec(inertia), parent,
                                                turn(b).inverse() * above, vec(h.axis_in_b),
                                                vec(h.in_a), -vec(h.in_b), true);
}

// Constraints belong to islands of colliders: without one nothing would solve them.
void give_collider(Peer &p, Place at) {
  btMultiBody *machine = p.machines[(size_t)at.machine];
  if (machine->getLink(at.link).m_collider) return;
  btMultiBodyLinkCollider *collider = new btMultiBodyLinkCollider(machine, at.link);
  collider->setCollisionShape(new btSphereShape(1e-3));
  p.world.addCollisionObject(collider, 0, 0); // meets nothing
  machine->getLink(at.link).m_collider = collider;
}

void close_loop(Peer &p, const Hinge &h) {
  Place a = p.places[(size_t)h.a], b = p.places[(size_t)h.b];
  give_collider(p, a);
  give_collider(p, b);
  for (int side = -1; side <= 1; side += 2)
    p.world.addMultiBodyConstraint(new btMultiBodyPoint2Point(
        p.machines[(size_t)a.machine], a.link, p.machines[(size_t)b.machine], b.link,
        vec(h.in_a) + vec(h.axis_in_a) * (.01 * side),
        vec(h.in_b) + vec(h.axis_in_b) * (.01 * side)));
}

void make(Peer &p) {
  const Hinges &m = p.machine;
  for (int count : count_links(p)) {
    btMultiBody *machine = new btMultiBody(count, 0, btVector3(0, 0, 0), true, false);
    machine->setLinearDamping(0);
    machine->setAngularDamping(0);
    p.machines.push_back(machine);
  }
  for (int i = 0; i < m.hinge_count; i++)
    if (!m.hinges[i].loop) add_link(p, m.hinges[i]);
  for (btMultiBody *machine : p.machines) {
    machine->finalizeMultiDof();
    p.world.addMultiBody(machine);
  }
  for (int i = 0; i < m.hinge_count; i++) {
    const Hinge &h = m.hinges[i];
    Place b = p.places[(size_t)h.b];
    if (h.loop)
      close_loop(p, h);
    else
      p.machines[(size_t)b.machine]->setJointVel(b.link, h.rate);
  }
}

void step(void *context) {
  Peer &p = *static_cast<Peer *>(context);
  p.world.stepSimulation(p.machine.h, 1, p.machine.h);
}

void place(const void *context, int body, const double at[3], double world[3]) {
  const Peer &p = *static_cast<const Peer *>(context);
  btVector3 x = vec(at);
  if (body >= 0) {
    Place b = p.places[(size_t)body];
    x = p.machines[(size_t)b.machine]->localPosToWorld(b.link, x);
  }
  for (int i = 0; i < 3; i++) world[i] = x[i];
}

} // namespace

int main() {
  Peer p;
  if (!hinges_read(&p.machine)) return 1;
  p.world.setGravity(btVector3(0, 0, -9.81));
  make(p);
  hinges_run(&p.machine, step, place, &p);
  hinges_release(&p.machine);
  return 0;
}
