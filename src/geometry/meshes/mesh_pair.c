// SPDX-License-Identifier: Apache-2.0
// Two meshes: where they touch, exactly as they are, however hollow.
//
// Two polyhedra touch corner on face, face on corner, and edge across edge; apart, also corner to edge
// and corner to corner. All of these are looked at, for triangles that are near each other: the tree of
// one mesh is walked, and boxes of it that meet nothing of the other are left out.
//
//     corner on face   as mesh_touch.c has it for corners of convex shapes: over a triangle, with the
//                      normal of its flat face; behind it only if no triangle that it
//                      looks at is nearer: with o the sum of the normals about the corner, n.o < 0.
//     edge and edge    the nearest points p and q of the two segments. Crossing, n is the cross product of
//                      the edges, else p - q; n lies in the wedge or cone of both meshes, so that no
//                      point of either is nearer (mesh_edges.c). Where n is that of a flat face but for a
//                      little, the face's is taken: what lies flat on edges rocks without losing them.
//                      Overlapping, p is inside of the one mesh and q inside of the other.
//
// Corners in flat faces and on straight edges say nothing that others do not say, and are left out.
// Cost: boxes that meet, times the depth of the other tree. Places are in the frame of b, n points out
// of b, towards a.
#include "geometry/meshes/mesh_private.h"

#define STRAIGHT (1 - 1e-10) // cosine
#define INSIDE 1e-9          // of a segment
#define PARALLEL 1e-9        // sine
#define DEEP 0.25            // of the thinner side
#define ON_IT 0.01           // of a distance: on the surface counts as inside

typedef struct Pair {
  const CniMesh *a, *b;
  CnPose pose;     // of b
  CnPose seen;     // a, from b
  CnMat3 turn;     // of it
  double margin;   // m, of gaps that count
  double round;    // both balls
  double size[2];  // half the thinnest side of a and of b
  double deep;     // of edges in edges
  int32_t swap;    // a is the second of the caller
  int32_t t;       // the triangle of a
  CniTriangle at;  // its corners, in b's frame
  CnVec3 lo, hi;   // its box, grown by what counts
  int32_t out[3];  // its edges are its own, and the solid stands out there
  int32_t ends[3]; // likewise its corners
  CnVec3 outward[3];
  CniTake take;
  void *context;
} Pair;

static double thinnest(const CniMesh *m) {
  CnVec3 d = cn_sub(m->hi, m->lo);
  double least = cn_min(d.x, cn_min(d.y, d.z)), most = cn_max(d.x, cn_max(d.y, d.z));
  return 0.5 * cn_max(least, 1e-3 * most);
}

// ---- corners of the solid ----

typedef struct Corner {
  CnVec3 outward;   // sum of the normals about it, by the sines of the angles
  CnVec3 along[2];  // of edges that stand out
  int32_t count;    // of those
  int32_t smallest; // triangle about it
} Corner;

static void look_at_edge(const CniMesh *m, int32_t t, int32_t k, CnVec3 way, Corner *corner) {
  CniMeshEdge bend = cni_mesh_edge(m, t, k);
  if (bend == CNI_EDGE_FLAT || (bend == CNI_EDGE_CONCAVE && !m->two_sided)) return;
  if (corner->count < 2) corner->along[corner->count] = cn_unit_or(way, cn_vec3(1, 0, 0));
  corner->count++;
}

static void look_about(const CniMesh *m, int32_t t, int32_t k, CnVec3 p, Corner *corner) {
  int32_t next = k < 2 ? k + 1 : 0, before = k > 0 ? k - 1 : 2;
  CnVec3 u = cn_sub(cni_mesh_at(m, cni_mesh_vertex(m, t, next)), p);
  CnVec3 v = cn_sub(cni_mesh_at(m, cni_mesh_vertex(m, t, before)), p);
  corner->outward = cn_madd(corner->outward, 1 / (cn_norm(u) * cn_norm(v)), cn_cross(u, v));
  if (t < corner->smallest) corner->smallest = t;
  look_at_edge(m, t, k, u, corner);
  if (cni_mesh_neighbour(m, t, before) < 0) look_at_edge(m, t, before, v, corner);
}

