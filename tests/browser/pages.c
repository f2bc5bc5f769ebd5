// SPDX-License-Identifier: Apache-2.0
// Makes the pages that the browser tests look at, and says what must be in them.
//
//   pages run SCENE[:NAME=VALUE] STEPS FPS FOLDER
//                                       simulates, writes run.h5, the page of that file (run.html),
//                                       and truth.json: 20 random poses as the run file has them
//   pages pair SCENE STEPS FPS FOLDER   the run of before and one more, side by side (pair.html)
//   pages killed SCENE STEPS FOLDER     the same of a run that was stopped (run.html)
//   pages small FOLDER                  the run of before in a page without room for all contacts (small.html)
//   pages large FOLDER                  50,000 bodies that go by formulas (large.html)
//   pages thinned FOLDER                a page that had to drop frames (thinned.html)
//   pages hostile FOLDER                a page whose title tries to break out (hostile.html)
//   pages scene NAME FOLDER             the first frame of a scene (scene.html)
//   pages rings FOLDER                  three rings that share a mesh of 20000 triangles (rings.obj),
//                                       and a capsule (rings.html)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "io/io.h"
#include "page_source.h"
#include "solids.h"

static char *in_folder(const char *folder, const char *name) {
  static char paths[8][4096];
  static int32_t next = 0;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static int fail(void) {
  fprintf(stderr, "pages: %s\n", cn_error_message());
  return 1;
}

// ---- a recorded run ----

// A scene by its name or file, with one parameter of its own.
static CnStatus open_scene(const char *name, CnScene **scene) {
  char own[1024], key[64];
  CnSetting setting = {key, 0};
  snprintf(own, sizeof own, "%s", name);
  char *colon = strrchr(own, ':');
  int32_t count = colon && sscanf(colon, ":%63[^=]=%lf", key, &setting.value) == 2;
  if (count) *colon = 0;
  return cn_scene_open(own, &setting, count, NULL, scene);
}

static CnStatus record(const char *name, int64_t steps, double fps, int32_t kill,
                       const char *path) {
  CnScene *scene = NULL;
  CnStatus status = open_scene(name, &scene);
  if (status != CN_OK) return status;
  CnWorldDef world_def = cn_world_def_default();
  cn_scene_world_def(scene, &world_def);
  world_def.balance = 1;
  CnWorld *world = NULL;
  status = cn_world_create(&world_def, &world);
  if (status == CN_OK) status = cn_scene_fill(scene, world);
  CniRunWriterDef def = {.path = path,
                         .scene = scene,
                         .frames_per_second = fps,
                         .replace = 1,
                         .record_joints = 1,
                         .record_contacts = 1,
                         .allocator = cn_allocator_default()};
  CniRunWriter *writer = NULL;
  if (status == CN_OK) status = cni_run_writer_create(&def, world, &writer);
  for (int64_t i = 0; i < steps && status == CN_OK; i++) {
    CnStepReport report;
    status = cn_scene_step(scene, world, &report);
    if (status == CN_OK) status = cni_run_writer_step(writer, world, &report);
  }
  CnVerdict verdict;
  if (status == CN_OK && !kill) status = cn_world_verdict(world, &verdict);
  if (status == CN_OK && !kill) status = cni_run_writer_verdict(writer, &verdict);
  CnStatus closed = kill ? cni_run_writer_abandon(writer) : cni_run_writer_close(writer);
  cn_world_destroy(world);
  cn_scene_destroy(scene);
  return status != CN_OK ? status : closed;
}

// What else the page must have: contacts with a force of the last frame, one of them, and a twist.
static CnStatus write_last(CnRun *run, const CnRunInfo *info, FILE *file) {
  int32_t count = 0, carrying = 0, strongest = 0;
  CNI_TRY(cn_run_contacts(run, info->frame_count - 1, NULL, 0, &count));
  CnRunContact *contacts = calloc((size_t)count + 1, sizeof *contacts);
  CnTwist *twists = calloc((size_t)info->body_count, sizeof *twists);
  CnStatus status = cn_run_contacts(run, info->frame_count - 1, contacts, count, &count);
  double most = -1, time;
  for (int32_t i = 0; i < count; i++) {
    CnVec3 f = contacts[i].force;
    double size = f.x * f.x + f.y * f.y + f.z * f.z;
    carrying += size > 0;
    if (size > most) strongest = i, most = size;
  }
  if (status == CN_OK) status = cn_run_frame(run, info->frame_count - 1, &time, NULL, twists);
  const CnRunContact *c = &contacts[strongest];
  CnTwist t = twists[info->body_count - 1];
  fprintf(file,
          "\"contacts\":%d,\"strongest\":{\"bodies\":[%d,%d],\"point\":[%.17g,%.17g,%.17g],"
          "\"force\":[%.17g,%.17g,%.17g]},\"twist\":[%.17g,%.17g,%.17g,%.17g,%.17g,%.17g],",
          (int)carrying, (int)c->body_a, (int)c->body_b, c->point.x, c->point.y, c->point.z,
          c->force.x, c->force.y, c->force.z, t.velocity.x, t.velocity.y, t.velocity.z, t.spin.x,
          t.spin.y, t.spin.z);
  free(contacts);
  free(twists);
  return status;
}

static CnStatus write_poses(CnRun *run, const CnRunInfo *info, CnPose *poses, FILE *file) {
  CniRng rng = {20};
  for (int32_t i = 0; i < 20; i++) {
    double frame_share = cni_rng_unit(&rng), body_share = cni_rng_unit(&rng), time;
    int64_t frame = (int64_t)(frame_share * (double)info->frame_count);
    int32_t body = (int32_t)(body_share * info->body_count);
    CnStatus status = cn_run_frame(run, frame, &time, poses, NULL);
    if (status != CN_OK) return status;
    CnVec3 p = poses[body].position;
    CnQuat q = poses[body].rotation;
    fprintf(file,
            "%s\n{\"frame\":%lld,\"body\":%d,\"time\":%.17g,\"position\":[%.17g,%.17g,%.17g],"
            "\"rotation\":[%.17g,%.17g,%.17g,%.17g]}",
            i ? "," : "", (long long)frame, (int)body, time, p.x, p.y, p.z, q.w, q.x, q.y, q.z);
  }
  return CN_OK;
}

// 20 random poses and the last scalars of the run file with every digit.
static CnStatus write_truth(CnRun *run, const char *path) {
  CnRunInfo info;
  cn_run_info(run, &info);
  double energy = 0, contacts = 0;
  CnStatus status = cn_run_values(run, "kinetic_energy", info.step_count - 1, 1, &energy);
  if (status == CN_OK) status = cn_run_values(run, "contacts", info.step_count - 1, 1, &contacts);
  if (status != CN_OK) return status;
  CnPose *poses = calloc((size_t)info.body_count, sizeof *poses);
  FILE *file = fopen(path, "w");
  if (!poses || !file) abort();
  fprintf(file, "{\"frames\":%lld,\"bodies\":%d,\"steps\":%lld,", (long long)info.frame_count,
          (int)info.body_count, (long long)info.step_count);
  status = write_last(run, &info, file);
  fprintf(file, "\"lastKineticEnergy\":%.17g,\"lastContacts\":%.17g,\"poses\":[", energy, contacts);
  if (status == CN_OK) status = write_poses(run, &info, poses, file);
  fprintf(file, "]}\n");
  fclose(file);
  free(poses);
  return status;
}

static int make_run(const char *scene, int64_t steps, double fps, int32_t kill,
                    const char *folder) {
  const char *path = in_folder(folder, "run.h5");
  remove(path); // a run that is stopped would not take its place
  if (record(scene, steps, fps, kill, path) != CN_OK) return fail();
  CnRun *run = NULL;
  if (cn_run_open(path, NULL, &run) != CN_OK) return fail();
  CniPageDef def = {.output = in_folder(folder, "run.html")};
  CnStatus status = cni_page_from_run(run, &def);
  if (status == CN_OK) status = write_truth(run, in_folder(folder, "truth.json"));
  cn_run_close(run);
  return status == CN_OK ? 0 : fail();
}

static int make_pair(const char *scene, int64_t steps, double fps, const char *folder) {
  char *first = in_folder(folder, "run.h5"), *second = in_folder(folder, "second.h5");
  if (record(scene, steps, fps, 0, second) != CN_OK) return fail();
  CnRun *a = NULL, *b = NULL;
  if (cn_run_open(first, NULL, &a) != CN_OK || cn_run_open(second, NULL, &b) != CN_OK)
    return fail();
  CnStatus status =
      cn_page_from_runs(a, "run.h5", b, "<b>second</b>.h5", in_folder(folder, "pair.html"), 0);
  cn_run_close(a);
  cn_run_close(b);
  return status == CN_OK ? 0 : fail();
}

static int make_small(const char *folder) {
  CnRun *run = NULL;
  if (cn_run_open(in_folder(folder, "run.h5"), NULL, &run) != CN_OK) return fail();
  int64_t room = (int64_t)(cni_page_head_size + cni_page_tail_size) + 180000;
  CnStatus status = cn_page_from_run(run, in_folder(folder, "small.html"), room);
  cn_run_close(run);
  return status == CN_OK ? 0 : fail();
}

// ---- the others ----

static int make_scene(const char *name, const char *folder) {
  CnScene *scene = NULL;
  if (open_scene(name, &scene) != CN_OK) return fail();
  CniPageDef def = {.output = in_folder(folder, "scene.html")};
  CnStatus status = cni_page_from_scene(scene, &def);
  cn_scene_destroy(scene);
  return status == CN_OK ? 0 : fail();
}

static int write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  int done = file && fputs(text, file) >= 0;
  return file && fclose(file) == 0 && done;
}

