// SPDX-License-Identifier: Apache-2.0
// A convex shape and the edges of a mesh.
//
// An edge touches a shape as a segment would, along the normal that the generic convex pair finds. It
// is a contact of the surface only if no point of the triangles about that place is nearer: with m the
// normal out of the mesh, q the place and w the corners about it,
//
//     m.(w - q) <= 0   for all w,
//
// the normal lies in the wedge of the two faces at the edge, or in the cone of a vertex. Edges between
// triangles of one plane and those in a valley have none such, and are not looked at at all.
//
// A flat side that lies on edges and rocks by a little would lose and find them in turn. The condition
// that an edge does not go into a flat side, along the normal of that side, is a true one however the
// faces of the mesh lie: there the normal may leave the wedge by 2 degrees.
#include "geometry/meshes/mesh_private.h"

#define WITHIN CNI_MESH_WITHIN
#define TILT CNI_MESH_TILT

// ---- parts of a mesh as convex cores ----

static int32_t triangle_of(const CniPlaced *part) { return (int32_t)part->size[0]; }

static CnVec3 corner_of(const CniPlaced *part, int32_t k) {
  const CniMesh *m = part->mesh;
  return cni_mesh_at(m, cni_mesh_vertex(m, triangle_of(part), k % 3));
}

// Of `count` corners from the first on, the farthest.
static CnVec3 farthest(const CniPlaced *part, int32_t first, int32_t count, CnVec3 direction,
                       uint32_t *corner) {
  CnVec3 best = corner_of(part, first);
  double most = cn_dot(direction, best);
  *corner = 0;
  for (int32_t i = 1; i < count; i++) {
    CnVec3 p = corner_of(part, first + i);
    double along = cn_dot(direction, p);
    if (along > most) most = along, best = p, *corner = (uint32_t)i;
  }
  return best;
}

static CnVec3 edge_support(const CniPlaced *part, CnVec3 direction, uint32_t *corner) {
  return farthest(part, (int32_t)part->size[1], 2, direction, corner);
}
static CnVec3 triangle_support(const CniPlaced *part, CnVec3 direction, uint32_t *corner) {
  return farthest(part, 0, 3, direction, corner);
}

// Corners 0 and 1, edge 2.
static void edge_face(const CniPlaced *part, CnVec3 direction, CniFace *out) {
  (void)direction;
  out->count = 2;
  for (uint32_t i = 0; i < 2; i++) {
    out->points[i] = corner_of(part, (int32_t)part->size[1] + (int32_t)i);
    out->corner[i] = i;
    out->edge[i] = 2;
  }
}

// The side that is turned to the direction: corners 0 to 2, edges 3 to 5.
static void triangle_face(const CniPlaced *part, CnVec3 direction, CniFace *out) {
  CniTriangle t = cni_mesh_triangle(part->mesh, triangle_of(part));
  CnVec3 n = cn_unit_or(cni_triangle_area(&t), cn_vec3(0, 0, 1));
  int back = cn_dot(n, direction) < 0;
  out->count = 3;
  out->normal = back ? cn_neg(n) : n;
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t k = back ? 2 - i : i;
    out->points[i] = t.at[k];
    out->corner[i] = k;
    out->edge[i] = 3 + (back ? (k + 2) % 3 : k);
  }
}

const CniShapeKind cni_mesh_edge_kind = {.support = edge_support, .face = edge_face};
const CniShapeKind cni_mesh_triangle_kind = {.support = triangle_support, .face = triangle_face};

CniConvex cni_mesh_convex(const CniMeshTouch *touch, const CniPlaced *part,
                          const CniShapeKind *kind) {
  CniConvex x = {.a = &touch->shape, .b = part, .kind_a = touch->kind, .kind_b = kind};
  CnMat3 r = touch->turn;
  x.turn = (CnMat3){{r.x.x, r.y.x, r.z.x}, {r.x.y, r.y.y, r.z.y}, {r.x.z, r.y.z, r.z.z}};
  x.way = cn_neg(cn_mtmul(r, touch->shape.pose.position));
  x.round_a = touch->kind->rounding(&touch->shape);
  x.round_b = touch->mesh->radius;
  x.margin = touch->margin + x.round_a + x.round_b;
  x.scale = touch->size;
  CnVec3 p = corner_of(part, (int32_t)part->size[1]);
  x.extent = touch->kind->outradius(&touch->shape) + cn_norm(p) + cn_norm(x.way);
  x.curved = (touch->kind->flags & CNI_SHAPE_CURVED) != 0;
  return x;
}

// ---- which normals ----

