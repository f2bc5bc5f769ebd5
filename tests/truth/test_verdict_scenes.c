// SPDX-License-Identifier: Apache-2.0
// False trust and false alarm with whole scenes, those that Cairn brings and machines of examples/: runs broken by
// steps that are too long, sweeps that are too few or a scheme without projection, each refused for the reason
// named, and the same scenes as they stand, with other sizes, solvers and integrators, which are trusted. A row
// is what `cairn run SCENE --set KEY=VALUE ...` does.
#include <cairn/scene.h>
#include <cairn/verdict.h>

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "source_dir.h"

#define MACHINE(name) CAIRN_SOURCE_DIR "/examples/machines/" name ".json"
#define BODIES_MOST 200 // of a scene with joints whose energy `cairn run` watches by itself

typedef struct Run {
  const char *scene, *key; // key: a parameter that gets a value; null: none
  double value, h;         // h: s; 0: that of the scene
  int32_t steps;
  const char *solver; // null: that of the scene
  int32_t iterations; // 0: likewise
  const char *integrator;
  CnFindingKind reason; // of those that are broken
} Run;

// The reasons of the rows below.
#define OPEN CN_FINDING_JOINTS
#define DEEP CN_FINDING_OVERLAPS
#define RESIDUAL CN_FINDING_RESIDUAL
#define ENERGY CN_FINDING_ENERGY
#define SCHEME CN_FINDING_SCHEME
#define TURNS CN_FINDING_TURNING
#define AGAINST CN_FINDING_INFEASIBLE
#define NONE CN_FINDING_COUNT

static const Run broken[] = {{"newton-cradle", NULL, 0, 0.01, 200, NULL, 0, "moreau-jean", DEEP},
                             {"domino", "dominoes", 20, 0.02, 60, NULL, 0, NULL, DEEP},
                             {"domino", "dominoes", 20, 0.01, 150, "psor", 2, NULL, RESIDUAL},
                             {"conveyor", NULL, 0, 0, 1000, "psor", 1, NULL, RESIDUAL},
                             {"part-feeder", NULL, 0, 0.02, 40, NULL, 0, NULL, DEEP},
                             {"pyramid", "rows", 8, 0, 60, "psor", 1, NULL, RESIDUAL},
                             {"pyramid", "rows", 8, 0, 60, "spg", 3, NULL, DEEP},
                             {"stack", "ratio", 1e6, 0, 60, "psor", 30, NULL, DEEP},
                             {"stack", NULL, 0, 0, 60, "psor", 1, NULL, ENERGY},
                             {"stack", "ratio", 1000, 0, 80, "apgd", 5, NULL, DEEP},
                             {"scene-g", "n", 100, 0, 150, "psor", 1, NULL, ENERGY},
                             {"scene-g", "n", 100, 0.05, 60, NULL, 0, NULL, AGAINST},
                             {"chain", NULL, 0, 0.1, 60, NULL, 0, NULL, SCHEME},
                             {"chain", "ratio", 1e6, 0.05, 100, NULL, 0, NULL, SCHEME},
                             {"joints", NULL, 0, 0.1, 40, NULL, 0, NULL, OPEN},
                             {"joints", NULL, 0, 0.05, 40, NULL, 0, "moreau-jean", OPEN},
                             {"shapes", "layers", 2, 0.05, 50, NULL, 0, NULL, DEEP},
                             {"terrain", "bodies", 8, 0.1, 60, NULL, 0, NULL, TURNS},
                             {"granular", "spheres", 100, 0, 200, "psor", 1, NULL, RESIDUAL},
                             {"granular", "spheres", 100, 0.05, 60, NULL, 0, NULL, AGAINST},
                             {"heap", "boxes", 20, 0.05, 50, NULL, 0, NULL, DEEP},
                             {"heap", "boxes", 20, 0, 400, "psor", 1, NULL, RESIDUAL},
                             {"slope", NULL, 0, 0, 100, "psor", 1, NULL, RESIDUAL},
                             {MACHINE("geneva"), NULL, 0, 0.05, 40, NULL, 0, NULL, DEEP},
                             {MACHINE("gripper"), NULL, 0, 0.05, 40, NULL, 0, NULL, ENERGY},
                             {MACHINE("spider"), NULL, 0, 0.05, 40, NULL, 0, NULL, AGAINST},
                             {.scene = NULL}};

