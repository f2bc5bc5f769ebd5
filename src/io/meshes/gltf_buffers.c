// SPDX-License-Identifier: Apache-2.0
// The numbers of a glTF file: an accessor is a part of a view, which is a part of a buffer.
#include "io/meshes/gltf.h"

#include <string.h>

#include "core/hash.h"
#include "io/io.h"

// ---- base64 ----

static int32_t digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// The number of bytes; -1: a character that is none of the 64.
static int64_t decode(const char *text, size_t length, char *out) {
  uint32_t bits = 0;
  int32_t held = 0;
  int64_t count = 0;
  while (length > 0 && text[length - 1] == '=') length--;
  for (size_t i = 0; i < length; i++) {
    int32_t digit = digit_of(text[i]);
    if (digit < 0) return -1;
    bits = bits << 6 | (uint32_t)digit;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out[count++] = (char)(bits >> held & 0xff);
    }
  }
  return count;
}

static CnStatus read_written(CniGltf *g, CniGltfBuffer *b, const char *uri, size_t length) {
  const char *comma = memchr(uri, ',', length);
  size_t head = comma ? (size_t)(comma - uri) : 0;
  if (head < 7 || memcmp(comma - 7, ";base64", 7) != 0)
    return cni_bad_data("%s: a buffer that is written in the text must be base64", g->text.name);
  size_t digits = length - head - 1;
  b->own_size = digits + 1;
  b->own = cni_allocate(&g->mesh->allocator, b->own_size);
  if (!b->own) return cni_error_memory(b->own_size);
  int64_t size = decode(comma + 1, digits, b->own);
  if (size < 0) return cni_bad_data("%s: a buffer is not base64", g->text.name);
  b->data = b->own;
  b->size = (size_t)size;
  return CN_OK;
}

// ---- files ----

static int hex_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if ((c | 32) >= 'a' && (c | 32) <= 'f') return (c | 32) - 'a' + 10;
  return -1;
}

// A name beside the glTF file: no folder above, no scheme, %20 resolved.
static CnStatus file_of(const CniGltf *g, const char *uri, size_t length, char *path, size_t size) {
  const char *slash = strrchr(g->path, '/');
  size_t n = slash ? (size_t)(slash - g->path) + 1 : 0;
  if (n + length + 1 > size)
    return cni_bad_data("%s: the name of a buffer's file is too long", g->text.name);
  memcpy(path, g->path, n);
  char *name = path + n;
  for (size_t i = 0; i < length; i++) {
    int coded =
        uri[i] == '%' && i + 2 < length && hex_of(uri[i + 1]) >= 0 && hex_of(uri[i + 2]) >= 0;
    path[n++] = coded ? (char)(16 * hex_of(uri[i + 1]) + hex_of(uri[i + 2])) : uri[i];
    if (coded) i += 2;
  }
  path[n] = 0;
  for (const char *c = name; *c; c++)
    if (*c == ':' || *c == '\\' || (unsigned char)*c < 32 || strncmp(c, "..", 2) == 0 ||
        *name == '/')
      return cni_bad_data("%s: the file of a buffer must lie beside it or below", g->text.name);
  return CN_OK;
}

static CnStatus read_beside(CniGltf *g, CniGltfBuffer *b, const char *uri, size_t length) {
  char path[4096];
  CniFileBuffer file;
  if (!g->path)
    return cni_bad_data("%s: its numbers are in another file, which is not at hand", g->text.name);
  CNI_TRY(file_of(g, uri, length, path, sizeof path));
  if (cni_no_file(path)) return cni_bad_data("%s: is no file", path);
  CNI_TRY(cni_file_read(path, &g->mesh->allocator, &file));
  b->own = file.data;
  b->own_size = file.capacity;
  b->data = file.data;
  b->size = file.size;
  g->bytes += file.size;
  g->mesh->hash = cni_hash_bytes(g->mesh->hash, file.data, file.size);
  return cni_inputs_note(&g->mesh->others, &g->mesh->allocator, path);
}

// ---- buffers ----

static CnStatus take_buffer(CniGltf *g, int32_t number, CniGltfBuffer **buffer) {
  CniJson json;
  CniWord uri = {NULL, 0};
  int32_t state = 0;
  char key[CNI_JSON_KEY];
  CNI_TRY(cni_gltf_element(g, CNI_GLTF_BUFFERS, number, &json));
  CniGltfBuffer *b = *buffer = &g->buffers[number];
  if (b->data) return CN_OK;
  while (cni_json_member(&json, "buffer", &state, key)) {
    int is_uri = strcmp(key, "uri") == 0 && cni_json_begins(&json, '"');
    const char *begin = json.text.at + 1;
    CNI_TRY(cni_json_skip(&json, key));
    if (is_uri) uri = (CniWord){begin, (size_t)(json.text.at - 1 - begin)};
  }
  CNI_TRY(json.status);
  if (uri.text && uri.length >= 5 && memcmp(uri.text, "data:", 5) == 0)
    return read_written(g, b, uri.text, uri.length);
  if (uri.text) return read_beside(g, b, uri.text, uri.length);
  if (!g->own || number != 0)
    return cni_bad_data("%s: buffer %d has no \"uri\"", g->text.name, (int)number);
  b->data = g->own;
  b->size = g->own_size;
  return CN_OK;
}

