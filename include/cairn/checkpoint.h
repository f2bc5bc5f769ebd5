// SPDX-License-Identifier: Apache-2.0
/// Checkpoints: files with all that is needed to go on with a run that was stopped or killed, as `cairn run
/// --checkpoint` writes them. Part of libcairn-io.
#ifndef CAIRN_CHECKPOINT_H
#define CAIRN_CHECKPOINT_H

#include <cairn/record.h>
#include <cairn/verdict.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a checkpoint holds. Zero before it is filled or read; what was read is the checkpoint's own.
typedef struct CnCheckpoint {
  void *snapshot; ///< of the world, as cn_world_save writes it
  size_t snapshot_size;
  char *scene_text;    ///< the scene as JSON
  char *scene_label;   ///< its name or path
  CnSetting *settings; ///< parameters that were given
  int32_t setting_count;
  double frames_per_second; ///< of the run file
  double end_time;          ///< s, how long the run is meant to be
  int64_t step;             ///< of the snapshot
  char *run_path;           ///< of the run file; null: nothing is recorded
  CnAllocator allocator;    ///< of what was read
  void *scene_state;        ///< of the scene, as cn_scene_save writes it; null: it keeps none
  size_t scene_state_size;
} CnCheckpoint;

/// Write a checkpoint. It goes to a temporary file that is renamed: an older one is never lost.
CN_API CnStatus cn_checkpoint_write(const char *path, const CnCheckpoint *checkpoint);

/// Read one; release it with cn_checkpoint_release. CN_INVALID_DATA if it is damaged or of another version.
CN_API CnStatus cn_checkpoint_read(const char *path, const CnAllocator *allocator,
                                   CnCheckpoint *checkpoint);

/// Release what was read.
CN_API void cn_checkpoint_release(CnCheckpoint *checkpoint);

/// Nobody else writes checkpoints of a name.
typedef struct CnCheckpointLock CnCheckpointLock;

/// Take the lock of a name; CN_FILE where another run has it, in this process or another. It dies with the
/// process.
CN_API CnStatus cn_checkpoint_lock(const char *path, CnCheckpointLock **lock);

/// Give it back. Null is allowed.
CN_API void cn_checkpoint_unlock(CnCheckpointLock *lock);

/// Go on with the file of an interrupted run, `def->path`: everything after the given step is cut off. The run is copied
/// up to there and the copy takes the old one's place, so that no moment is without a readable file; a complete
/// run is kept until its continuation is complete too. The world must stand at that step. Whether contacts and
/// joints are recorded has to be as it was.
CN_API CnStatus cn_recorder_resume(const CnRecorderDef *def, CnWorld *world, int64_t step,
                                   CnRecorder **recorder);

/// Put a verdict into the file, before it is closed or abandoned; cn_recorder_close with a world does it itself.
CN_API CnStatus cn_recorder_verdict(CnRecorder *recorder, const CnVerdict *verdict);

#ifdef __cplusplus
}
#endif
#endif
