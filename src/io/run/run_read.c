// SPDX-License-Identifier: Apache-2.0
// Reading a run. The file is opened as single-writer-multiple-reader mode asks of readers, which
// serves a run that is being written, one whose writer was killed (its mark of being written is
// still set, which other ways of opening refuse), and a closed one alike. The counts of whole rows
// are read first; nothing behind them is ever looked at.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/run/run_private.h"
#include "joint/joint.h"

// ---- small things out of a file: a failure is kept and makes later calls do nothing ----

typedef struct Reading {
  CnRun *run;
  CnStatus status;
  CniArena arena; // columns of tables before they become rows
} Reading;

static void keep(Reading *r, CnStatus status) {
  if (r->status == CN_OK) r->status = status;
}

static void damaged(Reading *r, const char *what, int64_t index, int64_t value) {
  if (r->status == CN_OK) r->status = cni_input_damaged(r->run, what, index, value);
}

// Attributes that are numbers; what is not finite was not written by Cairn.
static void get_numbers(Reading *r, const char *object, const char *name, int32_t count,
                        double *values) {
  if (r->status != CN_OK) return;
  keep(r, cni_input_numbers(r->run, object, name, CNI_DOUBLE, count, values));
  for (int32_t i = 0; i < count && r->status == CN_OK; i++)
    if (!isfinite(values[i]))
      r->status = cni_bad_data("%s: is damaged: %s is %g", r->run->path, name, values[i]);
}

static double get_number(Reading *r, const char *object, const char *name) {
  double value = 0;
  get_numbers(r, object, name, 1, &value);
  return value;
}

// One from 0 to the most that makes sense; negative: any.
static int64_t get_integer(Reading *r, const char *object, const char *name, int64_t most) {
  int64_t value = 0;
  if (r->status != CN_OK) return 0;
  keep(r, cni_input_numbers(r->run, object, name, CNI_INT64, 1, &value));
  if (most >= 0 && (value < 0 || value > most)) damaged(r, name, 0, value);
  return r->status == CN_OK ? value : 0;
}

// A text that is an attribute of an object, or with a null name a dataset.
static const char *get_text(Reading *r, const char *object, const char *name, int32_t word) {
  CniTexts *text = &r->run->words[word];
  if (r->status == CN_OK) keep(r, cni_input_texts(r->run, object, name, 1, text));
  return text->bytes ? text->bytes : "";
}

// ---- tables ----

static int32_t count_of(Reading *r, const char *path) {
  int64_t count = 0;
  if (r->status == CN_OK) keep(r, cni_input_count(r->run, path, &count));
  return (int32_t)count;
}

// All numbers of a table, count x components, until the file has been read.
static void *get_table(Reading *r, const char *path, CniNumber as, int64_t count,
                       int32_t components) {
  int64_t numbers = count * components;
  size_t bytes = (size_t)numbers * cni_number_size(as);
  if (r->status == CN_OK && !cni_input_fits(r->run, numbers, 1)) damaged(r, path, 0, numbers);
  void *values = r->status == CN_OK ? cni_arena_take(&r->arena, bytes) : NULL;
  if (!values && r->status == CN_OK) r->status = cni_error_memory(bytes);
  if (r->status == CN_OK) keep(r, cni_input_numbers(r->run, path, NULL, as, numbers, values));
  return values;
}

// A table of texts; the i-th begins at i times *size.
static const char *get_names(Reading *r, const char *path, int64_t count, int32_t slot,
                             size_t *size) {
  CniTexts *names = &r->run->names[slot];
  if (r->status == CN_OK) keep(r, cni_input_texts(r->run, path, NULL, count, names));
  *size = names->size;
  return names->bytes;
}

static void *take(Reading *r, int64_t count, size_t size) {
  if (r->status != CN_OK || count == 0) return NULL;
  void *memory = cni_allocate(&r->run->allocator, (size_t)count * size);
  if (!memory) r->status = cni_error_memory((size_t)count * size);
  if (memory) memset(memory, 0, (size_t)count * size);
  return memory;
}