// Is corner k of a triangle its own, and does the solid stand out there?
static int is_corner(const CniMesh *m, int32_t t, int32_t k, CnVec3 *outward) {
  Corner corner = {.smallest = t};
  CnVec3 p = cni_mesh_at(m, cni_mesh_vertex(m, t, k));
  for (int32_t way = 0; way < 2; way++) {
    int32_t at = t;
    for (int32_t rounds = 0; rounds < 256 && at >= 0; rounds++) {
      int32_t c = cni_mesh_corner_at(m, at, p);
      if (c < 0) break;
      if (rounds > 0 || way == 0) look_about(m, at, c, p, &corner);
      if (corner.smallest < t) return 0;
      at = cni_mesh_neighbour(m, at, way ? c : c > 0 ? c - 1 : 2);
      if (at == t) way = 2; // all round
      if (at == t) break;
    }
  }
  *outward = corner.outward;
  if (corner.count == 0) return 0;
  return !(corner.count == 2 && cn_dot(corner.along[0], corner.along[1]) < -STRAIGHT);
}

// ---- handing out ----

// Names: a kind, and two things that meet.
static uint32_t name_of(uint32_t kind, int64_t of_a, int64_t of_b) {
  uint64_t x = ((uint64_t)of_a << 32 ^ (uint64_t)of_b) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
  return kind << 30 | (uint32_t)(x >> 34);
}

// p on the core of a and q on that of b.
static void give(const Pair *w, CnVec3 n, CnVec3 p, double height, uint32_t name) {
  CnMat3 r = cn_qmat(w->pose.rotation);
  double gap = height - w->round;
  CniManifold m = {.normal = cn_mmul(r, n), .count = 1};
  if (!w->swap) m.normal = cn_neg(m.normal);
  CnVec3 middle = cn_madd(p, w->b->radius - 0.5 * (height + w->round), n);
  m.points[0] = (CniPoint){cn_add(w->pose.position, cn_mmul(r, middle)), gap, name};
  w->take(w->context, &m);
}

// ---- corner on face ----

typedef struct Facing {
  const CniMesh *mesh;
  CnVec3 p, outward;
  double distance; // one that is looked at is nearer than this
  int found;
} Facing;

static void look_facing(void *context, int32_t t) {
  Facing *f = context;
  if (f->found) return;
  CniTriangle at = cni_mesh_triangle(f->mesh, t);
  if (!f->mesh->two_sided && cn_dot(cni_triangle_area(&at), f->outward) >= 0) return;
  CnVec3 d = cn_sub(f->p, cni_triangle_nearest(&at, f->p));
  f->found = cn_norm2(d) < f->distance * f->distance;
}

// Is another triangle that the place looks at nearer than so?
static int nearer_one(const CniMesh *m, CnVec3 p, CnVec3 outward, double distance) {
  Facing f = {m, p, outward, distance * (1 - 1e-6), 0};
  CnVec3 by = {f.distance, f.distance, f.distance};
  cni_mesh_query(m, cn_sub(p, by), cn_add(p, by), look_facing, &f);
  return f.found;
}

// A place over a triangle of a mesh, which looks into the direction `outward`: its height, or INFINITY.
static double height_over(const CniMesh *m, int32_t t, CnVec3 p, CnVec3 outward, double most,
                          double size, CnVec3 *normal) {
  CnVec3 point;
  CniMeshOver over = {m, size, most, cni_mesh_plane(m, t, &point), 0};
  double faces = cn_dot(over.normal, outward);
  over.turned = m->two_sided && faces > 0;
  if (over.turned) over.normal = cn_neg(over.normal);
  if (faces == 0 || (faces > 0 && !over.turned)) return INFINITY;
  double height = cn_dot(over.normal, cn_sub(p, point));
  if (!(height <= most) || (!m->closed && height < -(most + DEEP * size))) return INFINITY;
  CniTriangle at = cni_mesh_triangle(m, t);
  if (!cni_mesh_is_over(&over, t, &at, p)) return INFINITY;
  if (height < 0 && nearer_one(m, p, outward, -height)) return INFINITY;
  *normal = over.normal;
  return height;
}

