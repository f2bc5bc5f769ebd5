// SPDX-License-Identifier: Apache-2.0
// A robot as all descriptions mean it: bodies in a tree, each with its joints to the one above, shapes
// on them; what closes loops, couples and drives goes straight into the lists of the scene.
//
// A reader adds bodies (a parent before its children), their joints and shapes, calls settle, adds the
// rest, and writes. Coordinates of joints are those of the description.
#ifndef CNI_IO_ROBOTS_MODEL_H
#define CNI_IO_ROBOTS_MODEL_H

#include "core/error.h"
#include "io/meshes/mesh_file.h"
#include "io/robots/robot.h"
#include "io/tools/names.h"
#include "model/model.h"

#define CNI_ROBOT_WORLD (-1)

// f = clip(push - stiffness q - damping q', lower, upper), along the coordinate q of a joint (motors.c).
typedef struct CniRobotMotor {
  double push, stiffness, damping, lower, upper;
  double bound;  // half the difference of lower and upper
  int32_t there; // there is one, though it may give nothing
} CniRobotMotor;

typedef struct CniRobotJoint {
  const char *name;   // in the scene
  const char *source; // as the description calls it
  CniXmlNode *node;
  int32_t body;
  CnJointKind kind;           // revolute, prismatic, ball, planar, universal, screw
  CnVec3 anchor, axis;        // in the frame of its body; the axis of length 1
  double lead;                // m, of a screw
  double ref;                 // its coordinate as drawn
  double start;               // its coordinate at the start
  CnQuat turn;                // of a ball at the start
  int32_t limited, dependent; // dependent: another joint leads it
  double lower, upper, stiffness, rest, damping, friction, armature;
  CniRobotMotor motor;
  double effort;  // constant, beside the motor
  double most[2]; // of all motors together, if `bounded`
  int32_t bounded;
  double rate[3]; // at the start; of a ball its spin in the axes of its body
  // settled: the joint of the scene, in which it may be one of several (composites.c)
  int32_t rank;           // how many before it belong to the same one
  CnJointKind made;       // of the first: what it is
  int32_t made_count;     // of the first: how many they are
  int32_t composite;      // of the first of several: how they are one
  const char *coordinate; // name; null: it has none
} CniRobotJoint;

typedef struct CniRobotBody {
  const char *name, *source;
  CniXmlNode *node;
  int32_t parent;
  CnPose pose;           // in the parent, as drawn
  int32_t free;          // nothing holds it to the one above
  int32_t starts;        // 1: it is free, and starts at `start`
  CnPose start;          // in the parent
  CnVec3 velocity, spin; // of a free one: of its origin along the world's axes; about its own
  double mass;
  CnPose com;
  CnSym3 inertia;
  int32_t first_joint, joint_count;
  int32_t shape_count, unbounded;
  // settled
  CnPose at;       // in the scene's world
  CnTwist rate;    // at the world's origin, in its axes
  int32_t carrier; // the body that it is part of: itself, or the one above that carries it
  CnPose offset;   // in the carrier
  int32_t group;   // first of the bodies that do not move against each other; -1: they are still
  int32_t fixed;   // a fixed body of the scene: it holds a plane
} CniRobotBody;

// What is between two joints of a body.
typedef struct CniRobotPart {
  double mass;
  CnPose com;
  CnSym3 inertia; // in the axes of com
} CniRobotPart;

typedef struct CniRobotShape {
  int32_t body;
  CnPose pose;
  json_t *item;
} CniRobotShape;

// An element, or an attribute of it, that is not used and without which the robot moves otherwise; "*" stands for
// any element, null in `above` for any place. A null element ends a list.
typedef struct CniRobotWeight {
  const char *above, *element, *attribute;
} CniRobotWeight;

typedef struct CniRobot {
  const CniRobotDef *def;
  const CnAllocator *allocator;
  CniArena arena;
  CniRobotBody *bodies;
  CniRobotJoint *joints;
  CniRobotShape *shapes;
  int32_t body_count, joint_count, shape_count;
  int32_t body_capacity, joint_capacity, shape_capacity;
  CniNameTable body_names, joint_names; // by source
  CniNameTable meshes;                  // paths and scales; their geometries in the scene:
  const char **mesh_names;
  int32_t mesh_count, mesh_capacity;
  CniNameTable scene_names[4];                          // bodies, joints, sensors, others
  json_t *notes;                                        // lines
  json_t *materials, *geometries, *settings;            // objects
  json_t *couplings, *forces, *links, *pairs, *sensors; // lists; links are joints of loops
  json_t *material_pairs;                               // a list
  const CniRobotWeight *weights;                        // of the format
  const int32_t
      *silent; // by bodies: those of the same number, from 0 on, do not meet; null: all may
  const char *title;
  int32_t drawing; // the shapes being read are only looked at: what is wanting does not matter
  int32_t
      beside; // files are looked for beside the file that names them, which may be an included one
  int32_t lenient; // inertias of no solid are brought to the nearest one, which is told
  int32_t broken;  // JSON that could not be made: no memory, or a number that is not finite
} CniRobot;

CnStatus cni_robot_init(CniRobot *robot, const CniRobotDef *def, const CnAllocator *allocator);
void cni_robot_release(CniRobot *robot);

// A name of the scene for what the description calls `source` ("" or null: KIND and a number): with the
// prefix, short enough, and not there yet. kind 0: a body, 1: a joint, 2: a sensor, 3: others.
CnStatus cni_robot_name(CniRobot *robot, int32_t kind, const char *source, const char **name);

CnStatus cni_robot_add_body(CniRobot *robot, const char *source, CniXmlNode *node, int32_t parent,
                            CnPose pose, int32_t *body);
