// SPDX-License-Identifier: Apache-2.0
// Random use of the whole interface. A world and its twin, with another broad phase and other
// workers and now and then restored from a snapshot, get the same random calls, a tenth of them
// with wrong arguments, some while memory runs out. After every call: both answer alike, what was
// destroyed is refused, both worlds have the same hash, and every number is finite. Snapshots are
// dear, so some calls are watched, all those with wrong arguments among them: one that failed has
// left the snapshot as it was, and the snapshots of both worlds have the same bytes.
//
// CAIRN_RANDOM_OPERATIONS and CAIRN_RANDOM_SEED: how many calls, and where to begin. A failure
// tells the seed of its pair of worlds: begun there, it comes at once.
#include "check.h"
#include "alloc.h"
#include "core/rng.h"
#include "core/vec.h"

#include <cairn/cairn.h>

#include <stdlib.h>
#include <string.h>

#define ROOM (1 << 20) // bytes of a snapshot
#define LIVE 24        // of each class of things
#define DEAD 16        // ids remembered after their end
#define EPISODE 250    // calls to one pair of worlds
#define WALL 6         // numbers of an answer that are compared

// All ids look alike; this one stands for any of them.
typedef struct Id {
  uint32_t slot, generation;
} Id;
#define AS(Type, id) ((Type){(id).slot, (id).generation})

typedef enum Class {
  NOTHING = 0,
  BODY,
  SHAPE,
  MATERIAL,
  GEOMETRY,
  JOINT,
  COUPLING,
  FORCE,
  FUNCTION,
  CLASS_COUNT
} Class;

// What must be in both worlds.
typedef struct Model {
  Id live[CLASS_COUNT][LIVE];
  int32_t live_count[CLASS_COUNT];
} Model;

// Arguments enough for any call, and what it answered.
typedef struct Call {
  Id id[CLASS_COUNT], other_shape;
  int32_t stale[CLASS_COUNT]; // 1: that id was destroyed
  CnBodyDef body;
  CnShapeDef shape;
  CnMaterialDef material;
  CnJointDef joint, new_joint;
  CnCouplingDef coupling;
  CnForceDef force, new_force;
  CnFunctionDef function;
  CnMotionDef motion;
  CnPose pose;
  CnTwist twist;
  CnVec3 here, there, points[12];
  double number, times[4], values[4];
  int32_t count, null; // null: a pointer is
  Id made;
  double wall[WALL];
} Call;

typedef struct Operation {
  const char *name;
  CnStatus (*run)(CnWorld *world, Call *call);
  Class asks, makes, ends; // id that must be live; what it creates or destroys
  int32_t weight;
} Operation;

static CniRng rng;
static TestAlloc alloc_a, alloc_b;
static CnWorld *world_a, *world_b;
static Model model, old_model;
static Id dead[CLASS_COUNT][DEAD];
static int32_t dead_count[CLASS_COUNT];
static unsigned char shot[ROOM], shot_a[ROOM], old_shot[ROOM];
static size_t shot_size, old_size;
static int64_t count_ok, count_refused, count_no_memory, count_steps;
static uint64_t seed;
static int64_t operation_number;
static const char *operation_name;

#define HOLD(condition)                                                                            \
  do {                                                                                             \
    if (!(condition))                                                                              \
      fail_msg("seed %llu, call %lld, %s: not %s (%s)", (unsigned long long)seed,                  \
               (long long)operation_number, operation_name, #condition, cn_error_message());       \
  } while (0)

// ---- drawing ----

static int32_t hostile; // 1: this call has wrong arguments
static int32_t watched; // 1: `shot` is the snapshot before this call
static int32_t ended;   // 1: a step was not found, after seconds; the next would not be either
static int32_t modest;  // 1: only what every integrator follows
static int32_t most;    // of each class: most worlds are small, as their calls are cheap

// Small or large, without a number drawn.
static int32_t most_of(uint64_t number) {
  static const int32_t sizes[] = {4, 5, 6, 6, 8, 8, 12, LIVE};
  return sizes[(number * 0x9e3779b97f4a7c15u) >> 61];
}

static int32_t roll(int32_t count) { return (int32_t)(cni_rng_unit(&rng) * count); }

static double number(double low, double high) {
  static const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, -1, -0.0, 0,
                               1e-300};
  if (hostile && roll(8) == 0) return odd[roll(7)];
  return cni_rng_range(&rng, low, high);
}

// Mostly 0, as a user leaves most of the fields.
static double seldom(double low, double high) { return roll(6) ? 0 : number(low, high); }

static CnVec3 vector(double size) {
  double x = number(-size, size), y = number(-size, size), z = number(-size, size);
  return cn_vec3(x, y, z);
}

static CnPose placed(double size) {
  CnPose pose = {vector(size), {1, 0, 0, 0}};
  if (roll(3) == 0) return pose;
  double w = number(-1, 1), x = number(-1, 1), y = number(-1, 1), z = number(-1, 1);
  double length = sqrt(w * w + x * x + y * y + z * z);
  pose.rotation = (CnQuat){w / length, x / length, y / length, z / length};
  return pose;
}

static const char *some_name(void) {
  static const char *const names[] = {NULL, "", "ball", "two\nlines", "%s%n", "\xff\xfe"};
  return names[roll(hostile ? 6 : 3)];
}

static Id some_id(Class class, int32_t *stale) {
  *stale = 0;
  if (hostile && dead_count[class] && roll(3) == 0) {
    *stale = 1;
    return dead[class][roll(dead_count[class])];
  }
  if (hostile && roll(6) == 0) return (Id){(uint32_t)roll(40), (uint32_t)roll(4) * 77777u};
  if (!model.live_count[class]) return (Id){0, 0};
  return model.live[class][roll(model.live_count[class])];
}

