// SPDX-License-Identifier: Apache-2.0
// Settings of a world on the command line and in results: all that their descriptions list, by
// names like time_step, solver.facets, integrator.max_steps.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cairn/tools.h>

#include "cli/job.h"

// ---- scenes ----

const char *cni_cache_folder(char folder[CNI_CACHE_FOLDER]) {
  const char *given = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int n = given && given[0] == '/' ? snprintf(folder, CNI_CACHE_FOLDER, "%s/cairn", given)
          : home && home[0] == '/' ? snprintf(folder, CNI_CACHE_FOLDER, "%s/.cache/cairn", home)
                                   : CNI_CACHE_FOLDER;
  return n < CNI_CACHE_FOLDER ? folder : NULL;
}

CnStatus cni_open_scene(const CniArgs *args, const char *label, const CnSetting *settings,
                        int32_t setting_count, CnScene **scene) {
  char folder[CNI_CACHE_FOLDER];
  CnAllocator allocator = cn_allocator_default();
  CnSceneOptions options = cn_scene_options_default();
  options.files = cni_args_text(args, "files");
  options.keep_parts = !cni_args_has(args, "no-cache");
  options.parts_folder = cni_cache_folder(folder);
  return cn_scene_open_with(label, &options, settings, setting_count, &allocator, scene);
}

// ---- from the command line ----

// All names are kept until one of them is told.
static const char *setting_name(void *context, int32_t index) {
  static CnSettingInfo kept[128];
  (void)context;
  return index < 128 && cn_setting_info(index, &kept[index]) == CN_OK ? kept[index].name : NULL;
}

static int is_option(const CniCommand *command, const char *name) {
  const CniOption *option = command->options;
  while (option->name && strcmp(option->name, name) != 0) option++;
  return option->name != NULL;
}

