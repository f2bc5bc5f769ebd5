// SPDX-License-Identifier: Apache-2.0
// What the files of the SDF reader share.
//
// Everything in a file that has a place is an entry: models, links, joints, frames. Their names are those of the
// models around them and their own, with "::" between.
#ifndef CNI_IO_ROBOTS_SDF_H
#define CNI_IO_ROBOTS_SDF_H

#include "io/robots/model.h"

#define CNI_SDF_WORLD (-1)

typedef enum CniSdfKind { CNI_SDF_MODEL, CNI_SDF_LINK, CNI_SDF_JOINT, CNI_SDF_FRAME } CniSdfKind;

typedef struct CniSdfEntry {
  CniSdfKind kind;
  const char *name;  // with those of the models around it
  const char *label; // in the scene: without the model's where it is the only one
  CniXmlNode *node;
  CniXmlNode *include; // of a model in another file: what speaks before it
  int32_t model;       // that it is in; CNI_SDF_WORLD
  int32_t first_link;  // of a model; -1: none
  int32_t fixed;       // of a model: static
  int32_t collides;    // of a model: its links meet each other
  // places
  CnPose pose, at; // from what it is relative to; in the world
  int32_t base;    // entry that it is relative to
  int32_t placed;  // `at` is known
  int32_t part_of; // link, CNI_SDF_WORLD; -2: not known yet
  // of links
  int32_t joint;  // that it is the child of; -1: none
  int32_t parent; // link; CNI_SDF_WORLD
  int32_t first, last, sibling;
  int32_t body; // -1: not yet
  // of joints: links
  int32_t above, below, in_loop;
} CniSdfEntry;

typedef struct CniSdf {
  CniRobot *robot;
  CniSdfEntry *entries;
  int32_t entry_count, entry_capacity;
  CniNameTable names;
  int32_t version; // 1.6: 106
  int32_t files;   // included
  CniNameTable materials;
  CnVec3 gravity;
} CniSdf;

// The text between the tags of a child, null without it.
const char *cni_sdf_text(CniXmlNode *above, const char *name);
// The value of a child; without it the value stays.
CnStatus cni_sdf_number(CniXmlNode *above, const char *name, double *value);
CnStatus cni_sdf_vec3(CniXmlNode *above, const char *name, CnVec3 *value);
CnStatus cni_sdf_flag(CniXmlNode *above, const char *name, int32_t *value);
// <pose>, and what it is relative to (null: not said).
CnStatus cni_sdf_pose(CniXmlNode *above, CnPose *pose, const char **relative);

// An entry by the name that it has seen from a model; "world" is CNI_SDF_WORLD. Fails where there is none.
CnStatus cni_sdf_find(const CniSdf *s, const CniXmlNode *node, int32_t model, const char *name,
                      int32_t *entry);
// The link that an entry is a part of.
CnStatus cni_sdf_link_of(CniSdf *s, const CniXmlNode *node, int32_t entry, int32_t *link);
// Where all entries are (frames.c).
CnStatus cni_sdf_place(CniSdf *s);
CnPose cni_sdf_at(const CniSdf *s, int32_t entry);

// Mass and shapes of the body of a link, which was added last (links.c).
CnStatus cni_sdf_contents(CniSdf *s, const CniSdfEntry *link);
CnStatus cni_sdf_loads(CniSdf *s); // after settling
// Joints of a link to the one above, and, after settling, those that close loops, and what follows another (joints.c).
CnStatus cni_sdf_joints(CniSdf *s, const CniSdfEntry *link);
CnStatus cni_sdf_close(CniSdf *s);

#endif
