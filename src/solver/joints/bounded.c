// SPDX-License-Identifier: Apache-2.0
// Joints together with rows that have bounds, lo <= g <= hi: u = 0 inside, u >= 0 at lo, u <= 0 at hi.
//
// Which rows are at a bound is guessed, from the impulses of the step before: those rows give what they can, all
// others are two-sided and one system with the joints, which costs a chain or tree its length. Then
//
//     inside and g beyond a bound:         to that bound
//     at a bound and u of the wrong sign:  inside
//
// all at once, which from the step before takes a round or two; where the number of such rows does not fall for
// a while, one at a time, the last one, until it does (Judice and Pires, block principal pivoting, with
// Murty's rule), which ends where rows are independent. Where some depend on others there is a choice of impulses,
// and that of least norm is taken: if it keeps the bounds, and all rows have what they ask for, it is an answer; if
// that is not so after a few rounds (motors that work against each other, friction that holds by some of its rows),
// the machine is left to others.
//
// Rows at a bound stay in the system, as x = 0, so that its structure is that of the machine, found once.
#include "solver/joints/bounded.h"

#include "core/vec.h"
#include "solver/islands/islands.h"

#include <string.h>

#define PATIENCE 4   // rounds without fewer wrong rows, before these are changed one at a time
#define FEW_ROUNDS 6 // where rows depend on others
#define SLACK 1e-3   // of what is asked for: rows that are wrong by less stay as they are

void cni_bounded_init(CniBounded *s, const CnAllocator *allocator) {
  memset(s, 0, sizeof *s);
  s->allocator = *allocator;
  cni_joints_init(&s->joints, allocator);
}

void cni_bounded_release(CniBounded *s) {
  cni_joints_release(&s->joints);
  CNI_RELEASE(&s->allocator, s->scale, s->scale_capacity);
}

int cni_bounded_takes(const CnProblem *p) {
  for (int32_t i = 0; i < p->block_count; i++) {
    CnBlockKind kind = p->blocks[i].kind;
    if (kind != CN_BLOCK_BILATERAL && kind != CN_BLOCK_UNILATERAL && kind != CN_BLOCK_INTERVAL)
      return 0;
  }
  return p->form == CN_FORM_STEP;
}

static void bounds_of(const CnProblem *p, const CniBlock *block, double *lo, double *hi) {
  const CnSet *set = &p->sets[block->set];
  int interval = block->kind == CN_BLOCK_INTERVAL;
  *lo = interval ? set->lo : 0;
  *hi = interval ? set->hi : INFINITY;
}

static int is_bounded(const CniBlock *block) { return block->kind != CN_BLOCK_BILATERAL; }

// The first guess, and sizes of the rows.
static CnStatus begin(CniBounded *s, const CnProblem *p, const double *g) {
  CNI_TRY(CNI_RESERVE(&s->allocator, s->scale, s->scale_capacity, 0, p->row_count));
  CNI_TRY(cni_joints_take_bounded(&s->joints, p));
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    if (!is_bounded(block)) continue;
    double lo, hi, trace = cni_storages[block->storage].trace(p, block);
    bounds_of(p, block, &lo, &hi);
    for (int32_t row = block->row; row < block->row + block->dim; row++) {
      s->joints.held[row] = g[row] <= lo ? CNI_HELD_LOW : g[row] >= hi ? CNI_HELD_HIGH : CNI_INSIDE;
      s->scale[row] = trace > 0 ? trace / block->dim : 1;
    }
  }
  return CN_OK;
}

