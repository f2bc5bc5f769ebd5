// SPDX-License-Identifier: Apache-2.0
// Stretches of groups: sums that can be made in parts, in any place, with the same bits.
#include "check.h"
#include "core/rng.h"
#include "problem/certificate/reduction.h"

#include <stdlib.h>
#include <string.h>

enum { FIXED = 2, MOVING = 5200, GROUPS = FIXED + MOVING + 1 };

static CniStretches cuts_of(void) {
  CniCuts cuts = cni_cuts_aim(MOVING);
  return (CniStretches){.count = cuts.slabs * cuts.rows, .begin = FIXED, .end = FIXED + MOVING};
}

// Numbers that a contact has wherever it is kept.
static double draw(int32_t a, int32_t b, int32_t what) {
  CniRng rng = {((uint64_t)a * 7919 + (uint64_t)b) * 31 + (uint64_t)what};
  (void)cni_rng_unit(&rng);
  return cni_rng_range(&rng, -1, 1);
}

typedef struct Part {
  CnProblem *p;
  double *g;
  int32_t only; // the stretch whose contacts it has; -1: all of them
  int32_t count;
} Part;

static void add_contact(Part *part, int32_t a, int32_t b) {
  CniStretches cuts = cuts_of();
  if (part->only >= 0 && cni_stretch_of(&cuts, a < FIXED ? b : a) != part->only) return;
  CnSphereDef def = cn_sphere_def_default();
  def.group_a = a;
  def.group_b = b;
  CnVec3 n = cn_vec3(draw(a, b, 0), draw(a, b, 1), 2 + draw(a, b, 2));
  n = cn_scale(1 / cn_norm(n), n);
  def.normal = cn_scale(1 / cn_norm(n), n);
  def.radius_a = def.radius_b = def.length = .1;
  double rhs[3] = {.1 * draw(a, b, 3), 0, 0};
  CHECK_OK(cn_problem_add_sphere(part->p, 0, 3, &def, rhs, NULL));
  double *g = part->g + 3 * (size_t)part->count++;
  g[0] = draw(a, b, 4) + .9;
  g[1] = .2 * draw(a, b, 5);
  g[2] = .2 * draw(a, b, 6);
}

// Two bodies without mass first, each with its contacts, then all others by their lower body: the
// order in which a world keeps them.
static Part make(int32_t only) {
  Part part = {.only = only, .g = calloc(3 * 3 * (size_t)GROUPS, sizeof(double))};
  CnProblemDef def = cn_problem_def_default();
  CHECK(part.g != NULL);
  CHECK_OK(cn_problem_create(&def, &part.p));
  for (int32_t i = 0; i < GROUPS; i++) {
    CnGroupDef group = cn_group_def_default();
    if (i >= FIXED && i < FIXED + MOVING) {
      group.inv_mass = 1.5 + draw(i, i, 7);
      group.inv_inertia = cn_sdiag(2, 2, 2);
      group.free.velocity = cn_vec3(draw(i, i, 8), draw(i, i, 9), draw(i, i, 10));
    }
    CHECK_OK(cn_problem_add_group(part.p, &group, NULL));
  }
  CnSet set = cn_set_default(CN_BLOCK_FRICTION);
  set.mu = .4;
  CHECK_OK(cn_problem_add_set(part.p, &set, NULL));
  for (int32_t i = FIXED; i < FIXED + MOVING; i += 3) add_contact(&part, 0, i);
  for (int32_t i = FIXED + 1; i < FIXED + MOVING; i += 50) add_contact(&part, 1, i);
  for (int32_t i = FIXED; i < FIXED + MOVING; i++)
    for (int32_t k = 0; k < 2; k++) {
      int32_t other = i + (k == 0 ? 1 : 37);
      if (other < FIXED + MOVING) add_contact(&part, i, other);
    }
  return part;
}

