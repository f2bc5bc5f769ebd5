// SPDX-License-Identifier: Apache-2.0
// What a load in another face of the same shape means for a contact.
#ifndef CNI_ASSEMBLY_CONTACTS_FACES_H
#define CNI_ASSEMBLY_CONTACTS_FACES_H

#include "assembly/assembly_private.h"

// What the last step tells of a contact.
typedef struct CniBefore {
  int32_t own; // its old place, -1: none
  int loaded;  // the two shapes pressed on each other here
  int gentle;  // and in the same face
  int beside;  // in another face of about the same direction, where they touch still
} CniBefore;

// Of an old contact that bore a load in another face than contact i is in.
void cni_contact_other_face(const CniAssemblyInput *in, int32_t i, const CniContact *old,
                            CniBefore *before);
// Under a load a gap closes gently, or at the end of the step that comes to it.
void cni_contact_soften(const CniAssemblyInput *in, const CniContactPlan *plan, const CniContact *c,
                        CniBefore before, double *b_n);

#endif
