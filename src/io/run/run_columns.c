// SPDX-License-Identifier: Apache-2.0
// The growing datasets of a run file: one table, and how rows are added and read.
//
// Every dataset can grow along its first dimension and is cut into chunks: small ones of many rows
// for series of numbers, one frame or more for the poses. The layout never changes while a run is
// written, which is what single-writer-multiple-reader mode asks for.
#include <stddef.h>

#include "io/run/run_private.h"

#define SERIES_CHUNK 1024       // rows
#define FRAME_CHUNK_BYTES 65536 // about; at least one row, at most 64

#define STEP(number) CNI_ROWS_STEPS, number, CNI_PER_ROW, 0, 0
#define ADDED_STEP(number) CNI_ROWS_STEPS, number, CNI_PER_ROW, 0, 1
#define FRAME(number, per, components) CNI_ROWS_FRAMES, number, per, components, 0
#define CONTACT(number, components) CNI_ROWS_CONTACTS, number, CNI_PER_ROW, components, 0
#define EVENT(number) CNI_ROWS_EVENTS, number, CNI_PER_ROW, 0, 0

const CniColumn cni_run_columns[CNI_COLUMN_COUNT] = {
    [CNI_COLUMN_TIME] = {"/steps/time", "s", "at the end of the step", STEP(CNI_DOUBLE)},
    [CNI_COLUMN_KINETIC_ENERGY] = {"/steps/kinetic_energy", "J", "of all bodies", STEP(CNI_DOUBLE)},
    [CNI_COLUMN_POTENTIAL_ENERGY] = {"/steps/potential_energy", "J",
                                     "of gravity, zero at the origin", STEP(CNI_DOUBLE)},
    [CNI_COLUMN_CONTACTS] = {"/steps/contacts", "1", "contact blocks, potential ones included",
                             STEP(CNI_INT32)},
    [CNI_COLUMN_OVERLAPS] = {"/steps/overlaps", "1",
                             "pairs of shapes with a negative gap; NaN between frames",
                             STEP(CNI_DOUBLE)},
    [CNI_COLUMN_PENETRATION_MAX] = {"/steps/penetration_max", "m",
                                    "deepest overlap; NaN between frames", STEP(CNI_DOUBLE)},
    [CNI_COLUMN_PENETRATION_MEAN] = {"/steps/penetration_mean", "m",
                                     "mean over overlapping pairs; NaN between frames",
                                     STEP(CNI_DOUBLE)},
    [CNI_COLUMN_RESIDUAL] = {"/steps/residual", "1", "of the certificate; NaN: no step problem",
                             STEP(CNI_DOUBLE)},
    [CNI_COLUMN_RESIDUAL_SPEED] = {"/steps/residual_speed", "m/s", "of the certificate",
                                   STEP(CNI_DOUBLE)},
    [CNI_COLUMN_DISSIPATION] = {"/steps/dissipation", "J", "taken out by constraints in the step",
                                STEP(CNI_DOUBLE)},
    [CNI_COLUMN_ITERATIONS] = {"/steps/iterations", "1", "of the solver", STEP(CNI_INT32)},
    [CNI_COLUMN_CONVERGED] = {"/steps/converged", "1",
                              "1: the residual met the tolerance; 255: no step problem",
                              STEP(CNI_UINT8)},
    [CNI_COLUMN_CUT_BY_TIME] = {"/steps/cut_by_time", "1", "1: the time budget ended the solve",
                                STEP(CNI_UINT8)},
    [CNI_COLUMN_SECONDS_COLLISION] = {"/steps/seconds_collision", "s", "poses to contacts",
                                      STEP(CNI_DOUBLE)},
    [CNI_COLUMN_SECONDS_SOLVER] = {"/steps/seconds_solver", "s", "the rest of the step",
                                   STEP(CNI_DOUBLE)},
    [CNI_COLUMN_SECONDS_SETUP] = {"/steps/seconds_setup", "s",
                                  "part of seconds_solver outside the sweeps", STEP(CNI_DOUBLE)},
    [CNI_COLUMN_POSITION_DRIFT] = {"/steps/position_drift", "m",
                                   "of active constraints; NaN: not measured (impulse)",
                                   ADDED_STEP(CNI_DOUBLE)},
    [CNI_COLUMN_VELOCITY_DRIFT] = {"/steps/velocity_drift", "m/s",
                                   "of active constraints; NaN: not measured (impulse)",
                                   ADDED_STEP(CNI_DOUBLE)},
    [CNI_COLUMN_REJECTED] = {"/steps/rejected", "1", "steps of hem5 and rkf45 made again",
                             ADDED_STEP(CNI_INT32)},
    [CNI_COLUMN_SENSORS] = {"/sensors/values", "", "one column a sensor", CNI_ROWS_STEPS,
                            CNI_DOUBLE, CNI_PER_SENSOR, 0, 0},
    [CNI_COLUMN_EVENTS_END] = {"/events/end_of_step", "1",
                               "number of events up to and including the step", STEP(CNI_INT64)},
    [CNI_COLUMN_FRAME_TIME] = {"/frames/time", "s", "", FRAME(CNI_DOUBLE, CNI_PER_ROW, 0)},
    [CNI_COLUMN_FRAME_STEP] = {"/frames/step", "1", "number of steps made so far",
                               FRAME(CNI_INT64, CNI_PER_ROW, 0)},
    [CNI_COLUMN_POSITION] = {"/frames/position", "m", "of the body frames",
                             FRAME(CNI_DOUBLE, CNI_PER_BODY, 3)},
    [CNI_COLUMN_ROTATION] = {"/frames/rotation", "1", "unit quaternions w, x, y, z",
                             FRAME(CNI_DOUBLE, CNI_PER_BODY, 4)},
    [CNI_COLUMN_VELOCITY] = {"/frames/velocity", "m/s",
                             "of the origins of the body frames, world axes",
                             FRAME(CNI_DOUBLE, CNI_PER_BODY, 3)},
    [CNI_COLUMN_SPIN] = {"/frames/spin", "rad/s", "world axes", FRAME(CNI_DOUBLE, CNI_PER_BODY, 3)},
    [CNI_COLUMN_JOINT_FORCE] = {"/reactions/force", "N",
                                "on body b at its frame's origin, mean over the last step",
                                FRAME(CNI_DOUBLE, CNI_PER_JOINT, 3)},
    [CNI_COLUMN_JOINT_ERROR] = {"/reactions/error", "m", "how far the joint is from closed",
                                FRAME(CNI_DOUBLE, CNI_PER_JOINT, 0)},
    [CNI_COLUMN_JOINT_TORQUE] = {"/reactions/torque", "N m", "likewise",
                                 FRAME(CNI_DOUBLE, CNI_PER_JOINT, 3)},
    [CNI_COLUMN_JOINT_TURN_ERROR] = {"/reactions/turn_error", "rad",
                                     "how far the joint is turned out of place",
                                     FRAME(CNI_DOUBLE, CNI_PER_JOINT, 0)},
    [CNI_COLUMN_JOINT_LOCAL_FORCE] = {"/reactions/local_force", "N",
                                      "the force in the axes of frame a",
                                      FRAME(CNI_DOUBLE, CNI_PER_JOINT, 3)},
    [CNI_COLUMN_JOINT_LOCAL_TORQUE] = {"/reactions/local_torque", "N m",
                                       "the torque in the axes of frame a",
                                       FRAME(CNI_DOUBLE, CNI_PER_JOINT, 3)},
    [CNI_COLUMN_JOINT_COORDINATE] = {"/reactions/coordinate", "m or rad", "coordinates of joints",
                                     FRAME(CNI_DOUBLE, CNI_PER_COORDINATE, 0)},
    [CNI_COLUMN_JOINT_RATE] = {"/reactions/rate", "m/s or rad/s", "of the coordinates",
                               FRAME(CNI_DOUBLE, CNI_PER_COORDINATE, 0)},
    [CNI_COLUMN_JOINT_MOTOR] = {"/reactions/motor", "N or N m", "effort of the motor",
                                FRAME(CNI_DOUBLE, CNI_PER_COORDINATE, 0)},
    [CNI_COLUMN_JOINT_LIMIT] = {"/reactions/limit", "N or N m", "effort of the limits",
                                FRAME(CNI_DOUBLE, CNI_PER_COORDINATE, 0)},
    [CNI_COLUMN_JOINT_FRICTION] = {"/reactions/friction", "N or N m", "effort of dry friction",
                                   FRAME(CNI_DOUBLE, CNI_PER_COORDINATE, 0)},
    [CNI_COLUMN_JOINT_SPRING] = {"/reactions/spring", "N or N m", "effort of spring and damper",
                                 FRAME(CNI_DOUBLE, CNI_PER_COORDINATE, 0)},
    [CNI_COLUMN_CONTACTS_END] = {"/contacts/end_of_frame", "1",
                                 "number of contacts up to and including the frame",
                                 FRAME(CNI_INT64, CNI_PER_ROW, 0)},
    [CNI_COLUMN_CONTACT_BODY_A] = {"/contacts/body_a", "1", "index in /bodies",
                                   CONTACT(CNI_INT32, 0)},
    [CNI_COLUMN_CONTACT_BODY_B] = {"/contacts/body_b", "1", "index in /bodies",
                                   CONTACT(CNI_INT32, 0)},
    [CNI_COLUMN_CONTACT_SHAPE_A] = {"/contacts/shape_a", "1", "index in /shapes",
                                    CONTACT(CNI_INT32, 0)},
    [CNI_COLUMN_CONTACT_SHAPE_B] = {"/contacts/shape_b", "1", "index in /shapes",
                                    CONTACT(CNI_INT32, 0)},
    [CNI_COLUMN_CONTACT_POINT] = {"/contacts/point", "m", "at the start of the step",
                                  CONTACT(CNI_DOUBLE, 3)},
    [CNI_COLUMN_CONTACT_NORMAL] = {"/contacts/normal", "1", "unit, from a to b",
                                   CONTACT(CNI_DOUBLE, 3)},
    [CNI_COLUMN_CONTACT_GAP] = {"/contacts/gap", "m", "at the start of the step",
                                CONTACT(CNI_DOUBLE, 0)},
    [CNI_COLUMN_CONTACT_FORCE] = {"/contacts/force", "N", "on b, world axes",
                                  CONTACT(CNI_DOUBLE, 3)},
    [CNI_COLUMN_CONTACT_TORQUE] = {"/contacts/torque", "N m",
                                   "rolling and spinning resistance on b", CONTACT(CNI_DOUBLE, 3)},
    [CNI_COLUMN_EVENT_STEP] = {"/events/step", "1", "number of the step", EVENT(CNI_INT64)},
    [CNI_COLUMN_EVENT_KIND] = {"/events/kind", "1",
                               "0: contact began, 1: contact ended, 2 + k: located event of kind k",
                               EVENT(CNI_UINT8)},
    [CNI_COLUMN_EVENT_SHAPE_A] = {"/events/shape_a", "1", "index in /shapes", EVENT(CNI_INT32)},
    [CNI_COLUMN_EVENT_SHAPE_B] = {"/events/shape_b", "1", "index in /shapes", EVENT(CNI_INT32)},
    [CNI_COLUMN_EVENT_TIME] = {"/events/time", "s", "located events: when; others: end of the step",
                               EVENT(CNI_DOUBLE)},
    [CNI_COLUMN_EVENT_SPEED] = {"/events/speed", "m/s", "before it, along the normal; NaN: unknown",
                                EVENT(CNI_DOUBLE)},
    [CNI_COLUMN_EVENT_IMPULSE] = {"/events/impulse", "N s", "along the normal; NaN: unknown",
                                  EVENT(CNI_DOUBLE)},
};

