// SPDX-License-Identifier: Apache-2.0
// The writer of FCLib files: local problems from the explicit form, global ones (with rolling if
// there is any) from the step and the global form.
//
// FCLib knows contacts of one dimension and equality constraints, contacts first. Rows are
// renumbered accordingly; a contact of lower dimension keeps its rows and has zeros in the others:
// nothing moves there, so its law is unchanged. A unilateral block is a contact with mu = 0.
//
// The file is made in memory and written in one piece.
#include "io/problems/problems_private.h"
#include "io/run/run_private.h"
#include "problem/problem.h"
#include "sparse/sparse.h"

#include <stdio.h>
#include <string.h>

typedef struct Writer {
  const CnProblem *p;
  const char *path;
  CniArena arena;
  int32_t dimension, contact_count, equality_count;
  int32_t *place;    // per row: among the contacts, or -1 - (place among the equalities)
  double *mu, *mu_r; // per contact
  CniHdf hdf;        // the image
  const char *root;  // group of the problem
} Writer;

// ---- what FCLib can say ----

static CnStatus cannot(const Writer *w, int32_t block, const char *what) {
  return cni_error(CN_UNSUPPORTED,
                   "%s: block %d: %s has no place in an FCLib file; write the problem as JSON",
                   w->path, (int)block, what);
}

static CnStatus check_blocks(const Writer *w) {
  const CnProblem *p = w->p;
  if (cni_problem_is_lcp(p) && p->row_count > 0) return cannot(w, 0, "a problem without friction");
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    if (block->kind == CN_BLOCK_INTERVAL) return cannot(w, i, "an interval");
    if (block->kind == CN_BLOCK_SPINNING) return cannot(w, i, "spinning friction");
    if (block->kind == CN_BLOCK_ROLLING && p->form == CN_FORM_EXPLICIT)
      return cannot(w, i, "rolling friction in explicit form");
    if (block->kind >= CN_BLOCK_FRICTION_2D && p->sets[block->set].cohesion != 0)
      return cannot(w, i, "cohesion");
    double c[CNI_MAX_DIM];
    cni_block_compliance(p, block, c);
    for (int32_t d = 0; d < block->dim; d++)
      if (c[d] != 0) return cannot(w, i, "compliance");
  }
  return CN_OK;
}

static CnStatus number_rows(Writer *w) {
  const CnProblem *p = w->p;
  CNI_TRY(check_blocks(w));
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    if (block->kind == CN_BLOCK_BILATERAL) {
      w->equality_count += block->dim;
      continue;
    }
    w->contact_count++;
    if (block->dim > w->dimension) w->dimension = block->dim;
  }
  if (w->dimension < 2) w->dimension = 3;
  CNI_TRY(cni_arena_array(&w->arena, p->row_count, sizeof *w->place, &w->place));
  CNI_TRY(CNI_ARRAYS(&w->arena, w->contact_count, double, &w->mu, &w->mu_r));
  int32_t contact = 0, equality = 0;
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    int is_equality = block->kind == CN_BLOCK_BILATERAL;
    for (int32_t d = 0; d < block->dim; d++)
      w->place[block->row + d] = is_equality ? -1 - equality++ : contact * w->dimension + d;
    if (is_equality) continue;
    CniCone cone = cni_block_cone(p, block);
    w->mu[contact] = cone.mu[0];
    w->mu_r[contact++] = cone.mu[1];
  }
  return CN_OK;
}

// ---- HDF5: items of groups below the root; "" is the root itself ----

static const char *path_of(const Writer *w, const char *group, const char *name, char path[96]) {
  snprintf(path, 96, "/%s/%s%s%s", w->root, group, *group && *name ? "/" : "", name);
  return path;
}

static void put_group(Writer *w, const char *group) {
  char path[96];
  cni_hdf_group(&w->hdf, path_of(w, group, "", path));
}

static void put_integers(Writer *w, const char *group, const char *name, const int32_t *values,
                         int32_t count) {
  char path[96];
  cni_hdf_table(&w->hdf, path_of(w, group, name, path), CNI_INT32, count, 0, values);
}

static void put_reals(Writer *w, const char *group, const char *name, const double *values,
                      int32_t count) {
  char path[96];
  cni_hdf_table(&w->hdf, path_of(w, group, name, path), CNI_DOUBLE, count, 0, values);
}

