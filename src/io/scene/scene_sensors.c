// SPDX-License-Identifier: Apache-2.0
// Sensors: what a run records at every step. A sensor of something with several components and no
// "axis" becomes one series a component, "NAME.x" and so on.
//
// Contact forces act on the first body named, from the second (or from everything, with one body);
// "normal" is the sum of the normal parts, which never cancel. Forces are means over the last step.
// A joint's effort along a coordinate is all that acts there, or with "axis" one part of it; its power
// is that times the rate.
#include <stdio.h>
#include <string.h>

#include <cairn/query.h>

#include "core/floats.h"
#include "io/live/scene_live.h"

// ---- the tables ----

enum { X, Y, Z, LENGTH, NORMAL, W, MOTOR, LIMIT, DRY, SPRING, ARMATURE, SCALAR, COMPONENT_COUNT };
static const char *const component_names[] = {"x",        "y",     "z",     "length",   "normal",
                                              "w",        "motor", "limit", "friction", "spring",
                                              "armature", "",      NULL};

typedef enum Subject {
  OF_WORLD,
  OF_BODY,
  OF_CONTACT,
  OF_JOINT,
  OF_COORDINATE,
  OF_FORCE,
  OF_COUPLING,
  OF_REGION,
  OF_PLANE,
  OF_SOURCE,
  OF_SINK
} Subject;

typedef struct Kind {
  const char *name, *unit;
  Subject subject;
  uint32_t allowed; // bits of components; those in `all` are made when none is named
  uint32_t all;
} Kind;

#define BIT(component) (1u << (component))
#define XYZ (BIT(X) | BIT(Y) | BIT(Z))
#define PARTS (BIT(MOTOR) | BIT(LIMIT) | BIT(DRY) | BIT(SPRING) | BIT(ARMATURE))

