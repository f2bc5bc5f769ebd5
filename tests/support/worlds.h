// SPDX-License-Identifier: Apache-2.0
// Small worlds for whole simulations, through the public interface only. Every helper fails the
// running test on an error.
#ifndef TESTS_WORLDS_H
#define TESTS_WORLDS_H

#include <cairn/cairn.h>

// A world definition for tests against exact answers: psor with a tight tolerance and iterations
// enough to reach it; everything else as the defaults are.
CnWorldDef world_def_exact(double time_step);

CnWorld *world_make(const CnWorldDef *def);

CnMaterialId world_material(CnWorld *world, double friction, double restitution);

// The half-space z <= 0, fixed.
CnBodyId world_floor(CnWorld *world, CnMaterialId material);

// A ball with the inertia of a solid sphere.
CnBodyId world_ball(CnWorld *world, double radius, double mass, CnVec3 position, CnVec3 velocity,
                    CnMaterialId material);
// A ball of given moment of inertia: a hoop or a cylinder that rolls in a plane is one.
CnBodyId world_wheel(CnWorld *world, double radius, double mass, double inertia, CnVec3 position,
                     CnMaterialId material);

// A homogeneous box.
CnBodyId world_box(CnWorld *world, CnVec3 half_size, double mass, CnPose pose, CnVec3 velocity,
                   CnMaterialId material);
// A box that does not move.
CnBodyId world_fixed_box(CnWorld *world, CnVec3 half_size, CnPose pose, CnMaterialId material);

// A body without shape, isotropic or with principal inertias.
CnBodyId world_mass(CnWorld *world, double mass, CnVec3 inertia, CnPose pose, CnTwist twist);

// The same with three equal inertias j, at rest, turned by an angle about y.
CnBodyId world_part(CnWorld *world, double mass, double j, CnVec3 centre, double angle);
// A joint at a point with its axis along one of the world; what acts on its first coordinate may be null.
CnJointId world_join(CnWorld *world, CnJointKind kind, CnBodyId a, CnBodyId b, CnVec3 at,
                     CnVec3 axis, const CnJointAxis *act);
CnJointState world_joint(const CnWorld *world, CnJointId joint);

CnPose world_at(double x, double y, double z);
// Rotation by an angle about a unit axis.
CnQuat world_turn(CnVec3 axis, double angle);

// Speeds of some m/s cannot be had closer than this: the relative residual of a step in which next
// to nothing happens stays above any tolerance.
#define WORLD_SPEED_ROUNDING 1e-12 // m/s

// One step, reported; the solver must have met its tolerance, or be as good as rounding allows.
CnStepReport world_step_converged(CnWorld *world);
// One step, whatever the solver reached.
CnStepReport world_step(CnWorld *world);

CnPose world_pose(const CnWorld *world, CnBodyId body);
CnTwist world_twist(const CnWorld *world, CnBodyId body);
CnWorldInfo world_info(const CnWorld *world);
// Kinetic and potential energy.
double world_energy(const CnWorld *world);
// Sum of the forces of all contacts between two bodies, on the one named second.
CnVec3 world_force(const CnWorld *world, CnBodyId from, CnBodyId on);

#endif