#define OF_JOINT(column, field)                                                                    \
  [CNI_COLUMN_JOINT_##column - CNI_COLUMN_JOINT_FORCE] = offsetof(CnJointState, field)
const size_t cni_joint_columns[CNI_COLUMN_JOINT_END - CNI_COLUMN_JOINT_FORCE] = {
    OF_JOINT(FORCE, force),
    OF_JOINT(ERROR, error),
    OF_JOINT(TORQUE, torque),
    OF_JOINT(TURN_ERROR, turn_error),
    OF_JOINT(LOCAL_FORCE, local_force),
    OF_JOINT(LOCAL_TORQUE, local_torque),
    OF_JOINT(COORDINATE, coordinate),
    OF_JOINT(RATE, rate),
    OF_JOINT(MOTOR, motor),
    OF_JOINT(LIMIT, limit),
    OF_JOINT(FRICTION, friction),
    OF_JOINT(SPRING, spring),
};

size_t cni_number_size(CniNumber number) {
  static const size_t sizes[] = {sizeof(double), sizeof(int64_t), sizeof(int32_t), sizeof(uint8_t)};
  return sizes[number];
}

hid_t cni_number_type(CniNumber number) {
  if (number == CNI_INT64) return H5T_NATIVE_INT64;
  if (number == CNI_INT32) return H5T_NATIVE_INT32;
  if (number == CNI_UINT8) return H5T_NATIVE_UINT8;
  return H5T_NATIVE_DOUBLE;
}

// The same number everywhere: little-endian.
hid_t cni_number_stored(CniNumber number) {
  if (number == CNI_INT64) return H5T_STD_I64LE;
  if (number == CNI_INT32) return H5T_STD_I32LE;
  if (number == CNI_UINT8) return H5T_STD_U8LE;
  return H5T_IEEE_F64LE;
}

// Things in one row of a column that has one of each.
static int64_t things_in_row(const CniColumn *c, const CniRunSizes *sizes) {
  if (c->per == CNI_PER_BODY) return sizes->body_count;
  if (c->per == CNI_PER_JOINT) return sizes->joint_count;
  if (c->per == CNI_PER_COORDINATE) return sizes->coordinate_count;
  if (c->per == CNI_PER_SENSOR) return sizes->sensor_count;
  return 1;
}

int64_t cni_column_width(int32_t column, const CniRunSizes *sizes) {
  const CniColumn *c = &cni_run_columns[column];
  int of_contacts = c->rows == CNI_ROWS_CONTACTS || column == CNI_COLUMN_CONTACTS_END;
  if (of_contacts && !sizes->record_contacts) return 0;
  if (column >= CNI_COLUMN_JOINT_FORCE && column < CNI_COLUMN_JOINT_END &&
      sizes->record_joints < (column < CNI_COLUMN_JOINT_TORQUE ? 1 : 2))
    return 0;
  return things_in_row(c, sizes) * (c->components ? c->components : 1);
}

static hsize_t chunk_rows(const CniColumn *c, int64_t width) {
  if (c->rows != CNI_ROWS_FRAMES || c->per == CNI_PER_ROW) return SERIES_CHUNK;
  hsize_t rows = FRAME_CHUNK_BYTES / ((hsize_t)width * cni_number_size(c->number));
  return rows < 1 ? 1 : rows > 64 ? 64 : rows;
}

int cni_column_dims(int32_t column, const CniRunSizes *sizes, hsize_t dims[3], hsize_t chunk[3]) {
  const CniColumn *c = &cni_run_columns[column];
  int rank = 1;
  dims[0] = 0;
  if (c->per != CNI_PER_ROW) dims[rank++] = (hsize_t)things_in_row(c, sizes);
  if (c->components) dims[rank++] = (hsize_t)c->components;
  chunk[0] = chunk_rows(c, cni_column_width(column, sizes));
  for (int i = 1; i < rank; i++) chunk[i] = dims[i];
  return rank;
}

void cni_column_create(CniHdf *hdf, int32_t column, const CniRunSizes *sizes) {
  const CniColumn *c = &cni_run_columns[column];
  if (hdf->failed || cni_column_width(column, sizes) == 0) return;
  hsize_t dims[3], chunk[3], most[3] = {H5S_UNLIMITED};
  int rank = cni_column_dims(column, sizes, dims, chunk);
  for (int i = 1; i < rank; i++) most[i] = dims[i];
  hid_t space = H5Screate_simple(rank, dims, most), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(how, rank, chunk);
  hid_t dataset = H5Dcreate2(hdf->file, c->path, cni_number_stored(c->number), space, H5P_DEFAULT,
                             how, H5P_DEFAULT);
  H5Pclose(how);
  H5Sclose(space);
  if (dataset < 0 || H5Dclose(dataset) < 0) hdf->failed = 1;
  cni_hdf_attribute_text(hdf, c->path, "unit", c->unit);
  cni_hdf_attribute_text(hdf, c->path, "about", c->summary);
}

// Rows first .. first + count - 1 of a dataset's space, negative on failure.
static hid_t select_rows(hid_t dataset, int64_t first, int64_t count, int64_t *rows) {
  hsize_t dims[3], start[3] = {(hsize_t)first, 0, 0};
  hid_t space = H5Dget_space(dataset);
  int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
  if (rank < 1 || rank > 3 || H5Sget_simple_extent_dims(space, dims, NULL) < 0) return -1;
  *rows = (int64_t)dims[0];
  dims[0] = (hsize_t)count;
  if (count > 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, dims, NULL) < 0)
    return -1;
  return space;
}