static const Run good[] = {{"newton-cradle", NULL, 0, 0, 1200, NULL, 0, NULL, NONE},
                           {"newton-cradle", "lifted", 2, 0, 1200, NULL, 0, NULL, NONE},
                           {"newton-cradle", NULL, 0, 0.02, 100, NULL, 0, NULL, NONE},
                           {"domino", "dominoes", 20, 0, 400, NULL, 0, NULL, NONE},
                           {"conveyor", NULL, 0, 0, 150, NULL, 0, NULL, NONE},
                           {"conveyor", NULL, 0, 0.05, 60, NULL, 0, NULL, NONE},
                           {"part-feeder", NULL, 0, 0, 100, NULL, 0, NULL, NONE},
                           {"pyramid", "rows", 8, 0, 60, NULL, 0, NULL, NONE},
                           {"stack", "ratio", 1e6, 0, 60, NULL, 0, NULL, NONE},
                           {"stack", "ratio", 1000, 0, 60, NULL, 0, "moreau-jean", NONE},
                           {"scene-g", "n", 200, 0, 120, NULL, 0, NULL, NONE},
                           {"scene-g", "n", 200, 0, 120, "psor", 120, NULL, NONE},
                           {"chain", NULL, 0, 0, 200, NULL, 0, NULL, NONE},
                           {"joints", NULL, 0, 0, 200, NULL, 0, NULL, NONE},
                           {"joints", NULL, 0, 0, 200, NULL, 0, "moreau-jean", NONE},
                           {"shapes", "layers", 2, 0, 150, NULL, 0, NULL, NONE},
                           {"terrain", "bodies", 8, 0, 300, NULL, 0, NULL, NONE},
                           {"granular", "spheres", 100, 0, 150, NULL, 0, NULL, NONE},
                           {"heap", "boxes", 20, 0, 300, NULL, 0, NULL, NONE},
                           {"slope", NULL, 0, 0, 200, NULL, 0, NULL, NONE},
                           {"slope", "tan", 0.51, 0, 200, NULL, 0, NULL, NONE},
                           {MACHINE("geneva"), NULL, 0, 0, 300, NULL, 0, NULL, NONE},
                           {MACHINE("gripper"), NULL, 0, 0, 200, NULL, 0, NULL, NONE},
                           {MACHINE("squeezer"), NULL, 0, 0, 200, NULL, 0, NULL, NONE},
                           {MACHINE("spider"), NULL, 0, 0, 60, NULL, 0, NULL, NONE},
                           {.scene = NULL}};

static CnVerdict judge(const Run *run) {
  CnSetting setting = {run->key, run->value};
  CnWorldDef def = cn_world_def_default();
  CnScene *scene;
  CnSceneInfo info;
  CnWorld *world;
  CnVerdict verdict;
  CHECK_OK(cn_scene_open(run->scene, &setting, run->key ? 1 : 0, NULL, &scene));
  cn_scene_world_def(scene, &def);
  cn_scene_info(scene, &info);
  def.balance = info.body_count <= BODIES_MOST && info.joint_count + info.force_count > 0;
  if (run->h > 0) def.time_step = run->h;
  if (run->integrator) def.integrator = run->integrator;
  if (run->solver) def.solver = cn_solver_def_default(run->solver);
  if (run->iterations > 0) def.solver.max_iterations = run->iterations;
  CHECK_OK(cn_world_create(&def, &world));
  CHECK_OK(cn_scene_fill(scene, world));
  for (int32_t i = 0; i < run->steps; i++) CHECK_OK(cn_scene_step(scene, world, NULL));
  CHECK_OK(cn_world_verdict(world, &verdict));
  cn_world_destroy(world);
  cn_scene_destroy(scene);
  return verdict;
}

static void tell(const char *what, const Run *run, const CnVerdict *v) {
  printf("%s: %s (%s %g, h %g): %s\n", what, run->scene, run->key ? run->key : "-", run->value,
         run->h, v->line);
}

static void broken_scenes(void **state) {
  (void)state;
  int32_t wrong = 0, count = 0;
  for (const Run *run = broken; run->scene; run++, count++) {
    CnVerdict v = judge(run);
    if (!v.trusted && v.findings[run->reason].is_reason) continue;
    tell("false trust", run, &v);
    wrong++;
  }
  printf("%d broken scenes, %d wrong\n", (int)count, (int)wrong);
  CHECK(count >= 20 && wrong == 0);
}

static void good_scenes(void **state) {
  (void)state;
  int32_t wrong = 0, count = 0;
  for (const Run *run = good; run->scene; run++, count++) {
    CnVerdict v = judge(run);
    if (v.trusted) continue;
    tell("false alarm", run, &v);
    wrong++;
  }
  printf("%d good scenes, %d wrong\n", (int)count, (int)wrong);
  CHECK(count >= 20 && wrong == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(broken_scenes),
      cmocka_unit_test(good_scenes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
