// SPDX-License-Identifier: Apache-2.0
// glTF 2.0: the triangles of the nodes of its scene, where the nodes put them. The text is JSON; numbers
// lie in buffers, which are written in the text (base64), are the second part of a GLB file, or are
// files beside it (gltf_buffers.c). Materials, skins and animations are left out; compressed meshes and
// sparse lists are refused.
//
// No tree is made of the JSON. One pass notes where the elements of each list begin, and an element is
// read when something refers to it.
#include "io/meshes/mesh_private.h"

#include <math.h>
#include <string.h>

#include "io/meshes/gltf.h"

#define DEEPEST 32      // nodes within nodes
#define BYTES_A_BYTE 24 // of the mesh, for a byte of the file: bounds what instances can make

// ---- lists ----

static const char *const list_names[CNI_GLTF_LISTS] = {"buffers", "bufferViews", "accessors",
                                                       "meshes",  "nodes",       "scenes"};

static CnStatus note_list(CniGltf *g, CniJson *json, CniGltfList *list, const char *what) {
  int32_t state = 0;
  while (cni_json_element(json, what, &state)) {
    CNI_TRY(CNI_PUSH(&g->mesh->allocator, list->at, list->capacity, list->count, json->text.at));
    CNI_TRY(cni_json_skip(json, what));
  }
  return json->status;
}

// What cannot be left out without getting the surface wrong.
static CnStatus check_extensions(CniJson *json) {
  static const char *const harmless[] = {"KHR_materials_", "KHR_texture_", "EXT_texture_",
                                         "KHR_lights_"};
  int32_t state = 0;
  while (cni_json_element(json, "extensionsRequired", &state)) {
    CniJson before = *json;
    char name[CNI_JSON_KEY];
    int fine = 0;
    CNI_TRY(cni_json_string(json, "extensionsRequired", name, sizeof name));
    for (int32_t k = 0; k < 4; k++) fine |= strncmp(name, harmless[k], strlen(harmless[k])) == 0;
    if (!fine) return cni_json_fail(&before, "extensionsRequired", "an extension that is not read");
  }
  return json->status;
}

static CnStatus check_version(CniJson *json) {
  int32_t state = 0;
  char key[CNI_JSON_KEY], version[8] = "";
  CniJson before = *json;
  while (cni_json_member(json, "asset", &state, key)) {
    if (strcmp(key, "version") == 0)
      CNI_TRY(cni_json_string(json, "asset/version", version, sizeof version));
    else
      CNI_TRY(cni_json_skip(json, "asset"));
  }
  CNI_TRY(json->status);
  return version[0] == '2' ? CN_OK : cni_json_fail(&before, "asset", "the version must be 2");
}

static CnStatus note_lists(CniGltf *g) {
  CniJson json = {.text = g->text};
  int32_t state = 0, has_asset = 0;
  char key[CNI_JSON_KEY];
  while (cni_json_member(&json, "glTF", &state, key)) {
    int32_t k = 0;
    while (k < CNI_GLTF_LISTS && strcmp(key, list_names[k]) != 0) k++;
    if (k < CNI_GLTF_LISTS && g->lists[k].count == 0) {
      CNI_TRY(note_list(g, &json, &g->lists[k], key));
    } else if (strcmp(key, "asset") == 0) {
      has_asset = 1;
      CNI_TRY(check_version(&json));
    } else if (strcmp(key, "extensionsRequired") == 0) {
      CNI_TRY(check_extensions(&json));
    } else if (strcmp(key, "scene") == 0) {
      CNI_TRY(cni_json_integer(&json, "scene", 0, INT32_MAX, &g->scene));
    } else {
      CNI_TRY(cni_json_skip(&json, key));
    }
  }
  CNI_TRY(json.status);
  if (!has_asset) return cni_bad_data("%s: a glTF file has an \"asset\"", g->text.name);
  return CN_OK;
}

