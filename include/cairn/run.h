/// Run files: what a simulation left behind, read back. HDF5; the layout is docs/run-file.md. A run
/// that is still being written, or was killed, can be read up to its last flush. Part of
/// libcairn-io.
#ifndef CAIRN_RUN_H
#define CAIRN_RUN_H

#include <cairn/base.h>
#include <cairn/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CnRun CnRun;

CN_API CnStatus cn_run_open(const char *path, const CnAllocator *allocator, CnRun **run);
CN_API void cn_run_close(CnRun *run);

/// What the run was. Strings live as long as the run.
typedef struct CnRunInfo {
  const char *cairn_version, *scene_name, *scene_title, *scene_text;
  const char *integrator, *solver;
  CnFrictionModel friction;
  CnVec3 gravity;
  double time_step;
  int32_t iterations; ///< budget a step
  double tolerance;
  uint64_t seed;
  int32_t worker_count;
  int32_t body_count, shape_count, joint_count;
  int32_t parameter_count; ///< parameters of the scene with the values used
  int64_t step_count;      ///< steps with scalars
  int64_t frame_count;
  int32_t scalar_count, sensor_count;
  int32_t complete; ///< 1 if the run was closed in order
} CnRunInfo;
CN_API void cn_run_info(const CnRun *run, CnRunInfo *info);

typedef struct CnRunParameter {
  const char *name;
  double value;
} CnRunParameter;
CN_API CnStatus cn_run_parameter(const CnRun *run, int32_t index, CnRunParameter *parameter);

/// A body as it stood in the file.
typedef struct CnRunBody {
  const char *name; ///< "" without one
  CnBodyKind kind;
  double mass; ///< kg
} CnRunBody;
CN_API CnStatus cn_run_body(const CnRun *run, int32_t index, CnRunBody *body);

/// A shape: body is an index of cn_run_body, pose in the body frame.
typedef struct CnRunShape {
  int32_t body;
  CnShapeKind kind;
  CnPose pose;
  double radius;    ///< m, sphere
  CnVec3 half_size; ///< m, box
} CnRunShape;
CN_API CnStatus cn_run_shape(const CnRun *run, int32_t index, CnRunShape *shape);

/// One frame: time, and poses and twists of the body frames (body_count each; twists may be NULL).
CN_API CnStatus cn_run_frame(CnRun *run, int64_t index, double *time, CnPose *poses,
                             CnTwist *twists);

/// Series with one value per step: scalars (kinetic_energy, contacts, ...) and the scene's sensors.
typedef struct CnRunSeries {
  const char *name, *unit;
} CnRunSeries;
CN_API CnStatus cn_run_scalar(const CnRun *run, int32_t index, CnRunSeries *series);
CN_API CnStatus cn_run_sensor(const CnRun *run, int32_t index, CnRunSeries *series);

/// Values of a series by name, steps first .. first + count - 1. "time" is a series too.
CN_API CnStatus cn_run_values(CnRun *run, const char *name, int64_t first, int64_t count,
                              double *values);

#ifdef __cplusplus
}
#endif
#endif
