// SPDX-License-Identifier: Apache-2.0
// The parts of a snapshot that bodies, shapes and joints refer to or that act on them: geometries,
// curves, functions of time, motions, couplings, forces. What a snapshot says nothing of is not there: 0.1 had none
// of them.
#include "world/snapshot/snapshot_private.h"

#include <string.h>

// ---- writing ----

static void write_mesh(CniSnapshotWriter *w, const CniGeometry *g) {
  const CniMesh *m = g->mesh;
  CniGeometryRecord record = {.slot = g->slot,
                              .generation = g->generation,
                              .vertex_count = m->heights ? 0 : m->vertex_count,
                              .triangle_count = m->heights ? 0 : m->triangle_count,
                              .two_sided = m->two_sided,
                              .x_count = m->x_count,
                              .y_count = m->y_count,
                              .x_spacing = m->dx,
                              .y_spacing = m->dy,
                              .thickness = 2 * m->radius};
  memcpy(record.name, g->name, sizeof record.name);
  cni_snapshot_put(w, CNI_RECORD_GEOMETRY, &record);
  for (int32_t i = 0; m->heights && i < m->vertex_count; i++)
    cni_stream_double(&w->s, &m->heights[i]);
  if (m->heights) return;
  for (int32_t i = 0; i < m->vertex_count; i++) cni_stream_vec3(&w->s, &m->vertices[i]);
  for (int32_t i = 0; i < 3 * m->triangle_count; i++) cni_stream_i32(&w->s, &m->corners[i]);
}

static void write_hull(CniSnapshotWriter *w, const CniGeometry *g) {
  const CniHull *h = g->hull;
  CniGeometryRecord record = {.slot = g->slot,
                              .generation = g->generation,
                              .vertex_count = h->vertex_count,
                              .face_count = h->face_count};
  memcpy(record.name, g->name, sizeof record.name);
  cni_snapshot_put(w, CNI_RECORD_GEOMETRY, &record);
  for (int32_t i = 0; i < h->vertex_count; i++) {
    CnVec3 vertex = h->vertices[i];
    cni_stream_vec3(&w->s, &vertex);
  }
  for (int32_t f = 0; f < h->face_count; f++) {
    int32_t count = h->faces[f].count;
    cni_stream_i32(&w->s, &count);
    for (int32_t k = 0; k < count; k++) {
      int32_t vertex = h->corners[h->faces[f].first + k].vertex;
      cni_stream_i32(&w->s, &vertex);
    }
  }
}

static void write_geometries(CniSnapshotWriter *w, const CniModel *model) {
  if (model->geometry_ids.slot_count == 0) return; // ids that were given once are remembered
  cni_snapshot_put_ids(w, &model->geometry_ids);
  cni_snapshot_put_count(w, model->geometry_count);
  for (int32_t i = 0; i < model->geometry_count; i++)
    (model->geometries[i]->mesh ? write_mesh : write_hull)(w, model->geometries[i]);
}

static void write_curves(CniSnapshotWriter *w, const CniModel *model) {
  if (model->curve_ids.slot_count == 0) return;
  cni_snapshot_put_ids(w, &model->curve_ids);
  cni_snapshot_put_count(w, model->curve_count);
  for (int32_t i = 0; i < model->curve_count; i++) {
    CniCurve *curve = model->curves[i];
    cni_snapshot_put(w, CNI_RECORD_CURVE, curve);
    for (int32_t k = 0; k < 3 * curve->def.point_count; k++)
      cni_stream_double(&w->s, &curve->points[k]);
  }
}

static void write_functions(CniSnapshotWriter *w, const CniModel *model) {
  if (model->function_ids.slot_count == 0) return;
  cni_snapshot_put_ids(w, &model->function_ids);
  cni_snapshot_put_count(w, model->function_count);
  for (int32_t i = 0; i < model->function_count; i++) {
    CniFunction f = model->functions[i];
    cni_snapshot_put(w, CNI_RECORD_FUNCTION, &f);
    for (int32_t k = 0; k < 2 * f.def.point_count; k++) cni_stream_double(&w->s, &f.points[k]);
  }
}

static void write_disabled(CniSnapshotWriter *w, const CniModel *model) {
  if (model->disabled_count == 0) return;
  cni_snapshot_put_count(w, model->disabled_count);
  for (int32_t i = 0; i < model->disabled_count; i++)
    cni_snapshot_put(w, CNI_RECORD_DISABLED, &model->disabled[i]);
}

