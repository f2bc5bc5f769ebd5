// SPDX-License-Identifier: Apache-2.0
// Cairn's own problem file, JSON (docs/problem-file.md): every problem the library can hold, in the
// words of its interface.
//
//     {"cairn": "problem", "version": 1, "form": "explicit", "friction": "coulomb",
//      "sets": [{"kind": "friction", "mu": 0.5}],
//      "W": {"columns": 3, "start": [0, 1, 2, 3], "column": [0, 1, 2], "value": [1, 1, 1]},
//      "q": [-1, 0.2, 0], "blocks": [{"set": 0}]}
//
// The members may come in any order: a first pass notes where each begins, then they are read in
// the order in which the problem needs them.
#include "io/tools/json_scan.h"
#include "io/problems/problem_fields.h"

#include <stdio.h>
#include <string.h>

#define KEYS(X)                                                                                    \
  X(CAIRN, "cairn")                                                                                \
  X(VERSION, "version")                                                                            \
  X(FORM, "form")                                                                                  \
  X(FRICTION, "friction")                                                                          \
  X(SETS, "sets")                                                                                  \
  X(GROUPS, "groups")                                                                              \
  X(BLOCKS, "blocks")                                                                              \
  X(W, "W")                                                                                        \
  X(Q, "q")                                                                                        \
  X(M, "M")                                                                                        \
  X(E, "E")                                                                                        \
  X(K, "k")                                                                                        \
  X(B, "b")                                                                                        \
  X(TITLE, "title")                                                                                \
  X(DESCRIPTION, "description")
#define KEY(number, name) KEY_##number,
#define NAME(number, name) name,
enum { KEYS(KEY) KEY_COUNT };
static const char *const keys[KEY_COUNT] = {KEYS(NAME)};

typedef struct Reader {
  CnAllocator allocator;
  CniJson json;
  const char *value[KEY_COUNT]; // where each member's value begins, null: not there
  CnProblem *p;
} Reader;

// The library's sentence about what was read, with the file's name before it.
static CnStatus named(const Reader *r, CnStatus status) {
  if (status == CN_OK || status == CN_NO_MEMORY) return status;
  return cni_bad_data("%s: %s", r->json.text.name, cn_error_message());
}

// ---- the members ----

static CnStatus find_members(Reader *r) {
  int32_t state = 0;
  char key[CNI_JSON_KEY];
  for (CniJson before = r->json; cni_json_member(&r->json, "problem", &state, key);
       before = r->json) {
    int32_t k = 0;
    while (k < KEY_COUNT && strcmp(keys[k], key) != 0) k++;
    if (k < KEY_COUNT && r->value[k]) return cni_json_fail(&before, key, "is there twice");
    if (k == KEY_COUNT) return cni_bad_data("%s: unknown member \"%.20s\"", r->json.text.name, key);
    r->value[k] = r->json.text.at;
    CNI_TRY(cni_json_skip(&r->json, key));
  }
  CNI_TRY(r->json.status);
  CniWord rest = cni_text_word(&r->json.text);
  if (rest.length > 0) return cni_text_fail(&r->json.text, rest, "problem", "text after the end");
  return CN_OK;
}

// Put the cursor on a member.
static CnStatus go_to(Reader *r, int32_t key) {
  if (!r->value[key])
    return cni_bad_data("%s: member \"%s\" is missing", r->json.text.name, keys[key]);
  r->json.text.at = r->value[key];
  return CN_OK;
}

// ---- objects by their fields ----

static CnStatus read_field(Reader *r, const char *what, const CniField *field, void *object) {
  char item[64];
  snprintf(item, sizeof item, "%s: %s", what, field->name);
  void *at = cni_field_at(field, object);
  int32_t count = cni_field_doubles(field);
  if (field->type == CNI_FIELD_CHOICE) {
    while (cni_field_word(field, count)) count++;
    return cni_json_choice(&r->json, item, field->words, count, at);
  }
  if (count == 0) return cni_json_integer(&r->json, item, INT32_MIN, INT32_MAX, at);
  if (count > 1) return cni_json_vector(&r->json, item, count, at);
  if (field->range != CNI_BOUND || !cni_json_begins(&r->json, 'n'))
    return cni_json_number(&r->json, item, at);
  memcpy(at, field->fallback, sizeof(double));
  return cni_json_null(&r->json, item);
}

