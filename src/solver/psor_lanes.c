// From contacts to lanes, and back to impulses.
//
// The constants of a contact follow from N_ii, which for two spheres is (w_n, w_t, w_t) and the
// coupling of slip with rolling, and for any two points a full matrix. Split: omega over the
// normal entry, and over the largest eigenvalue of each disc's own block. Projection: one step for
// all rows (local.h); a contact without friction has nothing to project on but its normal, and
// takes the step of that.
//
// Cohesion: lanes keep g_n + c. With u_n = E v + b_n + C g_n this makes b_n - C c out of b_n. The
// impulses c themselves are taken out of the free velocities (psor_prepare.c).
#include "solver/psor.h"
#include "solver/small.h"
#include "core/tasks.h"

#include <string.h>

// What both storages have in common.
typedef struct Contact {
  CnVec3 n, t1, t2;
  CnVec3 arm_a, arm_b;
  double radius_a, radius_b, length;
  int32_t group_a, group_b;
} Contact;

static Contact contact_of(const CnProblem *p, const CniBlock *block) {
  Contact c = {.radius_a = 0};
  if (block->storage == CNI_PAIR) {
    const CniPairBlock *from = &p->pairs[block->index];
    c.n = from->normal;
    c.t1 = from->tangent;
    c.t2 = cn_cross(from->normal, from->tangent);
    c.arm_a = from->arm_a;
    c.arm_b = from->arm_b;
    c.length = from->length;
    c.group_a = from->group_a;
    c.group_b = from->group_b;
  } else {
    const CniSphereBlock *from = &p->spheres[block->index];
    c.n = from->normal;
    cn_tangents(c.n, &c.t1, &c.t2);
    c.radius_a = from->radius_a;
    c.radius_b = from->radius_b;
    c.length = from->length;
    c.group_a = from->group_a;
    c.group_b = from->group_b;
  }
  return c;
}

static CnVec3 in_plane(const Contact *c, double x1, double x2) {
  return cn_madd(cn_scale(x1, c->t1), x2, c->t2);
}

static void set3(CniPsorLine *line, int32_t lane, CnVec3 a) {
  line[0].lane[lane] = a.x;
  line[1].lane[lane] = a.y;
  line[2].lane[lane] = a.z;
}

static CnVec3 get3(const CniPsorLine *line, int32_t lane) {
  return cn_vec3(line[0].lane[lane], line[1].lane[lane], line[2].lane[lane]);
}

// ---- steps ----

// omega/eta of the rows: normal and projection, slip, rolling, spinning.
typedef struct Steps {
  double n, t, r, s;
  CnVec3 n_tn; // pairs
  int frozen;  // no inverse mass: nothing can be changed
} Steps;

static double ratio(double omega, double eta) { return eta > 0 ? omega / eta : 0; }

// Contact of spheres with at most sliding friction: N_ii is diagonal.
static Steps sphere_steps(const CniPsor *s, const Contact *c, const CnSet *set, double mu) {
  const CniPsorGroup *a = &s->groups[c->group_a], *b = &s->groups[c->group_b];
  double omega = s->rule.omega, ra = c->radius_a, rb = c->radius_b;
  double mass = a->inv_mass + b->inv_mass;
  double w_n = mass + set->compliance[0];
  double w_t = mass + ra * ra * a->inv_inertia + rb * rb * b->inv_inertia + set->compliance[1];
  Steps steps = {.n = ratio(omega, w_n), .t = ratio(omega, w_t), .frozen = !(w_t > 0 || w_n > 0)};
  if (s->law != CNI_PSOR_SPLIT && mu > 0)
    steps.n = cni_local_step(omega, w_n + 2 * w_t, 3, cn_max(w_n, w_t));
  return steps;
}

