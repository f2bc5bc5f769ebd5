// SPDX-License-Identifier: Apache-2.0
#include "toys.h"

#include "check.h"
#include "core/math.h"
#include "core/rng.h"

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
