// SPDX-License-Identifier: Apache-2.0
// Settings of a world on the command line and in results: all that their descriptions list, by
// names like time_step, solver.facets, integrator.max_steps.
#include <math.h>
#include <string.h>

#include "cli/job.h"
#include "world/world.h"

static void full_name(const CniSettingsPart *part, const CniField *field, char name[64]) {
  snprintf(name, 64, "%s%s%s", part->prefix, part->prefix[0] ? "." : "",
           cni_field_file_name(field));
}

// All of them, one after the other; null past the end.
static const CniField *nth(int32_t index, const CniSettingsPart **part) {
  for (int32_t p = 0; p < CNI_SETTINGS_PARTS; p++) {
    *part = &cni_settings_parts[p];
    int32_t count = cni_field_count((*part)->fields);
    if (index < count) return &(*part)->fields[index];
    index -= count;
  }
  return NULL;
}

// ---- from the command line ----

// A value as typed: a number, true or false, a word, or three numbers with commas.
static int parse_value(const CniField *field, const char *text, void *at) {
  double x[3] = {0, 0, 0};
  char rest[2];
  int32_t word;
  switch (field->type) {
  case CNI_FIELD_REAL:
    return cni_number_parse(text, at);
  case CNI_FIELD_VEC3:
    if (sscanf(text, "%lf,%lf,%lf%1s", &x[0], &x[1], &x[2], rest) != 3) return 0;
    memcpy(at, x, sizeof x);
    return 1;
  case CNI_FIELD_FLAG:
    word = strcmp(text, "true") == 0;
    memcpy(at, &word, sizeof word);
    return word || strcmp(text, "false") == 0;
  case CNI_FIELD_INTEGER:
    if (!cni_number_parse(text, x) || x[0] != floor(x[0]) || fabs(x[0]) > INT32_MAX) return 0;
    word = (int32_t)x[0];
    memcpy(at, &word, sizeof word);
    return 1;
  case CNI_FIELD_CHOICE:
    word = cni_field_word_index(field, text);
    memcpy(at, &word, sizeof word);
    return word >= 0;
  case CNI_FIELD_WORD: {
    const char *own = cni_field_word(field, cni_field_word_index(field, text));
    memcpy(at, &own, sizeof own);
    return own != NULL;
  }
  default:
    return 0;
  }
}

static int use_one(const CniArgs *args, const char *text, CnWorldDef *def) {
  size_t length = strcspn(text, "=");
  if (length == 0 || text[length] != '=')
    return cni_usage_error(args->command, "--setting needs KEY=VALUE (got %s)", text);
  const CniSettingsPart *part;
  const CniField *field;
  CniNearestName near = cni_nearest(text, length);
  char names[2][64]; // the one looked at, and the nearest so far
  int32_t at = 0;
  for (int32_t i = 0; (field = nth(i, &part)); i++) {
    full_name(part, field, names[at]);
    if (strlen(names[at]) == length && strncmp(names[at], text, length) == 0) break;
    cni_nearest_offer(&near, names[at]);
    if (near.best == names[at]) at = !at;
  }
  const char *name = names[at];
  if (!field)
    return cni_usage_error(args->command, "--setting %.*s is unknown%s%s%s", (int)length, text,
                           near.best ? "; did you mean " : "", near.best ? near.best : "",
                           near.best ? "?" : "");
  char *base = (char *)def + part->base;
  if (!parse_value(field, text + length + 1, cni_field_at(field, base)))
    return cni_usage_error(args->command, "--setting %s: %s does not fit a %s", name,
                           text + length + 1, cni_field_type_name(field->type));
  if (cni_field_check(field, "--setting", base) != CN_OK)
    return cni_usage_error(args->command, "%s", cn_error_message());
  return CNI_EXIT_DONE;
}

int cni_settings_use(const CniArgs *args, CnWorldDef *def) {
  const char *text;
  int status = CNI_EXIT_DONE;
  for (int32_t i = 0; status == CNI_EXIT_DONE && (text = cni_args_nth(args, "setting", i)); i++)
    status = use_one(args, text, def);
  return status;
}

int cni_settings_equal(const CnWorldDef *a, const CnWorldDef *b) {
  for (const CniSettingsPart *p = cni_settings_parts; p < cni_settings_parts + CNI_SETTINGS_PARTS;
       p++)
    if (!cni_fields_equal(p->fields, (const char *)a + p->base, (const char *)b + p->base))
      return 0;
  return 1;
}

// ---- in results ----

static void show_value(CniShow *show, const CniField *field, const void *at) {
  int32_t integer = 0;
  const char *word = NULL;
  if (cni_field_doubles(field) == 3) {
    cni_show_vector(show, "value", "value", at, field->unit);
  } else if (cni_field_doubles(field) == 1) {
    cni_show_number(show, "value", "value", *(const double *)at, field->unit);
  } else if (field->type == CNI_FIELD_WORD) {
    memcpy(&word, at, sizeof word);
    cni_show_text(show, "value", "value", word);
  } else {
    memcpy(&integer, at, sizeof integer);
    if (field->type == CNI_FIELD_CHOICE)
      cni_show_text(show, "value", "value", cni_field_word(field, integer));
    else if (field->type == CNI_FIELD_FLAG)
      cni_show_flag(show, "value", "value", integer);
    else
      cni_show_count(show, "value", "value", integer);
  }
}

// People see those that are not the default.
void cni_show_all_settings(CniShow *show, const CnWorldDef *def) {
  CnWorldDef usual = cn_world_def_default();
  usual.solver = cn_solver_def_default(def->solver.name);
  const CniSettingsPart *part;
  const CniField *field;
  cni_show_list(show, "settings", cni_settings_equal(def, &usual) ? NULL : "other settings");
  for (int32_t i = 0; (field = nth(i, &part)); i++) {
    char name[64];
    const void *at = cni_field_of(field, (const char *)def + part->base);
    const CniField one[2] = {*field, CNI_FIELDS_END};
    int same =
        cni_fields_equal(one, (const char *)def + part->base, (const char *)&usual + part->base);
    if (same && !show->json) continue;
    full_name(part, field, name);
    cni_show_row(show);
    cni_show_text(show, "name", "name", name);
    show_value(show, field, at);
    if (field->unit[0]) cni_show_text(show, "unit", NULL, field->unit);
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
}
