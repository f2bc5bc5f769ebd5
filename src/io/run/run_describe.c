// SPDX-License-Identifier: Apache-2.0
// What a run file says of the run before its first step: scene, parameters, settings, bodies,
// shapes, joints, forces. With the frames it is all that a report needs.
#include <stdio.h>
#include <string.h>

#include "io/run/run_private.h"
#include "world/world.h"

// ---- numbers in the file for ids of the world ----

static CnBodyId next_body(const CnWorld *world, CnBodyId id) {
  return cn_world_next_body(world, id);
}

// Slots are 1-based: an array of largest + 1 holds them all.
static void largest_slots(CniRunWriter *w, const CnWorld *world) {
  for (CnBodyId b = next_body(world, (CnBodyId){0}); b.slot; b = next_body(world, b)) {
    if ((int32_t)b.slot >= w->body_slots) w->body_slots = (int32_t)b.slot + 1;
    CnShapeId s;
    for (int32_t k = 0; (s = cn_body_shape(world, b, k)).slot; k++, w->shape_count++)
      if ((int32_t)s.slot >= w->shape_slots) w->shape_slots = (int32_t)s.slot + 1;
  }
}

static void *take(CniRunWriter *w, int64_t count, size_t size, CnStatus *status) {
  size_t bytes = (size_t)count * size;
  void *memory = cni_allocate(&w->allocator, bytes);
  if (bytes > 0 && !memory) *status = cni_error_memory(bytes);
  if (memory) memset(memory, 0xff, bytes); // -1 in every index
  return memory;
}

CnStatus cni_run_number(CniRunWriter *w, const CnWorld *world) {
  CnStatus status = CN_OK;
  CnWorldInfo info;
  cn_world_info(world, &info);
  w->sizes.body_count = info.body_count;
  w->sizes.joint_count = info.joint_count;
  largest_slots(w, world);
  w->bodies = take(w, info.body_count, sizeof *w->bodies, &status);
  w->joints = take(w, info.joint_count, sizeof *w->joints, &status);
  for (CnCouplingId c = cn_world_next_coupling(world, (CnCouplingId){0}); c.slot;
       c = cn_world_next_coupling(world, c))
    w->sizes.coupling_count++;
  w->couplings = take(w, w->sizes.coupling_count, sizeof *w->couplings, &status);
  w->body_of_slot = take(w, w->body_slots, sizeof(int32_t), &status);
  w->shape_of_slot = take(w, w->shape_slots, sizeof(int32_t), &status);
  w->sensor_values = take(w, w->sizes.sensor_count, sizeof(double), &status);
  CNI_TRY(status);
  int32_t body = 0, shape = 0, joint = 0, coupling = 0;
  for (CnCouplingId c = cn_world_next_coupling(world, (CnCouplingId){0}); c.slot;
       c = cn_world_next_coupling(world, c))
    w->couplings[coupling++] = c;
  for (CnBodyId b = next_body(world, (CnBodyId){0}); b.slot; b = next_body(world, b)) {
    w->bodies[body] = b;
    w->body_of_slot[b.slot] = body++;
    CnShapeId s;
    for (int32_t k = 0; (s = cn_body_shape(world, b, k)).slot; k++)
      w->shape_of_slot[s.slot] = shape++;
  }
  for (CnJointId j = cn_world_next_joint(world, (CnJointId){0}); j.slot;
       j = cn_world_next_joint(world, j)) {
    CnJointDef def;
    CNI_TRY(cn_joint_def(world, j, &def));
    w->sizes.coordinate_count += cni_joint_coordinate_count(def.kind);
    w->joints[joint++] = j;
  }
  return CN_OK;
}

// ---- tables: an array of structs, column by column ----

enum { TEXT = -1 };

// What of the structs becomes which dataset; a text is a pointer.
typedef struct Column {
  const char *path;
  int32_t number, components; // a CniNumber or TEXT; 0 components: one number
  size_t offset;
} Column;

typedef struct Texts {
  const char *rows;
  size_t row_size, offset;
} Texts;

static const char *text_of(const void *context, int64_t i) {
  const Texts *t = context;
  const char *text;
  memcpy(&text, t->rows + (size_t)i * t->row_size + t->offset, sizeof text);
  return text ? text : "";
}

