// SPDX-License-Identifier: Apache-2.0
// Run files from the inside: the file beneath HDF5, the table of growing datasets, small helpers
// round HDF5, and what writer, reader and resuming share. The layout is docs/run-file.md.
#ifndef CNI_IO_RUN_PRIVATE_H
#define CNI_IO_RUN_PRIVATE_H

#include <hdf5.h>

#include "io/io.h"

#define CNI_RUN_FORMAT "cairn-run"
#define CNI_RUN_FORMAT_VERSION 1
#define CNI_RUN_WORDS 8
#define CNI_RUN_VERDICT "/verdict"     // a text of the length of CnVerdict::line
#define CNI_RUN_COLORS "/bodies/color" // of bodies, where the scene gives some
#define CNI_RUN_NAMES 7

// ---- the disk: run_disk.c ----

// The file beneath HDF5. The first write that fails is remembered, and from then on nothing more is
// written while HDF5 is told that all is well: the file stays as the moment of failure left it,
// which is how a killed process leaves it, and HDF5 can be closed in order.
typedef struct CniDisk {
  int fd;              // opened and closed by the owner
  int error;           // errno of the first write that failed, 0: none
  int cut;             // 1: numbers were to be read from behind the end of the file
  int64_t writes_left; // for tests: writes until the disk is full; negative: no end
} CniDisk;

// A new file in place of any by that name; messages call it by the label.
CnStatus cni_disk_create(CniDisk *disk, const char *path, const char *label);

// File access properties for a file on this disk (which must outlive the file), negative on
// failure. `name` given to H5Fcreate or H5Fopen with them serves for messages only.
hid_t cni_disk_access(CniDisk *disk);

// File creation properties, negative on failure: what HDF5 keeps about the numbers lies in pages,
// none of it across two. A killed process may leave a write half done, but only between two pages.
hid_t cni_disk_creation(void);

// ---- growing datasets: run_columns.c ----

// Rows are added to all columns of a kind together.
typedef enum CniRowKind {
  CNI_ROWS_STEPS = 0,
  CNI_ROWS_FRAMES,
  CNI_ROWS_CONTACTS,
  CNI_ROWS_EVENTS,
  CNI_ROW_KIND_COUNT
} CniRowKind;

typedef enum CniNumber { CNI_DOUBLE = 0, CNI_INT64, CNI_INT32, CNI_UINT8 } CniNumber;
typedef enum CniPer {
  CNI_PER_ROW = 0,
  CNI_PER_BODY,
  CNI_PER_JOINT,
  CNI_PER_COORDINATE,
  CNI_PER_COUPLING,
  CNI_PER_SENSOR
} CniPer;

typedef struct CniColumn {
  const char *path, *unit, *summary;
  CniRowKind rows;
  CniNumber number;
  CniPer per;
  int32_t components; // 0: one number, no dimension of its own
  int32_t added;      // 1: files written before 0.2 have none of it, which reads as NaN
  size_t offset;      // of the field in the struct that a row is made of
  CniNumber field;    // its numbers
} CniColumn;

// What rows are made of; of contacts CnRunContact, of joints in a frame CnJointState.
typedef struct CniStepRow {
  CnStepReport report;
  CnWorldSums sums;
  CnPenetration penetration;
  double overlaps;
  int64_t events_end;
  CnStepBalance balance; // not numbers where none was kept
} CniStepRow;
typedef struct CniFrameRow {
  double time;
  int64_t step, contacts_end;
} CniFrameRow;
typedef struct CniEventRow {
  int64_t step;
  int32_t kind, shape_a, shape_b;
  double time, speed, impulse;
} CniEventRow;

// Columns of the table (run_columns.h), in its order.
enum {
#define COLUMN(name, ...) CNI_COLUMN_##name,
#include "io/run/run_columns.h"
#undef COLUMN
  CNI_COLUMN_COUNT,
  CNI_COLUMN_SCALAR_END = CNI_COLUMN_SENSORS, // columns before it are series of cn_run_scalar
  CNI_COLUMN_JOINT_END =
      CNI_COLUMN_COUPLING_EFFORT // of joints: those of 0.1 end before their torque
};
#define CNI_RUN_LOCATED 2   // kinds of events from here on are CnEventKind
#define CNI_RUN_TRIGGER 100 // and from here on entered, left
extern const CniColumn cni_run_columns[CNI_COLUMN_COUNT];

