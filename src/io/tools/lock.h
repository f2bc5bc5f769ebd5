// SPDX-License-Identifier: Apache-2.0
// One writer a name. Who writes PATH over a longer time holds a lock on the file PATH.lock, which
// is gone when the work is done. The lock is the system's, so it dies with a process that is
// killed: the file it leaves behind holds up nobody.
#ifndef CNI_IO_LOCK_H
#define CNI_IO_LOCK_H

#include <cairn/base.h>

typedef struct CniLock CniLock;

// CN_FILE with a sentence where another writer, of this or of another process, is at work.
CnStatus cni_lock_take(const char *path, const CnAllocator *allocator, CniLock **lock);
void cni_lock_release(CniLock *lock); // null: nothing

// A new file, locked until it is closed, in place of one that a killed process left; negative with
// errno on failure, EWOULDBLOCK where another writer is at work in it.
int cni_lock_create(const char *path);
// The failure of cni_lock_create as a sentence about the file that it serves.
CnStatus cni_lock_error(const char *path, int error);

#endif
