// SPDX-License-Identifier: Apache-2.0
// Files from a program: meshes read and measured, files that appear whole, answers, checkpoints, a run that goes
// on where another stopped.
#include "check.h"
#include "runs.h"
#include "source_dir.h"
#include "toys.h"

#include <cairn/cairn.h>
#include <cairn/checkpoint.h>
#include <cairn/files.h>
#include <cairn/mesh_file.h>
#include <cairn/run_look.h>
#include <cairn/scene.h>
#include <cairn/tools.h>
#include <stdlib.h>
#include <string.h>

static const char *list(void *context, int32_t index) {
  static const char *const names[] = {"sphere", "cylinder", "capsule"};
  (void)context;
  return index < 3 ? names[index] : NULL;
}

static void test_tools(void **state) {
  (void)state;
  const char *path = test_path("text.txt");
  CnOutput *output, *second;
  CHECK(cn_file_kind(path) == CN_FILE_KIND_NONE);
  CHECK_OK(cn_output_create(path, &output));
  CHECK_STATUS(cn_output_create(path, &second), CN_FILE); // one writer at a time
  cn_output_write(output, "whole", 5);
  CHECK(cn_file_kind(path) == CN_FILE_KIND_NONE); // not yet
  CHECK_OK(cn_output_close(output));
  CHECK(cn_file_kind(path) == CN_FILE_KIND_OTHER);
  CHECK_OK(cn_output_create(path, &output));
  cn_output_write(output, "half", 4);
  cn_output_discard(output);
  char text[16] = "";
  FILE *file = fopen(path, "r");
  CHECK(file && fgets(text, sizeof text, file));
  fclose(file);
  assert_string_equal(text, "whole");
  CHECK_STATUS(cn_output_create("/nowhere/at/all", &output), CN_FILE);
  assert_string_equal(cn_nearest_name("cylindre", list, NULL), "cylinder");
  CHECK(!cn_nearest_name("banana", list, NULL));
}

// A block of 1 x 2 x 3: volume, area and the parts of a solid that is convex already.
static void test_mesh(void **state) {
  (void)state;
  const char *path = CAIRN_SOURCE_DIR "/tests/data/meshes/block.stl";
  CnMeshFileDef def = cn_mesh_file_def_default();
  CnMeshFile *mesh;
  CnMeshFileInfo info, scaled;
  def.parts = 4;
  CHECK(cn_mesh_file_named(path) && !cn_mesh_file_named("run.h5"));
  CHECK_OK(cn_mesh_file_read(path, &def, &mesh));
  CHECK_OK(cn_mesh_file_info(mesh, &info));
  CHECK(info.closed && info.triangle_count == 12 && info.vertex_count == 8 && info.part_count == 1);
  CnVec3 size = cn_sub(info.high, info.low);
  CHECK_REL(info.volume, size.x * size.y * size.z, 1e-12);
  CHECK_REL(info.part_volume, info.volume, 1e-9);
  CnMeshDef geometry;
  CnGeometryId id, hull;
  CnGeometryInfo made;
  const CnVec3 *points;
  int32_t count;
  CnWorld *w = toy_world(0.001);
  CHECK_OK(cn_mesh_file_def(mesh, &geometry));
  CHECK_OK(cn_geometry_create_mesh(w, &geometry, &id));
  CHECK_OK(cn_geometry_info(w, id, &made));
  CHECK_REL(made.volume, info.volume, 1e-12);
  CHECK_OK(cn_mesh_file_part(mesh, 0, &points, &count));
  CHECK_OK(cn_geometry_create_points(w, "part", points, count, &hull));
  CHECK_OK(cn_geometry_info(w, hull, &made));
  CHECK_REL(made.volume, info.volume, 1e-9);
  CHECK_STATUS(cn_mesh_file_part(mesh, 1, &points, &count), CN_INVALID_ARGUMENT);
  cn_mesh_file_destroy(mesh);
  def.scale = cn_vec3(0.5, 0.5, 0.5);
  CHECK_OK(cn_mesh_file_read(path, &def, &mesh));
  CHECK_OK(cn_mesh_file_info(mesh, &scaled));
  CHECK_REL(scaled.volume, info.volume / 8, 1e-12);
  cn_mesh_file_destroy(mesh);
  def.up = 'q';
  CHECK_STATUS(cn_mesh_file_read(path, &def, &mesh), CN_INVALID_ARGUMENT);
  CHECK(!mesh);
  CHECK_STATUS(cn_mesh_file_read("nothing.stl", NULL, &mesh), CN_FILE);
  cn_world_destroy(w);
}

