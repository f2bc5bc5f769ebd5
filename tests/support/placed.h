// SPDX-License-Identifier: Apache-2.0
// Placed shapes and random poses for tests of geometry and collision.
#ifndef TESTS_PLACED_H
#define TESTS_PLACED_H

#include "core/rng.h"
#include "geometry/geometry.h"

CniPlaced placed_sphere(CnVec3 centre, double radius);
CniPlaced placed_box(CnVec3 centre, CnQuat rotation, CnVec3 half_size);
// The half-space below a plane through `origin`.
CniPlaced placed_plane(CnVec3 origin, CnQuat rotation);

// A shape of any kind with all sizes 1. What has a geometry has that of a box with half sizes 1, 1, 1
// and its corners cut off, made once.
CniPlaced placed_unit(CnShapeKind kind, CnPose pose);
// The hull of points, for whoever needs one as long as the program runs.
const CniHull *placed_hull(const CnVec3 *points, int32_t count);

// The next kind that is no mesh; half-spaces count.
int next_convex(int kind);

// A turn by `angle` (rad) about an axis of any length.
CnQuat turn(CnVec3 axis, double angle);

// Every direction and every rotation is equally likely; points are uniform in a cube.
CnVec3 random_direction(CniRng *rng);
CnQuat random_rotation(CniRng *rng);
CnVec3 random_in_cube(CniRng *rng, double half_side);

// The shape carried along by a rigid motion.
CniPlaced placed_moved(CniPlaced shape, CnPose motion);
// Half sizes of a box.
CnVec3 placed_half(const CniPlaced *box);
// Corner i of a box in the world: bits 0, 1, 2 of i are the signs of x, y, z.
CnVec3 placed_corner(const CniPlaced *box, int i);

#endif