static CnStatus unknown(Reader *r, const char *what, const char *key) {
  char problem[64];
  snprintf(problem, sizeof problem, "unknown member \"%.20s\" before", key);
  return cni_json_fail(&r->json, what, problem);
}

static CnStatus read_object(Reader *r, const char *what, const CniField *fields, void *object) {
  int32_t state = 0;
  uint32_t seen = 0;
  char key[CNI_JSON_KEY], problem[64];
  CniJson before = r->json;
  while (cni_json_member(&r->json, what, &state, key)) {
    const CniField *field = cni_field_find(fields, key);
    if (!field) return unknown(r, what, key);
    seen |= 1u << (field - fields);
    CNI_TRY(read_field(r, what, field, object));
  }
  CNI_TRY(r->json.status);
  for (const CniField *f = fields; f->name; f++, seen >>= 1)
    if (f->where & CNI_REQUIRED && !(seen & 1)) {
      snprintf(problem, sizeof problem, "member \"%s\" is missing", f->name);
      return cni_json_fail(&before, what, problem);
    }
  return CN_OK;
}

// The next object of a list, what[] = "LIST[NUMBER]"; 0 at the end and after a failure.
static int next_item(Reader *r, const char *list, int32_t *number, char what[32]) {
  int32_t state = *number;
  if (!cni_json_element(&r->json, list, &state)) return 0;
  snprintf(what, 32, "%s[%d]", list, (int)(*number)++);
  return 1;
}

static CnStatus read_sets(Reader *r) {
  int32_t number = 0;
  char what[32];
  CNI_TRY(go_to(r, KEY_SETS));
  while (next_item(r, "sets", &number, what)) {
    CnSet set = cn_set_default(CN_BLOCK_BILATERAL);
    CNI_TRY(read_object(r, what, cni_set_members, &set));
    CNI_TRY(named(r, cn_problem_add_set(r->p, &set, NULL)));
  }
  return r->json.status;
}

// ---- matrices ----

typedef struct Matrix {
  CniIntegers start, column;
  CniNumbers value;
  int32_t columns;
} Matrix;

static void matrix_release(Reader *r, Matrix *m) {
  CNI_RELEASE(&r->allocator, m->start.value, m->start.capacity);
  CNI_RELEASE(&r->allocator, m->column.value, m->column.capacity);
  CNI_RELEASE(&r->allocator, m->value.value, m->value.capacity);
}

static CnStatus push(Reader *r, CniIntegers *list, int32_t value) {
  return CNI_PUSH(&r->allocator, list->value, list->capacity, list->count, value);
}

// Rows as lists of all their numbers; zeros are not kept.
static CnStatus read_dense(Reader *r, const char *what, Matrix *m) {
  int32_t state = 0;
  m->columns = -1;
  CNI_TRY(push(r, &m->start, 0));
  while (cni_json_element(&r->json, what, &state)) {
    int32_t begin = m->value.count, kept = begin;
    CNI_TRY(cni_json_numbers(&r->json, what, &r->allocator, &m->value));
    int32_t length = m->value.count - begin;
    if (m->columns >= 0 && length != m->columns)
      return cni_json_fail(&r->json, what, "rows of different lengths before");
    m->columns = length;
    for (int32_t i = begin; i < begin + length; i++) {
      if (m->value.value[i] == 0) continue;
      CNI_TRY(push(r, &m->column, i - begin));
      m->value.value[kept++] = m->value.value[i];
    }
    m->value.count = kept;
    CNI_TRY(push(r, &m->start, kept));
  }
  if (m->columns < 0) m->columns = 0;
  return r->json.status;
}

