// SPDX-License-Identifier: Apache-2.0
// cairn sweep: a scene with many values of its parameters, one process a run, one row a run.
#include <cairn/tools.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/sweep/sweep.h"

// ---- what the table will have ----

static uint64_t mix(uint64_t hash, const char *text) { // FNV-1a, with the final zero
  do hash = (hash ^ (unsigned char)*text) * 1099511628211u;
  while (*text++);
  return hash;
}

// A number for all that decides a result beside the parameters.
static uint64_t setup_number(const CniArgs *args, const CnSceneInfo *info) {
  static const char *const apart[] = {"set",    "cases", "jobs",  "output", "part",    "case",
                                      "sensor", "force", "retry", "json",   "threads", "quiet"};
  uint64_t hash = mix(14695981039346656037u, cn_version());
  hash = mix(hash, info->text);
  for (int32_t i = 0; i < args->given_count; i++) {
    const CniGiven *given = &args->given[i];
    int counts = 1;
    for (size_t k = 0; k < sizeof apart / sizeof apart[0]; k++)
      counts &= strcmp(given->option->name, apart[k]) != 0;
    if (counts) hash = mix(mix(hash, given->option->name), given->value ? given->value : "");
  }
  return hash;
}

// What no list of parameters has may be set all the same, as the joints of a robot: the scene says so.
static int check_setting(const CniSweep *sweep, int32_t key) {
  CnScene *scene = NULL;
  CnSetting setting = {cni_cases_key(&sweep->cases, key), cni_cases_value(&sweep->cases, 1, key)};
  if (cni_open_scene(sweep->args, sweep->label, &setting, 1, &scene) != CN_OK)
    return cni_fail(sweep->args, "%s", cn_error_message());
  cn_scene_destroy(scene);
  return CNI_EXIT_DONE;
}

static int check_parameters(const CniSweep *sweep, const CnScene *scene, const CnSceneInfo *info) {
  int status = CNI_EXIT_DONE;
  for (int32_t i = 0; i < sweep->cases.key_count && status == CNI_EXIT_DONE; i++) {
    const char *key = cni_cases_key(&sweep->cases, i);
    CnSceneParameter parameter;
    int found = 0;
    for (int32_t k = 0; k < info->parameter_count; k++)
      found |=
          cn_scene_parameter(scene, k, &parameter) == CN_OK && strcmp(parameter.name, key) == 0;
    if (!found) status = check_setting(sweep, i);
  }
  return status;
}

// A table whose columns share a name cannot be read by name.
static int check_columns(const CniSweep *sweep) {
  for (int32_t i = 0; i < sweep->cases.key_count; i++) {
    const char *key = cni_cases_key(&sweep->cases, i);
    if (cni_table_has(sweep, key))
      return cni_fail(sweep->args,
                      "%s: the table has a column %s of its own: give the parameter another name",
                      sweep->label, key);
  }
  for (int32_t i = 0; i < sweep->sensor_count; i++)
    for (int32_t k = 0; k < i && cni_args_has(sweep->args, "sensor"); k++)
      if (strcmp(sweep->sensors[i], sweep->sensors[k]) == 0)
        return cni_usage_error(sweep->args->command, "--sensor %s is given twice",
                               sweep->sensors[i]);
  return CNI_EXIT_DONE;
}

static int add_sensor(CniSweep *sweep, const CnScene *scene, const CnSceneInfo *info,
                      const char *name) {
  CnSensorInfo sensor;
  for (int32_t k = 0; k < info->sensor_count; k++) {
    if (cn_scene_sensor(scene, k, &sensor) != CN_OK || strcmp(sensor.name, name) != 0) continue;
    char *own = strdup(name);
    if (!own) return cni_fail(sweep->args, "out of memory");
    sweep->sensors[sweep->sensor_count++] = own;
    return CNI_EXIT_DONE;
  }
  return cni_fail(sweep->args, "%s: there is no sensor %s; `cairn info %s` lists them",
                  sweep->label, name, sweep->label);
}

