// SPDX-License-Identifier: Apache-2.0
// cairn info: what a file is and what is in it. Scenes, run files, checkpoints and problem files
// are told apart by their content; the name of a built-in scene will do too.
#include <string.h>

#include <cairn/mesh_file.h>
#include <cairn/run_look.h>

#include "cli/info/info_mesh.h"
#include "cli/machine.h"
#include "cli/problem_file.h"

// ---- what all three have ----

static void show_settings(CniShow *show, const CnWorldDef *def) {
  const double gravity[3] = {def->gravity.x, def->gravity.y, def->gravity.z};
  cni_show_vector(show, "gravity", "gravity", gravity, "m/s^2");
  cni_show_number(show, "h", "time step h", def->time_step, "s");
  cni_show_text(show, "integrator", "integrator", def->integrator);
  cni_show_text(show, "solver", "solver", def->solver.name);
  cni_show_count(show, "iterations", "iterations", def->solver.max_iterations);
  cni_show_number(show, "tolerance", "tolerance", cn_solver_tolerance(&def->solver), "");
  cni_show_text(show, "friction_model", "friction model", cn_friction_model_name(def->friction));
}

static void show_parameter(CniShow *show, const char *name, double value, const char *summary) {
  cni_show_row(show);
  cni_show_text(show, "name", "name", name);
  cni_show_number(show, "value", "value", value, "");
  if (summary) cni_show_text(show, "summary", "summary", summary);
  cni_show_row_end(show);
}

static void show_series(CniShow *show, const char *name, const char *unit) {
  cni_show_row(show);
  cni_show_text(show, "name", "name", name);
  cni_show_text(show, "unit", "unit", unit);
  cni_show_row_end(show);
}

// "3 revolute, 1 screw"
static void show_kinds(CniShow *show, const int32_t counts[CN_JOINT_KIND_COUNT]) {
  char text[512] = "";
  size_t n = 0;
  for (int32_t k = 0; k < CN_JOINT_KIND_COUNT; k++)
    if (counts[k] > 0 && n < sizeof text)
      n += (size_t)snprintf(text + n, sizeof text - n, "%s%d %s", n ? ", " : "", (int)counts[k],
                            cn_joint_kind_name((CnJointKind)k));
  if (n) cni_show_text(show, "joint_kinds", "kinds of joints", text);
}

// ---- a scene ----

static void show_scene(CniShow *show, const CnScene *scene, const CnSceneInfo *info) {
  CnWorldDef def = cn_world_def_default();
  cn_scene_world_def(scene, &def);
  cni_show_text(show, "title", info->title[0] ? "title" : NULL, info->title);
  int sentence = info->description[0] && !strchr(info->description, '\n');
  cni_show_text(show, "description", sentence ? "description" : NULL, info->description);
  cni_show_count(show, "bodies", "bodies", info->body_count);
  cni_show_count(show, "shapes", "shapes", info->shape_count);
  cni_show_count(show, "joints", "joints", info->joint_count);
  int32_t counts[CN_JOINT_KIND_COUNT] = {0};
  for (int32_t i = 0; i < info->joint_count; i++) counts[cn_scene_joint_kind(scene, i)]++;
  show_kinds(show, counts);
  cni_show_count(show, "forces", "forces", info->force_count);
  cni_show_count(show, "materials", "materials", info->material_count);
  cni_show_number(show, "time", "time", info->time, "s");
  cni_show_count(show, "seed", "seed", (int64_t)info->seed);
  show_settings(show, &def);
  cni_show_all_settings(show, &def);
  cni_show_list(show, "parameters", info->parameter_count ? "parameters" : NULL);
  CnSceneParameter p;
  for (int32_t i = 0; cn_scene_parameter(scene, i, &p) == CN_OK; i++)
    show_parameter(show, p.name, p.value, p.summary);
  cni_show_list_end(show);
  cni_show_list(show, "sensors", info->sensor_count ? "sensors" : NULL);
  CnSensorInfo sensor;
  for (int32_t i = 0; cn_scene_sensor(scene, i, &sensor) == CN_OK; i++)
    show_series(show, sensor.name, sensor.unit);
  cni_show_list_end(show);
}

