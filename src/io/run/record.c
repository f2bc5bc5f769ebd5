// SPDX-License-Identifier: Apache-2.0
// Recording runs and exporting them, from a program: the writer of run files behind a definition that
// is checked.
#include <cairn/record.h>
#include <cairn/run_look.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fields.h"
#include "core/floats.h"
#include "io/io.h"

#define RECORDER_TAG 0x72636572u

struct CnRecorder {
  CniRunWriter *writer;
  CnAllocator allocator;
};

CnRecorderDef cn_recorder_def_default(void) {
  return (CnRecorderDef){
      .size = sizeof(CnRecorderDef), .tag = RECORDER_TAG, .frames_per_second = 60};
}

static CnStatus check(const CnRecorderDef *def, const CnWorld *world, int resumes) {
  struct stat there;
  CNI_TRY(cni_def_check("recorder", def, sizeof *def, RECORDER_TAG));
  if (!world) return cni_invalid("recorder: the world is null");
  if (!def->path) return cni_invalid("recorder: path is null");
  if (!resumes && !def->replace && stat(def->path, &there) == 0)
    return cni_error(CN_FILE, "%s: is there already, and replace is 0", def->path);
  return CN_OK;
}

// From `step` on; -1: a new file.
static CnStatus begin(const CnRecorderDef *def, CnWorld *world, int64_t step,
                      CnRecorder **recorder) {
  if (!recorder) return cni_invalid("recorder: the result pointer is null");
  *recorder = NULL;
  CNI_TRY(check(def, world, step >= 0));
  CnRecorder *made;
  CnAllocator allocator = cn_allocator_default();
  CNI_TRY(cni_new(&allocator, sizeof *made, &made));
  *made = (CnRecorder){.allocator = allocator};
  CniRunWriterDef writer = {.path = def->path,
                            .scene = def->scene,
                            .frames_per_second = def->frames_per_second,
                            .record_contacts = def->contacts,
                            .record_joints = def->joints,
                            .replace = def->replace,
                            .plain = def->plain,
                            .allocator = allocator};
  CnStatus status = step >= 0 ? cni_run_writer_resume(&writer, world, step, &made->writer)
                              : cni_run_writer_create(&writer, world, &made->writer);
  if (status == CN_OK)
    *recorder = made;
  else
    cni_release(&allocator, made, sizeof *made);
  return status;
}

CnStatus cn_recorder_create(const CnRecorderDef *def, CnWorld *world, CnRecorder **recorder) {
  CNI_FLOATS;
  return begin(def, world, -1, recorder);
}

CnStatus cn_recorder_resume(const CnRecorderDef *def, CnWorld *world, int64_t step,
                            CnRecorder **recorder) {
  CNI_FLOATS;
  if (step < 0) return cni_invalid("cn_recorder_resume: after step %lld", (long long)step);
  return begin(def, world, step, recorder);
}

CnStatus cn_recorder_verdict(CnRecorder *recorder, const CnVerdict *verdict) {
  CNI_FLOATS;
  if (!recorder || !verdict)
    return cni_invalid("cn_recorder_verdict: the %s is null", recorder ? "verdict" : "recorder");
  return cni_run_writer_verdict(recorder->writer, verdict);
}

CnStatus cn_recorder_step(CnRecorder *recorder, CnWorld *world, const CnStepReport *report) {
  CNI_FLOATS;
  if (!recorder || !world || !report)
    return cni_invalid("cn_recorder_step: the %s is null", !recorder ? "recorder"
                                                           : !world  ? "world"
                                                                     : "report");
  return cni_run_writer_step(recorder->writer, world, report);
}

CnStatus cn_recorder_flush(CnRecorder *recorder) {
  CNI_FLOATS;
  if (!recorder) return cni_invalid("cn_recorder_flush: the recorder is null");
  return cni_run_writer_flush(recorder->writer);
}

CnStatus cn_recorder_close(CnRecorder *recorder, CnWorld *world) {
  CNI_FLOATS;
  CnVerdict verdict;
  if (!recorder) return CN_OK;
  if (world && cni_run_writer_strayed(recorder->writer, world)) world = NULL;
  CnStatus told = world ? cn_world_verdict(world, &verdict) : CN_OK;
  if (world && told == CN_OK) told = cni_run_writer_verdict(recorder->writer, &verdict);
  CnStatus closed = cni_run_writer_close(recorder->writer);
  cni_release(&recorder->allocator, recorder, sizeof *recorder);
  return told != CN_OK ? told : closed;
}

CnStatus cn_recorder_abandon(CnRecorder *recorder) {
  CNI_FLOATS;
  if (!recorder) return CN_OK;
  CnStatus status = cni_run_writer_abandon(recorder->writer);
  cni_release(&recorder->allocator, recorder, sizeof *recorder);
  return status;
}

// ---- exports ----

const char *cn_export_name(int32_t index) {
  return index >= 0 && index < cni_export_count ? cni_exports[index]->name : NULL;
}

const char *cn_export_summary(int32_t index) {
  return index >= 0 && index < cni_export_count ? cni_exports[index]->summary : NULL;
}

static CnStatus find_format(const char *call, const char *run_path, const char *format,
                            const CniExportKind **kind) {
  int32_t i = 0;
  if (!run_path || !format)
    return cni_invalid("%s: the %s is null", call, run_path ? "format" : "path");
  while (cn_export_name(i) && strcmp(cn_export_name(i), format) != 0) i++;
  if (!cn_export_name(i)) return cni_invalid("%s: no format '%s'", call, format);
  *kind = cni_exports[i];
  return CN_OK;
}

CnStatus cn_run_export_path(const char *run_path, const char *format, const char *output,
                            char *path, size_t size) {
  CNI_FLOATS;
  const CniExportKind *kind;
  CNI_TRY(find_format("cn_run_export_path", run_path, format, &kind));
  if (!path || size == 0) return cni_invalid("cn_run_export_path: there is no room for the path");
  return cni_export_path(run_path, output, kind->ending, path, size);
}

CnStatus cn_run_export(const char *run_path, const char *format, const char *output) {
  CNI_FLOATS;
  char path[4096];
  CnRun *run;
  const CniExportKind *kind;
  CNI_TRY(find_format("cn_run_export", run_path, format, &kind));
  CNI_TRY(cni_export_path(run_path, output, kind->ending, path, sizeof path));
  CnAllocator allocator = cn_allocator_default();
  CNI_TRY(cn_run_open(run_path, &allocator, &run));
  CnStatus status = kind->write(run, run_path, path);
  cn_run_close(run);
  return status;
}
