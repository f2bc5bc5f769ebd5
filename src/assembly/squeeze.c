// SPDX-License-Identifier: Apache-2.0
// Overlaps that contradict each other: a ball between jaws that are too close.
//
// They ask for speeds that no motion has, and the impulses of rigid contacts grow without end. Such
// overlaps are pushed apart by a stiff spring and not by a wall: their rows have the compliance
//
//     C = SQUEEZE (1/m_a + 1/m_b), a power of two at most that,   u_n = E v + b_n + C g_n
//
// so that a body held from two sides is pressed with |b_n|/(C h), at most kappa phi m/(SQUEEZE h^2).
//
// Which ones: overlaps deeper than the slop, which contacts at rest never are, that hang together
// (through bodies with mass) and are held by bodies without mass from two opposite sides, along one of
// the axes of space by at least OPPOSITE. What is squeezed is among them; a few that are not are
// pushed apart as without the spring, to SQUEEZE.
#include "assembly/assembly_private.h"

#include "core/error.h"

#include <math.h>

#define SQUEEZE 0x1p-13 // about 1e-4
#define OPPOSITE 0.55   // any direction has an axis along which it has that much

static int deep(const CniAssemblyInput *in, const CniContactPlan *plan, const CniContact *c,
                double least) {
  return c->gap < -least && c->gap < -cni_contact_slop(in, plan, c);
}

static int32_t root_of(int32_t *parent, int32_t body) {
  while (parent[body] != body) body = parent[body] = parent[parent[body]];
  return body;
}

// The sides from which a contact pushes its body with mass.
static uint8_t sides_of(CnVec3 push) {
  return (uint8_t)((push.x > OPPOSITE) | (push.x < -OPPOSITE) << 1 | (push.y > OPPOSITE) << 2 |
                   (push.y < -OPPOSITE) << 3 | (push.z > OPPOSITE) << 4 |
                   (push.z < -OPPOSITE) << 5);
}

static int held(uint8_t sides) { return (sides & sides >> 1 & 0x15) != 0; }

double cni_squeeze_compliance(const CnProblem *p, const CniContact *c) {
  int exponent;
  double inverse = p->groups[c->body_a].inv_mass + p->groups[c->body_b].inv_mass;
  double share = frexp(SQUEEZE * inverse, &exponent);
  return share > 0 && isfinite(share) ? ldexp(0.5, exponent) : 0;
}

CnStatus cni_find_squeezed(const CniAssemblyInput *in, const CnProblem *p, double inradius,
                           CniContactPlan *plan) {
  double least = in->contact_slop > 0 ? in->contact_slop : CNI_SLOP * inradius;
  const CniContact *contacts = in->contacts;
  int32_t first = 0, count = in->contact_count;
  while (first < count && !(contacts[first].gap < -least)) first++;
  if (first == count) return CN_OK;

  int32_t *parent;
  uint8_t *sides, *squeezed;
  CNI_TRY(cni_arena_array(in->arena, p->group_count, sizeof *parent, &parent));
  CNI_TRY(cni_arena_array(in->arena, p->group_count, 1, &sides));
  for (int32_t i = 0; i < p->group_count; i++) parent[i] = i;
  for (int32_t i = first; i < count; i++) {
    const CniContact *c = &contacts[i];
    if (!deep(in, plan, c, least) || !cni_group_has_mass(&p->groups[c->body_a]) ||
        !cni_group_has_mass(&p->groups[c->body_b]))
      continue;
    parent[root_of(parent, c->body_a)] = root_of(parent, c->body_b);
  }
  int any = 0;
  for (int32_t i = first; i < count; i++) {
    const CniContact *c = &contacts[i];
    int mass_a = cni_group_has_mass(&p->groups[c->body_a]);
    int mass_b = cni_group_has_mass(&p->groups[c->body_b]);
    if (mass_a == mass_b || !deep(in, plan, c, least)) continue;
    int32_t root = root_of(parent, mass_a ? c->body_a : c->body_b);
    sides[root] |= sides_of(mass_a ? cn_neg(c->normal) : c->normal);
    any |= held(sides[root]);
  }
  if (!any) return CN_OK;
  CNI_TRY(cni_arena_array(in->arena, count, 1, &squeezed));
  for (int32_t i = first; i < count; i++) {
    const CniContact *c = &contacts[i];
    int32_t body = cni_group_has_mass(&p->groups[c->body_a]) ? c->body_a : c->body_b;
    squeezed[i] = deep(in, plan, c, least) && held(sides[root_of(parent, body)]);
  }
  plan->squeezed = squeezed;
  return CN_OK;
}
