// SPDX-License-Identifier: Apache-2.0
// Curve on curve: a curve in the plane x, y of frame b touches one in that of frame a. A cam and a flat
// or round follower, if the joint is one-sided, which then locks nothing; two curves that never part
// otherwise.
//
// P(s_b) is a point of b's curve seen in the plane of a, e its distance to the left of a's curve, at
// whose foot that has the tangent t, the normal n and the curvature k. Where the two touch, or would, e
// is least on the side of b:
//
//     t . (P - C(s_a)) = 0,   n . P_s = 0,   gap = side e,   gap' = side n . P'
//
// with P' the velocity of that point of b against a. Both conditions, derived, give how the point of
// contact moves; with K = k/(1 - k e), T = P_s, w the spin of b against a:
//
//     s_a' = (t . P' + t . T s_b')/(1 - k e)
//     s_b' = (K t . T t . P' - n . w x T)/(n . P_ss - K (t . T)^2)
//     gap'' = side (n . P'' + n . w x T s_b' - k s_a' t . P')
//
// The slide is s_a less or plus s_b, as they run alike or against each other: what has been slipped.
// Beyond its ends an open curve goes on straight. Where it is not one-sided the joint keeps the two
// planes one: z_a . d = 0 and no tilt.
#include "core/error.h"
#include "joint/joint_private.h"

enum { TRAVEL_A, TRAVEL_B, GAP, SLIDE };

typedef struct Seen {
  CniCurveTouch touch;
  CnVec3 t, n;    // of a's curve; n to the left
  CnVec3 reach;   // from b's origin to the point
  CnVec3 tangent; // T
  double along;   // t . T
  double bend;    // K
  double room;    // 1 - k e
  double part;    // n . P_ss - K (t . T)^2: 0 where the curves nestle
} Seen;

static CnVec3 in(const CnMat3 *axes, double x, double y) {
  return cn_madd(cn_scale(x, axes->x), y, axes->y);
}

static CniCurvePlane plane_of(const CniJointSlide *slide, const CnMat3 *b) {
  const CnMat3 *a = &slide->axes;
  return (CniCurvePlane){{cn_dot(a->x, slide->d), cn_dot(a->y, slide->d)},
                         {cn_dot(a->x, b->x), cn_dot(a->y, b->x)},
                         {cn_dot(a->x, b->y), cn_dot(a->y, b->y)}};
}

static Seen look(const CniJointSight *sight, const CniJointSlide *slide) {
  CnMat3 b = cn_qmat(sight->at_b.rotation);
  CniCurvePlane plane = plane_of(slide, &b);
  double side = cni_joint_side(sight->def);
  Seen seen = {.touch = cni_curve_touch(sight->curves[0], sight->curves[1], &plane, side,
                                        sight->along[0], sight->along[1])};
  const CnCurvePoint *at = &seen.touch.a.at, *on = &seen.touch.at;
  seen.t = in(&slide->axes, at->tangent_x, at->tangent_y);
  seen.n = in(&slide->axes, -at->tangent_y, at->tangent_x);
  seen.reach = in(&b, on->x, on->y);
  seen.tangent = in(&b, on->tangent_x, on->tangent_y);
  seen.along = cn_dot(seen.t, seen.tangent);
  seen.room = cn_max(1 - at->curvature * seen.touch.a.distance, 1e-6);
  seen.bend = at->curvature / seen.room;
  CnVec3 bent = cn_scale(on->curvature, in(&b, -on->tangent_y, on->tangent_x));
  seen.part = cn_dot(seen.n, bent) - seen.bend * seen.along * seen.along;
  // the two nestle: the point of contact is anywhere, and stays
  double size = fabs(on->curvature) + fabs(seen.bend) + 1 / sight->curves[1]->length;
  if (fabs(seen.part) < 1e-9 * size) seen.part = 0;
  return seen;
}

// Along an axis of a, at the point of contact.
static CniJointRow row_at(const Seen *seen, CnVec3 axis, double value) {
  return (CniJointRow){.linear = axis, .angular = cn_cross(seen->reach, axis), .value = value};
}

