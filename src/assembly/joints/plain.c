// SPDX-License-Identifier: Apache-2.0
// Joints that lock and do nothing else: their blocks need not be made again to tell their impulses.
#include "assembly/assembly_private.h"

void cni_keep_locked(const CnJointDef *def, const CniJointPlace *place, double late,
                     const CnProblem *problem, int32_t a, int32_t b, const double *g,
                     CniJointImpulse *kept) {
  double share = def->stiffness > 0 || def->damping > 0 ? 1 - late : 1;
  double length = cni_rows_turn(place) ? cni_gyration(problem, a, b) : 1;
  for (int32_t r = 0; r < place->locked_count; r++)
    kept->locked[r] = (place->locked[r].turns ? length : 1) / share * g[r];
}