static int out_of_reach(const Pair *w, CnVec3 p, CnVec3 q) {
  return cn_min(p.x, q.x) > w->hi.x || cn_max(p.x, q.x) < w->lo.x || cn_min(p.y, q.y) > w->hi.y ||
         cn_max(p.y, q.y) < w->lo.y || cn_min(p.z, q.z) > w->hi.z || cn_max(p.z, q.z) < w->lo.z;
}

static void touch_faces(const Pair *w, int32_t u) {
  const double most = w->margin + w->round;
  CnVec3 n;
  for (int32_t k = 0; k < 3; k++) {
    if (!w->ends[k]) continue;
    double height = height_over(w->b, u, w->at.at[k], w->outward[k], most, w->size[0], &n);
    if (height < INFINITY)
      give(w, n, w->at.at[k], height,
           name_of(0, cni_mesh_vertex(w->a, w->t, k), cni_mesh_seed(w->b, u)));
  }
  for (int32_t k = 0; k < 3; k++) {
    CnVec3 outward, q = cni_mesh_at(w->b, cni_mesh_vertex(w->b, u, k));
    CnVec3 own = cn_mtmul(w->turn, cn_sub(q, w->seen.position)), point;
    // cheap questions first
    if (out_of_reach(w, q, q)) continue;
    CnVec3 plane = cni_mesh_plane(w->a, w->t, &point);
    if (!(cn_dot(plane, cn_sub(own, point)) <= most)) continue;
    if (!is_corner(w->b, u, k, &outward)) continue;
    outward = cn_mtmul(w->turn, outward);
    double height = height_over(w->a, w->t, own, outward, most, w->size[1], &n);
    if (!(height < INFINITY)) continue;
    // seen from b: out of a becomes into b
    CnVec3 m = cn_neg(cn_mmul(w->turn, n));
    give(w, m, cn_madd(q, height, m), height,
         name_of(1, cni_mesh_seed(w->a, w->t), cni_mesh_vertex(w->b, u, k)));
  }
}

// ---- edge and edge ----

typedef struct Edges {
  int32_t ka, u, kb;
  CnVec3 a0, a1, b0, b1; // ends
  double s, t;           // shares of the nearest points
  CnVec3 p, q;           // the nearest points
} Edges;

// The nearest points of two segments.
static void nearest_points(Edges *e) {
  CnVec3 d = cn_sub(e->a1, e->a0), f = cn_sub(e->b1, e->b0), r = cn_sub(e->a0, e->b0);
  double dd = cn_norm2(d), ff = cn_norm2(f), df = cn_dot(d, f), dr = cn_dot(d, r);
  double fr = cn_dot(f, r), det = dd * ff - df * df;
  e->s = det > PARALLEL * PARALLEL * dd * ff ? cn_clamp((df * fr - dr * ff) / det, 0, 1) : 0.5;
  e->t = (df * e->s + fr) / ff;
  if (e->t < 0 || e->t > 1) {
    e->t = cn_clamp(e->t, 0, 1);
    e->s = cn_clamp((df * e->t - dr) / dd, 0, 1);
  }
  e->p = e->s == 1 ? e->a1 : cn_madd(e->a0, e->s, d);
  e->q = e->t == 1 ? e->b1 : cn_madd(e->b0, e->t, f);
}

static int inside_of(double share) { return share > INSIDE && share < 1 - INSIDE; }

// Of the faces at an edge the one whose normal is nearest to n, as a sine; that normal.
static double near_face(const CniMesh *m, int32_t t, int32_t k, CnVec3 n, CnVec3 *normal) {
  double best = INFINITY;
  int32_t beyond = cni_mesh_neighbour(m, t, k);
  for (int32_t i = 0; i < 2; i++) {
    CnVec3 point, f;
    if (i && beyond < 0) break;
    f = cni_mesh_plane(m, i ? beyond : t, &point);
    if (m->two_sided && cn_dot(f, n) < 0) f = cn_neg(f);
    double off = cn_dot(f, n) > 0 ? cn_norm(cn_cross(f, n)) : INFINITY;
    if (off < best) best = off, *normal = f;
  }
  return best;
}

