// SPDX-License-Identifier: Apache-2.0
// Couplings of coordinates to rows of the problem, one each, and back from its answer.
#include "assembly/assembly_private.h"

#include "core/error.h"

void cni_couplings_room(const CniAssemblyInput *input, CniProblemRoom *room) {
  const CniModel *model = input->model;
  room->blocks += model->coupling_count;
  room->rows += model->coupling_count;
  room->row_blocks += model->coupling_count;
  for (int32_t i = 0; i < model->coupling_count; i++)
    room->row_entries += 2 * model->couplings[i].def.term_count;
}

// From the relation's unit to m: by the radius of gyration of the first two bodies.
static double coupling_scale(const CnProblem *problem, const CniCouplingPlace *place) {
  int32_t ground = problem->group_count - 1;
  int32_t other = place->body_count > 1 ? place->bodies[1] : ground;
  return place->turns ? cni_gyration(problem, place->bodies[0], other) : 1;
}

CnStatus cni_assemble_couplings(const CniAssemblyInput *in, CnProblem *problem, CniSetTable *sets,
                                double *g) {
  const CnSet sets_of[2] = {cn_set_default(CN_BLOCK_BILATERAL),
                            cn_set_default(CN_BLOCK_UNILATERAL)};
  for (int32_t i = 0; i < in->model->coupling_count; i++) {
    const CniCoupling *c = &in->model->couplings[i];
    CniCouplingPlace place;
    int32_t set, row = problem->row_count, first = problem->row_entry_count;
    cni_coupling_at(in->model, c, in->pose, &place);
    CNI_TRY(cni_set_table_find(sets, &sets_of[c->def.one_sided], &set));
    double scale = coupling_scale(problem, &place);
    problem->b[row] = c->def.one_sided ? scale * cn_max(place.value, 0) / in->time_step : 0;
    g[row] = c->impulse_step > 0 ? in->time_step / c->impulse_step * c->impulse / scale : 0;
    for (int32_t k = 0; k < place.body_count; k++) {
      CnTwist r = place.rows[k];
      problem->row_entries[first + k] =
          (CnRowEntry){0, place.bodies[k], {cn_scale(scale, r.velocity), cn_scale(scale, r.spin)}};
    }
    problem->row_blocks[problem->row_block_count++] = (CniRowsBlock){first, place.body_count};
    problem->row_entry_count += place.body_count;
    cni_append_block(problem, CNI_ROWS, problem->row_block_count - 1, row, set, 1);
    problem->row_count++;
  }
  return CN_OK;
}

void cni_couplings_keep(CniModel *model, double time_step, const CnProblem *problem,
                        const double *g, int32_t end_block) {
  for (int32_t i = 0; i < model->coupling_count; i++) {
    CniCoupling *c = &model->couplings[i];
    CniCouplingPlace place;
    cni_coupling_at(model, c, model->pose, &place);
    int32_t block = end_block - model->coupling_count + i;
    c->impulse = coupling_scale(problem, &place) * g[problem->blocks[block].row];
    c->drift = 0;
    c->impulse_step = time_step;
  }
}

void cni_coupling_put(const CniModel *model, int32_t coupling, const CnProblem *problem,
                      int32_t end_block, double impulse, double *g) {
  CniCouplingPlace place;
  cni_coupling_at(model, &model->couplings[coupling], model->pose, &place);
  int32_t block = end_block - model->coupling_count + coupling;
  g[problem->blocks[block].row] = impulse / coupling_scale(problem, &place);
}

CniHold cni_coupling_hold(const CniDriftInput *in, int32_t i, double value) {
  const CniModel *model = in->model;
  const CnProblem *p = in->problem;
  int32_t block = in->joint_blocks[0] - model->coupling_count + i;
  CniHold hold = {.active = 1, .target = value, .passed = value, .lo = -INFINITY, .hi = INFINITY};
  if (!model->couplings[i].def.one_sided) return hold;
  CniCouplingPlace place;
  cni_coupling_at(model, &model->couplings[i], in->pose, &place);
  double g = coupling_scale(p, &place) * in->g[p->blocks[block].row];
  hold.side = 1;
  hold.active = g > 0;
  hold.lo = -g;
  if (value >= 0) hold.target = hold.passed = 0;
  return hold;
}