// What decides the width of rows, and which columns there are.
typedef struct CniRunSizes {
  int32_t body_count, joint_count, sensor_count;
  int32_t coordinate_count; // of all joints
  int32_t coupling_count;
  int32_t record_contacts;
  int32_t record_joints; // 1: force and error, as in 0.1; 2: all of CnJointState
} CniRunSizes;

// Numbers in one row of a column; 0: the file has no such column.
int64_t cni_column_width(int32_t column, const CniRunSizes *sizes);
// Its dimensions without rows, and how it is cut into chunks; returns how many dimensions.
int cni_column_dims(int32_t column, const CniRunSizes *sizes, hsize_t dims[3], hsize_t chunk[3]);
size_t cni_number_size(CniNumber number);
hid_t cni_number_type(CniNumber number); // in memory; lives as long as HDF5

hid_t cni_number_stored(CniNumber number); // in the file: little-endian everywhere
// `count` rows from `first` on, to be read as the type given. The dataset must have them.
herr_t cni_column_read(hid_t dataset, int64_t first, int64_t count, hid_t type, void *values);
// Make the dataset first + count rows long and fill the last `count`.
herr_t cni_column_append(hid_t dataset, int64_t first, int64_t count, CniNumber number,
                         const void *values);
// The same into rows that are there.
herr_t cni_column_write(hid_t dataset, int64_t first, int64_t count, CniNumber number,
                        const void *values);
// Rows that a dataset has, negative on failure.
int64_t cni_column_rows(hid_t dataset);

// How many rows of each kind are whole. Written last of all, so that a reader that looks here first
// never sees half a frame.
typedef struct CniCommitted {
  int64_t rows[CNI_ROW_KIND_COUNT];
  int64_t complete; // 1: the run was closed in order
} CniCommitted;
hid_t cni_committed_type(void); // to be closed

// ---- HDF5 in few words: run_hdf.c ----

// HDF5 prints its errors unless told not to; the host's choice comes back afterwards.
typedef struct CniQuiet {
  H5E_auto2_t print;
  void *data;
} CniQuiet;
CniQuiet cni_quiet_begin(void);
void cni_quiet_end(CniQuiet quiet);

// Every call of HDF5 forgets the errors of the one before: keep them over the closing of handles.
hid_t cni_hdf_keep_errors(herr_t result); // nothing after a success
void cni_hdf_bring_errors(hid_t kept);

// A failure of HDF5 as a status: "PATH: WHAT: CAUSE", the cause from HDF5's own error stack.
CnStatus cni_hdf_error(const char *path, const char *what);
// A failure of the system: "PATH: WHAT: No such file or directory".
CnStatus cni_file_error(const char *path, const char *what, int error);

// Writing of small things. A failure is kept in `failed` and makes all later calls do nothing.
typedef struct CniHdf {
  hid_t file;
  int failed;
  size_t no_memory; // bytes that the allocator did not have, if that was the failure
} CniHdf;
// How objects are made: without the time of their making, so that the same run gives the same bytes.
hid_t cni_hdf_creation(hid_t kind);
void cni_hdf_group(CniHdf *hdf, const char *path);
void cni_hdf_attribute_numbers(CniHdf *hdf, const char *object, const char *name,
                               const double *values, int32_t count);
void cni_hdf_attribute_text(CniHdf *hdf, const char *object, const char *name, const char *text);
void cni_hdf_attribute_number(CniHdf *hdf, const char *object, const char *name, double value);
void cni_hdf_attribute_integer(CniHdf *hdf, const char *object, const char *name, int64_t value);
// A dataset count x components (0: one dimension).
void cni_hdf_table(CniHdf *hdf, const char *path, CniNumber number, int64_t count,
                   int32_t components, const void *values);
// Texts as fixed-length strings of the longest one's length; get(context, i) gives the i-th.
void cni_hdf_texts(CniHdf *hdf, const CnAllocator *allocator, const char *path, int64_t count,
                   const char *(*get)(const void *context, int64_t i), const void *context);
// One long text.
void cni_hdf_text(CniHdf *hdf, const char *path, const char *text, size_t size);
// An empty dataset that can grow; nothing for a column that these sizes do not have.
void cni_column_create(CniHdf *hdf, int32_t column, const CniRunSizes *sizes);

// ---- the writer: run_write.c, run_describe.c, run_rows.c, run_resume.c ----

typedef struct CniRows {
  int64_t written;           // rows in the file
  int64_t pending, capacity; // rows in memory behind them
  size_t row_bytes;          // over all columns of the kind
} CniRows;

