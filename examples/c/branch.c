// SPDX-License-Identifier: Apache-2.0
// Save and branch: a falling ball is copied in the air. One copy lands on rubber, the other on what the floor was; a
// snapshot takes the first back, and it does the same again to the last bit.
#include <cairn/cairn.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

static double speed_after(CnWorld *world, int steps) {
  CnTwist twist;
  for (int i = 0; i < steps; i++)
    if (failed(cn_world_step(world, NULL))) return NAN;
  if (failed(cn_body_twist(world, cn_world_find_body(world, "ball"), &twist))) return NAN;
  return twist.velocity.z;
}

int main(void) {
  CnWorld *world, *branch;
  CnWorldDef def = cn_world_def_default();
  if (failed(cn_world_create(&def, &world))) return 1;
  CnBodyDef body = cn_body_def_default();
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  CnShapeDef sphere = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnMaterialDef stone = cn_material_def_default();
  CnBodyId id;
  CnShapeId shape;
  stone.name = "floor";
  body.kind = CN_BODY_FIXED;
  sphere.radius = 0.1;
  if (failed(cn_material_create(world, &stone, &plane.material))) return 1;
  if (failed(cn_body_create(world, &body, &id))) return 1;
  if (failed(cn_shape_create(world, id, &plane, &shape))) return 1;
  body = cn_body_def_default();
  body.name = "ball";
  body.pose.position.z = 1.1;
  if (failed(cn_body_create(world, &body, &id))) return 1;
  if (failed(cn_shape_create(world, id, &sphere, &shape))) return 1;
  if (isnan(speed_after(world, 200))) return 1; // in the air

  size_t size;
  if (failed(cn_world_save(world, NULL, 0, &size))) return 1;
  void *snapshot = malloc(size);
  if (!snapshot || failed(cn_world_save(world, snapshot, size, &size))) return 1;
  if (failed(cn_world_copy(world, &branch))) return 1;
  CnMaterialId floor = cn_world_find_material(branch, "floor"); // ids are valid in both
  CnMaterialDef rubber;
  if (failed(cn_material_def(branch, floor, &rubber))) return 1;
  rubber.restitution = 0.8;
  if (failed(cn_material_set(branch, floor, &rubber))) return 1;

  double still = speed_after(world, 260), bounced = speed_after(branch, 260);
  uint64_t hash = cn_world_hash(world);
  if (failed(cn_world_restore(world, snapshot, size))) return 1;
  double again = speed_after(world, 260);
  int same = cn_world_hash(world) == hash && again == still;
  printf("on stone %.3f m/s, on rubber %.3f m/s; again %s\n", still, bounced,
         same ? "the same bits" : "other bits");
  free(snapshot);
  cn_world_destroy(branch);
  cn_world_destroy(world);
  return !(fabs(still) < 1e-3 && bounced > 3 && same);
}
