// From a problem to the workspace of the sweeps, and back to impulses.
//
// First every block is given a kernel, and counted; then all room is made, so that nothing can fail
// once something has been written; then the constants of each block are computed, the warm start is
// projected on the sets and v = v_free + M^-1 E^T g made true.
//
// Cohesion: kernels with their own storage keep g_n + c. With u_n = E v + b_n + C g_n this makes
// b_n - C c out of b_n.
#include "solver/psor.h"
#include "solver/small.h"
#include "core/error.h"
#include "core/memory.h"

#include <string.h>

// ---- which kernel ----

static int isotropic(const CnProblem *p, int32_t group) {
  return p->groups[group].mass_kind != CNI_MASS_FULL;
}

// A contact of two isotropic groups that sticks to no moving surface.
static int plain_sphere(const CnProblem *p, const CniBlock *block) {
  const CniSphereBlock *c = &p->spheres[block->index];
  if (!isotropic(p, c->group_a) || !isotropic(p, c->group_b)) return 0;
  if (block->kind == CN_BLOCK_UNILATERAL) return 1;
  if (block->kind != CN_BLOCK_FRICTION) return 0;
  return p->b[block->row + 1] == 0 && p->b[block->row + 2] == 0;
}

static CniPsorKernel choose_kernel(const CniPsor *s, const CnProblem *p, const CniBlock *block) {
  if (block->storage == CNI_EXPLICIT) return CNI_PSOR_EXPLICIT;
  if (block->storage == CNI_ROWS) return CNI_PSOR_ROWS;
  int exact = s->rule.local == CN_LOCAL_EXACT;
  int convex = p->friction == CN_FRICTION_CONVEX;
  int project = s->rule.local == CN_LOCAL_PROJECTION || convex;
  // without friction both models are one, and the clamp of the normal is exact
  int rough = block->kind == CN_BLOCK_FRICTION && p->sets[block->set].mu > 0;
  if (block->storage == CNI_SPHERE && plain_sphere(p, block)) {
    // as is, for spheres, the split of the coulomb model
    if (!rough || (!project && !exact) || (exact && !convex)) return CNI_PSOR_SPHERE_SPLIT;
    return exact ? CNI_PSOR_WIDE : CNI_PSOR_SPHERE_PROJECT;
  }
  if (block->storage == CNI_PAIR && block->kind == CN_BLOCK_FRICTION && !exact)
    return project && rough ? CNI_PSOR_PAIR_PROJECT : CNI_PSOR_PAIR_SPLIT;
  return CNI_PSOR_WIDE;
}

// ---- room ----

typedef struct Counts {
  int32_t blocks[CNI_PSOR_KERNEL_COUNT];
  int32_t entries, runs;
  int64_t pool;
} Counts;

static Counts count_blocks(const CniPsor *s, const CnProblem *p) {
  Counts counts = {0};
  int32_t last = -1;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    int32_t kernel = (int32_t)choose_kernel(s, p, block);
    counts.blocks[kernel]++;
    if (kernel != last) counts.runs++;
    last = kernel;
    if (kernel >= CNI_PSOR_WIDE) counts.pool += cni_local_pool_size(block, &s->rule);
    if (kernel == CNI_PSOR_ROWS) counts.entries += p->row_blocks[block->index].entry_count;
  }
  return counts;
}

static CnStatus make_room(CniPsor *s, const CnProblem *p, const Counts *counts) {
  const int32_t *n = counts->blocks;
  if (counts->pool > INT32_MAX)
    return cni_error(CN_INVALID_ARGUMENT, "problem of %d blocks is too large for %s",
                     (int)p->block_count, s->def.name);
  const CnAllocator *a = &s->allocator;
#define ROOM(array, capacity, needed)                                                              \
  CNI_TRY(cni_array_reserve(a, (void **)&s->array, &s->capacity, 0, needed, sizeof *s->array))
  ROOM(groups, group_capacity, p->group_count);
  ROOM(inertia, inertia_capacity, p->group_count);
  ROOM(spheres, sphere_capacity, n[CNI_PSOR_SPHERE_SPLIT] + n[CNI_PSOR_SPHERE_PROJECT]);
  ROOM(pairs, pair_capacity, n[CNI_PSOR_PAIR_SPLIT] + n[CNI_PSOR_PAIR_PROJECT]);
  ROOM(wides, wide_capacity, n[CNI_PSOR_WIDE]);
  ROOM(rows, rows_capacity, n[CNI_PSOR_ROWS] + n[CNI_PSOR_EXPLICIT]);
  ROOM(entries, entry_capacity, counts->entries);
  ROOM(runs, run_capacity, counts->runs);
  ROOM(pool, pool_capacity, (int32_t)counts->pool);
  ROOM(g, g_capacity, p->row_count);
  ROOM(u, u_capacity, p->row_count);
  ROOM(v, v_capacity, 6 * p->group_count);
#undef ROOM
  return CN_OK;
}

// ---- blocks ----

