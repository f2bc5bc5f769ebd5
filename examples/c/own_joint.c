// SPDX-License-Identifier: Apache-2.0
// A kind of joint of one's own: a bead on a wire in the form of a parabola, z = x^2/(2 R). Let go at x = 0.5 m it
// passes the lowest point with the speed sqrt(2 g z); a motor can then hold it there.
#include <cairn/cairn.h>

#include <math.h>
#include <stdio.h>

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

// A vector of the frame in the world.
static CnVec3 turned(CnQuat q, double x, double y, double z) {
  CnVec3 u = {2 * (q.y * z - q.z * y), 2 * (q.z * x - q.x * z), 2 * (q.x * y - q.y * x)};
  return (CnVec3){x + q.w * u.x + q.y * u.z - q.z * u.y, y + q.w * u.y + q.z * u.x - q.x * u.z,
                  z + q.w * u.z + q.x * u.y - q.y * u.x};
}

static double dot(CnVec3 a, CnVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// With d from a to b in the axes of a: y = 0 and z - x^2/(2 R) = 0 are kept, x is free.
static void wire(void *context, const CnJointSight *sight, CnJointRows *rows) {
  CnVec3 a = sight->frame_a.position, b = sight->frame_b.position;
  CnQuat q = sight->frame_a.rotation;
  CnVec3 d = {b.x - a.x, b.y - a.y, b.z - a.z};
  CnVec3 ex = turned(q, 1, 0, 0), ey = turned(q, 0, 1, 0), ez = turned(q, 0, 0, 1);
  double x = dot(ex, d), slope = x / sight->def->radius;
  (void)context;
  rows->locked[0] = (CnJointRow){.linear = ey, .value = dot(ey, d)};
  rows->locked[1].linear = (CnVec3){ez.x - slope * ex.x, ez.y - slope * ex.y, ez.z - slope * ex.z};
  rows->locked[1].value = dot(ez, d) - 0.5 * slope * x;
  rows->axes[0] = (CnJointRow){.linear = ex, .value = x};
  rows->at_b = 1; // the axes turn with a
}

int main(void) {
  const double start = 0.5, radius = 0.8, height = start * start / (2 * radius);
  CnJointKind number;
  CnOwnJoint kind = {.size = sizeof kind,
                     .name = "parabola",
                     .summary = "a point stays on a parabola",
                     .locked_count = 2,
                     .coordinate_count = 1,
                     .coordinates = {{"x", "m"}},
                     .reads = {"radius"},
                     .place = wire};
  if (failed(cn_joint_register(&kind, &number))) return 1;
  if (cn_joint_register(&kind, &number) == CN_OK) return 1; // the name is taken
  number = cn_joint_kind_find("parabola");

  CnWorld *world;
  CnWorldDef def = cn_world_def_default();
  def.time_step = 1e-4;
  if (failed(cn_world_create(&def, &world))) return 1;
  CnBodyDef bead = cn_body_def_default();
  bead.mass = 0.1;
  bead.inertia = (CnSym3){1e-4, 1e-4, 1e-4, 0, 0, 0};
  bead.pose.position = (CnVec3){start, 0, height};
  CnJointDef joint = cn_joint_def_default(number);
  joint.radius = radius;
  CnJointId id;
  if (failed(cn_body_create(world, &bead, &joint.body_b))) return 1;
  if (failed(cn_joint_create(world, &joint, &id))) return 1;

  CnJointState state = {.coordinate = {start}};
  for (int step = 0; step < 20000 && state.coordinate[0] > 0; step++) {
    if (failed(cn_world_step(world, NULL))) return 1;
    if (failed(cn_joint_state(world, id, &state))) return 1;
  }
  double exact = -sqrt(2 * 9.81 * height);
  printf("speed at the bottom: %.5f m/s (exact %.5f m/s), off the wire by %.1e m\n", state.rate[0],
         exact, state.error);
  int wrong = fabs(state.rate[0] - exact) > 1e-3 * fabs(exact) || state.error > 1e-7;

  // what acts on coordinates acts on this one
  joint.axes[0].motor_effort = 100;
  if (failed(cn_joint_set(world, id, &joint))) return 1;
  for (int step = 0; step < 100; step++)
    if (failed(cn_world_step(world, NULL))) return 1;
  if (failed(cn_joint_state(world, id, &state))) return 1;
  printf("held by its motor: %.1e m/s\n", state.rate[0]);
  cn_world_destroy(world);
  return wrong || fabs(state.rate[0]) > 1e-9;
}
