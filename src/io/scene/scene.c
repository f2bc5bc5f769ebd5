// SPDX-License-Identifier: Apache-2.0
// Scenes as a whole: from a name, a file or a text to evaluated numbers, and from there into a
// world.
//
// Reading goes once over the JSON, in the order parameters, settings, functions, materials, bodies,
// joints, forces, sensors (whatever their order in the file), because each part may use the ones
// before. Everything that can be wrong is found here; filling a world can only fail for want of memory.
#include <cairn/change.h>
#include <cairn/own_joint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/floats.h"
#include "io/io.h"
#include "io/robots/robot.h"
#include "io/live/scene_live.h"

#define LARGEST_FILE ((size_t)1 << 28)
#define TAG_OPTIONS 0x7470636fu

// ---- from text ----

// jansson says "PROBLEM near 'TOKEN'".
static CnStatus fail_syntax(CniReader *reader, const char *text, size_t size,
                            const json_error_t *error) {
  char problem[JSON_ERROR_TEXT_LENGTH] = "", pointer[200], label[128] = "";
  cni_line_add(problem, sizeof problem, error->text, strlen(error->text));
  size_t position = error->position > 0 ? (size_t)error->position : 0;
  cni_scene_syntax_pointer(text, position < size ? position : size, pointer, sizeof pointer);
  cni_line_add(label, sizeof label, reader->label, strlen(reader->label));
  const char *got = "the text";
  char *near = strstr(problem, " near ");
  if (near) {
    *near = 0;
    got = near + 6;
  }
  // the commonest slip, between two members or elements
  char *closes = strstr(problem, "' expected");
  const char *more = "";
  if (closes == problem + 2 && strchr("]}", problem[1])) {
    closes[1] = 0;
    more = " or a comma expected";
  }
  char *flag = strstr(problem, " without JSON_"); // nothing a user can change
  if (flag) *flag = 0;
  return cni_bad_data("%s: %s: line %d, column %d: %s%s (got %s)", label, pointer, error->line,
                      error->column, problem, more, got);
}

static CnStatus read_seed(CniReader *reader, json_t *root) {
  int64_t seed = 1;
  CNI_TRY(cni_scene_get_integer(reader, root, "seed", 0, 9e15, &seed));
  reader->scene->seed = (uint64_t)seed;
  reader->rng.state = (uint64_t)seed;
  return CN_OK;
}

static CnStatus read_root(CniReader *reader, json_t *root, const CnSetting *settings,
                          int32_t setting_count) {
  static const char *const keys[] = {
      "$schema",    "title",     "description",    "parameters", "seed",    "settings",
      "materials",  "bodies",    "joints",         "forces",     "sensors", "functions",
      "geometries", "couplings", "curves",         "parts",      "groups",  "disabled_pairs",
      "sources",    "sinks",     "material_pairs", NULL};
  CNI_TRY(cni_scene_keys(reader, root, keys));
  CNI_TRY(cni_scene_get_text(reader, root, "title", &reader->scene->title));
  CNI_TRY(cni_scene_get_text(reader, root, "description", &reader->scene->description));
  CNI_TRY(cni_scene_read_parameters(reader, root, settings, setting_count));
  CNI_TRY(read_seed(reader, root));
  CNI_TRY(cni_scene_read_settings(reader, root));
  CNI_TRY(cni_scene_read_functions(reader, root));
  CNI_TRY(cni_scene_read_materials(reader, root));
  CNI_TRY(cni_scene_read_laws(reader, root));
  CNI_TRY(cni_scene_read_curves(reader, root));
  CNI_TRY(cni_model_init(&reader->probe, &reader->scene->allocator));
  reader->probe_ready = 1;
  CNI_TRY(cni_scene_read_geometries(reader, root));
  CNI_TRY(cni_scene_read_groups(reader, root));
  CNI_TRY(cni_scene_read_parts(reader, root));
  CNI_TRY(cni_scene_read_bodies(reader, root));
  CNI_TRY(cni_scene_read_pairs(reader, root));
  CNI_TRY(cni_scene_read_joints(reader, root));
  CNI_TRY(cni_scene_read_couplings(reader, root));
  CNI_TRY(cni_scene_read_sources(reader, root));
  CNI_TRY(cni_scene_read_sensors(reader, root));
  return cni_scene_live_prepare(reader->scene);
}

