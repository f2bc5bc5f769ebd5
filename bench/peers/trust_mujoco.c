// SPDX-License-Identifier: Apache-2.0
// A mechanism in MuJoCo: reads it on stdin (mechanism.h), writes it as MJCF, prints its frames.
// Newton solver, the iterations of the list, all else at MuJoCo's defaults.
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../mechanism.h"

static void write_part(FILE *f, const Mechanism *m, int32_t i) {
  const Part *p = &m->parts[i];
  int bits = m->contacts ? 1 : 0;
  fprintf(
      f,
      "<body name=\"b%d\" pos=\"%.17g %.17g %.17g\" quat=\"%.17g %.17g %.17g %.17g\"><freejoint/>",
      (int)i, p->position[0], p->position[1], p->position[2], p->rotation[0], p->rotation[1],
      p->rotation[2], p->rotation[3]);
  if (p->is_box)
    fprintf(f, "<geom type=\"box\" size=\"%.17g %.17g %.17g\"", p->half_size[0], p->half_size[1],
            p->half_size[2]);
  else
    fprintf(f, "<geom type=\"sphere\" size=\"%.17g\"", p->radius);
  fprintf(f, " mass=\"%.17g\" contype=\"%d\" conaffinity=\"%d\" friction=\"%.17g 0 0\"/></body>\n",
          p->mass, bits, bits, m->friction);
}

// anchor of `connect` is in the frame of its first body; all bodies start upright in these tests
static void write_joint(FILE *f, const Mechanism *m, int32_t i) {
  const BallJoint *j = &m->joints[i];
  int32_t first = j->a < 0 ? j->b : j->a, second = j->a < 0 ? j->a : j->b;
  const double *x = m->parts[first].position;
  fprintf(f, "<connect body1=\"b%d\"", (int)first);
  if (second >= 0) fprintf(f, " body2=\"b%d\"", (int)second);
  fprintf(f, " anchor=\"%.17g %.17g %.17g\"/>\n", j->anchor[0] - x[0], j->anchor[1] - x[1],
          j->anchor[2] - x[2]);
}

static void write_model(FILE *f, const Mechanism *m) {
  // room for contacts and rows; MuJoCo squares the second
  int contacts = m->contacts ? 10 * (int)m->part_count + 20 : 1;
  int rows = 3 * contacts + 3 * (int)m->joint_count;
  fprintf(f,
          "<mujoco><size njmax=\"%d\" nconmax=\"%d\"/><option timestep=\"%.17g\" "
          "gravity=\"%.17g %.17g %.17g\" iterations=\"%d\" solver=\"Newton\"/>"
          "<worldbody>\n",
          rows, contacts, m->time_step, m->gravity[0], m->gravity[1], m->gravity[2],
          (int)m->iterations);
  if (m->plane)
    fprintf(f, "<geom type=\"plane\" size=\"1000 1000 1\" friction=\"%.17g 0 0\"/>\n", m->friction);
  for (int32_t i = 0; i < m->part_count; i++) write_part(f, m, i);
  fprintf(f, "</worldbody><equality>\n");
  for (int32_t i = 0; i < m->joint_count; i++) write_joint(f, m, i);
  fprintf(f, "</equality></mujoco>\n");
}

static mjModel *load(const Mechanism *m) {
  char path[] = "/tmp/cairn-trust-XXXXXX", problem[512];
  int handle = mkstemp(path);
  FILE *file = handle >= 0 ? fdopen(handle, "w") : NULL;
  if (!file) return NULL;
  write_model(file, m);
  fclose(file);
  mjModel *model = mj_loadXML(path, NULL, problem, sizeof problem);
  unlink(path);
  if (!model) fprintf(stderr, "mujoco: %s\n", problem);
  return model;
}

// Without this a warning is written to a file in the folder of the user.
static void keep_quiet(const char *warning) { (void)warning; }

int main(void) {
  mju_user_warning = keep_quiet;
  Mechanism m;
  if (!mechanism_read(&m, stdin)) return 1;
  mjModel *model = load(&m);
  mjData *data = model ? mj_makeData(model) : NULL;
  if (!data) return 1;
  printf("engine MuJoCo %s\n", mj_versionString());
  for (int32_t step = 1; step <= m.step_count; step++) {
    mj_step(model, data);
    if (step % m.frame_every != 0) continue;
    printf("frame %.17g", step * m.time_step);
    for (int32_t i = 0; i < m.part_count; i++) {
      const mjtNum *x = data->qpos + 7 * i;
      printf(" %.17g %.17g %.17g", x[0], x[1], x[2]);
    }
    printf("\n");
  }
  mj_deleteData(data);
  mj_deleteModel(model);
  mechanism_release(&m);
  return 0;
}
