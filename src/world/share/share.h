// SPDX-License-Identifier: Apache-2.0
// Contacts of a step over several ranks: each finds and solves its own, and all keep all of them in short.
//
//     asked for   cni_share_begin: may this step be shared? Then collision looks for the contacts whose lowest
//                 body with mass is one of this rank's slabs
//     agreed on   cni_share_agree: all count together what decides about columns. Where the pile fits in them,
//                 each goes on with its own contacts and those that fit in none; otherwise every
//                 rank gets all contacts and goes on with them
//     kept        cni_share_keep: after the solve each keeps those whose lowest body with mass is its own, for the
//                 next step. Events are told to all
//     asked for   cni_share_whole: where somebody wants to know contacts of others, every rank gets all
//
// So what is large in a step is spread: contacts, groups, blocks, lanes, velocities and impulses, the certificate.
// Bodies are with everybody.
#ifndef CNI_WORLD_SHARE_H
#define CNI_WORLD_SHARE_H

#include "collision/collision.h"
#include "core/math/subset.h"
#include "problem/problem.h"

struct CnWorld;
struct CniEventLoop;

typedef struct CniStepShare {
  int32_t asked;        // 1: this rank looks for some contacts alone
  int32_t part;         // 1: and the step goes on with them
  int32_t begin, end;   // bodies whose contacts these are
  int32_t first, count; // bodies from the first with mass to the last
  int32_t moving;       // bodies with mass
  int32_t bounces;      // 1: some contacts may bounce
  CniCuts cuts;
  int32_t rest;    // contacts that fit in no column
  int32_t turning; // 1: some of all contacts roll or spin
  int32_t lean;    // 1: nobody asks where the step ends before all bodies are moved (share_move.c)
  int32_t total;   // contacts of all ranks, once they are kept
  int32_t *places; // in the arena: of those kept among those solved here; null: all are kept
} CniStepShare;

void cni_share_begin(struct CnWorld *world);
CnStatus cni_share_agree(struct CnWorld *world);
// Of all ranks: the deepest overlap. own: the contact that has this rank's, -1: none.
CnStatus cni_share_deepest(struct CnWorld *world, int32_t own);
// Where bodies were put in another order their contacts go to who owns them now, before anything else is in memory.
CnStatus cni_share_hand_over(struct CnWorld *world);
// What the step needs of the contacts kept so far: those of its own bodies, which are here, or all.
CnStatus cni_share_old(struct CnWorld *world);
// Of the contacts noted here the own ones stay.
CnStatus cni_share_keep(struct CnWorld *world, const CnAnswer *answer);
// Room for what bodies in another order ask for, if that comes; and none for what is asked of whole problems.
CnStatus cni_share_reorder(struct CnWorld *world, int comes);
// The step has been made, and bodies stay in their order.
void cni_share_settled(struct CnWorld *world);
// Is a pair of shapes with its rank this one's?
int cni_share_owns(const struct CnWorld *world, uint64_t rank);
// In place of the events noted here those of all ranks.
CnStatus cni_share_events(struct CnWorld *world, struct CniEventLoop *loop);
// Contacts in full of all ranks where some of any rank's lie deeper than they may; otherwise none.
CnStatus cni_share_full(struct CnWorld *world, int deeper, const CniContact **full, int32_t *count);
// All contacts that are kept, on every rank, and where they acted. Called by all, outside of steps.
CnStatus cni_share_whole(struct CnWorld *world);

// share_part.c: the bodies that get groups here, and the shapes of contacts; in the arena.
CnStatus cni_share_subsets(struct CnWorld *world, CniSubset *bodies, CniSubset *shapes);
// What the problem of the step is a part of, if it is one.
void cni_share_place(struct CnWorld *world, CnProblem *problem);
// The velocities of all bodies after the solve, in the arena.
CnStatus cni_share_velocities(struct CnWorld *world, const CnAnswer *answer, const double **all);
// Positions where impulses acted, of all bodies. Called by all, outside of steps.
CnStatus cni_share_places(struct CnWorld *world);
// share_move.c, of lean steps: is the state where it ends finite? The way of a body that has a group here; and all
// bodies are moved: on failure nothing has changed, unless a rank has died.
CnStatus cni_share_finite(struct CnWorld *world, const CnAnswer *answer);
CnVec3 cni_share_way(const struct CnWorld *world, const CnAnswer *answer, int32_t body);
CnStatus cni_share_move(struct CnWorld *world, const CnAnswer *answer);
// share_take.c: where contacts acted, and where the step ends.
void cni_share_take(struct CnWorld *world, const CnPose *acted, const CnPose *pose,
                    const CnTwist *twist);
// share_keep.c: things of all ranks, rank by rank, in the arena; `start` tells in bytes where those of each begin, and
// `address` is that of the pointer.
CnStatus cni_share_tell(struct CnWorld *world, const void *own, int64_t count, size_t size,
                        int64_t **start, void *address);

// share.c: lists of contacts of all ranks that ascend to one; start: where those of each begin, in bytes.
CnStatus cni_share_merge(struct CnWorld *world, const CniContact *lists, const int64_t *start,
                         CniContact *to);
// The first body of each rank, and the end, as the step has them.
void cni_share_begins(const struct CnWorld *world, int32_t *begins);
// share_pass.c: contacts that are kept go to other ranks. begins: bodies of each rank, whose owners get them; null: all
// ranks get all.
CnStatus cni_share_pass(struct CnWorld *world, const int32_t *begins);

#endif
