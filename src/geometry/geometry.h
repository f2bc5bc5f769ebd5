// SPDX-License-Identifier: Apache-2.0
// Shapes without bodies: data, mass properties, bounds, distance with contact points.
#ifndef CNI_GEOMETRY_H
#define CNI_GEOMETRY_H

#include <cairn/shape.h>
#include "core/fields.h"
#include "core/vec.h"
#include "geometry/curve.h"
#include "geometry/hull.h"

// A shape placed in the world.
#define CNI_SHAPE_SIZES 4
typedef struct CniPlaced {
  CnShapeKind kind;
  CnPose pose;                  // of the shape's frame
  double size[CNI_SHAPE_SIZES]; // the numbers of the kind's fields, in their order
  const CniHull *hull;          // of kinds that have a geometry
} CniPlaced;

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

// The narrow phase of two convex shapes. Two half-spaces never meet and give no points.
void cni_collide(const CniPlaced *a, const CniPlaced *b, double margin, CniManifold *manifold);

// The narrow phase of any two shapes: a pair may touch in several places, each with a normal of its
// own. Whoever asks takes the manifolds one after another; none is empty.
typedef void (*CniTake)(void *context, const CniManifold *manifold);
void cni_collide_all(const CniPlaced *a, const CniPlaced *b, double margin, CniTake take,
                     void *context);

