// SPDX-License-Identifier: Apache-2.0
// Files in and out: scenes, run files, checkpoints, exports, problem files. One file a format;
// formats are rows of tables.
#ifndef CNI_IO_H
#define CNI_IO_H

#include <cairn/checkpoint.h>
#include <cairn/run.h>
#include <cairn/scene.h>
#include <cairn/verdict.h>
#include <cairn/world.h>

#include "core/error.h"
#include "core/memory.h"
#include "geometry/geometry.h"
#include "io/parts/mesh_parts.h"
#include "io/meshes/mesh_report.h"
#include "io/tools/inputs.h"
#include "io/tools/lock.h"
#include "io/tools/names.h"
#include "io/tools/output.h"

// Is there something by that name that is no file? A pipe without a writer holds up who opens it, a device may
// have no end, and a new file must not take the place of either.
int cni_no_file(const char *path);

// ---- problem files (the rest is in cairn/files.h) ----

// Is this the file of a problem? Told from its content: the groups of FCLib, the first word of
// Cairn's JSON, a text that begins with a number. 0 also for what cannot be read.
int cni_problem_file_is(const char *path);

// ---- scenes (the rest is in cairn/scene.h) ----

// The files that a scene is made of: lines of hash and name, "" without any. Lives as long as it.
const char *cni_scene_files(const CnScene *scene);

// A body of a source as it is once it is let go: kind, mass, centre, inertia. 0: it is of none.
int cni_scene_source_body(const CnScene *scene, int32_t body, CnBodyInfo *info);

// Was the world brought by cn_scene_step to where it stands? 1 for a scene without a part in steps.
int cni_scene_followed(const CnScene *scene, const CnWorld *world);

// ---- reading runs (the rest is in cairn/run.h) ----

// Give a placed shape its geometry, hull or mesh, as long as the run is open; none: it gets none.
void cni_run_form(const CnRun *run, CnGeometryId geometry, CniPlaced *placed);

// ---- writing runs ----

typedef struct CniRunWriter CniRunWriter;

typedef struct CniRunWriterDef {
  const char *path; // a file that exists is kept, and the run goes to PATH.partial until complete
  const CnScene *scene;     // may be null: a world filled by other means
  double frames_per_second; // simulated; 0: a frame every step
  int32_t record_contacts;  // contacts with each frame
  int32_t record_joints;    // joint reactions with each frame
  int32_t replace;          // an existing file may be replaced
  int32_t plain;            // do not pack the file when the run is complete
  int32_t skip_penetration; // do not measure overlaps with each frame (a collision pass a frame)
  CnAllocator allocator;
} CniRunWriterDef;

// Create all datasets, then switch to single-writer-multiple-reader mode, and record the present
// state as the first frame. The path appears when all this is done: a file by that name can always
// be read. Failures name path and cause (CN_FILE), and leave nothing behind.
CnStatus cni_run_writer_create(const CniRunWriterDef *def, CnWorld *world, CniRunWriter **writer);

// Go on with the file of an interrupted run: everything after the given step is cut off. The run is
// copied up to there and the copy takes the old one's place, so that no moment is without a
// readable file; a complete run is kept until its continuation is complete too. The world must
// stand at that step. Whether contacts and joints are recorded is as it was.
CnStatus cni_run_writer_resume(const CniRunWriterDef *def, CnWorld *world, int64_t step,
                               CniRunWriter **writer);

// After each step: scalars, sensors, events; a frame when one is due. Flushes at least every
// second. After a failure (a full disk) the file holds what was flushed before and stays readable;
// all later calls fail with CN_FILE.
CnStatus cni_run_writer_step(CniRunWriter *writer, CnWorld *world, const CnStepReport *report);

// Everything up to the last step reaches the file now: called before a checkpoint, so that a run
// killed after it can be resumed without a gap.
CnStatus cni_run_writer_flush(CniRunWriter *writer);

// Has the world gone back behind the last step recorded, so that its verdict is on other steps?
int cni_run_writer_strayed(const CniRunWriter *writer, const CnWorld *world);

// Put the verdict on the run into the file, before it is closed or abandoned.
CnStatus cni_run_writer_verdict(CniRunWriter *writer, const CnVerdict *verdict);

// Flush, mark complete, rename into place, pack. The writer is gone whatever the outcome. Null is
// allowed.
CnStatus cni_run_writer_close(CniRunWriter *writer);

// The same for a run that did not come to its end (stopped by the user, a state that is not
// finite): all that was recorded is kept, but the run is not marked complete.
CnStatus cni_run_writer_abandon(CniRunWriter *writer);

// For a program's main, first of all: HDF5 shall not tidy up at exit, where after reading a damaged
// file it complains on stderr about what it left behind itself. Files are closed by their owners.
void cni_io_leave_quietly(void);
// Before HDF5 opens a file: it follows a null pointer where it lacks memory then or at its start.
CnStatus cni_hdf_room(const char *path);

// ---- exports of a run: one table ----

typedef struct CniExportKind {
  const char *name, *summary;
  // Write beside or into `output` (a path; null: derived from the run's).
  CnStatus (*write)(CnRun *run, const char *run_path, const char *output);
  const char *ending; // of the name that is derived
} CniExportKind;
#define CN_EXPORT(name) extern const CniExportKind cni_export_##name;
#include "io/exports/export_list.inc"
#undef CN_EXPORT
extern const CniExportKind *const cni_exports[];
extern const int32_t cni_export_count;

// `output`, or without one the run's path with another ending: run.h5 becomes run + ending.
CnStatus cni_export_path(const char *run_path, const char *output, const char *ending, char *path,
                         size_t size);

#endif
