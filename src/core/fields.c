// SPDX-License-Identifier: Apache-2.0
// Definition structs walked over by their descriptions: defaults, checks, equality; and the ranges
// that numbers have, with the words for them.
#include "core/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/vec.h"

// ---- types ----

// Bytes of a field, and how many of its leading parts are doubles.
static const struct {
  const char *name;
  size_t size;
  int32_t doubles;
} types[CNI_FIELD_TYPE_COUNT] = {
    [CNI_FIELD_REAL] = {"number", sizeof(double), 1},
    [CNI_FIELD_INTEGER] = {"integer", sizeof(int32_t), 0},
    [CNI_FIELD_FLAG] = {"flag", sizeof(int32_t), 0},
    [CNI_FIELD_BITS] = {"bits", sizeof(uint32_t), 0},
    [CNI_FIELD_CHOICE] = {"choice", sizeof(int32_t), 0},
    [CNI_FIELD_WORD] = {"word", sizeof(const char *), 0},
    [CNI_FIELD_VEC3] = {"vector", sizeof(CnVec3), 3},
    [CNI_FIELD_POSE] = {"pose", sizeof(CnPose), 7},
    [CNI_FIELD_TWIST] = {"twist", sizeof(CnTwist), 6},
    [CNI_FIELD_SYM3] = {"tensor", sizeof(CnSym3), 6},
    [CNI_FIELD_LONG] = {"long", sizeof(int64_t), 0},
    [CNI_FIELD_NAME] = {"name", CNI_NAME_SIZE, 0},
};

size_t cni_field_size(const CniField *field) { return types[field->type].size; }

const char *cni_field_file_name(const CniField *field) {
  return field->file ? field->file : field->name;
}

int32_t cni_field_doubles(const CniField *field) { return types[field->type].doubles; }

const char *cni_field_type_name(CniFieldType type) { return types[type].name; }

int32_t cni_field_count(const CniField *fields) {
  int32_t count = 0;
  while (fields[count].name) count++;
  return count;
}

const CniField *cni_field_find(const CniField *fields, const char *name) {
  for (; fields->name; fields++)
    if (strcmp(fields->name, name) == 0) return fields;
  return NULL;
}

const char *cni_field_word(const CniField *field, int32_t index) {
  if (index < 0) return NULL;
  if (field->table) return field->table(index);
  for (int32_t i = 0; i < index; i++)
    if (!field->words[i]) return NULL;
  return field->words[index];
}

int32_t cni_field_word_index(const CniField *field, const char *word) {
  for (int32_t i = 0; cni_field_word(field, i); i++)
    if (strcmp(cni_field_word(field, i), word) == 0) return i;
  return -1;
}

// ---- ranges ----

static const CniRangeInfo ranges[CNI_RANGE_COUNT] = {
    [CNI_ANY] = {"must be finite", -INFINITY, INFINITY, 1, 1, 0},
    [CNI_POSITIVE] = {"must be positive", 0, INFINITY, 1, 1, 0},
    [CNI_NOT_NEGATIVE] = {"must not be negative", 0, INFINITY, 0, 1, 0},
    [CNI_SHARE] = {"must be in 0 .. 1", 0, 1, 0, 0, 0},
    [CNI_POSITIVE_SHARE] = {"must be above 0 and at most 1", 0, 1, 1, 0, 0},
    [CNI_RELAXATION] = {"must be above 0 and below 2", 0, 2, 1, 1, 0},
    [CNI_BOUND] = {"must be a number", -INFINITY, INFINITY, 0, 0, 0},
    [CNI_UPPER_HALF] = {"must be in 1/2 .. 1", 0.5, 1, 0, 0, 0},
    [CNI_AT_LEAST_1] = {"must be at least 1", 1, INFINITY, 0, 1, 0},
    [CNI_AT_LEAST_MINUS_1] = {"must be at least -1", -1, INFINITY, 0, 1, 0},
    [CNI_FACETS] = {"must be even, from 4 to 64", 4, 64, 0, 0, 2},
    [CNI_DURATION] = {"must be from 1e-15 to 1e9", 1e-15, 1e9, 0, 0, 0},
};

