// SPDX-License-Identifier: Apache-2.0
// Watching a step, for the verdict (verdict.c). Every figure is one that the step has at hand.
//
// Joints. Where the step begins, by the places that the assembly has computed; the end of the last step
// is looked at when a verdict is asked for. Couplings alike, in the unit of their relation. A joint's size is the largest of the arms from its frames to
// the centres of mass and of the radii of gyration of its bodies.
//
// Overlaps. Gaps of the contacts that got a block, over the smaller inradius; on the way no body is
// thinner than a hundredth of its radius of gyration.
//
// Energy. Let C be what the bodies have gained beyond the work of gravity, loads, springs and drives.
// Friction, impacts and rigid joints can only take: C falls. What C has risen above its own least value so
// far is energy that nothing has brought. A scheme that is right in the mean makes C swing about a little;
// one that makes energy makes it climb. With a balance C is the sum of its parts; without one it is known
// where gravity is all that acts. Where a hook sets states, that is in C too; what a program sets between
// steps is not: it begins anew.
//
// Cost: two passes over the bodies (some ten operations each) and one over contacts and joints.
#include "solver/solver.h"
#include "world/world.h"

#include <float.h>
#include <math.h>

#include "core/math.h"

#define BARELY 1e-13    // of an energy: work that is round-off
#define MOST 1e300      // what is not finite, in snapshots
#define UNSEEN 1e-6     // of the speeds that constraints would have without impulses
#define ROUND_OFF 1e-15 // of what a step does
#define STILL 1 // times the energy of a step of gravity: a swing of joints that is beneath notice
#define CUT_SHORT 0.1 // residual above which a step is cut that the work of its effort ended

void cni_watch_note(CniFinding *found, CnFindingKind kind, int64_t step, const CniFinding *now) {
  double relative = now->relative <= MOST ? now->relative : MOST;
  if (relative > found->relative) {
    found->relative = relative;
    found->value = now->value <= MOST ? now->value : MOST;
    found->turns = now->turns;
    found->worst = step;
    found->whose = now->whose;
  }
  if (relative <= cni_finding_kinds[kind].threshold) return;
  if (found->count++ == 0) found->first = step;
}

static void note(CniWatch *watch, CnFindingKind kind, const CniFinding *now) {
  cni_watch_note(&watch->found[kind], kind, watch->steps, now);
}

// ---- energy ----

static int has_rotor(const CniJoint *joint) {
  double most = 0;
  for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++)
    most = cn_max(most, joint->def.axes[k].armature);
  return most > 0;
}

// Twice the energy of the rotors that joints drive.
static double rotors_of(const CniModel *model) {
  double twice = 0;
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    CniJointEnd a, b;
    CniJointPlace place;
    if (!has_rotor(joint)) continue;
    cni_joint_ends(joint, model->pose, model->twist, &a, &b);
    cni_joint_between(joint, &a, &b, &place);
    for (int32_t k = 0; k < place.axis_count; k++) {
      double rate = cni_joint_rate(&place, &place.axes[k], &a.twist, &b.twist);
      twice += joint->def.axes[k].armature * rate * rate;
    }
  }
  return twice;
}

// Sums over a stretch of bodies. Stretches are cut by the number of bodies, so that the sums of any number
// of workers have the same bits.
#define STRETCHES 64
#define LEAST_STRETCH 1024

typedef struct Stretch {
  double twice, mass, fastest, speed, spin; // squares of speeds
  CnVec3 moment;
  int32_t spinning, driven;
} Stretch;

typedef struct FiguresLoop {
  const CniModel *model;
  int32_t length; // of a stretch
  Stretch *stretches;
} FiguresLoop;

