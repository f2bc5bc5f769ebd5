// SPDX-License-Identifier: Apache-2.0
// Broad and narrow phase of convex bodies in Bullet (bench collision): the dynamic tree, the default
// algorithms, no margins about hulls, boxes and cylinders; and steps of a pile of them.
#include <btBulletDynamicsCommon.h>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#include "collide.h"

namespace {

btScalar real(double x) { return static_cast<btScalar>(x); }

double now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

btCollisionShape *make(const Scene &s, const Solid &solid) {
  const double *h = solid.size;
  btCollisionShape *shape;
  if (solid.kind == 'o') return new btSphereShape(real(h[0]));
  if (solid.kind == 'c') return new btCapsuleShapeZ(real(h[0]), real(2 * h[1]));
  if (solid.kind == 'y') {
    shape = new btCylinderShapeZ(btVector3(real(h[0]), real(h[0]), real(h[1])));
  } else if (solid.kind == 'b') {
    shape = new btBoxShape(btVector3(real(h[0]), real(h[1]), real(h[2])));
  } else {
    const Geometry &g = s.geometries[solid.geometry];
    auto *hull = new btConvexHullShape;
    for (int i = 0; i < g.vertex_count; i++) {
      const double *v = g.vertices + 3 * i;
      hull->addPoint(btVector3(real(v[0]), real(v[1]), real(v[2])), false);
    }
    hull->recalcLocalAabb();
    shape = hull;
  }
  shape->setMargin(0);
  return shape;
}

// ---- steps ----

class TimedWorld : public btDiscreteDynamicsWorld {
public:
  using btDiscreteDynamicsWorld::btDiscreteDynamicsWorld;
  double collision = 0;
  void performDiscreteCollisionDetection() override {
    double start = now();
    btDiscreteDynamicsWorld::performDiscreteCollisionDetection();
    collision += now() - start;
  }
};

btRigidBody *add_body(TimedWorld &world, btCollisionShape *shape, const btTransform &at,
                      double mass, const btVector3 &inertia, double mu) {
  btRigidBody::btRigidBodyConstructionInfo info(real(mass), new btDefaultMotionState(at), shape,
                                                inertia);
  info.m_friction = real(mu);
  auto *body = new btRigidBody(info);
  body->setActivationState(DISABLE_DEACTIVATION);
  world.addRigidBody(body);
  return body;
}

// Bodies live as long as the program.
int run_steps(const Scene &s) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad;
  btSequentialImpulseConstraintSolver solver;
  TimedWorld world(&dispatcher, &broad, &solver, &configuration);
  int steps = static_cast<int>(s.step[1]), last = steps < LAST ? steps : LAST;
  double all = 0, deepest = 0, mu = btSqrt(real(s.step[3])); // Bullet multiplies the two
  world.setGravity(btVector3(0, 0, real(-9.81)));
  world.getSolverInfo().m_numIterations = static_cast<int>(s.step[2]);
  btRigidBody *first = nullptr;
  auto *ground = new btTriangleMesh;
  for (int i = 0; i < s.triangle_count; i++) {
    btVector3 corner[3];
    for (int k = 0; k < 3; k++) {
      const double *c = s.corners + 3 * s.triangles[3 * i + k];
      corner[k] = btVector3(real(c[0]), real(c[1]), real(c[2]));
    }
    ground->addTriangle(corner[0], corner[1], corner[2]);
  }
  add_body(world, new btBvhTriangleMeshShape(ground, true), btTransform::getIdentity(), 0,
           btVector3(0, 0, 0), mu);
  for (int i = 0; i < s.count; i++) {
    const double *x = s.frames + static_cast<size_t>(i) * 7, *m = s.solids[i].mass;
    btQuaternion q(real(x[4]), real(x[5]), real(x[6]), real(x[3]));
    btRigidBody *body = add_body(world, make(s, s.solids[i]),
                                 btTransform(q, btVector3(real(x[0]), real(x[1]), real(x[2]))),
                                 m[0], btVector3(real(m[1]), real(m[2]), real(m[3])), mu);
    if (i > 0) continue;
    first = body;
    body->setLinearVelocity(
        btVector3(real(s.velocity[0]), real(s.velocity[1]), real(s.velocity[2])));
  }
  for (int n = 0; n < steps; n++) {
    if (n == steps - last) world.collision = 0;
    double start = now();
    world.stepSimulation(real(s.step[0]), 0, real(s.step[0]));
    if (n >= steps - last) all += now() - start;
  }
  for (int i = 0; i < dispatcher.getNumManifolds(); i++) {
    const btPersistentManifold *m = dispatcher.getManifoldByIndexInternal(i);
    for (int k = 0; k < m->getNumContacts(); k++)
      deepest = btMax(deepest, -static_cast<double>(m->getContactPoint(k).getDistance()));
  }
  std::printf("%.17g %.17g %.17g %.17g %.17g\n", all / last, world.collision / last, deepest,
              static_cast<double>(first->getLinearVelocity().length()),
              static_cast<double>(first->getWorldTransform().getOrigin().z()));
  std::fflush(stdout);
  std::_Exit(0);
}

} // namespace

int main() {
  static Scene s;
  if (!read_scene(&s)) return 1;
  if (s.step[1] > 0) return run_steps(s);
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad;
  btCollisionWorld world(&dispatcher, &broad, &configuration);
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btCollisionObject>> objects;
  for (int i = 0; i < s.count; i++) {
    shapes.emplace_back(make(s, s.solids[i]));
    objects.emplace_back(new btCollisionObject);
    objects.back()->setCollisionShape(shapes.back().get());
    objects.back()->setUserIndex(i);
    objects.back()->setActivationState(DISABLE_DEACTIVATION);
  }
  double seconds = 1e300;
  for (int f = 0; f < s.frame_count; f++) {
    const double *x = s.frames + static_cast<size_t>(f) * static_cast<size_t>(s.count) * 7;
    double start = now();
    for (int i = 0; i < s.count; i++, x += 7) {
      btQuaternion q(real(x[4]), real(x[5]), real(x[6]), real(x[3]));
      btCollisionObject *object = objects[static_cast<size_t>(i)].get();
      object->setWorldTransform(btTransform(q, btVector3(real(x[0]), real(x[1]), real(x[2]))));
      if (f == 0)
        world.addCollisionObject(object, btBroadphaseProxy::DefaultFilter,
                                 btBroadphaseProxy::AllFilter);
    }
    world.performDiscreteCollisionDetection();
    double end = now();
    if (f > 0 && end - start < seconds) seconds = end - start;
  }
  std::printf("%.17g\n", seconds);
  for (int i = 0; i < dispatcher.getNumManifolds(); i++) {
    const btPersistentManifold *m = dispatcher.getManifoldByIndexInternal(i);
    int a = m->getBody0()->getUserIndex(), b = m->getBody1()->getUserIndex(), touches = 0;
    for (int k = 0; k < m->getNumContacts(); k++)
      touches |= m->getContactPoint(k).getDistance() <= 0;
    if (touches) std::printf("%d %d\n", a < b ? a : b, a < b ? b : a);
  }
  for (auto &object : objects) world.removeCollisionObject(object.get());
  return 0;
}