static CnStatus read_sparse(Reader *r, const char *what, Matrix *m) {
  int32_t state = 0;
  char key[CNI_JSON_KEY];
  m->columns = -1;
  while (cni_json_member(&r->json, what, &state, key)) {
    if (strcmp(key, "columns") == 0)
      CNI_TRY(cni_json_integer(&r->json, what, 0, INT32_MAX / 16, &m->columns));
    else if (strcmp(key, "start") == 0 && m->start.count == 0)
      CNI_TRY(cni_json_integers(&r->json, what, &r->allocator, &m->start));
    else if (strcmp(key, "column") == 0 && m->column.count == 0)
      CNI_TRY(cni_json_integers(&r->json, what, &r->allocator, &m->column));
    else if (strcmp(key, "value") == 0 && m->value.count == 0)
      CNI_TRY(cni_json_numbers(&r->json, what, &r->allocator, &m->value));
    else
      return unknown(r, what, key);
  }
  CNI_TRY(r->json.status);
  if (m->start.count == 0 || m->columns < 0)
    return cni_json_fail(&r->json, what,
                         "needs \"columns\", \"start\", \"column\", \"value\" before");
  int32_t entries = m->start.value[m->start.count - 1];
  if (m->column.count == entries && m->value.count == entries) return CN_OK;
  return cni_bad_data("%s: %s: start ends with %d, but column has %d elements and value has %d",
                      r->json.text.name, what, (int)entries, (int)m->column.count,
                      (int)m->value.count);
}

static CnStatus read_matrix(Reader *r, int32_t key, Matrix *m) {
  CNI_TRY(go_to(r, key));
  return cni_json_begins(&r->json, '[') ? read_dense(r, keys[key], m)
                                        : read_sparse(r, keys[key], m);
}

static CnSparse as_sparse(const Matrix *m) {
  return (CnSparse){m->start.count - 1, m->columns, m->start.value, m->column.value,
                    m->value.value};
}

static CnStatus check_length(Reader *r, int32_t key, const CniNumbers *list, int32_t expected) {
  if (list->count == expected) return CN_OK;
  return cni_bad_data("%s: %s: must have %d numbers (got %d)", r->json.text.name, keys[key],
                      (int)expected, (int)list->count);
}

static CnStatus read_numbers(Reader *r, int32_t key, CniNumbers *list) {
  CNI_TRY(go_to(r, key));
  return cni_json_numbers(&r->json, keys[key], &r->allocator, list);
}

// ---- explicit and global form ----

static CnStatus add_row_blocks(Reader *r) {
  typedef struct Block {
    int32_t set, dim, count;
  } Block;
  static const CniField fields[] = {MEMBER(INTEGER, Block, set, "set", .where = CNI_REQUIRED),
                                    MEMBER(INTEGER, Block, dim, "dim", .where = 0),
                                    MEMBER(INTEGER, Block, count, "count", .where = 0),
                                    CNI_FIELDS_END};
  int32_t number = 0;
  char what[32];
  CNI_TRY(go_to(r, KEY_BLOCKS));
  while (next_item(r, "blocks", &number, what)) {
    Block block = {-1, 0, 1};
    CNI_TRY(read_object(r, what, fields, &block));
    int known = block.set >= 0 && block.set < r->p->set_count;
    if (block.dim == 0 && known) block.dim = cni_block_dim(r->p->sets[block.set].kind);
    if (block.dim == 0) block.dim = 1;
    if (block.count < 1)
      return cni_bad_data("%s: %s: count must be positive (got %d)", r->json.text.name, what,
                          (int)block.count);
    for (int32_t n = 0; n < block.count; n++)
      CNI_TRY(named(r, cn_problem_add_explicit(r->p, block.set, block.dim, NULL)));
  }
  CNI_TRY(r->json.status);
  return named(r, cni_problem_check(r->p));
}

static CnStatus read_explicit(Reader *r) {
  Matrix w = {0};
  CniNumbers q = {0};
  CnStatus status = read_matrix(r, KEY_W, &w);
  if (status == CN_OK) status = read_numbers(r, KEY_Q, &q);
  if (status == CN_OK) status = check_length(r, KEY_Q, &q, w.start.count - 1);
  if (status == CN_OK) {
    CnSparse sparse = as_sparse(&w);
    status = named(r, cn_problem_set_explicit(r->p, &sparse, q.value));
  }
  matrix_release(r, &w);
  CNI_RELEASE(&r->allocator, q.value, q.capacity);
  return status == CN_OK ? add_row_blocks(r) : status;
}

