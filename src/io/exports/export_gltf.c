// SPDX-License-Identifier: Apache-2.0
// A run for viewers of 3D scenes (Blender, three.js, a web browser): one binary glTF 2.0 file with the
// shapes as triangles and the motion of the bodies as an animation.
//
// A node is a body, moved by the animation, and its children are its shapes; shapes of one kind and
// size share a mesh, of each color one. Surfaces of triangles have each corner once and no normals:
// viewers then show their triangles flat. Everything stands under a node that turns z, which is up here, to y, which is up
// there. Half-spaces are squares of FAR metres. Numbers are single precision.
#include <cairn/run_look.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/geometry.h"
#include "io/io.h"
#include "io/run/run_private.h"
#include "io/tools/output.h"

#define FAR 10.0
#define QUARTER 6
#define MOST_BYTES 2000000000.0

enum { FLOATS = 5126, INDICES = 5125 };

// What the text speaks of, in the order of the accessors: numbers in the one buffer.
typedef struct Block {
  int64_t start, count; // bytes; entries
  int32_t type;         // FLOATS or INDICES
  const char *form;     // "VEC3"
  double low[3], high[3];
  int32_t bounded; // how many of them are told
} Block;

typedef struct Mesh {
  CniPlaced shape;
  int32_t first, flat; // its first block: places, normals (not of a flat one), triangles
} Mesh;

typedef struct Paint {
  double color[4];
} Paint;

// A mesh of a color: what glTF calls a mesh.
typedef struct Use {
  int32_t mesh, paint;
} Use;

typedef struct Gltf {
  CnRun *run;
  const CnAllocator *allocator;
  float *numbers; // the buffer, also of indices
  int64_t used, room;
  Block *blocks;
  int32_t block_count, block_capacity;
  Mesh *meshes; // one of each; poses do not count
  int32_t mesh_count, mesh_capacity;
  Paint *paints; // the first is that of bodies without a color
  int32_t paint_count, paint_capacity;
  Use *uses;
  int32_t use_count, use_capacity;
  int32_t *use_of; // per shape
  int32_t times;   // the block of the times, after those of the meshes
  int32_t corners, triangles;
} Gltf;

// ---- the buffer ----

static CnStatus reserve(Gltf *g, int64_t more) {
  if (4.0 * (double)(g->used + more) > MOST_BYTES)
    return cni_error(CN_UNSUPPORTED, "export gltf: more than %g bytes; record fewer frames",
                     MOST_BYTES);
  if (g->used + more <= g->room) return CN_OK;
  int64_t room = 2 * g->room + more;
  float *fresh = cni_allocate(g->allocator, (size_t)room * sizeof *fresh);
  if (!fresh) return cni_error_memory((size_t)room * sizeof *fresh);
  if (g->used > 0) memcpy(fresh, g->numbers, (size_t)g->used * sizeof *fresh);
  cni_release(g->allocator, g->numbers, (size_t)g->room * sizeof *fresh);
  g->numbers = fresh;
  g->room = room;
  return CN_OK;
}

static void put(Gltf *g, double value) { g->numbers[g->used++] = (float)value; }

static void put_index(Gltf *g, int32_t index) {
  uint32_t word = (uint32_t)index;
  memcpy(&g->numbers[g->used++], &word, sizeof word);
}

static CnStatus add_block(Gltf *g, int64_t count, int32_t type, const char *form, int32_t bounded) {
  Block b = {.start = 4 * g->used, .count = count, .type = type, .form = form, .bounded = bounded};
  CNI_TRY(
      CNI_RESERVE(g->allocator, g->blocks, g->block_capacity, g->block_count, g->block_count + 1));
  g->blocks[g->block_count++] = b;
  return CN_OK;
}

// Of the newest block, from its numbers.
static void set_bounds(Gltf *g) {
  Block *b = &g->blocks[g->block_count - 1];
  for (int32_t k = 0; k < b->bounded; k++) b->low[k] = INFINITY, b->high[k] = -INFINITY;
  for (int64_t i = 0; i < b->count * b->bounded; i++) {
    double value = (double)g->numbers[b->start / 4 + i];
    int32_t k = (int32_t)(i % b->bounded);
    b->low[k] = fmin(b->low[k], value);
    b->high[k] = fmax(b->high[k], value);
  }
}