static void put_table(CniRunWriter *w, CniHdf *hdf, const Column *columns, int64_t count,
                      const void *rows, size_t row_size) {
  for (const Column *c = columns; c->path; c++) {
    Texts texts = {rows, row_size, c->offset};
    if (c->number == TEXT) {
      cni_hdf_texts(hdf, &w->allocator, c->path, count, text_of, &texts);
      continue;
    }
    size_t one = cni_number_size((CniNumber)c->number);
    if (c->components) one *= (size_t)c->components;
    size_t bytes = one * (size_t)count;
    char *values = cni_allocate(&w->allocator, bytes);
    if (bytes > 0 && !values && !hdf->no_memory) hdf->failed = 1, hdf->no_memory = bytes;
    for (int64_t i = 0; values && i < count; i++)
      memcpy(values + (size_t)i * one, texts.rows + (size_t)i * row_size + c->offset, one);
    cni_hdf_table(hdf, c->path, (CniNumber)c->number, count, c->components, values);
    cni_release(&w->allocator, values, bytes);
  }
}

// ---- scene and settings ----

static CnStatus put_scene(CniRunWriter *w, CniArena *arena, CniHdf *hdf) {
  static const Column parameter_columns[] = {
      {"/parameters/name", TEXT, 0, offsetof(CnSceneParameter, name)},
      {"/parameters/value", CNI_DOUBLE, 0, offsetof(CnSceneParameter, value)},
      {0}};
  static const Column sensor_columns[] = {{"/sensors/name", TEXT, 0, offsetof(CnSensorInfo, name)},
                                          {"/sensors/unit", TEXT, 0, offsetof(CnSensorInfo, unit)},
                                          {0}};
  CnSceneInfo info;
  CnSceneParameter *parameters;
  CnSensorInfo *sensors;
  cn_scene_info(w->scene, &info);
  cni_hdf_group(hdf, "/scene");
  cni_hdf_attribute_text(hdf, "/scene", "name", info.name);
  cni_hdf_attribute_text(hdf, "/scene", "title", info.title);
  cni_hdf_text(hdf, "/scene/text", info.text, info.text_size);
  const char *files = w->scene ? cni_scene_files(w->scene) : "";
  if (files[0]) cni_hdf_text(hdf, "/scene/files", files, strlen(files));
  cni_hdf_attribute_integer(hdf, "/scene", "seed", (int64_t)info.seed);
  int32_t n = info.parameter_count, m = info.sensor_count;
  CNI_TRY(CNI_LAY(arena, CNI_ARRAY(n, parameters), CNI_ARRAY(m, sensors)));
  for (int32_t i = 0; i < n; i++) cn_scene_parameter(w->scene, i, &parameters[i]);
  for (int32_t i = 0; i < m; i++) cn_scene_sensor(w->scene, i, &sensors[i]);
  cni_hdf_group(hdf, "/parameters");
  put_table(w, hdf, parameter_columns, n, parameters, sizeof *parameters);
  cni_hdf_group(hdf, "/sensors");
  put_table(w, hdf, sensor_columns, m, sensors, sizeof *sensors);
  return CN_OK;
}

static void put_field(CniHdf *hdf, const char *at, const char *name, const CniField *field,
                      const void *value) {
  int32_t integer = 0;
  const char *word = NULL;
  if (field->type == CNI_FIELD_WORD)
    memcpy(&word, value, sizeof word);
  else if (cni_field_doubles(field) == 0)
    memcpy(&integer, value, sizeof integer);
  if (field->type == CNI_FIELD_CHOICE && !(field->where & CNI_NUMBER_IN_RUN))
    word = cni_field_word(field, integer);
  if (word)
    cni_hdf_attribute_text(hdf, at, name, word);
  else if (cni_field_doubles(field) == 1)
    cni_hdf_attribute_number(hdf, at, name, *(const double *)value);
  else if (cni_field_doubles(field) > 1)
    cni_hdf_attribute_numbers(hdf, at, name, value, cni_field_doubles(field));
  else
    cni_hdf_attribute_integer(hdf, at, name, integer);
}

static void put_settings(const CnWorld *world, double frames_per_second, CniHdf *hdf) {
  const char *at = "/settings";
  CnWorldDef def;
  cn_world_settings(world, &def);
  cni_hdf_group(hdf, at);
  cni_hdf_attribute_text(hdf, at, "solver", def.solver.name);
  for (const CniSettingsPart *p = cni_settings_parts; p < cni_settings_parts + CNI_SETTINGS_PARTS;
       p++) {
    for (const CniField *f = p->fields; f->name; f++) {
      char name[64];
      if (f->where & CNI_NOT_IN_RUN) continue;
      snprintf(name, sizeof name, "%s%s", p->run_prefix, cni_field_file_name(f));
      put_field(hdf, at, name, f, cni_field_of(f, (const char *)&def + p->base));
    }
  }
  cni_hdf_attribute_number(hdf, at, "frames_per_second", frames_per_second);
}