static int points_away(const CniMesh *m, CnVec3 normal, double slack, CnVec3 from, int32_t vertex) {
  CnVec3 d = cn_sub(cni_mesh_at(m, vertex), from);
  return cn_dot(normal, d) <= slack * cn_norm(d);
}

int32_t cni_mesh_corner_at(const CniMesh *m, int32_t t, CnVec3 p) {
  for (int32_t k = 0; k < 3; k++) {
    CnVec3 q = cni_mesh_at(m, cni_mesh_vertex(m, t, k));
    if (q.x == p.x && q.y == p.y && q.z == p.z) return k;
  }
  return -1;
}

// All triangles about a vertex, one way round and where there is an end the other way, too.
static int cone_holds(const CniMesh *m, CnVec3 normal, double slack, int32_t t, CnVec3 p) {
  for (int32_t way = 0; way < 2; way++) {
    int32_t at = t;
    for (int32_t rounds = 0; rounds < 256 && at >= 0; rounds++) {
      int32_t k = cni_mesh_corner_at(m, at, p);
      if (k < 0) break;
      int32_t next = k < 2 ? k + 1 : 0, before = k > 0 ? k - 1 : 2;
      if (!points_away(m, normal, slack, p, cni_mesh_vertex(m, at, next)) ||
          !points_away(m, normal, slack, p, cni_mesh_vertex(m, at, before)))
        return 0;
      at = cni_mesh_neighbour(m, at, (way ? k : before));
      if (at == t) return 1;
    }
  }
  return 1;
}

static int from_outside(const CniMesh *m, CnVec3 normal, double slack, int32_t t, int32_t u) {
  if (m->two_sided) return 1;
  CnVec3 point, n = cni_mesh_plane(m, t, &point);
  if (cn_dot(n, normal) >= -slack) return 1;
  return u >= 0 && cn_dot(cni_mesh_plane(m, u, &point), normal) >= -slack;
}

// The wedge at edge k of a triangle.
int cni_mesh_wedge_holds(const CniMesh *m, CnVec3 normal, double slack, int32_t t, int32_t k,
                         CnVec3 q) {
  int32_t u = cni_mesh_neighbour(m, t, k);
  for (int32_t i = 0; i < 3; i++) {
    if (i != k && i != (k < 2 ? k + 1 : 0) &&
        !points_away(m, normal, slack, q, cni_mesh_vertex(m, t, i)))
      return 0;
    if (u >= 0 && !points_away(m, normal, slack, q, cni_mesh_vertex(m, u, i))) return 0;
  }
  return from_outside(m, normal, slack, t, u);
}

int cni_mesh_cone_holds(const CniMesh *m, CnVec3 normal, double slack, int32_t t, int32_t k,
                        CnVec3 p) {
  return cone_holds(m, normal, slack, t, p) &&
         from_outside(m, normal, slack, t, cni_mesh_neighbour(m, t, k));
}

// ---- contacts ----

// Names of the mesh's side: an edge by its triangle, an end by its vertex.
static uint32_t name_of(const CniMesh *m, int32_t t, int32_t k, uint32_t feature) {
  uint32_t of_edge = feature & 0x3ffu, of_shape = feature >> 10 & 0x3ffu;
  if (of_edge > 1)
    return cni_feature_of_part(cni_mesh_part(m, t), cni_feature(of_shape, 4u + (uint32_t)k));
  uint32_t vertex = (uint32_t)cni_mesh_vertex(m, t, (k + (int32_t)of_edge) % 3);
  return cni_feature_of_part(vertex & 0xfffu, cni_feature(of_shape, 8u + (vertex >> 12 & 0xffu)));
}

static int out_of_reach(const CniMeshTouch *touch, CnVec3 a, CnVec3 b) {
  return cn_min(a.x, b.x) > touch->hi.x || cn_max(a.x, b.x) < touch->lo.x ||
         cn_min(a.y, b.y) > touch->hi.y || cn_max(a.y, b.y) < touch->lo.y ||
         cn_min(a.z, b.z) > touch->hi.z || cn_max(a.z, b.z) < touch->lo.z;
}

