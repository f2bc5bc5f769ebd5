// SPDX-License-Identifier: Apache-2.0
// Writing a run. The file is made under the name PATH.new with all its datasets, switched to
// single-writer-multiple-reader mode, and then given its name: PATH, or PATH.partial if there is a
// PATH already, which is replaced only by a complete run. So whatever carries one of these names
// can be read, at any moment, whether its writer lives or was killed.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "io/run/run_private.h"
#include "world/world.h"

#define FLUSH_SECONDS 0.5 // half of what is promised: a long step may come in between

// ---- failure ----

CnStatus cni_run_fail(CniRunWriter *w, const char *what) {
  char cause[200];
  CnStatus status = CN_FILE;
  if (w->disk.error)
    cni_file_error(w->at, what, w->disk.error);
  else
    status = cni_hdf_error(w->at, what);
  w->failed = 1;
  snprintf(cause, sizeof cause, "%s", cn_error_message());
  if (w->committed.rows[CNI_ROWS_FRAMES] == 0) return status;
  return cni_error(status, "%s (kept: %lld steps, %lld frames)", cause,
                   (long long)w->committed.rows[CNI_ROWS_STEPS],
                   (long long)w->committed.rows[CNI_ROWS_FRAMES]);
}

static CnStatus fail_again(const CniRunWriter *w) {
  return cni_error(CN_FILE, "%s: writing has failed before (kept: %lld steps, %lld frames)", w->at,
                   (long long)w->committed.rows[CNI_ROWS_STEPS],
                   (long long)w->committed.rows[CNI_ROWS_FRAMES]);
}

// ---- making and unmaking ----

static char *name_beside(const CnAllocator *allocator, const char *path, const char *ending) {
  size_t size = strlen(path) + strlen(ending) + 1;
  char *name = cni_allocate(allocator, size);
  if (name) snprintf(name, size, "%s%s", path, ending);
  return name;
}

static void release_name(const CnAllocator *allocator, char *name) {
  if (name) cni_release(allocator, name, strlen(name) + 1);
}

static void release(CniRunWriter *w) {
  CnAllocator a = w->allocator;
  cni_run_rows_release(w);
  CNI_RELEASE(&a, w->bodies, w->sizes.body_count);
  CNI_RELEASE(&a, w->joints, w->sizes.joint_count);
  CNI_RELEASE(&a, w->couplings, w->sizes.coupling_count);
  CNI_RELEASE(&a, w->loose, w->loose_capacity);
  cni_release(&a, w->body_of_slot, (size_t)w->body_slots * sizeof(int32_t));
  cni_release(&a, w->shape_of_slot, (size_t)w->shape_slots * sizeof(int32_t));
  cni_release(&a, w->sensor_values, (size_t)w->sizes.sensor_count * sizeof(double));
  cni_lock_release(w->lock);
  release_name(&a, w->path);
  release_name(&a, w->partial_path);
  release_name(&a, w->new_path);
  cni_release(&a, w, sizeof *w);
}

// Leave HDF5. What it still writes now may fail; the disk knows.
static void close_file(CniRunWriter *w) {
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++)
    if (w->columns[c] >= 0) H5Dclose(w->columns[c]);
  if (w->committed_set >= 0) H5Dclose(w->committed_set);
  if (w->file >= 0) H5Fclose(w->file);
  w->file = w->committed_set = -1;
}

static CnStatus check_def(const CniRunWriterDef *def, const CnWorld *world) {
  if (!def || !def->path || !world)
    return cni_invalid("run writer: the %s is null", !def         ? "definition"
                                                     : !def->path ? "path"
                                                                  : "world");
  if (!(def->frames_per_second >= 0) || isinf(def->frames_per_second))
    return cni_invalid("%s: frames per second must not be negative (got %g)", def->path,
                       def->frames_per_second);
  return def->scene ? cn_scene_check_output(def->scene, def->path) : CN_OK;
}

