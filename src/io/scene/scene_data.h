// SPDX-License-Identifier: Apache-2.0
// A scene as it is kept, every number evaluated. Part of scene_private.h.
#ifndef CNI_IO_SCENE_DATA_H
#define CNI_IO_SCENE_DATA_H

#include <cairn/scene.h>
#include <cairn/world.h>

#include "core/memory.h"
#include "io/tools/inputs.h"
#include "model/model.h"

typedef struct CniSceneParameter {
  const char *name, *summary;
  double value, default_value;
  int32_t used; // an expression outside /parameters reads it, or one that is read does
  int32_t derived;
} CniSceneParameter;

// Shapes under one name, which bodies use as often as they like: [first, first + count) of the
// reader's list.
typedef struct CniScenePart {
  int32_t first, count;
} CniScenePart;

typedef struct CniSceneBody {
  CnBodyDef def;
  CnMotionDef motion; // slots of functions are their numbers here, from 1 on; size 0: none
  int32_t first_shape, shape_count;
  double color[4]; // red, green, blue, opacity, 0 .. 1; color[0] < 0: none, opacity < 0: none
  CnBodyInfo info; // its mass, centre and inertia; of a body of a source once it is let go
} CniSceneBody;

// A box of the world.
typedef struct CniRegion {
  CnVec3 low, high; // m
} CniRegion;

// Bodies [first, first + count) wait in it until they are let go, one by one.
typedef struct CniSceneSource {
  const char *name;
  int32_t first, count, most; // most: that are let go in all
  int32_t turn, recycle;
  double rate, start, end; // 1/s, s, s
  CniRegion region;
  // while a world runs
  double base;   // s, since when the rate is kept
  int64_t since; // let go since then
  int64_t made;  // in all
  int64_t tries; // places tried for the one that is due
} CniSceneSource;

// Bodies of sources that come here are taken away.
typedef struct CniSceneSink {
  const char *name;
  CniRegion region;
  int64_t count; // taken so far
  double mass;   // kg
} CniSceneSink;

typedef struct CniSceneShape {
  CnShapeDef def;
  int32_t material; // -1: none
  int32_t geometry; // -1: none
} CniSceneShape;

typedef struct CniSceneFunction {
  CnFunctionDef def;
  double *points; // times, values; null: none
} CniSceneFunction;

typedef struct CniSceneCurve {
  CnCurveDef def;
  double *points; // x, y, bulges, one more of each than there are
} CniSceneCurve;

typedef struct CniSceneGeometry {
  const char *name; // null: given with a shape
  int32_t first_point, point_count;
  int32_t first_corner, triangle_count; // of a mesh; 0 triangles: a hull of the points
  int32_t lone_edges;                   // of a mesh that is not closed
  int32_t two_sided, part_count; // parts: it and so many that follow are one thing, from here on
  double thickness;
  double *heights; // of a height field, which has neither points nor triangles; null otherwise
  int32_t x_count, y_count;
  double x_spacing, y_spacing;
  CnGeometryId id; // in the reader's model
} CniSceneGeometry;

// A file that the scene is made of.
typedef struct CniSceneFile {
  const char *name; // as the scene has it
  uint64_t hash;
} CniSceneFile;

// Two bodies that do not meet.
typedef struct CniScenePair {
  int32_t a, b;
} CniScenePair;

// The law of two materials.
typedef struct CniSceneLaw {
  int32_t a, b;
  CnMaterialDef def;
} CniSceneLaw;

typedef struct CniSceneCoupling {
  CnCouplingDef def; // slots of joints are their numbers here, from 1 on
} CniSceneCoupling;

// The slots of a motor's function and of curves are their numbers here, from 1 on.
typedef struct CniSceneJoint {
  CnJointDef def;
  int32_t body_a, body_b; // -1: the ground
} CniSceneJoint;

typedef struct CniSceneForce {
  CnForceDef def;
  int32_t body_a, body_b; // -1: the ground
} CniSceneForce;

// One series of a sensor. The ids are those that an empty world gives in order of creation; filling
// a world writes what it gave.
typedef struct CniSceneSensor {
  const char *name;
  int32_t kind, component;        // rows of the tables in scene_sensors.c
  int32_t body_a, body_b;         // -1: none
  int32_t joint, force, coupling; // -1: none
  int32_t coordinate;             // of the joint
  CnBodyId body_a_id, body_b_id;
  CnJointId joint_id;
  CnForceId force_id;
  CnCouplingId coupling_id;
  CnVec3 point;         // in the body frame; of a plane: on it
  CnVec3 normal;        // of a plane
  CniRegion region;     // in which bodies count
  uint32_t group;       // bit of the category of bodies that count; 0: all
  int32_t source, sink; // -1: none
  // what is made of the values, from a time on
  int32_t statistic; // 0: none, the value itself
  double from;       // s
  // while a world runs
  int64_t samples;
  double sum, extreme;           // of the statistic
  double count, mass, step_mass; // that went through the plane, and in the last step
  CnVec3 before, now; // velocity at the end of the step before the last one, and of the last
} CniSceneSensor;

// Settings and which of them the scene mentions: a bit a field, in the order of the tables.
typedef struct CniSceneSettings {
  CnWorldDef def;
  uint64_t world, solver, integration;
  double time;
} CniSceneSettings;

struct CnScene {
  CnAllocator allocator;
  CniTextPool texts;
  const char *name, *title, *description;
  const char *text;
  size_t text_size;
  uint64_t seed;
  CniSceneSettings settings;
  CniSceneParameter *parameters;
  CnMaterialDef *materials;
  CniSceneGeometry *geometries;
  CnVec3 *points;   // of all geometries
  int32_t *corners; // of the triangles of all meshes
  int32_t corner_count, corner_capacity;
  CniSceneFile *files;
  int32_t file_count, file_capacity;
  CnSceneOptions options; // of its files; of use while it is read
  const char *files_text; // a line a file
  CniInputs inputs;       // where they are, with those that became part of its text
  CniSceneBody *bodies;
  CniSceneShape *shapes;
  CniSceneJoint *joints;
  CniSceneForce *forces;
  CniSceneFunction *functions;
  CniSceneCurve *curves;
  int32_t curve_count, curve_capacity;
  CniSceneCoupling *couplings;
  CniSceneSensor *sensors;
  CniScenePair *pairs;
  int32_t pair_count, pair_capacity;
  CniSceneLaw *laws;
  int32_t law_count, law_capacity;
  CniSceneSource *sources;
  CniSceneSink *sinks;
  int32_t source_count, source_capacity, sink_count, sink_capacity;
  int32_t pool_first; // the first body of a source; body_count without any
  // while a world runs: bodies as it has them, whether those of sources are let go, how far they are
  // from each plane (body by body)
  CnBodyId *body_ids;
  uint8_t *away;
  double *sides;
  const CnWorld *followed_world; // the last one that was stepped or filled, and where it stands
  int64_t followed_step;
  int32_t live_count, plane_count;
  double (*material_colors)[4];
  int32_t material_color_count, material_color_capacity;
  int32_t parameter_count, material_count, body_count, shape_count, joint_count, force_count;
  int32_t sensor_count, function_count, coupling_count, geometry_count, point_count;
  int32_t geometry_capacity, point_capacity;
  int32_t parameter_capacity, material_capacity, body_capacity, shape_capacity, joint_capacity;
  int32_t force_capacity, sensor_capacity, function_capacity, coupling_capacity;
};

#endif