static void put_info(Writer *w, const char *name, const char *text) {
  char path[96];
  cni_hdf_text(&w->hdf, path_of(w, "info", name, path), text, strlen(text));
}

// ---- matrices ----

// Entries on their way: row, column, value.
typedef struct List {
  int32_t *row, *column;
  double *value;
  int32_t count;
} List;

static CnStatus list_reserve(Writer *w, int32_t count, List *list) {
  list->count = 0;
  CNI_TRY(CNI_ARRAYS(&w->arena, count, int32_t, &list->row, &list->column));
  return cni_arena_array(&w->arena, count, sizeof *list->value, &list->value);
}

static void list_add(List *list, int32_t row, int32_t column, double value) {
  list->row[list->count] = row;
  list->column[list->count] = column;
  list->value[list->count++] = value;
}

// As triplets: i rows, p columns.
static void put_matrix(Writer *w, const char *name, int32_t m, int32_t n, const List *list) {
  put_group(w, name);
  put_integers(w, name, "nzmax", &list->count, 1);
  put_integers(w, name, "m", &m, 1);
  put_integers(w, name, "n", &n, 1);
  put_integers(w, name, "nz", &list->count, 1);
  put_integers(w, name, "p", list->column, list->count);
  put_integers(w, name, "i", list->row, list->count);
  put_reals(w, name, "x", list->value, list->count);
}

// ---- vectors ----

// One vector over the rows, split in contacts and equalities.
static CnStatus put_rows(Writer *w, const char *contacts, const char *equalities,
                         const double *values) {
  int32_t rows = w->contact_count * w->dimension;
  double *first = NULL, *second = NULL;
  CNI_TRY(CNI_LAY(&w->arena, CNI_ARRAY(rows, first), CNI_ARRAY(w->equality_count, second)));
  for (int32_t i = 0; i < w->p->row_count; i++) {
    int32_t place = w->place[i];
    if (place >= 0)
      first[place] = values[i];
    else
      second[-1 - place] = values[i];
  }
  put_reals(w, "vectors", contacts, first, rows);
  if (w->equality_count > 0) put_reals(w, "vectors", equalities, second, w->equality_count);
  return CN_OK;
}

// ---- the problems ----

static CnStatus write_local(Writer *w) {
  const CnSparse *a = &w->p->w;
  List lists[3]; // W, V, R
  for (int32_t i = 0; i < 3; i++) CNI_TRY(list_reserve(w, cni_sparse_entry_count(a), &lists[i]));
  for (int32_t i = 0; i < a->row_count; i++)
    for (int32_t e = a->start[i]; e < a->start[i + 1]; e++) {
      int32_t row = w->place[i], column = w->place[a->column[e]];
      if (row >= 0 && column >= 0) list_add(&lists[0], row, column, a->value[e]);
      if (row >= 0 && column < 0) list_add(&lists[1], row, -1 - column, a->value[e]);
      if (row < 0 && column < 0) list_add(&lists[2], -1 - row, -1 - column, a->value[e]);
      if ((row < 0) != (column < 0) && cni_sparse_entry(a, a->column[e], i) != a->value[e])
        return cni_error(CN_UNSUPPORTED,
                         "%s: row %d: an equality whose row and column differ has no place in an "
                         "FCLib file; write the problem as JSON",
                         w->path, (int)i);
    }
  int32_t rows = w->contact_count * w->dimension;
  put_matrix(w, "W", rows, rows, &lists[0]);
  if (w->equality_count > 0) {
    put_matrix(w, "V", rows, w->equality_count, &lists[1]);
    put_matrix(w, "R", w->equality_count, w->equality_count, &lists[2]);
  }
  put_group(w, "vectors");
  CnStatus status = put_rows(w, "q", "s", w->p->b);
  put_reals(w, "vectors", "mu", w->mu, w->contact_count);
  return status;
}

