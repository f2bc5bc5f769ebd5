// SPDX-License-Identifier: Apache-2.0
// A run as tables of comma-separated values, in a folder:
//
//   steps.csv   one line a step: the scalars, then the sensors
//   frames.csv  one line a frame and body: pose and twist of the body frame
//   bodies.csv  one line a body: index, name, kind, mass
//   events.csv  one line an event: step, began, ended, entered, left or what was located, the two shapes and
//               their bodies, the time; of located events speed and impulse
//
//   contacts.csv   where they were recorded, one line a contact of a frame: bodies, shapes, point, normal,
//                  gap, force and torque on b
//   reactions.csv  where they were recorded, one line a frame, joint and coordinate: force and torque of
//                  the joint on b, its errors; value, rate and efforts of the coordinate
//
// Numbers read back as the same bits; a number that was not measured is an empty field. Names are
// quoted where they need it. All of it is written beside and put in place file by file.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/exports/csv_private.h"

#define BLOCK_STEPS 512
#define BLOCK_EVENTS 256

// Text as one field.
void cni_csv_field(CniOutput *out, const char *text) {
  if (!strpbrk(text, ",\"\r\n")) {
    cni_output_bytes(out, text, strlen(text));
    return;
  }
  cni_output_bytes(out, "\"", 1);
  for (; *text; text++) {
    if (*text == '"') cni_output_bytes(out, "\"", 1);
    cni_output_bytes(out, text, 1);
  }
  cni_output_bytes(out, "\"", 1);
}

void cni_csv_numbers(CniOutput *out, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    cni_output_bytes(out, ",", 1);
    cni_output_number(out, values[i]);
  }
}

// A name and its unit, "load [N]".
static void put_title(CniOutput *out, const CnRunSeries *series) {
  char title[256];
  snprintf(title, sizeof title, series->unit[0] ? ",%s [%s]" : ",%s", series->name, series->unit);
  cni_output_bytes(out, ",", 1);
  cni_csv_field(out, title + 1);
}

// ---- steps.csv ----

// Scalars, then sensors.
static CnStatus nth_series(CnRun *run, const CnRunInfo *info, int32_t i, CnRunSeries *series) {
  return i < info->scalar_count ? cn_run_scalar(run, i, series)
                                : cn_run_sensor(run, i - info->scalar_count, series);
}

static CnStatus put_step_titles(CnRun *run, CniOutput *out) {
  CnRunInfo info;
  CnRunSeries series;
  cn_run_info(run, &info);
  cni_output_text(out, "step,time [s]");
  for (int32_t i = 0; i < info.scalar_count + info.sensor_count; i++) {
    CNI_TRY(nth_series(run, &info, i, &series));
    put_title(out, &series);
  }
  cni_output_text(out, "\n");
  return CN_OK;
}

// Values of all series for some steps, series by series.
static CnStatus read_steps(CnRun *run, int64_t first, int64_t count, double *values) {
  CnRunInfo info;
  cn_run_info(run, &info);
  CNI_TRY(cn_run_values(run, "time", first, count, values));
  for (int32_t i = 0; i < info.scalar_count + info.sensor_count; i++) {
    CnRunSeries series;
    char name[256];
    int is_sensor = i >= info.scalar_count;
    CNI_TRY(nth_series(run, &info, i, &series));
    snprintf(name, sizeof name, "%s%s", is_sensor ? "sensors/" : "", series.name);
    CNI_TRY(cn_run_values(run, name, first, count, values + (i + 1) * BLOCK_STEPS));
  }
  return CN_OK;
}

static CnStatus put_steps(CnRun *run, CniOutput *out) {
  CnRunInfo info;
  cn_run_info(run, &info);
  int32_t columns = 1 + info.scalar_count + info.sensor_count;
  size_t bytes = (size_t)columns * BLOCK_STEPS * sizeof(double);
  CNI_TRY(put_step_titles(run, out));
  double *values = cni_allocate(&run->allocator, bytes);
  if (!values) return cni_error_memory(bytes);
  CnStatus status = CN_OK;
  for (int64_t first = 0; first < info.step_count && status == CN_OK; first += BLOCK_STEPS) {
    int64_t count = info.step_count - first < BLOCK_STEPS ? info.step_count - first : BLOCK_STEPS;
    status = read_steps(run, first, count, values);
    for (int64_t i = 0; i < count && status == CN_OK; i++) {
      cni_output_text(out, "%lld", (long long)(info.first_step + 1 + first + i));
      for (int32_t c = 0; c < columns; c++) {
        cni_output_bytes(out, ",", 1);
        cni_output_number(out, values[(int64_t)c * BLOCK_STEPS + i]);
      }
      cni_output_bytes(out, "\n", 1);
    }
  }
  cni_release(&run->allocator, values, bytes);
  return status;
}

// ---- frames.csv ----

static CnStatus put_frame(CnRun *run, CniOutput *out, int64_t frame, CnPose *poses,
                          CnTwist *twists) {
  double time;
  int64_t step;
  CNI_TRY(cn_run_frame(run, frame, &time, poses, twists));
  CNI_TRY(cn_run_frame_step(run, frame, &step));
  for (int32_t b = 0; b < run->info.body_count; b++) {
    CnPose p = poses[b];
    CnTwist t = twists[b];
    const double values[] = {p.position.x, p.position.y, p.position.z, p.rotation.w, p.rotation.x,
                             p.rotation.y, p.rotation.z, t.velocity.x, t.velocity.y, t.velocity.z,
                             t.spin.x,     t.spin.y,     t.spin.z};
    cni_output_text(out, "%lld,%lld,", (long long)frame, (long long)step);
    cni_output_number(out, time);
    cni_output_text(out, ",%d,", (int)b);
    cni_csv_field(out, run->bodies[b].name);
    cni_csv_numbers(out, values, sizeof values / sizeof values[0]);
    cni_output_bytes(out, "\n", 1);
  }
  return CN_OK;
}