static void write_laws(CniSnapshotWriter *w, const CniModel *model) {
  if (model->law_count == 0) return;
  cni_snapshot_put_count(w, model->law_count);
  for (int32_t i = 0; i < model->law_count; i++)
    cni_snapshot_put(w, CNI_RECORD_LAW, &model->laws[i]);
}

static void write_notes(CniSnapshotWriter *w, const CniModel *model) {
  if (model->note_count == 0) return;
  cni_snapshot_put_count(w, model->note_count);
  for (int32_t i = 0; i < model->note_count; i++)
    cni_snapshot_put(w, CNI_RECORD_NOTE, &model->notes[i]);
}

static void write_motions(CniSnapshotWriter *w, const CniModel *model) {
  if (model->motion_count == 0) return;
  cni_snapshot_put_count(w, model->motion_count);
  for (int32_t i = 0; i < model->motion_count; i++)
    cni_snapshot_put(w, CNI_RECORD_MOTION, &model->motions[i]);
}

static void write_couplings(CniSnapshotWriter *w, const CniModel *model) {
  if (model->coupling_ids.slot_count == 0) return;
  cni_snapshot_put_ids(w, &model->coupling_ids);
  cni_snapshot_put_count(w, model->coupling_count);
  for (int32_t i = 0; i < model->coupling_count; i++) {
    CniCoupling c = model->couplings[i];
    cni_snapshot_put(w, CNI_RECORD_COUPLING, &c);
    for (int32_t k = 0; k < c.def.term_count; k++)
      cni_snapshot_put(w, CNI_RECORD_TERM, &c.def.terms[k]);
  }
}

static void write_forces(CniSnapshotWriter *w, const CniModel *model) {
  cni_snapshot_put_ids(w, &model->force_ids);
  cni_snapshot_put_count(w, model->force_count);
  for (int32_t i = 0; i < model->force_count; i++) {
    cni_snapshot_put(w, CNI_RECORD_FORCE, &model->forces[i]);
    cni_snapshot_put(w, CNI_RECORD_FORCE_KIND + (int32_t)model->forces[i].def.kind,
                     &model->forces[i]);
  }
}

void cni_snapshot_put_before(CniSnapshotWriter *w, const CniModel *model) {
  write_geometries(w, model);
  write_curves(w, model);
  write_functions(w, model);
}

void cni_snapshot_put_after(CniSnapshotWriter *w, const CniModel *model) {
  write_motions(w, model);
  write_disabled(w, model);
  write_couplings(w, model);
  write_forces(w, model);
  write_notes(w, model);
  write_laws(w, model);
}

// ---- reading ----

// Counts are held against what a hull can have before anything is read; the hull believes no list.
static CnStatus read_hull(CniSnapshotReader *r, const CniModel *model,
                          const CniGeometryRecord *record, CniHull **hull) {
  CnVec3 vertices[CNI_HULL_VERTICES];
  int32_t counts[CNI_HULL_FACES], corners[CNI_HULL_CORNERS], used = 0;
  int32_t vertex_count = record->vertex_count, face_count = record->face_count;
  if (vertex_count < 0 || vertex_count > CNI_HULL_VERTICES || face_count < 0 ||
      face_count > CNI_HULL_FACES)
    return cni_bad_data("snapshot: a geometry has %d vertices and %d faces", (int)vertex_count,
                        (int)face_count);
  for (int32_t i = 0; i < vertex_count; i++) cni_stream_vec3(&r->s, &vertices[i]);
  for (int32_t f = 0; f < face_count; f++) {
    cni_stream_i32(&r->s, &counts[f]);
    if (r->s.failed || counts[f] < 0 || counts[f] > CNI_HULL_CORNERS - used)
      return cni_snapshot_ended();
    for (int32_t k = 0; k < counts[f]; k++) cni_stream_i32(&r->s, &corners[used++]);
  }
  if (r->s.failed) return cni_snapshot_ended();
  return cni_hull_build(&model->allocator, "snapshot: geometry", vertex_count, vertices, face_count,
                        counts, corners, hull);
}