static void draw_body(Call *call) {
  CnBodyDef *def = &call->body;
  *def = cn_body_def_default();
  def->kind = roll(10) < 7 ? CN_BODY_DYNAMIC : (CnBodyKind)(1 + roll(hostile ? 3 : 2));
  def->pose = placed(1.5);
  if (hostile || def->kind != CN_BODY_FIXED) def->twist = (CnTwist){vector(1), vector(1)};
  if (roll(30)) {
    def->mass = number(.5, 3);
    def->com = placed(.1);
    double size = number(.05, .1);
    def->inertia = (CnSym3){size, size * number(1, 1.3), size * number(1, 1.3), 0, 0, 0};
  }
  def->continuous = !modest && roll(5) == 0;
  def->name = some_name();
  call->motion = cn_motion_def_default();
  CnFunctionId follow = AS(CnFunctionId, call->id[FUNCTION]);
  if (roll(2)) call->motion.x = follow;
  if (roll(2)) call->motion.turn = follow;
  call->motion.axis = vector(1);
}

static void draw_shape(Call *call) {
  CnShapeDef *def = &call->shape;
  int32_t kinds = modest ? CN_SHAPE_CAPSULE + 1 : CN_SHAPE_KIND_COUNT;
  *def = cn_shape_def_default((CnShapeKind)roll(kinds + hostile));
  def->pose = placed(.3);
  def->radius = number(.1, .4);
  double x = number(.1, .4), y = number(.1, .4), z = number(.1, .4);
  def->half_size = cn_vec3(x, y, z);
  def->half_length = number(.1, .4);
  def->top_radius = number(0, .1);
  def->rounding = roll(3) ? 0 : number(.01, .05);
  def->density = number(500, 1000);
  if (def->kind == CN_SHAPE_HULL || def->kind == CN_SHAPE_MESH)
    def->geometry = AS(CnGeometryId, call->id[GEOMETRY]);
  if (roll(2)) def->material = AS(CnMaterialId, call->id[MATERIAL]);
  if (roll(8) == 0) def->mask = 2u;
  for (int32_t i = 0; i < 12; ++i) call->points[i] = vector(.4);
  call->count = hostile ? roll(14) - 1 : 8 + roll(5);
  if (call->count > 12) call->count = -7;
  CnMaterialDef *material = &call->material;
  *material = cn_material_def_default();
  material->friction = number(0, 1);
  material->restitution = number(0, 1);
  material->rolling_friction = seldom(0, .01);
  material->spinning_friction = seldom(0, .01);
  material->cohesion = seldom(0, 1);
  material->friction_rule = (CnCombine)roll(5 + hostile);
  material->name = some_name();
}

static void draw_axis(const Call *call, CnJointAxis *axis) {
  axis->stiffness = seldom(0, 1000);
  axis->damping = seldom(0, 10);
  axis->rest = seldom(-1, 1);
  if (modest && !hostile) return;
  if (roll(4) == 0) axis->lower = number(-1, -.1), axis->upper = number(.1, 1);
  if (roll(4) == 0) {
    axis->drive = (CnDrive)roll(3 + hostile);
    axis->motor_effort = number(0, 10);
    axis->motor_speed = number(-1, 1);
    axis->motor_position = number(-1, 1);
    if (roll(3) == 0) axis->motor_function = AS(CnFunctionId, call->id[FUNCTION]);
    axis->motor_stiffness = seldom(0, 100);
    axis->motor_damping = seldom(0, 10);
  }
  axis->friction = seldom(0, 1);
  axis->restitution = seldom(0, 1);
  axis->limit_stiffness = seldom(0, 1000);
  axis->limit_damping = seldom(0, 10);
  axis->friction_coefficient = seldom(0, .5);
  axis->friction_radius = seldom(0, .1);
  axis->armature = seldom(0, 1);
}

static void draw_joint(Call *call, CnBodyId other) {
  CnJointDef *def = &call->new_joint;
  *def = cn_joint_def_default((CnJointKind)roll(CN_JOINT_KIND_COUNT + hostile));
  if (roll(4) && (hostile || other.slot != call->id[BODY].slot)) def->body_a = other;
  def->body_b = AS(CnBodyId, call->id[BODY]);
  def->name = some_name();
  if (def->kind == CN_JOINT_SCREW) def->lead = number(-.1, .1);
  // what a joint can become: everything but kind, bodies and frames
  call->joint = *def;
  cn_joint_def(world_a, AS(CnJointId, call->id[JOINT]), &call->joint);
  call->joint.name = NULL;
  for (CnJointDef *d = def;; d = &call->joint) {
    int32_t soft = hostile || d->kind == CN_JOINT_BALL || d->kind == CN_JOINT_DISTANCE;
    if (hostile || d->kind == CN_JOINT_DISTANCE || d->kind == CN_JOINT_ROPE || !roll(8))
      d->distance = seldom(.1, 1);
    if (soft) d->stiffness = seldom(0, 1000);
    if (soft) d->damping = seldom(0, 10);
    for (int32_t i = 0; i < CN_JOINT_AXES; ++i)
      if (hostile || cn_joint_coordinate_name(d->kind, i)) draw_axis(call, &d->axes[i]);
    if (d == &call->joint) break;
  }
  CnCouplingDef *coupling = &call->coupling;
  *coupling = cn_coupling_def_default();
  coupling->term_count = hostile ? roll(11) - 1 : 1 + roll(3);
  for (int32_t i = 0; i < CN_COUPLING_TERMS; ++i) {
    int32_t stale;
    Id id = i ? some_id(JOINT, &stale) : call->id[JOINT];
    coupling->terms[i].joint = AS(CnJointId, id);
    coupling->terms[i].coordinate = roll(hostile ? 8 : 2);
    coupling->terms[i].coefficient = number(.5, 2);
  }
  coupling->square = seldom(-1, 1);
  coupling->one_sided = !modest && roll(6) == 0;
  if (roll(6) == 0) coupling->function = AS(CnFunctionId, call->id[FUNCTION]);
}

static CnStatus user_force(void *context, const CnForceSight *sight, CnForceEffect *effect) {
  (void)context;
  effect->force = cn_vec3(sight->frame_a.position.x - sight->frame_b.position.x, 1, 0);
  return CN_OK;
}

