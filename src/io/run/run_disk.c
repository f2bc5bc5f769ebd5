// SPDX-License-Identifier: Apache-2.0
// The file beneath HDF5: plain reads and writes of one descriptor, as a driver of HDF5.
//
// HDF5 does not come away cleanly from a write that fails: what it has in its caches can then
// neither be written nor dropped, and closing the file fails again and again. So it never hears of
// it. When the disk is full, the driver remembers the error, writes nothing from then on, and
// reports success; the owner looks at CniDisk.error after each call. In single-writer mode HDF5
// orders its writes so that a reader finds a consistent file at any moment, so the file that is
// left is a consistent one.
//
// No locks are taken: a run may be read while it is written, and file systems without locks serve
// too.
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/run/run_private.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#define READ_ATTEMPTS 24
#define CNI_PAGE 4096 // of memory

typedef struct DiskFile {
  H5FD_t base; // HDF5's own, first
  CniDisk *disk;
  haddr_t end_of_allocation, end_of_file;
} DiskFile;

typedef struct DiskInfo {
  CniDisk *disk;
} DiskInfo;

static H5FD_t *disk_open(const char *name, unsigned flags, hid_t access, haddr_t max_address) {
  (void)name;
  (void)flags;
  (void)max_address;
  const DiskInfo *info = H5Pget_driver_info(access);
  struct stat status;
  if (!info || fstat(info->disk->fd, &status) != 0) return NULL;
  DiskFile *file = calloc(1, sizeof *file);
  if (!file) return NULL;
  file->disk = info->disk;
  file->end_of_file = (haddr_t)status.st_size;
  return &file->base;
}

static herr_t disk_close(H5FD_t *base) {
  free(base);
  return 0;
}

static herr_t disk_query(const H5FD_t *base, unsigned long *flags) {
  (void)base;
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
           H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

static haddr_t disk_get_eoa(const H5FD_t *base, H5FD_mem_t type) {
  (void)type;
  return ((const DiskFile *)base)->end_of_allocation;
}

static herr_t disk_set_eoa(H5FD_t *base, H5FD_mem_t type, haddr_t address) {
  (void)type;
  ((DiskFile *)base)->end_of_allocation = address;
  return 0;
}

static haddr_t disk_get_eof(const H5FD_t *base, H5FD_mem_t type) {
  (void)type;
  return ((const DiskFile *)base)->end_of_file;
}

// Past the end of the file there are zeros for HDF5, which reads ahead of small things; numbers
// that should be there and are not mean a cut file.
static herr_t disk_read(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size,
                        void *buffer) {
  (void)transfer;
  char *to = buffer;
  CniDisk *disk = ((DiskFile *)base)->disk;
  while (size > 0) {
    ssize_t got = pread(disk->fd, to, size, (off_t)address);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 && type == H5FD_MEM_DRAW) disk->cut = 1;
    if (got < 0 || disk->cut) return -1;
    if (got == 0) {
      memset(to, 0, size);
      return 0;
    }
    to += got;
    address += (haddr_t)got;
    size -= (size_t)got;
  }
  return 0;
}

// How many of the bytes may be written. The write on which a test ends the disk is cut the way a
// kill cuts it: the kernel looks for signals between the pages of a write.
static size_t bytes_allowed(CniDisk *disk, haddr_t address, size_t size) {
  if (disk->error) return 0;
  if (disk->writes_left > 0)
    disk->writes_left--;
  else if (disk->writes_left == 0) {
    size_t first_page = CNI_PAGE - (size_t)(address % CNI_PAGE);
    disk->error = ENOSPC;
    return size > first_page ? first_page : 0;
  }
  return size;
}

static herr_t disk_write(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, const void *buffer) {
  (void)type;
  (void)transfer;
  DiskFile *file = (DiskFile *)base;
  const char *from = buffer;
  if (address + size > file->end_of_file) file->end_of_file = address + size;
  size = bytes_allowed(file->disk, address, size);
  while (size > 0) {
    ssize_t put = pwrite(file->disk->fd, from, size, (off_t)address);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      file->disk->error = put < 0 ? errno : EIO;
      return 0;
    }
    from += put;
    address += (haddr_t)put;
    size -= (size_t)put;
  }
  return 0;
}

static herr_t disk_truncate(H5FD_t *base, hid_t transfer, hbool_t closing) {
  (void)transfer;
  (void)closing;
  DiskFile *file = (DiskFile *)base;
  if (file->end_of_file == file->end_of_allocation) return 0;
  file->end_of_file = file->end_of_allocation;
  if (bytes_allowed(file->disk, 0, 1) == 0) return 0;
  if (ftruncate(file->disk->fd, (off_t)file->end_of_allocation) != 0) file->disk->error = errno;
  return 0;
}

// HDF5 marks a file as being written only if the driver can lock it; that is all these are for.
static herr_t disk_lock(H5FD_t *base, hbool_t for_writing) {
  (void)base;
  (void)for_writing;
  return 0;
}

static herr_t disk_unlock(H5FD_t *base) {
  (void)base;
  return 0;
}

static const H5FD_class_t disk_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600,
#endif
    .name = "cairn",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(DiskInfo),
    .open = disk_open,
    .close = disk_close,
    .query = disk_query,
    .get_eoa = disk_get_eoa,
    .set_eoa = disk_set_eoa,
    .get_eof = disk_get_eof,
    .read = disk_read,
    .write = disk_write,
    .truncate = disk_truncate,
    .lock = disk_lock,
    .unlock = disk_unlock,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

CnStatus cni_disk_create(CniDisk *disk, const char *path, const char *label) {
  // another process may be at work in the old one: it keeps it
  unlink(path);
  *disk =
      (CniDisk){.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666), .writes_left = -1};
  return disk->fd < 0 ? cni_file_error(label, "cannot be written", errno) : CN_OK;
}

hid_t cni_disk_creation(void) {
  hid_t how = cni_hdf_creation(H5P_FILE_CREATE);
  if (how >= 0 && (H5Pset_file_space_strategy(how, H5F_FSPACE_STRATEGY_PAGE, 0, 1) < 0 ||
                   H5Pset_file_space_page_size(how, CNI_PAGE) < 0)) {
    H5Pclose(how);
    how = -1;
  }
  return how;
}

// The driver, registered once and for ever: HDF5 calls a driver's functions after it has let go of it, so the
// last file to be closed must not be its last user.
static hid_t disk_driver(void) {
  static hid_t driver = -1;
  if (driver < 0 || H5Iget_type(driver) != H5I_VFL) driver = H5FDregister(&disk_class);
  return driver;
}

hid_t cni_disk_access(CniDisk *disk) {
  DiskInfo info = {disk};
  hid_t driver = disk_driver();
  if (driver < 0) return -1;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  // One fixed version of the format, whatever the installed HDF5 could write. A part that is just
  // being written is read again, with a pause that doubles from 1 ns: in all 17 ms, after which it
  // is damaged.
  if (access >= 0 && (H5Pset_driver(access, driver, &info) < 0 ||
                      H5Pset_metadata_read_attempts(access, READ_ATTEMPTS) < 0 ||
                      H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0)) {
    H5Pclose(access);
    access = -1;
  }
  return access;
}