// Parameters and sensors.
static void read_named(Reading *r) {
  CnRun *run = r->run;
  size_t size, unit_size;
  int64_t n = run->info.parameter_count;
  run->parameters = take(r, n, sizeof *run->parameters);
  const char *name = get_names(r, "/parameters/name", n, 0, &size);
  const double *value = get_table(r, "/parameters/value", CNI_DOUBLE, n, 1);
  for (int64_t i = 0; i < n && r->status == CN_OK; i++)
    run->parameters[i] = (CnRunParameter){name + (size_t)i * size, value[i]};

  n = run->info.sensor_count;
  run->sensors = take(r, n, sizeof *run->sensors);
  name = get_names(r, "/sensors/name", n, 1, &size);
  const char *unit = get_names(r, "/sensors/unit", n, 2, &unit_size);
  for (int64_t i = 0; i < n && r->status == CN_OK; i++)
    run->sensors[i] = (CnRunSeries){name + (size_t)i * size, unit + (size_t)i * unit_size};
}

static void read_bodies(Reading *r) {
  CnRun *run = r->run;
  int64_t n = run->info.body_count;
  size_t size;
  run->bodies = take(r, n, sizeof *run->bodies);
  const char *name = get_names(r, "/bodies/name", n, 3, &size);
  const int32_t *kind = get_table(r, "/bodies/kind", CNI_INT32, n, 1);
  const double *mass = get_table(r, "/bodies/mass", CNI_DOUBLE, n, 1);
  for (int64_t i = 0; i < n && r->status == CN_OK; i++) {
    if (kind[i] < 0 || kind[i] > CN_BODY_FIXED) damaged(r, "the kind of body", i, kind[i]);
    run->bodies[i] = (CnRunBody){name + (size_t)i * size, (CnBodyKind)kind[i], mass[i]};
  }
  if (r->status != CN_OK || n == 0 || H5Lexists(run->file, CNI_RUN_COLORS, H5P_DEFAULT) <= 0)
    return;
  run->colors = take(r, n, 4 * sizeof *run->colors);
  const double *color = get_table(r, CNI_RUN_COLORS, CNI_DOUBLE, n, 4);
  for (int64_t i = 0; i < 4 * n && r->status == CN_OK; i++) {
    if (!(color[i] <= 1)) damaged(r, "the color of body", i / 4, -1);
    run->colors[i] = color[i] >= 0 ? color[i] : -1;
  }
}

// A size that some kind has; a file older than the kind has no table of it.
static void read_sizes(Reading *r, const CniField *field) {
  CnRun *run = r->run;
  size_t n = (size_t)run->info.shape_count, bytes = cni_field_size(field);
  char path[64];
  snprintf(path, sizeof path, "/shapes/%s", field->name);
  if (r->status != CN_OK || H5Lexists(run->file, path, H5P_DEFAULT) <= 0) return;
  int32_t components = (int32_t)(bytes / sizeof(double));
  const char *values = get_table(r, path, CNI_DOUBLE, (int64_t)n, components);
  for (size_t i = 0; i < n && r->status == CN_OK; i++)
    memcpy(cni_field_at(field, &run->shapes[i].def), values + i * bytes, bytes);
}

static void read_shapes(Reading *r) {
  CnRun *run = r->run;
  size_t n = (size_t)run->info.shape_count;
  run->shapes = take(r, (int64_t)n, sizeof *run->shapes);
  const int32_t *body = get_table(r, "/shapes/body", CNI_INT32, (int64_t)n, 1);
  const int32_t *kind = get_table(r, "/shapes/kind", CNI_INT32, (int64_t)n, 1);
  const CnVec3 *position = get_table(r, "/shapes/position", CNI_DOUBLE, (int64_t)n, 3);
  const CnQuat *rotation = get_table(r, "/shapes/rotation", CNI_DOUBLE, (int64_t)n, 4);
  for (size_t i = 0; i < n && r->status == CN_OK; i++) {
    if (body[i] < 0 || body[i] >= run->info.body_count)
      damaged(r, "the body of shape", (int64_t)i, body[i]);
    if (kind[i] < 0 || kind[i] >= CN_SHAPE_KIND_COUNT)
      damaged(r, "the kind of shape", (int64_t)i, kind[i]);
    if (r->status != CN_OK) return;
    run->shapes[i] = (CnRunShape){body[i], cn_shape_def_default((CnShapeKind)kind[i])};
    run->shapes[i].def.pose = (CnPose){position[i], rotation[i]};
  }
  const CniField *field;
  for (int32_t i = 0; (field = cni_shape_field(i)); i++) read_sizes(r, field);
  if (r->status == CN_OK) r->status = cni_run_read_geometries(run);
}

