// SPDX-License-Identifier: Apache-2.0
// Reads the run file named on the command line: what it is, where the highest body ended, and how
// much energy was lost. usage: read_run run.h5
#include <cairn/run.h>

#include <stdio.h>
#include <stdlib.h>

static int failed(CnStatus status) {
  if (status != CN_OK) fprintf(stderr, "%s: %s\n", cn_status_name(status), cn_error_message());
  return status != CN_OK;
}

int main(int argc, char **argv) {
  CnRun *run;
  CnRunInfo info;
  if (argc != 2) {
    fprintf(stderr, "usage: read_run run.h5\n");
    return 2;
  }
  if (failed(cn_run_open(argv[1], NULL, &run))) return 1;
  cn_run_info(run, &info);
  printf("%s: %d bodies, %lld steps of %g s with %s, %lld frames%s\n", info.scene_name,
         (int)info.body_count, (long long)info.step_count, info.time_step, info.solver,
         (long long)info.frame_count, info.complete ? "" : " so far");

  // the last frame
  double time;
  CnPose *poses = malloc((size_t)info.body_count * sizeof *poses);
  if (!poses || failed(cn_run_frame(run, info.frame_count - 1, &time, poses, NULL))) return 1;
  int32_t highest = 0;
  CnRunBody body;
  for (int32_t i = 1; i < info.body_count; i++)
    if (poses[i].position.z > poses[highest].position.z) highest = i;
  if (failed(cn_run_body(run, highest, &body))) return 1;
  printf("t = %g s: body %d %s is the highest, at %g m\n", time, (int)highest, body.name,
         poses[highest].position.z);

  // series have one value a step
  double first[2], last[2];
  static const char *const energies[] = {"kinetic_energy", "potential_energy"};
  for (int i = 0; i < 2 && info.step_count > 0; i++) {
    if (failed(cn_run_values(run, energies[i], 0, 1, &first[i]))) return 1;
    if (failed(cn_run_values(run, energies[i], info.step_count - 1, 1, &last[i]))) return 1;
  }
  if (info.step_count > 0) printf("energy lost: %g J\n", first[0] + first[1] - last[0] - last[1]);
  free(poses);
  cn_run_close(run);
  return 0;
}
