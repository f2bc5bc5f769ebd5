// SPDX-License-Identifier: Apache-2.0
// What a run tells: bodies, shapes and joints, frames, contacts, events, and series by name.
//
// The tables of bodies, shapes, joints and sensors are in memory since the run was opened;
// everything that grows with time is read from the file when it is asked for. Indices are checked
// against the whole rows that were there at the opening: of a run that is still being written the
// rest is not seen. A series is a scalar of the steps or a sensor; a column that a file of an older
// version lacks reads as not a number, and a name that is none is answered with the nearest one.
#include <cairn/run_look.h>
#include <stdio.h>
#include <string.h>

#include "core/floats.h"
#include "io/run/run_private.h"
#include "world/world.h"

#define BLOCK_ROWS 1024 // rows read at a time, onto the stack

CnStatus cni_run_null(const char *call) { return cni_invalid("%s: a null pointer", call); }

CnStatus cni_run_check_index(const CnRun *run, const char *what, int64_t index, int64_t count) {
  if (index >= 0 && index < count) return CN_OK;
  return cni_invalid("%s: %s %lld is none: there are %lld", run->path, what, (long long)index,
                     (long long)count);
}

static CnStatus check_range(const CnRun *run, const char *what, int64_t first, int64_t count,
                            int64_t all) {
  if (first >= 0 && count >= 0 && first <= all && count <= all - first) return CN_OK;
  return cni_invalid("%s: %s %lld and %lld more are not among %lld", run->path, what,
                     (long long)first, (long long)count, (long long)all);
}

// ---- what stands still ----

void cn_run_info(const CnRun *run, CnRunInfo *info) {
  if (info) *info = (CnRunInfo){0};
  if (info && run) *info = run->info;
}

// The five of them differ in names only.
#define GET(function, type, what, array, number)                                                   \
  CnStatus function(const CnRun *run, int32_t index, type *result) {                               \
    if (result) memset(result, 0, sizeof *result);                                                 \
    if (!run || !result) return cni_run_null(#function);                                           \
    CNI_TRY(cni_run_check_index(run, what, index, run->info.number));                              \
    *result = run->array[index];                                                                   \
    return CN_OK;                                                                                  \
  }
GET(cn_run_parameter, CnRunParameter, "parameter", parameters, parameter_count)
GET(cn_run_body, CnRunBody, "body", bodies, body_count)

GET(cn_run_shape, CnRunShape, "shape", shapes, shape_count)
GET(cn_run_joint, CnRunJoint, "joint", joints, joint_count)
GET(cn_run_sensor, CnRunSeries, "sensor", sensors, sensor_count)
#undef GET

// ---- frames ----

// Rows of a column; failures become a sentence with the path of the dataset.
CnStatus cni_run_rows_read(CnRun *run, int32_t column, int64_t first, int64_t count, hid_t type,
                           void *values) {
  CniQuiet quiet = cni_quiet_begin();
  CnStatus status = CN_OK;
  if (cni_run_read(run, column, first, count, type, values) < 0)
    status = cni_run_read_error(run, cni_run_columns[column].path);
  cni_quiet_end(quiet);
  return status;
}

// One row of a column of bodies into every so manieth number of an array.
static herr_t scatter(CnRun *run, int32_t column, int64_t frame, double *values, hsize_t stride,
                      hsize_t offset) {
  hsize_t n = (hsize_t)run->info.body_count, c = (hsize_t)cni_run_columns[column].components;
  hsize_t file_start[3] = {(hsize_t)frame, 0, 0}, file_count[3] = {1, n, c};
  hsize_t dims[2] = {n, stride}, start[2] = {0, offset}, count[2] = {n, c};
  if (run->packed[column]) {
    const double *row = cni_run_row(run, column, frame);
    for (hsize_t i = 0; row && i < n; i++)
      memcpy(values + i * stride + offset, row + i * c, c * sizeof *row);
    return row ? 0 : -1;
  }
  hid_t space = H5Dget_space(run->columns[column]), memory = H5Screate_simple(2, dims, NULL);
  herr_t result = -1;
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, file_start, NULL, file_count, NULL) >= 0 &&
      H5Sselect_hyperslab(memory, H5S_SELECT_SET, start, NULL, count, NULL) >= 0)
    result = H5Dread(run->columns[column], H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values);
  hid_t errors = cni_hdf_keep_errors(result);
  H5Sclose(memory);
  H5Sclose(space);
  cni_hdf_bring_errors(errors);
  return result;
}

