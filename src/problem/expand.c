// SPDX-License-Identifier: Apache-2.0
// The problem written out as sparse matrices: M v = k + E^T g, u = E v + b + C g.
//
// M has six columns for each group with mass, in group order, and is block diagonal: the inverse of
// the inverse masses. Prescribed groups have no columns; what their velocity does to the rows goes
// into b. A group whose inverse inertia is singular cannot change its spin in some directions (a
// point mass, a body on rails): there M is 1 kg m^2 to stay positive definite, the rows lose their
// component, which goes into b with the free spin, and M v = k says that the spin keeps its value.
#include "problem/problem.h"

#include "core/floats.h"
#include "core/vec.h"
#include "sparse/sparse.h"

#include <string.h>

// An eigenvalue of the inverse inertia below this part of the largest counts as zero.
#define SINGULAR 1e-14

CniGroupMass cni_group_mass(const CnProblem *p, int32_t group) {
  CniGroupMass m = {1 / p->groups[group].inv_mass, cn_sdiag(1, 1, 1), cn_sdiag(1, 1, 1), 0};
  double j = p->groups[group].inv_inertia;
  if (j >= 0) {
    m.singular = !(j > 0);
    if (m.singular)
      m.range = cn_sdiag(0, 0, 0);
    else
      m.inertia = cn_sdiag(1 / j, 1 / j, 1 / j);
    return m;
  }
  CnVec3 value;
  CnMat3 axes;
  cni_seigen(p->inertias[group], &value, &axes);
  double lambda[3] = {value.x, value.y, value.z}, inertia[3], range[3];
  for (int32_t i = 0; i < 3; i++) {
    int zero = !(lambda[i] > SINGULAR * value.z);
    inertia[i] = zero ? 1 : 1 / lambda[i];
    range[i] = zero ? 0 : 1;
    if (zero) m.singular = 1;
  }
  m.inertia = cn_srotate(axes, cn_vec3(inertia[0], inertia[1], inertia[2]));
  if (m.singular) m.range = cn_srotate(axes, cn_vec3(range[0], range[1], range[2]));
  return m;
}

// Everything that lives while a problem is written out.
typedef struct Work {
  const CnProblem *p;
  CnExpanded *out;
  CniArena arena;
  CniGroupMass *mass; // per group; not set for prescribed ones
  CnRowEntry *entries;
  CniTriplet *triplets;
  int32_t entry_room; // of the largest block
  int32_t triplet_count;
  int32_t column_count;
} Work;

static CnStatus prepare(Work *work) {
  const CnProblem *p = work->p;
  CnExpanded *out = work->out;
  CNI_TRY(cni_new(&p->allocator, (size_t)p->group_count * sizeof(int32_t), &out->group_column));
  out->group_count = p->group_count;
  CNI_TRY(cni_arena_array(&work->arena, p->group_count, sizeof *work->mass, &work->mass));
  for (int32_t i = 0; i < p->group_count; i++) {
    out->group_column[i] = -1;
    if (!(p->groups[i].inv_mass > 0)) continue;
    work->mass[i] = cni_group_mass(p, i);
    out->group_column[i] = work->column_count;
    work->column_count += 6;
  }
  int64_t total = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    int32_t count = cni_storages[block->storage].expand(p, block, NULL, 0);
    if (count > work->entry_room) work->entry_room = count;
    total += 6 * (int64_t)count;
  }
  if (total < 12 * (int64_t)p->group_count) total = 12 * (int64_t)p->group_count;
  if (total > INT32_MAX)
    return cni_error(CN_NO_MEMORY, "the written-out problem has more than %d entries", INT32_MAX);
  CNI_TRY(cni_arena_array(&work->arena, work->entry_room, sizeof *work->entries, &work->entries));
  return cni_arena_array(&work->arena, total, sizeof *work->triplets, &work->triplets);
}

// Zeros are left out; the diagonal of M has none.
static void add_entry(Work *work, int32_t row, int32_t column, double value) {
  if (value == 0) return;
  work->triplets[work->triplet_count++] = (CniTriplet){row, column, value};
}

