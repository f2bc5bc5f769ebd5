// SPDX-License-Identifier: Apache-2.0
// Record a run of a built-in scene with a checkpoint on the way, go on from the checkpoint as after a power cut, write
// tables and a page.
#include <cairn/cairn.h>
#include <cairn/checkpoint.h>
#include <cairn/record.h>
#include <cairn/tools.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN "example_record.h5"
#define CHECKPOINT "example_record.ckpt"

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

static int record(CnRecorder *recorder, CnWorld *world, int steps) {
  CnStepReport report;
  for (int i = 0; i < steps; i++)
    if (failed(cn_world_step(world, &report)) || failed(cn_recorder_step(recorder, world, &report)))
      return 0;
  return 1;
}

static int save(CnWorld *world, CnScene *scene, CnRecorder *recorder) {
  CnSceneInfo info;
  CnWorldInfo now;
  CnCheckpoint checkpoint = {.end_time = 1};
  cn_scene_info(scene, &info);
  cn_world_info(world, &now);
  checkpoint.step = now.step;
  checkpoint.scene_text = (char *)(uintptr_t)info.text; // only read
  checkpoint.scene_label = (char *)(uintptr_t)info.name;
  if (failed(cn_world_save(world, NULL, 0, &checkpoint.snapshot_size))) return 0;
  checkpoint.snapshot = malloc(checkpoint.snapshot_size);
  if (!checkpoint.snapshot) return 0;
  int ok = !failed(cn_world_save(world, checkpoint.snapshot, checkpoint.snapshot_size,
                                 &checkpoint.snapshot_size)) &&
           !failed(cn_recorder_flush(recorder)) && // the run file first: then nothing is missing
           !failed(cn_checkpoint_write(CHECKPOINT, &checkpoint));
  free(checkpoint.snapshot);
  return ok;
}

int main(void) {
  CnScene *scene;
  CnWorld *world;
  CnRecorder *recorder;
  CnWorldDef def = cn_world_def_default();
  CnRecorderDef to = cn_recorder_def_default();
  if (failed(cn_scene_open("newton-cradle", NULL, 0, NULL, &scene))) return 1;
  cn_scene_world_def(scene, &def);
  if (failed(cn_world_create(&def, &world)) || failed(cn_scene_fill(scene, world))) return 1;
  to.path = RUN;
  to.scene = scene;
  to.joints = 1;
  to.replace = 1;
  if (failed(cn_recorder_create(&to, world, &recorder))) return 1;
  if (!record(recorder, world, 100) || !save(world, scene, recorder)) return 1;
  if (!record(recorder, world, 50) || failed(cn_recorder_abandon(recorder))) return 1; // the cut

  CnCheckpoint checkpoint;
  if (failed(cn_checkpoint_read(CHECKPOINT, NULL, &checkpoint))) return 1;
  if (failed(cn_world_restore(world, checkpoint.snapshot, checkpoint.snapshot_size))) return 1;
  if (failed(cn_recorder_resume(&to, world, checkpoint.step, &recorder))) return 1;
  cn_checkpoint_release(&checkpoint);
  if (!record(recorder, world, 100) || failed(cn_recorder_close(recorder, world))) return 1;

  CnRun *run;
  CnRunInfo info;
  if (failed(cn_run_open(RUN, NULL, &run))) return 1;
  cn_run_info(run, &info);
  printf("%lld steps, %lld frames, %s: %s\n", (long long)info.step_count,
         (long long)info.frame_count, info.complete ? "complete" : "not complete", info.verdict);
  CnStatus page = cn_page_from_run(run, "example_record.html", 0);
  if (page != CN_UNSUPPORTED && failed(page)) return 1; // a library built without node has none
  cn_run_close(run);
  if (failed(cn_run_export(RUN, "csv", "example_record"))) return 1;
  cn_world_destroy(world);
  cn_scene_destroy(scene);
  return info.step_count != 200 || !info.complete || cn_file_kind(RUN) != CN_FILE_KIND_RUN;
}