const CniRangeInfo *cni_range_info(CniRange range) { return &ranges[range]; }

const char *cni_range_text(CniRange range) { return ranges[range].text; }

int cni_range_holds(CniRange range, double value) {
  const CniRangeInfo *r = &ranges[range];
  if (isnan(value) || value < r->least || value > r->most) return 0;
  if ((r->open_least && value == r->least) || (r->open_most && value == r->most)) return 0;
  return r->multiple == 0 || floor(value / r->multiple) * r->multiple == value;
}

// ---- defaults ----

// Numbers of four bytes have the same bits whatever their sign; what has no number is zero.
static void set_default(const CniField *field, void *at) {
  const double *x = field->fallback;
  int32_t doubles = cni_field_doubles(field);
  memset(at, 0, cni_field_size(field));
  if (field->type == CNI_FIELD_POSE) {
    memcpy(at, &(CnPose){{0, 0, 0}, {1, 0, 0, 0}}, sizeof(CnPose));
  } else if (field->type == CNI_FIELD_WORD) {
    const char *word = field->table((int32_t)x[0]);
    memcpy(at, &word, sizeof word);
  } else if (doubles > 0) {
    memcpy(at, x, (doubles < 3 ? 1 : 3) * sizeof *x);
  } else if (cni_field_size(field) == sizeof(uint32_t)) {
    uint32_t bits = (uint32_t)(int64_t)x[0];
    memcpy(at, &bits, sizeof bits);
  }
}

void cni_fields_default(const CniField *fields, void *def) {
  for (; fields->name; fields++) set_default(fields, cni_field_at(fields, def));
}

// ---- checks ----

CnStatus cni_def_check(const char *sort, const void *def, size_t size, uint32_t tag) {
  uint32_t head[2];
  if (!def) return cni_invalid("%s: the definition is null", sort);
  memcpy(head, def, sizeof head);
  if (head[0] == size && head[1] == tag) return CN_OK;
  if (head[1] == tag)
    return cni_invalid("%s: the definition is of another version of Cairn (size %u, expected %zu): "
                       "build the program with the headers of this one",
                       sort, (unsigned)head[0], size);
  return cni_invalid("%s: the definition was not made by the default function of this version of "
                     "Cairn (tag %u)",
                     sort, (unsigned)head[1]);
}

CnStatus cni_check_vec3(const char *what, CnVec3 value) {
  if (cn_vec3_finite(value)) return CN_OK;
  return cni_invalid("%s must be finite (got %g, %g, %g)", what, value.x, value.y, value.z);
}

// Four ulps: what a product of two unit quaternions leaves.
#define UNIT_ROUNDING 8.9e-16

CnStatus cni_check_pose(const char *what, CnPose *pose) {
  CnVec3 p = pose->position;
  if (!cn_vec3_finite(p))
    return cni_invalid("%s.position must be finite (got %g, %g, %g)", what, p.x, p.y, p.z);
  CnQuat q = pose->rotation;
  // the largest component first, so that the square neither overflows nor vanishes
  double largest = cn_max(cn_max(fabs(q.w), fabs(q.x)), cn_max(fabs(q.y), fabs(q.z)));
  int finite = isfinite(q.w) && isfinite(q.x) && isfinite(q.y) && isfinite(q.z);
  if (!finite || largest < 1e-300)
    return cni_invalid("%s.rotation must be a unit quaternion (got %g, %g, %g, %g)", what, q.w, q.x,
                       q.y, q.z);
  if (fabs(cn_qnorm2(q) - 1) <= UNIT_ROUNDING) return CN_OK;
  q = (CnQuat){q.w / largest, q.x / largest, q.y / largest, q.z / largest};
  pose->rotation = cn_qunit(q);
  return CN_OK;
}