// The numbers of its kind, or of any.
static void draw_force_numbers(CnForceDef *d) {
  CnForceKind kind = hostile ? (CnForceKind)roll(CN_FORCE_KIND_COUNT) : d->kind;
  double k = number(0, 1000), c = number(0, 10), drag = number(0, 1);
  if (kind == CN_FORCE_SPRING) {
    d->stiffness = k;
    d->damping = c;
    d->rest_length = seldom(.1, 1);
  } else if (kind == CN_FORCE_DRAG) {
    d->linear_drag = drag;
    d->quadratic_drag = drag;
    d->angular_drag = .1 * drag;
  } else if (kind == CN_FORCE_CONSTANT) {
    d->force = vector(10);
    d->torque = vector(1);
    d->body_fixed = roll(2);
  } else if (kind == CN_FORCE_TORSION) {
    d->torsion_stiffness = .01 * k;
    d->torsion_damping = .1 * c;
    d->rest_angle = number(-1, 1);
  } else if (kind == CN_FORCE_BUSHING) {
    d->linear_stiffness = d->angular_stiffness = cn_vec3(k, k, k);
    d->linear_damping = d->angular_damping = cn_vec3(c, c, c);
  } else if (kind == CN_FORCE_ATTRACTION) {
    d->strength = number(-1, 1);
  }
}

static void draw_force(Call *call, CnBodyId other) {
  CnForceKind kind = (CnForceKind)roll(CN_FORCE_KIND_COUNT + hostile);
  call->new_force = cn_force_def_default(kind);
  call->new_force.body_b = AS(CnBodyId, call->id[BODY]);
  if (kind != CN_FORCE_DRAG && kind != CN_FORCE_CONSTANT && roll(3)) call->new_force.body_a = other;
  if (kind == CN_FORCE_DRAG || kind == CN_FORCE_CONSTANT) other = (CnBodyId){0, 0};
  call->new_force.frame_a = other.slot ? placed(.3) : call->new_force.frame_a;
  call->new_force.frame_b = placed(.3);
  if (kind == CN_FORCE_USER) call->new_force.function = user_force;
  call->new_force.name = some_name();
  call->force = call->new_force;
  cn_force_def(world_a, AS(CnForceId, call->id[FORCE]), &call->force);
  call->force.name = NULL;
  for (CnForceDef *d = &call->new_force;; d = &call->force) {
    draw_force_numbers(d);
    if (d == &call->force) break;
  }
}

static void draw_function(Call *call) {
  CnFunctionDef *def = &call->function;
  *def = cn_function_def_default((CnFunctionKind)roll(CN_FUNCTION_KIND_COUNT + hostile));
  def->value = number(-.2, .2);
  def->final = number(-.2, .2);
  def->rate = number(-.2, .2);
  def->amplitude = number(-.2, .2);
  def->frequency = number(.1, 5);
  def->phase = number(-3, 3);
  def->start = number(0, .1);
  if (roll(2) || def->kind == CN_FUNCTION_SMOOTH_STEP) def->end = def->start + number(.01, .2);
  for (int32_t i = 0; i < 4; ++i) {
    call->times[i] = .05 * i + number(0, .04);
    call->values[i] = number(-.2, .2);
  }
  if (hostile || def->kind == CN_FUNCTION_TABLE || def->kind == CN_FUNCTION_SPLINE) {
    def->times = call->times;
    def->values = call->values;
    def->point_count = hostile ? roll(5) : 2 + roll(3);
    if (roll(3) == 0) def->period = number(.3, .5);
  }
  def->name = some_name();
}

static void draw(Call *call) {
  memset(call, 0, sizeof *call);
  hostile = roll(10) == 0;
  call->null = hostile && roll(8) == 0;
  int32_t stale;
  for (Class class = BODY; class < CLASS_COUNT; ++class)
    call->id[class] = some_id(class, &call->stale[class]);
  call->other_shape = some_id(SHAPE, &stale);
  Id other_id = some_id(BODY, &stale);
  CnBodyId other = AS(CnBodyId, other_id);
  call->pose = placed(1.5);
  call->twist = (CnTwist){vector(1), vector(1)};
  call->here = vector(2);
  call->there = vector(2);
  call->number = number(.001, .01);
  draw_function(call);
  draw_body(call);
  draw_shape(call);
  draw_joint(call, other);
  draw_force(call, other);
}

// ---- the calls ----

#define MAKE(Type, create, ...)                                                                    \
  Type id = {0, 0};                                                                                \
  CnStatus status = create(__VA_ARGS__, &id);                                                      \
  call->made = AS(Id, id);                                                                         \
  return status
#define OR_NULL(pointer) (call->null ? NULL : (pointer))

static void on_wall(Call *call, int32_t at, CnVec3 v) {
  call->wall[at] = v.x;
  call->wall[at + 1] = v.y;
  call->wall[at + 2] = v.z;
}

static CnStatus body_create(CnWorld *w, Call *call) {
  MAKE(CnBodyId, cn_body_create, w, OR_NULL(&call->body));
}
static CnStatus body_destroy(CnWorld *w, Call *call) {
  return cn_body_destroy(w, AS(CnBodyId, call->id[BODY]));
}
static CnStatus body_set_pose(CnWorld *w, Call *call) {
  return cn_body_set_pose(w, AS(CnBodyId, call->id[BODY]), OR_NULL(&call->pose));
}
static CnStatus body_set_twist(CnWorld *w, Call *call) {
  return cn_body_set_twist(w, AS(CnBodyId, call->id[BODY]), OR_NULL(&call->twist));
}
static CnStatus body_apply_force(CnWorld *w, Call *call) {
  return cn_body_apply_force(w, AS(CnBodyId, call->id[BODY]), call->here, call->there);
}
static CnStatus body_apply_torque(CnWorld *w, Call *call) {
  return cn_body_apply_torque(w, AS(CnBodyId, call->id[BODY]), call->here);
}
static CnStatus body_set_mass(CnWorld *w, Call *call) {
  return cn_body_set_mass(w, AS(CnBodyId, call->id[BODY]), call->body.mass,
                          OR_NULL(&call->body.com), OR_NULL(&call->body.inertia));
}
static CnStatus body_set_kind(CnWorld *w, Call *call) {
  return cn_body_set_kind(w, AS(CnBodyId, call->id[BODY]), call->body.kind);
}
static CnStatus body_apply_impulse(CnWorld *w, Call *call) {
  return cn_body_apply_impulse(w, AS(CnBodyId, call->id[BODY]), call->here, call->there);
}
static CnStatus body_apply_local_force(CnWorld *w, Call *call) {
  return cn_body_apply_local_force(w, AS(CnBodyId, call->id[BODY]), call->here, call->there);
}
static CnStatus bodies_set_state(CnWorld *w, Call *call) {
  CnBodyId id = AS(CnBodyId, call->id[BODY]);
  return cn_bodies_set_state(w, &id, 1, OR_NULL(&call->pose), &call->twist);
}
static CnStatus body_set_motion(CnWorld *w, Call *call) {
  return cn_body_set_motion(w, AS(CnBodyId, call->id[BODY]),
                            OR_NULL(modest ? NULL : &call->motion));
}
static CnStatus body_info(CnWorld *w, Call *call) {
  CnBodyInfo info = {.mass = 0};
  CnStatus status = cn_body_info(w, AS(CnBodyId, call->id[BODY]), OR_NULL(&info));
  on_wall(call, 0, info.inertia);
  call->wall[3] = info.mass;
  return status;
}

