// SPDX-License-Identifier: Apache-2.0
// Impacts that follow from impacts within one step.
//
// The step problem knows the velocities before the step. A ball that is at rest, is hit in this step
// and hits the next one would do so by a row without restitution: the energy of the blow is lost. So
// a step of bodies that bounce is made in rounds, each a step problem of its own:
//
//     solve        v_r = M^-1 (M v_(r-1) + E^T g_r), b_n = e u_n of v_(r-1) where a contact closes
//     open         contacts that were hit without restitution, though they would have approached
//                  faster than the threshold: they are left out, and the round is solved again
//     go on        from v_r while a contact still closes; the impulses of the rounds add up
//
// Every round obeys its law exactly: with e = 1 and without friction it keeps the energy, because
// for each contact g (u+ + u-) = 0. Contacts that touch and rest against each other take part in the
// blow itself (`simultaneous`, Newton's cradle moves as one) unless the impact law is `sequential`.
//
// Newton's law is about speeds and is in b. The laws of Poisson and of Stronge are about impulse and
// work: a round is then a compression, in stages to u_n = 0 so that slip may change its direction on the
// way, and a rebound to speeds that are corrected until impulse or work are e or e^2 times those of the
// compression.
//
// Rows with compliance go on from the impulse they have. The last of the rounds that are allowed is
// solved with all rows, whatever they lose. Worlds in which nothing bounces have one round, and so have
// large piles, in which somebody is always hit and restitution hardly matters.
#include "assembly/assembly_private.h"

#include "core/error.h"

#include <string.h>

#define MOST_SOLVES 64   // by Newton's law
#define MOST_STAGES 1024 // by the others
#define MOST_TRIALS 12   // of the speeds of a rebound
#define TRIAL_ERROR 1e-12

CnStatus cni_list_bounces(const CniAssemblyInput *input, const CnProblem *problem,
                          const CniContactPlan *plan, const int32_t *block_of) {
  CniBounces *list = input->bounces;
  if (!list) return CN_OK;
  list->count = list->rounds = list->rebound = list->stage = 0;
  list->threshold = input->restitution_threshold;
  list->time_step = input->time_step;
  int any = plan->tuned != NULL;
  for (int32_t i = 0; i < plan->laws.count; i++) any |= plan->laws.laws[i].law.restitution > 0;
  if (!any) return CN_OK;
  CNI_TRY(CNI_RESERVE(&problem->allocator, list->items, list->capacity, 0, input->contact_count));
  for (int32_t i = 0; i < input->contact_count; i++) {
    double restitution = block_of[i] < 0 ? 0 : cni_contact_restitution(plan, i);
    if (!(restitution > 0)) continue;
    const CniContact *c = &input->contacts[i];
    double plain = cni_contact_plain_b(input, plan, c),
           b_n = *cni_block_b_n(problem, &problem->blocks[block_of[i]]);
    int impact = b_n < plain && (c->gap > 0 ? b_n < 0 : 1);
    list->items[list->count++] = (CniBounce){.block = block_of[i],
                                             .state = impact ? CNI_BOUNCE_IMPACT : CNI_BOUNCE_PLAIN,
                                             .gap = c->gap,
                                             .restitution = restitution,
                                             .plain = plain,
                                             .rest = impact ? plain : b_n,
                                             .before = impact ? b_n / restitution : 0,
                                             .now = impact ? b_n / restitution : 0};
  }
  // the compression comes first
  int phases = list->law != 0 && list->count <= CNI_FEW_BOUNCES;
  for (int32_t i = 0; phases && i < list->count; i++)
    if (list->items[i].state == CNI_BOUNCE_IMPACT)
      *cni_block_b_n(problem, &problem->blocks[list->items[i].block]) =
          cni_stage_b(&list->items[i], 0);
  return CN_OK;
}

static double normal_of(const CnProblem *p, const CniBlock *block, const double *v) {
  double u[CNI_MAX_DIM] = {0};
  cni_storages[block->storage].velocity(p, block, v, u);
  return u[0];
}

// Before the round, without what gravity and loads add in the step.
static double normal_before(const CnProblem *p, const CniBlock *block) {
  if (block->storage == CNI_SPHERE) {
    const CniSphereBlock *c = &p->spheres[block->index];
    CnTwist a = cni_group_old(p, c->group_a), b = cni_group_old(p, c->group_b);
    return cn_dot(c->normal, cn_sub(b.velocity, a.velocity));
  }
  const CniPairBlock *c = &p->pairs[block->index];
  CnTwist a = cni_group_old(p, c->group_a), b = cni_group_old(p, c->group_b);
  return cn_dot(c->normal, cn_sub(cn_add(b.velocity, cn_cross(b.spin, c->arm_b)),
                                  cn_add(a.velocity, cn_cross(a.spin, c->arm_a))));
}

