// SPDX-License-Identifier: Apache-2.0
// Sources and sinks of bodies. All bodies of a source are there from the start and wait: fixed, meeting
// nothing, at their "position" (by default in the middle of the source's region). When one is due it
// becomes what it is, at a place of the region where it overlaps nothing. A sink takes bodies of
// sources that come into its region, and puts them back to where they waited.
//
// So a world keeps its bodies, a run file has them all, and a snapshot of the world with the state of the
// scene (cn_scene_save) is all that a run needs to go on with the same bits. Places are drawn by a
// hash of the scene's seed, the source, the number of the body and that of the try: they depend on
// nothing else.
#include <cairn/change.h>
#include <cairn/query.h>
#include <string.h>

#include "core/math.h"
#include "io/io.h"
#include "io/live/scene_live.h"

#define TRIES_A_STEP 4

// ---- reading ----

CnStatus cni_scene_get_region(CniReader *reader, json_t *object, const char *key,
                              CniRegion *region) {
  static const char *const keys[] = {"min", "max", NULL};
  CNI_TRY(cni_scene_require(reader, object, key));
  CNI_MEMBER (reader, object, key, value) {
    CNI_TRY(cni_scene_keys(reader, value, keys));
    CNI_TRY(cni_scene_require(reader, value, "min"));
    CNI_TRY(cni_scene_require(reader, value, "max"));
    CNI_TRY(cni_scene_get_vec3(reader, value, "min", CNI_ANY, &region->low));
    CNI_TRY(cni_scene_get_vec3(reader, value, "max", CNI_ANY, &region->high));
    CnVec3 size = cn_sub(region->high, region->low);
    if (!(size.x >= 0 && size.y >= 0 && size.z >= 0))
      return cni_scene_fail(reader, value, "\"max\" must not be below \"min\"");
  }
  return CN_OK;
}

int cni_region_holds(const CniRegion *r, CnVec3 p) {
  return p.x >= r->low.x && p.x <= r->high.x && p.y >= r->low.y && p.y <= r->high.y &&
         p.z >= r->low.z && p.z <= r->high.z;
}

static CnStatus new_name(CniReader *reader, json_t *item, CniNameTable *table, int32_t number,
                         const char *what, const char **name) {
  CNI_TRY(cni_scene_new_name(reader, item, table, number, what, name));
  if (!*name) *name = "";
  return CN_OK;
}

// They wait in the middle of the region unless they say where.
static CnStatus take_bodies(CniReader *reader, json_t *item, const CniSceneSource *source) {
  CnScene *scene = reader->scene;
  CnVec3 middle = cn_scale(0.5, cn_add(source->region.low, source->region.high));
  if (scene->body_count == source->first)
    return cni_scene_fail(reader, item, "\"bodies\" must have a body at least");
  for (int32_t i = source->first; i < scene->body_count; i++) {
    CniSceneBody *body = &scene->bodies[i];
    if (body->def.kind != CN_BODY_DYNAMIC)
      return cni_scene_fail(reader, item, "bodies of a source must be dynamic");
    if (cn_norm2(body->def.pose.position) == 0) body->def.pose.position = middle;
  }
  return CN_OK;
}

static CnStatus make_source(CniReader *reader, json_t *item) {
  static const char *const keys[] = {"name", "rate",    "start", "end",    "region",
                                     "turn", "recycle", "limit", "bodies", NULL};
  static const char *const turns[] = {"none", "random", NULL};
  CnScene *scene = reader->scene;
  CniSceneSource source = {.first = scene->body_count, .end = INFINITY};
  int64_t most = INT32_MAX;
  CNI_TRY(cni_scene_keys(reader, item, keys));
  CNI_TRY(
      new_name(reader, item, &reader->source_names, scene->source_count, "source", &source.name));
  CNI_TRY(cni_scene_require(reader, item, "rate"));
  CNI_TRY(cni_scene_get_number(reader, item, "rate", CNI_POSITIVE, &source.rate));
  CNI_TRY(cni_scene_get_number(reader, item, "start", CNI_NOT_NEGATIVE, &source.start));
  CNI_TRY(cni_scene_get_number(reader, item, "end", CNI_NOT_NEGATIVE, &source.end));
  CNI_TRY(cni_scene_get_integer(reader, item, "limit", 0, INT32_MAX, &most));
  CNI_TRY(cni_scene_get_choice(reader, item, "turn", turns, &source.turn));
  CNI_TRY(cni_scene_get_flag(reader, item, "recycle", &source.recycle));
  CNI_TRY(cni_scene_get_region(reader, item, "region", &source.region));
  CNI_TRY(cni_scene_require(reader, item, "bodies"));
  CNI_TRY(cni_scene_get_list(reader, item, "bodies", cni_scene_make_body, &reader->item_count));
  CNI_TRY(take_bodies(reader, item, &source));
  source.count = scene->body_count - source.first;
  source.most = (int32_t)most;
  return CNI_PUSH(&scene->allocator, scene->sources, scene->source_capacity, scene->source_count,
                  source);
}

