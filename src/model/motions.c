// SPDX-License-Identifier: Apache-2.0
// Kinematic bodies that follow functions of time: shakers, lifts, cam shafts. In a step such a body
// has the velocity and the spin that bring it from where it is to where it is to be at the end: the
// mean ones, so that poses are exact at every step and what it carries feels its acceleration.
#include "core/error.h"
#include "core/math.h"
#include "core/memory.h"
#include "model/model_private.h"

CnMotionDef cn_motion_def_default(void) {
  return (CnMotionDef){.size = sizeof(CnMotionDef), .tag = CNI_TAG_MOTION, .axis = {0, 0, 1}};
}

// Shift and turn by the functions, and their two derivatives.
typedef struct Way {
  CnPose pose;
  CnTwist rate, change;
} Way;

static Way way_at(const CniModel *model, const CnMotionDef *def, double t) {
  const CnFunctionId ids[4] = {def->x, def->y, def->z, def->turn};
  double f[4][3] = {{0}};
  for (int32_t k = 0; k < 4; k++) {
    int32_t i = cni_ids_find(&model->function_ids, ids[k].slot, ids[k].generation);
    if (i >= 0) cni_function_at(model, i, t, f[k]);
  }
  return (Way){{{f[0][0], f[1][0], f[2][0]}, cni_quat_exp(cn_scale(f[3][0], def->axis))},
               {{f[0][1], f[1][1], f[2][1]}, cn_scale(f[3][1], def->axis)},
               {{f[0][2], f[1][2], f[2][2]}, cn_scale(f[3][2], def->axis)}};
}

static int32_t find(const CniModel *model, CnBodyId body) {
  int32_t i = 0;
  while (i < model->motion_count && model->motions[i].body.slot != body.slot) i++;
  return i;
}

void cni_motions_drop(CniModel *model, CnBodyId body) {
  int32_t i = find(model, body);
  if (i < model->motion_count) model->motions[i] = model->motions[--model->motion_count];
}

static CnStatus check(const CniModel *model, int32_t body, CnMotionDef *def) {
  const CnFunctionId *ids[] = {&def->x, &def->y, &def->z, &def->turn};
  int32_t i;
  if (model->bodies[body].kind != CN_BODY_KINEMATIC)
    return cni_invalid("motion: the body is not kinematic");
  for (int32_t k = 0; k < 4; k++)
    if (ids[k]->slot != 0 || ids[k]->generation != 0)
      CNI_TRY(cni_model_find_function(model, *ids[k], &i));
  double length = cn_norm(def->axis);
  if (!(length > 0) || !isfinite(length))
    return cni_invalid("motion: axis must have a direction (got %g, %g, %g)", def->axis.x,
                       def->axis.y, def->axis.z);
  def->axis = cn_scale(1 / length, def->axis);
  return CN_OK;
}

CnStatus cni_model_set_motion(CniModel *model, CnBodyId body, const CnMotionDef *given, double t) {
  int32_t b;
  CNI_TRY(cni_model_find_body(model, body, &b));
  if (!given) {
    cni_motions_drop(model, body);
    return CN_OK;
  }
  CNI_TRY(cni_def_check("motion", given, sizeof *given, CNI_TAG_MOTION));
  CniBodyMotion motion = {.body = body, .def = *given};
  CNI_TRY(check(model, b, &motion.def));
  Way way = way_at(model, &motion.def, t);
  CnPose now = model->pose[b];
  motion.start.position = cn_sub(now.position, way.pose.position);
  motion.start.rotation = cn_qmul(cn_qconj(way.pose.rotation), now.rotation);
  int32_t i = find(model, body);
  if (i == model->motion_count) {
    CNI_TRY(CNI_RESERVE(&model->allocator, model->motions, model->motion_capacity, i, i + 1));
    model->motion_count++;
  }
  model->motions[i] = motion;
  model->twist[b] = way.rate; // it is under way already
  return CN_OK;
}

// The rotation vector of a turn, the short way.
static CnVec3 turn_of(CnQuat q) {
  double sign = q.w < 0 ? -1 : 1;
  CnVec3 v = cn_scale(sign, cn_vec3(q.x, q.y, q.z));
  double s = cn_norm(v);
  return cn_scale(s > 0 ? 2 * cni_atan2(s, sign * q.w) / s : 2, v);
}

int32_t cni_motion_at(const CniModel *model, int32_t i, double t, CnPose *pose, CnTwist *twist,
                      CnTwist *change) {
  const CniBodyMotion *motion = &model->motions[i];
  Way way = way_at(model, &motion->def, t);
  pose->position = cn_add(motion->start.position, way.pose.position);
  pose->rotation = cn_qmul(way.pose.rotation, motion->start.rotation);
  *twist = way.rate;
  *change = way.change;
  return cni_ids_find(&model->body_ids, motion->body.slot, motion->body.generation);
}

double cni_motions_kink(const CniModel *model, double t) {
  double next = INFINITY;
  for (int32_t i = 0; i < model->motion_count; i++) {
    const CnMotionDef *def = &model->motions[i].def;
    const CnFunctionId ids[4] = {def->x, def->y, def->z, def->turn};
    for (int32_t k = 0; k < 4; k++) next = cn_min(next, cni_function_kink(model, ids[k], t));
  }
  return next;
}

void cni_motions_aim(CniModel *model, double t, double h, CnTwist *old) {
  for (int32_t i = 0; i < model->motion_count; i++) {
    CnPose to;
    CnTwist twist, change;
    int32_t b = cni_motion_at(model, i, t + h, &to, &twist, &change);
    CnPose now = model->pose[b];
    old[i] = model->twist[b];
    if (h > 0) {
      twist.velocity = cn_scale(1 / h, cn_sub(to.position, now.position));
      twist.spin = cn_scale(1 / h, turn_of(cn_qmul(to.rotation, cn_qconj(now.rotation))));
    }
    model->twist[b] = twist;
  }
}

void cni_motions_back(CniModel *model, const CnTwist *old) {
  for (int32_t i = 0; i < model->motion_count; i++) {
    CnBodyId body = model->motions[i].body;
    model->twist[cni_ids_find(&model->body_ids, body.slot, body.generation)] = old[i];
  }
}
