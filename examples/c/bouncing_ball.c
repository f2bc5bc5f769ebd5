// SPDX-License-Identifier: Apache-2.0
// A ball of restitution 0.8 dropped from 1 m: each apex is 0.64 of the one before.
#include <cairn/cairn.h>

#include <math.h>
#include <stdio.h>

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

int main(void) {
  const double radius = 0.05, restitution = 0.8, drop = 1;
  CnWorld *world;
  CnWorldDef world_def = cn_world_def_default();
  world_def.time_step = 1e-4;
  if (failed(cn_world_create(&world_def, &world))) return 1;

  // the floor: the half-space z <= 0
  CnBodyId floor_body, ball;
  CnShapeId shape;
  CnBodyDef floor_def = cn_body_def_default();
  floor_def.kind = CN_BODY_FIXED;
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  if (failed(cn_body_create(world, &floor_def, &floor_body))) return 1;
  if (failed(cn_shape_create(world, floor_body, &plane, &shape))) return 1;

  // the ball, its lowest point 1 m above the floor; its mass comes from shape and density
  CnMaterialId rubber;
  CnMaterialDef material = cn_material_def_default();
  material.restitution = restitution;
  if (failed(cn_material_create(world, &material, &rubber))) return 1;
  CnBodyDef ball_def = cn_body_def_default();
  ball_def.pose.position.z = radius + drop;
  CnShapeDef sphere = cn_shape_def_default(CN_SHAPE_SPHERE);
  sphere.radius = radius;
  sphere.material = rubber;
  if (failed(cn_body_create(world, &ball_def, &ball))) return 1;
  if (failed(cn_shape_create(world, ball, &sphere, &shape))) return 1;

  // an apex is where the velocity turns from up to down
  double expected = drop, velocity = 0;
  for (int bounce = 0; bounce < 5;) {
    CnPose pose;
    CnTwist twist;
    if (failed(cn_world_step(world, NULL))) return 1;
    if (failed(cn_body_pose(world, ball, &pose))) return 1;
    if (failed(cn_body_twist(world, ball, &twist))) return 1;
    if (velocity > 0 && twist.velocity.z <= 0) {
      double height = pose.position.z - radius;
      expected *= restitution * restitution;
      printf("apex %d: %.4f m (exact %.4f m)\n", ++bounce, height, expected);
      if (fabs(height - expected) > 2e-3) return 1;
    }
    velocity = twist.velocity.z;
  }
  cn_world_destroy(world);
  return 0;
}