static void release_reader(CniReader *reader) {
  const CnAllocator *a = &reader->scene->allocator;
  if (reader->probe_ready) cni_model_release(&reader->probe);
  cni_scene_release_included(reader);
  cni_name_release(&reader->parameter_names, a);
  cni_name_release(&reader->material_names, a);
  cni_name_release(&reader->geometry_names, a);
  cni_name_release(&reader->curve_names, a);
  cni_name_release(&reader->mesh_names, a);
  cni_name_release(&reader->part_names, a);
  CNI_RELEASE(a, reader->parts, reader->part_capacity);
  CNI_RELEASE(a, reader->part_shapes, reader->part_shape_capacity);
  cni_name_release(&reader->group_names, a);
  cni_name_release(&reader->body_names, a);
  cni_name_release(&reader->joint_names, a);
  cni_name_release(&reader->force_names, a);
  cni_name_release(&reader->function_names, a);
  cni_name_release(&reader->coupling_names, a);
  cni_name_release(&reader->source_names, a);
  cni_name_release(&reader->sink_names, a);
  cni_name_release(&reader->sensor_names, a);
}

static CnStatus read_text(CniReader *reader, const char *text, size_t size,
                          const CnSetting *settings, int32_t setting_count) {
  CnScene *scene = reader->scene;
  // the mark that some editors put before the text
  if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
    text += 3;
    size -= 3;
  }
  CNI_TRY(cni_scene_keep(scene, reader->label, &scene->name));
  scene->text = cni_text_keep(&scene->texts, &scene->allocator, text, size);
  if (!scene->text) return CN_NO_MEMORY;
  scene->text_size = size;
  json_error_t error;
  json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
  if (!root) return fail_syntax(reader, text, size, &error);
  CnStatus status = cni_scene_include_files(reader, root);
  reader->root = root;
  if (status == CN_OK) status = read_root(reader, root, settings, setting_count);
  json_decref(root);
  return status == CN_OK ? cni_scene_list_files(scene) : status;
}

// The reader is large: it lives in memory of the allocator, not on the stack.
static CnStatus read_scene(CnScene *scene, const char *text, size_t size, const char *label,
                           const CnSetting *settings, int32_t setting_count, int64_t item_limit) {
  CniReader *reader;
  CNI_TRY(cni_new(&scene->allocator, sizeof *reader, &reader));
  reader->scene = scene;
  reader->label = label;
  reader->item_limit = item_limit;
  CnStatus status = read_text(reader, text, size, settings, setting_count);
  release_reader(reader);
  cni_release(&scene->allocator, reader, sizeof *reader);
  return status;
}

CnStatus cni_scene_parse_limited(const char *text, size_t size, const char *label,
                                 const CnSetting *settings, int32_t setting_count,
                                 const CnAllocator *allocator, const CnSceneOptions *options,
                                 int64_t item_limit, CnScene **scene) {
  CnAllocator own = allocator ? *allocator : cn_allocator_default();
  CnScene *made = cni_allocate(&own, sizeof *made);
  if (!made) return cni_error_memory(sizeof *made);
  *made = (CnScene){.allocator = own, .title = "", .description = ""};
  made->options = options ? *options : cn_scene_options_default();
  CnStatus status = read_scene(made, text, size, label, settings, setting_count, item_limit);
  if (status != CN_OK) {
    cn_scene_destroy(made);
    return status;
  }
  made->options = cn_scene_options_default(); // what was given is not ours to keep
  *scene = made;
  return CN_OK;
}

