// SPDX-License-Identifier: Apache-2.0
// What belongs to groups and sphere blocks but is rarely their own: inertia that is not isotropic,
// old velocities, lengths of rotational rows. In a pile of a million spheres none of these takes
// any memory; the first one that does not follow from the rest makes room for all.
#include "problem/problem.h"

#include "core/vec.h"

#include <string.h>

// What the inverse mass leaves free.
static CniMassKind mass_kind(double inv_mass, const CnSym3 *j) {
  if (!(inv_mass > 0)) return CNI_MASS_NONE;
  int isotropic = j->xx == j->yy && j->yy == j->zz && j->xy == 0 && j->xz == 0 && j->yz == 0;
  return isotropic ? CNI_MASS_ISOTROPIC : CNI_MASS_FULL;
}

// ---- inertia ----

CnStatus cni_group_set_inertia(CnProblem *p, int32_t group, const CnSym3 *inv_inertia) {
  CniGroup *to = &p->groups[group];
  if (mass_kind(to->inv_mass, inv_inertia) != CNI_MASS_FULL) {
    to->inv_inertia = inv_inertia->xx;
    return CN_OK;
  }
  // groups after the last one of full inertia may be more than there is room for
  int32_t kept = p->group_count < p->inertia_capacity ? p->group_count : p->inertia_capacity;
  if (!p->full_inertias) kept = 0;
  int32_t needed = group < p->group_count ? p->group_count : group + 1;
  CNI_TRY(CNI_RESERVE(&p->allocator, p->inertias, p->inertia_capacity, kept, needed));
  p->full_inertias = 1;
  p->inertias[group] = *inv_inertia;
  to->inv_inertia = CNI_INERTIA_FULL;
  return CN_OK;
}

// ---- old velocities ----

CnTwist cni_group_old(const CnProblem *p, int32_t group) {
  if (p->own_olds) return p->olds[group];
  CnTwist free = cni_group_free(&p->groups[group]);
  if (!(p->groups[group].inv_mass > 0)) return free;
  return (CnTwist){cn_sub(free.velocity, p->change.velocity), cn_sub(free.spin, p->change.spin)};
}

CnStatus cni_group_set_old(CnProblem *p, int32_t group, const CnTwist *old) {
  if (!p->own_olds) {
    CnTwist follows = cni_group_old(p, group);
    if (memcmp(&follows, old, sizeof follows) == 0) return CN_OK;
  }
  int32_t kept = p->own_olds ? p->group_count : 0;
  int32_t needed = group < p->group_count ? p->group_count : group + 1;
  CNI_TRY(CNI_RESERVE(&p->allocator, p->olds, p->old_capacity, kept, needed));
  for (int32_t i = 0; !p->own_olds && i < p->group_count; i++) p->olds[i] = cni_group_old(p, i);
  p->own_olds = 1;
  p->olds[group] = *old;
  return CN_OK;
}

// ---- lengths ----

static double nearer_radius(const CniSphereBlock *c) {
  double a = c->radius_a, b = c->radius_b, nearer = a > 0 && b > 0 ? cn_min(a, b) : cn_max(a, b);
  return nearer > 0 ? nearer : 1;
}

double cni_sphere_length(const CnProblem *p, int32_t index) {
  return p->own_lengths ? p->lengths[index] : nearer_radius(&p->spheres[index]);
}

CnStatus cni_sphere_set_length(CnProblem *p, int32_t index, double length) {
  if (!p->own_lengths && length == nearer_radius(&p->spheres[index])) return CN_OK;
  int32_t kept = p->own_lengths ? p->sphere_count : 0;
  int32_t needed = index < p->sphere_count ? p->sphere_count : index + 1;
  CNI_TRY(CNI_RESERVE(&p->allocator, p->lengths, p->length_capacity, kept, needed));
  for (int32_t i = 0; !p->own_lengths && i < p->sphere_count; i++)
    p->lengths[i] = nearer_radius(&p->spheres[i]);
  p->own_lengths = 1;
  p->lengths[index] = length;
  return CN_OK;
}
