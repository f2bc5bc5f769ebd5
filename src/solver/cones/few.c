// SPDX-License-Identifier: Apache-2.0
// Few rows beside joints: the joints are eliminated, and what is left is a small full matrix.
//
// With the joints J solved exactly whatever the other impulses g are, the velocities of the other rows are
//
//     u = W g + q,   W = N - C^T S^-1 C + compliance,   C = E_J M^-1 E^T,   S that of the joints
//
// and q what they are with g = 0, likewise from those without any impulses. A contact of a foot then knows of the whole machine that hangs on it, so
// that sweeps need tens where sweeps in turn with the joints need hundreds, and a sweep costs n^2
// multiplications whatever the machine. Each row takes half a substitution with the factor of S, once.
//
// Machines begin with a few steps of Newton's method. Sweeps solve every block exactly and are mixed (mixed.c); what
// they leave to do Newton's method and the interior point do on W. Last the joints are solved for the impulses found. Where joints depend on each
// other W is that of joints a little softer (their factor is shifted): the velocities found at the end tell
// q anew, and a second round mends what that took.
#include "solver/cones/few.h"

#include "core/vec.h"
#include "solver/solver.h"
#include "solver/sweeps/mixed.h"

#include <string.h>

#define BURST 16        // sweeps between looks at the residual, at most
#define ROUNDS 4        // of q
#define NEWTON_STEPS 20 // before all sweeps
#define SHORTEST 1e-5   // of a row's own matrix: what tells the shortest step from round-off of W
#define HANDFUL                                                                                    \
  8 // rows of a machine that have a step of Newton's method in any case: forces at rest do not flicker
#define INSIDE 0.05 // of the limit is asked for, so that the next step may find that it still holds
#define INSIDE_JOINTS 0.5 // with joints, whose own round-off is not far below
#define GAIN 0.3          // of the residual: what a burst of sweeps leaves where more are worth it
#define OWN_ENTRIES 256   // of a block, at most; blocks with more are left to others

// A coefficient on a body with mass, and the velocity that its impulse gives.
typedef struct Entry {
  int32_t group;
  CnTwist e, m_e;
} Entry;

typedef struct Work {
  CniFew *s;
  const CnProblem *p;
  int32_t n, count;     // rows and blocks
  int32_t *block;       // in the problem
  double *scale;        // per block: trace/dim of its own matrix, as the certificate takes it
  int32_t *entry_start; // per row
  Entry *entries;
  int32_t *link_start;   // per row
  CniDirectEntry *links; // what a unit impulse of a row does to rows of the joints
  double *w, *q, *u;     // n x n, n, n
  CnSparse matrix;       // W for the part
  CniMixed mixed;
  double *free;  // velocities without impulses, six a group
  double *found; // impulses of the part, the best so far
  double worst;  // m/s: their residual
} Work;

void cni_few_init(CniFew *s, const CnSolverDef *def, const CnAllocator *allocator) {
  memset(s, 0, sizeof *s);
  s->allocator = *allocator;
  s->tasks = def->tasks;
  s->answer = cn_answer_empty(allocator);
  cni_joints_init(&s->joints, allocator);
  cni_arena_init(&s->room, allocator);
}

void cni_few_release(CniFew *s) {
  cni_joints_release(&s->joints);
  cni_arena_release(&s->room);
  cn_problem_destroy(s->part);
  cn_answer_release(&s->answer);
}

static int is_joint(const CniBlock *block) { return block->kind == CN_BLOCK_BILATERAL; }

int32_t cni_few_rows(const CnProblem *p) {
  int32_t rows = 0;
  for (int32_t i = 0; i < p->block_count; i++)
    rows += is_joint(&p->blocks[i]) ? 0 : p->blocks[i].dim;
  return rows;
}

// ---- rows and what they move ----