// Names of points: 10 bits each for the corners, edges or faces that meet, and above them 12 bits for
// the part of a shape that consists of several. Numbers of parts may wrap round, as parts that touch
// the same thing at once lie near each other.
static inline uint32_t cni_feature(uint32_t of_a, uint32_t of_b) { return of_a << 10 | of_b; }
static inline uint32_t cni_feature_of_part(uint32_t part, uint32_t feature) {
  return part << 20 | feature;
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

// ---- gaps that can be followed in time (gap.c) ----

typedef enum CniGapBend {
  CNI_GAP_POINTS = 0, // the normal is the direction from point to point
  CNI_GAP_FACE,       // it is that of a half-space
  CNI_GAP_OTHER       // it turns in a way of its own
} CniGapBend;

// gap = distance along the normal, from a to b, of two points that go with the shapes, less the
// radii of the balls about them.
typedef struct CniGap {
  CniGapBend bend;
  CnVec3 normal;
  CnVec3 centre_a, centre_b;
  double gap, radius_a, radius_b;
  double domain; // >= 0: the place is on the feature's piece of surface; INFINITY: it has no border
} CniGap;

// How the gaps of two shapes are followed: not at all, by the points of the narrow phase, or by their
// features.
typedef enum CniGapSource { CNI_GAP_NONE = 0, CNI_GAP_BY_POINTS, CNI_GAP_BY_FEATURES } CniGapSource;
CniGapSource cni_gap_source(const CniPlaced *a, const CniPlaced *b);
// Of the points only the nearest counts: one of them is round.
int cni_gap_one_place(const CniPlaced *a, const CniPlaced *b);
// The features of two shapes (a half-space is a) that may touch where their surfaces come nearer by
// `reach`, ascending: their number, and the first `most` of them. `load`: where a body that stands on
// an end is pulled.
int32_t cni_gap_features(const CniPlaced *a, const CniPlaced *b, double reach, CnVec3 load,
                         uint32_t *names, int32_t most);
// Of a point that the narrow phase has named or of a feature, however far away it is now.
CniGap cni_gap(const CniPlaced *a, const CniPlaced *b, uint32_t feature);

// ---- one shape alone ----

// Axis-aligned bounds; what is unbounded has +-INFINITY.
typedef struct CniBounds {
  CnVec3 lo, hi;
} CniBounds;

// Mass, centre and inertia about the centre. What is unbounded has no mass.
typedef struct CniMassProps {
  double mass;
  CnVec3 centre;
  CnSym3 inertia; // about the centre
} CniMassProps;

// The side that a core turns towards a direction: a corner, an edge or a polygon, whose corners go
// round counter-clockwise seen from outside. Corners and edges have lasting numbers below
// CNI_FEATURE_FACE, none twice within one core.
#define CNI_FACE_POINTS 32
#define CNI_FEATURE_FACE 1023u
typedef struct CniFace {
  int32_t count;
  CnVec3 normal; // unit, of a polygon
  CnVec3 points[CNI_FACE_POINTS];
  uint32_t corner[CNI_FACE_POINTS], edge[CNI_FACE_POINTS]; // edge i leads to the next corner
} CniFace;

// How a page shows a kind.
typedef enum CniPagePrimitive {
  CNI_PAGE_SPHERE = 0, // of the first size
  CNI_PAGE_BOX,        // of the first three sizes
  CNI_PAGE_PLANE,
  CNI_PAGE_TRIANGLES // made from the support function
} CniPagePrimitive;

enum {
  CNI_SHAPE_UNBOUNDED = 1, // no bounds, no mass, no core; not on dynamic bodies
  CNI_SHAPE_GEOMETRY = 2,  // it is more than its sizes: CniPlaced::hull has it
  CNI_SHAPE_CURVED = 4,    // its core is no polyhedron
  CNI_SHAPE_AXIAL = 8      // the same however it is turned about z
};

// A row of the table of kinds: all that the rest of Cairn knows of one. Directions and points are in
// the shape's own frame, except those of `bounds`.
//
// A shape is a convex core and a ball that is carried over it: a sphere is a point and its radius, a
// box itself and no ball. Distances are found between cores and the radii taken off, which is exact
// for what is round.
typedef struct CniShapeKind {
  const char *name, *summary;
  const CniField *fields; // sizes: real numbers and vectors of CnShapeDef, CNI_SHAPE_SIZES at most
  uint32_t flags;
  CniPagePrimitive page;
  CniBounds (*bounds)(const CniPlaced *shape);
  double (*inradius)(const CniPlaced *shape);  // of the largest ball inside: its size for margins
  double (*outradius)(const CniPlaced *shape); // of the ball about the origin that holds it
  CniMassProps (*mass)(const CniPlaced *shape, double density); // exact; in the own frame
  double (*rounding)(const CniPlaced *shape);                   // radius of the ball on the core
  // The corner of the core that is farthest along a direction (of any length), and its number.
  CnVec3 (*support)(const CniPlaced *shape, CnVec3 direction, uint32_t *corner);
  // Of curved cores: where the corner of that number is for a unit direction, and the radii of
  // curvature there, m: how it moves as the direction turns.
  CnVec3 (*bend)(const CniPlaced *shape, uint32_t corner, CnVec3 direction, CnSym3 *by);
  void (*face)(const CniPlaced *shape, CnVec3 direction, CniFace *face);
  // Where a ray from outside meets the surface first, in units of the direction, and the outward
  // normal there; INFINITY without one. From inside it is 0 and the normal is against the ray.
  double (*ray)(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal);
} CniShapeKind;

extern const CniShapeKind *const cni_shape_kinds[CN_SHAPE_KIND_COUNT];
static inline int cni_shape_unbounded(CnShapeKind kind) {
  return (cni_shape_kinds[kind]->flags & CNI_SHAPE_UNBOUNDED) != 0;
}
static inline int cni_shape_needs_geometry(CnShapeKind kind) {
  return (cni_shape_kinds[kind]->flags & CNI_SHAPE_GEOMETRY) != 0;
}

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
// In the frame that the pose is in.
CniMassProps cni_shape_mass(const CniPlaced *shape, double density);
// Sum of two parts, both given in one frame.
CniMassProps cni_mass_add(CniMassProps a, CniMassProps b);
// As in the row, for a ray and a normal of the frame that the pose is in.
double cni_shape_ray(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal);
// The same against a ball.
double cni_ray_ball(CnVec3 centre, double radius, CnVec3 origin, CnVec3 direction, CnVec3 *normal);

// A shape as triangles (mesh.c), in its own frame: corners with their normals, then triangles of their
// numbers, counter-clockwise from outside. `quarter`: corners of a quarter of a circle; a half-space is
// a square of 2 `far`.
typedef struct CniMeshTaker {
  void *context;
  void (*corner)(void *context, CnVec3 place, CnVec3 normal);
  void (*triangle)(void *context, const int32_t corner[3]);
} CniMeshTaker;
void cni_shape_mesh(const CniPlaced *shape, int32_t quarter, double far, const CniMeshTaker *take);

// Check a shape definition's numbers; those that hang on a geometry are left to the model.
CnStatus cni_shape_check(const CnShapeDef *def);

#endif
