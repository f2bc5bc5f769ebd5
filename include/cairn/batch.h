// SPDX-License-Identifier: Apache-2.0
/// Many small worlds of one model, stepped over all cores by one call: for learning, optimisation and
/// statistics. World i gives the same bits as if it were alone, whatever the number of workers.
///
/// States are arrays of count x bodies, controls arrays of count x controls, world after world.
#ifndef CAIRN_BATCH_H
#define CAIRN_BATCH_H

#include <cairn/state.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CnBatch CnBatch;

/// Copy a world `count` times, as it is now. Each copy steps on one thread, `worker_count` of them at a
/// time. The prototype's hooks are not taken over: they would be called from several threads. On failure
/// *batch is NULL.
CN_API CnStatus cn_batch_create(const CnWorld *prototype, int32_t count, int32_t worker_count,
                                CnBatch **batch);
/// Release a batch and its worlds. Null is allowed.
CN_API void cn_batch_destroy(CnBatch *batch);

/// Number of worlds; world `index`, null past the end. It stays the batch's.
CN_API int32_t cn_batch_count(const CnBatch *batch);
/// World `index`, null past the end. It stays the batch's.
CN_API CnWorld *cn_batch_world(CnBatch *batch, int32_t index);

/// What a control sets.
typedef enum CnControlKind {
  CN_CONTROL_SPEED = 0, ///< motor_speed of a coordinate
  CN_CONTROL_POSITION,  ///< motor_position
  CN_CONTROL_EFFORT     ///< motor_effort
} CnControlKind;

/// A number that the caller gives to every world with each call: of a joint of the prototype.
typedef struct CnControl {
  CnJointId joint;
  int32_t coordinate;
  CnControlKind kind;
} CnControl;

/// Say what the controls of cn_batch_step are; copied. A speed or a position needs a motor of that drive,
/// with an effort of its own or by another control.
CN_API CnStatus cn_batch_set_controls(CnBatch *batch, const CnControl *controls, int32_t count);

/// `steps` steps of every world after its controls are set (null: they stay). A world that fails stays
/// where it was before that step, and the others go on: the answer is the first failure's, `status` (null:
/// not asked for) has one for each world.
CN_API CnStatus cn_batch_step(CnBatch *batch, int32_t steps, const double *controls,
                              CnStatus *status);

/// Poses and twists of all bodies of all worlds, as cn_world_get_state; either may be null. `capacity`
/// is that of the arrays, at least count x bodies.
CN_API CnStatus cn_batch_get_state(const CnBatch *batch, CnPose *poses, CnTwist *twists,
                                   int64_t capacity);
/// Set them in worlds whose mask is not 0 (null: all).
CN_API CnStatus cn_batch_set_state(CnBatch *batch, const CnPose *poses, const CnTwist *twists,
                                   const uint8_t *mask);
/// Coordinates and rates of the controls, count x controls; either may be null.
CN_API CnStatus cn_batch_get_joints(const CnBatch *batch, double *coordinates, double *rates);

/// Put worlds whose mask is not 0 (null: all) back to what a snapshot says (null: the prototype's at
/// creation), which must be one of the same model.
CN_API CnStatus cn_batch_reset(CnBatch *batch, const uint8_t *mask, const void *snapshot,
                               size_t size);

#ifdef __cplusplus
}
#endif
#endif
