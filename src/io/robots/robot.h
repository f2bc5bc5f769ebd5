// SPDX-License-Identifier: Apache-2.0
// Robot descriptions (URDF, MJCF) as scenes. A description is translated into the JSON of a scene, and
// that is what runs: `cairn convert` writes the same text.
#ifndef CNI_IO_ROBOTS_ROBOT_H
#define CNI_IO_ROBOTS_ROBOT_H

#include <cairn/scene.h>
#include <jansson.h>

#include "io/robots/xml.h"
#include "io/tools/inputs.h"

// How a robot is put into a scene.
typedef struct CniRobotDef {
  const char *path;   // of the file, for messages and to find others beside it
  const char *prefix; // before all names; "" for none
  CnPose place;       // of its world
  // starts of joints by name, "floating" 1: the base of a URDF is free, "keyframe" n: of an MJCF
  const CnSetting *settings;
  int32_t setting_count;
  CniInputs *inputs; // its other files are noted here; null: nowhere
} CniRobotDef;

// 1 if a text is XML.
int cni_robot_is(const char *text, size_t size);
// The scene of a description as JSON, a new reference.
CnStatus cni_robot_read(const CniRobotDef *def, const char *text, size_t size,
                        const CnAllocator *allocator, json_t **scene);
// The same as text, allocated (length + 1 bytes).
CnStatus cni_robot_text(const CniRobotDef *def, const char *text, size_t size,
                        const CnAllocator *allocator, char **scene, size_t *length);

// JSON as text that a person can edit: short lists and objects in one line, numbers in the fewest
// digits that read back the same.
CnStatus cni_json_text(const json_t *value, const CnAllocator *allocator, char **text,
                       size_t *length);

// Put the robots of "models" into the lists of a scene; the list goes. `label` is the scene's path;
// files that are read are noted.
CnStatus cni_robot_models(json_t *root, const char *label, CniInputs *inputs,
                          const CnAllocator *allocator);

#endif
