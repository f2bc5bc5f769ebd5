// SPDX-License-Identifier: Apache-2.0
// The joints of a step problem: from its blocks to a direct system, and back.
//
// With everything else held, the impulses of all joints of an island change by the solution of
// S dg = -(E v + b + C g), and velocities by M^-1 E^T dg.
#include "solver/joints/joints.h"

#include "core/tasks.h"
#include "core/vec.h"

#include <string.h>

#define ISLANDS_PER_TASK 16
#define OWN_ENTRIES (2 * CNI_MAX_DIM)
#define CONTRADICTION 1e-3 // of the largest speed
#define MUCH 0.1           // of what cannot be given
#define PROOF 1e5          // times faster than what is asked for: no motion
#define ROUNDS 30          // of one-sided rows that are let go

void cni_joints_init(CniJoints *j, const CnAllocator *allocator) {
  memset(j, 0, sizeof *j);
  j->allocator = *allocator;
}

void cni_joints_release(CniJoints *j) {
  CnAllocator a = j->allocator;
  cni_direct_destroy(j->direct);
  CNI_RELEASE(&a, j->bodies, j->body_capacity);
  CNI_RELEASE(&a, j->group, j->group_capacity);
  CNI_RELEASE(&a, j->body_of, j->body_of_capacity);
  CNI_RELEASE(&a, j->blocks, j->block_capacity);
  CNI_RELEASE(&a, j->block, j->list_capacity);
  CNI_RELEASE(&a, j->also, j->also_capacity);
  CNI_RELEASE(&a, j->held, j->held_capacity);
  CNI_RELEASE(&a, j->sides, j->side_capacity);
  CNI_RELEASE(&a, j->e, j->twist_capacity);
  CNI_RELEASE(&a, j->compliance, j->compliance_capacity);
  CNI_RELEASE(&a, j->b, j->b_capacity);
  CNI_RELEASE(&a, j->x, j->x_capacity);
}

int32_t cni_joints_count(const CnProblem *p) {
  int32_t any = 0, count = 0;
  if (p->form != CN_FORM_STEP) return 0;
  for (int32_t i = 0; i < p->set_count; i++) any |= p->sets[i].kind == CN_BLOCK_BILATERAL;
  for (int32_t i = 0; any && i < p->block_count; i++)
    count += p->blocks[i].kind == CN_BLOCK_BILATERAL;
  return count;
}

// ---- from the problem ----

static const CnRowEntry *entries_of(const CnProblem *p, const CniBlock *block, CnRowEntry *own,
                                    int32_t *count) {
  if (block->storage == CNI_ROWS) {
    *count = p->row_blocks[block->index].entry_count;
    return p->row_entries + p->row_blocks[block->index].entry_start;
  }
  *count = cni_storages[block->storage].expand(p, block, own, OWN_ENTRIES);
  return own;
}

// Is block i of the problem one of the system?
static int takes(const CniJoints *j, const CnProblem *p, int32_t i) {
  return p->blocks[i].kind == CN_BLOCK_BILATERAL || (j->also_count > 0 && j->also[i]);
}

