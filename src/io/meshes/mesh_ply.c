// SPDX-License-Identifier: Apache-2.0
// PLY: a head that lists the elements of the file and the properties of each, then the elements one
// after another, as text or binary. x, y, z of "vertex" and the list "vertex_indices" of "face" are
// read; everything else is stepped over.
#include "io/meshes/mesh_private.h"

#include <math.h>
#include <string.h>

#include "io/tools/decimal.h"

#define MOST_ELEMENTS 16
#define MOST_PROPERTIES 64

typedef struct Type {
  const char *name, *other;
  int32_t size;
  char kind; // 'i' signed, 'u' unsigned, 'f' real
} Type;
static const Type types[] = {{"char", "int8", 1, 'i'},     {"uchar", "uint8", 1, 'u'},
                             {"short", "int16", 2, 'i'},   {"ushort", "uint16", 2, 'u'},
                             {"int", "int32", 4, 'i'},     {"uint", "uint32", 4, 'u'},
                             {"float", "float32", 4, 'f'}, {"double", "float64", 8, 'f'}};

typedef enum Role { IGNORED = 0, X, Y, Z, CORNERS } Role;

typedef struct Property {
  const Type *type, *count; // count: of a list; null: a single value
  Role role;
} Property;

typedef struct Element {
  int64_t count;
  int is_vertex, is_face;
  int32_t property_count;
  Property properties[MOST_PROPERTIES];
} Element;

typedef enum Form { TEXT = 0, LITTLE, BIG } Form;

typedef struct Ply {
  CniText text; // the cursor: of words, or of bytes
  Form form;
  Element elements[MOST_ELEMENTS];
  int32_t element_count;
  CniMeshData *mesh;
  int32_t *corners;
  int32_t corner_count, corner_capacity;
  int64_t vertex_total;
} Ply;

// ---- the head ----

static CnStatus find_type(const CniText *line, CniWord word, const Type **type) {
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (cni_word_is(word, types[i].name) || cni_word_is(word, types[i].other)) {
      *type = &types[i];
      return CN_OK;
    }
  return cni_text_fail(line, word, "property", "no such type of numbers");
}