// Speed with which a contact would have been hit: without its own impulse, and without what gravity
// and loads add.
static double hit_speed(const CnProblem *p, const CniBlock *block, const CnAnswer *answer,
                        double before) {
  double n[CNI_MAX_DIM * CNI_MAX_DIM], free[CNI_MAX_DIM] = {0};
  cni_storages[block->storage].diagonal(p, block, n);
  cni_storages[block->storage].free(p, block, free);
  return normal_of(p, block, answer->v) - n[0] * answer->g[block->row] + (before - free[0]);
}

// Does a contact rest against its partner, so that it takes part in a blow?
static int rests(const CniBounces *list, const CniBounce *bounce, double before) {
  return !list->sequential && bounce->plain <= list->threshold && fabs(before) <= list->threshold;
}

// Contacts that were hit and had no restitution for it are opened; how many?
static int32_t open_hit(const CniBounces *list, const CnProblem *p, const CnAnswer *answer) {
  double fastest = 0;
  int32_t opened = 0;
  for (int32_t i = 0; i < list->count; i++) {
    CniBounce *bounce = &list->items[i];
    const CniBlock *block = &p->blocks[bounce->block];
    if (bounce->state == CNI_BOUNCE_IMPACT) fastest = cn_max(fastest, -bounce->before);
    if (bounce->state != CNI_BOUNCE_PLAIN || !(answer->g[block->row] > 0)) continue;
    double before = normal_before(p, block), speed = hit_speed(p, block, answer, before);
    if (!(speed < -list->threshold) || rests(list, bounce, before)) continue;
    fastest = cn_max(fastest, -speed);
    bounce->state = CNI_BOUNCE_OPEN;
    bounce->rest = bounce->plain;
    opened++;
  }
  // far enough to be out of the way, and no more: the residual is relative to the largest
  for (int32_t i = 0; opened && i < list->count; i++)
    if (list->items[i].state == CNI_BOUNCE_OPEN) {
      double *b_n = cni_block_b_n(p, &p->blocks[list->items[i].block]);
      *b_n = cn_max(*b_n, 4 * fastest);
    }
  return opened;
}

// What is bounded by an effort has for the next round what it has not given yet: a step is no longer for it
// because there are impacts within it.
static CnStatus spend(CniBounces *list, CnProblem *p, const CnAnswer *answer) {
  if (list->rounds == 1) list->own = p->set_count;
  for (int32_t i = 0; i < p->block_count; i++) {
    CniBlock *block = &p->blocks[i];
    CnSet set = p->sets[block->set];
    double g = answer->g[block->row];
    if (set.kind != CN_BLOCK_INTERVAL || g == 0) continue;
    set.lo -= g;
    set.hi -= g;
    if ((int32_t)block->set < list->own) {
      CNI_TRY(cni_problem_reserve(p, &(CniProblemRoom){.sets = 1}));
      block->set = (uint32_t)p->set_count++ & (CNI_SET_LIMIT - 1);
    }
    p->sets[block->set] = set;
  }
  return CN_OK;
}

// The round stands: its impulses to the sum, its velocities before the next one.
static CnStatus take_round(CniBounces *list, CnProblem *p, const CnAnswer *answer) {
  CNI_TRY(CNI_RESERVE(&p->allocator, list->total, list->total_capacity,
                      list->rounds > 0 ? p->row_count : 0, p->row_count));
  for (int32_t i = 0; i < p->row_count; i++)
    list->total[i] = (list->rounds > 0 ? list->total[i] : 0) + answer->g[i];
  list->rounds++;
  for (int32_t i = 0; i < p->group_count; i++) {
    const double *v = &answer->v[6 * (size_t)i];
    if (!(p->groups[i].inv_mass > 0)) continue;
    p->groups[i].v = cn_vec3(v[0], v[1], v[2]);
    p->groups[i].w = cn_vec3(v[3], v[4], v[5]);
    if (p->own_olds) p->olds[i] = cni_group_free(&p->groups[i]);
  }
  p->change = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO}; // nothing else acts between rounds
  for (int32_t i = 0; i < p->block_count; i++) {
    double c[CNI_MAX_DIM];
    const CniBlock *block = &p->blocks[i];
    cni_block_compliance(p, block, c);
    double *b = cni_block_b_n(p, block);
    for (int32_t r = 0; r < (p->b_per_block ? 1 : block->dim); r++)
      if (c[r] > 0) b[r] += c[r] * answer->g[block->row + r];
  }
  return CN_OK;
}