static CnStatus check_arguments(const char *call, const CnSetting *settings, int32_t setting_count,
                                CnScene **scene) {
  if (!scene) return cni_invalid("%s: the result pointer is null", call);
  *scene = NULL;
  if (setting_count < 0 || (setting_count > 0 && !settings))
    return cni_invalid("%s: %d settings at a null pointer", call, (int)setting_count);
  for (int32_t i = 0; i < setting_count; i++)
    if (!settings[i].key) return cni_invalid("%s: the key of setting %d is null", call, (int)i);
  return CN_OK;
}

// The file of a scene that was read, and the others of its robot.
static CnStatus note_inputs(CnScene **scene, const char *path, const CniInputs *others) {
  CnScene *made = *scene;
  CnStatus status = cni_inputs_note(&made->inputs, &made->allocator, path);
  if (status == CN_OK) status = cni_inputs_add(&made->inputs, &made->allocator, others);
  if (status == CN_OK) return CN_OK;
  *scene = NULL;
  cn_scene_destroy(made);
  return status;
}

CnStatus cn_scene_check_output(const CnScene *scene, const char *output) {
  if (!scene || !output)
    return cni_invalid("cn_scene_check_output: the %s is null", scene ? "output" : "scene");
  return cni_inputs_check(&scene->inputs, output);
}

CnStatus cn_scene_parse(const char *text, size_t size, const char *label, const CnSetting *settings,
                        int32_t setting_count, const CnAllocator *allocator, CnScene **scene) {
  CNI_FLOATS;
  CNI_TRY(check_arguments("cn_scene_parse", settings, setting_count, scene));
  if (!text && size > 0) return cni_invalid("cn_scene_parse: the text is null");
  CNI_TRY(cni_scene_parse_limited(text ? text : "", size, label ? label : "scene", settings,
                                  setting_count, allocator, NULL, CNI_SCENE_ITEMS, scene));
  return note_inputs(scene, label ? label : "scene", &(CniInputs){0});
}

void cn_scene_destroy(CnScene *scene) {
  if (!scene) return;
  CnAllocator a = scene->allocator;
  CNI_RELEASE(&a, scene->parameters, scene->parameter_capacity);
  CNI_RELEASE(&a, scene->materials, scene->material_capacity);
  cni_scene_release_heights(scene);
  CNI_RELEASE(&a, scene->geometries, scene->geometry_capacity);
  CNI_RELEASE(&a, scene->points, scene->point_capacity);
  CNI_RELEASE(&a, scene->corners, scene->corner_capacity);
  CNI_RELEASE(&a, scene->files, scene->file_capacity);
  cni_inputs_release(&scene->inputs, &a);
  CNI_RELEASE(&a, scene->bodies, scene->body_capacity);
  CNI_RELEASE(&a, scene->shapes, scene->shape_capacity);
  CNI_RELEASE(&a, scene->joints, scene->joint_capacity);
  CNI_RELEASE(&a, scene->forces, scene->force_capacity);
  for (int32_t i = 0; i < scene->function_count; i++)
    CNI_RELEASE(&a, scene->functions[i].points, 2 * scene->functions[i].def.point_count);
  CNI_RELEASE(&a, scene->functions, scene->function_capacity);
  cni_scene_release_curves(scene);
  CNI_RELEASE(&a, scene->couplings, scene->coupling_capacity);
  CNI_RELEASE(&a, scene->pairs, scene->pair_capacity);
  CNI_RELEASE(&a, scene->laws, scene->law_capacity);
  CNI_RELEASE(&a, scene->sources, scene->source_capacity);
  CNI_RELEASE(&a, scene->sinks, scene->sink_capacity);
  CNI_RELEASE(&a, scene->material_colors, scene->material_color_capacity);
  cni_scene_live_release(scene);
  CNI_RELEASE(&a, scene->sensors, scene->sensor_capacity);
  cni_text_release(&scene->texts, &a);
  cni_release(&a, scene, sizeof *scene);
}

// ---- from a name ----

