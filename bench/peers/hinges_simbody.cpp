// SPDX-License-Identifier: Apache-2.0
// A machine of hinges in Simbody (bench mechanisms): a tree of pin joints in their own coordinates, loops
// closed by holding two points on the axis together. Semi-explicit Euler with a fixed step, as the
// other engines have.
#include <Simbody.h>

#include <cstring>
#include <vector>

#include "../hinges.h"

using namespace SimTK;

namespace {

Vec3 vec(const double *x) { return Vec3(x[0], x[1], x[2]); }

struct Peer {
  Hinges machine = {};
  MultibodySystem system;
  SimbodyMatterSubsystem matter{system};
  GeneralForceSubsystem forces{system};
  Force::UniformGravity gravity{forces, matter, Vec3(0, 0, -9.81)};
  std::vector<MobilizedBody> bodies;
  State state;
  int loops = 0;

  MobilizedBody &of(int body) { return body < 0 ? matter.updGround() : bodies[(size_t)body]; }
};

// The hinge's frame in a body: z along its axis, the same frame of the world for both.
Transform frame(const Peer &p, const Hinge &h, int body, const double *at) {
  Rotation hinge(UnitVec3(vec(h.axis)), ZAxis);
  if (body < 0) return Transform(hinge, vec(at));
  const double *q = p.machine.boxes[body].q;
  Rotation turned(Quaternion(Vec4(q[0], q[1], q[2], q[3])));
  return Transform(~turned * hinge, vec(at));
}

void add_box(Peer &p, int i) {
  const Box &b = p.machine.boxes[i];
  const Hinge &h = p.machine.hinges[b.hinge];
  double j[3];
  hinges_inertia(&b, j);
  Body::Rigid body(MassProperties(b.mass, Vec3(0), Inertia(j[0], j[1], j[2])));
  p.bodies.push_back(
      MobilizedBody::Pin(p.of(h.a), frame(p, h, h.a, h.in_a), body, frame(p, h, h.b, h.in_b)));
}

void close_loop(Peer &p, const Hinge &h) {
  for (int side = -1; side <= 1; side += 2) {
    Vec3 a = vec(h.in_a) + .01 * side * vec(h.axis_in_a);
    Vec3 b = vec(h.in_b) + .01 * side * vec(h.axis_in_b);
    Constraint::Ball(p.of(h.a), a, p.of(h.b), b);
  }
  p.loops++;
}

bool make(Peer &p) {
  const Hinges &m = p.machine;
  for (int i = 0; i < m.box_count; i++) {
    if (m.boxes[i].hinge < 0 || m.hinges[m.boxes[i].hinge].a >= i) return false;
    add_box(p, i);
  }
  for (int i = 0; i < m.hinge_count; i++)
    if (m.hinges[i].loop) close_loop(p, m.hinges[i]);
  p.state = p.system.realizeTopology();
  for (int i = 0; i < m.box_count; i++)
    p.bodies[(size_t)i].setOneU(p.state, 0, m.hinges[m.boxes[i].hinge].rate);
  p.system.realize(p.state, Stage::Velocity);
  return true;
}

void step(void *context) {
  Peer &p = *static_cast<Peer *>(context);
  double h = p.machine.h;
  p.system.realize(p.state, Stage::Acceleration);
  Vector u = p.state.getU() + h * p.state.getUDot();
  p.state.updU() = u;
  p.system.realize(p.state, Stage::Velocity);
  Vector q = p.state.getQ() + h * p.state.getQDot();
  p.state.updQ() = q;
  if (p.loops > 0) {
    p.system.realize(p.state, Stage::Position);
    p.system.projectQ(p.state, 1e-9);
    p.system.projectU(p.state, 1e-9);
  }
  p.system.realize(p.state, Stage::Velocity);
}

void place(const void *context, int body, const double at[3], double world[3]) {
  const Peer &p = *static_cast<const Peer *>(context);
  Vec3 x = vec(at);
  if (body >= 0) x = p.bodies[(size_t)body].findStationLocationInGround(p.state, x);
  for (int i = 0; i < 3; i++) world[i] = x[i];
}

} // namespace

int main() {
  Peer p;
  if (!hinges_read(&p.machine) || !make(p)) return 1;
  hinges_run(&p.machine, step, place, &p);
  hinges_release(&p.machine);
  return 0;
}