// From N_ii, whatever the dimension.
static Steps block_steps(const CniPsor *s, const CniBlock *block, const Contact *c, double mu) {
  const CnProblem *p = s->p;
  int32_t dim = block->dim;
  double n[CNI_MAX_DIM * CNI_MAX_DIM], omega = s->rule.omega, trace = 0;
  cni_storages[block->storage].diagonal(p, block, n);
  for (int32_t i = 0; i < dim; i++) trace += n[i * dim + i];
  Steps steps = {.n = ratio(omega, n[0]), .frozen = !(trace > 0)};
  if (dim >= 3) {
    const double *t1 = n + dim, *t2 = n + 2 * dim;
    steps.t = ratio(omega, cni_lambda_max_2(t1[1], t1[2], t2[2]));
    steps.n_tn = in_plane(c, t1[0], t2[0]);
  }
  if (dim >= 5) {
    const double *r1 = n + 3 * dim, *r2 = n + 4 * dim;
    steps.r = ratio(omega, cni_lambda_max_2(r1[3], r1[4], r2[4]));
  }
  if (dim >= 6) steps.s = ratio(omega, n[5 * dim + 5]);
  if (s->law != CNI_PSOR_SPLIT && mu > 0)
    steps.n = cni_local_step(omega, trace, dim, cni_small_lambda_max(dim, n));
  return steps;
}

// ---- fill ----

// g of the warm start in the set; most of the time it is there already.
static void project_start(const CnProblem *p, const CniBlock *block, const double *g, double *x) {
  for (int32_t i = 0; i < block->dim; i++) x[i] = g[i];
  cni_project(p, block, x);
}

static void fill_turn(const CniPsor *s, const CniBlock *block, const Contact *c, const Steps *steps,
                      const double *g, CniPsorLine *full, int32_t lane) {
  const CnProblem *p = s->p;
  const CnSet *set = &p->sets[block->set];
  const double *b = p->b + block->row;
  int spin = block->dim > 5;
  set3(full + CNI_LINE_G_R, lane, in_plane(c, g[3], g[4]));
  full[CNI_LINE_G_S].lane[lane] = spin ? g[5] : 0;
  set3(full + CNI_LINE_B_R, lane, in_plane(c, b[3], b[4]));
  full[CNI_LINE_B_S].lane[lane] = spin ? b[5] : 0;
  full[CNI_LINE_C_R].lane[lane] = set->compliance[2];
  full[CNI_LINE_LENGTH].lane[lane] = c->length;
  full[CNI_LINE_STEP_R].lane[lane] = steps->r;
  full[CNI_LINE_STEP_S].lane[lane] = steps->s;
  full[CNI_LINE_MU_R].lane[lane] = set->mu_roll / c->length;
  full[CNI_LINE_MU_S].lane[lane] = spin ? set->mu_spin / c->length : 0;
}

static void fill_contact(const CniPsor *s, int32_t kind, const CniBlock *block, const double *start,
                         CniPsorLine *c, int32_t lane) {
  const CnProblem *p = s->p;
  const CnSet *set = &p->sets[block->set];
  Contact contact = contact_of(p, block);
  int rough = block->kind != CN_BLOCK_UNILATERAL;
  double mu = rough ? set->mu : 0, cohesion = rough ? set->cohesion : 0;
  double most = mu; // friction of any kind
  if (block->kind >= CN_BLOCK_ROLLING) most += set->mu_roll;
  if (block->kind >= CN_BLOCK_SPINNING) most += set->mu_spin;
  Steps steps = kind == CNI_PSOR_SPHERE || kind == CNI_PSOR_SPHERE_FULL
                    ? sphere_steps(s, &contact, set, most)
                    : block_steps(s, block, &contact, most);
  double g[CNI_MAX_DIM];
  const double *b = p->b + block->row;
  project_start(p, block, start + block->row, g);
  g[0] += cohesion;
  if (steps.frozen) {
    g[0] = cohesion;
    for (int32_t i = 1; i < block->dim; i++) g[i] = 0;
  }

  set3(c + CNI_LINE_N, lane, contact.n);
  c[CNI_LINE_G_N].lane[lane] = g[0];
  set3(c + CNI_LINE_G_T, lane, rough ? in_plane(&contact, g[1], g[2]) : CN_VEC3_ZERO);
  c[CNI_LINE_B_N].lane[lane] = b[0] - set->compliance[0] * cohesion;
  c[CNI_LINE_STEP_N].lane[lane] = steps.n;
  c[CNI_LINE_STEP_T].lane[lane] = steps.t;
  c[CNI_LINE_MU].lane[lane] = mu;
  if (kind < CNI_PSOR_PAIR) {
    c[CNI_LINE_RADIUS_A].lane[lane] = contact.radius_a;
    c[CNI_LINE_RADIUS_B].lane[lane] = contact.radius_b;
  } else {
    set3(c + CNI_LINE_ARM_A, lane, contact.arm_a);
    set3(c + CNI_LINE_ARM_B, lane, contact.arm_b);
    set3(c + CNI_LINE_N_TN, lane, steps.n_tn);
  }
  if (kind % 3 == 0) return;
  CniPsorLine *full = c + cni_psor_full(kind);
  set3(full + CNI_LINE_B_T, lane, rough ? in_plane(&contact, b[1], b[2]) : CN_VEC3_ZERO);
  full[CNI_LINE_C_N].lane[lane] = set->compliance[0];
  full[CNI_LINE_C_T].lane[lane] = rough ? set->compliance[1] : 0;
  if (kind % 3 == 2) fill_turn(s, block, &contact, &steps, g, full, lane);
}

