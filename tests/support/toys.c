// SPDX-License-Identifier: Apache-2.0
#include "toys.h"

#include "check.h"
#include "core/math.h"
#include "core/rng.h"
#include "joint/joint.h"

CnWorld *toy_world_from(const CnWorldDef *def) {
  CnWorld *world;
  CHECK_OK(cn_world_create(def, &world));
  return world;
}

CnWorld *toy_world(double time_step) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = time_step;
  return toy_world_from(&def);
}

CnBodyId toy_floor(CnWorld *world) {
  CnBodyDef def = cn_body_def_default();
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnBodyId body;
  CnShapeId shape;
  def.kind = CN_BODY_FIXED;
  def.name = "floor";
  CHECK_OK(cn_body_create(world, &def, &body));
  CHECK_OK(cn_shape_create(world, body, &plane, &shape));
  return body;
}

CnBodyId toy_ball(CnWorld *world, double radius, CnVec3 centre, CnMaterialId material) {
  CnBodyDef def = cn_body_def_default();
  CnShapeDef ball = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnBodyId body;
  CnShapeId shape;
  def.pose.position = centre;
  ball.radius = radius;
  ball.material = material;
  CHECK_OK(cn_body_create(world, &def, &body));
  CHECK_OK(cn_shape_create(world, body, &ball, &shape));
  return body;
}

CnBodyId toy_box(CnWorld *world, CnVec3 half_size, CnVec3 centre, CnQuat rotation) {
  CnBodyDef def = cn_body_def_default();
  CnShapeDef box = cn_shape_def_default(CN_SHAPE_BOX);
  CnBodyId body;
  CnShapeId shape;
  def.pose = (CnPose){centre, rotation};
  box.half_size = half_size;
  CHECK_OK(cn_body_create(world, &def, &body));
  CHECK_OK(cn_shape_create(world, body, &box, &shape));
  return body;
}

CnMaterialId toy_material(CnWorld *world, double friction, double restitution) {
  CnMaterialDef def = cn_material_def_default();
  CnMaterialId material;
  def.friction = friction;
  def.restitution = restitution;
  CHECK_OK(cn_material_create(world, &def, &material));
  return material;
}

CnPose toy_pose(const CnWorld *world, CnBodyId body) {
  CnPose pose;
  CHECK_OK(cn_body_pose(world, body, &pose));
  return pose;
}

CnTwist toy_twist(const CnWorld *world, CnBodyId body) {
  CnTwist twist;
  CHECK_OK(cn_body_twist(world, body, &twist));
  return twist;
}

void toy_set_twist(CnWorld *world, CnBodyId body, CnVec3 velocity, CnVec3 spin) {
  CnTwist twist = {velocity, spin};
  CHECK_OK(cn_body_set_twist(world, body, &twist));
}

CnVec3 toy_any(CniRng *rng, double size) {
  CnVec3 v;
  v.x = cni_rng_range(rng, -size, size);
  v.y = cni_rng_range(rng, -size, size);
  v.z = cni_rng_range(rng, -size, size);
  return v;
}

void toy_steps(CnWorld *world, int count) {
  for (int i = 0; i < count; i++) CHECK_OK(cn_world_step(world, NULL));
}

// Four walls: planes that look inward.
static void walls(CnWorld *world, double half_width) {
  CnBodyDef def = cn_body_def_default();
  CnBodyId body;
  def.kind = CN_BODY_FIXED;
  def.name = "walls";
  CHECK_OK(cn_body_create(world, &def, &body));
  for (int i = 0; i < 4; i++) {
    CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
    CnShapeId shape;
    double angle = i * CNI_PI / 2;
    CnQuat about_z = {cni_cos(angle / 2), 0, 0, cni_sin(angle / 2)};
    CnQuat lie = {sqrt(0.5), 0, -sqrt(0.5), 0}; // z to -x
    plane.pose.rotation = cn_qmul(about_z, lie);
    plane.pose.position = cn_scale(-half_width, cn_rotate(plane.pose.rotation, cn_vec3(0, 0, 1)));
    CHECK_OK(cn_shape_create(world, body, &plane, &shape));
  }
}

CnWorld *toy_pile(const CnWorldDef *def, int count) {
  CnWorld *world = toy_world_from(def);
  CniRng rng = {12345};
  toy_floor(world);
  walls(world, 0.5);
  for (int i = 0; i < count; i++) {
    int layer = i / 64, in_layer = i % 64;
    double x = -0.42 + 0.12 * (in_layer % 8), y = -0.42 + 0.12 * (in_layer / 8);
    x += cni_rng_range(&rng, -5e-3, 5e-3);
    y += cni_rng_range(&rng, -5e-3, 5e-3);
    toy_ball(world, 0.05, cn_vec3(x, y, 0.06 + 0.11 * layer), (CnMaterialId){0, 0});
  }
  return world;
}

void toy_curves(CnWorld *world, CnJointDef *def) {
  static const double x[] = {0.2, 0.06, -0.15, -0.16, 0.07}, y[] = {0, 0.14, 0.09, -0.1, -0.13};
  static const double round_x[] = {0.1, -0.1}, round_y[] = {0, 0}, half[] = {1, 1};
  const CniJointKind *kind = cni_joint_kinds[def->kind];
  CnCurveDef oval = cn_curve_def_default(CN_CURVE_SPLINE);
  CnCurveDef circle = cn_curve_def_default(CN_CURVE_PATH);
  oval.closed = circle.closed = 1;
  oval.point_count = 5;
  oval.x = x;
  oval.y = y;
  circle.point_count = 2;
  circle.x = round_x;
  circle.y = round_y;
  circle.bulges = half;
  if (kind->curves > 0) CHECK_OK(cn_curve_create(world, &oval, &def->curve_a));
  if (kind->curves > 1) CHECK_OK(cn_curve_create(world, &circle, &def->curve_b));
  if (kind->curves == 0) return;
  CnJointDef standard = cn_joint_def_default(def->kind);
  CnCurvePoint p;
  CHECK_OK(cn_curve_point(world, def->curve_a, 0, &p));
  double out = kind->curves > 1 ? 0.1 : 0;
  CnVec3 to_b = cn_vec3(p.x + out * p.tangent_y, p.y - out * p.tangent_x, 0);
  def->frame_a.position = cn_sub(def->frame_a.position, cn_rotate(def->frame_a.rotation, to_b));
  def->side = CN_SIDE_RIGHT;
  for (int32_t i = 0; i < kind->curves && kind->curves == 2; i++) def->axes[i] = standard.axes[i];
  // where the slide begins is a matter of the curves
  if (kind->curves == 2) def->axes[kind->gap + 1].lower = -INFINITY;
  if (kind->curves == 2) def->axes[kind->gap + 1].upper = INFINITY;
  if (!def->one_sided) def->axes[kind->gap] = standard.axes[kind->gap];
}
