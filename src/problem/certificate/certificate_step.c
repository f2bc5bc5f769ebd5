// SPDX-License-Identifier: Apache-2.0
// The certificate of a problem in step form: what certificate.c describes, block by block and group
// by group, for the millions of contacts of a pile.
//
// Blocks and groups are taken stretch by stretch (stretches.c), each with a reduction of its own; the
// reductions are put together in the order of the stretches, so that neither the number of workers
// nor the place of a stretch can be seen. Of a problem of which several ranks have parts each takes the stretches of
// its slabs, and all put all reductions together.
//
// Runs of contacts between spheres are the business of wide kernels (reduction_kernels.inc). Other
// contacts between two points have no use for the general functions of the storages: with the
// relative velocity d of the two points as a vector in space, u = (n.d, t1.d, t2.d) + b + C g, and
// the same for the free velocities.
#include "problem/certificate/reduction.h"
#include "ranks/ranks.h"

#include <string.h>

#define RUN_LEAST 4 // shorter runs of spheres are taken one by one
#define TALLY_DOUBLES ((int32_t)((sizeof(CniReduction) + sizeof(double) - 1) / sizeof(double)))

// Stretches come first, where cni_natural2_sum finds them again.
int32_t cni_reduce_step_scratch(const CnProblem *p) {
  CniCuts cuts = cni_cuts_aim(cni_problem_most_moving(p));
  return cni_stretches_scratch(p) + 6 * p->group_count + 3 * p->block_count +
         (cuts.slabs * cuts.rows + 1) * TALLY_DOUBLES;
}

// ---- putting reductions together ----

static void add_reduction(CniReduction *sum, const CniReduction *part) {
  sum->e2 += part->e2;
  sum->u2 += part->u2;
  sum->g2 += part->g2;
  sum->r2 += part->r2;
  sum->k2 += part->k2;
  sum->mv2 += part->mv2;
  sum->p2 += part->p2;
  sum->d2 += part->d2;
  sum->c.dissipation += part->c.dissipation;
  if (part->c.worst_block >= 0 && !(part->e2_max <= sum->e2_max))
    sum->c.worst_block = part->c.worst_block;
  cni_raise(&sum->e2_max, part->e2_max);
  cni_raise(&sum->r2_max, part->r2_max);
  cni_raise(&sum->k_max, part->k_max);
  cni_raise(&sum->p_max, part->p_max);
  cni_raise(&sum->d_max, part->d_max);
  cni_raise(&sum->c.gap_speed, part->c.gap_speed);
  cni_raise(&sum->c.joint_speed, part->c.joint_speed);
  cni_raise(&sum->c.cone, part->c.cone);
  cni_raise(&sum->c.complementarity, part->c.complementarity);
}

// ---- blocks ----

typedef struct StepLoop {
  const CnProblem *p;
  const CnAnswer *answer;
  double *u;
  double *momentum;
  double *impulse;     // three a block, of contacts between spheres: their impulse in space
  CniReduction *parts; // one a stretch
  const CniReductionKernels *kernels;
  const CniStretches *stretches;
  int32_t first, last; // stretches that are reduced here
} StepLoop;

static CnVec3 load(const double *x) { return cn_vec3(x[0], x[1], x[2]); }

// Velocity of b's point relative to a's.
static inline CnVec3 sphere_slip(const CniSphereBlock *c, const double *va, const double *vb) {
  CnVec3 roll = cn_madd(cn_scale(c->radius_a, load(va + 3)), c->radius_b, load(vb + 3));
  return cn_sub(cn_sub(load(vb), load(va)), cn_cross(roll, c->normal));
}

static inline CnVec3 pair_slip(const CniPairBlock *c, const double *va, const double *vb) {
  return cn_sub(cn_add(load(vb), cn_cross(load(vb + 3), c->arm_b)),
                cn_add(load(va), cn_cross(load(va + 3), c->arm_a)));
}

// The frame of a contact, and what its points do.
typedef struct Contact {
  CnVec3 n, t1, t2;
  CnVec3 now, free; // relative velocities
} Contact;

