// SPDX-License-Identifier: Apache-2.0
// How deep bodies overlap at the start, and what ranks would share of a scene.
#include <math.h>
#include <stdio.h>

#include "cli/check/check.h"

#define BODY_BYTES 1200.0 // of a body in a pile, with its contacts
#define HELD_BYTES 255.0  // of these on every rank (cairn-bench ranks)
#define SPREAD_BYTES 1000.0
#define DEEP 0.05 // of a body's inradius: deeper ones throw the bodies apart in a run

const char *cni_check_label(const CnWorld *world, CnBodyId body, char label[CNI_MACHINE_NAME]) {
  CnBodyInfo info;
  if (cn_body_info(world, body, &info) == CN_OK && info.name[0])
    snprintf(label, CNI_MACHINE_NAME, "body '%s'", info.name);
  else
    snprintf(label, CNI_MACHINE_NAME, "body %u", (unsigned)body.slot);
  return label;
}

// The smallest ball in a body's shapes; infinite for what is none.
static double inradius_of(const CnWorld *world, CnBodyId body) {
  double least = INFINITY;
  CnBodyInfo info;
  if (cn_body_info(world, body, &info) != CN_OK) return least;
  for (int32_t i = 0; i < info.shape_count; i++) {
    CnShapeSize size;
    if (cn_shape_size(world, cn_body_shape(world, body, i), &size) == CN_OK &&
        isfinite(size.outradius) && size.inradius > 0)
      least = fmin(least, size.inradius);
  }
  return least;
}

int cni_check_deep(const CnWorld *world, const CnOverlap *overlaps, int32_t count, char *text,
                   size_t size) {
  for (int32_t i = 0; i < count; i++) {
    const CnOverlap *o = &overlaps[i];
    double r = fmin(inradius_of(world, o->body_a), inradius_of(world, o->body_b));
    char a[CNI_MACHINE_NAME], b[CNI_MACHINE_NAME];
    if (!(o->depth > DEEP * r)) continue;
    snprintf(text, size,
             "%s and %s overlap by %.3g m, %.0f %% of the smaller one's radius (%g %% are "
             "allowed)",
             cni_check_label(world, o->body_a, a), cni_check_label(world, o->body_b, b), o->depth,
             100 * o->depth / r, 100 * DEEP);
    return 1;
  }
  return 0;
}

// Is any other number of ranks up to this one used as well or better?
static int64_t best_ranks(int32_t bodies, int64_t ranks, double *efficiency) {
  CnRankPlan plan;
  int64_t best = ranks;
  for (int64_t n = ranks; n > 0; n--) {
    if (cn_ranks_plan(bodies, (int32_t)n, &plan) != CN_OK || plan.efficiency <= *efficiency)
      continue;
    *efficiency = plan.efficiency;
    best = n;
    if (plan.efficiency == 1) break; // the largest number of which none waits
  }
  return best;
}

void cni_check_ranks(CniShow *show, int32_t dynamic_count, int64_t ranks) {
  CnRankPlan plan;
  int32_t bodies = dynamic_count > 0 ? dynamic_count : 1;
  if (ranks == 0 || cn_ranks_plan(bodies, (int32_t)ranks, &plan) != CN_OK) return;
  double efficiency = plan.efficiency;
  int64_t best = best_ranks(bodies, ranks, &efficiency);
  cni_show_count(show, "ranks", "ranks", ranks);
  cni_show_count(show, "ranks_at_work", "  at work", plan.at_work);
  cni_show_count(show, "slabs", "  slabs", plan.slabs);
  cni_show_count(show, "slab_rows", "  rows of a slab", plan.rows);
  cni_show_number(show, "ranks_efficiency", "  balance", plan.efficiency, "");
  cni_show_count(show, "ranks_best", "  best number", best);
  cni_show_number(show, "ranks_best_efficiency", "    its balance", efficiency, "");
  double bytes = plan.at_work > 1 ? HELD_BYTES + SPREAD_BYTES / plan.at_work : BODY_BYTES;
  cni_show_number(show, "bytes_a_rank", "  memory of each", bytes * bodies, "B");
}
