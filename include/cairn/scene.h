// SPDX-License-Identifier: Apache-2.0
/// Scenes: worlds written as JSON, with parameters, expressions and generators. The format is
/// docs/scene.md, its JSON Schema docs/scene.schema.json. Part of libcairn-io.
#ifndef CAIRN_SCENE_H
#define CAIRN_SCENE_H

#include <cairn/base.h>
#include <cairn/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CnScene CnScene;

/// A parameter given from outside, as `--set KEY=VALUE` does.
typedef struct CnSetting {
  const char *key;
  double value;
} CnSetting;

/// Open a scene: the name of a built-in one, or the path of a file. Every number is evaluated and
/// every reference resolved here; failures name file, JSON pointer, problem and value: "scene.json:
/// /bodies/3/mass: must be positive (got -1)".
CN_API CnStatus cn_scene_open(const char *name, const CnSetting *settings, int32_t setting_count,
                              const CnAllocator *allocator, CnScene **scene);

/// The same for a scene whose mesh files may lie anywhere below the folder `files`; null: in the
/// folder of the scene or below, as with cn_scene_open.
CN_API CnStatus cn_scene_open_files(const char *name, const char *files, const CnSetting *settings,
                                    int32_t setting_count, const CnAllocator *allocator,
                                    CnScene **scene);

/// How the mesh files of a scene are found and used. Start from cn_scene_options_default().
typedef struct CnSceneOptions {
  uint32_t size, tag; ///< set by cn_scene_options_default
  const char *files;  ///< mesh files may lie below this folder; null (default): the scene's own
  /// 1: convex parts are kept beside their meshes, as CnMeshFileDef has it; default 0.
  int32_t keep_parts;
  const char *parts_folder; ///< where else they are kept; null (default): nowhere
} CnSceneOptions;
/// Files below the scene's folder, nothing kept.
CN_API CnSceneOptions cn_scene_options_default(void);

/// cn_scene_open with options; null: the default ones.
CN_API CnStatus cn_scene_open_with(const char *name, const CnSceneOptions *options,
                                   const CnSetting *settings, int32_t setting_count,
                                   const CnAllocator *allocator, CnScene **scene);

/// The same from text; `label` stands for the file's name in messages; mesh files
/// are looked for in its folder.
CN_API CnStatus cn_scene_parse(const char *text, size_t size, const char *label,
                               const CnSetting *settings, int32_t setting_count,
                               const CnAllocator *allocator, CnScene **scene);
/// Release a scene. Null is allowed.
CN_API void cn_scene_destroy(CnScene *scene);

/// What a scene says of itself. Strings live as long as the scene.
typedef struct CnSceneInfo {
  const char *name; ///< of the built-in scene, or the path or label given
  const char *title, *description;
  const char *text; ///< the JSON as read, text_size bytes and a final zero
  size_t text_size;
  double time;   ///< s, how long a run is meant to be
  uint64_t seed; ///< of its random generators
  int32_t parameter_count, sensor_count;
  int32_t body_count, shape_count, material_count, joint_count, force_count;
} CnSceneInfo;
/// Name, text, seed and sizes of a scene.
CN_API void cn_scene_info(const CnScene *scene, CnSceneInfo *info);

/// CN_OK unless writing to `output` would take away one of the files that the scene is made of: its own, included
/// ones, meshes, robots. Recorders, checkpoints and pages ask it themselves.
CN_API CnStatus cn_scene_check_output(const CnScene *scene, const char *output);

typedef struct CnSceneParameter {
  const char *name, *summary; ///< summary "" without one
  double value, default_value;
  int32_t used;    ///< 1 if an expression of the scene reads it
  int32_t derived; ///< 1 if its default is an expression without a summary: a helper of the scene
} CnSceneParameter;
/// Parameter `index`; its strings live as long as the scene.
CN_API CnStatus cn_scene_parameter(const CnScene *scene, int32_t index,
                                   CnSceneParameter *parameter);

/// Put the scene's settings (gravity, time step, solver, friction model, ...) over those in *def;
/// what the scene does not mention stays.
CN_API void cn_scene_world_def(const CnScene *scene, CnWorldDef *def);

/// Kind of the index-th joint; CN_JOINT_KIND_NONE (own_joint.h) past the last one.
CN_API CnJointKind cn_scene_joint_kind(const CnScene *scene, int32_t index);

/// Create all materials, bodies, shapes and joints in an empty world. Only memory can be wanting;
/// then the world is empty again.
CN_API CnStatus cn_scene_fill(CnScene *scene, CnWorld *world);

/// A quantity that a run records every step.
typedef struct CnSensorInfo {
  const char *name, *unit;
} CnSensorInfo;
/// Name and unit of sensor `index`; they live as long as the scene.
CN_API CnStatus cn_scene_sensor(const CnScene *scene, int32_t index, CnSensorInfo *sensor);

/// One step of a world that this scene has filled: cn_world_step, and before it the scene's sources let
/// bodies go and its sinks take bodies away, and after it its sensors that look back (flow, acceleration,
/// extremes and means) are brought up to date. A scene that has none of these may be stepped by
/// cn_world_step as well.
CN_API CnStatus cn_scene_step(CnScene *scene, CnWorld *world, CnStepReport *report);

/// A source of bodies while a world runs.
typedef struct CnSourceInfo {
  const char *name; ///< "" without one
  int64_t made;     ///< bodies let go so far
  int64_t
      due; ///< how many its rate asks for up to the last step, as far as it has them; more than `made`
           ///< where its region was seldom free, or all bodies were out
  int32_t waiting; ///< bodies that could be let go now
} CnSourceInfo;
/// Source `index` of a scene whose world stands where cn_scene_step has brought it.
CN_API CnStatus cn_scene_source(const CnScene *scene, const CnWorld *world, int32_t index,
                                CnSourceInfo *source);

/// What sources, sinks and sensors that look back have come to, as bytes beside a snapshot of the world.
/// `data` null: only *size is told.
CN_API CnStatus cn_scene_save(const CnScene *scene, void *data, size_t capacity, size_t *size);

/// Go on from cn_scene_save, with the world as it was then. The scene may be one that was opened anew,
/// with the same text and parameters.
CN_API CnStatus cn_scene_restore(CnScene *scene, const CnWorld *world, const void *data,
                                 size_t size);

/// Give a world that the scene `from` has filled, and that may have run since, the numbers of `to`, another
/// reading of the same scene with other parameters: materials and laws of pairs, functions, what forces and
/// coordinates of joints are given, masses; settings are changed by cn_world_set_settings. Positions and
/// velocities stay. CN_INVALID_DATA, and nothing has changed, where the two differ in what there is or where.
CN_API CnStatus cn_scene_change(const CnScene *from, const CnScene *to, CnWorld *world);

/// Color of body `index` (in the order of creation): red, green, blue, opacity, each 0 .. 1; those that
/// the scene does not give are negative.
CN_API CnStatus cn_scene_body_color(const CnScene *scene, int32_t index, double color[4]);

/// Read all sensors in a world that this scene has filled (or that was restored from such a one).
/// Those that look back tell of steps made by cn_scene_step.
CN_API CnStatus cn_scene_measure(const CnScene *scene, const CnWorld *world, double *values);

/// The built-in scenes: name and summary of number `index`, null past the end.
CN_API const char *cn_builtin_scene_name(int32_t index);
/// Summary of the built-in scene number `index`, null past the end.
CN_API const char *cn_builtin_scene_summary(int32_t index);

#ifdef __cplusplus
}
#endif
#endif