static int make_rings(const char *folder) {
  static const char text[] =
      "{\"bodies\": [{\"repeat\": 3, \"as\": \"i\", \"items\": [{\"kind\": \"kinematic\", "
      "\"position\": [0, 0, \"=3*i\"], \"shapes\": [{\"kind\": \"mesh\", \"file\": "
      "\"rings.obj\"}]}]}, {\"position\": [9, 0, 0], \"shapes\": [{\"kind\": \"capsule\", "
      "\"radius\": 0.5, \"length\": 2}]}]}";
  CniMeshData ring = solid_torus(3, 1, 200, 50);
  solid_write(&ring, in_folder(folder, "rings.obj"));
  cni_mesh_release(&ring);
  CnScene *scene = NULL;
  if (!write_text(in_folder(folder, "rings.json"), text)) return 1;
  if (cn_scene_open(in_folder(folder, "rings.json"), NULL, 0, NULL, &scene) != CN_OK) return fail();
  CniPageDef def = {.output = in_folder(folder, "rings.html")};
  CnStatus status = cni_page_from_scene(scene, &def);
  cn_scene_destroy(scene);
  return status == CN_OK ? 0 : fail();
}

static int make_formulas(const char *title, int64_t max_bytes, const char *path) {
  FormulaRun run = formula_run(41, 300, 2000);
  if (title) run.title = title;
  CniPageSource source = formula_source(&run);
  CniPageDef def = {.output = path, .max_bytes = max_bytes};
  return cni_page_write(&(const CniPageSource *){&source}, 1, &def) == CN_OK ? 0 : fail();
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "run") == 0 && argc == 6)
    return make_run(argv[2], atoll(argv[3]), atof(argv[4]), 0, argv[5]);
  if (strcmp(what, "pair") == 0 && argc == 6)
    return make_pair(argv[2], atoll(argv[3]), atof(argv[4]), argv[5]);
  if (strcmp(what, "killed") == 0 && argc == 5)
    return make_run(argv[2], atoll(argv[3]), 0, 1, argv[4]);
  if (strcmp(what, "scene") == 0 && argc == 4) return make_scene(argv[2], argv[3]);
  if (strcmp(what, "rings") == 0 && argc == 3) return make_rings(argv[2]);
  if (strcmp(what, "hostile") == 0 && argc == 3)
    return make_formulas("</script><script>window.broken = 1</script>"
                         "<img src=x onerror=\"broken=1\"> & <b>'\"\\",
                         0, in_folder(argv[2], "hostile.html"));
  if (strcmp(what, "small") == 0 && argc == 3) return make_small(argv[2]);
  if (strcmp(what, "large") == 0 && argc == 3) {
    FormulaRun run = formula_run(50001, 40, 100);
    CniPageSource source = formula_source(&run);
    CniPageDef def = {.output = in_folder(argv[2], "large.html")};
    return cni_page_write(&(const CniPageSource *){&source}, 1, &def) == CN_OK ? 0 : fail();
  }
  if (strcmp(what, "thinned") == 0 && argc == 3) {
    int64_t room = (int64_t)(cni_page_head_size + cni_page_tail_size) + 250000;
    return make_formulas(NULL, room, in_folder(argv[2], "thinned.html"));
  }
  fprintf(stderr, "pages: run, killed, thinned, hostile, rings or scene\n");
  return 2;
}