static CnStatus put_frames(CnRun *run, CniOutput *out) {
  size_t n = (size_t)run->info.body_count + 1, bytes = n * (sizeof(CnPose) + sizeof(CnTwist));
  cni_output_text(out, "frame,step,time [s],body,name,x [m],y [m],z [m],qw,qx,qy,qz,vx [m/s],"
                       "vy [m/s],vz [m/s],wx [rad/s],wy [rad/s],wz [rad/s]\n");
  CnPose *poses = cni_allocate(&run->allocator, bytes);
  if (!poses) return cni_error_memory(bytes);
  CnStatus status = CN_OK;
  for (int64_t f = 0; f < run->info.frame_count && status == CN_OK; f++)
    status = put_frame(run, out, f, poses, (CnTwist *)(poses + n));
  cni_release(&run->allocator, poses, bytes);
  return status;
}

// ---- bodies.csv and events.csv ----

static CnStatus put_bodies(CnRun *run, CniOutput *out) {
  static const char *const kinds[] = {"dynamic", "kinematic", "fixed"};
  cni_output_text(out, "body,name,kind,mass [kg]\n");
  for (int32_t i = 0; i < run->info.body_count; i++) {
    cni_output_text(out, "%d,", (int)i);
    cni_csv_field(out, run->bodies[i].name);
    cni_output_text(out, ",%s,", kinds[run->bodies[i].kind]);
    cni_output_number(out, run->bodies[i].mass);
    cni_output_bytes(out, "\n", 1);
  }
  return CN_OK;
}

static int32_t body_of(const CnRun *run, int32_t shape) {
  return shape >= 0 && shape < run->info.shape_count ? run->shapes[shape].body : -1;
}

static CnStatus put_events(CnRun *run, CniOutput *out) {
  CnRunEvent events[BLOCK_EVENTS];
  cni_output_text(out, "step,event,shape_a,shape_b,body_a,body_b,time,speed,impulse\n");
  for (int64_t first = 0; first < run->info.event_count; first += BLOCK_EVENTS) {
    int64_t left = run->info.event_count - first, n = left < BLOCK_EVENTS ? left : BLOCK_EVENTS;
    CNI_TRY(cn_run_events(run, first, n, events));
    for (int64_t i = 0; i < n; i++) {
      const CnRunEvent *e = &events[i];
      static const char *const kinds[] = {"began", "ended", "entered", "left"};
      const char *what = e->located ? cn_event_kind_name(e->what) : kinds[e->kind];
      cni_output_text(out, "%lld,%s,%d,%d,%d,%d,%.17g,", (long long)e->step, what, (int)e->shape_a,
                      (int)e->shape_b, (int)body_of(run, e->shape_a), (int)body_of(run, e->shape_b),
                      e->time);
      if (e->located)
        cni_output_text(out, "%.17g,%.17g", e->speed, e->impulse);
      else
        cni_output_text(out, ",");
      cni_output_text(out, "\n");
    }
  }
  return CN_OK;
}

// ---- the folder ----

static CnStatus write_file(CnRun *run, const char *folder, const char *name,
                           CnStatus (*put)(CnRun *run, CniOutput *out)) {
  char path[4096];
  CniOutput out;
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
    return cni_error(CN_FILE, "%s: the name is too long", folder);
  CNI_TRY(cn_run_check_output(run, path));
  CNI_TRY(cni_output_open(&out, path, &run->allocator));
  CnStatus status = put(run, &out);
  if (status == CN_OK) return cni_output_close(&out);
  cni_output_discard(&out);
  return status;
}

static CnStatus write_csv(CnRun *run, const char *run_path, const char *output) {
  static const struct {
    const char *name;
    CnStatus (*put)(CnRun *run, CniOutput *out);
  } files[] = {{"bodies.csv", put_bodies},         {"events.csv", put_events},
               {"steps.csv", put_steps},           {"frames.csv", put_frames},
               {"contacts.csv", cni_csv_contacts}, {"reactions.csv", cni_csv_reactions}};
  char folder[4096];
  if (!run || !run_path) return cni_invalid("export csv: a null pointer");
  CNI_TRY(cni_export_path(run_path, output, "-csv", folder, sizeof folder));
  CniLock *lock;
  CNI_TRY(cni_lock_take(folder, &run->allocator, &lock));
  CnStatus status = CN_OK;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    status = cni_file_error(folder, "cannot be made", errno);
  for (size_t i = 0; i < sizeof files / sizeof files[0] && status == CN_OK; i++) {
    int recorded = files[i].put == cni_csv_contacts    ? run->info.contacts_recorded
                   : files[i].put == cni_csv_reactions ? run->info.joints_recorded
                                                       : 1;
    if (recorded) status = write_file(run, folder, files[i].name, files[i].put);
  }
  cni_lock_release(lock);
  return status;
}

const CniExportKind cni_export_csv = {
    "csv", "tables of comma-separated values, a folder of files: NAME-csv/", write_csv, "-csv"};