// x row + y spin: a row of the two.
static CniJointRow mixed(double x, const CniJointRow *row, CnVec3 spin, double value) {
  return (CniJointRow){.linear = cn_scale(x, row->linear),
                       .angular = cn_madd(spin, x, row->angular),
                       .value = value};
}

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  Seen seen = look(sight, &slide);
  double side = cni_joint_side(sight->def), sign = seen.along < 0 ? -1 : 1;
  CniJointRow gap = row_at(&seen, cn_scale(side, seen.n), side * seen.touch.a.distance);
  if (!sight->def->one_sided) {
    p->locked[p->locked_count++] = gap;
    cni_joint_lock_along(p, &slide, CNI_Z);
    cni_joint_lock_tilt(sight, p);
  }
  // s_b' and s_a' from t . P' and the spin
  CniJointRow slip = row_at(&seen, seen.t, 0);
  double share = seen.part != 0 ? 1 / seen.part : 0;
  CniJointRow b = mixed(share * seen.bend * seen.along, &slip,
                        cn_scale(-share, cn_cross(seen.tangent, seen.n)), seen.touch.s);
  CniJointRow a = mixed(1 / seen.room, &slip, CN_VEC3_ZERO, seen.touch.a.s);
  a.linear = cn_madd(a.linear, seen.along / seen.room, b.linear);
  a.angular = cn_madd(a.angular, seen.along / seen.room, b.angular);
  a.wraps = b.wraps = CNI_ALONG;
  p->axes[TRAVEL_A] = a;
  p->axes[TRAVEL_B] = b;
  p->axes[GAP] = gap;
  p->axes[SLIDE] = (CniJointRow){.linear = cn_madd(a.linear, -sign, b.linear),
                                 .angular = cn_madd(a.angular, -sign, b.angular),
                                 .value = a.value - sign * b.value};
  p->axis_count = 4;
}

static double curvature(const CniJointSight *sight, const CniJointPlace *p, int32_t row,
                        const CnTwist *a, const CnTwist *b) {
  CniJointPlace own = *p;
  CniJointSlide slide = cni_joint_slide(sight, &own);
  Seen seen = look(sight, &slide);
  if (row == 1) return cni_joint_slide_curvature(sight, CN_VEC3_ZERO, slide.axes.z, a, b);
  if (row == 2 || row == 3) return cni_joint_tilt_curvature(sight, row - 2, a, b);
  CniJointRow slip = row_at(&seen, seen.t, 0);
  double u = cni_joint_rate(p, &slip, a, b);
  double turn = cn_dot(seen.n, cn_cross(cn_sub(b->spin, a->spin), seen.tangent));
  double s_b = seen.part != 0 ? (seen.bend * seen.along * u - turn) / seen.part : 0;
  double s_a = (u + seen.along * s_b) / seen.room;
  return cni_joint_side(sight->def) * (cni_joint_slide_curvature(sight, seen.reach, seen.n, a, b) +
                                       turn * s_b - seen.touch.a.at.curvature * s_a * u);
}

static CnStatus fit(const CniJointSight *sight, CnJointDef *def) {
  CniJointPlace unused;
  CniJointSlide slide = cni_joint_slide(sight, &unused);
  CnMat3 b = cn_qmat(sight->at_b.rotation);
  CniCurvePlane plane = plane_of(&slide, &b);
  if (def->side != CN_SIDE_PRESENT) return cni_joint_fit_side(0, def);
  return cni_joint_fit_side(cni_curve_side(sight->curves[0], sight->curves[1], &plane), def);
}

static const CniField fields[] = {CNI_JOINT_CURVE(curve_a, "of frame a"),
                                  CNI_JOINT_CURVE(curve_b, "of frame b, which touches it"),
                                  CNI_JOINT_ONE_SIDED, CNI_JOINT_SIDE, CNI_FIELDS_END};
static const CniCoordinate coordinates[] = {
    {"travel_a", "m"}, {"travel_b", "m"}, {"gap", "m"}, {"slide", "m"}, {NULL, NULL}};

const CniJointKind cni_joint_curve_on_curve = {
    .name = "curve_on_curve",
    .summary = "a curve of frame b touches a curve of frame a: a cam and its follower",
    .locked_count = 4,
    .wraps = 1,
    .apart = 1,
    .curves = 2,
    .gap = GAP,
    .coordinates = coordinates,
    .fields = fields,
    .fit = fit,
    .place = place,
    .curvature = curvature};
