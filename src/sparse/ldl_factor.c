// SPDX-License-Identifier: Apache-2.0
// The numbers of L and D, supernode by supernode (multifrontal).
//
// A supernode's lines are filled with its entries of A and what its children left. Its columns are
// eliminated in panels: within a panel one by one, then the panel's effect on all lines after it
// and on the rest for the parent in one product, the loop where the time goes. Every entry has the
// same products subtracted in the same order whatever the blocking, the width of the machine's
// registers and the number of workers.
//
// Cancellation is measured, not guessed: beside every diagonal entry runs the sum of the sizes of
// all that was added to it, and a pivot below a small part of that sum is round-off.
//
// Reference: J. W. H. Liu, The multifrontal method for sparse matrix solution, SIAM Review 34,
// 1992.
#include "sparse/ldl_private.h"

#include "core/tasks.h"
#include "core/vec.h"

#include <float.h>
#include <string.h>

#define ROW_BLOCK 32       // lines of one product
#define SHARED_WORK 3e5    // products with fewer operations are not shared out
#define THRESHOLD 2e-14    // a pivot not above this part of what it is made of is round-off:
#define REPLACEMENT 1.5e-8 // it becomes that part

// One supernode at work.
typedef struct Front {
  CniLdl *ldl;
  const CniSuper *super;
  double *lines;                // width lines
  double *rest;                 // below lines, then the sums
  double *copy;                 // -L of the panel by rows, CNI_LDL_PANEL apart
  int32_t line, own, rest_line; // length of lines, places of own rows, length of rest lines
  int32_t panel, panel_end;
} Front;

// ---- assembly ----

static void load_entries(CniLdl *ldl, const CniSuper *u, double *lines, const double *values) {
  memset(lines, 0, (size_t)u->width * (size_t)cni_super_line(u) * sizeof *lines);
  for (int64_t e = u->entry_start; e < u[1].entry_start; e++)
    lines[ldl->target[e]] = values[ldl->entry[e]];
  int32_t line = cni_super_line(u);
  for (int32_t c = 0; c < u->width; c++)
    ldl->made[u->first + c] = fabs(lines[(int64_t)c * line + c]);
}

// What a child left, into the lines and the rest of its parent.
static void add_child(const Front *f, const CniSuper *child) {
  CniLdl *ldl = f->ldl;
  int32_t count = child->below, length = cni_up8(count);
  const int32_t *place = ldl->places + child->row_start;
  const double *from = ldl->stack + child->rest, *sums = from + (int64_t)count * length;
  for (int32_t r = 0; r < count; r++, from += length) {
    int32_t shift = 0;
    double *to;
    if (place[r] < f->own) {
      to = f->lines + (int64_t)place[r] * f->line;
      ldl->made[f->super->first + place[r]] += sums[r];
    } else {
      shift = f->own;
      to = f->rest + (int64_t)(place[r] - shift) * f->rest_line;
      f->rest[(int64_t)f->super->below * f->rest_line + place[r] - shift] += sums[r];
    }
    for (int32_t s = r; s < count; s++) to[place[s] - shift] += from[s];
  }
}

// ---- elimination ----

// Pivot c: replaced where it is round-off or has the wrong sign.
static void take_pivot(const Front *f, int32_t c) {
  CniLdl *ldl = f->ldl;
  int32_t k = f->super->first + c;
  double d = f->lines[(int64_t)c * f->line + c], sign = ldl->sign[k];
  ldl->replaced[k] = 0;
  if (ldl->rows_off && ldl->off[k])
    d = sign;
  else if (!(sign * d > THRESHOLD * ldl->made[k])) {
    ldl->replaced[k] = 1;
    d = sign * (ldl->made[k] == 0 ? 1 : REPLACEMENT * ldl->made[k]);
  }
  ldl->d[k] = d;
  ldl->inv[k] = 1 / d;
}

// Columns [panel, panel_end) among themselves; their lines then hold D L^T.
static void eliminate_panel(const Front *f) {
  CniLdl *ldl = f->ldl;
  for (int32_t c = f->panel; c < f->panel_end; c++) {
    const double *line = f->lines + (int64_t)c * f->line;
    take_pivot(f, c);
    double inverse = ldl->inv[f->super->first + c];
    double *made = ldl->made + f->super->first;
    for (int32_t j = c + 1; j < f->super->width; j++)
      made[j] += fabs(line[j] * (line[j] * inverse));
    for (int32_t j = c + 1; j < f->panel_end; j++) {
      double l = line[j] * inverse;
      int32_t from = j / 8 * 8;
      if (l != 0)
        ldl->kernels->axpy(f->line - from, -l, line + from, f->lines + (int64_t)j * f->line + from);
    }
  }
}

// L of the panel by rows, for the rows behind it; and what the panel adds to the sums.
static void copy_panel(const Front *f) {
  CniLdl *ldl = f->ldl;
  const CniSuper *u = f->super;
  double *sums = f->rest + (int64_t)u->below * f->rest_line;
  for (int32_t c = f->panel; c < f->panel_end; c++) {
    const double *line = f->lines + (int64_t)c * f->line;
    double inverse = ldl->inv[u->first + c], *copy = f->copy + (c - f->panel);
    for (int32_t j = f->panel_end; j < u->width; j++)
      copy[(int64_t)j * CNI_LDL_PANEL] = line[j] * inverse;
    for (int32_t r = 0; r < u->below; r++) {
      double y = line[f->own + r], l = y * inverse;
      copy[(int64_t)(u->width + r) * CNI_LDL_PANEL] = l;
      sums[r] += fabs(y * l);
    }
  }
}

