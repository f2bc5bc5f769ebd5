// SPDX-License-Identifier: Apache-2.0
// Geometries in a run file: of each its vertices, and its faces as lists of vertices, once however
// many shapes share it; a mesh likewise, its triangles as faces; of a height field its heights alone.
// /shapes/geometry has their numbers, -1 where a shape has none. A world without geometries writes nothing.
#include <string.h>

#include "io/run/run_private.h"
#include "world/world.h"

// ---- writing ----

typedef struct Lists {
  int32_t *vertex_count, *face_count; // a geometry
  CnVec3 *vertices;
  int32_t *corner_count; // a face
  int32_t *corners;
  int32_t *of_shape;
  int32_t *mesh;     // a geometry: 0 a hull, 1 a mesh, 2 one with two sides, 3 and 4 height fields
  double *thickness; // likewise; both null: there are hulls only
  int32_t *samples;  // of each geometry along x and y; null: there are no height fields
  double *spacing;   // likewise
  double *heights;   // of all
} Lists;

#define FIELD 2 // of `mesh`: so much more

// Where the lists end.
typedef struct Ends {
  size_t vertices, faces, corners, heights;
} Ends;

static void add_hull(Lists *l, Ends *end, int32_t i, const CniHull *h) {
  l->vertex_count[i] = h->vertex_count;
  l->face_count[i] = h->face_count;
  memcpy(l->vertices + end->vertices, h->vertices, (size_t)h->vertex_count * sizeof(CnVec3));
  for (int32_t f = 0; f < h->face_count; f++)
    l->corner_count[end->faces + (size_t)f] = h->faces[f].count;
  for (int32_t c = 0; c < h->corner_count; c++)
    l->corners[end->corners + (size_t)c] = h->corners[c].vertex;
  end->vertices += (size_t)h->vertex_count;
  end->faces += (size_t)h->face_count;
  end->corners += (size_t)h->corner_count;
}

static void add_field(Lists *l, Ends *end, int32_t i, const CniMesh *m) {
  size_t count = (size_t)m->vertex_count;
  l->vertex_count[i] = l->face_count[i] = 0;
  l->mesh[i] += FIELD;
  l->samples[2 * i] = m->x_count;
  l->samples[2 * i + 1] = m->y_count;
  l->spacing[2 * i] = m->dx;
  l->spacing[2 * i + 1] = m->dy;
  memcpy(l->heights + end->heights, m->heights, count * sizeof *m->heights);
  end->heights += count;
}

static void add_mesh(Lists *l, Ends *end, int32_t i, const CniMesh *m) {
  l->mesh[i] = m->two_sided ? 2 : 1;
  l->thickness[i] = 2 * m->radius;
  if (m->heights) {
    add_field(l, end, i, m);
    return;
  }
  l->vertex_count[i] = m->vertex_count;
  l->face_count[i] = m->triangle_count;
  memcpy(l->vertices + end->vertices, m->vertices, (size_t)m->vertex_count * sizeof(CnVec3));
  end->vertices += (size_t)m->vertex_count;
  for (int32_t t = 0; t < m->triangle_count; t++) l->corner_count[end->faces++] = 3;
  memcpy(l->corners + end->corners, m->corners, 3 * (size_t)m->triangle_count * sizeof(int32_t));
  end->corners += 3 * (size_t)m->triangle_count;
}

// How long the lists are.
static Ends ends_of(const CniModel *model, int32_t *meshes) {
  Ends size = {0, 0, 0, 0};
  *meshes = 0;
  for (int32_t i = 0; i < model->geometry_count; i++) {
    const CniHull *h = model->geometries[i]->hull;
    const CniMesh *m = model->geometries[i]->mesh;
    *meshes += m != NULL;
    if (m && m->heights) {
      size.heights += (size_t)m->vertex_count;
      continue;
    }
    size.vertices += (size_t)(m ? m->vertex_count : h->vertex_count);
    size.faces += (size_t)(m ? m->triangle_count : h->face_count);
    size.corners += m ? 3 * (size_t)m->triangle_count : (size_t)h->corner_count;
  }
  return size;
}

