// SPDX-License-Identifier: Apache-2.0
// A toy force: a push on a body, in the axes of the world. tests/open_house adds it to a copy of the
// sources.
#include "force/force.h"

static void place(const CniForceSight *sight, CniForcePlace *p) { p->force = sight->def->force; }

static const CniField fields[] = {CNI_FORCE_FIELD(VEC3, force, ANY, "N", "at the point"),
                                  CNI_FIELDS_END};

const CniForceKind cni_force_toy = {
    .name = "toy", .summary = "a toy", .single = 1, .fields = fields, .place = place};
