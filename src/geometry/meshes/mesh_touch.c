// SPDX-License-Identifier: Apache-2.0
// A convex shape and a mesh: where they touch.
//
// Two polyhedra touch corner on face, face on corner, or edge on edge. Here is the first: corners of
// the shape's core over flat faces of the mesh; mesh_edges.c has the others. So a shape that lies on a
// floor of many triangles touches it in its own corners, each with the normal of the floor and a name
// that does not change as it slides from triangle to triangle: it slides as over a half-space.
//
// A corner is over a triangle if it projects into it. Beyond an edge to a neighbour that lies in the
// same plane it may be by a hair, so that nothing falls between the two. Beyond an edge in a valley it
// may be a little inside the neighbour: the corner of a box that stands in the corner of a room is inside
// both, and beyond the edge by no more than that. In front of the neighbour it may be where it is over it
// and comes to the edge within the step: the slope ahead is felt before the corner has gone into it. Any
// farther away the plane of a triangle says nothing about the surface.
//
// A corner that is behind the surface leaves it by the nearest way: only the triangle that is nearest
// to it counts. So the corner of a box beside a table, a hair inside its side and far below its top,
// is not lifted onto it. Behind a surface that is open it is only if the shape goes through the surface: what
// has come round a border, as the corner of a body that leaves a hopper, is not.
#include "core/memory.h"
#include "geometry/meshes/mesh_private.h"

#define HAIR 1e-9   // of an edge
#define DEEP 0.1    // of the shape's size
#define NEARER 1e-6 // of a depth
#define FLAT_ROUNDS 8
#define BEYOND (1 + 1e-9)
#define CLEAR 2e-7 // of the mesh's size: more than a flat face is uneven by

// ---- handing out ----

void cni_mesh_give(const CniMeshTouch *touch, CniManifold *m) {
  CnMat3 r = cn_qmat(touch->pose.rotation);
  CnVec3 n = cn_mmul(r, m->normal); // out of the mesh
  m->normal = touch->swap ? n : cn_neg(n);
  for (int32_t i = 0; i < m->count; i++) {
    CniPoint *p = &m->points[i];
    p->point = cn_add(touch->pose.position, cn_mmul(r, p->point));
    if (touch->swap) p->feature = cni_feature_turned(p->feature);
  }
  // by ascending name
  for (int32_t i = 1; i < m->count; i++)
    for (int32_t j = i; j > 0 && m->points[j - 1].feature > m->points[j].feature; j--)
      CNI_SWAP(CniPoint, m->points[j - 1], m->points[j]);
  touch->take(touch->context, m);
}

// ---- sides ----

static void add_corner(const CniMeshTouch *touch, CniMeshSide *side, CnVec3 own, uint32_t name) {
  CnVec3 p = cn_add(touch->shape.pose.position, cn_mmul(touch->turn, own));
  double height = cn_dot(side->normal, cn_sub(p, side->point));
  if (!(height <= touch->margin + touch->round) || side->count == CNI_FACE_POINTS) return;
  side->at[side->count] = p;
  side->height[side->count] = height;
  side->corner[side->count++] = name;
}

static void thin_out(CniMeshSide *side) {
  int32_t keep[CNI_FACE_POINTS], kept = side->count;
  for (int32_t i = 0; i < kept; i++) keep[i] = i;
  kept = cni_thin_out(side->at, side->height, keep, kept);
  for (int32_t i = 0; i < kept; i++) {
    side->at[i] = side->at[keep[i]];
    side->height[i] = side->height[keep[i]];
    side->corner[i] = side->corner[keep[i]];
  }
  side->count = kept;
}

// Is all of the shape farther from the plane of a side than the margin? Of most the ball about it tells.
static int is_clear(const CniMeshTouch *touch, const CniMeshSide *side) {
  uint32_t corner;
  double middle = cn_dot(side->normal, cn_sub(touch->shape.pose.position, side->point));
  if (middle > touch->ball) return 1;
  CnVec3 own =
      touch->kind->support(&touch->shape, cn_neg(cn_mtmul(touch->turn, side->normal)), &corner);
  CnVec3 p = cn_add(touch->shape.pose.position, cn_mmul(touch->turn, own));
  double height = cn_dot(side->normal, cn_sub(p, side->point));
  return height > touch->margin + touch->round + touch->slack;
}

