// SPDX-License-Identifier: Apache-2.0
#include "bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int bodies_create(Bodies *bodies, int32_t sphere_count, int32_t plane_count) {
  memset(bodies, 0, sizeof *bodies);
  bodies->spheres = calloc((size_t)sphere_count + 1, sizeof *bodies->spheres);
  bodies->planes = calloc((size_t)plane_count + 1, sizeof *bodies->planes);
  if (!bodies->spheres || !bodies->planes) {
    bodies_destroy(bodies);
    return 0;
  }
  bodies->sphere_count = sphere_count;
  bodies->plane_count = plane_count;
  return 1;
}

void bodies_destroy(Bodies *bodies) {
  free(bodies->spheres);
  free(bodies->planes);
  memset(bodies, 0, sizeof *bodies);
}

int bodies_write(const Bodies *b, FILE *file) {
  fprintf(file, "gravity %.17g %.17g %.17g\n", b->gravity[0], b->gravity[1], b->gravity[2]);
  fprintf(file, "step %.17g\nsteps %d\niterations %d\nfriction %.17g\n", b->time_step,
          b->step_count, b->iterations, b->friction);
  for (int32_t i = 0; i < b->plane_count; i++) {
    const Plane *p = &b->planes[i];
    fprintf(file, "plane %.17g %.17g %.17g %.17g\n", p->normal[0], p->normal[1], p->normal[2],
            p->offset);
  }
  for (int32_t i = 0; i < b->sphere_count; i++) {
    const Sphere *s = &b->spheres[i];
    fprintf(file, "sphere %.17g %.17g %.17g %.17g %.17g\n", s->position[0], s->position[1],
            s->position[2], s->radius, s->density);
  }
  return fflush(file) == 0 && !ferror(file);
}

// ---- reading ----------------------------------------------------------------------------------

// Make room for one element more; capacities are powers of two.
static int grow(void **data, int32_t count, size_t element_size) {
  if (count > 0 && (count & (count - 1)) != 0) return 1;
  void *larger = realloc(*data, (count ? 2 * (size_t)count : 1) * element_size);
  if (larger) *data = larger;
  return larger != NULL;
}

static int read_sphere(Bodies *b, const char *line) {
  Sphere s;
  if (sscanf(line, "sphere %lf %lf %lf %lf %lf", &s.position[0], &s.position[1], &s.position[2],
             &s.radius, &s.density) != 5)
    return 0;
  if (!grow((void **)&b->spheres, b->sphere_count, sizeof s)) return 0;
  b->spheres[b->sphere_count++] = s;
  return 1;
}

static int read_plane(Bodies *b, const char *line) {
  Plane p;
  if (sscanf(line, "plane %lf %lf %lf %lf", &p.normal[0], &p.normal[1], &p.normal[2], &p.offset) !=
      4)
    return 0;
  if (!grow((void **)&b->planes, b->plane_count, sizeof p)) return 0;
  b->planes[b->plane_count++] = p;
  return 1;
}

static int read_line(Bodies *b, const char *line) {
  double *g = b->gravity;
  return read_sphere(b, line) || read_plane(b, line) ||
         sscanf(line, "gravity %lf %lf %lf", &g[0], &g[1], &g[2]) == 3 ||
         sscanf(line, "steps %d", &b->step_count) == 1 ||
         sscanf(line, "step %lf", &b->time_step) == 1 ||
         sscanf(line, "iterations %d", &b->iterations) == 1 ||
         sscanf(line, "friction %lf", &b->friction) == 1;
}

int bodies_read(Bodies *bodies, FILE *file) {
  memset(bodies, 0, sizeof *bodies);
  char line[256];
  for (int32_t number = 1; fgets(line, sizeof line, file); number++) {
    if (read_line(bodies, line)) continue;
    fprintf(stderr, "line %d of the list of bodies is not understood: %s", number, line);
    bodies_destroy(bodies);
    return 0;
  }
  if (bodies->time_step > 0 && bodies->step_count > 0) return 1;
  fprintf(stderr, "the list of bodies lacks `step` or `steps`\n");
  bodies_destroy(bodies);
  return 0;
}

// ---- overlap ----------------------------------------------------------------------------------

static void overlap_depth(double depth, Overlap *overlap) {
  if (!(depth > 0)) return;
  if (depth > overlap->max) overlap->max = depth;
  overlap->sum += depth;
  overlap->count++;
}

// Cells as long as the largest sphere is wide, numbered row by row; spheres by cell, those of cell
// i from start[i] on. Far-away spheres make the cells larger, never the numbers too many.
typedef struct Cells {
  double lo[3], size;
  int32_t count[3];
  int32_t *start, *order;
} Cells;

static int32_t cell_along(const Cells *c, double x, int32_t axis) {
  double i = floor((x - c->lo[axis]) / c->size);
  return i < 0 ? 0 : i >= c->count[axis] ? c->count[axis] - 1 : (int32_t)i;
}