static CniReduction reduce(const Part *part) {
  CnAllocator allocator = cn_allocator_default();
  CnAnswer answer = cn_answer_empty(&allocator);
  CHECK_OK(cn_answer_fit(&answer, part->p));
  memcpy(answer.g, part->g, (size_t)answer.row_count * sizeof *answer.g);
  for (int32_t i = 0; i < answer.velocity_count; i++) answer.v[i] = draw(i, 0, 11);
  double *u = calloc((size_t)answer.row_count + 1, sizeof *u);
  double *space = aligned_alloc(64, ((size_t)cni_reduce_step_scratch(part->p) + 8) / 8 * 64);
  CHECK(u && space);
  CniReduction t = {.c = {.worst_block = -1}};
  cni_reduce_step(part->p, &answer, u, space, &t);
  free(u);
  free(space);
  cn_answer_release(&answer);
  return t;
}

static void release(Part *part) {
  cn_problem_destroy(part->p);
  free(part->g);
}

// Every block once, in its stretch, in the stored order.
static void blocks_once(void **state) {
  (void)state;
  Part all = make(-1);
  const CnProblem *p = all.p;
  double *space = calloc((size_t)cni_stretches_scratch(p) + 1, sizeof *space);
  uint8_t *seen = calloc((size_t)p->block_count, 1);
  CHECK(space && seen && p->block_count > 2 * MOVING);
  const CniStretches *s = cni_stretches_make(p, space);
  CHECK(s->count == 16 && s->begin == FIXED && s->end == FIXED + MOVING);
  for (int32_t k = 0; k < s->count; k++) {
    int32_t last = -1, pieces = 0;
    for (int32_t at = s->head[k]; at >= 0; at = s->pieces[at].next, pieces++)
      for (int32_t i = s->pieces[at].first; i < s->pieces[at].first + s->pieces[at].count; i++) {
        int32_t a = p->spheres[i].group_a, group = a < FIXED ? p->spheres[i].group_b : a;
        CHECK(i > last && !seen[i]++);
        CHECK(group >= cni_stretch_begin(s, k) && group < cni_stretch_begin(s, k + 1));
        CHECK(cni_stretch_of(s, group) == k);
        last = i;
      }
    CHECK(pieces == 3); // of the two bodies without mass, and of the others
  }
  for (int32_t i = 0; i < p->block_count; i++) CHECK(seen[i]);
  free(space);
  free(seen);
  release(&all);
}

// The sums of a problem are those of its stretches, each made where nothing of the others is known.
static void sums_in_parts(void **state) {
  (void)state;
  Part all = make(-1);
  CniReduction whole = reduce(&all), sum = {0};
  release(&all);
  CHECK(whole.e2 > 0 && whole.u2 > 0 && whole.g2 > 0 && whole.r2 > 0 && whole.c.cone > 0);
  for (int32_t k = 0; k < cuts_of().count; k++) {
    Part part = make(k);
    CniReduction t = reduce(&part);
    sum.e2 += t.e2;
    sum.u2 += t.u2;
    sum.g2 += t.g2;
    sum.r2 += t.r2;
    sum.e2_max = cn_max(sum.e2_max, t.e2_max);
    sum.c.cone = cn_max(sum.c.cone, t.c.cone);
    release(&part);
  }
  CHECK(sum.e2 == whole.e2 && sum.u2 == whole.u2 && sum.g2 == whole.g2 && sum.r2 == whole.r2);
  CHECK(sum.e2_max == whole.e2_max && sum.c.cone == whole.c.cone);
}

// Nor can the number of workers be seen.
static void workers(void **state) {
  (void)state;
  Part all = make(-1);
  CniReduction one = reduce(&all);
  for (int32_t count = 2; count <= 3; count++) {
    CHECK_OK(cn_tasks_create(count, NULL, NULL, &all.p->tasks));
    CniReduction t = reduce(&all);
    CHECK(memcmp(&t, &one, sizeof t) == 0);
    cn_tasks_destroy(all.p->tasks);
    all.p->tasks = NULL;
  }
  release(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_once),
      cmocka_unit_test(sums_in_parts),
      cmocka_unit_test(workers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
