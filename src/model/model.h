// What is in a world: bodies, shapes on bodies, materials, joints. Data and bookkeeping, no motion.
//
// Bodies live in dense arrays split by use: pose and twist of the centre of mass (read by every
// stage, and together the state vectors q and v of the integrator), mass, identity. Removing a body
// moves the last one into its place; ids follow. Every function that can fail changes nothing when
// it does.
//
// A dynamic body's state is kept at its centre of mass in principal axes. Bodies that are not
// dynamic have no use for a centre of mass: their state is kept at the body frame itself (com is
// the identity), so that a prescribed spin turns them about the point the user prescribed.
#ifndef CNI_MODEL_H
#define CNI_MODEL_H

#include <cairn/world.h>
#include "core/ids.h"
#include "core/vec.h"
#include "geometry/geometry.h"

#define CNI_NAME_SIZE 48 // longer names are cut; the cut is visible in messages only

// Tags of the definition structs, set by the default functions and checked at creation.
#define CNI_TAG_BODY 0x79646f62u
#define CNI_TAG_SHAPE 0x70616873u
#define CNI_TAG_MATERIAL 0x6574616du
#define CNI_TAG_JOINT 0x746e6f6au

typedef struct CniBodyMass {
  double inv_mass;   // 0 unless dynamic
  CnVec3 inertia;    // principal, kg m^2
  double mass;       // as given or summed, whatever the kind
  int32_t isotropic; // the three principal inertias are equal, bit by bit
  int32_t massless;  // dynamic without mass: a step is refused
} CniBodyMass;
_Static_assert(sizeof(CniBodyMass) == 48, "memory per body is promised");

// Principal, 0 unless dynamic.
static inline CnVec3 cni_inv_inertia(const CniBodyMass *m) {
  if (!(m->inv_mass > 0)) return (CnVec3){0, 0, 0};
  return (CnVec3){1 / m->inertia.x, 1 / m->inertia.y, 1 / m->inertia.z};
}

// What most bodies have no use for: their frame is at the centre of mass, in principal axes, and
// their mass comes from the shapes.
typedef struct CniBodyDetail {
  CnPose com;     // centre of mass and principal axes in the body frame (identity: not dynamic)
  CnPose def_com; // as given, for mass > 0
  CnSym3 def_inertia;
  double def_mass; // 0: from shapes
} CniBodyDetail;

typedef struct CniBody {
  CnBodyKind kind;
  uint32_t slot; // its id
  uint32_t generation;
  int32_t first_shape; // dense index, -1: none; list in order of creation
  int32_t last_shape;
  int32_t shape_count;
  int32_t first_joint; // dense index, -1: none
  uint64_t user_data;
  CniBodyDetail *detail; // null: com is the identity, and nothing was given
  char *name;            // null: none
} CniBody;
_Static_assert(sizeof(CniBody) <= 56, "memory per body is promised");

// Poses of a shape that is not at the origin of its body, or whose body's origin is not its centre
// of mass.
typedef struct CniShapePoses {
  CnPose pose;     // in the frame of the centre of mass (principal axes)
  CnPose def_pose; // as given, in the body frame
} CniShapePoses;

typedef struct CniShape {
  uint32_t slot, generation;
  int32_t body; // dense index
  int32_t next; // next shape of the body, -1
  int32_t previous;
  CnShapeKind kind;
  int32_t material; // dense index
  uint32_t category, mask;
  double radius;
  double density;
  CnVec3 *half_size;    // of a box; null: not one
  CniShapePoses *poses; // null: both are the identity
} CniShape;
_Static_assert(sizeof(CniShape) <= 72, "memory per body is promised");

