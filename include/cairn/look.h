// SPDX-License-Identifier: Apache-2.0
/// Look at a world as one who draws it or judges it: shapes as triangles and their sizes, how joints are
/// drawn, which shapes overlap, what motors want, what a run would be refused for.
#ifndef CAIRN_LOOK_H
#define CAIRN_LOOK_H

#include <cairn/world.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- drawing ----------------------------------------------------------------------------------

/// What a shape can be drawn as.
typedef enum CnDrawing {
  CN_DRAW_SPHERE = 0, ///< of a radius
  CN_DRAW_BOX,        ///< of half sizes
  CN_DRAW_PLANE,      ///< the half-space z <= 0
  CN_DRAW_TRIANGLES   ///< anything else: cn_shape_triangles
} CnDrawing;

/// How a shape of that definition is drawn, in its own frame; *size takes the radius three times, half
/// sizes, or ones.
CN_API CnDrawing cn_shape_drawing(const CnShapeDef *def, CnVec3 *size);

/// A surface of triangles: corners with their normals, and three numbers of corners a triangle, counter-clockwise
/// seen from outside. Fill in arrays and their capacities; with capacities 0 it is only counted.
typedef struct CnTriangles {
  CnVec3 *places, *normals; ///< place_capacity each; m, unit
  int32_t *corners;         ///< three a triangle
  int32_t place_capacity, triangle_capacity;
  int32_t place_count, triangle_count; ///< filled in: how many there are
} CnTriangles;

/// A shape as triangles, in its own frame. `quarter`: corners of a quarter of a circle, 1 to 64; a half-space is a
/// square of 2 m. CN_INVALID_ARGUMENT where the arrays are too small, unless both capacities are 0.
CN_API CnStatus cn_shape_triangles(const CnWorld *world, CnShapeId shape, int32_t quarter,
                                   CnTriangles *triangles);

/// What a joint can be drawn as.
typedef enum CnJointDrawing {
  CN_DRAW_JOINT_POINT = 0, ///< at its frames
  CN_DRAW_JOINT_AXIS,      ///< z of frame a
  CN_DRAW_JOINT_LINK,      ///< a line from one frame to the other
  CN_DRAW_JOINT_SQUARE     ///< in x, y of frame a
} CnJointDrawing;

/// How joints of a kind are drawn.
CN_API CnJointDrawing cn_joint_drawing(CnJointKind kind);

// ---- sizes and overlaps -----------------------------------------------------------------------

/// How large a shape is, in its own frame.
typedef struct CnShapeSize {
  CnVec3 low, high; ///< m, corners of the box about it; infinite of a half-space
  double inradius;  ///< m, of the largest ball inside
  double outradius; ///< m, of the ball about the origin of its frame that holds it
} CnShapeSize;

/// The size of a shape.
CN_API CnStatus cn_shape_size(const CnWorld *world, CnShapeId shape, CnShapeSize *size);

/// Two shapes that overlap.
typedef struct CnOverlap {
  CnShapeId shape_a, shape_b;
  CnBodyId body_a, body_b;
  double depth; ///< m
} CnOverlap;

/// Pairs of shapes that overlap at the present positions, the deepest first, whether they have been in a step
/// or not. *count is how many there are; the first `capacity` are given. Allocates; takes the time of a
/// collision detection.
CN_API CnStatus cn_world_overlap_pairs(CnWorld *world, CnOverlap *overlaps, int32_t capacity,
                                       int32_t *count);

// ---- motors and doubts ------------------------------------------------------------------------

/// What the motor of a coordinate wants at a time (s): the target and its first two derivatives, from its number or
/// its function of time.
CN_API CnStatus cn_joint_target(const CnWorld *world, CnJointId joint, int32_t coordinate,
                                double time, double target[3]);

/// Would the world's integrator stop if shapes met that are apart now? CN_UNSUPPORTED with a sentence that names
/// two; CN_OK where all can be followed. Looks at all pairs.
CN_API CnStatus cn_world_check_meetings(const CnWorld *world);

/// Findings (verdict.h) of steps made so far of which not one is allowed; 0: a verdict would be a good one as far as
/// they go. Takes next to no time, so that a run can warn early.
CN_API int64_t cn_world_doubts(const CnWorld *world);

#ifdef __cplusplus
}
#endif
#endif