static void prepare_sphere(const CniPsor *s, const CnProblem *p, const CniBlock *block, int project,
                           CniPsorSphere *c) {
  const CniSphereBlock *from = &p->spheres[block->index];
  const CniGroup *a = &p->groups[from->group_a], *b = &p->groups[from->group_b];
  const CnSet *set = &p->sets[block->set];
  int friction = block->kind == CN_BLOCK_FRICTION;
  double omega = s->rule.omega, cohesion = friction ? set->cohesion : 0;
  double ra = from->radius_a, rb = from->radius_b;
  const double *g = s->g + block->row;
  CnVec3 t1, t2;
  cn_tangents(from->normal, &t1, &t2);

  c->n = from->normal;
  c->radius_a = ra;
  c->radius_b = rb;
  c->group_a = from->group_a;
  c->group_b = from->group_b;
  c->mu = friction ? set->mu : 0;
  c->c_n = set->compliance[0];
  c->c_t = friction ? set->compliance[1] : 0;
  c->g_n = g[0] + cohesion;
  c->g_t = friction ? cn_madd(cn_scale(g[1], t1), g[2], t2) : CN_VEC3_ZERO;
  c->b_n = p->b[block->row] - c->c_n * cohesion;

  // N_ii = diag(w_n, w_t, w_t)
  double w_n = a->inv_mass + b->inv_mass + c->c_n;
  double w_t = a->inv_mass + b->inv_mass + ra * ra * a->inv_inertia.xx +
               rb * rb * b->inv_inertia.xx + c->c_t;
  c->step_n = w_n > 0 ? omega / w_n : 0;
  c->step_t = w_t > 0 ? omega / w_t : 0;
  if (project) c->step_n = cni_local_step(omega, w_n + 2 * w_t, 3, cn_max(w_n, w_t));

  // between prescribed groups nothing can be changed
  if (w_t > 0) return;
  c->g_n = cohesion;
  c->g_t = CN_VEC3_ZERO;
}

static void prepare_pair(const CniPsor *s, const CnProblem *p, const CniBlock *block, int project,
                         CniPsorPair *c) {
  const CniPairBlock *from = &p->pairs[block->index];
  const CnSet *set = &p->sets[block->set];
  const double *g = s->g + block->row, *b = p->b + block->row;
  double n[9], omega = s->rule.omega;
  cni_storages[CNI_PAIR].diagonal(p, block, n);

  c->n = from->normal;
  c->t1 = from->tangent;
  c->t2 = cn_cross(from->normal, from->tangent);
  c->arm_a = from->arm_a;
  c->arm_b = from->arm_b;
  c->group_a = from->group_a;
  c->group_b = from->group_b;
  c->mu = set->mu;
  c->c_n = set->compliance[0];
  c->c_t = set->compliance[1];
  for (int32_t i = 0; i < 3; i++) {
    c->g[i] = g[i];
    c->b[i] = b[i];
  }
  c->g[0] += set->cohesion;
  c->b[0] -= c->c_n * set->cohesion;
  c->n_1n = n[3];
  c->n_2n = n[6];
  double eta_t = cni_lambda_max_2(n[4], n[5], n[8]);
  c->step_n = n[0] > 0 ? omega / n[0] : 0;
  c->step_t = eta_t > 0 ? omega / eta_t : 0;
  if (project) c->step_n = cni_local_step(omega, n[0] + n[4] + n[8], 3, cni_small_lambda_max(3, n));

  // between prescribed groups nothing can be changed
  if (eta_t > 0 || n[0] > 0) return;
  c->g[0] = set->cohesion;
  c->g[1] = c->g[2] = 0;
}

static void prepare_wide(const CniPsor *s, const CnProblem *p, const CniBlock *block,
                         CniPsorWide *c, double *pool) {
  memset(c, 0, sizeof *c);
  cni_local_prepare(&c->local, p, block, &s->rule, pool);
  c->row = block->row;
  if (block->storage == CNI_PAIR) {
    const CniPairBlock *from = &p->pairs[block->index];
    c->n = from->normal;
    c->t1 = from->tangent;
    c->t2 = cn_cross(from->normal, from->tangent);
    c->arm_a = from->arm_a;
    c->arm_b = from->arm_b;
    c->length = from->length;
    c->group_a = from->group_a;
    c->group_b = from->group_b;
  } else {
    const CniSphereBlock *from = &p->spheres[block->index];
    c->n = from->normal;
    cn_tangents(c->n, &c->t1, &c->t2);
    c->arm_a = cn_scale(from->radius_a, c->n);
    c->arm_b = cn_scale(-from->radius_b, c->n);
    c->length = from->length;
    c->group_a = from->group_a;
    c->group_b = from->group_b;
  }
}