static void sum_body(const CniModel *model, int32_t i, Stretch *s) {
  double m = model->mass[i].mass, j = model->mass[i].inertia;
  CnVec3 v = model->twist[i].velocity, w = model->twist[i].spin;
  double v2 = cn_norm2(v), w2 = cn_norm2(w);
  if (j == 0) {
    s->driven |= v2 > 0 || w2 > 0;
    return;
  }
  s->fastest = cn_max(s->fastest, v2);
  double own = j * w2; // twice the energy of turning
  if (j == CNI_TURNS_BY_AXIS) {
    CnVec3 o = cn_unrotate(model->pose[i].rotation, w), a = model->inertias[i];
    own = a.x * o.x * o.x + a.y * o.y * o.y + a.z * o.z * o.z;
  }
  double own_speed = own / m;
  s->twice += m * v2 + own;
  s->speed = cn_max(s->speed, v2 + own_speed);
  // balls without joints may spin: bodies are not looked at where there are no joints
  if (w2 > s->spin &&
      (j == CNI_TURNS_BY_AXIS || (model->joint_count > 0 && model->bodies[i].first_joint >= 0))) {
    s->spin = w2;
    s->spinning = i;
  }
  s->mass += m;
  s->moment = cn_madd(s->moment, m, model->pose[i].position);
}

static void sum_stretches(void *context, int32_t begin, int32_t end) {
  const FiguresLoop *loop = context;
  for (int32_t n = begin; n < end; n++) {
    Stretch s = {.spinning = -1};
    int32_t first = n * loop->length, left = loop->model->body_count - first;
    int32_t last = first + (left < loop->length ? left : loop->length);
    for (int32_t i = first; i < last; i++) sum_body(loop->model, i, &s);
    loop->stretches[n] = s;
  }
}

static CniMotionFigures figures_of(const CnWorld *world, int rotors) {
  const CniModel *model = &world->now.model;
  Stretch stretches[STRETCHES], sum = {.spinning = -1};
  int32_t length = model->body_count / STRETCHES + 1;
  if (length < LEAST_STRETCH) length = LEAST_STRETCH;
  int32_t count = (model->body_count + length - 1) / length;
  FiguresLoop loop = {model, length, stretches};
  cni_parallel_for(world->tasks, count, 1, sum_stretches, &loop);
  for (int32_t n = 0; n < count; n++) {
    const Stretch *s = &stretches[n];
    sum.twice += s->twice;
    sum.mass += s->mass;
    sum.moment = cn_add(sum.moment, s->moment);
    sum.fastest = cn_max(sum.fastest, s->fastest);
    sum.speed = cn_max(sum.speed, s->speed);
    sum.driven |= s->driven;
    if (s->spin > sum.spin) {
      sum.spin = s->spin;
      sum.spinning = s->spinning;
    }
  }
  return (CniMotionFigures){.kinetic = 0.5 * (sum.twice + (rotors ? rotors_of(model) : 0)),
                            .potential = -cn_dot(world->now.settings.gravity, sum.moment),
                            .fastest = sqrt(sum.fastest),
                            .speed = sqrt(sum.speed),
                            .mass = sum.mass,
                            .driven = sum.driven,
                            .spin = sqrt(sum.spin),
                            .spinning = sum.spinning};
}

static int by_function(const CnJointAxis *axis) {
  return axis->drive == CN_DRIVE_EFFORT && axis->motor_function.slot != 0;
}

// May a joint bring energy? Springs give back what they took.
static int joint_acts(const CniJoint *joint) {
  const CnJointDef *def = &joint->def;
  if (def->stiffness > 0 || def->damping > 0) return 1;
  for (int32_t k = 0; k < cni_joint_coordinate_count(def->kind); k++) {
    const CnJointAxis *axis = &def->axes[k];
    if (axis->motor_effort != 0 || by_function(axis) || axis->stiffness > 0 ||
        axis->limit_stiffness > 0 || axis->motor_stiffness > 0 || axis->motor_damping > 0)
      return 1;
  }
  return 0;
}

static int joint_stores(const CniJoint *joint) {
  const CnJointDef *def = &joint->def;
  int any = def->stiffness > 0 || def->damping > 0;
  for (int32_t k = 0; k < cni_joint_coordinate_count(def->kind); k++)
    any |= cni_joint_axis_stores(&def->axes[k]);
  return any;
}

