// SPDX-License-Identifier: Apache-2.0
// Settings of a world by their names (<cairn/settings.h>): a walk over their descriptions.
#include <cairn/settings.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world/doors.h"

// All of them, one after the other; null past the end.
static const CniField *nth(int32_t index, const CniSettingsPart **part) {
  for (int32_t p = 0; p < CNI_SETTINGS_PARTS && index >= 0; p++) {
    *part = &cni_settings_parts[p];
    int32_t count = cni_field_count((*part)->fields);
    if (index < count) return &(*part)->fields[index];
    index -= count;
  }
  return NULL;
}

static CnSettingType type_of(const CniField *field) {
  if (field->type == CNI_FIELD_REAL) return CN_SETTING_REAL;
  if (field->type == CNI_FIELD_VEC3) return CN_SETTING_VECTOR;
  if (field->type == CNI_FIELD_FLAG) return CN_SETTING_FLAG;
  return field->type == CNI_FIELD_CHOICE || field->type == CNI_FIELD_WORD ? CN_SETTING_WORD
                                                                          : CN_SETTING_INTEGER;
}

CnStatus cn_setting_info(int32_t index, CnSettingInfo *info) {
  CNI_FLOATS;
  const CniSettingsPart *part = NULL;
  const CniField *field = nth(index, &part);
  if (!info) return cni_null_argument("cn_setting_info", "the result pointer");
  *info = (CnSettingInfo){.unit = "", .sentence = ""};
  if (!field) return cni_invalid("cn_setting_info: there is no setting %d", (int)index);
  info->type = type_of(field);
  info->unit = field->unit;
  info->sentence = field->sentence;
  snprintf(info->name, sizeof info->name, "%s%s%s", part->prefix, part->prefix[0] ? "." : "",
           cni_field_file_name(field));
  return CN_OK;
}

const char *cn_setting_word(int32_t index, int32_t word) {
  const CniSettingsPart *part = NULL;
  const CniField *field = nth(index, &part);
  return field && type_of(field) == CN_SETTING_WORD ? cni_field_word(field, word) : NULL;
}

int32_t cn_setting_find(const char *name) {
  CnSettingInfo info;
  const CniSettingsPart *part = NULL;
  for (int32_t i = 0; name && nth(i, &part); i++)
    if (cn_setting_info(i, &info) == CN_OK && strcmp(info.name, name) == 0) return i;
  return -1;
}

static CnStatus find(const char *call, const CnWorldDef *def, int32_t index, const void *result,
                     const CniSettingsPart **part, const CniField **field) {
  if (!def || !result)
    return cni_null_argument(call, def ? "the text or result" : "the definition");
  *field = nth(index, part);
  return *field ? CN_OK : cni_invalid("%s: there is no setting %d", call, (int)index);
}

CnStatus cn_setting_get(const CnWorldDef *def, int32_t index, CnSettingValue *value) {
  CNI_FLOATS;
  const CniSettingsPart *part = NULL;
  const CniField *field = NULL;
  int32_t integer;
  CNI_TRY(find("cn_setting_get", def, index, value, &part, &field));
  const void *at = cni_field_of(field, (const char *)def + part->base);
  *value = (CnSettingValue){{0, 0, 0}, NULL};
  if (cni_field_doubles(field) > 0) {
    memcpy(value->numbers, at, (cni_field_doubles(field) == 3 ? 3 : 1) * sizeof(double));
  } else if (field->type == CNI_FIELD_WORD) {
    memcpy(&value->word, at, sizeof value->word);
    value->numbers[0] = value->word ? cni_field_word_index(field, value->word) : -1;
  } else {
    memcpy(&integer, at, sizeof integer);
    value->numbers[0] = integer;
    if (field->type == CNI_FIELD_CHOICE) value->word = cni_field_word(field, integer);
  }
  return CN_OK;
}

// A number written out in full; 0 for anything else.
static int parse_number(const char *text, double *value) {
  char *end;
  if (!text[0] || strchr(" \t\n", text[0])) return 0;
  *value = strtod(text, &end);
  return *end == 0;
}

// 0,0,-1 or, as scenes have it, [0, 0, -1].
static int parse_vector(const char *text, double x[3]) {
  char part[3][48], rest[2];
  int n = text[0] == '['
              ? sscanf(text, "[ %47[^], ] , %47[^], ] , %47[^], ] ] %1s", part[0], part[1], part[2],
                       rest)
              : sscanf(text, "%47[^,],%47[^,],%47[^,]%1s", part[0], part[1], part[2], rest);
  if (n != 3 || (text[0] == '[' && text[strlen(text) - 1] != ']')) return 0;
  return parse_number(part[0], &x[0]) && parse_number(part[1], &x[1]) &&
         parse_number(part[2], &x[2]);
}

static int parse_word(const CniField *field, const char *text, void *at) {
  int32_t word = cni_field_word_index(field, text);
  const char *own = cni_field_word(field, word);
  if (field->type == CNI_FIELD_WORD)
    memcpy(at, &own, sizeof own);
  else
    memcpy(at, &word, sizeof word);
  return own != NULL;
}

static int parse_value(const CniField *field, const char *text, void *at) {
  double x[3] = {0, 0, 0};
  int32_t whole = 0;
  CnSettingType type = type_of(field);
  if (type == CN_SETTING_REAL) return parse_number(text, at);
  if (type == CN_SETTING_WORD) return parse_word(field, text, at);
  if (type == CN_SETTING_VECTOR) {
    if (!parse_vector(text, x)) return 0;
    memcpy(at, x, sizeof x);
    return 1;
  }
  if (type == CN_SETTING_FLAG) {
    whole = strcmp(text, "true") == 0;
    if (!whole && strcmp(text, "false") != 0) return 0;
  } else {
    if (!parse_number(text, x) || x[0] != floor(x[0]) || fabs(x[0]) > INT32_MAX) return 0;
    whole = (int32_t)x[0];
  }
  memcpy(at, &whole, sizeof whole);
  return 1;
}

CnStatus cn_setting_set(CnWorldDef *def, int32_t index, const char *text) {
  CNI_FLOATS;
  const CniSettingsPart *part = NULL;
  const CniField *field = NULL;
  CnSettingInfo info;
  CNI_TRY(find("cn_setting_set", def, index, text, &part, &field));
  CNI_TRY(cn_setting_info(index, &info));
  CnWorldDef copy = *def;
  char *base = (char *)&copy + part->base;
  if (!parse_value(field, text, cni_field_at(field, base)))
    return cni_invalid("%s: %.64s does not fit a %s%s", info.name, text,
                       cni_field_type_name(field->type),
                       type_of(field) == CN_SETTING_VECTOR ? ", as 0,0,-9.81 does" : "");
  // solver: facets must be ..., or setting: gravity must be ...
  char owner[64];
  const char *dot = strrchr(info.name, '.');
  snprintf(owner, sizeof owner, "%.*s", dot ? (int)(dot - info.name) : 7,
           dot ? info.name : "setting");
  CNI_TRY(cni_field_check(field, owner, base));
  *def = copy;
  return CN_OK;
}