CnStatus cni_gltf_element(const CniGltf *g, CniGltfKind kind, int32_t number, CniJson *json) {
  if (number < 0 || number >= g->lists[kind].count)
    return cni_bad_data("%s: there is no element %d of \"%s\", which has %d", g->text.name,
                        (int)number, list_names[kind], (int)g->lists[kind].count);
  *json = (CniJson){.text = g->text};
  json->text.at = g->lists[kind].at[number];
  return CN_OK;
}

// ---- transformations: x, y, z of the axes and of the origin, column by column ----

typedef struct Placing {
  double m[12];
} Placing;

static CnVec3 place(const Placing *p, CnVec3 a) {
  const double *m = p->m;
  return cn_vec3(m[0] * a.x + m[3] * a.y + m[6] * a.z + m[9],
                 m[1] * a.x + m[4] * a.y + m[7] * a.z + m[10],
                 m[2] * a.x + m[5] * a.y + m[8] * a.z + m[11]);
}

static Placing within(const Placing *a, const Placing *b) {
  Placing c;
  for (int32_t k = 0; k < 4; k++) {
    CnVec3 v = place(a, cn_vec3(b->m[3 * k], b->m[3 * k + 1], b->m[3 * k + 2]));
    double own = k < 3 ? 1 : 0; // directions are not moved
    c.m[3 * k] = v.x - own * a->m[9];
    c.m[3 * k + 1] = v.y - own * a->m[10];
    c.m[3 * k + 2] = v.z - own * a->m[11];
  }
  return c;
}

static double determinant(const Placing *p) {
  const double *m = p->m;
  return cn_dot(cn_vec3(m[0], m[1], m[2]),
                cn_cross(cn_vec3(m[3], m[4], m[5]), cn_vec3(m[6], m[7], m[8])));
}

static Placing from_parts(const double t[3], const double r[4], const double s[3]) {
  CnMat3 m = cn_qmat((CnQuat){r[3], r[0], r[1], r[2]});
  return (Placing){{s[0] * m.x.x, s[0] * m.x.y, s[0] * m.x.z, s[1] * m.y.x, s[1] * m.y.y,
                    s[1] * m.y.z, s[2] * m.z.x, s[2] * m.z.y, s[2] * m.z.z, t[0], t[1], t[2]}};
}

// ---- primitives ----

typedef struct Primitive {
  int32_t position, indices, mode; // accessors, -1: none
} Primitive;

static CnStatus add_corner(CniGltf *g, const CniGltfNumbers *indices, int32_t i, int32_t first,
                           int32_t count, int32_t *corner) {
  double index = i;
  if (indices->data) index = cni_gltf_number(indices, i, 0);
  if (!(index >= 0 && index < count))
    return cni_bad_data("%s: index %d of a primitive: there is no such corner among %d (got %g)",
                        g->text.name, (int)i, (int)count, index);
  *corner = first + (int32_t)index;
  return CN_OK;
}

// Triangles, a strip or a fan of them.
static CnStatus add_triangles(CniGltf *g, const CniGltfNumbers *indices, int32_t mode,
                              int32_t index_count, int32_t first, int32_t count, int mirrored) {
  int32_t triangles = mode == 4 ? index_count / 3 : index_count > 2 ? index_count - 2 : 0;
  if (mode == 4 && index_count % 3 != 0)
    return cni_bad_data("%s: a primitive of triangles has %d corners, which 3 does not divide",
                        g->text.name, (int)index_count);
  CNI_TRY(cni_mesh_room(g->mesh, g->text.name, 0, triangles));
  for (int32_t i = 0; i < triangles; i++) {
    int32_t at[3] = {3 * i, 3 * i + 1, 3 * i + 2}, c[3] = {0, 0, 0};
    if (mode == 5) at[0] = i, at[1] = i + 1 + i % 2, at[2] = i + 2 - i % 2;
    if (mode == 6) at[0] = 0, at[1] = i + 1, at[2] = i + 2;
    for (int32_t k = 0; k < 3; k++) CNI_TRY(add_corner(g, indices, at[k], first, count, &c[k]));
    if (mirrored) CNI_SWAP(int32_t, c[1], c[2]);
    CNI_TRY(cni_mesh_add_triangle(g->mesh, g->text.name, c[0], c[1], c[2]));
  }
  return CN_OK;
}

