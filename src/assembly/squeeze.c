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
//
// Jaws that are driven contradict each other before anything overlaps: their motors have any force it
// takes. Contacts of driven bodies (on a joint all of whose coordinates have motors without a bound, or
// moved as prescribed) yield likewise where something is between them and another body that does not
// give way, on the opposite side.
#include "assembly/assembly_private.h"

#include "core/error.h"

#include <math.h>

#define SQUEEZE 0x1p-13 // about 1e-4
#define PINCH 0x1p-7    // of driven jaws, which go on pressing
#define ALONG 1e-3      // of its speed: what comes nearer by less slides along the surface
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

double cni_squeeze_compliance(const CnProblem *p, const CniContact *c, int driven) {
  int exponent;
  double inverse = p->groups[c->body_a].inv_mass + p->groups[c->body_b].inv_mass;
  double share = frexp((driven ? PINCH : SQUEEZE) * inverse, &exponent);
  return share > 0 && isfinite(share) ? ldexp(0.5, exponent) : 0;
}

// ---- driven jaws ----

typedef enum Firmness { YIELDS, STANDS, DRIVEN } Firmness;

// Does the joint leave its second end no freedom, and is it moved by motors?
static Firmness firmness_of(const CnJointDef *def) {
  int32_t count = cni_joint_coordinate_count(def->kind);
  if (cni_joint_locked_count(def) + count < 6 || def->stiffness > 0 || def->damping > 0)
    return YIELDS;
  for (int32_t i = 0; i < count; i++) {
    const CnJointAxis *axis = &def->axes[i];
    if (axis->drive == CN_DRIVE_EFFORT || !(axis->motor_effort >= INFINITY) ||
        axis->motor_stiffness > 0 || axis->motor_damping > 0)
      return YIELDS;
  }
  return count > 0 ? DRIVEN : STANDS;
}

static Firmness at(const uint8_t *firm, int32_t body) {
  return body < 0 ? STANDS : (Firmness)firm[body];
}

// Bodies that nothing pushes away; is one of them driven?
static int find_firm(const CniAssemblyInput *in, const CnProblem *p, uint8_t *firm) {
  const CniModel *model = in->model;
  int driven = 0, more = 1;
  for (int32_t i = 0; i < model->body_count; i++) {
    const CniGroup *group = &p->groups[i];
    if (cni_group_has_mass(group)) continue;
    firm[i] = cn_norm2(group->v) + cn_norm2(group->w) > 0 ? DRIVEN : STANDS;
    driven |= firm[i] == DRIVEN;
  }
  while (more) { // along chains of joints; each time a body becomes firm
    more = 0;
    for (int32_t i = 0; i < model->joint_count; i++) {
      const CniJoint *joint = &model->joints[i];
      Firmness a = at(firm, joint->body_a), b = at(firm, joint->body_b),
               by = firmness_of(&joint->def);
      if (by == YIELDS || (a == YIELDS) == (b == YIELDS)) continue;
      by = a == DRIVEN || b == DRIVEN ? DRIVEN : by;
      firm[a == YIELDS ? joint->body_a : joint->body_b] = (uint8_t)by;
      driven |= by == DRIVEN;
      more = 1;
    }
  }
  return driven;
}

#define SEVERAL -2

// Who stands on each side of bodies that touch each other, and whether one of those is driven.
typedef struct Sides {
  int32_t by[6]; // body + 1; 0: nobody
  uint8_t driven;
} Sides;

static int between(const Sides *s) {
  for (int32_t k = 0; k < 6; k += 2)
    if (s->by[k] && s->by[k + 1] && (s->by[k] != s->by[k + 1] || s->by[k] == SEVERAL) &&
        (s->driven >> k & 3))
      return 1;
  return 0;
}

static void stand(Sides *s, uint8_t sides, int32_t body, int driven) {
  for (int32_t k = 0; k < 6; k++) {
    if (!(sides >> k & 1)) continue;
    s->by[k] = s->by[k] == 0 || s->by[k] == body + 1 ? body + 1 : SEVERAL;
    if (driven) s->driven |= (uint8_t)(1 << k);
  }
}

