// SPDX-License-Identifier: Apache-2.0
// The event driver: steps of hem5 or rkf45 under control of error and drift, events between them.
//
// I0 is all contacts; I1 those whose gap is zero (closed); I2 those that are closed and stay so: their
// rows are active. A closed contact has parts: its friction, the resistance against rolling, and
// against spinning. A part holds, and its rows are active, or it slips, and its force is against the
// slip. A row with a bound counts as a contact that is always closed, with one part and no normal.
#ifndef CNI_DRIVE_H
#define CNI_DRIVE_H

#include "integrator/clash.h"
#include "integrator/integrator.h"
#include "integrator/least.h"
#include "integrator/events/stepper.h"

#define CNI_PARTS 3

typedef struct CniContactPart {
  int32_t slips, slip; // its place among the motion's slips, -1: none
  double direction[2]; // slip: unit, of the velocity along the rows, at the start of a step; the
                       // acceleration's where there is no velocity yet
} CniContactPart;

typedef struct CniContactMode {
  int32_t closed;
  int32_t armed;     // open: its gap was seen positive since it was last closed
  int32_t next_open; // scratch
  int32_t place;     // closed: its normal among the active rows, -1 where it depends on others
  double floor;      // open: what the gap falls below is an impact, 0 or that of a slow take-off
  double load;       // normal force by the friction problem of the accelerations
  double domain;     // at the last state
  CniContactPart parts[CNI_PARTS];
} CniContactMode;

// What ends a step early: theta is the part of it that can be kept.
typedef struct CniFound {
  double theta;
  CnEventKind kind;
  int32_t contact; // -1: nothing
  int32_t part;
} CniFound;

typedef struct CniDrive {
  CnAllocator allocator;
  CnIntegratorDef def;
  const CniStepper *stepper;
  CniListener listener;
  CnIntegrator *handle; // for the observer
  CniMotion motion;     // the active rows
  CniMotion probe;      // other rows: impacts, candidates
  CniStep step;
  CniClash clash;
  CnSolver *solver;
  CnIntegratorReport report;
  int32_t in_point; // dense output may be asked for
  int32_t fresh;    // the rows are others than in the last step

  CniContactMode *modes;
  int32_t *rows, *chosen; // scratch: rows of the Jacobian, contacts
  CniSlip *slip;          // scratch
  int32_t *fixed;         // bilateral rows that do not depend on each other
  int32_t fixed_count, fixed_capacity;
  int32_t fixed_most; // largest count in this call
  int32_t mode_capacity, row_capacity, slip_capacity, chosen_capacity;
  int32_t given;     // slips of contacts whose normals depend on others
  int32_t redundant; // rows of closed contacts depend on each other: single forces are not known
  CniPool pool;      // sizes of the system
  CniLeast least;    // shares of rows that depend on others
  double *q, *v, *a, *multipliers, *all_multipliers, *domains, *speeds, *v_new, *impulses,
      *gaps_before;

  double t, t_start, t_end, h_next;
  double h_limit; // s, of the next step alone: half of the shortest flight; 0: none
  int32_t rejected_last, same_time; // same_time: changes of mode without progress
  int32_t leaps;                    // steps that led over them
  int32_t left;                     // the step has left the places for which contacts are listed
  double *bounds;                   // of the friction problem solved last
  double parts;                     // N: of forces of its bilateral rows
  int32_t stops, stops_part;        // contact whose slip came to its end just now, -1: none
  double most;                      // m/s2: largest acceleration of the friction problem, and one
  int64_t rows_known;               // steps made when bilateral rows were chosen last
  double renewed;                   // s: time at which they were listed last
  int32_t ahead; // of the friction problem: slow slips have the direction of the end of the step
  double slides; // of the friction problem: how much slip outweighs accelerations
  int32_t locks; // of its answer: something that slips cannot
  double jam;    // m/s: what a jam has left of its approach, 0: there was none
  double jolt;   // s: time at which rates jump next
} CniDrive;

// ---- drive.c ----

CnStatus cni_drive_create(const CnIntegratorDef *def, const CnAllocator *allocator,
                          const CniStepper *stepper, void **state);
// The functions of a row of the table.
CnStatus cni_drive_step(void *state, const CnSystem *system, CnSolver *solver, double t,
                        const double *q, const double *v, double h, CnSolveReport *report);