// What joints may do to the energy, by one look at each: thousands of them do not fit a cache. And once, while
// they stay as they are.
static void look_at_joints(CnWorld *world, CniWatched *w) {
  const CniModel *model = &world->now.model;
  CniJointsKnown *known = &world->joints_known;
  if (!known->any || known->edits != model->edits) {
    *known = (CniJointsKnown){.any = 1, .edits = model->edits};
    for (int32_t i = 0; i < model->joint_count; i++) {
      known->rotors |= has_rotor(&model->joints[i]);
      known->acting |= joint_acts(&model->joints[i]);
      known->storing |= joint_stores(&model->joints[i]);
    }
  }
  w->rotors = known->rotors;
  w->acting = known->acting;
}

static int is_passive(const CnWorld *world, int acting) {
  const CniModel *model = &world->now.model;
  if (world->hooks.force || model->force_count > 0 || acting) return 0;
  for (int32_t i = 0; model->load && i < model->body_count; i++)
    if (!cni_is_zero(model->load[i].velocity) || !cni_is_zero(model->load[i].spin)) return 0;
  return 1;
}

static int surfaces_move(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  for (int32_t i = 0; i < model->material_count; i++)
    if (!cni_is_zero(model->materials[i].def.surface_velocity)) return 1;
  return world->hooks.modify != NULL;
}

// J stored in soft limits, whose work is that of impacts: what they took to stop a body they give back.
static double pressed(const CnWorld *world) {
  const CniModel *model = &world->now.model;
  double sum = 0;
  for (int32_t i = 0; i < model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i];
    CniJointPlace place;
    int soft = 0;
    for (int32_t k = 0; k < cni_joint_coordinate_count(joint->def.kind); k++)
      soft |= joint->def.axes[k].limit_stiffness > 0;
    if (!soft) continue;
    cni_joint_at(joint, model->pose, &place);
    for (int32_t k = 0; k < place.axis_count; k++) {
      const CnJointAxis *axis = &joint->def.axes[k];
      double x = place.axes[k].value, depth = cn_max(axis->lower - x, x - axis->upper);
      if (depth > 0) sum += 0.5 * axis->limit_stiffness * depth * depth;
    }
  }
  return sum;
}

void cni_watch_begin(CnWorld *world, CniWatched *w) {
  *w = (CniWatched){0};
  look_at_joints(world, w);
  w->before = figures_of(world, w->rotors);
}

void cni_watch_hooked(CnWorld *world, CniWatched *w) {
  if (world->hooks.before_step) {
    look_at_joints(world, w);
    CniMotionFigures now = figures_of(world, w->rotors);
    w->injected = now.kinetic + now.potential - w->before.kinetic - w->before.potential;
    w->before.driven |= now.driven;
  }
  w->open = (CniFinding){0};
  if (world->now.watch.steps == 0) {
    cni_watch_joints(world, &w->open);
    cni_watch_motors(world, &w->open);
  } else
    cni_watch_couplings(&world->now.model, &w->open);
  w->passive = is_passive(world, w->acting);
  w->pressed = w->passive ? 0 : pressed(world);
  int balance = world->now.settings.balance;
  int equations =
      (cn_integrator_traits(world->now.settings.integrator) & CN_INTEGRATOR_EQUATIONS) != 0;
  world->soft = (CniSoftWork){0};
  world->work.springs =
      !balance && !equations && (world->now.model.force_count > 0 || world->joints_known.storing);
  if (!w->passive && (balance || world->work.springs)) w->springs = cni_watch_springs(world);
  w->led = w->before.driven || world->now.model.motion_count > 0 || surfaces_move(world);
}

// J: what springs lost to the time step.
static double springs_lost(const CnWorld *world, const CniWatched *w) {
  if (!w->springs.known) return 0;
  CniSprings springs = cni_watch_springs(world);
  double work =
      world->balance_known ? world->balance.parts[CN_BALANCE_SPRINGS].energy : world->soft.springs;
  return springs.known ? cni_springs_lost(&w->springs, &springs, work, world->work.time_step) : 0;
}

// By a balance, or beside none.
static int knows_springs(const CnWorld *world) { return world->balance_known || world->soft.known; }