// ---- meshes ----

static void count_corner(void *context, CnVec3 place, CnVec3 normal) {
  (void)place;
  (void)normal;
  ((Gltf *)context)->corners++;
}
static void count_triangle(void *context, const int32_t corner[3]) {
  (void)corner;
  ((Gltf *)context)->triangles++;
}
static void no_corner(void *context, CnVec3 place, CnVec3 normal) {
  (void)context;
  (void)place;
  (void)normal;
}
static void no_triangle(void *context, const int32_t corner[3]) {
  (void)context;
  (void)corner;
}
static void put_place(void *context, CnVec3 place, CnVec3 normal) {
  (void)normal;
  put(context, place.x), put(context, place.y), put(context, place.z);
}
static void put_normal(void *context, CnVec3 place, CnVec3 normal) {
  (void)place;
  put(context, normal.x), put(context, normal.y), put(context, normal.z);
}
static void put_triangle(void *context, const int32_t corner[3]) {
  for (int k = 0; k < 3; k++) put_index(context, corner[k]);
}

static CnStatus add_mesh(Gltf *g, const Mesh *mesh) {
  const CniPlaced *shape = &mesh->shape;
  const CniMeshTaker count = {g, count_corner, count_triangle, 1},
                     place = {g, put_place, no_triangle, 1},
                     normal = {g, put_normal, no_triangle, 1},
                     triangle = {g, no_corner, put_triangle, 1};
  g->corners = g->triangles = 0;
  cni_shape_triangles(shape, QUARTER, FAR, &count);
  CNI_TRY(reserve(g, 6 * (int64_t)g->corners + 3 * (int64_t)g->triangles));
  CNI_TRY(add_block(g, g->corners, FLOATS, "VEC3", 3));
  cni_shape_triangles(shape, QUARTER, FAR, &place);
  set_bounds(g);
  if (!mesh->flat) {
    CNI_TRY(add_block(g, g->corners, FLOATS, "VEC3", 0));
    cni_shape_triangles(shape, QUARTER, FAR, &normal);
  }
  CNI_TRY(add_block(g, 3 * (int64_t)g->triangles, INDICES, "SCALAR", 0));
  cni_shape_triangles(shape, QUARTER, FAR, &triangle);
  return CN_OK;
}

static CnStatus find_mesh(Gltf *g, const CniPlaced *shape, int32_t *index) {
  for (*index = 0; *index < g->mesh_count; (*index)++) {
    const CniPlaced *m = &g->meshes[*index].shape;
    if (m->kind == shape->kind && m->hull == shape->hull && m->mesh == shape->mesh &&
        memcmp(m->size, shape->size, sizeof m->size) == 0)
      return CN_OK;
  }
  CNI_TRY(CNI_RESERVE(g->allocator, g->meshes, g->mesh_capacity, g->mesh_count, g->mesh_count + 1));
  g->meshes[g->mesh_count] = (Mesh){*shape, g->block_count, shape->mesh != NULL};
  return add_mesh(g, &g->meshes[g->mesh_count++]);
}

// What the scene does not give: light grey, and all of it.
static CnStatus find_paint(Gltf *g, int32_t body, int32_t *index) {
  Paint p = {{1, 1, 1, 1}};
  double color[4] = {-1, -1, -1, -1};
  if (body >= 0) CNI_TRY(cn_run_body_color(g->run, body, color));
  for (int32_t k = 0; k < 4; k++)
    if (color[k] >= 0) p.color[k] = color[k];
  for (*index = 0; *index < g->paint_count; (*index)++)
    if (memcmp(&g->paints[*index], &p, sizeof p) == 0) return CN_OK;
  return CNI_PUSH(g->allocator, g->paints, g->paint_capacity, g->paint_count, p);
}

static CnStatus find_use(Gltf *g, Use use, int32_t *index) {
  for (*index = 0; *index < g->use_count; (*index)++)
    if (g->uses[*index].mesh == use.mesh && g->uses[*index].paint == use.paint) return CN_OK;
  return CNI_PUSH(g->allocator, g->uses, g->use_capacity, g->use_count, use);
}