static inline Contact sphere_contact(const CnProblem *p, const CniBlock *block, const double *v) {
  const CniSphereBlock *c = &p->spheres[block->index];
  Contact x = {.n = c->normal};
  cni_tangents(x.n, &x.t1, &x.t2);
  x.now = sphere_slip(c, v + 6 * (size_t)c->group_a, v + 6 * (size_t)c->group_b);
  CnTwist a = cni_group_free(&p->groups[c->group_a]), b = cni_group_free(&p->groups[c->group_b]);
  x.free = sphere_slip(c, &a.velocity.x, &b.velocity.x);
  return x;
}

static inline Contact pair_contact(const CnProblem *p, const CniBlock *block, const double *v) {
  const CniPairBlock *c = &p->pairs[block->index];
  Contact x = {.n = c->normal, .t1 = c->tangent, .t2 = cn_cross(c->normal, c->tangent)};
  x.now = pair_slip(c, v + 6 * (size_t)c->group_a, v + 6 * (size_t)c->group_b);
  CnTwist a = cni_group_free(&p->groups[c->group_a]), b = cni_group_free(&p->groups[c->group_b]);
  x.free = pair_slip(c, &a.velocity.x, &b.velocity.x);
  return x;
}

// S = trace(N_ii)/3
static inline double contact_scale(const CnProblem *p, const CniBlock *block, const CnSet *set) {
  double trace;
  if (block->storage == CNI_SPHERE) {
    const CniSphereBlock *c = &p->spheres[block->index];
    const CniGroup *a = &p->groups[c->group_a], *b = &p->groups[c->group_b];
    double normal = a->inv_mass + b->inv_mass;
    double tangent = normal + c->radius_a * c->radius_a * a->inv_inertia +
                     c->radius_b * c->radius_b * b->inv_inertia;
    trace = normal + 2 * tangent + set->compliance[0] + 2 * set->compliance[1];
  } else {
    trace = cni_storages[CNI_PAIR].trace(p, block);
  }
  return trace > 0 ? trace / 3 : 1;
}

static inline CnVec3 in_frame(const Contact *x, CnVec3 d) {
  return cn_vec3(cn_dot(x->n, d), cn_dot(x->t1, d), cn_dot(x->t2, d));
}

static void reduce_contact(const StepLoop *loop, int32_t index, CniReduction *t) {
  const CnProblem *p = loop->p;
  const CniBlock *block = &p->blocks[index];
  const CnSet *set = &p->sets[block->set];
  double b_i[CNI_MAX_DIM];
  cni_block_b(p, block, b_i);
  CnVec3 g = load(loop->answer->g + block->row), b = load(b_i);
  Contact x = block->storage == CNI_SPHERE ? sphere_contact(p, block, loop->answer->v)
                                           : pair_contact(p, block, loop->answer->v);
  CnVec3 u = cn_add(in_frame(&x, x.now), b);
  // the length of r is the same in any frame
  double r2 = b.y == 0 && b.z == 0 ? cn_norm2(cn_madd(x.free, b.x, x.n))
                                   : cn_norm2(cn_add(in_frame(&x, x.free), b));
  u.x += set->compliance[0] * g.x;
  u.y += set->compliance[1] * g.y;
  u.z += set->compliance[1] * g.z;
  double *out = loop->u + block->row;
  out[0] = u.x;
  out[1] = u.y;
  out[2] = u.z;
  if (block->storage == CNI_SPHERE) {
    CnVec3 all = cn_madd(cn_madd(cn_scale(g.x, x.n), g.y, x.t1), g.z, x.t2);
    memcpy(loop->impulse + 3 * (size_t)index, &all, sizeof all);
  }
  if (cni_contact_idle(p, set, g, u)) {
    cni_reduce_norms(index, cn_norm2(u), 0, r2, 0, 0, t);
    return;
  }

  CnVec3 w = cni_contact_law(p, set, u), shifted = {g.x + set->cohesion, g.y, g.z};
  cni_raise(&t->c.gap_speed, -u.x);
  cni_raise(&t->c.cone, cn_max(-shifted.x, sqrt(g.y * g.y + g.z * g.z) - set->mu * shifted.x));
  cni_raise(&t->c.complementarity, fabs(cn_dot(shifted, w)));
  double own = cni_contact_natural2(set, g, w, contact_scale(p, block, set));
  double unit = cni_contact_natural2(set, g, w, 1);
  cni_reduce_norms(index, cn_norm2(u), cn_norm2(g), r2, own, unit, t);
}

