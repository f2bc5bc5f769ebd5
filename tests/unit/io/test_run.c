// SPDX-License-Identifier: Apache-2.0
// Run files: what was recorded is read back, whatever became of the writer. Killed runs and full
// disks are in test_run_kill.c.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>

#include "alloc.h"
#include "io/run/run_private.h"
#include "runs.h"

#define STEPS 120 // to t = 0.48 s: 24 frames of 50 a second after the first

static int begin(void **state) {
  (void)state;
  test_folder_make();
  return 0;
}

static int end(void **state) {
  (void)state;
  test_folder_remove();
  return 0;
}

static CnRun *open_run(const char *path) {
  CnRun *run = NULL;
  CHECK_OK(cn_run_open(path, NULL, &run));
  CHECK(run != NULL);
  return run;
}

// ---- what was recorded ----

static void description(void **state) {
  (void)state;
  const char *path = test_path("run.h5");
  test_run_record(path, STEPS);
  CnRun *run = open_run(path);
  CnRunInfo info;
  cn_run_info(run, &info);
  assert_string_equal(info.cairn_version, cn_version());
  assert_string_equal(info.scene_name, "everything");
  assert_string_equal(info.scene_title, "A little of everything");
  CHECK(strstr(info.scene_text, "\"restitution\": 0.3") != NULL);
  assert_string_equal(info.integrator, "impulse");
  assert_string_equal(info.solver, "psor");
  CHECK(info.friction == CN_FRICTION_COULOMB && info.seed == 7 && info.worker_count == 1);
  CHECK(info.iterations == 30 && info.complete == 1 && info.first_step == 0);
  CHECK_NEAR(info.time_step, RUN_STEP, 0);
  CHECK_NEAR(info.gravity.z, -9.81, 0);
  CHECK_NEAR(info.frames_per_second, 50, 0);
  CHECK(info.body_count == RUN_BODIES && info.shape_count == RUN_BODIES && info.joint_count == 1);
  CHECK(info.step_count == STEPS && info.frame_count == 25);
  CHECK(info.parameter_count == 2 && info.sensor_count == 5 && info.event_count > 0);
  CHECK(info.contacts_recorded == 1 && info.joints_recorded == 1);

  CnRunParameter parameter;
  CHECK_OK(cn_run_parameter(run, 1, &parameter));
  assert_string_equal(parameter.name, "mu");
  CHECK_NEAR(parameter.value, 0.4, 0);
  CnRunBody body;
  CHECK_OK(cn_run_body(run, 0, &body));
  CHECK(body.kind == CN_BODY_FIXED);
  CHECK_OK(cn_run_body(run, 1, &body));
  assert_string_equal(body.name, "box");
  CHECK_REL(body.mass, 64, 1e-15);
  CnRunShape shape;
  CHECK_OK(cn_run_shape(run, 1, &shape));
  CHECK(shape.def.kind == CN_SHAPE_BOX && shape.body == 1);
  CHECK_NEAR(shape.def.half_size.y, 0.2, 1e-15);
  CHECK_OK(cn_run_shape(run, 4, &shape));
  CHECK(shape.def.kind == CN_SHAPE_SPHERE && shape.body == 4);
  CHECK_NEAR(shape.def.radius, 0.1, 0);
  CHECK_NEAR(shape.def.pose.rotation.w, 1, 0);
  CnRunJoint joint;
  CHECK_OK(cn_run_joint(run, 0, &joint));
  assert_string_equal(joint.name, "string");
  CHECK(joint.kind == CN_JOINT_BALL && joint.body_a == RUN_BODIES - 1 && joint.body_b == -1);
  CHECK_NEAR(joint.frame_a.position.x, -0.5, 1e-15);
  CHECK_NEAR(joint.frame_b.position.x, 1.5, 1e-15);
  CnRunSeries sensor;
  CHECK_OK(cn_run_sensor(run, 3, &sensor));
  assert_string_equal(sensor.name, "load, \"all\"");
  assert_string_equal(sensor.unit, "N");

  CHECK_STATUS(cn_run_body(run, RUN_BODIES, &body), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_run_shape(run, -1, &shape), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_run_sensor(run, 5, &sensor), CN_INVALID_ARGUMENT);
  cn_run_close(run);
}