static CnStatus read_global(Reader *r) {
  Matrix m = {0}, e = {0};
  CniNumbers k = {0}, b = {0};
  CnStatus status = read_matrix(r, KEY_M, &m);
  if (status == CN_OK) status = read_matrix(r, KEY_E, &e);
  if (status == CN_OK) status = read_numbers(r, KEY_K, &k);
  if (status == CN_OK) status = read_numbers(r, KEY_B, &b);
  if (status == CN_OK) status = check_length(r, KEY_K, &k, m.start.count - 1);
  if (status == CN_OK) status = check_length(r, KEY_B, &b, e.start.count - 1);
  if (status == CN_OK) {
    CnSparse mass = as_sparse(&m), rows = as_sparse(&e);
    if (rows.row_count == 0) rows.column_count = mass.row_count; // no row tells how long it is
    status = named(r, cn_problem_set_global(r->p, &mass, &rows, k.value, b.value));
  }
  matrix_release(r, &m);
  matrix_release(r, &e);
  CNI_RELEASE(&r->allocator, k.value, k.capacity);
  CNI_RELEASE(&r->allocator, b.value, b.capacity);
  return status == CN_OK ? add_row_blocks(r) : status;
}

// ---- step form ----

static CnStatus read_groups(Reader *r) {
  int32_t number = 0;
  char what[32];
  CNI_TRY(go_to(r, KEY_GROUPS));
  while (next_item(r, "groups", &number, what)) {
    CnGroupDef def = cn_group_def_default();
    CNI_TRY(read_object(r, what, cni_group_members, &def));
    CNI_TRY(named(r, cn_problem_add_group(r->p, &def, NULL)));
  }
  return r->json.status;
}

// What a block of the step form may have.
typedef struct StepBlock {
  int32_t set, dim, has_pair, has_sphere, has_rows;
  double b[CNI_MAX_DIM];
  CnPairDef pair;
  CnSphereDef sphere;
  CnRowEntry *entries;
  int32_t entry_count, entry_capacity;
} StepBlock;

static CnStatus read_entries(Reader *r, const char *what, StepBlock *block) {
  int32_t state = 0;
  while (cni_json_element(&r->json, what, &state)) {
    CnRowEntry entry = {0};
    CNI_TRY(read_object(r, what, cni_entry_members, &entry));
    CNI_TRY(
        CNI_PUSH(&r->allocator, block->entries, block->entry_capacity, block->entry_count, entry));
  }
  return r->json.status;
}

// b, whose length is the dimension.
static CnStatus read_b(Reader *r, const char *what, StepBlock *block) {
  int32_t state = 0;
  for (block->dim = 0; cni_json_element(&r->json, what, &state); block->dim++) {
    if (block->dim == CNI_MAX_DIM)
      return cni_json_fail(&r->json, what, "b has more than 6 numbers");
    CNI_TRY(cni_json_number(&r->json, what, &block->b[block->dim]));
  }
  return r->json.status;
}

static CnStatus read_block_members(Reader *r, const char *what, StepBlock *block) {
  int32_t state = 0;
  char key[CNI_JSON_KEY];
  while (cni_json_member(&r->json, what, &state, key)) {
    if (strcmp(key, "set") == 0) {
      CNI_TRY(cni_json_integer(&r->json, what, 0, INT32_MAX, &block->set));
    } else if (strcmp(key, "b") == 0) {
      CNI_TRY(read_b(r, what, block));
    } else if (strcmp(key, "pair") == 0) {
      block->has_pair = 1;
      CNI_TRY(read_object(r, what, cni_pair_members, &block->pair));
    } else if (strcmp(key, "sphere") == 0) {
      block->has_sphere = 1;
      CNI_TRY(read_object(r, what, cni_sphere_members, &block->sphere));
    } else if (strcmp(key, "rows") == 0) {
      block->has_rows = 1;
      CNI_TRY(read_entries(r, what, block));
    } else {
      return unknown(r, what, key);
    }
  }
  return r->json.status;
}

static CnStatus add_step_block(Reader *r, const char *what, StepBlock *block) {
  CNI_TRY(read_block_members(r, what, block));
  if (block->has_pair + block->has_sphere + block->has_rows != 1)
    return cni_json_fail(&r->json, what, "needs one of pair, sphere, rows before");
  if (block->has_pair)
    return named(r,
                 cn_problem_add_pair(r->p, block->set, block->dim, &block->pair, block->b, NULL));
  if (block->has_sphere)
    return named(
        r, cn_problem_add_sphere(r->p, block->set, block->dim, &block->sphere, block->b, NULL));
  return named(r, cn_problem_add_rows(r->p, block->set, block->dim, block->entries,
                                      block->entry_count, block->b, NULL));
}