static void reduce_other(const StepLoop *loop, int32_t index, CniReduction *t) {
  const CnProblem *p = loop->p;
  const CniBlock *block = &p->blocks[index];
  const CniStorageKind *storage = &cni_storages[block->storage];
  const double *g = loop->answer->g + block->row;
  double *u = loop->u + block->row, b[CNI_MAX_DIM], r[CNI_MAX_DIM], c[CNI_MAX_DIM];
  cni_block_b(p, block, b);
  cni_block_compliance(p, block, c);
  for (int32_t d = 0; d < block->dim; d++) {
    r[d] = b[d];
    u[d] = b[d] + c[d] * g[d];
  }
  storage->velocity(p, block, loop->answer->v, u);
  storage->free(p, block, r);
  cni_reduce_block(p, index, g, u, r, t);
}

static int is_contact(const CniBlock *block) {
  return block->kind == CN_BLOCK_FRICTION &&
         (block->storage == CNI_SPHERE || block->storage == CNI_PAIR);
}

// ---- runs of spheres ----

// How many blocks from `begin` on are contacts between spheres with one set, side by side in their
// arrays.
static int32_t run_length(const CnProblem *p, int32_t begin, int32_t end) {
  const CniBlock *first = &p->blocks[begin];
  int32_t n = 0;
  while (begin + n < end && cni_is_sphere_friction(first + n) && first[n].set == first->set &&
         first[n].index == first->index + n && first[n].row == first->row + 3 * n)
    n++;
  return n;
}

// v and impulse are null where only g and u are asked for.
static CniSphereRun run_of(const CnProblem *p, int32_t begin, int32_t count, const double *g,
                           double *u, const double *v, double *impulse) {
  const CniBlock *block = &p->blocks[begin];
  const CnSet *set = &p->sets[block->set];
  return (CniSphereRun){.spheres = p->spheres + block->index,
                        .groups = p->groups,
                        .v = v,
                        .g = g + block->row,
                        .b = cni_block_b_n(p, block),
                        .u = u + block->row,
                        .impulse = impulse ? impulse + 3 * (size_t)begin : NULL,
                        .mu = set->mu,
                        .cohesion = set->cohesion,
                        .c_n = set->compliance[0],
                        .c_t = set->compliance[1],
                        .coulomb = p->friction == CN_FRICTION_COULOMB,
                        .all_b = !p->b_per_block,
                        .first = begin,
                        .count = count};
}

// Lanes in their order; of equal ones the first block is the worst.
static void add_lanes(const CniReductionLanes *lanes, CniReduction *t) {
  double worst = -1, e2_max = 0;
  for (int32_t i = 0; i < CNI_REDUCTION_LANES; i++) {
    t->e2 += lanes->e2[i];
    t->u2 += lanes->u2[i];
    t->g2 += lanes->g2[i];
    t->r2 += lanes->r2[i];
    cni_raise(&t->r2_max, lanes->r2_max[i]);
    cni_raise(&t->c.gap_speed, lanes->gap_speed[i]);
    cni_raise(&t->c.cone, lanes->cone[i]);
    cni_raise(&t->c.complementarity, lanes->complementarity[i]);
    if (lanes->e2_max[i] > e2_max || (lanes->e2_max[i] == e2_max && lanes->worst[i] < worst)) {
      e2_max = lanes->e2_max[i];
      worst = lanes->worst[i];
    }
  }
  int32_t block = (int32_t)worst;
  if (e2_max > t->e2_max || (e2_max > 0 && e2_max == t->e2_max && block < t->c.worst_block))
    t->c.worst_block = block;
  cni_raise(&t->e2_max, e2_max);
}

