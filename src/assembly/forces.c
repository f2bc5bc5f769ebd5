// SPDX-License-Identifier: Apache-2.0
// Forces to the problem: what is given acts on the free velocities of the groups, springs and dampers are
// compliant rows, written as those of joints are.
#include "assembly/assembly_private.h"

#include "core/error.h"

void cni_forces_room(const CniAssemblyInput *input, CniProblemRoom *room) {
  const CniModel *model = input->model;
  room->olds |= model->force_count > 0 ||
                input->loads; // loads make free velocities that gravity alone does not
  for (int32_t i = 0; i < model->force_count; i++) {
    int32_t rows = cni_force_kind(model->forces[i].def.kind)->row_count;
    room->blocks += rows;
    room->rows += rows;
    room->row_blocks += rows;
    room->row_entries += 2 * rows;
  }
}

static CnStatus write_force(const CniAssemblyInput *in, const CniForce *force, CnProblem *problem,
                            CniSetTable *sets, double *g) {
  CniForcePlace place;
  CniJointBlock blocks[CNI_JOINT_BLOCKS];
  CniForceAt at;
  CniJointImpulse warm;
  double h = in->time_step;
  cni_force_at(in->model, force, in->time, in->pose, in->twist, &at);
  at.sight.time_step = h;
  CNI_TRY(cni_force_act(force, &at, &place));
  int32_t a = cni_group_of(problem, at.bodies[0]), b = cni_group_of(problem, at.bodies[1]);
  if (!cni_group_has_mass(&problem->groups[a]) && !cni_group_has_mass(&problem->groups[b]))
    return CN_OK;
  cni_group_push(problem, b, h, place.force, place.rows.arm_b, place.torque);
  cni_group_push(problem, a, h, cn_neg(place.force), place.rows.arm_a, cn_neg(place.torque));
  // the springs as they are now: the answer where nothing moves. Dampers may be stiff: from zero.
  for (int32_t i = 0; i < place.rows.axis_count; i++)
    warm.axes[i][CNI_PART_SPRING] = -place.law.axes[i].stiffness * place.rows.axes[i].value;
  CniJointStep step = {.time_step = h,
                       .length = cni_rows_turn(&place.rows) ? cni_gyration(problem, a, b) : 1,
                       .late = in->late};
  int32_t count = cni_joint_blocks(&place.law, &place.rows, &step, blocks);
  return cni_write_blocks(&place.rows, blocks, count, a, b, 0, &warm, h, problem, sets, g);
}

CnStatus cni_assemble_forces(const CniAssemblyInput *input, CnProblem *problem, CniSetTable *sets,
                             double *g) {
  for (int32_t i = 0; i < input->model->force_count; i++)
    CNI_TRY(write_force(input, &input->model->forces[i], problem, sets, g));
  for (int32_t i = 0; input->loads && i < input->model->body_count; i++)
    cni_group_push(problem, i, input->time_step, input->loads[i].velocity, CN_VEC3_ZERO,
                   input->loads[i].spin);
  return CN_OK;
}

// Efforts along the rows of a force, those of springs and dampers alone.
static CnStatus spring_efforts(const CniModel *model, const CniForce *force, double t,
                               const CnPose *pose, const CnTwist *twist, CniForcePlace *place,
                               CniForceAt *at, double *efforts) {
  cni_force_at(model, force, t, pose, twist, at);
  CNI_TRY(cni_force_act(force, at, place));
  for (int32_t k = 0; k < place->rows.axis_count; k++)
    efforts[k] = cni_joint_spring(&place->law.axes[k], &place->rows, &place->rows.axes[k],
                                  &at->ends[0].twist, &at->ends[1].twist);
  return CN_OK;
}

CnStatus cni_forces_put(const CniModel *model, const CnPose *pose_new, const CnTwist *twist_new,
                        double time, double h, const CnProblem *problem, double *g) {
  for (int32_t i = 0, block = 0; i < model->force_count; i++) {
    const CniForce *force = &model->forces[i];
    double old[CN_JOINT_AXES], now[CN_JOINT_AXES];
    CniForcePlace place, end;
    CniForceAt at;
    CNI_TRY(spring_efforts(model, force, time + h, pose_new, twist_new, &end, &at, now));
    CNI_TRY(spring_efforts(model, force, time, model->pose, model->twist, &place, &at, old));
    int32_t a = cni_group_of(problem, at.bodies[0]), b = cni_group_of(problem, at.bodies[1]);
    if (!cni_group_has_mass(&problem->groups[a]) && !cni_group_has_mass(&problem->groups[b]))
      continue;
    CniJointBlock blocks[CNI_JOINT_BLOCKS];
    CniJointStep step = {.time_step = h,
                         .length = cni_rows_turn(&place.rows) ? cni_gyration(problem, a, b) : 1};
    int32_t count = cni_joint_blocks(&place.law, &place.rows, &step, blocks);
    for (int32_t k = 0; k < count; k++, block++)
      g[problem->blocks[block].row] =
          0.5 * h * (old[blocks[k].axis] + now[blocks[k].axis]) / blocks[k].scale[0];
  }
  return CN_OK;
}

void cni_forces_power(const CniModel *model, double t, const CnPose *pose, const CnTwist *twist,
                      double *springs, double *loads, double *supports) {
  for (int32_t i = 0; i < model->force_count; i++) {
    double efforts[CN_JOINT_AXES];
    CniForcePlace place;
    CniForceAt at;
    if (spring_efforts(model, &model->forces[i], t, pose, twist, &place, &at, efforts) != CN_OK)
      continue; // the step itself stops at such a force
    CnTwist moved[2] = {at.ends[0].twist, at.ends[1].twist};
    for (int32_t k = 0; k < 2; k++)
      if (at.bodies[k] < 0 || !cni_has_mass(&model->mass[at.bodies[k]]))
        at.ends[k].twist = (CnTwist){CN_VEC3_ZERO, CN_VEC3_ZERO};
    for (int32_t k = 0; k < place.rows.axis_count; k++) {
      const CniJointRow *row = &place.rows.axes[k];
      double stretch = efforts[k] * cni_joint_rate(&place.rows, row, &moved[0], &moved[1]);
      double given =
          efforts[k] * cni_joint_rate(&place.rows, row, &at.ends[0].twist, &at.ends[1].twist);
      *springs += stretch;
      *supports += given - stretch;
    }
    CniJointRow row = {.linear = place.force, .angular = place.torque};
    *loads += cni_joint_rate(&place.rows, &row, &at.ends[0].twist, &at.ends[1].twist);
  }
}
