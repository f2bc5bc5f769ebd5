// SPDX-License-Identifier: Apache-2.0
// A convex hull: the polyhedron of a geometry, which the model owns and shapes share. Corners and
// edges have the numbers of hull.h. A ball may be carried over it (hull_round.c has its mass).
//
// A face of more than 32 corners is seen by 32 of them, evenly spread: a manifold keeps 8 of them
// anyway, and of a regular polygon they miss 0.5 % of the radius.
#include "geometry/geometry_private.h"

static double rounding(const CniPlaced *shape) { return shape->size[0]; }

static int32_t top_vertex(const CniHull *h, CnVec3 direction) {
  return h->farthest(h->vertex_columns.values, h->vertex_columns.stride, direction);
}

// The farthest vertices along the world's axes.
static CniBounds bounds(const CniPlaced *shape) {
  const CniHull *h = shape->hull;
  CnMat3 r = cn_qmat(shape->pose.rotation);
  const CnVec3 axes[3] = {{r.x.x, r.y.x, r.z.x}, {r.x.y, r.y.y, r.z.y}, {r.x.z, r.y.z, r.z.z}};
  double lo[3], hi[3];
  for (int32_t k = 0; k < 3; k++) {
    hi[k] = cn_dot(axes[k], h->vertices[top_vertex(h, axes[k])]);
    lo[k] = cn_dot(axes[k], h->vertices[top_vertex(h, cn_neg(axes[k]))]);
  }
  CnVec3 round = {rounding(shape), rounding(shape), rounding(shape)}, p = shape->pose.position;
  return (CniBounds){cn_sub(cn_add(p, cn_vec3(lo[0], lo[1], lo[2])), round),
                     cn_add(cn_add(p, cn_vec3(hi[0], hi[1], hi[2])), round)};
}

static double inradius(const CniPlaced *shape) { return shape->hull->inradius + rounding(shape); }
static double outradius(const CniPlaced *shape) { return shape->hull->outradius + rounding(shape); }

static CniMassProps mass(const CniPlaced *shape, double density) {
  return cni_hull_mass(shape->hull, rounding(shape), density);
}

static CnVec3 support(const CniPlaced *shape, CnVec3 direction, uint32_t *corner) {
  int32_t best = top_vertex(shape->hull, direction);
  *corner = (uint32_t)best;
  return shape->hull->vertices[best];
}

// How far the corners before and after a vertex of a face reach, the higher one.
static double beside(const CniHull *h, const CniHullFace *side, int32_t vertex, CnVec3 direction) {
  const CniHullCorner *c = &h->corners[side->first];
  int32_t k = 0;
  while (c[k].vertex != vertex) k++;
  int32_t before = c[k > 0 ? k - 1 : side->count - 1].vertex;
  int32_t after = c[k + 1 < side->count ? k + 1 : 0].vertex;
  return cn_max(cn_dot(direction, h->vertices[before]), cn_dot(direction, h->vertices[after]));
}

// The face that is across the direction, to 1.8 degrees; without one the face that has the highest
// edge, by its lower end, and of the two at that edge the one that leans less. The second highest
// vertex of a convex body is a neighbour of the highest: the edge is at that one.
static const CniHullFace *side_towards(const CniHull *h, CnVec3 direction) {
  int32_t best = h->farthest(h->normal_columns.values, h->normal_columns.stride, direction);
  if (cn_dot(direction, h->faces[best].normal) > 0.9995 * cn_norm(direction))
    return &h->faces[best];
  double most = -INFINITY, upright = -INFINITY;
  int32_t top = top_vertex(h, direction);
  for (int32_t i = h->first_about[top]; i < h->first_about[top + 1]; i++) {
    const CniHullFace *side = &h->faces[h->about[i]];
    double along = cn_dot(direction, side->normal), low = beside(h, side, top, direction);
    if (!(low > most || (low == most && along > upright))) continue;
    most = low;
    upright = along;
    best = h->about[i];
  }
  return &h->faces[best];
}

static void face(const CniPlaced *shape, CnVec3 direction, CniFace *out) {
  const CniHull *h = shape->hull;
  const CniHullFace *side = side_towards(h, direction);
  out->normal = side->normal;
  out->count = side->count < CNI_FACE_POINTS ? side->count : CNI_FACE_POINTS;
  for (int32_t i = 0; i < out->count; i++) {
    const CniHullCorner *c = &h->corners[side->first + i * side->count / out->count];
    out->points[i] = h->vertices[c->vertex];
    out->corner[i] = (uint32_t)c->vertex;
    out->edge[i] = (uint32_t)c->edge;
  }
}

// Into the last plane from outside, before the first one from inside.
static double ray(const CniPlaced *shape, CnVec3 origin, CnVec3 direction, CnVec3 *normal) {
  const CniHull *h = shape->hull;
  if (rounding(shape) > 0) return cni_ray_convex(shape, origin, direction, normal);
  double in = -INFINITY, out = INFINITY;
  for (int32_t f = 0; f < h->face_count; f++) {
    const CniHullFace *side = &h->faces[f];
    double way = side->height - cn_dot(side->normal, origin);
    double speed = cn_dot(side->normal, direction);
    if (speed == 0 && way < 0) return INFINITY;
    if (speed < 0 && way / speed > in) {
      in = way / speed;
      *normal = side->normal;
    }
    if (speed > 0) out = cn_min(out, way / speed);
  }
  if (in > out || out < 0) return INFINITY;
  return in < 0 ? cni_ray_inside(direction, normal) : in;
}

// A half-space b: all vertices near it, as of a box; of more than a manifold holds, those of the
// side that faces it.
void cni_collide_hull_plane(const CniPlaced *a, const CniPlaced *b, double margin,
                            CniManifold *manifold) {
  CnVec3 up = cn_qmat(b->pose.rotation).z;
  CnMat3 r = cn_qmat(a->pose.rotation);
  double round = rounding(a);
  double height = cn_dot(up, cn_sub(a->pose.position, b->pose.position)) - round;
  manifold->normal = cn_neg(up);
  for (int32_t i = 0; i < a->hull->vertex_count; i++) {
    CnVec3 arm = cn_mmul(r, a->hull->vertices[i]);
    double gap = height + cn_dot(up, arm);
    if (!(gap <= margin)) continue;
    if (manifold->count == CNI_MAX_POINTS) {
      manifold->count = 0;
      cni_collide_convex_plane(a, b, margin, manifold);
      return;
    }
    CnVec3 point = cn_madd(cn_add(a->pose.position, arm), -(round + 0.5 * gap), up);
    cni_manifold_add(manifold, point, gap, cni_feature((uint32_t)i, CNI_FEATURE_FACE));
  }
}

static const CniField fields[] = {
    CNI_FIELD(REAL, CnShapeDef, rounding, NOT_NEGATIVE, "m",
              "radius of a ball that is carried over the whole, default 0"),
    CNI_FIELDS_END};

const CniShapeKind cni_shape_hull = {.name = "hull",
                                     .summary = "the convex hull of points, a geometry",
                                     .fields = fields,
                                     .flags = CNI_SHAPE_GEOMETRY,
                                     .page = CNI_PAGE_TRIANGLES,
                                     .bounds = bounds,
                                     .inradius = inradius,
                                     .outradius = outradius,
                                     .mass = mass,
                                     .rounding = rounding,
                                     .support = support,
                                     .face = face,
                                     .ray = ray};
