// SPDX-License-Identifier: Apache-2.0
// A definition struct described once: which fields it has, what they mean, what they may be.
//
// A description is a constant table of CniField. Defaults, checks, snapshots, scenes, their JSON
// Schema, run files, `cairn info` and the tables in docs/ all walk over it, so that a new field is
// one row. A kind (of joint, of shape, of force) lists the fields that it reads beside those that
// every definition of its sort has; offsets are in the one public struct of the sort.
#ifndef CNI_CORE_FIELDS_H
#define CNI_CORE_FIELDS_H

#include <cairn/base.h>
#include <stddef.h>

#define CNI_NAME_SIZE 48 // longer names are cut; the cut is visible in messages only

typedef enum CniFieldType {
  CNI_FIELD_REAL = 0, // double
  CNI_FIELD_INTEGER,  // int32_t
  CNI_FIELD_FLAG,     // int32_t, 0 or 1
  CNI_FIELD_BITS,     // uint32_t
  CNI_FIELD_CHOICE,   // an enum of the public interface: its number in `words`
  CNI_FIELD_WORD,     // const char *: one of the names that `table` lists
  CNI_FIELD_VEC3,     // CnVec3; the range is that of each component
  CNI_FIELD_POSE,     // CnPose
  CNI_FIELD_TWIST,    // CnTwist
  CNI_FIELD_SYM3,     // CnSym3
  CNI_FIELD_LONG,     // 64 bits, int64_t or uint64_t: of snapshots only
  CNI_FIELD_NAME,     // char[CNI_NAME_SIZE], ended by a zero: of snapshots only
  CNI_FIELD_TYPE_COUNT
} CniFieldType;

typedef enum CniRange {
  CNI_ANY = 0, // finite
  CNI_POSITIVE,
  CNI_NOT_NEGATIVE,
  CNI_SHARE,          // 0 .. 1
  CNI_POSITIVE_SHARE, // (0, 1]
  CNI_RELAXATION,     // (0, 2)
  CNI_BOUND,          // any number, and both infinities: a limit that may be absent
  CNI_UPPER_HALF,     // 1/2 .. 1
  CNI_AT_LEAST_1,
  CNI_AT_LEAST_MINUS_1,
  CNI_FACETS,   // even, 4 to 64
  CNI_DURATION, // of a step, s: its square and its inverse are far from the ends of the numbers
  CNI_RANGE_COUNT
} CniRange;

// Where a field does not appear; it appears everywhere else.
enum {
  CNI_NOT_IN_SNAPSHOT = 1, // cannot change a result
  CNI_NOT_IN_SCENE = 2,
  CNI_NOT_IN_RUN = 4,
  CNI_NUMBER_IN_RUN = 8 // a choice that is a number there, not a word
};

typedef struct CniField {
  const char *name; // in files and messages, as in the struct
  CniFieldType type;
  CniRange range;
  size_t offset;                       // in the definition struct
  double fallback[3];                  // default; a pose's is the identity, a tensor's zero
  const char *unit;                    // "m/s"; "" without
  const char *sentence;                // what it means
  const char *const *words;            // of a choice; ends with null
  const char *(*table)(int32_t index); // of a word: the names, null past the end
  uint32_t where;                      // CNI_NOT_IN_ bits
  const char *file;                    // name in scenes and run files; null: the same
} CniField;

// A row of a table, the field's name being that in the struct:
//     CNI_FIELD(REAL, CnShapeDef, radius, POSITIVE, "m", "of the sphere")
#define CNI_FIELD(sort, Struct, field, limits, unit_, ...)                                         \
  {                                                                                                \
    .name = #field, .type = CNI_FIELD_##sort, .range = CNI_##limits,                               \
    .offset = offsetof(Struct, field), .unit = unit_, .sentence = __VA_ARGS__                      \
  }

// A table ends with a field without a name.
#define CNI_FIELDS_END                                                                             \
  { .name = NULL }

static inline void *cni_field_at(const CniField *field, void *def) {
  return (char *)def + field->offset;
}
static inline const void *cni_field_of(const CniField *field, const void *def) {
  return (const char *)def + field->offset;
}
size_t cni_field_size(const CniField *field);
const char *cni_field_file_name(const CniField *field);
// How many doubles a field is; 0: something else.
int32_t cni_field_doubles(const CniField *field);
const char *cni_field_type_name(CniFieldType type); // "number", "vector", ...

// Number of fields, and the one of a name (null: none).
int32_t cni_field_count(const CniField *fields);
const CniField *cni_field_find(const CniField *fields, const char *name);

// The words of a choice or a word: by number (null past the end), and the number of one (-1: none).
const char *cni_field_word(const CniField *field, int32_t index);
int32_t cni_field_word_index(const CniField *field, const char *word);

// Set every field to its default. A word's is the first name of its table unless fallback[0] says
// another number.
void cni_fields_default(const CniField *fields, void *def);

// A range as bounds, for whoever writes it in a form of its own.
typedef struct CniRangeInfo {
  const char *text;
  double least, most;
  int32_t open_least, open_most; // the bound itself is outside
  double multiple;               // of which it has to be one; 0: of none
} CniRangeInfo;
const CniRangeInfo *cni_range_info(CniRange range);

// What a number has to be, for messages and docs: "must be positive"; and whether it is.
const char *cni_range_text(CniRange range);
int cni_range_holds(CniRange range, double value);

// Check every field. The message: "joint: distance must be positive (got -1)" with `sort` "joint".
// Poses are brought to unit rotations first, as cni_check_pose does.
CnStatus cni_field_check(const CniField *field, const char *sort, void *def);
CnStatus cni_fields_check(const CniField *fields, const char *sort, void *def);

// Copy the fields whose bits are set, in the order of the table.
void cni_fields_copy(const CniField *fields, uint64_t bits, const void *from, void *to);

// Are all fields of two definitions the same, bit by bit?
int cni_fields_equal(const CniField *fields, const void *a, const void *b);

// Every definition begins with its size and a tag of its sort. Looked at before anything else: a
// definition that was not made by the default function of this version is refused.
CnStatus cni_def_check(const char *sort, const void *def, size_t size, uint32_t tag);

// ---- checks of single values: what names the field in the message ----

CnStatus cni_check_vec3(const char *what, CnVec3 value);
// Finite with a rotation that is not zero, which is brought to length one. A rotation that has it
// to rounding keeps its bits, so that reading a pose and writing it back changes nothing.
CnStatus cni_check_pose(const char *what, CnPose *pose);
CnStatus cni_check_twist(const char *what, const CnTwist *twist);

#endif
