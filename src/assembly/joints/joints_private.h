// SPDX-License-Identifier: Apache-2.0
// Joints in the problem; a part of assembly_private.h.
#ifndef CNI_ASSEMBLY_JOINTS_PRIVATE_H
#define CNI_ASSEMBLY_JOINTS_PRIVATE_H

// What has to be added to the inertia of a body; returns 0 if that is nothing.
int cni_joint_stiffness(const CniAssemblyInput *in, int32_t body, CnSym3 inertia, CnSym3 *added);

// The inverse of the mass that is felt at least at a point of a body; 0: it does not give way.
double cni_body_gives(const CniModel *model, int32_t body, CnVec3 arm);
// h^2 K - J of a body less what heavy neighbours lend; 0: then nothing of it is above zero.
int cni_joint_eased(const CniModel *model, int32_t body, CnQuat rotation, CnSym3 *stiffness);
// Are all pivots of -m above zero?
int cni_sym_is_negative(CnSym3 m);

// What the joints need.
void cni_joints_room(const CniAssemblyInput *input, CniProblemRoom *room);
// Blocks of all joints, which follow; g: their impulses of the last step,
// scaled to this step. Room must be there.
CnStatus cni_assemble_joints(const CniAssemblyInput *input, CnProblem *problem, CniSetTable *sets,
                             int32_t *first_of, double *g);

// Where all joints are, to the input's places; and one of them: from there, or looked at here.
void cni_see_joints(const CniAssemblyInput *input);
const CniJointPlace *cni_joint_seen(const CniModel *model, const CniJointPlace *places,
                                    const CniJoint *joint, const CnPose *pose, CniJointPlace *own);

// Rows of a joint in a problem, without their right-hand sides; returns the number of blocks.
int32_t cni_joint_list(const CnProblem *problem, const CniJoint *joint, const CniJointPlace *place,
                       double h, CniJointBlock *blocks);
// The same with what late springs leave; in: null where only the rows are asked for, not their right-hand
// sides. And the impulses that an answer has for them.
int32_t cni_joint_blocks_of(const CniAssemblyInput *in, const CniJoint *joint, double h,
                            double late, const CnProblem *problem, const CniJointPlace *place,
                            CniJointBlock *blocks);
void cni_joint_answer(const CniJointBlock *blocks, int32_t count, const CnProblem *problem,
                      int32_t first, const double *g, CniJointImpulse *kept);
// What a motor that gives an effort gives in a step; 0: it is another one.
double cni_drive_effort(const CniModel *model, const CnJointAxis *axis, double t, double h);

// plain.c: the impulses of a joint that locks and does nothing else.
void cni_keep_locked(const CnJointDef *def, const CniJointPlace *place, double late,
                     const CnProblem *problem, int32_t a, int32_t b, const double *g,
                     CniJointImpulse *kept);

// ---- springs.c ----

// A servo's or a soft limit's work, and what it lost to the step, to in->soft.
void cni_soft_work(const CniBalanceInput *in, const CniJoint *joint, const CniJointPlace *place,
                   const CniJointBlock *block, double g, double work);
// The part of the balance that a block of a joint works for.
CnBalancePart cni_joint_part(const CniJointBlock *block);
// Velocities of a body at the end of the drift, before late springs.
CnTwist cni_before_late(const CniBalanceInput *in, int32_t i);

#endif