// What every contact is in the next round; is there one?
static int32_t next_round(const CniBounces *list, const CnProblem *p, const CnAnswer *answer) {
  int32_t needed = 0;
  for (int32_t i = 0; i < list->count; i++) {
    CniBounce *bounce = &list->items[i];
    const CniBlock *block = &p->blocks[bounce->block];
    double speed = normal_of(p, block, answer->v), miss = speed + bounce->plain;
    int was_open = bounce->state == CNI_BOUNCE_OPEN;
    // what was solved is right to the solver's tolerance
    int impact = speed < -list->threshold && bounce->gap + list->time_step * speed <= 0 &&
                 (was_open || miss < 1e-3 * speed);
    *cni_block_b_n(p, block) =
        impact ? cn_min(bounce->restitution * speed, bounce->plain) : bounce->rest;
    bounce->before = bounce->now = speed;
    bounce->pressed = bounce->work = 0;
    if (impact && list->law) *cni_block_b_n(p, block) = cni_stage_b(bounce, 0);
    bounce->state = impact ? CNI_BOUNCE_IMPACT : CNI_BOUNCE_PLAIN;
    needed |= impact || (was_open && miss < 0);
  }
  return needed;
}

// ---- laws in two phases ----

static int32_t count_state(const CniBounces *list, CniBounceState state) {
  int32_t count = 0;
  for (int32_t i = 0; i < list->count; i++) count += list->items[i].state == (int32_t)state;
  return count;
}

// A stage of the compression is over: the next one, or the rebound, which is tried with the speeds of
// Newton's law.
static void go_on(CniBounces *list, const CnProblem *p, const CnAnswer *answer) {
  list->stage++;
  for (int32_t i = 0; i < list->count; i++) {
    CniBounce *bounce = &list->items[i];
    const CniBlock *block = &p->blocks[bounce->block];
    if (bounce->state != CNI_BOUNCE_IMPACT) continue;
    double g = answer->g[block->row], speed = normal_of(p, block, answer->v);
    bounce->pressed += g;
    bounce->work += 0.5 * g * (bounce->now + speed);
    bounce->now = speed;
    bounce->target = -bounce->restitution * bounce->before;
    *cni_block_b_n(p, block) = list->stage < CNI_STAGES ? cni_stage_b(bounce, list->stage)
                                                        : cn_min(-bounce->target, bounce->plain);
  }
  list->rebound = list->stage == CNI_STAGES;
}

// Impulse or work of the rebounds against what the law wants; speeds are corrected. Another trial?
static int32_t correct_rebound(CniBounces *list, const CnProblem *p, const CnAnswer *answer) {
  int32_t wrong = 0;
  for (int32_t i = 0; i < list->count; i++) {
    CniBounce *bounce = &list->items[i];
    const CniBlock *block = &p->blocks[bounce->block];
    double e = bounce->restitution, g = answer->g[block->row];
    if (bounce->state != CNI_BOUNCE_IMPACT || !(g > 0) || !(bounce->pressed > 0)) continue;
    double ratio = e * bounce->pressed / g;
    if (list->law == CN_RESTITUTION_ENERGETIC) {
      double work = 0.5 * g * (bounce->now + normal_of(p, block, answer->v));
      ratio = sqrt(-e * e * bounce->work / work);
    }
    if (!(fabs(ratio - 1) > TRIAL_ERROR) || !isfinite(ratio)) continue;
    bounce->target *= cn_clamp(ratio, 0.25, 4);
    *cni_block_b_n(p, block) = cn_min(-bounce->target, bounce->plain);
    wrong = 1;
  }
  return wrong && list->rebound++ < MOST_TRIALS;
}

// ---- after a solve ----

CnStatus cni_bounce_again(CniBounces *list, int32_t solves, CnProblem *p, CnAnswer *answer,
                          int32_t *again) {
  *again = 0;
  if (list->count == 0 || list->count > CNI_FEW_BOUNCES) return CN_OK;
  int32_t most = list->law ? MOST_STAGES : MOST_SOLVES, last = solves >= most - 1;
  int32_t impacts = list->law ? count_state(list, CNI_BOUNCE_IMPACT) : 0;
  if (!last && open_hit(list, p, answer) > 0) {
    *again = 2;
  } else if (!last && list->rebound && correct_rebound(list, p, answer)) {
    *again = 2;
    return CN_OK; // from the impulses so far
  } else if (!last && impacts > 0 && !list->rebound) {
    CNI_TRY(take_round(list, p, answer));
    CNI_TRY(spend(list, p, answer));
    go_on(list, p, answer);
    *again = 1;
  } else {
    if (solves == 1 && count_state(list, CNI_BOUNCE_OPEN) == 0) return CN_OK; // no rounds at all
    CNI_TRY(take_round(list, p, answer));
    list->rebound = list->stage = 0;
    *again = solves < most && next_round(list, p, answer);
    if (*again) CNI_TRY(spend(list, p, answer));
  }
  if (*again) memset(answer->g, 0, (size_t)p->row_count * sizeof *answer->g);
  return CN_OK;
}
