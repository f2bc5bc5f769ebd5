// SPDX-License-Identifier: Apache-2.0
// Rope: the origins of the two frames come no further apart than a distance; nearer they are free. The
// length is a coordinate whose upper limit is that distance.
#include "core/error.h"
#include "joint/joint_private.h"

// A rope that was given no distance is taut as it is.
static CnStatus fit(const CniJointSight *sight, CnJointDef *def) {
  CNI_TRY(cni_joint_fit_distance(sight, def));
  def->axes[0].upper = def->distance;
  return CN_OK;
}

static const CniField fields[] = {CNI_JOINT_DISTANCE, CNI_FIELDS_END};

static void place(const CniJointSight *sight, CniJointPlace *p) {
  p->axes[p->axis_count++] = cni_joint_line(sight, 0);
}

static const CniCoordinate coordinates[] = {{"length", "m"}, {NULL, NULL}};

const CniJointKind cni_joint_rope = {.name = "rope",
                                     .summary = "the origins come no further apart than a distance",
                                     .locked_count = 0,
                                     .coordinates = coordinates,
                                     .apart = 1,
                                     .fields = fields,
                                     .fit = fit,
                                     .place = place};