static CnStatus prepare(const CniRunWriterDef *def, CnWorld *world, CniRunWriter **writer) {
  CnAllocator a = def->allocator.allocate ? def->allocator : cn_allocator_default();
  CniRunWriter *w;
  CNI_TRY(cni_new(&a, sizeof *w, &w));
  *writer = w;
  w->allocator = a;
  w->disk = (CniDisk){.fd = -1, .writes_left = -1};
  w->file = w->committed_set = -1;
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++) w->columns[c] = -1;
  w->path = name_beside(&a, def->path, "");
  w->partial_path = name_beside(&a, def->path, ".partial");
  w->new_path = name_beside(&a, def->path, ".new");
  if (!w->path || !w->partial_path || !w->new_path) return cni_error_memory(strlen(def->path));
  w->at = w->path;

  CnSceneInfo scene;
  CnWorldInfo info;
  cn_scene_info(def->scene, &scene);
  cn_world_info(world, &info);
  w->scene = def->scene;
  w->sizes.sensor_count = scene.sensor_count;
  w->sizes.record_contacts = def->record_contacts ? 1 : 0;
  w->sizes.record_joints = def->record_joints ? 2 : 0;
  w->frames_per_second = def->frames_per_second;
  w->skip_penetration = def->skip_penetration;
  w->plain = def->plain;
  w->first_step = info.step;
  CNI_TRY(cni_hdf_room(w->path));
  CNI_TRY(cni_lock_take(w->path, &a, &w->lock));
  return cni_run_number(w, world);
}

// ---- the file ----

static CnStatus open_new(CniRunWriter *w) {
  CNI_TRY(cni_disk_create(&w->disk, w->new_path, w->path));
  hid_t access = cni_disk_access(&w->disk), how = cni_disk_creation();
  if (access >= 0 && how >= 0) w->file = H5Fcreate(w->new_path, H5F_ACC_TRUNC, how, access);
  if (access >= 0) H5Pclose(access);
  if (how >= 0) H5Pclose(how);
  return w->file < 0 ? cni_run_fail(w, "cannot be written") : CN_OK;
}

static CnStatus make_datasets(CniRunWriter *w, const CniRunWriterDef *def, CnWorld *world) {
  CniHdf hdf = {.file = w->file};
  CNI_TRY(cni_run_describe(w, def, world, &hdf));
  static const char *const groups[] = {"/steps", "/frames", "/events"};
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) cni_hdf_group(&hdf, groups[i]);
  if (w->sizes.record_contacts) cni_hdf_group(&hdf, "/contacts");
  if (w->sizes.record_joints) cni_hdf_group(&hdf, "/reactions");
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++) cni_column_create(&hdf, c, &w->sizes);
  CnVerdict none = {0};
  cni_hdf_text(&hdf, CNI_RUN_VERDICT, none.line, sizeof none.line - 1);

  hid_t type = cni_committed_type(), space = H5Screate(H5S_SCALAR);
  hid_t how = cni_hdf_creation(H5P_DATASET_CREATE);
  H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
  hid_t set = H5Dcreate2(w->file, "/committed", type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  if (set < 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &w->committed) < 0)
    hdf.failed = 1;
  if (set >= 0) H5Dclose(set);
  H5Pclose(how);
  H5Sclose(space);
  H5Tclose(type);
  if (hdf.no_memory) return cni_error_memory(hdf.no_memory);
  return hdf.failed || w->disk.error ? cni_run_fail(w, "cannot be written") : CN_OK;
}

static CnStatus open_datasets(CniRunWriter *w) {
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++) {
    if (cni_column_width(c, &w->sizes) == 0) continue;
    w->columns[c] = H5Dopen2(w->file, cni_run_columns[c].path, H5P_DEFAULT);
    if (w->columns[c] < 0) return cni_run_fail(w, "cannot be written");
  }
  w->committed_set = H5Dopen2(w->file, "/committed", H5P_DEFAULT);
  return w->committed_set < 0 ? cni_run_fail(w, "cannot be written") : CN_OK;
}

static CnStatus give_name(CniRunWriter *w, const char *name) {
  const char *from = w->file < 0 ? w->at : w->new_path;
  if (rename(from, name) != 0) return cni_file_error(name, "cannot be written", errno);
  w->at = name;
  return CN_OK;
}

// ---- frames ----

// Which frame of the given rate the time belongs to. The small part forgives the rounding of a sum
// of many time steps; it is a function of the time alone, so that a resumed run has the same
// frames.
static int64_t frame_number(const CniRunWriter *w, double time) {
  return (int64_t)floor(time * w->frames_per_second + 1e-6);
}