// The poses and the definition, whether they are kept or not.
static inline CnPose cni_body_com(const CniBody *body) {
  return body->detail ? body->detail->com : CN_POSE_ONE;
}
static inline CnPose cni_shape_pose(const CniShape *shape) {
  return shape->poses ? shape->poses->pose : CN_POSE_ONE;
}
static inline CnVec3 cni_shape_half_size(const CniShape *shape) {
  return shape->half_size ? *shape->half_size : (CnVec3){0, 0, 0};
}
// Of the largest ball inside and the smallest one around.
static inline double cni_model_inradius(const CniShape *shape) {
  if (shape->kind == CN_SHAPE_SPHERE) return shape->radius;
  CniPlaced placed = {shape->kind, CN_POSE_ONE, shape->radius, cni_shape_half_size(shape)};
  return cni_shape_inradius(&placed);
}
static inline double cni_model_outradius(const CniShape *shape) {
  if (shape->kind == CN_SHAPE_SPHERE) return shape->radius;
  CniPlaced placed = {shape->kind, CN_POSE_ONE, shape->radius, cni_shape_half_size(shape)};
  return cni_shape_outradius(&placed);
}
static inline CnPose cni_shape_def_pose(const CniShape *shape) {
  return shape->poses ? shape->poses->def_pose : CN_POSE_ONE;
}

typedef struct CniMaterial {
  uint32_t slot, generation;
  CnMaterialDef def; // def.name is null: name has it
  int32_t use_count;
  char name[CNI_NAME_SIZE];
} CniMaterial;

typedef struct CniJoint {
  uint32_t slot, generation;
  CnJointKind kind;
  int32_t body_a, body_b;  // dense; -1: the ground
  int32_t next_a, next_b;  // lists of joints per body, -1
  CnVec3 local_a, local_b; // anchors from the centre of mass, principal axes (ground: world)
  CnJointDef def;          // as given, the distance filled in; def.name is null: name has it
  double impulse[6];       // of the last step, world axes on b (ball) or along the line: warm start
  CnVec3 linear;           // N s, world axes on b: what the impulse amounts to
  double impulse_step;     // s: time step the impulse belongs to
  char name[CNI_NAME_SIZE];
} CniJoint;

typedef struct CniModel {
  CnAllocator allocator;

  // bodies, dense
  CnPose *pose;   // of the centre of mass, principal axes: the state vector q, 7 numbers a body
  CnTwist *twist; // at the centre of mass: the state vector v, 6 numbers a body
  CnTwist *load; // force and torque about the centre of mass for the next step; null: none anywhere
  CniBodyMass *mass;
  CniBody *bodies;
  int32_t body_count, body_capacity;
  CniIds body_ids;

  CniShape *shapes;
  int32_t shape_count, shape_capacity;
  CniIds shape_ids;

  CniMaterial *materials; // entry 0 is the default material: no id, never destroyed
  int32_t material_count, material_capacity;
  CniIds material_ids;

  CniJoint *joints;
  int32_t joint_count, joint_capacity;
  CniIds joint_ids;
} CniModel;

CnStatus cni_model_init(CniModel *model, const CnAllocator *allocator);
void cni_model_release(CniModel *model);

// Make room for that many in all; the next additions up to there need no memory for the arrays.
CnStatus cni_model_reserve(CniModel *model, int32_t bodies, int32_t shapes, int32_t materials,
                           int32_t joints);

CnStatus cni_model_add_body(CniModel *model, const CnBodyDef *def, CnBodyId *id);
CnStatus cni_model_remove_body(CniModel *model, CnBodyId id);
CnStatus cni_model_add_shape(CniModel *model, CnBodyId body, const CnShapeDef *def, CnShapeId *id);
CnStatus cni_model_remove_shape(CniModel *model, CnShapeId id);
CnStatus cni_model_add_material(CniModel *model, const CnMaterialDef *def, CnMaterialId *id);
CnStatus cni_model_set_material(CniModel *model, CnMaterialId id, const CnMaterialDef *def);
CnStatus cni_model_remove_material(CniModel *model, CnMaterialId id);
CnStatus cni_model_add_joint(CniModel *model, const CnJointDef *def, CnJointId *id);
CnStatus cni_model_remove_joint(CniModel *model, CnJointId id);

