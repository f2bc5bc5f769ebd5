// SPDX-License-Identifier: Apache-2.0
// A scene while its world runs: what sources and sinks have done, and sensors that look back: flow
// through planes, acceleration, extremes and means. cn_scene_step keeps all of it up to date;
// cn_scene_save puts it into a block of bytes, beside the snapshot of the world.
//
// A body went through a plane in a step if the signed distance of its centre of mass was below zero
// before and is not now (+1), or the other way round (-1). Distances are those of the world at the
// end of the step before, so nothing is counted twice. Bodies that wait in a source count nowhere.
#include <string.h>

#include "core/floats.h"
#include "core/stream.h"
#include "io/io.h"
#include "io/live/scene_live.h"

#define MAGIC 0x31656e6563736e63u // "cnscene1"

// ---- memory ----

CnStatus cni_scene_live_prepare(CnScene *scene) {
  const CnAllocator *a = &scene->allocator;
  size_t n = (size_t)scene->body_count, pool = n - (size_t)scene->pool_first;
  int32_t looks = scene->source_count;
  for (int32_t i = 0; i < scene->sensor_count; i++) {
    scene->plane_count += cni_sensor_is_plane(&scene->sensors[i]);
    looks += cni_sensor_counts(&scene->sensors[i]);
  }
  if (looks + scene->plane_count == 0 || n == 0) return CN_OK;
  CNI_TRY(cni_new(a, n * sizeof *scene->body_ids, &scene->body_ids));
  scene->live_count = scene->body_count;
  CNI_TRY(cni_new(a, pool, &scene->away));
  CNI_TRY(cni_new(a, n * (size_t)scene->plane_count * sizeof *scene->sides, &scene->sides));
  // as an empty world gives them in order of creation
  for (int32_t i = 0; i < scene->body_count; i++)
    scene->body_ids[i] = (CnBodyId){(uint32_t)i + 1, 1};
  for (int32_t i = 0; i < scene->source_count; i++)
    scene->sources[i].base = scene->sources[i].start;
  return CN_OK;
}

void cni_scene_live_release(CnScene *scene) {
  const CnAllocator *a = &scene->allocator;
  size_t n = (size_t)scene->live_count;
  cni_release(a, scene->body_ids, n * sizeof *scene->body_ids);
  cni_release(a, scene->away, n - (size_t)(n ? scene->pool_first : 0));
  cni_release(a, scene->sides, n * (size_t)scene->plane_count * sizeof *scene->sides);
}

// ---- counting ----

// The centre of mass of a body that counts: one that moves by forces, of the sensor's group.
static CnStatus find_body(const CnScene *scene, const CnWorld *world, const CniSceneSensor *s,
                          int32_t i, int *counts, CnVec3 *centre, double *mass) {
  const CniSceneBody *body = &scene->bodies[i];
  CnBodyInfo info;
  CnPose pose;
  *counts = 0;
  *centre = CN_VEC3_ZERO;
  *mass = 0;
  if (body->def.kind != CN_BODY_DYNAMIC) return CN_OK;
  if (s->group &&
      !(body->shape_count > 0 && scene->shapes[body->first_shape].def.category & s->group))
    return CN_OK;
  if (i >= scene->pool_first && !scene->away[i - scene->pool_first]) return CN_OK;
  CNI_TRY(cn_body_info(world, scene->body_ids[i], &info));
  if (info.kind != CN_BODY_DYNAMIC) return CN_OK;
  CNI_TRY(cn_body_pose(world, scene->body_ids[i], &pose));
  *counts = 1;
  *centre = cn_add(pose.position, cn_rotate(pose.rotation, info.com.position));
  *mass = info.mass;
  return CN_OK;
}

CnStatus cni_scene_count(const CnScene *scene, const CnWorld *world, const CniSceneSensor *s,
                         double *count, double *mass) {
  *count = *mass = 0;
  for (int32_t i = 0; i < scene->body_count; i++) {
    int counts;
    CnVec3 centre;
    double m;
    CNI_TRY(find_body(scene, world, s, i, &counts, &centre, &m));
    if (!counts || !cni_region_holds(&s->region, centre)) continue;
    *count += 1;
    *mass += m;
  }
  return CN_OK;
}

// Distances from one plane now, not a number where a body does not count; what crossed it since is
// counted unless `first`.
static CnStatus watch_plane(CnScene *scene, const CnWorld *world, CniSceneSensor *s, double *sides,
                            int first) {
  s->step_mass = 0;
  for (int32_t i = 0; i < scene->body_count; i++) {
    int counts;
    CnVec3 centre;
    double m, before = first ? NAN : sides[i];
    CNI_TRY(find_body(scene, world, s, i, &counts, &centre, &m));
    sides[i] = counts ? cn_dot(s->normal, cn_sub(centre, s->point)) : NAN;
    int through = (before < 0 && sides[i] >= 0) - (before >= 0 && sides[i] < 0);
    s->count += through;
    s->mass += through * m;
    s->step_mass += through * m;
  }
  return CN_OK;
}

