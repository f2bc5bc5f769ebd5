// SPDX-License-Identifier: Apache-2.0
// Numbers in an HDF5 file, by path: just enough for problem files, and careful.
//
// The HDF5 library trusts the sizes in a file's metadata and can be made to ask for any amount of
// memory. This reader works on a buffer, allocates nothing, follows no link out of the file, and
// checks every address. It knows what FCLib and most programs write: groups as symbol tables or as
// few links, datasets stored in one piece, integers and IEEE reals. It does not know chunks and
// filters, groups of very many links, soft links and shared types, and says so.
#ifndef CNI_IO_HDF_FILE_H
#define CNI_IO_HDF_FILE_H

#include <cairn/base.h>
#include <stdint.h>

typedef struct CniHdfFile {
  const uint8_t *data;
  uint64_t size;
  const char *name;
  uint64_t base; // what addresses count from
  uint64_t root; // object header of the root group
  int32_t offset_size, length_size;
} CniHdfFile;

// Look at a buffer; it is borrowed, and so is `name`, which stands for the file in messages.
CnStatus cni_hdf_file_open(const void *data, size_t size, const char *name, CniHdfFile *hdf);

// Is there a group or dataset of that path ("a/b/c")? Damage on the way counts as no.
int cni_hdf_file_has(const CniHdfFile *hdf, const char *path);

// Number of elements of a one-dimensional (or scalar) dataset of integers or of floating-point
// numbers. They are in the file: a count is never larger than its size.
typedef enum CniHdfType { CNI_HDF_INTEGER = 0, CNI_HDF_REAL } CniHdfType;
CnStatus cni_hdf_file_count(const CniHdfFile *hdf, const char *path, CniHdfType type,
                            int64_t *count);

// All elements, `count` as found by cni_hdf_file_count. Integers that do not fit are refused, as
// are reals that are not finite.
CnStatus cni_hdf_file_integers(const CniHdfFile *hdf, const char *path, int64_t count,
                               int32_t *values);
CnStatus cni_hdf_file_reals(const CniHdfFile *hdf, const char *path, int64_t count, double *values);

#endif
