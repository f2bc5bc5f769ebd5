// SPDX-License-Identifier: Apache-2.0
// STL: triangles, each with its own three corners. Binary: 80 bytes of any text, the number of
// triangles, and 50 bytes each (normal, three corners, two bytes without meaning), least significant
// byte first. As text: solid ... facet normal ... outer loop, three times vertex x y z, endloop,
// endfacet ... endsolid; several solids may follow each other. Normals are left out: corners tell.
#include "io/meshes/mesh_private.h"

#include <math.h>
#include <string.h>

#define HEAD 84
#define TRIANGLE 50

static uint64_t announced(const char *data) { return cni_mesh_bytes(data + 80, 4, 0); }

// A word whatever its case.
static int says(CniWord word, const char *expected) {
  if (word.length != strlen(expected)) return 0;
  for (size_t i = 0; i < word.length; i++) {
    char c = word.text[i];
    if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != expected[i]) return 0;
  }
  return 1;
}

static int is_binary(const char *data, size_t size) {
  return size >= HEAD && size == HEAD + TRIANGLE * announced(data);
}

static int is_text(const char *data, size_t size) {
  CniText text = {data, data + size, data, ""};
  if (!says(cni_text_word(&text), "solid")) return 0;
  cni_text_skip_line(&text);
  CniWord word = cni_text_word(&text);
  return says(word, "facet") || says(word, "endsolid");
}

static int recognise(const char *data, size_t size) {
  return is_binary(data, size) || is_text(data, size);
}

// ---- binary ----

static CnStatus read_binary(const CniMeshSource *source, CniMeshData *mesh) {
  uint64_t count = announced(source->data), needed = HEAD + TRIANGLE * count;
  if (source->size != needed)
    return cni_bad_data("%s: byte 80: %llu triangles announced, which are %llu bytes, but the file "
                        "has %llu",
                        source->name, (unsigned long long)count, (unsigned long long)needed,
                        (unsigned long long)source->size);
  CNI_TRY(cni_mesh_room(mesh, source->name, 3 * (int64_t)count, (int64_t)count));
  for (uint64_t i = 0; i < count; i++) {
    const char *at = source->data + HEAD + TRIANGLE * i + 12;
    for (int32_t k = 0; k < 9; k++, at += 4) {
      double value = cni_mesh_float(at, 4, 0);
      if (!isfinite(value))
        return cni_bad_data("%s: byte %lld: triangle %llu: a coordinate is not finite (got %g)",
                            source->name, (long long)(at - source->data), (unsigned long long)i + 1,
                            value);
      (&mesh->vertices[mesh->vertex_count + k / 3].x)[k % 3] = value;
    }
    int32_t v = mesh->vertex_count;
    mesh->vertex_count += 3;
    CNI_TRY(cni_mesh_add_triangle(mesh, source->name, v, v + 1, v + 2));
  }
  return CN_OK;
}

// ---- text ----

static CnStatus expect(CniText *text, const char *expected) {
  char problem[40];
  CniWord word = cni_text_word(text);
  if (says(word, expected)) return CN_OK;
  snprintf(problem, sizeof problem, "expected %s", expected);
  return cni_text_fail(text, word, "facet", problem);
}

// Behind the word "facet".
static CnStatus read_facet(CniText *text, CniMeshData *mesh) {
  CNI_TRY(expect(text, "normal"));
  for (int32_t k = 0; k < 3; k++) {
    CniWord word = cni_text_word(text);
    if (word.length == 0 || says(word, "outer"))
      return cni_text_fail(text, word, "facet", "its normal must have three coordinates");
  }
  CNI_TRY(expect(text, "outer"));
  CNI_TRY(expect(text, "loop"));
  for (int32_t k = 0; k < 3; k++) {
    double p[3];
    CNI_TRY(expect(text, "vertex"));
    for (int32_t j = 0; j < 3; j++) CNI_TRY(cni_text_real(text, "vertex", j, &p[j]));
    CNI_TRY(cni_mesh_add_vertex(mesh, text->name, cn_vec3(p[0], p[1], p[2])));
  }
  CNI_TRY(expect(text, "endloop"));
  CNI_TRY(expect(text, "endfacet"));
  int32_t v = mesh->vertex_count;
  return cni_mesh_add_triangle(mesh, text->name, v - 3, v - 2, v - 1);
}

static CnStatus read_text(const CniMeshSource *source, CniMeshData *mesh) {
  CniText text = {source->data, source->data + source->size, source->data, source->name};
  CniWord word = cni_text_word(&text);
  while (word.length > 0) {
    if (!says(word, "solid")) return cni_text_fail(&text, word, "STL", "expected solid");
    cni_text_skip_line(&text);
    for (word = cni_text_word(&text); says(word, "facet"); word = cni_text_word(&text))
      CNI_TRY(read_facet(&text, mesh));
    if (!says(word, "endsolid"))
      return cni_text_fail(&text, word, "STL", "expected facet or endsolid");
    cni_text_skip_line(&text);
    word = cni_text_word(&text);
  }
  return CN_OK;
}

static CnStatus read_stl(const CniMeshSource *source, CniMeshData *mesh) {
  if (is_binary(source->data, source->size)) return read_binary(source, mesh);
  CniText text = {source->data, source->data + source->size, source->data, ""};
  // what begins with solid and has zeros in it is binary, and cut off
  size_t looked = source->size < 1024 ? source->size : 1024;
  if (says(cni_text_word(&text), "solid") && !memchr(source->data, 0, looked))
    return read_text(source, mesh);
  if (source->size < HEAD)
    return cni_bad_data("%s: neither the word solid nor a head of %d bytes (got %llu)",
                        source->name, HEAD, (unsigned long long)source->size);
  return read_binary(source, mesh);
}

const CniMeshFormat cni_mesh_stl = {"stl", "STL, text or binary", {"stl"}, recognise, read_stl};