// wide: whether lanes are in use; clearing and adding them takes as long as some blocks do.
static void reduce_piece(const StepLoop *loop, const CniPiece *piece, CniReduction *t,
                         CniReductionLanes *lanes, int *wide) {
  const CnProblem *p = loop->p;
  int32_t end = piece->first + piece->count;
  for (int32_t i = piece->first; i < end;) {
    int32_t n = run_length(p, i, end);
    if (n >= RUN_LEAST) {
      if (!*wide) memset(lanes, 0, sizeof *lanes);
      *wide = 1;
      CniSphereRun run = run_of(p, i, n, loop->answer->g, loop->u, loop->answer->v, loop->impulse);
      loop->kernels->reduction(&run, lanes);
      i += n;
      continue;
    }
    if (is_contact(&p->blocks[i]))
      reduce_contact(loop, i, t);
    else
      reduce_other(loop, i, t);
    i++;
  }
}

static void reduce_blocks(void *context, int32_t begin, int32_t end) {
  const StepLoop *loop = context;
  const CniStretches *s = loop->stretches;
  for (int32_t k = begin; k < end; k++) {
    CniReduction t = {.c = {.worst_block = -1}};
    CniReductionLanes lanes;
    int wide = 0;
    for (int32_t i = s->head[k]; i >= 0; i = s->pieces[i].next)
      reduce_piece(loop, &s->pieces[i], &t, &lanes, &wide);
    if (wide) add_lanes(&lanes, &t);
    if (loop->p->part) t.c.worst_block = -1; // numbers of other ranks say nothing here
    loop->parts[k] = t;
  }
}

// ---- momenta ----

// J x for the inertia J: solves inv_inertia y = x by L D L^T, which stays accurate where the
// adjugate of a slender body's inertia has lost its digits. Returns 0 if that is singular.
static int inertia_times(const CnSym3 *a, CnVec3 x, CnVec3 *y) {
  double least = 1e-14 * (a->xx + a->yy + a->zz);
  if (!(a->xx > least)) return 0;
  double l21 = a->xy / a->xx, l31 = a->xz / a->xx;
  double d2 = a->yy - l21 * a->xy, m = a->yz - l21 * a->xz;
  if (!(d2 > least)) return 0;
  double l32 = m / d2, d3 = a->zz - l31 * a->xz - l32 * m;
  if (!(d3 > least)) return 0;
  double y2 = x.y - l21 * x.x, y3 = (x.z - l31 * x.x - l32 * y2) / d3;
  y2 = y2 / d2 - l32 * y3;
  *y = cn_vec3(x.x / a->xx - l21 * y2 - l31 * y3, y2, y3);
  return 1;
}

// Angular momenta of a group: k, the change M (v - v_free), and E^T g as far as it can act.
static void angular(const CnProblem *problem, int32_t index, CnVec3 change, CnVec3 *k, CnVec3 *dm,
                    CnVec3 *p) {
  const CniGroup *group = &problem->groups[index];
  double j = group->inv_inertia;
  if (j > 0) {
    *k = cn_scale(1 / j, group->w);
    *dm = cn_scale(1 / j, change);
    return;
  }
  CnSym3 inertia = cni_group_inertia(problem, index);
  if (inertia_times(&inertia, group->w, k) && inertia_times(&inertia, change, dm)) return;
  CniGroupMass m = cni_group_mass(problem, index);
  *k = cn_smul(m.inertia, group->w);
  *dm = cn_smul(m.inertia, change);
  *p = cn_smul(m.range, *p);
}

static void raise_vec(double *worst, CnVec3 a) {
  cni_raise(worst, fabs(a.x));
  cni_raise(worst, fabs(a.y));
  cni_raise(worst, fabs(a.z));
}

// Velocity or spin: momentum before, its change, the impulse.
static void reduce_momentum(CnVec3 k, CnVec3 dm, CnVec3 p, CniReduction *t) {
  CnVec3 defect = cn_sub(dm, p);
  t->k2 += cn_norm2(k);
  t->mv2 += cn_norm2(cn_add(k, dm));
  t->p2 += cn_norm2(p);
  t->d2 += cn_norm2(defect);
  raise_vec(&t->k_max, k);
  raise_vec(&t->p_max, p);
  raise_vec(&t->d_max, defect);
}

