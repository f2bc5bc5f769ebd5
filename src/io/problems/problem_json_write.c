// SPDX-License-Identifier: Apache-2.0
// The writer of Cairn's JSON problem. Every number is written with the digits that read back as the
// same double, so that reading the file gives the problem bit by bit.
#include "io/tools/decimal.h"
#include "io/problems/problem_fields.h"
#include "io/problems/problems_private.h"
#include "sparse/sparse.h"

#include <math.h>
#include <string.h>

void cni_output_real(CniOutput *out, double value) {
  char text[CNI_DECIMAL_SIZE] = "null";
  if (isfinite(value)) cni_decimal_write(value, text);
  cni_output_text(out, "%s", text);
}

void cni_output_reals(CniOutput *out, const double *values, int32_t count) {
  cni_output_text(out, "[");
  for (int32_t i = 0; i < count; i++) {
    if (i > 0) cni_output_text(out, "%s", i % 8 == 0 ? ",\n " : ", ");
    cni_output_real(out, values[i]);
  }
  cni_output_text(out, "]");
}

static void write_key(CniOutput *out, const char *key) { cni_output_text(out, "\"%s\": ", key); }

// All fields of an object that are not zero or are required; the caller opens and closes it.
static void write_fields(CniOutput *out, const CniField *fields, const void *object) {
  int32_t first = 1;
  for (const CniField *field = fields; field->name; field++) {
    double values[6] = {0};
    int32_t integer = 0, zero = 1, count = cni_field_doubles(field);
    memcpy(count ? (void *)values : &integer, cni_field_of(field, object), cni_field_size(field));
    for (int32_t k = 0; k < count; k++) zero &= values[k] == 0 && !signbit(values[k]);
    if (zero && !(field->where & CNI_REQUIRED)) continue;
    if (!first) cni_output_text(out, ", ");
    first = 0;
    write_key(out, field->name);
    if (field->type == CNI_FIELD_CHOICE)
      cni_output_text(out, "\"%s\"", cni_field_word(field, integer));
    else if (count == 0)
      cni_output_text(out, "%d", (int)integer);
    else if (count == 1)
      cni_output_real(out, values[0]);
    else
      cni_output_reals(out, values, count);
  }
}

static void write_integers(CniOutput *out, const int32_t *values, int32_t count) {
  cni_output_text(out, "[");
  for (int32_t i = 0; i < count; i++) {
    if (i > 0) cni_output_text(out, "%s", i % 16 == 0 ? ",\n " : ", ");
    cni_output_text(out, "%d", (int)values[i]);
  }
  cni_output_text(out, "]");
}

static void write_matrix(CniOutput *out, const char *key, const CnSparse *m) {
  int32_t entries = cni_sparse_entry_count(m);
  cni_output_text(out, "\"%s\": {\"columns\": %d,\n \"start\": ", key, (int)m->column_count);
  write_integers(out, m->start, m->row_count + 1);
  cni_output_text(out, ",\n \"column\": ");
  write_integers(out, m->column, entries);
  cni_output_text(out, ",\n \"value\": ");
  cni_output_reals(out, m->value, entries);
  cni_output_text(out, "},\n");
}

static void write_vector(CniOutput *out, const char *key, const double *values, int32_t count) {
  write_key(out, key);
  cni_output_reals(out, values, count);
  cni_output_text(out, ",\n");
}

static void write_sets(CniOutput *out, const CnProblem *p) {
  write_key(out, "sets");
  cni_output_text(out, "[");
  for (int32_t i = 0; i < p->set_count; i++) {
    // bounds that nobody reads are left out
    CnSet set = p->sets[i];
    if (set.kind != CN_BLOCK_INTERVAL) set.lo = set.hi = 0;
    cni_output_text(out, "%s\n {", i ? "," : "");
    write_fields(out, cni_set_members, &set);
    cni_output_text(out, "}");
  }
  cni_output_text(out, "],\n");
}

// ---- explicit and global form: runs of equal blocks are one line ----

static void write_row_blocks(CniOutput *out, const CnProblem *p) {
  write_key(out, "blocks");
  cni_output_text(out, "[");
  for (int32_t i = 0; i < p->block_count;) {
    const CniBlock *block = &p->blocks[i];
    int32_t count = 1;
    while (i + count < p->block_count && p->blocks[i + count].set == block->set &&
           p->blocks[i + count].dim == block->dim)
      count++;
    cni_output_text(out, "%s\n {\"set\": %d, \"dim\": %d, \"count\": %d}", i ? "," : "",
                    (int)block->set, (int)block->dim, (int)count);
    i += count;
  }
  cni_output_text(out, "]}\n");
}

