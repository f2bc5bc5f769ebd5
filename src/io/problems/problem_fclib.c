// SPDX-License-Identifier: Apache-2.0
// FCLib files (HDF5): friction problems, local, global, and global with rolling.
//
//     /fclib_local            W, q, mu [V, R, s]         u = W r + V l + q,  V^T r + R l + s = 0
//     /fclib_global           M, H, f, w, mu [G, b]      M v = H r + G l + f,  u = H^T v + w,
//     /fclib_global_rolling   the same and mu_r          G^T v + b = 0
//
// A matrix is a group: sizes m x n, nz, and arrays p, i, x. nz >= 0: triplets, i rows and p
// columns; nz = -1: compressed columns; nz = -2: compressed rows. Equality constraints become
// bilateral rows after those of the contacts. /solution and /guesses are not read: they are no
// solutions.
#include "io/problems/problems_private.h"

#include "io/tools/hdf_file.h"
#include "sparse/sparse.h"

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 96
#define LARGEST (INT32_MAX / 16)

typedef struct Reader {
  CniHdfFile hdf;
  const char *name; // of the file
  const char *root; // of the problem's group
  CniProblemData parts;
  CniArena arena; // what is needed while a matrix is read
  const char *storage;
} Reader;

static const char *path_of(const Reader *r, const char *item, char path[PATH_SIZE]) {
  snprintf(path, PATH_SIZE, "%s/%s", r->root, item);
  return path;
}

static int has(const Reader *r, const char *item) {
  char path[PATH_SIZE];
  return cni_hdf_file_has(&r->hdf, path_of(r, item, path));
}

// ---- numbers and vectors ----

static CnStatus read_integer(Reader *r, const char *item, int32_t least, int32_t most,
                             int32_t *value) {
  char path[PATH_SIZE];
  int64_t count;
  path_of(r, item, path);
  CNI_TRY(cni_hdf_file_count(&r->hdf, path, CNI_HDF_INTEGER, &count));
  if (count != 1)
    return cni_bad_data("%s: %s: must be one number (got %lld)", r->name, path, (long long)count);
  CNI_TRY(cni_hdf_file_integers(&r->hdf, path, 1, value));
  if (*value < least || *value > most)
    return cni_bad_data("%s: %s: must lie between %d and %d (got %d)", r->name, path, (int)least,
                        (int)most, (int)*value);
  return CN_OK;
}

// A vector of known length, appended to others at `values`.
static CnStatus read_vector(Reader *r, const char *item, int32_t count, double *values) {
  char path[PATH_SIZE];
  return cni_hdf_file_reals(&r->hdf, path_of(r, item, path), count, values);
}

static CnStatus room(Reader *r, int32_t count, double **values) {
  return cni_new(&r->parts.allocator, (size_t)count * sizeof **values, values);
}

// ---- matrices ----

// Arrays of a matrix as they are in the file.
typedef struct Arrays {
  int32_t m, n, nz;
  int32_t *p, *i;
  double *x;
  int64_t p_count, entry_count;
} Arrays;

// The path of an array of a matrix.
static const char *array_of(const Reader *r, const char *matrix, const char *array,
                            char path[PATH_SIZE]) {
  snprintf(path, PATH_SIZE, "%s/%s/%s", r->root, matrix, array);
  return path;
}

static CnStatus count_arrays(Reader *r, const char *name, Arrays *a) {
  char item[32], path[PATH_SIZE];
  const struct {
    const char *name;
    int32_t least, *value;
  } sizes[] = {{"m", 0, &a->m}, {"n", 0, &a->n}, {"nz", -2, &a->nz}};
  for (size_t i = 0; i < 3; i++) {
    snprintf(item, sizeof item, "%s/%s", name, sizes[i].name);
    CNI_TRY(read_integer(r, item, sizes[i].least, LARGEST, sizes[i].value));
  }
  int64_t i_count;
  const CniHdfFile *f = &r->hdf;
  CNI_TRY(cni_hdf_file_count(f, array_of(r, name, "p", path), CNI_HDF_INTEGER, &a->p_count));
  CNI_TRY(cni_hdf_file_count(f, array_of(r, name, "i", path), CNI_HDF_INTEGER, &i_count));
  CNI_TRY(cni_hdf_file_count(f, array_of(r, name, "x", path), CNI_HDF_REAL, &a->entry_count));
  int64_t lists = a->nz == -1 ? (int64_t)a->n + 1 : (int64_t)a->m + 1;
  int64_t p_count = a->nz < 0 ? lists : i_count;
  if (a->p_count != p_count || i_count != a->entry_count || i_count < a->nz || i_count > LARGEST)
    return cni_bad_data(
        "%s: %s/%s: arrays p, i, x of %lld, %lld, %lld elements do not fit a %d x %d "
        "matrix with nz = %d",
        r->name, r->root, name, (long long)a->p_count, (long long)i_count,
        (long long)a->entry_count, (int)a->m, (int)a->n, (int)a->nz);
  return CN_OK;
}

