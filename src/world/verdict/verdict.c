// SPDX-License-Identifier: Apache-2.0
// The verdict: what the watch has seen (watch.c) against one table of thresholds, in words for a person.
// docs/theory/verdict.md has the reasons for the numbers.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/floats.h"
#include "core/math.h"
#include "solver/solver.h"
#include "world/world.h"

const CniFindingKind cni_finding_kinds[CN_FINDING_COUNT] = {
    [CN_FINDING_JOINTS] = {"joints", 0.01, 0},
    [CN_FINDING_OVERLAPS] = {"overlaps", 0.25, 0},
    [CN_FINDING_RESIDUAL] = {"residual", 0.1, 0.02},
    [CN_FINDING_ENERGY] = {"energy", 0.05, 0},
    [CN_FINDING_SCHEME] = {"scheme", 0.1, 0},
    [CN_FINDING_TURNING] = {"turning", 1, 0.02},
    [CN_FINDING_NOT_CONVERGED] = {"not_converged", 0, 0.05},
    [CN_FINDING_CUT] = {"cut", 0, 0.05},
    [CN_FINDING_INFEASIBLE] = {"infeasible", 0, 0},
    [CN_FINDING_STEP] = {"step", 50, 0},
    [CN_FINDING_DISTANCE] = {"distance", 1e-3, 0},
};

// The order in which reasons are told: causes before what comes of them.
static const CnFindingKind gravest[CN_FINDING_COUNT] = {
    CN_FINDING_STEP,          CN_FINDING_DISTANCE, CN_FINDING_INFEASIBLE, CN_FINDING_JOINTS,
    CN_FINDING_OVERLAPS,      CN_FINDING_ENERGY,   CN_FINDING_SCHEME,     CN_FINDING_TURNING,
    CN_FINDING_NOT_CONVERGED, CN_FINDING_CUT,      CN_FINDING_RESIDUAL};

const char *cn_finding_name(int32_t kind) {
  return kind >= 0 && kind < CN_FINDING_COUNT ? cni_finding_kinds[kind].name : NULL;
}

// ---- words ----

typedef struct Text {
  char *at;
  size_t room; // the final zero included
} Text;

static void put(Text *t, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsnprintf(t->at, t->room, format, list);
  va_end(list);
  size_t used = n < 0 ? 0 : (size_t)n < t->room ? (size_t)n : t->room - 1;
  t->at += used;
  t->room -= used;
}

static void put_share(Text *t, double share) {
  if (share < 1e-4)
    put(t, "%.1g of", share);
  else if (share < 1)
    put(t, "%.2g %% of", 100 * share);
  else
    put(t, "%.2g times", share);
}

static void put_body(Text *t, const CnWorld *world, CnBodyId body) {
  int32_t i;
  const char *name = "";
  if (cni_model_find_body(&world->now.model, body, &i) == CN_OK)
    name = cni_body_name(&world->now.model.bodies[i]);
  if (name[0])
    put(t, "'%s'", name);
  else
    put(t, "body %u", (unsigned)body.slot);
}

static void put_joint(Text *t, const CnWorld *world, CnJointId joint) {
  int32_t i;
  const char *name = "";
  if (cni_model_find_joint(&world->now.model, joint, &i) == CN_OK)
    name = world->now.model.joints[i].name;
  if (name[0])
    put(t, "joint '%s'", name);
  else
    put(t, "joint %u", (unsigned)joint.slot);
}

static void put_coupling(Text *t, const CnWorld *world, CnCouplingId coupling) {
  int32_t i;
  const char *name = "";
  if (cni_model_find_coupling(&world->now.model, coupling, &i) == CN_OK)
    name = world->now.model.couplings[i].name;
  if (name[0])
    put(t, "coupling '%s'", name);
  else
    put(t, "coupling %u", (unsigned)coupling.slot);
}

static void put_pair(Text *t, const CnWorld *world, const CnFinding *f) {
  put_body(t, world, f->body);
  put(t, " and ");
  put_body(t, world, f->other);
}

static void put_steps(Text *t, const CnFinding *f) {
  if (f->first_step == 0) put(t, " at the end");
  if (f->first_step > 0) put(t, " from step %lld on", (long long)f->first_step);
}

// Was it never farther open than before the first step?
static int starts_open(const CnFinding *f) { return f->first_step <= 1 && f->worst_step <= 1; }

static void say_joints(Text *t, const CnWorld *world, const CniFinding *found, const CnFinding *f) {
  int turns = found->turns, starts = starts_open(f);
  const char *unit = turns ? "rad" : "m";
  if (f->coupling.slot) {
    put_coupling(t, world, f->coupling);
    put(t, "%s off by %.2g %s", starts ? " starts" : " is", f->value, unit);
  } else {
    put_joint(t, world, f->joint);
    if (found->whose.limit == CNI_OFF_TARGET)
      put(t, " starts %.2g %s from where its motor keeps it", f->value, unit);
    else if (found->whose.limit)
      put(t, " %s beyond its limit by %.2g %s", starts ? "starts" : "is", f->value, unit);
    else if (starts)
      put(t, " starts %s by %.2g %s", turns ? "turned out of place" : "open", f->value, unit);
    else
      put(t, turns ? " turned out of place by %.2g rad" : " opened by %.2g m", f->value);
  }
  if (!turns) {
    put(t, " (");
    put_share(t, f->relative);
    put(t, " its size)");
  }
  if (!starts) put_steps(t, f);
}