static CnStatus write_mass(Work *work) {
  const CnProblem *p = work->p;
  CnExpanded *out = work->out;
  CNI_TRY(cni_new(&p->allocator, (size_t)work->column_count * sizeof(double), &out->k));
  for (int32_t i = 0; i < p->group_count; i++) {
    int32_t c = out->group_column[i];
    if (c < 0) continue;
    CniGroupMass m = work->mass[i];
    double j[3][3] = {{m.inertia.xx, m.inertia.xy, m.inertia.xz},
                      {m.inertia.xy, m.inertia.yy, m.inertia.yz},
                      {m.inertia.xz, m.inertia.yz, m.inertia.zz}};
    for (int32_t d = 0; d < 3; d++) {
      add_entry(work, c + d, c + d, m.mass);
      for (int32_t f = 0; f < 3; f++) add_entry(work, c + 3 + d, c + 3 + f, j[d][f]);
    }
    CnVec3 linear = cn_scale(m.mass, p->groups[i].v);
    CnVec3 angular = cn_smul(m.inertia, p->groups[i].w);
    double k[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    memcpy(out->k + c, k, sizeof k);
  }
  return cni_sparse_build(&p->allocator, work->column_count, work->column_count, work->triplets,
                          work->triplet_count, &out->m);
}

// One entry of a block: into the columns of its group, or into b.
static void write_entry(Work *work, int32_t row, const CnRowEntry *e) {
  const CniGroup *group = &work->p->groups[e->group];
  int32_t c = work->out->group_column[e->group];
  CnVec3 move = e->coefficient.velocity, spin = e->coefficient.spin;
  if (c < 0) {
    work->out->b[row] += cn_dot(move, group->v) + cn_dot(spin, group->w);
    return;
  }
  if (work->mass[e->group].singular) {
    CnVec3 kept = cn_smul(work->mass[e->group].range, spin);
    work->out->b[row] += cn_dot(cn_sub(spin, kept), group->w);
    spin = kept;
  }
  double x[6] = {move.x, move.y, move.z, spin.x, spin.y, spin.z};
  for (int32_t d = 0; d < 6; d++) add_entry(work, row, c + d, x[d]);
}

static CnStatus write_rows(Work *work) {
  const CnProblem *p = work->p;
  CnExpanded *out = work->out;
  out->e.row_count = p->row_count; // the size with which b and compliance are released
  CNI_TRY(cni_new(&p->allocator, (size_t)p->row_count * sizeof(double), &out->b));
  CNI_TRY(cni_new(&p->allocator, (size_t)p->row_count * sizeof(double), &out->compliance));
  // all of them first: what moves without mass is added to any row
  for (int32_t i = 0; i < p->block_count; i++)
    cni_block_b(p, &p->blocks[i], out->b + p->blocks[i].row);
  work->triplet_count = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    cni_block_compliance(p, block, out->compliance + block->row);
    int32_t count = cni_storages[block->storage].expand(p, block, work->entries, work->entry_room);
    for (int32_t j = 0; j < count; j++)
      write_entry(work, block->row + work->entries[j].row, &work->entries[j]);
  }
  CnSparse e;
  CNI_TRY(cni_sparse_build(&p->allocator, p->row_count, work->column_count, work->triplets,
                           work->triplet_count, &e));
  out->e = e;
  return CN_OK;
}

static CnStatus write_all(Work *work) {
  CNI_TRY(prepare(work));
  CNI_TRY(write_mass(work));
  return write_rows(work);
}

// The global form has the matrices already.
static CnStatus copy_global(const CnProblem *p, CnExpanded *out) {
  const CnAllocator *a = &p->allocator;
  CnStatus status = cni_sparse_copy(a, &p->global->m, &out->m);
  if (status == CN_OK) status = cni_sparse_copy(a, &p->global->e, &out->e);
  if (status == CN_OK) status = cni_new(a, (size_t)out->m.row_count * sizeof(double), &out->k);
  if (status == CN_OK) status = cni_new(a, (size_t)out->e.row_count * sizeof(double), &out->b);
  if (status == CN_OK)
    status = cni_new(a, (size_t)out->e.row_count * sizeof(double), &out->compliance);
  if (status != CN_OK) {
    cn_expanded_destroy(out);
    return status;
  }
  if (out->m.row_count > 0) memcpy(out->k, p->global->k, (size_t)out->m.row_count * sizeof *out->k);
  if (out->e.row_count > 0) memcpy(out->b, p->b, (size_t)out->e.row_count * sizeof *out->b);
  for (int32_t i = 0; i < p->block_count; i++)
    cni_block_compliance(p, &p->blocks[i], out->compliance + p->blocks[i].row);
  return CN_OK;
}

CnStatus cn_problem_expand(const CnProblem *p, CnExpanded *expanded) {
  CNI_FLOATS;
  if (!expanded) return cni_invalid("cn_problem_expand: expanded is null");
  memset(expanded, 0, sizeof *expanded);
  if (!p) return cni_invalid("cn_problem_expand: problem is null");
  if (p->form == CN_FORM_EXPLICIT)
    return cni_invalid("a problem of the explicit form cannot be expanded");
  CNI_TRY(cni_problem_check(p));
  expanded->allocator = p->allocator;
  if (p->form == CN_FORM_GLOBAL) return copy_global(p, expanded);
  Work work = {.p = p, .out = expanded};
  cni_arena_init(&work.arena, &p->allocator);
  CnStatus status = write_all(&work);
  cni_arena_release(&work.arena);
  if (status != CN_OK) cn_expanded_destroy(expanded);
  return status;
}

void cn_expanded_destroy(CnExpanded *expanded) {
  if (!expanded || !expanded->allocator.release) return;
  const CnAllocator a = expanded->allocator;
  // groups with mass have six columns each, whatever has been built so far
  size_t columns = 0, rows = (size_t)expanded->e.row_count;
  for (int32_t i = 0; i < expanded->group_count; i++)
    if (expanded->group_column[i] >= 0) columns += 6;
  if (!expanded->group_column) columns = (size_t)expanded->m.row_count;
  cni_release(&a, expanded->k, columns * sizeof(double));
  cni_release(&a, expanded->b, rows * sizeof(double));
  cni_release(&a, expanded->compliance, rows * sizeof(double));
  cni_release(&a, expanded->group_column, (size_t)expanded->group_count * sizeof(int32_t));
  cni_sparse_release(&a, &expanded->m);
  cni_sparse_release(&a, &expanded->e);
  memset(expanded, 0, sizeof *expanded);
}
