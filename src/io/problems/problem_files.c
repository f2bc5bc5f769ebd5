// SPDX-License-Identifier: Apache-2.0
// Problem files: their formats, recognised by the first bytes, and the writers.
#include "io/problems/problems_private.h"

#include "core/floats.h"
#include "problem/problem.h"
#include "sparse/sparse.h"

#include <string.h>

// ---- formats, in the order in which they are tried ----

// HDF5 files begin with their signature, or have it after a user's block of 512, 1024, ... bytes.
static int is_hdf(const char *data, size_t size) {
  static const char signature[8] = {(char)0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  for (size_t at = 0; at + 8 <= size; at = at ? 2 * at : 512)
    if (memcmp(data + at, signature, sizeof signature) == 0) return 1;
  return 0;
}

static int is_json(const char *data, size_t size) {
  size_t at = 0;
  while (at < size && (data[at] == ' ' || data[at] == '\n' || data[at] == '\t' || data[at] == '\r'))
    at++;
  return at < size && data[at] == '{';
}

static int is_anything(const char *data, size_t size) {
  (void)data;
  return size > 0;
}

static const CniProblemFormat formats[] = {
    {"fclib", is_hdf, cni_fclib_read},
    {"json", is_json, cni_json_problem_read},
    {"text", is_anything, cni_dat_read},
};

// ---- what is in it ----

static void count_content(const CnProblem *p, CnProblemFileInfo *info) {
  info->unknowns = p->row_count;
  info->velocities = cni_problem_velocity_count(p);
  info->entries = p->global ? cni_sparse_entry_count(&p->global->m) : cni_sparse_entry_count(&p->w);
  int32_t cones = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    double mu = p->sets[block->set].mu;
    if (block->kind == CN_BLOCK_BILATERAL) info->equalities += block->dim;
    if (block->kind == CN_BLOCK_UNILATERAL || block->kind >= CN_BLOCK_FRICTION_2D) info->contacts++;
    if (block->kind < CN_BLOCK_FRICTION_2D) continue;
    if (cones == 0 || mu < info->mu_least) info->mu_least = mu;
    if (cones == 0 || mu > info->mu_most) info->mu_most = mu;
    cones++;
  }
}

CnStatus cn_problem_read_memory(const void *data, size_t size, const char *name,
                                const CnAllocator *allocator, CnProblem **problem,
                                CnProblemFileInfo *info) {
  CNI_FLOATS;
  if (!problem) return cni_invalid("cn_problem_read: problem is null");
  *problem = NULL;
  if ((!data && size > 0) || !name)
    return cni_invalid("cn_problem_read: %s is null", name ? "data" : "name");
  CnAllocator own = allocator ? *allocator : cn_allocator_default();
  CnProblemFileInfo made = {"", "", "", 0, 0, 0, 0, 0, 0, 0};
  if (size == 0) return cni_bad_data("%s: the file is empty", name);
  const CniProblemFormat *format = formats;
  while (!format->recognise(data, size)) format++;
  CNI_TRY(format->read(data, size, name, &own, problem, &made));
  count_content(*problem, &made);
  if (info) *info = made;
  return CN_OK;
}

CnStatus cn_problem_read(const char *path, const CnAllocator *allocator, CnProblem **problem,
                         CnProblemFileInfo *info) {
  CNI_FLOATS;
  if (!problem) return cni_invalid("cn_problem_read: problem is null");
  *problem = NULL;
  if (!path) return cni_invalid("cn_problem_read: path is null");
  CnAllocator own = allocator ? *allocator : cn_allocator_default();
  CniFileBuffer buffer;
  CNI_TRY(cni_file_read(path, &own, &buffer));
  CnStatus status = cn_problem_read_memory(buffer.data, buffer.size, path, &own, problem, info);
  cni_release(&own, buffer.data, buffer.capacity);
  return status;
}

// ---- writing ----

CnStatus cn_problem_write(CnProblem *problem, CnProblemFormat format, const char *path) {
  CNI_FLOATS;
  static CnStatus (*const writers[])(CnProblem *, const char *) = {
      [CN_PROBLEM_FCLIB] = cni_fclib_write, [CN_PROBLEM_JSON] = cni_json_problem_write};
  if (!problem || !path)
    return cni_invalid("cn_problem_write: %s is null", problem ? "path" : "problem");
  if ((uint32_t)format >= sizeof writers / sizeof writers[0])
    return cni_invalid("problem format %d is unknown", (int)format);
  CNI_TRY(cni_problem_check(problem));
  CNI_TRY(cni_problem_widen_b(problem));
  if (problem->form == CN_FORM_GLOBAL && !problem->global)
    return cni_invalid("the problem has no M and E yet: cn_problem_set_global");
  return writers[format](problem, path);
}
