// SPDX-License-Identifier: Apache-2.0
// usage: rollout_mujoco MODEL WORLDS STEPS THREADS
// MuJoCo's rollout: one model, one mjData a thread, every world from the start with its own controls. Prints seconds.
#include <mujoco/mujoco.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Share {
  const mjModel *model;
  mjData *data;
  int first, last, worlds, steps;
} Share;

static void *roll(void *context) {
  Share *s = context;
  for (int i = s->first; i < s->last; i++) {
    mj_resetData(s->model, s->data);
    for (int k = 0; k < s->model->nu; k++) s->data->ctrl[k] = -1 + 2.0 * i / s->worlds;
    for (int n = 0; n < s->steps; n++) mj_step(s->model, s->data);
  }
  return NULL;
}

int main(int argc, char **argv) {
  char problem[512];
  Share shares[64];
  pthread_t threads[64];
  struct timespec start, end;
  if (argc != 5) return 2;
  mjModel *model = mj_loadXML(argv[1], NULL, problem, sizeof problem);
  if (!model) return fprintf(stderr, "%s\n", problem), 1;
  int worlds = atoi(argv[2]), steps = atoi(argv[3]), count = atoi(argv[4]);
  if (count < 1 || count > 64) return 2;
  for (int i = 0; i < count; i++)
    shares[i] = (Share){model,  mj_makeData(model), worlds * i / count, worlds * (i + 1) / count,
                        worlds, steps};
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, roll, &shares[i]);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%.6f\n",
         (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
  return 0;
}