void cni_drive_free(void *state);
void cni_drive_attach(void *state, CnIntegrator *handle);
void cni_drive_report(const void *state, CnIntegratorReport *report);
void cni_drive_observe(void *state, const CnObserver *observer, CniListener listener);
CnStatus cni_drive_dense(void *state, double t, double *q, double *v);
#define CNI_DRIVEN                                                                                 \
  .needs_equations = 1, .step = cni_drive_step, .destroy = cni_drive_free,                         \
  .attach = cni_drive_attach, .report = cni_drive_report, .dense = cni_drive_dense,                \
  .observe = cni_drive_observe

// Tell of an event.
void cni_drive_tell(CniDrive *d, CnEventKind kind, int32_t contact, double time, double speed,
                    double impulse);

static inline CnContactLaw cni_drive_law(const CniDrive *d, int32_t contact) {
  return cni_contact_law_of(d->motion.eq, contact);
}
// Contacts and bounds.
static inline int32_t cni_drive_count(const CniDrive *d) {
  return d->motion.eq->contact_count + d->motion.eq->bound_count;
}

// The rows of a part, and its largest force over that of the normal, or its bound; count 0: there is
// no such part.
typedef struct CniPartRows {
  int32_t row, count;
  double friction;
} CniPartRows;
CniPartRows cni_part_rows(const CniDrive *d, int32_t contact, int32_t part);

// ---- jolts.c ----

#define CNI_ROUND_OFF 2.2204460492503131e-16

// Where the steps end for now; does one end there next; the jolt to come; over it.
double cni_jolt_stop(const CniDrive *d);
int cni_jolt_is(const CniDrive *d);
void cni_jolt_find(CniDrive *d);
CnStatus cni_jolt_pass(CniDrive *d);

// ---- modes.c: at one instant ----

#define CNI_GAP_CLOSED 1e-10  // m: gaps below are zero
#define CNI_SPEED_ZERO 1e-10  // of the largest velocity and one: normal speeds below are zero
#define CNI_DOMAIN_LEFT 1e-13 // a closed contact that lies on the border of its piece is there
#define CNI_SAME_TIME 200     // changes of mode at one instant before a step leads over it
#define CNI_SAME_AGAIN 20     // likewise, where one has done so in this call

static inline double cni_speed_zero(const CniDrive *d) {
  return CNI_SPEED_ZERO * (1 + cni_largest(d->v, d->motion.v_count));
}

// Bilateral rows met? Otherwise project (if asked for) or stop with the sizes.
CnStatus cni_modes_start(CniDrive *d);
// Rates have jumped: the impact of bilateral rows, with what is closed.
CnStatus cni_modes_jolt(CniDrive *d);
// At (t, q, v), after an event: impacts of everything that approaches, then which closed contacts
// stay closed, and the step fitted to them.
CnStatus cni_modes_settle(CniDrive *d, const CniFound *found);
// The bilateral rows that depend least on each other here; *changed: they are others than before, and
// the step has been fitted to them.
CnStatus cni_modes_renew_rows(CniDrive *d, int *changed);
// Places of the normals among the n active rows, and what slips: slips.c. Returns how many.
int32_t cni_modes_list_slips(CniDrive *d, int32_t n);
// Directions of slip at the start of the next step.
void cni_modes_aim(CniDrive *d);
// The probe on the bilateral rows and then those of chosen[0 .. count): the normals alone, or with
// all rows that friction has, and those with a bound after them (`friction`).
CnStatus cni_modes_probe(CniDrive *d, int32_t count, int friction);
// Jacobian of the probe at a place into its scratch, and u = G v + r into d->speeds.
CnStatus cni_modes_speeds(CniDrive *d, double t, const double *q, const double *v);

// ---- friction.c ----

// Slower slip is none: the error that the steps may have.
double cni_slip_zero(const CniDrive *d);
// What friction can stop, or begin, within the time dt in which it makes a way u dt below the tolerance is slow:
// friction does the same in that time, and what else happens in it is of second order.
double cni_slip_slow(const CniDrive *d);
// What is slower keeps its direction within a step.
double cni_slip_stiff(const CniDrive *d);

