// SPDX-License-Identifier: Apache-2.0
// What the files of the MJCF reader share.
#ifndef CNI_IO_ROBOTS_MJCF_H
#define CNI_IO_ROBOTS_MJCF_H

#include "io/robots/model.h"

// A class of defaults: elements that speak for others of the same name.
typedef struct CniMjcfClass {
  const char *name;
  CniXmlNode *node;
  int32_t parent; // -1: none
} CniMjcfClass;

typedef struct CniMjcfSite {
  const char *name;
  int32_t body;
  CnPose pose;
} CniMjcfSite;

// A geom's bits of contact: each different pair is a group of the scene, and each geom that a <pair> names.
typedef struct CniMjcfBits {
  uint32_t type, affinity;
  int32_t own; // 0: no pair names it
} CniMjcfBits;

typedef struct CniMjcfOwner {
  const char *name, *material; // of the scene
  int32_t body;                // less than CNI_ROBOT_WORLD: no such geom yet
} CniMjcfOwner;

typedef struct CniMjcfPair {
  CniXmlNode *node;
  int32_t a, b; // numbers of `own`
} CniMjcfPair;

enum { CNI_MJCF_ALL, CNI_MJCF_PREDEFINED, CNI_MJCF_DYNAMIC }; // what may meet
#define CNI_MJCF_BITS 31

// What a flag of the options may switch off.
enum {
  CNI_MJCF_ACTUATION = 1,
  CNI_MJCF_EQUALITY = 2,
  CNI_MJCF_LIMIT = 4,
  CNI_MJCF_PASSIVE = 8,
  CNI_MJCF_FRICTION = 16,
  CNI_MJCF_CONTACT = 32
};

// What a joint has in a keyframe's list of coordinates.
typedef struct CniMjcfPlace {
  int32_t joint; // -1: a free body
  int32_t body;
} CniMjcfPlace;

// What acts on a body by itself: of a free joint, and what lifts it against gravity.
typedef struct CniMjcfLoad {
  int32_t body, line;
  double damping, armature, friction, gravcomp, ball_armature;
} CniMjcfLoad;

// A slide whose way is the length of a fixed tendon.
typedef struct CniMjcfSpool {
  const CniXmlNode *tendon;
  int32_t joint;
} CniMjcfSpool;

// A material's numbers, and which of two counts.
typedef struct CniMjcfMaterial {
  double friction[3], priority;
  int32_t own;
} CniMjcfMaterial;

typedef struct CniMjcf {
  CniRobot *robot;
  CniXmlNode *root;
  double angle; // rad a unit
  char euler[4];
  const char *mesh_folder;
  int32_t auto_limits, inertia;     // inertia from geoms: 0 never, 1 always, 2 without <inertial>
  double total_mass;                // kg, 0: as it is
  double least_mass, least_inertia; // of bodies that move; 0: none
  int32_t balance;                  // inertias of no solid become balls
  int32_t exact_meshes, strip_path;
  double inertia_groups[2]; // of geoms that count
  int32_t off;              // bits of what is switched off
  CnVec3 gravity;
  CniMjcfClass *classes;
  CniMjcfSite *sites;
  CniMjcfPlace *places;
  CniMjcfLoad *loads;
  CniMjcfMaterial *surfaces; // by the numbers of `materials`
  int32_t surface_count, surface_capacity;
  CniMjcfSpool *spools;
  int32_t spool_count, spool_capacity;
  CniMassProps *carried; // by bodies: with all below, as drawn, in the world; null: not asked yet
  int32_t load_count, load_capacity;
  int32_t class_count, class_capacity, site_count, site_capacity, place_count, place_capacity;
  CniNameTable class_names, site_names, mesh_names; // meshes: numbers in `meshes`
  CniNameTable free_names;                          // free joints: numbers of bodies
  CniNameTable materials;                           // by the numbers of friction
  CniXmlNode **meshes;
  int32_t mesh_count, mesh_capacity;
  CniMjcfBits bits[CNI_MJCF_BITS];
  int32_t bits_count;
  CniNameTable paired; // geoms of pairs: numbers in `owners`
  CniMjcfOwner owners[CNI_MJCF_BITS];
  CniMjcfPair *pairs;
  int32_t own_count, pair_count, pair_capacity, collision;
  int32_t looks;         // at equalities, for tendons
  const double *control; // of the keyframe; null: zeros
  int32_t control_count;
} CniMjcf;

// An element with its defaults: those of its class, or of the one its body names (null: main).
CnStatus cni_mjcf_view(CniMjcf *m, CniXmlNode *node, const char *childclass, CniXmlView *view);
// The same where defaults stand under other names (null ends the list).
CnStatus cni_mjcf_view_as(CniMjcf *m, CniXmlNode *node, const char *childclass,
                          const char *const *names, CniXmlView *view);
// "pos" and one of quat, axisangle, euler, xyaxes, zaxis.
CnStatus cni_mjcf_pose(const CniMjcf *m, const CniXmlView *view, CnPose *pose);
// true, false, auto: 1, 0, 2.
CnStatus cni_mjcf_flag(const CniXmlView *view, const char *name, int32_t *flag);
// A body by name; absent: CNI_ROBOT_WORLD, as is "world".
CnStatus cni_mjcf_body(const CniMjcf *m, const CniXmlView *view, const char *name, int32_t *body);
CnStatus cni_mjcf_joint(const CniMjcf *m, const CniXmlView *view, const char *name,
                        CniRobotJoint **joint);