// The coefficients of all rows, row by row. Returns 0 where a block has too many.
static int list_entries(Work *k, int32_t *total) {
  const CnProblem *p = k->p;
  CnRowEntry own[OWN_ENTRIES];
  int32_t at = 0, row = 0;
  for (int32_t i = 0; i < k->count; i++) {
    const CniBlock *block = &p->blocks[k->block[i]];
    int32_t count = cni_storages[block->storage].expand(p, block, own, OWN_ENTRIES);
    if (count > OWN_ENTRIES) return 0;
    for (int32_t d = 0; d < block->dim; d++, row++) {
      if (k->entries) k->entry_start[row] = at;
      for (int32_t e = 0; e < count; e++) {
        const CniGroup *group = &p->groups[own[e].group];
        if (own[e].row != d || !(group->inv_mass > 0)) continue;
        if (k->entries) {
          CnTwist x = own[e].coefficient;
          k->entries[at] = (Entry){own[e].group,
                                   x,
                                   {cn_scale(group->inv_mass, x.velocity),
                                    cn_smul(cni_group_inertia(p, own[e].group), x.spin)}};
        }
        at++;
      }
    }
  }
  if (k->entries) k->entry_start[row] = at;
  *total = at;
  return 1;
}

static CnStatus collect(Work *k, int *taken) {
  CniArena *room = &k->s->room;
  const CnProblem *p = k->p;
  int32_t total;
  CNI_TRY(CNI_ARRAYS(room, p->block_count, int32_t, &k->block));
  CNI_TRY(CNI_ARRAYS(room, p->block_count, double, &k->scale));
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    if (is_joint(block)) continue;
    double trace = cni_storages[block->storage].trace(p, block);
    k->scale[k->count] = trace > 0 ? trace / block->dim : 1;
    k->block[k->count++] = i;
    k->n += block->dim;
  }
  *taken = list_entries(k, &total);
  if (!*taken) return CN_OK;
  CNI_TRY(CNI_TAKE(room, k->n + 1, k->entry_start));
  CNI_TRY(CNI_TAKE(room, total, k->entries));
  list_entries(k, &total);
  CNI_TRY(CNI_ARRAYS(room, k->n + 1, double, &k->q, &k->u, &k->found));
  CNI_TRY(CNI_TAKE(room, (size_t)k->n * (size_t)k->n, k->w));
  return CNI_TAKE(room, 6 * (size_t)p->group_count, k->free);
}

static double twist_dot(const CnTwist *a, const CnTwist *b) {
  return cn_dot(a->velocity, b->velocity) + cn_dot(a->spin, b->spin);
}

// N and the compliance.
static void multiply_rows(Work *k) {
  int32_t n = k->n, row = 0;
  for (int32_t r = 0; r < n; r++)
    for (int32_t s = r; s < n; s++) {
      double sum = 0;
      for (int32_t a = k->entry_start[r]; a < k->entry_start[r + 1]; a++)
        for (int32_t b = k->entry_start[s]; b < k->entry_start[s + 1]; b++)
          if (k->entries[a].group == k->entries[b].group)
            sum += twist_dot(&k->entries[a].e, &k->entries[b].m_e);
      k->w[r * n + s] = sum;
    }
  for (int32_t i = 0; i < k->count; i++) {
    const CniBlock *block = &k->p->blocks[k->block[i]];
    double c[CNI_MAX_DIM];
    cni_block_compliance(k->p, block, c);
    for (int32_t d = 0; d < block->dim; d++, row++) k->w[row * n + row] += c[d];
  }
}

// ---- joints ----

// The sides of each body of the joints.
typedef struct Sides {
  int32_t *start; // per body
  int32_t *block; // of a side
  int32_t *side;
} Sides;