// ---- bodies ----

// The ball about the origin of the body frame that holds all shapes that are bounded.
static double radius_of(const CnWorld *world, CnBodyId body) {
  double radius = 0;
  CnShapeId s;
  for (int32_t k = 0; (s = cn_body_shape(world, body, k)).slot; k++) {
    CnShapeDef def;
    if (cn_shape_def(world, s, &def) != CN_OK || cni_shape_unbounded(def.kind)) continue;
    CniPlaced placed = cni_shape_placed(&def);
    cni_world_form(world, def.geometry, &placed);
    radius = fmax(radius, cn_norm(def.pose.position) + cni_shape_outradius(&placed));
  }
  return radius;
}

static CnStatus put_bodies(CniRunWriter *w, CnWorld *world, CniArena *arena, CniHdf *hdf) {
  typedef struct Row {
    int32_t index; // 0, 1, 2, ...: the list of points that XDMF asks for
    uint8_t kind;
    double radius, color[4];
    CnBodyInfo info;
  } Row;
  static const Column columns[] = {
      {"/bodies/name", TEXT, 0, offsetof(Row, info.name)},
      {"/bodies/index", CNI_INT32, 0, offsetof(Row, index)},
      {"/bodies/kind", CNI_UINT8, 0, offsetof(Row, kind)},
      {"/bodies/mass", CNI_DOUBLE, 0, offsetof(Row, info.mass)},
      {"/bodies/radius", CNI_DOUBLE, 0, offsetof(Row, radius)},
      {"/bodies/inertia", CNI_DOUBLE, 3, offsetof(Row, info.inertia)},
      {"/bodies/com_position", CNI_DOUBLE, 3, offsetof(Row, info.com.position)},
      {"/bodies/com_rotation", CNI_DOUBLE, 4, offsetof(Row, info.com.rotation)},
      {0}};
  static const Column colors[] = {{CNI_RUN_COLORS, CNI_DOUBLE, 4, offsetof(Row, color)}, {0}};
  Row *rows;
  int32_t n = w->sizes.body_count, colored = 0;
  CNI_TRY(cni_arena_array(arena, n, sizeof *rows, &rows));
  for (int32_t i = 0; i < n; i++) {
    cn_body_info(world, w->bodies[i], &rows[i].info);
    cni_scene_source_body(w->scene, i, &rows[i].info);
    for (int32_t c = 0; c < 4; c++) rows[i].color[c] = -1;
    if (w->scene && cn_scene_body_color(w->scene, i, rows[i].color) == CN_OK)
      colored |= rows[i].color[0] >= 0 || rows[i].color[3] >= 0;
    rows[i].index = i;
    rows[i].kind = (uint8_t)rows[i].info.kind;
    rows[i].radius = radius_of(world, w->bodies[i]);
  }
  cni_hdf_group(hdf, "/bodies");
  put_table(w, hdf, columns, n, rows, sizeof *rows);
  if (colored) put_table(w, hdf, colors, n, rows, sizeof *rows);
  return CN_OK;
}

// ---- shapes, joints, forces ----

static CnStatus put_shapes(CniRunWriter *w, CnWorld *world, CniArena *arena, CniHdf *hdf) {
  typedef struct Row {
    int32_t body;
    uint8_t kind;
  } Row;
  static const Column columns[] = {{"/shapes/body", CNI_INT32, 0, offsetof(Row, body)},
                                   {"/shapes/kind", CNI_UINT8, 0, offsetof(Row, kind)},
                                   {0}};
  static const Column poses[] = {
      {"/shapes/position", CNI_DOUBLE, 3, offsetof(CnShapeDef, pose.position)},
      {"/shapes/rotation", CNI_DOUBLE, 4, offsetof(CnShapeDef, pose.rotation)},
      {0}};
  Row *rows;
  CnShapeDef *defs;
  int32_t n = 0;
  CNI_TRY(CNI_LAY(arena, CNI_ARRAY(w->shape_count, rows), CNI_ARRAY(w->shape_count, defs)));
  for (int32_t b = 0; b < w->sizes.body_count; b++) {
    CnShapeId s;
    for (int32_t k = 0; (s = cn_body_shape(world, w->bodies[b], k)).slot; k++, n++) {
      cn_shape_def(world, s, &defs[n]);
      rows[n] = (Row){b, (uint8_t)defs[n].kind};
    }
  }
  cni_hdf_group(hdf, "/shapes");
  put_table(w, hdf, columns, n, rows, sizeof *rows);
  put_table(w, hdf, poses, n, defs, sizeof *defs);
  // sizes that some kind has, zeros where a shape's kind has them not
  const CniField *field;
  for (int32_t i = 0; (field = cni_shape_field(i)); i++) {
    char path[64];
    snprintf(path, sizeof path, "/shapes/%s", field->name);
    Column sizes[] = {{path, CNI_DOUBLE, field->type == CNI_FIELD_VEC3 ? 3 : 0, field->offset},
                      {0}};
    put_table(w, hdf, sizes, n, defs, sizeof *defs);
  }
  CNI_TRY(cni_run_put_materials(w, world, defs, arena, hdf));
  return cni_run_put_geometries(w, world, defs, hdf);
}