CnStatus cni_check_twist(const char *what, const CnTwist *twist) {
  CnVec3 v = twist->velocity, w = twist->spin;
  if (cn_vec3_finite(v) && cn_vec3_finite(w)) return CN_OK;
  return cni_invalid("%s must be finite (got velocity %g, %g, %g and spin %g, %g, %g)", what, v.x,
                     v.y, v.z, w.x, w.y, w.z);
}

// Why a number is refused: a range speaks of numbers only.
static const char *trouble(CniRange range, double value) {
  return isfinite(value) || range == CNI_BOUND ? cni_range_text(range) : "must be finite";
}

// Every number of a field within its range; all of them are shown.
static CnStatus check_doubles(const CniField *field, const char *what, const double *x) {
  int32_t count = types[field->type].doubles, wrong = -1;
  for (int32_t i = count - 1; i >= 0; i--)
    if (!cni_range_holds(field->range, x[i])) wrong = i;
  if (wrong < 0) return CN_OK;
  char list[160] = "";
  size_t used = 0;
  for (int32_t i = 0; i < count && used < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, i ? ", %g" : "%g", x[i]);
  return cni_invalid("%s %s (got %s)", what, trouble(field->range, x[wrong]), list);
}

static CnStatus check_integer(const CniField *field, const char *what, int32_t value) {
  if (field->type == CNI_FIELD_FLAG && value != 0 && value != 1)
    return cni_invalid("%s must be 0 or 1 (got %d)", what, (int)value);
  if (field->type == CNI_FIELD_CHOICE && !cni_field_word(field, value))
    return cni_invalid("%s has no choice of number %d", what, (int)value);
  if (field->type == CNI_FIELD_INTEGER && !cni_range_holds(field->range, value))
    return cni_invalid("%s %s (got %d)", what, cni_range_text(field->range), (int)value);
  return CN_OK;
}

static CnStatus check_word(const CniField *field, const char *what, const char *word) {
  if (!word) return cni_invalid("%s is null", what);
  if (cni_field_word_index(field, word) >= 0) return CN_OK;
  char known[256];
  cni_list_names(field->table, known, sizeof known);
  return cni_invalid("%s '%.64s' is unknown; known: %s", what, word, known);
}

CnStatus cni_field_check(const CniField *field, const char *sort, void *def) {
  void *at = cni_field_at(field, def);
  char what[96];
  snprintf(what, sizeof what, "%s: %s", sort, field->name);
  if (field->type == CNI_FIELD_POSE) return cni_check_pose(what, at);
  if (field->type == CNI_FIELD_TWIST) return cni_check_twist(what, at);
  if (cni_field_doubles(field) > 0) return check_doubles(field, what, at);
  if (field->type == CNI_FIELD_WORD) return check_word(field, what, *(const char **)at);
  int is_number = field->type == CNI_FIELD_INTEGER || field->type == CNI_FIELD_FLAG ||
                  field->type == CNI_FIELD_CHOICE;
  return is_number ? check_integer(field, what, *(const int32_t *)at) : CN_OK;
}

CnStatus cni_fields_check(const CniField *fields, const char *sort, void *def) {
  for (; fields->name; fields++) CNI_TRY(cni_field_check(fields, sort, def));
  return CN_OK;
}

// ---- two definitions ----

void cni_fields_copy(const CniField *fields, uint64_t bits, const void *from, void *to) {
  for (; fields->name; fields++, bits >>= 1)
    if (bits & 1)
      memcpy(cni_field_at(fields, to), cni_field_of(fields, from), cni_field_size(fields));
}

int cni_fields_equal(const CniField *fields, const void *a, const void *b) {
  for (; fields->name; fields++) {
    const void *x = cni_field_of(fields, a), *y = cni_field_of(fields, b);
    if (fields->type != CNI_FIELD_WORD) {
      if (memcmp(x, y, cni_field_size(fields)) != 0) return 0;
      continue;
    }
    const char *one, *other;
    memcpy(&one, x, sizeof one);
    memcpy(&other, y, sizeof other);
    if (one != other && (!one || !other || strcmp(one, other) != 0)) return 0;
  }
  return 1;
}