_Static_assert(sizeof(CnPose) == 7 * sizeof(double) && sizeof(CnTwist) == 6 * sizeof(double),
               "poses and twists are read as arrays of numbers");

static herr_t read_bodies(CnRun *run, int64_t index, CnPose *poses, CnTwist *twists) {
  if (poses && (scatter(run, CNI_COLUMN_POSITION, index, &poses->position.x, 7, 0) < 0 ||
                scatter(run, CNI_COLUMN_ROTATION, index, &poses->position.x, 7, 3) < 0))
    return -1;
  if (twists && (scatter(run, CNI_COLUMN_VELOCITY, index, &twists->velocity.x, 6, 0) < 0 ||
                 scatter(run, CNI_COLUMN_SPIN, index, &twists->velocity.x, 6, 3) < 0))
    return -1;
  return 0;
}

CnStatus cn_run_frame(CnRun *run, int64_t index, double *time, CnPose *poses, CnTwist *twists) {
  if (!run) return cni_run_null("cn_run_frame");
  CNI_TRY(cni_run_check_index(run, "frame", index, run->info.frame_count));
  if (time)
    CNI_TRY(cni_run_rows_read(run, CNI_COLUMN_FRAME_TIME, index, 1, H5T_NATIVE_DOUBLE, time));
  if (run->info.body_count == 0) return CN_OK;
  CniQuiet quiet = cni_quiet_begin();
  CnStatus status = CN_OK;
  if (read_bodies(run, index, poses, twists) < 0) {
    char what[40];
    snprintf(what, sizeof what, "frame %lld", (long long)index);
    status = cni_run_read_error(run, what);
  }
  cni_quiet_end(quiet);
  return status;
}

CnStatus cn_run_frame_step(CnRun *run, int64_t index, int64_t *step) {
  if (!run || !step) return cni_run_null("cn_run_frame_step");
  CNI_TRY(cni_run_check_index(run, "frame", index, run->info.frame_count));
  return cni_run_rows_read(run, CNI_COLUMN_FRAME_STEP, index, 1, H5T_NATIVE_INT64, step);
}

CnStatus cn_run_joint_states(CnRun *run, int64_t frame, CnJointState *states) {
  if (!run || !states) return cni_run_null("cn_run_joint_states");
  CNI_TRY(cni_run_check_index(run, "frame", frame, run->info.frame_count));
  if (!run->info.joints_recorded)
    return cni_error(CN_UNSUPPORTED, "%s: joint reactions were not recorded", run->path);
  size_t n = (size_t)run->info.joint_count;
  size_t bytes = (3 * n + (size_t)run->sizes.coordinate_count) * sizeof(double);
  if (n == 0) return CN_OK;
  double *values = cni_allocate(&run->allocator, bytes);
  if (!values) return cni_error_memory(bytes);
  CnStatus status = CN_OK;
  for (size_t i = 0; i < n; i++)
    states[i] = (CnJointState){.coordinate_count = cni_joint_coordinate_count(run->joints[i].kind)};
  for (int32_t c = CNI_COLUMN_JOINT_FORCE; c < CNI_COLUMN_JOINT_END && status == CN_OK; c++) {
    if (cni_column_width(c, &run->sizes) == 0) continue;
    status = cni_run_rows_read(run, c, frame, 1, H5T_NATIVE_DOUBLE, values);
    const double *from = values;
    for (size_t i = 0; i < n && status == CN_OK; i++) {
      int32_t count = cni_run_columns[c].components ? cni_run_columns[c].components : 1;
      if (cni_run_columns[c].per == CNI_PER_COORDINATE) count = states[i].coordinate_count;
      char *to = (char *)&states[i] + cni_run_columns[c].offset;
      memcpy(to, from, (size_t)count * sizeof *from);
      from += count;
    }
  }
  cni_release(&run->allocator, values, bytes);
  return status;
}