static void reduce_group(const CnProblem *problem, int32_t index, const double *v,
                         const double *momentum, CniReduction *t) {
  const CniGroup *group = &problem->groups[index];
  CnTwist old = cni_group_old(problem, index);
  CnVec3 move = {v[0], v[1], v[2]}, spin = {v[3], v[4], v[5]}, k, dm;
  CnVec3 p = {momentum[0], momentum[1], momentum[2]}, l = {momentum[3], momentum[4], momentum[5]};
  t->c.dissipation -=
      (cn_dot(p, cn_add(move, old.velocity)) + cn_dot(l, cn_add(spin, old.spin))) / 2;
  CnVec3 change = cn_sub(move, group->v), turn = cn_sub(spin, group->w);
  if (!(group->inv_mass > 0)) {
    int kept = change.x == 0 && change.y == 0 && change.z == 0 && turn.x == 0 && turn.y == 0 &&
               turn.z == 0;
    if (!kept) t->d_max = t->d2 = INFINITY;
    return;
  }
  double mass = 1 / group->inv_mass;
  reduce_momentum(cn_scale(mass, group->v), cn_scale(mass, change), p, t);
  angular(problem, index, turn, &k, &dm, &l);
  reduce_momentum(k, dm, l, t);
}

static void reduce_range(const StepLoop *loop, int32_t begin, int32_t end, CniReduction *t) {
  for (int32_t i = begin; i < end; i++)
    reduce_group(loop->p, i, loop->answer->v + 6 * (size_t)i, loop->momentum + 6 * (size_t)i, t);
}

// Stretches, and as one more the groups without mass before the first and behind the last of them.
static void reduce_groups(void *context, int32_t begin, int32_t end) {
  const StepLoop *loop = context;
  const CniStretches *s = loop->stretches;
  for (int32_t k = loop->first + begin; k < loop->first + end; k++) {
    CniReduction t = {.c = {.worst_block = -1}};
    if (k < s->count) {
      reduce_range(loop, cni_stretch_begin(s, k), cni_stretch_begin(s, k + 1), &t);
    } else {
      reduce_range(loop, 0, s->begin, &t);
      reduce_range(loop, s->end, loop->p->group_count, &t);
    }
    loop->parts[k] = t;
  }
}

// ---- the whole ----

// The first stretch of a rank; of a problem that is whole here there is one rank.
static int32_t first_stretch(const CnProblem *p, const CniStretches *s, int32_t rank) {
  if (!p->part) return rank == 0 ? 0 : s->count;
  return s->count / p->part_slabs *
         cni_part_first_slab(p->part_slabs, cni_ranks_count(p->ranks), rank);
}

// All ranks get what each has found of its stretches, `size` bytes a stretch.
static CnStatus gather_parts(const CnProblem *p, const CniStretches *s, void *parts, size_t size) {
  int32_t count = p->part ? cni_ranks_count(p->ranks) : 1;
  if (count == 1) return CN_OK;
  size_t bytes = ((size_t)count + 1) * sizeof(int64_t);
  int64_t *start = cni_allocate(&p->allocator, bytes);
  if (!start) return cni_ranks_tell(p->ranks, cni_error_memory(bytes));
  for (int32_t r = 0; r <= count; r++) start[r] = first_stretch(p, s, r) * (int64_t)size;
  CnStatus status = cni_ranks_gather(p->ranks, parts, start);
  cni_release(&p->allocator, start, bytes);
  return status;
}

// A rank that has failed is heard of again when the step ends.
static CnStatus reduce_all(StepLoop *loop, CniReduction *t) {
  const CnProblem *p = loop->p;
  int32_t count = loop->stretches->count, own = loop->last - loop->first;
  // stretches of others have blocks here that fit in no column, whose impulses are asked for below
  cni_parallel_for(p->tasks, count, 1, reduce_blocks, loop);
  CNI_TRY(gather_parts(p, loop->stretches, loop->parts, sizeof *loop->parts));
  for (int32_t i = 0; i < count; i++) add_reduction(t, &loop->parts[i]);
  CNI_TRY(cni_momenta_sum(&(CniMomenta){.p = p,
                                        .answer = loop->answer,
                                        .stretches = loop->stretches,
                                        .impulse = loop->impulse,
                                        .momentum = loop->momentum,
                                        .first = loop->first,
                                        .last = loop->last}));
  cni_parallel_for(p->tasks, own, 1, reduce_groups, loop);
  CNI_TRY(gather_parts(p, loop->stretches, loop->parts, sizeof *loop->parts));
  loop->first = count; // the groups beside all stretches
  reduce_groups(loop, 0, 1);
  for (int32_t i = 0; i <= count; i++) add_reduction(t, &loop->parts[i]);
  return CN_OK;
}