static CnStatus watch_planes(CnScene *scene, const CnWorld *world, int first) {
  double *sides = scene->sides;
  for (int32_t i = 0; i < scene->sensor_count; i++) {
    if (!cni_sensor_is_plane(&scene->sensors[i])) continue;
    CNI_TRY(watch_plane(scene, world, &scene->sensors[i], sides, first));
    sides += scene->body_count;
  }
  return CN_OK;
}

// ---- velocities and statistics ----

static CnStatus watch_velocity(CniSceneSensor *s, const CnWorld *world, int first) {
  CnPose pose;
  CnTwist twist;
  CNI_TRY(cn_body_pose(world, s->body_a_id, &pose));
  CNI_TRY(cn_body_twist(world, s->body_a_id, &twist));
  CnVec3 now = cn_add(twist.velocity, cn_cross(twist.spin, cn_rotate(pose.rotation, s->point)));
  s->before = first ? now : s->now;
  s->now = now;
  return CN_OK;
}

static void take_sample(CniSceneSensor *s, double value) {
  int first = s->samples++ == 0;
  if (s->statistic == CNI_STATISTIC_MEAN) s->sum += value;
  if (s->statistic == CNI_STATISTIC_RMS) s->sum += value * value;
  if (first || (s->statistic == CNI_STATISTIC_MIN ? value < s->extreme : value > s->extreme))
    s->extreme = value;
}

double cni_sensor_statistic(const CniSceneSensor *s) {
  if (s->samples == 0) return NAN;
  if (s->statistic == CNI_STATISTIC_MEAN) return s->sum / (double)s->samples;
  if (s->statistic == CNI_STATISTIC_RMS) return sqrt(s->sum / (double)s->samples);
  return s->extreme;
}

static CnStatus watch(CnScene *scene, CnWorld *world) {
  CnWorldInfo info;
  cn_world_info(world, &info);
  CNI_TRY(watch_planes(scene, world, 0));
  for (int32_t i = 0; i < scene->sensor_count; i++)
    if (cni_sensor_accelerates(&scene->sensors[i]))
      CNI_TRY(watch_velocity(&scene->sensors[i], world, 0));
  for (int32_t i = 0; i < scene->sensor_count; i++) {
    CniSceneSensor *s = &scene->sensors[i];
    double value;
    if (!s->statistic || info.time < s->from) continue;
    CNI_TRY(cni_scene_measure_raw(scene, world, i, &value));
    take_sample(s, value);
  }
  return CN_OK;
}

// What is known from the world alone: sides of planes and velocities.
static CnStatus look_first(CnScene *scene, const CnWorld *world) {
  CNI_TRY(watch_planes(scene, world, 1));
  for (int32_t i = 0; i < scene->sensor_count; i++)
    if (cni_sensor_accelerates(&scene->sensors[i]))
      CNI_TRY(watch_velocity(&scene->sensors[i], world, 1));
  return CN_OK;
}

// ---- the doors ----

static void reset(CnScene *scene) {
  for (int32_t i = 0; i < scene->source_count; i++) {
    CniSceneSource *s = &scene->sources[i];
    s->base = s->start;
    s->since = s->made = s->tries = 0;
  }
  for (int32_t i = 0; i < scene->sink_count; i++)
    scene->sinks[i].count = 0, scene->sinks[i].mass = 0;
  for (int32_t i = 0; i < scene->sensor_count; i++) {
    CniSceneSensor *s = &scene->sensors[i];
    s->samples = 0;
    s->sum = s->extreme = s->count = s->mass = s->step_mass = 0;
  }
}

static CnStatus follow(CnScene *scene, const CnWorld *world) {
  CnWorldInfo info;
  cn_world_info(world, &info);
  scene->followed_world = world;
  scene->followed_step = info.step;
  return CN_OK;
}

CnStatus cni_scene_live_begin(CnScene *scene, CnWorld *world) {
  reset(scene);
  CNI_TRY(cni_scene_put_all_aside(scene, world));
  CNI_TRY(look_first(scene, world));
  return follow(scene, world);
}

CnStatus cn_scene_step(CnScene *scene, CnWorld *world, CnStepReport *report) {
  CNI_FLOATS;
  if (!scene || !world)
    return cni_invalid("cn_scene_step: the %s is null", scene ? "world" : "scene");
  CNI_TRY(cni_scene_feed(scene, world));
  CNI_TRY(cn_world_step(world, report));
  CNI_TRY(watch(scene, world));
  return follow(scene, world);
}

// ---- saving ----

static void move_long(CniStream *s, int64_t *number) {
  uint64_t bits = (uint64_t)*number;
  cni_stream_u64(s, &bits);
  *number = (int64_t)bits;
}

static void move_vector(CniStream *s, CnVec3 *v) {
  cni_stream_double(s, &v->x);
  cni_stream_double(s, &v->y);
  cni_stream_double(s, &v->z);
}

