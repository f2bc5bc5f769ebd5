// SPDX-License-Identifier: Apache-2.0
// What every step leaves behind for the verdict (verdict.c): the worst of each kind, whose it was, and
// how many steps were bad. Part of the contents, so that a restored world judges its whole past.
#ifndef CNI_WORLD_WATCH_H
#define CNI_WORLD_WATCH_H

#include <cairn/verdict.h>

#include "collision/collision.h"
#include "model/model.h"

// Whose a figure is: a joint, couplings, or two bodies; zero: nobody's. A contradiction may be a joint's
// and a coupling's.
typedef struct CniWhose {
  CnJointId joint;
  CnBodyId body, other;
  CnCouplingId coupling, with;
  uint32_t limit; // CNI_BEYOND_LIMIT: it is a limit that a joint is beyond;
                  // CNI_OFF_TARGET: a place that its motor keeps
} CniWhose;
#define CNI_BEYOND_LIMIT 1u
#define CNI_OFF_TARGET 2u

typedef struct CniFinding {
  double value, relative;
  int32_t turns; // 1: the value is an angle
  int64_t worst, first, count;
  CniWhose whose;
} CniFinding;

typedef struct CniWatch {
  int64_t steps;
  int64_t blind;       // steps whose energy could not be judged
  double energy;       // J: what nobody has brought, so far
  double energy_least; // its least value so far
  double scheme;       // J: what the time step has taken or given, so far
  double kinetic;      // J: the most there was
  double
      fallen; // J: the most that gravity has given or taken, from the first step on, or springs had
  double driven;    // J: the most that the work of motors in a step of hem5 or rkf45 may be off by
  double potential; // J: where it began; known after the first step
  CniFinding found[CN_FINDING_COUNT];
} CniWatch;

// The rows of the table: what makes a step a bad one, and which share of them is allowed.
typedef struct CniFindingKind {
  const char *name;
  double threshold, allowed_share;
} CniFindingKind;
extern const CniFindingKind cni_finding_kinds[CN_FINDING_COUNT];

// Energies and the largest speed of the present state.
typedef struct CniMotionFigures {
  double kinetic, potential; // J
  double fastest, speed; // m/s: of centres of mass; with that of turning, at the radius of gyration
  double mass;           // kg, of bodies that move by forces
  int32_t driven;        // some body moves by itself
  double spin;           // rad/s: the largest of bodies on joints and of no balls
  int32_t spinning;      // that body; -1: none
} CniMotionFigures;

// Springs and dampers as they are now (springs.c).
typedef struct CniSprings {
  int32_t known; // 0: something else acts, too
  double energy; // J, stored
  double power;  // W, what dampers take
} CniSprings;
CniSprings cni_watch_springs(const CnWorld *world);
// J: what efforts and forces would make of the bodies in a step (pushes.c).
double cni_watch_pushes(const CnWorld *world);
// J: what springs gave back less than they took and dampers took, from before to now, with their work.
double cni_springs_lost(const CniSprings *before, const CniSprings *now, double work, double h);

// What is known of a step before it is made.
typedef struct CniWatched {
  CniMotionFigures before; // before_step comes after it
  double injected;         // J: what before_step did by setting states
  int32_t passive;         // nothing but gravity brings energy
  int32_t rotors, acting;  // 1: some joint drives a rotor, may bring energy
  CniSprings springs;
  double pressed;  // J: in soft limits
  int32_t led;     // bodies or surfaces move by themselves: so do their contacts' works
  CniFinding open; // couplings where the step begins; joints too where the first one does
} CniWatched;

// Before the hook, after it, and with the answer. Nothing fails.
void cni_watch_begin(CnWorld *world, CniWatched *w);
void cni_watch_hooked(CnWorld *world, CniWatched *w);
void cni_watch_end(CnWorld *world, const CniWatched *w, const CnSolveReport *solve,
                   const int32_t *contradicting);

// The deepest overlap among the contacts of the step under way, before the solver takes their place.
void cni_watch_overlaps(CnWorld *world);
// Of a joint at a place, and of all couplings, into the worst so far.
void cni_watch_joint(const CniModel *model, int32_t joint, const CniJointPlace *place,
                     CniFinding *worst);
void cni_watch_couplings(const CniModel *model, CniFinding *worst);
// Motors without a bound that do not find their coordinate where they keep it: they put it there at once.
void cni_watch_motors(const CnWorld *world, CniFinding *worst);
// The joint or coupling that is farthest open, at the present positions.
void cni_watch_joints(const CnWorld *world, CniFinding *worst);
// At the present places: the body that falls farthest in a step for its size, and the one whose place is known
// most coarsely.
void cni_watch_scale(const CnWorld *world, CniFinding *fall, CniFinding *far);
// The contact of the deepest overlap, the first of equal ones; its number, -1: none is deeper than `worst` was.
// Contacts without a block (`shorts`, null: all have one) do not count. No shape has a lesser inradius; 0: not known.
int32_t cni_watch_deepest(const CniModel *model, const CniContact *contacts, int32_t count,
                          const CniShortContact *shorts, double inradius, CniFinding *worst);
// Note the figure of a step: value, relative, turns and whose of `now`.
void cni_watch_note(CniFinding *found, CnFindingKind kind, int64_t step, const CniFinding *now);

#endif
