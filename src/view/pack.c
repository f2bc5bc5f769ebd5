// SPDX-License-Identifier: Apache-2.0
// Poses in 12 bytes. Positions on a grid of the body's own, rotations by the three smaller
// components of the quaternion. The page decodes with the same operations in the same order, so
// the errors measured here are the ones a reader gets.
#include "view/view_private.h"

#define GRID 65535.0
#define TURN 32766.0                  // even: zero is on the grid
#define HALF_ROOT 0.70710678118654757 // 1/sqrt 2: bound of all but the largest component

CniPackBox cni_pack_box_empty(void) {
  return (CniPackBox){.low = {INFINITY, INFINITY, INFINITY},
                      .high = {-INFINITY, -INFINITY, -INFINITY}};
}

void cni_pack_box_add(CniPackBox *box, CnVec3 point) {
  const double p[3] = {point.x, point.y, point.z};
  for (int32_t k = 0; k < 3; k++) {
    box->low[k] = fmin(box->low[k], p[k]);
    box->high[k] = fmax(box->high[k], p[k]);
  }
}

void cni_pack_box_close(CniPackBox *box) {
  for (int32_t k = 0; k < 3; k++) {
    if (box->low[k] > box->high[k]) box->low[k] = box->high[k] = 0;
    box->step[k] = (box->high[k] - box->low[k]) / GRID;
  }
}

static uint16_t nearest(double value, double largest) {
  return (uint16_t)fmin(fmax(floor(value + 0.5), 0), largest);
}

void cni_pack_position(const CniPackBox *box, CnVec3 position, uint16_t words[3]) {
  const double p[3] = {position.x, position.y, position.z};
  for (int32_t k = 0; k < 3; k++)
    words[k] = box->step[k] > 0 ? nearest((p[k] - box->low[k]) / box->step[k], GRID) : 0;
}

CnVec3 cni_unpack_position(const CniPackBox *box, const uint16_t words[3]) {
  return (CnVec3){box->low[0] + words[0] * box->step[0], box->low[1] + words[1] * box->step[1],
                  box->low[2] + words[2] * box->step[2]};
}

void cni_pack_rotation(CnQuat rotation, uint16_t words[3]) {
  const double q[4] = {rotation.w, rotation.x, rotation.y, rotation.z};
  uint32_t largest = 0;
  for (uint32_t k = 1; k < 4; k++)
    if (fabs(q[k]) > fabs(q[largest])) largest = k;

  // the sign that makes the missing component positive
  double sign = q[largest] < 0 ? -1 : 1;
  for (uint32_t k = 0, n = 0; k < 4; k++) {
    if (k == largest) continue;
    double share = (sign * q[k] + HALF_ROOT) / (2 * HALF_ROOT);
    words[n++] = nearest(share * TURN, TURN);
  }
  words[0] = (uint16_t)(words[0] | (largest & 1) << 15);
  words[1] = (uint16_t)(words[1] | (largest >> 1) << 15);
}

CnQuat cni_unpack_rotation(const uint16_t words[3]) {
  uint32_t largest = (uint32_t)(words[0] >> 15) | (uint32_t)(words[1] >> 15) << 1;
  double q[4] = {0, 0, 0, 0}, rest = 1;
  for (uint32_t k = 0, n = 0; k < 4; k++) {
    if (k == largest) continue;
    q[k] = (words[n++] & 0x7fff) / TURN * (2 * HALF_ROOT) - HALF_ROOT;
    rest -= q[k] * q[k];
  }
  q[largest] = sqrt(fmax(rest, 0));
  return (CnQuat){q[0], q[1], q[2], q[3]};
}

// Ten bits of fraction behind a leading one, five of exponent; below 2^-14 the fraction alone.
uint16_t cni_pack_half(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double size = fabs(value);
  if (!(size < 65520)) return (uint16_t)(sign | 0x7bff);
  int exponent;
  frexp(size, &exponent); // size is below 2^exponent, at least half of it
  int power = exponent - 1 < -14 ? -14 : exponent - 1;
  uint32_t steps = (uint32_t)nearbyint(ldexp(size, 10 - power)); // units of the last place
  // steps of 2048 carry into the next power by themselves
  uint32_t bits = steps < 1024 ? steps : steps - 1024 + ((uint32_t)(power + 15) << 10);
  return (uint16_t)(sign | bits);
}