// The feet of the corners, and what may be beyond an edge.
static void bound_feet(const CniMeshTouch *touch, CniMeshSide *side) {
  double by = 2 * cn_max(touch->margin, DEEP * touch->size) + touch->slack;
  side->lo = cn_vec3(INFINITY, INFINITY, INFINITY);
  side->hi = cn_neg(side->lo);
  for (int32_t i = 0; i < side->count; i++) {
    CnVec3 p = cn_madd(side->at[i], -side->height[i], side->normal);
    side->lo = cn_vec3(cn_min(side->lo.x, p.x), cn_min(side->lo.y, p.y), cn_min(side->lo.z, p.z));
    side->hi = cn_vec3(cn_max(side->hi.x, p.x), cn_max(side->hi.y, p.y), cn_max(side->hi.z, p.z));
  }
  side->lo = cn_sub(side->lo, cn_vec3(by, by, by));
  side->hi = cn_add(side->hi, cn_vec3(by, by, by));
}

// Corners near the plane of a flat face. All of a box, as on a half-space; of others the side that
// faces it.
static void see_face(CniMeshTouch *touch, int32_t t) {
  CniMeshSide *side = &touch->side;
  const CniPlaced *shape = &touch->shape;
  side->seed = cni_mesh_seed(touch->mesh, t);
  side->normal = cni_mesh_plane(touch->mesh, t, &side->point);
  side->count = 0;
  CnVec3 away = cn_sub(shape->pose.position, side->point);
  side->turned = touch->mesh->two_sided && cn_dot(side->normal, away) < 0;
  if (side->turned) side->normal = cn_neg(side->normal);
  if ((side->clear = is_clear(touch, side))) return;
  if (shape->kind == CN_SHAPE_BOX) {
    CnVec3 h = cni_box_half(shape);
    for (uint32_t i = 0; i < 8; i++)
      add_corner(touch, side, cn_vec3(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z),
                 i);
    return;
  }
  CniFace face;
  touch->kind->face(shape, cn_neg(cn_mtmul(touch->turn, side->normal)), &face);
  for (int32_t i = 0; i < face.count; i++) add_corner(touch, side, face.points[i], face.corner[i]);
  if (side->count > CNI_MAX_POINTS) thin_out(side);
}

// ---- corners over triangles ----

CnVec3 cni_triangle_nearest(const CniTriangle *t, CnVec3 p) {
  CnVec3 n = cni_triangle_area(t), best = t->at[0];
  double least = INFINITY;
  int inside = 1;
  for (int32_t k = 0; k < 3; k++) {
    CnVec3 a = t->at[k], e = cn_sub(t->at[k < 2 ? k + 1 : 0], a), d = cn_sub(p, a);
    if (cn_dot(cn_cross(n, e), d) >= 0) continue;
    inside = 0;
    CnVec3 q = cn_madd(a, cn_clamp(cn_dot(d, e) / cn_norm2(e), 0, 1), e);
    double distance2 = cn_norm2(cn_sub(p, q));
    if (distance2 < least) least = distance2, best = q;
  }
  if (!inside) return best;
  return cn_madd(p, -cn_dot(n, cn_sub(p, t->at[0])) / cn_norm2(n), n);
}

typedef struct Nearest {
  const CniMesh *mesh;
  CnVec3 p;
  double distance; // something is nearer than this
  int found;
} Nearest;

static void look_nearer(void *context, int32_t t) {
  Nearest *near = context;
  if (near->found) return;
  CniTriangle at = cni_mesh_triangle(near->mesh, t);
  CnVec3 d = cn_sub(near->p, cni_triangle_nearest(&at, near->p));
  near->found = cn_norm2(d) < near->distance * near->distance;
}

// Is another triangle nearer to a point than so?
static int something_nearer(const CniMesh *mesh, CnVec3 p, double distance) {
  Nearest near = {mesh, p, distance * (1 - NEARER), 0};
  CnVec3 by = {near.distance, near.distance, near.distance};
  cni_mesh_query(mesh, cn_sub(p, by), cn_add(p, by), look_nearer, &near);
  return near.found;
}