static CnStatus put_bodies(CniRunWriter *w, const CnWorld *world, int64_t row) {
  CnVec3 *position = (CnVec3 *)cni_run_rows_doubles(w, CNI_COLUMN_POSITION, row);
  CnQuat *rotation = (CnQuat *)cni_run_rows_doubles(w, CNI_COLUMN_ROTATION, row);
  CnVec3 *velocity = (CnVec3 *)cni_run_rows_doubles(w, CNI_COLUMN_VELOCITY, row);
  CnVec3 *spin = (CnVec3 *)cni_run_rows_doubles(w, CNI_COLUMN_SPIN, row);
  for (int32_t i = 0; i < w->sizes.body_count; i++) {
    CnPose pose;
    CnTwist twist;
    CNI_TRY(cn_body_pose(world, w->bodies[i], &pose));
    CNI_TRY(cn_body_twist(world, w->bodies[i], &twist));
    position[i] = pose.position;
    rotation[i] = pose.rotation;
    velocity[i] = twist.velocity;
    spin[i] = twist.spin;
  }
  return CN_OK;
}

static CnStatus put_reactions(CniRunWriter *w, const CnWorld *world, int64_t row) {
  int32_t at = 0; // coordinates of the joints before
  for (int32_t i = 0; w->sizes.record_joints && i < w->sizes.joint_count; i++) {
    CnJointState state;
    CNI_TRY(cn_joint_state(world, w->joints[i], &state));
    for (int32_t c = CNI_COLUMN_JOINT_FORCE; c < CNI_COLUMN_JOINT_END; c++) {
      double *to = cni_run_rows_doubles(w, c, row);
      int32_t n = cni_run_columns[c].components ? cni_run_columns[c].components : 1, first = n * i;
      if (cni_run_columns[c].per == CNI_PER_COORDINATE) {
        n = state.coordinate_count;
        first = at;
      }
      const char *from = (const char *)&state + cni_run_columns[c].offset;
      if (to) memcpy(to + first, from, (size_t)n * sizeof *to);
    }
    at += state.coordinate_count;
  }
  double *effort = cni_run_rows_doubles(w, CNI_COLUMN_COUPLING_EFFORT, row);
  double *error = cni_run_rows_doubles(w, CNI_COLUMN_COUPLING_ERROR, row);
  for (int32_t i = 0; effort && error && i < w->sizes.coupling_count; i++) {
    CnCouplingState state;
    CNI_TRY(cn_coupling_state(world, w->couplings[i], &state));
    effort[i] = state.effort;
    error[i] = state.error;
  }
  return CN_OK;
}

static int64_t rows_so_far(const CniRunWriter *w, CniRowKind kind) {
  return w->rows[kind].written + w->rows[kind].pending;
}

static int64_t last_step(const CniRunWriter *w) {
  return w->first_step + rows_so_far(w, CNI_ROWS_STEPS);
}

static CnStatus put_contacts(CniRunWriter *w, const CnWorld *world) {
  if (!w->sizes.record_contacts) return CN_OK;
  CnWorldInfo info;
  int64_t row;
  cn_world_info(world, &info);
  CNI_TRY(cni_run_rows_add(w, CNI_ROWS_CONTACTS, info.contact_count, &row));
  for (int32_t i = 0; i < info.contact_count; i++, row++) {
    CnContact c;
    CNI_TRY(cn_world_contact(world, i, &c));
    CnRunContact put = {.body_a = cni_run_body_index(w, c.body_a),
                        .body_b = cni_run_body_index(w, c.body_b),
                        .shape_a = cni_run_shape_index(w, c.shape_a),
                        .shape_b = cni_run_shape_index(w, c.shape_b),
                        .point = c.point,
                        .normal = c.normal,
                        .gap = c.gap,
                        .force = c.force,
                        .torque = c.torque};
    cni_run_rows_put(w, CNI_COLUMN_CONTACT_BODY_A, CNI_COLUMN_EVENT_STEP, row, &put);
  }
  return CN_OK;
}