// Does a normal out of the mesh belong to the place at share s of edge k?
static int belongs(const CniMesh *m, CnVec3 n, double slack, int32_t t, int32_t k, double s,
                   CnVec3 place) {
  if (inside_of(s)) return cni_mesh_wedge_holds(m, n, slack, t, k, place);
  int32_t corner = s < 0.5 ? k : k < 2 ? k + 1 : 0;
  return cni_mesh_cone_holds(m, n, slack, t, k, cni_mesh_at(m, cni_mesh_vertex(m, t, corner)));
}

typedef struct Nearest {
  const CniMesh *mesh;
  CnVec3 p;
  double best, height; // its distance, and how far it is over that triangle
} Nearest;

static void look_nearer(void *context, int32_t t) {
  Nearest *near = context;
  CniTriangle at = cni_mesh_triangle(near->mesh, t);
  CnVec3 d = cn_sub(near->p, cni_triangle_nearest(&at, near->p));
  double distance = cn_norm(d);
  if (distance > near->best * (1 + INSIDE)) return;
  CnVec3 n = cn_unit_or(cni_triangle_area(&at), cn_vec3(0, 0, 1));
  double height = cn_dot(n, cn_sub(near->p, at.at[0]));
  // of two that meet in the nearest point the one that is seen more from above knows the side
  int nearer = distance < near->best * (1 - INSIDE);
  if (!nearer && !(fabs(height) > fabs(near->height))) return;
  near->best = cn_min(distance, near->best);
  near->height = height;
}

// Is a place inside, if the surface is not farther away than so?
static int is_within(const CniMesh *m, CnVec3 p, double distance) {
  double by = distance * (1 + 1e-6);
  Nearest near = {m, p, by, 0};
  cni_mesh_query(m, cn_sub(p, cn_vec3(by, by, by)), cn_add(p, cn_vec3(by, by, by)), look_nearer,
                 &near);
  return near.height <= ON_IT * distance;
}

// Where the edges cross: the normal, and how far a's is over b's.
static int crossing(const Pair *w, const Edges *e, CnVec3 *normal, double *height,
                    double slack[2]) {
  CnVec3 n = cn_cross(cn_sub(e->a1, e->a0), cn_sub(e->b1, e->b0)), f, point, outward;
  double length = cn_norm(n);
  int32_t beyond = cni_mesh_neighbour(w->b, e->u, e->kb);
  if (!(length > PARALLEL * cn_norm(cn_sub(e->a1, e->a0)) * cn_norm(cn_sub(e->b1, e->b0))))
    return 0;
  outward = cni_mesh_plane(w->b, e->u, &point);
  if (beyond >= 0) outward = cn_add(outward, cni_mesh_plane(w->b, beyond, &point));
  n = cn_scale((w->b->two_sided ? cn_dot(n, cn_sub(e->p, e->q)) : cn_dot(n, outward)) < 0
                   ? -1 / length
                   : 1 / length,
               n);
  *height = cn_dot(n, cn_sub(e->p, e->q));
  // flat on an edge: the normal of the flat side
  double of_b = near_face(w->b, e->u, e->kb, n, &f);
  CnVec3 own, back = cn_mtmul(w->turn, cn_neg(n));
  double of_a = near_face(w->a, w->t, e->ka, back, &own);
  if (of_a < CNI_MESH_TILT && of_a <= of_b) {
    n = cn_neg(cn_mmul(w->turn, own));
    slack[1] = CNI_MESH_TILT;
  } else if (of_b < CNI_MESH_TILT) {
    n = f;
    slack[0] = CNI_MESH_TILT;
  }
  *normal = n;
  return 1;
}