// The same, or the body of a free joint (else -1).
CnStatus cni_mjcf_joint_or_free(const CniMjcf *m, const CniXmlView *view, const char *name,
                                CniRobotJoint **joint, int32_t *free_body);
CnStatus cni_mjcf_site(const CniMjcf *m, const CniXmlView *view, const char *name,
                       CniMjcfSite **site);

// Copies of what is to be repeated, in the tree of elements; after the compiler's options are known.
CnStatus cni_mjcf_replicate(CniMjcf *m, CniXmlNode *root);
CnStatus cni_mjcf_bodies(CniMjcf *m, CniXmlNode *root);
CnStatus cni_mjcf_keys(CniMjcf *m, CniXmlNode *root);
// The least mass and inertia of a body, and the balance of its inertia; the total mass of all (masses.c).
void cni_mjcf_bound(const CniMjcf *m, CniRobotBody *body);
void cni_mjcf_total(CniMjcf *m);
CnStatus cni_mjcf_loads(CniMjcf *m); // after settling
// What a joint moves as drawn, with its armature: kg or kg m^2.
CnStatus cni_mjcf_inertia(CniMjcf *m, const CniRobotJoint *joint, double *inertia);
// Geoms of a higher priority decide the friction.
CnStatus cni_mjcf_priorities(CniMjcf *m);
// Pairs of geoms (pairs.c): found before the geoms are read, of which each has its number; do two kinds of bits
// meet; afterwards what pairs and excludes say.
CnStatus cni_mjcf_find_pairs(CniMjcf *m, CniXmlNode *root);
int32_t cni_mjcf_paired(const CniMjcf *m, const char *name);
int cni_mjcf_meet(const CniMjcf *m, CniMjcfBits a, CniMjcfBits b);
CnStatus cni_mjcf_contacts(CniMjcf *m, CniXmlNode *root);
// Groups of contact, once all geoms are known.
void cni_mjcf_groups(CniMjcf *m);
// A geom: its shape, if it has one, and its mass.
CnStatus cni_mjcf_geom(CniMjcf *m, CniXmlNode *node, const char *childclass, int32_t body,
                       CnPose frame, CniMassProps *mass);
// "fromto": the two ends of an axis give place, direction and length; absent: length 0.
CnStatus cni_mjcf_ends(const CniXmlView *view, CnPose *pose, double *length);
// A mesh's mass, of its surface where `shell`, zeros where it has none, and its hull as a shape; null item with a note: left out (meshes.c).
CnStatus cni_mjcf_mesh_mass(CniMjcf *m, CniXmlNode *mesh, int32_t shell, double density,
                            CniMassProps *mass);
// The name of a file beside the description, without its folders where these do not count.
const char *cni_mjcf_file(const CniMjcf *m, const char *name);
// The frame in which geoms see it ("refpos", "refquat"), seen from that of its numbers.
CnStatus cni_mjcf_mesh_frame(CniMjcf *m, CniXmlNode *mesh, CnPose *frame);
CnStatus cni_mjcf_mesh_item(CniMjcf *m, CniXmlNode *mesh, json_t **item);
// The shape of a geom that is a height field (hfields.c); null item with a note: left out.
CnStatus cni_mjcf_hfield(CniMjcf *m, const CniXmlView *geom, int32_t body, json_t **item);
// Where a body is as drawn, all coordinates at their ref.
CnPose cni_mjcf_drawn(const CniRobot *robot, int32_t body);
// A name of the scene for an element, which may have none.
CnStatus cni_mjcf_name(CniMjcf *m, const CniXmlView *view, int32_t kind, const char **name);
CnStatus cni_mjcf_equality(CniMjcf *m, CniXmlNode *root);
// Bodies for tendons of several joints; before settling.
CnStatus cni_mjcf_spools(CniMjcf *m, CniXmlNode *root);
// Does an actuator with feedback act on the tendon of that name?
CnStatus cni_mjcf_has_servo(CniMjcf *m, const char *tendon, int *servo);
CnStatus cni_mjcf_tendons(CniMjcf *m, CniXmlNode *root);
CnStatus cni_mjcf_tendon_equality(CniMjcf *m, const CniXmlView *view);
// A motor on a coordinate and on the length of the tendon that the view names, by a gear.
CnStatus cni_mjcf_drive(CniMjcf *m, const CniXmlView *view, CniRobotJoint *joint, CniRobotMotor f,
                        double gear);
// What the joints of the fixed tendon that the view names move, seen by its motor; 0: it is none.
CnStatus cni_mjcf_tendon_mass(CniMjcf *m, const CniXmlView *view, double gear, double *mass);
CnStatus cni_mjcf_pull(CniMjcf *m, const CniXmlView *view, CniRobotMotor f, double gear);
CnStatus cni_mjcf_actuators(CniMjcf *m, CniXmlNode *root);
CnStatus cni_mjcf_sensors(CniMjcf *m, CniXmlNode *root);

#endif