// A run has the bodies, shapes and joints that it began with.
static CnStatus check_things(const CniRunWriter *w, const CnWorld *world) {
  CnWorldInfo info;
  cn_world_info(world, &info);
  if (info.body_count == w->sizes.body_count && info.joint_count == w->sizes.joint_count &&
      info.shape_count == w->shape_count)
    return CN_OK;
  return cni_error(
      CN_UNSUPPORTED,
      "%s: the world has %d bodies, %d shapes and %d joints now, the run began with %d, %d and %d: "
      "it ends with step %lld",
      w->at, (int)info.body_count, (int)info.shape_count, (int)info.joint_count,
      (int)w->sizes.body_count, (int)w->shape_count, (int)w->sizes.joint_count,
      (long long)last_step(w));
}

static CnStatus put_frame(CniRunWriter *w, const CnWorld *world) {
  CnWorldInfo info;
  int64_t row;
  cn_world_info(world, &info);
  CNI_TRY(cni_run_rows_add(w, CNI_ROWS_FRAMES, 1, &row));
  CNI_TRY(put_bodies(w, world, row));
  CNI_TRY(put_reactions(w, world, row));
  CNI_TRY(put_contacts(w, world));
  CniFrameRow frame = {info.time, info.step, rows_so_far(w, CNI_ROWS_CONTACTS)};
  cni_run_rows_put(w, CNI_COLUMN_FRAME_TIME, CNI_COLUMN_POSITION, row, &frame);
  cni_run_rows_put(w, CNI_COLUMN_CONTACTS_END, CNI_COLUMN_CONTACT_BODY_A, row, &frame);
  w->frame_number = frame_number(w, info.time);
  return CN_OK;
}

// ---- steps ----

// Where the world keeps none: not numbers.
static void take_balance(const CnWorld *world, CnStepBalance *balance) {
  CnWorldDef def;
  if (cn_world_settings(world, &def) == CN_OK && def.balance &&
      cn_world_balance(world, balance) == CN_OK)
    return;
  for (int32_t i = 0; i < CN_BALANCE_PART_COUNT; i++) balance->parts[i].energy = NAN;
  balance->residual.energy = NAN;
}

static CnStatus put_step(CniRunWriter *w, CnWorld *world, const CnStepReport *report, int due) {
  int64_t row;
  CniStepRow step = {.report = *report, .penetration = {NAN, NAN, 0}, .overlaps = NAN};
  cn_world_sums(world, &step.sums);
  take_balance(world, &step.balance);
  if (due && !w->skip_penetration) {
    CNI_TRY(cn_world_penetration(world, &step.penetration));
    step.overlaps = step.penetration.overlap_count;
  }
  CNI_TRY(cni_run_rows_add(w, CNI_ROWS_STEPS, 1, &row));
  CNI_TRY(cni_run_put_events(w, world, report));
  step.events_end = rows_so_far(w, CNI_ROWS_EVENTS);
  cni_run_rows_put(w, CNI_COLUMN_TIME, CNI_COLUMN_SCALAR_END, row, &step);
  cni_run_rows_put(w, CNI_COLUMN_EVENTS_END, CNI_COLUMN_FRAME_TIME, row, &step);
  double *sensors = cni_run_rows_doubles(w, CNI_COLUMN_SENSORS, row);
  return sensors ? cn_scene_measure(w->scene, world, sensors) : CN_OK;
}

// All of a step, and a frame where one is due.
static CnStatus put_all(CniRunWriter *w, CnWorld *world, const CnStepReport *report) {
  int due = w->frames_per_second == 0 || frame_number(w, report->time) > w->frame_number;
  CNI_TRY(check_things(w, world));
  CNI_TRY(put_step(w, world, report, due));
  return due ? put_frame(w, world) : CN_OK;
}

// Half a step is none: back to the rows there were, which reach the file. The run has come to its end.
static void end_before(CniRunWriter *w, const CniRows *before) {
  char cause[CNI_MESSAGE_SIZE];
  snprintf(cause, sizeof cause, "%s", cn_error_message());
  for (int32_t k = 0; k < CNI_ROW_KIND_COUNT; k++) {
    int64_t rows = before[k].written + before[k].pending;
    w->rows[k].pending = rows > w->rows[k].written ? rows - w->rows[k].written : 0;
    w->rows[k].written = rows - w->rows[k].pending;
  }
  w->ended = 1;
  if (cni_run_rows_commit(w) != CN_OK) return;
  cn_error_set(CN_OK, cause);
}

// ---- the public face ----

