// SPDX-License-Identifier: Apache-2.0
// Contacts of a step over several ranks: each finds and solves its own, and all keep all of them in short.
//
//     asked for   cni_share_begin: may this step be shared? Then collision looks for the contacts whose lowest
//                 body with mass is one of this rank's slabs
//     agreed on   cni_share_agree: all count together what decides about columns. Where the pile fits in them,
//                 each goes on with its own contacts and those that fit in none; otherwise every
//                 rank gets all contacts and goes on with them
//     kept        cni_share_keep: after the solve every rank gets all contacts in short, with their impulses
//
// So what is large in a step is spread: contacts as found, blocks, lanes, impulses in the frames of contacts,
// the certificate. Bodies, and contacts as they are kept for the next step and for questions, are with everybody.
#ifndef CNI_WORLD_SHARE_H
#define CNI_WORLD_SHARE_H

#include "problem/problem.h"

struct CnWorld;

typedef struct CniStepShare {
  int32_t asked;        // 1: this rank looks for some contacts alone
  int32_t part;         // 1: and the step goes on with them
  int32_t begin, end;   // bodies whose contacts these are
  int32_t first, count; // bodies from the first with mass to the last
  int32_t bounces;      // 1: some contacts may bounce
  CniCuts cuts;
  int32_t turning; // 1: some of all contacts roll or spin
  struct CniParcel
      *parcel; // impulses of all contacts of the step, in the arena, once these are kept
} CniStepShare;

void cni_share_begin(struct CnWorld *world);
CnStatus cni_share_agree(struct CnWorld *world);
// Of all ranks: the deepest overlap. own: the contact that has this rank's, -1: none.
CnStatus cni_share_deepest(struct CnWorld *world, int32_t own);
// In place of the contacts noted here those of all ranks. Impulses that are carried are
// marked already; they follow when there is room for them, which cannot fail.
CnStatus cni_share_keep(struct CnWorld *world, const CnAnswer *answer);
void cni_share_impulses(const struct CnWorld *world, CnVec3 *linear, CnVec3 *angular);

#endif