static void say_overlaps(Text *t, const CnWorld *world, const CniFinding *found,
                         const CnFinding *f) {
  (void)found;
  put_pair(t, world, f);
  put(t, " are %.2g m in each other (", f->value);
  put_share(t, f->relative);
  put(t, " the smaller one's radius)");
  put_steps(t, f);
}

static void say_residual(Text *t, const CnWorld *world, const CniFinding *found,
                         const CnFinding *f) {
  (void)world, (void)found;
  put(t, "contacts and joints miss their laws by %.2g m/s (", f->value);
  put_share(t, f->relative);
  put(t, " the speeds of the scene) in %lld steps", (long long)f->step_count);
  put_steps(t, f);
}

static void say_energy(Text *t, const CnWorld *world, const CniFinding *found, const CnFinding *f) {
  (void)world, (void)found;
  put(t, "%.2g J came from nowhere (", f->value);
  put_share(t, f->relative);
  put(t, " the energy of the scene)");
  put_steps(t, f);
}

static void say_scheme(Text *t, const CnWorld *world, const CniFinding *found, const CnFinding *f) {
  (void)world, (void)found;
  put(t, "the time step itself changed the energy by %.2g J (", f->value);
  put_share(t, f->relative);
  put(t, " that of the scene)");
  put_steps(t, f);
}

static void say_turning(Text *t, const CnWorld *world, const CniFinding *found,
                        const CnFinding *f) {
  (void)found;
  put_body(t, world, f->body);
  put(t, " turns by %.2g rad in a step", f->value);
  put_steps(t, f);
}

static void say_not_converged(Text *t, const CnWorld *world, const CniFinding *found,
                              const CnFinding *f) {
  (void)found;
  put(t, "the solver missed its tolerance %g in %lld steps",
      cn_solver_tolerance(&world->now.settings.solver), (long long)f->step_count);
  put_steps(t, f);
}

static void say_cut(Text *t, const CnWorld *world, const CniFinding *found, const CnFinding *f) {
  (void)found;
  const CnSolverDef *solver = &world->now.settings.solver;
  if (solver->time_budget > 0)
    put(t, "the time budget cut %lld steps", (long long)f->step_count);
  else
    put(t, "the effort '%s' ended %lld steps before they were solved", cni_efforts[solver->effort],
        (long long)f->step_count);
  put_steps(t, f);
}

static void say_infeasible(Text *t, const CnWorld *world, const CniFinding *found,
                           const CnFinding *f) {
  (void)found;
  if (f->coupling.slot) {
    put_coupling(t, world, f->coupling);
    put(t, " contradicts ");
    if (f->with.slot) put_coupling(t, world, f->with);
    if (f->with.slot && f->joint.slot) put(t, " and ");
    if (f->joint.slot) put_joint(t, world, f->joint);
    if (!f->with.slot && !f->joint.slot) put(t, "others");
  } else if (f->joint.slot) {
    put_joint(t, world, f->joint);
    put(t, " contradicts others");
  } else {
    put(t, "contacts of ");
    put_pair(t, world, f);
    put(t, " contradict others");
  }
  put(t, " in %lld steps", (long long)f->step_count);
  put_steps(t, f);
}

static void say_step(Text *t, const CnWorld *world, const CniFinding *found, const CnFinding *f) {
  (void)found;
  put_body(t, world, f->body);
  put(t, " falls by %.2g m in a step (", f->value);
  put_share(t, f->relative);
  put(t, " its size)");
}

static void say_distance(Text *t, const CnWorld *world, const CniFinding *found,
                         const CnFinding *f) {
  (void)found;
  put_body(t, world, f->body);
  put(t, " is so far away that places there are %.2g m apart (", f->value);
  put_share(t, f->relative);
  put(t, " its size)");
}

static void (*const sayings[CN_FINDING_COUNT])(Text *t, const CnWorld *world,
                                               const CniFinding *found, const CnFinding *f) = {
    [CN_FINDING_JOINTS] = say_joints,
    [CN_FINDING_OVERLAPS] = say_overlaps,
    [CN_FINDING_RESIDUAL] = say_residual,
    [CN_FINDING_ENERGY] = say_energy,
    [CN_FINDING_SCHEME] = say_scheme,
    [CN_FINDING_TURNING] = say_turning,
    [CN_FINDING_NOT_CONVERGED] = say_not_converged,
    [CN_FINDING_CUT] = say_cut,
    [CN_FINDING_INFEASIBLE] = say_infeasible,
    [CN_FINDING_STEP] = say_step,
    [CN_FINDING_DISTANCE] = say_distance};

// ---- judgement ----