static CnStatus reserve(CniJoints *j, const CnProblem *p) {
  const CnAllocator *a = &j->allocator;
  int64_t blocks = 0, rows = 0, entries = 0, twists = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    if (!takes(j, p, i)) continue;
    int32_t of_rows = block->storage == CNI_ROWS;
    int32_t most = of_rows ? p->row_blocks[block->index].entry_count : 2;
    blocks++;
    rows += block->dim;
    entries += most; // if each is of another group
    twists += (int64_t)most * block->dim;
  }
  if (twists > INT32_MAX)
    return cni_invalid("problem of %d blocks is too large for joints", (int)p->block_count);
  int32_t groups = p->group_count, sides = (int32_t)entries, n = (int32_t)rows;
  CNI_TRY(CNI_RESERVE(a, j->bodies, j->body_capacity, 0, sides < groups ? sides : groups));
  CNI_TRY(CNI_RESERVE(a, j->group, j->group_capacity, 0, sides < groups ? sides : groups));
  CNI_TRY(CNI_RESERVE(a, j->body_of, j->body_of_capacity, 0, groups));
  CNI_TRY(CNI_RESERVE(a, j->blocks, j->block_capacity, 0, (int32_t)blocks));
  CNI_TRY(CNI_RESERVE(a, j->block, j->list_capacity, 0, (int32_t)blocks));
  CNI_TRY(CNI_RESERVE(a, j->sides, j->side_capacity, 0, sides));
  CNI_TRY(CNI_RESERVE(a, j->e, j->twist_capacity, 0, (int32_t)twists));
  CNI_TRY(CNI_RESERVE(a, j->compliance, j->compliance_capacity, 0, n));
  CNI_TRY(CNI_RESERVE(a, j->b, j->b_capacity, 0, n));
  return CNI_RESERVE(a, j->x, j->x_capacity, 0, n);
}

static int32_t body_of(CniJoints *j, const CnProblem *p, int32_t group) {
  if (j->body_of[group] >= 0) return j->body_of[group];
  int32_t body = j->system.body_count++;
  j->bodies[body] = (CniDirectBody){p->groups[group].inv_mass, cni_group_inertia(p, group)};
  j->group[body] = group;
  return j->body_of[group] = body;
}

// The side of a block with that body; made where there is none yet.
static CnTwist *side_of(CniJoints *j, CniDirectBlock *block, int32_t body) {
  for (int32_t i = block->side; i < block->side + block->side_count; i++)
    if (j->sides[i].body == body) return j->e + j->sides[i].at;
  CnTwist *e = j->e + j->twist_count;
  j->sides[j->system.side_count++] = (CniDirectSide){body, j->twist_count};
  memset(e, 0, (size_t)block->dim * sizeof *e);
  j->twist_count += block->dim;
  block->side_count++;
  return e;
}

static double twist_dot(const CnTwist *e, CnVec3 v, CnVec3 w) {
  return cn_dot(e->velocity, v) + cn_dot(e->spin, w);
}

// Rows of two groups, each entry where it is expected (as joints are written): straight to their sides.
// Returns 0 where they are others.
static int add_pair(CniJoints *j, const CnProblem *p, CniDirectBlock *block,
                    const CnRowEntry *entries, int32_t count, double *b) {
  int32_t dim = block->dim;
  if (count != 2 * dim || entries[0].group == entries[1].group) return 0;
  int32_t first = entries[0].group, second = entries[1].group, others = 0;
  for (int32_t r = 0; r < dim; r++) {
    const CnRowEntry *two = &entries[2 * r];
    others |=
        (two[0].row ^ r) | (two[1].row ^ r) | (two[0].group ^ first) | (two[1].group ^ second);
  }
  if (others) return 0;
  for (int32_t side = 0; side < 2; side++) {
    const CniGroup *group = &p->groups[entries[side].group];
    if (!(group->inv_mass > 0)) {
      for (int32_t r = 0; r < dim; r++)
        b[r] += twist_dot(&entries[2 * r + side].coefficient, group->v, group->w);
      continue;
    }
    CnTwist *e = j->e + j->twist_count;
    j->sides[j->system.side_count++] =
        (CniDirectSide){body_of(j, p, entries[side].group), j->twist_count};
    for (int32_t r = 0; r < dim; r++) e[r] = entries[2 * r + side].coefficient;
    j->twist_count += dim;
    block->side_count++;
  }
  return 1;
}