static void read_joints(Reading *r) {
  CnRun *run = r->run;
  size_t n = (size_t)run->info.joint_count, size;
  run->joints = take(r, (int64_t)n, sizeof *run->joints);
  const char *name = get_names(r, "/joints/name", (int64_t)n, 4, &size);
  const int32_t *kind = get_table(r, "/joints/kind", CNI_INT32, (int64_t)n, 1);
  const int32_t *a = get_table(r, "/joints/body_a", CNI_INT32, (int64_t)n, 1);
  const int32_t *b = get_table(r, "/joints/body_b", CNI_INT32, (int64_t)n, 1);
  const CnPose *frame_a = get_table(r, "/joints/frame_a", CNI_DOUBLE, (int64_t)n, 7);
  const CnPose *frame_b = get_table(r, "/joints/frame_b", CNI_DOUBLE, (int64_t)n, 7);
  int64_t coordinates = 0;
  for (size_t i = 0; i < n && r->status == CN_OK; i++) {
    if (a[i] < -1 || a[i] >= run->info.body_count) damaged(r, "body_a of joint", (int64_t)i, a[i]);
    if (b[i] < -1 || b[i] >= run->info.body_count) damaged(r, "body_b of joint", (int64_t)i, b[i]);
    if (kind[i] < 0 || kind[i] >= CN_JOINT_KIND_COUNT + CNI_OWN_KINDS)
      damaged(r, "the kind of joint", (int64_t)i, kind[i]);
    CnJointKind number = (CnJointKind)kind[i];
    if (kind[i] >= CN_JOINT_KIND_COUNT) keep(r, cni_run_own_kind(run, (int32_t)n, i, &number));
    run->joints[i] = (CnRunJoint){name + i * size, number, a[i], b[i], frame_a[i], frame_b[i]};
    if (r->status == CN_OK) coordinates += cni_joint_coordinate_count(number);
  }
  if (r->status == CN_OK && run->sizes.record_joints > 1 &&
      coordinates != run->sizes.coordinate_count)
    damaged(r, "the number of coordinates", run->sizes.coordinate_count, coordinates);
}

// ---- opening ----

// The counts, and datasets that have as many rows.
static void read_committed(Reading *r) {
  CnRun *run = r->run;
  if (r->status == CN_OK) r->status = cni_input_committed(run, &run->committed);
  for (int32_t c = 0; c < CNI_COLUMN_COUNT && r->status == CN_OK; c++)
    r->status = cni_input_column(run, c);
}