// A snapshot has no less than 12 bytes a triangle and 24 a vertex.
static CnStatus read_mesh(CniSnapshotReader *r, const CniModel *model,
                          const CniGeometryRecord *record, CniMesh **mesh) {
  size_t left = (r->s.size - r->s.at) / 4, n = (size_t)record->triangle_count;
  if (record->vertex_count < 0 || record->triangle_count < 0 || n > left / 3 ||
      (size_t)record->vertex_count > left / 6)
    return cni_snapshot_ended();
  CniArena arena;
  cni_arena_init(&arena, &model->allocator);
  CnMeshDef def = cn_mesh_def_default();
  CnVec3 *vertices;
  int32_t *corners;
  CnStatus status = CNI_TAKE(&arena, record->vertex_count, vertices);
  if (status == CN_OK) status = CNI_TAKE(&arena, 3 * n, corners);
  if (status == CN_OK) {
    for (int32_t i = 0; i < record->vertex_count; i++) cni_stream_vec3(&r->s, &vertices[i]);
    for (size_t i = 0; i < 3 * n; i++) cni_stream_i32(&r->s, &corners[i]);
    def.vertices = vertices;
    def.triangles = corners;
    def.vertex_count = record->vertex_count;
    def.triangle_count = record->triangle_count;
    def.two_sided = record->two_sided;
    def.thickness = record->thickness;
    status = r->s.failed ? cni_snapshot_ended()
                         : cni_mesh_create(&model->allocator, model->tasks, "snapshot: geometry",
                                           &def, mesh);
    if (status == CN_INVALID_ARGUMENT) status = CN_INVALID_DATA;
  }
  cni_arena_release(&arena);
  return status;
}

static CnStatus read_heights(CniSnapshotReader *r, const CniModel *model,
                             const CniGeometryRecord *record, CniMesh **mesh) {
  size_t left = (r->s.size - r->s.at) / 8;
  if (record->x_count < 0 || record->y_count < 0 ||
      (record->x_count > 0 && (size_t)record->y_count > left / (size_t)record->x_count))
    return cni_snapshot_ended();
  CniArena arena;
  cni_arena_init(&arena, &model->allocator);
  size_t count = (size_t)record->x_count * (size_t)record->y_count;
  CnHeightsDef def = cn_heights_def_default();
  double *heights;
  CnStatus status = CNI_TAKE(&arena, count, heights);
  if (status == CN_OK) {
    for (size_t i = 0; i < count; i++) cni_stream_double(&r->s, &heights[i]);
    def.heights = heights;
    def.x_count = record->x_count;
    def.y_count = record->y_count;
    def.x_spacing = record->x_spacing;
    def.y_spacing = record->y_spacing;
    def.two_sided = record->two_sided;
    def.thickness = record->thickness;
    status = r->s.failed ? cni_snapshot_ended()
                         : cni_heights_create(&model->allocator, "snapshot: geometry", &def, mesh);
    if (status == CN_INVALID_ARGUMENT) status = CN_INVALID_DATA;
  }
  cni_arena_release(&arena);
  return status;
}

// Snapshots from before there were geometries have no word of them.
static CnStatus read_geometries(CniSnapshotReader *r, CniModel *model) {
  int32_t count;
  if (!r->layout.spans[CNI_RECORD_GEOMETRY].seen) return CN_OK;
  CNI_TRY(cni_snapshot_get_ids(r, &model->geometry_ids, &model->allocator));
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_GEOMETRY, &count));
  for (int32_t i = 0; i < count; i++) {
    CniGeometryRecord record = {0};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_GEOMETRY, &record));
    CniGeometry g = {.slot = record.slot, .generation = record.generation};
    memcpy(g.name, record.name, sizeof g.name);
    CNI_TRY(record.x_count          ? read_heights(r, model, &record, &g.mesh)
            : record.triangle_count ? read_mesh(r, model, &record, &g.mesh)
                                    : read_hull(r, model, &record, &g.hull));
    CnStatus status = cni_geometry_keep(model, &g);
    if (status != CN_OK) cni_geometry_release(model, &g);
    CNI_TRY(status);
  }
  return CN_OK;
}

// The generation of a function that is named by its slot; 0: there is none.
void cni_snapshot_name_function(const CniModel *model, CnFunctionId *id) {
  for (int32_t i = 0; i < model->function_count; i++)
    if (model->functions[i].slot == id->slot) id->generation = model->functions[i].generation;
}

// So many numbers that follow, in memory to be given back; a wrong count is found out first.
static CnStatus read_numbers(CniSnapshotReader *r, const CnAllocator *a, int64_t count,
                             double **numbers) {
  int64_t bytes = count * (int64_t)sizeof(double);
  *numbers = NULL;
  if (count < 0 || bytes > (int64_t)(r->s.size - r->s.at)) return cni_snapshot_ended();
  *numbers = cni_allocate(a, (size_t)(bytes > 0 ? bytes : 1));
  if (!*numbers) return cni_error_memory((size_t)bytes);
  for (int64_t k = 0; k < count; k++) cni_stream_double(&r->s, &(*numbers)[k]);
  return CN_OK;
}

