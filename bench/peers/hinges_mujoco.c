// SPDX-License-Identifier: Apache-2.0
// A machine of hinges in MuJoCo (bench mechanisms, bench spider): a tree of hinges in their own coordinates,
// loops closed by holding two points on the axis together; solver, integrator and softness of its
// constraints at MuJoCo's defaults. It has no drive that keeps a speed: driven hinges have a damping of
// 2 N m s and a torque that it takes up at that speed. Its reader refuses trees deeper than about 100 bodies.
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../hinges.h"

typedef struct Peer {
  Hinges machine;
  int *first_child, *next; // of boxes, -1
  int *number;             // of boxes in the model
  mjModel *model;
  mjData *data;
} Peer;

#define DAMPING 2 // N m s

// -1: it hangs at the world, or at nothing.
static int parent_of(const Peer *p, int box) {
  int hinge = p->machine.boxes[box].hinge;
  return hinge < 0 ? -1 : p->machine.hinges[hinge].a;
}

// The pose of a box in its parent.
static void pose_in(const Peer *p, int box, mjtNum x[3], mjtNum q[4]) {
  const Box *b = &p->machine.boxes[box];
  int parent = parent_of(p, box);
  memcpy(x, b->x, sizeof b->x);
  memcpy(q, b->q, sizeof b->q);
  if (parent < 0) return;
  const Box *a = &p->machine.boxes[parent];
  mjtNum inverse[4], d[3];
  mju_negQuat(inverse, a->q);
  mju_sub3(d, b->x, a->x);
  mju_rotVecQuat(x, d, inverse);
  mju_mulQuat(q, inverse, b->q);
}

static void write_joint(FILE *f, const Peer *p, const Box *b) {
  if (b->hinge < 0) {
    fprintf(f, "<freejoint/>\n");
    return;
  }
  const Hinge *h = &p->machine.hinges[b->hinge];
  if (h->kept) return; // it is one with its parent
  fprintf(f, "<joint type=\"hinge\" pos=\"%.17g %.17g %.17g\" axis=\"%.17g %.17g %.17g\"",
          h->in_b[0], h->in_b[1], h->in_b[2], h->axis_in_b[0], h->axis_in_b[1], h->axis_in_b[2]);
  if (h->effort > 0) fprintf(f, " name=\"j%d\" damping=\"%d\"", b->hinge, DAMPING);
  fprintf(f, "/>\n");
}

static void write_feet(FILE *f, const Peer *p, int box) {
  for (int i = 0; i < p->machine.foot_count; i++) {
    const Foot *foot = &p->machine.feet[i];
    if (foot->body == box)
      fprintf(f,
              "<geom size=\"%.17g\" pos=\"%.17g %.17g %.17g\" friction=\"%.17g 0 0\" "
              "contype=\"1\" conaffinity=\"2\"/>\n",
              foot->radius, foot->at[0], foot->at[1], foot->at[2], p->machine.friction);
  }
}

static void write_box(FILE *f, const Peer *p, int box) {
  const Box *b = &p->machine.boxes[box];
  mjtNum x[3], q[4];
  double j[3];
  pose_in(p, box, x, q);
  hinges_inertia(b, j);
  fprintf(f, "<body name=\"b%d\" pos=\"%.17g %.17g %.17g\" quat=\"%.17g %.17g %.17g %.17g\">", box,
          x[0], x[1], x[2], q[0], q[1], q[2], q[3]);
  fprintf(f, "<inertial pos=\"0 0 0\" mass=\"%.17g\" diaginertia=\"%.17g %.17g %.17g\"/>", b->mass,
          j[0], j[1], j[2]);
  write_joint(f, p, b);
  write_feet(f, p, box);
  for (int i = p->first_child[box]; i >= 0; i = p->next[i]) write_box(f, p, i);
  fprintf(f, "</body>\n");
}

static void write_loop(FILE *f, const Hinge *h) {
  for (int side = -1; side <= 1; side += 2) {
    fprintf(f, "<connect body1=\"b%d\"", h->b);
    if (h->a >= 0) fprintf(f, " body2=\"b%d\"", h->a);
    fprintf(f, " anchor=\"");
    for (int i = 0; i < 3; i++) fprintf(f, "%.17g ", h->in_b[i] + .01 * side * h->axis_in_b[i]);
    fprintf(f, "\"/>\n");
  }
}

