// SPDX-License-Identifier: Apache-2.0
// What the files of scenes share among themselves: the scene as kept (scene_data.h), and the reader that
// walks over the JSON with its place in the file, the names in sight, and the random state.
#ifndef CNI_IO_SCENE_PRIVATE_H
#define CNI_IO_SCENE_PRIVATE_H

#include <jansson.h>

#include "core/error.h"
#include "core/fields.h"
#include "core/rng.h"
#include "core/vec.h"
#include "io/scene/expression.h"
#include "io/scene/scene_data.h"
#include "io/tools/names.h"

// ---- the reader ----

#define CNI_SCENE_ITEMS 10000000 // bodies, joints, sensors and generators; shapes likewise
#define CNI_SCENE_INTEGER 1e9    // largest whole number of a field
#define CNI_SCENE_VARIABLES 64
#define CNI_SCENE_PATH 64
#define CNI_SCENE_NESTING 16 // generators inside each other
#define CNI_SCENE_GROUPS 31  // bits of a category but the first

// One step of a JSON pointer: a key, or an index where the key is null.
typedef struct CniPathStep {
  const char *key;
  size_t index;
} CniPathStep;

// What a generator gives to the expressions of its items.
typedef struct CniVariable {
  char name[CNI_NAME_SIZE];
  double value;
  int32_t is_index; // shown in messages
  int32_t unset;    // between its naming and the first round
} CniVariable;

// What an included file brought: a member of it, or an element of a list, with its place there.
typedef struct CniOrigin {
  const json_t *value;
  int32_t file; // of `included`, -1: the scene itself
  size_t index;
} CniOrigin;

typedef struct CniIncluded {
  json_t *root; // keeps its values
  const char *label;
} CniIncluded;

typedef struct CniReader {
  CnScene *scene;
  const char *label;
  const json_t *root;
  CniIncluded *included;
  CniOrigin *origins;
  int32_t included_count, included_capacity, origin_count, origin_capacity;
  CniPathStep path[CNI_SCENE_PATH];
  int32_t depth;

  CniVariable variables[CNI_SCENE_VARIABLES]; // innermost last
  int32_t variable_count;
  int32_t nesting;
  int32_t lists;       // items of the list being read are lists
  int32_t waiting_for; // parameter that had no value yet
  uint8_t *known;      // per parameter: has its value; null: all have

  CniRng rng;
  int64_t item_count, shape_item_count, item_limit;
  CniNameTable geometry_names, part_names, curve_names, mesh_names;
  CniScenePart *parts;
  CniSceneShape *part_shapes;
  int32_t part_count, part_capacity, part_shape_count, part_shape_capacity;
  CniNameTable parameter_names, material_names, body_names, joint_names, force_names, sensor_names;
  CniNameTable function_names, coupling_names, source_names, sink_names;
  CniModel probe; // one body at a time is tried here
  int32_t probe_ready;
  CniNameTable group_names;
  uint32_t group_masks[CNI_SCENE_GROUPS];
  int32_t group_count;
  CnBodyDef body_def;                // the body whose shapes are being read
  uint32_t body_category, body_mask; // of its group
  CnBodyId probe_body;
} CniReader;