static CnStatus list_sides(Work *k, Sides *sides) {
  CniJoints *j = &k->s->joints;
  const CniDirectSystem *system = &j->system;
  int32_t bodies = system->body_count;
  CNI_TRY(cni_arena_array(&k->s->room, bodies + 2, sizeof(int32_t), &sides->start));
  CNI_TRY(CNI_TAKE(&k->s->room, system->side_count, sides->block));
  CNI_TRY(CNI_TAKE(&k->s->room, system->side_count, sides->side));
  for (int32_t i = 0; i < system->side_count; i++) sides->start[j->sides[i].body + 2]++;
  for (int32_t i = 0; i < bodies; i++) sides->start[i + 2] += sides->start[i + 1];
  for (int32_t b = 0; b < system->block_count; b++) {
    const CniDirectBlock *block = &j->blocks[b];
    for (int32_t i = block->side; i < block->side + block->side_count; i++) {
      int32_t at = sides->start[j->sides[i].body + 1]++;
      sides->block[at] = b;
      sides->side[at] = i;
    }
  }
  return CN_OK;
}

// C^T row by row; without room for them they are counted.
static int32_t list_links(Work *k, const Sides *sides) {
  const CniJoints *j = &k->s->joints;
  int32_t at = 0;
  for (int32_t r = 0; r < k->n; r++) {
    if (k->links) k->link_start[r] = at;
    for (int32_t e = k->entry_start[r]; e < k->entry_start[r + 1]; e++) {
      int32_t body = j->body_of[k->entries[e].group];
      for (int32_t i = body < 0 ? 0 : sides->start[body]; body >= 0 && i < sides->start[body + 1];
           i++) {
        const CniDirectBlock *block = &j->blocks[sides->block[i]];
        const CnTwist *own = j->e + j->sides[sides->side[i]].at;
        for (int32_t d = 0; d < block->dim; d++, at++)
          if (k->links)
            k->links[at] = (CniDirectEntry){block->row + d, twist_dot(&own[d], &k->entries[e].m_e)};
      }
    }
  }
  if (k->links) k->link_start[k->n] = at;
  return at;
}

// W loses C^T S^-1 C, and q likewise C^T S^-1 c, one column more: what joints do about velocities without impulses.
static CnStatus eliminate_joints(Work *k) {
  CniArena *room = &k->s->room;
  CniJoints *j = &k->s->joints;
  int32_t n = k->n, count, all = n + 1;
  double *w;
  Sides sides;
  CNI_TRY(list_sides(k, &sides));
  CNI_TRY(CNI_TAKE(room, n + 2, k->link_start));
  count = list_links(k, &sides);
  CNI_TRY(CNI_TAKE(room, count + j->system.row_count, k->links));
  list_links(k, &sides);
  cni_joints_speeds(j, k->free);
  for (int32_t r = 0; r < j->system.row_count; r++)
    k->links[count++] = (CniDirectEntry){r, j->x[r]};
  k->link_start[all] = count;
  CNI_TRY(cni_arena_array(room, (int64_t)all * all, sizeof *w, &w));
  CNI_TRY(cni_direct_eliminate(j->direct, room, all, k->link_start, k->links, w));
  for (int32_t r = 0; r < n; r++) {
    for (int32_t s = r; s < n; s++) k->w[r * n + s] += w[r * all + s];
    k->q[r] -= w[r * all + n];
  }
  return CN_OK;
}

// Velocities without impulses, and what they are for the other rows.
static void begin_motion(Work *k) {
  const CnProblem *p = k->p;
  for (int32_t i = 0; i < p->group_count; i++) {
    CnTwist free = cni_group_free(&p->groups[i]);
    memcpy(k->free + 6 * (size_t)i, &free, sizeof free);
  }
  for (int32_t i = 0, row = 0; i < k->count; i++) {
    const CniBlock *block = &p->blocks[k->block[i]];
    cni_block_b(p, block, k->q + row);
    cni_storages[block->storage].velocity(p, block, k->free, k->q + row);
    row += block->dim;
  }
}

// ---- the part ----

// before: the block that was added last, null: none.
static CnStatus add_block(CnProblem *part, const CnProblem *p, const CniBlock *block,
                          const CniBlock *before) {
  CnSet set = p->sets[block->set];
  CniCone cone = cni_block_cone(p, block);
  int32_t index = part->set_count - 1;
  memset(set.compliance, 0, sizeof set.compliance);
  if (cone.disc_count > 1) set.mu_roll = cone.mu[1];
  if (cone.disc_count > 2) set.mu_spin = cone.mu[2];
  if (!before || before->set != block->set || cone.disc_count > 1)
    CNI_TRY(cn_problem_add_set(part, &set, &index));
  return cn_problem_add_explicit(part, index, block->dim, NULL);
}