// J: what nobody brought in the step, and what of it is the scheme's own; 0: not known.
static int unaccounted(const CnWorld *world, const CniWatched *w, const CniMotionFigures *now,
                       double *energy, double *scheme) {
  static const CnBalancePart passive[] = {CN_BALANCE_JOINTS, CN_BALANCE_FRICTION,
                                          CN_BALANCE_IMPACTS, CN_BALANCE_STABILISATION,
                                          CN_BALANCE_SCHEME};
  const CnBalanceTerm *parts = world->balance.parts;
  *energy = w->injected;
  *scheme = 0;
  if (w->led) {
    // what moves by itself brings energy, but springs beside it do not lose theirs
    if (knows_springs(world)) *scheme = world->soft.lost + springs_lost(world, w);
    return 0;
  }
  if (w->passive) {
    *energy = now->kinetic + now->potential - w->before.kinetic - w->before.potential;
  } else if (world->balance_known) {
    for (size_t k = 0; k < sizeof passive / sizeof passive[0]; k++)
      *energy += parts[passive[k]].energy;
    *energy += pressed(world) - w->pressed;
  } else {
    if (knows_springs(world)) *scheme = world->soft.lost + springs_lost(world, w);
    return 0;
  }
  if (world->balance_known)
    *scheme = parts[CN_BALANCE_SCHEME].energy + parts[CN_BALANCE_JOINTS].energy + world->soft.lost;
  if (world->balance_known) *scheme += springs_lost(world, w);
  return 1;
}

static void note_share(CniWatch *watch, CnFindingKind kind, double value, double scale) {
  if (scale > 0) note(watch, kind, &(CniFinding){.value = value, .relative = value / scale});
}

static double weight(const CnWorld *world, const CniMotionFigures *now) {
  return now->mass * cn_norm(world->now.settings.gravity);
}

// J: joints and overlaps that close again give back what they took: at most what lifting all bodies by the
// largest error of position takes.
static double closing(const CnWorld *world, const CniMotionFigures *now) {
  const CniFinding *found = world->now.watch.found, *joints = &found[CN_FINDING_JOINTS];
  double way = found[CN_FINDING_OVERLAPS].value + (joints->turns ? 0 : joints->value);
  return weight(world, now) * way;
}

// More than round-off of what there is? Soft limits are judged by themselves.
static int contacts_work(const CnWorld *world, double most) {
  const CnBalanceTerm *parts = world->balance.parts;
  return fabs(parts[CN_BALANCE_IMPACTS].energy - world->soft.limits) > BARELY * most ||
         fabs(parts[CN_BALANCE_STABILISATION].energy) > BARELY * most;
}

// m/s: speeds beneath notice: a step of gravity, or a millionth of what the solver saw without impulses.
static double least_speed(const CnWorld *world, const CnSolveReport *solve) {
  const CnCertificate *c = &solve->certificate;
  double seen = solve->converged >= 0 && c->residual > 0 ? c->residual_speed / c->residual : 0;
  return cn_max(cn_norm(world->now.settings.gravity) * world->work.time_step, UNSEEN * seen);
}

// J: where impacts happen schemes that choose their own steps take the work of rigid motors by their force at the end
// of a step: it is told late by one step's at most. Else it is known at the ends of their steps alone, and off by no
// more than what it differs by between them.
static double told_late(CnWorld *world, const CnSolveReport *solve) {
  CniWatch *watch = &world->now.watch;
  const CniWorks *works = cni_equations_works(world);
  if (world->balance_known && solve->converged < 0 && !(works && works->motors_known))
    watch->driven = cn_max(watch->driven, fabs(world->balance.parts[CN_BALANCE_DRIVES].energy));
  else if (works)
    watch->driven = cn_max(watch->driven, works->coarse);
  return watch->driven;
}

static void note_scheme(CnWorld *world, double taken, double most, double notice) {
  CniWatch *watch = &world->now.watch;
  // without a balance, where springs may be thousands, only if it makes a difference
  double threshold = cni_finding_kinds[CN_FINDING_SCHEME].threshold;
  if (world->soft.known && taken > threshold * cn_max(most, notice)) {
    watch->fallen = cn_max(watch->fallen, cni_watch_pushes(world));
    most = cn_max(most, watch->fallen);
  }
  note_share(watch, CN_FINDING_SCHEME, cn_max(taken, 0), cn_max(most, notice));
}