// Failure with label, pointer and the value found: "LABEL: POINTER: PROBLEM (got VALUE)". Always
// CN_INVALID_DATA.
CnStatus cni_scene_fail(const CniReader *reader, const json_t *got, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
// The same for a number that was evaluated, with the expression it came from.
CnStatus cni_scene_fail_number(const CniReader *reader, const json_t *got, double value,
                               const char *format, ...) __attribute__((format(printf, 4, 5), cold));
// The same with the value in words.
CnStatus cni_scene_fail_text(const CniReader *reader, const char *got, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
// The sentence of a failed call becomes the problem at the reader's place.
CnStatus cni_scene_fail_call(const CniReader *reader, const json_t *got, CnStatus status);

// Where the reader's place came from; null: not known, or nothing is included.
const CniOrigin *cni_scene_origin(const CniReader *reader);
void cni_scene_release_included(CniReader *reader);

// Go into a member or an element and out again. Failures need not come out.
void cni_scene_enter(CniReader *reader, const char *key);
void cni_scene_enter_index(CniReader *reader, size_t index);
void cni_scene_leave(CniReader *reader);

// Once inside the member `key` of an object, if it has one; for each element of a list, `item` and
// its number. A loop that is left by a failure need not come out.
#define CNI_MEMBER(reader, object, key, value)                                                     \
  for (json_t *value = cni_scene_go_in(reader, object, key); value;                                \
       value = cni_scene_go_out(reader))
#define CNI_ELEMENTS(reader, list, i, item)                                                        \
  for (size_t i = 0; (item = cni_scene_element(reader, list, i)); i++, cni_scene_leave(reader))
json_t *cni_scene_go_in(CniReader *reader, const json_t *object, const char *key);
json_t *cni_scene_go_out(CniReader *reader);
json_t *cni_scene_element(CniReader *reader, const json_t *list, size_t i);

// The keys an object may have; null ends the list. "comment" is always allowed.
CnStatus cni_scene_keys(CniReader *reader, json_t *value, const char *const *keys);
// A member that must be there.
CnStatus cni_scene_require(CniReader *reader, json_t *object, const char *key);

// Read the value at the reader's place.
CnStatus cni_scene_number(CniReader *reader, json_t *value, CniRange range, double *number);
// A list of so many numbers; `must` says what it must be.
CnStatus cni_scene_numbers(CniReader *reader, json_t *list, size_t count, const char *must,
                           CniRange range, double *numbers);

// Read a member; what is absent leaves the result as it was.
CnStatus cni_scene_get_number(CniReader *reader, json_t *object, const char *key, CniRange range,
                              double *number);
CnStatus cni_scene_get_integer(CniReader *reader, json_t *object, const char *key, double least,
                               double largest, int64_t *number);
CnStatus cni_scene_get_vec3(CniReader *reader, json_t *object, const char *key, CniRange range,
                            CnVec3 *vector);
// A number for all three, or three.
CnStatus cni_scene_get_size(CniReader *reader, json_t *object, const char *key, CniRange range,
                            CnVec3 *vector);
CnStatus cni_scene_get_flag(CniReader *reader, json_t *object, const char *key, int32_t *flag);
// One of a list of words (null ends it); its number.
CnStatus cni_scene_get_choice(CniReader *reader, json_t *object, const char *key,
                              const char *const *words, int32_t *choice);
// A field of a definition by its description; its key is the field's name in files.
CnStatus cni_scene_get_field(CniReader *reader, json_t *object, const CniField *field, void *def);
// All fields of a table that an object has; a bit is set for each.
CnStatus cni_scene_get_fields(CniReader *reader, json_t *object, const CniField *fields, void *def,
                              uint64_t *mentioned);
// The keys of an object are those of a table, and others (null: none).
CnStatus cni_scene_field_keys(CniReader *reader, json_t *value, const CniField *fields,
                              const char *const *others);
// Members "position" and "rotation".
CnStatus cni_scene_get_pose(CniReader *reader, json_t *object, CnPose *pose);
// A string kept with the scene.
CnStatus cni_scene_get_text(CniReader *reader, json_t *object, const char *key, const char **text);

// A name at the reader's place: not empty, {expressions} replaced by whole numbers.
CnStatus cni_scene_name(CniReader *reader, json_t *value, char name[CNI_NAME_SIZE]);
// Member "name", kept with the scene and entered in a table with the given number; null if absent.
CnStatus cni_scene_new_name(CniReader *reader, json_t *object, CniNameTable *table, int32_t number,
                            const char *what, const char **name);
// A reference at the reader's place: the number kept with the name.
CnStatus cni_scene_refer(CniReader *reader, json_t *value, const CniNameTable *table,
                         const char *what, int32_t *number);

// A text kept with the scene.
CnStatus cni_scene_keep(CnScene *scene, const char *text, const char **kept);
// Two things in a list, one for each side.
CnStatus cni_scene_pair(CniReader *reader, const json_t *value, const char *what);
// A member that must be there and names one of a table.
CnStatus cni_scene_get_reference(CniReader *reader, json_t *object, const char *key,
                                 const CniNameTable *table, const char *what, int32_t *number);
// The "coordinate" of a joint by name; a joint that has one needs none.
CnStatus cni_scene_get_coordinate(CniReader *reader, json_t *object, int32_t joint,
                                  int32_t *coordinate);
// "kind", which must be there: the number of a word.
CnStatus cni_scene_get_kind(CniReader *reader, json_t *object, const char *(*name)(int32_t number),
                            int32_t *kind);
// Read the members of an object by their names, each of which is entered in a table with its number.
typedef CnStatus (*CniReadNamed)(CniReader *reader, json_t *value, const char *name);
CnStatus cni_scene_read_named(CniReader *reader, json_t *root, const char *key, CniNameTable *names,
                              CniReadNamed read);

// ---- parts of the file ----

CnStatus cni_scene_read_parameters(CniReader *reader, json_t *root, const CnSetting *settings,
                                   int32_t setting_count);
CnStatus cni_scene_read_settings(CniReader *reader, json_t *root);
CnStatus cni_scene_read_materials(CniReader *reader, json_t *root);
CnStatus cni_scene_read_laws(CniReader *reader, json_t *root);
CnStatus cni_scene_read_geometries(CniReader *reader, json_t *root);
CnStatus cni_scene_read_parts(CniReader *reader, json_t *root);
CnStatus cni_scene_read_groups(CniReader *reader, json_t *root);
CnStatus cni_scene_read_pairs(CniReader *reader, json_t *root);
// "group" of a body, for its shapes.
CnStatus cni_scene_get_group(CniReader *reader, json_t *item);
CnStatus cni_scene_read_bodies(CniReader *reader, json_t *root);
// A function by its name, if it is mentioned; its number counts from 1.
CnStatus cni_scene_get_function(CniReader *reader, json_t *item, const char *key, uint32_t *number);
CnStatus cni_scene_read_couplings(CniReader *reader, json_t *root);
CnStatus cni_scene_read_functions(CniReader *reader, json_t *root);
CnStatus cni_scene_read_joints(CniReader *reader, json_t *root);
CnStatus cni_scene_read_sensors(CniReader *reader, json_t *root);
// A member that is a box: "min" and "max".
CnStatus cni_scene_get_region(CniReader *reader, json_t *object, const char *key,
                              CniRegion *region);
int cni_region_holds(const CniRegion *region, CnVec3 point);
CnStatus cni_scene_read_sources(CniReader *reader, json_t *root);
// "color" and "opacity" of a body or a material.
CnStatus cni_scene_get_color(CniReader *reader, json_t *item, double color[4]);
CnStatus cni_scene_make_body(CniReader *reader, json_t *item);

// The names in sight of an expression: generators' variables, then parameters.
CniScope cni_scene_scope(CniReader *reader);

// Walk over a list whose elements are items or generators of items; `count` adds up what was met.
typedef CnStatus (*CniMakeItem)(CniReader *reader, json_t *item);
CnStatus cni_scene_list(CniReader *reader, json_t *list, CniMakeItem make, int64_t *count);
// The same for the list that is a member, if there is one.
CnStatus cni_scene_get_list(CniReader *reader, json_t *object, const char *key, CniMakeItem make,
                            int64_t *count);

// JSON pointer of the place where reading a text stopped.
void cni_scene_syntax_pointer(const char *text, size_t position, char *pointer, size_t size);

// Append text to a line, control characters replaced, cut at a character's border.
void cni_line_add(char *line, size_t size, const char *text, size_t length);

// Parse with a bound on the number of items, for tests that must end soon.
CnStatus cni_scene_parse_limited(const char *text, size_t size, const char *label,
                                 const CnSetting *settings, int32_t setting_count,
                                 const CnAllocator *allocator, const CnSceneOptions *options,
                                 int64_t item_limit, CnScene **scene);

// ---- built-in scenes, written by the build from examples/scenes ----

typedef struct CniBuiltinScene {
  const char *name, *title;
  const unsigned char *text; // size bytes and a final zero
  size_t size;
} CniBuiltinScene;
extern const CniBuiltinScene cni_builtin_scenes[];
extern const int32_t cni_builtin_scene_count;

// Files that they are made of; a null name ends the list.
typedef struct CniBuiltinFile {
  const char *name;
  const unsigned char *data;
  size_t size;
} CniBuiltinFile;
extern const CniBuiltinFile cni_builtin_files[];

#include "io/scene/scene_files.h"

#endif