static void write_explicit(CniOutput *out, const CnProblem *p) {
  const CnSparse *w = &p->w;
  int32_t none = 0;
  CnSparse empty = {0, 0, &none, NULL, NULL};
  write_matrix(out, "W", w->start ? w : &empty);
  write_vector(out, "q", p->b, p->row_count);
  write_row_blocks(out, p);
}

static void write_global(CniOutput *out, const CnProblem *p) {
  const CniGlobal *global = p->global;
  write_matrix(out, "M", &global->m);
  write_matrix(out, "E", &global->e);
  write_vector(out, "k", global->k, global->m.row_count);
  write_vector(out, "b", p->b, p->row_count);
  write_row_blocks(out, p);
}

// ---- step form ----

static void write_groups(CniOutput *out, const CnProblem *p) {
  write_key(out, "groups");
  cni_output_text(out, "[");
  for (int32_t i = 0; i < p->group_count; i++) {
    const CniGroup *group = &p->groups[i];
    CnGroupDef def = cn_group_def_default();
    def.inv_mass = group->inv_mass;
    def.inv_inertia = cni_group_inertia(p, i);
    def.free = cni_group_free(group);
    def.old = cni_group_old(p, i);
    cni_output_text(out, "%s", i ? ",\n {" : "\n {");
    write_fields(out, cni_group_members, &def);
    cni_output_text(out, "}");
  }
  cni_output_text(out, "],\n");
}

static void write_rows(CniOutput *out, const CnProblem *p, const CniBlock *block) {
  const CniRowsBlock *rows = &p->row_blocks[block->index];
  cni_output_text(out, ", \"rows\": [");
  for (int32_t e = 0; e < rows->entry_count; e++) {
    cni_output_text(out, "%s", e ? ",\n  {" : "{");
    write_fields(out, cni_entry_members, &p->row_entries[rows->entry_start + e]);
    cni_output_text(out, "}");
  }
  cni_output_text(out, "]");
}

static void write_pair(CniOutput *out, const CnProblem *p, const CniBlock *block) {
  const CniPairBlock *pair = &p->pairs[block->index];
  CnPairDef def = cn_pair_def_default();
  def.group_a = pair->group_a;
  def.group_b = pair->group_b;
  def.normal = pair->normal;
  def.tangent = pair->tangent;
  def.arm_a = pair->arm_a;
  def.arm_b = pair->arm_b;
  def.length = pair->length;
  cni_output_text(out, ", \"pair\": {");
  write_fields(out, cni_pair_members, &def);
  cni_output_text(out, "}");
}

static void write_sphere(CniOutput *out, const CnProblem *p, const CniBlock *block) {
  const CniSphereBlock *sphere = &p->spheres[block->index];
  CnSphereDef def = cn_sphere_def_default();
  def.group_a = sphere->group_a;
  def.group_b = sphere->group_b;
  def.normal = sphere->normal;
  def.radius_a = sphere->radius_a;
  def.radius_b = sphere->radius_b;
  def.length = cni_sphere_length(p, block->index);
  cni_output_text(out, ", \"sphere\": {");
  write_fields(out, cni_sphere_members, &def);
  cni_output_text(out, "}");
}

static void write_step(CniOutput *out, const CnProblem *p) {
  write_groups(out, p);
  write_key(out, "blocks");
  cni_output_text(out, "[");
  for (int32_t i = 0; i < p->block_count; i++) {
    const CniBlock *block = &p->blocks[i];
    cni_output_text(out, "%s\n {\"set\": %d", i ? "," : "", (int)block->set);
    if (block->storage == CNI_ROWS) write_rows(out, p, block);
    if (block->storage == CNI_PAIR) write_pair(out, p, block);
    if (block->storage == CNI_SPHERE) write_sphere(out, p, block);
    cni_output_text(out, ", \"b\": ");
    cni_output_reals(out, p->b + block->row, block->dim);
    cni_output_text(out, "}");
  }
  cni_output_text(out, "]}\n");
}

CnStatus cni_json_problem_write(CnProblem *p, const char *path) {
  static void (*const writers[])(CniOutput *, const CnProblem *) = {write_step, write_explicit,
                                                                    write_global};
  static const char *const forms[] = {"step", "explicit", "global"};
  CniOutput out;
  CNI_TRY(cni_output_open(&out, path, &p->allocator));
  cni_output_text(&out,
                  "{\"cairn\": \"problem\", \"version\": 1, \"form\": \"%s\", "
                  "\"friction\": \"%s\",\n",
                  forms[p->form], cn_friction_model_name(p->friction));
  write_sets(&out, p);
  writers[p->form](&out, p);
  return cni_output_close(&out);
}