static void release_numbers(const CnAllocator *a, int64_t count, double *numbers) {
  cni_release(a, numbers, count > 0 ? (size_t)count * sizeof *numbers : 1);
}

static CnStatus read_curves(CniSnapshotReader *r, CniModel *model) {
  const CnAllocator *a = &model->allocator;
  int32_t count;
  if (!r->layout.spans[CNI_RECORD_CURVE].seen) return CN_OK;
  CNI_TRY(cni_snapshot_get_ids(r, &model->curve_ids, a));
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_CURVE, &count));
  for (int32_t i = 0; i < count; i++) {
    CniCurve read = {.def = cn_curve_def_default(CN_CURVE_PATH)}, made;
    double *numbers;
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_CURVE, &read));
    int64_t points = read.def.point_count;
    CNI_TRY(read_numbers(r, a, 3 * points, &numbers));
    read.def.x = numbers;
    read.def.y = numbers + points;
    read.def.bulges = read.def.kind == CN_CURVE_PATH ? numbers + 2 * points : NULL;
    CnStatus status = cni_curve_make(a, &read.def, &made);
    release_numbers(a, 3 * points, numbers);
    if (status != CN_OK) return status == CN_NO_MEMORY ? status : cni_snapshot_illegal();
    made.slot = read.slot;
    made.generation = read.generation;
    memcpy(made.name, read.name, sizeof made.name);
    status = cni_curve_keep(model, &made);
    if (status != CN_OK) cni_curve_forget(a, &made);
    CNI_TRY(status);
  }
  return CN_OK;
}

static CnStatus read_functions(CniSnapshotReader *r, CniModel *model) {
  const CnAllocator *a = &model->allocator;
  int32_t count;
  if (!r->layout.spans[CNI_RECORD_FUNCTION].seen) return CN_OK;
  CNI_TRY(cni_snapshot_get_ids(r, &model->function_ids, a));
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_FUNCTION, &count));
  CNI_TRY(CNI_RESERVE(a, model->functions, model->function_capacity, 0, count));
  for (int32_t i = 0; i < count; i++) {
    CniFunction read = {.def = cn_function_def_default(CN_FUNCTION_CONSTANT)}, made;
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_FUNCTION, &read));
    double *numbers;
    int64_t points = read.def.point_count;
    CNI_TRY(read_numbers(r, a, 2 * points, &numbers));
    read.def.times = numbers;
    read.def.values = numbers + points;
    CnStatus status = cni_function_make(model, &read.def, &made);
    release_numbers(a, 2 * points, numbers);
    if (status != CN_OK) return status == CN_NO_MEMORY ? status : cni_snapshot_illegal();
    made.slot = read.slot;
    made.generation = read.generation;
    memcpy(made.name, read.name, sizeof made.name);
    model->functions[model->function_count++] = made;
  }
  return CN_OK;
}

static CnStatus read_couplings(CniSnapshotReader *r, CniModel *model) {
  const CnAllocator *a = &model->allocator;
  int32_t count;
  if (!r->layout.spans[CNI_RECORD_COUPLING].seen) return CN_OK;
  CNI_TRY(cni_snapshot_get_ids(r, &model->coupling_ids, a));
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_COUPLING, &count));
  CNI_TRY(CNI_RESERVE(a, model->couplings, model->coupling_capacity, 0, count));
  for (int32_t i = 0; i < count; i++) {
    CniCoupling *c = &model->couplings[i];
    *c = (CniCoupling){.def = cn_coupling_def_default()};
    c->def.take_offset = 0;
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_COUPLING, c));
    cni_snapshot_name_function(model, &c->def.function);
    if (c->def.term_count < 1 || c->def.term_count > CN_COUPLING_TERMS)
      return cni_snapshot_illegal();
    for (int32_t k = 0; k < c->def.term_count; k++)
      CNI_TRY(cni_snapshot_get(r, CNI_RECORD_TERM, &c->def.terms[k]));
  }
  model->coupling_count = count;
  return CN_OK;
}

