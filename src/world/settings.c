// SPDX-License-Identifier: Apache-2.0
// The settings of a world: their table, from which defaults, checks, scenes, snapshots, run files and
// documents take them, and their check as a whole.
#include <string.h>

#include "integrator/integrator.h"
#include "ranks/ranks.h"
#include "solver/solver.h"
#include "world/world.h"

static const char *const restitution_laws[] = {"newton", "poisson", "energetic", NULL};
static const char *const models[] = {"coulomb", "convex", NULL};

const CniField cni_world_fields[] = {
    CNI_FIELD(VEC3, CnWorldDef, gravity, ANY, "m/s^2", "gravity", .fallback = {0, 0, -9.81}),
    CNI_FIELD(REAL, CnWorldDef, time_step, DURATION, "s", "length of a step", .fallback = {1e-3}),
    CNI_FIELD(REAL, CnWorldDef, stabilisation, POSITIVE_SHARE, "",
              "share of a joint's error removed per step", .fallback = {0.2}),
    CNI_FIELD(REAL, CnWorldDef, contact_stabilisation, POSITIVE_SHARE, "", "the same for contacts",
              .fallback = {0.02}),
    CNI_FIELD(REAL, CnWorldDef, contact_slop, NOT_NEGATIVE, "m",
              "a smaller gap closes gently; 0: 0.001 of the smaller shape's radius"),
    CNI_FIELD(REAL, CnWorldDef, recovery_speed, AT_LEAST_MINUS_1, "m/s",
              "fastest speed at which overlaps are pushed apart; below 0: sqrt(g r), r the smaller "
              "shape's radius",
              .fallback = {-1}),
    CNI_FIELD(REAL, CnWorldDef, restitution_threshold, AT_LEAST_MINUS_1, "m/s",
              "slower impacts do not bounce; below 0: g h, the speed gained in a step",
              .fallback = {-1}),
    CNI_FIELD(CHOICE, CnWorldDef, restitution_law, ANY, "",
              "what restitution is a ratio of: speeds, impulses or work",
              .words = restitution_laws),
    CNI_FIELD(REAL, CnWorldDef, contact_margin, NOT_NEGATIVE, "m",
              "gaps below it always make a contact; 0: 0.05 of the smaller shape's radius r, at "
              "most 2 h sqrt(g r)"),
    CNI_FIELD(REAL, CnWorldDef, spring_theta, UPPER_HALF, "",
              "1 damps springs that h does not resolve, 1/2 keeps their energy (impulse)",
              .fallback = {1}),
    CNI_FIELD(FLAG, CnWorldDef, geometric_stiffness, ANY, "",
              "joints under tension stay stable at large steps", .fallback = {1}),
    CNI_FIELD(FLAG, CnWorldDef, assemble, ANY, "",
              "bodies are moved so that the joints fit before the first step"),
    CNI_FIELD(FLAG, CnWorldDef, balance, ANY, "",
              "every step keeps the balance of its momentum and energy",
              .where = CNI_NOT_IN_SNAPSHOT),
    CNI_FIELD(CHOICE, CnWorldDef, friction, ANY, "", "the law of friction", .words = models),
    CNI_FIELD(WORD, CnWorldDef, integrator, ANY, "", "the scheme in time",
              .table = cn_integrator_name),
    CNI_FIELD(WORD, CnWorldDef, broad_phase, ANY, "",
              "how near pairs are found; never changes bits", .table = cn_broad_phase_name,
              .where = CNI_NOT_IN_SNAPSHOT),
    CNI_FIELD(INTEGER, CnWorldDef, worker_count, AT_LEAST_1, "",
              "threads; results do not depend on it", .fallback = {1},
              .where = CNI_NOT_IN_SNAPSHOT | CNI_NOT_IN_SCENE),
    CNI_FIELDS_END,
};

const CniSettingsPart cni_settings_parts[CNI_SETTINGS_PARTS] = {
    {"", "", cni_world_fields, 0},
    {"solver", "", cni_solver_fields, offsetof(CnWorldDef, solver)},
    {"integrator", "integrator_", cni_integrator_fields, offsetof(CnWorldDef, integration)},
};

// A name as the library's table has it, which lives for ever.
static const char *own_name(const char *(*table)(int32_t), const char *name) {
  int32_t i = 0;
  while (table(i) && strcmp(table(i), name) != 0) i++;
  return table(i);
}

const char cni_unnamed_solver[] = "auto";

// A solver that nobody named is the one that suits the integrator.
static void choose_solver(CniSettings *s) {
  const CnIntegratorKind *kind = cni_integrator_find(s->integrator);
  if (s->solver.name != cni_unnamed_solver || !kind || !kind->solver) return;
  CnSolverDef usual = cn_solver_def_default(s->solver.name);
  CnSolverDef other = cn_solver_def_default(kind->solver);
  s->solver.name = other.name;
  if (s->solver.tolerance == usual.tolerance) s->solver.tolerance = other.tolerance;
  if (s->solver.effort == usual.effort) s->solver.effort = CN_EFFORT_EXACT;
  if (s->solver.max_iterations == usual.max_iterations)
    s->solver.max_iterations = other.max_iterations;
}

// What is done by sweeps is shared by ranks; a solver or scheme without them would do everything everywhere.
static CnStatus check_ranks(const CniSettings *s) {
  static const char *const sharing[] = {"psor", "pssor", "auto"};
  int32_t count = cni_ranks_count(s->ranks), known = 0;
  if (count == 1) return CN_OK;
  for (int32_t i = 0; i < 3; i++) known |= s->solver.name && !strcmp(s->solver.name, sharing[i]);
  if (!known)
    return cni_error(CN_UNSUPPORTED,
                     "solver '%s' runs on one rank (there are %d): psor, pssor and auto share "
                     "their sweeps",
                     s->solver.name, (int)count);
  if (strcmp(s->integrator, "impulse") != 0)
    return cni_error(CN_UNSUPPORTED,
                     "integrator '%s' runs on one rank (there are %d): impulse runs on several",
                     s->integrator, (int)count);
  return CN_OK;
}

CnStatus cni_settings_check(CniSettings *s) {
  CNI_TRY(cni_fields_check(cni_world_fields, "world", s));
  if (!s->solver.name) return cni_null_argument("world", "solver.name");
  CNI_TRY(cni_field_check(cni_solver_fields, "solver", &s->solver));
  s->integrator = own_name(cn_integrator_name, s->integrator);
  choose_solver(s);
  s->broad_phase = own_name(cn_broad_phase_name, s->broad_phase);
  s->solver.name = own_name(cn_solver_name, s->solver.name);
  return check_ranks(s);
}