static void write_model(FILE *f, const Peer *p) {
  const Hinges *m = &p->machine;
  int loops = 0;
  for (int i = 0; i < m->hinge_count; i++) loops += m->hinges[i].loop;
  fprintf(f, "<mujoco><size njmax=\"%d\" nconmax=\"%d\"/><option timestep=\"%.17g\"",
          6 * loops + 1 + 4 * m->foot_count, 1 + m->foot_count, m->h);
  if (m->iterations > 0) fprintf(f, " iterations=\"%d\"", m->iterations);
  fprintf(f, "/><worldbody>\n");
  if (m->foot_count > 0)
    fprintf(f,
            "<geom type=\"plane\" size=\"100 100 1\" friction=\"%.17g 0 0\" contype=\"2\" "
            "conaffinity=\"1\"/>\n",
            m->friction);
  for (int i = 0; i < m->box_count; i++)
    if (parent_of(p, i) < 0) write_box(f, p, i);
  fprintf(f, "</worldbody><equality>\n");
  for (int i = 0; i < m->hinge_count; i++)
    if (m->hinges[i].loop) write_loop(f, &m->hinges[i]);
  fprintf(f, "</equality><actuator>\n");
  for (int i = 0; i < m->hinge_count; i++)
    if (m->hinges[i].effort > 0) fprintf(f, "<motor name=\"m%d\" joint=\"j%d\"/>\n", i, i);
  fprintf(f, "</actuator></mujoco>\n");
}

static mjModel *load(const Peer *p) {
  char path[] = "/tmp/cairn-hinges-XXXXXX", problem[512];
  int handle = mkstemp(path);
  FILE *file = handle >= 0 ? fdopen(handle, "w") : NULL;
  if (!file) return NULL;
  write_model(file, p);
  fclose(file);
  mjModel *model = mj_loadXML(path, NULL, problem, sizeof problem);
  unlink(path);
  if (!model) fprintf(stderr, "mujoco: %s\n", problem);
  return model;
}

// Children in the order of the boxes.
static int make_tree(Peer *p) {
  const Hinges *m = &p->machine;
  size_t count = (size_t)m->box_count;
  p->first_child = malloc(count * sizeof *p->first_child);
  p->next = malloc(count * sizeof *p->next);
  p->number = malloc(count * sizeof *p->number);
  if (!p->first_child || !p->next || !p->number) return 0;
  for (int i = 0; i < m->box_count; i++) p->first_child[i] = p->next[i] = -1;
  for (int i = m->box_count - 1; i >= 0; i--) {
    int parent = parent_of(p, i);
    if (parent < 0) continue;
    p->next[i] = p->first_child[parent];
    p->first_child[parent] = i;
  }
  return 1;
}

static int make(Peer *p) {
  if (!make_tree(p)) return 0;
  p->model = load(p);
  p->data = p->model ? mj_makeData(p->model) : NULL;
  if (!p->data) return 0;
  for (int i = 0; i < p->machine.box_count; i++) {
    char name[16];
    snprintf(name, sizeof name, "b%d", i);
    p->number[i] = mj_name2id(p->model, mjOBJ_BODY, name);
    if (p->machine.boxes[i].hinge < 0) continue; // what floats begins at rest
    const Hinge *h = &p->machine.hinges[p->machine.boxes[i].hinge];
    if (h->kept) continue;
    p->data->qvel[p->model->jnt_dofadr[p->model->body_jntadr[p->number[i]]]] = h->rate;
  }
  return 1;
}

static void step(void *context) {
  const Peer *p = context;
  int motor = 0;
  for (int i = 0; i < p->machine.hinge_count; i++)
    if (p->machine.hinges[i].effort > 0)
      p->data->ctrl[motor++] =
          DAMPING * hinges_speed(&p->machine.hinges[i], p->data->time + p->machine.h);
  mj_step(p->model, p->data);
}

static void place(const void *context, int body, const double at[3], double world[3]) {
  const Peer *p = context;
  memcpy(world, at, 3 * sizeof *world);
  if (body < 0) return;
  if (body == 0) mj_kinematics(p->model, p->data); // the first one asked for after a step
  mju_rotVecMat(world, at, p->data->xmat + 9 * p->number[body]);
  mju_addTo3(world, p->data->xpos + 3 * p->number[body]);
}

// Without this a warning is written to a file in the folder of the user.
static void keep_quiet(const char *warning) { (void)warning; }

int main(void) {
  Peer p = {.model = NULL};
  mju_user_warning = keep_quiet;
  if (!hinges_read(&p.machine) || !make(&p)) return 1;
  hinges_run(&p.machine, step, place, &p);
  mj_deleteData(p.data);
  mj_deleteModel(p.model);
  free(p.first_child);
  free(p.next);
  free(p.number);
  hinges_release(&p.machine);
  return 0;
}