static CnStatus add_meshes(Gltf *g) {
  int32_t none;
  CNI_TRY(find_paint(g, -1, &none));
  for (int32_t i = 0; i < g->run->info.shape_count; i++) {
    CnRunShape s;
    CNI_TRY(cn_run_shape(g->run, i, &s));
    CniPlaced shape = cni_shape_placed(&s.def);
    if (cni_shape_needs_geometry(shape.kind)) cni_run_form(g->run, s.def.geometry, &shape);
    Use use;
    CNI_TRY(find_mesh(g, &shape, &use.mesh));
    CNI_TRY(find_paint(g, s.body, &use.paint));
    CNI_TRY(find_use(g, use, &g->use_of[i]));
  }
  g->times = g->block_count;
  return CN_OK;
}

// ---- motion: the times, then places and rotations of each body ----

static CnStatus add_motion(Gltf *g, CnPose *poses) {
  int64_t frames = g->run->info.frame_count, bodies = g->run->info.body_count;
  CNI_TRY(reserve(g, frames * (1 + 7 * bodies)));
  CNI_TRY(add_block(g, frames, FLOATS, "SCALAR", 1));
  float *at = g->numbers + g->used;
  g->used += frames;
  for (int64_t b = 0; b < bodies; b++) {
    CNI_TRY(add_block(g, frames, FLOATS, "VEC3", 0));
    g->used += 3 * frames;
    CNI_TRY(add_block(g, frames, FLOATS, "VEC4", 0));
    g->used += 4 * frames;
  }
  for (int64_t f = 0; f < frames; f++) {
    double time;
    CNI_TRY(cn_run_frame(g->run, f, &time, poses, NULL));
    at[f] = (float)time;
    for (int64_t b = 0; b < bodies; b++) {
      CnPose p = poses[b];
      float *place = at + frames + 7 * frames * b + 3 * f, *turn = at + frames + 7 * frames * b;
      const double numbers[7] = {p.position.x, p.position.y, p.position.z, p.rotation.x,
                                 p.rotation.y, p.rotation.z, p.rotation.w};
      for (int k = 0; k < 3; k++) place[k] = (float)numbers[k];
      for (int k = 0; k < 4; k++) turn[3 * frames + 4 * f + k] = (float)numbers[3 + k];
    }
  }
  Block *times = &g->blocks[g->times];
  times->low[0] = frames > 0 ? (double)at[0] : 0;
  times->high[0] = frames > 0 ? (double)at[frames - 1] : 0;
  return CN_OK;
}

// ---- the text ----

typedef struct Text {
  char *bytes;
  size_t used, room;
  const CnAllocator *allocator;
  CnStatus status;
} Text;

__attribute__((format(printf, 2, 3))) static void say(Text *t, const char *format, ...) {
  char piece[512];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(piece, sizeof piece, format, list);
  va_end(list);
  if (t->status != CN_OK || n < 0) return;
  if (t->used + (size_t)n > t->room) {
    size_t room = 2 * t->room + 65536;
    char *fresh = cni_allocate(t->allocator, room);
    if (!fresh) {
      t->status = cni_error_memory(room);
      return;
    }
    if (t->used > 0) memcpy(fresh, t->bytes, t->used);
    cni_release(t->allocator, t->bytes, t->room);
    t->bytes = fresh;
    t->room = room;
  }
  memcpy(t->bytes + t->used, piece, (size_t)n);
  t->used += (size_t)n;
}

static void say_name(Text *t, const char *name) {
  say(t, "\"");
  for (; *name; name++) {
    if (*name == '"' || *name == '\\')
      say(t, "\\%c", *name);
    else if ((unsigned char)*name < 32)
      say(t, "\\u%04x", *name);
    else
      say(t, "%c", *name);
  }
  say(t, "\"");
}

static void say_pose(Text *t, CnPose p) {
  say(t, "\"translation\":[%.9g,%.9g,%.9g],", p.position.x, p.position.y, p.position.z);
  say(t, "\"rotation\":[%.9g,%.9g,%.9g,%.9g]", p.rotation.x, p.rotation.y, p.rotation.z,
      p.rotation.w);
}