// Is a place over a triangle, or over another one of the same plane near it?
static int is_above(const CniMesh *m, int32_t t, CnVec3 p) {
  CnVec3 point, n = cni_mesh_plane(m, t, &point);
  int32_t from = -1;
  for (int32_t rounds = 0; rounds < FLAT_ROUNDS && t >= 0; rounds++) {
    CniTriangle at = cni_mesh_triangle(m, t);
    int32_t next = -1, outside = 0;
    for (int32_t k = 0; k < 3; k++) {
      CnVec3 a = at.at[k], e = cn_sub(at.at[k < 2 ? k + 1 : 0], a);
      if (!(cn_dot(cn_cross(e, n), cn_sub(p, a)) > 0)) continue;
      outside = 1;
      int32_t u = cni_mesh_neighbour(m, t, k);
      if (u != from && cni_mesh_edge(m, t, k) == CNI_EDGE_FLAT) next = u;
    }
    if (!outside) return 1;
    from = t;
    t = next;
  }
  return 0;
}

// May a corner that is outside edge k of a triangle by `out` still count as over it?
static int beyond_edge(const CniMeshOver *over, int32_t t, int32_t k, CnVec3 p, double out,
                       double length) {
  const CniMesh *m = over->mesh;
  CniMeshEdge bend = cni_mesh_edge(m, t, k);
  if (bend == CNI_EDGE_FLAT) return out <= HAIR * length;
  if (over->turned && bend == CNI_EDGE_CONVEX)
    bend = CNI_EDGE_CONCAVE;
  else if (over->turned && bend == CNI_EDGE_CONCAVE)
    bend = CNI_EDGE_CONVEX;
  if (bend != CNI_EDGE_CONCAVE) return out <= 0;
  int32_t beyond = cni_mesh_neighbour(m, t, k);
  CnVec3 point, n = cni_mesh_plane(m, beyond, &point);
  double height = cn_dot(n, cn_sub(p, point));
  if (over->turned) height = -height;
  if (height <= 0) return height > -DEEP * over->size && out <= -height * (1 + HAIR);
  return out <= over->reach && is_above(m, beyond, p);
}

int cni_mesh_is_over(const CniMeshOver *over, int32_t t, const CniTriangle *at, CnVec3 p) {
  CnVec3 n = over->turned ? cn_neg(over->normal) : over->normal;
  for (int32_t k = 0; k < 3; k++) {
    CnVec3 a = at->at[k], e = cn_sub(at->at[k < 2 ? k + 1 : 0], a);
    double outside = cn_dot(cn_cross(e, n), cn_sub(p, a));
    if (!(outside > 0)) continue;
    double length = cn_norm(e);
    if (!beyond_edge(over, t, k, p, outside / length, length)) return 0;
  }
  return 1;
}

typedef struct Way {
  const CniMesh *mesh;
  CnVec3 from, along;
  int met;
} Way;

static void look_on_way(void *context, int32_t t) {
  Way *way = context;
  if (way->met) return;
  CniTriangle at = cni_mesh_triangle(way->mesh, t);
  way->met = cni_triangle_ray(&at, way->from, way->along) <= 1 + NEARER;
}

// Does the surface lie between two places?
static int is_between(const CniMesh *m, CnVec3 p, CnVec3 q) {
  Way way = {m, p, cn_sub(q, p), 0};
  CnVec3 by = {NEARER * fabs(way.along.x), NEARER * fabs(way.along.y), NEARER * fabs(way.along.z)};
  CnVec3 lo = {cn_min(p.x, q.x), cn_min(p.y, q.y), cn_min(p.z, q.z)};
  CnVec3 hi = {cn_max(p.x, q.x), cn_max(p.y, q.y), cn_max(p.z, q.z)};
  cni_mesh_query(m, cn_sub(lo, by), cn_add(hi, by), look_on_way, &way);
  return way.met;
}

