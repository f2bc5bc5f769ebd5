// SPDX-License-Identifier: Apache-2.0
// hem5 and rkf45 with steps of fixed length, which nothing but the verdict judges: a rotor that turns by more than
// one of them resolves loses whole turns.
#include <cairn/verdict.h>

#include <math.h>

#include "check.h"
#include "toys.h"
#include "worlds.h"

#define SPEED 200.0 // rad/s, without loss: after .4 s it has turned by 80 rad

static CnVerdict rotor(const char *integrator, double h, double step, double tolerance,
                       double *off) {
  CnWorldDef def = cn_world_def_default();
  def.integrator = integrator;
  def.integration.tolerance = tolerance;
  def.integration.step = step;
  def.time_step = h;
  def.gravity = CN_VEC3_ZERO;
  CnWorld *world = toy_world_from(&def);
  CnTwist turns = {CN_VEC3_ZERO, {0, 0, SPEED}};
  CnBodyId body = world_mass(world, 1, cn_vec3(.01, .01, .02), world_at(0, 0, 0), turns);
  world_join(world, CN_JOINT_REVOLUTE, (CnBodyId){0, 0}, body, CN_VEC3_ZERO, cn_vec3(0, 0, 1),
             NULL);
  CnJointState state;
  int32_t count;
  toy_steps(world, (int32_t)(.4 / h + .5));
  CHECK_OK(cn_world_joint_states(world, &state, 1, &count));
  *off = fabs(state.coordinate[0] - .4 * SPEED);
  CnVerdict verdict;
  CHECK_OK(cn_world_verdict(world, &verdict));
  print_message("  %s, h %g, step %g, tolerance %g: %.2g rad off: %s\n", integrator, h, step,
                tolerance, *off, verdict.line);
  cn_world_destroy(world);
  return verdict;
}

static void turns_are_counted(void **state) {
  (void)state;
  static const char *const names[] = {"hem5", "rkf45"};
  for (int i = 0; i < 2; i++) {
    double off;
    CnVerdict v = rotor(names[i], .04, 0, 0, &off); // 8 rad a step
    CHECK(off > .3 && !v.trusted && v.findings[CN_FINDING_TURNING].is_reason);
    v = rotor(names[i], .04, .001, 0, &off); // 8 rad a call, .2 a step
    CHECK(off < 1e-3 && v.trusted);
    v = rotor(names[i], .002, 0, 0, &off);
    CHECK(off < 1e-1 && v.trusted);
    v = rotor(names[i], .04, 0, 1e-9, &off); // steps of its own
    CHECK(off < 1e-3 && v.trusted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(turns_are_counted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