static void put_lists(CniHdf *hdf, const Lists *l, const Ends *end, int32_t count, int32_t shapes) {
  cni_hdf_table(hdf, "/shapes/geometry", CNI_INT32, shapes, 0, l->of_shape);
  cni_hdf_group(hdf, "/geometries");
  cni_hdf_table(hdf, "/geometries/vertex_count", CNI_INT32, count, 0, l->vertex_count);
  cni_hdf_table(hdf, "/geometries/face_count", CNI_INT32, count, 0, l->face_count);
  cni_hdf_table(hdf, "/geometries/vertices", CNI_DOUBLE, (int64_t)end->vertices, 3, l->vertices);
  cni_hdf_table(hdf, "/geometries/corner_count", CNI_INT32, (int64_t)end->faces, 0,
                l->corner_count);
  cni_hdf_table(hdf, "/geometries/corners", CNI_INT32, (int64_t)end->corners, 0, l->corners);
  if (!l->mesh) return;
  cni_hdf_table(hdf, "/geometries/mesh", CNI_INT32, count, 0, l->mesh);
  cni_hdf_table(hdf, "/geometries/thickness", CNI_DOUBLE, count, 0, l->thickness);
  if (!l->heights) return;
  cni_hdf_table(hdf, "/geometries/samples", CNI_INT32, count, 2, l->samples);
  cni_hdf_table(hdf, "/geometries/spacing", CNI_DOUBLE, count, 2, l->spacing);
  cni_hdf_table(hdf, "/geometries/heights", CNI_DOUBLE, (int64_t)end->heights, 0, l->heights);
}

CnStatus cni_run_put_geometries(CniRunWriter *w, const CnWorld *world, const CnShapeDef *shapes,
                                CniHdf *hdf) {
  const CniModel *model = &world->now.model;
  int32_t count = model->geometry_count, meshes;
  Ends size = ends_of(model, &meshes), end = {0, 0, 0, 0};
  if (count == 0) return CN_OK;
  CniArena arena;
  cni_arena_init(&arena, &w->allocator);
#define TAKE(count, type) cni_arena_take(&arena, (count) * sizeof(type))
  Lists l = {TAKE((size_t)count, int32_t),
             TAKE((size_t)count, int32_t),
             TAKE(size.vertices, CnVec3),
             TAKE(size.faces, int32_t),
             TAKE(size.corners, int32_t),
             TAKE((size_t)w->shape_count, int32_t),
             .mesh = NULL};
  if (meshes) {
    l.mesh = TAKE((size_t)count, int32_t);
    l.thickness = TAKE((size_t)count, double);
  }
  if (size.heights > 0) {
    l.samples = TAKE(2 * (size_t)count, int32_t);
    l.spacing = TAKE(2 * (size_t)count, double);
    l.heights = TAKE(size.heights, double);
  }
#undef TAKE
  int whole = l.vertex_count && l.face_count && l.vertices && l.corner_count && l.corners &&
              (l.of_shape || w->shape_count == 0) && (!meshes || (l.mesh && l.thickness)) &&
              (size.heights == 0 || (l.samples && l.spacing && l.heights));
  for (int32_t i = 0; i < count && whole; i++) {
    const CniGeometry *g = model->geometries[i];
    if (meshes && g->hull) l.mesh[i] = 0, l.thickness[i] = 0;
    for (int32_t k = 2 * i; l.heights && k < 2 * i + 2; k++) l.samples[k] = 0, l.spacing[k] = 0;
    if (g->hull) add_hull(&l, &end, i, g->hull);
    if (g->mesh) add_mesh(&l, &end, i, g->mesh);
  }
  for (int32_t i = 0; i < w->shape_count && whole; i++) {
    CnGeometryId id = shapes[i].geometry;
    if (!id.slot || cni_model_find_geometry(model, id, &l.of_shape[i]) != CN_OK) l.of_shape[i] = -1;
  }
  if (whole) put_lists(hdf, &l, &end, count, w->shape_count);
  cni_arena_release(&arena);
  return whole ? CN_OK : cni_error_memory(size.corners * sizeof(int32_t));
}

// ---- reading ----

// So many numbers.
static CnStatus get_numbers(const CnRun *run, CniArena *arena, const char *path, CniNumber as,
                            int64_t count, void **values) {
  if (!cni_input_fits(run, count, 1)) return cni_input_damaged(run, path, 0, count);
  size_t bytes = (size_t)count * cni_number_size(as);
  *values = cni_arena_take(arena, bytes ? bytes : 1);
  if (!*values) return cni_error_memory(bytes);
  return cni_input_numbers(run, path, NULL, as, count, *values);
}

// A whole list of integers; its length in *count.
static CnStatus get_list(const CnRun *run, CniArena *arena, const char *path, int64_t *count,
                         int32_t **values) {
  CNI_TRY(cni_input_count(run, path, count));
  return get_numbers(run, arena, path, CNI_INT32, *count, (void **)values);
}

