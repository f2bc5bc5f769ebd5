// SPDX-License-Identifier: Apache-2.0
// cairn check: is a scene what its author meant? Opens it, fills a world, and lists what would
// surprise in a run: bodies that overlap from the start, dynamic bodies without mass, joints that
// are open or follow from others, parameters that nothing reads; the degrees of freedom; and the figures
// that tell whether units are right: total mass, sizes, a time step that suits them. Integrators that
// work with equations of motion refuse some of what a scene may hold: they make a step, at the end of
// it all, and what they refuse is told. A stored answer of a problem is checked in check_answer.c.
//
// The recommended time step. In one step gravity g moves a body at rest by g h^2; that is to stay
// below 1/400 of the inradius r of the smallest body, so that a pile sinks little before it is
// pushed back: h <= sqrt(r/g)/20. A body that is fast from the start is to move by r/4 in a step at
// most: h <= r/(4 |v|). The result is rounded down to 1, 2 or 5 times a power of ten.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check/check.h"
#include "cli/job.h"
#include "cli/machine.h"
#include "cli/problem_file.h"

#define TOUCHING 1e-6 // of the smallest inradius: shallower overlaps are round-off of touching

typedef struct Check {
  CnScene *scene;
  CnWorld *world;
  CnWorldDef def;
  CnOverlap *overlaps;
  int32_t overlap_count, massless_count, dynamic_count;
  CniMachineCheck machine;
  CnFinding start;           // joints that are open, beyond limits, couplings that are off
  double size_min, size_max; // m, extents of dynamic shapes
  double inradius;           // m, of the smallest
  double speed;              // m/s, the fastest at the start
} Check;

// ---- sizes ----

static void take_size(Check *check, double extent) {
  check->size_min = fmin(check->size_min, extent);
  check->size_max = fmax(check->size_max, extent);
}