// Those of --sensor, or all.
static int choose_sensors(CniSweep *sweep, const CnScene *scene, const CnSceneInfo *info) {
  const char *name;
  int status = CNI_EXIT_DONE;
  int32_t asked = 0;
  while (cni_args_nth(sweep->args, "sensor", asked)) asked++;
  int32_t room = asked > 0 ? asked : info->sensor_count;
  sweep->sensors = calloc((size_t)room + 1, sizeof *sweep->sensors);
  if (!sweep->sensors) return cni_fail(sweep->args, "out of memory");
  for (int32_t i = 0; status == CNI_EXIT_DONE && i < room; i++) {
    CnSensorInfo sensor;
    name = cni_args_nth(sweep->args, "sensor", i);
    if (asked == 0 && cn_scene_sensor(scene, i, &sensor) == CN_OK) name = sensor.name;
    status = add_sensor(sweep, scene, info, name);
  }
  return status;
}

// The table is none of the files that are read.
static int check_output(const CniArgs *args, const CnScene *scene) {
  const char *output = cni_args_text(args, "output"), *cases;
  if (!output) return CNI_EXIT_DONE;
  CnStatus status = cn_scene_check_output(scene, output);
  for (int32_t i = 0; status == CN_OK && (cases = cni_args_nth(args, "cases", i)); i++)
    status = cn_output_check(output, cases);
  for (int32_t i = 1; status == CN_OK && i < args->operand_count; i++)
    status = cn_output_check(output, args->operands[i]);
  return status == CN_OK ? CNI_EXIT_DONE : cni_fail(args, "%s", cn_error_message());
}

// The scene as it is without the values: its parameters, sensors and text.
static int look_at_scene(CniSweep *sweep) {
  CnScene *scene = NULL;
  CnSceneInfo info;
  if (cni_open_scene(sweep->args, sweep->label, NULL, 0, &scene) != CN_OK)
    return cni_fail(sweep->args, "%s", cn_error_message());
  cn_scene_info(scene, &info);
  sweep->setup = setup_number(sweep->args, &info);
  int status = check_output(sweep->args, scene);
  if (status == CNI_EXIT_DONE) status = check_parameters(sweep, scene, &info);
  if (status == CNI_EXIT_DONE) status = choose_sensors(sweep, scene, &info);
  if (status == CNI_EXIT_DONE) status = check_columns(sweep);
  if (status == CNI_EXIT_DONE) cni_tell_beware(scene, sweep->label); // once, not once a run
  cn_scene_destroy(scene);
  return status;
}

// ---- which cases ----

// "3/8": every eighth case from the third on.
static int choose_part(const CniArgs *args, int64_t count, char *chosen) {
  const char *text = cni_args_text(args, "part");
  long long part = 1, parts = 1;
  char rest;
  if (text && (sscanf(text, "%lld/%lld%c", &part, &parts, &rest) != 2 || part < 1 || parts < part))
    return cni_usage_error(args->command, "--part must be K/N with K in 1 .. N (got %s)", text);
  for (int64_t i = 0; i < count; i++) chosen[i] = i % parts == part - 1;
  return CNI_EXIT_DONE;
}

static int choose_cases(const CniArgs *args, int64_t count, char *chosen) {
  int64_t number = 0;
  if (!cni_args_whole(args, "case", 1, count, &number)) return CNI_EXIT_USAGE;
  int status = choose_part(args, count, chosen);
  if (status != CNI_EXIT_DONE || number == 0) return status;
  memset(chosen, 0, (size_t)count);
  chosen[number - 1] = 1;
  return CNI_EXIT_DONE;
}

// ---- the result ----