// Dense index of an id, or an error that says which kind of id is stale.
CnStatus cni_model_find_body(const CniModel *model, CnBodyId id, int32_t *index);
CnStatus cni_model_find_shape(const CniModel *model, CnShapeId id, int32_t *index);
CnStatus cni_model_find_material(const CniModel *model, CnMaterialId id, int32_t *index);
CnStatus cni_model_find_joint(const CniModel *model, CnJointId id, int32_t *index);

// Make sure that there is an array of loads, of zeros where there was none.
CnStatus cni_model_loads(CniModel *model);
static inline CnTwist cni_model_load(const CniModel *model, int32_t body) {
  return model->load ? model->load[body] : (CnTwist){{0, 0, 0}, {0, 0, 0}};
}

// Body frame from the state at the centre of mass, and back.
CnPose cni_model_body_pose(const CniModel *model, int32_t body);
CnTwist cni_model_body_twist(const CniModel *model, int32_t body);
void cni_model_set_body_pose(CniModel *model, int32_t body, const CnPose *pose);
void cni_model_set_body_twist(CniModel *model, int32_t body, const CnTwist *twist);

// A name for messages: "body 'crate'", or "body 17" with its slot.
void cni_model_body_label(const CniModel *model, int32_t body, char label[CNI_NAME_SIZE + 16]);

// Give a body what it keeps beside the common fields, for data read from outside: details as given
// and a name (null or empty: none). The body has neither yet.
CnStatus cni_body_keep(const CniModel *model, CniBody *body, const CniBodyDetail *detail,
                       const char *name);
// The same for the size of a box and the poses of a shape; both the identity: they are not kept.
CnStatus cni_shape_keep(const CniModel *model, CniShape *shape, CnVec3 half_size, CnPose pose,
                        CnPose def_pose);

// The definition a shape was made from.
CnShapeDef cni_model_shape_def(const CniModel *model, int32_t shape);

// A shape placed in the world at a pose of its body's centre of mass.
CniPlaced cni_model_placed(const CniModel *model, int32_t shape, const CnPose *body_pose);

// The law between two materials.
typedef struct CniPairLaw {
  double friction, restitution, rolling_friction, spinning_friction, cohesion;
} CniPairLaw;
CniPairLaw cni_material_combine(const CnMaterialDef *a, const CnMaterialDef *b);

// World inertia and inverse inertia of a body at a rotation.
CnSym3 cni_model_inertia(const CniModel *model, int32_t body, CnQuat rotation);
CnSym3 cni_model_inv_inertia(const CniModel *model, int32_t body, CnQuat rotation);

// ---- order ----

// Put the bodies in another order: order[i] is the present index of the body that comes to i, each
// once. Shapes follow their bodies. `scratch` has cni_model_reorder_bytes bytes, aligned to a line.
#define CNI_ORDER_LINE 64
size_t cni_model_reorder_bytes(const CniModel *model);
void cni_model_reorder(CniModel *model, const int32_t *order, void *scratch);

// ---- checks of numbers: what names the field in the message ----

CnStatus cni_check_vec3(const char *what, CnVec3 value);
// Finite and at least zero.
CnStatus cni_check_not_negative(const char *what, double value);
// Finite with a rotation that is not zero, which is brought to length one. A rotation that has it
// to rounding keeps its bits, so that reading a pose and writing it back changes nothing.
CnStatus cni_check_pose(const char *what, CnPose *pose);
CnStatus cni_check_twist(const char *what, const CnTwist *twist);

// ---- derived data and consistency, for the snapshot ----

// Mass, inertia, centre of mass and every pose and anchor that hangs on it, from the definitions
// alone; the state (pose, twist) is not touched. CN_INVALID_DATA where the definitions give none.
// May fail for lack of memory too.
CnStatus cni_model_derive(CniModel *model);

// Do counts, ids, lists and cross references fit together, and are all numbers legal?
// CN_INVALID_DATA with a sentence otherwise. Reads nothing out of bounds whatever the contents, as
// long as the counts are true for the arrays.
CnStatus cni_model_consistent(const CniModel *model);

#endif
