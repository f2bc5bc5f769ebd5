// SPDX-License-Identifier: Apache-2.0
/// Questions to a world about where things are: rays, shapes that move or overlap, nearest places.
/// They read the poses as they are, change nothing, and may be asked from several threads at once
/// between steps. Answers are the same bits whatever happened before; of what is equal the shape
/// with the smaller slot comes first. A question looks at every shape, most of them only at the
/// ball about it.
#ifndef CAIRN_QUERY_H
#define CAIRN_QUERY_H

#include <cairn/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Which shapes count. Null where a filter is asked for: all.
typedef struct CnQueryFilter {
  uint32_t category; ///< of the one who asks: must be in the shape's mask
  uint32_t mask;     ///< must hold the shape's category
  CnBodyId except;   ///< a body that does not count; zero: none
  /// Null, or called last: 0 leaves the shape out.
  int32_t (*accept)(void *context, CnShapeId shape);
  void *context;
} CnQueryFilter;
/// Category 1, mask all, no exception.
CN_API CnQueryFilter cn_query_filter_default(void);

typedef struct CnHit {
  CnShapeId shape; ///< slot 0: nothing was hit
  CnBodyId body;
  double at;            ///< share of the way, 0 .. 1
  CnVec3 point, normal; ///< m; unit, out of the shape that was hit
} CnHit;

/// The first shape on the way from `origin` along `way`, whose length counts. From inside a shape it
/// is hit at once, and the normal is against the way.
CN_API CnStatus cn_world_ray(const CnWorld *world, CnVec3 origin, CnVec3 way,
                             const CnQueryFilter *filter, CnHit *hit);
/// All of them in order of the way. *count is how many there are; the first `capacity` are given.
CN_API CnStatus cn_world_ray_all(const CnWorld *world, CnVec3 origin, CnVec3 way,
                                 const CnQueryFilter *filter, CnHit *hits, int32_t capacity,
                                 int32_t *count);

/// The first shape that a given one meets which is moved along `way` without turning. Its pose is in
/// the world; a half-space cannot be moved. Where they overlap at once `at` is 0.
CN_API CnStatus cn_world_cast(const CnWorld *world, const CnShapeDef *shape, CnVec3 way,
                              const CnQueryFilter *filter, CnHit *hit);

/// Shapes that a given one, its pose in the world, overlaps or touches, in the order of their slots.
/// *count is how many there are; the first `capacity` are given.
CN_API CnStatus cn_world_overlap(const CnWorld *world, const CnShapeDef *shape,
                                 const CnQueryFilter *filter, CnShapeId *shapes, int32_t capacity,
                                 int32_t *count);

/// The nearest places of two shapes, or the deepest where they overlap.
typedef struct CnClosest {
  CnShapeId shape; ///< slot 0: there is none
  CnBodyId body;
  double gap;                ///< m, negative: overlap
  CnVec3 normal;             ///< unit, towards `shape`
  CnVec3 point, shape_point; ///< on what was asked about, and on the shape
} CnClosest;
/// The shape that is nearest to a point.
CN_API CnStatus cn_world_closest(const CnWorld *world, CnVec3 point, const CnQueryFilter *filter,
                                 CnClosest *closest);
/// From shape a to shape b, `shape` in the answer.
CN_API CnStatus cn_shape_closest(const CnWorld *world, CnShapeId a, CnShapeId b,
                                 CnClosest *closest);

/// Bodies whose shapes overlap or touch those of a body, each once, in the order of their slots,
/// whatever categories and masks say: what a trigger asks for, a body whose shapes meet nothing (mask
/// 0). *count is how many there are; the first `capacity` are given.
CN_API CnStatus cn_body_overlaps(const CnWorld *world, CnBodyId body, CnBodyId *bodies,
                                 int32_t capacity, int32_t *count);

/// Contacts of the last step that a body has with another one (none: with any), as numbers for
/// cn_world_contact, ascending. *count is how many there are; the first `capacity` are given. Of two
/// bodies they are found by halving, of one by a pass over eight bytes a contact.
CN_API CnStatus cn_world_contacts_of(const CnWorld *world, CnBodyId body, CnBodyId other,
                                     int32_t *contacts, int32_t capacity, int32_t *count);

#ifdef __cplusplus
}
#endif
#endif