#define KINDS(X)                                                                                   \
  X(POSITION, "position", "m", OF_BODY, XYZ | BIT(LENGTH), XYZ)                                    \
  X(ROTATION, "rotation", "", OF_BODY, XYZ | BIT(W), XYZ | BIT(W))                                 \
  X(VELOCITY, "velocity", "m/s", OF_BODY, XYZ | BIT(LENGTH), XYZ)                                  \
  X(ACCELERATION, "acceleration", "m/s^2", OF_BODY, XYZ | BIT(LENGTH), XYZ)                        \
  X(SPIN, "spin", "rad/s", OF_BODY, XYZ | BIT(LENGTH), XYZ)                                        \
  X(OVERLAPS, "overlaps", "", OF_BODY, BIT(SCALAR), BIT(SCALAR))                                   \
  X(CONTACT_FORCE, "contact_force", "N", OF_CONTACT, XYZ | BIT(LENGTH) | BIT(NORMAL), XYZ)         \
  X(CONTACT_TORQUE, "contact_torque", "N m", OF_CONTACT, XYZ | BIT(LENGTH), XYZ)                   \
  X(JOINT_FORCE, "joint_force", "N", OF_JOINT, XYZ | BIT(LENGTH), XYZ)                             \
  X(JOINT_TORQUE, "joint_torque", "N m", OF_JOINT, XYZ | BIT(LENGTH), XYZ)                         \
  X(JOINT_ERROR, "joint_error", "m", OF_JOINT, BIT(SCALAR), BIT(SCALAR))                           \
  X(JOINT_TURN_ERROR, "joint_turn_error", "rad", OF_JOINT, BIT(SCALAR), BIT(SCALAR))               \
  X(JOINT_COORDINATE, "joint_coordinate", "", OF_COORDINATE, BIT(SCALAR), BIT(SCALAR))             \
  X(JOINT_RATE, "joint_rate", "/s", OF_COORDINATE, BIT(SCALAR), BIT(SCALAR))                       \
  X(JOINT_EFFORT, "joint_effort", "", OF_COORDINATE, PARTS, BIT(SCALAR))                           \
  X(JOINT_POWER, "joint_power", "", OF_COORDINATE, PARTS, BIT(SCALAR))                             \
  X(FORCE, "force", "N", OF_FORCE, XYZ | BIT(LENGTH), XYZ)                                         \
  X(FORCE_TORQUE, "force_torque", "N m", OF_FORCE, XYZ | BIT(LENGTH), XYZ)                         \
  X(FORCE_LENGTH, "force_length", "m", OF_FORCE, BIT(SCALAR), BIT(SCALAR))                         \
  X(FORCE_RATE, "force_rate", "m/s", OF_FORCE, BIT(SCALAR), BIT(SCALAR))                           \
  X(FORCE_POWER, "force_power", "W", OF_FORCE, BIT(SCALAR), BIT(SCALAR))                           \
  X(FORCE_ENERGY, "force_energy", "J", OF_FORCE, BIT(SCALAR), BIT(SCALAR))                         \
  X(COUPLING_EFFORT, "coupling_effort", "", OF_COUPLING, BIT(SCALAR), BIT(SCALAR))                 \
  X(COUPLING_ERROR, "coupling_error", "", OF_COUPLING, BIT(SCALAR), BIT(SCALAR))                   \
  X(COUNT, "count", "", OF_REGION, BIT(SCALAR), BIT(SCALAR))                                       \
  X(MASS, "mass", "kg", OF_REGION, BIT(SCALAR), BIT(SCALAR))                                       \
  X(FLOW_COUNT, "flow_count", "", OF_PLANE, BIT(SCALAR), BIT(SCALAR))                              \
  X(FLOW_MASS, "flow_mass", "kg", OF_PLANE, BIT(SCALAR), BIT(SCALAR))                              \
  X(FLOW_RATE, "flow_rate", "kg/s", OF_PLANE, BIT(SCALAR), BIT(SCALAR))                            \
  X(SOURCE_COUNT, "source_count", "", OF_SOURCE, BIT(SCALAR), BIT(SCALAR))                         \
  X(SINK_COUNT, "sink_count", "", OF_SINK, BIT(SCALAR), BIT(SCALAR))                               \
  X(SINK_MASS, "sink_mass", "kg", OF_SINK, BIT(SCALAR), BIT(SCALAR))                               \
  X(KINETIC_ENERGY, "kinetic_energy", "J", OF_WORLD, BIT(SCALAR), BIT(SCALAR))                     \
  X(POTENTIAL_ENERGY, "potential_energy", "J", OF_WORLD, BIT(SCALAR), BIT(SCALAR))                 \
  X(ENERGY, "energy", "J", OF_WORLD, BIT(SCALAR), BIT(SCALAR))
#define NUMBER(number, ...) number,
#define ROW(number, ...) {__VA_ARGS__},
enum { KINDS(NUMBER) KIND_COUNT };
static const Kind kinds[] = {KINDS(ROW)};

// ---- reading ----

static CnBodyId body_id(int32_t number) {
  return number < 0 ? (CnBodyId){0, 0} : (CnBodyId){(uint32_t)number + 1, 1};
}

// "bodies": two names against each other.
static CnStatus read_contact(CniReader *reader, json_t *item, CniSceneSensor *sensor) {
  int32_t *sides[2] = {&sensor->body_a, &sensor->body_b};
  json_t *name;
  CNI_MEMBER (reader, item, "bodies", value) {
    if (json_object_get(item, "body"))
      return cni_scene_fail(reader, value, "give either \"body\" or \"bodies\"");
    CNI_TRY(cni_scene_pair(reader, value, "names"));
    CNI_ELEMENTS (reader, value, i, name) {
      CNI_TRY(cni_scene_refer(reader, name, &reader->body_names, "body", sides[i]));
      if (i == 1 && sensor->body_a == sensor->body_b)
        return cni_scene_fail(reader, name, "a body does not touch itself");
    }
  }
  return CN_OK;
}

