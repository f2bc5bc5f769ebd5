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

static int by_x(const void *a, const void *b) {
  double xa = ((const Sphere *)a)->position[0], xb = ((const Sphere *)b)->position[0];
  return (xa > xb) - (xa < xb);
}

// Sort along x and compare each sphere with those that begin before it ends: some hundred
// comparisons a sphere in a cubic pile of ten thousand, outside the timed part.
int overlap_add(const Bodies *bodies, Overlap *overlap) {
  int32_t n = bodies->sphere_count;
  Sphere *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
  if (!sorted) return 0;
  if (n > 0) memcpy(sorted, bodies->spheres, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, by_x);
  double largest = 0;
  for (int32_t i = 0; i < n; i++) largest = fmax(largest, sorted[i].radius);
  for (int32_t i = 0; i < n; i++) {
    const Sphere *a = &sorted[i];
    for (int32_t k = 0; k < bodies->plane_count; k++) {
      const Plane *p = &bodies->planes[k];
      double height = p->normal[0] * a->position[0] + p->normal[1] * a->position[1] +
                      p->normal[2] * a->position[2] - p->offset;
      overlap_depth(a->radius - height, overlap);
    }
    double end = a->position[0] + a->radius + largest;
    for (int32_t j = i + 1; j < n && sorted[j].position[0] < end; j++) {
      const Sphere *b = &sorted[j];
      double dx = b->position[0] - a->position[0], dy = b->position[1] - a->position[1],
             dz = b->position[2] - a->position[2], reach = a->radius + b->radius;
      double square = dx * dx + dy * dy + dz * dz;
      if (square < reach * reach) overlap_depth(reach - sqrt(square), overlap);
    }
  }
  free(sorted);
  return 1;
}

double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