int32_t cni_run_body_index(const CniRunWriter *w, CnBodyId id) {
  return id.slot && (int32_t)id.slot < w->body_slots ? w->body_of_slot[id.slot] : -1;
}

int32_t cni_run_shape_index(const CniRunWriter *w, CnShapeId id) {
  return id.slot && (int64_t)id.slot < w->shape_slots ? w->shape_of_slot[id.slot] : -1;
}

static CnStatus put_joints(CniRunWriter *w, CnWorld *world, CniArena *arena, CniHdf *hdf) {
  typedef struct Row {
    uint8_t kind;
    const char *kind_name;
    int32_t body_a, body_b;
    int32_t drive; // first coordinate that has a motor, -1: none
    CnJointDef def;
  } Row;
  static const Column columns[] = {{"/joints/name", TEXT, 0, offsetof(Row, def.name)},
                                   {"/joints/kind", CNI_UINT8, 0, offsetof(Row, kind)},
                                   {"/joints/kind_name", TEXT, 0, offsetof(Row, kind_name)},
                                   {"/joints/body_a", CNI_INT32, 0, offsetof(Row, body_a)},
                                   {"/joints/body_b", CNI_INT32, 0, offsetof(Row, body_b)},
                                   {"/joints/drive", CNI_INT32, 0, offsetof(Row, drive)},
                                   {"/joints/frame_a", CNI_DOUBLE, 7, offsetof(Row, def.frame_a)},
                                   {"/joints/frame_b", CNI_DOUBLE, 7, offsetof(Row, def.frame_b)},
                                   {0}};
  // of the coordinates: to which joint each belongs
  typedef struct Coordinate {
    int32_t joint;
    const char *name, *unit;
  } Coordinate;
  static const Column coordinate_columns[] = {
      {"/joints/coordinate_joint", CNI_INT32, 0, offsetof(Coordinate, joint)},
      {"/joints/coordinate_name", TEXT, 0, offsetof(Coordinate, name)},
      {"/joints/coordinate_unit", TEXT, 0, offsetof(Coordinate, unit)},
      {0}};
  Row *rows;
  Coordinate *coordinates;
  int32_t n = w->sizes.joint_count, k = 0;
  CNI_TRY(cni_arena_array(arena, n, sizeof *rows, &rows));
  CNI_TRY(cni_arena_array(arena, w->sizes.coordinate_count, sizeof *coordinates, &coordinates));
  for (int32_t i = 0; i < n; i++) {
    CnJointDef *def = &rows[i].def;
    cn_joint_def(world, w->joints[i], def);
    rows[i].kind = (uint8_t)def->kind;
    rows[i].kind_name = cn_joint_kind_name(def->kind);
    rows[i].drive = cni_run_drive_of(def, cni_joint_coordinate_count(def->kind));
    rows[i].body_a = cni_run_body_index(w, def->body_a);
    rows[i].body_b = cni_run_body_index(w, def->body_b);
    for (int32_t x = 0; x < cni_joint_coordinate_count(def->kind); x++)
      coordinates[k++] = (Coordinate){i, cn_joint_coordinate_name(def->kind, x),
                                      cn_joint_coordinate_unit(def->kind, x)};
  }
  cni_hdf_group(hdf, "/joints");
  put_table(w, hdf, columns, n, rows, sizeof *rows);
  put_table(w, hdf, coordinate_columns, k, coordinates, sizeof *coordinates);
  return CN_OK;
}

