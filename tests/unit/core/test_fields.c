// SPDX-License-Identifier: Apache-2.0
// Descriptions of definition structs: defaults, ranges and their edges, messages, equality, words.

#include "check.h"
#include "core/fields.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef enum Side { LEFT = 0, RIGHT } Side;

typedef struct Toy {
  double length;
  int32_t count, open;
  uint32_t bits;
  Side side;
  const char *tool;
  CnVec3 size;
  CnPose frame;
  CnTwist twist;
  CnSym3 tensor;
} Toy;

static const char *tool_name(int32_t index) {
  static const char *const names[] = {"saw", "file", "drill"};
  return index >= 0 && index < 3 ? names[index] : NULL;
}

static const char *const sides[] = {"left", "right", NULL};

static const CniField toy[] = {
    {"length", CNI_FIELD_REAL, CNI_POSITIVE, offsetof(Toy, length), {2.5}, "m", "", .where = 0},
    {"count", CNI_FIELD_INTEGER, CNI_AT_LEAST_1, offsetof(Toy, count), {7}, "", "", .where = 0},
    {"open", CNI_FIELD_FLAG, CNI_ANY, offsetof(Toy, open), {1}, "", "", .where = 0},
    {"bits", CNI_FIELD_BITS, CNI_ANY, offsetof(Toy, bits), {4294967295.0}, "", "", .where = 0},
    {"side", CNI_FIELD_CHOICE, CNI_ANY, offsetof(Toy, side), {1}, "", "", .words = sides},
    {"tool", CNI_FIELD_WORD, CNI_ANY, offsetof(Toy, tool), {2}, "", "", .table = tool_name},
    {"size", CNI_FIELD_VEC3, CNI_NOT_NEGATIVE, offsetof(Toy, size), {1, 2, 3}, "m", "", .where = 0},
    {"frame", CNI_FIELD_POSE, CNI_ANY, offsetof(Toy, frame), {0}, "", "", .where = 0},
    {"twist", CNI_FIELD_TWIST, CNI_ANY, offsetof(Toy, twist), {0}, "", "", .where = 0},
    {"tensor", CNI_FIELD_SYM3, CNI_ANY, offsetof(Toy, tensor), {0}, "", "", .where = 0},
    CNI_FIELDS_END,
};

static Toy toy_default(void) {
  Toy x;
  memset(&x, 0xee, sizeof x);
  cni_fields_default(toy, &x);
  return x;
}

static void defaults(void **state) {
  (void)state;
  Toy x = toy_default();
  CHECK(x.length == 2.5 && x.count == 7 && x.open == 1 && x.bits == 0xffffffffu);
  CHECK(x.side == RIGHT);
  assert_string_equal(x.tool, "drill");
  CHECK(x.size.x == 1 && x.size.y == 2 && x.size.z == 3);
  CHECK(x.frame.rotation.w == 1 && x.frame.rotation.z == 0 && x.frame.position.y == 0);
  CHECK(x.twist.spin.z == 0 && x.tensor.yz == 0);
  CHECK(cni_fields_check(toy, "toy", &x) == CN_OK);
}

static void names_and_sizes(void **state) {
  (void)state;
  CHECK(cni_field_count(toy) == 10);
  CHECK(cni_field_find(toy, "size") == &toy[6]);
  CHECK(cni_field_find(toy, "siz") == NULL);
  CHECK(cni_field_size(&toy[0]) == sizeof(double) && cni_field_size(&toy[4]) == sizeof(Side));
  CHECK(cni_field_size(&toy[7]) == sizeof(CnPose) && cni_field_doubles(&toy[7]) == 7);
  CHECK(cni_field_word_index(&toy[4], "right") == 1 && cni_field_word_index(&toy[4], "up") == -1);
  CHECK(cni_field_word_index(&toy[5], "file") == 1 && cni_field_word(&toy[4], 2) == NULL);
  CHECK(cni_field_word(&toy[4], 9) == NULL && cni_field_word(&toy[4], -1) == NULL);
  for (int32_t i = 0; i < CNI_FIELD_TYPE_COUNT; i++) CHECK(cni_field_type_name((CniFieldType)i));
}

