// SPDX-License-Identifier: Apache-2.0
/// The integrator drives, the system answers. A world is one system; a user's callbacks are
/// another.
#ifndef CAIRN_SYSTEM_H
#define CAIRN_SYSTEM_H

#include <cairn/base.h>
#include <cairn/problem.h>
#include <cairn/solver.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CnIntegrator CnIntegrator;

// ---- equations of motion ----------------------------------------------------------------------

/// Law of a contact of a generic system.
typedef struct CnContactLaw {
  double restitution; ///< 0 .. 1, Newton's
  double friction;    ///< >= 0; counts only where the contacts have tangents. 0: without friction
  double rolling;     ///< >= 0, moment over normal force; counts only with contact_dim 5 and 6
  double spinning;    ///< likewise, with contact_dim 6
} CnContactLaw;

/// The equations of motion of a system, for the schemes that follow them closely (hem5, rkf45,
/// moreau-jean):
///
///     q' = T(q) v,   M(q,t) v' = f(t,q,v) + G^T L,
///     g(q,t) = 0 (bilateral),   0 <= g(q,t) _|_ L >= 0 (contacts),   dg/dt = G v + r
///
/// Rows of G: first one for each bilateral constraint, then contact_dim for each contact: the
/// normal, the tangents along which it may slip or stick, the axes about which it may roll, and the
/// normal about which it may spin; then one for each bound. `rows` lists which rows are asked for. Matrices are dense and by rows. A function that cannot answer returns a status and the step
/// fails with it.
typedef struct CnEquations {
  int32_t bilateral_count, contact_count;
  int32_t contact_dim;      ///< 1: normals only; 2: one tangent (plane motion); 3: two; 5: and two
                            ///< axes of rolling; 6: and one of spinning
  const CnContactLaw *laws; ///< contact_count; null: no restitution, no friction

  CnStatus (*mass)(void *context, double t, const double *q, double *m); ///< v_count x v_count
  CnStatus (*force)(void *context, double t, const double *q, const double *v, double *f);
  /// g of all bilateral constraints, then of all contacts. Null where there are none.
  CnStatus (*gaps)(void *context, double t, const double *q, double *g);
  /// The rows asked for: row_count x v_count into `jacobian`, r (zero unless time acts) into
  /// `rate`, which is filled with zeros before the call.
  CnStatus (*jacobian)(void *context, double t, const double *q, const int32_t *rows,
                       int32_t row_count, double *jacobian, double *rate);
  /// d/dt (G v + r) with v held, for the rows asked for. Null: found by differences of the
  /// Jacobian, good to about 1e-9.
  CnStatus (*curvature)(void *context, double t, const double *q, const double *v,
                        const int32_t *rows, int32_t row_count, double *curvature);
  /// q' = T(q) v. Null: q' = v.
  void (*kinematics)(void *context, double t, const double *q, const double *v, double *q_dot);
  /// Bring q back to where it lives (unit quaternions). Null: q lives everywhere.
  void (*normalise)(void *context, double *q);
  /// One number a contact, >= 0 inside the domain of its piece of a surface: outside it the
  /// constraint is not there. Null: all contacts are everywhere.
  void (*domains)(void *context, double t, const double *q, double *domain);
  /// K = -df/dq T and C = -df/dv, for the step matrix of moreau-jean. Null: forces are not stiff.
  CnStatus (*stiffness)(void *context, double t, const double *q, const double *v, double *k,
                        double *c);
  /// Name of a contact, or after them of a bound, for messages and the event log. Null: "contact 3".
  void (*contact_name)(void *context, int32_t contact, char *text, size_t capacity);

  /// Systems of many bodies: n > 0 velocities belong together (6 of a rigid body), and v_count is a
  /// multiple of n. M then has n x n blocks along its diagonal, which is all that `mass` writes, one
  /// block after another; `jacobian` writes for each row n numbers for each of the groups that it
  /// touches, one after another. Work and memory go with these numbers, not with the square of
  /// v_count. 0: dense, as said above.
  int32_t group_size;
  /// With group_size: the groups that the rows of a constraint touch, ascending, into `groups` (room
  /// for all); returns how many. Constraints are counted as gaps are. Not asked for without
  /// constraints.
  int32_t (*groups)(void *context, int32_t constraint, int32_t *groups);

  /// Are the contacts listed all that matter at q? Where they are not (0), hem5 and rkf45 go back to
  /// the last state at which they were, have CnSystem::detect list them anew from there to the end
  /// of the call, read these equations again (the counts may have changed) and go on. Null: all
  /// contacts are listed for good.
  int32_t (*covered)(void *context, double t, const double *q);

  /// Rows with a bound, after those of the contacts. A force along such a row keeps G v + r at zero
  /// as long as it need not be larger than its bound; else it is as large as that, against G v + r.
  /// Dry friction of a joint, a motor that keeps a speed with a limited effort. They have no gap.
  int32_t bound_count;
  /// The bounds, >= 0, one a row. A bound may go with the forces of other rows, in proportion: they
  /// are in `multipliers`, one a row of G. With `impact` these are impulses, and so are the bounds:
  /// what a constant gives in no time is zero.
  void (*bounds)(void *context, double t, const double *q, const double *multipliers,
                 int32_t impact, double *bounds);
  /// Name of a bilateral constraint for messages: "joint 'hook'". Null: "bilateral constraint 5".
  void (*bilateral_name)(void *context, int32_t row, char *text, size_t capacity);
  /// s, what one of t is: in messages, and for step, step_max and step_min of the definition, which
  /// are in s. 0: 1. A world of very small or large bodies is given in units of its own, in which
  /// tolerance, drift_limit, event_tolerance and accumulation count.
  double time_unit;
  /// What one of a row's gap is in m or rad, for messages. Null: 1.
  double (*row_unit)(void *context, int32_t row);
  /// The next time after t at which r jumps (a drive that starts at once): hem5 and rkf45 take it as
  /// an impact. Infinite: none. Null: it never does.
  double (*next_jolt)(void *context, double t);
  /// The last servo_count of the bounds keep a place: `gaps` gives an x for each, after those of the
  /// contacts. Such a force keeps x at zero as long as it need not be larger than its bound; else it
  /// is as large as that, against x: a motor that keeps a position with a limited effort.
  int32_t servo_count;
} CnEquations;