static int use_one(const CniArgs *args, const char *text, CnWorldDef *def) {
  size_t length = strcspn(text, "=");
  char name[64];
  if (length == 0 || text[length] != '=')
    return cni_usage_error(args->command, "--setting needs KEY=VALUE (got %s)", text);
  snprintf(name, sizeof name, "%.*s", (int)length, text);
  int32_t index = cn_setting_find(name);
  if (index < 0) {
    if (is_option(args->command, name))
      return cni_usage_error(args->command, "--setting %s is unknown: it is an option, --%s %s",
                             name, name, text + length + 1);
    const char *near = cni_nearest_of(text, length, setting_name, NULL);
    return cni_usage_error(args->command, "--setting %.*s is unknown%s%s%s", (int)length, text,
                           near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  }
  if (cn_setting_set(def, index, text + length + 1) != CN_OK) {
    const char *message = cn_error_message(), *twice = "setting: ";
    if (strncmp(message, twice, strlen(twice)) == 0) message += strlen(twice);
    return cni_usage_error(args->command, "--setting %s", message);
  }
  return CNI_EXIT_DONE;
}

// Another solver than the scene's keeps the budget that the scene asks for.
void cni_solver_change(CnSolverDef *solver, const char *name) {
  CnSolverDef usual = cn_solver_def_default(solver->name), other = cn_solver_def_default(name);
  if (strcmp(solver->name, name) == 0) return;
  if (solver->max_iterations != usual.max_iterations) other.max_iterations = solver->max_iterations;
  if (solver->tolerance != usual.tolerance) other.tolerance = solver->tolerance;
  other.effort = solver->effort;
  *solver = other;
}

// An effort is auto's: who names one has auto, and nobody else beside it.
int cni_effort_use(const CniArgs *args, const char *solver, CnSolverDef *def) {
  const char *effort = NULL;
  if (!cni_args_choice(args, "effort", cni_effort_name, &effort)) return CNI_EXIT_USAGE;
  if (!effort) return CNI_EXIT_DONE;
  if (solver && strcmp(solver, "auto") != 0)
    return cni_usage_error(args->command,
                           "--effort is of the solver auto; %s has --iters and --tol", solver);
  cni_solver_change(def, "auto");
  for (int32_t i = 0; cni_effort_name(i); i++)
    if (strcmp(cni_effort_name(i), effort) == 0) def->effort = (CnEffort)i;
  return CNI_EXIT_DONE;
}

// Schemes that choose their own steps: --tol is their tolerance, --h alone means steps of that
// length.
void cni_integration_use(const CniArgs *args, CnWorldDef *def) {
  if (!(cn_integrator_traits(def->integrator) & CN_INTEGRATOR_OWN_STEPS)) return;
  if (cni_args_has(args, "tol"))
    def->integration.tolerance = def->solver.tolerance;
  else if (cni_args_has(args, "h"))
    def->integration.tolerance = 0;
}

int cni_settings_use(const CniArgs *args, CnWorldDef *def) {
  const char *text;
  int status = CNI_EXIT_DONE;
  for (int32_t i = 0; status == CNI_EXIT_DONE && (text = cni_args_nth(args, "setting", i)); i++)
    status = use_one(args, text, def);
  return status;
}

// Bit by bit, but for names, which may be the same at two places.
static int same(const CnSettingValue *a, const CnSettingValue *b) {
  if (a->word || b->word) return a->word && b->word && strcmp(a->word, b->word) == 0;
  return memcmp(a->numbers, b->numbers, sizeof a->numbers) == 0;
}

int cni_settings_equal(const CnWorldDef *a, const CnWorldDef *b) {
  CnSettingInfo info;
  for (int32_t i = 0; cn_setting_info(i, &info) == CN_OK; i++) {
    CnSettingValue of_a, of_b;
    if (cn_setting_get(a, i, &of_a) != CN_OK || cn_setting_get(b, i, &of_b) != CN_OK) return 0;
    if (!same(&of_a, &of_b)) return 0;
  }
  return 1;
}

// ---- in results ----

static void show_value(CniShow *show, const CnSettingInfo *info, const CnSettingValue *value) {
  switch (info->type) {
  case CN_SETTING_VECTOR:
    cni_show_vector(show, "value", "value", value->numbers, info->unit);
    break;
  case CN_SETTING_REAL:
    cni_show_number(show, "value", "value", value->numbers[0], info->unit);
    break;
  case CN_SETTING_WORD:
    cni_show_text(show, "value", "value", value->word);
    break;
  case CN_SETTING_FLAG:
    cni_show_flag(show, "value", "value", value->numbers[0] != 0);
    break;
  default:
    cni_show_count(show, "value", "value", (int64_t)value->numbers[0]);
  }
}

// People see those that are not the default.
void cni_show_all_settings(CniShow *show, const CnWorldDef *def) {
  CnWorldDef usual = cn_world_def_default();
  usual.solver = cn_solver_def_default(def->solver.name);
  CnSettingInfo info;
  cni_show_list(show, "settings", cni_settings_equal(def, &usual) ? NULL : "other settings");
  for (int32_t i = 0; cn_setting_info(i, &info) == CN_OK; i++) {
    CnSettingValue value, standard;
    if (cn_setting_get(def, i, &value) != CN_OK || cn_setting_get(&usual, i, &standard) != CN_OK ||
        (same(&value, &standard) && !show->json))
      continue;
    cni_show_row(show);
    cni_show_text(show, "name", "name", info.name);
    show_value(show, &info, &value);
    if (info.unit[0]) cni_show_text(show, "unit", NULL, info.unit);
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
}

// ---- outputs ----

static char unfinished[4200]; // PATH.partial, taken away where a signal ends the command

static void leave(int number) {
  unlink(unfinished);
  raise(number); // which has its usual effect again
}

static void leave_clean(const char *path) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  struct sigaction action, before;
  if (snprintf(unfinished, sizeof unfinished, "%s.partial", path) >= (int)sizeof unfinished) return;
  memset(&action, 0, sizeof action);
  action.sa_handler = leave;
  action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
    if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(signals[i], &action, NULL);
}

int cni_check_vacant(const CniArgs *args, const char *path) {
  if (!cni_args_has(args, "force") && cn_output_vacant(path) != CN_OK)
    return cni_fail(args, "%s (--force replaces it)", cn_error_message());
  leave_clean(path);
  return CNI_EXIT_DONE;
}
