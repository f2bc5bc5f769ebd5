// SPDX-License-Identifier: Apache-2.0
// What is in a world: bodies, shapes on bodies, materials, and what links them (links.h). Data and bookkeeping, no motion.
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
#include <string.h>

#include "core/fields.h"
#include "core/ids.h"
#include "core/vec.h"
#include "geometry/geometry.h"
#include "model/links.h"

// Tags of the definition structs, set by the default functions and checked at creation.
#define CNI_TAG_BODY 0x79646f62u
#define CNI_TAG_SHAPE 0x70616873u
#define CNI_TAG_MATERIAL 0x6574616du

// Descriptions of the definition structs; those of shapes are common to all kinds.
extern const CniField cni_body_fields[], cni_material_fields[], cni_shape_fields[];

// One number says all about the turning of most bodies.
typedef struct CniBodyMass {
  double mass;    // as given or summed, whatever the kind
  double inertia; // kg m^2: of a body like a ball, the three principal ones being equal bit by bit;
                  // CNI_TURNS_BY_AXIS: CniModel::inertias has them; 0: nothing moves it (not
                  // dynamic, or without mass, in which case a step is refused)
} CniBodyMass;
_Static_assert(sizeof(CniBodyMass) == 16, "memory per body is promised");
#define CNI_TURNS_BY_AXIS (-1.0)

// Do forces move the body?
static inline int cni_has_mass(const CniBodyMass *m) { return m->inertia != 0; }
// 0 unless they do.
static inline double cni_inv_mass(const CniBodyMass *m) {
  return cni_has_mass(m) ? 1 / m->mass : 0;
}

// What most bodies have no use for: their frame is at the centre of mass, in principal axes, their
// mass comes from the shapes, and they have no name.
typedef struct CniBodyDetail {
  CnPose com;     // centre of mass and principal axes in the body frame (identity: not dynamic)
  CnPose def_com; // as given, for mass > 0
  CnSym3 def_inertia;
  double def_mass; // 0: from shapes
  char *name;      // null: none
} CniBodyDetail;

typedef struct CniBody {
  uint16_t kind; // CnBodyKind
  uint16_t continuous;
  uint32_t slot;       // its id; the generation is the slot's
  int32_t first_shape; // dense index, -1: none; list in order of creation
  int32_t first_joint; // dense index, -1: none
  uint64_t user_data;
  CniBodyDetail *detail; // null: com is the identity, and nothing was given
} CniBody;
_Static_assert(sizeof(CniBody) <= 32, "memory per body is promised");

// Poses of a shape that is not at the origin of its body, or whose body's origin is not its centre
// of mass.
typedef struct CniShapePoses {
  CnPose pose;     // in the frame of the centre of mass (principal axes)
  CnPose def_pose; // as given, in the body frame
} CniShapePoses;

typedef struct CniGeometry {
  uint32_t slot, generation;
  int32_t use_count; // shapes that have it
  CniHull *hull;     // one of the two
  CniMesh *mesh;
  char name[CNI_NAME_SIZE];
} CniGeometry;

// What most spheres have no use for.
typedef struct CniShapeExtra {
  double size[CNI_SHAPE_SIZES]; // of its kind; a sphere's is the shape's radius
  uint32_t category, mask;      // usually 1 and all bits
  int32_t trigger;
  CniShapePoses *poses;       // null: both are the identity
  CniGeometry *geometry;      // null: none
  double inradius, outradius; // of what has sizes; 0: not kept
} CniShapeExtra;

typedef struct CniShape {
  uint32_t slot;    // its id; the generation is the slot's
  int32_t body;     // dense index
  int32_t next;     // next shape of the body, -1
  int32_t previous; // of the body's first shape: the last one
  CnShapeKind kind;
  int32_t material; // dense index
  double radius;    // of a sphere
  double density;
  CniShapeExtra
      *extra; // null: no other sizes, the usual category and mask, both poses the identity
} CniShape;
_Static_assert(sizeof(CniShape) <= 48, "memory per body is promised");