static CnStatus read_disabled(CniSnapshotReader *r, CniModel *model) {
  int32_t count;
  if (!r->layout.spans[CNI_RECORD_DISABLED].seen) return CN_OK;
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_DISABLED, &count));
  CNI_TRY(CNI_RESERVE(&model->allocator, model->disabled, model->disabled_capacity, 0, count));
  for (int32_t i = 0; i < count; i++) {
    model->disabled[i] = (CniDisabled){0};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_DISABLED, &model->disabled[i]));
  }
  model->disabled_count = count;
  return CN_OK;
}

static CnStatus read_laws(CniSnapshotReader *r, CniModel *model) {
  int32_t count;
  if (!r->layout.spans[CNI_RECORD_LAW].seen) return CN_OK;
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_LAW, &count));
  CNI_TRY(CNI_RESERVE(&model->allocator, model->laws, model->law_capacity, 0, count));
  for (int32_t i = 0; i < count; i++) {
    model->laws[i] = (CniPairLaw){0};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_LAW, &model->laws[i]));
  }
  model->law_count = count;
  return CN_OK;
}

static CnStatus read_notes(CniSnapshotReader *r, CniModel *model) {
  int32_t count;
  if (!r->layout.spans[CNI_RECORD_NOTE].seen) return CN_OK;
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_NOTE, &count));
  CNI_TRY(CNI_RESERVE(&model->allocator, model->notes, model->note_capacity, 0, count));
  for (int32_t i = 0; i < count; i++) {
    model->notes[i] = (CniNote){0};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_NOTE, &model->notes[i]));
  }
  model->note_count = count;
  return CN_OK;
}

static CnStatus read_motions(CniSnapshotReader *r, CniModel *model) {
  int32_t count;
  if (!r->layout.spans[CNI_RECORD_MOTION].seen) return CN_OK;
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_MOTION, &count));
  CNI_TRY(CNI_RESERVE(&model->allocator, model->motions, model->motion_capacity, 0, count));
  for (int32_t i = 0; i < count; i++) {
    CniBodyMotion *motion = &model->motions[i];
    *motion = (CniBodyMotion){.def = cn_motion_def_default()};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_MOTION, motion));
    CnFunctionId *ids[] = {&motion->def.x, &motion->def.y, &motion->def.z, &motion->def.turn};
    for (int32_t k = 0; k < 4; k++) cni_snapshot_name_function(model, ids[k]);
  }
  model->motion_count = count;
  return CN_OK;
}

// The curves of a joint are named by their slots.
CnStatus cni_snapshot_name_curves(const CniModel *model, CniJoint *joint) {
  CnCurveId *ids[2] = {&joint->def.curve_a, &joint->def.curve_b};
  for (int32_t i = 0; i < model->curve_count; i++)
    for (int32_t k = 0; k < 2; k++)
      if (model->curves[i]->slot == ids[k]->slot) ids[k]->generation = model->curves[i]->generation;
  if (cni_joint_find_curves(model, joint) != CN_OK) return cni_snapshot_illegal();
  cni_joint_use_curves(joint, 1);
  return CN_OK;
}

// What a snapshot says nothing of is not there: 0.1 had no forces.
static CnStatus read_forces(CniSnapshotReader *r, CniModel *model) {
  int32_t count;
  if (!r->layout.spans[CNI_RECORD_FORCE].seen) return CN_OK;
  CNI_TRY(cni_snapshot_get_ids(r, &model->force_ids, &model->allocator));
  CNI_TRY(cni_snapshot_get_count(r, CNI_RECORD_FORCE, &count));
  CNI_TRY(CNI_RESERVE(&model->allocator, model->forces, model->force_capacity, 0, count));
  for (int32_t i = 0; i < count; i++) {
    CniForce *force = &model->forces[i];
    *force = (CniForce){.def = cn_force_def_default((CnForceKind)0)};
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_FORCE, force));
    CNI_TRY(cni_snapshot_get(r, CNI_RECORD_FORCE_KIND + (int32_t)force->def.kind, force));
    cni_snapshot_name_function(model, &force->def.rest_function);
  }
  model->force_count = count;
  return CN_OK;
}

CnStatus cni_snapshot_get_before(CniSnapshotReader *r, CniModel *model) {
  CNI_TRY(read_geometries(r, model));
  CNI_TRY(read_curves(r, model));
  return read_functions(r, model);
}

CnStatus cni_snapshot_get_after(CniSnapshotReader *r, CniModel *model) {
  CNI_TRY(read_motions(r, model));
  CNI_TRY(read_disabled(r, model));
  CNI_TRY(read_couplings(r, model));
  CNI_TRY(read_forces(r, model));
  CNI_TRY(read_notes(r, model));
  return read_laws(r, model);
}