int64_t cni_column_rows(hid_t dataset) {
  int64_t rows = -1;
  hid_t space = select_rows(dataset, 0, 0, &rows);
  if (space >= 0) H5Sclose(space);
  return rows;
}

// The memory beside a selection: one block without gaps.
static hid_t memory_of(hid_t space) {
  hssize_t points = H5Sget_select_npoints(space);
  hsize_t count = points > 0 ? (hsize_t)points : 0;
  return H5Screate_simple(1, &count, NULL);
}

herr_t cni_column_read(hid_t dataset, int64_t first, int64_t count, hid_t type, void *values) {
  int64_t rows;
  if (count == 0) return 0;
  hid_t space = select_rows(dataset, first, count, &rows);
  if (space < 0) return -1;
  hid_t memory = memory_of(space);
  herr_t result = -1;
  if (first + count <= rows) result = H5Dread(dataset, type, memory, space, H5P_DEFAULT, values);
  hid_t errors = cni_hdf_keep_errors(result);
  H5Sclose(memory);
  H5Sclose(space);
  cni_hdf_bring_errors(errors);
  return result;
}

static herr_t resize(hid_t dataset, int64_t rows) {
  hsize_t dims[3];
  hid_t space = H5Dget_space(dataset);
  int rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, dims, NULL);
  if (space >= 0) H5Sclose(space);
  if (rank < 1) return -1;
  dims[0] = (hsize_t)rows;
  return H5Dset_extent(dataset, dims);
}

herr_t cni_column_append(hid_t dataset, int64_t first, int64_t count, CniNumber number,
                         const void *values) {
  int64_t rows;
  if (count == 0) return 0;
  if (resize(dataset, first + count) < 0) return -1;
  hid_t space = select_rows(dataset, first, count, &rows);
  if (space < 0) return -1;
  hid_t memory = memory_of(space);
  herr_t result = H5Dwrite(dataset, cni_number_type(number), memory, space, H5P_DEFAULT, values);
  hid_t errors = cni_hdf_keep_errors(result);
  H5Sclose(memory);
  H5Sclose(space);
  cni_hdf_bring_errors(errors);
  return result;
}

hid_t cni_committed_type(void) {
  static const char *const names[] = {"steps", "frames", "contacts", "events"};
  hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(CniCommitted));
  for (size_t i = 0; i < CNI_ROW_KIND_COUNT; i++)
    H5Tinsert(type, names[i], i * sizeof(int64_t), H5T_NATIVE_INT64);
  H5Tinsert(type, "complete", offsetof(CniCommitted, complete), H5T_NATIVE_INT64);
  return type;
}