// Node 0 turns z up, 1 .. bodies are bodies, the rest shapes.
static CnStatus say_nodes(Gltf *g, Text *t, const CnPose *poses) {
  int32_t bodies = g->run->info.body_count, shapes = g->run->info.shape_count;
  const double r = 0.70710678118654752;
  say(t, "\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"name\":\"z up\",\"rotation\":[");
  say(t, "%.9g,0,0,%.9g]", -r, r);
  for (int32_t b = 0; b < bodies; b++) say(t, "%s%d", b ? "," : ",\"children\":[", b + 1);
  say(t, "%s}", bodies > 0 ? "]" : "");
  for (int32_t b = 0; b < bodies; b++) {
    CnRunBody body;
    int32_t children = 0;
    CNI_TRY(cn_run_body(g->run, b, &body));
    say(t, ",{\"name\":");
    say_name(t, body.name[0] ? body.name : "body");
    say(t, ",");
    say_pose(t, poses[b]);
    for (int32_t s = 0; s < shapes; s++) {
      CnRunShape shape;
      CNI_TRY(cn_run_shape(g->run, s, &shape));
      if (shape.body == b) say(t, "%s%d", children++ ? "," : ",\"children\":[", 1 + bodies + s);
    }
    say(t, "%s}", children > 0 ? "]" : "");
  }
  for (int32_t s = 0; s < shapes; s++) {
    CnRunShape shape;
    CNI_TRY(cn_run_shape(g->run, s, &shape));
    say(t, ",{\"mesh\":%d,", g->use_of[s]);
    say_pose(t, shape.def.pose);
    say(t, "}");
  }
  say(t, "]");
  return CN_OK;
}

static void say_animation(const Gltf *g, Text *t) {
  int32_t bodies = g->run->info.body_count, times = g->times;
  if (bodies == 0 || g->run->info.frame_count == 0) return;
  say(t, ",\"animations\":[{\"name\":\"run\",\"channels\":[");
  for (int32_t i = 0; i < 2 * bodies; i++)
    say(t, "%s{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"%s\"}}", i ? "," : "", i,
        1 + i / 2, i % 2 ? "rotation" : "translation");
  say(t, "],\"samplers\":[");
  for (int32_t i = 0; i < 2 * bodies; i++)
    say(t, "%s{\"input\":%d,\"output\":%d}", i ? "," : "", times, times + 1 + i);
  say(t, "]}]");
}

static void say_mesh(const Mesh *m, int32_t paint, Text *t) {
  say(t, "{\"primitives\":[{\"attributes\":{\"POSITION\":%d", m->first);
  if (!m->flat) say(t, ",\"NORMAL\":%d", m->first + 1);
  say(t, "},\"indices\":%d,\"material\":%d}]}", m->first + 2 - m->flat, paint);
}

// Colors are told as screens have them (sRGB); glTF asks for light.
static double linear(double c) { return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4); }

static void say_blocks(const Gltf *g, Text *t) {
  int32_t count = g->block_count;
  for (int32_t i = 0; i < g->paint_count; i++) {
    const double *c = g->paints[i].color;
    say(t, "%s{\"doubleSided\":true,%s\"pbrMetallicRoughness\":{", i ? "," : ",\"materials\":[",
        c[3] < 1 ? "\"alphaMode\":\"BLEND\"," : "");
    say(t, "\"baseColorFactor\":[%.9g,%.9g,%.9g,%.9g],\"metallicFactor\":0}}", linear(c[0]),
        linear(c[1]), linear(c[2]), c[3]);
  }
  say(t, "]");
  for (int32_t i = 0; i < g->use_count; i++) {
    say(t, i ? "," : ",\"meshes\":[");
    say_mesh(&g->meshes[g->uses[i].mesh], g->uses[i].paint, t);
  }
  if (g->use_count > 0) say(t, "]");
  for (int32_t i = 0; i < count; i++) {
    const Block *b = &g->blocks[i];
    say(t, "%s{\"bufferView\":%d,\"componentType\":%d,\"count\":%lld,\"type\":\"%s\"",
        i ? "," : ",\"accessors\":[", i, b->type, (long long)b->count, b->form);
    for (int32_t side = 0; side < 2 && b->bounded > 0; side++) {
      say(t, side ? ",\"max\":[" : ",\"min\":[");
      for (int32_t k = 0; k < b->bounded; k++)
        say(t, "%s%.9g", k ? "," : "", side ? b->high[k] : b->low[k]);
      say(t, "]");
    }
    say(t, "}");
  }
  if (count > 0) say(t, "]");
  for (int32_t i = 0; i < count; i++) {
    long long end = i + 1 < count ? (long long)g->blocks[i + 1].start : 4 * (long long)g->used;
    say(t, "%s{\"buffer\":0,\"byteOffset\":%lld,\"byteLength\":%lld}",
        i ? "," : ",\"bufferViews\":[", (long long)g->blocks[i].start,
        end - (long long)g->blocks[i].start);
  }
  if (count > 0) say(t, "],\"buffers\":[{\"byteLength\":%lld}]", 4 * (long long)g->used);
}