// The whole of a file, size + 1 bytes.
static CnStatus read_file(FILE *file, const char *path, const CnAllocator *allocator, char **text,
                          size_t *size) {
  if (fseek(file, 0, SEEK_END) != 0) return cni_bad_data("%s: cannot be read", path);
  long length = ftell(file);
  if (length < 0 || (size_t)length > LARGEST_FILE)
    return cni_bad_data("%s: is no file of at most %zu bytes", path, LARGEST_FILE);
  rewind(file);
  char *memory = cni_allocate(allocator, (size_t)length + 1);
  if (!memory) return cni_error_memory((size_t)length + 1);
  if (fread(memory, 1, (size_t)length, file) != (size_t)length) {
    cni_release(allocator, memory, (size_t)length + 1);
    return cni_bad_data("%s: cannot be read: %s", path, strerror(errno));
  }
  *text = memory;
  *size = (size_t)length;
  return CN_OK;
}

static CnStatus fail_missing(const char *name, int reason) {
  CniNearestName nearest = cni_nearest(name, strlen(name));
  for (int32_t i = 0; i < cni_builtin_scene_count; i++)
    cni_nearest_offer(&nearest, cni_builtin_scenes[i].name);
  char hint[CNI_HINT_SIZE];
  cni_nearest_hint(&nearest, hint);
  int is_path = strchr(name, '/') != NULL || strchr(name, '.') != NULL;
  if (is_path) return cni_bad_data("%s: %s", name, strerror(reason));
  char file[CNI_NAME_SIZE + 8];
  FILE *there = NULL;
  if (snprintf(file, sizeof file, "%s.json", name) < (int)sizeof file) there = fopen(file, "rb");
  if (there) fclose(there);
  return there ? cni_bad_data("%s: neither a built-in scene nor a file, did you mean \"%s\"?", name,
                              file)
               : cni_bad_data("%s: neither a built-in scene nor a file%s", name, hint);
}

CnSceneOptions cn_scene_options_default(void) {
  return (CnSceneOptions){.size = sizeof(CnSceneOptions), .tag = TAG_OPTIONS};
}

CnStatus cn_scene_open(const char *name, const CnSetting *settings, int32_t setting_count,
                       const CnAllocator *allocator, CnScene **scene) {
  return cn_scene_open_with(name, NULL, settings, setting_count, allocator, scene);
}

CnStatus cn_scene_open_files(const char *name, const char *files, const CnSetting *settings,
                             int32_t setting_count, const CnAllocator *allocator, CnScene **scene) {
  CnSceneOptions options = cn_scene_options_default();
  options.files = files;
  return cn_scene_open_with(name, &options, settings, setting_count, allocator, scene);
}

CnStatus cn_scene_open_with(const char *name, const CnSceneOptions *options,
                            const CnSetting *settings, int32_t setting_count,
                            const CnAllocator *allocator, CnScene **scene) {
  CNI_FLOATS;
  CNI_TRY(check_arguments("cn_scene_open", settings, setting_count, scene));
  if (options) CNI_TRY(cni_def_check("scene options", options, sizeof *options, TAG_OPTIONS));
  if (!name) return cni_invalid("cn_scene_open: the name is null");
  for (int32_t i = 0; i < cni_builtin_scene_count; i++) {
    const CniBuiltinScene *b = &cni_builtin_scenes[i];
    if (strcmp(b->name, name) == 0)
      return cni_scene_parse_limited((const char *)b->text, b->size, name, settings, setting_count,
                                     allocator, options, CNI_SCENE_ITEMS, scene);
  }
  if (cni_no_file(name)) return cni_bad_data("%s: is no file", name);
  FILE *file = fopen(name, "rb");
  if (!file) return fail_missing(name, errno);
  CnAllocator own = allocator ? *allocator : cn_allocator_default();
  char *text = NULL;
  size_t size = 0;
  CnStatus status = read_file(file, name, &own, &text, &size);
  fclose(file);
  CNI_TRY(status);
  CniInputs files = {0};
  if (cni_robot_is(text, size)) {
    // the settings are for the robot, and used up in its scene
    CniRobotDef def = {name, "", CN_POSE_ONE, settings, setting_count, &files};
    char *robot = text;
    size_t length = size;
    status = cni_robot_text(&def, robot, length, &own, &text, &size);
    cni_release(&own, robot, length + 1);
    if (status != CN_OK) size = 0, text = NULL;
    setting_count = 0;
  }
  if (status == CN_OK)
    status = cni_scene_parse_limited(text, size, name, settings, setting_count, &own, options,
                                     CNI_SCENE_ITEMS, scene);
  if (status == CN_OK) status = note_inputs(scene, name, &files);
  if (text) cni_release(&own, text, size + 1);
  cni_inputs_release(&files, &own);
  return status;
}