static CnStatus build_field(CnRun *run, const Lists *l, Ends *at, int32_t i, const Ends *size) {
  CnHeightsDef def = cn_heights_def_default();
  if (!l->heights) return cni_input_damaged(run, "the heights of geometry", i, 0);
  def.x_count = l->samples[2 * i];
  def.y_count = l->samples[2 * i + 1];
  int64_t count = (int64_t)def.x_count * def.y_count;
  if (def.x_count < 2 || def.y_count < 2 || count > (int64_t)(size->heights - at->heights))
    return cni_input_damaged(run, "the samples of geometry", i, count);
  def.x_spacing = l->spacing[2 * i];
  def.y_spacing = l->spacing[2 * i + 1];
  def.heights = l->heights + at->heights;
  def.two_sided = l->mesh[i] == 2 + FIELD;
  def.thickness = l->thickness[i];
  at->heights += (size_t)count;
  CnStatus status = cni_heights_create(&run->allocator, run->path, &def, &run->meshes[i]);
  return status == CN_INVALID_ARGUMENT ? CN_INVALID_DATA : status;
}

static CnStatus build_mesh(CnRun *run, const Lists *l, Ends *at, int32_t i, size_t corners,
                           const Ends *size) {
  CnMeshDef def = cn_mesh_def_default();
  if (corners != 3 * (size_t)l->face_count[i] || l->mesh[i] < 0 || l->mesh[i] > 2 + FIELD)
    return cni_input_damaged(run, "the triangles of geometry", i, l->mesh[i]);
  if (l->mesh[i] > FIELD) return build_field(run, l, at, i, size);
  def.vertices = l->vertices + at->vertices;
  def.vertex_count = l->vertex_count[i];
  def.triangles = l->corners + at->corners;
  def.triangle_count = l->face_count[i];
  def.two_sided = l->mesh[i] == 2;
  def.thickness = l->thickness[i];
  CnStatus status = cni_mesh_create(&run->allocator, NULL, run->path, &def, &run->meshes[i]);
  return status == CN_INVALID_ARGUMENT ? CN_INVALID_DATA : status;
}

// Hulls from lists of which no number is believed: what is not there cannot be read, what is wrong
// is refused by cni_hull_build.
static CnStatus build_hulls(CnRun *run, const Lists *l, const Ends *size) {
  Ends at = {0, 0, 0, 0};
  for (int32_t i = 0; i < run->hull_count; i++) {
    int32_t vertices = l->vertex_count[i], faces = l->face_count[i];
    size_t corners = 0;
    if (vertices < 0 || (size_t)vertices > size->vertices - at.vertices)
      return cni_input_damaged(run, "the vertices of geometry", i, vertices);
    if (faces < 0 || (size_t)faces > size->faces - at.faces)
      return cni_input_damaged(run, "the faces of geometry", i, faces);
    for (int32_t f = 0; f < faces; f++) {
      int32_t count = l->corner_count[at.faces + (size_t)f];
      if (count < 0 || (size_t)count > size->corners - at.corners - corners)
        return cni_input_damaged(run, "the corners of geometry", i, count);
      corners += (size_t)count;
    }
    if (l->mesh && l->mesh[i])
      CNI_TRY(build_mesh(run, l, &at, i, corners, size));
    else
      CNI_TRY(cni_hull_build(&run->allocator, run->path, vertices, l->vertices + at.vertices, faces,
                             l->corner_count + at.faces, l->corners + at.corners, &run->hulls[i]));
    at.vertices += (size_t)vertices;
    at.faces += (size_t)faces;
    at.corners += corners;
  }
  return CN_OK;
}

static CnStatus read_fields(const CnRun *run, CniArena *arena, int64_t count, Lists *l,
                            int64_t *heights) {
  if (H5Lexists(run->file, "/geometries/heights", H5P_DEFAULT) <= 0) return CN_OK;
  CNI_TRY(cni_input_count(run, "/geometries/heights", heights));
  CNI_TRY(
      get_numbers(run, arena, "/geometries/samples", CNI_INT32, 2 * count, (void **)&l->samples));
  CNI_TRY(
      get_numbers(run, arena, "/geometries/spacing", CNI_DOUBLE, 2 * count, (void **)&l->spacing));
  return get_numbers(run, arena, "/geometries/heights", CNI_DOUBLE, *heights, (void **)&l->heights);
}