static CnStatus check_size(const CniGltf *g, int64_t corners, int64_t indices) {
  double bytes = 24.0 * (double)(corners + g->mesh->vertex_count) +
                 12.0 * (double)(indices + g->mesh->triangle_count);
  if (bytes <= BYTES_A_BYTE * (double)g->bytes + 65536) return CN_OK;
  return cni_bad_data("%s: its nodes use its meshes so often that %lld corners come of %llu bytes",
                      g->text.name, (long long)(corners + g->mesh->vertex_count),
                      (unsigned long long)g->bytes);
}

static CnStatus add_primitive(CniGltf *g, const Primitive *p, const Placing *placing) {
  CniGltfNumbers positions, indices = {0};
  if (p->mode < 4) return CN_OK; // points and lines
  if (p->position < 0) return cni_bad_data("%s: a primitive has no \"POSITION\"", g->text.name);
  CNI_TRY(cni_gltf_numbers(g, p->position, 3, &positions));
  if (p->indices >= 0) CNI_TRY(cni_gltf_numbers(g, p->indices, 1, &indices));
  int32_t index_count = p->indices >= 0 ? indices.count : positions.count;
  CNI_TRY(check_size(g, positions.count, index_count));
  int32_t first = g->mesh->vertex_count;
  CNI_TRY(cni_mesh_room(g->mesh, g->text.name, positions.count, 0));
  for (int32_t i = 0; i < positions.count; i++) {
    CnVec3 a = {cni_gltf_number(&positions, i, 0), cni_gltf_number(&positions, i, 1),
                cni_gltf_number(&positions, i, 2)};
    CnVec3 b = place(placing, a);
    if (!cn_vec3_finite(b))
      return cni_bad_data("%s: corner %d of a primitive is not finite (got %g, %g, %g)",
                          g->text.name, (int)i, a.x, a.y, a.z);
    CNI_TRY(cni_mesh_add_vertex(g->mesh, g->text.name, b));
  }
  return add_triangles(g, &indices, p->mode, index_count, first, positions.count,
                       determinant(placing) < 0);
}

static CnStatus read_primitive(CniGltf *g, CniJson *json, const Placing *placing) {
  Primitive p = {-1, -1, 4};
  int32_t state = 0, inner;
  char key[CNI_JSON_KEY];
  while (cni_json_member(json, "primitive", &state, key)) {
    if (strcmp(key, "indices") == 0) {
      CNI_TRY(cni_json_integer(json, key, 0, INT32_MAX, &p.indices));
    } else if (strcmp(key, "mode") == 0) {
      CNI_TRY(cni_json_integer(json, key, 0, 6, &p.mode));
    } else if (strcmp(key, "attributes") == 0) {
      inner = 0;
      while (cni_json_member(json, "attributes", &inner, key))
        CNI_TRY(strcmp(key, "POSITION") == 0
                    ? cni_json_integer(json, key, 0, INT32_MAX, &p.position)
                    : cni_json_skip(json, key));
      CNI_TRY(json->status);
    } else {
      CNI_TRY(cni_json_skip(json, key));
    }
  }
  CNI_TRY(json->status);
  return add_primitive(g, &p, placing);
}