// A ball about a point: closed form.
static void touch_ball(const CniMeshTouch *touch, int32_t t, int32_t k, CnVec3 a, CnVec3 b) {
  const CniMesh *m = touch->mesh;
  CnVec3 c = touch->shape.pose.position, e = cn_sub(b, a);
  double share = cn_clamp(cn_dot(cn_sub(c, a), e) / cn_norm2(e), 0, 1);
  CnVec3 q = share == 1 ? b : cn_madd(a, share, e), d = cn_sub(c, q);
  double distance = cn_norm(d), gap = distance - touch->round;
  if (!(gap <= touch->margin) || !(distance > CNI_NO_DIRECTION)) return;
  CnVec3 n = cn_scale(1 / distance, d);
  if (share == 0 || share == 1) {
    if (!cni_mesh_cone_holds(m, n, WITHIN, t, k, q)) return;
  } else if (!cni_mesh_wedge_holds(m, n, WITHIN, t, k, q)) {
    return;
  }
  CniManifold manifold = {.normal = n};
  uint32_t of_edge = share == 0 ? 0 : share == 1 ? 1 : 2;
  cni_manifold_add(&manifold, cn_madd(q, m->radius + 0.5 * gap, n), gap,
                   name_of(m, t, k, cni_feature(0, of_edge)));
  cni_mesh_give(touch, &manifold);
}

// Of a segment that is not square to the normal the end that is touched is all there is: the point
// of the least gap stays.
static void keep_end(CniManifold *m) {
  for (int32_t i = 1; i < m->count; i++)
    if (m->points[i].gap < m->points[0].gap) m->points[0] = m->points[i];
  m->count = 1;
}

// Has the shape a flat side across a normal of its own frame?
static int lies_flat(const CniMeshTouch *touch, CnVec3 normal) {
  CniFace face;
  touch->kind->face(&touch->shape, normal, &face);
  return face.count > 2 && cn_dot(face.normal, normal) > 1 - 1e-9;
}

static void touch_segment(const CniMeshTouch *touch, int32_t t, int32_t k, CnVec3 a, CnVec3 b) {
  const CniMesh *m = touch->mesh;
  CniPlaced part = touch->edge;
  part.size[0] = t;
  part.size[1] = k;
  CniConvex x = cni_mesh_convex(touch, &part, &cni_mesh_edge_kind);
  CniNearest near;
  CniManifold manifold = {.count = 0};
  if (!cni_convex_nearest(&x, &near)) return;
  cni_convex_manifold(&x, &near, touch->margin, &manifold);
  if (manifold.count == 0) return;
  CnVec3 n = cn_neg(cn_mmul(touch->turn, manifold.normal));
  CnVec3 e = cn_sub(b, a);
  double along = cn_dot(n, e);
  double slack = lies_flat(touch, manifold.normal) ? TILT : WITHIN;
  if (fabs(along) > slack * cn_norm(e)) {
    if (!cni_mesh_cone_holds(m, n, slack, t, k, along > 0 ? b : a)) return;
    keep_end(&manifold);
  } else if (!cni_mesh_wedge_holds(m, n, slack, t, k, cn_scale(0.5, cn_add(a, b)))) {
    return;
  }
  manifold.normal = n;
  for (int32_t i = 0; i < manifold.count; i++) {
    CniPoint *p = &manifold.points[i];
    p->point = cn_add(touch->shape.pose.position, cn_mmul(touch->turn, p->point));
    p->feature = name_of(m, t, k, p->feature);
  }
  cni_mesh_give(touch, &manifold);
}

// Edges that nothing touches.
static int is_inner(const CniMesh *m, CniMeshEdge bend) {
  return bend == CNI_EDGE_FLAT || (bend == CNI_EDGE_CONCAVE && !m->two_sided);
}

// All three of a triangle, by their bits.
static int all_inner(const CniMesh *m, unsigned edges) {
  for (int32_t k = 0; k < 3; k++)
    if (!is_inner(m, (CniMeshEdge)(edges >> (2 * k) & 3))) return 0;
  return 1;
}

void cni_mesh_touch_edges(const CniMeshTouch *touch, int32_t t) {
  const CniMesh *m = touch->mesh;
  if (!m->heights && all_inner(m, m->edges[t])) return;
  for (int32_t k = 0; k < 3; k++) {
    int32_t u = cni_mesh_neighbour(m, t, k);
    if (u >= 0 && u < t) continue; // its own
    if (!m->heights && is_inner(m, cni_mesh_edge(m, t, k))) continue;
    CnVec3 a = cni_mesh_at(m, cni_mesh_vertex(m, t, k));
    CnVec3 b = cni_mesh_at(m, cni_mesh_vertex(m, t, k < 2 ? k + 1 : 0));
    if (out_of_reach(touch, a, b)) continue;
    if (m->heights && is_inner(m, cni_mesh_edge(m, t, k))) continue;
    if (touch->shape.kind == CN_SHAPE_SPHERE)
      touch_ball(touch, t, k, a, b);
    else
      touch_segment(touch, t, k, a, b);
  }
}