static CnStatus read_arrays(Reader *r, const char *name, Arrays *a) {
  char path[PATH_SIZE];
  CNI_TRY(CNI_LAY(&r->arena, CNI_ARRAY(a->p_count, a->p), CNI_ARRAY(a->entry_count, a->i),
                  CNI_ARRAY(a->entry_count, a->x)));
  CNI_TRY(cni_hdf_file_integers(&r->hdf, array_of(r, name, "p", path), a->p_count, a->p));
  CNI_TRY(cni_hdf_file_integers(&r->hdf, array_of(r, name, "i", path), a->entry_count, a->i));
  return cni_hdf_file_reals(&r->hdf, array_of(r, name, "x", path), a->entry_count, a->x);
}

static CnStatus bad_index(const Reader *r, const char *name, const char *array, int64_t at,
                          int32_t got, int32_t most) {
  return cni_bad_data("%s: %s/%s/%s[%lld]: must lie between 0 and %d (got %d)", r->name, r->root,
                      name, array, (long long)at, (int)most, (int)got);
}

// Compressed lists p, i as triplets; the pointers must ascend from 0 and stay within the entries.
static CnStatus list_entries(const Reader *r, const char *name, const Arrays *a,
                             CniTriplet *entries, int32_t *count) {
  int by_columns = a->nz == -1;
  int32_t lists = by_columns ? a->n : a->m;
  if (a->p[0] != 0) return bad_index(r, name, "p", 0, a->p[0], 0);
  for (int32_t list = 0; list < lists; list++) {
    if (a->p[list + 1] < a->p[list] || a->p[list + 1] > a->entry_count)
      return cni_bad_data("%s: %s/%s/p[%d]: must lie between %d and %lld (got %d)", r->name,
                          r->root, name, (int)list + 1, (int)a->p[list], (long long)a->entry_count,
                          (int)a->p[list + 1]);
    for (int32_t e = a->p[list]; e < a->p[list + 1]; e++)
      entries[(*count)++] =
          by_columns ? (CniTriplet){a->i[e], list, a->x[e]} : (CniTriplet){list, a->i[e], a->x[e]};
  }
  return CN_OK;
}

static CnStatus make_entries(const Reader *r, const char *name, const Arrays *a,
                             CniTriplet *entries, int32_t *count) {
  if (a->nz < 0) {
    CNI_TRY(list_entries(r, name, a, entries, count));
  } else {
    for (*count = 0; *count < a->nz; ++*count)
      entries[*count] = (CniTriplet){a->i[*count], a->p[*count], a->x[*count]};
  }
  const char *rows = a->nz == -2 ? "(row list)" : "i", *columns = a->nz == -2 ? "i" : "p";
  for (int32_t e = 0; e < *count; e++) {
    if (entries[e].row < 0 || entries[e].row >= a->m)
      return bad_index(r, name, rows, e, entries[e].row, a->m - 1);
    if (entries[e].column < 0 || entries[e].column >= a->n)
      return bad_index(r, name, columns, e, entries[e].column, a->n - 1);
  }
  return CN_OK;
}

static CnStatus build_matrix(Reader *r, const char *name, Arrays *a, CnSparse *matrix) {
  CniTriplet *entries;
  int32_t count = 0;
  CNI_TRY(read_arrays(r, name, a));
  CNI_TRY(cni_arena_array(&r->arena, a->entry_count, sizeof *entries, &entries));
  CNI_TRY(make_entries(r, name, a, entries, &count));
  return cni_sparse_build(&r->parts.allocator, a->m, a->n, entries, count, matrix);
}

// rows, columns: the size it must have, -1 for any. A row or column more than any vector is long
// would be caught later; here it must not cost memory, so the caller checks vectors first.
static CnStatus read_matrix(Reader *r, const char *name, int32_t rows, int32_t columns,
                            CnSparse *matrix) {
  Arrays a = {0};
  *matrix = (CnSparse){0, 0, NULL, NULL, NULL};
  CNI_TRY(count_arrays(r, name, &a));
  if (a.m != rows || a.n != columns)
    return cni_bad_data("%s: %s/%s: must be %d x %d (got %d x %d)", r->name, r->root, name,
                        (int)rows, (int)columns, (int)a.m, (int)a.n);
  CnStatus status = build_matrix(r, name, &a, matrix);
  cni_arena_release(&r->arena);
  if (!r->storage) r->storage = a.nz >= 0 ? "triplet" : a.nz == -1 ? "columns" : "rows";
  return status;
}

