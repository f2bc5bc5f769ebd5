// SPDX-License-Identifier: Apache-2.0
// Queries from several threads at once: four threads ask the same thousand questions of one world, each in
// an order of its own, and get the bits that one alone got; the world has not changed.
#include <cairn/query.h>
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "core/rng.h"
#include "core/vec.h"
#include "placed.h"
#include "worlds.h"

#define QUESTIONS 1000
#define THREADS 4

// One question of each kind and its answers.
typedef struct Question {
  CnVec3 from, way;
  CnShapeDef shape;
  CnHit ray, all[4], cast;
  CnShapeId found[4];
  CnClosest closest;
  int32_t ray_count, found_count, status;
} Question;

typedef struct Asker {
  const CnWorld *world;
  Question *questions;
  int32_t stride; // coprime to QUESTIONS
} Asker;

static void ask(const CnWorld *world, Question *q) {
  q->status = cn_world_ray(world, q->from, q->way, NULL, &q->ray) != CN_OK;
  q->status |= cn_world_ray_all(world, q->from, q->way, NULL, q->all, 4, &q->ray_count) != CN_OK;
  q->status |= cn_world_cast(world, &q->shape, q->way, NULL, &q->cast) != CN_OK;
  q->status |= cn_world_overlap(world, &q->shape, NULL, q->found, 4, &q->found_count) != CN_OK;
  q->status |= cn_world_closest(world, q->from, NULL, &q->closest) != CN_OK;
}

static void *run(void *argument) {
  Asker *asker = argument;
  for (int32_t n = 0; n < QUESTIONS; n++)
    ask(asker->world, &asker->questions[n * asker->stride % QUESTIONS]);
  return NULL;
}

static CnWorld *many_shapes(CniRng *rng) {
  static const CnShapeKind kinds[] = {CN_SHAPE_SPHERE,   CN_SHAPE_BOX,  CN_SHAPE_CAPSULE,
                                      CN_SHAPE_CYLINDER, CN_SHAPE_CONE, CN_SHAPE_ELLIPSOID};
  CnWorldDef def = world_def_exact(1e-3);
  CnWorld *world = world_make(&def);
  world_floor(world, world_material(world, .5, 0));
  for (int i = 0; i < 60; i++) {
    CnBodyDef body = cn_body_def_default();
    CnShapeDef shape = cn_shape_def_default(kinds[i % 6]);
    CnBodyId id;
    CnShapeId made;
    body.pose = (CnPose){random_in_cube(rng, 1), random_rotation(rng)};
    shape.radius = .1;
    shape.half_length = .15;
    shape.half_size = cn_vec3(.1, .2, .15);
    CHECK_OK(cn_body_create(world, &body, &id));
    CHECK_OK(cn_shape_create(world, id, &shape, &made));
  }
  return world;
}

static void several_threads(void **state) {
  (void)state;
  static Question alone[QUESTIONS], asked[THREADS][QUESTIONS];
  static const int32_t strides[THREADS] = {1, 3, 7, 11};
  CniRng rng = {31};
  CnWorld *world = many_shapes(&rng);
  pthread_t threads[THREADS];
  Asker askers[THREADS];
  int32_t hits = 0, overlaps = 0;
  for (int i = 0; i < QUESTIONS; i++) {
    alone[i].from = random_in_cube(&rng, 1.5);
    alone[i].way = random_in_cube(&rng, 3);
    alone[i].shape = cn_shape_def_default(i % 2 ? CN_SHAPE_BOX : CN_SHAPE_CAPSULE);
    alone[i].shape.half_size = cn_vec3(.05, .1, .02);
    alone[i].shape.radius = alone[i].shape.half_length = .05;
    alone[i].shape.pose = (CnPose){alone[i].from, random_rotation(&rng)};
  }
  for (int t = 0; t < THREADS; t++) memcpy(asked[t], alone, sizeof alone);
  uint64_t hash = cn_world_hash(world);
  for (int i = 0; i < QUESTIONS; i++) {
    ask(world, &alone[i]);
    CHECK(alone[i].status == 0);
    hits += alone[i].cast.shape.slot != 0;
    overlaps += alone[i].found_count > 0;
  }
  CHECK(hits > 100 && overlaps > 100);
  for (int t = 0; t < THREADS; t++) {
    askers[t] = (Asker){world, asked[t], strides[t]};
    CHECK(pthread_create(&threads[t], NULL, run, &askers[t]) == 0);
  }
  for (int t = 0; t < THREADS; t++) CHECK(pthread_join(threads[t], NULL) == 0);
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < QUESTIONS; i++)
      CHECK(memcmp(&asked[t][i], &alone[i], sizeof alone[i]) == 0);
  CHECK(cn_world_hash(world) == hash);
  cn_world_destroy(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(several_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