static void read_info(Reading *r) {
  CnRunInfo *info = &r->run->info;
  info->cairn_version = get_text(r, "/", "cairn_version", 0);
  info->scene_name = get_text(r, "/scene", "name", 1);
  info->scene_title = get_text(r, "/scene", "title", 2);
  info->scene_text = get_text(r, "/scene/text", NULL, 3);
  info->integrator = get_text(r, "/settings", "integrator", 4);
  info->solver = get_text(r, "/settings", "solver", 5);
  const char *friction = get_text(r, "/settings", "friction", 6);
  info->friction = strcmp(friction, cn_friction_model_name(CN_FRICTION_CONVEX)) == 0
                       ? CN_FRICTION_CONVEX
                       : CN_FRICTION_COULOMB;
  // runs of 0.1 have none
  info->verdict = "";
  if (r->status == CN_OK && H5Lexists(r->run->file, CNI_RUN_VERDICT, H5P_DEFAULT) > 0)
    info->verdict = get_text(r, CNI_RUN_VERDICT, NULL, 7);
  info->trusted = !info->verdict[0] ? -1 : strncmp(info->verdict, "trusted", 7) == 0;
  get_numbers(r, "/settings", "gravity", 3, &info->gravity.x);
  info->time_step = get_number(r, "/settings", "time_step");
  info->iterations = (int32_t)get_integer(r, "/settings", "iterations", INT32_MAX);
  info->tolerance = get_number(r, "/settings", "tolerance");
  if (r->status == CN_OK &&
      H5Aexists_by_name(r->run->file, "/settings", "integrator_tolerance", H5P_DEFAULT) > 0)
    info->integrator_tolerance = get_number(r, "/settings", "integrator_tolerance");
  info->seed = (uint64_t)get_integer(r, "/scene", "seed", -1);
  info->worker_count = (int32_t)get_integer(r, "/settings", "worker_count", INT32_MAX);
  info->frames_per_second = get_number(r, "/settings", "frames_per_second");
  info->first_step = get_integer(r, "/", "first_step", INT64_MAX / 4);
  info->contacts_recorded = get_integer(r, "/", "contacts_recorded", 1) != 0;
  int64_t joints = get_integer(r, "/", "joints_recorded", 2);
  info->joints_recorded = joints != 0;
  info->body_count = count_of(r, "/bodies/kind");
  info->shape_count = count_of(r, "/shapes/kind");
  info->joint_count = count_of(r, "/joints/kind");
  info->parameter_count = count_of(r, "/parameters/value");
  info->sensor_count = count_of(r, "/sensors/name");
  info->scalar_count = CNI_COLUMN_SCALAR_END - 1; // time is not counted
  r->run->sizes = (CniRunSizes){.body_count = info->body_count,
                                .joint_count = info->joint_count,
                                .sensor_count = info->sensor_count,
                                .record_contacts = info->contacts_recorded,
                                .record_joints = joints > 1 ? 2 : info->joints_recorded};
  if (joints > 1) r->run->sizes.coordinate_count = count_of(r, "/joints/coordinate_joint");
  if (H5Lexists(r->run->file, "/couplings", H5P_DEFAULT) > 0)
    info->coupling_count = r->run->sizes.coupling_count = count_of(r, "/couplings/name");
  read_committed(r);
  info->step_count = r->run->committed.rows[CNI_ROWS_STEPS];
  info->frame_count = r->run->committed.rows[CNI_ROWS_FRAMES];
  info->event_count = r->run->committed.rows[CNI_ROWS_EVENTS];
  info->complete = r->run->committed.complete == 1;
}

static void read_all(Reading *r) {
  read_info(r);
  cni_arena_init(&r->arena, &r->run->allocator);
  read_named(r);
  read_bodies(r);
  read_shapes(r);
  read_joints(r);
  size_t size; // of the names of couplings
  if (r->run->info.coupling_count > 0)
    get_names(r, "/couplings/name", r->run->info.coupling_count, CNI_RUN_NAMES - 1, &size);
  cni_arena_release(&r->arena);
}

// The file is HDF5, a run of ours, and of a version that we know.
static CnStatus check_format(CnRun *run) {
  CniTexts format = {0};
  CnStatus found = cni_input_texts(run, "/", "format", 1, &format);
  int is_run = found == CN_OK && strcmp(format.bytes, CNI_RUN_FORMAT) == 0;
  cni_release(&run->allocator, format.bytes, format.byte_count);
  if (found == CN_NO_MEMORY) return found;
  if (!is_run)
    return cni_bad_data("%s: is HDF5 but no run of Cairn (no format \"%s\")", run->path,
                        CNI_RUN_FORMAT);
  Reading r = {.run = run};
  int64_t version = get_integer(&r, "/", "format_version", INT32_MAX);
  if (r.status == CN_OK && version != CNI_RUN_FORMAT_VERSION)
    r.status = cni_bad_data("%s: is a run of format version %lld (this is %d)", run->path,
                            (long long)version, CNI_RUN_FORMAT_VERSION);
  return r.status;
}

