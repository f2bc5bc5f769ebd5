// SPDX-License-Identifier: Apache-2.0
/// Curves in a plane: cams and grooves, for joints. Part of <cairn/world.h>.
#ifndef CAIRN_CURVE_H
#define CAIRN_CURVE_H

#include <cairn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CnCurveId {
  uint32_t slot, generation;
} CnCurveId;

typedef enum CnCurveKind {
  CN_CURVE_PATH = 0, ///< lines and arcs from point to point, without corners
  CN_CURVE_SPLINE,   ///< a cubic spline through the points
  CN_CURVE_KIND_COUNT
} CnCurveKind;

/// Name of a kind, as in scenes: "spline"; null past the end.
CN_API const char *cn_curve_kind_name(CnCurveKind kind);

/// A curve in the plane x, y of the frame of the joint that uses it. One goes along it from the first point
/// to the last; where it lies to the left and to the right is meant so.
typedef struct CnCurveDef {
  uint32_t size, tag; ///< set by cn_curve_def_default
  CnCurveKind kind;
  int32_t closed;       ///< 1: it goes on from the last point to the first
  int32_t point_count;  ///< at least 2; of a closed spline 3
  const double *x, *y;  ///< m; copied
  const double *bulges; ///< of a path, null: all lines. From point i on an arc through the angle
                        ///< 4 atan(bulge): 0 a line, 1 half a circle to the left, -1 to the right
  const char *name;     ///< copied; may be NULL
} CnCurveDef;

/// A definition of the kind without points, and with everything else as usual.
CN_API CnCurveDef cn_curve_def_default(CnCurveKind kind);

/// A place on a curve.
typedef struct CnCurvePoint {
  double x, y;      ///< m
  double tangent_x; ///< of length one
  double tangent_y;
  double curvature; ///< 1/m, above zero where it bends to the left
  double length;    ///< m, of the whole curve
} CnCurvePoint;

#ifdef __cplusplus
}
#endif
#endif
