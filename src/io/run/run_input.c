// SPDX-License-Identifier: Apache-2.0
// Attributes and datasets of a run file, from whomever it may come. HDF5 gives what a file says,
// and a file may say anything: a text of 4 GB in a file of one page, rows wider than the buffer
// for them, numbers that lie in another file, a filter that is to be loaded from the disk. So all
// that is read from a run goes through the few functions here. Before memory is taken or a number
// is read they make sure that
//
//   every link on the way is a plain one, and the numbers lie in this file, not filtered (columns: or
//   packed as Cairn packs them, run_pack.c);
//   the type is one that Cairn writes, so that HDF5 converts nothing unusual;
//   the count is the expected one, exactly, and in each dimension;
//   the file is long enough to hold it, packed columns at deflate's most of 1032 bytes for one.
//
// So what is taken in memory is bounded by the length of the file. HDF5's own reading of its own
// structures is not guarded by this.
#include <string.h>
#include <sys/stat.h>

#include "io/run/run_private.h"

#define LONGEST_PATH 64
#define DEFLATE_MOST 1032 // bytes that one byte can stand for

typedef struct Item {
  hid_t id, type, space;
  int is_attribute;
  int64_t count; // of elements
  size_t size;   // of one
} Item;

CnStatus cni_run_read_error(const CnRun *run, const char *what) {
  if (run->no_memory) return cni_error_memory(run->no_memory);
  if (run->broken) return cni_bad_data("%s: is damaged: %s cannot be unpacked", run->path, what);
  if (!run->disk.cut) return cni_hdf_error(run->path, what);
  return cni_bad_data("%s: %s: the file is cut short", run->path, what);
}

// A damaged file, whatever HDF5 calls it.
static CnStatus unreadable(const CnRun *run, const char *what) {
  CnStatus status = cni_run_read_error(run, what);
  return status == CN_FILE ? CN_INVALID_DATA : status;
}

static CnStatus refuse(const CnRun *run, const char *what, const char *why) {
  return cni_bad_data("%s: is damaged: %s %s", run->path, what, why);
}

CnStatus cni_input_damaged(const CnRun *run, const char *what, int64_t index, int64_t value) {
  return cni_bad_data("%s: is damaged: %s %lld is %lld", run->path, what, (long long)index,
                      (long long)value);
}

int cni_input_fits(const CnRun *run, int64_t count, int64_t size) {
  struct stat file;
  if (count < 0 || size < 1 || fstat(run->disk.fd, &file) != 0) return 0;
  return count <= (int64_t)file.st_size / size;
}

// ---- opening ----