// ---- matrices put together ----

// A matrix that becomes a part of another one: where, and whether transposed.
typedef struct Part {
  const CnSparse *matrix;
  int32_t row, column, transposed;
} Part;

static CnStatus join(Reader *r, const Part *parts, int32_t count, int32_t rows, int32_t columns,
                     CnSparse *joined) {
  CniTriplet *entries;
  int64_t total = 0;
  int32_t n = 0;
  for (int32_t i = 0; i < count; i++) total += cni_sparse_entry_count(parts[i].matrix);
  if (total > LARGEST)
    return cni_bad_data("%s: %s: more than %d entries", r->name, r->root, LARGEST);
  CNI_TRY(cni_arena_array(&r->arena, total, sizeof *entries, &entries));
  for (const Part *p = parts; p < parts + count; p++) {
    const CnSparse *a = p->matrix;
    for (int32_t i = 0; i < a->row_count; i++)
      for (int32_t e = a->start[i]; e < a->start[i + 1]; e++) {
        int32_t down = p->transposed ? a->column[e] : i, across = p->transposed ? i : a->column[e];
        entries[n++] = (CniTriplet){p->row + down, p->column + across, a->value[e]};
      }
  }
  CnStatus status = cni_sparse_build(&r->parts.allocator, rows, columns, entries, n, joined);
  cni_arena_release(&r->arena);
  return status;
}

// [W V; V^T R]
static CnStatus join_local(Reader *r, const CnSparse *w, const CnSparse *v, const CnSparse *l) {
  int32_t rows = w->row_count, size = rows + l->row_count;
  const Part parts[] = {{w, 0, 0, 0}, {v, 0, rows, 0}, {v, rows, 0, 1}, {l, rows, rows, 0}};
  return join(r, parts, 4, size, size, &r->parts.w);
}

// E = [H^T; G^T]
static CnStatus join_global(Reader *r, const CnSparse *h, const CnSparse *g) {
  int32_t rows = h->column_count;
  const Part parts[] = {{h, 0, 0, 1}, {g, rows, 0, 1}};
  return join(r, parts, 2, rows + g->column_count, h->row_count, &r->parts.e);
}

// ---- the problems ----

static CnStatus vector_length(Reader *r, const char *item, int32_t *count) {
  char path[PATH_SIZE];
  int64_t found;
  path_of(r, item, path);
  CNI_TRY(cni_hdf_file_count(&r->hdf, path, CNI_HDF_REAL, &found));
  if (found > LARGEST)
    return cni_bad_data("%s: %s: has %lld elements, more than %d", r->name, path, (long long)found,
                        LARGEST);
  *count = (int32_t)found;
  return CN_OK;
}

// Contacts from the length of mu, their dimension from that of the velocities (`item`).
static CnStatus read_contacts(Reader *r, const char *item, int rolling) {
  CniProblemData *parts = &r->parts;
  int32_t spacedim = 0, rows = 0, contacts = 0;
  CNI_TRY(read_integer(r, "spacedim", 2, 5, &spacedim));
  CNI_TRY(vector_length(r, "vectors/mu", &contacts));
  CNI_TRY(vector_length(r, item, &rows));
  int32_t dimension = rolling ? 5 : spacedim;
  if (dimension == 4 || (!rolling && dimension == 5))
    return cni_bad_data("%s: %s/spacedim: must be %s (got %d)", r->name, r->root,
                        rolling ? "3 or 5" : "2 or 3", (int)spacedim);
  if (rolling && rows == 3 * contacts && contacts > 0)
    return cni_error(CN_UNSUPPORTED, "%s: %s: rolling friction in the plane is not supported",
                     r->name, r->root);
  if ((int64_t)contacts * dimension != rows)
    return cni_bad_data("%s: %s/%s: must have %d elements for each of the %d contacts (got %d)",
                        r->name, r->root, item, (int)dimension, (int)contacts, (int)rows);
  parts->dimension = dimension;
  parts->contact_count = contacts;
  CNI_TRY(room(r, contacts, &parts->mu));
  CNI_TRY(read_vector(r, "vectors/mu", contacts, parts->mu));
  if (!rolling) return CN_OK;
  CNI_TRY(room(r, contacts, &parts->mu_r));
  return read_vector(r, "vectors/mu_r", contacts, parts->mu_r);
}

