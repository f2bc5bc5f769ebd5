// SPDX-License-Identifier: Apache-2.0
/// Run files: what a simulation left behind, read back. HDF5; the layout is docs/run-file.md. A run
/// that is still being written, or was killed, can be read up to its last flush. Part of
/// libcairn-io. HDF5 is not made for several threads: use runs from one thread at a time.
#ifndef CAIRN_RUN_H
#define CAIRN_RUN_H

#include <cairn/base.h>
#include <cairn/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CnRun CnRun;

/// Open a run: `path`, or `path`.partial if only that is there (a run that was killed before it
/// replaced another). What is there at this moment is what this CnRun will show. CN_FILE if the
/// file cannot be read, CN_INVALID_DATA if it is no run file or damaged.
CN_API CnStatus cn_run_open(const char *path, const CnAllocator *allocator, CnRun **run);
/// Close a run. Null is allowed.
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
  int32_t coupling_count;
  int32_t parameter_count; ///< parameters of the scene with the values used
  int64_t step_count;      ///< steps with scalars
  int64_t frame_count;
  int32_t scalar_count, sensor_count;
  int32_t complete;         ///< 1 if the run was closed in order
  double frames_per_second; ///< simulated, as asked; 0: a frame every step
  int64_t first_step;       ///< steps made before the run; frame 0 shows that state
  int32_t contacts_recorded, joints_recorded; ///< 1: with every frame
  int64_t event_count;
  const char *verdict;         ///< CnVerdict::line; "" where the run did not come to its end
  int32_t trusted;             ///< 1, 0, or -1: not known
  double integrator_tolerance; ///< of hem5 and rkf45, which solve no step problems; 0: fixed steps
} CnRunInfo;
/// What the run was: names, settings, sizes, verdict.
CN_API void cn_run_info(const CnRun *run, CnRunInfo *info);

/// CN_OK unless writing to `output` would take away the file of the run (cn_output_check). Pages and exports ask it
/// themselves.
CN_API CnStatus cn_run_check_output(const CnRun *run, const char *output);

typedef struct CnRunParameter {
  const char *name;
  double value;
} CnRunParameter;
/// Parameter `index` of the scene, with the value that was used.
CN_API CnStatus cn_run_parameter(const CnRun *run, int32_t index, CnRunParameter *parameter);

/// A body as it stood in the file.
typedef struct CnRunBody {
  const char *name; ///< "" without one
  CnBodyKind kind;
  double mass; ///< kg
} CnRunBody;
/// Body `index`; its name lives as long as the run.
CN_API CnStatus cn_run_body(const CnRun *run, int32_t index, CnRunBody *body);

/// A shape: body is an index of cn_run_body. Of the definition the kind, the pose in the body frame
/// and the sizes are in the file.
typedef struct CnRunShape {
  int32_t body;
  CnShapeDef def;
} CnRunShape;
/// Shape `index`, shapes of the first body first.
CN_API CnStatus cn_run_shape(const CnRun *run, int32_t index, CnRunShape *shape);

/// A joint: bodies are indices of cn_run_body, -1 for the ground.
typedef struct CnRunJoint {
  const char *name; ///< "" without one
  CnJointKind kind;
  int32_t body_a, body_b;
  CnPose frame_a, frame_b; ///< in the body frames (ground: in the world)
} CnRunJoint;
/// Joint `index`; its name lives as long as the run.
CN_API CnStatus cn_run_joint(const CnRun *run, int32_t index, CnRunJoint *joint);

/// One frame: time, and poses and twists of the body frames (body_count each; twists may be NULL).
CN_API CnStatus cn_run_frame(CnRun *run, int64_t index, double *time, CnPose *poses,
                             CnTwist *twists);

/// Steps made up to a frame; the scalars of a frame are those of index step - first_step - 1.
CN_API CnStatus cn_run_frame_step(CnRun *run, int64_t index, int64_t *step);

/// A contact of a frame, on b, as CnContact has it; bodies and shapes by index.
typedef struct CnRunContact {
  int32_t body_a, body_b, shape_a, shape_b;
  CnVec3 point, normal; ///< m; unit, from a to b
  double gap;           ///< m
  CnVec3 force, torque; ///< N, N m
} CnRunContact;
/// Contacts of a frame, none where they were not recorded. *count is how many there are; the first
/// `capacity` of them are written (NULL with capacity 0 only counts).
CN_API CnStatus cn_run_contacts(CnRun *run, int64_t frame, CnRunContact *contacts, int32_t capacity,
                                int32_t *count);

/// Reactions of all joints in a frame, joint_count states. CN_UNSUPPORTED if they were not
/// recorded.
CN_API CnStatus cn_run_joint_states(CnRun *run, int64_t frame, CnJointState *states);

/// The name of a coupling ("" without one), and what all of them did in a frame, coupling_count states.
/// CN_UNSUPPORTED if reactions were not recorded.
CN_API CnStatus cn_run_coupling(const CnRun *run, int32_t index, const char **name);
/// What all couplings did in a frame, coupling_count states. CN_UNSUPPORTED if reactions were not
/// recorded.
CN_API CnStatus cn_run_coupling_states(CnRun *run, int64_t frame, CnCouplingState *states);

/// Two shapes, by index, began or ceased to touch; or an event that hem5 or rkf45 placed in time.
typedef struct CnRunEvent {
  int64_t step;
  CnContactEventKind kind; ///< unless located
  int32_t shape_a, shape_b;
  int32_t located;  ///< 1: what, speed and impulse are as in CnEvent
  CnEventKind what; ///< if located
  double time;      ///< s; of others the end of the step
  double speed;     ///< m/s; NaN unless located
  double impulse;   ///< N s; NaN unless located
} CnRunEvent;
/// Events first .. first + count - 1, in the order of steps.
CN_API CnStatus cn_run_events(CnRun *run, int64_t first, int64_t count, CnRunEvent *events);

/// Series with one value per step: scalars (kinetic_energy, contacts, ...) and the scene's sensors.
typedef struct CnRunSeries {
  const char *name, *unit;
} CnRunSeries;
/// Name and unit of scalar `index`; they live as long as the run.
CN_API CnStatus cn_run_scalar(const CnRun *run, int32_t index, CnRunSeries *series);
/// Name and unit of sensor `index`; they live as long as the run.
CN_API CnStatus cn_run_sensor(const CnRun *run, int32_t index, CnRunSeries *series);

/// Values of a series by name, steps first .. first + count - 1. "time" is a series too. A sensor
/// that has the name of a scalar is "sensors/NAME".
CN_API CnStatus cn_run_values(CnRun *run, const char *name, int64_t first, int64_t count,
                              double *values);

#ifdef __cplusplus
}
#endif
#endif
