// SPDX-License-Identifier: Apache-2.0
// A robot as all descriptions mean it: bodies in a tree, each with its joints to the one above, shapes
// on them; what closes loops, couples and drives goes straight into the lists of the scene.
//
// A reader adds bodies (a parent before its children), their joints and shapes, calls settle, adds the
// rest, and writes. Coordinates of joints are those of the description.
#ifndef CNI_IO_ROBOTS_MODEL_H
#define CNI_IO_ROBOTS_MODEL_H

#include "core/error.h"
#include "io/robots/robot.h"
#include "io/tools/names.h"
#include "model/model.h"

#define CNI_ROBOT_WORLD (-1)

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
  json_t *motor; // keys of its coordinate; null: none
  // settled: the joint of the scene, in which it may be one of two
  int32_t first;          // number of the one that begins the scene's joint
  int32_t second;         // it is the second axis of a universal joint
  const char *coordinate; // name; null: it has none
} CniRobotJoint;

typedef struct CniRobotBody {
  const char *name, *source;
  CniXmlNode *node;
  int32_t parent;
  CnPose pose;  // in the parent, as drawn
  int32_t free; // nothing holds it to the one above
  double mass;
  CnPose com;
  CnSym3 inertia;
  int32_t first_joint, joint_count;
  int32_t shape_count, unbounded;
  // settled
  CnPose at;       // in the scene's world
  int32_t carrier; // the body that it is part of: itself, or the one above that carries it
  CnPose offset;   // in the carrier
  int32_t group;   // first of the bodies that do not move against each other; -1: they are still
  int32_t fixed;   // a fixed body of the scene: it holds a plane
} CniRobotBody;

typedef struct CniRobotShape {
  int32_t body;
  CnPose pose;
  json_t *item;
} CniRobotShape;

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
  const char *title;
  int32_t drawing; // the shapes being read are only looked at: what is wanting does not matter
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

// Starts of the joints by the settings, places of all bodies, which of them become bodies of the scene.
CnStatus cni_robot_settle(CniRobot *robot);
// How far a joint has moved its body's frame at the start.
CnPose cni_robot_motion(const CniRobotJoint *joint);
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
// A shape from the triangles of a file: a convex hull. Null item with a note: no such file.
CnStatus cni_robot_mesh(CniRobot *robot, const CniXmlNode *node, const char *folder,
                        const char *name, CnVec3 scale, json_t **item);

// ---- formats ----

CnStatus cni_robot_urdf(CniRobot *robot, CniXmlNode *root);
CnStatus cni_robot_mjcf(CniRobot *robot, CniXmlNode *root);

#endif