static CnStatus read_form(Ply *ply, CniText *line) {
  static const char *const forms[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  CniWord word = cni_text_word(line), version = cni_text_word(line);
  int32_t k = 0;
  while (k < 3 && !cni_word_is(word, forms[k])) k++;
  if (k == 3)
    return cni_text_fail(line, word, "format",
                         "must be ascii, binary_little_endian or binary_big_endian");
  if (!cni_word_is(version, "1.0"))
    return cni_text_fail(line, version, "format", "the version must be 1.0");
  ply->form = (Form)k;
  return CN_OK;
}

static CnStatus read_element(Ply *ply, CniText *line) {
  CniWord name = cni_text_word(line), count = cni_text_word(line);
  if (ply->element_count == MOST_ELEMENTS)
    return cni_text_fail(line, name, "element", "more than 16 of them");
  Element *e = &ply->elements[ply->element_count++];
  *e = (Element){.is_vertex = cni_word_is(name, "vertex"), .is_face = cni_word_is(name, "face")};
  if (!cni_word_integer(count, &e->count) || e->count < 0)
    return cni_text_fail(line, count, "element", "its number must be a whole one");
  if (cni_word_is(name, "tristrips") && e->count > 0)
    return cni_text_fail(line, name, "element", "strips of triangles are not read");
  if (e->is_vertex && ply->vertex_total > 0)
    return cni_text_fail(line, name, "element", "there can be one list of corners only");
  if (e->is_vertex) ply->vertex_total = e->count;
  return CN_OK;
}

static CnStatus read_property(Ply *ply, CniText *line) {
  Property p = {0};
  CniWord word = cni_text_word(line);
  if (ply->element_count == 0)
    return cni_text_fail(line, word, "property", "there is no element before it");
  Element *e = &ply->elements[ply->element_count - 1];
  if (e->property_count == MOST_PROPERTIES)
    return cni_text_fail(line, word, "property", "an element has at most 64 of them");
  if (cni_word_is(word, "list")) {
    CNI_TRY(find_type(line, cni_text_word(line), &p.count));
    word = cni_text_word(line);
  }
  CNI_TRY(find_type(line, word, &p.type));
  word = cni_text_word(line);
  if (word.length == 0) return cni_text_fail(line, word, "property", "it has no name");
  if (e->is_vertex && !p.count && word.length == 1 && word.text[0] >= 'x' && word.text[0] <= 'z')
    p.role = (Role)(X + (word.text[0] - 'x'));
  if (e->is_face && p.count &&
      (cni_word_is(word, "vertex_indices") || cni_word_is(word, "vertex_index")))
    p.role = CORNERS;
  if ((p.role == CORNERS && p.type->kind == 'f') || (p.count && p.count->kind == 'f'))
    return cni_text_fail(line, word, "property", "counts and numbers of corners are whole");
  e->properties[e->property_count++] = p;
  return CN_OK;
}

static CnStatus read_head(Ply *ply) {
  int has_form = 0;
  cni_text_skip_line(&ply->text); // ply
  for (;;) {
    CniText line = ply->text;
    cni_text_skip_line(&ply->text);
    line.end = ply->text.at;
    CniWord word = cni_text_word(&line);
    if (cni_word_is(word, "end_header")) break;
    if (cni_word_is(word, "comment") || cni_word_is(word, "obj_info")) continue;
    if (cni_word_is(word, "format")) {
      CNI_TRY(read_form(ply, &line));
      has_form = 1;
    } else if (cni_word_is(word, "element")) {
      CNI_TRY(read_element(ply, &line));
    } else if (cni_word_is(word, "property")) {
      CNI_TRY(read_property(ply, &line));
    } else {
      return cni_text_fail(&line, word, "head",
                           "expected format, element, property, comment or end_header");
    }
  }
  if (!has_form) return cni_bad_data("%s: the head has no line \"format\"", ply->text.name);
  return CN_OK;
}

// Does the head have what is needed?
static CnStatus check_head(const Ply *ply) {
  int seen = 0, faces = 0;
  for (int32_t i = 0; i < ply->element_count; i++) {
    const Element *e = &ply->elements[i];
    for (int32_t k = 0; k < e->property_count; k++) {
      if (e->properties[k].role == CORNERS)
        faces++;
      else if (e->properties[k].role != IGNORED)
        seen |= 1 << e->properties[k].role;
    }
    if (e->is_face && !seen)
      return cni_bad_data("%s: its faces come before its corners", ply->text.name);
  }
  if (seen != (1 << X | 1 << Y | 1 << Z))
    return cni_bad_data("%s: the head has no element \"vertex\" with x, y and z", ply->text.name);
  if (faces != 1)
    return cni_bad_data("%s: the head has no element \"face\" with one list \"vertex_indices\"",
                        ply->text.name);
  return CN_OK;
}

// ---- values ----

static CnStatus fail_byte(const Ply *ply, const char *at, const char *problem, double got) {
  return cni_bad_data("%s: byte %lld: %s (got %g)", ply->text.name,
                      (long long)(at - ply->text.begin), problem, got);
}

static CnStatus take_value(Ply *ply, const Type *type, int is_used, double *value) {
  *value = 0;
  if (ply->form == TEXT) {
    // what is not used may be any word, also nan
    if (is_used || cni_text_peek(&ply->text).length == 0)
      return cni_text_real(&ply->text, type->name, -1, value);
    cni_text_word(&ply->text);
    return CN_OK;
  }
  const char *at = ply->text.at;
  if (ply->text.end - at < type->size)
    return fail_byte(ply, at, "the file ends within an element", (double)(ply->text.end - at));
  ply->text.at += type->size;
  if (type->kind == 'f') {
    *value = cni_mesh_float(at, type->size, ply->form == BIG);
    return CN_OK;
  }
  uint64_t bits = cni_mesh_bytes(at, type->size, ply->form == BIG);
  uint64_t sign = (uint64_t)1 << (8 * type->size - 1);
  *value = type->kind == 'i' && bits & sign ? -(double)(2 * sign - bits) : (double)bits;
  return CN_OK;
}

static CnStatus fail_here(const Ply *ply, const char *at, const char *problem, double got) {
  if (ply->form != TEXT) return fail_byte(ply, at, problem, got);
  CniText text = ply->text;
  text.at = at;
  return cni_text_fail(&text, cni_text_word(&text), "face", problem);
}

static CnStatus take_list(Ply *ply, const Property *p) {
  double count, value;
  const char *at = ply->text.at;
  CNI_TRY(take_value(ply, p->count, 1, &count));
  if (!(count >= 0 && count <= (double)(ply->text.end - ply->text.at)))
    return fail_here(ply, at, "a list longer than the rest of the file", count);
  for (int32_t i = 0; i < (int32_t)count; i++) {
    at = ply->text.at;
    CNI_TRY(take_value(ply, p->type, p->role != IGNORED, &value));
    if (p->role != CORNERS) continue;
    if (!(value >= 0 && value < ply->mesh->vertex_count && value == floor(value)))
      return fail_here(ply, at, "there is no such corner", value);
    CNI_TRY(CNI_PUSH(&ply->mesh->allocator, ply->corners, ply->corner_capacity, ply->corner_count,
                     (int32_t)value));
  }
  return CN_OK;
}

static CnStatus take_element(Ply *ply, const Element *e) {
  double place[3] = {0, 0, 0}, value;
  const char *begin = ply->text.at;
  ply->corner_count = 0;
  for (int32_t k = 0; k < e->property_count; k++) {
    const Property *p = &e->properties[k];
    if (p->count) {
      CNI_TRY(take_list(ply, p));
      continue;
    }
    const char *at = ply->text.at;
    CNI_TRY(take_value(ply, p->type, p->role != IGNORED, &value));
    if (p->role == IGNORED) continue;
    if (!isfinite(value)) return fail_byte(ply, at, "a coordinate is not finite", value);
    place[p->role - X] = value;
  }
  if (e->is_vertex)
    return cni_mesh_add_vertex(ply->mesh, ply->text.name, cn_vec3(place[0], place[1], place[2]));
  if (!e->is_face) return CN_OK;
  if (ply->corner_count < 3)
    return fail_here(ply, begin, "a face must have at least three corners", ply->corner_count);
  int done;
  CNI_TRY(cni_mesh_add_polygon(ply->mesh, ply->text.name, ply->corners, ply->corner_count, &done));
  if (done) return CN_OK;
  return fail_here(ply, begin, "a face that is not convex has more corners than can be split",
                   ply->corner_count);
}

// Every element takes a byte at least, or it has no properties and nothing to read.
static CnStatus take_elements(Ply *ply) {
  for (int32_t i = 0; i < ply->element_count; i++) {
    const Element *e = &ply->elements[i];
    int64_t left = (int64_t)(ply->text.end - ply->text.at);
    if (e->count > left)
      return cni_bad_data("%s: %lld elements announced, but only %lld bytes follow", ply->text.name,
                          (long long)e->count, (long long)left);
    for (int64_t k = 0; e->property_count > 0 && k < e->count; k++) CNI_TRY(take_element(ply, e));
  }
  return CN_OK;
}

static CnStatus read_all(Ply *ply) {
  CNI_TRY(read_head(ply));
  CNI_TRY(check_head(ply));
  return take_elements(ply);
}

static CnStatus read_ply(const CniMeshSource *source, CniMeshData *mesh) {
  Ply ply = {.text = {source->data, source->data + source->size, source->data, source->name},
             .mesh = mesh};
  if (source->size < 4 || memcmp(source->data, "ply", 3) != 0)
    return cni_bad_data("%s: a PLY file begins with the word ply", source->name);
  CnStatus status = read_all(&ply);
  CNI_RELEASE(&mesh->allocator, ply.corners, ply.corner_capacity);
  return status;
}

static int recognise(const char *data, size_t size) {
  return size > 4 && memcmp(data, "ply", 3) == 0 && (data[3] == '\n' || data[3] == '\r');
}

const CniMeshFormat cni_mesh_ply = {"ply", "PLY, text or binary", {"ply"}, recognise, read_ply};
