// SPDX-License-Identifier: Apache-2.0
// Run files that HDF5 finds sound and whose content is not: of a small good run the input takes
// away attributes and datasets, puts others of any type, size and layout in their place, links
// them elsewhere and fills them with odd numbers. What opens is read, exported and made a page of.
#include "fuzz.h"

#include <cairn/cairn.h>
#include <cairn/run.h>
#include <cairn/scene.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/io.h"
#include "view/view.h"

#define TARGETS 160
#define CHANGES 6

static const char scene_text[] =
    "{\"parameters\": {\"mu\": 0.4}, \"materials\": {\"m\": {\"friction\": \"=mu\"}},"
    " \"bodies\": [{\"name\": \"floor\", \"kind\": \"fixed\", \"shapes\": [{\"kind\": \"plane\"}]},"
    "  {\"repeat\": 3, \"items\": [{\"name\": \"b{i}\", \"position\": [\"=0.1*i\", 0, "
    "\"=0.1+0.2*i\"],"
    "   \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1, \"material\": \"m\"}]}]}],"
    " \"joints\": [{\"name\": \"j\", \"kind\": \"ball\", \"bodies\": [\"b2\", \"ground\"],"
    "   \"anchor\": [1, 0, 1]}],"
    " \"sensors\": [{\"name\": \"energy\", \"kind\": \"energy\"}]}";

typedef struct Input {
  const uint8_t *data;
  size_t size, at;
} Input;

static struct {
  uint8_t *image; // the good run
  size_t size;
  char names[TARGETS][64]; // "PATH" of a dataset, "PATH@ATTRIBUTE"
  int count;
  char path[100], output[2][120];
} good;

static uint8_t next(Input *in) { return in->at < in->size ? in->data[in->at++] : 0; }

static void insist(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz_run: %s: %s\n", what, cn_error_message());
  abort();
}

// ---- the good run ----

static void note(const char *path, const char *attribute) {
  insist(good.count < TARGETS, "more targets");
  snprintf(good.names[good.count++], sizeof good.names[0], attribute ? "%s@%s" : "%s%s", path,
           attribute ? attribute : "");
}

static herr_t note_attribute(hid_t object, const char *name, const H5A_info_t *info, void *path) {
  (void)object;
  (void)info;
  note(path, name);
  return 0;
}

static herr_t note_object(hid_t file, const char *name, const H5L_info_t *info, void *data) {
  (void)info;
  (void)data;
  char path[64];
  snprintf(path, sizeof path, "/%s", name);
  hid_t object = H5Oopen(file, path, H5P_DEFAULT);
  hsize_t start = 0;
  if (H5Iget_type(object) == H5I_DATASET)
    note(path, NULL);
  else
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &start, note_attribute, path);
  H5Oclose(object);
  return 0;
}

static void record(const char *path) {
  CnScene *scene = NULL;
  CnWorld *world = NULL;
  CniRunWriter *writer = NULL;
  CnWorldDef def = cn_world_def_default();
  insist(cn_scene_parse(scene_text, sizeof scene_text - 1, "fuzz", NULL, 0, NULL, &scene) == CN_OK,
         "scene");
  cn_scene_world_def(scene, &def);
  insist(cn_world_create(&def, &world) == CN_OK, "world");
  insist(cn_scene_fill(scene, world) == CN_OK, "fill");
  CniRunWriterDef how = {.path = path,
                         .scene = scene,
                         .record_contacts = 1,
                         .record_joints = 1,
                         .replace = 1,
                         .allocator = cn_allocator_default()};
  insist(cni_run_writer_create(&how, world, &writer) == CN_OK, "writer");
  for (int i = 0; i < 3; i++) {
    CnStepReport report;
    insist(cn_world_step(world, &report) == CN_OK, "step");
    insist(cni_run_writer_step(writer, world, &report) == CN_OK, "record");
  }
  insist(cni_run_writer_close(writer) == CN_OK, "close");
  cn_world_destroy(world);
  cn_scene_destroy(scene);
}