// Every range at its edges: what is just inside holds, what is just outside does not.
static void ranges(void **state) {
  (void)state;
  static const struct {
    CniRange range;
    double inside[4], outside[4];
  } cases[] = {
      {CNI_ANY, {0, -1e308, 1e308, 1}, {INFINITY, -INFINITY, NAN, NAN}},
      {CNI_POSITIVE, {5e-324, 1, 1e308, 2}, {0, -5e-324, INFINITY, NAN}},
      {CNI_NOT_NEGATIVE, {0, -0.0, 1e308, 1}, {-5e-324, -1, INFINITY, NAN}},
      {CNI_SHARE, {0, 1, 0.5, 5e-324}, {-5e-324, 1 + 0x1p-52, INFINITY, NAN}},
      {CNI_POSITIVE_SHARE, {5e-324, 1, 0.5, 0.1}, {0, 1 + 0x1p-52, -1, NAN}},
      {CNI_RELAXATION, {5e-324, 2 - 0x1p-52, 1, 0.1}, {0, 2, -1, NAN}},
      {CNI_BOUND, {INFINITY, -INFINITY, 0, 1}, {NAN, NAN, NAN, NAN}},
      {CNI_UPPER_HALF, {0.5, 1, 0.75, 0.6}, {0.5 - 0x1p-54, 1 + 0x1p-52, 0, NAN}},
      {CNI_AT_LEAST_1, {1, 2, 2147483647, 3}, {0, -1, INFINITY, NAN}},
      {CNI_AT_LEAST_MINUS_1, {-1, 0, 1, 2}, {-2, -1.5, INFINITY, NAN}},
      {CNI_FACETS, {4, 64, 8, 30}, {2, 66, 7, NAN}},
      {CNI_DURATION, {1e-15, 1e9, 1, 0.001}, {0, 1e-16, 1e10, NAN}},
  };
  CHECK(sizeof cases / sizeof cases[0] == CNI_RANGE_COUNT);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int k = 0; k < 4; k++) {
      CHECK(cni_range_holds(cases[i].range, cases[i].inside[k]));
      CHECK(!cni_range_holds(cases[i].range, cases[i].outside[k]));
      CHECK(cni_range_text(cases[i].range)[0] != 0);
    }
}

static void refuse(Toy x, CnStatus status, const char *message) {
  CHECK(cni_fields_check(toy, "toy", &x) == status);
  assert_string_equal(cn_error_message(), message);
}

static void messages(void **state) {
  (void)state;
  Toy x = toy_default();
  x.length = -1;
  refuse(x, CN_INVALID_ARGUMENT, "toy: length must be positive (got -1)");
  x = toy_default();
  x.length = NAN;
  refuse(x, CN_INVALID_ARGUMENT, "toy: length must be finite (got nan)");
  x = toy_default();
  x.count = 0;
  refuse(x, CN_INVALID_ARGUMENT, "toy: count must be at least 1 (got 0)");
  x = toy_default();
  x.open = 2;
  refuse(x, CN_INVALID_ARGUMENT, "toy: open must be 0 or 1 (got 2)");
  x = toy_default();
  x.side = (Side)2;
  refuse(x, CN_INVALID_ARGUMENT, "toy: side has no choice of number 2");
  x = toy_default();
  x.tool = NULL;
  refuse(x, CN_INVALID_ARGUMENT, "toy: tool is null");
  x.tool = "fork";
  refuse(x, CN_INVALID_ARGUMENT, "toy: tool 'fork' is unknown; known: saw, file, drill");
  x = toy_default();
  x.size.y = -2;
  refuse(x, CN_INVALID_ARGUMENT, "toy: size must not be negative (got 1, -2, 3)");
  x = toy_default();
  x.tensor.xz = INFINITY;
  refuse(x, CN_INVALID_ARGUMENT, "toy: tensor must be finite (got 0, 0, 0, 0, inf, 0)");
  x = toy_default();
  x.frame.rotation.w = 0;
  refuse(x, CN_INVALID_ARGUMENT, "toy: frame.rotation must be a unit quaternion (got 0, 0, 0, 0)");
}

// A rotation of another length is brought to one; one that has it keeps its bits.
static void rotations(void **state) {
  (void)state;
  Toy x = toy_default();
  x.frame.rotation = (CnQuat){3e200, 0, 4e200, 0};
  CHECK(cni_fields_check(toy, "toy", &x) == CN_OK);
  CHECK_NEAR(x.frame.rotation.w, 0.6, 1e-15);
  CHECK_NEAR(x.frame.rotation.y, 0.8, 1e-15);
  CnQuat before = x.frame.rotation;
  CHECK(cni_fields_check(toy, "toy", &x) == CN_OK);
  CHECK(memcmp(&before, &x.frame.rotation, sizeof before) == 0);
}

static void equality(void **state) {
  (void)state;
  Toy x = toy_default(), y = toy_default();
  char copy[] = "drill";
  y.tool = copy; // the same word elsewhere
  CHECK(cni_fields_equal(toy, &x, &y));
  y.tool = "saw";
  CHECK(!cni_fields_equal(toy, &x, &y));
  y.tool = NULL;
  CHECK(!cni_fields_equal(toy, &x, &y));
  y = toy_default();
  y.tensor.yz = 1e-300;
  CHECK(!cni_fields_equal(toy, &x, &y));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults), cmocka_unit_test(names_and_sizes), cmocka_unit_test(ranges),
      cmocka_unit_test(messages), cmocka_unit_test(rotations),       cmocka_unit_test(equality),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
