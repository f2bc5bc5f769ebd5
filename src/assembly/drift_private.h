// SPDX-License-Identifier: Apache-2.0
// What the files of the drift on joints share: what takes part in it (drift_links.c), and how it moves
// (drift_joints.c).
#ifndef CNI_DRIFT_PRIVATE_H
#define CNI_DRIFT_PRIVATE_H

#include "assembly/assembly_private.h"
#include "sparse/sparse.h"

// Directions of a row.
typedef struct CniDriftLine {
  CnVec3 linear, angular;
} CniDriftLine;

// The two bodies of a joint and where its forces meet them.
typedef struct CniDriftPair {
  int32_t a, b;        // among the bodies below, -1: without mass
  CnVec3 arms[2];      // at the beginning
  CnVec3 mean_arms[2]; // of both ends
} CniDriftPair;

// A joint: its locked directions, then the coordinates that may be held. Or a coupling: one row, of
// which every joint has a line.
typedef struct CniDriftLink {
  int32_t joint, coupling; // one of them is -1
  int32_t pair, pair_count;
  int32_t row, dim, locked;
  int32_t line;     // the first of its lines: one a row, of a coupling one a pair
  double tolerance; // m
} CniDriftLink;

typedef struct CniDriftBody {
  int32_t body;
  int32_t owner; // the link that moves it
  double mass;
  CnVec3 inertia;
  double across;   // largest s^2 of its joints
  double turn;     // s: k
  CnVec3 spin;     // W0
  CnVec3 middle;   // Wm
  CnTwist impulse; // of the joints, at the centre of mass
  CnMat3 arms;     // sum of r f^T in body axes
} CniDriftBody;

typedef struct CniDriftRoom {
  CniDirectBody *bodies;
  CniDirectBlock *blocks;
  CniDirectSide *sides;
  CnTwist *e;
} CniDriftRoom;

typedef struct CniDrift {
  const CniDriftInput *in;
  CniDriftLink *links;
  CniDriftPair *pairs;
  CniDriftLine *lines, *means; // at the beginning, and the means of both ends
  CniDriftBody *bodies;
  CniHold *holds;   // by row: of coordinates and couplings
  double *target;   // by row, as all that follow: its value at the end of the step
  double *left;     // what it is more than that
  double *residual; // the same where it is held
  double *impulse, *change;
  double *loose; // 1 where it is not held
  CniDirectSystem system;
  CniDriftRoom room;    // its arrays, to write to
  double *first, *last; // by island: error at the beginning and now
  int32_t link_count, pair_count, line_count, row_count, entry_count, body_count;
  int32_t hold_count; // rows that are held or watched
} CniDrift;

CnStatus cni_drift_list(CniDrift *drift); // what takes part
// Means of lines and arms with the poses reached, and what is left of the errors; returns the largest
// in units of what may be left.
double cni_drift_look(const CniDrift *drift, const CniDriftLink *link);

// Row r of a link is a coordinate's or a coupling's; null if not.
static inline CniHold *cni_drift_hold(const CniDrift *d, const CniDriftLink *link, int32_t r) {
  return r < link->locked ? NULL : &d->holds[link->row + r];
}

#endif