// All impulses and velocities of a guess. *fits: 0: the machine is none for this method; *lost: rows that depend on
// others.
static CnStatus solve_guess(CniBounded *s, const CnProblem *p, CnTasks *tasks, CnAnswer *answer,
                            int32_t *fits, int32_t *lost) {
  CniJoints *j = &s->joints;
  double *g = answer->g;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    double lo, hi;
    bounds_of(p, block, &lo, &hi);
    for (int32_t row = block->row; row < block->row + block->dim; row++)
      g[row] = !is_bounded(block) || j->held[row] == CNI_INSIDE ? 0
               : j->held[row] == CNI_HELD_LOW                   ? lo
                                                                : hi;
  }
  CNI_TRY(cni_joints_load_bounded(j, p, tasks, g, fits));
  if (!*fits) return CN_OK;
  *lost = cni_direct_dependent(j->direct, NULL, 0);
  cni_problem_apply(p, g, answer->v);
  cni_joints_go_on(j, p, tasks, *lost > 0, g, answer->v);
  return CN_OK;
}

// What the rows of a guess are short of.
typedef struct Look {
  int32_t wrong; // rows that are
  int32_t last;  // of them, and
  uint8_t next;  // its other state
  double worst;  // m/s
} Look;

// change: 1: all wrong rows are changed.
static Look look_at(CniBounded *s, const CnProblem *p, const CnAnswer *answer, double slack,
                    int change) {
  Look found = {.last = -1};
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    double u[CNI_MAX_DIM], c[CNI_MAX_DIM], lo, hi;
    if (!is_bounded(block)) continue;
    bounds_of(p, block, &lo, &hi);
    cni_block_b(p, block, u);
    cni_block_compliance(p, block, c);
    cni_storages[block->storage].velocity(p, block, answer->v, u);
    for (int32_t d = 0; d < block->dim; d++) {
      int32_t row = block->row + d;
      uint8_t *held = &s->joints.held[row];
      double g = answer->g[row], away = u[d] + c[d] * g, off;
      uint8_t next = *held != CNI_INSIDE ? CNI_INSIDE : g < lo ? CNI_HELD_LOW : CNI_HELD_HIGH;
      if (*held == CNI_INSIDE)
        off = s->scale[row] * cn_max(lo - g, g - hi);
      else
        off = !(lo < hi) ? 0 : *held == CNI_HELD_LOW ? -away : away;
      found.worst = cn_max(found.worst, off);
      if (!(off > slack)) continue;
      found.wrong++;
      found.last = row;
      found.next = next;
      if (change) *held = next;
    }
  }
  return found;
}

// m/s: rows that depend on others may ask for what these do not give.
static double residual_of(const CnProblem *p, const CnAnswer *answer) {
  double worst = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    worst = cn_max(worst, cni_block_residual(p, block, answer->g + block->row, answer->v));
  }
  return worst;
}

CnStatus cni_bounded_solve(CniBounded *s, const CnProblem *p, CnTasks *tasks, CnAnswer *answer,
                           CniBoundedAim *aim) {
  int32_t most = aim->rounds, fewest = INT32_MAX, left = PATIENCE;
  double slack = SLACK * aim->enough;
  aim->worst = INFINITY;
  CNI_TRY(begin(s, p, answer->g));
  for (aim->rounds = 0; aim->rounds < most && aim->budget > 0;) {
    int32_t fits, lost;
    CNI_TRY(solve_guess(s, p, tasks, answer, &fits, &lost));
    if (!fits) return CN_OK;
    aim->rounds++;
    aim->budget -= cni_direct_work(s->joints.direct);
    Look found = look_at(s, p, answer, slack, left > 0);
    aim->worst = found.worst;
    if (lost > 0) {
      double worst = found.wrong == 0 ? residual_of(p, answer) : INFINITY;
      aim->worst = worst <= aim->enough ? cn_max(worst, found.worst) : INFINITY;
      if (found.wrong > 0 && aim->rounds < FEW_ROUNDS) continue;
      return CN_OK;
    }
    if (found.wrong == 0) break;
    left = found.wrong < fewest ? PATIENCE : left - 1;
    if (found.wrong < fewest) fewest = found.wrong;
    if (left < 0) s->joints.held[found.last] = found.next;
  }
  return CN_OK;
}
