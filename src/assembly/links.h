// SPDX-License-Identifier: Apache-2.0
// Joints, couplings and forces on the way back from an answer, and to one from the equations of motion. A
// part of assembly.h.
#ifndef CNI_ASSEMBLY_LINKS_H
#define CNI_ASSEMBLY_LINKS_H

#include "model/model.h"
#include "problem/problem.h"

// A joint keeps the impulses of its blocks, the warm start of the next step, and what they amount to.
// Poses of the model and time are those at which the problem was made.
void cni_joint_keep(const CniModel *model, CniJoint *joint, double time, double time_step,
                    double late, const CnProblem *problem, const double *g, int32_t first_block,
                    const CniJointPlace *places);
// The impulse of a part of a joint's row from the equations of motion into g; rows as in
// cni_joint_row.
void cni_joint_put(const CniJoint *joint, const CnPose *pose, const CnProblem *problem,
                   int32_t first_block, int32_t end_block, int32_t row, CniJointPart part,
                   double impulse, double *g);

// The ends of a joint at poses whose quaternions may be off the sphere by the error of a stage; twists
// from v, null: at rest.
void cni_joint_stage_ends(const CniJoint *joint, const CnPose *pose, const double *v,
                          CniJointEnd *a, CniJointEnd *b);
int cni_joint_is_spring(const CniJoint *joint); // its locked directions are soft
int cni_axis_is_soft(const CnJointAxis *axis);  // its limits are
// Does a joint push without rows in the equations of motion, and what (efforts.c).
int cni_joint_has_efforts(const CniJoint *joint);
void cni_joint_efforts(const CniModel *model, const CniJoint *joint, double t, const CnPose *pose,
                       const double *v, CniJointPlace *place, CniJointImpulse *efforts);

// The blocks of couplings come just before those of joints: end_block is the first of these.
void cni_couplings_keep(CniModel *model, double time_step, const CnProblem *problem,
                        const double *g, int32_t end_block);
void cni_coupling_put(const CniModel *model, int32_t coupling, const CnProblem *problem,
                      int32_t end_block, double impulse, double *g);

// Springs of forces over a step of the equations of motion, by the trapezoidal rule, into g.
CnStatus cni_forces_put(const CniModel *model, const CnPose *pose_new, const CnTwist *twist_new,
                        double time, double time_step, const CnProblem *problem, double *g);
// W, in a state: of springs and dampers among the forces by their stretching, of the others on bodies
// with mass, and what supports that move give through springs.
void cni_forces_power(const CniModel *model, double t, const CnPose *pose, const CnTwist *twist,
                      double *springs, double *loads, double *supports);

// What springs do after the drift, as momenta: six numbers a group, added to.
void cni_late_springs(const CniModel *model, const CnProblem *problem, const int32_t *joint_blocks,
                      const double *g, double late, double *momentum);

#endif