// Does a driven body press at a contact? One on motors may; one that is moved does where it comes
// nearer: what slides along the surface squeezes nothing.
static int presses(const CniAssemblyInput *in, const CnProblem *p, const CniContact *c,
                   const uint8_t *firm) {
  int32_t by = firm[c->body_a] == YIELDS ? c->body_b : c->body_a;
  const CniGroup *group = &p->groups[by];
  if (firm[by] != DRIVEN) return 0;
  if (cni_group_has_mass(group)) return 1;
  CnVec3 arm = cn_sub(c->point, in->pose[by].position);
  CnVec3 v = cn_add(group->v, cn_cross(group->w, arm));
  double speed = cn_dot(c->normal, v);
  return (by == c->body_a ? speed : -speed) > ALONG * cn_norm(v);
}

static CnStatus find_pinched(const CniAssemblyInput *in, const CnProblem *p, CniContactPlan *plan) {
  uint8_t *firm, *squeezed = NULL;
  int32_t *parent, count = in->contact_count;
  Sides *sides;
  CNI_TRY(cni_arena_array(in->arena, p->group_count, 1, &firm));
  if (!find_firm(in, p, firm)) return CN_OK;
  CNI_TRY(cni_arena_array(in->arena, p->group_count, sizeof *parent, &parent));
  CNI_TRY(cni_arena_array(in->arena, p->group_count, sizeof *sides, &sides));
  for (int32_t i = 0; i < p->group_count; i++) parent[i] = i;
  for (int32_t i = 0; i < count; i++) {
    const CniContact *c = &in->contacts[i];
    if (firm[c->body_a] == YIELDS && firm[c->body_b] == YIELDS)
      parent[root_of(parent, c->body_a)] = root_of(parent, c->body_b);
  }
  for (int32_t i = 0; i < count; i++) {
    const CniContact *c = &in->contacts[i];
    int yields_a = firm[c->body_a] == YIELDS;
    if (yields_a == (firm[c->body_b] == YIELDS)) continue;
    int32_t by = yields_a ? c->body_b : c->body_a;
    stand(&sides[root_of(parent, yields_a ? c->body_a : c->body_b)],
          sides_of(yields_a ? cn_neg(c->normal) : c->normal), by, presses(in, p, c, firm));
  }
  for (int32_t i = 0; i < count; i++) {
    const CniContact *c = &in->contacts[i];
    int yields_a = firm[c->body_a] == YIELDS, yields_b = firm[c->body_b] == YIELDS;
    if (yields_a == yields_b || !presses(in, p, c, firm)) continue;
    if (!between(&sides[root_of(parent, yields_a ? c->body_a : c->body_b)])) continue;
    if (!squeezed) CNI_TRY(cni_arena_array(in->arena, count, 1, &squeezed));
    squeezed[i] = CNI_PINCHED;
  }
  for (int32_t i = 0; squeezed && plan->squeezed && i < count; i++)
    if (!squeezed[i]) squeezed[i] = plan->squeezed[i];
  if (squeezed) plan->squeezed = squeezed;
  return CN_OK;
}

// ---- overlaps ----

// Is anything at all held from two opposite sides? Where all bodies without mass push the same way, as the
// floor under a pile does, who hangs together with whom need not be known.
static int may_squeeze(const CniAssemblyInput *in, const CnProblem *p, double least,
                       int32_t *first) {
  uint8_t sides = 0;
  int32_t count = in->contact_count;
  *first = count;
  for (int32_t i = 0; i < count; i++) {
    const CniContact *c = &in->contacts[i];
    if (!(c->gap < -least)) continue;
    if (*first == count) *first = i;
    int mass_a = cni_group_has_mass(&p->groups[c->body_a]);
    if (mass_a == cni_group_has_mass(&p->groups[c->body_b])) continue;
    sides |= sides_of(mass_a ? cn_neg(c->normal) : c->normal);
    if (held(sides)) return 1;
  }
  return 0;
}