// ---- questions ----

void cn_scene_info(const CnScene *scene, CnSceneInfo *info) {
  if (!info) return;
  *info = (CnSceneInfo){.name = "", .title = "", .description = "", .text = ""};
  if (!scene) return;
  *info = (CnSceneInfo){.name = scene->name,
                        .title = scene->title,
                        .description = scene->description,
                        .text = scene->text,
                        .text_size = scene->text_size,
                        .time = scene->settings.time,
                        .seed = scene->seed,
                        .parameter_count = scene->parameter_count,
                        .sensor_count = scene->sensor_count,
                        .body_count = scene->body_count,
                        .shape_count = scene->shape_count,
                        .material_count = scene->material_count,
                        .joint_count = scene->joint_count,
                        .force_count = scene->force_count};
}

CnJointKind cn_scene_joint_kind(const CnScene *scene, int32_t index) {
  int there = scene && index >= 0 && index < scene->joint_count;
  return there ? scene->joints[index].def.kind : CN_JOINT_KIND_NONE;
}

CnStatus cn_scene_body_color(const CnScene *scene, int32_t index, double color[4]) {
  if (!scene || !color)
    return cni_invalid("cn_scene_body_color: the %s is null", scene ? "result pointer" : "scene");
  for (int32_t i = 0; i < 4; i++) color[i] = -1;
  if (index < 0 || index >= scene->body_count)
    return cni_invalid("body %d is none: the scene has %d", (int)index, (int)scene->body_count);
  memcpy(color, scene->bodies[index].color, 4 * sizeof *color);
  return CN_OK;
}

CnStatus cn_scene_parameter(const CnScene *scene, int32_t index, CnSceneParameter *parameter) {
  if (!parameter) return cni_invalid("cn_scene_parameter: the result pointer is null");
  *parameter = (CnSceneParameter){.name = "", .summary = ""};
  if (!scene) return cni_invalid("cn_scene_parameter: the scene is null");
  if (index < 0 || index >= scene->parameter_count)
    return cni_invalid("parameter %d is none: the scene has %d", (int)index,
                       (int)scene->parameter_count);
  const CniSceneParameter *p = &scene->parameters[index];
  *parameter = (CnSceneParameter){.name = p->name,
                                  .summary = p->summary,
                                  .value = p->value,
                                  .default_value = p->default_value,
                                  .used = p->used,
                                  .derived = p->derived};
  return CN_OK;
}

// ---- into a world ----

typedef struct Filling {
  CnMaterialId *materials;
  CnGeometryId *geometries;
  CnBodyId *bodies;
  CnJointId *joints;
  CnForceId *forces;
  CnFunctionId *functions;
  CnCurveId *curves;
  CnCouplingId *couplings;
  int32_t curve_count, material_count, geometry_count, body_count, function_count; // created so far
} Filling;