static CnStatus write_expanded(Writer *w, const CnExpanded *x) {
  List m, h, g;
  int32_t size = x->m.row_count;
  CNI_TRY(list_reserve(w, cni_sparse_entry_count(&x->m), &m));
  CNI_TRY(list_reserve(w, cni_sparse_entry_count(&x->e), &h));
  CNI_TRY(list_reserve(w, cni_sparse_entry_count(&x->e), &g));
  for (int32_t i = 0; i < size; i++)
    for (int32_t e = x->m.start[i]; e < x->m.start[i + 1]; e++)
      list_add(&m, i, x->m.column[e], x->m.value[e]);
  for (int32_t i = 0; i < x->e.row_count; i++)
    for (int32_t e = x->e.start[i]; e < x->e.start[i + 1]; e++) {
      int32_t place = w->place[i];
      if (place >= 0)
        list_add(&h, x->e.column[e], place, x->e.value[e]);
      else
        list_add(&g, x->e.column[e], -1 - place, x->e.value[e]);
    }
  put_matrix(w, "M", size, size, &m);
  put_matrix(w, "H", size, w->contact_count * w->dimension, &h);
  if (w->equality_count > 0) put_matrix(w, "G", size, w->equality_count, &g);
  put_group(w, "vectors");
  put_reals(w, "vectors", "f", x->k, size);
  CnStatus status = put_rows(w, "w", "b", x->b);
  put_reals(w, "vectors", "mu", w->mu, w->contact_count);
  if (w->dimension == 5) put_reals(w, "vectors", "mu_r", w->mu_r, w->contact_count);
  return status;
}

static CnStatus write_global(Writer *w) {
  CnExpanded expanded;
  CNI_TRY(cn_problem_expand(w->p, &expanded));
  CnStatus status = write_expanded(w, &expanded);
  cn_expanded_destroy(&expanded);
  return status;
}

static CnStatus fill_image(Writer *w) {
  int is_local = w->p->form == CN_FORM_EXPLICIT;
  w->root = is_local ? "fclib_local" : w->dimension == 5 ? "fclib_global_rolling" : "fclib_global";
  put_group(w, "");
  put_integers(w, "", "spacedim", &w->dimension, 1);
  CnStatus status = is_local ? write_local(w) : write_global(w);
  put_group(w, "info");
  put_info(w, "title", "Cairn");
  put_info(w, "description",
           w->p->friction == CN_FRICTION_CONVEX
               ? "written by Cairn from a problem with the convex friction model"
               : "written by Cairn");
  put_info(w, "math_info", "unknown");
  if (H5Fflush(w->hdf.file, H5F_SCOPE_GLOBAL) < 0) w->hdf.failed = 1;
  if (status == CN_OK && w->hdf.failed)
    status = cni_error(CN_NO_MEMORY, "%s: HDF5 cannot make the file", w->path);
  return status;
}

// The finished image to the disk.
static CnStatus save_image(Writer *w) {
  CniOutput out;
  void *bytes = NULL;
  ssize_t size = H5Fget_file_image(w->hdf.file, NULL, 0);
  if (size <= 0) return cni_error(CN_NO_MEMORY, "%s: HDF5 cannot make the file", w->path);
  CNI_TRY(cni_arena_array(&w->arena, size, 1, &bytes));
  if (H5Fget_file_image(w->hdf.file, bytes, (size_t)size) != size)
    return cni_error(CN_NO_MEMORY, "%s: HDF5 cannot make the file", w->path);
  CNI_TRY(cni_output_open(&out, w->path, &w->p->allocator));
  cni_output_bytes(&out, bytes, (size_t)size);
  return cni_output_close(&out);
}

static CnStatus write_image(Writer *w) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access >= 0 && H5Pset_fapl_core(access, 1 << 20, 0) >= 0)
    w->hdf.file = H5Fcreate("image", H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (access >= 0) H5Pclose(access);
  if (w->hdf.file < 0) return cni_error(CN_NO_MEMORY, "%s: HDF5 cannot make the file", w->path);
  CnStatus status = fill_image(w);
  if (status == CN_OK) status = save_image(w);
  H5Fclose(w->hdf.file);
  return status;
}

CnStatus cni_fclib_write(CnProblem *p, const char *path) {
  Writer w = {.p = p, .path = path, .hdf = {.file = -1}};
  CNI_TRY(cni_hdf_room(path));
  cni_arena_init(&w.arena, &p->allocator);
  CnStatus status = number_rows(&w);
  CniQuiet quiet = cni_quiet_begin();
  if (status == CN_OK) status = write_image(&w);
  cni_quiet_end(quiet);
  cni_arena_release(&w.arena);
  return status;
}