// The key that says what a sensor is of.
static const char *const subjects[] = {
    [OF_BODY] = "body",        [OF_CONTACT] = "body", [OF_JOINT] = "joint",
    [OF_COORDINATE] = "joint", [OF_FORCE] = "force",  [OF_COUPLING] = "coupling",
    [OF_SOURCE] = "source",    [OF_SINK] = "sink",    [OF_REGION] = NULL,
    [OF_PLANE] = NULL,         [OF_WORLD] = NULL};

// A box, or a point and a normal; "group": only its bodies count.
static CnStatus read_place(CniReader *reader, json_t *item, CniSceneSensor *s) {
  int32_t group = -1;
  if (kinds[s->kind].subject == OF_REGION) {
    CNI_TRY(cni_scene_get_region(reader, item, "region", &s->region));
  } else {
    CNI_TRY(cni_scene_require(reader, item, "point"));
    CNI_TRY(cni_scene_require(reader, item, "normal"));
    CNI_TRY(cni_scene_get_vec3(reader, item, "point", CNI_ANY, &s->point));
    CNI_TRY(cni_scene_get_vec3(reader, item, "normal", CNI_ANY, &s->normal));
    double length = cn_norm(s->normal);
    if (!(length > 0) || !isfinite(length))
      return cni_scene_fail(reader, item, "the normal must have a length");
    s->normal = cn_scale(1 / length, s->normal);
  }
  CNI_MEMBER (reader, item, "group", value) {
    CNI_TRY(cni_scene_refer(reader, value, &reader->group_names, "group", &group));
    s->group = 1u << (group + 1);
  }
  return CN_OK;
}

static CnStatus read_subject(CniReader *reader, json_t *item, CniSceneSensor *s) {
  Subject subject = kinds[s->kind].subject;
  const char *key = subjects[subject];
  const struct {
    const CniNameTable *names;
    int32_t *number;
  } of[] = {
      [OF_BODY] = {&reader->body_names, &s->body_a},
      [OF_CONTACT] = {&reader->body_names, &s->body_a},
      [OF_JOINT] = {&reader->joint_names, &s->joint},
      [OF_COORDINATE] = {&reader->joint_names, &s->joint},
      [OF_FORCE] = {&reader->force_names, &s->force},
      [OF_COUPLING] = {&reader->coupling_names, &s->coupling},
      [OF_SOURCE] = {&reader->source_names, &s->source},
      [OF_SINK] = {&reader->sink_names, &s->sink},
  };
  if (subject == OF_REGION || subject == OF_PLANE) return read_place(reader, item, s);
  if (!key) return CN_OK;
  if (subject == OF_CONTACT && json_object_get(item, "bodies"))
    CNI_TRY(read_contact(reader, item, s));
  else
    CNI_TRY(cni_scene_get_reference(reader, item, key, of[subject].names, key, of[subject].number));
  if (subject == OF_COORDINATE)
    return cni_scene_get_coordinate(reader, item, s->joint, &s->coordinate);
  return cni_scene_get_vec3(reader, item, "point", CNI_ANY, &s->point);
}

// What is made of the values: the value itself, or an extreme or a mean of all from a time on.
static CnStatus read_statistic(CniReader *reader, json_t *item, CniSceneSensor *s) {
  static const char *const words[] = {"none", "min", "max", "mean", "rms", NULL};
  CNI_TRY(cni_scene_get_choice(reader, item, "statistic", words, &s->statistic));
  CNI_TRY(cni_scene_get_number(reader, item, "from", CNI_NOT_NEGATIVE, &s->from));
  CNI_MEMBER (reader, item, "from", value)
    if (!s->statistic) return cni_scene_fail(reader, value, "\"from\" is for a \"statistic\"");
  return CN_OK;
}