static void show_json(const CniSweep *sweep, const CniTable *table, const CniCounts *counts) {
  CniShow show;
  cni_show_begin(&show, stdout, 1);
  cni_show_text(&show, "scene", NULL, sweep->label);
  if (table->path) cni_show_text(&show, "table", NULL, table->path);
  cni_show_count(&show, "runs", NULL, counts->runs);
  cni_show_count(&show, "made", NULL, counts->made);
  cni_show_count(&show, "failed", NULL, counts->failed);
  cni_show_count(&show, "not_trusted", NULL, counts->distrusted);
  cni_show_flag(&show, "interrupted", NULL, counts->interrupted);
  cni_show_list(&show, "failed_cases", NULL);
  for (int64_t i = 1; i <= sweep->cases.count; i++) {
    if (!table->rows[i - 1] || !cni_table_failed(table, i)) continue;
    cni_show_row(&show);
    cni_show_count(&show, "case", "case", i);
    cni_show_row_end(&show);
  }
  cni_show_list_end(&show);
  cni_show_end(&show);
}

static int tell(const CniSweep *sweep, const CniTable *table, const CniCounts *counts) {
  const CniArgs *args = sweep->args;
  if (cni_args_has(args, "json"))
    show_json(sweep, table, counts);
  else if (table->path && !cni_args_has(args, "quiet"))
    printf("%s: %lld of %lld runs in %s; %lld not trusted, %lld failed\n", sweep->label,
           (long long)counts->made, (long long)counts->runs, table->path,
           (long long)counts->distrusted, (long long)counts->failed);
  if (counts->interrupted) return CNI_EXIT_INTERRUPTED;
  if (counts->failed == 0) return CNI_EXIT_DONE;
  cni_tell("%s: %lld of %lld runs failed: see the column `error`", sweep->label,
           (long long)counts->failed, (long long)counts->runs);
  return CNI_EXIT_FAILED;
}

static int run_sweep(CniSweep *sweep, CniTable *table, char *chosen) {
  const CniArgs *args = sweep->args;
  int retry = cni_args_has(args, "retry");
  int64_t jobs = sysconf(_SC_NPROCESSORS_ONLN) > 0 ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
  CniCounts counts;
  if (!cni_args_whole(args, "jobs", 1, 1024, &jobs)) return CNI_EXIT_USAGE;
  int status = choose_cases(args, sweep->cases.count, chosen);
  if (status == CNI_EXIT_DONE)
    status = cni_table_open(table, sweep, cni_args_text(args, "output"),
                            cni_args_has(args, "force"), retry);
  for (int32_t i = 1; i < args->operand_count && status == CNI_EXIT_DONE; i++)
    status = cni_table_take(table, args->operands[i], retry);
  if (status == CNI_EXIT_DONE) status = cni_sweep_all(sweep, table, chosen, (int)jobs, &counts);
  if (status == CNI_EXIT_DONE) status = cni_table_finish(table);
  return status == CNI_EXIT_DONE ? tell(sweep, table, &counts) : status;
}

static int run(const CniArgs *args) {
  CniSweep sweep = {.args = args, .label = args->operands[0]};
  CniTable table = {.file = -1};
  char *chosen = NULL;
  if (cni_args_has(args, "json") && !cni_args_has(args, "output"))
    return cni_usage_error(args->command, "--json needs --output: the table would be beside it");
  if (cni_args_has(args, "time") && cni_args_has(args, "steps"))
    return cni_usage_error(args->command, "--time and --steps exclude each other");
  if (cni_args_has(args, "part") && cni_args_has(args, "case"))
    return cni_usage_error(args->command, "--part and --case exclude each other");
  int status = cni_cases_read(args, &sweep.cases);
  if (status == CNI_EXIT_DONE) status = look_at_scene(&sweep);
  if (status == CNI_EXIT_DONE) {
    chosen = calloc((size_t)sweep.cases.count, 1);
    status = chosen ? run_sweep(&sweep, &table, chosen) : cni_fail(args, "out of memory");
  }
  cni_table_release(&table);
  for (int32_t i = 0; i < sweep.sensor_count; i++) free(sweep.sensors[i]);
  free(sweep.sensors);
  free(chosen);
  cni_cases_release(&sweep.cases);
  return status;
}