// The poses and the definition, whether they are kept or not.
static inline CnPose cni_body_com(const CniBody *body) {
  return body->detail ? body->detail->com : CN_POSE_ONE;
}
static inline const char *cni_body_name(const CniBody *body) {
  return body->detail && body->detail->name ? body->detail->name : "";
}
static inline CniShapePoses *cni_shape_poses(const CniShape *shape) {
  return shape->extra ? shape->extra->poses : NULL;
}
static inline CnPose cni_shape_pose(const CniShape *shape) {
  const CniShapePoses *poses = cni_shape_poses(shape);
  return poses ? poses->pose : CN_POSE_ONE;
}
static inline CnPose cni_shape_def_pose(const CniShape *shape) {
  const CniShapePoses *poses = cni_shape_poses(shape);
  return poses ? poses->def_pose : CN_POSE_ONE;
}
// The shape at a pose.
static inline CniPlaced cni_shape_at(const CniShape *shape, CnPose pose) {
  CniPlaced placed = {shape->kind, pose, {shape->radius}, NULL, NULL};
  if (shape->kind != CN_SHAPE_SPHERE && shape->extra) {
    memcpy(placed.size, shape->extra->size, sizeof placed.size);
    if (shape->extra->geometry) {
      placed.hull = shape->extra->geometry->hull;
      placed.mesh = shape->extra->geometry->mesh;
    }
  }
  return placed;
}
#define CNI_USUAL_CATEGORY 1u
#define CNI_USUAL_MASK 0xffffffffu
static inline uint32_t cni_shape_category(const CniShape *shape) {
  return shape->extra ? shape->extra->category : CNI_USUAL_CATEGORY;
}
static inline uint32_t cni_shape_mask(const CniShape *shape) {
  return shape->extra ? shape->extra->mask : CNI_USUAL_MASK;
}
static inline int32_t cni_shape_trigger(const CniShape *shape) {
  return shape->extra ? shape->extra->trigger : 0;
}
// Do the categories and masks of two shapes let them meet?
static inline int cni_masks_agree(const CniShape *a, const CniShape *b) {
  return (cni_shape_category(a) & cni_shape_mask(b)) && (cni_shape_category(b) & cni_shape_mask(a));
}
// Of the largest ball inside and the smallest one around.
static inline double cni_model_inradius(const CniShape *shape) {
  if (shape->kind == CN_SHAPE_SPHERE) return shape->radius;
  if (shape->extra && shape->extra->inradius > 0) return shape->extra->inradius;
  CniPlaced placed = cni_shape_at(shape, CN_POSE_ONE);
  return cni_shape_inradius(&placed);
}
static inline double cni_model_outradius(const CniShape *shape) {
  if (shape->kind == CN_SHAPE_SPHERE) return shape->radius;
  if (shape->extra && shape->extra->outradius > 0) return shape->extra->outradius;
  CniPlaced placed = cni_shape_at(shape, CN_POSE_ONE);
  return cni_shape_outradius(&placed);
}

// The law between two materials.
typedef struct CniMaterialPair {
  double friction, restitution, rolling_friction, spinning_friction, cohesion;
} CniMaterialPair;

// That of a single pair, whatever their rules say; a.slot <= b.slot.
typedef struct CniPairLaw {
  CnMaterialId a, b;
  CniMaterialPair law;
} CniPairLaw;

typedef struct CniMaterial {
  uint32_t slot, generation;
  CnMaterialDef def; // def.name is null: name has it
  int32_t use_count;
  char name[CNI_NAME_SIZE];
} CniMaterial;

struct CniModel {
  CnAllocator allocator;
  CnTasks *tasks; // the world's, to make meshes; may be null

  // bodies, dense
  CnPose *pose;   // of the centre of mass, principal axes: the state vector q, 7 numbers a body
  CnTwist *twist; // at the centre of mass: the state vector v, 6 numbers a body
  CnTwist *load; // force and torque about the centre of mass for the next step; null: none anywhere
  CniBodyMass *mass;
  CnVec3 *inertias; // principal, of bodies that turn by axis; null: there has been none
  CniBody *bodies;
  int32_t body_count, body_capacity;
  CniIds body_ids;

  CniShape *shapes;
  int32_t shape_count, shape_capacity;
  CniIds shape_ids;

  CniMaterial *materials; // entry 0 is the default material: no id, never destroyed
  int32_t material_count, material_capacity;
  CniIds material_ids;

  CniGeometry **geometries; // where they are does not change
  int32_t geometry_count, geometry_capacity;
  CniIds geometry_ids;

  CniCurve **curves; // where they are does not change
  int32_t curve_count, curve_capacity;
  CniIds curve_ids;

  CniJoint *joints;
  int32_t joint_count, joint_capacity;
  CniIds joint_ids;

  CniForce *forces;
  int32_t force_count, force_capacity;
  CniIds force_ids;

  CniFunction *functions;
  int32_t function_count, function_capacity;
  CniIds function_ids;

  CniCoupling *couplings;
  int32_t coupling_count, coupling_capacity;
  CniIds coupling_ids;

  CniBodyMotion *motions;
  int32_t motion_count, motion_capacity;

  CniDisabled *disabled; // ascending
  int32_t disabled_count, disabled_capacity;
  CniPairLaw *laws; // ascending
  int32_t law_count, law_capacity;
  CniNote *notes; // ascending by sort and slot
  int32_t note_count, note_capacity;
  int32_t trigger_count; // shapes
  // changes of joints, of shapes, and of the kinds and masses of bodies, so far: what was found out about them holds
  // while this is the same
  uint64_t edits;
};

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
CnStatus cni_model_add_points(CniModel *model, const char *name, const CnVec3 *points,
                              int32_t count, CnGeometryId *id);