// What the sensor is of, and "axis" where there are several components.
static CnStatus check_sensor_keys(CniReader *reader, json_t *item, int32_t kind) {
  const Kind *k = &kinds[kind];
  const char *keys[12] = {"name", "kind", "statistic", "from"};
  int32_t n = 4;
  if (subjects[k->subject]) keys[n++] = subjects[k->subject];
  if (kind == POSITION || kind == VELOCITY || kind == ACCELERATION || kind == CONTACT_TORQUE ||
      k->subject == OF_PLANE)
    keys[n++] = "point";
  if (k->subject == OF_PLANE) keys[n++] = "normal";
  if (k->subject == OF_REGION) keys[n++] = "region";
  if (k->subject == OF_PLANE || k->subject == OF_REGION) keys[n++] = "group";
  if (k->subject == OF_CONTACT) keys[n++] = "bodies";
  if (k->subject == OF_COORDINATE) keys[n++] = "coordinate";
  if (k->allowed & (k->allowed - 1)) keys[n++] = "axis";
  return cni_scene_keys(reader, item, keys);
}

static CnStatus keep_series(CniReader *reader, json_t *item, CniSceneSensor sensor,
                            const char *name) {
  CnScene *scene = reader->scene;
  int32_t number = scene->sensor_count;
  if (cni_name_find(&reader->sensor_names, name) >= 0) {
    cni_scene_enter(reader, "name");
    return cni_scene_fail(reader, json_object_get(item, "name"),
                          "there is already a sensor named \"%s\"", name);
  }
  CNI_TRY(cni_scene_keep(scene, name, &sensor.name));
  CNI_TRY(CNI_PUSH(&scene->allocator, scene->sensors, scene->sensor_capacity, scene->sensor_count,
                   sensor));
  return cni_name_add(&reader->sensor_names, &scene->allocator, sensor.name, number);
}

// The components a sensor may have, as words.
static CnStatus read_axis(CniReader *reader, json_t *item, int32_t kind, int32_t *component) {
  const char *words[COMPONENT_COUNT + 1] = {0};
  int32_t numbers[COMPONENT_COUNT], count = 0, choice = -1;
  for (int32_t c = 0; c < COMPONENT_COUNT; c++) {
    if (!(kinds[kind].allowed & BIT(c))) continue;
    words[count] = component_names[c];
    numbers[count++] = c;
  }
  CNI_TRY(cni_scene_get_choice(reader, item, "axis", words, &choice));
  *component = choice < 0 ? -1 : numbers[choice];
  return CN_OK;
}

static const char *sensor_kind(int32_t i) { return i < KIND_COUNT ? kinds[i].name : NULL; }

static CnStatus make_sensor(CniReader *reader, json_t *item) {
  CniSceneSensor sensor = {.body_a = -1,
                           .body_b = -1,
                           .joint = -1,
                           .force = -1,
                           .coupling = -1,
                           .source = -1,
                           .sink = -1};
  CNI_TRY(cni_scene_get_kind(reader, item, sensor_kind, &sensor.kind));
  CNI_TRY(check_sensor_keys(reader, item, sensor.kind));
  CNI_TRY(cni_scene_require(reader, item, "name"));
  char name[CNI_NAME_SIZE], series[CNI_NAME_SIZE + 16];
  CNI_MEMBER (reader, item, "name", value) CNI_TRY(cni_scene_name(reader, value, name));
  CNI_TRY(read_subject(reader, item, &sensor));
  CNI_TRY(read_statistic(reader, item, &sensor));
  sensor.body_a_id = body_id(sensor.body_a);
  sensor.body_b_id = body_id(sensor.body_b);
  if (sensor.joint >= 0) sensor.joint_id = (CnJointId){(uint32_t)sensor.joint + 1, 1};
  if (sensor.force >= 0) sensor.force_id = (CnForceId){(uint32_t)sensor.force + 1, 1};
  if (sensor.coupling >= 0) sensor.coupling_id = (CnCouplingId){(uint32_t)sensor.coupling + 1, 1};
  int32_t component;
  CNI_TRY(read_axis(reader, item, sensor.kind, &component));
  uint32_t wanted = component < 0 ? kinds[sensor.kind].all : BIT(component);
  int several = (wanted & (wanted - 1)) != 0;
  for (int32_t c = 0; c < COMPONENT_COUNT; c++) {
    if (!(wanted & BIT(c))) continue;
    sensor.component = c;
    snprintf(series, sizeof series, several ? "%s.%s" : "%s%.0s", name, component_names[c]);
    CNI_TRY(keep_series(reader, item, sensor, series));
  }
  return CN_OK;
}

