// SPDX-License-Identifier: Apache-2.0
#include "worlds.h"

#include "check.h"
#include "core/math.h"

CnWorldDef world_def_exact(double time_step) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = time_step;
  def.solver = cn_solver_def_default("psor");
  def.solver.tolerance = 1e-12;
  def.solver.max_iterations = 1000;
  return def;
}

CnWorld *world_make(const CnWorldDef *def) {
  CnWorld *world = NULL;
  CHECK_OK(cn_world_create(def, &world));
  return world;
}

CnMaterialId world_material(CnWorld *world, double friction, double restitution) {
  CnMaterialDef def = cn_material_def_default();
  CnMaterialId id;
  def.friction = friction;
  def.restitution = restitution;
  CHECK_OK(cn_material_create(world, &def, &id));
  return id;
}

static CnBodyId with_shape(CnWorld *world, const CnBodyDef *body, const CnShapeDef *shape) {
  CnBodyId id;
  CnShapeId shape_id;
  CHECK_OK(cn_body_create(world, body, &id));
  CHECK_OK(cn_shape_create(world, id, shape, &shape_id));
  return id;
}

CnBodyId world_floor(CnWorld *world, CnMaterialId material) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_PLANE);
  body.kind = CN_BODY_FIXED;
  body.name = "floor";
  shape.material = material;
  return with_shape(world, &body, &shape);
}

CnBodyId world_wheel(CnWorld *world, double radius, double mass, double inertia, CnVec3 position,
                     CnMaterialId material) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_SPHERE);
  body.mass = mass;
  body.inertia = (CnSym3){inertia, inertia, inertia, 0, 0, 0};
  body.pose.position = position;
  shape.radius = radius;
  shape.material = material;
  return with_shape(world, &body, &shape);
}

CnBodyId world_ball(CnWorld *world, double radius, double mass, CnVec3 position, CnVec3 velocity,
                    CnMaterialId material) {
  CnBodyId id = world_wheel(world, radius, mass, 0.4 * mass * radius * radius, position, material);
  CnTwist twist = {velocity, {0, 0, 0}};
  CHECK_OK(cn_body_set_twist(world, id, &twist));
  return id;
}

CnBodyId world_box(CnWorld *world, CnVec3 half_size, double mass, CnPose pose, CnVec3 velocity,
                   CnMaterialId material) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  body.pose = pose;
  body.twist.velocity = velocity;
  shape.half_size = half_size;
  shape.density = mass / (8 * half_size.x * half_size.y * half_size.z);
  shape.material = material;
  return with_shape(world, &body, &shape);
}

CnBodyId world_fixed_box(CnWorld *world, CnVec3 half_size, CnPose pose, CnMaterialId material) {
  CnBodyDef body = cn_body_def_default();
  CnShapeDef shape = cn_shape_def_default(CN_SHAPE_BOX);
  body.kind = CN_BODY_FIXED;
  body.pose = pose;
  shape.half_size = half_size;
  shape.material = material;
  return with_shape(world, &body, &shape);
}

CnBodyId world_mass(CnWorld *world, double mass, CnVec3 inertia, CnPose pose, CnTwist twist) {
  CnBodyDef body = cn_body_def_default();
  CnBodyId id;
  body.mass = mass;
  body.inertia = (CnSym3){inertia.x, inertia.y, inertia.z, 0, 0, 0};
  body.pose = pose;
  body.twist = twist;
  CHECK_OK(cn_body_create(world, &body, &id));
  return id;
}

CnBodyId world_part(CnWorld *world, double mass, double j, CnVec3 centre, double angle) {
  CnPose pose = {centre, world_turn((CnVec3){0, 1, 0}, angle)};
  CnTwist still = {{0, 0, 0}, {0, 0, 0}};
  return world_mass(world, mass, (CnVec3){j, j, j}, pose, still);
}

CnJointId world_join(CnWorld *world, CnJointKind kind, CnBodyId a, CnBodyId b, CnVec3 at,
                     CnVec3 axis, const CnJointAxis *act) {
  CnJointDef def = cn_joint_def_default(kind);
  CnJointId joint;
  def.body_a = a;
  def.body_b = b;
  if (act) def.axes[0] = *act;
  CHECK_OK(cn_joint_def_along(world, at, axis, &def));
  CHECK_OK(cn_joint_create(world, &def, &joint));
  return joint;
}

CnJointState world_joint(const CnWorld *world, CnJointId joint) {
  CnJointState state;
  CHECK_OK(cn_joint_state(world, joint, &state));
  return state;
}

CnPose world_at(double x, double y, double z) { return (CnPose){{x, y, z}, {1, 0, 0, 0}}; }

CnQuat world_turn(CnVec3 axis, double angle) {
  double s = cni_sin(angle / 2);
  return (CnQuat){cni_cos(angle / 2), s * axis.x, s * axis.y, s * axis.z};
}

CnStepReport world_step(CnWorld *world) {
  CnStepReport report;
  CHECK_OK(cn_world_step(world, &report));
  return report;
}

CnStepReport world_step_converged(CnWorld *world) {
  CnStepReport report = world_step(world);
  const CnCertificate *c = &report.solve.certificate;
  int good = report.solve.converged || c->residual_speed <= WORLD_SPEED_ROUNDING;
  if (!good)
    print_error("step %lld: residual %g, %g m/s after %d iterations\n", (long long)report.step,
                c->residual, c->residual_speed, (int)report.solve.iterations);
  CHECK(good);
  return report;
}

CnPose world_pose(const CnWorld *world, CnBodyId body) {
  CnPose pose;
  CHECK_OK(cn_body_pose(world, body, &pose));
  return pose;
}

CnTwist world_twist(const CnWorld *world, CnBodyId body) {
  CnTwist twist;
  CHECK_OK(cn_body_twist(world, body, &twist));
  return twist;
}

CnWorldInfo world_info(const CnWorld *world) {
  CnWorldInfo info;
  cn_world_info(world, &info);
  return info;
}

double world_energy(const CnWorld *world) {
  CnWorldSums sums;
  cn_world_sums(world, &sums);
  return sums.kinetic_energy + sums.potential_energy;
}

static int same_body(CnBodyId a, CnBodyId b) {
  return a.slot == b.slot && a.generation == b.generation;
}

CnVec3 world_force(const CnWorld *world, CnBodyId from, CnBodyId on) {
  CnVec3 sum = {0, 0, 0};
  int32_t count = world_info(world).contact_count;
  for (int32_t i = 0; i < count; i++) {
    CnContact c;
    CHECK_OK(cn_world_contact(world, i, &c));
    double sign = 0;
    if (same_body(c.body_a, from) && same_body(c.body_b, on)) sign = 1;
    if (same_body(c.body_a, on) && same_body(c.body_b, from)) sign = -1;
    sum.x += sign * c.force.x;
    sum.y += sign * c.force.y;
    sum.z += sign * c.force.z;
  }
  return sum;
}
