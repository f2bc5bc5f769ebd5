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

// A geom's bits of contact: each different pair is a group of the scene.
typedef struct CniMjcfBits {
  uint32_t type, affinity;
} CniMjcfBits;
#define CNI_MJCF_BITS 31

// What a joint has in a keyframe's list of coordinates.
typedef struct CniMjcfPlace {
  int32_t joint; // -1: a free body
  int32_t body;
} CniMjcfPlace;

typedef struct CniMjcf {
  CniRobot *robot;
  CniXmlNode *root;
  double angle; // rad a unit
  char euler[4];
  const char *mesh_folder;
  int32_t auto_limits, inertia; // inertia from geoms: 0 never, 1 always, 2 without <inertial>
  double total_mass;            // kg, 0: as it is
  CniMjcfClass *classes;
  CniMjcfSite *sites;
  CniMjcfPlace *places;
  int32_t class_count, class_capacity, site_count, site_capacity, place_count, place_capacity;
  CniNameTable class_names, site_names, mesh_names; // meshes: numbers in `meshes`
  CniNameTable materials;                           // by the numbers of friction
  CniXmlNode **meshes;
  int32_t mesh_count, mesh_capacity;
  CniMjcfBits bits[CNI_MJCF_BITS];
  int32_t bits_count;
  const double *control; // of the keyframe; null: zeros
  int32_t control_count;
} CniMjcf;

// An element with its defaults: those of its class, or of the one its body names (null: main).
CnStatus cni_mjcf_view(CniMjcf *m, CniXmlNode *node, const char *childclass, CniXmlView *view);
// "pos" and one of quat, axisangle, euler, xyaxes, zaxis.
CnStatus cni_mjcf_pose(const CniMjcf *m, const CniXmlView *view, CnPose *pose);
// true, false, auto: 1, 0, 2.
CnStatus cni_mjcf_flag(const CniXmlView *view, const char *name, int32_t *flag);
// A body by name; absent: CNI_ROBOT_WORLD, as is "world".
CnStatus cni_mjcf_body(const CniMjcf *m, const CniXmlView *view, const char *name, int32_t *body);
CnStatus cni_mjcf_joint(const CniMjcf *m, const CniXmlView *view, const char *name,
                        CniRobotJoint **joint);
CnStatus cni_mjcf_site(const CniMjcf *m, const CniXmlView *view, const char *name,
                       CniMjcfSite **site);

CnStatus cni_mjcf_bodies(CniMjcf *m, CniXmlNode *root);
// Groups of contact, once all geoms are known.
void cni_mjcf_groups(CniMjcf *m);
// A geom: its shape, if it has one, and its mass.
CnStatus cni_mjcf_geom(CniMjcf *m, CniXmlNode *node, const char *childclass, int32_t body,
                       CnPose frame, CniMassProps *mass);
// The shape of a geom that is a height field (mjcf_hfields.c); null item with a note: left out.
CnStatus cni_mjcf_hfield(CniMjcf *m, const CniXmlView *geom, int32_t body, json_t **item);
CnStatus cni_mjcf_equality(CniMjcf *m, CniXmlNode *root);
CnStatus cni_mjcf_tendons(CniMjcf *m, CniXmlNode *root);
CnStatus cni_mjcf_actuators(CniMjcf *m, CniXmlNode *root);
CnStatus cni_mjcf_sensors(CniMjcf *m, CniXmlNode *root);

#endif