// All that is kept: counted, written and read by one function.
static void move_state(CniStream *s, CnScene *scene) {
  uint64_t sizes[] = {MAGIC, (uint64_t)scene->source_count, (uint64_t)scene->sink_count,
                      (uint64_t)scene->sensor_count, (uint64_t)scene->body_count};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    uint64_t own = sizes[i];
    cni_stream_u64(s, &sizes[i]);
    if (sizes[i] != own) s->failed = 1;
    if (s->failed) return;
  }
  for (int32_t i = 0; i < scene->source_count; i++) {
    CniSceneSource *source = &scene->sources[i];
    cni_stream_double(s, &source->base);
    move_long(s, &source->since);
    move_long(s, &source->made);
    move_long(s, &source->tries);
  }
  for (int32_t i = 0; i < scene->sink_count; i++) {
    move_long(s, &scene->sinks[i].count);
    cni_stream_double(s, &scene->sinks[i].mass);
  }
  for (int32_t i = 0; i < scene->sensor_count; i++) {
    CniSceneSensor *sensor = &scene->sensors[i];
    double *numbers[] = {&sensor->sum, &sensor->extreme, &sensor->count, &sensor->mass,
                         &sensor->step_mass};
    move_long(s, &sensor->samples);
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
      cni_stream_double(s, numbers[k]);
    move_vector(s, &sensor->before);
    move_vector(s, &sensor->now);
  }
  if (scene->source_count > 0)
    cni_stream_bytes(s, scene->away, (size_t)(scene->body_count - scene->pool_first));
}

static int keeps(const CnScene *scene) {
  int looks_back = scene->source_count > 0 || scene->plane_count > 0;
  for (int32_t i = 0; i < scene->sensor_count; i++)
    looks_back |= scene->sensors[i].statistic || cni_sensor_accelerates(&scene->sensors[i]);
  return looks_back;
}

int cni_scene_followed(const CnScene *scene, const CnWorld *world) {
  CnWorldInfo info;
  cn_world_info(world, &info);
  return !scene || !keeps(scene) ||
         (scene->followed_world == world && scene->followed_step == info.step);
}

CnStatus cn_scene_save(const CnScene *scene, void *data, size_t capacity, size_t *size) {
  if (!scene || !size)
    return cni_invalid("cn_scene_save: the %s is null", scene ? "size" : "scene");
  CniStream s = {0};
  *size = 0;
  if (!keeps(scene)) return CN_OK;
  CnScene *only_read = (CnScene *)(uintptr_t)scene;
  move_state(&s, only_read);
  *size = s.at;
  if (!data) return CN_OK;
  if (capacity < *size)
    return cni_invalid("cn_scene_save: %zu bytes are needed (got %zu)", *size, capacity);
  s = (CniStream){.out = data, .size = *size};
  move_state(&s, only_read);
  return CN_OK;
}

// Numbers that a scene can have come to.
static int is_sound(const CnScene *scene) {
  int good = 1;
  for (int32_t i = 0; i < scene->source_count; i++) {
    const CniSceneSource *s = &scene->sources[i];
    good &= isfinite(s->base) && s->since >= 0 && s->made >= s->since && s->tries >= 0;
  }
  for (int32_t i = scene->pool_first; scene->source_count > 0 && i < scene->body_count; i++)
    good &= scene->away[i - scene->pool_first] <= 1;
  return good;
}

CnStatus cn_scene_restore(CnScene *scene, const CnWorld *world, const void *data, size_t size) {
  CNI_FLOATS;
  if (!scene || !world || (!data && size > 0))
    return cni_invalid("cn_scene_restore: the %s is null", !scene   ? "scene"
                                                           : !world ? "world"
                                                                    : "data");
  size_t needed;
  CNI_TRY(cn_scene_save(scene, NULL, 0, &needed));
  if (needed == 0 && size == 0) return CN_OK;
  CniStream s = {.in = data, .size = size};
  uint64_t first = 0;
  if (size == needed) cni_stream_u64(&s, &first);
  if (size != needed || first != MAGIC)
    return cni_bad_data("cn_scene_restore: this is no state of the scene \"%s\" (%zu bytes, %zu "
                        "expected)",
                        scene->name, size, needed);
  s.at = 0;
  move_state(&s, scene);
  if (s.failed || !is_sound(scene)) {
    reset(scene);
    return cni_bad_data("cn_scene_restore: this is no state of the scene \"%s\"", scene->name);
  }
  double *sides = scene->sides;
  for (int32_t i = 0; i < scene->sensor_count; i++) {
    CniSceneSensor *sensor = &scene->sensors[i];
    if (!cni_sensor_is_plane(sensor)) continue;
    double step_mass = sensor->step_mass;
    CNI_TRY(watch_plane(scene, world, sensor, sides, 1));
    sensor->step_mass = step_mass;
    sides += scene->body_count;
  }
  return follow(scene, world);
}