static void prepare_rows(const CniPsor *s, const CnProblem *p, const CniBlock *block,
                         CniPsorRows *c, int32_t entry, double *pool) {
  memset(c, 0, sizeof *c);
  cni_local_prepare(&c->local, p, block, &s->rule, pool);
  c->row = block->row;
  c->entry_begin = c->entry_end = entry;
  if (block->storage == CNI_EXPLICIT) return;
  const CniRowsBlock *from = &p->row_blocks[block->index];
  for (int32_t i = 0; i < from->entry_count; i++) {
    const CnRowEntry *e = &p->row_entries[from->entry_start + i];
    const CniGroup *group = &p->groups[e->group];
    CniPsorEntry *to = &s->entries[c->entry_end++];
    to->row = e->row;
    to->group = e->group;
    to->e = e->coefficient;
    to->m_e.velocity = cn_scale(group->inv_mass, e->coefficient.velocity);
    to->m_e.spin = cn_smul(group->inv_inertia, e->coefficient.spin);
  }
}

// ---- all together ----

static void prepare_groups(CniPsor *s, const CnProblem *p) {
  for (int32_t i = 0; i < p->group_count; i++) {
    const CniGroup *from = &p->groups[i];
    const double *v = s->v + 6 * i;
    int isotropic_mass = from->mass_kind == CNI_MASS_ISOTROPIC;
    s->groups[i] = (CniPsorGroup){{v[0], v[1], v[2]},
                                  from->inv_mass,
                                  {v[3], v[4], v[5]},
                                  isotropic_mass ? from->inv_inertia.xx : 0};
    s->inertia[i] = (CniPsorInertia){from->inv_inertia, {0, 0}};
  }
}

// Index of the next block of a kernel in the array that the kernel works on.
static int32_t *next_index(int32_t next[4], int32_t kernel) {
  static const int32_t arrays[CNI_PSOR_KERNEL_COUNT] = {0, 0, 1, 1, 2, 3, 3};
  return &next[arrays[kernel]];
}

static void prepare_blocks(CniPsor *s, const CnProblem *p) {
  int32_t next[4] = {0}, entry = 0, pool = 0;
  s->run_count = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    int32_t kernel = (int32_t)choose_kernel(s, p, block);
    int32_t k = (*next_index(next, kernel))++;
    switch ((CniPsorKernel)kernel) {
    case CNI_PSOR_SPHERE_SPLIT:
    case CNI_PSOR_SPHERE_PROJECT:
      prepare_sphere(s, p, block, kernel == CNI_PSOR_SPHERE_PROJECT, &s->spheres[k]);
      break;
    case CNI_PSOR_PAIR_SPLIT:
    case CNI_PSOR_PAIR_PROJECT:
      prepare_pair(s, p, block, kernel == CNI_PSOR_PAIR_PROJECT, &s->pairs[k]);
      break;
    case CNI_PSOR_WIDE:
      prepare_wide(s, p, block, &s->wides[k], s->pool + pool);
      break;
    default:
      prepare_rows(s, p, block, &s->rows[k], entry, s->pool + pool);
      entry = s->rows[k].entry_end;
      break;
    }
    if (kernel >= CNI_PSOR_WIDE) pool += cni_local_pool_size(block, &s->rule);

    // lengthen the last run or start another
    CniPsorRun *run = s->run_count > 0 ? &s->runs[s->run_count - 1] : NULL;
    if (!run || run->kernel != kernel) {
      run = &s->runs[s->run_count++];
      *run = (CniPsorRun){kernel, k, k};
    }
    run->end = k + 1;
  }
}

CnStatus cni_psor_prepare(CniPsor *s, const CnProblem *p, const double *g) {
  Counts counts = count_blocks(s, p);
  CNI_TRY(make_room(s, p, &counts));
  s->p = p;
  s->convex = p->friction == CN_FRICTION_CONVEX;
  if (p->row_count > 0) memcpy(s->g, g, (size_t)p->row_count * sizeof *g);
  for (int32_t i = 0; i < p->block_count; i++)
    cni_project(p, &p->blocks[i], s->g + p->blocks[i].row);
  if (p->form == CN_FORM_STEP) {
    cni_problem_apply(p, s->g, s->v);
    prepare_groups(s, p);
  }
  prepare_blocks(s, p);
  return CN_OK;
}

void cni_psor_store(CniPsor *s) {
  const CnProblem *p = s->p;
  int32_t next[4] = {0};
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    int32_t kernel = (int32_t)choose_kernel(s, p, block);
    int32_t k = (*next_index(next, kernel))++;
    double *g = s->g + block->row;
    double cohesion = block->kind == CN_BLOCK_UNILATERAL ? 0 : p->sets[block->set].cohesion;
    if (kernel <= CNI_PSOR_SPHERE_PROJECT) {
      const CniPsorSphere *c = &s->spheres[k];
      CnVec3 t1, t2;
      g[0] = c->g_n - cohesion;
      if (block->dim == 1) continue;
      cn_tangents(c->n, &t1, &t2);
      g[1] = cn_dot(t1, c->g_t);
      g[2] = cn_dot(t2, c->g_t);
    } else if (kernel <= CNI_PSOR_PAIR_PROJECT) {
      const CniPsorPair *c = &s->pairs[k];
      g[0] = c->g[0] - cohesion;
      g[1] = c->g[1];
      g[2] = c->g[2];
    }
  }
}