// Two shapes that began to touch, press no more, and are not apart yet.
typedef struct CniLoosePair {
  CnShapeId a, b;
  int32_t presses; // again
} CniLoosePair;

struct CniRunWriter {
  CnAllocator allocator;
  char *path, *partial_path, *new_path; // as asked; beside an existing file; being made
  const char *at;                       // the one of them where the bytes go
  CniLock *lock;                        // on the name, as long as it is written
  CniDisk disk;
  hid_t file, committed_set, columns[CNI_COLUMN_COUNT];
  CniCommitted committed;
  CniRunSizes sizes;
  CniRows rows[CNI_ROW_KIND_COUNT];
  char *pending[CNI_COLUMN_COUNT]; // rows in memory, column by column
  int failed;                      // nothing more is written
  int ended;                       // no more steps: one could not be recorded
  int strayed;                     // the world has gone back, and its verdict is not the run's
  int32_t plain;                   // not packed when it is complete

  const CnScene *scene;
  double frames_per_second;
  int32_t skip_penetration;
  int64_t first_step;   // of the world when the run began
  int64_t frame_number; // which frame of the given rate was the last
  double flushed;       // s, when
  double *sensor_values;
  CnBodyId *bodies; // in the order of the file
  CnJointId *joints;
  CnCouplingId *couplings;
  int32_t *body_of_slot, *shape_of_slot; // indices in the file by slot, -1: none
  int32_t shape_count, body_slots, shape_slots;
  CniLoosePair *loose; // by ascending slots
  int32_t loose_count, loose_capacity;
};

// Everything that does not grow: scene, parameters, settings, bodies, shapes, joints.
CnStatus cni_run_describe(CniRunWriter *w, const CniRunWriterDef *def, CnWorld *world, CniHdf *hdf);
// The ids and indices of a world's bodies, shapes and joints, in the order of the file.
CnStatus cni_run_number(CniRunWriter *w, const CnWorld *world);
int32_t cni_run_body_index(const CniRunWriter *w, CnBodyId id); // -1: none
int32_t cni_run_shape_index(const CniRunWriter *w, CnShapeId id);

// Room for `count` more rows of a kind; *first is the place of the first one among the pending.
CnStatus cni_run_rows_add(CniRunWriter *w, CniRowKind kind, int64_t count, int64_t *first);
// Fill a row from the struct that it is made of: columns first .. end - 1.
void cni_run_rows_put(CniRunWriter *w, int32_t first, int32_t end, int64_t row, const void *from);
// The numbers of one row of doubles, null for a column that this file does not have.
double *cni_run_rows_doubles(CniRunWriter *w, int32_t column, int64_t row);
// Hand the pending rows to HDF5 (of one kind), and make sure that they are in the file (of all).
CnStatus cni_run_rows_write(CniRunWriter *w, CniRowKind kind);
CnStatus cni_run_rows_commit(CniRunWriter *w);
void cni_run_rows_release(CniRunWriter *w);

// Events of a step (run_events.c), and where a run goes on that has so many of them.
CnStatus cni_run_put_events(CniRunWriter *w, const CnWorld *world, const CnStepReport *report);
CnStatus cni_run_resume_events(CniRunWriter *w, const CnWorld *world, CnRun *run, int64_t count);

// What went wrong with the file, as one sentence; the writer is of no more use.
CnStatus cni_run_fail(CniRunWriter *w, const char *what);

// The run to go on with: PATH.partial or PATH, whichever belongs to this scene and holds the step.
CnStatus cni_run_find(const CniRunWriter *w, const CniRunWriterDef *def, int64_t step, CnRun **run,
                      int *is_partial);
// Its rows up to a step, into the columns of the new file.
CnStatus cni_run_copy(CniRunWriter *w, CnRun *run, int64_t step);

// ---- packing a complete run: run_pack.c ----

// Replace the run by a packed copy, made as new_path; on failure it stays as it is. For tests the
// disk takes so many writes; negative: no end.
CnStatus cni_run_pack(const char *path, const char *new_path, const CnAllocator *allocator,
                      int64_t writes);
// How a packed column of so many rows, at least one, is cut into chunks.
void cni_pack_chunk(int32_t column, const CniRunSizes *sizes, int64_t rows, hsize_t chunk[3]);

// ---- an opened run: run_read.c ----

// Rows from the first on of one column, into the empty one of another file. A failure to write is
// kept in hdf.
CnStatus cni_column_copy(CnRun *run, int32_t column, CniHdf *hdf, int64_t rows);

