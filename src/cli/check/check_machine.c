// SPDX-License-Identifier: Apache-2.0
// What `cairn check` says of a machine: freedoms, rows that depend on others, joints that are open, limits
// that look like degrees.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/machine.h"

#define ASSEMBLED 1e-10 // m, rad: as before the first step
#define WHOLE_TURN 6.283185307179586

CnStatus cni_machine_look(CnWorld *world, int assemble, CniMachineCheck *check) {
  if (assemble) CNI_TRY(cn_world_assemble(world, ASSEMBLED, NULL));
  CNI_TRY(cn_world_mechanism(world, &check->machine, NULL, 0));
  int32_t count = check->machine.dependent_count;
  check->dependent = calloc((size_t)count + 1, sizeof *check->dependent);
  if (!check->dependent) return cn_error_set(CN_NO_MEMORY, "out of memory");
  return cn_world_mechanism(world, &check->machine, check->dependent, count);
}

static void show_joint(CniShow *show, const CnWorld *world, const char *key, const char *label,
                       CnJointId joint) {
  char name[CNI_MACHINE_NAME];
  cni_show_text(show, key, label, cni_machine_joint_name(world, joint, name));
}

static void show_coupling(CniShow *show, const CnWorld *world, const char *key, const char *label,
                          CnCouplingId coupling) {
  char name[CNI_MACHINE_NAME];
  cni_show_text(show, key, label, cni_machine_coupling_name(world, coupling, name));
}

// The coupling of a slot; 0: the one that is farthest off.
static CnCouplingId find_coupling(const CnWorld *world, uint32_t slot) {
  CnCouplingId at = {0, 0}, found = {0, 0};
  CnCouplingState state;
  CnCouplingDef def;
  double most = 0;
  while (at = cn_world_next_coupling(world, at), at.slot) {
    if (cn_coupling_state(world, at, &state) != CN_OK || cn_coupling_def(world, at, &def) != CN_OK)
      continue;
    if (slot ? at.slot != slot : def.one_sided || !(fabs(state.error) > most)) continue;
    most = fabs(state.error);
    found = at;
  }
  return found;
}

void cni_machine_show(CniShow *show, const CnWorld *world, const CniMachineCheck *check) {
  const CnMechanism *m = &check->machine;
  int32_t listed = show->json ? CNI_LISTED_JSON : CNI_LISTED_TEXT;
  int any = m->locked_count > 0;
  cni_show_count(show, "freedoms", any ? "freedoms" : NULL, m->freedoms);
  cni_show_count(show, "locked_rows", any ? "locked by joints" : NULL, m->locked_count);
  cni_show_number(show, "joint_error", any ? "joints open by" : NULL, m->error, "m");
  cni_show_number(show, "joint_turn_error", any ? "  and by" : NULL, m->turn_error, "rad");
  if (any && m->worst.slot) show_joint(show, world, "joint_worst", "  at", m->worst);
  if (any && !m->worst.slot && (m->error > 0 || m->turn_error > 0))
    show_coupling(show, world, "coupling_worst", "  at coupling", find_coupling(world, 0));
  cni_show_count(show, "dependent_row_count", any ? "dependent rows" : NULL, m->dependent_count);
  cni_show_list(show, "dependent_rows", NULL);
  for (int32_t i = 0; i < m->dependent_count && i < listed; i++) {
    cni_show_row(show);
    if (check->dependent[i].joint.slot)
      show_joint(show, world, "joint", "joint", check->dependent[i].joint);
    else
      show_coupling(show, world, "coupling", "coupling",
                    find_coupling(world, (uint32_t)check->dependent[i].row));
    cni_show_count(show, "row", "row",
                   check->dependent[i].joint.slot ? check->dependent[i].row : 0);
    cni_show_row_end(show);
  }
  cni_show_list_end(show);
  if (!show->json && m->dependent_count > listed)
    printf("  and %d more\n", m->dependent_count - listed);
}

// Limits of angles beyond three turns, which somebody may have meant in degrees; returns how many there are.
static int32_t list_far_limits(CniShow *show, const CnWorld *world, int shown) {
  int32_t far = 0;
  CnJointId joint = {0, 0};
  while (joint = cn_world_next_joint(world, joint), joint.slot) {
    CnJointDef def;
    if (cn_joint_def(world, joint, &def) != CN_OK) continue;
    for (int32_t k = 0; cn_joint_coordinate_name(def.kind, k); k++) {
      const CnJointAxis *axis = &def.axes[k];
      double most = fmax(isfinite(axis->lower) ? fabs(axis->lower) : 0,
                         isfinite(axis->upper) ? fabs(axis->upper) : 0);
      // degrees come in whole numbers; a few turns, or no limit, as radians are not so, smaller or larger
      int turns = strcmp(cn_joint_coordinate_unit(def.kind, k), "rad") == 0 && most <= 3600 &&
                  most == floor(most);
      if (!turns || !(most > 3 * WHOLE_TURN) || (shown && far >= CNI_LISTED_JSON)) continue;
      far++;
      if (!shown) continue;
      cni_show_row(show);
      show_joint(show, world, "joint", "joint", joint);
      cni_show_text(show, "coordinate", "coordinate", cn_joint_coordinate_name(def.kind, k));
      cni_show_number(show, "limit", "limit", most, "rad: in degrees?");
      cni_show_row_end(show);
    }
  }
  return far;
}

void cni_machine_show_far_limits(CniShow *show, const CnWorld *world) {
  int32_t far = list_far_limits(show, world, 0);
  cni_show_count(show, "far_limit_count", far ? "far limits" : NULL, far);
  cni_show_list(show, "far_limits", NULL);
  list_far_limits(show, world, 1);
  cni_show_list_end(show);
}