static CnStatus material_create(CnWorld *w, Call *call) {
  MAKE(CnMaterialId, cn_material_create, w, OR_NULL(&call->material));
}
static CnStatus material_set(CnWorld *w, Call *call) {
  return cn_material_set(w, AS(CnMaterialId, call->id[MATERIAL]), OR_NULL(&call->material));
}
static CnStatus material_destroy(CnWorld *w, Call *call) {
  return cn_material_destroy(w, AS(CnMaterialId, call->id[MATERIAL]));
}
static CnStatus geometry_create(CnWorld *w, Call *call) {
  MAKE(CnGeometryId, cn_geometry_create_points, w, call->body.name, OR_NULL(call->points),
       call->count);
}
static CnStatus geometry_destroy(CnWorld *w, Call *call) {
  return cn_geometry_destroy(w, AS(CnGeometryId, call->id[GEOMETRY]));
}
static CnStatus geometry_info(CnWorld *w, Call *call) {
  CnGeometryInfo info = {.volume = 0};
  CnStatus status = cn_geometry_info(w, AS(CnGeometryId, call->id[GEOMETRY]), OR_NULL(&info));
  call->wall[0] = info.volume;
  call->wall[1] = info.use_count;
  return status;
}
static CnStatus shape_create(CnWorld *w, Call *call) {
  MAKE(CnShapeId, cn_shape_create, w, AS(CnBodyId, call->id[BODY]), OR_NULL(&call->shape));
}
static CnStatus shape_destroy(CnWorld *w, Call *call) {
  return cn_shape_destroy(w, AS(CnShapeId, call->id[SHAPE]));
}
static CnStatus shape_def(CnWorld *w, Call *call) {
  CnShapeDef def = cn_shape_def_default(CN_SHAPE_SPHERE);
  CnStatus status = cn_shape_def(w, AS(CnShapeId, call->id[SHAPE]), OR_NULL(&def));
  call->wall[0] = def.radius;
  return status;
}

static CnStatus shape_set_material(CnWorld *w, Call *call) {
  CnMaterialId none = {0, 0}, id = AS(CnMaterialId, call->id[MATERIAL]);
  return cn_shape_set_material(w, AS(CnShapeId, call->id[SHAPE]), call->null ? none : id);
}
static CnStatus shape_set_filter(CnWorld *w, Call *call) {
  return cn_shape_set_filter(w, AS(CnShapeId, call->id[SHAPE]), call->shape.category,
                             call->shape.mask);
}
static CnStatus shape_set_name(CnWorld *w, Call *call) {
  CnShapeId id = AS(CnShapeId, call->id[SHAPE]);
  CnStatus status = cn_shape_set_name(w, id, call->body.name);
  call->wall[0] = (double)strlen(cn_shape_name(w, id));
  call->wall[1] = cn_world_find_shape(w, call->body.name).slot;
  return status;
}
static CnStatus user_data_set(CnWorld *w, Call *call) {
  CnThing thing = {CN_THING_JOINT, call->id[JOINT].slot, call->id[JOINT].generation};
  uint64_t data = 0;
  CnStatus status = cn_user_data_set(w, thing, (uint64_t)call->count);
  if (status == CN_OK) status = cn_user_data(w, thing, &data);
  call->wall[0] = (double)data;
  return status;
}
static CnStatus overlap_pairs(CnWorld *w, Call *call) {
  CnOverlap list[4] = {{{0, 0}, {0, 0}, {0, 0}, {0, 0}, 0}};
  int32_t count = 0;
  CnStatus status = cn_world_overlap_pairs(w, list, 4, OR_NULL(&count));
  call->wall[0] = count;
  call->wall[1] = list[0].depth;
  return status;
}

static CnStatus joint_create(CnWorld *w, Call *call) {
  CnJointDef def = call->new_joint;
  CnStatus at = call->null ? cn_joint_def_at(w, call->here, &def)
                           : cn_joint_def_along(w, call->here, call->there, &def);
  if (at != CN_OK) return at;
  MAKE(CnJointId, cn_joint_create, w, OR_NULL(&def));
}
static CnStatus joint_destroy(CnWorld *w, Call *call) {
  return cn_joint_destroy(w, AS(CnJointId, call->id[JOINT]));
}
static CnStatus joint_set(CnWorld *w, Call *call) {
  return cn_joint_set(w, AS(CnJointId, call->id[JOINT]), OR_NULL(&call->joint));
}
static CnStatus joint_state(CnWorld *w, Call *call) {
  CnJointState state = {.error = 0};
  CnStatus status = cn_joint_state(w, AS(CnJointId, call->id[JOINT]), OR_NULL(&state));
  on_wall(call, 0, state.force);
  call->wall[3] = state.error;
  call->wall[4] = state.coordinate[0];
  return status;
}
static CnStatus coupling_create(CnWorld *w, Call *call) {
  MAKE(CnCouplingId, cn_coupling_create, w, OR_NULL(&call->coupling));
}
static CnStatus coupling_destroy(CnWorld *w, Call *call) {
  return cn_coupling_destroy(w, AS(CnCouplingId, call->id[COUPLING]));
}
static CnStatus coupling_state(CnWorld *w, Call *call) {
  CnCouplingState state = {0, 0};
  CnStatus status = cn_coupling_state(w, AS(CnCouplingId, call->id[COUPLING]), OR_NULL(&state));
  call->wall[0] = state.effort;
  call->wall[1] = state.error;
  return status;
}

