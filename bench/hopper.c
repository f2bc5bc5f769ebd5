// SPDX-License-Identifier: Apache-2.0
#include "hopper.h"

#include <math.h>

#define CONE 1.7 // m, its height

static double radius_at(double z) { return .3 + fmin(z, CONE); }

double hopper_places(CnVec3 *places, int32_t count) {
  double z = .6;
  for (int32_t n = 0; n < count; z += .26)
    for (int32_t i = 0; i < 15 * 15 && n < count; i++) {
      CnVec3 p = {.26 * (i % 15 - 7), .26 * (i / 15 - 7), z};
      if (hypot(p.x, p.y) < radius_at(z) - .25) places[n++] = p;
    }
  return z;
}

void hopper_fill(Hopper *h, double top) {
  int32_t *t = h->triangles;
  for (int32_t i = 0; i < HOPPER_VERTICES; i++) {
    double share = 2. * (i / HOPPER_AROUND) / HOPPER_ALONG;
    double z = share <= 1 ? CONE * share : CONE + (top - CONE) * (share - 1);
    double angle = 2 * acos(-1) * (i % HOPPER_AROUND) / HOPPER_AROUND, r = radius_at(z);
    h->vertices[i] = (CnVec3){r * cos(angle), r * sin(angle), z};
  }
  // seen from the axis the corners go round counter-clockwise
  for (int32_t j = 0; j < HOPPER_ALONG; j++)
    for (int32_t i = 0; i < HOPPER_AROUND; i++) {
      int32_t a = j * HOPPER_AROUND + i, b = j * HOPPER_AROUND + (i + 1) % HOPPER_AROUND;
      const int32_t six[6] = {a, a + HOPPER_AROUND, b + HOPPER_AROUND, a, b + HOPPER_AROUND, b};
      for (int32_t k = 0; k < 6; k++) *t++ = six[k];
    }
}