// Has a corner that is behind an open surface come round its border? Then the way to it from the middle of
// the shape, which is in front, does not go through the surface. Mostly it goes through the triangle that the corner
// is over.
static int came_round(const CniMeshTouch *touch, const CniTriangle *over, CnVec3 p) {
  const CniPlaced *shape = &touch->shape;
  CnVec3 middle = shape->pose.position;
  if (touch->mesh->closed) return 0;
  if (shape->hull) middle = cn_add(middle, cn_mmul(touch->turn, shape->hull->centre));
  if (!(cn_dot(touch->side.normal, cn_sub(middle, touch->side.point)) > 0)) return 0;
  if (cni_triangle_ray(over, middle, cn_sub(p, middle)) <= 1) return 0;
  return !is_between(touch->mesh, middle, p);
}

static void touch_face(CniMeshTouch *touch, int32_t t) {
  const CniMesh *m = touch->mesh;
  CniMeshSide *side = &touch->side;
  if (side->count == 0) return;
  CniTriangle at = cni_mesh_triangle(m, t);
  if (!cni_triangle_meets(&at, side->lo, side->hi)) return;
  CniMeshOver over = {m, touch->size, touch->margin, side->normal, side->turned};
  CniManifold manifold = {.normal = side->normal};
  for (int32_t i = 0; i < side->count; i++) {
    CnVec3 p = side->at[i];
    double height = side->height[i], gap = height - touch->round;
    if (!cni_mesh_is_over(&over, t, &at, p)) continue;
    if (height < 0 && (something_nearer(m, p, -height) || came_round(touch, &at, p))) continue;
    uint32_t name = cni_feature(side->corner[i], CNI_FEATURE_FACE);
    // midway between the two surfaces
    CnVec3 point = cn_madd(p, m->radius - 0.5 * (height + touch->round), side->normal);
    cni_manifold_add(&manifold, point, gap,
                     cni_feature_of_part(cni_mesh_part(m, side->seed), name));
  }
  if (manifold.count > 0) cni_mesh_give(touch, &manifold);
}

// ---- all of it ----

CniMeshTouch cni_mesh_touch_of(const CniPlaced *shape, const CniPlaced *mesh, double margin) {
  CniMeshTouch t = {.mesh = mesh->mesh,
                    .kind = cni_shape_kinds[shape->kind],
                    .shape = *shape,
                    .pose = mesh->pose,
                    .margin = margin};
  t.shape.pose = cn_pose_mul(cn_pose_inverse(mesh->pose), shape->pose);
  t.turn = cn_qmat(t.shape.pose.rotation);
  t.round = t.kind->rounding(shape) + mesh->mesh->radius;
  t.size = t.kind->inradius(shape);
  CniBounds b = t.kind->bounds(&t.shape);
  double by = margin + mesh->mesh->radius;
  t.lo = cn_sub(b.lo, cn_vec3(by, by, by));
  t.hi = cn_add(b.hi, cn_vec3(by, by, by));
  t.edge = (CniPlaced){.kind = CN_SHAPE_MESH, .pose = CN_POSE_ONE, .mesh = mesh->mesh};
  t.side.seed = -1;
  t.slack = CLEAR * cn_norm(cn_sub(mesh->mesh->hi, mesh->mesh->lo));
  t.ball = (t.kind->outradius(shape) + by) * BEYOND + t.slack;
  return t;
}

static void touch_triangle(void *context, int32_t t) {
  CniMeshTouch *touch = context;
  if (cni_mesh_seed(touch->mesh, t) != touch->side.seed) {
    see_face(touch, t);
    if (!touch->side.clear) bound_feet(touch, &touch->side);
  }
  if (touch->side.clear) return;
  touch_face(touch, t);
  cni_mesh_touch_edges(touch, t);
}

void cni_collide_mesh(const CniPlaced *shape, const CniPlaced *mesh, double margin, int32_t swap,
                      CniTake take, void *context) {
  CniMeshTouch touch = cni_mesh_touch_of(shape, mesh, margin);
  touch.swap = swap;
  touch.take = take;
  touch.context = context;
  cni_mesh_query(mesh->mesh, touch.lo, touch.hi, touch_triangle, &touch);
}