static const CniOption options[] = {
    {"set", 0, "KEY=VALUES", "values of a parameter: 1,2,5 or FIRST:LAST:STEP; may be repeated"},
    {"cases", 0, "FILE", "values that go together: names in the first line, then a line a case"},
    {"sensor", 0, "NAME", "last, mean, min and max of this one; may be repeated (default: all)"},
    {"jobs", 'j', "N", "runs at a time (default: one for each processor)"},
    {"output", 'o', "FILE", "the table; what it has already is not run again"},
    {"part", 0, "K/N", "part K of N only: for job arrays"},
    {"case", 0, "K", "this case only"},
    {"retry", 0, NULL, "runs that failed are made again"},
    {"force", 'f', NULL, "begin the table anew"},
    {"time", 0, "T", "seconds to simulate (default: the scene's)"},
    {"steps", 0, "N", "steps to make, instead of --time"},
    {"h", 0, "H", "time step in seconds (default: the scene's)"},
    {"integrator", 0, "I", "integrator, see `cairn integrators`"},
    {"solver", 0, "S", "solver, see `cairn solvers`"},
    {"effort", 0, "quick|normal|exact", "how much work the solver auto may spend on a step"},
    {"friction", 0, "coulomb|convex", "friction model: exact, or the convex relaxation"},
    {"iters", 0, "N", "iterations of the solver in each step, at most"},
    {"tol", 0, "X", "stop a step's solver at this residual; 0: all iterations; hem5, rkf45: error"},
    {"threads", 0, "N", "worker threads of each run (default 1)"},
    {"setting", 0, "KEY=VALUE", "a setting of docs/scene.md: solver.facets=12; may be repeated"},
    CNI_OPTION_FILES,
    CNI_OPTION_NO_CACHE,
    CNI_OPTION_JSON,
    CNI_OPTION_QUIET,
    CNI_OPTION_END};

static const CniExample examples[] = {
    {"cairn sweep slope --set mu=.1:.9:.1 --set tan=.3,.6 -j 2 -o table.csv",
     "18 runs, two at a time; again after a kill: the rest of them"},
    {"cairn sweep slope --set mu=.1:.9:.1 --part 2/4 -o part-2.csv", "a quarter, for a job array"},
    {"cairn sweep slope --set mu=.1:.9:.1 part-*.csv -o table.csv", "the parts put together"},
    {"cairn sweep slope --cases cases.csv --sensor speed", "listed cases, the table printed"},
    {NULL, NULL}};

const CniCommand cni_command_sweep = {
    .name = "sweep",
    .summary = "run a scene with many values of its parameters",
    .operands = "SCENE [TABLE]...",
    .operand_min = 1,
    .operand_max = INT32_MAX,
    .description =
        "Runs a scene with all combinations of the values given, each in a process of its own, and "
        "writes a table of comma-separated values with one row a run: parameters, statistics of "
        "sensors over the steps, certificate, verdict, hash. Every run gives the hash that `cairn "
        "run` gives with the same options.\n\n"
        "FIRST:LAST:STEP has LAST in it where whole steps lead there, and ends before it where "
        "they "
        "do not: 0:1:.3 is 0, 0.3, 0.6, 0.9.\n\n"
        "Rows are appended as runs end and put in the order of cases at the end. A sweep may be "
        "killed at any time: the same command makes the runs that are not in the table yet, and "
        "the result is the same file. Tables of parts named behind the scene give their rows "
        "too. Runs that fail are rows with an error; then the exit status is 1.\n\n"
        "See docs/howto/cluster.md for job arrays of Slurm and for GNU parallel.",
    .options = options,
    .examples = examples,
    .run = run};
