// SPDX-License-Identifier: Apache-2.0
#include "known.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define TEXT 8192
#define SENSORS 64

const char *const known_integrators[4] = {"impulse", "moreau-jean", "hem5", "rkf45"};

Known known_open(const char *integrator, double h, const char *text, ...) {
  Known k = {.integrator = integrator, .h = h};
  CnWorldDef def = cn_world_def_default();
  char all[TEXT];
  va_list more;
  va_start(more, text);
  int length = vsnprintf(all, sizeof all, text, more);
  va_end(more);
  CHECK(length > 0 && length < TEXT);
  for (char *c = all; *c; c++)
    if (*c == '\'') *c = '"';
  if (cn_scene_parse(all, (size_t)length, "known", NULL, 0, NULL, &k.scene) != CN_OK)
    fail_msg("%s", cn_error_message());
  cn_scene_info(k.scene, &k.info);
  cn_scene_world_def(k.scene, &def);
  def.integrator = integrator;
  def.time_step = h;
  def.balance = 1;
  def.solver.effort = CN_EFFORT_EXACT;
  if (strcmp(integrator, "hem5") == 0 || strcmp(integrator, "rkf45") == 0)
    def.integration.tolerance = 1e-10;
  CHECK_OK(cn_world_create(&def, &k.world));
  CHECK_OK(cn_scene_fill(k.scene, k.world));
  CHECK(k.info.sensor_count <= SENSORS);
  return k;
}

void known_close(Known *k) {
  cn_world_destroy(k->world);
  cn_scene_destroy(k->scene);
}

void known_steps(Known *k, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    CnStepBalance b;
    if (cn_scene_step(k->scene, k->world, NULL) != CN_OK)
      fail_msg("%s: %s", k->integrator, cn_error_message());
    CHECK_OK(cn_world_balance(k->world, &b));
    for (int32_t p = 0; p < CN_BALANCE_PART_COUNT; p++) k->work[p] += b.parts[p].energy;
    k->left = fmax(k->left, fabs(b.residual.energy));
    k->brought += b.change.energy;
  }
}

double known_time(const Known *k) {
  CnWorldInfo info;
  cn_world_info(k->world, &info);
  return info.time;
}

void known_until(Known *k, double time) {
  known_steps(k, (int32_t)floor((time - known_time(k)) / k->h + 0.5));
  if (getenv("KNOWN_SHOW")) known_show(k);
}

double known(const Known *k, const char *name) {
  double values[SENSORS];
  CnSensorInfo sensor;
  CHECK_OK(cn_scene_measure(k->scene, k->world, values));
  for (int32_t i = 0; i < k->info.sensor_count; i++) {
    CHECK_OK(cn_scene_sensor(k->scene, i, &sensor));
    if (strcmp(sensor.name, name) == 0) return values[i];
  }
  fail_msg("no sensor %s", name);
  return 0;
}

double known_when(Known *k, const char *sensor, double value, double latest) {
  double now = known(k, sensor) - value;
  while (known_time(k) < latest) {
    double old = now;
    known_steps(k, 1);
    now = known(k, sensor) - value;
    if (old * now <= 0 && old != now) return known_time(k) - k->h * now / (now - old);
  }
  fail_msg("%s: %s does not come to %g before %g s", k->integrator, sensor, value, latest);
  return 0;
}

void known_show(const Known *k) {
  double values[SENSORS];
  CnSensorInfo sensor;
  printf("%s, h %g, t %g:", k->integrator, k->h, known_time(k));
  for (int32_t i = 0; i < CN_BALANCE_PART_COUNT; i++)
    printf(" %s %.6g", cn_balance_part_name(i), k->work[i]);
  printf(" brought %.6g left %.2g", k->brought, k->left);
  CHECK_OK(cn_scene_measure(k->scene, k->world, values));
  for (int32_t i = 0; i < k->info.sensor_count; i++) {
    CHECK_OK(cn_scene_sensor(k->scene, i, &sensor));
    printf(" %s=%.8g", sensor.name, values[i]);
  }
  printf("\n");
}