static uint32_t name_of_edges(const Pair *w, const Edges *e) {
  int64_t of_a = 3 * (int64_t)w->t + e->ka, of_b = 3 * (int64_t)e->u + e->kb;
  const int64_t end = (int64_t)1 << 31;
  if (!inside_of(e->s)) of_a = end | cni_mesh_vertex(w->a, w->t, (e->ka + (e->s > 0.5)) % 3);
  if (!inside_of(e->t)) of_b = end | cni_mesh_vertex(w->b, e->u, (e->kb + (e->t > 0.5)) % 3);
  return name_of(2, of_a, of_b);
}

static void touch_edges(const Pair *w, Edges *e) {
  const double most = w->margin + w->round;
  nearest_points(e);
  CnVec3 d = cn_sub(e->p, e->q), n;
  double distance = cn_norm(d), height = distance, slack[2] = {CNI_MESH_WITHIN, CNI_MESH_WITHIN};
  if (!(distance <= cn_max(most, w->deep))) return;
  int cross = inside_of(e->s) && inside_of(e->t) && crossing(w, e, &n, &height, slack);
  if (!cross && !(distance > CNI_NO_DIRECTION)) return;
  if (!cross) n = cn_scale(1 / distance, d);
  if (!(height <= most && height >= -w->deep)) return;
  if (!belongs(w->b, n, slack[1], e->u, e->kb, e->t, e->q)) return;
  CnVec3 own = cn_mtmul(w->turn, cn_sub(e->p, w->seen.position));
  if (!belongs(w->a, cn_mtmul(w->turn, cn_neg(n)), slack[0], w->t, e->ka, e->s, own)) return;
  if (height < 0) {
    CnVec3 in_a = cn_mtmul(w->turn, cn_sub(e->q, w->seen.position));
    if (!is_within(w->b, e->p, distance) || !is_within(w->a, in_a, distance)) return;
  }
  give(w, n, e->p, height, name_of_edges(w, e));
}

// Does the mesh stand out at an edge that is the triangle's own?
static int stands_out(const CniMesh *m, int32_t t, int32_t k) {
  CniMeshEdge bend = cni_mesh_edge(m, t, k);
  int32_t beyond = cni_mesh_neighbour(m, t, k);
  if (bend == CNI_EDGE_FLAT || (bend == CNI_EDGE_CONCAVE && !m->two_sided)) return 0;
  return beyond < 0 || beyond > t;
}

// ---- triangles ----

static void touch_triangles(void *context, int32_t u) {
  Pair *w = context;
  touch_faces(w, u);
  if (!w->out[0] && !w->out[1] && !w->out[2]) return;
  CniTriangle other = cni_mesh_triangle(w->b, u);
  for (int32_t kb = 0; kb < 3; kb++) {
    Edges e = {.u = u, .kb = kb};
    e.b0 = other.at[kb];
    e.b1 = other.at[kb < 2 ? kb + 1 : 0];
    if (out_of_reach(w, e.b0, e.b1) || !stands_out(w->b, u, kb)) continue;
    for (e.ka = 0; e.ka < 3; e.ka++) {
      if (!w->out[e.ka]) continue;
      e.a0 = w->at.at[e.ka];
      e.a1 = w->at.at[e.ka < 2 ? e.ka + 1 : 0];
      touch_edges(w, &e);
    }
  }
}

// How far behind the surface corners may be: the boxes of triangles are grown by that, too.
static double reach_of(const Pair *w) { return cn_max(w->margin + w->round, w->deep); }

static void look_at(void *context, int32_t t) {
  Pair *w = context;
  w->t = t;
  CniTriangle own = cni_mesh_triangle(w->a, t);
  CnVec3 lo, hi;
  for (int32_t k = 0; k < 3; k++) {
    CnVec3 p = cn_add(w->seen.position, cn_mmul(w->turn, own.at[k]));
    w->at.at[k] = p;
    lo = k ? cn_vec3(cn_min(lo.x, p.x), cn_min(lo.y, p.y), cn_min(lo.z, p.z)) : p;
    hi = k ? cn_vec3(cn_max(hi.x, p.x), cn_max(hi.y, p.y), cn_max(hi.z, p.z)) : p;
  }
  double by = reach_of(w);
  lo = cn_sub(lo, cn_vec3(by, by, by));
  hi = cn_add(hi, cn_vec3(by, by, by));
  if (!cni_mesh_any(w->b, lo, hi)) return;
  w->lo = lo;
  w->hi = hi;
  for (int32_t k = 0; k < 3; k++) {
    w->out[k] = stands_out(w->a, t, k);
    w->ends[k] = is_corner(w->a, t, k, &w->outward[k]);
    w->outward[k] = cn_mmul(w->turn, w->outward[k]);
  }
  cni_mesh_query(w->b, lo, hi, touch_triangles, w);
}