static CnStatus open_hdf(CnRun *run) {
  unsigned char signature[8] = {0};
  static const unsigned char expected[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  if (pread(run->disk.fd, signature, 8, 0) < 0)
    return cni_file_error(run->path, "cannot be read", errno);
  if (memcmp(signature, expected, 8) != 0)
    return cni_bad_data("%s: is no run file (not HDF5)", run->path);
  hid_t access = cni_disk_access(&run->disk);
  if (access >= 0) run->file = H5Fopen(run->path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access);
  hid_t errors = cni_hdf_keep_errors(run->file < 0 ? -1 : 0);
  if (access >= 0) H5Pclose(access);
  cni_hdf_bring_errors(errors);
  if (run->file < 0) {
    cni_hdf_error(run->path, "is damaged");
    return CN_INVALID_DATA;
  }
  CNI_TRY(check_format(run));
  Reading r = {.run = run};
  read_all(&r);
  return r.status;
}

CnStatus cni_run_open_exactly(const char *path, const CnAllocator *allocator, CnRun **run) {
  CnAllocator a = allocator ? *allocator : cn_allocator_default();
  *run = NULL;
  CNI_TRY(cni_hdf_room(path));
  if (cni_no_file(path)) return cni_error(CN_FILE, "%s: is no file", path);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cni_file_error(path, "cannot be opened", errno);
  CnRun *made = cni_allocate(&a, sizeof *made);
  if (made) memset(made, 0, sizeof *made);
  if (made) made->path = cni_allocate(&a, strlen(path) + 1);
  if (!made || !made->path) {
    close(fd);
    cni_release(&a, made, sizeof *made);
    return cni_error_memory(sizeof *made);
  }
  made->allocator = a;
  made->path_bytes = strlen(path) + 1;
  memcpy(made->path, path, made->path_bytes);
  made->disk = (CniDisk){.fd = fd};
  made->file = -1;
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++) made->columns[c] = -1;
  CniQuiet quiet = cni_quiet_begin();
  CnStatus status = open_hdf(made);
  cni_quiet_end(quiet);
  if (status == CN_OK)
    *run = made;
  else
    cn_run_close(made);
  return status;
}

CnStatus cn_run_open(const char *path, const CnAllocator *allocator, CnRun **run) {
  if (!run) return cni_invalid("cn_run_open: the result pointer is null");
  *run = NULL;
  if (!path) return cni_invalid("cn_run_open: the path is null");
  char partial[4096];
  int length = snprintf(partial, sizeof partial, "%s.partial", path);
  int only_partial = access(path, F_OK) != 0 && errno == ENOENT && length > 0 &&
                     (size_t)length < sizeof partial && access(partial, F_OK) == 0;
  return cni_run_open_exactly(only_partial ? partial : path, allocator, run);
}

CnStatus cn_run_check_output(const CnRun *run, const char *output) {
  if (!run || !output)
    return cni_invalid("cn_run_check_output: the %s is null", run ? "output" : "run");
  return cni_inputs_check_open(run->disk.fd, output);
}

void cn_run_close(CnRun *run) {
  if (!run) return;
  CniQuiet quiet = cni_quiet_begin();
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++)
    if (run->columns[c] >= 0) H5Dclose(run->columns[c]);
  for (int32_t c = 0; c < CNI_COLUMN_COUNT; c++) cni_band_release(run, c);
  if (run->file >= 0) H5Fclose(run->file);
  cni_quiet_end(quiet);
  close(run->disk.fd);
  CnAllocator a = run->allocator;
  for (int32_t i = 0; i < CNI_RUN_WORDS; i++)
    cni_release(&a, run->words[i].bytes, run->words[i].byte_count);
  for (int32_t i = 0; i < CNI_RUN_NAMES; i++)
    cni_release(&a, run->names[i].bytes, run->names[i].byte_count);
  CNI_RELEASE(&a, run->parameters, run->info.parameter_count);
  CNI_RELEASE(&a, run->bodies, run->info.body_count);
  if (run->colors) CNI_RELEASE(&a, run->colors, 4 * run->info.body_count);
  CNI_RELEASE(&a, run->shapes, run->info.shape_count);
  CNI_RELEASE(&a, run->joints, run->info.joint_count);
  cni_run_release_geometries(run);
  CNI_RELEASE(&a, run->sensors, run->info.sensor_count);
  cni_release(&a, run->path, run->path_bytes);
  cni_release(&a, run, sizeof *run);
}
