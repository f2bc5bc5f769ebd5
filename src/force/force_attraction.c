// SPDX-License-Identifier: Apache-2.0
// Attraction of two points by the inverse square of their distance, as gravity of two bodies is:
//
//     on b:  -strength d/|d|^3,  d from a's origin to b's
//
// A negative strength pushes (charges). Where the points coincide there is no force.
#include "force/force.h"

static void place(const CniForceSight *sight, CniForcePlace *p) {
  CnVec3 d = cn_sub(sight->at.at_b.position, sight->at.at_a.position);
  double r = cn_norm(d);
  if (r > 0) p->force = cn_scale(-sight->def->strength / (r * r * r), d);
}

static const CniField fields[] = {
    CNI_FORCE_FIELD(REAL, strength, ANY, "N m2",
                    "force times distance squared; below 0: it pushes"),
    CNI_FIELDS_END};

const CniForceKind cni_force_attraction = {.name = "attraction",
                                           .summary =
                                               "inverse square of the distance of two points",
                                           .fields = fields,
                                           .place = place};