CnStatus cni_run_writer_step(CniRunWriter *w, CnWorld *world, const CnStepReport *report) {
  if (!w || !world || !report) return cni_invalid("cni_run_writer_step: a null pointer");
  if (w->failed) return fail_again(w);
  if (w->ended)
    return cni_error(CN_UNSUPPORTED, "%s: the run has ended with step %lld", w->at,
                     (long long)last_step(w));
  int64_t expected = last_step(w) + 1;
  if (report->step < expected - 1) w->strayed = 1;
  if (report->step != expected)
    return cni_invalid("%s: step %lld was to be recorded, not %lld", w->at, (long long)expected,
                       (long long)report->step);
  if (!cni_scene_followed(w->scene, world))
    return cni_invalid(
        "%s: the scene has sources, or sensors that look back: its world is stepped by "
        "cn_scene_step, and step %lld was not",
        w->at, (long long)report->step);
  CniQuiet quiet = cni_quiet_begin();
  CniRows before[CNI_ROW_KIND_COUNT];
  memcpy(before, w->rows, sizeof before);
  CnStatus status = put_all(w, world, report);
  if (status == CN_OK && cni_seconds() - w->flushed >= FLUSH_SECONDS)
    status = cni_run_rows_commit(w);
  if (status != CN_OK && !w->failed) end_before(w, before);
  cni_quiet_end(quiet);
  return status;
}

CnStatus cni_run_writer_flush(CniRunWriter *w) {
  if (!w) return cni_invalid("cni_run_writer_flush: the writer is null");
  if (w->failed) return fail_again(w);
  CniQuiet quiet = cni_quiet_begin();
  CnStatus status = cni_run_rows_commit(w);
  cni_quiet_end(quiet);
  return status;
}

int cni_run_writer_strayed(const CniRunWriter *w, const CnWorld *world) {
  CnWorldInfo info;
  cn_world_info(world, &info);
  return w->strayed || info.step < last_step(w);
}

CnStatus cni_run_writer_verdict(CniRunWriter *w, const CnVerdict *verdict) {
  if (!w || !verdict) return cni_invalid("cni_run_writer_verdict: a null pointer");
  if (w->failed) return fail_again(w);
  CniQuiet quiet = cni_quiet_begin();
  hid_t set = H5Dopen2(w->file, CNI_RUN_VERDICT, H5P_DEFAULT);
  hid_t type = set < 0 ? -1 : H5Dget_type(set);
  herr_t result = type < 0 ? -1 : H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, verdict->line);
  if (type >= 0) H5Tclose(type);
  if (set >= 0 && H5Dclose(set) < 0) result = -1;
  CnStatus status = result < 0 || w->disk.error ? cni_run_fail(w, "cannot be written") : CN_OK;
  cni_quiet_end(quiet);
  return status;
}

static CnStatus finish(CniRunWriter *w, int64_t complete) {
  CnStatus status = w->failed ? fail_again(w) : CN_OK;
  CniQuiet quiet = cni_quiet_begin();
  if (status == CN_OK) status = cni_run_rows_commit(w);
  if (status == CN_OK && complete) {
    w->committed.complete = 1;
    status = cni_run_rows_commit(w);
  }
  // nothing after a failure may reach the file
  if (status != CN_OK && !w->disk.error) w->disk.error = EIO;
  close_file(w);
  if (status == CN_OK && w->disk.error) status = cni_run_fail(w, "cannot be written");
  if (status == CN_OK && fsync(w->disk.fd) != 0 && errno != EINVAL) {
    w->disk.error = errno;
    status = cni_run_fail(w, "cannot be written");
  }
  if (close(w->disk.fd) != 0 && status == CN_OK)
    status = cni_file_error(w->at, "cannot be written", errno);
  if (status == CN_OK && complete && w->at != w->path) status = give_name(w, w->path);
  // a run that cannot be packed stays as it is
  if (status == CN_OK && complete && !w->plain)
    cni_run_pack(w->path, w->new_path, &w->allocator, -1);
  cni_quiet_end(quiet);
  release(w);
  return status;
}

CnStatus cni_run_writer_close(CniRunWriter *w) { return w ? finish(w, 1) : CN_OK; }

CnStatus cni_run_writer_abandon(CniRunWriter *w) { return w ? finish(w, 0) : CN_OK; }