// A second world, stepped beside the reading, gives the same bits as the file.
static void frames_and_series(void **state) {
  (void)state;
  const char *path = test_path("run.h5");
  test_run_record(path, STEPS);
  CnRun *run = open_run(path);
  TestRun twin;
  test_run_begin(&twin, path);
  double kinetic[STEPS], contacts[STEPS], load[STEPS], time[STEPS], deepest[STEPS];
  CHECK_OK(cn_run_values(run, "kinetic_energy", 0, STEPS, kinetic));
  CHECK_OK(cn_run_values(run, "contacts", 0, STEPS, contacts));
  CHECK_OK(cn_run_values(run, "load, \"all\"", 0, STEPS, load));
  CHECK_OK(cn_run_values(run, "time", 0, STEPS, time));
  CHECK_OK(cn_run_values(run, "penetration_max", 0, STEPS, deepest));
  int64_t frame = 0, events_seen = 0, begun = 0;
  for (int step = 0; step <= STEPS; step++) {
    CnStepReport report;
    if (step > 0) {
      double values[5];
      CnWorldSums sums;
      CHECK_OK(cn_world_step(twin.world, &report));
      cn_world_sums(twin.world, &sums);
      CHECK_OK(cn_scene_measure(twin.scene, twin.world, values));
      CHECK_NEAR(kinetic[step - 1], sums.kinetic_energy, 0);
      CHECK_NEAR(contacts[step - 1], report.contact_count, 0);
      CHECK_NEAR(load[step - 1], values[3], 0);
      CHECK_NEAR(time[step - 1], report.time, 0);
      const CnContactEvent *events;
      int32_t count;
      cn_world_events(twin.world, &events, &count);
      // what the file tells to begin does so in this step; test_run_events.c has all of it
      CnRunEvent event = {.step = step};
      CnRunInfo all;
      cn_run_info(run, &all);
      for (; events_seen < all.event_count && event.step == step; events_seen++) {
        CHECK_OK(cn_run_events(run, events_seen, 1, &event));
        if (event.step != step) break;
        int32_t found = 0;
        for (int32_t i = 0; i < count; i++)
          found += events[i].kind == event.kind &&
                   event.shape_a == (int32_t)events[i].shape_a.slot - 1 &&
                   event.shape_b == (int32_t)events[i].shape_b.slot - 1;
        CHECK(event.kind != CN_CONTACT_BEGAN || found == 1);
        begun += event.kind == CN_CONTACT_BEGAN;
      }
      // 50 frames a second are every fifth step of 4 ms
      CHECK(isnan(deepest[step - 1]) == (step % 5 != 0));
    }
    if (step % 5 != 0) continue;
    double frame_time;
    int64_t frame_step;
    CnPose poses[RUN_BODIES];
    CnTwist twists[RUN_BODIES];
    CHECK_OK(cn_run_frame(run, frame, &frame_time, poses, twists));
    CHECK_OK(cn_run_frame_step(run, frame, &frame_step));
    CHECK(frame_step == step);
    CnWorldInfo world;
    cn_world_info(twin.world, &world);
    CHECK_NEAR(frame_time, world.time, 0);
    int32_t i = 0;
    for (CnBodyId b = cn_world_next_body(twin.world, (CnBodyId){0, 0}); b.slot;
         b = cn_world_next_body(twin.world, b), i++) {
      CnPose pose;
      CnTwist twist;
      CHECK_OK(cn_body_pose(twin.world, b, &pose));
      CHECK_OK(cn_body_twist(twin.world, b, &twist));
      assert_memory_equal(&pose, &poses[i], sizeof pose);
      assert_memory_equal(&twist, &twists[i], sizeof twist);
    }
    int32_t count;
    static CnRunContact list[200];
    CHECK_OK(cn_run_contacts(run, frame, list, 200, &count));
    CHECK(count == world.contact_count && count < 200);
    for (int32_t k = 0; k < count; k++) {
      CnContact c;
      CHECK_OK(cn_world_contact(twin.world, k, &c));
      assert_memory_equal(&c.point, &list[k].point, sizeof c.point);
      assert_memory_equal(&c.normal, &list[k].normal, sizeof c.normal);
      assert_memory_equal(&c.force, &list[k].force, sizeof c.force);
      CHECK_NEAR(list[k].gap, c.gap, 0);
      CHECK(list[k].body_a == (int32_t)c.body_a.slot - 1);
      CHECK(list[k].shape_b == (int32_t)c.shape_b.slot - 1);
    }
    CnJointState recorded, now;
    CHECK_OK(cn_run_joint_states(run, frame, &recorded));
    CHECK_OK(cn_joint_state(twin.world, cn_world_next_joint(twin.world, (CnJointId){0, 0}), &now));
    assert_memory_equal(&recorded, &now, sizeof now);
    frame++;
  }
  CnRunInfo info;
  cn_run_info(run, &info);
  CHECK(frame == info.frame_count && events_seen == info.event_count && begun > 5);
  test_run_end(&twin);
  cn_run_close(run);
}

