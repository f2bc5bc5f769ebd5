// SPDX-License-Identifier: Apache-2.0
// Scenes of examples/machines in tests: open one with parameters, step it, read its sensors by name.
#ifndef TESTS_MACHINES_H
#define TESTS_MACHINES_H

#include <cairn/scene.h>

#define MACHINE_SENSORS 32

typedef struct Machine {
  CnScene *scene;
  CnWorld *world;
  CnSceneInfo info;
  CnWorldDef def;
} Machine;

// `name` of the file in examples/machines without its ending. `settings` end with a null key, or are null.
Machine machine_open(const char *name, const CnSetting *settings);
// The same with so many workers and the balance of every step kept.
Machine machine_open_with(const char *name, const CnSetting *settings, int32_t workers);
void machine_close(Machine *machine);

void machine_steps(Machine *machine, int32_t count);
// What a sensor shows now.
double machine_sensor(const Machine *machine, const char *name);
// Largest gap of any joint, m.
double machine_open_by(const Machine *machine);

#endif