static void make_good(void) {
  const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(good.path, sizeof good.path, "%s/cairn-fuzz-%ld.h5", folder, (long)getpid());
  snprintf(good.output[0], sizeof good.output[0], "%s.xdmf", good.path);
  snprintf(good.output[1], sizeof good.output[1], "%s.html", good.path);
  record(good.path);
  FILE *file = fopen(good.path, "rb");
  good.image = malloc(1 << 22);
  good.size = file && good.image ? fread(good.image, 1, 1 << 22, file) : 0;
  insist(good.size > 0, "image");
  fclose(file);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  char root[] = "/";
  hsize_t start = 0;
  hid_t id = H5Fopen(good.path, H5F_ACC_RDONLY, H5P_DEFAULT);
  H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, &start, note_attribute, root);
  H5Lvisit(id, H5_INDEX_NAME, H5_ITER_INC, note_object, NULL);
  H5Fclose(id);
}

// ---- changes ----

static hid_t odd_type(Input *in) {
  static const int64_t sizes[] = {1, 2, 10, 100, 4000000000};
  uint8_t c = next(in);
  hid_t plain[] = {H5T_IEEE_F64LE, H5T_STD_I64LE,   H5T_STD_I32LE, H5T_STD_U8LE,
                   H5T_IEEE_F32BE, H5T_STD_REF_OBJ, H5T_STD_B8LE,  H5T_STD_U64BE};
  if (c < 128) return H5Tcopy(plain[c % 8]);
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, c % 6 == 5 ? H5T_VARIABLE : (size_t)sizes[c % 6]);
  return type;
}

static hid_t odd_space(Input *in, int *rank, hsize_t dims[3]) {
  static const hsize_t sizes[] = {0, 1, 2, 3, 4, 7, 12, 13, 24, 100, 5000, (hsize_t)1 << 33};
  *rank = next(in) % 4;
  for (int i = 0; i < *rank; i++) dims[i] = sizes[next(in) % 12];
  return *rank ? H5Screate_simple(*rank, dims, NULL) : H5Screate(H5S_SCALAR);
}