// An answer that is written is read back, and certified alike.
static void test_answer(void **state) {
  (void)state;
  CnWorld *w = toy_world(0.001);
  toy_floor(w);
  toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(0, 0, 0.1), CN_QUAT_ONE);
  toy_steps(w, 3);
  CnProblem *problem;
  const CnAnswer *answer;
  CnAnswer back = cn_answer_empty(NULL);
  CHECK_OK(cn_world_problem(w, &problem, &answer));
  CHECK_OK(cn_answer_fit(&back, problem));
  CHECK_OK(cn_answer_write(answer, problem, test_path("answer.json")));
  CHECK_OK(cn_answer_read(test_path("answer.json"), problem, &back));
  for (int32_t i = 0; i < back.row_count; i++) CHECK(back.g[i] == answer->g[i]);
  cn_answer_release(&back);
  cn_world_destroy(w);
}

static CnWorld *fallen(CnScene *scene) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *w;
  cn_scene_world_def(scene, &def);
  CHECK_OK(cn_world_create(&def, &w));
  return w;
}

static void record_steps(CnRecorder *recorder, CnWorld *w, int count) {
  CnStepReport report;
  for (int i = 0; i < count; i++) {
    CHECK_OK(cn_world_step(w, &report));
    CHECK_OK(cn_recorder_step(recorder, w, &report));
  }
}

// A run of 60 steps, and one that is abandoned after 40, of which the checkpoint was at 30: the two files have
// the same states.
static void test_resume(void **state) {
  (void)state;
  CnScene *scene;
  CHECK_OK(cn_scene_open("newton-cradle", NULL, 0, NULL, &scene));
  CHECK(cn_scene_joint_kind(scene, 0) != CN_JOINT_KIND_NONE);
  CHECK(cn_scene_joint_kind(scene, 100000) == CN_JOINT_KIND_NONE);
  CnSceneInfo info;
  cn_scene_info(scene, &info);
  CnWorld *w = fallen(scene), *other = fallen(scene);
  CHECK_OK(cn_scene_fill(scene, w));
  CnRecorderDef def = cn_recorder_def_default();
  CnRecorder *recorder;
  CnVerdict verdict;
  def.scene = scene;
  def.frames_per_second = 0;
  def.path = test_path("part.h5");
  CHECK_OK(cn_recorder_create(&def, w, &recorder));
  record_steps(recorder, w, 30);
  CnCheckpointLock *lock, *second;
  CnCheckpoint checkpoint = {.scene_text = (char *)(uintptr_t)info.text,
                             .scene_label = (char *)(uintptr_t)info.name,
                             .frames_per_second = 0,
                             .end_time = 1,
                             .step = 30};
  const char *path = test_path("run.ckpt");
  CHECK_OK(cn_checkpoint_lock(path, &lock));
  CHECK_STATUS(cn_checkpoint_lock(path, &second), CN_FILE);
  CHECK_OK(cn_world_save(w, NULL, 0, &checkpoint.snapshot_size));
  checkpoint.snapshot = malloc(checkpoint.snapshot_size);
  assert_non_null(checkpoint.snapshot);
  CHECK_OK(
      cn_world_save(w, checkpoint.snapshot, checkpoint.snapshot_size, &checkpoint.snapshot_size));
  CHECK_OK(cn_recorder_flush(recorder));
  CHECK_OK(cn_checkpoint_write(path, &checkpoint));
  cn_checkpoint_unlock(lock);
  free(checkpoint.snapshot);
  CHECK(cn_file_kind(path) == CN_FILE_KIND_CHECKPOINT);
  record_steps(recorder, w, 10);
  CHECK_OK(cn_world_verdict(w, &verdict));
  CHECK_OK(cn_recorder_verdict(recorder, &verdict));
  CHECK_OK(cn_recorder_abandon(recorder));

  CHECK_OK(cn_checkpoint_read(path, NULL, &checkpoint));
  CHECK(checkpoint.step == 30 && !checkpoint.run_path);
  CHECK_OK(cn_world_restore(other, checkpoint.snapshot, checkpoint.snapshot_size));
  cn_checkpoint_release(&checkpoint);
  def.replace = 1;
  CHECK_STATUS(cn_recorder_resume(&def, other, -1, &recorder), CN_INVALID_ARGUMENT);
  CHECK_OK(cn_recorder_resume(&def, other, 30, &recorder));
  record_steps(recorder, other, 30);
  CHECK_OK(cn_recorder_close(recorder, other));
  toy_steps(w, 20);
  CHECK(cn_world_hash(w) == cn_world_hash(other));

  CnRun *run;
  CnRunInfo of;
  CnWorldDef settings = cn_world_def_default();
  char csv[256];
  CHECK_OK(cn_run_export_path("a/run.h5", "gltf", NULL, csv, sizeof csv));
  assert_string_equal(csv, "a/run.glb");
  CHECK_STATUS(cn_run_export_path("a/run.h5", "papyrus", NULL, csv, sizeof csv),
               CN_INVALID_ARGUMENT);
  CHECK(cn_file_kind(def.path) == CN_FILE_KIND_RUN);
  CHECK_OK(cn_run_open(def.path, NULL, &run));
  cn_run_info(run, &of);
  CHECK(of.complete && of.step_count == 60 && of.frame_count == 61);
  CHECK_OK(cn_run_settings(run, &settings));
  CHECK(settings.time_step == of.time_step);
  CnTriangles triangles = {0};
  CHECK_OK(cn_run_shape_triangles(run, 0, 4, &triangles));
  CHECK(triangles.triangle_count > 0);
  CHECK_STATUS(cn_run_shape_triangles(run, 100000, 4, &triangles), CN_INVALID_ARGUMENT);
  cn_run_close(run);
  cn_scene_destroy(scene);
  cn_world_destroy(w);
  cn_world_destroy(other);
}