void cni_gltf_release_buffers(CniGltf *g) {
  for (int32_t i = 0; g->buffers && i < g->lists[CNI_GLTF_BUFFERS].count; i++)
    cni_release(&g->mesh->allocator, g->buffers[i].own, g->buffers[i].own_size);
}

// ---- views and accessors ----

typedef struct View {
  int32_t buffer, offset, length, stride;
} View;

static CnStatus read_view(const CniGltf *g, int32_t number, View *view) {
  static const char *const keys[] = {"buffer", "byteOffset", "byteLength", "byteStride"};
  CniJson json;
  int32_t state = 0;
  char key[CNI_JSON_KEY];
  *view = (View){-1, 0, -1, 0};
  int32_t *const values[] = {&view->buffer, &view->offset, &view->length, &view->stride};
  CNI_TRY(cni_gltf_element(g, CNI_GLTF_VIEWS, number, &json));
  while (cni_json_member(&json, "bufferView", &state, key)) {
    int32_t k = 0;
    while (k < 4 && strcmp(key, keys[k]) != 0) k++;
    CNI_TRY(k < 4 ? cni_json_integer(&json, key, 0, INT32_MAX, values[k])
                  : cni_json_skip(&json, key));
  }
  CNI_TRY(json.status);
  if (view->buffer >= 0 && view->length >= 0) return CN_OK;
  return cni_bad_data("%s: bufferView %d needs \"buffer\" and \"byteLength\"", g->text.name,
                      (int)number);
}

typedef struct Accessor {
  int32_t view, offset, type, count;
  char shape[8];
} Accessor;

static CnStatus read_accessor(const CniGltf *g, int32_t number, Accessor *accessor) {
  static const char *const keys[] = {"bufferView", "byteOffset", "componentType", "count"};
  CniJson json;
  int32_t state = 0;
  char key[CNI_JSON_KEY];
  *accessor = (Accessor){-1, 0, 0, -1, ""};
  int32_t *const values[] = {&accessor->view, &accessor->offset, &accessor->type, &accessor->count};
  CNI_TRY(cni_gltf_element(g, CNI_GLTF_ACCESSORS, number, &json));
  while (cni_json_member(&json, "accessor", &state, key)) {
    int32_t k = 0;
    while (k < 4 && strcmp(key, keys[k]) != 0) k++;
    if (k < 4)
      CNI_TRY(cni_json_integer(&json, key, 0, INT32_MAX, values[k]));
    else if (strcmp(key, "type") == 0)
      CNI_TRY(cni_json_string(&json, key, accessor->shape, sizeof accessor->shape));
    else if (strcmp(key, "sparse") == 0)
      return cni_json_fail(&json, "accessor", "sparse lists of numbers are not read");
    else
      CNI_TRY(cni_json_skip(&json, key));
  }
  CNI_TRY(json.status);
  if (accessor->view >= 0 && accessor->count >= 0) return CN_OK;
  return cni_bad_data("%s: accessor %d needs \"bufferView\" and \"count\"", g->text.name,
                      (int)number);
}

// Bytes of a number: 5121, 5123, 5125 are whole without sign, 5126 is real.
static int32_t size_of(int32_t type, int32_t width) {
  if (width == 3) return type == 5126 ? 4 : 0;
  return type == 5121 ? 1 : type == 5123 ? 2 : type == 5125 ? 4 : 0;
}

CnStatus cni_gltf_numbers(CniGltf *g, int32_t accessor, int32_t width, CniGltfNumbers *numbers) {
  Accessor a;
  View v;
  CniGltfBuffer *b;
  CNI_TRY(read_accessor(g, accessor, &a));
  int32_t size = size_of(a.type, width);
  if (size == 0 || strcmp(a.shape, width == 3 ? "VEC3" : "SCALAR") != 0)
    return cni_bad_data("%s: accessor %d must have %s (got %d, %s)", g->text.name, (int)accessor,
                        width == 3 ? "places: 5126, VEC3" : "indices: 5121, 5123 or 5125, SCALAR",
                        (int)a.type, a.shape);
  CNI_TRY(read_view(g, a.view, &v));
  CNI_TRY(take_buffer(g, v.buffer, &b));
  int64_t stride = v.stride ? v.stride : size * width;
  int64_t needed = a.count > 0 ? a.offset + (a.count - 1) * stride + size * width : 0;
  if (stride < size * width || needed > v.length || (int64_t)v.offset + v.length > (int64_t)b->size)
    return cni_bad_data("%s: accessor %d of %d elements does not fit in its buffer of %llu bytes",
                        g->text.name, (int)accessor, (int)a.count, (unsigned long long)b->size);
  *numbers = (CniGltfNumbers){b->data + v.offset + a.offset, a.count, (int32_t)stride, a.type};
  return CN_OK;
}

double cni_gltf_number(const CniGltfNumbers *numbers, int32_t i, int32_t k) {
  int32_t size = size_of(numbers->type, numbers->type == 5126 ? 3 : 1);
  const char *at = numbers->data + (int64_t)i * numbers->stride + (int64_t)k * size;
  return numbers->type == 5126 ? cni_mesh_float(at, 4, 0) : (double)cni_mesh_bytes(at, size, 0);
}