static CnStatus make_sink(CniReader *reader, json_t *item) {
  static const char *const keys[] = {"name", "region", NULL};
  CnScene *scene = reader->scene;
  CniSceneSink sink = {0};
  CNI_TRY(cni_scene_keys(reader, item, keys));
  CNI_TRY(new_name(reader, item, &reader->sink_names, scene->sink_count, "sink", &sink.name));
  CNI_TRY(cni_scene_get_region(reader, item, "region", &sink.region));
  return CNI_PUSH(&scene->allocator, scene->sinks, scene->sink_capacity, scene->sink_count, sink);
}

CnStatus cni_scene_read_sources(CniReader *reader, json_t *root) {
  CnScene *scene = reader->scene;
  scene->pool_first = scene->body_count;
  CNI_TRY(cni_scene_get_list(reader, root, "sources", make_source, &reader->item_count));
  return cni_scene_get_list(reader, root, "sinks", make_sink, &reader->item_count);
}

int cni_scene_source_body(const CnScene *scene, int32_t body, CnBodyInfo *info) {
  if (!scene || body < scene->pool_first || body >= scene->body_count) return 0;
  const CnBodyInfo *own = &scene->bodies[body].info;
  info->kind = own->kind;
  info->mass = own->mass;
  info->com = own->com;
  info->inertia = own->inertia;
  return 1;
}

// ---- letting go ----

