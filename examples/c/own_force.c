// SPDX-License-Identifier: Apache-2.0
// A kind of force of one's own: a spring whose force grows with the cube of its length. A ball on it swings
// with the period 7.4163/(A sqrt(k/m)), A the amplitude. A snapshot of the world names the kind.
#include <cairn/cairn.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

static CnStatus cubic(void *context, const CnForceDef *def, const CnForceSight *sight,
                      CnForceEffect *effect) {
  CnVec3 a = sight->frame_a.position, b = sight->frame_b.position;
  CnVec3 d = {b.x - a.x, b.y - a.y, b.z - a.z};
  double pull = -def->strength * (d.x * d.x + d.y * d.y + d.z * d.z);
  (void)context;
  effect->force = (CnVec3){pull * d.x, pull * d.y, pull * d.z};
  return CN_OK;
}

int main(void) {
  const double mass = 2, strength = 50, amplitude = 0.3;
  CnOwnForce kind = {.size = sizeof kind,
                     .name = "cubic",
                     .summary = "a spring whose force grows with the cube of its length",
                     .reads = {"strength"},
                     .evaluate = cubic};
  CnForceKind number;
  if (failed(cn_force_register(&kind, &number))) return 1;
  if (cn_force_register(&kind, &number) == CN_OK) return 1; // the name is taken
  number = cn_force_kind_find("cubic");

  CnWorld *world, *other;
  CnWorldDef def = cn_world_def_default();
  def.gravity = (CnVec3){0, 0, 0};
  def.integrator = "rkf45";
  def.integration.tolerance = 1e-10;
  if (failed(cn_world_create(&def, &world)) || failed(cn_world_create(&def, &other))) return 1;
  CnBodyDef ball = cn_body_def_default();
  ball.mass = mass;
  ball.inertia = (CnSym3){1, 1, 1, 0, 0, 0};
  ball.pose.position.x = amplitude;
  CnForceDef spring = cn_force_def_default(number);
  spring.strength = strength;
  CnForceId force;
  if (failed(cn_body_create(world, &ball, &spring.body_b))) return 1;
  if (failed(cn_force_create(world, &spring, &force))) return 1;

  // a copy by way of a snapshot goes on with the same force
  size_t size = 0;
  if (failed(cn_world_save(world, NULL, 0, &size))) return 1;
  void *snapshot = malloc(size);
  if (!snapshot || failed(cn_world_save(world, snapshot, size, &size))) return 1;
  if (failed(cn_world_restore(other, snapshot, size))) return 1;
  free(snapshot);

  // half a period: from one end to the other
  double last = 1, time = 0;
  while (time < 10) {
    CnStepReport report;
    CnTwist twist;
    if (failed(cn_world_step(other, &report))) return 1;
    if (failed(cn_body_twist(other, spring.body_b, &twist))) return 1;
    double rate = twist.velocity.x, h = report.time - time;
    if (last < 0 && rate >= 0) { // where it turns back, between the two
      time += h * last / (last - rate);
      break;
    }
    last = rate;
    time = report.time;
  }
  double exact = 0.5 * 7.416298709205487 / (amplitude * sqrt(strength / mass));
  printf("half a period: %.6f s (exact %.6f s)\n", time, exact);
  cn_world_destroy(world);
  cn_world_destroy(other);
  return fabs(time - exact) > 1e-4 * exact;
}