// ---- a run with a joint of the program ----

static void pin(void *context, const CnJointSight *sight, CnJointRows *rows) {
  CnVec3 a = sight->frame_a.position, b = sight->frame_b.position;
  const double d[3] = {b.x - a.x, b.y - a.y, b.z - a.z};
  (void)context;
  for (int i = 0; i < 3; i++)
    rows->locked[i] = (CnJointRow){.linear = {i == 0, i == 1, i == 2}, .value = d[i]};
}

// As a program that has not registered the kind would see the file: with a name that nobody knows.
static void rename_kind(const char *path, const char *from, const char *to) {
  static char bytes[2000000];
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  size_t size = fread(bytes, 1, sizeof bytes, file), length = strlen(from);
  for (size_t i = 0; i + length <= size; i++)
    if (memcmp(bytes + i, from, length) == 0) memcpy(bytes + i, to, length);
  rewind(file);
  CHECK(fwrite(bytes, 1, size, file) == size);
  fclose(file);
}

// Run files have the name of the kind: it is told, and one that is not there too.
static void test_own_joint(void **state) {
  (void)state;
  CnOwnJoint kind = {.size = sizeof kind, .locked_count = 3, .name = "split-pin", .place = pin};
  CnJointKind number;
  CHECK_OK(cn_joint_register(&kind, &number));
  CnWorld *w = toy_world(0.001);
  CnJointDef joint = cn_joint_def_default(number);
  CnJointId id;
  joint.body_b = toy_box(w, cn_vec3(0.1, 0.1, 0.1), cn_vec3(1, 0, 0), CN_QUAT_ONE);
  CHECK_OK(cn_joint_def_at(w, cn_vec3(0, 0, 0), &joint));
  CHECK_OK(cn_joint_create(w, &joint, &id));
  CnRecorderDef def = cn_recorder_def_default();
  CnRecorder *recorder;
  CnRun *run;
  CnRunJoint read;
  def.path = test_path("own.h5");
  def.joints = 1;
  CHECK_OK(cn_recorder_create(&def, w, &recorder));
  record_steps(recorder, w, 20);
  CHECK_OK(cn_recorder_close(recorder, w));
  CHECK_OK(cn_run_open(def.path, NULL, &run));
  CHECK_OK(cn_run_joint(run, 0, &read));
  CHECK(read.kind == number);
  CHECK_OK(cn_page_from_run(run, test_path("own.html"), 0));
  cn_run_close(run);
  rename_kind(def.path, "split-pin", "split-pan");
  CHECK_STATUS(cn_run_open(def.path, NULL, &run), CN_UNSUPPORTED);
  CHECK_TEXT(cn_error_message(), "split-pan");
  cn_world_destroy(w);
}

static int begin(void **state) {
  (void)state;
  cn_io_leave_quietly();
  return test_folder_make() == NULL;
}

static int end(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_tools), cmocka_unit_test(test_mesh),
                                     cmocka_unit_test(test_answer), cmocka_unit_test(test_resume),
                                     cmocka_unit_test(test_own_joint)};
  return cmocka_run_group_tests(tests, begin, end);
}