// Is block `next` between the same two groups as the block before it, so that both are one of `dim` rows? A joint
// and the motor that keeps its coordinate.
static int goes_on(const CniJoints *j, const CnProblem *p, int32_t next, int32_t dim, int32_t a,
                   int32_t b) {
  if (next >= p->block_count || (j->also_count > 0 && !j->bounds) || !takes(j, p, next)) return 0;
  const CniBlock *block = &p->blocks[next];
  if (dim + block->dim > CNI_MAX_DIM ||
      block->row != p->blocks[next - 1].row + p->blocks[next - 1].dim)
    return 0;
  if (block->storage != CNI_ROWS || p->row_blocks[block->index].entry_count != 2 * block->dim)
    return 0;
  const CnRowEntry *entries = p->row_entries + p->row_blocks[block->index].entry_start;
  for (int32_t i = 0; i < 2 * block->dim; i++)
    if (entries[i].group != (i % 2 ? b : a)) return 0;
  return a != b;
}

// A row at a bound: nothing moves it, x = 0.
static void hold(CniJoints *j, const CniDirectBlock *block, int32_t row) {
  for (int32_t r = 0; r < block->dim; r++) {
    if (j->held[row + r] == CNI_INSIDE) continue;
    for (int32_t k = block->side; k < block->side + block->side_count; k++)
      j->e[j->sides[k].at + r] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
    j->compliance[block->row + r] = 1;
    j->b[block->row + r] = -j->bounds[row + r];
  }
}

// The blocks [index, returned) as one.
static int32_t add_block(CniJoints *j, const CnProblem *p, int32_t index) {
  const CniBlock *from = &p->blocks[index];
  CniDirectSystem *s = &j->system;
  CnRowEntry own[OWN_ENTRIES], all[OWN_ENTRIES];
  int32_t count, next = index + 1;
  const CnRowEntry *entries = entries_of(p, from, own, &count);
  CniDirectBlock block = {s->row_count, from->dim, s->side_count, 0};
  double *b = j->b + block.row;
  cni_block_b(p, from, b);
  cni_block_compliance(p, from, j->compliance + block.row);
  while (count == 2 * block.dim &&
         goes_on(j, p, next, block.dim, entries[0].group, entries[1].group)) {
    const CniBlock *more = &p->blocks[next];
    const CnRowEntry *others = p->row_entries + p->row_blocks[more->index].entry_start;
    if (entries != all) memcpy(all, entries, (size_t)count * sizeof *all);
    for (int32_t i = 0; i < 2 * more->dim; i++) {
      all[count] = others[i];
      all[count++].row += block.dim;
    }
    cni_block_b(p, more, b + block.dim);
    cni_block_compliance(p, more, j->compliance + block.row + block.dim);
    block.dim += more->dim;
    entries = all;
    next++;
  }
  if (add_pair(j, p, &block, entries, count, b)) count = 0;
  for (int32_t i = 0; i < count; i++) {
    const CnRowEntry *entry = &entries[i];
    const CniGroup *group = &p->groups[entry->group];
    if (!(group->inv_mass > 0)) {
      b[entry->row] += twist_dot(&entry->coefficient, group->v, group->w);
      continue;
    }
    CnTwist *e = side_of(j, &block, body_of(j, p, entry->group)) + entry->row;
    e->velocity = cn_add(e->velocity, entry->coefficient.velocity);
    e->spin = cn_add(e->spin, entry->coefficient.spin);
  }
  if (j->bounds) hold(j, &block, from->row);
  j->block[s->block_count] = index;
  j->blocks[s->block_count++] = block;
  s->row_count += block.dim;
  return next;
}

static CnStatus load_all(CniJoints *j, const CnProblem *p, CnTasks *tasks, int32_t *fits) {
  *fits = 0;
  if (!j->direct) CNI_TRY(cni_direct_create(&j->allocator, &j->direct));
  CNI_TRY(reserve(j, p));
  j->system = (CniDirectSystem){.bodies = j->bodies,
                                .blocks = j->blocks,
                                .sides = j->sides,
                                .e = j->e,
                                .compliance = j->compliance};
  j->twist_count = 0;
  for (int32_t i = 0; i < p->group_count; i++) j->body_of[i] = -1;
  for (int32_t i = 0; i < p->block_count;) i = takes(j, p, i) ? add_block(j, p, i) : i + 1;
  CNI_TRY(cni_direct_shape(j->direct, &j->system));
  *fits = cni_direct_fits(j->direct);
  if (*fits) cni_direct_factor(j->direct, &j->system, tasks);
  return CN_OK;
}

