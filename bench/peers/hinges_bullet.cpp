// SPDX-License-Identifier: Apache-2.0
// A machine of hinges as multibodies of Bullet: Featherstone's method in the coordinates of the hinges,
// in double precision. Reads and prints what hinges_ode.c does. A hinge that brings a new body makes
// it a link, any other one closes a loop: two points on its axis are held together.
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyPoint2Point.h>
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

struct Box {
  btVector3 x, size, v, w;
  btQuaternion q;
  btScalar mass;
  int machine, link; // -1: none yet
  btScalar rate;     // of its hinge
};

struct Hinge {
  int a, b;
  btVector3 at, axis;
  btVector3 in_a, in_b; // the anchor in the bodies
};

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool read_numbers(int count, double *n) {
  for (int i = 0; i < count; i++)
    if (std::scanf("%lf", &n[i]) != 1) return false;
  return true;
}

static btVector3 vec(const double *n) { return btVector3(n[0], n[1], n[2]); }

static btVector3 local(const Box &box, const btVector3 &x) {
  return quatRotate(box.q.inverse(), x - box.x);
}

struct Peer {
  double h;
  int steps;
  std::vector<Box> boxes;
  std::vector<Hinge> hinges;
  std::vector<btMultiBody *> machines;
  std::vector<int> loops; // hinges
};

static bool read_all(Peer &p) {
  char word[16];
  double n[17];
  while (std::scanf("%15s", word) == 1) {
    if (word[0] == 's') {
      if (!read_numbers(3, n)) return false;
      p.h = n[0];
      p.steps = (int)n[1];
    } else if (word[0] == 'b') {
      if (!read_numbers(17, n)) return false;
      p.boxes.push_back({vec(n), vec(n + 7), vec(n + 11), vec(n + 14),
                         btQuaternion(n[4], n[5], n[6], n[3]), n[10], -1, -1, 0});
    } else {
      if (!read_numbers(8, n)) return false;
      Hinge hinge = {(int)n[0], (int)n[1], vec(n + 2), vec(n + 5), vec(n + 2), vec(n + 2)};
      if (hinge.a >= 0) hinge.in_a = local(p.boxes[(size_t)hinge.a], hinge.at);
      if (hinge.b >= 0) hinge.in_b = local(p.boxes[(size_t)hinge.b], hinge.at);
      p.hinges.push_back(hinge);
    }
  }
  return !p.boxes.empty() && p.steps > 0;
}

// Which machine and link every body is, in the order of the hinges; returns the number of links of each.
static std::vector<int> count_links(Peer &p) {
  std::vector<int> links;
  for (size_t i = 0; i < p.hinges.size(); i++) {
    const Hinge &h = p.hinges[i];
    Box &b = p.boxes[(size_t)h.b];
    if (b.machine >= 0) {
      p.loops.push_back((int)i);
      continue;
    }
    b.machine = h.a < 0 ? (int)links.size() : p.boxes[(size_t)h.a].machine;
    if (h.a < 0) links.push_back(0);
    b.link = links[(size_t)b.machine]++;
  }
  return links;
}

static void add_link(Peer &p, const Hinge &h) {
  Box &b = p.boxes[(size_t)h.b];
  btMultiBody *machine = p.machines[(size_t)b.machine];
  btQuaternion above(0, 0, 0, 1);
  btVector3 spin(0, 0, 0), s = b.size * b.size;
  int parent = -1;
  if (h.a >= 0) {
    const Box &a = p.boxes[(size_t)h.a];
    above = a.q;
    spin = a.w;
    parent = a.link;
  }
  btVector3 inertia(b.mass / 12 * (s.y() + s.z()), b.mass / 12 * (s.x() + s.z()),
                    b.mass / 12 * (s.x() + s.y()));
  machine->setupRevolute(b.link, b.mass, inertia, parent, b.q.inverse() * above,
                         quatRotate(b.q.inverse(), h.axis), h.in_a, -h.in_b, true);
  b.rate = (b.w - spin).dot(h.axis);
}

static void make(Peer &p, btMultiBodyDynamicsWorld &world) {
  std::vector<int> links = count_links(p);
  for (int count : links) {
    btMultiBody *machine = new btMultiBody(count, 0, btVector3(0, 0, 0), true, false);
    machine->setLinearDamping(0);
    machine->setAngularDamping(0);
    p.machines.push_back(machine);
  }
  std::vector<bool> closes(p.hinges.size(), false);
  for (int i : p.loops) closes[(size_t)i] = true;
  for (size_t i = 0; i < p.hinges.size(); i++)
    if (!closes[i]) add_link(p, p.hinges[i]);
  for (btMultiBody *machine : p.machines) {
    machine->finalizeMultiDof();
    world.addMultiBody(machine);
  }
  for (const Box &b : p.boxes) p.machines[(size_t)b.machine]->setJointVel(b.link, b.rate);
  for (int i : p.loops) {
    const Hinge &h = p.hinges[(size_t)i];
    const Box &a = p.boxes[(size_t)h.a], &b = p.boxes[(size_t)h.b];
    for (int k = -1; k <= 1; k += 2) {
      btVector3 at = h.at + h.axis * (.01 * k);
      world.addMultiBodyConstraint(new btMultiBodyPoint2Point(p.machines[(size_t)a.machine], a.link,
                                                              p.machines[(size_t)b.machine], b.link,
                                                              local(a, at), local(b, at)));
    }
  }
}

static btVector3 where(const Peer &p, int body, const btVector3 &at) {
  if (body < 0) return at;
  const Box &box = p.boxes[(size_t)body];
  return p.machines[(size_t)box.machine]->localPosToWorld(box.link, at);
}

static double gap(const Peer &p) {
  double most = 0;
  for (const Hinge &h : p.hinges)
    most = std::fmax(most, (where(p, h.b, h.in_b) - where(p, h.a, h.in_a)).length());
  return most;
}

int main() {
  Peer p = {};
  if (!read_all(p)) return 1;
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad;
  btMultiBodyConstraintSolver solver;
  btMultiBodyDynamicsWorld world(&dispatcher, &broad, &solver, &configuration);
  world.setGravity(btVector3(0, 0, -9.81));
  make(p, world);
  double seconds = 0, open = 0;
  for (int i = 0; i < p.steps; i++) {
    double start = now();
    world.stepSimulation(p.h, 1, p.h);
    if (i >= p.steps / 10) seconds += now() - start;
    open = std::fmax(open, gap(p));
  }
  int last = (int)p.boxes.size() - 1;
  btVector3 x = where(p, last, btVector3(0, 0, 0)), e = where(p, last, btVector3(1, 0, 0)) - x;
  std::printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n",
              seconds / (p.steps - p.steps / 10), open, x.x(), x.y(), x.z(), e.x(), e.y(), e.z());
  return 0;
}
