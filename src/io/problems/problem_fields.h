// SPDX-License-Identifier: Apache-2.0
// The members of the JSON problem's objects, shared by its reader and its writer: one row a field. A
// bound that is absent is null, which stands for its fallback.
#ifndef CNI_IO_PROBLEM_FIELDS_H
#define CNI_IO_PROBLEM_FIELDS_H

#include <cairn/problem.h>
#include <math.h>

#include "core/fields.h"
#include "problem/problem.h"

#define CNI_REQUIRED 256u // in `where`: the member must be there

#define MEMBER(sort, Struct, path, key, ...)                                                       \
  { .name = key, .type = CNI_FIELD_##sort, .offset = offsetof(Struct, path), __VA_ARGS__ }

static const CniField cni_set_members[] = {
    MEMBER(CHOICE, CnSet, kind, "kind", .where = CNI_REQUIRED, .words = cni_block_kind_words),
    MEMBER(REAL, CnSet, mu, "mu", .where = 0),
    MEMBER(REAL, CnSet, mu_roll, "mu_roll", .where = 0),
    MEMBER(REAL, CnSet, mu_spin, "mu_spin", .where = 0),
    MEMBER(REAL, CnSet, cohesion, "cohesion", .where = 0),
    MEMBER(REAL, CnSet, lo, "lo", .range = CNI_BOUND, .fallback = {-INFINITY}),
    MEMBER(REAL, CnSet, hi, "hi", .range = CNI_BOUND, .fallback = {INFINITY}),
    MEMBER(VEC3, CnSet, compliance, "compliance", .where = 0),
    CNI_FIELDS_END,
};

static const CniField cni_group_members[] = {
    MEMBER(REAL, CnGroupDef, inv_mass, "inv_mass", .where = CNI_REQUIRED),
    MEMBER(SYM3, CnGroupDef, inv_inertia, "inv_inertia", .where = 0),
    MEMBER(TWIST, CnGroupDef, free, "free", .where = CNI_REQUIRED),
    MEMBER(TWIST, CnGroupDef, old, "old", .where = 0),
    CNI_FIELDS_END,
};

static const CniField cni_pair_members[] = {
    MEMBER(INTEGER, CnPairDef, group_a, "a", .where = CNI_REQUIRED),
    MEMBER(INTEGER, CnPairDef, group_b, "b", .where = CNI_REQUIRED),
    MEMBER(VEC3, CnPairDef, normal, "normal", .where = CNI_REQUIRED),
    MEMBER(VEC3, CnPairDef, tangent, "tangent", .where = CNI_REQUIRED),
    MEMBER(VEC3, CnPairDef, arm_a, "arm_a", .where = 0),
    MEMBER(VEC3, CnPairDef, arm_b, "arm_b", .where = 0),
    MEMBER(REAL, CnPairDef, length, "length", .where = 0),
    CNI_FIELDS_END,
};

static const CniField cni_sphere_members[] = {
    MEMBER(INTEGER, CnSphereDef, group_a, "a", .where = CNI_REQUIRED),
    MEMBER(INTEGER, CnSphereDef, group_b, "b", .where = CNI_REQUIRED),
    MEMBER(VEC3, CnSphereDef, normal, "normal", .where = CNI_REQUIRED),
    MEMBER(REAL, CnSphereDef, radius_a, "radius_a", .where = CNI_REQUIRED),
    MEMBER(REAL, CnSphereDef, radius_b, "radius_b", .where = CNI_REQUIRED),
    MEMBER(REAL, CnSphereDef, length, "length", .where = 0),
    CNI_FIELDS_END,
};

static const CniField cni_entry_members[] = {
    MEMBER(INTEGER, CnRowEntry, row, "row", .where = CNI_REQUIRED),
    MEMBER(INTEGER, CnRowEntry, group, "group", .where = CNI_REQUIRED),
    MEMBER(VEC3, CnRowEntry, coefficient.velocity, "velocity", .where = 0),
    MEMBER(VEC3, CnRowEntry, coefficient.spin, "spin", .where = 0),
    CNI_FIELDS_END,
};

#endif
