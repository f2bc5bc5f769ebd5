// SPDX-License-Identifier: Apache-2.0
// Locks on names. See lock.h.
//
// A file may be taken away between the moment it is opened and the moment it is locked, by the one
// who held it before or by one who cleans up after a killed process. So whoever has a lock looks
// whether the name still belongs to the file that is locked, and begins again if not. Of several
// who come at once one gets it; the others see that the name is held.
//
// Where the file system has no locks everybody gets one.
#include "io/tools/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/run/run_private.h"

#define ENDING ".lock"
#define ATTEMPTS 16 // each is undone by another process that got on meanwhile

struct CniLock {
  CnAllocator allocator;
  int fd;
  size_t size; // of all
  char path[];
};

static int lock(int fd) { return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

static int has_name(int fd, const char *path) {
  struct stat own, there;
  return fstat(fd, &own) == 0 && lstat(path, &there) == 0 && own.st_dev == there.st_dev &&
         own.st_ino == there.st_ino;
}

// Remove what a killed process left; 0 if somebody is at work there.
static int clean_up(const char *path, int *old) {
  *old = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (*old >= 0 && !lock(*old)) return 0;
  if (*old >= 0 ? has_name(*old, path) : errno != ENOENT) unlink(path);
  return 1;
}

int cni_lock_create(const char *path) {
  int error = EWOULDBLOCK;
  for (int i = 0; i < ATTEMPTS; i++) {
    int old, fd = -1;
    int nobody = clean_up(path, &old);
    if (nobody) fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    error = nobody && fd < 0 ? errno : EWOULDBLOCK;
    if (old >= 0) close(old);
    if (fd >= 0 && lock(fd) && has_name(fd, path)) return fd;
    if (fd >= 0) close(fd);
    if (fd < 0 && error != EEXIST) break;
  }
  errno = error;
  return -1;
}

CnStatus cni_lock_error(const char *path, int error) {
  if (error != EWOULDBLOCK) return cni_file_error(path, "cannot be written", error);
  return cni_error(CN_FILE, "%s: is being written by another process", path);
}

CnStatus cni_lock_take(const char *path, const CnAllocator *allocator, CniLock **result) {
  *result = NULL;
  size_t size = sizeof(CniLock) + strlen(path) + sizeof ENDING;
  CniLock *made = cni_allocate(allocator, size);
  if (!made) return cni_error_memory(size);
  *made = (CniLock){.allocator = *allocator, .size = size};
  snprintf(made->path, size - sizeof(CniLock), "%s%s", path, ENDING);
  made->fd = cni_lock_create(made->path);
  if (made->fd >= 0) {
    *result = made;
    return CN_OK;
  }
  int error = errno;
  cni_release(allocator, made, size);
  return cni_lock_error(path, error);
}

void cni_lock_release(CniLock *held) {
  if (!held) return;
  unlink(held->path);
  close(held->fd);
  CnAllocator allocator = held->allocator;
  cni_release(&allocator, held, held->size);
}
