// SPDX-License-Identifier: Apache-2.0
// A model with hand-made contacts, assembled into a problem: the bench of the assembly tests. No
// collision and no solver is involved, so every number is the test's own.
#ifndef TESTS_ASSEMBLED_H
#define TESTS_ASSEMBLED_H

#include "assembly/assembly.h"

#define ASSEMBLED_MAX 2048

typedef struct Assembled {
  CniModel model;
  CniArena arena;
  CnProblem *problem;
  CnAnswer answer;
  CniAssemblyInput input;
  CniContact contacts[ASSEMBLED_MAX];
  // contacts of the last step: assembled_old
  CniContact old_contacts[ASSEMBLED_MAX];
  uint64_t old_rank[ASSEMBLED_MAX];
  CnVec3 old_linear[ASSEMBLED_MAX], old_angular[ASSEMBLED_MAX];
  int32_t joint_block[ASSEMBLED_MAX], block[ASSEMBLED_MAX];
} Assembled;

// h = 0.01, gravity -9.81 z, kappa 0.2, recovery 1 m/s, threshold 0.01 m/s.
void assembled_start(Assembled *a);
// The same with memory for the problem, the answer and the arena from a hook.
void assembled_start_with(Assembled *a, const CnAllocator *allocator);
void assembled_end(Assembled *a);

// Bodies; the result is the dense index. A ball of 2 kg with inertia 2/5 m r^2 and its shape.
int32_t assembled_ball(Assembled *a, double radius, CnVec3 position, CnTwist twist);
// A body of 2 kg with the given principal inertia and a unit box as shape.
int32_t assembled_block(Assembled *a, CnVec3 inertia, CnPose pose, CnTwist twist);
// A kinematic or fixed body with a plane.
int32_t assembled_ground(Assembled *a, CnBodyKind kind, CnTwist twist);
CnBodyId assembled_id(const Assembled *a, int32_t body);

// The material of a body's only shape.
void assembled_material(Assembled *a, int32_t body, const CnMaterialDef *def);

// Contact between the only shapes of two bodies.
int32_t assembled_contact(Assembled *a, int32_t body_a, int32_t body_b, CnVec3 point, CnVec3 normal,
                          double gap);

// What the contact carried in the last step; in the order of contacts. `feature` is its name then.
void assembled_old(Assembled *a, int32_t contact, uint32_t feature, CnVec3 linear, CnVec3 angular);

// Write the problem from the present model and contacts; fails the test on an error.
void assembled_write(Assembled *a);
CnStatus assembled_try(Assembled *a);

const CniBlock *assembled_block_of(const Assembled *a, int32_t contact);
// b of a contact's row.
double assembled_b(const Assembled *a, int32_t contact, int32_t row);
const CnSet *assembled_set(const Assembled *a, int32_t contact);

#endif
