// SPDX-License-Identifier: Apache-2.0
// Curves in a plane (<cairn/curve.h>) as pieces, one after the other: cubics and arcs.
//
// A place on a curve is told by its arc length s. Beyond the ends an open curve goes on straight.
#ifndef CNI_GEOMETRY_CURVE_H
#define CNI_GEOMETRY_CURVE_H

#include <cairn/curve.h>

#include "core/fields.h"

#define CNI_TAG_CURVE 0x76727563u

// For 0 <= u <= 1: a cubic in u, x and then y by ascending power, or an arc.
typedef struct CniCurvePiece {
  int32_t arc;
  double start, length; // m: arc length of the curve where it begins, and its own
  double x[4], y[4]; // arc: centre in [0], radius x[1], angle at the start y[1], angle in all y[2]
} CniCurvePiece;

typedef struct CniCurve {
  uint32_t slot, generation;
  int32_t use_count; // joints that have it
  CnCurveDef def;    // its points are in `points`; def.name is null: name has it
  double *points;    // x, y, bulges
  CniCurvePiece *pieces;
  int32_t piece_count;
  double length;
  char name[CNI_NAME_SIZE];
} CniCurve;

extern const CniField cni_curve_fields[]; // of CnCurveDef

CnStatus cni_curve_check(const CnCurveDef *def);
// A checked curve with memory of its own, without ids.
CnStatus cni_curve_make(const CnAllocator *allocator, const CnCurveDef *def, CniCurve *curve);
void cni_curve_forget(const CnAllocator *allocator, CniCurve *curve);

// Point, first and second derivative in u of a piece, beyond the ends of an open curve too.
typedef struct CniCurveAt {
  double p[2], d[2], dd[2];
} CniCurveAt;
CniCurveAt cni_curve_piece_at(const CniCurve *curve, int32_t piece, double u);
CnCurvePoint cni_curve_at(const CniCurve *curve, double s);

// The foot of the perpendicular from a point: where the distance is least among the places near `near`
// (arc length; not a number: among all).
typedef struct CniCurveFoot {
  double s; // with the whole rounds of `near`
  CnCurvePoint at;
  double distance; // m, above zero to the left
} CniCurveFoot;
CniCurveFoot cni_curve_foot(const CniCurve *curve, double x, double y, double near);

// A second curve in the plane of the first: origin and the images of its x and y.
typedef struct CniCurvePlane {
  double o[2], x[2], y[2];
} CniCurvePlane;
// Where the second comes nearest to the side of the first: least side * distance, near the given
// places.
typedef struct CniCurveTouch {
  CniCurveFoot a;  // of the second's point on the first
  double s;        // on the second
  CnCurvePoint at; // of it, in its own plane
} CniCurveTouch;
CniCurveTouch cni_curve_touch(const CniCurve *a, const CniCurve *b, const CniCurvePlane *plane,
                              double side, double near_a, double near_b);
// The side of `a` on which `b` lies, 1 left or -1 right; 0: on both.
double cni_curve_side(const CniCurve *a, const CniCurve *b, const CniCurvePlane *plane);

#endif