static CnStatus function_create(CnWorld *w, Call *call) {
  MAKE(CnFunctionId, cn_function_create, w, OR_NULL(&call->function));
}
static CnStatus function_set(CnWorld *w, Call *call) {
  return cn_function_set(w, AS(CnFunctionId, call->id[FUNCTION]), OR_NULL(&call->function));
}
static CnStatus function_destroy(CnWorld *w, Call *call) {
  return cn_function_destroy(w, AS(CnFunctionId, call->id[FUNCTION]));
}
static CnStatus function_value(CnWorld *w, Call *call) {
  return cn_function_value(w, AS(CnFunctionId, call->id[FUNCTION]), call->number * 20,
                           OR_NULL(call->wall));
}
static CnStatus force_create(CnWorld *w, Call *call) {
  MAKE(CnForceId, cn_force_create, w, OR_NULL(&call->new_force));
}
static CnStatus force_set(CnWorld *w, Call *call) {
  return cn_force_set(w, AS(CnForceId, call->id[FORCE]), OR_NULL(&call->force));
}
static CnStatus force_destroy(CnWorld *w, Call *call) {
  return cn_force_destroy(w, AS(CnForceId, call->id[FORCE]));
}
static CnStatus force_state(CnWorld *w, Call *call) {
  CnForceState state = {.power = 0};
  CnStatus status = cn_force_state(w, AS(CnForceId, call->id[FORCE]), OR_NULL(&state));
  on_wall(call, 0, state.force);
  on_wall(call, 3, state.torque);
  return status;
}

static CnStatus step(CnWorld *w, Call *call) {
  CnStepReport report = {.step = 0};
  CnStatus status = cn_world_step(w, OR_NULL(&report));
  call->wall[0] = report.time;
  call->wall[1] = report.contact_count;
  return status;
}
static CnStatus set_time_step(CnWorld *w, Call *call) {
  return cn_world_set_time_step(w, call->number);
}
static CnStatus set_gravity(CnWorld *w, Call *call) { return cn_world_set_gravity(w, call->here); }
static CnStatus penetration(CnWorld *w, Call *call) {
  CnPenetration found = {0, 0, 0};
  CnStatus status = cn_world_penetration(w, OR_NULL(&found));
  call->wall[0] = found.max;
  call->wall[1] = found.mean;
  return status;
}
static CnStatus mechanism(CnWorld *w, Call *call) {
  CnMechanism found = {.freedoms = 0};
  CnDependentRow rows[4];
  CnStatus status = cn_world_mechanism(w, OR_NULL(&found), rows, 4);
  call->wall[0] = found.freedoms;
  call->wall[1] = found.error;
  return status;
}
static CnStatus assemble(CnWorld *w, Call *call) {
  return cn_world_assemble(w, call->number, NULL);
}
static CnStatus estimate(CnWorld *w, Call *call) {
  CnStepEstimate found = {0, 0, 0, 0};
  CnStatus status = cn_world_estimate(w, OR_NULL(&found));
  call->wall[0] = found.position;
  call->wall[1] = found.spin;
  return status;
}

// What is known of the last step until a restore, which the twin alone may have seen: not compared.
static CnStatus last_step(CnWorld *w, Call *call) {
  CnStepBalance kept;
  CnProblem *solved = NULL;
  CnProblemInfo info;
  CnBlockOwner owner;
  CnBodyId body;
  const CnLocatedEvent *located;
  int32_t count = 0;
  if (cn_world_balance(w, OR_NULL(&kept)) == CN_OK)
    HOLD(isfinite(kept.change.energy) && isfinite(kept.residual.energy));
  cn_world_located_events(w, &located, &count);
  for (int32_t i = 0; i < count; ++i) HOLD(isfinite(located[i].time));
  if (cn_world_problem(w, OR_NULL(&solved), NULL) != CN_OK) return CN_OK;
  cn_problem_info(solved, &info);
  for (int32_t i = 0; i <= info.block_count; ++i)
    HOLD((cn_world_problem_block(w, i, &owner) == CN_OK) == (i < info.block_count));
  for (int32_t i = 0; i <= info.group_count; ++i)
    HOLD((cn_world_problem_body(w, i, &body) == CN_OK) == (i < info.group_count));
  return CN_OK;
}
static CnStatus events(CnWorld *w, Call *call) {
  const CnContactEvent *touched;
  int32_t count = 0;
  cn_world_events(w, &touched, &count);
  call->wall[0] = count;
  for (int32_t i = 0; i < count; ++i) call->wall[1] += touched[i].shape_a.slot;
  return CN_OK;
}