CnStatus cni_model_add_mesh(CniModel *model, const CnMeshDef *def, CnGeometryId *id);
CnStatus cni_model_add_heights(CniModel *model, const CnHeightsDef *def, CnGeometryId *id);
CnStatus cni_model_remove_geometry(CniModel *model, CnGeometryId id);

// The ids of things by dense indices.
static inline CnBodyId cni_body_id(const CniModel *model, int32_t body) {
  uint32_t slot = model->bodies[body].slot;
  return (CnBodyId){slot, model->body_ids.slots[slot - 1].generation};
}
static inline CnShapeId cni_shape_id(const CniModel *model, int32_t shape) {
  uint32_t slot = model->shapes[shape].slot;
  return (CnShapeId){slot, model->shape_ids.slots[slot - 1].generation};
}
static inline CnJointId cni_joint_id(const CniModel *model, int32_t joint) {
  uint32_t slot = model->joints[joint].slot;
  return (CnJointId){slot, model->joint_ids.slots[slot - 1].generation};
}
int32_t cni_model_shape_count(const CniModel *model, int32_t body); // walks over them

// Dense index of an id, or an error that says which kind of id is stale.
CnStatus cni_model_find_body(const CniModel *model, CnBodyId id, int32_t *index);
CnStatus cni_model_find_shape(const CniModel *model, CnShapeId id, int32_t *index);
CnStatus cni_model_find_material(const CniModel *model, CnMaterialId id, int32_t *index);
CnStatus cni_model_find_geometry(const CniModel *model, CnGeometryId id, int32_t *index);

// Make sure that there is an array of loads, of zeros where there was none.
CnStatus cni_model_loads(CniModel *model);
static inline CnTwist cni_model_load(const CniModel *model, int32_t body) {
  return model->load ? model->load[body] : (CnTwist){{0, 0, 0}, {0, 0, 0}};
}

// Dynamic without mass: a step is refused.
static inline int cni_model_massless(const CniModel *model, int32_t body) {
  return model->bodies[body].kind == CN_BODY_DYNAMIC && !cni_has_mass(&model->mass[body]);
}
// Principal inertias, 0 where nothing moves the body.
static inline CnVec3 cni_model_principal(const CniModel *model, int32_t body) {
  double j = model->mass[body].inertia;
  return j == CNI_TURNS_BY_AXIS ? model->inertias[body] : (CnVec3){j, j, j};
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

// Give a shape what its definition says, for data read from outside: all but ids, lists, body and
// material.
CnStatus cni_shape_from_def(const CniModel *model, const CnShapeDef *def, CniShape *shape);

// Take a geometry over, for data read from outside: its hull is the model's now, its ids are there.
CnStatus cni_geometry_keep(CniModel *model, const CniGeometry *geometry);
void cni_geometry_release(const CniModel *model, const CniGeometry *geometry);

// The definition a shape was made from.
CnShapeDef cni_model_shape_def(const CniModel *model, int32_t shape);

// A shape placed in the world at a pose of its body's centre of mass.
CniPlaced cni_model_placed(const CniModel *model, int32_t shape, const CnPose *body_pose);

// Velocity of a surface in the body frame at a time.
CnVec3 cni_material_surface(const CniModel *model, int32_t i, double t);
CniMaterialPair cni_material_combine(const CnMaterialDef *a, const CnMaterialDef *b);
// The law between two materials by their dense indices: that of the pair, or what the rules make (laws.c).
CniMaterialPair cni_model_law(const CniModel *model, int32_t a, int32_t b);
// Null: the rules again.
CnStatus cni_model_set_law(CniModel *model, CnMaterialId a, CnMaterialId b,
                           const CniMaterialPair *law);
// The same with the numbers of a definition, checked.
CnStatus cni_model_set_pair(CniModel *model, CnMaterialId a, CnMaterialId b,
                            const CnMaterialDef *def);

// World inertia and inverse inertia of a body at a rotation.
CnSym3 cni_model_inertia(const CniModel *model, int32_t body, CnQuat rotation);
CnSym3 cni_model_inv_inertia(const CniModel *model, int32_t body, CnQuat rotation);

// ---- order ----

// Put the bodies in another order: order[i] is the present index of the body that comes to i, each
// once. Shapes follow their bodies. `scratch` has cni_model_reorder_bytes bytes, aligned to a line.
#define CNI_ORDER_LINE 64
size_t cni_model_reorder_bytes(const CniModel *model);
void cni_model_reorder(CniModel *model, const int32_t *order, void *scratch);

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
