// SPDX-License-Identifier: Apache-2.0
// The records of a snapshot: what of a world is written, thing by thing. A new field of a
// definition is in its table and needs nothing here; a new field of the state is a row of a table
// in records.c.
#ifndef CNI_WORLD_RECORDS_H
#define CNI_WORLD_RECORDS_H

#include "world/snapshot/layout.h"
#include "world/world.h"

typedef struct CniClockRecord {
  double time;
  int64_t step;
} CniClockRecord;

typedef struct CniBodyRecord {
  CnBodyDef def; // pose, twist and name lie beside it
  uint32_t slot, generation;
  int32_t first_shape, last_shape, shape_count, first_joint;
  char name[CNI_NAME_SIZE];
  CnPose pose; // of the centre of mass
  CnTwist twist, load;
} CniBodyRecord;

// Its vertices, and of each face the number of corners and these, come after it; of a mesh the
// vertices and three numbers a triangle.
typedef struct CniGeometryRecord {
  uint32_t slot, generation;
  int32_t vertex_count, face_count;
  int32_t triangle_count; // of a mesh; 0: a hull
  int32_t two_sided;
  double thickness;
  int32_t x_count, y_count; // of a height field, whose heights come after it; 0: none
  double x_spacing, y_spacing;
  char name[CNI_NAME_SIZE];
} CniGeometryRecord;

// In a snapshot nothing comes before the first shape of a body.
typedef struct CniShapeRecord {
  CnShapeDef def;
  uint32_t slot, generation;
  int32_t body, next, previous, material;
} CniShapeRecord;

// A named contact (world.h). The second impulse is there only where something rolls or spins.
typedef struct CniContactRecord {
  CniContact contact;
  CnVec3 linear, angular;
} CniContactRecord;

enum {
  CNI_RECORD_SETTINGS,
  CNI_RECORD_CLOCK,
  CNI_RECORD_SLOT,
  CNI_RECORD_BODY,
  CNI_RECORD_SHAPE,
  CNI_RECORD_MATERIAL,
  CNI_RECORD_JOINT,
  CNI_RECORD_FORCE,
  CNI_RECORD_CACHE,
  CNI_RECORD_CONTACT,
  CNI_RECORD_TURNING,
  CNI_RECORD_EVENT,
  CNI_RECORD_GEOMETRY,
  CNI_RECORD_CURVE,
  CNI_RECORD_FUNCTION,
  CNI_RECORD_MOTION,
  CNI_RECORD_DISABLED,
  CNI_RECORD_COUPLING,
  CNI_RECORD_TERM,
  CNI_RECORD_WATCH,
  CNI_RECORD_NOTE,
  CNI_RECORD_LAW,
  CNI_RECORD_SHAPE_KIND,
  CNI_RECORD_JOINT_KIND = CNI_RECORD_SHAPE_KIND + CN_SHAPE_KIND_COUNT,
  CNI_RECORD_FORCE_KIND = CNI_RECORD_JOINT_KIND + CN_JOINT_KIND_COUNT + CNI_OWN_KINDS,
  CNI_RECORD_COUNT = CNI_RECORD_FORCE_KIND + CN_FORCE_KIND_COUNT + CNI_OWN_KINDS
};

// All of them. Kinds have their names and fields from the rows of their sorts.
void cni_records(CniRecord records[CNI_RECORD_COUNT]);

// What a snapshot of Cairn 0.1 has in the place of a layout.
extern const char *const cni_layout_version_4;

#endif