// The panel's product into lines [begin, end) of the front, which are lines of L and then of the
// rest; only from the diagonal on.
static void update_lines(void *context, int32_t begin, int32_t end) {
  const Front *f = context;
  const CniDenseKernels *kernels = f->ldl->kernels;
  int32_t width = f->super->width, depth = f->panel_end - f->panel;
  const double *panel = f->lines + (int64_t)f->panel * f->line;
  for (int32_t i = begin, next; i < end; i = next) {
    const double *a = f->copy + (int64_t)i * CNI_LDL_PANEL;
    next = i + ROW_BLOCK < end ? i + ROW_BLOCK : end;
    if (i < width) {
      if (next > width) next = width;
      int32_t from = i / 8 * 8;
      kernels->multiply(next - i, f->line - from, depth, a, CNI_LDL_PANEL, panel + from, f->line,
                        f->lines + (int64_t)i * f->line + from, f->line);
    } else {
      int32_t from = (i - width) / 8 * 8;
      kernels->multiply(next - i, f->rest_line - from, depth, a, CNI_LDL_PANEL,
                        panel + f->own + from, f->line,
                        f->rest + (int64_t)(i - width) * f->rest_line + from, f->rest_line);
    }
  }
}

typedef struct Shared {
  Front *front;
  int32_t first;
} Shared;

static void update_shared(void *context, int32_t begin, int32_t end) {
  Shared *s = context;
  update_lines(s->front, s->first + begin, s->first + end);
}

static void eliminate(Front *f, CnTasks *tasks) {
  CniLdl *ldl = f->ldl;
  const CniSuper *u = f->super;
  int32_t height = u->width + u->below;
  for (f->panel = 0; f->panel < u->width; f->panel = f->panel_end) {
    f->panel_end = f->panel + CNI_LDL_PANEL < u->width ? f->panel + CNI_LDL_PANEL : u->width;
    eliminate_panel(f);
    copy_panel(f);
    int32_t left = height - f->panel_end;
    Shared shared = {f, f->panel_end};
    if ((double)left * f->line * (f->panel_end - f->panel) > SHARED_WORK)
      cni_parallel_for(tasks, left, ROW_BLOCK, update_shared, &shared);
    else if (left > 0)
      update_lines(f, f->panel_end, height);
    // D L^T becomes L^T
    for (int32_t c = f->panel; c < f->panel_end; c++) {
      double *line = f->lines + (int64_t)c * f->line, inverse = ldl->inv[u->first + c];
      for (int32_t j = c + 1; j < f->line; j++) line[j] *= inverse;
    }
  }
}

static void factor_super(CniLdl *ldl, int32_t k, const double *values, CnTasks *tasks) {
  const CniSuper *u = &ldl->super[k];
  Front f = {.ldl = ldl,
             .super = u,
             .lines = ldl->value + u->line_start,
             .rest = ldl->stack + u->work,
             .copy = ldl->stack + u->copy,
             .line = cni_super_line(u),
             .own = cni_up8(u->width),
             .rest_line = cni_up8(u->below)};
  size_t rest = u->below ? (size_t)(u->below + 1) * (size_t)f.rest_line * sizeof(double) : 0;
  load_entries(ldl, u, f.lines, values);
  if (rest) memset(f.rest, 0, rest);
  for (int32_t c = u->child_first; c >= 0; c = ldl->super[c].child_next)
    if (ldl->super[c].below > 0) add_child(&f, &ldl->super[c]);
  eliminate(&f, tasks);
  if (rest && u->rest != u->work) memmove(ldl->stack + u->rest, f.rest, rest);
}

// ---- the tree ----

typedef struct Run {
  CniLdl *ldl;
  const double *values;
} Run;

static void factor_tasks(void *context, int32_t begin, int32_t end) {
  Run *run = context;
  CniLdl *ldl = run->ldl;
  for (int32_t t = begin; t < end; t++)
    for (int32_t k = ldl->task_first[t]; k <= ldl->task_last[t]; k++)
      factor_super(ldl, k, run->values, NULL);
}

static void fill_report(const CniLdl *ldl, CniLdlReport *report) {
  *report = (CniLdlReport){.worst = -1,
                           .least = 1,
                           .factor_entries = ldl->factor_entries,
                           .stored = ldl->value_count,
                           .operations = ldl->operations};
  for (int32_t k = 0; k < ldl->size; k++) {
    report->replaced += ldl->replaced[k];
    if (ldl->rows_off && ldl->off[k]) continue;
    double share = ldl->made[k] > 0 ? ldl->sign[k] * ldl->d[k] / ldl->made[k] : 0;
    if (ldl->replaced[k]) share = 0;
    if (report->worst >= 0 && !(share < report->least)) continue;
    report->least = share;
    report->worst = ldl->order[k];
  }
}

CnStatus cni_ldl_factor(CniLdl *ldl, const double *values, CnTasks *tasks, CniLdlReport *report) {
  Run run = {ldl, values};
  cni_parallel_for(tasks, ldl->task_count, 1, factor_tasks, &run);
  for (int32_t k = 0; k < ldl->super_count; k++)
    if (ldl->super[k].task < 0) factor_super(ldl, k, values, tasks);
  if (report) fill_report(ldl, report);
  for (int32_t k = 0; k < ldl->size; k++)
    if (!(fabs(ldl->d[k]) <= DBL_MAX))
      return cni_error(CN_NOT_FINITE, "the pivot of row %d of a matrix is %g", ldl->order[k],
                       ldl->d[k]);
  return CN_OK;
}