static CnFinding judge(const CniFinding *found, CnFindingKind kind, int64_t steps) {
  const CniFindingKind *row = &cni_finding_kinds[kind];
  CnFinding f = {.value = found->value,
                 .relative = found->relative,
                 .threshold = row->threshold,
                 .allowed_share = row->allowed_share,
                 .step_count = found->count,
                 .first_step = found->first,
                 .worst_step = found->worst,
                 .joint = found->whose.joint,
                 .body = found->whose.body,
                 .other = found->whose.other,
                 .coupling = found->whose.coupling,
                 .with = found->whose.with};
  f.is_reason = (double)f.step_count > row->allowed_share * (double)(steps > 0 ? steps : 1);
  return f;
}

// What the present positions add to what steps have seen where they began.
static CnStatus look_now(CnWorld *world, CniWatch *watch) {
  CniFinding joints = {0}, overlap = {0};
  CniFinding fall = {0}, far = {0};
  const CniContact *contacts;
  int32_t count;
  cni_watch_joints(world, &joints);
  cni_watch_scale(world, &fall, &far);
  if (!world->hooks.modify) { // which may take contacts out
    CNI_TRY(cni_world_touching(world, &contacts, &count));
    cni_watch_deepest(&world->now.model, contacts, count, NULL, 0, &overlap);
  }
  cni_watch_note(&watch->found[CN_FINDING_JOINTS], CN_FINDING_JOINTS, watch->steps, &joints);
  cni_watch_note(&watch->found[CN_FINDING_OVERLAPS], CN_FINDING_OVERLAPS, watch->steps, &overlap);
  cni_watch_note(&watch->found[CN_FINDING_STEP], CN_FINDING_STEP, watch->steps, &fall);
  cni_watch_note(&watch->found[CN_FINDING_DISTANCE], CN_FINDING_DISTANCE, watch->steps, &far);
  return CN_OK;
}

static void write_line(const CnWorld *world, CnVerdict *v) {
  Text t = {v->line, sizeof v->line};
  const CnFinding *f = v->findings;
  if (!v->trusted && v->reason_count == 0) {
    put(&t, "not judged: no step was made");
    return;
  }
  if (!v->trusted) {
    put(&t, "do not trust this run: ");
    for (int32_t i = 0; i < v->reason_count; i++)
      put(&t, "%s%s", i > 0 ? "; " : "", f[v->reasons[i]].text);
    return;
  }
  put(&t, "trusted: %lld steps", (long long)v->step_count);
  if (world->now.model.joint_count > 0) {
    put(&t, ", joints open by at most ");
    put_share(&t, f[CN_FINDING_JOINTS].relative);
    put(&t, " their size");
  }
  if (f[CN_FINDING_OVERLAPS].relative > 0) {
    put(&t, ", overlaps at most ");
    put_share(&t, f[CN_FINDING_OVERLAPS].relative);
    put(&t, " the bodies' radii");
  }
  if (v->energy_watched) {
    put(&t, ", energy made ");
    put_share(&t, f[CN_FINDING_ENERGY].relative);
    put(&t, " what there was");
  } else {
    put(&t, ", energy not watched");
  }
}

// A number that one would type.
static double typed(double h) {
  char text[32];
  double value = h;
  snprintf(text, sizeof text, "%.1g", h);
  return sscanf(text, "%lf", &value) == 1 ? value : h;
}

CnStatus cn_world_verdict(CnWorld *world, CnVerdict *verdict) {
  CNI_FLOATS;
  if (!verdict) return cni_null_argument("cn_world_verdict", "the result pointer");
  memset(verdict, 0, sizeof *verdict);
  CNI_TRY(cni_world_idle(world, "cn_world_verdict"));
  CniWatch watch = world->now.watch;
  CNI_TRY(look_now(world, &watch));
  CnVerdict v = {.step_count = watch.steps, .energy_watched = watch.blind == 0};
  for (int32_t i = 0; i < CN_FINDING_COUNT; i++) {
    CnFindingKind kind = gravest[i];
    CnFinding *f = &v.findings[kind];
    *f = judge(&watch.found[kind], kind, watch.steps);
    if (!f->is_reason) continue;
    sayings[kind](&(Text){f->text, sizeof f->text}, world, &watch.found[kind], f);
    v.reasons[v.reason_count++] = kind;
  }
  v.trusted = v.reason_count == 0 && watch.steps > 0;
  const CnFinding *f = v.findings;
  if ((f[CN_FINDING_JOINTS].is_reason && !starts_open(&f[CN_FINDING_JOINTS])) ||
      f[CN_FINDING_OVERLAPS].is_reason || f[CN_FINDING_ENERGY].is_reason ||
      f[CN_FINDING_SCHEME].is_reason || f[CN_FINDING_TURNING].is_reason)
    v.time_step = typed(0.2 * world->now.settings.time_step);
  if (f[CN_FINDING_STEP].is_reason) // in which a body falls by its size
    v.time_step = typed(world->now.settings.time_step / sqrt(f[CN_FINDING_STEP].relative));
  v.exact = f[CN_FINDING_RESIDUAL].is_reason || f[CN_FINDING_NOT_CONVERGED].is_reason ||
            (f[CN_FINDING_CUT].is_reason && !(world->now.settings.solver.time_budget > 0));
  write_line(world, &v);
  *verdict = v;
  return CN_OK;
}
