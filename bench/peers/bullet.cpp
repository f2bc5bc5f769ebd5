// SPDX-License-Identifier: Apache-2.0
// A pile of spheres in Bullet: reads a list of bodies (bodies.h) on stdin, prints one JSON line.
//
// btSequentialImpulseConstraintSolver with the iterations of the list; friction as Bullet combines
// it (the product of two roots is the list's); everything else at Bullet's defaults but sleeping,
// which is off. The dynamic tree as broad phase. The last steps are timed: collision (pairs to
// contacts) by a world that keeps the two apart, the solver alone in its own call.
#include <btBulletDynamicsCommon.h>
#include <cstdio>
#include <memory>
#include <vector>

extern "C" {
#include "../bodies.h"
}

namespace {

btScalar real(double x) { return static_cast<btScalar>(x); }

// The parts of a step, timed.
class TimedWorld : public btDiscreteDynamicsWorld {
public:
  using btDiscreteDynamicsWorld::btDiscreteDynamicsWorld;
  double collision = 0, solver = 0;

  void performDiscreteCollisionDetection() override {
    double start = seconds_now();
    btDiscreteDynamicsWorld::performDiscreteCollisionDetection();
    collision += seconds_now() - start;
  }
  void solveConstraints(btContactSolverInfo &info) override {
    double start = seconds_now();
    btDiscreteDynamicsWorld::solveConstraints(info);
    solver += seconds_now() - start;
  }
};

struct Peer {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  TimedWorld world{&dispatcher, &broad, &solver, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btDefaultMotionState>> states;
  std::vector<std::unique_ptr<btRigidBody>> bodies; // spheres, then planes

  void add(btCollisionShape *shape, double mass, const btVector3 &at, double friction) {
    shapes.emplace_back(shape);
    states.emplace_back(new btDefaultMotionState(btTransform(btQuaternion::getIdentity(), at)));
    btVector3 inertia(0, 0, 0);
    if (mass > 0) shape->calculateLocalInertia(real(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(real(mass), states.back().get(), shape, inertia);
    info.m_friction = real(friction);
    info.m_restitution = 0;
    bodies.emplace_back(new btRigidBody(info));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
  }

  void build(const Bodies &list) {
    world.setGravity(
        btVector3(real(list.gravity[0]), real(list.gravity[1]), real(list.gravity[2])));
    world.getSolverInfo().m_numIterations = list.iterations;
    double friction = btSqrt(real(list.friction)); // Bullet multiplies the two
    for (int32_t i = 0; i < list.sphere_count; i++) {
      const Sphere &s = list.spheres[i];
      double mass = s.density * 4.0 / 3.0 * 3.14159265358979324 * s.radius * s.radius * s.radius;
      const double *x = s.position;
      add(new btSphereShape(real(s.radius)), mass, btVector3(real(x[0]), real(x[1]), real(x[2])),
          friction);
    }
    for (int32_t i = 0; i < list.plane_count; i++) {
      const Plane &p = list.planes[i];
      btVector3 n(real(p.normal[0]), real(p.normal[1]), real(p.normal[2]));
      add(new btStaticPlaneShape(n, real(p.offset)), 0, btVector3(0, 0, 0), friction);
    }
  }

  ~Peer() {
    for (auto &body : bodies) world.removeRigidBody(body.get());
  }

  double contact_count() {
    double count = 0;
    for (int i = 0; i < dispatcher.getNumManifolds(); i++)
      count += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
    return count;
  }

  void copy_positions(Bodies &list) {
    for (int32_t i = 0; i < list.sphere_count; i++) {
      const btVector3 &x = bodies[static_cast<size_t>(i)]->getWorldTransform().getOrigin();
      for (int k = 0; k < 3; k++) list.spheres[i].position[k] = x[k];
    }
  }
};

// Run all steps; figures of the last ones on stdout.
bool run(Peer &peer, Bodies &list) {
  int32_t last = list.step_count < BODIES_LAST_STEPS ? list.step_count : BODIES_LAST_STEPS;
  double step_time = 0, contacts = 0;
  Overlap overlap = {0, 0, 0};
  for (int32_t step = 0; step < list.step_count; step++) {
    if (step == list.step_count - last) peer.world.collision = peer.world.solver = 0;
    double start = seconds_now();
    peer.world.stepSimulation(real(list.time_step), 0, real(list.time_step));
    double seconds = seconds_now() - start;
    if (step < list.step_count - last) continue;
    step_time += seconds;
    contacts += peer.contact_count();
    peer.copy_positions(list);
    if (!overlap_add(&list, &overlap)) return false;
  }
  contacts /= last;
  double solver = peer.world.solver;
  std::printf("{\"engine\": \"Bullet %d.%02d%s\", \"solver\": \"sequential impulse\", "
              "\"ms_per_step\": %.9g, \"ms_collision\": %.9g, \"ms_solver\": %.9g, "
              "\"contacts_mean\": %.9g, \"ns_per_contact_iteration\": %.9g, "
              "\"penetration_max\": %.9g, \"penetration_mean\": %.9g}\n",
              btGetVersion() / 100, btGetVersion() % 100,
              sizeof(btScalar) == 8 ? " double" : " float", 1e3 * step_time / last,
              1e3 * peer.world.collision / last, 1e3 * solver / last, contacts,
              contacts > 0 ? 1e9 * solver / last / (contacts * list.iterations) : 0, overlap.max,
              overlap.count > 0 ? overlap.sum / static_cast<double>(overlap.count) : 0);
  return true;
}

} // namespace

int main() {
  Bodies list;
  if (!bodies_read(&list, stdin)) return 1;
  bool ok;
  {
    Peer peer;
    peer.build(list);
    ok = run(peer, list);
  }
  if (!ok) std::fprintf(stderr, "bullet: out of memory\n");
  bodies_destroy(&list);
  return ok ? 0 : 1;
}
