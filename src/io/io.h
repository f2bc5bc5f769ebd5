// Files in and out: scenes, run files, checkpoints, exports, problem files. One file a format;
// formats are rows of tables.
#ifndef CNI_IO_H
#define CNI_IO_H

#include <cairn/run.h>
#include <cairn/scene.h>
#include <cairn/world.h>

// ---- writing runs ----

typedef struct CniRunWriter CniRunWriter;

typedef struct CniRunWriterDef {
  const char *path; // written beside it first and renamed when complete, if it exists
  const CnScene *scene;
  const CnWorldDef *world;  // as used
  double frames_per_second; // simulated; 0: a frame every step
  int32_t record_contacts;  // contacts with each frame
  int32_t record_joints;    // joint reactions with each frame
  int32_t replace;          // an existing file may be replaced
  CnAllocator allocator;
} CniRunWriterDef;

// Create all datasets, then switch to single-writer-multiple-reader mode. Failures name path and
// cause.
CnStatus cni_run_writer_create(const CniRunWriterDef *def, CnWorld *world, CniRunWriter **writer);

// Go on with the file of an interrupted run: everything after the given step is cut off.
CnStatus cni_run_writer_resume(const CniRunWriterDef *def, CnWorld *world, int64_t step,
                               CniRunWriter **writer);

// After each step: scalars, sensors, events; a frame when one is due. Flushes at least every
// second.
CnStatus cni_run_writer_step(CniRunWriter *writer, CnWorld *world, const CnStepReport *report);

// Everything up to the last step reaches the file now: called before a checkpoint, so that a run
// killed after it can be resumed without a gap.
CnStatus cni_run_writer_flush(CniRunWriter *writer);

// Flush, mark complete, rename into place. The writer is gone whatever the outcome.
CnStatus cni_run_writer_close(CniRunWriter *writer);

// ---- checkpoints ----

// All that is needed to go on: world snapshot, scene text with its settings, world definition
// numbers, path of the run file. Written to a temporary file and renamed: the old one is never
// lost.
typedef struct CniCheckpoint {
  void *snapshot;
  size_t snapshot_size;
  char *scene_text;
  char *scene_label;
  CnSetting *settings;
  int32_t setting_count;
  double frames_per_second;
  double end_time;
  int64_t step;
  char *run_path; // null: nothing recorded
  CnAllocator allocator;
} CniCheckpoint;
CnStatus cni_checkpoint_write(const char *path, const CniCheckpoint *checkpoint);
CnStatus cni_checkpoint_read(const char *path, const CnAllocator *allocator,
                             CniCheckpoint *checkpoint);
void cni_checkpoint_release(CniCheckpoint *checkpoint);

// ---- exports of a run: one table ----

typedef struct CniExportKind {
  const char *name, *summary;
  // Write beside or into `output` (a path; null: derived from the run's).
  CnStatus (*write)(CnRun *run, const char *run_path, const char *output);
} CniExportKind;
extern const CniExportKind cni_exports[];
extern const int32_t cni_export_count;

#endif
