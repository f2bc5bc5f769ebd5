// SPDX-License-Identifier: Apache-2.0
// Built outside the tree against an installed Cairn: a ball on the floor carries its weight.
#include <cairn/cairn.h>
#include <math.h>
#include <stdio.h>

int main(void) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world = NULL;
  if (cn_world_create(&def, &world) != CN_OK) return 1;

  CnBodyId floor_body, ball;
  CnBodyDef body = cn_body_def_default();
  body.kind = CN_BODY_FIXED;
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnShapeId shape;
  if (cn_body_create(world, &body, &floor_body) != CN_OK) return 1;
  if (cn_shape_create(world, floor_body, &plane, &shape) != CN_OK) return 1;

  body = cn_body_def_default();
  body.pose.position.z = 0.1;
  CnShapeDef sphere = cn_shape_def_default(CN_SHAPE_SPHERE);
  sphere.radius = 0.1;
  if (cn_body_create(world, &body, &ball) != CN_OK) return 1;
  if (cn_shape_create(world, ball, &sphere, &shape) != CN_OK) return 1;

  for (int i = 0; i < 100; ++i)
    if (cn_world_step(world, NULL) != CN_OK) return 1;
  CnContact contact;
  CnBodyInfo info;
  if (cn_world_contact(world, 0, &contact) != CN_OK) return 1;
  if (cn_body_info(world, ball, &info) != CN_OK) return 1;
  printf("cairn %s: a ball of %.3f kg rests with %.6f N\n", cn_version(), info.mass,
         fabs(contact.force.z));
  double error = fabs(fabs(contact.force.z) - 9.81 * info.mass);
  cn_world_destroy(world);
  return error < 1e-9 ? 0 : 1;
}