CnStatus cni_joints_load(CniJoints *j, const CnProblem *p, CnTasks *tasks, int32_t *fits) {
  j->also_count = 0;
  return load_all(j, p, tasks, fits);
}

CnStatus cni_joints_take_bounded(CniJoints *j, const CnProblem *p) {
  CNI_TRY(CNI_RESERVE(&j->allocator, j->also, j->also_capacity, 0, p->block_count));
  CNI_TRY(CNI_RESERVE(&j->allocator, j->held, j->held_capacity, 0, p->row_count));
  memset(j->held, CNI_INSIDE, (size_t)p->row_count);
  return CN_OK;
}

CnStatus cni_joints_load_bounded(CniJoints *j, const CnProblem *p, CnTasks *tasks, const double *g,
                                 int32_t *fits) {
  memset(j->also, 1, (size_t)p->block_count);
  j->also_count = p->block_count;
  j->bounds = g;
  CnStatus status = load_all(j, p, tasks, fits);
  j->also_count = 0;
  j->bounds = NULL;
  return status;
}

// ---- solutions ----

// Velocities in steps of `stride` numbers a group, the spin `spin` numbers after the velocity.
typedef struct Motion {
  double *v;
  size_t stride, spin;
} Motion;

static CnVec3 load(const double *x) { return cn_vec3(x[0], x[1], x[2]); }

static void add_to(double *x, CnVec3 a) {
  x[0] += a.x;
  x[1] += a.y;
  x[2] += a.z;
}

// -(E v + b + C g) of a block to j->x; g: null is zero. Returns the largest of what that is made of.
static double load_speed(CniJoints *j, const CniDirectBlock *block, Motion m, const double *g) {
  double *x = j->x + block->row, most = 0;
  for (int32_t r = 0; r < block->dim; r++)
    x[r] = -(j->b[block->row + r] + (g ? j->compliance[block->row + r] * g[r] : 0));
  for (int32_t k = block->side; k < block->side + block->side_count; k++) {
    const double *v = m.v + m.stride * (size_t)j->group[j->sides[k].body];
    const CnTwist *e = j->e + j->sides[k].at;
    for (int32_t r = 0; r < block->dim; r++) {
      double speed = twist_dot(&e[r], load(v), load(v + m.spin));
      most = cn_max(most, fabs(speed));
      x[r] -= speed;
    }
  }
  return most;
}

// v += M^-1 E^T times lambda j->x of a block.
static void follow(CniJoints *j, const CniDirectBlock *block, Motion m, double lambda) {
  const double *x = j->x + block->row;
  for (int32_t k = block->side; k < block->side + block->side_count; k++) {
    const CniDirectBody *body = &j->bodies[j->sides[k].body];
    double *v = m.v + m.stride * (size_t)j->group[j->sides[k].body];
    const CnTwist *e = j->e + j->sides[k].at;
    CnVec3 move = cn_scale(x[0], e->velocity), turn = cn_scale(x[0], e->spin);
    for (int32_t r = 1; r < block->dim; r++) {
      move = cn_madd(move, x[r], e[r].velocity);
      turn = cn_madd(turn, x[r], e[r].spin);
    }
    add_to(v, cn_scale(lambda * body->inv_mass, move));
    add_to(v + m.spin, cn_scale(lambda, cn_smul(body->inv_inertia, turn)));
  }
}

