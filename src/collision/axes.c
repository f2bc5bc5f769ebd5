// SPDX-License-Identifier: Apache-2.0
// Hints: what pairs of the list of candidates remember from the last call.
//
// Half of the candidates of a pile are near each other and do not touch. What kept two shapes apart a
// step ago mostly still does, and to see that takes one look along one direction instead of a search
// for it. Those that touch mostly touch with the same corners, edges and sides. A hint proves by itself
// that it is still right, by more than round-off, so that a search would say the same
// (cni_still_apart, cni_convex_meet): one that is old, of another pair, or lost changes nothing but
// the time.
//
// Hints of surfaces (mesh_clear.c) are true for the surface that they were made for: they go when shapes
// have changed.
//
// A hint belongs to a place in the list. When the list is made anew, pairs that were in the old one
// take theirs along: both lists ascend.
#include "collision/collision_private.h"

#include "core/error.h"
#include "core/sort.h"

CniHint *cni_axis_of(const CniCollision *c, CniPair pair) {
  int32_t row = pair.a < pair.b ? pair.a : pair.b, partner = pair.a ^ pair.b ^ row;
  if (row >= c->axis_rows) return NULL;
  int32_t low = c->starts[row], high = c->starts[row + 1], last = high;
  CNI_BISECT(low, high, middle, c->partners[middle] < partner)
  return low < last && c->partners[low] == partner ? &c->axes[low] : NULL;
}

// The axes of the list before, by its pairs.
CnStatus cni_axes_leave(CniCollision *c, const CniDetection *w, CniOldAxes *old) {
  *old = (CniOldAxes){0};
  if (!c->axes || c->axis_rows == 0) return CN_OK;
  size_t rows = (size_t)c->axis_rows, pairs = (size_t)c->starts[rows];
  CNI_TRY(CNI_TAKE(w->arena, rows + 1, old->starts));
  CNI_TRY(CNI_TAKE(w->arena, pairs, old->partners));
  CNI_TRY(CNI_TAKE(w->arena, pairs, old->axes));
  memcpy(old->starts, c->starts, (rows + 1) * sizeof *old->starts);
  memcpy(old->partners, c->partners, pairs * sizeof *old->partners);
  memcpy(old->axes, c->axes, pairs * sizeof *old->axes);
  old->rows = c->axis_rows;
  c->axis_rows = 0; // until the new ones are there
  return CN_OK;
}

CnStatus cni_axes_take(CniCollision *c, const CniDetection *w, const CniOldAxes *old) {
  c->axis_rows = 0;
  if (!w->has_others) return CN_OK;
  CNI_TRY(cni_array_reserve(&c->allocator, (void **)&c->axes, &c->axis_capacity, 0, c->pair_count,
                            sizeof *c->axes));
  c->axis_rows = w->count;
  if (c->pair_count > 0) memset(c->axes, 0, (size_t)c->pair_count * sizeof *c->axes);
  int32_t rows = old->rows < w->count ? old->rows : w->count;
  for (int32_t row = 0; row < rows; row++) {
    int32_t k = old->starts[row], last = old->starts[row + 1];
    for (int32_t i = c->starts[row]; i < c->starts[row + 1]; i++) {
      while (k < last && old->partners[k] < c->partners[i]) k++;
      if (k < last && old->partners[k] == c->partners[i]) c->axes[i] = old->axes[k];
    }
  }
  return CN_OK;
}

void cni_axes_check(CniCollision *c, const CniDetection *w) {
  if (c->axis_edits == w->in->model->edits) return;
  c->axis_edits = w->in->model->edits;
  for (int32_t row = 0; row < c->axis_rows; row++)
    for (int32_t i = c->starts[row]; i < c->starts[row + 1]; i++)
      if ((w->proxies[row].flags | w->proxies[c->partners[i]].flags) & CNI_IS_MESH)
        c->axes[i] = (CniHint){0, 0, 0, {0, 0}};
}