// From a prepared writer to a file that has its name: the rows of `old` up to `step`, or the
// present state.
static CnStatus start(CniRunWriter *w, const CniRunWriterDef *def, CnWorld *world, CnRun *old,
                      int64_t step, const char *name) {
  CnWorldInfo info;
  cn_world_info(world, &info);
  // a run goes on as it began
  if (old) {
    w->first_step = old->info.first_step;
    w->sizes.record_contacts = old->info.contacts_recorded;
    w->sizes.record_joints = old->sizes.record_joints;
  }
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++)
    w->rows[cni_run_columns[c].rows].row_bytes +=
        (size_t)cni_column_width(c, &w->sizes) * cni_number_size(cni_run_columns[c].number);
  CNI_TRY(open_new(w));
  CNI_TRY(make_datasets(w, def, world));
  if (old) CNI_TRY(cni_run_copy(w, old, step));
  if (old) CNI_TRY(cni_run_resume_events(w, world, old, w->rows[CNI_ROWS_EVENTS].written));
  if (H5Fstart_swmr_write(w->file) < 0 || w->disk.error)
    return cni_run_fail(w, "cannot be written");
  CNI_TRY(open_datasets(w));
  if (!old) CNI_TRY(put_frame(w, world));
  w->frame_number = frame_number(w, info.time);
  CNI_TRY(cni_run_rows_commit(w));
  return give_name(w, name);
}

static CnStatus start_or_clean(CniRunWriter *w, const CniRunWriterDef *def, CnWorld *world,
                               CnRun *old, int64_t step, const char *name) {
  CniQuiet quiet = cni_quiet_begin();
  CnStatus status = start(w, def, world, old, step, name);
  if (status != CN_OK) {
    if (!w->disk.error) w->disk.error = EIO;
    close_file(w);
    if (w->disk.fd >= 0) {
      close(w->disk.fd);
      unlink(w->new_path);
    }
    release(w);
  }
  cni_quiet_end(quiet);
  return status;
}

// What is there already, once nobody else writes there.
static CnStatus look(const CniRunWriterDef *def, int *exists) {
  struct stat there;
  *exists = stat(def->path, &there) == 0;
  if (!*exists || (S_ISREG(there.st_mode) && def->replace)) return CN_OK;
  return cni_error(CN_FILE, "%s: is there already and %s", def->path,
                   S_ISREG(there.st_mode) ? "may not be replaced" : "is no file");
}

CnStatus cni_run_writer_create(const CniRunWriterDef *def, CnWorld *world, CniRunWriter **writer) {
  if (!writer) return cni_invalid("cni_run_writer_create: no result pointer");
  *writer = NULL;
  CNI_TRY(check_def(def, world));
  int exists = 0;
  CniRunWriter *w = NULL;
  CnStatus status = prepare(def, world, &w);
  if (status == CN_OK) status = look(def, &exists);
  if (status == CN_OK)
    status = start_or_clean(w, def, world, NULL, 0, exists ? w->partial_path : w->path);
  else if (w)
    release(w);
  if (status == CN_OK) *writer = w;
  return status;
}

CnStatus cni_run_writer_resume(const CniRunWriterDef *def, CnWorld *world, int64_t step,
                               CniRunWriter **writer) {
  if (!writer) return cni_invalid("cni_run_writer_resume: no result pointer");
  *writer = NULL;
  CNI_TRY(check_def(def, world));
  CnWorldInfo info;
  cn_world_info(world, &info);
  if (info.step != step)
    return cni_invalid("%s: to be resumed at step %lld, but the world is at %lld", def->path,
                       (long long)step, (long long)info.step);
  CniRunWriter *w = NULL;
  CnRun *old = NULL;
  int is_partial = 0;
  CnStatus status = prepare(def, world, &w);
  if (status == CN_OK) status = cni_run_find(w, def, step, &old, &is_partial);
  if (status != CN_OK) {
    if (w) release(w);
    return status;
  }
  // a complete run stays until its continuation is complete
  int beside = is_partial || old->info.complete;
  status = start_or_clean(w, def, world, old, step, beside ? w->partial_path : w->path);
  cn_run_close(old);
  if (status == CN_OK) *writer = w;
  return status;
}
