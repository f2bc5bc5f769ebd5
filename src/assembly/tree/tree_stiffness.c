// SPDX-License-Identifier: Apache-2.0
// Whether forces of a tree's joints hold bodies against turning (tree_stiff.inc), and how long a step may be then.
#include "assembly/tree/tree_private.h"

int cni_tree_stiffen(CniTree *t, const CniTreeInput *in, int wanted) {
  double hh = in->time_step * in->time_step;
  int known = t->loaded == CNI_TREE_STIFFENS && t->stiff; // by the way, for this step
  t->stiff = 0;
  if (!in->geometric_stiffness) return 1;
  // what is held now is so in a longer step
  if (!known && t->kernels->is_soft(t, in, wanted * wanted * hh)) return wanted;
  if (!known && wanted > 1 && !t->kernels->stiffen(t, in, wanted * wanted * hh, 0)) return wanted;
  t->stiff = known || t->kernels->stiffen(t, in, hh, 1);
  return 1;
}
