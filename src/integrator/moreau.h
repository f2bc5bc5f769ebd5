// SPDX-License-Identifier: Apache-2.0
// Moreau-Jean from the inside: what its step (integrator_moreau_jean.c) and its laws of impact
// (moreau_impacts.c) share.
#ifndef CNI_MOREAU_H
#define CNI_MOREAU_H

#include "integrator/clash.h"
#include "integrator/integrator.h"
#include "integrator/least.h"

#include "core/vec.h"

#define CNI_LEAVES 1e-9 // of the largest velocity and one: slower contacts stay

// A contact that is hit, by a law in two phases.
typedef struct CniBlow {
  double pressed, work; // N s and J, of the compression
  double now, target;   // m/s: u_n so far, and after the rebound
} CniBlow;
_Static_assert(sizeof(CniBlow) == 4 * sizeof(double), "four numbers of a pool");

typedef struct CniMoreau {
  CnAllocator allocator;
  CnIntegratorDef def;
  CnIntegrator *handle;
  CniMotion motion;
  CniClash clash;
  CniPool pool, row_pool;      // sizes of the system, of the active rows
  CniLeast least;              // shares of rows that depend on others
  double *rows_end, *rate_end; // the rows at the end of the step
  int32_t *rows, *contacts;    // active
  int32_t row_capacity, contact_capacity, active, fixed;
  double *q_ahead, *q_new, *q_dot, *v_new, *v_mean, *force, *force_new, *defect;
  double *domains, *all, *k, *c, *plain, *before; // before: u_n at the start, by contacts
  double *free_last, *q_last; // of the look before: free velocity, right side by active rows
  double asked;               // m/s: how much these have changed
  int32_t half_way;           // rows of contacts are those half a step ahead alone
  double *v_struck, *struck;  // velocity after sequential impacts, and their impulses, by rows
  CnIntegratorReport report;
  CniRestitution law;
  CniBlow *blows;     // by contacts
  double *base, *sum; // by active rows: q and impulses of the phases so far
  int32_t look;       // at the velocity of this step, from 0
  int64_t calls;      // that succeeded, for systems that do not count their steps
} CniMoreau;

// The Jacobian of a step lies in the motion's scratch.
static inline double cni_moreau_speed(const CniMoreau *s, int32_t i, const double *v) {
  const CniMotion *m = &s->motion;
  return cni_motion_row(m, m->scratch_g, i, m->scratch_rate[i], v);
}

// The rows of bilateral constraints, active contacts and bounds.
CnStatus cni_moreau_rows(CniMoreau *s);
// M of the place ahead (kept plain for the defect), then the step matrix in its place, factored.
CnStatus cni_moreau_matrix(CniMoreau *s, double t, const double *q, const double *v, double h);
// The contact problem whose speeds without impulses are in the clash.
CnStatus cni_moreau_solve(CniMoreau *s, CnSolver *solver, double h, CnSolveReport *report);

// ---- moreau_impacts.c ----

// Is a contact hit that has a law in two phases? Then the problem by compression and rebound.
int cni_moreau_is_hit(const CniMoreau *s);
CnStatus cni_moreau_phases(CniMoreau *s, CnSolver *solver, double h, CnSolveReport *report);
// v_struck from v, by impacts one after the other where they are asked for; the contacts that were
// active stay so, and are not hit any more.
CnStatus cni_moreau_strike(CniMoreau *s, CnSolver *solver, double t, const double *q,
                           const double *v, double h, CnSolveReport *report);

#endif
