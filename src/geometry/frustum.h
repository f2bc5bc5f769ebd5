// SPDX-License-Identifier: Apache-2.0
// Private to geometry: what is turned about z between two flat ends, the cone and the cylinder.
#ifndef CNI_GEOMETRY_FRUSTUM_H
#define CNI_GEOMETRY_FRUSTUM_H

#include "geometry/geometry_private.h"

// Radii at z = -half and z = half.
typedef struct CniFrustum {
  double low, high, half;
} CniFrustum;

CnVec3 cni_frustum_support(CniFrustum f, CnVec3 direction, uint32_t *corner);
CnVec3 cni_frustum_bend(CniFrustum f, uint32_t corner, CnVec3 direction, CnSym3 *by);
void cni_frustum_face(CniFrustum f, CnVec3 direction, CniFace *face);
// Of the ball about the origin that holds it, and of the one that it holds.
double cni_frustum_outradius(CniFrustum f);
double cni_frustum_inradius(CniFrustum f);

#endif