// ---- contacts and events ----

// What a file says is an index may be anything.
static int32_t index_or_none(int32_t index, int32_t count) {
  return index >= 0 && index < count ? index : -1;
}

// Rows of the columns first_column .. end - 1 into structs that they are the fields of.
static CnStatus read_structs(CnRun *run, int32_t first_column, int32_t end, int64_t first,
                             int64_t count, void *structs, size_t struct_size) {
  char values[BLOCK_ROWS * sizeof(CnVec3)];
  for (int64_t i = 0; i < count; i += BLOCK_ROWS) {
    int64_t rows = count - i < BLOCK_ROWS ? count - i : BLOCK_ROWS;
    for (int32_t c = first_column; c < end; c++) {
      const CniColumn *column = &cni_run_columns[c];
      size_t size = cni_number_size(column->field);
      if (column->components) size *= (size_t)column->components;
      CNI_TRY(cni_run_rows_read(run, c, first + i, rows, cni_number_type(column->field), values));
      for (int64_t k = 0; k < rows; k++)
        memcpy((char *)structs + (size_t)(i + k) * struct_size + column->offset,
               values + (size_t)k * size, size);
    }
  }
  return CN_OK;
}

CnStatus cn_run_contacts(CnRun *run, int64_t frame, CnRunContact *contacts, int32_t capacity,
                         int32_t *count) {
  if (count) *count = 0;
  if (!run || !count || capacity < 0 || (capacity > 0 && !contacts))
    return cni_run_null("cn_run_contacts");
  CNI_TRY(cni_run_check_index(run, "frame", frame, run->info.frame_count));
  if (!run->info.contacts_recorded) return CN_OK;
  int64_t end[2] = {0, 0}, from = frame > 0 ? frame - 1 : 0, n = frame > 0 ? 2 : 1;
  CNI_TRY(cni_run_rows_read(run, CNI_COLUMN_CONTACTS_END, from, n, H5T_NATIVE_INT64, &end[2 - n]));
  if (end[0] < 0 || end[1] < end[0] || end[1] > run->committed.rows[CNI_ROWS_CONTACTS] ||
      end[1] - end[0] > INT32_MAX)
    return cni_bad_data("%s: is damaged: frame %lld has contacts %lld to %lld", run->path,
                        (long long)frame, (long long)end[0], (long long)end[1]);
  int64_t wanted = end[1] - end[0] < capacity ? end[1] - end[0] : capacity;
  *count = (int32_t)(end[1] - end[0]);
  CNI_TRY(read_structs(run, CNI_COLUMN_CONTACT_BODY_A, CNI_COLUMN_EVENT_STEP, end[0], wanted,
                       contacts, sizeof *contacts));
  int32_t bodies = run->info.body_count, shapes = run->info.shape_count;
  for (int64_t i = 0; i < wanted; i++) {
    CnRunContact *c = &contacts[i];
    c->body_a = index_or_none(c->body_a, bodies);
    c->body_b = index_or_none(c->body_b, bodies);
    c->shape_a = index_or_none(c->shape_a, shapes);
    c->shape_b = index_or_none(c->shape_b, shapes);
  }
  return CN_OK;
}

static CnContactEventKind kind_of(int32_t kind) {
  if (kind >= CNI_RUN_TRIGGER)
    return kind == CNI_RUN_TRIGGER ? CN_TRIGGER_ENTERED : CN_TRIGGER_LEFT;
  return kind == 0 ? CN_CONTACT_BEGAN : CN_CONTACT_ENDED;
}

