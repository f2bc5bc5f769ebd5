// SPDX-License-Identifier: Apache-2.0
// Couplings between coordinates of joints: gears, racks and pinions, differentials, cam curves given
// as polynomials. The relation is
//
//     c(q) = sum of coefficient x_i + square x_0^2 + cube x_0^3 + fourth x_0^4 + f(x_0) - offset
//
// and its row the sum of the coordinates' rows times dc/dx_i, on all the bodies of the joints.
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "model/model_private.h"

CnCouplingDef cn_coupling_def_default(void) {
  return (CnCouplingDef){.size = sizeof(CnCouplingDef), .tag = CNI_TAG_COUPLING, .take_offset = 1};
}

static int32_t joint_of(const CniModel *model, const CnCouplingTerm *term) {
  return cni_ids_find(&model->joint_ids, term->joint.slot, term->joint.generation);
}

CnStatus cni_coupling_check(const CniModel *model, const CnCouplingDef *def) {
  if (def->term_count < 1 || def->term_count > CN_COUPLING_TERMS)
    return cni_invalid("coupling: it has 1 to %d terms (got %d)", CN_COUPLING_TERMS,
                       (int)def->term_count);
  const double numbers[] = {def->offset, def->square, def->cube, def->fourth};
  for (int32_t i = 0; i < 4; i++)
    if (!isfinite(numbers[i]))
      return cni_invalid("coupling: offset, square, cube and fourth must be finite (got %g)",
                         numbers[i]);
  int32_t function, bent = def->square != 0 || def->cube != 0 || def->fourth != 0;
  if (def->function.slot != 0 || def->function.generation != 0) {
    CNI_TRY(cni_model_find_function(model, def->function, &function));
    bent = 1;
  }
  if (def->one_sided != 0 && def->one_sided != 1)
    return cni_invalid("coupling: one_sided must be 0 or 1 (got %d)", (int)def->one_sided);
  for (int32_t i = 0; i < def->term_count; i++) {
    const CnCouplingTerm *term = &def->terms[i];
    int32_t joint;
    CNI_TRY(cni_model_find_joint(model, term->joint, &joint));
    CnJointKind kind = model->joints[joint].def.kind;
    int32_t count = cni_joint_coordinate_count(kind);
    if (term->coordinate < 0 || term->coordinate >= count)
      return cni_invalid("coupling: a %s joint has %d coordinates (got %d)",
                         cni_joint_kind(kind)->name, (int)count, (int)term->coordinate);
    if (!isfinite(term->coefficient) || (term->coefficient == 0 && !(i == 0 && bent)))
      return cni_invalid("coupling: a coefficient must be finite and not zero (got %g)",
                         term->coefficient);
  }
  return CN_OK;
}

// The row of body i, made where it is not yet; bodies ascend.
static CnTwist *row_of(CniCouplingPlace *place, int32_t body) {
  int32_t at = place->body_count;
  while (at > 0 && place->bodies[at - 1] >= body) at--;
  if (at < place->body_count && place->bodies[at] == body) return &place->rows[at];
  for (int32_t k = place->body_count++; k > at; k--) {
    place->bodies[k] = place->bodies[k - 1];
    place->rows[k] = place->rows[k - 1];
  }
  place->bodies[at] = body;
  place->rows[at] = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
  return &place->rows[at];
}

static void add(CniCouplingPlace *place, int32_t body, double s, CnVec3 arm,
                const CniJointRow *row) {
  if (body < 0) return;
  CnTwist *to = row_of(place, body);
  to->velocity = cn_madd(to->velocity, s, row->linear);
  to->spin = cn_madd(to->spin, s, cn_add(cn_cross(arm, row->linear), row->angular));
}

// A stage's quaternions may be off the sphere.
static void ends_of(const CniJoint *joint, const CnPose *pose, const CnTwist *twist, CniJointEnd *a,
                    CniJointEnd *b) {
  cni_joint_ends(joint, pose, twist, a, b);
  a->pose.rotation = cn_qunit(a->pose.rotation);
  b->pose.rotation = cn_qunit(b->pose.rotation);
}

// dc/dx of a term; what powers and function add to the value, and to the second derivative.
static double slope_of(const CniModel *model, const CnCouplingDef *def, int32_t i, double x,
                       double *more, double *bend) {
  double f[3] = {0, 0, 0};
  *more = *bend = 0;
  if (i > 0) return def->terms[i].coefficient;
  CnFunctionId id = def->function;
  int32_t function = id.slot ? cni_ids_find(&model->function_ids, id.slot, id.generation) : -1;
  if (function >= 0) cni_function_at(model, function, x, f);
  *bend = f[2] + 2 * def->square + x * (6 * def->cube + x * 12 * def->fourth);
  *more = f[0] + x * x * (def->square + x * (def->cube + x * def->fourth));
  double powers = x * (2 * def->square + x * (3 * def->cube + x * 4 * def->fourth));
  return def->terms[0].coefficient + powers + f[1];
}