static CnStatus reserve_ids(const CnScene *scene, CniArena *arena, Filling *f) {
  return CNI_LAY(arena, CNI_ARRAY(scene->material_count, f->materials),
                 CNI_ARRAY(scene->geometry_count, f->geometries),
                 CNI_ARRAY(scene->body_count, f->bodies), CNI_ARRAY(scene->joint_count, f->joints),
                 CNI_ARRAY(scene->force_count, f->forces), CNI_ARRAY(scene->curve_count, f->curves),
                 CNI_ARRAY(scene->coupling_count, f->couplings),
                 CNI_ARRAY(scene->function_count, f->functions));
}

static CnStatus fill_bodies(const CnScene *scene, CnWorld *world, Filling *f) {
  for (int32_t i = 0; i < scene->function_count; i++) {
    CNI_TRY(cn_function_create(world, &scene->functions[i].def, &f->functions[i]));
    f->function_count++;
  }
  for (int32_t i = 0; i < scene->curve_count; i++) {
    CNI_TRY(cn_curve_create(world, &scene->curves[i].def, &f->curves[i]));
    f->curve_count++;
  }
  for (int32_t i = 0; i < scene->material_count; i++) {
    CnMaterialDef def = scene->materials[i];
    if (def.surface_function.slot > 0)
      def.surface_function = f->functions[def.surface_function.slot - 1];
    CNI_TRY(cn_material_create(world, &def, &f->materials[i]));
    f->material_count++;
  }
  for (int32_t i = 0; i < scene->law_count; i++) {
    const CniSceneLaw *l = &scene->laws[i];
    CNI_TRY(cn_material_pair_set(world, f->materials[l->a], f->materials[l->b], &l->def));
  }
  for (int32_t i = 0; i < scene->geometry_count; i++) {
    const CniSceneGeometry *g = &scene->geometries[i];
    CnMeshDef mesh = cni_scene_mesh_def(scene, g);
    CnHeightsDef heights = cni_scene_heights_def(g);
    CNI_TRY(g->heights ? cn_geometry_create_heights(world, &heights, &f->geometries[i])
            : g->triangle_count
                ? cn_geometry_create_mesh(world, &mesh, &f->geometries[i])
                : cn_geometry_create_points(world, g->name, scene->points + g->first_point,
                                            g->point_count, &f->geometries[i]));
    f->geometry_count++;
  }
  for (int32_t i = 0; i < scene->body_count; i++) {
    const CniSceneBody *body = &scene->bodies[i];
    CNI_TRY(cn_body_create(world, &body->def, &f->bodies[i]));
    f->body_count++;
    CnMotionDef motion = body->motion;
    CnFunctionId *ids[] = {&motion.x, &motion.y, &motion.z, &motion.turn};
    for (int32_t k = 0; motion.size && k < 4; k++)
      if (ids[k]->slot > 0) *ids[k] = f->functions[ids[k]->slot - 1];
    if (motion.size) CNI_TRY(cn_body_set_motion(world, f->bodies[i], &motion));
    for (int32_t k = 0; k < body->shape_count; k++) {
      const CniSceneShape *shape = &scene->shapes[body->first_shape + k];
      CnShapeDef def = shape->def;
      CnShapeId id;
      if (shape->material >= 0) def.material = f->materials[shape->material];
      if (shape->geometry >= 0) def.geometry = f->geometries[shape->geometry];
      CNI_TRY(cn_shape_create(world, f->bodies[i], &def, &id));
    }
  }
  for (int32_t i = 0; i < scene->pair_count; i++)
    CNI_TRY(cn_pair_disable(world, f->bodies[scene->pairs[i].a], f->bodies[scene->pairs[i].b]));
  return CN_OK;
}