static CnStatus find_overlaps(const CniAssemblyInput *in, const CnProblem *p, double inradius,
                              CniContactPlan *plan) {
  double least = in->contact_slop > 0 ? in->contact_slop : CNI_SLOP * inradius;
  const CniContact *contacts = in->contacts;
  int32_t first, count = in->contact_count;
  if (!may_squeeze(in, p, least, &first)) return CN_OK;

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

CnStatus cni_squeeze_any(const CniModel *model, const CniContact *deep, int32_t count,
                         CniArena *arena, int *any) {
  int32_t *parent;
  uint8_t *sides, all = 0;
  *any = 0;
  for (int32_t i = 0; i < count; i++) {
    int mass_a = cni_has_mass(&model->mass[deep[i].body_a]);
    if (mass_a != cni_has_mass(&model->mass[deep[i].body_b]))
      all |= sides_of(mass_a ? cn_neg(deep[i].normal) : deep[i].normal);
  }
  if (!held(all)) return CN_OK;
  CNI_TRY(cni_arena_array(arena, model->body_count, sizeof *parent, &parent));
  CNI_TRY(cni_arena_array(arena, model->body_count, 1, &sides));
  for (int32_t i = 0; i < model->body_count; i++) parent[i] = i;
  for (int32_t i = 0; i < count; i++) {
    int32_t a = deep[i].body_a, b = deep[i].body_b;
    if (cni_has_mass(&model->mass[a]) && cni_has_mass(&model->mass[b]))
      parent[root_of(parent, a)] = root_of(parent, b);
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t a = deep[i].body_a, b = deep[i].body_b;
    int mass_a = cni_has_mass(&model->mass[a]);
    if (mass_a == cni_has_mass(&model->mass[b])) continue;
    int32_t root = root_of(parent, mass_a ? a : b);
    sides[root] |= sides_of(mass_a ? cn_neg(deep[i].normal) : deep[i].normal);
    *any |= held(sides[root]);
  }
  return CN_OK;
}

CnStatus cni_find_squeezed(const CniAssemblyInput *in, const CnProblem *p, double inradius,
                           int driven, CniContactPlan *plan) {
  if (in->bodies) return CN_OK; // of several ranks: all were asked before (cni_squeeze_any)
  CNI_TRY(find_overlaps(in, p, inradius, plan));
  return driven ? find_pinched(in, p, plan) : CN_OK;
}

// ---- what was asked for and not given ----

// The speed that a contact with compliance asks for: to go apart, and that of a body which is moved.
static double speed_asked(const CnProblem *p, const CniBlock *block) {
  const CniSphereBlock *s = block->storage == CNI_SPHERE ? &p->spheres[block->index] : NULL;
  const CniPairBlock *t = s ? NULL : &p->pairs[block->index];
  const CniGroup *groups[] = {&p->groups[s ? s->group_a : t->group_a],
                              &p->groups[s ? s->group_b : t->group_b]};
  double speed = fabs(*cni_block_b_n(p, block));
  for (int32_t i = 0; i < 2; i++)
    if (!cni_group_has_mass(groups[i]))
      speed += fabs(cn_dot(s ? s->normal : t->normal, groups[i]->v));
  return speed;
}

void cni_contacts_contradict(const CnProblem *problem, const double *g, int32_t first,
                             int32_t count, CnSolveReport *report, int32_t *contacts) {
  int any = 0;
  for (int32_t i = 0; i < CN_REPORT_ROWS; i++) contacts[i] = -1;
  for (int32_t i = 0; i < problem->set_count; i++)
    any |= problem->sets[i].kind >= CN_BLOCK_UNILATERAL && problem->sets[i].compliance[0] > 0;
  for (int32_t i = 0, found = 0; any && i < count; i++) {
    const CniBlock *block = &problem->blocks[first + i];
    double c = problem->sets[block->set].compliance[0];
    if (!(c > 0 && c * g[block->row] > 0.5 * speed_asked(problem, block))) continue;
    if (found < CN_REPORT_ROWS) contacts[found++] = i;
    if (report->infeasible_count < CN_REPORT_ROWS)
      report->infeasible_rows[report->infeasible_count] = block->row;
    report->infeasible_count++;
  }
}
