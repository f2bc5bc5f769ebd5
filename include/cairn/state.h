// SPDX-License-Identifier: Apache-2.0
/// Whole worlds at once: states in and out as arrays, things by name, settings changed between
/// steps, copies. What control loops, learning and other languages need.
///
/// Arrays of bodies are in the order of cn_world_next_body, those of joints in that of
/// cn_world_next_joint, unless said otherwise. Where a call fills an array, *count is how many there
/// are and the first `capacity` are given; null with capacity 0 only counts.
#ifndef CAIRN_STATE_H
#define CAIRN_STATE_H

#include <cairn/world.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- states -----------------------------------------------------------------------------------

/// The ids of all bodies.
CN_API CnStatus cn_world_bodies(const CnWorld *world, CnBodyId *bodies, int32_t capacity,
                                int32_t *count);
/// The ids of all joints.
CN_API CnStatus cn_world_joints(const CnWorld *world, CnJointId *joints, int32_t capacity,
                                int32_t *count);

/// Poses and twists of all body frames, as cn_body_pose and cn_body_twist tell them. Either may be
/// null. CN_INVALID_ARGUMENT if there are more than `capacity` bodies.
CN_API CnStatus cn_world_get_state(const CnWorld *world, CnPose *poses, CnTwist *twists,
                                   int32_t capacity);
/// Set them, all or none: `count` must be the number of bodies. Either may be null: it stays. What a
/// fixed body is given as its twist must be zero. May be called in before_step.
CN_API CnStatus cn_world_set_state(CnWorld *world, const CnPose *poses, const CnTwist *twists,
                                   int32_t count);

/// The same for chosen bodies, in the order of `bodies`.
CN_API CnStatus cn_bodies_get_state(const CnWorld *world, const CnBodyId *bodies, int32_t count,
                                    CnPose *poses, CnTwist *twists);
/// Set them, all or none; either may be null: it stays. May be called in before_step.
CN_API CnStatus cn_bodies_set_state(CnWorld *world, const CnBodyId *bodies, int32_t count,
                                    const CnPose *poses, const CnTwist *twists);

/// Coordinates and rates of all joints, one joint after another, one coordinate after another: m and m/s, or rad and
/// rad/s. Either may be null. *count is how many there are, the first `capacity` are given.
CN_API CnStatus cn_world_joint_coordinates(const CnWorld *world, double *coordinates, double *rates,
                                           int32_t capacity, int32_t *count);

/// Add forces and torques (world axes, about the centres of mass) to all bodies for the next step:
/// `velocity` of a load is the force (N), `spin` the torque (N m). May be called in before_step.
CN_API CnStatus cn_world_add_loads(CnWorld *world, const CnTwist *loads, int32_t count);

/// The state where it lies: poses and twists of the centres of mass (not dynamic: of the body
/// frames), in an order of the world's own, which a step may change: cn_world_view_bodies tells it.
/// The arrays are not to be written, and live until the world is changed: stepped, restored,
/// destroyed, or a body created or destroyed.
typedef struct CnStateView {
  const CnPose *poses;
  const CnTwist *twists;
  int32_t count;
} CnStateView;
/// Look at the state where it lies; takes no time that grows with the world.
CN_API CnStatus cn_world_state_view(const CnWorld *world, CnStateView *view);
/// The ids of the bodies in the order of that view.
CN_API CnStatus cn_world_view_bodies(const CnWorld *world, CnBodyId *bodies, int32_t capacity,
                                     int32_t *count);

/// What cn_joint_state tells, of all joints.
CN_API CnStatus cn_world_joint_states(const CnWorld *world, CnJointState *states, int32_t capacity,
                                      int32_t *count);
/// What cn_world_contact tells, of all contacts of the last step.
CN_API CnStatus cn_world_contacts(const CnWorld *world, CnContact *contacts, int32_t capacity,
                                  int32_t *count);

/// Bodies by one definition at many poses; `bodies` takes their ids and may be null. Each gets a
/// shape of the given definition (null: none). On failure none of them stays.
CN_API CnStatus cn_bodies_create(CnWorld *world, const CnBodyDef *def, const CnShapeDef *shape,
                                 const CnPose *poses, int32_t count, CnBodyId *bodies);

// ---- names ------------------------------------------------------------------------------------

/// The first with that name in the order of slots; none (zero) without one.
CN_API CnBodyId cn_world_find_body(const CnWorld *world, const char *name);
/// The first joint of that name in the order of slots; none (zero) without one.
CN_API CnJointId cn_world_find_joint(const CnWorld *world, const char *name);
/// The first material of that name in the order of slots; none (zero) without one.
CN_API CnMaterialId cn_world_find_material(const CnWorld *world, const char *name);

/// Walk over shapes and materials by ascending slot, as cn_world_next_body does over bodies.
CN_API CnShapeId cn_world_next_shape(const CnWorld *world, CnShapeId previous);
/// Walk over materials by ascending slot, as cn_world_next_body does over bodies.
CN_API CnMaterialId cn_world_next_material(const CnWorld *world, CnMaterialId previous);
/// The definition a material has now; its name lives as long as the material.
CN_API CnStatus cn_material_def(const CnWorld *world, CnMaterialId material, CnMaterialDef *def);

// ---- settings and copies ----------------------------------------------------------------------

/// Change settings between steps: start from cn_world_settings, change what you need. Everything may
/// change but the allocator, which stays: solver, tolerance, integrator, friction model, threads,
/// hooks. The problem of the last step is gone. On failure nothing has changed.
CN_API CnStatus cn_world_set_settings(CnWorld *world, const CnWorldDef *def);

/// A world of its own that goes on with the same bits: same contents, settings, hooks, log and
/// allocator, ids valid in both. Threads are its own, as many as the other has.
CN_API CnStatus cn_world_copy(const CnWorld *world, CnWorld **copy);

#ifdef __cplusplus
}
#endif
#endif
