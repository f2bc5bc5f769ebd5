// SPDX-License-Identifier: Apache-2.0
// Worlds in few words for tests of the world itself: masses from shapes, default settings. Builders
// fail the test if a call fails.
#ifndef TESTS_TOYS_H
#define TESTS_TOYS_H

#include <cairn/world.h>

#include "core/rng.h"
#include "core/vec.h"

// Default settings with the given time step, or the whole definition.
CnWorld *toy_world(double time_step);
CnWorld *toy_world_from(const CnWorldDef *def);

// A fixed body with the plane z = 0.
CnBodyId toy_floor(CnWorld *world);
// A dynamic ball of 1000 kg/m^3; `material` may be none.
CnBodyId toy_ball(CnWorld *world, double radius, CnVec3 centre, CnMaterialId material);
CnBodyId toy_box(CnWorld *world, CnVec3 half_size, CnVec3 centre, CnQuat rotation);

CnMaterialId toy_material(CnWorld *world, double friction, double restitution);

CnPose toy_pose(const CnWorld *world, CnBodyId body);
CnTwist toy_twist(const CnWorld *world, CnBodyId body);
void toy_set_twist(CnWorld *world, CnBodyId body, CnVec3 velocity, CnVec3 spin);

// Each number between -size and size, drawn one after another: compilers order arguments as they like.
CnVec3 toy_any(CniRng *rng, double size);

void toy_steps(CnWorld *world, int count);

// `count` balls of radius 0.05 m in a box of fixed planes 1 m wide, in layers with a little
// disorder, ready to fall into a pile.
CnWorld *toy_pile(const CnWorldDef *def, int count);

// Curves for a kind of joint that has some: an oval on a, a circle on b, on its right. Frames that
// coincide are moved so that they touch.
void toy_curves(CnWorld *world, CnJointDef *def);

#endif
