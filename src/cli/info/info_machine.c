// SPDX-License-Identifier: Apache-2.0
// What `cairn info` tells of the machine in a scene: degrees of freedom, mass, joints with their
// coordinates and limits, and what the translation of a robot description noted.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/machine.h"

// Freedoms take a factorisation: not of heaps.
#define MOST_BODIES 20000
#define MOST_LOOSE 100 // of a scene without joints: more are a heap

static void show_notes(CniShow *show, const char *description) {
  char line[512];
  cni_show_list(show, "notes", strchr(description, '\n') ? "notes" : NULL);
  for (const char *at = description; at && *at;) {
    const char *end = strchr(at, '\n');
    size_t length = end ? (size_t)(end - at) : strlen(at);
    if (!end && at == description) break; // a sentence is a description
    snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), at);
    cni_show_row(show);
    cni_show_text(show, "text", "text", line);
    cni_show_row_end(show);
    at = end ? end + 1 : NULL;
  }
  cni_show_list_end(show);
}

static void show_coordinate(CniShow *show, const CnWorld *world, CnJointId joint,
                            const CnJointDef *def, int32_t i) {
  char name[CNI_MACHINE_NAME], range[100] = "free";
  const CnJointAxis *axis = &def->axes[i];
  CnJointState state;
  if (cn_joint_state(world, joint, &state) != CN_OK) return;
  const char *unit = cn_joint_coordinate_unit(def->kind, i);
  if (isfinite(axis->lower) || isfinite(axis->upper))
    snprintf(range, sizeof range, "%.6g to %.6g", axis->lower, axis->upper);
  cni_show_row(show);
  cni_show_text(show, "joint", "joint", cni_machine_joint_name(world, joint, name));
  cni_show_text(show, "kind", "kind", cn_joint_kind_name(def->kind));
  cni_show_text(show, "coordinate", "coordinate", cn_joint_coordinate_name(def->kind, i));
  cni_show_text(show, NULL, "range", range);
  cni_show_text(show, "unit", "unit", unit);
  if (isfinite(axis->lower)) cni_show_number(show, "lower", NULL, axis->lower, unit);
  if (isfinite(axis->upper)) cni_show_number(show, "upper", NULL, axis->upper, unit);
  cni_show_number(show, "value", NULL, state.coordinate[i], unit);
  cni_show_row_end(show);
}

static void show_joints(CniShow *show, const CnWorld *world) {
  CnJointDef def;
  cni_show_list(show, "coordinates", "coordinates of joints");
  for (CnJointId j = cn_world_next_joint(world, (CnJointId){0, 0}); j.slot;
       j = cn_world_next_joint(world, j)) {
    if (cn_joint_def(world, j, &def) != CN_OK) continue;
    for (int32_t i = 0; cn_joint_coordinate_name(def.kind, i); i++)
      show_coordinate(show, world, j, &def, i);
  }
  cni_show_list_end(show);
}

static void show_masses(CniShow *show, const CnWorld *world, int listed) {
  char name[CNI_MACHINE_NAME];
  CnBodyInfo info;
  double total = 0;
  if (listed) cni_show_list(show, "masses", "masses");
  for (CnBodyId b = cn_world_next_body(world, (CnBodyId){0, 0}); b.slot;
       b = cn_world_next_body(world, b)) {
    if (cn_body_info(world, b, &info) != CN_OK || info.kind != CN_BODY_DYNAMIC) continue;
    total += info.mass;
    if (!listed) continue;
    cni_show_row(show);
    cni_show_text(show, "body", "body", cni_machine_body_name(world, b, name));
    cni_show_number(show, "mass", "mass", info.mass, "kg");
    cni_show_row_end(show);
  }
  if (listed) cni_show_list_end(show);
  cni_show_number(show, "total_mass", "total mass", total, "kg");
}

int cni_info_machine(CniShow *show, CnScene *scene, const CnSceneInfo *info) {
  CnWorldDef def = cn_world_def_default();
  CnWorld *world = NULL;
  CnMechanism mechanism;
  show_notes(show, info->description);
  int machine = info->joint_count > 0;
  if (info->body_count == 0 || info->body_count > (machine ? MOST_BODIES : MOST_LOOSE)) return 1;
  cn_scene_world_def(scene, &def);
  int good = cn_world_create(&def, &world) == CN_OK && cn_scene_fill(scene, world) == CN_OK &&
             cn_world_mechanism(world, &mechanism, NULL, 0) == CN_OK;
  if (good) {
    cni_show_count(show, "freedoms", "freedoms", mechanism.freedoms);
    show_masses(show, world, machine);
    if (machine) show_joints(show, world);
  }
  cn_world_destroy(world);
  return good;
}

// ---- what the translation could not do and what changes how the robot moves ----

#define WORD "beware: "
#define MOST 12

void cni_tell_beware(const CnScene *scene, const char *label) {
  CnSceneInfo info;
  int32_t count = 0;
  cn_scene_info(scene, &info);
  for (const char *at = info.description; at; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (strncmp(at, WORD, strlen(WORD)) != 0) continue;
    const char *text = at + strlen(WORD);
    if (count++ < MOST) cni_tell("%s: %.*s", label, (int)strcspn(text, "\n"), text);
  }
  if (count > MOST)
    cni_tell("%s: and %d more of that (`cairn info` lists all)", label, count - MOST);
}
