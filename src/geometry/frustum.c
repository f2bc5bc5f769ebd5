// SPDX-License-Identifier: Apache-2.0
// A body turned about z between two flat ends: the core of cones and cylinders.
//
// Nothing here is a polygon that was fixed beforehand. A direction in which the body is asked makes
// an angle about z, and every side is drawn from that angle on: the line of the wall that lies there,
// with both its ends, or the end as a ring of 32 corners of which the first is the lowest point of
// the rim. So what rolls on its wall or on its rim rolls on the true curve; the ring serves for the
// area of an end that lies flat, of which it misses 0.5 % of the radius. Names count from that angle
// too, and stay while the body rolls.
//
// Within 1e-7 rad of upright the angle is noise: the ring then begins at x.
#include "geometry/frustum.h"

#define RING CNI_FACE_POINTS
#define UPRIGHT 1e-7
#define AXIS 1e-12 // below this slope a direction is along z, and the middle of the end is as good
// Names: corners of the upper and of the lower ring, their edges, the line of the wall.
#define LOWER 32u
#define EDGES 64u
#define WALL 128u

CnVec3 cni_frustum_support(CniFrustum f, CnVec3 d, uint32_t *corner) {
  double across = sqrt(d.x * d.x + d.y * d.y);
  int up = f.high * across + f.half * d.z > f.low * across - f.half * d.z;
  double r = up ? f.high : f.low, z = up ? f.half : -f.half;
  *corner = up ? 0 : LOWER;
  if (!(across > AXIS * fabs(d.z))) return cn_vec3(0, 0, z);
  return cn_vec3(r * (d.x / across), r * (d.y / across), z);
}

// A point of the rim goes round it.
CnVec3 cni_frustum_bend(CniFrustum f, uint32_t corner, CnVec3 d, CnSym3 *by) {
  int up = corner < LOWER;
  double across = sqrt(d.x * d.x + d.y * d.y), r = up ? f.high : f.low, z = up ? f.half : -f.half;
  *by = (CnSym3){0, 0, 0, 0, 0, 0};
  if (!(across > AXIS * fabs(d.z))) return cn_vec3(0, 0, z);
  double x = d.x / across, y = d.y / across, bend = r / across;
  by->xx = bend * y * y;
  by->yy = bend * x * x;
  by->xy = -bend * x * y;
  return cn_vec3(r * x, r * y, z);
}

// An end, corner after corner seen from outside.
static void ring(CniFrustum f, int up, double x, double y, CniFace *face) {
  const double c = 0.98078528040323044913, s = 0.19509032201612826785; // of 1/32 of a turn
  double r = up ? f.high : f.low;
  face->count = RING;
  face->normal = cn_vec3(0, 0, up ? 1 : -1);
  for (uint32_t i = 0; i < RING; i++) {
    face->points[i] = cn_vec3(r * x, r * y, up ? f.half : -f.half);
    face->corner[i] = (up ? 0 : LOWER) + i;
    face->edge[i] = EDGES + (up ? 0 : LOWER) + i;
    double turned = up ? c * x - s * y : c * x + s * y;
    y = up ? s * x + c * y : c * y - s * x;
    x = turned;
  }
}

// Of both ends, unless they are points, and the wall the one whose normal is nearest.
void cni_frustum_face(CniFrustum f, CnVec3 d, CniFace *face) {
  double across = sqrt(d.x * d.x + d.y * d.y), x = 1, y = 0;
  if (across > UPRIGHT * fabs(d.z)) x = d.x / across, y = d.y / across;
  double fall = f.low - f.high, wall = sqrt(fall * fall + 4 * f.half * f.half);
  double out = (2 * f.half * across + fall * d.z) / wall;
  if (f.high > 0 && d.z > out) {
    ring(f, 1, x, y, face);
  } else if (f.low > 0 && -d.z > out) {
    ring(f, 0, x, y, face);
  } else {
    face->count = 2;
    face->points[0] = cn_vec3(f.low * x, f.low * y, -f.half);
    face->points[1] = cn_vec3(f.high * x, f.high * y, f.half);
    face->corner[0] = LOWER;
    face->corner[1] = 0;
    face->edge[0] = face->edge[1] = WALL;
  }
}

double cni_frustum_outradius(CniFrustum f) {
  double r = cn_max(f.low, f.high);
  return sqrt(r * r + f.half * f.half);
}

double cni_frustum_inradius(CniFrustum f) {
  double fall = f.low - f.high, wall = sqrt(fall * fall + 4 * f.half * f.half);
  return cn_min(f.half, (f.low + f.high) * f.half / wall);
}