static void put_words(CniOutput *out, const uint32_t *words, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const unsigned char bytes[4] = {(unsigned char)words[i], (unsigned char)(words[i] >> 8),
                                    (unsigned char)(words[i] >> 16),
                                    (unsigned char)(words[i] >> 24)};
    cni_output_bytes(out, bytes, 4);
  }
}

// Header, text, numbers; chunks are filled up to four bytes.
static CnStatus write_file(const Gltf *g, Text *t, const char *path) {
  CniOutput out;
  while (t->used % 4 != 0 && t->status == CN_OK) say(t, " ");
  CNI_TRY(t->status);
  uint32_t text = (uint32_t)t->used, data = (uint32_t)(4 * g->used);
  CNI_TRY(cni_output_open(&out, path, g->allocator));
  put_words(&out, (uint32_t[]){0x46546c67, 2, 28 + text + data, text, 0x4e4f534a}, 5);
  cni_output_bytes(&out, t->bytes, t->used);
  put_words(&out, (uint32_t[]){data, 0x004e4942}, 2);
  cni_output_bytes(&out, g->numbers, (size_t)(4 * g->used));
  return cni_output_close(&out);
}

static CnStatus make(Gltf *g, Text *t, const char *path, CnPose *poses) {
  CNI_TRY(add_meshes(g));
  CNI_TRY(add_motion(g, poses));
  if (g->run->info.frame_count > 0) CNI_TRY(cn_run_frame(g->run, 0, NULL, poses, NULL));
  say(t, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"cairn\"},");
  CNI_TRY(say_nodes(g, t, poses));
  say_animation(g, t);
  say_blocks(g, t);
  say(t, "}");
  return write_file(g, t, path);
}

static CnStatus write_gltf(CnRun *run, const char *run_path, const char *output) {
  char path[2048];
  if (!run || !run_path) return cni_invalid("export gltf: a null pointer");
  CNI_TRY(cni_export_path(run_path, output, ".glb", path, sizeof path));
  CNI_TRY(cn_run_check_output(run, path));
  size_t shapes = (size_t)(run->info.shape_count + 1) * sizeof(int32_t);
  size_t bodies = (size_t)(run->info.body_count + 1) * sizeof(CnPose);
  Gltf g = {.run = run, .allocator = &run->allocator};
  Text t = {.allocator = &run->allocator};
  g.use_of = cni_allocate(g.allocator, shapes);
  CnPose *poses = cni_allocate(g.allocator, bodies);
  CnStatus status = g.use_of && poses ? CN_OK : cni_error_memory(shapes + bodies);
  for (int32_t i = 0; poses && i < run->info.body_count; i++) poses[i] = CN_POSE_ONE;
  if (status == CN_OK) status = make(&g, &t, path, poses);
  cni_release(g.allocator, poses, bodies);
  cni_release(g.allocator, g.use_of, shapes);
  cni_release(g.allocator, g.numbers, (size_t)g.room * sizeof *g.numbers);
  cni_release(g.allocator, t.bytes, t.room);
  CNI_RELEASE(g.allocator, g.blocks, g.block_capacity);
  CNI_RELEASE(g.allocator, g.meshes, g.mesh_capacity);
  CNI_RELEASE(g.allocator, g.paints, g.paint_capacity);
  CNI_RELEASE(g.allocator, g.uses, g.use_capacity);
  return status;
}

const CniExportKind cni_export_gltf = {
    .name = "gltf",
    .summary = "one file with all shapes as triangles and their motion, for 3D viewers",
    .write = write_gltf,
    .ending = ".glb"};
