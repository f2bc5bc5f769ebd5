// SPDX-License-Identifier: Apache-2.0
// Small step problems that many tests share. Every builder checks what it does and returns a
// problem that the test destroys with cn_problem_destroy.
#ifndef TESTS_SCENES_H
#define TESTS_SCENES_H

#include <cairn/problem.h>

#include "core/rng.h"
#include "problem/problem.h"

// A 2 kg ball of radius 0.1 m on the ground after one 10 ms step of gravity, mu = 0.3, moving along
// x at `speed`, not spinning. Group 0 is the ground, group 1 the ball; one friction block whose t1
// is x. Exact answer: g_n = m g h = BALL_IMPULSE; g_t = -mu g_n when sliding, -speed * 2/3.5 when
// that is smaller (it then rolls).
#define BALL_MASS 2.0
#define BALL_RADIUS 0.1
#define BALL_MU 0.3
#define BALL_IMPULSE (2 * 9.81 * 0.01)
CnProblem *ball_on_ground(double speed);
// The same with the contact in the given storage (rows, pair or sphere) and the friction model.
CnProblem *ball_on_ground_as(double speed, CniStorage storage, CnFrictionModel friction);

// A 4 kg box 0.4 x 0.3 x 0.2 m lying on the ground on its four lower corners after a 10 ms step of
// gravity, mu = 0.5, moving along x at `speed`. Group 0 ground, 1 box; four pair blocks.
CnProblem *box_on_ground(double speed);

// `count` balls of 1 kg in a row along x, 0.2 m apart, the first held to the ground by a point at
// its left end, each next one by a point to the one before: `count` bilateral blocks of three
// sparse rows. After a 10 ms step of gravity.
CnProblem *chain_of_rows(int32_t count);

// What random_problem makes. A block draws its kind and its storage from those allowed.
typedef struct RandomProblem {
  int32_t group_count; // >= 2; about one in eight is prescribed, group 0 always
  int32_t block_count;
  uint32_t kinds;    // bit 1 << CnBlockKind
  uint32_t storages; // bit 1 << CniStorage
  CnFrictionModel friction;
  int32_t compliant; // 1: about half of the sets have compliance
  int32_t cohesive;  // 1: about half of the friction sets have cohesion
} RandomProblem;

// 12 groups, 16 blocks, all kinds, all storages, coulomb, compliance and cohesion.
RandomProblem random_problem_default(void);

// Every block has a group with mass, and one velocity satisfies all constraints with room to spare
// in the cones, so that a solution exists in both friction models. A function of the generator's
// state.
CnProblem *random_problem(CniRng *rng, const RandomProblem *how);

CnVec3 random_unit(CniRng *rng);
// Symmetric positive definite with eigenvalues in [lo, hi].
CnSym3 random_sym3(CniRng *rng, double lo, double hi);

// An answer that fits, from the default allocator, g = 0 and v = free velocities.
CnAnswer answer_for(const CnProblem *problem);
// Fill v and u from g.
void answer_update(const CnProblem *problem, CnAnswer *answer);
// Certify, failing the test if the call fails.
CnCertificate certify(CnProblem *problem, const CnAnswer *answer);

#endif