// No link on the way leads out of the file or round a corner.
static int is_plain(const CnRun *run, const char *path) {
  char part[LONGEST_PATH];
  size_t length = strlen(path);
  if (length >= sizeof part) return 0;
  for (size_t i = 1; i <= length && length > 1; i++) {
    H5L_info_t link;
    if (path[i] != '/' && path[i] != 0) continue;
    memcpy(part, path, i);
    part[i] = 0;
    if (H5Lget_info(run->file, part, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
      return 0;
  }
  return 1;
}

static void close_item(Item *item) {
  if (item->space >= 0) H5Sclose(item->space);
  if (item->type >= 0) H5Tclose(item->type);
  if (item->id >= 0 && item->is_attribute) H5Aclose(item->id);
  if (item->id >= 0 && !item->is_attribute) H5Dclose(item->id);
}

static void open_by_name(const CnRun *run, const char *object, const char *attribute, Item *item) {
  *item = (Item){.id = -1, .type = -1, .space = -1, .is_attribute = attribute != NULL};
  if (!is_plain(run, object)) return;
  if (attribute)
    item->id = H5Aopen_by_name(run->file, object, attribute, H5P_DEFAULT, H5P_DEFAULT);
  else
    item->id = H5Dopen2(run->file, object, H5P_DEFAULT);
  if (item->id < 0) return;
  item->type = attribute ? H5Aget_type(item->id) : H5Dget_type(item->id);
  if (item->type >= 0) item->size = H5Tget_size(item->type);
  item->space = attribute ? H5Aget_space(item->id) : H5Dget_space(item->id);
  if (item->space >= 0) item->count = (int64_t)H5Sget_simple_extent_npoints(item->space);
}

// Are its filters those of run_pack.c?
static int is_packed(hid_t dataset) {
  static const H5Z_filter_t filters[] = {H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE};
  hid_t how = H5Dget_create_plist(dataset);
  int packed = how >= 0 && H5Pget_nfilters(how) == 2;
  for (unsigned i = 0; i < 2 && packed; i++) {
    unsigned flags;
    size_t none = 0;
    packed = H5Pget_filter2(how, i, &flags, &none, NULL, 0, NULL, NULL) == filters[i];
  }
  if (how >= 0) H5Pclose(how);
  return packed;
}

// How a dataset is stored: in this file, with so many filters, chunked as expected (null: in one piece).
static int is_stored_plainly(hid_t dataset, int rank, const hsize_t *chunk, int filters) {
  hsize_t found[3] = {0};
  hid_t how = H5Dget_create_plist(dataset);
  if (how < 0) return 0;
  H5D_layout_t layout = H5Pget_layout(how);
  int good = H5Pget_external_count(how) == 0 && H5Pget_nfilters(how) == filters;
  if (!chunk)
    good = good && (layout == H5D_CONTIGUOUS || layout == H5D_COMPACT);
  else
    good = good && layout == H5D_CHUNKED && H5Pget_chunk(how, 3, found) == rank &&
           memcmp(found, chunk, (size_t)rank * sizeof *chunk) == 0;
  H5Pclose(how);
  return good;
}

// Open an attribute, or with a null name a dataset, whose elements lie in the file.
static CnStatus open_item(const CnRun *run, const char *object, const char *attribute, Item *item) {
  const char *what = attribute ? attribute : object;
  open_by_name(run, object, attribute, item);
  if (item->space < 0 || item->type < 0 || item->count < 0 || item->size == 0)
    return unreadable(run, what);
  if (!cni_input_fits(run, item->count, (int64_t)item->size))
    return refuse(run, what, "says that it is larger than the file");
  if (attribute || item->count == 0) return CN_OK;
  if (!is_stored_plainly(item->id, 1, NULL, 0))
    return refuse(run, what, "is not stored in one piece");
  if (H5Dget_storage_size(item->id) != (hsize_t)item->count * item->size)
    return refuse(run, what, "has not all of its bytes");
  return CN_OK;
}

// ---- numbers ----

// Stored as Cairn stores them; whole numbers may be read as wider or narrower ones.
static int is_number(hid_t type, CniNumber as) {
  if (as == CNI_DOUBLE) return H5Tequal(type, cni_number_stored(CNI_DOUBLE)) > 0;
  for (int i = CNI_INT64; i <= CNI_UINT8; i++)
    if (H5Tequal(type, cni_number_stored((CniNumber)i)) > 0) return 1;
  return 0;
}

static herr_t read_item(const Item *item, hid_t type, void *to) {
  if (item->count == 0) return 0;
  if (item->is_attribute) return H5Aread(item->id, type, to);
  return H5Dread(item->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
}

CnStatus cni_input_numbers(const CnRun *run, const char *object, const char *attribute,
                           CniNumber as, int64_t count, void *values) {
  const char *what = attribute ? attribute : object;
  Item item;
  CnStatus status = open_item(run, object, attribute, &item);
  if (status == CN_OK && (item.count != count || !is_number(item.type, as)))
    status = refuse(run, what, "has another count or type of numbers");
  if (status == CN_OK && read_item(&item, cni_number_type(as), values) < 0)
    status = unreadable(run, what);
  close_item(&item);
  return status;
}

CnStatus cni_input_count(const CnRun *run, const char *path, int64_t *count) {
  Item item;
  *count = 0;
  CnStatus status = open_item(run, path, NULL, &item);
  if (status == CN_OK &&
      (H5Sget_simple_extent_ndims(item.space) != 1 || item.count > INT32_MAX / 8))
    status = cni_input_damaged(run, path, 0, item.count);
  if (status == CN_OK) *count = item.count;
  close_item(&item);
  return status;
}

CnStatus cni_input_committed(const CnRun *run, CniCommitted *committed) {
  Item item;
  hid_t type = cni_committed_type();
  CnStatus status = open_item(run, "/committed", NULL, &item);
  if (status == CN_OK && (item.count != 1 || H5Tequal(item.type, type) <= 0))
    status = refuse(run, "/committed", "has another count or type of numbers");
  if (status == CN_OK && read_item(&item, type, committed) < 0)
    status = unreadable(run, "/committed");
  close_item(&item);
  H5Tclose(type);
  return status;
}

// ---- texts ----

CnStatus cni_input_texts(CnRun *run, const char *object, const char *attribute, int64_t count,
                         CniTexts *texts) {
  const char *what = attribute ? attribute : object;
  Item item;
  CnStatus status = open_item(run, object, attribute, &item);
  if (status == CN_OK && (item.count != count || H5Tget_class(item.type) != H5T_STRING ||
                          H5Tis_variable_str(item.type) != 0))
    status = refuse(run, what, "has another count or type of texts");
  size_t bytes = item.size * (size_t)item.count + 1; // a zero behind the last one
  if (status == CN_OK) {
    *texts = (CniTexts){cni_allocate(&run->allocator, bytes), bytes, item.size};
    if (!texts->bytes) status = cni_error_memory(bytes);
  }
  if (status == CN_OK) {
    memset(texts->bytes, 0, bytes);
    if (read_item(&item, item.type, texts->bytes) < 0) status = unreadable(run, what);
  }
  // one among many ends before the next
  for (int64_t i = 0; status == CN_OK && count > 1 && i < count; i++)
    if (!memchr(texts->bytes + (size_t)i * item.size, 0, item.size))
      status = refuse(run, what, "has a text without an end");
  close_item(&item);
  return status;
}

// ---- columns ----

// Packed rows have not more than deflate's most for what is stored of them, and that is in the file.
static int column_fits(const CnRun *run, int32_t column, int64_t rows, int64_t row_bytes) {
  if (!run->packed[column]) return cni_input_fits(run, rows, row_bytes);
  int64_t stored = (int64_t)H5Dget_storage_size(run->columns[column]);
  return cni_input_fits(run, stored, 1) && rows <= stored * DEFLATE_MOST / row_bytes;
}

CnStatus cni_input_column(CnRun *run, int32_t column) {
  const CniColumn *c = &cni_run_columns[column];
  hsize_t expected[3], chunk[3], dims[3] = {0};
  int64_t rows = run->committed.rows[c->rows], width = cni_column_width(column, &run->sizes);
  Item item;
  if (width == 0 || (c->added && H5Lexists(run->file, c->path, H5P_DEFAULT) == 0)) return CN_OK;
  int rank = cni_column_dims(column, &run->sizes, expected, chunk);
  open_by_name(run, c->path, NULL, &item);
  run->columns[column] = item.id;
  item.id = -1; // stays open
  run->packed[column] = rows > 0 && run->columns[column] >= 0 && is_packed(run->columns[column]);
  if (run->packed[column]) cni_pack_chunk(column, &run->sizes, rows, chunk);
  CnStatus status = CN_OK;
  if (item.space < 0 || item.type < 0)
    status = unreadable(run, c->path);
  else if (H5Sget_simple_extent_ndims(item.space) != rank ||
           H5Sget_simple_extent_dims(item.space, dims, NULL) != rank ||
           H5Tequal(item.type, cni_number_stored(c->number)) <= 0 ||
           !is_stored_plainly(run->columns[column], rank, chunk, run->packed[column] ? 2 : 0))
    status = refuse(run, c->path, "is laid out in another way");
  for (int i = 1; i < rank && status == CN_OK; i++)
    if (dims[i] != expected[i]) status = refuse(run, c->path, "has rows of another width");
  if (status == CN_OK && (rows < 0 || dims[0] < (hsize_t)rows || dims[0] > INT64_MAX ||
                          (run->packed[column] && dims[0] != (hsize_t)rows)))
    status = cni_input_damaged(run, c->path, rows, (int64_t)dims[0]);
  if (status == CN_OK &&
      !column_fits(run, column, rows, width * (int64_t)cni_number_size(c->number)))
    status = refuse(run, c->path, "says that it is larger than the file");
  close_item(&item);
  return status;
}
