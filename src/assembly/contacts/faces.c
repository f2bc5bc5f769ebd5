// SPDX-License-Identifier: Apache-2.0
// What comes from face to face of a surface under a load.
//
// A ball that rolls through a valley of triangles is on one of them and comes to the next, which is bent up by
// theta: each such corner takes the share sin^2 theta of its energy. Three laws were tried for the gap phi there:
//
//     gently, as where the load is (kappa phi)   it is held before it is there, lifted by the slop, and let down
//     phi/h                                      the new triangle bears it from the beginning of the step in which it
//                                                comes there: the load's work along phi is lost, m g phi a corner,
//                                                g h/R of the energy a second twice over, however fine the facets are
//     (phi + way)/h, then back at once           the load goes over at the end of that step. What it has sunk in by
//                                                then, at most v theta h, is taken back in the next, with the work that
//                                                this takes: what corners take is left, at any step
//
// The third is here. way = min(g h^2, slop): gravity brings that much in a step, and what comes to the corner faster
// than g h loses more there than the load does. Without gravity nothing is pressed on, and nothing sinks in.
#include "assembly/contacts/faces.h"

#define FLAT 2e-3  // between triangles that are one face to what rolls over them
#define PLANE 1e-6 // between such as lie in one plane
#define BESIDE 0.1 // between such of which one takes over the load of the other

static CnVec3 spin_of(const CniAssemblyInput *in, int32_t body) {
  return in->model->bodies[body].kind == CN_BODY_FIXED ? CN_VEC3_ZERO : in->twist[body].spin;
}

// Do the two shapes of contact i touch in the face of an old one still, about as near as here?
static int bears_still(const CniAssemblyInput *in, int32_t i, const CniContact *old) {
  const CniContact *c = &in->contacts[i];
  uint64_t rank = cni_contact_rank(c);
  for (int32_t way = -1; way <= 1; way += 2)
    for (int32_t k = i + way; k >= 0 && k < in->contact_count; k += way) {
      const CniContact *other = &in->contacts[k];
      if (cni_contact_rank(other) != rank) break;
      if (other->feature >> CNI_PART_SHIFT == old->feature >> CNI_PART_SHIFT &&
          other->gap <= fabs(c->gap))
        return 1;
    }
  return 0;
}

// It held what this one would if it pushed the same way: what rolls on over a surface comes to the next triangle
// without a load.
void cni_contact_other_face(const CniAssemblyInput *in, int32_t i, const CniContact *old,
                            CniBefore *before) {
  const CniContact *c = &in->contacts[i];
  double turned = cn_norm(spin_of(in, c->body_a)) + cn_norm(spin_of(in, c->body_b));
  double fold = cn_norm(cn_cross(old->normal, c->normal));
  if (fold <= FLAT + in->time_step * turned) before->loaded = 1;
  if (!(fold <= BESIDE && cn_dot(old->normal, c->normal) > 0)) return;
  if (fold <= PLANE) before->gentle = 1;
  if (!before->gentle && !before->beside) before->beside = bears_still(in, i, old);
}

// In an impact b_n < 0 in front of a gap.
void cni_contact_soften(const CniAssemblyInput *in, const CniContactPlan *plan, const CniContact *c,
                        CniBefore before, double *b_n) {
  if (!before.gentle && !before.beside) return;
  double h = in->time_step, slop = cni_contact_slop(in, plan, c);
  double way = cn_min(h * h * cn_norm(in->gravity), slop);
  if (c->gap > 0 && *b_n > 0)
    *b_n = before.gentle ? cn_max(in->contact_stabilisation * c->gap, c->gap - slop) / h
                         : *b_n + way / h;
  else if (c->gap < 0 && !before.gentle)
    *b_n = cn_min(*b_n, cn_max(c->gap, -way) / h);
}