// A box of a's tree, as b sees it.
static int enter(void *context, CnVec3 lo, CnVec3 hi) {
  const Pair *w = context;
  CnVec3 half = cn_scale(0.5, cn_sub(hi, lo));
  CnVec3 middle = cn_add(w->seen.position, cn_mmul(w->turn, cn_scale(0.5, cn_add(lo, hi))));
  CnMat3 r = w->turn;
  double by = reach_of(w) + 1e-12 * (cn_norm(middle) + cn_norm(half));
  CnVec3 grown = {fabs(r.x.x) * half.x + fabs(r.y.x) * half.y + fabs(r.z.x) * half.z + by,
                  fabs(r.x.y) * half.x + fabs(r.y.y) * half.y + fabs(r.z.y) * half.z + by,
                  fabs(r.x.z) * half.x + fabs(r.y.z) * half.y + fabs(r.z.z) * half.z + by};
  return cni_mesh_any(w->b, cn_sub(middle, grown), cn_add(middle, grown));
}

void cni_collide_meshes(const CniPlaced *first, const CniPlaced *second, double margin,
                        CniTake take, void *context) {
  // the smaller one is walked over; a height field never is
  int32_t swap =
      first->mesh->heights ||
      (!second->mesh->heights && second->mesh->triangle_count < first->mesh->triangle_count);
  const CniPlaced *a = swap ? second : first, *b = swap ? first : second;
  if (a->mesh->heights) return;
  Pair w = {.a = a->mesh,
            .b = b->mesh,
            .pose = b->pose,
            .seen = cn_pose_mul(cn_pose_inverse(b->pose), a->pose),
            .margin = margin,
            .round = a->mesh->radius + b->mesh->radius,
            .size = {thinnest(a->mesh), thinnest(b->mesh)},
            .swap = swap,
            .take = take,
            .context = context};
  w.turn = cn_qmat(w.seen.rotation);
  // what is open has no inside, and is as thin as the other is
  double least = b->mesh->closed ? cn_min(w.size[0], w.size[1]) : w.size[0];
  if (!b->mesh->closed) w.size[1] = w.size[0];
  w.deep = DEEP * least;
  cni_mesh_walk(a->mesh, enter, look_at, &w);
}

// ---- the nearest places ----

static void take_deepest(void *context, const CniManifold *m) {
  CniPlaces *best = context;
  const CniPoint *p = &m->points[0];
  if (!(p->gap < best->gap)) return;
  *best = (CniPlaces){p->gap, m->normal, cn_madd(p->point, -0.5 * p->gap, m->normal),
                      cn_madd(p->point, 0.5 * p->gap, m->normal)};
}

CniPlaces cni_places_meshes(const CniPlaced *a, const CniPlaced *b) {
  CniPlaces best = {.gap = INFINITY, .normal = {0, 0, 1}};
  const CniMesh *m = a->mesh, *o = b->mesh;
  CnVec3 between = cn_sub(cn_pose_point(a->pose, m->origin), cn_pose_point(b->pose, o->origin));
  double sizes =
      cn_norm(cn_sub(m->hi, m->lo)) + cn_norm(cn_sub(o->hi, o->lo)) + m->radius + o->radius;
  double far = cn_norm(between) + sizes, by = 1e-2 * cn_min(thinnest(m), thinnest(o));
  // what is nearer than the margin is found, whatever else there is
  for (; !(best.gap < INFINITY); by *= 4) {
    cni_collide_meshes(a, b, cn_min(by, far), take_deepest, &best);
    if (by >= far) break;
  }
  return best;
}