static CnStatus ray(CnWorld *w, Call *call) {
  CnHit hits[3];
  int32_t count = 0;
  CnStatus status = cn_world_ray_all(w, call->here, call->there, NULL, hits, 3, OR_NULL(&count));
  call->wall[0] = count;
  if (status == CN_OK && count) on_wall(call, 1, hits[0].point);
  return status;
}
static CnStatus cast(CnWorld *w, Call *call) {
  CnHit hit = {.at = 0};
  CnStatus status = cn_world_cast(w, OR_NULL(&call->shape), call->there, NULL, &hit);
  call->wall[0] = hit.at;
  call->wall[1] = hit.shape.slot;
  return status;
}
static CnStatus overlap(CnWorld *w, Call *call) {
  CnShapeId shapes[4];
  int32_t count = 0;
  CnStatus status = cn_world_overlap(w, OR_NULL(&call->shape), NULL, shapes, 4, &count);
  call->wall[0] = count;
  return status;
}
static CnStatus closest(CnWorld *w, Call *call) {
  CnClosest found = {.gap = 0};
  CnStatus status = cn_world_closest(w, call->here, NULL, OR_NULL(&found));
  call->wall[0] = found.gap;
  return status;
}
static CnStatus shape_closest(CnWorld *w, Call *call) {
  CnClosest found = {.gap = 0};
  CnStatus status = cn_shape_closest(w, AS(CnShapeId, call->id[SHAPE]),
                                     AS(CnShapeId, call->other_shape), OR_NULL(&found));
  call->wall[0] = found.gap;
  on_wall(call, 1, found.normal);
  return status;
}
static CnStatus contact(CnWorld *w, Call *call) {
  CnContact found = {.gap = 0};
  CnStatus status = cn_world_contact(w, call->count - 5, OR_NULL(&found));
  call->wall[0] = found.gap;
  on_wall(call, 1, found.impulse);
  return status;
}
// A snapshot with one byte changed.
static CnStatus damaged(CnWorld *w, Call *call) {
  double place = isfinite(call->number) ? 1e6 * fabs(call->number) : 0;
  size_t at = (size_t)place % shot_size;
  shot[at] ^= 0x10;
  CnStatus status = cn_world_restore(w, OR_NULL(shot), shot_size);
  shot[at] ^= 0x10;
  HOLD(status != CN_OK);
  return status;
}

static const Operation operations[] = {
    {"body_create", body_create, NOTHING, BODY, NOTHING, 14},
    {"body_destroy", body_destroy, BODY, NOTHING, BODY, 4},
    {"body_set_pose", body_set_pose, BODY, NOTHING, NOTHING, 4},
    {"body_set_twist", body_set_twist, BODY, NOTHING, NOTHING, 4},
    {"body_apply_force", body_apply_force, BODY, NOTHING, NOTHING, 4},
    {"body_apply_torque", body_apply_torque, BODY, NOTHING, NOTHING, 4},
    {"body_set_motion", body_set_motion, BODY, NOTHING, NOTHING, 4},
    {"body_info", body_info, BODY, NOTHING, NOTHING, 2},
    {"material_create", material_create, NOTHING, MATERIAL, NOTHING, 4},
    {"material_set", material_set, MATERIAL, NOTHING, NOTHING, 3},
    {"material_destroy", material_destroy, MATERIAL, NOTHING, MATERIAL, 2},
    {"geometry_create", geometry_create, NOTHING, GEOMETRY, NOTHING, 4},
    {"geometry_destroy", geometry_destroy, GEOMETRY, NOTHING, GEOMETRY, 2},
    {"geometry_info", geometry_info, GEOMETRY, NOTHING, NOTHING, 1},
    {"shape_create", shape_create, BODY, SHAPE, NOTHING, 16},
    {"shape_destroy", shape_destroy, SHAPE, NOTHING, SHAPE, 3},
    {"shape_def", shape_def, SHAPE, NOTHING, NOTHING, 1},
    {"joint_create", joint_create, BODY, JOINT, NOTHING, 10},
    {"joint_destroy", joint_destroy, JOINT, NOTHING, JOINT, 3},
    {"joint_set", joint_set, JOINT, NOTHING, NOTHING, 5},
    {"joint_state", joint_state, JOINT, NOTHING, NOTHING, 2},
    {"coupling_create", coupling_create, JOINT, COUPLING, NOTHING, 5},
    {"coupling_destroy", coupling_destroy, COUPLING, NOTHING, COUPLING, 2},
    {"coupling_state", coupling_state, COUPLING, NOTHING, NOTHING, 1},
    {"function_create", function_create, NOTHING, FUNCTION, NOTHING, 5},
    {"function_set", function_set, FUNCTION, NOTHING, NOTHING, 3},
    {"function_destroy", function_destroy, FUNCTION, NOTHING, FUNCTION, 2},
    {"function_value", function_value, FUNCTION, NOTHING, NOTHING, 1},
    {"force_create", force_create, BODY, FORCE, NOTHING, 6},
    {"force_set", force_set, FORCE, NOTHING, NOTHING, 3},
    {"force_destroy", force_destroy, FORCE, NOTHING, FORCE, 2},
    {"force_state", force_state, FORCE, NOTHING, NOTHING, 1},
    {"step", step, NOTHING, NOTHING, NOTHING, 40},
    {"set_time_step", set_time_step, NOTHING, NOTHING, NOTHING, 2},
    {"set_gravity", set_gravity, NOTHING, NOTHING, NOTHING, 2},
    {"penetration", penetration, NOTHING, NOTHING, NOTHING, 2},
    {"mechanism", mechanism, NOTHING, NOTHING, NOTHING, 1},
    {"assemble", assemble, NOTHING, NOTHING, NOTHING, 1},
    {"estimate", estimate, NOTHING, NOTHING, NOTHING, 1},
    {"last_step", last_step, NOTHING, NOTHING, NOTHING, 3},
    {"events", events, NOTHING, NOTHING, NOTHING, 2},
    {"ray", ray, NOTHING, NOTHING, NOTHING, 2},
    {"cast", cast, NOTHING, NOTHING, NOTHING, 2},
    {"overlap", overlap, NOTHING, NOTHING, NOTHING, 2},
    {"closest", closest, NOTHING, NOTHING, NOTHING, 1},
    {"shape_closest", shape_closest, SHAPE, NOTHING, NOTHING, 2},
    {"contact", contact, NOTHING, NOTHING, NOTHING, 2},
    {"damaged", damaged, NOTHING, NOTHING, NOTHING, 1},
    {"body_set_mass", body_set_mass, BODY, NOTHING, NOTHING, 3},
    {"body_set_kind", body_set_kind, BODY, NOTHING, NOTHING, 3},
    {"body_apply_impulse", body_apply_impulse, BODY, NOTHING, NOTHING, 2},
    {"body_apply_local_force", body_apply_local_force, BODY, NOTHING, NOTHING, 2},
    {"bodies_set_state", bodies_set_state, BODY, NOTHING, NOTHING, 2},
    {"shape_set_material", shape_set_material, SHAPE, NOTHING, NOTHING, 2},
    {"shape_set_filter", shape_set_filter, SHAPE, NOTHING, NOTHING, 2},
    {"shape_set_name", shape_set_name, SHAPE, NOTHING, NOTHING, 1},
    {"user_data_set", user_data_set, JOINT, NOTHING, NOTHING, 1},
    {"overlap_pairs", overlap_pairs, NOTHING, NOTHING, NOTHING, 1},
};
#define OPERATION_COUNT ((int32_t)(sizeof operations / sizeof operations[0]))