static int scene_info(const CniArgs *args, const char *path) {
  CnAllocator allocator = cn_allocator_default();
  CnScene *scene;
  CnSceneInfo info;
  CniShow show;
  if (cn_scene_open(path, NULL, 0, &allocator, &scene) != CN_OK)
    return cni_fail(args, "%s", cn_error_message());
  cn_scene_info(scene, &info);
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_text(&show, "file", "file", path);
  cni_show_text(&show, "kind", "kind", "scene");
  show_scene(&show, scene, &info);
  int good = cni_info_machine(&show, scene, &info);
  cni_show_end(&show);
  cn_scene_destroy(scene);
  return good ? CNI_EXIT_DONE : cni_fail(args, "%s", cn_error_message());
}

// ---- a run ----

static void show_run(CniShow *show, CnRun *run, const CnRunInfo *info, const CnWorldDef *def) {
  double end = 0;
  if (info->step_count > 0) cn_run_values(run, "time", info->step_count - 1, 1, &end);
  cni_show_text(show, "version", "written by", info->cairn_version);
  cni_show_text(show, "scene", "scene", info->scene_name);
  cni_show_text(show, "title", info->scene_title[0] ? "title" : NULL, info->scene_title);
  cni_show_flag(show, "complete", "complete", info->complete);
  if (info->verdict[0]) cni_show_text(show, "verdict", "verdict", info->verdict);
  cni_show_count(show, "steps", "steps", info->step_count);
  cni_show_count(show, "frames", "frames", info->frame_count);
  cni_show_number(show, "time", "simulated", end, "s");
  cni_show_count(show, "bodies", "bodies", info->body_count);
  cni_show_count(show, "shapes", "shapes", info->shape_count);
  cni_show_count(show, "joints", "joints", info->joint_count);
  int32_t counts[CN_JOINT_KIND_COUNT] = {0};
  CnRunJoint joint;
  for (int32_t i = 0; cn_run_joint(run, i, &joint) == CN_OK; i++)
    if ((uint32_t)joint.kind < CN_JOINT_KIND_COUNT) counts[joint.kind]++;
  show_kinds(show, counts);
  cni_show_count(show, "seed", "seed", (int64_t)info->seed);
  cni_show_count(show, "threads", "threads", info->worker_count);
  show_settings(show, def);
  cni_show_all_settings(show, def);
  cni_show_list(show, "parameters", info->parameter_count ? "parameters" : NULL);
  CnRunParameter p;
  for (int32_t i = 0; cn_run_parameter(run, i, &p) == CN_OK; i++)
    show_parameter(show, p.name, p.value, NULL);
  cni_show_list_end(show);
  CnRunSeries series;
  cni_show_list(show, "scalars", "series, one value a step");
  for (int32_t i = 0; cn_run_scalar(run, i, &series) == CN_OK; i++)
    show_series(show, series.name, series.unit);
  cni_show_list_end(show);
  cni_show_list(show, "sensors", info->sensor_count ? "sensors" : NULL);
  for (int32_t i = 0; cn_run_sensor(run, i, &series) == CN_OK; i++)
    show_series(show, series.name, series.unit);
  cni_show_list_end(show);
}

static int run_info(const CniArgs *args, const char *path) {
  CnAllocator allocator = cn_allocator_default();
  CnRun *run;
  CnRunInfo info;
  CniShow show;
  if (cn_run_open(path, &allocator, &run) != CN_OK) return cni_fail(args, "%s", cn_error_message());
  cn_run_info(run, &info);
  CnWorldDef def = cn_world_def_default();
  def.solver = cn_solver_def_default(info.solver);
  if (cn_run_settings(run, &def) != CN_OK) {
    cn_run_close(run);
    return cni_fail(args, "%s", cn_error_message());
  }
  cni_show_begin(&show, stdout, cni_args_has(args, "json"));
  cni_show_text(&show, "file", "file", path);
  cni_show_text(&show, "kind", "kind", "run");
  show_run(&show, run, &info, &def);
  cni_show_end(&show);
  cn_run_close(run);
  return CNI_EXIT_DONE;
}

// ---- a checkpoint ----

