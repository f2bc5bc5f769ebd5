// SPDX-License-Identifier: Apache-2.0
// Five boxes on each other: every interface carries the weight above it, and every step says how
// exactly it solved its equations.
#include <cairn/cairn.h>

#include <math.h>
#include <stdio.h>

#define BOXES 5

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

int main(void) {
  CnWorld *world;
  CnWorldDef def = cn_world_def_default();
  def.solver.tolerance = 1e-10; // stop sweeping when the certificate is this good
  def.solver.max_iterations = 10000;
  if (failed(cn_world_create(&def, &world))) return 1;

  CnBodyId floor_body, box[BOXES];
  CnShapeId shape;
  CnBodyDef body = cn_body_def_default();
  body.kind = CN_BODY_FIXED;
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE);
  if (failed(cn_body_create(world, &body, &floor_body))) return 1;
  if (failed(cn_shape_create(world, floor_body, &plane, &shape))) return 1;
  for (int i = 0; i < BOXES; i++) {
    body = cn_body_def_default(); // cubes of 0.2 m and 8 kg, just touching
    body.pose.position.z = 0.1 + 0.2 * i;
    CnShapeDef cube = cn_shape_def_default(CN_SHAPE_BOX);
    cube.half_size = (CnVec3){0.1, 0.1, 0.1};
    if (failed(cn_body_create(world, &body, &box[i]))) return 1;
    if (failed(cn_shape_create(world, box[i], &cube, &shape))) return 1;
  }

  CnStepReport report;
  for (int step = 0; step < 1000; step++)
    if (failed(cn_world_step(world, &report))) return 1;

  int wrong = !report.solve.converged;
  for (int i = 0; i < BOXES; i++) {
    // all contacts between box i and what it stands on
    double force = 0, weight = 8 * 9.81 * (BOXES - i);
    CnBodyId below = i ? box[i - 1] : floor_body;
    for (int32_t k = 0; k < report.contact_count; k++) {
      CnContact c;
      if (failed(cn_world_contact(world, k, &c))) return 1;
      if (c.body_a.slot == below.slot && c.body_b.slot == box[i].slot) force += c.force.z;
    }
    printf("interface %d: %.6f N (weight above %.6f N)\n", i, force, weight);
    wrong |= fabs(force - weight) > 1e-6 * weight;
  }
  const CnCertificate *proof = &report.solve.certificate;
  printf("residual %.1e, worst gap speed %.1e m/s\n", proof->residual, proof->gap_speed);
  cn_world_destroy(world);
  return wrong;
}