static void watch_energy(CnWorld *world, const CniWatched *w, const CnSolveReport *solve,
                         const CniMotionFigures *now, double step) {
  CniWatch *watch = &world->now.watch;
  double energy, scheme;
  if (watch->steps == 1) watch->potential = w->before.potential;
  const CniWorks *works = cni_equations_works(world);
  watch->kinetic = cn_max(watch->kinetic, cn_max(w->before.kinetic, now->kinetic));
  if (works) watch->kinetic = cn_max(watch->kinetic, works->kinetic);
  watch->fallen = cn_max(watch->fallen, fabs(now->potential - watch->potential));
  // what springs store may be in motion soon
  if (w->springs.known) watch->fallen = cn_max(watch->fallen, w->springs.energy);
  if (knows_springs(world)) watch->fallen = cn_max(watch->fallen, world->soft.stored);
  // what holds still has no energy: the step would make this much of what pushes if nothing held
  if (world->balance_known && !w->passive)
    watch->fallen = cn_max(watch->fallen, cni_watch_pushes(world));
  watch->blind += !unaccounted(world, w, now, &energy, &scheme);
  watch->energy += energy;
  watch->scheme += scheme;
  watch->energy_least = cn_min(watch->energy_least, watch->energy);
  // A fall is resolved after some steps of gravity: what is slower than that is beneath notice. The
  // first steps of a fall are off by h/2 in time, which after n of them is 1/n of the energy.
  double least = now->mass * step * step;
  double most = cn_max(watch->kinetic, watch->fallen);
  // the work of the weight is told half a step late
  double late = weight(world, now) * now->fastest * world->work.time_step;
  double drives = told_late(world, solve);
  double made = watch->energy - watch->energy_least - closing(world, now) - late - drives;
  note_share(watch, CN_FINDING_ENERGY, cn_max(made, 0), cn_max(most, 50 * least));
  // where contacts work, too, what they take and what the weight's half step gives cannot be told apart
  if (world->balance_known && contacts_work(world, most)) watch->scheme = 0;
  double taken = fabs(watch->scheme) - closing(world, now) - drives;
  // what springs of the weight's own swing about is beneath notice; where gravity and rigid joints are all there is
  // nothing but that half step is, and it is back whenever the motion turns
  double notice = w->passive ? STILL * least : 100 * least;
  if (w->passive) taken -= late;
  note_scheme(world, taken, most, notice);
}

// ---- the step ----

static void add_contact(const CnWorld *world, int32_t contact, CniWhose *whose) {
  const CniModel *model = &world->now.model;
  int32_t a, b;
  cni_contact_find_shapes(&world->now, contact, &a, &b);
  if (a >= 0) whose->body = cni_body_id(model, model->shapes[a].body);
  if (b >= 0) whose->other = cni_body_id(model, model->shapes[b].body);
}

// The owner of a row of the problem; of couplings and joints the first ones are kept.
static void add_owner(const CnWorld *world, int32_t row, CniWhose *whose) {
  const CnProblem *p = world->now.engine.problem;
  const CniModel *model = &world->now.model;
  int32_t block = 0, joints = world->work.joint_blocks ? world->work.joint_blocks[0] : 0;
  while (block < p->block_count &&
         (row < p->blocks[block].row || row >= p->blocks[block].row + p->blocks[block].dim))
    block++;
  int32_t k = block - joints + model->coupling_count;
  CnBlockOwner owner;
  if (block < joints && k >= 0) {
    CnCouplingId id = {model->couplings[k].slot, model->couplings[k].generation};
    if (!whose->coupling.slot)
      whose->coupling = id;
    else if (!whose->with.slot && id.slot != whose->coupling.slot)
      whose->with = id;
  } else if (!whose->joint.slot && cn_world_problem_block(world, block, &owner) == CN_OK) {
    whose->joint = owner.joint;
    if (owner.contact >= 0 && !whose->body.slot) add_contact(world, owner.contact, whose);
  }
}