static CnStatus fill_joints(const CnScene *scene, CnWorld *world, const Filling *f) {
  for (int32_t i = 0; i < scene->joint_count; i++) {
    const CniSceneJoint *joint = &scene->joints[i];
    CnJointDef def = joint->def;
    if (joint->body_a >= 0) def.body_a = f->bodies[joint->body_a];
    if (joint->body_b >= 0) def.body_b = f->bodies[joint->body_b];
    for (int32_t k = 0; k < CN_JOINT_AXES; k++) {
      CnFunctionId *function = &def.axes[k].motor_function;
      if (function->slot > 0) *function = f->functions[function->slot - 1];
    }
    if (def.curve_a.slot > 0) def.curve_a = f->curves[def.curve_a.slot - 1];
    if (def.curve_b.slot > 0) def.curve_b = f->curves[def.curve_b.slot - 1];
    CNI_TRY(cn_joint_create(world, &def, &f->joints[i]));
  }
  for (int32_t i = 0; i < scene->coupling_count; i++) {
    CnCouplingDef def = scene->couplings[i].def;
    for (int32_t k = 0; k < def.term_count; k++)
      def.terms[k].joint = f->joints[def.terms[k].joint.slot - 1];
    if (def.function.slot > 0) def.function = f->functions[def.function.slot - 1];
    CNI_TRY(cn_coupling_create(world, &def, &f->couplings[i]));
  }
  for (int32_t i = 0; i < scene->force_count; i++) {
    const CniSceneForce *force = &scene->forces[i];
    CnForceDef def = force->def;
    if (force->body_a >= 0) def.body_a = f->bodies[force->body_a];
    if (force->body_b >= 0) def.body_b = f->bodies[force->body_b];
    if (def.rest_function.slot > 0) def.rest_function = f->functions[def.rest_function.slot - 1];
    CNI_TRY(cn_force_create(world, &def, &f->forces[i]));
  }
  return CN_OK;
}

static void note_ids(CnScene *scene, const Filling *f) {
  for (int32_t i = 0; i < scene->sensor_count; i++) {
    CniSceneSensor *s = &scene->sensors[i];
    if (s->body_a >= 0) s->body_a_id = f->bodies[s->body_a];
    if (s->body_b >= 0) s->body_b_id = f->bodies[s->body_b];
    if (s->joint >= 0) s->joint_id = f->joints[s->joint];
    if (s->force >= 0) s->force_id = f->forces[s->force];
    if (s->coupling >= 0) s->coupling_id = f->couplings[s->coupling];
  }
  if (scene->body_ids)
    memcpy(scene->body_ids, f->bodies, (size_t)scene->body_count * sizeof *f->bodies);
}

// The last first, so that the next filling gets the slots in the same order. Bodies take their
// shapes, joints and forces with them.
static void empty_world(CnWorld *world, const Filling *f) {
  for (int32_t i = f->body_count; i-- > 0;) cn_body_destroy(world, f->bodies[i]);
  for (int32_t i = f->geometry_count; i-- > 0;) cn_geometry_destroy(world, f->geometries[i]);
  for (int32_t i = f->material_count; i-- > 0;) cn_material_destroy(world, f->materials[i]);
  for (int32_t i = f->curve_count; i-- > 0;) cn_curve_destroy(world, f->curves[i]);
  for (int32_t i = f->function_count; i-- > 0;) cn_function_destroy(world, f->functions[i]);
}

CnStatus cn_scene_fill(CnScene *scene, CnWorld *world) {
  CNI_FLOATS;
  if (!scene || !world)
    return cni_invalid("cn_scene_fill: the %s is null", scene ? "world" : "scene");
  CnWorldInfo info;
  cn_world_info(world, &info);
  if (info.body_count > 0 || info.joint_count > 0)
    return cni_invalid("cn_scene_fill: the world is not empty (%d bodies)", (int)info.body_count);
  Filling f = {0};
  CniArena arena;
  cni_arena_init(&arena, &scene->allocator);
  CnStatus status = reserve_ids(scene, &arena, &f);
  if (status == CN_OK) status = fill_bodies(scene, world, &f);
  if (status == CN_OK) status = fill_joints(scene, world, &f);
  if (status == CN_OK) {
    note_ids(scene, &f);
    status = cni_scene_live_begin(scene, world);
  }
  if (status != CN_OK) empty_world(world, &f);
  cni_arena_release(&arena);
  return status;
}