static size_t cell_of(const Cells *c, const Sphere *s) {
  size_t x = (size_t)cell_along(c, s->position[0], 0), y = (size_t)cell_along(c, s->position[1], 1);
  size_t z = (size_t)cell_along(c, s->position[2], 2);
  return (z * (size_t)c->count[1] + y) * (size_t)c->count[0] + x;
}

static void choose_cells(const Bodies *bodies, Cells *c) {
  double hi[3], limit = 4.0 * bodies->sphere_count + 64, total;
  for (int32_t k = 0; k < 3; k++) {
    c->lo[k] = hi[k] = bodies->spheres[0].position[k];
    for (int32_t i = 1; i < bodies->sphere_count; i++) {
      c->lo[k] = fmin(c->lo[k], bodies->spheres[i].position[k]);
      hi[k] = fmax(hi[k], bodies->spheres[i].position[k]);
    }
  }
  c->size = 0;
  for (int32_t i = 0; i < bodies->sphere_count; i++)
    c->size = fmax(c->size, 2 * bodies->spheres[i].radius);
  for (;; c->size *= 1.5) {
    total = 1;
    for (int32_t k = 0; k < 3; k++) total *= floor((hi[k] - c->lo[k]) / c->size) + 1;
    if (!(total > limit)) break;
  }
  for (int32_t k = 0; k < 3; k++) c->count[k] = (int32_t)((hi[k] - c->lo[k]) / c->size) + 1;
}

static int sort_cells(const Bodies *bodies, Cells *c) {
  choose_cells(bodies, c);
  size_t cells = (size_t)c->count[0] * (size_t)c->count[1] * (size_t)c->count[2];
  c->start = calloc(cells + 2, sizeof *c->start);
  c->order = malloc(((size_t)bodies->sphere_count + 1) * sizeof *c->order);
  if (!c->start || !c->order) return 0;
  for (int32_t i = 0; i < bodies->sphere_count; i++)
    c->start[cell_of(c, &bodies->spheres[i]) + 2]++;
  for (size_t i = 2; i < cells + 2; i++) c->start[i] += c->start[i - 1];
  for (int32_t i = 0; i < bodies->sphere_count; i++)
    c->order[c->start[cell_of(c, &bodies->spheres[i]) + 1]++] = i;
  return 1;
}

static void overlap_pair(const Sphere *a, const Sphere *b, Overlap *overlap) {
  double dx = b->position[0] - a->position[0], dy = b->position[1] - a->position[1],
         dz = b->position[2] - a->position[2], reach = a->radius + b->radius;
  double square = dx * dx + dy * dy + dz * dz;
  if (square < reach * reach) overlap_depth(reach - sqrt(square), overlap);
}

// One sphere with those after it in the list, in the cells around it.
static void overlap_around(const Bodies *bodies, const Cells *c, int32_t i, Overlap *overlap) {
  const Sphere *a = &bodies->spheres[i];
  int32_t at[3];
  for (int32_t k = 0; k < 3; k++) at[k] = cell_along(c, a->position[k], k);
  for (int32_t z = at[2] - 1; z <= at[2] + 1; z++) {
    for (int32_t y = at[1] - 1; y <= at[1] + 1; y++) {
      if (z < 0 || z >= c->count[2] || y < 0 || y >= c->count[1]) continue;
      size_t row = ((size_t)z * (size_t)c->count[1] + (size_t)y) * (size_t)c->count[0];
      size_t first = row + (size_t)(at[0] > 0 ? at[0] - 1 : 0);
      size_t last = row + (size_t)(at[0] + 1 < c->count[0] ? at[0] + 1 : at[0]);
      for (int32_t k = c->start[first]; k < c->start[last + 1]; k++)
        if (c->order[k] > i) overlap_pair(a, &bodies->spheres[c->order[k]], overlap);
    }
  }
}

// A grid of cells, sorted by counting: linear, outside the timed part.
int overlap_add(const Bodies *bodies, Overlap *overlap) {
  Cells cells;
  memset(&cells, 0, sizeof cells);
  int ok = bodies->sphere_count == 0 || sort_cells(bodies, &cells);
  for (int32_t i = 0; ok && i < bodies->sphere_count; i++) {
    const Sphere *a = &bodies->spheres[i];
    for (int32_t k = 0; k < bodies->plane_count; k++) {
      const Plane *p = &bodies->planes[k];
      double height = p->normal[0] * a->position[0] + p->normal[1] * a->position[1] +
                      p->normal[2] * a->position[2] - p->offset;
      overlap_depth(a->radius - height, overlap);
    }
    overlap_around(bodies, &cells, i, overlap);
  }
  free(cells.start);
  free(cells.order);
  return ok;
}

double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
