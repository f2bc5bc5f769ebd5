// SPDX-License-Identifier: Apache-2.0
// Private to geometry: two boxes seen from a's frame, and the ways they can touch.
//
// Corners and edges have numbers. Corner c lies at (+-h_x, +-h_y, +-h_z), bit k of c set means + on
// axis k. An edge along axis d is one of four: 4 d + (bit of axis d+1) + 2 (bit of axis d+2).
//
// The names of contact points are made of these numbers and of nothing else: a corner of a (0..7),
// a corner of b (8..15), or an edge of a crossing an edge of b (16 + 12 edge_a + edge_b). They say
// which material points meet, whichever face served to find them.
#ifndef CNI_GEOMETRY_BOX_PRIVATE_H
#define CNI_GEOMETRY_BOX_PRIVATE_H

#include "geometry/geometry_private.h"

typedef struct CniBoxes {
  double r[3][3];      // r[i][j] = (axis i of a) . (axis j of b)
  double t[3], tb[3];  // from a's centre to b's, along a's and along b's axes
  double ha[3], hb[3]; // half sizes
  double scale;        // the smallest of them
  double margin;
  CnMat3 axes_a, axes_b; // world
  CnVec3 centre_a, centre_b;
} CniBoxes;

// A face of one of the boxes: of a (side 0) or b (side 1), on the + or - end of an axis.
typedef struct CniBoxFace {
  int side, axis;
  double sign;
} CniBoxFace;

// Lengths, in units of the smallest half size.
// Corners this far outside a face still belong to it, so that boxes of one size piled flush keep
// their corner contacts while they creep and turn a little: what leaves the face by less than this
// is moved back onto its border.
#define CNI_BOX_BAND 1e-4
// Separations that differ by less than this and by less than a thousandth count as equal.
#define CNI_BOX_ABS 1e-6
#define CNI_BOX_REL 1e-3
// Nearer than this is touching: a direction between the surfaces would be made of round-off.
#define CNI_BOX_TOUCH 1e-8

#define CNI_BOX_PARALLEL 0.99999 // cosine of 0.26 degrees: edges that lie along each other
#define CNI_BOX_ALONG 0.005      // sine: an edge square to the normal

static inline double cni_box_tolerance(const CniBoxes *x, double separation) {
  return CNI_BOX_ABS * x->scale + CNI_BOX_REL * fabs(separation);
}

static inline uint32_t cni_box_edge(int axis, uint32_t corner) {
  return (uint32_t)(4 * axis) + ((corner >> ((axis + 1) % 3)) & 1) +
         2 * ((corner >> ((axis + 2) % 3)) & 1);
}
static inline uint32_t cni_box_name_a(uint32_t corner) { return corner; }
static inline uint32_t cni_box_name_b(uint32_t corner) { return 8 + corner; }
static inline uint32_t cni_box_name_edges(uint32_t edge_a, uint32_t edge_b) {
  return 16 + 12 * edge_a + edge_b;
}

// A direction and a point of a's frame in the world.
static inline CnVec3 cni_box_world_direction(const CniBoxes *x, const double d[3]) {
  return cn_mmul(x->axes_a, cn_vec3(d[0], d[1], d[2]));
}
static inline CnVec3 cni_box_world_point(const CniBoxes *x, const double p[3]) {
  return cn_add(x->centre_a, cni_box_world_direction(x, p));
}

// Face against box (box_face.c): the part of the other box's opposing face that lies over this
// face. Returns the smallest gap there, INFINITY and no points if no part does; with `certain` the
// boxes are known to touch here, and the lowest corner stands in.
double cni_box_face(const CniBoxes *x, CniBoxFace face, int certain, CniManifold *manifold);

// Edge i of a against edge j of b along the normal n (box_edge.c): those of the four parallel edges
// each that reach farthest towards the other box. One point where they cross, two if they lie along
// each other; 0 without points if they pass each other outside their lengths (with `certain` they
// do not).
int cni_box_edges(const CniBoxes *x, const double n[3], int i, int j, int certain,
                  CniManifold *manifold);
// Edges that lie along each other: the two ends of the stretch they share. Returns the smaller gap,
// INFINITY and no points without such a stretch.
double cni_box_edges_along(const CniBoxes *x, const double n[3], int i, int j,
                           CniManifold *manifold);

// Corners and edges of two boxes apart from each other (box_near.c): the shortest way between them.
void cni_box_near(const CniBoxes *x, CniManifold *manifold);

#endif