static CnStatus add_mesh(CniGltf *g, int32_t number, const Placing *placing) {
  CniJson json;
  int32_t state = 0, inner;
  char key[CNI_JSON_KEY];
  CNI_TRY(cni_gltf_element(g, CNI_GLTF_MESHES, number, &json));
  while (cni_json_member(&json, "mesh", &state, key)) {
    if (strcmp(key, "primitives") != 0) {
      CNI_TRY(cni_json_skip(&json, key));
      continue;
    }
    inner = 0;
    while (cni_json_element(&json, "primitives", &inner))
      CNI_TRY(read_primitive(g, &json, placing));
    CNI_TRY(json.status);
  }
  return json.status;
}

// ---- nodes ----

typedef struct Node {
  Placing placing;
  int32_t mesh;     // -1: none
  CniJson children; // text.at null: none
} Node;

static CnStatus read_node(const CniGltf *g, int32_t number, Node *node) {
  double t[3] = {0, 0, 0}, r[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1}, m[16];
  int32_t state = 0, has_matrix = 0;
  char key[CNI_JSON_KEY];
  CniJson json;
  CNI_TRY(cni_gltf_element(g, CNI_GLTF_NODES, number, &json));
  *node = (Node){.mesh = -1};
  while (cni_json_member(&json, "node", &state, key)) {
    if (strcmp(key, "mesh") == 0) {
      CNI_TRY(cni_json_integer(&json, "node/mesh", 0, INT32_MAX, &node->mesh));
    } else if (strcmp(key, "matrix") == 0) {
      has_matrix = 1;
      CNI_TRY(cni_json_vector(&json, "node/matrix", 16, m));
    } else if (strcmp(key, "translation") == 0) {
      CNI_TRY(cni_json_vector(&json, "node/translation", 3, t));
    } else if (strcmp(key, "rotation") == 0) {
      CNI_TRY(cni_json_vector(&json, "node/rotation", 4, r));
    } else if (strcmp(key, "scale") == 0) {
      CNI_TRY(cni_json_vector(&json, "node/scale", 3, s));
    } else {
      if (strcmp(key, "children") == 0) node->children = json;
      CNI_TRY(cni_json_skip(&json, key));
    }
  }
  CNI_TRY(json.status);
  node->placing = from_parts(t, r, s);
  for (int32_t k = 0; has_matrix && k < 12; k++) node->placing.m[k] = m[4 * (k / 3) + k % 3];
  return CN_OK;
}

static CnStatus add_node(CniGltf *g, int32_t number, const Placing *parent, int32_t depth) {
  Node node;
  CNI_TRY(read_node(g, number, &node));
  if (depth > DEEPEST)
    return cni_bad_data("%s: node %d is deeper than %d nodes", g->text.name, (int)number, DEEPEST);
  if (g->seen[number])
    return cni_bad_data("%s: node %d is in the scene twice", g->text.name, (int)number);
  g->seen[number] = 1;
  Placing placing = within(parent, &node.placing);
  if (node.mesh >= 0) CNI_TRY(add_mesh(g, node.mesh, &placing));
  if (!node.children.text.at) return CN_OK;
  int32_t state = 0, child;
  while (cni_json_element(&node.children, "children", &state)) {
    CNI_TRY(cni_json_integer(&node.children, "children", 0, INT32_MAX, &child));
    CNI_TRY(add_node(g, child, &placing, depth + 1));
  }
  return node.children.status;
}

static CnStatus add_scene(CniGltf *g) {
  static const Placing one = {{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}};
  CniJson json;
  int32_t state = 0, inner, node;
  char key[CNI_JSON_KEY];
  // a file of meshes without a scene is taken as it lies
  for (int32_t i = 0; g->lists[CNI_GLTF_SCENES].count == 0 && i < g->lists[CNI_GLTF_MESHES].count;
       i++)
    CNI_TRY(add_mesh(g, i, &one));
  if (g->lists[CNI_GLTF_SCENES].count == 0) return CN_OK;
  CNI_TRY(cni_gltf_element(g, CNI_GLTF_SCENES, g->scene, &json));
  while (cni_json_member(&json, "scene", &state, key)) {
    if (strcmp(key, "nodes") != 0) {
      CNI_TRY(cni_json_skip(&json, key));
      continue;
    }
    inner = 0;
    while (cni_json_element(&json, "nodes", &inner)) {
      CNI_TRY(cni_json_integer(&json, "nodes", 0, INT32_MAX, &node));
      CNI_TRY(add_node(g, node, &one, 1));
    }
    CNI_TRY(json.status);
  }
  return json.status;
}

