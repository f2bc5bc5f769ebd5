// SPDX-License-Identifier: Apache-2.0
#include <cairn/numbers.h>
#include "scene_g.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

double scene_g_side(int32_t count) {
  const double r = SCENE_G_RADIUS;
  return cn_cbrt(count * (4.0 / 3.0 * PI * r * r * r) / 0.60);
}

void scene_g_positions(int32_t count, double *positions) {
  const double spacing = 2.02 * SCENE_G_RADIUS;
  int32_t row = (int32_t)floor((scene_g_side(count) - spacing) / spacing) + 1;
  double first = -0.5 * spacing * (row - 1);
  uint64_t seed = 1;
  for (int32_t i = 0; i < count; i++) {
    double *p = positions + 3 * (size_t)i;
    int32_t layer = i / (row * row), in_layer = i % (row * row);
    p[0] = first + spacing * (in_layer % row);
    p[1] = first + spacing * (in_layer / row);
    p[2] = 0.5 * spacing + spacing * layer;
    // a hundredth of the radius of disorder, three draws a sphere in the order x y z
    for (int32_t k = 0; k < 3; k++) p[k] += (2 * cn_random(&seed) - 1) * 0.01 * SCENE_G_RADIUS;
  }
}

void scene_g_planes(int32_t count, double *planes) {
  double d = -0.5 * scene_g_side(count);
  const double all[SCENE_G_PLANES][4] = {
      {0, 0, 1, 0}, {1, 0, 0, d}, {-1, 0, 0, d}, {0, 1, 0, d}, {0, -1, 0, d}};
  memcpy(planes, all, sizeof all);
}
