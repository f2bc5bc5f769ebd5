// SPDX-License-Identifier: Apache-2.0
// Point on a curve: the origin of frame b stays on a curve in the plane x, y of frame a. A pin in a
// groove; a roller of some radius on a cam, if the joint is one-sided.
//
//     p = (x_a . d, y_a . d) with d = p_b - p_a,  foot C(s) of p on the curve: t . (p - C) = 0
//     gap = side n . (p - C) - radius,  gap' = side n . p',  s' = t . p'/(1 - k e)
//     gap'' = side (n . p'' - k/(1 - k e) (t . p')^2)
//
// with tangent t, normal n to the left, curvature k and e = n . (p - C). A groove locks gap and
// z_a . d; its ends, where it has some, are stops of the travel s. A cam locks nothing, pushes along
// the gap and goes on straight beyond its ends.
#include "core/error.h"
#include "joint/joint_private.h"

enum { TRAVEL, GAP };

typedef struct Seen {
  CnVec3 t, n, z; // n: to the side of the follower
  CniCurveFoot foot;
  double room; // 1 - k e
} Seen;

static Seen look(const CniJointSight *sight, const CniJointSlide *slide) {
  double x = cn_dot(slide->axes.x, slide->d), y = cn_dot(slide->axes.y, slide->d);
  Seen seen = {.foot = cni_curve_foot(sight->curves[0], x, y, sight->along[0])};
  const CnCurvePoint *at = &seen.foot.at;
  double side = cni_joint_side(sight->def);
  seen.t = cn_madd(cn_scale(at->tangent_x, slide->axes.x), at->tangent_y, slide->axes.y);
  seen.n =
      cn_madd(cn_scale(-side * at->tangent_y, slide->axes.x), side * at->tangent_x, slide->axes.y);
  seen.z = slide->axes.z;
  seen.room = cn_max(1 - at->curvature * seen.foot.distance, 1e-6);
  return seen;
}

static void place(const CniJointSight *sight, CniJointPlace *p) {
  CniJointSlide slide = cni_joint_slide(sight, p);
  Seen seen = look(sight, &slide);
  double gap = cni_joint_side(sight->def) * seen.foot.distance - sight->def->radius;
  if (!sight->def->one_sided) {
    cni_joint_lock(p, seen.n, gap);
    cni_joint_lock(p, seen.z, cn_dot(seen.z, slide.d));
  }
  cni_joint_free(p, cn_scale(1 / seen.room, seen.t), seen.foot.s);
  p->axes[TRAVEL].wraps = CNI_ALONG;
  cni_joint_free(p, seen.n, gap);
}

static double curvature(const CniJointSight *sight, const CniJointPlace *p, int32_t row,
                        const CnTwist *a, const CnTwist *b) {
  CniJointPlace own = *p;
  CniJointSlide slide = cni_joint_slide(sight, &own);
  Seen seen = look(sight, &slide);
  if (row == 1) return cni_joint_slide_curvature(sight, CN_VEC3_ZERO, seen.z, a, b);
  double along = cni_joint_rate(p, &(CniJointRow){.linear = seen.t}, a, b);
  double bend = cni_joint_side(sight->def) * seen.foot.at.curvature / seen.room;
  return cni_joint_slide_curvature(sight, CN_VEC3_ZERO, seen.n, a, b) - bend * along * along;
}

CnStatus cni_joint_fit_side(double found, CnJointDef *def) {
  if (def->one_sided) def->axes[cni_joint_kind(def->kind)->gap].lower = 0;
  if (def->side != CN_SIDE_PRESENT) return CN_OK;
  if (found == 0)
    return cni_invalid(
        "joint: the follower is on the curve or on both sides of it: say `side`, left "
        "or right");
  def->side = found > 0 ? CN_SIDE_LEFT : CN_SIDE_RIGHT;
  return CN_OK;
}

static CnStatus fit(const CniJointSight *sight, CnJointDef *def) {
  CniJointPlace unused;
  CniJointSlide slide = cni_joint_slide(sight, &unused);
  const CniCurve *curve = sight->curves[0];
  double distance = look(sight, &slide).foot.distance;
  int matters = def->one_sided || def->radius > 0;
  double found = fabs(distance) > 1e-9 * curve->length ? distance : 0;
  CNI_TRY(cni_joint_fit_side(matters ? found : 1, def));
  if (def->one_sided || curve->def.closed) return CN_OK;
  CnJointAxis *travel = &def->axes[TRAVEL];
  travel->lower = cn_max(travel->lower, 0);
  travel->upper = cn_min(travel->upper, curve->length);
  if (travel->lower <= travel->upper) return CN_OK;
  return cni_invalid("joint: travel: limits %g and %g are not on the curve", travel->lower,
                     travel->upper);
}

static const CniField fields[] = {CNI_JOINT_CURVE(curve_a, "on which the origin of frame b stays"),
                                  CNI_JOINT_ONE_SIDED, CNI_JOINT_SIDE, CNI_JOINT_RADIUS,
                                  CNI_FIELDS_END};
static const CniCoordinate coordinates[] = {{"travel", "m"}, {"gap", "m"}, {NULL, NULL}};

const CniJointKind cni_joint_point_on_curve = {
    .name = "point_on_curve",
    .summary =
        "the origin of frame b stays on a curve of frame a: a pin in a groove, a roller on a cam",
    .locked_count = 2,
    .wraps = 1,
    .apart = 1,
    .curves = 1,
    .gap = GAP,
    .coordinates = coordinates,
    .fields = fields,
    .fit = fit,
    .place = place,
    .curvature = curvature};
