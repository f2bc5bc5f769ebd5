// SPDX-License-Identifier: Apache-2.0
// Spring and damper between the origins of the two frames, with a length L at which it is free:
//
//     on b:  -(k (|p_b - p_a| - L) + d |p_b - p_a|')  along the line from a to b
//
// With a function of time for L it is an actuator: stiff as it may be, the step problem has L and L' at
// the end of the step, the damper's share of L' as a load.
//
// Where the two points coincide the line has no direction; a fixed one is taken, which lets the
// spring push them apart.
#include "core/error.h"
#include "force/force.h"

static void place(const CniForceSight *sight, CniForcePlace *p) {
  const CnForceDef *def = sight->def;
  CnVec3 line = cn_sub(sight->at.at_b.position, sight->at.at_a.position);
  CniJointRow row = {.linear = cn_unit_or(line, cn_vec3(1, 0, 0)),
                     .value = cn_norm(line) - def->rest_length};
  if (sight->rest) {
    double rest[3];
    cni_function_kinds[sight->rest->kind].at(sight->rest, sight->bends,
                                             sight->time + sight->time_step, rest);
    row.value = cn_norm(line) - rest[0];
    p->force = cn_scale(def->damping * rest[1], row.linear);
  }
  cni_force_row(p, row, def->stiffness, def->damping);
}

// The present length for a spring that was given none.
static CnStatus fit(const CniForceSight *sight, CnForceDef *def) {
  if (def->rest_length > 0 || def->rest_function.slot != 0) return CN_OK;
  double length = cn_norm(cn_sub(sight->at.at_b.position, sight->at.at_a.position));
  if (!(length > 0) || !isfinite(length))
    return cni_invalid("force: rest_length 0 takes the present length, which is %g: give one",
                       length);
  def->rest_length = length;
  return CN_OK;
}

static const CniField fields[] = {
    CNI_FORCE_FIELD(REAL, stiffness, NOT_NEGATIVE, "N/m", "of the spring"),
    CNI_FORCE_FIELD(REAL, damping, NOT_NEGATIVE, "N s/m", "of the damper"),
    CNI_FORCE_FIELD(REAL, rest_length, NOT_NEGATIVE, "m",
                    "where the spring is free; 0: the length at creation"),
    CNI_FORCE_FIELD(BITS, rest_function, ANY, "", "function of time that is its rest length"),
    CNI_FIELDS_END};

const CniForceKind cni_force_spring = {.name = "spring",
                                       .summary = "spring and damper between two points",
                                       .row_count = 1,
                                       .fields = fields,
                                       .fit = fit,
                                       .place = place};