/// A mechanical system as functions. State is q (any coordinates) and v (six per velocity group of
/// the problem). No function may change the system's lasting state except `done`: a step that fails,
/// in `done` or before, leaves no trace.
typedef struct CnSystem {
  void *context;
  int32_t q_count, v_count; ///< lengths of q and v

  /// Find the constraints that may act between t and t + h.
  CnStatus (*detect)(void *context, double t, const double *q, const double *v, double h);

  /// Write the step problem for the constraints found, and its warm start in (*answer)->g. Both
  /// stay the system's property and live until the next call.
  CnStatus (*problem)(void *context, double t, const double *q, const double *v, double h,
                      CnProblem **problem, CnAnswer **answer);

  /// q_new = q (+) h T(q) v: along v for the time h, by the exponential map where q has rotations.
  void (*advance)(void *context, const double *q, const double *v, double h, double *q_new);

  /// The step is accepted: keep the impulses, take over q and v. `answer` is that of the step
  /// problem, null from the schemes that work with the equations. Where it fails it has changed
  /// nothing, and the step fails with its status.
  CnStatus (*done)(void *context, double t_new, const double *q_new, const double *v_new,
                   const CnAnswer *answer);

  /// Null: the system gives step problems only. A system may give equations alone: then detect,
  /// problem and advance may be null.
  const CnEquations *equations;

  /// Number of the step to be made, from 1: what happens every n-th step goes by it, and is the same
  /// after a restore. 0: the integrator counts its own calls.
  int64_t step;

  /// Working memory that the library's own systems lend for a step; null in yours.
  struct CniStepMemory *memory;

  /// In place of advance, for `impulse`: the motion without forces over h, from q and the velocities
  /// v that the impulses of the step have left. Velocities may change in it (a body that tumbles):
  /// *v_end is v itself or memory of the system's that lives until `done` returns. Null: advance.
  CnStatus (*drift)(void *context, const double *q, const double *v, double h, double *q_new,
                    const double **v_end);

  /// After a solve of the step problem, `solves` so far: does the step need another one (impacts that
  /// follow from impacts)? Then problem and answer have become those of the next round, with its warm
  /// start in g, and *again is 1; 2: the round itself is to be solved anew. Null: one solve a
  /// step.
  CnStatus (*again)(void *context, int32_t solves, CnProblem *problem, CnAnswer *answer,
                    int32_t *again);
} CnSystem;

