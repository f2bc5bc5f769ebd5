// SPDX-License-Identifier: Apache-2.0
// The members of the JSON problem's objects, shared by its reader and its writer: one row a field.
#ifndef CNI_IO_PROBLEM_FIELDS_H
#define CNI_IO_PROBLEM_FIELDS_H

#include <cairn/problem.h>
#include <stddef.h>

typedef enum CniFieldType {
  CNI_FIELD_INTEGER = 0, // int32_t
  CNI_FIELD_REALS,       // `count` doubles: a number if 1, else a list
  CNI_FIELD_LOW,         // a double, null for -infinity
  CNI_FIELD_HIGH         // a double, null for +infinity
} CniFieldType;

typedef struct CniField {
  const char *key;
  CniFieldType type;
  int32_t count, required;
  size_t offset;
} CniField;

#define CNI_FIELD_COUNT(fields) ((int32_t)(sizeof(fields) / sizeof(fields)[0]))

static const CniField cni_set_fields[] = {
    {"mu", CNI_FIELD_REALS, 1, 0, offsetof(CnSet, mu)},
    {"mu_roll", CNI_FIELD_REALS, 1, 0, offsetof(CnSet, mu_roll)},
    {"mu_spin", CNI_FIELD_REALS, 1, 0, offsetof(CnSet, mu_spin)},
    {"cohesion", CNI_FIELD_REALS, 1, 0, offsetof(CnSet, cohesion)},
    {"lo", CNI_FIELD_LOW, 1, 0, offsetof(CnSet, lo)},
    {"hi", CNI_FIELD_HIGH, 1, 0, offsetof(CnSet, hi)},
    {"compliance", CNI_FIELD_REALS, 3, 0, offsetof(CnSet, compliance)},
};

static const CniField cni_group_fields[] = {
    {"inv_mass", CNI_FIELD_REALS, 1, 1, offsetof(CnGroupDef, inv_mass)},
    {"inv_inertia", CNI_FIELD_REALS, 6, 0, offsetof(CnGroupDef, inv_inertia)},
    {"free", CNI_FIELD_REALS, 6, 1, offsetof(CnGroupDef, free)},
    {"old", CNI_FIELD_REALS, 6, 0, offsetof(CnGroupDef, old)},
};

static const CniField cni_pair_fields[] = {
    {"a", CNI_FIELD_INTEGER, 1, 1, offsetof(CnPairDef, group_a)},
    {"b", CNI_FIELD_INTEGER, 1, 1, offsetof(CnPairDef, group_b)},
    {"normal", CNI_FIELD_REALS, 3, 1, offsetof(CnPairDef, normal)},
    {"tangent", CNI_FIELD_REALS, 3, 1, offsetof(CnPairDef, tangent)},
    {"arm_a", CNI_FIELD_REALS, 3, 0, offsetof(CnPairDef, arm_a)},
    {"arm_b", CNI_FIELD_REALS, 3, 0, offsetof(CnPairDef, arm_b)},
    {"length", CNI_FIELD_REALS, 1, 0, offsetof(CnPairDef, length)},
};

static const CniField cni_sphere_fields[] = {
    {"a", CNI_FIELD_INTEGER, 1, 1, offsetof(CnSphereDef, group_a)},
    {"b", CNI_FIELD_INTEGER, 1, 1, offsetof(CnSphereDef, group_b)},
    {"normal", CNI_FIELD_REALS, 3, 1, offsetof(CnSphereDef, normal)},
    {"radius_a", CNI_FIELD_REALS, 1, 1, offsetof(CnSphereDef, radius_a)},
    {"radius_b", CNI_FIELD_REALS, 1, 1, offsetof(CnSphereDef, radius_b)},
    {"length", CNI_FIELD_REALS, 1, 0, offsetof(CnSphereDef, length)},
};

static const CniField cni_row_fields[] = {
    {"row", CNI_FIELD_INTEGER, 1, 1, offsetof(CnRowEntry, row)},
    {"group", CNI_FIELD_INTEGER, 1, 1, offsetof(CnRowEntry, group)},
    {"velocity", CNI_FIELD_REALS, 3, 0, offsetof(CnRowEntry, coefficient.velocity)},
    {"spin", CNI_FIELD_REALS, 3, 0, offsetof(CnRowEntry, coefficient.spin)},
};

#endif