void cni_reduce_step(const CnProblem *p, const CnAnswer *answer, double *u, double *space,
                     CniReduction *t) {
  const CniStretches *stretches = cni_stretches_make(p, space);
  double *momentum = space + cni_stretches_scratch(p);
  double *impulse = momentum + 6 * (size_t)p->group_count;
  CniReduction *parts = (CniReduction *)(void *)(impulse + 3 * (size_t)p->block_count);
  const CniReductionKernels *kernels = cni_reduction_kernels(cni_simd_level());
  int32_t rank = p->part ? cni_ranks_rank(p->ranks) : 0;
  StepLoop loop = {.p = p,
                   .answer = answer,
                   .u = u,
                   .momentum = momentum,
                   .impulse = impulse,
                   .parts = parts,
                   .kernels = kernels,
                   .stretches = stretches,
                   .first = first_stretch(p, stretches, rank),
                   .last = first_stretch(p, stretches, rank + 1)};
  if (reduce_all(&loop, t) != CN_OK) t->e2_max = t->d_max = t->d2 = INFINITY;
  cni_momentum_errors(t);
}

typedef struct SumLoop {
  const CnProblem *p;
  const double *g;
  double *u; // read
  double scale;
  double *sums; // one a stretch
  const CniReductionKernels *kernels;
  const CniStretches *stretches;
  int32_t first; // stretch
} SumLoop;

static void sum_piece(const SumLoop *loop, const CniPiece *piece, double *sum, double *lanes) {
  const CnProblem *p = loop->p;
  int32_t end = piece->first + piece->count;
  for (int32_t i = piece->first; i < end;) {
    int32_t n = run_length(p, i, end);
    if (n >= RUN_LEAST) {
      CniSphereRun run = run_of(p, i, n, loop->g, loop->u, NULL, NULL);
      loop->kernels->natural(&run, loop->scale, lanes);
      i += n;
      continue;
    }
    const CniBlock *block = &p->blocks[i++];
    *sum += cni_block_natural2(p, block, loop->g + block->row, loop->u + block->row, loop->scale);
  }
}

static void sum_blocks(void *context, int32_t begin, int32_t end) {
  const SumLoop *loop = context;
  const CniStretches *s = loop->stretches;
  for (int32_t k = loop->first + begin; k < loop->first + end; k++) {
    _Alignas(64) double lanes[CNI_REDUCTION_LANES] = {0};
    double sum = 0;
    for (int32_t i = s->head[k]; i >= 0; i = s->pieces[i].next)
      sum_piece(loop, &s->pieces[i], &sum, lanes);
    for (int32_t i = 0; i < CNI_REDUCTION_LANES; i++) sum += lanes[i];
    loop->sums[k] = sum;
  }
}

double cni_natural2_sum(const CnProblem *p, const double *g, double *u, double scale,
                        double *space) {
  double sum = 0;
  if (p->form != CN_FORM_STEP) {
    for (int32_t i = 0; i < p->block_count; i++) {
      const CniBlock *block = &p->blocks[i];
      sum += cni_block_natural2(p, block, g + block->row, u + block->row, scale);
    }
    return sum;
  }
  const CniStretches *s = (const CniStretches *)(void *)space;
  double *sums = space + cni_stretches_scratch(p); // where the momenta were
  int32_t rank = p->part ? cni_ranks_rank(p->ranks) : 0, first = first_stretch(p, s, rank);
  SumLoop loop = {p, g, u, scale, sums, cni_reduction_kernels(cni_simd_level()), s, first};
  cni_parallel_for(p->tasks, first_stretch(p, s, rank + 1) - first, 1, sum_blocks, &loop);
  if (gather_parts(p, s, sums, sizeof *sums) != CN_OK) return INFINITY;
  for (int32_t i = 0; i < s->count; i++) sum += sums[i];
  return sum;
}
