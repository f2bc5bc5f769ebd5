// SPDX-License-Identifier: Apache-2.0
// Writing and reading the records of a snapshot: snapshot.c, and snapshot_parts.c for what bodies,
// shapes and joints refer to.
#ifndef CNI_WORLD_SNAPSHOT_PRIVATE_H
#define CNI_WORLD_SNAPSHOT_PRIVATE_H

#include "world/snapshot/records.h"

// A stream and the records as they are written.
typedef struct CniSnapshotWriter {
  CniStream s;
  CniRecord records[CNI_RECORD_COUNT];
} CniSnapshotWriter;

void cni_snapshot_put(CniSnapshotWriter *w, int32_t record, void *from);
void cni_snapshot_put_count(CniSnapshotWriter *w, int32_t count);
void cni_snapshot_put_ids(CniSnapshotWriter *w, const CniIds *ids);

// A stream and the layout of what comes.
typedef struct CniSnapshotReader {
  CniStream s;
  CniLayout layout;
  CniRecord records[CNI_RECORD_COUNT];
} CniSnapshotReader;

CnStatus cni_snapshot_get(CniSnapshotReader *r, int32_t record, void *into);
// How many records of a sort follow.
CnStatus cni_snapshot_get_count(CniSnapshotReader *r, int32_t record, int32_t *count);
CnStatus cni_snapshot_get_ids(CniSnapshotReader *r, CniIds *ids, const CnAllocator *allocator);
CnStatus cni_snapshot_ended(void);   // the bytes are too few
CnStatus cni_snapshot_illegal(void); // a number that no definition would be given

// Parts before the bodies: geometries, curves, functions; after the joints: motions, couplings, forces.
void cni_snapshot_put_before(CniSnapshotWriter *w, const CniModel *model);
void cni_snapshot_put_after(CniSnapshotWriter *w, const CniModel *model);
CnStatus cni_snapshot_get_before(CniSnapshotReader *r, CniModel *model);
CnStatus cni_snapshot_get_after(CniSnapshotReader *r, CniModel *model);
void cni_snapshot_name_function(const CniModel *model, CnFunctionId *id);
CnStatus cni_snapshot_name_curves(const CniModel *model, CniJoint *joint);

#endif
