// SPDX-License-Identifier: Apache-2.0
// OBJ: a line "v x y z" a corner, a line "f 1 2 3 ..." a polygon. Numbers of corners count from 1, or
// from the last one backwards where they are negative; what follows a slash (texture, normal) is left
// out. Colours, groups, materials, lines and points are no surface. Curved surfaces are refused.
#include "io/meshes/mesh_private.h"

#include <string.h>

#include "io/tools/decimal.h"

typedef struct Obj {
  CniText text;
  CniMeshData *mesh;
  int32_t *corners; // of the polygon being read
  int32_t count, capacity;
} Obj;

// The line at the cursor, with those that a backslash at the end joins to it.
static CniText take_line(CniText *text) {
  CniText line = *text;
  for (;;) {
    const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
    text->at = end ? end + 1 : text->end;
    line.end = end ? end : text->end;
    while (line.end > line.at && line.end[-1] == '\r') line.end--;
    if (!end || line.end == line.at || line.end[-1] != '\\') return line;
  }
}

static CniWord next_word(CniText *line) {
  CniWord word = cni_text_word(line);
  while (word.length == 1 && word.text[0] == '\\') word = cni_text_word(line);
  return word;
}

static CnStatus fail_line(const CniText *line, const char *begin, const char *what,
                          const char *problem) {
  return cni_text_fail(line, (CniWord){begin, (size_t)(line->end - begin)}, what, problem);
}

// x y z, and perhaps a weight or a colour.
static CnStatus read_vertex(Obj *obj, CniText *line, const char *begin) {
  double p[3];
  for (int32_t k = 0; k < 3; k++) {
    if (cni_text_peek(line).length == 0)
      return fail_line(line, begin, "corner", "must have three coordinates");
    CNI_TRY(cni_text_real(line, "corner", k, &p[k]));
  }
  return cni_mesh_add_vertex(obj->mesh, obj->text.name, cn_vec3(p[0], p[1], p[2]));
}

// "7", "7/2", "7//3", "-1/-1/-1": the corner before the slash.
static CnStatus read_corner(Obj *obj, const CniText *line, CniWord word, int32_t *corner) {
  const char *slash = memchr(word.text, '/', word.length);
  CniWord number = {word.text, slash ? (size_t)(slash - word.text) : word.length};
  int64_t n = 0, count = obj->mesh->vertex_count;
  if (!cni_word_integer(number, &n))
    return cni_text_fail(line, word, "face", "the number of a corner is not a whole number");
  if (n < -count || n > count || n == 0) {
    char problem[100];
    snprintf(problem, sizeof problem, "there is no such corner among the %lld before it",
             (long long)count);
    return cni_text_fail(line, word, "face", problem);
  }
  *corner = (int32_t)(n > 0 ? n - 1 : count + n);
  return CN_OK;
}

static CnStatus read_face(Obj *obj, CniText *line, const char *begin) {
  obj->count = 0;
  for (CniWord word = next_word(line); word.length; word = next_word(line)) {
    int32_t corner = 0;
    CNI_TRY(read_corner(obj, line, word, &corner));
    CNI_TRY(CNI_PUSH(&obj->mesh->allocator, obj->corners, obj->capacity, obj->count, corner));
  }
  if (obj->count < 3) return fail_line(line, begin, "face", "must have at least three corners");
  int done;
  CNI_TRY(cni_mesh_add_polygon(obj->mesh, obj->text.name, obj->corners, obj->count, &done));
  if (done) return CN_OK;
  return fail_line(line, begin, "face", "not convex, and more corners than can be split");
}

// Statements that say nothing of a surface of polygons.
static int is_ignored(CniWord word) {
  static const char *const ignored[] = {
      "vt",       "vn",       "vp",     "g",      "o",          "s",         "mg",
      "usemtl",   "mtllib",   "usemap", "maplib", "l",          "p",         "bevel",
      "c_interp", "d_interp", "lod",    "call",   "shadow_obj", "trace_obj", NULL};
  for (const char *const *known = ignored; *known; known++)
    if (cni_word_is(word, *known)) return 1;
  return 0;
}

static CnStatus read_lines(Obj *obj) {
  while (obj->text.at < obj->text.end) {
    CniText line = take_line(&obj->text);
    CniWord word = cni_text_word(&line);
    if (word.length == 0 || word.text[0] == '#' || is_ignored(word)) continue;
    if (cni_word_is(word, "v"))
      CNI_TRY(read_vertex(obj, &line, word.text));
    else if (cni_word_is(word, "f") || cni_word_is(word, "fo"))
      CNI_TRY(read_face(obj, &line, word.text));
    else
      return fail_line(&line, word.text, "statement",
                       "neither a corner nor a face nor one that can be left out");
  }
  return CN_OK;
}

static CnStatus read_obj(const CniMeshSource *source, CniMeshData *mesh) {
  Obj obj = {.text = {source->data, source->data + source->size, source->data, source->name},
             .mesh = mesh};
  CnStatus status = read_lines(&obj);
  CNI_RELEASE(&mesh->allocator, obj.corners, obj.capacity);
  return status;
}

const CniMeshFormat cni_mesh_obj = {"obj", "Wavefront OBJ", {"obj"}, NULL, read_obj};
