// SPDX-License-Identifier: Apache-2.0
// The solver without a world: one step of a 2 kg ball (radius 0.1 m) that slides over the ground at
// 1 m/s, written as a friction problem. Coulomb's law: the ground pushes with m g h, and since the
// ball slides, friction takes mu times that out of its motion.
#include <cairn/cairn.h>

#include <math.h>
#include <stdio.h>

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

int main(void) {
  const double mass = 2, radius = 0.1, mu = 0.3, h = 0.01, weight = mass * 9.81 * h;
  CnProblem *problem;
  CnProblemDef def = cn_problem_def_default();
  if (failed(cn_problem_create(&def, &problem))) return 1;

  // velocity groups: the ground, which keeps its velocity, and the ball after free fall of one step
  int32_t ground, ball, set, block;
  CnGroupDef group = cn_group_def_default();
  if (failed(cn_problem_add_group(problem, &group, &ground))) return 1;
  const double j = 0.4 * mass * radius * radius;
  group.inv_mass = 1 / mass;
  group.inv_inertia = (CnSym3){1 / j, 1 / j, 1 / j, 0, 0, 0};
  group.old.velocity = (CnVec3){1, 0, 0};
  group.free.velocity = (CnVec3){1, 0, -9.81 * h};
  if (failed(cn_problem_add_group(problem, &group, &ball))) return 1;

  // one contact with friction; the gap is closed, so b = 0
  CnSet friction = cn_set_default(CN_BLOCK_FRICTION);
  friction.mu = mu;
  CnPairDef contact = cn_pair_def_default();
  contact.group_a = ground;
  contact.group_b = ball;
  contact.normal = (CnVec3){0, 0, 1};
  contact.tangent = (CnVec3){1, 0, 0};
  contact.arm_b = (CnVec3){0, 0, -radius};
  const double b[3] = {0, 0, 0};
  if (failed(cn_problem_add_set(problem, &friction, &set))) return 1;
  if (failed(cn_problem_add_pair(problem, set, 3, &contact, b, &block))) return 1;

  CnAnswer answer = cn_answer_empty(&def.allocator);
  CnSolveReport report;
  if (failed(cn_answer_fit(&answer, problem))) return 1;
  if (failed(cn_solve(problem, "psor", 1e-12, &answer, &report))) return 1;

  const double *g = answer.g, *v = answer.v + 6 * ball;
  printf("impulse: normal %.6f, friction %.6f N s\n", g[0], g[1]);
  printf("velocity %.6f m/s, spin %.6f rad/s\n", v[0], v[4]);
  const CnCertificate *proof = &report.certificate;
  printf("residual %.1e, dissipated %.6f J\n", proof->residual, proof->dissipation);
  int wrong = !report.converged || fabs(g[0] - weight) > 1e-12 || fabs(g[1] + mu * weight) > 1e-12;
  cn_answer_release(&answer);
  cn_problem_destroy(problem);
  return wrong;
}
