// SPDX-License-Identifier: Apache-2.0
// What bench `collision` hands to another engine, read from stdin. Nothing of Cairn is in it. The text,
// one item a line, numbers with 17 digits:
//   geometry V F             V vertices X Y Z, then F faces: normal NX NY NZ, height, N and N vertices
//   hull G                   a body: of geometry number G,
//   capsule R L              or a capsule along z, half length of its cylinder,
//   cylinder R L             or a cylinder along z, half length,
//   box HX HY HZ             or a box, half sizes,
//   sphere R                 or a ball
//   mass M XX YY ZZ XY XZ YZ   of the body before: mass and inertia about its origin
//   velocity X Y Z           of the first body at the start
//   terrain N CELL           a ground of N x N heights, N of a row along x, about the origin: then the heights
//   surface V T              or one of triangles: V corners X Y Z, then T times three of their numbers
//   step H N I MU            N steps of H s from the first frame, I iterations, friction
//   frame                    X Y Z W QX QY QZ of every body; once for every frame
// Printed are the seconds (of the processor) of the fastest frame but the first, and a line A B for every pair of bodies that
// touch in the last one; where steps were asked for, instead, the seconds of a step and of its collision,
// means of the last 20, the deepest overlap then, and speed and height of the first body at the end.
#ifndef PEERS_COLLIDE_H
#define PEERS_COLLIDE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GEOMETRIES 64

typedef struct Geometry {
  int vertex_count, face_count;
  double *vertices; // three each
  double *planes;   // four a face
  unsigned *faces;  // count, vertices, count, ...
} Geometry;

typedef struct Solid {
  char kind; // of its word
  int geometry;
  double size[3], mass[7];
} Solid;

#define LAST 20 // steps that are timed

typedef struct Scene {
  Geometry geometries[GEOMETRIES];
  int geometry_count;
  Solid *solids;
  int count, frame_count;
  double *frames; // seven numbers a body
  double step[4], velocity[3];
  int corner_count, triangle_count; // of the ground
  double *corners;                  // three each
  int *triangles;                   // likewise
} Scene;

static int read_numbers(double *to, int count) {
  for (int i = 0; i < count; i++)
    if (scanf("%lf", &to[i]) != 1) return 0;
  return 1;
}

static int read_geometry(Scene *s) {
  Geometry *g = &s->geometries[s->geometry_count];
  if (s->geometry_count++ == GEOMETRIES || scanf("%d %d", &g->vertex_count, &g->face_count) != 2)
    return 0;
  g->vertices = (double *)calloc((size_t)g->vertex_count * 3, sizeof(double));
  g->planes = (double *)calloc((size_t)g->face_count * 4, sizeof(double));
  g->faces = (unsigned *)calloc((size_t)(g->vertex_count + g->face_count) * 8, sizeof(unsigned));
  if (!g->vertices || !g->planes || !g->faces || !read_numbers(g->vertices, 3 * g->vertex_count))
    return 0;
  unsigned *at = g->faces;
  for (int f = 0; f < g->face_count; f++) {
    if (!read_numbers(g->planes + 4 * f, 4) || scanf("%u", at) != 1) return 0;
    for (unsigned k = *at++; k > 0; k--)
      if (scanf("%u", at++) != 1) return 0;
  }
  return 1;
}

static int read_solid(Scene *s, char kind) {
  if (s->count % 1024 == 0)
    s->solids = (Solid *)realloc(s->solids, (size_t)(s->count + 1024) * sizeof(Solid));
  if (!s->solids) return 0;
  Solid *solid = &s->solids[s->count++];
  memset(solid, 0, sizeof *solid);
  solid->kind = kind;
  if (kind == 'h') return scanf("%d", &solid->geometry) == 1;
  return read_numbers(solid->size, kind == 'b' ? 3 : kind == 'o' ? 1 : 2);
}

// Two triangles a cell, seen from above.
static int read_terrain(Scene *s) {
  int n;
  double cell;
  if (scanf("%d %lf", &n, &cell) != 2 || n < 2 || n > 10000) return 0;
  s->corner_count = n * n;
  s->triangle_count = 0;
  s->corners = (double *)calloc((size_t)s->corner_count * 3, sizeof(double));
  s->triangles = (int *)calloc((size_t)s->corner_count * 6, sizeof(int));
  if (!s->corners || !s->triangles) return 0;
  for (int i = 0; i < n * n; i++) {
    double *c = s->corners + 3 * i;
    c[0] = cell * (i % n - .5 * (n - 1));
    c[1] = cell * (i / n - .5 * (n - 1));
    if (!read_numbers(c + 2, 1)) return 0;
    if (i % n == n - 1 || i / n == n - 1) continue;
    const int cells[6] = {i, i + 1, i + n + 1, i, i + n + 1, i + n};
    memcpy(s->triangles + 3 * s->triangle_count, cells, sizeof cells);
    s->triangle_count += 2;
  }
  return 1;
}

static int read_surface(Scene *s) {
  if (scanf("%d %d", &s->corner_count, &s->triangle_count) != 2 || s->corner_count < 3 ||
      s->triangle_count < 1 || s->corner_count > 10000000 || s->triangle_count > 10000000)
    return 0;
  s->corners = (double *)calloc((size_t)s->corner_count * 3, sizeof(double));
  s->triangles = (int *)calloc((size_t)s->triangle_count * 3, sizeof(int));
  if (!s->corners || !s->triangles || !read_numbers(s->corners, 3 * s->corner_count)) return 0;
  for (int i = 0; i < 3 * s->triangle_count; i++)
    if (scanf("%d", &s->triangles[i]) != 1) return 0;
  return 1;
}

static int read_scene(Scene *s) {
  char word[16];
  int ok = 1;
  memset(s, 0, sizeof *s);
  while (ok && scanf("%15s", word) == 1) {
    if (word[0] == 'g') {
      ok = read_geometry(s);
    } else if (word[0] == 'f') {
      size_t row = (size_t)s->count * 7;
      s->frames = (double *)realloc(s->frames, row * (size_t)(s->frame_count + 1) * sizeof(double));
      ok = s->frames && read_numbers(s->frames + row * (size_t)s->frame_count++, (int)row);
    } else if (word[0] == 'm') {
      ok = s->count > 0 && read_numbers(s->solids[s->count - 1].mass, 7);
    } else if (word[0] == 't') {
      ok = read_terrain(s);
    } else if (word[0] == 'v') {
      ok = read_numbers(s->velocity, 3);
    } else if (strcmp(word, "sphere") == 0) {
      ok = read_solid(s, 'o');
    } else if (strcmp(word, "surface") == 0) {
      ok = read_surface(s);
    } else if (word[0] == 's') {
      ok = read_numbers(s->step, 4);
    } else {
      ok = read_solid(s, strcmp(word, "cylinder") == 0 ? 'y' : word[0]);
    }
  }
  return ok && s->count > 0 && s->frame_count > 1;
}

#endif