static double norm_of(CnVec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static CnStatus take_shape(Check *check, CnShapeId shape) {
  CnShapeSize size;
  CNI_TRY(cn_shape_size(check->world, shape, &size));
  if (!isfinite(size.outradius)) return CN_OK; // a half-space
  take_size(check, size.high.x - size.low.x);
  take_size(check, size.high.y - size.low.y);
  take_size(check, size.high.z - size.low.z);
  check->inradius = fmin(check->inradius, size.inradius);
  return CN_OK;
}

static CnStatus take_body(Check *check, CnBodyId body) {
  CnBodyInfo info;
  CnTwist twist;
  CNI_TRY(cn_body_info(check->world, body, &info));
  CNI_TRY(cn_body_twist(check->world, body, &twist));
  if (info.kind != CN_BODY_DYNAMIC) return CN_OK;
  check->dynamic_count++;
  if (!(info.mass > 0)) check->massless_count++;
  check->speed = fmax(check->speed, norm_of(twist.velocity));
  for (int32_t i = 0; i < info.shape_count; i++)
    CNI_TRY(take_shape(check, cn_body_shape(check->world, body, i)));
  return CN_OK;
}

static CnStatus take_bodies(Check *check) {
  check->size_min = check->inradius = INFINITY;
  CnBodyId body = {0, 0};
  for (;;) {
    body = cn_world_next_body(check->world, body);
    if (body.slot == 0 && body.generation == 0) return CN_OK;
    CNI_TRY(take_body(check, body));
  }
}

static double recommended_step(const Check *check) {
  double g = norm_of(check->def.gravity), h = INFINITY;
  if (g > 0) h = sqrt(check->inradius / g) / 20;
  if (check->speed > 0) h = fmin(h, check->inradius / (4 * check->speed));
  if (!isfinite(h) || !(h > 0)) return check->def.time_step;
  double power = pow(10, floor(log10(h))), lead = h / power * (1 + 1e-12);
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

// ---- overlaps ----

// The deepest come first: those that only touch are at the end.
static CnStatus find_overlaps(Check *check) {
  double limit = isfinite(check->inradius) ? TOUCHING * check->inradius : 0;
  int32_t count;
  CNI_TRY(cn_world_overlap_pairs(check->world, NULL, 0, &count));
  check->overlaps = calloc((size_t)count + 1, sizeof *check->overlaps);
  if (!check->overlaps) return cn_error_set(CN_NO_MEMORY, "out of memory");
  CNI_TRY(cn_world_overlap_pairs(check->world, check->overlaps, count, &count));
  while (check->overlap_count < count && check->overlaps[check->overlap_count].depth > limit)
    check->overlap_count++;
  return CN_OK;
}

// ---- results ----

static void show_overlaps(CniShow *show, const Check *check) {
  int32_t listed = show->json ? CNI_LISTED_JSON : CNI_LISTED_TEXT, count = check->overlap_count;
  cni_show_count(show, "overlap_count", "initial overlaps", count);
  cni_show_number(show, "overlap_max", count ? "  deepest" : NULL,
                  count ? check->overlaps[0].depth : 0, "m");
  cni_show_list(show, "overlaps", NULL);
  for (int32_t i = 0; i < count && i < listed; i++) {
    const CnOverlap *o = &check->overlaps[i];
    char a[CNI_MACHINE_NAME], b[CNI_MACHINE_NAME];
    cni_check_label(check->world, o->body_a, a);
    cni_check_label(check->world, o->body_b, b);
    cni_show_row(show);
    cni_show_text(show, "body_a", "a", a);
    cni_show_text(show, "body_b", "b", b);
    cni_show_number(show, "depth", "depth", o->depth, "m");
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
  if (!show->json && count > listed) printf("  and %d more\n", count - listed);
}

static void show_massless(CniShow *show, const Check *check) {
  CnBodyId body = {0, 0};
  int32_t shown = 0;
  cni_show_count(show, "massless_count", "without mass", check->massless_count);
  cni_show_list(show, "massless", NULL);
  while (body = cn_world_next_body(check->world, body), body.slot && shown < CNI_LISTED_JSON) {
    char label[CNI_MACHINE_NAME];
    CnBodyInfo info;
    if (cn_body_info(check->world, body, &info) != CN_OK || info.kind != CN_BODY_DYNAMIC ||
        info.inertia.x != 0)
      continue;
    cni_show_row(show);
    cni_show_text(show, "body", "body", cni_check_label(check->world, body, label));
    cni_show_row_end(show);
    shown++;
  }
  cni_show_list_end(show);
}

static void show_unused(CniShow *show, const Check *check, const CnSceneInfo *info) {
  int32_t unused = 0;
  CnSceneParameter parameter;
  for (int32_t i = 0; i < info->parameter_count; i++)
    if (cn_scene_parameter(check->scene, i, &parameter) == CN_OK) unused += !parameter.used;
  cni_show_count(show, "unused_parameter_count", "unused parameters", unused);
  cni_show_list(show, "unused_parameters", NULL);
  for (int32_t i = 0; i < info->parameter_count; i++) {
    if (cn_scene_parameter(check->scene, i, &parameter) != CN_OK || parameter.used) continue;
    cni_show_row(show);
    cni_show_text(show, "name", "name", parameter.name);
    cni_show_number(show, "value", "value", parameter.value, "");
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
}

static void show(const Check *check, const char *label, int64_t ranks, int json) {
  CniShow sheet;
  CnSceneInfo info;
  CnWorldSums sums;
  cn_scene_info(check->scene, &info);
  cn_world_sums(check->world, &sums);
  cni_show_begin(&sheet, stdout, json);
  cni_show_text(&sheet, "scene", "scene", label);
  cni_show_count(&sheet, "bodies", "bodies", info.body_count);
  cni_show_count(&sheet, "dynamic_bodies", "  dynamic", check->dynamic_count);
  cni_show_count(&sheet, "shapes", "shapes", info.shape_count);
  cni_show_count(&sheet, "joints", "joints", info.joint_count);
  cni_show_count(&sheet, "forces", "forces", info.force_count);
  cni_show_number(&sheet, "mass", "total mass", sums.mass, "kg");
  int sized = isfinite(check->size_min);
  cni_show_number(&sheet, "size_min", sized ? "smallest size" : NULL, check->size_min, "m");
  cni_show_number(&sheet, "size_max", sized ? "largest size" : NULL, sized ? check->size_max : NAN,
                  "m");
  cni_show_number(&sheet, "speed_max", "fastest at start", check->speed, "m/s");
  cni_show_number(&sheet, "time", "time", info.time, "s");
  cni_show_number(&sheet, "h", "time step h", check->def.time_step, "s");
  cni_show_number(&sheet, "recommended_h", "recommended h", recommended_step(check), "s");
  cni_machine_show(&sheet, check->world, &check->machine);
  show_overlaps(&sheet, check);
  cni_machine_show_far_limits(&sheet, check->world);
  show_massless(&sheet, check);
  show_unused(&sheet, check, &info);
  cni_check_ranks(&sheet, check->dynamic_count, ranks);
  cni_show_end(&sheet);
}

// ---- the command ----

static CnStatus examine(const CniArgs *args, Check *check, const char *label,
                        const char *integrator, const CnSetting *settings, int32_t setting_count) {
  CNI_TRY(cni_open_scene(args, label, settings, setting_count, &check->scene));
  check->def = cn_world_def_default();
  cn_scene_world_def(check->scene, &check->def);
  if (integrator) check->def.integrator = integrator;
  CNI_TRY(cn_world_create(&check->def, &check->world));
  CNI_TRY(cn_scene_fill(check->scene, check->world));
  CNI_TRY(take_bodies(check));
  CNI_TRY(cni_machine_look(check->world, check->def.assemble, &check->machine));
  CnVerdict verdict;
  CNI_TRY(cn_world_verdict(check->world, &verdict));
  check->start = verdict.findings[CN_FINDING_JOINTS];
  return find_overlaps(check);
}

static int check_scene(const CniArgs *args) {
  Check check = {0};
  CnSetting *settings = NULL;
  char *texts = NULL;
  int32_t count = 0;
  const char *label = args->operands[0], *integrator = NULL;
  char deep[256];
  int64_t ranks = 0;
  if (!cni_args_whole(args, "ranks", 1, 1 << 20, &ranks)) return CNI_EXIT_USAGE;
  if (!cni_args_choice(args, "integrator", cn_integrator_name, &integrator)) return CNI_EXIT_USAGE;
  int status = cni_settings_parse(args, &settings, &count, &texts);
  if (status == CNI_EXIT_DONE && examine(args, &check, label, integrator, settings, count) != CN_OK)
    status = cni_fail(args, "%s", cn_error_message());
  if (status == CNI_EXIT_DONE) {
    show(&check, label, ranks, cni_args_has(args, "json"));
    cni_tell_beware(check.scene, label);
    if (check.massless_count > 0) {
      cni_tell("%s: %d dynamic bodies have no mass: a run would fail", label, check.massless_count);
      status = CNI_EXIT_FAILED;
    } else if (check.start.is_reason) {
      cni_tell("%s: mend the start: %s", label, check.start.text);
      status = CNI_EXIT_FAILED;
    } else if (cn_integrator_traits(check.def.integrator) & CN_INTEGRATOR_EQUATIONS &&
               cn_world_step(check.world, NULL) != CN_OK) {
      cni_tell("%s: a run would fail: %s", label, cn_error_message());
      status = CNI_EXIT_FAILED;
    } else if (cni_check_deep(check.world, check.overlaps, check.overlap_count, deep,
                              sizeof deep)) {
      cni_tell("%s: mend the start: %s", label, deep);
      status = CNI_EXIT_FAILED;
    } else if (cn_world_check_meetings(check.world) != CN_OK) {
      cni_tell("%s: a run would stop if these meet: %s", label, cn_error_message());
    }
  }
  free(check.overlaps);
  free(check.machine.dependent);
  cn_world_destroy(check.world);
  cn_scene_destroy(check.scene);
  free(settings);
  free(texts);
  return status;
}

static int run(const CniArgs *args) {
  if (cni_args_has(args, "answer")) return cni_check_answer(args);
  if (cni_args_has(args, "tol")) return cni_usage_error(args->command, "--tol needs --answer");
  if (cn_file_kind(args->operands[0]) == CN_FILE_KIND_PROBLEM)
    return cni_usage_error(args->command, "%s is a problem: --answer FILE is missing",
                           args->operands[0]);
  int wrong = cni_not_a_scene(args, args->operands[0]);
  return wrong ? wrong : check_scene(args);
}

static const CniOption options[] = {
    CNI_OPTION_SET,
    CNI_OPTION_FILES,
    CNI_OPTION_NO_CACHE,
    {"integrator", 0, "I", "would a run with this one work?"},
    {"ranks", 0, "N", "what N processes of cairn-mpi would share, and their memory"},
    {"answer", 0, "FILE", "check this answer (JSON) of a problem instead of a scene"},
    {"tol", 0, "X", "error an answer may have (default 1e-8 for LCP and MLCP, 1e-4 with friction)"},
    CNI_OPTION_JSON,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn check scene.json", "read a scene and list what would surprise in a run"},
    {"cairn check stack --set boxes=50 --json", "a built-in scene with a parameter, as JSON"},
    {"cairn check joints --integrator hem5", "can this integrator follow the scene?"},
    {"cairn check problem.dat --answer answer.json", "how good is this answer?"},
    {NULL, NULL}};
const CniCommand cni_command_check = {
    .name = "check",
    .summary = "look over a scene before running it, or a stored answer",
    .operands = "SCENE|PROBLEM",
    .operand_min = 1,
    .operand_max = 1,
    .description =
        "Reads a scene and lists bodies that overlap from the start, dynamic bodies without mass, "
        "the freedoms that joints and couplings leave, rows of them that depend on others, "
        "parameters that nothing reads, total mass, the range of sizes and a time step that suits "
        "them. Exit status 1 and one line where a run would fail, where a joint starts open or "
        "beyond a limit, or a coupling off, by 1 % of its size or 0.01 rad, and where two bodies "
        "overlap by more than 5 % of the smaller one's inradius.\n\n"
        "The recommended time step lets gravity move a body at rest by no more than 1/400 of the "
        "smallest inradius in one step, and the fastest body by no more than a quarter of it.\n\n"
        "With --ranks: what N processes of cairn-mpi would share of a pile of these bodies. Each "
        "holds all bodies, and a part of what a step needs; slabs of the pile go to them whole, "
        "even "
        "ones are swept before odd ones, so that some numbers leave ranks waiting.\n\n"
        "With --answer the file is a problem as `cairn solve` takes it, and the answer (r and v, "
        "or "
        "z, as `cairn solve --json --impulses` prints them) is certified: exit status 0 if it is "
        "within --tol, 3 if not.",
    .options = options,
    .examples = examples,
    .run = run};
