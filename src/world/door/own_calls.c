// SPDX-License-Identifier: Apache-2.0
// Functions of the program inside the library (its kinds of joints and forces): a world that has called one
// waits for it and cannot be changed meanwhile, also where no step is under way; and rows that are no longer
// numbers end a step with the name of the joint, before a scheme can leave them out.
#include <math.h>
#include <stdint.h>

#include "core/own/own.h"
#include "world/world.h"

static int is_force_of(const CniModel *model, const void *def) {
  uintptr_t first = (uintptr_t)model->forces, at = (uintptr_t)def;
  return at >= first && at - first < (uintptr_t)model->force_count * sizeof *model->forces;
}

CnStatus cni_world_uncalled(const CnWorld *world, const char *call) {
  for (const CniOwnCall *c = *cn_own_calls(); c; c = c->outer)
    if (!c->def || is_force_of(&world->now.model, c->def))
      return cni_error(CN_BUSY, "%s: the world waits for a function of a kind of your own", call);
  return CN_OK;
}

static int finite_row(const CniJointRow *row) {
  return isfinite(row->value) && cn_vec3_finite(row->linear) && cn_vec3_finite(row->angular);
}

CnStatus cni_world_rows_finite(const CnWorld *world, const CnPose *pose) {
  const CniModel *model = &world->now.model;
  CniJointPlace place;
  if (cn_own_count(CNI_OWN_JOINT) == 0) return CN_OK;
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    if (joint->def.kind < CN_JOINT_KIND_COUNT) continue;
    cni_joint_at(joint, pose, &place);
    for (int32_t k = 0; k < place.locked_count + place.axis_count; k++) {
      int32_t r = k < place.locked_count ? k : CNI_JOINT_LOCKED + k - place.locked_count;
      const CniJointRow *row = cni_joint_row(&place, r);
      if (finite_row(row)) continue;
      return cni_error(CN_NOT_FINITE,
                       "step %lld: row %d of joint '%s' (slot %u, %s) is not finite (value %g, "
                       "linear %g, %g, %g, angular %g, %g, %g)",
                       (long long)world->now.step + 1, (int)k, joint->name, (unsigned)joint->slot,
                       cni_joint_kind(joint->def.kind)->name, row->value, row->linear.x,
                       row->linear.y, row->linear.z, row->angular.x, row->angular.y,
                       row->angular.z);
    }
  }
  return CN_OK;
}