// W whole, from its upper half.
static CnStatus make_matrix(Work *k) {
  size_t n = (size_t)k->n;
  CnSparse *w = &k->matrix;
  CNI_TRY(CNI_TAKE(&k->s->room, n + 1, w->start));
  CNI_TRY(CNI_TAKE(&k->s->room, n * n, w->column));
  w->value = k->w;
  w->row_count = w->column_count = k->n;
  for (int32_t r = 0; r < k->n; r++) {
    w->start[r] = r * k->n;
    for (int32_t s = 0; s < k->n; s++) {
      w->column[r * k->n + s] = s;
      if (s < r) k->w[r * k->n + s] = k->w[s * k->n + r];
    }
  }
  w->start[k->n] = k->n * k->n;
  return CN_OK;
}

static CnStatus make_part(Work *k) {
  CniFew *s = k->s;
  if (!s->part) {
    CnProblemDef def = cn_problem_def_default();
    def.form = CN_FORM_EXPLICIT;
    def.allocator = s->allocator;
    CNI_TRY(cn_problem_create(&def, &s->part));
  }
  cn_problem_clear(s->part);
  s->part->friction = k->p->friction;
  CNI_TRY(make_matrix(k));
  CNI_TRY(cn_problem_set_explicit(s->part, &k->matrix, k->q));
  for (int32_t i = 0; i < k->count; i++)
    CNI_TRY(add_block(s->part, k->p, &k->p->blocks[k->block[i]],
                      i > 0 ? &k->p->blocks[k->block[i - 1]] : NULL));
  CNI_TRY(cni_answer_fit(&s->answer, s->part));
  return cni_answer_reserve_u(&s->answer);
}

// Impulses of the part from those of the problem, or to them.
static void exchange(const Work *k, double *all, double *own, int out) {
  for (int32_t i = 0; i < k->count; i++) {
    const CniBlock *block = &k->p->blocks[k->block[i]];
    size_t bytes = (size_t)block->dim * sizeof *own;
    memcpy(out ? all + block->row : own, out ? own : all + block->row, bytes);
    own += block->dim;
  }
}

// ---- residuals ----

// As cni_block_residual, of all blocks, with velocities that are known. The largest.
static double largest_residual(const Work *k, const double *g, const double *u) {
  double worst = 0;
  for (int32_t i = 0; i < k->count; i++) {
    const CniBlock *block = &k->p->blocks[k->block[i]];
    double x[CNI_MAX_DIM], sum = 0, scale = k->scale[i];
    for (int32_t d = 0; d < block->dim; d++) x[d] = g[d] - u[d] / scale;
    x[0] -= cni_shift(k->p, block, u) / scale;
    cni_project(k->p, block, x);
    for (int32_t d = 0; d < block->dim; d++) sum += (g[d] - x[d]) * (g[d] - x[d]);
    double own = scale * sqrt(sum);
    if (!(own <= worst)) worst = own;
    g += block->dim;
    u += block->dim;
  }
  return worst;
}

// The better one of what there is and these impulses is kept.
static void keep(Work *k, const double *g) {
  cni_problem_velocity(k->s->part, NULL, g, k->u);
  double worst = largest_residual(k, g, k->u);
  if (!(worst < k->worst)) return;
  k->worst = worst;
  memcpy(k->found, g, (size_t)k->n * sizeof *g);
}

// ---- solving ----

// m/s: the largest part of q, for errors that are relative to it.
static double size_of(const Work *k) {
  double size = 0;
  for (int32_t i = 0; i < k->n; i++) size = cn_max(size, fabs(k->q[i]));
  return size;
}

