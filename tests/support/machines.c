// SPDX-License-Identifier: Apache-2.0
#include "machines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "source_dir.h"

static Machine open_machine(const char *name, const CnSetting *settings, int32_t workers,
                            int32_t balance) {
  Machine m = {.def = cn_world_def_default()};
  char path[512];
  int32_t count = 0;
  while (settings && settings[count].key) count++;
  snprintf(path, sizeof path, CAIRN_SOURCE_DIR "/examples/machines/%s.json", name);
  if (cn_scene_open(path, settings, count, NULL, &m.scene) != CN_OK)
    fail_msg("%s", cn_error_message());
  cn_scene_info(m.scene, &m.info);
  cn_scene_world_def(m.scene, &m.def);
  m.def.worker_count = workers;
  m.def.balance = balance;
  CHECK_OK(cn_world_create(&m.def, &m.world));
  CHECK_OK(cn_scene_fill(m.scene, m.world));
  CHECK(m.info.sensor_count <= MACHINE_SENSORS);
  return m;
}

Machine machine_open(const char *name, const CnSetting *settings) {
  return open_machine(name, settings, 1, 0);
}

Machine machine_open_with(const char *name, const CnSetting *settings, int32_t workers) {
  return open_machine(name, settings, workers, 1);
}

void machine_close(Machine *machine) {
  cn_world_destroy(machine->world);
  cn_scene_destroy(machine->scene);
}

void machine_steps(Machine *machine, int32_t count) {
  for (int32_t i = 0; i < count; i++) CHECK_OK(cn_world_step(machine->world, NULL));
}

double machine_sensor(const Machine *machine, const char *name) {
  double values[MACHINE_SENSORS];
  CnSensorInfo sensor;
  CHECK_OK(cn_scene_measure(machine->scene, machine->world, values));
  for (int32_t i = 0; i < machine->info.sensor_count; i++) {
    CHECK_OK(cn_scene_sensor(machine->scene, i, &sensor));
    if (strcmp(sensor.name, name) == 0) return values[i];
  }
  fail_msg("no sensor %s", name);
  return 0;
}

double machine_open_by(const Machine *machine) {
  const CnWorld *world = machine->world;
  double open = 0;
  for (CnJointId j = cn_world_next_joint(world, (CnJointId){0, 0}); j.slot;
       j = cn_world_next_joint(world, j)) {
    CnJointState at;
    CHECK_OK(cn_joint_state(world, j, &at));
    open = fmax(open, at.error);
  }
  return open;
}
