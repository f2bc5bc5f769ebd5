// SPDX-License-Identifier: Apache-2.0
// Gaps between two shapes that can be followed in time (gap.c). A part of geometry.h.
#ifndef CNI_GEOMETRY_GAP_H
#define CNI_GEOMETRY_GAP_H

#include "geometry/shape_kind.h"

typedef enum CniGapBend {
  CNI_GAP_POINTS = 0, // the normal is the direction from point to point
  CNI_GAP_FACE,       // it is that of a half-space
  CNI_GAP_OTHER       // it turns in a way of its own
} CniGapBend;

// gap = distance along the normal, from a to b, of two points that go with the shapes, less the
// radii of the balls about them.
typedef struct CniGap {
  CniGapBend bend;
  CnVec3 normal;
  CnVec3 centre_a, centre_b;
  double gap, radius_a, radius_b;
  double domain; // >= 0: the place is on the feature's piece of surface; INFINITY: it has no border
} CniGap;

// How the gaps of two shapes are followed: not at all, by the points of the narrow phase, or by their
// features.
typedef enum CniGapSource { CNI_GAP_NONE = 0, CNI_GAP_BY_POINTS, CNI_GAP_BY_FEATURES } CniGapSource;
CniGapSource cni_gap_source(const CniPlaced *a, const CniPlaced *b);
// Of the points only the nearest counts: one of them is round.
int cni_gap_one_place(const CniPlaced *a, const CniPlaced *b);
// The features of two shapes (a half-space is a) that may touch where their surfaces come nearer by
// `reach`, ascending: their number, and the first `most` of them. `load`: where a body that stands on
// an end is pulled.
int32_t cni_gap_features(const CniPlaced *a, const CniPlaced *b, double reach, CnVec3 load,
                         uint32_t *names, int32_t most);
// Of a point that the narrow phase has named or of a feature, however far away it is now.
CniGap cni_gap(const CniPlaced *a, const CniPlaced *b, uint32_t feature);

#endif