// ---- integrators ------------------------------------------------------------------------------

/// What happened in the middle of a motion.
typedef enum CnEventKind {
  CN_EVENT_IMPACT = 0, ///< a gap closed with a speed
  CN_EVENT_TOUCH,      ///< a gap closed without one, or a closed contact began to carry
  CN_EVENT_RELEASE,    ///< a contact force came to zero
  CN_EVENT_REST,       ///< infinitely many impacts ended: the limit of their times
  CN_EVENT_SLIP,       ///< a sticking contact began to slip, or changed its direction
  CN_EVENT_STICK,      ///< a slipping contact came to rest
  CN_EVENT_DOMAIN,     ///< a contact left its piece of surface
  CN_EVENT_KIND_COUNT
} CnEventKind;

/// Name of an event kind, for example "impact".
CN_API const char *cn_event_kind_name(CnEventKind kind);

typedef struct CnEvent {
  CnEventKind kind;
  int32_t contact; ///< contact_count and above: a bound, which sticks or slips
  double time;     ///< s
  double speed;    ///< m/s, normal, before it (impact, touch); tangential before it (stick)
  double impulse;  ///< N s, normal (impact); multiplier after it, N (touch, stick); else 0
} CnEvent;

/// One accepted step of hem5 or rkf45, or a step of moreau-jean. Arrays live during the call.
typedef struct CnPoint {
  double time, step;         ///< s, at the end; length
  const double *q, *v;       ///< at the end
  const double *a;           ///< v' at the end; null from moreau-jean
  const double *multipliers; ///< at the end, one a row of the Jacobian (0: not active), N;
                             ///< moreau-jean: impulses over the step, N s
} CnPoint;

/// Called on the way, in the order of time. Either may be null.
typedef struct CnObserver {
  void *context;
  void (*point)(void *context, CnIntegrator *integrator, const CnPoint *point);
  void (*event)(void *context, CnIntegrator *integrator, const CnEvent *event);
} CnObserver;

/// How several contacts that close at once share an impact.
typedef enum CnImpact {
  CN_IMPACT_SIMULTANEOUS = 0, ///< one complementarity problem over all closed contacts
  CN_IMPACT_SEQUENTIAL        ///< one at a time, the fastest first, until none approaches
} CnImpact;

/// Who decides which contacts act where pieces of a surface meet.
typedef enum CnRemedy {
  CN_REMEDY_NSCD = 0, ///< a step of moreau-jean, taken back
  CN_REMEDY_LCP       ///< a complementarity problem of the accelerations
} CnRemedy;

/// How to build an integrator. Fields a scheme does not know are ignored.
typedef struct CnIntegratorDef {
  uint32_t size, tag;     ///< set by cn_integrator_def_default
  const char *name;       ///< a name cn_integrator_name lists
  double tolerance;       ///< hem5, rkf45: error a step, absolute and relative, default 1e-6;
                          ///< 0: steps of fixed length
  double step;            ///< s: length of fixed steps, or of the first trial; 0: the whole call
  double step_max;        ///< s, 0: no bound
  double step_min;        ///< s, a smaller step is an underflow; 0: 16 units of round-off of t
  double drift_limit;     ///< |g| and |g'| allowed; 0: watched only. Without projection steps are
                          ///< kept so small that the end of the call is reached within it
  int32_t projection;     ///< n > 0: every n-th step ends with a projection on g = 0 and g' = 0
                          ///< (only where the drift limit is passed, if there is one); 0: none;
                          ///< default -1, which is 1
  int32_t project_start;  ///< 1 (default): inconsistent initial values are projected; 0: an error
  double event_tolerance; ///< s, default 1e-12: how exactly events are placed
  double accumulation;    ///< s, default 1e-7: impacts that come to rest within it are one event
  CnImpact impact;
  CnRemedy remedy;
  int32_t max_events;    ///< default 100000, a call
  int32_t max_steps;     ///< default 10000000, a call; worlds: 100000
  double theta;          ///< moreau-jean, in [1/2, 1], default 1/2
  const char *solver;    ///< hem5, rkf45: who solves impacts, default "auto"; moreau-jean takes
                         ///< the solver given with the step
  CnObserver observer;   ///< default none
  CnAllocator allocator; ///< default malloc and free
} CnIntegratorDef;