// Their names, and the terms of all: coefficient times coordinate.
static CnStatus put_couplings(CniRunWriter *w, CnWorld *world, CniArena *arena, CniHdf *hdf) {
  typedef struct Term {
    int32_t coupling, joint, coordinate;
    double coefficient;
  } Term;
  static const Column columns[] = {{"/couplings/name", TEXT, 0, offsetof(CnCouplingDef, name)},
                                   {0}};
  static const Column term_columns[] = {
      {"/couplings/term_coupling", CNI_INT32, 0, offsetof(Term, coupling)},
      {"/couplings/term_joint", CNI_INT32, 0, offsetof(Term, joint)},
      {"/couplings/term_coordinate", CNI_INT32, 0, offsetof(Term, coordinate)},
      {"/couplings/term_coefficient", CNI_DOUBLE, 0, offsetof(Term, coefficient)},
      {0}};
  int32_t n = w->sizes.coupling_count, k = 0;
  CnCouplingDef *rows;
  Term *terms;
  if (n == 0) return CN_OK;
  CNI_TRY(CNI_LAY(arena, CNI_ARRAY(n, rows), CNI_ARRAY((int64_t)n * CN_COUPLING_TERMS, terms)));
  for (int32_t i = 0; i < n; i++) {
    cn_coupling_def(world, w->couplings[i], &rows[i]);
    for (int32_t t = 0; t < rows[i].term_count; t++) {
      const CnCouplingTerm *term = &rows[i].terms[t];
      int32_t joint = 0;
      while (w->joints[joint].slot != term->joint.slot) joint++;
      terms[k++] = (Term){i, joint, term->coordinate, term->coefficient};
    }
  }
  cni_hdf_group(hdf, "/couplings");
  put_table(w, hdf, columns, n, rows, sizeof *rows);
  put_table(w, hdf, term_columns, k, terms, sizeof *terms);
  return CN_OK;
}

static CnStatus put_forces(CniRunWriter *w, CnWorld *world, CniArena *arena, CniHdf *hdf) {
  typedef struct Row {
    const char *kind_name;
    int32_t body_a, body_b;
    CnForceDef def;
  } Row;
  static const Column columns[] = {{"/forces/name", TEXT, 0, offsetof(Row, def.name)},
                                   {"/forces/kind_name", TEXT, 0, offsetof(Row, kind_name)},
                                   {"/forces/body_a", CNI_INT32, 0, offsetof(Row, body_a)},
                                   {"/forces/body_b", CNI_INT32, 0, offsetof(Row, body_b)},
                                   {"/forces/frame_a", CNI_DOUBLE, 7, offsetof(Row, def.frame_a)},
                                   {"/forces/frame_b", CNI_DOUBLE, 7, offsetof(Row, def.frame_b)},
                                   {0}};
  Row *rows;
  CnWorldInfo info;
  int32_t n = 0;
  cn_world_info(world, &info);
  if (info.force_count == 0) return CN_OK;
  CNI_TRY(cni_arena_array(arena, info.force_count, sizeof *rows, &rows));
  for (CnForceId f = {0}; (f = cn_world_next_force(world, f)).slot; n++) {
    cn_force_def(world, f, &rows[n].def);
    rows[n].kind_name = cn_force_kind_name(rows[n].def.kind);
    rows[n].body_a = cni_run_body_index(w, rows[n].def.body_a);
    rows[n].body_b = cni_run_body_index(w, rows[n].def.body_b);
  }
  cni_hdf_group(hdf, "/forces");
  put_table(w, hdf, columns, n, rows, sizeof *rows);
  return CN_OK;
}

CnStatus cni_run_describe(CniRunWriter *w, const CniRunWriterDef *def, CnWorld *world,
                          CniHdf *hdf) {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  double hdf5[3] = {major, minor, release};
  cni_hdf_attribute_text(hdf, "/", "format", CNI_RUN_FORMAT);
  cni_hdf_attribute_integer(hdf, "/", "format_version", CNI_RUN_FORMAT_VERSION);
  cni_hdf_attribute_text(hdf, "/", "cairn_version", cn_version());
  cni_hdf_attribute_numbers(hdf, "/", "hdf5_version", hdf5, 3);
  cni_hdf_attribute_integer(hdf, "/", "first_step", w->first_step);
  cni_hdf_attribute_integer(hdf, "/", "contacts_recorded", w->sizes.record_contacts);
  cni_hdf_attribute_integer(hdf, "/", "joints_recorded", w->sizes.record_joints);
  CniArena arena;
  cni_arena_init(&arena, &w->allocator);
  CnStatus status = put_scene(w, &arena, hdf);
  put_settings(world, def->frames_per_second, hdf);
  if (status == CN_OK) status = put_bodies(w, world, &arena, hdf);
  if (status == CN_OK) status = put_shapes(w, world, &arena, hdf);
  if (status == CN_OK) status = put_joints(w, world, &arena, hdf);
  if (status == CN_OK) status = put_couplings(w, world, &arena, hdf);
  if (status == CN_OK) status = put_forces(w, world, &arena, hdf);
  cni_arena_release(&arena);
  return status;
}