CnStatus cni_scene_read_sensors(CniReader *reader, json_t *root) {
  return cni_scene_get_list(reader, root, "sensors", make_sensor, &reader->item_count);
}

int cni_sensor_is_plane(const CniSceneSensor *s) { return kinds[s->kind].subject == OF_PLANE; }
int cni_sensor_counts(const CniSceneSensor *s) { return kinds[s->kind].subject == OF_REGION; }
int cni_sensor_accelerates(const CniSceneSensor *s) { return s->kind == ACCELERATION; }

// ---- measuring ----

static const char *coordinate_unit(const CnScene *scene, const CniSceneSensor *s) {
  static const char *const metres[] = {"m", "m/s", "N", "W"};
  static const char *const radians[] = {"rad", "rad/s", "N m", "W"};
  CnJointKind kind = scene->joints[s->joint].def.kind;
  int turns = strcmp(cn_joint_coordinate_unit(kind, s->coordinate), "rad") == 0;
  return (turns ? radians : metres)[s->kind - JOINT_COORDINATE];
}

CnStatus cn_scene_sensor(const CnScene *scene, int32_t index, CnSensorInfo *sensor) {
  if (!sensor) return cni_invalid("cn_scene_sensor: the result pointer is null");
  *sensor = (CnSensorInfo){"", ""};
  if (!scene) return cni_invalid("cn_scene_sensor: the scene is null");
  if (index < 0 || index >= scene->sensor_count)
    return cni_invalid("sensor %d is none: the scene has %d", (int)index, (int)scene->sensor_count);
  const CniSceneSensor *s = &scene->sensors[index];
  *sensor = (CnSensorInfo){s->name, kinds[s->kind].unit};
  if (kinds[s->kind].subject == OF_COORDINATE) sensor->unit = coordinate_unit(scene, s);
  return CN_OK;
}

static double component_of(CnVec3 v, int32_t component) {
  if (component == LENGTH) return cn_norm(v);
  return component == X ? v.x : component == Y ? v.y : v.z;
}

static CnStatus measure_body(const CnWorld *world, const CniSceneSensor *s, double *value) {
  if (s->kind == OVERLAPS) {
    int32_t count;
    CNI_TRY(cn_body_overlaps(world, s->body_a_id, NULL, 0, &count));
    *value = count;
    return CN_OK;
  }
  if (s->kind == ACCELERATION) {
    CnWorldDef def;
    CNI_TRY(cn_world_settings(world, &def));
    *value = component_of(cn_scale(1 / def.time_step, cn_sub(s->now, s->before)), s->component);
    return CN_OK;
  }
  CnPose pose;
  CnTwist twist;
  CNI_TRY(cn_body_pose(world, s->body_a_id, &pose));
  CNI_TRY(cn_body_twist(world, s->body_a_id, &twist));
  CnVec3 arm = cn_rotate(pose.rotation, s->point);
  if (s->kind == POSITION) *value = component_of(cn_add(pose.position, arm), s->component);
  if (s->kind == VELOCITY)
    *value = component_of(cn_add(twist.velocity, cn_cross(twist.spin, arm)), s->component);
  if (s->kind == SPIN) *value = component_of(twist.spin, s->component);
  if (s->kind != ROTATION) return CN_OK;
  CnVec3 axis = {pose.rotation.x, pose.rotation.y, pose.rotation.z};
  *value = s->component == W ? pose.rotation.w : component_of(axis, s->component);
  return CN_OK;
}

static int same_body(CnBodyId a, CnBodyId b) {
  return a.slot == b.slot && a.generation == b.generation;
}

