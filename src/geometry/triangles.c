// SPDX-License-Identifier: Apache-2.0
// A shape as triangles, for whoever shows it. Faces of polyhedra are as they are; anything else is made
// from the support function, so that a new kind needs nothing here.
//
// Directions on a globe, rings of constant latitude about z, go to the surface points whose normals
// they are. The equator is there twice, from just above and from just below: the side of what is
// long along z lies between. So are the poles, for flat ends.
#include "core/math.h"
#include "geometry/geometry.h"

#define EQUATOR 1e-6

static void hull_faces(const CniHull *h, const CniMeshTaker *take) {
  for (int32_t f = 0; f < h->face_count; f++)
    for (int32_t k = 0; k < h->faces[f].count; k++)
      take->corner(take->context, h->vertices[h->corners[h->faces[f].first + k].vertex],
                   h->faces[f].normal);
  for (int32_t f = 0; f < h->face_count; f++)
    for (int32_t k = 1; k + 1 < h->faces[f].count; k++) {
      int32_t first = h->faces[f].first;
      take->triangle(take->context, (int32_t[]){first, first + k, first + k + 1});
    }
}

static void box_faces(const CniPlaced *box, const CniMeshTaker *take) {
  CniFace face;
  for (int32_t i = 0; i < 6; i++) {
    double s = i % 2 ? -1 : 1;
    CnVec3 n = {i / 2 == 0 ? s : 0, i / 2 == 1 ? s : 0, i / 2 == 2 ? s : 0};
    cni_shape_kinds[box->kind]->face(box, n, &face);
    for (int32_t k = 0; k < 4; k++) take->corner(take->context, face.points[k], n);
  }
  for (int32_t i = 0; i < 24; i += 4) {
    take->triangle(take->context, (int32_t[]){i, i + 1, i + 2});
    take->triangle(take->context, (int32_t[]){i, i + 2, i + 3});
  }
}

static void square(double half, const CniMeshTaker *take) {
  static const double sides[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  for (int32_t k = 0; k < 4; k++)
    take->corner(take->context, cn_vec3(half * sides[k][0], half * sides[k][1], 0),
                 cn_vec3(0, 0, 1));
  take->triangle(take->context, (int32_t[]){0, 1, 2});
  take->triangle(take->context, (int32_t[]){0, 2, 3});
}

static void globe(const CniPlaced *shape, int32_t quarter, const CniMeshTaker *take) {
  const CniShapeKind *kind = cni_shape_kinds[shape->kind];
  int32_t half = quarter + 2, rings = 2 * half, around = 4 * quarter;
  double round = kind->rounding(shape);
  for (int32_t i = 0; i < rings; i++) {
    int32_t below = i >= half, step = below ? i - half : half - 1 - i;
    double latitude = cn_max(step * CNI_PI / 2 / quarter, EQUATOR);
    if (step == quarter) latitude = CNI_PI / 2 - EQUATOR;
    if (step > quarter) latitude = CNI_PI / 2;
    if (below) latitude = -latitude;
    for (int32_t j = 0; j < around; j++) {
      double longitude = (j + 0.5) * CNI_PI / 2 / quarter, flat = cni_cos(latitude);
      CnVec3 n = {flat * cni_cos(longitude), flat * cni_sin(longitude), cni_sin(latitude)};
      uint32_t corner;
      take->corner(take->context, cn_madd(kind->support(shape, n, &corner), round, n), n);
    }
  }
  for (int32_t i = 0; i + 1 < rings; i++)
    for (int32_t j = 0; j < around; j++) {
      int32_t p = i * around + j, q = i * around + (j + 1) % around;
      take->triangle(take->context, (int32_t[]){p, p + around, q});
      take->triangle(take->context, (int32_t[]){q, p + around, q + around});
    }
}

// As it is, every triangle with the normal of its own.
static void surface(const CniMesh *m, const CniMeshTaker *take) {
  int32_t count = 0;
  for (int32_t t = 0; t < m->triangle_count; t++) {
    if (!cni_mesh_is_there(m, t)) continue;
    CniTriangle at = cni_mesh_triangle(m, t);
    CnVec3 n = cn_unit_or(cni_triangle_area(&at), cn_vec3(0, 0, 1));
    for (int32_t k = 0; k < 3; k++) take->corner(take->context, at.at[k], n);
    count++;
  }
  for (int32_t t = 0; t < count; t++)
    take->triangle(take->context, (int32_t[]){3 * t, 3 * t + 1, 3 * t + 2});
}

// Every vertex once; what a hole of a height field has instead of one is in no triangle.
static void shared_surface(const CniMesh *m, const CniMeshTaker *take) {
  for (int32_t v = 0; v < m->vertex_count; v++) {
    CnVec3 at = cni_mesh_at(m, v);
    if (!isfinite(at.z)) at.z = m->lo.z;
    take->corner(take->context, at, cn_vec3(0, 0, 1));
  }
  for (int32_t t = 0; t < m->triangle_count; t++) {
    int32_t corner[3];
    for (int32_t k = 0; k < 3; k++) corner[k] = cni_mesh_vertex(m, t, k);
    if (cni_mesh_is_there(m, t)) take->triangle(take->context, corner);
  }
}

void cni_shape_triangles(const CniPlaced *shape, int32_t quarter, double far,
                         const CniMeshTaker *take) {
  if (cni_shape_unbounded(shape->kind)) {
    square(far, take);
    return;
  }
  if (shape->mesh) {
    (take->shared ? shared_surface : surface)(shape->mesh, take);
    return;
  }
  int sharp = cni_shape_kinds[shape->kind]->rounding(shape) == 0;
  if (shape->hull && sharp)
    hull_faces(shape->hull, take);
  else if (shape->kind == CN_SHAPE_BOX && sharp)
    box_faces(shape, take);
  else
    globe(shape, quarter, take);
}