// least: 0: of impulses that do the same any will do.
static void relax(CniJoints *j, const CnProblem *p, Motion m, double *g, double lambda, int least,
                  int32_t begin, int32_t end) {
  const int32_t *list = cni_direct_blocks(j->direct);
  for (int32_t island = begin; island < end; island++) {
    int32_t first, last;
    double most = 0;
    cni_direct_island(j->direct, island, &first, &last);
    for (int32_t i = first; i < last; i++)
      most =
          cn_max(most, load_speed(j, &j->blocks[list[i]], m, g + p->blocks[j->block[list[i]]].row));
    cni_direct_expect(j->direct, island, most);
    if (least)
      cni_direct_solve(j->direct, j->x, j->x, island, island + 1);
    else
      cni_direct_solve_some(j->direct, j->x, j->x, island, island + 1);
    for (int32_t i = first; i < last; i++) {
      const CniDirectBlock *block = &j->blocks[list[i]];
      double *to = g + p->blocks[j->block[list[i]]].row;
      for (int32_t r = 0; r < block->dim; r++) to[r] += lambda * j->x[block->row + r];
      follow(j, block, m, lambda);
    }
  }
}

void cni_joints_relax(CniJoints *j, const CnProblem *p, CniGroup *groups, double *g, double lambda,
                      int32_t begin, int32_t end) {
  Motion m = {(double *)(void *)groups, sizeof *groups / sizeof(double), 4};
  relax(j, p, m, g, lambda, 0, begin, end);
}

void cni_joints_least(CniJoints *j, const CnProblem *p, double *g) {
  for (int32_t out = 0; out < 2; out++) {
    for (int32_t i = 0; i < j->system.block_count; i++) {
      const CniDirectBlock *block = &j->blocks[i];
      double *own = j->x + block->row, *all = g + p->blocks[j->block[i]].row;
      memcpy(out ? all : own, out ? own : all, (size_t)block->dim * sizeof *g);
    }
    if (!out) cni_direct_least(j->direct, j->x, 0, cni_direct_islands(j->direct));
  }
}

typedef struct AnswerLoop {
  CniJoints *j;
  const CnProblem *p;
  double *g, *v;
  int least;
} AnswerLoop;

static void answer_islands(void *context, int32_t begin, int32_t end) {
  const AnswerLoop *loop = context;
  relax(loop->j, loop->p, (Motion){loop->v, 6, 3}, loop->g, 1, loop->least, begin, end);
}

void cni_joints_go_on(CniJoints *j, const CnProblem *p, CnTasks *tasks, int least, double *g,
                      double *v) {
  AnswerLoop loop = {j, p, g, v, least};
  cni_parallel_for(tasks, cni_direct_islands(j->direct), ISLANDS_PER_TASK, answer_islands, &loop);
}

void cni_joints_answer(CniJoints *j, const CnProblem *p, CnTasks *tasks, int least, double *g,
                       double *v) {
  for (int32_t i = 0; i < p->group_count; i++) {
    CnTwist free = cni_group_free(&p->groups[i]);
    memcpy(v + 6 * (size_t)i, &free, sizeof free);
  }
  if (p->row_count > 0) memset(g, 0, (size_t)p->row_count * sizeof *g);
  cni_joints_go_on(j, p, tasks, least, g, v);
}

void cni_joints_speeds(CniJoints *j, const double *v) {
  Motion m = {(double *)v, 6, 3}; // only read
  for (int32_t i = 0; i < j->system.block_count; i++) load_speed(j, &j->blocks[i], m, NULL);
}

// ---- contradictions ----

// Speeds of all joints without impulses; returns the largest.
static double free_speeds(CniJoints *j, const CnProblem *p) {
  Motion m = {(double *)(void *)p->groups, sizeof *p->groups / sizeof(double), 4}; // only read
  double most = 0;
  for (int32_t i = 0; i < j->system.block_count; i++) {
    const CniDirectBlock *block = &j->blocks[i];
    load_speed(j, block, m, NULL);
    for (int32_t r = 0; r < block->dim; r++) most = cn_max(most, fabs(j->x[block->row + r]));
  }
  return most;
}

