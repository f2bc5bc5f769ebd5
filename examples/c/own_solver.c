// SPDX-License-Identifier: Apache-2.0
// A solver of one's own: projected Gauss-Seidel over the rows of W g + q, in fifty lines. The library
// checks the problem, calls it by its name in a world, and certifies what it gives.
#include <cairn/cairn.h>

#include <math.h>
#include <stdio.h>

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

// u of a row, and its own entry of W.
static double velocity(const CnProblemMatrices *p, const double *g, int32_t row, double *own) {
  double u = p->q[row];
  *own = 0;
  for (int32_t e = p->w->start[row]; e < p->w->start[row + 1]; e++) {
    u += p->w->value[e] * g[p->w->column[e]];
    if (p->w->column[e] == row) *own = p->w->value[e];
  }
  return u;
}

static void relax(const CnProblemMatrices *p, const CnBlock *block, double mu, double *g) {
  double own, u, *x = g + block->row;
  int32_t rows = block->kind == CN_BLOCK_FRICTION ? 1 : block->dim;
  for (int32_t i = 0; i < rows; i++) {
    u = velocity(p, g, block->row + i, &own);
    if (own > 0) x[i] -= u / own;
    if (block->kind != CN_BLOCK_BILATERAL) x[i] = fmax(0, x[i]);
  }
  if (rows == block->dim) return;

  // both tangents by one step, and back into the disc
  double first, second, u1 = velocity(p, g, block->row + 1, &first);
  double u2 = velocity(p, g, block->row + 2, &second), step = 1 / fmax(first, second);
  x[1] -= step * u1;
  x[2] -= step * u2;
  double length = hypot(x[1], x[2]), most = mu * x[0];
  if (length <= most) return;
  x[1] *= most / length;
  x[2] *= most / length;
}

static CnStatus solve(void *context, void *state, const CnSolverDef *def, const CnProblem *problem,
                      CnAnswer *answer, CnSolveReport *report) {
  CnProblem *explicit_form;
  CnProblemMatrices p;
  CnProblemInfo info;
  (void)context, (void)state;
  CnStatus status = cn_problem_to_explicit(problem, &explicit_form); // W and q of a step problem
  if (status != CN_OK) return status;
  cn_problem_info(explicit_form, &info);
  status = cn_problem_matrices(explicit_form, &p);
  for (int32_t sweep = 0; sweep < def->max_iterations && status == CN_OK; sweep++) {
    for (int32_t i = 0; i < info.block_count && status == CN_OK; i++) {
      CnBlock block;
      CnSet set;
      status = cn_problem_block(explicit_form, i, &block);
      if (status == CN_OK) status = cn_problem_block_set(explicit_form, i, &set);
      if (status == CN_OK) relax(&p, &block, set.mu, answer->g);
    }
    report->iterations = sweep + 1;
  }
  cn_problem_destroy(explicit_form);
  return status;
}

int main(void) {
  CnOwnSolver mine = {.size = sizeof mine,
                      .accepts =
                          CN_ACCEPT_STEP | CN_ACCEPT_COULOMB | CN_ACCEPT_KIND(CN_BLOCK_BILATERAL) |
                          CN_ACCEPT_KIND(CN_BLOCK_UNILATERAL) | CN_ACCEPT_KIND(CN_BLOCK_FRICTION),
                      .name = "simple-pgs",
                      .summary = "projected Gauss-Seidel over the rows of W",
                      .tolerance = 1e-8,
                      .max_iterations = 200,
                      .solve = solve};
  if (failed(cn_solver_register(&mine))) return 1;
  if (cn_solver_register(&mine) == CN_OK) return 1; // the name is taken

  // a box of 8 kg that slides on the floor, mu 0.5
  CnWorld *world;
  CnWorldDef def = cn_world_def_default();
  def.solver = cn_solver_def_default("simple-pgs");
  if (failed(cn_world_create(&def, &world))) return 1;
  CnBodyId ground, box;
  CnShapeId shape;
  CnBodyDef body = cn_body_def_default();
  CnShapeDef plane = cn_shape_def_default(CN_SHAPE_PLANE),
             cube = cn_shape_def_default(CN_SHAPE_BOX);
  body.kind = CN_BODY_FIXED;
  cube.half_size = (CnVec3){0.1, 0.1, 0.1};
  if (failed(cn_body_create(world, &body, &ground))) return 1;
  if (failed(cn_shape_create(world, ground, &plane, &shape))) return 1;
  body = cn_body_def_default();
  body.pose.position.z = 0.1;
  body.twist.velocity.x = 2;
  if (failed(cn_body_create(world, &body, &box))) return 1;
  if (failed(cn_shape_create(world, box, &cube, &shape))) return 1;
  CnStepReport report;
  double residual = 0;
  for (int step = 0; step < 600; step++) {
    if (failed(cn_world_step(world, &report))) return 1;
    residual = fmax(residual, report.solve.certificate.residual);
  }
  CnPose pose;
  if (failed(cn_body_pose(world, box, &pose))) return 1;
  double exact = 2 * 2 / (2 * 0.5 * 9.81); // v^2/(2 mu g)
  printf("%s: stopped after %.4f m (exact %.4f m), residual %.1e at most\n", report.solve.solver,
         pose.position.x, exact, residual);
  cn_world_destroy(world);
  return fabs(pose.position.x - exact) > 5e-3;
}
