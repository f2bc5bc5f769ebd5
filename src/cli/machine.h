// SPDX-License-Identifier: Apache-2.0
// What the commands about machines share: equilibrium, modes, inverse; and check, of its machine.
#ifndef CNI_CLI_MACHINE_H
#define CNI_CLI_MACHINE_H

#include <cairn/mechanism.h>

#include "cli/job.h"

#define CNI_MACHINE_NAME 128
// "crank", or "body 3". Returns its buffer.
const char *cni_machine_body_name(const CnWorld *world, CnBodyId body, char name[CNI_MACHINE_NAME]);
const char *cni_machine_joint_name(const CnWorld *world, CnJointId joint,
                                   char name[CNI_MACHINE_NAME]);
const char *cni_machine_coupling_name(const CnWorld *world, CnCouplingId coupling,
                                      char name[CNI_MACHINE_NAME]);

// Notes, freedoms, masses and coordinates of the machine in a scene, for `info`. 0: a failure, whose
// message is kept.
int cni_info_machine(CniShow *show, CnScene *scene, const CnSceneInfo *info);

#define CNI_MACHINE_OPTION_CONTACTS                                                                \
  { "contacts", 0, "HOW", "frictionless (default), sticking or none" }
// 0: a usage error, already told.
int cni_machine_contacts_option(const CniArgs *args, CnMachineContacts *contacts);
const char *cni_machine_contacts_name(CnMachineContacts contacts);

// check_machine.c: lists are cut to so many rows.
#define CNI_LISTED_TEXT 10
#define CNI_LISTED_JSON 1000
typedef struct CniMachineCheck {
  CnMechanism machine;
  CnDependentRow *dependent; // to be freed
} CniMachineCheck;
CnStatus cni_machine_look(CnWorld *world, int assemble, CniMachineCheck *check);
void cni_machine_show(CniShow *show, const CnWorld *world, const CniMachineCheck *check);
void cni_machine_show_far_limits(CniShow *show, const CnWorld *world);

#endif
