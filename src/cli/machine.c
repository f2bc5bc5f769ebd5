// SPDX-License-Identifier: Apache-2.0
// What the commands about machines share.
#include "cli/machine.h"

#include <string.h>

static const char *name_of(const char *given, const char *what, uint32_t slot,
                           char name[CNI_MACHINE_NAME]) {
  if (given && given[0])
    snprintf(name, CNI_MACHINE_NAME, "%s", given);
  else
    snprintf(name, CNI_MACHINE_NAME, "%s %u", what, (unsigned)slot);
  return name;
}

const char *cni_machine_body_name(const CnWorld *world, CnBodyId body,
                                  char name[CNI_MACHINE_NAME]) {
  CnBodyInfo info = {0};
  (void)cn_body_info(world, body, &info);
  return name_of(info.name, "body", body.slot, name);
}

const char *cni_machine_joint_name(const CnWorld *world, CnJointId joint,
                                   char name[CNI_MACHINE_NAME]) {
  CnJointDef def = {0};
  (void)cn_joint_def(world, joint, &def);
  return name_of(def.name, "joint", joint.slot, name);
}

const char *cni_machine_coupling_name(const CnWorld *world, CnCouplingId coupling,
                                      char name[CNI_MACHINE_NAME]) {
  CnCouplingDef def = {0};
  (void)cn_coupling_def(world, coupling, &def);
  return name_of(def.name, "coupling", coupling.slot, name);
}

static const char *contacts_name(int32_t index) {
  static const char *const names[] = {"frictionless", "sticking", "none", NULL};
  return index >= 0 && index < 4 ? names[index] : NULL;
}

const char *cni_machine_contacts_name(CnMachineContacts contacts) {
  return contacts_name((int32_t)contacts);
}

int cni_machine_contacts_option(const CniArgs *args, CnMachineContacts *contacts) {
  const char *name = NULL;
  if (!cni_args_choice(args, "contacts", contacts_name, &name)) return 0;
  for (int32_t i = 0; name && contacts_name(i); i++)
    if (strcmp(name, contacts_name(i)) == 0) *contacts = (CnMachineContacts)i;
  return 1;
}
