// SPDX-License-Identifier: Apache-2.0
// The table of force kinds and what all kinds have in common: definitions, rows, sums.
#include "force/force.h"

#include <math.h>

#include "core/error.h"

#define CN_FORCE(KIND, name) extern const CniForceKind cni_force_##name;
#include <cairn/force_list.h>
#undef CN_FORCE
#define CN_FORCE(KIND, name) [CN_FORCE_##KIND] = &cni_force_##name,
const CniForceKind *const cni_force_kinds[CN_FORCE_KIND_COUNT] = {
#include <cairn/force_list.h>
};
#undef CN_FORCE

const char *cn_force_kind_name(CnForceKind kind) {
  return (int64_t)kind < cni_force_kind_count() ? cni_force_kind(kind)->name : NULL;
}

// ---- definitions ----

static const char *kind_name(int32_t index) { return cn_force_kind_name((CnForceKind)index); }

const CniField cni_force_fields[] = {
    CNI_FIELD(CHOICE, CnForceDef, kind, ANY, "", "what it is", .table = kind_name),
    CNI_FORCE_FIELD(POSE, frame_a, ANY, "m", "in the frame of body a, or in the world"),
    CNI_FORCE_FIELD(POSE, frame_b, ANY, "m", "in the frame of body b, or in the world"),
    CNI_FIELDS_END};

CnForceDef cn_force_def_default(CnForceKind kind) {
  return (CnForceDef){.size = sizeof(CnForceDef),
                      .tag = CNI_TAG_FORCE,
                      .kind = kind,
                      .frame_a = CN_POSE_ONE,
                      .frame_b = CN_POSE_ONE};
}

// What other kinds read and this one does not has to be as cn_force_def_default left it.
static CnStatus check_unread(const CnForceDef *def) {
  const CniForceKind *kind = cni_force_kind(def->kind);
  CnForceDef standard = cn_force_def_default(def->kind);
  for (int32_t k = 0; k < CN_FORCE_KIND_COUNT; k++)
    for (const CniField *f = cni_force_kind(k)->fields; f->name; f++) {
      const CniField one[2] = {*f, CNI_FIELDS_END};
      if (!cni_field_find(kind->fields, f->name) && !cni_fields_equal(one, def, &standard))
        return cni_invalid("force: %s has no %s", kind->name, f->name);
    }
  if (def->function && def->kind != CN_FORCE_USER)
    return cni_invalid("force: %s has no function", kind->name);
  return CN_OK;
}

CnStatus cni_force_def_check(CnForceDef *def) {
  CNI_TRY(cni_fields_check(cni_force_fields, "force", def));
  CNI_TRY(cni_fields_check(cni_force_kind(def->kind)->fields, "force", def));
  return check_unread(def);
}

// ---- rows ----

void cni_force_row(CniForcePlace *place, CniJointRow row, double stiffness, double damping) {
  if (!(stiffness > 0 || damping > 0)) return;
  int32_t i = place->rows.axis_count++;
  place->rows.axes[i] = row;
  place->law.axes[i] = (CnJointAxis){
      .lower = -INFINITY, .upper = INFINITY, .stiffness = stiffness, .damping = damping};
}

// ---- any kind ----

CniForceSight cni_force_sight(const CnForceDef *def, const CniJointEnd ends[2]) {
  CniForceSight sight = {.at = cni_joint_sight(NULL, &ends[0], &ends[1]), .def = def, .ends = ends};
  const CnTwist *a = &ends[0].twist, *b = &ends[1].twist;
  sight.velocity = cn_sub(cn_add(b->velocity, cn_cross(b->spin, sight.at.arm_b)),
                          cn_add(a->velocity, cn_cross(a->spin, sight.at.arm_a)));
  sight.spin = cn_sub(b->spin, a->spin);
  return sight;
}

CnStatus cni_force_place(const CniForceSight *sight, CniForcePlace *place) {
  place->rows.arm_a = sight->at.arm_a;
  place->rows.arm_b = sight->at.arm_b;
  place->rows.locked_count = place->rows.axis_count = 0;
  place->force = place->torque = CN_VEC3_ZERO;
  place->status = CN_OK;
  place->unfit = NULL;
  cni_force_kind(sight->def->kind)->place(sight, place);
  return place->status;
}

CnTwist cni_force_total(const CniForcePlace *place, const CniJointEnd ends[2]) {
  CnTwist sum = {place->force, place->torque};
  for (int32_t i = 0; i < place->rows.axis_count; i++) {
    const CniJointRow *row = &place->rows.axes[i];
    double effort =
        cni_joint_spring(&place->law.axes[i], &place->rows, row, &ends[0].twist, &ends[1].twist);
    sum.velocity = cn_madd(sum.velocity, effort, row->linear);
    sum.spin = cn_madd(sum.spin, effort, row->angular);
  }
  return sum;
}

double cni_force_power(const CniForcePlace *place, const CniJointEnd ends[2], CnTwist total) {
  CniJointRow row = {.linear = total.velocity, .angular = total.spin};
  return cni_joint_rate(&place->rows, &row, &ends[0].twist, &ends[1].twist);
}

double cni_force_energy(const CniForcePlace *place) {
  double sum = 0;
  for (int32_t i = 0; i < place->rows.axis_count; i++) {
    double c = place->rows.axes[i].value;
    sum += 0.5 * place->law.axes[i].stiffness * c * c;
  }
  return sum;
}
