// SPDX-License-Identifier: Apache-2.0
// A mesh on a half-space: its lowest vertex, and of those near the plane the ones that reach farthest in
// seven directions along it, a heptagon about all of them.
#include "core/math.h"
#include "geometry/geometry_private.h"

#define WAYS (CNI_MAX_POINTS - 1)

// The best vertex of each kind so far.
typedef struct Lowest {
  const CniMesh *mesh;
  CnVec3 up; // of the half-space, in the mesh's frame
  double height, margin;
  CnVec3 ways[WAYS];
  int32_t vertex[CNI_MAX_POINTS]; // -1: none; the lowest is the last
  double best[CNI_MAX_POINTS];
} Lowest;

static void offer(Lowest *low, int32_t i, int32_t vertex, double value) {
  if (value < low->best[i] || (value == low->best[i] && vertex > low->vertex[i])) return;
  low->best[i] = value;
  low->vertex[i] = vertex;
}

static void look(void *context, int32_t t) {
  Lowest *low = context;
  for (int32_t k = 0; k < 3; k++) {
    int32_t v = cni_mesh_vertex(low->mesh, t, k);
    CnVec3 p = cni_mesh_at(low->mesh, v);
    double gap = cn_dot(low->up, p) - low->height;
    if (!(gap <= low->margin)) continue;
    for (int32_t i = 0; i < WAYS; i++) offer(low, i, v, cn_dot(low->ways[i], p));
    offer(low, WAYS, v, -gap);
  }
}

// The box of the part of the mesh's box that is below a height.
static void cut_box(const CniMesh *m, CnVec3 up, double height, CnVec3 *lo, CnVec3 *hi) {
  double l[3] = {m->lo.x, m->lo.y, m->lo.z}, h[3] = {m->hi.x, m->hi.y, m->hi.z};
  const double n[3] = {up.x, up.y, up.z};
  double least = 0;
  for (int32_t k = 0; k < 3; k++) least += n[k] * (n[k] > 0 ? l[k] : h[k]);
  for (int32_t k = 0; k < 3; k++) {
    double own = n[k] * (n[k] > 0 ? l[k] : h[k]);
    double bound = height - (least - own); // n x <= bound
    double slack = 1e-9 * (fabs(l[k]) + fabs(h[k]) + fabs(height));
    if (n[k] > 1e-9) h[k] = cn_min(h[k], bound / n[k] + slack);
    if (n[k] < -1e-9) l[k] = cn_max(l[k], bound / n[k] - slack);
  }
  *lo = cn_vec3(l[0], l[1], l[2]);
  *hi = cn_vec3(h[0], h[1], h[2]);
}

void cni_collide_mesh_plane(const CniPlaced *a, const CniPlaced *b, double margin,
                            CniManifold *manifold) {
  const CniMesh *m = a->mesh;
  CnVec3 up = cn_qmat(b->pose.rotation).z, t1, t2, lo, hi;
  Lowest low = {.mesh = m, .up = cn_unrotate(a->pose.rotation, up)};
  double base = cn_dot(up, cn_sub(a->pose.position, b->pose.position)) - m->radius;
  low.height = -base;
  low.margin = margin;
  cni_tangents(low.up, &t1, &t2);
  for (int32_t i = 0; i < CNI_MAX_POINTS; i++) {
    double angle = 2 * CNI_PI * i / WAYS + 0.1;
    if (i < WAYS) low.ways[i] = cn_madd(cn_scale(cni_cos(angle), t1), cni_sin(angle), t2);
    low.vertex[i] = -1;
    low.best[i] = -INFINITY;
  }
  cut_box(m, low.up, low.height + margin, &lo, &hi);
  cni_mesh_query(m, lo, hi, look, &low);
  manifold->normal = cn_neg(up);
  for (int32_t i = 0; i < CNI_MAX_POINTS; i++) {
    int32_t v = low.vertex[i], known = v < 0;
    for (int32_t j = 0; j < i; j++) known |= low.vertex[j] == v;
    if (known) continue;
    CnVec3 arm = cn_rotate(a->pose.rotation, cni_mesh_at(m, v));
    double gap = base + cn_dot(up, arm);
    CnVec3 point = cn_madd(cn_add(a->pose.position, arm), -(m->radius + 0.5 * gap), up);
    uint32_t name = cni_feature((uint32_t)v & 0x3ffu, CNI_FEATURE_FACE);
    cni_manifold_add(manifold, point, gap, cni_feature_of_part((uint32_t)v >> 10 & 0xfffu, name));
  }
}

CniPlaces cni_places_mesh_plane(const CniPlaced *a, const CniPlaced *b) {
  const CniMesh *m = a->mesh;
  CnVec3 up = cn_qmat(b->pose.rotation).z, own = cn_unrotate(a->pose.rotation, up);
  CnVec3 low = {0, 0, 0};
  double least = INFINITY;
  for (int32_t t = 0; t < m->triangle_count; t++)
    for (int32_t k = 0; k < 3 && cni_mesh_is_there(m, t); k++) {
      CnVec3 v = cni_mesh_at(m, cni_mesh_vertex(m, t, k));
      if (cn_dot(own, v) < least) least = cn_dot(own, v), low = v;
    }
  CnVec3 p = cn_madd(cn_pose_point(a->pose, low), -m->radius, up);
  double gap = cn_dot(up, cn_sub(p, b->pose.position));
  return (CniPlaces){gap, cn_neg(up), p, cn_madd(p, -gap, up)};
}