// cn_run_open without looking for PATH.partial.
CnStatus cni_run_open_exactly(const char *path, const CnAllocator *allocator, CnRun **run);

// Texts of one length, one behind the other.
typedef struct CniTexts {
  char *bytes;
  size_t byte_count, size; // of all, of one
} CniTexts;

// Rows of a packed column, unpacked.
typedef struct CniBand {
  char *bytes;
  size_t size;
  int64_t first, rows;
} CniBand;

struct CnRun {
  CnAllocator allocator;
  char *path; // as opened
  size_t path_bytes;
  CniDisk disk;
  hid_t file;
  hid_t columns[CNI_COLUMN_COUNT]; // negative: not in this file
  uint8_t packed[CNI_COLUMN_COUNT];
  CniBand bands[CNI_COLUMN_COUNT]; // of packed columns, where some were read
  int broken;                      // 1: a packed chunk is not what it should be
  size_t no_memory;                // bytes that the allocator did not have for one
  CniCommitted committed;
  CniRunSizes sizes;
  CnRunInfo info;
  CniTexts words[CNI_RUN_WORDS]; // strings of info
  CnRunParameter *parameters;
  CnRunBody *bodies;
  double *colors;     // four a body; null: there are none
  CnRunShape *shapes; // a geometry's slot is its number in `hulls` and one
  CniHull **hulls;
  CniMesh **meshes; // instead of a hull
  int32_t hull_count;
  CnRunJoint *joints;
  CnRunSeries *sensors;
  CniTexts names[CNI_RUN_NAMES]; // behind them
};

// Questions (run_query.c): arguments, and rows of a column; failures become a sentence.
CnStatus cni_run_null(const char *call);
CnStatus cni_run_check_index(const CnRun *run, const char *what, int64_t index, int64_t count);
CnStatus cni_run_rows_read(CnRun *run, int32_t column, int64_t first, int64_t count, hid_t type,
                           void *values);
// Geometries (run_geometries.c); `shapes` are the definitions in the order of the file.
CnStatus cni_run_put_geometries(CniRunWriter *w, const CnWorld *world, const CnShapeDef *shapes,
                                CniHdf *hdf);
// Materials of those shapes, and the first coordinate of a joint that has a motor, -1: none (run_look.c).
CnStatus cni_run_put_materials(CniRunWriter *w, const CnWorld *world, const CnShapeDef *shapes,
                               CniArena *arena, CniHdf *hdf);
int32_t cni_run_drive_of(const CnJointDef *def, int32_t coordinate_count);
// The kind of a joint that a program had added, by its name (run_forces.c).
CnStatus cni_run_own_kind(CnRun *run, int32_t joint_count, size_t joint, CnJointKind *kind);
CnStatus cni_run_read_geometries(CnRun *run); // after the shapes
void cni_run_release_geometries(CnRun *run);

// Rows of columns (run_unpack.c); the type is the stored one or a wider one.
herr_t cni_run_read(CnRun *run, int32_t column, int64_t first, int64_t count, hid_t type,
                    void *values);
// One row of a packed column as it is stored, until another is asked for; null on failure.
const void *cni_run_row(CnRun *run, int32_t column, int64_t row);
void cni_band_release(CnRun *run, int32_t column);

// ---- all that is read from a run: run_input.c ----

// Exactly so many numbers of an attribute of an object, or with a null name of a dataset.
CnStatus cni_input_numbers(const CnRun *run, const char *object, const char *attribute,
                           CniNumber as, int64_t count, void *values);
// Exactly so many texts; what was allocated stays in *texts, after a failure too.
CnStatus cni_input_texts(CnRun *run, const char *object, const char *attribute, int64_t count,
                         CniTexts *texts);
// Length of a dataset of one dimension.
CnStatus cni_input_count(const CnRun *run, const char *path, int64_t *count);
CnStatus cni_input_committed(const CnRun *run, CniCommitted *committed);
// Open a column, if the file has it; it must have the committed rows, as wide as the sizes say.
CnStatus cni_input_column(CnRun *run, int32_t column);
// Is the file long enough for so many things of a size?
int cni_input_fits(const CnRun *run, int64_t count, int64_t size);

// Why something could not be read: HDF5's reason, or that the file is cut short.
CnStatus cni_run_read_error(const CnRun *run, const char *what);
// A number that cannot be.
CnStatus cni_input_damaged(const CnRun *run, const char *what, int64_t index, int64_t value);

#endif