static CnStatus read_lists(CnRun *run, CniArena *arena) {
  int64_t heights = 0, count = 0, faces = 0, vertices = 0, corner_count = 0, corners = 0,
          shapes = 0;
  Lists l = {.mesh = NULL};
  CNI_TRY(get_list(run, arena, "/geometries/vertex_count", &count, &l.vertex_count));
  CNI_TRY(get_list(run, arena, "/geometries/face_count", &faces, &l.face_count));
  if (faces != count || count > INT32_MAX)
    return cni_input_damaged(run, "the number of geometries", count, faces);
  for (int64_t i = 0; i < count; i++) {
    if (l.vertex_count[i] < 0) return cni_input_damaged(run, "vertices", i, l.vertex_count[i]);
    vertices += l.vertex_count[i];
  }
  CNI_TRY(get_numbers(run, arena, "/geometries/vertices", CNI_DOUBLE, 3 * vertices,
                      (void **)&l.vertices));
  CNI_TRY(get_list(run, arena, "/geometries/corner_count", &corner_count, &l.corner_count));
  CNI_TRY(get_list(run, arena, "/geometries/corners", &corners, &l.corners));
  CNI_TRY(get_list(run, arena, "/shapes/geometry", &shapes, &l.of_shape));
  if (H5Lexists(run->file, "/geometries/mesh", H5P_DEFAULT) > 0) {
    CNI_TRY(get_numbers(run, arena, "/geometries/mesh", CNI_INT32, count, (void **)&l.mesh));
    CNI_TRY(
        get_numbers(run, arena, "/geometries/thickness", CNI_DOUBLE, count, (void **)&l.thickness));
  }
  if (l.mesh) CNI_TRY(read_fields(run, arena, count, &l, &heights));
  CNI_TRY(cni_new(&run->allocator, (size_t)count * sizeof *run->hulls, &run->hulls));
  CnStatus status = cni_new(&run->allocator, (size_t)count * sizeof *run->meshes, &run->meshes);
  if (status != CN_OK) {
    CNI_RELEASE(&run->allocator, run->hulls, count);
    run->hulls = NULL;
    return status;
  }
  run->hull_count = (int32_t)count;
  Ends size = {(size_t)vertices, (size_t)corner_count, (size_t)corners, (size_t)heights};
  CNI_TRY(build_hulls(run, &l, &size));
  if (shapes != run->info.shape_count)
    return cni_input_damaged(run, "the geometries of shapes", run->info.shape_count, shapes);
  for (int32_t i = 0; i < run->info.shape_count; i++) {
    int32_t geometry = l.of_shape[i];
    if (geometry < -1 || geometry >= run->hull_count)
      return cni_input_damaged(run, "the geometry of shape", i, geometry);
    if (geometry >= 0) run->shapes[i].def.geometry = (CnGeometryId){(uint32_t)geometry + 1, 1};
  }
  return CN_OK;
}

CnStatus cni_run_read_geometries(CnRun *run) {
  CniArena arena;
  cni_arena_init(&arena, &run->allocator);
  CnStatus status = CN_OK;
  if (H5Lexists(run->file, "/geometries", H5P_DEFAULT) > 0) status = read_lists(run, &arena);
  cni_arena_release(&arena);
  for (int32_t i = 0; i < run->info.shape_count && status == CN_OK; i++) {
    const CnShapeDef *def = &run->shapes[i].def;
    CniPlaced form;
    cni_run_form(run, def->geometry, &form);
    int mesh = cni_shape_is_surface(def->kind), hull = cni_shape_needs_geometry(def->kind) && !mesh;
    if (mesh != (form.mesh != NULL) || hull != (form.hull != NULL))
      status = cni_input_damaged(run, "the geometry of shape", i, (int64_t)def->geometry.slot - 1);
  }
  return status;
}

void cni_run_release_geometries(CnRun *run) {
  for (int32_t i = 0; i < run->hull_count; i++) {
    cni_hull_destroy(&run->allocator, run->hulls[i]);
    cni_mesh_destroy(&run->allocator, run->meshes[i]);
  }
  CNI_RELEASE(&run->allocator, run->hulls, run->hull_count);
  CNI_RELEASE(&run->allocator, run->meshes, run->hull_count);
}

void cni_run_form(const CnRun *run, CnGeometryId id, CniPlaced *placed) {
  int found = id.slot > 0 && id.slot <= (uint32_t)run->hull_count;
  placed->hull = found ? run->hulls[id.slot - 1] : NULL;
  placed->mesh = found ? run->meshes[id.slot - 1] : NULL;
}
