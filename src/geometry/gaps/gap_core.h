// SPDX-License-Identifier: Apache-2.0
// Private to geometry: corners, edges, faces, walls and rims of a shape's core, for gaps that are
// followed by features (gap_features.c, gap_rims.c).
#ifndef CNI_GEOMETRY_GAP_CORE_H
#define CNI_GEOMETRY_GAP_CORE_H

#include "geometry/frustum.h"

// What is turned about an axis has its wall as edge 0, its ends as faces 0 (below) and 1, a rim about
// each end that is no point, and a corner where the upper one is.
typedef struct CniCore {
  const CniPlaced *shape;
  CnMat3 axes;
  double round, size; // size: inradius
  int32_t corners, edges, faces;
  int32_t rims; // 1: it is turned about an axis
  CniFrustum turned;
} CniCore;

typedef struct CniEdge {
  CnVec3 start, along; // unit
  double length;
  CnVec3 normal[2]; // of its faces
  int32_t sharp;    // it has faces
  int32_t wall;     // it is the axis of a wall, whose normals have the slope `lean` along it
  double lean;
} CniEdge;

CniCore cni_core_of(const CniPlaced *shape);
CnVec3 cni_core_point(const CniCore *c, CnVec3 local);
CnVec3 cni_core_corner(const CniCore *c, int32_t i);
// Returns 0 where i is the other name of an edge.
int cni_core_edge(const CniCore *c, int32_t i, CniEdge *e);
// The line of a wall that has the normal n.
CniEdge cni_core_wall(const CniCore *c, CnVec3 n);
// Is a unit direction, square to the edge, between the normals of its faces? Negative: how far not.
double cni_core_between(const CniEdge *e, CnVec3 d);
// Is a direction in the cone of a corner: does no edge from there go along it?
double cni_core_from(const CniCore *c, int32_t i, CnVec3 d);
// Height of a place of the shape's frame above face i, and how far it is within the face's borders.
double cni_core_above(const CniCore *c, int32_t i, CnVec3 p);
double cni_core_within(const CniCore *c, int32_t i, CnVec3 p);
// Of a place at d < 0 from face i (-1: the wall): how far it is from a nearer way out of the shape.
double cni_core_deepest(const CniCore *c, int32_t i, CnVec3 p, double d);
CnVec3 cni_core_normal(const CniCore *c, int32_t i);

#define CNI_SLACK 1e-9 // of borders, for round-off and for what steps leave of flush faces
#define CNI_ALONG 1e-3 // sine of the angle between lines below which they have no normal
#define CNI_DEPTH 0.5  // of the inradius: deeper overlaps of sharp shapes belong to other features

static inline double cni_core_scale(const CniCore *a, const CniCore *b) {
  return cn_min(a->size, b->size);
}
// The gap of two points at distance d along n.
CniGap cni_gap_between(const CniCore *a, const CniCore *b, CnVec3 on_a, CnVec3 on_b, CnVec3 n,
                       double d, double domain);
// The same where the first is a's if not `turned`; n points from the first to the second.
CniGap cni_gap_turned(const CniCore *first, const CniCore *second, CnVec3 on_first,
                      CnVec3 on_second, CnVec3 n, double d, double domain, int turned);
CniGap cni_no_gap(void);
// Point p of c over face i of f, both in the world; `turned`: f is b.
CniGap cni_gap_over_face(const CniCore *f, int32_t i, const CniCore *c, CnVec3 p, int turned);

// ---- gap_rims.c ----

// What a rim meets.
typedef enum CniRimMeets { CNI_RIM_EDGE, CNI_RIM_CORNER, CNI_RIM_RIM } CniRimMeets;
// A point of a rim of c, at the angle nearest to `start` where it is nearest to edge, corner or rim k of
// o; `turned`: c is b.
CniGap cni_gap_rim(const CniCore *c, int32_t upper, double start, const CniCore *o,
                   CniRimMeets meets, int32_t k, int turned);
// Angles about which there are such points: at most four.
int32_t cni_rim_starts(const CniCore *c, int32_t upper, const CniCore *o, CniRimMeets meets,
                       int32_t k, double start[4]);

#endif
