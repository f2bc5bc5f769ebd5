// SPDX-License-Identifier: Apache-2.0
/// Record runs, export them, and make pages of them, as the command `cairn` does. Part of
/// libcairn-io.
#ifndef CAIRN_RECORD_H
#define CAIRN_RECORD_H

#include <cairn/run.h>
#include <cairn/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How to record a run. Start from cn_recorder_def_default().
typedef struct CnRecorderDef {
  uint32_t size, tag;   ///< set by cn_recorder_def_default
  const char *path;     ///< of the run file; one that exists is refused unless `replace`, and stays
                        ///< until the new run is complete
  const CnScene *scene; ///< whose text and sensors go into the file; null (default): none
  double frames_per_second; ///< simulated; default 60; 0: a frame every step
  int32_t contacts;         ///< 1: contacts with each frame; default 0
  int32_t joints;           ///< 1: reactions of joints with each frame; default 0
  int32_t replace;          ///< 1: an existing file may be replaced; default 0
  int32_t plain;            ///< 1: a complete file is not compressed; default 0
} CnRecorderDef;

/// 60 frames a second, neither contacts nor joints, nothing replaced.
CN_API CnRecorderDef cn_recorder_def_default(void);

typedef struct CnRecorder CnRecorder;

/// Begin a file with the present state as its first frame. A run has the bodies, shapes and joints that it began
/// with. On failure *recorder is NULL and no file is left behind.
CN_API CnStatus cn_recorder_create(const CnRecorderDef *def, CnWorld *world, CnRecorder **recorder);

/// After each step of the world: scalars, sensors, events; a frame when one is due. A scene with sources, sinks or
/// sensors that look back must have made the step (cn_scene_step): CN_INVALID_ARGUMENT, as for a step that is not the
/// one after the last. A step that cannot be recorded, as of a world with another body, ends the run before it: it may
/// be closed, and is whole. After a failure to write (a full disk) the file holds what was written before; all later
/// calls fail.
CN_API CnStatus cn_recorder_step(CnRecorder *recorder, CnWorld *world, const CnStepReport *report);

/// Everything up to the last step reaches the file now.
CN_API CnStatus cn_recorder_flush(CnRecorder *recorder);

/// End the run: the verdict of the world goes into the file, which is marked complete and takes its name. There is none
/// without a world (null), and where the world has gone back behind the last step recorded (cn_world_restore). The recorder is gone whatever the outcome. Null is allowed.
CN_API CnStatus cn_recorder_close(CnRecorder *recorder, CnWorld *world);
/// The same for a run that did not come to its end: it is kept and not marked complete.
CN_API CnStatus cn_recorder_abandon(CnRecorder *recorder);

/// The table of exports: name and summary of format `index`, null past the end.
CN_API const char *cn_export_name(int32_t index);
/// Summary of format `index`, null past the end.
CN_API const char *cn_export_summary(int32_t index);

/// Write a run in another format. `output` null: beside the run, with the format's ending.
CN_API CnStatus cn_run_export(const char *run_path, const char *format, const char *output);

/// One HTML file with playback and plots. Frames are thinned so that it stays below `max_bytes`; 0:
/// 100 MB.
CN_API CnStatus cn_page_from_run(CnRun *run, const char *output, int64_t max_bytes);
/// Two runs side by side in one page, with one clock and one camera. Labels are what they are called there; null:
/// nothing. The room is shared evenly.
CN_API CnStatus cn_page_from_runs(CnRun *a, const char *label_a, CnRun *b, const char *label_b,
                                  const char *output, int64_t max_bytes);
/// The same of a scene's first frame.
CN_API CnStatus cn_page_from_scene(CnScene *scene, const char *output);

#ifdef __cplusplus
}
#endif
#endif