static CnStatus read_step(Reader *r) {
  int32_t number = 0;
  char what[32];
  StepBlock block = {0};
  CNI_TRY(read_groups(r));
  CNI_TRY(go_to(r, KEY_BLOCKS));
  CnStatus status = CN_OK;
  while (status == CN_OK && next_item(r, "blocks", &number, what)) {
    block = (StepBlock){.set = -1,
                        .pair = cn_pair_def_default(),
                        .sphere = cn_sphere_def_default(),
                        .entries = block.entries,
                        .entry_capacity = block.entry_capacity};
    status = add_step_block(r, what, &block);
  }
  CNI_RELEASE(&r->allocator, block.entries, block.entry_capacity);
  return status == CN_OK ? r->json.status : status;
}

// ---- all ----

static CnStatus read_head(Reader *r, int32_t *form, CnProblemDef *def) {
  static const char *const forms[] = {"step", "explicit", "global"};
  static const char *const frictions[] = {"coulomb", "convex"};
  static const char *const marks[] = {"problem"};
  int32_t ignored, friction = 0;
  CNI_TRY(go_to(r, KEY_CAIRN));
  CNI_TRY(cni_json_choice(&r->json, "cairn", marks, 1, &ignored));
  CNI_TRY(go_to(r, KEY_VERSION));
  CNI_TRY(cni_json_integer(&r->json, "version", 1, 1, &ignored));
  CNI_TRY(go_to(r, KEY_FORM));
  CNI_TRY(cni_json_choice(&r->json, "form", forms, 3, form));
  if (r->value[KEY_FRICTION]) {
    CNI_TRY(go_to(r, KEY_FRICTION));
    CNI_TRY(cni_json_choice(&r->json, "friction", frictions, 2, &friction));
  }
  def->form = (CnProblemForm)*form;
  def->friction = (CnFrictionModel)friction;
  return CN_OK;
}

// A member that belongs to another form is a mistake that must not go unseen.
static CnStatus check_members(const Reader *r, int32_t form) {
  static const int32_t belongs[KEY_COUNT] = {
      [KEY_GROUPS] = 1 << CN_FORM_STEP, [KEY_W] = 1 << CN_FORM_EXPLICIT,
      [KEY_Q] = 1 << CN_FORM_EXPLICIT,  [KEY_M] = 1 << CN_FORM_GLOBAL,
      [KEY_E] = 1 << CN_FORM_GLOBAL,    [KEY_K] = 1 << CN_FORM_GLOBAL,
      [KEY_B] = 1 << CN_FORM_GLOBAL,
  };
  for (int32_t k = 0; k < KEY_COUNT; k++)
    if (r->value[k] && belongs[k] && !(belongs[k] & (1 << form)))
      return cni_bad_data("%s: member \"%s\" does not belong to this form", r->json.text.name,
                          keys[k]);
  return CN_OK;
}

static CnStatus read_all(Reader *r) {
  static CnStatus (*const readers[])(Reader *) = {read_step, read_explicit, read_global};
  CnProblemDef def = cn_problem_def_default();
  int32_t form;
  CNI_TRY(find_members(r));
  CNI_TRY(read_head(r, &form, &def));
  CNI_TRY(check_members(r, form));
  def.allocator = r->allocator;
  CNI_TRY(cn_problem_create(&def, &r->p));
  CNI_TRY(read_sets(r));
  return readers[form](r);
}

CnStatus cni_json_problem_read(const char *data, size_t size, const char *name,
                               const CnAllocator *allocator, CnProblem **problem,
                               CnProblemFileInfo *info) {
  Reader r = {.allocator = *allocator, .json = {.text = {data, data + size, data, name}}};
  CnStatus status = read_all(&r);
  if (status != CN_OK) {
    cn_problem_destroy(r.p);
    return status;
  }
  info->kind = "cairn";
  info->format = "json";
  info->storage = r.p->form == CN_FORM_STEP ? "" : "rows";
  *problem = r.p;
  return CN_OK;
}
