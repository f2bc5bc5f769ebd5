// SPDX-License-Identifier: Apache-2.0
#include "hinges.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int read_numbers(int count, double *n) {
  for (int i = 0; i < count; i++)
    if (scanf("%lf", &n[i]) != 1) return 0;
  return 1;
}

// R^T x for a quaternion.
static void unrotate(const double q[4], const double x[3], double y[3]) {
  double u[3] = {-q[1], -q[2], -q[3]}, t[3];
  for (int i = 0; i < 3; i++)
    t[i] = 2 * (u[(i + 1) % 3] * x[(i + 2) % 3] - u[(i + 2) % 3] * x[(i + 1) % 3]);
  for (int i = 0; i < 3; i++)
    y[i] = x[i] + q[0] * t[i] + (u[(i + 1) % 3] * t[(i + 2) % 3] - u[(i + 2) % 3] * t[(i + 1) % 3]);
}

static void *grow(void *array, int count, int *capacity, size_t size) {
  if (count < *capacity) return array;
  *capacity = 2 * *capacity + 64;
  return realloc(array, (size_t)*capacity * size);
}

static int read_box(Hinges *m) {
  double n[17];
  m->boxes = grow(m->boxes, m->box_count, &m->box_capacity, sizeof *m->boxes);
  if (!m->boxes || !read_numbers(17, n)) return 0;
  Box *b = &m->boxes[m->box_count++];
  memcpy(b->x, n, sizeof b->x);
  memcpy(b->q, n + 3, sizeof b->q);
  memcpy(b->size, n + 7, sizeof b->size);
  b->mass = n[10];
  memcpy(b->v, n + 11, sizeof b->v);
  memcpy(b->w, n + 14, sizeof b->w);
  b->hinge = -1;
  return 1;
}

// Anchor and axis of a hinge in one of its bodies; its rate is that of b against a.
static void fix(const Hinges *m, Hinge *h, int body, double sign, double *at, double *axis) {
  memcpy(at, h->at, sizeof h->at);
  memcpy(axis, h->axis, sizeof h->axis);
  if (body < 0) return;
  const Box *b = &m->boxes[body];
  double d[3] = {h->at[0] - b->x[0], h->at[1] - b->x[1], h->at[2] - b->x[2]};
  unrotate(b->q, d, at);
  unrotate(b->q, h->axis, axis);
  for (int i = 0; i < 3; i++) h->rate += sign * b->w[i] * h->axis[i];
}

static int read_hinge(Hinges *m) {
  double n[8];
  m->hinges = grow(m->hinges, m->hinge_count, &m->hinge_capacity, sizeof *m->hinges);
  if (!m->hinges || !read_numbers(8, n)) return 0;
  Hinge *h = &m->hinges[m->hinge_count++];
  *h = (Hinge){.a = (int)n[0], .b = (int)n[1]};
  if (h->a >= m->box_count || h->b >= m->box_count || h->b < 0) return 0;
  memcpy(h->at, n + 2, sizeof h->at);
  memcpy(h->axis, n + 5, sizeof h->axis);
  fix(m, h, h->a, -1, h->in_a, h->axis_in_a);
  fix(m, h, h->b, 1, h->in_b, h->axis_in_b);
  h->loop = m->boxes[h->b].hinge >= 0;
  if (!h->loop) m->boxes[h->b].hinge = m->hinge_count - 1;
  return 1;
}

static int read_step(Hinges *m) {
  double n[3];
  if (!read_numbers(3, n)) return 0;
  m->h = n[0];
  m->steps = (int)n[1];
  m->method = (int)n[2];
  return 1;
}

static int read_keep(Hinges *m) {
  double n;
  if (!read_numbers(1, &n) || n < 0 || n >= m->hinge_count) return 0;
  m->hinges[(int)n].kept = 1;
  return 1;
}

static int read_drive(Hinges *m) {
  double n[4];
  if (!read_numbers(4, n) || n[0] < 0 || n[0] >= m->hinge_count) return 0;
  Hinge *h = &m->hinges[(int)n[0]];
  h->speed = n[1];
  h->ramp = n[2];
  h->effort = n[3];
  return 1;
}

static int read_foot(Hinges *m) {
  double n[5];
  if (m->foot_count == HINGES_FEET || !read_numbers(5, n) || n[0] < 0 || n[0] >= m->box_count)
    return 0;
  m->feet[m->foot_count++] = (Foot){(int)n[0], {n[1], n[2], n[3]}, n[4]};
  return 1;
}

static int read_floor(Hinges *m) {
  double n[2];
  if (!read_numbers(2, n)) return 0;
  m->friction = n[0];
  m->iterations = (int)n[1];
  return 1;
}

int hinges_read(Hinges *m) {
  static const struct {
    const char *word;
    int (*read)(Hinges *m);
  } items[] = {{"step", read_step},  {"box", read_box},     {"hinge", read_hinge},
               {"keep", read_keep},  {"drive", read_drive}, {"foot", read_foot},
               {"floor", read_floor}};
  char word[16];
  memset(m, 0, sizeof *m);
  while (scanf("%15s", word) == 1) {
    size_t i = 0, count = sizeof items / sizeof items[0];
    while (i < count && strcmp(items[i].word, word) != 0) i++;
    if (i == count || !items[i].read(m)) return 0;
  }
  return m->box_count > 0 && m->steps > 0;
}

double hinges_speed(const Hinge *h, double time) {
  return time < h->ramp ? h->speed * time / h->ramp : h->speed;
}

void hinges_release(Hinges *m) {
  free(m->boxes);
  free(m->hinges);
}

void hinges_inertia(const Box *b, double inertia[3]) {
  for (int i = 0; i < 3; i++) {
    double y = b->size[(i + 1) % 3], z = b->size[(i + 2) % 3];
    inertia[i] = b->mass / 12 * (y * y + z * z);
  }
}

double hinges_gap(const Hinges *m, HingesPlace *place, const void *context) {
  double most = 0;
  for (int i = 0; i < m->hinge_count; i++) {
    const Hinge *h = &m->hinges[i];
    double a[3], b[3], sum = 0;
    place(context, h->a, h->in_a, a);
    place(context, h->b, h->in_b, b);
    for (int k = 0; k < 3; k++) sum += (b[k] - a[k]) * (b[k] - a[k]);
    most = fmax(most, sqrt(sum));
  }
  return most;
}

void hinges_run(const Hinges *m, HingesStep *step, HingesPlace *place, void *context) {
  double seconds = 0, open = 0, x[3], e[3], first[3];
  const double centre[3] = {0, 0, 0}, along[3] = {1, 0, 0};
  for (int i = 0; i < m->steps; i++) {
    double start = now();
    step(context);
    if (i >= m->steps / 10) seconds += now() - start;
    open = fmax(open, hinges_gap(m, place, context));
  }
  place(context, m->box_count - 1, centre, x);
  place(context, m->box_count - 1, along, e);
  place(context, 0, centre, first);
  printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n",
         seconds / (m->steps - m->steps / 10), open, x[0], x[1], x[2], e[0] - x[0], e[1] - x[1],
         e[2] - x[2], first[0], first[1], first[2]);
}