int32_t cni_joints_contradict(CniJoints *j, const CnProblem *p) {
  double least = CONTRADICTION * free_speeds(j, p);
  for (int32_t i = 0; i < cni_direct_islands(j->direct); i++)
    if (cni_direct_contradiction(j->direct, j->x, i, j->x, NULL) > least) return 1;
  return 0;
}

// Of the one-sided rows in the contradiction of an island that would rather open than close the first is
// let go; is there one?
static int let_go(CniJoints *j, const CnProblem *p, int32_t island, double most) {
  const int32_t *list = cni_direct_blocks(j->direct);
  int32_t begin, end, worst = -1;
  double least = -1e-9 * most;
  cni_direct_island(j->direct, island, &begin, &end);
  for (int32_t i = begin; i < end; i++) {
    double part = j->x[j->blocks[list[i]].row];
    if (p->blocks[j->block[list[i]]].kind == CN_BLOCK_BILATERAL || !(part < least)) continue;
    least = part;
    worst = j->block[list[i]];
  }
  if (worst >= 0) j->also[worst] = 0;
  return worst >= 0;
}

static int32_t name_rows(const CniJoints *j, const CnProblem *p, int32_t island, double least,
                         int32_t count, int32_t *rows, int32_t capacity) {
  const int32_t *list = cni_direct_blocks(j->direct);
  int32_t begin, end;
  cni_direct_island(j->direct, island, &begin, &end);
  for (int32_t i = begin; i < end; i++) {
    const CniDirectBlock *block = &j->blocks[list[i]];
    for (int32_t r = 0; r < block->dim; r++) {
      if (!(fabs(j->x[block->row + r]) > least)) continue;
      if (count < capacity) rows[count] = p->blocks[j->block[list[i]]].row + r;
      count++;
    }
  }
  return count;
}

// Among joints and the one-sided rows that are marked.
static CnStatus disprove(CniJoints *j, const CnProblem *p, CnTasks *tasks, int32_t *rows,
                         int32_t capacity, int32_t *count) {
  for (int32_t round = 0, changed = 1; round < ROUNDS && changed; round++) {
    int32_t fits;
    CNI_TRY(load_all(j, p, tasks, &fits));
    if (!fits) break;
    changed = *count = 0;
    free_speeds(j, p);
    for (int32_t i = 0; i < cni_direct_islands(j->direct); i++) {
      double proof, most = cni_direct_contradiction(j->direct, j->x, i, j->x, &proof);
      if (!(proof > PROOF)) continue;
      if (let_go(j, p, i, most))
        changed = 1;
      else
        *count = name_rows(j, p, i, MUCH * most, *count, rows, capacity);
    }
    if (changed) *count = 0;
  }
  return CN_OK;
}

CnStatus cni_joints_disprove(CniJoints *j, const CnProblem *p, const CnAnswer *answer,
                             CnTasks *tasks, int32_t *rows, int32_t capacity, int32_t *count) {
  CNI_TRY(CNI_RESERVE(&j->allocator, j->also, j->also_capacity, 0, p->block_count));
  *count = 0;
  // those that act or are not met; if that is no contradiction, all of them
  for (int32_t all = 0; all < (answer ? 2 : 1) && *count == 0; all++) {
    j->also_count = 0;
    for (int32_t i = 0; i < p->block_count; i++) {
      const CniBlock *block = &p->blocks[i];
      j->also[i] = answer && block->kind == CN_BLOCK_UNILATERAL &&
                   (all || answer->g[block->row] > 0 || answer->u[block->row] < 0);
      j->also_count += j->also[i];
    }
    CNI_TRY(disprove(j, p, tasks, rows, capacity, count));
  }
  j->also_count = 0;
  return CN_OK;
}