void cni_psor_fill_batch(CniPsor *s, const CniBatch *batch, CniPsorHead *head, const double *g) {
  const CnProblem *p = s->p;
  int32_t lines = cni_psor_lines(batch->kind);
  CniPsorLine *first = (CniPsorLine *)(void *)(head + 1);
  if (batch->lane_count < CNI_BATCH_LANES)
    memset(first, 0, (size_t)(lines * batch->length) * sizeof *first);
  for (int32_t lane = 0; lane < CNI_BATCH_LANES; lane++) {
    head->a[lane] = head->b[lane] = p->group_count;
    if (lane >= batch->lane_count) continue;
    const CniBlock *block = &p->blocks[batch->block[lane]];
    Contact c = contact_of(p, block);
    head->a[lane] = c.group_a;
    head->b[lane] = c.group_b;
    for (int32_t k = 0; k < batch->length; k++)
      fill_contact(s, batch->kind, block + k, g, first + (int64_t)lines * k, lane);
  }
}

// ---- store ----

static void store_contact(const CniPsor *s, int32_t kind, const CniBlock *block,
                          const CniPsorLine *c, int32_t lane) {
  const CnProblem *p = s->p;
  double *g = s->g + block->row;
  g[0] = c[CNI_LINE_G_N].lane[lane];
  if (block->kind == CN_BLOCK_UNILATERAL) return;
  g[0] -= p->sets[block->set].cohesion;
  Contact contact = contact_of(p, block);
  CnVec3 g_t = get3(c + CNI_LINE_G_T, lane);
  g[1] = cn_dot(contact.t1, g_t);
  g[2] = cn_dot(contact.t2, g_t);
  if (kind % 3 != 2) return;
  const CniPsorLine *full = c + cni_psor_full(kind);
  CnVec3 g_r = get3(full + CNI_LINE_G_R, lane);
  g[3] = cn_dot(contact.t1, g_r);
  g[4] = cn_dot(contact.t2, g_r);
  if (block->dim > 5) g[5] = full[CNI_LINE_G_S].lane[lane];
}

const CniPsorHead *cni_psor_store_batch(const CniPsor *s, const CniPsorRun *run, int32_t i) {
  int32_t lines = cni_psor_lines(run->kind);
  const CniBatch *batch = &s->schedule.batches[run->begin + i];
  const CniPsorLine *head = s->lines + run->offset + (size_t)i * (size_t)(1 + lines * run->length);
  for (int32_t lane = 0; lane < batch->lane_count; lane++)
    for (int32_t k = 0; k < batch->length; k++)
      store_contact(s, run->kind, &s->p->blocks[batch->block[lane] + k],
                    head + 1 + (int64_t)lines * k, lane);
  return (const CniPsorHead *)(const void *)head;
}

static void store_slabs(void *context, int32_t begin, int32_t end) {
  const CniPsor *s = context;
  for (int32_t i = s->run_start[begin]; i < s->run_start[end]; i++) {
    const CniPsorRun *run = &s->runs[i];
    if (run->kind == CNI_PSOR_ROWS) continue;
    for (int32_t k = 0; k < run->count; k++) cni_psor_store_batch(s, run, k);
  }
}

void cni_psor_store(CniPsor *s) {
  if (s->p->form != CN_FORM_STEP) return;
  cni_parallel_for(s->def.tasks, s->schedule.slab_count + 1, 1, store_slabs, s);
}
