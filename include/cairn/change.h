// SPDX-License-Identifier: Apache-2.0
/// Change what things of a world were made with, between steps, and put down data of your own about them. What
/// is not here is changed by cn_joint_set, cn_force_set, cn_material_set, cn_function_set (the numbers of a
/// definition) and cn_world_set_settings (solver, tolerance, threads, friction model, ...). Loads that last are forces of the kind
/// CN_FORCE_CONSTANT, in axes of the world or of the body.
#ifndef CAIRN_CHANGE_H
#define CAIRN_CHANGE_H

#include <cairn/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Another mass (kg, 0: from the shapes), centre of mass and inertia, as CnBodyDef has them; null: at the
/// origin of the body frame, and zero, which only a mass of 0 allows. The body frame stays where it is and
/// goes on with its velocity. On failure nothing has changed.
CN_API CnStatus cn_body_set_mass(CnWorld *world, CnBodyId body, double mass, const CnPose *com,
                                 const CnSym3 *inertia);

/// Another kind: a dynamic body can be held fast, or led, and let go again. A body that becomes fixed loses its
/// velocity, one that is no longer kinematic its motion. Refused where a joint or a force would be left
/// without a dynamic body, and where a shape encloses no volume.
CN_API CnStatus cn_body_set_kind(CnWorld *world, CnBodyId body, CnBodyKind kind);

/// An impulse (N s, world axes) at a point of the world: the velocity changes at once, by the body's own mass and
/// inertia; what its joints and contacts say to that the next step finds. Bodies that are not dynamic do not
/// feel it. May be called in before_step.
CN_API CnStatus cn_body_apply_impulse(CnWorld *world, CnBodyId body, CnVec3 impulse, CnVec3 point);

/// A force and the point it acts at, both in the axes of the body frame, for the next step only, as
/// cn_body_apply_force. May be called in before_step.
CN_API CnStatus cn_body_apply_local_force(CnWorld *world, CnBodyId body, CnVec3 force,
                                          CnVec3 point);

/// Another material; none (zero): the usual one.
CN_API CnStatus cn_shape_set_material(CnWorld *world, CnShapeId shape, CnMaterialId material);

/// The law between two materials, or of one with itself, in place of what their rules make of them: friction,
/// restitution, rolling_friction, spinning_friction and cohesion of `law` count, its other fields do not. None
/// (zero) is the usual material. Null: the rules again. The law goes with either material.
CN_API CnStatus cn_material_pair_set(CnWorld *world, CnMaterialId a, CnMaterialId b,
                                     const CnMaterialDef *law);

/// Another category and mask, as CnShapeDef has them.
CN_API CnStatus cn_shape_set_filter(CnWorld *world, CnShapeId shape, uint32_t category,
                                    uint32_t mask);

/// A name for a shape, copied; null: none. Names are kept in snapshots.
CN_API CnStatus cn_shape_set_name(CnWorld *world, CnShapeId shape, const char *name);

/// The name of a shape, "" without one; valid until a name or user data is set.
CN_API const char *cn_shape_name(const CnWorld *world, CnShapeId shape);

/// The first shape of that name in the order of slots; none (zero) without one.
CN_API CnShapeId cn_world_find_shape(const CnWorld *world, const char *name);

/// Whatever a world has, and the world itself.
typedef enum CnThingSort {
  CN_THING_WORLD = 0, ///< slot and generation are 0
  CN_THING_BODY,
  CN_THING_SHAPE,
  CN_THING_MATERIAL,
  CN_THING_GEOMETRY,
  CN_THING_JOINT,
  CN_THING_COUPLING,
  CN_THING_FORCE,
  CN_THING_FUNCTION,
  CN_THING_CURVE,
  CN_THING_SORT_COUNT
} CnThingSort;

/// Any id: CnThing joint = {CN_THING_JOINT, id.slot, id.generation}.
typedef struct CnThing {
  CnThingSort sort;
  uint32_t slot, generation;
} CnThing;

/// A number of yours about a thing, 0 until it is set. It is kept in snapshots and copies, and goes with the
/// thing; that of a body is the user_data of CnBodyDef and CnBodyInfo.
CN_API CnStatus cn_user_data_set(CnWorld *world, CnThing thing, uint64_t data);

/// The number that was set.
CN_API CnStatus cn_user_data(const CnWorld *world, CnThing thing, uint64_t *data);

#ifdef __cplusplus
}
#endif
#endif