static const Operation *some_operation(void) {
  int32_t sum = 0, at = 0;
  for (int32_t i = 0; i < OPERATION_COUNT; ++i) sum += operations[i].weight;
  int32_t left = roll(sum);
  while (left >= operations[at].weight) left -= operations[at++].weight;
  return &operations[at];
}

// ---- the model ----

static int32_t is_live(Class class, Id id) {
  CnBodyId body;
  CnJointDef joint;
  CnCouplingDef coupling;
  CnForceDef force;
  switch (class) {
  case SHAPE:
    return cn_shape_body(world_a, AS(CnShapeId, id), &body) == CN_OK;
  case JOINT:
    return cn_joint_def(world_a, AS(CnJointId, id), &joint) == CN_OK;
  case COUPLING:
    return cn_coupling_def(world_a, AS(CnCouplingId, id), &coupling) == CN_OK;
  case FORCE:
    return cn_force_def(world_a, AS(CnForceId, id), &force) == CN_OK;
  default:
    return 1;
  }
}

static void bury(Class class, int32_t at) {
  int32_t grave = dead_count[class] < DEAD ? dead_count[class]++ : roll(DEAD);
  dead[class][grave] = model.live[class][at];
  model.live[class][at] = model.live[class][--model.live_count[class]];
}

// Keep the model: what was made, what was destroyed, and what went with it.
static void keep_model(const Operation *operation, const Call *call) {
  Class makes = operation->makes, ends = operation->ends;
  if (makes) {
    HOLD(call->made.slot);
    model.live[makes][model.live_count[makes]++] = call->made;
  }
  if (!ends) return;
  for (int32_t i = model.live_count[ends]; i-- > 0;) {
    Id id = model.live[ends][i];
    if (id.slot == call->id[ends].slot && id.generation == call->id[ends].generation) bury(ends, i);
  }
  for (Class class = BODY; class < CLASS_COUNT; ++class)
    for (int32_t i = model.live_count[class]; i-- > 0;)
      if (!is_live(class, model.live[class][i])) bury(class, i);
}

static void check_counts(CnWorld *world) {
  CnWorldInfo info;
  cn_world_info(world, &info);
  HOLD(info.body_count == model.live_count[BODY]);
  HOLD(info.shape_count == model.live_count[SHAPE]);
  HOLD(info.joint_count == model.live_count[JOINT]);
  HOLD(info.material_count == model.live_count[MATERIAL]);
  HOLD(info.force_count == model.live_count[FORCE]);
  for (int32_t i = 0; i < model.live_count[BODY]; ++i) {
    CnPose pose;
    CnTwist twist;
    CnBodyId body = AS(CnBodyId, model.live[BODY][i]);
    HOLD(cn_body_pose(world, body, &pose) == CN_OK);
    HOLD(cn_body_twist(world, body, &twist) == CN_OK);
    double sum = pose.position.x + pose.position.y + pose.position.z + pose.rotation.w +
                 pose.rotation.x + pose.rotation.y + pose.rotation.z + twist.velocity.x +
                 twist.velocity.y + twist.velocity.z + twist.spin.x + twist.spin.y + twist.spin.z;
    HOLD(isfinite(sum));
  }
}

// ---- one call to both ----

static size_t save(const CnWorld *world, unsigned char *data) {
  size_t size = 0;
  HOLD(cn_world_save(world, data, ROOM, &size) == CN_OK);
  return size;
}

static void check_unchanged(const CnWorld *world) {
  HOLD(save(world, shot_a) == shot_size);
  HOLD(memcmp(shot, shot_a, shot_size) == 0);
}

// Both worlds have the same bytes, which are kept in `shot`.
static void check_alike(void) {
  shot_size = save(world_a, shot);
  check_unchanged(world_b);
}

static void check_message(void) {
  const char *message = cn_error_message();
  HOLD(*message);
  HOLD(!strchr(message, '\n'));
}

// The same call while memory runs out: it does without, or nothing has changed.
static CnStatus run_scarce(const Operation *operation, CnWorld *world, TestAlloc *alloc,
                           Call *call) {
  int32_t scarce = watched && roll(3) == 0, at = 1 + roll(roll(2) ? 3 : 40), all = roll(2);
  if (scarce) {
    Call trial = *call;
    (all ? test_alloc_fail_from : test_alloc_fail_at)(alloc, at);
    CnStatus status = operation->run(world, &trial);
    int64_t failed = alloc->failed_count;
    test_alloc_fail_never(alloc);
    if (status == CN_OK || !failed) {
      call->made = trial.made;
      memcpy(call->wall, trial.wall, sizeof call->wall);
      return status;
    }
    check_message();
    check_unchanged(world);
    ++count_no_memory;
  }
  return operation->run(world, call);
}

// Is there room for what it makes, and what it asks for?
static int32_t fits(const Operation *operation) {
  if (operation->makes && model.live_count[operation->makes] >= most) return 0;
  return !operation->asks || hostile || model.live_count[operation->asks] > 0;
}

