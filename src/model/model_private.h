// SPDX-License-Identifier: Apache-2.0
// What the files of the model share among themselves.
#ifndef CNI_MODEL_PRIVATE_H
#define CNI_MODEL_PRIVATE_H

#include "core/error.h"
#include "core/memory.h"
#include "model/model.h"

// Mass properties of a body as they follow from its definition and shapes.
typedef struct CniBodyFrame {
  CnPose com;
  CniBodyMass mass;
  CnVec3 inertia; // principal
} CniBodyFrame;

// Check the numbers of a body definition's mass (def->com is normalised).
CnStatus cni_body_mass_check(CnBodyDef *def);

// The frame of a body with its present shapes: less `without` (dense index, -1: none) and with
// `extra` (null: none) at the end. Fails only if a mass is not finite.
CnStatus cni_body_frame(const CniModel *model, const CniBody *body, int32_t without,
                        const CniShape *extra, CniBodyFrame *frame);

// Memory for a frame: the details of the body, its inertias, the poses of its shapes. A failure
// leaves no trace that can be seen.
CnStatus cni_body_frame_reserve(CniModel *model, int32_t body, const CniBodyFrame *frame);

// Take a frame over: the body frame's pose and velocity stay, everything kept relative to the
// centre of mass is expressed anew. Memory must have been reserved.
void cni_body_reframe(CniModel *model, int32_t body, const CniBodyFrame *frame);

// Take a shape or a joint out of the arrays and lists without a look at mass.
void cni_shape_drop(CniModel *model, int32_t shape);
void cni_joint_drop(CniModel *model, int32_t joint);

// The body at index `from` now lives at `to`: its shapes and joints follow.
void cni_shapes_body_moved(CniModel *model, int32_t from, int32_t to);
void cni_joints_body_moved(CniModel *model, int32_t from, int32_t to);

// Room for what most spheres do not have; for the poses of a shape: the identity where there are none yet.
CnStatus cni_shape_extra_reserve(const CniModel *model, CniShape *shape);
CnStatus cni_shape_poses_reserve(const CniModel *model, CniShape *shape);

// Give back what a body or a shape keeps beside its common fields.
void cni_body_forget(const CniModel *model, CniBody *body);
void cni_shape_forget(const CniModel *model, CniShape *shape);

// Expressed in the frame of the centre of mass `com`.
CnPose cni_shape_local_pose(CnPose com, CnPose def_pose);

int cni_pose_is_one(CnPose pose); // the identity, bit by bit but for the signs of zeros
void cni_joint_local_frames(const CniModel *model, CniJoint *joint);

// What joints and forces have in common: two bodies, one of them dynamic; a frame on a body seen from
// its centre of mass; that end at given poses and twists (null: at rest).
CnStatus cni_find_pair(const CniModel *model, const char *sort, CnBodyId body_a, CnBodyId body_b,
                       int32_t *a, int32_t *b);
CnPose cni_local_frame(const CniModel *model, int32_t body, CnPose frame);
CniJointEnd cni_joint_end(const CnPose *pose, const CnTwist *twist, int32_t body, CnPose local);
// What of a definition cannot be changed.
typedef struct CniBodyPair {
  int32_t kind;
  CnBodyId body_a, body_b;
  CnPose frame_a, frame_b;
} CniBodyPair;
#define CNI_BODY_PAIR_OF(def)                                                                      \
  { (int32_t)(def).kind, (def).body_a, (def).body_b, (def).frame_a, (def).frame_b }
CnStatus cni_check_same_pair(const char *sort, const CniBodyPair *old, const CniBodyPair *given);

void cni_functions_release(CniModel *model);
void cni_curves_release(CniModel *model);
// Where on its curves a joint is, wherever that was before; nothing for one that has none.
void cni_joint_look_along(const CniModel *model, CniJoint *joint);
void cni_joint_first_turns(const CniModel *model, CniJoint *joint); // of a new joint
// Couplings go with their joints.
void cni_couplings_drop(CniModel *model, CnJointId joint);
// Motions go with their body.
void cni_motions_drop(CniModel *model, CnBodyId body);
// Pairs of a body that goes.
void cni_disabled_drop(CniModel *model, CnBodyId body);
// Laws of pairs with a material that goes.
void cni_laws_drop(CniModel *model, CnMaterialId material);
// Forces that hang on a body go with it.
void cni_forces_drop(CniModel *model, CnBodyId body);

// Checks of definitions apart from handles; poses are normalised in place.
CnStatus cni_shape_def_check(CnShapeDef *def);
CnStatus cni_material_def_check(const CnMaterialDef *def);

// The geometry that a definition names; null for kinds that have none.
CnStatus cni_model_geometry_of(const CniModel *model, const CnShapeDef *def,
                               CniGeometry **geometry);
void cni_geometries_release(CniModel *model);

// Make sure that there is an array of inertias.
CnStatus cni_model_inertias(CniModel *model);

// Arrays of bodies with room for that many in all.
CnStatus cni_bodies_reserve(CniModel *model, int32_t count);

// Consistency: what is wrong with the thing of an index; the same where a check of numbers failed, whose
// sentence is kept.
CnStatus cni_damaged(const char *kind, int32_t index, const char *what);
CnStatus cni_damaged_numbers(const char *kind, int32_t index);
// Its id leads to it and its name ends. Every slot is in use, in the free list, or given up (generation 0: it
// has gone round); those in use are as many as the things.
CnStatus cni_check_named(const CniIds *ids, const char *kind, int32_t index, uint32_t slot,
                         uint32_t generation, const char name[CNI_NAME_SIZE]);
CnStatus cni_check_slots(const CniIds *ids, const char *kind, int32_t count);
int cni_same_rotation(CnPose a, CnPose b);
CnStatus
cni_shared_consistent(const CniModel *model);         // geometries and curves: before who uses them
CnStatus cni_links_consistent(const CniModel *model); // what acts between bodies: after these

// A joint anew (joints.c): what a motor follows is there; what the kind takes from the present poses of the body frames.
CnStatus cni_joint_check_functions(const CniModel *model, const CnJointDef *def);
CnStatus cni_joint_fit(const CniModel *model, CniJoint *joint);

#endif