/// Numbers of the named integrator; an unknown name gives a def that cn_integrator_create refuses.
CN_API CnIntegratorDef cn_integrator_def_default(const char *name);
/// Create an integrator. On failure *integrator is NULL.
CN_API CnStatus cn_integrator_create(const CnIntegratorDef *def, CnIntegrator **integrator);
/// Release an integrator. Null is allowed.
CN_API void cn_integrator_destroy(CnIntegrator *integrator);

/// From (t, q, v) to t + h: one step of impulse and moreau-jean, as many as it takes of hem5 and
/// rkf45, through all events on the way. The new state reaches the system through `done`; q and v
/// are not changed here. CN_STOPPED: the scheme cannot go on, the message tells where and why, and
/// cn_integrator_report how far it came. Only impulse and moreau-jean need a solver (others: may be
/// null) and fill `report` (may be null).
CN_API CnStatus cn_integrator_step(CnIntegrator *integrator, const CnSystem *system,
                                   CnSolver *solver, double t, const double *q, const double *v,
                                   double h, CnSolveReport *report);

/// What the last call did. A scheme that knows none of it (impulse) leaves zeros, and drifts that
/// are not numbers.
typedef struct CnIntegratorReport {
  double time; ///< s, reached
  double step; ///< s, the step it would try next
  int64_t steps, rejected, events, impacts;
  int64_t systems;        ///< linear systems solved
  double error;           ///< largest of the steps kept, 1: the tolerance; 0: not measured
  double position_drift;  ///< m: largest |g| of an active constraint at the end of a step
  double velocity_drift;  ///< m/s: largest |g'|
  int64_t projections;    ///< of states, at the start or after a step
  const char *last_cause; ///< why the last step was cut: "", "error", "drift", "event", ...
} CnIntegratorReport;
/// What the last call of cn_integrator_step did, also where it failed.
CN_API void cn_integrator_report(const CnIntegrator *integrator, CnIntegratorReport *report);

/// Inside the observer's point(): the state at a time within the step (dense output; hem5: order 4,
/// with the velocity constraints satisfied; rkf45: cubic). CN_UNSUPPORTED elsewhere. v may be null.
CN_API CnStatus cn_integrator_dense(CnIntegrator *integrator, double t, double *q, double *v);

/// Accelerations and multipliers at (t, q, v) with the given rows of the Jacobian active.
/// `multipliers` has row_count entries; both may be null.
CN_API CnStatus cn_equations_accelerations(const CnSystem *system, const CnAllocator *allocator,
                                           double t, const double *q, const double *v,
                                           const int32_t *rows, int32_t row_count, double *a,
                                           double *multipliers);

/// What an integrator is like: bits of cn_integrator_traits.
#define CN_INTEGRATOR_OWN_STEPS                                                                    \
  1u ///< it chooses the length of its steps, and solves no step problems
#define CN_INTEGRATOR_EQUATIONS 2u ///< it works with equations of motion

/// Bits for the integrator of that name; 0 for an unknown one.
CN_API uint32_t cn_integrator_traits(const char *name);

/// The table: name and one-line summary of integrator `index`, null past the end.
CN_API const char *cn_integrator_name(int32_t index);
/// One-line summary of integrator `index`, null past the end.
CN_API const char *cn_integrator_summary(int32_t index);

#ifdef __cplusplus
}
#endif
#endif