static void show_checkpoint(CniShow *show, const CnCheckpoint *c, const CnWorld *world) {
  CnWorldDef def;
  cn_world_settings(world, &def);
  CnWorldInfo info;
  char hash[24];
  cn_world_info(world, &info);
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)cn_world_hash(world));
  cni_show_text(show, "scene", "scene", c->scene_label);
  cni_show_count(show, "steps", "steps", c->step);
  cni_show_number(show, "time", "simulated", info.time, "s");
  cni_show_number(show, "end_time", "to be simulated", c->end_time, "s");
  cni_show_text(show, "out", "run file", c->run_path ? c->run_path : "");
  cni_show_count(show, "bodies", "bodies", info.body_count);
  cni_show_count(show, "shapes", "shapes", info.shape_count);
  cni_show_count(show, "joints", "joints", info.joint_count);
  int32_t counts[CN_JOINT_KIND_COUNT] = {0};
  CnJointDef joint;
  for (CnJointId j = cn_world_next_joint(world, (CnJointId){0, 0}); j.slot;
       j = cn_world_next_joint(world, j))
    if (cn_joint_def(world, j, &joint) == CN_OK) counts[joint.kind]++;
  show_kinds(show, counts);
  cni_show_count(show, "forces", "forces", info.force_count);
  cni_show_count(show, "contacts", "contacts", info.contact_count);
  show_settings(show, &def);
  cni_show_all_settings(show, &def);
  cni_show_text(show, "state_hash", "state hash", hash);
  cni_show_list(show, "parameters", c->setting_count ? "parameters given" : NULL);
  for (int32_t i = 0; i < c->setting_count; i++)
    show_parameter(show, c->settings[i].key, c->settings[i].value, NULL);
  cni_show_list_end(show);
}

static CnStatus restore(const CnCheckpoint *c, CnWorld **world) {
  CnWorldDef def = cn_world_def_default();
  CNI_TRY(cn_world_create(&def, world));
  return cn_world_restore(*world, c->snapshot, c->snapshot_size);
}

static int checkpoint_info(const CniArgs *args, const char *path) {
  CnAllocator allocator = cn_allocator_default();
  CnCheckpoint checkpoint;
  CnWorld *world = NULL;
  CniShow show;
  int status = CNI_EXIT_DONE;
  if (cn_checkpoint_read(path, &allocator, &checkpoint) != CN_OK)
    return cni_fail(args, "%s", cn_error_message());
  if (restore(&checkpoint, &world) != CN_OK) {
    status = cni_fail(args, "%s: %s", path, cn_error_message());
  } else {
    cni_show_begin(&show, stdout, cni_args_has(args, "json"));
    cni_show_text(&show, "file", "file", path);
    cni_show_text(&show, "kind", "kind", "checkpoint");
    show_checkpoint(&show, &checkpoint, world);
    cni_show_end(&show);
  }
  cn_world_destroy(world);
  cn_checkpoint_release(&checkpoint);
  return status;
}

// ---- the command ----

static int run(const CniArgs *args) {
  const char *path = args->operands[0];
  if (cn_mesh_file_named(path)) return cni_info_mesh(args, path);
  CnFileKind kind = cn_file_kind(path);
  if (kind == CN_FILE_KIND_RUN) return run_info(args, path);
  if (kind == CN_FILE_KIND_CHECKPOINT) return checkpoint_info(args, path);
  if (kind == CN_FILE_KIND_PROBLEM) return cni_info_problem(args, path);
  return scene_info(args, path);
}

static const CniOption options[] = {
    CNI_OPTION_JSON,
    {"scale", 0, "X", "of a mesh: metres per unit of the file (default 1; 0.001 for millimetres)"},
    {"up", 0, "AXIS", "of a mesh: the axis of the file that points up, x, y or z (default z)"},
    {"weld", 0, "X",
     "of a mesh: join corners no farther apart than that, m (default 0: equal ones)"},
    {"parts", 0, "N", "of a mesh: cut it into at most N convex parts, and tell how well"},
    CNI_OPTION_NO_CACHE,
    CNI_OPTION_END};
static const CniExample examples[] = {
    {"cairn info run.h5", "steps, frames, settings and series of a run"},
    {"cairn info granular --json", "a built-in scene, as JSON"},
    {"cairn info problem.dat", "kind, sizes, matrix and friction of a problem"},
    {"cairn info bowl.stl --scale 0.001", "size, volume, inertia and faults of a mesh"},
    {NULL, NULL}};
const CniCommand cni_command_info = {
    .name = "info",
    .summary = "tell what is in a scene, robot, run file, checkpoint, problem or mesh",
    .operands = "FILE",
    .operand_min = 1,
    .operand_max = 1,
    .description = "Tells what is in a file: a scene (also a built-in one), a robot description "
                   "(URDF, MJCF, SDF), a "
                   "run file, a checkpoint, a problem file, or a mesh (OBJ, STL, PLY, glTF, GLB). "
                   "Which it is, is "
                   "seen from the content, or of a mesh from the ending of its name.\n\n"
                   "The asymmetry of a problem's matrix (W of a local, M of a global problem) is "
                   "the largest difference of two opposite entries over the largest entry.",
    .options = options,
    .examples = examples,
    .run = run};