static void replace(hid_t file, const char *path, const char *attribute, Input *in) {
  int rank;
  hsize_t dims[3] = {0}, chunk[3] = {4, 4, 4};
  hid_t type = odd_type(in), space = odd_space(in, &rank, dims);
  hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  uint8_t c = next(in);
  if (rank && c % 4 == 1) H5Pset_chunk(how, rank, chunk);
  if (rank && c % 4 == 1 && c > 128) H5Pset_shuffle(how);
  if (c % 4 == 2) H5Pset_layout(how, H5D_COMPACT);
  if (c % 4 == 3) H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
  hssize_t points = H5Sget_simple_extent_npoints(space);
  int large = points > 0 && H5Tget_size(type) > 1000000 / (size_t)points;
  if (large) H5Pset_alloc_time(how, H5D_ALLOC_TIME_LATE);
  hid_t id = -1;
  if (attribute && !large)
    id = H5Acreate_by_name(file, path, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
  if (!attribute) id = H5Dcreate2(file, path, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  if (id >= 0 && attribute) H5Aclose(id);
  if (id >= 0 && !attribute) H5Dclose(id);
  H5Pclose(how);
  H5Sclose(space);
  H5Tclose(type);
}

// Odd numbers in place of the good ones.
static void fill(hid_t file, const char *path, const char *attribute, Input *in) {
  static const double odd[] = {0, -1, 1, 1e300, -1e-310, 2147483648.0, -9.3e18, 4};
  double values[256];
  uint8_t c = next(in);
  for (int i = 0; i < 256; i++) values[i] = c < 8 ? 0 : odd[(c + i * (c >> 3)) % 8];
  if (c > 200) values[c - 200] = (double)NAN;
  hid_t id = attribute ? H5Aopen_by_name(file, path, attribute, H5P_DEFAULT, H5P_DEFAULT)
                       : H5Dopen2(file, path, H5P_DEFAULT);
  if (id < 0) return;
  hid_t space = attribute ? H5Aget_space(id) : H5Dget_space(id);
  int64_t points = (int64_t)H5Sget_simple_extent_npoints(space);
  if (points <= 256 && attribute) H5Awrite(id, H5T_NATIVE_DOUBLE, values);
  if (points <= 256 && !attribute)
    H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Sclose(space);
  if (attribute) H5Aclose(id);
  if (!attribute) H5Dclose(id);
}

static void grow(hid_t file, const char *path, Input *in) {
  hsize_t dims[3] = {0};
  hid_t id = H5Dopen2(file, path, H5P_DEFAULT), space = id < 0 ? -1 : H5Dget_space(id);
  if (space >= 0 && H5Sget_simple_extent_ndims(space) <= 3 &&
      H5Sget_simple_extent_dims(space, dims, NULL) > 0 && dims[0] < 1000) { // shrinking takes long
    dims[0] = (hsize_t)1 << next(in) % 40;
    H5Dset_extent(id, dims);
  }
  if (space >= 0) H5Sclose(space);
  if (id >= 0) H5Dclose(id);
}

static void change(hid_t file, Input *in) {
  char path[64];
  snprintf(path, sizeof path, "%s", good.names[next(in) % good.count]);
  char *attribute = strchr(path, '@');
  if (attribute) *attribute++ = 0;
  uint8_t how = next(in) % 8;
  if (how < 2) {
    fill(file, path, attribute, in);
    return;
  }
  if (how == 2 && !attribute) {
    grow(file, path, in);
    return;
  }
  if (attribute)
    H5Adelete_by_name(file, path, attribute, H5P_DEFAULT);
  else
    H5Ldelete(file, path, H5P_DEFAULT);
  if (how == 3 && !attribute)
    H5Lcreate_soft(good.names[next(in) % good.count], file, path, H5P_DEFAULT, H5P_DEFAULT);
  if (how > 3) replace(file, path, attribute, in);
}

static void write_changed(Input *in) {
  FILE *out = fopen(good.path, "wb");
  insist(out && fwrite(good.image, 1, good.size, out) == good.size && fclose(out) == 0, "copy");
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  hid_t file = H5Fopen(good.path, H5F_ACC_RDWR, access);
  insist(file >= 0, "open");
  for (int i = 0; i < CHANGES && in->at < in->size; i++) change(file, in);
  H5Fclose(file);
  H5Pclose(access);
}

// ---- use ----

static void use(CnRun *run) {
  CnRunInfo info;
  CnRunContact contacts[8];
  CnRunEvent event;
  double value;
  int32_t count;
  cn_run_info(run, &info);
  CnJointState *joints = calloc((size_t)info.joint_count + 1, sizeof *joints);
  for (int64_t f = 0; f < info.frame_count && f < 5 && joints; f++) {
    cn_run_joint_states(run, f, joints);
    cn_run_contacts(run, f, contacts, 8, &count);
  }
  free(joints);
  for (int64_t e = 0; e < info.event_count && e < 5; e++) cn_run_events(run, e, 1, &event);
  if (info.step_count > 0) cn_run_values(run, "energy", info.step_count - 1, 1, &value);
  cni_exports[1]->write(run, good.path, good.output[0]);
  CniPageDef page = {.output = good.output[1]};
  cni_page_from_run(run, &page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input in = {data, size, 0};
  if (!good.image) make_good();
  write_changed(&in);
  CnRun *run = NULL;
  CnStatus status = cn_run_open(good.path, NULL, &run);
  insist(size > 0 || status == CN_OK, "the good run");
  if (status == CN_OK) use(run);
  cn_run_close(run);
  unlink(good.path);
  unlink(good.output[0]);
  unlink(good.output[1]);
  return 0;
}
