// Numbers in an HDF5 file, by path: just enough for problem files, and careful. The file is a
// buffer in memory. Sizes are known before anything is read, so that a caller can refuse them.
#ifndef CNI_IO_HDF_FILE_H
#define CNI_IO_HDF_FILE_H

#include <cairn/base.h>
#include <stdint.h>

typedef struct CniHdfFile CniHdfFile;

// Open a buffer; it is borrowed. `name` stands for the file in messages.
CnStatus cni_hdf_file_open(const void *data, size_t size, const char *name,
                           const CnAllocator *allocator, CniHdfFile **hdf);
void cni_hdf_file_close(CniHdfFile *hdf);

// Is there a group or dataset of that path ("a/b/c")? Damage on the way counts as no.
int cni_hdf_file_has(CniHdfFile *hdf, const char *path);

// Number of elements of a one-dimensional (or scalar) dataset of integers or of floating-point
// numbers.
typedef enum CniHdfType { CNI_HDF_INTEGER = 0, CNI_HDF_REAL } CniHdfType;
CnStatus cni_hdf_file_count(CniHdfFile *hdf, const char *path, CniHdfType type, int64_t *count);

// All elements, `count` as found by cni_hdf_file_count. Integers that do not fit are refused, as
// are reals that are not finite.
CnStatus cni_hdf_file_integers(CniHdfFile *hdf, const char *path, int64_t count, int32_t *values);
CnStatus cni_hdf_file_reals(CniHdfFile *hdf, const char *path, int64_t count, double *values);

#endif