// The problem of the probe's rows, whose matrix and q are there: bilateral rows, contacts
// chosen[0 .. count), bounds, which are followed by repetition where they go with the answer. `time`: over
// which forces act; 0: impulses of an impact, 1: forces themselves.
CnStatus cni_modes_solve(CniDrive *d, double t, const double *q, int32_t count, double time,
                         CnSolveReport *report);
// Are there forces at a state under which every closed contact stays closed, and sticks if it does?
CnStatus cni_modes_hold(CniDrive *d, double t, const double *q, const double *v, int *hold);
// Modes of the candidates and the bounds by it, at the state of the drive.
CnStatus cni_friction_choose(CniDrive *d, const int32_t *candidates, int32_t count,
                             const CniFound *found);
// Forces of contacts whose normals depend on others, at the state reached.
CnStatus cni_modes_share(CniDrive *d);
// Forces of all closed contacts at the end of the step, of which some depend on others, into d->all_multipliers.
CnStatus cni_modes_tell(CniDrive *d);
#define CNI_SERVO_CROSSES 1e-12 // m, rad: farther on the other side than this a servo has crossed

// ---- impact.c ----

// v after the impact of the closed contacts chosen[0 .. count), by the law of the definition.
CnStatus cni_impact(CniDrive *d, int32_t count);
// The same for all of them at once.
CnStatus cni_impact_at_once(CniDrive *d, int32_t count);
// Its parts, for jams: the problem of chosen[0 .. count) without blocks; normal speeds, in the multipliers'
// memory; v changed by an answer, whose normal impulses go to d->impulses, or by the problem with
// `approach` besides that there is; what is told of it.
CnStatus cni_impact_begin(CniDrive *d, int32_t count);
double *cni_impact_speeds(CniDrive *d, int32_t count);
void cni_impact_take(CniDrive *d, int32_t count);
CnStatus cni_impact_strike(CniDrive *d, int32_t count, double approach);
void cni_impact_tell(CniDrive *d, int32_t count, const double *before);

// ---- jam.c ----

// Friction locks: there are no forces under which what slips can go on (Painleve). It stops at once, as by an
// impact whose approach is next to nothing; what it leaves of that is in d->jam.
CnStatus cni_impact_jam(CniDrive *d, int32_t count);

// ---- lead.c: over what has no end in events ----

// One step of moreau-jean with friction, of that length or to the end; velocities and modes are its own.
CnStatus cni_lead(CniDrive *d, double time);
// Over changes without end, by a step that is longer where the last ones were not enough.
CnStatus cni_lead_on(CniDrive *d);

// ---- pieces.c: moreau-jean as a helper ----

// Does the domain of a contact hold the place that the motion goes to?
int cni_piece_ahead(CniDrive *d, int32_t contact, double domain);
// One step of moreau-jean (theta 1/2, no restitution) from (t, q, v) with the contacts
// chosen[0 .. count); rows at the start, or at the place ahead. `impulses` one a contact; v_new has
// v_count numbers.
CnStatus cni_nscd_step(CniDrive *d, int32_t count, double h, int ahead, double *v_new,
                       double *impulses);

// ---- watch.c: between instants ----

// Has anything happened in the step just made?
CnStatus cni_watch_step(CniDrive *d, CniFound *found);
// Gap of a contact and its speed at the end of the step.
CnStatus cni_watch_gap(CniDrive *d, int32_t contact, double *gap, double *speed);

// The first thing found stays.
static inline void cni_found_take(CniFound *found, CnEventKind kind, int32_t contact,
                                  int32_t part) {
  if (found->contact >= 0) return;
  found->kind = kind;
  found->contact = contact;
  found->part = part;
}

// ---- watch_forces.c ----

// Where rows depend on each other, their own forces do not tell: does the friction problem say that
// contacts can go on as they are?
CnStatus cni_watch_doubtful(CniDrive *d, double t, const double *q, const double *v,
                            const CniFound *doubtful, CniFound *found);
// Parts of a closed contact: does one that slips stand still, or one that holds give way?
void cni_watch_parts(CniDrive *d, int32_t contact, double load, double zero, const double *v,
                     CniFound *found, CniFound *doubtful);
// Bounds as they are under the forces found.
CnStatus cni_watch_bounds(CniDrive *d, double t, const double *q);

#endif
