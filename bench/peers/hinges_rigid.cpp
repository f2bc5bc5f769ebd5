// SPDX-License-Identifier: Apache-2.0
// A machine of hinges as rigid bodies of Bullet (bench spider): sequential impulses in double precision
// with the iterations of the list, hinges driven by their motors and kept by their limits, all else at
// Bullet's defaults, sleeping off.
#include <btBulletDynamicsCommon.h>

#include <memory>
#include <vector>

#include "../hinges.h"

namespace {

struct Peer {
  Hinges machine = {};
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broad, &solver, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<btRigidBody *> bodies; // as long as the program
  std::vector<btHingeConstraint *> joints;
  double time = 0;
};

btVector3 vec(const double *n) { return btVector3(n[0], n[1], n[2]); }

// Bodies without feet meet nothing.
btCollisionShape *shape_of(Peer &p, int box) {
  btCompoundShape *all = new btCompoundShape;
  p.shapes.emplace_back(all);
  for (int i = 0; i < p.machine.foot_count; i++) {
    const Foot &foot = p.machine.feet[i];
    if (foot.body != box) continue;
    p.shapes.emplace_back(new btSphereShape(foot.radius));
    all->addChildShape(btTransform(btQuaternion::getIdentity(), vec(foot.at)),
                       p.shapes.back().get());
  }
  return all;
}

// Bullet multiplies the two friction values.
void add(Peer &p, double mass, btCollisionShape *shape, const btVector3 &inertia,
         const btTransform &at, bool is_floor) {
  btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
  info.m_startWorldTransform = at;
  info.m_friction = is_floor ? 1 : p.machine.friction;
  btRigidBody *body = new btRigidBody(info);
  body->setActivationState(DISABLE_DEACTIVATION);
  p.world.addRigidBody(body, is_floor ? 1 : 2, is_floor ? 2 : 1);
  p.bodies.push_back(body);
}

void join(Peer &p, const Hinge &h) {
  btRigidBody &a = *p.bodies[static_cast<size_t>(h.a)], &b = *p.bodies[static_cast<size_t>(h.b)];
  // Bullet counts the angle of a against b
  btHingeConstraint *joint =
      new btHingeConstraint(b, a, vec(h.in_b), vec(h.in_a), vec(h.axis_in_b), vec(h.axis_in_a));
  if (h.kept) {
    double angle = joint->getHingeAngle();
    joint->setLimit(angle, angle);
  }
  p.world.addConstraint(joint, true);
  p.joints.push_back(joint);
}

void step(void *context) {
  Peer &p = *static_cast<Peer *>(context);
  p.time += p.machine.h;
  for (int i = 0; i < p.machine.hinge_count; i++) {
    const Hinge &h = p.machine.hinges[i];
    if (h.effort > 0)
      p.joints[static_cast<size_t>(i)]->enableAngularMotor(true, -hinges_speed(&h, p.time),
                                                           h.effort * p.machine.h);
  }
  p.world.stepSimulation(p.machine.h, 0, p.machine.h);
}

void place(const void *context, int body, const double at[3], double world[3]) {
  const Peer &p = *static_cast<const Peer *>(context);
  btVector3 x = vec(at);
  if (body >= 0) x = p.bodies[static_cast<size_t>(body)]->getCenterOfMassTransform() * x;
  for (int i = 0; i < 3; i++) world[i] = x[i];
}

} // namespace

int main() {
  Peer p;
  if (!hinges_read(&p.machine)) return 1;
  p.world.setGravity(btVector3(0, 0, -9.81));
  if (p.machine.iterations > 0) p.world.getSolverInfo().m_numIterations = p.machine.iterations;
  for (int i = 0; i < p.machine.box_count; i++) {
    const Box &b = p.machine.boxes[i];
    double inertia[3];
    hinges_inertia(&b, inertia);
    add(p, b.mass, shape_of(p, i), vec(inertia),
        btTransform(btQuaternion(b.q[1], b.q[2], b.q[3], b.q[0]), vec(b.x)), false);
  }
  p.shapes.emplace_back(new btStaticPlaneShape(btVector3(0, 0, 1), 0));
  add(p, 0, p.shapes.back().get(), btVector3(0, 0, 0), btTransform::getIdentity(), true);
  for (int i = 0; i < p.machine.hinge_count; i++) {
    if (p.machine.hinges[i].a < 0) return 1; // machines that float
    join(p, p.machine.hinges[i]);
  }
  hinges_run(&p.machine, step, place, &p);
  hinges_release(&p.machine);
  return 0;
}
