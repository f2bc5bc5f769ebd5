// SPDX-License-Identifier: Apache-2.0
// Shapes without bodies: data, mass properties, bounds, distance with contact points.
#ifndef CNI_GEOMETRY_H
#define CNI_GEOMETRY_H

#include <cairn/shape.h>
#include "core/fields.h"
#include "core/vec.h"
#include "geometry/curve.h"
#include "geometry/gap.h"
#include "geometry/hull.h"
#include "geometry/shape_kind.h"

// One point of a manifold. The point lies midway between the two surfaces.
typedef struct CniPoint {
  CnVec3 point;
  double gap;       // signed distance along the normal, negative: overlap
  uint32_t feature; // lasting name of the point within the pair
} CniPoint;

#define CNI_MAX_POINTS 8

// How two shapes touch: one normal, from a to b, and up to eight points with gap <= margin. In a
// touching configuration the convex hull of the points is the area of contact.
typedef struct CniManifold {
  CnVec3 normal;
  int32_t count;
  CniPoint points[CNI_MAX_POINTS]; // by ascending feature
} CniManifold;

// The narrow phase of two convex shapes. Two half-spaces never meet and give no points. The normal of
// an empty manifold may be a direction along which they are farther apart than the margin.
void cni_collide(const CniPlaced *a, const CniPlaced *b, double margin, CniManifold *manifold);

// What a pair remembers from one call to the next: the parts that touched, or a direction along which
// they were apart. It may be old, of another pair, or lost (zeros): it changes the time a call takes
// and never the answer, to the last bit (convex_meet.c).
typedef struct CniHint {
  float x, y, z;     // of about unit length, from a to b
  uint32_t parts[2]; // of a and of b
} CniHint;
void cni_collide_again(const CniPlaced *a, const CniPlaced *b, double margin, CniHint *hint,
                       CniManifold *manifold);

// Is a convex shape surely farther from a surface than the margin, by what the hint says of it? (mesh_clear.c)
int cni_mesh_clear(const CniPlaced *shape, const CniPlaced *mesh, double margin, CniHint *hint);

// The narrow phase of any two shapes: a pair may touch in several places, each with a normal of its
// own. Whoever asks takes the manifolds one after another; of two convex shapes it may be empty.
typedef void (*CniTake)(void *context, const CniManifold *manifold);
void cni_collide_all(const CniPlaced *a, const CniPlaced *b, double margin, CniTake take,
                     void *context);

// Are two bounded convex shapes farther apart than the margin along a direction (from a to b, of about
// unit length)? By so much that the narrow phase would find no point.
int cni_still_apart(const CniPlaced *a, const CniPlaced *b, double margin, CnVec3 axis);

// Names of points: 10 bits each for the corners, edges or faces that meet, and above them 12 bits for
// the part of a shape that consists of several. Numbers of parts may wrap round, as parts that touch
// the same thing at once lie near each other.
static inline uint32_t cni_feature(uint32_t of_a, uint32_t of_b) { return of_a << 10 | of_b; }
#define CNI_PART_SHIFT 20
static inline uint32_t cni_feature_of_part(uint32_t part, uint32_t feature) {
  return part << CNI_PART_SHIFT | feature;
}
// The name of the same point with the two shapes exchanged.
static inline uint32_t cni_feature_turned(uint32_t feature) {
  return (feature & ~0xfffffu) | (feature & 0x3ffu) << 10 | (feature >> 10 & 0x3ffu);
}

// The nearest places of two shapes, or the deepest where they overlap; a half-space is met by its
// plane. Two half-spaces have gap INFINITY.
typedef struct CniPlaces {
  double gap;
  CnVec3 normal; // unit, from a to b
  CnVec3 a, b;   // on the surfaces, gap apart along the normal
} CniPlaces;
CniPlaces cni_places(const CniPlaced *a, const CniPlaced *b);
// The same to round-off, sooner where they still touch with the parts that a contact names, and nearly along the normal.
CniPlaces cni_places_of(const CniPlaced *a, const CniPlaced *b, uint32_t feature, CnVec3 normal);

// Some of many points, as few as will do, outside whose hull none is by more than `enough`, m
// (simplify.c): their numbers. Refused where a hull cannot have as many corners as that takes.
CnStatus cni_points_simplify(const CnAllocator *allocator, const char *what, const CnVec3 *points,
                             int32_t count, double enough, int32_t chosen[CNI_HULL_VERTICES],
                             int32_t *chosen_count);

// When a, moved by `motion` times t without turning, first touches b: the least t in [0, most], and
// the places then (null: not asked for); INFINITY without one, 0 where they overlap already.
double cni_cast(const CniPlaced *a, const CniPlaced *b, CnVec3 motion, double most,
                CniPlaces *places);

// ---- spheres without a table: the same arithmetic, for loops over many ----

// Below this length the square of a vector loses digits to underflow and its direction with them.
#define CNI_NO_DIRECTION 1e-150

// The one point in which spheres a and b touch.
typedef struct CniPointContact {
  CnVec3 point, normal; // normal from a to b
  double gap;
} CniPointContact;

// From the vector between the centres (a to b) and its length.
static inline CniPointContact cni_point_contact_spheres(CnVec3 centre_a, double radius_a,
                                                        double radius_b, CnVec3 apart,
                                                        double distance) {
  CniPointContact t;
  t.gap = distance - (radius_a + radius_b);
  t.normal = distance > CNI_NO_DIRECTION ? cn_scale(1 / distance, apart) : cn_vec3(0, 0, 1);
  t.point = cn_madd(centre_a, radius_a + 0.5 * t.gap, t.normal);
  return t;
}

// A sphere a and the half-space b below the point `origin`, `up` its outward normal.
static inline CniPointContact cni_point_contact_plane(CnVec3 centre, double radius, CnVec3 origin,
                                                      CnVec3 up) {
  CniPointContact t;
  t.gap = cn_dot(up, cn_sub(centre, origin)) - radius;
  t.normal = cn_neg(up);
  t.point = cn_madd(centre, radius + 0.5 * t.gap, t.normal);
  return t;
}

// ---- one shape alone ----

// Sizes of a definition in the order of the fields, the rest zeros, and back.
void cni_shape_pack(const CnShapeDef *def, double size[CNI_SHAPE_SIZES]);
void cni_shape_unpack(const double size[CNI_SHAPE_SIZES], CnShapeDef *def);
// The shape of a definition, placed as it says; of a kind without geometry.
CniPlaced cni_shape_placed(const CnShapeDef *def);
// Every field that some kind has, each once: entry `index`, null past the end.
const CniField *cni_shape_field(int32_t index);

CniBounds cni_shape_bounds(const CniPlaced *shape);
double cni_shape_inradius(const CniPlaced *shape);
double cni_shape_outradius(const CniPlaced *shape);
// How far it goes beyond a point along a unit direction.
double cni_shape_beyond(const CniPlaced *shape, CnVec3 point, CnVec3 direction);
// In the frame that the pose is in.
CniMassProps cni_shape_mass(const CniPlaced *shape, double density);
// Sum of two parts, both given in one frame.
CniMassProps cni_mass_add(CniMassProps a, CniMassProps b);
// As in the row, for a ray and a normal of the frame that the pose is in.
double cni_shape_ray(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal);
// The same against a ball.
double cni_ray_ball(CnVec3 centre, double radius, CnVec3 origin, CnVec3 direction, CnVec3 *normal);

// Check a shape definition's numbers; those that hang on a geometry are left to the model.
CnStatus cni_shape_check(const CnShapeDef *def);

#endif
