// SPDX-License-Identifier: Apache-2.0
// The shapes of a run as one list of triangles, for exports that place them frame by frame.
#ifndef CNI_IO_RUN_TRIANGLES_H
#define CNI_IO_RUN_TRIANGLES_H

#include "io/run/run_private.h"
#include "io/tools/output.h"

typedef struct CniTriangles {
  CnVec3 *corners; // in the frames of their bodies
  int32_t *body;   // per corner
  int32_t *triangles, *triangle_body;
  CnPose *poses; // room for a frame
  CnTwist *twists;
  int64_t corner_count, triangle_count;
  int32_t spheres; // 0: without them
  void *memory;
  size_t bytes;
} CniTriangles;

// How many there are, of all shapes but half-spaces.
CnStatus cni_triangles_count(CnRun *run, int32_t spheres, CniTriangles *t);
// Memory and content for as many as were counted; fails beyond what an int32 can number.
CnStatus cni_triangles_take(CnRun *run, CniTriangles *t);
void cni_triangles_release(const CnRun *run, CniTriangles *t);

// Words of four bytes, least byte first.
void cni_triangles_words(CniOutput *out, const void *words, size_t count);
// The corners of a frame whose poses are given, as floats.
void cni_triangles_places(CniOutput *out, const CniTriangles *t);

#endif