// ---- the two forms of file ----

static CnStatus read_parts(CniGltf *g) {
  const CnAllocator *a = &g->mesh->allocator;
  CNI_TRY(note_lists(g));
  CNI_TRY(cni_new(a, (size_t)g->lists[CNI_GLTF_NODES].count, &g->seen));
  CNI_TRY(cni_new(a, (size_t)g->lists[CNI_GLTF_BUFFERS].count * sizeof *g->buffers, &g->buffers));
  return add_scene(g);
}

static CnStatus read_all(CniGltf *g) {
  const CnAllocator *a = &g->mesh->allocator;
  CnStatus status = read_parts(g);
  cni_gltf_release_buffers(g);
  cni_release(a, g->seen, (size_t)g->lists[CNI_GLTF_NODES].count);
  cni_release(a, g->buffers, (size_t)g->lists[CNI_GLTF_BUFFERS].count * sizeof *g->buffers);
  for (int32_t k = 0; k < CNI_GLTF_LISTS; k++) CNI_RELEASE(a, g->lists[k].at, g->lists[k].capacity);
  return status;
}

static CnStatus read_gltf(const CniMeshSource *source, CniMeshData *mesh) {
  const char *data = source->data;
  CniGltf g = {.text = {data, data + source->size, data, source->name},
               .path = source->path,
               .mesh = mesh,
               .bytes = source->size};
  return read_all(&g);
}

// "glTF", version, length; then parts of length, kind and bytes: JSON first, BIN second.
static CnStatus read_glb(const CniMeshSource *source, CniMeshData *mesh) {
  const char *data = source->data;
  if (source->size < 20)
    return cni_bad_data("%s: a GLB file has a head of 20 bytes (got %llu)", source->name,
                        (unsigned long long)source->size);
  uint64_t version = cni_mesh_bytes(data + 4, 4, 0), length = cni_mesh_bytes(data + 12, 4, 0);
  if (version != 2)
    return cni_bad_data("%s: byte 4: the version must be 2 (got %llu)", source->name,
                        (unsigned long long)version);
  if (cni_mesh_bytes(data + 16, 4, 0) != 0x4e4f534a || length > source->size - 20)
    return cni_bad_data("%s: byte 12: the part with the text does not fit in the file (got %llu)",
                        source->name, (unsigned long long)length);
  CniGltf g = {.text = {data + 20, data + 20 + length, data + 20, source->name},
               .path = source->path,
               .mesh = mesh,
               .bytes = source->size};
  size_t next = 20 + (size_t)length;
  if (next + 8 <= source->size) {
    uint64_t size = cni_mesh_bytes(data + next, 4, 0);
    if (cni_mesh_bytes(data + next + 4, 4, 0) != 0x004e4942 || size > source->size - next - 8)
      return cni_bad_data("%s: byte %llu: the part with the numbers does not fit (got %llu)",
                          source->name, (unsigned long long)next, (unsigned long long)size);
    g.own = data + next + 8;
    g.own_size = (size_t)size;
  }
  return read_all(&g);
}

static int recognise_glb(const char *data, size_t size) {
  return size >= 4 && memcmp(data, "glTF", 4) == 0;
}

const CniMeshFormat cni_mesh_gltf = {"gltf", "glTF 2.0", {"gltf"}, NULL, read_gltf};
const CniMeshFormat cni_mesh_glb = {"glb", "glTF 2.0, binary", {"glb"}, recognise_glb, read_glb};