CnStatus cn_run_events(CnRun *run, int64_t first, int64_t count, CnRunEvent *events) {
  if (!run || (count > 0 && !events)) return cni_run_null("cn_run_events");
  CNI_TRY(check_range(run, "event", first, count, run->info.event_count));
  CniEventRow rows[256];
  for (int64_t i = 0; i < count; i += 256) {
    int64_t n = count - i < 256 ? count - i : 256;
    CNI_TRY(read_structs(run, CNI_COLUMN_EVENT_STEP, CNI_COLUMN_COUNT, first + i, n, rows,
                         sizeof *rows));
    for (int64_t k = 0; k < n; k++) {
      const CniEventRow *e = &rows[k];
      int located = e->kind >= CNI_RUN_LOCATED && e->kind < CNI_RUN_TRIGGER;
      int32_t what = e->kind - CNI_RUN_LOCATED;
      events[i + k] = (CnRunEvent){.step = e->step,
                                   .kind = kind_of(e->kind),
                                   .shape_a = index_or_none(e->shape_a, run->info.shape_count),
                                   .shape_b = index_or_none(e->shape_b, run->info.shape_count),
                                   .located = located,
                                   .what = located ? (CnEventKind)(what % CN_EVENT_KIND_COUNT)
                                                   : CN_EVENT_IMPACT,
                                   .time = e->time,
                                   .speed = e->speed,
                                   .impulse = e->impulse};
    }
  }
  return CN_OK;
}

// ---- series ----

static const char *last_part(const char *path) { return strrchr(path, '/') + 1; }

CnStatus cn_run_scalar(const CnRun *run, int32_t index, CnRunSeries *series) {
  if (series) *series = (CnRunSeries){"", ""};
  if (!run || !series) return cni_run_null("cn_run_scalar");
  CNI_TRY(cni_run_check_index(run, "scalar", index, run->info.scalar_count));
  const CniColumn *c = &cni_run_columns[index + 1];
  *series = (CnRunSeries){last_part(c->path), strcmp(c->unit, "1") == 0 ? "" : c->unit};
  return CN_OK;
}

static herr_t read_packed_sensor(CnRun *run, int32_t sensor, int64_t first, int64_t count,
                                 double *values) {
  for (int64_t i = 0; i < count; i++) {
    const double *row = cni_run_row(run, CNI_COLUMN_SENSORS, first + i);
    if (!row) return -1;
    values[i] = row[sensor];
  }
  return 0;
}

static CnStatus read_sensor(CnRun *run, int32_t sensor, int64_t first, int64_t count,
                            double *values) {
  hsize_t start[2] = {(hsize_t)first, (hsize_t)sensor}, size[2] = {(hsize_t)count, 1};
  CniQuiet quiet = cni_quiet_begin();
  hid_t set = run->columns[CNI_COLUMN_SENSORS], space = H5Dget_space(set);
  hid_t memory = H5Screate_simple(1, size, NULL);
  herr_t result = 0;
  if (count > 0 && run->packed[CNI_COLUMN_SENSORS])
    result = read_packed_sensor(run, sensor, first, count, values);
  else if (count > 0 && (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) < 0 ||
                         H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) < 0))
    result = -1;
  CnStatus status = result < 0 ? cni_run_read_error(run, run->sensors[sensor].name) : CN_OK;
  H5Sclose(memory);
  H5Sclose(space);
  cni_quiet_end(quiet);
  return status;
}

CnStatus cn_run_values(CnRun *run, const char *name, int64_t first, int64_t count, double *values) {
  if (!run || !name || (count > 0 && !values)) return cni_run_null("cn_run_values");
  CNI_TRY(check_range(run, "step", first, count, run->info.step_count));
  CniNearestName nearest = cni_nearest(name, strlen(name));
  for (int32_t c = 0; c < CNI_COLUMN_SCALAR_END; c++) {
    const char *own = last_part(cni_run_columns[c].path);
    if (strcmp(own, name) == 0 && run->columns[c] >= 0)
      return cni_run_rows_read(run, c, first, count, H5T_NATIVE_DOUBLE, values);
    if (strcmp(own, name) == 0) { // older than the column
      for (int64_t i = 0; i < count; i++) values[i] = NAN;
      return CN_OK;
    }
    cni_nearest_offer(&nearest, own);
  }
  const char *sensor = strncmp(name, "sensors/", 8) == 0 ? name + 8 : name;
  for (int32_t i = 0; i < run->info.sensor_count; i++) {
    if (strcmp(run->sensors[i].name, sensor) == 0) return read_sensor(run, i, first, count, values);
    cni_nearest_offer(&nearest, run->sensors[i].name);
  }
  char hint[CNI_HINT_SIZE];
  cni_nearest_hint(&nearest, hint);
  return cni_invalid("%s: has no series \"%s\"%s", run->path, name, hint);
}