static void call_both(void) {
  const Operation *operation;
  Call call;
  do {
    operation = some_operation();
    draw(&call);
    if (most == LIVE && !fits(operation)) return;
  } while (!fits(operation));
  operation_name = operation->name;
  watched = hostile || roll(12) == 0;
  if (watched) shot_size = save(world_a, shot);
  Call twin = call;
  CnStatus status = run_scarce(operation, world_a, &alloc_a, &call);
  if (status != CN_OK) check_message();
  CnStatus other = run_scarce(operation, world_b, &alloc_b, &twin);
  HOLD(status == other);
  HOLD(call.made.slot == twin.made.slot && call.made.generation == twin.made.generation);
  HOLD(memcmp(call.wall, twin.wall, sizeof call.wall) == 0);
  if (operation->asks && call.stale[operation->asks])
    HOLD(status == CN_INVALID_HANDLE || status == CN_INVALID_ARGUMENT);
  if (status == CN_OK) {
    keep_model(operation, &call);
    ++count_ok;
    count_steps += operation->run == step;
  } else {
    ++count_refused;
    ended |= operation->run == step && status == CN_STOPPED;
    if (watched) check_unchanged(world_a);
  }
  HOLD(cn_world_hash(world_a) == cn_world_hash(world_b));
  if (watched) check_alike();
  check_counts(world_b);
}

// Snapshots do not keep the functions of user forces.
static void set_user_forces(CnWorld *world) {
  for (CnForceId id = {0, 0}; (id = cn_world_next_force(world, id)).slot;) {
    CnForceDef def;
    HOLD(cn_force_def(world, id, &def) == CN_OK);
    if (def.kind != CN_FORCE_USER) continue;
    def.function = user_force;
    HOLD(cn_force_set(world, id, &def) == CN_OK);
  }
}

// The twin from a snapshot, or both back to an older one.
static void restore(void) {
  operation_name = "restore";
  check_alike();
  if (old_size && roll(4) == 0) {
    HOLD(cn_world_restore(world_a, old_shot, old_size) == CN_OK);
    HOLD(cn_world_restore(world_b, old_shot, old_size) == CN_OK);
    model = old_model;
    memset(dead_count, 0, sizeof dead_count);
    memcpy(shot, old_shot, shot_size = old_size);
  } else {
    HOLD(cn_world_restore(world_b, shot, shot_size) == CN_OK);
  }
  set_user_forces(world_a);
  set_user_forces(world_b);
  check_unchanged(world_a);
  check_unchanged(world_b);
  if (roll(2)) {
    memcpy(old_shot, shot, old_size = shot_size);
    old_model = model;
  }
}

// ---- worlds ----

static int32_t filter(void *context, const CnWorld *world, CnShapeId a, CnShapeId b) {
  (void)context;
  (void)world;
  return (a.slot + b.slot) % 5 != 0;
}

static void before_step(void *context, CnWorld *world, double time, double time_step) {
  (void)context;
  (void)time;
  (void)time_step;
  CnBodyDef def = cn_body_def_default();
  CnBodyId made;
  HOLD(cn_body_create(world, &def, &made) == CN_BUSY);
}

static int32_t table_size(const char *(*name)(int32_t)) {
  int32_t count = 0;
  while (name(count)) ++count;
  return count;
}

static void create_worlds(void) {
  CnWorldDef def = cn_world_def_default();
  def.time_step = .001 * (1 + roll(10));
  if (roll(2)) def.integrator = cn_integrator_name(roll(table_size(cn_integrator_name)));
  modest = strcmp(def.integrator, "impulse") != 0 && roll(4);
  def.integration.project_start = roll(2);
  def.integration.max_steps = most < LIVE ? 50 : 200;
  def.integration.max_events = 50;
  if (roll(2)) def.solver = cn_solver_def_default(cn_solver_name(roll(table_size(cn_solver_name))));
  def.solver.max_iterations = 1 + roll(30);
  if (roll(8))
    def.solver.effort = CN_EFFORT_QUICK; // what nobody can solve takes up all that is allowed
  def.friction = (CnFrictionModel)roll(2);
  def.restitution_law = (CnRestitutionLaw)roll(3);
  def.geometric_stiffness = roll(2);
  def.balance = roll(2);
  if (roll(4) == 0) def.hooks.filter = filter;
  if (roll(4) == 0) def.hooks.before_step = before_step;
  CnWorldDef twin = def;
  test_alloc_init(&alloc_a);
  test_alloc_init(&alloc_b);
  def.allocator = test_alloc_hook(&alloc_a);
  twin.allocator = test_alloc_hook(&alloc_b);
  twin.worker_count = 1 + roll(3);
  twin.broad_phase = cn_broad_phase_name(roll(table_size(cn_broad_phase_name)));
  operation_name = "world_create";
  HOLD(cn_world_create(&def, &world_a) == CN_OK);
  HOLD(cn_world_create(&twin, &world_b) == CN_OK);
  memset(&model, 0, sizeof model);
  memset(dead_count, 0, sizeof dead_count);
  old_size = 0;
  shot_size = save(world_a, shot);
}

static uint64_t from_environment(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : otherwise;
}

static void episode(int32_t size) {
  seed = rng.state;
  most = size;
  operation_number = ended = 0;
  create_worlds();
  for (int32_t i = 0; i < EPISODE && !ended; ++i, ++operation_number) {
    call_both();
    if (roll(40) == 0) restore();
  }
  cn_world_destroy(world_a);
  cn_world_destroy(world_b);
  test_alloc_check_clean(&alloc_a);
  test_alloc_check_clean(&alloc_b);
}

// Worlds that failed: moreau-jean told a contact that was no more, at no finite place; it worked for a minute on a
// step that nobody can solve; a body of mass -0 had mass 0 after a restore.
static void test_found(void **state) {
  (void)state;
  rng.state = 2827252575545671211u;
  episode(LIVE);
  rng.state = 11800313722894910172u;
  episode(LIVE);
  rng.state = 10211251946136674603u;
  episode(most_of(rng.state));
}

static void test_random_use(void **state) {
  (void)state;
  int64_t count = (int64_t)from_environment("CAIRN_RANDOM_OPERATIONS", 10000);
  rng.state = from_environment("CAIRN_RANDOM_SEED", 1);
  for (int64_t done = 0; done < count; done += operation_number) {
    episode(most_of(rng.state));
  }
  print_message("%lld calls done, %lld refused, %lld without memory, %lld steps\n",
                (long long)count_ok, (long long)count_refused, (long long)count_no_memory,
                (long long)count_steps);
  CHECK(count_ok > count / 3 && count_refused > count / 50 && count_steps > count / 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_use),
                                     cmocka_unit_test(test_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