// Of the body added last.
CnStatus cni_robot_add_joint(CniRobot *robot, const CniRobotJoint *joint, int32_t *index);
// Takes the item over: kind and sizes of the shape; pose and material are put in.
CnStatus cni_robot_add_shape(CniRobot *robot, int32_t body, CnPose pose, json_t *item);
// A line for the description. What changes how the robot moves begins with "beware: ", and commands tell it.
void cni_robot_note(CniRobot *robot, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Joints that follow each other in circles (circles.c): those that stand still are told, what contradicts is refused.
CnStatus cni_robot_look_at_circles(CniRobot *robot);
// Starts of the joints by the settings, places of all bodies, which of them become bodies of the scene.
CnStatus cni_robot_settle(CniRobot *robot);
// Which joints of a body are one of the scene, and the names of their coordinates (composites.c).
void cni_robot_compose(CniRobotJoint *joints, int32_t count);
// The frames of the scene's joint that begins with this one, in the body as drawn: of the side above, of the body.
void cni_robot_frames(const CniRobotJoint *joint, CnPose *a, CnPose *b);
// Joints with bodies between them, along their axes, to where the masses of these are (between.c).
void cni_robot_place_joints(CniRobot *robot, const CniRobotBody *body);
// What is between the joints of a body above those from `below` on, taken out of the body (between.c).
CniRobotPart cni_robot_between(const CniRobot *robot, CniRobotBody *body, int32_t below);
// How far a joint has moved its body's frame at the start.
CnPose cni_robot_motion(const CniRobotJoint *joint);
// The velocity that a joint adds at the start, of what it carries at the world's origin; `before` is where the
// body's frame would be without it.
CnTwist cni_robot_rate(const CniRobotJoint *joint, CnPose before);
// Give a joint one more motor; 0: the scene cannot say what they are together.
int cni_robot_drive(CniRobotJoint *joint, CniRobotMotor motor);
// The same for what is no motor: push - stiffness q - damping q'.
void cni_robot_spring(CniRobotJoint *joint, double push, double stiffness, double damping);
// Into the scene: the motor of a coordinate, and what is left of its effort, given the joint's frames.
void cni_robot_put_motor(CniRobot *robot, CniRobotJoint *joint, json_t *axis);
void cni_robot_put_effort(CniRobot *robot, CniRobotJoint *joint, const char *above, CnPose a,
                          const char *below, CnPose b);
// After settling: a constant force and torque at a point of a body; `turning`: in its axes, not the world's.
CnStatus cni_robot_load(CniRobot *robot, const char *source, int32_t body, CnVec3 point,
                        CnVec3 force, CnVec3 torque, int turning);
// Would a world accept a body of that mass?
CnStatus cni_robot_solid(CniRobot *robot, double mass, CnPose com, CnSym3 inertia);
// What the settings ask for under a name; 1 if they do.
int cni_robot_asked(const CniRobot *robot, const char *key, double *value);

// After settling: a joint between points of two bodies, in a list; keys may be added to *item.
CnStatus cni_robot_link(CniRobot *robot, json_t *list, const char *kind, const char *name,
                        int32_t body_a, CnPose frame_a, int32_t body_b, CnPose frame_b,
                        json_t **item);
// A term of a coupling.
json_t *cni_robot_term(const CniRobotJoint *joint, double coefficient);
// Two bodies that do not meet.
void cni_robot_apart(CniRobot *robot, int32_t body_a, int32_t body_b);

// Pairs of bodies that are in each other at the start, to `pairs`, with notes (overlaps.c).
CnStatus cni_robot_part_overlaps(CniRobot *robot, const json_t *scene, json_t *pairs);
// The scene, after the elements and attributes that nobody read were noted.
CnStatus cni_robot_write(CniRobot *robot, CniXmlNode *root, json_t **scene);

// ---- JSON ----

// Put a new value under a key; a null one breaks the robot.
void cni_robot_put(CniRobot *robot, json_t *object, const char *key, json_t *value);
void cni_robot_push(CniRobot *robot, json_t *list, json_t *value);
json_t *cni_json_vec3(CnVec3 v);
void cni_robot_put_pose(CniRobot *robot, json_t *object, CnPose pose);

// ---- orientations ----

CnQuat cni_turn_about(CnVec3 axis, double angle); // axis of length 1
// Turns about the axes that the letters name, one after the other: small letters about axes that turn
// along, capital ones about those that stay.
CnQuat cni_turn_euler(const char *sequence, const double angles[3]);

// ---- files beside the robot ----

// The path of a file named in the description: package://NAME/REST is looked for in the folder of the
// description and those above it, with and without NAME; anything else beside the description, in
// `folder` (may be null). Where there is none: CN_OK and *path null. Never outside these folders.
CnStatus cni_robot_find_file(CniRobot *robot, const CniXmlNode *node, const char *folder,
                             const char *name, const char **path);
// The root of another file, which is there.
CnStatus cni_robot_include(CniRobot *robot, const CniXmlNode *node, const char *path,
                           CniXmlNode **root);
// A shape from the corners of a surface, one for all of the same key; `source` names it. Null item with a note: it
// has no hull.
CnStatus cni_robot_hull(CniRobot *robot, const CniXmlNode *node, const char *key,
                        const char *source, const CniMeshData *mesh, json_t **item);
// A shape from the triangles of a file: a convex hull. Null item with a note: no such file.
CnStatus cni_robot_mesh(CniRobot *robot, const CniXmlNode *node, const char *folder,
                        const char *name, CnVec3 scale, json_t **item);

// ---- formats ----

CnStatus cni_robot_urdf(CniRobot *robot, CniXmlNode *root);
CnStatus cni_robot_mjcf(CniRobot *robot, CniXmlNode *root);
CnStatus cni_robot_sdf(CniRobot *robot, CniXmlNode *root);

#endif