static void wrong_questions(void **state) {
  (void)state;
  const char *path = test_path("run.h5");
  test_run_record(path, 10);
  CnRun *run = open_run(path);
  double values[10];
  CnPose poses[RUN_BODIES];
  CHECK_STATUS(cn_run_frame(run, 3, NULL, poses, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_run_frame(run, -1, NULL, poses, NULL), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_run_values(run, "kinetic_enrgy", 0, 10, values), CN_INVALID_ARGUMENT);
  CHECK(strstr(cn_error_message(), "kinetic_energy") != NULL);
  CHECK_STATUS(cn_run_values(run, "time", 5, 6, values), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_run_values(run, "time", INT64_MAX, 6, values), CN_INVALID_ARGUMENT);
  CHECK_STATUS(cn_run_events(run, 0, INT64_MAX, NULL), CN_INVALID_ARGUMENT);
  // every scalar and sensor by its own name
  CnRunInfo info;
  CnRunSeries series;
  cn_run_info(run, &info);
  for (int32_t i = 0; i < info.scalar_count; i++) {
    CHECK_OK(cn_run_scalar(run, i, &series));
    CHECK(strcmp(series.name, "time") != 0);
    CHECK_OK(cn_run_values(run, series.name, 0, 10, values));
  }
  for (int32_t i = 0; i < info.sensor_count; i++) {
    char name[100];
    CHECK_OK(cn_run_sensor(run, i, &series));
    snprintf(name, sizeof name, "sensors/%s", series.name);
    CHECK_OK(cn_run_values(run, series.name, 0, 10, values));
    CHECK_OK(cn_run_values(run, name, 0, 10, values));
  }
  cn_run_close(run);
}

// ---- files in the way ----

static void existing_file(void **state) {
  (void)state;
  const char *path = test_path("run.h5"), *partial = test_path("run.h5.partial");
  test_run_record(path, 10);
  TestRun next;
  test_run_begin(&next, path);
  CHECK_STATUS(cni_run_writer_create(&next.def, next.world, &next.writer), CN_FILE);
  CHECK(strstr(cn_error_message(), path) != NULL);
  // allowed: the old one stays until the new one is complete
  next.def.replace = 1;
  CHECK_OK(cni_run_writer_create(&next.def, next.world, &next.writer));
  test_run_steps(&next, 20);
  CHECK_OK(cni_run_writer_flush(next.writer));
  CnRunInfo info;
  CnRun *run = open_run(path);
  cn_run_info(run, &info);
  CHECK(info.step_count == 10 && info.complete == 1);
  cn_run_close(run);
  run = open_run(partial);
  cn_run_info(run, &info);
  CHECK(info.step_count == 20 && info.complete == 0);
  cn_run_close(run);
  CHECK_OK(cni_run_writer_close(next.writer));
  CHECK(!test_exists(partial) && !test_exists(test_path("run.h5.new")));
  run = open_run(path);
  cn_run_info(run, &info);
  CHECK(info.step_count == 20 && info.complete == 1);
  cn_run_close(run);
  test_run_end(&next);
}

static void abandoned(void **state) {
  (void)state;
  const char *path = test_path("run.h5");
  TestRun t;
  test_run_begin(&t, path);
  CHECK_OK(cni_run_writer_create(&t.def, t.world, &t.writer));
  test_run_steps(&t, 12);
  CHECK_OK(cni_run_writer_abandon(t.writer));
  test_run_end(&t);
  CnRun *run = open_run(path);
  CnRunInfo info;
  cn_run_info(run, &info);
  CHECK(info.step_count == 12 && info.frame_count == 3 && info.complete == 0);
  cn_run_close(run);
}

// Only PATH.partial is there: that is what PATH means.
static void only_partial(void **state) {
  (void)state;
  test_run_record(test_path("a.h5"), 10);
  CHECK(rename(test_path("a.h5"), test_path("b.h5.partial")) == 0);
  CnRun *run = open_run(test_path("b.h5"));
  cn_run_close(run);
}

static void places_that_cannot_be_written(void **state) {
  (void)state;
  TestRun t;
  test_run_begin(&t, test_path("no/such/folder/run.h5"));
  CHECK_STATUS(cni_run_writer_create(&t.def, t.world, &t.writer), CN_FILE);
  CHECK(strstr(cn_error_message(), "No such file or directory") != NULL);
  char folder[400];
  snprintf(folder, sizeof folder, "%s", test_path("."));
  t.def.path = folder;
  t.def.replace = 1;
  CHECK_STATUS(cni_run_writer_create(&t.def, t.world, &t.writer), CN_FILE);
  t.def.path = test_path("run.h5");
  t.def.frames_per_second = -1;
  CHECK_STATUS(cni_run_writer_create(&t.def, t.world, &t.writer), CN_INVALID_ARGUMENT);
  t.def.frames_per_second = (double)NAN;
  CHECK_STATUS(cni_run_writer_create(&t.def, t.world, &t.writer), CN_INVALID_ARGUMENT);
  CHECK(t.writer == NULL && !test_exists(test_path("run.h5")));
  test_run_end(&t);
}

static void files_that_are_no_runs(void **state) {
  (void)state;
  CnRun *run;
  CHECK_STATUS(cn_run_open(test_path("none.h5"), NULL, &run), CN_FILE);
  CHECK(strstr(cn_error_message(), "none.h5") && strstr(cn_error_message(), "No such file"));
  const char *path = test_path("text.h5");
  FILE *file = fopen(path, "w");
  fputs("This is no run file.", file);
  fclose(file);
  CHECK_STATUS(cn_run_open(path, NULL, &run), CN_INVALID_DATA);
  CHECK_STATUS(cn_run_open(test_path("."), NULL, &run), CN_FILE);
  // HDF5 of other people
  const char *foreign = test_path("foreign.h5");
  hid_t h = H5Fcreate(foreign, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(h);
  CHECK_STATUS(cn_run_open(foreign, NULL, &run), CN_INVALID_DATA);
  CHECK(strstr(cn_error_message(), "no run of Cairn") != NULL);
  CHECK(run == NULL);
}

// A file cut short, at every tenth of its length: an error or a correct answer, never nonsense.
static void cut_file(void **state) {
  (void)state;
  const char *path = test_path("run.h5"), *cut = test_path("cut.h5");
  test_run_record(path, STEPS);
  FILE *file = fopen(path, "rb");
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  char *bytes = malloc((size_t)size);
  rewind(file);
  CHECK(fread(bytes, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  for (int tenth = 0; tenth < 10; tenth++) {
    file = fopen(cut, "wb");
    fwrite(bytes, 1, (size_t)(size * tenth / 10), file);
    fclose(file);
    CnRun *run = NULL;
    CnStatus status = cn_run_open(cut, NULL, &run);
    double kinetic[STEPS];
    CnPose poses[RUN_BODIES];
    for (int64_t f = 0; f < 25 && status == CN_OK; f++)
      status = cn_run_frame(run, f, NULL, poses, NULL);
    if (status == CN_OK) status = cn_run_values(run, "kinetic_energy", 0, STEPS, kinetic);
    if (status == CN_OK) status = cn_run_values(run, "residual", 0, STEPS, kinetic);
    CHECK_FAILED(status, status == CN_FILE ? CN_FILE : CN_INVALID_DATA);
    CHECK(strstr(cn_error_message(), cut) && !strstr(cn_error_message(), "no reason"));
    cn_run_close(run);
  }
  free(bytes);
}

// ---- other rates, other contents ----

static void every_step(void **state) {
  (void)state;
  TestRun t;
  test_run_begin(&t, test_path("run.h5"));
  t.def.frames_per_second = 0;
  t.def.record_contacts = t.def.record_joints = 0;
  t.def.skip_penetration = 1;
  CHECK_OK(cni_run_writer_create(&t.def, t.world, &t.writer));
  test_run_steps(&t, 30);
  CHECK_OK(cni_run_writer_close(t.writer));
  CnRun *run = open_run(t.def.path);
  CnRunInfo info;
  cn_run_info(run, &info);
  CHECK(info.frame_count == 31 && info.contacts_recorded == 0);
  double deepest[30];
  CHECK_OK(cn_run_values(run, "penetration_max", 0, 30, deepest));
  for (int i = 0; i < 30; i++) CHECK(isnan(deepest[i]));
  int32_t count = 7;
  CHECK_OK(cn_run_contacts(run, 4, NULL, 0, &count));
  CHECK(count == 0);
  CnJointState joint;
  CHECK_STATUS(cn_run_joint_states(run, 4, &joint), CN_UNSUPPORTED);
  cn_run_close(run);
  test_run_end(&t);
}

// A world without bodies, and without a scene.
static void nothing(void **state) {
  (void)state;
  CnWorldDef world_def = cn_world_def_default();
  CnWorld *world;
  CHECK_OK(cn_world_create(&world_def, &world));
  CniRunWriterDef def = {.path = test_path("empty.h5")};
  CniRunWriter *writer;
  CHECK_OK(cni_run_writer_create(&def, world, &writer));
  for (int i = 0; i < 3; i++) {
    CnStepReport report;
    CHECK_OK(cn_world_step(world, &report));
    CHECK_OK(cni_run_writer_step(writer, world, &report));
    // a step that is not the next one
    CHECK_STATUS(cni_run_writer_step(writer, world, &report), CN_INVALID_ARGUMENT);
  }
  CHECK_OK(cni_run_writer_close(writer));
  cn_world_destroy(world);
  CnRun *run = open_run(test_path("empty.h5"));
  CnRunInfo info;
  double time;
  cn_run_info(run, &info);
  CHECK(info.body_count == 0 && info.step_count == 3 && info.frame_count == 4);
  assert_string_equal(info.scene_text, "");
  CHECK_OK(cn_run_frame(run, 3, &time, NULL, NULL));
  CHECK_NEAR(time, 3e-3, 1e-15);
  cn_run_close(run);
}

static void memory(void **state) {
  (void)state;
  TestAlloc alloc;
  test_alloc_init(&alloc);
  TestRun t;
  const char *path = test_path("run.h5"), *unfinished = test_path("run.h5.new");
  test_run_begin(&t, path);
  t.def.allocator = test_alloc_hook(&alloc);
  CnAllocator hook = test_alloc_hook(&alloc);
  for (int n = 1;; n++) {
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cni_run_writer_create(&t.def, t.world, &t.writer);
    if (!alloc.failed_count) break;
    CHECK_FAILED(status, CN_NO_MEMORY);
    CHECK(!test_exists(path) && !test_exists(unfinished));
    test_alloc_check_clean(&alloc);
  }
  test_alloc_fail_never(&alloc);
  test_run_steps(&t, 20);
  CHECK_OK(cni_run_writer_close(t.writer));
  test_alloc_check_clean(&alloc);
  for (int n = 1;; n++) {
    CnRun *run = NULL;
    test_alloc_fail_at(&alloc, n);
    CnStatus status = cn_run_open(path, &hook, &run);
    if (alloc.failed_count) {
      CHECK_FAILED(status, CN_NO_MEMORY);
      CHECK(run == NULL);
      test_alloc_check_clean(&alloc);
      continue;
    }
    cn_run_close(run);
    break;
  }
  test_alloc_check_clean(&alloc);
  test_run_end(&t);
}

// HDF5 keeps printing errors if that is what the host wants.
static void host_settings_of_hdf5(void **state) {
  (void)state;
  H5E_auto2_t before, after;
  void *data;
  CnRun *run;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  CHECK_STATUS(cn_run_open(test_path("none.h5"), NULL, &run), CN_FILE);
  test_run_record(test_path("run.h5"), 5);
  H5Eget_auto2(H5E_DEFAULT, &after, &data);
  CHECK(before == after);
  // and nothing of HDF5 stays open
  CHECK(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(description, begin, end),
      cmocka_unit_test_setup_teardown(frames_and_series, begin, end),
      cmocka_unit_test_setup_teardown(wrong_questions, begin, end),
      cmocka_unit_test_setup_teardown(existing_file, begin, end),
      cmocka_unit_test_setup_teardown(abandoned, begin, end),
      cmocka_unit_test_setup_teardown(only_partial, begin, end),
      cmocka_unit_test_setup_teardown(places_that_cannot_be_written, begin, end),
      cmocka_unit_test_setup_teardown(files_that_are_no_runs, begin, end),
      cmocka_unit_test_setup_teardown(cut_file, begin, end),
      cmocka_unit_test_setup_teardown(every_step, begin, end),
      cmocka_unit_test_setup_teardown(nothing, begin, end),
      cmocka_unit_test_setup_teardown(memory, begin, end),
      cmocka_unit_test_setup_teardown(host_settings_of_hdf5, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