// The force of a contact on the sensor's first body: 1, 0 if the contact is none of its own.
static int force_of(const CniSceneSensor *s, const CnContact *c, CnVec3 *force) {
  int is_a = same_body(c->body_a, s->body_a_id), is_b = same_body(c->body_b, s->body_a_id);
  if (!is_a && !is_b) return 0;
  CnBodyId other = is_a ? c->body_b : c->body_a;
  if (s->body_b >= 0 && !same_body(other, s->body_b_id)) return 0;
  *force = is_b ? c->force : cn_neg(c->force);
  return 1;
}

// Of forces and torques of contacts about a point of the first body.
static CnStatus measure_torque(const CnWorld *world, const CniSceneSensor *s, double *value) {
  CnPose pose;
  CnWorldInfo info;
  CnVec3 sum = CN_VEC3_ZERO;
  CNI_TRY(cn_body_pose(world, s->body_a_id, &pose));
  CnVec3 centre = cn_add(pose.position, cn_rotate(pose.rotation, s->point));
  cn_world_info(world, &info);
  for (int32_t i = 0; i < info.contact_count; i++) {
    CnContact c;
    CnVec3 force;
    CNI_TRY(cn_world_contact(world, i, &c));
    if (!force_of(s, &c, &force)) continue;
    int is_b = same_body(c.body_b, s->body_a_id);
    sum = cn_add(sum, cn_cross(cn_sub(c.point, centre), force));
    sum = cn_add(sum, is_b ? c.torque : cn_neg(c.torque));
  }
  *value = component_of(sum, s->component);
  return CN_OK;
}

// Sums over the contacts of one pair of bodies (or of one body), in the world's order.
typedef struct ContactSum {
  int32_t body_a, body_b; // whose; -2: nobody's yet
  CnVec3 force;
  double normal;
} ContactSum;

// The components of one sensor follow each other: they share a sum.
static CnStatus measure_contacts(const CnWorld *world, const CniSceneSensor *s, ContactSum *sum,
                                 double *value) {
  if (sum->body_a != s->body_a || sum->body_b != s->body_b) {
    *sum = (ContactSum){.body_a = s->body_a, .body_b = s->body_b};
    CnWorldInfo info;
    cn_world_info(world, &info);
    for (int32_t i = 0; i < info.contact_count; i++) {
      CnContact contact;
      CnVec3 force;
      CNI_TRY(cn_world_contact(world, i, &contact));
      if (!force_of(s, &contact, &force)) continue;
      sum->force = cn_add(sum->force, force);
      sum->normal += cn_dot(contact.force, contact.normal);
    }
  }
  *value = s->component == NORMAL ? sum->normal : component_of(sum->force, s->component);
  return CN_OK;
}

static CnStatus measure_joint(const CnWorld *world, const CniSceneSensor *s, double *value) {
  CnJointState state;
  CNI_TRY(cn_joint_state(world, s->joint_id, &state));
  int32_t i = s->coordinate;
  if (s->kind == JOINT_FORCE) *value = component_of(state.force, s->component);
  if (s->kind == JOINT_TORQUE) *value = component_of(state.torque, s->component);
  if (s->kind == JOINT_ERROR) *value = state.error;
  if (s->kind == JOINT_TURN_ERROR) *value = state.turn_error;
  if (s->kind == JOINT_COORDINATE) *value = state.coordinate[i];
  if (s->kind == JOINT_RATE) *value = state.rate[i];
  if (s->kind < JOINT_EFFORT) return CN_OK;
  double parts[] = {state.motor[i], state.limit[i], state.friction[i], state.spring[i],
                    state.armature[i]};
  double effort = s->component == SCALAR ? parts[0] + parts[1] + parts[2] + parts[3] + parts[4]
                                         : parts[s->component - MOTOR];
  *value = s->kind == JOINT_POWER ? effort * state.rate[i] : effort;
  return CN_OK;
}

static CnStatus measure_force(const CnWorld *world, const CniSceneSensor *s, double *value) {
  CnForceState state;
  CNI_TRY(cn_force_state(world, s->force_id, &state));
  const double numbers[] = {state.length, state.rate, state.power, state.energy};
  if (s->kind >= FORCE_LENGTH)
    *value = numbers[s->kind - FORCE_LENGTH];
  else
    *value = component_of(s->kind == FORCE ? state.force : state.torque, s->component);
  return CN_OK;
}