// Bits that depend on all of the input.
static uint64_t stir(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static CniRng draws_of(const CnScene *scene, int32_t source, int64_t body, int64_t try) {
  uint64_t state = stir(scene->seed + 0x9e3779b97f4a7c15u);
  state = stir(state ^ ((uint64_t)source + 1) * 0xd1342543de82ef95u);
  state = stir(state ^ ((uint64_t)body + 1) * 0x2545f4914f6cdd1du);
  return (CniRng){stir(state ^ ((uint64_t)try + 1) * 0x9e3779b97f4a7c15u)};
}

// Every rotation alike: Shoemake, Graphics Gems III, 1992, p. 124.
static CnQuat any_rotation(CniRng *rng) {
  double u = cni_rng_unit(rng), a = 2 * CNI_PI * cni_rng_unit(rng);
  double b = 2 * CNI_PI * cni_rng_unit(rng), s = sqrt(1 - u), c = sqrt(u);
  return (CnQuat){c * cni_cos(b), s * cni_sin(a), s * cni_cos(a), c * cni_sin(b)};
}

static double between(CniRng *rng, double low, double high) {
  return low < high ? cni_rng_range(rng, low, high) : low;
}

static CnPose draw_place(const CnScene *scene, int32_t number, const CniSceneBody *body) {
  const CniSceneSource *source = &scene->sources[number];
  const CniRegion *r = &source->region;
  CniRng rng = draws_of(scene, number, source->made, source->tries);
  CnPose pose = {.rotation = body->def.pose.rotation};
  pose.position.x = between(&rng, r->low.x, r->high.x);
  pose.position.y = between(&rng, r->low.y, r->high.y);
  pose.position.z = between(&rng, r->low.z, r->high.z);
  if (source->turn) pose.rotation = any_rotation(&rng);
  return pose;
}

// Does the body overlap nothing there that it would meet?
static CnStatus is_free(const CnScene *scene, const CnWorld *world, int32_t index, CnPose pose,
                        int *free) {
  const CniSceneBody *body = &scene->bodies[index];
  *free = 1;
  for (int32_t k = 0; k < body->shape_count && *free; k++) {
    const CnShapeDef *own = &scene->shapes[body->first_shape + k].def;
    CnQueryFilter filter = cn_query_filter_default();
    CnShapeDef def;
    int32_t count = 0;
    filter.category = own->category;
    filter.mask = own->mask;
    filter.except = scene->body_ids[index];
    CNI_TRY(cn_shape_def(world, cn_body_shape(world, scene->body_ids[index], k), &def));
    if (def.trigger) continue;
    def.pose = cn_pose_mul(pose, def.pose);
    CNI_TRY(cn_world_overlap(world, &def, &filter, NULL, 0, &count));
    *free = count == 0;
  }
  return CN_OK;
}

static CnStatus set_filters(const CnScene *scene, CnWorld *world, int32_t index, int meets) {
  const CniSceneBody *body = &scene->bodies[index];
  for (int32_t k = 0; k < body->shape_count; k++) {
    const CnShapeDef *own = &scene->shapes[body->first_shape + k].def;
    CNI_TRY(cn_shape_set_filter(world, cn_body_shape(world, scene->body_ids[index], k),
                                meets ? own->category : 0, meets ? own->mask : 0));
  }
  return CN_OK;
}

static CnStatus let_go(CnScene *scene, CnWorld *world, int32_t index, CnPose pose) {
  CnBodyId id = scene->body_ids[index];
  CNI_TRY(cn_body_set_pose(world, id, &pose));
  CNI_TRY(cn_body_set_kind(world, id, CN_BODY_DYNAMIC));
  CNI_TRY(set_filters(scene, world, index, 1));
  scene->away[index - scene->pool_first] = 1;
  return cn_body_set_twist(world, id, &scene->bodies[index].def.twist);
}

static CnStatus put_aside(CnScene *scene, CnWorld *world, int32_t index) {
  CnBodyId id = scene->body_ids[index];
  CNI_TRY(cn_body_set_kind(world, id, CN_BODY_FIXED));
  CNI_TRY(set_filters(scene, world, index, 0));
  scene->away[index - scene->pool_first] = 0;
  // where it comes out again it has passed no plane
  for (int32_t p = 0; p < scene->plane_count; p++)
    scene->sides[(size_t)p * (size_t)scene->body_count + (size_t)index] = NAN;
  return cn_body_set_pose(world, id, &scene->bodies[index].def.pose);
}

// The next body that waits; -1: none.
static int32_t waiting(const CnScene *scene, const CniSceneSource *s) {
  if (s->made >= s->most || (!s->recycle && s->made >= s->count)) return -1;
  for (int32_t k = 0; k < s->count; k++) {
    int32_t index = s->first + (int32_t)((s->made + k) % s->count);
    if (!scene->away[index - scene->pool_first]) return index;
  }
  return -1;
}

// A place that is taken is tried again, elsewhere, in the next step; what was due meanwhile is not
// made up for.
static CnStatus feed(CnScene *scene, CnWorld *world, int32_t number, double time, double step) {
  CniSceneSource *s = &scene->sources[number];
  double soon = 1e-6 * step, next;
  int32_t index;
  while (next = s->base + (double)s->since / s->rate,
         next <= time + soon && time <= s->end + soon && (index = waiting(scene, s)) >= 0) {
    int found = 0;
    CnPose pose = CN_POSE_ONE;
    for (int32_t k = 0; k < TRIES_A_STEP && !found; k++, s->tries++) {
      pose = draw_place(scene, number, &scene->bodies[index]);
      CNI_TRY(is_free(scene, world, index, pose, &found));
    }
    if (!found) return CN_OK;
    CNI_TRY(let_go(scene, world, index, pose));
    if (next < time - step - soon) {
      s->base = time;
      s->since = 0;
    }
    s->since++;
    s->made++;
    s->tries = 0;
  }
  return CN_OK;
}

// Asked for by the rate, from the start to the last step or the end.
static int64_t count_due(const CniSceneSource *s, double time, double step) {
  double last = fmin(time - step, s->end) + 1e-6 * step;
  double due = last < s->start ? 0 : floor((last - s->start) * s->rate) + 1;
  double most = s->recycle ? s->most : fmin(s->most, s->count);
  return (int64_t)fmin(due, most);
}

CnStatus cn_scene_source(const CnScene *scene, const CnWorld *world, int32_t index,
                         CnSourceInfo *source) {
  CnWorldInfo info;
  CnWorldDef def;
  if (!scene || !world || !source)
    return cni_invalid("cn_scene_source: the %s is null", !scene   ? "scene"
                                                          : !world ? "world"
                                                                   : "result pointer");
  if (index < 0 || index >= scene->source_count)
    return cni_invalid("cn_scene_source: there is no source %d", (int)index);
  const CniSceneSource *s = &scene->sources[index];
  cn_world_info(world, &info);
  CNI_TRY(cn_world_settings(world, &def));
  *source = (CnSourceInfo){.name = s->name ? s->name : "", .made = s->made};
  source->due = info.step > 0 ? count_due(s, info.time, def.time_step) : 0;
  for (int32_t k = 0; k < s->count && waiting(scene, s) >= 0; k++)
    source->waiting += !scene->away[s->first + k - scene->pool_first];
  return CN_OK;
}

static CnStatus drain(CnScene *scene, CnWorld *world, CniSceneSink *sink) {
  for (int32_t i = scene->pool_first; i < scene->body_count; i++) {
    CnPose pose;
    CnBodyInfo info;
    if (!scene->away[i - scene->pool_first]) continue;
    CNI_TRY(cn_body_pose(world, scene->body_ids[i], &pose));
    if (!cni_region_holds(&sink->region, pose.position)) continue;
    CNI_TRY(cn_body_info(world, scene->body_ids[i], &info));
    CNI_TRY(put_aside(scene, world, i));
    sink->count++;
    sink->mass += info.mass;
  }
  return CN_OK;
}

CnStatus cni_scene_feed(CnScene *scene, CnWorld *world) {
  CnWorldInfo info;
  CnWorldDef def;
  if (scene->source_count == 0) return CN_OK;
  cn_world_info(world, &info);
  CNI_TRY(cn_world_settings(world, &def));
  for (int32_t i = 0; i < scene->sink_count; i++) CNI_TRY(drain(scene, world, &scene->sinks[i]));
  for (int32_t i = 0; i < scene->source_count; i++)
    CNI_TRY(feed(scene, world, i, info.time, def.time_step));
  return CN_OK;
}

CnStatus cni_scene_put_all_aside(CnScene *scene, CnWorld *world) {
  for (int32_t i = scene->pool_first; i < scene->body_count; i++)
    CNI_TRY(put_aside(scene, world, i));
  return CN_OK;
}