// m/s: the residual that is asked for.
static double wanted_of(const Work *k, const CniFewAim *aim) {
  return (cni_joints_count(k->p) > 0 ? INSIDE_JOINTS : INSIDE) * aim->limit;
}

// Sweeps to a residual that is wanted, from what there is, while each burst leaves no more than `gain` of it.
static CnStatus sweep(Work *k, CniAutoCones *cones, CniStepMemory *memory, double wanted,
                      double gain, int32_t *left, CnSolveReport *report) {
  CnAnswer *answer = &k->s->answer;
  CniMixed *m = &k->mixed;
  double target = cn_min(1, wanted / size_of(k));
  memcpy(answer->g, k->found, (size_t)k->n * sizeof *answer->g);
  CNI_TRY(cni_mixed_init(m, &k->s->room, cones->exact, k->s->part, answer, memory));
  keep(k, m->best);
  while (*left > 0 && !(k->worst <= wanted)) {
    double before = k->worst;
    int32_t made = cni_mixed_run(m, *left < BURST ? *left : BURST, target);

    if (made == 0 && !(m->error <= target)) break; // given up
    *left -= made > 0 ? made : 1; // an error of zero by one measure may be some by the other
    report->iterations += made;
    keep(k, m->best);
    if (!(k->worst <= gain * before)) break;
    if (m->error <= target) target *= cn_min(.1, .1 * wanted / k->worst);
  }
  return CN_OK;
}

// Newton's method from what there is. Where forces are not determined (eight fingers that one cam closes) its
// steps are the shortest ones: what is alike stays alike, and nothing moves that need not.
static CnStatus step_newton(Work *k, CniAutoCones *cones, const CniFewAim *aim,
                            CnSolveReport *report) {
  CniCones *c = cones->cones;
  CniConeNewton newton;
  double *g = k->s->answer.g;
  CNI_TRY(cni_cones_load(c, k->s->part));
  CNI_TRY(cni_cone_newton_init(&newton, c));
  if (cni_joints_count(k->p) > 0) newton.least = SHORTEST;
  cni_cones_import(c, k->found, newton.step);
  cni_cone_newton_start(&newton, newton.step);
  double share = k->n <= HANDFUL ? 1e-6 : .02; // what is asked for costs a handful nothing
  int32_t made = cni_cone_newton_run(&newton, NEWTON_STEPS, 0, share * aim->limit / size_of(k));
  cni_cones_export(c, newton.best, g);
  CNI_TRY(cni_cones_finish(c, newton.best));
  report->iterations += made;
  double before = k->worst;
  keep(k, g);
  if (k->worst < before) report->method = cni_solver_newton.name;
  return CN_OK;
}

// All that the budget allows.
static CnStatus refine(Work *k, CniAutoCones *cones, CniStepMemory *memory, CniFewAim *aim,
                       CnSolveReport *report) {
  CnAnswer *answer = &k->s->answer;
  CnSolveReport own = {.method = report->method};
  double error;
  memcpy(answer->g, k->found, (size_t)k->n * sizeof *answer->g);
  CNI_TRY(cni_auto_cones_within(cones, k->s->part, answer, memory, .1 * aim->limit / size_of(k),
                                &aim->budget, 0, &own, &error));
  report->iterations += own.iterations;
  report->attempts += own.attempts;
  report->cut_by_time |= own.cut_by_time;
  double before = k->worst;
  keep(k, answer->g);
  if (k->worst < before) report->method = own.method;
  return CN_OK;
}