static CnStatus measure_coupling(const CnWorld *world, const CniSceneSensor *s, double *value) {
  CnCouplingState state;
  CNI_TRY(cn_coupling_state(world, s->coupling_id, &state));
  *value = s->kind == COUPLING_EFFORT ? state.effort : state.error;
  return CN_OK;
}

static double energy_of(const CnWorldSums *sums, int32_t kind) {
  double energy = 0;
  if (kind != POTENTIAL_ENERGY) energy += sums->kinetic_energy;
  if (kind != KINETIC_ENERGY) energy += sums->potential_energy;
  return energy;
}

static CnStatus measure_place(const CnScene *scene, const CnWorld *world, const CniSceneSensor *s,
                              double *value) {
  double count, mass;
  CnWorldDef def;
  if (s->kind == COUNT || s->kind == MASS) {
    CNI_TRY(cni_scene_count(scene, world, s, &count, &mass));
    *value = s->kind == COUNT ? count : mass;
  }
  if (s->kind == FLOW_COUNT) *value = s->count;
  if (s->kind == FLOW_MASS) *value = s->mass;
  if (s->kind == SOURCE_COUNT) *value = (double)scene->sources[s->source].made;
  if (s->kind == SINK_COUNT) *value = (double)scene->sinks[s->sink].count;
  if (s->kind == SINK_MASS) *value = scene->sinks[s->sink].mass;
  if (s->kind != FLOW_RATE) return CN_OK;
  CNI_TRY(cn_world_settings(world, &def));
  *value = s->step_mass / def.time_step;
  return CN_OK;
}

// What several sensors share in one state of the world.
typedef struct Shared {
  ContactSum contacts;
  CnWorldSums sums;
  int have_sums;
} Shared;

static CnStatus measure_one(const CnScene *scene, const CnWorld *world, const CniSceneSensor *s,
                            Shared *shared, double *value) {
  *value = 0;
  switch (kinds[s->kind].subject) {
  case OF_BODY:
    return measure_body(world, s, value);
  case OF_CONTACT:
    return s->kind == CONTACT_TORQUE ? measure_torque(world, s, value)
                                     : measure_contacts(world, s, &shared->contacts, value);
  case OF_JOINT:
  case OF_COORDINATE:
    return measure_joint(world, s, value);
  case OF_FORCE:
    return measure_force(world, s, value);
  case OF_COUPLING:
    return measure_coupling(world, s, value);
  case OF_WORLD:
    if (!shared->have_sums) cn_world_sums(world, &shared->sums);
    shared->have_sums = 1;
    *value = energy_of(&shared->sums, s->kind);
    return CN_OK;
  default:
    return measure_place(scene, world, s, value);
  }
}

CnStatus cni_scene_measure_raw(const CnScene *scene, CnWorld *world, int32_t index, double *value) {
  Shared shared = {.contacts = {.body_a = -2}};
  if (kinds[scene->sensors[index].kind].subject == OF_CONTACT) CNI_TRY(cn_world_gather(world));
  return measure_one(scene, world, &scene->sensors[index], &shared, value);
}

CnStatus cn_scene_measure(const CnScene *scene, const CnWorld *world, double *values) {
  CNI_FLOATS;
  if (!scene || !world)
    return cni_invalid("cn_scene_measure: the %s is null", scene ? "world" : "scene");
  if (scene->sensor_count > 0 && !values)
    return cni_invalid("cn_scene_measure: the result pointer is null");
  Shared shared = {.contacts = {.body_a = -2}};
  for (int32_t i = 0; i < scene->sensor_count; i++) {
    const CniSceneSensor *s = &scene->sensors[i];
    if (s->statistic)
      values[i] = cni_sensor_statistic(s);
    else
      CNI_TRY(measure_one(scene, world, s, &shared, &values[i]));
  }
  return CN_OK;
}
