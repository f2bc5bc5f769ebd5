// SPDX-License-Identifier: Apache-2.0
// A convex shape far inside a mesh, as most bodies in a hopper: once a cube about it was seen to hold no
// triangle, there is nothing to look for while the ball about the shape, grown by the margin, stays in it.
//
// The cube is kept in the hint of the pair, in the frame of the mesh: its middle, half its side (as the bits
// of a float) and, where there was none, how many calls are to pass before the next try. What it says is
// true as long as the mesh is the same; so hints of meshes go with any change of shapes and geometries
// (axes.c). A triangle that the query of mesh_touch.c would find meets the ball's own cube: with the hint and
// without it the answer is the same.
#include <string.h>

#include "geometry/geometry_private.h"
#include "geometry/mesh.h"

#define SKIN 0.25       // of the ball
#define ROUND_OFF 1e-12 // of the coordinates
#define WAIT 12         // calls

static double sum_of(CnVec3 a) { return fabs(a.x) + fabs(a.y) + fabs(a.z); }

// Is a ball inside the cube of a hint?
static int is_inside(const CniHint *hint, CnVec3 c, double r) {
  float half;
  memcpy(&half, &hint->parts[0], sizeof half);
  return fabs(c.x - (double)hint->x) + r <= (double)half &&
         fabs(c.y - (double)hint->y) + r <= (double)half &&
         fabs(c.z - (double)hint->z) + r <= (double)half;
}

int cni_mesh_clear(const CniPlaced *shape, const CniPlaced *mesh, double margin, CniHint *hint) {
  CnVec3 c = cn_pose_local(mesh->pose, shape->pose.position);
  double far = sum_of(c) + sum_of(shape->pose.position) + sum_of(mesh->pose.position);
  double r = cni_shape_outradius(shape) + margin + mesh->mesh->radius + ROUND_OFF * far;
  if (is_inside(hint, c, r)) return 1;
  uint32_t wait = hint->parts[1];
  *hint = (CniHint){0, 0, 0, {0, wait > 0 ? wait - 1 : WAIT}};
  if (wait > 0) return 0;
  CniHint found = {(float)c.x, (float)c.y, (float)c.z, {0, 0}};
  float half = (float)((1 + SKIN) * r);
  CnVec3 m = {(double)found.x, (double)found.y, (double)found.z};
  CnVec3 by = {(double)half, (double)half, (double)half};
  if (cni_mesh_any(mesh->mesh, cn_sub(m, by), cn_add(m, by))) return 0;
  memcpy(&found.parts[0], &half, sizeof half);
  *hint = found;
  return is_inside(hint, c, r);
}
