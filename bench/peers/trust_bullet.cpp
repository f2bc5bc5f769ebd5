// SPDX-License-Identifier: Apache-2.0
// A mechanism in Bullet: reads it on stdin (mechanism.h), prints its frames. Sequential impulses
// with the iterations of the list, all else at Bullet's defaults, sleeping off.
#include <btBulletDynamicsCommon.h>
#include <memory>
#include <vector>

#include "../mechanism.h"

namespace {

btScalar real(double x) { return static_cast<btScalar>(x); }

btVector3 vec(const double *x) { return {real(x[0]), real(x[1]), real(x[2])}; }

struct Peer {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broad, &solver, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btMotionState>> states;
  std::vector<std::unique_ptr<btRigidBody>> bodies; // the parts, then the ground
  std::vector<std::unique_ptr<btTypedConstraint>> joints;

  btRigidBody *add(btCollisionShape *shape, double mass, const btTransform &at, double friction,
                   bool contacts) {
    shapes.emplace_back(shape);
    states.emplace_back(new btDefaultMotionState(at));
    btVector3 inertia(0, 0, 0);
    if (mass > 0) shape->calculateLocalInertia(real(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(real(mass), states.back().get(), shape, inertia);
    info.m_friction = real(friction);
    bodies.emplace_back(new btRigidBody(info));
    btRigidBody *body = bodies.back().get();
    body->setActivationState(DISABLE_DEACTIVATION);
    if (contacts)
      world.addRigidBody(body);
    else
      world.addRigidBody(body, 0, 0);
    return body;
  }

  void build(const Mechanism &m) {
    world.setGravity(vec(m.gravity));
    world.getSolverInfo().m_numIterations = m.iterations;
    // Bullet multiplies the two friction values
    double friction = btSqrt(real(m.friction));
    for (int32_t i = 0; i < m.part_count; i++) {
      const Part &p = m.parts[i];
      btCollisionShape *shape;
      if (p.is_box)
        shape = new btBoxShape(vec(p.half_size));
      else
        shape = new btSphereShape(real(p.radius));
      const double *q = p.rotation;
      btTransform at(btQuaternion(real(q[1]), real(q[2]), real(q[3]), real(q[0])), vec(p.position));
      add(shape, p.mass, at, friction, m.contacts != 0);
    }
    if (m.plane)
      add(new btStaticPlaneShape(btVector3(0, 0, 1), 0), 0, btTransform::getIdentity(), friction,
          m.contacts != 0);
    for (int32_t i = 0; i < m.joint_count; i++) join(m.joints[i]);
  }

  void join(const BallJoint &j) {
    btVector3 anchor = vec(j.anchor);
    int32_t first = j.a < 0 ? j.b : j.a;
    btRigidBody &a = *bodies[static_cast<size_t>(first)];
    btVector3 in_a = a.getCenterOfMassTransform().inverse() * anchor;
    if (j.a < 0 || j.b < 0) {
      joints.emplace_back(new btPoint2PointConstraint(a, in_a));
    } else {
      btRigidBody &b = *bodies[static_cast<size_t>(j.b)];
      btVector3 in_b = b.getCenterOfMassTransform().inverse() * anchor;
      joints.emplace_back(new btPoint2PointConstraint(a, b, in_a, in_b));
    }
    world.addConstraint(joints.back().get(), true);
  }

  void run(const Mechanism &m) {
    std::printf("engine Bullet %d\n", btGetVersion());
    for (int32_t step = 1; step <= m.step_count; step++) {
      world.stepSimulation(real(m.time_step), 0, real(m.time_step));
      if (step % m.frame_every != 0) continue;
      std::printf("frame %.17g", step * m.time_step);
      for (int32_t i = 0; i < m.part_count; i++) {
        const btVector3 &x = bodies[static_cast<size_t>(i)]->getCenterOfMassPosition();
        std::printf(" %.9g %.9g %.9g", static_cast<double>(x.x()), static_cast<double>(x.y()),
                    static_cast<double>(x.z()));
      }
      std::printf("\n");
    }
  }

  ~Peer() {
    for (auto &joint : joints) world.removeConstraint(joint.get());
    for (auto &body : bodies) world.removeRigidBody(body.get());
  }
};

} // namespace

int main() {
  Mechanism m;
  if (!mechanism_read(&m, stdin)) return 1;
  {
    Peer peer;
    peer.build(m);
    peer.run(m);
  }
  mechanism_release(&m);
  return 0;
}