// q of contacts and equalities together.
static CnStatus read_right_side(Reader *r, const char *first, const char *second, int joined) {
  CniProblemData *parts = &r->parts;
  int32_t rows = parts->contact_count * parts->dimension, equalities = 0;
  if (joined) CNI_TRY(vector_length(r, second, &equalities));
  parts->equality_count = equalities;
  CNI_TRY(room(r, rows + equalities, &parts->q));
  CNI_TRY(read_vector(r, first, rows, parts->q));
  return joined ? read_vector(r, second, equalities, parts->q + rows) : CN_OK;
}

static CnStatus read_local(Reader *r) {
  CniProblemData *parts = &r->parts;
  int joined = has(r, "V") || has(r, "R");
  CNI_TRY(read_contacts(r, "vectors/q", 0));
  CNI_TRY(read_right_side(r, "vectors/q", "vectors/s", joined));
  int32_t rows = parts->contact_count * parts->dimension, equalities = parts->equality_count;
  if (!joined) return read_matrix(r, "W", rows, rows, &parts->w);
  CnSparse w, v = {0}, l = {0};
  CnStatus status = read_matrix(r, "W", rows, rows, &w);
  if (status == CN_OK) status = read_matrix(r, "V", rows, equalities, &v);
  if (status == CN_OK) status = read_matrix(r, "R", equalities, equalities, &l);
  if (status == CN_OK) status = join_local(r, &w, &v, &l);
  cni_sparse_release(&parts->allocator, &w);
  cni_sparse_release(&parts->allocator, &v);
  cni_sparse_release(&parts->allocator, &l);
  return status;
}

static CnStatus read_global(Reader *r, int rolling) {
  CniProblemData *parts = &r->parts;
  int joined = has(r, "G");
  int32_t size = 0;
  parts->is_global = 1;
  CNI_TRY(read_contacts(r, "vectors/w", rolling));
  CNI_TRY(read_right_side(r, "vectors/w", "vectors/b", joined));
  CNI_TRY(vector_length(r, "vectors/f", &size));
  CNI_TRY(read_matrix(r, "M", size, size, &parts->m));
  CNI_TRY(room(r, size, &parts->k));
  CNI_TRY(read_vector(r, "vectors/f", size, parts->k));
  CnSparse h, g = {0};
  CNI_TRY(read_matrix(r, "H", size, parts->contact_count * parts->dimension, &h));
  CnStatus status = CN_OK;
  if (joined) status = read_matrix(r, "G", size, parts->equality_count, &g);
  if (status == CN_OK)
    status =
        joined ? join_global(r, &h, &g) : cni_sparse_transpose(&parts->allocator, &h, &parts->e);
  cni_sparse_release(&parts->allocator, &h);
  cni_sparse_release(&parts->allocator, &g);
  return status;
}

static CnStatus read_any(Reader *r, const char **kind) {
  static const struct {
    const char *root, *kind_2d, *kind_3d;
    int32_t global, rolling;
  } roots[] = {{"fclib_local", "fc2d", "fc3d", 0, 0},
               {"fclib_global", "gfc2d", "gfc3d", 1, 0},
               {"fclib_global_rolling", "grfc3d", "grfc3d", 1, 1}};
  for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
    if (!cni_hdf_file_has(&r->hdf, roots[i].root)) continue;
    r->root = roots[i].root;
    CNI_TRY(roots[i].global ? read_global(r, roots[i].rolling) : read_local(r));
    *kind = r->parts.dimension == 2 ? roots[i].kind_2d : roots[i].kind_3d;
    return CN_OK;
  }
  return cni_bad_data("%s: not a problem file: HDF5 without a group fclib_local, fclib_global or "
                      "fclib_global_rolling",
                      r->name);
}

CnStatus cni_fclib_read(const char *data, size_t size, const char *name,
                        const CnAllocator *allocator, CnProblem **problem,
                        CnProblemFileInfo *info) {
  Reader r = {.name = name, .parts = {.allocator = *allocator}};
  const char *kind = "";
  cni_arena_init(&r.arena, allocator);
  CNI_TRY(cni_hdf_file_open(data, size, name, &r.hdf));
  CnStatus status = read_any(&r, &kind);
  if (status == CN_OK) status = cni_problem_data_build(&r.parts, name, problem);
  if (status == CN_OK) {
    info->kind = kind;
    info->format = "fclib";
    info->storage = r.storage ? r.storage : "";
  }
  cni_problem_data_release(&r.parts);
  return status;
}
