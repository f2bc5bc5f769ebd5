// SPDX-License-Identifier: Apache-2.0
// What `cairn check` says of a machine: freedoms, rows that depend on others, joints that are open, limits
// that look like degrees.
#include <stdlib.h>
#include <string.h>

#include "cli/machine.h"
#include "core/math.h"
#include "world/world.h"

CnStatus cni_machine_look(CnWorld *world, int assemble, CniMachineCheck *check) {
  if (assemble) CNI_TRY(cn_world_assemble(world, CNI_ASSEMBLED, NULL));
  CNI_TRY(cn_world_mechanism(world, &check->machine, NULL, 0));
  int32_t count = check->machine.dependent_count;
  check->dependent = calloc((size_t)count + 1, sizeof *check->dependent);
  if (!check->dependent) return cni_error_memory((size_t)count * sizeof *check->dependent);
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

// Limits of angles beyond a whole turn, which somebody may have meant in degrees.
void cni_machine_show_far_limits(CniShow *show, const CnWorld *world) {
  const CniModel *model = &world->now.model;
  int32_t far = 0;
  for (int32_t pass = 0; pass < 2; pass++) {
    if (pass) cni_show_count(show, "far_limit_count", far ? "far limits" : NULL, far);
    if (pass) cni_show_list(show, "far_limits", NULL);
    for (int32_t i = 0; i < model->joint_count; i++)
      for (int32_t k = 0; k < cni_joint_coordinate_count(model->joints[i].def.kind); k++) {
        const CnJointAxis *axis = &model->joints[i].def.axes[k];
        const CniCoordinate *c = &cni_joint_kind(model->joints[i].def.kind)->coordinates[k];
        double most = fmax(isfinite(axis->lower) ? fabs(axis->lower) : 0,
                           isfinite(axis->upper) ? fabs(axis->upper) : 0);
        if (strcmp(c->unit, "rad") != 0 || !(most > 2 * CNI_PI)) continue;
        far += !pass;
        if (!pass || i >= CNI_LISTED_JSON) continue;
        cni_show_row(show);
        show_joint(show, world, "joint", "joint", cni_joint_id(model, i));
        cni_show_text(show, "coordinate", "coordinate", c->name);
        cni_show_number(show, "limit", "limit", most, "rad: in degrees?");
        cni_show_row_end(show);
      }
    if (pass) cni_show_list_end(show);
  }
}
