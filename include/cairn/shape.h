// SPDX-License-Identifier: Apache-2.0
/// Shapes: what bodies are made of where they touch and weigh.
#ifndef CAIRN_SHAPE_H
#define CAIRN_SHAPE_H

#include <cairn/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CnMaterialId {
  uint32_t slot, generation;
} CnMaterialId;

/// What of a shape is more than a few numbers, shared by shapes: cn_geometry_create_points, cn_geometry_create_mesh.
typedef struct CnGeometryId {
  uint32_t slot, generation;
} CnGeometryId;

/// CN_SHAPE_SPHERE, CN_SHAPE_BOX, CN_SHAPE_PLANE (the half-space z <= 0 of the shape's frame; not
/// on dynamic bodies), ...: one for each row of <cairn/shape_list.h>.
typedef enum CnShapeKind {
#define CN_SHAPE(number, name) CN_SHAPE_##number,
#include <cairn/shape_list.h>
#undef CN_SHAPE
  CN_SHAPE_KIND_COUNT
} CnShapeKind;

/// One struct for all shapes: the kind selects which of the sizes are read.
typedef struct CnShapeDef {
  uint32_t size, tag; ///< set by cn_shape_def_default
  CnShapeKind kind;
  CnPose pose;        ///< of the shape's frame in the body frame
  double radius;      ///< m, > 0: sphere, and what is round about a segment or an axis
  CnVec3 half_size;   ///< m, > 0: box, ellipsoid
  double half_length; ///< m, > 0: what is long, along z of the shape's frame
  double top_radius;  ///< m, >= 0: cone, at its upper end
  double rounding;    ///< m, >= 0: of a ball carried over box, cylinder or hull, which grow by it
  CnGeometryId geometry; ///< of a hull or a mesh; none otherwise
  double density;        ///< kg/m^3, >= 0, default 1000
  CnMaterialId material; ///< none: friction 0.5, restitution 0
  uint32_t category;     ///< bits; two shapes meet if each one's category is in the other's mask
  uint32_t mask;         ///< default: category 1, mask all
  int32_t
      trigger; ///< 1: it exchanges no impulse and weighs nothing; what enters and leaves it is told
               ///< by cn_world_events. Default 0
} CnShapeDef;

/// A definition of the kind without sizes, with the density of water.
CN_API CnShapeDef cn_shape_def_default(CnShapeKind kind);

/// Name of a kind, as in scenes and run files: "sphere"; null past the end.
CN_API const char *cn_shape_kind_name(CnShapeKind kind);

#ifdef __cplusplus
}
#endif
#endif