double cni_coupling_terms(const CniModel *model, const CniCoupling *coupling, const CnPose *pose,
                          CniCouplingTerm *terms) {
  const CnCouplingDef *def = &coupling->def;
  double value = -def->offset;
  for (int32_t i = 0; i < def->term_count; i++) {
    const CnCouplingTerm *term = &def->terms[i];
    int32_t joint = joint_of(model, term);
    CniJointEnd a, b;
    CniJointPlace at;
    double more, bend;
    ends_of(&model->joints[joint], pose, NULL, &a, &b);
    cni_joint_between(&model->joints[joint], &a, &b, &at);
    terms[i] = (CniCouplingTerm){joint, at.arm_a, at.arm_b, at.axes[term->coordinate], 0};
    terms[i].slope = slope_of(model, def, i, terms[i].row.value, &more, &bend);
    value += term->coefficient * terms[i].row.value + more;
  }
  return value;
}

void cni_coupling_at(const CniModel *model, const CniCoupling *coupling, const CnPose *pose,
                     CniCouplingPlace *place) {
  CniCouplingTerm terms[CN_COUPLING_TERMS];
  place->body_count = 0;
  place->value = cni_coupling_terms(model, coupling, pose, terms);
  place->turns = terms[0].row.turns;
  for (int32_t i = 0; i < coupling->def.term_count; i++) {
    const CniJoint *joint = &model->joints[terms[i].joint];
    add(place, joint->body_b, terms[i].slope, terms[i].arm_b, &terms[i].row);
    add(place, joint->body_a, -terms[i].slope, terms[i].arm_a, &terms[i].row);
  }
}

double cni_coupling_curvature(const CniModel *model, const CniCoupling *coupling,
                              const CnPose *pose, const CnTwist *twist) {
  const CnCouplingDef *def = &coupling->def;
  double sum = 0;
  for (int32_t i = 0; i < def->term_count; i++) {
    const CnCouplingTerm *term = &def->terms[i];
    const CniJoint *joint = &model->joints[joint_of(model, term)];
    CniJointEnd a, b;
    CniJointPlace at;
    double more, bend;
    ends_of(joint, pose, twist, &a, &b);
    cni_joint_between(joint, &a, &b, &at);
    const CniJointRow *row = &at.axes[term->coordinate];
    double x = row->value, rate = cni_joint_rate(&at, row, &a.twist, &b.twist);
    sum += slope_of(model, def, i, x, &more, &bend) *
           cni_joint_curvature(&joint->def, &a, &b, CNI_JOINT_LOCKED + term->coordinate);
    sum += bend * rate * rate;
  }
  return sum;
}

CnStatus cni_model_add_coupling(CniModel *model, const CnCouplingDef *given, CnCouplingId *id) {
  *id = (CnCouplingId){0, 0};
  CNI_TRY(cni_def_check("coupling", given, sizeof *given, CNI_TAG_COUPLING));
  CNI_TRY(cni_coupling_check(model, given));
  CniCoupling c = {.def = *given};
  c.def.name = NULL;
  cni_name_copy(c.name, given->name);
  for (int32_t i = c.def.term_count; i < CN_COUPLING_TERMS; i++)
    c.def.terms[i] = (CnCouplingTerm){.coordinate = 0};
  if (c.def.take_offset) {
    CniCouplingPlace place;
    c.def.offset = 0;
    cni_coupling_at(model, &c, model->pose, &place);
    c.def.offset = place.value;
    c.def.take_offset = 0;
  }
  int32_t i = model->coupling_count;
  if (i == INT32_MAX)
    return cni_error(CN_NO_MEMORY, "a world holds at most %d couplings", INT32_MAX);
  CNI_TRY(CNI_RESERVE(&model->allocator, model->couplings, model->coupling_capacity, i, i + 1));
  CNI_TRY(cni_ids_reserve(&model->coupling_ids, &model->allocator));
  cni_ids_take(&model->coupling_ids, i, &c.slot, &c.generation);
  model->couplings[model->coupling_count++] = c;
  *id = (CnCouplingId){c.slot, c.generation};
  return CN_OK;
}

// The last one moves into the hole.
static void drop(CniModel *model, int32_t i) {
  cni_ids_free(&model->coupling_ids, model->couplings[i].slot);
  int32_t last = --model->coupling_count;
  if (i == last) return;
  model->couplings[i] = model->couplings[last];
  cni_ids_move(&model->coupling_ids, model->couplings[i].slot, i);
}

CnStatus cni_model_remove_coupling(CniModel *model, CnCouplingId id) {
  int32_t i;
  CNI_TRY(cni_model_find_coupling(model, id, &i));
  drop(model, i);
  return CN_OK;
}

void cni_couplings_drop(CniModel *model, CnJointId joint) {
  for (int32_t i = model->coupling_count; i-- > 0;) {
    const CnCouplingDef *def = &model->couplings[i].def;
    int32_t k = 0;
    while (k < def->term_count && def->terms[k].joint.slot != joint.slot) k++;
    if (k < def->term_count) drop(model, i);
  }
}