static CniWhose whose_rows(const CnWorld *world, const CnSolveReport *solve,
                           const int32_t *contradicting) {
  CniWhose whose = {.limit = 0};
  if (solve->infeasible_count == 0) return whose;
  if (contradicting[0] >= 0) {
    add_contact(world, contradicting[0], &whose);
    return whose;
  }
  for (int32_t i = 0; i < solve->infeasible_count && i < CN_REPORT_ROWS; i++)
    add_owner(world, solve->infeasible_rows[i], &whose);
  return whose;
}

// Did the work that an effort allows end before the answer was near? Where a tolerance was named, missing
// it is a reason of its own.
static int cut_short(const CnSolverDef *solver, const CnSolveReport *solve) {
  return solve->converged == 0 && solver->tolerance == 0 && solver->effort != CN_EFFORT_EXACT &&
         cn_solver_tolerance(solver) > 0 && solve->infeasible_count == 0 &&
         !(solve->certificate.residual <= CUT_SHORT);
}

// What round-off alone leaves of a residual: a body of little inertia on a long arm turns by the last digit
// of the force that holds it.
static double round_off(const CniModel *model) {
  double most = 1;
  for (int32_t i = 0; i < 2 * model->joint_count; i++) {
    const CniJoint *joint = &model->joints[i / 2];
    int32_t body = i % 2 ? joint->body_b : joint->body_a;
    if (body < 0 || !cni_has_mass(&model->mass[body])) continue;
    CnVec3 j = cni_model_principal(model, body);
    double arm = cn_norm2((i % 2 ? joint->local_b : joint->local_a).position);
    most = cn_max(most, model->mass[body].mass * arm / cn_min(j.x, cn_min(j.y, j.z)));
  }
  return ROUND_OFF * most;
}

// s, of a step that may be too long for what turns; 0: the scheme has chosen its steps.
static double turning_step(const CnWorld *world, const CnSolveReport *solve) {
  const CnIntegratorDef *own = &world->now.settings.integration;
  double h = world->work.time_step;
  if (solve->converged >= 0) return h;
  return own->tolerance > 0 ? 0 : own->step > 0 ? cn_min(own->step, h) : h;
}

void cni_watch_end(CnWorld *world, const CniWatched *w, const CnSolveReport *solve,
                   const int32_t *contradicting) {
  CniWatch *watch = &world->now.watch;
  CniMotionFigures now = figures_of(world, w->rotors);
  const CniModel *model = &world->now.model;
  CniFinding joints = w->open;
  watch->steps++;
  if (world->work.open && world->work.open->relative > joints.relative) joints = *world->work.open;
  if (world->work.open)
    ;
  else if (world->work.places)
    for (int32_t i = 0; i < model->joint_count; i++)
      cni_watch_joint(model, i, &world->work.places[i], &joints);
  else
    cni_watch_joints(world, &joints);
  note(watch, CN_FINDING_JOINTS, &joints);
  note(watch, CN_FINDING_OVERLAPS, &world->work.overlap);
  double step = least_speed(world, solve);
  watch_energy(world, w, solve, &now, step);
  if (solve->converged >= 0)
    note_share(watch, CN_FINDING_RESIDUAL, solve->certificate.residual_speed,
               cn_max(cn_max(w->before.speed, now.speed), step));
  double turn = now.spin * turning_step(world, solve);
  if (turn > 0 && now.spinning >= 0)
    note(watch, CN_FINDING_TURNING,
         &(CniFinding){.value = turn,
                       .relative = turn,
                       .turns = 1,
                       .whose = {.body = cni_body_id(model, now.spinning)}});
  CniFinding bad = {.value = 1, .relative = 1};
  const CnSolverDef *solver = &world->now.settings.solver;
  if (solve->converged == 0 &&
      (solver->tolerance > 0 ||
       (solver->effort == CN_EFFORT_EXACT && cn_solver_tolerance(solver) > 0)) &&
      !(solve->certificate.residual <= round_off(model)))
    note(watch, CN_FINDING_NOT_CONVERGED, &bad);
  if (solve->cut_by_time || cut_short(solver, solve)) note(watch, CN_FINDING_CUT, &bad);
  bad.whose = whose_rows(world, solve, contradicting);
  if (solve->infeasible_count > 0) note(watch, CN_FINDING_INFEASIBLE, &bad);
}
