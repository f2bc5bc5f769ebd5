// SPDX-License-Identifier: Apache-2.0
// Prints the descriptions of definitions as JSON, for fields.mjs: what the schema of scenes and the
// tables in docs/ say has to be what the library does.
#include <math.h>
#include <stdio.h>

#include "integrator/integrator.h"
#include "model/model.h"
#include "solver/solver.h"
#include "world/world.h"

static void print_number(double x) {
  if (isinf(x))
    printf("\"%s\"", x > 0 ? "inf" : "-inf");
  else
    printf("%.17g", x);
}

static void print_words(const CniField *f) {
  printf(", \"words\": [");
  for (int32_t i = 0; cni_field_word(f, i); i++)
    printf("%s\"%s\"", i ? ", " : "", cni_field_word(f, i));
  printf("]");
}

static void print_field(const CniField *f) {
  const CniRangeInfo *r = cni_range_info(f->range);
  printf("{\"name\": \"%s\", \"file\": \"%s\", \"type\": \"%s\", \"where\": %u", f->name,
         cni_field_file_name(f), cni_field_type_name(f->type), (unsigned)f->where);
  printf(", \"range\": %d, \"text\": \"%s\", \"least\": ", (int)f->range, r->text);
  print_number(r->least);
  printf(", \"most\": ");
  print_number(r->most);
  printf(", \"openLeast\": %d, \"openMost\": %d, \"multiple\": %g", (int)r->open_least,
         (int)r->open_most, r->multiple);
  printf(", \"default\": [");
  for (int32_t i = 0; i < 3; i++) {
    printf(i ? ", " : "");
    print_number(f->fallback[i]);
  }
  printf("], \"unit\": \"%s\", \"sentence\": \"%s\"", f->unit, f->sentence);
  if (f->type == CNI_FIELD_CHOICE || f->type == CNI_FIELD_WORD) print_words(f);
  printf("}");
}

static void print_table(const char *name, const CniField *fields) {
  printf("  \"%s\": [\n    ", name);
  for (; fields->name; fields++) {
    print_field(fields);
    printf(fields[1].name ? ",\n    " : "\n  ]");
  }
}

int main(void) {
  printf("{\n");
  print_table("world", cni_world_fields);
  printf(",\n");
  print_table("solver", cni_solver_fields);
  printf(",\n");
  print_table("integrator", cni_integrator_fields);
  printf(",\n");
  print_table("material", cni_material_fields);
  printf(",\n");
  print_table("body", cni_body_fields);
  printf("\n}\n");
  return 0;
}