// The answer's g and v from the impulses found; the residual there, and q anew.
static double finish_motion(Work *k, CnAnswer *answer, int has_joints) {
  const CnProblem *p = k->p;
  memcpy(answer->v, k->free, 6 * (size_t)p->group_count * sizeof *answer->v);
  if (has_joints) memset(answer->g, 0, (size_t)p->row_count * sizeof *answer->g);
  exchange(k, answer->g, k->found, 1);
  for (int32_t i = 0; i < k->count; i++) {
    const CniBlock *block = &p->blocks[k->block[i]];
    cni_storages[block->storage].impulse(p, block, answer->g + block->row, answer->v);
  }
  if (has_joints) cni_joints_go_on(&k->s->joints, p, k->s->tasks, 0, answer->g, answer->v);
  double *now = k->q; // the velocities as they are, and what W g does not explain of them
  for (int32_t i = 0, row = 0; i < k->count; i++) {
    const CniBlock *block = &p->blocks[k->block[i]];
    double c[CNI_MAX_DIM];
    cni_block_b(p, block, now + row);
    cni_block_compliance(p, block, c);
    for (int32_t d = 0; d < block->dim; d++) now[row + d] += c[d] * k->found[row + d];
    cni_storages[block->storage].velocity(p, block, answer->v, now + row);
    row += block->dim;
  }
  double worst = largest_residual(k, k->found, now);
  memset(k->s->part->b, 0, (size_t)k->n * sizeof *k->s->part->b);
  cni_problem_velocity(k->s->part, NULL, k->found, k->u);
  for (int32_t i = 0; i < k->n; i++) k->s->part->b[i] = k->q[i] = now[i] - k->u[i];
  return worst;
}

// One after the other until it is solved: sweeps while they are worth it (machines: none, for what is alike is
// to stay alike), Newton's method, all sweeps there are, everything else.
static CnStatus attempt(Work *k, CniAutoCones *cones, CniStepMemory *memory, CniFewAim *aim,
                        int32_t *left, CnSolveReport *report, int has_joints) {
  double wanted = wanted_of(k, aim);
  if (!(k->worst <= wanted) && !has_joints)
    CNI_TRY(sweep(k, cones, memory, wanted, GAIN, left, report));
  if (!(k->worst <= INSIDE * aim->limit) || (has_joints && k->n <= HANDFUL))
    CNI_TRY(step_newton(k, cones, aim, report));
  wanted = aim->enough > aim->limit ? aim->enough : wanted;
  if (!(k->worst <= wanted)) CNI_TRY(sweep(k, cones, memory, wanted, 1, left, report));
  if (!(k->worst <= aim->enough)) CNI_TRY(refine(k, cones, memory, aim, report));
  return CN_OK;
}

static CnStatus solve(Work *k, CniAutoCones *cones, CnAnswer *answer, CniStepMemory *memory,
                      CniFewAim *aim, CnSolveReport *report) {
  int has_joints = cni_joints_count(k->p) > 0;
  int32_t left = aim->sweeps;
  multiply_rows(k);
  begin_motion(k);
  if (has_joints) CNI_TRY(eliminate_joints(k));
  CNI_TRY(make_part(k));
  exchange(k, answer->g, k->found, 0);
  double before = INFINITY;
  for (int32_t round = 0; round < ROUNDS; round++) {
    k->worst = INFINITY;
    keep(k, k->found);
    CNI_TRY(attempt(k, cones, memory, aim, &left, report, has_joints));
    double worst = finish_motion(k, answer, has_joints);
    aim->worst = worst;
    aim->met = worst <= aim->enough;
    if (aim->met || !has_joints || !(worst < .5 * before)) break;
    before = worst;
  }
  if (has_joints) cni_joints_least(&k->s->joints, k->p, answer->g);
  return CN_OK;
}

CnStatus cni_few_solve(CniFew *s, CniAutoCones *cones, const CnProblem *p, CnAnswer *answer,
                       CniStepMemory *memory, CniFewAim *aim, CnSolveReport *report) {
  Work k = {.s = s, .p = p};
  int taken = 1;
  int32_t fits = 1;
  aim->met = aim->taken = 0;
  CNI_TRY(cni_arena_reset(&s->room));
  if (cni_joints_count(p) > 0) CNI_TRY(cni_joints_load(&s->joints, p, s->tasks, &fits));
  if (!fits) return CN_OK;
  CNI_TRY(collect(&k, &taken));
  if (!taken) return CN_OK;
  aim->taken = 1;
  return solve(&k, cones, answer, memory, aim, report);
}
