// SPDX-License-Identifier: Apache-2.0
// Packing of poses: the stated accuracy, and the ends of the grid.
#include "check.h"

#include "core/rng.h"
#include "core/vec.h"
#include "view/view_private.h"

// A random unit quaternion by rejection.
static CnQuat random_rotation(CniRng *rng) {
  for (;;) {
    CnQuat q = {2 * cni_rng_unit(rng) - 1, 2 * cni_rng_unit(rng) - 1, 2 * cni_rng_unit(rng) - 1,
                2 * cni_rng_unit(rng) - 1};
    double n = cn_qnorm2(q);
    if (n > 0.01 && n < 1) return cn_qunit(q);
  }
}

// Half a step of the grid along each axis, and both corners exactly.
static void positions(void **state) {
  (void)state;
  CniPackBox box = cni_pack_box_empty();
  const CnVec3 low = {-3, 10, 1e-3}, high = {5, 10, 2e-3};
  cni_pack_box_add(&box, high);
  cni_pack_box_add(&box, low);
  cni_pack_box_close(&box);
  uint16_t words[3];
  cni_pack_position(&box, low, words);
  CnVec3 back = cni_unpack_position(&box, words);
  CHECK_NEAR(cn_norm(cn_sub(back, low)), 0, 0);
  cni_pack_position(&box, high, words);
  CHECK(words[0] == 65535 && words[1] == 0 && words[2] == 65535);
  back = cni_unpack_position(&box, words);
  CHECK_NEAR(cn_norm(cn_sub(back, high)), 0, 1e-15);

  CniRng rng = {1};
  for (int32_t i = 0; i < 1000; i++) {
    CnVec3 p = {-3 + 8 * cni_rng_unit(&rng), 10, 1e-3 * (1 + cni_rng_unit(&rng))};
    cni_pack_position(&box, p, words);
    back = cni_unpack_position(&box, words);
    CHECK_NEAR(back.x, p.x, 4.0001 / 65535);
    CHECK_NEAR(back.y, 10, 0);
    CHECK_NEAR(back.z, p.z, 0.50001e-3 / 65535);
  }
}

// Three components within half a step of their grid; the fourth follows, so that the whole is a
// unit quaternion and the angle is off by less than 2e-4 rad.
static void rotations(void **state) {
  (void)state;
  CniRng rng = {2};
  double worst = 0;
  for (int32_t i = 0; i < 10000; i++) {
    CnQuat q = random_rotation(&rng);
    uint16_t words[3];
    cni_pack_rotation(q, words);
    CnQuat r = cni_unpack_rotation(words);
    CHECK_NEAR(cn_qnorm2(r), 1, 1e-12);
    double dot = q.w * r.w + q.x * r.x + q.y * r.y + q.z * r.z;
    worst = cn_max(worst, 2 * sqrt(cn_max(0, 2 - 2 * fabs(dot))));
  }
  CHECK(worst > 1e-6);
  CHECK(worst < 2e-4);
}

// q and -q are one rotation and one packing; each component can be the missing one.
static void signs(void **state) {
  (void)state;
  const CnQuat units[4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  for (int32_t k = 0; k < 4; k++) {
    CnQuat q = units[k], minus = {-q.w, -q.x, -q.y, -q.z};
    uint16_t a[3], b[3];
    cni_pack_rotation(q, a);
    cni_pack_rotation(minus, b);
    CHECK(a[0] == b[0] && a[1] == b[1] && a[2] == b[2]);
    CnQuat r = cni_unpack_rotation(a);
    CHECK_NEAR(r.w * q.w + r.x * q.x + r.y * q.y + r.z * q.z, 1, 1e-8);
  }
}

// Half precision: known words, and within half a unit of the last place.
static double half_value(uint16_t word) {
  int exponent = word >> 10 & 31, fraction = word & 1023;
  double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
  return word & 0x8000 ? -size : size;
}

static void halves(void **state) {
  (void)state;
  static const struct {
    double value;
    uint16_t word;
  } known[] = {{0, 0},           {1, 0x3c00},      {-2, 0xc000},        {0.1, 0x2e66},
               {65504, 0x7bff},  {1e9, 0x7bff},    {-INFINITY, 0xfbff}, {0x1p-24, 1},
               {0x1p-14, 0x400}, {2047.9, 0x6800}, {0x1p-26, 0}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    CHECK(cni_pack_half(known[i].value) == known[i].word);
  CniRng rng = {3};
  for (int32_t i = 0; i < 10000; i++) {
    double x = ldexp(2 * cni_rng_unit(&rng) - 1, (int)(30 * cni_rng_unit(&rng)) - 15);
    double last = ldexp(1, (int)fmax(floor(log2(fabs(x))), -14) - 10);
    CHECK_NEAR(half_value(cni_pack_half(x)), x, last / 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(positions),
      cmocka_unit_test(rotations),
      cmocka_unit_test(signs),
      cmocka_unit_test(halves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
