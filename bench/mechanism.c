// SPDX-License-Identifier: Apache-2.0
#include "mechanism.h"

#include <stdlib.h>
#include <string.h>

void mechanism_init(Mechanism *m) {
  memset(m, 0, sizeof *m);
  m->gravity[2] = -9.81;
  m->time_step = 0.01;
  m->iterations = 120;
  m->frame_every = 1;
  m->contacts = 1;
  m->plane = 1;
  m->friction = 0.5;
}

void mechanism_release(Mechanism *m) {
  free(m->parts);
  free(m->joints);
  memset(m, 0, sizeof *m);
}

// One more element at the end of an array that doubles; null when there is no memory.
static void *append(void **data, int32_t *count, int32_t *capacity, size_t size) {
  if (*count == *capacity) {
    int32_t more = *capacity > 0 ? 2 * *capacity : 16;
    void *grown = realloc(*data, (size_t)more * size);
    if (!grown) return NULL;
    *data = grown;
    *capacity = more;
  }
  char *at = (char *)*data + (size_t)(*count)++ * size;
  memset(at, 0, size);
  return at;
}

static Part *add_part(Mechanism *m, const double position[3], double mass) {
  void *data = m->parts;
  Part *part = append(&data, &m->part_count, &m->part_capacity, sizeof *part);
  m->parts = data;
  if (!part) return NULL;
  memcpy(part->position, position, sizeof part->position);
  part->rotation[0] = 1;
  part->mass = mass;
  return part;
}

Part *mechanism_add_box(Mechanism *m, const double position[3], const double half_size[3],
                        double mass) {
  Part *part = add_part(m, position, mass);
  if (!part) return NULL;
  part->is_box = 1;
  memcpy(part->half_size, half_size, sizeof part->half_size);
  return part;
}

Part *mechanism_add_sphere(Mechanism *m, const double position[3], double radius, double mass) {
  Part *part = add_part(m, position, mass);
  if (part) part->radius = radius;
  return part;
}

BallJoint *mechanism_add_ball(Mechanism *m, int32_t a, int32_t b, const double anchor[3]) {
  void *data = m->joints;
  BallJoint *joint = append(&data, &m->joint_count, &m->joint_capacity, sizeof *joint);
  m->joints = data;
  if (!joint) return NULL;
  joint->a = a;
  joint->b = b;
  memcpy(joint->anchor, anchor, sizeof joint->anchor);
  return joint;
}

int mechanism_write(const Mechanism *m, FILE *file) {
  fprintf(file, "gravity %.17g %.17g %.17g\nstep %.17g %d %d\niterations %d\nfriction %.17g\n",
          m->gravity[0], m->gravity[1], m->gravity[2], m->time_step, (int)m->step_count,
          (int)m->frame_every, (int)m->iterations, m->friction);
  fprintf(file, "contacts %d\n%s", (int)m->contacts, m->plane ? "plane\n" : "");
  for (int32_t i = 0; i < m->part_count; i++) {
    const Part *p = &m->parts[i];
    const double *x = p->position, *q = p->rotation, *s = p->half_size;
    if (p->is_box)
      fprintf(file, "box %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", x[0],
              x[1], x[2], q[0], q[1], q[2], q[3], s[0], s[1], s[2], p->mass);
    else
      fprintf(file, "sphere %.17g %.17g %.17g %.17g %.17g\n", x[0], x[1], x[2], p->radius, p->mass);
  }
  for (int32_t i = 0; i < m->joint_count; i++) {
    const BallJoint *j = &m->joints[i];
    fprintf(file, "ball %d %d %.17g %.17g %.17g\n", (int)j->a, (int)j->b, j->anchor[0],
            j->anchor[1], j->anchor[2]);
  }
  return !ferror(file) && fflush(file) == 0;
}

// One line into the mechanism; 0 if it is none of the known ones.
static int read_line(Mechanism *m, const char *line) {
  double n[11];
  int a, b;
  if (sscanf(line, "gravity %lf %lf %lf", &m->gravity[0], &m->gravity[1], &m->gravity[2]) == 3)
    return 1;
  if (sscanf(line, "step %lf %d %d", &m->time_step, &a, &b) == 3) {
    m->step_count = a;
    m->frame_every = b;
    return 1;
  }
  if (sscanf(line, "iterations %d", &a) == 1) return (m->iterations = a) > 0;
  if (sscanf(line, "friction %lf", &m->friction) == 1) return 1;
  if (sscanf(line, "contacts %d", &a) == 1) return (m->contacts = a) >= 0;
  if (strncmp(line, "plane", 5) == 0) return m->plane = 1;
  if (sscanf(line, "box %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", &n[0], &n[1], &n[2], &n[3],
             &n[4], &n[5], &n[6], &n[7], &n[8], &n[9], &n[10]) == 11) {
    Part *part = mechanism_add_box(m, n, n + 7, n[10]);
    if (part) memcpy(part->rotation, n + 3, sizeof part->rotation);
    return part != NULL;
  }
  if (sscanf(line, "sphere %lf %lf %lf %lf %lf", &n[0], &n[1], &n[2], &n[3], &n[4]) == 5)
    return mechanism_add_sphere(m, n, n[3], n[4]) != NULL;
  if (sscanf(line, "ball %d %d %lf %lf %lf", &a, &b, &n[0], &n[1], &n[2]) == 5)
    return mechanism_add_ball(m, a, b, n) != NULL;
  return 0;
}

int mechanism_read(Mechanism *m, FILE *file) {
  mechanism_init(m);
  m->plane = 0;
  char line[512];
  while (fgets(line, sizeof line, file)) {
    if (read_line(m, line)) continue;
    fprintf(stderr, "mechanism: not understood: %s", line);
    mechanism_release(m);
    return 0;
  }
  return 1;
}
